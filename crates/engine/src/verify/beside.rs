//! The tables that a release is compared with: its original, and the population that it is a sample of.

use std::path::Path;
use std::sync::Arc;

use hedgerow_data::files::{Others, read_table};
use hedgerow_data::{Cell, Release, Role, Schema, Study, Table};

use super::read::histogram;
use super::refused::VerifyRefused;
use crate::error::Error;
use crate::observe::{Observer, Work};

/// The original table; every cell of the release must stand for something in it.
pub(super) fn original(
    path: &Path,
    study: &Study,
    provider: Option<&str>,
    release: &Release,
    observer: &dyn Observer,
) -> Result<Table, Error> {
    let watch = observer.begin(Work::Reading(path));
    let table = read_table(path, &study.schema, &Others::but(provider), &*watch)?;
    for attribute in study.schema.with_role(Role::Quasi) {
        let declared = &study.schema.attributes()[attribute];
        let (Some(codes), Some(column)) = (table.codes(attribute), release.generalized(attribute))
        else {
            continue;
        };
        let counts = histogram(codes, declared.domain.size());
        let is_empty = |cell: &&Cell| {
            let (least, greatest) = cell.bounds();
            !(least..=greatest).any(|code| counts[code as usize] > 0 && cell.contains(code))
        };
        if let Some(cell) = column.cells.iter().find(is_empty) {
            return Err(Error::Verify(VerifyRefused::OtherOriginal {
                original: path.to_owned(),
                column: declared.name.clone(),
                cell: declared.domain.write_cell(cell),
            }));
        }
    }
    Ok(table)
}

/// The population's quasi-identifiers as codes. The population's table need not have the study's other
/// columns.
pub(super) fn population(
    path: &Path,
    study: &Study,
    quasi: &[usize],
    observer: &dyn Observer,
) -> Result<Vec<Vec<u32>>, Error> {
    let attributes = quasi
        .iter()
        .map(|index| study.schema.attributes()[*index].clone())
        .collect();
    let people = Arc::new(Schema::new(attributes));
    let watch = observer.begin(Work::Reading(path));
    let table = read_table(path, &people, &Others::PassOverAll, &*watch)?;
    let columns = (0..quasi.len()).filter_map(|attribute| table.codes(attribute));
    Ok(columns.map(|codes| codes.iter().collect()).collect())
}
