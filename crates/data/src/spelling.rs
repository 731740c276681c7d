//! How tables spell the values of an attribute, where they do not spell them as releases do: days in a
//! format, numbers with a comma or with marks between thousands, truth values in any of the usual words,
//! several texts for what is missing.
//!
//! A release writes each value in one way, whatever tables say: days as `2026-01-31`, numbers as `1234.5`, truth values as
//! `true` and `false`, what is missing by its first text. A format may have a time of day: the day is what
//! others may know of somebody, so the day counts, as the text says it, and the time is left out.

use hashbrown::HashMap;
use jiff::civil::{Date, DateTime, Time};
use jiff::fmt::strtime::BrokenDownTime;
use jiff::tz::TimeZone;

use crate::domain::Domain;
use crate::number_format::NumberFormat;

/// How tables spell the values of an attribute.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Spelling {
    values: Values,
    /// Texts beside those of values, and the codes that they mean.
    others: HashMap<Box<[u8]>, u32>,
    /// The code of a cell without a value, where the study declares one.
    missing: Option<u32>,
}

#[derive(Debug, Clone, Default, PartialEq)]
enum Values {
    /// As a release spells them.
    #[default]
    Own,
    /// Days in a format of `strptime`.
    Days(String),
    /// Numbers with another point than a point, or with marks.
    Numbers(NumberFormat),
    /// `true` is the second value of the domain, `false` the first.
    Truth,
}

/// A format that does not tell the days of a range apart.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error(
    "`{format}` does not say which day it is: {day} is written `{text}`\nhint: a format has a year, a month and a day, e.g. %d.%m.%Y, or %Y-%m-%d %H:%M:%S with a time of day"
)]
pub struct NoDay {
    format: String,
    day: Date,
    text: String,
}

impl Spelling {
    /// Days in a format of `strptime`, such as `%d.%m.%Y`, if the format says of each day of a domain which
    /// it is.
    pub fn days(format: &str, [first, last]: [Date; 2]) -> Result<Self, NoDay> {
        let new_years = (first.year()..=last.year()).filter_map(|year| Date::new(year, 1, 1).ok());
        for day in new_years.chain([first, last]) {
            // Noon, so that a format with half of the clock is read back too.
            let noon = DateTime::from_parts(day, Time::constant(12, 0, 0, 0));
            let written = noon
                .to_zoned(TimeZone::UTC)
                .and_then(|noon| BrokenDownTime::from(&noon).to_string(format));
            let text = written.unwrap_or_default();
            if day_of(format, text.as_bytes()) != Some(day) {
                let format = format.to_owned();
                return Err(NoDay { format, day, text });
            }
        }
        Ok(Self {
            values: Values::Days(format.to_owned()),
            ..Self::default()
        })
    }

    /// Numbers in a form of their own.
    pub fn numbers(format: NumberFormat) -> Self {
        Self {
            values: Values::Numbers(format),
            ..Self::default()
        }
    }

    /// Truth values: true, t, yes, y and 1, false, f, no, n and 0, in upper or lower case.
    pub fn truth() -> Self {
        Self {
            values: Values::Truth,
            ..Self::default()
        }
    }

    /// The same spelling with texts for the missing value, which has this code.
    #[must_use]
    pub fn with_missing(mut self, texts: &[String], code: u32) -> Self {
        let texts = texts.iter().map(|text| Box::from(text.as_bytes()));
        self.others.extend(texts.map(|text| (text, code)));
        self.missing = Some(code);
        self
    }

    /// The format of days, where tables have one.
    pub fn format(&self) -> Option<&str> {
        match &self.values {
            Values::Days(format) => Some(format),
            Values::Own | Values::Numbers(_) | Values::Truth => None,
        }
    }

    /// The form of numbers, where tables have one.
    pub fn number_format(&self) -> Option<NumberFormat> {
        match &self.values {
            Values::Numbers(format) => Some(*format),
            Values::Own | Values::Days(_) | Values::Truth => None,
        }
    }

    /// Whether values are truth values.
    pub fn is_truth(&self) -> bool {
        self.values == Values::Truth
    }

    /// The code of a value as tables spell it.
    #[inline]
    pub(crate) fn encode(&self, domain: &Domain, text: &[u8]) -> Option<u32> {
        let code = match &self.values {
            Values::Own => domain.encode(text),
            Values::Days(format) => match domain {
                Domain::Date(days) => day_of(format, text).and_then(|day| days.code(day)),
                _ => None,
            },
            Values::Numbers(format) => {
                let plain = std::str::from_utf8(text).ok();
                let plain = plain.and_then(|text| format.plain(text));
                plain.and_then(|plain| domain.encode(plain.as_bytes()))
            }
            Values::Truth => truth(text).map(u32::from),
        };
        code.or_else(|| self.others.get(text).copied())
    }

    /// The code of a cell without a value.
    pub(crate) fn missing_code(&self, domain: &Domain) -> Option<u32> {
        self.missing.or_else(|| domain.missing_code())
    }
}

/// The day of a text in a format.
pub(crate) fn day_of(format: &str, text: &[u8]) -> Option<Date> {
    BrokenDownTime::parse(format, text).ok()?.to_date().ok()
}

/// The truth value of a text: true, t, yes, y and 1, false, f, no, n and 0, in upper or lower case.
pub fn truth(text: &[u8]) -> Option<bool> {
    let is_one_of = |words: [&str; 5]| {
        let mut words = words.iter();
        words.any(|word| text.eq_ignore_ascii_case(word.as_bytes()))
    };
    match (
        is_one_of(["true", "t", "yes", "y", "1"]),
        is_one_of(["false", "f", "no", "n", "0"]),
    ) {
        (true, _) => Some(true),
        (_, true) => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_format_that_says_no_day_is_refused() {
        let range = [date(2024, 1, 31), date(2024, 12, 31)];
        for format in [
            "%d.%m.%Y",
            "%m/%d/%y",
            "%Y-%jx",
            "%Y-%m-%dT%H:%M:%S%z",
            "%e %B %Y, %I:%M %p",
        ] {
            assert!(Spelling::days(format, range).is_ok(), "{format}");
        }
        for format in [
            "%m.%Y",
            "%d.%m",
            "",
            "%H:%M",
            "%Q?",
            "%d.%m.%",
            "2024-01-31",
        ] {
            assert!(Spelling::days(format, range).is_err(), "{format}");
        }
        let long = Spelling::days("%d.%m.%y", [date(1960, 5, 1), date(2024, 1, 1)]);
        assert!(long.unwrap_err().to_string().starts_with(
            "`%d.%m.%y` does not say which day it is: 1960-01-01 is written `01.01.60`"
        ));
    }

    #[test]
    fn the_time_of_day_is_left_out() {
        let format = "%Y-%m-%d %H:%M";
        assert_eq!(day_of(format, b"2024-02-29 23:59"), Some(date(2024, 2, 29)));
        for text in [
            "2024-02-30 10:00",
            "2024-02-29",
            "2024-02-29 24:30",
            "2024-02-29 10:00:00",
            " ",
        ] {
            assert_eq!(day_of(format, text.as_bytes()), None, "{text}");
        }
        // The day as the text says it, wherever the clock stands.
        let zoned = "%Y-%m-%dT%H:%M:%S%z";
        assert_eq!(
            day_of(zoned, b"2024-03-01T00:30:00+0200"),
            Some(date(2024, 3, 1))
        );
    }

    #[test]
    fn truth_has_many_names() {
        for text in ["true", "TRUE", "True", "t", "T", "yes", "YES", "y", "1"] {
            assert_eq!(truth(text.as_bytes()), Some(true), "{text}");
        }
        for text in ["false", "False", "f", "no", "N", "0"] {
            assert_eq!(truth(text.as_bytes()), Some(false), "{text}");
        }
        for text in ["", "2", "-1", "truth", " yes", "01", "ja"] {
            assert_eq!(truth(text.as_bytes()), None, "{text}");
        }
    }

    proptest! {
        /// A day in any format has the code of the day as a release writes it.
        #[test]
        fn a_day_is_the_same_day_in_every_format(days in 0_i64..40_000, hour in 0_i8..24, which in 0_usize..5) {
            let range = [date(1969, 1, 1), date(2068, 12, 31)];
            let format = ["%d.%m.%Y", "%m/%d/%y", "%Y%m%d", "%d.%m.%Y %H:%M:%S", "%e %b %Y"][which];
            let domain = Domain::date(range[0], range[1]).unwrap();
            let spelling = Spelling::days(format, range).unwrap();
            let day = range[0].checked_add(jiff::Span::new().days(days % 36_000)).unwrap();
            let moment = DateTime::from_parts(day, Time::constant(hour, 30, 0, 0));
            let text = moment.strftime(format).to_string();
            let code = spelling.encode(&domain, text.as_bytes());
            prop_assert_eq!(code, domain.encode(day.to_string().as_bytes()));
            prop_assert_eq!(domain.label(code.unwrap()), day.to_string());
        }
    }
}
