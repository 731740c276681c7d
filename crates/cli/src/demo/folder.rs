//! The folder of a demo: `hedgerow-demo` unless the user names another, kept to be looked at; or, where nothing
//! is to be left, a temporary folder.

use std::path::{Path, PathBuf};

use hedgerow::data::files::OutputFile;

use super::hospitals::unwritable;
use crate::error::{CliError, DemoError};
use crate::output::remark;

/// Where a demo is kept if nobody says where.
const USUAL: &str = "hedgerow-demo";

/// The file that says what is what in the folder, and by whose first line a later demo knows the folder.
const README: &str = "README.txt";
const FIRST_LINE: &str = "An example that `hedgerow demo` has made. Everybody in it is invented.\n";

/// What a demo makes in its folder.
const MADE: [&str; 9] = [
    README,
    "study",
    "north",
    "south",
    "east",
    "west",
    "clinic",
    "laboratory",
    "insurer",
];

/// How the names of temporary folders begin; the process's number follows.
const PREFIX: &str = "hedgerow-demo-";

/// Removes the folders of demos that were killed before they could remove them.
fn sweep() {
    let processes = Path::new("/proc");
    // Where processes cannot be looked up, nobody is known to be gone.
    if !processes.join("self").exists() {
        return;
    }
    let folders = std::fs::read_dir(std::env::temp_dir());
    for folder in folders.into_iter().flatten().flatten() {
        let name = folder.file_name();
        let process = name
            .to_str()
            .and_then(|name| name.strip_prefix(PREFIX)?.split_once('-')?.0.parse().ok());
        let is_gone = |process: u32| !processes.join(process.to_string()).exists();
        if process.is_some_and(is_gone) {
            // A folder that cannot be removed, because it belongs to another user, stays.
            let _ = std::fs::remove_dir_all(folder.path());
        }
    }
}

/// Where a demo happens.
pub(super) struct Folder {
    path: PathBuf,
    /// The folder as the user would name it.
    shown: PathBuf,
    /// Removed when dropped.
    temporary: Option<tempfile::TempDir>,
}

impl Folder {
    /// A folder that is removed in the end.
    pub(super) fn temporary() -> Result<Self, CliError> {
        sweep();
        let prefix = format!("{PREFIX}{}-", std::process::id());
        let made = tempfile::Builder::new().prefix(&prefix).tempdir();
        let made = made.map_err(|error| unwritable(&std::env::temp_dir(), &error))?;
        Ok(Self {
            path: made.path().to_owned(),
            shown: made.path().to_owned(),
            temporary: Some(made),
        })
    }

    /// A folder that is kept: the named one, or the usual one, in which a demo takes the place of an earlier demo.
    pub(super) fn kept(named: Option<&Path>) -> Result<Self, CliError> {
        let shown = named.unwrap_or(Path::new(USUAL));
        let bad = |error: std::io::Error| DemoError::NoFolder {
            folder: shown.to_owned(),
            error,
        };
        if named.is_none() && is_demo(shown) {
            remark(&format!(
                "{USUAL}: this demo takes the place of an earlier one"
            ));
            std::fs::remove_dir_all(shown).map_err(bad)?;
        }
        std::fs::create_dir_all(shown).map_err(bad)?;
        if std::fs::read_dir(shown).map_err(bad)?.next().is_some() {
            return Err(DemoError::NotEmpty(shown.to_owned()).into());
        }
        let path = std::path::absolute(shown).map_err(bad)?;
        let folder = Self {
            path,
            shown: shown.to_owned(),
            temporary: None,
        };
        // A demo that is killed leaves its first line, so that the next demo knows the folder.
        folder.explain("It has not come to its end.\n")?;
        Ok(folder)
    }

    /// Says in the folder what is in it.
    pub(super) fn explain(&self, words: &str) -> Result<(), CliError> {
        use std::io::Write as _;
        let path = self.path.join(README);
        let mut file = OutputFile::create(&path)?;
        let written = write!(file, "{FIRST_LINE}\n{words}");
        written.map_err(|error| unwritable(&path, &error))?;
        Ok(file.finish()?)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// A path in the folder as the user would type it.
    pub(super) fn shown(&self, path: &Path) -> String {
        match path.strip_prefix(&self.path) {
            Ok(inside) if inside.as_os_str().is_empty() => self.shown.display().to_string(),
            Ok(inside) => self.shown.join(inside).display().to_string(),
            Err(_) => path.display().to_string(),
        }
    }

    pub(super) const fn is_kept(&self) -> bool {
        self.temporary.is_none()
    }
}

/// Whether a demo made a folder, and nobody has put anything beside what the demo made.
fn is_demo(folder: &Path) -> bool {
    let text = std::fs::read_to_string(folder.join(README));
    let is_marked = text.is_ok_and(|text| text.starts_with(FIRST_LINE));
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names = entries.map(|entry| entry.file_name());
    is_marked && names.all(|name| MADE.iter().any(|made| name == *made))
}
