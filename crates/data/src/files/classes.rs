//! The file of classes that all sites of a virtual database know: the cells of each class's quasi-identifiers,
//! as a release writes them, and in the column `records` how many records of all sites the class has.

use std::path::Path;

use super::open::Progress;
use super::write::write_counted;
use super::{FileError, read_release};
use crate::attribute::Role;
use crate::nearest::shorten;
use crate::release::{Release, ReleaseColumn};
use crate::study::{RECORDS, Study};
use crate::text::TextTable;

/// The most records that a file of classes may count: a number of nine digits in a stranger's file is not to
/// fill the memory.
pub const MOST_RECORDS: u64 = 100_000_000;

/// Writes the classes of a release that stands in the order of what is written, each with its number of
/// records.
pub(super) fn write_classes(
    path: &Path,
    release: &Release,
    study: &Study,
    progress: &dyn Progress,
) -> Result<(), FileError> {
    let quasi = study.schema.with_role(Role::Quasi);
    let columns: Vec<_> = quasi
        .iter()
        .filter_map(|position| release.generalized(*position))
        .collect();
    let is_same = |one: usize, other: usize| {
        let mut columns = columns.iter();
        columns.all(|column| {
            let cell = |row: usize| &column.cells[column.codes[row] as usize];
            cell(one) == cell(other)
        })
    };
    let mut first: Vec<usize> = Vec::new();
    let mut records: Vec<u64> = Vec::new();
    for row in 0..release.rows() {
        match (first.last(), records.last_mut()) {
            (Some(class), Some(count)) if is_same(*class, row) => *count += 1,
            _ => {
                first.push(row);
                records.push(1);
            }
        }
    }
    let picked = release.columns().iter().map(|column| match column {
        ReleaseColumn::Generalized(cells) => ReleaseColumn::Generalized(cells.picked(&first)),
        _ => ReleaseColumn::Absent,
    });
    let classes = Release::new(study.schema.clone(), picked.collect(), first.len());
    write_counted(
        path,
        &classes,
        &quasi,
        (RECORDS, &records),
        study.csv,
        progress,
    )
}

/// Reads a file of classes as the table of its records: each class as often as it has records, with the
/// columns of quasi-identifiers alone.
pub fn read_classes(
    path: &Path,
    study: &Study,
    progress: &dyn Progress,
) -> Result<TextTable, FileError> {
    let quasi = study.schema.with_role(Role::Quasi).into_iter();
    let mut names: Vec<String> = quasi
        .map(|position| study.schema.attributes()[position].name.clone())
        .collect();
    names.push(RECORDS.to_owned());
    let mut text = read_release(path, &names, study.csv, progress)?;
    let file = text.file.clone();
    let counted = text.names.iter().position(|name| name == RECORDS);
    let counted = counted.ok_or_else(|| FileError::MissingColumn {
        file: file.clone(),
        column: RECORDS.to_owned(),
        hint: String::from("\nhint: it counts the records of each class"),
    })?;
    text.names.remove(counted);
    let counts = text.columns.remove(counted);
    let wrong = |row: usize| FileError::NoCount {
        file: file.clone(),
        line: text.line(row as u64 + 1),
        value: shorten(counts.get(row)),
        most: MOST_RECORDS,
    };
    let mut all: u64 = 0;
    let mut rows = Vec::new();
    for row in 0..counts.codes.len() {
        let count = counts
            .get(row)
            .parse()
            .ok()
            .filter(|count: &u64| *count > 0);
        let count = count.ok_or_else(|| wrong(row))?;
        all = all.saturating_add(count);
        if all > MOST_RECORDS {
            return Err(wrong(row));
        }
        rows.push((row, count as usize));
    }
    for column in &mut text.columns {
        let mut codes = Vec::with_capacity(all as usize);
        for (row, count) in &rows {
            codes.extend(std::iter::repeat_n(column.codes[*row], *count));
        }
        column.codes = codes;
    }
    Ok(text)
}
