//! Programs that count, and programs that do not: shell scripts in the place of the real one, which
//! `crates/sql` tests.

#![allow(clippy::unwrap_used)]

use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;
use std::time::Instant;

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use arrow_ipc::writer::StreamWriter;
use hedgerow_data::Study;
use tempfile::TempDir;

use super::*;

const STUDY: &str = "[study]
name = \"ward\"
partition = \"horizontal\"

[[attribute]]
name = \"age\"
role = \"quasi\"
type = \"integer\"
range = [0, 99]

[[attribute]]
name = \"flu\"
role = \"sensitive\"
values = [\"yes\", \"no\"]
";

/// A folder with a program in the place of the real one.
struct Place {
    folder: TempDir,
    schema: Arc<Schema>,
}

impl Place {
    /// A program that does what a script says; `$STREAM` is a file with a whole stream of these counts.
    fn new(counts: &[(i64, &str, i64)], script: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let study = folder.path().join("study.toml");
        std::fs::write(&study, STUDY).unwrap();
        let schema = Study::open(&study).unwrap().schema;
        let column = |values: Vec<i64>| Arc::new(Int64Array::from(values)) as ArrayRef;
        let texts: Vec<&str> = counts.iter().map(|(_, flu, _)| *flu).collect();
        let batch = RecordBatch::try_from_iter([
            ("age", column(counts.iter().map(|(age, ..)| *age).collect())),
            ("flu", Arc::new(StringArray::from(texts)) as ArrayRef),
            (
                "records",
                column(counts.iter().map(|(.., records)| *records).collect()),
            ),
        ])
        .unwrap();
        let stream = folder.path().join("stream");
        let file = std::fs::File::create(&stream).unwrap();
        let mut writer = StreamWriter::try_new(file, &batch.schema()).unwrap();
        writer.write(&batch).unwrap();
        writer.finish().unwrap();
        let program = folder.path().join("program");
        let text = format!("#!/bin/sh\nSTREAM='{}'\n{script}\n", stream.display());
        std::fs::write(&program, text).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o700)).unwrap();
        Self { folder, schema }
    }

    fn table(&self) -> Result<Table, String> {
        let counted = Counted {
            engine: Engine::local(),
            paths: vec![PathBuf::from("ward")],
        };
        let program = self.folder.path().join("program");
        let running = Running::default();
        let table = counted.counted(&program, &self.schema, &(), &running);
        table.map_err(|error| error.to_string())
    }

    fn said(&self) -> String {
        self.table().unwrap_err()
    }
}

const COUNTS: [(i64, &str, i64); 2] = [(30, "no", 4), (31, "yes", 3)];
const DONE: &str = r#"echo '{"combinations":2,"records":7}' >&2"#;

#[test]
fn counts_that_come_whole_are_a_table() {
    let script = format!("echo '{{\"read\":3,\"of\":7}}' >&2\ncat \"$STREAM\"\n{DONE}");
    let table = Place::new(&COUNTS, &script).table().unwrap();
    assert_eq!((table.rows(), table.records()), (2, 7));
    assert_eq!(table.counts(), Some(&[4, 3][..]));
}

#[test]
fn what_the_program_says_is_said() {
    let place = Place::new(
        &COUNTS,
        r#"printf '%s\n' '{"error":"the disk is full\nhint: make room"}' >&2; exit 2"#,
    );
    assert_eq!(place.said(), "the disk is full\nhint: make room");
    // Also where it fails midway.
    let place = Place::new(
        &COUNTS,
        r#"head -c 500 "$STREAM"; echo '{"error":"an executor died"}' >&2; exit 2"#,
    );
    assert_eq!(place.said(), "an executor died");
}

#[test]
fn a_program_that_dies_is_not_believed() {
    let place = Place::new(
        &COUNTS,
        "cat \"$STREAM\"; echo 'out of memory' >&2; kill -9 $$",
    );
    assert_eq!(
        place.said(),
        "ward: the program that counts ended early (signal: 9 (SIGKILL)); nothing was used; it said:\nout of memory\n\nhint: count again; where the system killed it for memory, give it less"
    );
    let place = Place::new(&COUNTS, "exit 3");
    assert!(
        place.said().contains("ended early (exit status: 3)"),
        "{}",
        place.said()
    );
}

#[test]
fn a_stream_that_ends_early_is_not_used() {
    // Whole to its last message, but not all that was sent.
    let place = Place::new(
        &COUNTS,
        r#"cat "$STREAM"; echo '{"combinations":3,"records":9}' >&2"#,
    );
    assert_eq!(
        place.said(),
        "ward: the counts did not come whole: 9 records in 3 combinations were sent, 7 in 2 came; nothing was used\nhint: count again"
    );
    // Nobody says that it is whole.
    let place = Place::new(&COUNTS, "cat \"$STREAM\"");
    assert!(
        place.said().contains("ended early (exit status: 0)"),
        "{}",
        place.said()
    );
    // Cut within a message.
    let place = Place::new(&COUNTS, &format!("head -c 500 \"$STREAM\"; {DONE}"));
    assert!(
        place.said().contains("did not come whole"),
        "{}",
        place.said()
    );
}

#[test]
fn garbage_is_told_and_the_program_ended() {
    let began = Instant::now();
    let place = Place::new(&COUNTS, "echo 'this is no stream'; cat >/dev/null");
    let said = place.said();
    assert_eq!(
        said,
        "ward: the counts did not come whole: it does not begin as a stream of Arrow does; nothing was used\nhint: count again"
    );
    // The script ends when its input does, long before it would be killed.
    assert!(began.elapsed() < GRACE + FAREWELL, "{:?}", began.elapsed());
}

#[test]
fn values_that_the_study_does_not_know_are_told_with_an_example() {
    let place = Place::new(&[(30, "perhaps", 4)], "cat \"$STREAM\"; cat >/dev/null");
    let said = place.said();
    assert!(
        said.starts_with("ward:1: column `flu`: value `perhaps` is outside"),
        "{said}"
    );
}

#[tokio::test]
async fn a_program_ends_when_nobody_waits() {
    let place = Place::new(&COUNTS, "cat >/dev/null; echo over >\"$STREAM.over\"");
    let running = Arc::new(Running::default());
    let (program, schema) = (place.folder.path().join("program"), place.schema.clone());
    let counted = Counted {
        engine: Engine::local(),
        paths: vec![PathBuf::from("ward")],
    };
    let ends = Ends(&running);
    let work = {
        let running = Arc::clone(&running);
        tokio::task::spawn_blocking(move || counted.counted(&program, &schema, &(), &running))
    };
    while running.state().child.is_none() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    drop(ends);
    assert!(work.await.unwrap().is_err());
    assert!(place.folder.path().join("stream.over").exists());
}

#[test]
fn sizes() {
    for (text, meant) in [
        ("2GB", 2_000_000_000),
        ("500MB", 500_000_000),
        ("1 TB", 1_000_000_000_000),
    ] {
        assert_eq!(bytes(text), Some(meant));
    }
    for text in [
        "",
        "2",
        "GB",
        "-1GB",
        "2.5GB",
        "0MB",
        "99999999999TB",
        "2gb",
    ] {
        assert_eq!(bytes(text), None, "{text}");
    }
}
