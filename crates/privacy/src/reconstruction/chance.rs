//! How often a pair of values meets by chance, as a distribution: in one group the hypergeometric
//! distribution, over several groups the sum of independent ones.

/// Mass at an end of a distribution that is left out.
const NEGLIGIBLE: f64 = 1e-18;

/// The distribution of a count.
#[derive(Debug, Clone)]
pub(super) struct Chance {
    /// The least count with any mass.
    from: u64,
    /// The mass of each count from there on.
    mass: Vec<f64>,
}

impl Default for Chance {
    /// Never.
    fn default() -> Self {
        Self {
            from: 0,
            mass: vec![1.0],
        }
    }
}

impl Chance {
    /// How often two values meet among `size` people of whom `a` have the one and `b` the other.
    fn of_group(size: u64, a: u64, b: u64) -> Self {
        let (from, to) = ((a + b).saturating_sub(size), a.min(b));
        // How much more mass the next count has.
        let ratio = |count: u64| {
            let up = (a - count) as f64 * (b - count) as f64;
            up / ((count + 1) as f64 * (size + count + 1 - a - b) as f64)
        };
        // From the greatest mass on to both sides, so that no product leaves the range of numbers.
        let mode = (from..to).find(|count| ratio(*count) < 1.0).unwrap_or(to);
        let mut mass = vec![1.0; (to - from) as usize + 1];
        let place = (mode - from) as usize;
        for at in place + 1..mass.len() {
            mass[at] = mass[at - 1] * ratio(from + at as u64 - 1);
        }
        for at in (0..place).rev() {
            mass[at] = mass[at + 1] / ratio(from + at as u64);
        }
        let all: f64 = mass.iter().sum();
        mass.iter_mut().for_each(|mass| *mass /= all);
        let mut chance = Self { from, mass };
        chance.trim();
        chance
    }

    /// Adds another group.
    pub(super) fn add(&mut self, size: u64, a: u64, b: u64) {
        let other = Self::of_group(size, a, b);
        let mut mass = vec![0.0; self.mass.len() + other.mass.len() - 1];
        for (at, one) in self.mass.iter().enumerate() {
            for (sum, two) in mass[at..].iter_mut().zip(&other.mass) {
                *sum += one * two;
            }
        }
        *self = Self {
            from: self.from + other.from,
            mass,
        };
        self.trim();
    }

    fn trim(&mut self) {
        let is_kept = |mass: &f64| *mass > NEGLIGIBLE;
        let last = self.mass.iter().rposition(is_kept).unwrap_or(0);
        self.mass.truncate(last + 1);
        let first = self.mass.iter().position(is_kept).unwrap_or(0);
        self.mass.drain(..first);
        self.from += first as u64;
    }

    /// The mean of the count together with `beside`, cut off at `most`. Of a broken number the lower and
    /// the upper whole number have their shares.
    pub(super) fn mean_of_least(&self, beside: f64, most: u64) -> f64 {
        let whole = beside.floor();
        let mean = |beside: u64| -> f64 {
            let counts = (self.from + beside..).zip(&self.mass);
            counts
                .map(|(count, mass)| count.min(most) as f64 * mass)
                .sum()
        };
        let upper = beside - whole;
        let mut least = (1.0 - upper) * mean(whole as u64);
        if upper > 0.0 {
            least += upper * mean(whole as u64 + 1);
        }
        least
    }
}
