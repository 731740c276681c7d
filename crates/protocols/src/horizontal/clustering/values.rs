//! How often each value of a site's own records occurs in a cluster, which tells whether the cluster's
//! closure would change without a record.

use crate::clustering::shapes::Shapes;

/// For each attribute, values and how many records have them, by value.
#[derive(Clone)]
pub(super) struct OwnValues(Vec<Vec<(u32, u32)>>);

impl OwnValues {
    pub(super) fn new<'r>(attributes: usize, records: impl Iterator<Item = &'r [u32]>) -> Self {
        let mut columns: Vec<Vec<u32>> = vec![Vec::new(); attributes];
        for record in records {
            for (column, code) in columns.iter_mut().zip(record) {
                column.push(*code);
            }
        }
        let counted = columns.into_iter().map(|mut column| {
            column.sort_unstable();
            let runs = column.chunk_by(|one, other| one == other);
            runs.map(|run| (run[0], run.len() as u32)).collect()
        });
        Self(counted.collect())
    }

    pub(super) fn add(&mut self, record: &[u32]) {
        for (counts, code) in self.0.iter_mut().zip(record) {
            match counts.binary_search_by_key(code, |(code, _)| *code) {
                Ok(place) => counts[place].1 += 1,
                Err(place) => counts.insert(place, (*code, 1)),
            }
        }
    }

    pub(super) fn take(&mut self, record: &[u32]) {
        for (counts, code) in self.0.iter_mut().zip(record) {
            if let Ok(place) = counts.binary_search_by_key(code, |(code, _)| *code) {
                counts[place].1 -= 1;
                if counts[place].1 == 0 {
                    counts.remove(place);
                }
            }
        }
    }

    /// The attributes, as bits, in which the closure would change without one of the records.
    pub(super) fn narrowed(&self, shapes: &Shapes<'_>, record: &[u32]) -> u64 {
        let attributes = self.0.iter().zip(record).enumerate();
        let changes = attributes.filter(|(attribute, (counts, code))| {
            let is_last = counts
                .binary_search_by_key(*code, |(code, _)| *code)
                .is_ok_and(|place| counts[place].1 == 1);
            let others = counts.iter().map(|(code, _)| *code);
            let others = others.filter(|other| other != *code);
            is_last && !shapes.is_within(*attribute, others, **code)
        });
        changes.fold(0, |bits, (attribute, _)| bits | bit(attribute))
    }
}

/// The bit of an attribute in the question about a cluster. Attributes from the 64th on share the last
/// bit, and are asked about together.
pub(super) fn bit(attribute: usize) -> u64 {
    1 << attribute.min(63)
}
