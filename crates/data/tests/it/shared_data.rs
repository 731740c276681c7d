//! Real tables, where they are: `../shared/data` beside the checkout, or `HEDGEROW_DATA`.

use std::path::{Path, PathBuf};

use hedgerow_data::document::Document;
use hedgerow_data::files::{Others, read_table};
use hedgerow_data::{Study, Taxonomy};

fn folder() -> Option<PathBuf> {
    let named = std::env::var_os("HEDGEROW_DATA").map(PathBuf::from);
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let folder = named.unwrap_or(beside);
    if !folder.is_dir() {
        eprintln!("skipped: no real tables here; set HEDGEROW_DATA to their folder");
        return None;
    }
    Some(folder)
}

#[test]
fn adult_with_its_hierarchies() {
    let Some(folder) = folder() else { return };
    let folder = folder.join("adult9");
    let names = [
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
    let mut text = String::from("[study]\nname = \"adult\"\npartition = \"horizontal\"\n");
    for name in names {
        let role = if name == "salary-class" {
            "sensitive"
        } else {
            "quasi"
        };
        text.push_str(&format!(
            "[[attribute]]\nname = \"{name}\"\nrole = \"{role}\"\ntaxonomy = \"adult_hierarchy_{name}.csv\"\n"
        ));
    }
    let study = Study::read(
        Document::parse(text, Path::new("study.toml")).unwrap(),
        &folder,
    )
    .unwrap();
    let table = read_table(
        &folder.join("adult.csv"),
        &study.schema,
        &Others::Refuse,
        &(),
    )
    .unwrap();
    assert_eq!(table.rows(), 30_162);
    assert_eq!(table.coded_bytes(), 9 * 30_162);
    for name in names {
        let file = format!("adult_hierarchy_{name}.csv");
        let tree = Taxonomy::open(&folder.join(&file), &file).unwrap();
        assert_eq!(Taxonomy::from_rows(&tree.to_rows(), "again").unwrap(), tree);
    }
    let age = &study.schema.attributes()[1].domain;
    let first = table.codes(1).unwrap().get(0);
    assert_eq!(age.label(first), "39");
}
