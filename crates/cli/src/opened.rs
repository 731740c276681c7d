//! A study as it was read, once: everything that a command says of it is of the same bytes, whatever
//! becomes of the file meanwhile.

use std::path::Path;
use std::sync::Arc;

use hedgerow_data::Study;
use hedgerow_node::agreement::{Agreement, AgreementError};

use crate::error::CliError;

/// A study in memory.
pub(crate) struct Opened {
    pub(crate) study: Study,
    /// As sites sign it; or why it is none that they can sign.
    pub(crate) agreement: Result<Arc<Agreement>, AgreementError>,
}

impl Opened {
    /// Reads a study that need not be one that can be signed.
    pub(crate) fn open(path: &Path) -> Result<Self, CliError> {
        match Agreement::open(path) {
            Ok(agreement) => Ok(Self::of(&Arc::new(agreement))),
            Err(error) => Ok(Self {
                study: Study::open(path)?,
                agreement: Err(error),
            }),
        }
    }

    /// One that has been read.
    pub(crate) fn of(agreement: &Arc<Agreement>) -> Self {
        Self {
            study: agreement.study.clone(),
            agreement: Ok(Arc::clone(agreement)),
        }
    }
}
