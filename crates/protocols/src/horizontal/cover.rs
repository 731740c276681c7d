//! Covers: how a class is written in the release. A node of the taxonomy, a range, or the set of
//! the values that occur, each found by the join that opens exactly what the release will print.
//!
//! # Discloses
//! To all sites, the cells of the release.

use hedgerow_data::study::Covers;
use hedgerow_data::{Cell, Domain, Recode, Taxonomy};
use hedgerow_smc::{Party, Tree, What};

use super::mondrian::{Class, Partition};
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

impl Writing<'_> {
    /// What is written for an interval of values.
    fn of_box(&self, (least, greatest): (u32, u32)) -> Cell {
        let (least, greatest) = match (self.recode, self.domain.taxonomy()) {
            (Recode::Node, Some(tree)) => {
                tree.interval(tree.lowest_common_ancestor(least, greatest))
            }
            _ => (least, greatest),
        };
        Cell::Interval(least, greatest)
    }
}

/// The cover of each class in each quasi-identifier: class by class, attribute by attribute. Tight,
/// it is the smallest: all nodes are asked together, all ranges, and all sets. A box is what the cuts
/// left, which all sites know.
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
    let mut questions = Questions::default();
    for class in &partition.classes {
        for (attribute, writing) in writings.iter().enumerate() {
            let column = rows.quasi[attribute];
            let own = partition
                .rows(class)
                .iter()
                .map(|row| column.get(*row as usize));
            let question = Question {
                own: own.collect(),
                bounds: class.bounds[attribute],
                attribute,
            };
            match (writing.recode, writing.domain.taxonomy()) {
                (Recode::Node, Some(_)) => questions.nodes.push(question),
                (Recode::Set, _) => questions.sets.push(question),
                _ => questions.ranges.push(question),
            }
        }
    }
    let mut nodes = nodes(party, writings, &questions.nodes).await?.into_iter();
    let mut ranges = ranges(party, &questions.ranges).await?.into_iter();
    let mut sets = sets(party, &questions.sets).await?.into_iter();
    // Answers come in the order of the questions: class by class, attribute by attribute.
    let mut next = |writing: &Writing<'_>, bounds: (u32, u32)| {
        let cell = match (writing.recode, writing.domain.taxonomy()) {
            (Recode::Node, Some(_)) => nodes.next(),
            (Recode::Set, _) => sets.next(),
            _ => ranges.next(),
        };
        cell.unwrap_or(Cell::Interval(bounds.0, bounds.1))
    };
    let classes = partition.classes.iter();
    Ok(classes
        .map(|class| {
            let writings = writings.iter().zip(&class.bounds);
            writings
                .map(|(writing, bounds)| next(writing, *bounds))
                .collect()
        })
        .collect())
}

/// What is asked about one class in one attribute.
struct Question {
    /// This site's codes.
    own: Vec<u32>,
    bounds: (u32, u32),
    attribute: usize,
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
    writings: &[Writing<'_>],
    questions: &[Question],
) -> Result<Vec<Cell>, Error> {
    if questions.is_empty() {
        return Ok(Vec::new());
    }
    let taxonomies: Vec<Option<&Taxonomy>> = writings
        .iter()
        .map(|writing| writing.domain.taxonomy())
        .collect();
    let parents = |tree: &Taxonomy| -> Vec<u32> {
        (0..tree.node_count())
            .map(|node| tree.parent(node).unwrap_or(0))
            .collect()
    };
    let trees = taxonomies
        .iter()
        // An attribute without a taxonomy is asked for no node; a single one stands in its place.
        .map(|tree| Tree::new(tree.map_or(vec![0], parents)))
        .collect::<Result<Vec<Tree>, _>>()?;
    let mut nodes: Vec<Option<u32>> = questions
        .iter()
        .map(|question| {
            let (least, greatest) = ends(&question.own)?;
            Some(taxonomies[question.attribute]?.lowest_common_ancestor(least, greatest))
        })
        .collect();
    let tree_of = |question: usize| questions[question].attribute;
    party.lca(COVERS, &trees, tree_of, &mut nodes).await?;
    let cell = |(question, node): (&Question, Option<u32>)| {
        // A class has records at some site, so there is a node.
        let interval = taxonomies[question.attribute]
            .zip(node)
            .map(|(tree, node)| tree.interval(node));
        let (least, greatest) = interval.unwrap_or(question.bounds);
        Cell::Interval(least, greatest)
    };
    Ok(questions.iter().zip(nodes).map(cell).collect())
}

/// The first and last value of each class.
async fn ranges(party: &mut Party, questions: &[Question]) -> Result<Vec<Cell>, Error> {
    if questions.is_empty() {
        return Ok(Vec::new());
    }
    let wide = |(least, greatest): (u32, u32)| (u64::from(least), u64::from(greatest));
    let mut ranges: Vec<Option<(u64, u64)>> = questions
        .iter()
        .map(|question| ends(&question.own).map(wide))
        .collect();
    let domain = |question: usize| {
        let (least, greatest) = wide(questions[question].bounds);
        least..=greatest
    };
    party.ranges(COVERS, domain, &mut ranges).await?;
    let cells = ranges.into_iter().zip(questions).map(|(range, question)| {
        let (least, greatest) = range.unwrap_or(wide(question.bounds));
        // Codes lie within the bounds, which are codes.
        Cell::Interval(least as u32, greatest as u32)
    });
    Ok(cells.collect())
}

/// The values that occur in each class.
async fn sets(party: &mut Party, questions: &[Question]) -> Result<Vec<Cell>, Error> {
    if questions.is_empty() {
        return Ok(Vec::new());
    }
    let mut bits: Vec<bool> = Vec::new();
    for Question {
        own,
        bounds: (least, greatest),
        ..
    } in questions
    {
        let start = bits.len();
        bits.resize(start + (greatest - least + 1) as usize, false);
        own.iter()
            .for_each(|code| bits[start + (code - least) as usize] = true);
    }
    party.any(COVERS, &mut bits).await?;
    let mut from = 0;
    let cells = questions.iter().map(
        |Question {
             bounds: (least, greatest),
             ..
         }| {
            let width = (greatest - least + 1) as usize;
            let present = bits[from..from + width]
                .iter()
                .enumerate()
                .filter(|(_, bit)| **bit);
            let codes = present.map(|(place, _)| least + place as u32).collect();
            from += width;
            // A class has records, so some bit is set.
            Cell::set(codes).unwrap_or(Cell::Interval(*least, *greatest))
        },
    );
    Ok(cells.collect())
}

fn ends(codes: &[u32]) -> Option<(u32, u32)> {
    Some((*codes.iter().min()?, *codes.iter().max()?))
}
