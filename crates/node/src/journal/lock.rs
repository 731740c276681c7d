//! Locks of a data folder, which no process can keep beyond its end: one of whoever is at work with the
//! journal, and one of a node for as long as the node is up.
//!
//! A lock is an SQLite file with an exclusive transaction in it. Whoever asks takes a reader's lock for a
//! moment, which readers share.

use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use super::JournalError;
use super::file::{is_busy, open_private};
use crate::aside;

/// Whoever asks whether a lock is held is done within this time.
const BUSY_TIMEOUT: Duration = Duration::from_millis(200);
/// The lock of a node, in its data folder.
const NODE: &str = "node.lock";

/// Says that a node is up at a data folder, until the value is dropped or the process ends.
pub struct Up {
    _lock: Mutex<Connection>,
}

impl Up {
    /// Takes the lock of a folder that exists; nothing where another node has it.
    pub fn take(folder: &Path) -> Result<Option<Self>, JournalError> {
        let taken = aside(|| lock(&folder.join(NODE)))?;
        Ok(taken.map(|lock| Self {
            _lock: Mutex::new(lock),
        }))
    }

    /// Whether a node is up at a folder.
    pub fn is_taken(folder: &Path) -> Result<bool, JournalError> {
        is_locked(&folder.join(NODE))
    }
}

/// Takes a lock, for as long as the connection lives; nothing where another has it.
pub(super) fn lock(file: &Path) -> Result<Option<Connection>, JournalError> {
    let lock = open_private(file)?;
    let taken = lock
        .busy_timeout(BUSY_TIMEOUT)
        .and_then(|()| lock.execute_batch("BEGIN EXCLUSIVE"));
    match taken {
        Ok(()) => Ok(Some(lock)),
        Err(error) if is_busy(&error) => Ok(None),
        Err(error) => Err(failed(file, "cannot be locked", &error)),
    }
}

/// Whether a process holds a lock.
pub(super) fn is_locked(file: &Path) -> Result<bool, JournalError> {
    if !file.exists() {
        return Ok(false);
    }
    let ask = || -> rusqlite::Result<i64> {
        let connection = Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        connection.busy_timeout(Duration::ZERO)?;
        connection.query_row("SELECT COUNT(*) FROM sqlite_master", [], |row| row.get(0))
    };
    match aside(ask) {
        Ok(_) => Ok(false),
        Err(error) if is_busy(&error) => Ok(true),
        Err(error) => Err(failed(file, "cannot be read", &error)),
    }
}

fn failed(file: &Path, step: &'static str, reason: &dyn std::fmt::Display) -> JournalError {
    JournalError::Failed {
        file: file.display().to_string(),
        step,
        reason: reason.to_string(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_node_is_up_until_its_lock_is_dropped() {
        let folder = tempfile::tempdir().unwrap();
        assert!(!Up::is_taken(folder.path()).unwrap());
        for _ in 0..2 {
            let up = Up::take(folder.path()).unwrap().unwrap();
            for _ in 0..3 {
                assert!(Up::is_taken(folder.path()).unwrap());
                assert!(Up::take(folder.path()).unwrap().is_none());
            }
            drop(up);
            assert!(!Up::is_taken(folder.path()).unwrap());
        }
        assert!(Up::take(&folder.path().join("not there")).is_err());
    }
}
