//! The published end (TG12 Algorithm 4, steps 23 to 29): clusters that are too small, or do not satisfy
//! the requirement, are united until no such cluster is left.
//!
//! The costs of all pairs are asked together, and all pairs that are each other's nearest become one:
//! the two closest clusters of all are always such a pair. The last small cluster joins the cluster
//! closest to it.
//!
//! # Discloses
//! To the pivot, the changes of the loss; to all sites, which clusters are united, and whether
//! clusters of k records or more satisfy the requirement.

use hedgerow_smc::Party;
use rayon::prelude::*;

use super::UNITED_CLUSTERS;
use super::pass::MOST_CHANGES;
use super::work::{PIVOT, Work};
use crate::clustering::numbers::Cluster;
use crate::error::Error;

/// Unites clusters until all satisfy the requirement. Gives how many were united with others.
pub(super) async fn unite(party: &mut Party, work: &mut Work<'_>) -> Result<u64, Error> {
    let mut known: Vec<Option<bool>> = vec![None; work.clusters.len()];
    let mut unions = 0;
    loop {
        let small = small(party, work, &mut known).await?;
        let living: Vec<Cluster> = work.clusters.living().collect();
        // The whole table satisfies the requirement, so the last cluster satisfies it too.
        if small.is_empty() || living.len() < 2 {
            return Ok(unions);
        }
        let nearest = nearest(party, work, &small, &living).await?;
        let mut told = vec![0; small.len()];
        if party.me() == PIVOT {
            pick(&small, &nearest, &mut told);
        }
        party.tell(UNITED_CLUSTERS, PIVOT, &mut told).await?;
        work.clock += 1;
        let told = read(&small, &living, &told);
        let problem = "clusters are united that cannot be together";
        for (one, other) in told.ok_or_else(|| party.misfit(UNITED_CLUSTERS, problem))? {
            let (into, gone) = (one.min(other), one.max(other));
            work.unite(gone, into);
            known[into.index()] = None;
            unions += 1;
        }
    }
}

/// The clusters that must be united with others.
async fn small(
    party: &mut Party,
    work: &Work<'_>,
    known: &mut [Option<bool>],
) -> Result<Vec<Cluster>, Error> {
    let k = work.k();
    let is_asked =
        |cluster: &Cluster| work.clusters.size(*cluster) >= k && known[cluster.index()].is_none();
    let asked: Vec<Cluster> = work.clusters.living().filter(is_asked).collect();
    let mut holds: Vec<bool> = asked
        .iter()
        .map(|cluster| work.is_diverse(*cluster))
        .collect();
    work.agree(party, &mut holds).await?;
    for (cluster, holds) in asked.into_iter().zip(holds) {
        known[cluster.index()] = Some(holds);
    }
    let is_small = |cluster: &Cluster| {
        work.clusters.size(*cluster) < k || known[cluster.index()] != Some(true)
    };
    Ok(work.clusters.living().filter(is_small).collect())
}

/// The loss of a union with a cluster, and the cluster.
type Near = Option<(i64, Cluster)>;

/// For each small cluster, the closest cluster, which only the pivot learns.
async fn nearest(
    party: &mut Party,
    work: &Work<'_>,
    small: &[Cluster],
    living: &[Cluster],
) -> Result<Vec<Near>, Error> {
    let mut nearest: Vec<Near> = vec![None; small.len()];
    // Places of both clusters among the small clusters; the second is `None` for a cluster that is large
    // enough.
    let mut pairs: Vec<(usize, Option<usize>, Cluster)> = Vec::new();
    let mut first = 0;
    while first < small.len() {
        pairs.clear();
        while first < small.len() && (pairs.is_empty() || pairs.len() + small.len() <= MOST_CHANGES)
        {
            if let [only] = small {
                let others = living.iter().filter(|other| *other != only);
                pairs.extend(others.map(|other| (0, None, *other)));
            } else {
                let others = small.iter().enumerate().skip(first + 1);
                pairs.extend(others.map(|(place, other)| (first, Some(place), *other)));
            }
            first += 1;
        }
        let mut changes: Vec<u64> = pairs
            .par_iter()
            .map(|(one, _, other)| work.uniting(small[*one], *other))
            .collect();
        work.blur(party, &mut changes);
        work.tell_costs(party, &mut changes).await?;
        for ((one, place, other), change) in pairs.iter().zip(changes) {
            let change = change as i64;
            let mut closer = |place: usize, other: Cluster| {
                let near = &mut nearest[place];
                *near = Some(near.map_or((change, other), |near| near.min((change, other))));
            };
            closer(*one, *other);
            if let Some(place) = place {
                closer(*place, small[*one]);
            }
        }
    }
    Ok(nearest)
}

/// Tells, for the first cluster of each pair to be united, the second cluster.
fn pick(small: &[Cluster], nearest: &[Near], told: &mut [u64]) {
    for (place, near) in nearest.iter().enumerate() {
        let Some((_, other)) = near else {
            continue;
        };
        let is_mutual = match small.binary_search(other) {
            Ok(at) => place < at && nearest[at].is_some_and(|(_, back)| back == small[place]),
            Err(_) => true,
        };
        if is_mutual {
            told[place] = other.index() as u64 + 1;
        }
    }
}

/// The unions that the pivot told, if there are any and they can be made together.
fn read(small: &[Cluster], living: &[Cluster], told: &[u64]) -> Option<Vec<(Cluster, Cluster)>> {
    let candidates = if small.len() == 1 { living } else { small };
    let mut unions: Vec<(Cluster, Cluster)> = Vec::new();
    let mut touched: Vec<Cluster> = Vec::new();
    for (one, told) in small.iter().zip(told).filter(|(_, told)| **told != 0) {
        let other = Cluster::named(*told - 1)?;
        candidates.binary_search(&other).ok()?;
        touched.extend([*one, other]);
        unions.push((*one, other));
    }
    touched.sort_unstable();
    let is_twice = touched.windows(2).any(|pair| pair[0] == pair[1]);
    (!unions.is_empty() && !is_twice).then_some(unions)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unions_that_cannot_be_made_together_are_refused() {
        let small = [1, 3, 4, 8].map(Cluster::at);
        let living = [0, 1, 3, 4, 8].map(Cluster::at);
        let pair = |one, other| (Cluster::at(one), Cluster::at(other));
        assert_eq!(
            read(&small, &living, &[4, 0, 9, 0]).unwrap(),
            [pair(1, 3), pair(4, 8)]
        );
        // No union; a cluster with itself; a cluster twice; a cluster that is large enough, gone, or
        // unknown.
        for told in [
            [0, 0, 0, 0],
            [2, 0, 0, 0],
            [4, 0, 4, 0],
            [1, 0, 0, 0],
            [3, 0, 0, 0],
            [u64::MAX, 0, 0, 0],
        ] {
            assert_eq!(read(&small, &living, &told), None, "{told:?}");
        }
        // A last one joins any other.
        let last = [Cluster::at(3)];
        assert_eq!(read(&last, &living, &[1]).unwrap(), [pair(3, 0)]);
        assert_eq!(read(&last, &living, &[4]), None);
    }
}
