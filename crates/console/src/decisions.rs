//! Who decided about which run, and why: `console.decisions.json` beside the site's file, which its owner alone may
//! read. What counts is the word in the site's memory; here stands whose it was.
//!
//! # Discloses
//! To those whose role may see a run: names of officers, when they decided, and the reasons that they typed.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use hedgerow::data::files::{FileError, OutputFile};
use serde::{Deserialize, Serialize};

use crate::error::ConsoleError;
use crate::record::{Record, now};

/// The name of the file.
const FILE: &str = "console.decisions.json";

/// A word about a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Decision {
    /// The hash of the study of which this is a run.
    pub(crate) study: String,
    pub(crate) number: u32,
    pub(crate) is_approved: bool,
    pub(crate) by: String,
    pub(crate) at: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) reason: String,
}

/// The file.
#[derive(Debug, Clone)]
pub(crate) struct Decisions {
    file: PathBuf,
    record: Record,
}

impl Decision {
    /// A word that somebody gives now.
    pub(crate) fn now(run: (&str, u32), is_approved: bool, by: &str, reason: &str) -> Self {
        let (study, number) = run;
        Self {
            study: study.to_owned(),
            number,
            is_approved,
            by: by.to_owned(),
            at: now(),
            reason: reason.to_owned(),
        }
    }

    /// What was done with the run.
    pub(crate) const fn word(&self) -> &'static str {
        match self.is_approved {
            true => "approved",
            false => "refused",
        }
    }
}

impl Decisions {
    /// The decisions beside a site's file.
    pub(crate) fn in_folder(folder: &Path) -> Self {
        Self {
            file: folder.join(FILE),
            record: Record::in_folder(folder),
        }
    }

    /// The words about a run, oldest first.
    pub(crate) fn about(&self, study: &str, number: u32) -> Result<Vec<Decision>, ConsoleError> {
        let mut all = self.all()?;
        all.retain(|one| one.study == study && one.number == number);
        Ok(all)
    }

    /// Keeps a word.
    pub(crate) fn keep(&self, decision: Decision) -> Result<(), ConsoleError> {
        // One after the other.
        let _held = self.record.hold()?;
        let mut all = self.all()?;
        all.push(decision);
        let unwritable = |reason: String| FileError::Unwritable {
            file: self.file.display().to_string(),
            reason,
        };
        let text =
            serde_json::to_string_pretty(&all).map_err(|error| unwritable(error.to_string()))?;
        let mut file = OutputFile::create_private(&self.file)?;
        file.write_all(text.as_bytes())
            .map_err(|error| unwritable(error.to_string()))?;
        Ok(file.finish()?)
    }

    fn all(&self) -> Result<Vec<Decision>, ConsoleError> {
        let unreadable = |reason: String| FileError::Unreadable {
            file: self.file.display().to_string(),
            reason,
        };
        let bytes = match std::fs::read(&self.file) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            bytes => bytes.map_err(|error| unreadable(error.to_string()))?,
        };
        let all = serde_json::from_slice(&bytes);
        Ok(all.map_err(|error| unreadable(error.to_string()))?)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn words_are_kept_by_study_and_number() {
        let folder = tempfile::tempdir().unwrap();
        let kept = Decisions::in_folder(folder.path());
        assert!(kept.about("a", 1).unwrap().is_empty());
        let first = Decision::now(("a", 1), true, "otto", "");
        let second = Decision::now(("a", 1), false, "olga", "other rows");
        kept.keep(first.clone()).unwrap();
        kept.keep(Decision::now(("a", 2), true, "otto", ""))
            .unwrap();
        kept.keep(Decision::now(("b", 1), true, "otto", ""))
            .unwrap();
        kept.keep(second.clone()).unwrap();
        assert_eq!(kept.about("a", 1).unwrap(), [first, second]);
        let file = folder.path().join(FILE);
        let mode = file.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        std::fs::write(&file, "nonsense").unwrap();
        assert!(kept.about("a", 1).is_err());
    }
}
