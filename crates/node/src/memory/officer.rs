//! Questions to the site's privacy officer about runs, and the officer's answers.

use rusqlite::{Connection, OptionalExtension as _, params};

use super::{Earlier, Mark, Memory, MemoryError, Print};
use crate::agreement::StudyHash;

/// The officer's word about a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decision {
    /// Whether the run may begin.
    pub is_approved: bool,
    /// The rows that the officer was asked about; `None` where the officer decided without being asked.
    pub rows: Option<[u8; 32]>,
}

impl Decision {
    /// Whether a run with these rows may begin by the officer's word. A word about certain rows allows
    /// these rows; a word without a question allows rows that were in a run before, and any rows where
    /// the rows of earlier runs are unknown.
    pub fn allows(&self, print: &Print, earlier: &[Earlier]) -> bool {
        let is_about_these = match self.rows {
            Some(rows) => rows == print.rows,
            None => {
                let is_lost = |one: &Earlier| one.how.as_deref() == Some("lost");
                earlier.iter().any(|one| one.is_same_rows) || earlier.iter().all(is_lost)
            }
        };
        self.is_approved && is_about_these
    }
}

/// A run that waits for the officer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The number of the run.
    pub number: u32,
    /// Why the run waits.
    pub why: String,
    /// Since when.
    pub asked: String,
}

impl Memory {
    /// Remembers that a run with these rows waits for the officer. A word about other rows is void.
    pub fn asks(&self, mark: &Mark, print: &Print, why: &str) -> Result<(), MemoryError> {
        self.put(|connection| {
            connection.execute(
                "DELETE FROM decision WHERE site = ?1 AND study = ?2 AND number = ?3",
                params![mark.site, mark.study.0, mark.number],
            )?;
            connection.execute(
                "INSERT OR REPLACE INTO question (site, study, number, why, rows)
                 VALUES (?1, ?2, ?3, ?4, ?5)",
                params![mark.site, mark.study.0, mark.number, why, print.rows],
            )
        })
    }

    /// The runs of a study that wait for the officer, or wait to be taken up after the officer's word.
    pub fn questions(&self, site: &str, study: StudyHash) -> Result<Vec<Question>, MemoryError> {
        let found = self.look(|connection| {
            let mut statement = connection.prepare(
                "SELECT number, why, asked FROM question WHERE site = ?1 AND study = ?2
                 ORDER BY number",
            )?;
            let rows = statement.query_map(params![site, study.0], |row| {
                Ok(Question {
                    number: row.get(0)?,
                    why: row.get(1)?,
                    asked: row.get(2)?,
                })
            })?;
            rows.collect::<rusqlite::Result<Vec<_>>>()
        })?;
        Ok(found.unwrap_or_default())
    }

    /// A run waits for nobody any more.
    pub fn answered(&self, mark: &Mark) -> Result<(), MemoryError> {
        self.put(|connection| forget_question(connection, mark))
    }

    /// Keeps the officer's word about a run, and which rows the word is about. An approval may be taken back; a
    /// refusal stays. Returns whether the word counts.
    pub fn decide(&self, mark: &Mark, is_approved: bool) -> Result<bool, MemoryError> {
        let kept = self.change("cannot be added to", |connection| {
            connection.execute(
                "INSERT INTO decision (site, study, number, is_approved, rows)
                 VALUES (?1, ?2, ?3, ?4, (SELECT rows FROM question
                 WHERE site = ?1 AND study = ?2 AND number = ?3))
                 ON CONFLICT (site, study, number) DO UPDATE
                 SET is_approved = excluded.is_approved, rows = excluded.rows
                 WHERE is_approved >= excluded.is_approved",
                params![mark.site, mark.study.0, mark.number, is_approved],
            )
        })?;
        Ok(kept > 0)
    }

    /// The officer's word about a run.
    pub fn decision(&self, mark: &Mark) -> Result<Option<Decision>, MemoryError> {
        let found = self.look(|connection| {
            connection
                .query_row(
                    "SELECT is_approved, rows FROM decision
                     WHERE site = ?1 AND study = ?2 AND number = ?3",
                    params![mark.site, mark.study.0, mark.number],
                    |row| {
                        Ok(Decision {
                            is_approved: row.get(0)?,
                            rows: row.get(1)?,
                        })
                    },
                )
                .optional()
        })?;
        Ok(found.flatten())
    }
}

/// A run waits for nobody any more.
pub(super) fn forget_question(connection: &Connection, mark: &Mark) -> rusqlite::Result<usize> {
    connection.execute(
        "DELETE FROM question WHERE site = ?1 AND study = ?2 AND number = ?3",
        params![mark.site, mark.study.0, mark.number],
    )
}
