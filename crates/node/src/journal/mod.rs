//! The journal of a site's runs: an SQLite file that an auditor can open, and beside it a file of the
//! frames of each run (`frames`).
//!
//! A site's part in a run is a deterministic function of its rows, its seed and the frames it received,
//! in order per peer. So the journal holds the seed, a digest of the rows, and every frame received
//! before the protocol sees it. Of a frame sent it holds a mark, before the frame goes on the line: 23
//! bytes by which the frame is known again. After a crash the protocol runs again from the start:
//! received frames come from the journal, sent frames are made again and held against their marks, and
//! peers are sent, byte for byte, what they lack. A frame that differs is not sent.
//!
//! What a site has sent it keeps in memory until the peer confirms it, and forgets it then (`lines`). So
//! a frame is confirmed only when it is on disk for good: the file is synced every few milliseconds
//! while frames come, aside from whoever waits. A killed process loses nothing that it wrote; a power cut
//! may take the end of the file. What came in it was not confirmed, and the peers send it again; what was
//! sent in it follows again from the seed.
//!
//! A run's first and last entries are on disk before anything follows. A peer comes to its end, and
//! wipes its seed, only after it has this site's seal; so from that seal on every entry is on disk
//! before a frame is sent or confirmed, and with the seal everything before it. When a run is over, its
//! seed and frames are overwritten and removed; where the study demands audits, this happens when the
//! time for audits is over.
//!
//! What a run writes is about as much as it receives: 35 bytes more for a frame, and 23 for a frame sent.
//! Only frames to peers that do not confirm 128 MiB before them wait on disk too (`waiting`).
//!
//! Everything is written and read on the journal's own thread, which has the connection (`writer`):
//! tasks of the runtime wait for answers, never for the disk.
//!
//! Seed and frames are sealed under a key that follows from the site's own (`sealing`), while a run
//! lasts and after. The folder and its files are the owner's only.
//!
//! # Discloses
//! To whoever may read the files and not the site's key: the runs, how many frames of which lengths came
//! from which sites, and how many went to which.

mod error;
mod file;
mod frames;
mod history;
mod keep;
mod lock;
mod look;
mod sealing;
mod tables;
mod waiting;
mod writer;

use std::path::Path;
use std::time::{Duration, SystemTime};

use hedgerow_smc::Seed;
use zeroize::Zeroizing;

use crate::agreement::StudyHash;
use crate::aside;
use crate::identity::Secret;
pub use error::JournalError;
pub(crate) use file::open_private;
use file::{SCHEMA, SETTINGS, VERSION, checkpoint, version};
pub(crate) use frames::{Mark, Written};
pub(crate) use history::Account;
pub use history::{AccountOfRun, Accounts, Learned};
pub use lock::Up;
pub use look::Entry;
pub(crate) use sealing::Sealing;
pub(crate) use tables::{Marked, Tables};
use writer::Writer;

/// The way a frame goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    Received = 0,
    Sent = 1,
}

/// A site's journal, held by this process alone until the value is dropped.
pub struct Journal {
    writer: Writer,
}

/// What names a run and its rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunName {
    /// The study.
    pub study: StudyHash,
    /// The number of the run in the study.
    pub number: u32,
    /// This site's place in the study.
    pub site: u16,
    /// How many sites take part.
    pub sites: u16,
    /// The digest of this site's rows.
    pub rows: [u8; 32],
}

/// A run that was begun or found again.
pub(crate) struct Begun {
    pub(crate) id: i64,
    pub(crate) seed: Zeroizing<[u8; 32]>,
}

impl Journal {
    /// Opens the journal of a data folder for this process alone; makes the journal where it is missing.
    pub fn open(folder: &Path) -> Result<Self, JournalError> {
        aside(|| Self::open_here(folder))
    }

    fn open_here(folder: &Path) -> Result<Self, JournalError> {
        let failed = |step, reason: &dyn std::fmt::Display| JournalError::Failed {
            file: folder.display().to_string(),
            step,
            reason: reason.to_string(),
        };
        let mut builder = std::fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder
            .create(folder)
            .map_err(|error| failed("cannot be made", &error))?;

        let Some(lock) = lock::lock(&folder.join("lock"))? else {
            let folder = folder.display().to_string();
            return Err(JournalError::Busy { folder });
        };
        let file = folder.join("journal.sqlite");
        let mut tables = Tables {
            connection: open_private(&file)?,
            file,
            sealing: None,
            frames: None,
            waiting: None,
        };
        tables.set_up()?;
        tables.forget_old(SystemTime::now())?;
        let writer = Writer::start(tables, lock);
        Ok(Self {
            writer: writer.map_err(|error| failed("has no thread to be written on", &error))?,
        })
    }

    /// Begins a run, or finds it again after a restart. A seed is drawn where `seed` is `None`; seed and
    /// frames are kept for the given time after the end.
    pub(crate) async fn begin(
        &self,
        name: RunName,
        secret: &Secret,
        seed: Option<Seed>,
        keep: Duration,
    ) -> Result<Begun, JournalError> {
        let sealing = Sealing::new(secret, name.study, name.number);
        self.ask(move |tables| {
            let sealing = sealing.ok_or_else(|| tables.no_seal(name.number))?;
            tables.begin(&name, sealing, seed.as_ref(), keep)
        })
        .await
    }

    /// The name, seed and frames of an ended run, for an audit; and whether the run came to a release.
    pub(crate) async fn kept(
        &self,
        study: StudyHash,
        number: u32,
        secret: &Secret,
    ) -> Result<(RunName, Begun, bool), JournalError> {
        let sealing = Sealing::new(secret, study, number);
        self.ask(move |tables| {
            let sealing = sealing.ok_or_else(|| tables.no_seal(number))?;
            tables.kept(study, number, sealing)
        })
        .await
    }

    /// The frames that came from a peer in a run of which frames are kept, for whoever has the site's
    /// key.
    pub fn received(
        &self,
        (study, number): (StudyHash, u32),
        secret: &Secret,
        from: u16,
    ) -> Result<Vec<Vec<u8>>, JournalError> {
        let sealing = Sealing::new(secret, study, number);
        self.call(move |tables| {
            let sealing = sealing.ok_or_else(|| tables.no_seal(number))?;
            tables.kept(study, number, sealing)?;
            (0..tables.received(from))
                .map(|place| tables.get(from, place))
                .collect()
        })
    }

    /// Gives a run up: nothing of the run remains but its number, which is never used again, and what an
    /// audit needs. Frames made with another seed must not meet the frames that peers have.
    pub fn abandon(&self, study: StudyHash, number: u32) -> Result<(), JournalError> {
        self.call(move |tables| tables.abandon(study, number))
    }

    /// Wipes what was kept for audits that can no longer come.
    pub fn forget_old(&self, now: SystemTime) -> Result<(), JournalError> {
        self.call(move |tables| tables.forget_old(now))
    }

    /// Does work with the tables, after all work that was asked for before, and waits for its result.
    /// Not for tasks of a runtime: see [`Journal::ask`].
    pub(crate) fn call<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Tables) -> Result<T, JournalError> + Send + 'static,
    ) -> Result<T, JournalError> {
        self.writer.call(work)
    }

    /// As [`Journal::call`], for tasks: they wait without blocking a thread. The work is done even if
    /// nobody waits for it any more.
    pub(crate) async fn ask<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Tables) -> Result<T, JournalError> + Send + 'static,
    ) -> Result<T, JournalError> {
        self.writer.ask(work).await
    }

    /// As [`Journal::call`], without waiting: `then` gets the result, on the journal's thread, before
    /// other work is done there.
    pub(crate) fn post<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Tables) -> Result<T, JournalError> + Send + 'static,
        then: impl FnOnce(Result<T, JournalError>) + Send + 'static,
    ) {
        self.writer.post(work, then);
    }

    /// The error where the journal's thread does not answer.
    pub(crate) fn gone(&self) -> JournalError {
        self.writer.gone()
    }
}

impl Tables {
    /// Sees that the file is of this version, and makes the tables where they are missing.
    fn set_up(&self) -> Result<(), JournalError> {
        let connection = &self.connection;
        let set_up = connection
            .execute_batch(SETTINGS)
            .and_then(|()| version(connection));
        let found = set_up.map_err(|error| self.failed("cannot be set up", &error))?;
        if found != VERSION {
            return Err(JournalError::Version {
                file: self.file.display().to_string(),
                found,
                expected: VERSION,
            });
        }
        let set_up = connection
            .execute_batch(SCHEMA)
            .and_then(|()| connection.execute_batch(history::SCHEMA));
        set_up.map_err(|error| self.failed("cannot be set up", &error))?;
        // Wipes data that a reader kept from being removed earlier.
        let _ = checkpoint(connection);
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
