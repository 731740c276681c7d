//! Tables in and out, by the Arrow PyCapsule interface: pandas, polars, pyarrow, DuckDB and whatever else has
//! `__arrow_c_stream__`. Buffers are shared with Python and not copied.

use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::{Array as _, ArrayRef, RecordBatch, StructArray};
use arrow_schema::{DataType, Field, SchemaRef};
use hedgerow::Table;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use pyo3_arrow::error::PyArrowResult;
use pyo3_arrow::ffi::{ArrayIterator, to_stream_pycapsule};
use pyo3_arrow::input::AnyRecordBatch;

use crate::error::said;

/// Rows that Python reads as Arrow.
#[pyclass(module = "hedgerow._native", frozen)]
pub(crate) struct Rows {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

impl Rows {
    pub(crate) fn new(schema: SchemaRef, batches: Vec<RecordBatch>) -> Self {
        Self { schema, batches }
    }
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
        let fields = self.schema.fields().iter();
        fields.map(|field| field.name().clone()).collect()
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

/// Understands a path, or an object with `__arrow_c_stream__` or `__arrow_c_array__`.
pub(crate) fn given(object: &Bound<'_, PyAny>) -> PyResult<Given> {
    let py = object.py();
    if let Ok(path) = object.extract::<PathBuf>() {
        return Ok(Given::Path(path));
    }
    let has = |name: &str| object.hasattr(name);
    if !has("__arrow_c_stream__")? && !has("__arrow_c_array__")? {
        let kind = object.get_type().qualname()?;
        return Err(said(
            py,
            "DataError",
            format!(
                "a {kind} is no table\nhint: give a path, or an object that speaks Arrow, such as a DataFrame of pandas or polars, or a table of pyarrow or DuckDB"
            ),
        ));
    }
    let reader = match object.extract::<AnyRecordBatch>() {
        Ok(any) => any.into_reader()?,
        // pandas speaks Arrow by pyarrow.
        Err(error) if error.is_instance_of::<pyo3::exceptions::PyImportError>(py) => {
            return Err(said(
                py,
                "DataError",
                format!("the table cannot be read as Arrow: {error}\nhint: pip install pyarrow"),
            ));
        }
        Err(error) => return Err(error),
    };
    let schema = reader.schema();
    let kept = kept(&schema);
    let unreadable = |error: arrow_schema::ArrowError| {
        said(
            py,
            "DataError",
            format!("the table cannot be read as Arrow: {error}"),
        )
    };
    let mut batches = Vec::new();
    for batch in reader {
        let batch = batch.and_then(|batch| plain(&batch.project(&kept)?));
        batches.push(batch.map_err(unreadable)?);
    }
    if batches.is_empty() {
        let empty = RecordBatch::new_empty(schema).project(&kept);
        batches.push(empty.and_then(|batch| plain(&batch)).map_err(unreadable)?);
    }
    Ok(Given::Rows(Table::batches("the table", batches)))
}

/// The columns without those in which pandas passes on the index of its rows.
fn kept(schema: &SchemaRef) -> Vec<usize> {
    let is_of_pandas = schema.metadata().contains_key("pandas");
    let is_index =
        |name: &str| is_of_pandas && name.starts_with("__index_level_") && name.ends_with("__");
    let fields = schema.fields().iter().enumerate();
    let kept = fields.filter(|(_, field)| !is_index(field.name()));
    kept.map(|(place, _)| place).collect()
}

/// Dictionaries of other things than text as these things.
fn plain(batch: &RecordBatch) -> Result<RecordBatch, arrow_schema::ArrowError> {
    let is_dictionary = |kind: &DataType| match kind {
        DataType::Dictionary(_, value) => !matches!(**value, DataType::Utf8 | DataType::LargeUtf8),
        _ => false,
    };
    if !batch
        .columns()
        .iter()
        .any(|column| is_dictionary(column.data_type()))
    {
        return Ok(batch.clone());
    }
    let schema = batch.schema();
    let columns = schema
        .fields()
        .iter()
        .zip(batch.columns())
        .map(|(field, column)| {
            let column = match column.data_type() {
                DataType::Dictionary(_, value) if is_dictionary(column.data_type()) => {
                    arrow_cast::cast(column, value)?
                }
                _ => Arc::clone(column),
            };
            Ok((field.name().clone(), column))
        });
    let columns: Vec<(String, ArrayRef)> =
        columns.collect::<Result<_, arrow_schema::ArrowError>>()?;
    RecordBatch::try_from_iter(columns)
}
