//! Read-write-read of tables and releases is the identity, in every format.

use std::path::Path;
use std::sync::Arc;

use hedgerow_data::document::Document;
use hedgerow_data::files::{
    CsvText, Others, read_fragments, read_release_of, read_table, write_fragments, write_release,
    write_table,
};
use hedgerow_data::{
    Cell, Codes, Column, GeneralizedColumn, Release, ReleaseColumn, Role, Schema, Study, Table,
    TextColumn,
};
use proptest::prelude::*;

const FORMATS: [&str; 4] = ["t.csv", "t.csv.gz", "t.csv.zst", "t.parquet"];

fn study() -> Study {
    let text = r#"
[study]
name = "round trip"
partition = "horizontal"
[[attribute]]
name = "age"
role = "quasi"
type = "integer"
range = [-3, 96]
missing = "NA"
[[attribute]]
name = "=code, \"quoted\""
role = "quasi"
type = "integer"
range = [0, 1000000]
step = 10
[[attribute]]
name = "day"
role = "quasi"
type = "date"
range = ["1969-12-01", "2024-02-29"]
missing = ""
[[attribute]]
name = "group"
role = "quasi"
values = ["", "plain", "a,b", "say \"x\"", "new\nline", "[a..b]", "{a|b}", " spaced ", "ünïcode"]
[[attribute]]
name = "disease"
role = "sensitive"
values = ["flu", "a;b", "*x", "=1+1", "'=1+1", "''@x", "-5", "-5+1", "'-5", "+", "\tx"]
[[attribute]]
name = "name"
role = "identifier"
[[attribute]]
name = "remark"
role = "other"
type = "text"
[[attribute]]
name = "fever"
role = "quasi"
type = "decimal"
range = [-1.5, 42.0]
step = 0.25
missing = "?"
"#;
    let document = Document::parse(text.into(), Path::new("study.toml")).unwrap();
    Study::read(document, Path::new("")).unwrap()
}

fn schema() -> Arc<Schema> {
    study().schema
}

fn column(schema: &Schema, attribute: usize, picks: &[u32]) -> Column {
    let domain = &schema.attributes()[attribute].domain;
    if domain.size() > 0 {
        let mut codes = Codes::for_size(domain.size());
        picks
            .iter()
            .for_each(|pick| codes.push(pick % domain.size()));
        return Column::Coded(codes);
    }
    let mut texts = TextColumn::default();
    for (row, pick) in picks.iter().enumerate() {
        let words = [
            "",
            "x",
            "two words",
            "a,\"b\"\r\nc",
            "NULL",
            "=A1",
            "'=A1",
            "'",
            "''",
            "-1.5",
            "\r=1",
            "@,\"b\"",
        ];
        texts.push(words[*pick as usize % words.len()], row as u64);
    }
    Column::Text(texts)
}

fn random_table(seeds: &[u32]) -> Table {
    let schema = schema();
    let columns = (0..schema.attributes().len())
        .map(|attribute| {
            let picks: Vec<u32> = seeds
                .iter()
                .map(|seed| {
                    seed.wrapping_mul(2_654_435_761)
                        .rotate_left(attribute as u32 * 5)
                        >> 3
                })
                .collect();
            column(&schema, attribute, &picks)
        })
        .collect();
    Table::new(schema, columns)
}

/// Columns of a release: random cells, and the table's own values.
fn release_columns(table: &Table, seeds: &[u32], ends: &[(u32, u32, bool)]) -> Vec<ReleaseColumn> {
    let schema = table.schema();
    schema
        .attributes()
        .iter()
        .enumerate()
        .map(|(position, attribute)| {
            if attribute.role == Role::Identifier {
                return ReleaseColumn::Absent;
            }
            if attribute.role != Role::Quasi {
                return ReleaseColumn::Verbatim(table.column(position).clone());
            }
            let size = attribute.domain.size();
            let mut cells: Vec<Cell> = Vec::new();
            let mut codes = Vec::new();
            for (row, seed) in seeds.iter().enumerate() {
                let (a, b, is_set) = ends[row % ends.len()];
                let (a, b) = (a % size, b % size);
                let cell = if is_set {
                    Cell::set(vec![a, b, seed % size]).unwrap()
                } else {
                    let (least, greatest) = attribute.domain.range(a.min(b), a.max(b));
                    Cell::Interval(least, greatest)
                };
                // In order of first appearance, as a reader finds them.
                let place = cells
                    .iter()
                    .position(|known| *known == cell)
                    .unwrap_or_else(|| {
                        cells.push(cell);
                        cells.len() - 1
                    });
                codes.push(place as u32);
            }
            ReleaseColumn::Generalized(GeneralizedColumn { cells, codes })
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn tables(seeds in proptest::collection::vec(any::<u32>(), 0..200)) {
        let table = random_table(&seeds);
        let folder = tempfile::tempdir().unwrap();
        for name in FORMATS {
            let path = folder.path().join(name);
            write_table(&path, &table, &()).unwrap();
            let again = read_table(&path, table.schema(), &Others::Refuse, &()).unwrap();
            prop_assert_eq!(&again, &table, "{}", name);
        }
        // Nothing but the four files is left behind.
        prop_assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), FORMATS.len());
    }

    #[test]
    fn releases(seeds in proptest::collection::vec(any::<u32>(), 1..100), ends in proptest::collection::vec(any::<(u32, u32, bool)>(), 1..20)) {
        let table = random_table(&seeds);
        let schema = table.schema().clone();
        let columns = release_columns(&table, &seeds, &ends);
        let release = Release::new(schema.clone(), columns, table.rows());
        let folder = tempfile::tempdir().unwrap();
        for (name, csv) in FORMATS.into_iter().flat_map(|name| [(name, CsvText::Guarded), (name, CsvText::Verbatim)]) {
            let path = folder.path().join(name);
            let mut study = study();
            study.csv = csv;
            write_release(&path, &release, &study, &()).unwrap();
            let text = read_release_of(&path, &study, &()).unwrap().text;
            let again = Release::from_text(&text, &schema, &[]).unwrap();
            prop_assert_eq!(&again, &release, "{}", name);
        }
    }

    /// Nothing in a guarded CSV is run by a spreadsheet, and Parquet has what the table has.
    #[test]
    fn nothing_that_a_spreadsheet_would_run(seeds in proptest::collection::vec(any::<u32>(), 1..100), ends in proptest::collection::vec(any::<(u32, u32, bool)>(), 1..20)) {
        let table = random_table(&seeds);
        let columns = release_columns(&table, &seeds, &ends);
        let release = Release::new(table.schema().clone(), columns, table.rows());
        let folder = tempfile::tempdir().unwrap();
        let (path, parquet) = (folder.path().join("t.csv"), folder.path().join("t.parquet"));
        write_release(&path, &release, &study(), &()).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(bytes.as_slice());
        for record in reader.records() {
            for field in &record.unwrap() {
                let would_run = field.starts_with(['=', '+', '-', '@', '\t', '\r']);
                prop_assert!(!would_run || field.parse::<f64>().is_ok(), "{field}");
            }
        }
        write_release(&parquet, &release, &study(), &()).unwrap();
        let guarded = std::fs::read(&parquet).unwrap();
        let mut verbatim = study();
        verbatim.csv = CsvText::Verbatim;
        write_release(&parquet, &release, &verbatim, &()).unwrap();
        prop_assert_eq!(guarded, std::fs::read(&parquet).unwrap());
    }

    /// Rows stand in an order that follows from what is written: in whatever order they come, the
    /// files are the same, byte for byte.
    #[test]
    fn published_rows_stand_in_the_order_of_what_is_written(
        seeds in proptest::collection::vec(any::<u32>(), 1..100),
        ends in proptest::collection::vec(any::<(u32, u32, bool)>(), 1..6),
        turn in any::<u64>(),
    ) {
        let table = random_table(&seeds);
        let schema = table.schema().clone();
        let columns = release_columns(&table, &seeds, &ends);
        let mut order: Vec<usize> = (0..seeds.len()).collect();
        order.sort_by_key(|row| (*row as u64 + 1).wrapping_mul(turn | 1).rotate_left(29));
        let turned = columns.iter().map(|column| match column {
            ReleaseColumn::Generalized(cells) => ReleaseColumn::Generalized(cells.picked(&order)),
            ReleaseColumn::Verbatim(values) => ReleaseColumn::Verbatim(values.picked(&order)),
            ReleaseColumn::Absent => ReleaseColumn::Absent,
        });
        let turned = Release::published(schema.clone(), turned.collect());
        let release = Release::published(schema.clone(), columns);
        let folder = tempfile::tempdir().unwrap();
        for name in FORMATS {
            let paths = ["a", "b"].map(|of| folder.path().join(format!("{of}{name}")));
            write_release(&paths[0], &release, &study(), &()).unwrap();
            write_release(&paths[1], &turned, &study(), &()).unwrap();
            prop_assert_eq!(std::fs::read(&paths[0]).unwrap(), std::fs::read(&paths[1]).unwrap());
        }
        // Cells first, in the order of their values in the domain, then what is verbatim.
        let row = |row: usize| {
            let cells = [0, 1, 2, 3, 7].into_iter().map(|position| {
                let column = release.generalized(position).unwrap();
                column.cells[column.codes[row] as usize].clone()
            });
            let cells: Vec<Cell> = cells.collect();
            let ReleaseColumn::Verbatim(Column::Text(remarks)) = &release.columns()[6] else {
                panic!("remarks are text");
            };
            (cells, release.verbatim(4).unwrap().get(row), remarks.get(row).to_owned())
        };
        let rows: Vec<_> = (0..seeds.len()).map(row).collect();
        prop_assert!(rows.is_sorted());
    }

    #[test]
    fn fragments(seeds in proptest::collection::vec(any::<u32>(), 1..100), ends in proptest::collection::vec(any::<(u32, u32, bool)>(), 1..20), many in 1..9u32) {
        // The column that joins the tables is their own.
        let table = random_table(&seeds);
        let attributes = table.schema().attributes().iter().cloned();
        let renamed = attributes.map(|mut attribute| {
            if attribute.name == "group" {
                attribute.name = String::from("kind");
            }
            attribute
        });
        let schema = Arc::new(Schema::new(renamed.collect()));
        let columns = release_columns(&table, &seeds, &ends);
        let groups: Vec<u32> = seeds.iter().map(|seed| 1 + seed / 7 % many).collect();
        let release = Release::fragmented(schema.clone(), columns, &groups);
        let folder = tempfile::tempdir().unwrap();
        write_fragments(folder.path(), &release, CsvText::Guarded, &()).unwrap();
        let again = read_fragments(folder.path(), &schema, CsvText::Guarded, &()).unwrap();
        prop_assert_eq!(&again.release, &release);
        prop_assert!(again.disordered.is_empty());
        prop_assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 3);
        // Nobody can tell how the rows stood before: any order gives the same files.
        let backwards: Vec<usize> = (0..seeds.len()).rev().collect();
        let columns = release.columns().iter().map(|column| match column {
            ReleaseColumn::Generalized(cells) => ReleaseColumn::Generalized(cells.picked(&backwards)),
            ReleaseColumn::Verbatim(values) => ReleaseColumn::Verbatim(values.picked(&backwards)),
            ReleaseColumn::Absent => ReleaseColumn::Absent,
        });
        let turned: Vec<u32> = release.groups().unwrap().iter().rev().copied().collect();
        prop_assert_eq!(Release::fragmented(schema, columns.collect(), &turned), release);
    }
}

/// Two groups of people, as a folder with two tables.
fn small_fragments() -> (tempfile::TempDir, Arc<Schema>) {
    let text = "[study]\nname = \"s\"\npartition = \"vertical\"\n\
        [[attribute]]\nname = \"id\"\nrole = \"identifier\"\n\
        [[attribute]]\nname = \"age\"\nrole = \"quasi\"\ntype = \"integer\"\nrange = [0, 99]\n\
        [[attribute]]\nname = \"disease\"\nrole = \"sensitive\"\nvalues = [\"flu\", \"ulcer\"]\n";
    let document = Document::parse(text.into(), Path::new("study.toml")).unwrap();
    let schema = Study::read(document, Path::new("")).unwrap().schema;
    let folder = tempfile::tempdir().unwrap();
    let quasi = "group,age\n1,[0-9]\n1,[0-9]\n2,[10-19]\n";
    std::fs::write(folder.path().join("quasi.csv"), quasi).unwrap();
    let disease = "group,disease\n1,flu\n1,ulcer\n2,flu\n";
    std::fs::write(folder.path().join("sensitive-disease.csv"), disease).unwrap();
    (folder, schema)
}

#[test]
fn fragments_that_are_none_are_refused_and_order_is_seen() {
    let (folder, schema) = small_fragments();
    let read = |name: &str, text: &str| {
        let path = folder.path().join(name);
        let before = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, text).unwrap();
        let read = read_fragments(folder.path(), &schema, CsvText::Guarded, &());
        std::fs::write(&path, before).unwrap();
        read.map_err(|error| {
            error
                .to_string()
                .replace(&*folder.path().to_string_lossy(), "")
        })
    };
    let whole = read_fragments(folder.path(), &schema, CsvText::Guarded, &()).unwrap();
    assert_eq!(whole.release.groups(), Some(&[1, 1, 2][..]));
    assert!(whole.disordered.is_empty());
    let disease = "sensitive-disease.csv";
    for text in [
        "group,disease\n1,ulcer\n1,flu\n2,flu\n",
        "group,disease\n2,flu\n1,flu\n1,ulcer\n",
    ] {
        let found = read(disease, text).unwrap();
        assert_eq!(found.disordered, [disease]);
        assert_eq!(found.release, whole.release);
    }
    let refused = |name: &str, text: &str| read(name, text).unwrap_err();
    assert_eq!(
        refused(disease, "group,disease\n1,flu\n2,ulcer\n2,flu\n"),
        "/sensitive-disease.csv: group 1 has 1 records, in quasi.csv it has 2\nhint: the tables of a release have the same groups"
    );
    assert!(refused(disease, "group,disease\n1,flu\n1,flu\n").contains("group 2 has 0 records"));
    assert!(
        refused(disease, "group,disease\n1,flu\n1,flu\n2,flu\n3,flu\n")
            .contains("group 3 has 1 records")
    );
    for number in ["0", "x", "01", "-1", "4294967296", ""] {
        let text = format!("group,age\n1,[0-9]\n{number},[0-9]\n2,[10-19]\n");
        assert!(
            refused("quasi.csv", &text).starts_with("/quasi.csv:3: column `group`: "),
            "{number}"
        );
    }
    assert!(refused("quasi.csv", "age\n1\n").contains("column `group`"));
    assert!(
        refused("quasi.csv", "group,age\n1,[0-9]\n1,old\n2,3\n")
            .starts_with("/quasi.csv:3: column `age`")
    );
    assert!(
        refused(disease, "group,disease\n1,flu\n1,flux\n2,flu\n")
            .starts_with("/sensitive-disease.csv:3: column `disease`")
    );
    std::fs::remove_file(folder.path().join(disease)).unwrap();
    let missing = read_fragments(folder.path(), &schema, CsvText::Guarded, &()).unwrap_err();
    assert!(
        missing
            .to_string()
            .contains("sensitive-disease.csv: cannot be read")
    );
}

#[test]
fn a_table_larger_than_a_chunk() {
    let seeds: Vec<u32> = (0..200_000).collect();
    let table = random_table(&seeds);
    let folder = tempfile::tempdir().unwrap();
    for name in FORMATS {
        let path = folder.path().join(name);
        write_table(&path, &table, &()).unwrap();
        assert_eq!(
            read_table(&path, table.schema(), &Others::Refuse, &()).unwrap(),
            table,
            "{name}"
        );
    }
}

#[test]
fn an_interrupted_write_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    std::fs::write(&path, "old").unwrap();
    let schema = schema();
    let writer = hedgerow_data::files::RowWriter::create(&path, schema).unwrap();
    drop(writer);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "old");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}
