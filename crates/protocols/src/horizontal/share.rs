//! Whether no site brings too much of all records, asked before a run goes on.
//!
//! A site that contributes most of the table decides most of its classes, and can single out a person
//! whom it surrounds with its own records. `accept.maximum_share` bounds a site's share: each site is
//! asked whether its records are at most p/q of all, that is whether p times the records of all sites
//! less q times its own are at least 0. Every site adds its own summand; the site that is asked about
//! adds q - p times the most records that a site may have, known to all, so that no summand is negative.
//! All sites' questions go in one call.
//!
//! At the published level a comparison of three sites or more sends a hash for every number below its
//! bound, which is far too many here, so the question is not asked at that level.
//!
//! # Discloses
//! To all sites: for each site one bit, whether the site holds at most that share; no site's number of
//! records.

use hedgerow_smc::{Party, Security, What};

use crate::error::Error;

/// Whether each site holds at most the share of all records that the sites agreed on.
pub const SHARES: What = What::new(
    "which sites hold more than the agreed share of all records",
    "accept.maximum_share of a site",
);

/// What the question about shares may disclose among so many sites. Any site may set an
/// `accept.maximum_share`, which the others learn when the run begins.
pub fn discloses(sites: usize, security: Security) -> Option<What> {
    let is_asked = sites == 2 || (sites > 2 && security == Security::Hardened);
    is_asked.then_some(SHARES)
}

pub use crate::error::MOST_RECORDS;
/// The largest denominator of a share: up to this denominator the sums of 1,000 sites fit a comparison.
pub const LARGEST_DENOMINATOR: u64 = 1_000_000;

/// For each site, whether the site holds at most this share of all records: a fraction above 0 and at
/// most 1, the same at all sites.
///
/// # Discloses
/// To all sites: these bits.
pub async fn within_share(
    party: &mut Party,
    own_records: u64,
    (numerator, denominator): (u64, u64),
) -> Result<Vec<bool>, Error> {
    let sites = party.sites();
    if party.settings().security == Security::Published && sites > 2 {
        return Err(Error::ShareUnasked);
    }
    let is_share = 0 < numerator && numerator <= denominator;
    if !is_share || denominator > LARGEST_DENOMINATOR || own_records > MOST_RECORDS {
        return Err(Error::Share {
            numerator,
            denominator,
            records: own_records,
        });
    }
    // Small bounds are cheap.
    let factor = common_factor(numerator, denominator);
    let (numerator, denominator) = (numerator / factor, denominator / factor);
    let rest = denominator - numerator;
    let me = party.me().index();
    let own = |site: usize| match site == me {
        true => rest * (MOST_RECORDS - own_records),
        false => numerator * own_records,
    };
    let counts: Vec<u64> = (0..sites).map(own).collect();
    let thresholds = vec![rest * MOST_RECORDS; sites];
    // A sum is at most this number, which stays below 2^62 for the at most 1,000 sites of a run.
    let bound = MOST_RECORDS * (rest + numerator * (sites as u64 - 1));
    let mut answers = vec![false; sites];
    party
        .at_least(SHARES, bound, &counts, &thresholds, &mut answers)
        .await?;
    Ok(answers)
}

/// Euclid's; neither is 0.
const fn common_factor(first: u64, second: u64) -> u64 {
    let (mut first, mut second) = (first, second);
    while second > 0 {
        (first, second) = (second, first % second);
    }
    first
}
