//! Clusters of a pool made better record by record: a record moves to the cluster that grows least, or two
//! records change places, while that saves.

use super::pool::{Held, Place, Pool};

/// The records of a pool above which records move, but none change places.
const MANY_RECORDS: usize = 400;

/// Moves records out of clusters above k, and lets records change places, while that saves.
pub(super) fn improve(pool: &Pool<'_>, held: &mut [Held]) {
    let mut has_moved = true;
    while has_moved {
        has_moved = false;
        for from in 0..held.len() {
            let mut index = 0;
            // A record that is alone stays: its cluster would be gone.
            while index < held[from].members.len()
                && held[from].cost > 0
                && held[from].members.len() > 1
            {
                held[from].know_without(pool);
                if let Some(to) = better_place(pool, held, (from, index)) {
                    let place = held[from].take(pool, index);
                    held[to].add(pool, place);
                    has_moved = true;
                    continue;
                }
                if pool.len() <= MANY_RECORDS
                    && held[from].cost_without(index) < held[from].cost
                    && let Some((to, other)) = partner(pool, held, (from, index))
                {
                    let place = held[from].members[index];
                    let instead = held[to].members[other];
                    held[from].replace(pool, index, instead);
                    held[to].replace(pool, other, place);
                    has_moved = true;
                }
                index += 1;
            }
        }
    }
}

/// The cluster where a record costs least, if its leaving saves more, and the requirement still holds.
fn better_place(
    pool: &Pool<'_>,
    held: &mut [Held],
    (from, index): (usize, usize),
) -> Option<usize> {
    let own = &held[from];
    if own.members.len() <= pool.quick.k() {
        return None;
    }
    let place = own.members[index];
    let left = (own.members.len() as u64 - 1) * own.cost_without(index);
    // Entropy may grow where a closure narrows: then the record stays.
    let saved = own.loss().saturating_sub(left);
    let others = (0..held.len()).filter(|to| *to != from);
    let growths = others.map(|to| (held[to].growth(place), to));
    let (_, to) = growths.min().filter(|(growth, _)| *growth < saved)?;
    let holds = held[from].holds_with(pool, (Some(place), None))
        && held[to].holds_with(pool, (None, Some(place)));
    holds.then_some(to)
}

/// The cluster, and the index of the record there, with which a record best changes places.
fn partner(
    pool: &Pool<'_>,
    held: &mut [Held],
    (from, index): (usize, usize),
) -> Option<(usize, usize)> {
    let place = held[from].members[index];
    let size = held[from].members.len() as u64;
    let mut least = held[from].loss();
    let mut best = None;
    for to in (0..held.len()).filter(|to| *to != from) {
        held[to].know_without(pool);
        let loss = held[to].loss();
        let (others, is_alone) = (held[to].members.len(), held[to].members.len() == 1);
        for other in 0..others {
            let (own, cluster) = (&held[from], &held[to]);
            let instead = cluster.members[other];
            let here = size * own.cost_instead(pool, index, instead);
            // What the other cluster may save is at most everything.
            if here >= least + loss {
                continue;
            }
            let there = match is_alone {
                true => alone_cost(pool, place),
                false => cluster.cost_instead(pool, other, place),
            };
            let after = here + others as u64 * there;
            // Both clusters after the exchange, less the other cluster before it.
            if after < least + loss
                && held[from].holds_with(pool, (Some(place), Some(instead)))
                && held[to].holds_with(pool, (Some(instead), Some(place)))
            {
                // Never below zero: a loss that falls below what the other had is the greatest gain.
                least = after.saturating_sub(loss);
                best = Some((to, other));
            }
        }
    }
    best
}

/// What a record costs by itself.
fn alone_cost(pool: &Pool<'_>, place: Place) -> u64 {
    pool.quick.cost(pool.quick.closure(pool.row(place)))
}
