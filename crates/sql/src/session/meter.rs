//! A step of a plan that lets nothing pass once its statement is to end, and that counts what passes it against the
//! limit of memory where the engine does not. Operators may work for minutes without waiting, so that nothing but
//! their input can end them; window functions keep all rows that they get, uncounted.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::TaskContext;
use datafusion::execution::memory_pool::MemoryConsumer;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    ChildrenPropertiesMode, DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties,
    ReplaceChildrenOptions, SendableRecordBatchStream,
};
use futures_util::StreamExt as _;

/// When a statement is to end.
#[derive(Debug, Clone)]
pub(crate) struct Stop {
    is_unwanted: Arc<AtomicBool>,
    at: Instant,
}

impl Stop {
    /// Ends after a time.
    pub(crate) fn after(time: Duration) -> Self {
        Self {
            is_unwanted: Arc::default(),
            at: Instant::now() + time,
        }
    }

    fn is_over(&self) -> bool {
        self.is_unwanted.load(Ordering::Relaxed) || Instant::now() >= self.at
    }
}

/// Ends a statement when nobody waits for it any more.
pub(crate) struct Waiting(pub(crate) Stop);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.is_unwanted.store(true, Ordering::Relaxed);
    }
}

/// Puts a meter above everything that steps read.
pub(crate) fn metered(plan: Arc<dyn ExecutionPlan>, stop: &Stop) -> Result<Arc<dyn ExecutionPlan>> {
    let meter = |step: Arc<dyn ExecutionPlan>| {
        let is_counted = step.name().ends_with("WindowAggExec");
        let below: Vec<_> = step.children().into_iter().cloned().collect();
        if below.is_empty() {
            return Ok(Transformed::no(step));
        }
        let below = below.into_iter().map(|input| {
            let stop = stop.clone();
            Arc::new(Meter {
                input,
                is_counted,
                stop,
            }) as Arc<dyn ExecutionPlan>
        });
        let below = below.collect();
        let options = ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute);
        step.replace_children(below, options).map(Transformed::yes)
    };
    Ok(plan.transform_up(meter)?.data)
}

#[derive(Debug)]
struct Meter {
    input: Arc<dyn ExecutionPlan>,
    /// Whether what passes is counted.
    is_counted: bool,
    stop: Stop,
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
            Some(input) => Arc::new(Self {
                input,
                is_counted: self.is_counted,
                stop: self.stop.clone(),
            }),
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
        let (is_counted, stop) = (self.is_counted, self.stop.clone());
        let stream = stream.map(move |batch| {
            if stop.is_over() {
                let why = "the statement was stopped";
                return Err(DataFusionError::Execution(String::from(why)));
            }
            let batch = batch?;
            if is_counted {
                counted.try_grow(batch.get_array_memory_size())?;
            }
            Ok(batch)
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, stream)))
    }
}
