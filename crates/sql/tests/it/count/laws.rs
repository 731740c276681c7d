//! DataFusion = Ballista = PostgreSQL = the file, on random tables with odd spellings.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::{
    ArrayRef, BooleanArray, Date32Array, Decimal128Array, DictionaryArray, Float64Array,
    Int16Array, Int64Array, LargeStringArray, StringArray, TimestampMillisecondArray, UInt8Array,
};
use arrow::datatypes::Int8Type;
use hedgerow_data::{Schema, Table};
use hedgerow_node::source::{Password, Postgres, Rows};
use hedgerow_sql::count::Engine;
use hedgerow_testing::PostgresServer;
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use super::cluster::Cluster;
use super::{as_read, counted, counted_here, schema, write_parquet};

const STUDY: &str = "[study]
name = \"ward\"
partition = \"horizontal\"

[[attribute]]
name = \"Alter, \\\"Jahre\\\"\"
role = \"quasi\"
type = \"integer\"
range = [-5, 120]
missing = [\"\", \"NA\"]

[[attribute]]
name = \"fever\"
role = \"quasi\"
type = \"decimal\"
range = [-1.0, 43.0]
step = 0.1
missing = \"NA\"

[[attribute]]
name = \"came\"
role = \"quasi\"
type = \"date\"
range = [\"1960-01-01\", \"2024-12-31\"]
missing = \"NA\"

[[attribute]]
name = \"smokes\"
role = \"quasi\"
type = \"boolean\"
missing = \"NA\"

[[attribute]]
name = \"code\"
role = \"quasi\"
values = [\"007\", \"7\", \"07.0\", \"a,b\", \"say \\\"so\\\"\", \"ü\", \"U\", \"u\", \" u\", \"\"]

[[attribute]]
name = \"ill\"
role = \"sensitive\"
values = [\"true\", \"false\", \"1e3\", \"1000\", \"NULL\", \"\"]
";

/// A record: each value in the ways in which tables spell it, or none.
#[derive(Debug, Clone)]
struct Record {
    age: Option<i64>,
    /// In tenths.
    fever: Option<i64>,
    /// In days since 1970.
    came: Option<i32>,
    smokes: Option<bool>,
    code: &'static str,
    ill: &'static str,
}

const CODES: [&str; 10] = [
    "007",
    "7",
    "07.0",
    "a,b",
    "say \"so\"",
    "ü",
    "U",
    "u",
    " u",
    "",
];
const ILL: [&str; 6] = ["true", "false", "1e3", "1000", "NULL", ""];

fn drawn(random: &mut ChaCha8Rng, rows: usize) -> Vec<Record> {
    let record = |random: &mut ChaCha8Rng| Record {
        age: random.random_bool(0.9).then(|| random.random_range(-5..4)),
        fever: random.random_bool(0.9).then(|| random.random_range(-2..3)),
        came: random.random_bool(0.9).then(|| random.random_range(-3..3)),
        smokes: random.random_bool(0.9).then(|| random.random_bool(0.5)),
        code: CODES[random.random_range(0..CODES.len())],
        ill: ILL[random.random_range(0..ILL.len())],
    };
    (0..rows).map(|_| record(random)).collect()
}

const AGE: &str = "Alter, \"Jahre\"";

/// The records as CSV, each spelled in one of its ways.
fn write_csv(path: &Path, records: &[Record], delimiter: char, random: &mut ChaCha8Rng) {
    let field = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
    let header = [AGE, "fever", "came", "smokes", "code", "ill"].map(field);
    let mut text = format!("{}\n", header.join(&delimiter.to_string()));
    for record in records {
        let age = match record.age {
            None => ["", "NA"][random.random_range(0..2)].to_owned(),
            Some(age) => age.to_string(),
        };
        let fever = match record.fever {
            None => String::from("NA"),
            Some(tenths) => {
                let sign = if tenths < 0 { "-" } else { "" };
                let plain = format!("{sign}{}.{}", tenths.abs() / 10, tenths.abs() % 10);
                match random.random_range(0..3) {
                    0 => format!("{plain}0"),
                    1 if tenths == 0 => String::from("-0"),
                    _ => plain,
                }
            }
        };
        let came = record.came.map_or_else(|| String::from("NA"), day);
        let smokes = match record.smokes {
            None => "NA",
            Some(true) => ["true", "yes", "1"][random.random_range(0..3)],
            Some(false) => ["false", "no", "0"][random.random_range(0..3)],
        };
        let line = [
            age,
            fever,
            came,
            smokes.to_owned(),
            record.code.to_owned(),
            record.ill.to_owned(),
        ];
        let line =
            line.map(
                |value| match random.random_bool(0.5) || value.contains(['"', delimiter]) {
                    true => field(&value),
                    false => value,
                },
            );
        text.push_str(&line.join(&delimiter.to_string()));
        text.push_str(if random.random_bool(0.5) {
            "\r\n"
        } else {
            "\n"
        });
    }
    std::fs::write(path, text).unwrap();
}

fn day(days: i32) -> String {
    let day = chrono::NaiveDate::from_ymd_opt(1970, 1, 1).unwrap();
    let day = day + chrono::TimeDelta::days(i64::from(days));
    day.to_string()
}

/// The records as Parquet, by one of several layouts.
fn write_typed(path: &Path, records: &[Record], layout: usize) {
    let each = records.iter();
    let smokes: ArrayRef = Arc::new(
        each.clone()
            .map(|record| record.smokes)
            .collect::<BooleanArray>(),
    );
    let texts = |of: fn(&Record) -> &str| -> Vec<String> {
        records.iter().map(|record| of(record).to_owned()).collect()
    };
    let (codes, ill) = (texts(|record| record.code), texts(|record| record.ill));
    let float = |tenths: i64| match tenths {
        // Nobody can tell them apart by their values.
        0 => -0.0,
        tenths => tenths as f64 / 10.0,
    };
    let columns: Vec<(&str, ArrayRef)> = match layout {
        0 => vec![
            (
                AGE,
                Arc::new(
                    each.clone()
                        .map(|record| record.age)
                        .collect::<Int64Array>(),
                ),
            ),
            (
                "fever",
                Arc::new(
                    each.clone()
                        .map(|record| record.fever.map(float))
                        .collect::<Float64Array>(),
                ),
            ),
            (
                "came",
                Arc::new(
                    each.clone()
                        .map(|record| record.came)
                        .collect::<Date32Array>(),
                ),
            ),
            ("smokes", smokes),
            (
                "code",
                Arc::new(
                    codes
                        .iter()
                        .map(|code| Some(code.as_str()))
                        .collect::<DictionaryArray<Int8Type>>(),
                ),
            ),
            ("ill", Arc::new(StringArray::from(ill))),
        ],
        _ => {
            let decimals: Decimal128Array = each
                .clone()
                .map(|record| record.fever.map(i128::from))
                .collect();
            // Late on the day, also before 1970.
            let moments: TimestampMillisecondArray = each
                .clone()
                .map(|record| {
                    record
                        .came
                        .map(|day| i64::from(day) * 86_400_000 + 86_399_999)
                })
                .collect();
            vec![
                (
                    AGE,
                    Arc::new(
                        each.clone()
                            .map(|record| record.age.map(|age| age as i16))
                            .collect::<Int16Array>(),
                    ),
                ),
                (
                    "fever",
                    Arc::new(decimals.with_precision_and_scale(10, 1).unwrap()),
                ),
                ("came", Arc::new(moments)),
                ("smokes", smokes),
                ("code", Arc::new(LargeStringArray::from(codes))),
                ("ill", Arc::new(StringArray::from(ill))),
            ]
        }
    };
    write_parquet(path, columns);
}

/// The records cut into files.
fn cut(records: &[Record], random: &mut ChaCha8Rng) -> Vec<Vec<Record>> {
    let mut rest = records;
    let mut files = Vec::new();
    while !rest.is_empty() {
        let (file, after) = rest.split_at(random.random_range(1..=rest.len()));
        files.push(file.to_vec());
        rest = after;
    }
    files
}

/// One folder of files for each way in which engines find tables.
fn folders(records: &[Record], random: &mut ChaCha8Rng, whole: &Path) -> Vec<PathBuf> {
    let mut folders = Vec::new();
    for way in ["csv", "semicolons", "integers", "decimals"] {
        let folder = whole.join(way);
        std::fs::create_dir(&folder).unwrap();
        for (place, file) in cut(records, random).iter().enumerate() {
            let path = |end: &str| folder.join(format!("part [{place}]*.{end}"));
            match way {
                "csv" => write_csv(&path("csv"), file, ',', random),
                "semicolons" => write_csv(&path("csv"), file, ';', random),
                "integers" => write_typed(&path("parquet"), file, 0),
                _ => write_typed(&path("parquet"), file, 1),
            }
        }
        folders.push(folder);
    }
    folders
}

#[tokio::test(flavor = "multi_thread")]
async fn datafusion_counts_what_the_file_gives() {
    let schema = schema(STUDY);
    for seed in 0..12 {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let records = drawn(&mut random, 1 + seed as usize * 40);
        let folder = tempfile::tempdir().unwrap();
        let folders = folders(&records, &mut random, folder.path());
        let expected = as_read(&folders[0], &schema).unwrap();
        assert_eq!(expected.records(), records.len() as u64);
        for folder in folders {
            assert_eq!(as_read(&folder, &schema).unwrap(), expected, "{folder:?}");
            let table = counted_here(std::slice::from_ref(&folder), &schema).await;
            assert_eq!(table.unwrap(), expected, "{seed} {folder:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn datafusion_ballista_and_postgresql_count_alike() {
    let schema = schema(STUDY);
    let mut random = ChaCha8Rng::seed_from_u64(77);
    let records = drawn(&mut random, 700);
    let folder = tempfile::tempdir().unwrap();
    let folders = folders(&records, &mut random, folder.path());
    let expected = as_read(&folders[0], &schema).unwrap();
    let cluster = Cluster::start(2);
    for folder in &folders {
        let engine = Engine::Scheduler {
            address: cluster.address(),
            anywhere: false,
        };
        let (table, _) = counted(engine, std::slice::from_ref(folder), &schema)
            .await
            .unwrap();
        assert_eq!(table, expected, "{folder:?}");
    }
    if let Some(table) = counted_by_postgresql(&records, &schema).await {
        assert_eq!(table, expected);
    }
}

/// The records counted by PostgreSQL, where there is one.
async fn counted_by_postgresql(records: &[Record], schema: &Arc<Schema>) -> Option<Table> {
    let server = PostgresServer::start("", |_| {})?;
    let quoted = |text: &str| format!("'{}'", text.replace('\'', "''"));
    let or_null = |text: Option<String>| text.unwrap_or_else(|| String::from("NULL"));
    let rows = records.iter().map(|record| {
        format!(
            "({}, {}, {}, {}, {}, {})",
            or_null(record.age.map(|age| age.to_string())),
            or_null(
                record
                    .fever
                    .map(|tenths| format!("round({tenths} / 10.0, 1)"))
            ),
            or_null(record.came.map(|days| quoted(&day(days)))),
            or_null(record.smokes.map(|smokes| smokes.to_string())),
            quoted(record.code),
            quoted(record.ill)
        )
    });
    let rows: Vec<String> = rows.collect();
    server.query(&format!(
        "CREATE TABLE ward (\"Alter, \"\"Jahre\"\"\" int, fever numeric, came date, smokes bool, code text, ill text, other text);
         INSERT INTO ward VALUES {}",
        rows.join(", ")
    ));
    let password = server.folder.path().join("own-password");
    std::fs::write(&password, "swordfish\n").unwrap();
    let owner = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    std::fs::set_permissions(&password, owner).unwrap();
    let database = Postgres {
        host: String::from("127.0.0.1"),
        port: server.port,
        database: String::from("postgres"),
        user: String::from("reader"),
        password: Some(Password::File(password)),
        tls: None,
        rows: Rows::Table(vec![String::from("ward")]),
        count: true,
    };
    let table = database.table(schema).await.unwrap();
    // Row by row, the same database gives the same.
    let single = Postgres {
        count: false,
        ..database
    };
    let single = single.table(schema).await.unwrap();
    assert_eq!(single.into_counted().unwrap(), table);
    Some(table)
}

/// A value that the study does not know is told with an example, by whatever counts.
#[tokio::test]
async fn unknown_values_are_told_as_from_a_file() {
    let schema = schema(
        "[study]\nname = \"ward\"\npartition = \"horizontal\"\n[[attribute]]\nname = \"age\"\nrole = \"quasi\"\ntype = \"integer\"\nrange = [0, 9]\n[[attribute]]\nname = \"ill\"\nrole = \"sensitive\"\nvalues = [\"yes\", \"no\"]\n",
    );
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ward.parquet");
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("age", Arc::new(UInt8Array::from(vec![3, 200, 4]))),
        ("ill", Arc::new(StringArray::from(vec!["yes", "no", "no"]))),
    ];
    write_parquet(&path, columns);
    let here = counted_here(std::slice::from_ref(&path), &schema)
        .await
        .unwrap_err();
    let read = as_read(&path, &schema).unwrap_err();
    let told = "column `age`: value `200` is outside the integers 0 to 9";
    assert!(here.contains(told), "{here}");
    assert!(read.contains(told), "{read}");
}
