//! What the values of a column look like, for drafts of a study: numbers, days, codes, addresses or
//! texts, and which texts stand for a missing value. A guess from the values alone; what the column's
//! name says is for whoever drafts.

mod days;
mod shapes;

use crate::number_format::NumberFormat;
use crate::text::TextColumn;

pub use days::DayFormat;
pub use shapes::{Contact, are_icd_codes};

/// What the values of a column look like.
#[derive(Debug, Clone, PartialEq)]
pub struct Profile {
    /// Records, those with a missing value included.
    pub records: u64,
    /// The distinct values that are not missing: in the order of their kind, numbers and days by size,
    /// all others by their letters.
    pub values: Vec<Value>,
    /// The texts that stand for a missing value.
    pub missing: Vec<Value>,
    /// Whether a text is taken for a missing value though it is no usual one, because all others are
    /// numbers or days.
    pub has_stray: bool,
    /// What kind of values these are.
    pub kind: Kind,
}

/// A text of a column, and how many records have it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Value {
    /// The text.
    pub text: String,
    /// Records that have it.
    pub records: u64,
}

/// Kinds of values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// Every value is missing.
    Empty,
    /// Whole numbers as a study's integers are written: no leading zeros, no `+`.
    Integers {
        /// The least.
        least: i64,
        /// The greatest.
        greatest: i64,
    },
    /// Numbers that a study's integers are not: with a fraction, or with marks between thousands.
    Numbers {
        /// How they are written.
        format: NumberFormat,
        /// Whether they might as well be other numbers, in another form.
        is_ambiguous: bool,
    },
    /// Days, with or without a time.
    Days(DayFormat),
    /// Yes and no, or the like.
    Booleans,
    /// Texts of letters and digits, such as postal codes or codes of the ICD.
    Codes,
    /// Ways to reach somebody.
    Contacts(Contact),
    /// Any other text.
    Texts,
}

/// Texts that usually stand for a missing value, in lower case.
const MISSING: [&str; 22] = [
    "",
    "-",
    "--",
    "---",
    ".",
    "?",
    "??",
    "n/a",
    "#n/a",
    "#na",
    "<na>",
    "na",
    "nan",
    "nil",
    "null",
    "\\n",
    "none",
    "missing",
    "unknown",
    "(blank)",
    "k.a.",
    "keine angabe",
];

/// Of so many different texts that are no numbers, in a column of numbers, it is said that they stand for
/// a missing value.
const MOST_STRAYS: usize = 2;

/// So many different numbers make a column a column of numbers in spite of strays.
const LEAST_NUMBERS: usize = 10;

impl Profile {
    /// Looks at a column.
    pub fn of(column: &TextColumn) -> Self {
        let mut counts = vec![0u64; column.dictionary.len()];
        for code in &column.codes {
            counts[*code as usize] += 1;
        }
        let texts = column.dictionary.iter().zip(counts);
        let texts = texts.map(|(text, records)| Value {
            text: text.to_string(),
            records,
        });
        Self::of_values(texts.collect())
    }

    /// Looks at distinct texts, each with how many records have it.
    pub fn of_values(texts: Vec<Value>) -> Self {
        let records = texts.iter().map(|value| value.records).sum();
        let is_missing = |value: &Value| {
            let folded = value.text.trim().to_lowercase();
            MISSING.contains(&folded.as_str())
        };
        let (mut missing, mut values): (Vec<Value>, Vec<Value>) =
            texts.into_iter().partition(is_missing);
        values.sort_by(|one, other| one.text.cmp(&other.text));
        missing.sort_by(|one, other| one.text.cmp(&other.text));
        let mut has_stray = false;
        let mut kind = Kind::of(&values);
        if matches!(kind, Kind::Texts | Kind::Codes)
            && let Some((strays, rest, of_rest)) = without_strays(&values)
        {
            (has_stray, kind, values) = (true, of_rest, rest);
            missing.extend(strays);
        }
        kind.sort(&mut values);
        Self {
            records,
            values,
            missing,
            has_stray,
            kind,
        }
    }

    /// Reads numbers that could be read in two ways with the point of other numbers, where all can be.
    pub fn read_with_point_of(&mut self, other: NumberFormat) {
        let Kind::Numbers {
            is_ambiguous: true, ..
        } = self.kind
        else {
            return;
        };
        let texts = || self.values.iter().map(|value| value.text.as_str());
        if let Some(format) = NumberFormat::with_point_of(other, texts) {
            self.kind = Kind::Numbers {
                format,
                is_ambiguous: true,
            };
            self.kind.sort(&mut self.values);
        }
    }

    /// Records whose value is not missing.
    pub fn present(&self) -> u64 {
        self.values.iter().map(|value| value.records).sum()
    }

    /// Records with a value that no other record has.
    pub fn alone(&self) -> u64 {
        self.values
            .iter()
            .filter(|value| value.records == 1)
            .count() as u64
    }

    /// All distinct texts, missing ones at the end.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        let all = self.values.iter().chain(&self.missing);
        all.map(|value| value.text.as_str())
    }
}

impl Kind {
    fn of(values: &[Value]) -> Self {
        let texts = || values.iter().map(|value| value.text.as_str());
        if values.is_empty() {
            return Self::Empty;
        }
        // Days first: `20240131` is a number too.
        if let Some(format) = DayFormat::of(texts) {
            return Self::Days(format);
        }
        let integers: Option<Vec<i64>> = texts().map(integer).collect();
        if let Some(integers) = integers
            && let (Some(least), Some(greatest)) = (integers.iter().min(), integers.iter().max())
        {
            return Self::Integers {
                least: *least,
                greatest: *greatest,
            };
        }
        // Numbers do not begin with zeros that mean nothing: `01067` is a postal code.
        if shapes::are_digits(texts()) {
            return Self::Codes;
        }
        if let Some((format, is_ambiguous)) = NumberFormat::of(texts) {
            return Self::Numbers {
                format,
                is_ambiguous,
            };
        }
        if shapes::are_booleans(texts()) {
            return Self::Booleans;
        }
        if let Some(contact) = Contact::of(values) {
            return Self::Contacts(contact);
        }
        match shapes::are_codes(texts()) {
            true => Self::Codes,
            false => Self::Texts,
        }
    }

    /// Puts values into the order of their kind.
    fn sort(self, values: &mut [Value]) {
        match self {
            Self::Integers { .. } => {
                values.sort_by_key(|value| integer(&value.text).unwrap_or(i64::MAX));
            }
            Self::Numbers { format, .. } => {
                values.sort_by_cached_key(|value| format.read(&value.text));
            }
            Self::Days(format) => values.sort_by_cached_key(|value| format.read(&value.text)),
            _ => {}
        }
    }
}

/// A whole number whose text is the one that a study writes for it.
fn integer(text: &str) -> Option<i64> {
    let number: i64 = text.parse().ok()?;
    (number.to_string() == text).then_some(number)
}

/// The few texts of a column that are neither numbers nor days where all others are, the others, and
/// their kind.
fn without_strays(values: &[Value]) -> Option<(Vec<Value>, Vec<Value>, Kind)> {
    let looks_counted = |value: &&Value| value.text.bytes().any(|byte| byte.is_ascii_digit());
    let (counted, strays): (Vec<&Value>, Vec<&Value>) = values.iter().partition(looks_counted);
    if strays.is_empty() || strays.len() > MOST_STRAYS || counted.len() < LEAST_NUMBERS {
        return None;
    }
    let cloned = |some: Vec<&Value>| -> Vec<Value> { some.into_iter().cloned().collect() };
    let (strays, counted) = (cloned(strays), cloned(counted));
    match Kind::of(&counted) {
        kind @ (Kind::Integers { .. } | Kind::Numbers { .. } | Kind::Days(_)) => {
            Some((strays, counted, kind))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile(texts: &[&str]) -> Profile {
        let mut column = TextColumn::default();
        (1..)
            .zip(texts)
            .for_each(|(place, text)| column.push(text, place));
        Profile::of(&column)
    }

    fn texts(values: &[Value]) -> Vec<&str> {
        values.iter().map(|value| value.text.as_str()).collect()
    }

    #[test]
    fn kinds_of_columns() {
        let kind = |texts: &[&str]| profile(texts).kind;
        assert_eq!(kind(&[]), Kind::Empty);
        assert_eq!(kind(&["", "NA", " "]), Kind::Empty);
        let integers = kind(&["9", "-3", "12", "NA"]);
        assert_eq!(
            integers,
            Kind::Integers {
                least: -3,
                greatest: 12
            }
        );
        assert_eq!(kind(&["01067", "10115", "80331"]), Kind::Codes);
        assert_eq!(kind(&["A15.0", "I10", "J45.9", "K29", "E11"]), Kind::Codes);
        assert_eq!(kind(&["yes", "no"]), Kind::Booleans);
        assert_eq!(kind(&["red", "green", "blue"]), Kind::Texts);
        assert_eq!(kind(&["1K to 2K", "2K to 5K"]), Kind::Texts);
        assert!(matches!(kind(&["1.5", "2", "-0.25"]), Kind::Numbers { .. }));
        assert!(matches!(
            kind(&["1,500", "2,000,000"]),
            Kind::Numbers { .. }
        ));
        assert!(matches!(kind(&["2024-01-31", "2024-02-29"]), Kind::Days(_)));
        assert!(matches!(kind(&["31.1.2024", "29.02.2024"]), Kind::Days(_)));
        assert_eq!(
            kind(&["a@b.example", "c.d@e.example"]),
            Kind::Contacts(Contact::Email)
        );
        // Longer than an integer, `-0`, and digits of another script are no integers.
        for text in ["99999999999999999999", "-0", "٣", "+5"] {
            assert!(
                !matches!(kind(&[text, "1"]), Kind::Integers { .. }),
                "{text}"
            );
        }
    }

    #[test]
    fn values_stand_in_the_order_of_their_kind() {
        assert_eq!(texts(&profile(&["10", "9", "10", "?"]).values), ["9", "10"]);
        assert_eq!(texts(&profile(&["10,5", "9,25"]).values), ["9,25", "10,5"]);
        let days = profile(&["01.02.2024", "02.01.2024"]);
        assert_eq!(texts(&days.values), ["02.01.2024", "01.02.2024"]);
        assert_eq!(texts(&days.missing), Vec::<&str>::new());
    }

    #[test]
    fn a_stray_text_among_numbers_is_taken_for_a_missing_value() {
        let numbers: Vec<String> = (0..20).map(|number| number.to_string()).collect();
        let mut all: Vec<&str> = numbers.iter().map(String::as_str).collect();
        all.extend(["tbd", "NA"]);
        let found = profile(&all);
        assert!(found.has_stray);
        assert_eq!(texts(&found.missing), ["NA", "tbd"]);
        assert_eq!(
            (found.records, found.present(), found.alone()),
            (22, 20, 20)
        );
        assert_eq!(found.texts().count(), 22);
        all.extend(["later", "soon"]);
        assert_eq!(profile(&all).kind, Kind::Texts);
    }
}
