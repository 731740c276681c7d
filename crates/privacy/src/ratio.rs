//! Exact fractions, so that a value that meets its threshold exactly is seen to meet it.

use std::cmp::Ordering;
use std::fmt;

use serde::{Serialize, Serializer};

/// A fraction of two unsigned numbers. Comparison is exact for all of them.
#[derive(Debug, Clone, Copy)]
pub struct Ratio {
    numerator: u128,
    denominator: u128,
}

impl Ratio {
    /// Nothing.
    pub const ZERO: Self = Self {
        numerator: 0,
        denominator: 1,
    };

    /// A fraction; a denominator of 0 stands for "without bound".
    pub const fn new(numerator: u128, denominator: u128) -> Self {
        Self {
            numerator,
            denominator,
        }
    }

    /// A whole number.
    pub const fn whole(number: u64) -> Self {
        Self {
            numerator: number as u128,
            denominator: 1,
        }
    }

    /// The decimal that a person wrote: 0.2 is two tenths, not the nearest binary fraction. `None` for
    /// negative numbers and for numbers with more digits than fit.
    pub fn from_decimal(number: f64) -> Option<Self> {
        if !number.is_finite() || number < 0.0 {
            return None;
        }
        // The number that was written is the shortest decimal that reads back as this number.
        let text = format!("{number}");
        let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
        if fraction.len() + whole.len() > 36 {
            return None;
        }
        let numerator = format!("{whole}{fraction}").parse().ok()?;
        Some(Self {
            numerator,
            denominator: 10u128.pow(fraction.len() as u32),
        })
    }

    /// Numerator and denominator.
    pub const fn parts(self) -> (u128, u128) {
        (self.numerator, self.denominator)
    }

    /// The nearest floating-point number, for people and JSON.
    pub fn to_f64(self) -> f64 {
        if self.denominator == 0 {
            return f64::INFINITY;
        }
        self.numerator as f64 / self.denominator as f64
    }
}

impl PartialEq for Ratio {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Ratio {}

impl PartialOrd for Ratio {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ratio {
    /// Exact without overflow: cross products where they fit, otherwise the two continued
    /// fractions term by term.
    fn cmp(&self, other: &Self) -> Ordering {
        let (mut a, mut b) = (*self, *other);
        loop {
            match (a.denominator, b.denominator) {
                (0, 0) => return Ordering::Equal,
                (0, _) => return Ordering::Greater,
                (_, 0) => return Ordering::Less,
                _ => {}
            }
            let left = a.numerator.checked_mul(b.denominator);
            let right = b.numerator.checked_mul(a.denominator);
            if let (Some(left), Some(right)) = (left, right) {
                return left.cmp(&right);
            }
            let wholes = (a.numerator / a.denominator).cmp(&(b.numerator / b.denominator));
            if wholes != Ordering::Equal {
                return wholes;
            }
            // Same whole part: compare the fractions' reciprocals, the other way round.
            let next_a = Self::new(b.denominator, b.numerator % b.denominator);
            let next_b = Self::new(a.denominator, a.numerator % a.denominator);
            (a, b) = (next_a, next_b);
        }
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rounded = format!("{:.4}", self.to_f64());
        let trimmed = rounded.trim_end_matches('0').trim_end_matches('.');
        match trimmed {
            _ if self.denominator == 0 => formatter.write_str("without bound"),
            // Small, but not nothing.
            "0" if self.numerator > 0 => write!(formatter, "{}", self.to_f64()),
            _ => formatter.write_str(trimmed),
        }
    }
}

impl Serialize for Ratio {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.denominator == 0 {
            serializer.serialize_none()
        } else {
            serializer.serialize_f64(self.to_f64())
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn decimals_are_what_was_written() {
        assert_eq!(Ratio::from_decimal(0.2), Some(Ratio::new(1, 5)));
        assert_eq!(
            Ratio::from_decimal(0.1 + 0.2).map(|sum| sum > Ratio::new(3, 10)),
            Some(true)
        );
        assert_eq!(Ratio::from_decimal(3.0), Some(Ratio::whole(3)));
        assert_eq!(Ratio::from_decimal(-0.5), None);
        assert_eq!(Ratio::from_decimal(f64::NAN), None);
    }

    #[test]
    fn huge_fractions_compare_exactly() {
        let n = u128::MAX;
        assert!(Ratio::new(n - 1, n) < Ratio::new(n, n));
        assert!(Ratio::new(n - 2, n - 1) < Ratio::new(n - 1, n));
        assert!(Ratio::new(n, n - 1) > Ratio::new(n - 1, n - 1));
        assert_eq!(Ratio::new(n, n), Ratio::whole(1));
        assert!(Ratio::new(1, 0) > Ratio::new(n, 1));
        assert_eq!(Ratio::new(1, 0), Ratio::new(5, 0));
    }

    proptest! {
        #[test]
        fn order_agrees_with_cross_products(a in 0u128..1000, b in 1u128..1000, c in 0u128..1000, d in 1u128..1000) {
            prop_assert_eq!(Ratio::new(a, b).cmp(&Ratio::new(c, d)), (a * d).cmp(&(c * b)));
        }

        #[test]
        fn scaling_changes_nothing(a in any::<u64>(), b in 1..u64::MAX, c in any::<u64>(), d in 1..u64::MAX, s in 1..u64::MAX, t in 1..u64::MAX) {
            // The scaled fractions overflow cross products, so this takes the long way round.
            let scaled = |a: u64, b: u64, s: u64| Ratio::new(u128::from(a) * u128::from(s), u128::from(b) * u128::from(s));
            let plain = (u128::from(a) * u128::from(d)).cmp(&(u128::from(c) * u128::from(b)));
            prop_assert_eq!(scaled(a, b, s).cmp(&scaled(c, d, t)), plain);
        }
    }
}
