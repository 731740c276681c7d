//! A table that lies in several files: those of a folder, in the order of their names, as Spark and other engines
//! leave them.
//!
//! Names that begin with `_` or `.` are passed over: such files say how a folder came about. Folders in folders
//! are refused, since the values that such folders are named by (`year=2024`) stand in no file. All files of a
//! table have the same columns in the same order, and Parquet files the same types: that is seen before the
//! first value is read.

use std::fs::File;
use std::path::{Path, PathBuf};

use arrow_schema::{DataType, Field, SchemaRef};
use hashbrown::HashSet;
use parquet::arrow::arrow_reader::ArrowReaderMetadata;

use super::FileError;
use super::csv;
use super::open::{Compression, Format, format_of, is_address};
use super::parquet::is_read;
use crate::nearest::quoted_list;

/// So many bytes of a file of separated values are enough to read its header, however the file is compressed.
pub const CSV_START: u64 = 1 << 19;

/// The files of a table.
#[derive(Debug, Clone)]
pub struct Parts {
    files: Vec<PathBuf>,
    head: Head,
    bytes: u64,
    records: Option<u64>,
}

/// What the files of a table have in common.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Head {
    /// Separated values.
    Csv {
        /// The names of the columns.
        names: Vec<String>,
        /// What stands between two values.
        delimiter: u8,
        /// How the files are compressed.
        compression: Compression,
        /// Whether other readers of CSV find the same: the text is UTF-8 and begins with its header, and a blank
        /// line is no value.
        is_plain: bool,
    },
    /// Apache Parquet, with the columns as Arrow reads them.
    Parquet(SchemaRef),
    /// Excel, of which a table is one file.
    Excel,
}

/// A file of a table, as its head says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Where the file lies: a path, or the address of an object.
    pub file: PathBuf,
    /// Its head.
    pub head: Head,
    /// Its bytes.
    pub bytes: u64,
    /// Its records, where its head says how many there are.
    pub records: Option<u64>,
}

impl Parts {
    /// The files of tables that together are one, each a file or a folder of files; `expected` are names that
    /// headers are likely to hold. Headers are read and nothing else.
    pub fn of<P: AsRef<Path>>(paths: &[P], expected: &[String]) -> Result<Self, FileError> {
        let mut files = Vec::new();
        for path in paths {
            files.extend(files_of(path.as_ref())?);
        }
        see_each_once(&files)?;
        let seen = files.into_iter().map(|file| {
            let (head, records) = head(&file, expected)?;
            Ok(Part {
                bytes: length(&file),
                file,
                head,
                records,
            })
        });
        Self::of_seen(seen)
    }

    /// The files of one table whose heads were looked at, wherever the files lie.
    pub fn of_seen(
        seen: impl IntoIterator<Item = Result<Part, FileError>>,
    ) -> Result<Self, FileError> {
        let mut all: Option<Self> = None;
        for part in seen {
            let part = part?;
            match &mut all {
                None => {
                    all = Some(Self {
                        files: vec![part.file],
                        head: part.head,
                        bytes: part.bytes,
                        records: part.records,
                    });
                }
                Some(all) if all.files.contains(&part.file) => {
                    return Err(FileError::Twice {
                        file: part.file.display().to_string(),
                    });
                }
                Some(all) => all.add(part)?,
            }
        }
        all.ok_or(FileError::NoFiles)
    }

    /// One more file, if it has the columns of the others.
    fn add(&mut self, part: Part) -> Result<(), FileError> {
        see_same(&part.head, &part.file, &self.head, &self.files[0])?;
        if let (Head::Csv { is_plain: all, .. }, Head::Csv { is_plain, .. }) =
            (&mut self.head, part.head)
        {
            *all &= is_plain;
        }
        self.bytes = self.bytes.saturating_add(part.bytes);
        let records = self.records.zip(part.records);
        self.records = records.and_then(|(all, records)| all.checked_add(records));
        self.files.push(part.file);
        Ok(())
    }

    /// The files, in the order in which they are read.
    pub fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// What the files have in common.
    pub const fn head(&self) -> &Head {
        &self.head
    }

    /// The bytes of all files.
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The records of all files, where files say that in their heads.
    pub const fn records(&self) -> Option<u64> {
        self.records
    }

    /// Sees that a column is there once and has values that tables can have.
    pub fn see_column(&self, column: &str) -> Result<(), FileError> {
        let names = self.head.names();
        let file = self.files[0].display().to_string();
        let mut places = (1..).zip(&names).filter(|(_, name)| **name == column);
        let Some((first, _)) = places.next() else {
            return Err(super::error::missing_column(&file, column, &names));
        };
        if let Some((second, _)) = places.next() {
            return Err(FileError::DuplicateColumn {
                file,
                column: column.to_owned(),
                first,
                second,
            });
        }
        if let Head::Parquet(schema) = &self.head
            && let Ok(field) = schema.field_with_name(column)
            && !is_read(field.data_type())
        {
            return Err(FileError::UnsupportedType {
                file,
                column: column.to_owned(),
                kind: field.data_type().to_string(),
            });
        }
        Ok(())
    }
}

impl Head {
    /// The head of separated values that begin with these bytes; `expected` are names that it is likely to hold. A
    /// start of [`CSV_START`] bytes is enough of any file.
    pub fn of_csv(
        file: &Path,
        start: &[u8],
        compression: Compression,
        expected: &[String],
    ) -> Result<Self, FileError> {
        csv::head(csv::Input::Start(file, start, compression), expected)
    }

    /// The names of the columns; of Excel they are not known beforehand.
    pub fn names(&self) -> Vec<String> {
        match self {
            Self::Csv { names, .. } => names.clone(),
            Self::Parquet(schema) => {
                let fields = schema.fields().iter();
                fields.map(|field| field.name().clone()).collect()
            }
            Self::Excel => Vec::new(),
        }
    }
}

/// The bytes of a file, or of all files of a table in a folder.
pub fn length_of(path: &Path) -> u64 {
    let files = files_of(path).unwrap_or_default();
    files.iter().map(|file| length(file)).sum()
}

/// A file itself, or the files of a folder in the order of their names.
pub fn files_of(path: &Path) -> Result<Vec<PathBuf>, FileError> {
    if is_address(path) {
        return Err(FileError::Elsewhere {
            file: path.display().to_string(),
        });
    }
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let folder = || path.display().to_string();
    let unreadable = |error: std::io::Error| FileError::Unreadable {
        file: folder(),
        reason: error.to_string(),
    };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(path).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        see_not_kept(&name, path)?;
        if is_passed_over(&name) {
            continue;
        }
        // Links are followed, as they are where a file is named alone.
        if entry.path().is_dir() {
            return Err(FileError::FolderInFolder {
                folder: folder(),
                inner: name,
            });
        }
        files.push(entry.path());
    }
    files.sort();
    see_one_kind(&files, path)?;
    see_each_once(&files)?;
    Ok(files)
}

/// Sees that all files of a folder are of one kind by their names, and that there may be several of that kind.
pub fn see_one_kind(files: &[PathBuf], folder: &Path) -> Result<(), FileError> {
    let Some(first) = files.first() else {
        return Err(FileError::EmptyFolder {
            folder: folder.display().to_string(),
        });
    };
    let first = format_of(first)?;
    for file in files {
        if format_of(file)? != first || first == Format::Excel {
            return Err(FileError::OtherKind {
                file: file.display().to_string(),
                folder: folder.display().to_string(),
            });
        }
    }
    Ok(())
}

/// Names by which a folder says that not all rows of its files count: Delta Lake, Hudi, and a job of Spark or Hive
/// that has not ended.
const KEPT: [&str; 3] = ["_delta_log", ".hoodie", "_temporary"];

/// Sees that a name in a folder does not say that only some rows of its files count.
pub fn see_not_kept(name: &str, folder: &Path) -> Result<(), FileError> {
    match KEPT.contains(&name) {
        false => Ok(()),
        true => Err(FileError::Kept {
            folder: folder.display().to_string(),
            mark: name.to_owned(),
        }),
    }
}

/// Sees that no file is there twice, be it by a link.
fn see_each_once(files: &[PathBuf]) -> Result<(), FileError> {
    let mut known = HashSet::with_capacity(files.len());
    for file in files {
        // A file that is not there is told by who opens it.
        let real = file.canonicalize().unwrap_or_else(|_| file.clone());
        if !known.insert(real) {
            return Err(FileError::Twice {
                file: file.display().to_string(),
            });
        }
    }
    Ok(())
}

/// Whether a file of this name says how its folder came about, and holds no part of the table.
pub fn is_passed_over(name: &str) -> bool {
    name.starts_with(['_', '.'])
}

/// Sees that files have the same columns. A file that stands alone is left to its reader.
pub(super) fn see_columns(files: &[PathBuf], expected: &[String]) -> Result<(), FileError> {
    match files {
        [_] => Ok(()),
        files => Parts::of(files, expected).map(|_| ()),
    }
}

/// The head of a file, and its records where the head says how many there are.
fn head(file: &Path, expected: &[String]) -> Result<(Head, Option<u64>), FileError> {
    Ok(match format_of(file)? {
        Format::Csv(compression) => (
            csv::head(csv::Input::File(file, compression), expected)?,
            None,
        ),
        Format::Excel => (Head::Excel, None),
        Format::Parquet => {
            let unreadable = |error: &dyn std::fmt::Display| FileError::Unreadable {
                file: file.display().to_string(),
                reason: error.to_string(),
            };
            let opened = File::open(file).map_err(|error| unreadable(&error))?;
            let metadata = ArrowReaderMetadata::load(&opened, Default::default());
            let metadata = metadata.map_err(|error| unreadable(&error))?;
            let records = metadata.metadata().file_metadata().num_rows();
            let records = u64::try_from(records).map_err(|error| unreadable(&error))?;
            (Head::Parquet(metadata.schema().clone()), Some(records))
        }
    })
}

fn see_same(head: &Head, file: &Path, first: &Head, name: &Path) -> Result<(), FileError> {
    let other = |difference: String| {
        Err(FileError::OtherColumns {
            file: file.display().to_string(),
            first: name.display().to_string(),
            difference,
        })
    };
    let (names, expected) = (head.names(), first.names());
    let without = |some: &[String], others: &[String]| -> Vec<String> {
        let some = some.iter().filter(|name| !others.contains(name));
        some.cloned().collect()
    };
    let (missing, new) = (without(&expected, &names), without(&names, &expected));
    match (first, head) {
        _ if !missing.is_empty() => other(format!("it lacks {}", quoted_list(&missing))),
        _ if !new.is_empty() => other(format!("it also has {}", quoted_list(&new))),
        _ if names != expected => other(String::from("they stand in another order")),
        (Head::Parquet(first), Head::Parquet(schema)) => {
            let pairs = first.fields().iter().zip(schema.fields());
            let kind = |field: &Field| field.data_type().to_string();
            match pairs.into_iter().find(|(one, two)| !same_type(one, two)) {
                None => Ok(()),
                Some((one, two)) => other(format!(
                    "`{}` has type {}, and {} there",
                    two.name(),
                    kind(two),
                    kind(one)
                )),
            }
        }
        (
            Head::Csv {
                delimiter: expected,
                compression: known,
                ..
            },
            Head::Csv {
                delimiter,
                compression,
                ..
            },
        ) if known == compression => match delimiter == expected {
            true => Ok(()),
            false => other(format!(
                "`{}` stands between its values, and `{}` there",
                delimiter.escape_ascii(),
                expected.escape_ascii()
            )),
        },
        _ => Err(FileError::OtherKind {
            file: file.display().to_string(),
            folder: name.display().to_string(),
        }),
    }
}

/// Whether two columns have one type; text is text, however it is laid out.
fn same_type(one: &Field, other: &Field) -> bool {
    let is_text = |kind: &DataType| match kind {
        DataType::Dictionary(_, value) => value.is_string(),
        kind => kind.is_string(),
    };
    let (one, other) = (one.data_type(), other.data_type());
    one == other || is_text(one) && is_text(other)
}

fn length(file: &Path) -> u64 {
    std::fs::metadata(file).map_or(0, |metadata| metadata.len())
}
