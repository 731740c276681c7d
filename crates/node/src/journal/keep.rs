//! What stays of a run that has ended: its entry for good; seed and frames for as long as the study's
//! audits may come, and not a moment longer than the next look.

use std::time::{SystemTime, UNIX_EPOCH};

use rusqlite::{Connection, OptionalExtension as _, params};

use super::file::wipe;
use super::sealing::Sealing;
use super::{Begun, JournalError, RunName, Tables};
use crate::agreement::StudyHash;

impl Tables {
    /// Wipes what was kept for audits that can no longer come.
    pub(super) fn forget_old(&mut self, now: SystemTime) -> Result<(), JournalError> {
        let connection = &mut self.connection;
        let mut forget = || -> rusqlite::Result<()> {
            let old = "kept_until <= ?1 AND seed IS NOT NULL AND state != 'running'";
            let now = seconds(now);
            let transaction = connection.transaction()?;
            for table in ["frame", "settled"] {
                let of_old =
                    format!("DELETE FROM {table} WHERE run IN (SELECT id FROM run WHERE {old})");
                transaction.execute(&of_old, params![now])?;
            }
            let wiped = format!("UPDATE run SET seed = NULL WHERE {old}");
            let found = transaction.execute(&wiped, params![now])?;
            transaction.commit()?;
            if found > 0 { wipe(connection) } else { Ok(()) }
        };
        forget().map_err(|error| self.failed("what is old cannot be wiped", &error))
    }

    /// The name, seed and frames of an ended run, for an audit; and whether the run came to a release.
    pub(super) fn kept(
        &mut self,
        study: StudyHash,
        number: u32,
        sealing: Sealing,
    ) -> Result<(RunName, Begun, bool), JournalError> {
        type Found = (i64, u16, u16, [u8; 32], Option<Vec<u8>>, bool);
        let found: Option<Found> = self
            .connection
            .query_row(
                "SELECT id, site, sites, rows, seed, state = 'over' FROM run WHERE study = ?1 AND number = ?2",
                params![study.0, number],
                |row| {
                    Ok((
                        row.get(0)?,
                        row.get(1)?,
                        row.get(2)?,
                        row.get(3)?,
                        row.get(4)?,
                        row.get(5)?,
                    ))
                },
            )
            .optional()
            .map_err(|error| self.failed("cannot be read", &error))?;
        let Some((id, site, sites, rows, seed, is_over)) = found else {
            return Err(JournalError::NoRun {
                folder: self.file.display().to_string(),
                run: number,
            });
        };
        if seed.is_none() {
            return Err(JournalError::NotKept { run: number });
        }
        let name = RunName {
            study,
            number,
            site,
            sites,
            rows,
        };
        self.sealing = Some(sealing);
        let seed = self.opened_seed(number, seed)?;
        Ok((name, Begun { id, seed }, is_over))
    }
}

/// Wipes what is of a run that has ended, unless an audit may come.
pub(super) fn forget(connection: &Connection, run: i64) -> rusqlite::Result<()> {
    connection.execute("DELETE FROM settled WHERE run = ?1", params![run])?;
    for statement in [
        "DELETE FROM frame WHERE run = ?1 AND run IN (SELECT id FROM run WHERE keep = 0)",
        "UPDATE run SET seed = NULL WHERE id = ?1 AND keep = 0",
    ] {
        connection.execute(statement, params![run])?;
    }
    Ok(())
}

/// Seconds since 1970.
pub(super) fn seconds(time: SystemTime) -> i64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}
