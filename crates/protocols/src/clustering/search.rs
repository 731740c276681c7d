//! The nearest clusters, without looking at all of them.
//!
//! Clusters stand in a tree, level by level by the parts of their closures, one attribute a level,
//! until few are left together. What the parts on the way down cost together with a record or a closure bounds what any cluster
//! below can come to; most branches are passed over for it. The answer is that of a look at every
//! cluster, for every loss that only grows as closures widen.

use super::clusters::Clusters;
use super::shape::Shapes;

/// Clusters that stand together before they are told apart by the next attribute.
const TOGETHER: usize = 8;

/// The tree of clusters.
pub(crate) struct Search {
    /// The attribute of each level, and the words of its parts.
    order: Vec<(usize, usize)>,
    nodes: Vec<Node>,
    /// The last node of each cluster, and its place there.
    places: Vec<Option<(u32, u32)>>,
}

#[derive(Default)]
struct Node {
    above: u32,
    /// Parts of the closures below, one after the other, with what each costs.
    parts: Vec<u64>,
    costs: Vec<u64>,
    children: Vec<u32>,
    /// The clusters, where they are not told apart any further.
    clusters: Vec<u32>,
    /// How many there are below.
    living: u32,
    /// The least size that any of them had, and the least cost of its parts from here on.
    size: u64,
    rest: u64,
}

/// What some clusters are compared by: less is nearer.
pub(crate) trait Measure {
    /// What a part of a closure costs together with what is looked for.
    fn joined(&self, attribute: usize, part: &[u64]) -> u64;

    /// The measure, from what the parts of the first levels cost alone and joined, and the size. Of
    /// all levels it is exact, and it grows from level to level.
    fn of(&self, level: usize, alone: u64, joined: u64, size: u64) -> u64;

    /// By how much it grows at least on the levels to come, whose parts cost at least so much.
    fn rest(&self, level: usize, rest: u64) -> u64;
}

/// How much the loss grows when a record joins.
pub(crate) struct Growth<'q> {
    shapes: &'q Shapes<'q>,
    record: &'q [u32],
    /// For each attribute, what every part costs with the record's value, where that is in a table.
    tables: Vec<Option<&'q [u64]>>,
}

impl<'q> Growth<'q> {
    pub(crate) fn new(shapes: &'q Shapes<'q>, record: &'q [u32]) -> Self {
        let codes = record.iter().enumerate();
        Self {
            shapes,
            record,
            tables: codes
                .map(|(attribute, code)| shapes.costs_with(attribute, *code))
                .collect(),
        }
    }
}

impl Measure for Growth<'_> {
    fn joined(&self, attribute: usize, part: &[u64]) -> u64 {
        match self.tables[attribute] {
            Some(table) => table[part[0] as usize],
            None => {
                let code = self.record[attribute];
                self.shapes.joined_part(attribute, part, code)
            }
        }
    }

    fn of(&self, _: usize, alone: u64, joined: u64, size: u64) -> u64 {
        ((size + 1) * joined).saturating_sub(size * alone)
    }

    fn rest(&self, _: usize, rest: u64) -> u64 {
        rest
    }
}

/// What a closure costs together with a cluster's.
pub(crate) struct Common<'q> {
    shapes: &'q Shapes<'q>,
    closure: &'q [u64],
    /// What the closure costs on the levels to come, at each level.
    rest: Vec<u64>,
}

impl Measure for Common<'_> {
    fn joined(&self, attribute: usize, part: &[u64]) -> u64 {
        let own = self.shapes.part(attribute, self.closure);
        self.shapes.common_part(attribute, own, part)
    }

    fn of(&self, _: usize, _: u64, joined: u64, _: u64) -> u64 {
        joined
    }

    fn rest(&self, level: usize, rest: u64) -> u64 {
        rest.max(self.rest[level])
    }
}

/// By how much the loss grows when a cluster is united with another (TG12 equation 6).
pub(crate) struct United<'q> {
    common: Common<'q>,
    size: u64,
    cost: u64,
}

impl Measure for United<'_> {
    fn joined(&self, attribute: usize, part: &[u64]) -> u64 {
        self.common.joined(attribute, part)
    }

    fn of(&self, level: usize, alone: u64, joined: u64, size: u64) -> u64 {
        let own = self.cost - self.common.rest[level];
        ((self.size + size) * joined).saturating_sub(self.size * own + size * alone)
    }

    fn rest(&self, _: usize, _: u64) -> u64 {
        0
    }
}

/// The sums on the way down to a node.
#[derive(Clone, Copy)]
struct Way {
    node: usize,
    level: usize,
    alone: u64,
    joined: u64,
}

/// What is looked for, and what was found of it.
struct Query<'q, M, F> {
    measure: &'q M,
    may_be: F,
    shapes: &'q Shapes<'q>,
    clusters: &'q Clusters,
    most: usize,
    below: u64,
    /// Measures and clusters, ascending.
    found: Vec<(u64, usize)>,
}

impl Search {
    pub(crate) fn new(shapes: &Shapes<'_>, clusters: &Clusters) -> Self {
        let mut search = Self {
            order: shapes.by_variety(),
            nodes: vec![Node::empty(0)],
            places: vec![None; clusters.len()],
        };
        (0..clusters.len()).for_each(|cluster| search.put(shapes, clusters, cluster));
        search
    }

    /// Puts a cluster where it now belongs.
    pub(crate) fn put(&mut self, shapes: &Shapes<'_>, clusters: &Clusters, cluster: usize) {
        if self.places.len() <= cluster {
            self.places.resize(cluster + 1, None);
        }
        self.take_out(cluster);
        let size = clusters.sizes[cluster];
        if size == 0 {
            return;
        }
        let closure = clusters.closure(cluster);
        let mut rest = clusters.costs[cluster];
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

    /// Where a cluster goes one level on, and what the rest of it costs there.
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

    fn stand(&mut self, node: usize, cluster: usize) {
        let clusters = &mut self.nodes[node].clusters;
        self.places[cluster] = Some((node as u32, clusters.len() as u32));
        clusters.push(cluster as u32);
    }

    /// Moves the clusters of a node one level on.
    fn tell_apart(&mut self, shapes: &Shapes<'_>, clusters: &Clusters, node: usize, level: usize) {
        let before = self.order[..level].iter();
        let before: Vec<usize> = before.map(|(attribute, _)| *attribute).collect();
        for cluster in std::mem::take(&mut self.nodes[node].clusters) {
            let cluster = cluster as usize;
            let closure = clusters.closure(cluster);
            let above = before.iter();
            let above: u64 = above
                .map(|attribute| shapes.part_cost(*attribute, shapes.part(*attribute, closure)))
                .sum();
            let known = (
                clusters.sizes[cluster],
                clusters.costs[cluster].saturating_sub(above),
            );
            let (child, _) = self.child(shapes, closure, (node, level), known);
            self.stand(child, cluster);
        }
    }

    fn take_out(&mut self, cluster: usize) {
        let Some((last, place)) = self.places[cluster].take() else {
            return;
        };
        let members = &mut self.nodes[last as usize].clusters;
        members.swap_remove(place as usize);
        if let Some(moved) = members.get(place as usize) {
            self.places[*moved as usize] = Some((last, place));
        }
        let mut node = last as usize;
        self.nodes[node].living -= 1;
        while node != 0 {
            node = self.nodes[node].above as usize;
            self.nodes[node].living -= 1;
        }
    }

    /// A closure to look for.
    pub(crate) fn common<'q>(&self, shapes: &'q Shapes<'q>, closure: &'q [u64]) -> Common<'q> {
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
    pub(crate) fn united<'q>(
        &self,
        shapes: &'q Shapes<'q>,
        clusters: &'q Clusters,
        cluster: usize,
    ) -> United<'q> {
        United {
            common: self.common(shapes, clusters.closure(cluster)),
            size: clusters.sizes[cluster],
            cost: clusters.costs[cluster],
        }
    }

    /// The nearest clusters, at most so many, each below a bound, with their measures, ascending; of
    /// equals the first. `may_be` leaves clusters out.
    pub(crate) fn nearest<M: Measure>(
        &self,
        (shapes, clusters): (&Shapes<'_>, &Clusters),
        measure: &M,
        (most, below): (usize, u64),
        may_be: impl Fn(usize) -> bool,
    ) -> Vec<(u64, usize)> {
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
    fn go_straight<M: Measure, F: Fn(usize) -> bool>(
        &self,
        query: &mut Query<'_, M, F>,
        mut way: Way,
    ) {
        loop {
            let node = &self.nodes[way.node];
            for cluster in &node.clusters {
                query.meet(&self.order, *cluster as usize, way);
            }
            let below = self.below(query.measure, way);
            let nearest = below.min_by_key(|next| query.least(*next, &self.nodes[next.node]));
            match nearest {
                Some(next) => way = next,
                None => break,
            }
        }
        // They are met again on the way through all.
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

    fn descend<M: Measure, F: Fn(usize) -> bool>(&self, query: &mut Query<'_, M, F>, way: Way) {
        for cluster in &self.nodes[way.node].clusters {
            query.meet(&self.order, *cluster as usize, way);
        }
        for next in self.below(query.measure, way) {
            if query.is_near(query.least(next, &self.nodes[next.node])) {
                self.descend(query, next);
            }
        }
    }

    /// Calls on every cluster whose closure may share records with this one.
    pub(crate) fn meeting(
        &self,
        (shapes, clusters): (&Shapes<'_>, &Clusters),
        closure: &[u64],
        each: &mut impl FnMut(usize),
    ) {
        self.meet_below((shapes, clusters), closure, (0, 0), each);
    }

    fn meet_below(
        &self,
        (shapes, clusters): (&Shapes<'_>, &Clusters),
        closure: &[u64],
        (node, level): (usize, usize),
        each: &mut impl FnMut(usize),
    ) {
        let node = &self.nodes[node];
        for cluster in &node.clusters {
            let other = clusters.closure(*cluster as usize);
            let mut left = self.order[level..].iter();
            if left.all(|(attribute, _)| {
                let (one, other) = (
                    shapes.part(*attribute, closure),
                    shapes.part(*attribute, other),
                );
                shapes.meet_part(*attribute, one, other)
            }) {
                each(*cluster as usize);
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
        self.rest = self.rest.min(rest);
    }

    fn child(&self, part: &[u64]) -> Option<usize> {
        let mut parts = self.parts.chunks_exact(part.len());
        let place = parts.position(|other| other == part)?;
        Some(self.children[place] as usize)
    }
}

impl<M: Measure, F: Fn(usize) -> bool> Query<'_, M, F> {
    /// Whether something of this measure would still be among the nearest.
    fn is_near(&self, measure: u64) -> bool {
        match self.found.last() {
            Some((farthest, _)) if self.found.len() == self.most => measure <= *farthest,
            _ => measure < self.below,
        }
    }

    /// Forgets what was found but for how near it was.
    fn bound(&mut self) {
        if let Some((farthest, _)) = self.found.last()
            && self.found.len() == self.most
        {
            self.below = self.below.min(farthest.saturating_add(1));
        }
        self.found.clear();
    }

    /// What anything below a node measures at least.
    fn least(&self, way: Way, below: &Node) -> u64 {
        self.measure
            .of(way.level, way.alone, way.joined, below.size)
            .saturating_add(self.measure.rest(way.level, below.rest))
    }

    fn meet(&mut self, order: &[(usize, usize)], cluster: usize, way: Way) {
        let closure = self.clusters.closure(cluster);
        let (size, cost) = (self.clusters.sizes[cluster], self.clusters.costs[cluster]);
        // As if no part that is still to come were wider than it is.
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

#[cfg(test)]
mod tests {
    use hedgerow_data::{Domain, Recode, Taxonomy};
    use proptest::prelude::*;

    use super::super::shape::{Loss, Shape};
    use super::*;
    use crate::horizontal::cover::Writing;

    /// Three attributes: a tree of two levels, numbers, and values of which sets are written.
    fn domains() -> [Domain; 3] {
        let lines = "a;low;*\nb;low;*\nc;high;*\nd;high;*\ne;high;*\n";
        let tree = Taxonomy::from_text(lines, "tree.csv").unwrap();
        [
            Domain::category(tree, false),
            Domain::integer(0, 9, 1).unwrap(),
            Domain::integer(0, 5, 1).unwrap(),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        /// The tree finds what a look at every cluster finds, also after clusters changed and went.
        #[test]
        fn as_a_look_at_every_cluster(
            clusters_of in proptest::collection::vec(
                proptest::collection::vec((0..5u32, 0..10u32, 0..6u32), 1..5), 1..30),
            changed in proptest::collection::vec((any::<usize>(), any::<usize>()), 0..10),
            wanted in (0..5u32, 0..10u32, 0..6u32),
            loss in 0..2usize, most in 1..6usize, below in 1..u64::MAX, left_out in any::<usize>(),
        ) {
            let domains = domains();
            let loss = [Loss::Lm, Loss::Ncp][loss];
            let recodes = [Recode::Node, Recode::Range, Recode::Set];
            let shapes: Vec<Shape<'_>> = domains.iter().zip(recodes).map(|(domain, recode)| {
                let counts = vec![1; domain.size() as usize];
                Shape::new(Writing { domain, recode }, loss, &counts)
            }).collect();
            let shapes = Shapes::new(shapes);
            let record = |(a, b, c): (u32, u32, u32)| vec![a, b, c];
            let mut clusters = Clusters::new(shapes.width(), 0);
            for records in &clusters_of {
                let cluster = clusters.push();
                let records: Vec<Vec<u32>> = records.iter().map(|codes| record(*codes)).collect();
                let closure = shapes.of_records(records.iter().map(Vec::as_slice)).unwrap();
                clusters.sizes[cluster] = records.len() as u64;
                clusters.set_closure(&shapes, cluster, &closure);
            }
            let mut search = Search::new(&shapes, &clusters);
            for (one, other) in changed {
                let (one, other) = (one % clusters.len(), other % clusters.len());
                let closure = clusters.closure(other).to_vec();
                clusters.sizes[one] = if one == other { 0 } else { clusters.sizes[other] + 1 };
                clusters.set_closure(&shapes, one, &closure);
                search.put(&shapes, &clusters, one);
            }
            let left_out = left_out % clusters.len();
            let living = || clusters.living().filter(|cluster| *cluster != left_out);
            let nearest = |measured: Vec<(u64, usize)>| {
                let mut near: Vec<(u64, usize)> =
                    measured.into_iter().filter(|(measure, _)| *measure < below).collect();
                near.sort_unstable();
                near.truncate(most);
                near
            };
            let may_be = |cluster: usize| cluster != left_out;
            let bounds = (most, below);

            let wanted = record(wanted);
            let growth = Growth::new(&shapes, &wanted);
            let found = search.nearest((&shapes, &clusters), &growth, bounds, may_be);
            prop_assert_eq!(found, nearest(living()
                .map(|cluster| (clusters.growth(&shapes, cluster, &wanted), cluster)).collect()));

            let closure = clusters.closure(left_out).to_vec();
            let common = search.common(&shapes, &closure);
            let found = search.nearest((&shapes, &clusters), &common, bounds, may_be);
            prop_assert_eq!(found, nearest(living().map(|cluster| {
                (shapes.common_cost(&closure, clusters.closure(cluster)), cluster)
            }).collect()));

            if clusters.sizes[left_out] > 0 {
                let united = search.united(&shapes, &clusters, left_out);
                let found = search.nearest((&shapes, &clusters), &united, bounds, may_be);
                prop_assert_eq!(found, nearest(living().map(|cluster| {
                    let apart = clusters.loss_of(left_out) + clusters.loss_of(cluster);
                    (clusters.loss_united(&shapes, left_out, cluster) - apart, cluster)
                }).collect()));
            }

            let mut met = Vec::new();
            search.meeting((&shapes, &clusters), &closure, &mut |cluster| met.push(cluster));
            met.sort_unstable();
            let meets = |cluster: &usize| shapes.meet(clusters.closure(*cluster), &closure);
            prop_assert_eq!(met, clusters.living().filter(meets).collect::<Vec<usize>>());
        }
    }
}
