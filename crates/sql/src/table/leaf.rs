//! A leaf of a plan: one partition, which is the answer to questions.

use std::fmt;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::TaskContext;
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, Partitioning, PlanProperties,
    ReplaceChildrenOptions, SendableRecordBatchStream,
};
use futures_util::future::BoxFuture;
use futures_util::{StreamExt, TryStreamExt, stream};

/// Rows of a batch: what an expression makes of a row may be large.
const ROWS: usize = 1024;

/// What asks the questions of a leaf.
pub(super) trait Asking: fmt::Debug + Send + Sync {
    /// The leaf in one line of `EXPLAIN`.
    fn line(&self) -> String;

    /// Asks, and puts the answer into a batch of the leaf's schema.
    fn ask(self: Arc<Self>) -> BoxFuture<'static, Result<RecordBatch>>;
}

/// A leaf that asks when it is run.
#[derive(Debug)]
pub(super) struct LeafExec {
    asking: Arc<dyn Asking>,
    projection: Option<Vec<usize>>,
    properties: Arc<PlanProperties>,
}

impl LeafExec {
    /// A leaf whose batches have `schema` before they are projected.
    pub(super) fn new(
        asking: Arc<dyn Asking>,
        schema: &SchemaRef,
        projection: Option<Vec<usize>>,
    ) -> Result<Self> {
        let schema = match &projection {
            Some(projection) => Arc::new(schema.project(projection)?),
            None => Arc::clone(schema),
        };
        let properties = PlanProperties::new(
            EquivalenceProperties::new(schema),
            Partitioning::UnknownPartitioning(1),
            EmissionType::Final,
            Boundedness::Bounded,
        );
        Ok(Self {
            asking,
            projection,
            properties: Arc::new(properties),
        })
    }
}

impl DisplayAs for LeafExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.asking.line())
    }
}

impl ExecutionPlan for LeafExec {
    fn name(&self) -> &str {
        "LeafExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        Vec::new()
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn replace_children(
        self: Arc<Self>,
        _: Vec<Arc<dyn ExecutionPlan>>,
        _: ReplaceChildrenOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(self)
    }

    fn with_new_children(
        self: Arc<Self>,
        _: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(self)
    }

    fn execute(&self, _: usize, _: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let (asking, projection) = (Arc::clone(&self.asking), self.projection.clone());
        let answer = async move {
            let batch = asking.ask().await?;
            Ok::<_, DataFusionError>(match projection {
                Some(projection) => batch.project(&projection)?,
                None => batch,
            })
        };
        let schema = Arc::clone(self.properties.equivalence_properties().schema());
        let batches = stream::once(answer).map_ok(|batch| {
            let starts = (0..batch.num_rows().max(1)).step_by(ROWS);
            let part = move |start: usize| {
                batch.slice(start, ROWS.min(batch.num_rows().saturating_sub(start)))
            };
            stream::iter(starts.map(part)).map(Ok)
        });
        let stream = RecordBatchStreamAdapter::new(schema, batches.try_flatten());
        Ok(Box::pin(stream))
    }
}
