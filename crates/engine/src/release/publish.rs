//! A release is written into its folder, read back, and looked at as a stranger would.

use std::path::Path;

use hedgerow_data::files::{FileError, write_folder};
use hedgerow_data::{Release, Study};

use super::files::strangers;
use super::published::Published;
use super::refused::FolderRefused;
use crate::error::Error;
use crate::study::ready::Ready;
use crate::verify::read::{Read, visible};

impl Ready {
    /// Writes the release and looks at what was written: what a stranger finds there, and the release as
    /// it reads.
    pub(crate) fn publish(
        &self,
        release: &Release,
        folder: &Path,
    ) -> Result<(Published, Release), Error> {
        if release.rows() == 0 {
            return Err(FolderRefused::NoRecords.into());
        }
        std::fs::create_dir_all(folder).map_err(|error| unwritable(folder, &error))?;
        write_folder(folder, release, &self.study, &())?;
        self.look(folder)
    }

    /// Looks at a release that was written as a stranger would.
    pub(crate) fn look(&self, folder: &Path) -> Result<(Published, Release), Error> {
        let files = self.study.release_tables();
        let path = folder.join(files.first().map_or("", String::as_str));
        let read = Read::open(&path, &self.study, &())?;
        // A release does not show sites: models that speak of sites were checked during the run.
        let (visible, _) = visible(&self.requirement, &self.study);
        let (classes, verdict) = read.judge(None, &[], Some(&visible), None)?;
        let utility = read.losses(&self.study, &classes, None, Some(&self.requirement));
        let published = Published {
            folder: folder.to_owned(),
            verdict,
            utility,
            recode: self.run.recode,
            gate: Vec::new(),
        };
        Ok((published, read.release))
    }
}

/// Sees before a run that a release can be written, so that nobody waits for a release that cannot be.
/// Makes nothing, so a refused run leaves nothing behind. Refuses a folder with other files, since a
/// release is all that its manifest lists; and a folder with files of a release, unless `is_forced`.
pub(crate) fn probe(folder: &Path, study: &Study, is_forced: bool) -> Result<(), Error> {
    if let Some(name) = strangers(folder, study).into_iter().next() {
        let folder = folder.to_owned();
        return Err(FolderRefused::Stranger { folder, name }.into());
    }
    let is_empty = std::fs::read_dir(folder).map_or(true, |mut files| files.next().is_none());
    if !is_empty && !is_forced {
        let folder = folder.to_owned();
        return Err(FolderRefused::ReleaseThere { folder }.into());
    }
    let there = folder.ancestors().find(|ancestor| ancestor.exists());
    let there = there.unwrap_or(Path::new("."));
    tempfile::tempfile_in(there).map_err(|error| unwritable(folder, &error))?;
    Ok(())
}

fn unwritable(folder: &Path, error: &std::io::Error) -> FileError {
    FileError::Unwritable {
        file: folder.display().to_string(),
        reason: error.to_string(),
    }
}
