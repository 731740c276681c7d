//! Rules: checks of what was measured that decide, in code, whether a claim holds.
//!
//! A check of counts may be one that must hold, which CI sees to; a check of times may not. A check of
//! points that were never measured fails.

use super::measured::Point;

/// When a check that fails is a mistake of ours, and not a difference to be reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Must {
    /// Never: the claim is the paper's.
    Never,
    /// At full size.
    AtFull,
    /// At every size.
    Always,
}

/// One thing that a rule looks at.
#[derive(Debug, Clone)]
pub(crate) struct Check {
    /// What must be so, with the numbers that were found.
    pub(crate) words: String,
    pub(crate) holds: bool,
    pub(crate) must: Must,
    /// Whether the check makes sense at full size alone, such as a number of the paper's own table.
    pub(crate) is_of_full: bool,
    /// The most likely reason where the check fails.
    pub(crate) reason: String,
}

/// A series as rules see it.
#[derive(Debug, Clone)]
pub(crate) struct Curve {
    pub(crate) name: String,
    pub(crate) points: Vec<Point>,
}

impl Curve {
    /// The value at x.
    pub(crate) fn at(&self, x: f64) -> Option<f64> {
        let found = self.points.iter().find(|point| point.x == x);
        found.map(|point| point.y)
    }

    /// The x at which the value is least; the first of several.
    pub(crate) fn lowest_at(&self) -> Option<f64> {
        let mut points = self.points.iter();
        let first = points.next()?;
        let lowest = points.fold(first, |low, point| match point.y < low.y {
            true => point,
            false => low,
        });
        Some(lowest.x)
    }

    /// The mean of the values.
    pub(crate) fn mean(&self) -> f64 {
        self.points.iter().map(|point| point.y).sum::<f64>() / self.points.len() as f64
    }

    /// Slope and intercept of the line of least squares; NaN where there are not two different x.
    pub(crate) fn line(&self) -> (f64, f64) {
        let count = self.points.len() as f64;
        let x = self.points.iter().map(|point| point.x).sum::<f64>() / count;
        let (slope, _) = self.slope();
        (slope, self.mean() - slope * x)
    }

    /// The slope of the line of least squares, and its standard error from those of the points.
    fn slope(&self) -> (f64, f64) {
        let count = self.points.len() as f64;
        let middle = self.points.iter().map(|point| point.x).sum::<f64>() / count;
        let sum = |of: &dyn Fn(&Point) -> f64| self.points.iter().map(of).sum::<f64>();
        let squares = sum(&|point| (point.x - middle).powi(2));
        let rises = sum(&|point| (point.x - middle) * point.y);
        let errors = sum(&|point| ((point.x - middle) * point.spread.unwrap_or(0.0)).powi(2));
        (rises / squares, errors.sqrt() / squares)
    }

    /// The square of Pearson's correlation of x and y; NaN where either is constant.
    pub(crate) fn squared_correlation(&self) -> f64 {
        let count = self.points.len() as f64;
        let x = self.points.iter().map(|point| point.x).sum::<f64>() / count;
        let y = self.mean();
        let sum = |of: &dyn Fn(f64, f64) -> f64| {
            let apart = self.points.iter().map(|point| of(point.x - x, point.y - y));
            apart.sum::<f64>()
        };
        sum(&|a, b| a * b).powi(2) / (sum(&|a, _| a * a) * sum(&|_, b| b * b))
    }

    /// The curve of the logarithms of its values.
    pub(crate) fn logarithm(&self) -> Self {
        let points = self.points.iter().map(|point| Point {
            y: point.y.ln(),
            spread: None,
            ..*point
        });
        Self {
            name: format!("the logarithm of {}", self.name),
            points: points.collect(),
        }
    }

    /// The curve where x is in a range.
    pub(crate) fn within(&self, range: impl std::ops::RangeBounds<f64>) -> Self {
        let points = self.points.iter().filter(|point| range.contains(&point.x));
        Self {
            name: self.name.clone(),
            points: points.copied().collect(),
        }
    }

    /// The mean of this curve's values, each divided by the other's at the same x; NaN where they have no
    /// x in common.
    pub(crate) fn mean_ratio(&self, other: &Self) -> f64 {
        let ratios = self.points.iter();
        let ratios = ratios.filter_map(|point| Some(point.y / other.at(point.x)?));
        let ratios: Vec<f64> = ratios.collect();
        ratios.iter().sum::<f64>() / ratios.len() as f64
    }

    /// The curve by another name.
    pub(crate) fn called(mut self, name: &str) -> Self {
        self.name = name.to_owned();
        self
    }

    /// The least and the greatest value; NaN where there is no point.
    pub(crate) fn bounds(&self) -> (f64, f64) {
        let values = || self.points.iter().map(|point| point.y);
        (
            values().fold(f64::NAN, f64::min),
            values().fold(f64::NAN, f64::max),
        )
    }
}

impl Check {
    /// A check that code of its own has decided. The words say what must be so, and what was found.
    pub(crate) fn that(words: impl Into<String>, holds: bool) -> Self {
        Self {
            words: words.into(),
            holds,
            must: Must::Never,
            is_of_full: false,
            reason: String::new(),
        }
    }

    /// Both curves have the same x, and their values differ by this share of the larger at most.
    pub(crate) fn equal(one: &Curve, other: &Curve, share: f64) -> Self {
        let words = match share {
            0.0 => String::from("equals"),
            share => format!("is within {} % of", short(100.0 * share)),
        };
        Self::pairs(one, other, &words, |a, b| {
            (a - b).abs() <= share * a.abs().max(b.abs())
        })
    }

    /// The first curve lies below the other at every x.
    pub(crate) fn below(one: &Curve, other: &Curve) -> Self {
        Self::pairs(one, other, "lies below", |a, b| a < b)
    }

    /// The first curve lies nowhere above the other.
    pub(crate) fn not_above(one: &Curve, other: &Curve) -> Self {
        Self::pairs(one, other, "lies nowhere above", |a, b| a <= b)
    }

    /// The curve never rises by more than this share of its value, and ends below its beginning.
    pub(crate) fn falls(curve: &Curve, slack: f64) -> Self {
        Self::trend(curve, "falls", |a, b| b <= a * (1.0 + slack), |a, b| b < a)
    }

    /// The curve never falls by more than this share of its value, and ends above its beginning.
    pub(crate) fn rises(curve: &Curve, slack: f64) -> Self {
        Self::trend(curve, "rises", |a, b| b >= a * (1.0 - slack), |a, b| b > a)
    }

    /// A straight line through the points, each with its standard error, falls by more than two standard
    /// errors of its slope.
    pub(crate) fn falls_beyond_errors(curve: &Curve) -> Self {
        let name = &curve.name;
        let (slope, error) = curve.slope();
        let words = format!(
            "{name} falls: a line through its points has a slope of {}, with a standard error of {}, of which twice must lie between it and zero",
            short(slope),
            short(error)
        );
        Self::that(words, slope + 2.0 * error < 0.0)
    }

    /// All values lie between these, both included.
    pub(crate) fn between(curve: &Curve, low: f64, high: f64) -> Self {
        let found = curve.bounds();
        let holds = found.0 >= low && found.1 <= high;
        Self::that(
            format!(
                "{} lies between {} and {} (found {} to {})",
                curve.name,
                short(low),
                short(high),
                short(found.0),
                short(found.1)
            ),
            holds,
        )
    }

    /// The check must hold at every size: CI sees to it. Only checks of counts may say so.
    pub(crate) fn must(mut self) -> Self {
        self.must = Must::Always;
        self
    }

    /// The check must hold at full size.
    pub(crate) fn must_at_full(mut self) -> Self {
        self.must = Must::AtFull;
        self
    }

    /// The check is left out of the small version.
    pub(crate) fn only_at_full(mut self) -> Self {
        self.is_of_full = true;
        self
    }

    /// The most likely reason where the check fails.
    pub(crate) fn or(mut self, reason: impl Into<String>) -> Self {
        self.reason = reason.into();
        self
    }

    /// Says of which panel, or of what, the check speaks.
    pub(crate) fn of(mut self, what: &str) -> Self {
        self.words = format!("{what}: {}", self.words);
        self
    }

    fn pairs(one: &Curve, other: &Curve, words: &str, keeps: impl Fn(f64, f64) -> bool) -> Self {
        let (name, beside) = (&one.name, &other.name);
        if one.points.is_empty() || one.points.len() != other.points.len() {
            let words =
                format!("{name} {words} {beside} (they were not measured at the same points)");
            return Self::that(words, false);
        }
        let pairs = one.points.iter().zip(&other.points);
        let against = pairs.filter(|(a, b)| a.x != b.x || !keeps(a.y, b.y));
        let against: Vec<_> = against.collect();
        let found = match against.first() {
            None => format!("at all {} points", one.points.len()),
            Some((a, b)) => format!(
                "not at {} of {} points; at {}: {} and {}",
                against.len(),
                one.points.len(),
                short(a.x),
                short(a.y),
                short(b.y)
            ),
        };
        Self::that(
            format!("{name} {words} {beside} ({found})"),
            against.is_empty(),
        )
    }

    fn trend(
        curve: &Curve,
        words: &str,
        step: impl Fn(f64, f64) -> bool,
        whole: impl Fn(f64, f64) -> bool,
    ) -> Self {
        let name = &curve.name;
        let (Some(first), Some(last)) = (curve.points.first(), curve.points.last()) else {
            return Self::that(format!("{name} {words} (nothing was measured)"), false);
        };
        let mut pairs = curve.points.windows(2);
        let against = pairs.find(|pair| !step(pair[0].y, pair[1].y));
        let mut found = format!(
            "from {} at {} to {} at {}",
            short(first.y),
            short(first.x),
            short(last.y),
            short(last.x)
        );
        if let Some(pair) = against {
            found.push_str(&format!(
                ", but from {} at {} to {} at {}",
                short(pair[0].y),
                short(pair[0].x),
                short(pair[1].y),
                short(pair[1].x)
            ));
        }
        let holds = against.is_none() && whole(first.y, last.y);
        Self::that(format!("{name} {words} ({found})"), holds)
    }
}

/// A number with four digits that count, for people.
pub(crate) fn short(number: f64) -> String {
    if number == 0.0 || !number.is_finite() {
        return number.to_string();
    }
    let digits = 3 - number.abs().log10().floor() as i32;
    let text = format!("{number:.*}", digits.clamp(0, 12) as usize);
    let text = match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    };
    let (whole, rest) = text
        .split_once('.')
        .map_or((&*text, None), |(whole, rest)| (whole, Some(rest)));
    let (sign, whole) = whole
        .strip_prefix('-')
        .map_or(("", whole), |whole| ("-", whole));
    let whole = match whole.parse() {
        Ok(whole) => hedgerow::words::thousands(whole),
        Err(_) => whole.to_owned(),
    };
    match rest {
        Some(rest) => format!("{sign}{whole}.{rest}"),
        None => format!("{sign}{whole}"),
    }
}
