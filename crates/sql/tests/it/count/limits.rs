//! Counts in little memory, and on a disk that is full.

use std::collections::HashMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use arrow::array::cast::AsArray as _;
use arrow::array::types::Int64Type;
use arrow::array::{ArrayRef, StringArray};
use arrow::compute::cast;
use arrow::datatypes::DataType;
use arrow::ipc::reader::StreamReader;
use hedgerow_sql::count::{Request, count};
use tempfile::TempDir;

use super::{Nobody, local, write_parquet};

/// The memory of the counts here.
const MEMORY: u64 = 8 << 20;
/// Bytes of a value.
const WIDTH: usize = 400;

/// Files of texts, ten times as large as the memory; every seventh text stands twice.
fn large() -> (TempDir, HashMap<u64, u64>) {
    let folder = tempfile::tempdir().unwrap();
    let rows = 10 * MEMORY as usize / WIDTH;
    let mut expected = HashMap::new();
    let mut texts = Vec::new();
    for row in 0..rows as u64 {
        let number = if row % 7 == 6 { row - 6 } else { row };
        *expected.entry(number).or_default() += 1;
        texts.push(text(number));
    }
    for (file, texts) in texts.chunks(rows.div_ceil(8)).enumerate() {
        let column: ArrayRef = Arc::new(StringArray::from(texts.to_vec()));
        write_parquet(
            &folder.path().join(format!("{file}.parquet")),
            vec![("text", column)],
        );
    }
    (folder, expected)
}

/// A text that begins with its number.
fn text(number: u64) -> String {
    let mut text = format!("{number:016}");
    let mut state = number;
    while text.len() < WIDTH {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        text.push_str(&format!("{state:016x}"));
    }
    text
}

fn files(folder: &Path) -> usize {
    std::fs::read_dir(folder).unwrap().count()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_table_ten_times_larger_than_memory_is_counted() {
    let (folder, expected) = large();
    let spill = tempfile::tempdir().unwrap();
    let request = Request {
        engine: local(MEMORY, spill.path()),
        columns: vec![String::from("text")],
        paths: vec![folder.path().to_owned()],
    };
    let mut stream = Vec::new();
    let said = count(&request, &mut stream, Arc::new(Nobody))
        .await
        .unwrap();
    assert_eq!(said.combinations, expected.len() as u64);
    let mut found = HashMap::new();
    for batch in StreamReader::try_new(stream.as_slice(), None).unwrap() {
        let batch = batch.unwrap();
        let texts = cast(batch.column(0), &DataType::Utf8).unwrap();
        let counts = batch.column(1).as_primitive::<Int64Type>();
        for row in 0..batch.num_rows() {
            let value = texts.as_string::<i32>().value(row);
            let number: u64 = value[..16].parse().unwrap();
            assert_eq!(value, text(number));
            let before = found.insert(number, counts.value(row) as u64);
            assert_eq!(before, None);
        }
    }
    assert_eq!(found, expected);
}

/// A disk that takes no file of more than a few blocks: what a full disk says, for a user who may fill none.
#[test]
fn a_full_disk_is_told_and_nothing_is_left_there() {
    let (folder, _) = large();
    let spill = tempfile::tempdir().unwrap();
    let script = format!(
        "trap '' XFSZ; ulimit -f 64; exec '{}' count --memory={MEMORY} --spill='{}' --column=text '{}'",
        env!("CARGO_BIN_EXE_hedgerow-sql"),
        spill.path().display(),
        folder.path().display()
    );
    let output = Command::new("sh")
        .args(["-c", &script])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    let last: serde_json::Value = serde_json::from_str(said.lines().last().unwrap()).unwrap();
    let error = last["error"].as_str().unwrap();
    let place = spill.path().display().to_string();
    assert!(
        error.starts_with(&format!("{place}/hedgerow-spill-")),
        "{error}"
    );
    assert!(
        error.contains(": what does not fit into memory cannot be written there: "),
        "{error}"
    );
    assert!(
        error.ends_with(
            "\nhint: make room, name another folder, or give more memory; nothing was left there"
        ),
        "{error}"
    );
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(files(spill.path()), 0);
}
