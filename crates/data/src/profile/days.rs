//! Days as tables spell them: year, month and day in any usual order, with or without a time.

use jiff::civil::Date;

use crate::spelling::day_of;

/// How the days of a column are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DayFormat {
    order: Order,
    /// Between the parts; none where they are digits in one.
    separator: Option<char>,
    /// Whether a time stands behind the day.
    has_time: bool,
    /// Whether every day is written as a study's days are: `2026-01-31`.
    is_iso: bool,
    /// Whether day and month might as well stand the other way round.
    is_ambiguous: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    YearMonthDay,
    DayMonthYear,
    MonthDayYear,
}

/// Days written without marks are told from numbers by their years.
const YEARS: std::ops::RangeInclusive<i16> = 1850..=2150;

impl DayFormat {
    /// The form in which every text is a day.
    pub(super) fn of<'a, I: Iterator<Item = &'a str>>(texts: impl Fn() -> I) -> Option<Self> {
        let first = texts().next()?;
        let has_time = first.contains(':');
        let fits = |order, separator| {
            let form = Self {
                order,
                separator,
                has_time,
                is_iso: false,
                is_ambiguous: false,
            };
            let is_first = form.read(first).is_some();
            (is_first && texts().all(|text| form.read(text).is_some())).then_some(form)
        };
        for separator in [Some('-'), Some('.'), Some('/'), None] {
            if let Some(form) = fits(Order::YearMonthDay, separator) {
                let is_iso = separator == Some('-') && !has_time;
                return Some(Self {
                    is_iso: is_iso && texts().all(|text| text.len() == 10),
                    ..form
                });
            }
            if separator.is_none() {
                break;
            }
            let day_first = fits(Order::DayMonthYear, separator);
            let month_first = fits(Order::MonthDayYear, separator);
            let is_ambiguous = day_first.is_some() && month_first.is_some();
            // Americans write a slash.
            let found = match separator {
                Some('/') => month_first.or(day_first),
                _ => day_first.or(month_first),
            };
            if let Some(form) = found {
                return Some(Self {
                    is_ambiguous,
                    ..form
                });
            }
        }
        None
    }

    /// Whether a study's `type = "date"` reads these days as they are.
    pub fn is_iso(self) -> bool {
        self.is_iso
    }

    /// Whether a time of day stands behind the day.
    pub fn has_time(self) -> bool {
        self.has_time
    }

    /// Whether day and month might as well stand the other way round.
    pub fn is_ambiguous(self) -> bool {
        self.is_ambiguous
    }

    /// The form as `strftime` writes it, such as `%d.%m.%Y`, without the time.
    pub fn pattern(self) -> String {
        let parts = match self.order {
            Order::YearMonthDay => ["%Y", "%m", "%d"],
            Order::DayMonthYear => ["%d", "%m", "%Y"],
            Order::MonthDayYear => ["%m", "%d", "%Y"],
        };
        match self.separator {
            Some(separator) => parts.join(&separator.to_string()),
            None => parts.concat(),
        }
    }

    /// The format of a study that reads these days, as far as every text is read by it as the same day.
    pub fn of_study<'a, I: Iterator<Item = &'a str>>(
        self,
        texts: impl Fn() -> I,
    ) -> Option<String> {
        let day = self.pattern();
        let fits = |format: &String| {
            texts().all(|text| {
                let read = self.read(text);
                read.is_some() && day_of(format, text.as_bytes()) == read
            })
        };
        if !self.has_time {
            return Some(day).filter(fits);
        }
        let formats = [" ", "T"].into_iter().flat_map(|between| {
            let times = ["%H:%M", "%H:%M:%S", "%H:%M:%S%.f"].into_iter();
            times.flat_map(move |time| {
                let zones = ["", "Z", "%z", "%:z"].into_iter();
                zones.map(move |zone| format!("{between}{time}{zone}"))
            })
        });
        let mut formats = formats.map(|time| format!("{day}{time}"));
        formats.find(fits)
    }

    /// A text as a day.
    pub fn read(self, text: &str) -> Option<Date> {
        let text = match self.has_time {
            false => text,
            true => {
                let (day, time) = text.split_once(['T', ' '])?;
                is_time(time).then_some(day)?
            }
        };
        let parts: [&str; 3] = match self.separator {
            Some(separator) => {
                let parts: Vec<&str> = text.split(separator).collect();
                parts.try_into().ok()?
            }
            None => {
                let is_plain = text.len() == 8 && text.bytes().all(|byte| byte.is_ascii_digit());
                is_plain.then(|| [&text[..4], &text[4..6], &text[6..]])?
            }
        };
        let [year, month, day] = match self.order {
            Order::YearMonthDay => parts,
            Order::DayMonthYear => [parts[2], parts[1], parts[0]],
            Order::MonthDayYear => [parts[2], parts[0], parts[1]],
        };
        if year.len() != 4
            || ![month, day]
                .iter()
                .all(|part| (1..=2).contains(&part.len()))
        {
            return None;
        }
        let number = |part: &str| -> Option<i16> {
            let is_number = part.bytes().all(|byte| byte.is_ascii_digit());
            part.parse().ok().filter(|_| is_number)
        };
        let (month, day) = (number(month)?, number(day)?);
        let date = Date::new(number(year)?, month as i8, day as i8).ok()?;
        (self.separator.is_some() || YEARS.contains(&date.year())).then_some(date)
    }
}

/// Hours and minutes, perhaps seconds, perhaps the offset of a time zone.
fn is_time(text: &str) -> bool {
    let text = text.strip_suffix('Z').unwrap_or(text);
    let text = match text.rfind(['+', '-']) {
        Some(place) => &text[..place],
        None => text,
    };
    let parts: Vec<&str> = text.split(':').collect();
    let is_two = |part: &str| part.len() <= 2 && !part.is_empty();
    let are_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    match parts.as_slice() {
        [hours, minutes] => [hours, minutes]
            .into_iter()
            .all(|part| is_two(part) && are_digits(part)),
        [hours, minutes, seconds] => {
            let (whole, fraction) = seconds.split_once('.').unwrap_or((seconds, ""));
            [hours, minutes, whole]
                .into_iter()
                .all(|part| is_two(part) && are_digits(part))
                && are_digits(fraction)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(texts: &[&str]) -> Option<String> {
        DayFormat::of(|| texts.iter().copied()).map(DayFormat::pattern)
    }

    #[test]
    fn forms_of_days() {
        let of = |texts: &[&str]| pattern(texts).unwrap_or_default();
        assert_eq!(of(&["2024-01-31", "2023-02-28"]), "%Y-%m-%d");
        assert_eq!(of(&["31.01.2024", "1.2.2023"]), "%d.%m.%Y");
        assert_eq!(of(&["01/31/2024", "1/2/2023"]), "%m/%d/%Y");
        assert_eq!(of(&["31/01/2024", "1/2/2023"]), "%d/%m/%Y");
        assert_eq!(of(&["20240131", "19991231"]), "%Y%m%d");
        assert_eq!(
            of(&["2024-01-31T10:20:30.5+01:00", "2024-01-31 10:20"]),
            "%Y-%m-%d"
        );
        for texts in [
            ["2024-02-30", "2024-01-01"],
            ["2024-01-01", "01.01.2024"],
            ["12345678", "20240131"],
            ["1.2.3", "1.2.4"],
            ["2024-01-01", "2024-01-01 10:20"],
            ["2024-01-01 10", "2024-01-01 11"],
        ] {
            assert_eq!(pattern(&texts), None, "{texts:?}");
        }
    }

    #[test]
    fn a_study_has_formats_for_days() {
        let format = |texts: &'static [&'static str]| {
            let texts = || texts.iter().copied();
            DayFormat::of(texts)?.of_study(texts)
        };
        for (texts, expected) in [
            (&["31.01.2024", "1.2.2023"][..], "%d.%m.%Y"),
            (&["01/31/2024"], "%m/%d/%Y"),
            (&["20240131"], "%Y%m%d"),
            (&["31.01.2024 9:05", "01.02.2024 23:59"], "%d.%m.%Y %H:%M"),
            (&["2024-01-31 10:20:30"], "%Y-%m-%d %H:%M:%S"),
            (&["2024-01-31T10:20:30Z"], "%Y-%m-%dT%H:%M:%SZ"),
            (
                &["2024-01-31T10:20:30.25+01:00", "2024-01-31T10:20:30+01:00"],
                "%Y-%m-%dT%H:%M:%S%.f%:z",
            ),
        ] {
            assert_eq!(format(texts).as_deref(), Some(expected), "{texts:?}");
        }
        let mixed = &["2024-01-31T10:20:30.5+01:00", "2024-01-31 10:20"];
        assert_eq!(format(mixed), None);
    }

    #[test]
    fn what_a_study_reads_and_what_is_doubtful() {
        let form = |text: &'static str| DayFormat::of(move || [text].into_iter()).unwrap();
        assert!(form("2024-01-31").is_iso());
        assert!(!form("2024-1-31").is_iso() && !form("2024/01/31").is_iso());
        assert!(!form("2024-01-31 10:20").is_iso() && form("2024-01-31 10:20").has_time());
        assert!(form("01.02.2024").is_ambiguous() && !form("31.01.2024").is_ambiguous());
    }
}
