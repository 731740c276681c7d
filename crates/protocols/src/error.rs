//! What can stop a protocol, and whose fault it is.

/// Why a run ended without a release.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A peer, the line, or this site's own configuration.
    #[error(transparent)]
    Party(#[from] hedgerow_smc::Error),
    /// The whole table does not satisfy the requirement, so no part of it can be asked to.
    #[error(
        "the requirement cannot be met: all {records} records together do not satisfy {model}\nhint: the largest value that could be met is {best}"
    )]
    Unmeetable {
        /// Records of all sites.
        records: u64,
        /// The model that fails, in words.
        model: String,
        /// What the whole table achieves.
        best: String,
    },
    /// The verbatim columns have too many combinations of values to be counted.
    #[error(
        "the sensitive and other columns have {combinations} combinations of values in {classes} classes, too many to be counted together\nhint: give role = \"identifier\" to columns that need not be released"
    )]
    TooManyCombinations {
        /// Combinations of values.
        combinations: u64,
        /// Classes.
        classes: u64,
    },
    /// A model that the secure form cannot decide.
    #[error("{model} cannot be decided without revealing counts\nhint: {instead}")]
    Undecidable {
        /// The model, in words.
        model: String,
        /// What to ask for instead.
        instead: &'static str,
    },
}
