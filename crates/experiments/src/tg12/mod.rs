//! The figures of TG12, sequential clustering. All of them run at the published level: records are looked
//! at one after the other, and iterations go on until no record moves.
//!
//! The paper does not print its taxonomies (heights 2 to 4), nor at which k its figures are measured beyond
//! the numbers in its text: k = 50 and 100.

mod calls;
mod losses;
mod runs;
mod times;

use crate::data::{CENSUS7, Dataset};
use crate::frame::prelude::*;

/// The figures.
pub(crate) const FAMILIES: &[Family] = &[
    losses::ADULT,
    losses::CENSUS,
    times::FAMILY,
    calls::ADULT,
    calls::CENSUS,
];

/// Section 9: Adult's fourteen quasi-identifiers.
const ADULT14: [&str; 14] = [
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "education-num",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital-gain",
    "capital-loss",
    "hours-per-week",
    "native-country",
];

/// Section 9: the census has 100,000 records.
const CENSUS_RECORDS: usize = 100_000;

/// The quasi-identifiers of Adult that a table has: the synthetic census lacks some.
fn adult_columns(data: &Dataset) -> Vec<&'static str> {
    let mut columns = ADULT14.to_vec();
    columns.retain(|column| data.has(column));
    columns
}

/// A table of the paper: its records, and its quasi-identifiers.
struct Source {
    name: &'static str,
    data: Dataset,
    columns: Vec<&'static str>,
}

impl Source {
    fn adult(bench: &Bench<'_>) -> Result<Self, Error> {
        let data = bench.data.adult14()?.clone();
        Ok(Self {
            name: "Adult",
            columns: adult_columns(&data),
            data,
        })
    }

    fn census(bench: &Bench<'_>) -> Result<Self, Error> {
        Ok(Self {
            name: "Census",
            columns: CENSUS7.to_vec(),
            data: bench.data.census()?.first(CENSUS_RECORDS),
        })
    }
}
