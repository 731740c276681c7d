//! Columns that look like identifiers though the study does not declare them so: by their names, or
//! because nearly every record has a text of its own there. A guess, so a warning and no verdict.

use std::collections::HashMap;
use std::fmt;

use hedgerow_data::{Column, Domain, Role, Table, TextColumn};

/// Words that name people wherever they stand in a column's name.
const ANYWHERE: [&str; 40] = [
    "adresse",
    "anschrift",
    "email",
    "fingerprint",
    "firstname",
    "forename",
    "fullname",
    "guid",
    "handynummer",
    "iban",
    "kontonummer",
    "kvnr",
    "lastname",
    "login",
    "mail",
    "mobile",
    "mrn",
    "nachname",
    "passport",
    "passnummer",
    "patientennummer",
    "personalnummer",
    "phone",
    "prenom",
    "prénom",
    "socialsecurity",
    "sozialversicherungsnummer",
    "ssn",
    "steuernummer",
    "strasse",
    "straße",
    "surname",
    "svnr",
    "telefon",
    "telefonnummer",
    "telephone",
    "username",
    "uuid",
    "versichertennummer",
    "vorname",
];
/// Words that name people at the end of a column's name.
const LAST: [&str; 3] = ["id", "identifier", "name"];
/// Words for people, where they live and what they have a number of: alone, or before one of the words
/// for numbers.
const ALONE: [&str; 11] = [
    "address",
    "client",
    "customer",
    "employee",
    "member",
    "participant",
    "patient",
    "person",
    "street",
    "subject",
    "versicherungsnummer",
];
/// Words that name people only before one of the words for numbers: `insurance number`, but not
/// `insurance`.
const COUNTED: [&str; 6] = ["account", "case", "health", "insurance", "policy", "record"];
const NUMBERS: [&str; 5] = ["code", "key", "no", "nr", "number"];

/// In fewer records than this every text may well stand alone.
const FEW: u64 = 5;

/// A column that looks like an identifier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suspect {
    /// The column.
    pub column: String,
    reason: Reason,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reason {
    Name,
    Texts { unique: u64, records: u64 },
}

impl Suspect {
    /// Judges a column by its name alone.
    pub fn by_name(column: &str) -> Option<Self> {
        is_identifying(column).then(|| Self {
            column: column.to_owned(),
            reason: Reason::Name,
        })
    }

    /// Judges a column of text by its name, or by its values: `counts` says how many records each row stands
    /// for, where that is not one.
    pub fn of_text(column: &str, text: &TextColumn, counts: Option<&[u64]>) -> Option<Self> {
        let label = |code: u32| text.dictionary[code as usize].to_string();
        let codes = || text.codes.iter().copied();
        Self::by_name(column).or_else(|| Self::by_texts(column, codes(), counts, label))
    }

    /// Judges the columns of a table but its identifiers. A quasi-identifier may be as fine as it likes:
    /// the release is not.
    pub fn of_table(table: &Table) -> Vec<Self> {
        let attributes = table.schema().attributes().iter().enumerate();
        let suspects = attributes.filter_map(|(position, attribute)| {
            match (attribute.role, table.column(position), &attribute.domain) {
                (Role::Identifier, ..) | (_, Column::Absent(_), _) => None,
                (Role::Sensitive | Role::Other, Column::Text(text), _) => {
                    Self::of_text(&attribute.name, text, table.counts())
                }
                (Role::Sensitive | Role::Other, Column::Coded(codes), Domain::Category(_)) => {
                    let label = |code| attribute.domain.label(code).into_owned();
                    Self::by_name(&attribute.name).or_else(|| {
                        Self::by_texts(&attribute.name, codes.iter(), table.counts(), label)
                    })
                }
                _ => Self::by_name(&attribute.name),
            }
        });
        suspects.collect()
    }

    /// Whether nine records of ten have a text with a letter in it that no other record has.
    fn by_texts(
        column: &str,
        codes: impl Iterator<Item = u32>,
        counts: Option<&[u64]>,
        label: impl Fn(u32) -> String,
    ) -> Option<Self> {
        let mut of_text: HashMap<u32, u64> = HashMap::new();
        for (row, code) in codes.enumerate() {
            *of_text.entry(code).or_default() += counts.map_or(1, |counts| counts[row]);
        }
        let records: u64 = of_text.values().sum();
        let alone = of_text.into_iter().filter(|(_, records)| *records == 1);
        let unique = alone
            .filter(|(code, _)| label(*code).chars().any(char::is_alphabetic))
            .count() as u64;
        (records >= FEW && unique * 10 >= records * 9).then(|| Self {
            column: column.to_owned(),
            reason: Reason::Texts { unique, records },
        })
    }
}

impl fmt::Display for Suspect {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let column = &self.column;
        match self.reason {
            Reason::Name => write!(formatter, "column `{column}` is called like an identifier")?,
            Reason::Texts { unique, records } => write!(
                formatter,
                "column `{column}` looks like an identifier: {unique} of {records} records have a text of their own there"
            )?,
        }
        formatter.write_str(
            "\nhint: a column that names people has role = \"identifier\", and no release has it",
        )
    }
}

/// Whether the name of a column says that it names people.
fn is_identifying(name: &str) -> bool {
    let words = name_words(name);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let pairs = words.windows(2).map(|pair| pair.concat());
    let is_anywhere = words.iter().any(|word| ANYWHERE.contains(word))
        || pairs
            .into_iter()
            .any(|pair| ANYWHERE.contains(&pair.as_str()));
    is_anywhere
        || match words.as_slice() {
            [.., last] if LAST.contains(last) => true,
            [one] => ALONE.contains(one),
            [.., one, last] => {
                let is_person = ALONE.contains(one);
                // An `insurance code` is one of a tariff.
                let is_counted = COUNTED.contains(one) && *last != "code";
                (is_person || is_counted) && NUMBERS.contains(last)
            }
            _ => false,
        }
}

/// The words of a column's name in lower case: `patientName`, `patient-name` and `PATIENT_NAME` are two.
pub fn name_words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for letter in name.chars() {
        if !letter.is_alphanumeric() || (letter.is_uppercase() && was_lower) {
            words.push(String::new());
        }
        was_lower = letter.is_lowercase();
        if let (true, Some(word)) = (letter.is_alphanumeric(), words.last_mut()) {
            word.extend(letter.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_say_it_and_names_that_do_not() {
        for name in [
            "name",
            "Name",
            "SSN",
            "patient",
            "PatientID",
            "patient_id",
            "e-mail",
            "email",
            "phone number",
            "firstName",
            "last name",
            "social security number",
            "patient no",
            "uuid",
            "id",
            "address",
            "health insurance number",
            "policy_no",
            "Versichertennummer",
        ] {
            assert!(is_identifying(name), "{name}");
        }
        for name in [
            "age",
            "zip",
            "sex",
            "diagnosis",
            "admission",
            "patient age",
            "marital-status",
            "native-country",
            "number of children",
            "cost",
            "insurance",
            "health",
            "",
            "widowed",
            "paid",
            "group",
        ] {
            assert!(!is_identifying(name), "{name}");
        }
    }

    #[test]
    fn texts_of_their_own() {
        let column = |texts: &[&str]| {
            let mut column = TextColumn::default();
            (2..)
                .zip(texts)
                .for_each(|(place, text)| column.push(text, place));
            Suspect::of_text("note", &column, None)
        };
        let named = column(&["ape", "bee", "cat", "dog", "eel"]).unwrap();
        assert_eq!(
            named.to_string(),
            "column `note` looks like an identifier: 5 of 5 records have a text of their own there\nhint: a column that names people has role = \"identifier\", and no release has it"
        );
        assert_eq!(column(&["ape", "bee", "cat", "dog"]), None);
        assert_eq!(column(&["ape", "bee", "cat", "dog", "dog"]), None);
        assert_eq!(column(&["1", "2", "3", "4", "5", "6"]), None);
    }

    /// Each text stands in one row of five, and these stand for 450 records: nobody is named.
    #[test]
    fn texts_of_counted_rows_are_those_of_their_records() {
        let mut texts = TextColumn::default();
        let rows = (2..).zip(["ape", "bee", "cat", "dog", "eel"]);
        rows.for_each(|(place, text)| texts.push(text, place));
        let column = |counts: &[u64]| Suspect::of_text("note", &texts, Some(counts));
        assert_eq!(column(&[90; 5]), None);
        assert_eq!(column(&[1, 1, 1, 1, 2]), None);
        assert!(column(&[1; 5]).is_some());
    }
}
