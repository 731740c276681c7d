//! Privacy fitness (MPRIV definition 3.1 and equation 1): how far a set of records is from breaking the
//! requirement, and so how much power it gives to the sites that own it.
//!
//! The score is (1-a) |T|/k + a distinct/l, and at most 1-e where the requirement fails (the paper
//! prints the greater of the two, which would call failing records fit). A requirement without k
//! or without l leaves the other term alone; of several sensitive attributes the least diverse one
//! counts.
//!
//! Equation 1 is for k and distinct l; definition 3.1 is for any requirement: a function of the fitness of
//! each constraint, 1 or more only where it holds. [`fitness_of_class`] keeps equation 1, with the least fit
//! constraint on sensitive values in the place of distinct l. A constraint that asks for much is as fit as
//! what there is over what is asked (entropy, frequency l); one that asks for little, such as t, as
//! 2 less what there is over what is allowed: 2 at best, 1 at the border, less beyond it. What speaks of
//! sites is left out, since counts do not show it.

use crate::collusion::Members;
use crate::counts::Counts;
use crate::measure;
use crate::model::{ClassView, Model, TableView};
use crate::ratio::Ratio;

use super::Coalition;

/// The weight a of diversity in the score when coalitions are ordered. Our choice: the paper's
/// default is lost in print.
pub const WEIGHT_OF_DIVERSITY: f64 = 0.3;

/// Average fitness below which the adaptive strategy searches from both ends (MPRIV section V.B).
pub const LIKELY_BREACHED: f64 = 0.85;

/// Records that break the requirement score less than 1 by at least this much.
const SHORT_OF_FIT: f64 = 1e-6;

/// The fitness of the records of some sites of a class. The weight, between 0 and 1, is the weight of
/// diversity against size.
pub fn fitness(
    class: &Members,
    sites: Coalition,
    models: &[Model],
    table: &TableView<'_>,
    weight: f64,
) -> f64 {
    let records = sites.sites().map(|site| class.sizes()[site]).sum();
    let distinct = (0..class.attributes()).map(|attribute| distinct(class, attribute, sites));
    let score = fitness_of_counts(
        models,
        records,
        distinct.min().map(|least| least as u64),
        weight,
    );
    if class.hold(sites.sites(), models, table) {
        score
    } else {
        score.min(1.0 - SHORT_OF_FIT)
    }
}

/// Equation 1 without its cap, from a number of records and of distinct sensitive values (of the
/// least diverse attribute, where that is known).
pub fn fitness_of_counts(
    models: &[Model],
    records: u64,
    distinct: Option<u64>,
    weight: f64,
) -> f64 {
    let size = size_demanded(models).map(|k| records as f64 / k.max(1) as f64);
    let diversity = diversity_demanded(models)
        .zip(distinct)
        .map(|(l, distinct)| distinct as f64 / l.max(1) as f64);
    weighted(size, diversity, weight)
}

/// Equation 1 for every requirement, from the counts of a class: the size against k, and the least fit of
/// all that is asked of sensitive values, of the attribute that is the furthest from it.
pub fn fitness_of_class(
    models: &[Model],
    class: &ClassView<'_>,
    table: &TableView<'_>,
    weight: f64,
) -> f64 {
    let size = size_demanded(models).map(|k| class.size as f64 / k.max(1) as f64);
    let of_values = models
        .iter()
        .filter_map(|model| of_model(model, class, table));
    let values = of_values.reduce(f64::min);
    let score = weighted(size, values, weight);
    let is_broken = |fitness: Option<f64>| fitness.is_some_and(|fitness| fitness < 1.0);
    if is_broken(size) || is_broken(values) {
        score.min(1.0 - SHORT_OF_FIT)
    } else {
        score
    }
}

/// How far a class satisfies what a model asks of its sensitive values; none for other models.
fn of_model(model: &Model, class: &ClassView<'_>, table: &TableView<'_>) -> Option<f64> {
    let least = |fitness: &dyn Fn(Counts<'_>) -> f64| {
        let each = class.sensitive.iter().map(|counts| fitness(*counts));
        each.reduce(f64::min)
    };
    let least_beside_table = |fitness: &dyn Fn(Counts<'_>, usize) -> f64| {
        let each = class.sensitive.iter().enumerate();
        each.map(|(attribute, counts)| fitness(*counts, attribute))
            .reduce(f64::min)
    };
    match model {
        Model::KAnonymity { .. } | Model::SiteDiversity { .. } | Model::SiteSpread { .. } => None,
        Model::DistinctDiversity { l } => {
            least(&|counts| measure::distinct(counts) as f64 / (*l).max(1) as f64)
        }
        Model::FrequencyDiversity { l } => {
            least(&|counts| measure::frequency_diversity(counts).to_f64() / l.to_f64())
        }
        Model::EntropyDiversity { l } => {
            least(&|counts| measure::entropy_diversity(counts) / l.to_f64())
        }
        Model::RecursiveDiversity { c, l } => {
            least(&|counts| within(measure::recursive_bound(counts, *l), *c))
        }
        Model::Alpha { alpha } => least(&|counts| within(measure::max_frequency(counts), *alpha)),
        Model::Closeness { t, .. } => least_beside_table(&|counts, attribute| {
            within(table.movers[attribute].distance(counts), *t)
        }),
        Model::Likeness { beta, .. } => least_beside_table(&|counts, attribute| {
            within(
                measure::greatest_gain(counts, &table.references[attribute]),
                *beta,
            )
        }),
        Model::DeltaDisclosure { delta } => least_beside_table(&|counts, attribute| {
            (2.0 - measure::disclosure(counts, &table.references[attribute]) / delta).max(0.0)
        }),
    }
}

/// 2 for nothing, 1 for all that is allowed, 0 for twice as much and more.
fn within(found: Ratio, allowed: Ratio) -> f64 {
    let (found, allowed) = (found.to_f64(), allowed.to_f64());
    if allowed > 0.0 {
        (2.0 - found / allowed).max(0.0)
    } else if found > 0.0 {
        0.0
    } else {
        1.0
    }
}

fn weighted(size: Option<f64>, values: Option<f64>, weight: f64) -> f64 {
    match (size, values) {
        (Some(size), Some(values)) => (1.0 - weight) * size + weight * values,
        (Some(only), None) | (None, Some(only)) => only,
        (None, None) => 1.0,
    }
}

/// The greatest k among the demands.
fn size_demanded(models: &[Model]) -> Option<u64> {
    let demands = models.iter().filter_map(|model| match model {
        Model::KAnonymity { k } => Some(*k),
        _ => None,
    });
    demands.max()
}

/// The greatest l of distinct diversity among the demands.
pub(super) fn diversity_demanded(models: &[Model]) -> Option<u64> {
    let demands = models.iter().filter_map(|model| match model {
        Model::DistinctDiversity { l } => Some(*l),
        _ => None,
    });
    demands.max()
}

fn distinct(class: &Members, attribute: usize, sites: Coalition) -> usize {
    let values = sites.sites().flat_map(|site| class.values(attribute, site));
    let mut values: Vec<u32> = values.collect();
    values.sort_unstable();
    values.dedup();
    values.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::closeness::{Distance, EarthMover};
    use crate::counts::Reference;

    const NO_TABLE: TableView<'_> = TableView {
        references: &[],
        movers: Vec::new(),
    };

    #[test]
    fn equation_1_and_the_cap_of_failing_records() {
        // Site 0: six records, two values; site 1: three records, one value.
        let sites = [0, 0, 0, 0, 0, 0, 1, 1, 1];
        let codes = [0, 0, 0, 1, 1, 1, 2, 2, 2];
        let class = Members::new(&sites, [&codes[..]]);
        let models = [
            Model::KAnonymity { k: 3 },
            Model::DistinctDiversity { l: 2 },
        ];
        let score = |sites: &[usize], weight| {
            let sites = sites.iter().copied().collect();
            fitness(&class, sites, &models, &NO_TABLE, weight)
        };
        assert!((score(&[0], 0.5) - (0.5 * 2.0 + 0.5 * 1.0)).abs() < 1e-12);
        assert!((score(&[0, 1], 0.3) - (0.7 * 3.0 + 0.3 * 1.5)).abs() < 1e-12);
        // One value only: 0.5 + 0.25 without the cap, and never 1 even where size is all that counts.
        assert!((score(&[1], 0.5) - 0.75).abs() < 1e-12);
        assert!(score(&[1], 0.0) < 1.0);
        // One of the two demands alone.
        let only = |models: &[Model]| fitness(&class, Coalition::first(1), models, &NO_TABLE, 0.3);
        assert_eq!(only(&models[..1]), 2.0);
        assert_eq!(only(&models[1..]), 1.0);
        assert_eq!(only(&[]), 1.0);
    }

    /// Equation 1 where k and distinct l are demanded; for other models 1 or more only where they hold.
    #[test]
    fn equation_1_for_every_requirement() {
        let (values, counts, whole) = ([0, 1, 2], [4, 3, 1], [20, 20, 20]);
        let references = [Reference::new(whole.to_vec())];
        let table = TableView {
            references: &references,
            movers: vec![EarthMover::new(&references[0], Distance::Equal, None)],
        };
        let sensitive = [Counts::new(&values, &counts)];
        let class = ClassView {
            size: 8,
            sensitive: &sensitive,
            sites: None,
        };
        let score = |models: &[Model], weight| fitness_of_class(models, &class, &table, weight);
        let k = Model::KAnonymity { k: 4 };
        let l = Model::DistinctDiversity { l: 2 };
        let both = [k.clone(), l.clone()];
        assert_eq!(score(&both, 0.3), 0.7 * 2.0 + 0.3 * 1.5);
        assert_eq!(score(&both, 0.3), fitness_of_counts(&both, 8, Some(3), 0.3));
        assert_eq!(score(&[], 0.3), 1.0);
        let ratio = |numerator| Ratio::new(numerator, 100);
        for percent in 1..400 {
            let bound = ratio(percent);
            let models = [
                Model::Alpha { alpha: bound },
                Model::FrequencyDiversity { l: bound },
                Model::EntropyDiversity { l: bound },
                Model::Closeness {
                    t: bound,
                    distance: Some(Distance::Equal),
                },
                Model::Likeness {
                    beta: bound,
                    enhanced: false,
                },
                Model::DeltaDisclosure {
                    delta: bound.to_f64(),
                },
                Model::RecursiveDiversity { c: bound, l: 2 },
            ];
            for model in models {
                let alone = score(std::slice::from_ref(&model), 0.3);
                let holds = model.holds(&class, &table);
                // At the border itself a recursive bound and delta hold no more.
                assert!(
                    holds == (alone >= 1.0) || (alone - 1.0).abs() < 1e-6,
                    "{model}: {alone}"
                );
                // What breaks lowers the score below 1, whatever the size.
                let with_size = score(&[k.clone(), model.clone()], 0.3);
                assert!(
                    holds || with_size < 1.0 || (alone - 1.0).abs() < 1e-6,
                    "{model}"
                );
            }
        }
        // The least fit decides.
        let tight = Model::Alpha { alpha: ratio(50) };
        assert_eq!(score(&[k, l, tight], 0.5), 0.5 * 2.0 + 0.5 * 1.0);
    }
}
