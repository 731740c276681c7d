//! One link of a run to a peer, in numbers.

use std::task::Waker;
use std::time::Instant;

use tokio::sync::oneshot;

use super::fresh::Fresh;
use super::unseen::Unseen;
use crate::journal::{JournalError, Tables};
use crate::message::End;

/// One link: numbers of frames, and the state of the connection.
pub(super) struct Peer {
    /// Frames to the peer whose marks are in the journal.
    pub(super) sent: u64,
    /// Frames to the peer that this process has made; behind `sent` while replaying.
    pub(super) made: u64,
    /// Frames from the peer that are in the journal.
    pub(super) received: u64,
    /// Frames from the peer that this process has taken.
    pub(super) taken: u64,
    /// Frames from the peer that were in the journal when this process began.
    pub(super) replayed: u64,
    /// Frames from the peer that are on disk for good.
    pub(super) durable: u64,
    /// Frames from the peer that are in the journal and at hand.
    pub(super) fresh_received: Fresh,
    /// Frames to the peer that it has not confirmed.
    pub(super) unseen: Unseen,
    /// The next frame from the peer, on its way out of the journal.
    pub(super) reading: Option<oneshot::Receiver<Result<Vec<u8>, JournalError>>>,
    /// Bytes of frames that came in this life and were not taken yet.
    pub(super) ahead: u64,
    /// Frames that the peer has for good, by the peer's word.
    pub(super) seen: u64,
    /// When the peer last confirmed more; `None` if it did not while this process lives.
    pub(super) confirmed: Option<Instant>,
    /// Bytes of frames that the peer has confirmed since it was last noted in the journal.
    pub(super) unnoted: u64,
    /// Frames that the peer has received, by the word of its greetings.
    pub(super) greeted: u64,
    /// Frames that are in this journal for good, and the peer knows.
    pub(super) told: u64,
    pub(super) waiting: Option<(Waker, Instant)>,
    /// Since when the run waits for the peer's next frame, however often the peer came and went.
    pub(super) awaited: Option<Instant>,
    /// The present connection's number, and the sender that ends it.
    pub(super) connection: Option<(u64, oneshot::Sender<()>)>,
    pub(super) connections: u64,
    /// Since when there is no connection; meaningless while there is one.
    pub(super) since: Instant,
    /// The outcome of the last attempt to connect.
    pub(super) last: Option<String>,
    pub(super) ended: Option<End>,
    /// Whether the peer has everything and knows that this site has, by the peer's word or the journal.
    pub(super) is_over: bool,
}

impl Peer {
    /// The link to a peer as the journal has it when a process of the run begins.
    pub(super) fn new(tables: &Tables, run: i64, peer: u16) -> Result<Self, JournalError> {
        let (received, seen) = (tables.received(peer), tables.seen(peer));
        Ok(Self {
            sent: tables.marks(peer).len() as u64,
            made: 0,
            received,
            taken: 0,
            replayed: received,
            // What is found when a run begins was synced then.
            durable: received,
            fresh_received: Fresh::default(),
            unseen: Unseen::new(seen),
            reading: None,
            ahead: 0,
            seen,
            confirmed: None,
            unnoted: 0,
            greeted: 0,
            told: 0,
            waiting: None,
            awaited: None,
            connection: None,
            connections: 0,
            since: Instant::now(),
            last: None,
            ended: None,
            is_over: tables.is_settled(run, peer)?,
        })
    }
}
