//! Whether what is tried satisfies the requirement: the parts of a cut, or clusters that records
//! would leave and join.
//!
//! Demands on sizes and sensitive counts are decided by every site alone, from the sums that were
//! opened. Demands about sites are asked as thresholds: nobody learns how many records a site has in a
//! part, or which sites have records there.
//!
//! # Discloses
//! Once, the sensitive counts of the whole table; then as `sites`, `spread`, `sums` and `coalitions` say.

mod coalitions;
mod counted;
mod demands;
pub(super) mod evenness;
mod settings;
mod sites;
mod spread;
mod sums;
mod thresholds;
mod unmeetable;

use hedgerow_privacy::closeness::EarthMover;
use hedgerow_privacy::m_privacy::{Coalition, fitness_of_class};
use hedgerow_privacy::{ClassView, Counts, Model, Reference, TableView};
use hedgerow_smc::{Party, What};

use super::rows::{OwnRows, Owner, Share};
use crate::error::Error;
use crate::fit::{adds_up, holds_own};
pub(super) use counted::Counted;
pub(crate) use unmeetable::best_of;

pub use demands::{Demands, SensitiveAttribute};
pub(crate) use settings::COLLUDER_KEYS;
pub use settings::Colluders;

/// How often each sensitive value occurs.
pub const SENSITIVE: What = What::new("sensitive counts of the whole table", "the release");
/// Whether parts have records of enough sites.
pub const SITES: What = What::new("parts with records of enough sites", "JX09 Theorem 2, 3");
/// Whether the records of parts are spread over sites as a stronger kind of site diversity demands.
pub const SPREAD: What = What::new(
    "parts whose records are spread over sites as demanded",
    "the study: entropy or recursive site diversity, JX09 section 3",
);
/// How evenly the records of parts are spread over sites: at the published level.
pub const ENTROPIES: What = What::new("entropies of sites in parts", "JX09 Theorem 2, 2");
/// How evenly sites are spread, at the hardened level by comparison alone.
pub const EVENER: What = What::new(
    "of two possible cuts, whether the second is clearly more even over sites or better by equation 3",
    "JX09 Theorem 2, 2",
);
/// Whether what is left of parts without a coalition still satisfies the requirement.
pub const COALITIONS: What = What::new(
    "thresholds on parts without the records of a coalition",
    "MPRIV section III",
);

/// Whether parts satisfy the requirement whichever m sites take their records out, without a look at
/// coalitions.
pub const WITHSTOOD: What = What::new(
    "parts that withstand any m sites, and their sensitive values that more than m sites have",
    "MPRIV section III",
);

/// Which sites have records in parts: where the study allows it.
pub const CONTRIBUTORS: What = What::new(
    "which sites have records in parts whose coalitions are looked at",
    "the study: contributors = true; MPRIV section III, n_G",
);

/// A sum that is less than a summand.
const FEWER: &str = "fewer records than this site alone has";
/// Counts of values that are not as many as records.
const UNEQUAL: &str = "the counts of a sensitive attribute are not as many as the records";

/// Things that are tried together, each made of parts that must all satisfy the requirement.
pub(super) trait Trials {
    /// What all sites know of a try's parts.
    fn counted(&self, place: usize) -> &Counted;
    /// This site's records in each part of a try, counted by the site that they belong to.
    fn owners(&self, place: usize) -> Vec<u64>;
    /// For each part of a try, the shares of the sites whose rows are here.
    fn shares(&self, sensitive: &[usize], place: usize) -> Vec<Vec<Share>>;
}

/// What is known of the whole table, and what the requirement needs.
pub(super) struct Table<'a> {
    records: u64,
    sites: usize,
    /// Models that follow from sizes and sensitive counts.
    by_counts: Vec<Model>,
    /// The models of the requirement that follow from sensitive counts.
    beyond_size: Vec<Model>,
    /// The sensitive attributes whose counts the requirement needs.
    sensitive: Vec<Attribute>,
    references: Vec<Reference>,
    /// The site that this party speaks for; `None` for a party with everybody's rows.
    me: Option<u32>,
    demands: &'a Demands<'a>,
}

struct Attribute {
    /// The attribute's place among the sensitive attributes.
    index: usize,
    /// All values of the attribute.
    values: Vec<u32>,
}

impl<'a> Table<'a> {
    /// Asks for the sensitive counts of the whole table, where the requirement needs them.
    pub(super) async fn ask(
        party: &mut Party,
        rows: &OwnRows<'_>,
        demands: &'a Demands<'a>,
        records: u64,
    ) -> Result<Self, Error> {
        let models = demands.requirement.models.iter();
        let by_counts: Vec<Model> = models
            .filter(|model| !model.speaks_of_sites())
            .cloned()
            .collect();
        let is_beyond_size = |model: &&Model| !matches!(model, Model::KAnonymity { .. });
        let beyond_size: Vec<Model> = by_counts.iter().filter(is_beyond_size).cloned().collect();
        let needs_counts = !beyond_size.is_empty();
        let mut sensitive = Vec::new();
        let mut counts: Vec<u64> = Vec::new();
        for (index, column) in rows.sensitive.iter().enumerate().filter(|_| needs_counts) {
            let from = counts.len();
            counts.resize(from + column.size as usize, 0);
            for (row, code) in column.codes.iter().enumerate() {
                counts[from + code as usize] += rows.records_of(row);
            }
            let values = (0..column.size).collect();
            sensitive.push(Attribute { index, values });
        }
        if needs_counts {
            let own = counts.clone();
            party.sum(SENSITIVE, &mut counts).await?;
            party.fit(SENSITIVE, holds_own(&counts, &own), FEWER)?;
        }
        let mut rest = counts.as_slice();
        let mut references = Vec::with_capacity(sensitive.len());
        for attribute in &sensitive {
            let counts = take(&mut rest, attribute.values.len());
            party.fit(SENSITIVE, adds_up(counts, records), UNEQUAL)?;
            references.push(Reference::new(counts.to_vec()));
        }
        Ok(Self {
            records,
            sites: rows.sites,
            by_counts,
            beyond_size,
            sensitive,
            references,
            me: match rows.owner {
                Owner::Site(site) => Some(site),
                Owner::Column(_) => None,
            },
            demands,
        })
    }

    /// What is known of the whole table where sensitive counts stay hidden: demands on them are asked about
    /// otherwise.
    pub(super) fn without_counts(
        rows: &OwnRows<'_>,
        demands: &'a Demands<'a>,
        records: u64,
    ) -> Self {
        let models = demands.requirement.models.iter();
        Self {
            records,
            sites: rows.sites,
            by_counts: models
                .filter(|model| matches!(model, Model::KAnonymity { .. }))
                .cloned()
                .collect(),
            beyond_size: Vec::new(),
            sensitive: Vec::new(),
            references: Vec::new(),
            me: match rows.owner {
                Owner::Site(site) => Some(site),
                Owner::Column(_) => None,
            },
            demands,
        }
    }

    /// How often each sensitive value occurs, where the requirement needs to know.
    pub(super) fn totals(&self) -> Vec<Vec<u64>> {
        let counts = self.references.iter();
        counts
            .map(|reference| reference.counts().to_vec())
            .collect()
    }

    /// Records of the whole table.
    pub(super) fn records(&self) -> u64 {
        self.records
    }

    /// Sites of the run.
    pub(super) fn sites(&self) -> usize {
        self.sites
    }

    /// How many sites this party speaks for.
    pub(super) fn voices(&self) -> usize {
        self.me.map_or(self.sites, |_| 1)
    }

    /// Whether this party speaks for a site.
    pub(super) fn speaks_of(&self, site: usize) -> bool {
        self.me.is_none_or(|me| me as usize == site)
    }

    /// How many of the sites outside a coalition this party speaks for.
    pub(super) fn speaks_for(&self, gone: Coalition) -> usize {
        match self.me {
            Some(site) => usize::from(!gone.contains(site as usize)),
            None => self.sites - gone.size(),
        }
    }

    pub(super) fn demands(&self) -> &'a Demands<'a> {
        self.demands
    }

    /// Sensitive counts of the whole table, one attribute after the other.
    pub(super) fn whole(&self) -> Vec<u64> {
        let counts = self.references.iter().map(Reference::counts);
        counts.flatten().copied().collect()
    }

    /// The sensitive attributes whose counts are needed: place and number of values.
    pub(super) fn sensitive(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let attributes = self.sensitive.iter();
        attributes.map(|attribute| (attribute.index, attribute.values.len()))
    }

    /// Whether a class with these sizes and counts satisfies the models on sensitive counts.
    pub(super) fn holds_beyond_size(
        &self,
        view: &TableView<'_>,
        size: u64,
        sensitive: &[u64],
    ) -> bool {
        self.holds(&self.beyond_size, view, size, sensitive)
    }

    /// Whether the requirement speaks of sites, so that sizes and counts alone do not settle it.
    pub(super) fn speaks_of_sites(&self) -> bool {
        sites::demanded(self).is_some()
            || spread::demanded(self).is_some()
            || self.demands.requirement.m.unwrap_or(0) > 0
    }

    /// Of the tries that are allowed so far, forbids the tries that do not satisfy a demand about sites.
    /// Returns the number of coalitions that were checked.
    pub(super) async fn check_sites(
        &self,
        party: &mut Party,
        tries: &impl Trials,
        allowed: &mut [bool],
    ) -> Result<u64, Error> {
        if !coalitions::tell_of_sites(self.demands, self.sites) {
            sites::check(party, self, tries, allowed).await?;
        }
        spread::check(party, self, tries, allowed).await?;
        let m = self.demands.requirement.m.unwrap_or(0);
        coalitions::check(party, self, m, tries, allowed).await
    }

    /// For each of some tries, whether the try makes more than one part and all non-empty parts satisfy
    /// the requirement; and how many coalitions were checked. Of tries that need not mind sites, nothing
    /// is asked about these.
    pub(super) async fn allowed(
        &self,
        party: &mut Party,
        tries: &impl Trials,
        count: usize,
        minds_sites: impl Fn(usize) -> bool,
    ) -> Result<(Vec<bool>, u64), Error> {
        let view = self.view();
        let by_counts: Vec<bool> = (0..count)
            .map(|place| {
                let counted = tries.counted(place);
                // A cut that leaves everything in one part is no cut.
                counted.sizes.iter().filter(|size| **size > 0).count() > 1
                    && (0..counted.parts()).all(|part| {
                        let size = counted.sizes[part];
                        self.holds(&self.by_counts, &view, size, counted.of_part(part))
                    })
            })
            .collect();
        // Only tries that are allowed so far are worth a question.
        let asked = |place: usize| by_counts[place] && minds_sites(place);
        let mut allowed: Vec<bool> = (0..count).map(asked).collect();
        let checks = self.check_sites(party, tries, &mut allowed).await?;
        for place in (0..count).filter(|place| !minds_sites(*place)) {
            allowed[place] = by_counts[place];
        }
        Ok((allowed, checks))
    }

    /// The whole table in the form that models take.
    pub(super) fn view(&self) -> TableView<'_> {
        let attributes = self.references.iter().zip(&self.sensitive);
        let movers = attributes.map(|(reference, attribute)| {
            let declared = self.demands.sensitive[attribute.index];
            EarthMover::new(reference, declared.distance, declared.tree)
        });
        TableView {
            references: &self.references,
            movers: movers.collect(),
        }
    }

    fn holds(&self, models: &[Model], view: &TableView<'_>, size: u64, sensitive: &[u64]) -> bool {
        if let [Model::KAnonymity { k }] = models {
            return size == 0 || size >= *k;
        }
        let class = ClassView {
            size,
            sensitive: &self.counts(sensitive),
            sites: None,
        };
        models.iter().all(|model| model.holds(&class, view))
    }

    fn counts<'c>(&'c self, sensitive: &'c [u64]) -> Vec<Counts<'c>> {
        let mut rest = sensitive;
        let attributes = self.sensitive.iter();
        attributes
            .map(|attribute| {
                let counts = take(&mut rest, attribute.values.len());
                Counts::new(&attribute.values, counts)
            })
            .collect()
    }

    /// The fitness of a part (MPRIV equation 1), from what all sites see of it.
    pub(super) fn fitness(
        &self,
        view: &TableView<'_>,
        counted: &Counted,
        part: usize,
        weight: f64,
    ) -> f64 {
        let class = ClassView {
            size: counted.sizes[part],
            sensitive: &self.counts(counted.of_part(part)),
            sites: None,
        };
        fitness_of_class(&self.by_counts, &class, view, weight)
    }
}

/// The next `count` of some values.
fn take<'v>(values: &mut &'v [u64], count: usize) -> &'v [u64] {
    let (taken, rest) = values.split_at(count);
    *values = rest;
    taken
}
