//! What can go wrong with a journal.

use crate::identity::IdentityError;

/// What can go wrong with a journal.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JournalError {
    /// The file system or SQLite refuses.
    #[error(
        "{file}: {step}: {reason}\nhint: see that the disk has room and that this user may read and write there; then the same command goes on"
    )]
    Failed {
        /// The file.
        file: String,
        /// What was tried.
        step: &'static str,
        /// What SQLite or the operating system said.
        reason: String,
    },
    /// Another process has the journal open.
    #[error(
        "{folder}: another hedgerow of this site is at work here\nhint: hedgerow status shows what it does"
    )]
    Busy {
        /// The folder.
        folder: String,
    },
    /// The rows are not the rows that the run began with.
    #[error(
        "the rows have changed since run {run} began, so it cannot go on\nhint: bring back the rows as they were, or give the run up with hedgerow run --abandon"
    )]
    RowsChanged {
        /// The run.
        run: u32,
    },
    /// The run is over.
    #[error("run {run} of this study is over\nhint: what it ended with lies in the data folder; --number {} starts another", run + 1)]
    Over {
        /// The run.
        run: u32,
    },
    /// The run was given up.
    #[error("run {run} of this study was given up\nhint: have the others give it up too; --number {} starts another", run + 1)]
    GivenUp {
        /// The run.
        run: u32,
    },
    /// The run is not the next.
    #[error("run {run} is not due: {}\nhint: --number {} starts the next", match last { Some(last) => format!("run {last} was the last of this study here"), None => String::from("there was no run of this study here yet") }, last.unwrap_or(0).saturating_add(1))]
    NotDue {
        /// The run.
        run: u32,
        /// The last run of the study.
        last: Option<u32>,
    },
    /// Another version of the journal's tables.
    #[error(
        "{file}: is a journal of version {found}, this hedgerow writes version {expected}\nhint: use the hedgerow that wrote it, or name another `data` folder in the site's file"
    )]
    Version {
        /// The file.
        file: String,
        /// The version found.
        found: i64,
        /// The version of this hedgerow.
        expected: i64,
    },
    /// Sealed contents of the journal do not open with this site's key.
    #[error(
        "{file}: what is kept of run {run} does not open with this site's key, or was changed\nhint: is the key of the site's file the one that the run began with?"
    )]
    Sealed {
        /// The file.
        file: String,
        /// The run.
        run: u32,
    },
    /// Nothing of the run is kept.
    #[error(
        "nothing is kept of run {run}\nhint: a study that says audit = \"90 days\" has sites keep their journals for so long"
    )]
    NotKept {
        /// The run.
        run: u32,
    },
    /// The journal has no such run.
    #[error("{folder}: there is no run {run} of this study\nhint: hedgerow status shows the runs")]
    NoRun {
        /// The folder.
        folder: String,
        /// The run.
        run: u32,
    },
    /// No seed can be had.
    #[error(transparent)]
    Seed(#[from] IdentityError),
}
