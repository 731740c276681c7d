//! Privacy fitness (MPRIV definition 3.1 and equation 1): how far a set of records is from breaking the
//! requirement, and so how much power it gives to the sites that own it.
//!
//! The score is (1-a) |T|/k + a distinct/l, and at most 1-e where the requirement fails (the paper
//! prints the greater of the two, which would call failing records fit). A requirement without k
//! or without l leaves the other term alone; of several sensitive attributes the least diverse one
//! counts.

use crate::collusion::Members;
use crate::model::{Model, TableView};

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
    match (size, diversity) {
        (Some(size), Some(diversity)) => (1.0 - weight) * size + weight * diversity,
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
}
