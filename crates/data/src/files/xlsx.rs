//! Excel in: the first sheet of an `.xlsx` file. The first row that is not empty is the header; errors name
//! the sheet's own rows. A number is read as the shortest text that means it, a day as the day of its
//! moment, an empty cell as the missing value; rows without any value are passed over.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use calamine::{Data, Reader as _, Xlsx, open_workbook};

use super::FileError;
use super::sink::Sink;

pub(super) fn read<S: Sink>(path: &Path, sink: &mut S) -> Result<(), FileError> {
    let file = path.display().to_string();
    let unreadable = |error: &dyn std::fmt::Display| FileError::Unreadable {
        file: file.clone(),
        reason: error.to_string(),
    };
    let mut book: Xlsx<BufReader<File>> =
        open_workbook(path).map_err(|error: calamine::XlsxError| unreadable(&error))?;
    let sheet = book
        .worksheet_range_at(0)
        .ok_or_else(|| unreadable(&"it has no sheet"))?
        .map_err(|error| unreadable(&error))?;
    // Rows that are not used at all are no part of the sheet's range.
    let first = sheet.start().map_or(1, |(row, _)| u64::from(row) + 1);
    let mut rows = (first..).zip(sheet.rows());
    let (_, header) = rows
        .next()
        .ok_or_else(|| FileError::Empty { file: file.clone() })?;
    let name = |cell: &Data| text(cell).map_or_else(String::new, |(text, _)| text);
    sink.header(&file, header.iter().map(name).collect())?;
    for (line, row) in rows {
        if row.iter().all(|cell| *cell == Data::Empty) {
            continue;
        }
        for (column, cell) in row.iter().enumerate() {
            match text(cell) {
                None => sink.null(column, line)?,
                Some((text, true)) => sink.typed(column, text.as_bytes(), line)?,
                Some((text, false)) => sink.cell(column, text.as_bytes(), line)?,
            }
        }
    }
    sink.end()
}

/// The text of a cell, and whether its value has a type of its own; nothing for an empty cell.
fn text(cell: &Data) -> Option<(String, bool)> {
    Some(match cell {
        Data::Empty => return None,
        Data::Int(number) => (number.to_string(), true),
        Data::Float(number) => (number.to_string(), true),
        Data::Bool(truth) => (truth.to_string(), true),
        Data::DateTime(moment) if moment.is_datetime() => {
            let (year, month, day, ..) = moment.to_ymd_hms_milli();
            (format!("{year:04}-{month:02}-{day:02}"), true)
        }
        // A length of time.
        Data::DateTime(moment) => (moment.as_f64().to_string(), true),
        // The day is what stands before the time.
        Data::DateTimeIso(text) => (text.chars().take(10).collect(), true),
        Data::DurationIso(text) | Data::String(text) => (text.clone(), false),
        other => (other.to_string(), false),
    })
}
