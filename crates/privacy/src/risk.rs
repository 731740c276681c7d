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
    /// The risk of the person most at risk.
    pub max: f64,
    /// The risk of an average person.
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
    /// The risk of the person most at risk; `None` if some class covers nobody in the population.
    pub max: Option<f64>,
    /// The risk of an average person of the release; `None` likewise.
    pub mean: Option<f64>,
    /// Records whose class covers nobody: this is not the population of the release.
    pub uncovered: u64,
}

/// Shares of records that are alone in their class.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Uniqueness {
    /// The share of unique records in the original table, where the original is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<f64>,
    /// The share of unique records in the release.
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

/// Journalist risk against a population: for each class its closure (a cell for each
/// quasi-identifier) and size; the population's codes, column by column, and how many people each of its
/// rows stands for, where that is not one. Its mean is the marketer risk too.
pub fn against_population(
    closures: &[Vec<&Cell>],
    sizes: &[u64],
    (population, counts): (&[&[u32]], Option<&[u64]>),
) -> Journalist {
    let people = People::new(population, counts);
    let covered: Vec<u64> = closures
        .par_iter()
        .map(|closure| people.covered(closure))
        .collect();
    let records: u64 = sizes.iter().sum();
    let uncovered = sizes
        .iter()
        .zip(&covered)
        .filter(|(_, people)| **people == 0);
    let uncovered: u64 = uncovered.map(|(size, _)| *size).sum();
    if uncovered > 0 || sizes.is_empty() {
        return Journalist {
            max: None,
            mean: None,
            uncovered,
        };
    }
    let fewest = covered.iter().min().map_or(1, |people| *people);
    let expected: f64 = sizes
        .iter()
        .zip(&covered)
        .map(|(size, people)| *size as f64 / *people as f64)
        .sum();
    Journalist {
        max: Some(1.0 / fewest as f64),
        mean: Some(expected / records as f64),
        uncovered: 0,
    }
}

/// A population, the same combination of values once, sorted by the attribute that has most.
struct People<'a> {
    columns: &'a [&'a [u32]],
    sorted_by: usize,
    /// A row of each combination, how many people have it, and its value of the attribute `sorted_by`.
    combinations: Vec<(u32, u32, u64)>,
}

impl<'a> People<'a> {
    fn new(columns: &'a [&'a [u32]], counts: Option<&[u64]>) -> Self {
        let people = columns.first().map_or(0, |column| column.len());
        let distinct = |column: &&[u32]| Classes::group(&[*column], people).count();
        let widest = (0..columns.len()).max_by_key(|index| distinct(&columns[*index]));
        let sorted_by = widest.unwrap_or(0);
        let groups = Classes::group(columns, people).counted(counts);
        let mut combinations: Vec<(u32, u32, u64)> = (0..groups.count())
            .map(|group| {
                let row = groups.rows(group)[0];
                (columns[sorted_by][row as usize], row, groups.size(group))
            })
            .collect();
        combinations.sort_unstable();
        Self {
            columns,
            sorted_by,
            combinations,
        }
    }

    /// The people that a closure covers.
    fn covered(&self, closure: &[&Cell]) -> u64 {
        let Some(cell) = closure.get(self.sorted_by) else {
            return self.combinations.iter().map(|(.., count)| count).sum();
        };
        let (least, greatest) = cell.bounds();
        let from = self
            .combinations
            .partition_point(|(value, ..)| *value < least);
        let to = self
            .combinations
            .partition_point(|(value, ..)| *value <= greatest);
        self.combinations[from..to]
            .iter()
            .filter(|(_, row, _)| {
                let mut cells = closure.iter().zip(self.columns);
                cells.all(|(cell, column)| cell.contains(column[*row as usize]))
            })
            .map(|(.., count)| count)
            .sum()
    }
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
        let journalist = against_population(&[vec![&young], vec![&old]], &[2, 3], (&[&ages], None));
        // Ten young people, five old ones.
        assert_eq!(journalist.max, Some(0.2));
        assert!((journalist.mean.unwrap() - (0.2 + 0.6) / 5.0).abs() < 1e-12);
        assert_eq!(journalist.uncovered, 0);
        // Nobody is over 20: this is not the population, and no number would be true.
        let nobody = Cell::Interval(20, 30);
        let journalist = against_population(&[vec![&nobody]], &[2], (&[&ages], None));
        assert_eq!(
            (journalist.max, journalist.mean, journalist.uncovered),
            (None, None, 2)
        );
    }

    #[test]
    fn a_counted_population_is_its_people() {
        let (young, old) = (Cell::Interval(0, 4), Cell::Interval(5, 9));
        let closures = [vec![&young], vec![&old]];
        let (ages, counts) = ([0, 4, 4, 7, 9], [3, 1, 2, 1, 4]);
        let people = ages.iter().zip(counts);
        let singly: Vec<u32> = people.flat_map(|(age, count)| vec![*age; count]).collect();
        let counts = counts.map(|count| count as u64);
        let counted = against_population(&closures, &[2, 3], (&[&ages], Some(&counts)));
        let single = against_population(&closures, &[2, 3], (&[&singly], None));
        assert_eq!(counted, single);
        assert_eq!(counted.max, Some(0.2));
        let many = counts.map(|count| count * 300_000_000);
        let counted = against_population(&closures, &[2, 3], (&[&ages], Some(&many)));
        assert_eq!(counted.max, Some(1.0 / 1_500_000_000.0));
    }
}
