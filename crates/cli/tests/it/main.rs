//! The `hedgerow` command as a person types it: what it prints, and its exit code.

// Tests fail by panicking, and say why they were skipped.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr)]

mod attacked;
mod clustering;
mod compare;
mod counted;
mod cut_together;
mod daemon;
mod demo;
mod deployed;
mod described;
mod documents;
mod draft;
mod experiment;
mod five_minutes;
mod forged;
mod gate;
mod generate;
mod joint;
mod manners;
mod node;
mod phantoms;
mod printed;
mod report;
mod shared;
mod site_file;
mod sites;
mod stopped;
mod study;
mod taxonomy;
mod telling;
mod terminal;
mod verify;
mod walk;

use std::path::Path;
use std::process::Command;

use hedgerow_testing::{StudyText, ZIP_CODES};

/// What a command did.
struct Done {
    stdout: String,
    stderr: String,
    code: i32,
}

/// Runs the command in a folder; messages then hold no path but the file's name.
fn hedgerow(folder: &Path, arguments: &[&str]) -> Done {
    let output = Command::new(env!("CARGO_BIN_EXE_hedgerow"))
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap();
    Done {
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
        code: output.status.code().unwrap(),
    }
}

/// Refused: exit code 2, nothing on stdout, this on stderr.
fn assert_refused(done: &Done, message: &str) {
    assert_eq!(done.stderr, format!("error: {message}\n"));
    assert_eq!((done.code, done.stdout.as_str()), (2, ""));
}

fn json(done: &Done) -> serde_json::Value {
    serde_json::from_str(&done.stdout).unwrap_or_else(|error| panic!("{error}: {}", done.stderr))
}

/// The study of [`RELEASE`].
fn study() -> StudyText {
    StudyText::small().require("k = 2")
}

const RELEASE: &str = "age,zip,disease
[20-39],1**,flu
[20-39],1**,ulcer
40,*,flu
40,*,asthma
40,*,flu
";

/// A folder with a study, its taxonomy and a release that satisfies it.
fn small() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("study.toml", &study().to_string());
    write("zip.csv", ZIP_CODES);
    write("release.csv", RELEASE);
    folder
}

#[test]
fn help_names_every_command_and_the_exit_codes() {
    let folder = tempfile::tempdir().unwrap();
    let done = hedgerow(folder.path(), &["--help"]);
    assert_eq!(done.code, 0);
    for word in [
        "demo",
        "anonymize",
        "compare",
        "simulate",
        "verify",
        "report",
        "gate",
        "generate",
        "taxonomy",
        "study",
        "keygen",
        "run",
        "node",
        "status",
        "completions",
        "man",
        "--json",
        "--quiet",
        "Exit codes: 0",
    ] {
        assert!(done.stdout.contains(word), "{word}");
    }
    for command in [
        "verify", "report", "generate", "taxonomy", "study", "compare",
    ] {
        let done = hedgerow(folder.path(), &[command, "--help"]);
        assert_eq!(done.code, 0, "{command}");
        assert!(done.stdout.contains("Usage: hedgerow"), "{command}");
    }
    assert_eq!(hedgerow(folder.path(), &["verfy"]).code, 2);
}
