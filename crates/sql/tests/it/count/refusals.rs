//! What cannot be counted, told before anything is.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, StringArray, TimestampSecondArray};
use hedgerow_sql::count::{Engine, Request, count};

use super::{Nobody, folder_with, local, write_parquet};

/// Why columns of paths are not counted, without the folder's name.
async fn refused(engine: Engine, columns: &[&str], folder: &std::path::Path) -> String {
    let request = Request {
        engine,
        columns: columns.iter().map(|column| (*column).to_owned()).collect(),
        paths: vec![folder.to_owned()],
    };
    let mut stream = Vec::new();
    let error = count(&request, &mut stream, Arc::new(Nobody))
        .await
        .unwrap_err();
    let name = folder.display().to_string();
    error
        .to_string()
        .replace(&format!("{name}/"), "")
        .replace(&name, "FOLDER")
}

fn here(folder: &std::path::Path) -> Engine {
    local(super::ENOUGH, folder)
}

#[tokio::test]
async fn a_scheduler_that_is_away() {
    let (folder, path) = folder_with("a.csv", "a,b\n1,2\n");
    let away = Engine::Scheduler {
        address: String::from("df://127.0.0.1:9"),
        anywhere: false,
    };
    assert_eq!(
        refused(away, &["a"], &path).await,
        "df://127.0.0.1:9: the scheduler does not answer: Connection refused (os error 111)\nhint: see that ballista-scheduler runs there, and that host and port are its own"
    );
    drop(folder);
}

#[tokio::test]
async fn files_that_are_no_table() {
    let ints: ArrayRef = Arc::new(Int64Array::from(vec![1]));
    let texts: ArrayRef = Arc::new(StringArray::from(vec!["x"]));
    let whole = || vec![("a", Arc::clone(&ints)), ("b", Arc::clone(&texts))];
    let one = "hint: all files of one table have the same columns, in one order and of the same types; write them anew by one query, or name the files that belong together";
    for (columns, difference) in [
        (vec![("a", ints.clone())], "it lacks `b`"),
        (
            vec![("a", texts.clone()), ("b", texts.clone())],
            "`a` has type Utf8, and Int64 there",
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        write_parquet(&folder.path().join("1.parquet"), whole());
        write_parquet(&folder.path().join("2.parquet"), columns);
        assert_eq!(
            refused(here(folder.path()), &["a", "b"], folder.path()).await,
            format!("2.parquet: has other columns than 1.parquet: {difference}\n{one}")
        );
    }
    let folder = tempfile::tempdir().unwrap();
    write_parquet(&folder.path().join("1.parquet"), whole());
    assert_eq!(
        refused(here(folder.path()), &["a", "c"], folder.path()).await,
        "1.parquet:1: column `c` of the study is missing\nhint: the file has `a`, `b`"
    );
    let moment = TimestampSecondArray::from(vec![1]).with_timezone("Europe/Vienna");
    write_parquet(
        &folder.path().join("1.parquet"),
        vec![("a", Arc::new(moment))],
    );
    let said = refused(here(folder.path()), &["a"], folder.path()).await;
    assert!(
        said.starts_with("1.parquet: column `a` has type Timestamp("),
        "{said}"
    );
}

#[tokio::test]
async fn csv_that_engines_take_for_something_else() {
    for text in ["sep=;\na;b\n1;2\n", "a\n1\n\n2\n", "\u{feff}a\n1\n"] {
        let (folder, path) = folder_with("a.csv", text);
        let said = refused(here(folder.path()), &["a"], &path).await;
        assert!(
            said.contains("engines read CSV of several columns"),
            "{said}"
        );
    }
    let (folder, path) = folder_with("a.csv", "a,b\n1,2\n1\n");
    let said = refused(here(folder.path()), &["a", "b"], &path).await;
    assert!(said.starts_with("this cannot be counted: "), "{said}");
    assert!(said.contains("line"), "{said}");
}

#[tokio::test]
async fn names_that_cannot_be() {
    let (folder, path) = folder_with("a.csv", "a,records\n1,2\n");
    assert_eq!(
        refused(here(folder.path()), &["a", "records"], &path).await,
        "a column is called `records`, as the column of the counts is\nhint: give it another name in the files and in the study"
    );
    assert_eq!(
        refused(local(1000, folder.path()), &["a"], &path).await,
        "1000 bytes of memory are too few to count in\nhint: give at least 4 MB"
    );
}
