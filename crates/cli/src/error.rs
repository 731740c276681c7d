//! Everything that can stop a command, each in the words of the crate that found it.

use hedgerow_data::ReleaseError;
use hedgerow_data::document::DocumentError;
use hedgerow_data::files::FileError;
use hedgerow_data::study::StudyError;
use hedgerow_data::synthetic::SyntheticError;
use hedgerow_data::taxonomy::{MakeError, TaxonomyError};
use hedgerow_privacy::RequirementError;
use hedgerow_privacy::verify::EvidenceError;

/// Bad input, or a file that cannot be read or written: exit code 2.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum CliError {
    #[error(transparent)]
    File(#[from] FileError),
    #[error(transparent)]
    Study(#[from] StudyError),
    #[error(transparent)]
    Document(#[from] DocumentError),
    #[error(transparent)]
    Requirement(#[from] RequirementError),
    #[error(transparent)]
    Release(#[from] ReleaseError),
    #[error(transparent)]
    Evidence(#[from] EvidenceError),
    #[error(transparent)]
    Taxonomy(#[from] TaxonomyError),
    #[error(transparent)]
    Make(#[from] MakeError),
    #[error(transparent)]
    Synthetic(#[from] SyntheticError),
    #[error(transparent)]
    Protocol(#[from] hedgerow_protocols::Error),
    /// The arguments do not go together.
    #[error("{0}")]
    Usage(String),
}
