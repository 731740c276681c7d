//! What was stopped ends, also where operators do not wait for anything.

#![allow(clippy::unwrap_used)]

use std::time::Instant;

use async_trait::async_trait;
use hedgerow_data::Schema;
use hedgerow_protocols::query::{Answered, Question};

use super::*;

/// A table without columns that nobody asks.
#[derive(Debug)]
struct Nothing(Arc<Schema>);

#[async_trait]
impl Source for Nothing {
    fn name(&self) -> &str {
        "nothing"
    }

    fn schema(&self) -> &Arc<Schema> {
        &self.0
    }

    fn has(&self, _: usize) -> bool {
        false
    }

    fn is_joined(&self, _: &[usize]) -> bool {
        true
    }

    async fn ask(&self, _: Question) -> Result<Answered, SqlError> {
        panic!("nobody asks");
    }
}

/// Joins that find nothing, and a total, for hours.
fn long() -> String {
    let values: Vec<String> = (0..1000).map(|number| format!("({number})")).collect();
    let values = values.join(", ");
    format!(
        "WITH v(a) AS (VALUES {values}) SELECT count(*) FROM v x JOIN v y ON x.a < y.a JOIN v z ON y.a * x.a < z.a JOIN v w ON w.a * z.a < x.a * y.a"
    )
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_statement_that_was_stopped_gives_its_turn_back_when_it_has_ended() {
    for is_left in [false, true] {
        let limits = Limits {
            time: Duration::from_secs(if is_left { 600 } else { 1 }),
            ..Limits::default()
        };
        let source = Arc::new(Nothing(Arc::new(Schema::new(Vec::new()))));
        let mut session = Session::new(source, limits).unwrap();
        let turn: Arc<dyn Any + Send + Sync> = Arc::new(());
        let held = Arc::downgrade(&turn);
        let sql = long();
        let running = TURN.scope(turn, async move { session.run(&sql).await.map(|_| ()) });
        if is_left {
            // Whoever asked has gone.
            let left = tokio::time::timeout(Duration::from_secs(2), running).await;
            assert!(left.is_err());
            assert!(
                held.upgrade().is_some(),
                "the turn goes before the work ends"
            );
        } else {
            let error = running.await.unwrap_err();
            assert!(matches!(error, SqlError::TooSlow { .. }), "{error}");
        }
        let began = Instant::now();
        while held.upgrade().is_some() {
            assert!(
                began.elapsed() < Duration::from_secs(60),
                "the work goes on"
            );
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}
