//! What a journal holds and whether a process is at work with it, for anybody who asks while a run goes
//! on.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use super::lock::is_locked;
use super::{Journal, JournalError, frames};
use crate::agreement::StudyHash;
use crate::aside;

/// One run of a journal, as `status` shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The study.
    pub study: StudyHash,
    /// The number of the run in the study.
    pub number: u32,
    /// This site's place in the study.
    pub site: u16,
    /// How many sites take part.
    pub sites: u16,
    /// The digest of the rows that take part; empty where the run was given up before any were read.
    pub rows: Vec<u8>,
    /// Whether the run is over, or was given up.
    pub is_over: bool,
    /// Whether the run was given up.
    pub is_given_up: bool,
    /// When the run began, by this machine's clock.
    pub started: String,
    /// When the run ended.
    pub ended: Option<String>,
    /// For each peer by its place: frames sent and received.
    pub frames: Vec<(u16, u64, u64)>,
}

impl Journal {
    /// Whether a process is at work with the journal of a folder. The question takes a reader's lock,
    /// which readers share, so nobody who asks takes another asker for a process at work, and a process
    /// that opens the journal waits for the moment that the answer takes.
    pub fn is_held(folder: &Path) -> Result<bool, JournalError> {
        is_locked(&folder.join("lock"))
    }

    /// The runs in the journal of a folder, oldest first, whichever process is at work there. Empty
    /// where the folder has no journal.
    pub fn look(folder: &Path) -> Result<Vec<Entry>, JournalError> {
        let counted = |(id, entry)| counted(folder, id, entry);
        let found = found(folder)?;
        let entries: std::io::Result<_> = aside(|| found.into_iter().map(counted).collect());
        entries.map_err(|error| failed(&file_of(folder), &error))
    }

    /// The same runs with their frames not counted, which would take reading a file for each run.
    pub fn list(folder: &Path) -> Result<Vec<Entry>, JournalError> {
        let found = found(folder)?;
        Ok(found.into_iter().map(|(_, entry)| entry).collect())
    }

    /// One run of a study, with its frames.
    pub fn look_at(
        folder: &Path,
        study: StudyHash,
        number: u32,
    ) -> Result<Option<Entry>, JournalError> {
        let found = found(folder)?.into_iter();
        let mut of_run = found.filter(|(_, one)| one.study == study && one.number == number);
        let Some((id, entry)) = of_run.next() else {
            return Ok(None);
        };
        let entry = aside(|| counted(folder, id, entry));
        Ok(Some(
            entry.map_err(|error| failed(&file_of(folder), &error))?,
        ))
    }
}

fn file_of(folder: &Path) -> PathBuf {
    folder.join("journal.sqlite")
}

/// The runs of a journal by their row, with their frames not counted.
fn found(folder: &Path) -> Result<Vec<(i64, Entry)>, JournalError> {
    let file = file_of(folder);
    if !file.exists() {
        return Ok(Vec::new());
    }
    let look = || -> rusqlite::Result<Vec<(i64, Entry)>> {
        let connection = Connection::open_with_flags(&file, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        connection.busy_timeout(Duration::from_secs(5))?;
        // Another process may be setting the journal up at this moment.
        let tables = "SELECT COUNT(*) FROM sqlite_master WHERE name IN ('run', 'settled')";
        if connection.query_row(tables, [], |row| row.get::<_, i64>(0))? < 2 {
            return Ok(Vec::new());
        }
        let mut statement = connection.prepare(
            "SELECT id, study, number, site, sites, state, started, ended, rows FROM run ORDER BY id",
        )?;
        let entries = statement.query_map([], |row| {
            let state: String = row.get(5)?;
            let entry = Entry {
                study: StudyHash(row.get(1)?),
                number: row.get(2)?,
                site: row.get(3)?,
                sites: row.get(4)?,
                rows: row.get(8)?,
                is_over: state != "running",
                is_given_up: state == "given up",
                started: row.get(6)?,
                ended: row.get(7)?,
                frames: Vec::new(),
            };
            Ok((row.get::<_, i64>(0)?, entry))
        })?;
        entries.collect()
    };
    aside(look).map_err(|error| failed(&file, &error))
}

/// A run with its frames counted.
fn counted(folder: &Path, id: i64, entry: Entry) -> std::io::Result<Entry> {
    let counts = frames::counts(&frames::path(folder, id), entry.sites)?;
    let frames = (0u16..).zip(counts).filter(|(peer, _)| *peer != entry.site);
    let frames = frames.map(|(peer, (sent, received))| (peer, sent, received));
    Ok(Entry {
        frames: frames.collect(),
        ..entry
    })
}

fn failed(file: &Path, reason: &dyn std::fmt::Display) -> JournalError {
    JournalError::Failed {
        file: file.display().to_string(),
        step: "cannot be read",
        reason: reason.to_string(),
    }
}
