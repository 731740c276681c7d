//! A cluster of one site between two passes: its records and what is known of them.

use super::quick::Quick;
use crate::clustering::numbers::Row;

/// A cluster.
#[derive(Clone)]
pub(super) struct Built {
    pub(super) rows: Vec<Row>,
    pub(super) closure: Vec<u64>,
    pub(super) cost: u64,
    /// How often each sensitive value occurs, where the requirement speaks of them.
    pub(super) counts: Vec<u64>,
}

impl Built {
    pub(super) fn of(quick: &Quick<'_>, rows: Vec<Row>) -> Self {
        let closure = quick.closure_of(&rows);
        Self {
            cost: quick.cost(&closure),
            counts: quick.counts_of(&rows),
            rows,
            closure,
        }
    }

    pub(super) fn loss(&self) -> u64 {
        self.rows.len() as u64 * self.cost
    }

    pub(super) fn add(&mut self, quick: &Quick<'_>, row: Row) {
        quick.join(&mut self.closure, row);
        self.cost = quick.cost(&self.closure);
        self.rows.push(row);
        for value in quick.values(row) {
            self.counts[*value as usize] += 1;
        }
    }

    /// By how much the loss grows when a record joins; 0 where the loss falls, as entropy can.
    pub(super) fn growth(&self, quick: &Quick<'_>, row: Row) -> u64 {
        let joined = quick.joined_cost(&self.closure, row);
        ((self.rows.len() as u64 + 1) * joined).saturating_sub(self.loss())
    }

    /// Whether the cluster satisfies the requirement.
    pub(super) fn is_enough(&self, quick: &Quick<'_>) -> bool {
        let size = self.rows.len();
        size >= quick.k() && quick.work.is_diverse(size as u64, &self.counts)
    }
}

/// What all clusters lose together.
pub(super) fn loss(clusters: &[Built]) -> u64 {
    clusters.iter().map(Built::loss).sum()
}
