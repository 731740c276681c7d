//! What downward pruning remembers (MPRIV section III.B): coalitions that do not breach, and with
//! them all coalitions within them.

use super::Coalition;

/// Coalitions larger than m that do not breach.
#[derive(Debug, Default)]
pub(super) struct Safe {
    coalitions: Vec<Coalition>,
}

impl Safe {
    pub(super) fn insert(&mut self, coalition: Coalition) {
        self.coalitions.push(coalition);
    }

    /// Whether a coalition is pruned.
    pub(super) fn covers(&self, coalition: Coalition) -> bool {
        // Coalitions asked about in a row are alike: the latest is the likeliest to cover them.
        let mut latest_first = self.coalitions.iter().rev();
        latest_first.any(|safe| coalition.is_within(*safe))
    }

    /// Whether all coalitions of `m` sites within one are pruned: the condition under which
    /// algorithm 1 stops, for a part of the space.
    pub(super) fn settles(&self, within: Coalition, m: usize) -> bool {
        // A coalition is not pruned when it has, for every safe coalition, a site outside it.
        let outside = self.coalitions.iter().map(|safe| within.without(*safe));
        !can_hit(&outside.collect::<Vec<_>>(), within, m)
    }
}

/// Whether at most `most` of the `allowed` sites have one in each of the sets.
fn can_hit(sets: &[Coalition], mut allowed: Coalition, most: usize) -> bool {
    let choices = sets.iter().map(|set| set.intersection(allowed));
    let Some(fewest) = choices.min_by_key(|choices| choices.size()) else {
        return true;
    };
    if disjoint(sets, allowed) > most {
        return false;
    }
    for site in fewest.sites() {
        let without = sets.iter().filter(|set| !set.contains(site));
        if can_hit(&without.copied().collect::<Vec<_>>(), allowed, most - 1) {
            return true;
        }
        // Every coalition with this site was just tried.
        allowed = allowed.without(Coalition::NOBODY.with(site));
    }
    false
}

/// The size of a greedily found family of disjoint sets among these: each set needs a site of its own.
/// At least 1 where there is a set.
fn disjoint(sets: &[Coalition], allowed: Coalition) -> usize {
    let mut used = Coalition::NOBODY;
    let mut number = 0;
    for set in sets {
        let set = set.intersection(allowed);
        if set.intersection(used).is_empty() {
            used = used.union(set);
            number += 1;
        }
    }
    number
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::coalition::OfSize;
    use super::*;

    proptest! {
        #[test]
        fn settled_means_every_coalition_is_covered(safe in proptest::collection::vec(0..256u32, 0..12), within in 0..256u32, m in 0..6usize) {
            let coalition = |bits: u32| -> Coalition { (0..8).filter(|site| bits >> site & 1 == 1).collect() };
            let within = coalition(within);
            prop_assume!(m <= within.size());
            let mut all = Safe::default();
            safe.into_iter().for_each(|bits| all.insert(coalition(bits)));
            let covered = OfSize::new(8, m).map(Coalition::from_iter).filter(|one| one.is_within(within)).all(|one| all.covers(one));
            prop_assert_eq!(all.settles(within, m), covered);
        }
    }
}
