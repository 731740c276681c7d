//! Clusters as all sites see them: closure, size and cost of each, and, where the requirement speaks
//! of them, how often each sensitive value occurs.

use super::shapes::Shapes;

/// The clusters of a clustering, by number. A cluster of size 0 is gone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Clusters {
    width: usize,
    counters: usize,
    closures: Vec<u64>,
    pub(crate) sizes: Vec<u64>,
    /// Cost of one record: the sum over its cells.
    pub(crate) costs: Vec<u64>,
    counts: Vec<u64>,
}

impl Clusters {
    /// None yet.
    pub(crate) fn new(width: usize, counters: usize) -> Self {
        Self {
            width,
            counters,
            closures: Vec::new(),
            sizes: Vec::new(),
            costs: Vec::new(),
            counts: Vec::new(),
        }
    }

    /// Numbers that clusters have.
    pub(crate) fn len(&self) -> usize {
        self.sizes.len()
    }

    /// The numbers of clusters with records.
    pub(crate) fn living(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.len()).filter(|cluster| self.sizes[*cluster] > 0)
    }

    pub(crate) fn closure(&self, cluster: usize) -> &[u64] {
        &self.closures[cluster * self.width..(cluster + 1) * self.width]
    }

    /// The sensitive counts of a cluster.
    pub(crate) fn counts(&self, cluster: usize) -> &[u64] {
        &self.counts[cluster * self.counters..(cluster + 1) * self.counters]
    }

    pub(crate) fn counts_mut(&mut self, cluster: usize) -> &mut [u64] {
        &mut self.counts[cluster * self.counters..(cluster + 1) * self.counters]
    }

    /// How many sensitive counts a cluster has.
    pub(crate) const fn counters(&self) -> usize {
        self.counters
    }

    /// Adds a cluster without records; its closure is yet to be set.
    pub(crate) fn push(&mut self) -> usize {
        self.closures.resize(self.closures.len() + self.width, 0);
        self.counts.resize(self.counts.len() + self.counters, 0);
        self.sizes.push(0);
        self.costs.push(0);
        self.len() - 1
    }

    pub(crate) fn truncate(&mut self, clusters: usize) {
        self.closures.truncate(clusters * self.width);
        self.counts.truncate(clusters * self.counters);
        self.sizes.truncate(clusters);
        self.costs.truncate(clusters);
    }

    pub(crate) fn set_closure(&mut self, shapes: &Shapes<'_>, cluster: usize, closure: &[u64]) {
        self.costs[cluster] = shapes.cost(closure);
        self.closures[cluster * self.width..(cluster + 1) * self.width].copy_from_slice(closure);
    }

    /// The loss of a cluster: its cost for each of its records.
    pub(crate) fn loss_of(&self, cluster: usize) -> u64 {
        self.sizes[cluster] * self.costs[cluster]
    }

    /// The loss of the clustering.
    pub(crate) fn loss(&self) -> u64 {
        (0..self.len()).map(|cluster| self.loss_of(cluster)).sum()
    }

    /// By how much the loss grows when a record joins a cluster; 0 where it falls, as entropy can.
    pub(crate) fn growth(&self, shapes: &Shapes<'_>, cluster: usize, record: &[u32]) -> u64 {
        self.growth_to(cluster, shapes.joined_cost(self.closure(cluster), record))
    }

    /// The same, where it is known what the cluster's closure costs together with the record.
    pub(crate) fn growth_to(&self, cluster: usize, joined: u64) -> u64 {
        ((self.sizes[cluster] + 1) * joined).saturating_sub(self.loss_of(cluster))
    }

    /// What two clusters would lose as one.
    pub(crate) fn loss_united(&self, shapes: &Shapes<'_>, one: usize, other: usize) -> u64 {
        let joint = shapes.common_cost(self.closure(one), self.closure(other));
        (self.sizes[one] + self.sizes[other]) * joint
    }
}
