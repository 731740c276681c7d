//! Errors as PostgreSQL's clients know them: a code, a message, a hint.

use hedgerow::query::AskError;
use pgwire::error::{ErrorInfo, PgWireError};

use crate::error::SqlError;

/// Codes of PostgreSQL, appendix A.
pub(super) mod code {
    pub(in crate::serve) const NOT_SUPPORTED: &str = "0A000";
    pub(in crate::serve) const PROTOCOL: &str = "08P01";
    pub(in crate::serve) const VALUE: &str = "22023";
    pub(in crate::serve) const READ_ONLY: &str = "25006";
    pub(in crate::serve) const FAILED_BEFORE: &str = "25P02";
    pub(in crate::serve) const NO_STATEMENT: &str = "26000";
    pub(in crate::serve) const NO_PLAINTEXT: &str = "28000";
    pub(in crate::serve) const NO_PASSWORD: &str = "28P01";
    pub(in crate::serve) const NO_PORTAL: &str = "34000";
    pub(in crate::serve) const NO_DATABASE: &str = "3D000";
    pub(in crate::serve) const SYNTAX: &str = "42601";
    pub(in crate::serve) const MEMORY: &str = "53200";
    pub(in crate::serve) const CONNECTIONS: &str = "53300";
    pub(in crate::serve) const LIMIT: &str = "54000";
    pub(in crate::serve) const STOPPED: &str = "57014";
    pub(in crate::serve) const IDLE: &str = "57P05";
    pub(in crate::serve) const SYSTEM: &str = "58000";
    pub(in crate::serve) const INTERNAL: &str = "XX000";
}

/// An error after which the connection goes on.
pub(super) fn error(code: &str, message: &str) -> PgWireError {
    PgWireError::UserError(Box::new(info("ERROR", code, message)))
}

/// An error that ends the connection.
pub(super) fn fatal(code: &str, message: &str) -> ErrorInfo {
    info("FATAL", code, message)
}

pub(super) fn info(severity: &str, code: &str, message: &str) -> ErrorInfo {
    let (message, hint) = match message.split_once("\nhint: ") {
        Some((message, hint)) => (message, Some(hint.to_owned())),
        None => (message, None),
    };
    let mut info = ErrorInfo::new(severity.to_owned(), code.to_owned(), message.to_owned());
    info.severity_nonlocalized = Some(severity.to_owned());
    info.hint = hint;
    info
}

/// The code of an error.
pub(super) fn code_of(own: &PgWireError) -> String {
    match own {
        PgWireError::UserError(info) => info.code.clone(),
        _ => code::INTERNAL.to_owned(),
    }
}

impl From<SqlError> for PgWireError {
    fn from(own: SqlError) -> Self {
        let code = match &own {
            SqlError::Refused(AskError::Syntax { .. }) => code::SYNTAX,
            SqlError::Refused(AskError::NoColumn { .. }) => "42703",
            SqlError::Refused(AskError::NoTable { .. }) => "42P01",
            SqlError::Refused(_) => code::NOT_SUPPORTED,
            SqlError::Planning { .. } => "42000",
            SqlError::TooManyRows { .. } => code::LIMIT,
            SqlError::TooSlow { .. } => code::STOPPED,
            SqlError::TooLarge { .. } => code::MEMORY,
            SqlError::Running { .. } => "22000",
            SqlError::Table(_) | SqlError::Serving(_) | SqlError::Unwritable { .. } => code::SYSTEM,
        };
        error(code, &own.to_string())
    }
}
