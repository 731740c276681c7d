//! Numbers as tables spell them: with a point or a comma, with or without marks between thousands.

/// How the numbers of a column are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NumberFormat {
    /// Between units and tenths.
    point: char,
    /// Between thousands, where they are marked.
    thousands: Option<char>,
}

/// A number without rounding: so many units of the last place. Compared by size.
#[derive(Debug, Clone, Copy)]
pub struct Decimal {
    units: i128,
    places: u32,
}

/// More digits than these, before or behind the point, are no number that anybody counts with.
const MOST_DIGITS: usize = 19;
const MOST_PLACES: usize = 9;

impl NumberFormat {
    /// Digits, perhaps with a point.
    pub const PLAIN: Self = Self::new('.', None);

    const ALL: [Self; 9] = [
        Self::PLAIN,
        Self::new('.', Some(',')),
        Self::new(',', None),
        Self::new(',', Some('.')),
        Self::new('.', Some(' ')),
        Self::new(',', Some(' ')),
        Self::new('.', Some('\'')),
        Self::new('.', Some('\u{a0}')),
        Self::new(',', Some('\u{a0}')),
    ];

    const fn new(point: char, thousands: Option<char>) -> Self {
        Self { point, thousands }
    }

    /// The first form in which every text is a number.
    pub(super) fn of<'a, I: Iterator<Item = &'a str>>(texts: impl Fn() -> I) -> Option<Self> {
        let mut forms = Self::ALL.into_iter();
        forms.find(|form| texts().all(|text| form.read(text).is_some()))
    }

    /// A text as a number.
    pub fn read(self, text: &str) -> Option<Decimal> {
        let (sign, digits) = match text.strip_prefix(['-', '\u{2212}']) {
            Some(digits) => (-1, digits),
            None => (1, text.strip_prefix('+').unwrap_or(text)),
        };
        let (whole, fraction) = digits.split_once(self.point).unwrap_or((digits, ""));
        let is_bare = whole.is_empty() || digits.ends_with(self.point);
        if is_bare || !are_digits(fraction) || fraction.len() > MOST_PLACES {
            return None;
        }
        let mut groups = match self.thousands {
            Some(mark) => whole.split(mark).collect(),
            None => vec![whole],
        };
        let is_grouped = groups.len() > 1;
        let has_thousands = groups.iter().skip(1).all(|group| group.len() == 3);
        if !has_thousands || (is_grouped && !(1..=3).contains(&groups[0].len())) {
            return None;
        }
        groups.push(fraction);
        let digits = groups.concat();
        if !are_digits(&digits) || digits.len() > MOST_DIGITS + fraction.len() {
            return None;
        }
        Some(Decimal {
            units: sign * digits.parse::<i128>().ok()?,
            places: fraction.len() as u32,
        })
    }
}

impl Decimal {
    /// Digits behind the point.
    pub fn places(self) -> u32 {
        self.places
    }

    /// In units of the place that stands so many digits behind the point, at least [`Decimal::places`].
    pub fn in_units(self, places: u32) -> i128 {
        // At most 19 digits before the point and 9 behind it: far below what the type holds.
        self.units * 10i128.pow(places.saturating_sub(self.places))
    }

    /// Units of a place as text, without zeros at the end of the fraction.
    pub fn text(units: i128, places: u32) -> String {
        let (sign, size) = if units < 0 {
            ("-", -units)
        } else {
            ("", units)
        };
        let unit = 10i128.pow(places);
        let fraction = format!("{:0width$}", size % unit, width = places as usize);
        match fraction.trim_end_matches('0') {
            "" => format!("{sign}{}", size / unit),
            fraction => format!("{sign}{}.{fraction}", size / unit),
        }
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let places = self.places.max(other.places);
        self.in_units(places).cmp(&other.in_units(places))
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Decimal {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Decimal {}

/// A whole number whose text is the one that a study writes for it.
pub(super) fn integer(text: &str) -> Option<i64> {
    let number: i64 = text.parse().ok()?;
    (number.to_string() == text).then_some(number)
}

fn are_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn format(texts: &[&str]) -> Option<(char, Option<char>)> {
        let form = NumberFormat::of(|| texts.iter().copied())?;
        Some((form.point, form.thousands))
    }

    #[test]
    fn forms_of_numbers() {
        assert_eq!(format(&["1.5", "-2", "+3.25"]), Some(('.', None)));
        assert_eq!(format(&["1,5", "2"]), Some((',', None)));
        assert_eq!(format(&["1,500", "12,000.5"]), Some(('.', Some(','))));
        assert_eq!(format(&["1.500,25", "12"]), Some((',', Some('.'))));
        assert_eq!(format(&["1 500", "2 000 000"]), Some(('.', Some(' '))));
        for texts in [
            ["1.5", "1,5"],
            ["1,50,000", "2"],
            [".5", "1"],
            ["5.", "1"],
            ["1e5", "1"],
            ["", "1"],
        ] {
            assert_eq!(format(&texts), None, "{texts:?}");
        }
    }

    proptest! {
        #[test]
        fn numbers_are_read_as_they_are_written(units in -1_000_000_000i64..1_000_000_000, places in 0u32..6) {
            let text = Decimal::text(units.into(), places);
            let read = NumberFormat::PLAIN.read(&text).unwrap();
            prop_assert_eq!(read.in_units(places), i128::from(units));
        }

        #[test]
        fn numbers_are_compared_by_size(one in -100_000i64..100_000, other in -100_000i64..100_000, places in 0u32..6) {
            let read = |units: i64| NumberFormat::PLAIN.read(&Decimal::text(units.into(), places)).unwrap();
            prop_assert_eq!(read(one).cmp(&read(other)), one.cmp(&other));
        }
    }
}
