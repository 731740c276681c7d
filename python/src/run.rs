//! Runs: anonymize a table, simulate sites, compare choices.

use std::path::PathBuf;
use std::time::Duration;

use hedgerow::{Deal, Options, Outcome, Sites, Table};
use pyo3::prelude::*;
use serde::Serialize;

use crate::arrow::{Rows, given};
use crate::error::said;
use crate::look::rows_of;
use crate::study::Study;
use crate::work::work;

/// A release.
#[pyclass(module = "hedgerow._native", frozen)]
pub(crate) struct Release(pub(crate) hedgerow::Release);

#[pymethods]
impl Release {
    /// A release folder, or one file of a release.
    #[staticmethod]
    fn open(py: Python<'_>, path: PathBuf, study: Option<&Bound<'_, Study>>) -> PyResult<Self> {
        let release = hedgerow::Release::open(path);
        let release = release.map_err(|error| crate::error::raised(py, &error))?;
        Ok(Self(match study {
            Some(study) => release.with_study(Study::of(study)?),
            None => release,
        }))
    }

    /// Where the release lies.
    #[getter]
    fn path(&self) -> PathBuf {
        self.0.path().to_owned()
    }

    /// What the folder says of itself in its manifest, as JSON.
    fn manifest(&self, py: Python<'_>) -> PyResult<String> {
        let manifest = self
            .0
            .manifest()
            .map_err(|error| crate::error::raised(py, &error))?;
        Ok(json(&manifest))
    }

    /// The published table.
    fn table(&self, py: Python<'_>) -> PyResult<Rows> {
        rows_of(py, &self.0)
    }
}

/// What a run came to: whether the requirement holds, JSON, text, and the release.
type Came = (bool, String, String, Release);

fn came(outcome: &Outcome) -> Came {
    let summary = &outcome.summary;
    (
        summary.holds,
        json(summary),
        summary.to_string(),
        Release(outcome.release.clone()),
    )
}

/// JSON as the command prints it.
pub(crate) fn json(value: &impl Serialize) -> String {
    // Our own types have string keys and finite or null numbers, so this cannot fail.
    serde_json::to_string_pretty(value).unwrap_or_default()
}

fn options(seed: u64, out: Option<PathBuf>, force: bool) -> Options {
    let options = Options::new().seed(seed).force(force);
    match out {
        Some(folder) => options.out(folder),
        None => options,
    }
}

/// Anonymizes a table: one party.
#[pyfunction]
#[pyo3(signature = (data, study, seed, out, force, provider_column, time, show))]
#[expect(clippy::too_many_arguments, reason = "Python names them")]
pub(crate) fn anonymize(
    py: Python<'_>,
    data: &Bound<'_, PyAny>,
    study: &Bound<'_, Study>,
    seed: u64,
    out: Option<PathBuf>,
    force: bool,
    provider_column: Option<String>,
    time: Option<f64>,
    show: Option<&Bound<'_, PyAny>>,
) -> PyResult<Came> {
    let table = given(data)?.table();
    let study = Study::of(study)?;
    let mut options = options(seed, out, force).beside();
    if let Some(column) = provider_column {
        options = options.provider_column(column);
    }
    if let Some(seconds) = time {
        options = options.time(duration(py, seconds)?);
    }
    let outcome = work(py, show, move |observer| {
        hedgerow::anonymize(&study, &table, &options.observer(Heard(observer)))
    })?;
    Ok(came(&outcome))
}

/// Simulates all sites of a study; also gives what each site learned, as JSON.
#[pyfunction]
#[pyo3(signature = (tables, study, sites, split, by, provider_column, columns, independent, seed, out, force, show))]
#[expect(clippy::too_many_arguments, reason = "Python names them")]
pub(crate) fn simulate(
    py: Python<'_>,
    tables: Vec<Bound<'_, PyAny>>,
    study: &Bound<'_, Study>,
    sites: Option<usize>,
    split: &str,
    by: Vec<String>,
    provider_column: Option<String>,
    columns: Option<Vec<Vec<String>>>,
    independent: bool,
    seed: u64,
    out: Option<PathBuf>,
    force: bool,
    show: Option<&Bound<'_, PyAny>>,
) -> PyResult<(Came, String)> {
    let tables = tables.iter().map(|table| Ok(given(table)?.table()));
    let mut tables = tables.collect::<PyResult<Vec<Table>>>()?;
    let study = Study::of(study)?;
    let sites = match (tables.len(), provider_column) {
        (1, Some(column)) if sites.is_none() => Sites::Named { table: tables.remove(0), column },
        (1, None) if study.is_vertical() && sites.is_none() => Sites::Columns { table: tables.remove(0), columns },
        (1, None) => Sites::Dealt {
            table: tables.remove(0),
            sites: sites.ok_or_else(|| {
                said(py, "StudyError", String::from("how many sites are there?\nhint: give sites = 3, provider_column = \"site\", or a list of tables"))
            })?,
            deal: deal(py, split, by)?,
        },
        (count, None) if sites.is_none_or(|sites| sites == count) => Sites::Tables(tables),
        _ => return Err(said(py, "StudyError", String::from("the number of sites is said twice\nhint: give one table and either sites or provider_column; or a list with the table of each site"))),
    };
    let mut options = options(seed, out, force);
    if independent {
        options = options.independent();
    }
    let simulation = work(py, show, move |observer| {
        hedgerow::simulate(&study, &sites, &options.observer(Heard(observer)))
    })?;
    Ok((came(&simulation.outcome), json(&simulation.ledgers)))
}

/// Compares the algorithms and recodings that a study may choose: whether any holds, JSON, text.
#[pyfunction]
#[pyo3(signature = (data, study, time, seed, provider_column, show))]
pub(crate) fn compare(
    py: Python<'_>,
    data: &Bound<'_, PyAny>,
    study: &Bound<'_, Study>,
    time: Option<f64>,
    seed: u64,
    provider_column: Option<String>,
    show: Option<&Bound<'_, PyAny>>,
) -> PyResult<(bool, String, String)> {
    let table = given(data)?.table();
    let study = Study::of(study)?;
    let mut options = options(seed, None, false);
    if let Some(seconds) = time {
        options = options.time(duration(py, seconds)?);
    }
    if let Some(column) = provider_column {
        options = options.provider_column(column);
    }
    let compared = work(py, show, move |observer| {
        hedgerow::compare(&study, &table, &options.observer(Heard(observer)))
    })?;
    Ok((compared.holds(), json(&compared), compared.to_string()))
}

fn duration(py: Python<'_>, seconds: f64) -> PyResult<Duration> {
    Duration::try_from_secs_f64(seconds)
        .map_err(|_| said(py, "StudyError", format!("{seconds} seconds are no time")))
}

fn deal(py: Python<'_>, split: &str, by: Vec<String>) -> PyResult<Deal> {
    match split {
        "round-robin" => Ok(Deal::RoundRobin),
        "random" => Ok(Deal::Random),
        "sorted" => Ok(Deal::Sorted),
        "exponential" => Ok(Deal::Exponential),
        "column" => Ok(Deal::Columns(by)),
        other => Err(said(
            py,
            "StudyError",
            format!(
                "there is no split `{other}`\nhint: round-robin, random, sorted, exponential, or column with by = [...]"
            ),
        )),
    }
}

/// An observer that is shared already.
struct Heard(hedgerow::SharedObserver);

impl hedgerow::Observer for Heard {
    fn begin(&self, work: hedgerow::Work<'_>) -> Box<dyn hedgerow::Watch> {
        self.0.begin(work)
    }

    fn notice(&self, notice: hedgerow::Notice) {
        self.0.notice(notice);
    }
}
