//! The random start (TG12 Algorithm 4, steps 1 and 2) and the splits of large clusters (steps 18 to
//! 21). The pivot draws them: it tells all sites what from, and every site draws the same.
//!
//! # Discloses
//! To all sites, random words, and whether the halves of a split satisfy the requirement.

use hedgerow_smc::{Generator, Party, Seed};

use super::RANDOM;
use super::work::{PIVOT, Work};
use crate::Error;

/// Deals the records to clusters of about the same size.
pub(super) async fn start(party: &mut Party, work: &mut Work<'_>) -> Result<(), Error> {
    let mut words = [0; 4];
    if party.me() == PIVOT {
        words = words.map(|_: u64| work.generator.next_u64());
    }
    party.sum(RANDOM, &mut words).await?;
    let mut seed = [0; 32];
    for (bytes, word) in seed.chunks_exact_mut(8).zip(words) {
        bytes.copy_from_slice(&word.to_le_bytes());
    }
    work.generator = Generator::new(&Seed::new(seed));
    let records = work.rows();
    let dealt = (work.k() as f64 * work.plan.start).max(1.0);
    let clusters = ((records as f64 / dealt) as usize).clamp(1, records.max(1));
    let mut rows: Vec<u32> = (0..records as u32).collect();
    work.generator.shuffle(&mut rows);
    for cluster in 0..clusters {
        let dealt = rows.iter().skip(cluster).step_by(clusters);
        work.open(dealt.copied().collect());
    }
    Ok(())
}

/// Splits clusters that have grown too large in two at random, but for splits that would cost a
/// cluster what it satisfies. Gives how many were split.
pub(super) async fn split(party: &mut Party, work: &mut Work<'_>) -> Result<u64, Error> {
    let most = (work.k() as f64 * work.plan.split_above).max(1.0);
    let is_large = |cluster: &usize| work.clusters.sizes[*cluster] as f64 > most;
    let large: Vec<usize> = work.clusters.living().filter(is_large).collect();
    let mut halves: Vec<Vec<u32>> = Vec::with_capacity(large.len());
    for cluster in &large {
        let mut rows = work.members(*cluster).to_vec();
        work.generator.shuffle(&mut rows);
        rows.truncate(rows.len() / 2);
        halves.push(rows);
    }
    let pairs = halves.iter().zip(&large);
    let mut agreed: Vec<bool> = pairs
        .map(|(half, cluster)| work.may_part(half, *cluster))
        .collect();
    work.agree(party, &mut agreed).await?;
    work.clock += 1;
    let mut splits = 0;
    for ((half, cluster), agreed) in halves.iter().zip(large).zip(agreed) {
        if agreed {
            work.part(half, cluster);
            splits += 1;
        }
    }
    Ok(splits)
}
