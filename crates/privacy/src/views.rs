//! What several anonymized views of one table say together (TG12 section 8.2.1, Definitions 8.4 to 8.8).
//!
//! Who sees p views of the same n records, such as the clusterings of a run's iterations or two releases,
//! may ask which generalized records, one of each view, belong to one person. Such a set is a *hyperedge* if
//! some original record lies in all of them (Definition 8.4); the records that do are the product of its
//! cells' intersections (Lemma 8.5). n hyperedges that use every generalized record once are a *perfect
//! matching* (Definition 8.6), and the products of its hyperedges are a *possible world* (Definition 8.8). A
//! record is certain to be in the table if and only if every possible world includes it.
//!
//! Generalized records of one class are alike, so everything is counted class by class: a matching says how
//! many records each hyperedge of classes takes. To find matchings of three or more views is NP-hard, and to
//! count those of two is hard too: beyond a number of steps nothing but the hyperedges is said.

use std::collections::{BTreeMap, BTreeSet};

use hedgerow_data::{Cell, GeneralizedColumn};
use serde::Serialize;

/// The most hyperedges of classes that are looked at.
const MOST_EDGES: usize = 1 << 20;
/// The most steps in search of matchings.
const MOST_STEPS: u64 = 1 << 20;
/// The most numbers that the matchings found may have in all.
const MOST_NUMBERS: usize = 1 << 24;
/// Factors of a factorial that are taken one by one.
const FEW_FACTORS: u64 = 256;

/// Views of one table that cannot be views of one table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ViewsError {
    /// Another number of records.
    #[error("view {view} has {found} records, and the first {expected}")]
    Records {
        /// The view, counted from 1.
        view: usize,
        /// Records of the view.
        found: u64,
        /// Records of the first view.
        expected: u64,
    },
    /// Another number of quasi-identifiers.
    #[error("view {view} has {found} quasi-identifiers, and the first {expected}")]
    Attributes {
        /// The view, counted from 1.
        view: usize,
        /// Quasi-identifiers of the view.
        found: usize,
        /// Quasi-identifiers of the first view.
        expected: usize,
    },
    /// A view that leaves a generalized record without any record that the other views allow.
    #[error("class {class} of view {view} has no record in common with the other views")]
    Apart {
        /// The view, counted from 1.
        view: usize,
        /// The class, counted from 1 in the order of its first record.
        class: usize,
    },
    /// More hyperedges than can be looked at.
    #[error("more than {MOST_EDGES} classes overlap")]
    TooMany,
}

/// Generalized records of a view that are alike.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alike {
    /// The cells, one for each quasi-identifier.
    pub cells: Vec<Cell>,
    /// How many generalized records.
    pub records: u64,
}

/// A hyperedge of classes (Definition 8.4): one class of each view, and the records that all of them
/// generalize.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hyperedge {
    /// The class of each view, by its number there.
    pub classes: Vec<usize>,
    /// The product of the intersections of the cells (Lemma 8.5), attribute by attribute.
    pub records: Vec<Cell>,
}

impl Hyperedge {
    /// How many original records the hyperedge leaves possible.
    pub fn choices(&self) -> f64 {
        self.records
            .iter()
            .map(|cell| f64::from(cell.count()))
            .product()
    }

    fn includes(&self, record: &[u32]) -> bool {
        let mut cells = self.records.iter().zip(record);
        cells.all(|(cell, code)| cell.contains(*code))
    }
}

/// Views of one table.
#[derive(Debug, Clone)]
pub struct Views {
    /// The classes of each view, in the order of their first records.
    pub views: Vec<Vec<Alike>>,
    /// The hyperedges of classes.
    pub hyperedges: Vec<Hyperedge>,
}

/// The measures of several views, for people and as JSON.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ViewsMeasured {
    /// How many views there are.
    pub views: usize,
    /// Hyperedges of generalized records.
    pub hyperedges: f64,
    /// The fewest original records that a hyperedge leaves possible.
    pub fewest_choices: f64,
    /// Perfect matchings; `None` where they are too many to be found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matchings: Option<f64>,
    /// Possible worlds that differ: what the hyperedges of a matching leave possible, as a multiset.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worlds: Option<u64>,
    /// Original records that every possible world includes: their quasi-identifiers are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certain: Option<usize>,
}

/// How many records each hyperedge of classes takes in a matching.
type Taken = Vec<u64>;

impl Views {
    /// Some views, each by the columns of its quasi-identifiers, row by row, and by how many records each row
    /// stands for, where that is not one.
    pub fn new(views: &[(Vec<&GeneralizedColumn>, Option<&[u64]>)]) -> Result<Self, ViewsError> {
        let records = |(columns, counts): &(Vec<&GeneralizedColumn>, Option<&[u64]>)| match counts {
            None => columns.first().map_or(0, |c| c.codes.len() as u64),
            Some(counts) => counts.iter().sum(),
        };
        let (expected, attributes) = views.first().map_or((0, 0), |v| (records(v), v.0.len()));
        for (number, view) in (1..).zip(views) {
            let columns = &view.0;
            if columns.len() != attributes {
                return Err(ViewsError::Attributes {
                    view: number,
                    found: columns.len(),
                    expected: attributes,
                });
            }
            let found = records(view);
            if found != expected {
                return Err(ViewsError::Records {
                    view: number,
                    found,
                    expected,
                });
            }
        }
        let views = views.iter();
        Self::of_classes(
            views
                .map(|(columns, counts)| alike(columns, *counts))
                .collect(),
        )
    }

    /// Some views by their classes.
    pub fn of_classes(views: Vec<Vec<Alike>>) -> Result<Self, ViewsError> {
        let mut hyperedges: Vec<Hyperedge> = Vec::new();
        for (view, classes) in views.iter().enumerate() {
            let own = |(number, class): (usize, &Alike)| Hyperedge {
                classes: vec![number],
                records: class.cells.clone(),
            };
            let single = classes.iter().enumerate().map(own);
            if view == 0 {
                hyperedges = single.collect();
                continue;
            }
            let mut joined = Vec::new();
            for edge in &hyperedges {
                for (number, class) in classes.iter().enumerate() {
                    if let Some(records) = in_both(&edge.records, &class.cells) {
                        let classes = [edge.classes.as_slice(), &[number]].concat();
                        joined.push(Hyperedge { classes, records });
                    }
                }
                if joined.len() > MOST_EDGES {
                    return Err(ViewsError::TooMany);
                }
            }
            hyperedges = joined;
        }
        for (view, classes) in views.iter().enumerate() {
            let used: BTreeSet<usize> = hyperedges.iter().map(|edge| edge.classes[view]).collect();
            if let Some(class) = (0..classes.len()).find(|class| !used.contains(class)) {
                return Err(ViewsError::Apart {
                    view: view + 1,
                    class: class + 1,
                });
            }
        }
        Ok(Self { views, hyperedges })
    }

    /// Hyperedges of generalized records: each class stands for as many as it has.
    pub fn hyperedges(&self) -> f64 {
        let of_edge = |edge: &Hyperedge| -> f64 {
            let classes = edge.classes.iter().zip(&self.views);
            classes
                .map(|(class, view)| view[*class].records as f64)
                .product()
        };
        self.hyperedges.iter().map(of_edge).sum()
    }

    /// The measures of these views.
    pub fn measured(&self) -> ViewsMeasured {
        let found = self.matchings();
        let choices = self.hyperedges.iter().map(Hyperedge::choices);
        ViewsMeasured {
            views: self.views.len(),
            hyperedges: self.hyperedges(),
            fewest_choices: choices.fold(f64::INFINITY, f64::min),
            matchings: found
                .as_ref()
                .map(|all| all.iter().map(|taken| self.times(taken)).sum()),
            worlds: found.as_ref().map(|all| self.worlds(all).len() as u64),
            certain: found.as_ref().map(|all| self.certain(all).len()),
        }
    }

    /// The share of possible worlds that include a record (TG12 section 8.2.1): every perfect matching, and
    /// every choice among the records that its hyperedges leave possible, counts the same. `None` where
    /// matchings are too many to be found.
    pub fn share_with(&self, record: &[u32]) -> Option<f64> {
        let (mut including, mut all) = (0.0, 0.0);
        for taken in self.matchings()? {
            // The share of choices that pass the record over, hyperedge by hyperedge.
            let (mut worlds, mut without) = (self.times(&taken), 1.0);
            for (edge, times) in self.hyperedges.iter().zip(&taken) {
                let choices = edge.choices();
                worlds *= choices.powf(*times as f64);
                if edge.includes(record) {
                    without *= ((choices - 1.0) / choices).powf(*times as f64);
                }
            }
            all += worlds;
            including += worlds * (1.0 - without);
        }
        Some(including / all)
    }

    /// All perfect matchings, class by class; `None` where the search takes too long.
    fn matchings(&self) -> Option<Vec<Taken>> {
        let left: Vec<Vec<u64>> = self
            .views
            .iter()
            .map(|view| view.iter().map(|class| class.records).collect())
            .collect();
        let mut search = Search {
            edges: &self.hyperedges,
            open: left.iter().flatten().sum(),
            left,
            taken: Vec::new(),
            most: Vec::new(),
            found: Vec::new(),
        };
        search.go().then_some(search.found)
    }

    /// How many perfect matchings of generalized records a matching of classes stands for: records of a
    /// class may change places, and pairs that are alike are the same.
    fn times(&self, taken: &[u64]) -> f64 {
        let classes = self.views.iter().flatten();
        let ways: f64 = classes.map(|class| logarithm(class.records)).sum();
        let same: f64 = taken.iter().map(|times| logarithm(*times)).sum();
        (ways - same).exp().round()
    }

    /// The possible worlds that differ.
    fn worlds(&self, matchings: &[Taken]) -> BTreeSet<Vec<(String, u64)>> {
        let world = |taken: &Taken| {
            let mut world: BTreeMap<String, u64> = BTreeMap::new();
            for (edge, times) in self
                .hyperedges
                .iter()
                .zip(taken)
                .filter(|(_, times)| **times > 0)
            {
                *world.entry(format!("{:?}", edge.records)).or_default() += times;
            }
            world.into_iter().collect()
        };
        matchings.iter().map(world).collect()
    }

    /// The records that every possible world includes.
    fn certain(&self, matchings: &[Taken]) -> BTreeSet<Vec<u32>> {
        let in_world = |taken: &Taken| -> BTreeSet<Vec<u32>> {
            let edges = self.hyperedges.iter().zip(taken);
            let sure = edges.filter(|(edge, times)| **times > 0 && edge.choices() == 1.0);
            sure.map(|(edge, _)| edge.records.iter().map(|cell| cell.bounds().0).collect())
                .collect()
        };
        let mut worlds = matchings.iter().map(in_world);
        let first = worlds.next().unwrap_or_default();
        worlds.fold(first, |sure, world| {
            sure.intersection(&world).cloned().collect()
        })
    }
}

/// The search for all perfect matchings: how many records each hyperedge takes, one after the other.
struct Search<'a> {
    edges: &'a [Hyperedge],
    /// Generalized records of each class that no hyperedge has taken yet.
    left: Vec<Vec<u64>>,
    /// The sum of `left`.
    open: u64,
    /// What the hyperedges so far take, and the most that each of them could.
    taken: Taken,
    most: Vec<u64>,
    found: Vec<Taken>,
}

impl Search<'_> {
    /// Finds all matchings; false where that takes too many steps, or too much memory. The search keeps its
    /// own stack, since there may be a million hyperedges.
    fn go(&mut self) -> bool {
        for _ in 0..MOST_STEPS {
            if let Some((least, most)) = self.range() {
                self.take(least, most);
                continue;
            }
            if self.taken.len() == self.edges.len() && self.open == 0 {
                self.found.push(self.taken.clone());
                if self.found.len().saturating_mul(self.edges.len()) > MOST_NUMBERS {
                    return false;
                }
            }
            // Back to the last hyperedge that can take one more.
            loop {
                let Some((times, most)) = self.give_back() else {
                    return true;
                };
                if times < most {
                    self.take(times + 1, most);
                    break;
                }
            }
        }
        false
    }

    /// How many records the next hyperedge can take; nothing where there is none, or none can be right.
    fn range(&self) -> Option<(u64, u64)> {
        let place = self.taken.len();
        let edge = self.edges.get(place)?;
        // Hyperedges of one class of the first view stand together: behind the last one, none may be left.
        let next = self.edges.get(place + 1);
        let is_last = next.is_none_or(|next| next.classes[0] != edge.classes[0]);
        let classes = edge.classes.iter().enumerate();
        let most = classes.map(|(view, class)| self.left[view][*class]).min()?;
        let least = match is_last {
            true => self.left[0][edge.classes[0]],
            false => 0,
        };
        (least <= most).then_some((least, most))
    }

    fn take(&mut self, times: u64, most: u64) {
        for (view, class) in self.edges[self.taken.len()].classes.iter().enumerate() {
            self.left[view][*class] -= times;
            self.open -= times;
        }
        self.taken.push(times);
        self.most.push(most);
    }

    /// What the last hyperedge took, and could take at most.
    fn give_back(&mut self) -> Option<(u64, u64)> {
        let (times, most) = self.taken.pop().zip(self.most.pop())?;
        for (view, class) in self.edges[self.taken.len()].classes.iter().enumerate() {
            self.left[view][*class] += times;
            self.open += times;
        }
        Some((times, most))
    }
}

/// The natural logarithm of a factorial.
fn logarithm(number: u64) -> f64 {
    if number <= FEW_FACTORS {
        return (2..=number).map(|factor| (factor as f64).ln()).sum();
    }
    // Stirling's series, whose next term is less than the rounding.
    let n = number as f64;
    let series = 1.0 / (12.0 * n) - 1.0 / (360.0 * n.powi(3));
    n * n.ln() - n + 0.5 * (std::f64::consts::TAU * n).ln() + series
}

/// The classes of a view.
fn alike(columns: &[&GeneralizedColumn], counts: Option<&[u64]>) -> Vec<Alike> {
    let rows = columns.first().map_or(0, |column| column.codes.len());
    let mut places: BTreeMap<Vec<&Cell>, usize> = BTreeMap::new();
    let mut classes: Vec<Alike> = Vec::new();
    for row in 0..rows {
        let cells = columns
            .iter()
            .map(|column| &column.cells[column.codes[row] as usize]);
        let cells: Vec<&Cell> = cells.collect();
        let place = *places.entry(cells).or_insert_with_key(|cells| {
            classes.push(Alike {
                cells: cells.iter().map(|cell| (*cell).clone()).collect(),
                records: 0,
            });
            classes.len() - 1
        });
        classes[place].records += counts.map_or(1, |counts| counts[row]);
    }
    classes
}

/// The records in two products of cells; `None` where there are none.
fn in_both(one: &[Cell], other: &[Cell]) -> Option<Vec<Cell>> {
    let both = |(one, other): (&Cell, &Cell)| {
        let ((a, b), (c, d)) = (one.bounds(), other.bounds());
        let (least, greatest) = (a.max(c), b.min(d));
        match (one, other) {
            (Cell::Interval(..), Cell::Interval(..)) => {
                (least <= greatest).then_some(Cell::Interval(least, greatest))
            }
            _ => {
                let codes = (least..=greatest).filter(|c| one.contains(*c) && other.contains(*c));
                Cell::set(codes.collect())
            }
        }
    };
    one.iter().zip(other).map(both).collect()
}

#[cfg(test)]
mod tests;
