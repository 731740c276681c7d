//! What the list of a union gives away of the leader's items, beside JX08's bounds.

use serde::{Deserialize, Serialize};

use super::{Lists, Witness};
use crate::union::loss::Setting;

/// The LoP for which equations 9 and 10 say how many random items are enough: what the paper reaches with
/// 100 random items (section 6.3).
pub const LEVEL: f64 = 0.02;

/// The loss of privacy of unions, each number a mean over all unions of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unions {
    /// How many unions there were.
    pub unions: u64,
    /// Random items that a leader added.
    pub random_items: u64,
    /// Set exposure where the successor knows who leads.
    pub leader_set: f64,
    /// Equation 4: what is expected over draws of the random items, so that the measure of one run may lie
    /// above it.
    pub leader_set_bound: f64,
    /// Set exposure of a site, a mean over all sites, where each takes its predecessor for the leader. Of
    /// n sites that all have items one leads, so this is 1/n of the set exposure of a known leader; equation
    /// 5 leaves out the adversary and has 1/(n - 1). Where sites after the leader have nothing to add, what
    /// passes them is the leader's set still, and the measure may exceed the equation.
    pub set: f64,
    /// Equation 5.
    pub set_bound: f64,
    /// Item exposure where the successor knows who leads.
    pub leader_item: f64,
    /// Equation 7.
    pub leader_item_bound: f64,
    /// Equation 9: random items that keep set exposure at or below [`LEVEL`]; nothing where no number is
    /// enough.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub items_for_set: Option<u64>,
    /// Equation 10: random items that keep the worst item exposure at or below [`LEVEL`].
    pub items_for_item: u64,
}

impl Unions {
    /// Pairs are the site that is watched, and its successor.
    pub(super) fn measure(watched: &[(&Witness, &Witness)]) -> Option<Self> {
        let calls = watched.iter().map(|(site, _)| site.unions.len()).min();
        let calls = calls.filter(|calls| *calls > 0)?;
        let mut all = Sums::default();
        for call in 0..calls {
            let lists: Vec<(&Lists, &Lists)> = watched
                .iter()
                .map(|(site, successor)| (&site.unions[call], &successor.unions[call]))
                .collect();
            all.add(&lists);
        }
        let mean = |sum: f64| sum / calls as f64;
        Some(Self {
            unions: calls as u64,
            random_items: all.random,
            leader_set: mean(all.leader_set),
            leader_set_bound: mean(all.leader_set_bound),
            set: mean(all.set),
            set_bound: mean(all.set_bound),
            leader_item: mean(all.leader_item),
            leader_item_bound: mean(all.leader_item_bound),
            items_for_set: (!all.is_known).then_some(all.items_for_set),
            items_for_item: all.items_for_item,
        })
    }
}

/// Sums over unions; numbers of random items are those of the union that needs the most.
#[derive(Default)]
struct Sums {
    random: u64,
    leader_set: f64,
    leader_set_bound: f64,
    set: f64,
    set_bound: f64,
    leader_item: f64,
    leader_item_bound: f64,
    items_for_set: u64,
    /// Whether the leader of a union has all items.
    is_known: bool,
    items_for_item: u64,
}

impl Sums {
    fn add(&mut self, lists: &[(&Lists, &Lists)]) {
        let Some((leader, second)) = lists.iter().find(|(site, _)| site.leads) else {
            return;
        };
        let sites = lists.len() as u32;
        self.random = self.random.max(leader.random as u64);
        self.leader_set += set_exposure(leader, second);
        let exposed: f64 = lists
            .iter()
            .map(|(site, successor)| set_exposure(site, successor))
            .sum();
        self.set += exposed / f64::from(sites);
        self.leader_item += item_exposure(leader, second);

        let united = distinct(&leader.united);
        let others = distinct(&minus(&leader.united, &leader.held));
        let setting = Setting {
            sites,
            domain: leader.domain,
            united: united as f64,
            leader: (united - others) as f64,
        };
        let even = Setting::even(sites, leader.domain, leader.united.len() as f64);
        self.leader_set_bound += setting.set_exposure_known_leader(leader.random);
        self.set_bound += setting.set_exposure(leader.random);
        self.leader_item_bound += even.item_exposure_worst(leader.random);
        let for_set = setting.decoys_for_set_exposure(LEVEL);
        self.is_known |= for_set.is_none();
        let for_item = even.decoys_for_item_exposure(LEVEL) as u64;
        self.items_for_set = self.items_for_set.max(for_set.unwrap_or(0) as u64);
        self.items_for_item = self.items_for_item.max(for_item);
    }
}

/// The items that are left of a sorted list when those of another are taken out, each as often as it
/// stands there.
fn minus(left: &[u64], right: &[u64]) -> Vec<u64> {
    let mut taken = right.iter().peekable();
    let is_left = |item: &&u64| {
        while taken.next_if(|next| next < item).is_some() {}
        taken.next_if_eq(item).is_none()
    };
    left.iter().filter(is_left).copied().collect()
}

/// The items of both sorted lists, each as often as it stands in both.
fn both(left: &[u64], right: &[u64]) -> Vec<u64> {
    let mut found = right.iter().peekable();
    let is_there = |item: &&u64| {
        while found.next_if(|next| next < item).is_some() {}
        found.next_if_eq(item).is_some()
    };
    left.iter().filter(is_there).copied().collect()
}

/// How many different items a sorted list has.
fn distinct(items: &[u64]) -> usize {
    items.chunk_by(PartialEq::eq).count()
}

/// Whether what passed and is in the result is the site's set, minus the chance that one of all sets of
/// others' items is (equation 2).
fn set_exposure(site: &Lists, successor: &Lists) -> f64 {
    if both(&successor.seen, &successor.united) != site.held {
        return 0.0;
    }
    let others = minus(&successor.united, &successor.held);
    let guessed: f64 = others
        .chunk_by(PartialEq::eq)
        .map(|alike| 1.0 / (alike.len() as f64 + 1.0))
        .product();
    1.0 - guessed
}

/// The share of items that passed, are in the result and are not the successor's own, that are the site's;
/// minus the share of others' items in the result that are.
fn item_exposure(site: &Lists, successor: &Lists) -> f64 {
    let others = minus(&successor.united, &successor.held);
    let share = |items: &[u64]| {
        let own = items
            .iter()
            .filter(|item| site.held.binary_search(item).is_ok());
        own.count() as f64 / items.len().max(1) as f64
    };
    (share(&both(&successor.seen, &others)) - share(&others)).max(0.0)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn counts(items: &[u64]) -> BTreeMap<u64, usize> {
        let mut counts = BTreeMap::new();
        items
            .iter()
            .for_each(|item| *counts.entry(*item).or_default() += 1);
        counts
    }

    proptest! {
        #[test]
        fn lists_are_multisets(
            mut left in prop::collection::vec(0u64..8, 0..20),
            mut right in prop::collection::vec(0u64..8, 0..20),
        ) {
            left.sort_unstable();
            right.sort_unstable();
            let (less, common) = (counts(&minus(&left, &right)), counts(&both(&left, &right)));
            let (left, right) = (counts(&left), counts(&right));
            for item in 0..8 {
                let of = |counts: &BTreeMap<u64, usize>| counts.get(&item).copied().unwrap_or(0);
                prop_assert_eq!(of(&less), of(&left).saturating_sub(of(&right)));
                prop_assert_eq!(of(&common), of(&left).min(of(&right)));
            }
        }
    }

    /// Three sites: the first leads with 1, 2 and the random 3 and 9; the others hold 3 and 4, and 5.
    #[test]
    fn claims_are_counted_by_hand() {
        let united = vec![1, 2, 3, 4, 5];
        let list = |held: &[u64], seen: &[u64], leads: bool| Lists {
            held: held.to_vec(),
            seen: seen.to_vec(),
            united: united.clone(),
            leads,
            random: 2,
            domain: 10.0,
        };
        let leader = list(&[1, 2], &[1, 2, 3, 3, 4, 5, 9], true);
        let second = list(&[3, 4], &[1, 2, 3, 9], false);
        // The random 3 is real: the claim of 1, 2 and 3 is wrong.
        assert_eq!(set_exposure(&leader, &second), 0.0);
        // But the second site holds 3 itself: 1 and 2 are left to claim, both right, of 1, 2 and 5.
        assert!((item_exposure(&leader, &second) - (1.0 - 2.0 / 3.0)).abs() < 1e-12);
        // Without it the claim is right; a guess had one chance in eight.
        let second = list(&[3, 4], &[1, 2, 9], false);
        assert!((set_exposure(&leader, &second) - 7.0 / 8.0).abs() < 1e-12);
    }
}
