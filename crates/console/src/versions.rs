//! Versions of the study that somebody saved, signed or declined on the pages: a file for each in the folder
//! `console.studies` beside the site's file, so that the next version can be held against the last.
//!
//! # Discloses
//! To the owner of the folder, and to those whose role may read the study: what studies say, which sites send
//! each other anyway, who said what about them, and why.

use std::io::Write as _;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use hedgerow::Study;
use hedgerow::data::files::{FileError, OutputFile};
use serde::{Deserialize, Serialize};

use crate::error::ConsoleError;
use crate::record::{Record, now};

/// The name of the folder.
const FOLDER: &str = "console.studies";
/// Bytes of a file that are kept; of a longer one, only its hash.
const LONGEST: u64 = 1 << 20;
/// Versions that are looked through.
const LATEST: usize = 50;

/// What was done with a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Word {
    /// Somebody saved it.
    Saved,
    /// It was there before somebody saved another.
    Replaced,
    /// The officer signed it.
    Signed,
    /// The officer declined it.
    Declined,
}

/// A version, and what somebody did with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Version {
    pub(crate) at: String,
    pub(crate) by: String,
    pub(crate) word: Word,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) comment: String,
    /// The hash that sites sign; nothing of a study that sites cannot sign yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) hash: Option<String>,
    pub(crate) files: Vec<Kept>,
}

/// A file of a version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Kept {
    /// The name, as the study has it.
    pub(crate) name: String,
    pub(crate) hash: String,
    /// The text, if it is not too long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) text: Option<String>,
}

/// The folder.
#[derive(Debug, Clone)]
pub(crate) struct Versions {
    folder: PathBuf,
    record: Record,
}

impl Word {
    pub(crate) const fn words(self) -> &'static str {
        match self {
            Self::Saved => "saved",
            Self::Replaced => "replaced",
            Self::Signed => "signed",
            Self::Declined => "declined",
        }
    }
}

impl Version {
    /// The study in this file, as somebody does something with it now.
    pub(crate) fn of(
        study: &Path,
        (by, word, comment): (&str, Word, &str),
    ) -> Result<Self, hedgerow::Error> {
        let opened = Study::open(study)?;
        let hash = opened.agreement().ok().map(|one| one.hash.to_string());
        Ok(Self {
            at: now(),
            by: by.to_owned(),
            word,
            comment: comment.to_owned(),
            hash,
            files: files(study, &opened),
        })
    }
}

/// The files of a study: its text as it was read, and the taxonomies that it names.
pub(crate) fn files(path: &Path, study: &Study) -> Vec<Kept> {
    let document = study.declared().document();
    let mut files = vec![kept("study.toml", document.text().as_bytes())];
    let folder = path.parent().unwrap_or(Path::new(""));
    for name in taxonomies(study) {
        let file = folder.join(&name);
        // A taxonomy that went away since the study was read is not there.
        if let Ok(bytes) = std::fs::read(file) {
            files.push(kept(&name, &bytes));
        }
    }
    files
}

/// The files that a study names, each once.
pub(crate) fn taxonomies(study: &Study) -> Vec<String> {
    let document = study.declared().document();
    let sections = document.root().sections("attribute").unwrap_or_default();
    let named = sections.iter();
    let named = named.filter_map(|section| section.string("taxonomy").ok().flatten());
    let mut names: Vec<String> = Vec::new();
    for name in named {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

fn kept(name: &str, bytes: &[u8]) -> Kept {
    let is_short = bytes.len() as u64 <= LONGEST;
    let text = is_short.then(|| String::from_utf8_lossy(bytes).into_owned());
    Kept {
        name: name.to_owned(),
        hash: blake3::hash(bytes).to_hex().to_string(),
        text,
    }
}

impl Versions {
    /// The versions beside a site's file.
    pub(crate) fn in_folder(folder: &Path) -> Self {
        Self {
            folder: folder.join(FOLDER),
            record: Record::in_folder(folder),
        }
    }

    /// Keeps a version.
    pub(crate) fn keep(&self, version: &Version) -> Result<(), ConsoleError> {
        let unwritable = |path: &Path, reason: String| FileError::Unwritable {
            file: path.display().to_string(),
            reason,
        };
        // Numbers go one after the other, whoever else keeps one.
        let _held = self.record.hold()?;
        let made = std::fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&self.folder);
        made.map_err(|error| unwritable(&self.folder, error.to_string()))?;
        let number = self.numbers().first().map_or(1, |last| last + 1);
        let path = self.folder.join(format!("{number}.json"));
        let text = serde_json::to_string_pretty(version)
            .map_err(|error| unwritable(&path, error.to_string()))?;
        let mut file = OutputFile::create_private(&path)?;
        file.write_all(text.as_bytes())
            .map_err(|error| unwritable(&path, error.to_string()))?;
        Ok(file.finish()?)
    }

    /// The latest versions, newest first. A file that is none is passed over.
    pub(crate) fn latest(&self) -> Vec<Version> {
        let numbers = self.numbers().into_iter().take(LATEST);
        let read = |number| {
            let bytes = std::fs::read(self.folder.join(format!("{number}.json"))).ok()?;
            serde_json::from_slice(&bytes).ok()
        };
        numbers.filter_map(read).collect()
    }

    /// The numbers of all versions, the greatest first.
    fn numbers(&self) -> Vec<u64> {
        let files = std::fs::read_dir(&self.folder).into_iter().flatten();
        let number = |file: std::fs::DirEntry| {
            let name = file.file_name();
            name.to_str()?.strip_suffix(".json")?.parse::<u64>().ok()
        };
        let mut numbers: Vec<u64> = files.flatten().filter_map(number).collect();
        numbers.sort_unstable_by(|one, other| other.cmp(one));
        numbers
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn versions_are_kept_in_order_for_their_owner_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("study.toml");
        let versions = Versions::in_folder(folder.path());
        assert!(versions.latest().is_empty());
        let text = Study::draft(hedgerow::Draft::Horizontal);
        for k in 10..22 {
            std::fs::write(&path, text.replace("k = 10", &format!("k = {k}"))).unwrap();
            let comment = format!("k is {k}");
            let version = Version::of(&path, ("stella", Word::Saved, &comment)).unwrap();
            versions.keep(&version).unwrap();
        }
        std::fs::write(folder.path().join("console.studies/99.json"), "nonsense").unwrap();
        let latest = versions.latest();
        let comments: Vec<&str> = latest.iter().map(|one| &*one.comment).collect();
        assert_eq!(comments.len(), 12);
        assert_eq!((comments[0], comments[11]), ("k is 21", "k is 10"));
        let kept = latest[0].files[0].text.as_ref().unwrap();
        assert!(kept.contains("k = 21"), "{kept}");
        let mode = |name: &str| {
            let found = std::fs::metadata(folder.path().join(name)).unwrap();
            found.permissions().mode() & 0o777
        };
        assert_eq!(mode("console.studies"), 0o700);
        assert_eq!(mode("console.studies/1.json"), 0o600);
    }
}
