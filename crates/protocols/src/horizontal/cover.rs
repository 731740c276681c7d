//! Covers: how a class is written in the release. A node of the taxonomy, a range, or the set of
//! the values that occur, each found by the join that opens exactly what the release will print.
//!
//! A missing value has no place in a range: where a class has it beside other values, the range is `*`.
//! So that no end of a range is opened that is not printed, the sites first find the lowest of four
//! nodes above their values: the values before the missing value, the missing value, the values behind
//! it, and everything. A box on a public grid is asked for by a bit for each box within what is known: whether
//! some site has a value outside. All these bits follow from the smallest box around all values.
//!
//! # Discloses
//! To all sites, the cells of the release.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ops::RangeInclusive;

use hedgerow_data::{Cell, Recode, Taxonomy};
use hedgerow_smc::{Covers as Asked, Party, Tree, What};

use super::grid::Grid;
pub use super::mondrian::settings::Covers;
use super::partition::{Class, Partition};
use super::rows::OwnRows;
pub use super::writing::{Writing, writings};
use crate::error::Error;

/// The generalized records of the release.
pub const COVERS: What = What::new("generalized records of classes", "the release");

/// The cover that all sites found does not contain this site's own values.
pub(super) const NOT_AROUND: &str = "this site's own values lie outside what all sites have";

/// The bits that all sites found are not those of one box.
const NO_BOX: &str = "no box is around these values and no others";

/// So many classes are covered at a time where one party has all rows, so that memory is bounded.
const ALONE_AT_A_TIME: usize = 1 << 17;

/// The most values that are asked about at a time.
const MOST_BITS: usize = 1 << 24;

/// Everything that [`covers`] may disclose to a site.
pub const fn discloses() -> [What; 1] {
    [COVERS]
}

/// The cover of each class in each quasi-identifier: class by class, attribute by attribute. A tight
/// cover is the smallest: all nodes, ranges and sets are asked together. A box is the range
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
    // Between sites all classes are asked about together; a party of one asks nobody.
    let together = match party.sites() {
        1 => ALONE_AT_A_TIME,
        _ => partition.classes.len().max(1),
    };
    let mut covers = Vec::with_capacity(partition.classes.len());
    // Without classes there is a question too: that there are none.
    let mut rest = partition.classes.as_slice();
    loop {
        let (classes, later) = rest.split_at(together.min(rest.len()));
        rest = later;
        let mut questions = Vec::with_capacity(classes.len() * writings.len());
        for class in classes {
            for (attribute, column) in rows.quasi.iter().enumerate() {
                let own = partition.rows(class).iter();
                questions.push(Question {
                    own: own.map(|row| column.get(*row as usize)).collect(),
                    bounds: class.bounds[attribute],
                    attribute,
                    grid: None,
                });
            }
        }
        let cells = smallest(party, COVERS, writings, questions).await?;
        covers.extend(cells.chunks(writings.len().max(1)).map(<[Cell]>::to_vec));
        if rest.is_empty() {
            return Ok(covers);
        }
    }
}

/// The smallest cell above all sites' values, for each question; where no site has any, the bounds.
/// Nodes, ranges and sets are asked about together. Ranges that may have a missing value inside are asked
/// about once it is known on which side of it they lie.
pub(super) async fn smallest(
    party: &mut Party,
    what: What,
    writings: &[Writing<'_>],
    questions: Vec<Question<'_>>,
) -> Result<Vec<Cell>, Error> {
    let mut kinds = Questions::default();
    let mut order = Vec::with_capacity(questions.len());
    for question in questions {
        let writing = &writings[question.attribute];
        let (kind, list) = match (writing.recode, writing.domain.taxonomy()) {
            _ if question.grid.is_some() => (1, &mut kinds.sets),
            (Recode::Node, Some(_)) => (0, &mut kinds.nodes),
            (Recode::Set, _) => (1, &mut kinds.sets),
            _ => (2, &mut kinds.ranges),
        };
        order.push((kind, question.bounds));
        list.push(question);
    }
    let mut answers = kinds.ask(party, what, writings).await?.map(Vec::into_iter);
    // Answers of a kind come in the order of its questions.
    let cell = |(kind, bounds): (usize, (u32, u32))| {
        let cell = answers[kind].next();
        cell.unwrap_or(Cell::Interval(bounds.0, bounds.1))
    };
    Ok(order.into_iter().map(cell).collect())
}

/// The question about one class in one attribute.
pub(super) struct Question<'g> {
    /// This site's codes.
    pub(super) own: Vec<u32>,
    /// Between which all sites' codes lie.
    pub(super) bounds: (u32, u32),
    pub(super) attribute: usize,
    /// The grid, where the smallest box around all sites' values is asked for; the bounds are a box then.
    pub(super) grid: Option<&'g Grid>,
}

impl Question<'_> {
    /// How many bits are asked for: one for each value between the bounds, or for each box within.
    fn width(&self) -> usize {
        match self.grid {
            Some(grid) => grid.within(self.bounds).count(),
            None => (self.bounds.1 - self.bounds.0) as usize + 1,
        }
    }

    /// Sets this site's bits: which values it has, or of which boxes it has values outside.
    fn set_own(&self, bits: &mut [bool]) {
        match (self.grid, ends(&self.own)) {
            (Some(grid), Some(own)) => {
                for (bit, (least, greatest)) in bits.iter_mut().zip(grid.within(self.bounds)) {
                    *bit = own.0 < least || greatest < own.1;
                }
            }
            (Some(_), None) => {}
            (None, _) => {
                let codes = self.own.iter();
                codes.for_each(|code| bits[(code - self.bounds.0) as usize] = true);
            }
        }
    }

    /// The cell that all sites' bits say; nothing if they are not possible. Where no site has a value, the
    /// bounds.
    fn cell(&self, bits: &[bool]) -> Option<Cell> {
        let (least, greatest) = self.bounds;
        let everything = Cell::Interval(least, greatest);
        let Some(grid) = self.grid else {
            let present = (least..=greatest).zip(bits).filter(|(_, bit)| **bit);
            let set = Cell::set(present.map(|(code, _)| code).collect());
            // Every class has records, so some bit is set.
            return Some(set.unwrap_or(everything));
        };
        if self.own.is_empty() && !bits.contains(&true) {
            return Some(everything);
        }
        let boxes = || grid.within(self.bounds).zip(bits);
        let around = boxes().filter(|(_, is_outside)| !**is_outside);
        let smallest = around
            .map(|(one, _)| one)
            .min_by_key(|(low, high)| high - low);
        let (low, high) = smallest.unwrap_or(self.bounds);
        let fits = |((from, to), is_outside): ((u32, u32), &bool)| {
            *is_outside != (from <= low && high <= to)
        };
        boxes().all(fits).then_some(Cell::Interval(low, high))
    }
}

#[derive(Default)]
struct Questions<'g> {
    nodes: Vec<Question<'g>>,
    ranges: Vec<Question<'g>>,
    /// Sets of values, and boxes.
    sets: Vec<Question<'g>>,
}

impl Questions<'_> {
    /// The cells of all nodes, of all sets, and of all ranges.
    async fn ask(
        &self,
        party: &mut Party,
        what: What,
        writings: &[Writing<'_>],
    ) -> Result<[Vec<Cell>; 3], Error> {
        let under = under_nodes(writings, &self.nodes);
        let mut nodes = Nodes::of(&under)?;
        let sides = sides(writings, &self.ranges);
        nodes.add_sides(&sides, &self.ranges)?;
        let is_plain: Vec<bool> = {
            let mut is_plain = vec![true; self.ranges.len()];
            sides.iter().for_each(|(place, _)| is_plain[*place] = false);
            is_plain
        };
        let plain = self.ranges.iter().zip(&is_plain);
        let plain = plain.filter_map(|(question, is_plain)| is_plain.then_some(question));
        let mut ranges = Ranges::of(plain.map(|question| (question, question.bounds)).collect());
        let (sets, later) = self.sets.split_at(within(MOST_BITS, &self.sets));
        let mut bits = bits_of(sets);
        if nodes.nodes.is_empty() && ranges.found.is_empty() && bits.is_empty() && later.is_empty()
        {
            return Ok([Vec::new(), Vec::new(), Vec::new()]);
        }
        let own = bits.clone();
        let covers = Asked {
            trees: &nodes.trees,
            tree_of: &nodes.tree_of,
            nodes: &mut nodes.nodes,
            domains: &ranges.domains,
            ranges: &mut ranges.found,
            bits: &mut bits,
        };
        party.cover(what, covers).await?;

        let (of_classes, of_sides) = nodes.nodes.split_at(under.len());
        let found = found_nodes(party, what, &under, of_classes)?;
        let cell = |(question, node): (&UnderNode<'_>, Option<u32>)| {
            // Every class has records at some site, so there is a node.
            let interval = node.map(|node| question.tree.interval(node));
            let (least, greatest) = interval.unwrap_or(question.bounds);
            Cell::Interval(least, greatest)
        };
        let of_nodes = under.iter().zip(found).map(cell).collect();
        let mut of_sets = cells_of(party, what, sets, &own, &bits)?;
        of_sets.extend(sets_apart(party, what, later).await?);
        let mut plain = ranges.cells(party, what)?.into_iter();
        let mut sided = sided(party, what, writings, &self.ranges, &sides, of_sides)
            .await?
            .into_iter();
        let of_ranges = is_plain.into_iter().filter_map(|is_plain| match is_plain {
            true => plain.next(),
            false => sided.next(),
        });
        Ok([of_nodes, of_sets, of_ranges.collect()])
    }
}

/// The questions about nodes.
fn under_nodes<'t>(writings: &[Writing<'t>], questions: &[Question<'_>]) -> Vec<UnderNode<'t>> {
    let questions = questions.iter();
    // Only attributes with a taxonomy are written as nodes.
    questions
        .filter_map(|question| {
            Some(UnderNode {
                tree: writings[question.attribute].domain.taxonomy()?,
                attribute: question.attribute,
                bounds: question.bounds,
                own: ends(&question.own),
            })
        })
        .collect()
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

/// For each question the lowest node above all sites' values.
pub(super) async fn lowest_nodes(
    party: &mut Party,
    what: What,
    questions: &[UnderNode<'_>],
) -> Result<Vec<Option<u32>>, Error> {
    let Nodes {
        trees,
        tree_of,
        mut nodes,
    } = Nodes::of(questions)?;
    party
        .lca(what, &trees, |question| tree_of[question], &mut nodes)
        .await?;
    found_nodes(party, what, questions, &nodes)
}

/// This site's nodes, in the form that the lowest-common-ancestor primitive takes. Bounds are public, so
/// only nodes under the node above the bounds are asked about.
struct Nodes {
    trees: Vec<Tree>,
    tree_of: Vec<usize>,
    nodes: Vec<Option<u32>>,
}

impl Nodes {
    fn of(questions: &[UnderNode<'_>]) -> Result<Self, Error> {
        let mut places: HashMap<(usize, u32), usize> = HashMap::new();
        let mut trees: Vec<Tree> = Vec::new();
        let mut tree_of: Vec<usize> = Vec::with_capacity(questions.len());
        for question in questions {
            let top = question.top();
            let place = match places.entry((question.attribute, top)) {
                Entry::Occupied(found) => *found.get(),
                Entry::Vacant(new) => {
                    trees.push(public_tree(question.tree, top)?);
                    *new.insert(trees.len() - 1)
                }
            };
            tree_of.push(place);
        }
        // Nodes are numbered from the root of their tree on.
        let node = |question: &UnderNode<'_>| {
            let (least, greatest) = question.own?;
            Some(question.tree.lowest_common_ancestor(least, greatest) - question.top())
        };
        Ok(Self {
            trees,
            tree_of,
            nodes: questions.iter().map(node).collect(),
        })
    }

    /// Adds on which side of the missing value this site's values lie.
    fn add_sides(&mut self, sides: &[Side], questions: &[Question<'_>]) -> Result<(), Error> {
        if sides.is_empty() {
            return Ok(());
        }
        self.trees.push(Tree::new(vec![0; 4])?);
        self.tree_of
            .extend(sides.iter().map(|_| self.trees.len() - 1));
        self.nodes.extend(sides.iter().map(|(place, spans)| {
            let (least, greatest) = ends(&questions[*place].own)?;
            let (missing, _) = spans[2];
            let sides = [
                greatest < missing,
                (least, greatest) == (missing, missing),
                missing < least,
            ];
            let side = sides.iter().position(|all| *all);
            Some(side.map_or(0, |side| side as u32 + 1))
        }));
        Ok(())
    }
}

impl UnderNode<'_> {
    /// The node above the bounds.
    fn top(&self) -> u32 {
        let (least, greatest) = self.bounds;
        self.tree.lowest_common_ancestor(least, greatest)
    }
}

/// The nodes of the taxonomies that were found, if they are possible.
fn found_nodes(
    party: &Party,
    what: What,
    questions: &[UnderNode<'_>],
    nodes: &[Option<u32>],
) -> Result<Vec<Option<u32>>, Error> {
    let mut found = Vec::with_capacity(nodes.len());
    for (question, node) in questions.iter().zip(nodes) {
        let node = node.map(|node| node + question.top());
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

/// Ranges that are asked about, and where all values lie.
struct Ranges {
    bounds: Vec<(u32, u32)>,
    domains: Vec<RangeInclusive<u64>>,
    own: Vec<Option<(u64, u64)>>,
    found: Vec<Option<(u64, u64)>>,
}

impl Ranges {
    fn of(questions: Vec<(&Question<'_>, (u32, u32))>) -> Self {
        let own = questions.iter();
        let own: Vec<Option<(u64, u64)>> = own
            .map(|(question, _)| ends(&question.own).map(wide))
            .collect();
        let bounds: Vec<(u32, u32)> = questions.iter().map(|(_, bounds)| *bounds).collect();
        let domain = |bounds: &(u32, u32)| u64::from(bounds.0)..=u64::from(bounds.1);
        Self {
            domains: bounds.iter().map(domain).collect(),
            bounds,
            found: own.clone(),
            own,
        }
    }

    /// The cells, if they are possible.
    fn cells(self, party: &Party, what: What) -> Result<Vec<Cell>, Error> {
        let mut pairs = self.found.iter().zip(&self.own);
        let fits = pairs.all(|(found, own)| is_around(*found, *own));
        party.fit(what, fits, NOT_AROUND)?;
        let cells = self.found.into_iter().zip(self.bounds);
        let cells = cells.map(|(found, bounds)| {
            let (least, greatest) = found.unwrap_or(wide(bounds));
            // Codes lie within the bounds, which are codes.
            Cell::Interval(least as u32, greatest as u32)
        });
        Ok(cells.collect())
    }
}

/// The place of a question between whose bounds the missing value lies beside others, and where all values
/// may be: everywhere, before the missing value, at it, or behind it.
type Side = (usize, [(u32, u32); 4]);

/// The questions of which it is first asked on which side of the missing value all values are.
fn sides(writings: &[Writing<'_>], questions: &[Question<'_>]) -> Vec<Side> {
    let mut asked = Vec::new();
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
    asked
}

/// The ranges whose side is known now; everything where a value is missing beside others.
async fn sided(
    party: &mut Party,
    what: What,
    writings: &[Writing<'_>],
    questions: &[Question<'_>],
    sides: &[Side],
    found: &[Option<u32>],
) -> Result<Vec<Cell>, Error> {
    // Every class has records at some site, so there is a node.
    let spans = sides.iter().zip(found);
    let spans: Vec<(&Question<'_>, (u32, u32))> = spans
        .map(|((place, spans), node)| (&questions[*place], spans[node.unwrap_or(0) as usize]))
        .collect();
    // A cover that is everything, or one value, is known already.
    let is_open = |(question, (least, greatest)): &(&Question<'_>, (u32, u32))| {
        let domain = writings[question.attribute].domain;
        least != greatest && !domain.mixes_missing(*least, *greatest)
    };
    let open: Vec<(&Question<'_>, (u32, u32))> = spans.iter().copied().filter(is_open).collect();
    let mut ranges = Ranges::of(open);
    if !ranges.found.is_empty() {
        let domains = &ranges.domains;
        let domain_of = |question: usize| domains[question].clone();
        party.ranges(what, domain_of, &mut ranges.found).await?;
    }
    let mut cells = ranges.cells(party, what)?.into_iter();
    let spans = spans.into_iter();
    let cell = |span: (&Question<'_>, (u32, u32))| {
        let (least, greatest) = span.1;
        let cell = if is_open(&span) { cells.next() } else { None };
        cell.unwrap_or(Cell::Interval(least, greatest))
    };
    Ok(spans.map(cell).collect())
}

/// The values that occur in each class, of classes that were not asked about with all else: only some at a
/// time, so that memory is bounded.
async fn sets_apart(
    party: &mut Party,
    what: What,
    questions: &[Question<'_>],
) -> Result<Vec<Cell>, Error> {
    let mut cells = Vec::with_capacity(questions.len());
    let mut rest = questions;
    while !rest.is_empty() {
        // At least one class is asked about at a time, however wide the attribute is.
        let (asked, later) = rest.split_at(within(MOST_BITS, rest).max(1));
        rest = later;
        let own = bits_of(asked);
        let mut bits = own.clone();
        party.any(what, &mut bits).await?;
        cells.extend(cells_of(party, what, asked, &own, &bits)?);
    }
    Ok(cells)
}

/// How many of the first questions have so many values together.
fn within(most: usize, questions: &[Question<'_>]) -> usize {
    let mut bits_so_far = 0;
    let fits = questions.iter().take_while(|question| {
        bits_so_far += question.width();
        bits_so_far <= most
    });
    fits.count()
}

/// Which values this site has, and of which boxes it has values outside.
fn bits_of(questions: &[Question<'_>]) -> Vec<bool> {
    let mut bits = vec![false; questions.iter().map(Question::width).sum()];
    let mut from = 0;
    for question in questions {
        let width = question.width();
        question.set_own(&mut bits[from..from + width]);
        from += width;
    }
    bits
}

/// The sets of the values that some site has, and the boxes around them, if they are possible.
fn cells_of(
    party: &Party,
    what: What,
    questions: &[Question<'_>],
    own: &[bool],
    bits: &[bool],
) -> Result<Vec<Cell>, Error> {
    let fits = own.iter().zip(bits).all(|(own, any)| *any || !own);
    party.fit(what, fits, NOT_AROUND)?;
    let mut cells = Vec::with_capacity(questions.len());
    let mut rest = bits;
    for question in questions {
        let (of_class, behind) = rest.split_at(question.width());
        rest = behind;
        let cell = question.cell(of_class);
        cells.push(cell.ok_or_else(|| party.misfit(what, NO_BOX))?);
    }
    Ok(cells)
}

fn ends(codes: &[u32]) -> Option<(u32, u32)> {
    Some((*codes.iter().min()?, *codes.iter().max()?))
}
