//! Counted rows: one canonical table, whatever counted the rows and in whatever order they came.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{
    ArrayRef, Date32Array, Int64Array, RecordBatch, StringArray, UInt32Array, UInt64Array,
};
use arrow_schema::ArrowError;
use hedgerow_data::document::Document;
use hedgerow_data::files::{
    Others, TableBuilder, count_table, read_batches, read_counted_batches, read_counted_table,
    read_csv, read_table, write_table,
};
use hedgerow_data::{Codes, Column, CountsError, Schema, Study, Table};
use proptest::prelude::*;

/// The schema of a study with these attributes.
fn schema(attributes: &str) -> Arc<Schema> {
    let text = format!("[study]\nname = \"s\"\npartition = \"horizontal\"\n{attributes}");
    let document = Document::parse(text, Path::new("study.toml")).unwrap();
    Study::read(document, Path::new("")).unwrap().schema
}

const WARD: &str = "[[attribute]]\nname = \"id\"\nrole = \"identifier\"\n\
    [[attribute]]\nname = \"age\"\nrole = \"quasi\"\ntype = \"integer\"\nrange = [0, 99]\nmissing = [\"?\", \"NA\", \"\"]\n\
    [[attribute]]\nname = \"came\"\nrole = \"quasi\"\ntype = \"date\"\nrange = [\"2024-01-01\", \"2024-12-31\"]\n\
    [[attribute]]\nname = \"ward\"\nrole = \"sensitive\"\nvalues = [\"a\", \"b\"]\n";

/// The rows of a table as labels with their counts, in the table's order.
fn rows(table: &Table) -> Vec<(Vec<String>, u64)> {
    let label = |position: usize, row: usize| {
        let domain = &table.schema().attributes()[position].domain;
        let codes = table.codes(position)?;
        Some(domain.label(codes.get(row)).into_owned())
    };
    let positions = 0..table.schema().attributes().len();
    let row = |row: usize| {
        let labels = positions
            .clone()
            .filter_map(|position| label(position, row));
        (
            labels.collect(),
            table.counts().map_or(1, |counts| counts[row]),
        )
    };
    (0..table.rows()).map(row).collect()
}

fn texts(texts: &[&str]) -> ArrayRef {
    Arc::new(StringArray::from(texts.to_vec()))
}

fn batch(ages: ArrayRef, days: ArrayRef, wards: &[&str], records: ArrayRef) -> RecordBatch {
    let columns = [
        ("age", ages),
        ("came", days),
        ("ward", texts(wards)),
        ("records", records),
    ];
    let columns = columns.map(|(name, column)| (name, column, true));
    RecordBatch::try_from_iter_with_nullable(columns).unwrap()
}

fn counted(batches: Vec<RecordBatch>) -> Result<Table, String> {
    let batches = batches.into_iter().map(Ok::<_, ArrowError>);
    let table = read_counted_batches("the engine", batches, &schema(WARD), &());
    table.map_err(|error| error.to_string())
}

#[test]
fn combinations_that_the_coding_makes_equal_are_one() {
    let days = texts(&["2024-01-02", "2024-01-02", "2024-01-01", "2024-01-01"]);
    let batch = batch(
        texts(&["05", "5", "?", "NA"]),
        days,
        &["a", "a", "b", "b"],
        Arc::new(Int64Array::from(vec![3, 4, 1, 1])),
    );
    let table = counted(vec![batch]).unwrap();
    let row = |age: &str, day: &str, ward: &str| [age, day, ward].map(str::to_owned).to_vec();
    assert_eq!(
        rows(&table),
        [
            (row("5", "2024-01-02", "a"), 7),
            (row("?", "2024-01-01", "b"), 2)
        ]
    );
    assert_eq!((table.rows(), table.records()), (2, 9));
    assert_eq!(table.column(0), &Column::Absent(2));
}

#[test]
fn typed_batches_and_text_of_any_order_are_one_table() {
    let text = batch(
        texts(&["7", "", "40"]),
        texts(&["2024-12-31", "2024-01-01", "2024-03-05"]),
        &["b", "a", "a"],
        Arc::new(UInt64Array::from(vec![1, 2, 3])),
    );
    let day = |days: i32| 19_723 + days;
    let typed = |ages: Vec<Option<u32>>, days: Vec<i32>, wards: &[&str], records: Vec<i64>| {
        let days = Date32Array::from(days);
        let (ages, records) = (UInt32Array::from(ages), Int64Array::from(records));
        batch(Arc::new(ages), Arc::new(days), wards, Arc::new(records))
    };
    let first = typed(
        vec![Some(40), Some(7)],
        vec![day(64), day(365)],
        &["a", "b"],
        vec![2, 1],
    );
    let second = typed(
        vec![None, Some(40)],
        vec![day(0), day(64)],
        &["a", "a"],
        vec![2, 1],
    );
    assert_eq!(
        counted(vec![text]).unwrap(),
        counted(vec![first, second]).unwrap()
    );
}

#[test]
fn what_is_wrong_with_counted_rows_is_named_with_an_example() {
    let of = |age: &str, records: ArrayRef| {
        counted(vec![batch(
            texts(&[age]),
            texts(&["2024-01-01"]),
            &["a"],
            records,
        )])
    };
    let numbers = |number: i64| -> ArrayRef { Arc::new(Int64Array::from(vec![number])) };
    assert!(of("5", numbers(1)).is_ok());
    let outside = of("105", numbers(1)).unwrap_err();
    assert!(
        outside
            .starts_with("the engine:1: column `age`: value `105` is outside the integers 0 to 99"),
        "{outside}"
    );
    for (number, text) in [(0, "0"), (-3, "-3"), (1 << 40, "1099511627776")] {
        let wrong = of("5", numbers(number)).unwrap_err();
        let expected = format!("the engine:1: column `records`: `{text}` is no number of records");
        assert!(wrong.starts_with(&expected), "{wrong}");
    }
    let null = of("5", Arc::new(Int64Array::from(vec![None])));
    assert!(
        null.unwrap_err()
            .starts_with("the engine:1: column `records`: `` is no number")
    );

    // Each number is one that can be, all together are not.
    let most = Table::MOST_RECORDS as i64;
    let rows = |days: &[&str]| {
        let ages = vec!["5"; days.len()];
        let records = Int64Array::from(vec![most; days.len()]);
        batch(
            texts(&ages),
            texts(days),
            &vec!["a"; days.len()],
            Arc::new(records),
        )
    };
    assert!(counted(vec![rows(&["2024-01-01"])]).is_ok());
    let all = counted(vec![rows(&["2024-01-01", "2024-01-02"])]).unwrap_err();
    assert_eq!(all, "the rows stand for more than 4294967295 records");

    let broken = [Err(ArrowError::ComputeError(String::from(
        "the engine died",
    )))];
    let error = read_counted_batches("the engine", broken, &schema(WARD), &()).unwrap_err();
    assert!(error.to_string().contains("the engine died"), "{error}");
}

#[test]
fn columns_of_counted_rows_are_those_of_the_study_and_one_of_records() {
    let read = |csv: &str| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("counted.csv");
        std::fs::write(&path, csv).unwrap();
        let table = read_counted_table(&path, &schema(WARD), &Others::Refuse, &());
        table.map_err(|error| {
            error
                .to_string()
                .replace(path.to_str().unwrap(), "counted.csv")
        })
    };
    let fine = read("age,came,ward,records\n5,2024-01-01,a,2\n05,2024-01-01,a,1\n").unwrap();
    assert_eq!((fine.rows(), fine.records()), (1, 3));
    assert_eq!(
        fine,
        read("records,id,age,came,ward\n3,x,5,2024-01-01,a\n").unwrap()
    );
    assert!(
        read("age,came,ward\n5,2024-01-01,a\n")
            .unwrap_err()
            .starts_with("counted.csv:1: column `records` of the study is missing")
    );
    assert!(
        read("age,came,ward,records\n5,2024-01-01,a,2\n5,2024-01-01,b,none\n")
            .unwrap_err()
            .starts_with("counted.csv:3: column `records`: `none` is no number of records")
    );
    assert!(
        read("age,came,records\n5,2024-01-01,2\n")
            .unwrap_err()
            .starts_with("counted.csv:1: column `ward` of the study is missing")
    );
}

#[test]
fn text_without_a_domain_cannot_be_counted() {
    let schema = schema(&format!(
        "{WARD}[[attribute]]\nname = \"note\"\nrole = \"other\"\n"
    ));
    let read = read_csv(
        "t",
        b"id,age,came,ward,note\n1,5,2024-01-01,a,x\n",
        &schema,
        &Others::Refuse,
    );
    let error = read.unwrap().into_counted().unwrap_err();
    assert_eq!(
        error.to_string(),
        "column `note` is free text, which counted rows cannot hold\nhint: give it `values`, a `taxonomy` or a `type`, or leave it out of the study"
    );
}

#[test]
fn counts_of_nobody_and_of_too_many_are_refused() {
    let schema = schema(
        "[[attribute]]\nname = \"age\"\nrole = \"quasi\"\ntype = \"integer\"\nrange = [0, 9]\n",
    );
    let of = |counts: Vec<u64>| {
        let codes = (0..counts.len() as u8).collect();
        Table::counted(
            schema.clone(),
            vec![Column::Coded(Codes::U8(codes))],
            counts,
        )
    };
    assert_eq!(of(vec![1, 2]).unwrap().records(), 3);
    assert_eq!(of(vec![1, 0]), Err(CountsError::Nobody { row: 2 }));
    assert_eq!(of(vec![u64::MAX, 1]), Err(CountsError::TooMany));
    assert_eq!(of(vec![Table::MOST_RECORDS, 1]), Err(CountsError::TooMany));
}

/// So many attributes of so many values each: rows of one word, of two, of four, and of more.
fn attributes(count: usize, size: u32) -> Arc<Schema> {
    let attribute = |number: usize| {
        format!(
            "[[attribute]]\nname = \"a{number}\"\nrole = \"quasi\"\ntype = \"integer\"\nrange = [0, {}]\n",
            size - 1
        )
    };
    schema(&(0..count).map(attribute).collect::<String>())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Counting by a map of rows gives the same combinations in the same order, whatever is counted in
    /// which order, and a table that was counted stays as it is.
    #[test]
    fn counting_is_grouping(
        (count, size) in prop::sample::select(vec![(1, 1), (3, 7), (2, 70_000), (9, 300), (20, 70_000)]),
        seed in prop::collection::vec((0u32..6, 1u64..4), 1..60),
        turned in any::<bool>(),
    ) {
        let schema = attributes(count, size);
        let code = |value: u32, attribute: usize| (value * (7 + attribute as u32)) % size;
        let row = |value: u32| -> Vec<u32> { (0..count).map(|at| code(value, at)).collect() };
        let mut expected: BTreeMap<Vec<u32>, u64> = BTreeMap::new();
        for (value, records) in &seed {
            *expected.entry(row(*value)).or_default() += records;
        }
        let mut seed = seed;
        if turned {
            seed.reverse();
        }
        let table = |rows: &[u32]| {
            let columns = (0..count).map(|attribute| {
                let mut codes = Codes::for_size(size);
                rows.iter().for_each(|value| codes.push(code(*value, attribute)));
                Column::Coded(codes)
            });
            columns.collect::<Vec<_>>()
        };
        let values: Vec<u32> = seed.iter().map(|(value, _)| *value).collect();
        let counts = seed.iter().map(|(_, records)| *records).collect();
        let given = Table::counted(schema.clone(), table(&values), counts).unwrap();
        let singles = seed.iter().flat_map(|(value, records)| vec![*value; *records as usize]);
        let singles = Table::new(schema.clone(), table(&singles.collect::<Vec<_>>()));
        let grouped = given.into_counted().unwrap();
        prop_assert_eq!(&grouped, &singles.into_counted().unwrap());
        prop_assert_eq!(&grouped, &grouped.clone().into_counted().unwrap());
        let found = (0..grouped.rows()).map(|at| {
            let codes = (0..count).map(|attribute| grouped.codes(attribute).unwrap().get(at));
            (codes.collect::<Vec<_>>(), grouped.counts().unwrap()[at])
        });
        prop_assert_eq!(found.collect::<Vec<_>>(), expected.into_iter().collect::<Vec<_>>());
    }
}

#[test]
fn a_file_counted_as_it_is_read_is_the_file_read_and_counted() {
    let schema = attributes(3, 300);
    let codes = |step: u32| {
        let codes = (0..20_000).map(|row| (row * step) as u16 % 97);
        Column::Coded(Codes::U16(codes.collect()))
    };
    let columns = vec![codes(3), codes(4), codes(5)];
    let table = Table::new(schema.clone(), columns);
    let folder = tempfile::tempdir().unwrap();
    let expected = table.clone().into_counted().unwrap();
    assert_eq!(expected.records(), 20_000);
    for name in ["rows.csv", "rows.parquet"] {
        let path = folder.path().join(name);
        write_table(&path, &table, &()).unwrap();
        assert_eq!(
            read_table(&path, &schema, &Others::Refuse, &()).unwrap(),
            table
        );
        assert_eq!(
            count_table(&path, &schema, &Others::Refuse, &()).unwrap(),
            expected
        );
    }
}

#[test]
fn counted_rows_come_cell_by_cell_too() {
    let schema = schema(WARD);
    let names = ["age", "came", "ward", "records"]
        .map(str::to_owned)
        .to_vec();
    let mut builder = TableBuilder::counted("the database's rows", &schema, names).unwrap();
    for (age, records) in [("5", "2"), ("05", "1")] {
        for (column, text) in [age, "2024-01-01", "a", records].iter().enumerate() {
            builder.cell(column, Some(text.as_bytes())).unwrap();
        }
    }
    let table = builder.finish().unwrap();
    assert_eq!((table.rows(), table.counts()), (1, Some(&[3][..])));
}

#[test]
fn batches_without_counts_are_still_single_records() {
    let batch = RecordBatch::try_from_iter([("a0", texts(&["1", "1"]))]).unwrap();
    let table = read_batches("rows", &[batch], &attributes(1, 5), &Others::Refuse, &()).unwrap();
    assert_eq!(
        (table.rows(), table.records(), table.counts()),
        (2, 2, None)
    );
}
