//! The work of the site whose turn it is: which of its records may leave their clusters, the questions
//! to the others about them, and where the records go.
//!
//! # Discloses
//! Nothing by itself; `turn` asks and announces.

use rayon::prelude::*;

use super::values::{OwnValues, bit};
use super::work::Work;
use crate::clustering::measure::Growth;
use crate::clustering::numbers::{Cluster, Row};

/// Records whose best clusters are looked for at the same time.
const AT_A_TIME: usize = 512;
/// Clusters with which an exchange is tried.
const EXCHANGES: usize = 6;

/// A record that may leave its cluster.
struct Leaving {
    row: Row,
    from: Cluster,
    /// The closure that the record leaves behind, where it changes.
    without: Option<Vec<u64>>,
}

/// An exchange of records between two clusters: the cost of the two beyond the least possible, the other
/// cluster, and the record that comes from it.
type Exchange = (u64, Cluster, Row);

/// What the site whose turn it is keeps to itself.
pub(super) struct Acting {
    site: u32,
    /// The site's records that are still to be looked at, in its order.
    waiting: Vec<Row>,
    /// For each cluster asked about, the record that would leave it.
    pub(super) candidates: Vec<Option<Row>>,
    /// The site's own values in each cluster, from the first question about them on.
    own: Vec<Option<OwnValues>>,
    /// Rows that moved in this turn.
    pub(super) has_come: Vec<bool>,
    pub(super) changed: Vec<bool>,
}

impl Acting {
    pub(super) fn new(work: &mut Work<'_>, speaker: usize, site: u32) -> Self {
        let count = work.clusters.len();
        let is_blurred = work.plan.is_blurred;
        let least = work.least;
        let speaker = &mut work.speakers[speaker];
        let rows = speaker.order.len();
        let looked_at = if is_blurred && rows > 0 {
            // Between a half and one and a half of the records, so that nobody can tell how many there
            // are.
            rows / 2 + speaker.generator.below(rows as u64 + 1) as usize
        } else {
            rows
        };
        let from = speaker.next;
        speaker.next = if rows == 0 {
            0
        } else {
            (from + looked_at) % rows
        };
        let order = &speaker.order;
        let waiting: Vec<Row> = (0..looked_at)
            .map(|place| order[(from + place) % rows])
            .collect();
        // Where no cluster may be smaller, records can still change places.
        let may_change = least > 0 && least == work.plan.demands.requirement.k();
        let may_leave = |row: &Row| {
            let size = work.clusters.size(work.cluster_of(*row));
            size > least || (may_change && size == least)
        };
        Self {
            site,
            waiting: waiting.into_iter().filter(may_leave).collect(),
            candidates: vec![None; count],
            own: vec![None; count],
            has_come: vec![false; work.rows.count],
            changed: vec![false; count],
        }
    }

    /// Whether the others are asked about a cluster without this row.
    pub(super) fn is_left_out(&self, cluster: Cluster, row: Row) -> bool {
        self.candidates[cluster.index()] == Some(row) || self.has_come[row.index()]
    }

    /// The attributes in which this site's own closure of a row's cluster would change without it.
    fn narrowed(&self, work: &Work<'_>, row: Row) -> u64 {
        let own = self.own[work.cluster_of(row).index()].as_ref();
        let all = || (0..work.shapes.attributes()).fold(0, |bits, attribute| bits | bit(attribute));
        own.map_or_else(all, |own| own.narrowed(work.shapes, work.record(row)))
    }

    /// Counts this site's values in some clusters.
    fn prepare(&mut self, work: &Work<'_>, clusters: impl Iterator<Item = Cluster>) {
        let mut unknown: Vec<Cluster> = clusters
            .filter(|cluster| self.own[cluster.index()].is_none())
            .collect();
        unknown.sort_unstable();
        unknown.dedup();
        let counted: Vec<OwnValues> = unknown
            .par_iter()
            .map(|cluster| {
                let rows = work.members(*cluster).iter().copied();
                let own = rows.filter(|row| work.owner_of(*row) == self.site);
                OwnValues::new(work.shapes.attributes(), own.map(|row| work.record(row)))
            })
            .collect();
        for (cluster, counted) in unknown.into_iter().zip(counted) {
            self.own[cluster.index()] = Some(counted);
        }
    }

    /// Looks at the records that can leave without a question.
    pub(super) fn take_quiet(&mut self, work: &mut Work<'_>) {
        let waiting = std::mem::take(&mut self.waiting);
        for rows in waiting.chunks(AT_A_TIME) {
            self.prepare(work, rows.iter().map(|row| work.cluster_of(*row)));
            let quiet: Vec<bool> = rows
                .par_iter()
                .map(|row| self.narrowed(work, *row) == 0)
                .collect();
            let mut leaving = Vec::with_capacity(rows.len());
            for (row, is_quiet) in rows.iter().zip(quiet) {
                if is_quiet {
                    leaving.push(Leaving {
                        row: *row,
                        from: work.cluster_of(*row),
                        without: None,
                    });
                } else {
                    self.waiting.push(*row);
                }
            }
            self.weigh(work, leaving);
        }
    }

    /// Chooses a record of each cluster, and marks the attributes that must be asked about.
    pub(super) fn ask(&mut self, work: &Work<'_>, masks: &mut [u64]) {
        self.candidates.fill(None);
        let waiting = std::mem::take(&mut self.waiting);
        for row in waiting {
            if self.has_come[row.index()] {
                continue;
            }
            let cluster = work.cluster_of(row);
            if self.candidates[cluster.index()].is_none() {
                self.candidates[cluster.index()] = Some(row);
            } else {
                self.waiting.push(row);
            }
        }
        let asked = self.candidates.iter().enumerate();
        let asked: Vec<Cluster> = asked
            .filter_map(|(place, row)| row.map(|_| Cluster::at(place)))
            .collect();
        self.prepare(work, asked.into_iter());
        let found: Vec<u64> = self
            .candidates
            .par_iter()
            .map(|row| row.map_or(0, |row| self.narrowed(work, row)))
            .collect();
        masks.copy_from_slice(&found);
    }

    pub(super) fn take_asked(&mut self, work: &mut Work<'_>, closures: Vec<Option<Vec<u64>>>) {
        let candidates = self.candidates.iter().zip(closures).enumerate();
        let mut leaving: Vec<Leaving> = candidates
            .filter_map(|(place, (row, without))| {
                let (row, from) = ((*row)?, Cluster::at(place));
                Some(Leaving { row, from, without })
            })
            .collect();
        leaving.sort_unstable_by_key(|leaving| leaving.row);
        let mut late = Vec::new();
        let mut rest = leaving;
        let touched: Vec<bool> = vec![false; work.clusters.len()];
        let before = std::mem::replace(&mut self.changed, touched);
        while !rest.is_empty() {
            let behind = rest.split_off(rest.len().min(AT_A_TIME));
            let (now, later): (Vec<Leaving>, Vec<Leaving>) = std::mem::replace(&mut rest, behind)
                .into_iter()
                .partition(|leaving| !self.changed[leaving.from.index()]);
            late.extend(later.into_iter().map(|leaving| leaving.row));
            let (free, bound): (Vec<Leaving>, Vec<Leaving>) = now
                .into_iter()
                .partition(|leaving| work.clusters.size(leaving.from) > work.least);
            self.weigh(work, free);
            self.exchange(work, bound);
        }
        for (changed, before) in self.changed.iter_mut().zip(before) {
            *changed |= before;
        }
        late.extend(std::mem::take(&mut self.waiting));
        self.waiting = late;
        self.candidates.fill(None);
    }

    /// Looks for the best cluster of each record among the present clusters, then moves record after
    /// record, if the move still lowers the loss.
    fn weigh(&mut self, work: &mut Work<'_>, leaving: Vec<Leaving>) {
        let targets: Vec<Option<Cluster>> = leaving
            .par_iter()
            .map(|leaving| {
                let gain = self.gain(work, leaving)?;
                let (row, from) = (leaving.row, leaving.from);
                let may_join = |cluster: Cluster| cluster != from && may_join(work, cluster, row);
                let growth = Growth::new(work.shapes, work.record(row));
                let best = work.clusters.nearest(&growth, (1, gain), may_join);
                best.first().map(|(_, cluster)| *cluster)
            })
            .collect();
        for (leaving, target) in leaving.into_iter().zip(targets) {
            let Some(target) = target else { continue };
            let (row, from) = (leaving.row, leaving.from);
            // Where sizes are blurred, a record may be looked at twice; it moves once.
            if self.has_come[row.index()] {
                continue;
            }
            let is_stale = match leaving.without {
                // Others may have left or come since the others were asked.
                Some(_) => self.changed[from.index()],
                None => self.changed[from.index()] && self.narrowed(work, row) != 0,
            };
            if is_stale {
                self.waiting.push(row);
                continue;
            }
            let Some(gain) = self.gain(work, &leaving) else {
                continue;
            };
            let record = work.record(row);
            let is_better = work.clusters.size(target) > 0
                && work.clusters.growth(work.shapes, target, record) < gain
                && may_join(work, target, row);
            if is_better {
                self.shift(work, leaving, target);
            }
        }
    }

    /// Lets records that cannot leave change places with other records of this site that leave without a
    /// question, if that lowers the loss.
    fn exchange(&mut self, work: &mut Work<'_>, leaving: Vec<Leaving>) {
        let best: Vec<Option<Exchange>> = leaving
            .par_iter()
            .map(|leaving| self.best_exchange(work, leaving))
            .collect();
        for (leaving, best) in leaving.into_iter().zip(best) {
            let Some((_, target, other)) = best else {
                continue;
            };
            let (row, from) = (leaving.row, leaving.from);
            let has_come = |row: Row| self.has_come[row.index()];
            let is_changed = |cluster: Cluster| self.changed[cluster.index()];
            if is_changed(from) || is_changed(target) || has_come(row) || has_come(other) {
                self.waiting.push(row);
                continue;
            }
            if !keeps_diversity(work, (row, from), (other, target)) {
                continue;
            }
            self.shift(work, leaving, target);
            let back = Leaving {
                row: other,
                from: target,
                without: None,
            };
            self.shift(work, back, from);
        }
    }

    /// The exchange for a record that loses least.
    fn best_exchange(&self, work: &Work<'_>, leaving: &Leaving) -> Option<Exchange> {
        let without = leaving.without.as_ref()?;
        let (from, record) = (leaving.from, work.record(leaving.row));
        let (size, now) = (work.clusters.size(from), work.clusters.loss_of(from));
        let growth = Growth::new(work.shapes, record);
        let bounds = (EXCHANGES, u64::MAX);
        let near = work
            .clusters
            .nearest(&growth, bounds, |cluster| cluster != from);
        let targets = near.into_iter().filter_map(|(_, target)| {
            let joined = work
                .shapes
                .joined_cost(work.clusters.closure(target), record);
            let wider = joined.saturating_sub(work.clusters.cost(target));
            let widened = work.clusters.size(target) * wider;
            (widened + size * work.shapes.cost(without) < now).then_some((target, widened))
        });
        let exchanges = targets.filter_map(|(target, widened)| {
            let rows = work.members(target).iter().copied();
            let own: Vec<Row> = rows
                .filter(|row| work.owner_of(*row) == self.site)
                .collect();
            let records = own.iter().map(|row| work.record(*row));
            let values = OwnValues::new(work.shapes.attributes(), records);
            let quiet = own.into_iter().filter(|row| {
                !self.has_come[row.index()] && values.narrowed(work.shapes, work.record(*row)) == 0
            });
            let costs = quiet.map(|row| (work.shapes.joined_cost(without, work.record(row)), row));
            let (cost, row) = costs.min()?;
            Some((widened + size * cost, target, row))
        });
        exchanges.min().filter(|(loss, ..)| *loss < now)
    }

    /// Moves a record, and updates what is known of its clusters.
    fn shift(&mut self, work: &mut Work<'_>, leaving: Leaving, to: Cluster) {
        let Leaving { row, from, without } = leaving;
        if let Some(own) = &mut self.own[from.index()] {
            own.take(work.record(row));
        }
        if let Some(own) = &mut self.own[to.index()] {
            own.add(work.record(row));
        }
        self.has_come[row.index()] = true;
        self.changed[from.index()] = true;
        self.changed[to.index()] = true;
        let mut joined = work.clusters.closure(to).to_vec();
        work.shapes.join_record(&mut joined, work.record(row));
        work.relabel(row, to);
        let values = work.values(row).to_vec();
        work.clusters.change(|change| {
            *change.size_mut(from) -= 1;
            *change.size_mut(to) += 1;
            for value in values {
                change.counts_mut(from)[value as usize] -= 1;
                change.counts_mut(to)[value as usize] += 1;
            }
            if let Some(closure) = without {
                change.set_closure(from, &closure);
            }
            change.set_closure(to, &joined);
        });
    }

    /// By how much the loss falls when a record leaves its cluster; `None` if the record must stay. A
    /// record that is alone must leave.
    fn gain(&self, work: &Work<'_>, leaving: &Leaving) -> Option<u64> {
        let from = leaving.from;
        let size = work.clusters.size(from);
        if size <= work.least || size == 0 {
            return None;
        }
        if size == 1 {
            return Some(u64::MAX);
        }
        if !work.values(leaving.row).is_empty() {
            let counts = work.clusters.counts(from);
            let mut without = counts.to_vec();
            for value in work.values(leaving.row) {
                without[*value as usize] -= 1;
            }
            if work.is_diverse(size, counts) && !work.is_diverse(size - 1, &without) {
                return None;
            }
        }
        let cost = match &leaving.without {
            Some(closure) => work.shapes.cost(closure),
            None => work.clusters.cost(from),
        };
        // A narrower cell may have more entropy: then the record stays.
        Some(
            work.clusters
                .loss_of(from)
                .saturating_sub((size - 1) * cost),
        )
    }
}

/// Whether a cluster keeps its diversity when a row joins it.
fn may_join(work: &Work<'_>, cluster: Cluster, row: Row) -> bool {
    if work.values(row).is_empty() {
        return true;
    }
    let (size, counts) = (work.clusters.size(cluster), work.clusters.counts(cluster));
    let mut with = counts.to_vec();
    for value in work.values(row) {
        with[*value as usize] += 1;
    }
    work.is_diverse(size + 1, &with) || !work.is_diverse(size, counts)
}

/// Whether two clusters keep their diversity when two of their rows change places.
fn keeps_diversity(work: &Work<'_>, one: (Row, Cluster), other: (Row, Cluster)) -> bool {
    let keeps = |(goes, cluster): (Row, Cluster), comes: Row| {
        let (size, counts) = (work.clusters.size(cluster), work.clusters.counts(cluster));
        let mut after = counts.to_vec();
        for value in work.values(goes) {
            after[*value as usize] -= 1;
        }
        for value in work.values(comes) {
            after[*value as usize] += 1;
        }
        work.is_diverse(size, &after) || !work.is_diverse(size, counts)
    };
    keeps(one, other.0) && keeps(other, one.0)
}
