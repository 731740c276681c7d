//! What can stop an experiment.

use std::path::PathBuf;

use hedgerow_data::files::FileError;
use hedgerow_data::study::SplitError;
use hedgerow_data::synthetic::SyntheticError;

/// Why figures were not measured, or not written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no figure of this name.
    #[error("there is no figure `{name}`\nhint: {hint}")]
    Unknown {
        /// The name.
        name: String,
        /// What to do.
        hint: String,
    },
    /// A table that figures are measured on is not in the folder.
    #[error(
        "{}: {reason}\nhint: --data names a folder with adult9/adult.csv and its hierarchies, adult14/adult14.csv and census7/census7.csv; without --data and HEDGEROW_DATA the synthetic census is used", file.display()
    )]
    NoTable {
        /// The file.
        file: PathBuf,
        /// Why the file cannot be read.
        reason: String,
    },
    /// The folder for figures cannot be used.
    #[error("{}: figures cannot be written here: {reason}\nhint: choose another folder with --out", folder.display())]
    Unusable {
        /// The folder.
        folder: PathBuf,
        /// Why it cannot be used.
        reason: String,
    },
    /// A file of the folder lacks a column.
    #[error(
        "{}: there is no column `{column}`\nhint: figures need the columns {columns}", file.display()
    )]
    MissingColumn {
        /// The file.
        file: PathBuf,
        /// The column.
        column: String,
        /// All columns that figures need.
        columns: String,
    },
    /// Another call is at work in the folder of the figures.
    #[error("{}: another `hedgerow experiment` is at work in this folder\nhint: wait for it to end, or choose another folder with --out", folder.display())]
    Busy {
        /// The folder.
        folder: PathBuf,
    },
    /// A table has no column that a figure asks for.
    #[error(
        "{table} has no column `{column}`\nhint: this is a mistake in hedgerow; please report it"
    )]
    NoColumn {
        /// The table.
        table: String,
        /// The column.
        column: String,
    },
    /// A plot cannot be drawn.
    #[error(
        "{figure}: cannot be drawn: {reason}\nhint: this is a mistake in hedgerow; please report it"
    )]
    Plot {
        /// The figure.
        figure: String,
        /// Why.
        reason: String,
    },
    /// The engine refuses or fails.
    #[error(transparent)]
    Engine(#[from] hedgerow::Error),
    /// A file cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// The synthetic census cannot be made.
    #[error(transparent)]
    Synthetic(#[from] SyntheticError),
    /// Columns cannot be split between sites.
    #[error(transparent)]
    Split(#[from] SplitError),
    /// A primitive fails.
    #[error(transparent)]
    Primitive(#[from] hedgerow_smc::Error),
    /// Colluders cannot be verified against.
    #[error(transparent)]
    Colluders(#[from] hedgerow_privacy::m_privacy::Error),
    /// A protocol fails.
    #[error(transparent)]
    Protocol(#[from] hedgerow_protocols::Error),
}
