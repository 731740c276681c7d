//! The lines of one question, or of a joining: a [`Network`] over the lines that all questions share.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use hedgerow_smc::network::NetworkError;
use hedgerow_smc::{Network, Site};
use tokio::time::{Sleep, sleep};

use super::state::{Shared, place};
use super::word::{Name, Word};

/// The lines of one question.
pub(super) struct Lines {
    shared: Arc<Shared>,
    name: Name,
    /// How long a peer may say nothing.
    silence: Duration,
    /// Since when this site waits for a peer's next frame.
    waiting: Option<(Instant, Pin<Box<Sleep>>)>,
}

impl Lines {
    pub(super) fn new(shared: &Arc<Shared>, name: Name, silence: Duration) -> Self {
        Self {
            shared: Arc::clone(shared),
            name,
            silence,
            waiting: None,
        }
    }
}

impl Network for Lines {
    fn send(&mut self, to: Site, bytes: Vec<u8>) -> Result<(), NetworkError> {
        let name = self.name;
        let frame = Word::Frame { name, bytes };
        let is_said = self.shared.say(place(to), &frame);
        is_said.then_some(()).ok_or(NetworkError::Closed)
    }

    fn poll_receive(
        &mut self,
        from: Site,
        context: &mut Context<'_>,
    ) -> Poll<Result<Vec<u8>, NetworkError>> {
        let found = self.shared.take(&self.name, place(from), context.waker());
        if let Some(found) = found {
            self.waiting = None;
            return Poll::Ready(found.map_err(|_| NetworkError::Closed));
        }
        let silence = self.silence;
        let waiting = self.waiting.get_or_insert_with(|| {
            let since = Instant::now();
            (since, Box::pin(sleep(silence)))
        });
        match waiting.1.as_mut().poll(context) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(()) => {
                let waited = waiting.0.elapsed();
                Poll::Ready(Err(NetworkError::Silent { waited }))
            }
        }
    }
}
