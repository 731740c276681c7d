//! Which values of ordered quasi-identifiers are rare, from either end: the values of so many records lie at or
//! beyond a value that is searched for by comparisons, as medians are.
//!
//! # Discloses
//! To all sites, for each attribute the value of this rank from below and that from above.

use hedgerow_smc::order::Rank;
use hedgerow_smc::{Party, What};

use crate::error::Error;

/// The values beyond which few records lie.
pub const RARE: What = What::new(
    "values of quasi-identifiers below and above which one record in 300 lies, or fewer than k",
    "the study: [gate]",
);

/// For each attribute, with so many values, the value of a rank among all sites' records from below and from
/// above; nothing where fewer records have a value. `at_most` counts this site's records at or below a value,
/// `at_least` those at or above.
pub async fn ranked(
    party: &mut Party,
    (rank, records): (u64, u64),
    values: &[u32],
    at_most: impl Fn(usize, u32) -> u64,
    at_least: impl Fn(usize, u32) -> u64,
) -> Result<Vec<Option<(u32, u32)>>, Error> {
    let questions: Vec<Rank> = values
        .iter()
        .flat_map(|values| {
            let last = u64::from(values.saturating_sub(1));
            [0, 1].map(|_| Rank {
                rank,
                domain: 0..=last,
            })
        })
        .collect();
    let mut answers = vec![None; questions.len()];
    // From above, the last value is the first.
    let count = |question: usize, value: u64| {
        let attribute = question / 2;
        // A domain has at most 2^32 values.
        match question.is_multiple_of(2) {
            true => at_most(attribute, value as u32),
            false => at_least(attribute, values[attribute] - 1 - value as u32),
        }
    };
    party
        .kth(RARE, records, &questions, count, &mut answers)
        .await?;
    let both = answers.chunks_exact(2).zip(values);
    let found = both.map(|(ends, values)| {
        let (least, from_above) = ends[0].zip(ends[1])?;
        // The search answers within the domain.
        Some((least as u32, values - 1 - from_above as u32))
    });
    Ok(found.collect())
}
