//! A study as its bytes were read, once: everything said of the study is about the same bytes, whatever
//! becomes of the file meanwhile.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hedgerow_data::Study;
use hedgerow_data::document::Document;
use hedgerow_data::study::Described;
use hedgerow_node::agreement::{Agreement, AgreementError};
use hedgerow_privacy::{Requirement, Scope};
use hedgerow_protocols::RunSettings;

use crate::error::Error;
use crate::release::manifest::{FILE, Manifest};
use crate::release::refused::ManifestError;
use crate::words::one_line;

/// The most columns of a study that a folder describes.
const MOST_COLUMNS: usize = 4096;

/// A study in memory.
pub(crate) struct Opened {
    /// What the study declares.
    pub(crate) study: Study,
    /// How the study's protocols run.
    pub(crate) run: RunSettings,
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
            Ok(agreement) => Self::of(&Arc::new(agreement)),
            Err(error) => {
                let study = Study::open(path)?;
                Ok(Self {
                    run: RunSettings::of_study(&study)?,
                    study,
                    agreement: Some(Err(error)),
                    path: path.to_owned(),
                    is_described: false,
                })
            }
        }
    }

    /// Reads the text of a study; file names in the text are relative to `folder`.
    pub(crate) fn parse(text: String, folder: &Path) -> Result<Self, Error> {
        let path = folder.join("study.toml");
        let document = Document::parse(text, &path)?;
        let study = Study::read(document, folder)?;
        Ok(Self {
            run: RunSettings::of_study(&study)?,
            study,
            agreement: None,
            path,
            is_described: false,
        })
    }

    /// The study as the folder of a release describes it: columns and requirement as the manifest states
    /// them, taxonomies as they lie in the folder. This description is the word of whoever published the
    /// release.
    pub(crate) fn described(folder: &Path, manifest: &Manifest) -> Result<Self, Error> {
        let path = folder.join(FILE);
        let (said, _) = manifest.statement().ok_or_else(|| Error::Manifest {
            folder: folder.to_owned(),
            reason: ManifestError::NoStatement,
        })?;
        let refused = |reason| Error::Manifest {
            folder: folder.to_owned(),
            reason,
        };
        if said.columns.len() > MOST_COLUMNS {
            let (columns, most) = (said.columns.len(), MOST_COLUMNS);
            return Err(refused(ManifestError::TooManyColumns { columns, most }));
        }
        for file in said
            .columns
            .iter()
            .filter_map(|column| column.taxonomy.as_ref())
        {
            let about = folder.join(file).symlink_metadata();
            if about.is_ok_and(|about| !about.is_file()) {
                let file = one_line(file).into_owned();
                return Err(refused(ManifestError::NoTaxonomy { file }));
            }
        }
        let described = Described {
            name: &said.study,
            partition: said.partition,
            release: said.release,
            rows: said.rows,
            security: &said.security,
            algorithm: &said.algorithm,
            csv: &said.csv,
            recode: said.recode,
            fragments: said.fragments,
            sites: said.commitments.iter().map(|(site, _)| site).collect(),
            columns: &said.columns,
            require: Some(said.requirement.require.to_toml()),
        };
        let study = described.study(folder, &path.display().to_string());
        let study = study.map_err(|reason| Error::Described {
            folder: folder.to_owned(),
            reason,
        })?;
        // What a stranger's folder requires and how it says it was made is the folder's fault.
        let of_folder = |reason: String| Error::Manifest {
            folder: folder.to_owned(),
            reason: ManifestError::NoManifest { reason },
        };
        let requirement = Requirement::of_document(study.document(), &Scope::of_study(&study));
        requirement.map_err(|error| of_folder(error.to_string()))?;
        let run = RunSettings::of_study(&study);
        let mut run = run.map_err(|error| of_folder(error.to_string()))?;
        let shared = manifest.shared.as_ref();
        run.d2pt.restore = shared.is_some_and(|shared| shared.restored == Some(true));
        Ok(Self {
            study,
            run,
            agreement: None,
            path,
            is_described: true,
        })
    }

    /// A study that has been read.
    pub(crate) fn of(agreement: &Arc<Agreement>) -> Result<Self, Error> {
        Ok(Self {
            study: agreement.study.clone(),
            run: RunSettings::of_study(&agreement.study)?,
            agreement: Some(Ok(Arc::clone(agreement))),
            path: agreement.path().to_owned(),
            is_described: false,
        })
    }

    /// The study as sites sign it, if sites can sign it.
    pub(crate) fn signable(&self) -> Option<&Arc<Agreement>> {
        self.agreement.as_ref()?.as_ref().ok()
    }
}
