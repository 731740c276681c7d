//! What a comparison says of each choice, counted again from the release that its lines make.

use std::collections::HashMap;

use hedgerow::{Choice, Comparison, Measured, Options, Row, Study, Table, Writes, anonymize};

use super::{ZIPS, folder, text};

/// The part of its domain that a cell leaves open, from what the cell says.
fn lost(column: &str, cell: &str) -> f64 {
    let inside = |open: char, close: char| {
        let rest = cell.strip_prefix(open)?;
        rest.strip_suffix(close)
    };
    match column {
        "age" => {
            let number = |text: &str| text.parse::<f64>().unwrap();
            let (low, high) = if cell == "*" {
                (0.0, 99.0)
            } else if let Some(set) = inside('{', '}') {
                let ages: Vec<f64> = set.split('|').map(number).collect();
                (ages[0], ages[ages.len() - 1])
            } else if let Some(range) = inside('[', ']') {
                let (low, high) = range.split_once('-').unwrap();
                (number(low), number(high))
            } else {
                (number(cell), number(cell))
            };
            (high - low) / 99.0
        }
        _ => {
            let values: &[&str] = if column == "zip" { &ZIPS } else { &["f", "m"] };
            let covered = if cell == "*" {
                values.len()
            } else if let Some(set) = inside('{', '}') {
                set.split('|').count()
            } else if let Some(range) = inside('[', ']') {
                let place = |value: &str| values.iter().position(|one| *one == value).unwrap();
                let (first, last) = range.split_once("..").unwrap();
                place(last) - place(first) + 1
            } else {
                let prefix = cell.trim_end_matches('*');
                values
                    .iter()
                    .filter(|value| value.starts_with(prefix))
                    .count()
            };
            match covered {
                1 => 0.0,
                several => several as f64 / values.len() as f64,
            }
        }
    }
}

/// Loss, and the sizes of classes from the smallest on.
fn recounted(csv: &str) -> (f64, Vec<u64>) {
    let mut lines = csv.lines();
    assert_eq!(lines.next(), Some("age,zip,sex,disease"));
    let mut classes: HashMap<Vec<&str>, u64> = HashMap::new();
    let (mut loss, mut cells) = (0.0, 0.0);
    for line in lines {
        let fields: Vec<&str> = line.split(',').collect();
        assert_eq!(fields.len(), 4, "{line}");
        for (column, cell) in ["age", "zip", "sex"].iter().zip(&fields) {
            loss += lost(column, cell);
            cells += 1.0;
        }
        *classes.entry(fields[..3].to_vec()).or_default() += 1;
    }
    let mut sizes: Vec<u64> = classes.into_values().collect();
    sizes.sort_unstable();
    (loss / cells, sizes)
}

/// A study with the lines that a row proposes, as a person puts them there.
fn with_lines(require: &str, choice: &Choice) -> String {
    assert!(
        choice.lines.starts_with("[algorithm]\n"),
        "{}",
        choice.lines
    );
    text(require, &choice.lines)
}

/// Sees that every number of a comparison is that of the release which its lines make.
pub(super) fn see_recounted(found: &Comparison, require: &str, table: &Table, options: &Options) {
    let folder = folder();
    let measured: Vec<(&Row, &Measured)> = found
        .choices
        .iter()
        .filter_map(|row| Some((row, row.measured()?)))
        .collect();
    for (row, measured) in &measured {
        let words = row.choice.words();
        let study = Study::parse(with_lines(require, &row.choice), folder.path()).unwrap();
        let outcome = anonymize(&study, table, options).unwrap();
        assert!(outcome.summary.holds && measured.holds, "{words}");
        let csv = std::fs::read_to_string(outcome.release.path().join("release.csv")).unwrap();
        let (loss, sizes) = recounted(&csv);
        assert!(
            (loss - measured.loss).abs() < 1e-9,
            "{words}: {loss} {measured:?}"
        );
        let records: u64 = sizes.iter().sum();
        assert_eq!(records, found.records, "{words}");
        let classes = &measured.classes;
        assert_eq!(
            [
                classes.count,
                classes.smallest,
                classes.median,
                classes.largest
            ],
            [
                sizes.len() as u64,
                sizes[0],
                sizes[sizes.len() / 2],
                sizes[sizes.len() - 1]
            ],
            "{words}"
        );
        assert_eq!(measured.risk.highest, 1.0 / sizes[0] as f64, "{words}");
        let average = sizes.len() as f64 / records as f64;
        assert!((measured.risk.average - average).abs() < 1e-12, "{words}");
        assert!(!measured.stopped && measured.seconds > 0.0, "{words}");
        // Another choice is said to be the same where its own lines make the same release.
        for equal in &row.equal {
            let study = Study::parse(with_lines(require, equal), folder.path()).unwrap();
            let other = anonymize(&study, table, options).unwrap();
            let other = std::fs::read_to_string(other.release.path().join("release.csv"));
            assert_eq!(csv, other.unwrap(), "{words}");
        }
    }
    // The rule, counted again.
    let rank = |how: &str| match how {
        "node" | "range" => 0,
        "tight range" => 1,
        "set" => 2,
        other => panic!("{other}"),
    };
    let own = found.choices.iter().flat_map(Row::choices);
    let own = own.filter(|choice| choice.own).collect::<Vec<_>>()[0];
    let is_fit = |choice: &Choice| {
        choice.writes.iter().zip(&own.writes).all(|(one, own)| {
            let is_odd = |one: &Writes| one.how.contains("range") && !one.ordered;
            rank(one.how) <= rank(own.how) && (is_odd(own) || !is_odd(one))
        })
    };
    let is_quiet = |row: &Row| row.choices().any(is_fit);
    let quiet = || measured.iter().filter(|(row, _)| is_quiet(row));
    let least = quiet()
        .map(|(_, one)| one.loss)
        .fold(f64::INFINITY, f64::min);
    let near = quiet().filter(|(_, one)| one.loss <= least * 1.02);
    let error = |one: &Measured| one.query_error.unwrap().mean;
    let best = near
        .map(|(_, one)| error(one))
        .fold(f64::INFINITY, f64::min);
    let recommended = found.recommended.as_ref().unwrap();
    let row = &found.choices[recommended.row];
    assert_eq!(error(row.measured().unwrap()), best);
    assert!(
        is_quiet(row) && is_fit(&row.choice),
        "{}",
        row.choice.words()
    );
    assert_eq!(recommended.lines, row.choice.lines);
    // No release is there twice, and the study's own choice once.
    let mut lines: Vec<&str> = measured
        .iter()
        .map(|(row, _)| row.choice.lines.as_str())
        .collect();
    lines.sort_unstable();
    lines.dedup();
    assert_eq!(lines.len(), measured.len());
    assert_eq!(found.choices.iter().filter(|row| row.choice.own).count(), 1);
    assert!(found.holds());
}
