//! The risk curve: which share of the records has a risk of re-identification of at most so much.
//!
//! Whoever knows the quasi-identifiers of a person comes to the person's class, and picks the person among its
//! records with a chance of one in their number.

use serde::Serialize;

/// The risks of which people ask, as one in so many.
const ONE_IN: [u64; 12] = [1000, 500, 200, 100, 50, 33, 20, 10, 5, 3, 2, 1];

/// The curve of a release.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct RiskCurve {
    /// Where the curve rises, from the least risk to the greatest: the risk is one in so many records, and this
    /// share of the records has that risk or less.
    pub(super) steps: Vec<Point>,
}

/// A point of the curve.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(super) struct Point {
    pub(super) one_in: u64,
    pub(super) records: u64,
    pub(super) share: f64,
}

impl RiskCurve {
    /// The curve of classes of these sizes.
    pub(super) fn of(sizes: &[u64]) -> Self {
        let mut sorted = sizes.to_vec();
        sorted.sort_unstable_by(|one, other| other.cmp(one));
        let total: u64 = sorted.iter().sum();
        let mut records = 0;
        let steps = sorted.chunk_by(|one, other| one == other).map(|same| {
            records += same[0] * same.len() as u64;
            Point {
                one_in: same[0],
                records,
                share: records as f64 / total.max(1) as f64,
            }
        });
        Self {
            steps: steps.collect(),
        }
    }

    /// The share of records whose risk is at most one in so many.
    pub(super) fn at(&self, one_in: u64) -> Point {
        let within = self.steps.partition_point(|step| step.one_in >= one_in);
        let last = within.checked_sub(1).map(|place| self.steps[place]);
        Point {
            one_in,
            records: last.map_or(0, |step| step.records),
            share: last.map_or(0.0, |step| step.share),
        }
    }

    /// Round risks, from the greatest that no record has less than to the least that every record has.
    pub(super) fn round(&self) -> Vec<Point> {
        let points: Vec<Point> = ONE_IN.iter().map(|one_in| self.at(*one_in)).collect();
        let from = points.partition_point(|point| point.records == 0);
        let to = points.partition_point(|point| point.share < 1.0);
        points[from.saturating_sub(1)..(to + 1).min(points.len())].to_vec()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_curve_counts_records_of_large_classes(sizes in prop::collection::vec(1u64..300, 1..60)) {
            let curve = RiskCurve::of(&sizes);
            let total: u64 = sizes.iter().sum();
            for one_in in 1..310 {
                let within: u64 = sizes.iter().filter(|size| **size >= one_in).sum();
                let point = curve.at(one_in);
                prop_assert_eq!(point.records, within);
                prop_assert!((point.share - within as f64 / total as f64).abs() < 1e-12);
            }
            let last = curve.steps.last().copied();
            prop_assert_eq!(last.map(|step| (step.share, step.one_in)), sizes.iter().min().map(|size| (1.0, *size)));
            let round = curve.round();
            prop_assert_eq!(round.last().map(|point| point.share), Some(1.0));
            prop_assert!(round.iter().filter(|point| point.records == 0).count() <= 1);
        }
    }
}
