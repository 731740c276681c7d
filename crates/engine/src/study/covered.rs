//! Which values of a table the domains of a study do not cover.
//!
//! # Discloses
//! To the caller: values of the caller's own table. They belong on no page but that of whoever may see the table.

use std::collections::HashSet;

use hedgerow_data::Domain;

use super::Study;
use crate::error::Error;
use crate::observe::Observer;
use crate::table::Table;

/// The values of a column that its domain does not cover.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Uncovered {
    /// The column.
    pub column: String,
    /// Whether the table has the column at all.
    pub is_there: bool,
    /// The first of the values, as many as were asked for, in the order of the table.
    pub values: Vec<String>,
    /// How many different values are not covered.
    pub distinct: u64,
    /// How many rows have such a value.
    pub rows: u64,
}

// Values of records are in no log.
impl std::fmt::Debug for Uncovered {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Uncovered")
            .field("column", &self.column)
            .field("is_there", &self.is_there)
            .field("distinct", &self.distinct)
            .field("rows", &self.rows)
            .finish_non_exhaustive()
    }
}

impl Study {
    /// The columns of the study of which a table has values that their domains do not cover, with at most so many
    /// of these values, and the columns that the table does not have.
    ///
    /// ```
    /// use hedgerow::{Draft, Study, Table};
    ///
    /// let study = Study::parse(Study::draft(Draft::Horizontal), ".")?;
    /// let table = Table::csv("patients", &b"age,disease\n31,flu\n311,flu\n"[..]);
    /// let uncovered = study.uncovered(&table, 10, &())?;
    /// let of_age = uncovered.iter().find(|one| one.column == "age").expect("311 is no age");
    /// assert_eq!(of_age.values, ["311"]);
    /// # Ok::<(), hedgerow::Error>(())
    /// ```
    pub fn uncovered(
        &self,
        table: &Table,
        most: usize,
        observer: &dyn Observer,
    ) -> Result<Vec<Uncovered>, Error> {
        let attributes = self.declared().schema.attributes();
        let names: Vec<String> = attributes.iter().map(|one| one.name.clone()).collect();
        let text = table.read_text(&names, observer)?;
        let mut found = Vec::new();
        for attribute in attributes {
            let mut uncovered = Uncovered {
                column: attribute.name.clone(),
                is_there: true,
                values: Vec::new(),
                distinct: 0,
                rows: 0,
            };
            let Some(column) = text.column(&attribute.name) else {
                uncovered.is_there = false;
                found.push(uncovered);
                continue;
            };
            if attribute.domain == Domain::Text {
                continue;
            }
            let is_covered = |value: &str| match value.is_empty() {
                true => {
                    attribute.missing_code().is_some()
                        || attribute.encode(value.as_bytes()).is_some()
                }
                false => attribute.encode(value.as_bytes()).is_some(),
            };
            let strange = (0u32..).zip(&column.dictionary);
            let strange = strange.filter(|(_, value)| !is_covered(value));
            let mut codes = HashSet::new();
            for (code, value) in strange {
                codes.insert(code);
                if uncovered.values.len() < most {
                    uncovered.values.push(value.to_string());
                }
            }
            if codes.is_empty() {
                continue;
            }
            uncovered.distinct = codes.len() as u64;
            let rows = column.codes.iter().filter(|code| codes.contains(code));
            uncovered.rows = rows.count() as u64;
            found.push(uncovered);
        }
        Ok(found)
    }
}
