//! Files in and out: CSV and Parquet, and Excel in; CSV plain or compressed with gzip or zstd by extension.
//! A table that is read is a file, or a folder of CSV or of Parquet files (`parts`).
//!
//! Reading is one pass, each cell coded as it is met, so that memory is the coded table and a
//! buffer. Writing goes to a temporary name beside the target and is renamed when complete.

mod blank_lines;
mod bounds;
mod classes;
mod collected;
mod csv;
pub(crate) mod error;
mod folder;
mod fragments;
mod marks;
mod moments;
mod open;
mod package;
mod parquet;
mod parts;
mod sink;
mod times;
mod write;
mod xlsx;

use std::convert::Infallible;
use std::fmt::Display;
use std::path::Path;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::DataType;

use crate::attribute::Schema;
use crate::study::Study;
use crate::table::Table;
use crate::text::TextTable;
use sink::{Rows, TableSink};

pub use crate::csv_text::CsvText;
pub use crate::study::RECORDS;
pub use classes::{MOST_RECORDS, read_classes};
pub use collected::Collected;
pub use error::FileError;
pub use folder::write_folder;
pub use fragments::{Fragments, read_fragments, write_fragments};
pub use open::{Compression, Format, OutputFile, Progress, format_of, is_address};
pub use package::HOW_FRAGMENTS_JOIN;
pub use parts::{
    CSV_START, Head, Part, Parts, files_of, is_passed_over, length_of, see_not_kept, see_one_kind,
};
pub use write::{EncodedRows, RowEncoder, RowWriter, write_own_rows, write_release, write_table};

/// What a reader does with columns that are not in the study.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Others {
    /// Such columns are an error: nothing undeclared is read.
    Refuse,
    /// One named column, such as the provider's, is allowed and passed over.
    PassOver(String),
    /// All such columns are passed over.
    PassOverAll,
}

impl Others {
    /// Refuses all undeclared columns but a named one, which is passed over.
    pub fn but(name: Option<&str>) -> Self {
        name.map_or(Self::Refuse, |name| Self::PassOver(name.to_owned()))
    }

    fn allow(&self, name: &str) -> bool {
        match self {
            Self::Refuse => false,
            Self::PassOver(known) => known == name,
            Self::PassOverAll => true,
        }
    }
}

/// Reads a table of a study's attributes.
pub fn read_table(
    path: &Path,
    schema: &Arc<Schema>,
    others: &Others,
    progress: &dyn Progress,
) -> Result<Table, FileError> {
    let mut sink = TableSink::new(schema.clone(), others.clone());
    read(path, &mut sink, progress)?;
    Ok(sink.finish())
}

/// Reads a table of a study of counted rows. Where it has a column [`RECORDS`], it is read as
/// [`read_counted_table`] reads it; otherwise its rows are single records and are counted as they are read:
/// memory is bounded by the combinations that occur. Identifiers are passed over.
pub fn count_table(
    path: &Path,
    schema: &Arc<Schema>,
    others: &Others,
    progress: &dyn Progress,
) -> Result<Table, FileError> {
    read_rows(path, schema, others, Rows::Counted, progress)
}

/// Reads a table of counted rows: beside the study's attributes, of which identifiers may be missing, it has
/// a column [`RECORDS`] that says how many records each row stands for. Rows that the coding makes equal
/// become one.
pub fn read_counted_table(
    path: &Path,
    schema: &Arc<Schema>,
    others: &Others,
    progress: &dyn Progress,
) -> Result<Table, FileError> {
    read_rows(path, schema, others, Rows::Given, progress)
}

fn read_rows(
    path: &Path,
    schema: &Arc<Schema>,
    others: &Others,
    rows: Rows,
    progress: &dyn Progress,
) -> Result<Table, FileError> {
    let mut sink = TableSink::of_rows(schema.clone(), others.clone(), rows)?;
    read(path, &mut sink, progress)?;
    Ok(sink.finish())
}

/// Reads counted rows that come as Arrow record batches, as [`read_counted_table`] reads them from a file:
/// whatever counted them, in whatever order, the table is the same. Errors call it `source` and name rows
/// from 1; `progress` hears of bytes in memory.
pub fn read_counted_batches<E: Display>(
    source: &str,
    batches: impl IntoIterator<Item = Result<RecordBatch, E>>,
    schema: &Arc<Schema>,
    progress: &dyn Progress,
) -> Result<Table, FileError> {
    let mut sink = TableSink::of_rows(schema.clone(), Others::Refuse, Rows::Given)?;
    parquet::read_batches(source, batches, &mut sink, progress)?;
    Ok(sink.finish())
}

/// Sees that a file can be read and has a study's columns; no further than the header, and no value is
/// looked at.
pub fn check_columns(path: &Path, schema: &Arc<Schema>, others: &Others) -> Result<(), FileError> {
    check_header(path, TableSink::new(schema.clone(), others.clone()))
}

/// Sees, as [`check_columns`] does, that a file has the columns of a study of counted rows, as [`count_table`]
/// wants them.
pub fn check_counted_columns(path: &Path, schema: &Arc<Schema>) -> Result<(), FileError> {
    let sink = TableSink::of_rows(schema.clone(), Others::Refuse, Rows::Counted)?;
    check_header(path, sink)
}

fn check_header(path: &Path, table: TableSink) -> Result<(), FileError> {
    let mut sink = sink::HeaderSink::of(table);
    let read = read(path, &mut sink, &());
    // What comes after the header ends the reading.
    match sink.is_fit() {
        true => Ok(()),
        false => read,
    }
}

/// Reads any table as text; `expected` are names its header is likely to hold, if any are known.
pub fn read_text(
    path: &Path,
    expected: &[String],
    progress: &dyn Progress,
) -> Result<TextTable, FileError> {
    read_release(path, expected, CsvText::Verbatim, progress)
}

/// Reads a table of a release as text; `csv` says how text stands in it where it is CSV.
pub fn read_release(
    path: &Path,
    expected: &[String],
    csv: CsvText,
    progress: &dyn Progress,
) -> Result<TextTable, FileError> {
    // Files of a folder are of one format.
    let csv = match format_of(&files_of(path)?[0])? {
        Format::Csv(_) => csv,
        Format::Parquet | Format::Excel => CsvText::Verbatim,
    };
    let mut sink = sink::TextSink::new(expected, csv);
    read(path, &mut sink, progress)?;
    Ok(sink.finish(path.display().to_string()))
}

/// Some columns of any table as text; the other columns are passed over, whatever they hold.
pub fn read_columns(
    path: &Path,
    columns: &[String],
    progress: &dyn Progress,
) -> Result<TextTable, FileError> {
    let mut sink = sink::TextSink::of_columns(columns);
    read(path, &mut sink, progress)?;
    Ok(sink.finish(path.display().to_string()))
}

/// A table of a study's attributes that is in memory as Arrow record batches; errors call it `source`
/// and name rows from 1; `progress` hears of bytes in memory.
pub fn read_batches(
    source: &str,
    batches: &[RecordBatch],
    schema: &Arc<Schema>,
    others: &Others,
    progress: &dyn Progress,
) -> Result<Table, FileError> {
    let mut sink = TableSink::new(schema.clone(), others.clone());
    parquet::read_batches(source, whole(batches), &mut sink, progress)?;
    Ok(sink.finish())
}

/// A table of a study's attributes that is in memory as the text of a CSV file; errors call it `source`.
pub fn read_csv(
    source: &str,
    bytes: &[u8],
    schema: &Arc<Schema>,
    others: &Others,
) -> Result<Table, FileError> {
    let mut sink = TableSink::new(schema.clone(), others.clone());
    csv::read(csv::Input::Bytes(source, bytes), &mut sink, &())?;
    Ok(sink.finish())
}

/// Counted rows in memory as the text of a CSV file, as [`read_counted_table`] reads them from a file.
pub fn read_counted_csv(
    source: &str,
    bytes: &[u8],
    schema: &Arc<Schema>,
    others: &Others,
) -> Result<Table, FileError> {
    let mut sink = TableSink::of_rows(schema.clone(), others.clone(), Rows::Given)?;
    csv::read(csv::Input::Bytes(source, bytes), &mut sink, &())?;
    Ok(sink.finish())
}

/// A table in memory as the text of a CSV file, as [`count_table`] reads one from a file.
pub fn count_csv(
    source: &str,
    bytes: &[u8],
    schema: &Arc<Schema>,
    others: &Others,
) -> Result<Table, FileError> {
    let mut sink = TableSink::of_rows(schema.clone(), others.clone(), Rows::Counted)?;
    csv::read(csv::Input::Bytes(source, bytes), &mut sink, &())?;
    Ok(sink.finish())
}

/// A table in memory as Arrow record batches, as [`count_table`] reads one from a file.
pub fn count_batches(
    source: &str,
    batches: &[RecordBatch],
    schema: &Arc<Schema>,
    others: &Others,
    progress: &dyn Progress,
) -> Result<Table, FileError> {
    let mut sink = TableSink::of_rows(schema.clone(), others.clone(), Rows::Counted)?;
    parquet::read_batches(source, whole(batches), &mut sink, progress)?;
    Ok(sink.finish())
}

fn whole(batches: &[RecordBatch]) -> impl Iterator<Item = Result<&RecordBatch, Infallible>> {
    batches.iter().map(Ok)
}

/// Any table in memory as the text of a CSV file, as [`read_text`] reads one from a file.
pub fn read_text_csv(
    source: &str,
    bytes: &[u8],
    expected: &[String],
) -> Result<TextTable, FileError> {
    let mut sink = sink::TextSink::new(expected, CsvText::Verbatim);
    csv::read(csv::Input::Bytes(source, bytes), &mut sink, &())?;
    Ok(sink.finish(source.to_owned()))
}

/// Any table in memory as text, as [`read_text`] reads one from a file.
pub fn read_text_batches(
    source: &str,
    batches: &[RecordBatch],
    expected: &[String],
    progress: &dyn Progress,
) -> Result<TextTable, FileError> {
    let sink = sink::TextSink::new(expected, CsvText::Verbatim);
    text_of_batches(source, batches, sink, progress)
}

/// Some columns of any table in memory as text, as [`read_columns`] reads them from a file.
pub fn read_columns_of_batches(
    source: &str,
    batches: &[RecordBatch],
    columns: &[String],
    progress: &dyn Progress,
) -> Result<TextTable, FileError> {
    text_of_batches(
        source,
        batches,
        sink::TextSink::of_columns(columns),
        progress,
    )
}

fn text_of_batches(
    source: &str,
    batches: &[RecordBatch],
    sink: sink::TextSink,
    progress: &dyn Progress,
) -> Result<TextTable, FileError> {
    let rows = batches.iter().map(RecordBatch::num_rows).sum();
    let mut sink = sink.with_room(rows);
    parquet::read_batches(source, whole(batches), &mut sink, progress)?;
    Ok(sink.finish(source.to_owned()))
}

/// The table of a release that is not fragmented, as it was read.
#[derive(Debug)]
pub struct ReleaseTable {
    /// The columns of the table without the columns of bounds.
    pub text: TextTable,
    /// What the file says beside its cells that contradicts them or the study, in words without the
    /// file's name: bounds that differ from the label's, metadata that differs from the study.
    pub contradictions: Vec<String>,
}

/// Reads the table of a release of a study as text. Of a Parquet file, columns of bounds and metadata
/// are held against the labels and the study; other columns that the study does not know are read
/// unchanged, for the verifier to complain about.
pub fn read_release_of(
    path: &Path,
    study: &Study,
    progress: &dyn Progress,
) -> Result<ReleaseTable, FileError> {
    let attributes = study.schema.attributes().iter();
    let names: Vec<String> = attributes.map(|attribute| attribute.name.clone()).collect();
    let mut text = read_release(path, &names, study.csv, progress)?;
    if study.is_counted() {
        text.take_counts()?;
    }
    let mut contradictions = Vec::new();
    if format_of(path)? == Format::Parquet {
        let head = marks::Head::read(path)?;
        contradictions = bounds::take(&mut text, &head.types(), &study.schema);
        contradictions.extend(head.strange(&study.schema, study.recode));
    }
    Ok(ReleaseTable {
        text,
        contradictions,
    })
}

/// The table of a release of a study that is in memory, without the columns of bounds, which are held against
/// the labels, and with the counts of its rows; `types` has the type of each column, and of a table without types no
/// column is one of bounds.
pub fn without_bounds(
    mut text: TextTable,
    types: &[DataType],
    study: &Study,
) -> Result<ReleaseTable, FileError> {
    if study.is_counted() {
        text.take_counts()?;
    }
    let contradictions = match types.is_empty() {
        true => Vec::new(),
        false => bounds::take(&mut text, types, &study.schema),
    };
    Ok(ReleaseTable {
        text,
        contradictions,
    })
}

/// A table that comes cell by cell from a source other than a file, such as a database.
pub struct TableBuilder {
    sink: TableSink,
    columns: usize,
    cells: u64,
}

impl TableBuilder {
    /// Starts a table whose rows have these columns; `source` is the name that errors carry.
    pub fn new(source: &str, schema: &Arc<Schema>, names: Vec<String>) -> Result<Self, FileError> {
        let mut sink = TableSink::new(schema.clone(), Others::Refuse);
        let columns = names.len();
        sink::Sink::header(&mut sink, source, names)?;
        Ok(Self {
            sink,
            columns,
            cells: 0,
        })
    }

    /// Starts a table of counted rows: one of these columns is [`RECORDS`].
    pub fn counted(
        source: &str,
        schema: &Arc<Schema>,
        names: Vec<String>,
    ) -> Result<Self, FileError> {
        let mut sink = TableSink::of_rows(schema.clone(), Others::Refuse, Rows::Given)?;
        let columns = names.len();
        sink::Sink::header(&mut sink, source, names)?;
        Ok(Self {
            sink,
            columns,
            cells: 0,
        })
    }

    /// Takes the next cell, row by row in the order of the columns. A cell that is outside its domain is
    /// told by [`TableBuilder::finish`], with others; where files have lines, errors
    /// name the row, from 1.
    pub fn cell(&mut self, column: usize, text: Option<&[u8]>) -> Result<(), FileError> {
        if column == 0 {
            sink::Sink::between_rows(&mut self.sink)?;
        }
        let row = 1 + self.cells / self.columns as u64;
        self.cells += 1;
        match text {
            Some(text) => sink::Sink::cell(&mut self.sink, column, text, row),
            None => sink::Sink::null(&mut self.sink, column, row),
        }
    }

    /// Takes the next cell as [`TableBuilder::cell`] does, of a value with a type of its own such as a day: its
    /// text is the one that releases write, whatever format the study says that tables have.
    pub fn typed(&mut self, column: usize, text: Option<&[u8]>) -> Result<(), FileError> {
        match text {
            Some(text) => {
                if column == 0 {
                    sink::Sink::between_rows(&mut self.sink)?;
                }
                let row = 1 + self.cells / self.columns as u64;
                self.cells += 1;
                sink::Sink::typed(&mut self.sink, column, text, row)
            }
            None => self.cell(column, None),
        }
    }

    /// The table, or everything that is wrong with its cells.
    pub fn finish(mut self) -> Result<Table, FileError> {
        sink::Sink::end(&mut self.sink)?;
        Ok(self.sink.finish())
    }
}

fn read<S: sink::Sink>(
    path: &Path,
    sink: &mut S,
    progress: &dyn Progress,
) -> Result<(), FileError> {
    let files = files_of(path)?;
    parts::see_columns(&files, &sink.expected())?;
    for file in &files {
        match format_of(file)? {
            Format::Csv(compression) => {
                csv::read(csv::Input::File(file, compression), sink, progress)?;
            }
            Format::Excel => xlsx::read(file, sink)?,
            Format::Parquet => parquet::read(file, sink, progress)?,
        }
    }
    Ok(())
}
