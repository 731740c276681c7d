//! The changes of records that wait, which the pivot keeps as published: a record that is asked about again
//! is asked about clusters that have changed since, and not about all.
//!
//! What a record adds to a cluster does not change while the cluster does not. What it saves when it leaves
//! its own cluster is part of every change: where that cluster has changed, one other cluster is asked
//! about once more, and all kept changes differ by as much as this one does.
//!
//! # Discloses
//! Nothing: the pivot keeps what it was told.

use std::collections::HashMap;

use super::pass::Block;
use super::work::Work;
use crate::clustering::numbers::{Cluster, Row};

/// The most changes that are kept: 128 MB at the pivot.
const MOST_KEPT: usize = 1 << 24;

/// The changes of one record.
struct Told {
    /// When they were told.
    at: u64,
    /// The clusters that were asked about, ascending.
    targets: Vec<Cluster>,
    /// By how much the loss changes in each, which only the pivot knows.
    changes: Vec<u64>,
}

/// The changes of records that wait. All sites know of which records and clusters.
#[derive(Default)]
pub(super) struct Kept {
    told: HashMap<Row, Told>,
    changes: usize,
}

impl Kept {
    /// The places of a record's moves that must be asked about.
    pub(super) fn to_ask(&self, work: &Work<'_>, block: &Block, place: usize) -> Vec<usize> {
        let row = block.rows[place];
        let Some(told) = self.told.get(&row) else {
            return block.range(place).collect();
        };
        let is_kept = |at: &usize| told.holds(work, block.targets[*at]);
        let (kept, mut asked): (Vec<usize>, Vec<usize>) = block.range(place).partition(is_kept);
        if work.changed[work.cluster_of(row).index()] > told.at {
            asked.extend(kept.first());
            asked.sort_unstable();
        }
        asked
    }

    /// Fills in a record's changes that were not asked about, from those that were; `changes` are those of
    /// all its moves, and `asked` says which were asked about.
    pub(super) fn fill(
        &self,
        work: &Work<'_>,
        block: &Block,
        place: usize,
        changes: &mut [u64],
        asked: impl Fn(usize) -> bool,
    ) {
        let Some(told) = self.told.get(&block.rows[place]) else {
            return;
        };
        let range = block.range(place);
        let before = |at: usize| told.change(work, block.targets[at]);
        let mut both = range.clone().filter(|at| asked(*at));
        let differs = both.find_map(|at| Some(changes[at].wrapping_sub(before(at)?)));
        for at in range.filter(|at| !asked(*at)) {
            let before = before(at).unwrap_or(0);
            changes[at] = before.wrapping_add(differs.unwrap_or(0));
        }
    }

    /// Keeps the changes of a record that waits.
    pub(super) fn keep(&mut self, clock: u64, block: &Block, place: usize, changes: &[u64]) {
        let range = block.range(place);
        self.forget(block.rows[place]);
        if self.changes + range.len() > MOST_KEPT {
            return;
        }
        self.changes += range.len();
        let told = Told {
            at: clock,
            targets: block.of(place).to_vec(),
            changes: changes.get(range).unwrap_or_default().to_vec(),
        };
        self.told.insert(block.rows[place], told);
    }

    /// Forgets the changes of a record.
    pub(super) fn forget(&mut self, row: Row) {
        if let Some(told) = self.told.remove(&row) {
            self.changes -= told.targets.len();
        }
    }
}

impl Told {
    /// Whether what the record adds to a cluster is as it was told.
    fn holds(&self, work: &Work<'_>, to: Cluster) -> bool {
        work.changed[to.index()] <= self.at && self.targets.binary_search(&to).is_ok()
    }

    /// The change that was told of a cluster, if what the record adds there is the same.
    fn change(&self, work: &Work<'_>, to: Cluster) -> Option<u64> {
        let place = self.targets.binary_search(&to).ok()?;
        let is_same = work.changed[to.index()] <= self.at;
        is_same.then(|| self.changes.get(place).copied().unwrap_or(0))
    }
}
