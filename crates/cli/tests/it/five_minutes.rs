//! From a bare table to a release, with nothing written by hand: the walk of `docs/src/getting-started.md`
//! with Adult, with and without the ready hierarchies that lie beside it. What is released is counted here
//! again, from the text of the two tables.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use hedgerow_testing::real_table;

use super::{Done, hedgerow};

/// The rows of a table whose cells hold neither quotes nor the delimiter, the header first.
fn rows(path: &Path, delimiter: char) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(path).unwrap();
    assert!(!text.contains('"'), "{}", path.display());
    let cells = |line: &str| line.split(delimiter).map(str::to_owned).collect();
    text.lines().map(cells).collect()
}

fn typed(folder: &Path, line: &str) -> Done {
    let done = hedgerow(folder, &line.split(' ').collect::<Vec<_>>());
    assert_eq!(done.code, 0, "{line}\n{}{}", done.stdout, done.stderr);
    done
}

/// Every class has ten records and two salaries, and the salaries are those of the table.
fn assert_anonymous(original: &[Vec<String>], release: &[Vec<String>]) {
    let salary = |table: &[Vec<String>]| {
        let column = table[0].iter().position(|name| name == "salary-class");
        column.unwrap()
    };
    let salaries = |table: &[Vec<String>]| {
        let (column, mut counts) = (salary(table), BTreeMap::new());
        for row in &table[1..] {
            *counts.entry(row[column].clone()).or_insert(0) += 1;
        }
        counts
    };
    assert_eq!(salaries(original), salaries(release));
    let column = salary(release);
    let mut classes: BTreeMap<Vec<&str>, (usize, BTreeSet<&str>)> = BTreeMap::new();
    for row in &release[1..] {
        let others = row.iter().enumerate().filter(|(at, _)| *at != column);
        let class = classes
            .entry(others.map(|(_, cell)| cell.as_str()).collect())
            .or_default();
        class.0 += 1;
        class.1.insert(&row[column]);
    }
    assert!(classes.len() > 100, "{}", classes.len());
    for (cells, (records, salaries)) in classes {
        assert!(records >= 10 && salaries.len() >= 2, "{cells:?}: {records}");
    }
}

#[test]
fn adult_with_and_without_hierarchies_needs_no_edit() {
    let Some(adult) = real_table("adult9/adult.csv") else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let text = std::fs::read_to_string(&adult).unwrap();
    let some: Vec<&str> = text.lines().take(3_001).collect();
    std::fs::write(path.join("adult.csv"), some.join("\n")).unwrap();
    let original = rows(&path.join("adult.csv"), ';');
    let hierarchies = adult.parent().unwrap().display().to_string();
    let ways = [
        ("bare", String::new()),
        ("ready", format!(" --hierarchies {hierarchies}")),
    ];
    for (way, more) in ways {
        let done = typed(path, &format!("study draft adult.csv --out {way}{more}"));
        // Which categories may be written together only people know, where no hierarchy says it.
        assert_eq!(done.stdout.contains("to decide"), way == "bare", "{way}");
        typed(path, &format!("study check {way}/study.toml adult.csv"));
        typed(
            path,
            &format!("compare --study {way}/study.toml adult.csv --time 10s"),
        );
        typed(
            path,
            &format!("anonymize --study {way}/study.toml adult.csv --out {way}-release"),
        );
        typed(
            path,
            &format!("verify {way}-release --study {way}/study.toml"),
        );
        typed(
            path,
            &format!("report {way}-release --study {way}/study.toml --out {way}.html"),
        );
        let page = std::fs::read_to_string(path.join(format!("{way}.html"))).unwrap();
        assert!(page.starts_with("<!DOCTYPE html>"), "{way}");
        let release = rows(&path.join(format!("{way}-release/release.csv")), ',');
        assert_eq!(release.len(), original.len());
        assert_anonymous(&original, &release);
    }
}
