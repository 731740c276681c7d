//! Where a narrower cluster may be worth opening: the closures of clusters, one step narrower in one
//! attribute. All sites together are asked, as a threshold, whether enough records would cost less
//! there; and how much less, only where enough would.
//!
//! # Discloses
//! For each narrower closure, whether at least as many records as a cluster needs lie in it and cost
//! more in their own clusters; if so, how much they would save together.

use std::collections::HashSet;

use hedgerow_smc::Party;
use rayon::prelude::*;

use super::SAVINGS_IN_NARROWER_CLUSTERS;
use super::trial::{Change, Trial, attempt};
use super::work::Work;
use crate::clustering::numbers::Cluster;
use crate::error::Error;
use crate::fit::holds_own;

/// Clusters that may give records to an opened cluster.
const DONORS: usize = 8;
/// Clusters that may take the remaining records of dissolved donors.
const RECEIVERS: usize = 6;
/// How many of the nearest clusters must be free for a trial to be worthwhile.
const NEAREST: usize = 2;

/// Batches after which new closures are looked for, as long as there are old closures to try.
const FRESH: usize = 3;
/// Batches end when a batch lowers the loss by less than this share of it.
const LEAST_GAIN: u64 = 4000;

/// A closure in which records of a region, or of all clusters, may cost less.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Narrower {
    closure: Vec<u64>,
    region: Option<u32>,
}

/// Opens clusters where that lowers the loss, in at most so many batches. Returns how many were opened.
pub(super) async fn open(
    party: &mut Party,
    work: &mut Work<'_>,
    batches: usize,
) -> Result<usize, Error> {
    let mut tried: HashSet<Narrower> = HashSet::new();
    let mut worthwhile: Vec<Narrower> = Vec::new();
    let mut opened = 0;
    for batch in 0..batches {
        let before = work.clusters.loss();
        if batch % FRESH == 0 || worthwhile.is_empty() {
            worthwhile.extend(fresh(party, work, &mut tried).await?);
        }
        let savings = savings(party, work, &worthwhile).await?;
        let trials = choose(work, &mut worthwhile, &savings);
        if trials.is_empty() {
            break;
        }
        let made = attempt(party, work, trials).await?;
        opened += made.into_iter().filter(|made| *made).count();
        if before.saturating_sub(work.clusters.loss()) < before / LEAST_GAIN {
            break;
        }
    }
    Ok(opened)
}

/// The narrower closures that were not looked at yet and that enough records would save in.
async fn fresh(
    party: &mut Party,
    work: &Work<'_>,
    tried: &mut HashSet<Narrower>,
) -> Result<Vec<Narrower>, Error> {
    let narrower = work.clusters.living().flat_map(|cluster| {
        let closures = work.shapes.narrower(work.clusters.closure(cluster));
        let region = work.region_of(cluster);
        closures
            .into_iter()
            .map(move |closure| Narrower { closure, region })
    });
    let closures: Vec<Narrower> = narrower
        .filter(|narrower| tried.insert(narrower.clone()))
        .collect();
    if closures.is_empty() {
        return Ok(closures);
    }
    let own: Vec<u64> = closures
        .par_iter()
        // Who has enough alone need not say how many more.
        .map(|closure| own_savings(work, closure).0.min(work.least))
        .collect();
    let thresholds = vec![work.least; closures.len()];
    let mut enough = vec![false; closures.len()];
    let all = work.least.saturating_mul(work.table.sites() as u64);
    let records = work.table.records().min(all);
    party
        .at_least(
            SAVINGS_IN_NARROWER_CLUSTERS,
            records,
            &own,
            &thresholds,
            &mut enough,
        )
        .await?;
    let pairs = closures.into_iter().zip(enough);
    Ok(pairs
        .filter_map(|(closure, enough)| enough.then_some(closure))
        .collect())
}

/// How much would be saved in each closure.
async fn savings(
    party: &mut Party,
    work: &Work<'_>,
    closures: &[Narrower],
) -> Result<Vec<u64>, Error> {
    let mut savings: Vec<u64> = closures
        .par_iter()
        .map(|closure| own_savings(work, closure).1)
        .collect();
    if !savings.is_empty() {
        let own = savings.clone();
        party
            .sum(SAVINGS_IN_NARROWER_CLUSTERS, &mut savings)
            .await?;
        let loss = work.clusters.loss();
        let fits = holds_own(&savings, &own) && savings.iter().all(|saved| *saved <= loss);
        party.fit(
            SAVINGS_IN_NARROWER_CLUSTERS,
            fits,
            "more would be saved than there is to lose",
        )?;
    }
    Ok(savings)
}

/// How many of this site's records lie in a closure and cost more in their own clusters, and how much
/// less they would cost in the closure.
fn own_savings(work: &Work<'_>, Narrower { closure, region }: &Narrower) -> (u64, u64) {
    let cost = work.shapes.cost(closure);
    let (mut records, mut saved) = (0, 0);
    work.meeting(closure, *region, &mut |donor: Cluster| {
        let each = work.clusters.cost(donor).saturating_sub(cost);
        if each == 0 {
            return;
        }
        let rows = work.members(donor).iter();
        let covered = rows.filter(|row| work.shapes.covers(closure, work.record(**row)));
        let count = covered.count() as u64;
        records += count;
        saved += count * each;
    });
    (records, saved)
}

/// Clusters with their cost together with a closure, the nearest first.
type Near = Vec<(u64, Cluster)>;

/// The nearest clusters that would give records to a closure: they cost more, and may have records in
/// it.
fn donors(work: &Work<'_>, Narrower { closure, region }: &Narrower) -> Near {
    let cost = work.shapes.cost(closure);
    let mut donors = Near::new();
    work.meeting(closure, *region, &mut |cluster: Cluster| {
        if work.clusters.cost(cluster) > cost {
            let other = work.clusters.closure(cluster);
            donors.push((work.shapes.common_cost(closure, other), cluster));
        }
    });
    if donors.len() > 4 * DONORS {
        donors.select_nth_unstable(4 * DONORS);
        donors.truncate(4 * DONORS);
    }
    donors.sort_unstable();
    donors
}

/// The nearest clusters that are not taken and would not give to a closure.
fn receivers(work: &Work<'_>, Narrower { closure, region }: &Narrower, is_taken: &[bool]) -> Near {
    let cost = work.shapes.cost(closure);
    let common = work.clusters.common(closure);
    let may_receive = |cluster: Cluster| {
        let other = work.clusters.closure(cluster);
        let gives = work.clusters.cost(cluster) > cost && work.shapes.meet(other, closure);
        !gives && !is_taken[cluster.index()]
    };
    let bounds = (RECEIVERS, u64::MAX);
    work.nearest(&common, bounds, *region, may_receive)
}

/// Takes closures to try together, those with the greatest savings first; no two trials share a cluster.
fn choose(work: &Work<'_>, worthwhile: &mut Vec<Narrower>, savings: &[u64]) -> Vec<Trial> {
    let donors: Vec<Near> = worthwhile
        .par_iter()
        .map(|closure| donors(work, closure))
        .collect();
    let mut order: Vec<usize> = (0..worthwhile.len()).collect();
    order.sort_by(|a, b| {
        let saved = savings[*b].cmp(&savings[*a]);
        saved.then_with(|| worthwhile[*a].cmp(&worthwhile[*b]))
    });
    let mut is_taken = vec![false; work.clusters.len()];
    let mut is_used = vec![false; worthwhile.len()];
    let mut trials = Vec::new();
    for place in order {
        let donors = &donors[place];
        if donors.is_empty() || savings[place] == 0 {
            is_used[place] = true;
            continue;
        }
        let mut nearest = donors.iter().take(NEAREST);
        if nearest.any(|(_, cluster)| is_taken[cluster.index()]) {
            continue;
        }
        let free = donors.iter().map(|(_, cluster)| *cluster);
        let free = free.filter(|cluster| !is_taken[cluster.index()]);
        let mut region: Vec<Cluster> = free.take(DONORS).collect();
        let givers = region.len();
        let others = receivers(work, &worthwhile[place], &is_taken);
        region.extend(others.into_iter().map(|(_, cluster)| cluster));
        region
            .iter()
            .for_each(|cluster| is_taken[cluster.index()] = true);
        is_used[place] = true;
        trials.push(Trial {
            region,
            change: Change::Open {
                closure: worthwhile[place].closure.clone(),
                donors: givers,
            },
        });
    }
    let mut used = is_used.into_iter();
    worthwhile.retain(|_| !used.next().unwrap_or(false));
    trials
}
