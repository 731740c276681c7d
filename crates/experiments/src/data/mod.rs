//! The tables that figures are measured on: Adult and census where a folder with them is named, the
//! synthetic census of `data` where none is.

mod dataset;
mod forms;
mod study;

pub(crate) use dataset::Dataset;

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use hedgerow_data::TextTable;
use hedgerow_data::files::read_text;
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

/// The real files, and how many records each has.
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
    pub fn open(folder: Option<&Path>) -> Result<Self, Error> {
        let shelf = tempfile::tempdir().map_err(|error| Error::Unusable {
            folder: std::env::temp_dir(),
            reason: error.to_string(),
        })?;
        let identity = match folder {
            None => String::from("synthetic census"),
            Some(folder) => {
                let mut hash = blake3::Hasher::new();
                for file in [ADULT, ADULT14, CENSUS] {
                    let file = folder.join(file);
                    let bytes = std::fs::read(&file).map_err(|error| Error::NoTable {
                        reason: error.to_string(),
                        file: file.clone(),
                    })?;
                    hash.update(&bytes);
                }
                forms::copy_hierarchies(&folder.join("adult9"), shelf.path())?;
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

    /// What tells this data from other data.
    pub(crate) fn identity(&self) -> &str {
        &self.identity
    }

    /// Adult's nine columns, 30,162 records: [`QI8`] and [`OCC`] are settings of it.
    pub(crate) fn adult(&self) -> Result<&Dataset, Error> {
        kept(&self.adult, || match &self.folder {
            None => self.synthetic("census of 30,162", 30_162),
            Some(folder) => Ok(self.real(
                "Adult, training records",
                read(&folder.join(ADULT))?,
                Forms::adult(),
            )),
        })
    }

    /// Adult's fourteen columns and class, 45,222 records: training records first. The synthetic census
    /// in its place has nine columns; [`Dataset::has`] says which.
    pub(crate) fn adult14(&self) -> Result<&Dataset, Error> {
        kept(&self.adult14, || match &self.folder {
            None => self.synthetic("census of 45,222", 45_222),
            Some(folder) => {
                let text = read(&folder.join(ADULT14))?;
                let forms = Forms::adult14(&text, self.shelf.path())?;
                Ok(self.real("Adult, training and test records", text, forms))
            }
        })
    }

    /// The census of 299,285 records with TG12's seven attributes ([`CENSUS7`]), occupation and income.
    /// The synthetic census in its place has 100,000 records.
    pub(crate) fn census(&self) -> Result<&Dataset, Error> {
        kept(&self.census, || match &self.folder {
            None => self.synthetic("census of 100,000", 100_000),
            Some(folder) => {
                let text = read(&folder.join(CENSUS))?;
                let forms = Forms::census(&text, self.shelf.path())?;
                Ok(self.real("Census-Income", text, forms))
            }
        })
    }

    fn real(&self, name: &'static str, text: TextTable, forms: Forms) -> Dataset {
        Dataset::new(name, true, text, forms, Arc::clone(&self.shelf))
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
        };
        let written = generate(&plan, &folder, &())?;
        let file = written.tables.first().map(|(_, file, _)| file.clone());
        let text = read(&file.unwrap_or_default())?;
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

fn read(file: &Path) -> Result<TextTable, Error> {
    Ok(read_text(file, &[], &())?)
}
