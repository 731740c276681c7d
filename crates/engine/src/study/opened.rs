//! A study as its bytes were read, once: everything that is said of the study is of the same bytes,
//! whatever becomes of the file meanwhile.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hedgerow_data::Study;
use hedgerow_data::document::Document;
use hedgerow_data::study::Described;
use hedgerow_node::agreement::{Agreement, AgreementError};

use crate::error::Error;
use crate::release::manifest::{FILE, Manifest};
use crate::release::refused::ManifestError;

/// A study in memory.
pub(crate) struct Opened {
    /// What the study declares.
    pub(crate) study: Study,
    /// The study as sites sign it, or why sites cannot sign it; nothing for a study without a file.
    pub(crate) agreement: Option<Result<Arc<Agreement>, AgreementError>>,
    /// The file that errors name.
    pub(crate) path: PathBuf,
    /// Whether the study is a release's own word.
    pub(crate) is_described: bool,
}

impl Opened {
    /// Reads a study that need not be fit to be signed.
    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        match Agreement::open(path) {
            Ok(agreement) => Ok(Self::of(&Arc::new(agreement))),
            Err(error) => Ok(Self {
                study: Study::open(path)?,
                agreement: Some(Err(error)),
                path: path.to_owned(),
                is_described: false,
            }),
        }
    }

    /// Reads the text of a study; file names in the text are relative to `folder`.
    pub(crate) fn parse(text: String, folder: &Path) -> Result<Self, Error> {
        let path = folder.join("study.toml");
        let document = Document::parse(text, &path)?;
        Ok(Self {
            study: Study::read(document, folder)?,
            agreement: None,
            path,
            is_described: false,
        })
    }

    /// The study as the folder of a release describes it: columns and requirement as the manifest states
    /// them, taxonomies as they lie there. That is the word of whoever published the release.
    pub(crate) fn described(folder: &Path, manifest: &Manifest) -> Result<Self, Error> {
        let path = folder.join(FILE);
        let (said, _) = manifest.statement().ok_or_else(|| Error::Manifest {
            folder: folder.to_owned(),
            reason: ManifestError::NoStatement,
        })?;
        let described = Described {
            name: &said.study,
            partition: said.partition,
            security: &said.security,
            algorithm: &said.algorithm,
            csv: &said.csv,
            recode: said.recode,
            sites: said.commitments.iter().map(|(site, _)| site).collect(),
            columns: &said.columns,
            require: Some(said.requirement.require.to_toml()),
        };
        let study = described.study(folder, &path.display().to_string());
        Ok(Self {
            study: study.map_err(|reason| Error::Described {
                folder: folder.to_owned(),
                reason,
            })?,
            agreement: None,
            path,
            is_described: true,
        })
    }

    /// A study that has been read.
    pub(crate) fn of(agreement: &Arc<Agreement>) -> Self {
        Self {
            study: agreement.study.clone(),
            agreement: Some(Ok(Arc::clone(agreement))),
            path: agreement.path().to_owned(),
            is_described: false,
        }
    }

    /// The study as sites sign it, where they can.
    pub(crate) fn signable(&self) -> Option<&Arc<Agreement>> {
        self.agreement.as_ref()?.as_ref().ok()
    }
}
