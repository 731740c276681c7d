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

/// Counts rows as they come.
pub struct Counter {
    schema: Arc<Schema>,
    places: Vec<Option<Place>>,
    runs: Runs,
    records: u64,
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
        let (mut words, mut free) = (0, 0);
        let place = |attribute: &Attribute| {
            if attribute.role == Role::Identifier {
                return None;
            }
            // The codes of a domain lie below its size.
            let bits = u32::BITS - attribute.domain.size().saturating_sub(1).leading_zeros();
            if words == 0 || bits > free {
                words += 1;
                free = u64::BITS;
            }
            free -= bits;
            Some(Place {
                word: words - 1,
                // An attribute of one value takes no bits, at the end of a word none that could be shifted to.
                shift: free.min(u64::BITS - 1),
                mask: (1 << bits) - 1,
            })
        };
        let places: Vec<Option<Place>> = schema.attributes().iter().map(place).collect();
        let runs = match words {
            0 | 1 => Runs::One(Merged::new()),
            2 => Runs::Two(Merged::new()),
            3 | 4 => Runs::Four(Merged::new()),
            words => Runs::Any(Merged::new(), words),
        };
        Ok(Self {
            schema: Arc::clone(schema),
            places,
            runs,
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
        let rows = columns.iter().map(Column::len).max().unwrap_or(0);
        let mut records = self.records;
        for row in 0..rows {
            let count = counts.map_or(1, |counts| counts[row]);
            if count == 0 {
                return Err(CountsError::Nobody { row: row + 1 });
            }
            let sum = records.checked_add(count);
            let sum = sum.filter(|sum| *sum <= Table::MOST_RECORDS);
            records = sum.ok_or(CountsError::TooMany)?;
        }
        self.records = records;
        let placed = columns.iter().zip(&self.places);
        let placed: Vec<(&Codes, Place)> = placed
            .filter_map(|(column, place)| Some((column.codes()?, (*place)?)))
            .collect();
        match &mut self.runs {
            Runs::One(runs) => runs.add([0; 1], &placed, counts, rows),
            Runs::Two(runs) => runs.add([0; 2], &placed, counts, rows),
            Runs::Four(runs) => runs.add([0; 4], &placed, counts, rows),
            Runs::Any(runs, words) => runs.add(vec![0; *words].into(), &placed, counts, rows),
        }
        Ok(())
    }

    /// The table of the combinations.
    pub fn finish(self) -> Table {
        let (schema, places) = (self.schema, self.places);
        let (columns, counts) = match self.runs {
            Runs::One(runs) => runs.columns(&schema, &places),
            Runs::Two(runs) => runs.columns(&schema, &places),
            Runs::Four(runs) => runs.columns(&schema, &places),
            Runs::Any(runs, _) => runs.columns(&schema, &places),
        };
        let table = Table::counted(schema, columns, counts);
        table.expect("every count and their sum were checked as they were added")
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

    /// The columns of the combinations, and their counts.
    fn columns(mut self, schema: &Schema, places: &[Option<Place>]) -> (Vec<Column>, Vec<u64>) {
        self.merge();
        let rows = &self.counted;
        let attributes = schema.attributes().par_iter().zip(places);
        let columns = attributes.map(|(attribute, place)| match place {
            None => Column::Absent(rows.len()),
            Some(place) => {
                let codes = rows.iter().map(|(row, _)| place.code(row.as_ref()));
                Column::Coded(match Codes::for_size(attribute.domain.size()) {
                    Codes::U8(_) => Codes::U8(codes.map(|code| code as u8).collect()),
                    Codes::U16(_) => Codes::U16(codes.map(|code| code as u16).collect()),
                    Codes::U32(_) => Codes::U32(codes.map(|code| code as u32).collect()),
                })
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
