//! `hedgerow generate`, and what it makes put to use.

use super::{hedgerow, json};

#[test]
fn what_is_made_checks_and_can_be_verified() {
    let folder = tempfile::tempdir().unwrap();
    let done = hedgerow(
        folder.path(),
        &[
            "generate", "hospital", "--rows", "1000", "--sites", "4", "--out", "h", "--json",
        ],
    );
    assert_eq!(done.code, 0, "{}", done.stderr);
    let made = json(&done);
    let tables: Vec<&str> = made["tables"]
        .as_array()
        .unwrap()
        .iter()
        .map(|table| table["path"].as_str().unwrap())
        .collect();
    assert_eq!(tables.len(), 4);
    let mut arguments = vec!["study", "check", "h/study.toml"];
    arguments.extend(&tables);
    let done = hedgerow(folder.path(), &arguments);
    assert_eq!(done.code, 0, "{}", done.stderr);
    // Raw records are not anonymous.
    let done = hedgerow(
        folder.path(),
        &["verify", tables[0], "--study", "h/study.toml", "--json"],
    );
    assert_eq!(done.code, 1);
    assert_eq!(json(&done)["identifiers"][0], "patient");
}

#[test]
fn a_folder_in_use_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("h")).unwrap();
    std::fs::write(folder.path().join("h/mine.txt"), "mine").unwrap();
    let done = hedgerow(
        folder.path(),
        &["generate", "census", "--rows", "10", "--out", "h"],
    );
    assert_eq!(done.code, 2);
    assert!(done.stderr.starts_with("error: h: "), "{}", done.stderr);
    assert_eq!(
        std::fs::read_dir(folder.path().join("h")).unwrap().count(),
        1
    );
}

#[test]
fn a_pooled_table_names_its_sites() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = [
        "generate", "census", "--rows", "500", "--sites", "3", "--pooled", "--format", "parquet",
        "--out", "c", "--json",
    ];
    let made = json(&hedgerow(folder.path(), &arguments));
    let table = made["tables"][0]["path"].as_str().unwrap();
    let done = hedgerow(
        folder.path(),
        &[
            "study",
            "check",
            "c/study.toml",
            table,
            "--provider-column",
            "site",
        ],
    );
    assert_eq!(done.code, 0, "{}", done.stderr);
    let done = hedgerow(
        folder.path(),
        &[
            "verify",
            table,
            "--study",
            "c/study.toml",
            "--provider-column",
            "site",
            "--json",
        ],
    );
    assert_eq!(done.code, 1);
    assert_eq!(json(&done)["models"]["site_diversity"]["achieved"], 1);
}
