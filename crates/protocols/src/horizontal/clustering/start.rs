//! The random start (TG12 Algorithm 3, steps 1 to 3), the sensitive values dealt evenly (6.1.1), and
//! the splits of large clusters (steps 21 to 24, 6.1.2).
//!
//! # Discloses
//! Sizes, closures and, where the requirement speaks of them, sensitive counts of clusters.

use hedgerow_smc::Party;

use super::CLUSTER_CLOSURES;
use super::flatten::{flatten, level};
use super::work::Work;
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
        rows.sort_by(|a, b| work.dealt_by(*a).cmp(work.dealt_by(*b)));
        let mut labels = all.clone();
        work.speakers[speaker].generator.shuffle(&mut labels);
        for (place, row) in rows.into_iter().enumerate() {
            work.put(row, labels[place % clusters]);
        }
    }
    let whole = work.whole();
    let mut told = work.ask_sizes(party, work.sizes(), &all, &whole).await?;
    // A sum for each size, and one for all sensitive counts.
    work.calls += all.len() as u64 + u64::from(work.clusters.counters() > 0);
    if work.clusters.counters() > 0 {
        let group: Vec<usize> = (0..all.len()).collect();
        told = flatten(party, work, (&all, &[group]), told, &whole).await?;
    }
    let everything = work.everything();
    let has_records = |place: &usize| told.sizes[*place] > 0;
    let within: Vec<(Cluster, Vec<u64>)> = (0..clusters)
        .filter(has_records)
        .map(|place| (all[place], everything.clone()))
        .collect();
    let mut closures = work
        .ask_closures(party, CLUSTER_CLOSURES, &within)
        .await?
        .into_iter();
    work.clusters.change(|change| {
        for (place, cluster) in all.iter().enumerate() {
            change.set_counts(*cluster, told.sizes[place], told.of_part(place));
            let closure = Some(place)
                .filter(has_records)
                .and_then(|_| closures.next());
            change.set_closure(*cluster, closure.as_deref().unwrap_or(&everything));
        }
    });
    let living: Vec<Cluster> = work.clusters.living().collect();
    work.ask_hidden(party, &living).await
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
            rows.sort_by(|a, b| work.dealt_by(*a).cmp(work.dealt_by(*b)));
            for row in rows.into_iter().skip(turn).step_by(2) {
                work.relabel(row, half);
            }
        }
    }
    let both: Vec<Cluster> = large.iter().chain(&halves).copied().collect();
    let whole = work.known_counts(&large);
    let mut told = work.ask_sizes(party, work.sizes(), &both, &whole).await?;
    // For each split a sum for each of the two sizes, and one for their sensitive counts.
    work.calls += large.len() as u64 * (2 + u64::from(work.clusters.counters() > 0));
    if work.plan.is_printed && work.clusters.counters() > 0 {
        let pairs: Vec<Vec<usize>> = (0..large.len())
            .map(|place| vec![place, large.len() + place])
            .collect();
        told = flatten(party, work, (&both, &pairs), told, &whole).await?;
        let pairs: Vec<[usize; 2]> = (0..large.len())
            .map(|place| [place, large.len() + place])
            .collect();
        told = level(party, work, (&both, &pairs), told, &whole).await?;
    }
    let holds = hold_apart(party, work, (&both, &told.sizes)).await?;
    let part = |place: usize| (told.sizes[place], told.of_part(place));
    let mut kept: Vec<usize> = Vec::new();
    let mut within: Vec<(Cluster, Vec<u64>)> = Vec::new();
    for (place, (cluster, half)) in large.iter().zip(&halves).enumerate() {
        let other = large.len() + place;
        let is_part_diverse = |place: usize| {
            let (size, counts) = part(place);
            size > 0 && holds[place] && work.is_diverse(size, counts)
        };
        let (size, counts) = (work.clusters.size(*cluster), work.clusters.counts(*cluster));
        let is_held = work
            .hidden
            .as_ref()
            .is_none_or(|hidden| hidden.holds(*cluster));
        let is_diverse = is_held && work.is_diverse(size, counts);
        let keeps_diversity = !is_diverse || (is_part_diverse(place) && is_part_diverse(other));
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
    if let Some(hidden) = &mut work.hidden {
        for ((cluster, _), place) in within.iter().zip(&kept) {
            hidden.set(*cluster, holds[*place]);
        }
    }
    Ok(kept.len() / 2)
}

/// Where counts are hidden, which parts of these sizes satisfy the demands on them.
async fn hold_apart(
    party: &mut Party,
    work: &mut Work<'_>,
    (parts, sizes): (&[Cluster], &[u64]),
) -> Result<Vec<bool>, Error> {
    let trials = parts.iter().zip(sizes);
    let trials = trials.map(|(part, size)| (*size, work.members(*part).to_vec()));
    let trials: Vec<(u64, Vec<Row>)> = trials.collect();
    work.ask_trials(party, &trials).await
}
