//! The published end (TG12 Algorithm 3, steps 26 to 30): clusters that are too small are united, the
//! two closest first, until all are large enough and satisfy the requirement.
//!
//! # Discloses
//! Nothing by itself: closures and sizes are known. Where the requirement speaks of sites, what the
//! checks of it disclose.

use hedgerow_smc::Party;
use rayon::prelude::*;

use super::work::Work;
use crate::clustering::numbers::Cluster;
use crate::error::Error;

/// Unites clusters until all satisfy the whole requirement.
pub(super) async fn merge(party: &mut Party, work: &mut Work<'_>) -> Result<(), Error> {
    work.least = work.k();
    work.unite_lacking(party).await?;
    unite_small(work);
    unite_unsafe(party, work).await
}

/// Unites each cluster that does not satisfy a demand about sites with its nearest, until every cluster
/// does.
pub(super) async fn unite_unsafe(party: &mut Party, work: &mut Work<'_>) -> Result<(), Error> {
    let mut asked: Vec<Cluster> = work.clusters.living().collect();
    loop {
        let trials: Vec<Vec<Cluster>> = asked.iter().map(|cluster| vec![*cluster]).collect();
        let mut allowed = vec![true; trials.len()];
        work.check_sites(party, &trials, &mut allowed).await?;
        let failing = asked.iter().zip(&allowed).filter(|(_, allowed)| !**allowed);
        let failing: Vec<Cluster> = failing.map(|(cluster, _)| *cluster).collect();
        asked.clear();
        for cluster in failing {
            if work.clusters.size(cluster) == 0 || asked.contains(&cluster) {
                continue;
            }
            // The whole table satisfies the requirement, so the last cluster satisfies it too.
            if let Some(nearest) = nearest(work, cluster) {
                work.unite(cluster, nearest);
                asked.retain(|other| *other != cluster);
                if !asked.contains(&nearest) {
                    asked.push(nearest);
                }
            }
        }
        if asked.is_empty() {
            return Ok(());
        }
    }
}

/// The cluster with which a cluster would lose least when united.
pub(super) fn nearest(work: &Work<'_>, cluster: Cluster) -> Option<Cluster> {
    nearest_of(work, cluster, |_| true).map(|(_, other)| other)
}

/// The nearest among some clusters, and the loss of the union (TG12 equation 6).
fn nearest_of(
    work: &Work<'_>,
    cluster: Cluster,
    may_be: impl Fn(Cluster) -> bool,
) -> Option<(u64, Cluster)> {
    let united = work.clusters.united(cluster);
    let may_be = |other: Cluster| other != cluster && may_be(other);
    let region = work.region_of(cluster);
    let near = work.nearest(&united, (1, u64::MAX), region, may_be);
    near.first().copied()
}

fn unite_small(work: &mut Work<'_>) {
    let small = |work: &Work<'_>| -> Vec<Cluster> {
        let living = work.clusters.living();
        living.filter(|cluster| !work.is_enough(*cluster)).collect()
    };
    let mut left = small(work);
    let mut is_small = vec![false; work.clusters.len()];
    left.iter()
        .for_each(|cluster| is_small[cluster.index()] = true);
    let closest = |work: &Work<'_>, is_small: &[bool], one: Cluster| {
        nearest_of(work, one, |other| is_small[other.index()])
    };
    let mut pairs: Vec<Option<(u64, Cluster)>> = vec![None; work.clusters.len()];
    let found: Vec<Option<(u64, Cluster)>> = left
        .par_iter()
        .map(|cluster| closest(work, &is_small, *cluster))
        .collect();
    for (cluster, pair) in left.iter().zip(found) {
        pairs[cluster.index()] = pair;
    }
    while left.len() > 1 {
        let pair = left.iter().filter_map(|one| {
            let (distance, other) = pairs[one.index()]?;
            Some((distance, *one, other))
        });
        let Some((_, into, gone)) = pair.min() else {
            break;
        };
        work.unite(gone, into);
        is_small[gone.index()] = false;
        is_small[into.index()] = !work.is_enough(into);
        left.retain(|cluster| is_small[cluster.index()]);
        // Only clusters whose nearest was one of the two, and the new cluster itself, may have another
        // nearest: the new cluster's own nearest stands for all that it is near to.
        let stale: Vec<Cluster> = left
            .iter()
            .copied()
            .filter(|one| {
                let points_at = |(_, other)| other == gone || other == into;
                *one == into || pairs[one.index()].is_none_or(points_at)
            })
            .collect();
        for one in stale {
            pairs[one.index()] = closest(work, &is_small, one);
        }
    }
    if let Some(last) = left.first()
        && let Some(nearest) = nearest(work, *last)
    {
        work.unite(*last, nearest);
        // A cluster that was large enough before may have lost its diversity to the union: then it is
        // small again.
        if !small(work).is_empty() && work.clusters.living().count() > 1 {
            unite_small(work);
        }
    }
}
