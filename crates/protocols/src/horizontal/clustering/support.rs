//! l-site diversity by pruned taxonomies and forbidden combinations (TG12 section 6.2).
//!
//! An attribute may betray a site: a value that few sites have is linked to them. Before clusters are
//! made, the sites find out which nodes of such attributes, and which combinations of nodes, at least l
//! sites support. Every record then stands for the lowest nodes above its values that are supported,
//! attribute by attribute in the order of their importance. Every combination above a supported
//! combination is supported too, so no closure of such records, at no time, is linked to fewer sites.
//!
//! # Discloses
//! Of each node of these attributes, and of each combination of supported nodes, whether at least l
//! sites have records under it, for each of them alone.

use hedgerow_smc::Party;

use super::super::cover::Writing;
use super::super::rows::{OwnRows, Owner};
use super::{Plan, SUPPORTED_VALUES, Support};
use crate::error::Error;

/// The most combinations of nodes that are asked about.
const MOST_COMBINATIONS: usize = 1 << 18;

/// The nodes of an attribute: the root first, each node before the nodes below it.
struct Nodes {
    spans: Vec<(u32, u32)>,
    parents: Vec<usize>,
    /// The lowest node of each value.
    leaves: Vec<usize>,
}

impl Nodes {
    /// The nodes of a writing; for a domain without a taxonomy, its values and everything.
    fn new(writing: &Writing<'_>) -> Self {
        let size = writing.domain.size();
        match writing.domain.taxonomy() {
            Some(tree) => Self {
                spans: (0..tree.node_count())
                    .map(|node| tree.interval(node))
                    .collect(),
                parents: (0..tree.node_count())
                    .map(|node| tree.parent(node).unwrap_or(0) as usize)
                    .collect(),
                leaves: (0..size).map(|code| tree.leaf(code) as usize).collect(),
            },
            None => {
                let everything = (0, size.saturating_sub(1));
                let values = (0..size).map(|code| (code, code));
                Self {
                    spans: std::iter::once(everything).chain(values).collect(),
                    parents: vec![0; size as usize + 1],
                    leaves: (1..=size as usize).collect(),
                }
            }
        }
    }

    /// For each node, whether some of these values lie under it.
    fn above(&self, values: impl Iterator<Item = u32>) -> Vec<bool> {
        let mut is_above = vec![false; self.spans.len()];
        for code in values {
            let mut node = self.leaves[code as usize];
            while !is_above[node] {
                is_above[node] = true;
                node = self.parents[node];
            }
        }
        is_above
    }
}

/// The spans of values for which records stand instead of their own: for each attribute the spans,
/// and, for each row, a code of the attribute or the place of a span behind its codes.
pub(super) struct Lifted {
    pub(super) spans: Vec<Vec<(u32, u32)>>,
    /// Row by row, attribute by attribute.
    pub(super) records: Vec<u32>,
}

impl Lifted {
    /// Every record stands for its own values.
    pub(super) fn none(rows: &OwnRows<'_>) -> Self {
        let mut records = Vec::with_capacity(rows.count * rows.quasi.len());
        for row in 0..rows.count {
            records.extend(rows.quasi.iter().map(|codes| codes.get(row)));
        }
        Self {
            spans: vec![Vec::new(); rows.quasi.len()],
            records,
        }
    }
}

/// Finds out which nodes and combinations are supported, and lifts this site's records to them.
pub(super) async fn lift(
    party: &mut Party,
    rows: &OwnRows<'_>,
    plan: &Plan<'_>,
    support: &Support,
    records: u64,
) -> Result<Lifted, Error> {
    let nodes: Vec<Nodes> = support
        .attributes
        .iter()
        .map(|attribute| Nodes::new(&plan.writings[*attribute]))
        .collect();
    let present = Presence::new(rows, &support.attributes, &nodes);
    let alone = ask_nodes(party, rows, support, &nodes, &present).await?;
    if records > 0 && alone.iter().any(|supported| !supported[0]) {
        return Err(unmeetable(support.sites, records));
    }
    let combinations = Combinations::ask(party, rows, support, &present, &alone).await?;
    let mut lifted = Lifted::none(rows);
    let width = rows.quasi.len();
    for record in lifted.records.chunks_exact_mut(width.max(1)) {
        let leaves: Vec<usize> = support
            .attributes
            .iter()
            .zip(&nodes)
            .map(|(attribute, nodes)| nodes.leaves[record[*attribute] as usize])
            .collect();
        let lowest = lowest_supported(&nodes, &alone, &combinations, &leaves);
        for (place, attribute) in support.attributes.iter().enumerate() {
            if lowest[place] != leaves[place] {
                let span = nodes[place].spans[lowest[place]];
                let behind = place_of(span, &mut lifted.spans[*attribute]);
                record[*attribute] = plan.writings[*attribute].domain.size() + behind;
            }
        }
    }
    Ok(lifted)
}

/// Of each site that speaks here and each attribute, the nodes under which the site has records.
struct Presence(Vec<Vec<Vec<bool>>>);

impl Presence {
    fn new(rows: &OwnRows<'_>, attributes: &[usize], nodes: &[Nodes]) -> Self {
        let speaking: Vec<u32> = match rows.owner {
            Owner::Site(site) => vec![site],
            Owner::Column(_) => (0..rows.sites as u32).collect(),
        };
        let of_site = |site: u32| -> Vec<Vec<bool>> {
            let own = (0..rows.count as u32).filter(|row| rows.owner_of(*row) == site);
            let own: Vec<u32> = own.collect();
            let pairs = attributes.iter().zip(nodes);
            pairs
                .map(|(attribute, nodes)| {
                    let column = rows.quasi[*attribute];
                    nodes.above(own.iter().map(|row| column.get(*row as usize)))
                })
                .collect()
        };
        Self(speaking.into_iter().map(of_site).collect())
    }

    /// How many of the sites have records under a node of the attribute at a place.
    fn under_node(&self, place: usize, node: usize) -> u64 {
        let sites = self.0.iter().filter(|of_site| of_site[place][node]);
        sites.count() as u64
    }

    /// How many of the sites have, for each attribute, records under its node in a combination.
    fn under_all(&self, combination: &[usize]) -> u64 {
        let sites = self.0.iter().filter(|of_site| {
            let mut nodes = combination.iter().enumerate();
            nodes.all(|(place, node)| of_site[place][*node])
        });
        sites.count() as u64
    }
}

/// Asks of every node of every attribute whether it is supported.
async fn ask_nodes(
    party: &mut Party,
    rows: &OwnRows<'_>,
    support: &Support,
    nodes: &[Nodes],
    present: &Presence,
) -> Result<Vec<Vec<bool>>, Error> {
    let counts = nodes.iter().enumerate().flat_map(|(place, nodes)| {
        (0..nodes.spans.len()).map(move |node| present.under_node(place, node))
    });
    let is_supported = ask(party, rows, support, counts.collect()).await?;
    let mut rest = is_supported.as_slice();
    let mut of_attributes = Vec::with_capacity(nodes.len());
    for nodes in nodes {
        let (own, behind) = rest.split_at(nodes.spans.len());
        of_attributes.push(own.to_vec());
        rest = behind;
    }
    Ok(of_attributes)
}

/// Not even everything is supported: fewer than l sites have records.
fn unmeetable(l: u64, records: u64) -> Error {
    let most = l.saturating_sub(1);
    Error::Unmeetable {
        records,
        model: format!("site diversity {l}"),
        best: format!(
            "fewer than {l} sites have records; the largest value that could be met is at most {most}"
        ),
    }
}

/// All combinations of supported nodes, numbered with the last attribute running fastest, and which
/// of them are supported.
struct Combinations {
    /// The supported nodes of each attribute, ascending.
    kept: Vec<Vec<usize>>,
    is_supported: Vec<bool>,
}

impl Combinations {
    /// Asks of every combination whether it is supported. The nodes of a single attribute are known.
    async fn ask(
        party: &mut Party,
        rows: &OwnRows<'_>,
        support: &Support,
        present: &Presence,
        alone: &[Vec<bool>],
    ) -> Result<Self, Error> {
        let supported = |alone: &Vec<bool>| -> Vec<usize> {
            (0..alone.len()).filter(|node| alone[*node]).collect()
        };
        let kept: Vec<Vec<usize>> = alone.iter().map(supported).collect();
        let count = kept
            .iter()
            .try_fold(1usize, |product, kept| product.checked_mul(kept.len()))
            .filter(|product| *product <= MOST_COMBINATIONS)
            .ok_or(Error::TooManyCombinations {
                most: MOST_COMBINATIONS,
            })?;
        let mut combinations = Self {
            kept,
            is_supported: vec![true; count],
        };
        if combinations.kept.len() > 1 {
            let counts = (0..count).map(|number| present.under_all(&combinations.nodes(number)));
            combinations.is_supported = ask(party, rows, support, counts.collect()).await?;
        }
        Ok(combinations)
    }

    /// The nodes of the combination with a number.
    fn nodes(&self, number: usize) -> Vec<usize> {
        let mut left = number;
        let mut nodes = vec![0; self.kept.len()];
        for (node, kept) in nodes.iter_mut().zip(&self.kept).rev() {
            *node = kept[left % kept.len()];
            left /= kept.len();
        }
        nodes
    }

    /// Whether a combination of supported nodes is supported.
    fn allows(&self, combination: &[usize]) -> bool {
        let pairs = combination.iter().zip(&self.kept);
        let number = pairs.fold(0, |number, (node, kept)| {
            number * kept.len() + kept.binary_search(node).unwrap_or(0)
        });
        self.is_supported[number]
    }
}

/// The lowest nodes above a record's leaves that are supported, alone and together: each attribute in
/// its turn is lifted as little as possible, while the attributes behind it stand at their roots.
fn lowest_supported(
    nodes: &[Nodes],
    alone: &[Vec<bool>],
    combinations: &Combinations,
    leaves: &[usize],
) -> Vec<usize> {
    let mut lowest = vec![0; nodes.len()];
    for (place, leaf) in leaves.iter().enumerate() {
        lowest[place] = *leaf;
        while lowest[place] != 0 && (!alone[place][lowest[place]] || !combinations.allows(&lowest))
        {
            lowest[place] = nodes[place].parents[lowest[place]];
        }
    }
    lowest
}

/// The place of a span among the spans of an attribute; a new span is added.
fn place_of(span: (u32, u32), spans: &mut Vec<(u32, u32)>) -> u32 {
    let known = spans.iter().position(|other| *other == span);
    let place = known.unwrap_or_else(|| {
        spans.push(span);
        spans.len() - 1
    });
    // An attribute has less than 2^32 nodes.
    place as u32
}

/// For each of some numbers of sites, whether it is at least l.
async fn ask(
    party: &mut Party,
    rows: &OwnRows<'_>,
    support: &Support,
    counts: Vec<u64>,
) -> Result<Vec<bool>, Error> {
    let thresholds = vec![support.sites; counts.len()];
    let mut enough = vec![false; counts.len()];
    if !counts.is_empty() {
        let bound = rows.sites as u64;
        party
            .at_least(SUPPORTED_VALUES, bound, &counts, &thresholds, &mut enough)
            .await?;
    }
    Ok(enough)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A root over two nodes, each over two values.
    fn tree() -> Nodes {
        Nodes {
            spans: vec![(0, 3), (0, 1), (0, 0), (1, 1), (2, 3), (2, 2), (3, 3)],
            parents: vec![0, 0, 1, 1, 0, 4, 4],
            leaves: vec![2, 3, 5, 6],
        }
    }

    proptest! {
        /// The result of lifting is above the record and supported, and the first attribute could not
        /// stand lower while the others are written as everything.
        #[test]
        fn records_are_lifted_to_the_lowest_supported_nodes(
            sites in proptest::collection::vec((1..16u8, 1..16u8), 1..5),
            l in 1..4usize, record in (0..4usize, 0..4usize),
        ) {
            let nodes = [tree(), tree()];
            let values = |bits: u8| (0..4u32).filter(move |code| bits >> code & 1 == 1);
            let present = Presence(sites.iter().map(|(one, other)| {
                vec![nodes[0].above(values(*one)), nodes[1].above(values(*other))]
            }).collect());
            let is_enough = |sites: u64| sites >= l as u64;
            prop_assume!(is_enough(present.under_node(0, 0)));
            let alone: Vec<Vec<bool>> = (0..2).map(|place| {
                (0..7).map(|node| is_enough(present.under_node(place, node))).collect()
            }).collect();
            let kept: Vec<Vec<usize>> = alone.iter().map(|alone| {
                (0..7).filter(|node| alone[*node]).collect()
            }).collect();
            let mut combinations = Combinations { kept, is_supported: Vec::new() };
            let count = combinations.kept[0].len() * combinations.kept[1].len();
            combinations.is_supported = (0..count)
                .map(|number| is_enough(present.under_all(&combinations.nodes(number))))
                .collect();

            let leaves = [nodes[0].leaves[record.0], nodes[1].leaves[record.1]];
            let lowest = lowest_supported(&nodes, &alone, &combinations, &leaves);
            prop_assert!(is_enough(present.under_all(&lowest)));
            for place in 0..2 {
                let (span, leaf) = (nodes[place].spans[lowest[place]], nodes[place].spans[leaves[place]]);
                prop_assert!(span.0 <= leaf.0 && leaf.1 <= span.1);
            }
            let mut lower = leaves[0];
            while lower != lowest[0] {
                prop_assert!(!is_enough(present.under_all(&[lower, 0])));
                lower = nodes[0].parents[lower];
            }
        }
    }
}
