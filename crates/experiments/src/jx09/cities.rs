//! The setting of JX09 section 5.2: records of six cities at a hundred nodes. Every city has a sixth of the
//! nodes, and within a city people below 25, from 25 to 55 and above 55 have a third of its nodes each.
//!
//! Adult has no city. The six most frequent values of `workclass` stand for the paper's six cities: a
//! quasi-identifier with as many values, one of them far more frequent than the others, as the paper's
//! histogram shows on its logarithmic axis. The few records with another value are left out.

use hedgerow::{Deal, Error as EngineError, Study};

use crate::data::{Dataset, QI8};
use crate::frame::prelude::*;

/// The column whose values stand for cities.
pub(super) const CITY: &str = "workclass";
/// How many cities there are.
pub(super) const CITIES: usize = 6;
/// Section 5.2: n = 100 unless otherwise specified.
pub(super) const SITES: usize = 100;

/// The records of six cities, with ages as whole numbers.
pub(super) fn six_cities(bench: &Bench<'_>) -> Result<Dataset, Error> {
    let adult = bench.data.adult()?.first(bench.pick(3_000, usize::MAX));
    let cities = adult.values(CITY)?;
    let mut counts: Vec<(usize, &str)> = Vec::new();
    for city in &cities {
        match counts.iter_mut().find(|(_, known)| known == city) {
            Some((count, _)) => *count += 1,
            None => counts.push((1, city)),
        }
    }
    counts.sort_unstable_by(|one, other| other.cmp(one));
    counts.truncate(CITIES);
    let is_kept = |row: &usize| counts.iter().any(|(_, city)| *city == cities[*row]);
    let rows: Vec<usize> = (0..adult.rows()).filter(is_kept).collect();
    let ages = adult.values("age")?;
    let ages = || rows.iter().filter_map(|row| ages[*row].parse::<u32>().ok());
    let (youngest, oldest) = (ages().min().unwrap_or(0), ages().max().unwrap_or(0));
    let form = format!("type = \"integer\"\nrange = [{youngest}, {oldest}]");
    Ok(adult.picked(&rows).with_form("age", &form))
}

/// A study of these records as JX09 runs Mondrian: median items on both sides (Algorithm 1, line 8), ranges
/// as the cuts leave them. `alpha` is the weight of width in equation 3.
pub(super) fn study(data: &Dataset, k: u64, l: u64, alpha: f64) -> Result<Study, Error> {
    data.study("jx09")
        .quasi(&QI8)
        .sensitive("salary-class")
        .head("security = \"published\"")
        .require(format!("k = {k}\nsite_diversity = {l}"))
        .algorithm(format!(
            "recode = \"range\"\nmedians = \"relaxed\"\ncovers = \"box\"\nalpha = {alpha}"
        ))
        .build()
}

/// The node of each record, by city and age.
pub(super) fn owners(data: &Dataset, sites: usize, seed: u64) -> Result<Vec<u32>, Error> {
    let coded = data.coded(&study(data, 1, 1, 1.0)?)?;
    let bands = Deal::Bands {
        column: CITY.to_owned(),
        within: String::from("age"),
        at: vec![25, 56],
    };
    let owners = bands.owners(&coded, sites, seed);
    Ok(owners.map_err(EngineError::from)?)
}
