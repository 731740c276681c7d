//! The answer to a statement, as a table for people, and as JSON, CSV and Parquet for machines.

use std::path::Path;

use arrow::array::{Array, AsArray, RecordBatch, RecordBatchOptions};
use arrow::datatypes::{DataType, Field, Float64Type, Schema, SchemaRef};
use arrow::error::ArrowError;
use arrow::json::WriterBuilder;
use arrow::json::writer::JsonArray;
use arrow::util::display::{ArrayFormatter, FormatOptions};
use hedgerow::words::aligned;
use serde_json::{Value, json};

use crate::error::SqlError;
use crate::mode::Mode;

/// What every answer with an estimate says.
const NOTE: &str = "estimates are a model: every value of a cell equally likely, columns independent; the truth lies from low to high (--answer bounds)";

/// The answer to a statement.
#[derive(Debug, Clone)]
pub struct Reply {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
    mode: Mode,
    is_model: bool,
}

impl Reply {
    pub(crate) const fn new(
        schema: SchemaRef,
        batches: Vec<RecordBatch>,
        mode: Mode,
        is_model: bool,
    ) -> Self {
        Self {
            schema,
            batches,
            mode,
            is_model,
        }
    }

    /// The columns.
    pub const fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The rows.
    pub fn batches(&self) -> &[RecordBatch] {
        &self.batches
    }

    /// What plain totals answered.
    pub const fn mode(&self) -> Mode {
        self.mode
    }

    /// What must be said beside the answer.
    pub const fn note(&self) -> Option<&'static str> {
        if self.is_model { Some(NOTE) } else { None }
    }

    /// The answer as a table for people.
    pub fn table(&self) -> Result<String, SqlError> {
        let names = self
            .schema
            .fields()
            .iter()
            .map(|field| field.name().clone());
        let mut rows: Vec<Vec<String>> = vec![names.collect()];
        let options = FormatOptions::default();
        for batch in &self.batches {
            let columns = batch.columns().iter();
            let formatters: Vec<ArrayFormatter<'_>> = columns
                .map(|column| ArrayFormatter::try_new(column.as_ref(), &options))
                .collect::<Result<_, _>>()
                .map_err(failed)?;
            for row in 0..batch.num_rows() {
                let cells = batch.columns().iter().zip(&formatters);
                let cell = |(column, formatter): (&arrow::array::ArrayRef, &ArrayFormatter<'_>)| {
                    match column.data_type() {
                        DataType::Float64 if column.is_valid(row) => {
                            format!("{:.2}", column.as_primitive::<Float64Type>().value(row))
                        }
                        _ => formatter.value(row).to_string(),
                    }
                };
                rows.push(cells.map(cell).collect());
            }
        }
        Ok(aligned(&rows))
    }

    /// The answer as JSON: columns, rows, and what was answered.
    pub fn json(&self) -> Result<Value, SqlError> {
        let schema = self.unique();
        let columns: Vec<&String> = schema.fields().iter().map(|field| field.name()).collect();
        let mut writer = WriterBuilder::new()
            .with_explicit_nulls(true)
            .build::<_, JsonArray>(Vec::new());
        for batch in &self.batches {
            let batch = renamed(batch, &schema).map_err(failed)?;
            writer.write(&batch).map_err(failed)?;
        }
        writer.finish().map_err(failed)?;
        let text = writer.into_inner();
        let rows: Value = match text.is_empty() {
            true => json!([]),
            false => serde_json::from_slice(&text).map_err(|error| SqlError::Running {
                reason: error.to_string(),
            })?,
        };
        let mut answer = json!({"columns": columns, "rows": rows, "answer": self.mode.name()});
        if let (Some(note), Some(object)) = (self.note(), answer.as_object_mut()) {
            object.insert(String::from("note"), json!(note));
        }
        Ok(answer)
    }

    /// The columns by names of their own: where several have one name, the later ones are numbered.
    fn unique(&self) -> SchemaRef {
        let mut fields: Vec<Field> = Vec::with_capacity(self.schema.fields().len());
        for field in self.schema.fields() {
            let own = field.name();
            let numbered = (2..).map(|number| format!("{own}_{number}"));
            let mut names = std::iter::once(own.clone()).chain(numbered);
            let name = names.find(|name| {
                let is_later = name != own;
                let taken = fields.iter().any(|field| field.name() == name);
                !(taken || is_later && self.schema.field_with_name(name).is_ok())
            });
            fields.push(field.as_ref().clone().with_name(name.unwrap_or_default()));
        }
        SchemaRef::new(Schema::new(fields))
    }

    /// The answer as CSV.
    pub fn csv(&self) -> Result<String, SqlError> {
        let mut writer = arrow::csv::WriterBuilder::new().build(Vec::new());
        // The names of the columns stand there without rows, too.
        let empty = RecordBatch::new_empty(self.schema.clone());
        writer.write(&empty).map_err(failed)?;
        for batch in &self.batches {
            writer.write(batch).map_err(failed)?;
        }
        Ok(String::from_utf8_lossy(&writer.into_inner()).into_owned())
    }

    /// Writes the answer as a Parquet file, whose metadata says what was answered.
    pub fn write_parquet(&self, path: &Path) -> Result<(), SqlError> {
        let unwritable = |reason: String| SqlError::Unwritable {
            file: path.display().to_string(),
            reason,
        };
        let mut metadata = vec![(String::from("hedgerow.answer"), self.mode.name().to_owned())];
        metadata.extend(
            self.note()
                .map(|note| (String::from("hedgerow.note"), note.to_owned())),
        );
        let metadata = metadata
            .into_iter()
            .map(|(key, value)| parquet::file::metadata::KeyValue::new(key, value));
        let properties = parquet::file::properties::WriterProperties::builder()
            .set_key_value_metadata(Some(metadata.collect()))
            .build();
        let file = std::fs::File::create(path).map_err(|error| unwritable(error.to_string()))?;
        let schema = self.unique();
        let writer =
            parquet::arrow::ArrowWriter::try_new(file, SchemaRef::clone(&schema), Some(properties));
        let mut writer = writer.map_err(|error| unwritable(error.to_string()))?;
        for batch in &self.batches {
            let batch = renamed(batch, &schema).map_err(|error| unwritable(error.to_string()))?;
            let written = writer.write(&batch);
            written.map_err(|error| unwritable(error.to_string()))?;
        }
        writer
            .close()
            .map_err(|error| unwritable(error.to_string()))?;
        Ok(())
    }
}

/// A batch with other names of its columns.
fn renamed(batch: &RecordBatch, schema: &SchemaRef) -> Result<RecordBatch, ArrowError> {
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    let columns = batch.columns().to_vec();
    RecordBatch::try_new_with_options(SchemaRef::clone(schema), columns, &options)
}

fn failed(error: ArrowError) -> SqlError {
    SqlError::Running {
        reason: error.to_string(),
    }
}
