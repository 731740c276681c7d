//! t-closeness: the earth mover's distance between a class and the whole table (Li, Li,
//! Venkatasubramanian 2007), exact, in the three ground distances of the papers.
//!
//! S is the set of values that occur in the table of the release. All three distances cost time in
//! proportion to the class's distinct values (times a logarithm or the tree's height), not to S.

use hedgerow_data::{Domain, Taxonomy};
use serde::{Deserialize, Serialize};

use crate::counts::{Counts, Reference};
use crate::ratio::Ratio;

/// How far apart two sensitive values are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Distance {
    /// All pairs of values are equally far apart: half of L1.
    Equal,
    /// Values differ by rank among the values of S, over |S| - 1.
    Ordered,
    /// Values differ by the height of their lowest common ancestor over the height of the tree.
    Hierarchical,
}

impl Distance {
    /// The distance that suits a domain: ordered for numbers, days and declared orders; by the tree for
    /// a taxonomy with levels; equal otherwise.
    pub fn natural(domain: &Domain) -> Self {
        if domain.is_ordered() {
            Self::Ordered
        } else if domain.taxonomy().is_some_and(|tree| tree.height() > 1) {
            Self::Hierarchical
        } else {
            Self::Equal
        }
    }
}

/// The earth mover's distance from one table, prepared once and asked for many classes.
#[derive(Debug, Clone)]
pub struct EarthMover<'a> {
    table: &'a Reference,
    kind: Kind<'a>,
}

/// One difference of shares; a distance is the weighted sum of its flows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flow {
    /// The value codes under the flow.
    pub values: std::ops::Range<usize>,
    /// The cost of moving one unit of mass.
    pub weight: u64,
}

#[derive(Debug, Clone)]
enum Kind<'a> {
    Equal,
    Ordered(Ordered),
    Hierarchical(Hierarchical<'a>),
}

#[derive(Debug, Clone)]
struct Ordered {
    /// For each value code, its rank among the values that occur.
    rank: Vec<u32>,
    /// Records with rank at most r.
    cumulative: Vec<u64>,
    /// Sum of `cumulative` over ranks below r.
    summed: Vec<u128>,
}

#[derive(Debug, Clone)]
struct Hierarchical<'a> {
    tree: &'a Taxonomy,
    /// Records under each node.
    under: Vec<u64>,
    /// Sum over all nodes of edge length times records under the node.
    base: u128,
}

impl<'a> EarthMover<'a> {
    /// Prepares a distance. The hierarchical one needs the tree over the value codes; without a
    /// tree, values are equally far apart.
    pub fn new(table: &'a Reference, distance: Distance, tree: Option<&'a Taxonomy>) -> Self {
        let kind = match (distance, tree) {
            (Distance::Equal, _) | (Distance::Hierarchical, None) => Kind::Equal,
            (Distance::Ordered, _) => Kind::Ordered(Ordered::new(table)),
            (Distance::Hierarchical, Some(tree)) => {
                Kind::Hierarchical(Hierarchical::new(table, tree))
            }
        };
        Self { table, kind }
    }

    /// The distance as flows, for those who hold a class's counts in pieces: the sum over all flows
    /// of weight times |class share under the flow - table share under it|, over the scale.
    pub fn flows(&self) -> (Vec<Flow>, u64) {
        let counts = self.table.counts();
        let present = (0..counts.len()).filter(|value| counts[*value] > 0);
        match &self.kind {
            Kind::Equal => {
                let flow = |value| Flow {
                    values: value..value + 1,
                    weight: 1,
                };
                (present.map(flow).collect(), 2)
            }
            Kind::Ordered(ordered) => {
                let ranks = ordered.cumulative.len();
                let flow = |value| Flow {
                    values: 0..value + 1,
                    weight: 1,
                };
                // Everything lies at or below the last value: nothing flows past it.
                let flows = present.take(ranks.saturating_sub(1)).map(flow);
                (flows.collect(), ranks.saturating_sub(1).max(1) as u64)
            }
            Kind::Hierarchical(Hierarchical { tree, under, .. }) => {
                let nodes = (1..tree.node_count()).filter(|node| under[*node as usize] > 0);
                let flow = |node| {
                    let (first, last) = tree.interval(node);
                    let parent = tree.parent(node).unwrap_or(node);
                    Flow {
                        values: first as usize..last as usize + 1,
                        // Heights are far below 2^64.
                        weight: edge(tree, node, parent) as u64,
                    }
                };
                let flows = nodes.map(flow).filter(|flow| flow.weight > 0);
                (flows.collect(), 2 * u64::from(tree.height()).max(1))
            }
        }
    }

    /// The distance of a class that holds at least one record.
    pub fn distance(&self, class: Counts<'_>) -> Ratio {
        let size = u128::from(class.size());
        let total = u128::from(self.table.total());
        match &self.kind {
            Kind::Equal => {
                // Sum of |q - p|: over the class's values, and p of all others.
                let mut moved = 0;
                let mut covered = 0;
                for (value, count) in class.iter() {
                    let in_table = u128::from(self.table.count(value));
                    moved += (u128::from(count) * total).abs_diff(in_table * size);
                    covered += in_table * size;
                }
                moved += size * total - covered;
                Ratio::new(moved, 2 * size * total)
            }
            Kind::Ordered(ordered) => ordered.distance(class, size, total),
            Kind::Hierarchical(tree) => tree.distance(class, size, total),
        }
    }
}

impl Ordered {
    fn new(table: &Reference) -> Self {
        let mut rank = vec![0; table.counts().len()];
        let mut cumulative = Vec::new();
        let mut summed = vec![0];
        let mut running = 0;
        for (value, count) in table.counts().iter().enumerate() {
            if *count > 0 {
                rank[value] = cumulative.len() as u32;
                running += count;
                cumulative.push(running);
                summed.push(summed[summed.len() - 1] + u128::from(running));
            }
        }
        Self {
            rank,
            cumulative,
            summed,
        }
    }

    /// Sum over ranks of |class share up to the rank - table share up to it|. Between two of the
    /// class's values its share is constant while the table's grows, so each stretch is two sums.
    fn distance(&self, class: Counts<'_>, size: u128, total: u128) -> Ratio {
        let ranks = self.cumulative.len();
        if ranks < 2 {
            return Ratio::ZERO;
        }
        let mut work = 0;
        let mut from = 0;
        let mut held: u128 = 0;
        let ends = class
            .iter()
            .map(|(value, count)| (self.rank[value as usize] as usize, count));
        for (to, count) in ends.chain([(ranks, 0)]) {
            let level = held * total;
            let stretch = &self.cumulative[from..to];
            let cross = from + stretch.partition_point(|below| u128::from(*below) * size <= level);
            let below = size * (self.summed[cross] - self.summed[from]);
            let above = size * (self.summed[to] - self.summed[cross]);
            work += level * (cross - from) as u128 - below;
            work += above - level * (to - cross) as u128;
            held += u128::from(count);
            from = to;
        }
        Ratio::new(work, (ranks - 1) as u128 * size * total)
    }
}

impl<'a> Hierarchical<'a> {
    fn new(table: &Reference, tree: &'a Taxonomy) -> Self {
        let mut under = vec![0; tree.node_count() as usize];
        for (value, count) in table.counts().iter().enumerate() {
            under[tree.leaf(value as u32) as usize] = *count;
        }
        let mut base = 0;
        // Pre-order: children come after their parents.
        for node in (1..tree.node_count()).rev() {
            if let Some(parent) = tree.parent(node) {
                let records = under[node as usize];
                under[parent as usize] += records;
                base += edge(tree, node, parent) * u128::from(records);
            }
        }
        Self { tree, under, base }
    }

    /// On a tree the cheapest way to move mass is along its edges: each edge carries the
    /// difference of the shares below it. With edges as long as the heights they span, a path
    /// between two leaves is twice the height of their lowest common ancestor, so this is the
    /// distance of Li et al. for every tree, balanced or not.
    fn distance(&self, class: Counts<'_>, size: u128, total: u128) -> Ratio {
        let height = u128::from(self.tree.height());
        let mut work = self.base * size;
        // Values ascend, so the nodes above them are met branch by branch: keep the open branch
        // as (node, records of the class under it).
        let mut open: Vec<(u32, u64)> = Vec::new();
        for (value, count) in class.iter() {
            let leaf = self.tree.leaf(value);
            while let Some((node, _)) = open.last()
                && !self.tree.is_ancestor(*node, leaf)
            {
                self.close(&mut open, &mut work, size, total);
            }
            let stop = open.last().map(|(node, _)| *node);
            let start = open.len();
            let mut node = Some(leaf);
            while let Some(current) = node
                && Some(current) != stop
            {
                open.push((current, 0));
                node = self.tree.parent(current);
            }
            open[start..].reverse();
            let last = open.len() - 1;
            open[last].1 += count;
        }
        while !open.is_empty() {
            self.close(&mut open, &mut work, size, total);
        }
        Ratio::new(work, 2 * height * size * total)
    }

    /// Finishes the lowest open node: its edge carries |class share - table share|, of which the
    /// base already holds the table's.
    fn close(&self, open: &mut Vec<(u32, u64)>, work: &mut u128, size: u128, total: u128) {
        let Some((node, held)) = open.pop() else {
            return;
        };
        let Some(parent) = self.tree.parent(node) else {
            return;
        };
        let in_table = u128::from(self.under[node as usize]) * size;
        let carried = (u128::from(held) * total).abs_diff(in_table);
        let length = edge(self.tree, node, parent);
        *work = *work + length * carried - length * in_table;
        if let Some((_, above)) = open.last_mut() {
            *above += held;
        }
    }
}

fn edge(tree: &Taxonomy, node: u32, parent: u32) -> u128 {
    u128::from(tree.node_height(parent) - tree.node_height(node))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_salary_example_of_li_et_al() {
        // Table {3k..11k}, class {3k,4k,5k}: ordered distance 0.375; class {6k,8k,11k}: 0.167.
        let table = Reference::new(vec![1; 9]);
        let mover = EarthMover::new(&table, Distance::Ordered, None);
        let first = mover.distance(Counts::new(&[0, 1, 2], &[1, 1, 1]));
        assert_eq!(first, Ratio::new(3, 8));
        let second = mover.distance(Counts::new(&[3, 5, 8], &[1, 1, 1]));
        assert_eq!(second, Ratio::new(1, 6));
    }

    /// Smallest cost of moving q into p under a ground distance, by successive shortest paths on
    /// integer flows: slow, and independent of the formulas above.
    fn transport(class: &[u64], table: &[u64], ground: impl Fn(usize, usize) -> f64) -> f64 {
        let (n, total): (u64, u64) = (class.iter().sum(), table.iter().sum());
        let values = class.len();
        let mut supply: Vec<u64> = class.iter().map(|count| count * total).collect();
        let mut demand: Vec<u64> = table.iter().map(|count| count * n).collect();
        let mut flow = vec![vec![0u64; values]; values];
        let mut cost = 0.0;
        while supply.iter().any(|left| *left > 0) {
            // Bellman-Ford over suppliers 0..values and receivers values..2*values.
            let mut best = vec![f64::INFINITY; 2 * values];
            let mut from = vec![usize::MAX; 2 * values];
            for i in 0..values {
                if supply[i] > 0 {
                    best[i] = 0.0;
                }
            }
            for _ in 0..2 * values {
                for i in 0..values {
                    for j in 0..values {
                        if best[i] + ground(i, j) < best[values + j] - 1e-12 {
                            best[values + j] = best[i] + ground(i, j);
                            from[values + j] = i;
                        }
                        if flow[i][j] > 0 && best[values + j] - ground(i, j) < best[i] - 1e-12 {
                            best[i] = best[values + j] - ground(i, j);
                            from[i] = values + j;
                        }
                    }
                }
            }
            let end = (0..values)
                .filter(|j| demand[*j] > 0)
                .min_by(|a, b| best[values + a].total_cmp(&best[values + b]))
                .unwrap();
            let mut path = vec![values + end];
            while from[path[path.len() - 1]] != usize::MAX {
                path.push(from[path[path.len() - 1]]);
            }
            path.reverse();
            let mut amount = supply[path[0]].min(demand[end]);
            for step in path.windows(2) {
                if step[0] >= values {
                    amount = amount.min(flow[step[1]][step[0] - values]);
                }
            }
            for step in path.windows(2) {
                if step[0] < values {
                    flow[step[0]][step[1] - values] += amount;
                    cost += amount as f64 * ground(step[0], step[1] - values);
                } else {
                    flow[step[1]][step[0] - values] -= amount;
                    cost -= amount as f64 * ground(step[1], step[0] - values);
                }
            }
            supply[path[0]] -= amount;
            demand[end] -= amount;
        }
        cost / (n * total) as f64
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]

        #[test]
        fn distances_are_the_cheapest_transport(
            class in proptest::collection::vec(0..4u64, 6),
            rest in proptest::collection::vec(0..4u64, 6),
        ) {
            prop_assume!(class.iter().sum::<u64>() > 0);
            // A ragged tree over six values, one of them deep.
            let tree = Taxonomy::from_rows("a;X;*\nb;b1;X;*\nc;b1;X;*\nd;Y;*\ne;Y;*\nf;*\n", "t").unwrap();
            let table = Reference::new(class.iter().zip(&rest).map(|(a, b)| a + b).collect());
            let values: Vec<u32> = (0..6).collect();
            let counts = Counts::new(&values, &class);
            let present: Vec<usize> = (0..6).filter(|v| table.counts()[*v] > 0).collect();
            let rank = |v: usize| present.iter().position(|p| *p == v).unwrap_or(0) as f64;
            let close = |ours: Ratio, theirs: f64| (ours.to_f64() - theirs).abs() < 1e-9;

            for distance in [Distance::Equal, Distance::Ordered, Distance::Hierarchical] {
                let mover = EarthMover::new(&table, distance, Some(&tree));
                let (flows, scale) = mover.flows();
                let (n, total) = (class.iter().sum::<u64>(), table.total());
                let moved: u64 = flows
                    .iter()
                    .map(|flow| {
                        let held: u64 = class[flow.values.clone()].iter().sum();
                        let there: u64 = table.counts()[flow.values.clone()].iter().sum();
                        flow.weight * (held * total).abs_diff(there * n)
                    })
                    .sum();
                let by_flows = Ratio::new(u128::from(moved), u128::from(scale * n * total));
                prop_assert_eq!(by_flows, mover.distance(counts));
            }
            let equal = EarthMover::new(&table, Distance::Equal, None).distance(counts);
            let by_hand = transport(&class, table.counts(), |i, j| f64::from(u8::from(i != j)));
            prop_assert!(close(equal, by_hand), "equal {} {}", equal, by_hand);

            let ordered = EarthMover::new(&table, Distance::Ordered, None).distance(counts);
            let spread = (present.len().max(2) - 1) as f64;
            let by_hand = transport(&class, table.counts(), |i, j| (rank(i) - rank(j)).abs() / spread);
            prop_assert!(close(ordered, by_hand), "ordered {} {}", ordered, by_hand);

            let hierarchical = EarthMover::new(&table, Distance::Hierarchical, Some(&tree)).distance(counts);
            let by_hand = transport(&class, table.counts(), |i, j| {
                let (a, b) = (i.min(j) as u32, i.max(j) as u32);
                f64::from(tree.node_height(tree.lowest_common_ancestor(a, b))) / f64::from(tree.height())
            });
            prop_assert!(close(hierarchical, by_hand), "hierarchical {} {}", hierarchical, by_hand);
        }
    }
}
