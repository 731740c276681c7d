//! `hedgerow study draft` and `merge`, and `anonymize` without a study.

use std::path::Path;
use std::process::Command;

use super::{assert_refused, hedgerow, json};

/// A table of some patients; `from` is the least age.
fn write_patients(path: &Path, from: u32) {
    let rows = (0..80).map(|row: u32| {
        let diagnosis = ["flu", "ulcer", "asthma"][row as usize % 3];
        format!(
            "{row}-x,{},101{:02},{},{diagnosis}\n",
            from + row % 40,
            row % 4,
            ["f", "m"][row as usize % 2]
        )
    });
    let rows: String = rows.collect();
    std::fs::write(path, format!("patient,age,zip,sex,diagnosis\n{rows}")).unwrap();
}

#[test]
fn from_a_bare_table_to_a_release() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    write_patients(&path.join("patients.csv"), 20);
    let done = hedgerow(path, &["study", "draft", "patients.csv"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(
        done.stdout
            .starts_with("study/study.toml: drafted of patients.csv, 80 records\n"),
        "{}",
        done.stdout
    );
    for line in [
        "patient    identifier  any text",
        "zip        quasi       4 values, 5 levels",
        "diagnosis  sensitive   3 values",
    ] {
        assert!(done.stdout.contains(line), "{}", done.stdout);
    }
    for command in [
        &["study", "check", "study/study.toml", "patients.csv"][..],
        &[
            "anonymize",
            "--study",
            "study/study.toml",
            "patients.csv",
            "--out",
            "release",
        ],
        &["verify", "release", "--study", "study/study.toml"],
    ] {
        let done = hedgerow(path, command);
        assert_eq!(done.code, 0, "{}", done.stderr);
    }
    let done = hedgerow(path, &["study", "draft", "patients.csv"]);
    assert_refused(
        &done,
        "study/study.toml: is there already and is kept\nhint: use it with --study, or name another folder",
    );
    let drafted = json(&hedgerow(
        path,
        &[
            "study",
            "draft",
            "patients.csv",
            "--share",
            "--out",
            "shared",
            "--json",
        ],
    ));
    assert_eq!(drafted["study"], "shared/study.toml");
    assert_eq!(drafted["columns"][1]["role"], "quasi");
    assert!(drafted["tells"].as_array().unwrap().len() > 5);
}

#[test]
fn a_study_is_drafted_of_standard_input() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    write_patients(&path.join("patients.csv"), 20);
    let done = Command::new(env!("CARGO_BIN_EXE_hedgerow"))
        .args(["study", "draft", "-"])
        .current_dir(path)
        .stdin(std::fs::File::open(path.join("patients.csv")).unwrap())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&done.stdout);
    assert_eq!(done.status.code(), Some(0), "{done:?}");
    assert!(
        said.starts_with("study/study.toml: drafted of standard input, 80 records\n"),
        "{said}"
    );
    assert!(
        said.contains("hedgerow anonymize --study study/study.toml -\n"),
        "{said}"
    );
    let done = hedgerow(
        path,
        &["study", "check", "study/study.toml", "patients.csv"],
    );
    assert_eq!(done.code, 0, "{}", done.stderr);
}

/// A guess that may be wrong is said in the terminal too.
#[test]
fn doubts_are_said() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let rows: String = (0..60)
        .map(|row: u32| format!("{},{}\n", ["flu", "Flu", "hiv"][row as usize % 3], row % 40))
        .collect();
    std::fs::write(path.join("t.csv"), format!("diagnosis,age\n{rows}")).unwrap();
    let doubt = "doubt: `diagnosis`: values that differ only in capital letters or in spaces around them may be one value; l counts such values once\n";
    let done = hedgerow(path, &["study", "draft", "t.csv"]);
    assert!(done.stdout.contains(doubt), "{}", done.stdout);
    assert!(
        done.stdout.contains("diagnosis  sensitive ?  3 values"),
        "{}",
        done.stdout
    );
    assert!(
        done.stdout.contains("requires k = 10, l = 2; clustering\n"),
        "{}",
        done.stdout
    );
    let arguments = [
        "anonymize",
        "t.csv",
        "--quasi",
        "age",
        "--sensitive",
        "diagnosis",
    ];
    let done = hedgerow(path, &arguments);
    assert!(done.stderr.contains(doubt), "{}", done.stderr);
}

#[test]
fn a_table_is_anonymized_without_a_study() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    write_patients(&path.join("patients.csv"), 20);
    let done = hedgerow(path, &["anonymize", "patients.csv"]);
    assert_refused(
        &done,
        "nothing says what the columns mean\nhint: give --study, or --quasi with the columns that others may know of a person; hedgerow study draft proposes a study",
    );
    let arguments = [
        "anonymize",
        "patients.csv",
        "--k",
        "5",
        "--quasi",
        "age, zip,sex",
        "--sensitive",
        "diagnosis",
    ];
    let done = hedgerow(path, &arguments);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(
        done.stderr
            .contains("no study was given, so release-study/study.toml was drafted:\n"),
        "{}",
        done.stderr
    );
    assert!(
        done.stderr.contains("requires k = 5, l = 3; clustering"),
        "{}",
        done.stderr
    );
    let header = std::fs::read_to_string(path.join("release/release.csv")).unwrap();
    assert!(header.starts_with("age,zip,sex,diagnosis\n"), "{header}");
    // The study is there to be used again, and is not written over.
    let again = [
        "anonymize",
        "--study",
        "release-study/study.toml",
        "patients.csv",
        "--out",
        "again",
    ];
    assert_eq!(hedgerow(path, &again).code, 0);
    let [one, other] = ["release", "again"]
        .map(|name| std::fs::read(path.join(name).join("release.csv")).unwrap());
    assert_eq!(one, other);
    assert_refused(
        &hedgerow(path, &arguments),
        "release-study/study.toml: is there already and is kept\nhint: use it with --study, or name another folder",
    );
    let both = [&again[..], &["--quasi", "age"]].concat();
    assert_eq!(hedgerow(path, &both).code, 2);
}

#[test]
fn the_drafts_of_sites_are_joined() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    for (site, from) in [("north", 20), ("south", 45)] {
        write_patients(&path.join(format!("{site}.csv")), from);
        let table = format!("{site}.csv");
        let done = hedgerow(path, &["study", "draft", &table, "--share", "--out", site]);
        assert_eq!(done.code, 0, "{}", done.stderr);
    }
    let done = hedgerow(
        path,
        &[
            "study",
            "merge",
            "north/study.toml",
            "south/study.toml",
            "--name",
            "both",
            "--out",
            "joint",
        ],
    );
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(
        done.stdout
            .starts_with("joint/study.toml: joined of 2 drafts\n"),
        "{}",
        done.stdout
    );
    assert!(
        done.stdout.contains("requires k = 10, l = 3; clustering\n"),
        "{}",
        done.stdout
    );
    let done = hedgerow(
        path,
        &[
            "study",
            "check",
            "joint/study.toml",
            "north.csv",
            "south.csv",
        ],
    );
    assert_eq!(done.code, 0, "{}", done.stderr);
    let text = std::fs::read_to_string(path.join("south/study.toml")).unwrap();
    std::fs::write(
        path.join("south/study.toml"),
        text.replace("role = \"sensitive\"", "role = \"quasi\""),
    )
    .unwrap();
    let done = hedgerow(
        path,
        &[
            "study",
            "merge",
            "north/study.toml",
            "south/study.toml",
            "--out",
            "other",
        ],
    );
    assert!(
        done.stderr
            .contains("column `diagnosis` is quasi, and sensitive in north/study.toml"),
        "{}",
        done.stderr
    );
    assert_eq!(done.code, 2);
    assert!(!path.join("other").exists());
}
