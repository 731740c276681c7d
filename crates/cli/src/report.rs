//! `hedgerow report`: a release as a privacy officer reads it, in one HTML file that loads nothing.

use std::path::PathBuf;
use std::sync::Arc;

use hedgerow::{Error, FolderRefused, Questions, Release, Report, Study, Table};
use serde_json::Value;

use crate::error::CliError;
use crate::output::{Answer, see_replaceable, talk};
use crate::progress::Terminal;

/// Write a report of a release for the privacy officer: one HTML file, and the same as text.
#[derive(clap::Args)]
#[command(
    after_help = "Exit codes: 0 the release holds, 1 it does not (the report is written all the same), 2 bad input.
Examples:
  hedgerow report release-1
  hedgerow report release-1 --study study.toml
  hedgerow report release-1 --study study.toml --own patients.csv --out for-us.html
  hedgerow report release-1 --study study.toml --original patients.csv --out for-us.html"
)]
pub(crate) struct Arguments {
    /// The release folder.
    release: PathBuf,
    /// The study it is a release of: without it, columns and requirement are what the manifest says, and
    /// who signed is not shown.
    #[arg(long)]
    study: Option<PathBuf>,
    /// The report. The one in the release folder is part of the release, and stays as it is.
    #[arg(long, value_name = "FILE", default_value = "report.html")]
    out: PathBuf,
    /// The original table, all rows of the release: for the entropy loss, how many records were unique before,
    /// and distributions before and after. The report then has counts of these rows, and is not to be passed on.
    #[arg(long, value_name = "TABLE", requires = "study")]
    original: Option<PathBuf>,
    /// This site's own rows of the run: for distributions before and after, and what the site would lose alone.
    /// The report then has counts of these rows, and is for this site.
    #[arg(
        long,
        value_name = "TABLE",
        requires = "study",
        conflicts_with = "original"
    )]
    own: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Answer, CliError> {
    if !arguments.release.is_dir() {
        let path = arguments.release.clone();
        return Err(CliError::Engine(FolderRefused::NoFolder { path }.into()));
    }
    see_replaceable(&arguments.out, "<!DOCTYPE html>")?;
    let study = arguments.study.as_ref().map(Study::open).transpose()?;
    let mut release = Release::open(&arguments.release)?;
    if let Some(study) = study {
        release = release.with_study(study);
    }
    let questions = Questions {
        original: arguments.original.clone().map(Table::file),
        observer: Arc::new(Terminal::default()),
        ..Questions::default()
    };
    let report = match &arguments.own {
        Some(own) => Report::for_site(&release, &questions, own),
        None => Report::of(&release, &questions),
    };
    let report = match report {
        // Files that differ from what was signed are an answer to the question, not an error.
        Err(Error::Tampered(tampered)) => return Ok(Answer::of(&*tampered, false)),
        report => report?,
    };
    let path = &arguments.out;
    report.write(path)?;
    if report.is_for_the_site() {
        talk(&format!(
            "warning: {} has counts of the rows that you gave, which may be of one person: keep it to yourself; the report in the folder of the release has none",
            path.display()
        ));
    }
    let text = format!("{report}\nreport: {}\n", path.display());
    let mut value = serde_json::to_value(&report).unwrap_or_default();
    value["report"] = Value::from(path.display().to_string());
    Ok(Answer::new(text, &value, report.holds()))
}
