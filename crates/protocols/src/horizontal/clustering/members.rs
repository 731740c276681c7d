//! Which of this site's rows are in which cluster.

use crate::clustering::numbers::{Cluster, Row};

/// This site's rows, cluster by cluster.
#[derive(Clone)]
pub(super) struct Members {
    cluster_of: Vec<Cluster>,
    of_cluster: Vec<Vec<Row>>,
    /// The place of each row among the members of its cluster.
    places: Vec<u32>,
}

impl Members {
    /// Members of no clusters, for so many rows.
    pub(super) fn new(rows: usize) -> Self {
        Self {
            cluster_of: vec![Cluster::at(0); rows],
            of_cluster: Vec::new(),
            places: vec![0; rows],
        }
    }

    pub(super) fn cluster_of(&self, row: Row) -> Cluster {
        self.cluster_of[row.index()]
    }

    /// The rows in a cluster.
    pub(super) fn of(&self, cluster: Cluster) -> &[Row] {
        &self.of_cluster[cluster.index()]
    }

    /// Adds a cluster without rows.
    pub(super) fn open(&mut self) {
        self.of_cluster.push(Vec::new());
    }

    /// Forgets all clusters but the first so many; the others must have no rows.
    pub(super) fn truncate(&mut self, clusters: usize) {
        self.of_cluster.truncate(clusters);
    }

    /// Puts a row that is in no cluster into one.
    pub(super) fn put(&mut self, row: Row, cluster: Cluster) {
        let members = &mut self.of_cluster[cluster.index()];
        self.cluster_of[row.index()] = cluster;
        self.places[row.index()] = members.len() as u32;
        members.push(row);
    }

    /// Moves a row.
    pub(super) fn shift(&mut self, row: Row, to: Cluster) {
        let place = self.places[row.index()] as usize;
        let members = &mut self.of_cluster[self.cluster_of[row.index()].index()];
        members.swap_remove(place);
        if let Some(moved) = members.get(place) {
            self.places[moved.index()] = place as u32;
        }
        self.put(row, to);
    }

    /// Moves all rows of a cluster.
    pub(super) fn shift_all(&mut self, from: Cluster, to: Cluster) {
        for row in std::mem::take(&mut self.of_cluster[from.index()]) {
            self.put(row, to);
        }
    }

    /// Gives the clusters with these numbers the numbers from 0 on; the others must have no rows.
    pub(super) fn renumber(&mut self, kept: &[Cluster]) {
        let mut of_cluster = Vec::with_capacity(kept.len());
        for (place, old) in kept.iter().enumerate() {
            let rows = std::mem::take(&mut self.of_cluster[old.index()]);
            for row in &rows {
                self.cluster_of[row.index()] = Cluster::at(place);
            }
            of_cluster.push(rows);
        }
        self.of_cluster = of_cluster;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Wherever rows were moved, each is a member of its cluster exactly once.
        #[test]
        fn every_row_is_a_member_of_its_cluster(
            moves in proptest::collection::vec((0..9u32, 0..4usize, any::<bool>()), 0..30),
        ) {
            let mut members = Members::new(9);
            (0..4).for_each(|_| members.open());
            Row::first(9).for_each(|row| members.put(row, Cluster::at(0)));
            for (row, to, are_all) in moves {
                let (row, to) = (Row::new(row), Cluster::at(to));
                let from = members.cluster_of(row);
                if are_all && from != to {
                    members.shift_all(from, to);
                } else {
                    members.shift(row, to);
                }
                prop_assert_eq!(members.cluster_of(row), to);
            }
            let kept: Vec<Cluster> = Cluster::first(4)
                .filter(|cluster| !members.of(*cluster).is_empty())
                .collect();
            members.renumber(&kept);
            let mut all = Vec::new();
            for cluster in Cluster::first(kept.len()) {
                for (place, row) in members.of(cluster).iter().enumerate() {
                    prop_assert_eq!(members.cluster_of(*row), cluster);
                    prop_assert_eq!(members.places[row.index()] as usize, place);
                    all.push(*row);
                }
            }
            all.sort_unstable();
            prop_assert_eq!(all, Row::first(9).collect::<Vec<Row>>());
        }
    }
}
