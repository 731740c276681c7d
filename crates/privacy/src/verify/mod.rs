//! The verifier: an independent look at a release. It groups the rows that a reader cannot tell
//! apart, measures every model on every class, and sets what was achieved beside what was
//! demanded. It trusts nothing about how the release was made.

mod evidence;
mod scan;
mod sites;
mod verdict;

use rayon::prelude::*;

use crate::classes::{Classes, Histograms};
use crate::closeness::{Distance, EarthMover};
use crate::counts::{Counts, Reference};
use crate::measure;
use crate::model::{Model, TableView};
use crate::ratio::Ratio;
use crate::requirement::{Requirement, Sensitive};

pub use evidence::{Evidence, EvidenceError, SensitiveColumn};
pub use verdict::{AttributeVerdict, Measure, ModelVerdict, Models, Verdict, WorstClass};

use scan::{Scan, Worse, scan};

/// Measures everything and, where there is a requirement, decides.
pub fn verify(evidence: &Evidence<'_>, requirement: Option<&Requirement>) -> Verdict {
    let classes = evidence.classes();
    let histograms: Vec<Histograms> = evidence
        .sensitive
        .par_iter()
        .map(|column| Histograms::new(&classes, &column.codes))
        .collect();
    let references: Vec<Reference> = evidence
        .sensitive
        .iter()
        .map(SensitiveColumn::reference)
        .collect();
    let wanted_distance = requirement.and_then(|requirement| {
        requirement.models.iter().find_map(|model| match model {
            Model::Closeness { distance, .. } => *distance,
            _ => None,
        })
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
    };

    let mut models = look.models(requirement, &distances);
    sites::judge(&look, requirement, &mut models);
    Verdict {
        holds: match (evidence.identifiers.is_empty(), requirement) {
            (false, _) => Some(false),
            (true, Some(_)) => Some(models.all_hold()),
            (true, None) => None,
        },
        records: classes.records(),
        classes: classes.count() as u64,
        identifiers: evidence.identifiers.clone(),
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
}

impl Look<'_> {
    fn models(&self, requirement: Option<&Requirement>, distances: &[Distance]) -> Models {
        let demands = requirement.map_or(&[][..], |requirement| requirement.models.as_slice());
        let mut models = Models::default();

        let k = demands.iter().find_map(|model| match model {
            Model::KAnonymity { k } => Some(*k),
            _ => None,
        });
        let sizes = scan(
            self.classes,
            Worse::Less,
            |class| self.classes.size(class),
            |size| k.is_none_or(|k| *size >= k),
        );
        models.k = self.verdict(k.map(Measure::Whole), sizes, |size| Measure::Whole(*size));
        if self.histograms.is_empty() {
            return models;
        }

        let alpha = demands.iter().find_map(|model| match model {
            Model::Alpha { alpha } => Some(*alpha),
            _ => None,
        });
        models.alpha = self.each(
            alpha.map(Measure::Fraction),
            Worse::Greater,
            |counts, _| measure::max_frequency(counts),
            |value| alpha.is_none_or(|alpha| *value <= alpha),
            |value| Measure::Fraction(*value),
        );

        let l = demands.iter().find_map(|model| match model {
            Model::DistinctDiversity { l } => Some(*l),
            _ => None,
        });
        models.l_distinct = self.each(
            l.map(Measure::Whole),
            Worse::Less,
            |counts, _| measure::distinct(counts),
            |value| l.is_none_or(|l| *value >= l),
            |value| Measure::Whole(*value),
        );

        let l = demands.iter().find_map(|model| match model {
            Model::FrequencyDiversity { l } => Some(*l),
            _ => None,
        });
        models.l_frequency = self.each(
            l.map(Measure::Fraction),
            Worse::Less,
            |counts, _| measure::frequency_diversity(counts),
            |value| l.is_none_or(|l| *value >= l),
            |value| Measure::Fraction(*value),
        );

        let l = demands.iter().find_map(|model| match model {
            Model::EntropyDiversity { l } => Some(*l),
            _ => None,
        });
        models.l_entropy = self.each(
            l.map(Measure::Fraction),
            Worse::Less,
            |counts, _| measure::entropy_diversity(counts),
            |value| l.is_none_or(|l| *value >= l.to_f64() * (1.0 - measure::EPSILON)),
            |value| Measure::Real(*value),
        );

        let demanded = demands.iter().find_map(|model| match model {
            Model::RecursiveDiversity { c, l } => Some((*c, *l)),
            _ => None,
        });
        // Without a demand, the smallest c is given for the l that every class has.
        let common_l = match models.l_distinct.as_ref().map(|verdict| verdict.achieved) {
            Some(Measure::Whole(l)) => l,
            _ => 1,
        };
        let l = demanded.map_or(common_l, |(_, l)| l);
        models.l_recursive = self.each(
            demanded.map(|(c, _)| Measure::Fraction(c)),
            Worse::Greater,
            |counts, _| measure::recursive_bound(counts, l),
            |value| demanded.is_none_or(|(c, _)| *value < c),
            |value| Measure::Fraction(*value),
        );
        if let Some(verdict) = &mut models.l_recursive {
            verdict.l = Some(l);
        }

        let t = demands.iter().find_map(|model| match model {
            Model::Closeness { t, .. } => Some(*t),
            _ => None,
        });
        models.t = self.each(
            t.map(Measure::Fraction),
            Worse::Greater,
            |counts, attribute| self.table.movers[attribute].distance(counts),
            |value| t.is_none_or(|t| *value <= t),
            |value| Measure::Fraction(*value),
        );
        if let Some(verdict) = &mut models.t {
            for (attribute, distance) in verdict.attributes.iter_mut().zip(distances) {
                attribute.distance = Some(*distance);
            }
        }

        self.beta(demands, &mut models);

        let delta = demands.iter().find_map(|model| match model {
            Model::DeltaDisclosure { delta } => Some(*delta),
            _ => None,
        });
        models.delta = self.each(
            delta.map(Measure::Real),
            Worse::Greater,
            |counts, attribute| measure::disclosure(counts, &self.table.references[attribute]),
            |value| delta.is_none_or(|delta| *value < delta),
            |value| Measure::Real(*value),
        );
        models
    }

    fn beta(&self, demands: &[Model], models: &mut Models) {
        let demanded = |wanted: bool| {
            demands.iter().find_map(|model| match model {
                Model::Likeness { beta, enhanced } if *enhanced == wanted => Some(*beta),
                _ => None,
            })
        };
        let basic = demanded(false);
        models.beta_basic = self.each(
            basic.map(Measure::Fraction),
            Worse::Greater,
            |counts, attribute| measure::greatest_gain(counts, &self.table.references[attribute]),
            |value| basic.is_none_or(|beta| *value <= beta),
            |value| Measure::Fraction(*value),
        );
        let enhanced = demanded(true);
        models.beta_enhanced = self.each(
            enhanced.map(Measure::Fraction),
            Worse::Greater,
            |counts, attribute| {
                let reference = &self.table.references[attribute];
                if measure::gains_within_cap(counts, reference) {
                    measure::greatest_gain(counts, reference)
                } else {
                    // A gain above -ln p: no beta would do.
                    Ratio::new(1, 0)
                }
            },
            |value| enhanced.is_none_or(|beta| *value <= beta),
            |value| Measure::Fraction(*value),
        );
    }

    /// Measures each sensitive attribute on its own; the worst of them stands for the model.
    fn each<V: Copy + PartialOrd + Send + Sync>(
        &self,
        required: Option<Measure>,
        worse: Worse,
        measure: impl Fn(Counts<'_>, usize) -> V + Sync,
        holds: impl Fn(&V) -> bool + Sync,
        show: impl Fn(&V) -> Measure,
    ) -> Option<ModelVerdict> {
        let scans: Vec<Scan<V>> = self
            .histograms
            .iter()
            .enumerate()
            .map(|(attribute, histograms)| {
                scan(
                    self.classes,
                    worse,
                    |class| measure(histograms.class(class), attribute),
                    &holds,
                )
            })
            .collect();
        let attributes = scans
            .iter()
            .zip(&self.evidence.sensitive)
            .filter_map(|(scan, column)| {
                Some(AttributeVerdict {
                    name: column.name.clone(),
                    achieved: show(&scan.worst?.0),
                    distance: None,
                    holds: required.map(|_| scan.failing_classes == 0),
                    worst_class: self.worst_class(scan.worst?.1),
                })
            })
            .collect();
        let worst = scans
            .into_iter()
            .reduce(|best, next| best.worse_of(next, worse))?;
        let mut verdict = self.verdict(required, worst, show)?;
        verdict.attributes = attributes;
        Some(verdict)
    }

    fn verdict<V: Copy>(
        &self,
        required: Option<Measure>,
        scan: Scan<V>,
        show: impl Fn(&V) -> Measure,
    ) -> Option<ModelVerdict> {
        let (value, class) = scan.worst?;
        Some(ModelVerdict {
            required,
            achieved: show(&value),
            holds: required.map(|_| scan.failing_classes == 0),
            failing_classes: required.map(|_| scan.failing_classes),
            failing_records: required.map(|_| scan.failing_records),
            worst_class: Some(self.worst_class(class)),
            ..ModelVerdict::default()
        })
    }

    fn worst_class(&self, class: usize) -> WorstClass {
        self.evidence.describe(self.classes, class)
    }
}
