//! What a person can do about a value that is outside its domain.

use jiff::civil::Date;

use crate::attribute::Attribute;
use crate::decimal::Decimal;
use crate::domain::Domain;
use crate::nearest::quoted_list;
use crate::number_format::NumberFormat;
use crate::spelling::day_of;

/// Formats of days that tables often have.
const FORMATS: [&str; 10] = [
    "%d.%m.%Y",
    "%d/%m/%Y",
    "%m/%d/%Y",
    "%Y/%m/%d",
    "%Y%m%d",
    "%Y-%m-%d %H:%M:%S",
    "%Y-%m-%dT%H:%M:%S",
    "%d.%m.%Y %H:%M",
    "%Y-%m-%dT%H:%M:%SZ",
    "%Y-%m-%dT%H:%M:%S%.fZ",
];

impl Domain {
    /// What to do about a value that the domain does not have, as the end of a message.
    pub fn hint(&self, text: &str) -> String {
        let what = match self {
            Self::Category(_) if text.is_empty() => {
                String::from("if values may be missing, list \"\" among its values")
            }
            _ if text.is_empty() => {
                String::from("if values may be missing, declare it: missing = \"\"")
            }
            Self::Category(_) => self.near(text),
            Self::Integer(_) if text.parse::<i64>().is_ok() => self.near(text),
            Self::Decimal(_) if Decimal::parse(text).is_some() => self.near(text),
            Self::Date(_) if text.parse::<Date>().is_ok() && text.len() == 10 => self.near(text),
            Self::Integer(_) | Self::Decimal(_) => number(text),
            Self::Date(_) => day(text),
            Self::Text => return String::new(),
        };
        format!("\nhint: {what}")
    }

    fn near(&self, text: &str) -> String {
        format!(
            "nearest valid values are {}",
            quoted_list(self.nearest(text))
        )
    }
}

impl Attribute {
    /// What to do about a value of a table that is none of the attribute's.
    pub fn hint(&self, text: &str) -> String {
        if self.spelling.is_truth() {
            return match text.is_empty() {
                true => {
                    String::from("\nhint: if values may be missing, declare it: missing = \"\"")
                }
                false => String::from(
                    "\nhint: true, t, yes, y and 1 are true; false, f, no, n and 0 are false; other texts stand for a missing value if missing = [\"…\"] lists them",
                ),
            };
        }
        if let Some(format) = self.spelling.number_format().filter(|_| !text.is_empty()) {
            let has_tenths = matches!(self.domain, Domain::Decimal(_));
            return match format.read(text) {
                Some(number) => self.domain.hint(&number.to_string()),
                None => format!(
                    "\nhint: numbers are read as format = \"{}\" says; if this stands for a missing value, list it in missing",
                    format.example(has_tenths)
                ),
            };
        }
        let Some(format) = self.spelling.format().filter(|_| !text.is_empty()) else {
            return self.domain.hint(text);
        };
        match day_of(format, text.as_bytes()) {
            Some(day) => self.domain.hint(&day.to_string()),
            None => format!(
                "\nhint: days are read as format = \"{format}\" says; if this stands for a missing value, list it in missing"
            ),
        }
    }
}

/// About text that is no number of its domain's kind.
fn number(text: &str) -> String {
    if let Some(decimal) = Decimal::parse(text) {
        let step = match decimal.digits() {
            0 => String::from("1"),
            digits => format!("0.{:0>1$}", 1, usize::from(digits)),
        };
        return format!("this is a decimal; type = \"decimal\" with step = {step} takes decimals");
    }
    let mut formats: Vec<NumberFormat> = NumberFormat::reading(text).collect();
    // One format for each number that the text might be.
    formats.dedup_by_key(|format| format.read(text));
    if !formats.is_empty() {
        let formats = formats.iter().map(|format| format.example(true));
        let formats: Vec<String> = formats.map(|example| format!("\"{example}\"")).collect();
        return format!(
            "format = {} reads numbers such as this one",
            formats.join(" or ")
        );
    }
    marker(text, "no number")
}

/// About text that is no day as its domain writes days.
fn day(text: &str) -> String {
    let fits = |format: &&&str| day_of(format, text.as_bytes()).is_some();
    match FORMATS.iter().find(fits) {
        Some(format) => format!("format = \"{format}\" reads days such as this one"),
        None => marker(text, "no day"),
    }
}

fn marker(text: &str, kind: &str) -> String {
    let text: String = text.chars().take(20).collect();
    format!("this is {kind}; if it stands for a missing value, declare it: missing = {text:?}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hint(domain: &Domain, text: &str) -> String {
        domain.hint(text).replacen("\nhint: ", "", 1)
    }

    #[test]
    fn hints_say_what_would_help() {
        let age = Domain::integer(10, 60, 1).unwrap();
        for (text, expected) in [
            ("61", "nearest valid values are `60`"),
            (
                "38.6",
                "this is a decimal; type = \"decimal\" with step = 0.1 takes decimals",
            ),
            (
                "38.25",
                "this is a decimal; type = \"decimal\" with step = 0.01 takes decimals",
            ),
            ("38,6", "format = \"1234,5\" reads numbers such as this one"),
            (
                "NA",
                "this is no number; if it stands for a missing value, declare it: missing = \"NA\"",
            ),
            ("", "if values may be missing, declare it: missing = \"\""),
        ] {
            assert_eq!(hint(&age, text), expected, "{text}");
        }
        let decimal = |text| Decimal::parse(text).unwrap();
        let fever = Domain::decimal(decimal("34"), decimal("43.0"), decimal("0.1")).unwrap();
        assert_eq!(
            hint(&fever, "38.65"),
            "nearest valid values are `38.6`, `38.7`"
        );
        assert_eq!(hint(&fever, "-7"), "nearest valid values are `34.0`");
        assert_eq!(hint(&fever, "99"), "nearest valid values are `43.0`");
        assert_eq!(
            hint(&fever, "38,6"),
            "format = \"1234,5\" reads numbers such as this one"
        );
        let first = jiff::civil::date(2024, 1, 1);
        let came = Domain::date(first, first.tomorrow().unwrap()).unwrap();
        assert_eq!(
            hint(&came, "2024-01-03"),
            "nearest valid values are `2024-01-02`"
        );
        assert_eq!(
            hint(&came, "01.02.2024"),
            "format = \"%d.%m.%Y\" reads days such as this one"
        );
        assert_eq!(
            hint(&came, "2024-01-01 08:30:00"),
            "format = \"%Y-%m-%d %H:%M:%S\" reads days such as this one"
        );
        assert_eq!(
            hint(&came, "soon"),
            "this is no day; if it stands for a missing value, declare it: missing = \"soon\""
        );
    }
}
