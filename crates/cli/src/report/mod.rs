//! `hedgerow report`: a release as a privacy officer reads it, in one HTML file that loads nothing.
//!
//! The verdict first, then what it rests on. Everything about the release itself is measured anew;
//! only the ledger, the cost and how the loss fell are taken from the manifest, since a release does
//! not show them.

mod beside;
mod facts;
mod html;
mod markup;
mod plots;
mod shared;
mod text;
mod words;

use std::io::Write as _;
use std::path::{Path, PathBuf};

use hedgerow_data::files::{FileError, OutputFile};
use serde_json::{Value, json};

use crate::error::CliError;
use crate::opened::Opened;
use crate::output::Answer;
use crate::{manifest, verify};

use facts::Facts;

/// Its name in the folder of a release.
pub(crate) const FILE: &str = "report.html";

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
    /// The report. The one in the release folder is part of the release, and stays as it is.
    #[arg(long, value_name = "FILE", default_value = FILE)]
    out: PathBuf,
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
    let opened = Opened::open(&arguments.study)?;
    let original = arguments.original.as_deref();
    let asked = verify::Arguments::of_folder(&arguments.release, original);
    let facts = Facts::new(&opened, verify::report(&asked, &opened)?);
    let path = &arguments.out;
    let page = html::page(&facts)?;
    if !is_there(path, &page) {
        refuse_in(&arguments.release, path)?;
        save(path, &page)?;
    }
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

/// Writes the report of a release into its folder, which is not sealed yet.
pub(crate) fn write(folder: &Path, opened: &Opened, manifest: &Value) -> Result<(), CliError> {
    let report = verify::unsealed(folder, opened, manifest)?;
    let page = html::page(&Facts::new(opened, report))?;
    save(&folder.join(FILE), &page)
}

/// Whether a file says just this.
fn is_there(path: &Path, page: &str) -> bool {
    std::fs::read(path).is_ok_and(|found| found == page.as_bytes())
}

/// Nothing is written into a release that has a manifest: it is closed.
fn refuse_in(release: &Path, path: &Path) -> Result<(), CliError> {
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    let (folder, release) = (folder.canonicalize(), release.canonicalize());
    match (folder, release) {
        (Ok(folder), Ok(release)) if folder == release && release.join(manifest::FILE).exists() => {
            Err(CliError::Usage(format!(
                "{}: lies in the release folder, whose files are sealed as they are\nhint: name a file elsewhere with --out",
                path.display()
            )))
        }
        _ => Ok(()),
    }
}

fn save(path: &Path, page: &str) -> Result<(), CliError> {
    let mut file = OutputFile::create(path)?;
    file.write_all(page.as_bytes())
        .map_err(|error| FileError::Unwritable {
            file: path.display().to_string(),
            reason: error.to_string(),
        })?;
    Ok(file.finish()?)
}
