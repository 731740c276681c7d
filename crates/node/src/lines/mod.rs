//! A site's lines to its peers as a run sees them: numbered frames, through the journal.
//!
//! [`Lines`] is the `Network` of a run. A frame that it sends is marked in the journal before a connection
//! may take it, and stays in memory until the peer confirms it (`unseen`); a frame that it receives was
//! put into the journal by a connection first, and is confirmed once it is on disk for good (`sync`).
//! This module holds numbers (`books`), which the journal's thread changes when a frame is kept, and the
//! last few frames received, to be at hand (`fresh`). Nobody locks them while the disk is at work.
//! Connections come and go (see `connect`), and a run does not notice unless a peer is gone for longer
//! than this site's patience.
//!
//! There is room for 128 MiB of frames that peers have not confirmed. Beyond that, whoever sends waits
//! while peers confirm; where they do not, frames wait on disk: never is memory without bounds, and
//! never do two sites wait for each other.
//!
//! # Discloses
//! Nothing.

mod books;
mod error;
mod fresh;
mod limits;
mod patience;
mod peer;
mod sending;
mod sync;
mod unseen;

use std::future::Future as _;
use std::pin::{Pin, pin};
use std::sync::{Arc, MutexGuard};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use hedgerow_smc::network::NetworkError;
use hedgerow_smc::{Network, Site};
use tokio::sync::{Notify, oneshot};

use crate::agreement::StudyHash;
use crate::journal::{Journal, JournalError, Written};
use crate::message::{End, Reason};
use books::{Books, State};
pub use error::LineError;
use error::as_network_error;
pub use limits::Limits;
use peer::Peer;

/// Bytes that a peer may be ahead of the run; beyond that, its connection is not read.
const MOST_AHEAD: u64 = 1 << 26;

/// The most bytes that a frame takes in the journal beside its own.
const OF_A_FRAME: u64 = 64;

/// What the run and its connections share.
pub(crate) struct Shared {
    me: u16,
    names: Vec<String>,
    journal: Arc<Journal>,
    run: i64,
    /// The file of the run's frames.
    written: Written,
    limits: Limits,
    books: Arc<Books>,
}

impl Shared {
    pub(crate) async fn new(
        me: u16,
        names: Vec<String>,
        journal: Arc<Journal>,
        run: i64,
        limits: Limits,
    ) -> Result<Self, JournalError> {
        // There are at most 1,000 sites.
        let sites = names.len() as u16;
        let found = journal.ask(move |tables| {
            let peers: Result<_, JournalError> = (0..sites)
                .map(|peer| Peer::new(tables, run, peer))
                .collect();
            Ok((peers?, tables.written()?))
        });
        let (peers, written) = found.await?;
        Ok(Self {
            me,
            books: Arc::new(Books::new(peers)),
            written,
            names,
            journal,
            run,
            limits,
        })
    }

    pub(crate) const fn me(&self) -> u16 {
        self.me
    }

    pub(crate) const fn limits(&self) -> &Limits {
        &self.limits
    }

    pub(crate) fn name(&self, peer: u16) -> &str {
        &self.names[usize::from(peer)]
    }

    /// The other sites.
    pub(crate) fn peers(&self) -> impl Iterator<Item = u16> + use<> {
        let me = self.me;
        (0..self.names.len() as u16).filter(move |peer| *peer != me)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.books.lock()
    }

    /// Why nothing is sent or received any more.
    fn failed(&self) -> NetworkError {
        let failure = self.failure();
        as_network_error(failure.as_ref().unwrap_or(&LineError::Stopped))
    }

    /// The next frame from a peer, if it has arrived.
    pub(crate) fn poll_receive(
        &self,
        from: u16,
        context: &mut Context<'_>,
    ) -> Poll<Result<Vec<u8>, NetworkError>> {
        let mut state = self.lock();
        if let Some(failure) = &state.failure {
            return Poll::Ready(Err(as_network_error(failure)));
        }
        let giver = state.giver();
        let peer = &mut state.peers[usize::from(from)];
        if peer.taken < peer.received {
            let number = peer.taken;
            let read = match peer.fresh_received.take(number) {
                Some(frame) => Ok(frame),
                None => {
                    let reading = peer.reading.get_or_insert_with(|| {
                        let (answer, answered) = oneshot::channel();
                        self.journal.post(
                            move |tables| tables.get(from, number),
                            move |frame| {
                                let _ = answer.send(frame);
                            },
                        );
                        answered
                    });
                    let Poll::Ready(read) = Pin::new(reading).poll(context) else {
                        return Poll::Pending;
                    };
                    peer.reading = None;
                    read.unwrap_or_else(|_| Err(self.journal.gone()))
                }
            };
            match read {
                Ok(frame) => {
                    if peer.taken >= peer.replayed {
                        let taken = frame.len() as u64 + OF_A_FRAME;
                        peer.ahead = peer.ahead.saturating_sub(taken);
                    }
                    peer.taken += 1;
                    peer.waiting = None;
                    peer.awaited = None;
                    return Poll::Ready(Ok(frame));
                }
                Err(error) => state.fail(LineError::Journal(error.to_string())),
            }
        } else if let Some(end) = peer.ended {
            let given_up = giver.map(|giver| self.given_up(giver));
            let failure = given_up.unwrap_or_else(|| self.ended_error(from, end));
            state.fail(failure);
        } else if peer.is_over {
            let peer = self.name(from).to_owned();
            state.fail(LineError::Over { peer });
        } else {
            let since = peer
                .waiting
                .take()
                .map_or_else(Instant::now, |(_, since)| since);
            peer.waiting = Some((context.waker().clone(), since));
            peer.awaited.get_or_insert(since);
            return Poll::Pending;
        }
        match &state.failure {
            Some(failure) => Poll::Ready(Err(as_network_error(failure))),
            None => Poll::Pending,
        }
    }

    /// Takes a frame from a connection: the frame is kept first and handed on then. A frame that has
    /// arrived before is dropped; `false` for a frame that leaves a gap. If the connection ends
    /// meanwhile, the journal's thread still keeps the frame.
    pub(crate) async fn deliver(&self, from: u16, number: u64, frame: Vec<u8>) -> bool {
        if number > self.due(from) {
            return false;
        }
        let books = Arc::clone(&self.books);
        let (due, (done, kept)) = (Arc::clone(&books), oneshot::channel());
        self.journal.post(
            move |tables| {
                // Another connection may have brought the frame meanwhile.
                if !due.is_due(from, number) {
                    return Ok((None, false));
                }
                tables.put(from, &frame)?;
                Ok((Some(frame), tables.is_durable()))
            },
            move |kept| {
                let is_durable = kept.as_ref().is_ok_and(|(_, is_durable)| *is_durable);
                books.received(from, kept.map(|(frame, _)| frame), is_durable);
                let _ = done.send(());
            },
        );
        let _ = kept.await;
        true
    }

    /// Whether a peer is so far ahead that its connection should not be read for now. After a restart
    /// every peer counts as far ahead until the run has taken the frames of the journal; otherwise a
    /// peer could get further ahead with each restart.
    pub(crate) fn is_far_ahead(&self, peer: u16) -> bool {
        let state = self.lock();
        let peer = &state.peers[usize::from(peer)];
        peer.ahead >= MOST_AHEAD || peer.taken < peer.replayed
    }

    /// A peer says that its part has ended without a release.
    pub(crate) fn ended(&self, peer: u16, end: End) {
        let mut state = self.lock();
        let peer = &mut state.peers[usize::from(peer)];
        peer.ended = Some(end);
        if let Some((waker, _)) = peer.waiting.take() {
            waker.wake();
        }
        self.books.changed.notify_waiters();
    }

    /// A peer says that the run is over at its site: the peer has everything, and sends nothing more.
    pub(crate) fn over(&self, peer: u16) {
        let mut state = self.lock();
        let peer = &mut state.peers[usize::from(peer)];
        peer.is_over = true;
        if let Some((waker, _)) = peer.waiting.take() {
            waker.wake();
        }
        self.books.changed.notify_waiters();
    }

    pub(crate) fn is_connected(&self, peer: u16) -> bool {
        self.lock().peers[usize::from(peer)].connection.is_some()
    }

    /// Why this site does not take part in a run of the study any more; `None` where it may.
    pub(crate) async fn run_ended(&self, study: StudyHash, number: u32) -> Option<Reason> {
        let ended = self
            .journal
            .ask(move |tables| Ok(tables.ended(study, number)));
        ended.await.ok().flatten()
    }

    /// A connection to a peer is ready, and the peer expects the frame `next`. A connection that takes
    /// over ends an older one; any other is of no use while a connection exists.
    pub(crate) fn connected(&self, to: u16, next: u64, takes_over: bool) -> Option<Ready> {
        let mut state = self.lock();
        let peer = &mut state.peers[usize::from(to)];
        if peer.connection.is_some() && !takes_over {
            return None;
        }
        let (end, ended) = oneshot::channel();
        peer.connections += 1;
        peer.connection = Some((peer.connections, end));
        peer.last = None;
        // What the peer said of its end belongs to the peer's earlier process.
        peer.ended = None;
        peer.greeted = peer.greeted.max(next);
        if let Some((_, since)) = &mut peer.waiting {
            *since = Instant::now();
        }
        let mut ready = Ready {
            number: peer.connections,
            ended,
            cursor: next,
        };
        let first = peer.unseen.first();
        if next < first {
            // A greeting may be older than what the peer confirmed on another connection meanwhile.
            let handshake = self.limits.handshake.saturating_mul(2);
            if peer.confirmed.is_some_and(|at| at.elapsed() <= handshake) {
                ready.cursor = first;
            } else {
                let peer = self.name(to).to_owned();
                state.fail(LineError::Lacks { peer });
            }
        }
        Some(ready)
    }

    /// A connection has ended.
    pub(crate) fn disconnected(&self, from: u16, number: u64, why: String) {
        let mut state = self.lock();
        let peer = &mut state.peers[usize::from(from)];
        if matches!(peer.connection, Some((present, _)) if present == number) {
            peer.connection = None;
            peer.since = Instant::now();
            peer.last = Some(why);
        }
    }

    /// An attempt to connect came to nothing.
    pub(crate) fn attempt_failed(&self, to: u16, why: String) {
        self.lock().peers[usize::from(to)].last = Some(why);
    }

    /// The number of the next frame that is due from a peer.
    pub(crate) fn due(&self, from: u16) -> u64 {
        self.lock().peers[usize::from(from)].received
    }

    /// A peer was told, down to the line, that all frames below a number are here.
    pub(crate) fn told(&self, to: u16, next: u64) {
        let mut state = self.lock();
        let peer = &mut state.peers[usize::from(to)];
        peer.told = peer.told.max(next);
        self.books.changed.notify_waiters();
    }

    pub(crate) fn outgoing(&self, to: u16) -> &Notify {
        &self.books.outgoing[usize::from(to)]
    }

    /// Why the lines failed; `None` if they did not.
    pub(crate) fn failure(&self) -> Option<LineError> {
        self.lock().failure.clone()
    }

    /// Tells all connected peers that this site's part has ended.
    pub(crate) fn end(&self, end: End) {
        self.lock().end = Some(end);
        self.books.outgoing.iter().for_each(Notify::notify_one);
    }

    /// Ends the run at this site because its journal cannot be written.
    pub(crate) fn journal_failed(&self, error: &JournalError) {
        self.lock().fail(LineError::Journal(error.to_string()));
    }

    /// Ends the run at this site: nothing is sent or received any more.
    pub(crate) fn stop(&self) {
        self.lock().fail(LineError::Stopped);
    }

    /// The first peer that lacks something, or does not know that this site has everything. Peers that
    /// are done are noted: after a restart this site does not wait for them, since they may be gone by
    /// then.
    fn behind(&self) -> Option<u16> {
        let mut state = self.lock();
        let mut behind = None;
        for peer in self.peers() {
            let link = &mut state.peers[usize::from(peer)];
            // A peer that gave the run up wants nothing of it.
            if link.is_over || link.ended == Some(End::GivenUp) {
                continue;
            }
            if link.seen < link.sent || link.told < link.received {
                behind = behind.or(Some(peer));
                continue;
            }
            link.is_over = true;
            // A note that is lost costs patience, nothing else.
            let run = self.run;
            self.journal
                .post(move |tables| tables.settle(run, peer), |_| ());
        }
        behind
    }

    /// Waits until every peer has every frame, at most for `limit`; the peer that has not.
    pub(crate) async fn delivered(&self, limit: Duration) -> Option<u16> {
        let deadline = tokio::time::Instant::now() + limit;
        loop {
            let mut changed = pin!(self.books.changed.notified());
            // Any change from here on wakes the wait below.
            changed.as_mut().enable();
            let behind = self.behind()?;
            if tokio::time::timeout_at(deadline, changed).await.is_err() {
                return Some(behind);
            }
        }
    }

    /// Waits until no peer is connected, at most for `limit`.
    pub(crate) async fn alone(&self, limit: Duration) {
        let is_alone = async {
            while self.peers().any(|peer| self.is_connected(peer)) {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        let _ = tokio::time::timeout(limit, is_alone).await;
    }
}

/// A connection that may be used.
pub(crate) struct Ready {
    pub(crate) number: u64,
    /// Tells the connection to end.
    pub(crate) ended: oneshot::Receiver<()>,
    /// The frame that the connection sends first.
    pub(crate) cursor: u64,
}

/// What a connection may send next.
pub(crate) enum Saying {
    /// A frame with its number, which is not below the one that was asked for.
    Frame(u64, Vec<u8>),
    Seen(u64),
    Ended(End),
    Nothing,
}

/// The network of a run.
pub(crate) struct Lines(pub(crate) Arc<Shared>);

impl Network for Lines {
    fn send(&mut self, to: Site, frame: Vec<u8>) -> Result<(), NetworkError> {
        // A party speaks to sites of its run only, and those fit 16 bits.
        self.0.send(to.index() as u16, frame)
    }

    fn poll_receive(
        &mut self,
        from: Site,
        context: &mut Context<'_>,
    ) -> Poll<Result<Vec<u8>, NetworkError>> {
        self.0.poll_receive(from.index() as u16, context)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
