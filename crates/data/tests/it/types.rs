//! Types that real tables have: how tables spell values, and what becomes of them.

use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, Decimal128Array, Float32Array, Float64Array, RecordBatch};
use hedgerow_data::document::Document;
use hedgerow_data::files::{Others, read_batches, read_table, write_table};
use hedgerow_data::{Schema, Study, Table};
use proptest::prelude::*;

/// The schema of a study with these attributes.
fn schema(attributes: &str) -> Arc<Schema> {
    let text = format!("[study]\nname = \"s\"\npartition = \"horizontal\"\n{attributes}");
    let document = Document::parse(text, Path::new("study.toml")).unwrap();
    Study::read(document, Path::new("")).unwrap().schema
}

/// The values of a column as a release spells them.
fn labels(table: &Table, position: usize) -> Vec<String> {
    let domain = &table.schema().attributes()[position].domain;
    let codes = table.codes(position).unwrap().iter();
    codes.map(|code| domain.label(code).into_owned()).collect()
}

const FEVER: &str = "[[attribute]]\nname = \"fever\"\nrole = \"quasi\"\n\
    type = \"decimal\"\nrange = [34, 43]\nstep = 0.1\nmissing = \"NA\"\n";

#[test]
fn decimals_come_as_any_kind_of_number() {
    let schema = schema(FEVER);
    let read = |column: ArrayRef| {
        let batch = RecordBatch::try_from_iter_with_nullable([("fever", column, true)]).unwrap();
        let table = read_batches("patients", &[batch], &schema, &Others::Refuse);
        table.map(|table| labels(&table, 0))
    };
    let expected = ["38.6", "NA", "40.0"];
    let floats = Float64Array::from(vec![Some(38.6), None, Some(40.0)]);
    assert_eq!(read(Arc::new(floats)).unwrap(), expected);
    let narrow = Float32Array::from(vec![Some(38.6), None, Some(40.0)]);
    assert_eq!(read(Arc::new(narrow)).unwrap(), expected);
    let exact = Decimal128Array::from(vec![Some(38_600), None, Some(40_000)]);
    let exact = exact.with_precision_and_scale(10, 3).unwrap();
    assert_eq!(read(Arc::new(exact)).unwrap(), expected);
    let between = Float64Array::from(vec![38.65, f64::NAN]);
    assert_eq!(
        read(Arc::new(between)).unwrap_err().to_string(),
        "patients:1: column `fever`: value `38.65` is outside the decimals 34.0 to 43.0 in steps of 0.1\nhint: nearest valid values are `38.6`, `38.7`\n\
         error: patients:2: column `fever`: value `NaN` is outside the decimals 34.0 to 43.0 in steps of 0.1\nhint: this is no number; if it stands for a missing value, declare it: missing = \"NaN\""
    );
}

proptest! {
    /// A table of decimals reads as the table of the integers that are its tenths.
    #[test]
    fn decimals_against_integers(tenths in proptest::collection::vec(prop_oneof![Just(None), (340_i64..=430).prop_map(Some)], 1..40)) {
        let scaled = FEVER.replace("decimal", "integer").replace("[34, 43]", "[340, 430]").replace("step = 0.1\n", "");
        let folder = tempfile::tempdir().unwrap();
        let read = |schema: &Arc<Schema>, text: &dyn Fn(i64) -> String| {
            let path = folder.path().join("t.csv");
            let rows = tenths.iter().map(|one| one.map_or(String::from("NA"), text));
            std::fs::write(&path, format!("fever\n{}\n", rows.collect::<Vec<_>>().join("\n"))).unwrap();
            read_table(&path, schema, &Others::Refuse, &()).unwrap()
        };
        let decimals = read(&schema(FEVER), &|one| format!("{}.{}", one / 10, one % 10));
        let integers = read(&schema(&scaled), &|one| one.to_string());
        prop_assert_eq!(decimals.codes(0), integers.codes(0));
        for name in ["again.csv", "again.parquet"] {
            let path = folder.path().join(name);
            write_table(&path, &decimals, &()).unwrap();
            prop_assert_eq!(&read_table(&path, decimals.schema(), &Others::Refuse, &()).unwrap(), &decimals);
        }
    }
}
