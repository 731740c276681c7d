//! l-site diversity by pruned taxonomies and forbidden combinations (TG12 section 6.2).
//!
//! An attribute may betray a site: a value that few sites have is linked to them. Before clusters are
//! made, the sites find out which nodes of such attributes, and which combinations of nodes, at least
//! l sites support. Every record then stands for the lowest nodes above its values that are
//! supported, attribute by attribute in the order of their importance. What stands above a supported
//! combination is supported too, so no closure of such records, at no time, is linked to fewer sites.
//!
//! # Discloses
//! Of each node of these attributes, and of each combination of supported nodes, whether at least l
//! sites have records under it, one by one.

use hedgerow_smc::Party;

use super::super::cover::Writing;
use super::super::rows::{OwnRows, Owner};
use super::{Plan, SUPPORT, Support};
use crate::Error;

/// The most combinations of nodes that are asked about.
const MOST_COMBINATIONS: usize = 1 << 18;

/// The nodes of an attribute: the root first, each above those below it.
struct Nodes {
    spans: Vec<(u32, u32)>,
    parents: Vec<usize>,
    /// The lowest node of each value.
    leaves: Vec<usize>,
}

impl Nodes {
    /// Of a domain without a taxonomy, its values and everything.
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

    /// Which of them some values lie under.
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
    /// Every record as it is.
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

/// Finds out what is supported, and lifts this site's records to it.
pub(super) async fn lift(
    party: &mut Party,
    rows: &OwnRows<'_>,
    plan: &Plan<'_>,
    support: &Support,
    records: u64,
) -> Result<Lifted, Error> {
    let mut lifted = Lifted::none(rows);
    let attributes = &support.attributes;
    let nodes: Vec<Nodes> = attributes
        .iter()
        .map(|attribute| Nodes::new(&plan.writings[*attribute]))
        .collect();
    let speaking: Vec<u32> = match rows.owner {
        Owner::Site(site) => vec![site],
        Owner::Column(_) => (0..rows.sites as u32).collect(),
    };
    // For each site that speaks here and each attribute, the nodes under which it has records.
    let of_site = |site: &u32| -> Vec<Vec<bool>> {
        let own = (0..rows.count as u32).filter(|row| rows.owner_of(*row) == *site);
        let own: Vec<u32> = own.collect();
        let pairs = attributes.iter().zip(&nodes);
        pairs
            .map(|(attribute, nodes)| {
                let codes = own
                    .iter()
                    .map(|row| rows.quasi[*attribute].get(*row as usize));
                nodes.above(codes)
            })
            .collect()
    };
    let has: Vec<Vec<Vec<bool>>> = speaking.iter().map(of_site).collect();

    let all = (0..nodes.len()).flat_map(|place| {
        let has = &has;
        (0..nodes[place].spans.len()).map(move |node| {
            let sites = has.iter().filter(|of_site| of_site[place][node]);
            sites.count() as u64
        })
    });
    let is_supported = ask(party, rows, support, all.collect()).await?;
    let mut rest = is_supported.as_slice();
    let mut alone: Vec<Vec<bool>> = Vec::with_capacity(nodes.len());
    for nodes in &nodes {
        let (own, behind) = rest.split_at(nodes.spans.len());
        alone.push(own.to_vec());
        rest = behind;
    }
    if records > 0 && alone.iter().any(|supported| !supported[0]) {
        let (l, most) = (support.sites, support.sites.saturating_sub(1));
        return Err(Error::Unmeetable {
            records,
            model: format!("site diversity {l}"),
            best: format!(
                "fewer than {l} sites have records; the largest value that could be met is at most {most}"
            ),
        });
    }

    // All combinations of supported nodes, numbered with the last attribute running fastest.
    let kept: Vec<Vec<usize>> = alone
        .iter()
        .map(|supported| {
            (0..supported.len())
                .filter(|node| supported[*node])
                .collect()
        })
        .collect();
    let combinations = kept
        .iter()
        .try_fold(1usize, |product, kept| product.checked_mul(kept.len()))
        .filter(|product| *product <= MOST_COMBINATIONS)
        .ok_or(Error::TooManyCombinations {
            most: MOST_COMBINATIONS,
        })?;
    let is_allowed = if kept.len() < 2 {
        vec![true; combinations]
    } else {
        let supporting = |number: usize| {
            let sites = has.iter().filter(|of_site| {
                let mut left = number;
                (0..kept.len()).rev().all(|place| {
                    let node = kept[place][left % kept[place].len()];
                    left /= kept[place].len();
                    of_site[place][node]
                })
            });
            sites.count() as u64
        };
        let counts = (0..combinations).map(supporting).collect();
        ask(party, rows, support, counts).await?
    };

    let number = |tuple: &[usize]| {
        let pairs = tuple.iter().zip(&kept);
        pairs.fold(0, |number, (node, kept)| {
            number * kept.len() + kept.binary_search(node).unwrap_or(0)
        })
    };
    let width = rows.quasi.len();
    for record in lifted.records.chunks_exact_mut(width.max(1)) {
        let mut tuple = vec![0; nodes.len()];
        for (place, nodes) in nodes.iter().enumerate() {
            let leaf = nodes.leaves[record[attributes[place]] as usize];
            tuple[place] = leaf;
            while tuple[place] != 0 && (!alone[place][tuple[place]] || !is_allowed[number(&tuple)])
            {
                tuple[place] = nodes.parents[tuple[place]];
            }
            if tuple[place] != leaf {
                let attribute = attributes[place];
                let span = nodes.spans[tuple[place]];
                let spans = &mut lifted.spans[attribute];
                let known = spans.iter().position(|other| *other == span);
                let behind = known.unwrap_or_else(|| {
                    spans.push(span);
                    spans.len() - 1
                });
                record[attribute] = plan.writings[attribute].domain.size() + behind as u32;
            }
        }
    }
    Ok(lifted)
}

/// Of some counts of sites, which are at least l.
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
            .at_least(SUPPORT, bound, &counts, &thresholds, &mut enough)
            .await?;
    }
    Ok(enough)
}
