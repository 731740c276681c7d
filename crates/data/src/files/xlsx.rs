//! Excel in: the first sheet of an `.xlsx` file. The first row that is not empty is the header; errors name
//! the sheet's own rows. A number is read as the shortest text that means it, a day as a moment of it, an empty
//! cell as the missing value; rows without any value are passed over.

use std::fs::File;
use std::io::{BufReader, Read as _};
use std::path::Path;

use calamine::{Data, Reader as _, Xlsx, open_workbook};
use zip::ZipArchive;

use super::FileError;
use super::moments::Moment;
use super::sink::Sink;

/// The most bytes that all parts of a file unpack to: a small file may unpack to a thousand times as much.
const MOST_UNPACKED: u64 = 1 << 30;

pub(super) fn read<S: Sink>(path: &Path, sink: &mut S) -> Result<(), FileError> {
    let file = path.display().to_string();
    let unreadable = |error: &dyn std::fmt::Display| FileError::Unreadable {
        file: file.clone(),
        reason: error.to_string(),
    };
    see_size(path, MOST_UNPACKED).map_err(|reason| unreadable(&reason))?;
    let mut book: Xlsx<BufReader<File>> =
        open_workbook(path).map_err(|error: calamine::XlsxError| unreadable(&error))?;
    let first = book.sheet_names().first().cloned();
    let first = first.ok_or_else(|| unreadable(&"it has no sheet"))?;
    // Cell by cell: a sheet of two cells far apart has room for thousands of millions.
    let mut cells = book
        .worksheet_cells_reader(&first)
        .map_err(|error| unreadable(&error))?;
    let mut rows = Rows {
        file: &file,
        sink,
        header: None,
        row: Vec::new(),
    };
    let mut line = 0;
    while let Some(cell) = cells.next_cell().map_err(|error| unreadable(&error))? {
        let (row, column) = cell.get_position();
        let next = u64::from(row) + 1;
        if next < line {
            return Err(unreadable(&format!("row {next} stands behind row {line}")));
        }
        if next > line {
            rows.end(line)?;
            line = next;
        }
        let value = Data::from(cell.get_value().clone());
        if value != Data::Empty {
            rows.put(column as usize, value);
        }
    }
    rows.end(line)?;
    match rows.header {
        None => Err(FileError::Empty { file }),
        Some(_) => rows.sink.end(),
    }
}

/// Refuses a file whose parts unpack to more than there is room for, whatever the file says of their sizes.
fn see_size(path: &Path, most: u64) -> Result<(), String> {
    let told = |error: &dyn std::fmt::Display| error.to_string();
    let file = File::open(path).map_err(|error| told(&error))?;
    let mut parts = ZipArchive::new(BufReader::new(file)).map_err(|error| told(&error))?;
    let mut left = most;
    for part in 0..parts.len() {
        let part = parts.by_index(part).map_err(|error| told(&error))?;
        let mut part = part.take(left + 1);
        let unpacked =
            std::io::copy(&mut part, &mut std::io::sink()).map_err(|error| told(&error))?;
        left = left.checked_sub(unpacked).ok_or_else(|| {
            format!("it unpacks to more than {most} bytes\nhint: write the table as CSV or Parquet")
        })?;
    }
    Ok(())
}

/// The rows of a sheet on their way into a sink.
struct Rows<'a, S> {
    file: &'a str,
    sink: &'a mut S,
    /// The first column of the header, and the column behind its last one.
    header: Option<(usize, usize)>,
    /// The cells of the row that is read.
    row: Vec<Data>,
}

impl<S: Sink> Rows<'_, S> {
    fn put(&mut self, column: usize, value: Data) {
        if self.row.len() <= column {
            self.row.resize(column + 1, Data::Empty);
        }
        self.row[column] = value;
    }

    /// The row is whole: it is the header, a record, or nothing.
    fn end(&mut self, line: u64) -> Result<(), FileError> {
        let row = std::mem::take(&mut self.row);
        let Some(first) = row.iter().position(|cell| *cell != Data::Empty) else {
            return Ok(());
        };
        let Some((from, to)) = self.header else {
            self.header = Some((first, row.len()));
            let names = row[first..].iter().map(name).collect();
            return self.sink.header(self.file, names);
        };
        if first < from || row.len() > to {
            return Err(FileError::Unreadable {
                file: self.file.to_owned(),
                reason: format!(
                    "row {line} has a cell beside the columns of the header\nhint: give every column a name in the first row, or empty the cell"
                ),
            });
        }
        for column in 0..to - from {
            match row.get(from + column).and_then(text) {
                None => self.sink.null(column, line)?,
                Some(Text::Plain(text)) => self.sink.cell(column, text.as_bytes(), line)?,
                Some(Text::Typed(text)) => self.sink.typed(column, text.as_bytes(), line)?,
                Some(Text::Moment(text)) => self.sink.moment(column, Moment::of(&text), line)?,
            }
        }
        Ok(())
    }
}

/// A cell of the header as the name of a column.
fn name(cell: &Data) -> String {
    match text(cell) {
        None => String::new(),
        Some(Text::Plain(text) | Text::Typed(text)) => text,
        Some(Text::Moment(text)) => Moment::of(&text).shortest().to_owned(),
    }
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

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn a_file_that_unpacks_to_more_than_there_is_room_for_is_refused() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let mut writer = zip::ZipWriter::new(file.as_file());
        for name in ["xl/one.xml", "xl/other.xml"] {
            writer
                .start_file(name, zip::write::SimpleFileOptions::default())
                .unwrap();
            writer.write_all(&[b' '; 100_000]).unwrap();
        }
        writer.finish().unwrap();
        assert!(file.as_file().metadata().unwrap().len() < 2_000);
        assert!(see_size(file.path(), 200_000).is_ok());
        let refused = see_size(file.path(), 199_999).unwrap_err();
        assert!(refused.contains("more than 199999 bytes"), "{refused}");
    }
}
