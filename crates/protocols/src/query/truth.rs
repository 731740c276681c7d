//! What generalized rows say about a condition: certain, possible, and by which share.
//!
//! A cell stands for several values. A row satisfies a condition *certainly* if all of its values do,
//! *possibly* if some do, and by the *share* of its values that do, every value of a cell equally likely and
//! columns independent. Certain and possible are facts about the row; the share is a model.
//!
//! A total is the same with numbers: what a row adds at least, at most, and on average, with the variance.
//!
//! # Discloses
//! Nothing.

use std::sync::Arc;

use hedgerow_data::{Cell, Domain, Schema};

use super::codes::CodeSet;
use super::diagram::{Diagram, Place, SATISFIED, UNSATISFIED};
use super::error::QuestionError;
use super::held::{Held, HeldColumn};
use super::question::{Condition, Total};

/// What a row says about a condition.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Truth {
    /// Every value that the row stands for satisfies the condition.
    pub certain: bool,
    /// Some value does.
    pub possible: bool,
    /// The share of values that do.
    pub share: f64,
}

/// What a row adds to a total.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Added {
    /// At least.
    pub(super) low: i64,
    /// At most.
    pub(super) high: i64,
    /// On average.
    pub(super) mean: f64,
    /// The variance of what is added.
    pub(super) variance: f64,
}

/// A condition made ready for the rows of a table.
#[derive(Debug)]
pub(super) struct Weighed<'h> {
    diagram: Diagram,
    levels: Vec<Shares<'h>>,
    /// What is summed, in the first level.
    summed: Option<Summed>,
}

/// A column of a diagram: for each of its cells and each part of its codes, the share of the cell's values.
#[derive(Debug)]
struct Shares<'h> {
    /// For each row, the place of its cell.
    places: &'h [u32],
    parts: usize,
    shares: Vec<f64>,
}

/// For each cell and part of the column that is summed, its values.
#[derive(Debug)]
struct Summed {
    values: Vec<Option<Values>>,
}

/// Values that a cell has in common with a part.
#[derive(Debug, Clone, Copy)]
struct Values {
    least: i64,
    greatest: i64,
    /// Sum and sum of squares, over the values of the whole cell.
    mean: f64,
    square: f64,
}

/// Rooms for the evaluation of a row, used again for every row.
#[derive(Debug)]
pub(super) struct Scratch {
    truths: Vec<Truth>,
}

/// What rows say about a condition: `rows` have a cell for each of `columns`, among which are all that the
/// condition speaks of.
pub fn truths(
    schema: &Arc<Schema>,
    columns: &[usize],
    rows: &[Vec<Cell>],
    condition: &Condition,
) -> Result<Vec<Truth>, QuestionError> {
    let held = Held::of_cells(schema, columns, rows);
    let weighed = Weighed::new(&held, condition, Total::Records)?;
    let mut scratch = weighed.scratch();
    let truths = (0..rows.len()).map(|row| weighed.truth(row, &mut scratch));
    Ok(truths.collect())
}

impl<'h> Weighed<'h> {
    /// Makes a condition ready, and what is counted or summed of the rows that satisfy it.
    pub(super) fn new(
        held: &'h Held,
        condition: &Condition,
        total: Total,
    ) -> Result<Self, QuestionError> {
        Self::of(held, None, condition, total)
    }

    /// The same where only a group joins the columns that are no quasi-identifiers: every row of a group
    /// has any value of the group, each as likely as it is often there.
    pub(super) fn by_group(
        held: &'h Held,
        grouped: &'h Grouped,
        condition: &Condition,
        total: Total,
    ) -> Result<Self, QuestionError> {
        Self::of(held, Some(grouped), condition, total)
    }

    fn of(
        held: &'h Held,
        grouped: Option<&'h Grouped>,
        condition: &Condition,
        total: Total,
    ) -> Result<Self, QuestionError> {
        let diagram = Diagram::new(condition, held.schema(), total.column())?;
        let mut levels = Vec::with_capacity(diagram.levels.len());
        for level in &diagram.levels {
            let column = held.column(level.column).ok_or_else(|| {
                let column = held.schema().attributes()[level.column].name.clone();
                QuestionError::Text { column }
            })?;
            let grouped = grouped.filter(|_| !held.is_quasi(level.column));
            let (places, shares) = match grouped {
                Some(grouped) => (
                    grouped.of_rows.as_slice(),
                    grouped.shares(column, &level.parts),
                ),
                None => (column.places.as_slice(), cell_shares(column, &level.parts)),
            };
            levels.push(Shares {
                places,
                parts: level.parts.len(),
                shares,
            });
        }
        let summed = total.column().and_then(|position| {
            let line = Line::of(&held.schema().attributes()[position].domain, total)?;
            let (column, parts) = (held.column(position)?, &diagram.levels[0].parts);
            let values = match grouped.filter(|_| !held.is_quasi(position)) {
                Some(grouped) => {
                    let groups = grouped.codes(column).into_iter();
                    let values = groups.flat_map(|codes| {
                        let parts = parts.iter();
                        parts
                            .map(|part| line.values_of(&codes, part))
                            .collect::<Vec<_>>()
                    });
                    values.collect()
                }
                None => {
                    let values = column.cells.iter().flat_map(|cell| {
                        let parts = parts.iter();
                        parts.map(|part| line.values(cell, part))
                    });
                    values.collect()
                }
            };
            Some(Summed { values })
        });
        Ok(Self {
            diagram,
            levels,
            summed,
        })
    }

    /// Rooms for the evaluation of rows.
    pub(super) fn scratch(&self) -> Scratch {
        let mut truths = vec![Truth::end(UNSATISFIED), Truth::end(SATISFIED)];
        truths.resize(self.diagram.nodes.len() + 2, Truth::end(UNSATISFIED));
        Scratch { truths }
    }

    /// What a row says about the condition.
    pub(super) fn truth(&self, row: usize, scratch: &mut Scratch) -> Truth {
        for (place, node) in self.diagram.nodes.iter().enumerate() {
            let shares = self.levels[node.level].of(row);
            let mut truth = Truth {
                certain: true,
                possible: false,
                share: 0.0,
            };
            for (share, way) in shares
                .iter()
                .zip(&node.ways)
                .filter(|(share, _)| **share > 0.0)
            {
                let next = scratch.truths[*way as usize];
                truth.certain &= next.certain;
                truth.possible |= next.possible;
                truth.share += share * next.share;
            }
            scratch.truths[place + 2] = truth;
        }
        scratch.truths[self.diagram.root as usize]
    }

    /// What a row adds to the total.
    pub(super) fn added(&self, row: usize, scratch: &mut Scratch) -> Added {
        let truth = self.truth(row, scratch);
        let Some(summed) = &self.summed else {
            return Added {
                low: i64::from(truth.certain),
                high: i64::from(truth.possible),
                mean: truth.share,
                variance: truth.share * (1.0 - truth.share),
            };
        };
        let level = &self.levels[0];
        let first = level.places[row] as usize * level.parts;
        let (mut low, mut high) = (i64::MAX, i64::MIN);
        let (mut mean, mut square) = (0.0, 0.0);
        for (part, values) in summed.values[first..first + level.parts].iter().enumerate() {
            let Some(values) = values else {
                continue;
            };
            let next = scratch.truths[self.way(part) as usize];
            mean += values.mean * next.share;
            square += values.square * next.share;
            if next.possible {
                low = low.min(values.least);
                high = high.max(values.greatest);
            }
            if !next.certain {
                low = low.min(0);
                high = high.max(0);
            }
        }
        Added {
            low,
            high,
            mean,
            variance: (square - mean * mean).max(0.0),
        }
    }

    /// Where a value of the first column leads that lies in a part.
    fn way(&self, part: usize) -> Place {
        let root = self.diagram.root;
        match root
            .checked_sub(2)
            .map(|node| &self.diagram.nodes[node as usize])
        {
            Some(node) if node.level == 0 => node.ways[part],
            _ => root,
        }
    }
}

/// Rows that only groups join.
#[derive(Debug, Clone)]
pub(super) struct Grouped {
    /// For each row, its group.
    pub(super) of_rows: Vec<u32>,
    /// Rows of each group.
    pub(super) sizes: Vec<u32>,
}

impl Grouped {
    /// For each group, the codes of a column whose cells have one code each.
    pub(super) fn codes(&self, column: &HeldColumn) -> Vec<Vec<u32>> {
        let mut codes = vec![Vec::new(); self.sizes.len()];
        for (row, group) in self.of_rows.iter().enumerate() {
            let (code, _) = column.cells[column.places[row] as usize].bounds();
            codes[*group as usize].push(code);
        }
        codes
    }

    /// For each group and part, the share of the group's rows whose value lies in the part.
    fn shares(&self, column: &HeldColumn, parts: &[CodeSet]) -> Vec<f64> {
        let groups = self.codes(column).into_iter();
        let shares = groups.flat_map(|codes| {
            let share = |part: &CodeSet| {
                let inside = codes.iter().filter(|code| part.contains(**code));
                inside.count() as f64 / codes.len() as f64
            };
            parts.iter().map(share).collect::<Vec<_>>()
        });
        shares.collect()
    }
}

/// For each cell and part, the share of the cell's values that lie in the part.
fn cell_shares(column: &HeldColumn, parts: &[CodeSet]) -> Vec<f64> {
    let shares = column.cells.iter().flat_map(|cell| {
        let (own, count) = (CodeSet::of_cell(cell), f64::from(cell.count()));
        let share = move |part: &CodeSet| part.and(&own).count() as f64 / count;
        parts.iter().map(share)
    });
    shares.collect()
}

impl Truth {
    const fn end(place: Place) -> Self {
        let satisfied = place == SATISFIED;
        Self {
            certain: satisfied,
            possible: satisfied,
            share: if satisfied { 1.0 } else { 0.0 },
        }
    }
}

impl Shares<'_> {
    fn of(&self, row: usize) -> &[f64] {
        let first = self.places[row] as usize * self.parts;
        &self.shares[first..first + self.parts]
    }
}

/// The number that a code adds: a line over the codes, and nothing for the missing value.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line {
    first: i64,
    step: i64,
    missing: Option<u32>,
}

impl Line {
    pub(super) fn of(domain: &Domain, total: Total) -> Option<Self> {
        let missing = domain.missing_code();
        match (total, domain) {
            (Total::Records, _) => None,
            (Total::Present(_), _) => Some(Self {
                first: 1,
                step: 0,
                missing,
            }),
            (Total::Sum(_), Domain::Integer(numbers)) => Some(Self {
                first: numbers.value(0),
                step: numbers.step(),
                missing,
            }),
            (Total::Sum(_), _) => None,
        }
    }

    fn at(&self, code: u32) -> i64 {
        self.first + self.step * i64::from(code)
    }

    /// The least and greatest number that a cell adds.
    pub(super) fn ends(&self, cell: &Cell) -> (i64, i64) {
        let codes = CodeSet::of_cell(cell);
        let present = match self.missing {
            Some(missing) => codes.without(missing),
            None => codes.clone(),
        };
        let ends = present.ranges().first().zip(present.ranges().last());
        let nothing = present.count() < codes.count();
        match ends {
            None => (0, 0),
            Some(((least, _), (_, greatest))) if nothing => {
                (self.at(*least).min(0), self.at(*greatest).max(0))
            }
            Some(((least, _), (_, greatest))) => (self.at(*least), self.at(*greatest)),
        }
    }

    /// The values of a part among some codes.
    fn values_of(&self, codes: &[u32], part: &CodeSet) -> Option<Values> {
        let inside = || codes.iter().filter(|code| part.contains(**code));
        let at = |code: &u32| match self.missing == Some(*code) {
            true => 0,
            false => self.at(*code),
        };
        let count = codes.len() as f64;
        Some(Values {
            least: inside().map(at).min()?,
            greatest: inside().map(at).max()?,
            mean: inside().map(|code| at(code) as f64).sum::<f64>() / count,
            square: inside().map(|code| (at(code) as f64).powi(2)).sum::<f64>() / count,
        })
    }

    /// The values that a cell has in a part.
    fn values(&self, cell: &Cell, part: &CodeSet) -> Option<Values> {
        let common = part.and(&CodeSet::of_cell(cell));
        let (least, greatest) = (common.ranges().first()?.0, common.ranges().last()?.1);
        let count = f64::from(cell.count());
        // The missing value is a part of its own.
        if self.missing == Some(least) {
            return Some(Values {
                least: 0,
                greatest: 0,
                mean: 0.0,
                square: 0.0,
            });
        }
        let (mut sum, mut squares) = (0.0, 0.0);
        for (from, to) in common.ranges() {
            // Of n numbers in a line: n times their middle, and n times its square with n (n^2 - 1) / 12
            // squares of a step around it.
            let n = f64::from(to - from) + 1.0;
            let middle = (self.at(*from) as f64 + self.at(*to) as f64) / 2.0;
            let step = self.step as f64;
            sum += n * middle;
            squares += n * middle * middle + step * step * n * (n * n - 1.0) / 12.0;
        }
        Some(Values {
            least: self.at(least),
            greatest: self.at(greatest),
            mean: sum / count,
            square: squares / count,
        })
    }
}
