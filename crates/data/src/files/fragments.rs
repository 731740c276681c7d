//! Fragmented releases in and out: a folder with a table of quasi-identifiers and one of each sensitive
//! or other attribute, which nothing joins but the number of a group (D2PT section 3.6).

use std::path::Path;
use std::sync::Arc;

use super::error::missing_column;
use super::{CsvText, FileError, Progress, read_release, write::write_columns};
use crate::attribute::{Attribute, Role, Schema};
use crate::nearest::shorten;
use crate::release::{Release, ReleaseColumn, ReleaseError};
use crate::study::{GROUP, QUASI_FILE, fragment_files};
use crate::text::{TextColumn, TextTable};

/// A fragmented release, read from its files.
#[derive(Debug)]
pub struct Fragments {
    /// All tables side by side, rows in the order of their groups; what stands in a row of two tables
    /// has the group in common and no more.
    pub text: TextTable,
    /// The release that the files stand for.
    pub release: Release,
    /// Files whose rows are not sorted by group and contents, so that their order may say who is who.
    pub disordered: Vec<String>,
}

/// Writes a fragmented release into a folder, text as `csv` says.
pub fn write_fragments(
    folder: &Path,
    release: &Release,
    csv: CsvText,
    progress: &dyn Progress,
) -> Result<(), FileError> {
    let grouped = (release, Some(release.groups().unwrap_or_default()));
    let quasi = release.schema().with_role(Role::Quasi);
    write_columns(&folder.join(QUASI_FILE), grouped, &quasi, csv, progress)?;
    for (position, file) in fragment_files(release.schema()) {
        if release.columns()[position] != ReleaseColumn::Absent {
            write_columns(&folder.join(file), grouped, &[position], csv, progress)?;
        }
    }
    Ok(())
}

/// Reads a fragmented release in which text stands as `csv` says.
pub fn read_fragments(
    folder: &Path,
    schema: &Arc<Schema>,
    csv: CsvText,
    progress: &dyn Progress,
) -> Result<Fragments, ReleaseError> {
    let read = |file: &str, positions: &[usize]| {
        let names = fragment_names(schema, positions);
        let text = read_release(&folder.join(file), &names, csv, progress)?;
        Fragment::of(text, file, schema, positions)
    };
    let quasi = read(QUASI_FILE, &schema.with_role(Role::Quasi))?;
    let mut fragments = vec![quasi];
    for (position, file) in fragment_files(schema) {
        let is_needed = schema.attributes()[position].role == Role::Sensitive;
        if is_needed || folder.join(&file).exists() {
            fragments.push(read(&file, &[position])?);
        }
    }
    let first = &fragments[0];
    let groups = first.sorted_groups();
    for fragment in &fragments[1..] {
        refuse_others(&fragment.text.file, &groups, &fragment.sorted_groups())?;
    }

    let mut text = TextTable {
        counts: None,
        file: folder.join(QUASI_FILE).display().to_string(),
        names: vec![String::from(GROUP)],
        columns: Vec::new(),
    };
    let mut column = TextColumn::default();
    for (row, group) in groups.iter().enumerate() {
        column.push(&group.to_string(), row as u64 + 1);
    }
    text.columns.push(column);
    let mut columns: Vec<ReleaseColumn> = vec![ReleaseColumn::Absent; schema.attributes().len()];
    let mut disordered = Vec::new();
    for fragment in fragments {
        if !fragment.is_ordered() {
            disordered.push(fragment.name.clone());
        }
        let Fragment {
            release,
            order,
            text: table,
            ..
        } = fragment;
        for (position, column) in release.columns().iter().enumerate() {
            match column {
                ReleaseColumn::Absent => {}
                ReleaseColumn::Generalized(cells) => {
                    columns[position] = ReleaseColumn::Generalized(cells.picked(&order));
                }
                ReleaseColumn::Verbatim(values) => {
                    columns[position] = ReleaseColumn::Verbatim(values.picked(&order));
                }
            }
        }
        for (name, column) in table.names.into_iter().zip(&table.columns) {
            if !text.names.contains(&name) {
                text.columns.push(column.picked(&order));
                text.names.push(name);
            }
        }
    }
    Ok(Fragments {
        release: Release::fragmented(schema.clone(), columns, &groups),
        text,
        disordered,
    })
}

/// One table of a fragmented release.
struct Fragment {
    name: String,
    text: TextTable,
    /// The table's columns; the release's other columns are absent.
    release: Release,
    /// The group of each row.
    groups: Vec<u32>,
    /// Rows by group.
    order: Vec<usize>,
}

impl Fragment {
    fn of(
        text: TextTable,
        name: &str,
        schema: &Arc<Schema>,
        positions: &[usize],
    ) -> Result<Self, ReleaseError> {
        let attributes = schema.attributes();
        // Identifiers are the verifier's to complain about.
        let is_own = |at: usize| positions.contains(&at) || attributes[at].role == Role::Identifier;
        let own = (0..attributes.len()).filter(|at| is_own(*at));
        let own: Vec<Attribute> = own.map(|at| attributes[at].clone()).collect();
        let read = Release::from_text(&text, &Arc::new(Schema::new(own)), &[GROUP])?;
        let groups = groups(&text)?;
        let mut found = read.columns().iter().zip(read.schema().attributes());
        let mut columns = vec![ReleaseColumn::Absent; attributes.len()];
        for at in (0..attributes.len()).filter(|at| is_own(*at)) {
            if let Some((column, _)) = found.next() {
                columns[at] = column.clone();
            }
        }
        let mut order: Vec<usize> = (0..groups.len()).collect();
        order.sort_by_key(|row| groups[*row]);
        Ok(Self {
            name: name.to_owned(),
            release: Release::new(schema.clone(), columns, text.rows()),
            text,
            groups,
            order,
        })
    }

    fn sorted_groups(&self) -> Vec<u32> {
        self.order.iter().map(|row| self.groups[*row]).collect()
    }

    /// Whether the table's rows are sorted by group and contents.
    fn is_ordered(&self) -> bool {
        let columns = self.release.columns().to_vec();
        let sorted = Release::fragmented(self.release.schema().clone(), columns, &self.groups);
        self.groups.is_sorted() && sorted.columns() == self.release.columns()
    }
}

/// The names in the header of a table.
fn fragment_names(schema: &Schema, positions: &[usize]) -> Vec<String> {
    let columns = positions.iter();
    let names = columns.map(|position| schema.attributes()[*position].name.clone());
    std::iter::once(String::from(GROUP)).chain(names).collect()
}

fn groups(text: &TextTable) -> Result<Vec<u32>, ReleaseError> {
    let column = text.column(GROUP);
    let column = column.ok_or_else(|| missing_column(&text.file, GROUP, &text.names))?;
    let mut numbers = Vec::with_capacity(column.dictionary.len());
    for (entry, value) in column.dictionary.iter().enumerate() {
        let number = value.parse().ok().filter(|number: &u32| *number > 0);
        // Numbers are written in one form only, so that different texts are different groups.
        let number = number.filter(|number| number.to_string() == **value);
        numbers.push(number.ok_or_else(|| ReleaseError::NoGroup {
            file: text.file.clone(),
            line: text.line(column.first_place[entry]),
            value: shorten(value),
        })?);
    }
    let codes = column.codes.iter();
    Ok(codes.map(|code| numbers[*code as usize]).collect())
}

/// Refuses a table in which a group has another size than in the table of quasi-identifiers.
fn refuse_others(file: &str, expected: &[u32], found: &[u32]) -> Result<(), ReleaseError> {
    let mut pairs = expected.iter().zip(found);
    let differ = pairs.find(|(expected, found)| expected != found);
    let group = match differ {
        Some((expected, found)) => *expected.min(found),
        None if expected.len() < found.len() => found[expected.len()],
        None if expected.len() > found.len() => expected[found.len()],
        None => return Ok(()),
    };
    let count = |all: &[u32]| all.iter().filter(|one| **one == group).count();
    Err(ReleaseError::OtherGroups {
        file: file.to_owned(),
        group,
        found: count(found),
        expected: count(expected),
    })
}
