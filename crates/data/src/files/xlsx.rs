//! Excel in: the first sheet of an `.xlsx` file. The first row that is not empty is the header; errors name
//! the sheet's own rows. A number is read as the shortest text that means it, a day as a moment of it, an empty
//! cell as the missing value; rows without any value are passed over.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use calamine::{Data, Reader as _, Xlsx, open_workbook};

use super::FileError;
use super::moments::Moment;
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
    let name = |cell: &Data| match text(cell) {
        None => String::new(),
        Some(Text::Plain(text) | Text::Typed(text)) => text,
        Some(Text::Moment(text)) => Moment::of(&text).shortest().to_owned(),
    };
    sink.header(&file, header.iter().map(name).collect())?;
    for (line, row) in rows {
        if row.iter().all(|cell| *cell == Data::Empty) {
            continue;
        }
        for (column, cell) in row.iter().enumerate() {
            match text(cell) {
                None => sink.null(column, line)?,
                Some(Text::Plain(text)) => sink.cell(column, text.as_bytes(), line)?,
                Some(Text::Typed(text)) => sink.typed(column, text.as_bytes(), line)?,
                Some(Text::Moment(text)) => sink.moment(column, Moment::of(&text), line)?,
            }
        }
    }
    sink.end()
}

/// What stands in a cell.
enum Text {
    /// Text as somebody wrote it.
    Plain(String),
    /// A value with a type of its own.
    Typed(String),
    /// Day and time.
    Moment(String),
}

/// The text of a cell; nothing for an empty cell.
fn text(cell: &Data) -> Option<Text> {
    Some(match cell {
        Data::Empty => return None,
        Data::Int(number) => Text::Typed(number.to_string()),
        Data::Float(number) => Text::Typed(number.to_string()),
        Data::Bool(truth) => Text::Typed(truth.to_string()),
        Data::DateTime(moment) if moment.is_datetime() => {
            let (year, month, day, hour, minute, second, milli) = moment.to_ymd_hms_milli();
            let day = format!("{year:04}-{month:02}-{day:02}");
            let time = format!("T{hour:02}:{minute:02}:{second:02}");
            let fraction = match milli {
                0 => String::new(),
                milli => format!(".{milli:03}"),
            };
            Text::Moment([day, time, fraction].concat())
        }
        // A length of time.
        Data::DateTime(moment) => Text::Typed(moment.as_f64().to_string()),
        Data::DateTimeIso(text) => Text::Moment(text.clone()),
        Data::DurationIso(text) | Data::String(text) => Text::Plain(text.clone()),
        other => Text::Plain(other.to_string()),
    })
}
