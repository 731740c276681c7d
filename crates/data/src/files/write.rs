//! Tables and releases out: CSV (plain, gzip, zstd) or Parquet, whole or chunk by chunk.
//!
//! A release is held by its counts, sorted by what is written. Where its rows are published singly, each is written
//! as often as its count says, a chunk of records at a time: the rows are the same, and in the same order, as if all
//! records had been generalized one by one and sorted, and memory does not grow with the records.

use std::borrow::Cow;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{ArrayRef, Date32Array, Decimal128Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema as ArrowSchema};
use jiff::civil::date;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression as ParquetCompression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use rayon::prelude::*;

use super::bounds::{self, Bound};
use super::marks::{Marks, marks};
use super::open::{Format, OutputFile, Progress, format_of, unwritable};
use super::times::Rows;
use super::{CsvText, FileError};
use crate::attribute::{Recode, Schema};
use crate::domain::Domain;
use crate::field::push_field;
use crate::release::{Release, ReleaseColumn};
use crate::study::{GROUP, RECORDS, Study};
use crate::table::{Column, Table};

/// Rows encoded at a time.
const CHUNK: usize = 1 << 16;

/// Labels are kept ready for domains up to this size.
const MOST_LABELS: u32 = 1 << 20;

/// Writes a table.
pub fn write_table(path: &Path, table: &Table, progress: &dyn Progress) -> Result<(), FileError> {
    let columns: Vec<Source<'_>> = table
        .schema()
        .attributes()
        .iter()
        .enumerate()
        .map(|(position, attribute)| {
            Source::new(&attribute.name, &attribute.domain, table.column(position))
        })
        .collect();
    let file = create_known(path)?;
    let rows = Rows::Once(table.rows());
    write(file, &columns, rows, CsvText::Verbatim, progress)
}

/// Writes a release of a study: quasi-identifiers as cells, the rest verbatim. In CSV, text stands as
/// the study says; in Parquet, generalized numbers and days have columns of bounds behind them, and
/// every column says its role, its type and how it is written. Rows that stand for several records are
/// written once where the study says that rows are counted, with the number of records, and otherwise once for
/// each record.
pub fn write_release(
    path: &Path,
    release: &Release,
    study: &Study,
    progress: &dyn Progress,
) -> Result<(), FileError> {
    write_rows(create_known(path)?, release, study, progress)
}

/// Writes a site's own rows of a run as [`write_release`] would, for the owner of the file alone to read.
pub fn write_own_rows(path: &Path, rows: &Release, study: &Study) -> Result<(), FileError> {
    format_of(path)?;
    write_rows(OutputFile::create_private(path)?, rows, study, &())
}

fn write_rows(
    file: OutputFile,
    release: &Release,
    study: &Study,
    progress: &dyn Progress,
) -> Result<(), FileError> {
    let mut columns = Vec::new();
    let all: Vec<usize> = (0..release.columns().len()).collect();
    push_columns(&mut columns, release, &all);
    if format_of(file.path())? == Format::Parquet {
        columns = described(columns, release, study.recode);
    }
    let mut rows = Rows::Once(release.rows());
    match release.counts() {
        Some(counts) if study.is_counted() => columns.push(Source {
            name: RECORDS.into(),
            values: Values::Counts(counts),
            marks: Marks::new(),
        }),
        Some(counts) => rows = Rows::Times(counts),
        None => {}
    }
    write(file, &columns, rows, study.csv, progress)
}

/// Starts a file whose name says a format.
fn create_known(path: &Path) -> Result<OutputFile, FileError> {
    format_of(path)?;
    OutputFile::create(path)
}

/// The columns of a release as Parquet has them: with marks and bounds.
fn described<'a>(
    columns: Vec<Source<'a>>,
    release: &'a Release,
    recode: Recode,
) -> Vec<Source<'a>> {
    let schema = release.schema();
    let mut names = bounds::names(schema);
    let mut all = Vec::new();
    for column in columns {
        let Some(position) = schema.position(&column.name) else {
            continue;
        };
        let attribute = &schema.attributes()[position];
        let marks = |bound| marks(attribute, recode, bound);
        all.push(Source {
            marks: marks(None),
            ..column
        });
        let cells = release.generalized(position);
        let Some((cells, names)) = cells.zip(names[position].take()) else {
            continue;
        };
        for (bound, name) in Bound::BOTH.into_iter().zip(names) {
            let of_cells = cells.cells.iter();
            let codes = of_cells.map(|cell| bounds::code(&attribute.domain, cell, bound));
            all.push(Source {
                name: name.into(),
                values: Values::Bounds(&attribute.domain, codes.collect(), &cells.codes),
                marks: marks(Some(bound)),
            });
        }
    }
    all
}

/// Writes columns of a release by position, after the group of each row where there are groups.
pub(super) fn write_columns(
    path: &Path,
    (release, groups): (&Release, Option<&[u32]>),
    positions: &[usize],
    csv: CsvText,
    progress: &dyn Progress,
) -> Result<(), FileError> {
    let mut columns = Vec::new();
    let mut numbers: Vec<u32> = groups.unwrap_or_default().to_vec();
    numbers.dedup();
    let place = |group: &u32| numbers.partition_point(|number| number < group) as u32;
    let place_of_row: Vec<u32> = groups.iter().copied().flatten().map(place).collect();
    if groups.is_some() {
        let texts = numbers.iter().map(u32::to_string).collect();
        columns.push(Source::of_texts(GROUP, texts, &place_of_row));
    }
    push_columns(&mut columns, release, positions);
    let rows = Rows::Once(release.rows());
    write(create_known(path)?, &columns, rows, csv, progress)
}

/// Writes columns of a release by position, with a column of counts behind them.
pub(super) fn write_counted(
    path: &Path,
    release: &Release,
    positions: &[usize],
    (name, counts): (&str, &[u64]),
    csv: CsvText,
    progress: &dyn Progress,
) -> Result<(), FileError> {
    let mut columns = Vec::new();
    push_columns(&mut columns, release, positions);
    let places: Vec<u32> = (0..counts.len() as u32).collect();
    let texts = counts.iter().map(u64::to_string).collect();
    columns.push(Source::of_texts(name, texts, &places));
    let rows = Rows::Once(release.rows());
    write(create_known(path)?, &columns, rows, csv, progress)
}

/// Columns of a release by position, without the columns that are absent.
fn push_columns<'a>(columns: &mut Vec<Source<'a>>, release: &'a Release, positions: &[usize]) {
    for position in positions {
        let attribute = &release.schema().attributes()[*position];
        match &release.columns()[*position] {
            ReleaseColumn::Absent => {}
            ReleaseColumn::Generalized(cells) => {
                let texts = cells
                    .cells
                    .iter()
                    .map(|cell| attribute.domain.write_cell(cell));
                let texts = texts.collect();
                columns.push(Source::of_texts(&attribute.name, texts, &cells.codes));
            }
            ReleaseColumn::Verbatim(column) => {
                columns.push(Source::new(&attribute.name, &attribute.domain, column));
            }
        }
    }
}

fn write(
    file: OutputFile,
    columns: &[Source<'_>],
    rows: Rows<'_>,
    csv: CsvText,
    progress: &dyn Progress,
) -> Result<(), FileError> {
    let (encoder, mut output) = create(file, columns, csv)?;
    let starts = rows.starts(CHUNK);
    // Chunks are encoded on all cores, a few at a time, and written in order.
    for group in starts.chunks(2 * rayon::current_num_threads()) {
        let chunks: Vec<Chunk> = group
            .par_iter()
            .map(|start| match rows {
                Rows::Once(rows) => encoder.encode(columns, start.row..rows.min(start.row + CHUNK)),
                Rows::Times(counts) => encoder.encode(columns, start.records(counts, CHUNK)),
            })
            .collect::<Result<_, _>>()?;
        for chunk in chunks {
            output.append(chunk)?;
        }
        progress.advance((group.len() * CHUNK) as u64);
    }
    output.finish()
}

/// Writes a table that is made chunk by chunk and never held whole.
pub struct RowWriter {
    encoder: RowEncoder,
    output: Output,
}

/// Turns rows into what a [`RowWriter`] appends; may be used from several threads.
#[derive(Clone)]
pub struct RowEncoder {
    schema: Arc<Schema>,
    encoder: Arc<Encoder>,
}

/// Rows of a [`RowWriter`], encoded and ready to be appended.
pub struct EncodedRows(Chunk);

impl RowWriter {
    /// Starts a file.
    pub fn create(path: &Path, schema: Arc<Schema>) -> Result<Self, FileError> {
        let empty: Vec<Column> = schema
            .attributes()
            .iter()
            .map(|attribute| Column::for_domain(&attribute.domain))
            .collect();
        let file = create_known(path)?;
        let (encoder, output) = create(file, &sources(&schema, &empty), CsvText::Verbatim)?;
        let encoder = RowEncoder {
            encoder: Arc::new(encoder),
            schema,
        };
        Ok(Self { encoder, output })
    }

    /// The encoder of rows for this file.
    pub fn encoder(&self) -> RowEncoder {
        self.encoder.clone()
    }

    /// Appends encoded rows.
    pub fn append(&mut self, rows: EncodedRows) -> Result<(), FileError> {
        self.output.append(rows.0)
    }

    /// Completes the file.
    pub fn finish(self) -> Result<(), FileError> {
        self.output.finish()
    }
}

impl RowEncoder {
    /// Encodes rows, one column for each attribute.
    pub fn encode(&self, columns: &[Column]) -> Result<EncodedRows, FileError> {
        let rows = columns.first().map_or(0, Column::len);
        let sources = sources(&self.schema, columns);
        self.encoder.encode(&sources, 0..rows).map(EncodedRows)
    }
}

fn sources<'a>(schema: &'a Schema, columns: &'a [Column]) -> Vec<Source<'a>> {
    let attributes = schema.attributes().iter().zip(columns);
    attributes
        .map(|(attribute, column)| Source::new(&attribute.name, &attribute.domain, column))
        .collect()
}

/// A column in the form in which it is written.
struct Source<'a> {
    name: Cow<'a, str>,
    values: Values<'a>,
    /// The marks of the column in Parquet.
    marks: Marks,
}

enum Values<'a> {
    /// A dictionary of texts and each row's place in it.
    Texts(Vec<String>, &'a [u32]),
    /// A column of a domain.
    Domain(&'a Domain, &'a Column),
    /// How many records each row stands for.
    Counts(&'a [u64]),
    /// A bound of each distinct cell of a column, as a code of the domain, and each row's cell.
    Bounds(&'a Domain, Vec<Option<u32>>, &'a [u32]),
}

impl<'a> Source<'a> {
    fn new(name: &'a str, domain: &'a Domain, column: &'a Column) -> Self {
        Self {
            name: name.into(),
            values: Values::Domain(domain, column),
            marks: Marks::new(),
        }
    }

    fn of_texts(name: &'a str, texts: Vec<String>, codes: &'a [u32]) -> Self {
        Self {
            name: name.into(),
            values: Values::Texts(texts, codes),
            marks: Marks::new(),
        }
    }

    fn arrow_type(&self) -> DataType {
        match &self.values {
            Values::Domain(domain, _) | Values::Bounds(domain, ..) => {
                bounds::arrow_type(domain).unwrap_or(DataType::Utf8)
            }
            Values::Texts(..) => DataType::Utf8,
            Values::Counts(_) => DataType::Int64,
        }
    }

    fn text(&self, row: usize) -> Cow<'_, str> {
        match &self.values {
            Values::Bounds(domain, ends, codes) => match ends[codes[row] as usize] {
                Some(code) => domain.label(code),
                None => "".into(),
            },
            Values::Texts(texts, codes) => texts[codes[row] as usize].as_str().into(),
            Values::Domain(domain, Column::Coded(codes)) => domain.label(codes.get(row)),
            Values::Domain(_, Column::Text(texts)) => texts.get(row).into(),
            Values::Domain(_, Column::Absent(_)) => "".into(),
            Values::Counts(counts) => counts[row].to_string().into(),
        }
    }

    fn arrow(&self, rows: impl Iterator<Item = usize> + Clone) -> ArrayRef {
        let typed = match &self.values {
            Values::Domain(domain, Column::Coded(codes)) => {
                let missing = domain.missing_code();
                let code = |row| Some(codes.get(row)).filter(|code| Some(*code) != missing);
                typed(domain, rows.clone().map(code))
            }
            Values::Bounds(domain, ends, codes) => {
                typed(domain, rows.clone().map(|row| ends[codes[row] as usize]))
            }
            Values::Counts(counts) => {
                // A release has fewer records than the greatest number of this type.
                let numbers = rows.clone().map(|row| counts[row] as i64);
                Some(Arc::new(Int64Array::from_iter_values(numbers)) as ArrayRef)
            }
            _ => None,
        };
        if let Some(typed) = typed {
            return typed;
        }
        let mut texts = arrow_array::builder::StringBuilder::new();
        for row in rows {
            texts.append_value(self.text(row));
        }
        let texts: StringArray = texts.finish();
        Arc::new(texts)
    }
}

/// Values of a domain of numbers or days, in their own type.
fn typed(domain: &Domain, codes: impl Iterator<Item = Option<u32>>) -> Option<ArrayRef> {
    match domain {
        Domain::Integer(integers) => {
            let numbers = codes.map(|code| code.map(|code| integers.value(code)));
            Some(Arc::new(numbers.collect::<Int64Array>()))
        }
        Domain::Decimal(decimals) => {
            let units = codes.map(|code| code.map(|code| i128::from(decimals.units(code))));
            let array = units.collect::<Decimal128Array>();
            Some(Arc::new(
                array.with_data_type(bounds::decimal_type(decimals.digits())),
            ))
        }
        Domain::Date(days) => {
            let epoch = date(1970, 1, 1);
            let numbers = codes.map(|code| code.map(|code| (days.day(code) - epoch).get_days()));
            Some(Arc::new(numbers.collect::<Date32Array>()))
        }
        Domain::Category(_) | Domain::Text => None,
    }
}

/// An open output file.
enum Output {
    Csv(OutputFile),
    Parquet(Box<ArrowWriter<OutputFile>>, PathBuf),
}

/// Turns rows into bytes or batches.
enum Encoder {
    /// For each column its labels, guarded and quoted where needed, unless the column has too many.
    Csv(Vec<Option<Vec<Box<[u8]>>>>, CsvText),
    Parquet(Arc<ArrowSchema>, PathBuf),
}

enum Chunk {
    Bytes(Vec<u8>),
    Batch(RecordBatch),
}

fn create(
    mut file: OutputFile,
    columns: &[Source<'_>],
    csv: CsvText,
) -> Result<(Encoder, Output), FileError> {
    let path = &file.path().to_owned();
    let format = format_of(path)?;
    match format {
        Format::Csv(_) => {
            let mut header = Vec::new();
            for (position, column) in columns.iter().enumerate() {
                if position > 0 {
                    header.push(b',');
                }
                push_field(&mut header, &csv.written(&column.name), b',');
            }
            header.push(b'\n');
            file.write_all(&header)
                .map_err(|error| unwritable(path, &error))?;
            let labels = columns.iter().map(|column| ready_labels(column, csv));
            Ok((Encoder::Csv(labels.collect(), csv), Output::Csv(file)))
        }
        Format::Excel => Err(FileError::NotWritten {
            file: path.display().to_string(),
        }),
        Format::Parquet => {
            let fields: Vec<Field> = columns
                .iter()
                .map(|column| {
                    let field = Field::new(&*column.name, column.arrow_type(), true);
                    field.with_metadata(column.marks.clone())
                })
                .collect();
            let schema = Arc::new(ArrowSchema::new(fields));
            let properties = WriterProperties::builder()
                .set_compression(ParquetCompression::ZSTD(ZstdLevel::default()))
                .build();
            let writer = ArrowWriter::try_new(file, schema.clone(), Some(properties))
                .map_err(|error| unwritable(path, &error))?;
            let output = Output::Parquet(Box::new(writer), path.to_owned());
            Ok((Encoder::Parquet(schema, path.to_owned()), output))
        }
    }
}

impl Encoder {
    fn encode(
        &self,
        columns: &[Source<'_>],
        rows: impl Iterator<Item = usize> + Clone,
    ) -> Result<Chunk, FileError> {
        match self {
            Self::Csv(labels, csv) => {
                let mut bytes = Vec::with_capacity(rows.size_hint().0 * columns.len() * 8);
                for row in rows {
                    for (position, column) in columns.iter().enumerate() {
                        if position > 0 {
                            bytes.push(b',');
                        }
                        match (&labels[position], &column.values) {
                            (Some(ready), Values::Domain(_, Column::Coded(codes))) => {
                                bytes.extend_from_slice(&ready[codes.get(row) as usize]);
                            }
                            (Some(ready), Values::Texts(_, codes)) => {
                                bytes.extend_from_slice(&ready[codes[row] as usize]);
                            }
                            _ => push_field(&mut bytes, &csv.written(&column.text(row)), b','),
                        }
                    }
                    bytes.push(b'\n');
                }
                Ok(Chunk::Bytes(bytes))
            }
            Self::Parquet(schema, path) => {
                let arrays = columns
                    .iter()
                    .map(|column| column.arrow(rows.clone()))
                    .collect();
                RecordBatch::try_new(schema.clone(), arrays)
                    .map(Chunk::Batch)
                    .map_err(|error| unwritable(path, &error))
            }
        }
    }
}

impl Output {
    fn append(&mut self, chunk: Chunk) -> Result<(), FileError> {
        match (self, chunk) {
            (Self::Csv(file), Chunk::Bytes(bytes)) => file
                .write_all(&bytes)
                .map_err(|error| unwritable(file.path(), &error)),
            (Self::Parquet(writer, path), Chunk::Batch(batch)) => writer
                .write(&batch)
                .map_err(|error| unwritable(path, &error)),
            // An output and its encoder are made together, so their kinds agree.
            (Self::Csv(_), Chunk::Batch(_)) | (Self::Parquet(..), Chunk::Bytes(_)) => Ok(()),
        }
    }

    fn finish(self) -> Result<(), FileError> {
        match self {
            Self::Csv(file) => file.finish(),
            Self::Parquet(writer, path) => writer
                .into_inner()
                .map_err(|error| unwritable(&path, &error))?
                .finish(),
        }
    }
}

/// The labels of a column, guarded and quoted where they must be; `None` where there are too many.
fn ready_labels(column: &Source<'_>, csv: CsvText) -> Option<Vec<Box<[u8]>>> {
    let field = |text: &str| {
        let mut bytes = Vec::new();
        push_field(&mut bytes, &csv.written(text), b',');
        bytes.into_boxed_slice()
    };
    match &column.values {
        Values::Texts(texts, _) => Some(texts.iter().map(|text| field(text)).collect()),
        Values::Domain(Domain::Text, _) | Values::Bounds(..) | Values::Counts(_) => None,
        Values::Domain(domain, _) => (domain.size() <= MOST_LABELS).then(|| {
            (0..domain.size())
                .map(|code| field(&domain.label(code)))
                .collect()
        }),
    }
}
