//! The draft of a study that stewards of this site work on: the folder `console.draft` beside the site's file, with
//! `study.toml`, its taxonomies, and a table that somebody sent, until the draft is saved or thrown away.
//!
//! A change is made in a folder beside, read by the library, and takes the draft's place whole or not at all.
//!
//! # Discloses
//! To the owner of the folder alone: all that the draft and the table hold.

pub(crate) mod edit;
pub(crate) mod places;
pub(crate) mod tree;

use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use hedgerow::data::files::{FileError, OutputFile};
use hedgerow::node::site::SiteFile;
use hedgerow::node::source::Source;
use hedgerow::{Error, Study, Table};

use crate::versions::taxonomies;

/// The name of the folder, and of the one in which the next draft is made.
const FOLDER: &str = "console.draft";
const NEXT: &str = "console.draft.next";
/// The study's file.
pub(crate) const FILE: &str = "study.toml";
/// What a table that was sent is called here, by what it is.
const TABLES: [&str; 3] = ["table.csv", "table.parquet", "table.xlsx"];

/// The draft of a site.
#[derive(Debug, Clone)]
pub(crate) struct Drafts {
    beside: PathBuf,
    one: Arc<Mutex<()>>,
}

/// The table that a draft is held against.
#[derive(Debug, Clone)]
pub(crate) struct TableOf {
    pub(crate) path: PathBuf,
    pub(crate) is_sent: bool,
}

impl TableOf {
    pub(crate) fn table(&self) -> Table {
        Table::file(&self.path)
    }
}

impl Drafts {
    /// The draft beside a site's file. A table that was sent to an earlier console is removed.
    pub(crate) fn in_folder(beside: &Path) -> Self {
        let drafts = Self {
            beside: beside.to_owned(),
            one: Arc::default(),
        };
        drafts.forget_table();
        drafts
    }

    /// The draft's folder.
    pub(crate) fn folder(&self) -> PathBuf {
        self.beside.join(FOLDER)
    }

    /// The draft's file.
    pub(crate) fn path(&self) -> PathBuf {
        self.folder().join(FILE)
    }

    /// Whether there is a draft.
    pub(crate) fn is_there(&self) -> bool {
        self.path().is_file()
    }

    /// The draft's text.
    pub(crate) fn text(&self) -> Result<String, Error> {
        let path = self.path();
        let text = std::fs::read_to_string(&path);
        Ok(text.map_err(|error| unreadable(&path, &error))?)
    }

    /// The table that was sent, or else the file that has the site's rows.
    pub(crate) fn table(&self, site: &SiteFile) -> Option<TableOf> {
        if let Some(path) = self.sent() {
            return Some(TableOf {
                path,
                is_sent: true,
            });
        }
        match &site.source {
            Source::File(path) => Some(TableOf {
                path: path.clone(),
                is_sent: false,
            }),
            Source::Postgres(_) | Source::Engine(_) => None,
        }
    }

    fn sent(&self) -> Option<PathBuf> {
        let folder = self.folder();
        let mut files = TABLES.iter().map(|name| folder.join(name));
        files.find(|path| path.is_file())
    }

    /// Removes a table that was sent.
    pub(crate) fn forget_table(&self) {
        for folder in [self.folder(), self.beside.join(NEXT)] {
            for name in TABLES {
                // One that is not there is as good as removed.
                let _ = std::fs::remove_file(folder.join(name));
            }
        }
    }

    /// Throws the draft away.
    pub(crate) fn discard(&self) -> Result<(), Error> {
        let _one = self.one.lock().unwrap_or_else(PoisonError::into_inner);
        self.forget_table();
        remove(&self.folder())
    }

    /// Makes a new draft in an empty folder, and keeps it if the library can read the study.
    pub(crate) fn begin(&self, make: impl FnOnce(&Path) -> Result<(), Error>) -> Result<(), Error> {
        self.next(make).map(|_| ())
    }

    /// Makes another draft of the one that is there: the study's text and the taxonomies that change.
    pub(crate) fn change(
        &self,
        text: &str,
        changed: &[(String, String)],
        is_kept: bool,
    ) -> Result<Study, Error> {
        let (from, sent) = (self.folder(), self.sent());
        let text = text.to_owned();
        let make = |folder: &Path| {
            write(&folder.join(FILE), &text)?;
            for (name, text) in changed {
                write(&inside(folder, name)?, text)?;
            }
            // What the study still names and nobody changed.
            let names = match Study::open(from.join(FILE)) {
                Ok(study) => taxonomies(&study),
                Err(_) => Vec::new(),
            };
            for name in names {
                if !changed.iter().any(|(other, _)| *other == name) {
                    copy(&inside(&from, &name)?, &inside(folder, &name)?)?;
                }
            }
            Ok(())
        };
        if is_kept {
            // The table stays where it is until the new draft is whole.
            let study = self.next(|folder| {
                make(folder)?;
                let Some(table) = &sent else { return Ok(()) };
                let Some(name) = table.file_name() else {
                    return Ok(());
                };
                let to = folder.join(name);
                // A disk that has no second names for a file has a copy of it.
                let linked = std::fs::hard_link(table, &to);
                let put = linked.or_else(|_| std::fs::copy(table, &to).map(|_| ()));
                put.map_err(|error| unwritable(&to, &error))?;
                Ok(())
            })?;
            return Ok(study);
        }
        let _one = self.one.lock().unwrap_or_else(PoisonError::into_inner);
        let folder = self.fresh()?;
        let study = make(&folder).and_then(|()| opened(&folder));
        remove(&folder)?;
        study
    }

    /// Puts a table into a folder, for its owner's eyes alone.
    pub(crate) fn put_table(folder: &Path, kind: &str, bytes: &[u8]) -> Result<PathBuf, Error> {
        let name = TABLES
            .iter()
            .find(|name| name.ends_with(&format!(".{kind}")));
        let path = folder.join(name.unwrap_or(&TABLES[0]));
        let mut options = std::fs::OpenOptions::new();
        let file = options.write(true).create_new(true).mode(0o600).open(&path);
        let written = file.and_then(|mut file| file.write_all(bytes));
        written.map_err(|error| unwritable(&path, &error))?;
        Ok(path)
    }

    /// The kind of a table by its file's name, of those that can be sent.
    pub(crate) fn kind_of(name: &str) -> Option<&'static str> {
        let lower = name.to_lowercase();
        let kinds = ["csv", "parquet", "xlsx"];
        kinds
            .into_iter()
            .find(|kind| lower.ends_with(&format!(".{kind}")))
    }

    fn next(&self, make: impl FnOnce(&Path) -> Result<(), Error>) -> Result<Study, Error> {
        let _one = self.one.lock().unwrap_or_else(PoisonError::into_inner);
        let folder = self.fresh()?;
        let read = make(&folder).and_then(|()| opened(&folder));
        if let Err(error) = read {
            remove(&folder)?;
            return Err(error);
        }
        let place = self.folder();
        remove(&place)?;
        std::fs::rename(&folder, &place).map_err(|error| unwritable(&place, &error))?;
        Study::open(place.join(FILE))
    }

    /// An empty folder for the next draft.
    fn fresh(&self) -> Result<PathBuf, Error> {
        let folder = self.beside.join(NEXT);
        remove(&folder)?;
        let mut builder = std::fs::DirBuilder::new();
        let made = builder.mode(0o700).create(&folder);
        made.map_err(|error| unwritable(&folder, &error))?;
        Ok(folder)
    }
}

/// The study of a draft's folder, which names no file of it that is something else.
fn opened(folder: &Path) -> Result<Study, Error> {
    let study = Study::open(folder.join(FILE))?;
    places::see_apart(&taxonomies(&study))?;
    Ok(study)
}

/// A file that a study names, if the name stays inside the study's folder.
pub(crate) fn inside(folder: &Path, name: &str) -> Result<PathBuf, Error> {
    let plain = |part| {
        matches!(
            part,
            std::path::Component::Normal(_) | std::path::Component::CurDir
        )
    };
    match Path::new(name).components().all(plain) && !name.is_empty() {
        true => Ok(folder.join(name)),
        false => Err(FileError::Unwritable {
            file: name.to_owned(),
            reason: String::from("the name leads out of the study’s folder"),
        }
        .into()),
    }
}

/// Writes a file aside and renames it; folders are made.
pub(crate) fn write(path: &Path, text: &str) -> Result<(), Error> {
    if let Some(folder) = path.parent().filter(|folder| *folder != Path::new("")) {
        std::fs::create_dir_all(folder).map_err(|error| unwritable(folder, &error))?;
    }
    let mut file = OutputFile::create(path)?;
    file.write_all(text.as_bytes())
        .map_err(|error| unwritable(path, &error))?;
    Ok(file.finish()?)
}

pub(crate) fn copy(from: &Path, to: &Path) -> Result<(), Error> {
    let text = std::fs::read_to_string(from).map_err(|error| unreadable(from, &error))?;
    write(to, &text)
}

/// Removes a folder with all that is in it, if it is there.
fn remove(folder: &Path) -> Result<(), Error> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(unwritable(folder, &error).into())
        }
        _ => Ok(()),
    }
}

fn unreadable(path: &Path, error: &std::io::Error) -> FileError {
    FileError::Unreadable {
        file: path.display().to_string(),
        reason: error.to_string(),
    }
}

pub(crate) fn unwritable(path: &Path, error: &std::io::Error) -> FileError {
    FileError::Unwritable {
        file: path.display().to_string(),
        reason: error.to_string(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    const STUDY: &str = "[study]\nname = \"a\"\npartition = \"horizontal\"\n[[attribute]]\nname = \"zip\"\nrole = \"quasi\"\ntaxonomy = \"taxonomies/zip.csv\"\n[require]\nk = 2\n";

    #[test]
    fn a_change_is_whole_or_not_there() {
        let folder = tempfile::tempdir().unwrap();
        let drafts = Drafts::in_folder(folder.path());
        assert!(!drafts.is_there());
        drafts
            .begin(|next| {
                // Rows that could be read as a taxonomy.
                Drafts::put_table(next, "csv", b"1;*\n2;*\n")?;
                write(&next.join(FILE), STUDY)?;
                write(&next.join("taxonomies/zip.csv"), "1;*\n2;*\n")
            })
            .unwrap();
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&drafts.folder()), 0o700);
        assert_eq!(mode(&drafts.folder().join("table.csv")), 0o600);
        // Another text, with the taxonomy and the table that were there.
        drafts
            .change(&STUDY.replace("k = 2", "k = 3"), &[], true)
            .unwrap();
        assert!(drafts.text().unwrap().contains("k = 3"));
        assert!(drafts.sent().is_some());
        let tree = [(
            String::from("taxonomies/zip.csv"),
            String::from("1;a;*\n2;b;*\n"),
        )];
        let shown = drafts.change(STUDY, &tree, false).unwrap();
        assert_eq!(shown.name(), "a");
        assert!(drafts.text().unwrap().contains("k = 3"));
        // What the library cannot read is not kept.
        for wrong in ["nonsense", "[study]\nname = \"a\"\n"] {
            drafts.change(wrong, &[], true).unwrap_err();
            assert!(drafts.text().unwrap().contains("k = 3"));
        }
        let out = [(String::from("../zip.csv"), String::from("1;*\n"))];
        drafts.change(STUDY, &out, true).unwrap_err();
        assert!(!folder.path().join("zip.csv").exists());
        // Nor is a table that was sent read as a taxonomy.
        let named = STUDY.replace("taxonomies/zip.csv", "table.csv");
        let error = drafts.change(&named, &[], true).unwrap_err();
        assert!(error.to_string().contains("no taxonomy"), "{error}");
        // A console that starts anew knows of no table.
        let again = Drafts::in_folder(folder.path());
        assert!(again.is_there() && again.sent().is_none());
        again.discard().unwrap();
        assert!(!again.folder().exists() && !folder.path().join(NEXT).exists());
    }
}
