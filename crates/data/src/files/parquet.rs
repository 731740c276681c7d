//! Parquet in: text, numbers, booleans and dates, with nulls as declared missing values.
//! Where other formats have lines, errors name the row, from 1.

use std::borrow::Borrow;
use std::fmt::Display;
use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::{
    Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrowPrimitiveType, RecordBatch};
use arrow_schema::{DataType, Field, Schema, TimeUnit};
use jiff::civil::{Date, date};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::FileError;
use super::open::Progress;
use super::sink::Sink;

const BATCH: usize = 1 << 14;

pub(super) fn read<S: Sink>(
    path: &Path,
    sink: &mut S,
    progress: &dyn Progress,
) -> Result<(), FileError> {
    let name = path.display().to_string();
    let unreadable = |error: &dyn Display| FileError::Unreadable {
        file: name.clone(),
        reason: error.to_string(),
    };
    let file = File::open(path).map_err(|error| unreadable(&error))?;
    let length = file.metadata().map_or(0, |metadata| metadata.len());
    let builder =
        ParquetRecordBatchReaderBuilder::try_new(file).map_err(|error| unreadable(&error))?;
    let total = builder.metadata().file_metadata().num_rows().max(1) as u64;
    let fields = builder.schema().fields();
    let names = fields.iter().map(|field| field.name().clone()).collect();
    sink.header(&name, names)?;
    let reader = builder
        .with_batch_size(BATCH)
        .build()
        .map_err(|error| unreadable(&error))?;
    let mut row = 0;
    for batch in reader {
        let batch = batch.map_err(|error| unreadable(&error))?;
        for column in 0..batch.num_columns() {
            read_column(&batch, column, row, &name, sink)?;
        }
        let rows = batch.num_rows() as u64;
        row += rows;
        sink.between_rows()?;
        progress.advance(length * rows / total);
    }
    sink.end()
}

/// Record batches of one schema, in memory or as they come.
pub(super) fn read_batches<S: Sink, B: Borrow<RecordBatch>, E: Display>(
    name: &str,
    batches: impl IntoIterator<Item = Result<B, E>>,
    sink: &mut S,
    progress: &dyn Progress,
) -> Result<(), FileError> {
    let unreadable = |reason: String| FileError::Unreadable {
        file: name.to_owned(),
        reason,
    };
    // Whether a column may have nulls is no difference: builders say so by what a batch has.
    let columns = |schema: &Schema| -> Vec<(String, DataType)> {
        let fields = schema.fields().iter();
        let column = |field: &Arc<Field>| (field.name().clone(), field.data_type().clone());
        fields.map(column).collect()
    };
    let names =
        |columns: &[(String, DataType)]| columns.iter().map(|(name, _)| name.clone()).collect();
    let mut expected = None;
    let mut row = 0;
    for batch in batches {
        let batch = batch.map_err(|error| unreadable(error.to_string()))?;
        let batch = batch.borrow();
        let found = columns(batch.schema_ref());
        if expected.is_none() {
            sink.header(name, names(&found))?;
        } else if expected.as_ref() != Some(&found) {
            let reason = "its record batches have different columns";
            return Err(unreadable(reason.to_owned()));
        }
        expected = Some(found);
        for column in 0..batch.num_columns() {
            read_column(batch, column, row, name, sink)?;
        }
        row += batch.num_rows() as u64;
        sink.between_rows()?;
        progress.advance(batch.get_array_memory_size() as u64);
    }
    if expected.is_none() {
        sink.header(name, Vec::new())?;
    }
    sink.end()
}

/// Whether columns of a type are read.
pub(super) fn is_read(kind: &DataType) -> bool {
    match kind {
        DataType::Dictionary(_, value) => {
            matches!(**value, DataType::Utf8 | DataType::LargeUtf8)
        }
        DataType::Decimal128(_, scale) => u8::try_from(*scale).is_ok(),
        DataType::Timestamp(_, zone) => zone.is_none(),
        DataType::Utf8
        | DataType::LargeUtf8
        | DataType::Utf8View
        | DataType::Boolean
        | DataType::Date32
        | DataType::Float32
        | DataType::Float64 => true,
        kind => kind.is_integer(),
    }
}

fn read_column<S: Sink>(
    batch: &RecordBatch,
    column: usize,
    first_row: u64,
    file: &str,
    sink: &mut S,
) -> Result<(), FileError> {
    let array = batch.column(column).as_ref();
    let mut put = |row: usize, text: Option<&[u8]>, is_typed: bool| {
        let place = first_row + row as u64 + 1;
        match text {
            Some(text) if is_typed => sink.typed(column, text, place),
            Some(text) => sink.cell(column, text, place),
            None => sink.null(column, place),
        }
    };
    let is_typed = matches!(
        array.data_type(),
        DataType::Date32 | DataType::Timestamp(..)
    );
    let mut each = |row: usize, text: Option<&[u8]>| put(row, text, is_typed);
    match array.data_type() {
        DataType::Utf8 => {
            let texts = array.as_string::<i32>();
            texts
                .iter()
                .enumerate()
                .try_for_each(|(row, text)| each(row, text.map(str::as_bytes)))
        }
        DataType::LargeUtf8 => {
            let texts = array.as_string::<i64>();
            texts
                .iter()
                .enumerate()
                .try_for_each(|(row, text)| each(row, text.map(str::as_bytes)))
        }
        DataType::Utf8View => {
            let texts = array.as_string_view();
            texts
                .iter()
                .enumerate()
                .try_for_each(|(row, text)| each(row, text.map(str::as_bytes)))
        }
        DataType::Dictionary(_, value)
            if matches!(**value, DataType::Utf8 | DataType::LargeUtf8) =>
        {
            let dictionary = array.as_any_dictionary();
            let values = dictionary.values();
            // Without values there are no keys to look at: all is null.
            let keys = if values.is_empty() {
                Vec::new()
            } else {
                dictionary.normalized_keys()
            };
            let text = |key: usize| match values.as_string_opt::<i32>() {
                Some(texts) => texts.value(key),
                None => values.as_string::<i64>().value(key),
            };
            (0..array.len()).try_for_each(|row| {
                each(
                    row,
                    (!array.is_null(row)).then(|| text(keys[row]).as_bytes()),
                )
            })
        }
        DataType::Boolean => {
            let flags = array.as_boolean();
            flags.iter().enumerate().try_for_each(|(row, flag)| {
                each(
                    row,
                    flag.map(|flag| if flag { &b"true"[..] } else { &b"false"[..] }),
                )
            })
        }
        DataType::Date32 => {
            let days = array.as_primitive::<Date32Type>();
            let mut text = Vec::new();
            days.iter().enumerate().try_for_each(|(row, day)| {
                text.clear();
                // Writing to memory cannot fail.
                let _ = match day.map(|days| (days, day_since_1970(days))) {
                    Some((_, Some(day))) => write!(text, "{day}"),
                    // No domain has such a day, so the error names the number.
                    Some((days, None)) => write!(text, "{days} days after 1970-01-01"),
                    None => Ok(()),
                };
                each(row, day.map(|_| text.as_slice()))
            })
        }
        // The time of day is left out. With a time zone, the day would depend on where the reader is.
        DataType::Timestamp(unit, None) => {
            let days = match unit {
                TimeUnit::Second => days::<TimestampSecondType>(array, 1),
                TimeUnit::Millisecond => days::<TimestampMillisecondType>(array, 1_000),
                TimeUnit::Microsecond => days::<TimestampMicrosecondType>(array, 1_000_000),
                TimeUnit::Nanosecond => days::<TimestampNanosecondType>(array, 1_000_000_000),
            };
            days.iter().enumerate().try_for_each(|(row, day)| {
                let text = day.map(|day| match day_since_1970(day) {
                    Some(day) => day.to_string(),
                    None => format!("{day} days after 1970-01-01"),
                });
                each(row, text.as_deref().map(str::as_bytes))
            })
        }
        DataType::Decimal128(_, scale) if u8::try_from(*scale).is_ok() => {
            let decimals = array.as_primitive::<Decimal128Type>();
            (0..array.len()).try_for_each(|row| match array.is_null(row) {
                true => each(row, None),
                false => each(row, Some(decimals.value_as_string(row).as_bytes())),
            })
        }
        // The shortest text that means the same floating-point number: 38.6 is `38.6`.
        DataType::Float32 => numbers::<Float32Type>(array, each),
        DataType::Float64 => numbers::<Float64Type>(array, each),
        DataType::Int8 => numbers::<Int8Type>(array, each),
        DataType::Int16 => numbers::<Int16Type>(array, each),
        DataType::Int32 => numbers::<Int32Type>(array, each),
        DataType::Int64 => numbers::<Int64Type>(array, each),
        DataType::UInt8 => numbers::<UInt8Type>(array, each),
        DataType::UInt16 => numbers::<UInt16Type>(array, each),
        DataType::UInt32 => numbers::<UInt32Type>(array, each),
        DataType::UInt64 => numbers::<UInt64Type>(array, each),
        other => Err(FileError::UnsupportedType {
            file: file.to_owned(),
            column: batch.schema().field(column).name().clone(),
            kind: other.to_string(),
        }),
    }
}

/// The days since 1970 of moments, of which so many units are a second.
fn days<T: ArrowPrimitiveType<Native = i64>>(array: &dyn Array, second: i64) -> Vec<Option<i32>> {
    let moments = array.as_primitive::<T>().iter();
    // A day beyond the greatest number of days is no day of any domain.
    let day = |moment: i64| i32::try_from(moment.div_euclid(second * 86_400)).unwrap_or(i32::MAX);
    moments.map(|moment| moment.map(day)).collect()
}

fn numbers<T: ArrowPrimitiveType>(
    array: &dyn Array,
    mut each: impl FnMut(usize, Option<&[u8]>) -> Result<(), FileError>,
) -> Result<(), FileError>
where
    T::Native: Display,
{
    let mut text = Vec::new();
    for (row, number) in array.as_primitive::<T>().iter().enumerate() {
        text.clear();
        if let Some(number) = number {
            // Writing to memory cannot fail.
            let _ = write!(text, "{number}");
        }
        each(row, number.map(|_| text.as_slice()))?;
    }
    Ok(())
}

fn day_since_1970(days: i32) -> Option<Date> {
    date(1970, 1, 1)
        .checked_add(jiff::Span::new().try_days(days).ok()?)
        .ok()
}
