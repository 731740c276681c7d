//! The files in the folder of a release: their hashes, what is no file of the release, and the manifest
//! as it is read from the folder.

use std::io::Read as _;
use std::path::Path;

use hedgerow_data::Study;
use hedgerow_data::files::FileError;
use hedgerow_data::study::TAXONOMIES;
use serde::Deserialize;

use super::manifest::{FILE, LONGEST, Manifest, OWN_FILE, Statement, VERSION};
use super::outcome;
use super::refused::ManifestError;

/// The hash of a file of a release, as the statement has it.
pub(crate) fn hash(path: &Path) -> Result<String, FileError> {
    let unreadable = |error: std::io::Error| FileError::Unreadable {
        file: path.display().to_string(),
        reason: error.to_string(),
    };
    let mut hasher = blake3::Hasher::new();
    let file = open_regular(path).map_err(unreadable)?;
    hasher.update_reader(file).map_err(unreadable)?;
    Ok(hasher.finalize().to_hex().to_string())
}

/// Opens a file of a folder that a stranger made: a link, a pipe or a device is none of its files.
pub(crate) fn open_regular(path: &Path) -> std::io::Result<std::fs::File> {
    let about = std::fs::symlink_metadata(path)?;
    if !about.is_file() {
        return Err(std::io::Error::other("it is no regular file"));
    }
    std::fs::File::open(path)
}

impl Manifest {
    /// Reads the manifest of a folder, and the bytes of its file.
    pub(crate) fn read(folder: &Path) -> Result<(Self, Vec<u8>), ManifestError> {
        let unreadable = |error: std::io::Error| ManifestError::Unreadable {
            reason: error.to_string(),
        };
        let file = open_regular(&folder.join(FILE)).map_err(unreadable)?;
        let mut bytes = Vec::new();
        let read = file.take(LONGEST + 1).read_to_end(&mut bytes);
        read.map_err(unreadable)?;
        if bytes.len() as u64 > LONGEST {
            let reason = format!("it is longer than {LONGEST} bytes");
            return Err(ManifestError::Unreadable { reason });
        }
        Ok((Self::parse(&bytes)?, bytes))
    }

    /// What the bytes of a manifest say. The version is read first, since the keys of another version
    /// are not known.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, ManifestError> {
        #[derive(Deserialize)]
        struct Versioned {
            version: Option<u64>,
        }
        let no_manifest = |error: serde_json::Error| ManifestError::NoManifest {
            reason: error.to_string(),
        };
        let head: Versioned = serde_json::from_slice(bytes).map_err(no_manifest)?;
        match head.version {
            Some(VERSION) => serde_json::from_slice(bytes).map_err(no_manifest),
            Some(found) => Err(ManifestError::OtherVersion { found }),
            None => Err(ManifestError::NoVersion),
        }
    }

    /// What is said of the release, and whether sites signed it; nothing where the manifest has both
    /// statements or neither.
    pub fn statement(&self) -> Option<(&Statement, bool)> {
        match (&self.signed, &self.unsigned) {
            (Some(signed), None) => Some((signed, true)),
            (None, Some(unsigned)) => Some((unsigned, false)),
            _ => None,
        }
    }

    /// The site that wrote the manifest, by its own word.
    pub(crate) fn writer(&self) -> Option<&str> {
        self.account.site.as_deref()
    }
}

/// The bytes that a seal covers: every byte of the manifest before its last line.
pub(crate) fn account_digest(head: &[u8]) -> [u8; 32] {
    blake3::derive_key("hedgerow account v1", head)
}

/// How a manifest ends.
pub(crate) fn tail(seal: &str) -> String {
    format!(",\n  \"seal\": \"{seal}\"\n}}\n")
}

/// What lies in a folder and is no file of a release of this study, by name.
pub(crate) fn strangers(folder: &Path, study: &Study) -> Vec<String> {
    let files = study.release_files();
    let sites = study.sites.iter();
    let audits: Vec<String> = sites.map(|site| outcome::file_of(&site.name)).collect();
    let is_known = |name: &String| {
        files.contains(name) || audits.contains(name) || *name == FILE || *name == OWN_FILE
    };
    let mut strangers = Vec::new();
    for name in names_in(folder) {
        // The only folder in a release is the folder of its taxonomies; a link to a folder does not
        // count.
        if name == TAXONOMIES && is_folder(&folder.join(TAXONOMIES)) {
            let inside = names_in(&folder.join(TAXONOMIES)).into_iter();
            let inside = inside.map(|name| format!("{TAXONOMIES}/{name}"));
            strangers.extend(inside.filter(|name| !is_known(name)));
        } else if !is_known(&name) {
            strangers.push(name);
        }
    }
    strangers.sort_unstable();
    strangers
}

fn names_in(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.collect()
}

fn is_folder(path: &Path) -> bool {
    let about = std::fs::symlink_metadata(path);
    about.is_ok_and(|about| about.is_dir())
}
