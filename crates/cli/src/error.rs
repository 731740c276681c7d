//! Everything that can stop a command, each in the words of the crate that found it.

use hedgerow_data::ReleaseError;
use hedgerow_data::document::DocumentError;
use hedgerow_data::files::FileError;
use hedgerow_data::study::StudyError;
use hedgerow_data::synthetic::SyntheticError;
use hedgerow_data::taxonomy::{MakeError, TaxonomyError};
use hedgerow_node::agreement::AgreementError;
use hedgerow_node::audit::AuditError;
use hedgerow_node::identity::IdentityError;
use hedgerow_node::journal::JournalError;
use hedgerow_node::memory::MemoryError;
use hedgerow_node::run::RunError;
use hedgerow_node::source::{PostgresError, SourceError};
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
    #[error(transparent)]
    Identity(#[from] IdentityError),
    #[error(transparent)]
    Agreement(#[from] AgreementError),
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error(transparent)]
    Memory(#[from] MemoryError),
    #[error(transparent)]
    Source(#[from] SourceError),
    /// An audit that cannot be.
    #[error(transparent)]
    Audit(#[from] Box<AuditError<CliError>>),
    /// The officer's word.
    #[error("run {run} was refused here by the privacy officer, and its number is not used again\nhint: have the others give it up; --number {} starts another", run.saturating_add(1))]
    Refused {
        /// The run.
        run: u32,
    },
    /// A release that this site counted again and does not sign.
    #[error("this site does not sign the release, and nothing is published: {}\nhint: a site said something else than it counted, or there is a mistake in hedgerow; hedgerow ledger shows what the run disclosed, and hedgerow run --abandon gives it up", reasons.join("; "))]
    Unsound {
        /// Why not.
        reasons: Vec<String>,
    },
    /// A run that ended without a release.
    #[error(transparent)]
    Run(#[from] Box<RunError<CliError>>),
    /// The arguments do not go together.
    #[error("{0}")]
    Usage(String),
    /// Several things are wrong, and all are said.
    #[error("{}", joined(.0))]
    Several(Vec<CliError>),
}

impl CliError {
    /// All of these errors as one, if there are any.
    pub(crate) fn all(mut errors: Vec<Self>) -> Result<(), Self> {
        match (errors.pop(), errors.is_empty()) {
            (None, _) => Ok(()),
            (Some(one), true) => Err(one),
            (Some(last), false) => {
                errors.push(last);
                Err(Self::Several(errors))
            }
        }
    }

    /// The same for logs and files, which others may read later: where a record is wrong, and not
    /// what it says. A header may be a record too, if the real one is missing.
    pub(crate) fn without_values(&self) -> String {
        let hint = "hint: hedgerow study check says which";
        let file = match self {
            Self::Source(SourceError::Postgres(PostgresError::Refused { at, step, .. }))
                if *step == PostgresError::ROWS =>
            {
                return format!("{at}: {step}\nhint: hedgerow run says why");
            }
            Self::Source(
                SourceError::File(file) | SourceError::Postgres(PostgresError::Value(file)),
            ) => file,
            Self::Several(errors) => {
                let errors: Vec<String> = errors.iter().map(Self::without_values).collect();
                return errors.join("\n");
            }
            other => return other.to_string(),
        };
        match file {
            FileError::OutsideDomain {
                file,
                line,
                column,
                domain,
                ..
            } => {
                format!("{file}:{line}: column `{column}`: a value is outside {domain}\n{hint}")
            }
            FileError::UnknownColumn { file, .. } => {
                format!("{file}:1: a column is not in the study\n{hint}")
            }
            FileError::DuplicateColumn {
                file,
                first,
                second,
                ..
            } => format!("{file}:1: columns {first} and {second} have one name\n{hint}"),
            other => other.to_string(),
        }
    }
}

/// One error after the other, each as it would be said alone.
fn joined(errors: &[CliError]) -> String {
    let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
    errors.join("\nerror: ")
}

impl From<hedgerow_smc::Error> for CliError {
    fn from(error: hedgerow_smc::Error) -> Self {
        Self::Protocol(error.into())
    }
}

impl From<RunError<CliError>> for CliError {
    fn from(error: RunError<CliError>) -> Self {
        match error {
            RunError::Part(error) => error,
            other => Self::Run(Box::new(other)),
        }
    }
}
