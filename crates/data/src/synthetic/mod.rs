//! Synthetic tables: made from a seed, correlated and skewed as real ones are, of any length.
//!
//! `hospital` are admissions to hospitals with different catchment areas, `census` are persons
//! with the nine columns of the Adult table, `institutions` are patients whom a clinic, a laboratory
//! and an insurer know. [`generate`] writes one table for each site, or one
//! pooled table, with the taxonomies and a study that reads them.
//!
//! Rows are drawn in blocks. A block depends on the seed, its site and its place in the site's
//! table and on nothing else, so the bytes are the same on any number of threads, and only a few
//! blocks are held at a time. A table in parts holds the same rows as a table in one file. Everything is computed with integers and plain arithmetic, never
//! with a mathematical library, so the bytes are the same on any machine too.
//!
//! ```
//! use hedgerow_data::Study;
//! use hedgerow_data::synthetic::{Kind, Plan, TableFormat, generate};
//!
//! let folder = tempfile::tempdir()?;
//! let plan = Plan {
//!     kind: Kind::Hospital,
//!     rows: 1000,
//!     sites: 2,
//!     seed: 7,
//!     format: TableFormat::Csv,
//!     pooled: false,
//!     parts: None,
//! };
//! let written = generate(&plan, folder.path(), &())?;
//! let study = Study::open(&written.study)?;
//! let (site, table, _) = &written.tables[0];
//! assert_eq!(site, "north");
//! let table = hedgerow_data::files::read_table(table, &study.schema, &hedgerow_data::files::Others::Refuse, &())?;
//! assert!(table.rows() > 500);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod blocks;
mod census;
mod error;
mod hospital;
mod institutions;
mod random;
mod sites;

use std::io::Write as _;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rayon::prelude::*;

use crate::attribute::{Attribute, Role, Schema};
use crate::document::Document;
use crate::domain::Domain;
use crate::files::{FileError, OutputFile, Progress, RowWriter};
use crate::study::{Study, StudyError};
use crate::taxonomy::{Taxonomy, TaxonomyError};

pub use error::SyntheticError;
pub use sites::{MOST_SITES, site_name};

/// The column of a pooled table that names the site; it is no attribute of the study.
pub const SITE_COLUMN: &str = "site";

/// The most parts that a table may have.
const MOST_PARTS: u64 = 100_000;

/// The tables to make.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The kind of table.
    pub kind: Kind,
    /// Rows of all sites together.
    pub rows: u64,
    /// Number of sites; each has at least one row. Institutions are three.
    pub sites: usize,
    /// The seed; the same seed gives the same bytes.
    pub seed: u64,
    /// How tables are written.
    pub format: TableFormat,
    /// One table with a last column [`SITE_COLUMN`] instead of one table for each site.
    pub pooled: bool,
    /// Each table as a folder of so many files, which are written side by side; `None` is a file.
    pub parts: Option<usize>,
}

/// The kinds of synthetic tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Admissions to hospitals.
    Hospital,
    /// Persons, with the nine columns of the Adult table.
    Census,
    /// Patients of a clinic, a laboratory and an insurer, each with columns of its own.
    Institutions,
}

/// How tables are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TableFormat {
    /// `.csv`
    Csv,
    /// `.csv.gz`
    CsvGz,
    /// `.csv.zst`
    CsvZst,
    /// `.parquet`
    Parquet,
}

/// The files that were written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The study.
    pub study: PathBuf,
    /// For each table the site's name (the kind's, if pooled), the file or the folder of files, and its rows.
    pub tables: Vec<(String, PathBuf, u64)>,
    /// The taxonomies that the study names.
    pub taxonomies: Vec<PathBuf>,
}

impl Kind {
    /// `hospital`, `census` or `institutions`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Hospital => "hospital",
            Self::Census => "census",
            Self::Institutions => "institutions",
        }
    }

    fn taxonomies(self) -> Result<Vec<(&'static str, Taxonomy)>, TaxonomyError> {
        match self {
            Self::Hospital | Self::Institutions => hospital::taxonomies(),
            Self::Census => census::taxonomies(),
        }
    }
}

impl TableFormat {
    /// The end of a file's name, without the first dot.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::CsvGz => "csv.gz",
            Self::CsvZst => "csv.zst",
            Self::Parquet => "parquet",
        }
    }
}

/// The study of a kind, as [`generate`] writes it. The study names its taxonomies in the folder
/// `taxonomies` beside it and lists no sites, unless sites hold different columns.
pub fn study_text(kind: Kind) -> String {
    match kind {
        Kind::Hospital => String::from(include_str!("hospital/study.toml")),
        Kind::Census => String::from(include_str!("census/study.toml")),
        Kind::Institutions => String::from(include_str!("institutions/study.toml")),
    }
}

/// Writes tables, taxonomies and a study. All is written to a hidden folder beside the target and
/// renamed when complete, so that the folder is never half written; the target may exist if it is empty.
pub fn generate(
    plan: &Plan,
    folder: &Path,
    progress: &dyn Progress,
) -> Result<Written, SyntheticError> {
    if plan.kind == Kind::Institutions && plan.sites != 3 {
        return Err(SyntheticError::OtherSites { sites: plan.sites });
    }
    let sizes = sites::sizes(plan.rows, plan.sites)?;
    see_parts(plan, &sizes)?;
    refuse_used(folder)?;
    let unfinished = unfinished(folder)?;
    // A folder that a killed run of this function left there is removed.
    let _ = std::fs::remove_dir_all(&unfinished);
    std::fs::create_dir(&unfinished).map_err(|error| error::folder(folder, &error))?;
    let result = write_all(plan, &sizes, &unfinished, progress).and_then(|written| {
        std::fs::rename(&unfinished, folder).map_err(|error| error::folder(folder, &error))?;
        Ok(written.moved(&unfinished, folder))
    });
    if result.is_err() {
        // A folder that cannot be removed stays: the error that led here is the error to report.
        let _ = std::fs::remove_dir_all(&unfinished);
    }
    result
}

impl Written {
    /// The same files after their folder was renamed.
    fn moved(self, from: &Path, to: &Path) -> Self {
        let moved = |path: PathBuf| {
            path.strip_prefix(from)
                .map_or(path.clone(), |rest| to.join(rest))
        };
        Self {
            study: moved(self.study),
            tables: self
                .tables
                .into_iter()
                .map(|(site, path, rows)| (site, moved(path), rows))
                .collect(),
            taxonomies: self.taxonomies.into_iter().map(moved).collect(),
        }
    }
}

fn write_all(
    plan: &Plan,
    sizes: &[u64],
    folder: &Path,
    progress: &dyn Progress,
) -> Result<Written, SyntheticError> {
    let mut taxonomies = Vec::new();
    make_folder(&folder.join("taxonomies"))?;
    for (name, tree) in plan.kind.taxonomies().map_err(StudyError::from)? {
        let path = taxonomy_path(folder, name);
        write_text(&path, &tree.to_rows())?;
        taxonomies.push(path);
    }
    let study = folder.join("study.toml");
    let text = study_text(plan.kind);
    let document = Document::parse(text.clone(), &study).map_err(StudyError::from)?;
    let read = Study::read(document, folder)?;
    let schema = read.schema.clone();
    let tables = if plan.kind == Kind::Institutions {
        institutions::tables(plan, folder, &read, progress)?
    } else if plan.pooled {
        pooled_table(plan, sizes, folder, &schema, progress)?
    } else {
        site_tables(plan, sizes, folder, &schema, progress)?
    };
    write_text(&study, &text)?;
    Ok(Written {
        study,
        tables,
        taxonomies,
    })
}

/// Sees that a table can be written in so many parts.
fn see_parts(plan: &Plan, sizes: &[u64]) -> Result<(), SyntheticError> {
    let Some(parts) = plan.parts else {
        return Ok(());
    };
    if plan.kind == Kind::Institutions {
        return Err(SyntheticError::InstitutionsInParts);
    }
    let smallest = match plan.pooled {
        true => plan.rows,
        false => sizes.iter().min().copied().unwrap_or(0),
    };
    let most = smallest.min(MOST_PARTS);
    match (1..=most).contains(&(parts as u64)) {
        true => Ok(()),
        false => Err(SyntheticError::OtherParts { parts, most }),
    }
}

fn site_tables(
    plan: &Plan,
    sizes: &[u64],
    folder: &Path,
    schema: &Arc<Schema>,
    progress: &dyn Progress,
) -> Result<Vec<(String, PathBuf, u64)>, SyntheticError> {
    let drawer = blocks::Drawer::new(plan.kind, plan.seed, schema);
    let mut tables = Vec::new();
    for (site, rows) in sizes.iter().enumerate() {
        let name = site_name(site);
        let path = match plan.parts {
            None => {
                let path = table_path(plan, folder, &name);
                let mut writer = RowWriter::create(&path, schema.clone())?;
                drawer.write(site, *rows, None, &mut writer, progress)?;
                writer.finish()?;
                path
            }
            Some(parts) => {
                let inner = folder.join(&name);
                write_parts(plan, &inner, parts, *rows, schema, |range, writer| {
                    drawer.write_part(site, &range, None, writer, progress)
                })?;
                inner
            }
        };
        tables.push((name, path, *rows));
    }
    Ok(tables)
}

fn pooled_table(
    plan: &Plan,
    sizes: &[u64],
    folder: &Path,
    schema: &Arc<Schema>,
    progress: &dyn Progress,
) -> Result<Vec<(String, PathBuf, u64)>, SyntheticError> {
    let names: Vec<String> = (0..plan.sites).map(site_name).collect();
    let tree = Taxonomy::flat(&names, SITE_COLUMN).map_err(StudyError::from)?;
    let mut attributes = schema.attributes().to_vec();
    attributes.push(Attribute {
        name: SITE_COLUMN.into(),
        role: Role::Other,
        domain: Domain::category(tree, false),
        recode: None,
        spelling: crate::spelling::Spelling::default(),
        publish_unique: false,
    });
    let name = plan.kind.name();
    let drawer = blocks::Drawer::new(plan.kind, plan.seed, schema);
    let pooled = Arc::new(Schema::new(attributes));
    let sites = Some(names.len());
    let path = match plan.parts {
        None => {
            let path = table_path(plan, folder, name);
            let mut writer = RowWriter::create(&path, pooled)?;
            for (site, rows) in sizes.iter().enumerate() {
                drawer.write(site, *rows, sites, &mut writer, progress)?;
            }
            writer.finish()?;
            path
        }
        Some(parts) => {
            let inner = folder.join(name);
            write_parts(plan, &inner, parts, plan.rows, &pooled, |range, writer| {
                let mut before = 0;
                for (site, rows) in sizes.iter().enumerate() {
                    // The site's own rows that lie in the range.
                    let own = |row: u64| row.clamp(before, before + rows) - before;
                    let own = own(range.start)..own(range.end);
                    if !own.is_empty() {
                        drawer.write_part(site, &own, sites, writer, progress)?;
                    }
                    before += rows;
                }
                Ok(())
            })?;
            inner
        }
    };
    Ok(vec![(name.into(), path, plan.rows)])
}

/// Writes a table of so many rows as a folder of parts of equal size, as many at a time as there are cores.
fn write_parts(
    plan: &Plan,
    folder: &Path,
    parts: usize,
    rows: u64,
    schema: &Arc<Schema>,
    write: impl Fn(Range<u64>, &mut RowWriter) -> Result<(), FileError> + Sync,
) -> Result<(), SyntheticError> {
    make_folder(folder)?;
    // No part ends behind the last row, so the quotient fits.
    let end = |part: usize| (u128::from(rows) * part as u128 / parts as u128) as u64;
    let one = |part: usize| {
        let path = table_path(plan, folder, &format!("part-{part:05}"));
        let mut writer = RowWriter::create(&path, schema.clone())?;
        write(end(part)..end(part + 1), &mut writer)?;
        writer.finish()
    };
    let all = (0..parts).into_par_iter().with_max_len(1);
    Ok(all.try_for_each(one)?)
}

fn write_text(path: &Path, text: &str) -> Result<(), FileError> {
    let mut file = OutputFile::create(path)?;
    file.write_all(text.as_bytes())
        .map_err(|error| FileError::Unwritable {
            file: path.display().to_string(),
            reason: error.to_string(),
        })?;
    file.finish()
}

/// A folder that holds anything is left alone.
fn refuse_used(folder: &Path) -> Result<(), SyntheticError> {
    match std::fs::read_dir(folder) {
        Ok(mut entries) => match entries.next() {
            None => Ok(()),
            Some(_) => Err(SyntheticError::NotEmpty {
                folder: folder.display().to_string(),
            }),
        },
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error::folder(folder, &error)),
    }
}

/// The hidden folder beside the target, whose parents are made.
fn unfinished(folder: &Path) -> Result<PathBuf, SyntheticError> {
    let whole = std::path::absolute(folder).map_err(|error| error::folder(folder, &error))?;
    let (Some(parent), Some(name)) = (whole.parent(), whole.file_name()) else {
        let error = std::io::Error::from(std::io::ErrorKind::InvalidInput);
        return Err(error::folder(folder, &error));
    };
    make_folder(parent)?;
    Ok(parent.join(format!(".{}.unfinished", name.to_string_lossy())))
}

fn make_folder(folder: &Path) -> Result<(), SyntheticError> {
    std::fs::create_dir_all(folder).map_err(|error| error::folder(folder, &error))
}

fn table_path(plan: &Plan, folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.{}", plan.format.extension()))
}

fn taxonomy_path(folder: &Path, name: &str) -> PathBuf {
    folder.join("taxonomies").join(format!("{name}.csv"))
}

#[cfg(test)]
mod tests;
