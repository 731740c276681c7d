//! Axes: which numbers an axis covers, where its ticks stand, and what is written there.

use crate::frame::measured::Axis;
use crate::frame::rule::short;

/// An axis over numbers, linear or logarithmic.
#[derive(Debug, Clone)]
pub(super) struct Scale {
    low: f64,
    high: f64,
    is_log: bool,
    /// Whether all numbers are whole, so that ticks must be.
    is_whole: bool,
}

impl Scale {
    /// An axis that covers these numbers. Numbers that a logarithmic axis cannot show are left out.
    pub(super) fn new(axis: &Axis, numbers: impl Iterator<Item = f64>) -> Self {
        let is_log = axis.is_log;
        let shown = numbers.filter(|number| number.is_finite() && (!is_log || *number > 0.0));
        let mut is_whole = true;
        let shown = shown.inspect(|number| is_whole &= number.fract() == 0.0);
        let (mut low, mut high) = shown
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), number| {
                (low.min(number), high.max(number))
            });
        if low > high {
            (low, high) = (1.0, 10.0);
        }
        if is_log {
            (low, high) = (low.log10(), high.log10());
            let space = (high - low).max(0.3) * 0.06;
            return Self {
                low: low - space,
                high: high + space,
                is_log,
                is_whole,
            };
        }
        if axis.from_zero {
            low = low.min(0.0);
            high = high.max(0.0);
        }
        if high - low <= f64::EPSILON * high.abs() {
            (low, high) = (
                low - low.abs().max(1.0) * 0.5,
                high + high.abs().max(1.0) * 0.5,
            );
        }
        let space = (high - low) * 0.06;
        Self {
            // An axis from zero begins there.
            low: if low == 0.0 { 0.0 } else { low - space },
            high: high + space,
            is_log,
            is_whole,
        }
    }

    /// Where a number stands, from 0 to 1; `None` where the axis cannot show it.
    pub(super) fn place(&self, number: f64) -> Option<f64> {
        let number = match self.is_log {
            true if number > 0.0 => number.log10(),
            true => return None,
            false => number,
        };
        let place = (number - self.low) / (self.high - self.low);
        place.is_finite().then(|| place.clamp(0.0, 1.0))
    }

    /// Ticks: the number, and what is written there.
    pub(super) fn ticks(&self, most: usize) -> Vec<(f64, String)> {
        if self.is_log {
            return self.log_ticks(most);
        }
        self.even_ticks(self.low, self.high, most)
    }

    /// Ticks at equal distances.
    fn even_ticks(&self, low: f64, high: f64, most: usize) -> Vec<(f64, String)> {
        let mut rough = (high - low) / most as f64;
        if self.is_whole {
            rough = rough.max(1.0);
        }
        let power = 10f64.powf(rough.log10().floor());
        let steps = [1.0, 2.0, 2.5, 5.0, 10.0].map(|step| step * power);
        let fits = |step: &f64| *step >= rough * 0.999 && (!self.is_whole || step.fract() == 0.0);
        let step = steps.into_iter().find(fits).unwrap_or(10.0 * power);
        let first = (low / step).ceil() as i64;
        let last = (high / step).floor() as i64;
        (first..=last)
            .map(|place| {
                let number = place as f64 * step;
                // The sum of two decimals has no tail of nines.
                let number = (number / power * 100.0).round() / 100.0 * power;
                (number, short(number))
            })
            .collect()
    }

    fn log_ticks(&self, most: usize) -> Vec<(f64, String)> {
        let (first, last) = (self.low.floor() as i32, self.high.ceil() as i32);
        let choices: [&[f64]; 3] = [&[1.0, 2.0, 5.0], &[1.0, 3.0], &[1.0]];
        let ticks = |digits: &[f64], every: i32| -> Vec<(f64, String)> {
            let powers = (first..=last).filter(|power| power % every == 0);
            let numbers =
                powers.flat_map(|power| digits.iter().map(move |digit| digit * 10f64.powi(power)));
            let inside = numbers.filter(|number| (self.low..=self.high).contains(&number.log10()));
            inside.map(|number| (number, short(number))).collect()
        };
        // On less than a power of ten, round numbers stand at equal distances.
        if ticks(choices[0], 1).len() < 3 {
            let [low, high] = [self.low, self.high].map(|power| 10f64.powf(power));
            return self.even_ticks(low, high, most);
        }
        let mut found = choices.into_iter().map(|digits| ticks(digits, 1));
        found
            .find(|found| found.len() <= most.max(2))
            .unwrap_or_else(|| ticks(&[1.0], 1 + (last - first) / most.max(1) as i32))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: &Axis, numbers: &[f64], most: usize) -> Vec<String> {
        let scale = Scale::new(axis, numbers.iter().copied());
        scale
            .ticks(most)
            .into_iter()
            .map(|(_, label)| label)
            .collect()
    }

    #[test]
    fn ticks_are_round_numbers_inside_the_axis() {
        let axis = Axis::new("k", "records").from_zero();
        assert_eq!(
            labels(&axis, &[5.0, 50.0], 6),
            ["0", "10", "20", "30", "40", "50"]
        );
        let axis = Axis::new("loss", "");
        assert_eq!(
            labels(&axis, &[0.1, 0.3], 5),
            ["0.1", "0.15", "0.2", "0.25", "0.3"]
        );
        let axis = Axis::new("m", "");
        assert_eq!(labels(&axis, &[0.0, 18.0], 8), ["0", "5", "10", "15"]);
        assert_eq!(labels(&axis, &[1.0, 3.0], 8), ["1", "2", "3"]);
        let axis = Axis::new("seconds", "s").log();
        assert_eq!(labels(&axis, &[0.31, 0.42], 4), ["0.3", "0.35", "0.4"]);
        let axis = Axis::new("checks", "").log();
        assert_eq!(
            labels(&axis, &[1.0, 10_000.0], 6),
            ["1", "10", "100", "1,000", "10,000"]
        );
    }

    #[test]
    fn an_axis_of_nothing_or_of_one_number_has_a_width() {
        for axis in [
            Axis::new("x", ""),
            Axis::new("x", "").log(),
            Axis::new("x", "").from_zero(),
        ] {
            for numbers in [&[][..], &[0.0], &[7.0], &[f64::NAN, 3.0]] {
                let scale = Scale::new(&axis, numbers.iter().copied());
                assert!(scale.high > scale.low, "{axis:?} {numbers:?}");
                assert!(!scale.ticks(5).is_empty(), "{axis:?} {numbers:?}");
            }
        }
    }
}
