//! Re-identification risk, as privacy officers ask for it.
//!
//! Prosecutor: the adversary knows that the person is in the release. Journalist: the person comes
//! from a population of which the release is a sample. Marketer: the share of records that an
//! adversary who links everybody gets right.

use hedgerow_data::Cell;
use rayon::prelude::*;
use serde::Serialize;

use crate::classes::Classes;

/// Risk thresholds that are reported.
pub const THRESHOLDS: [f64; 4] = [0.05, 0.1, 0.2, 0.33];

/// Risks of a release.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Risk {
    /// Prosecutor risk.
    pub prosecutor: Prosecutor,
    /// Marketer risk: expected share of records linked rightly.
    pub marketer: f64,
    /// Journalist risk, where a population is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub journalist: Option<Journalist>,
    /// Records alone in their class.
    pub uniqueness: Uniqueness,
}

/// Risk of a person known to be in the release.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Prosecutor {
    /// Of the person most at risk.
    pub max: f64,
    /// Of an average person.
    pub mean: f64,
    /// Share of records whose risk exceeds each threshold.
    pub above: Vec<Above>,
}

/// Share of records above a threshold.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Above {
    /// The threshold.
    pub threshold: f64,
    /// The share of records.
    pub share: f64,
}

/// Risk of a person drawn from a population.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Journalist {
    /// Of the person most at risk.
    pub max: f64,
    /// Of an average person of the release.
    pub mean: f64,
    /// Records whose class covers nobody in the population: the population is not one.
    pub uncovered: u64,
}

/// Shares of records that are alone in their class.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Uniqueness {
    /// In the original table, where it is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<f64>,
    /// In the release.
    pub after: f64,
}

/// Risks of classes of these sizes.
pub fn risk(classes: &Classes) -> Risk {
    let records = classes.records() as f64;
    let smallest = classes.sizes().min().unwrap_or(1).max(1);
    let mean = classes.count() as f64 / records;
    let above = THRESHOLDS.map(|threshold| {
        // 1/size > threshold: a class of exactly 20 records does not exceed 0.05.
        let at_risk: u64 = classes
            .sizes()
            .filter(|size| 1.0 / *size as f64 > threshold)
            .sum();
        Above {
            threshold,
            share: at_risk as f64 / records,
        }
    });
    Risk {
        prosecutor: Prosecutor {
            max: 1.0 / smallest as f64,
            mean,
            above: above.to_vec(),
        },
        marketer: mean,
        journalist: None,
        uniqueness: Uniqueness {
            before: None,
            after: uniqueness(classes),
        },
    }
}

/// Share of records alone in their class.
pub fn uniqueness(classes: &Classes) -> f64 {
    let alone = classes.sizes().filter(|size| *size == 1).count();
    alone as f64 / classes.records() as f64
}

/// Journalist and marketer risk against a population: for each class its closure (a cell for each
/// quasi-identifier) and size; the population's codes, column by column.
pub fn against_population(
    closures: &[Vec<&Cell>],
    sizes: &[u64],
    population: &[&[u32]],
) -> (Journalist, f64) {
    let people = population.first().map_or(0, |column| column.len());
    // The same combination of values is looked at once.
    let groups = Classes::group(population, people);
    let covered: Vec<u64> = closures
        .par_iter()
        .map(|closure| {
            (0..groups.count())
                .filter(|group| {
                    let row = groups.rows(*group)[0] as usize;
                    let mut cells = closure.iter().zip(population);
                    cells.all(|(cell, column)| cell.contains(column[row]))
                })
                .map(|group| groups.size(group))
                .sum()
        })
        .collect();
    let records: u64 = sizes.iter().sum();
    let mut max: f64 = 0.0;
    let mut expected = 0.0;
    let mut uncovered = 0;
    for (size, people) in sizes.iter().zip(&covered) {
        if *people == 0 {
            uncovered += size;
            continue;
        }
        max = max.max(1.0 / *people as f64);
        expected += *size as f64 / *people as f64;
    }
    let mean = expected / records as f64;
    (
        Journalist {
            max,
            mean,
            uncovered,
        },
        mean,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn risks_of_three_classes() {
        // Sizes 1, 4, 5.
        let classes = Classes::from_assignment(vec![0, 1, 1, 1, 1, 2, 2, 2, 2, 2], 3);
        let risk = risk(&classes);
        assert_eq!(risk.prosecutor.max, 1.0);
        assert_eq!(risk.prosecutor.mean, 0.3);
        let shares: Vec<f64> = risk
            .prosecutor
            .above
            .iter()
            .map(|above| above.share)
            .collect();
        // 1/5 does not exceed 0.2; 1/4 does; 1 exceeds 0.33.
        assert_eq!(shares, [1.0, 1.0, 0.5, 0.1]);
        assert_eq!(risk.uniqueness.after, 0.1);
    }

    #[test]
    fn a_population_hides_people() {
        let young = Cell::Interval(0, 4);
        let old = Cell::Interval(5, 9);
        let ages: Vec<u32> = (0..10).chain(0..5).collect();
        let (journalist, marketer) =
            against_population(&[vec![&young], vec![&old]], &[2, 3], &[&ages]);
        // Ten young people, five old ones.
        assert_eq!(journalist.max, 0.2);
        assert!((marketer - (0.2 + 0.6) / 5.0).abs() < 1e-12);
        assert_eq!(journalist.uncovered, 0);
    }
}
