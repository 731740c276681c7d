//! Covers: how a class is written in the release. A node of the taxonomy, a range, or the set of
//! the values that occur, each found by the join that opens exactly what the release will print.
//!
//! # Discloses
//! To all sites, the cells of the release.

use hedgerow_data::{Cell, Domain, Recode, Taxonomy};
use hedgerow_smc::{Party, Tree, What};

use super::mondrian::Partition;
use super::rows::OwnRows;
use crate::Error;

/// The generalized records of the release.
pub const COVERS: What = What::new("generalized records of classes", "the release");

/// How one quasi-identifier is written.
#[derive(Debug, Clone, Copy)]
pub struct Writing<'a> {
    /// Its values.
    pub domain: &'a Domain,
    /// Node, range or set.
    pub recode: Recode,
}

/// The smallest cover of each class in each quasi-identifier: class by class, attribute by
/// attribute.
pub async fn covers(
    party: &mut Party,
    rows: &OwnRows<'_>,
    partition: &Partition,
    writings: &[Writing<'_>],
) -> Result<Vec<Vec<Cell>>, Error> {
    let mut columns = Vec::with_capacity(writings.len());
    for (attribute, writing) in writings.iter().enumerate() {
        let bounds: Vec<(u32, u32)> = partition
            .classes
            .iter()
            .map(|class| class.bounds[attribute])
            .collect();
        let own: Vec<Vec<u32>> = partition
            .classes
            .iter()
            .map(|class| {
                class
                    .rows
                    .iter()
                    .map(|row| rows.quasi[attribute].get(*row as usize))
                    .collect()
            })
            .collect();
        columns.push(match (writing.recode, writing.domain.taxonomy()) {
            (Recode::Node, Some(tree)) => nodes(party, tree, &own).await?,
            (Recode::Set, _) => sets(party, &bounds, &own).await?,
            _ => ranges(party, &bounds, &own).await?,
        });
    }
    Ok((0..partition.classes.len())
        .map(|class| {
            columns
                .iter()
                .map(|column: &Vec<Cell>| column[class].clone())
                .collect()
        })
        .collect())
}

/// The lowest node above the values of each class.
async fn nodes(party: &mut Party, tree: &Taxonomy, own: &[Vec<u32>]) -> Result<Vec<Cell>, Error> {
    let parents = (0..tree.node_count()).map(|node| tree.parent(node).unwrap_or(0));
    let public = [Tree::new(parents.collect())?];
    let mut nodes: Vec<Option<u32>> = own
        .iter()
        .map(|codes| {
            let (least, greatest) = ends(codes)?;
            Some(tree.lowest_common_ancestor(least, greatest))
        })
        .collect();
    party.lca(COVERS, &public, |_| 0, &mut nodes).await?;
    let cell = |node: Option<u32>| {
        // A class has records at some site.
        let (least, greatest) = tree.interval(node.unwrap_or(tree.root()));
        Cell::Interval(least, greatest)
    };
    Ok(nodes.into_iter().map(cell).collect())
}

/// The first and last value of each class.
async fn ranges(
    party: &mut Party,
    bounds: &[(u32, u32)],
    own: &[Vec<u32>],
) -> Result<Vec<Cell>, Error> {
    let wide = |(least, greatest): (u32, u32)| (u64::from(least), u64::from(greatest));
    let mut ranges: Vec<Option<(u64, u64)>> =
        own.iter().map(|codes| ends(codes).map(wide)).collect();
    let domain = |class: usize| {
        let (least, greatest) = wide(bounds[class]);
        least..=greatest
    };
    party.ranges(COVERS, domain, &mut ranges).await?;
    let cells = ranges.into_iter().zip(bounds).map(|(range, bounds)| {
        let (least, greatest) = range.unwrap_or(wide(*bounds));
        // Codes lie within the bounds, which are codes.
        Cell::Interval(least as u32, greatest as u32)
    });
    Ok(cells.collect())
}

/// The values that occur in each class.
async fn sets(
    party: &mut Party,
    bounds: &[(u32, u32)],
    own: &[Vec<u32>],
) -> Result<Vec<Cell>, Error> {
    let mut bits: Vec<bool> = Vec::new();
    for ((least, greatest), codes) in bounds.iter().zip(own) {
        let start = bits.len();
        bits.resize(start + (greatest - least + 1) as usize, false);
        codes
            .iter()
            .for_each(|code| bits[start + (code - least) as usize] = true);
    }
    party.any(COVERS, &mut bits).await?;
    let mut from = 0;
    let cells = bounds.iter().map(|(least, greatest)| {
        let width = (greatest - least + 1) as usize;
        let present = bits[from..from + width]
            .iter()
            .enumerate()
            .filter(|(_, bit)| **bit);
        let codes = present.map(|(place, _)| least + place as u32).collect();
        from += width;
        // A class has records, so some bit is set.
        Cell::set(codes).unwrap_or(Cell::Interval(*least, *greatest))
    });
    Ok(cells.collect())
}

fn ends(codes: &[u32]) -> Option<(u32, u32)> {
    Some((*codes.iter().min()?, *codes.iter().max()?))
}
