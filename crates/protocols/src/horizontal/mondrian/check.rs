//! Whether the parts of a cut satisfy the requirement.
//!
//! What follows from sizes and sensitive counts is decided by every site alone, from the sums that
//! were opened. What speaks of sites is asked as thresholds: nobody learns how many records a site
//! has in a part, or which sites have any.
//!
//! # Discloses
//! Once, the sensitive counts of the whole table; then as [`super::sites`] and
//! [`super::coalitions`] say.

use hedgerow_privacy::closeness::EarthMover;
use hedgerow_privacy::{ClassView, Counts, Model, Reference, TableView, measure};
use hedgerow_smc::Party;

use super::open::{Open, Tries, Try};
use super::{Plan, SENSITIVE, coalitions, sites};
use crate::Error;
use crate::horizontal::rows::{Arranged, Cut, OwnRows, Owner};
use hedgerow_privacy::m_privacy::{Coalition, fitness_of_counts};

/// What is known of the whole table, and what the requirement needs.
pub(super) struct Table<'a> {
    records: u64,
    sites: usize,
    /// Models that follow from sizes and sensitive counts.
    by_counts: Vec<Model>,
    /// The sensitive attributes whose counts the requirement needs.
    sensitive: Vec<Attribute>,
    references: Vec<Reference>,
    /// The site that this party speaks for; all of them where it has everybody's rows.
    me: Option<u32>,
    plan: &'a Plan<'a>,
}

struct Attribute {
    /// Its place among the sensitive attributes.
    index: usize,
    /// All its values.
    values: Vec<u32>,
}

/// The parts of a cut as all sites see them.
#[derive(Debug)]
pub(super) struct Counted {
    pub(super) sizes: Vec<u64>,
    /// Part by part, the counts of each sensitive attribute, one after the other.
    pub(super) sensitive: Vec<u64>,
}

impl Counted {
    pub(super) fn parts(&self) -> usize {
        self.sizes.len()
    }

    /// The sensitive counts of a part.
    pub(super) fn of_part(&self, part: usize) -> &[u64] {
        let width = self.sensitive.len() / self.sizes.len();
        &self.sensitive[part * width..(part + 1) * width]
    }
}

impl<'a> Table<'a> {
    /// Asks for the sensitive counts of the whole table, where the requirement needs them.
    pub(super) async fn ask(
        party: &mut Party,
        rows: &OwnRows<'_>,
        plan: &'a Plan<'a>,
        records: u64,
    ) -> Result<Self, Error> {
        let models = plan.requirement.models.iter();
        let by_counts: Vec<Model> = models
            .filter(|model| !matches!(model, Model::SiteDiversity { .. }))
            .cloned()
            .collect();
        let needs_counts = by_counts
            .iter()
            .any(|model| !matches!(model, Model::KAnonymity { .. }));
        let mut sensitive = Vec::new();
        let mut counts: Vec<u64> = Vec::new();
        for (index, column) in rows.sensitive.iter().enumerate().filter(|_| needs_counts) {
            let from = counts.len();
            counts.resize(from + column.size as usize, 0);
            for code in column.codes.iter() {
                counts[from + code as usize] += 1;
            }
            let values = (0..column.size).collect();
            sensitive.push(Attribute { index, values });
        }
        if needs_counts {
            party.sum(SENSITIVE, &mut counts).await?;
        }
        let mut rest = counts.as_slice();
        let references = sensitive
            .iter()
            .map(|attribute| Reference::new(take(&mut rest, attribute.values.len()).to_vec()))
            .collect();
        Ok(Self {
            records,
            sites: rows.sites,
            by_counts,
            sensitive,
            references,
            me: match rows.owner {
                Owner::Site(site) => Some(site),
                Owner::Column(_) => None,
            },
            plan,
        })
    }

    /// Records of the whole table.
    pub(super) fn records(&self) -> u64 {
        self.records
    }

    /// Sites of the run.
    pub(super) fn sites(&self) -> usize {
        self.sites
    }

    /// How many of the sites outside a coalition this party speaks for.
    pub(super) fn speaks_for(&self, gone: Coalition) -> usize {
        match self.me {
            Some(site) => usize::from(!gone.contains(site as usize)),
            None => self.sites - gone.size(),
        }
    }

    pub(super) fn plan(&self) -> &'a Plan<'a> {
        self.plan
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

    /// Takes the next cut's counts of all parts but the last from the answers, and adds the last:
    /// what is left of the class.
    pub(super) fn counted(&self, class: &Open, parts: usize, answers: &mut &[u64]) -> Counted {
        let mut sizes = Vec::with_capacity(parts);
        complete(answers, parts, &[class.size], |_, counts| {
            sizes.extend_from_slice(counts);
        });
        let width = class.sensitive.len();
        let mut sensitive = vec![0; parts * width];
        let mut from = 0;
        for (_, size) in self.sensitive() {
            let whole = &class.sensitive[from..from + size];
            complete(answers, parts, whole, |part, counts| {
                let at = part * width + from;
                sensitive[at..at + size].copy_from_slice(counts);
            });
            from += size;
        }
        Counted { sizes, sensitive }
    }

    /// Refuses a requirement that not even the whole table satisfies. Gives the number of
    /// coalitions that were checked.
    pub(super) async fn refuse_unmeetable(
        &self,
        party: &mut Party,
        arranged: &Arranged<'_>,
        root: &Open,
    ) -> Result<u64, Error> {
        let view = self.view();
        let failing = self.by_counts.iter().find(|model| {
            let models = std::slice::from_ref(*model);
            !self.holds(models, &view, root.size, &root.sensitive)
        });
        if let Some(model) = failing {
            return Err(self.unmeetable(model.to_string(), self.best(model, root.size)));
        }
        // The whole table as a part: no cut at all.
        let everything = Try {
            class: 0,
            cut: Cut {
                attribute: 0,
                ends: vec![u32::MAX],
                left_at_end: None,
            },
            other_side: None,
        };
        let counted = Counted {
            sizes: vec![root.size],
            sensitive: root.sensitive.clone(),
        };
        let tries = Tries {
            arranged,
            open: std::slice::from_ref(root),
            tries: &[everything],
            counted: &[counted],
        };
        let mut allowed = [root.size > 0];
        sites::check(party, self, tries, &mut allowed).await?;
        if let (Some((l, model)), [false], 1..) = (sites::demanded(self), allowed, root.size) {
            let most = l.saturating_sub(1).min(self.sites as u64);
            let best = format!(
                "fewer than {l} sites have records; the largest value that could be met is at most {most}"
            );
            return Err(self.unmeetable(model.to_string(), best));
        }
        let m = self.plan.requirement.m.unwrap_or(0);
        let mut checks = 0;
        for least in (1..=m).rev() {
            let mut allowed = [root.size > 0];
            checks += coalitions::check(party, self, least, tries, &mut allowed).await?;
            if allowed == [true] || root.size == 0 {
                if least < m {
                    return Err(
                        self.unmeetable(format!("m = {m}"), could_be(&format!("m = {least}")))
                    );
                }
                return Ok(checks);
            }
        }
        if m > 0 {
            return Err(self.unmeetable(format!("m = {m}"), self.no_m()));
        }
        Ok(checks)
    }

    /// For each try, whether all non-empty parts of its cut satisfy the requirement; and how many
    /// coalitions were checked.
    pub(super) async fn allowed(
        &self,
        party: &mut Party,
        tries: Tries<'_>,
    ) -> Result<(Vec<bool>, u64), Error> {
        let view = self.view();
        let mut allowed: Vec<bool> = tries
            .counted
            .iter()
            .map(|counted| {
                // A cut that leaves everything in one part is none.
                counted.sizes.iter().filter(|size| **size > 0).count() > 1
                    && (0..counted.parts()).all(|part| {
                        let size = counted.sizes[part];
                        self.holds(&self.by_counts, &view, size, counted.of_part(part))
                    })
            })
            .collect();
        // Only cuts that are allowed so far are worth a question.
        sites::check(party, self, tries, &mut allowed).await?;
        let m = self.plan.requirement.m.unwrap_or(0);
        let checks = coalitions::check(party, self, m, tries, &mut allowed).await?;
        Ok((allowed, checks))
    }

    /// The whole table as models see it.
    pub(super) fn view(&self) -> TableView<'_> {
        let attributes = self.references.iter().zip(&self.sensitive);
        let movers = attributes.map(|(reference, attribute)| {
            let declared = self.plan.sensitive[attribute.index];
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
            && (size == 0 || !self.needs_all_values(models) || self.has_all_values(sensitive))
    }

    /// Whether a class must have every value of the table, so that it can be united with others.
    fn needs_all_values(&self, models: &[Model]) -> bool {
        let is_delta = |model: &Model| matches!(model, Model::DeltaDisclosure { .. });
        self.plan.may_write_alike() && models.iter().any(is_delta)
    }

    fn has_all_values(&self, sensitive: &[u64]) -> bool {
        let whole = self.references.iter().flat_map(Reference::counts);
        let mut pairs = whole.zip(sensitive);
        pairs.all(|(in_table, in_class)| *in_table == 0 || *in_class > 0)
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
    pub(super) fn fitness(&self, counted: &Counted, part: usize, weight: f64) -> f64 {
        let sensitive = counted.of_part(part);
        let distinct = self
            .counts(sensitive)
            .into_iter()
            .map(measure::distinct)
            .min();
        fitness_of_counts(&self.by_counts, counted.sizes[part], distinct, weight)
    }

    /// Why not even one colluder can be withstood.
    fn no_m(&self) -> String {
        let is_held_by_more = |model: &&Model| {
            matches!(model, Model::EntropyDiversity { .. })
                || matches!(model, Model::RecursiveDiversity { l, .. } if *l > 2)
        };
        let held = self.by_counts.iter().find(is_held_by_more);
        held.map_or_else(
            || String::from("there is a site without whose records the others do not satisfy it"),
            |model| {
                format!(
                    "against colluders {model} is held by a stronger rule that can be asked without showing counts; use l of kind \"distinct\" or \"frequency\", or leave m out"
                )
            },
        )
    }

    fn unmeetable(&self, model: String, best: String) -> Error {
        Error::Unmeetable {
            records: self.records,
            model,
            best,
        }
    }

    /// The most that the whole table achieves of a model.
    fn best(&self, model: &Model, size: u64) -> String {
        let of_each = |measured: &dyn Fn(Counts<'_>) -> f64| {
            let counts = self.sensitive.iter().zip(&self.references);
            counts
                .map(|(attribute, reference)| {
                    measured(Counts::new(&attribute.values, reference.counts()))
                })
                .fold(f64::INFINITY, f64::min)
        };
        match model {
            Model::KAnonymity { .. } => could_be(&size.to_string()),
            Model::DistinctDiversity { .. } => {
                could_be(&of_each(&|counts| measure::distinct(counts) as f64).to_string())
            }
            Model::EntropyDiversity { .. } => {
                could_be(&format!("{:.4}", of_each(&measure::entropy_diversity)))
            }
            Model::FrequencyDiversity { .. } => {
                let diversity = |counts: Counts<'_>| measure::frequency_diversity(counts).to_f64();
                could_be(&format!("{:.4}", of_each(&diversity)))
            }
            _ => String::from("the sensitive values of the whole table are too unequal for it"),
        }
    }
}

fn could_be(best: &str) -> String {
    format!("the largest value that could be met is {best}")
}

/// The next `count` of some values.
fn take<'v>(values: &mut &'v [u64], count: usize) -> &'v [u64] {
    let (taken, rest) = values.split_at(count);
    *values = rest;
    taken
}

/// Hands out the counts of all parts but the last as they come, and then the last: what is left of
/// the whole.
fn complete(
    answers: &mut &[u64],
    parts: usize,
    whole: &[u64],
    mut found: impl FnMut(usize, &[u64]),
) {
    let mut left = whole.to_vec();
    for part in 0..parts - 1 {
        let counts = take(answers, whole.len());
        for (left, count) in left.iter_mut().zip(counts) {
            *left = left.saturating_sub(*count);
        }
        found(part, counts);
    }
    found(parts - 1, &left);
}
