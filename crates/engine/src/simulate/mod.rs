//! Runs in one process: one party with one table, or all sites of a study with exact counts of what
//! they send.

pub(crate) mod anonymize;
pub(crate) mod baselines;
mod colluders;
mod counts;
mod local;
pub(crate) mod refused;
mod run;
pub(crate) mod split;
mod uneven;

pub use anonymize::anonymize;
pub use run::{Simulation, Sites, simulate};

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tempfile::TempDir;

use crate::error::Error;
use crate::options::Options;
use crate::release::Release;
use crate::release::publish::probe;
use crate::release::refused::FolderRefused;
use crate::study::Study;
use crate::summary::Summary;

/// The result of a run in one process.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Outcome {
    /// What came of the run and what it cost.
    pub summary: Summary,
    /// The release.
    pub release: Release,
}

/// Where a release goes.
struct Destination {
    folder: PathBuf,
    /// The temporary folder of the release, removed when nobody needs it any more.
    temporary: Option<Arc<TempDir>>,
}

/// Sees before a run that a release can be written, so that nobody waits for a release that cannot be.
fn destination(options: &Options, study: &hedgerow_data::Study) -> Result<Destination, Error> {
    if let Some(folder) = &options.out {
        if folder.as_os_str().is_empty() {
            return Err(FolderRefused::NoName.into());
        }
        probe(folder, study, options.force)?;
        return Ok(Destination {
            folder: folder.clone(),
            temporary: None,
        });
    }
    let mut private = tempfile::Builder::new();
    // Several releases of one table tell more together than each alone: nobody else reads them here.
    #[cfg(unix)]
    private.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
    let temporary = private.tempdir().map_err(|error| FolderRefused::Unusable {
        folder: std::env::temp_dir(),
        reason: error.to_string(),
    })?;
    Ok(Destination {
        folder: temporary.path().join("release"),
        temporary: Some(Arc::new(temporary)),
    })
}

impl Destination {
    fn folder(&self) -> &Path {
        &self.folder
    }

    /// The release that was written.
    fn release(self, study: &Study) -> Result<Release, Error> {
        let release = Release::open(self.folder)?.with_study(study.clone());
        Ok(release.kept(self.temporary))
    }
}
