//! The program that nodes start: what it says on its standard error, and that it takes what it left on disk with it.

use std::io::Read as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use arrow::ipc::reader::StreamReader;

use super::folder_with;

fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hedgerow-sql"));
    command
        .arg("count")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

#[test]
fn counts_go_to_standard_output_and_words_to_standard_error() {
    let (folder, path) = folder_with("a.csv", "age,ill\n007,no\n7,no\n7,no\n");
    let output = program()
        .args(["--column=age", "--column=ill"])
        .arg(&path)
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(
        said.lines().last(),
        Some(r#"{"combinations":2,"records":3}"#)
    );
    assert!(output.status.success());
    let batches = StreamReader::try_new(output.stdout.as_slice(), None).unwrap();
    let names: Vec<String> = batches
        .schema()
        .fields()
        .iter()
        .map(|field| field.name().clone())
        .collect();
    assert_eq!(names, ["age", "ill", "records"]);
    let rows: usize = batches.map(|batch| batch.unwrap().num_rows()).sum();
    assert_eq!(rows, 2);
    drop(folder);
}

#[test]
fn errors_come_through_with_their_hint() {
    let output = program()
        .args(["--column=age", "nowhere.csv"])
        .output()
        .unwrap();
    assert_eq!(
        String::from_utf8(output.stderr).unwrap(),
        "{\"error\":\"nowhere.csv: cannot be read: No such file or directory (os error 2)\\nhint: see that it is there and whole, and that this user may read it\"}\n"
    );
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty());
}

/// Ends within a few seconds, and leaves nothing.
fn ends(mut child: Child, spill: &std::path::Path, why: &str) {
    let began = Instant::now();
    while child.try_wait().unwrap().is_none() {
        assert!(began.elapsed() < Duration::from_secs(20), "it goes on");
        std::thread::sleep(Duration::from_millis(10));
    }
    let mut said = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut said)
        .unwrap();
    assert!(said.contains(why), "{said}");
    assert_eq!(std::fs::read_dir(spill).unwrap().count(), 0);
}

/// A count that waits: its output is larger than a pipe holds, and nobody reads it.
fn waiting(spill: &std::path::Path, folder: &std::path::Path) -> Child {
    let mut text = String::from("a,b\n");
    for row in 0..200_000 {
        text.push_str(&format!("{row},x\n"));
    }
    std::fs::write(folder.join("a.csv"), text).unwrap();
    let child = program()
        .args(["--attended", "--column=a", "--column=b", "--spill"])
        .arg(spill)
        .arg(folder)
        .spawn()
        .unwrap();
    let began = Instant::now();
    while std::fs::read_dir(spill).unwrap().count() == 0 {
        assert!(
            began.elapsed() < Duration::from_secs(20),
            "it does not begin"
        );
        std::thread::sleep(Duration::from_millis(10));
    }
    child
}

#[test]
fn a_count_ends_when_nobody_waits() {
    let (spill, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut child = waiting(spill.path(), folder.path());
    drop(child.stdin.take());
    ends(child, spill.path(), "nobody waits for the counts any more");
}

#[test]
fn a_count_that_is_stopped_leaves_nothing() {
    let (spill, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let child = waiting(spill.path(), folder.path());
    // The signal is heard from the first moment on.
    std::thread::sleep(Duration::from_millis(300));
    let stopped = Command::new("kill").arg(child.id().to_string()).status();
    assert!(stopped.unwrap().success());
    ends(child, spill.path(), "stopped");
}
