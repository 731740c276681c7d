//! Numbers of clusters and of rows as types of their own, so that they are not taken for one another.

/// The number of a cluster in a clustering.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Cluster(u32);

impl Cluster {
    /// The cluster at a place of a list that has one entry for each cluster. There are not more clusters
    /// than records, whose number fits 32 bits.
    pub(crate) const fn at(place: usize) -> Self {
        Self(place as u32)
    }

    /// The cluster that a peer names by a number; `None` for a number that no cluster can have.
    pub(crate) fn named(number: u64) -> Option<Self> {
        u32::try_from(number).ok().map(Self)
    }

    /// The place of the cluster's entry in a list with one entry for each cluster.
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }

    /// The first so many clusters.
    pub(crate) fn first(clusters: usize) -> impl DoubleEndedIterator<Item = Self> + Clone {
        (0..clusters).map(Self::at)
    }
}

/// The number of a row of this site's table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Row(u32);

impl Row {
    /// The row with a number.
    #[cfg(test)]
    pub(crate) const fn new(number: u32) -> Self {
        Self(number)
    }

    /// The row's number.
    pub(crate) const fn number(self) -> u32 {
        self.0
    }

    /// The place of the row's entry in a list with one entry for each row.
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }

    /// The first so many rows.
    pub(crate) fn first(rows: usize) -> impl DoubleEndedIterator<Item = Self> + Clone {
        // A table has less than 2^32 rows.
        (0..rows as u32).map(Self)
    }

    /// The numbers of some rows.
    pub(crate) fn numbers(rows: &[Self]) -> impl Iterator<Item = u32> + Clone + '_ {
        rows.iter().map(|row| row.0)
    }
}
