//! A ward of made-up patients, anonymized by the library with the hierarchies of the examples.

use std::fmt::Write as _;
use std::path::PathBuf;

use hedgerow::query::Released;
use hedgerow::{Options, Release, Study, Table, anonymize};
use hedgerow_sql::{Limits, Mode, ReleaseSource, Reply, Session, SqlError};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::Value;

const STUDY: &str = r#"[study]
name = "ward"
partition = "horizontal"
[[attribute]]
name = "patient"
role = "identifier"
[[attribute]]
name = "age"
role = "quasi"
type = "integer"
range = [0, 120]
missing = "NA"
[[attribute]]
name = "zip"
role = "quasi"
taxonomy = "zip.csv"
[[attribute]]
name = "seen"
role = "quasi"
type = "date"
range = ["2024-01-01", "2024-12-31"]
[[attribute]]
name = "disease"
role = "sensitive"
taxonomy = "disease.csv"
[[attribute]]
name = "Days"
role = "sensitive"
type = "integer"
range = [-5, 40]
[require]
k = 4
m = 0
[algorithm]
name = "ALGORITHM"
recode = "RECODE"
"#;

/// A record as it was before it was generalized.
#[derive(Debug, Clone)]
pub(crate) struct Raw {
    pub(crate) age: Option<i64>,
    pub(crate) zip: String,
    /// Days from the first of the year.
    pub(crate) seen: i64,
    pub(crate) disease: String,
    pub(crate) days: i64,
}

/// A release with the records that it was made of.
pub(crate) struct Ward {
    pub(crate) raw: Vec<Raw>,
    pub(crate) release: PathBuf,
    pub(crate) released: Released,
    pub(crate) zips: Vec<Vec<String>>,
    pub(crate) diseases: Vec<Vec<String>>,
    _folder: tempfile::TempDir,
}

fn examples() -> PathBuf {
    PathBuf::from(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../examples/stroke-registry"
    ))
}

/// The rows of a hierarchy: a value, and the nodes above.
fn hierarchy(file: &str) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(examples().join(file)).unwrap();
    let rows = text
        .lines()
        .map(|line| line.split(';').map(str::to_owned).collect());
    rows.collect()
}

/// A day of 2024, from its place in the year.
pub(crate) fn day(place: i64) -> String {
    let first = jiff::civil::date(2024, 1, 1);
    (first + jiff::Span::new().days(place)).to_string()
}

impl Ward {
    pub(crate) fn new(seed: u64, records: usize, recode: &str) -> Self {
        Self::made(seed, records, ("mondrian", recode), 1)
    }

    /// A ward by another algorithm, and with values of which the first are the more frequent the higher
    /// `skew` is.
    pub(crate) fn made(
        seed: u64,
        records: usize,
        (algorithm, recode): (&str, &str),
        skew: i32,
    ) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let (zips, diseases) = (hierarchy("zip.csv"), hierarchy("disease.csv"));
        let mut draw = |size: usize| (size as f64 * random.random::<f64>().powi(skew)) as usize;
        let raw: Vec<Raw> = (0..records)
            .map(|row| Raw {
                age: (row % 17 > 0).then(|| (draw(11) * draw(13)) as i64),
                zip: zips[draw(zips.len())][0].clone(),
                seen: draw(366) as i64,
                disease: diseases[draw(diseases.len())][0].clone(),
                days: draw(46) as i64 - 5,
            })
            .collect();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pool.csv");
        let mut text = String::from("patient,age,zip,seen,disease,Days\n");
        for (row, raw) in raw.iter().enumerate() {
            let age = raw.age.map_or("NA".into(), |age| age.to_string());
            let (zip, seen, disease, days) = (&raw.zip, day(raw.seen), &raw.disease, raw.days);
            writeln!(text, "p{row},{age},{zip},{seen},{disease},{days}").unwrap();
        }
        std::fs::write(&path, text).unwrap();
        let study = Study::parse(
            STUDY
                .replace("ALGORITHM", algorithm)
                .replace("RECODE", recode),
            examples(),
        )
        .unwrap();
        let release = folder.path().join("release");
        let options = Options::new().out(&release);
        anonymize(&study, &Table::file(path), &options).unwrap();
        let released = Released::open(&Release::open(&release).unwrap(), &()).unwrap();
        Self {
            raw,
            release,
            released,
            zips,
            diseases,
            _folder: folder,
        }
    }

    pub(crate) fn session(&self, mode: Mode) -> Session {
        let source = ReleaseSource::open(&self.release).unwrap();
        let mut session = Session::new(source, Limits::default()).unwrap();
        session.set_mode(mode);
        session
    }

    pub(crate) fn ask(&self, mode: Mode, sql: &str) -> Vec<Vec<Value>> {
        let reply = ask(&mut self.session(mode), sql);
        rows(&reply.unwrap_or_else(|error| panic!("{sql}: {error}")))
    }

    pub(crate) fn refusal(&self, sql: &str) -> String {
        match ask(&mut self.session(Mode::Estimate), sql) {
            Ok(reply) => format!("it is answered: {:?}", rows(&reply)),
            Err(error) if error.is_refusal() => error.to_string(),
            Err(error) => format!("it is no refusal: {error:?}"),
        }
    }
}

pub(crate) fn ask(session: &mut Session, sql: &str) -> Result<Reply, SqlError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(session.run(sql))
}

/// The rows of an answer, cell by cell.
pub(crate) fn rows(reply: &Reply) -> Vec<Vec<Value>> {
    let json = reply.json().unwrap();
    let rows = json["rows"].as_array().unwrap().iter();
    rows.map(|row| row.as_object().unwrap().values().cloned().collect())
        .collect()
}

/// The names of an answer's columns.
pub(crate) fn columns(reply: &Reply) -> Vec<String> {
    let fields = reply.schema().fields().iter();
    fields.map(|field| field.name().clone()).collect()
}
