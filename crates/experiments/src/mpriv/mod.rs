//! The figures of MPRIV, m-privacy: what it costs to verify a group against colluding sites (`group.rs`,
//! figures 6 to 8), and what anonymization against them costs and loses (`anonymized.rs`, figures 9
//! to 12).
//!
//! Table II of the paper, with its defaults, is lost in print. k = 15 is named in its section V.C; with
//! distinct l = 4 and a weight of diversity of 0.3 the average fitness of its two groups comes near the
//! 0.867 and 2.307 that it prints.

mod anonymized;
mod group;

use hedgerow::Study;
use hedgerow::data::Table;
use hedgerow::{Deal, Error as EngineError};

use crate::data::{Dataset, OCC};
use crate::frame::prelude::*;

/// The figures.
pub(crate) const FAMILIES: &[Family] = &[
    group::FAMILY,
    anonymized::COLLUDERS,
    anonymized::RECORDS,
    anonymized::ADAPTIVE,
    anonymized::CONSTRAINTS,
];

/// Records of a class.
const K: u64 = 15;
/// Distinct occupations of a class.
const L: u64 = 4;

/// The sensitive attribute (section V.A).
const SENSITIVE: &str = "occupation";

/// A study of these records in which occupation is sensitive.
fn study(records: &Dataset, require: &str, algorithm: &str) -> Result<Study, Error> {
    records
        .study("mpriv")
        .head("security = \"published\"")
        .quasi(&OCC)
        .sensitive(SENSITIVE)
        .require(require)
        .algorithm(algorithm)
        .build()
}

/// The site of each record: at random, with sizes of an exponential distribution (section V.A).
fn owners(table: &Table, sites: usize, seed: u64) -> Result<Vec<u32>, Error> {
    let owners = Deal::Exponential.owners(table, sites, seed);
    Ok(owners.map_err(EngineError::from)?)
}
