//! A study as it was read, once: everything that a command says of it is of the same bytes, whatever
//! becomes of the file meanwhile.

use std::path::Path;
use std::sync::Arc;

use hedgerow_data::Study;
use hedgerow_node::agreement::{Agreement, AgreementError};
use hedgerow_protocols::RunSettings;

use crate::error::CliError;

/// A study in memory.
pub(crate) struct Opened {
    pub(crate) study: Study,
    /// How its protocols run.
    pub(crate) run: RunSettings,
    /// As sites sign it; or why it is none that they can sign.
    pub(crate) agreement: Result<Arc<Agreement>, AgreementError>,
}

impl Opened {
    /// Reads a study that need not be one that can be signed.
    pub(crate) fn open(path: &Path) -> Result<Self, CliError> {
        match Agreement::open(path) {
            Ok(agreement) => Self::of(&Arc::new(agreement)),
            Err(error) => {
                let study = Study::open(path)?;
                Ok(Self {
                    run: RunSettings::of_study(&study)?,
                    study,
                    agreement: Err(error),
                })
            }
        }
    }

    /// One that has been read.
    pub(crate) fn of(agreement: &Arc<Agreement>) -> Result<Self, CliError> {
        Ok(Self {
            study: agreement.study.clone(),
            run: RunSettings::of_study(&agreement.study)?,
            agreement: Ok(Arc::clone(agreement)),
        })
    }
}
