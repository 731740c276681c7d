//! What is remembered of a finished figure: a small JSON file beside it, from which pages are made and by
//! which a later call knows that the figure need not be measured again.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use hedgerow_data::files::OutputFile;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::frame::figure::{Figure, Paper};
use crate::frame::measured::Measured;
use crate::frame::rule::Must;

/// The folder's pages.
pub(crate) const PAGE: &str = "index.html";
/// The same as a page of a book.
pub(crate) const MARKDOWN: &str = "index.md";

/// What a figure was measured with: a figure is finished for these settings alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Settings {
    /// Whether the small version was measured.
    pub quick: bool,
    /// The seed.
    pub seed: u64,
    /// What tells the data from other data.
    pub data: String,
    /// The version that measured.
    pub version: String,
}

/// A finished figure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Record {
    /// The figure's name.
    pub figure: String,
    /// The paper.
    pub paper: Paper,
    /// What the figure shows.
    pub title: String,
    /// The paper's claim.
    pub claim: String,
    /// What was measured, in one sentence.
    pub measured: String,
    /// The data that the figure shows, with whom they are due to.
    pub data: Vec<String>,
    /// Whether the claim holds: every check does.
    pub holds: bool,
    /// What the rule looked at.
    pub checks: Vec<Checked>,
    /// How long the measurement took, with all figures that come of the same runs.
    pub seconds: f64,
    /// What the figure was measured with.
    pub settings: Settings,
    /// Hashes of the figure's files, by which a later call knows that they are whole.
    pub files: Hashes,
}

/// Hashes (BLAKE3) of the files of a figure.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Hashes {
    /// Of its numbers.
    pub csv: String,
    /// Of its plot.
    pub svg: String,
}

/// One thing that a rule looked at.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Checked {
    /// What must be so, with the numbers that were found.
    pub words: String,
    /// Whether it is so.
    pub holds: bool,
    /// Whether it must be so at this size.
    pub must_hold: bool,
    /// The most likely reason where it is not.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
}

impl Record {
    /// What a figure's rule says of what was measured.
    pub(crate) fn new(
        figure: &Figure,
        measured: &Measured,
        seconds: f64,
        settings: Settings,
    ) -> Self {
        let checks = (figure.rule)(measured).into_iter();
        let checks = checks.filter(|check| !(check.is_of_full && settings.quick));
        let checks = checks.map(|check| Checked {
            words: check.words,
            must_hold: match check.must {
                Must::Never => false,
                Must::AtFull => !settings.quick,
                Must::Always => true,
            },
            reason: match check.holds {
                true => String::new(),
                false => check.reason,
            },
            holds: check.holds,
        });
        let checks: Vec<Checked> = checks.collect();
        Self {
            figure: figure.name.to_owned(),
            paper: figure.paper,
            title: figure.title.to_owned(),
            claim: figure.claim.to_owned(),
            measured: measured.sentence.clone(),
            data: measured.data.clone(),
            // A rule that looks at nothing decides nothing.
            holds: !checks.is_empty() && checks.iter().all(|check| check.holds),
            checks,
            seconds,
            settings,
            files: Hashes::default(),
        }
    }

    /// Notes the files that belong to the record.
    pub(crate) fn with_files(mut self, csv: &str, svg: &str) -> Self {
        self.files = Hashes {
            csv: hash(csv.as_bytes()),
            svg: hash(svg.as_bytes()),
        };
        self
    }

    /// `holds` or `differs`.
    pub fn verdict(&self) -> &'static str {
        match self.holds {
            true => "holds",
            false => "differs",
        }
    }

    /// Why the figure differs, as far as that is known.
    pub fn reasons(&self) -> Vec<&str> {
        let failed = self.checks.iter().filter(|check| !check.holds);
        let mut reasons: Vec<&str> = Vec::new();
        for check in failed {
            if !check.reason.is_empty() && !reasons.contains(&&*check.reason) {
                reasons.push(&check.reason);
            }
        }
        reasons
    }

    /// Whether something that must hold at this size does not.
    pub fn is_broken(&self) -> bool {
        let mut checks = self.checks.iter();
        checks.any(|check| check.must_hold && !check.holds)
    }

    /// The record of a figure in a folder, where the figure is finished for these settings: a record that
    /// cannot be read, or files that are not those it was written with, are as good as none.
    pub(crate) fn finished(folder: &Path, figure: &Figure, settings: &Settings) -> Option<Self> {
        let record = Self::whole(folder, figure.name).ok()?;
        (record.settings == *settings && record.figure == figure.name).then_some(record)
    }

    /// A record whose files are those that it was written with, or what is wrong.
    fn whole(folder: &Path, name: &str) -> Result<Self, String> {
        let [csv, svg, json] = files(folder, name);
        let read = |file: &Path| {
            let named = file.file_name().unwrap_or_default().to_string_lossy();
            std::fs::read(file).map_err(|error| format!("{named}: {error}"))
        };
        let record: Self = serde_json::from_slice(&read(&json)?)
            .map_err(|error| format!("{name}.json: {error}"))?;
        for (file, noted) in [(&csv, &record.files.csv), (&svg, &record.files.svg)] {
            if hash(&read(file)?) != *noted {
                let end = file.extension().unwrap_or_default().to_string_lossy();
                return Err(format!(
                    "{name}.{end} is not what was written with its record"
                ));
            }
        }
        Ok(record)
    }

    /// The records of a folder, in the order of these names, and what is wrong with those that are left
    /// out.
    pub(crate) fn all<'n>(
        folder: &Path,
        names: impl Iterator<Item = &'n str>,
    ) -> (Vec<Self>, Vec<String>) {
        let (mut records, mut damaged) = (Vec::new(), Vec::new());
        for name in names.filter(|name| files(folder, name)[2].is_file()) {
            match Self::whole(folder, name) {
                Ok(record) => records.push(record),
                Err(reason) => damaged.push(reason),
            }
        }
        (records, damaged)
    }

    /// Writes the record; the figure is finished then.
    pub(crate) fn write(&self, folder: &Path) -> Result<(), Error> {
        let [_, _, json] = files(folder, &self.figure);
        let mut text = serde_json::to_string_pretty(self).map_err(|error| Error::Unusable {
            folder: json.clone(),
            reason: error.to_string(),
        })?;
        text.push('\n');
        write(&json, &text)
    }
}

fn hash(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}

/// The files of a figure: its numbers, its plot, and its record, which is written last.
pub(crate) fn files(folder: &Path, name: &str) -> [PathBuf; 3] {
    ["csv", "svg", "json"].map(|end| folder.join(format!("{name}.{end}")))
}

/// Writes a file under a temporary name and renames it.
pub(crate) fn write(path: &Path, text: &str) -> Result<(), Error> {
    let mut file = OutputFile::create(path)?;
    file.write_all(text.as_bytes())
        .map_err(|error| Error::Unusable {
            folder: path.to_owned(),
            reason: error.to_string(),
        })?;
    Ok(file.finish()?)
}
