//! Counts: how often each sensitive value occurs in a class, and in the whole table.

/// One class's counts of one sensitive attribute: values ascending, each with its count. Counts
/// of 0 may stand among them and say nothing.
#[derive(Debug, Clone, Copy)]
pub struct Counts<'a> {
    values: &'a [u32],
    counts: &'a [u64],
}

impl<'a> Counts<'a> {
    /// Counts of these values, which ascend.
    ///
    /// # Panics
    /// If the slices differ in length: that is a mistake in the calling code.
    pub fn new(values: &'a [u32], counts: &'a [u64]) -> Self {
        assert_eq!(values.len(), counts.len());
        Self { values, counts }
    }

    /// Records in the class.
    pub fn size(self) -> u64 {
        self.counts.iter().sum()
    }

    /// The values that occur, with their counts.
    pub fn iter(self) -> impl Iterator<Item = (u32, u64)> + 'a {
        let pairs = self.values.iter().copied().zip(self.counts.iter().copied());
        pairs.filter(|(_, count)| *count > 0)
    }

    /// The counts that are not 0.
    pub fn present(self) -> impl Iterator<Item = u64> + 'a {
        self.counts.iter().copied().filter(|count| *count > 0)
    }
}

/// The whole table's counts of one sensitive attribute: what P is estimated from. Values that do
/// not occur in the table are not part of S.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// The count of each value, by value code.
    counts: Vec<u64>,
    total: u64,
    distinct: u64,
}

impl Reference {
    /// The table's counts, by value code.
    pub fn new(counts: Vec<u64>) -> Self {
        Self {
            total: counts.iter().sum(),
            distinct: counts.iter().filter(|count| **count > 0).count() as u64,
            counts,
        }
    }

    /// Records in the table.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Records with a value.
    pub fn count(&self, value: u32) -> u64 {
        self.counts[value as usize]
    }

    /// Counts by value code.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// Number of distinct values that occur.
    pub fn distinct(&self) -> u64 {
        self.distinct
    }
}
