//! The Adult table (UCI Machine Learning Repository) where it is: `../shared/data` beside the
//! checkout, or `HEDGEROW_DATA`. Tests and benches of other crates read it with this file too.

use std::path::{Path, PathBuf};

use hedgerow_data::document::Document;
use hedgerow_data::files::{Others, read_table};
use hedgerow_data::{Study, Table};

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

/// The folder of real tables.
pub(crate) fn shared_data() -> Option<PathBuf> {
    let named = std::env::var_os("HEDGEROW_DATA").map(PathBuf::from);
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let folder = named.unwrap_or(beside);
    if !folder.is_dir() {
        eprintln!("skipped: no real tables here; set HEDGEROW_DATA to their folder");
        return None;
    }
    Some(folder)
}

/// The table with one attribute sensitive and all others quasi-identifiers.
pub(crate) fn adult(sensitive: &str) -> Option<(Study, Table)> {
    let folder = shared_data()?.join("adult9");
    let mut text = String::from("[study]\nname = \"adult\"\npartition = \"horizontal\"\n");
    for name in NAMES {
        let role = if name == sensitive {
            "sensitive"
        } else {
            "quasi"
        };
        text.push_str(&format!(
            "[[attribute]]\nname = \"{name}\"\nrole = \"{role}\"\ntaxonomy = \"adult_hierarchy_{name}.csv\"\n"
        ));
    }
    let document = Document::parse(text, Path::new("study.toml")).unwrap();
    let study = Study::read(document, &folder).unwrap();
    let table = folder.join("adult.csv");
    let table = read_table(&table, &study.schema, &Others::Refuse, &()).unwrap();
    Some((study, table))
}
