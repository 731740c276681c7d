//! `hedgerow compare`: choices side by side, and the lines to put into the study.

use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Stdio};

use super::sites::{ok, read};
use super::stopped::{ENDLESS, folder, interrupt, wait_until_heard};
use super::{assert_refused, hedgerow, json};

fn words(line: &str) -> Vec<&str> {
    line.split(' ').collect()
}

/// The study with other lines below `[algorithm]`.
fn put(folder: &Path, lines: &str) {
    let text = read(folder, "study.toml");
    let (before, _) = text.split_once("[algorithm]\n").unwrap();
    std::fs::write(folder.join("chosen.toml"), format!("{before}{lines}")).unwrap();
}

#[test]
fn the_lines_that_are_recommended_make_the_release_that_was_measured() {
    let folder = folder("effort = 1");
    let folder = folder.path();
    let line = "compare --study study.toml alone.csv --time 10m --plot choices.svg";
    let done = hedgerow(folder, &words(line));
    assert_eq!(done.code, 0, "{}", done.stderr);
    let said = &done.stdout;
    assert!(
        said.starts_with("alone.csv: 400 records, 10 choices compared under k = 10, in "),
        "{said}"
    );
    assert!(
        done.stderr.contains("plot: choices.svg\n"),
        "{}",
        done.stderr
    );
    let head: Vec<&str> = said.lines().nth(1).unwrap().split_whitespace().collect();
    assert_eq!(
        head.join(" "),
        "algorithm recode loss query error risk highest classes smallest median largest time"
    );
    for part in [
        "detail that is lost (NCP)\n",
        "█",
        "the study's own",
        "the rule: of all that satisfy",
        "least lost by each recoding: ",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let found = ok(folder, line);
    let place = found["recommended"]["row"].as_u64().unwrap() as usize;
    let choice = &found["choices"][place];
    let lines = found["recommended"]["lines"].as_str().unwrap();
    assert_eq!(choice["lines"], lines);
    assert!(said.contains(&format!("\n\n{lines}")), "{said}");
    put(folder, lines);
    let checked = hedgerow(folder, &words("study check chosen.toml alone.csv"));
    assert_eq!(checked.code, 0, "{}", checked.stderr);
    let summary = ok(
        folder,
        "anonymize --study chosen.toml alone.csv --out release",
    );
    assert_eq!(summary["utility"]["ncp"], choice["loss"]);
    // The verifier measures the same.
    let verdict = ok(
        folder,
        "verify release --study chosen.toml --original alone.csv --queries 1000",
    );
    assert_eq!(verdict["utility"]["query_error"], choice["query_error"]);
    assert_eq!(
        verdict["risk"]["prosecutor"]["max"],
        choice["risk"]["highest"]
    );
    assert_eq!(
        verdict["risk"]["prosecutor"]["mean"],
        choice["risk"]["average"]
    );
    let svg = read(folder, "choices.svg");
    assert!(
        svg.starts_with("<svg ") && svg.contains("xmlns=\"http://www.w3.org/2000/svg\""),
        "{svg}"
    );
    for name in [
        "clustering, range",
        "mondrian, node, covers box",
        "detail lost (NCP)",
    ] {
        assert!(svg.contains(name), "{name}");
    }
}

#[test]
fn a_table_is_compared_without_a_study() {
    let folder = folder("effort = 1");
    let folder = folder.path();
    let line = "compare alone.csv --k 8 --quasi age,zip --sensitive disease --time 10m --draft drafted --json";
    let done = hedgerow(folder, &words(line));
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(
        done.stderr
            .contains("no study was given, so drafted/study.toml was drafted:\n"),
        "{}",
        done.stderr
    );
    let found = json(&done);
    assert_eq!(found["requirement"][0], "k = 8");
    let own = found["choices"]
        .as_array()
        .unwrap()
        .iter()
        .find(|row| row["own"] == true);
    assert_eq!(own.unwrap()["algorithm"], "clustering");
    // The draft is there to take the lines.
    let again = "anonymize --study drafted/study.toml alone.csv --out release";
    let summary = ok(folder, again);
    assert_eq!(summary["utility"]["ncp"], own.unwrap()["loss"]);
    assert!(summary["instead"]["ncp"].as_f64().unwrap() > 0.0);
    let done = hedgerow(folder, &words(line));
    assert_refused(
        &done,
        "drafted/study.toml: is there already and is kept\nhint: use it with --study, or name another folder",
    );
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let folder = folder("effort = 1");
    let folder = folder.path();
    let refused = |line: &str, message: &str| {
        let done = hedgerow(folder, &words(line));
        assert!(
            done.stderr.starts_with(&format!("error: {message}")),
            "{line}: {}",
            done.stderr
        );
        assert_eq!((done.code, done.stdout.as_str()), (2, ""), "{line}");
    };
    refused(
        "compare --study study.toml none.csv",
        "none.csv: cannot be read",
    );
    refused(
        "compare alone.csv",
        "nothing says what the columns mean\nhint: give --study, or --quasi",
    );
    refused(
        "compare alone.csv --quasi agee",
        "alone.csv:1: there is no column `agee`\nhint: did you mean `age`?",
    );
    refused(
        "compare --study study.toml pooled.csv --provider-column town",
        "pooled.csv:1: there is no column `town`",
    );
    refused(
        "compare --study study.toml pooled.csv",
        "pooled.csv:1: unknown column `site`",
    );
    refused(
        "compare --study study.toml alone.csv --plot none/choices.svg",
        "none/choices.svg: cannot be written",
    );
    let vertical = read(folder, "study.toml").replace("\"horizontal\"", "\"vertical\"");
    let (head, rest) = vertical.split_once("[[attribute]]").unwrap();
    let person = "[[attribute]]\nname = \"person\"\nrole = \"identifier\"\n[[attribute]]";
    let text = format!("{head}{person}{rest}").replace("effort = 1\n", "");
    std::fs::write(folder.join("vertical.toml"), text).unwrap();
    refused(
        "compare --study vertical.toml alone.csv",
        "vertical.toml: what sites lose that hold the same people",
    );
    let done = hedgerow(
        folder,
        &words("compare --study study.toml alone.csv --time 0s"),
    );
    assert_eq!(done.code, 2);
    assert!(
        done.stderr.contains("expected a time above nothing"),
        "{}",
        done.stderr
    );
    assert!(!folder.join("study").exists() && !folder.join("choices.svg").exists());
    // Nothing ran in so short a time, so nothing is recommended.
    let done = hedgerow(
        folder,
        &words("compare --study study.toml alone.csv --time 1ms"),
    );
    assert_eq!(done.code, 1, "{}", done.stderr);
    assert!(
        done.stdout.contains("not run: the time was over before\n"),
        "{}",
        done.stdout
    );
}

#[test]
fn ctrl_c_ends_a_comparison_with_what_there_is() {
    let folder = folder(ENDLESS);
    let folder = folder.path();
    let mut child = Command::new(env!("CARGO_BIN_EXE_hedgerow"))
        .args(words(
            "compare --study study.toml alone.csv --time 10m --json",
        ))
        .current_dir(folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    wait_until_heard(&mut child);
    interrupt(&child);
    let (mut stdout, mut stderr) = (String::new(), String::new());
    child
        .stderr
        .as_mut()
        .unwrap()
        .read_to_string(&mut stderr)
        .unwrap();
    child
        .stdout
        .as_mut()
        .unwrap()
        .read_to_string(&mut stdout)
        .unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0), "{stderr}");
    assert!(
        stderr.contains("note: the comparison ends with the choice at hand"),
        "{stderr}"
    );
    let found: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    let rows = found["choices"].as_array().unwrap();
    assert!(
        rows.iter().any(|row| row["outcome"] == "measured"),
        "{stdout}"
    );
    assert!(
        rows.iter()
            .any(|row| row["reason"] == "somebody ended the comparison before"),
        "{stdout}"
    );
}

/// A plot or a report takes the place of an earlier one, and of nothing else.
#[test]
fn a_picture_does_not_take_the_place_of_a_table() {
    let folder = folder("effort = 1");
    let folder = folder.path();
    let before = read(folder, "alone.csv");
    for kept in ["alone.csv", "study.toml"] {
        let done = hedgerow(
            folder,
            &words(&format!(
                "compare --study study.toml alone.csv --plot {kept}"
            )),
        );
        assert_refused(
            &done,
            &format!(
                "{kept}: is there already and is something else, so it is kept\nhint: choose another name"
            ),
        );
    }
    assert_eq!(read(folder, "alone.csv"), before);
    for _ in 0..2 {
        let line = "compare --study study.toml alone.csv --time 1s --plot choices.svg";
        ok(folder, line);
    }
    ok(
        folder,
        "anonymize --study study.toml alone.csv --out release",
    );
    let report = |out: &str| {
        hedgerow(
            folder,
            &words(&format!("report release --study study.toml --out {out}")),
        )
    };
    assert_eq!(report("page.html").code, 0);
    assert_eq!(report("page.html").code, 0);
    assert_eq!(report("alone.csv").code, 2);
    assert_eq!(read(folder, "alone.csv"), before);
}
