//! What is left of classes for others when a site, or two that collude, take their own records away (MPRIV
//! section I).
//!
//! One site: each knows its own records of every class and so the share of others' records that it gets below k;
//! the greatest of these shares is opened, in millionths, and not whose it is.
//!
//! Two sites: nobody but they know what they have together. For each pair and class it is asked whether k records
//! are left; then, of a few steps, whether some pair gets a greater share of others' records below k: the records
//! that are left of classes with fewer than k are a sum over all other sites, and so are all others' records.
//!
//! # Discloses
//! To all sites: the greatest share of one site; for each pair and class one bit; for each step one bit. With three
//! sites the bit of a pair and a class speaks of the third site's records.

use hedgerow_smc::{Party, Site, What};

use crate::error::Error;

/// The greatest share of others' records that one site gets below k.
pub const LEFT_BY_ONE: What = What::new(
    "greatest share of others' records that one site gets below k, in millionths",
    "the study: [gate]",
);
/// Classes of which k records are left without two sites.
pub const LEFT: What = What::new(
    "classes of which k records are left without each two sites",
    "the study: [gate]",
);
/// Between which shares of others' records lies what two sites get below k.
pub const LEFT_BY_TWO: What = What::new(
    "whether two sites get more than a few shares of others' records below k",
    "the study: [gate]",
);

const MILLION: u64 = 1_000_000;

/// The shares, in millionths, of which it is asked whether two sites get more of others' records below k; the limit
/// is asked too.
pub const STEPS: [u64; 11] = [
    0, 1_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 300_000, 500_000, 750_000,
];

/// The greatest of all sites' shares, in millionths.
pub async fn by_one(party: &mut Party, own: u64) -> Result<u64, Error> {
    let mut greatest = [Some(own)];
    party
        .maximum(LEFT_BY_ONE, |_| 0..=MILLION, &mut greatest)
        .await?;
    let [greatest] = greatest;
    let greatest = greatest.filter(|greatest| (own..=MILLION).contains(greatest));
    let problem = "a share beyond the whole, or less than this site's";
    Ok(greatest.ok_or_else(|| party.misfit(LEFT_BY_ONE, problem))?)
}

/// The least step, with its greatest share in millionths, that no two sites exceed: what any two get below k of others'
/// records is at most this. Three sites or more. `own` are this site's records of each class, `sizes` those of all
/// sites, `limit` a step of its own.
pub async fn by_two(
    party: &mut Party,
    (own, sizes): (&[u64], &[u64]),
    k: u64,
    limit: u64,
) -> Result<u64, Error> {
    let me = party.me();
    let all: Vec<Site> = Site::all(party.sites()).collect();
    let pairs = all.iter().enumerate().flat_map(|(place, one)| {
        let others = all[place + 1..].iter();
        others.map(move |other| vec![*one, *other])
    });
    let pairs: Vec<Vec<Site>> = pairs.collect();
    // Of a class with fewer than k records no k are left, which all know.
    let asked: Vec<usize> = (0..sizes.len())
        .filter(|class| sizes[*class] >= k)
        .collect();
    let (mut counts, mut bounds, mut without) = (Vec::new(), Vec::new(), Vec::new());
    for (number, pair) in pairs.iter().enumerate() {
        for class in &asked {
            let is_left_out = pair.contains(&me);
            counts.push(if is_left_out { 0 } else { own[*class] });
            bounds.push(sizes[*class]);
            // There are at most half a million pairs.
            without.push(number as u32);
        }
    }
    let mut is_left = vec![false; counts.len()];
    if !is_left.is_empty() {
        party
            .at_least_without(
                LEFT,
                bounds.as_slice(),
                &counts,
                &vec![k; counts.len()],
                (pairs.as_slice(), without.as_slice()),
                &mut is_left,
            )
            .await?;
    }
    let small: u64 = (0..sizes.len())
        .filter(|class| sizes[*class] < k)
        .map(|class| own[class])
        .sum();
    let records: u64 = sizes.iter().sum();
    let mut steps: Vec<u64> = STEPS.iter().copied().chain([limit]).collect();
    steps.sort_unstable();
    steps.dedup();
    let own_records: u64 = own.iter().sum();
    let (mut counts, mut thresholds, mut bounds) = (Vec::new(), Vec::new(), Vec::new());
    for step in &steps {
        for (number, pair) in pairs.iter().enumerate() {
            let is_left = &is_left[number * asked.len()..];
            let below = asked.iter().zip(is_left).filter(|(_, is_left)| !**is_left);
            let below = small + below.map(|(class, _)| own[*class]).sum::<u64>();
            // More than the step: 1,000,000 times what falls exceeds the step times all others' records, which are all
            // records less the pair's.
            counts.push(match pair.contains(&me) {
                true => step * own_records,
                false => MILLION * below,
            });
            thresholds.push(step * records + 1);
            bounds.push((MILLION + step) * records);
        }
    }
    let groups = vec![pairs.len(); steps.len()];
    let mut is_more = vec![false; steps.len()];
    party
        .any_at_least(
            LEFT_BY_TWO,
            bounds.as_slice(),
            &counts,
            &thresholds,
            &groups,
            &mut is_more,
        )
        .await?;
    let mut steps = steps.iter().zip(&is_more);
    let kept = steps.find(|(_, is_more)| !**is_more);
    Ok(kept.map_or(MILLION, |(step, _)| *step))
}
