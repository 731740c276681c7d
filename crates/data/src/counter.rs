//! Counting rows: the distinct combinations of a table's codes, each with the number of its records.
//!
//! The codes of a row are packed into words, in declared order and most significant first, so that the order
//! of packed rows is the order of their codes, attribute after attribute: one canonical order, whatever
//! counted the rows. Rows are sorted and counted some at a time and merged with those before, so that memory
//! is bounded by the combinations and not by the records.

use std::sync::Arc;

use rayon::prelude::*;

use crate::attribute::{Attribute, Role, Schema};
use crate::domain::Domain;
use crate::table::{Codes, Column, CountsError, Table};

/// Why rows cannot be counted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UncountableError {
    /// A column that has no codes.
    #[error(
        "column `{column}` is free text, which counted rows cannot hold\nhint: give it `values`, a `taxonomy` or a `type`, or leave it out of the study"
    )]
    Text {
        /// The column.
        column: String,
    },
    /// Numbers of records that cannot be.
    #[error(transparent)]
    Counts(#[from] CountsError),
}

/// Counts the rows of a study's attributes as they come.
pub struct Counter {
    schema: Arc<Schema>,
    /// The attributes that are counted, by their positions.
    counted: Vec<usize>,
    rows: Grouped,
    records: u64,
}

/// Rows of codes, grouped and in the order of their codes, column after column.
pub(crate) struct Grouped {
    /// For each column, how many values it has and where they are packed.
    places: Vec<(u32, Place)>,
    runs: Runs,
}

/// Where the code of an attribute stands in a packed row.
#[derive(Debug, Clone, Copy)]
struct Place {
    word: usize,
    shift: u32,
    mask: u64,
}

/// Packed rows, as wide as the study needs.
enum Runs {
    One(Merged<[u64; 1]>),
    Two(Merged<[u64; 2]>),
    Four(Merged<[u64; 4]>),
    Any(Merged<Box<[u64]>>, usize),
}

/// A packed row.
trait Packed: Ord + Send + Sync + Clone + AsRef<[u64]> + AsMut<[u64]> {}
impl<const WORDS: usize> Packed for [u64; WORDS] {}
impl Packed for Box<[u64]> {}

/// Rows that were counted, and those that came since.
struct Merged<K> {
    /// Distinct rows in order, with their counts.
    counted: Vec<(K, u64)>,
    fresh: Vec<(K, u64)>,
}

/// So many rows are counted at a time, or half as many as there are combinations if that is more: then each
/// row is merged a bounded number of times.
const AT_A_TIME: usize = 1 << 22;

/// The first attribute of a schema that counted rows cannot hold: text that is no identifier.
fn uncountable(schema: &Schema) -> Option<&Attribute> {
    let mut attributes = schema.attributes().iter();
    attributes
        .find(|attribute| attribute.role != Role::Identifier && attribute.domain == Domain::Text)
}

impl Counter {
    /// Nothing counted yet. Identifiers are not counted.
    pub fn new(schema: &Arc<Schema>) -> Result<Self, UncountableError> {
        if let Some(attribute) = uncountable(schema) {
            let column = attribute.name.clone();
            return Err(UncountableError::Text { column });
        }
        let attributes = schema.attributes();
        let is_counted = |position: &usize| attributes[*position].role != Role::Identifier;
        let counted: Vec<usize> = (0..attributes.len()).filter(is_counted).collect();
        let size = |position: &usize| attributes[*position].domain.size();
        Ok(Self {
            rows: Grouped::new(counted.iter().map(size)),
            schema: Arc::clone(schema),
            counted,
            records: 0,
        })
    }

    /// Number of records so far.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// Counts rows of these columns, one for each attribute of the schema and equally long but for identifiers,
    /// which may be empty; each row as one record, or as so many.
    pub fn add(&mut self, columns: &[Column], counts: Option<&[u64]>) -> Result<(), CountsError> {
        let codes = self.counted.iter();
        let codes: Vec<&Codes> = codes
            .filter_map(|position| columns[*position].codes())
            .collect();
        let rows = codes.first().map_or(0, |codes| codes.len());
        let added = match counts {
            None => Some(rows as u64),
            Some(counts) => {
                if let Some(row) = counts.iter().position(|count| *count == 0) {
                    return Err(CountsError::Nobody { row: row + 1 });
                }
                let sum = |sum: u64, count: &u64| sum.checked_add(*count);
                counts.iter().try_fold(0, sum)
            }
        };
        let records = added.and_then(|added| self.records.checked_add(added));
        let records = records.filter(|records| *records <= Table::MOST_RECORDS);
        self.records = records.ok_or(CountsError::TooMany)?;
        self.rows.add(&codes, counts);
        Ok(())
    }

    /// The table of the combinations.
    pub fn finish(self) -> Table {
        let (codes, counts) = self.rows.finish();
        let mut codes = codes.into_iter();
        let columns = (0..self.schema.attributes().len()).map(|position| {
            let is_counted = self.counted.contains(&position);
            let codes = is_counted.then(|| codes.next()).flatten();
            codes.map_or(Column::Absent(counts.len()), Column::Coded)
        });
        let columns = columns.collect();
        let table = Table::counted(self.schema, columns, counts);
        table.expect("every count and their sum were checked as they were added")
    }
}

impl Grouped {
    /// No rows yet; columns have so many values each.
    pub(crate) fn new(sizes: impl Iterator<Item = u32>) -> Self {
        let (mut words, mut free) = (0, 0);
        let place = |size: u32| {
            // The codes of a domain lie below its size.
            let bits = u32::BITS - size.saturating_sub(1).leading_zeros();
            if words == 0 || bits > free {
                words += 1;
                free = u64::BITS;
            }
            free -= bits;
            let place = Place {
                word: words - 1,
                // A column of one value takes no bits, at the start of a word none that could be shifted to.
                shift: free.min(u64::BITS - 1),
                mask: (1 << bits) - 1,
            };
            (size, place)
        };
        let places = sizes.map(place).collect();
        let runs = match words {
            0 | 1 => Runs::One(Merged::new()),
            2 => Runs::Two(Merged::new()),
            3 | 4 => Runs::Four(Merged::new()),
            words => Runs::Any(Merged::new(), words),
        };
        Self { places, runs }
    }

    /// Adds rows of these columns, equally long; each row once, or so many times.
    pub(crate) fn add(&mut self, columns: &[&Codes], counts: Option<&[u64]>) {
        let rows = columns.first().map_or(0, |codes| codes.len());
        let places = self.places.iter().map(|(_, place)| *place);
        let placed: Vec<(&Codes, Place)> = columns.iter().copied().zip(places).collect();
        match &mut self.runs {
            Runs::One(runs) => runs.add([0; 1], &placed, counts, rows),
            Runs::Two(runs) => runs.add([0; 2], &placed, counts, rows),
            Runs::Four(runs) => runs.add([0; 4], &placed, counts, rows),
            Runs::Any(runs, words) => runs.add(vec![0; *words].into(), &placed, counts, rows),
        }
    }

    /// The columns of the distinct rows, and how often each came.
    pub(crate) fn finish(self) -> (Vec<Codes>, Vec<u64>) {
        match self.runs {
            Runs::One(runs) => runs.columns(&self.places),
            Runs::Two(runs) => runs.columns(&self.places),
            Runs::Four(runs) => runs.columns(&self.places),
            Runs::Any(runs, _) => runs.columns(&self.places),
        }
    }
}

impl<K: Packed> Merged<K> {
    const fn new() -> Self {
        Self {
            counted: Vec::new(),
            fresh: Vec::new(),
        }
    }

    fn add(&mut self, empty: K, columns: &[(&Codes, Place)], counts: Option<&[u64]>, rows: usize) {
        let mut from = 0;
        while from < rows {
            let most = AT_A_TIME.max(self.counted.len() / 2);
            let to = rows.min(from + most.saturating_sub(self.fresh.len()));
            let start = self.fresh.len();
            match counts {
                Some(counts) => {
                    let counts = counts[from..to].iter();
                    self.fresh
                        .extend(counts.map(|count| (empty.clone(), *count)));
                }
                None => self.fresh.resize(start + to - from, (empty.clone(), 1)),
            }
            let fresh = &mut self.fresh[start..];
            let chunk = fresh.len().div_ceil(rayon::current_num_threads()).max(1);
            let chunks = fresh.par_chunks_mut(chunk).enumerate();
            chunks.for_each(|(number, packed)| {
                let from = from + number * chunk;
                columns
                    .iter()
                    .for_each(|(codes, place)| place.pack(codes, from, packed));
            });
            from = to;
            if self.fresh.len() >= most {
                self.merge();
            }
        }
    }

    /// Counts what came since.
    fn merge(&mut self) {
        let mut fresh = std::mem::take(&mut self.fresh);
        fresh.par_sort_unstable_by(|one, other| one.0.cmp(&other.0));
        fresh.dedup_by(|next, kept| {
            let is_same = next.0 == kept.0;
            kept.1 += u64::from(is_same) * next.1;
            is_same
        });
        if self.counted.is_empty() {
            self.counted = fresh;
            return;
        }
        let before = std::mem::take(&mut self.counted);
        self.counted.reserve_exact(before.len() + fresh.len());
        let (mut before, mut fresh) = (before.into_iter().peekable(), fresh.into_iter().peekable());
        while let (Some(one), Some(other)) = (before.peek(), fresh.peek()) {
            let order = one.0.cmp(&other.0);
            let next = if order.is_gt() {
                fresh.next()
            } else {
                before.next()
            };
            let also = if order.is_eq() { fresh.next() } else { None };
            let also = also.map_or(0, |(_, count)| count);
            self.counted
                .extend(next.map(|(row, count)| (row, count + also)));
        }
        self.counted.extend(before);
        self.counted.extend(fresh);
    }

    /// The columns of the distinct rows, and their counts.
    fn columns(mut self, places: &[(u32, Place)]) -> (Vec<Codes>, Vec<u64>) {
        self.merge();
        let rows = &self.counted;
        let columns = places.par_iter().map(|(size, place)| {
            let codes = rows.iter().map(|(row, _)| place.code(row.as_ref()));
            match Codes::for_size(*size) {
                Codes::U8(_) => Codes::U8(codes.map(|code| code as u8).collect()),
                Codes::U16(_) => Codes::U16(codes.map(|code| code as u16).collect()),
                Codes::U32(_) => Codes::U32(codes.map(|code| code as u32).collect()),
            }
        });
        let columns = columns.collect();
        let counts = rows.iter().map(|(_, count)| *count).collect();
        (columns, counts)
    }
}

impl Place {
    const fn code(self, row: &[u64]) -> u64 {
        (row[self.word] >> self.shift) & self.mask
    }

    /// Puts the codes of a column from this row on into packed rows.
    fn pack<K: Packed>(self, codes: &Codes, from: usize, packed: &mut [(K, u64)]) {
        let put = |(row, code): (&mut (K, u64), u64)| {
            row.0.as_mut()[self.word] |= (code & self.mask) << self.shift;
        };
        match codes {
            Codes::U8(codes) => {
                let codes = codes[from..].iter().map(|code| u64::from(*code));
                packed.iter_mut().zip(codes).for_each(put);
            }
            Codes::U16(codes) => {
                let codes = codes[from..].iter().map(|code| u64::from(*code));
                packed.iter_mut().zip(codes).for_each(put);
            }
            Codes::U32(codes) => {
                let codes = codes[from..].iter().map(|code| u64::from(*code));
                packed.iter_mut().zip(codes).for_each(put);
            }
        }
    }
}
