//! Tables of text: columns whose values are not known beforehand, coded by a dictionary in order
//! of first appearance. Releases are read this way before their cells are understood.

use std::hash::BuildHasher as _;

use hashbrown::{DefaultHashBuilder, HashTable};

use crate::files::error::{missing_records, no_column};
use crate::files::{Collected, FileError};
use crate::nearest::shorten;
use crate::study::RECORDS;
use crate::table::Table;

/// A column of text.
#[derive(Debug, Clone, Default)]
pub struct TextColumn {
    /// The distinct texts, in order of first appearance.
    pub dictionary: Vec<Box<str>>,
    /// The record at which each distinct text first stands, from 1.
    pub first_place: Vec<u64>,
    /// For each row, the place of its text in the dictionary.
    pub codes: Vec<u32>,
    hasher: DefaultHashBuilder,
    index: HashTable<u32>,
}

/// A table of text columns.
#[derive(Debug, Clone)]
pub struct TextTable {
    /// The file from which the table was read.
    pub file: String,
    /// Column names, as the file has them.
    pub names: Vec<String>,
    /// The columns, in the file's order.
    pub columns: Vec<TextColumn>,
    /// How many records each row stands for, where a column said so that was taken out; one each otherwise.
    pub counts: Option<Vec<u64>>,
}

impl TextColumn {
    /// Appends a value; `place` is where the value stands in its file.
    pub fn push(&mut self, text: &str, place: u64) {
        let hash = self.hasher.hash_one(text);
        let found = self
            .index
            .find(hash, |code| &*self.dictionary[*code as usize] == text);
        let code = match found {
            Some(code) => *code,
            None => {
                let code = self.dictionary.len() as u32;
                self.dictionary.push(text.into());
                self.first_place.push(place);
                let (hasher, dictionary) = (&self.hasher, &self.dictionary);
                self.index.insert_unique(hash, code, |code| {
                    hasher.hash_one(&*dictionary[*code as usize])
                });
                code
            }
        };
        self.codes.push(code);
    }

    /// These rows, in this order, as if the table had been read in this order.
    #[must_use]
    pub fn picked(&self, rows: &[usize]) -> Self {
        let mut picked = Self::default();
        for (place, row) in (1..).zip(rows) {
            picked.push(self.get(*row), place);
        }
        picked
    }

    /// The text of a row.
    pub fn get(&self, row: usize) -> &str {
        &self.dictionary[self.codes[row] as usize]
    }

    /// The texts, row by row.
    pub fn iter(&self) -> impl Iterator<Item = &str> + '_ {
        self.codes
            .iter()
            .map(|code| &*self.dictionary[*code as usize])
    }
}

impl PartialEq for TextColumn {
    fn eq(&self, other: &Self) -> bool {
        self.dictionary == other.dictionary && self.codes == other.codes
    }
}

impl TextTable {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |column| column.codes.len())
    }

    /// Takes out the column [`RECORDS`], which says how many records each row stands for.
    pub fn take_counts(&mut self) -> Result<(), FileError> {
        let position = self.names.iter().position(|name| name == RECORDS);
        let position = position.ok_or_else(|| missing_records(&self.file))?;
        self.names.remove(position);
        let column = self.columns.remove(position);
        let wrong = |row: usize| FileError::NoCount {
            file: self.file.clone(),
            line: self.line(row as u64 + 1),
            value: shorten(column.get(row)),
            most: Table::MOST_RECORDS,
        };
        let number = |text: &str| text.parse().ok().filter(|count: &u64| *count > 0);
        let numbers = column.dictionary.iter().map(|text| number(text));
        let numbers: Vec<Option<u64>> = numbers.collect();
        let mut counts = Vec::with_capacity(column.codes.len());
        let mut all: u64 = 0;
        for (row, code) in column.codes.iter().enumerate() {
            let count = numbers[*code as usize].ok_or_else(|| wrong(row))?;
            all = all.saturating_add(count);
            if all > Table::MOST_RECORDS {
                return Err(FileError::TooManyRecords {
                    file: self.file.clone(),
                    line: self.line(row as u64 + 1),
                    most: Table::MOST_RECORDS,
                });
            }
            counts.push(count);
        }
        self.counts = Some(counts);
        Ok(())
    }

    /// Number of records.
    pub fn records(&self) -> u64 {
        self.counts
            .as_ref()
            .map_or(self.rows() as u64, |counts| counts.iter().sum())
    }

    /// A column by its name.
    pub fn column(&self, name: &str) -> Option<&TextColumn> {
        let position = self.names.iter().position(|found| found == name)?;
        Some(&self.columns[position])
    }

    /// A column by its name; an error where there is none.
    pub fn named(&self, name: &str) -> Result<&TextColumn, FileError> {
        self.column(name)
            .ok_or_else(|| no_column(&self.file, name, &self.names))
    }

    /// Sees that columns are there; the error has all that are not.
    pub fn see_columns<'n>(
        &self,
        names: impl IntoIterator<Item = &'n str>,
    ) -> Result<(), FileError> {
        let mut wrong = Collected::default();
        for error in names.into_iter().filter_map(|name| self.named(name).err()) {
            wrong.push(error);
        }
        wrong.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_share_a_code() {
        let mut column = TextColumn::default();
        for (row, text) in ["b", "a", "b", ""].into_iter().enumerate() {
            column.push(text, row as u64 + 2);
        }
        assert_eq!(column.codes, [0, 1, 0, 2]);
        assert_eq!(column.first_place, [2, 3, 5]);
        assert_eq!(column.iter().collect::<Vec<_>>(), ["b", "a", "b", ""]);
    }
}
