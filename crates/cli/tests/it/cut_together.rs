//! Sites that cut the same people together: `simulate`, `anonymize`, `verify` and `report` of vertical studies with
//! name = "mondrian". Every release is counted again from the raw rows, by code that shares nothing with the run.

use std::collections::BTreeMap;
use std::path::Path;

use super::hedgerow;
use super::shared::{instead, write_people, write_study};
use super::sites::{ok, read, refused};

const QUASI: [&str; 3] = ["age", "sex", "zip"];
const SENSITIVE: [&str; 3] = ["diagnosis", "marker", "tariff"];
const VERBATIM: [&str; 4] = ["diagnosis", "marker", "tariff", "method"];
const ZIPS: [&str; 6] = ["12345", "12347", "12361", "12362", "12471", "12473"];

const LEFT: &str = "people of classes who go left in a cut";
const REFUSED: &str = "people who would have gone left in cuts that were refused";

type Row = BTreeMap<String, String>;

fn rows(text: &str) -> Vec<Row> {
    assert!(!text.contains('"'));
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().unwrap().split(',').collect();
    let row = |line: &str| {
        let cells = names.iter().zip(line.split(','));
        cells
            .map(|(name, cell)| ((*name).to_owned(), cell.to_owned()))
            .collect()
    };
    lines.map(row).collect()
}

/// Whether a cell of the release stands for a value, by what a reader sees.
fn covers(cell: &str, value: &str) -> bool {
    let inside = |open: char, close: char| cell.strip_prefix(open)?.strip_suffix(close);
    if let Some(values) = inside('{', '}') {
        return values.split('|').any(|one| one == value);
    }
    if let Some(range) = inside('[', ']') {
        if let Some((least, greatest)) = range.split_once("..") {
            let place = |value: &str| ZIPS.iter().position(|zip| *zip == value).unwrap();
            return (place(least)..=place(greatest)).contains(&place(value));
        }
        let (least, greatest) = range.split_once('-').unwrap();
        let number = |text: &str| text.parse::<u32>().unwrap();
        return (number(least)..=number(greatest)).contains(&number(value));
    }
    match cell.contains('*') {
        true => value.starts_with(cell.trim_end_matches('*')),
        false => cell == value,
    }
}

/// A class as a reader of the release sees it: its cells, and the values of each column that is released as it
/// is, in their own order.
struct Class {
    cells: Vec<String>,
    rows: usize,
    values: BTreeMap<&'static str, Vec<String>>,
}

fn classes(folder: &Path, out: &str, fragments: bool) -> Vec<Class> {
    let of = |file: &str| rows(&read(folder, &format!("{out}/{file}.csv")));
    let quasi = of(if fragments { "quasi" } else { "release" });
    let cells =
        |row: &Row| -> Vec<String> { QUASI.iter().map(|name| row[*name].clone()).collect() };
    let key = |row: &Row| match fragments {
        true => vec![row["group"].clone()],
        false => cells(row),
    };
    let mut found: BTreeMap<Vec<String>, Class> = BTreeMap::new();
    for row in &quasi {
        let class = found.entry(key(row)).or_insert_with(|| Class {
            cells: cells(row),
            rows: 0,
            values: BTreeMap::new(),
        });
        assert_eq!(class.cells, cells(row), "all of a group are written alike");
        class.rows += 1;
    }
    for name in VERBATIM {
        let kind = if SENSITIVE.contains(&name) {
            "sensitive"
        } else {
            "other"
        };
        let table = match fragments {
            true => of(&format!("{kind}-{name}")),
            false => quasi.clone(),
        };
        for row in &table {
            let class = found.get_mut(&key(row)).unwrap();
            class
                .values
                .entry(name)
                .or_default()
                .push(row[name].clone());
        }
    }
    let mut found: Vec<Class> = found.into_values().collect();
    for class in &mut found {
        class.values.values_mut().for_each(|values| values.sort());
    }
    found
}

/// Ranges and sets of classes that were cut from one another do not overlap, so the raw rows that lie in a class
/// are its people, and its values theirs. Nodes may overlap.
fn recounted(folder: &Path, out: &str, fragments: bool, recode: &str, k: usize) -> Vec<Class> {
    let people = rows(&read(folder, "people.csv"));
    let classes = classes(folder, out, fragments);
    let mut all = 0;
    for class in &classes {
        all += class.rows;
        assert!(class.rows >= k, "{} people", class.rows);
        let lies_in = |person: &&Row| {
            let mut both = QUASI.iter().zip(&class.cells);
            both.all(|(name, cell)| covers(cell, &person[*name]))
        };
        let inside: Vec<&Row> = people.iter().filter(lies_in).collect();
        if recode == "node" {
            assert!(inside.len() >= class.rows);
            continue;
        }
        assert_eq!(inside.len(), class.rows, "{:?}", class.cells);
        for name in VERBATIM {
            let mut values: Vec<String> = inside.iter().map(|row| row[name].clone()).collect();
            values.sort();
            assert_eq!(values, class.values[name], "{name} of {:?}", class.cells);
        }
    }
    assert_eq!(all, people.len());
    classes
}

fn shares(values: &[String]) -> BTreeMap<&str, f64> {
    let mut shares = BTreeMap::new();
    for value in values {
        *shares.entry(value.as_str()).or_insert(0.0) += 1.0 / values.len() as f64;
    }
    shares
}

/// Each sensitive attribute of each class, beside that of the whole table.
fn check_each(
    classes: &[Class],
    holds: impl Fn(&BTreeMap<&str, f64>, &BTreeMap<&str, f64>) -> bool,
) {
    for name in SENSITIVE {
        let all: Vec<String> = classes
            .iter()
            .flat_map(|class| class.values[name].clone())
            .collect();
        let all = shares(&all);
        for class in classes {
            let own = shares(&class.values[name]);
            assert!(holds(&own, &all), "{name}: {own:?} of {all:?}");
        }
    }
}

fn sorted(shares: &BTreeMap<&str, f64>) -> Vec<f64> {
    let mut sorted: Vec<f64> = shares.values().copied().collect();
    sorted.sort_by(|one, other| other.total_cmp(one));
    sorted
}

/// The study with other settings and another requirement; in every second one the columns stand elsewhere.
fn study(folder: &Path, require: &str, settings: &str, elsewhere: bool) {
    write_study(folder, |text| {
        let (before, _) = text.split_once("[require]").unwrap();
        let text =
            format!("{before}[require]\n{require}\n[algorithm]\nname = \"mondrian\"\n{settings}\n");
        if !elsewhere {
            return text;
        }
        let text = instead(&text, "[\"age\", \"sex\", \"diagnosis\"]", "[\"age\"]");
        let text = instead(
            &text,
            "[\"marker\", \"method\"]",
            "[\"sex\", \"diagnosis\", \"marker\"]",
        );
        instead(
            &text,
            "[\"zip\", \"tariff\"]",
            "[\"zip\", \"method\", \"tariff\"]",
        )
    });
}

/// Three of four people have the frequent value of each column.
fn write_skewed(folder: &Path) {
    write_people(folder, 260);
    let text = read(folder, "people.csv");
    let frequent = [
        "", "33", "female", "12345", "asthma", "normal", "blood", "basic",
    ];
    let line = |(place, line): (usize, &str)| {
        let cells = line.split(',').enumerate().map(|(column, cell)| {
            let hash = blake3::hash(&[place as u8, (place >> 8) as u8, column as u8]);
            match place > 0 && column > 0 && !hash.as_bytes()[0].is_multiple_of(4) {
                true => frequent[column],
                false => cell,
            }
        });
        cells.collect::<Vec<_>>().join(",") + "\n"
    };
    let text: String = text.lines().enumerate().map(line).collect();
    std::fs::write(folder.join("people.csv"), text).unwrap();
}

fn same_as_one_party(folder: &Path, fragments: bool) {
    let files: &[&str] = match fragments {
        true => &[
            "quasi",
            "sensitive-diagnosis",
            "sensitive-marker",
            "sensitive-tariff",
            "other-method",
        ],
        false => &["release"],
    };
    for file in files {
        let of = |out: &str| read(folder, &format!("{out}/{file}.csv"));
        assert_eq!(of("release"), of("one"), "{file}");
    }
}

#[test]
fn every_model_written_every_way_is_what_one_party_finds_and_what_the_raw_rows_say() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    type Shares<'a> = BTreeMap<&'a str, f64>;
    type Holds = fn(&Shares<'_>, &Shares<'_>) -> bool;
    let models: [(&str, Holds); 7] = [
        ("k = 5", |_, _| true),
        ("k = 5\nl = 2", |own, _| own.len() >= 2),
        (
            "k = 4\nl = { at_least = 1.5, kind = \"entropy\" }",
            |own, _| {
                let entropy: f64 = own.values().map(|share| -share * share.ln()).sum();
                entropy >= 1.5f64.ln() - 1e-9
            },
        ),
        (
            "k = 4\nl = { at_least = 2, kind = \"recursive\", c = 8 }",
            |own, _| {
                let sorted = sorted(own);
                sorted[0] < 8.0 * sorted[1..].iter().sum::<f64>() + 1e-9
            },
        ),
        (
            "k = 4\nl = { at_least = 1.1, kind = \"frequency\" }",
            |own, _| sorted(own)[0] <= 1.0 / 1.1 + 1e-9,
        ),
        (
            "k = 5\nt = { at_most = 0.4, distance = \"equal\" }",
            |own, all| {
                let each = all
                    .iter()
                    .map(|(value, share)| (own.get(value).unwrap_or(&0.0) - share).abs());
                each.sum::<f64>() / 2.0 <= 0.4 + 1e-9
            },
        ),
        ("k = 5\nalpha = 0.95\nl = 2", |own, _| {
            sorted(own)[0] <= 0.95 + 1e-9
        }),
    ];
    let mut refused_somewhere = false;
    for skewed in [false, true] {
        match skewed {
            true => write_skewed(folder),
            false => write_people(folder, 240),
        }
        for (place, (require, holds)) in models.iter().enumerate() {
            let place = place + usize::from(skewed);
            let recode = ["range", "set", "node"][place % 3];
            let fragments = place % 2 == 0;
            let settings = format!("recode = \"{recode}\"\nfragments = {fragments}");
            study(folder, require, &settings, place % 4 > 1);
            // Files of a table are no files of fragments, and are not written over.
            for out in ["release", "one"] {
                let _ = std::fs::remove_dir_all(folder.join(out));
            }
            let summary = ok(
                folder,
                "simulate --study study.toml people.csv --out release --seed 3",
            );
            assert_eq!(summary["algorithm"], "mondrian");
            assert_eq!(summary["sites"], 3);
            let k = require[4..5].parse().unwrap();
            let found = recounted(folder, "release", fragments, recode, k);
            assert!(
                skewed || found.len() > 5,
                "{require}: {} classes",
                found.len()
            );
            check_each(&found, holds);
            let one = ok(
                folder,
                "anonymize --study study.toml people.csv --out one --seed 8",
            );
            assert_eq!(one["sites"], 1);
            same_as_one_party(folder, fragments);
            for out in ["release", "one"] {
                let seen = ok(folder, &format!("verify {out} --study study.toml"));
                assert_eq!(seen["holds"], true, "{require}, {settings}");
                assert_eq!(seen["classes"].as_u64(), Some(found.len() as u64));
            }
            let ledger = summary["ledger"].as_array().unwrap().iter();
            let learned: Vec<&str> = ledger.map(|line| line["what"].as_str().unwrap()).collect();
            assert!(learned.contains(&LEFT), "{learned:?}");
            let is_refused = learned.contains(&REFUSED);
            assert!(
                !is_refused || *require != "k = 5",
                "k alone refuses nothing"
            );
            refused_somewhere |= is_refused;
            let report = hedgerow(folder, &["report", "release", "--study", "study.toml"]);
            assert_eq!(report.code, 0, "{}", report.stderr);
            let page = read(folder, "release/report.html");
            assert_eq!(page.contains("in cuts that were not made"), is_refused);
        }
    }
    assert!(refused_somewhere, "the ledger has a line for refused cuts");
}

#[test]
fn keys_that_mean_nothing_and_models_of_sites_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write_people(folder, 40);
    const SIMULATE: &str = "simulate --study study.toml people.csv --out release";
    study(folder, "k = 5\nm = 1", "", false);
    let done = hedgerow(folder, &SIMULATE.split(' ').collect::<Vec<_>>());
    assert_eq!(done.code, 2, "{}", done.stdout);
    assert!(
        done.stderr.contains("`require.m` cannot be asked"),
        "{}",
        done.stderr
    );
    study(folder, "k = 5", "widths = \"data\"", false);
    let done = hedgerow(folder, &SIMULATE.split(' ').collect::<Vec<_>>());
    assert_eq!(done.code, 2, "{}", done.stdout);
    let said = "`algorithm.widths` is for horizontal studies";
    assert!(done.stderr.contains(said), "{}", done.stderr);
    study(folder, "k = 41", "", false);
    refused(
        folder,
        SIMULATE,
        "the requirement cannot be met: all 40 records together do not satisfy k = 41\nhint: the largest k that can be met is 40",
    );
}
