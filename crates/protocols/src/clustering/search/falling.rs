//! The cluster whose loss a record changes least, for a loss that may fall as closures widen, as entropy
//! may (TG12 section 3).
//!
//! The bounds are those of the search for the nearest clusters, less what the record can make cheaper at
//! most on the levels to come.

use super::{Clusters, Node, Search, Shapes, TOGETHER, Way};
use crate::clustering::measure::{Growth, Measure as _};
use crate::clustering::numbers::Cluster;

/// The record of a search, and the best cluster so far.
struct Query<'q, F> {
    growth: &'q Growth<'q>,
    shapes: &'q Shapes<'q>,
    clusters: &'q Clusters,
    may_be: F,
    /// For each attribute, by how much the record makes any part cheaper at most.
    falls: Vec<u64>,
    /// At each level, the sum of the falls on the levels to come.
    to_come: Vec<u64>,
    below: i128,
    best: Option<(i128, Cluster)>,
}

impl Search {
    /// The cluster whose loss grows least when a record joins, if the loss grows by less than a bound; of
    /// equal clusters the first. A loss that falls counts as a growth below zero. `may_be` leaves clusters
    /// out.
    pub(in crate::clustering) fn least_grown(
        &self,
        (shapes, clusters): (&Shapes<'_>, &Clusters),
        record: &[u32],
        below: i128,
        may_be: impl Fn(Cluster) -> bool,
    ) -> Option<Cluster> {
        let codes = record.iter().enumerate();
        let falls: Vec<u64> = codes
            .map(|(attribute, code)| shapes.fall(attribute, *code))
            .collect();
        let mut to_come = vec![0; self.order.len() + 1];
        for (level, (attribute, _)) in self.order.iter().enumerate().rev() {
            to_come[level] = to_come[level + 1] + falls[*attribute];
        }
        let mut query = Query {
            growth: &Growth::new(shapes, record),
            shapes,
            clusters,
            may_be,
            falls,
            to_come,
            below,
            best: None,
        };
        let root = Way {
            node: 0,
            level: 0,
            alone: 0,
            joined: 0,
        };
        if self.nodes[0].living > 4 * TOGETHER as u32 {
            self.go_straight_to_least(&mut query, root);
        }
        self.descend_to_least(&mut query, root);
        query.best.map(|(_, cluster)| cluster)
    }

    /// Looks first where each level promises the least growth, which bounds the rest.
    fn go_straight_to_least<F: Fn(Cluster) -> bool>(&self, query: &mut Query<'_, F>, mut way: Way) {
        loop {
            for cluster in &self.nodes[way.node].clusters {
                query.meet(&self.order, *cluster, way);
            }
            let below = self.below(query.growth, way);
            let next = below.min_by_key(|next| query.least(*next, &self.nodes[next.node]));
            match next {
                Some(next) => way = next,
                None => return,
            }
        }
    }

    fn descend_to_least<F: Fn(Cluster) -> bool>(&self, query: &mut Query<'_, F>, way: Way) {
        for cluster in &self.nodes[way.node].clusters {
            query.meet(&self.order, *cluster, way);
        }
        for next in self.below(query.growth, way) {
            if query.is_near(query.least(next, &self.nodes[next.node])) {
                self.descend_to_least(query, next);
            }
        }
    }
}

impl<F: Fn(Cluster) -> bool> Query<'_, F> {
    /// Whether a cluster whose loss grows by so much may still be the best.
    fn is_near(&self, grown: i128) -> bool {
        match self.best {
            Some((least, _)) => grown <= least,
            None => grown < self.below,
        }
    }

    /// The least growth that any cluster below a node can have.
    fn least(&self, way: Way, below: &Node) -> i128 {
        // What parts cost is all that they can fall by.
        let fall = self.to_come[way.level].min(below.greatest_rest);
        let joined = way.joined + below.rest.saturating_sub(fall);
        let wider = difference(way.joined, way.alone) - i128::from(fall);
        let size = if wider < 0 { below.most } else { below.size };
        i128::from(size) * wider + i128::from(joined)
    }

    fn meet(&mut self, order: &[(usize, usize)], cluster: Cluster, way: Way) {
        let closure = self.clusters.closure(cluster);
        let size = i128::from(self.clusters.size(cluster));
        let mut fall = self.to_come[way.level];
        // Costs are known to here, and those of the levels to come are as if the record made each as
        // cheap as it can.
        let (mut joined, mut alone) = (way.joined, way.alone);
        let mut rest = self.clusters.cost(cluster).saturating_sub(alone);
        for (attribute, _) in &order[way.level..] {
            let wider = difference(joined, alone) - i128::from(fall.min(rest));
            let least = size * wider + i128::from(joined + rest.saturating_sub(fall));
            if !self.is_near(least) {
                return;
            }
            let part = self.shapes.part(*attribute, closure);
            let cost = self.shapes.part_cost(*attribute, part);
            joined += self.growth.joined(*attribute, part);
            alone += cost;
            rest = rest.saturating_sub(cost);
            fall -= self.falls[*attribute];
        }
        let met = (
            size * difference(joined, alone) + i128::from(joined),
            cluster,
        );
        let is_better = self.best.is_none_or(|best| met < best);
        if self.is_near(met.0) && is_better && (self.may_be)(cluster) {
            self.best = Some(met);
        }
    }
}

fn difference(one: u64, other: u64) -> i128 {
    i128::from(one) - i128::from(other)
}
