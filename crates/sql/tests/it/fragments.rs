//! SQL on a fragmented release, made with the study and the hierarchies of the example.

use std::fmt::Write as _;
use std::path::PathBuf;

use hedgerow::query::Released;
use hedgerow::{Options, Release, Sites, Study, Table, anonymize, simulate};
use hedgerow_sql::{Limits, Mode, ReleaseSource, Session};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::ward::{ask, columns, rows};

struct Raw {
    age: i64,
    sex: &'static str,
    diagnosis: String,
    marker: &'static str,
    tariff: &'static str,
}

fn linked() -> (Vec<Raw>, PathBuf, tempfile::TempDir) {
    released(|study| study, false)
}

/// A release of the example's study, changed by `change`, by one table or by simulated sites.
fn released(
    change: fn(String) -> String,
    is_simulated: bool,
) -> (Vec<Raw>, PathBuf, tempfile::TempDir) {
    let example = PathBuf::from(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../examples/linked-patients"
    ));
    let leaves = |file: &str| {
        let text = std::fs::read_to_string(example.join(file)).unwrap();
        let leaf = |line: &str| line.split(';').next().unwrap().to_owned();
        text.lines().map(leaf).collect::<Vec<_>>()
    };
    let (zips, diagnoses) = (leaves("zip.csv"), leaves("diagnosis.csv"));
    let mut random = ChaCha8Rng::seed_from_u64(51);
    let mut raw = Vec::new();
    let mut text = String::from("number,age,sex,zip,diagnosis,marker,method,tariff\n");
    for row in 0..240 {
        let one = Raw {
            age: random.random_range(0..120),
            sex: ["female", "male"][random.random_range(0..2)],
            diagnosis: diagnoses[random.random_range(0..diagnoses.len())].clone(),
            marker: ["normal", "raised", "high"][random.random_range(0..3)],
            tariff: ["basic", "full", "private"][random.random_range(0..3)],
        };
        let zip = &zips[random.random_range(0..zips.len())];
        let Raw {
            age,
            sex,
            diagnosis,
            marker,
            tariff,
        } = &one;
        writeln!(
            text,
            "{row},{age},{sex},{zip},{diagnosis},{marker},blood,{tariff}"
        )
        .unwrap();
        raw.push(one);
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("all.csv");
    std::fs::write(&path, text).unwrap();
    let study = std::fs::read_to_string(example.join("study.toml")).unwrap();
    let study = Study::parse(change(study), &example).unwrap();
    let release = folder.path().join("release");
    let (table, options) = (Table::file(path), Options::new().out(&release));
    match is_simulated {
        true => {
            let columns = None;
            simulate(&study, &Sites::Columns { table, columns }, &options).unwrap();
        }
        false => {
            anonymize(&study, &table, &options).unwrap();
        }
    }
    (raw, release, folder)
}

#[test]
fn totals_across_tables_have_bounds_and_rows_are_refused() {
    type Holds = fn(&Raw) -> bool;
    let (raw, release, _folder) = linked();
    let source = ReleaseSource::open(&release).unwrap();
    let mut session = Session::new(source, Limits::default()).unwrap();
    let conditions: [(&str, Holds); 7] = [
        ("age < 40 AND diagnosis = 'asthma'", |raw| {
            raw.age < 40 && raw.diagnosis == "asthma"
        }),
        (
            "under(diagnosis, 'heart disease') AND marker >= 'raised'",
            |raw| {
                ["angina", "heart failure", "arrhythmia"].contains(&raw.diagnosis.as_str())
                    && raw.marker != "normal"
            },
        ),
        ("tariff = 'basic' OR diagnosis = 'asthma'", |raw| {
            raw.tariff == "basic" || raw.diagnosis == "asthma"
        }),
        ("NOT (tariff = 'basic' OR sex = 'male')", |raw| {
            raw.tariff != "basic" && raw.sex != "male"
        }),
        (
            "(age < 60 AND tariff = 'full') OR (age >= 60 AND tariff = 'private')",
            |raw| match raw.age < 60 {
                true => raw.tariff == "full",
                false => raw.tariff == "private",
            },
        ),
        ("diagnosis = 'asthma'", |raw| raw.diagnosis == "asthma"),
        ("sex = 'male' AND age < 50", |raw| {
            raw.sex == "male" && raw.age < 50
        }),
    ];
    session.set_mode(Mode::Bounds);
    for (condition, holds) in conditions {
        let sql =
            format!("SELECT count(*), sum(age) AS s FROM \"linked-patients\" WHERE {condition}");
        let found = rows(&ask(&mut session, &sql).unwrap());
        let number = |place: usize| found[0][place].as_f64().unwrap();
        let kept = || raw.iter().filter(|raw| holds(raw));
        let truths = [
            kept().count() as f64,
            kept().map(|raw| raw.age).sum::<i64>() as f64,
        ];
        for (place, truth) in truths.into_iter().enumerate() {
            let (low, estimate, high) = (
                number(4 * place),
                number(4 * place + 1),
                number(4 * place + 2),
            );
            assert!(
                low <= truth && truth <= high,
                "{condition}: {truth} is not in [{low}, {high}]"
            );
            assert!(low <= estimate && estimate <= high, "{condition}");
        }
        if condition == "diagnosis = 'asthma'" {
            assert_eq!(
                (number(0), number(2)),
                (truths[0], truths[0]),
                "one table is exact"
            );
        }
        // Groups of another table add up to what is asked.
        let sql = format!(
            "SELECT sum(n) FROM (SELECT marker, count(*) AS n FROM \"linked-patients\" WHERE {condition} GROUP BY marker) t"
        );
        session.set_mode(Mode::Estimate);
        let together = rows(&ask(&mut session, &sql).unwrap())[0][0]
            .as_f64()
            .unwrap_or(0.0);
        assert!(
            (together - number(1)).abs() < 1e-6,
            "{condition}: {together}"
        );
        session.set_mode(Mode::Bounds);
    }
    session.set_mode(Mode::Estimate);
    let one = ask(
        &mut session,
        "SELECT diagnosis FROM \"linked-patients\" WHERE diagnosis <> 'asthma'",
    );
    assert_eq!(columns(&one.unwrap()), ["diagnosis"]);
    let greatest = "SELECT max(diagnosis) FROM \"linked-patients\"";
    let expected = raw.iter().map(|raw| raw.diagnosis.as_str()).max();
    let found = rows(&ask(&mut session, greatest).unwrap());
    assert_eq!(found[0][0].as_str(), expected);
    for sql in [
        "SELECT * FROM \"linked-patients\"",
        "SELECT age FROM \"linked-patients\" WHERE diagnosis = 'asthma'",
        "SELECT diagnosis, max(marker) FROM \"linked-patients\" GROUP BY diagnosis",
    ] {
        let refused = ask(&mut session, sql).unwrap_err();
        let words = refused.to_string();
        assert!(
            refused.is_refusal() && words.contains("different tables"),
            "{sql}: {words}"
        );
    }
}

type Truth = Box<dyn Fn(&Raw) -> bool>;

/// A random condition that joins columns of several tables.
fn condition(random: &mut ChaCha8Rng, depth: usize) -> (String, Truth) {
    if depth == 0 || random.random_range(0..5) == 0 {
        let age = random.random_range(0..120);
        return match random.random_range(0..6) {
            0 => (format!("age < {age}"), Box::new(move |raw| raw.age < age)),
            1 => (
                format!("age BETWEEN 20 AND {age}"),
                Box::new(move |raw| (20..=age).contains(&raw.age)),
            ),
            2 => (
                String::from("sex = 'male'"),
                Box::new(|raw| raw.sex == "male"),
            ),
            3 => (
                String::from("diagnosis IN ('asthma', 'angina')"),
                Box::new(|raw| ["asthma", "angina"].contains(&raw.diagnosis.as_str())),
            ),
            4 => (
                String::from("marker >= 'raised'"),
                Box::new(|raw| raw.marker != "normal"),
            ),
            _ => (
                String::from("tariff <> 'full'"),
                Box::new(|raw| raw.tariff != "full"),
            ),
        };
    }
    let (a, first) = condition(random, depth - 1);
    let (b, second) = condition(random, depth - 1);
    match random.random_range(0..5) {
        0 | 1 => (
            format!("({a} AND {b})"),
            Box::new(move |raw| first(raw) && second(raw)),
        ),
        2 | 3 => (
            format!("({a} OR {b})"),
            Box::new(move |raw| first(raw) || second(raw)),
        ),
        _ => (format!("NOT {a}"), Box::new(move |raw| !first(raw))),
    }
}

/// Sensitive totals by group, in releases of sites that hold different columns: fragmented ones and whole
/// ones.
#[test]
fn the_truth_of_vertical_releases_lies_between_low_and_high() {
    type Change = fn(String) -> String;
    // TG12's clustering publishes one whole table.
    let whole: Change = |study| {
        let (head, _) = study.split_once("[require]").unwrap();
        format!("{head}[require]\nk = 5\n[algorithm]\nname = \"clustering\"\n")
    };
    let same: Change = |study| study;
    let kinds: [(Change, bool, bool); 2] = [(same, false, true), (whole, true, false)];
    let mut random = ChaCha8Rng::seed_from_u64(52);
    for (change, is_simulated, is_fragmented) in kinds {
        let (raw, release, _folder) = released(change, is_simulated);
        let kind = format!("simulated: {is_simulated}, fragmented: {is_fragmented}");
        assert_eq!(!release.join("release.csv").exists(), is_fragmented);
        let engine = Released::open(&Release::open(&release).unwrap(), &()).unwrap();
        for _ in 0..120 {
            let (text, holds) = condition(&mut random, 2);
            let (total, of): (_, fn(&Raw) -> i64) = match random.random_range(0..2) {
                0 => ("count(*)", |_| 1),
                _ => ("sum(age)", |raw| raw.age),
            };
            let sql = format!(
                "SELECT tariff, {total} FROM \"linked-patients\" WHERE {text} GROUP BY tariff"
            );
            let statement = engine.statement(&sql).unwrap();
            let answers = engine.answer(&statement).unwrap();
            for tariff in ["basic", "full", "private"] {
                let kept = raw.iter().filter(|raw| raw.tariff == tariff && holds(raw));
                let truth: i64 = kept.map(of).sum();
                let group = answers.rows.iter().find(|row| row[0] == tariff);
                let ends = group.map_or((0, 0), |row| {
                    (row[1].as_i64().unwrap(), row[3].as_i64().unwrap())
                });
                assert!(
                    ends.0 <= truth && truth <= ends.1,
                    "{kind}: {tariff}, {sql}: {truth} is not in {ends:?}"
                );
            }
        }
        // The same groups through DataFusion.
        let mut session =
            Session::new(ReleaseSource::open(&release).unwrap(), Limits::default()).unwrap();
        session.set_mode(Mode::Bounds);
        for _ in 0..15 {
            let (text, _) = condition(&mut random, 2);
            let sql = format!(
                "SELECT tariff, count(*) FROM \"linked-patients\" WHERE {text} GROUP BY tariff"
            );
            let statement = engine.statement(&sql).unwrap();
            let expected = engine.answer(&statement).unwrap().rows;
            for row in rows(&ask(&mut session, &sql).unwrap()) {
                let own = expected.iter().find(|own| own[0] == row[0]).unwrap();
                assert_eq!((&row[1], &row[3]), (&own[1], &own[3]), "{kind}: {sql}");
            }
        }
    }
}
