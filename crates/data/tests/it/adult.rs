//! The Adult table (UCI Machine Learning Repository), where the real tables are. Tests and benches of
//! other crates read it with this file too.

use std::path::Path;

use hedgerow_data::document::Document;
use hedgerow_data::files::{Others, read_table};
use hedgerow_data::{Study, Table};
use hedgerow_testing::{StudyText, real_tables, taxonomy};

/// Its columns.
pub(crate) const NAMES: [&str; 9] = [
    "sex",
    "age",
    "race",
    "marital-status",
    "education",
    "native-country",
    "workclass",
    "occupation",
    "salary-class",
];

/// The table with one attribute sensitive and all others quasi-identifiers.
pub(crate) fn adult(sensitive: &str) -> Option<(Study, Table)> {
    let folder = real_tables()?.join("adult9");
    let text = NAMES
        .into_iter()
        .fold(StudyText::new("adult"), |text, name| {
            let role = if name == sensitive {
                "sensitive"
            } else {
                "quasi"
            };
            text.attribute(name, role, taxonomy(&format!("adult_hierarchy_{name}.csv")))
        });
    let document = Document::parse(text.to_string(), Path::new("study.toml")).unwrap();
    let study = Study::read(document, &folder).unwrap();
    let table = folder.join("adult.csv");
    let table = read_table(&table, &study.schema, &Others::Refuse, &()).unwrap();
    Some((study, table))
}
