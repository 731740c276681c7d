//! Closures (TG12 definition 2.3) and their cost: a node, a range or a set of values for each
//! quasi-identifier, and any loss that is a sum over cells (LM, NCP, EM).
//!
//! A closure is a row of words: for a node its number, for a range its two ends, for a set a bit for
//! each value. The range over a missing value and others is everything; where ranges are to be boxes, they end on a
//! public grid. Costs are whole numbers, so that every site finds the same sums.

use hedgerow_data::{Cell, Domain, Recode};
use hedgerow_privacy::utility::Present;

use super::cost::{Cost, UNIT, codes_of};
use super::settings::Loss;
use super::tree::Tree;
use crate::horizontal::cover::Covers;
use crate::horizontal::grid::Grid;
use crate::horizontal::writing::Writing;

mod told;

/// The form of closures of one quasi-identifier, and their cost.
pub(crate) struct Shape<'a> {
    form: Form<'a>,
    cost: Cost,
    size: u32,
    /// Spans of values that records may stand for: codes of spans come behind the codes of values.
    lifted: Vec<(u32, u32)>,
}

enum Form<'a> {
    Node(Tree<'a>),
    Range(Ends<'a>),
    Set,
}

/// Where ranges may end.
enum Ends<'a> {
    /// At the values that occur.
    Tight(&'a Domain),
    /// On a public grid.
    OnGrid(Grid),
}

impl Ends<'_> {
    /// The smallest range over two values.
    fn around(&self, least: u32, greatest: u32) -> (u32, u32) {
        match self {
            Self::Tight(domain) => domain.range(least, greatest),
            Self::OnGrid(grid) => grid.around(least, greatest),
        }
    }
}

impl<'a> Shape<'a> {
    /// `counts` says how often each value occurs in the joint table: LM ignores the counts, NCP asks
    /// only whether they are zero.
    pub(crate) fn new(writing: Writing<'a>, loss: Loss, counts: &[u64]) -> Self {
        let Writing { domain, recode } = writing;
        let size = domain.size();
        let everywhere = vec![1; size as usize];
        let counts = if loss == Loss::Lm {
            &everywhere
        } else {
            counts
        };
        let present = Present::new(domain, counts);
        let cost = match loss {
            Loss::Em => Cost::entropy(counts),
            Loss::Lm | Loss::Ncp
                if recode == Recode::Set && (loss == Loss::Lm || !present.is_spread()) =>
            {
                let values = counts.iter().filter(|count| **count > 0).count();
                Cost::Count {
                    share: UNIT / (values.max(2) - 1) as f64,
                }
            }
            Loss::Lm => Cost::spread(
                counts,
                (0..size)
                    .map(|code| f64::from(code) / f64::from((size - 1).max(1)))
                    .collect(),
            ),
            Loss::Ncp => Cost::spread(counts, present.places()),
        };
        let form = match (recode, domain.taxonomy()) {
            (Recode::Node, Some(taxonomy)) => Form::Node(Tree::new(taxonomy, &cost)),
            (Recode::Set, _) => Form::Set,
            _ => Form::Range(Ends::Tight(domain)),
        };
        Self {
            form,
            cost,
            size,
            lifted: Vec::new(),
        }
    }

    /// The same with closures that are as wide as the study says. A box that is no node is a range on the public
    /// grid, whatever occurs in it.
    pub(crate) fn covering(
        writing: Writing<'a>,
        covers: Covers,
        loss: Loss,
        counts: &[u64],
    ) -> Self {
        let Writing { domain, recode } = writing;
        let is_node = recode == Recode::Node && domain.taxonomy().is_some();
        if covers == Covers::Tight || is_node {
            return Self::new(writing, loss, counts);
        }
        let recode = Recode::Range;
        Self {
            form: Form::Range(Ends::OnGrid(Grid::of(domain))),
            ..Self::new(Writing { domain, recode }, loss, counts)
        }
    }

    /// The shape with spans of values for which records may stand.
    pub(crate) fn lifted(self, lifted: Vec<(u32, u32)>) -> Self {
        Self { lifted, ..self }
    }

    /// The first and last value that a record's code stands for.
    fn span(&self, code: u32) -> (u32, u32) {
        match code.checked_sub(self.size) {
            Some(place) => self.lifted[place as usize],
            None => (code, code),
        }
    }

    /// The values whose closure stands for a record's code.
    pub(crate) fn values(&self, code: u32) -> impl Iterator<Item = u32> + use<> {
        let (least, greatest) = self.span(code);
        let step = match self.form {
            Form::Set => 1,
            Form::Node(_) | Form::Range(_) => (greatest - least).max(1),
        };
        (least..=greatest).step_by(step as usize)
    }

    /// The node of a record's code.
    fn node(&self, tree: &Tree<'_>, code: u32) -> u64 {
        match code.checked_sub(self.size) {
            Some(place) => {
                let (least, greatest) = self.lifted[place as usize];
                tree.above(least, greatest)
            }
            None => u64::from(tree.leaf(code)),
        }
    }

    /// The taxonomy of closures that are nodes.
    pub(crate) const fn tree(&self) -> Option<&Tree<'a>> {
        match &self.form {
            Form::Node(tree) => Some(tree),
            Form::Range(_) | Form::Set => None,
        }
    }

    /// Whether closures are ranges of values none of which is missing.
    pub(crate) fn is_plain_range(&self) -> bool {
        matches!(&self.form, Form::Range(Ends::Tight(domain)) if domain.missing_code().is_none())
    }

    /// The grid on which ranges end, where they do.
    pub(crate) const fn grid(&self) -> Option<&Grid> {
        match &self.form {
            Form::Range(Ends::OnGrid(grid)) => Some(grid),
            Form::Range(Ends::Tight(_)) | Form::Node(_) | Form::Set => None,
        }
    }

    /// The cost of a set by its number of values, where the cost of sets of one word depends on that alone.
    pub(crate) fn costs_by_count(&self) -> Option<Vec<u64>> {
        let is_counted = matches!(self.form, Form::Set) && matches!(self.cost, Cost::Count { .. });
        (is_counted && self.width() == 1).then(|| {
            let sets = (0..=self.size).map(|values| u64::MAX.unbounded_shr(64 - values));
            sets.map(|set| self.cost(&[set])).collect()
        })
    }

    /// How many values there are.
    pub(crate) const fn size(&self) -> u32 {
        self.size
    }

    /// Words of a closure.
    pub(crate) fn width(&self) -> usize {
        match self.form {
            Form::Node(_) | Form::Range(_) => 1,
            Form::Set => (self.size as usize).div_ceil(64).max(1),
        }
    }

    /// How many different closures are possible.
    pub(super) fn variety(&self) -> u64 {
        match &self.form {
            Form::Node(tree) => tree.nodes() as u64,
            Form::Range(Ends::Tight(_)) => u64::from(self.size).pow(2),
            Form::Range(Ends::OnGrid(grid)) => grid.len() as u64,
            Form::Set => 1 << self.size.min(63),
        }
    }

    pub(super) fn set_record(&self, code: u32, closure: &mut [u64]) {
        match &self.form {
            Form::Node(tree) => closure[0] = self.node(tree, code),
            Form::Range(over) => {
                let (least, greatest) = self.span(code);
                closure[0] = range(over, least, greatest);
            }
            Form::Set => {
                closure.fill(0);
                self.join_value(closure, code);
            }
        }
    }

    pub(crate) fn join(&self, closure: &mut [u64], other: &[u64]) {
        match &self.form {
            Form::Node(tree) => closure[0] = tree.join(closure[0], other[0]),
            Form::Range(over) => {
                let ((a, b), (c, d)) = (ends(closure[0]), ends(other[0]));
                closure[0] = range(over, a.min(c), b.max(d));
            }
            Form::Set => closure
                .iter_mut()
                .zip(other)
                .for_each(|(bits, other)| *bits |= other),
        }
    }

    /// Together with a value.
    pub(super) fn join_value(&self, closure: &mut [u64], code: u32) {
        match &self.form {
            Form::Node(tree) => closure[0] = tree.join(closure[0], self.node(tree, code)),
            Form::Range(over) => {
                let ((a, b), (least, greatest)) = (ends(closure[0]), self.span(code));
                closure[0] = range(over, a.min(least), b.max(greatest));
            }
            Form::Set => self
                .values(code)
                .for_each(|code| closure[code as usize / 64] |= 1 << (code % 64)),
        }
    }

    /// The cost of the closure together with a value.
    pub(super) fn joined_cost(&self, closure: &[u64], code: u32) -> u64 {
        match &self.form {
            Form::Node(tree) => tree.cost(tree.join(closure[0], self.node(tree, code))),
            Form::Range(over) => {
                let ((a, b), (least, greatest)) = (ends(closure[0]), self.span(code));
                let (least, greatest) = over.around(a.min(least), b.max(greatest));
                self.cost.of_interval(least, greatest)
            }
            Form::Set if self.covers(closure, code) => self.cost(closure),
            Form::Set => {
                let mut with = closure.to_vec();
                self.join_value(&mut with, code);
                self.cost(&with)
            }
        }
    }

    /// The cost of each closure together with a value, where a table holds these costs.
    pub(super) fn costs_with(&self, code: u32) -> Option<&[u64]> {
        match &self.form {
            Form::Node(tree) => tree.costs_with(code),
            Form::Range(_) | Form::Set => None,
        }
    }

    /// By how much a value makes any closure cheaper at most: a bound, for a loss that may fall as closures
    /// widen.
    pub(super) fn fall(&self, code: u32) -> u64 {
        match &self.form {
            Form::Node(tree) => tree.fall(self.node(tree, code)),
            Form::Range(_) | Form::Set => self.greatest_fall(),
        }
    }

    /// By how much any value makes any closure cheaper at most.
    pub(super) fn greatest_fall(&self) -> u64 {
        match (&self.form, &self.cost) {
            (Form::Node(tree), _) => tree.greatest_fall(),
            (_, Cost::Spread { .. } | Cost::Count { .. }) => 0,
            // The whole entropy of a closure.
            (_, Cost::Entropy { .. }) => (f64::from(self.size.max(2)).log2() * UNIT).ceil() as u64,
        }
    }

    /// The cost of two closures together.
    pub(super) fn common_cost(&self, one: &[u64], other: &[u64]) -> u64 {
        match &self.form {
            Form::Node(tree) => tree.cost(tree.join(one[0], other[0])),
            Form::Range(over) => {
                let ((a, b), (c, d)) = (ends(one[0]), ends(other[0]));
                let (least, greatest) = over.around(a.min(c), b.max(d));
                self.cost.of_interval(least, greatest)
            }
            Form::Set => {
                let union = one.iter().zip(other).map(|(one, other)| one | other);
                self.cost.of_set(&union.collect::<Vec<u64>>())
            }
        }
    }

    pub(crate) fn cost(&self, closure: &[u64]) -> u64 {
        match &self.form {
            Form::Node(tree) => tree.cost(closure[0]),
            Form::Range(_) => {
                let (least, greatest) = ends(closure[0]);
                self.cost.of_interval(least, greatest)
            }
            Form::Set => self.cost.of_set(closure),
        }
    }

    pub(crate) fn covers(&self, closure: &[u64], code: u32) -> bool {
        let (first, last) = self.span(code);
        match &self.form {
            Form::Node(tree) => {
                let (least, greatest) = tree.span(closure[0]);
                least <= first && last <= greatest
            }
            Form::Range(_) => {
                let (least, greatest) = ends(closure[0]);
                least <= first && last <= greatest
            }
            Form::Set => self
                .values(code)
                .all(|code| closure[code as usize / 64] & (1 << (code % 64)) != 0),
        }
    }

    /// Whether a value may lie in both.
    pub(super) fn meet(&self, one: &[u64], other: &[u64]) -> bool {
        match &self.form {
            Form::Set => one.iter().zip(other).any(|(one, other)| one & other != 0),
            _ => {
                let ((a, b), (c, d)) = (self.bounds(one), self.bounds(other));
                a <= d && c <= b
            }
        }
    }

    /// The first and last value of a closure.
    pub(crate) fn bounds(&self, closure: &[u64]) -> (u32, u32) {
        match &self.form {
            Form::Node(tree) => tree.span(closure[0]),
            Form::Range(_) => ends(closure[0]),
            Form::Set => {
                let codes = codes_of(closure);
                codes.fold((u32::MAX, 0), |(least, greatest), code| {
                    (least.min(code), greatest.max(code))
                })
            }
        }
    }

    /// The closure in the form in which a release writes it.
    pub(crate) fn cell(&self, closure: &[u64]) -> Cell {
        let (least, greatest) = self.bounds(closure);
        let interval = Cell::Interval(least, greatest);
        match self.form {
            Form::Set => Cell::set(codes_of(closure).collect()).unwrap_or(interval),
            _ => interval,
        }
    }

    /// The smallest closure of a cell.
    pub(super) fn set_cell(&self, cell: &Cell, closure: &mut [u64]) {
        let (least, greatest) = cell.bounds();
        match &self.form {
            Form::Node(tree) => closure[0] = tree.above(least, greatest),
            Form::Range(over) => closure[0] = range(over, least, greatest),
            Form::Set => {
                closure.fill(0);
                let codes = (least..=greatest).filter(|code| cell.contains(*code));
                codes.for_each(|code| closure[code as usize / 64] |= 1 << (code % 64));
            }
        }
    }

    /// How many questions the published search for a closure within another needs: one for each node
    /// that the search looks at; one for ranges and sets, which the published form does not have.
    pub(super) fn looks(&self, within: &[u64], closure: &[u64]) -> u64 {
        match &self.form {
            Form::Node(tree) => tree.looks(within[0], closure[0]),
            Form::Range(_) | Form::Set => 1,
        }
    }

    /// Whether a peer's words are a closure.
    pub(super) fn is_closure(&self, closure: &[u64]) -> bool {
        match &self.form {
            Form::Node(tree) => closure[0] < tree.nodes() as u64,
            Form::Range(over) => {
                let (least, greatest) = ends(closure[0]);
                let is_range = least <= greatest && greatest < self.size;
                is_range && over.around(least, greatest) == (least, greatest)
            }
            Form::Set => codes_of(closure)
                .last()
                .is_some_and(|code| code < self.size),
        }
    }

    /// Closures one step narrower: the children of a node, the halves of a range, or its parts beside
    /// the missing value, the widest boxes within a box, a set without one of its values.
    pub(super) fn narrower(&self, closure: &[u64]) -> Vec<Vec<u64>> {
        match &self.form {
            Form::Node(tree) => {
                let children = tree.children(closure[0]);
                children.map(|child| vec![u64::from(child)]).collect()
            }
            Form::Range(Ends::OnGrid(grid)) => {
                let parts = grid.parts(ends(closure[0]));
                parts
                    .map(|(least, greatest)| vec![packed(least, greatest)])
                    .collect()
            }
            Form::Range(Ends::Tight(domain)) => {
                let (least, greatest) = ends(closure[0]);
                if least == greatest {
                    return Vec::new();
                }
                if let Some(missing) = domain.missing_code()
                    && domain.mixes_missing(least, greatest)
                {
                    let mut parts = vec![vec![packed(missing, missing)]];
                    if least < missing {
                        parts.push(vec![packed(least, missing - 1)]);
                    }
                    if missing < greatest {
                        parts.push(vec![packed(missing + 1, greatest)]);
                    }
                    return parts;
                }
                let middle = least + (greatest - least) / 2;
                vec![
                    vec![packed(least, middle)],
                    vec![packed(middle + 1, greatest)],
                ]
            }
            Form::Set => {
                let codes: Vec<u32> = codes_of(closure).collect();
                if codes.len() < 2 {
                    return Vec::new();
                }
                let without = |code: u32| {
                    let mut set = closure.to_vec();
                    set[code as usize / 64] &= !(1 << (code % 64));
                    set
                };
                codes.into_iter().map(without).collect()
            }
        }
    }
}

/// The smallest range over two values.
fn range(over: &Ends<'_>, least: u32, greatest: u32) -> u64 {
    let (least, greatest) = over.around(least, greatest);
    packed(least, greatest)
}

/// The range from one value to another, as a word of a closure.
pub(crate) fn packed(least: u32, greatest: u32) -> u64 {
    u64::from(least) << 32 | u64::from(greatest)
}

/// The ends of a range.
pub(crate) fn ends(word: u64) -> (u32, u32) {
    ((word >> 32) as u32, word as u32)
}
