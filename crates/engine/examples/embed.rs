//! Three hospitals publish one table together, in one process: simulate, verify, report.
//!
//! `cargo run -p hedgerow --example embed`
#![allow(clippy::print_stdout)]

use std::error::Error;
use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use hedgerow::{Options, Questions, Sites, Study, Table, report, simulate, verify};

const STUDY: &str = r#"
[study]
name = "three-hospitals"
partition = "horizontal"
[[attribute]]
name = "age"
role = "quasi"
type = "integer"
range = [0, 99]
[[attribute]]
name = "disease"
role = "sensitive"
values = ["asthma", "flu", "ulcer"]
[require]
k = 5
l = 2
m = 1            # and so it stays if one hospital turns on the others
"#;

/// A hospital's own patients, as Arrow has them.
fn patients(hospital: usize) -> Result<Table, Box<dyn Error>> {
    let ages = (0..100).map(|row| (hospital * 20 + row * 7 % 60) as i64);
    let diseases = (0..100).map(|row| ["asthma", "flu", "flu", "ulcer"][(row + hospital) % 4]);
    let batch = RecordBatch::try_from_iter([
        ("age", Arc::new(ages.collect::<Int64Array>()) as ArrayRef),
        ("disease", Arc::new(StringArray::from_iter_values(diseases))),
    ])?;
    Ok(Table::batches(format!("hospital {hospital}"), vec![batch]))
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let study = Study::parse(STUDY, ".")?;
    let tables = (0..3).map(patients).collect::<Result<_, _>>()?;
    let simulation = simulate(&study, &Sites::Tables(tables), &Options::new())?;
    let release = &simulation.outcome.release;
    println!("{}", simulation.outcome.summary);

    let verdict = verify(release, &Questions::default())?;
    println!("{verdict}");
    assert!(verdict.holds());

    let page = report(release)?;
    println!("the report has {} bytes of HTML", page.len());
    Ok(())
}
