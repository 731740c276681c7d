//! Questions that a release cannot answer.

use std::path::PathBuf;

/// Why a release cannot answer a question.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum VerifyRefused {
    /// Nothing says which columns others may know.
    #[error(
        "nothing says which columns are quasi-identifiers\nhint: give --study study.toml, or --quasi age,zip --sensitive disease"
    )]
    NoRoles,
    /// A folder without a manifest says nothing of itself.
    #[error(
        "the folder has no manifest that says what its columns are\nhint: give --study with the study that it is a release of"
    )]
    NoStudy,
    /// Without a study nothing says how to read what a release is compared with.
    #[error(
        "{what} can only be compared with the release of a study\nhint: name the study instead of the roles of columns"
    )]
    NoStudyToCompare {
        /// What was to be compared.
        what: &'static str,
    },
    /// A column has one role.
    #[error("column `{column}` is named twice\nhint: a column has one role")]
    NamedTwice {
        /// The column.
        column: String,
    },
    /// A column that is to be ignored has a role.
    #[error(
        "--ignore: column `{column}` has a role in the study\nhint: only a column without one can be ignored"
    )]
    IgnoresRole {
        /// The column.
        column: String,
    },
    /// A column that is to be ignored names the sites.
    #[error("--ignore: column `{column}` is named twice\nhint: a column has one role")]
    IgnoresProvider {
        /// The column.
        column: String,
    },
    /// A column to be ignored is not in the release.
    #[error("{file}: there is no column `{column}` to ignore\nhint: the file has {columns}")]
    IgnoresAbsent {
        /// The file.
        file: String,
        /// The column.
        column: String,
        /// The columns that the file has.
        columns: String,
    },
    /// A view that is not of the same table, or views that cannot be looked at together.
    #[error(
        "--view {}: {problem}\nhint: a view is another release of the same records, by the same study", file.display()
    )]
    OtherView {
        /// The view.
        file: PathBuf,
        /// What is wrong with the views.
        problem: hedgerow_privacy::views::ViewsError,
    },
    /// Records of sites that hold the same people are of no one site.
    #[error(
        "--provider-column: the sites of a vertical study hold the same people, so no record is of one site\nhint: leave it out"
    )]
    NoProvider,
    /// A strategy without coalitions.
    #[error(
        "--verification: there are no coalitions to look at\nhint: give --provider-column with the column that names the sites, and a requirement with m"
    )]
    NoCoalitions,
    /// A strategy with more sites than a coalition can name.
    #[error(
        "--verification: the table has {sites} sites, and strategies are for at most {}\nhint: leave it out; m is verified for any number of sites",
        hedgerow_privacy::m_privacy::Coalition::MOST_SITES
    )]
    TooManySites {
        /// Sites of the table.
        sites: usize,
    },
    /// Records of a group whose quasi-identifiers were restored differ.
    #[error(
        "--queries and --population ask what records of a group look like, and with restore = true they differ\nhint: leave them out"
    )]
    Restored,
    /// The table that was given is not what the release was made of.
    #[error(
        "{original}: no record has a `{column}` in `{cell}`, which the release has\nhint: is this the original of that release?"
    )]
    OtherOriginal {
        /// The table.
        original: String,
        /// The column.
        column: String,
        /// The cell of the release at that place.
        cell: String,
    },
}
