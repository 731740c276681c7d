//! The random start (TG12 Algorithm 3, steps 1 to 3), the sensitive values dealt evenly (6.1.1), and
//! the splits of large clusters (steps 21 to 24, 6.1.2).
//!
//! # Discloses
//! Sizes, closures and, where the requirement speaks of them, sensitive counts of clusters.

use hedgerow_smc::Party;

use super::flatten::flatten;
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
        let group: Vec<usize> = (0..all.len()).collect();
        told = flatten(party, work, (&all, &[group]), told, &whole).await?;
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
    let mut told = work.ask_sizes(party, CLUSTER_SIZES, &both, &whole).await?;
    if work.plan.flattens_splits && work.clusters.counters() > 0 {
        let pairs: Vec<Vec<usize>> = (0..large.len())
            .map(|place| vec![place, large.len() + place])
            .collect();
        told = flatten(party, work, (&both, &pairs), told, &whole).await?;
    }
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
