//! Domains: the values an attribute may have, and their codes.
//!
//! A code is the value's place in declared order (numbers, dates, ordered categories) or in leaf
//! order of the taxonomy. Domains are public, so codes agree between sites. A missing value is a
//! declared value with a code of its own, after all others, or it is an error.

use std::borrow::Cow;

use hashbrown::HashMap;
use jiff::civil::Date;

use crate::decimal::{Decimal, DecimalDomain, MOST_DIGITS};
use crate::nearest::nearest;
use crate::taxonomy::Taxonomy;

pub use crate::taxonomy::MOST_VALUES;

/// The values of an attribute.
#[derive(Debug, Clone, PartialEq)]
pub enum Domain {
    /// Integers of a range.
    Integer(IntegerDomain),
    /// Decimals of a range.
    Decimal(DecimalDomain),
    /// Days of a range.
    Date(DateDomain),
    /// Categories, ordered or not, under a taxonomy (a flat taxonomy where the study gives none).
    Category(CategoryDomain),
    /// Any text, for identifiers and other columns; its codes mean nothing outside one table.
    Text,
}

/// Integers from `least` on in steps, with an optional taxonomy over them.
#[derive(Debug, Clone, PartialEq)]
pub struct IntegerDomain {
    least: i64,
    step: i64,
    count: u32,
    missing: Option<String>,
    taxonomy: Option<Taxonomy>,
}

/// Days from a first to a last, written `2026-01-31`.
#[derive(Debug, Clone, PartialEq)]
pub struct DateDomain {
    first: Date,
    count: u32,
    missing: Option<String>,
    first_year: i16,
    /// For each month from January of the first year: the code its day 0 would have, and its days.
    months: Vec<(i64, u8)>,
}

/// Categories in leaf order of their taxonomy.
#[derive(Debug, Clone, PartialEq)]
pub struct CategoryDomain {
    taxonomy: Taxonomy,
    ordered: bool,
    codes: HashMap<Box<[u8]>, u32>,
}

impl Domain {
    /// Categories under a taxonomy; `ordered` when leaf order means something.
    pub fn category(taxonomy: Taxonomy, ordered: bool) -> Self {
        let codes = taxonomy
            .values()
            .enumerate()
            .map(|(code, value)| (Box::from(value.as_bytes()), code as u32))
            .collect();
        Self::Category(CategoryDomain {
            taxonomy,
            ordered,
            codes,
        })
    }

    /// Integers `least`, `least + step`, … up to `greatest`; `None` if there is no such value, or more
    /// than [`MOST_VALUES`].
    pub fn integer(least: i64, greatest: i64, step: i64) -> Option<Self> {
        if step < 1 || greatest < least {
            return None;
        }
        let count = (i128::from(greatest) - i128::from(least)) / i128::from(step) + 1;
        Some(Self::Integer(IntegerDomain {
            least,
            step,
            count: u32::try_from(count)
                .ok()
                .filter(|count| *count <= MOST_VALUES)?,
            missing: None,
            taxonomy: None,
        }))
    }

    /// Decimals `least`, `least + step`, … up to `greatest`, with as many digits behind the point as `step`
    /// has; `None` if there is no such value, if there are more than [`MOST_VALUES`], or if an end of the
    /// range has more digits.
    pub fn decimal(least: Decimal, greatest: Decimal, step: Decimal) -> Option<Self> {
        let digits = step.digits();
        if digits >= MOST_DIGITS {
            return None;
        }
        let domain = Self::integer(
            least.units(digits)?,
            greatest.units(digits)?,
            step.units(digits)?,
        )?;
        match domain {
            Self::Integer(numbers) => Some(Self::Decimal(DecimalDomain { numbers, digits })),
            _ => None,
        }
    }

    /// Days from `first` to `last`; `None` if there is no such day.
    pub fn date(first: Date, last: Date) -> Option<Self> {
        let days = (last - first).get_days();
        let count = u32::try_from(days).ok()? + 1;
        let mut months = Vec::new();
        for year in first.year()..=last.year() {
            for month in 1..=12 {
                let day_one = Date::new(year, month, 1).ok()?;
                let code = i64::from((day_one - first).get_days());
                // Days in a month are 28 to 31.
                months.push((code - 1, day_one.days_in_month() as u8));
            }
        }
        Some(Self::Date(DateDomain {
            first,
            count,
            missing: None,
            first_year: first.year(),
            months,
        }))
    }

    /// The same domain with a declared missing value; categories list theirs among the values.
    #[must_use]
    pub fn with_missing(mut self, text: String) -> Self {
        match &mut self {
            Self::Integer(domain) => domain.missing = Some(text),
            Self::Decimal(domain) => domain.numbers.missing = Some(text),
            Self::Date(domain) => domain.missing = Some(text),
            Self::Category(_) | Self::Text => {}
        }
        self
    }

    /// The same numbers under a taxonomy, if the taxonomy's leaves are these numbers in order.
    pub fn with_taxonomy(mut self, tree: Taxonomy) -> Option<Self> {
        let is_same = self.missing_code().is_none()
            && tree.leaf_count() == self.size()
            && tree
                .values()
                .enumerate()
                .all(|(code, label)| self.encode(label.as_bytes()) == Some(code as u32));
        let numbers = match &mut self {
            Self::Integer(numbers) => numbers,
            Self::Decimal(domain) => &mut domain.numbers,
            Self::Date(_) | Self::Category(_) | Self::Text => return None,
        };
        numbers.taxonomy = Some(tree);
        is_same.then_some(self)
    }

    /// Integers, or decimals in units of their last digit.
    fn numbers(&self) -> Option<&IntegerDomain> {
        match self {
            Self::Integer(numbers) => Some(numbers),
            Self::Decimal(domain) => Some(&domain.numbers),
            Self::Date(_) | Self::Category(_) | Self::Text => None,
        }
    }

    /// Number of codes, the missing value's included; 0 for text.
    pub fn size(&self) -> u32 {
        match self {
            Self::Integer(IntegerDomain { count, missing, .. })
            | Self::Decimal(DecimalDomain {
                numbers: IntegerDomain { count, missing, .. },
                ..
            }) => count + u32::from(missing.is_some()),
            Self::Date(domain) => domain.count + u32::from(domain.missing.is_some()),
            Self::Category(domain) => domain.taxonomy.leaf_count(),
            Self::Text => 0,
        }
    }

    /// Whether the order of codes means something to people.
    pub fn is_ordered(&self) -> bool {
        match self {
            Self::Integer(_) | Self::Decimal(_) | Self::Date(_) => true,
            Self::Category(domain) => domain.ordered,
            Self::Text => false,
        }
    }

    /// The taxonomy over the codes, if the domain has one.
    pub fn taxonomy(&self) -> Option<&Taxonomy> {
        match self {
            Self::Integer(domain) => domain.taxonomy.as_ref(),
            Self::Decimal(domain) => domain.numbers.taxonomy.as_ref(),
            Self::Category(domain) => Some(&domain.taxonomy),
            Self::Date(_) | Self::Text => None,
        }
    }

    /// The code of a value as files spell it.
    pub fn encode(&self, text: &[u8]) -> Option<u32> {
        match self {
            Self::Integer(domain) => domain.encode(text),
            Self::Decimal(domain) => domain.encode(text),
            Self::Date(domain) => domain.encode(text),
            Self::Category(domain) => domain.codes.get(text).copied(),
            Self::Text => None,
        }
    }

    /// The value of a code as files spell it.
    pub fn label(&self, code: u32) -> Cow<'_, str> {
        match self {
            Self::Integer(domain) => match &domain.missing {
                Some(missing) if code == domain.count => Cow::Borrowed(missing),
                _ => Cow::Owned(domain.value(code).to_string()),
            },
            Self::Decimal(domain) => match &domain.numbers.missing {
                Some(missing) if code == domain.numbers.count => Cow::Borrowed(missing),
                _ => Cow::Owned(domain.value(code).to_string()),
            },
            Self::Date(domain) => match &domain.missing {
                Some(missing) if code == domain.count => Cow::Borrowed(missing),
                _ => Cow::Owned(domain.day(code).to_string()),
            },
            Self::Category(domain) => {
                Cow::Borrowed(domain.taxonomy.label(domain.taxonomy.leaf(code)))
            }
            Self::Text => Cow::Borrowed(""),
        }
    }

    /// The code of the declared missing value of numbers or days; of categories, the code of empty
    /// text.
    pub fn missing_code(&self) -> Option<u32> {
        match self {
            Self::Integer(_) | Self::Decimal(_) => {
                let numbers = self.numbers()?;
                numbers.missing.as_ref().map(|_| numbers.count)
            }
            Self::Date(domain) => domain.missing.as_ref().map(|_| domain.count),
            Self::Category(domain) => domain.codes.get(&b""[..]).copied(),
            Self::Text => None,
        }
    }

    /// Whether an interval has the missing value beside others.
    pub fn mixes_missing(&self, least: u32, greatest: u32) -> bool {
        let missing = self.missing_code();
        least < greatest && missing.is_some_and(|code| (least..=greatest).contains(&code))
    }

    /// The range that is written for these codes: a missing value has no place between others, so a
    /// range with the missing value inside becomes the whole domain.
    pub fn range(&self, least: u32, greatest: u32) -> (u32, u32) {
        if self.mixes_missing(least, greatest) {
            (0, self.size() - 1)
        } else {
            (least, greatest)
        }
    }

    /// The domain in words, for error messages.
    pub fn describe(&self) -> String {
        match self {
            Self::Integer(domain) => {
                let (least, greatest) = (domain.least, domain.value(domain.count - 1));
                match domain.step {
                    1 => format!("the integers {least} to {greatest}"),
                    step => format!("the integers {least} to {greatest} in steps of {step}"),
                }
            }
            Self::Decimal(domain) => format!(
                "the decimals {} to {} in steps of {}",
                domain.value(0),
                domain.value(domain.numbers.last()),
                domain.step()
            ),
            Self::Date(domain) => format!(
                "the days {} to {} (year-month-day)",
                domain.first,
                domain.day(domain.count - 1)
            ),
            Self::Category(domain) => format!("its {} values", domain.taxonomy.leaf_count()),
            Self::Text => String::from("any text"),
        }
    }

    /// Up to three valid values nearest to an invalid one.
    pub fn nearest(&self, text: &str) -> Vec<String> {
        match self {
            Self::Integer(domain) => domain.nearest(text),
            Self::Decimal(domain) => domain.nearest(text),
            Self::Date(domain) => {
                let ends = [domain.first, domain.day(domain.count - 1)];
                match text.parse::<Date>() {
                    Ok(day) if day < domain.first => vec![ends[0].to_string()],
                    Ok(_) => vec![ends[1].to_string()],
                    Err(_) => ends.iter().map(Date::to_string).collect(),
                }
            }
            Self::Category(domain) => {
                let close = nearest(text, domain.taxonomy.values(), 3);
                if close.is_empty() {
                    domain
                        .taxonomy
                        .values()
                        .take(3)
                        .map(str::to_owned)
                        .collect()
                } else {
                    close
                }
            }
            Self::Text => Vec::new(),
        }
    }
}

impl IntegerDomain {
    /// The integer of a code that is not the missing value's.
    pub fn value(&self, code: u32) -> i64 {
        // The sum lies in the domain and so fits its type; the product alone may not.
        (i128::from(self.least) + i128::from(code) * i128::from(self.step)) as i64
    }

    /// The step from one integer to the next.
    pub fn step(&self) -> i64 {
        self.step
    }

    /// The code of the greatest integer.
    pub(crate) const fn last(&self) -> u32 {
        self.count - 1
    }

    fn encode(&self, text: &[u8]) -> Option<u32> {
        let number = parse_integer(text);
        number
            .and_then(|number| self.code(number))
            .or_else(|| self.encode_missing(text))
    }

    /// The code of an integer, if the integer is one of the domain's.
    pub(crate) fn code(&self, number: i64) -> Option<u32> {
        let offset = i128::from(number) - i128::from(self.least);
        let step = i128::from(self.step);
        if self.step != 1 && offset % step != 0 {
            return None;
        }
        let code = u32::try_from(if self.step == 1 {
            offset
        } else {
            offset / step
        });
        code.ok().filter(|code| *code < self.count)
    }

    pub(crate) fn encode_missing(&self, text: &[u8]) -> Option<u32> {
        let missing = self.missing.as_ref()?;
        (missing.as_bytes() == text).then_some(self.count)
    }

    fn nearest(&self, text: &str) -> Vec<String> {
        let greatest = self.value(self.count - 1);
        match text.parse::<i64>() {
            Ok(number) if number < self.least => vec![self.least.to_string()],
            Ok(number) if number > greatest => vec![greatest.to_string()],
            Ok(number) => {
                let below = i128::from(number)
                    - (i128::from(number) - i128::from(self.least)) % i128::from(self.step);
                let above = (below + i128::from(self.step)).min(i128::from(greatest));
                vec![below.to_string(), above.to_string()]
            }
            Err(_) => vec![self.least.to_string(), greatest.to_string()],
        }
    }
}

impl DateDomain {
    /// The day of a code that is not the missing value's.
    pub fn day(&self, code: u32) -> Date {
        // Codes are days from the first; the domain was made from two valid days around them.
        self.first
            .checked_add(jiff::Span::new().days(i64::from(code)))
            .unwrap_or(self.first)
    }

    /// The code of a day, if the day is one of the domain's.
    pub(crate) fn code(&self, day: Date) -> Option<u32> {
        let code = u32::try_from((day - self.first).get_days()).ok()?;
        (code < self.count).then_some(code)
    }

    fn encode(&self, text: &[u8]) -> Option<u32> {
        self.encode_day(text).or_else(|| {
            let missing = self.missing.as_ref()?;
            (missing.as_bytes() == text).then_some(self.count)
        })
    }

    fn encode_day(&self, text: &[u8]) -> Option<u32> {
        let [y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2] = text else {
            return None;
        };
        let digits = |digits: &[u8]| {
            digits.iter().try_fold(0i64, |number, digit| {
                digit
                    .is_ascii_digit()
                    .then(|| number * 10 + i64::from(digit - b'0'))
            })
        };
        let year = digits(&[*y1, *y2, *y3, *y4])? - i64::from(self.first_year);
        let month = digits(&[*m1, *m2])?;
        let day = digits(&[*d1, *d2])?;
        if year < 0 || !(1..=12).contains(&month) {
            return None;
        }
        let (day_zero, days) = *self.months.get((year * 12 + month - 1) as usize)?;
        if day < 1 || day > i64::from(days) {
            return None;
        }
        u32::try_from(day_zero + day)
            .ok()
            .filter(|code| *code < self.count)
    }
}

impl CategoryDomain {
    /// The taxonomy over the categories.
    pub fn taxonomy(&self) -> &Taxonomy {
        &self.taxonomy
    }
}

/// Digits with an optional minus sign, nothing else.
fn parse_integer(text: &[u8]) -> Option<i64> {
    let (is_negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    if digits.is_empty() || digits.len() > 18 {
        // As many digits as fit are read without a check at each digit; longer numbers, which are rare,
        // with checks.
        let is_number = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
        return std::str::from_utf8(text)
            .ok()
            .filter(|_| is_number)?
            .parse()
            .ok();
    }
    let mut number = 0i64;
    for digit in digits {
        if !digit.is_ascii_digit() {
            return None;
        }
        number = number * 10 + i64::from(digit - b'0');
    }
    Some(if is_negative { -number } else { number })
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn integers_in_steps_with_a_missing_value() {
        let domain = Domain::integer(-4, 5, 3).unwrap().with_missing("NA".into());
        assert_eq!(domain.size(), 5);
        let codes: Vec<_> = ["-4", "-1", "2", "5", "NA"]
            .iter()
            .map(|text| domain.encode(text.as_bytes()))
            .collect();
        assert_eq!(codes, [Some(0), Some(1), Some(2), Some(3), Some(4)]);
        let extremes = Domain::integer(i64::MIN, i64::MAX, 1 << 62).unwrap();
        assert_eq!(extremes.encode(i64::MIN.to_string().as_bytes()), Some(0));
        assert_eq!(extremes.label(3), (1_i64 << 62).to_string());
        let large = Domain::integer(i64::MAX - 7, i64::MAX, 1).unwrap();
        assert_eq!(large.encode(b"9223372036854775801"), Some(1));
        for text in [
            "-3",
            "8",
            "",
            "na",
            "2.0",
            "+2",
            " 2",
            "99999999999999999999",
        ] {
            assert_eq!(domain.encode(text.as_bytes()), None, "{text}");
        }
        assert_eq!(domain.nearest("3"), ["2", "5"]);
        assert_eq!(domain.nearest("100"), ["5"]);
    }

    #[test]
    fn dates_know_the_calendar() {
        let domain = Domain::date(date(2023, 12, 30), date(2024, 3, 1)).unwrap();
        assert_eq!(domain.size(), 63);
        assert_eq!(domain.encode(b"2023-12-30"), Some(0));
        assert_eq!(domain.encode(b"2024-02-29"), Some(61));
        for text in [
            "2023-12-29",
            "2024-02-30",
            "2024-03-02",
            "2024-13-01",
            "2024-1-1",
            "24-01-01",
            "",
        ] {
            assert_eq!(domain.encode(text.as_bytes()), None, "{text}");
        }
        assert_eq!(domain.nearest("2030-01-01"), ["2024-03-01"]);
    }

    #[test]
    fn an_empty_range_is_no_domain() {
        assert!(Domain::integer(5, 4, 1).is_none());
        assert!(Domain::integer(i64::MIN, i64::MAX, 1).is_none());
        assert!(Domain::date(date(2024, 1, 2), date(2024, 1, 1)).is_none());
    }

    proptest! {
        #[test]
        fn labels_encode_back(least in -1000i64..1000, count in 1i64..500, step in 1i64..7, start in 0i64..20000, days in 0i64..3000) {
            let first = date(1970, 1, 1).checked_add(jiff::Span::new().days(start)).unwrap();
            let last = first.checked_add(jiff::Span::new().days(days)).unwrap();
            for domain in [
                Domain::integer(least, least + (count - 1) * step, step).unwrap(),
                Domain::date(first, last).unwrap().with_missing("?".into()),
            ] {
                for code in 0..domain.size() {
                    prop_assert_eq!(domain.encode(domain.label(code).as_bytes()), Some(code));
                }
            }
        }
    }
}
