//! A site's records and the lattice of their full-domain generalizations: every value of a
//! quasi-identifier at the same level of its taxonomy (Sweeney 1997; D2PT section 2.1).
//!
//! Level 0 is the value. At level l stands the highest node above a value whose height is at most l, so
//! that the nodes of a level never overlap, even where branches differ in depth. Without a taxonomy
//! there are two levels, the value and everything.
//!
//! # Discloses
//! Nothing: no other site sees the records.

use hedgerow_data::{Cell, Domain};
use hedgerow_privacy::classes::Classes;

use super::super::own::{Demand, OwnColumn};
use super::settings::Suppression;

/// A level for each quasi-identifier of a site.
pub type Levels = Vec<u16>;

/// A quasi-identifier and the nodes at its levels.
struct Ladder<'a> {
    domain: &'a Domain,
    /// For each level, the interval of codes that each code is generalized to.
    intervals: Vec<Vec<(u32, u32)>>,
}

impl<'a> Ladder<'a> {
    fn new(domain: &'a Domain) -> Self {
        let size = domain.size();
        let values = (0..size).map(|code| (code, code)).collect();
        let everything = vec![(0, size.saturating_sub(1)); size as usize];
        let mut intervals: Vec<Vec<(u32, u32)>> = vec![values];
        if let Some(tree) = domain.taxonomy() {
            for level in 1..tree.height() {
                let highest = |code: u32| {
                    let mut node = tree.leaf(code);
                    while let Some(parent) = tree.parent(node)
                        && tree.node_height(parent) <= level
                    {
                        node = parent;
                    }
                    tree.interval(node)
                };
                intervals.push((0..size).map(highest).collect());
            }
        }
        intervals.push(everything);
        Self { domain, intervals }
    }

    fn height(&self) -> u16 {
        self.intervals.len() as u16 - 1
    }
}

/// A partition of the records that are left, and how a class is written.
#[derive(Debug, Clone)]
pub(super) struct Local {
    /// The class of each record that is left, in their order.
    pub(super) class_of: Vec<u32>,
    /// For each class, a cell for each quasi-identifier.
    pub(super) cells: Vec<Vec<Cell>>,
    /// For each record that is left, whether it is suppressed.
    pub(super) suppressed: Vec<bool>,
}

/// A site's records that are left, and all their full-domain generalizations.
pub struct Lattice<'a> {
    demand: &'a Demand<'a>,
    quasi: &'a [OwnColumn<'a>],
    ladders: Vec<Ladder<'a>>,
    /// The records that are left.
    records: Vec<u32>,
    /// For each record, whether it is suppressed already.
    suppressed: Vec<bool>,
    /// Which records may be suppressed.
    suppression: Suppression,
    /// How many, of all records, where that is a share.
    most_suppressed: u64,
    /// For each quasi-identifier and level, the loss (LM) over all records that are left.
    losses: Vec<Vec<f64>>,
}

impl<'a> Lattice<'a> {
    pub(super) fn new(
        demand: &'a Demand<'a>,
        quasi: &'a [OwnColumn<'a>],
        records: usize,
        suppression: Suppression,
    ) -> Self {
        let most_suppressed = match suppression {
            // At most all records, whatever share was asked for.
            Suppression::Share(share) => ((records as f64 * share) as u64).min(records as u64),
            Suppression::Outliers => 0,
        };
        let mut lattice = Self {
            demand,
            quasi,
            ladders: quasi
                .iter()
                .map(|column| Ladder::new(column.domain))
                .collect(),
            records: (0..records as u32).collect(),
            suppressed: vec![false; records],
            suppression,
            most_suppressed,
            losses: Vec::new(),
        };
        lattice.weigh();
        lattice
    }

    /// How many quasi-identifiers there are.
    pub fn attributes(&self) -> usize {
        self.ladders.len()
    }

    /// The highest level of a quasi-identifier.
    pub fn height(&self, attribute: usize) -> u16 {
        self.ladders[attribute].height()
    }

    /// Everything at its highest level.
    pub fn top(&self) -> Levels {
        self.ladders.iter().map(Ladder::height).collect()
    }

    /// How many different values of a quasi-identifier are left at a level.
    pub fn distinct(&self, attribute: usize, level: u16) -> usize {
        let mut found = self.generalized(attribute, level);
        found.sort_unstable();
        found.dedup();
        found.len()
    }

    /// Whether every class satisfies the requirement at these levels.
    pub fn holds(&self, levels: &[u16]) -> bool {
        self.parted(levels).is_some()
    }

    /// The mean over cells of how much of its domain a value covers (LM of TG12, equation 1).
    pub fn loss(&self, levels: &[u16]) -> f64 {
        let each = levels.iter().zip(&self.losses);
        each.map(|(level, losses)| losses[*level as usize])
            .sum::<f64>()
            / self.attributes().max(1) as f64
    }

    /// The sum of squared class sizes at these levels.
    pub fn discernibility(&self, levels: &[u16]) -> u64 {
        let (classes, _) = self.grouped(levels);
        classes.sizes().map(|size| size * size).sum()
    }

    /// The classes at these levels; `None` if they do not satisfy the requirement.
    pub(super) fn partition(&self, levels: &[u16]) -> Option<Local> {
        let (classes, hidden) = self.parted(levels)?;
        let cell = |attribute: usize, class: usize| {
            let row = classes.rows(class)[0] as usize;
            let (ladder, column) = (&self.ladders[attribute], &self.quasi[attribute]);
            let level = if Some(class) == hidden {
                ladder.height()
            } else {
                levels[attribute]
            };
            let code = column.codes[self.records[row] as usize];
            let (least, greatest) = ladder.intervals[level as usize][code as usize];
            Cell::Interval(least, greatest)
        };
        let cells = |class| {
            let attributes = 0..self.attributes();
            attributes.map(|attribute| cell(attribute, class)).collect()
        };
        let of_row = (0..self.records.len()).map(|row| classes.of_row(row));
        Some(Local {
            suppressed: of_row.clone().map(|class| Some(class) == hidden).collect(),
            class_of: of_row.map(|class| class as u32).collect(),
            cells: (0..classes.count()).map(cells).collect(),
        })
    }

    /// As [`Lattice::partition`]; where nothing holds, all that is left is one class.
    pub(super) fn partition_or_whole(&self, levels: &[u16]) -> Local {
        self.partition(levels).unwrap_or_else(|| {
            let everything = |ladder: &Ladder<'_>| {
                let last = ladder.domain.size().saturating_sub(1);
                Cell::Interval(0, last)
            };
            Local {
                class_of: vec![0; self.records.len()],
                cells: vec![self.ladders.iter().map(everything).collect()],
                suppressed: vec![false; self.records.len()],
            }
        })
    }

    /// Goes on with some of the records, of which some are suppressed. Both slices are in the order of
    /// the records that were left so far.
    pub(super) fn keep(&mut self, stays: &[bool], suppressed: &[bool]) {
        let mut places = stays.iter();
        self.records.retain(|_| places.next() == Some(&true));
        let both = stays.iter().zip(suppressed);
        self.suppressed = both
            .filter(|(stays, _)| **stays)
            .map(|(_, suppressed)| *suppressed)
            .collect();
        self.weigh();
    }

    /// The records that are left.
    pub(super) fn records(&self) -> &[u32] {
        &self.records
    }

    fn weigh(&mut self) {
        let records = self.records.len().max(1) as f64;
        let weigh = |(ladder, column): (&Ladder<'_>, &OwnColumn<'_>)| -> Vec<f64> {
            let width = f64::from(ladder.domain.size().saturating_sub(1).max(1));
            let levels = ladder.intervals.iter();
            levels
                .map(|intervals| {
                    let lost = self.records.iter().map(|record| {
                        let code = column.codes[*record as usize];
                        let (least, greatest) = intervals[code as usize];
                        f64::from(greatest - least) / width
                    });
                    lost.sum::<f64>() / records
                })
                .collect()
        };
        self.losses = self.ladders.iter().zip(self.quasi).map(weigh).collect();
    }

    /// The least code under the node to which each record is generalized; the code names the node.
    fn generalized(&self, attribute: usize, level: u16) -> Vec<u32> {
        let intervals = &self.ladders[attribute].intervals[level as usize];
        let codes = &self.quasi[attribute].codes;
        let records = self.records.iter();
        records
            .map(|record| intervals[codes[*record as usize] as usize].0)
            .collect()
    }

    /// Records grouped by the nodes to which they are generalized, with suppressed records in a class of
    /// their own; and which class that is. At the highest levels suppressed records are like all others.
    fn grouped(&self, levels: &[u16]) -> (Classes, Option<usize>) {
        let mut columns: Vec<Vec<u32>> = (0..self.attributes())
            .map(|attribute| self.generalized(attribute, levels[attribute]))
            .collect();
        let first = self.suppressed.iter().position(|suppressed| *suppressed);
        let first = first.filter(|_| levels != self.top());
        if first.is_some() {
            for row in (0..self.records.len()).filter(|row| self.suppressed[*row]) {
                columns.iter_mut().for_each(|column| column[row] = 0);
            }
            let hides = self.suppressed.iter().map(|hides| u32::from(*hides));
            columns.push(hides.collect());
        }
        let columns: Vec<&[u32]> = columns.iter().map(Vec::as_slice).collect();
        let classes = Classes::group(&columns, self.records.len());
        let hidden = first.map(|row| classes.of_row(row));
        (classes, hidden)
    }

    /// The nodes that a class stands under at these levels.
    fn nodes(&self, classes: &Classes, class: usize, levels: &[u16]) -> Vec<u32> {
        let record = self.records[classes.rows(class)[0] as usize] as usize;
        let attributes = self.ladders.iter().zip(self.quasi).zip(levels);
        attributes
            .map(|((ladder, column), level)| {
                ladder.intervals[*level as usize][column.codes[record] as usize].0
            })
            .collect()
    }

    /// Classes that satisfy the requirement, and the class of the suppressed among them. Classes that do
    /// not satisfy it are suppressed, as one class, if so many records may be; that class must satisfy
    /// the requirement too, and takes in the smallest other classes until it does.
    ///
    /// By Datafly's own rule only classes with fewer than k records are suppressed, once they have k
    /// records together at most; if any are suppressed, then as many more that the class has k of them
    /// (Sweeney's "enforce k requirement on suppressed tuples"). What is asked beyond k, every class must
    /// satisfy at these levels.
    fn parted(&self, levels: &[u16]) -> Option<(Classes, Option<usize>)> {
        let (classes, hidden) = self.grouped(levels);
        let k = self.demand.k();
        let is_small = |class: usize| Some(class) != hidden && classes.size(class) < k;
        let limit = match self.suppression {
            Suppression::Share(_) => {
                let limit = self.most_suppressed;
                if limit == 0 && classes.sizes().any(|size| size < k) {
                    return None;
                }
                limit
            }
            Suppression::Outliers => {
                let small = (0..classes.count()).filter(|class| is_small(*class));
                if small.map(|class| classes.size(class)).sum::<u64>() > k {
                    return None;
                }
                self.records.len() as u64
            }
        };
        let mut holds = self.demand.holds(&classes, &self.records);
        if holds.iter().all(|holds| *holds) {
            return Some((classes, hidden));
        }
        if self.suppression == Suppression::Outliers {
            holds = (0..classes.count()).map(|class| !is_small(class)).collect();
            if holds.iter().all(|holds| *holds) {
                // Something else than k fails.
                return None;
            }
        }
        if let Some(hidden) = hidden {
            holds[hidden] = false;
        }
        let mut order: Vec<usize> = (0..classes.count()).collect();
        // First the classes that must go, then the others from the smallest on; not in the order of
        // records, which differs from run to run.
        order.sort_by_cached_key(|class| {
            let nodes = self.nodes(&classes, *class, levels);
            (holds[*class], classes.size(*class), nodes)
        });
        let must = holds.iter().filter(|holds| !**holds).count();
        for count in must..=order.len() {
            let goes = &order[..count];
            let records: u64 = goes.iter().map(|class| classes.size(*class)).sum();
            if records > limit {
                return None;
            }
            let mut number = vec![u32::MAX; classes.count()];
            goes.iter().for_each(|class| number[*class] = 0);
            let mut next = 1;
            for number in number.iter_mut().filter(|number| **number == u32::MAX) {
                *number = next;
                next += 1;
            }
            let of_row = (0..self.records.len()).map(|row| number[classes.of_row(row)]);
            let joined = Classes::from_assignment(of_row.collect(), next as usize);
            let holds = self.demand.holds(&joined, &self.records);
            match self.suppression {
                Suppression::Share(_) if holds[0] => return Some((joined, Some(0))),
                Suppression::Outliers if joined.size(0) >= k => {
                    return holds
                        .iter()
                        .all(|holds| *holds)
                        .then_some((joined, Some(0)));
                }
                _ => {}
            }
        }
        None
    }
}
