//! By how much this site's loss changes when the records of a block join clusters (TG12 Algorithm 4, step
//! 6), modulo 2^64: entropy may fall at one site while the loss grows at another, and only the sum tells.
//!
//! The sums of a record that is asked about most clusters come from tables: the cost of an attribute in
//! each cluster together with a value is computed once for all records of the block with that value, and
//! a record's sums add such rows. The numbers are the same as for each pair of record and cluster alone.

use rayon::prelude::*;

use super::work::Work;
use crate::clustering::numbers::{Cluster, Row};

/// A record asked about at least this share of the clusters is looked up.
const MOST: usize = 4;

/// For each record of a block, by how much this site's loss changes in each of its clusters, one record's
/// after the other's. `targets` are a record's clusters, ascending and all among `living`.
pub(super) fn joins<'b>(
    work: &Work<'_>,
    rows: &[Row],
    targets: impl Fn(usize) -> &'b [Cluster] + Sync,
    living: &[Cluster],
) -> Vec<u64> {
    let asked = (0..rows.len()).map(|place| targets(place).len());
    let mut changes = vec![0; asked.clone().sum()];
    let is_looked_up = |count: usize| count * MOST >= living.len();
    let looked_up = rows.iter().zip(asked.clone());
    let looked_up = looked_up.filter_map(|(row, count)| is_looked_up(count).then_some(*row));
    let tables = Tables::new(work, &looked_up.collect::<Vec<Row>>(), living);
    let mut of_row: Vec<(usize, &mut [u64])> = Vec::with_capacity(rows.len());
    let mut rest = changes.as_mut_slice();
    for (place, count) in asked.enumerate() {
        let (own, behind) = rest.split_at_mut(count);
        of_row.push((place, own));
        rest = behind;
    }
    of_row.into_par_iter().for_each(|(place, own)| {
        let (row, targets) = (rows[place], targets(place));
        if is_looked_up(targets.len()) {
            let sums = tables.joined(work, row);
            let mut all = living.iter().zip(sums);
            for (change, to) in own.iter_mut().zip(targets) {
                // Both ascend, and every target is living.
                let joined = all.find(|(cluster, _)| *cluster == to);
                let joined = joined.map_or(0, |(_, joined)| joined);
                *change = work.joining_at(*to, joined);
            }
        } else {
            for (change, to) in own.iter_mut().zip(targets) {
                *change = work.joining(row, *to);
            }
        }
    });
    changes
}

/// The cost of each attribute in each cluster together with a value.
struct Tables {
    clusters: usize,
    attributes: Vec<Table>,
}

struct Table {
    /// The clusters' closures in this attribute, one after the other.
    parts: Vec<u64>,
    /// Codes that several records have, ascending.
    codes: Vec<u32>,
    /// For each value in the table, a row of costs.
    costs: Vec<u64>,
}

impl Tables {
    fn new(work: &Work<'_>, rows: &[Row], living: &[Cluster]) -> Self {
        let clusters = if rows.is_empty() { 0 } else { living.len() };
        let table = |attribute: usize| {
            let closures = living[..clusters].iter();
            let closures = closures.map(|cluster| work.clusters.closure(*cluster));
            let parts = closures.flat_map(|closure| work.shapes.part(attribute, closure));
            let parts: Vec<u64> = parts.copied().collect();
            let codes = rows.iter().map(|row| work.record(*row)[attribute]);
            let mut codes: Vec<u32> = codes.collect();
            codes.sort_unstable();
            let runs = codes.chunk_by(|one, other| one == other);
            let codes: Vec<u32> = runs.filter(|run| run.len() > 1).map(|run| run[0]).collect();
            let mut costs = vec![0; codes.len() * clusters];
            for (code, costs) in codes.iter().zip(costs.chunks_exact_mut(clusters.max(1))) {
                let shapes = work.shapes;
                shapes.add_joined_costs(attribute, &parts, *code, costs);
            }
            Table {
                parts,
                codes,
                costs,
            }
        };
        let attributes = 0..work.shapes.attributes();
        Self {
            clusters,
            attributes: attributes.into_par_iter().map(table).collect(),
        }
    }

    /// The cost of each cluster's closure together with a record.
    fn joined(&self, work: &Work<'_>, row: Row) -> Vec<u64> {
        let mut sums = vec![0; self.clusters];
        for (attribute, code) in work.record(row).iter().enumerate() {
            let table = &self.attributes[attribute];
            let Ok(place) = table.codes.binary_search(code) else {
                let shapes = work.shapes;
                shapes.add_joined_costs(attribute, &table.parts, *code, &mut sums);
                continue;
            };
            let costs = &table.costs[place * self.clusters..(place + 1) * self.clusters];
            for (sum, cost) in sums.iter_mut().zip(costs) {
                *sum += cost;
            }
        }
        sums
    }
}
