//! One call at a time works in a folder of figures: an operating system's lock of a file in it, which goes
//! with the process that has it, however that ends.

use std::fs::File;
use std::path::Path;

use crate::error::Error;

/// The file that is locked; it stays, and is empty.
pub(crate) const FILE: &str = ".lock";

/// The lock of a folder, for as long as it lives.
#[derive(Debug)]
pub(crate) struct Lock(#[allow(dead_code, reason = "the lock lasts while the file is open")] File);

impl Lock {
    /// Takes the lock of a folder, or says that another call has it.
    pub(crate) fn take(folder: &Path) -> Result<Self, Error> {
        let file = File::create(folder.join(FILE)).map_err(|error| Error::Unusable {
            folder: folder.to_owned(),
            reason: error.to_string(),
        })?;
        match is_locked(&file) {
            Ok(true) => Ok(Self(file)),
            Ok(false) => Err(Error::Busy {
                folder: folder.to_owned(),
            }),
            Err(error) => Err(Error::Unusable {
                folder: folder.to_owned(),
                reason: error.to_string(),
            }),
        }
    }
}

/// Whether the lock was free and is ours now.
#[cfg(unix)]
fn is_locked(file: &File) -> std::io::Result<bool> {
    use rustix::fs::{FlockOperation, flock};
    use rustix::io::Errno;

    match flock(file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(true),
        Err(Errno::WOULDBLOCK) => Ok(false),
        // A file system without locks: nothing is known of other calls.
        Err(Errno::NOTSUP | Errno::NOSYS) => Ok(true),
        Err(error) => Err(error.into()),
    }
}

/// Elsewhere folders are not locked until the least version of Rust has locks of its own.
#[cfg(not(unix))]
fn is_locked(_: &File) -> std::io::Result<bool> {
    Ok(true)
}
