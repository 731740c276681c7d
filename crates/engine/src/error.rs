//! Everything that can stop the engine: each error in the words of the part that found it, and whose
//! fault it is.

use std::path::PathBuf;

use hedgerow_data::ReleaseError;
use hedgerow_data::document::DocumentError;
use hedgerow_data::files::FileError;
use hedgerow_data::study::{DescribedError, StudyError};
use hedgerow_data::synthetic::SyntheticError;
use hedgerow_data::taxonomy::{MakeError, TaxonomyError};
use hedgerow_node::agreement::AgreementError;
use hedgerow_node::audit::AuditError;
use hedgerow_node::identity::IdentityError;
use hedgerow_node::journal::JournalError;
use hedgerow_node::memory::MemoryError;
use hedgerow_node::questions::DeskError;
use hedgerow_node::run::RunError;
use hedgerow_node::source::{EngineError, PostgresError, SourceError};
use hedgerow_privacy::RequirementError;
use hedgerow_privacy::verify::EvidenceError;

use crate::compare::refused::CompareRefused;
use crate::query::AskError;
use crate::release::refused::{FolderRefused, ManifestError};
use crate::report::refused::ReportRefused;
use crate::simulate::refused::SplitRefused;
use crate::site::refused::SiteRefused;
use crate::study::draft::refused::DraftRefused;
use crate::study::refused::{StudyRefused, TableRefused};
use crate::verify::check::Tampered;
use crate::verify::refused::VerifyRefused;

/// Why the engine could not do what was asked. [`Error::fault`] says whose fault the error is.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file of a table or release.
    #[error(transparent)]
    File(#[from] FileError),
    /// A study.
    #[error(transparent)]
    Study(#[from] StudyError),
    /// A TOML file.
    #[error(transparent)]
    Document(#[from] DocumentError),
    /// A requirement.
    #[error(transparent)]
    Requirement(#[from] RequirementError),
    /// The cells of a release.
    #[error(transparent)]
    Release(#[from] ReleaseError),
    /// The columns of a table that is verified.
    #[error(transparent)]
    Evidence(#[from] EvidenceError),
    /// A taxonomy.
    #[error(transparent)]
    Taxonomy(#[from] TaxonomyError),
    /// A taxonomy that is made.
    #[error(transparent)]
    Make(#[from] MakeError),
    /// A synthetic table.
    #[error(transparent)]
    Synthetic(#[from] SyntheticError),
    /// A question in SQL.
    #[error(transparent)]
    Ask(#[from] AskError),
    /// A run's protocol.
    #[error(transparent)]
    Protocol(#[from] hedgerow_protocols::Error),
    /// A key.
    #[error(transparent)]
    Identity(#[from] IdentityError),
    /// A study cannot be read as an agreement that sites sign.
    #[error(transparent)]
    Agreement(Box<AgreementError>),
    /// A site's journal.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A site's memory.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// Where a site's rows come from.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// An audit that cannot be.
    #[error(transparent)]
    Audit(#[from] Box<AuditError<Error>>),
    /// The officer's word.
    #[error("run {run} was refused here by the privacy officer, and its number is not used again\nhint: have the others give it up; --number {} starts another", run.saturating_add(1))]
    Refused {
        /// The run.
        run: u32,
    },
    /// A release that this site counted again and does not sign.
    #[error("this site does not sign the release, and nothing is published: {}\nhint: a site said something else than it counted, or there is a mistake in hedgerow; hedgerow ledger shows what the run disclosed, and hedgerow run --abandon gives it up", reasons.join("; "))]
    Unsound {
        /// The reasons for the refusal.
        reasons: Vec<String>,
    },
    /// A release to which more falls than the study's gate allows.
    #[error("the gate holds the release back: nobody signs it, and nothing is published\n  {}", reasons.join("\n  "))]
    HeldBack {
        /// For each attack that is the reason: what falls, what may, and what setting would help.
        reasons: Vec<String>,
    },
    /// A run that ended without a release.
    #[error(transparent)]
    Run(#[from] Box<RunError<Error>>),
    /// A study that can be read cannot be run.
    #[error(transparent)]
    StudyRefused(#[from] StudyRefused),
    /// No study can be drafted of a table, or drafts cannot be joined.
    #[error(transparent)]
    Draft(#[from] DraftRefused),
    /// A table is not fit for its study.
    #[error(transparent)]
    Table(#[from] TableRefused),
    /// Choices of a study are not compared.
    #[error(transparent)]
    Compare(#[from] CompareRefused),
    /// Rows cannot be spread over sites as asked.
    #[error(transparent)]
    Split(#[from] SplitRefused),
    /// A folder is not fit for a release, or is no release.
    #[error(transparent)]
    Folder(#[from] FolderRefused),
    /// A release cannot be checked as asked.
    #[error(transparent)]
    Verify(#[from] VerifyRefused),
    /// A report cannot be made with these own rows.
    #[error(transparent)]
    Report(#[from] ReportRefused),
    /// The files of a release cannot be understood, and are not the files that its manifest speaks of.
    #[error(transparent)]
    Tampered(Box<Tampered>),
    /// A site does not take its part in a run, or cannot answer a question about a run.
    #[error(transparent)]
    Site(#[from] SiteRefused),
    /// The manifest of a release says nothing that could be read.
    #[error("{}: {reason}", folder.display())]
    Manifest {
        /// The folder of the release.
        folder: PathBuf,
        /// Why the manifest says nothing.
        #[source]
        reason: ManifestError,
    },
    /// The manifest of a release describes columns and a requirement that no study can have.
    #[error("{}: what manifest.json says of the study cannot be: {reason}\nhint: give --study with the study that it is a release of", folder.display())]
    Described {
        /// The folder of the release.
        folder: PathBuf,
        /// Why the description is of no study.
        #[source]
        reason: DescribedError,
    },
    /// A plot of a report cannot be drawn.
    #[error("a plot cannot be drawn: {0}")]
    Plot(String),
    /// Several things are wrong, and the message lists all of them.
    #[error("{}", joined(.0))]
    Several(Vec<Error>),
}

impl Error {
    /// All of these errors as one, if there are any.
    pub fn all(errors: Vec<Self>) -> Result<(), Self> {
        match errors.is_empty() {
            true => Ok(()),
            false => Err(Self::several(errors)),
        }
    }

    /// All of these errors as one.
    pub(crate) fn several(mut errors: Vec<Self>) -> Self {
        match errors.pop() {
            Some(one) if errors.is_empty() => one,
            last => {
                errors.extend(last);
                Self::Several(errors)
            }
        }
    }

    /// Whose fault the error is.
    pub fn fault(&self) -> Fault {
        match self {
            Self::File(FileError::Unwritable { .. }) => Fault::OwnConfiguration,
            Self::File(_)
            | Self::Evidence(_)
            | Self::Table(_)
            | Self::Source(_)
            | Self::Draft(
                DraftRefused::NoRecords { .. }
                | DraftRefused::NoName { .. }
                | DraftRefused::Unsayable { .. },
            )
            | Self::Folder(FolderRefused::NoRecords)
            | Self::Report(
                ReportRefused::NoOwnRows { .. }
                | ReportRefused::MoreOwnRows { .. }
                | ReportRefused::OtherRows { .. },
            )
            | Self::Split(SplitRefused::Nameless { .. } | SplitRefused::NoRecords { .. }) => {
                Fault::OwnData
            }
            Self::Release(_)
            | Self::Tampered(_)
            | Self::Manifest { .. }
            | Self::Described { .. } => Fault::Release,
            Self::Protocol(error) => Fault::of_protocol(error),
            Self::Run(error) => match &**error {
                RunError::Part(error) => error.fault(),
                RunError::Journal(_) => Fault::OwnConfiguration,
                RunError::Line(_) => Fault::Line,
                RunError::Panicked => Fault::Hedgerow,
                _ => Fault::Peer,
            },
            Self::Unsound { .. } => Fault::Peer,
            Self::Site(
                SiteRefused::TooLargeShare { .. }
                | SiteRefused::Disclosed { .. }
                | SiteRefused::Silent { .. }
                | SiteRefused::Disagreement { .. }
                | SiteRefused::Desk(DeskError::Unanswered {
                    is_of_peer: true, ..
                }),
            ) => Fault::Peer,
            Self::Site(SiteRefused::CannotListen { .. } | SiteRefused::Listener(_)) => Fault::Line,
            Self::Plot(_) => Fault::Hedgerow,
            Self::Several(errors) => errors.first().map_or(Fault::Hedgerow, Self::fault),
            _ => Fault::OwnConfiguration,
        }
    }

    /// The error's text for logs and files, which others may read later: the text says where a record is
    /// wrong, and not what the record says. In a file without a header, a record stands in
    /// the header's place.
    pub fn without_values(&self) -> String {
        let file = match self {
            Self::Source(SourceError::Postgres(PostgresError::Refused { at, step, .. }))
                if *step == PostgresError::ROWS =>
            {
                return format!("{at}: {step}\nhint: hedgerow run says why");
            }
            Self::Source(
                SourceError::File(file)
                | SourceError::Postgres(PostgresError::Value(file))
                | SourceError::Engine(EngineError::Value(file)),
            ) => file,
            // An engine may speak of values.
            Self::Source(SourceError::Engine(EngineError::Said(_) | EngineError::Died { .. })) => {
                return String::from("the records were not counted\nhint: hedgerow run says why");
            }
            Self::Draft(DraftRefused::Unsayable {
                table,
                line,
                column,
                ..
            }) => {
                return format!(
                    "{table}:{line}: column `{column}`: a value means something else in a release, so no list of values can have it\nhint: hedgerow study draft says which; write it otherwise, or leave the column out"
                );
            }
            Self::Several(errors) => {
                let errors: Vec<String> = errors.iter().map(Self::without_values).collect();
                return errors.join("\n");
            }
            Self::Taxonomy(taxonomy) => return taxonomy.without_words(),
            Self::Study(study) => return of_study_without_values(study),
            Self::Agreement(agreement) => {
                return match agreement.as_ref() {
                    AgreementError::Study(study) => of_study_without_values(study),
                    AgreementError::File(file) => of_file_without_values(file),
                    other => other.to_string(),
                };
            }
            other => return other.to_string(),
        };
        of_file_without_values(file)
    }
}

/// Of a taxonomy that a study names only where it is wrong: a study may come from somebody else, and name any file.
fn of_study_without_values(study: &StudyError) -> String {
    match study {
        StudyError::Taxonomy(taxonomy) => taxonomy.without_words(),
        StudyError::Several(mistakes) => {
            let errors = mistakes.errors.iter().map(of_study_without_values);
            errors.collect::<Vec<_>>().join("\n")
        }
        other => other.to_string(),
    }
}

fn of_file_without_values(file: &FileError) -> String {
    let hint = "hint: hedgerow study check says which";
    match file {
        FileError::OutsideDomain {
            file,
            line,
            column,
            domain,
            ..
        } => format!("{file}:{line}: column `{column}`: a value is outside {domain}\n{hint}"),
        FileError::UnknownColumn { file, .. } => {
            format!("{file}:1: a column is not in the study\n{hint}")
        }
        // The names that the file has instead may be values too.
        FileError::MissingColumn { file, column, .. } => {
            format!("{file}:1: column `{column}` of the study is missing\n{hint}")
        }
        FileError::NoColumn { file, column, .. } => {
            format!("{file}:1: there is no column `{column}`\n{hint}")
        }
        FileError::DuplicateColumn {
            file,
            first,
            second,
            ..
        } => format!("{file}:1: columns {first} and {second} have one name\n{hint}"),
        FileError::Several(collected) => {
            let errors = collected.errors.iter().map(of_file_without_values);
            let rest = match collected.more() {
                0 => None,
                more => Some(format!("and {more} more")),
            };
            errors.chain(rest).collect::<Vec<_>>().join("\n")
        }
        other => other.to_string(),
    }
}

/// Whose fault an error is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Fault {
    /// A table or file of the caller.
    OwnData,
    /// A study, a site's file, a key, or what was asked.
    OwnConfiguration,
    /// Another site of a run.
    Peer,
    /// The lines between sites, or the machine.
    Line,
    /// A release that somebody changed, or a folder that is no release.
    Release,
    /// A mistake in hedgerow.
    Hedgerow,
}

impl Fault {
    fn of_protocol(error: &hedgerow_protocols::Error) -> Self {
        use hedgerow_smc::Error as Party;
        match error {
            hedgerow_protocols::Error::Party(error) => match error {
                Party::Line { .. } => Self::Line,
                Party::OwnData(_) => Self::OwnData,
                Party::OwnConfig(_) | Party::NotAllowed { .. } => Self::OwnConfiguration,
                _ => Self::Peer,
            },
            hedgerow_protocols::Error::NotVertical { .. }
            | hedgerow_protocols::Error::FreeText { .. }
            | hedgerow_protocols::Error::NoQuasi => Self::OwnConfiguration,
            _ => Self::OwnData,
        }
    }
}

/// The messages of several errors, one after the other, each as if the error stood alone.
fn joined(errors: &[Error]) -> String {
    let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
    errors.join("\nerror: ")
}

impl From<AgreementError> for Error {
    fn from(error: AgreementError) -> Self {
        Self::Agreement(Box::new(error))
    }
}

impl From<hedgerow_smc::Error> for Error {
    fn from(error: hedgerow_smc::Error) -> Self {
        Self::Protocol(error.into())
    }
}

impl From<RunError<Error>> for Error {
    fn from(error: RunError<Error>) -> Self {
        match error {
            RunError::Part(error) => error,
            other => Self::Run(Box::new(other)),
        }
    }
}
