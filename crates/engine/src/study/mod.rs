//! A study: what it declares, whether it can be run, what a run of it may disclose.

pub(crate) mod algorithm;
mod check;
mod disclosures;
pub(crate) mod draft;
pub(crate) mod explained;
pub(crate) mod opened;
pub(crate) mod plan;
pub(crate) mod ready;
pub(crate) mod refused;
pub(crate) mod shown;
pub(crate) mod written;

pub use check::{Checked, Fitting};
pub(crate) use disclosures::disclosures;
#[cfg(test)]
pub(crate) use disclosures::tests as disclosures_tests;
pub use draft::{Draft, DraftOptions, Drafted, DraftedColumn};

pub use shown::Shown;

use std::path::Path;
use std::sync::Arc;

use hedgerow_data::study::Partition;
use hedgerow_node::agreement::Agreement;
use hedgerow_privacy::Requirement;
use hedgerow_protocols::RunSettings;
use hedgerow_smc::What;

use crate::error::Error;
use crate::query::Statement;
use opened::Opened;
use ready::Ready;
use refused::StudyRefused;

/// A study, read once: everything said of the study is about the same bytes, whatever becomes of its
/// file.
///
/// ```
/// use hedgerow::{Draft, Study};
///
/// let study = Study::parse(Study::draft(Draft::Horizontal), ".")?;
/// assert_eq!(study.name(), "my-study");
/// assert_eq!(study.requirement()?.k(), 10);
/// let disclosed: Vec<&str> = study.discloses()?.iter().map(|what| what.name()).collect();
/// assert!(!disclosed.is_empty());
/// # Ok::<(), hedgerow::Error>(())
/// ```
#[derive(Clone)]
pub struct Study {
    pub(crate) opened: Arc<Opened>,
}

impl Study {
    /// Reads a study and the taxonomies it names.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        let opened = Arc::new(Opened::open(path.as_ref())?);
        Ok(Self { opened })
    }

    /// Reads the text of a study; file names in the text are relative to `folder`.
    pub fn parse(text: impl Into<String>, folder: impl AsRef<Path>) -> Result<Self, Error> {
        let opened = Arc::new(Opened::parse(text.into(), folder.as_ref())?);
        Ok(Self { opened })
    }

    /// The text of a study to begin with: sound as it is, and to be changed.
    pub const fn draft(draft: Draft) -> &'static str {
        draft.text()
    }

    /// The study's name.
    pub fn name(&self) -> &str {
        &self.opened.study.name
    }

    /// What the study declares: sites, attributes with their domains and taxonomies, settings.
    pub fn declared(&self) -> &hedgerow_data::Study {
        &self.opened.study
    }

    /// How classes are found, as the study writes it.
    pub fn algorithm(&self) -> &'static str {
        self.opened.study.algorithm.name()
    }

    /// Whether sites hold different facts about the same people.
    pub fn is_vertical(&self) -> bool {
        self.opened.study.partition == Partition::Vertical
    }

    /// How the study's protocols run.
    pub fn settings(&self) -> &RunSettings {
        &self.opened.run
    }

    /// What every class of a release must satisfy.
    pub fn requirement(&self) -> Result<Requirement, Error> {
        Ok(Requirement::of_study(&self.opened.study)?)
    }

    /// A statement of SQL about the table of the study, which is named like the study.
    pub fn statement(&self, sql: &str) -> Result<Statement, Error> {
        let study = &self.opened.study;
        Ok(Statement::read(sql, &study.schema, &study.name)?)
    }

    /// The study as sites sign it: its hash, its keys, its signatures.
    pub fn agreement(&self) -> Result<Arc<Agreement>, Error> {
        if let Some(agreement) = self.opened.signable() {
            return Ok(Arc::clone(agreement));
        }
        match &self.opened.agreement {
            // The error that was met is told anew.
            Some(Err(_)) => Ok(Arc::new(Agreement::open(&self.opened.path)?)),
            _ => Err(StudyRefused::NoFile.into()),
        }
    }

    /// Sees that sites can sign the study and run it.
    pub fn see_runnable(&self) -> Result<(), Error> {
        Ready::of(&self.agreement()?).map(|_| ())
    }

    /// Everything that a run of the study may disclose to a site, known before it begins.
    pub fn discloses(&self) -> Result<Vec<What>, Error> {
        Ok(disclosures(&Ready::new(Arc::clone(&self.opened), None)?))
    }
}

impl std::fmt::Debug for Study {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Study").field("name", &self.name()).finish()
    }
}
