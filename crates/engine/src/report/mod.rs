//! A release as a privacy officer reads it, in one HTML file that loads nothing.
//!
//! The verdict first, then what it rests on. Everything about the release itself is measured anew;
//! only the ledger, the cost and how the loss fell are taken from the manifest, since a release does
//! not show them.

mod beside;
mod facts;
mod html;
mod markup;
mod plots;
mod same_people;
mod text;
mod words;

pub use html::STYLE;

use std::io::Write as _;
use std::path::{Path, PathBuf};

use hedgerow_data::files::{FileError, OutputFile};
use serde::{Serialize, Serializer};
use serde_json::json;

use crate::error::Error;
use crate::release::Release;
use crate::release::manifest::{FILE, Manifest, OWN_FILE};
use crate::release::refused::FolderRefused;
use crate::study::opened::Opened;
use crate::verify::refused::VerifyRefused;
use crate::verify::{Questions, of_folder, own_word, unsealed};
use facts::Facts;

/// A report of a release: a page of HTML, text for a terminal by its [`Display`](std::fmt::Display), and
/// JSON.
pub struct Report {
    folder: PathBuf,
    facts: Facts,
    page: String,
}

/// The report of a release folder as a page of HTML.
///
/// ```
/// # use hedgerow::{Draft, Options, Study, Table, anonymize};
/// # let folder = tempfile::tempdir()?;
/// # std::env::set_current_dir(&folder)?;
/// # let rows: String = (0..60).map(|row| format!("{},{}\n", 20 + row, ["flu", "ulcer", "asthma"][row % 3])).collect();
/// # std::fs::write("patients.csv", format!("age,disease\n{rows}"))?;
/// # let study = Study::parse(Study::draft(Draft::Horizontal), ".")?;
/// # anonymize(&study, &Table::file("patients.csv"), &Options::new().out("release"))?;
/// use hedgerow::{Release, report};
///
/// let page = report(&Release::open("release")?)?;
/// assert!(page.contains("k-anonymity"));
/// std::fs::write("report.html", page)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn report(release: &Release) -> Result<String, Error> {
    Ok(Report::of(release, &Questions::default())?.page)
}

impl Report {
    /// The report of a release folder; questions may name the original table.
    pub fn of(release: &Release, questions: &Questions) -> Result<Self, Error> {
        let folder = release.path();
        if !folder.is_dir() {
            let path = folder.to_owned();
            return Err(FolderRefused::NoFolder { path }.into());
        }
        let described;
        let opened = match &release.study {
            Some(study) => &*study.opened,
            None if folder.join(FILE).exists() => {
                described = own_word(folder)?;
                &described
            }
            None => return Err(VerifyRefused::NoStudy.into()),
        };
        let verdict = of_folder(folder, opened, questions)?;
        let facts = Facts::new(opened, verdict);
        Ok(Self {
            folder: folder.to_owned(),
            page: html::page(&facts)?,
            facts,
        })
    }

    /// The page.
    pub fn html(&self) -> &str {
        &self.page
    }

    /// Whether the release holds.
    pub fn holds(&self) -> bool {
        self.facts.report.holds()
    }

    /// Writes the page to a file, unless the file says just this. Nothing is written into a release that
    /// has a manifest: it is closed.
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        let is_there = std::fs::read(path).is_ok_and(|found| found == self.page.as_bytes());
        if is_there {
            return Ok(());
        }
        refuse_in(&self.folder, path)?;
        save(path, &self.page)
    }
}

impl std::fmt::Display for Report {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&text::text(&self.folder, &self.facts))
    }
}

impl Serialize for Report {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut value = serde_json::to_value(&self.facts.report).unwrap_or_default();
        value["study"] = self.facts.study.as_str().into();
        value["class_sizes"] = json!(self.facts.sizes);
        if let Some(said) = self.facts.manifest() {
            value["date"] = json!(said.statement().map(|(said, _)| &said.date));
            value["ledger"] = json!(said.ledger);
            value["cost"] = json!(said.cost);
        }
        value.serialize(serializer)
    }
}

/// Writes the report of a release into its folder, which is not sealed yet.
pub(crate) fn write(folder: &Path, opened: &Opened, manifest: &Manifest) -> Result<(), Error> {
    let verdict = unsealed(folder, opened, manifest)?;
    let page = html::page(&Facts::new(opened, verdict))?;
    save(&folder.join(OWN_FILE), &page)
}

/// A release that has a manifest is closed.
fn refuse_in(release: &Path, path: &Path) -> Result<(), FolderRefused> {
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    let (folder, release) = (folder.canonicalize(), release.canonicalize());
    match (folder, release) {
        (Ok(folder), Ok(release)) if folder == release && release.join(FILE).exists() => {
            let path = path.to_owned();
            Err(FolderRefused::Sealed { path })
        }
        _ => Ok(()),
    }
}

fn save(path: &Path, page: &str) -> Result<(), Error> {
    let mut file = OutputFile::create(path)?;
    file.write_all(page.as_bytes())
        .map_err(|error| FileError::Unwritable {
            file: path.display().to_string(),
            reason: error.to_string(),
        })?;
    Ok(file.finish()?)
}
