//! The folder of a release in a site's data folder: made under another name, and given its own when
//! all sites have signed.

use std::path::{Path, PathBuf};

use hedgerow_data::files::FileError;
use hedgerow_data::{Release, Study};
use serde_json::Value;

use crate::error::Error;
use crate::release::manifest::FILE;
use crate::release::published::Published;
use crate::release::refused::FolderRefused;
use crate::study::ready::Ready;

/// Where the release of a run lies in a data folder, or what all sites know of a virtual database.
pub(crate) fn table_folder(data: &Path, number: u32, study: &Study) -> PathBuf {
    let name = match study.is_virtual() {
        true => "virtual",
        false => "release",
    };
    data.join(format!("{name}-{number}"))
}

/// Writes the release into the folder where it is made; files that an earlier process left there are
/// removed.
pub(super) fn publish(
    ready: &Ready,
    release: &Release,
    unfinished: &Path,
) -> Result<(Published, Release), Error> {
    clear(unfinished)?;
    ready.publish(release, unfinished)
}

/// Removes a folder if it exists.
pub(super) fn clear(folder: &Path) -> Result<(), Error> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(unwritable(folder, &error))
        }
        _ => Ok(()),
    }
}

/// Gives the finished release its name. A release that an earlier process put there gives way if all
/// sites signed the same statement for it, whether or not the rest of it is whole.
pub(super) fn settle(unfinished: &Path, folder: &Path) -> Result<PathBuf, Error> {
    let former = unfinished.with_extension("old");
    if folder.exists() {
        let found = signed_part(folder);
        if found.is_none() || found != signed_part(unfinished) {
            let folder = folder.to_owned();
            return Err(FolderRefused::InTheWay { folder }.into());
        }
        clear(&former)?;
        std::fs::rename(folder, &former).map_err(|error| unwritable(folder, &error))?;
    }
    std::fs::rename(unfinished, folder).map_err(|error| unwritable(folder, &error))?;
    clear(&former)?;
    // The journal forgets the run after this: the names must be on disk too, as the files are.
    for named in [Some(folder), folder.parent()].into_iter().flatten() {
        let synced = std::fs::File::open(named).and_then(|folder| folder.sync_all());
        synced.map_err(|error| unwritable(named, &error))?;
    }
    Ok(folder.to_owned())
}

/// What was signed of the release in a folder, whatever else its manifest says.
fn signed_part(folder: &Path) -> Option<Value> {
    let text = std::fs::read(folder.join(FILE)).ok()?;
    let mut manifest: Value = serde_json::from_slice(&text).ok()?;
    manifest.get_mut("signed").map(Value::take)
}

fn unwritable(path: &Path, error: &std::io::Error) -> Error {
    Error::File(FileError::Unwritable {
        file: path.display().to_string(),
        reason: error.to_string(),
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use serde_json::json;

    use super::*;

    fn release(folder: &Path, manifest: &Value) {
        std::fs::create_dir(folder).unwrap();
        std::fs::write(folder.join("manifest.json"), manifest.to_string()).unwrap();
    }

    #[test]
    fn a_release_of_an_earlier_life_gives_way_to_the_same_one_only() {
        let data = tempfile::tempdir().unwrap();
        let (unfinished, folder) = (data.path().join(".release-1.tmp"), data.path().join("it"));
        let whole = json!({ "signed": { "k": 10 }, "account": "whole" });
        // An earlier process was killed before the journal knew of the release, and its account was
        // damaged since.
        release(
            &folder,
            &json!({ "signed": { "k": 10 }, "account": "damaged" }),
        );
        release(&unfinished, &whole);
        assert_eq!(settle(&unfinished, &folder).unwrap(), folder);
        let text = std::fs::read_to_string(folder.join("manifest.json")).unwrap();
        assert_eq!(text, whole.to_string());
        assert_eq!(std::fs::read_dir(data.path()).unwrap().count(), 1);

        // Killed between the two names.
        std::fs::rename(&folder, data.path().join(".release-1.old")).unwrap();
        release(&unfinished, &whole);
        settle(&unfinished, &folder).unwrap();
        assert_eq!(std::fs::read_dir(data.path()).unwrap().count(), 1);

        release(&unfinished, &json!({ "signed": { "k": 11 } }));
        let error = settle(&unfinished, &folder).unwrap_err().to_string();
        assert!(error.contains("is in the way of the release"), "{error}");
        assert_eq!(std::fs::read_dir(data.path()).unwrap().count(), 2);
    }
}
