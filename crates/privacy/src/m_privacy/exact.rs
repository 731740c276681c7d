//! The exact strategy: the worst coalition by bounds on the sites' counts instead of enumeration.
//! Not in MPRIV; see the specification, protocols section 3.
//!
//! A conjunction breaks where one of its constraints does, so each is brought to its worst alone.
//! For k the worst coalition is that of the m largest sites, for site diversity any: one check.
//! For distinct l a branch and bound looks for n_G - m sites that have fewer than l values among
//! them: the coalition of all others breaches. No such sites, no breach; then nothing is checked.
//! To find such sites is hard in general (it is the minimum union problem), so the search may grow
//! with the number of coalitions, as every strategy does; the bounds keep it small on classes that
//! are clearly safe or clearly not.
//!
//! Each node of the branch and bound is counted, cut or not, so that the cost can be compared with
//! that of strategies that only check.

use std::ops::Range;
use std::sync::Arc;

use super::fitness::diversity_demanded;
use super::search::{Course, first_breach};
use super::{Coalition, Step};
use crate::collusion::Members;
use crate::model::Model;

/// The counts of a class from which bounds are computed.
#[derive(Debug)]
pub(super) struct Bounds {
    /// Sites by records, the largest first.
    largest: Vec<usize>,
    /// Whether there is a demand on the number of records or of sites.
    counts_records: bool,
    /// l of distinct diversity; 0 if not demanded.
    l: usize,
    /// For each sensitive attribute, each site's values, by their places among all of the class.
    values: Vec<Vec<Vec<usize>>>,
}

impl Bounds {
    pub(super) fn new(class: &Members, models: &[Model]) -> Self {
        let mut largest: Vec<usize> = (0..class.sites()).collect();
        largest.sort_by_key(|site| std::cmp::Reverse(class.sizes()[*site]));
        let is_distinct = |model: &Model| matches!(model, Model::DistinctDiversity { .. });
        Self {
            largest,
            counts_records: models.iter().any(|model| !is_distinct(model)),
            l: diversity_demanded(models).unwrap_or(0) as usize,
            values: (0..class.attributes())
                .map(|attribute| {
                    let sites = 0..class.sites();
                    sites
                        .map(|site| class.places(attribute, site).collect())
                        .collect()
                })
                .collect(),
        }
    }
}

/// The coalitions to check in turn, each as its sites: if no coalition in the list breaches, no
/// coalition of m sites does.
#[derive(Debug)]
pub(super) struct Exact {
    bounds: Arc<Bounds>,
    m: usize,
    is_size_due: bool,
    /// The sensitive attributes whose values are not looked at yet.
    attributes: Range<usize>,
    nodes: u64,
    breach: Option<Coalition>,
}

impl Exact {
    /// `m` is less than the number of sites, or 0.
    pub(super) fn new(bounds: Arc<Bounds>, m: usize) -> Self {
        // With m = 0 the only coalition is empty, and is also the coalition of the m largest sites.
        let is_diversity_due = bounds.l > 0 && m > 0;
        Self {
            m,
            is_size_due: bounds.counts_records || m == 0,
            attributes: 0..if is_diversity_due {
                bounds.values.len()
            } else {
                0
            },
            nodes: 0,
            breach: None,
            bounds,
        }
    }

    /// The coalition that leaves fewer than l values of an attribute, if such a coalition exists.
    fn against_diversity(&mut self, attribute: usize) -> Option<Vec<usize>> {
        let values = &self.bounds.values[attribute];
        let mut search = FewValues::new(values, self.bounds.l - 1, values.len() - self.m);
        let is_found = search.find();
        self.nodes += search.nodes;
        is_found.then(|| {
            let mut goes = vec![true; values.len()];
            search.kept.sort_unstable();
            let stay = search.kept.iter().take(search.needed);
            stay.for_each(|site| goes[*site] = false);
            (0..values.len()).filter(|site| goes[*site]).collect()
        })
    }
}

impl Iterator for Exact {
    type Item = Vec<usize>;

    fn next(&mut self) -> Option<Vec<usize>> {
        if std::mem::take(&mut self.is_size_due) {
            return Some(self.bounds.largest[..self.m].to_vec());
        }
        while let Some(attribute) = self.attributes.next() {
            if let Some(coalition) = self.against_diversity(attribute) {
                return Some(coalition);
            }
        }
        None
    }
}

impl Course for Exact {
    fn ask(&mut self, _batch: usize) -> Step {
        if let Some(coalition) = self.breach {
            return Step::Breached(coalition);
        }
        match self.next() {
            Some(coalition) => Step::Check(vec![coalition.into_iter().collect()]),
            None => Step::Private,
        }
    }

    fn learn(&mut self, coalitions: &[Coalition], breaches: &[bool]) {
        self.breach = first_breach(coalitions, breaches);
    }

    fn bounds(&self) -> u64 {
        self.nodes
    }
}

/// The search for `needed` sites with at most `most` values among them. It goes as deep as there
/// are sites to keep, so the path to the current node is a list and not the call stack.
struct FewValues<'a> {
    /// The values of each site.
    values: &'a [Vec<usize>],
    most: usize,
    needed: usize,
    nodes: u64,
    /// The sites kept at the current node.
    kept: Vec<usize>,
    /// The values of the sites kept, and for each value whether it is among them.
    union: Vec<usize>,
    is_in_union: Vec<bool>,
    /// The sites that earlier branches beside the path kept.
    tried: Vec<usize>,
}

/// A node of the search with some branches searched, and how many values and sites were kept before
/// them.
struct Node {
    open: Vec<usize>,
    branch: usize,
    kept: usize,
    union: usize,
    tried: usize,
}

impl<'a> FewValues<'a> {
    fn new(values: &'a [Vec<usize>], most: usize, needed: usize) -> Self {
        let greatest = values.iter().flatten().max();
        Self {
            values,
            most,
            needed,
            nodes: 0,
            kept: Vec::new(),
            union: Vec::new(),
            is_in_union: vec![false; greatest.map_or(0, |value| value + 1)],
            tried: Vec::new(),
        }
    }

    /// Whether such sites exist; then they are among the kept sites.
    fn find(&mut self) -> bool {
        let mut path: Vec<Node> = Vec::new();
        let mut open: Vec<usize> = (0..self.values.len()).collect();
        loop {
            path.extend(self.enter(open));
            if self.kept.len() >= self.needed {
                return true;
            }
            open = loop {
                let Some(node) = path.last_mut() else {
                    return false;
                };
                if let Some(open) = self.next_branch(node) {
                    break open;
                }
                path.pop();
            };
        }
    }

    /// Looks at a node whose `open` sites may be kept too: `None` if there is nothing more to search.
    fn enter(&mut self, mut open: Vec<usize>) -> Option<Node> {
        self.nodes += 1;
        // A site that brings no new value is kept for free; a branch that could have had an already
        // tried site for free was searched with it.
        if self.tried.iter().any(|site| self.new_values(*site) == 0) {
            return None;
        }
        let free = open.iter().copied();
        let free: Vec<usize> = free.filter(|site| self.new_values(*site) == 0).collect();
        self.kept.extend(free);
        let room = self.most - self.union.len();
        open.retain(|site| (1..=room).contains(&self.new_values(*site)));
        if self.kept.len() + self.most_more(&open, room) < self.needed {
            return None;
        }
        open.sort_by_key(|site| self.new_values(*site));
        Some(Node {
            open,
            branch: 0,
            kept: self.kept.len(),
            union: self.union.len(),
            tried: self.tried.len(),
        })
    }

    /// Keeps the next of a node's open sites: the sites behind it are open then. `None` if too few are.
    fn next_branch(&mut self, node: &mut Node) -> Option<Vec<usize>> {
        self.kept.truncate(node.kept);
        for value in self.union.drain(node.union..) {
            self.is_in_union[value] = false;
        }
        self.tried.truncate(node.tried);
        if node.branch > 0 {
            self.tried.push(node.open[node.branch - 1]);
            node.tried += 1;
        }
        let (site, behind) = node.open[node.branch..].split_first()?;
        if node.kept + 1 + behind.len() < self.needed {
            return None;
        }
        node.branch += 1;
        self.kept.push(*site);
        for value in &self.values[*site] {
            if !self.is_in_union[*value] {
                self.is_in_union[*value] = true;
                self.union.push(*value);
            }
        }
        Some(behind.to_vec())
    }

    /// How many of a site's values no site kept has.
    fn new_values(&self, site: usize) -> usize {
        let is_new = |value: &&usize| !self.is_in_union[**value];
        self.values[site].iter().filter(is_new).count()
    }

    /// A bound on how many of the open sites can be kept with `room` more values. A site with w new
    /// values gives each of them 1/w; a kept site gives 1 in all to the values that are added, and these
    /// receive no more than the `room` values that receive most.
    fn most_more(&self, open: &[usize], room: usize) -> usize {
        let mut received = vec![0.0; self.is_in_union.len()];
        for site in open {
            let share = 1.0 / self.new_values(*site) as f64;
            for value in &self.values[*site] {
                if !self.is_in_union[*value] {
                    received[*value] += share;
                }
            }
        }
        received.sort_unstable_by(|a, b| b.total_cmp(a));
        // Thirds do not add up to whole numbers.
        let most: f64 = received.iter().take(room).sum::<f64>() + 1e-6;
        most as usize
    }
}
