//! The figures of JX08, distributed anonymization and querying. All of them run at the published level,
//! with the paper's choices: ranges of the data, median items on both sides, sums with one mask.

mod class_size;
mod loss;
mod query;
mod union;

pub(crate) use class_size::HALVING;

use crate::data::{Dataset, QI8};
use crate::frame::prelude::*;

/// The figures.
pub(crate) const FAMILIES: &[Family] = &[class_size::FAMILY, loss::FAMILY, union::FAMILY];

/// Section 6.1: the table has 30,161 records.
pub(crate) const RECORDS: usize = 30_161;

/// Algorithm 1, line 6: median items are distributed.
const PRINTED: &str = "relaxed";

/// A study as the paper has it: Algorithm 1 takes the ranges of the values that occur (line 2). `medians`
/// says where median items go.
fn study(data: &Dataset, name: &str, k: u64, medians: &str) -> Result<hedgerow::Study, Error> {
    data.study(name)
        .quasi(&QI8)
        .sensitive("salary-class")
        .head("security = \"published\"")
        .require(format!("k = {k}\nm = 0"))
        .algorithm(format!(
            "recode = \"range\"\nwidths = \"data\"\nmedians = \"{medians}\""
        ))
        .build()
}

/// The mean of numbers, and its standard error; 0 for one number.
fn mean(numbers: &[f64]) -> (f64, f64) {
    let count = numbers.len() as f64;
    let mean = numbers.iter().sum::<f64>() / count;
    if numbers.len() < 2 {
        return (mean, 0.0);
    }
    let squares: f64 = numbers.iter().map(|number| (number - mean).powi(2)).sum();
    (mean, (squares / (count - 1.0) / count).sqrt())
}

#[cfg(test)]
mod tests {
    use super::mean;

    #[test]
    fn a_mean_and_its_error_by_hand() {
        assert_eq!(mean(&[2.0]), (2.0, 0.0));
        // Variance 1 of three numbers.
        let (mean, error) = mean(&[1.0, 2.0, 3.0]);
        assert_eq!(mean, 2.0);
        assert!((error - (1.0f64 / 3.0).sqrt()).abs() < 1e-12);
    }
}
