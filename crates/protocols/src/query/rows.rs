//! The rows that a question finds, united without ownership.
//!
//! A site's items are its possible rows: the places of cells that all sites know, and codes. Beside the columns
//! that are asked for, an item has those that the condition speaks of, since the share of a row follows from
//! them.
//!
//! # Discloses
//! To all sites: how many rows are found, and the rows.

use hedgerow_data::Cell;
use hedgerow_smc::{Generator, Items, Party};

use super::error::QuestionError;
use super::held::Held;
use super::question::{Condition, Total};
use super::truth::{Truth, Weighed};
use super::{FOUND, ROWS};
use crate::error::Error;

/// Bytes of a cell.
const WIDTH: usize = 4;
/// More rows than the table has.
const TOO_MANY: &str = "more rows than the table has, or fewer than this site's own";
/// Rows that no table has.
const NO_ROWS: &str = "rows that are not of the table, or not of the question";

/// A row that a question finds.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// The cells of the columns that were asked for.
    pub cells: Vec<Cell>,
    /// What the row says about the condition.
    pub truth: Truth,
}

/// The possible rows of all sites.
pub(super) async fn unite(
    party: &mut Party,
    held: &Held,
    condition: &Condition,
    columns: &[usize],
) -> Result<Vec<Found>, Error> {
    let mut carried = condition.columns();
    carried.extend(columns);
    carried.sort_unstable();
    carried.dedup();
    let kinds = kinds(held, &carried)?;
    let weighed = Weighed::new(held, condition, Total::Records)?;
    let mut scratch = weighed.scratch();
    let possible = (0..held.rows()).filter(|row| weighed.truth(*row, &mut scratch).possible);
    let item = |row: usize| {
        kinds
            .iter()
            .flat_map(|kind| kind.of_row(row).to_be_bytes())
            .collect()
    };
    let mut items: Vec<Vec<u8>> = possible.map(item).collect();
    let own = items.len() as u64;
    let mut found = [own];
    party.sum(FOUND, &mut found).await?;
    let fits = (own..=held.records()).contains(&found[0]);
    party.fit(FOUND, fits, TOO_MANY)?;
    // No more than the records of the table.
    let all = found[0] as usize;
    if all > 0 {
        let decoy = |generator: &mut Generator| {
            let values = kinds
                .iter()
                .flat_map(|kind| kind.draw(generator).to_be_bytes());
            values.collect()
        };
        let shape = Items {
            width: WIDTH * kinds.len(),
            capacity: all,
            domain: kinds.iter().map(|kind| f64::from(kind.size())).product(),
            decoy: &decoy,
        };
        party.union(ROWS, &shape, &mut items).await?;
    }
    party.fit(ROWS, items.len() == all, NO_ROWS)?;
    let read = read(held, condition, &carried, &kinds, &items)?;
    party.fit(ROWS, read.is_some(), NO_ROWS)?;
    let shown: Vec<usize> = columns
        .iter()
        .filter_map(|column| carried.iter().position(|carried| carried == column))
        .collect();
    let mut rows = read.unwrap_or_default();
    for row in &mut rows {
        let cells = shown.iter().map(|place| row.cells[*place].clone());
        row.cells = cells.collect();
    }
    Ok(rows)
}

/// A column as items carry it.
enum Kind<'h> {
    /// The place among the cells of the joint table.
    Place {
        cells: &'h [Cell],
        places: &'h [u32],
    },
    /// A code of the domain.
    Code {
        size: u32,
        cells: &'h [Cell],
        places: &'h [u32],
    },
}

fn kinds<'h>(held: &'h Held, carried: &[usize]) -> Result<Vec<Kind<'h>>, QuestionError> {
    let kind = |position: &usize| {
        let attribute = &held.schema().attributes()[*position];
        let column = held.column(*position).ok_or_else(|| QuestionError::Text {
            column: attribute.name.clone(),
        })?;
        let (cells, places) = (column.cells.as_slice(), column.places.as_slice());
        let size = attribute.domain.size();
        Ok(match held.is_quasi(*position) {
            true => Kind::Place { cells, places },
            false => Kind::Code {
                size,
                cells,
                places,
            },
        })
    };
    carried.iter().map(kind).collect()
}

impl Kind<'_> {
    fn of_row(&self, row: usize) -> u32 {
        match self {
            Self::Place { places, .. } => places[row],
            Self::Code { cells, places, .. } => cells[places[row] as usize].bounds().0,
        }
    }

    fn size(&self) -> u32 {
        match self {
            Self::Place { cells, .. } => cells.len() as u32,
            Self::Code { size, .. } => *size,
        }
    }

    fn draw(&self, generator: &mut Generator) -> u32 {
        generator.below(u64::from(self.size().max(1))) as u32
    }

    /// The cell of a number that a peer may have sent.
    fn cell(&self, number: u32) -> Option<Cell> {
        match self {
            Self::Place { cells, .. } => cells.get(number as usize).cloned(),
            Self::Code { size, .. } => (number < *size).then_some(Cell::Interval(number, number)),
        }
    }
}

/// The rows that items stand for, with what they say about the condition; `None` where one is no row of the
/// table, or does not possibly satisfy the condition.
fn read(
    held: &Held,
    condition: &Condition,
    carried: &[usize],
    kinds: &[Kind<'_>],
    items: &[Vec<u8>],
) -> Result<Option<Vec<Found>>, QuestionError> {
    let rows: Option<Vec<Vec<Cell>>> = items
        .iter()
        .map(|item| {
            let numbers = item.chunks_exact(WIDTH).zip(kinds);
            numbers
                .map(|(bytes, kind)| {
                    let bytes = bytes.try_into().ok()?;
                    kind.cell(u32::from_be_bytes(bytes))
                })
                .collect()
        })
        .collect();
    let Some(rows) = rows else {
        return Ok(None);
    };
    let united = held.with_rows(carried, &rows);
    let weighed = Weighed::new(&united, condition, Total::Records)?;
    let mut scratch = weighed.scratch();
    let truths = (0..rows.len()).map(|row| weighed.truth(row, &mut scratch));
    let truths: Vec<Truth> = truths.collect();
    if truths.iter().any(|truth| !truth.possible) {
        return Ok(None);
    }
    let found = rows.into_iter().zip(truths);
    let found = found.map(|(cells, truth)| Found { cells, truth });
    Ok(Some(found.collect()))
}
