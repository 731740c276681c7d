//! Statements of SQL about a simulated virtual database, recounted from the raw rows, and what is refused.

use std::fmt::Write as _;

use hedgerow::query::{Asked, Released};
use hedgerow::{Options, Simulation, Sites, Study, Table, simulate};

const STUDY: &str = r#"[study]
name = "ward"
partition = "horizontal"
security = "SECURITY"
[[attribute]]
name = "patient"
role = "identifier"
[[attribute]]
name = "age"
role = "quasi"
type = "integer"
range = [0, 99]
missing = "NA"
[[attribute]]
name = "place"
role = "quasi"
values = ["east", "north", "south", "west"]
[[attribute]]
name = "days"
role = "sensitive"
type = "integer"
range = [-5, 40]
[[attribute]]
name = "disease"
role = "sensitive"
values = ["asthma", "flu", "ulcer"]
[require]
k = 4
m = 0
"#;

/// A record as it was before it was generalized.
struct Raw {
    age: Option<i64>,
    place: &'static str,
    days: i64,
    disease: &'static str,
    site: usize,
}

/// Skewed records: the first of three sites has most, the last one has five.
fn records() -> Vec<Raw> {
    let mut state = 7u64;
    let mut draw = |below: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) % below
    };
    (0..240)
        .map(|row| Raw {
            age: (row % 17 > 0).then(|| (draw(10) * draw(11)) as i64),
            place: ["east", "north", "south", "west"][draw(4) as usize],
            days: draw(46) as i64 - 5,
            disease: ["asthma", "flu", "flu", "ulcer"][draw(4) as usize],
            site: match row {
                0..5 => 2,
                5..50 => 1,
                _ => 0,
            },
        })
        .collect()
}

fn simulated(security: &str) -> (Study, Simulation, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pool.csv");
    let mut text = String::from("patient,age,place,days,disease,site\n");
    for (row, raw) in records().iter().enumerate() {
        let age = raw.age.map_or("NA".into(), |age| age.to_string());
        let Raw {
            place,
            days,
            disease,
            site,
            ..
        } = raw;
        writeln!(text, "p{row},{age},{place},{days},{disease},s{site}").unwrap();
    }
    std::fs::write(&path, text).unwrap();
    let study = Study::parse(STUDY.replace("SECURITY", security), ".").unwrap();
    let sites = Sites::Named {
        table: Table::file(path),
        column: String::from("site"),
    };
    let simulation = simulate(&study, &sites, &Options::new()).unwrap();
    (study, simulation, folder)
}

fn ask((study, simulation, _): &(Study, Simulation, tempfile::TempDir), sql: &str) -> Asked {
    let statement = study.statement(sql).unwrap();
    simulation.ask(study, &statement, &Options::new()).unwrap()
}

/// Law 3 through SQL: the truth of the raw rows lies between low and high, for every kind of comparison.
#[test]
fn the_truth_lies_between_low_and_high() {
    type Holds = fn(&Raw) -> bool;
    let conditions: [(&str, Holds); 14] = [
        ("TRUE", |_| true),
        ("age < 30", |raw| raw.age.is_some_and(|age| age < 30)),
        ("30 >= age", |raw| raw.age.is_some_and(|age| age <= 30)),
        ("NOT age < 30", |raw| raw.age.is_some_and(|age| age >= 30)),
        ("age < 29.5", |raw| raw.age.is_some_and(|age| age < 30)),
        ("age IS NULL", |raw| raw.age.is_none()),
        ("age IS NOT NULL AND age <> 10", |raw| {
            raw.age.is_some_and(|age| age != 10)
        }),
        ("age BETWEEN 10 AND 500", |raw| {
            raw.age.is_some_and(|age| age >= 10)
        }),
        ("age NOT BETWEEN 10 AND 40", |raw| {
            raw.age.is_some_and(|age| !(10..=40).contains(&age))
        }),
        ("place IN ('east', 'west') AND age > 20", |raw| {
            ["east", "west"].contains(&raw.place) && raw.age.is_some_and(|age| age > 20)
        }),
        ("place LIKE '%st' OR disease = 'flu'", |raw| {
            raw.place.ends_with("st") || raw.disease == "flu"
        }),
        ("age < 20 OR age > 60 OR place NOT ILIKE 'E_S%'", |raw| {
            raw.age.is_some_and(|age| !(20..=60).contains(&age)) || raw.place != "east"
        }),
        (
            "days >= -2 AND (ward.place = 'north' OR ward.age = 0)",
            |raw| raw.days >= -2 && (raw.place == "north" || raw.age == Some(0)),
        ),
        ("under(place, 'south') AND days < 0", |raw| {
            raw.place == "south" && raw.days < 0
        }),
    ];
    let records = records();
    for security in ["hardened", "published"] {
        let asked = simulated(security);
        for (condition, holds) in &conditions {
            let sql = format!(
                "SELECT count(*), count(age), sum(days), sum(age), avg(days), avg(age) FROM ward WHERE {condition}"
            );
            let answer = ask(&asked, &sql);
            let row = &answer.answers.rows[0];
            let found: Vec<&Raw> = records.iter().filter(|raw| holds(raw)).collect();
            let ages: Vec<i64> = found.iter().filter_map(|raw| raw.age).collect();
            let days: i64 = found.iter().map(|raw| raw.days).sum();
            let mean = |sum: i64, count: usize| sum as f64 / count as f64;
            let truths = [
                found.len() as f64,
                ages.len() as f64,
                days as f64,
                ages.iter().sum::<i64>() as f64,
                mean(days, found.len()),
                mean(ages.iter().sum(), ages.len()),
            ];
            for (place, truth) in truths.iter().enumerate() {
                let four = &row[4 * place..4 * place + 4];
                let (low, high) = (four[0].as_f64(), four[2].as_f64());
                if truth.is_nan() {
                    continue;
                }
                let within = low.is_some_and(|low| low <= truth + 1e-9)
                    && high.is_some_and(|high| truth - 1e-9 <= high);
                assert!(
                    within,
                    "{security}, {condition}, {place}: {truth} in {four:?}"
                );
                let estimate = four[1].as_f64().unwrap();
                assert!(place > 3 || (low <= Some(estimate) && Some(estimate) <= high));
            }
        }
    }
}

/// Groups of a column that is published as it is are exact where the condition is.
#[test]
fn no_average_lies_beyond_the_values_that_a_condition_lets_rows_have() {
    let asked = simulated("hardened");
    for (condition, least, greatest) in [
        ("age < 40", 0.0, 39.0),
        ("NOT (age < 40)", 40.0, 200.0),
        ("age >= 30 AND (age < 40 OR age = 45)", 30.0, 45.0),
        ("NOT (age < 30 OR age > 40)", 30.0, 40.0),
    ] {
        let answer = ask(
            &asked,
            &format!("SELECT avg(age) FROM ward WHERE {condition}"),
        );
        let row = &answer.answers.rows[0];
        let (low, high) = (row[0].as_f64().unwrap(), row[2].as_f64().unwrap());
        assert!(
            least <= low && low <= high && high <= greatest,
            "{condition}: {row:?}"
        );
    }
}

#[test]
fn groups_are_recounted() {
    let asked = simulated("hardened");
    let answer = ask(
        &asked,
        "SELECT disease, count(*) AS n, sum(days) FROM ward WHERE days > 3 GROUP BY disease",
    );
    assert_eq!(answer.rounds, 1);
    let columns = [
        "disease",
        "n_low",
        "n",
        "n_high",
        "n_error",
        "sum_low",
        "sum",
        "sum_high",
        "sum_error",
    ];
    assert_eq!(answer.answers.columns, columns);
    let records = records();
    assert_eq!(answer.answers.rows.len(), 3);
    for row in &answer.answers.rows {
        let own = records
            .iter()
            .filter(|raw| raw.days > 3 && Some(raw.disease) == row[0].as_str());
        let (count, days) = own.fold((0, 0), |(count, days), raw| (count + 1, days + raw.days));
        assert_eq!(
            (row[1].as_i64(), row[3].as_i64()),
            (Some(count), Some(count))
        );
        assert_eq!((row[5].as_i64(), row[7].as_i64()), (Some(days), Some(days)));
        assert!((row[6].as_f64().unwrap() - days as f64).abs() < 1e-6);
        assert_eq!((row[4].as_f64(), row[8].as_f64()), (Some(0.0), Some(0.0)));
    }
}

/// Rows come as a release prints them, all that are possible, and at the published level with their loss.
#[test]
fn rows_are_those_of_the_release() {
    for security in ["hardened", "published"] {
        let asked = simulated(security);
        let answer = ask(&asked, "SELECT * FROM ward");
        assert_eq!(
            answer.answers.columns,
            ["age", "place", "days", "disease", "share"]
        );
        assert_eq!(answer.answers.rows.len(), 240);
        let mut diseases: Vec<&str> = answer
            .answers
            .rows
            .iter()
            .filter_map(|row| row[3].as_str())
            .collect();
        let records = records();
        let mut expected: Vec<&str> = records.iter().map(|raw| raw.disease).collect();
        diseases.sort_unstable();
        expected.sort_unstable();
        assert_eq!(diseases, expected);
        assert!(answer.answers.rows.iter().all(|row| row[4] == 1.0));
        assert_eq!(answer.loss_of_privacy.is_some(), security == "published");
        let none = ask(&asked, "SELECT place FROM ward WHERE days > 3 AND days < 3");
        assert!(none.answers.rows.is_empty());
    }
}

#[test]
fn what_cannot_be_answered_is_refused_by_name() {
    let (study, ..) = simulated("hardened");
    for (sql, words) in [
        (
            "SELECT count(*) FROM ward WHERE agee < 3",
            "did you mean `age`?",
        ),
        (
            "SELECT count(*) FROM ward WHERE place < 'north'",
            "place IN ('east', …)",
        ),
        (
            "SELECT count(*) FROM ward WHERE age = 100",
            "the integers 0 to 99",
        ),
        ("SELECT count(*) FROM ward WHERE disease = 'fluu'", "`flu`"),
        ("SELECT count(*) FROM ward WHERE age = NULL", "IS NULL"),
        ("SELECT count(*) FROM ward WHERE age = days", "two columns"),
        (
            "SELECT count(*) FROM ward WHERE lower(place) = 'east'",
            "`lower(place)",
        ),
        (
            "SELECT count(*) FROM ward WHERE patient = 'p1'",
            "names people",
        ),
        ("SELECT patient FROM ward", "names people"),
        (
            "SELECT count(*) FROM wards",
            "the table of this study is `ward`",
        ),
        ("SELECT count(*) FROM ward, ward", "several tables"),
        ("SELECT count(*) FROM ward a JOIN ward b ON TRUE", "JOIN"),
        ("SELECT count(*)", "FROM \"ward\""),
        ("SELECT sum(place) FROM ward", "no whole numbers"),
        ("SELECT max(age) FROM ward", "`max(age)`"),
        ("SELECT count(DISTINCT age) FROM ward", "DISTINCT"),
        ("SELECT place, count(*) FROM ward", "GROUP BY place"),
        ("SELECT count(*) FROM ward GROUP BY ROLLUP (age)", "ROLLUP"),
        (
            "SELECT count(*) FROM ward WHERE CAST(days AS TEXT) < '5'",
            "without a cast",
        ),
        (
            "SELECT count(*) FROM ward WHERE days <= CAST(3.7 AS INT)",
            "in place of a constant",
        ),
        (
            "SELECT count(*) FROM ward TABLESAMPLE BERNOULLI (10)",
            "TABLESAMPLE",
        ),
        ("SELECT count(*) FROM ward ORDER BY 1", "ORDER BY"),
        ("SELECT age FROM ward LIMIT 3", "LIMIT"),
        ("WITH w AS (SELECT 1) SELECT count(*) FROM ward", "WITH"),
        ("DELETE FROM ward", "DELETE"),
        ("COPY ward TO 'file'", "COPY"),
        ("SELECT count(*) FROM ward; SELECT 1", "2 statements"),
        ("SELEKT", "not SQL"),
        ("", "statements"),
    ] {
        let error = study.statement(sql).unwrap_err().to_string();
        assert!(error.contains(words), "{sql}: {error}");
    }
    let nested = |depth: usize| {
        let (open, close) = ("NOT (".repeat(depth), ")".repeat(depth));
        study.statement(&format!(
            "SELECT count(*) FROM ward WHERE {open}age < 3{close}"
        ))
    };
    assert!(nested(12).is_ok());
    let error = nested(13).unwrap_err().to_string();
    assert!(error.contains("more than 12 deep"), "{error}");
    // Chains that would take the parser's stack, and texts without end.
    for (condition, words) in [
        (
            format!("age < {}", vec!["1"; 7_000].join("+")),
            "in one chain",
        ),
        (format!("age{}", " IS NULL".repeat(2_000)), "in one chain"),
        (format!("disease = '{}'", "x".repeat(70_000)), "bytes"),
    ] {
        let error = study.statement(&format!("SELECT count(*) FROM ward WHERE {condition}"));
        let error = error.unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
    // Casts that keep the values, and constants between them.
    for (condition, same) in [
        ("CAST(days AS BIGINT) < 7.5", "days <= 7"),
        ("days <= CAST('7' AS INT)", "days <= 7"),
        ("days > 7.25", "days >= 8"),
    ] {
        let read = |condition: &str| {
            let sql = format!("SELECT count(*) FROM ward WHERE {condition}");
            study.statement(&sql).unwrap().questions().to_vec()
        };
        assert_eq!(read(condition), read(same), "{condition}");
    }
    let wide = vec!["age = 3"; 1_001].join(" OR ");
    let error = study.statement(&format!("SELECT count(*) FROM ward WHERE {wide}"));
    assert!(error.unwrap_err().to_string().contains("1001 comparisons"));
    for operator in [" OR ", " AND ", " + ", " || "] {
        for (times, words) in [
            (10_000, "more than 16384 words"),
            (100_000, "more than 65536 bytes"),
        ] {
            let long = vec!["1"; times].join(operator);
            let error = study.statement(&format!("SELECT count(*) FROM ward WHERE {long}"));
            let error = error.unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
    }
}

/// A file that is not the one of the manifest is asked nothing.
#[test]
fn a_release_that_was_changed_is_not_asked() {
    let (_, simulation, _folder) = simulated("hardened");
    let release = &simulation.outcome.release;
    Released::open(release, &()).unwrap();
    let file = release.path().join("release.csv");
    let text = std::fs::read_to_string(&file).unwrap();
    let (first, _) = text.trim_end().rsplit_once('\n').unwrap();
    std::fs::write(&file, format!("{first}\n")).unwrap();
    let error = Released::open(release, &()).unwrap_err().to_string();
    assert!(error.contains("release.csv: is not the file"), "{error}");
}
