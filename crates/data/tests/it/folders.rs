//! Tables that lie in several files.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use hedgerow_data::files::{
    Others, Parts, Progress, check_columns, length_of, read_table, read_text,
};
use hedgerow_data::{Schema, Study, Table};
use parquet::arrow::ArrowWriter;
use proptest::prelude::*;
use tempfile::TempDir;

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

fn schema() -> Arc<Schema> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("study.toml");
    std::fs::write(&path, STUDY).unwrap();
    Study::open(&path).unwrap().schema
}

struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn csv(self, name: &str, text: &str) -> Self {
        std::fs::write(self.path().join(name), text).unwrap();
        self
    }

    fn parquet(self, name: &str, columns: Vec<(&str, ArrayRef)>) -> Self {
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let file = std::fs::File::create(self.path().join(name)).unwrap();
        let mut writer = ArrowWriter::try_new(file, batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        self
    }

    fn read(&self) -> Result<Table, String> {
        let read = read_table(self.path(), &schema(), &Others::Refuse, &());
        read.map_err(|error| self.said(&error.to_string()))
    }

    /// What was said, without the folder's own name.
    fn said(&self, text: &str) -> String {
        let name = self.path().display().to_string();
        text.replace(&format!("{name}/"), "")
            .replace(&name, "FOLDER")
    }
}

fn ages(table: &Table) -> Vec<u32> {
    table.codes(0).unwrap().iter().collect()
}

fn ints(values: &[i64]) -> ArrayRef {
    Arc::new(Int64Array::from(values.to_vec()))
}

fn texts(values: &[&str]) -> ArrayRef {
    Arc::new(StringArray::from(values.to_vec()))
}

#[test]
fn files_are_read_by_name_and_marks_of_engines_are_passed_over() {
    let folder = Folder::new()
        .csv("part-2.csv", "age,flu\n2,no\n")
        .csv("part-10.csv", "age,flu\n10,yes\n")
        .csv("part-1.csv", "age,flu\n1,no\n1,yes\n")
        .csv("_SUCCESS", "")
        .csv("._part-1.csv.crc", "?");
    let table = folder.read().unwrap();
    assert_eq!(ages(&table), [1, 1, 10, 2]);
    assert!(check_columns(folder.path(), &schema(), &Others::Refuse).is_ok());
    let text = read_text(folder.path(), &[], &()).unwrap();
    assert_eq!(text.rows(), 4);
    // Places go on through all files.
    assert_eq!(text.columns[0].first_place, [1, 3, 4]);
    assert_eq!(length_of(folder.path()), 19 + 15 + 13);
}

#[test]
fn folders_whose_files_also_hold_rows_that_do_not_count_are_refused() {
    for mark in ["_delta_log", ".hoodie", "_temporary"] {
        let folder = Folder::new().csv("part-1.csv", "age,flu\n1,no\n");
        std::fs::create_dir(folder.path().join(mark)).unwrap();
        assert_eq!(
            folder.read().unwrap_err(),
            format!(
                "FOLDER: holds `{mark}`, so its files also hold rows that were changed or deleted, or that nobody has finished\nhint: have its own engine write the rows that count into a folder of plain files, and name that folder"
            )
        );
    }
}

#[test]
fn no_file_is_read_twice() {
    let folder = Folder::new().csv("part-1.csv", "age,flu\n1,no\n");
    let (whole, one) = (folder.path().to_owned(), folder.path().join("part-1.csv"));
    let twice = Parts::of(&[&whole, &one], &[]).unwrap_err();
    assert_eq!(
        folder.said(&twice.to_string()),
        "part-1.csv: is named twice, alone, by its folder or by a link\nhint: name each file once"
    );
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(&one, whole.join("part-2.csv")).unwrap();
        assert!(
            folder
                .read()
                .unwrap_err()
                .contains("part-2.csv: is named twice")
        );
    }
}

#[test]
fn addresses_of_object_stores_are_for_engines() {
    let read = read_table(
        Path::new("s3://clinic/ward"),
        &schema(),
        &Others::Refuse,
        &(),
    );
    assert_eq!(
        read.unwrap_err().to_string(),
        "s3://clinic/ward: lies in an object store, which an engine reads\nhint: add --engine local, or name the address as `path` of [source.engine] in site.toml"
    );
}

#[test]
fn a_folder_may_be_called_as_a_file_is() {
    let folder = Folder::new();
    let inner = folder.path().join("patients.parquet");
    std::fs::create_dir(&inner).unwrap();
    let columns = vec![("age", ints(&[3, 4])), ("flu", texts(&["no", "yes"]))];
    let folder = folder.parquet("patients.parquet/part-0.parquet", columns);
    let table = read_table(&inner, &schema(), &Others::Refuse, &()).unwrap();
    assert_eq!(ages(&table), [3, 4]);
    let parts = Parts::of(&[&inner], &[]).unwrap();
    assert_eq!(parts.records(), Some(2));
    assert_eq!(parts.files(), [inner.join("part-0.parquet")]);
    drop(folder);
}

#[test]
fn folders_that_are_no_table() {
    let said = |folder: Folder| folder.read().unwrap_err();
    assert_eq!(
        said(Folder::new().csv("_SUCCESS", "")),
        "FOLDER: the folder holds no table\nhint: expected files that end in .parquet, .csv, .csv.gz or .csv.zst; names that begin with `_` or `.` are passed over"
    );
    let nested = Folder::new().csv("a.csv", "age,flu\n1,no\n");
    std::fs::create_dir(nested.path().join("year=2024")).unwrap();
    assert_eq!(
        said(nested),
        "FOLDER: holds the folder `year=2024`, and folders in folders are not read\nhint: name the folder whose files are the table; a column that folders are named by, as in `year=2024`, must stand in the files"
    );
    assert_eq!(
        said(
            Folder::new()
                .csv("a.csv", "age,flu\n1,no\n")
                .csv("b.tsv.gz", "")
        ),
        "b.tsv.gz: is of another kind than the files beside it in FOLDER\nhint: the files of one table are all .parquet, or all CSV compressed in one way"
    );
    assert_eq!(
        said(
            Folder::new()
                .csv("a.csv", "age,flu\n1,no\n")
                .csv("notes.md", "")
        ),
        "notes.md: unknown kind of file\nhint: expected .csv, .csv.gz, .csv.zst, .parquet or .xlsx"
    );
}

const ONE: &str = "hint: all files of one table have the same columns, in one order and of the same types; write them anew by one query, or name the files that belong together";

#[test]
fn files_with_other_columns_are_named_before_a_value_is_read() {
    // The first value would be refused if it were looked at.
    let beside = |text: &str| {
        let folder = Folder::new().csv("a.csv", "age,flu\nold,no\n");
        folder.csv("b.csv", text).read().unwrap_err()
    };
    for (text, difference) in [
        ("age\n1\n", "it lacks `flu`"),
        ("age,flu,zip\n1,no,3\n", "it also has `zip`"),
        ("flu,age\nno,1\n", "they stand in another order"),
        (
            "age;flu\n1;no\n",
            "`;` stands between its values, and `,` there",
        ),
    ] {
        let expected = format!("b.csv: has other columns than a.csv: {difference}\n{ONE}");
        assert_eq!(beside(text), expected);
    }
    let whole = || vec![("age", ints(&[1])), ("flu", texts(&["no"]))];
    let beside = |columns| {
        let folder = Folder::new().parquet("a.parquet", whole());
        folder.parquet("b.parquet", columns).read().unwrap_err()
    };
    assert_eq!(
        beside(vec![("age", ints(&[1]))]),
        format!("b.parquet: has other columns than a.parquet: it lacks `flu`\n{ONE}")
    );
    let halves: ArrayRef = Arc::new(Float64Array::from(vec![1.5]));
    assert_eq!(
        beside(vec![("age", halves), ("flu", texts(&["no"]))]),
        format!(
            "b.parquet: has other columns than a.parquet: `age` has type Float64, and Int64 there\n{ONE}"
        )
    );
}

#[test]
fn what_is_wrong_names_file_and_line() {
    let folder = Folder::new()
        .csv("a.csv", "age,flu\n1,no\n")
        .csv("b.csv", "age,flu\n1,no\n1,perhaps\n")
        .csv("c.csv", "age,flu\n1\n");
    let error = folder.read().unwrap_err();
    assert!(
        error.starts_with("b.csv:3: column `flu`: value `perhaps` is outside"),
        "{error}"
    );
}

struct Bytes(std::sync::atomic::AtomicU64);

impl Progress for Bytes {
    fn advance(&self, amount: u64) {
        self.0
            .fetch_add(amount, std::sync::atomic::Ordering::Relaxed);
    }
}

fn files_of(rows: &[Vec<(i64, bool)>], folder: &Path) -> Vec<PathBuf> {
    let paths = rows.iter().enumerate().map(|(place, rows)| {
        let path = folder.join(format!("part-{place:03}.csv"));
        let mut text = String::from("age,flu\n");
        for (age, flu) in rows {
            text.push_str(&format!("{age},{}\n", if *flu { "yes" } else { "no" }));
        }
        std::fs::write(&path, text).unwrap();
        path
    });
    paths.collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// However rows are cut into files, they are the same table, and every byte is counted once.
    #[test]
    fn rows_are_the_same_in_one_file_and_in_many(
        rows in prop::collection::vec(
            prop::collection::vec((0_i64..100, any::<bool>()), 0..20),
            1..6,
        )
    ) {
        let (apart, whole) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        files_of(&rows, apart.path());
        let one = files_of(&[rows.concat()], whole.path());
        let heard = Bytes(0.into());
        let table = read_table(apart.path(), &schema(), &Others::Refuse, &heard).unwrap();
        let expected = read_table(&one[0], &schema(), &Others::Refuse, &()).unwrap();
        prop_assert_eq!(table, expected);
        prop_assert_eq!(heard.0.into_inner(), length_of(apart.path()));
    }
}
