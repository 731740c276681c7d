//! What can be wrong with a file, in words that name file, line, column and value.

use hashbrown::HashMap;

use super::collected::Collected;
use crate::attribute::Schema;
use crate::cell::CellError;
use crate::counter::UncountableError;
use crate::nearest::{nearest, quoted_list};

/// Why a file could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// The operating system refuses.
    #[error(
        "{file}: cannot be read: {reason}\nhint: see that it is there and whole, and that this user may read it"
    )]
    Unreadable {
        /// The file.
        file: String,
        /// What the operating system or the decoder said.
        reason: String,
    },
    /// The operating system refuses to write.
    #[error("{file}: cannot be written: {reason}\nhint: nothing was left half-written")]
    Unwritable {
        /// The file.
        file: String,
        /// What the operating system or the encoder said.
        reason: String,
    },
    /// The extension says nothing we know.
    #[error(
        "{file}: unknown kind of file\nhint: expected .csv, .csv.gz, .csv.zst, .parquet or .xlsx"
    )]
    UnknownFormat {
        /// The file.
        file: String,
    },
    /// A kind of file that is read and not written.
    #[error(
        "{file}: is not written in this format\nhint: expected .csv, .csv.gz, .csv.zst or .parquet"
    )]
    NotWritten {
        /// The file.
        file: String,
    },
    /// An address where a path is expected.
    #[error(
        "{file}: lies in an object store, which an engine reads\nhint: add --engine local, or name the address as `path` of [source.engine] in site.toml"
    )]
    Elsewhere {
        /// The address.
        file: String,
    },
    /// A folder that says beside its files which of their rows count.
    #[error(
        "{folder}: holds `{mark}`, so its files also hold rows that were changed or deleted, or that nobody has finished\nhint: have its own engine write the rows that count into a folder of plain files, and name that folder"
    )]
    Kept {
        /// The folder.
        folder: String,
        /// What in it says so.
        mark: String,
    },
    /// A file that would be counted twice.
    #[error("{file}: is named twice, alone, by its folder or by a link\nhint: name each file once")]
    Twice {
        /// The file.
        file: String,
    },
    /// Counts that together are too many.
    #[error(
        "{file}:{line}: up to here the rows stand for more than {most} records\nhint: take fewer records into one table"
    )]
    TooManyRecords {
        /// The file.
        file: String,
        /// The line at which it is too many.
        line: u64,
        /// The most that a table may have.
        most: u64,
    },
    /// A folder without any file of a table.
    #[error(
        "{folder}: the folder holds no table\nhint: expected files that end in .parquet, .csv, .csv.gz or .csv.zst; names that begin with `_` or `.` are passed over"
    )]
    EmptyFolder {
        /// The folder.
        folder: String,
    },
    /// A folder in a folder of files.
    #[error(
        "{folder}: holds the folder `{inner}`, and folders in folders are not read\nhint: name the folder whose files are the table; a column that folders are named by, as in `year=2024`, must stand in the files"
    )]
    FolderInFolder {
        /// The folder.
        folder: String,
        /// The name of the folder in it.
        inner: String,
    },
    /// Files of several kinds as one table.
    #[error(
        "{file}: is of another kind than the files beside it in {folder}\nhint: the files of one table are all .parquet, or all CSV compressed in one way"
    )]
    OtherKind {
        /// The file.
        file: String,
        /// The folder, or the first file.
        folder: String,
    },
    /// Files of one table whose columns differ.
    #[error(
        "{file}: has other columns than {first}: {difference}\nhint: all files of one table have the same columns, in one order and of the same types; write them anew by one query, or name the files that belong together"
    )]
    OtherColumns {
        /// The file.
        file: String,
        /// The first file of the table.
        first: String,
        /// What is different.
        difference: String,
    },
    /// A table without any file.
    #[error("no file holds the table\nhint: name a file, or a folder of files")]
    NoFiles,
    /// The file has not even a header.
    #[error("{file}: the file is empty, expected a header row with column names")]
    Empty {
        /// The file.
        file: String,
    },
    /// Two columns have one name.
    #[error("{file}:1: column `{column}` stands twice, as columns {first} and {second}")]
    DuplicateColumn {
        /// The file.
        file: String,
        /// The name.
        column: String,
        /// The column's first place, from 1.
        first: usize,
        /// The column's second place.
        second: usize,
    },
    /// A column that the study does not know.
    #[error("{file}:1: unknown column `{column}`{hint}")]
    UnknownColumn {
        /// The file.
        file: String,
        /// The name.
        column: String,
        /// What to do.
        hint: String,
    },
    /// An attribute of the study is called as the column is that says how many records a row stands for.
    #[error(
        "{file}: the column `records` is an attribute of the study, so nothing says how many records a row stands for\nhint: rows that are one record each are read without; or call the attribute something else"
    )]
    RecordsAttribute {
        /// The file.
        file: String,
    },
    /// A column of the study that the file lacks.
    #[error("{file}:1: column `{column}` of the study is missing{hint}")]
    MissingColumn {
        /// The file.
        file: String,
        /// The name.
        column: String,
        /// What to do.
        hint: String,
    },
    /// A column that was named and is not there.
    #[error("{file}:1: there is no column `{column}`{hint}")]
    NoColumn {
        /// The file.
        file: String,
        /// The name.
        column: String,
        /// What to do.
        hint: String,
    },
    /// A row with too few or too many fields.
    #[error("{file}:{line}: {found} fields, the header has {expected}")]
    Ragged {
        /// The file.
        file: String,
        /// The line, from 1.
        line: u64,
        /// Fields of this row.
        found: usize,
        /// Fields of the header.
        expected: usize,
    },
    /// Bytes that are no text.
    #[error("{file}:{line}: column `{column}`: not valid UTF-8\nhint: save the file as UTF-8")]
    NotUtf8 {
        /// The file.
        file: String,
        /// The line, from 1.
        line: u64,
        /// The column.
        column: String,
    },
    /// A value that is not in its domain.
    #[error("{file}:{line}: column `{column}`: value `{value}` is outside {domain}{hint}")]
    OutsideDomain {
        /// The file.
        file: String,
        /// The line, from 1.
        line: u64,
        /// The column.
        column: String,
        /// The value.
        value: String,
        /// The domain in words.
        domain: String,
        /// The nearest valid values, or how to declare a missing value.
        hint: String,
    },
    /// A cell of a release that stands for nothing.
    #[error("{file}:{line}: column `{column}`: {source}")]
    Cell {
        /// The file.
        file: String,
        /// The line, from 1.
        line: u64,
        /// The column.
        column: String,
        /// What is wrong with the cell.
        source: CellError,
    },
    /// Rows that cannot be counted.
    #[error(transparent)]
    Uncountable(#[from] UncountableError),
    /// A class or a counted row whose number of records is none, or is too large.
    #[error(
        "{file}:{line}: column `records`: `{value}` is no number of records\nhint: whole numbers from 1, which make at most {most} together"
    )]
    NoCount {
        /// The file.
        file: String,
        /// The line, from 1.
        line: u64,
        /// The text that stands there.
        value: String,
        /// The most records of all.
        most: u64,
    },
    /// Several things are wrong.
    #[error(transparent)]
    Several(Collected),
    /// A Parquet column of a type that values cannot have.
    #[error(
        "{file}: column `{column}` has type {kind}\nhint: expected text, numbers, booleans, dates or timestamps; cast it where the table is made"
    )]
    UnsupportedType {
        /// The file.
        file: String,
        /// The column.
        column: String,
        /// The column's type.
        kind: String,
    },
}

impl FileError {
    /// The same error with the numbers of records turned into the lines where the records stand, as far as
    /// `lines_of` finds them.
    pub(crate) fn at_lines(mut self, lines_of: impl Fn(&[u64]) -> HashMap<u64, u64>) -> Self {
        let places = self.places();
        let records: Vec<u64> = places.iter().map(|place| **place).collect();
        if records.is_empty() {
            return self;
        }
        let lines = lines_of(&records);
        for place in places {
            *place = lines.get(place).copied().unwrap_or(*place);
        }
        self
    }

    /// Where records are wrong.
    pub(super) fn places(&mut self) -> Vec<&mut u64> {
        match self {
            Self::Ragged { line, .. }
            | Self::NotUtf8 { line, .. }
            | Self::OutsideDomain { line, .. }
            | Self::NoCount { line, .. }
            | Self::Cell { line, .. } => vec![line],
            Self::Several(collected) => {
                let errors = collected.errors.iter_mut();
                errors.flat_map(Self::places).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Whether columns are missing, whatever else is wrong.
    pub fn is_of_missing_columns(&self) -> bool {
        match self {
            Self::MissingColumn { .. } => true,
            Self::Several(collected) => collected.errors.iter().any(Self::is_of_missing_columns),
            _ => false,
        }
    }

    /// Where a record is wrong: a line, or the number of a record.
    pub(super) const fn line(&self) -> Option<u64> {
        match self {
            Self::Ragged { line, .. }
            | Self::NotUtf8 { line, .. }
            | Self::OutsideDomain { line, .. }
            | Self::NoCount { line, .. }
            | Self::Cell { line, .. } => Some(*line),
            _ => None,
        }
    }

    /// The column that is wrong, or whose value is wrong; none where a row is.
    pub(super) fn column(&self) -> Option<&str> {
        match self {
            Self::NotUtf8 { column, .. }
            | Self::OutsideDomain { column, .. }
            | Self::UnknownColumn { column, .. }
            | Self::MissingColumn { column, .. }
            | Self::NoColumn { column, .. }
            | Self::UnsupportedType { column, .. } => Some(column),
            _ => None,
        }
    }
}

/// The error for a column that the study does not know.
pub(crate) fn unknown_column(file: &str, column: &str, schema: &Schema) -> FileError {
    let hint = match nearest_column(column, schema) {
        Some(best) => format!("\nhint: did you mean `{best}`?"),
        None => String::from(
            "\nhint: declare it in the study; with role = \"identifier\" it is never released",
        ),
    };
    FileError::UnknownColumn {
        file: file.to_owned(),
        column: column.to_owned(),
        hint,
    }
}

/// The error for a column that was named and is not there.
pub(crate) fn no_column(file: &str, column: &str, names: &[String]) -> FileError {
    FileError::NoColumn {
        file: file.to_owned(),
        column: column.to_owned(),
        hint: format!("\nhint: the file has {}", quoted_list(names)),
    }
}

/// The column of the study that a name is likely to mean.
pub(crate) fn nearest_column(column: &str, schema: &Schema) -> Option<String> {
    let names = schema
        .attributes()
        .iter()
        .map(|attribute| attribute.name.as_str());
    nearest(column, names, 1).pop()
}

/// The error for counted rows without their counts.
pub(crate) fn missing_records(file: &str) -> FileError {
    FileError::MissingColumn {
        file: file.to_owned(),
        column: super::RECORDS.to_owned(),
        hint: String::from(
            "\nhint: it says how many records each row stands for; rows that are one record each are read without",
        ),
    }
}

/// The error for a column of the study that the file lacks.
pub(crate) fn missing_column(file: &str, column: &str, names: &[String]) -> FileError {
    FileError::MissingColumn {
        file: file.to_owned(),
        column: column.to_owned(),
        hint: format!("\nhint: the file has {}", quoted_list(names)),
    }
}
