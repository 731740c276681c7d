//! What the list of a union gives away of the leader's items, beside JX08's bounds.

use std::collections::BTreeMap;

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
    /// Set exposure where the successor knows who leads, and its bound by equation 4.
    pub leader_set: f64,
    /// Equation 4.
    pub leader_set_bound: f64,
    /// Set exposure of a site, a mean over all sites, where each takes its predecessor for the leader. Of
    /// n sites one leads, so this is 1/n of the set exposure of a known leader; equation 5 leaves out the
    /// adversary and has 1/(n - 1), which makes it a bound.
    pub set: f64,
    /// Equation 5.
    pub set_bound: f64,
    /// Item exposure where the successor knows who leads.
    pub leader_item: f64,
    /// Equation 7.
    pub leader_item_bound: f64,
    /// Equation 9: random items that keep set exposure at or below [`LEVEL`].
    pub items_for_set: u64,
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
            items_for_set: all.items_for_set,
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

        let (united, of_leader) = (counted(&leader.united), counted(&leader.held));
        let others = minus(&united, &of_leader).len();
        let setting = Setting {
            sites,
            domain: leader.domain,
            united: united.len() as f64,
            leader: (united.len() - others) as f64,
        };
        let even = Setting::even(sites, leader.domain, leader.united.len() as f64);
        self.leader_set_bound += setting.set_exposure_known_leader(leader.random);
        self.set_bound += setting.set_exposure(leader.random);
        self.leader_item_bound += even.item_exposure_worst(leader.random);
        let for_set = setting.decoys_for_set_exposure(LEVEL) as u64;
        let for_item = even.decoys_for_item_exposure(LEVEL) as u64;
        self.items_for_set = self.items_for_set.max(for_set);
        self.items_for_item = self.items_for_item.max(for_item);
    }
}

/// How often each item is there.
type Counts = BTreeMap<u64, u64>;

fn counted(items: &[u64]) -> Counts {
    let mut counts = Counts::new();
    for item in items {
        *counts.entry(*item).or_default() += 1;
    }
    counts
}

fn minus(left: &Counts, right: &Counts) -> Counts {
    let rest = |(item, count): (&u64, &u64)| {
        let left = count.saturating_sub(right.get(item).copied().unwrap_or(0));
        (left > 0).then_some((*item, left))
    };
    left.iter().filter_map(rest).collect()
}

fn both(left: &Counts, right: &Counts) -> Counts {
    let both = |(item, count): (&u64, &u64)| {
        let both = right.get(item).copied().unwrap_or(0).min(*count);
        (both > 0).then_some((*item, both))
    };
    left.iter().filter_map(both).collect()
}

/// Whether what passed and is in the result is the site's set, minus the chance that one of all sets of
/// others' items is (equation 2).
fn set_exposure(site: &Lists, successor: &Lists) -> f64 {
    let (united, held) = (counted(&successor.united), counted(&site.held));
    let claimed = both(&counted(&successor.seen), &united);
    let others = minus(&united, &counted(&successor.held));
    let guessed: f64 = others
        .values()
        .map(|count| 1.0 / (*count as f64 + 1.0))
        .product();
    (f64::from(u8::from(claimed == held)) - guessed).max(0.0)
}

/// The share of items that passed, are in the result and are not the successor's own, that are the site's;
/// minus the share of others' items in the result that are.
fn item_exposure(site: &Lists, successor: &Lists) -> f64 {
    let (united, held) = (counted(&successor.united), counted(&site.held));
    let others = minus(&united, &counted(&successor.held));
    let share = |items: &Counts| {
        let all: u64 = items.values().sum();
        let own = items.iter().filter(|(item, _)| held.contains_key(item));
        own.map(|(_, count)| *count).sum::<u64>() as f64 / all.max(1) as f64
    };
    (share(&both(&counted(&successor.seen), &others)) - share(&others)).max(0.0)
}
