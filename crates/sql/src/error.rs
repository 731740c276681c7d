//! Why a statement is not answered: in words for whoever asks, with what could be asked instead.

use std::sync::Arc;

use datafusion::common::SchemaError;
use datafusion::error::DataFusionError;
use hedgerow::query::AskError;

/// Why a statement is not answered.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SqlError {
    /// Refused by name, before anything was asked.
    #[error(transparent)]
    Refused(#[from] AskError),
    /// The release cannot be read, or a question to its table cannot be answered.
    #[error(transparent)]
    Table(#[from] Box<hedgerow::Error>),
    /// SQL that cannot be planned.
    #[error("this cannot be planned: {reason}\nhint: {hint}")]
    Planning {
        /// What the planner says.
        reason: String,
        /// What could be done.
        hint: &'static str,
    },
    /// SQL that was planned and failed as it ran.
    #[error("this failed as it ran: {reason}")]
    Running {
        /// What the engine says.
        reason: String,
    },
    /// More rows than one answer may have.
    #[error("the answer has more than {most} rows\nhint: add LIMIT, or group by fewer columns")]
    TooManyRows {
        /// The most that an answer may have.
        most: usize,
    },
    /// A statement that takes too long.
    #[error(
        "the statement took more than {seconds} s and was stopped\nhint: ask for less, or group by fewer columns"
    )]
    TooSlow {
        /// The most that a statement may take.
        seconds: u64,
    },
    /// A statement that needs too much memory.
    #[error(
        "the statement needs more than {megabytes} MB of memory\nhint: add LIMIT, or group by fewer columns"
    )]
    TooLarge {
        /// The most that a statement may take.
        megabytes: usize,
    },
    /// A server that does not start.
    #[error(transparent)]
    Serving(Box<crate::serve::ServeError>),
    /// A file that cannot be written.
    #[error("{file} cannot be written: {reason}")]
    Unwritable {
        /// The file.
        file: String,
        /// Why.
        reason: String,
    },
}

impl SqlError {
    /// Something that SQL has and that is not answered here.
    pub(crate) fn not_answered(what: impl Into<String>, instead: impl Into<String>) -> Self {
        Self::Refused(AskError::NotAnswered {
            what: what.into(),
            instead: instead.into(),
        })
    }

    /// Whether the statement is at fault, not the table or the machine.
    pub const fn is_refusal(&self) -> bool {
        matches!(self, Self::Refused(_) | Self::Planning { .. })
    }

    /// An error of the planner.
    pub(crate) fn planning(error: DataFusionError) -> Self {
        Self::own(error, |reason| Self::Planning {
            hint: hint(&reason),
            reason,
        })
    }

    /// An error of a plan that runs.
    pub(crate) fn running(error: DataFusionError, megabytes: usize) -> Self {
        if matches!(error.find_root(), DataFusionError::ResourcesExhausted(_)) {
            return Self::TooLarge { megabytes };
        }
        Self::own(error, |reason| Self::Running { reason })
    }

    /// The error that was carried through DataFusion, or else DataFusion's own in our words.
    fn own(error: DataFusionError, words: impl FnOnce(String) -> Self) -> Self {
        match error {
            DataFusionError::External(inner) => match inner.downcast::<Self>() {
                Ok(own) => *own,
                Err(other) => words(other.to_string()),
            },
            DataFusionError::Context(_, inner) | DataFusionError::Diagnostic(_, inner) => {
                Self::own(*inner, words)
            }
            DataFusionError::Shared(inner) => match Arc::try_unwrap(inner) {
                Ok(inner) => Self::own(inner, words),
                Err(shared) => words(first_line(&shared.strip_backtrace())),
            },
            DataFusionError::Collection(errors) => match errors.into_iter().next() {
                Some(first) => Self::own(first, words),
                None => words(String::from("several errors")),
            },
            DataFusionError::Plan(reason)
            | DataFusionError::Execution(reason)
            | DataFusionError::NotImplemented(reason) => words(first_line(&reason)),
            other => words(first_line(&other.strip_backtrace())),
        }
    }
}

/// The column that a planner did not find.
pub(crate) fn missing_column(error: &DataFusionError) -> Option<&str> {
    match error {
        DataFusionError::SchemaError(schema, _) => match schema.as_ref() {
            SchemaError::FieldNotFound { field, .. } => Some(&field.name),
            _ => None,
        },
        DataFusionError::Context(_, inner) | DataFusionError::Diagnostic(_, inner) => {
            missing_column(inner)
        }
        DataFusionError::Shared(inner) => missing_column(inner),
        DataFusionError::Collection(errors) => errors.iter().find_map(missing_column),
        _ => None,
    }
}

impl From<SqlError> for DataFusionError {
    fn from(error: SqlError) -> Self {
        Self::External(Box::new(error))
    }
}

fn first_line(text: &str) -> String {
    let text = text.trim();
    let text = text.strip_prefix("Error during planning: ").unwrap_or(text);
    let text = text.strip_prefix("Execution error: ").unwrap_or(text);
    text.lines()
        .next()
        .unwrap_or_default()
        .trim_end_matches('.')
        .to_owned()
}

fn hint(reason: &str) -> &'static str {
    if reason.contains("Invalid function") || reason.contains("table function") {
        "the functions are those of DataFusion that read no file, and certain(p), possible(p), share(p), under(column, 'node')"
    } else if reason.contains("GROUP BY") || reason.contains("aggregate") {
        "columns beside totals must be grouped by"
    } else {
        "quasi-identifiers are text as a release prints it; numbers and dates have their ends in columns that end in _low and _high"
    }
}
