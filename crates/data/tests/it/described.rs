//! What a release says of itself: typed bounds and marks in Parquet, the package beside the CSV, the
//! taxonomies in the folder. Bounds and marks that are not the label's and the study's are found.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::{Date32Type, Decimal128Type, Int64Type};
use arrow_array::{Array as _, ArrayRef, Int64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema as ArrowSchema};
use hedgerow_data::document::Document;
use hedgerow_data::files::{ReleaseTable, read_release_of, write_folder, write_release};
use hedgerow_data::{
    Cell, Codes, Column, Domain, GeneralizedColumn, Release, ReleaseColumn, Study, Taxonomy,
};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use proptest::prelude::*;

const STUDY: &str = r#"
[study]
name = "Flu & co"
partition = "horizontal"
[algorithm]
recode = "set"
[[attribute]]
name = "age"
role = "quasi"
type = "integer"
range = [-3, 96]
missing = "NA"
[[attribute]]
name = "age_low"
role = "quasi"
type = "integer"
range = [0, 90]
step = 10
recode = "range"
[[attribute]]
name = "day"
role = "quasi"
type = "date"
range = ["1969-12-01", "2024-02-29"]
missing = ""
[[attribute]]
name = "zip"
role = "quasi"
values = ["=1", "b", "c"]
[[attribute]]
name = "name"
role = "identifier"
[[attribute]]
name = "disease"
role = "sensitive"
values = ["flu", "@ulcer", ""]
[[attribute]]
name = "stay"
role = "sensitive"
type = "integer"
range = [0, 30]
missing = "?"
[[attribute]]
name = "cost"
role = "other"
type = "integer"
range = [0, 9]
missing = "b"
[[attribute]]
name = "fever"
role = "quasi"
type = "decimal"
range = [-1.0, 42.0]
step = 0.10
missing = "NA"
[[attribute]]
name = "lactate"
role = "other"
type = "decimal"
range = [0.5, 9.5]
step = 0.5
"#;

fn study_of(text: &str) -> Study {
    let document = Document::parse(text.into(), Path::new("study.toml")).unwrap();
    Study::read(document, Path::new("")).unwrap()
}

/// A release whose cells are picked by numbers, three for each row: two ends, and whether it is a set.
fn release_of(study: &Study, picks: &[(u32, u32, bool)]) -> Release {
    let columns = study.schema.attributes().iter().map(|attribute| {
        let size = attribute.domain.size();
        match attribute.role.name() {
            "identifier" => ReleaseColumn::Absent,
            "quasi" => {
                let mut cells: Vec<Cell> = Vec::new();
                let mut codes = Vec::new();
                for (a, b, is_set) in picks {
                    let (a, b) = (a % size, b % size);
                    let cell = if *is_set {
                        Cell::set(vec![a, b]).unwrap()
                    } else {
                        let (least, greatest) = attribute.domain.range(a.min(b), a.max(b));
                        Cell::Interval(least, greatest)
                    };
                    let place = cells.iter().position(|known| *known == cell);
                    codes.push(place.unwrap_or(cells.len()) as u32);
                    if place.is_none() {
                        cells.push(cell);
                    }
                }
                ReleaseColumn::Generalized(GeneralizedColumn { cells, codes })
            }
            _ => {
                let mut codes = Codes::for_size(size);
                picks.iter().for_each(|(a, ..)| codes.push(a % size));
                ReleaseColumn::Verbatim(Column::Coded(codes))
            }
        }
    });
    let columns = columns.collect();
    Release::new(Arc::clone(&study.schema), columns, picks.len())
}

fn batch_of(path: &Path) -> RecordBatch {
    let builder = ParquetRecordBatchReaderBuilder::try_new(File::open(path).unwrap()).unwrap();
    let mut batches = builder.with_batch_size(1 << 20).build().unwrap();
    batches.next().unwrap().unwrap()
}

/// Least and greatest value as text, from the members of a cell one by one.
fn ends(domain: &Domain, cell: &Cell) -> [Option<String>; 2] {
    let codes = (0..domain.size()).filter(|code| cell.contains(*code));
    let values = codes.filter(|code| Some(*code) != domain.missing_code());
    let values: Vec<String> = values.map(|code| domain.label(code).into_owned()).collect();
    [values.first().cloned(), values.last().cloned()]
}

fn typed(batch: &RecordBatch, name: &str, row: usize) -> Option<String> {
    let column = batch.column_by_name(name).unwrap();
    if column.is_null(row) {
        return None;
    }
    Some(match column.data_type() {
        DataType::Int64 => column.as_primitive::<Int64Type>().value(row).to_string(),
        DataType::Decimal128(18, 2) => column.as_primitive::<Decimal128Type>().value_as_string(row),
        DataType::Date32 => {
            let days = i64::from(column.as_primitive::<Date32Type>().value(row));
            let day = jiff::civil::date(1970, 1, 1);
            day.checked_add(jiff::Span::new().days(days))
                .unwrap()
                .to_string()
        }
        other => panic!("{name} is {other}"),
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn bounds_are_the_ends_of_cells_and_read_back(picks in proptest::collection::vec(any::<(u32, u32, bool)>(), 1..60)) {
        let study = study_of(STUDY);
        let release = release_of(&study, &picks);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("release.parquet");
        write_release(&path, &release, &study, &()).unwrap();
        let batch = batch_of(&path);
        let names: Vec<String> = batch.schema().fields().iter().map(|field| field.name().clone()).collect();
        prop_assert_eq!(names, [
            "age", "age_low_2", "age_high_2", "age_low", "age_low_low", "age_low_high",
            "day", "day_low", "day_high", "zip", "disease", "stay", "cost", "fever", "fever_low", "fever_high", "lactate",
        ]);
        for (position, low, high) in [(0, "age_low_2", "age_high_2"), (1, "age_low_low", "age_low_high"), (2, "day_low", "day_high"), (8, "fever_low", "fever_high")] {
            let domain = &study.schema.attributes()[position].domain;
            let cells = release.generalized(position).unwrap();
            for row in 0..release.rows() {
                let cell = &cells.cells[cells.codes[row] as usize];
                let found = [typed(&batch, low, row), typed(&batch, high, row)];
                prop_assert_eq!(found, ends(domain, cell));
            }
        }
        let ReleaseTable { text, contradictions } = read_release_of(&path, &study, &()).unwrap();
        prop_assert_eq!(contradictions, Vec::<String>::new());
        prop_assert_eq!(Release::from_text(&text, &study.schema, &[]).unwrap(), release);
    }

    /// Rows that stand for several records are published singly as if each record were a row, byte for byte.
    #[test]
    fn counted_rows_are_published_singly(picks in proptest::collection::vec(any::<(u32, u32, bool)>(), 1..20), counts in proptest::collection::vec(1u64..50, 20)) {
        let study = study_of(STUDY);
        let counts = counts[..picks.len()].to_vec();
        let counted = release_of(&study, &picks).with_counts(Some(counts));
        let single = counted.clone().expanded();
        let folder = tempfile::tempdir().unwrap();
        let files = |name: &str, release: &Release| {
            let folder = folder.path().join(name);
            std::fs::create_dir(&folder).unwrap();
            write_folder(&folder, release, &study, &()).unwrap();
            ["release.csv", "release.parquet", "datapackage.json"].map(|file| std::fs::read(folder.join(file)).unwrap())
        };
        prop_assert!(files("counted", &counted) == files("single", &single));
    }

    /// Whatever a bound is changed to, it is found.
    #[test]
    fn a_bound_that_is_changed_is_found(picks in proptest::collection::vec(any::<(u32, u32, bool)>(), 1..20), at in any::<prop::sample::Index>(), value in proptest::option::of(-5i64..100)) {
        let study = study_of(STUDY);
        let release = release_of(&study, &picks);
        let row = at.index(picks.len());
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("release.parquet");
        write_release(&path, &release, &study, &()).unwrap();
        let was = typed(&batch_of(&path), "age_high_2", row);
        change(&path, |field, column| {
            if field.name() != "age_high_2" {
                return (field, column);
            }
            let numbers = column.as_primitive::<Int64Type>().iter().enumerate();
            let numbers = numbers.map(|(place, number)| if place == row { value } else { number });
            (field, Arc::new(numbers.collect::<Int64Array>()))
        });
        let found = read_release_of(&path, &study, &()).unwrap().contradictions;
        prop_assert_eq!(found.is_empty(), was == value.map(|value| value.to_string()), "{:?}", found);
    }
}

/// Writes a Parquet file again, each column as it is given back.
fn change(path: &Path, mut each: impl FnMut(Field, ArrayRef) -> (Field, ArrayRef)) {
    change_with(path, &mut each, Vec::new(), None);
}

fn change_with(
    path: &Path,
    each: &mut dyn FnMut(Field, ArrayRef) -> (Field, ArrayRef),
    more: Vec<(Field, ArrayRef)>,
    words: Option<Vec<KeyValue>>,
) {
    let batch = batch_of(path);
    let schema = batch.schema();
    let columns = schema.fields().iter().zip(batch.columns());
    let columns = columns.map(|(field, column)| each(field.as_ref().clone(), column.clone()));
    let (fields, columns): (Vec<Field>, Vec<ArrayRef>) = columns.chain(more).unzip();
    let batch = RecordBatch::try_new(Arc::new(ArrowSchema::new(fields)), columns).unwrap();
    let properties = WriterProperties::builder()
        .set_key_value_metadata(words)
        .build();
    let file = File::create(path).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

#[test]
fn what_a_file_says_beside_its_cells_is_held_against_them() {
    let study = study_of(STUDY);
    let release = release_of(&study, &[(3, 9, false), (3, 9, false), (100, 100, true)]);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("release.parquet");
    let fresh = || write_release(&path, &release, &study, &()).unwrap();
    let found = || read_release_of(&path, &study, &()).unwrap();

    fresh();
    change(&path, |field, column| match field.name().as_str() {
        "age_low_2" => (field, Arc::new(Int64Array::from(vec![7, 7, 7]))),
        _ => (field, column),
    });
    assert_eq!(
        found().contradictions,
        ["`age_low_2` is `7` at record 1, where `age` is `[0-6]`; 3 records in all"]
    );

    fresh();
    change(&path, |field, column| match field.name().as_str() {
        "age_low_2" => (
            Field::new("age_low_2", DataType::Utf8, true).with_metadata(field.metadata().clone()),
            Arc::new(StringArray::from(vec![Some("0"), Some("0"), Some("")])),
        ),
        _ => (field, column),
    });
    assert_eq!(
        found().contradictions,
        ["`age_low_2` is a column of Utf8 and not of the type of `age`"]
    );

    // A stranger's column is left for the verifier, in whatever type and place it is.
    fresh();
    let stranger: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 3]));
    let more = vec![(Field::new("age_lo", DataType::Int64, true), stranger)];
    change_with(&path, &mut |field, column| (field, column), more, None);
    let ReleaseTable {
        text,
        contradictions,
    } = found();
    assert_eq!(contradictions, Vec::<String>::new());
    assert!(text.names.contains(&String::from("age_lo")));
    assert!(Release::from_text(&text, &study.schema, &[]).is_err());

    // Marks that are not the study's, words beside them, words of the file.
    for (key, value) in [
        ("hedgerow:role", "other"),
        ("hedgerow:recode", "node"),
        ("note", "row 2 is Ann"),
    ] {
        fresh();
        change(&path, |field, column| match field.name().as_str() {
            "zip" => {
                let mut marks = field.metadata().clone();
                marks.insert(key.into(), value.into());
                (field.with_metadata(marks), column)
            }
            _ => (field, column),
        });
        assert_eq!(
            found().contradictions,
            [format!("the metadata of `zip` is not the study's: `{key}`")]
        );
    }
    fresh();
    let words = vec![KeyValue::new(
        String::from("note"),
        String::from("row 2 is Ann"),
    )];
    change_with(
        &path,
        &mut |field, column| (field, column),
        Vec::new(),
        Some(words.clone()),
    );
    assert_eq!(
        found().contradictions,
        ["the file has metadata that no release has: `note`"]
    );

    // Old files have neither bounds nor marks, and others' programs write metadata of their own.
    fresh();
    let bare = |field: Field, column| (field.with_metadata(Default::default()), column);
    change_with(&path, &mut { bare }, Vec::new(), Some(words));
    assert_eq!(found().contradictions, Vec::<String>::new());
    assert_eq!(
        Release::from_text(&found().text, &study.schema, &[]).unwrap(),
        release
    );
}

#[test]
fn every_column_is_marked() {
    let study = study_of(STUDY);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("release.parquet");
    write_release(&path, &release_of(&study, &[(1, 2, false)]), &study, &()).unwrap();
    let batch = batch_of(&path);
    let schema = batch.schema();
    let marks = |name: &str| {
        let marks = schema.field_with_name(name).unwrap().metadata();
        let marks: BTreeMap<_, _> = marks.iter().collect();
        let marks = marks.iter().map(|(key, value)| format!("{key}={value}"));
        marks.collect::<Vec<_>>().join(" ")
    };
    let of = |role, kind, recode| {
        format!("hedgerow:recode={recode} hedgerow:role={role} hedgerow:type={kind}")
    };
    assert_eq!(marks("age"), of("quasi", "integer", "set"));
    assert_eq!(marks("age_low"), of("quasi", "integer", "range"));
    assert_eq!(marks("zip"), of("quasi", "category", "set"));
    assert_eq!(marks("disease"), of("sensitive", "category", "verbatim"));
    assert_eq!(
        marks("day_high"),
        "hedgerow:bound=high hedgerow:of=day hedgerow:recode=set hedgerow:role=quasi hedgerow:type=date"
    );
}

fn files_under(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    fn walk(root: &Path, at: &Path, all: &mut BTreeMap<String, Vec<u8>>) {
        for entry in std::fs::read_dir(at).unwrap() {
            let path: PathBuf = entry.unwrap().path();
            if path.is_dir() {
                walk(root, &path, all);
            } else {
                let name = path
                    .strip_prefix(root)
                    .unwrap()
                    .to_string_lossy()
                    .into_owned();
                all.insert(name, std::fs::read(&path).unwrap());
            }
        }
    }
    let mut all = BTreeMap::new();
    walk(folder, folder, &mut all);
    all
}

#[test]
fn a_folder_holds_the_files_of_its_study_and_the_same_bytes_each_time() {
    let vertical = STUDY
        .replace("horizontal", "vertical")
        .replace("[algorithm]\nrecode = \"set\"\n", "")
        .replace("recode = \"range\"\n", "");
    for text in [STUDY, &vertical] {
        let study = study_of(text);
        let mut release = release_of(&study, &[(3, 9, false), (3, 9, false), (100, 100, true)]);
        if study.is_fragmented() {
            let columns = release.columns().to_vec();
            release = Release::fragmented(Arc::clone(&study.schema), columns, &[1, 1, 2]);
        }
        let folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
        for folder in &folders {
            write_folder(folder.path(), &release, &study, &()).unwrap();
        }
        let found = files_under(folders[0].path());
        assert_eq!(found, files_under(folders[1].path()));
        let mut files = study.release_files();
        files.sort_unstable();
        assert_eq!(found.keys().cloned().collect::<Vec<_>>(), files);
        let tree = Taxonomy::from_bytes(&found["taxonomies/zip.csv"], "zip.csv").unwrap();
        assert_eq!(Some(&tree), study.schema.attributes()[3].domain.taxonomy());
    }
    let study = study_of(STUDY);
    assert_eq!(
        study.release_files(),
        [
            "release.csv",
            "release.parquet",
            "datapackage.json",
            "taxonomies/zip.csv",
            "taxonomies/disease.csv",
        ]
    );
    assert_eq!(
        study_of(&vertical).release_tables(),
        [
            "quasi.csv",
            "sensitive-disease.csv",
            "sensitive-stay.csv",
            "other-cost.csv",
            "other-lactate.csv",
        ]
    );
}

#[test]
fn the_package_says_what_the_tables_hold() {
    let study = study_of(STUDY);
    let release = release_of(&study, &[(3, 9, false), (31, 1, true)]);
    let folder = tempfile::tempdir().unwrap();
    write_folder(folder.path(), &release, &study, &()).unwrap();
    let text = std::fs::read(folder.path().join("datapackage.json")).unwrap();
    let package: serde_json::Value = serde_json::from_slice(&text).unwrap();
    assert_eq!(package["profile"], "tabular-data-package");
    assert_eq!(package["name"], "flu___co");
    assert_eq!(package["title"], "Flu & co");
    let table = &package["resources"][0];
    assert_eq!(package["resources"].as_array().unwrap().len(), 1);
    assert_eq!(table["path"], "release.csv");
    assert_eq!(table["profile"], "tabular-data-resource");
    let csv = std::fs::read(folder.path().join("release.csv")).unwrap();
    assert_eq!(table["bytes"], csv.len());
    let hash = table["hash"].as_str().unwrap();
    assert!(hash.starts_with("sha256:") && hash.len() == 71, "{hash}");
    // `b` is also a place: what is missing in `cost` is missing in the whole table, so `cost` is text.
    assert_eq!(
        table["schema"]["missingValues"],
        serde_json::json!(["", "?"])
    );
    let fields = table["schema"]["fields"].as_array().unwrap();
    let header = String::from_utf8(csv).unwrap();
    let header = header.lines().next().unwrap();
    let names: Vec<&str> = fields
        .iter()
        .map(|field| field["name"].as_str().unwrap())
        .collect();
    assert_eq!(names.join(","), header);
    let kinds: Vec<&str> = fields
        .iter()
        .map(|field| field["type"].as_str().unwrap())
        .collect();
    assert_eq!(
        kinds,
        [
            "string", "string", "string", "string", "string", "integer", "string", "string",
            "number"
        ]
    );
    assert_eq!(
        fields[4]["constraints"],
        serde_json::json!({ "enum": ["flu", "'@ulcer"] })
    );
    assert_eq!(
        fields[5]["constraints"],
        serde_json::json!({ "minimum": 0, "maximum": 30 })
    );
    assert_eq!(
        fields[8]["constraints"],
        serde_json::json!({ "minimum": "0.5", "maximum": "9.5" })
    );
    assert_eq!(fields[8]["hedgerow:type"], "decimal");
    assert_eq!(fields[3]["hedgerow:role"], "quasi");
    assert!(
        fields[3]["description"]
            .as_str()
            .unwrap()
            .contains("taxonomies/zip.csv")
    );
}

#[test]
fn the_package_of_fragments_says_how_they_are_joined() {
    let text = STUDY
        .replace("horizontal", "vertical")
        .replace("[algorithm]\nrecode = \"set\"\n", "")
        .replace("recode = \"range\"\n", "");
    let study = study_of(&text);
    let release = release_of(&study, &[(3, 9, false), (31, 1, true)]);
    let columns = release.columns().to_vec();
    let release = Release::fragmented(Arc::clone(&study.schema), columns, &[1, 2]);
    let folder = tempfile::tempdir().unwrap();
    write_folder(folder.path(), &release, &study, &()).unwrap();
    let text = std::fs::read(folder.path().join("datapackage.json")).unwrap();
    let package: serde_json::Value = serde_json::from_slice(&text).unwrap();
    let tables = package["resources"].as_array().unwrap();
    let paths: Vec<&str> = tables
        .iter()
        .map(|table| table["path"].as_str().unwrap())
        .collect();
    assert_eq!(paths, study.release_tables());
    for table in tables {
        let group = &table["schema"]["fields"][0];
        assert_eq!(
            (&group["name"], &group["type"]),
            (&"group".into(), &"integer".into())
        );
        assert!(table["schema"].get("foreignKeys").is_none());
    }
    // Alone in its table, what is missing in `cost` means nothing else.
    assert_eq!(tables[3]["schema"]["fields"][1]["type"], "integer");
    assert_eq!(
        tables[3]["schema"]["missingValues"],
        serde_json::json!(["", "b"])
    );
    let description = package["description"].as_str().unwrap();
    assert!(description.contains("Join group totals"), "{description}");
}
