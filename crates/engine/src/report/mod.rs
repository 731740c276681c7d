//! A release as a privacy officer reads it, in one HTML file that loads nothing.
//!
//! The verdict first, then what it rests on. Everything about the release itself is measured anew;
//! only the ledger, the cost and how the loss fell are taken from the manifest, since a release does
//! not show them. A page that is asked for with rows to compare the release with holds counts of these rows,
//! and is for whoever holds them; the page in the folder of a release never does.

mod contents;
mod facts;
mod html;
mod markup;
mod own;
mod plots;
mod reasons;
pub(crate) mod refused;
mod risk_curve;
mod same_people;
mod sizes;
mod text;
mod words;

pub use html::STYLE;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hedgerow_data::files::{FileError, OutputFile};
use serde::{Serialize, Serializer};
use serde_json::json;

use crate::error::Error;
use crate::gate::Gated;
use crate::release::Release;
use crate::release::manifest::{FILE, Manifest, OWN_FILE};
use crate::release::refused::FolderRefused;
use crate::study::opened::Opened;
use crate::verify::refused::VerifyRefused;
use crate::verify::{Questions, of_folder, own_word, unsealed};
use facts::Facts;
use own::Before;
use refused::ReportRefused;

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
    /// The report of a release folder; questions may name the original table, whose counts the page then has.
    pub fn of(release: &Release, questions: &Questions) -> Result<Self, Error> {
        Self::look(release, questions, None)
    }

    /// The report for one site: beside the release it has counts of that site's own rows of the run, and what
    /// the site would lose that published them alone. It is not to be passed on.
    pub fn for_site(
        release: &Release,
        questions: &Questions,
        own_rows: &Path,
    ) -> Result<Self, Error> {
        Self::look(release, questions, Some(own_rows))
    }

    fn look(
        release: &Release,
        questions: &Questions,
        own_rows: Option<&Path>,
    ) -> Result<Self, Error> {
        let folder = release.path();
        if !folder.is_dir() {
            let path = folder.to_owned();
            return Err(FolderRefused::NoFolder { path }.into());
        }
        let opened = match &release.study {
            Some(study) => Arc::clone(&study.opened),
            None if own_rows.is_some() => return Err(ReportRefused::NoStudy.into()),
            None if folder.join(FILE).exists() => Arc::new(own_word(folder)?),
            None => return Err(VerifyRefused::NoStudy.into()),
        };
        let (verdict, mut seen) = of_folder(folder, &opened, questions)?;
        let before = match own_rows {
            Some(path) => {
                let check = verdict.manifest.as_ref();
                let manifest = check.and_then(|check| check.manifest.as_ref());
                let sites = manifest.map(|manifest| manifest.sites);
                let observer = &*questions.observer;
                Some(Before::own(
                    path,
                    (&opened, sites),
                    &seen.release,
                    observer,
                )?)
            }
            None => Before::original(&mut seen),
        };
        let facts = Facts::new(&opened, verdict, &seen, before);
        Ok(Self {
            folder: folder.to_owned(),
            page: html::page(&facts)?,
            facts,
        })
    }

    /// The same report with a chapter of what attacks found.
    pub fn with_gate(mut self, gated: Gated) -> Result<Self, Error> {
        self.facts.gate = Some(gated);
        self.page = html::page(&self.facts)?;
        Ok(self)
    }

    /// Whether the page has counts of rows that were given beside the release, so that it is not to be passed
    /// on.
    pub fn is_for_the_site(&self) -> bool {
        let tried = self.facts.gate.as_ref();
        self.facts.before.is_some() || tried.is_some_and(Gated::has_rows)
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
    /// has a manifest, since it is closed, and no page for one site into any release.
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        let is_there = std::fs::read(path).is_ok_and(|found| found == self.page.as_bytes());
        if is_there {
            return Ok(());
        }
        if lies_in(&self.folder, path) {
            let path = path.to_owned();
            // A release that has a manifest is closed.
            if self.folder.join(FILE).exists() {
                return Err(FolderRefused::Sealed { path }.into());
            }
            if self.is_for_the_site() {
                return Err(ReportRefused::InRelease { path }.into());
            }
        }
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
        value["risk_curve"] = json!(self.facts.curve.steps);
        value["distributions"] = json!(self.facts.contents.spreads);
        value["dominated"] = json!(self.facts.contents.dominated);
        if let Some(before) = &self.facts.before {
            value["before"] = json!(before);
        }
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
    let (verdict, seen) = unsealed(folder, opened, manifest)?;
    let page = html::page(&Facts::new(opened, verdict, &seen, None))?;
    save(&folder.join(OWN_FILE), &page)
}

/// Whether a file lies, or would lie, in a folder.
fn lies_in(folder: &Path, path: &Path) -> bool {
    let parent = match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    match (parent.canonicalize(), folder.canonicalize()) {
        (Ok(parent), Ok(folder)) => parent == folder,
        _ => false,
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
