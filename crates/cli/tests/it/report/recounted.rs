//! Every number of a page about the contents of a release, counted again from the release's CSV.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use hedgerow_testing::{StudyText, integer, taxonomy, values};

use super::page::{Rows, share, tables, whole};
use super::{assert_report, read};
use crate::{hedgerow, json, small};

/// A folder with a study of age, zip, disease and note, 300 rows, and their release.
fn ward() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let study = StudyText::new("ward")
        .identifier("name")
        .quasi("age", integer(0..=99))
        .quasi("zip", taxonomy("zip.csv"))
        .sensitive("disease", values(["flu", "ulcer", "asthma"]))
        .other("note", values((0..40).map(|note| NOTES[note])))
        .require("k = 4\nl = 2")
        .algorithm("recode = \"node\"");
    std::fs::write(path.join("study.toml"), study.to_string()).unwrap();
    let zips: String = (100..140)
        .map(|zip| format!("{zip};{}*;1**;*\n", zip / 10))
        .collect();
    std::fs::write(path.join("zip.csv"), zips).unwrap();
    let mut rows = String::from("name,age,zip,disease,note\n");
    for row in 0..300usize {
        rows.push_str(&format!(
            "Person{row:03},{},{},{},{}\n",
            (row * row + 7 * row) % 97,
            100 + row * 11 % 40,
            ["flu", "flu", "ulcer", "asthma"][row * 7 / 3 % 4],
            // Three frequent notes, eighteen that two have, fourteen that one has.
            NOTES[match row {
                0..250 => row % 3,
                250..286 => 3 + (row - 250) / 2,
                _ => row - 265,
            }],
        ));
    }
    std::fs::write(path.join("rows.csv"), rows).unwrap();
    let done = hedgerow(
        path,
        &[
            "anonymize",
            "--study",
            "study.toml",
            "rows.csv",
            "--out",
            "release",
        ],
    );
    assert_eq!(done.code, 0, "{}", done.stderr);
    folder
}

const NOTES: [&str; 40] = [
    "n00", "n01", "n02", "n03", "n04", "n05", "n06", "n07", "n08", "n09", "n10", "n11", "n12",
    "n13", "n14", "n15", "n16", "n17", "n18", "n19", "n20", "n21", "n22", "n23", "n24", "n25",
    "n26", "n27", "n28", "n29", "n30", "n31", "n32", "n33", "n34", "n35", "n36", "n37", "n38",
    "n39",
];

/// The rows of the release: age, zip, disease, note.
fn released(folder: &Path) -> Vec<[String; 4]> {
    let text = read(folder, "release/release.csv");
    let rows = text.lines().skip(1).map(|line| {
        let cells: Vec<String> = line.split(',').map(str::to_owned).collect();
        cells.try_into().unwrap()
    });
    rows.collect()
}

fn counted<T: Ord>(all: impl Iterator<Item = T>) -> BTreeMap<T, u64> {
    let mut counts = BTreeMap::new();
    all.for_each(|one| *counts.entry(one).or_default() += 1);
    counts
}

/// The ages that a cell of a release stands for.
fn ages(cell: &str) -> std::ops::RangeInclusive<u64> {
    match cell.trim_matches(['[', ']']).split_once('-') {
        Some((from, to)) => from.parse().unwrap()..=to.parse().unwrap(),
        None if cell == "*" => 0..=99,
        None => cell.parse().unwrap()..=cell.parse().unwrap(),
    }
}

/// The first and the last number of a label such as `20 to 29`, or `1,000`.
fn ends(label: &str) -> (u64, u64) {
    let number = |text: &str| text.replace(',', "").parse().unwrap();
    match label.split_once(" to ") {
        Some((from, to)) => (number(from), number(to)),
        None => (number(label), number(label)),
    }
}

#[test]
fn class_sizes_and_the_risk_curve() {
    let folder = ward();
    let rows = released(folder.path());
    let classes = counted(rows.iter().map(|row| (&row[0], &row[1])));
    let page = read(folder.path(), "release/report.html");
    assert_report(&page);
    let found = tables(&page);
    let caption =
        "Classes by size: the longer the bar, the more classes; sizes without a class are left out";
    let mut records = 0;
    for row in &found[caption] {
        let (from, to) = ends(&row[0]);
        let own: Vec<u64> = classes
            .values()
            .copied()
            .filter(|size| (from..=to).contains(size))
            .collect();
        assert_eq!(whole(&row[2]), own.len() as u64, "{row:?}");
        assert_eq!(whole(&row[3]), own.iter().sum::<u64>(), "{row:?}");
        assert!(whole(&row[2]) > 0);
        records += whole(&row[3]);
    }
    assert_eq!(records, 300);
    // Every bar is there, however short.
    let (_, section) = page.split_once("<section id=\"classes\"").unwrap();
    let (section, _) = section.split_once("</section>").unwrap();
    assert_eq!(
        section.matches("class=\"bar ").count(),
        found[caption].len()
    );

    let curve = &found["The risk curve in numbers"];
    assert!(curve.len() > 1);
    for row in curve {
        let one_in: u64 = row[0]
            .strip_prefix("1 in ")
            .unwrap()
            .replace(',', "")
            .parse()
            .unwrap();
        let within: u64 = classes.values().filter(|size| **size >= one_in).sum();
        assert_eq!(whole(&row[1]), within, "{row:?}");
        assert!(
            (share(&row[2]) - within as f64 / 300.0).abs() < 5e-5 + 1e-9,
            "{row:?}"
        );
    }
    assert_eq!(whole(&curve.last().unwrap()[1]), 300);
    // JSON has the whole curve: a step for each size that occurs.
    let said = json(&hedgerow(folder.path(), &["report", "release", "--json"]));
    let steps = said["risk_curve"].as_array().unwrap();
    let sizes: BTreeSet<u64> = classes.values().copied().collect();
    let found: Vec<u64> = steps
        .iter()
        .map(|step| step["one_in"].as_u64().unwrap())
        .collect();
    assert_eq!(found, sizes.iter().rev().copied().collect::<Vec<_>>());
    for step in steps {
        let within = classes
            .values()
            .filter(|size| **size >= step["one_in"].as_u64().unwrap());
        assert_eq!(step["records"].as_u64().unwrap(), within.sum::<u64>());
    }
}

#[test]
fn distributions_levels_and_samples() {
    let folder = ward();
    let rows = released(folder.path());
    let page = read(folder.path(), "release/report.html");
    let found = tables(&page);

    // A generalized age is spread evenly over the ages that it stands for.
    let mut spread = [0.0f64; 100];
    for row in &rows {
        let covered = ages(&row[0]);
        let count = covered.clone().count() as f64;
        covered.for_each(|age| spread[age as usize] += 1.0 / count);
    }
    let chart = &found["age, quasi-identifier"];
    assert!(chart.len() >= 5, "{chart:?}");
    let mut next = ends(&chart[0][0]).0;
    for row in chart {
        let (from, to) = ends(&row[0]);
        assert_eq!(from, next, "stretches follow each other");
        next = to + 1;
        let expected: f64 = spread[from as usize..=to as usize].iter().sum();
        assert!(row[2].starts_with('~'), "{row:?}");
        assert!(
            (whole(&row[2]) as f64 - expected).abs() <= 0.5 + 1e-9,
            "{row:?} {expected}"
        );
        assert!(
            (share(&row[2]) - expected / 300.0).abs() <= 5e-4 + 1e-9,
            "{row:?}"
        );
    }
    // Values that are published as they are have exact counts, the most frequent first.
    let diseases = counted(rows.iter().map(|row| row[2].clone()));
    let chart = &found["disease, sensitive"];
    let said: BTreeMap<String, u64> = chart
        .iter()
        .map(|row| (row[0].clone(), whole(&row[2])))
        .collect();
    assert_eq!(said, diseases);
    assert!(
        chart
            .windows(2)
            .all(|pair| whole(&pair[0][2]) >= whole(&pair[1][2]))
    );
    // Of forty notes the rare ones stand together.
    let chart = &found["note, other"];
    let notes = counted(rows.iter().map(|row| row[3].clone()));
    let (rest, named) = chart.split_last().unwrap();
    for row in named {
        assert_eq!(whole(&row[2]), notes[&row[0]]);
    }
    assert_eq!(rest[0], format!("{} others", notes.len() - named.len()));
    let total: u64 = chart.iter().map(|row| whole(&row[2])).sum();
    assert_eq!(total, 300);
    // The bins of each column have every record.
    let said = json(&hedgerow(folder.path(), &["report", "release", "--json"]));
    let distributions = said["distributions"].as_array().unwrap();
    assert_eq!(distributions.len(), 4);
    for column in distributions {
        let bins = column["bins"].as_array().unwrap();
        let total: f64 = bins
            .iter()
            .map(|bin| bin["release"].as_f64().unwrap())
            .sum();
        assert!((total - 300.0).abs() < 1e-6, "{column}");
    }

    // How finely cells are written.
    let mut zips: BTreeMap<String, u64> = BTreeMap::new();
    for row in &rows {
        let way = match row[1].matches('*').count() {
            0 => "the value itself",
            1 if row[1] == "*" => "everything (*)",
            1 => "taxonomy level 1 of 3",
            _ => "taxonomy level 2 of 3",
        };
        // The second level is as wide as the whole domain, which is written as `*`.
        assert_ne!(row[1], "1**");
        *zips.entry(way.to_owned()).or_default() += 1;
    }
    let levels: &Rows = &found["How finely quasi-identifiers are written"];
    let of_zip = levels.iter().filter(|row| row[0] == "zip");
    let said: BTreeMap<String, u64> = of_zip.map(|row| (row[1].clone(), whole(&row[3]))).collect();
    assert_eq!(said, zips);
    let of_age = levels.iter().filter(|row| row[0] == "age");
    assert_eq!(of_age.map(|row| whole(&row[3])).sum::<u64>(), 300);

    // Each sample row is a row of the release, with the level below what is written.
    let sample = &found["Rows of the release, each of another class"];
    assert_eq!(sample.len(), 8);
    for row in sample {
        let written: Vec<&str> = row
            .iter()
            .map(|cell| cell.split(' ').next().unwrap())
            .collect();
        let is_there = rows.iter().any(|released| released.iter().eq(&written));
        assert!(is_there, "{row:?}");
        match row[1].split_once(' ') {
            Some((zip, note)) => assert_eq!(
                note,
                if zip == "*" {
                    "everything"
                } else {
                    "level 1 of 3"
                }
            ),
            None => assert_eq!(row[1].matches('*').count(), 0),
        }
    }
    // Who was left out of the release is left out of the page.
    assert!(!page.contains("Person"));
}

#[test]
fn what_columns_give_away_that_are_published_as_they_are() {
    let folder = ward();
    let path = folder.path();
    let rows = released(path);
    let notes = counted(rows.iter().map(|row| &row[3]));
    let inside = counted(rows.iter().map(|row| (&row[0], &row[1], &row[3])));
    let alone = |counts: Vec<u64>| counts.into_iter().filter(|count| *count == 1).count() as u64;
    let found = tables(&read(path, "release/report.html"));
    let table = &found["Columns that are published as they are"];
    assert_eq!(table.len(), 1);
    assert_eq!(table[0][0], "note");
    assert_eq!(whole(&table[0][1]), notes.len() as u64);
    assert_eq!(
        whole(&table[0][2]),
        alone(notes.values().copied().collect())
    );
    let alone_inside = alone(inside.values().copied().collect());
    assert!(alone_inside > 0);
    assert_eq!(whole(&table[0][3]), alone_inside);
}

/// A release of one class with so many of the same disease.
fn of_one_class(same: usize, others: usize) -> tempfile::TempDir {
    let folder = small();
    let study = super::super::study().algorithm("covers = \"box\"");
    std::fs::write(folder.path().join("study.toml"), study.to_string()).unwrap();
    let rows = ["40,1**,flu\n".repeat(same), "40,1**,ulcer\n".repeat(others)].concat();
    std::fs::create_dir(folder.path().join("out")).unwrap();
    let text = format!("age,zip,disease\n[20-39],1**,flu\n[20-39],1**,ulcer\n{rows}");
    std::fs::write(folder.path().join("out/release.csv"), text).unwrap();
    folder
}

#[test]
fn a_class_that_one_value_fills_warns_in_the_banner() {
    let report = |folder: &Path| {
        let done = hedgerow(
            folder,
            &["report", "out", "--study", "study.toml", "--json"],
        );
        assert_eq!(done.code, 0, "what is required holds: {}", done.stderr);
        let page = read(folder, "report.html");
        assert_report(&page);
        (page, json(&done))
    };
    let folder = of_one_class(99, 1);
    let (page, said) = report(folder.path());
    assert!(page.contains("class=\"verdict warn\"") && !page.contains("class=\"verdict good\""));
    for words in [
        "The release holds, with a warning.",
        "in 1 of 2 classes (100 of 102 records) one value of `disease` stands at 99 % or more",
        "(age 40, zip 1**) has 100 records, of which `flu` has 99.00 %; in the whole release this value has 98.04 %.",
    ] {
        assert!(page.contains(words), "{words}");
    }
    assert_eq!(said["dominated"][0]["attribute"], "disease");
    assert_eq!(said["dominated"][0]["records"], 100);
    let text = hedgerow(folder.path(), &["report", "out", "--study", "study.toml"]).stdout;
    assert!(
        text.starts_with("The release holds, with a warning.\n  Warning: in 1 of 2"),
        "{text}"
    );

    // One less, and the banner is green.
    let folder = of_one_class(98, 2);
    let (page, said) = report(folder.path());
    assert!(page.contains("class=\"verdict good\"") && page.contains("The release holds."));
    assert_eq!(said["dominated"], serde_json::json!([]));
}
