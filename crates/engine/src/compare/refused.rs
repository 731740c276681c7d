//! Why choices of a study are not compared.

use std::path::PathBuf;

/// Why choices of a study are not compared.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CompareRefused {
    /// Sites that hold the same people lose by who holds what.
    #[error("{}: what sites lose that hold the same people depends on who holds which column, so one party cannot compare for them\nhint: change [algorithm] and see what is lost with hedgerow simulate --study {} TABLE; docs/src/vertical.md says what each algorithm is for", study.display(), study.display())]
    Vertical {
        /// The study.
        study: PathBuf,
    },
    /// A comparison writes no release, and runs no site by itself.
    #[error(
        "a comparison leaves no release and runs no site alone\nhint: anonymize and simulate have the other options"
    )]
    NoRelease,
}
