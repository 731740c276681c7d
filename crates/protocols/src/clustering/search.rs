//! The best cluster for a record, without looking at all of them.
//!
//! Clusters are grouped by the parts of their closures in a few attributes. How much those parts
//! grow is the same for a whole group, and bounds what joining any of its clusters would cost; most
//! groups are passed over for it. The answer is the same as that of a look at every cluster.

use std::collections::HashMap;

use super::clusters::Clusters;
use super::shape::Shapes;

/// Attributes to group by: more make groups smaller and bounds tighter.
const ATTRIBUTES: usize = 4;

/// Groups of clusters.
pub(crate) struct Search {
    attributes: Vec<usize>,
    numbers: HashMap<Vec<u64>, usize>,
    groups: Vec<Group>,
    /// Group of each cluster, and its place there.
    places: Vec<Option<(u32, u32)>>,
}

struct Group {
    key: Vec<u64>,
    clusters: Vec<u32>,
    /// The least size and cost that any of its clusters had.
    size: u64,
    cost: u64,
}

impl Search {
    pub(crate) fn new(shapes: &Shapes<'_>, clusters: &Clusters) -> Self {
        let mut search = Self {
            attributes: shapes.telling(ATTRIBUTES),
            numbers: HashMap::new(),
            groups: Vec::new(),
            places: Vec::new(),
        };
        (0..clusters.len()).for_each(|cluster| search.put(shapes, clusters, cluster));
        search
    }

    /// Puts a cluster where it now belongs.
    pub(crate) fn put(&mut self, shapes: &Shapes<'_>, clusters: &Clusters, cluster: usize) {
        if self.places.len() <= cluster {
            self.places.resize(cluster + 1, None);
        }
        if let Some((group, place)) = self.places[cluster].take() {
            let members = &mut self.groups[group as usize].clusters;
            members.swap_remove(place as usize);
            if let Some(moved) = members.get(place as usize) {
                self.places[*moved as usize] = Some((group, place));
            }
        }
        if clusters.sizes[cluster] == 0 {
            return;
        }
        let closure = clusters.closure(cluster);
        let parts = self.attributes.iter();
        let key: Vec<u64> = parts
            .flat_map(|attribute| shapes.part(*attribute, closure))
            .copied()
            .collect();
        let number = match self.numbers.get(&key) {
            Some(number) => *number,
            None => {
                self.numbers.insert(key.clone(), self.groups.len());
                self.groups.push(Group {
                    key,
                    clusters: Vec::new(),
                    size: u64::MAX,
                    cost: u64::MAX,
                });
                self.groups.len() - 1
            }
        };
        let group = &mut self.groups[number];
        self.places[cluster] = Some((number as u32, group.clusters.len() as u32));
        group.clusters.push(cluster as u32);
        group.size = group.size.min(clusters.sizes[cluster]);
        group.cost = group.cost.min(clusters.costs[cluster]);
    }

    /// The cluster that grows least when a record joins it, of equals the first, if it grows by less
    /// than `below`; `may_join` leaves clusters out.
    pub(crate) fn best(
        &self,
        shapes: &Shapes<'_>,
        clusters: &Clusters,
        record: &[u32],
        below: u64,
        may_join: impl Fn(usize) -> bool,
    ) -> Option<(u64, usize)> {
        let mut best = (below, usize::MAX);
        for group in self
            .groups
            .iter()
            .filter(|group| !group.clusters.is_empty())
        {
            let wider = self.wider(shapes, &group.key, record);
            if (group.size + 1) * wider + group.cost > best.0 {
                continue;
            }
            for cluster in &group.clusters {
                let cluster = *cluster as usize;
                let (size, cost) = (clusters.sizes[cluster], clusters.costs[cluster]);
                if (size + 1) * wider + cost > best.0 {
                    continue;
                }
                let growth = clusters.growth(shapes, cluster, record);
                if (growth, cluster) < best && growth < below && may_join(cluster) {
                    best = (growth, cluster);
                }
            }
        }
        (best.1 != usize::MAX).then_some(best)
    }

    /// How much the parts that a group shares cost more together with a record.
    fn wider(&self, shapes: &Shapes<'_>, key: &[u64], record: &[u32]) -> u64 {
        let mut rest = key;
        let attributes = self.attributes.iter();
        attributes
            .map(|attribute| {
                let (part, behind) = rest.split_at(shapes.part_width(*attribute));
                rest = behind;
                let (alone, joined) = shapes.cost_in(*attribute, part, record[*attribute]);
                joined.saturating_sub(alone)
            })
            .sum()
    }
}
