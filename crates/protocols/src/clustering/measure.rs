//! By what clusters are near to a record, a closure or each other.

use super::shapes::Shapes;

/// What some clusters are compared by: less is nearer.
pub(crate) trait Measure {
    /// What a part of a closure costs together with what is looked for.
    fn joined(&self, attribute: usize, part: &[u64]) -> u64;

    /// The measure, from what the parts of the first levels cost alone and joined, and the size. Of
    /// all levels it is exact, and it grows from level to level.
    fn of(&self, level: usize, alone: u64, joined: u64, size: u64) -> u64;

    /// By how much it grows at least on the levels to come, whose parts cost at least so much.
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

/// What a closure costs together with a cluster's.
pub(crate) struct Common<'q> {
    pub(super) shapes: &'q Shapes<'q>,
    pub(super) closure: &'q [u64],
    /// What the closure costs on the levels to come, at each level.
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
