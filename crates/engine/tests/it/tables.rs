//! Tables as files and as Arrow batches, of one site or of several: the same rows give the same release.

use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use hedgerow::{Options, Sites, Table, anonymize, simulate};
use proptest::prelude::*;

use super::study;

const DISEASES: [&str; 3] = ["asthma", "flu", "ulcer"];

/// Age, sex, disease, and the site that has the record.
type Row = (i64, bool, usize, usize);

fn sex(row: &Row) -> &'static str {
    if row.1 { "f" } else { "m" }
}

fn batch(rows: &[&Row]) -> RecordBatch {
    let ages = rows.iter().map(|row| row.0).collect::<Int64Array>();
    let sexes = StringArray::from_iter_values(rows.iter().map(|row| sex(row)));
    let diseases = StringArray::from_iter_values(rows.iter().map(|row| DISEASES[row.2]));
    RecordBatch::try_from_iter([
        ("age", Arc::new(ages) as ArrayRef),
        ("sex", Arc::new(sexes)),
        ("disease", Arc::new(diseases)),
    ])
    .unwrap()
}

fn csv(path: &Path, rows: &[&Row], with_site: bool) {
    let mut text = String::from("age,sex,disease");
    text.push_str(if with_site { ",site\n" } else { "\n" });
    for row in rows {
        let site = if with_site {
            format!(",{}", row.3)
        } else {
            String::new()
        };
        text.push_str(&format!(
            "{},{},{}{site}\n",
            row.0,
            sex(row),
            DISEASES[row.2]
        ));
    }
    std::fs::write(path, text).unwrap();
}

/// The release of a simulation, as its CSV has it.
fn released(sites: &Sites) -> String {
    let simulation = simulate(&study("k = 3"), sites, &Options::new()).unwrap();
    let folder = simulation.outcome.release.path().to_owned();
    let text = std::fs::read_to_string(folder.join("release.csv")).unwrap();
    assert_eq!(simulation.ledgers.len(), simulation.outcome.summary.sites);
    // The release is the last that needs its folder.
    drop(simulation);
    assert!(!folder.exists());
    text
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// Skewed sites: the first has most rows.
    #[test]
    fn sites_by_column_by_file_and_by_batch_release_the_same(
        rows in prop::collection::vec((0i64..100, any::<bool>(), 0usize..3, 0usize..6), 12..60)
    ) {
        let mut rows: Vec<Row> = rows
            .into_iter()
            .map(|(age, sex, disease, site)| (age, sex, disease, site.saturating_sub(3)))
            .collect();
        // Every site appears, in order.
        for (site, row) in rows.iter_mut().take(3).enumerate() {
            row.3 = site;
        }
        let folder = tempfile::tempdir().unwrap();
        let pooled = folder.path().join("pooled.csv");
        let all: Vec<&Row> = rows.iter().collect();
        csv(&pooled, &all, true);
        let named = released(&Sites::Named {
            table: Table::file(&pooled),
            column: "site".into(),
        });
        let of_site = |site: usize| -> Vec<&Row> { rows.iter().filter(|row| row.3 == site).collect() };
        let files = (0..3).map(|site| {
            let path = folder.path().join(format!("{site}.csv"));
            csv(&path, &of_site(site), false);
            Table::file(path)
        });
        prop_assert_eq!(&released(&Sites::Tables(files.collect())), &named);
        let batches = (0..3).map(|site| {
            // In two pieces, the first of which may be empty.
            let own = of_site(site);
            let (first, second) = own.split_at(own.len() / 2);
            Table::batches(format!("site {site}"), vec![batch(first), batch(second)])
        });
        prop_assert_eq!(&released(&Sites::Tables(batches.collect())), &named);
        // One party with everybody's rows has the same release.
        let study = study("k = 3");
        let table = Table::batches("all", vec![batch(&all)]);
        let alone = anonymize(&study, &table, &Options::new()).unwrap();
        let text = std::fs::read_to_string(alone.release.path().join("release.csv")).unwrap();
        prop_assert_eq!(text, named);
    }
}

#[test]
fn a_value_outside_its_domain_is_named_by_table_and_row() {
    let wrong = batch(&[&(20, true, 0, 0), &(120, true, 1, 0)]);
    let table = Table::batches("patients", vec![wrong]);
    let error = anonymize(&study("k = 1"), &table, &Options::new()).unwrap_err();
    let words = error.to_string();
    assert!(words.starts_with("patients:2: "), "{words}");
    assert!(words.contains("120"), "{words}");
    assert_eq!(error.fault(), hedgerow::Fault::OwnData);
}

#[test]
fn batches_of_different_columns_and_no_batches_are_refused() {
    let one = batch(&[&(20, true, 0, 0)]);
    let other = one.project(&[0, 1]).unwrap();
    for (batches, what) in [
        (vec![one, other], "different columns"),
        (Vec::new(), "column `age`"),
    ] {
        let table = Table::batches("patients", batches);
        let error = anonymize(&study("k = 1"), &table, &Options::new()).unwrap_err();
        assert!(error.to_string().contains(what), "{error}");
    }
}

/// Builders say by what a batch has whether a column may have nulls: that is no difference.
#[test]
fn batches_may_differ_in_whether_they_have_nulls() {
    let text = "[study]\nname = \"s\"\npartition = \"horizontal\"\n[[attribute]]\nname = \"age\"\nrole = \"quasi\"\ntype = \"integer\"\nrange = [0, 99]\nmissing = \"\"\n[require]\nk = 1\n";
    let study = hedgerow::Study::parse(text, ".").unwrap();
    let ages = |ages: Vec<Option<i64>>| {
        let ages = Arc::new(Int64Array::from(ages)) as ArrayRef;
        RecordBatch::try_from_iter([("age", ages)]).unwrap()
    };
    let batches = vec![ages(vec![Some(1), Some(2)]), ages(vec![None, Some(3)])];
    assert_ne!(batches[0].schema(), batches[1].schema());
    let outcome = anonymize(&study, &Table::batches("t", batches), &Options::new()).unwrap();
    assert_eq!(outcome.summary.records, 4);
}

/// A day that no calendar has is outside every domain, also where a missing value is empty text.
#[test]
fn a_day_beyond_the_calendar_is_no_missing_value() {
    let text = "[study]\nname = \"s\"\npartition = \"horizontal\"\n[[attribute]]\nname = \"came\"\nrole = \"quasi\"\ntype = \"date\"\nrange = [\"2025-01-01\", \"2025-12-31\"]\nmissing = \"\"\n[require]\nk = 1\n";
    let study = hedgerow::Study::parse(text, ".").unwrap();
    let days = Arc::new(arrow_array::Date32Array::from(vec![20_100, i32::MAX])) as ArrayRef;
    let batch = RecordBatch::try_from_iter([("came", days)]).unwrap();
    let table = Table::batches("stays", vec![batch]);
    let error = anonymize(&study, &table, &Options::new())
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("stays:2: ") && error.contains("days after 1970"),
        "{error}"
    );
}

#[test]
fn options_that_mean_nothing_are_refused() {
    let table = Table::batches("t", vec![batch(&[&(20, true, 0, 0)])]);
    let study = study("k = 1");
    let refused = |options: Options| anonymize(&study, &table, &options).unwrap_err().to_string();
    let error = refused(Options::new().out(""));
    assert!(error.contains("has no name"), "{error}");
    let error = refused(Options::new().independent());
    assert!(error.contains("no sites to run alone"), "{error}");
    let sites = Sites::dealt(table.clone(), 1);
    let error = simulate(&study, &sites, &Options::new().provider_column("site")).unwrap_err();
    assert!(error.to_string().contains("Sites::Named"), "{error}");
}
