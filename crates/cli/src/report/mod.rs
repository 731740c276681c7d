//! `hedgerow report`: a release as a privacy officer reads it, in one HTML file that loads nothing.
//!
//! The verdict first, then what it rests on. Everything about the release itself is measured anew;
//! only the ledger and the cost are taken from the manifest, since a release does not show them.

mod facts;
mod html;
mod markup;
mod plots;
mod text;
mod words;

use std::io::Write as _;
use std::path::{Path, PathBuf};

use hedgerow_data::Study;
use hedgerow_data::files::{FileError, OutputFile};
use serde_json::{Value, json};

use crate::error::CliError;
use crate::output::Answer;
use crate::verify;

use facts::Facts;

/// Its name in the folder of a release.
const FILE: &str = "report.html";

/// Write a report of a release for the privacy officer: one HTML file, and the same as text.
#[derive(clap::Args)]
#[command(
    after_help = "Exit codes: 0 the release holds, 1 it does not (the report is written all the same), 2 bad input.
Examples:
  hedgerow report release-1 --study study.toml
  hedgerow report release-1 --study study.toml --original patients.csv --out report.html"
)]
pub(crate) struct Arguments {
    /// The release folder.
    release: PathBuf,
    /// The study it is a release of.
    #[arg(long)]
    study: PathBuf,
    /// The report; report.html in the release folder if not given.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// The original table, for the entropy loss and how many records were unique before.
    #[arg(long, value_name = "TABLE")]
    original: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Answer, CliError> {
    if !arguments.release.is_dir() {
        return Err(CliError::Usage(format!(
            "{}: is no release folder\nhint: name the folder that holds release.csv and manifest.json; hedgerow verify looks at a file alone",
            arguments.release.display()
        )));
    }
    let original = arguments.original.as_deref();
    let facts = look(&arguments.release, &arguments.study, original)?;
    let path = match &arguments.out {
        Some(path) => path.clone(),
        None => arguments.release.join(FILE),
    };
    save(&path, &facts)?;
    let text = format!(
        "{}\nreport: {}\n",
        text::text(&arguments.release, &facts),
        path.display()
    );
    let mut value = serde_json::to_value(&facts.report).unwrap_or_default();
    value["study"] = facts.study.as_str().into();
    value["class_sizes"] = json!(facts.sizes);
    for key in ["ledger", "cost"] {
        if let Some(said) = facts.manifest(key) {
            value[key] = said.clone();
        }
    }
    value["report"] = Value::from(path.display().to_string());
    let holds = facts.report.verdict.holds.unwrap_or(true);
    Ok(Answer::new(text, &value, holds))
}

/// Writes the report of a release into its folder.
pub(crate) fn write(folder: &Path, study: &Path) -> Result<(), CliError> {
    save(&folder.join(FILE), &look(folder, study, None)?)
}

fn look(folder: &Path, study: &Path, original: Option<&Path>) -> Result<Facts, CliError> {
    let report = verify::report(&verify::Arguments::of_folder(folder, study, original))?;
    Ok(Facts::new(&Study::open(study)?, report))
}

fn save(path: &Path, facts: &Facts) -> Result<(), CliError> {
    let page = html::page(facts)?;
    let mut file = OutputFile::create(path)?;
    file.write_all(page.as_bytes())
        .map_err(|error| FileError::Unwritable {
            file: path.display().to_string(),
            reason: error.to_string(),
        })?;
    Ok(file.finish()?)
}
