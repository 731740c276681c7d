//! The figures of TG12, sequential clustering. All of them run at the published level: records are looked
//! at one after the other, and iterations go on until no record moves.
//!
//! The paper does not print its taxonomies (heights 2 to 4), nor at which k its figures are measured beyond
//! the numbers in its text: k = 50 and 100.

mod calls;
mod losses;
mod runs;
mod times;

use crate::data::{ADULT14_COLUMNS, CENSUS7, Dataset};
use crate::frame::prelude::*;

/// The figures.
pub(crate) const FAMILIES: &[Family] = &[
    losses::ADULT,
    losses::CENSUS,
    times::FAMILY,
    calls::ADULT,
    calls::CENSUS,
];

/// Section 9: the census has 100,000 records.
const CENSUS_RECORDS: usize = 100_000;

/// The quasi-identifiers of Adult that a table has: the synthetic census lacks some.
fn adult_columns(data: &Dataset) -> Vec<&'static str> {
    // Section 9: Adult's fourteen quasi-identifiers; the class is none.
    let mut columns = ADULT14_COLUMNS[..14].to_vec();
    columns.retain(|column| data.has(column));
    columns
}

/// A table of the paper, or the synthetic census in its place: its records, and its quasi-identifiers.
struct Source {
    name: &'static str,
    is_adult: bool,
    data: Dataset,
    columns: Vec<&'static str>,
}

impl Source {
    fn adult(bench: &Bench<'_>) -> Result<Self, Error> {
        let data = bench.data.adult14()?.clone();
        Ok(Self {
            name: match data.is_real() {
                true => "Adult",
                false => "synthetic census for Adult",
            },
            is_adult: true,
            columns: adult_columns(&data),
            data,
        })
    }

    fn census(bench: &Bench<'_>) -> Result<Self, Error> {
        let data = bench.data.census()?.first(CENSUS_RECORDS);
        Ok(Self {
            name: match data.is_real() {
                true => "Census",
                false => "synthetic census",
            },
            is_adult: false,
            columns: CENSUS7.to_vec(),
            data,
        })
    }
}

/// SMC calls of the published vertical form on these many records of Adult with all its attributes, and how
/// many attributes these are: what TG12's estimate of time is made from.
pub(crate) fn calls_of_columns(
    bench: &Bench<'_>,
    records: usize,
    k: u64,
) -> Result<(u64, usize), Error> {
    let mut source = Source::adult(bench)?;
    source.data = source.data.first(records);
    let found = runs::Coded::new(&source, k, "lm")?.sequential_of_columns(bench.seed)?;
    Ok((found.published_calls, source.columns.len()))
}
