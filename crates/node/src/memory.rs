//! What a site remembers of its rows across all studies: which runs they were in, and what its officer
//! said of runs.
//!
//! Two releases of the same people tell together more than each, whatever the names of their studies and
//! their k. So a run is remembered by the **source** of its rows and not by its study, in a file that
//! every study of the site finds: beside the site's key, which signs all of them, or where `memory` in
//! the site's file says. (A data folder belongs to one study, so the memory cannot lie in it.)
//!
//! What is the same source? Columns, domains and k are a study's, so codes cannot tell. A source is known
//! again by any of three things:
//!
//! - its name: the file by its canonical path; a database by host, port and name, and not by its table or
//!   query, since a query can read any of its tables;
//! - its bytes, where it is a file: a copy under another name is the same people;
//! - its coded rows, in any order: the same people from elsewhere, under a study with the same columns.
//!
//! The rule errs on the safe side: two tables of one database that have nobody in common count as one
//! source, and the officer, who knows better, may allow the run. The memory cannot see a copy with one
//! record changed; such a copy is the site's own affair.
//!
//! A run counts from the moment that all its sites have joined, because what is sent from then on
//! carries this site's rows, and peers keep what they learn from a run that fails. A run that ended
//! before that moment uses nothing up.
//!
//! # Discloses
//! To whoever may read the file, which is its owner's only: names of sources, studies and runs, numbers
//! of records, and digests under a key that lies in the same file, so that no two memories can be
//! compared.

mod officer;
mod print;

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension as _, Row, params};

use crate::agreement::StudyHash;
use crate::aside;
use crate::journal::{JournalError, open_private};
use officer::forget_question;
pub use officer::{Decision, Question};
pub use print::Print;

/// The name that the file has beside a site's key.
pub const FILE: &str = "hedgerow-memory.sqlite";

/// Others of this site are done within this time: each has the file for a moment.
const BUSY_TIMEOUT: Duration = Duration::from_secs(20);

const SCHEMA: &str = "
PRAGMA secure_delete = ON;
CREATE TABLE IF NOT EXISTS digest_key (bytes BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS run (
    site TEXT NOT NULL,
    study BLOB NOT NULL,
    number INTEGER NOT NULL,
    name TEXT NOT NULL,         -- what the study is called
    source TEXT NOT NULL,
    bytes BLOB,                 -- digest of a file
    rows BLOB,                  -- digest of the coded rows; none where they are not known any more
    records INTEGER NOT NULL,
    begun TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP,
    has_sent INTEGER NOT NULL DEFAULT 0,
    ended TEXT,
    how TEXT,
    PRIMARY KEY (site, study, number)
);
CREATE TABLE IF NOT EXISTS question (   -- runs that wait for the officer
    site TEXT NOT NULL,
    study BLOB NOT NULL,
    number INTEGER NOT NULL,
    why TEXT NOT NULL,
    rows BLOB NOT NULL,         -- the rows that it is about
    asked TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP,
    PRIMARY KEY (site, study, number)
);
CREATE TABLE IF NOT EXISTS decision (
    site TEXT NOT NULL,
    study BLOB NOT NULL,
    number INTEGER NOT NULL,
    is_approved INTEGER NOT NULL,
    rows BLOB,                  -- the rows that it is about, where they were asked about before
    decided TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP,
    PRIMARY KEY (site, study, number)
);
";

/// What can go wrong with a memory.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MemoryError {
    /// The file system or SQLite refuses.
    #[error(
        "{file}: what this site remembers of its runs {step}: {reason}\nhint: see that this user may read and write there, or say another place with memory = \"…\" in the site's file"
    )]
    Failed {
        /// The file.
        file: String,
        /// What was tried.
        step: &'static str,
        /// What SQLite or the operating system said.
        reason: String,
    },
}

/// A run of a study at a site.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    /// The site's name.
    pub site: String,
    /// The study.
    pub study: StudyHash,
    /// The number of the run in the study.
    pub number: u32,
}

/// A run that the rows, or others of their source, were in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Earlier {
    /// The study's name.
    pub study: String,
    /// The study, in this version of it.
    pub hash: StudyHash,
    /// The number of the run in the study.
    pub number: u32,
    /// When the run began.
    pub begun: String,
    /// How the run ended, if it has ended.
    pub how: Option<String>,
    /// How many records the run had, if anybody knows.
    pub records: Option<u64>,
    /// Whether the rows were the same; false where nobody knows any more which rows they were.
    pub is_same_rows: bool,
    /// Whether the run's release is one of the study that is to run, and can be laid beside the next; the memory
    /// does not know, and says no.
    pub has_release: bool,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// The run ended with a release.
    Released,
    /// The site's steward gave the run up.
    GivenUp,
}

/// A site's memory: where it lies. Every call opens the file for a moment, so that a node and a typed
/// command can both use it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Memory {
    file: PathBuf,
}

impl Memory {
    /// The memory in a file; the file is made when the first run is remembered.
    pub fn at(file: &Path) -> Self {
        Self {
            file: file.to_owned(),
        }
    }

    /// Enters a run that has begun; an entry that exists stays unchanged. The run waits for nobody any
    /// more.
    pub fn enter(&self, mark: &Mark, name: &str, print: &Print) -> Result<(), MemoryError> {
        self.put(|connection| {
            connection.execute(
                "INSERT OR IGNORE INTO run (site, study, number, name, source, bytes, rows, records)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
                params![
                    mark.site,
                    mark.study.0,
                    mark.number,
                    name,
                    print.source,
                    print.bytes,
                    print.rows,
                    print.records as i64
                ],
            )?;
            forget_question(connection, mark)
        })
    }

    /// Remembers, before it happens, that this site's rows go into what is sent, if the rows still may:
    /// the memory looks again, in the same step, at what other runs did meanwhile. From here on the run
    /// counts. Returns whether the rows may be sent.
    pub fn sends(
        &self,
        mark: &Mark,
        print: &Print,
        may_send: impl FnOnce(&[Earlier]) -> bool,
    ) -> Result<bool, MemoryError> {
        self.change("cannot be added to", |connection| {
            let has_sent: Option<bool> = connection
                .query_row(
                    "SELECT has_sent FROM run WHERE site = ?1 AND study = ?2 AND number = ?3",
                    params![mark.site, mark.study.0, mark.number],
                    |row| row.get(0),
                )
                .optional()?;
            if has_sent == Some(true) {
                return Ok(true);
            }
            if !may_send(&runs_before(connection, mark, print)?) {
                return Ok(false);
            }
            connection.execute(
                "UPDATE run SET has_sent = 1 WHERE site = ?1 AND study = ?2 AND number = ?3",
                params![mark.site, mark.study.0, mark.number],
            )?;
            Ok(true)
        })
    }

    /// Remembers how a run ended.
    pub fn ends(&self, mark: &Mark, how: How) -> Result<(), MemoryError> {
        let how = match how {
            How::Released => "released",
            How::GivenUp => "given up",
        };
        self.put(|connection| {
            connection.execute(
                "UPDATE run SET how = ?4, ended = CURRENT_TIMESTAMP
                 WHERE site = ?1 AND study = ?2 AND number = ?3",
                params![mark.site, mark.study.0, mark.number, how],
            )?;
            forget_question(connection, mark)
        })
    }

    /// Remembers that this source may have been in runs of a study of which nothing is known.
    pub fn loses(
        &self,
        site: &str,
        study: StudyHash,
        name: &str,
        source: &str,
    ) -> Result<(), MemoryError> {
        self.put(|connection| {
            connection.execute(
                "INSERT OR IGNORE INTO run
                 (site, study, number, name, source, records, has_sent, ended, how)
                 VALUES (?1, ?2, 0, ?3, ?4, 0, 1, CURRENT_TIMESTAMP, 'lost')",
                params![site, study.0, name, source],
            )
        })
    }

    /// How many runs of a study this site has entered, not counting lost runs.
    pub fn entered(&self, site: &str, study: StudyHash) -> Result<u32, MemoryError> {
        let count = self.look(|connection| {
            connection.query_row(
                "SELECT COUNT(*) FROM run WHERE site = ?1 AND study = ?2 AND how IS NOT 'lost'",
                params![site, study.0],
                |row| row.get(0),
            )
        })?;
        Ok(count.unwrap_or(0))
    }

    /// Whether this site has begun a run.
    pub fn has_begun(&self, mark: &Mark) -> Result<bool, MemoryError> {
        let found = self.look(|connection| {
            connection.query_row(
                "SELECT EXISTS (SELECT 1 FROM run WHERE site = ?1 AND study = ?2 AND number = ?3)",
                params![mark.site, mark.study.0, mark.number],
                |row| row.get(0),
            )
        })?;
        Ok(found.unwrap_or(false))
    }

    /// The runs that count and that these rows, or others of their source, were in, oldest first; `mark`
    /// apart.
    pub fn earlier(&self, mark: &Mark, print: &Print) -> Result<Vec<Earlier>, MemoryError> {
        let found = self.look(|connection| runs_before(connection, mark, print))?;
        Ok(found.unwrap_or_default())
    }

    /// Reads from the file, if it exists.
    fn look<T>(
        &self,
        look: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, MemoryError> {
        if !self.file.exists() {
            return Ok(None);
        }
        self.change("cannot be read", look).map(Some)
    }

    /// Adds to the file.
    fn put(
        &self,
        put: impl FnOnce(&Connection) -> rusqlite::Result<usize>,
    ) -> Result<(), MemoryError> {
        self.change("cannot be added to", put).map(|_| ())
    }

    /// Changes the file in one transaction, which is on disk when this returns.
    fn change<T>(
        &self,
        step: &'static str,
        change: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, MemoryError> {
        let opened = open_private(&self.file).map_err(|error| match error {
            JournalError::Failed { reason, .. } => self.failed("cannot be opened", &reason),
            other => self.failed("cannot be opened", &other),
        });
        let mut connection = opened?;
        let work = || -> rusqlite::Result<T> {
            connection.busy_timeout(BUSY_TIMEOUT)?;
            let transaction =
                connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
            transaction.execute_batch(SCHEMA)?;
            let done = change(&transaction)?;
            transaction.commit()?;
            Ok(done)
        };
        aside(work).map_err(|error| self.failed(step, &error))
    }

    fn failed(&self, step: &'static str, reason: &dyn std::fmt::Display) -> MemoryError {
        MemoryError::Failed {
            file: self.file.display().to_string(),
            step,
            reason: reason.to_string(),
        }
    }
}

/// The runs that count and that these rows, or others of their source, were in, oldest first; `mark`
/// apart.
fn runs_before(
    connection: &Connection,
    mark: &Mark,
    print: &Print,
) -> rusqlite::Result<Vec<Earlier>> {
    let mut statement = connection.prepare(
        "SELECT name, number, begun, how, records, source, bytes, rows, study FROM run
         WHERE has_sent = 1 AND NOT (site = ?1 AND study = ?2 AND number = ?3)
         ORDER BY begun, rowid",
    )?;
    let rows = statement.query_map(params![mark.site, mark.study.0, mark.number], |row| {
        earlier(row, print)
    })?;
    let found = rows.collect::<rusqlite::Result<Vec<_>>>()?;
    Ok(found.into_iter().flatten().collect())
}

/// A run of the memory, if these rows or their source were in the run.
fn earlier(row: &Row<'_>, print: &Print) -> rusqlite::Result<Option<Earlier>> {
    let (source, bytes): (String, Option<[u8; 32]>) = (row.get(5)?, row.get(6)?);
    let rows: Option<[u8; 32]> = row.get(7)?;
    let records: i64 = row.get(4)?;
    let is_same_file = bytes.is_some() && bytes == print.bytes;
    let is_same_rows = is_same_file || rows == Some(print.rows);
    // Two empty tables have nobody in common.
    if source != print.source && !(is_same_rows && print.records > 0) {
        return Ok(None);
    }
    Ok(Some(Earlier {
        study: row.get(0)?,
        hash: StudyHash(row.get(8)?),
        number: row.get(1)?,
        begun: row.get(2)?,
        how: row.get(3)?,
        records: Some(records.unsigned_abs()),
        is_same_rows,
        has_release: false,
    }))
}
