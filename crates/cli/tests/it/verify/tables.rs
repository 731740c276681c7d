//! One table: whether it holds, what is said of it in words and in JSON, and what is no release.

use crate::{RELEASE, assert_refused, hedgerow, json, small, study};

#[test]
fn a_release_that_holds() {
    let folder = small();
    let done = hedgerow(
        folder.path(),
        &["verify", "release.csv", "--study", "study.toml"],
    );
    assert_eq!((done.code, done.stderr.as_str()), (0, ""));
    assert!(
        done.stdout
            .starts_with("HOLDS: release.csv, 5 records in 2 classes\n"),
        "{}",
        done.stdout
    );
    assert!(
        done.stdout
            .contains("smallest class: age = [20-39], zip = 1**; 2 records, first at record 1")
    );
}

#[test]
fn a_release_that_does_not() {
    let folder = small();
    let arguments = [
        "verify",
        "release.csv",
        "--study",
        "study.toml",
        "--against",
        "k = 3, l = 2",
    ];
    let done = hedgerow(folder.path(), &arguments);
    assert_eq!(done.code, 1);
    assert!(done.stdout.starts_with("DOES NOT HOLD: release.csv"));
    assert!(done.stdout.contains("k-anonymity: fails in 1 class (2 records)\n  worst class: age = [20-39], zip = 1**; 2 records"));
}

#[test]
fn json_is_the_contract() {
    let folder = small();
    let arguments = [
        "verify",
        "release.csv",
        "--study",
        "study.toml",
        "--against",
        "k = 3, t = 0.5",
        "--json",
    ];
    let done = hedgerow(folder.path(), &arguments);
    let report = json(&done);
    assert_eq!(report["holds"], false);
    assert_eq!(report["models"]["k"]["required"], 3);
    assert_eq!(report["models"]["k"]["achieved"], 2);
    assert_eq!(report["models"]["k"]["holds"], false);
    assert_eq!(
        report["models"]["k"]["worst_class"]["quasi"]["age"],
        "[20-39]"
    );
    assert_eq!(report["models"]["t"]["holds"], true);
    assert_eq!(
        report["models"]["t"]["attributes"]["disease"]["distance"],
        "equal"
    );
    // LM: age 2 * 19/99 of 5 records; zip 2 * 1/2 + 3 * 1.
    let lm = (2.0 * 19.0 / 99.0 / 5.0 + (2.0 * 0.5 + 3.0) / 5.0) / 2.0;
    assert!((report["utility"]["lm"].as_f64().unwrap() - lm).abs() < 1e-12);
    assert_eq!(report["utility"]["discernibility"], 4 + 9);
    assert_eq!(report["risk"]["prosecutor"]["max"], 0.5);
    assert!(
        report["utility"].get("em").is_none(),
        "absent without the original"
    );
}

#[test]
fn a_table_without_a_study() {
    let folder = small();
    let arguments = [
        "verify",
        "release.csv",
        "--quasi",
        "age,zip",
        "--sensitive",
        "disease",
        "--against",
        "k = 2, l = 2",
    ];
    assert_eq!(hedgerow(folder.path(), &arguments).code, 0);
    let done = hedgerow(folder.path(), &["verify", "release.csv"]);
    assert_refused(
        &done,
        "nothing says which columns are quasi-identifiers\nhint: give --study study.toml, or --quasi age,zip --sensitive disease",
    );
    let done = hedgerow(
        folder.path(),
        &["verify", "release.csv", "--quasi", "age,zap"],
    );
    assert_refused(
        &done,
        "release.csv:1: there is no column `zap`\nhint: the file has `age`, `zip`, `disease`",
    );
}

#[test]
fn a_column_has_one_role() {
    let folder = small();
    let done = hedgerow(
        folder.path(),
        &[
            "verify",
            "release.csv",
            "--quasi",
            "age,zip",
            "--sensitive",
            "zip",
        ],
    );
    assert_refused(
        &done,
        "column `zip` is named twice\nhint: a column has one role",
    );
}

#[test]
fn an_identifier_in_a_release_is_never_anonymous() {
    let folder = small();
    let study = study().identifier("name").to_string();
    std::fs::write(folder.path().join("study.toml"), study).unwrap();
    let named = RELEASE
        .replace("disease\n", "disease,name\n")
        .replace("flu\n", "flu,x\n")
        .replace("ulcer\n", "ulcer,x\n")
        .replace("asthma\n", "asthma,x\n");
    std::fs::write(folder.path().join("named.csv"), named).unwrap();
    let done = hedgerow(
        folder.path(),
        &["verify", "named.csv", "--study", "study.toml"],
    );
    assert_eq!(done.code, 1);
    assert!(
        done.stdout
            .contains("column `name` is an identifier: nobody in this table is anonymous")
    );
    assert_eq!(
        hedgerow(
            folder.path(),
            &["verify", "release.csv", "--study", "study.toml"]
        )
        .code,
        0
    );
}

#[test]
fn a_parquet_release() {
    // A pooled census as Parquet, verified as it is: every record its own class, or nearly.
    let folder = tempfile::tempdir().unwrap();
    let arguments = [
        "generate", "census", "--rows", "300", "--format", "parquet", "--out", "c",
    ];
    assert_eq!(hedgerow(folder.path(), &arguments).code, 0);
    let table = "c/north.parquet";
    let done = hedgerow(
        folder.path(),
        &["verify", table, "--study", "c/study.toml", "--json"],
    );
    assert_eq!((done.code, json(&done)["records"].as_u64()), (1, Some(300)));
    // The other way into the same column types: as a table of the study.
    let done = hedgerow(folder.path(), &["study", "check", "c/study.toml", table]);
    assert_eq!(done.code, 0, "{}", done.stderr);
}

#[test]
fn a_cell_that_is_no_node() {
    let folder = small();
    std::fs::write(
        folder.path().join("release.csv"),
        RELEASE.replace("1**", "3**"),
    )
    .unwrap();
    let done = hedgerow(
        folder.path(),
        &["verify", "release.csv", "--study", "study.toml"],
    );
    assert_refused(
        &done,
        "release.csv:2: column `zip`: `3**` is no value, interval or set of this attribute, and no node of its taxonomy\nhint: nearest are `1**`, `2**`",
    );
}
