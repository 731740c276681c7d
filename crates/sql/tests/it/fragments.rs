//! SQL on a fragmented release, made with the study and the hierarchies of the example.

use std::fmt::Write as _;
use std::path::PathBuf;

use hedgerow::{Options, Study, Table, anonymize};
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
    let study = Study::open(example.join("study.toml")).unwrap();
    let release = folder.path().join("release");
    anonymize(&study, &Table::file(path), &Options::new().out(&release)).unwrap();
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
