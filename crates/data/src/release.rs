//! Releases: what is published. Quasi-identifiers are generalized cells, sensitive and other
//! columns are verbatim, identifiers are gone.
//!
//! Rows are published in an order that follows from their contents and from nothing else: cells in the
//! order of their values in the domain, attribute after attribute, then the verbatim values. How records
//! were cut, in which cluster they were and whose they are leaves no trace in the order.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::sync::Arc;

use rayon::prelude::*;

use crate::attribute::{Attribute, Role, Schema};
use crate::cell::{Cell, CellError};
use crate::counter::Grouped;
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
    /// How many records each row stands for; one each where there are no counts.
    counts: Option<Vec<u64>>,
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
            counts: None,
            groups: None,
        }
    }

    /// The same rows, each of which stands for so many records.
    ///
    /// # Panics
    /// If there is not one count for each row: that is a mistake in the calling code.
    #[must_use]
    pub fn with_counts(mut self, counts: Option<Vec<u64>>) -> Self {
        assert!(counts.iter().all(|counts| counts.len() == self.rows));
        self.counts = counts;
        self
    }

    /// A release to be published, of counted rows: what is written alike is one row, and rows are sorted by
    /// what is written in them. Each of the given rows stands for one record, or for so many.
    ///
    /// # Panics
    /// If the columns do not fit the schema: that is a mistake in the calling code.
    pub fn counted(
        schema: Arc<Schema>,
        columns: Vec<ReleaseColumn>,
        counts: Option<&[u64]>,
    ) -> Self {
        assert_eq!(schema.attributes().len(), columns.len());
        // Cells come before verbatim values, attribute after attribute.
        let is_cells = |position: &usize| cells(&columns[*position]).is_some();
        let is_there = |position: &usize| columns[*position] != ReleaseColumn::Absent;
        let (mut order, values): (Vec<usize>, Vec<usize>) =
            (0..columns.len()).filter(is_there).partition(is_cells);
        order.extend(values);
        let written: Vec<Ranked<'_>> = order
            .par_iter()
            .map(|at| Ranked::of(&columns[*at]))
            .collect();
        let mut grouped = Grouped::new(written.iter().map(|ranked| ranked.size));
        let codes: Vec<&Codes> = written.iter().map(|ranked| &*ranked.codes).collect();
        grouped.add(&codes, counts);
        let unranks: Vec<Unrank> = written.into_iter().map(|ranked| ranked.unrank).collect();
        let (codes, counts) = grouped.finish();
        let named = order.into_par_iter().zip(codes).zip(unranks);
        let found: Vec<(usize, ReleaseColumn)> = named
            .map(|((position, codes), unrank)| (position, unrank.column(codes)))
            .collect();
        let mut released = vec![ReleaseColumn::Absent; columns.len()];
        for (position, column) in found {
            released[position] = column;
        }
        Self::new(schema, released, counts.len()).with_counts(Some(counts))
    }

    /// A release to be published, of single records: its rows are sorted by what is written in them.
    ///
    /// # Panics
    /// If the columns do not fit the schema: that is a mistake in the calling code.
    pub fn published(schema: Arc<Schema>, columns: Vec<ReleaseColumn>) -> Self {
        Self::counted(schema, columns, None).expanded()
    }

    /// Whether each row is written otherwise than the one before and stands behind it in the order in which
    /// releases are published: then no row stands twice.
    pub fn ascends(&self) -> bool {
        let (quasi, values): (Vec<&ReleaseColumn>, Vec<&ReleaseColumn>) = (self.columns.iter())
            .filter(|column| **column != ReleaseColumn::Absent)
            .partition(|column| cells(column).is_some());
        let columns: Vec<Ranked<'_>> = quasi
            .into_par_iter()
            .chain(values)
            .map(Ranked::of)
            .collect();
        (1..self.rows).into_par_iter().all(|row| {
            let order = |column: &Ranked<'_>| column.codes.get(row - 1).cmp(&column.codes.get(row));
            let mut orders = columns.iter().map(order);
            orders.find(|order| order.is_ne()) == Some(Ordering::Less)
        })
    }

    /// The release with a row for each record.
    #[must_use]
    pub fn expanded(self) -> Self {
        let Some(counts) = &self.counts else {
            return self;
        };
        let rows = counts.iter().enumerate();
        // A release of single records has fewer of them than a machine has addresses.
        let order = rows.flat_map(|(row, count)| std::iter::repeat_n(row, *count as usize));
        let order: Vec<usize> = order.collect();
        let columns = self.columns.par_iter().map(|column| match column {
            ReleaseColumn::Generalized(cells) => ReleaseColumn::Generalized(cells.picked(&order)),
            ReleaseColumn::Verbatim(values) => ReleaseColumn::Verbatim(values.picked(&order)),
            ReleaseColumn::Absent => ReleaseColumn::Absent,
        });
        Self {
            columns: columns.collect(),
            rows: order.len(),
            counts: None,
            ..self
        }
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
        let release = Self::new(schema.clone(), columns, text.rows());
        Ok(release.with_counts(text.counts.clone()))
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

    /// Number of rows: of single records, or of rows that are counted.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of records.
    pub fn records(&self) -> u64 {
        self.counts
            .as_ref()
            .map_or(self.rows as u64, |counts| counts.iter().sum())
    }

    /// How many records each row stands for; `None` where rows are single records.
    pub fn counts(&self) -> Option<&[u64]> {
        self.counts.as_deref()
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

/// A column as codes whose order is that of what is written.
struct Ranked<'a> {
    codes: Cow<'a, Codes>,
    size: u32,
    unrank: Unrank,
}

/// The way back from codes in the order of what is written.
enum Unrank {
    Cells(Vec<Cell>),
    Coded,
    Texts(Vec<Box<str>>),
    Absent,
}

impl<'a> Ranked<'a> {
    fn of(column: &'a ReleaseColumn) -> Self {
        match column {
            ReleaseColumn::Generalized(column) => {
                let (codes, cells) = ranked(&column.codes, &column.cells);
                Self::new(codes, cells.len(), Unrank::Cells(cells))
            }
            ReleaseColumn::Verbatim(Column::Text(text)) => {
                let (codes, texts) = ranked(&text.codes, &text.dictionary);
                Self::new(codes, texts.len(), Unrank::Texts(texts))
            }
            ReleaseColumn::Verbatim(Column::Coded(codes)) => Self {
                size: match codes {
                    Codes::U8(_) => 1 << 8,
                    Codes::U16(_) => 1 << 16,
                    Codes::U32(_) => u32::MAX,
                },
                codes: Cow::Borrowed(codes),
                unrank: Unrank::Coded,
            },
            ReleaseColumn::Verbatim(Column::Absent(_)) | ReleaseColumn::Absent => {
                Self::new(Codes::for_size(0), 0, Unrank::Absent)
            }
        }
    }

    fn new(codes: Codes, size: usize, unrank: Unrank) -> Self {
        Self {
            codes: Cow::Owned(codes),
            size: size as u32,
            unrank,
        }
    }
}

impl Unrank {
    fn column(self, codes: Codes) -> ReleaseColumn {
        match self {
            Self::Cells(cells) => {
                // Cells in the order of their first appearance, as they are read from a file.
                let mut column = GeneralizedColumn {
                    cells: Vec::new(),
                    codes: Vec::with_capacity(codes.len()),
                };
                let mut place = vec![None; cells.len()];
                for rank in codes.iter() {
                    let code = *place[rank as usize].get_or_insert_with(|| {
                        column.cells.push(cells[rank as usize].clone());
                        column.cells.len() as u32 - 1
                    });
                    column.codes.push(code);
                }
                ReleaseColumn::Generalized(column)
            }
            Self::Coded => ReleaseColumn::Verbatim(Column::Coded(codes)),
            Self::Texts(texts) => {
                let mut column = TextColumn::default();
                for (place, rank) in (1..).zip(codes.iter()) {
                    column.push(&texts[rank as usize], place);
                }
                ReleaseColumn::Verbatim(Column::Text(column))
            }
            Self::Absent => ReleaseColumn::Absent,
        }
    }
}

/// Codes in the order of their entries, and the entries in order; what is written alike has one code.
fn ranked<T: Ord + Clone>(codes: &[u32], entries: &[T]) -> (Codes, Vec<T>) {
    let mut sorted: Vec<T> = entries.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    // Every entry is among the sorted ones.
    let rank = |entry: &T| sorted.binary_search(entry).unwrap_or(0) as u32;
    let ranks: Vec<u32> = entries.iter().map(rank).collect();
    let ranks_of_rows = codes.iter().map(|code| ranks[*code as usize]);
    let codes = match Codes::for_size(sorted.len() as u32) {
        Codes::U8(_) => Codes::U8(ranks_of_rows.map(|rank| rank as u8).collect()),
        Codes::U16(_) => Codes::U16(ranks_of_rows.map(|rank| rank as u16).collect()),
        Codes::U32(_) => Codes::U32(ranks_of_rows.collect()),
    };
    (codes, sorted)
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
