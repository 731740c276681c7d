//! The questions of a clustering under way to all sites: sizes, sensitive counts and closures of
//! clusters, and whether the answers are possible.
//!
//! # Discloses
//! Each question discloses what its name ([`What`](hedgerow_smc::What)) says.

use hedgerow_smc::{Party, What};

use super::super::cover::{Question, smallest};
use super::super::requirement::Counted;
use super::work::Work;
use crate::clustering::numbers::{Cluster, Row};
use crate::error::Error;

impl Work<'_> {
    /// Everything, as one part.
    pub(super) fn whole(&self) -> Counted {
        Counted {
            sizes: vec![self.table.records()],
            sensitive: self.table.whole(),
        }
    }

    /// This site's records and sensitive values in some clusters.
    fn own_counts(&self, clusters: &[Cluster]) -> Counted {
        let counters = self.clusters.counters();
        let mut sensitive = vec![0; clusters.len() * counters];
        for (place, cluster) in clusters.iter().enumerate() {
            for row in self.members(*cluster) {
                for value in self.values(*row) {
                    sensitive[place * counters + *value as usize] += 1;
                }
            }
        }
        let sizes = clusters.iter();
        let sizes = sizes.map(|cluster| self.members(*cluster).len() as u64);
        Counted {
            sizes: sizes.collect(),
            sensitive,
        }
    }

    /// The known sizes and sensitive counts of some clusters.
    pub(super) fn known_counts(&self, clusters: &[Cluster]) -> Counted {
        let counts = clusters.iter();
        let counts = counts.flat_map(|cluster| self.clusters.counts(*cluster));
        Counted {
            sizes: clusters
                .iter()
                .map(|cluster| self.clusters.size(*cluster))
                .collect(),
            sensitive: counts.copied().collect(),
        }
    }

    /// Ends the run where the answers about some clusters are impossible: all clusters together do not
    /// have the records and values of the table, or a cluster has fewer than this site has in it.
    pub(super) fn see(
        &self,
        party: &Party,
        what: What,
        clusters: &[Cluster],
        told: &Counted,
        whole: &Counted,
    ) -> Result<(), Error> {
        let (Some(told_sum), Some(whole)) = (total(told), total(whole)) else {
            return Err(party.misfit(what, OTHERS).into());
        };
        party.fit(what, told_sum == whole, OTHERS)?;
        self.table
            .see(party, what, told, &self.own_counts(clusters))
    }

    /// Asks for sizes and sensitive counts of clusters, which have together what `whole` has.
    pub(super) async fn ask_sizes(
        &mut self,
        party: &mut Party,
        what: What,
        clusters: &[Cluster],
        whole: &Counted,
    ) -> Result<Counted, Error> {
        if clusters.is_empty() {
            return Ok(Counted {
                sizes: Vec::new(),
                sensitive: Vec::new(),
            });
        }
        let counters = self.clusters.counters();
        let own = self.own_counts(clusters);
        let mut sums = Vec::with_capacity(clusters.len() * (counters + 1));
        for (place, size) in own.sizes.iter().enumerate() {
            sums.push(*size);
            sums.extend_from_slice(own.of_part(place));
        }
        party.sum(what, &mut sums).await?;
        let of_clusters = || sums.chunks(counters + 1);
        let told = Counted {
            sizes: of_clusters().map(|sums| sums[0]).collect(),
            sensitive: of_clusters().flat_map(|sums| &sums[1..]).copied().collect(),
        };
        self.see(party, what, clusters, &told, whole)?;
        Ok(told)
    }

    /// Whether a closure contains all of this site's records of a cluster.
    pub(super) fn is_closure_of(&self, closure: &[u64], cluster: Cluster) -> bool {
        let mut rows = self.members(cluster).iter();
        self.shapes.is_closure(closure)
            && rows.all(|row| self.shapes.covers(closure, self.record(*row)))
    }

    /// Asks for the closures of clusters, each of which lies within a known one.
    pub(super) async fn ask_closures(
        &mut self,
        party: &mut Party,
        what: What,
        clusters: &[(Cluster, Vec<u64>)],
    ) -> Result<Vec<Vec<u64>>, Error> {
        let mut questions = Vec::with_capacity(clusters.len() * self.shapes.attributes());
        for (cluster, within) in clusters {
            let rows = self.members(*cluster).iter().copied();
            questions.extend(
                (0..self.shapes.attributes())
                    .map(|attribute| self.question(attribute, within, rows.clone())),
            );
        }
        let cells = smallest(party, what, &self.plan.writings, questions).await?;
        let of_clusters = cells.chunks(self.shapes.attributes().max(1));
        let mut closures = Vec::with_capacity(clusters.len());
        for ((_, within), cells) in clusters.iter().zip(of_clusters) {
            let mut closure = within.clone();
            let mut looks = 0;
            for (attribute, cell) in cells.iter().enumerate() {
                self.shapes.put(attribute, cell, &mut closure);
                looks = looks.max(self.shapes.looks(attribute, within, cell));
            }
            self.calls += looks;
            closures.push(closure);
        }
        Ok(closures)
    }

    /// The question about an attribute for some of this site's rows within a closure.
    pub(super) fn question(
        &self,
        attribute: usize,
        within: &[u64],
        rows: impl Iterator<Item = Row>,
    ) -> Question<'_> {
        let part = self.shapes.part(attribute, within);
        Question {
            own: rows
                .flat_map(|row| {
                    self.shapes
                        .shape(attribute)
                        .values(self.record(row)[attribute])
                })
                .collect(),
            bounds: self.shapes.shape(attribute).bounds(part),
            attribute,
            grid: self.shapes.shape(attribute).grid(),
        }
    }
}

/// Clusters together have other records and values than before.
const OTHERS: &str = "clusters do not have together the records and values that they had";

/// Records and sensitive values of all parts together; `None` where the sums overflow.
fn total(counted: &Counted) -> Option<(u64, Vec<u64>)> {
    let mut values = vec![0u64; counted.sensitive.len() / counted.parts().max(1)];
    for part in 0..counted.parts() {
        for (sum, count) in values.iter_mut().zip(counted.of_part(part)) {
            *sum = sum.checked_add(*count)?;
        }
    }
    let mut sizes = counted.sizes.iter();
    let size = sizes.try_fold(0u64, |sum, size| sum.checked_add(*size))?;
    Some((size, values))
}
