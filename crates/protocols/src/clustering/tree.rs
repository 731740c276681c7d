//! A taxonomy in the form that clusters use: the lowest node above two others and its cost, from tables
//! where the taxonomy does not have too many nodes.

use hedgerow_data::Taxonomy;

use super::cost::Cost;

/// The most entries of a table of joins.
const MOST_JOINS: usize = 1 << 22;

pub(crate) struct Tree<'a> {
    taxonomy: &'a Taxonomy,
    /// The first and last value of each node.
    spans: Vec<(u32, u32)>,
    /// For each node, the node above it, and the first node behind the nodes below it.
    parents: Vec<u32>,
    ends: Vec<u32>,
    /// The node of each value.
    leaves: Vec<u32>,
    /// Cost of each node.
    costs: Vec<u64>,
    /// For each pair of nodes, the lowest node above both; empty where there are too many.
    joins: Vec<u32>,
    /// For each value and node, the cost of the lowest node above both; empty where there are too many.
    joined: Vec<u64>,
    /// For each node, by how much the nodes above it, or the node itself, cost less at most than a node
    /// below them.
    falls: Vec<u64>,
}

impl<'a> Tree<'a> {
    pub(super) fn new(taxonomy: &'a Taxonomy, cost: &Cost) -> Self {
        let nodes = taxonomy.node_count();
        let spans: Vec<(u32, u32)> = (0..nodes).map(|node| taxonomy.interval(node)).collect();
        let values = spans.first().map_or(0, |(_, last)| last + 1);
        let costs = spans
            .iter()
            .map(|(least, greatest)| cost.of_interval(*least, *greatest));
        let above = |node| taxonomy.parent(node).unwrap_or(0);
        // A node stands before the nodes below it, one branch after the other.
        let mut ends: Vec<u32> = (1..=nodes).collect();
        for node in (1..nodes).rev() {
            let (above, end) = (above(node) as usize, ends[node as usize]);
            ends[above] = ends[above].max(end);
        }
        let costs: Vec<u64> = costs.collect();
        let parents: Vec<u32> = (0..nodes).map(above).collect();
        let mut tree = Self {
            taxonomy,
            falls: falls(&costs, &parents),
            parents,
            ends,
            leaves: (0..values).map(|code| taxonomy.leaf(code)).collect(),
            costs,
            spans,
            joins: Vec::new(),
            joined: Vec::new(),
        };
        if tree.costs.len().pow(2) <= MOST_JOINS {
            let row = |one| (0..nodes).map(move |other| (one, other));
            let pairs = (0..nodes).flat_map(row);
            tree.joins = pairs.map(|(one, other)| tree.found(one, other)).collect();
            let leaves = tree.leaves.iter();
            let rows = leaves.flat_map(|leaf| (0..nodes).map(move |node| (*leaf, node)));
            tree.joined = rows
                .map(|(leaf, node)| tree.cost(tree.join(leaf.into(), node.into())))
                .collect();
        }
        tree
    }

    /// How many nodes there are.
    pub(crate) const fn nodes(&self) -> usize {
        self.costs.len()
    }

    pub(crate) fn leaf(&self, code: u32) -> u32 {
        self.leaves[code as usize]
    }

    /// The first and last value of a node.
    pub(crate) fn span(&self, node: u64) -> (u32, u32) {
        self.spans[node as usize]
    }

    pub(crate) fn cost(&self, node: u64) -> u64 {
        self.costs[node as usize]
    }

    pub(crate) fn children(&self, node: u64) -> impl Iterator<Item = u32> + '_ {
        self.taxonomy.children(node as u32)
    }

    /// The lowest node above two.
    pub(crate) fn join(&self, one: u64, other: u64) -> u64 {
        let place = one as usize * self.costs.len() + other as usize;
        let known = self.joins.get(place).copied();
        u64::from(known.unwrap_or_else(|| self.found(one as u32, other as u32)))
    }

    /// The cost of each node together with a value, where a table holds these costs.
    pub(crate) fn costs_with(&self, code: u32) -> Option<&[u64]> {
        let (nodes, code) = (self.nodes(), code as usize);
        self.joined.get(code * nodes..(code + 1) * nodes)
    }

    /// By how much a node makes any other cheaper at most, when both are joined.
    pub(crate) fn fall(&self, node: u64) -> u64 {
        self.falls[node as usize]
    }

    /// By how much any node makes any other cheaper at most.
    pub(crate) fn greatest_fall(&self) -> u64 {
        self.falls.iter().copied().max().unwrap_or(0)
    }

    /// The lowest node above a span of values.
    pub(crate) fn above(&self, least: u32, greatest: u32) -> u64 {
        u64::from(self.taxonomy.lowest_common_ancestor(least, greatest))
    }

    /// How many nodes a search looks at on its way down from one node to another, child by child, until
    /// it finds no lower node (TG12 section 4.2).
    pub(crate) fn looks(&self, from: u64, to: u64) -> u64 {
        let (from, to) = (from as u32, to as u32);
        let mut looks = self.taxonomy.children(to).count() as u64;
        let mut node = to;
        while node != from {
            let Some(above) = self.taxonomy.parent(node) else {
                break;
            };
            let before = |child: &u32| *child <= node;
            looks += self.taxonomy.children(above).take_while(before).count() as u64;
            node = above;
        }
        looks
    }

    fn found(&self, mut one: u32, other: u32) -> u32 {
        while other < one || self.ends[one as usize] <= other {
            one = self.parents[one as usize];
        }
        one
    }
}

/// For each node, the most by which a node above it, or the node itself, costs less than a node below that:
/// the join of the node with another is above both. Nodes stand before those below them.
fn falls(costs: &[u64], parents: &[u32]) -> Vec<u64> {
    let mut greatest = costs.to_vec();
    for node in (1..costs.len()).rev() {
        let above = parents[node] as usize;
        greatest[above] = greatest[above].max(greatest[node]);
    }
    let mut falls: Vec<u64> = Vec::with_capacity(costs.len());
    for (node, cost) in costs.iter().enumerate() {
        let above = falls.get(parents[node] as usize).copied().unwrap_or(0);
        falls.push(above.max(greatest[node] - cost));
    }
    falls
}
