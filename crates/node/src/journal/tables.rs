//! The journal's tables and files, for the thread that has them: runs, their frames, and how they ended.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use hedgerow_smc::Seed;
use rusqlite::{Connection, OptionalExtension as _, params};
use zeroize::Zeroizing;

use super::file::wipe;
use super::frames::{self, End, Frames, Mark, Written};
use super::keep::{forget, seconds};
use super::sealing::{Of, Sealing};
use super::waiting::{self, Waiting};
use super::{Begun, JournalError, RunName};
use crate::agreement::StudyHash;
use crate::identity::random;
use crate::message::Reason;

/// The journal's tables. They live on the journal's own thread (see `writer`).
pub(crate) struct Tables {
    pub(super) file: PathBuf,
    pub(super) connection: Connection,
    /// The sealing of the run that is under way or looked at, and its frames.
    pub(super) sealing: Option<Arc<Sealing>>,
    pub(super) frames: Option<Frames>,
    /// Frames that wait for peers, where there is no room for them in memory.
    pub(super) waiting: Option<Waiting>,
}

/// What the journal knows of a frame that this site is about to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Marked {
    /// The frame's mark is in the journal now.
    New,
    /// The same frame was sent before a restart.
    Known,
    /// Another frame of this number was sent before a restart.
    Other,
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
        let sealing = Arc::new(sealing);
        self.sealing = Some(Arc::clone(&sealing));
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
            self.open_frames(id, name, sealing)?;
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
        self.open_frames(id, name, sealing)?;
        Ok(Begun { id, seed })
    }

    fn open_frames(
        &mut self,
        run: i64,
        name: &RunName,
        sealing: Arc<Sealing>,
    ) -> Result<(), JournalError> {
        let path = frames::path(&self.folder(), run);
        self.frames = Frames::open(path, name.sites, sealing, End::MayBeCut)?;
        self.waiting = None;
        Ok(())
    }

    /// The data folder.
    pub(super) fn folder(&self) -> PathBuf {
        self.file.parent().map_or_else(PathBuf::new, PathBuf::from)
    }

    /// Keeps what this site says before a run, for audits; what was said before a restart stays. It is on
    /// disk before anything follows.
    pub(crate) fn keep_opening(&self, run: i64, opening: &[u8]) -> Result<(), JournalError> {
        let step = "what this site says before a run cannot be kept";
        let sealing = self.sealing.as_ref();
        let sealed = sealing.and_then(|sealing| sealing.seal(Of::Opening, opening));
        let sealed = sealed.ok_or_else(|| self.no_frames(step))?;
        let keep = || {
            self.connection.execute_batch("PRAGMA synchronous = FULL")?;
            self.connection.execute(
                "UPDATE run SET opening = ?2 WHERE id = ?1 AND opening IS NULL",
                params![run, sealed],
            )?;
            self.connection.execute_batch("PRAGMA synchronous = NORMAL")
        };
        keep().map_err(|error| self.failed(step, &error))
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

    /// How many frames came from a peer and are in the journal.
    pub(crate) fn received(&self, peer: u16) -> u64 {
        self.frames
            .as_ref()
            .map_or(0, |frames| frames.received(peer))
    }

    /// The marks of the frames that were sent to a peer, in order.
    pub(crate) fn marks(&self, peer: u16) -> &[Mark] {
        self.frames
            .as_ref()
            .map_or(&[], |frames| frames.marks(peer))
    }

    /// How many frames a peer has for good, as far as it was noted.
    pub(crate) fn seen(&self, peer: u16) -> u64 {
        self.frames.as_ref().map_or(0, |frames| frames.seen(peer))
    }

    /// The run's frames, for whoever sees that what was written is on disk.
    pub(crate) fn written(&self) -> Result<Written, JournalError> {
        let written = self.frames.as_ref().map(Frames::written);
        written.ok_or_else(|| self.no_frames("frames cannot be kept"))
    }

    /// Whether all that was kept of the frames of this run is on disk.
    pub(crate) fn is_durable(&self) -> bool {
        self.frames.as_ref().is_some_and(Frames::is_durable)
    }

    /// What the marks of the run's frames are made with.
    pub(crate) fn marker(&self) -> Option<Arc<Sealing>> {
        self.sealing.clone()
    }

    /// Keeps the next frame from a peer.
    pub(crate) fn put(&mut self, peer: u16, frame: &[u8]) -> Result<(), JournalError> {
        self.frames_of_run("a frame cannot be kept")?
            .put(peer, frame)
    }

    /// Marks a frame that goes to a peer next, or compares it with the one that was sent before a
    /// restart.
    pub(crate) fn mark(
        &mut self,
        peer: u16,
        number: u64,
        frame: &[u8],
    ) -> Result<Marked, JournalError> {
        let before = usize::try_from(number).ok();
        let before = before.and_then(|number| self.marks(peer).get(number));
        if let (Some(before), Some(sealing)) = (before, &self.sealing) {
            let is_same = sealing.mark(peer, number, frame) == *before;
            return Ok(if is_same {
                Marked::Known
            } else {
                Marked::Other
            });
        }
        self.frames_of_run("a frame cannot be kept")?
            .mark(peer, frame)?;
        Ok(Marked::New)
    }

    /// Notes that a peer has so many frames for good: they need not be kept for it after a restart.
    pub(crate) fn note_seen(&mut self, peer: u16, number: u64) -> Result<(), JournalError> {
        self.frames_of_run("what a peer has cannot be noted")?
            .note_seen(peer, number)
    }

    /// Has a frame wait on disk until its peer has it.
    pub(crate) fn put_waiting(
        &mut self,
        run: i64,
        peer: u16,
        number: u64,
        frame: &[u8],
    ) -> Result<(), JournalError> {
        let waiting = match self.waiting.take() {
            Some(waiting) => waiting,
            None => {
                let sealing = self.sealing.clone();
                let sealing = sealing.ok_or_else(|| self.no_frames("a frame cannot be sealed"))?;
                Waiting::open(waiting::path(&self.folder(), run), sealing)?
            }
        };
        self.waiting.insert(waiting).put(peer, number, frame)
    }

    /// A frame that waits; `None` if it does not, any more.
    pub(crate) fn waiting(
        &mut self,
        peer: u16,
        number: u64,
    ) -> Result<Option<Vec<u8>>, JournalError> {
        match &mut self.waiting {
            Some(waiting) => waiting.get(peer, number),
            None => Ok(None),
        }
    }

    /// Forgets the frames below a number that wait for a peer.
    pub(crate) fn forget_waiting(&mut self, peer: u16, below: u64) -> Result<(), JournalError> {
        match &mut self.waiting {
            Some(waiting) => waiting.forget(peer, below),
            None => Ok(()),
        }
    }

    fn frames_of_run(&mut self, step: &'static str) -> Result<&mut Frames, JournalError> {
        let error = self.no_frames(step);
        self.frames.as_mut().ok_or(error)
    }

    fn no_frames(&self, step: &'static str) -> JournalError {
        JournalError::Failed {
            file: self.file.display().to_string(),
            step,
            reason: String::from("no run is under way, or it cannot be sealed"),
        }
    }

    /// From here on, what is kept is on disk before anything follows; all that was kept before is on
    /// disk already.
    pub(crate) fn make_durable(&mut self) -> Result<(), JournalError> {
        let durable = self.connection.execute_batch("PRAGMA synchronous = FULL");
        durable.map_err(|error| self.failed("cannot be made durable", &error))?;
        if let Some(frames) = &mut self.frames {
            frames.make_durable()?;
        }
        Ok(())
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

    /// A frame from a peer that is here.
    pub(crate) fn get(&self, peer: u16, number: u64) -> Result<Vec<u8>, JournalError> {
        match &self.frames {
            Some(frames) => frames.get(peer, number),
            None => Err(self.no_frames("a frame cannot be read")),
        }
    }

    /// Ends a run: remembers the signed release, and wipes seed and frames unless they are kept for an
    /// audit.
    pub(crate) fn finish(&mut self, run: i64, release: &[u8; 32]) -> Result<(), JournalError> {
        if let Some(frames) = &self.frames {
            // Before the run counts as over: then its frames count as whole.
            frames.close()?;
        }
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
        finish().map_err(|error| self.failed("a run cannot be ended", &error))?;
        (self.frames, self.waiting) = (None, None);
        self.sweep()
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
            _ => {
                (self.frames, self.waiting) = (None, None);
                self.sweep()
            }
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
