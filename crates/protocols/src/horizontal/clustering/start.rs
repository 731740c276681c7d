//! The random start (TG12 Algorithm 3, steps 1 to 3), the sensitive values dealt evenly (6.1.1), and
//! the splits of large clusters (steps 21 to 24, 6.1.2).
//!
//! # Discloses
//! Sizes, closures and, where the requirement speaks of them, sensitive counts of clusters.

use hedgerow_smc::Party;

use super::work::Work;
use super::{CLOSURES, SIZES};
use crate::Error;
use crate::clustering::search::Search;

/// Deals every site's records to clusters, each site as evenly as it can.
pub(super) async fn start(party: &mut Party, work: &mut Work<'_>) -> Result<(), Error> {
    let records = work.table.records();
    let dealt = (work.k() as f64 * work.plan.start).max(1.0);
    let clusters = ((records as f64 / dealt) as usize).clamp(1, records.max(1) as usize);
    (0..clusters).for_each(|_| {
        work.open();
    });
    for speaker in 0..work.speakers.len() {
        let mut rows = work.speakers[speaker].order.clone();
        // Values one after the other: each is dealt evenly.
        rows.sort_by(|a, b| work.values(*a).cmp(work.values(*b)));
        let mut labels: Vec<usize> = (0..clusters).collect();
        work.speakers[speaker].generator.shuffle(&mut labels);
        for (place, row) in rows.into_iter().enumerate() {
            work.put(row, labels[place % clusters]);
        }
    }
    let all: Vec<usize> = (0..clusters).collect();
    let whole = work.whole();
    work.ask_sizes(party, SIZES, &all, &whole).await?;
    if work.clusters.counters() > 0 {
        flatten(party, work, &all).await?;
    }
    let everything = work.everything();
    let all: Vec<(usize, Vec<u64>)> = all
        .into_iter()
        .map(|cluster| (cluster, everything.clone()))
        .collect();
    work.ask_closures(party, CLOSURES, &all).await?;
    work.search = Search::new(work.shapes, &work.clusters);
    Ok(())
}

/// Site after site moves records from clusters that have more of a value than their share to such
/// that have less (6.1.1), so that in the end all clusters have about as many of it.
async fn flatten(party: &mut Party, work: &mut Work<'_>, all: &[usize]) -> Result<(), Error> {
    let whole = work.table.whole();
    let clusters = all.len() as u64;
    for site in 0..work.rows.sites as u32 {
        let speaker = work
            .speakers
            .iter()
            .position(|speaker| speaker.site == site);
        if let Some(speaker) = speaker {
            let mut counts: Vec<Vec<u64>> = all
                .iter()
                .map(|cluster| work.clusters.counts(*cluster).to_vec())
                .collect();
            let mut waiting: Vec<usize> = Vec::new();
            let order = work.speakers[speaker].order.clone();
            // The first sensitive attribute decides; the others are dealt with it.
            let value = |work: &Work<'_>, row: u32| work.values(row).first().copied();
            let mut moves: Vec<(u32, usize)> = Vec::new();
            let mut by_value: Vec<u32> = order;
            by_value.sort_by_key(|row| value(work, *row));
            for rows in by_value.chunk_by(|a, b| value(work, *a) == value(work, *b)) {
                let Some(value) = rows.first().and_then(|row| value(work, *row)) else {
                    continue;
                };
                let value = value as usize;
                let (low, high) = (whole[value] / clusters, whole[value].div_ceil(clusters));
                waiting.clear();
                waiting.extend(all.iter().filter(|cluster| counts[**cluster][value] < low));
                for row in rows {
                    let from = work.cluster_of(*row);
                    if counts[from][value] <= high {
                        continue;
                    }
                    let Some(to) = waiting.last().copied() else {
                        break;
                    };
                    for place in work.values(*row) {
                        counts[from][*place as usize] -= 1;
                        counts[to][*place as usize] += 1;
                    }
                    moves.push((*row, to));
                    if counts[to][value] >= low {
                        waiting.pop();
                    }
                }
            }
            for (row, to) in moves {
                work.relabel(row, to);
            }
        }
        let whole = work.whole();
        work.ask_sizes(party, SIZES, all, &whole).await?;
    }
    Ok(())
}

/// Splits clusters that have grown too large in two at random, each site its own records; a split
/// that would cost a cluster its diversity is not made.
pub(super) async fn split(party: &mut Party, work: &mut Work<'_>) -> Result<usize, Error> {
    let most = (work.k() as f64 * work.plan.split).max(1.0);
    let large: Vec<usize> = work
        .clusters
        .living()
        .filter(|cluster| work.clusters.sizes[*cluster] as f64 > most)
        .collect();
    if large.is_empty() {
        return Ok(0);
    }
    let first = work.clusters.len();
    for cluster in &large {
        let half = work.open();
        for speaker in 0..work.speakers.len() {
            let site = work.speakers[speaker].site;
            let own = work.members(*cluster).iter();
            let own = own.filter(|row| work.rows.owner_of(**row) == site);
            let mut rows: Vec<u32> = own.copied().collect();
            // The order in which they came says who else is in the cluster.
            rows.sort_unstable();
            let generator = &mut work.speakers[speaker].generator;
            generator.shuffle(&mut rows);
            let turn = generator.below(2) as usize;
            rows.sort_by(|a, b| work.values(*a).cmp(work.values(*b)));
            for row in rows.into_iter().skip(turn).step_by(2) {
                work.relabel(row, half);
            }
        }
    }
    let before: Vec<(u64, Vec<u64>)> = large
        .iter()
        .map(|cluster| {
            let counts = work.clusters.counts(*cluster).to_vec();
            (work.clusters.sizes[*cluster], counts)
        })
        .collect();
    let halves: Vec<usize> = (first..work.clusters.len()).collect();
    let both: Vec<usize> = large.iter().chain(&halves).copied().collect();
    let whole = work.known_counts(&large);
    work.ask_sizes(party, SIZES, &both, &whole).await?;
    let mut changed = Vec::new();
    let mut splits = 0;
    for ((cluster, half), (size, counts)) in large.iter().zip(&halves).zip(before) {
        let part = |cluster: usize| {
            let (size, counts) = (work.clusters.sizes[cluster], work.clusters.counts(cluster));
            size > 0 && work.is_diverse(size, counts)
        };
        let keeps = !work.is_diverse(size, &counts) || (part(*cluster) && part(*half));
        let within = work.clusters.closure(*cluster).to_vec();
        if keeps && work.clusters.sizes[*half] > 0 && work.clusters.sizes[*cluster] > 0 {
            changed.push((*cluster, within.clone()));
            changed.push((*half, within));
            splits += 1;
        } else {
            work.relabel_all(*half, *cluster);
            work.clusters.sizes[*half] = 0;
            work.clusters.counts_mut(*half).fill(0);
            work.clusters.sizes[*cluster] = size;
            work.clusters.counts_mut(*cluster).copy_from_slice(&counts);
        }
    }
    work.ask_closures(party, CLOSURES, &changed).await?;
    Ok(splits)
}
