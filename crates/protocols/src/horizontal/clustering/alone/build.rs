//! A group of clusters built anew from its records, in one of two ways. Either clusters grow from a record
//! by the records that widen them least, until they satisfy the requirement, and take every record that
//! costs nothing more. Or a narrower cluster is opened for all records of the group that cost less there,
//! and clusters that become too small give their other records away. Then records move, or change places,
//! while that saves.

use hedgerow_smc::Generator;

use super::quick::Quick;
use crate::clustering::numbers::Row;

/// The most records of a group that is rebuilt: the work grows with their square.
const MOST_RECORDS: usize = 4000;
/// The records above which a group is rebuilt, and records of it moved, but none change places.
const MANY_RECORDS: usize = 400;

/// Times that a group is built, of which the best counts.
const WAYS: usize = 2;
/// Steps by which an opened cluster is narrower at most.
const MOST_STEPS: usize = 3;
/// Clusters that lose more than others by this share are not improved.
const NEARLY: u64 = 50;

/// A cluster while it is built.
#[derive(Clone)]
pub(super) struct Built {
    rows: Vec<Row>,
    closure: Vec<u64>,
    cost: u64,
    /// How often each sensitive value occurs, where the requirement speaks of them.
    counts: Vec<u64>,
}

/// How a group is built anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Grown,
    Opened,
}

/// From which record a cluster grows.
#[derive(Clone, Copy)]
enum First {
    Any,
    /// The record that the cluster before would cost most.
    Farthest,
}

/// The records of a group in other clusters that lose less, or more by less than a random part of the
/// threshold; `None` where such clusters are not found.
pub(super) fn anew(
    quick: &Quick<'_>,
    (kind, group): (Kind, &[&Built]),
    threshold: u64,
    generator: &mut Generator,
) -> Option<Vec<Built>> {
    let before: u64 = group.iter().map(|cluster| cluster.loss()).sum();
    let records: usize = group.iter().map(|cluster| cluster.rows.len()).sum();
    if before == 0 || records > MOST_RECORDS || group.len() < 2 {
        return None;
    }
    let mut least = before + generator.below(threshold + 1);
    let mut found = None;
    for way in 0..WAYS {
        let built = match kind {
            Kind::Grown => {
                let mut left = Vec::with_capacity(records);
                group
                    .iter()
                    .for_each(|cluster| left.extend_from_slice(&cluster.rows));
                generator.shuffle(&mut left);
                let firsts = [First::Any, First::Farthest];
                build(quick, left, firsts[way % firsts.len()])
            }
            Kind::Opened => open(quick, group, generator),
        };
        let Some(mut built) = built else { continue };
        let loss: u64 = built.iter().map(Built::loss).sum();
        // What is far from good enough does not become so by moves.
        if kind == Kind::Grown || loss <= least + least / NEARLY {
            improve(quick, &mut built);
        }
        let loss = built.iter().map(Built::loss).sum();
        if loss < least {
            least = loss;
            found = Some(built);
        }
    }
    found
}

/// Opens a cluster that is narrower than the first of the group in up to three steps, for all records that
/// cost less there.
fn open(quick: &Quick<'_>, group: &[&Built], generator: &mut Generator) -> Option<Vec<Built>> {
    let narrow = narrower(quick, group[0], generator)?;
    let cost = quick.cost(&narrow);
    let mut built: Vec<Built> = Vec::with_capacity(group.len() + 1);
    let (mut opened, mut loose) = (Vec::new(), Vec::new());
    for cluster in group {
        let costs_more = cluster.cost > cost;
        let is_inside = |row: &Row| costs_more && quick.joined_cost(&narrow, *row) <= cost;
        let (inside, outside): (Vec<Row>, Vec<Row>) =
            cluster.rows.iter().copied().partition(is_inside);
        if inside.is_empty() {
            built.push((*cluster).clone());
            continue;
        }
        opened.extend(inside);
        if outside.len() < quick.k() {
            loose.extend(outside);
            continue;
        }
        let left = Built::of(quick, outside);
        if left.is_enough(quick) {
            built.push(left);
        } else {
            loose.extend(left.rows);
        }
    }
    if opened.len() < quick.k() {
        return None;
    }
    built.push(Built::of(quick, opened));
    give(quick, &mut built, loose)?;
    let mut all = built.iter();
    all.all(|cluster| cluster.is_enough(quick)).then_some(built)
}

/// A closure within a cluster's closure that covers one of its records.
fn narrower(quick: &Quick<'_>, cluster: &Built, generator: &mut Generator) -> Option<Vec<u64>> {
    let mut below = |bound: usize| generator.below(bound.max(1) as u64) as usize;
    let row = cluster.rows[below(cluster.rows.len())];
    let shapes = quick.shapes();
    let mut closure = cluster.closure.clone();
    for _ in 0..=below(MOST_STEPS) {
        let attributes = 0..shapes.attributes();
        let wide: Vec<usize> = attributes
            .filter(|attribute| shapes.part_cost(*attribute, shapes.part(*attribute, &closure)) > 0)
            .collect();
        let attribute = *wide.get(below(wide.len()))?;
        let code = quick.work.record(row)[attribute];
        let mut parts = shapes.narrower_parts(attribute, &closure);
        parts.retain(|part| shapes.shape(attribute).covers(part, code));
        let part = parts.get(below(parts.len()))?;
        shapes.put_part(attribute, part, &mut closure);
    }
    Some(closure)
}

/// Gives each of some records to the cluster that grows least.
fn give(quick: &Quick<'_>, built: &mut [Built], rows: Vec<Row>) -> Option<()> {
    for row in rows {
        let growths = built.iter().map(|cluster| cluster.growth(quick, row));
        let (place, _) = growths.enumerate().min_by_key(|(_, growth)| *growth)?;
        built[place].add(quick, row);
    }
    Some(())
}

/// Clusters that satisfy the requirement, or `None` where the last records do not fit anywhere.
fn build(quick: &Quick<'_>, mut left: Vec<Row>, first: First) -> Option<Vec<Built>> {
    let k = quick.k();
    let mut built: Vec<Built> = Vec::new();
    while left.len() >= 2 * k || (built.is_empty() && !left.is_empty()) {
        let from = match (first, built.last()) {
            (First::Farthest, Some(before)) => {
                let places = 0..left.len();
                places.max_by_key(|place| quick.joined_cost(&before.closure, left[*place]))?
            }
            _ => left.len() - 1,
        };
        let mut cluster = Built::of(quick, vec![left.swap_remove(from)]);
        while !cluster.is_enough(quick) {
            let place = cluster.nearest(quick, &left)?;
            cluster.add(quick, left.swap_remove(place));
        }
        // Records that cost nothing more here, as long as enough are left for another cluster.
        let mut place = 0;
        while place < left.len() && left.len() > k {
            let bound = cluster.cost + 1;
            if quick.joined_cost_below(&cluster.closure, left[place], bound) == cluster.cost {
                cluster.add(quick, left.swap_remove(place));
            } else {
                place += 1;
            }
        }
        if !cluster.is_enough(quick) {
            return None;
        }
        built.push(cluster);
    }
    if left.len() >= k {
        let last = Built::of(quick, left);
        if last.is_enough(quick) {
            built.push(last);
            return Some(built);
        }
        left = last.rows;
    }
    give(quick, &mut built, left)?;
    built
        .iter()
        .all(|cluster| cluster.is_enough(quick))
        .then_some(built)
}

/// Moves records out of clusters above k, and lets records change places, while that saves.
fn improve(quick: &Quick<'_>, built: &mut [Built]) {
    let records: usize = built.iter().map(|cluster| cluster.rows.len()).sum();
    let mut narrower: Vec<Narrower> = built.iter().map(|_| Narrower::default()).collect();
    let mut has_moved = true;
    while has_moved {
        has_moved = false;
        for from in 0..built.len() {
            let mut place = 0;
            // A record that is alone stays: its cluster would be gone.
            while place < built[from].rows.len()
                && built[from].cost > 0
                && built[from].rows.len() > 1
            {
                narrower[from].know(quick, &built[from]);
                if let Some(to) = better_place(quick, built, (from, place), &narrower[from]) {
                    let row = built[from].take(quick, place, &narrower[from]);
                    built[to].add(quick, row);
                    narrower[from].forget();
                    narrower[to].forget();
                    has_moved = true;
                    continue;
                }
                if records <= MANY_RECORDS
                    && narrower[from].costs[place] < built[from].cost
                    && let Some(other) = partner(quick, built, (from, place), &mut narrower)
                {
                    exchange(quick, built, (from, place), other);
                    narrower[from].forget();
                    narrower[other.0].forget();
                    has_moved = true;
                }
                place += 1;
            }
        }
    }
}

/// The cluster where a record costs least, if its leaving saves more, and the requirement still holds.
fn better_place(
    quick: &Quick<'_>,
    built: &[Built],
    (from, place): (usize, usize),
    narrower: &Narrower,
) -> Option<usize> {
    let own = &built[from];
    if own.rows.len() <= quick.k() {
        return None;
    }
    let row = own.rows[place];
    let left = (own.rows.len() as u64 - 1) * narrower.costs[place];
    // Entropy may grow where a closure narrows: then the record stays.
    let saved = own.loss().saturating_sub(left);
    let others = (0..built.len()).filter(|to| *to != from);
    let growths = others.map(|to| (built[to].growth(quick, row), to));
    let (_, to) = growths.min().filter(|(growth, _)| *growth < saved)?;
    let holds =
        own.holds_with(quick, (Some(row), None)) && built[to].holds_with(quick, (None, Some(row)));
    holds.then_some(to)
}

/// The cluster, and the place of the record there, with which a record best changes places.
fn partner(
    quick: &Quick<'_>,
    built: &[Built],
    (from, place): (usize, usize),
    narrower: &mut [Narrower],
) -> Option<(usize, usize)> {
    let (own, row) = (&built[from], built[from].rows[place]);
    let size = own.rows.len() as u64;
    let mut least = own.loss();
    let mut best = None;
    for (to, cluster) in built.iter().enumerate() {
        if to == from {
            continue;
        }
        narrower[to].know(quick, cluster);
        let (without, theirs) = (narrower[from].closure(place), &narrower[to]);
        let is_alone = cluster.rows.len() == 1;
        for (other, instead) in cluster.rows.iter().enumerate() {
            // What the other cluster may save is at most everything.
            let bound = (least + cluster.loss()).div_ceil(size);
            let here = quick.joined_cost_below(without, *instead, bound);
            if here >= bound {
                continue;
            }
            let here = size * here;
            let there = match is_alone {
                true => quick.cost(&quick.closure(row)),
                false => quick.joined_cost(theirs.closure(other), row),
            };
            let after = here + cluster.rows.len() as u64 * there;
            // Both clusters after the exchange, less the other cluster before it.
            if after < least + cluster.loss()
                && own.holds_with(quick, (Some(row), Some(*instead)))
                && cluster.holds_with(quick, (Some(*instead), Some(row)))
            {
                // Never below zero: a loss that falls below what the other had is the greatest gain.
                least = after.saturating_sub(cluster.loss());
                best = Some((to, other));
            }
        }
    }
    best
}

fn exchange(quick: &Quick<'_>, built: &mut [Built], one: (usize, usize), other: (usize, usize)) {
    let (row, instead) = (built[one.0].rows[one.1], built[other.0].rows[other.1]);
    for ((cluster, place), row) in [(one, instead), (other, row)] {
        let mut rows = std::mem::take(&mut built[cluster].rows);
        rows[place] = row;
        built[cluster] = Built::of(quick, rows);
    }
}

/// The closures of a cluster without each of its records in turn, and their costs.
#[derive(Default)]
struct Narrower {
    closures: Vec<u64>,
    costs: Vec<u64>,
    width: usize,
}

impl Narrower {
    fn forget(&mut self) {
        self.costs.clear();
        self.closures.clear();
    }

    fn closure(&self, place: usize) -> &[u64] {
        &self.closures[place * self.width..(place + 1) * self.width]
    }

    /// What comes before a record and what comes behind it, together; of a cluster of one record, nothing.
    fn know(&mut self, quick: &Quick<'_>, cluster: &Built) {
        let rows = &cluster.rows;
        if !self.costs.is_empty() || rows.len() < 2 {
            return;
        }
        self.width = quick.shapes().width();
        self.closures.resize(rows.len() * self.width, 0);
        // From the end: what comes behind each record.
        let mut behind = quick.closure(rows[rows.len() - 1]);
        for place in (0..rows.len() - 1).rev() {
            self.closures[place * self.width..(place + 1) * self.width].copy_from_slice(&behind);
            quick.join(&mut behind, rows[place]);
        }
        let mut before = quick.closure(rows[0]);
        for place in 1..rows.len() {
            let own = &mut self.closures[place * self.width..(place + 1) * self.width];
            if place + 1 == rows.len() {
                own.copy_from_slice(&before);
            } else {
                quick.unite(own, &before);
                quick.join(&mut before, rows[place]);
            }
        }
        let closures = self.closures.chunks_exact(self.width);
        self.costs
            .extend(closures.map(|closure| quick.cost(closure)));
    }
}

impl Built {
    pub(super) fn of(quick: &Quick<'_>, rows: Vec<Row>) -> Self {
        let mut closure = rows
            .first()
            .map(|row| quick.closure(*row))
            .unwrap_or_default();
        let others = rows.iter().skip(1);
        others.for_each(|row| quick.join(&mut closure, *row));
        let mut counts = vec![0; quick.work.clusters.counters()];
        if !counts.is_empty() {
            for row in &rows {
                let values = quick.values(*row).iter();
                values.for_each(|value| counts[*value as usize] += 1);
            }
        }
        Self {
            cost: quick.cost(&closure),
            rows,
            closure,
            counts,
        }
    }

    pub(super) fn rows(&self) -> &[Row] {
        &self.rows
    }

    pub(super) fn closure(&self) -> &[u64] {
        &self.closure
    }

    pub(super) fn cost(&self) -> u64 {
        self.cost
    }

    pub(super) fn loss(&self) -> u64 {
        self.rows.len() as u64 * self.cost
    }

    /// Takes a record out.
    fn take(&mut self, quick: &Quick<'_>, place: usize, narrower: &Narrower) -> Row {
        self.closure.copy_from_slice(narrower.closure(place));
        self.cost = narrower.costs[place];
        let row = self.rows.swap_remove(place);
        for value in quick.values(row) {
            self.counts[*value as usize] -= 1;
        }
        row
    }

    fn add(&mut self, quick: &Quick<'_>, row: Row) {
        quick.join(&mut self.closure, row);
        self.cost = quick.cost(&self.closure);
        self.rows.push(row);
        for value in quick.values(row) {
            self.counts[*value as usize] += 1;
        }
    }

    /// By how much the loss grows when a record joins; 0 where the loss falls, as entropy can.
    fn growth(&self, quick: &Quick<'_>, row: Row) -> u64 {
        let joined = quick.joined_cost(&self.closure, row);
        ((self.rows.len() as u64 + 1) * joined).saturating_sub(self.loss())
    }

    /// Whether the cluster satisfies the requirement.
    pub(super) fn is_enough(&self, quick: &Quick<'_>) -> bool {
        let size = self.rows.len();
        size >= quick.k() && quick.work.is_diverse(size as u64, &self.counts)
    }

    /// Whether the demands on sensitive values still hold when a record leaves, or another comes.
    fn holds_with(&self, quick: &Quick<'_>, (gone, come): (Option<Row>, Option<Row>)) -> bool {
        if self.counts.is_empty() {
            return true;
        }
        let mut counts = self.counts.clone();
        let mut size = self.rows.len() as u64;
        if let Some(row) = gone {
            size -= 1;
            let values = quick.values(row).iter();
            values.for_each(|value| counts[*value as usize] -= 1);
        }
        if let Some(row) = come {
            size += 1;
            let values = quick.values(row).iter();
            values.for_each(|value| counts[*value as usize] += 1);
        }
        quick.work.is_diverse(size, &counts)
    }

    /// The place of the record that widens the cluster least. In a cluster that is large enough but not
    /// diverse enough, records count whose sensitive values are rarer in the cluster than among the
    /// records that are left, if there are such records.
    fn nearest(&self, quick: &Quick<'_>, left: &[Row]) -> Option<usize> {
        let cost = |place: &usize| quick.joined_cost(&self.closure, left[*place]);
        if self.rows.len() >= quick.k() {
            let mut others = vec![0u64; self.counts.len()];
            for row in left {
                let values = quick.values(*row).iter();
                values.for_each(|value| others[*value as usize] += 1);
            }
            let (own, all) = (self.rows.len() as u64, left.len() as u64);
            let is_rare = |place: &usize| {
                let mut values = quick.values(left[*place]).iter();
                values.any(|value| {
                    let value = *value as usize;
                    self.counts[value] * all < others[value] * own
                })
            };
            let rare = (0..left.len()).filter(is_rare).min_by_key(cost);
            if rare.is_some() {
                return rare;
            }
        }
        let mut least = u64::MAX;
        let mut nearest = None;
        for (place, row) in left.iter().enumerate() {
            let cost = quick.joined_cost_below(&self.closure, *row, least);
            if cost < least {
                least = cost;
                nearest = Some(place);
                if cost <= self.cost {
                    break;
                }
            }
        }
        nearest
    }
}
