//! Costs of closures for the search of one site, which asks for them many millions of times: tables of
//! 32-bit numbers, which fit the processor's cache, for nodes, ranges and sets over domains that are not
//! too large; everything else as `Shapes` has it. Attributes are taken kind by kind, so that the loops do
//! not ask for the kind.

use super::super::work::Work;
use crate::clustering::numbers::Row;
use crate::clustering::shape::{Shape, ends, packed};
use crate::clustering::shapes::Shapes;

/// The most entries of a table.
const MOST_ENTRIES: usize = 1 << 21;

/// The records of one site, and what their closures cost.
pub(super) struct Quick<'w> {
    pub(super) work: &'w Work<'w>,
    shapes: &'w Shapes<'w>,
    nodes: Vec<Nodes>,
    /// For each value and node of each taxonomy, the lowest node above both, and its cost.
    joined: Vec<u32>,
    joined_costs: Vec<u32>,
    /// For each pair of nodes of each taxonomy, the same.
    pairs: Vec<u32>,
    pair_costs: Vec<u32>,
    ranges: Vec<Ranges>,
    sets: Vec<Sets>,
    /// Attributes without tables.
    others: Vec<usize>,
    /// For each record, kind by kind: where a node's entries for the record's value begin, or the value.
    places: Vec<u32>,
    /// The closure of each record.
    closures: Vec<u64>,
    k: usize,
}

/// An attribute that is written as nodes: its word of a closure, and where its pairs begin.
struct Nodes {
    attribute: usize,
    word: usize,
    size: usize,
    first: usize,
}

/// An attribute that is written as ranges, with the costs by both ends.
struct Ranges {
    attribute: usize,
    word: usize,
    size: usize,
    costs: Vec<u32>,
}

/// An attribute that is written as sets of one word, with the costs by the number of values.
struct Sets {
    attribute: usize,
    word: usize,
    costs: Vec<u32>,
}

impl Ranges {
    /// What a closure costs with a value.
    fn joined(&self, closure: &[u64], code: u32) -> u32 {
        let (least, greatest) = ends(closure[self.word]);
        let (least, greatest) = (least.min(code), greatest.max(code));
        self.costs[least as usize * self.size + greatest as usize]
    }
}

impl Sets {
    /// What a closure costs with a value.
    fn joined(&self, closure: &[u64], code: u32) -> u32 {
        let set = closure[self.word] | 1 << code;
        self.costs[set.count_ones() as usize]
    }
}

/// An attribute, by what its tables are.
enum Kind<'q> {
    Nodes(&'q Nodes),
    Ranges(&'q Ranges),
    Sets(&'q Sets),
    Other(usize),
}

impl<'w> Quick<'w> {
    pub(super) fn new(work: &'w Work<'w>) -> Self {
        let mut quick = Self {
            work,
            shapes: work.shapes,
            nodes: Vec::new(),
            joined: Vec::new(),
            joined_costs: Vec::new(),
            pairs: Vec::new(),
            pair_costs: Vec::new(),
            ranges: Vec::new(),
            sets: Vec::new(),
            others: Vec::new(),
            places: Vec::new(),
            closures: Vec::new(),
            k: work.k() as usize,
        };
        // Attributes with few values first: a value that differs there costs much, so that a bound is soon
        // exceeded.
        let mut order: Vec<(u32, usize, usize)> = Vec::new();
        let mut word = 0;
        for attribute in 0..work.shapes.attributes() {
            let shape = work.shapes.shape(attribute);
            order.push((shape.size(), attribute, word));
            word += shape.width();
        }
        order.sort_unstable();
        let mut starts = Vec::new();
        for (_, attribute, word) in order {
            let shape = work.shapes.shape(attribute);
            let begin = quick.joined.len();
            let is_quick = quick.take_nodes(attribute, word, shape)
                || quick.take_range(attribute, word, shape)
                || quick.take_set(attribute, word, shape);
            if !is_quick {
                quick.others.push(attribute);
            }
            if quick.joined.len() > begin {
                starts.push(begin);
            }
        }
        let mut places = Vec::with_capacity(work.rows.count * work.shapes.attributes());
        for row in Row::first(work.rows.count) {
            let record = work.record(row);
            let nodes = quick.nodes.iter().zip(&starts);
            places.extend(nodes.map(|(of, start)| {
                // Tables have less than 2^32 entries.
                (start + record[of.attribute] as usize * of.size) as u32
            }));
            places.extend(quick.ranges.iter().map(|of| record[of.attribute]));
            places.extend(quick.sets.iter().map(|of| record[of.attribute]));
            places.extend(quick.others.iter().map(|attribute| record[*attribute]));
        }
        quick.places = places;
        let records = Row::first(work.rows.count).map(|row| work.record(row));
        quick.closures = records
            .flat_map(|record| work.shapes.of_record(record))
            .collect();
        quick
    }

    /// Makes the tables of a taxonomy, if they are not too large.
    fn take_nodes(&mut self, attribute: usize, word: usize, shape: &Shape<'_>) -> bool {
        let Some(tree) = shape.tree() else {
            return false;
        };
        let (size, values) = (tree.nodes(), shape.size() as usize);
        let is_small = |entries: usize| entries <= MOST_ENTRIES;
        if !size.checked_mul(size.max(values)).is_some_and(is_small) {
            return false;
        }
        let with_all = |one: u64| (0..size as u64).map(move |other| tree.join(one, other));
        let leaves = (0..values as u32).map(|code| u64::from(tree.leaf(code)));
        let of_values: Vec<u64> = leaves.flat_map(with_all).collect();
        let of_pairs: Vec<u64> = (0..size as u64).flat_map(with_all).collect();
        let costs = |nodes: &[u64]| small(nodes.iter().map(|node| tree.cost(*node)));
        let (Some(value_costs), Some(pair_costs)) = (costs(&of_values), costs(&of_pairs)) else {
            return false;
        };
        self.nodes.push(Nodes {
            attribute,
            word,
            size,
            first: self.pairs.len(),
        });
        // There are less than 2^21 nodes.
        let number = |node: u64| node as u32;
        self.joined.extend(of_values.into_iter().map(number));
        self.pairs.extend(of_pairs.into_iter().map(number));
        self.joined_costs.extend(value_costs);
        self.pair_costs.extend(pair_costs);
        true
    }

    fn take_range(&mut self, attribute: usize, word: usize, shape: &Shape<'_>) -> bool {
        let size = shape.size() as usize;
        if !shape.is_plain_range() || size > 1 << 10 {
            return false;
        }
        let costs = small((0..size * size).map(|place| {
            let (one, other) = ((place / size) as u32, (place % size) as u32);
            shape.cost(&[packed(one.min(other), one.max(other))])
        }));
        costs.is_some_and(|costs| {
            self.ranges.push(Ranges {
                attribute,
                word,
                size,
                costs,
            });
            true
        })
    }

    fn take_set(&mut self, attribute: usize, word: usize, shape: &Shape<'_>) -> bool {
        let costs = shape.costs_by_count().map(|costs| small(costs.into_iter()));
        costs.flatten().is_some_and(|costs| {
            self.sets.push(Sets {
                attribute,
                word,
                costs,
            });
            true
        })
    }

    pub(super) fn records(&self) -> usize {
        self.work.rows.count
    }

    pub(super) fn shapes(&self) -> &'w Shapes<'w> {
        self.shapes
    }

    pub(super) fn k(&self) -> usize {
        self.k
    }

    /// The places of a record's sensitive values among the counts.
    pub(super) fn values(&self, row: Row) -> &[u32] {
        self.work.values(row)
    }

    /// The closure of one record.
    pub(super) fn closure(&self, row: Row) -> &[u64] {
        let width = self.shapes.width();
        &self.closures[row.index() * width..(row.index() + 1) * width]
    }

    /// The closure of some records; no words where there are none.
    pub(super) fn closure_of(&self, rows: &[Row]) -> Vec<u64> {
        let Some((first, others)) = rows.split_first() else {
            return Vec::new();
        };
        let mut closure = self.closure(*first).to_vec();
        others.iter().for_each(|row| self.join(&mut closure, *row));
        closure
    }

    /// How often each sensitive value occurs among some records, where the requirement speaks of them.
    pub(super) fn counts_of(&self, rows: &[Row]) -> Vec<u64> {
        let mut counts = vec![0; self.work.clusters.counters()];
        if !counts.is_empty() {
            let values = rows.iter().flat_map(|row| self.values(*row));
            values.for_each(|value| counts[*value as usize] += 1);
        }
        counts
    }

    /// The places of some records, attribute by attribute, kind by kind.
    pub(super) fn entries_of(&self, rows: &[Row]) -> Vec<u32> {
        let width = self.shapes.attributes();
        let mut entries = Vec::with_capacity(rows.len() * width);
        for attribute in 0..width {
            let places = rows.iter().map(|row| row.index() * width + attribute);
            entries.extend(places.map(|place| self.places[place]));
        }
        entries
    }

    /// An attribute by its place, kind by kind.
    fn kind(&self, attribute: usize) -> Kind<'_> {
        let (ranges, sets) = (self.nodes.len(), self.nodes.len() + self.ranges.len());
        let others = sets + self.sets.len();
        if attribute < ranges {
            Kind::Nodes(&self.nodes[attribute])
        } else if attribute < sets {
            Kind::Ranges(&self.ranges[attribute - ranges])
        } else if attribute < others {
            Kind::Sets(&self.sets[attribute - sets])
        } else {
            Kind::Other(self.others[attribute - others])
        }
    }

    /// Whether two closures differ in an attribute.
    pub(super) fn differ(&self, attribute: usize, one: &[u64], other: &[u64]) -> bool {
        let word = match self.kind(attribute) {
            Kind::Nodes(of) => of.word,
            Kind::Ranges(of) => of.word,
            Kind::Sets(of) => of.word,
            Kind::Other(attribute) => {
                let part = |closure| self.shapes.part(attribute, closure);
                return part(one) != part(other);
            }
        };
        one[word] != other[word]
    }

    /// What an attribute of a closure costs.
    pub(super) fn part_cost(&self, attribute: usize, closure: &[u64]) -> u64 {
        match self.kind(attribute) {
            Kind::Nodes(of) => {
                let node = closure[of.word] as usize;
                u64::from(self.pair_costs[of.first + node * of.size + node])
            }
            Kind::Ranges(of) => {
                let (least, greatest) = ends(closure[of.word]);
                u64::from(of.costs[least as usize * of.size + greatest as usize])
            }
            Kind::Sets(of) => u64::from(of.costs[closure[of.word].count_ones() as usize]),
            Kind::Other(attribute) => {
                let own = self.shapes.part(attribute, closure);
                self.shapes.part_cost(attribute, own)
            }
        }
    }

    /// What an attribute of a closure costs with a record that has this place.
    pub(super) fn part_with(&self, attribute: usize, closure: &[u64], place: u32) -> u64 {
        match self.kind(attribute) {
            Kind::Nodes(of) => {
                u64::from(self.joined_costs[place as usize + closure[of.word] as usize])
            }
            Kind::Ranges(of) => u64::from(of.joined(closure, place)),
            Kind::Sets(of) => u64::from(of.joined(closure, place)),
            Kind::Other(attribute) => {
                let own = self.shapes.part(attribute, closure);
                self.shapes.joined_part(attribute, own, place)
            }
        }
    }

    /// Adds what an attribute of a closure costs with each of some records.
    pub(super) fn add_costs(
        &self,
        attribute: usize,
        closure: &[u64],
        places: &[u32],
        costs: &mut [u64],
    ) {
        let costs = costs.iter_mut().zip(places);
        if let Kind::Nodes(of) = self.kind(attribute) {
            let joined = &self.joined_costs[closure[of.word] as usize..];
            costs.for_each(|(cost, place)| *cost += u64::from(joined[*place as usize]));
        } else {
            costs.for_each(|(cost, place)| *cost += self.part_with(attribute, closure, *place));
        }
    }

    /// Adds what an attribute of a closure costs with each of some records, in the place of what it cost with
    /// the closure before.
    pub(super) fn change_costs(
        &self,
        attribute: usize,
        (before, after): (&[u64], &[u64]),
        places: &[u32],
        costs: &mut [u64],
    ) {
        let costs = costs.iter_mut().zip(places);
        if let Kind::Nodes(of) = self.kind(attribute) {
            let joined = |closure: &[u64]| &self.joined_costs[closure[of.word] as usize..];
            let (before, after) = (joined(before), joined(after));
            costs.for_each(|(cost, place)| {
                *cost += u64::from(after[*place as usize]);
                *cost -= u64::from(before[*place as usize]);
            });
        } else {
            costs.for_each(|(cost, place)| {
                *cost += self.part_with(attribute, after, *place);
                *cost -= self.part_with(attribute, before, *place);
            });
        }
    }

    /// A record's places, kind by kind.
    fn places(&self, row: Row) -> (&[u32], &[u32], &[u32], &[u32]) {
        let width = self.shapes.attributes();
        let all = &self.places[row.index() * width..(row.index() + 1) * width];
        let (nodes, rest) = all.split_at(self.nodes.len());
        let (ranges, rest) = rest.split_at(self.ranges.len());
        let (sets, others) = rest.split_at(self.sets.len());
        (nodes, ranges, sets, others)
    }

    /// The cost of a closure together with a record.
    pub(super) fn joined_cost(&self, closure: &[u64], row: Row) -> u64 {
        self.joined_cost_below(closure, row, u64::MAX)
    }

    /// The cost of a closure together with a record; where that is not below a bound, any cost that is not.
    pub(super) fn joined_cost_below(&self, closure: &[u64], row: Row, bound: u64) -> u64 {
        let (nodes, ranges, sets, others) = self.places(row);
        let mut cost = 0;
        for (of, place) in self.nodes.iter().zip(nodes) {
            let place = *place as usize + closure[of.word] as usize;
            cost += u64::from(self.joined_costs[place]);
            if cost >= bound {
                return cost;
            }
        }
        for (of, code) in self.ranges.iter().zip(ranges) {
            cost += u64::from(of.joined(closure, *code));
        }
        for (of, code) in self.sets.iter().zip(sets) {
            cost += u64::from(of.joined(closure, *code));
        }
        for (attribute, code) in self.others.iter().zip(others) {
            let own = self.shapes.part(*attribute, closure);
            cost += self.shapes.joined_part(*attribute, own, *code);
        }
        cost
    }

    /// Widens a closure to a record.
    pub(super) fn join(&self, closure: &mut [u64], row: Row) {
        let (nodes, ranges, sets, others) = self.places(row);
        for (of, place) in self.nodes.iter().zip(nodes) {
            let own = &mut closure[of.word];
            *own = u64::from(self.joined[*place as usize + *own as usize]);
        }
        for (of, code) in self.ranges.iter().zip(ranges) {
            let (least, greatest) = ends(closure[of.word]);
            closure[of.word] = packed(least.min(*code), greatest.max(*code));
        }
        for (of, code) in self.sets.iter().zip(sets) {
            closure[of.word] |= 1 << code;
        }
        for (attribute, code) in self.others.iter().zip(others) {
            self.shapes.join_value(*attribute, closure, *code);
        }
    }

    /// Widens a closure to another.
    pub(super) fn unite(&self, closure: &mut [u64], other: &[u64]) {
        for of in &self.nodes {
            let own = &mut closure[of.word];
            let place = of.first + *own as usize * of.size + other[of.word] as usize;
            *own = u64::from(self.pairs[place]);
        }
        for of in &self.ranges {
            let ((a, b), (c, d)) = (ends(closure[of.word]), ends(other[of.word]));
            closure[of.word] = packed(a.min(c), b.max(d));
        }
        for of in &self.sets {
            closure[of.word] |= other[of.word];
        }
        for attribute in &self.others {
            self.shapes.join_part(*attribute, closure, other);
        }
    }

    /// The cost of two closures together.
    pub(super) fn common_cost(&self, one: &[u64], other: &[u64]) -> u64 {
        let mut cost = 0;
        for of in &self.nodes {
            let place = of.first + one[of.word] as usize * of.size + other[of.word] as usize;
            cost += u64::from(self.pair_costs[place]);
        }
        for of in &self.ranges {
            let ((a, b), (c, d)) = (ends(one[of.word]), ends(other[of.word]));
            cost += u64::from(of.costs[a.min(c) as usize * of.size + b.max(d) as usize]);
        }
        for of in &self.sets {
            let set = one[of.word] | other[of.word];
            cost += u64::from(of.costs[set.count_ones() as usize]);
        }
        for attribute in &self.others {
            let part = |closure| self.shapes.part(*attribute, closure);
            cost += self.shapes.common_part(*attribute, part(one), part(other));
        }
        cost
    }

    /// The cost of a closure.
    pub(super) fn cost(&self, closure: &[u64]) -> u64 {
        self.common_cost(closure, closure)
    }
}

/// Costs that fit 32 bits, if all do.
fn small(costs: impl Iterator<Item = u64>) -> Option<Vec<u32>> {
    costs.map(|cost| u32::try_from(cost).ok()).collect()
}
