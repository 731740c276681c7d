//! Text in the CSV files of a release that a spreadsheet would run as a formula: such text gets a `'` in
//! front, and loses the `'` when it is read.
//!
//! Text that begins with `=`, `+`, `-`, `@`, a tab or a carriage return is guarded, also behind any
//! number of `'`, so that text with a `'` of its own reads back unchanged. Numbers are not text: `-5`
//! and `-0.25` stay as they are, in every column, so that readers of numbers need not know of guards.
//! Names of columns are text too. Parquet files mark text as such and hold it verbatim.

use std::borrow::Cow;

/// How text stands in the CSV files of a release.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CsvText {
    /// Text that a spreadsheet would run gets a `'` in front.
    #[default]
    Guarded,
    /// Text stands verbatim.
    Verbatim,
}

impl CsvText {
    /// The setting's name in studies and manifests.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Guarded => "guarded",
            Self::Verbatim => "verbatim",
        }
    }

    /// Text in the form that CSV files have.
    pub(crate) fn written(self, text: &str) -> Cow<'_, str> {
        match self {
            Self::Guarded if is_formula(text.trim_start_matches('\'')) => {
                Cow::Owned(format!("'{text}"))
            }
            _ => Cow::Borrowed(text),
        }
    }

    /// Text from a CSV file in its original form.
    pub(crate) fn read(self, text: &str) -> &str {
        match (self, text.strip_prefix('\'')) {
            (Self::Guarded, Some(inner)) if is_formula(inner.trim_start_matches('\'')) => inner,
            _ => text,
        }
    }
}

/// Whether a spreadsheet would run the text as a formula.
fn is_formula(text: &str) -> bool {
    match text.as_bytes() {
        [b'=' | b'+' | b'@' | b'\t' | b'\r', ..] => true,
        [b'-', number @ ..] => !is_number(number),
        _ => false,
    }
}

/// Digits, and behind a point some more.
fn is_number(text: &[u8]) -> bool {
    let is_digits = |part: &[u8]| !part.is_empty() && part.iter().all(u8::is_ascii_digit);
    let mut parts = text.split(|byte| *byte == b'.');
    parts.next().is_some_and(is_digits)
        && parts.next().is_none_or(is_digits)
        && parts.next().is_none()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_would_run_is_guarded() {
        let written = |text: &str| CsvText::Guarded.written(text).into_owned();
        for text in [
            "=1+1", "+1", "@A1", "-", "-1+1", "--1", "-.5", "-1.", "-1.2.3", "\tx", "\r",
        ] {
            assert_eq!(written(text), format!("'{text}"));
            assert_eq!(written(&format!("''{text}")), format!("'''{text}"));
            assert_eq!(CsvText::Verbatim.written(text), text);
        }
        for text in [
            "", "-5", "-0.25", "5", "'tis", "''", "'-5", "*", "[-5--1]", "{-|+}", "a=b",
        ] {
            assert_eq!(written(text), text);
        }
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(text in "['=+@\t\r5a.-]{0,8}|\\PC{0,12}") {
            for csv in [CsvText::Guarded, CsvText::Verbatim] {
                let written = csv.written(&text).into_owned();
                prop_assert_eq!(csv.read(&written), &text);
            }
            let written = CsvText::Guarded.written(&text).into_owned();
            let first = written.chars().next();
            let is_number = written.parse::<f64>().is_ok();
            prop_assert!(is_number || !matches!(first, Some('=' | '+' | '-' | '@' | '\t' | '\r')));
        }
    }
}
