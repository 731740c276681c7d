//! How little any release of a table can lose: every record in the cheapest cell that at least k records
//! fall into, as if records need not choose the same. The cells are walked attribute by attribute, and a
//! branch is left where it costs every record in it at least as much as a cell that is known.
//!
//! For nodes, and for ranges under a loss that only grows with them; among sets there are too many cells.

use super::quick::Quick;
use crate::clustering::Loss;
use crate::clustering::numbers::Row;
use crate::clustering::shape::packed;

/// The most looks at records and at cells; after that there is no bound.
const MOST_LOOKS: u64 = 1 << 28;

/// The least loss, if it can be found. The clusters that are known are of k records or more each.
pub(super) fn least_loss(quick: &Quick<'_>) -> Option<u64> {
    let mut walk = Walk::new(quick)?;
    for cluster in quick.work.clusters.living() {
        let cost = quick.work.clusters.cost(cluster);
        let rows = quick.work.members(cluster).iter();
        rows.for_each(|row| walk.least[row.index()] = cost);
    }
    let rows: Vec<Row> = Row::first(quick.records()).collect();
    walk.go(0, &rows, 0)?;
    Some(walk.least.iter().sum())
}

struct Walk<'w> {
    quick: &'w Quick<'w>,
    k: usize,
    attributes: Vec<Attribute>,
    /// For each record, the cost of the cheapest cell that is known.
    least: Vec<u64>,
    looks: u64,
}

/// The cells of one attribute.
struct Attribute {
    number: usize,
    size: usize,
    cells: Cells,
}

enum Cells {
    /// The first and last value, and the cost; each behind all nodes below it.
    Nodes(Vec<(u32, u32, u64)>),
    /// The cost from one value to another.
    Ranges(Vec<u64>),
}

impl<'w> Walk<'w> {
    fn new(quick: &'w Quick<'w>) -> Option<Self> {
        let shapes = quick.shapes();
        let attribute = |number: usize| {
            let shape = shapes.shape(number);
            let size = shape.size() as usize;
            let cells = match shape.tree() {
                Some(tree) => {
                    let nodes = (0..tree.nodes() as u64).rev();
                    Cells::Nodes(
                        nodes
                            .map(|node| {
                                let (first, last) = tree.span(node);
                                (first, last, tree.cost(node))
                            })
                            .collect(),
                    )
                }
                None if shape.is_plain_range() && quick.work.plan.loss != Loss::Em => {
                    if size > 1 << 10 {
                        return None;
                    }
                    let cost = |place: usize| {
                        let (one, other) = ((place / size) as u32, (place % size) as u32);
                        shape.cost(&[packed(one.min(other), one.max(other))])
                    };
                    Cells::Ranges((0..size * size).map(cost).collect())
                }
                None => return None,
            };
            Some(Attribute {
                number,
                size,
                cells,
            })
        };
        let attributes = (0..shapes.attributes()).map(attribute);
        let mut attributes: Vec<Attribute> = attributes.collect::<Option<_>>()?;
        // Where few values are, a wider cell costs most: a branch is soon left.
        attributes.sort_by_key(|attribute| (attribute.size, attribute.number));
        Some(Self {
            quick,
            k: quick.k(),
            attributes,
            least: vec![u64::MAX; quick.records()],
            looks: 0,
        })
    }

    /// The cells of an attribute and those behind it, for some records, which cost so much so far.
    fn go(&mut self, level: usize, rows: &[Row], cost: u64) -> Option<()> {
        if level == self.attributes.len() {
            for row in rows {
                let least = &mut self.least[row.index()];
                *least = (*least).min(cost);
            }
            return self.look(rows.len());
        }
        // The cells are gone through too, whether they hold k records or not.
        let cells = match &self.attributes[level].cells {
            Cells::Nodes(nodes) => nodes.len(),
            Cells::Ranges(_) => rows.len().min(self.attributes[level].size).pow(2),
        };
        self.look(rows.len() + self.attributes[level].size + cells)?;
        let attribute = &self.attributes[level];
        let greatest = rows.iter().map(|row| self.least[row.index()]).max()?;
        // The records by their values, and where each value begins.
        let code = |row: &Row| self.quick.work.record(*row)[attribute.number] as usize;
        let mut starts = vec![0usize; attribute.size + 1];
        rows.iter().for_each(|row| starts[code(row) + 1] += 1);
        for value in 0..attribute.size {
            starts[value + 1] += starts[value];
        }
        let mut next = starts.clone();
        let mut sorted = rows.to_vec();
        for row in rows {
            let place = &mut next[code(row)];
            sorted[*place] = *row;
            *place += 1;
        }
        for (first, last, more) in self.cells(level, &starts) {
            let part = &sorted[starts[first]..starts[last + 1]];
            let cost = cost + more;
            if cost >= greatest {
                continue;
            }
            let dearer = |row: &Row| self.least[row.index()] > cost;
            let found = part.iter().position(dearer);
            self.look(found.unwrap_or(part.len()))?;
            if found.is_some() {
                self.go(level + 1, part, cost)?;
            }
        }
        Some(())
    }

    /// Counts looks; `None` when there were too many.
    fn look(&mut self, more: usize) -> Option<()> {
        self.looks += more as u64 + 1;
        (self.looks <= MOST_LOOKS).then_some(())
    }

    /// First and last value and cost of the cells of a level that hold k records, the narrow ones first.
    fn cells(&self, level: usize, starts: &[usize]) -> Vec<(usize, usize, u64)> {
        let attribute = &self.attributes[level];
        let count = |first: usize, last: usize| starts[last + 1] - starts[first];
        match &attribute.cells {
            Cells::Nodes(nodes) => nodes
                .iter()
                .map(|(first, last, cost)| (*first as usize, *last as usize, *cost))
                .filter(|(first, last, _)| count(*first, *last) >= self.k)
                .collect(),
            Cells::Ranges(costs) => {
                let values: Vec<usize> = (0..attribute.size)
                    .filter(|value| count(*value, *value) > 0)
                    .collect();
                let mut cells = Vec::new();
                for (place, first) in values.iter().enumerate() {
                    for last in &values[place..] {
                        if count(*first, *last) >= self.k {
                            cells.push((*first, *last, costs[first * attribute.size + last]));
                        }
                    }
                }
                cells.sort_unstable_by_key(|(first, last, cost)| (*cost, *first, *last));
                cells
            }
        }
    }
}
