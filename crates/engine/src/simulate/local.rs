//! The local anonymized data sets of simulated sites as files: one for each site, in a folder of their own.

use std::path::Path;

use hedgerow_data::files::{FileError, write_release};
use hedgerow_data::{Release, Study};

use super::refused::SplitRefused;
use crate::error::Error;
use crate::options::Options;
use crate::release::refused::FolderRefused;

/// Sees before a run that local data sets can be written where they are to go: never into the folder of
/// the release, and not among files of others.
pub(super) fn refuse_local(options: &Options, is_vertical: bool) -> Result<(), Error> {
    let Some(folder) = &options.local else {
        return Ok(());
    };
    if is_vertical {
        return Err(SplitRefused::HasNoLocal.into());
    }
    if folder.as_os_str().is_empty() {
        return Err(FolderRefused::NoLocalName.into());
    }
    if let Some(release) = &options.out
        && absolute(folder).starts_with(absolute(release))
    {
        let folder = folder.clone();
        return Err(FolderRefused::LocalInRelease { folder }.into());
    }
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if number_of(&name).is_none() {
            let folder = folder.clone();
            return Err(FolderRefused::LocalStranger { folder, name }.into());
        }
    }
    let there = folder.ancestors().find(|ancestor| ancestor.exists());
    let there = there.unwrap_or(Path::new("."));
    tempfile::tempfile_in(there).map_err(|error| unwritable(folder, &error))?;
    Ok(())
}

/// Writes the local data set of each site; files of an earlier run with more sites go.
pub(super) fn write_local(folder: &Path, local: &[Release], study: &Study) -> Result<(), Error> {
    std::fs::create_dir_all(folder).map_err(|error| unwritable(folder, &error))?;
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let number = number_of(&entry.file_name().to_string_lossy());
        if number.is_some_and(|number| number >= local.len()) {
            let path = entry.path();
            std::fs::remove_file(&path).map_err(|error| unwritable(&path, &error))?;
        }
    }
    for (site, release) in local.iter().enumerate() {
        write_release(
            &folder.join(format!("site-{site}.csv")),
            release,
            study,
            &(),
        )?;
    }
    Ok(())
}

/// The site of a file with a local data set.
fn number_of(name: &str) -> Option<usize> {
    let number = name.strip_prefix("site-")?.strip_suffix(".csv")?;
    number.parse().ok()
}

/// A path from the root on, so far as it exists.
fn absolute(path: &Path) -> std::path::PathBuf {
    let there = path.ancestors().find_map(|ancestor| {
        let rest = path.strip_prefix(ancestor).ok()?;
        let ancestor = match ancestor.as_os_str().is_empty() {
            true => Path::new("."),
            false => ancestor,
        };
        Some(ancestor.canonicalize().ok()?.join(rest))
    });
    there.unwrap_or_else(|| path.to_owned())
}

fn unwritable(path: &Path, error: &std::io::Error) -> Error {
    Error::File(FileError::Unwritable {
        file: path.display().to_string(),
        reason: error.to_string(),
    })
}
