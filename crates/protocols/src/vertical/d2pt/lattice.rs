//! A site's records and the lattice of their full-domain generalizations: every value of a
//! quasi-identifier at the same level of its taxonomy (Sweeney 1997; D2PT section 2.1).
//!
//! Level 0 is the value. At level l stands the highest node above a value whose height is at most l, so
//! that the nodes of a level never overlap, even where branches differ in depth. Without a taxonomy
//! there are two levels, the value and everything.
//!
//! # Discloses
//! Nothing: no other site sees the records.

use std::collections::HashSet;

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
    fn parted(&self, levels: &[u16]) -> Option<(Classes, Option<usize>)> {
        let (classes, hidden) = self.grouped(levels);
        if self.suppression == Suppression::Outliers {
            return self.without_outliers(levels, classes, hidden);
        }
        let (k, limit) = (self.demand.k(), self.most_suppressed);
        if limit == 0 && classes.sizes().any(|size| size < k) {
            return None;
        }
        let mut holds = self.demand.holds(&classes, &self.records);
        if holds.iter().all(|holds| *holds) {
            return Some((classes, hidden));
        }
        if let Some(hidden) = hidden {
            holds[hidden] = false;
        }
        // First the classes that must go.
        let mut order = self.smallest_first(&classes, levels);
        order.sort_by_key(|class| holds[*class]);
        let must = holds.iter().filter(|holds| !**holds).count();
        for count in must..=order.len() {
            let goes = &order[..count];
            let records: u64 = goes.iter().map(|class| classes.size(*class)).sum();
            if records > limit {
                return None;
            }
            let mut is_hidden = vec![false; classes.count()];
            goes.iter().for_each(|class| is_hidden[*class] = true);
            let joined = self.hide(&classes, |row| is_hidden[classes.of_row(row)]);
            if self.demand.holds(&joined, &self.records)[0] {
                return Some((joined, Some(0)));
            }
        }
        None
    }

    /// Datafly's own rule: only classes with fewer than k records are suppressed, once they have k records
    /// together at most. If they have fewer than k, single records of other classes are suppressed with
    /// them until there are k (Sweeney's "enforce k requirement on suppressed tuples"). What is asked
    /// beyond k, every class must satisfy at these levels.
    fn without_outliers(
        &self,
        levels: &[u16],
        classes: Classes,
        hidden: Option<usize>,
    ) -> Option<(Classes, Option<usize>)> {
        let k = self.demand.k();
        let is_small = |class: usize| Some(class) != hidden && classes.size(class) < k;
        let small = (0..classes.count()).filter(|class| is_small(*class));
        let outliers: u64 = small.map(|class| classes.size(class)).sum();
        if outliers > k {
            return None;
        }
        let all_hold = |classes: &Classes| {
            let holds = self.demand.holds(classes, &self.records);
            holds.into_iter().all(|holds| holds)
        };
        if outliers == 0 {
            return all_hold(&classes).then_some((classes, hidden));
        }
        let goes = |class: usize| is_small(class) || Some(class) == hidden;
        let mut is_hidden: Vec<bool> = (0..self.records.len())
            .map(|row| goes(classes.of_row(row)))
            .collect();
        let so_far = is_hidden.iter().filter(|hides| **hides).count() as u64;
        let missing = k.saturating_sub(so_far) as usize;
        match self.spared(&classes, &is_hidden, missing) {
            Some(spared) => spared.into_iter().for_each(|row| is_hidden[row] = true),
            None => {
                // A class that stays has k records.
                let mut others = self.smallest_first(&classes, levels).into_iter();
                let whole = others.find(|class| !goes(*class))?;
                let rows = classes.rows(whole).iter();
                rows.for_each(|row| is_hidden[*row as usize] = true);
            }
        }
        let joined = self.hide(&classes, |row| is_hidden[row]);
        all_hold(&joined).then_some((joined, Some(0)))
    }

    /// So many rows, in the order of their codes, whose classes satisfy the requirement without them;
    /// `None` if there are not so many.
    fn spared(&self, classes: &Classes, is_hidden: &[bool], missing: usize) -> Option<Vec<usize>> {
        let codes = |row: usize| -> Vec<u32> {
            let record = self.records[row] as usize;
            let columns = self.quasi.iter().chain(self.demand.sensitive);
            columns.map(|column| column.codes[record]).collect()
        };
        let sensitive = |row: usize| codes(row).split_off(self.attributes());
        let k = self.demand.k();
        let mut order: Vec<usize> = (0..self.records.len())
            .filter(|row| !is_hidden[*row] && classes.size(classes.of_row(*row)) > k)
            .collect();
        // Not in the order of records, which differs from run to run.
        order.sort_by_cached_key(|row| codes(*row));
        let mut spared: Vec<usize> = Vec::new();
        // Values that a class cannot spare.
        let mut needed: HashSet<(usize, Vec<u32>)> = HashSet::new();
        for row in order {
            if spared.len() == missing {
                break;
            }
            let class = classes.of_row(row);
            let values = (class, sensitive(row));
            if needed.contains(&values) {
                continue;
            }
            let rows = classes.rows(class).iter().map(|row| *row as usize);
            let left = rows.filter(|other| *other != row && !spared.contains(other));
            let left: Vec<u32> = left.map(|row| self.records[row]).collect();
            let alone = Classes::from_assignment(vec![0; left.len()], 1);
            if self.demand.holds(&alone, &left)[0] {
                spared.push(row);
            } else {
                needed.insert(values);
            }
        }
        (spared.len() == missing).then_some(spared)
    }

    /// All classes from the smallest on; not in the order of records, which differs from run to run.
    fn smallest_first(&self, classes: &Classes, levels: &[u16]) -> Vec<usize> {
        let mut order: Vec<usize> = (0..classes.count()).collect();
        order.sort_by_cached_key(|class| {
            (classes.size(*class), self.nodes(classes, *class, levels))
        });
        order
    }

    /// The classes that are left when some rows become one class, the first.
    fn hide(&self, classes: &Classes, is_hidden: impl Fn(usize) -> bool) -> Classes {
        let mut number = vec![0; classes.count()];
        let mut next = 1;
        for (class, number) in number.iter_mut().enumerate() {
            let mut rows = classes.rows(class).iter();
            if rows.any(|row| !is_hidden(*row as usize)) {
                *number = next;
                next += 1;
            }
        }
        let of_row = (0..self.records.len()).map(|row| match is_hidden(row) {
            true => 0,
            false => number[classes.of_row(row)],
        });
        let of_row: Vec<u32> = of_row.collect();
        Classes::from_assignment(of_row, next as usize)
    }
}

#[cfg(test)]
mod tests {
    use hedgerow_data::{Attribute, Codes, Role, Schema};
    use hedgerow_privacy::{Reference, Requirement, Scope, ScopeAttribute};
    use proptest::prelude::*;

    use super::*;

    /// Two quasi-identifiers without taxonomies and a sensitive attribute.
    fn schema() -> Schema {
        let attribute = |name: &str, role| Attribute {
            name: name.to_owned(),
            role,
            domain: Domain::integer(0, 4, 1).unwrap(),
            recode: None,
            spelling: hedgerow_data::Spelling::default(),
            publish_unique: false,
        };
        Schema::new(vec![
            attribute("p", Role::Quasi),
            attribute("q", Role::Quasi),
            attribute("s", Role::Sensitive),
        ])
    }

    /// Which records are suppressed at the lowest levels, and whether all classes satisfy the requirement;
    /// `None` if the levels are refused.
    fn suppressed(people: &[[u32; 3]], line: &str) -> Option<(Vec<bool>, bool)> {
        let schema = schema();
        let rows: Vec<u32> = (0..people.len() as u32).collect();
        let column = |position: usize| {
            let mut codes = Codes::for_size(5);
            people
                .iter()
                .for_each(|person| codes.push(person[position]));
            OwnColumn::new(&schema, position, &codes, &rows)
        };
        let (quasi, sensitive) = ([column(0), column(1)], [column(2)]);
        let references = sensitive.iter().map(OwnColumn::reference);
        let references: Vec<Reference> = references.collect();
        let sensitive_of_scope = ScopeAttribute {
            name: String::from("s"),
            values: 5,
            is_ordered: true,
            has_taxonomy: false,
        };
        let scope = Scope {
            sensitive: vec![sensitive_of_scope],
            ..Scope::default()
        };
        let requirement = Requirement::of_line(line, &scope).unwrap();
        let demand = Demand::new(&requirement, &sensitive, &references);
        let lattice = Lattice::new(&demand, &quasi, people.len(), Suppression::Outliers);
        let local = lattice.partition(&[0, 0])?;
        let classes = Classes::from_assignment(local.class_of, local.cells.len());
        let holds = demand.holds(&classes, &rows);
        Some((local.suppressed, holds.iter().all(|holds| *holds)))
    }

    /// Three outliers take one more record with them, not the only other class of 147.
    #[test]
    fn single_records_complete_the_outliers() {
        let mut people = vec![[1, 1, 0]; 147];
        people.extend([[0, 0, 0], [0, 0, 1], [2, 0, 0]]);
        people.rotate_left(60);
        let (hides, holds) = suppressed(&people, "k = 4").unwrap();
        assert!(holds);
        assert_eq!(hides.iter().filter(|hides| **hides).count(), 4);
        // The one record of another disease is what the class needs.
        people.iter_mut().find(|person| person[0] == 1).unwrap()[2] = 3;
        let (hides, holds) = suppressed(&people, "k = 4, l = 2").unwrap();
        assert!(holds);
        let spared = people.iter().zip(hides).filter(|(_, hides)| *hides);
        assert!(spared.clone().count() == 4 && spared.clone().all(|(person, _)| person[2] != 3));
        // Where no class can spare a record, the smallest goes whole.
        let people = [[[0; 3]; 1].as_slice(), &[[1; 3]; 2], &[[2; 3]; 2]].concat();
        let (hides, _) = suppressed(&people, "k = 2").unwrap();
        assert_eq!(hides, [true, true, true, false, false]);
    }

    proptest! {
        /// Whatever the skew: all classes satisfy the requirement, the suppressed are k unless a whole class
        /// had to go, and the order of records makes no difference to what is suppressed.
        #[test]
        fn outliers_and_no_more_are_suppressed(
            people in prop::collection::vec((0..40u32, 0..3u32, 0..12u32), 4..60),
            line in prop::sample::select(vec!["k = 2", "k = 4", "k = 4, l = 2", "k = 3, t = 0.4"]),
            turn in 0..60usize,
        ) {
            let skewed = |(p, q, s): &(u32, u32, u32)| {
                [p.saturating_sub(35), q.saturating_sub(1), s.saturating_sub(8)]
            };
            let mut people: Vec<[u32; 3]> = people.iter().map(skewed).collect();
            let mut seen = Vec::new();
            for _ in 0..2 {
                let found = suppressed(&people, line);
                let hidden = found.map(|(hides, holds)| {
                    assert!(holds, "every class satisfies the requirement");
                    let both = people.iter().zip(hides);
                    let mut hidden: Vec<[u32; 3]> = both.filter(|(_, hides)| *hides).map(|(person, _)| *person).collect();
                    hidden.sort_unstable();
                    hidden
                });
                seen.push(hidden);
                let turn = turn % people.len();
                people.rotate_left(turn);
            }
            prop_assert_eq!(&seen[0], &seen[1]);
            let k = if line.starts_with("k = 2") { 2 } else if line.starts_with("k = 3") { 3 } else { 4 };
            let hidden = seen[0].as_deref().unwrap_or_default();
            let is_class = |person: &[u32; 3]| {
                let same = |other: &&[u32; 3]| other[..2] == person[..2];
                let all = people.iter().filter(same).count();
                all >= k && hidden.iter().filter(same).count() == all
            };
            prop_assert!(hidden.len() <= k || hidden.iter().any(is_class));
        }
    }
}
