//! The journal's tables, for the thread that has the connection: runs, their frames, and how they ended.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use hedgerow_smc::Seed;
use rusqlite::{Connection, OptionalExtension as _, params};
use zeroize::Zeroizing;

use super::file::wipe;
use super::keep::{forget, seconds};
use super::sealing::{Of, Sealing};
use super::{Begun, JournalError, RunName, Way};
use crate::agreement::StudyHash;
use crate::identity::random;
use crate::message::Reason;

/// The journal's tables. They live on the journal's own thread (see `writer`).
pub(crate) struct Tables {
    pub(super) file: PathBuf,
    pub(super) connection: Connection,
    /// The sealing of the run that is under way or looked at.
    pub(super) sealing: Option<Sealing>,
}

impl Tables {
    /// Begins a run, or finds it again after a restart. A seed is drawn where `seed` is `None`; seed and
    /// frames are kept for the given time after the end.
    pub(crate) fn begin(
        &mut self,
        name: &RunName,
        sealing: Sealing,
        seed: Option<&Seed>,
        keep: Duration,
    ) -> Result<Begun, JournalError> {
        self.sealing = Some(sealing);
        let connection = &self.connection;
        type Found = (i64, Vec<u8>, Option<Vec<u8>>, String);
        let found: Option<Found> = connection
            .query_row(
                "SELECT id, rows, seed, state FROM run WHERE study = ?1 AND number = ?2",
                params![name.study.0, name.number],
                |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)),
            )
            .optional()
            .map_err(|error| self.failed("cannot be read", &error))?;
        if let Some((id, rows, seed, state)) = found {
            if state == "over" {
                return Err(JournalError::Over { run: name.number });
            }
            if state == "given up" {
                return Err(JournalError::GivenUp { run: name.number });
            }
            if rows != name.rows {
                return Err(JournalError::RowsChanged { run: name.number });
            }
            let seed = self.opened_seed(name.number, seed)?;
            return Ok(Begun { id, seed });
        }
        let seed = match seed {
            Some(seed) => Zeroizing::new(*seed.as_bytes()),
            None => random()?,
        };
        let sealed = self
            .sealing
            .as_ref()
            .and_then(|sealing| sealing.seal(Of::Seed, seed.as_slice()))
            .ok_or_else(|| self.no_seal(name.number))?;
        let insert = || {
            connection.execute_batch("PRAGMA synchronous = FULL")?;
            connection.execute(
                "INSERT INTO run (study, number, site, sites, rows, seed, keep, state)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 'running')",
                params![
                    name.study.0,
                    name.number,
                    name.site,
                    name.sites,
                    name.rows,
                    sealed,
                    keep.as_secs() as i64
                ],
            )?;
            let id = connection.last_insert_rowid();
            connection.execute_batch("PRAGMA synchronous = NORMAL")?;
            Ok(id)
        };
        let id = insert().map_err(|error| self.failed("a run cannot be entered", &error))?;
        Ok(Begun { id, seed })
    }

    pub(super) fn opened_seed(
        &self,
        run: u32,
        sealed: Option<Vec<u8>>,
    ) -> Result<Zeroizing<[u8; 32]>, JournalError> {
        let sealed = sealed.zip(self.sealing.as_ref());
        let opened = sealed.and_then(|(sealed, sealing)| sealing.open(Of::Seed, sealed));
        let opened = opened.map(Zeroizing::new);
        let seed = opened.and_then(|seed| <[u8; 32]>::try_from(seed.as_slice()).ok());
        seed.map(Zeroizing::new).ok_or_else(|| self.no_seal(run))
    }

    pub(super) fn no_seal(&self, run: u32) -> JournalError {
        JournalError::Sealed {
            file: self.file.display().to_string(),
            run,
        }
    }

    /// Why this site does not take part in a run of a study any more; `None` where it may. A journal
    /// that cannot be read gives `None` too.
    pub(crate) fn ended(&self, study: StudyHash, number: u32) -> Option<Reason> {
        let state: rusqlite::Result<String> = self.connection.query_row(
            "SELECT state FROM run WHERE study = ?1 AND number = ?2",
            params![study.0, number],
            |row| row.get(0),
        );
        match state.ok()?.as_str() {
            "over" => Some(Reason::Over),
            "given up" => Some(Reason::GivenUp),
            _ => None,
        }
    }

    /// How many frames of a link are in the journal; frames are numbered without gaps.
    pub(crate) fn count(&self, run: i64, peer: u16, way: Way) -> Result<u64, JournalError> {
        let connection = &self.connection;
        let count: rusqlite::Result<i64> = connection.query_row(
            "SELECT COALESCE(MAX(number) + 1, 0) FROM frame
             WHERE run = ?1 AND peer = ?2 AND sent = ?3",
            params![run, peer, way as i64],
            |row| row.get(0),
        );
        let count = count.map_err(|error| self.failed("cannot be read", &error))?;
        Ok(count.unsigned_abs())
    }

    /// Keeps a frame.
    pub(crate) fn put(
        &self,
        run: i64,
        peer: u16,
        way: Way,
        number: u64,
        bytes: &[u8],
    ) -> Result<(), JournalError> {
        let of = Of::Frame { peer, way, number };
        let sealed = self
            .sealing
            .as_ref()
            .and_then(|sealing| sealing.seal(of, bytes));
        let sealed = sealed.ok_or_else(|| self.unopened("a frame cannot be sealed"))?;
        let connection = &self.connection;
        let put = || {
            let mut statement = connection.prepare_cached(
                "INSERT INTO frame (run, peer, sent, number, bytes) VALUES (?1, ?2, ?3, ?4, ?5)",
            )?;
            statement.execute(params![run, peer, way as i64, number as i64, sealed])
        };
        put()
            .map(|_| ())
            .map_err(|error| self.failed("a frame cannot be kept", &error))
    }

    /// From here on, what is kept is on disk before anything follows, and all that was kept before
    /// is with the next entry.
    pub(crate) fn make_durable(&self) -> Result<(), JournalError> {
        let durable = self.connection.execute_batch("PRAGMA synchronous = FULL");
        durable.map_err(|error| self.failed("cannot be made durable", &error))
    }

    /// Remembers that a peer has everything of a run, and knows that this site has.
    pub(crate) fn settle(&self, run: i64, peer: u16) -> Result<(), JournalError> {
        let settled = self.connection.execute(
            "INSERT OR IGNORE INTO settled (run, peer) VALUES (?1, ?2)",
            params![run, peer],
        );
        settled
            .map(|_| ())
            .map_err(|error| self.failed("a peer cannot be noted", &error))
    }

    /// Whether a peer has everything of a run, and knows that this site has.
    pub(crate) fn is_settled(&self, run: i64, peer: u16) -> Result<bool, JournalError> {
        let settled = self.connection.query_row(
            "SELECT EXISTS (SELECT 1 FROM settled WHERE run = ?1 AND peer = ?2)",
            params![run, peer],
            |row| row.get(0),
        );
        settled.map_err(|error| self.failed("cannot be read", &error))
    }

    /// A frame that is here.
    pub(crate) fn get(
        &self,
        run: i64,
        peer: u16,
        way: Way,
        number: u64,
    ) -> Result<Vec<u8>, JournalError> {
        let connection = &self.connection;
        let get = || {
            let mut statement = connection.prepare_cached(
                "SELECT bytes FROM frame WHERE run = ?1 AND peer = ?2 AND sent = ?3 AND number = ?4",
            )?;
            statement.query_row(params![run, peer, way as i64, number as i64], |row| {
                row.get(0)
            })
        };
        let sealed = get().map_err(|error| self.failed("a frame cannot be read", &error))?;
        let of = Of::Frame { peer, way, number };
        let opened = self
            .sealing
            .as_ref()
            .and_then(|sealing| sealing.open(of, sealed));
        opened.ok_or_else(|| self.unopened("a frame cannot be opened"))
    }

    fn unopened(&self, step: &'static str) -> JournalError {
        JournalError::Failed {
            file: self.file.display().to_string(),
            step,
            reason: String::from("it is not as this site sealed it"),
        }
    }

    /// Ends a run: remembers the signed release, and wipes seed and frames unless they are kept for an
    /// audit.
    pub(crate) fn finish(&mut self, run: i64, release: &[u8; 32]) -> Result<(), JournalError> {
        let connection = &mut self.connection;
        let mut finish = || -> rusqlite::Result<()> {
            connection.execute_batch("PRAGMA synchronous = FULL")?;
            let transaction = connection.transaction()?;
            transaction.execute(
                "UPDATE run SET state = 'over', release = ?2, ended = CURRENT_TIMESTAMP,
                 kept_until = ?3 + keep WHERE id = ?1",
                params![run, release, seconds(SystemTime::now())],
            )?;
            forget(&transaction, run)?;
            transaction.commit()?;
            wipe(connection)
        };
        finish().map_err(|error| self.failed("a run cannot be ended", &error))
    }

    /// Gives a run up: nothing of the run remains but its number, which is never used again, and what an
    /// audit needs. Frames made with another seed must not meet the frames that peers have.
    pub(super) fn abandon(&mut self, study: StudyHash, number: u32) -> Result<(), JournalError> {
        let state: Option<String> = self
            .connection
            .query_row(
                "SELECT state FROM run WHERE study = ?1 AND number = ?2",
                params![study.0, number],
                |row| row.get(0),
            )
            .optional()
            .map_err(|error| self.failed("cannot be read", &error))?;
        match state.as_deref() {
            Some("over") => return Err(JournalError::Over { run: number }),
            Some("given up") => return Err(JournalError::GivenUp { run: number }),
            _ => {}
        }
        let connection = &mut self.connection;
        let mut abandon = || -> rusqlite::Result<usize> {
            connection.execute_batch("PRAGMA synchronous = FULL")?;
            let transaction = connection.transaction()?;
            let found = transaction.execute(
                "UPDATE run SET state = 'given up', ended = CURRENT_TIMESTAMP,
                 kept_until = ?3 + keep WHERE study = ?1 AND number = ?2",
                params![study.0, number, seconds(SystemTime::now())],
            )?;
            if found > 0 {
                let id = transaction.query_row(
                    "SELECT id FROM run WHERE study = ?1 AND number = ?2",
                    params![study.0, number],
                    |row| row.get(0),
                )?;
                forget(&transaction, id)?;
            }
            transaction.commit()?;
            wipe(connection)?;
            Ok(found)
        };
        match abandon().map_err(|error| self.failed("a run cannot be given up", &error))? {
            0 => Err(JournalError::NoRun {
                folder: self.file.display().to_string(),
                run: number,
            }),
            _ => Ok(()),
        }
    }

    pub(super) fn failed(&self, step: &'static str, error: &rusqlite::Error) -> JournalError {
        JournalError::Failed {
            file: self.file.display().to_string(),
            step,
            reason: error.to_string(),
        }
    }
}
