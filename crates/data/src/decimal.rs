//! Decimals: numbers with a point, exact.
//!
//! A decimal is a whole number of units and the digits behind its point: 38.6 is 386 tenths. A domain of
//! decimals has as many digits as its step, and so its values are whole numbers of units: codes, levels and
//! cells are those of integers, and only their text has a point. A value that lies between two steps is
//! outside the domain: nothing is rounded.

use std::cmp::Ordering;

use crate::domain::IntegerDomain;

/// The most digits of a decimal, before and behind the point together, so that units fit an `i64`.
pub(crate) const MOST_DIGITS: u8 = 18;

/// A number with a point, as it was written: `0.10` has two digits behind the point.
#[derive(Debug, Clone, Copy)]
pub struct Decimal {
    units: i64,
    digits: u8,
}

/// Decimals from a least one on in steps, with an optional taxonomy over them.
#[derive(Debug, Clone, PartialEq)]
pub struct DecimalDomain {
    /// The same domain in units.
    pub(crate) numbers: IntegerDomain,
    pub(crate) digits: u8,
}

impl Decimal {
    /// The number of a text such as `-38.6`; `None` for other text, for exponents, and for more than 18
    /// digits.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = match text.split_once('.') {
            Some((_, behind)) => u8::try_from(behind.len()).ok()?,
            None => 0,
        };
        let units = units(text.as_bytes(), digits)?;
        (digits <= MOST_DIGITS).then_some(Self { units, digits })
    }

    /// So many units of the last of some digits behind the point.
    pub const fn of_units(units: i64, digits: u8) -> Self {
        Self { units, digits }
    }

    /// The digits behind the point.
    pub const fn digits(self) -> u8 {
        self.digits
    }

    /// The number in units of so many digits behind the point, which are its own digits or more.
    pub(crate) fn scaled(self, digits: u8) -> i128 {
        // Both have 18 digits at most, so the product fits.
        i128::from(self.units) * 10_i128.pow(u32::from(digits.saturating_sub(self.digits)))
    }

    /// The number in units of so many digits behind the point; `None` where the number has more digits
    /// than these.
    pub fn units(self, digits: u8) -> Option<i64> {
        units(self.to_string().as_bytes(), digits)
    }
}

impl std::fmt::Display for Decimal {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&written(self.units, self.digits))
    }
}

impl PartialEq for Decimal {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Decimal {}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Decimal {
    /// Numbers compare by value: 0.10 is 0.1.
    fn cmp(&self, other: &Self) -> Ordering {
        let digits = self.digits.max(other.digits);
        self.scaled(digits).cmp(&other.scaled(digits))
    }
}

impl DecimalDomain {
    /// The decimal of a code that is not the missing value's.
    pub fn value(&self, code: u32) -> Decimal {
        Decimal {
            units: self.numbers.value(code),
            digits: self.digits,
        }
    }

    /// The step from one decimal to the next.
    pub fn step(&self) -> Decimal {
        Decimal {
            units: self.numbers.step(),
            digits: self.digits,
        }
    }

    /// The digits behind the point of every value.
    pub const fn digits(&self) -> u8 {
        self.digits
    }

    /// A value in units of the last digit, of a code that is not the missing value's.
    pub fn units(&self, code: u32) -> i64 {
        self.numbers.value(code)
    }

    pub(crate) fn step_units(&self) -> i64 {
        self.numbers.step()
    }

    pub(crate) fn encode(&self, text: &[u8]) -> Option<u32> {
        let number = units(text, self.digits);
        number
            .and_then(|number| self.numbers.code(number))
            .or_else(|| self.numbers.encode_missing(text))
    }

    /// The valid values next to a number, below and above.
    pub(crate) fn nearest(&self, text: &str) -> Vec<String> {
        let Ok(number) = text.parse::<f64>() else {
            return Vec::new();
        };
        let units = number * 10_f64.powi(i32::from(self.digits));
        let steps = (units - self.numbers.value(0) as f64) / self.numbers.step() as f64;
        // Out of range and not a number become the ends.
        let last = self.numbers.last();
        let below = (steps.floor() as u32).min(last);
        let above = (steps.ceil().max(0.0) as u32).min(last);
        let mut near = vec![self.value(below).to_string()];
        if above != below {
            near.push(self.value(above).to_string());
        }
        near
    }
}

/// The text of units with so many digits behind the point.
pub(crate) fn written(units: i64, digits: u8) -> String {
    if digits == 0 {
        return units.to_string();
    }
    let sign = if units < 0 { "-" } else { "" };
    let width = usize::from(digits) + 1;
    let mut text = format!("{sign}{:0width$}", units.unsigned_abs());
    text.insert(text.len() - usize::from(digits), '.');
    text
}

/// The units of a number: digits, with an optional minus sign and an optional point. `None` for other
/// text, where the number has more digits behind the point that are not zeros, and where it has more
/// digits than fit.
pub(crate) fn units(text: &[u8], digits: u8) -> Option<i64> {
    let (is_negative, number) = match text {
        [b'-', number @ ..] => (true, number),
        number => (false, number),
    };
    let (whole, behind) = match number.iter().position(|byte| *byte == b'.') {
        Some(point) => (&number[..point], &number[point + 1..]),
        None => (number, &b""[..]),
    };
    // `.5` is a number and `5.` is none: the digits behind a point may be lost, those before it not.
    let ends_in_point = number.ends_with(b".");
    if (whole.is_empty() && behind.is_empty()) || ends_in_point {
        return None;
    }
    let (kept, beyond) = behind.split_at(behind.len().min(usize::from(digits)));
    if beyond.iter().any(|byte| *byte != b'0') {
        return None;
    }
    let mut units = 0_i64;
    let zeros = std::iter::repeat_n(&b'0', usize::from(digits) - kept.len());
    for digit in whole.iter().chain(kept).chain(zeros) {
        if !digit.is_ascii_digit() {
            return None;
        }
        units = units
            .checked_mul(10)?
            .checked_add(i64::from(digit - b'0'))?;
    }
    if units >= 10_i64.pow(u32::from(MOST_DIGITS)) {
        return None;
    }
    Some(if is_negative { -units } else { units })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::cell::Cell;
    use crate::domain::Domain;

    use super::*;

    fn decimal(text: &str) -> Decimal {
        Decimal::parse(text).unwrap()
    }

    fn domain(least: &str, greatest: &str, step: &str) -> Option<Domain> {
        Domain::decimal(decimal(least), decimal(greatest), decimal(step))
    }

    #[test]
    fn decimals_are_exact() {
        let domain = domain("-1", "99.50", "0.1").unwrap();
        assert_eq!(domain.size(), 1006);
        let read = |text: &str| {
            let code = domain.encode(text.as_bytes());
            code.map(|code| domain.label(code).into_owned())
        };
        for (text, written) in [
            ("-1", "-1.0"),
            ("-0.3", "-0.3"),
            ("-0.0", "0.0"),
            ("0.3", "0.3"),
            (".3", "0.3"),
            ("38.60", "38.6"),
            ("007.5", "7.5"),
            ("99.5", "99.5"),
        ] {
            assert_eq!(read(text).as_deref(), Some(written), "{text}");
        }
        for text in [
            "",
            "-",
            ".",
            "5.",
            "38.65",
            "99.6",
            "-1.1",
            "+1",
            " 1",
            "1e1",
            "1,5",
            "1.2.3",
            "nan",
            "NA",
            "99999999999999999999",
            "1.x",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn the_step_says_how_many_digits() {
        let halves = domain("0.05", "1", "0.10").unwrap();
        assert_eq!(halves.label(1), "0.15");
        assert_eq!(halves.size(), 10);
        // An end that lies between two digits of the step, a step of none, a range that runs backwards.
        assert!(domain("0.05", "1", "0.1").is_none());
        assert!(domain("0", "1", "0").is_none());
        assert!(domain("0", "1", "-0.1").is_none());
        assert!(domain("1.5", "1.4", "0.1").is_none());
        assert!(Decimal::parse("0.0000000000000000001").is_none());
    }

    #[test]
    fn decimals_compare_by_value() {
        assert_eq!(decimal("0.10"), decimal("0.1"));
        assert!(decimal("-0.2") < decimal("-0.15"));
        let (long, short) = (
            decimal("0.000000000000000001"),
            decimal("999999999999999999"),
        );
        assert!(long < short && long > decimal("0"));
    }

    #[test]
    fn cells_of_decimals_look_like_those_of_integers() {
        let domain = domain("-5", "5", "0.5").unwrap().with_missing("NA".into());
        assert_eq!(domain.write_cell(&Cell::Interval(0, 3)), "[-5.0--3.5]");
        assert_eq!(domain.write_cell(&Cell::Interval(10, 10)), "0.0");
        assert_eq!(domain.write_cell(&Cell::Interval(0, 21)), "*");
        let set = Cell::set(vec![0, 3, 21]).unwrap();
        assert_eq!(domain.write_cell(&set), "{-5.0|-3.5|NA}");
        assert_eq!(domain.read_cell("[-5.0--3.5]"), Ok(Cell::Interval(0, 3)));
    }

    proptest! {
        /// Decimals are integers whose text has a point: the same codes, the same cells.
        #[test]
        fn decimals_are_integers_scaled(least in -5000_i64..5000, count in 1_i64..400, step in 1_i64..70, digits in 0_u8..5, low in any::<u32>(), high in any::<u32>(), picks in proptest::collection::vec(any::<u32>(), 1..5)) {
            let greatest = least + (count - 1) * step;
            let scaled = |number: i64| decimal(&written(number, digits));
            let decimals = Domain::decimal(scaled(least), scaled(greatest), scaled(step)).unwrap();
            let integers = Domain::integer(least, greatest, step).unwrap();
            prop_assert_eq!(decimals.size(), integers.size());
            for number in least - 2..=(greatest + 2).min(least + 200) {
                let text = written(number, digits);
                prop_assert_eq!(decimals.encode(text.as_bytes()), integers.encode(number.to_string().as_bytes()), "{}", text);
                prop_assert_eq!(decimals.encode(format!("{text}{}", if digits > 0 { "00" } else { ".0" }).as_bytes()), decimals.encode(text.as_bytes()));
            }
            let size = integers.size();
            let (low, high) = (low % size, high % size);
            let cells = [Cell::Interval(low.min(high), low.max(high)), Cell::set(picks.iter().map(|pick| pick % size).collect()).unwrap()];
            for cell in cells {
                let text = decimals.write_cell(&cell);
                prop_assert_eq!(decimals.read_cell(&text), integers.read_cell(&integers.write_cell(&cell)), "{}", text);
                if digits == 0 {
                    prop_assert_eq!(text, integers.write_cell(&cell));
                }
            }
        }

        #[test]
        fn what_is_written_is_read(units in -999_999_999_999_999_999_i64..=999_999_999_999_999_999, digits in 0_u8..=17) {
            prop_assert_eq!(super::units(written(units, digits).as_bytes(), digits), Some(units));
        }
    }
}
