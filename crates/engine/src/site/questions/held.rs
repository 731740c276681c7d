//! A site's own rows of a run, with what all sites know of the joint table: its classes, and how many records
//! it has.
//!
//! Where a run published a release, the classes are in the release; of a virtual database they are in a file
//! of their own.

use std::path::Path;

use hedgerow_data::files::read_release_of;
use hedgerow_data::{Cell, Release};
use hedgerow_node::agreement::Agreement;
use hedgerow_node::identity::PublicKey;
use hedgerow_protocols::query::Held;

use crate::error::Error;
use crate::site::local::sealed;
use crate::site::refused::SiteRefused;
use crate::verify::read::Read;

/// A site's own rows of a run.
pub(super) struct Table {
    pub(super) held: Held,
    /// A hash of classes and number of records, the same at every site.
    pub(super) digest: [u8; 32],
}

/// Reads this site's own rows of a run, sealed with its key, and what all sites know.
pub(super) fn read(
    data: &Path,
    run: u32,
    agreement: &Agreement,
    key: &PublicKey,
) -> Result<Table, Error> {
    let study = &agreement.study;
    let (rows, known) = sealed(data, run, agreement, key)?;
    let text = read_release_of(&rows, study, &())?.text;
    // A site may have no row of the joint table.
    let local = Release::part_from_text(&text, &study.schema, &[])?;
    let known = Read::open(&known, study, &())?.release;
    let mut classes = of_rows(&known);
    classes.sort_unstable();
    classes.dedup();
    let records = known.rows() as u64;
    let digest = digest(&classes, records);
    let held = Held::local(&local, &classes, records);
    let held = held.map_err(|source| SiteRefused::ForeignRow { file: rows, source })?;
    Ok(Table { held, digest })
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
