//! The table of a study, as the planner finds it by name. Plans are rewritten before they run, so that no plan
//! reads the table itself: it ends in rows or totals.

use std::sync::Arc;

use arrow::datatypes::{Schema as ArrowSchema, SchemaRef};
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::error::Result;
use datafusion::logical_expr::{Expr, TableType};
use datafusion::physical_plan::ExecutionPlan;
use hedgerow_protocols::query::Condition;

use super::columns::{Part, TableColumn, Wanted, columns};
use super::rows::RowsTable;
use crate::mode::Mode;
use crate::source::Source;

/// The table of a study.
#[derive(Debug, Clone)]
pub(crate) struct StudyTable {
    source: Arc<dyn Source>,
    columns: Arc<Vec<TableColumn>>,
    schema: SchemaRef,
}

impl StudyTable {
    pub(crate) fn new(source: Arc<dyn Source>) -> Self {
        let columns = columns(source.as_ref());
        let fields: Vec<_> = columns.iter().map(|column| column.field.clone()).collect();
        Self {
            source,
            columns: Arc::new(columns),
            schema: Arc::new(ArrowSchema::new(fields)),
        }
    }

    pub(crate) fn source(&self) -> &Arc<dyn Source> {
        &self.source
    }

    /// A column of the table.
    pub(crate) fn column(&self, name: &str) -> Option<&TableColumn> {
        self.columns
            .iter()
            .find(|column| column.field.name() == name)
    }

    /// Every column of the table.
    pub(crate) fn columns(&self) -> &[TableColumn] {
        &self.columns
    }

    /// Whether a column's text is of cells.
    pub(crate) fn is_uncertain(&self, name: &str) -> bool {
        self.column(name)
            .is_some_and(|column| column.part == Part::Printed)
    }
}

#[async_trait]
impl TableProvider for StudyTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let wanted = self.columns.iter().cloned().map(Wanted::Column).collect();
        let rows = RowsTable::new(
            Arc::clone(&self.source),
            Condition::everything(),
            (Mode::Possible, String::from("true")),
            wanted,
            None,
        );
        rows.scan(state, projection, filters, limit).await
    }
}
