//! What is wrong with a table, all at once: the first few errors, and how many more there are.

use std::collections::BTreeMap;
use std::fmt;

use super::FileError;

/// The most errors of a table that are told one by one.
const MOST: usize = 20;

/// The most of them that are of one column, so that one wrong column does not hide another.
const MOST_OF_A_COLUMN: usize = 5;

/// Errors of one table, in the order of its lines.
#[derive(Debug, Default)]
pub struct Collected {
    /// The first errors.
    pub errors: Vec<FileError>,
    /// For each column the number of wrong values beyond these; without a column, of rows of another length.
    more: BTreeMap<Option<String>, u64>,
}

impl Collected {
    /// Takes an error; beyond the first few it is counted.
    pub(crate) fn push(&mut self, error: FileError) {
        let column = error.column();
        let of_column = self.errors.iter().filter(|known| known.column() == column);
        if self.errors.len() < MOST && of_column.count() < MOST_OF_A_COLUMN {
            self.errors.push(error);
        } else {
            *self.more.entry(column.map(str::to_owned)).or_default() += 1;
        }
    }

    /// Whether nothing is wrong so far.
    pub(super) fn is_empty(&self) -> bool {
        self.errors.is_empty()
    }

    /// The errors as one, if there are any.
    pub(crate) fn end(mut self) -> Result<(), FileError> {
        if self.errors.len() < 2 && self.more.is_empty() {
            return self.errors.pop().map_or(Ok(()), Err);
        }
        // Files that are read column by column are told row by row too.
        self.errors.sort_by_key(|error| error.line().unwrap_or(0));
        Err(FileError::Several(self))
    }

    /// How many more errors there are.
    pub fn more(&self) -> u64 {
        self.more.values().sum()
    }

    /// How many more errors there are, in words, and of which columns where these are few.
    fn rest(&self) -> String {
        let columns = self.more.iter().map(|(column, count)| match column {
            Some(column) => format!("{count} of column `{column}`"),
            None => format!("{count} of the number of fields"),
        });
        match self.more.len() {
            0 => String::new(),
            1..=5 => {
                let columns = columns.collect::<Vec<_>>().join(", ");
                format!("\nand {} more: {columns}", self.more())
            }
            _ => format!("\nand {} more", self.more()),
        }
    }
}

impl std::error::Error for Collected {}

impl fmt::Display for Collected {
    /// Each error as if it stood alone, and a hint that several have once.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut hints = Vec::new();
        for (place, error) in self.errors.iter().enumerate() {
            if place > 0 {
                formatter.write_str("\nerror: ")?;
            }
            let text = error.to_string();
            let (what, hint) = match text.split_once("\nhint: ") {
                Some((what, hint)) => (what, Some(hint.to_owned())),
                None => (text.as_str(), None),
            };
            formatter.write_str(what)?;
            if let Some(hint) = hint.filter(|hint| !hints.contains(hint)) {
                write!(formatter, "\nhint: {hint}")?;
                hints.push(hint);
            }
        }
        formatter.write_str(&self.rest())
    }
}
