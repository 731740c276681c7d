//! Numbers as tables spell them: with a point or a comma, with or without marks between thousands. A study
//! names such a form by an example, `format = "1.234,5"`; a release has a point and no marks.

use crate::decimal::Decimal;

/// How the numbers of a column are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NumberFormat {
    /// Between units and tenths.
    point: char,
    /// Between thousands, where they are marked; a space stands for one that does not break too.
    thousands: Option<char>,
}

/// The longest text that is taken for a number.
const LONGEST: usize = 40;

/// A number with a point and no marks, without allocation.
pub(crate) struct Plain {
    bytes: [u8; LONGEST],
    len: usize,
}

impl Plain {
    fn push(&mut self, byte: u8) -> Option<()> {
        *self.bytes.get_mut(self.len)? = byte;
        self.len += 1;
        Some(())
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

impl NumberFormat {
    /// Digits, perhaps with a point.
    pub const PLAIN: Self = Self::new('.', None);

    const ALL: [Self; 7] = [
        Self::PLAIN,
        Self::new('.', Some(',')),
        Self::new(',', None),
        Self::new(',', Some('.')),
        Self::new('.', Some(' ')),
        Self::new(',', Some(' ')),
        Self::new('.', Some('\'')),
    ];

    const fn new(point: char, thousands: Option<char>) -> Self {
        Self { point, thousands }
    }

    /// The first form in which every text is a number, and whether another form reads other numbers in them.
    pub(crate) fn of<'a, I: Iterator<Item = &'a str>>(
        texts: impl Fn() -> I,
    ) -> Option<(Self, bool)> {
        let fits = |form: &Self| texts().all(|text| form.read(text).is_some());
        let mut forms = Self::ALL.into_iter().filter(fits);
        let found = forms.next()?;
        let is_ambiguous =
            forms.any(|other| texts().any(|text| other.read(text) != found.read(text)));
        Some((found, is_ambiguous))
    }

    /// Whether another form has the same sign between units and tenths.
    pub fn has_point_of(self, other: Self) -> bool {
        self.point == other.point
    }

    /// The first form with the point of another in which every text is a number.
    pub(crate) fn with_point_of<'a, I: Iterator<Item = &'a str>>(
        other: Self,
        texts: impl Fn() -> I,
    ) -> Option<Self> {
        let mut forms = Self::ALL.into_iter();
        forms.find(|form| form.has_point_of(other) && texts().all(|text| form.read(text).is_some()))
    }

    /// The forms in which a text is a number.
    pub(crate) fn reading(text: &str) -> impl Iterator<Item = Self> {
        Self::ALL
            .into_iter()
            .filter(move |form| form.read(text).is_some())
    }

    /// The form that an example shows: 1234.5 or 1234, as a table writes it.
    pub fn of_example(example: &str) -> Option<Self> {
        let mut forms = Self::ALL.into_iter();
        forms.find(|form| {
            [true, false]
                .map(|has_tenths| form.example(has_tenths))
                .contains(&example.to_owned())
        })
    }

    /// 1234.5, or 1234 where numbers have no tenths, in this form.
    pub fn example(self, has_tenths: bool) -> String {
        let mut text = String::from("1");
        text.extend(self.thousands);
        text.push_str("234");
        if has_tenths {
            text.push(self.point);
            text.push('5');
        }
        text
    }

    /// A text that another form reads as another number; `None` where no form does.
    pub fn doubtful(self) -> Option<String> {
        let marks = self.thousands.into_iter().chain([self.point]);
        let mut texts = marks.map(|mark| format!("1{mark}234"));
        texts.find(|text| Self::reading(text).any(|other| other.read(text) != self.read(text)))
    }

    /// A text as a number.
    pub fn read(self, text: &str) -> Option<Decimal> {
        let plain = self.plain(text)?;
        Decimal::parse(std::str::from_utf8(plain.as_bytes()).ok()?)
    }

    /// A text with a point and no marks; `None` where the text is no number of this form.
    pub(crate) fn plain(self, text: &str) -> Option<Plain> {
        let mut plain = Plain {
            bytes: [0; LONGEST],
            len: 0,
        };
        let digits = match text.strip_prefix(['-', '\u{2212}']) {
            Some(digits) => {
                plain.push(b'-')?;
                digits
            }
            None => text.strip_prefix('+').unwrap_or(text),
        };
        let (whole, behind) = match digits.split_once(self.point) {
            Some((whole, behind)) => (whole, Some(behind)),
            None => (digits, None),
        };
        let is_mark = |letter: char| match self.thousands {
            Some(' ') => matches!(letter, ' ' | '\u{a0}' | '\u{202f}'),
            mark => Some(letter) == mark,
        };
        let is_grouped = whole.contains(is_mark);
        for (place, group) in whole.split(is_mark).enumerate() {
            let fits = match (is_grouped, place) {
                (false, _) => !group.is_empty(),
                (true, 0) => (1..=3).contains(&group.len()) && !group.starts_with('0'),
                (true, _) => group.len() == 3,
            };
            fits.then_some(())?;
            append(&mut plain, group)?;
        }
        if let Some(behind) = behind {
            (!behind.is_empty()).then_some(())?;
            plain.push(b'.')?;
            append(&mut plain, behind)?;
        }
        Some(plain)
    }
}

fn append(plain: &mut Plain, digits: &str) -> Option<()> {
    for byte in digits.bytes() {
        byte.is_ascii_digit().then_some(())?;
        plain.push(byte)?;
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::decimal::written;

    fn format(texts: &[&str]) -> Option<(char, Option<char>)> {
        let (form, _) = NumberFormat::of(|| texts.iter().copied())?;
        Some((form.point, form.thousands))
    }

    #[test]
    fn forms_of_numbers() {
        assert_eq!(format(&["1.5", "-2", "+3.25"]), Some(('.', None)));
        assert_eq!(format(&["1,5", "2"]), Some((',', None)));
        assert_eq!(format(&["1,500", "12,000.5"]), Some(('.', Some(','))));
        assert_eq!(format(&["1.500,25", "12"]), Some((',', Some('.'))));
        assert_eq!(format(&["1 500", "2 000 000"]), Some(('.', Some(' '))));
        assert_eq!(
            format(&["1\u{a0}500,5", "2\u{202f}000"]),
            Some((',', Some(' ')))
        );
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
        let is_ambiguous = |texts: &[&str]| NumberFormat::of(|| texts.iter().copied()).unwrap().1;
        assert!(is_ambiguous(&["1,500", "2,125"]));
        assert!(!is_ambiguous(&["1,500", "2,125.5"]) && !is_ambiguous(&["1,5"]));
        assert!(!is_ambiguous(&["1.5", "2"]) && !is_ambiguous(&["0.125", "1.250"]));
        let doubtful = |text| NumberFormat::of_example(text).unwrap().doubtful();
        assert_eq!(doubtful("1,234.5").as_deref(), Some("1,234"));
        assert_eq!(doubtful("1234,5").as_deref(), Some("1,234"));
        assert_eq!(doubtful("1'234.5").as_deref(), Some("1.234"));
    }

    #[test]
    fn forms_are_named_by_an_example() {
        for form in NumberFormat::ALL {
            let example = form.example(true);
            assert_eq!(NumberFormat::of_example(&example), Some(form), "{example}");
            assert_eq!(form.read(&example), Decimal::parse("1234.5"));
            let example = form.example(false);
            let named = NumberFormat::of_example(&example).unwrap();
            assert_eq!(named.thousands, form.thousands, "{example}");
        }
        for text in ["", "1", "1234,50", "1.234.5", "12345", "1,234,5", "%d"] {
            assert_eq!(NumberFormat::of_example(text), None, "{text}");
        }
    }

    proptest! {
        /// A number reads back from every form, with marks and without.
        #[test]
        fn numbers_are_read_as_they_are_written(
            units in -1_000_000_000_000i64..1_000_000_000_000,
            digits in 0u8..6,
            which in 0..NumberFormat::ALL.len(),
            is_marked: bool,
        ) {
            let form = NumberFormat::ALL[which];
            let plain = written(units, digits);
            let (whole, behind) = plain.split_once('.').unwrap_or((&plain, ""));
            let (sign, whole) = match whole.strip_prefix('-') {
                Some(whole) => ("-", whole),
                None => ("", whole),
            };
            let mut text = String::from(sign);
            for (place, digit) in whole.chars().enumerate() {
                if is_marked && place > 0 && (whole.len() - place).is_multiple_of(3) {
                    text.extend(form.thousands);
                }
                text.push(digit);
            }
            if !behind.is_empty() {
                text.push(form.point);
                text.push_str(behind);
            }
            prop_assert_eq!(form.read(&text), Decimal::parse(&plain));
            prop_assert!(form.read(&text).is_some());
        }

        /// Whatever a form reads, it reads digits in their order.
        #[test]
        fn no_digit_is_lost_or_moved(text in "[-+]?[0-9., ']{0,14}", which in 0..NumberFormat::ALL.len()) {
            if let Some(plain) = NumberFormat::ALL[which].plain(&text) {
                let digits = |bytes: &[u8]| -> Vec<u8> {
                    bytes.iter().copied().filter(u8::is_ascii_digit).collect()
                };
                prop_assert_eq!(digits(plain.as_bytes()), digits(text.as_bytes()));
            }
        }
    }
}
