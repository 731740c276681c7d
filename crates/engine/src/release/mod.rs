//! A release as a folder: what is written there, what its manifest says, and how it is closed.

pub(crate) mod achieved;
pub(crate) mod close;
pub(crate) mod cost;
pub(crate) mod date;
pub(crate) mod files;
pub(crate) mod manifest;
pub(crate) mod ordered;
pub(crate) mod outcome;
mod own_rows;
pub(crate) mod publish;
pub(crate) mod published;
pub(crate) mod recount;
pub(crate) mod refused;
pub(crate) mod statement;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tempfile::TempDir;

use crate::error::Error;
use crate::study::Study;
use manifest::Manifest;
use refused::FolderRefused;

/// A release folder, or one file of somebody's release.
///
/// ```
/// # use hedgerow::{Draft, Options, Study, Table, anonymize};
/// # let folder = tempfile::tempdir()?;
/// # std::env::set_current_dir(&folder)?;
/// # let rows: String = (0..60).map(|row| format!("{},{}\n", 20 + row, ["flu", "ulcer", "asthma"][row % 3])).collect();
/// # std::fs::write("patients.csv", format!("age,disease\n{rows}"))?;
/// # std::fs::write("study.toml", Study::draft(Draft::Horizontal))?;
/// # anonymize(&Study::open("study.toml")?, &Table::file("patients.csv"), &Options::new().out("release"))?;
/// use hedgerow::{Questions, Release, verify};
///
/// // The folder describes itself: what it says is the word of whoever published it.
/// let release = Release::open("release")?;
/// assert!(verify(&release, &Questions::default())?.holds());
///
/// // The study says what was agreed on, and whose keys must have signed.
/// let release = release.with_study(hedgerow::Study::open("study.toml")?);
/// println!("{}", verify(&release, &Questions::default())?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Release {
    pub(crate) path: PathBuf,
    pub(crate) study: Option<Study>,
    /// Keeps a temporary folder.
    temporary: Option<Arc<TempDir>>,
}

impl Release {
    /// A release folder, or a CSV or Parquet file.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, Error> {
        let path = path.into();
        if !path.exists() {
            return Err(FolderRefused::Absent { path }.into());
        }
        Ok(Self {
            path,
            study: None,
            temporary: None,
        })
    }

    /// The study of the release: roles, domains, taxonomies, requirement, and the keys of those who
    /// signed.
    #[must_use]
    pub fn with_study(mut self, study: Study) -> Self {
        self.study = Some(study);
        self
    }

    /// What the folder says of itself in its manifest.
    pub fn manifest(&self) -> Result<Manifest, Error> {
        let read = Manifest::read(&self.path);
        let read = read.map_err(|reason| Error::Manifest {
            folder: self.path.clone(),
            reason,
        });
        Ok(read?.0)
    }

    /// Where the release lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The release with the folder that it keeps.
    pub(crate) fn kept(mut self, temporary: Option<Arc<TempDir>>) -> Self {
        self.temporary = temporary;
        self
    }
}
