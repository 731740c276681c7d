//! Read-write-read of tables and releases is the identity, in every format.

use std::path::Path;
use std::sync::Arc;

use hedgerow_data::document::Document;
use hedgerow_data::files::{Others, read_table, read_text, write_release, write_table};
use hedgerow_data::{
    Cell, Codes, Column, GeneralizedColumn, Release, ReleaseColumn, Role, Schema, Study, Table,
    TextColumn,
};
use proptest::prelude::*;

const FORMATS: [&str; 4] = ["t.csv", "t.csv.gz", "t.csv.zst", "t.parquet"];

fn schema() -> Arc<Schema> {
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
name = "code, \"quoted\""
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
values = ["flu", "a;b", "*x"]
[[attribute]]
name = "name"
role = "identifier"
[[attribute]]
name = "remark"
role = "other"
type = "text"
"#;
    let document = Document::parse(text.into(), Path::new("study.toml")).unwrap();
    Study::read(document, Path::new("")).unwrap().schema
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
        let words = ["", "x", "two words", "a,\"b\"\r\nc", "NULL"];
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
        let columns = schema.attributes().iter().enumerate().map(|(position, attribute)| {
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
                    Cell::Interval(a.min(b), a.max(b))
                };
                // In order of first appearance, as a reader finds them.
                let place = cells.iter().position(|known| *known == cell).unwrap_or_else(|| {
                    cells.push(cell);
                    cells.len() - 1
                });
                codes.push(place as u32);
            }
            ReleaseColumn::Generalized(GeneralizedColumn { cells, codes })
        }).collect();
        let release = Release::new(schema.clone(), columns, table.rows());
        let folder = tempfile::tempdir().unwrap();
        for name in FORMATS {
            let path = folder.path().join(name);
            write_release(&path, &release, &()).unwrap();
            let text = read_text(&path, &[], &()).unwrap();
            let again = Release::from_text(&text, &schema, &[]).unwrap();
            prop_assert_eq!(&again, &release, "{}", name);
        }
    }
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
