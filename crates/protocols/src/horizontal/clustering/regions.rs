//! Regions: groups of neighbouring clusters that keep their records to themselves for a while. What is tried
//! in one region leaves all others as they are, so that afterwards each region goes on with whichever of its
//! two states lost less: the clusters before, or the clusters after.
//!
//! # Discloses
//! Which clusters are in a region follows from closures, which all sites know. Where the requirement speaks of
//! sites, what the checks of it disclose.

use hedgerow_smc::{Generator, Party, Seed};

use super::members::Members;
use super::work::{State, Work};
use crate::clustering::clusters::Clusters;
use crate::clustering::neighbours::{Grouping, apart};
use crate::clustering::numbers::{Cluster, Row};
use crate::error::Error;

/// Clusters of a region.
const SIZE: usize = 12;
/// Clusters among which neighbours are looked for, so that the cost for each cluster does not grow with
/// their number.
const WINDOW: usize = 600;

/// The regions of all clusters.
#[derive(Clone)]
pub(super) struct Regions {
    of_cluster: Vec<u32>,
    clusters: Vec<Vec<Cluster>>,
}

impl Regions {
    /// Regions around random clusters, other ones for each number.
    pub(super) fn new(work: &Work<'_>, number: u64) -> Self {
        // All sites must draw the same regions, and whoever knows the clusters may know them.
        let seed = Seed::new([0; 32]).derive("regions of clusters", number);
        let mut generator = Generator::new(&seed);
        let mut attributes: Vec<usize> = (0..work.shapes.attributes()).collect();
        generator.shuffle(&mut attributes);
        let first = generator.below(WINDOW as u64) as usize;
        let grouping = Grouping {
            attributes: &attributes,
            window: WINDOW,
            first,
            size: SIZE,
            seed: &seed,
        };
        let closure = |cluster| work.clusters.closure(cluster);
        let apart = |centre, other| {
            let common = (work.shapes).common_cost(closure(centre), closure(other));
            apart(common, work.clusters.cost(other))
        };
        let living = work.clusters.living().collect();
        let clusters = grouping.groups(work.shapes, living, closure, apart);
        let mut of_cluster = vec![0; work.clusters.len()];
        for (region, clusters) in (0..).zip(&clusters) {
            for cluster in clusters {
                of_cluster[cluster.index()] = region;
            }
        }
        Self {
            of_cluster,
            clusters,
        }
    }

    /// The region of a cluster.
    pub(super) fn of(&self, cluster: Cluster) -> u32 {
        self.of_cluster[cluster.index()]
    }

    /// The clusters of a region, with those that are gone.
    pub(super) fn clusters(&self, region: u32) -> &[Cluster] {
        &self.clusters[region as usize]
    }

    /// Adds the cluster with the next number.
    pub(super) fn open(&mut self, region: u32) {
        let cluster = Cluster::at(self.of_cluster.len());
        self.of_cluster.push(region);
        self.clusters[region as usize].push(cluster);
    }

    /// Forgets all clusters but the first so many.
    pub(super) fn close(&mut self, clusters: usize) {
        for (place, region) in self.of_cluster.drain(clusters..).enumerate().rev() {
            let gone = self.clusters[region as usize].pop();
            debug_assert_eq!(gone, Some(Cluster::at(clusters + place)));
        }
    }

    /// Gives the clusters with these numbers the numbers from 0 on, and forgets all others.
    pub(super) fn renumber(&mut self, kept: &[Cluster]) {
        self.of_cluster = kept.iter().map(|cluster| self.of(*cluster)).collect();
        self.clusters.iter_mut().for_each(Vec::clear);
        for (place, region) in self.of_cluster.iter().enumerate() {
            self.clusters[*region as usize].push(Cluster::at(place));
        }
    }
}

/// The clusters before regions kept to themselves.
pub(super) struct Before {
    state: State,
    regions: Regions,
}

/// From now on regions keep their records to themselves.
pub(super) fn confine(work: &mut Work<'_>, number: u64) -> Before {
    work.tidy();
    let regions = Regions::new(work, number);
    work.regions = Some(regions.clone());
    Before {
        state: work.state(),
        regions,
    }
}

/// Regions no longer keep to themselves: each has the clusters that it had before, unless it has clusters that
/// lose less and satisfy the requirement.
pub(super) async fn choose(
    party: &mut Party,
    work: &mut Work<'_>,
    before: Before,
) -> Result<(), Error> {
    let Some(after) = work.regions.take() else {
        return Ok(());
    };
    let living = |region: &Vec<Cluster>| -> Vec<Cluster> {
        let clusters = region.iter().copied();
        let living = clusters.filter(|cluster| work.clusters.size(*cluster) > 0);
        living.collect()
    };
    let parts: Vec<Vec<Cluster>> = after.clusters.iter().map(living).collect();
    let loss = |clusters: &Clusters, of: &[Cluster]| -> u64 {
        of.iter().map(|cluster| clusters.loss_of(*cluster)).sum()
    };
    let both = parts.iter().zip(&before.regions.clusters);
    let mut is_better: Vec<bool> = both
        .map(|(now, then)| {
            now.iter().all(|cluster| work.is_enough(*cluster))
                && loss(&work.clusters, now) < loss(&before.state.clusters, then)
        })
        .collect();
    work.check_sites(party, &parts, &mut is_better).await?;
    let mut clusters = Clusters::new(work.shapes.width(), work.clusters.counters());
    let mut members = Members::new(work.rows.count);
    let mut put = |from: &Clusters, rows: &dyn Fn(Cluster) -> Vec<Row>, old: Cluster| {
        let cluster = clusters.push();
        *clusters.size_mut(cluster) = from.size(old);
        clusters.set_closure(work.shapes, cluster, from.closure(old));
        let counts = clusters.counts_mut(cluster);
        counts.copy_from_slice(from.counts(old));
        members.open();
        rows(old)
            .into_iter()
            .for_each(|row| members.put(row, cluster));
    };
    for (region, is_better) in is_better.into_iter().enumerate() {
        if is_better {
            for cluster in &parts[region] {
                put(
                    &work.clusters,
                    &|cluster| work.members(cluster).to_vec(),
                    *cluster,
                );
            }
        } else {
            let State { clusters, members } = &before.state;
            for cluster in &before.regions.clusters[region] {
                put(clusters, &|cluster| members.of(cluster).to_vec(), *cluster);
            }
        }
    }
    work.restore(State { clusters, members });
    Ok(())
}
