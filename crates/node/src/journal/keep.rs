//! What stays of a run that has ended: its entry for good; seed and frames for as long as the study's
//! audits may come, and not a moment longer than the next look.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use rusqlite::{Connection, OptionalExtension as _, params};

use super::file::wipe;
use super::frames::{self, End, Frames, failed, wipe as wipe_file};
use super::sealing::{Of, Sealing};
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
            let settled =
                format!("DELETE FROM settled WHERE run IN (SELECT id FROM run WHERE {old})");
            transaction.execute(&settled, params![now])?;
            let wiped = format!("UPDATE run SET seed = NULL, opening = NULL WHERE {old}");
            let found = transaction.execute(&wiped, params![now])?;
            transaction.commit()?;
            if found > 0 { wipe(connection) } else { Ok(()) }
        };
        forget().map_err(|error| self.failed("what is old cannot be wiped", &error))?;
        self.sweep()
    }

    /// Wipes the files of frames of runs whose seed is wiped, and frames that wait for peers of no
    /// process: also those that an earlier process could not wipe, or did not come to.
    pub(super) fn sweep(&mut self) -> Result<(), JournalError> {
        let folder = self.folder();
        let unread = |error: &std::io::Error| failed(&folder, "cannot be read", error);
        let files = std::fs::read_dir(&folder).map_err(|error| unread(&error))?;
        for file in files {
            let name = file.map_err(|error| unread(&error))?.file_name();
            let run = name.to_str().and_then(|name| name.strip_prefix("run-"));
            let Some((run, kind)) = run.and_then(|run| run.split_once('.')) else {
                continue;
            };
            let Some(run) = run
                .parse()
                .ok()
                .filter(|_| matches!(kind, "frames" | "waiting"))
            else {
                continue;
            };
            let is_wanted = match kind {
                "frames" => self.has_seed(run)?,
                _ => self.waiting.is_some(),
            };
            if !is_wanted {
                let path = folder.join(&name);
                let wiped = wipe_file(&path);
                wiped.map_err(|error| failed(&path, "cannot be wiped", &error))?;
            }
        }
        Ok(())
    }

    fn has_seed(&self, run: i64) -> Result<bool, JournalError> {
        let found = self.connection.query_row(
            "SELECT EXISTS (SELECT 1 FROM run WHERE id = ?1 AND seed IS NOT NULL)",
            params![run],
            |row| row.get(0),
        );
        found.map_err(|error| self.failed("cannot be read", &error))
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
        let sealing = Arc::new(sealing);
        self.sealing = Some(Arc::clone(&sealing));
        let seed = self.opened_seed(number, seed)?;
        // A run that was given up may have been killed before.
        let end = if is_over { End::IsWhole } else { End::MayBeCut };
        let path = frames::path(&self.folder(), id);
        let frames = Frames::open(path, sites, sealing, end)?;
        self.frames = Some(frames.ok_or_else(|| self.no_seal(number))?);
        Ok((name, Begun { id, seed }, is_over))
    }

    /// What this site said before a run, if it came to that.
    pub(crate) fn opening(&self, run: i64) -> Result<Option<Vec<u8>>, JournalError> {
        let sealed: rusqlite::Result<Option<Vec<u8>>> = self.connection.query_row(
            "SELECT opening FROM run WHERE id = ?1",
            params![run],
            |row| row.get(0),
        );
        let sealed = sealed.map_err(|error| self.failed("cannot be read", &error))?;
        let opened = sealed.zip(self.sealing.as_ref());
        Ok(opened.and_then(|(sealed, sealing)| sealing.open(Of::Opening, sealed)))
    }
}

/// Wipes what is of a run that has ended, unless an audit may come.
pub(super) fn forget(connection: &Connection, run: i64) -> rusqlite::Result<()> {
    connection.execute("DELETE FROM settled WHERE run = ?1", params![run])?;
    connection.execute(
        "UPDATE run SET seed = NULL, opening = NULL WHERE id = ?1 AND keep = 0",
        params![run],
    )?;
    Ok(())
}

/// Seconds since 1970.
pub(super) fn seconds(time: SystemTime) -> i64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}
