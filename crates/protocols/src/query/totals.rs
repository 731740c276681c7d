//! Totals of a table's rows, as words that sites can sum.
//!
//! Four words for each total: what the rows add at least, at most, and on average, with the variance. The
//! words of all sites' rows are sums of what each row adds, rounded row by row, so that the sum over sites is
//! the same to the last bit as the total of one table with all rows. How fine they are rounded follows from
//! the records of the table and the domain of the column, which everybody knows.
//!
//! # Discloses
//! Nothing; what becomes of the words is said by who sums them.

use std::collections::HashMap;

use hedgerow_data::{Cell, Domain};

use super::error::QuestionError;
use super::held::Held;
use super::question::{Condition, MOST_TOTALS, Total};
use super::truth::Weighed;

/// Words of a total.
pub const WORDS: usize = 4;
/// The finest rounding, as a power of two: beyond it nothing is gained.
const FINEST: i32 = 40;
/// Bits of a word that numbers may fill; signs and sums of roundings have the rest.
const BITS: i32 = 61;
/// What arithmetic with fractions may take from a number, as a part of it.
const LAST_BITS: f64 = 1e-9;

/// A total of all rows that satisfy a condition.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Measured {
    /// No less than this, whatever values the cells stand for.
    pub low: i64,
    /// What it is if all values of a cell are equally likely and columns independent.
    pub estimate: f64,
    /// No more than this.
    pub high: i64,
    /// The standard deviation of the estimate, under the same assumption.
    pub error: f64,
}

/// The totals of one combination of the columns that a question groups by.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// The cells of the columns.
    pub key: Vec<Cell>,
    /// What was asked for, in the order of the question.
    pub totals: Vec<Measured>,
}

/// What a question asks to be added up: the groups that can be, known to all sites.
#[derive(Debug)]
pub(super) struct Sheet<'h> {
    held: &'h Held,
    of: Vec<Total>,
    scales: Vec<Scale>,
    keys: Keys,
}

/// How the numbers of a total are rounded.
#[derive(Debug, Clone, Copy)]
struct Scale {
    /// What one record adds at least, zero or less.
    least: i64,
    /// What one record adds at most, zero or more.
    greatest: i64,
    /// Estimates are multiples of two to the power of minus this.
    estimate: i32,
    /// Variances likewise.
    variance: i32,
}

/// The combinations of values that a question groups by.
#[derive(Debug)]
struct Keys {
    /// The columns, in the order of the question.
    group_by: Vec<usize>,
    /// Which of them are quasi-identifiers.
    quasi: Vec<usize>,
    /// The combinations of cells that quasi-identifiers have.
    combinations: Vec<Vec<u32>>,
    /// Values of each other column.
    sizes: Vec<(usize, u64)>,
}

impl<'h> Sheet<'h> {
    pub(super) fn new(
        held: &'h Held,
        group_by: &[usize],
        of: &[Total],
    ) -> Result<Self, QuestionError> {
        let scales = of.iter().map(|total| Scale::of(held, *total));
        let sheet = Self {
            held,
            of: of.to_vec(),
            scales: scales.collect::<Result<_, _>>()?,
            keys: Keys::of(held, group_by),
        };
        let totals = sheet.count();
        if totals > MOST_TOTALS {
            let most = MOST_TOTALS;
            return Err(QuestionError::TooManyTotals { totals, most });
        }
        Ok(sheet)
    }

    /// How many totals there are.
    pub(super) fn count(&self) -> u64 {
        self.keys.count().saturating_mul(self.of.len() as u64)
    }

    /// The words of the table's own rows.
    pub(super) fn words(&self, condition: &Condition) -> Result<Vec<u64>, QuestionError> {
        // At most 2^20 totals.
        let mut words = vec![0u64; self.keys.count() as usize * self.of.len() * WORDS];
        let places = self.keys.of_rows(self.held);
        for (index, (total, scale)) in self.of.iter().zip(&self.scales).enumerate() {
            let weighed = Weighed::new(self.held, condition, *total)?;
            let mut scratch = weighed.scratch();
            for (row, place) in places.iter().enumerate() {
                let added = weighed.added(row, &mut scratch);
                let first = (place * self.of.len() + index) * WORDS;
                let rounded = [
                    added.low,
                    added.high,
                    fixed(added.mean, scale.estimate),
                    fixed(added.variance, scale.variance),
                ];
                // Each record adds what it would add by itself.
                let records = self.held.records_of(row);
                for (word, number) in words[first..first + WORDS].iter_mut().zip(rounded) {
                    *word = word.wrapping_add((number as u64).wrapping_mul(records));
                }
            }
        }
        Ok(words)
    }

    /// The totals that words stand for, of the groups that some row may be in; `own` are the words of this
    /// table's own rows. `None` where no rows of the joint table could add up to the words: neither all rows,
    /// nor those of the others, nor those of all groups together, since a row is in one group.
    pub(super) fn read(&self, words: &[u64], own: &[u64]) -> Option<Vec<Group>> {
        let records = self.held.records();
        let of_others = records.checked_sub(self.held.own_records())?;
        let mut groups = Vec::new();
        let mut together = vec![(0i64, 0i64); self.of.len()];
        let width = (self.of.len() * WORDS).max(1);
        let places = words.chunks_exact(width).zip(own.chunks_exact(width));
        for (place, (words, own)) in places.enumerate() {
            let mut totals = Vec::with_capacity(self.of.len());
            let each = words.chunks_exact(WORDS).zip(own.chunks_exact(WORDS));
            for ((words, own), (scale, sum)) in each.zip(self.scales.iter().zip(&mut together)) {
                let others: Vec<u64> = words
                    .iter()
                    .zip(own)
                    .map(|(all, own)| all.wrapping_sub(*own))
                    .collect();
                scale.read(&others, of_others)?;
                let total = scale.read(words, records)?;
                *sum = (
                    sum.0.checked_add(total.low)?,
                    sum.1.checked_add(total.high)?,
                );
                totals.push(total);
            }
            groups.push(Group {
                key: self.keys.cells(self.held, place as u64),
                totals,
            });
        }
        let fits = |((low, high), scale): (&(i64, i64), &Scale)| {
            let (least, most) = scale.of_records(records);
            least <= *low && *high <= most
        };
        together
            .iter()
            .zip(&self.scales)
            .all(fits)
            .then_some(groups)
    }
}

impl Scale {
    fn of(held: &Held, total: Total) -> Result<Self, QuestionError> {
        let domain = |column: usize| &held.schema().attributes()[column].domain;
        let (least, greatest) = match total {
            Total::Records | Total::Present(_) => (0, 1),
            Total::Sum(column) => match domain(column) {
                Domain::Integer(numbers) => {
                    let missing = u32::from(domain(column).missing_code().is_some());
                    let last = domain(column).size().saturating_sub(1 + missing);
                    (numbers.value(0).min(0), numbers.value(last).max(0))
                }
                // A question that sums what is no number is refused before.
                _ => (0, 0),
            },
        };
        let most = least.unsigned_abs().max(greatest.unsigned_abs());
        let bits = |number: u64| (u64::BITS - number.leading_zeros()) as i32;
        let room = BITS - bits(held.records()) - bits(most);
        if room < 0 {
            let column = total.column().unwrap_or(0);
            return Err(QuestionError::TooLarge {
                column: held.schema().attributes()[column].name.clone(),
                records: held.records(),
            });
        }
        Ok(Self {
            least,
            greatest,
            estimate: room.min(FINEST),
            variance: (room - bits(most)).min(FINEST),
        })
    }

    /// The least and the most that so many records add up to. Both are below 2^61, as the scale was chosen.
    const fn of_records(&self, records: u64) -> (i64, i64) {
        let records = records as i64;
        (self.least * records, self.greatest * records)
    }

    /// The total that words stand for, unless no rows of a table of so many records add up to it.
    fn read(&self, words: &[u64], records: u64) -> Option<Measured> {
        let [low, high, estimate, variance] = words else {
            return None;
        };
        let (low, high) = (*low as i64, *high as i64);
        let (least, most) = self.of_records(records);
        if least > low || low > high || high > most {
            return None;
        }
        // Of each record, rounding takes at most half a unit, and arithmetic the last bits of a number.
        let widest = (self.greatest - self.least) as f64;
        let slack = |exponent: i32, number: f64| {
            records as f64 * (power(-exponent) + number.max(1.0) * LAST_BITS)
        };
        let estimate = *estimate as i64 as f64 / power(self.estimate);
        let around = slack(self.estimate, widest);
        let variance = *variance as i64 as f64 / power(self.variance);
        // What lies between two numbers has at most the variance of a coin between them.
        let most_variance =
            (high - low) as f64 * widest / 4.0 + slack(self.variance, widest * widest);
        let fits = (low as f64 - around..=high as f64 + around).contains(&estimate)
            && (0.0..=most_variance).contains(&variance);
        fits.then(|| Measured {
            low,
            estimate: estimate.clamp(low as f64, high as f64),
            high,
            error: variance.sqrt(),
        })
    }
}

impl Keys {
    fn of(held: &Held, group_by: &[usize]) -> Self {
        let is_quasi = |column: &usize| held.is_quasi(*column);
        let quasi: Vec<usize> = group_by.iter().copied().filter(is_quasi).collect();
        let size = |column: usize| u64::from(held.schema().attributes()[column].domain.size());
        let sizes = group_by.iter().filter(|column| !is_quasi(column));
        Self {
            group_by: group_by.to_vec(),
            combinations: held.combinations(&quasi),
            quasi,
            sizes: sizes.map(|column| (*column, size(*column))).collect(),
        }
    }

    fn count(&self) -> u64 {
        let sizes = self.sizes.iter().map(|(_, size)| *size);
        sizes.fold(self.combinations.len() as u64, u64::saturating_mul)
    }

    /// For each row, the place of its combination.
    fn of_rows(&self, held: &Held) -> Vec<usize> {
        let places: HashMap<&[u32], usize> = self
            .combinations
            .iter()
            .enumerate()
            .map(|(place, combination)| (combination.as_slice(), place))
            .collect();
        let quasi: Vec<_> = self
            .quasi
            .iter()
            .filter_map(|column| held.column(*column))
            .collect();
        let others: Vec<_> = self
            .sizes
            .iter()
            .filter_map(|(column, size)| Some((held.column(*column)?, *size)))
            .collect();
        let mut combination = Vec::with_capacity(quasi.len());
        let place = |row: usize| {
            combination.clear();
            combination.extend(quasi.iter().map(|column| column.places[row]));
            // Every row is in a class.
            let place = places.get(combination.as_slice()).copied().unwrap_or(0);
            others.iter().fold(place, |place, (column, size)| {
                let (code, _) = column.cells[column.places[row] as usize].bounds();
                place * *size as usize + code as usize
            })
        };
        (0..held.rows()).map(place).collect()
    }

    /// The cells of a combination, in the order of the question.
    fn cells(&self, held: &Held, mut place: u64) -> Vec<Cell> {
        let mut others: Vec<(usize, Cell)> = Vec::with_capacity(self.sizes.len());
        for (column, size) in self.sizes.iter().rev() {
            let code = (place % size) as u32;
            others.push((*column, Cell::Interval(code, code)));
            place /= size;
        }
        let combination = &self.combinations[place as usize];
        let of_quasi = |column: usize| {
            let at = self.quasi.iter().position(|quasi| *quasi == column)?;
            Some(held.column(column)?.cells[combination[at] as usize].clone())
        };
        let cell = |column: &usize| {
            let mut others = others.iter();
            let other = others.find(|(of, _)| of == column);
            other
                .map(|(_, cell)| cell.clone())
                .or_else(|| of_quasi(*column))
        };
        self.group_by.iter().filter_map(cell).collect()
    }
}

/// Two to a power.
fn power(exponent: i32) -> f64 {
    f64::from(2u8).powi(exponent)
}

/// A number as a multiple of two to the power of minus `exponent`.
fn fixed(number: f64, exponent: i32) -> i64 {
    (number * power(exponent)).round() as i64
}
