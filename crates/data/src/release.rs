//! Releases: what is published. Quasi-identifiers are generalized cells, sensitive and other
//! columns are verbatim, identifiers are gone.
//!
//! Rows are published in an order that follows from their contents and from nothing else: cells in the
//! order of their values in the domain, attribute after attribute, then the verbatim values. How records
//! were cut, in which cluster they were and whose they are leaves no trace in the order.

use std::cmp::Ordering;
use std::sync::Arc;

use rayon::prelude::*;

use crate::attribute::{Attribute, Role, Schema};
use crate::cell::{Cell, CellError};
use crate::domain::Domain;
use crate::files::error::{FileError, missing_column, unknown_column};
use crate::nearest::shorten;
use crate::table::{Codes, Column};
use crate::text::{TextColumn, TextTable};

/// A generalized column: its distinct cells, and each row's place among them.
#[derive(Debug, Clone, PartialEq)]
pub struct GeneralizedColumn {
    /// The cells that occur. Two entries may cover the same values if a file spells them differently:
    /// readers can tell such rows apart, so they are kept apart.
    pub cells: Vec<Cell>,
    /// For each row, its cell.
    pub codes: Vec<u32>,
}

impl GeneralizedColumn {
    /// These rows, in this order; cells in the order of their first appearance.
    #[must_use]
    pub fn picked(&self, rows: &[usize]) -> Self {
        let mut place = vec![None; self.cells.len()];
        let mut picked = Self {
            cells: Vec::new(),
            codes: Vec::with_capacity(rows.len()),
        };
        for row in rows {
            let entry = self.codes[*row] as usize;
            let code = *place[entry].get_or_insert_with(|| {
                picked.cells.push(self.cells[entry].clone());
                picked.cells.len() as u32 - 1
            });
            picked.codes.push(code);
        }
        picked
    }
}

/// A column of a release.
#[derive(Debug, Clone, PartialEq)]
pub enum ReleaseColumn {
    /// A quasi-identifier.
    Generalized(GeneralizedColumn),
    /// A sensitive or other attribute.
    Verbatim(Column),
    /// No column: an identifier, or another column that was left out.
    Absent,
}

/// A published table.
#[derive(Debug, Clone, PartialEq)]
pub struct Release {
    schema: Arc<Schema>,
    columns: Vec<ReleaseColumn>,
    rows: usize,
    groups: Option<Vec<u32>>,
}

/// Why a table is not a release of its study.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReleaseError {
    /// A column or cell is wrong.
    #[error(transparent)]
    File(#[from] FileError),
    /// A text in the column `group` that is no group number.
    #[error(
        "{file}:{line}: column `group`: `{value}` is no group\nhint: groups are whole numbers from 1"
    )]
    NoGroup {
        /// The file.
        file: String,
        /// The line, from 1.
        line: u64,
        /// The text that stands there.
        value: String,
    },
    /// Tables of a fragmented release that are not of the same people.
    #[error(
        "{file}: group {group} has {found} records, in quasi.csv it has {expected}\nhint: the tables of a release have the same groups"
    )]
    OtherGroups {
        /// The file.
        file: String,
        /// The group.
        group: u32,
        /// The group's records in this table.
        found: usize,
        /// The group's records in the table of quasi-identifiers.
        expected: usize,
    },
    /// A table without records.
    #[error("{file}: the release has no records")]
    NoRecords {
        /// The file.
        file: String,
    },
}

impl Release {
    /// A release of these columns, one for each attribute of the schema.
    ///
    /// # Panics
    /// If the columns do not fit the schema: that is a mistake in the calling code.
    pub fn new(schema: Arc<Schema>, columns: Vec<ReleaseColumn>, rows: usize) -> Self {
        assert_eq!(schema.attributes().len(), columns.len());
        Self {
            schema,
            columns,
            rows,
            groups: None,
        }
    }

    /// A release to be published: its rows are sorted by what is written in them.
    ///
    /// # Panics
    /// If the columns do not fit the schema: that is a mistake in the calling code.
    pub fn published(schema: Arc<Schema>, mut columns: Vec<ReleaseColumn>, rows: usize) -> Self {
        let ranks: Vec<Option<Vec<u32>>> = columns.iter().map(ranks).collect();
        let in_cells = |a: usize, b: usize| {
            let pairs = columns.iter().zip(&ranks);
            let mut each = pairs.filter_map(|(column, ranks)| {
                let (codes, ranks) = (&cells(column)?.codes, ranks.as_ref()?);
                Some(ranks[codes[a] as usize].cmp(&ranks[codes[b] as usize]))
            });
            each.find(|one| one.is_ne()).unwrap_or(Ordering::Equal)
        };
        let in_values = |a: usize, b: usize| {
            let mut each = columns.iter().filter_map(|column| match column {
                ReleaseColumn::Verbatim(values) => Some(compare_values(values, a, b)),
                _ => None,
            });
            each.find(|one| one.is_ne()).unwrap_or(Ordering::Equal)
        };
        let mut order: Vec<usize> = (0..rows).collect();
        // Rows that compare equal are written alike, so their order does not matter.
        order.par_sort_unstable_by(|a, b| in_cells(*a, *b).then_with(|| in_values(*a, *b)));
        for column in &mut columns {
            *column = match column {
                ReleaseColumn::Generalized(cells) => {
                    ReleaseColumn::Generalized(cells.picked(&order))
                }
                ReleaseColumn::Verbatim(values) => ReleaseColumn::Verbatim(values.picked(&order)),
                ReleaseColumn::Absent => ReleaseColumn::Absent,
            };
        }
        Self::new(schema, columns, rows)
    }

    /// A fragmented release: two values in the same row belong to the same group, and nothing else joins
    /// columns, except that quasi-identifiers stand together. Rows are put into the order of their
    /// groups and inside a group, table by table, by what is written.
    ///
    /// # Panics
    /// If the columns do not fit the schema or the groups: that is a mistake in the calling code.
    pub fn fragmented(
        schema: Arc<Schema>,
        mut columns: Vec<ReleaseColumn>,
        groups: &[u32],
    ) -> Self {
        let quasi: Vec<&GeneralizedColumn> = columns.iter().filter_map(cells).collect();
        let order = order_in(groups, |a, b| {
            let cell = |column: &&GeneralizedColumn, row: usize| column.codes[row] as usize;
            let each = quasi
                .iter()
                .map(|column| column.cells[cell(column, a)].cmp(&column.cells[cell(column, b)]));
            each.reduce(Ordering::then).unwrap_or(Ordering::Equal)
        });
        for column in &mut columns {
            match column {
                ReleaseColumn::Generalized(cells) => *cells = cells.picked(&order),
                ReleaseColumn::Verbatim(values) => {
                    let order = order_in(groups, |a, b| compare_values(values, a, b));
                    *values = values.picked(&order);
                }
                ReleaseColumn::Absent => {}
            }
        }
        let sorted = order.iter().map(|row| groups[*row]).collect();
        let mut release = Self::new(schema, columns, groups.len());
        release.groups = Some(sorted);
        release
    }

    /// The group of each row, where the release is fragmented.
    pub fn groups(&self) -> Option<&[u32]> {
        self.groups.as_deref()
    }

    /// Understands a table of text as a release of a study; identifiers in the table are passed over;
    /// the verifier complains about them. `ignore` names columns that may be there beside the study's,
    /// such as the provider's.
    pub fn from_text(
        text: &TextTable,
        schema: &Arc<Schema>,
        ignore: &[&str],
    ) -> Result<Self, ReleaseError> {
        let release = Self::part_from_text(text, schema, ignore)?;
        match release.rows {
            0 => Err(ReleaseError::NoRecords {
                file: text.file.clone(),
            }),
            _ => Ok(release),
        }
    }

    /// Reads a part of a release, such as one site's own rows, of which there may be none.
    pub fn part_from_text(
        text: &TextTable,
        schema: &Arc<Schema>,
        ignore: &[&str],
    ) -> Result<Self, ReleaseError> {
        for name in &text.names {
            if schema.position(name).is_none() && !ignore.contains(&name.as_str()) {
                return Err(unknown_column(&text.file, name, schema).into());
            }
        }
        let mut columns = Vec::with_capacity(schema.attributes().len());
        for attribute in schema.attributes() {
            let found = text.column(&attribute.name);
            let Some(column) = found.filter(|_| attribute.role != Role::Identifier) else {
                if matches!(attribute.role, Role::Quasi | Role::Sensitive) {
                    let missing = missing_column(&text.file, &attribute.name, &text.names);
                    return Err(missing.into());
                }
                columns.push(ReleaseColumn::Absent);
                continue;
            };
            columns.push(if attribute.role == Role::Quasi {
                generalized_of(text, attribute)?
            } else {
                ReleaseColumn::Verbatim(verbatim(text, column, &attribute.name, &attribute.domain)?)
            });
        }
        Ok(Self::new(schema.clone(), columns, text.rows()))
    }

    /// Understands the records of a file of classes: the columns of quasi-identifiers, and no others.
    pub fn of_classes(text: &TextTable, schema: &Arc<Schema>) -> Result<Self, ReleaseError> {
        let is_quasi = |name: &String| {
            let position = schema.position(name);
            position.is_some_and(|position| schema.attributes()[position].role == Role::Quasi)
        };
        if let Some(name) = text.names.iter().find(|name| !is_quasi(name)) {
            return Err(unknown_column(&text.file, name, schema).into());
        }
        let quasi = |attribute: &Attribute| match attribute.role {
            Role::Quasi => generalized_of(text, attribute),
            _ => Ok(ReleaseColumn::Absent),
        };
        let columns: Result<_, ReleaseError> = schema.attributes().iter().map(quasi).collect();
        if text.rows() == 0 {
            return Err(ReleaseError::NoRecords {
                file: text.file.clone(),
            });
        }
        Ok(Self::new(schema.clone(), columns?, text.rows()))
    }

    /// The study's columns.
    pub fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    /// Number of records.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The columns, one for each attribute of the schema.
    pub fn columns(&self) -> &[ReleaseColumn] {
        &self.columns
    }

    /// A quasi-identifier's cells by the attribute's position.
    pub fn generalized(&self, attribute: usize) -> Option<&GeneralizedColumn> {
        cells(&self.columns[attribute])
    }

    /// A verbatim column's codes by the attribute's position.
    pub fn verbatim(&self, attribute: usize) -> Option<&Codes> {
        match &self.columns[attribute] {
            ReleaseColumn::Verbatim(column) => column.codes(),
            _ => None,
        }
    }
}

/// Rows in the order of their groups, inside a group by what is written; equal rows keep their order.
fn order_in(groups: &[u32], compare: impl Fn(usize, usize) -> Ordering) -> Vec<usize> {
    let mut order: Vec<usize> = (0..groups.len()).collect();
    order.sort_by(|a, b| groups[*a].cmp(&groups[*b]).then_with(|| compare(*a, *b)));
    order
}

fn compare_values(values: &Column, a: usize, b: usize) -> Ordering {
    match values {
        Column::Coded(codes) => codes.get(a).cmp(&codes.get(b)),
        Column::Text(text) => text.get(a).cmp(text.get(b)),
        Column::Absent(_) => Ordering::Equal,
    }
}

/// For each distinct cell of a column, its place in the order of cells.
fn ranks(column: &ReleaseColumn) -> Option<Vec<u32>> {
    let cells = &cells(column)?.cells;
    let mut order: Vec<usize> = (0..cells.len()).collect();
    order.sort_by(|a, b| cells[*a].cmp(&cells[*b]));
    let mut ranks = vec![0; cells.len()];
    for (rank, entry) in order.into_iter().enumerate() {
        ranks[entry] = rank as u32;
    }
    Some(ranks)
}

fn cells(column: &ReleaseColumn) -> Option<&GeneralizedColumn> {
    match column {
        ReleaseColumn::Generalized(column) => Some(column),
        _ => None,
    }
}

/// The cell of a text of a release; a null of a Parquet file is read as empty text.
pub(crate) fn cell_of(text: &str, domain: &Domain) -> Result<Cell, CellError> {
    match (domain.read_cell(text), domain.missing_code()) {
        (Err(_), Some(missing)) if text.is_empty() => Ok(Cell::Interval(missing, missing)),
        (cell, _) => cell,
    }
}

/// The column of a quasi-identifier in a table of text.
fn generalized_of(text: &TextTable, attribute: &Attribute) -> Result<ReleaseColumn, ReleaseError> {
    let column = text.column(&attribute.name);
    let column = column.ok_or_else(|| missing_column(&text.file, &attribute.name, &text.names))?;
    let cells = generalized(column, &attribute.domain);
    let cells = cells.map_err(|(entry, source)| FileError::Cell {
        file: text.file.clone(),
        line: text.line(column.first_place[entry]),
        column: attribute.name.clone(),
        source,
    })?;
    Ok(ReleaseColumn::Generalized(cells))
}

fn generalized(
    column: &TextColumn,
    domain: &Domain,
) -> Result<GeneralizedColumn, (usize, CellError)> {
    let cells = column.dictionary.iter().enumerate();
    let cells = cells.map(|(entry, text)| cell_of(text, domain).map_err(|error| (entry, error)));
    Ok(GeneralizedColumn {
        cells: cells.collect::<Result<_, _>>()?,
        codes: column.codes.clone(),
    })
}

fn verbatim(
    text: &TextTable,
    column: &TextColumn,
    name: &str,
    domain: &Domain,
) -> Result<Column, FileError> {
    if *domain == Domain::Text {
        return Ok(Column::Text(column.clone()));
    }
    let mut recoded = Vec::with_capacity(column.dictionary.len());
    for (entry, value) in column.dictionary.iter().enumerate() {
        let code = match domain.encode(value.as_bytes()) {
            Some(code) => code,
            // A null of a Parquet file is read as empty text.
            None if value.is_empty() && domain.missing_code().is_some() => {
                domain.missing_code().unwrap_or(0)
            }
            None => {
                return Err(FileError::OutsideDomain {
                    file: text.file.clone(),
                    line: text.line(column.first_place[entry]),
                    column: name.to_owned(),
                    value: shorten(value),
                    domain: domain.describe(),
                    hint: domain.hint(value),
                });
            }
        };
        recoded.push(code);
    }
    let mut codes = Codes::for_size(domain.size());
    for code in &column.codes {
        codes.push(recoded[*code as usize]);
    }
    Ok(Column::Coded(codes))
}
