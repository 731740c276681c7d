//! Names and values that others wrote do nothing to the terminal that they are printed on, and text of
//! a release nothing to the spreadsheet that opens it.

use std::path::Path;

use hedgerow_testing::{StudyText, integer, taxonomy, values};

use super::{Done, hedgerow, json};

/// Sets the title of a window, clears the screen in two ways, turns the text, deletes.
const NASTY: &str = "\u{1b}]0;owned\u{7}\u{1b}[2J\u{9b}2J\u{202e}txt\u{2066}\u{7f}";
const SHOWN: &str = r"\u001b]0;owned\u0007\u001b[2J\u009b2J\u202etxt\u2066\u007f";
/// The same in a basic string of TOML.
const IN_TOML: &str = r"\u001B]0;owned\u0007\u001B[2J\u009B2J\u202Etxt\u2066\u007F";

fn write(folder: &Path, name: &str, text: &str) {
    std::fs::write(folder.join(name), text).unwrap();
}

/// A study whose every name has escapes, and its key files.
fn nasty(folder: &Path) {
    let mut study = StudyText::new(&format!("small{IN_TOML}"))
        .quasi(&format!("age{IN_TOML}"), integer(0..=99))
        .quasi("zip", taxonomy("zip.csv"))
        .sensitive("disease", values([&*format!("flu{IN_TOML}"), "ulcer"]))
        .require("k = 2");
    for (site, port) in [("north", 7401), ("south", 7402)] {
        let done = hedgerow(
            folder,
            &["keygen", "--out", &format!("{site}.key"), "--json"],
        );
        assert_eq!(done.code, 0, "{}", done.stderr);
        let key = json(&done)["key"].as_str().unwrap().to_owned();
        let lines = format!("address = \"127.0.0.1:{port}\"\nkey = \"{key}\"");
        study = study.site(&format!("{site}{IN_TOML}"), &lines);
    }
    write(folder, "study.toml", &study.to_string());
    write(
        folder,
        "zip.csv",
        &format!("\"101{NASTY}\";1**;*\n102;1**;*\n201;2**;*\n"),
    );
    let mut rows = format!("age{NASTY},zip,disease\n");
    for row in 0..12 {
        let (zip, disease) = [
            (format!("101{NASTY}"), "ulcer".to_owned()),
            ("201".into(), format!("flu{NASTY}")),
        ][row % 2]
            .clone();
        rows.push_str(&format!("{},{zip},{disease}\n", 20 + row));
    }
    write(folder, "t.csv", &rows);
    write(
        folder,
        "wrong.csv",
        &format!("age{NASTY},zip,disease\n20,101,flu{NASTY}\u{85}\n"),
    );
    write(
        folder,
        "other.csv",
        &format!("age{NASTY},zip,disease,more{NASTY}\n"),
    );
}

/// Nothing that a terminal obeys, but lines.
fn assert_plain(done: &Done, what: &str) {
    for text in [&done.stdout, &done.stderr] {
        let obeyed = |letter: char| {
            letter.is_control() && letter != '\n' || matches!(letter, '\u{202e}' | '\u{2066}')
        };
        assert!(!text.contains(obeyed), "{what}: {text:?}");
    }
}

#[test]
fn names_and_values_do_nothing_to_a_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    nasty(folder);
    let lines = [
        ("study check study.toml", 0),
        ("study check study.toml t.csv", 0),
        ("study show study.toml", 1),
        (
            "site new --study study.toml --key north.key --rows t.csv --force",
            0,
        ),
        ("site check site.toml", 1),
        ("study sign --site site.toml", 1),
        ("study sign --key north.key study.toml", 0),
        ("study show study.toml", 1),
        ("study check study.toml wrong.csv", 2),
        ("study check study.toml other.csv", 2),
        ("taxonomy zip.csv", 0),
        ("anonymize --study study.toml t.csv --out one --force", 0),
        (
            "simulate --study study.toml t.csv --sites 2 --out many --force",
            0,
        ),
        ("verify many --study study.toml", 1),
        ("verify many/release.csv --study study.toml", 0),
    ];
    let mut shown = 0;
    for (line, code) in lines {
        let mut arguments: Vec<&str> = line.split(' ').collect();
        let done = hedgerow(folder, &arguments);
        assert_eq!(done.code, code, "{line}: {} {}", done.stdout, done.stderr);
        assert_plain(&done, line);
        shown += usize::from((done.stdout.clone() + &done.stderr).contains(SHOWN));
        arguments.push("--json");
        let done = hedgerow(folder, &arguments);
        assert_plain(&done, line);
        if code < 2 {
            json(&done);
        }
    }
    assert!(shown >= 8, "names were looked at: {shown}");
    // In JSON a name is what it is.
    let seen = json(&hedgerow(
        folder,
        &["study", "show", "study.toml", "--json"],
    ));
    assert_eq!(seen["study"], format!("small{NASTY}"));
    // A name that looks like several lines is none.
    let study = std::fs::read_to_string(folder.join("study.toml")).unwrap();
    write(
        folder,
        "lines.toml",
        &study.replacen("name = \"small", "name = \"a\\nsigned", 1),
    );
    let done = hedgerow(folder, &["study", "check", "lines.toml"]);
    assert_eq!(
        done.stderr,
        "error: lines.toml:2: `study.name` has a line break\n"
    );
}

/// Names of columns, categories, cells and text that a spreadsheet would run.
fn formulas() -> StudyText {
    StudyText::new("formulas")
        .quasi("=age", integer(-9..=20))
        .quasi("zip", taxonomy("zip.csv"))
        .sensitive("disease", values(["=flu", "'=flu", "-5", "-ulcer"]))
        .other("remark", values(["@x", "+1", "x"]))
        .require("k = 2")
        .algorithm("recode = \"set\"")
}

#[test]
fn a_spreadsheet_runs_nothing_of_a_release() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write(folder, "zip.csv", "101;=1**;*\n102;=1**;*\n-201;2**;*\n");
    write(folder, "study.toml", &formulas().to_string());
    let mut rows = String::from("=age,zip,disease,remark\n");
    for row in 0..24 {
        let age = row % 8 - 5;
        let zip = ["101", "102", "-201"][row as usize % 3];
        let disease = ["=flu", "'=flu", "-5", "-ulcer"][row as usize % 4];
        let remark = ["@x", "x", "+1", "x"][row as usize / 2 % 4];
        rows.push_str(&format!("{age},{zip},{disease},{remark}\n"));
    }
    write(folder, "t.csv", &rows);
    for (setting, name) in [("", "guarded"), ("csv = \"verbatim\"\n", "verbatim")] {
        let study = formulas().head(setting);
        write(folder, "study.toml", &study.to_string());
        for command in ["anonymize", "simulate"] {
            let line = [command, "--study", "study.toml", "t.csv", "--out", command];
            let mut line = line.to_vec();
            line.push("--force");
            if command == "simulate" {
                line.extend(["--sites", "3"]);
            }
            let done = hedgerow(folder, &line);
            assert_eq!(done.code, 0, "{}", done.stderr);
            // Both forms say the same, though Parquet is verbatim.
            let done = hedgerow(
                folder,
                &["verify", command, "--study", "study.toml", "--json"],
            );
            assert_eq!(done.code, 0, "{} {}", done.stdout, done.stderr);
        }
        let csv = std::fs::read_to_string(folder.join("simulate/release.csv")).unwrap();
        let alone = std::fs::read_to_string(folder.join("anonymize/release.csv")).unwrap();
        assert_eq!(csv, alone);
        let runs =
            |field: &str| field.starts_with(['=', '+', '-', '@']) && field.parse::<f64>().is_err();
        let fields = || csv.lines().flat_map(|line| line.split(','));
        assert_eq!(fields().any(runs), name == "verbatim", "{csv}");
        // Numbers are numbers, and what had a mark has two.
        assert!(fields().any(|field| field == "-5"), "{csv}");
        assert_eq!(fields().any(|field| field == "''=flu"), name == "guarded");
        let manifest = std::fs::read(folder.join("simulate/manifest.json")).unwrap();
        let manifest: serde_json::Value = serde_json::from_slice(&manifest).unwrap();
        assert_eq!(manifest["unsigned"]["csv"], name);
        let done = hedgerow(
            folder,
            &["verify", "simulate/release.csv", "--study", "study.toml"],
        );
        assert_eq!(done.code, 0, "{} {}", done.stdout, done.stderr);
        // Verbatim values come back as they were: their counts agree with the table's.
        let count = |text: &str, word: &str| {
            text.lines()
                .skip(1)
                .filter(|line| line.split(',').any(|field| field == word))
                .count()
        };
        let written = if name == "guarded" {
            "'-ulcer"
        } else {
            "-ulcer"
        };
        assert_eq!(count(&csv, written), count(&rows, "-ulcer"));
    }
    write(
        folder,
        "study.toml",
        &formulas().head("csv = \"quoted\"").to_string(),
    );
    let done = hedgerow(folder, &["study", "check", "study.toml"]);
    assert_eq!(done.code, 2);
    assert!(
        done.stderr.contains(
            "study.toml:4: `study.csv` is `quoted`, expected one of `guarded`, `verbatim`"
        ),
        "{}",
        done.stderr
    );
}
