//! The folder of real tables: the one that `HEDGEROW_DATA` names, or `../shared/data` beside the
//! checkout.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::skip;

/// The folder of real tables. `None`, and the test counts as skipped, where `HEDGEROW_DATA` is not set
/// and nothing lies beside the checkout.
///
/// # Panics
/// Where the folder should be there and cannot be read.
pub fn real_tables() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let folder = match find(std::env::var_os("HEDGEROW_DATA"), &beside) {
        Ok(folder) => folder,
        Err(why) => panic!("{why}"),
    };
    if folder.is_none() {
        skip("real tables", "set HEDGEROW_DATA to their folder");
    }
    folder
}

/// A file of the folder of real tables; `None` as for [`real_tables`].
///
/// # Panics
/// Where the file should be there and cannot be read.
pub fn real_table(name: &str) -> Option<PathBuf> {
    let file = real_tables()?.join(name);
    if let Err(error) = std::fs::File::open(&file) {
        panic!("{}: {error}", file.display());
    }
    Some(file)
}

/// The folder that is named, or the one beside the checkout where nothing is named; `None` where
/// neither is there. A folder that is there, or named, and cannot be read is an error.
fn find(named: Option<OsString>, beside: &Path) -> Result<Option<PathBuf>, String> {
    let folder = match named {
        Some(named) => PathBuf::from(named),
        // A link to nowhere is there too: somebody meant to have the tables.
        None => match beside.symlink_metadata() {
            Ok(_) => beside.to_owned(),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(cannot_be_read(beside, &error)),
        },
    };
    match std::fs::read_dir(&folder) {
        Ok(_) => Ok(Some(folder)),
        Err(error) => Err(cannot_be_read(&folder, &error)),
    }
}

fn cannot_be_read(folder: &Path, error: &std::io::Error) -> String {
    format!(
        "{}: the real tables should be here and cannot be read: {error}\nhint: mend the folder, or set HEDGEROW_DATA to another",
        folder.display()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_that_should_be_there_are_not_skipped() {
        let folder = tempfile::tempdir().unwrap();
        let (here, nowhere) = (folder.path().join("here"), folder.path().join("nowhere"));
        std::fs::create_dir(&here).unwrap();
        let name = |path: &Path| Some(path.as_os_str().to_owned());
        assert_eq!(find(None, &nowhere), Ok(None));
        assert_eq!(find(None, &here), Ok(Some(here.clone())));
        assert_eq!(find(name(&here), &nowhere), Ok(Some(here.clone())));
        // Named and not there, whatever lies beside the checkout; and a file in the folder's place.
        for named in [name(&nowhere), Some(OsString::new())] {
            let error = find(named, &here).unwrap_err();
            assert!(
                error.contains("should be here and cannot be read"),
                "{error}"
            );
        }
        let file = folder.path().join("file");
        std::fs::write(&file, "").unwrap();
        assert!(find(None, &file).is_err());
        #[cfg(unix)]
        {
            let link = folder.path().join("link");
            std::os::unix::fs::symlink(&nowhere, &link).unwrap();
            assert!(find(None, &link).is_err());
        }
    }
}
