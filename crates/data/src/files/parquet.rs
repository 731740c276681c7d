//! Parquet and record batches in: text, numbers, booleans, days and moments, with nulls as declared missing
//! values. Columns that nobody wants are not looked at, whatever their type. Where other formats have lines,
//! errors name the row, from 1.

use std::borrow::Borrow;
use std::fmt::Display;
use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;

use arrow_array::cast::AsArray as _;
use arrow_array::types::{
    Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrowPrimitiveType, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::FileError;
use super::collected::Collected;
use super::moments::{day_text, each_moment};
use super::open::Progress;
use super::sink::Sink;

/// Rows that are read between two words of progress.
const BATCH: usize = 1 << 14;
/// Batches that are decoded before they are wanted.
const AHEAD: usize = 4;

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
    let wanted = begin(&name, builder.schema(), sink)?;
    let columns = ProjectionMask::roots(builder.parquet_schema(), wanted.iter().copied());
    let reader = builder
        .with_projection(columns)
        .with_batch_size(BATCH)
        .build()
        .map_err(|error| unreadable(&error))?;
    let mut row = 0;
    ahead(reader, |batches| {
        for batch in batches {
            let batch = batch.map_err(|error| unreadable(&error))?;
            for (array, column) in batch.columns().iter().zip(&wanted) {
                read_column(array, (*column, row), sink)?;
            }
            let rows = batch.num_rows() as u64;
            row += rows;
            sink.between_rows()?;
            progress.advance(length * rows / total);
        }
        Ok(())
    })?;
    sink.end()
}

/// Gives items that a thread of their own makes, a few ahead of whoever takes them. The thread ends once nobody
/// takes any more.
fn ahead<B: Send>(
    items: impl Iterator<Item = B> + Send,
    take: impl FnOnce(&mut dyn Iterator<Item = B>) -> Result<(), FileError>,
) -> Result<(), FileError> {
    let (put, made) = sync_channel(AHEAD);
    std::thread::scope(|scope| {
        scope.spawn(move || {
            for item in items {
                if put.send(item).is_err() {
                    return;
                }
            }
        });
        take(&mut made.into_iter())
    })
}

/// The header of a table, and the places of the columns whose values are wanted: all of them of types that values
/// can have.
fn begin<S: Sink>(name: &str, schema: &Schema, sink: &mut S) -> Result<Vec<usize>, FileError> {
    let fields = schema.fields();
    let names = fields.iter().map(|field| field.name().clone()).collect();
    sink.header(name, names)?;
    let wanted: Vec<usize> = (0..fields.len())
        .filter(|column| sink.wants(*column))
        .collect();
    let mut wrong = Collected::default();
    for column in &wanted {
        let field = &fields[*column];
        let kind = field.data_type();
        if !is_read(kind) && !matches!(kind, DataType::Null | DataType::Timestamp(..)) {
            wrong.push(FileError::UnsupportedType {
                file: name.to_owned(),
                column: field.name().clone(),
                kind: kind.to_string(),
            });
        }
    }
    wrong.end()?;
    Ok(wanted)
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
    let mut expected = None;
    let mut wanted = Vec::new();
    let mut row = 0;
    for batch in batches {
        let batch = batch.map_err(|error| unreadable(error.to_string()))?;
        let batch = batch.borrow();
        let found = columns(batch.schema_ref());
        if expected.is_none() {
            wanted = begin(name, batch.schema_ref(), sink)?;
        } else if expected.as_ref() != Some(&found) {
            let reason = "its record batches have different columns";
            return Err(unreadable(reason.to_owned()));
        }
        expected = Some(found);
        let (rows, bytes) = (batch.num_rows(), batch.get_array_memory_size());
        for start in (0..rows).step_by(BATCH) {
            let some = BATCH.min(rows - start);
            for column in &wanted {
                let array = batch.column(*column).slice(start, some);
                read_column(&array, (*column, row), sink)?;
            }
            row += some as u64;
            sink.between_rows()?;
            progress.advance((bytes as u128 * some as u128 / rows as u128) as u64);
        }
    }
    if expected.is_none() {
        sink.header(name, Vec::new())?;
    }
    sink.end()
}

/// Whether columns of a type are read, and mean the same to an engine that counts records in a file.
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

/// The values of a column of a type that is read: the place of the column, and the rows before.
fn read_column<S: Sink>(
    array: &dyn Array,
    (column, first_row): (usize, u64),
    sink: &mut S,
) -> Result<(), FileError> {
    let place = |row: usize| first_row + row as u64 + 1;
    if let DataType::Timestamp(unit, zone) = array.data_type() {
        let has_zone = zone.is_some();
        return each_moment((array, *unit), |row, moment| match moment {
            None => sink.null(column, place(row)),
            // With a time zone, the day would depend on where the reader is: the moment stands as it is in UTC.
            Some(moment) if has_zone => sink.cell(
                column,
                format!("{}Z", moment.whole()).as_bytes(),
                place(row),
            ),
            Some(moment) => sink.moment(column, moment, place(row)),
        });
    }
    let is_typed = matches!(array.data_type(), DataType::Date32);
    let mut each = |row: usize, text: Option<&[u8]>| match text {
        Some(text) if is_typed => sink.typed(column, text, place(row)),
        Some(text) => sink.cell(column, text, place(row)),
        None => sink.null(column, place(row)),
    };
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
            days.iter().enumerate().try_for_each(|(row, day)| {
                let text = day.map(|day| day_text(i64::from(day)));
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
        // All is null: a column of any other type was refused at the header.
        _ => (0..array.len()).try_for_each(|row| each(row, None)),
    }
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
            // The zero below zero is zero.
            if text == b"-0" {
                text.remove(0);
            }
        }
        each(row, number.map(|_| text.as_slice()))?;
    }
    Ok(())
}
