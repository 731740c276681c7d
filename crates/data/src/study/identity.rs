//! `[identity]`: how sites that hold the same people tell who is who. An identifier is made of one
//! column or several, and each part is brought into one form before it is compared, so that
//! `" 0042 "` and `"42"` can be declared to be the same person.
//!
//! ```toml
//! [identity]
//! columns = ["name", "born"]   # all identifiers of the study where it is not said
//! case = "fold"                # keep | fold
//! spaces = "collapse"          # keep | trim | collapse | remove
//! zeros = "strip"              # keep | strip: leading ones
//! ```

use std::borrow::Cow;

use crate::attribute::{Role, Schema};
use crate::document::{DocumentError, Section};
use crate::table::{Column, Table};

/// Whether case tells people apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Case {
    /// Upper and lower case tell people apart.
    #[default]
    Keep,
    /// Case does not tell people apart: texts are compared in lower case.
    Fold,
}

/// Which spaces in an identifier tell people apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Spaces {
    /// All spaces.
    #[default]
    Keep,
    /// Spaces inside the text.
    Trim,
    /// The presence of spaces inside the text, not their number.
    Collapse,
    /// No spaces.
    Remove,
}

/// Whether leading zeros tell people apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Zeros {
    /// Leading zeros tell people apart.
    #[default]
    Keep,
    /// Leading zeros do not: zeros before a digit or letter are dropped.
    Strip,
}

/// How a person's identifier is made of columns.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Identity {
    /// The identifier's columns, in the order in which they are joined.
    pub columns: Vec<String>,
    /// Whether case tells people apart.
    pub case: Case,
    /// Which spaces tell people apart.
    pub spaces: Spaces,
    /// Whether leading zeros tell people apart.
    pub zeros: Zeros,
}

/// Why a table's identifiers cannot be compared with other sites'. Records are numbered from 1.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IdentityError {
    /// The study has no column that says who is who.
    #[error(
        "no attribute has role = \"identifier\"\nhint: sites that hold the same people need a column that says who is who"
    )]
    NoColumns,
    /// A table without a column of the identifier.
    #[error("there is no column `{column}`, which [identity] needs")]
    NoColumn {
        /// The column's name.
        column: String,
    },
    /// Records without an identifier.
    #[error(
        "{} an empty identifier, the first is record {first}\nhint: give each record one, or leave it out",
        records(*count, "has", "have")
    )]
    Empty {
        /// How many.
        count: usize,
        /// The first of these records.
        first: usize,
    },
    /// Records of one identifier.
    #[error(
        "{} an identifier that an earlier record has, the first are records {first} and {second}\nhint: a site has one record for each person",
        records(*count, "repeats", "repeat")
    )]
    Repeated {
        /// How many records repeat the identifier of an earlier record.
        count: usize,
        /// The earlier record of the first pair.
        first: usize,
        /// The later record of the first pair.
        second: usize,
    },
    /// Records whose identifiers are written differently but are the same in the form compared.
    #[error(
        "{} another identifier than an earlier record, but the same one by the rules of [identity]; the first are records {first} and {second}\nhint: if they are different people, keep what tells them apart (case, spaces, zeros)",
        records(*count, "has", "have")
    )]
    Collided {
        /// How many records have the identifier of an earlier record in the form compared.
        count: usize,
        /// The earlier record of the first pair.
        first: usize,
        /// The later record of the first pair.
        second: usize,
    },
}

/// A number of records, with the verb for one or for many.
fn records(count: usize, one: &str, many: &str) -> String {
    match count {
        1 => format!("1 record {one}"),
        _ => format!("{count} records {many}"),
    }
}

impl Identity {
    /// All identifiers of the schema, compared as they are written.
    pub fn of_schema(schema: &Schema) -> Self {
        let columns = schema.with_role(Role::Identifier).into_iter();
        let name = |position: usize| schema.attributes()[position].name.clone();
        Self {
            columns: columns.map(name).collect(),
            ..Self::default()
        }
    }

    pub(super) fn read(root: &Section<'_>, schema: &Schema) -> Result<Self, DocumentError> {
        let mut identity = Self::of_schema(schema);
        let Some(section) = root.section("identity")? else {
            return Ok(identity);
        };
        if let Some(names) = section.strings("columns")? {
            for (place, name) in names.iter().enumerate() {
                if !identity.columns.contains(name) {
                    let message = format!(
                        "`identity.columns` names `{name}`, which is no attribute with role = \"identifier\""
                    );
                    return Err(section.wrong("columns", message));
                }
                if names[..place].contains(name) {
                    let message = format!("`identity.columns` names `{name}` twice");
                    return Err(section.wrong("columns", message));
                }
            }
            if names.is_empty() {
                return Err(section.wrong("columns", "`identity.columns` is empty"));
            }
            identity.columns = names;
        }
        let cases = [("keep", Case::Keep), ("fold", Case::Fold)];
        let spaces = [
            ("keep", Spaces::Keep),
            ("trim", Spaces::Trim),
            ("collapse", Spaces::Collapse),
            ("remove", Spaces::Remove),
        ];
        let zeros = [("keep", Zeros::Keep), ("strip", Zeros::Strip)];
        identity.case = section.word("case", &cases)?.unwrap_or_default();
        identity.spaces = section.word("spaces", &spaces)?.unwrap_or_default();
        identity.zeros = section.word("zeros", &zeros)?.unwrap_or_default();
        section.finish()?;
        if identity.columns.is_empty() {
            let message = IdentityError::NoColumns.to_string();
            return Err(section.wrong_section(message));
        }
        Ok(identity)
    }

    /// A part of an identifier in the form in which it is compared.
    pub fn normalize(&self, part: &str) -> String {
        let mut text = match self.spaces {
            Spaces::Keep => part.to_owned(),
            Spaces::Trim => part.trim().to_owned(),
            Spaces::Collapse => part.split_whitespace().collect::<Vec<_>>().join(" "),
            Spaces::Remove => part.split_whitespace().collect(),
        };
        if self.case == Case::Fold {
            text = text.to_lowercase();
        }
        if self.zeros == Zeros::Strip {
            // A zero is leading if a digit or letter follows it: the zero of "0" or "0 a" is not.
            let follows = |at: usize| text[at..].starts_with(char::is_alphanumeric);
            let zeros = text.bytes().take_while(|byte| *byte == b'0').count();
            let leading = (0..zeros).take_while(|at| follows(at + 1)).count();
            text.drain(..leading);
        }
        text
    }

    /// The key of each record of a table: its identifier in the form compared, parts told apart by their
    /// lengths. Every record has a key of its own.
    pub fn keys(&self, table: &Table) -> Result<Vec<Vec<u8>>, IdentityError> {
        if self.columns.is_empty() {
            return Err(IdentityError::NoColumns);
        }
        let mut columns = Vec::with_capacity(self.columns.len());
        for name in &self.columns {
            let position = table.schema().position(name);
            columns.push(position.ok_or_else(|| IdentityError::NoColumn {
                column: name.clone(),
            })?);
        }
        let as_written = Self::default();
        let mut keys = Vec::with_capacity(table.rows());
        let mut empty = (0, 0);
        for row in 0..table.rows() {
            let (key, is_empty) = self.key(table, &columns, row);
            if is_empty {
                empty = (empty.0 + 1, if empty.0 == 0 { row + 1 } else { empty.1 });
            }
            keys.push(key);
        }
        if let (count @ 1.., first) = empty {
            return Err(IdentityError::Empty { count, first });
        }
        let mut earlier = hashbrown::HashMap::with_capacity(keys.len());
        let (mut repeated, mut collided) = (Pairs::default(), Pairs::default());
        for (row, key) in keys.iter().enumerate() {
            let first = *earlier.entry(key.as_slice()).or_insert(row);
            if first == row {
                continue;
            }
            let is_same =
                as_written.key(table, &columns, first) == as_written.key(table, &columns, row);
            let pairs = if is_same {
                &mut repeated
            } else {
                &mut collided
            };
            pairs.add(first, row);
        }
        drop(earlier);
        match (repeated.first, collided.first) {
            (None, None) => Ok(keys),
            (Some((first, second)), _) => Err(IdentityError::Repeated {
                count: repeated.count,
                first,
                second,
            }),
            (None, Some((first, second))) => Err(IdentityError::Collided {
                count: collided.count,
                first,
                second,
            }),
        }
    }

    /// A record's key, and whether the identifier is empty.
    fn key(&self, table: &Table, columns: &[usize], row: usize) -> (Vec<u8>, bool) {
        let mut key = Vec::new();
        let mut is_empty = true;
        for column in columns {
            let text: Cow<'_, str> = match table.column(*column) {
                Column::Text(text) => Cow::Borrowed(text.get(row)),
                Column::Absent(_) => Cow::Borrowed(""),
                Column::Coded(codes) => table.schema().attributes()[*column]
                    .domain
                    .label(codes.get(row)),
            };
            let part = self.normalize(&text);
            is_empty &= part.is_empty();
            key.extend_from_slice(&(part.len() as u64).to_le_bytes());
            key.extend_from_slice(part.as_bytes());
        }
        (key, is_empty)
    }
}

/// Pairs of records, numbered from 1: how many, and the first.
#[derive(Default)]
struct Pairs {
    count: usize,
    first: Option<(usize, usize)>,
}

impl Pairs {
    fn add(&mut self, first: usize, second: usize) {
        self.count += 1;
        self.first.get_or_insert((first + 1, second + 1));
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;
    use crate::document::Document;
    use crate::study::Study;
    use crate::text::TextColumn;

    const HEAD: &str = "[study]\nname = \"s\"\npartition = \"vertical\"\n\
        [[attribute]]\nname = \"name\"\nrole = \"identifier\"\n\
        [[attribute]]\nname = \"number\"\nrole = \"identifier\"\n\
        [[attribute]]\nname = \"sex\"\nrole = \"quasi\"\nvalues = [\"f\", \"m\"]\n";

    fn study(identity: &str) -> Result<Study, String> {
        let document =
            Document::parse(format!("{HEAD}{identity}"), Path::new("study.toml")).unwrap();
        Study::read(document, Path::new(".")).map_err(|error| error.to_string())
    }

    fn keys(identity: &str, people: &[(&str, &str)]) -> Result<Vec<Vec<u8>>, IdentityError> {
        let study = study(identity).unwrap();
        let mut columns = [TextColumn::default(), TextColumn::default()];
        let mut sex = crate::table::Codes::for_size(2);
        for (row, (name, number)) in people.iter().enumerate() {
            columns[0].push(name, row as u64);
            columns[1].push(number, row as u64);
            sex.push(0);
        }
        let [name, number] = columns;
        let columns = vec![Column::Text(name), Column::Text(number), Column::Coded(sex)];
        study
            .identity
            .keys(&Table::new(Arc::clone(&study.schema), columns))
    }

    #[test]
    fn rules_are_read() {
        let read = study(
            "[identity]\ncolumns = [\"number\"]\ncase = \"fold\"\nspaces = \"remove\"\nzeros = \"strip\"\n",
        );
        let expected = Identity {
            columns: vec![String::from("number")],
            case: Case::Fold,
            spaces: Spaces::Remove,
            zeros: Zeros::Strip,
        };
        assert_eq!(read.unwrap().identity, expected);
        assert_eq!(study("").unwrap().identity.columns, ["name", "number"]);
        let refused = |text: &str| study(text).unwrap_err();
        assert_eq!(
            refused("[identity]\ncase = \"lower\"\n"),
            "study.toml:15: `identity.case` is `lower`, expected one of `keep`, `fold`"
        );
        assert!(refused("[identity]\ncolumns = [\"sex\"]\n").contains("no attribute with role"));
        assert!(refused("[identity]\ncolumns = []\n").contains("is empty"));
        assert!(refused("[identity]\nzero = \"strip\"\n").contains("did you mean `zeros`?"));
    }

    #[test]
    fn the_same_person_in_other_words() {
        let rules = "[identity]\ncase = \"fold\"\nspaces = \"collapse\"\nzeros = \"strip\"\n";
        let ours = keys(rules, &[("Ada  Byron ", "0042"), ("Alan", "000")]).unwrap();
        let theirs = keys(rules, &[(" ada byron", "42"), ("ALAN", "0")]).unwrap();
        assert_eq!(ours, theirs);
        assert_ne!(
            keys("", &[("ab", "c")]).unwrap(),
            keys("", &[("a", "bc")]).unwrap()
        );
    }

    #[test]
    fn repeated_and_collided_identifiers_are_counted() {
        let people = [("Ada", "1"), ("Bob", "1"), ("Ada", "1"), ("Ada", "1")];
        let repeated = IdentityError::Repeated {
            count: 2,
            first: 1,
            second: 3,
        };
        assert_eq!(keys("", &people), Err(repeated));
        let rules = "[identity]\ncase = \"fold\"\n";
        let collided = IdentityError::Collided {
            count: 1,
            first: 1,
            second: 2,
        };
        assert_eq!(keys(rules, &[("Ada", "1"), ("ada", "1")]), Err(collided));
        assert!(keys("", &[("Ada", "1"), ("ada", "1")]).is_ok());
        let empty = IdentityError::Empty { count: 1, first: 2 };
        let rules = "[identity]\nspaces = \"trim\"\n";
        assert_eq!(keys(rules, &[("Ada", "1"), (" ", "")]), Err(empty));
    }

    proptest! {
        #[test]
        fn normal_forms_stay(text in "[ 0aAß\u{130}\t]{0,8}", case: bool, spaces in 0..4usize, zeros: bool) {
            let identity = Identity {
                columns: Vec::new(),
                case: if case { Case::Fold } else { Case::Keep },
                spaces: [Spaces::Keep, Spaces::Trim, Spaces::Collapse, Spaces::Remove][spaces],
                zeros: if zeros { Zeros::Strip } else { Zeros::Keep },
            };
            let once = identity.normalize(&text);
            prop_assert_eq!(identity.normalize(&once), once);
        }
    }
}
