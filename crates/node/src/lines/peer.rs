//! One link of a run, in numbers.

use std::task::Waker;
use std::time::Instant;

use tokio::sync::oneshot;

use super::fresh::Fresh;
use crate::journal::{JournalError, Tables, Way};
use crate::message::End;

/// One link: numbers of frames, and how it stands with the connection.
pub(super) struct Peer {
    /// Frames to it that are in the journal.
    pub(super) sent: u64,
    /// Frames to it that this life of the run has made; behind `sent` while replaying.
    pub(super) made: u64,
    /// Frames from it that are in the journal.
    pub(super) received: u64,
    /// Frames from it that this life of the run has taken.
    pub(super) taken: u64,
    /// Frames from it that were in the journal when this life began.
    pub(super) replayed: u64,
    /// Frames to it, and from it, that are in the journal and at hand.
    pub(super) fresh_sent: Fresh,
    pub(super) fresh_received: Fresh,
    /// The next frame from it, on its way out of the journal.
    pub(super) reading: Option<oneshot::Receiver<Result<Vec<u8>, JournalError>>>,
    /// Bytes of frames that came in this life and were not taken yet.
    pub(super) ahead: u64,
    /// Frames to it that it has in its own journal, as it says.
    pub(super) seen: u64,
    /// Frames from it of which it knows that they are in the journal here.
    pub(super) told: u64,
    pub(super) waiting: Option<(Waker, Instant)>,
    /// Since when the run waits for its next frame, however often it came and went.
    pub(super) awaited: Option<Instant>,
    /// The present connection's number, and what ends it.
    pub(super) connection: Option<(u64, oneshot::Sender<()>)>,
    pub(super) connections: u64,
    /// Since when there is no connection, where there is none.
    pub(super) since: Instant,
    /// What the last attempt to connect came to.
    pub(super) last: Option<String>,
    pub(super) ended: Option<End>,
    /// Whether it has everything and knows that this site has, as it says or the journal.
    pub(super) is_over: bool,
}

impl Peer {
    /// The link to a peer as the journal has it when a life of the run begins.
    pub(super) fn new(tables: &Tables, run: i64, peer: u16) -> Result<Self, JournalError> {
        let received = tables.count(run, peer, Way::Received)?;
        Ok(Self {
            sent: tables.count(run, peer, Way::Sent)?,
            made: 0,
            received,
            taken: 0,
            replayed: received,
            fresh_sent: Fresh::default(),
            fresh_received: Fresh::default(),
            reading: None,
            ahead: 0,
            seen: 0,
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
