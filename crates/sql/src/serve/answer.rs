//! Answers as clients read them: columns with PostgreSQL's types, and rows as text or in binary.

use std::collections::VecDeque;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use arrow_pg::datatypes::arrow_schema_to_pg_fields;
use arrow_pg::row_encoder::RowEncoder;
use pgwire::api::portal::Format;
use pgwire::api::results::FieldInfo;
use pgwire::error::{PgWireError, PgWireResult};
use pgwire::messages::data::{DataRow, FieldDescription, RowDescription};

use super::parameters::checked;
use super::refusal::{code, error};
use crate::error::SqlError;

/// What a statement leads to.
pub(super) enum Answer {
    /// Nothing but a word.
    Done(String),
    /// Rows, with their columns, and whether they are estimates.
    Rows {
        schema: SchemaRef,
        batches: Vec<RecordBatch>,
        word: &'static str,
        is_model: bool,
    },
    /// Nothing was asked.
    Empty,
}

/// Rows that a client has not fetched yet.
pub(super) struct Cursor {
    fields: Arc<Vec<FieldInfo>>,
    batches: VecDeque<RecordBatch>,
    current: Option<RowEncoder>,
    left: usize,
    pub(super) word: &'static str,
}

impl Cursor {
    /// Rows in these columns; where the client was told of others before, in those.
    pub(super) fn new(
        own: &SchemaRef,
        batches: Vec<RecordBatch>,
        word: &'static str,
        told: Option<&SchemaRef>,
        format: &Format,
    ) -> PgWireResult<Self> {
        let (schema, batches) = match told {
            Some(told) => (told, as_told(batches, own, told)?),
            None => (own, batches),
        };
        Ok(Self {
            fields: Arc::new(fields(schema, format)?),
            left: batches.iter().map(RecordBatch::num_rows).sum(),
            batches: batches.into(),
            current: None,
            word,
        })
    }

    pub(super) fn description(&self) -> RowDescription {
        description(&self.fields)
    }

    /// How many rows are left.
    pub(super) const fn left(&self) -> usize {
        self.left
    }

    /// The next row.
    pub(super) fn next(&mut self) -> Option<PgWireResult<DataRow>> {
        loop {
            if let Some(row) = self.current.as_mut().and_then(RowEncoder::next_row) {
                self.left = self.left.saturating_sub(1);
                return Some(row);
            }
            let batch = self.batches.pop_front()?;
            self.current = Some(RowEncoder::new(batch, Arc::clone(&self.fields)));
        }
    }
}

/// The columns of an answer as clients know them.
pub(super) fn fields(schema: &Schema, format: &Format) -> PgWireResult<Vec<FieldInfo>> {
    checked(format, schema.fields().len())?;
    arrow_schema_to_pg_fields(schema, format, None)
}

pub(super) fn description(fields: &[FieldInfo]) -> RowDescription {
    let all = fields.iter().map(FieldDescription::from);
    RowDescription::new(all.collect())
}

/// The one column of a setting.
pub(super) fn shown(name: &str) -> SchemaRef {
    Arc::new(Schema::new(vec![Field::new(name, DataType::Utf8, false)]))
}

/// Rows in the types that the client was told; whole numbers become the numbers that they are.
fn as_told(
    batches: Vec<RecordBatch>,
    own: &SchemaRef,
    told: &SchemaRef,
) -> PgWireResult<Vec<RecordBatch>> {
    let changed = || {
        error(
            code::NOT_SUPPORTED,
            "the statement's columns are others than when it was prepared\nhint: prepare it again",
        )
    };
    let (own, told) = (own.fields(), told.fields());
    let is_whole =
        |from: &DataType, to: &DataType| *from == DataType::Int64 && *to == DataType::Float64;
    let fits = |(own, told): (&Arc<Field>, &Arc<Field>)| {
        let (from, to) = (own.data_type(), told.data_type());
        own.name() == told.name() && (from == to || is_whole(from, to))
    };
    if own.len() != told.len() || !own.iter().zip(told).all(fits) {
        return Err(changed());
    }
    let fields = told
        .iter()
        .map(|field| field.as_ref().clone().with_nullable(true));
    let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    let cast_batch = |batch: RecordBatch| {
        let columns = batch.columns().iter().zip(told);
        let columns = columns.map(|(column, field)| cast(column, field.data_type()));
        RecordBatch::try_new(Arc::clone(&schema), columns.collect::<Result<_, _>>()?)
    };
    let cast_all = batches.into_iter().map(cast_batch);
    cast_all.collect::<Result<_, _>>().map_err(broken)
}

fn broken(error: arrow::error::ArrowError) -> PgWireError {
    let reason = error.to_string();
    SqlError::Running { reason }.into()
}
