//! The journal's file: its tables, how it is opened, and how what was deleted leaves it.

use std::path::Path;
use std::time::Duration;

use rusqlite::Connection;

use super::JournalError;

/// What a run writes here is its ledger, line by line, and frames lie elsewhere (`frames`). So pages are
/// small, and the log, which has whole pages, is copied into the file every 32 of them: that waits for the
/// disk, and keeps the log small.
pub(super) const SETTINGS: &str = "
PRAGMA page_size = 1024;
PRAGMA journal_mode = WAL;
PRAGMA synchronous = NORMAL;
PRAGMA wal_autocheckpoint = 32;
PRAGMA secure_delete = ON;
PRAGMA foreign_keys = ON;
";

/// The version of the tables, in the file's `user_version`.
pub(super) const VERSION: i64 = 3;

pub(super) const SCHEMA: &str = "
CREATE TABLE IF NOT EXISTS run (
    id INTEGER PRIMARY KEY,
    study BLOB NOT NULL,        -- the study's hash
    number INTEGER NOT NULL,    -- which run of the study
    site INTEGER NOT NULL,      -- this site's place in the study
    sites INTEGER NOT NULL,
    rows BLOB NOT NULL,         -- digest of the rows that take part
    seed BLOB,                  -- sealed; wiped when the run is over and no audit can come
    opening BLOB,               -- what this site said before the run; sealed, and wiped with the seed
    keep INTEGER NOT NULL DEFAULT 0,    -- seconds for which seed and frames stay after the end
    kept_until INTEGER,         -- until when, in seconds since 1970
    state TEXT NOT NULL CHECK (state IN ('running', 'over', 'given up')),
    release BLOB,               -- what all sites signed
    started TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP,
    ended TEXT,
    UNIQUE (study, number)
);
CREATE TABLE IF NOT EXISTS settled (    -- peers that have everything, and know that this site has
    run INTEGER NOT NULL REFERENCES run (id),
    peer INTEGER NOT NULL,
    PRIMARY KEY (run, peer)
);
";

/// The version of a journal's tables; a new one gets this hedgerow's.
pub(super) fn version(connection: &Connection) -> rusqlite::Result<i64> {
    let number = |text| connection.query_row(text, [], |row| row.get::<_, i64>(0));
    let found = number("PRAGMA user_version")?;
    let tables = number("SELECT COUNT(*) FROM sqlite_master WHERE type = 'table'")?;
    if found == 0 && tables == 0 {
        connection.execute_batch(&format!("PRAGMA user_version = {VERSION}"))?;
        return Ok(VERSION);
    }
    Ok(found)
}

/// Removes deleted data from the write-ahead log too. A process that reads the journal meanwhile keeps the
/// data there; then this fails, rather than claim that nothing is kept. The call may wait for a moment, on
/// the journal's own thread.
pub(super) fn wipe(connection: &Connection) -> rusqlite::Result<()> {
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
pub(super) fn checkpoint(connection: &Connection) -> rusqlite::Result<bool> {
    let is_busy: i64 =
        connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))?;
    Ok(is_busy == 0)
}

pub(super) fn is_busy(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode::{DatabaseBusy, DatabaseLocked};
    matches!(
        error.sqlite_error_code(),
        Some(DatabaseBusy | DatabaseLocked)
    )
}

/// Opens an SQLite file that only its owner may read; files that SQLite makes beside it get the same
/// mode.
pub(crate) fn open_private(path: &Path) -> Result<Connection, JournalError> {
    let failed = |reason: &dyn std::fmt::Display| JournalError::Failed {
        file: path.display().to_string(),
        step: "cannot be opened",
        reason: reason.to_string(),
    };
    let mut options = std::fs::OpenOptions::new();
    // A file that exists is left to SQLite: closing it here would undo this process's locks on it.
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
