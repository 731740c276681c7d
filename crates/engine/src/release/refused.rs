//! Why a folder is not fit for a release, or is no release, and why a manifest says nothing.

use std::path::PathBuf;

use super::manifest::{FILE, VERSION};
use crate::words::one_line;

/// Why a folder is not fit for a release, or is no release.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FolderRefused {
    /// A release without records.
    #[error("there are no records, so there is nothing to publish")]
    NoRecords,
    /// The folder holds a file that is no file of a release.
    #[error("{}: holds `{}`, which is no file of a release\nhint: name another folder; it need not exist", folder.display(), one_line(name))]
    Stranger {
        /// The folder.
        folder: PathBuf,
        /// The name of the file that lies there.
        name: String,
    },
    /// The folder holds a release already.
    #[error("{}: holds a release already, which is kept\nhint: name another folder with --out, or write over it with --force", folder.display())]
    ReleaseThere {
        /// The folder.
        folder: PathBuf,
    },
    /// Something else has the name of the release.
    #[error("{}: is in the way of the release\nhint: move it away, then the same command goes on", folder.display())]
    InTheWay {
        /// The folder.
        folder: PathBuf,
    },
    /// No file or folder has this name.
    #[error("{}: there is no such file or folder\nhint: name a release folder, or a .csv or .parquet file", path.display())]
    Absent {
        /// The name.
        path: PathBuf,
    },
    /// A folder is needed.
    #[error("{}: is no release folder\nhint: name the folder that holds release.csv and manifest.json; hedgerow verify looks at a file alone", path.display())]
    NoFolder {
        /// The name.
        path: PathBuf,
    },
    /// A fragmented release is several files.
    #[error("{}: is one file, and a release of this study is a folder of several\nhint: name the folder that holds {}", path.display(), hedgerow_data::study::QUASI_FILE)]
    OneFile {
        /// The file.
        path: PathBuf,
    },
    /// A folder without a table.
    #[error("{}: no release.parquet or release.csv in this folder\nhint: {hint}", path.display())]
    NoTable {
        /// The folder.
        path: PathBuf,
        /// What to do.
        hint: &'static str,
    },
    /// What sites know of a virtual database has no rows to ask.
    #[error("{}: is what all sites know of a virtual database, whose rows each site keeps for itself\nhint: ask the sites, with hedgerow query --site site.toml", path.display())]
    Virtual {
        /// The folder.
        path: PathBuf,
    },
    /// A link, a pipe or a device in the place of a file.
    #[error("{}: is no regular file, and is not read\nhint: have whoever made the folder send the file itself", file.display())]
    NotRegular {
        /// The file.
        file: PathBuf,
    },
    /// A folder needs a name.
    #[error("the folder of the release has no name\nhint: name a folder; it need not exist")]
    NoName,
    /// The folder of local data sets needs a name.
    #[error(
        "the folder of the local data sets has no name\nhint: name a folder; it need not exist"
    )]
    NoLocalName,
    /// Local data sets say whose records are whose.
    #[error("{}: lies in the folder of the release, and local data sets say whose records are whose\nhint: name a folder elsewhere with --local", folder.display())]
    LocalInRelease {
        /// The folder.
        folder: PathBuf,
    },
    /// The folder of local data sets holds something else.
    #[error("{}: holds `{}`, which is no local data set\nhint: name another folder with --local; it need not exist", folder.display(), one_line(name))]
    LocalStranger {
        /// The folder.
        folder: PathBuf,
        /// The name of the file that lies there.
        name: String,
    },
    /// A release that has a manifest is closed.
    #[error("{}: lies in the release folder, whose files are sealed as they are\nhint: name a file elsewhere with --out", path.display())]
    Sealed {
        /// The file.
        path: PathBuf,
    },
    /// The outcome of an audit lies beside its release, and this run has no release.
    #[error("{}: is not there, so the outcome has no place beside the release\nhint: --out FILE says where it goes", folder.display())]
    NoPlace {
        /// The folder of the release.
        folder: PathBuf,
    },
    /// A temporary folder cannot be made.
    #[error("{}: {reason}", folder.display())]
    Unusable {
        /// The folder.
        folder: PathBuf,
        /// Why the folder cannot be made.
        reason: String,
    },
}

/// Why a manifest says nothing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ManifestError {
    /// The file cannot be read.
    #[error("{FILE}: cannot be read: {reason}")]
    Unreadable {
        /// What the operating system said, or that the manifest is too long.
        reason: String,
    },
    /// The file says something else than a manifest does.
    #[error("{FILE}: is no manifest: {reason}")]
    NoManifest {
        /// The key that is unknown or missing, or where the text is no JSON.
        reason: String,
    },
    /// A manifest with both a signed and an unsigned statement, or with neither.
    #[error("{FILE}: has no statement of the release")]
    NoStatement,
    /// More columns than a table has.
    #[error("{FILE}: describes {columns} columns, at most {most} are read")]
    TooManyColumns {
        /// How many the manifest describes.
        columns: usize,
        /// How many it may.
        most: usize,
    },
    /// A taxonomy that is no file of the folder.
    #[error("{file}: is no regular file, and is not read")]
    NoTaxonomy {
        /// The name of the file in the manifest.
        file: String,
    },
    /// A manifest without a version.
    #[error("{FILE}: has no version, expected {VERSION}")]
    NoVersion,
    /// A manifest of another version.
    #[error(
        "{FILE}: is of version {found}, this hedgerow reads version {VERSION}: look at it with the hedgerow that wrote it, or have the release made again"
    )]
    OtherVersion {
        /// The version that the manifest says.
        found: u64,
    },
}
