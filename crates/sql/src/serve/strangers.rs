//! Clients that have not shown a password yet. There are few places for them, and when all are taken the one
//! that has been there longest goes: a thousand that say nothing do not keep out who knows the password.

use std::collections::VecDeque;

use tokio::sync::oneshot;

/// The most clients before their password.
const MOST: usize = 128;

/// The places of clients that nobody knows yet, by when they came.
#[derive(Default)]
pub(super) struct Strangers(VecDeque<oneshot::Sender<()>>);

/// A place of a client that nobody knows yet.
pub(super) struct Stranger(oneshot::Receiver<()>);

impl Strangers {
    /// A place for who comes now.
    pub(super) fn admit(&mut self) -> Stranger {
        if self.0.len() >= MOST {
            self.0.retain(|place| !place.is_closed());
        }
        while self.0.len() >= MOST {
            if let Some(oldest) = self.0.pop_front() {
                // It may have gone just now.
                let _ = oldest.send(());
            }
        }
        let (sender, receiver) = oneshot::channel();
        self.0.push_back(sender);
        Stranger(receiver)
    }
}

impl Stranger {
    /// Waits until somebody else needs the place.
    pub(super) async fn pushed_out(self) {
        if self.0.await.is_err() {
            // The server ends, and this with it.
            std::future::pending::<()>().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_goes() {
        let mut strangers = Strangers::default();
        let mut first: Vec<Stranger> = (0..MOST).map(|_| strangers.admit()).collect();
        let known = first.remove(1);
        drop(known);
        // The place of who has gone is taken first.
        let _next = strangers.admit();
        assert!(
            first[0]
                .0
                .try_recv()
                .is_err_and(|why| why == oneshot::error::TryRecvError::Empty)
        );
        let _further = strangers.admit();
        assert!(first[0].0.try_recv().is_ok());
        assert!(first[1].0.try_recv().is_err());
    }
}
