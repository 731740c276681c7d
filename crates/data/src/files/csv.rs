//! CSV in: any of the usual delimiters, found from the header or named by a first line `sep=;`; UTF-8, or
//! UTF-16 with its mark; one pass; exact line numbers.
//!
//! While reading, a record's place is its number. The line is found only for an error, by going
//! through the file again: the `csv` crate reports a record's position before it has skipped the
//! rest of a CRLF or blank lines, so lines cannot be had from it directly.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use encoding_rs_io::DecodeReaderBytesBuilder;
use hashbrown::HashMap;

use super::FileError;
use super::blank_lines::BlankLines;
use super::open::{Compression, Progress, decompressed, open};
use super::parts::Head;
use super::sink::Sink;
use crate::text::TextTable;

/// Delimiters that tables come with, in order of preference.
const DELIMITERS: [u8; 4] = [b',', b';', b'\t', b'|'];

const BUFFER: usize = 1 << 18;

/// Records after which a sink may put rows away.
const BETWEEN: u64 = 1 << 14;

/// The most of a file that is looked at for its header, no more than a buffer.
const HEAD: u64 = 1 << 17;

/// Where text comes from. It is read again to find the lines of what is wrong.
#[derive(Clone, Copy)]
pub(super) enum Input<'a> {
    /// A file.
    File(&'a Path, Compression),
    /// The first bytes of a file that lies elsewhere.
    Start(&'a Path, &'a [u8], Compression),
    /// Text in memory, under the name that errors carry.
    Bytes(&'a str, &'a [u8]),
}

/// Text from its header on, as UTF-8.
struct Text<'a> {
    input: BufReader<Box<dyn Read + 'a>>,
    /// The delimiter that a line before the header names.
    delimiter: Option<u8>,
    /// The number of lines before the header.
    skipped: u64,
    /// Whether the text was brought to UTF-8.
    is_decoded: bool,
}

impl<'a> Input<'a> {
    fn name(self) -> String {
        match self {
            Self::File(path, _) | Self::Start(path, ..) => path.display().to_string(),
            Self::Bytes(name, _) => name.to_owned(),
        }
    }

    fn open(self, progress: &'a dyn Progress) -> Result<Text<'a>, FileError> {
        let bytes: Box<dyn Read + 'a> = match self {
            Self::File(path, compression) => open(path, compression, progress)?,
            Self::Start(path, start, compression) => {
                let unreadable = |error| unreadable(&path.display().to_string(), &error);
                decompressed(start, compression).map_err(unreadable)?
            }
            Self::Bytes(_, bytes) => Box::new(bytes),
        };
        let failed = |error: std::io::Error| unreadable(&self.name(), &error);
        let mut bytes = bytes;
        let mut mark = Vec::new();
        let marked = bytes.by_ref().take(2).read_to_end(&mut mark);
        marked.map_err(failed)?;
        let is_decoded = matches!(mark[..], [0xff, 0xfe] | [0xfe, 0xff]);
        let bytes = std::io::Cursor::new(mark).chain(bytes);
        // Text that begins with the mark of UTF-16 is brought to UTF-8; other text stays as it is.
        let mut decoded = DecodeReaderBytesBuilder::new()
            .utf8_passthru(true)
            .strip_bom(true)
            .build(bytes);
        // The decoder gives the first few bytes alone; the header is looked at whole.
        let mut start = Vec::new();
        let mut head = decoded.by_ref().take(HEAD);
        head.read_to_end(&mut start).map_err(failed)?;
        let whole: Box<dyn Read + 'a> = Box::new(std::io::Cursor::new(start).chain(decoded));
        let mut input = BufReader::with_capacity(BUFFER, whole);
        let named = named_delimiter(input.fill_buf().map_err(failed)?);
        if let Some((_, length)) = named {
            input.consume(length);
        }
        Ok(Text {
            input,
            delimiter: named.map(|(delimiter, _)| delimiter),
            skipped: u64::from(named.is_some()),
            is_decoded,
        })
    }
}

/// The delimiter that spreadsheets write into a line before the header, `sep=;`, and the length of the line.
fn named_delimiter(start: &[u8]) -> Option<(u8, usize)> {
    let end = start
        .iter()
        .position(|byte| matches!(byte, b'\n' | b'\r'))?;
    let (line, rest) = start.split_at(end);
    let inner = line
        .strip_prefix(b"\"")
        .and_then(|line| line.strip_suffix(b"\""));
    let [s, e, p, b'=', delimiter] = inner.unwrap_or(line) else {
        return None;
    };
    let is_named = [s, e, p].map(u8::to_ascii_lowercase) == *b"sep";
    let line_end = if rest.starts_with(b"\r\n") { 2 } else { 1 };
    is_named.then_some((*delimiter, end + line_end))
}

/// The header of a file; `expected` are names that it is likely to hold.
pub(super) fn head(source: Input<'_>, expected: &[String]) -> Result<Head, FileError> {
    let file = source.name();
    let compression = match source {
        Input::File(_, compression) | Input::Start(_, _, compression) => compression,
        Input::Bytes(..) => Compression::None,
    };
    let Text {
        mut input,
        delimiter: named,
        skipped,
        is_decoded,
    } = source.open(&())?;
    let start = input
        .fill_buf()
        .map_err(|error| unreadable(&file, &error))?;
    let header = header(start).ok_or_else(|| FileError::Empty { file: file.clone() })?;
    let delimiter = named.unwrap_or_else(|| delimiter(header, expected));
    let mut record = csv::ByteRecord::new();
    let read = reader(input, delimiter).read_byte_record(&mut record);
    read.map_err(|error| unreadable(&file, &error))?;
    let names = names(&record, &file)?;
    Ok(Head::Csv {
        is_plain: skipped == 0 && !is_decoded && names.len() > 1,
        names,
        delimiter,
        compression,
    })
}

/// The names that a header holds.
fn names(header: &csv::ByteRecord, file: &str) -> Result<Vec<String>, FileError> {
    let names = (1..).zip(header).map(|(position, name): (usize, &[u8])| {
        let text = std::str::from_utf8(name).map_err(|_| FileError::NotUtf8 {
            file: file.to_owned(),
            line: 0,
            column: position.to_string(),
        })?;
        Ok(text.to_owned())
    });
    names.collect()
}

pub(super) fn read<S: Sink>(
    source: Input<'_>,
    sink: &mut S,
    progress: &dyn Progress,
) -> Result<(), FileError> {
    let file = source.name();
    let Text {
        mut input,
        delimiter: named,
        ..
    } = source.open(progress)?;
    let start = input
        .fill_buf()
        .map_err(|error| unreadable(&file, &error))?;
    let header = header(start).ok_or_else(|| FileError::Empty { file: file.clone() })?;
    let delimiter = named.unwrap_or_else(|| delimiter(header, &sink.expected()));
    let done = if fields(header, delimiter).count() == 1 {
        read_rows(BlankLines::new(input), delimiter, &file, sink)
    } else {
        read_rows(input, delimiter, &file, sink)
    };
    done.map_err(|error| error.at_lines(|records| lines_of(source, records).unwrap_or_default()))
}

fn read_rows<R: Read, S: Sink>(
    input: R,
    delimiter: u8,
    file: &str,
    sink: &mut S,
) -> Result<(), FileError> {
    let mut reader = reader(input, delimiter);
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
    let names = names(&record, file)?;
    let columns = names.len();
    sink.header(file, names)?;

    let mut place = 0;
    while next(&mut record)? {
        place += 1;
        if record.len() != columns {
            sink.wrong(FileError::Ragged {
                file: file.to_owned(),
                line: place,
                found: record.len(),
                expected: columns,
            })?;
            continue;
        }
        for (column, text) in record.iter().enumerate() {
            sink.cell(column, text, place)?;
        }
        if place % BETWEEN == 0 {
            sink.between_rows()?;
        }
    }
    sink.end()
}

fn reader<R: Read>(input: R, delimiter: u8) -> csv::Reader<R> {
    csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(delimiter)
        .buffer_capacity(BUFFER)
        .from_reader(input)
}

impl TextTable {
    /// The line at which a record stands, for errors; the record's number where the file has no lines.
    pub fn line(&self, record: u64) -> u64 {
        let path = Path::new(&self.file);
        let lines = match super::format_of(path) {
            Ok(super::Format::Csv(compression)) => {
                lines_of(Input::File(path, compression), &[record])
            }
            // Other formats have rows.
            _ => None,
        };
        lines
            .and_then(|lines| lines.get(&record).copied())
            .unwrap_or(record)
    }
}

/// The lines at which records stand, the header being record 0. Goes through the file again, once for all
/// of them.
fn lines_of(source: Input<'_>, records: &[u64]) -> Option<HashMap<u64, u64>> {
    let mut wanted = records.to_vec();
    wanted.sort_unstable();
    wanted.dedup();
    let text = source.open(&()).ok()?;
    let skipped = text.skipped;
    let lines = lines_after_header(source, text, &wanted)?;
    let lines = lines.into_iter();
    Some(
        lines
            .map(|(record, line)| (record, line + skipped))
            .collect(),
    )
}

/// The lines of ascending records, counted from the header on.
fn lines_after_header(
    source: Input<'_>,
    text: Text<'_>,
    wanted: &[u64],
) -> Option<HashMap<u64, u64>> {
    let mut start = text.input;
    let header = header(start.fill_buf().ok()?)?;
    // The choice of delimiter does not change where records end, except for quotes beside a delimiter.
    let delimiter = text.delimiter.unwrap_or_else(|| delimiter(header, &[]));
    if fields(header, delimiter).count() == 1 {
        // In a file of one column blank lines are records, so records are lines, except for quoted line
        // ends.
        return lines_of_fields(start, wanted);
    }
    let mut reader = reader(start, delimiter);
    let mut found = csv::ByteRecord::new();
    let mut offsets = Vec::new();
    let mut next = 0;
    for record in wanted {
        while next <= *record {
            let is_there = reader.read_byte_record(&mut found).ok()?;
            is_there.then_some(())?;
            next += 1;
        }
        offsets.push((*record, found.position()?.byte()));
    }
    lines_at(source.open(&()).ok()?.input, &offsets)
}

/// The lines on which records begin, by the ascending places in the file after which they do.
fn lines_at(input: impl BufRead, offsets: &[(u64, u64)]) -> Option<HashMap<u64, u64>> {
    let mut offsets = offsets.iter().peekable();
    let mut lines = HashMap::new();
    let (mut line, mut previous) = (1, 0);
    for (place, byte) in input.bytes().enumerate() {
        let byte = byte.ok()?;
        // A line ends with LF, CRLF, or CR alone.
        line += u64::from(previous == b'\r' && byte != b'\n');
        if !matches!(byte, b'\n' | b'\r')
            && let Some((record, _)) = offsets.next_if(|(_, offset)| place as u64 >= *offset)
        {
            lines.insert(*record, line);
        }
        if offsets.peek().is_none() {
            break;
        }
        line += u64::from(byte == b'\n');
        previous = byte;
    }
    Some(lines)
}

/// The lines of ascending records in a file of one column.
fn lines_of_fields(input: impl BufRead, wanted: &[u64]) -> Option<HashMap<u64, u64>> {
    let mut wanted = wanted.iter().peekable();
    let mut lines = HashMap::new();
    let (mut line, mut records, mut in_quotes) = (1, 0, false);
    for byte in input.bytes() {
        if let Some(record) = wanted.next_if(|record| **record == records) {
            lines.insert(*record, line);
        }
        if wanted.peek().is_none() {
            break;
        }
        match byte.ok()? {
            b'"' => in_quotes = !in_quotes,
            b'\n' => {
                line += 1;
                records += u64::from(!in_quotes);
            }
            _ => {}
        }
    }
    Some(lines)
}

/// The first line of a text; `None` for an empty file.
fn header(start: &[u8]) -> Option<&[u8]> {
    if start.is_empty() {
        return None;
    }
    start
        .split(|byte| matches!(byte, b'\n' | b'\r'))
        .find(|line| !line.is_empty())
}

/// The fields of a header line, split outside quotes.
fn fields(header: &[u8], delimiter: u8) -> impl Iterator<Item = &[u8]> {
    let mut in_quotes = false;
    header.split(move |byte| {
        in_quotes ^= *byte == b'"';
        *byte == delimiter && !in_quotes
    })
}

/// The delimiter under which the header holds most expected names; of equals, the delimiter that makes
/// most fields.
fn delimiter(header: &[u8], expected: &[String]) -> u8 {
    let mut best = DELIMITERS[0];
    let mut best_score = (0, 1);
    for delimiter in DELIMITERS {
        let known = fields(header, delimiter).filter(|name| {
            let name = String::from_utf8_lossy(name);
            let name = name.trim_matches('"');
            expected.iter().any(|expected| expected == name)
        });
        let score = (known.count(), fields(header, delimiter).count());
        if score > best_score {
            (best, best_score) = (delimiter, score);
        }
    }
    best
}

fn unreadable(file: &str, error: &dyn std::fmt::Display) -> FileError {
    FileError::Unreadable {
        file: file.to_owned(),
        reason: error.to_string(),
    }
}
