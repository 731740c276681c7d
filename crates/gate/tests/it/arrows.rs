//! Attacks see what a reader sees: of our own crates, the manifest names `data` and `privacy` alone.

use toml_edit::DocumentMut;

#[test]
fn the_gate_knows_tables_and_models_and_nothing_of_runs() {
    let manifest: DocumentMut = include_str!("../../Cargo.toml").parse().unwrap();
    let names = |table: &str| -> Vec<String> {
        let names = manifest[table].as_table().unwrap().iter();
        let names = names.map(|(name, _)| name.to_owned());
        names.filter(|name| name.starts_with("hedgerow")).collect()
    };
    assert_eq!(names("dependencies"), ["hedgerow-data", "hedgerow-privacy"]);
    assert!(names("dev-dependencies").is_empty());
}
