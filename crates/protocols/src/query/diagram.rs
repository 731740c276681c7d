//! A condition as a decision diagram over columns: its cases, told apart so that none is counted twice.
//!
//! Each column's codes are parted by the comparisons that accept them. A node of the diagram asks for the
//! part that a column's value lies in, and leads to the node of the next column, or to the end: satisfied
//! or not. Every assignment of values takes one way through the diagram, so probabilities of ways add up
//! (ordered multi-valued decision diagrams; Srinivasan et al., ICCAD 1990). A cell stands for several
//! values, so a row takes several ways, each with a share.
//!
//! # Discloses
//! Nothing.

use std::collections::HashMap;

use hedgerow_data::Schema;

use super::codes::CodeSet;
use super::error::QuestionError;
use super::question::Condition;

/// The most nodes of a diagram.
const MOST_NODES: usize = 1 << 14;
/// The most leaves that are looked at while a diagram is made: less than a second.
const MOST_WORK: usize = 1 << 25;

/// Where a way through a diagram goes on.
pub(super) type Place = u32;
/// The end of the ways that do not satisfy the condition.
pub(super) const UNSATISFIED: Place = 0;
/// The end of the ways that do.
pub(super) const SATISFIED: Place = 1;

/// A condition as a decision diagram.
#[derive(Debug)]
pub(super) struct Diagram {
    /// The columns in the order in which they are asked for.
    pub(super) levels: Vec<Level>,
    /// The nodes after the two ends: a node leads to nodes before it.
    pub(super) nodes: Vec<Node>,
    /// Where every way begins.
    pub(super) root: Place,
}

/// A column of a diagram.
#[derive(Debug)]
pub(super) struct Level {
    /// The column's position in the schema.
    pub(super) column: usize,
    /// The parts of the column's codes that comparisons tell apart.
    pub(super) parts: Vec<CodeSet>,
}

/// A node of a diagram.
#[derive(Debug, PartialEq, Eq, Hash, Clone)]
pub(super) struct Node {
    /// The column that is asked for, by its place among the levels.
    pub(super) level: usize,
    /// For each part of the column's codes, where the way goes on.
    pub(super) ways: Vec<Place>,
}

impl Diagram {
    /// The diagram of a condition; a column that is summed is asked for first.
    pub(super) fn new(
        condition: &Condition,
        schema: &Schema,
        first: Option<usize>,
    ) -> Result<Self, QuestionError> {
        let mut leaves = Leaves {
            schema,
            leaves: Vec::new(),
        };
        let formula = leaves.formula(condition, true);
        let asked = leaves.leaves.iter().map(|(column, _)| *column);
        let mut columns: Vec<usize> = asked.filter(|column| Some(*column) != first).collect();
        columns.sort_unstable();
        columns.dedup();
        let levels: Vec<(Level, Vec<Vec<bool>>)> = first
            .into_iter()
            .chain(columns)
            .map(|column| leaves.level(column, Some(column) == first))
            .collect();
        let (levels, accepted): (Vec<Level>, Vec<_>) = levels.into_iter().unzip();
        let columns: Vec<usize> = leaves.leaves.iter().map(|(column, _)| *column).collect();
        let mut building = Building {
            levels: &levels,
            columns: &columns,
            accepted: &accepted,
            known: HashMap::new(),
            places: HashMap::new(),
            nodes: Vec::new(),
            work: 0,
        };
        let root = building.place(&formula, 0)?;
        let nodes = building.nodes;
        Ok(Self {
            levels,
            nodes,
            root,
        })
    }
}

/// A condition without negations, simplified: leaves by their numbers.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Formula {
    Known(bool),
    Leaf(usize),
    All(Vec<Formula>),
    Any(Vec<Formula>),
}

impl Formula {
    /// Parts of which all must hold, or one.
    fn of(parts: impl Iterator<Item = Formula>, all: bool) -> Self {
        let mut kept = Vec::new();
        for part in parts {
            match part {
                Self::Known(known) if known == all => {}
                Self::Known(known) => return Self::Known(known),
                part => kept.push(part),
            }
        }
        match (kept.len(), all) {
            (0, _) => Self::Known(all),
            (1, _) => kept.swap_remove(0),
            (_, true) => Self::All(kept),
            (_, false) => Self::Any(kept),
        }
    }

    /// The formula once some leaves are known.
    fn given(&self, known: &impl Fn(usize) -> Option<bool>) -> Self {
        match self {
            Self::Known(_) => self.clone(),
            Self::Leaf(leaf) => known(*leaf).map_or(Self::Leaf(*leaf), Self::Known),
            Self::All(parts) => Self::of(parts.iter().map(|part| part.given(known)), true),
            Self::Any(parts) => Self::of(parts.iter().map(|part| part.given(known)), false),
        }
    }
}

/// The comparisons of a condition: columns with the codes that satisfy them.
struct Leaves<'s> {
    schema: &'s Schema,
    leaves: Vec<(usize, CodeSet)>,
}

impl Leaves<'_> {
    /// A condition, or its negation, as a formula: negations are brought down to comparisons, where the
    /// missing value satisfies neither.
    fn formula(&mut self, condition: &Condition, wanted: bool) -> Formula {
        match condition {
            Condition::All(parts) | Condition::Any(parts) => {
                let all = matches!(condition, Condition::All(_)) == wanted;
                let parts: Vec<Formula> = parts
                    .iter()
                    .map(|part| self.formula(part, wanted))
                    .collect();
                Formula::of(parts.into_iter(), all)
            }
            Condition::Not(part) => self.formula(part, !wanted),
            Condition::Within { column, codes } => {
                let domain = &self.schema.attributes()[*column].domain;
                let codes = match wanted {
                    true => codes.clone(),
                    false => codes.complement(domain.size()),
                };
                let codes = match domain.missing_code() {
                    Some(missing) => codes.without(missing),
                    None => codes,
                };
                self.leaf(*column, codes)
            }
            Condition::Missing { column } => {
                let domain = &self.schema.attributes()[*column].domain;
                let missing = CodeSet::new(domain.missing_code().map(|code| (code, code)));
                let codes = match wanted {
                    true => missing,
                    false => missing.complement(domain.size()),
                };
                self.leaf(*column, codes)
            }
        }
    }

    fn leaf(&mut self, column: usize, codes: CodeSet) -> Formula {
        let size = u64::from(self.schema.attributes()[column].domain.size());
        match codes.count() {
            0 => return Formula::Known(false),
            count if count == size => return Formula::Known(true),
            _ => {}
        }
        let leaf = (column, codes);
        let place = self.leaves.iter().position(|known| *known == leaf);
        Formula::Leaf(place.unwrap_or_else(|| {
            self.leaves.push(leaf);
            self.leaves.len() - 1
        }))
    }

    /// The parts of a column's codes, and for each part which leaves accept it. In a column that is summed
    /// the missing value is a part of its own.
    fn level(&self, column: usize, is_summed: bool) -> (Level, Vec<Vec<bool>>) {
        let domain = &self.schema.attributes()[column].domain;
        let own = self.leaves.iter().enumerate();
        let own: Vec<(usize, &CodeSet)> = own
            .filter(|(_, (of, _))| *of == column)
            .map(|(leaf, (_, codes))| (leaf, codes))
            .collect();
        let mut starts = vec![0];
        for (_, codes) in &own {
            let ends = codes.ranges().iter();
            starts.extend(ends.flat_map(|(least, greatest)| [*least, greatest + 1]));
        }
        let missing = domain.missing_code().filter(|_| is_summed);
        starts.extend(missing.into_iter().flat_map(|code| [code, code + 1]));
        starts.retain(|start| *start < domain.size());
        starts.sort_unstable();
        starts.dedup();
        let mut places: HashMap<Vec<bool>, usize> = HashMap::new();
        let mut ranges: Vec<Vec<(u32, u32)>> = Vec::new();
        let mut accepted: Vec<Vec<bool>> = Vec::new();
        for (place, start) in starts.iter().enumerate() {
            let end = starts.get(place + 1).map_or(domain.size(), |next| *next) - 1;
            let mut by: Vec<bool> = own
                .iter()
                .map(|(_, codes)| codes.contains(*start))
                .collect();
            by.push(missing == Some(*start));
            let part = *places.entry(by.clone()).or_insert_with(|| {
                let mut leaves = vec![false; self.leaves.len()];
                own.iter()
                    .zip(&by)
                    .for_each(|((leaf, _), by)| leaves[*leaf] = *by);
                accepted.push(leaves);
                ranges.push(Vec::new());
                ranges.len() - 1
            });
            ranges[part].push((*start, end));
        }
        let parts = ranges.into_iter().map(CodeSet::new).collect();
        (Level { column, parts }, accepted)
    }
}

/// A diagram in the making.
struct Building<'b> {
    levels: &'b [Level],
    /// The column of each leaf.
    columns: &'b [usize],
    /// For each level and part, which leaves accept it.
    accepted: &'b [Vec<Vec<bool>>],
    /// Formulas that have a place at a level.
    known: HashMap<(usize, Formula), Place>,
    /// Nodes that have a place.
    places: HashMap<Node, Place>,
    nodes: Vec<Node>,
    /// Leaves that were looked at.
    work: usize,
}

impl Building<'_> {
    /// The place from which a formula is decided by the columns from `level` on.
    fn place(&mut self, formula: &Formula, level: usize) -> Result<Place, QuestionError> {
        if let Formula::Known(known) = formula {
            return Ok(match known {
                true => SATISFIED,
                false => UNSATISFIED,
            });
        }
        let key = (level, formula.clone());
        if let Some(place) = self.known.get(&key) {
            return Ok(*place);
        }
        let (levels, columns, accepted) = (self.levels, self.columns, self.accepted);
        // Every leaf belongs to a level, so a formula that is not known has one left.
        let column = levels[level].column;
        let mut ways = Vec::with_capacity(levels[level].parts.len());
        for accepted in &accepted[level] {
            self.work += columns.len();
            if self.work > MOST_WORK {
                return Err(QuestionError::TooManyCases { most: MOST_NODES });
            }
            let known = |leaf: usize| (columns[leaf] == column).then(|| accepted[leaf]);
            ways.push(self.place(&formula.given(&known), level + 1)?);
        }
        let place = match ways.iter().all(|way| *way == ways[0]) {
            true => ways[0],
            false => self.node(Node { level, ways })?,
        };
        self.known.insert(key, place);
        Ok(place)
    }

    fn node(&mut self, node: Node) -> Result<Place, QuestionError> {
        if let Some(place) = self.places.get(&node) {
            return Ok(*place);
        }
        if self.nodes.len() >= MOST_NODES {
            return Err(QuestionError::TooManyCases { most: MOST_NODES });
        }
        let place = self.nodes.len() as Place + 2;
        self.nodes.push(node.clone());
        self.places.insert(node, place);
        Ok(place)
    }
}
