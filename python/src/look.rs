//! A look at releases: verify, attack, report, and their rows as Arrow.

use std::fs::File;
use std::path::PathBuf;

use hedgerow::attacks::Attack;
use hedgerow::{Questions, Report, Suspicion};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use pyo3::prelude::*;

use crate::arrow::{Given, Rows, given};
use crate::error::said;
use crate::run::{Release, json};
use crate::study::Study;
use crate::work::work;

/// A table that may be given.
fn table(object: Option<&Bound<'_, PyAny>>) -> PyResult<Option<hedgerow::Table>> {
    object.map(|object| Ok(given(object)?.table())).transpose()
}

/// What is looked at.
enum Looked {
    Release(hedgerow::Release),
    Table(hedgerow::Table, Option<hedgerow::Study>),
}

/// Verifies a release, the file of one, or a table: whether what is required holds, JSON, text.
#[pyfunction]
#[pyo3(signature = (data, study, quasi, sensitive, require, provider_column, ignore, original, passes_over, show))]
#[expect(clippy::too_many_arguments, reason = "Python names them")]
pub(crate) fn verify(
    py: Python<'_>,
    data: &Bound<'_, PyAny>,
    study: Option<&Bound<'_, Study>>,
    quasi: Vec<String>,
    sensitive: Vec<String>,
    require: Option<String>,
    provider_column: Option<String>,
    ignore: Vec<String>,
    original: Option<&Bound<'_, PyAny>>,
    passes_over: bool,
    show: Option<&Bound<'_, PyAny>>,
) -> PyResult<(bool, String, String)> {
    let study = study.map(Study::of).transpose()?;
    let with_study = |release: hedgerow::Release| match &study {
        Some(study) => release.with_study(study.clone()),
        None => release,
    };
    let looked = match data.cast::<Release>() {
        Ok(release) => Looked::Release(with_study(release.get().0.clone())),
        Err(_) => match given(data)? {
            Given::Path(path) => {
                let release = hedgerow::Release::open(path);
                let release = release.map_err(|error| crate::error::raised(py, &error))?;
                Looked::Release(with_study(release))
            }
            Given::Rows(table) => Looked::Table(table, study),
        },
    };
    let questions = Questions {
        against: require,
        quasi,
        sensitive,
        provider_column,
        ignore,
        original: table(original)?,
        passes_over,
        ..Questions::default()
    };
    work(py, show, move |observer| {
        let questions = Questions {
            observer,
            ..questions
        };
        let verdict = match &looked {
            Looked::Release(release) => hedgerow::verify(release, &questions),
            Looked::Table(table, study) => {
                hedgerow::verify_table(table, study.as_ref(), &questions)
            }
        }?;
        Ok((verdict.holds(), json(&verdict), verdict.to_string()))
    })
}

/// The report of a release: whether it holds, its page of HTML, JSON, text.
#[pyfunction]
#[pyo3(signature = (release, original, show))]
pub(crate) fn report(
    py: Python<'_>,
    release: &Bound<'_, Release>,
    original: Option<&Bound<'_, PyAny>>,
    show: Option<&Bound<'_, PyAny>>,
) -> PyResult<(bool, String, String, String)> {
    let release = release.get().0.clone();
    let original = table(original)?;
    work(py, show, move |observer| {
        let questions = Questions {
            original,
            observer,
            ..Questions::default()
        };
        let report = Report::of(&release, &questions)?;
        Ok((
            report.holds(),
            report.html().to_owned(),
            json(&report),
            report.to_string(),
        ))
    })
}

/// Attacks a release: whether it passes, JSON, text.
#[pyfunction]
#[pyo3(signature = (release, own, holdout, earlier, provider_column, skip, limits, show))]
#[expect(clippy::too_many_arguments, reason = "Python names them")]
pub(crate) fn gate(
    py: Python<'_>,
    release: &Bound<'_, Release>,
    own: Vec<Bound<'_, PyAny>>,
    holdout: Option<&Bound<'_, PyAny>>,
    earlier: Vec<PathBuf>,
    provider_column: Option<String>,
    skip: Vec<String>,
    limits: Vec<(String, f64)>,
    show: Option<&Bound<'_, PyAny>>,
) -> PyResult<(bool, String, String)> {
    let named = |name: &String| {
        Attack::named(name).ok_or_else(|| {
            let names = Attack::ALL.map(Attack::name).join(", ");
            said(
                py,
                "StudyError",
                format!("there is no attack `{name}`\nhint: one of {names}"),
            )
        })
    };
    let suspicion = Suspicion {
        own: own
            .iter()
            .map(|own| Ok(given(own)?.table()))
            .collect::<PyResult<_>>()?,
        holdout: table(holdout)?,
        earlier,
        provider_column,
        skip: skip.iter().map(named).collect::<PyResult<_>>()?,
        limits: limits
            .iter()
            .map(|(name, share)| Ok((named(name)?, *share)))
            .collect::<PyResult<_>>()?,
        ..Suspicion::default()
    };
    let release = release.get().0.clone();
    work(py, show, move |observer| {
        let suspicion = Suspicion {
            observer,
            ..suspicion
        };
        let gated = hedgerow::gate(&release, &suspicion)?;
        Ok((gated.holds, json(&gated), gated.to_string()))
    })
}

/// The rows of a Parquet file.
#[pyfunction]
pub(crate) fn release_table(py: Python<'_>, path: PathBuf) -> PyResult<Rows> {
    let unreadable = |reason: String| {
        said(
            py,
            "ReleaseError",
            format!("{}: cannot be read: {reason}", path.display()),
        )
    };
    let file = File::open(&path).map_err(|error| unreadable(error.to_string()))?;
    let builder = ParquetRecordBatchReaderBuilder::try_new(file);
    let builder = builder.map_err(|error| unreadable(error.to_string()))?;
    let schema = builder.schema().clone();
    let batches = builder
        .build()
        .map_err(|error| unreadable(error.to_string()))?;
    let batches: Result<Vec<_>, _> = batches.collect();
    Ok(Rows::new(
        String::from("the release"),
        schema,
        batches.map_err(|error| unreadable(error.to_string()))?,
    ))
}

/// The rows of a release.
pub(crate) fn rows_of(py: Python<'_>, release: &hedgerow::Release) -> PyResult<Rows> {
    let path = release.path();
    let file = match path.is_dir() {
        true => path.join("release.parquet"),
        false => path.to_owned(),
    };
    let is_parquet = file.extension().is_some_and(|end| end == "parquet");
    if is_parquet && file.exists() {
        return release_table(py, file);
    }
    let (what, hint) = match (is_parquet, path.join("quasi.csv").exists()) {
        (false, _) => (
            "is no Parquet file",
            "open the folder of the release, or its release.parquet",
        ),
        (true, true) => (
            "is not one table",
            "the sites hold the same people, and the release is several tables: read quasi.csv and the files beside it",
        ),
        (true, false) => (
            "there is no release.parquet",
            "name the folder of a release",
        ),
    };
    let message = format!("{}: {what}\nhint: {hint}", path.display());
    Err(said(py, "ReleaseError", message))
}
