//! Sees that frames that came are on disk for good, so that they may be confirmed: what a peer hears
//! confirmed, it forgets.
//!
//! Frames are synced a few milliseconds after they came, all that came meanwhile at once, on a thread
//! aside: neither the journal's thread nor the protocol waits for it.

use super::Shared;

impl Shared {
    /// Syncs whenever frames came.
    pub(crate) async fn sync_always(&self) {
        loop {
            self.books.unsynced.notified().await;
            tokio::time::sleep(self.limits.gather).await;
            self.sync().await;
        }
    }

    /// Syncs the frames that came until now, and has them confirmed.
    pub(super) async fn sync(&self) {
        let received: Vec<u64> = {
            let state = self.lock();
            state.peers.iter().map(|peer| peer.received).collect()
        };
        let written = self.written.clone();
        let synced = tokio::task::spawn_blocking(move || written.sync()).await;
        match synced {
            Ok(Ok(())) => self.books.synced(&received),
            // What may not be on disk is not confirmed, and the run cannot go on without it.
            Ok(Err(error)) => self.journal_failed(&error),
            // The runtime is at its end.
            Err(_) => {}
        }
    }
}
