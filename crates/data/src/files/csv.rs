//! CSV in: any of the usual delimiters, found from the header; exact line numbers; one pass.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use super::FileError;
use super::open::{Compression, Progress, open};
use super::sink::Sink;

/// Delimiters that tables come with, in order of preference.
const DELIMITERS: [u8; 4] = [b',', b';', b'\t', b'|'];

const BUFFER: usize = 1 << 18;

pub(super) fn read<S: Sink>(
    path: &Path,
    compression: Compression,
    sink: &mut S,
    progress: &dyn Progress,
) -> Result<(), FileError> {
    let file = path.display().to_string();
    let mut input = BufReader::with_capacity(BUFFER, open(path, compression, progress)?);
    let start = input
        .fill_buf()
        .map_err(|error| unreadable(&file, &error))?;
    let delimiter =
        delimiter(start, sink).ok_or_else(|| FileError::Empty { file: file.clone() })?;
    read_rows(input, delimiter, &file, sink)
}

fn read_rows<R: Read, S: Sink>(
    input: R,
    delimiter: u8,
    file: &str,
    sink: &mut S,
) -> Result<(), FileError> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(delimiter)
        .buffer_capacity(BUFFER)
        .from_reader(input);
    let mut record = csv::ByteRecord::new();
    let mut next = |record: &mut csv::ByteRecord| {
        reader
            .read_byte_record(record)
            .map_err(|error| unreadable(file, &error))
    };

    if !next(&mut record)? {
        return Err(FileError::Empty {
            file: file.to_owned(),
        });
    }
    let mut names = Vec::with_capacity(record.len());
    for (position, name) in record.iter().enumerate() {
        let name = std::str::from_utf8(name).map_err(|_| FileError::NotUtf8 {
            file: file.to_owned(),
            line: 1,
            column: (position + 1).to_string(),
        })?;
        names.push(name.to_owned());
    }
    let columns = names.len();
    sink.header(file, names)?;

    while next(&mut record)? {
        let line = record.position().map_or(0, csv::Position::line);
        if record.len() != columns {
            return Err(FileError::Ragged {
                file: file.to_owned(),
                line,
                found: record.len(),
                expected: columns,
            });
        }
        for (column, text) in record.iter().enumerate() {
            sink.cell(column, text, line)?;
        }
    }
    Ok(())
}

/// The delimiter under which the header holds most names that the sink expects, then the one that
/// stands in it most often. None for an empty file.
fn delimiter<S: Sink>(start: &[u8], sink: &S) -> Option<u8> {
    let header = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start);
    let header = header
        .split(|byte| *byte == b'\n' || *byte == b'\r')
        .next()?;
    if start.is_empty() {
        return None;
    }
    let text = String::from_utf8_lossy(header);
    let mut best = DELIMITERS[0];
    let mut best_score = (0, 0);
    for delimiter in DELIMITERS {
        let parts = text.split(char::from(delimiter));
        let known = parts
            .filter(|name| sink.expects(name.trim_matches('"')))
            .count();
        let count = header.iter().filter(|byte| **byte == delimiter).count();
        if (known, count) > best_score {
            (best, best_score) = (delimiter, (known, count));
        }
    }
    Some(best)
}

fn unreadable(file: &str, error: &dyn std::fmt::Display) -> FileError {
    FileError::Unreadable {
        file: file.to_owned(),
        reason: error.to_string(),
    }
}
