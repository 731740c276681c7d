//! The tables that a release is compared with: its original, the population that it is a sample of, and
//! other views of the same table.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hedgerow_data::files::{FileError, Others, count_table, read_table};
use hedgerow_data::{Cell, GeneralizedColumn, Release, Role, Schema, Study, Table};
use hedgerow_privacy::views::{Views, ViewsError, ViewsMeasured};

use super::read::{Read, histogram};
use super::refused::VerifyRefused;
use super::release_file;
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
    let table = rows_of(
        (path, study.is_counted()),
        &study.schema,
        &Others::but(provider),
        observer,
    )?;
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
                original: path.to_owned(),
                column: declared.name.clone(),
                cell: declared.domain.write_cell(cell),
            }));
        }
    }
    Ok(table)
}

/// The rows of a file that stands beside a release; counted where the study counts rows.
pub(crate) fn rows_of(
    (path, is_counted): (&Path, bool),
    schema: &Arc<Schema>,
    others: &Others,
    observer: &dyn Observer,
) -> Result<Table, FileError> {
    let watch = observer.begin(Work::Reading(path));
    match is_counted {
        true => count_table(path, schema, others, &*watch),
        false => read_table(path, schema, others, &*watch),
    }
}

/// The population by its quasi-identifiers; counted where the study counts rows. The population's table need
/// not have the study's other columns.
pub(super) fn population(
    path: &Path,
    study: &Study,
    quasi: &[usize],
    observer: &dyn Observer,
) -> Result<Table, FileError> {
    let attributes = quasi
        .iter()
        .map(|index| study.schema.attributes()[*index].clone())
        .collect();
    let people = Arc::new(Schema::new(attributes));
    let file = (path, study.is_counted());
    rows_of(file, &people, &Others::PassOverAll, observer)
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
