//! A step of a plan that counts what passes it against the limit of memory, and for as long as the plan runs.
//! Window functions keep all rows that they get, and the engine does not count these.

use std::fmt;
use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::error::Result;
use datafusion::execution::TaskContext;
use datafusion::execution::memory_pool::MemoryConsumer;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    ChildrenPropertiesMode, DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties,
    ReplaceChildrenOptions, SendableRecordBatchStream,
};
use futures_util::StreamExt as _;

/// Puts a meter below every step that keeps rows which the engine does not count.
pub(crate) fn metered(plan: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    let meter = |step: Arc<dyn ExecutionPlan>| {
        if !step.name().ends_with("WindowAggExec") {
            return Ok(Transformed::no(step));
        }
        let below = step.children().into_iter().cloned();
        let below = below.map(|input| Arc::new(Meter { input }) as Arc<dyn ExecutionPlan>);
        let below = below.collect();
        let options = ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute);
        step.replace_children(below, options).map(Transformed::yes)
    };
    Ok(plan.transform_up(meter)?.data)
}

#[derive(Debug)]
struct Meter {
    input: Arc<dyn ExecutionPlan>,
}

impl DisplayAs for Meter {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Meter")
    }
}

impl ExecutionPlan for Meter {
    fn name(&self) -> &str {
        "Meter"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.input.properties()
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        vec![true]
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn replace_children(
        self: Arc<Self>,
        mut children: Vec<Arc<dyn ExecutionPlan>>,
        _: ReplaceChildrenOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(match children.pop() {
            Some(input) => Arc::new(Self { input }),
            None => self,
        })
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let options = ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute);
        self.replace_children(children, options)
    }

    fn execute(&self, at: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let counted = MemoryConsumer::new("rows of a window").register(context.memory_pool());
        let stream = self.input.execute(at, context)?;
        let schema = stream.schema();
        let stream = stream.map(move |batch| {
            let batch = batch?;
            counted.try_grow(batch.get_array_memory_size())?;
            Ok(batch)
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, stream)))
    }
}
