//! The records of a group of clusters while the group is built anew, and the clusters that are made of them.
//! A cluster knows what it would cost with each record of the pool; where its closure changes, only the
//! attributes that change are looked up again.

use super::built::Built;
use super::quick::Quick;
use crate::clustering::numbers::Row;

/// The place of a record in a pool.
pub(super) type Place = u32;

/// The records of a group.
pub(super) struct Pool<'p> {
    pub(super) quick: &'p Quick<'p>,
    rows: Vec<Row>,
    /// For each attribute, kind by kind, where the tables speak of each record.
    entries: Vec<u32>,
}

/// A cluster of records of a pool.
pub(super) struct Held {
    pub(super) members: Vec<Place>,
    pub(super) cost: u64,
    closure: Vec<u64>,
    /// The closure that comes, while the closure changes.
    next: Vec<u64>,
    counts: Vec<u64>,
    /// What the cluster costs with each record of the pool.
    joined: Vec<u64>,
    without: Without,
}

/// The closures of a cluster without each of its records in turn.
#[derive(Default)]
struct Without {
    is_known: bool,
    closures: Vec<u64>,
    costs: Vec<u64>,
    /// The attributes, kind by kind, in which the closure without a record is another one; of each record, up
    /// to an end.
    changed: Vec<usize>,
    ends: Vec<usize>,
}

impl<'p> Pool<'p> {
    pub(super) fn new(quick: &'p Quick<'p>, rows: Vec<Row>) -> Self {
        let entries = quick.entries_of(&rows);
        Self {
            quick,
            rows,
            entries,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(super) fn row(&self, place: Place) -> Row {
        self.rows[place as usize]
    }

    /// The entries of an attribute.
    fn of(&self, attribute: usize) -> &[u32] {
        &self.entries[attribute * self.len()..(attribute + 1) * self.len()]
    }

    /// A cluster of some records.
    pub(super) fn hold(&self, members: Vec<Place>) -> Held {
        let rows: Vec<Row> = members.iter().map(|place| self.row(*place)).collect();
        let closure = self.quick.closure_of(&rows);
        let counts = self.quick.counts_of(&rows);
        self.held(members, closure, counts)
    }

    fn held(&self, members: Vec<Place>, closure: Vec<u64>, counts: Vec<u64>) -> Held {
        let mut joined = vec![0; self.len()];
        for attribute in 0..self.quick.shapes().attributes() {
            let entries = self.of(attribute);
            self.quick
                .add_costs(attribute, &closure, entries, &mut joined);
        }
        Held {
            members,
            cost: self.quick.cost(&closure),
            next: closure.clone(),
            closure,
            counts,
            joined,
            without: Without::default(),
        }
    }

    /// Clusters whose records are those of the pool, in the same order.
    pub(super) fn hold_all(&self, built: &[Built]) -> Vec<Held> {
        let mut next: Place = 0;
        let held = built.iter().map(|cluster| {
            let first = next;
            next += cluster.rows.len() as Place;
            let (closure, counts) = (cluster.closure.clone(), cluster.counts.clone());
            self.held((first..next).collect(), closure, counts)
        });
        held.collect()
    }

    pub(super) fn built(&self, held: Held) -> Built {
        Built {
            rows: held.members.iter().map(|place| self.row(*place)).collect(),
            closure: held.closure,
            cost: held.cost,
            counts: held.counts,
        }
    }
}

impl Held {
    pub(super) fn loss(&self) -> u64 {
        self.members.len() as u64 * self.cost
    }

    /// What the cluster costs with a record.
    pub(super) fn joined_cost(&self, place: Place) -> u64 {
        self.joined[place as usize]
    }

    /// By how much the loss grows when a record joins; 0 where the loss falls, as entropy can.
    pub(super) fn growth(&self, place: Place) -> u64 {
        let size = self.members.len() as u64 + 1;
        (size * self.joined_cost(place)).saturating_sub(self.loss())
    }

    pub(super) fn add(&mut self, pool: &Pool<'_>, place: Place) {
        self.next.copy_from_slice(&self.closure);
        pool.quick.join(&mut self.next, pool.row(place));
        self.members.push(place);
        self.count(pool, (None, Some(place)));
        self.change_closure(pool, self.joined_cost(place));
    }

    /// Takes the record at an index out; closures without records are known.
    pub(super) fn take(&mut self, pool: &Pool<'_>, index: usize) -> Place {
        let cost = self.cost_without(index);
        self.next_without(pool, index);
        let place = self.members.swap_remove(index);
        self.count(pool, (Some(place), None));
        self.change_closure(pool, cost);
        place
    }

    /// Puts a record where another one is; closures without records are known.
    pub(super) fn replace(&mut self, pool: &Pool<'_>, index: usize, instead: Place) {
        let cost = match self.members.len() {
            1 => {
                let own = pool.quick.closure(pool.row(instead));
                self.next.copy_from_slice(own);
                pool.quick.cost(own)
            }
            _ => {
                self.next_without(pool, index);
                pool.quick.join(&mut self.next, pool.row(instead));
                self.cost_instead(pool, index, instead)
            }
        };
        let gone = std::mem::replace(&mut self.members[index], instead);
        self.count(pool, (Some(gone), Some(instead)));
        self.change_closure(pool, cost);
    }

    /// Makes the closure without the record at an index the one that comes.
    fn next_without(&mut self, pool: &Pool<'_>, index: usize) {
        let width = pool.quick.shapes().width();
        let without = &self.without.closures[index * width..(index + 1) * width];
        self.next.copy_from_slice(without);
    }

    fn count(&mut self, pool: &Pool<'_>, (gone, come): (Option<Place>, Option<Place>)) {
        if self.counts.is_empty() {
            return;
        }
        let values = |place: Option<Place>| {
            let row = place.map(|place| pool.row(place));
            row.map_or(&[][..], |row| pool.quick.values(row))
        };
        // First what comes: what goes was there.
        let come = values(come).iter();
        come.for_each(|value| self.counts[*value as usize] += 1);
        let gone = values(gone).iter();
        gone.for_each(|value| self.counts[*value as usize] -= 1);
    }

    /// Takes the closure that comes, of this cost.
    fn change_closure(&mut self, pool: &Pool<'_>, cost: u64) {
        debug_assert_eq!(cost, pool.quick.cost(&self.next));
        self.without.is_known = false;
        for attribute in 0..pool.quick.shapes().attributes() {
            if pool.quick.differ(attribute, &self.closure, &self.next) {
                let both = (&self.closure[..], &self.next[..]);
                let entries = pool.of(attribute);
                pool.quick
                    .change_costs(attribute, both, entries, &mut self.joined);
            }
        }
        std::mem::swap(&mut self.closure, &mut self.next);
        self.cost = cost;
    }

    /// Whether the cluster satisfies the requirement.
    pub(super) fn is_enough(&self, pool: &Pool<'_>) -> bool {
        let size = self.members.len();
        size >= pool.quick.k() && pool.quick.work.is_diverse(size as u64, &self.counts)
    }

    /// Whether the demands on sensitive values hold when a record leaves, or another comes.
    pub(super) fn holds_with(
        &mut self,
        pool: &Pool<'_>,
        (gone, come): (Option<Place>, Option<Place>),
    ) -> bool {
        if self.counts.is_empty() {
            return true;
        }
        self.count(pool, (gone, come));
        let size = self.members.len() + usize::from(come.is_some()) - usize::from(gone.is_some());
        let holds = pool.quick.work.is_diverse(size as u64, &self.counts);
        self.count(pool, (come, gone));
        holds
    }

    /// How often each sensitive value occurs.
    pub(super) fn counts(&self) -> &[u64] {
        &self.counts
    }

    fn closure_without(&self, pool: &Pool<'_>, index: usize) -> &[u64] {
        let width = pool.quick.shapes().width();
        &self.without.closures[index * width..(index + 1) * width]
    }

    /// What the cluster costs without the record at an index; closures without records are known.
    pub(super) fn cost_without(&self, index: usize) -> u64 {
        self.without.costs[index]
    }

    /// What the cluster costs with another record in the place of the record at an index; closures without
    /// records are known.
    pub(super) fn cost_instead(&self, pool: &Pool<'_>, index: usize, instead: Place) -> u64 {
        let first = index
            .checked_sub(1)
            .map_or(0, |before| self.without.ends[before]);
        let changed = &self.without.changed[first..self.without.ends[index]];
        let (whole, left) = (&self.closure, self.closure_without(pool, index));
        let mut cost = self.joined_cost(instead);
        for attribute in changed {
            let entry = pool.of(*attribute)[instead as usize];
            cost += pool.quick.part_with(*attribute, left, entry);
            cost -= pool.quick.part_with(*attribute, whole, entry);
        }
        cost
    }

    /// Finds the closures without each record: what comes before a record and what comes behind it,
    /// together. A cluster of one record has none.
    pub(super) fn know_without(&mut self, pool: &Pool<'_>) {
        let (members, without) = (&self.members, &mut self.without);
        if without.is_known || members.len() < 2 {
            return;
        }
        let quick = pool.quick;
        let width = quick.shapes().width();
        without.is_known = true;
        without.closures.resize(members.len() * width, 0);
        // From the end: what comes behind each record.
        let last = members.len() - 1;
        let mut behind = quick.closure(pool.row(members[last])).to_vec();
        for index in (0..last).rev() {
            without.closures[index * width..(index + 1) * width].copy_from_slice(&behind);
            quick.join(&mut behind, pool.row(members[index]));
        }
        let mut before = behind;
        before.copy_from_slice(quick.closure(pool.row(members[0])));
        for (index, member) in members.iter().enumerate().skip(1) {
            let own = &mut without.closures[index * width..(index + 1) * width];
            if index == last {
                own.copy_from_slice(&before);
            } else {
                quick.unite(own, &before);
                quick.join(&mut before, pool.row(*member));
            }
        }
        without.costs.clear();
        without.changed.clear();
        without.ends.clear();
        for index in 0..members.len() {
            let own = &without.closures[index * width..(index + 1) * width];
            let mut cost = self.cost;
            for attribute in 0..quick.shapes().attributes() {
                if quick.differ(attribute, own, &self.closure) {
                    without.changed.push(attribute);
                    cost += quick.part_cost(attribute, own);
                    cost -= quick.part_cost(attribute, &self.closure);
                }
            }
            without.costs.push(cost);
            without.ends.push(without.changed.len());
        }
    }
}
