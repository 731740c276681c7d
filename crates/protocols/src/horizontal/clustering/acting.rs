//! The work of the site whose turn it is: which of its records may leave their clusters, the questions
//! to the others about them, and where the records go.
//!
//! # Discloses
//! Nothing by itself; `turn` asks and announces.

use std::collections::HashSet;

use rayon::prelude::*;

use super::values::{OwnValues, bit};
use super::visits;
use super::work::Work;
use crate::clustering::Loss;
use crate::clustering::measure::Growth;
use crate::clustering::numbers::{Cluster, Row};

/// Records whose best clusters are looked for at the same time.
const AT_A_TIME: usize = 512;
/// Clusters with which an exchange is tried.
const EXCHANGES: usize = 6;

/// A record that may leave its cluster.
pub(super) struct Leaving {
    pub(super) row: Row,
    pub(super) from: Cluster,
    /// The closure that the record leaves behind, where it changes.
    without: Option<Vec<u64>>,
}

impl Leaving {
    /// A record whose cluster keeps its closure without it.
    fn quietly(work: &Work<'_>, row: Row) -> Self {
        Self {
            row,
            from: work.cluster_of(row),
            without: None,
        }
    }
}

/// An exchange of records between two clusters: the cost of the two beyond the least possible, the other
/// cluster, and the record that comes from it.
type Exchange = (u64, Cluster, Row);

/// What the site whose turn it is keeps to itself.
pub(super) struct Acting {
    site: u32,
    /// The site's records that are still to be looked at, in its order.
    pub(super) waiting: Vec<Row>,
    /// As printed, the records that the site's cycle comes to a second time in this turn.
    pub(super) again: Vec<Row>,
    /// For each cluster asked about, the record that would leave it.
    pub(super) candidates: Vec<Option<Row>>,
    /// The site's own values in each cluster, from the first question about them on.
    own: Vec<Option<OwnValues>>,
    /// Rows that moved in this turn.
    pub(super) has_come: Vec<bool>,
    pub(super) changed: Vec<bool>,
    /// Clusters that records may not join in this turn, where counts are hidden.
    pub(super) refused: HashSet<(Row, Cluster)>,
}

impl Acting {
    pub(super) fn new(work: &mut Work<'_>, speaker: usize, site: u32) -> Self {
        let count = work.clusters.len();
        let least = work.least;
        let is_printed = work.plan.is_printed;
        let looked_at = visits::of_turn(work, speaker);
        let speaker = &mut work.speakers[speaker];
        let rows = speaker.order.len();
        let from = speaker.next;
        speaker.next = if rows == 0 {
            0
        } else {
            (from + looked_at) % rows
        };
        let order = &speaker.order;
        let mut waiting: Vec<Row> = (0..looked_at)
            .map(|place| order[(from + place) % rows])
            .collect();
        let once = if is_printed { rows } else { looked_at };
        let again = waiting.split_off(once.min(looked_at));
        // Where no cluster may be smaller, records can still change places.
        let may_change = least > 0 && least == work.plan.demands.requirement.k();
        let may_leave = |row: &Row| {
            let size = work.clusters.size(work.cluster_of(*row));
            size > least || (may_change && size == least)
        };
        Self {
            site,
            waiting: waiting.into_iter().filter(may_leave).collect(),
            again,
            candidates: vec![None; count],
            own: vec![None; count],
            has_come: vec![false; work.rows.count],
            changed: vec![false; count],
            refused: HashSet::new(),
        }
    }

    /// Whether the others are asked about a cluster without this row.
    pub(super) fn is_left_out(&self, cluster: Cluster, row: Row) -> bool {
        self.candidates[cluster.index()] == Some(row) || self.has_come[row.index()]
    }

    /// The attributes in which this site's own closure of a row's cluster would change without it.
    fn narrowed(&self, work: &Work<'_>, row: Row) -> u64 {
        let cluster = work.cluster_of(row);
        // Without a record that is alone, nobody has anything there.
        if work.plan.is_printed && work.clusters.size(cluster) == 1 {
            return 0;
        }
        let own = self.own[cluster.index()].as_ref();
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
        if work.plan.is_printed {
            return self.visit_quiet(work, waiting);
        }
        for rows in waiting.chunks(AT_A_TIME) {
            self.prepare(work, rows.iter().map(|row| work.cluster_of(*row)));
            let quiet: Vec<bool> = rows
                .par_iter()
                .map(|row| self.narrowed(work, *row) == 0)
                .collect();
            let mut leaving = Vec::with_capacity(rows.len());
            for (row, is_quiet) in rows.iter().zip(quiet) {
                if is_quiet {
                    leaving.push(Leaving::quietly(work, *row));
                } else {
                    self.waiting.push(*row);
                }
            }
            self.weigh(work, leaving);
        }
    }

    /// As printed, record after record: each sees the clusters as the one before has left them.
    fn visit_quiet(&mut self, work: &mut Work<'_>, rows: Vec<Row>) {
        for row in rows {
            self.prepare(work, std::iter::once(work.cluster_of(row)));
            if self.narrowed(work, row) == 0 {
                let leaving = Leaving::quietly(work, row);
                self.visit(work, leaving);
            } else {
                self.waiting.push(row);
            }
        }
    }

    /// Chooses a record of each cluster, and marks the attributes that must be asked about. As printed,
    /// marks none only if no record is left to look at.
    pub(super) fn ask(&mut self, work: &mut Work<'_>, masks: &mut [u64]) {
        loop {
            self.choose(work, masks);
            if !work.plan.is_printed || masks.iter().any(|mask| *mask != 0) {
                return;
            }
            if self.candidates.iter().any(Option::is_some) {
                // These came to leave without a question since the site first looked at them.
                self.take_asked(work, vec![None; masks.len()]);
            } else if self.again.is_empty() {
                return;
            } else {
                self.waiting = std::mem::take(&mut self.again);
                self.take_quiet(work);
            }
        }
    }

    pub(super) fn choose(&mut self, work: &Work<'_>, masks: &mut [u64]) {
        self.candidates.fill(None);
        let waiting = std::mem::take(&mut self.waiting);
        for row in waiting {
            if self.has_come[row.index()] && !work.plan.is_printed {
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

    /// The records that were asked about, by row, with the closures that they leave behind.
    pub(super) fn leaving(&self, closures: Vec<Option<Vec<u64>>>) -> Vec<Leaving> {
        let candidates = self.candidates.iter().zip(closures).enumerate();
        let mut leaving: Vec<Leaving> = candidates
            .filter_map(|(place, (row, without))| {
                let (row, from) = ((*row)?, Cluster::at(place));
                Some(Leaving { row, from, without })
            })
            .collect();
        leaving.sort_unstable_by_key(|leaving| leaving.row);
        leaving
    }

    pub(super) fn take_asked(&mut self, work: &mut Work<'_>, closures: Vec<Option<Vec<u64>>>) {
        let leaving = self.leaving(closures);
        if work.plan.is_printed {
            self.candidates.fill(None);
            return self.visit_all(work, leaving);
        }
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
            if work.filling.is_none() {
                self.exchange(work, bound);
            }
        }
        for (changed, before) in self.changed.iter_mut().zip(before) {
            *changed |= before;
        }
        late.extend(std::mem::take(&mut self.waiting));
        self.waiting = late;
        self.candidates.fill(None);
    }

    /// Looks at records of different clusters, one after the other: what comes to a cluster joins what the
    /// others answered about the record that may leave it.
    fn visit_all(&mut self, work: &mut Work<'_>, leaving: Vec<Leaving>) {
        let order: Vec<Cluster> = leaving.iter().map(|leaving| leaving.from).collect();
        let mut left: Vec<Option<Leaving>> = Vec::new();
        left.resize_with(work.clusters.len(), || None);
        for leaving in leaving {
            let from = leaving.from.index();
            left[from] = Some(leaving);
        }
        for cluster in order {
            let Some(leaving) = left[cluster.index()].take() else {
                continue;
            };
            let row = leaving.row;
            let to = self.visit(work, leaving);
            let Some((to, there)) = to.and_then(|to| Some((to, left[to.index()].as_mut()?))) else {
                continue;
            };
            match &mut there.without {
                Some(closure) => work.shapes.join_record(closure, work.record(row)),
                // The record there was alone.
                None if work.clusters.size(to) == 2 => there.without = work.closure_of([row]),
                None => {}
            }
        }
    }

    /// Moves a record to the cluster where it costs least at present, if that lowers the loss (TG12
    /// Algorithm 3, steps 7 to 16). Returns where the record went.
    fn visit(&mut self, work: &mut Work<'_>, leaving: Leaving) -> Option<Cluster> {
        let (row, least) = (leaving.row, work.least);
        let changed =
            work.stays
                .changed(row, leaving.from, (least, work.plan.loss), &work.clusters);
        let target = match changed {
            Some(changed) => self.best_of(work, &leaving, changed),
            None => self.best(work, &leaving),
        };
        match target {
            Some(target) => self.shift(work, leaving, target),
            None => work.stays.note(row, least, &work.clusters),
        }
        target
    }

    /// The cluster where a record costs least at present, if the loss falls by its move.
    pub(super) fn best(&self, work: &Work<'_>, leaving: &Leaving) -> Option<Cluster> {
        match work.plan.loss {
            Loss::Em => self.target_of_falling(work, leaving),
            Loss::Lm | Loss::Ncp => self.target(work, leaving),
        }
    }

    fn is_refused(&self, row: Row, cluster: Cluster) -> bool {
        !self.refused.is_empty() && self.refused.contains(&(row, cluster))
    }

    /// The cluster where a record would cost least, if that is less than its leaving saves.
    fn target(&self, work: &Work<'_>, leaving: &Leaving) -> Option<Cluster> {
        let gain = gain(work, leaving)?;
        let (row, from) = (leaving.row, leaving.from);
        let may_join = |cluster: Cluster| {
            cluster != from
                && is_wanted(work, cluster)
                && may_join(work, cluster, row)
                && !self.is_refused(row, cluster)
        };
        let growth = Growth::new(work.shapes, work.record(row));
        let best = work.nearest(&growth, (1, gain), work.region_of(from), may_join);
        best.first().map(|(_, cluster)| *cluster)
    }

    /// As [`Self::target`], where a loss may fall as closures widen, as entropy may.
    fn target_of_falling(&self, work: &Work<'_>, leaving: &Leaving) -> Option<Cluster> {
        let (row, from) = (leaving.row, leaving.from);
        let may_join = |cluster: Cluster| {
            cluster != from && may_join(work, cluster, row) && !self.is_refused(row, cluster)
        };
        let (record, below) = (work.record(row), saved(work, leaving)?);
        work.clusters.least_grown(record, below, may_join)
    }

    /// As [`Self::best`], among some clusters other than the record's own.
    fn best_of(&self, work: &Work<'_>, leaving: &Leaving, among: &[Cluster]) -> Option<Cluster> {
        let (row, below) = (leaving.row, saved(work, leaving)?);
        let growth = Growth::new(work.shapes, work.record(row));
        let better = among.iter().filter_map(|cluster| {
            let (size, loss) = (
                work.clusters.size(*cluster),
                work.clusters.loss_of(*cluster),
            );
            if size == 0 {
                return None;
            }
            // The loss grows by less than this if each record then costs no more than that.
            let (size, loss) = (i128::from(size) + 1, i128::from(loss));
            let most = below.saturating_add(loss).div_euclid(size);
            let most = u64::try_from(most.min(i128::from(u64::MAX))).ok()?;
            let joined = growth.at_most(work.clusters.closure(*cluster), most)?;
            let grown = size * i128::from(joined) - loss;
            let is_better =
                grown < below && may_join(work, *cluster, row) && !self.is_refused(row, *cluster);
            is_better.then_some((grown, *cluster))
        });
        better.min().map(|(_, cluster)| cluster)
    }

    /// Looks for the best cluster of each record among the present clusters, then moves record after
    /// record, if the move still lowers the loss.
    fn weigh(&mut self, work: &mut Work<'_>, leaving: Vec<Leaving>) {
        let targets: Vec<Option<Cluster>> = leaving
            .par_iter()
            .map(|leaving| self.target(work, leaving))
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
            let Some(gain) = gain(work, &leaving) else {
                continue;
            };
            let record = work.record(row);
            let is_better = work.clusters.size(target) > 0
                && work.clusters.growth(work.shapes, target, record) < gain
                && is_wanted(work, target)
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
            let back = Leaving::quietly(work, other);
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
        let near = work.nearest(&growth, bounds, work.region_of(from), |cluster| {
            cluster != from
        });
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
    pub(super) fn shift(&mut self, work: &mut Work<'_>, leaving: Leaving, to: Cluster) {
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
}

/// By how much the loss falls when a record leaves its cluster, below zero where it rises as entropy may;
/// `None` if the record must stay. A record that is alone must leave, whatever that costs.
fn saved(work: &Work<'_>, leaving: &Leaving) -> Option<i128> {
    if !may_leave(work, leaving) {
        return None;
    }
    let from = leaving.from;
    let size = work.clusters.size(from);
    if size == 1 {
        return Some(i128::MAX);
    }
    let cost = match &leaving.without {
        Some(closure) => work.shapes.cost(closure),
        None => work.clusters.cost(from),
    };
    let after = i128::from(size - 1) * i128::from(cost);
    Some(i128::from(work.clusters.loss_of(from)) - after)
}

/// As [`saved`], and nothing where the loss rises: then the record stays.
///
/// Where small clusters are filled, what filling is worth comes to it.
fn gain(work: &Work<'_>, leaving: &Leaving) -> Option<u64> {
    let saved = saved(work, leaving)?;
    let gain = u64::try_from(saved.max(0)).unwrap_or(u64::MAX);
    Some(gain.saturating_add(work.filling.unwrap_or(0)))
}

/// Whether records may come to a cluster: where small clusters are filled, only to these.
fn is_wanted(work: &Work<'_>, cluster: Cluster) -> bool {
    work.filling.is_none() || work.clusters.size(cluster) < work.least
}

/// Whether a cluster is large enough, and diverse enough, for a record to leave it.
fn may_leave(work: &Work<'_>, leaving: &Leaving) -> bool {
    let from = leaving.from;
    let size = work.clusters.size(from);
    if size <= work.least || size == 0 {
        return false;
    }
    if size == 1 || work.values(leaving.row).is_empty() {
        return true;
    }
    let counts = work.clusters.counts(from);
    let mut without = counts.to_vec();
    for value in work.values(leaving.row) {
        without[*value as usize] -= 1;
    }
    !work.is_diverse(size, counts) || work.is_diverse(size - 1, &without)
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
