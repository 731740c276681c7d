//! The journal of a site's runs: an SQLite file that an auditor can open.
//!
//! A site's part in a run is a deterministic function of its rows, its seed and the frames it
//! received, in order per peer. So the journal holds the seed, a digest of the rows, every frame
//! received before the protocol sees it and every frame sent before it goes on the line. After a
//! crash the protocol runs again from the start: received frames come from here, sent ones are
//! compared with what is here, and peers are sent, byte for byte, what they lack.
//!
//! A run's first and last entries are on disk before anything follows (`synchronous = FULL`).
//! Frames are committed with `NORMAL`: a killed process loses none of them; a power cut may lose
//! the last few, which the peers, who keep theirs until the end, send again, and which follow
//! again from the seed. A peer comes to its end, and forgets, only after it has this site's seal; so
//! from that seal on every frame is on disk before it is sent or acknowledged, and with the seal
//! everything before it. When a run is over, its seed and frames are overwritten and removed; where
//! the study demands audits, when the time for them is over.
//!
//! Seed and frames are sealed under a key that follows from the site's own (`sealing`), while a run
//! lasts and after. The folder and its files are the owner's only.
//!
//! # Discloses
//! To whoever may read the file and not the site's key: which runs there were, and how many frames of
//! which lengths went between which sites.

mod error;
mod history;
mod keep;
mod look;
mod sealing;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use hedgerow_smc::Seed;
use rusqlite::{Connection, OptionalExtension as _, params};
use zeroize::Zeroizing;

use crate::agreement::StudyHash;
use crate::identity::Secret;
use crate::identity::random;
use crate::message::Reason;
pub use error::JournalError;
pub(crate) use history::Account;
pub use history::Learned;
use keep::{forget, seconds};
pub use look::Entry;
use sealing::{Of, Sealing};

/// Whoever asks whether the journal is held (see `look`) is done within this time.
const ASKED: Duration = Duration::from_millis(200);

/// The log is copied into the file, which waits for the disk, every 16384 pages: 64 MiB, so that
/// most runs do it once, at their end.
const SETTINGS: &str = "
PRAGMA journal_mode = WAL;
PRAGMA synchronous = NORMAL;
PRAGMA wal_autocheckpoint = 16384;
PRAGMA secure_delete = ON;
PRAGMA foreign_keys = ON;
";

/// The version of the tables, in the file's `user_version`.
const VERSION: i64 = 2;

const SCHEMA: &str = "
CREATE TABLE IF NOT EXISTS run (
    id INTEGER PRIMARY KEY,
    study BLOB NOT NULL,        -- the study's hash
    number INTEGER NOT NULL,    -- which run of the study
    site INTEGER NOT NULL,      -- this site's place in the study
    sites INTEGER NOT NULL,
    rows BLOB NOT NULL,         -- digest of the rows that take part
    seed BLOB,                  -- sealed; wiped when the run is over and no audit can come
    keep INTEGER NOT NULL DEFAULT 0,    -- seconds for which seed and frames stay after the end
    kept_until INTEGER,         -- until when, in seconds since 1970
    state TEXT NOT NULL CHECK (state IN ('running', 'over', 'given up')),
    release BLOB,               -- what all sites signed
    started TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP,
    ended TEXT,
    UNIQUE (study, number)
);
CREATE TABLE IF NOT EXISTS frame (
    run INTEGER NOT NULL REFERENCES run (id),
    peer INTEGER NOT NULL,      -- its place in the study
    sent INTEGER NOT NULL,      -- 1: to the peer, 0: from it
    number INTEGER NOT NULL,    -- from 0 on each link and direction
    bytes BLOB NOT NULL,        -- sealed
    PRIMARY KEY (run, peer, sent, number)
);
CREATE TABLE IF NOT EXISTS settled (    -- peers that have everything, and know that this site has
    run INTEGER NOT NULL REFERENCES run (id),
    peer INTEGER NOT NULL,
    PRIMARY KEY (run, peer)
);
";

/// The way a frame goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    Received = 0,
    Sent = 1,
}

/// A site's journal, held by this process alone.
pub struct Journal {
    file: PathBuf,
    connection: Mutex<Connection>,
    /// What seals the run that is under way or looked at.
    sealing: Mutex<Option<Arc<Sealing>>>,
    /// Held for as long as the journal is.
    _lock: Mutex<Connection>,
}

/// What names a run and its rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunName {
    /// The study.
    pub study: StudyHash,
    /// Which run of it.
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
    /// Opens the journal of a data folder, which is made if it is not there, for this process
    /// alone.
    pub fn open(folder: &Path) -> Result<Self, JournalError> {
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

        let lock = open_private(&folder.join("lock"))?;
        let taken = lock
            .busy_timeout(ASKED)
            .and_then(|()| lock.execute_batch("BEGIN EXCLUSIVE"));
        taken.map_err(|error| {
            if is_busy(&error) {
                let folder = folder.display().to_string();
                JournalError::Busy { folder }
            } else {
                failed("cannot be locked", &error)
            }
        })?;
        let file = folder.join("journal.sqlite");
        let connection = open_private(&file)?;
        let journal = Self {
            file,
            connection: Mutex::new(connection),
            sealing: Mutex::new(None),
            _lock: Mutex::new(lock),
        };
        {
            let connection = journal.connection();
            let set_up = connection
                .execute_batch(SETTINGS)
                .and_then(|()| version(&connection));
            let found = set_up.map_err(|error| journal.failed("cannot be set up", &error))?;
            if found != VERSION {
                return Err(JournalError::Version {
                    file: journal.file.display().to_string(),
                    found,
                    expected: VERSION,
                });
            }
            let set_up = connection
                .execute_batch(SCHEMA)
                .and_then(|()| connection.execute_batch(history::SCHEMA));
            set_up.map_err(|error| journal.failed("cannot be set up", &error))?;
            // What a reader kept from being taken out earlier.
            let _ = checkpoint(&connection);
        }
        journal.forget_old(SystemTime::now())?;
        Ok(journal)
    }

    /// Begins a run, or finds it again after a restart. `seed` is drawn where none is given; seed and
    /// frames stay for so long after the end.
    pub(crate) fn begin(
        &self,
        name: &RunName,
        secret: &Secret,
        seed: Option<&Seed>,
        keep: Duration,
    ) -> Result<Begun, JournalError> {
        let sealing = self.seal_with(secret, name)?;
        let connection = self.connection();
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
            let seed = self.opened_seed(&sealing, name.number, seed)?;
            return Ok(Begun { id, seed });
        }
        let seed = match seed {
            Some(seed) => Zeroizing::new(*seed.as_bytes()),
            None => random()?,
        };
        let sealed = sealing
            .seal(Of::Seed, seed.as_slice())
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

    /// Seals and opens what is of a run from now on.
    fn seal_with(&self, secret: &Secret, name: &RunName) -> Result<Arc<Sealing>, JournalError> {
        let sealing = Sealing::new(secret, name).ok_or_else(|| self.no_seal(name.number))?;
        let sealing = Arc::new(sealing);
        let mut held = self.sealing.lock().unwrap_or_else(PoisonError::into_inner);
        *held = Some(Arc::clone(&sealing));
        Ok(sealing)
    }

    fn sealing(&self) -> Option<Arc<Sealing>> {
        let held = self.sealing.lock().unwrap_or_else(PoisonError::into_inner);
        held.clone()
    }

    fn opened_seed(
        &self,
        sealing: &Sealing,
        run: u32,
        sealed: Option<Vec<u8>>,
    ) -> Result<Zeroizing<[u8; 32]>, JournalError> {
        let opened = sealed.and_then(|sealed| sealing.open(Of::Seed, sealed));
        let opened = opened.map(Zeroizing::new);
        let seed = opened.and_then(|seed| <[u8; 32]>::try_from(seed.as_slice()).ok());
        seed.map(Zeroizing::new).ok_or_else(|| self.no_seal(run))
    }

    fn no_seal(&self, run: u32) -> JournalError {
        JournalError::Sealed {
            file: self.file.display().to_string(),
            run,
        }
    }

    /// Why this site does not take part in a run of a study any more, where it does not. What cannot
    /// be read says nothing.
    pub(crate) fn ended(&self, study: StudyHash, number: u32) -> Option<Reason> {
        let state: rusqlite::Result<String> = self.connection().query_row(
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

    /// How many frames of a link are here; they are numbered without gaps.
    pub(crate) fn count(&self, run: i64, peer: u16, way: Way) -> Result<u64, JournalError> {
        let connection = self.connection();
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
        let sealed = self.sealing().and_then(|sealing| sealing.seal(of, bytes));
        let sealed = sealed.ok_or_else(|| self.unopened("a frame cannot be sealed"))?;
        let connection = self.connection();
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
        let durable = self.connection().execute_batch("PRAGMA synchronous = FULL");
        durable.map_err(|error| self.failed("cannot be made durable", &error))
    }

    /// Remembers that a peer has everything of a run, and knows that this site has.
    pub(crate) fn settle(&self, run: i64, peer: u16) -> Result<(), JournalError> {
        let settled = self.connection().execute(
            "INSERT OR IGNORE INTO settled (run, peer) VALUES (?1, ?2)",
            params![run, peer],
        );
        settled
            .map(|_| ())
            .map_err(|error| self.failed("a peer cannot be noted", &error))
    }

    /// Whether a peer has everything of a run, and knows that this site has.
    pub(crate) fn is_settled(&self, run: i64, peer: u16) -> Result<bool, JournalError> {
        let settled = self.connection().query_row(
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
        let connection = self.connection();
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
        let opened = self.sealing().and_then(|sealing| sealing.open(of, sealed));
        opened.ok_or_else(|| self.unopened("a frame cannot be opened"))
    }

    fn unopened(&self, step: &'static str) -> JournalError {
        JournalError::Failed {
            file: self.file.display().to_string(),
            step,
            reason: String::from("it is not as this site sealed it"),
        }
    }

    /// Ends a run: remembers what was signed, wipes the seed and the frames unless they are kept for
    /// an audit.
    pub(crate) fn finish(&self, run: i64, release: &[u8; 32]) -> Result<(), JournalError> {
        let mut connection = self.connection();
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
            wipe(&connection)
        };
        finish().map_err(|error| self.failed("a run cannot be ended", &error))
    }

    /// Gives a run up: nothing of it remains but its number, which is never used again, and what an
    /// audit needs. Frames made with another seed must not meet those that peers have.
    pub fn abandon(&self, study: StudyHash, number: u32) -> Result<(), JournalError> {
        let mut connection = self.connection();
        let state: Option<String> = connection
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
            wipe(&connection)?;
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

    fn connection(&self) -> MutexGuard<'_, Connection> {
        // A panic elsewhere leaves no statement half done: SQLite rolls it back.
        self.connection
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn failed(&self, step: &'static str, error: &rusqlite::Error) -> JournalError {
        JournalError::Failed {
            file: self.file.display().to_string(),
            step,
            reason: error.to_string(),
        }
    }
}

/// The version of a journal's tables; a new one gets this hedgerow's.
fn version(connection: &Connection) -> rusqlite::Result<i64> {
    let number = |text| connection.query_row(text, [], |row| row.get::<_, i64>(0));
    let found = number("PRAGMA user_version")?;
    let tables = number("SELECT COUNT(*) FROM sqlite_master WHERE type = 'table'")?;
    if found == 0 && tables == 0 {
        connection.execute_batch(&format!("PRAGMA user_version = {VERSION}"))?;
        return Ok(VERSION);
    }
    Ok(found)
}

/// Takes what was deleted out of the write-ahead log too. Somebody who reads the journal meanwhile
/// keeps it there; then this fails, rather than say that nothing is kept.
fn wipe(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch("PRAGMA synchronous = NORMAL")?;
    for pause in [0, 100, 400, 1500] {
        std::thread::sleep(Duration::from_millis(pause));
        if checkpoint(connection)? {
            return Ok(());
        }
    }
    let reason = "what was deleted is still in its log, because another program reads it; once that is closed, the next run of this site takes it out";
    Err(rusqlite::Error::SqliteFailure(
        rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_BUSY),
        Some(String::from(reason)),
    ))
}

/// Empties the write-ahead log; whether nobody was in the way.
fn checkpoint(connection: &Connection) -> rusqlite::Result<bool> {
    let is_busy: i64 =
        connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))?;
    Ok(is_busy == 0)
}

fn is_busy(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode::{DatabaseBusy, DatabaseLocked};
    matches!(
        error.sqlite_error_code(),
        Some(DatabaseBusy | DatabaseLocked)
    )
}

/// Opens an SQLite file that only its owner may read; its companions take its mode.
pub(crate) fn open_private(path: &Path) -> Result<Connection, JournalError> {
    let failed = |reason: &dyn std::fmt::Display| JournalError::Failed {
        file: path.display().to_string(),
        step: "cannot be opened",
        reason: reason.to_string(),
    };
    let mut options = std::fs::OpenOptions::new();
    // A file that is there is left to SQLite: closing it here would undo this process's locks on it.
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
            return Err(failed(&error));
        }
        _ => {}
    }
    Connection::open(path).map_err(|error| failed(&error))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
