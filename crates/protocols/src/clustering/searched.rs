//! Clusters together with the tree that finds the nearest of them. Every change of a cluster goes
//! through [`Searched::change`], which puts the changed clusters where they then belong in the tree: a
//! search never meets a cluster in an earlier state.

use std::ops::Deref;

use super::clusters::Clusters;
use super::measure::{Common, Measure, United};
use super::numbers::Cluster;
use super::search::Search;
use super::shapes::Shapes;

/// Clusters that can be searched; they are read through [`Clusters`].
pub(crate) struct Searched<'a> {
    shapes: &'a Shapes<'a>,
    clusters: Clusters,
    search: Search,
    /// Empty between changes, but for what changed ever.
    unplaced: Unplaced,
}

/// Clusters that are not yet at their new place in the tree.
#[derive(Default)]
struct Unplaced {
    /// The clusters in the order in which they were touched; some may have been placed since.
    touched: Vec<Cluster>,
    /// For each cluster, whether it is unplaced.
    is_unplaced: Vec<bool>,
    /// Every cluster that was changed, in order, as often as it was.
    changed: Vec<Cluster>,
}

impl Deref for Searched<'_> {
    type Target = Clusters;

    fn deref(&self) -> &Clusters {
        &self.clusters
    }
}

impl<'a> Searched<'a> {
    /// A clustering without clusters.
    pub(crate) fn new(shapes: &'a Shapes<'a>, counters: usize) -> Self {
        Self::of(shapes, Clusters::new(shapes.width(), counters))
    }

    /// A tree of some clusters.
    pub(crate) fn of(shapes: &'a Shapes<'a>, clusters: Clusters) -> Self {
        Self {
            search: Search::new(shapes, &clusters),
            shapes,
            clusters,
            unplaced: Unplaced::default(),
        }
    }

    /// Adds a cluster without records, which no search meets.
    pub(crate) fn push(&mut self) -> Cluster {
        self.clusters.push()
    }

    /// Forgets all clusters but the first so many; the others must have no records.
    pub(crate) fn truncate(&mut self, clusters: usize) {
        self.clusters.truncate(clusters);
    }

    /// Changes clusters. Touched clusters are placed in the tree afterwards, in the order in which they
    /// were first touched.
    pub(crate) fn change<T>(&mut self, change: impl FnOnce(&mut Change<'_>) -> T) -> T {
        let mut under_way = Change {
            shapes: self.shapes,
            clusters: &mut self.clusters,
            search: &mut self.search,
            unplaced: &mut self.unplaced,
        };
        let changed = change(&mut under_way);
        for cluster in std::mem::take(&mut self.unplaced.touched) {
            if self.unplaced.remove(cluster) {
                self.search.put(self.shapes, &self.clusters, cluster);
            }
        }
        changed
    }

    /// How often clusters were changed so far.
    pub(crate) fn moment(&self) -> u64 {
        self.unplaced.changed.len() as u64
    }

    /// The clusters that were changed since a moment, some of them several times.
    pub(crate) fn changed_since(&self, moment: u64) -> &[Cluster] {
        self.unplaced.changed.get(moment as usize..).unwrap_or(&[])
    }

    /// Makes the tree anew. After many changes a tree has nodes without clusters, and bounds of clusters
    /// that are gone.
    pub(crate) fn replant(&mut self) {
        self.search = Search::new(self.shapes, &self.clusters);
    }

    /// Gives the clusters with records the numbers from 0 on, in their order. Gives their numbers
    /// from before.
    pub(crate) fn renumber(&mut self) -> Vec<Cluster> {
        let living: Vec<Cluster> = self.clusters.living().collect();
        let mut clusters = Clusters::new(self.shapes.width(), self.clusters.counters());
        for old in &living {
            let cluster = clusters.push();
            *clusters.size_mut(cluster) = self.clusters.size(*old);
            clusters.set_closure(self.shapes, cluster, self.clusters.closure(*old));
            let counts = clusters.counts_mut(cluster);
            counts.copy_from_slice(self.clusters.counts(*old));
        }
        *self = Self::of(self.shapes, clusters);
        living
    }

    /// A closure to look for.
    pub(crate) fn common<'q>(&'q self, closure: &'q [u64]) -> Common<'q> {
        self.search.common(self.shapes, closure)
    }

    /// A cluster to unite.
    pub(crate) fn united(&self, cluster: Cluster) -> United<'_> {
        self.search.united(self.shapes, &self.clusters, cluster)
    }

    /// The nearest clusters, at most so many, each below a bound, with their measures, ascending; of
    /// equal clusters the first. `may_be` leaves clusters out.
    pub(crate) fn nearest<M: Measure>(
        &self,
        measure: &M,
        bounds: (usize, u64),
        may_be: impl Fn(Cluster) -> bool,
    ) -> Vec<(u64, Cluster)> {
        let clusters = (self.shapes, &self.clusters);
        self.search.nearest(clusters, measure, bounds, may_be)
    }

    /// As [`Self::nearest`], among some clusters.
    pub(crate) fn nearest_among<M: Measure>(
        &self,
        measure: &M,
        (most, below): (usize, u64),
        among: &[Cluster],
        may_be: impl Fn(Cluster) -> bool,
    ) -> Vec<(u64, Cluster)> {
        let attributes = self.shapes.attributes();
        let measured = among.iter().filter_map(|cluster| {
            let size = self.size(*cluster);
            if size == 0 || !may_be(*cluster) {
                return None;
            }
            let closure = self.closure(*cluster);
            let parts = (0..attributes)
                .map(|attribute| measure.joined(attribute, self.shapes.part(attribute, closure)));
            let found = measure.of(attributes, self.cost(*cluster), parts.sum(), size);
            (found < below).then_some((found, *cluster))
        });
        let mut near: Vec<(u64, Cluster)> = measured.collect();
        near.sort_unstable();
        near.truncate(most);
        near
    }

    /// The cluster whose loss grows least when a record joins, if the loss grows by less than a bound; of
    /// equal clusters the first. A loss that falls counts as a growth below zero. `may_be` leaves clusters
    /// out.
    pub(crate) fn least_grown(
        &self,
        record: &[u32],
        below: i128,
        may_be: impl Fn(Cluster) -> bool,
    ) -> Option<Cluster> {
        let clusters = (self.shapes, &self.clusters);
        self.search.least_grown(clusters, record, below, may_be)
    }

    /// Calls `each` with every cluster whose closure may share records with this closure.
    pub(crate) fn meeting(&self, closure: &[u64], each: &mut impl FnMut(Cluster)) {
        let clusters = (self.shapes, &self.clusters);
        self.search.meeting(clusters, closure, each);
    }
}

impl Unplaced {
    fn add(&mut self, cluster: Cluster) {
        if self.is_unplaced.len() <= cluster.index() {
            self.is_unplaced.resize(cluster.index() + 1, false);
        }
        if !std::mem::replace(&mut self.is_unplaced[cluster.index()], true) {
            self.touched.push(cluster);
            self.changed.push(cluster);
        }
    }

    /// Marks a cluster as placed; returns whether it was unplaced.
    fn remove(&mut self, cluster: Cluster) -> bool {
        let is_unplaced = self.is_unplaced.get_mut(cluster.index());
        is_unplaced.is_some_and(std::mem::take)
    }
}

/// A change of clusters under way; the clusters are read through [`Clusters`].
pub(crate) struct Change<'c> {
    shapes: &'c Shapes<'c>,
    clusters: &'c mut Clusters,
    search: &'c mut Search,
    unplaced: &'c mut Unplaced,
}

impl Deref for Change<'_> {
    type Target = Clusters;

    fn deref(&self) -> &Clusters {
        self.clusters
    }
}

impl Change<'_> {
    fn touch(&mut self, cluster: Cluster) -> &mut Clusters {
        self.unplaced.add(cluster);
        self.clusters
    }

    pub(crate) fn size_mut(&mut self, cluster: Cluster) -> &mut u64 {
        self.touch(cluster).size_mut(cluster)
    }

    /// The sensitive counts of a cluster.
    pub(crate) fn counts_mut(&mut self, cluster: Cluster) -> &mut [u64] {
        self.touch(cluster).counts_mut(cluster)
    }

    pub(crate) fn set_counts(&mut self, cluster: Cluster, size: u64, counts: &[u64]) {
        *self.size_mut(cluster) = size;
        self.counts_mut(cluster).copy_from_slice(counts);
    }

    pub(crate) fn set_closure(&mut self, cluster: Cluster, closure: &[u64]) {
        let shapes = self.shapes;
        self.touch(cluster).set_closure(shapes, cluster, closure);
    }

    /// Leaves a cluster without records.
    pub(crate) fn empty(&mut self, cluster: Cluster) {
        *self.size_mut(cluster) = 0;
        self.counts_mut(cluster).fill(0);
    }

    /// Places a cluster in the tree before others are changed.
    ///
    /// Where a loss can fall as closures widen, as entropy can, what a search finds depends on how
    /// the tree has grown: sites of one run, and runs of one seed, must place clusters in one order.
    pub(crate) fn place(&mut self, cluster: Cluster) {
        self.unplaced.remove(cluster);
        self.search.put(self.shapes, self.clusters, cluster);
    }
}

#[cfg(test)]
mod tests;
