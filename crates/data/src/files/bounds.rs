//! Bounds: beside the label of a generalized number or day, a Parquet release has its least and
//! greatest value in their own type, so that `age` = `[20-39]` stands beside `age_low` = 20 and
//! `age_high` = 39.
//!
//! A set with holes has its least and greatest member. `*` covers the whole declared range, so its
//! bounds are the ends of that range, which are public. A missing value is no number: it counts for
//! neither bound, and a cell that covers nothing else has null bounds. Bounds say nothing that the label
//! does not say: a reader computes them from the label and holds them against the file.

use std::collections::HashSet;

use arrow_schema::DataType;

use crate::attribute::{Attribute, Role, Schema};
use crate::cell::Cell;
use crate::domain::Domain;
use crate::release::cell_of;
use crate::text::{TextColumn, TextTable};

/// The end of a cell whose values a column of bounds holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bound {
    /// The least value.
    Low,
    /// The greatest value.
    High,
}

impl Bound {
    pub(super) const BOTH: [Self; 2] = [Self::Low, Self::High];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::High => "high",
        }
    }
}

/// For each attribute of a schema the names of its columns of bounds, low and high, where it has
/// such columns. A name that an attribute has already, whatever its role, gets a number behind.
pub(super) fn names(schema: &Schema) -> Vec<Option<[String; 2]>> {
    let attributes = schema.attributes().iter();
    let mut taken: HashSet<String> = attributes.map(|attribute| attribute.name.clone()).collect();
    let mut named = |attribute: &Attribute| {
        arrow_type(&attribute.domain).filter(|_| attribute.role == Role::Quasi)?;
        let of = |number: u32| {
            let behind = match number {
                1 => String::new(),
                _ => format!("_{number}"),
            };
            Bound::BOTH.map(|bound| format!("{}_{}{behind}", attribute.name, bound.name()))
        };
        let names = (1..)
            .map(of)
            .find(|names| names.iter().all(|name| !taken.contains(name)))?;
        taken.extend(names.iter().cloned());
        Some(names)
    };
    schema.attributes().iter().map(&mut named).collect()
}

/// The type of the bounds of a domain's values, where the values have an order of their own.
pub(super) fn arrow_type(domain: &Domain) -> Option<DataType> {
    match domain {
        Domain::Integer(_) => Some(DataType::Int64),
        Domain::Decimal(decimals) => Some(decimal_type(decimals.digits())),
        Domain::Date(_) => Some(DataType::Date32),
        Domain::Category(_) | Domain::Text => None,
    }
}

/// The type of decimals with so many digits behind the point: exact, as their text is.
pub(super) const fn decimal_type(digits: u8) -> DataType {
    // Decimals have 18 digits at most.
    DataType::Decimal128(18, digits as i8)
}

/// The code of a cell's least or greatest value, the missing value apart.
pub(super) fn code(domain: &Domain, cell: &Cell, bound: Bound) -> Option<u32> {
    let missing = domain.missing_code();
    let is_value = |code: &u32| Some(*code) != missing;
    match (cell, bound) {
        (Cell::Interval(least, _), Bound::Low) => Some(*least).filter(is_value),
        // The missing value has the last code of numbers and days.
        (Cell::Interval(least, greatest), Bound::High) => {
            (*least..=*greatest).rev().take(2).find(is_value)
        }
        (Cell::Set(codes), Bound::Low) => codes.iter().copied().find(is_value),
        (Cell::Set(codes), Bound::High) => codes.iter().copied().rev().find(is_value),
    }
}

/// Takes the columns of bounds out of a table that was read from Parquet, and says of each whether it
/// contradicts its label: the first contradicting record, and their number. `types` has the type of each
/// column of the file.
pub(super) fn take(text: &mut TextTable, types: &[DataType], schema: &Schema) -> Vec<String> {
    let mut contradictions = Vec::new();
    let mut taken = Vec::new();
    for (attribute, names) in schema.attributes().iter().zip(names(schema)) {
        for (bound, name) in Bound::BOTH.into_iter().zip(names.into_iter().flatten()) {
            let Some(at) = text.names.iter().position(|found| *found == name) else {
                continue;
            };
            taken.push(at);
            if types.get(at) != arrow_type(&attribute.domain).as_ref() {
                contradictions.push(format!(
                    "`{name}` is a column of {} and not of the type of `{}`",
                    types.get(at).map_or(String::new(), ToString::to_string),
                    attribute.name
                ));
            } else if let Some(label) = text.column(&attribute.name) {
                let found = contradiction(attribute, label, &text.columns[at], bound);
                contradictions.extend(found.map(|found| format!("`{name}` {found}")));
            }
        }
    }
    taken.sort_unstable();
    for at in taken.into_iter().rev() {
        text.names.remove(at);
        text.columns.remove(at);
    }
    contradictions
}

/// Where bounds differ from the bounds of the labels beside them. A label that stands for nothing is
/// reported by the reader of labels.
fn contradiction(
    attribute: &Attribute,
    labels: &TextColumn,
    bounds: &TextColumn,
    bound: Bound,
) -> Option<String> {
    let domain = &attribute.domain;
    let expected = labels.dictionary.iter().map(|label| {
        let cell = cell_of(label, domain).ok()?;
        // Without a bound the column is null, which reads as empty text.
        let code = code(domain, &cell, bound);
        Some(code.map_or_else(String::new, |code| domain.label(code).into_owned()))
    });
    let expected: Vec<Option<String>> = expected.collect();
    let rows = labels.codes.iter().zip(&bounds.codes).enumerate();
    let mut wrong = rows.filter(|(_, (label, found))| {
        let expected = &expected[**label as usize];
        expected
            .as_deref()
            .is_some_and(|text| *text != *bounds.dictionary[**found as usize])
    });
    let (row, _) = wrong.next()?;
    let said = match bounds.get(row) {
        "" => String::from("null"),
        value => format!("`{value}`"),
    };
    Some(format!(
        "is {said} at record {}, where `{}` is `{}`; {} in all",
        row + 1,
        attribute.name,
        labels.get(row),
        match wrong.count() + 1 {
            1 => String::from("1 record"),
            count => format!("{count} records"),
        }
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quasi(name: &str, role: Role) -> Attribute {
        Attribute {
            name: name.to_owned(),
            role,
            domain: Domain::integer(0, 9, 1).unwrap(),
            recode: None,
            spelling: crate::spelling::Spelling::default(),
            publish_unique: false,
        }
    }

    #[test]
    fn a_missing_value_is_no_bound() {
        let age = Domain::integer(30, 39, 1)
            .unwrap()
            .with_missing("NA".into());
        let bounds = |cell: &Cell| Bound::BOTH.map(|bound| code(&age, cell, bound));
        assert_eq!(bounds(&Cell::Interval(2, 5)), [Some(2), Some(5)]);
        assert_eq!(bounds(&Cell::Interval(10, 10)), [None, None]);
        assert_eq!(bounds(&Cell::Interval(0, 10)), [Some(0), Some(9)]);
        let set = |codes: &[u32]| Cell::set(codes.to_vec()).unwrap();
        assert_eq!(bounds(&set(&[1, 4, 7])), [Some(1), Some(7)]);
        assert_eq!(bounds(&set(&[3, 10])), [Some(3), Some(3)]);
    }

    #[test]
    fn names_that_are_taken_get_a_number() {
        let schema = Schema::new(vec![
            quasi("age", Role::Quasi),
            quasi("age_low", Role::Identifier),
            quasi("age_high_2", Role::Sensitive),
            quasi("age_low_3", Role::Quasi),
        ]);
        let names = names(&schema);
        assert_eq!(
            names[0],
            Some(["age_low_4", "age_high_4"].map(String::from))
        );
        assert_eq!(names[1..3], [None, None]);
        assert_eq!(
            names[3],
            Some(["age_low_3_low", "age_low_3_high"].map(String::from))
        );
    }
}
