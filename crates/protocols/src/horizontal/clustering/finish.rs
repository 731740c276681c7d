//! From the end of the main loop to clusters that satisfy the requirement, with less loss than by
//! merging: the size that clusters must have grows step by step; at the last step clusters that are too
//! small are filled with records of larger ones; at each step clusters that are still too small are
//! dissolved or united, narrower ones are opened where that saves, and records move on; at the last step,
//! records in clusters that may not be smaller change places. Then clusters grow again, first all together,
//! later region by region (`regions`): a change that saves in one region is kept whatever others lose.
//!
//! # Discloses
//! As `trial`, `boxes` and `turn` say.

use hedgerow_smc::Party;

use super::merge::{self, nearest};
use super::trial::{Change, Trial, attempt};
use super::work::Work;
use super::{Phase, boxes, regions, turn};
use crate::clustering::numbers::Cluster;
use crate::error::Error;

/// The sizes, in tenths of k, through which clusters grow to the demanded size.
const GROWTH: [u64; 4] = [4, 6, 8, 10];
/// The sizes, in tenths of k, of repeated growths, which come to the demanded size by other ways.
const AGAIN: [&[u64]; 3] = [&[8, 10], &[6, 8, 10], &[8, 10]];
/// The effort at which clusters grow again as often as there are entries above, all together; beyond that they
/// grow in regions.
const USUAL_EFFORT: usize = 10;
/// By how much the loss may rise for a record that comes to a cluster that is too small, turn after turn of
/// all sites: by the mean loss of so many records, for each record that a cluster must have.
const WORTH: [f64; 2] = [0.25, 0.5];
/// Batches of openings at each size, and at the end.
const BATCHES: usize = 12;
const LAST_BATCHES: usize = 24;
/// How many rounds are made at the end.
const ROUNDS: usize = 3;
/// The rounds end when the loss falls by less than this share of it.
const LEAST_GAIN: u64 = 400;
/// Batches of clusters that are dissolved because they cost most.
const COSTLIEST: usize = 2;
/// Batches of small clusters that are tried to be dissolved at each size; what is left is united.
const REMOVALS: usize = 6;
/// Clusters that may take the records of a dissolved cluster.
const RECEIVERS: usize = 12;
/// How many of the nearest clusters must be free for a trial to be worthwhile.
const NEAREST: usize = 2;

pub(super) async fn finish(
    party: &mut Party,
    work: &mut Work<'_>,
    step: &mut impl FnMut(Phase, &Work<'_>),
) -> Result<(), Error> {
    grow(party, work, &GROWTH, step).await?;
    settle(party, work, step).await?;
    // The usual effort grows once for each entry.
    let times = (work.plan.effort as usize * AGAIN.len()).div_ceil(USUAL_EFFORT);
    for (number, tenths) in (0..times).zip(AGAIN.into_iter().cycle()) {
        if number < AGAIN.len() {
            let kept = work.state();
            grow(party, work, tenths, step).await?;
            settle(party, work, step).await?;
            if work.clusters.loss() >= kept.loss() {
                work.restore(kept);
                step(Phase::Refined, work);
            }
        } else {
            let before = regions::confine(work, number as u64);
            grow(party, work, tenths, step).await?;
            settle(party, work, step).await?;
            regions::choose(party, work, before).await?;
            step(Phase::Refined, work);
        }
    }
    Ok(())
}

/// Brings clusters to the demanded size over some others.
async fn grow(
    party: &mut Party,
    work: &mut Work<'_>,
    tenths: &[u64],
    step: &mut impl FnMut(Phase, &Work<'_>),
) -> Result<(), Error> {
    let k = work.k();
    for tenths in tenths {
        work.least = (k * tenths).div_ceil(10);
        if work.least == k {
            fill_small(party, work).await?;
        }
        remove_small(party, work).await?;
        if work.least == k {
            merge::unite_unsafe(party, work).await?;
        }
        step(Phase::Grown, work);
        boxes::open(party, work, BATCHES).await?;
        work.tidy();
        move_on(party, work).await?;
        step(Phase::Refined, work);
    }
    Ok(())
}

/// Opens, dissolves and moves while the loss falls.
async fn settle(
    party: &mut Party,
    work: &mut Work<'_>,
    step: &mut impl FnMut(Phase, &Work<'_>),
) -> Result<(), Error> {
    for _ in 0..ROUNDS {
        let before = work.clusters.loss();
        boxes::open(party, work, LAST_BATCHES).await?;
        dissolve_costliest(party, work).await?;
        work.tidy();
        move_on(party, work).await?;
        step(Phase::Refined, work);
        // Another site may have told numbers that make the loss rise.
        if before.saturating_sub(work.clusters.loss()) <= before / LEAST_GAIN {
            break;
        }
    }
    Ok(())
}

/// Tries to do without the clusters that lose most.
async fn dissolve_costliest(party: &mut Party, work: &mut Work<'_>) -> Result<(), Error> {
    let mut left: Vec<Cluster> = work.clusters.living().collect();
    left.sort_by_key(|cluster| (std::cmp::Reverse(work.clusters.loss_of(*cluster)), *cluster));
    for _ in 0..COSTLIEST {
        left.retain(|cluster| work.clusters.size(*cluster) > 0);
        let mut trials = regions(work, &left);
        for trial in &mut trials {
            trial.change = Change::Dissolve;
        }
        let tried: Vec<Cluster> = trials.iter().map(|trial| trial.region[0]).collect();
        left.retain(|cluster| !tried.contains(cluster));
        attempt(party, work, trials).await?;
    }
    Ok(())
}

/// Records move out of clusters that are larger than they must be. Demands that speak of sites are not
/// checked record by record, so with such demands all records stay.
async fn move_on(party: &mut Party, work: &mut Work<'_>) -> Result<(), Error> {
    if work.table.speaks_of_sites() {
        return Ok(());
    }
    turn::all_turns(party, work).await?;
    Ok(())
}

/// Fills clusters that are too small with records of clusters that are larger than they must be, even if
/// the loss rises by that: less than by doing away with the small ones.
async fn fill_small(party: &mut Party, work: &mut Work<'_>) -> Result<(), Error> {
    let mean = work.clusters.loss() as f64 / work.table.records().max(1) as f64;
    for worth in WORTH {
        work.filling = Some((mean * worth * work.k() as f64) as u64);
        let filled = move_on(party, work).await;
        work.filling = None;
        filled?;
    }
    Ok(())
}

/// Does away with clusters that are too small or not diverse enough, many at a time.
async fn remove_small(party: &mut Party, work: &mut Work<'_>) -> Result<(), Error> {
    for batch in 0.. {
        let mut small: Vec<Cluster> = work
            .clusters
            .living()
            .filter(|cluster| !work.is_enough(*cluster))
            .collect();
        if small.is_empty() || work.clusters.living().count() < 2 {
            return Ok(());
        }
        small.sort_by_key(|cluster| {
            let (size, cost) = (work.clusters.size(*cluster), work.clusters.cost(*cluster));
            (size, std::cmp::Reverse(cost), *cluster)
        });
        let trials = regions(work, &small);
        let pairs: Vec<(Cluster, Cluster)> = trials
            .iter()
            .filter_map(|trial| match trial.change {
                Change::Remove { into } => Some((trial.region[0], into)),
                _ => None,
            })
            .collect();
        let made = if batch < REMOVALS {
            attempt(party, work, trials).await?
        } else {
            vec![false; trials.len()]
        };
        for ((gone, into), made) in pairs.into_iter().zip(made) {
            if !made {
                work.unite(gone, into);
            }
        }
    }
    Ok(())
}

/// For as many of some clusters as do not get in each other's way, where their records may go.
fn regions(work: &Work<'_>, small: &[Cluster]) -> Vec<Trial> {
    let mut is_taken = vec![false; work.clusters.len()];
    let mut trials = Vec::new();
    for cluster in small {
        if is_taken[cluster.index()] {
            continue;
        }
        let Some(into) = nearest(work, *cluster) else {
            continue;
        };
        let common = work.clusters.common(work.clusters.closure(*cluster));
        let bounds = (RECEIVERS, u64::MAX);
        let is_other = |other: Cluster| other != *cluster;
        let near = work.nearest(&common, bounds, work.region_of(*cluster), is_other);
        let mut closest = near.iter().take(NEAREST);
        if is_taken[into.index()] || closest.any(|(_, other)| is_taken[other.index()]) {
            continue;
        }
        let mut region = vec![*cluster];
        let free = near.iter().map(|(_, other)| *other);
        region.extend(free.filter(|other| !is_taken[other.index()]));
        if !region.contains(&into) {
            region.push(into);
        }
        region
            .iter()
            .for_each(|other| is_taken[other.index()] = true);
        trials.push(Trial {
            region,
            change: Change::Remove { into },
        });
    }
    trials
}
