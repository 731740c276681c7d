//! Who did what on the pages, from where, and what came of it: `console.log` beside the site's file, one JSON
//! object a line, which is only added to. What cannot be written down is not done.
//!
//! # Discloses
//! To whoever may read the file, which is its owner's only, and to those whose role may see the page: names of
//! users, addresses, what they did. No password, no token, no value of a record.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use hedgerow::words::one_line;
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};

use crate::error::ConsoleError;

/// The name of the file.
pub(crate) const FILE: &str = "console.log";
/// Characters of a text in a line, and of a name, so that nobody fills the file.
const LONGEST: usize = 2_000;
const LONGEST_NAME: usize = 64;
/// Bytes that are read at a time, from the end.
const BLOCK: u64 = 1 << 16;

/// One line of the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// When, in universal time.
    pub at: String,
    /// The user; `somebody unknown` where nobody has the name that was typed.
    pub who: String,
    /// The user's role, of somebody who was signed in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// The address of the browser, or `shell`.
    pub from: String,
    /// What was done.
    pub what: String,
    /// To what.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub about: String,
    /// `done`, or why not.
    pub result: String,
}

/// The file.
#[derive(Debug, Clone)]
pub struct Record {
    file: PathBuf,
}

/// The file, open for a line and for nobody else meanwhile.
pub(crate) struct Held {
    path: PathBuf,
    file: File,
}

impl Record {
    /// The record in a site's folder.
    pub fn in_folder(folder: &Path) -> Self {
        Self {
            file: folder.join(FILE),
        }
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.file
    }

    /// Sees that something can be written down, before it is done.
    pub(crate) fn see_writable(&self) -> Result<(), ConsoleError> {
        self.open().map(|_| ())
    }

    /// Keeps others from the file until the returned value is dropped: changes of users go one after the other.
    pub(crate) fn hold(&self) -> Result<Held, ConsoleError> {
        let file = self.open()?;
        flock(&file, FlockOperation::LockExclusive)
            .map_err(|error| self.failed(&std::io::Error::from(error)))?;
        Ok(Held {
            path: self.file.clone(),
            file,
        })
    }

    /// Writes a line.
    pub fn add(&self, entry: &Entry) -> Result<(), ConsoleError> {
        self.hold()?.add(entry)
    }

    /// The last lines before a place in the file, newest first, and the place before them where there are
    /// more. Without a place: the last of all. Lines that are none are passed over.
    pub fn latest(
        &self,
        before: Option<u64>,
        most: usize,
    ) -> Result<(Vec<Entry>, Option<u64>), ConsoleError> {
        let mut file = match File::open(&self.file) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok((Vec::new(), None));
            }
            file => file.map_err(|error| self.failed(&error))?,
        };
        let length = file.metadata().map_err(|error| self.failed(&error))?.len();
        let mut start = before.unwrap_or(length).min(length);
        let mut tail: Vec<u8> = Vec::new();
        // One line more than asked for begins in a part that was not read whole.
        while start > 0 && tail.iter().filter(|byte| **byte == b'\n').count() <= most {
            let from = start.saturating_sub(BLOCK);
            let mut block = vec![0; (start - from) as usize];
            let read = file
                .seek(SeekFrom::Start(from))
                .and_then(|_| file.read_exact(&mut block));
            read.map_err(|error| self.failed(&error))?;
            block.append(&mut tail);
            (tail, start) = (block, from);
        }
        let mut lines: Vec<&[u8]> = tail.split_inclusive(|byte| *byte == b'\n').collect();
        let kept = lines.split_off(lines.len().saturating_sub(most));
        let left: usize = lines.iter().map(|line| line.len()).sum();
        let at = start + left as u64;
        let entries = kept.into_iter().rev();
        let entries = entries.filter_map(|line| serde_json::from_slice(line).ok());
        Ok((entries.collect(), (at > 0).then_some(at)))
    }

    /// Every line, oldest first.
    pub fn all(&self) -> Result<Vec<Entry>, ConsoleError> {
        let text = match std::fs::read(&self.file) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            text => text.map_err(|error| self.failed(&error))?,
        };
        let lines = text.split(|byte| *byte == b'\n');
        Ok(lines
            .filter_map(|line| serde_json::from_slice(line).ok())
            .collect())
    }

    fn open(&self) -> Result<File, ConsoleError> {
        let opened = OpenOptions::new()
            .create(true)
            .append(true)
            .mode(0o600)
            .open(&self.file);
        opened.map_err(|error| self.failed(&error))
    }

    fn failed(&self, error: &std::io::Error) -> ConsoleError {
        ConsoleError::NoRecord {
            file: self.file.clone(),
            reason: error.to_string(),
        }
    }
}

impl Held {
    /// Writes a line, which is on disk when this returns.
    pub(crate) fn add(&mut self, entry: &Entry) -> Result<(), ConsoleError> {
        let failed = |reason: String| ConsoleError::NoRecord {
            file: self.path.clone(),
            reason,
        };
        let short = |text: &str, longest: usize| -> String {
            // A next step is told behind what it is for.
            let text = text.replace("\nhint: ", "; hint: ");
            one_line(&text).chars().take(longest).collect()
        };
        let entry = Entry {
            who: short(&entry.who, LONGEST_NAME),
            about: short(&entry.about, LONGEST),
            result: short(&entry.result, LONGEST),
            ..entry.clone()
        };
        let mut line = serde_json::to_string(&entry).map_err(|error| failed(error.to_string()))?;
        line.push('\n');
        // One write, so that a line is whole or not there.
        let written = self.file.write_all(line.as_bytes());
        let synced = written.and_then(|()| self.file.sync_data());
        synced.map_err(|error| failed(error.to_string()))
    }
}

impl Entry {
    /// What somebody did now.
    pub fn now(who: &str, from: &str, what: &str) -> Self {
        Self {
            at: now(),
            who: who.to_owned(),
            role: None,
            from: from.to_owned(),
            what: what.to_owned(),
            about: String::new(),
            result: String::from("done"),
        }
    }
}

/// This moment, as people read it.
pub(crate) fn now() -> String {
    jiff::Timestamp::now()
        .strftime("%Y-%m-%d %H:%M:%S")
        .to_string()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn lines_are_kept_in_order_and_read_page_by_page() {
        let folder = tempfile::tempdir().unwrap();
        let record = Record::in_folder(folder.path());
        assert_eq!(record.latest(None, 5).unwrap(), (Vec::new(), None));
        for number in 0..2_000 {
            let mut entry = Entry::now("anna", "127.0.0.1", "tested");
            entry.about = format!("run {number}");
            record.add(&entry).unwrap();
        }
        assert_eq!(record.all().unwrap().len(), 2_000);
        let (mut before, mut seen) = (None, Vec::new());
        loop {
            let (entries, next) = record.latest(before, 300).unwrap();
            seen.extend(entries.into_iter().map(|entry| entry.about));
            match next {
                Some(next) => before = Some(next),
                None => break,
            }
        }
        let expected: Vec<String> = (0..2_000)
            .rev()
            .map(|number| format!("run {number}"))
            .collect();
        assert_eq!(seen, expected);
        let mode = record.path().metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn a_next_step_stands_behind_what_it_is_for() {
        let folder = tempfile::tempdir().unwrap();
        let record = Record::in_folder(folder.path());
        let mut entry = Entry::now("anna", "::1", "run started");
        entry.result = String::from("the node is down\nhint: start it\nat once");
        record.add(&entry).unwrap();
        let result = record.all().unwrap().remove(0).result;
        assert_eq!(result, "the node is down; hint: start it\\u000aat once");
    }

    #[test]
    fn nobody_writes_a_line_of_somebody_else() {
        let folder = tempfile::tempdir().unwrap();
        let record = Record::in_folder(folder.path());
        let mut entry = Entry::now(
            "eve\n{\"at\":\"\",\"who\":\"anna\"} and a name that goes on and on and on",
            "::1",
            "sign in",
        );
        entry.result = "x".repeat(100_000);
        record.add(&entry).unwrap();
        let text = std::fs::read_to_string(record.path()).unwrap();
        let who = &record.all().unwrap()[0].who;
        assert_eq!(who.chars().count(), LONGEST_NAME, "{who}");
        assert_eq!(text.lines().count(), 1);
        assert!(text.len() < 3_000);
        assert_eq!(record.all().unwrap().len(), 1);
        // A line that somebody damaged is passed over.
        std::fs::write(record.path(), format!("nonsense\n{text}")).unwrap();
        assert_eq!(record.latest(None, 10).unwrap().0.len(), 1);
    }
}
