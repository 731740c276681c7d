//! Files in and out: CSV and Parquet, plain or compressed with gzip or zstd by extension.
//!
//! Reading is one pass, each cell coded as it is met, so that memory is the coded table and a
//! buffer. Writing goes to a temporary name beside the target and is renamed when complete.

mod csv;
mod error;
mod open;
mod parquet;
mod sink;
mod write;

use std::path::Path;
use std::sync::Arc;

use crate::attribute::Schema;
use crate::table::Table;
use crate::text::TextTable;

pub use error::FileError;
pub use open::{Format, OutputFile, Progress, format_of};
pub(crate) use sink::{missing_column, shorten, unknown_column};
pub use write::{EncodedRows, RowEncoder, RowWriter, write_release, write_table};

/// Reads a table of a study's attributes. `ignore` names a column outside the study that may be
/// there, such as the provider's.
pub fn read_table(
    path: &Path,
    schema: &Arc<Schema>,
    ignore: Option<&str>,
    progress: &dyn Progress,
) -> Result<Table, FileError> {
    let mut sink = sink::TableSink::new(schema.clone(), ignore.map(str::to_owned));
    read(path, &mut sink, progress)?;
    Ok(sink.finish())
}

/// Reads any table as text.
pub fn read_text(path: &Path, progress: &dyn Progress) -> Result<TextTable, FileError> {
    let mut sink = sink::TextSink::default();
    read(path, &mut sink, progress)?;
    Ok(sink.finish(path.display().to_string()))
}

fn read<S: sink::Sink>(
    path: &Path,
    sink: &mut S,
    progress: &dyn Progress,
) -> Result<(), FileError> {
    match format_of(path)? {
        Format::Csv(compression) => csv::read(path, compression, sink, progress),
        Format::Parquet => parquet::read(path, sink, progress),
    }
}
