//! Clusters as all sites see them: closure, size and cost of each, and, where the requirement speaks
//! of them, how often each sensitive value occurs.

use super::numbers::Cluster;
use super::shapes::Shapes;

/// The clusters of a clustering, by number. A cluster of size 0 is gone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Clusters {
    width: usize,
    counters: usize,
    closures: Vec<u64>,
    sizes: Vec<u64>,
    /// Cost of one record: the sum over its cells.
    costs: Vec<u64>,
    counts: Vec<u64>,
}

impl Clusters {
    /// A clustering without clusters.
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

    /// How many cluster numbers are in use, including the numbers of clusters that are gone.
    pub(crate) fn len(&self) -> usize {
        self.sizes.len()
    }

    /// The numbers of clusters with records.
    pub(crate) fn living(&self) -> impl Iterator<Item = Cluster> + '_ {
        Cluster::first(self.len()).filter(|cluster| self.size(*cluster) > 0)
    }

    /// How many records a cluster has.
    pub(crate) fn size(&self, cluster: Cluster) -> u64 {
        self.sizes[cluster.index()]
    }

    pub(crate) fn size_mut(&mut self, cluster: Cluster) -> &mut u64 {
        &mut self.sizes[cluster.index()]
    }

    /// What the closure of a cluster costs each of its records.
    pub(crate) fn cost(&self, cluster: Cluster) -> u64 {
        self.costs[cluster.index()]
    }

    pub(crate) fn closure(&self, cluster: Cluster) -> &[u64] {
        let from = cluster.index() * self.width;
        &self.closures[from..from + self.width]
    }

    /// The sensitive counts of a cluster.
    pub(crate) fn counts(&self, cluster: Cluster) -> &[u64] {
        let from = cluster.index() * self.counters;
        &self.counts[from..from + self.counters]
    }

    pub(crate) fn counts_mut(&mut self, cluster: Cluster) -> &mut [u64] {
        let from = cluster.index() * self.counters;
        &mut self.counts[from..from + self.counters]
    }

    /// How many sensitive counts a cluster has.
    pub(crate) const fn counters(&self) -> usize {
        self.counters
    }

    /// Adds a cluster without records; its closure is yet to be set.
    pub(crate) fn push(&mut self) -> Cluster {
        self.closures.resize(self.closures.len() + self.width, 0);
        self.counts.resize(self.counts.len() + self.counters, 0);
        self.sizes.push(0);
        self.costs.push(0);
        Cluster::at(self.len() - 1)
    }

    /// Forgets all clusters but the first so many.
    pub(crate) fn truncate(&mut self, clusters: usize) {
        self.closures.truncate(clusters * self.width);
        self.counts.truncate(clusters * self.counters);
        self.sizes.truncate(clusters);
        self.costs.truncate(clusters);
    }

    pub(crate) fn set_closure(&mut self, shapes: &Shapes<'_>, cluster: Cluster, closure: &[u64]) {
        self.costs[cluster.index()] = shapes.cost(closure);
        let from = cluster.index() * self.width;
        self.closures[from..from + self.width].copy_from_slice(closure);
    }

    /// The loss of a cluster: its cost for each of its records.
    pub(crate) fn loss_of(&self, cluster: Cluster) -> u64 {
        self.size(cluster) * self.cost(cluster)
    }

    /// The loss of the clustering.
    pub(crate) fn loss(&self) -> u64 {
        let losses = self.sizes.iter().zip(&self.costs);
        losses.map(|(size, cost)| size * cost).sum()
    }

    /// By how much the loss grows when a record joins a cluster; 0 where the loss falls, as entropy can.
    pub(crate) fn growth(&self, shapes: &Shapes<'_>, cluster: Cluster, record: &[u32]) -> u64 {
        let joined = shapes.joined_cost(self.closure(cluster), record);
        growth(self.size(cluster), self.cost(cluster), joined)
    }

    /// What two clusters would lose as one.
    pub(crate) fn loss_united(&self, shapes: &Shapes<'_>, one: Cluster, other: Cluster) -> u64 {
        let joint = shapes.common_cost(self.closure(one), self.closure(other));
        (self.size(one) + self.size(other)) * joint
    }
}

/// By how much the loss of a cluster of so many records, each of which costs `cost`, grows when another
/// record joins and each then costs `joined`; 0 where the loss falls.
pub(crate) fn growth(size: u64, cost: u64, joined: u64) -> u64 {
    ((size + 1) * joined).saturating_sub(size * cost)
}
