//! Own rows that a report cannot be made with, and places where the report may not lie.

use std::path::PathBuf;

/// Why a report cannot be made with these rows, or not be written there.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReportRefused {
    /// Nothing says how own rows are spelled.
    #[error(
        "nothing says what the columns of own rows are\nhint: give --study with the study that the release is of"
    )]
    NoStudy,
    /// A page for one site does not lie with what everybody may have.
    #[error("{}: lies in the release folder, and the report has counts of rows that are not to be passed on\nhint: name a file elsewhere with --out", path.display())]
    InRelease {
        /// The page.
        path: PathBuf,
    },
    /// A table without rows.
    #[error("{}: has no rows\nhint: name the table that this site's rows of the run were in", file.display())]
    NoOwnRows {
        /// The table.
        file: PathBuf,
    },
    /// More own rows than all sites together have.
    #[error("{}: has {rows} rows, and the release has {records}\nhint: are these the rows that the release was made of?", file.display())]
    MoreOwnRows {
        /// The table.
        file: PathBuf,
        /// Rows of the table.
        rows: usize,
        /// Records of the release.
        records: usize,
    },
    /// A row that cannot be in the release.
    #[error("{}: column `{column}`: no record of the release can have `{value}`, which stands in these rows\nhint: are these the rows that the release was made of?", file.display())]
    OtherRows {
        /// The table.
        file: PathBuf,
        /// The column.
        column: String,
        /// The value.
        value: String,
    },
}
