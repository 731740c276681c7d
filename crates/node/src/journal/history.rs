//! What outlives a run in the journal: what was disclosed in it, also if it failed, was given up or
//! killed; which study is a new version of which; and what was lost with an earlier journal.
//!
//! The ledger of a run is written down as it grows, added up by disclosure. A run that is taken up again
//! makes the same calls in the same order, so the entries never fall short of what an earlier process
//! saw: an entry with fewer calls than are written down changes nothing.
//!
//! # Discloses
//! To whoever may read the file: names and counts, never a value.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use hedgerow_smc::To;
use hedgerow_smc::ledger::{Disclosure, Entry as Disclosed};
use rusqlite::{Connection, OpenFlags, OptionalExtension as _, Row, params};

use super::{Journal, JournalError, Tables};
use crate::agreement::StudyHash;
use crate::aside;

pub(super) const SCHEMA: &str = "
CREATE TABLE IF NOT EXISTS learned (
    run INTEGER NOT NULL REFERENCES run (id),
    what TEXT NOT NULL,
    primitive TEXT NOT NULL,
    recipient TEXT NOT NULL,    -- the name of a site, or none: all, each about its own, and the like
    recipients TEXT NOT NULL,   -- the same in words
    allowed_by TEXT NOT NULL,
    caveat TEXT NOT NULL,       -- what could not be hidden; empty where there is nothing to say
    calls INTEGER NOT NULL,
    ended_early INTEGER NOT NULL,
    amount INTEGER NOT NULL,    -- how many values
    PRIMARY KEY (run, what, primitive, recipients, caveat)
);
CREATE TABLE IF NOT EXISTS member (     -- who took part in a run
    run INTEGER NOT NULL REFERENCES run (id),
    place INTEGER NOT NULL,
    name TEXT NOT NULL,
    PRIMARY KEY (run, place)
);
CREATE TABLE IF NOT EXISTS lineage (    -- versions of a study
    study BLOB PRIMARY KEY,
    parent BLOB NOT NULL
);
CREATE TABLE IF NOT EXISTS lost (       -- runs up to this one are not known here
    study BLOB NOT NULL,
    through INTEGER NOT NULL,
    noted TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP,
    PRIMARY KEY (study, through)
);
";

/// What was disclosed in a run: one line of its ledger, added up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Learned {
    /// What was disclosed.
    pub what: String,
    /// The primitive that disclosed it.
    pub by: String,
    /// The name of the site that alone learned it, if one did.
    pub site: Option<String>,
    /// The recipients, in words.
    pub to: String,
    /// The theorem or rule that allows the disclosure.
    pub allowed_by: String,
    /// What could not be hidden besides.
    pub caveat: Option<String>,
    /// How many calls of the primitive.
    pub calls: u64,
    /// How many of the calls ended early, and may have disclosed a part.
    pub ended_early: u64,
    /// How many values were disclosed.
    pub values: u64,
}

/// What was disclosed in runs, by study and number.
pub type Accounts = HashMap<(StudyHash, u32), AccountOfRun>;

/// What was disclosed in a run, and who took part in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AccountOfRun {
    /// The sites by place; none where the run never began.
    pub members: Vec<String>,
    /// The lines of the run's ledger.
    pub learned: Vec<Learned>,
}

const LEARNED: &str =
    "SELECT what, primitive, recipients, allowed_by, caveat, calls, ended_early, amount,
 recipient, study, number FROM learned JOIN run ON run.id = learned.run";

/// A line of a ledger, of a row of [`LEARNED`].
fn of_row(row: &Row<'_>) -> rusqlite::Result<Learned> {
    let count = |number: i64| number.unsigned_abs();
    let (caveat, site): (String, String) = (row.get(4)?, row.get(8)?);
    Ok(Learned {
        what: row.get(0)?,
        by: row.get(1)?,
        site: (!site.is_empty()).then_some(site),
        to: row.get(2)?,
        allowed_by: row.get(3)?,
        caveat: (!caveat.is_empty()).then_some(caveat),
        calls: count(row.get(5)?),
        ended_early: count(row.get(6)?),
        values: count(row.get(7)?),
    })
}

/// The ledger of a run under way, which writes itself down as it grows.
pub(crate) struct Account {
    journal: Arc<Journal>,
    run: i64,
    names: Vec<String>,
    lines: Vec<(Disclosure, Counts)>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    calls: u64,
    ended_early: u64,
    values: u64,
}

impl Account {
    /// An account of a run of the sites with these names.
    pub(crate) async fn open(
        journal: Arc<Journal>,
        run: i64,
        names: Vec<String>,
    ) -> Result<Self, JournalError> {
        let members = names.clone();
        journal
            .ask(move |tables| tables.enter_members(run, &members))
            .await?;
        Ok(Self {
            journal,
            run,
            names,
            lines: Vec::new(),
        })
    }

    /// Writes down a new entry, or a change of the entry that was `before`. The entry is in the journal
    /// when this returns, so only the protocol's own thread may call this.
    pub(crate) fn note(
        &mut self,
        before: Option<&Disclosed>,
        entry: &Disclosed,
    ) -> Result<(), JournalError> {
        let found = self
            .lines
            .iter()
            .position(|(disclosure, _)| *disclosure == entry.disclosure);
        let place = found.unwrap_or_else(|| {
            self.lines.push((entry.disclosure, Counts::default()));
            self.lines.len() - 1
        });
        let (disclosure, counts) = &mut self.lines[place];
        match before {
            None => counts.calls += 1,
            Some(before) => {
                counts.ended_early -= u64::from(!before.complete);
                counts.values -= before.values as u64;
            }
        }
        counts.ended_early += u64::from(!entry.complete);
        counts.values += entry.values as u64;
        let site = match disclosure.to {
            To::Site(site) => self.names.get(site.index()).cloned(),
            _ => None,
        };
        let (run, disclosure, counts) = (self.run, *disclosure, *counts);
        self.journal
            .call(move |tables| tables.learn(run, &disclosure, site.as_deref(), counts))
    }
}

impl Tables {
    /// The day on which a run was entered here, in days since 1970, in universal time.
    pub(crate) fn began_on(&self, run: i64) -> Result<u32, JournalError> {
        let found = self.connection.query_row(
            "SELECT CAST(strftime('%s', started) AS INTEGER) / 86400 FROM run WHERE id = ?1",
            params![run],
            |row| row.get(0),
        );
        found.map_err(|error| self.failed("cannot be read", &error))
    }

    fn learn(
        &self,
        run: i64,
        disclosure: &Disclosure,
        site: Option<&str>,
        counts: Counts,
    ) -> Result<(), JournalError> {
        let connection = &self.connection;
        let learn = || {
            let mut statement = connection.prepare_cached(
                "INSERT INTO learned
                 (run, what, primitive, recipient, recipients, caveat, allowed_by,
                  calls, ended_early, amount)
                 VALUES (?1, ?2, ?3, ?10, ?4, ?5, ?6, ?7, ?8, ?9)
                 ON CONFLICT DO UPDATE SET
                     calls = excluded.calls, ended_early = excluded.ended_early,
                     amount = excluded.amount
                 WHERE excluded.calls >= calls",
            )?;
            statement.execute(params![
                run,
                disclosure.what.name(),
                disclosure.by.name(),
                site.map_or_else(|| disclosure.to.to_string(), str::to_owned),
                disclosure.caveat.unwrap_or_default(),
                disclosure.what.allowed_by(),
                counts.calls as i64,
                counts.ended_early as i64,
                counts.values as i64,
                site.unwrap_or_default()
            ])
        };
        learn()
            .map(|_| ())
            .map_err(|error| self.failed("what was learned cannot be kept", &error))
    }

    fn enter_members(&self, run: i64, names: &[String]) -> Result<(), JournalError> {
        let connection = &self.connection;
        let enter = |(place, name): (usize, &String)| {
            connection.execute(
                "INSERT OR IGNORE INTO member (run, place, name) VALUES (?1, ?2, ?3)",
                params![run, place as i64, name],
            )
        };
        let entered = names
            .iter()
            .enumerate()
            .try_for_each(|member| enter(member).map(|_| ()));
        entered.map_err(|error| self.failed("who takes part cannot be noted", &error))
    }
}

impl Journal {
    /// Remembers of which study the study `study` is a new version.
    pub fn descends(&self, study: StudyHash, parent: StudyHash) -> Result<(), JournalError> {
        self.call(move |tables| {
            let kept = tables.connection.execute(
                "INSERT OR REPLACE INTO lineage (study, parent) VALUES (?1, ?2)",
                params![study.0, parent.0],
            );
            kept.map(|_| ())
                .map_err(|error| tables.failed("a version of a study cannot be noted", &error))
        })
    }

    /// Enters a run in which this site has no part and never will, so that the run's number is not used
    /// again.
    pub fn renounce(
        &self,
        study: StudyHash,
        number: u32,
        (site, sites): (u16, u16),
    ) -> Result<(), JournalError> {
        self.call(move |tables| {
            let kept = tables.connection.execute(
                "INSERT OR IGNORE INTO run (study, number, site, sites, rows, state, ended)
                 VALUES (?1, ?2, ?3, ?4, x'', 'given up', CURRENT_TIMESTAMP)",
                params![study.0, number, site, sites],
            );
            kept.map(|_| ())
                .map_err(|error| tables.failed("a run cannot be refused", &error))
        })
    }

    /// Remembers that runs up to the number `through` were lost with an earlier journal.
    pub fn lose(&self, study: StudyHash, through: u32) -> Result<(), JournalError> {
        self.call(move |tables| {
            let kept = tables.connection.execute(
                "INSERT OR IGNORE INTO lost (study, through) VALUES (?1, ?2)",
                params![study.0, through],
            );
            kept.map(|_| ())
                .map_err(|error| tables.failed("what was lost cannot be noted", &error))
        })
    }

    /// A study and all studies that it is a new version of, as far as the journal of a folder knows, the
    /// newest first.
    pub fn versions(
        folder: &Path,
        study: StudyHash,
        parent: Option<StudyHash>,
    ) -> Result<Vec<StudyHash>, JournalError> {
        let mut versions = vec![study];
        versions.extend(parent);
        let found = read(folder, "lineage", |connection| {
            let mut statement =
                connection.prepare("SELECT parent FROM lineage WHERE study = ?1")?;
            while let Some(last) = versions.last() {
                let next: Option<[u8; 32]> = statement
                    .query_row(params![last.0], |row| row.get(0))
                    .optional()?;
                match next.map(StudyHash) {
                    // A hash that names itself cannot be found; a journal that was edited ends here.
                    Some(next) if !versions.contains(&next) => versions.push(next),
                    _ => break,
                }
            }
            Ok(())
        });
        found.map(|_| versions)
    }

    /// What was disclosed in a run of a study.
    pub fn learned(
        folder: &Path,
        study: StudyHash,
        number: u32,
    ) -> Result<Vec<Learned>, JournalError> {
        let found = read(folder, "learned", |connection| {
            let mut statement = connection.prepare(&format!(
                "{LEARNED} WHERE study = ?1 AND number = ?2 ORDER BY learned.rowid"
            ))?;
            let rows = statement.query_map(params![study.0, number], of_row)?;
            rows.collect()
        });
        Ok(found?.unwrap_or_default())
    }

    /// What was disclosed in every run and who took part in it, read at once, for whoever adds up many runs.
    pub fn accounts(folder: &Path) -> Result<Accounts, JournalError> {
        let mut accounts = Accounts::new();
        read(folder, "learned", |connection| {
            let mut statement = connection.prepare(&format!("{LEARNED} ORDER BY learned.rowid"))?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                let run = (StudyHash(row.get(9)?), row.get(10)?);
                accounts.entry(run).or_default().learned.push(of_row(row)?);
            }
            Ok(())
        })?;
        read(folder, "member", |connection| {
            let mut statement = connection.prepare(
                "SELECT study, number, name FROM member JOIN run ON run.id = member.run ORDER BY run, place",
            )?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                let run = (StudyHash(row.get(0)?), row.get(1)?);
                accounts.entry(run).or_default().members.push(row.get(2)?);
            }
            Ok(())
        })?;
        Ok(accounts)
    }

    /// The runs of a study up to which nothing is known, and since when.
    pub fn lost(folder: &Path, study: StudyHash) -> Result<Vec<(u32, String)>, JournalError> {
        let found = read(folder, "lost", |connection| {
            let mut statement = connection
                .prepare("SELECT through, noted FROM lost WHERE study = ?1 ORDER BY through")?;
            let rows =
                statement.query_map(params![study.0], |row| Ok((row.get(0)?, row.get(1)?)))?;
            rows.collect()
        });
        Ok(found?.unwrap_or_default())
    }
}

/// Reads the journal of a folder, whichever process is at work there; nothing where the table does not
/// exist yet.
fn read<T>(
    folder: &Path,
    table: &str,
    ask: impl FnOnce(&Connection) -> rusqlite::Result<T>,
) -> Result<Option<T>, JournalError> {
    let file = folder.join("journal.sqlite");
    if !file.exists() {
        return Ok(None);
    }
    let work = || -> rusqlite::Result<Option<T>> {
        let connection = Connection::open_with_flags(&file, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        connection.busy_timeout(Duration::from_secs(5))?;
        let is_there: bool = connection.query_row(
            "SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE name = ?1)",
            params![table],
            |row| row.get(0),
        )?;
        is_there.then(|| ask(&connection)).transpose()
    };
    aside(work).map_err(|error| JournalError::Failed {
        file: file.display().to_string(),
        step: "cannot be read",
        reason: error.to_string(),
    })
}
