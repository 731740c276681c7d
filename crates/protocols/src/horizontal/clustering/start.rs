//! The random start (TG12 Algorithm 3, steps 1 to 3), the sensitive values dealt evenly (6.1.1), and
//! the splits of large clusters (steps 21 to 24, 6.1.2).
//!
//! # Discloses
//! Sizes, closures and, where the requirement speaks of them, sensitive counts of clusters.

use hedgerow_smc::Party;

use super::super::requirement::Counted;
use super::work::Work;
use super::{CLUSTER_CLOSURES, CLUSTER_SIZES};
use crate::clustering::numbers::{Cluster, Row};
use crate::error::Error;

/// Deals every site's records to clusters, each site as evenly as possible.
pub(super) async fn start(party: &mut Party, work: &mut Work<'_>) -> Result<(), Error> {
    let records = work.table.records();
    let dealt = (work.k() as f64 * work.plan.start).max(1.0);
    let clusters = ((records as f64 / dealt) as usize).clamp(1, records.max(1) as usize);
    let all: Vec<Cluster> = (0..clusters).map(|_| work.open()).collect();
    for speaker in 0..work.speakers.len() {
        let mut rows = work.speakers[speaker].order.clone();
        // Values are dealt one after the other, each evenly.
        rows.sort_by(|a, b| work.values(*a).cmp(work.values(*b)));
        let mut labels = all.clone();
        work.speakers[speaker].generator.shuffle(&mut labels);
        for (place, row) in rows.into_iter().enumerate() {
            work.put(row, labels[place % clusters]);
        }
    }
    let whole = work.whole();
    let mut told = work.ask_sizes(party, CLUSTER_SIZES, &all, &whole).await?;
    if work.clusters.counters() > 0 {
        told = flatten(party, work, &all, told).await?;
    }
    let everything = work.everything();
    let within: Vec<(Cluster, Vec<u64>)> = all
        .iter()
        .map(|cluster| (*cluster, everything.clone()))
        .collect();
    let closures = work.ask_closures(party, CLUSTER_CLOSURES, &within).await?;
    work.clusters.change(|change| {
        for (place, (cluster, closure)) in all.iter().zip(&closures).enumerate() {
            change.set_counts(*cluster, told.sizes[place], told.of_part(place));
            change.set_closure(*cluster, closure);
        }
    });
    Ok(())
}

/// Site after site moves records from clusters that have more of a value than their share to clusters
/// that have less (6.1.1), so that in the end all clusters have about equally many. `told` has the
/// counts of clusters before; returns the counts afterwards.
async fn flatten(
    party: &mut Party,
    work: &mut Work<'_>,
    all: &[Cluster],
    mut told: Counted,
) -> Result<Counted, Error> {
    let whole = work.table.whole();
    let clusters = all.len() as u64;
    for site in 0..work.rows.sites as u32 {
        let speaker = work
            .speakers
            .iter()
            .position(|speaker| speaker.site == site);
        if let Some(speaker) = speaker {
            let mut counts: Vec<Vec<u64>> = (0..all.len())
                .map(|place| told.of_part(place).to_vec())
                .collect();
            let mut waiting: Vec<Cluster> = Vec::new();
            let order = work.speakers[speaker].order.clone();
            // The first sensitive attribute decides; the other attributes follow.
            let value = |work: &Work<'_>, row: Row| work.values(row).first().copied();
            let mut moves: Vec<(Row, Cluster)> = Vec::new();
            let mut by_value: Vec<Row> = order;
            by_value.sort_by_key(|row| value(work, *row));
            for rows in by_value.chunk_by(|a, b| value(work, *a) == value(work, *b)) {
                let Some(value) = rows.first().and_then(|row| value(work, *row)) else {
                    continue;
                };
                let value = value as usize;
                let (low, high) = (whole[value] / clusters, whole[value].div_ceil(clusters));
                waiting.clear();
                let has_less = |cluster: &&Cluster| counts[cluster.index()][value] < low;
                waiting.extend(all.iter().filter(has_less));
                for row in rows {
                    let from = work.cluster_of(*row);
                    if counts[from.index()][value] <= high {
                        continue;
                    }
                    let Some(to) = waiting.last().copied() else {
                        break;
                    };
                    for place in work.values(*row) {
                        counts[from.index()][*place as usize] -= 1;
                        counts[to.index()][*place as usize] += 1;
                    }
                    moves.push((*row, to));
                    if counts[to.index()][value] >= low {
                        waiting.pop();
                    }
                }
            }
            for (row, to) in moves {
                work.relabel(row, to);
            }
        }
        let whole = work.whole();
        told = work.ask_sizes(party, CLUSTER_SIZES, all, &whole).await?;
    }
    Ok(told)
}

/// Splits clusters that have grown too large in two at random, each site its own records; a split
/// that would cost a cluster its diversity is not made.
pub(super) async fn split(party: &mut Party, work: &mut Work<'_>) -> Result<usize, Error> {
    let most = (work.k() as f64 * work.plan.split).max(1.0);
    let large: Vec<Cluster> = work
        .clusters
        .living()
        .filter(|cluster| work.clusters.size(*cluster) as f64 > most)
        .collect();
    if large.is_empty() {
        return Ok(0);
    }
    let mut halves: Vec<Cluster> = Vec::with_capacity(large.len());
    for cluster in &large {
        let half = work.open();
        halves.push(half);
        for speaker in 0..work.speakers.len() {
            let site = work.speakers[speaker].site;
            let own = work.members(*cluster).iter();
            let own = own.filter(|row| work.owner_of(**row) == site);
            let mut rows: Vec<Row> = own.copied().collect();
            // The order in which records came says who else is in the cluster.
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
    let both: Vec<Cluster> = large.iter().chain(&halves).copied().collect();
    let whole = work.known_counts(&large);
    let told = work.ask_sizes(party, CLUSTER_SIZES, &both, &whole).await?;
    let part = |place: usize| (told.sizes[place], told.of_part(place));
    let mut kept: Vec<usize> = Vec::new();
    let mut within: Vec<(Cluster, Vec<u64>)> = Vec::new();
    for (place, (cluster, half)) in large.iter().zip(&halves).enumerate() {
        let other = large.len() + place;
        let is_part_diverse = |place: usize| {
            let (size, counts) = part(place);
            size > 0 && work.is_diverse(size, counts)
        };
        let (size, counts) = (work.clusters.size(*cluster), work.clusters.counts(*cluster));
        let keeps_diversity =
            !work.is_diverse(size, counts) || (is_part_diverse(place) && is_part_diverse(other));
        if keeps_diversity && told.sizes[place] > 0 && told.sizes[other] > 0 {
            let closure = work.clusters.closure(*cluster);
            within.extend([*cluster, *half].map(|part| (part, closure.to_vec())));
            kept.extend([place, other]);
        } else {
            work.relabel_all(*half, *cluster);
        }
    }
    let closures = work.ask_closures(party, CLUSTER_CLOSURES, &within).await?;
    work.clusters.change(|change| {
        for ((cluster, _), place) in within.iter().zip(&kept) {
            let (size, counts) = part(*place);
            change.set_counts(*cluster, size, counts);
        }
        for ((cluster, _), closure) in within.iter().zip(&closures) {
            change.set_closure(*cluster, closure);
            change.place(*cluster);
        }
    });
    Ok(kept.len() / 2)
}
