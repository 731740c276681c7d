//! Tables in and out, by the Arrow PyCapsule interface: pandas, polars, pyarrow, DuckDB and whatever else has
//! `__arrow_c_stream__`. Buffers are shared with Python and not copied.

use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::{Array as _, ArrayRef, RecordBatch, StructArray};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::{ArrowError, DataType, Field, SchemaRef, TimeUnit};
use hedgerow::Table;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use pyo3_arrow::error::PyArrowResult;
use pyo3_arrow::ffi::{ArrayIterator, to_stream_pycapsule};
use pyo3_arrow::input::AnyRecordBatch;

use crate::error::said;

/// Rows in memory, which Python reads as Arrow.
#[pyclass(module = "hedgerow._native", frozen)]
pub(crate) struct Rows {
    /// What errors call them.
    name: String,
    /// The columns of the table that they were taken of.
    found: Vec<String>,
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

impl Rows {
    pub(crate) fn new(name: String, schema: SchemaRef, batches: Vec<RecordBatch>) -> Self {
        Self {
            name,
            found: names(&schema),
            schema,
            batches,
        }
    }
}

fn names(schema: &SchemaRef) -> Vec<String> {
    let fields = schema.fields().iter();
    fields.map(|field| field.name().clone()).collect()
}

#[pymethods]
impl Rows {
    /// The rows as a capsule of an Arrow C stream.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyArrowResult<Bound<'py, PyCapsule>> {
        let fields = self.schema.fields().clone();
        let field = Field::new_struct("", fields, false);
        let field = Arc::new(field.with_metadata(self.schema.metadata().clone()));
        let batches = self.batches.clone().into_iter();
        let batches = batches.map(|batch| Ok(Arc::new(StructArray::from(batch)) as ArrayRef));
        let reader = Box::new(ArrayIterator::new(batches, field));
        to_stream_pycapsule(py, reader, requested_schema)
    }

    /// The names of the columns.
    fn columns(&self) -> Vec<String> {
        names(&self.schema)
    }

    /// The names of all columns of the table that the rows were taken of.
    fn found(&self) -> Vec<String> {
        self.found.clone()
    }

    /// The first rows as texts.
    fn head(&self, py: Python<'_>, rows: usize) -> PyResult<Vec<Vec<String>>> {
        let texts = |batch: &RecordBatch| -> Result<Vec<Vec<String>>, ArrowError> {
            let options = FormatOptions::default();
            let columns = batch.columns().iter();
            let columns = columns.map(|column| ArrayFormatter::try_new(column, &options));
            let columns = columns.collect::<Result<Vec<_>, _>>()?;
            let row = |row: usize| -> Result<Vec<String>, ArrowError> {
                let cells = columns.iter();
                cells.map(|cell| cell.value(row).try_to_string()).collect()
            };
            (0..batch.num_rows()).map(row).collect()
        };
        let mut head = Vec::new();
        for batch in &self.batches {
            let some = batch.slice(0, batch.num_rows().min(rows - head.len()));
            let some = texts(&some);
            head.extend(some.map_err(|error| said(py, "DataError", error.to_string()))?);
        }
        Ok(head)
    }

    fn __len__(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }
}

/// What Python gave for a table.
pub(crate) enum Given {
    /// The path of a file, or of the folder of a release.
    Path(PathBuf),
    /// Rows in memory.
    Rows(Table),
}

impl Given {
    /// The table, of a file or in memory.
    pub(crate) fn table(self) -> Table {
        match self {
            Self::Path(path) => Table::file(path),
            Self::Rows(table) => table,
        }
    }
}

/// Understands a path, or rows that were taken.
pub(crate) fn given(object: &Bound<'_, PyAny>) -> PyResult<Given> {
    match object.cast::<Rows>() {
        Ok(rows) => {
            let rows = rows.get();
            let mut batches = rows.batches.clone();
            if batches.is_empty() {
                batches.push(RecordBatch::new_empty(rows.schema.clone()));
            }
            Ok(Given::Rows(Table::batches(rows.name.clone(), batches)))
        }
        Err(_) => Ok(Given::Path(object.extract()?)),
    }
}

/// Takes the rows of an object with `__arrow_c_stream__` or `__arrow_c_array__`: some of its columns, or all.
/// Errors call the rows by this name.
#[pyfunction]
#[pyo3(signature = (data, columns, name))]
pub(crate) fn rows(
    py: Python<'_>,
    data: &Bound<'_, PyAny>,
    columns: Option<Vec<String>>,
    name: String,
) -> PyResult<Rows> {
    let unreadable = |error: &dyn std::fmt::Display| {
        said(
            py,
            "DataError",
            format!(
                "{name}: cannot be read as Arrow: {error}\nhint: give a path, or an object that speaks Arrow, such as a DataFrame of pandas or polars, or a table of pyarrow or DuckDB"
            ),
        )
    };
    let stream = data.extract::<AnyRecordBatch>();
    let stream = stream.and_then(|stream| stream.into_reader());
    let mut reader = match stream {
        Err(error) if !error.is_instance_of::<pyo3::exceptions::PyException>(py) => {
            return Err(error);
        }
        stream => stream.map_err(|error| unreadable(&error))?,
    };
    let found = names(&reader.schema());
    let kept = kept(&reader.schema(), columns.as_deref());
    let schema = reader.schema().project(&kept);
    let schema = Arc::new(schema.map_err(|error| unreadable(&error))?);
    let mut batches = Vec::new();
    // What gives the batches may be a query that is answered as they are taken.
    while let Some(batch) = py.detach(|| reader.next()) {
        py.check_signals()?;
        let batch = batch.and_then(|batch| plain(&batch.project(&kept)?));
        batches.push(batch.map_err(|error| unreadable(&error))?);
    }
    let schema = batches.first().map_or(schema, RecordBatch::schema);
    Ok(Rows {
        found,
        ..Rows::new(name, schema, batches)
    })
}

/// The places of some columns, or of all but those in which pandas passes on the index of its rows.
fn kept(schema: &SchemaRef, columns: Option<&[String]>) -> Vec<usize> {
    let is_of_pandas = schema.metadata().contains_key("pandas");
    let is_index =
        |name: &str| is_of_pandas && name.starts_with("__index_level_") && name.ends_with("__");
    let fields = schema.fields().iter().enumerate();
    let kept = fields.filter(|(_, field)| match columns {
        Some(columns) => columns.contains(field.name()),
        None => !is_index(field.name()),
    });
    kept.map(|(place, _)| place).collect()
}

/// The same rows with every column as the library reads it, as far as there is such a form.
fn plain(batch: &RecordBatch) -> Result<RecordBatch, ArrowError> {
    let arrays: Vec<ArrayRef> = batch.columns().iter().map(plain_array).collect();
    let schema = batch.schema();
    let pairs = schema.fields().iter().zip(&arrays);
    let fields: Vec<Field> = pairs
        .map(|(field, array)| Field::new(field.name(), array.data_type().clone(), true))
        .collect();
    let schema = Arc::new(arrow_schema::Schema::new(fields));
    let options = arrow_array::RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    RecordBatch::try_new_with_options(schema, arrays, &options)
}

fn plain_array(array: &ArrayRef) -> ArrayRef {
    let to = match array.data_type() {
        DataType::Dictionary(_, value) => match **value {
            DataType::Utf8 | DataType::LargeUtf8 => return Arc::clone(array),
            _ => value.as_ref().clone(),
        },
        DataType::RunEndEncoded(_, value) => value.data_type().clone(),
        DataType::Date64 => DataType::Timestamp(TimeUnit::Millisecond, None),
        DataType::Float16 => DataType::Float32,
        DataType::Decimal32(_, scale)
        | DataType::Decimal64(_, scale)
        | DataType::Decimal256(_, scale) => DataType::Decimal128(38, *scale),
        DataType::Time32(_) | DataType::Time64(_) => DataType::Utf8,
        _ => return Arc::clone(array),
    };
    // A value that the other type does not have is an error, not a null.
    let options = CastOptions {
        safe: false,
        ..CastOptions::default()
    };
    match cast_with_options(array, &to, &options) {
        Ok(cast) => plain_array(&cast),
        // The library names the column and its type, if it is asked for the column.
        Err(_) => Arc::clone(array),
    }
}
