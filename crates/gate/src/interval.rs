//! Exact intervals of a share that was counted on a sample (Clopper and Pearson 1934, "The use of confidence
//! or fiducial limits illustrated in the case of the binomial").

use serde::{Serialize, Serializer};

/// How sure the interval of a share is.
const CONFIDENCE: f64 = 0.95;

/// A share lies between two others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// The least share.
    pub low: f64,
    /// The greatest share.
    pub high: f64,
}

impl Interval {
    /// A share that is known exactly.
    pub fn exact(share: f64) -> Self {
        Self {
            low: share,
            high: share,
        }
    }

    /// This share without another one: as far apart as both intervals allow.
    #[must_use]
    pub fn without(self, other: Self) -> Self {
        Self {
            low: self.low - other.high,
            high: self.high - other.low,
        }
    }
}

impl Serialize for Interval {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        [self.low, self.high].serialize(serializer)
    }
}

/// The 95 % interval of a share of which `found` of `tried` were counted. Nothing tried says nothing.
pub fn clopper_pearson(found: u64, tried: u64) -> Interval {
    if tried == 0 {
        return Interval {
            low: 0.0,
            high: 1.0,
        };
    }
    let tail = (1.0 - CONFIDENCE) / 2.0;
    let (x, n) = (found as f64, tried as f64);
    Interval {
        low: match found {
            0 => 0.0,
            _ => quantile(tail, x, n - x + 1.0),
        },
        high: match found == tried {
            true => 1.0,
            false => quantile(1.0 - tail, x + 1.0, n - x),
        },
    }
}

/// The share below which the beta distribution has this much of its mass, by halving.
fn quantile(mass: f64, a: f64, b: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        match beta(middle, a, b) < mass {
            true => low = middle,
            false => high = middle,
        }
    }
    f64::midpoint(low, high)
}

/// The regularized incomplete beta function, by its continued fraction (Lentz).
fn beta(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return x.clamp(0.0, 1.0);
    }
    // The fraction is quick on this side only.
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - beta(1.0 - x, b, a);
    }
    let front = ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (1.0 - x).ln();
    const TINY: f64 = 1e-300;
    let away = |value: f64| if value.abs() < TINY { TINY } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / away(1.0 - (a + b) * x / (a + 1.0));
    let mut fraction = d;
    for step in 1..2000 {
        let m = f64::from(step);
        for term in [
            m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0)),
        ] {
            d = 1.0 / away(1.0 + term * d);
            c = away(1.0 + term / c);
            fraction *= c * d;
        }
        if (c * d - 1.0).abs() < 1e-14 {
            break;
        }
    }
    (front.exp() * fraction / a).clamp(0.0, 1.0)
}

/// The logarithm of the gamma function (Lanczos), for numbers above one half.
pub(crate) fn ln_gamma(x: f64) -> f64 {
    const COEFFICIENTS: [f64; 9] = [
        0.999_999_999_999_809_9,
        676.520_368_121_885_1,
        -1_259.139_216_722_402_8,
        771.323_428_777_653_1,
        -176.615_029_162_140_6,
        12.507_343_278_686_905,
        -0.138_571_095_265_720_12,
        9.984_369_578_019_572e-6,
        1.505_632_735_149_311_6e-7,
    ];
    let x = x - 1.0;
    let sum = (1..9).fold(COEFFICIENTS[0], |sum, i| {
        sum + COEFFICIENTS[i] / (x + i as f64)
    });
    let t = x + 7.5;
    0.5 * (2.0 * std::f64::consts::PI).ln() + (x + 0.5) * t.ln() - t + sum.ln()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The chance of at least `found` of `tried`, term by term.
    fn at_least(found: u64, tried: u64, share: f64) -> f64 {
        let ln = |number: u64| (2..=number).map(|factor| (factor as f64).ln()).sum::<f64>();
        let term = |i: u64| {
            let ways = ln(tried) - ln(i) - ln(tried - i);
            (ways + i as f64 * share.ln() + (tried - i) as f64 * (1.0 - share).ln()).exp()
        };
        (found..=tried).map(term).sum()
    }

    #[test]
    fn as_in_tables() {
        for (found, tried, low, high) in [
            (0, 10, 0.0, 0.3085),
            (5, 10, 0.1871, 0.8129),
            (10, 10, 0.6915, 1.0),
            (3, 1000, 0.000_619_1, 0.008_742),
        ] {
            let interval = clopper_pearson(found, tried);
            assert!((interval.low - low).abs() < 1e-4, "{interval:?}");
            assert!((interval.high - high).abs() < 1e-4, "{interval:?}");
        }
    }

    proptest! {
        #[test]
        fn each_end_leaves_a_fortieth(tried in 1u64..300, part in 0.0..=1.0f64) {
            let found = (part * tried as f64) as u64;
            let interval = clopper_pearson(found, tried);
            if found > 0 {
                prop_assert!((at_least(found, tried, interval.low) - 0.025).abs() < 1e-6);
            }
            if found < tried {
                prop_assert!((1.0 - at_least(found + 1, tried, interval.high) - 0.025).abs() < 1e-6);
            }
        }
    }
}
