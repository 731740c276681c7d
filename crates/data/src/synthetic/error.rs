//! Why a synthetic table was not made.

use std::path::Path;

use super::MOST_SITES;
use crate::files::FileError;
use crate::study::StudyError;

/// Why a synthetic table was not made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SyntheticError {
    /// No rows are asked for.
    #[error("rows = 0, expected at least one row\nhint: ask for some, e.g. --rows 10000")]
    NoRows,
    /// No sites are asked for.
    #[error("sites = 0, expected at least one site\nhint: ask for some, e.g. --sites 4")]
    NoSites,
    /// A number of institutions other than the number there is.
    #[error("sites = {sites}, but the institutions are three\nhint: leave the number out")]
    OtherSites {
        /// The sites asked for.
        sites: usize,
    },
    /// Some site would have no row.
    #[error(
        "{sites} sites cannot share {rows} rows, each needs at least one\nhint: ask for at least {sites} rows, or for at most {rows} sites"
    )]
    MoreSitesThanRows {
        /// The sites asked for.
        sites: usize,
        /// The rows asked for.
        rows: u64,
    },
    /// More sites than there are identifiers for.
    #[error("sites = {sites}, expected at most {MOST_SITES}")]
    TooManySites {
        /// The sites asked for.
        sites: usize,
    },
    /// More parts than there are rows for, or none.
    #[error(
        "parts = {parts}, expected 1 to {most}\nhint: each part of each table has at least one row"
    )]
    OtherParts {
        /// The parts asked for.
        parts: usize,
        /// The most that there can be.
        most: u64,
    },
    /// People whom several institutions know, in parts.
    #[error(
        "the tables of institutions are not written in parts: everybody is held at once\nhint: leave the number of parts out"
    )]
    InstitutionsInParts,
    /// Something else may be in the folder already.
    #[error(
        "{folder}: the folder is not empty\nhint: name a new folder, or empty this one; nothing in it was touched"
    )]
    NotEmpty {
        /// The folder.
        folder: String,
    },
    /// The folder cannot be made or looked into.
    #[error(
        "{folder}: the folder cannot be used: {reason}\nhint: name another, where this user may write"
    )]
    Folder {
        /// The folder.
        folder: String,
        /// What the operating system said.
        reason: String,
    },
    /// A file could not be written.
    #[error(transparent)]
    File(#[from] FileError),
    /// The study that comes with the table does not read: a mistake in this module.
    #[error(transparent)]
    Study(#[from] StudyError),
}

pub(super) fn folder(folder: &Path, error: &std::io::Error) -> SyntheticError {
    SyntheticError::Folder {
        folder: folder.display().to_string(),
        reason: error.to_string(),
    }
}
