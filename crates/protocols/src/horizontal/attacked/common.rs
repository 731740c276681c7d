//! Which groups of records that several releases tell apart have at least k records of all sites (Ganta et al.
//! 2008), and which earlier releases all sites have to look at.
//!
//! # Discloses
//! To all sites: for each group one bit, whether it has k records, and for each earlier release one more, whether so
//! many people are put beside it that fewer than k of the release may be in it; for each class of the release one
//! bit, whether k records are put into it; the sums that follow; for each earlier release one bit, whether every
//! site has it.

use hedgerow_smc::{Party, What};

use crate::error::Error;

/// Groups with at least k records.
pub const COMMON: What = What::new(
    "intersections of classes of several releases that have at least k records",
    "the study: [gate]",
);
/// Groups that may have fewer than k records of an earlier release.
pub const CROWDED: What = What::new(
    "intersections that may have fewer than k records of an earlier release, since others fit its classes too",
    "the study: [gate]",
);
/// Classes of the release with at least k records.
pub const ALONE: What = What::new(
    "classes of the release that at least k records fit best",
    "the study: [gate]",
);
/// How many records are in groups with fewer.
pub const JOINED: What = What::new(
    "records that are in all releases, and those in intersections of fewer than k, surely or maybe, and in classes that fewer than k fit",
    "the study: [gate]",
);
/// Which earlier releases every site has.
pub const RELEASES: What = What::new(
    "which earlier releases of the study every site has",
    "the study: [gate]",
);

/// For each group, whether all sites together have at least this many records in it. `own` are this site's records.
pub async fn enough(
    party: &mut Party,
    what: What,
    own: &[u64],
    thresholds: &[u64],
) -> Result<Vec<bool>, Error> {
    let mut answers = vec![false; own.len()];
    if own.is_empty() {
        return Ok(answers);
    }
    // More than the threshold say no more than that many do, and small bounds are cheap.
    let own = own.iter().zip(thresholds);
    let capped: Vec<u64> = own
        .map(|(records, threshold)| (*records).min(*threshold))
        .collect();
    let sites = party.sites() as u64;
    let bounds: Vec<u64> = thresholds
        .iter()
        .map(|threshold| threshold.saturating_mul(sites))
        .collect();
    party
        .at_least(what, bounds.as_slice(), &capped, thresholds, &mut answers)
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
