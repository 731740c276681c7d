//! Objects of stores are counted as the files are that they hold, and a store that does not let them be read is a
//! clear word.

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, StringArray};
use arrow::ipc::reader::StreamReader;
use hedgerow_data::Schema;
use hedgerow_data::files::{Others, read_counted_batches, read_table};
use serde_json::Value;

use super::bucket::Bucket;
use super::cluster::Cluster;
use super::{schema, write_parquet};

const STUDY: &str = "[study]
name = \"ward\"
partition = \"horizontal\"

[[attribute]]
name = \"age\"
role = \"quasi\"
type = \"integer\"
range = [0, 99]

[[attribute]]
name = \"ill\"
role = \"sensitive\"
values = [\"yes\", \"no\"]
";

/// A folder of Parquet files of records that no two files share, and what it holds.
fn parquet(files: i64) -> (tempfile::TempDir, Vec<(String, Vec<u8>)>) {
    let folder = tempfile::tempdir().unwrap();
    for file in 0..files {
        let ages: Vec<i64> = (0..500).map(|row| (row * (file + 3)) % 100).collect();
        let ill: Vec<&str> = (0..500)
            .map(|row| ["yes", "no"][(row as usize / 7) % 2])
            .collect();
        // Columns that nobody asks for stay where they are.
        let notes: Vec<String> = (0..500)
            .map(|row| format!("note {file} {row}: {}", "x".repeat(3000)))
            .collect();
        let columns: Vec<(&str, ArrayRef)> = vec![
            ("notes", Arc::new(StringArray::from(notes))),
            ("age", Arc::new(Int64Array::from(ages))),
            ("ill", Arc::new(StringArray::from(ill))),
        ];
        write_parquet(
            &folder.path().join(format!("part {file}%.parquet")),
            columns,
        );
    }
    let objects = contents(folder.path());
    (folder, objects)
}

fn contents(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        (name, std::fs::read(entry.path()).unwrap())
    });
    entries.collect()
}

/// A bucket that holds the files below `ward/2026`, and some that are no part of the table.
fn bucket(files: &[(String, Vec<u8>)], authorization: Option<&str>) -> Bucket {
    let named = files
        .iter()
        .map(|(name, bytes)| (format!("ward/2026/{name}"), bytes.clone()));
    let mut objects: Vec<(String, Vec<u8>)> = named.collect();
    objects.push((String::from("ward/2026/_SUCCESS"), Vec::new()));
    objects.push((String::from("ward/2026/_log/0.json"), b"{}".to_vec()));
    objects.push((String::from("ward/2026/"), Vec::new()));
    objects.push((String::from("ward/20261/x.parquet"), b"another".to_vec()));
    let objects: Vec<(&str, Vec<u8>)> = objects
        .iter()
        .map(|(name, bytes)| (name.as_str(), bytes.clone()))
        .collect();
    Bucket::open(&objects, authorization)
}

fn count(arguments: &[&str], variables: &[(&str, String)]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_hedgerow-sql"))
        .args(["count", "--column=age", "--column=ill"])
        .args(arguments)
        .env_clear()
        .envs(variables.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn said(output: &Output) -> String {
    let text = String::from_utf8(output.stderr.clone()).unwrap();
    let last = text.lines().last().unwrap_or_default();
    let value: Value = serde_json::from_str(last).unwrap_or_else(|_| panic!("{text}"));
    match value["error"].as_str() {
        Some(error) => error.to_owned(),
        None => value.to_string(),
    }
}

/// Sees that what was counted is what the files hold.
fn see_counted(output: &Output, folder: &Path, schema: &Arc<Schema>) {
    assert!(output.status.success(), "{}", said(output));
    let batches = StreamReader::try_new(output.stdout.as_slice(), None).unwrap();
    let table = read_counted_batches("the store", batches, schema, &()).unwrap();
    // Columns that the study does not know are not asked for.
    let expected = read_table(folder, schema, &Others::PassOverAll, &()).unwrap();
    let expected = expected.into_counted().unwrap();
    assert_eq!(table.records(), expected.records());
    assert_eq!(combinations(&table), combinations(&expected));
}

fn combinations(table: &hedgerow_data::Table) -> Vec<(u32, u32, u64)> {
    let (ages, ill) = (table.codes(0).unwrap(), table.codes(1).unwrap());
    let counts = table.counts().unwrap();
    let rows = (0..table.rows()).map(|row| (ages.get(row), ill.get(row), counts[row]));
    let mut rows: Vec<_> = rows.collect();
    rows.sort_unstable();
    rows
}

#[test]
fn objects_are_counted_as_files_in_each_store() {
    let (folder, files) = parquet(5);
    let schema = schema(STUDY);
    let all: u64 = files.iter().map(|(_, bytes)| bytes.len() as u64).sum();
    let s3 = bucket(&files, Some("AWS4-HMAC-SHA256 Credential=clinic-key/"));
    let azure = bucket(&files, Some("SharedKey county:"));
    let google = bucket(&files, None);
    for (bucket, variables, address) in [
        (&s3, s3.as_s3(), "s3://clinic/ward/2026"),
        (&s3, s3.as_s3(), "s3://clinic/ward/2026/"),
        (&azure, azure.as_azure(), "az://clinic/ward/2026"),
        (&google, google.as_google(), "gs://clinic/ward/2026"),
    ] {
        let before = bucket.sent();
        see_counted(&count(&[address], &variables), folder.path(), &schema);
        // Of each object its head and the columns that are asked for.
        assert!(bucket.sent() - before < all, "{address}");
        let looked = count(&["--look", address], &variables);
        assert!(looked.status.success() && looked.stdout.is_empty());
    }
    // Objects named one by one are the same table.
    let names: Vec<String> = (0..5)
        .map(|file| format!("s3://clinic/ward/2026/part%20{file}%25.parquet"))
        .collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    see_counted(&count(&names, &s3.as_s3()), folder.path(), &schema);
}

#[test]
fn csv_is_counted_however_it_is_compressed() {
    let schema = schema(STUDY);
    let mut text = String::from("age;ill\n");
    for row in 0..40_000 {
        text.push_str(&format!(
            "{};{}\n",
            row * 31 % 100,
            ["yes", "no"][row / 3 % 2]
        ));
    }
    for name in ["rows.csv", "rows.csv.gz", "rows.csv.zst"] {
        let folder = tempfile::tempdir().unwrap();
        let mut file = hedgerow_data::files::OutputFile::create(&folder.path().join(name)).unwrap();
        std::io::Write::write_all(&mut file, text.as_bytes()).unwrap();
        file.finish().unwrap();
        let bucket = bucket(&contents(folder.path()), None);
        let output = count(&["s3://clinic/ward/2026"], &bucket.as_s3());
        see_counted(&output, folder.path(), &schema);
    }
}

#[test]
fn a_store_that_does_not_let_objects_be_read_is_named() {
    let (_folder, files) = parquet(1);
    let bucket = bucket(&files, Some("AWS4-HMAC-SHA256 Credential=another/"));
    let error = said(&count(&["s3://clinic/ward/2026"], &bucket.as_s3()));
    assert!(
        error.starts_with("s3://clinic/ward/2026: the object store does not let this be read: "),
        "{error}"
    );
    assert!(error.contains("AWS_"), "{error}");
    assert!(!error.contains("clinic-secret"), "{error}");

    // Nobody is there.
    let mut away = bucket.as_s3();
    away[3].1 = String::from("http://127.0.0.1:9");
    let error = said(&count(&["s3://clinic/ward/2026"], &away));
    assert!(
        error.starts_with("s3://clinic/ward/2026: the object store does not let this be read: "),
        "{error}"
    );

    // Nothing is sent in clear text unless the environment allows it.
    let mut clear = bucket.as_s3();
    clear.pop();
    let output = count(&["s3://clinic/ward/2026"], &clear);
    assert!(!output.status.success());
    assert_eq!(bucket.sent(), 0);
}

#[test]
fn tables_that_are_none_are_refused() {
    let (folder, mut files) = parquet(2);
    let good = bucket(&files, None);
    let s3 = good.as_s3();
    let error = |paths: &[&str]| said(&count(paths, &s3));
    assert_eq!(
        error(&["s3://clinic/nowhere"]),
        "s3://clinic/nowhere: the folder holds no table\nhint: expected files that end in .parquet, .csv, .csv.gz or .csv.zst; names that begin with `_` or `.` are passed over"
    );
    assert_eq!(
        error(&["s3://clinic/ward"]),
        "s3://clinic/ward: holds the folder `2026`, and folders in folders are not read\nhint: name the folder whose files are the table; a column that folders are named by, as in `year=2024`, must stand in the files"
    );
    let local = folder.path().display().to_string();
    for other in [local.as_str(), "s3://other/ward", "gs://clinic/ward"] {
        assert_eq!(
            error(&["s3://clinic/ward/2026", other]),
            format!(
                "s3://clinic/ward/2026 and {other} lie in different places\nhint: the files of one table lie in one bucket, or all in the file system"
            )
        );
    }
    assert_eq!(
        error(&["s3://key:hidden@clinic/ward"]),
        "s3://: is no address of an object: an address has no password, `?` or `#`\nhint: expected s3://bucket/path, gs://bucket/path, az://container/path or abfss://container@account.dfs.core.windows.net/path"
    );
    // A second file that lacks a column.
    let path = folder.path().join("part 1%.parquet");
    write_parquet(&path, vec![("age", Arc::new(Int64Array::from(vec![1])))]);
    files = contents(folder.path());
    let bad = bucket(&files, None);
    let address = "s3://clinic/ward/2026";
    for arguments in [&[address][..], &["--look", address]] {
        let output = count(arguments, &bad.as_s3());
        assert_eq!(
            said(&output),
            "s3://clinic/ward/2026/part 1%25.parquet: has other columns than s3://clinic/ward/2026/part 0%25.parquet: it lacks `notes`, `ill`\nhint: all files of one table have the same columns, in one order and of the same types; write them anew by one query, or name the files that belong together"
        );
        assert_eq!(output.status.code(), Some(2));
    }
}

#[test]
fn stock_executors_read_s3_with_their_own_credentials() {
    let (folder, files) = parquet(4);
    let bucket = bucket(&files, Some("AWS4-HMAC-SHA256 Credential=clinic-key/"));
    let cluster = Cluster::start_with(2, &bucket.as_s3());
    let engine = format!("--engine={}", cluster.address());
    let output = count(&[&engine, "s3://clinic/ward/2026"], &bucket.as_s3());
    see_counted(&output, folder.path(), &schema(STUDY));
    let google = count(&[&engine, "gs://clinic/ward/2026"], &bucket.as_google());
    assert_eq!(
        said(&google),
        "gs://clinic: the executors of a stock Ballista cluster read files and s3://\nhint: count by --engine local, or copy the objects"
    );
}
