//! The verifier: an independent look at a release. The verifier groups the rows that a reader cannot
//! tell apart, measures every model on every class, and sets what was achieved beside what was demanded.
//! It trusts nothing about how the release was made.

mod evidence;
mod scan;
mod sites;
mod verdict;

use rayon::prelude::*;

use crate::classes::{Classes, Histograms};
use crate::closeness::{Distance, EarthMover};
use crate::counts::{Counts, Reference};
use crate::m_privacy::Strategy;
use crate::measure;
use crate::model::{ClassView, Model, TableView};
use crate::ratio::Ratio;
use crate::requirement::{Requirement, Sensitive};

pub use evidence::{Evidence, EvidenceError, QuasiColumn, SensitiveColumn};
pub use verdict::{AttributeVerdict, Measure, ModelVerdict, Models, Verdict, WorstClass};

use scan::{Failing, Worse, worst};

/// Measures everything and, where there is a requirement, decides.
pub fn verify(evidence: &Evidence<'_>, requirement: Option<&Requirement>) -> Verdict {
    verify_by(evidence, requirement, None)
}

/// The same, with m-privacy also verified by a strategy of MPRIV section III, whose checks are counted. The
/// strategies are for classes of at most [`Coalition::MOST_SITES`](crate::m_privacy::Coalition::MOST_SITES)
/// sites; where one has more, checks are not counted.
pub fn verify_by(
    evidence: &Evidence<'_>,
    requirement: Option<&Requirement>,
    verification: Option<Strategy>,
) -> Verdict {
    let classes = evidence.classes();
    let histograms: Vec<Histograms> = evidence
        .sensitive
        .par_iter()
        .map(|column| Histograms::new(&classes, &column.codes))
        .collect();
    let references: Vec<Reference> = evidence
        .sensitive
        .iter()
        .map(|column| column.reference(evidence.counts))
        .collect();
    let demands = requirement.map_or(&[][..], |requirement| requirement.models.as_slice());
    let wanted_distance = demands.iter().find_map(|model| match model {
        Model::Closeness { distance, .. } => *distance,
        _ => None,
    });
    let distances: Vec<Distance> = evidence
        .sensitive
        .iter()
        .map(|column| wanted_distance.unwrap_or(column.distance))
        .collect();
    let movers: Vec<EarthMover<'_>> = evidence
        .sensitive
        .iter()
        .zip(&references)
        .zip(&distances)
        .map(|((column, reference), distance)| EarthMover::new(reference, *distance, column.tree))
        .collect();
    let table = TableView {
        references: &references,
        movers,
    };
    let look = Look {
        evidence,
        classes: &classes,
        histograms: &histograms,
        table: &table,
        demands,
        verification,
    };

    let mut models = look.models(&distances);
    models.k_printed = look.printed(requirement.and_then(|requirement| requirement.k_printed));
    sites::judge(&look, requirement, &mut models);
    models.explain();
    let (has_failing, has_unseen) = models.fail_and_unseen();
    let fails =
        has_failing || !evidence.identifiers.is_empty() || !evidence.other.refusals().is_empty();
    let is_unseen = has_unseen || !evidence.unexplained.is_empty();
    Verdict {
        holds: match requirement {
            _ if fails || is_unseen => Some(false),
            Some(_) => Some(true),
            None => None,
        },
        not_shown: is_unseen && !fails,
        records: classes.records(),
        classes: classes.count() as u64,
        identifiers: evidence.identifiers.clone(),
        unexplained: evidence.unexplained.clone(),
        suspects: evidence.suspects.clone(),
        other: evidence.other.clone(),
        disordered: Vec::new(),
        contradictions: Vec::new(),
        sensitive: requirement.map_or(Sensitive::Each, |requirement| requirement.sensitive),
        models,
    }
}

/// Everything that is looked at, in one hand.
struct Look<'a> {
    evidence: &'a Evidence<'a>,
    classes: &'a Classes,
    histograms: &'a [Histograms],
    table: &'a TableView<'a>,
    demands: &'a [Model],
    verification: Option<Strategy>,
}

impl Look<'_> {
    fn models(&self, distances: &[Distance]) -> Models {
        let mut models = Models {
            k: self.k(),
            ..Models::default()
        };
        if self.histograms.is_empty() {
            return models;
        }
        let tables = self.table.references;
        models.alpha = self.each(
            self.demand(|model| match model {
                Model::Alpha { alpha } => Some(Measure::Fraction(*alpha)),
                _ => None,
            }),
            Worse::Greater,
            |counts, _| measure::max_frequency(counts),
            Measure::Fraction,
        );
        models.l_distinct = self.each(
            self.demand(|model| match model {
                Model::DistinctDiversity { l } => Some(Measure::Whole(*l)),
                _ => None,
            }),
            Worse::Less,
            |counts, _| measure::distinct(counts),
            Measure::Whole,
        );
        models.l_frequency = self.each(
            self.demand(|model| match model {
                Model::FrequencyDiversity { l } => Some(Measure::Fraction(*l)),
                _ => None,
            }),
            Worse::Less,
            |counts, _| measure::frequency_diversity(counts),
            Measure::Fraction,
        );
        models.l_entropy = self.each(
            self.demand(|model| match model {
                Model::EntropyDiversity { l } => Some(Measure::Fraction(*l)),
                _ => None,
            }),
            Worse::Less,
            |counts, _| measure::entropy_diversity(counts),
            Measure::Real,
        );
        if let Some(verdict) = &mut models.l_entropy
            && let Measure::Real(exact) = verdict.achieved
        {
            verdict.floor = Some(exact.floor() as u64);
        }
        models.l_recursive = self.recursive(models.l_distinct.as_ref());
        models.t = self.each(
            self.demand(|model| match model {
                Model::Closeness { t, .. } => Some(Measure::Fraction(*t)),
                _ => None,
            }),
            Worse::Greater,
            |counts, attribute| self.table.movers[attribute].distance(counts),
            Measure::Fraction,
        );
        if let Some(verdict) = &mut models.t {
            for (attribute, distance) in verdict.attributes.iter_mut().zip(distances) {
                attribute.distance = Some(*distance);
            }
        }
        models.beta_basic = self.each(
            self.demand(|model| match model {
                Model::Likeness { beta, enhanced } if !enhanced => Some(Measure::Fraction(*beta)),
                _ => None,
            }),
            Worse::Greater,
            |counts, attribute| measure::greatest_gain(counts, &tables[attribute]),
            Measure::Fraction,
        );
        models.beta_enhanced = self.each(
            self.demand(|model| match model {
                Model::Likeness { beta, enhanced } if *enhanced => Some(Measure::Fraction(*beta)),
                _ => None,
            }),
            Worse::Greater,
            |counts, attribute| match measure::gains_within_cap(counts, &tables[attribute]) {
                true => measure::greatest_gain(counts, &tables[attribute]),
                // A gain above -ln p: no beta would do.
                false => Ratio::new(1, 0),
            },
            Measure::Fraction,
        );
        models.delta = self.each(
            self.demand(|model| match model {
                Model::DeltaDisclosure { delta } => Some(Measure::Real(*delta)),
                _ => None,
            }),
            Worse::Greater,
            |counts, attribute| measure::disclosure(counts, &tables[attribute]),
            Measure::Real,
        );
        models.delta_present = self.each(
            None,
            Worse::Greater,
            |counts, attribute| measure::disclosure_of_present(counts, &tables[attribute]),
            Measure::Real,
        );
        models
    }

    fn k(&self) -> Option<ModelVerdict> {
        let demand = self.demand(|model| match model {
            Model::KAnonymity { k } => Some(Measure::Whole(*k)),
            _ => None,
        });
        let (size, class) = worst(self.classes, Worse::Less, |class| self.classes.size(class))?;
        Some(self.verdict(demand, Measure::Whole(size), class))
    }

    /// How many records are printed alike, where that is another number than the records of a class, or demanded.
    /// The failing ones are counted against the demand, and without a demand against the k of classes.
    fn printed(&self, demanded: Option<u64>) -> Option<ModelVerdict> {
        let columns = &self.evidence.printed;
        if columns.is_empty() && demanded.is_none() {
            return None;
        }
        let alike = match columns.is_empty() {
            true => self.evidence.classes(),
            false => Classes::group(columns, self.evidence.rows).counted(self.evidence.counts),
        };
        let (size, least) = worst(&alike, Worse::Less, |one| alike.size(one))?;
        let of_classes = self.demands.iter().find_map(|model| match model {
            Model::KAnonymity { k } => Some(*k),
            _ => None,
        });
        let wanted = demanded.or(of_classes);
        let failing = wanted.map(|k| Failing::count(&alike, |one| alike.size(one) >= k));
        let row = alike.rows(least)[0];
        let class = self.classes.of_row(row as usize);
        Some(ModelVerdict {
            required: demanded.map(Measure::Whole),
            achieved: Measure::Whole(size),
            holds: demanded.map(|k| size >= k),
            failing_classes: failing.map(|failing| failing.classes),
            failing_records: failing.map(|failing| failing.records),
            worst_class: Some(WorstClass {
                size,
                first_record: u64::from(row) + 1,
                ..self.evidence.describe(self.classes, class, |_| true)
            }),
            ..ModelVerdict::default()
        })
    }

    /// Without a demand, the smallest c is given for the l that every class has.
    fn recursive(&self, l_distinct: Option<&ModelVerdict>) -> Option<ModelVerdict> {
        let demand = self.demand(|model| match model {
            Model::RecursiveDiversity { c, .. } => Some(Measure::Fraction(*c)),
            _ => None,
        });
        let l = match (demand, l_distinct.map(|verdict| verdict.achieved)) {
            (Some((Model::RecursiveDiversity { l, .. }, _)), _) => *l,
            (_, Some(Measure::Whole(common))) => common,
            _ => 1,
        };
        let mut verdict = self.each(
            demand,
            Worse::Greater,
            |counts, _| measure::recursive_bound(counts, l),
            Measure::Fraction,
        )?;
        verdict.l = Some(l);
        Some(verdict)
    }

    /// The demand of this kind in the requirement, and its threshold.
    fn demand(&self, threshold: impl Fn(&Model) -> Option<Measure>) -> Option<(&Model, Measure)> {
        let mut demands = self.demands.iter();
        demands.find_map(|model| Some((model, threshold(model)?)))
    }

    /// Measures each sensitive attribute on its own; the worst attribute stands for the model.
    fn each<V: Copy + PartialOrd + Send + Sync>(
        &self,
        demand: Option<(&Model, Measure)>,
        worse: Worse,
        measure: impl Fn(Counts<'_>, usize) -> V + Sync,
        show: impl Fn(V) -> Measure,
    ) -> Option<ModelVerdict> {
        let found: Vec<(V, usize)> = self
            .histograms
            .iter()
            .enumerate()
            .filter_map(|(attribute, histograms)| {
                worst(self.classes, worse, |class| {
                    measure(histograms.class(class), attribute)
                })
            })
            .collect();
        let attributes = found.iter().zip(&self.evidence.sensitive).enumerate();
        let attributes = attributes.map(|(attribute, ((value, class), column))| AttributeVerdict {
            name: column.name.clone(),
            achieved: show(*value),
            distance: None,
            holds: demand.map(|(model, _)| self.failing(model, Some(attribute)).classes == 0),
            worst_class: self.evidence.describe(self.classes, *class, |_| true),
        });
        let attributes = attributes.collect();
        let (value, class) = found.into_iter().reduce(|a, b| worse.pick(a, b))?;
        let mut verdict = self.verdict(demand, show(value), class);
        verdict.attributes = attributes;
        Some(verdict)
    }

    fn verdict(
        &self,
        demand: Option<(&Model, Measure)>,
        achieved: Measure,
        class: usize,
    ) -> ModelVerdict {
        let failing = demand.map(|(model, _)| self.failing(model, None));
        ModelVerdict {
            required: demand.map(|(_, threshold)| threshold),
            achieved,
            holds: failing.map(|failing| failing.classes == 0),
            failing_classes: failing.map(|failing| failing.classes),
            failing_records: failing.map(|failing| failing.records),
            worst_class: Some(self.evidence.describe(self.classes, class, |_| true)),
            ..ModelVerdict::default()
        }
    }

    /// The classes that do not satisfy a model, on all sensitive attributes or on one.
    fn failing(&self, model: &Model, attribute: Option<usize>) -> Failing {
        let seen = match attribute {
            Some(one) => one..one + 1,
            None => 0..self.histograms.len(),
        };
        let table = TableView {
            references: &self.table.references[seen.clone()],
            movers: self.table.movers[seen.clone()].to_vec(),
        };
        Failing::count(self.classes, |class| {
            let counts: Vec<Counts<'_>> = self.histograms[seen.clone()]
                .iter()
                .map(|histograms| histograms.class(class))
                .collect();
            let view = ClassView {
                size: self.classes.size(class),
                sensitive: &counts,
                sites: None,
            };
            model.holds(&view, &table)
        })
    }
}
