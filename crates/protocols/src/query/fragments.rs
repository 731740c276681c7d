//! Questions about a fragmented release (D2PT): quasi-identifiers in one table, every other column in a table
//! of its own, joined by groups alone.
//!
//! What speaks of one table is answered as of any release. Across tables, any row of a group may belong to any
//! other row of the group. A condition is parted by tables; in each group its parts hold for so many rows, and
//! together for as many as Fréchet's bounds allow: of n rows of which a and b satisfy two parts, at least
//! a + b - n and at most the lesser of a and b satisfy both. The estimate takes every value of a group for as
//! likely as it is often there, which is the mean over all ways to put the tables together.
//!
//! # Discloses
//! Nothing.

use std::collections::BTreeMap;

use hedgerow_data::{Cell, Release, quoted_list};

use super::codes::CodeSet;
use super::error::QuestionError;
use super::held::Held;
use super::question::{Answer, Condition, MOST_TOTALS, Question, Total};
use super::totals::{Group, Measured};
use super::truth::{Grouped, Line, Truth, Weighed};

/// The most rows that are looked at for a question, over all values that are grouped by.
const MOST_WORK: u64 = 1 << 28;

/// A fragmented release that questions are asked of.
#[derive(Debug, Clone)]
pub struct Fragmented {
    held: Held,
    grouped: Grouped,
    /// The rows of each group.
    groups: Vec<std::ops::Range<usize>>,
}

/// A condition parted by tables.
enum Node {
    /// Of one table: for each row of it, what the row says.
    One(usize, Vec<Truth>),
    All(Vec<Node>),
    Any(Vec<Node>),
}

/// A total as it is added up.
#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    low: i64,
    high: i64,
    estimate: f64,
    variance: f64,
}

impl Fragmented {
    /// A release, if it is fragmented.
    pub fn release(release: &Release) -> Option<Self> {
        let numbers = release.groups()?;
        let (mut of_rows, mut sizes) = (Vec::with_capacity(numbers.len()), Vec::new());
        let mut groups: Vec<std::ops::Range<usize>> = Vec::new();
        // Rows stand in the order of their groups.
        for (row, number) in numbers.iter().enumerate() {
            if row == 0 || numbers[row - 1] != *number {
                groups.push(row..row);
                sizes.push(0);
            }
            let last = groups.len() - 1;
            groups[last].end = row + 1;
            sizes[last] += 1;
            of_rows.push(last as u32);
        }
        Some(Self {
            held: Held::release(release),
            grouped: Grouped { of_rows, sizes },
            groups,
        })
    }

    /// Each table alone is a table that questions are asked of.
    pub fn held(&self) -> &Held {
        &self.held
    }

    /// Whether columns stand in one table.
    pub fn is_joined(&self, positions: &[usize]) -> bool {
        let mut tables = positions.iter().map(|position| self.table(*position));
        let first = tables.next();
        tables.all(|table| Some(table) == first)
    }

    /// The table that a column stands in.
    fn table(&self, position: usize) -> usize {
        match self.held.is_quasi(position) {
            true => 0,
            false => 1 + position,
        }
    }

    /// Answers a question for totals across tables: groups that some row may be in, and of all rows the one
    /// group that there is.
    pub fn totals(&self, question: &Question) -> Result<Vec<Group>, QuestionError> {
        question.check(self.held.schema())?;
        let Answer::Totals { group_by, of } = &question.answer else {
            let attributes = self.held.schema().attributes();
            let columns = question.columns();
            let names = columns
                .iter()
                .map(|column| attributes[*column].name.as_str());
            return Err(QuestionError::Apart {
                columns: quoted_list(names),
            });
        };
        let values = self.values(group_by)?;
        let mut sums: BTreeMap<Vec<Cell>, Vec<Sum>> = BTreeMap::new();
        if group_by.is_empty() {
            sums.insert(Vec::new(), vec![Sum::default(); of.len()]);
        }
        for codes in &values {
            let mut parts = vec![question.condition.clone()];
            parts.extend(codes.iter().map(|(column, code)| Condition::Within {
                column: *column,
                codes: CodeSet::new([(*code, *code)]),
            }));
            // Of a missing value nothing is known but that it is missing.
            for (place, (column, code)) in codes.iter().enumerate() {
                let domain = &self.held.schema().attributes()[*column].domain;
                if domain.missing_code() == Some(*code) {
                    parts[place + 1] = Condition::Missing { column: *column };
                }
            }
            for (place, total) in of.iter().enumerate() {
                self.add(&parts, *total, (group_by, codes), |key, sum| {
                    let all = sums
                        .entry(key)
                        .or_insert_with(|| vec![Sum::default(); of.len()]);
                    all[place].add(sum);
                })?;
            }
            if (sums.len() * of.len()) as u64 > MOST_TOTALS {
                return Err(QuestionError::TooManyTotals {
                    totals: (sums.len() * of.len()) as u64,
                    most: MOST_TOTALS,
                });
            }
        }
        let groups = sums.into_iter().map(|(key, totals)| Group {
            key,
            totals: totals.iter().map(Sum::measured).collect(),
        });
        Ok(groups.collect())
    }

    /// The combinations of values, outside quasi-identifiers, that a question groups by.
    fn values(&self, group_by: &[usize]) -> Result<Vec<Vec<(usize, u32)>>, QuestionError> {
        let mut combinations: Vec<Vec<(usize, u32)>> = vec![Vec::new()];
        for column in group_by
            .iter()
            .filter(|column| !self.held.is_quasi(**column))
        {
            let cells = self
                .held
                .column(*column)
                .map_or(&[][..], |held| &held.cells);
            let totals = combinations.len() as u64 * cells.len() as u64;
            if totals.saturating_mul(self.held.rows() as u64) > MOST_WORK {
                let most = MOST_WORK / (self.held.rows() as u64).max(1);
                return Err(QuestionError::TooManyTotals { totals, most });
            }
            let longer = combinations.iter().flat_map(|combination| {
                cells.iter().map(|cell| {
                    let mut longer = combination.clone();
                    longer.push((*column, cell.bounds().0));
                    longer
                })
            });
            combinations = longer.collect();
        }
        Ok(combinations)
    }

    /// Adds what each group adds to a total, for each combination of printed quasi-identifiers.
    fn add(
        &self,
        parts: &[Condition],
        total: Total,
        (group_by, codes): (&[usize], &[(usize, u32)]),
        mut each: impl FnMut(Vec<Cell>, &Sum),
    ) -> Result<(), QuestionError> {
        let mut parts = parts.to_vec();
        // A count of values is a count of rows that have one.
        let total = match total {
            Total::Present(column) => {
                parts.push(Condition::Not(Box::new(Condition::Missing { column })));
                Total::Records
            }
            total => total,
        };
        let condition = Condition::All(parts);
        let weighed = Weighed::by_group(&self.held, &self.grouped, &condition, total)?;
        let mut scratch = weighed.scratch();
        let node = self.part(&condition, true)?;
        let ends = self.ends(total);
        for rows in &self.groups {
            for (key, own) in self.keys(rows, group_by, codes) {
                let mut sum = Sum::default();
                for row in &own {
                    let added = weighed.added(*row, &mut scratch);
                    sum.low += added.low;
                    sum.high += added.high;
                    sum.estimate += added.mean;
                    sum.variance += added.variance;
                }
                let (least, most) = self.bounds(&node, rows, &own);
                let (low, high) = match &ends {
                    None => (least, most),
                    Some((0, ends)) => chosen(own.iter().map(|row| ends[*row]), least, most),
                    Some((_, ends)) => chosen(rows.clone().map(|row| ends[row]), least, most),
                };
                sum.low = sum.low.max(low);
                sum.high = sum.high.min(high);
                if sum.high != 0 || sum.low != 0 || most > 0 {
                    each(key, &sum);
                }
            }
        }
        Ok(())
    }

    /// The table of the column that is summed, and for each of its rows the least and greatest number.
    fn ends(&self, total: Total) -> Option<(usize, Vec<(i64, i64)>)> {
        let position = total.column()?;
        let line = Line::of(&self.held.schema().attributes()[position].domain, total)?;
        let column = self.held.column(position)?;
        let cells: Vec<(i64, i64)> = column.cells.iter().map(|cell| line.ends(cell)).collect();
        let ends = column.places.iter().map(|place| cells[*place as usize]);
        Some((self.table(position), ends.collect()))
    }

    /// The rows of a group by what is printed of the quasi-identifiers that a question groups by.
    fn keys(
        &self,
        rows: &std::ops::Range<usize>,
        group_by: &[usize],
        codes: &[(usize, u32)],
    ) -> BTreeMap<Vec<Cell>, Vec<usize>> {
        let mut keys: BTreeMap<Vec<Cell>, Vec<usize>> = BTreeMap::new();
        for row in rows.clone() {
            let cell = |column: &usize| {
                let value = codes.iter().find(|(of, _)| of == column);
                match value {
                    Some((_, code)) => Some(Cell::Interval(*code, *code)),
                    None => {
                        let held = self.held.column(*column)?;
                        Some(held.cells[held.places[row] as usize].clone())
                    }
                }
            };
            let key = group_by.iter().filter_map(cell).collect();
            keys.entry(key).or_default().push(row);
        }
        keys
    }

    /// A condition, or its negation, parted by tables.
    fn part(&self, condition: &Condition, wanted: bool) -> Result<Node, QuestionError> {
        let columns = condition.columns();
        if self.is_joined(&columns) {
            let table = columns.first().map_or(0, |column| self.table(*column));
            let condition = match wanted {
                true => condition.clone(),
                false => Condition::Not(Box::new(condition.clone())),
            };
            return self.one(table, &condition);
        }
        let (parts, all) = match condition {
            Condition::Not(part) => return self.part(part, !wanted),
            Condition::All(parts) => (parts, wanted),
            Condition::Any(parts) => (parts, !wanted),
            // A comparison is of one column.
            Condition::Within { .. } | Condition::Missing { .. } => (&Vec::new(), wanted),
        };
        // Parts of one table are decided together.
        let mut by_table: BTreeMap<usize, Vec<Condition>> = BTreeMap::new();
        let mut nodes = Vec::new();
        for part in parts {
            let columns = part.columns();
            match self.is_joined(&columns) {
                true => {
                    let table = columns.first().map_or(0, |column| self.table(*column));
                    let part = match wanted {
                        true => part.clone(),
                        false => Condition::Not(Box::new(part.clone())),
                    };
                    by_table.entry(table).or_default().push(part);
                }
                false => nodes.push(self.part(part, wanted)?),
            }
        }
        for (table, parts) in by_table {
            let condition = match all {
                true => Condition::All(parts),
                false => Condition::Any(parts),
            };
            nodes.push(self.one(table, &condition)?);
        }
        Ok(match all {
            true => Node::All(nodes),
            false => Node::Any(nodes),
        })
    }

    fn one(&self, table: usize, condition: &Condition) -> Result<Node, QuestionError> {
        let weighed = Weighed::new(&self.held, condition, Total::Records)?;
        let mut scratch = weighed.scratch();
        let truths = (0..self.held.rows()).map(|row| weighed.truth(row, &mut scratch));
        Ok(Node::One(table, truths.collect()))
    }

    /// How many rows of a group satisfy a condition and are among `own` in the table of quasi-identifiers, at
    /// least and at most.
    fn bounds(&self, node: &Node, rows: &std::ops::Range<usize>, own: &[usize]) -> (i64, i64) {
        let count = rows.len() as i64;
        let among = own.len() as i64;
        match node {
            // Rows of the table itself are counted.
            Node::One(0, truths) => counted(truths, own.iter().copied()),
            Node::All(parts) => {
                let has_own = parts.iter().any(|part| matches!(part, Node::One(0, _)));
                let mut bounds: Vec<(i64, i64)> = parts
                    .iter()
                    .map(|part| match part {
                        Node::One(0, truths) => counted(truths, own.iter().copied()),
                        part => anywhere(part, rows),
                    })
                    .collect();
                if !has_own {
                    bounds.push((among, among));
                }
                both(&bounds, count)
            }
            node => both(&[anywhere(node, rows), (among, among)], count),
        }
    }
}

/// How many rows of a group satisfy a condition, at least and at most.
fn anywhere(node: &Node, rows: &std::ops::Range<usize>) -> (i64, i64) {
    let count = rows.len() as i64;
    match node {
        Node::One(_, truths) => counted(truths, rows.clone()),
        Node::All(parts) => {
            let bounds: Vec<(i64, i64)> = parts.iter().map(|part| anywhere(part, rows)).collect();
            both(&bounds, count)
        }
        Node::Any(parts) => {
            let bounds: Vec<(i64, i64)> = parts.iter().map(|part| anywhere(part, rows)).collect();
            let low = bounds.iter().map(|(low, _)| *low).max().unwrap_or(0);
            let high = bounds.iter().map(|(_, high)| *high).sum::<i64>();
            (low, high.min(count))
        }
    }
}

/// Fréchet's bounds: how many of so many rows satisfy all of several conditions.
fn both(bounds: &[(i64, i64)], count: i64) -> (i64, i64) {
    let others = bounds.len().saturating_sub(1) as i64;
    let low = bounds.iter().map(|(low, _)| *low).sum::<i64>() - others * count;
    let high = bounds.iter().map(|(_, high)| *high).min().unwrap_or(count);
    (low.max(0), high)
}

fn counted(truths: &[Truth], rows: impl Iterator<Item = usize>) -> (i64, i64) {
    rows.fold((0, 0), |(low, high), row| {
        let truth = truths[row];
        (
            low + i64::from(truth.certain),
            high + i64::from(truth.possible),
        )
    })
}

/// The least and greatest sum of at least `least` and at most `most` of some numbers, each between two ends.
fn chosen(ends: impl Iterator<Item = (i64, i64)>, least: i64, most: i64) -> (i64, i64) {
    let (mut lows, mut highs): (Vec<i64>, Vec<i64>) = ends.unzip();
    lows.sort_unstable();
    highs.sort_unstable_by(|a, b| b.cmp(a));
    let pick = |numbers: &[i64], gains: fn(i64) -> bool| {
        let numbers = numbers.iter().take(most as usize).enumerate();
        let taken = numbers.filter(|(place, number)| (*place as i64) < least || gains(**number));
        taken.map(|(_, number)| *number).sum()
    };
    (
        pick(&lows, |number| number < 0),
        pick(&highs, |number| number > 0),
    )
}

impl Sum {
    fn add(&mut self, other: &Self) {
        self.low += other.low;
        self.high += other.high;
        self.estimate += other.estimate;
        self.variance += other.variance;
    }

    fn measured(&self) -> Measured {
        Measured {
            low: self.low,
            estimate: self.estimate.clamp(self.low as f64, self.high as f64),
            high: self.high,
            error: self.variance.max(0.0).sqrt(),
        }
    }
}
