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

use hedgerow_privacy::Model;
use hedgerow_privacy::collusion::Members;

use super::fitness::diversity_demanded;
use super::search::{Course, first_breach};
use super::{Coalition, Step};

/// What the bounds need of a class.
#[derive(Debug, Clone)]
pub(super) struct Bounds {
    /// Sites by records, the largest first.
    largest: Vec<usize>,
    /// Whether there is a demand on the number of records or of sites.
    counts_records: bool,
    /// l of distinct diversity; 0 if not demanded.
    l: usize,
    /// For each sensitive attribute, each site's values, ascending.
    values: Vec<Vec<Vec<u32>>>,
}

impl Bounds {
    pub(super) fn new(class: &Members, models: &[Model]) -> Self {
        let mut largest: Vec<usize> = (0..class.sites()).collect();
        largest.sort_by_key(|site| std::cmp::Reverse(class.sizes()[*site]));
        let values = |attribute| {
            let sites = 0..class.sites();
            sites.map(move |site| class.values(attribute, site).collect())
        };
        let is_distinct = |model: &Model| matches!(model, Model::DistinctDiversity { .. });
        Self {
            largest,
            counts_records: models.iter().any(|model| !is_distinct(model)),
            l: diversity_demanded(models).unwrap_or(0) as usize,
            values: (0..class.attributes())
                .map(|attribute| values(attribute).collect())
                .collect(),
        }
    }
}

#[derive(Debug)]
pub(super) struct Exact {
    bounds: Bounds,
    m: usize,
    stage: Stage,
    nodes: u64,
}

#[derive(Debug)]
enum Stage {
    Largest,
    /// Values of this sensitive attribute and those behind it.
    Diversity(usize),
    Breached(Coalition),
}

impl Exact {
    /// `m` is less than the number of sites.
    pub(super) fn new(bounds: Bounds, m: usize) -> Self {
        Self {
            bounds,
            m,
            stage: Stage::Largest,
            nodes: 0,
        }
    }

    /// The coalition that leaves fewer than l values of an attribute, if there is one.
    fn against_diversity(&mut self, attribute: usize) -> Option<Coalition> {
        let values = &self.bounds.values[attribute];
        let mut search = FewValues {
            values,
            most: self.bounds.l.saturating_sub(1),
            needed: values.len() - self.m,
            nodes: 0,
        };
        let everybody: Vec<usize> = (0..values.len()).collect();
        let left = search.find(&[], Coalition::NOBODY, &everybody, &[]);
        self.nodes += search.nodes;
        left.map(|left| Coalition::first(values.len()).without(left))
    }
}

impl Course for Exact {
    fn ask(&mut self, _batch: usize) -> Step {
        loop {
            match self.stage {
                Stage::Breached(coalition) => return Step::Breached(coalition),
                // With m = 0 there is one coalition, and this is it.
                Stage::Largest if self.bounds.counts_records || self.m == 0 => {
                    let largest = self.bounds.largest.iter().take(self.m);
                    return Step::Check(vec![largest.copied().collect()]);
                }
                Stage::Largest => self.stage = Stage::Diversity(0),
                Stage::Diversity(attribute) => {
                    let is_last = attribute == self.bounds.values.len();
                    if self.bounds.l == 0 || self.m == 0 || is_last {
                        return Step::Private;
                    }
                    if let Some(coalition) = self.against_diversity(attribute) {
                        return Step::Check(vec![coalition]);
                    }
                    self.stage = Stage::Diversity(attribute + 1);
                }
            }
        }
    }

    fn learn(&mut self, coalitions: &[Coalition], breaches: &[bool]) {
        self.stage = match (first_breach(coalitions, breaches), &self.stage) {
            (Some(coalition), _) => Stage::Breached(coalition),
            (None, Stage::Diversity(attribute)) => Stage::Diversity(attribute + 1),
            (None, Stage::Largest | Stage::Breached(_)) => Stage::Diversity(0),
        };
    }

    fn bounds(&self) -> u64 {
        self.nodes
    }
}

/// The search for `needed` sites with at most `most` values among them.
struct FewValues<'a> {
    values: &'a [Vec<u32>],
    most: usize,
    needed: usize,
    nodes: u64,
}

impl FewValues<'_> {
    /// Such sites among those `kept`, whose values are `union`, and some of the `open` ones;
    /// branches with the sites `tried` were searched before.
    fn find(
        &mut self,
        union: &[u32],
        kept: Coalition,
        open: &[usize],
        tried: &[usize],
    ) -> Option<Coalition> {
        self.nodes += 1;
        let new = |site: usize| new_values(&self.values[site], union);
        // Who brings nothing new is kept for free; a branch that could have had a tried one for
        // free was searched with it.
        if tried.iter().any(|site| new(*site) == 0) {
            return None;
        }
        let free = open.iter().copied().filter(|site| new(*site) == 0);
        let kept = free.fold(kept, Coalition::with);
        if kept.size() >= self.needed {
            return Some(kept.sites().take(self.needed).collect());
        }
        let room = self.most - union.len();
        let mut open: Vec<usize> = open
            .iter()
            .copied()
            .filter(|site| (1..=room).contains(&new(*site)))
            .collect();
        if kept.size() + self.most_more(union, &open, room) < self.needed {
            return None;
        }
        open.sort_by_key(|site| new(*site));
        for (place, site) in open.iter().enumerate() {
            if kept.size() + open.len() - place < self.needed {
                return None;
            }
            let mut wider = [union, &self.values[*site]].concat();
            wider.sort_unstable();
            wider.dedup();
            let tried = [tried, &open[..place]].concat();
            let found = self.find(&wider, kept.with(*site), &open[place + 1..], &tried);
            if found.is_some() {
                return found;
            }
        }
        None
    }

    /// A bound on how many of the open sites can be kept with `room` more values. A site with w
    /// new values gives each of them 1/w; a kept one gives 1 in all to the values that are added,
    /// and those receive no more than the `room` values that receive most.
    fn most_more(&self, union: &[u32], open: &[usize], room: usize) -> usize {
        let mut shares: Vec<(u32, f64)> = Vec::new();
        for site in open {
            let values = &self.values[*site];
            let share = 1.0 / new_values(values, union) as f64;
            let new = values
                .iter()
                .filter(|value| union.binary_search(value).is_err());
            shares.extend(new.map(|value| (*value, share)));
        }
        shares.sort_unstable_by_key(|(value, _)| *value);
        let same = shares.chunk_by(|a, b| a.0 == b.0);
        let mut received: Vec<f64> = same
            .map(|shares| shares.iter().map(|(_, share)| share).sum())
            .collect();
        received.sort_unstable_by(|a, b| b.total_cmp(a));
        // Thirds do not add up to whole numbers.
        let most: f64 = received.iter().take(room).sum::<f64>() + 1e-6;
        most as usize
    }
}

/// How many of the values are not in the union; both ascend.
fn new_values(values: &[u32], union: &[u32]) -> usize {
    let is_new = |value: &&u32| union.binary_search(value).is_err();
    values.iter().filter(is_new).count()
}
