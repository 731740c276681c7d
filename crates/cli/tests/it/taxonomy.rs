//! `hedgerow taxonomy`.

use super::{assert_refused, hedgerow, json, small};

#[test]
fn from_widths() {
    let folder = tempfile::tempdir().unwrap();
    let done = hedgerow(
        folder.path(),
        &[
            "taxonomy",
            "--integers",
            "0..11",
            "--widths",
            "3,6",
            "--out",
            "age.csv",
        ],
    );
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(
        done.stdout
            .starts_with("12 values, 19 nodes, height 3\n*\n├─ [0-5]\n│  ├─ [0-2]\n│  │  ├─ 0\n"),
        "{}",
        done.stdout
    );
    let written = std::fs::read_to_string(folder.path().join("age.csv")).unwrap();
    assert!(written.starts_with("0;[0-2];[0-5];*\n1;[0-2];[0-5];*\n"));
    // What was written reads back the same.
    let again = json(&hedgerow(folder.path(), &["taxonomy", "age.csv", "--json"]));
    assert_eq!(
        (again["values"].as_u64(), again["nodes"].as_u64()),
        (Some(12), Some(19))
    );
    let done = hedgerow(
        folder.path(),
        &["taxonomy", "--integers", "0..11", "--widths", "4,6"],
    );
    assert_refused(
        &done,
        "width 6 is not a multiple of 4, so its groups would cross\nhint: each width must be a multiple of the one before, e.g. 5,10,20",
    );
}

#[test]
fn from_prefixes_and_pairs() {
    let folder = small();
    std::fs::write(folder.path().join("t.csv"), "zip\n101\n102\n201\n101\n").unwrap();
    let done = hedgerow(
        folder.path(),
        &[
            "taxonomy", "--prefix", "1", "--values", "t.csv", "--column", "zip",
        ],
    );
    assert!(
        done.stdout.starts_with(
            "3 values, 8 nodes, height 3\n*\n├─ 1**\n│  └─ 10*\n│     ├─ 101\n│     └─ 102\n"
        ),
        "{}",
        done.stdout
    );
    std::fs::write(folder.path().join("pairs.csv"), "*;a\na;x\na;y\n").unwrap();
    let done = hedgerow(folder.path(), &["taxonomy", "--pairs", "pairs.csv"]);
    assert!(
        done.stdout.contains("2 values, 4 nodes, height 2"),
        "{}",
        done.stdout
    );
}

#[test]
fn values_that_are_not_covered() {
    let folder = small();
    std::fs::write(folder.path().join("t.csv"), "zip\n101\n999\n").unwrap();
    let done = hedgerow(
        folder.path(),
        &["taxonomy", "zip.csv", "--cover", "t.csv", "--column", "zip"],
    );
    assert_eq!(done.code, 1);
    assert!(done.stdout.contains("1 value of t.csv not covered: `999`"));
    let done = hedgerow(
        folder.path(),
        &[
            "taxonomy",
            "zip.csv",
            "--cover",
            "release.csv",
            "--column",
            "nope",
        ],
    );
    assert_refused(
        &done,
        "release.csv:1: there is no column `nope`\nhint: the file has `age`, `zip`, `disease`",
    );
}

#[test]
fn nothing_and_nonsense() {
    let folder = small();
    let done = hedgerow(folder.path(), &["taxonomy"]);
    assert_refused(
        &done,
        "nothing to make a taxonomy from\nhint: give a file, --integers, --prefix or --pairs; see hedgerow taxonomy --help",
    );
    let done = hedgerow(folder.path(), &["taxonomy", "--integers", "many"]);
    assert_refused(
        &done,
        "--integers is `many`, expected a range such as 0..120",
    );
    std::fs::write(folder.path().join("bad.csv"), "a;X;*\nb;Y;*\na;Y;*\n").unwrap();
    let done = hedgerow(folder.path(), &["taxonomy", "bad.csv"]);
    assert_refused(
        &done,
        "bad.csv:3: `a` stands in two branches: here and at line 1\nhint: a value may have one parent only; rename one of the two",
    );
}

#[test]
fn a_file_that_is_not_there_is_named_without_a_study() {
    let folder = tempfile::tempdir().unwrap();
    assert_refused(
        &hedgerow(folder.path(), &["taxonomy", "nowhere.csv"]),
        "nowhere.csv: cannot be read: No such file or directory (os error 2)\nhint: see that it is there and whole, and that this user may read it",
    );
    // What cannot be written is called by its own name, not by that of a temporary file.
    let arguments = [
        "taxonomy",
        "--integers",
        "0..9",
        "--widths",
        "5",
        "--out",
        "no/age.csv",
    ];
    assert_refused(
        &hedgerow(folder.path(), &arguments),
        "no/age.csv: cannot be written: No such file or directory (os error 2)\nhint: nothing was left half-written",
    );
}
