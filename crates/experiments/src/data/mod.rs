//! The tables that figures are measured on: Adult and census where a folder with them is named, the
//! synthetic census of `data` where none is.

mod dataset;
mod forms;
mod study;

pub(crate) use dataset::Dataset;
pub(crate) use forms::ADULT14 as ADULT14_COLUMNS;

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use hedgerow_data::TextTable;
use hedgerow_data::files::{Others, read_table, read_text};
use hedgerow_data::synthetic::{Kind, Plan, TableFormat, generate};
use tempfile::TempDir;

use crate::error::Error;
use forms::Forms;

/// The columns that all tables have: Adult's nine, whichever data is shown.
pub(crate) const QI8: [&str; 8] = [
    "sex",
    "age",
    "race",
    "marital-status",
    "education",
    "native-country",
    "workclass",
    "occupation",
];

/// The quasi-identifiers of the setting OCC, in which occupation is sensitive.
pub(crate) const OCC: [&str; 8] = [
    "sex",
    "age",
    "race",
    "marital-status",
    "education",
    "native-country",
    "workclass",
    "salary-class",
];

/// The seven quasi-identifiers of TG12's census.
pub(crate) const CENSUS7: [&str; 7] = [
    "age",
    "sex",
    "education",
    "marital-status",
    "race",
    "workclass",
    "native-country",
];

/// The seed of the synthetic tables, whatever the seed of a run: the data are the same for all figures.
const SYNTHETIC_SEED: u64 = 1;

/// How the names of folders for taxonomies and synthetic tables begin.
const SHELF: &str = ".tables-";

/// The real files.
const ADULT: &str = "adult9/adult.csv";
const ADULT14: &str = "adult14/adult14.csv";
const CENSUS: &str = "census7/census7.csv";

/// The tables of all figures: those of a folder, or synthetic ones.
#[derive(Debug)]
pub struct DataFolder {
    /// The folder of real tables.
    folder: Option<PathBuf>,
    /// What tells this data from other data: a hash of the real files, or a word.
    identity: String,
    /// Taxonomies and synthetic tables lie here.
    shelf: Arc<TempDir>,
    adult: OnceLock<Dataset>,
    adult14: OnceLock<Dataset>,
    census: OnceLock<Dataset>,
}

impl DataFolder {
    /// The real tables of a folder, which must all be there; synthetic ones where no folder is named.
    /// Taxonomies and synthetic tables are written below `place`, and are gone when the tables are dropped.
    pub fn open(folder: Option<&Path>, place: &Path) -> Result<Self, Error> {
        let shelf = tempfile::Builder::new().prefix(SHELF).tempdir_in(place);
        let shelf = shelf.map_err(|error| Error::Unusable {
            folder: place.to_owned(),
            reason: error.to_string(),
        })?;
        let identity = match folder {
            None => String::from("synthetic census"),
            Some(folder) => {
                let mut hash = blake3::Hasher::new();
                let mut add = |file: &Path| {
                    let bytes = std::fs::read(file).map_err(|error| Error::NoTable {
                        reason: error.to_string(),
                        file: file.to_owned(),
                    })?;
                    // With its length, so that no byte can move from one file to the next.
                    hash.update(&(bytes.len() as u64).to_le_bytes());
                    hash.update(&bytes);
                    Ok::<_, Error>(())
                };
                for file in [ADULT, ADULT14, CENSUS] {
                    add(&folder.join(file))?;
                }
                for file in forms::copy_hierarchies(&folder.join("adult9"), shelf.path())? {
                    add(&file)?;
                }
                format!("real tables {}", &hash.finalize().to_hex()[..16])
            }
        };
        Ok(Self {
            folder: folder.map(Path::to_owned),
            identity,
            shelf: Arc::new(shelf),
            adult: OnceLock::new(),
            adult14: OnceLock::new(),
            census: OnceLock::new(),
        })
    }

    /// Removes what calls that were killed have left below `place`, in which no other call may be at work.
    pub(crate) fn tidy(place: &Path) {
        let entries = std::fs::read_dir(place).into_iter().flatten().flatten();
        let is_shelf = |entry: &std::fs::DirEntry| {
            let is_named_so = entry.file_name().to_string_lossy().starts_with(SHELF);
            is_named_so && entry.file_type().is_ok_and(|kind| kind.is_dir())
        };
        for entry in entries.filter(is_shelf) {
            // What cannot be removed is in nobody's way.
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }

    /// What tells this data from other data.
    pub(crate) fn identity(&self) -> &str {
        &self.identity
    }

    /// Adult's nine columns, 30,162 records: [`QI8`] and [`OCC`] are settings of it.
    pub(crate) fn adult(&self) -> Result<&Dataset, Error> {
        kept(&self.adult, || match &self.folder {
            None => self.synthetic("census of 30,162", 30_162),
            Some(folder) => {
                let file = folder.join(ADULT);
                let text = read(&file, &forms::ADULT)?;
                self.real("Adult, training records", &file, text, Forms::adult())
            }
        })
    }

    /// Adult's fourteen columns and class, 45,222 records: training records first. The synthetic census
    /// in its place has nine columns; [`Dataset::has`] says which.
    pub(crate) fn adult14(&self) -> Result<&Dataset, Error> {
        kept(&self.adult14, || match &self.folder {
            None => self.synthetic("census of 45,222", 45_222),
            Some(folder) => {
                let file = folder.join(ADULT14);
                let text = read(&file, &forms::ADULT14)?;
                let forms = Forms::adult14(&text, self.shelf.path())?;
                self.real("Adult, training and test records", &file, text, forms)
            }
        })
    }

    /// The census of 299,285 records with TG12's seven attributes ([`CENSUS7`]), occupation and income.
    /// The synthetic census in its place has 100,000 records.
    pub(crate) fn census(&self) -> Result<&Dataset, Error> {
        kept(&self.census, || match &self.folder {
            None => self.synthetic("census of 100,000", 100_000),
            Some(folder) => {
                let file = folder.join(CENSUS);
                let text = read(&file, &CENSUS7)?;
                let forms = Forms::census(&text, self.shelf.path())?;
                self.real("Census-Income", &file, text, forms)
            }
        })
    }

    /// A table of the folder. Its file is read once more under a study of all its columns, so that a value
    /// which is in no hierarchy is named with its line.
    fn real(
        &self,
        name: &'static str,
        file: &Path,
        text: TextTable,
        forms: Forms,
    ) -> Result<Dataset, Error> {
        let columns: Vec<String> = text
            .names
            .iter()
            .filter(|name| forms.has(name))
            .cloned()
            .collect();
        let data = Dataset::new(name, true, text, forms, Arc::clone(&self.shelf));
        let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
        let study = data.study("all").quasi(&columns).require("k = 1").build()?;
        read_table(file, &study.declared().schema, &Others::PassOverAll, &())?;
        Ok(data)
    }

    fn synthetic(&self, name: &str, rows: u64) -> Result<Dataset, Error> {
        let folder = self.shelf.path().join(name.replace([' ', ','], "-"));
        let plan = Plan {
            kind: Kind::Census,
            rows,
            sites: 1,
            seed: SYNTHETIC_SEED,
            format: TableFormat::Csv,
            pooled: false,
            parts: None,
        };
        let written = generate(&plan, &folder, &())?;
        let file = written.tables.first().map(|(_, file, _)| file.clone());
        let text = read(&file.unwrap_or_default(), &QI8)?;
        let forms = Forms::synthetic(&folder, self.shelf.path())?;
        let shelf = Arc::clone(&self.shelf);
        Ok(Dataset::new("synthetic census", false, text, forms, shelf))
    }
}

/// What the cell holds, made where it is empty.
fn kept(
    cell: &OnceLock<Dataset>,
    make: impl FnOnce() -> Result<Dataset, Error>,
) -> Result<&Dataset, Error> {
    if let Some(found) = cell.get() {
        return Ok(found);
    }
    let made = make()?;
    Ok(cell.get_or_init(|| made))
}

/// Reads a table that must have these columns.
fn read(file: &Path, columns: &[&str]) -> Result<TextTable, Error> {
    let expected: Vec<String> = columns.iter().map(|name| (*name).to_owned()).collect();
    let text = read_text(file, &expected, &())?;
    match columns.iter().find(|name| text.column(name).is_none()) {
        None => Ok(text),
        Some(missing) => Err(Error::MissingColumn {
            file: file.to_owned(),
            column: (*missing).to_owned(),
            columns: columns.join(", "),
        }),
    }
}
