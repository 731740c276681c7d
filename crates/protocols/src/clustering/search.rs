//! The nearest clusters, without looking at all of them.
//!
//! Clusters stand in a tree, level by level by the parts of their closures, one attribute a level, until
//! few are left together. The cost of the parts on the way down, together with a record or a closure,
//! bounds the measure of any cluster below, so most branches are passed over. The answer is the same as
//! after a look at every cluster, for every loss that only grows as closures widen; `falling` has the search
//! for other losses.

mod falling;

use super::clusters::Clusters;
use super::measure::{Common, Measure, United};
use super::numbers::Cluster;
use super::shapes::Shapes;

/// Clusters that stand together before they are told apart by the next attribute.
const TOGETHER: usize = 8;

/// The tree of clusters.
pub(super) struct Search {
    /// The attribute of each level, and the number of words of its parts.
    order: Vec<(usize, usize)>,
    nodes: Vec<Node>,
    /// The last node of each cluster, and its place there.
    places: Vec<Option<(u32, u32)>>,
}

#[derive(Default)]
struct Node {
    above: u32,
    /// Parts of the closures below, one after the other, with the cost of each.
    parts: Vec<u64>,
    costs: Vec<u64>,
    children: Vec<u32>,
    /// The clusters of a node that has no further level.
    clusters: Vec<Cluster>,
    /// How many clusters are below the node.
    living: u32,
    /// The least and the greatest size that any cluster below had, and the least and the greatest cost of
    /// its parts from here on.
    size: u64,
    most: u64,
    rest: u64,
    greatest_rest: u64,
}

/// The sums on the way down to a node.
#[derive(Clone, Copy)]
struct Way {
    node: usize,
    level: usize,
    alone: u64,
    joined: u64,
}

/// The target of a search, and the clusters found so far.
struct Query<'q, M, F> {
    measure: &'q M,
    may_be: F,
    shapes: &'q Shapes<'q>,
    clusters: &'q Clusters,
    most: usize,
    below: u64,
    /// Measures and clusters, ascending.
    found: Vec<(u64, Cluster)>,
}

impl Search {
    pub(super) fn new(shapes: &Shapes<'_>, clusters: &Clusters) -> Self {
        let mut search = Self {
            order: shapes.by_variety(),
            nodes: vec![Node::empty(0)],
            places: vec![None; clusters.len()],
        };
        Cluster::first(clusters.len()).for_each(|cluster| search.put(shapes, clusters, cluster));
        search
    }

    /// Puts a cluster where it now belongs.
    pub(super) fn put(&mut self, shapes: &Shapes<'_>, clusters: &Clusters, cluster: Cluster) {
        if self.places.len() <= cluster.index() {
            self.places.resize(cluster.index() + 1, None);
        }
        self.take_out(cluster);
        let size = clusters.size(cluster);
        if size == 0 {
            return;
        }
        let closure = clusters.closure(cluster);
        let mut rest = clusters.cost(cluster);
        let (mut node, mut level) = (0, 0);
        self.nodes[node].note(size, rest);
        loop {
            if !self.nodes[node].children.is_empty() {
                (node, rest) = self.child(shapes, closure, (node, level), (size, rest));
                level += 1;
                continue;
            }
            self.stand(node, cluster);
            if self.nodes[node].clusters.len() <= TOGETHER || level == self.order.len() {
                return;
            }
            self.tell_apart(shapes, clusters, node, level);
            return;
        }
    }

    /// The child to which a cluster goes one level down, and the cost of the rest of its closure there.
    fn child(
        &mut self,
        shapes: &Shapes<'_>,
        closure: &[u64],
        (node, level): (usize, usize),
        (size, rest): (u64, u64),
    ) -> (usize, u64) {
        let (attribute, _) = self.order[level];
        let part = shapes.part(attribute, closure);
        let cost = shapes.part_cost(attribute, part);
        let child = self.nodes[node].child(part).unwrap_or_else(|| {
            let child = self.nodes.len();
            self.nodes.push(Node::empty(node));
            let above = &mut self.nodes[node];
            above.parts.extend_from_slice(part);
            above.costs.push(cost);
            above.children.push(child as u32);
            child
        });
        let rest = rest.saturating_sub(cost);
        self.nodes[child].note(size, rest);
        (child, rest)
    }

    fn stand(&mut self, node: usize, cluster: Cluster) {
        let clusters = &mut self.nodes[node].clusters;
        self.places[cluster.index()] = Some((node as u32, clusters.len() as u32));
        clusters.push(cluster);
    }

    /// Moves the clusters of a node one level on.
    fn tell_apart(&mut self, shapes: &Shapes<'_>, clusters: &Clusters, node: usize, level: usize) {
        let before = self.order[..level].iter();
        let before: Vec<usize> = before.map(|(attribute, _)| *attribute).collect();
        for cluster in std::mem::take(&mut self.nodes[node].clusters) {
            let closure = clusters.closure(cluster);
            let above = before.iter();
            let above: u64 = above
                .map(|attribute| shapes.part_cost(*attribute, shapes.part(*attribute, closure)))
                .sum();
            let known = (
                clusters.size(cluster),
                clusters.cost(cluster).saturating_sub(above),
            );
            let (child, _) = self.child(shapes, closure, (node, level), known);
            self.stand(child, cluster);
        }
    }

    fn take_out(&mut self, cluster: Cluster) {
        let Some((last, place)) = self.places[cluster.index()].take() else {
            return;
        };
        let members = &mut self.nodes[last as usize].clusters;
        members.swap_remove(place as usize);
        if let Some(moved) = members.get(place as usize) {
            self.places[moved.index()] = Some((last, place));
        }
        let mut node = last as usize;
        self.nodes[node].living -= 1;
        while node != 0 {
            node = self.nodes[node].above as usize;
            self.nodes[node].living -= 1;
        }
    }

    /// A closure to look for.
    pub(super) fn common<'q>(&self, shapes: &'q Shapes<'q>, closure: &'q [u64]) -> Common<'q> {
        let mut left = shapes.cost(closure);
        let mut rest = vec![left];
        for (attribute, _) in &self.order {
            left -= shapes.part_cost(*attribute, shapes.part(*attribute, closure));
            rest.push(left);
        }
        Common {
            shapes,
            closure,
            rest,
        }
    }

    /// A cluster to unite.
    pub(super) fn united<'q>(
        &self,
        shapes: &'q Shapes<'q>,
        clusters: &'q Clusters,
        cluster: Cluster,
    ) -> United<'q> {
        United {
            common: self.common(shapes, clusters.closure(cluster)),
            size: clusters.size(cluster),
            cost: clusters.cost(cluster),
        }
    }

    /// The nearest clusters, at most so many, each below a bound, with their measures, ascending; of
    /// equal clusters the first. `may_be` leaves clusters out.
    pub(super) fn nearest<M: Measure>(
        &self,
        (shapes, clusters): (&Shapes<'_>, &Clusters),
        measure: &M,
        (most, below): (usize, u64),
        may_be: impl Fn(Cluster) -> bool,
    ) -> Vec<(u64, Cluster)> {
        let mut query = Query {
            measure,
            may_be,
            shapes,
            clusters,
            most,
            below,
            found: Vec::with_capacity(most),
        };
        let root = Way {
            node: 0,
            level: 0,
            alone: 0,
            joined: 0,
        };
        if most > 0 && self.nodes[0].living > 0 {
            if self.nodes[0].living > 4 * TOGETHER as u32 {
                self.go_straight(&mut query, root);
            }
            self.descend(&mut query, root);
        }
        query.found
    }

    /// Looks first where each level is nearest, which bounds the rest.
    fn go_straight<M: Measure, F: Fn(Cluster) -> bool>(
        &self,
        query: &mut Query<'_, M, F>,
        mut way: Way,
    ) {
        loop {
            let node = &self.nodes[way.node];
            for cluster in &node.clusters {
                query.meet(&self.order, *cluster, way);
            }
            let below = self.below(query.measure, way);
            let nearest = below.min_by_key(|next| query.least(*next, &self.nodes[next.node]));
            match nearest {
                Some(next) => way = next,
                None => break,
            }
        }
        // These clusters are met again on the way through all nodes.
        query.bound();
    }

    /// The ways one level on.
    fn below<'s>(&'s self, measure: &'s impl Measure, way: Way) -> impl Iterator<Item = Way> + 's {
        let node = &self.nodes[way.node];
        let (attribute, width) = self.order.get(way.level).copied().unwrap_or((0, 1));
        let parts = node.parts.chunks_exact(width);
        let children = parts.zip(&node.costs).zip(&node.children);
        let living = children.filter(|(_, child)| self.nodes[**child as usize].living > 0);
        living.map(move |((part, cost), child)| Way {
            node: *child as usize,
            level: way.level + 1,
            alone: way.alone + cost,
            joined: way.joined + measure.joined(attribute, part),
        })
    }

    fn descend<M: Measure, F: Fn(Cluster) -> bool>(&self, query: &mut Query<'_, M, F>, way: Way) {
        for cluster in &self.nodes[way.node].clusters {
            query.meet(&self.order, *cluster, way);
        }
        for next in self.below(query.measure, way) {
            if query.is_near(query.least(next, &self.nodes[next.node])) {
                self.descend(query, next);
            }
        }
    }

    /// Calls `each` with every cluster whose closure may share records with this closure.
    pub(super) fn meeting(
        &self,
        (shapes, clusters): (&Shapes<'_>, &Clusters),
        closure: &[u64],
        each: &mut impl FnMut(Cluster),
    ) {
        self.meet_below((shapes, clusters), closure, (0, 0), each);
    }

    fn meet_below(
        &self,
        (shapes, clusters): (&Shapes<'_>, &Clusters),
        closure: &[u64],
        (node, level): (usize, usize),
        each: &mut impl FnMut(Cluster),
    ) {
        let node = &self.nodes[node];
        for cluster in &node.clusters {
            let other = clusters.closure(*cluster);
            let mut left = self.order[level..].iter();
            if left.all(|(attribute, _)| {
                let (one, other) = (
                    shapes.part(*attribute, closure),
                    shapes.part(*attribute, other),
                );
                shapes.meet_part(*attribute, one, other)
            }) {
                each(*cluster);
            }
        }
        if node.children.is_empty() {
            return;
        }
        let (attribute, width) = self.order[level];
        let own = shapes.part(attribute, closure);
        for (part, child) in node.parts.chunks_exact(width).zip(&node.children) {
            if self.nodes[*child as usize].living > 0 && shapes.meet_part(attribute, own, part) {
                let below = (*child as usize, level + 1);
                self.meet_below((shapes, clusters), closure, below, each);
            }
        }
    }
}

impl Node {
    fn empty(above: usize) -> Self {
        Self {
            above: above as u32,
            size: u64::MAX,
            rest: u64::MAX,
            ..Self::default()
        }
    }

    fn note(&mut self, size: u64, rest: u64) {
        self.living += 1;
        self.size = self.size.min(size);
        self.most = self.most.max(size);
        self.rest = self.rest.min(rest);
        self.greatest_rest = self.greatest_rest.max(rest);
    }

    fn child(&self, part: &[u64]) -> Option<usize> {
        let mut parts = self.parts.chunks_exact(part.len());
        let place = parts.position(|other| other == part)?;
        Some(self.children[place] as usize)
    }
}

impl<M: Measure, F: Fn(Cluster) -> bool> Query<'_, M, F> {
    /// Whether something of this measure would still be among the nearest.
    fn is_near(&self, measure: u64) -> bool {
        match self.found.last() {
            Some((farthest, _)) if self.found.len() == self.most => measure <= *farthest,
            _ => measure < self.below,
        }
    }

    /// Forgets the clusters that were found, but keeps the measure of the farthest as a bound.
    fn bound(&mut self) {
        if let Some((farthest, _)) = self.found.last()
            && self.found.len() == self.most
        {
            self.below = self.below.min(farthest.saturating_add(1));
        }
        self.found.clear();
    }

    /// The least measure that any cluster below a node can have.
    fn least(&self, way: Way, below: &Node) -> u64 {
        self.measure
            .of(way.level, way.alone, way.joined, below.size)
            .saturating_add(self.measure.rest(way.level, below.rest))
    }

    fn meet(&mut self, order: &[(usize, usize)], cluster: Cluster, way: Way) {
        let closure = self.clusters.closure(cluster);
        let (size, cost) = (self.clusters.size(cluster), self.clusters.cost(cluster));
        // A bound first, as if joining widened no part that is still to come.
        let mut joined = (way.joined + cost).saturating_sub(way.alone);
        let mut measure = self.measure.of(order.len(), cost, joined, size);
        for (attribute, _) in &order[way.level..] {
            if !self.is_near(measure) {
                return;
            }
            let part = self.shapes.part(*attribute, closure);
            let alone = self.shapes.part_cost(*attribute, part);
            joined = (joined + self.measure.joined(*attribute, part)).saturating_sub(alone);
            measure = self.measure.of(order.len(), cost, joined, size);
        }
        let met = (measure, cluster);
        let is_full = self.found.len() == self.most;
        if !self.is_near(measure)
            || (is_full && self.found.last().is_some_and(|farthest| *farthest <= met))
            || !(self.may_be)(cluster)
        {
            return;
        }
        if is_full {
            self.found.pop();
        }
        let place = self.found.partition_point(|found| *found < met);
        self.found.insert(place, met);
    }
}
