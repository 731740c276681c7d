//! Rows of the table that satisfy a condition, as the answer to one question for rows.

use std::sync::Arc;

use arrow::array::{ArrayRef, Float64Array, RecordBatch};
use arrow::datatypes::{DataType, Field, Schema as ArrowSchema, SchemaRef};
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::error::Result;
use datafusion::logical_expr::{Expr, TableType};
use datafusion::physical_plan::ExecutionPlan;
use futures_util::future::BoxFuture;
use hedgerow_data::Cell;
use hedgerow_protocols::query::{Answer, Answered, Condition, Question};

use super::columns::{Wanted, batch};
use super::leaf::{Asking, LeafExec};
use crate::mode::Mode;
use crate::source::Source;

/// The rows that satisfy a condition.
#[derive(Debug, Clone)]
pub(crate) struct RowsTable {
    source: Arc<dyn Source>,
    condition: Condition,
    mode: Mode,
    /// The condition in SQL.
    text: String,
    wanted: Vec<Wanted>,
    /// The name of the column with the share of the condition.
    share: Option<String>,
    schema: SchemaRef,
}

impl RowsTable {
    pub(crate) fn new(
        source: Arc<dyn Source>,
        condition: Condition,
        (mode, text): (Mode, String),
        wanted: Vec<Wanted>,
        share: Option<String>,
    ) -> Self {
        let mut fields: Vec<Field> = wanted.iter().map(Wanted::field).collect();
        let share_field = |name: &String| Field::new(name, DataType::Float64, true);
        fields.extend(share.as_ref().map(share_field));
        Self {
            source,
            condition,
            mode,
            text,
            wanted,
            share,
            schema: Arc::new(ArrowSchema::new(fields)),
        }
    }
}

#[async_trait]
impl TableProvider for RowsTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::Temporary
    }

    async fn scan(
        &self,
        _: &dyn Session,
        projection: Option<&Vec<usize>>,
        _: &[Expr],
        _: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        // Only the columns that are needed are asked for.
        let places: Vec<usize> = match projection {
            Some(places) => places.clone(),
            None => (0..self.schema.fields().len()).collect(),
        };
        let is_share = |place: &usize| *place == self.wanted.len();
        let wanted = places.iter().filter_map(|place| self.wanted.get(*place));
        let asked = Self::new(
            Arc::clone(&self.source),
            self.condition.clone(),
            (self.mode, self.text.clone()),
            wanted.cloned().collect(),
            self.share.clone().filter(|_| places.iter().any(is_share)),
        );
        // The share stands last in what is asked, and where the plan wants it afterwards.
        let last = asked.schema.fields().len().saturating_sub(1);
        let mut next = 0;
        let order = places.iter().map(|place| match is_share(place) {
            true => last,
            false => {
                next += 1;
                next - 1
            }
        });
        let order: Vec<usize> = order.collect();
        let schema = Arc::clone(&asked.schema);
        Ok(Arc::new(LeafExec::new(
            Arc::new(asked),
            &schema,
            Some(order),
        )?))
    }
}

impl Asking for RowsTable {
    fn line(&self) -> String {
        let columns: Vec<&str> = self.wanted.iter().map(Wanted::name).collect();
        let (columns, text, mode) = (columns.join(", "), &self.text, self.mode);
        format!("HedgerowRows: columns=[{columns}], where={text}, answer={mode}")
    }

    fn ask(self: Arc<Self>) -> BoxFuture<'static, Result<RecordBatch>> {
        Box::pin(async move {
            let mut attributes: Vec<usize> =
                self.wanted.iter().flat_map(Wanted::attributes).collect();
            attributes.sort_unstable();
            attributes.dedup();
            if attributes.is_empty() {
                // Rows are counted by one of their columns.
                let condition = self.condition.columns();
                let all = 0..self.source.schema().attributes().len();
                let is_known = |position: &usize| {
                    let attribute = &self.source.schema().attributes()[*position];
                    self.source.has(*position) && attribute.domain.size() > 0
                };
                attributes.extend(condition.into_iter().chain(all).find(is_known));
            }
            let question = Question {
                condition: self.condition.clone(),
                answer: Answer::Rows {
                    columns: attributes.clone(),
                },
            };
            let found = match self.source.ask(question).await? {
                Answered::Rows(found) => found,
                Answered::Totals(_) => Vec::new(),
            };
            let is_shown = |certain: bool| self.mode != Mode::Certain || certain;
            let found = found.into_iter().filter(|row| is_shown(row.truth.certain));
            let (cells, shares): (Vec<Vec<Cell>>, Vec<f64>) =
                found.map(|row| (row.cells, row.truth.share)).unzip();
            let rows = batch(self.source.schema(), &attributes, &cells, &self.wanted)?;
            if self.share.is_none() {
                return Ok(rows);
            }
            let mut arrays = rows.columns().to_vec();
            let shares: ArrayRef = Arc::new(Float64Array::from(shares));
            arrays.push(shares);
            Ok(RecordBatch::try_new(Arc::clone(&self.schema), arrays)?)
        })
    }
}
