//! Costs of closures for the search of one site, which asks for them many millions of times: tables of
//! 32-bit numbers, which fit the processor's cache, for nodes, ranges and sets over domains that are not
//! too large; everything else as `Shapes` has it.

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
    parts: Vec<Part>,
    /// For each record and attribute, where the tables of the record's value begin; the value itself where
    /// there are no such tables.
    places: Vec<u32>,
}

/// How the closures of one attribute are joined; `word` is the attribute's word of a closure.
enum Part {
    Nodes {
        word: usize,
        size: usize,
        /// For each value and node, the lowest node above both, and its cost.
        nodes: Vec<u32>,
        costs: Vec<u32>,
        /// For each pair of nodes, the same.
        joins: Vec<u32>,
        pairs: Vec<u32>,
    },
    Range {
        word: usize,
        size: usize,
        /// For the least and the greatest value.
        costs: Vec<u32>,
    },
    Set {
        word: usize,
        /// For the number of values.
        costs: Vec<u32>,
    },
    Shape,
}

impl<'w> Quick<'w> {
    pub(super) fn new(work: &'w Work<'w>) -> Self {
        let shapes = work.shapes;
        let mut word = 0;
        let parts: Vec<Part> = (0..shapes.attributes())
            .map(|attribute| {
                let shape = shapes.shape(attribute);
                let part = Part::of(shape, word).unwrap_or(Part::Shape);
                word += shape.width();
                part
            })
            .collect();
        let rows = Row::first(work.rows.count);
        let places = rows.flat_map(|row| {
            let codes = work.record(row).iter().zip(&parts);
            codes.map(|(code, part)| match part {
                Part::Nodes { size, .. } => code * *size as u32,
                _ => *code,
            })
        });
        Self {
            work,
            shapes,
            places: places.collect(),
            parts,
        }
    }

    pub(super) fn records(&self) -> usize {
        self.work.rows.count
    }

    pub(super) fn shapes(&self) -> &'w Shapes<'w> {
        self.shapes
    }

    pub(super) fn k(&self) -> usize {
        self.work.k() as usize
    }

    /// The places of a record's sensitive values among the counts.
    pub(super) fn values(&self, row: Row) -> &[u32] {
        self.work.values(row)
    }

    fn places(&self, row: Row) -> &[u32] {
        let width = self.parts.len();
        &self.places[row.index() * width..(row.index() + 1) * width]
    }

    /// The cost of a closure together with a record.
    pub(super) fn joined_cost(&self, closure: &[u64], row: Row) -> u64 {
        let mut cost = 0;
        for (attribute, (part, place)) in self.parts.iter().zip(self.places(row)).enumerate() {
            cost += match part {
                Part::Nodes { word, costs, .. } => {
                    u64::from(costs[*place as usize + closure[*word] as usize])
                }
                Part::Range { word, size, costs } => {
                    let (least, greatest) = ends(closure[*word]);
                    let (least, greatest) = (least.min(*place), greatest.max(*place));
                    u64::from(costs[least as usize * size + greatest as usize])
                }
                Part::Set { word, costs } => {
                    let set = closure[*word] | 1 << place;
                    u64::from(costs[set.count_ones() as usize])
                }
                Part::Shape => {
                    let own = self.shapes.part(attribute, closure);
                    self.shapes.joined_part(attribute, own, *place)
                }
            };
        }
        cost
    }

    /// Widens a closure to a record.
    pub(super) fn join(&self, closure: &mut [u64], row: Row) {
        for (attribute, (part, place)) in self.parts.iter().zip(self.places(row)).enumerate() {
            match part {
                Part::Nodes { word, nodes, .. } => {
                    let own = &mut closure[*word];
                    *own = u64::from(nodes[*place as usize + *own as usize]);
                }
                Part::Range { word, .. } => {
                    let (least, greatest) = ends(closure[*word]);
                    closure[*word] = packed(least.min(*place), greatest.max(*place));
                }
                Part::Set { word, .. } => closure[*word] |= 1 << place,
                Part::Shape => self.shapes.join_value(attribute, closure, *place),
            }
        }
    }

    /// Widens a closure to another.
    pub(super) fn unite(&self, closure: &mut [u64], other: &[u64]) {
        for (attribute, part) in self.parts.iter().enumerate() {
            match part {
                Part::Nodes {
                    word, size, joins, ..
                } => {
                    let own = &mut closure[*word];
                    let place = *own as usize * size + other[*word] as usize;
                    *own = u64::from(joins[place]);
                }
                Part::Range { word, .. } => {
                    let ((a, b), (c, d)) = (ends(closure[*word]), ends(other[*word]));
                    closure[*word] = packed(a.min(c), b.max(d));
                }
                Part::Set { word, .. } => closure[*word] |= other[*word],
                Part::Shape => self.shapes.join_part(attribute, closure, other),
            }
        }
    }

    /// The closure of one record.
    pub(super) fn closure(&self, row: Row) -> Vec<u64> {
        self.shapes.of_record(self.work.record(row))
    }

    /// The cost of two closures together.
    pub(super) fn common_cost(&self, one: &[u64], other: &[u64]) -> u64 {
        let mut cost = 0;
        for (attribute, part) in self.parts.iter().enumerate() {
            cost += match part {
                Part::Nodes {
                    word, size, pairs, ..
                } => u64::from(pairs[one[*word] as usize * size + other[*word] as usize]),
                Part::Range { word, size, costs } => {
                    let ((a, b), (c, d)) = (ends(one[*word]), ends(other[*word]));
                    u64::from(costs[a.min(c) as usize * size + b.max(d) as usize])
                }
                Part::Set { word, costs } => {
                    let set = one[*word] | other[*word];
                    u64::from(costs[set.count_ones() as usize])
                }
                Part::Shape => {
                    let (one, other) = (
                        self.shapes.part(attribute, one),
                        self.shapes.part(attribute, other),
                    );
                    self.shapes.common_part(attribute, one, other)
                }
            };
        }
        cost
    }

    /// The cost of a closure.
    pub(super) fn cost(&self, closure: &[u64]) -> u64 {
        self.common_cost(closure, closure)
    }
}

impl Part {
    /// The tables of an attribute, if they are not too large.
    fn of(shape: &Shape<'_>, word: usize) -> Option<Self> {
        let (size, is_small) = (shape.size() as usize, |cost: u64| u32::try_from(cost).ok());
        if let Some(costs) = shape.costs_by_count() {
            let costs: Option<Vec<u32>> = costs.into_iter().map(is_small).collect();
            return Some(Self::Set {
                word,
                costs: costs?,
            });
        }
        if shape.is_plain_range() {
            if size.checked_mul(size)? > MOST_ENTRIES {
                return None;
            }
            let cost = |place: usize| {
                let (one, other) = ((place / size) as u32, (place % size) as u32);
                is_small(shape.cost(&[packed(one.min(other), one.max(other))]))
            };
            return Some(Self::Range {
                word,
                size,
                costs: (0..size * size).map(cost).collect::<Option<_>>()?,
            });
        }
        let tree = shape.tree()?;
        let (nodes, values) = (tree.nodes(), size);
        if nodes.checked_mul(nodes.max(values))? > MOST_ENTRIES {
            return None;
        }
        let with_all = |one: u64| (0..nodes as u64).map(move |other| tree.join(one, other));
        let leaves = (0..values as u32).map(|code| u64::from(tree.leaf(code)));
        let of_values: Vec<u64> = leaves.flat_map(with_all).collect();
        let of_nodes: Vec<u64> = (0..nodes as u64).flat_map(with_all).collect();
        let costs = |nodes: &[u64]| -> Option<Vec<u32>> {
            nodes.iter().map(|node| is_small(tree.cost(*node))).collect()
        };
        // There are less than 2^21 nodes.
        let numbers = |nodes: &[u64]| nodes.iter().map(|node| *node as u32).collect();
        Some(Self::Nodes {
            word,
            size: nodes,
            costs: costs(&of_values)?,
            pairs: costs(&of_nodes)?,
            nodes: numbers(&of_values),
            joins: numbers(&of_nodes),
        })
    }
}

