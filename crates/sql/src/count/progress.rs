//! How far a count in this process is: what the plan's leaves say that they have read.

use std::sync::Arc;
use std::time::Duration;

use datafusion::physical_plan::ExecutionPlan;
use tokio::task::JoinHandle;

use super::Watch;

/// How often it is said.
const EVERY: Duration = Duration::from_millis(500);

/// Says it until it is dropped.
pub(super) struct Following(JoinHandle<()>);

/// Says how far a plan is. A cluster's plan says nothing until it is done.
pub(super) fn follow(
    plan: &Arc<dyn ExecutionPlan>,
    of: Option<u64>,
    watch: Arc<dyn Watch>,
) -> Following {
    let plan = Arc::clone(plan);
    Following(tokio::spawn(async move {
        let mut told = 0;
        loop {
            tokio::time::sleep(EVERY).await;
            let read = read(&plan);
            if read > told {
                told = read;
                watch.read(read, of);
            }
        }
    }))
}

impl Drop for Following {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// The records that the leaves have read.
fn read(plan: &Arc<dyn ExecutionPlan>) -> u64 {
    let children = plan.children();
    if children.is_empty() {
        let rows = plan.metrics().and_then(|metrics| metrics.output_rows());
        return rows.unwrap_or(0) as u64;
    }
    children.into_iter().map(read).sum()
}
