//! Which groups of records that several releases tell apart have at least k records of all sites (Ganta et al.
//! 2008), and which earlier releases all sites have to look at.
//!
//! # Discloses
//! To all sites: for each group one bit, whether it has k records; for each earlier release one bit, whether every site
//! has it.

use hedgerow_smc::{Party, What};

use crate::error::Error;

/// Groups with at least k records.
pub const COMMON: What = What::new(
    "intersections of classes of several releases that have at least k records",
    "the study: [gate]",
);
/// How many records are in groups with fewer.
pub const JOINED: What = What::new(
    "records that are in all releases, and those in intersections of fewer than k",
    "the study: [gate]",
);
/// Which earlier releases every site has.
pub const RELEASES: What = What::new(
    "which earlier releases of the study every site has",
    "the study: [gate]",
);

/// For each group, whether all sites together have at least k records in it. `own` are this site's records.
pub async fn enough(party: &mut Party, k: u64, own: &[u64]) -> Result<Vec<bool>, Error> {
    let mut answers = vec![false; own.len()];
    if own.is_empty() {
        return Ok(answers);
    }
    // More than k say no more than k do, and small bounds are cheap.
    let capped: Vec<u64> = own.iter().map(|records| (*records).min(k)).collect();
    let bound = k.saturating_mul(party.sites() as u64);
    let thresholds = vec![k; own.len()];
    party
        .at_least(COMMON, bound, &capped, &thresholds, &mut answers)
        .await?;
    Ok(answers)
}

/// For each earlier release, whether every site has it.
pub async fn have_all(party: &mut Party, own: &[bool]) -> Result<Vec<bool>, Error> {
    let mut bits = own.to_vec();
    if !bits.is_empty() {
        party.all(RELEASES, &mut bits).await?;
    }
    Ok(bits)
}
