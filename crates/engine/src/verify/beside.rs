//! The tables that a release is compared with: its original, the population that it is a sample of, and
//! other views of the same table.

use std::path::PathBuf;
use std::sync::Arc;

use hedgerow_data::files::Others;
use hedgerow_data::{Cell, GeneralizedColumn, Release, Role, Schema, Study, Table};
use hedgerow_privacy::views::{Views, ViewsError, ViewsMeasured};

use super::read::{Read, histogram};
use super::refused::VerifyRefused;
use super::release_file;
use crate::error::Error;
use crate::observe::Observer;
use crate::table::Table as Rows;

/// The original table; every cell of the release must stand for something in it.
pub(super) fn original(
    rows: &Rows,
    study: &Study,
    provider: Option<&str>,
    release: &Release,
    observer: &dyn Observer,
) -> Result<Table, Error> {
    let others = Others::but(provider);
    let table = rows_of((rows, study.is_counted()), &study.schema, &others, observer)?;
    for attribute in study.schema.with_role(Role::Quasi) {
        let declared = &study.schema.attributes()[attribute];
        let (Some(codes), Some(column)) = (table.codes(attribute), release.generalized(attribute))
        else {
            continue;
        };
        let counts = histogram((codes, table.counts()), declared.domain.size());
        let is_empty = |cell: &&Cell| {
            let (least, greatest) = cell.bounds();
            !(least..=greatest).any(|code| counts[code as usize] > 0 && cell.contains(code))
        };
        if let Some(cell) = column.cells.iter().find(is_empty) {
            return Err(Error::Verify(VerifyRefused::OtherOriginal {
                original: rows.name(),
                column: declared.name.clone(),
                cell: declared.domain.write_cell(cell),
            }));
        }
    }
    Ok(table)
}

/// The rows of a table that stands beside a release; counted where the study counts rows.
pub(crate) fn rows_of(
    (rows, is_counted): (&Rows, bool),
    schema: &Arc<Schema>,
    others: &Others,
    observer: &dyn Observer,
) -> Result<Table, Error> {
    match is_counted {
        true => rows.count(schema, others, observer),
        false => rows.read(schema, others, observer),
    }
}

/// The population by its quasi-identifiers; counted where the study counts rows. The population's table need
/// not have the study's other columns.
pub(super) fn population(
    rows: &Rows,
    study: &Study,
    quasi: &[usize],
    observer: &dyn Observer,
) -> Result<Table, Error> {
    let attributes = quasi
        .iter()
        .map(|index| study.schema.attributes()[*index].clone())
        .collect();
    let people = Arc::new(Schema::new(attributes));
    let rows = (rows, study.is_counted());
    rows_of(rows, &people, &Others::PassOverAll, observer)
}

/// What a release and other releases of the same table say together.
pub(super) fn views(
    paths: &[PathBuf],
    study: &Study,
    release: &Release,
    observer: &dyn Observer,
) -> Result<ViewsMeasured, Error> {
    let mut others = Vec::with_capacity(paths.len());
    for path in paths {
        let file = release_file(path, Some(study), None)?;
        others.push(Read::open(&file, study, observer)?);
    }
    let quasi = study.schema.with_role(Role::Quasi);
    let releases = std::iter::once(release).chain(others.iter().map(|read| &read.release));
    let views = releases.map(|release| {
        let columns = quasi.iter().filter_map(|place| release.generalized(*place));
        (columns.collect(), release.counts())
    });
    let all: Vec<(Vec<&GeneralizedColumn>, Option<&[u64]>)> = views.collect();
    let measured = Views::new(&all).map(|views| views.measured());
    measured.map_err(|problem| {
        let number = match problem {
            ViewsError::Records { view, .. }
            | ViewsError::Attributes { view, .. }
            | ViewsError::Apart { view, .. } => view,
            _ => paths.len() + 1,
        };
        // The first view is the release itself.
        let file = number.checked_sub(2).and_then(|place| paths.get(place));
        Error::Verify(VerifyRefused::OtherView {
            file: file.or(paths.first()).cloned().unwrap_or_default(),
            problem,
        })
    })
}
