//! What each privacy model measures on one class, from its counts (spec: models; Machanavajjhala
//! et al. 2006 for the kinds of l, Cao and Karras 2012 for beta, Brickell and Shmatikov 2008 for
//! delta).

use crate::counts::{Counts, Reference};
use crate::ratio::Ratio;

/// Relative slack for values that are logarithms: `2^H >= l` must not fail at exact equality.
pub const EPSILON: f64 = 1e-9;

/// Distinct sensitive values.
pub fn distinct(class: Counts<'_>) -> u64 {
    class.present().count() as u64
}

/// Share of the most frequent value; 0 for an empty class.
pub fn max_frequency(class: Counts<'_>) -> Ratio {
    let most = class.present().max().unwrap_or(0);
    Ratio::new(u128::from(most), u128::from(class.size().max(1)))
}

/// TG12's diversity: 1 over the share of the most frequent value.
pub fn frequency_diversity(class: Counts<'_>) -> Ratio {
    let most = class.present().max().unwrap_or(1);
    Ratio::new(u128::from(class.size().max(1)), u128::from(most))
}

/// Entropy in bits.
pub fn entropy(class: Counts<'_>) -> f64 {
    let size = class.size() as f64;
    // log n - sum(c log c)/n keeps exact powers of two exact.
    let weighted: f64 = class
        .present()
        .map(|count| count as f64 * (count as f64).log2())
        .sum();
    if size == 0.0 {
        0.0
    } else {
        size.log2() - weighted / size
    }
}

/// Entropy diversity: 2^H, the number of equally frequent values with the same entropy.
pub fn entropy_diversity(class: Counts<'_>) -> f64 {
    let exact = entropy(class).exp2();
    // Where floating point misses a whole number by a hair, the number is rounded to it.
    let rounded = exact.round();
    if (exact - rounded).abs() <= EPSILON * rounded {
        rounded
    } else {
        exact
    }
}

/// The bound of recursive (c,l)-diversity: r_1 / (r_l + r_{l+1} + …), counts descending. The
/// class is (c,l)-diverse for every c greater than this; without bound when there are fewer than
/// `l` values.
pub fn recursive_bound(class: Counts<'_>, l: u64) -> Ratio {
    let mut counts: Vec<u64> = class.present().collect();
    counts.sort_unstable_by(|a, b| b.cmp(a));
    let first = counts.first().copied().unwrap_or(0);
    let tail: u64 = counts.iter().skip(l.saturating_sub(1) as usize).sum();
    Ratio::new(u128::from(first), u128::from(tail))
}

/// Basic beta-likeness: the greatest relative gain (q - p) / p of a value.
pub fn greatest_gain(class: Counts<'_>, table: &Reference) -> Ratio {
    let size = class.size();
    let gains = class.iter().map(|(value, count)| {
        let (in_class, in_table) = scaled(count, size, table, value);
        Ratio::new(in_class.saturating_sub(in_table), in_table)
    });
    gains.max().unwrap_or(Ratio::ZERO)
}

/// Whether every relative gain stays within -ln p, the cap of enhanced beta-likeness.
pub fn gains_within_cap(class: Counts<'_>, table: &Reference) -> bool {
    let size = class.size();
    class.iter().all(|(value, count)| {
        let (in_class, in_table) = scaled(count, size, table, value);
        let gain = in_class.saturating_sub(in_table) as f64 / in_table as f64;
        let cap = -(table.count(value) as f64 / table.total() as f64).ln();
        gain <= cap * (1.0 + EPSILON)
    })
}

/// Delta-disclosure: the greatest |ln(q / p)| over the values of the table, by the natural logarithm.
/// Without bound where the class lacks a value: it discloses that nobody in the class has the value.
pub fn disclosure(class: Counts<'_>, table: &Reference) -> f64 {
    if distinct(class) < table.distinct() {
        return f64::INFINITY;
    }
    disclosure_of_present(class, table)
}

/// Delta-disclosure over the values that occur in the class alone, as pyCANON reports it. It bounds
/// nothing about the values that are absent.
pub fn disclosure_of_present(class: Counts<'_>, table: &Reference) -> f64 {
    let size = class.size();
    class
        .iter()
        .map(|(value, count)| {
            let (in_class, in_table) = scaled(count, size, table, value);
            (in_class as f64 / in_table as f64).ln().abs()
        })
        .fold(0.0, f64::max)
}

/// q and p over the common denominator (class size times table size).
fn scaled(count: u64, size: u64, table: &Reference, value: u32) -> (u128, u128) {
    let in_class = u128::from(count) * u128::from(table.total());
    let in_table = u128::from(table.count(value)) * u128::from(size);
    (in_class, in_table)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn entropy_of_equal_counts_is_exact() {
        for l in 1..=64u32 {
            let values: Vec<u32> = (0..l).collect();
            for count in [1, 3, 7, 1_000_003] {
                let counts = vec![count; l as usize];
                assert_eq!(
                    entropy_diversity(Counts::new(&values, &counts)),
                    f64::from(l)
                );
            }
        }
    }

    #[test]
    fn recursive_bound_of_a_textbook_class() {
        // r = (5, 3, 2): 5 < c (3 + 2) for l = 2, 5 < c 2 for l = 3.
        let class = Counts::new(&[1, 4, 9], &[3, 5, 2]);
        assert_eq!(recursive_bound(class, 2), Ratio::whole(1));
        assert_eq!(recursive_bound(class, 3), Ratio::new(5, 2));
        assert_eq!(recursive_bound(class, 4), Ratio::new(1, 0));
    }

    /// A class within a table: counts of the class, and of the rest.
    fn class_and_rest() -> impl Strategy<Value = (Vec<u64>, Vec<u64>)> {
        (1..8usize)
            .prop_flat_map(|n| {
                (
                    proptest::collection::vec(0..6u64, n),
                    proptest::collection::vec(0..6u64, n),
                )
            })
            .prop_filter("not empty", |(class, _)| class.iter().sum::<u64>() > 0)
    }

    proptest! {
        /// Each measure against its formula, transcribed with probabilities.
        #[test]
        fn formulas((class, rest) in class_and_rest(), l in 1..5u64) {
            let values: Vec<u32> = (0..class.len() as u32).collect();
            let table = Reference::new(class.iter().zip(&rest).map(|(a, b)| a + b).collect());
            let counts = Counts::new(&values, &class);
            let n: u64 = class.iter().sum();
            let q: Vec<f64> = class.iter().map(|c| *c as f64 / n as f64).collect();
            let p: Vec<f64> = table.counts().iter().map(|c| *c as f64 / table.total() as f64).collect();
            let close = |a: f64, b: f64| (a - b).abs() < 1e-9 * (1.0 + a.abs()) || a == b;

            prop_assert_eq!(distinct(counts), q.iter().filter(|q| **q > 0.0).count() as u64);
            let top = q.iter().copied().fold(0.0, f64::max);
            prop_assert!(close(max_frequency(counts).to_f64(), top));
            prop_assert!(close(frequency_diversity(counts).to_f64(), 1.0 / top));
            let h: f64 = -q.iter().filter(|q| **q > 0.0).map(|q| q * q.log2()).sum::<f64>();
            prop_assert!(close(entropy(counts), h.abs()));
            prop_assert!(close(entropy_diversity(counts), h.abs().exp2()));

            let mut sorted = class.clone();
            sorted.sort_unstable();
            sorted.reverse();
            let tail: u64 = sorted.iter().skip(l as usize - 1).sum();
            prop_assert!(close(recursive_bound(counts, l).to_f64(), sorted[0] as f64 / tail as f64));

            let present = || (0..q.len()).filter(|i| p[*i] > 0.0);
            let gain = present().map(|i| (q[i] - p[i]) / p[i]).fold(0.0, f64::max);
            prop_assert!(close(greatest_gain(counts, &table).to_f64(), gain));
            let capped = present().all(|i| (q[i] - p[i]) / p[i] <= -p[i].ln() + 1e-9);
            prop_assert_eq!(gains_within_cap(counts, &table), capped);
            // ln 0 is without bound, as floating point has it.
            let delta = present().map(|i| (q[i] / p[i]).ln().abs()).fold(0.0, f64::max);
            prop_assert!(close(disclosure(counts, &table), delta));
            let delta = present().filter(|i| q[*i] > 0.0).map(|i| (q[i] / p[i]).ln().abs()).fold(0.0, f64::max);
            prop_assert!(close(disclosure_of_present(counts, &table), delta));
        }
    }
}
