//! Ruin and recreate (Schrimpf et al. 2000), for one site that has all records: small groups of
//! neighbouring clusters are taken apart and built anew, record by record, and kept if they lose less.
//! Among many sites this would show records to others, so it is not done there.
//!
//! # Discloses
//! Nothing: there is no other site.

use hedgerow_smc::{Generator, Seed};
use rayon::prelude::*;

use super::work::Work;
use crate::clustering::numbers::{Cluster, Row};

/// Clusters of a group.
const GROUP: usize = 5;
/// How often all clusters are grouped and rebuilt.
const ROUNDS: usize = 40;
/// Ways in which a group is rebuilt, of which the best counts.
const WAYS: usize = 4;
/// Rebuilding ends when the loss falls by less than this share of it.
const LEAST_GAIN: u64 = 5000;

/// A cluster while it is built.
struct Built {
    rows: Vec<Row>,
    closure: Vec<u64>,
    cost: u64,
}

/// Rebuilds groups of clusters while the loss falls.
pub(super) fn rebuild(work: &mut Work<'_>) {
    if work.rows.sites > 1 || work.table.speaks_of_sites() {
        return;
    }
    for _ in 0..ROUNDS {
        let before = work.clusters.loss();
        let groups = groups(work);
        let rebuilt: Vec<Option<Vec<Built>>> = groups
            .par_iter()
            .map(|(seed, group)| better(work, seed, group))
            .collect();
        for ((_, group), built) in groups.into_iter().zip(rebuilt) {
            if let Some(built) = built {
                replace(work, &group, built);
            }
        }
        work.tidy();
        if before - work.clusters.loss() <= before / LEAST_GAIN {
            break;
        }
    }
}

/// All clusters in groups of neighbours, each around a random cluster, with the seed to rebuild the
/// group by.
fn groups(work: &mut Work<'_>) -> Vec<(Seed, Vec<Cluster>)> {
    let mut left: Vec<Cluster> = work.clusters.living().collect();
    let Some(speaker) = work.speakers.first_mut() else {
        return Vec::new();
    };
    speaker.generator.shuffle(&mut left);
    let mut groups = Vec::new();
    while let Some(centre) = left.pop() {
        let closure = work.clusters.closure(centre);
        let mut near: Vec<(u64, Cluster)> = left
            .par_iter()
            .map(|other| {
                let closure_of_other = work.clusters.closure(*other);
                (work.shapes.common_cost(closure, closure_of_other), *other)
            })
            .collect();
        if near.len() >= GROUP {
            near.select_nth_unstable(GROUP - 2);
            near.truncate(GROUP - 1);
        }
        let mut group = vec![centre];
        group.extend(near.into_iter().map(|(_, other)| other));
        left.retain(|cluster| !group.contains(cluster));
        let mut bytes = [0; 32];
        work.speakers[0].generator.fill(&mut bytes);
        groups.push((Seed::new(bytes), group));
    }
    groups
}

/// The records of some clusters in new clusters that lose less, if such clusters are found.
fn better(work: &Work<'_>, seed: &Seed, group: &[Cluster]) -> Option<Vec<Built>> {
    let mut generator = Generator::new(seed);
    let rows = group.iter().flat_map(|cluster| work.members(*cluster));
    let rows: Vec<Row> = rows.copied().collect();
    let mut best: u64 = group
        .iter()
        .map(|cluster| work.clusters.loss_of(*cluster))
        .sum();
    let mut found = None;
    for _ in 0..WAYS {
        let mut left = rows.clone();
        generator.shuffle(&mut left);
        let mut built = build(work, left);
        improve(work, &mut built);
        let loss: u64 = built.iter().map(Built::loss).sum();
        if loss < best && built.iter().all(|cluster| cluster.is_diverse(work)) {
            best = loss;
            found = Some(built);
        }
    }
    found
}

/// Clusters of k, each grown from a record by the records that widen it least; the last cluster takes
/// the rest.
fn build(work: &Work<'_>, mut left: Vec<Row>) -> Vec<Built> {
    let k = work.k() as usize;
    let mut built = Vec::new();
    while left.len() >= 2 * k {
        let Some(first) = left.pop() else { break };
        let mut cluster = Built::of(work, vec![first]);
        while cluster.rows.len() < k {
            let nearest = (0..left.len()).min_by_key(|place| {
                work.shapes
                    .joined_cost(&cluster.closure, work.record(left[*place]))
            });
            let Some(nearest) = nearest else { break };
            cluster.add(work, left.swap_remove(nearest));
        }
        built.push(cluster);
    }
    if !left.is_empty() {
        built.push(Built::of(work, left));
    }
    built
}

/// Moves records out of clusters above k while that saves.
fn improve(work: &Work<'_>, built: &mut [Built]) {
    let k = work.k() as usize;
    let mut has_moved = true;
    while has_moved {
        has_moved = false;
        for from in 0..built.len() {
            let mut place = 0;
            while place < built[from].rows.len() && built[from].rows.len() > k {
                let row = built[from].rows[place];
                let others = built[from]
                    .rows
                    .iter()
                    .copied()
                    .filter(|other| *other != row);
                let without = Built::of(work, others.collect());
                // Entropy may grow where a closure narrows: then the record stays.
                let gain = built[from].loss().saturating_sub(without.loss());
                let growths = (0..built.len()).filter(|to| *to != from);
                let growths = growths.map(|to| (built[to].growth(work, row), to));
                match growths.min() {
                    Some((growth, to)) if growth < gain => {
                        built[to].add(work, row);
                        built[from] = without;
                        has_moved = true;
                    }
                    _ => place += 1,
                }
            }
        }
    }
}

/// Puts what was built in the place of a group of clusters.
fn replace(work: &mut Work<'_>, group: &[Cluster], built: Vec<Built>) {
    let mut numbers: Vec<Cluster> = group.to_vec();
    while numbers.len() < built.len() {
        numbers.push(work.open());
    }
    let counts: Vec<Vec<u64>> = built.iter().map(|built| built.counts(work)).collect();
    work.clusters.change(|change| {
        group.iter().for_each(|cluster| change.empty(*cluster));
        for ((number, built), counts) in numbers.iter().zip(&built).zip(&counts) {
            change.set_counts(*number, built.rows.len() as u64, counts);
            change.set_closure(*number, &built.closure);
        }
    });
    for (number, built) in numbers.iter().zip(built) {
        for row in built.rows {
            work.relabel(row, *number);
        }
    }
}

impl Built {
    fn of(work: &Work<'_>, rows: Vec<Row>) -> Self {
        let closure = work.closure_of(rows.iter().copied()).unwrap_or_default();
        let cost = if rows.is_empty() {
            0
        } else {
            work.shapes.cost(&closure)
        };
        Self {
            rows,
            closure,
            cost,
        }
    }

    fn add(&mut self, work: &Work<'_>, row: Row) {
        work.shapes.join_record(&mut self.closure, work.record(row));
        self.cost = work.shapes.cost(&self.closure);
        self.rows.push(row);
    }

    fn loss(&self) -> u64 {
        self.rows.len() as u64 * self.cost
    }

    fn growth(&self, work: &Work<'_>, row: Row) -> u64 {
        let joined = work.shapes.joined_cost(&self.closure, work.record(row));
        ((self.rows.len() as u64 + 1) * joined).saturating_sub(self.loss())
    }

    fn is_diverse(&self, work: &Work<'_>) -> bool {
        work.is_diverse(self.rows.len() as u64, &self.counts(work))
    }

    /// How often each sensitive value occurs.
    fn counts(&self, work: &Work<'_>) -> Vec<u64> {
        let mut counts = vec![0; work.clusters.counters()];
        for row in &self.rows {
            for value in work.values(*row) {
                counts[*value as usize] += 1;
            }
        }
        counts
    }
}
