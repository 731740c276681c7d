//! Alignment: which of a site's records do all sites hold, and in which common order? (D2PT section
//! 3.1 assumes a common identifier; Agrawal, Evfimievski and Srikant, SIGMOD 2003.)
//!
//! Each site makes a key of each of its records, by the rules of the study, and refuses its own table
//! where two records have the same key. The record keys are compared under the encryption keys of all
//! sites; common records stand in the order of ciphertexts, which no site controls.
//!
//! # Discloses
//! To each site, which of its own records all sites hold ([`COMMON`]), hence how many are common. On the
//! way, as [`hedgerow_smc::align`] says: to all sites the number of records of each, and to the
//! comparing site how many records which sites share.

use hedgerow_data::Table;
use hedgerow_data::study::Identity;
use hedgerow_smc::align::{OVERLAPS, SIZES};
use hedgerow_smc::{Party, What};

use crate::error::Error;

/// The most people whom a site may bring: at 32 bytes each, a peer that claims so many can make this
/// site receive half a gigabyte, and not eight.
const MOST_PEOPLE: usize = 1 << 24;

/// The records that all sites hold.
pub const COMMON: What = What::new(
    "which of a site's records all sites hold",
    "the study: the same people at every site",
);

/// Everything that [`align`] may disclose to a site.
pub const fn discloses() -> [What; 3] {
    [COMMON, SIZES, OVERLAPS]
}

/// The places of this site's records that all sites hold, in one order at every site.
pub async fn align(
    party: &mut Party,
    identity: &Identity,
    table: &Table,
) -> Result<Vec<u32>, Error> {
    let keys = identity.keys(table)?;
    let keys: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
    let mut common = Vec::new();
    party.align(COMMON, MOST_PEOPLE, &keys, &mut common).await?;
    if common.is_empty() {
        return Err(Error::NobodyInCommon {
            records: table.rows(),
        });
    }
    Ok(common.into_iter().map(|place| place as u32).collect())
}

/// Records that all sites hold in the order of their identifiers, which every site has: one party with
/// everybody's columns then has the records in the order that many sites have.
pub fn by_identifier(
    identity: &Identity,
    table: &Table,
    mut rows: Vec<u32>,
) -> Result<Vec<u32>, Error> {
    let keys = identity.keys(table)?;
    rows.sort_unstable_by(|a, b| keys[*a as usize].cmp(&keys[*b as usize]));
    Ok(rows)
}
