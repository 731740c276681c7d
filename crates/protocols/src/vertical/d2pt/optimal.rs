//! The optimal full-domain generalization for a loss, by best-first search of the lattice with
//! predictive tagging (as Flash, Kohlmayer et al. 2012, and OLA, El Emam et al. 2009).
//!
//! Losses grow on the way up, and a requirement that holds at some levels holds at all levels above
//! them, so the levels of least loss at which it holds are the best. Levels below failing levels are
//! known to fail. From levels that are not decided yet a path of the cheapest steps leads to the top; a
//! binary search on the path decides most of its levels. After the allowed number of checks the best
//! levels found so far are the answer, never worse than Datafly's. With suppression, or models that are
//! not monotone, the answer satisfies the requirement but may not be the best.
//!
//! # Discloses
//! Nothing: no other site sees the levels.

use std::cmp::Ordering;
use std::collections::{BTreeSet, BinaryHeap};

use super::anonymizer::{Anonymizer, Datafly};
use super::lattice::{Lattice, Levels};

/// The loss of generalizing that is kept small.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Loss {
    /// The mean over cells of how much of its domain a value covers (LM of TG12).
    #[default]
    Cells,
    /// The sum of squared class sizes (Bayardo and Agrawal 2005).
    Discernibility,
}

/// The best levels for a loss.
#[derive(Debug, Clone, Copy)]
pub struct Optimal {
    /// The loss that is kept small.
    pub loss: Loss,
    /// How often the requirement may be checked before the best levels so far are taken.
    pub most_checks: usize,
}

impl Optimal {
    /// The levels that lose least of cells.
    pub const BY_CELLS: Self = Self {
        loss: Loss::Cells,
        most_checks: 20_000,
    };
}

impl Default for Optimal {
    fn default() -> Self {
        Self::BY_CELLS
    }
}

impl Anonymizer for Optimal {
    fn generalize(&self, lattice: &Lattice<'_>, above: Option<&Levels>) -> Levels {
        let first = Datafly.generalize(lattice, above);
        let mut search = Search {
            lattice,
            loss: self.loss,
            best: (self.loss.of(lattice, &first), first),
            failing: Vec::new(),
            checks_left: self.most_checks,
        };
        let mut seen: BTreeSet<Levels> = BTreeSet::new();
        let mut open: BinaryHeap<Open> = BinaryHeap::new();
        let starts = match above {
            None => vec![vec![0; lattice.attributes()]],
            Some(levels) => search.steps(levels),
        };
        for levels in starts {
            search.open(levels, &mut seen, &mut open);
        }
        while let Some(Open { loss, levels }) = open.pop() {
            if loss >= search.best.0 || search.checks_left == 0 {
                break;
            }
            if !search.is_known_to_fail(&levels) && search.climb(&levels) {
                // These levels have the least loss of all open levels, and they hold.
                search.best = (loss, levels);
                break;
            }
            for next in search.steps(&levels) {
                search.open(next, &mut seen, &mut open);
            }
        }
        search.best.1
    }
}

impl Loss {
    fn of(self, lattice: &Lattice<'_>, levels: &[u16]) -> f64 {
        match self {
            Self::Cells => lattice.loss(levels),
            // Exact up to 2^53, which is the square of 94 million records.
            Self::Discernibility => lattice.discernibility(levels) as f64,
        }
    }
}

/// Levels to be looked at, least loss first; levels of equal loss in the order of levels.
#[derive(PartialEq)]
struct Open {
    loss: f64,
    levels: Levels,
}

impl Eq for Open {}

impl PartialOrd for Open {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Open {
    fn cmp(&self, other: &Self) -> Ordering {
        let loss = other.loss.total_cmp(&self.loss);
        loss.then_with(|| other.levels.cmp(&self.levels))
    }
}

struct Search<'s> {
    lattice: &'s Lattice<'s>,
    loss: Loss,
    best: (f64, Levels),
    /// The highest levels that are known to fail.
    failing: Vec<Levels>,
    checks_left: usize,
}

impl Search<'_> {
    fn open(&self, levels: Levels, seen: &mut BTreeSet<Levels>, open: &mut BinaryHeap<Open>) {
        if seen.insert(levels.clone()) {
            let loss = self.loss.of(self.lattice, &levels);
            if loss < self.best.0 {
                open.push(Open { loss, levels });
            }
        }
    }

    /// One level up with each quasi-identifier that can go up.
    fn steps(&self, levels: &[u16]) -> Vec<Levels> {
        let attributes = (0..levels.len()).filter(|at| levels[*at] < self.lattice.height(*at));
        let step = |attribute: usize| {
            let mut next = levels.to_vec();
            next[attribute] += 1;
            next
        };
        attributes.map(step).collect()
    }

    fn is_known_to_fail(&self, levels: &[u16]) -> bool {
        self.failing.iter().any(|failing| is_below(levels, failing))
    }

    fn check(&mut self, levels: &Levels) -> bool {
        self.checks_left = self.checks_left.saturating_sub(1);
        if self.lattice.holds(levels) {
            let loss = self.loss.of(self.lattice, levels);
            if loss < self.best.0 {
                self.best = (loss, levels.clone());
            }
            return true;
        }
        self.failing.retain(|failing| !is_below(failing, levels));
        self.failing.push(levels.clone());
        false
    }

    /// Whether the requirement holds at these levels; if not, finds where it begins to hold on a path of
    /// cheap steps.
    fn climb(&mut self, levels: &Levels) -> bool {
        if self.check(levels) {
            return true;
        }
        let mut path = vec![levels.clone()];
        while let Some(next) = path.last().and_then(|last| {
            let steps = self.steps(last).into_iter();
            let weighed = steps.map(|step| (self.lattice.loss(&step), step));
            let least = weighed.min_by(|a, b| a.0.total_cmp(&b.0));
            least.map(|(_, step)| step)
        }) {
            path.push(next);
        }
        let (mut fails, mut holds) = (0, path.len() - 1);
        while fails + 1 < holds && self.checks_left > 0 {
            let middle = fails.midpoint(holds);
            if self.is_known_to_fail(&path[middle]) || !self.check(&path[middle]) {
                fails = middle;
            } else {
                holds = middle;
            }
        }
        false
    }
}

/// Whether levels are at most others everywhere.
fn is_below(levels: &[u16], others: &[u16]) -> bool {
    levels.iter().zip(others).all(|(own, other)| own <= other)
}
