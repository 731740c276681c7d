//! Where a narrower cluster may be worth opening: the closures of clusters, one step narrower in one
//! attribute. Whether enough records would save there is asked of all sites together, as a threshold.
//!
//! # Discloses
//! For each narrower closure, whether at least so many records as a cluster needs lie in it and cost
//! more where they are.

use std::collections::HashSet;

use hedgerow_smc::Party;
use rayon::prelude::*;

use super::ENOUGH;
use super::trial::{Change, Trial, attempt};
use super::work::Work;
use crate::Error;

/// Clusters that may give to an opened one.
const DONORS: usize = 12;
/// Clusters that may take what is left of those.
const RECEIVERS: usize = 12;
/// So many of the nearest must be free for a trial to be worth it.
const NEAREST: usize = 3;

/// Opens clusters where that lowers the loss, in at most so many batches. Gives how many it opened.
pub(super) async fn open(
    party: &mut Party,
    work: &mut Work<'_>,
    batches: usize,
) -> Result<usize, Error> {
    let mut tried: HashSet<Vec<u64>> = HashSet::new();
    let mut worthwhile: Vec<Vec<u64>> = Vec::new();
    let mut opened = 0;
    for _ in 0..batches {
        worthwhile.extend(fresh(party, work, &mut tried).await?);
        let trials = choose(work, &mut worthwhile);
        if trials.is_empty() {
            break;
        }
        let made = attempt(party, work, trials).await?;
        opened += made.into_iter().filter(|made| *made).count();
    }
    Ok(opened)
}

/// The narrower closures that were not looked at yet and that enough records would save in.
async fn fresh(
    party: &mut Party,
    work: &Work<'_>,
    tried: &mut HashSet<Vec<u64>>,
) -> Result<Vec<Vec<u64>>, Error> {
    let narrower = work
        .clusters
        .living()
        .flat_map(|cluster| work.shapes.narrower(work.clusters.closure(cluster)));
    let closures: Vec<Vec<u64>> = narrower
        .filter(|closure| tried.insert(closure.clone()))
        .collect();
    if closures.is_empty() {
        return Ok(closures);
    }
    let own: Vec<u64> = closures
        .par_iter()
        .map(|closure| {
            let donors = donors(work, closure);
            let rows = donors.into_iter().flat_map(|donor| work.members(donor));
            rows.filter(|row| work.shapes.covers(closure, work.record(**row))).count() as u64
        })
        .collect();
    let thresholds = vec![work.least; closures.len()];
    let mut enough = vec![false; closures.len()];
    let records = work.table.records();
    party
        .at_least(ENOUGH, records, &own, &thresholds, &mut enough)
        .await?;
    let pairs = closures.into_iter().zip(enough);
    Ok(pairs
        .filter_map(|(closure, enough)| enough.then_some(closure))
        .collect())
}

/// Clusters that cost more than a closure and may have records in it.
fn donors(work: &Work<'_>, closure: &[u64]) -> Vec<usize> {
    let cost = work.shapes.cost(closure);
    let dearer = work
        .clusters
        .living()
        .filter(|cluster| work.clusters.costs[*cluster] > cost);
    dearer
        .filter(|cluster| work.shapes.meet(work.clusters.closure(*cluster), closure))
        .collect()
}

/// Takes closures to try together, those first whose nearest donors would save most; no two trials
/// share a cluster.
fn choose(work: &Work<'_>, worthwhile: &mut Vec<Vec<u64>>) -> Vec<Trial> {
    let ranked: Vec<(Vec<(u64, usize)>, Vec<(u64, usize)>, u64)> = worthwhile
        .par_iter()
        .map(|closure| {
            let cost = work.shapes.cost(closure);
            let mut donors: Vec<(u64, usize)> = Vec::new();
            let mut others: Vec<(u64, usize)> = Vec::new();
            for cluster in work.clusters.living() {
                let other = work.clusters.closure(cluster);
                let near = (work.shapes.common_cost(closure, other), cluster);
                if work.clusters.costs[cluster] > cost && work.shapes.meet(other, closure) {
                    donors.push(near);
                } else {
                    others.push(near);
                }
            }
            donors.sort_unstable();
            others.sort_unstable();
            others.truncate(4 * RECEIVERS);
            let near = donors.iter().take(NEAREST);
            let saved = near.map(|(_, cluster)| {
                (work.clusters.costs[*cluster] - cost) * work.clusters.sizes[*cluster]
            });
            let saved = saved.sum();
            donors.truncate(4 * DONORS);
            (donors, others, saved)
        })
        .collect();
    let mut order: Vec<usize> = (0..worthwhile.len()).collect();
    order.sort_by(|a, b| {
        let saved = ranked[*b].2.cmp(&ranked[*a].2);
        saved.then_with(|| worthwhile[*a].cmp(&worthwhile[*b]))
    });
    let mut is_taken = vec![false; work.clusters.len()];
    let mut is_used = vec![false; worthwhile.len()];
    let mut trials = Vec::new();
    for place in order {
        let (donors, others, _) = &ranked[place];
        if donors.is_empty() {
            is_used[place] = true;
            continue;
        }
        let near = donors.iter().take(NEAREST);
        if near.clone().any(|(_, cluster)| is_taken[*cluster]) {
            continue;
        }
        let free = |list: &[(u64, usize)], most: usize| -> Vec<usize> {
            let free = list.iter().filter(|(_, cluster)| !is_taken[*cluster]);
            free.map(|(_, cluster)| *cluster).take(most).collect()
        };
        let mut region = free(donors, DONORS);
        let givers = region.len();
        region.extend(free(others, RECEIVERS));
        region.iter().for_each(|cluster| is_taken[*cluster] = true);
        is_used[place] = true;
        trials.push(Trial {
            region,
            change: Change::Open {
                closure: worthwhile[place].clone(),
                donors: givers,
            },
        });
    }
    let mut used = is_used.into_iter();
    worthwhile.retain(|_| !used.next().unwrap_or(false));
    trials
}
