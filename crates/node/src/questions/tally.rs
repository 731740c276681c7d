//! What was learned by questions, added up from the log: by whom, how many, of which kind.
//!
//! The log is bounded. Before its older file goes, the lines of that file are added to a file of sums, so that
//! nothing that another site learned is ever forgotten.
//!
//! # Discloses
//! To whoever may read the data folder: names and counts, never a value.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::Disclosed;
use super::log::{LOG, OLDER};

/// The name of the file of sums in a data folder.
const SUMS: &str = "questions.sums";

/// What was learned by questions.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Tally {
    /// Questions by the site that asked.
    pub asked: BTreeMap<String, Asked>,
    /// What was disclosed, by name, recipient and asker.
    pub learned: Vec<LearnedByQuestions>,
    /// The hash of the last file whose lines were added, so that none is added twice.
    #[serde(default)]
    last: Option<String>,
}

/// Questions of one site.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Asked {
    /// Questions that were answered.
    pub answered: u64,
    /// Questions that ended without an answer.
    pub ended: u64,
    /// Questions that this site refused.
    pub refused: u64,
    /// Answered questions for totals.
    pub totals: u64,
    /// Answered questions for rows.
    pub rows: u64,
}

/// One kind of thing that was learned by the questions of one site.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LearnedByQuestions {
    /// The site that asked.
    pub asker: String,
    /// What was disclosed.
    pub what: String,
    /// The name of the site that learned it, or the recipients in words.
    pub to: String,
    /// The theorem or rule that allows it.
    pub allowed_by: String,
    /// What could not be hidden besides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caveat: Option<String>,
    /// How often.
    pub calls: u64,
    /// How many of these ended early.
    pub ended_early: u64,
    /// How many values.
    pub values: u64,
    /// At the published level, the greatest loss of privacy of a site's set that is expected of any of the
    /// questions (JX08 equation 5).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub greatest_loss: Option<f64>,
}

/// A line of the log, as far as it is added up.
#[derive(Deserialize)]
struct Line {
    event: String,
    #[serde(default)]
    asker: Option<String>,
    #[serde(default)]
    answer: Option<String>,
    #[serde(default)]
    disclosed: Vec<Disclosed>,
}

impl Tally {
    /// Adds up what the data folder knows of questions.
    pub fn read(data: &Path) -> std::io::Result<Self> {
        let mut tally = Self::kept(data)?;
        let older = data.join(OLDER);
        if tally.last.is_none() || tally.last != hash_of(&older)? {
            tally.add_file(&older)?;
        }
        tally.add_file(&data.join(LOG))?;
        tally.last = None;
        Ok(tally)
    }

    /// Adds the lines of a file to the sums, which are then on the disk.
    pub(super) fn keep_of(data: &Path, file: &Path) -> std::io::Result<()> {
        let hash = hash_of(file)?;
        let mut tally = Self::kept(data)?;
        // A node that was killed between the sums and the file's end comes here a second time.
        if hash.is_none() || hash == tally.last {
            return Ok(());
        }
        tally.add_file(file)?;
        tally.last = hash;
        let path = data.join(format!("{SUMS}.new"));
        let mut options = std::fs::File::options();
        options.write(true).create(true).truncate(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut sums = options.open(&path)?;
        sums.write_all(&serde_json::to_vec(&tally)?)?;
        sums.sync_all()?;
        std::fs::rename(path, data.join(SUMS))
    }

    fn kept(data: &Path) -> std::io::Result<Self> {
        match std::fs::read(data.join(SUMS)) {
            Ok(bytes) => Ok(serde_json::from_slice(&bytes)?),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(error),
        }
    }

    fn add_file(&mut self, path: &Path) -> std::io::Result<()> {
        let file = match std::fs::File::open(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            file => file?,
        };
        for line in BufReader::new(file).split(b'\n') {
            // A power cut may have left a line unfinished.
            if let Ok(line) = serde_json::from_slice(&line?) {
                self.add(line);
            }
        }
        Ok(())
    }

    fn add(&mut self, line: Line) {
        let Some(asker) = line.asker else {
            return;
        };
        let asked = self.asked.entry(asker.clone()).or_default();
        match (line.event.as_str(), line.answer.as_deref()) {
            ("answered", kind) => {
                asked.answered += 1;
                asked.totals += u64::from(kind == Some("totals"));
                asked.rows += u64::from(kind == Some("rows"));
            }
            ("ended", _) => asked.ended += 1,
            ("refused", _) => asked.refused += 1,
            _ => {}
        }
        for disclosed in line.disclosed {
            self.learn(&asker, disclosed);
        }
    }

    fn learn(&mut self, asker: &str, disclosed: Disclosed) {
        let is_same = |one: &LearnedByQuestions| {
            one.asker == asker
                && (&one.what, &one.to, &one.caveat)
                    == (&disclosed.what, &disclosed.to, &disclosed.caveat)
        };
        let place = self.learned.iter().position(is_same).unwrap_or_else(|| {
            self.learned.push(LearnedByQuestions {
                asker: asker.to_owned(),
                what: disclosed.what.clone(),
                to: disclosed.to.clone(),
                allowed_by: disclosed.allowed_by.clone(),
                caveat: disclosed.caveat.clone(),
                calls: 0,
                ended_early: 0,
                values: 0,
                greatest_loss: None,
            });
            self.learned.len() - 1
        });
        let learned = &mut self.learned[place];
        learned.calls += 1;
        learned.ended_early += u64::from(!disclosed.is_complete);
        learned.values += disclosed.values;
        let losses = learned.greatest_loss.into_iter().chain(disclosed.loss);
        learned.greatest_loss = losses.reduce(f64::max);
    }
}

/// The hash of a file; nothing where there is none.
fn hash_of(path: &Path) -> std::io::Result<Option<String>> {
    let mut hasher = blake3::Hasher::new();
    match std::fs::File::open(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        file => {
            hasher.update_reader(file?)?;
            Ok(Some(hasher.finalize().to_hex().to_string()))
        }
    }
}
