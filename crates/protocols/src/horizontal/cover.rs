//! Covers: how a class is written in the release. A node of the taxonomy, a range, or the set of
//! the values that occur, each found by the join that opens exactly what the release will print.
//!
//! A missing value has no place in a range: where a class has it beside other values, the range is `*`.
//! So that no end of a range is opened that is not printed, the sites first find the lowest of four
//! nodes above their values: the values before the missing value, the missing value, the values behind
//! it, and everything.
//!
//! # Discloses
//! To all sites, the cells of the release.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use hedgerow_data::{Cell, Recode, Taxonomy};
use hedgerow_smc::{Party, Tree, What};

pub use super::mondrian::settings::Covers;
use super::partition::{Class, Partition};
use super::rows::OwnRows;
pub use super::writing::{Writing, writings};
use crate::error::Error;

/// The generalized records of the release.
pub const COVERS: What = What::new("generalized records of classes", "the release");

/// The cover that all sites found does not contain this site's own values.
pub(super) const NOT_AROUND: &str = "this site's own values lie outside what all sites have";

/// The most values that are asked about at a time.
const MOST_BITS: usize = 1 << 24;

/// Everything that [`covers`] may disclose to a site.
pub const fn discloses() -> [What; 1] {
    [COVERS]
}

/// The cover of each class in each quasi-identifier: class by class, attribute by attribute. A tight
/// cover is the smallest: all nodes are asked together, all ranges, and all sets. A box is the range
/// that the cuts left, which all sites know.
pub async fn covers(
    party: &mut Party,
    rows: &OwnRows<'_>,
    partition: &Partition,
    writings: &[Writing<'_>],
    covers: Covers,
) -> Result<Vec<Vec<Cell>>, Error> {
    if covers == Covers::Box {
        let of_class = |class: &Class| {
            let pairs = writings.iter().zip(&class.bounds);
            pairs
                .map(|(writing, bounds)| writing.of_box(*bounds))
                .collect()
        };
        return Ok(partition.classes.iter().map(of_class).collect());
    }
    let mut questions = Vec::with_capacity(partition.classes.len() * writings.len());
    for class in &partition.classes {
        for (attribute, column) in rows.quasi.iter().enumerate() {
            let own = partition.rows(class).iter();
            questions.push(Question {
                own: own.map(|row| column.get(*row as usize)).collect(),
                bounds: class.bounds[attribute],
                attribute,
            });
        }
    }
    let cells = smallest(party, COVERS, writings, questions).await?;
    let of_classes = cells.chunks(writings.len().max(1));
    Ok(of_classes.map(<[Cell]>::to_vec).collect())
}

/// The smallest cell above all sites' values, for each question; where no site has any, the bounds.
/// All nodes are asked about together, all ranges, and all sets.
pub(super) async fn smallest(
    party: &mut Party,
    what: What,
    writings: &[Writing<'_>],
    questions: Vec<Question>,
) -> Result<Vec<Cell>, Error> {
    let mut kinds = Questions::default();
    let mut order = Vec::with_capacity(questions.len());
    for question in questions {
        let writing = &writings[question.attribute];
        let (kind, list) = match (writing.recode, writing.domain.taxonomy()) {
            (Recode::Node, Some(_)) => (0, &mut kinds.nodes),
            (Recode::Set, _) => (1, &mut kinds.sets),
            _ => (2, &mut kinds.ranges),
        };
        order.push((kind, question.bounds));
        list.push(question);
    }
    let mut answers = [
        nodes(party, what, writings, &kinds.nodes)
            .await?
            .into_iter(),
        sets(party, what, &kinds.sets).await?.into_iter(),
        ranges(party, what, writings, kinds.ranges)
            .await?
            .into_iter(),
    ];
    // Answers of a kind come in the order of its questions.
    let cell = |(kind, bounds): (usize, (u32, u32))| {
        let cell = answers[kind].next();
        cell.unwrap_or(Cell::Interval(bounds.0, bounds.1))
    };
    Ok(order.into_iter().map(cell).collect())
}

/// The question about one class in one attribute.
pub(super) struct Question {
    /// This site's codes.
    pub(super) own: Vec<u32>,
    /// Between which all sites' codes lie.
    pub(super) bounds: (u32, u32),
    pub(super) attribute: usize,
}

#[derive(Default)]
struct Questions {
    nodes: Vec<Question>,
    ranges: Vec<Question>,
    sets: Vec<Question>,
}

/// The lowest node above the values of each class.
async fn nodes(
    party: &mut Party,
    what: What,
    writings: &[Writing<'_>],
    questions: &[Question],
) -> Result<Vec<Cell>, Error> {
    if questions.is_empty() {
        return Ok(Vec::new());
    }
    let asked: Vec<UnderNode<'_>> = questions
        .iter()
        // Only attributes with a taxonomy are written as nodes.
        .filter_map(|question| {
            Some(UnderNode {
                tree: writings[question.attribute].domain.taxonomy()?,
                attribute: question.attribute,
                bounds: question.bounds,
                own: ends(&question.own),
            })
        })
        .collect();
    let nodes = lowest_nodes(party, what, &asked).await?;
    let cell = |(question, node): (&UnderNode<'_>, Option<u32>)| {
        // Every class has records at some site, so there is a node.
        let interval = node.map(|node| question.tree.interval(node));
        let (least, greatest) = interval.unwrap_or(question.bounds);
        Cell::Interval(least, greatest)
    };
    Ok(asked.iter().zip(nodes).map(cell).collect())
}

/// Values of a tree that lie within public bounds.
pub(super) struct UnderNode<'t> {
    pub(super) tree: &'t Taxonomy,
    /// The attribute of the tree.
    pub(super) attribute: usize,
    pub(super) bounds: (u32, u32),
    /// The least and the greatest of this site's.
    pub(super) own: Option<(u32, u32)>,
}

/// For each question the lowest node above all sites' values. Bounds are public, so only nodes under the
/// node above the bounds are asked about.
pub(super) async fn lowest_nodes(
    party: &mut Party,
    what: What,
    questions: &[UnderNode<'_>],
) -> Result<Vec<Option<u32>>, Error> {
    let above = |tree: &Taxonomy, (least, greatest)| tree.lowest_common_ancestor(least, greatest);
    let mut places: HashMap<(usize, u32), usize> = HashMap::new();
    let mut trees: Vec<Tree> = Vec::new();
    let mut tree_of: Vec<usize> = Vec::with_capacity(questions.len());
    for UnderNode {
        tree,
        attribute,
        bounds,
        ..
    } in questions
    {
        let top = above(tree, *bounds);
        let place = match places.entry((*attribute, top)) {
            Entry::Occupied(found) => *found.get(),
            Entry::Vacant(new) => {
                trees.push(public_tree(tree, top)?);
                *new.insert(trees.len() - 1)
            }
        };
        tree_of.push(place);
    }
    // Nodes are numbered from the root of their tree on.
    let mut nodes: Vec<Option<u32>> = questions
        .iter()
        .map(|question| {
            Some(above(question.tree, question.own?) - above(question.tree, question.bounds))
        })
        .collect();
    party
        .lca(what, &trees, |question| tree_of[question], &mut nodes)
        .await?;
    let mut found = Vec::with_capacity(nodes.len());
    for (question, node) in questions.iter().zip(nodes) {
        let node = node.map(|node| node + above(question.tree, question.bounds));
        let span = node.map(|node| wide(question.tree.interval(node)));
        party.fit(what, is_around(span, question.own.map(wide)), NOT_AROUND)?;
        found.push(node);
    }
    Ok(found)
}

/// Whether the two ends that all sites found are a range that contains this site's own range.
pub(super) fn is_around(found: Option<(u64, u64)>, own: Option<(u64, u64)>) -> bool {
    match (found, own) {
        (Some((least, greatest)), Some((low, high))) => least <= low && high <= greatest,
        (Some((least, greatest)), None) => least <= greatest,
        (None, own) => own.is_none(),
    }
}

fn wide((least, greatest): (u32, u32)) -> (u64, u64) {
    (u64::from(least), u64::from(greatest))
}

/// A taxonomy from a node on, in the form that the lowest-common-ancestor primitive takes.
fn public_tree(tree: &Taxonomy, top: u32) -> Result<Tree, Error> {
    // A node's descendants follow it.
    let nodes = (top..tree.node_count()).take_while(|node| tree.is_ancestor(top, *node));
    let parents = nodes.map(|node| match tree.parent(node) {
        Some(parent) if node > top => parent - top,
        _ => 0,
    });
    Ok(Tree::new(parents.collect())?)
}

/// The first and last value of each class; everything where a value is missing beside others.
async fn ranges(
    party: &mut Party,
    what: What,
    writings: &[Writing<'_>],
    mut questions: Vec<Question>,
) -> Result<Vec<Cell>, Error> {
    let sides = sides(party, what, writings, &questions).await?;
    for (question, side) in questions.iter_mut().zip(&sides) {
        if let Some(found) = side {
            question.bounds = *found;
        }
    }
    // A cover that is everything, or one value, is known already.
    let is_open = |(question, side): (&Question, &Option<(u32, u32)>)| {
        let domain = writings[question.attribute].domain;
        let (least, greatest) = question.bounds;
        let is_known = side.is_some() && least == greatest;
        !is_known && !domain.mixes_missing(least, greatest)
    };
    let open: Vec<bool> = questions.iter().zip(&sides).map(is_open).collect();
    let asked = questions.iter().zip(&open).filter(|(_, open)| **open);
    let asked: Vec<&Question> = asked.map(|(question, _)| question).collect();
    let wide = |(least, greatest): (u32, u32)| (u64::from(least), u64::from(greatest));
    let own: Vec<Option<(u64, u64)>> = asked
        .iter()
        .map(|question| ends(&question.own).map(wide))
        .collect();
    let mut ranges = own.clone();
    if !asked.is_empty() {
        let domain = |question: usize| {
            let (least, greatest) = wide(asked[question].bounds);
            least..=greatest
        };
        party.ranges(what, domain, &mut ranges).await?;
    }
    let fits = ranges
        .iter()
        .zip(own)
        .all(|(found, own)| is_around(*found, own));
    party.fit(what, fits, NOT_AROUND)?;
    let mut found = ranges.into_iter();
    let cells = questions.iter().zip(open).map(|(question, is_open)| {
        let range = if is_open {
            found.next().flatten()
        } else {
            None
        };
        let (least, greatest) = range.unwrap_or(wide(question.bounds));
        // Codes lie within the bounds, which are codes.
        Cell::Interval(least as u32, greatest as u32)
    });
    Ok(cells.collect())
}

/// For each question between whose bounds the missing value lies beside others, on which side of it
/// all values are: before it, behind it, at it, or everything.
async fn sides(
    party: &mut Party,
    what: What,
    writings: &[Writing<'_>],
    questions: &[Question],
) -> Result<Vec<Option<(u32, u32)>>, Error> {
    let mut sides = vec![None; questions.len()];
    let mut asked: Vec<(usize, [(u32, u32); 4])> = Vec::new();
    for (place, question) in questions.iter().enumerate() {
        let domain = writings[question.attribute].domain;
        let (least, greatest) = question.bounds;
        if let Some(missing) = domain.missing_code()
            && domain.mixes_missing(least, greatest)
        {
            let everything = domain.range(least, greatest);
            // A side without values is nobody's answer.
            let side = |from, to| if from <= to { (from, to) } else { everything };
            let before = side(least, missing.saturating_sub(1));
            let behind = side(missing + 1, greatest);
            asked.push((place, [everything, before, (missing, missing), behind]));
        }
    }
    if asked.is_empty() {
        return Ok(sides);
    }
    let tree = Tree::new(vec![0; 4])?;
    let mut nodes: Vec<Option<u32>> = asked
        .iter()
        .map(|(place, nodes)| {
            let (least, greatest) = ends(&questions[*place].own)?;
            let (missing, _) = nodes[2];
            let sides = [
                greatest < missing,
                (least, greatest) == (missing, missing),
                missing < least,
            ];
            Some(
                sides
                    .iter()
                    .position(|all| *all)
                    .map_or(0, |side| side as u32 + 1),
            )
        })
        .collect();
    party.lca(what, &[tree], |_| 0, &mut nodes).await?;
    for ((place, spans), node) in asked.iter().zip(nodes) {
        // Every class has records at some site, so there is a node.
        sides[*place] = Some(spans[node.unwrap_or(0) as usize]);
    }
    Ok(sides)
}

/// The values that occur in each class. For wide attributes, only some classes are asked about at a
/// time, so that memory is bounded.
async fn sets(party: &mut Party, what: What, questions: &[Question]) -> Result<Vec<Cell>, Error> {
    let width = |question: &Question| (question.bounds.1 - question.bounds.0) as usize + 1;
    let mut cells = Vec::with_capacity(questions.len());
    let mut rest = questions;
    while !rest.is_empty() {
        let mut bits_so_far = 0;
        let fits = rest.iter().take_while(|question| {
            bits_so_far += width(question);
            bits_so_far <= MOST_BITS
        });
        // At least one class is asked about at a time, however wide the attribute is.
        let (asked, later) = rest.split_at(fits.count().max(1));
        rest = later;
        let mut bits = vec![false; asked.iter().map(width).sum()];
        let mut from = 0;
        for question in asked {
            let codes = question.own.iter();
            codes.for_each(|code| bits[from + (code - question.bounds.0) as usize] = true);
            from += width(question);
        }
        let own = bits.clone();
        party.any(what, &mut bits).await?;
        let fits = own.iter().zip(&bits).all(|(own, any)| *any || !own);
        party.fit(what, fits, NOT_AROUND)?;
        let mut bits = bits.as_slice();
        for question in asked {
            let (of_class, behind) = bits.split_at(width(question));
            bits = behind;
            let (least, greatest) = question.bounds;
            let present = (least..=greatest).zip(of_class).filter(|(_, bit)| **bit);
            let cell = Cell::set(present.map(|(code, _)| code).collect());
            // Every class has records, so some bit is set.
            cells.push(cell.unwrap_or(Cell::Interval(least, greatest)));
        }
    }
    Ok(cells)
}

fn ends(codes: &[u32]) -> Option<(u32, u32)> {
    Some((*codes.iter().min()?, *codes.iter().max()?))
}
