//! By what clusters are near to a record, a closure or each other.

use super::shapes::Shapes;

/// A measure by which clusters are compared with a target: less is nearer.
pub(crate) trait Measure {
    /// The cost of a part of a closure together with the target's part.
    fn joined(&self, attribute: usize, part: &[u64]) -> u64;

    /// The measure, from the costs of the parts of the first levels, alone and joined, and from the
    /// size. With all levels it is exact, and it grows from level to level.
    fn of(&self, level: usize, alone: u64, joined: u64, size: u64) -> u64;

    /// By how much the measure grows at least on the levels to come, whose parts cost at least `rest`.
    fn rest(&self, level: usize, rest: u64) -> u64;
}

/// How much the loss grows when a record joins.
pub(crate) struct Growth<'q> {
    shapes: &'q Shapes<'q>,
    record: &'q [u32],
    /// For each attribute, what every part costs with the record's value, where that is in a table.
    tables: Vec<Option<&'q [u64]>>,
}

impl<'q> Growth<'q> {
    pub(crate) fn new(shapes: &'q Shapes<'q>, record: &'q [u32]) -> Self {
        let codes = record.iter().enumerate();
        Self {
            shapes,
            record,
            tables: codes
                .map(|(attribute, code)| shapes.costs_with(attribute, *code))
                .collect(),
        }
    }
}

impl Growth<'_> {
    /// The cost of a closure together with the record, if that is at most so much.
    pub(crate) fn at_most(&self, closure: &[u64], most: u64) -> Option<u64> {
        let mut joined = 0u64;
        for attribute in 0..self.record.len() {
            joined += self.joined(attribute, self.shapes.part(attribute, closure));
            if joined > most {
                return None;
            }
        }
        Some(joined)
    }
}

impl Measure for Growth<'_> {
    fn joined(&self, attribute: usize, part: &[u64]) -> u64 {
        match self.tables[attribute] {
            Some(table) => table[part[0] as usize],
            None => {
                let code = self.record[attribute];
                self.shapes.joined_part(attribute, part, code)
            }
        }
    }

    fn of(&self, _: usize, alone: u64, joined: u64, size: u64) -> u64 {
        ((size + 1) * joined).saturating_sub(size * alone)
    }

    fn rest(&self, _: usize, rest: u64) -> u64 {
        rest
    }
}

/// The cost of a closure together with a cluster's closure.
pub(crate) struct Common<'q> {
    pub(super) shapes: &'q Shapes<'q>,
    pub(super) closure: &'q [u64],
    /// At each level, the cost of the closure on the levels to come.
    pub(super) rest: Vec<u64>,
}

impl Measure for Common<'_> {
    fn joined(&self, attribute: usize, part: &[u64]) -> u64 {
        let own = self.shapes.part(attribute, self.closure);
        self.shapes.common_part(attribute, own, part)
    }

    fn of(&self, _: usize, _: u64, joined: u64, _: u64) -> u64 {
        joined
    }

    fn rest(&self, level: usize, rest: u64) -> u64 {
        rest.max(self.rest[level])
    }
}

/// By how much the loss grows when a cluster is united with another (TG12 equation 6).
pub(crate) struct United<'q> {
    pub(super) common: Common<'q>,
    pub(super) size: u64,
    pub(super) cost: u64,
}

impl Measure for United<'_> {
    fn joined(&self, attribute: usize, part: &[u64]) -> u64 {
        self.common.joined(attribute, part)
    }

    fn of(&self, level: usize, alone: u64, joined: u64, size: u64) -> u64 {
        let own = self.cost - self.common.rest[level];
        ((self.size + size) * joined).saturating_sub(self.size * own + size * alone)
    }

    fn rest(&self, _: usize, _: u64) -> u64 {
        0
    }
}
