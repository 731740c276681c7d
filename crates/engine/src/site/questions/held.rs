//! A site's own rows of a run, with what all sites know of the joint table: its classes, and how many records
//! it has.
//!
//! Where a run published a release, the classes are in the release; where it did not, they are in a file of
//! their own beside the rows: for each class the cells of its quasi-identifiers, as a release writes them, and
//! in the column `records` how many records of all sites it has.

use std::path::Path;

use hedgerow_data::files::{read_release, read_release_of};
use hedgerow_data::study::CSV_FILE;
use hedgerow_data::{Cell, Release, Role, Study, TextTable};
use hedgerow_protocols::query::Held;

use crate::error::Error;
use crate::site::folder::release_folder;
use crate::site::refused::SiteRefused;

/// The column of a file of classes that counts records.
const RECORDS: &str = "records";

/// A site's own rows of a run.
pub(super) struct Table {
    pub(super) held: Held,
    /// A hash of classes and number of records, the same at every site.
    pub(super) digest: [u8; 32],
}

/// Reads a site's own rows of a run, and what all sites know.
pub(super) fn read(data: &Path, run: u32, study: &Study) -> Result<Table, Error> {
    let path = data.join(format!("local-{run}.csv"));
    let text = read_release_of(&path, study, &())?.text;
    // A site may have no row of the joint table.
    let local = Release::part_from_text(&text, &study.schema, &[])?;
    let (mut classes, records) = classes(data, run, study)?;
    classes.sort_unstable();
    classes.dedup();
    let digest = digest(&classes, records);
    let held = Held::local(&local, &classes, records);
    let held = held.map_err(|source| SiteRefused::ForeignRow { file: path, source })?;
    Ok(Table { held, digest })
}

/// The classes of the joint table by the cells of their quasi-identifiers, and its number of records.
fn classes(data: &Path, run: u32, study: &Study) -> Result<(Vec<Vec<Cell>>, u64), Error> {
    let published = release_folder(data, run).join(CSV_FILE);
    if published.exists() {
        let release = release(&published, study)?;
        return Ok((of_rows(&release), release.rows() as u64));
    }
    let path = data.join(format!("classes-{run}.csv"));
    let quasi: Vec<usize> = study.schema.with_role(Role::Quasi);
    let name = |position: &usize| study.schema.attributes()[*position].name.clone();
    let mut names: Vec<String> = quasi.iter().map(name).collect();
    names.push(RECORDS.to_owned());
    let text = read_release(&path, &names, study.csv, &())?;
    let wrong = |row: usize| SiteRefused::NoClass {
        file: path.clone(),
        row: row + 1,
    };
    let mut classes = Vec::with_capacity(text.rows());
    let mut records: u64 = 0;
    for row in 0..text.rows() {
        let cell = |(position, name): (&usize, &String)| {
            let domain = &study.schema.attributes()[*position].domain;
            let text = text.column(name)?.get(row);
            let missing = domain.missing_code().filter(|_| text.is_empty());
            let missing = missing.map(|code| Cell::Interval(code, code));
            domain.read_cell(text).ok().or(missing)
        };
        let class: Option<Vec<Cell>> = quasi.iter().zip(&names).map(cell).collect();
        classes.push(class.ok_or_else(|| wrong(row))?);
        let count = count(&text, row).ok_or_else(|| wrong(row))?;
        records = records.checked_add(count).ok_or_else(|| wrong(row))?;
    }
    Ok((classes, records))
}

fn count(text: &TextTable, row: usize) -> Option<u64> {
    text.column(RECORDS)?.get(row).parse().ok()
}

fn release(path: &Path, study: &Study) -> Result<Release, Error> {
    let text = read_release_of(path, study, &())?.text;
    Ok(Release::from_text(&text, &study.schema, &[])?)
}

/// For each row, the cells of its quasi-identifiers.
fn of_rows(release: &Release) -> Vec<Vec<Cell>> {
    let columns = 0..release.columns().len();
    let generalized: Vec<_> = columns
        .filter_map(|position| release.generalized(position))
        .collect();
    let class = |row: usize| {
        let cells = generalized.iter();
        cells
            .map(|column| column.cells[column.codes[row] as usize].clone())
            .collect()
    };
    (0..release.rows()).map(class).collect()
}

fn digest(classes: &[Vec<Cell>], records: u64) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new_derive_key("hedgerow table of questions v1");
    let mut number = |number: u64| {
        hasher.update(&number.to_le_bytes());
    };
    number(records);
    number(classes.len() as u64);
    for cell in classes.iter().flatten() {
        match cell {
            Cell::Interval(least, greatest) => {
                number(0);
                number(u64::from(*least));
                number(u64::from(*greatest));
            }
            Cell::Set(codes) => {
                number(codes.len() as u64);
                codes.iter().for_each(|code| number(u64::from(*code)));
            }
        }
    }
    *hasher.finalize().as_bytes()
}
