//! The numbers that a run and its connections share about their links, and who is woken when they
//! change. The journal's thread enters each frame here once the frame is kept.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hedgerow_smc::network::NetworkError;
use tokio::sync::Notify;

use super::OF_A_FRAME;
use super::error::{LineError, as_network_error};
use super::peer::Peer;
use super::unseen::Held;
use crate::journal::JournalError;
use crate::message::End;

/// Bytes of frames that peers have not confirmed, in memory; beyond that, whoever sends waits, and then
/// frames wait on disk.
const MOST_UNSEEN: u64 = 1 << 27;

/// Whoever sends waits for so long while no peer confirms anything. Two sites that send each other more
/// than either has room for would wait for each other for ever.
const STALL: Duration = Duration::from_secs(1);

/// The links of a run.
pub(super) struct Books {
    state: Mutex<State>,
    /// For each site: wakes the connection that has something to send.
    pub(super) outgoing: Vec<Notify>,
    /// Something changed that the end of a run may wait for.
    pub(super) changed: Notify,
    /// Frames came that may not be on disk yet.
    pub(super) unsynced: Notify,
    /// A peer confirmed frames.
    room: Condvar,
}

/// The journal's answer about a frame that this site sends.
pub(super) enum Kept {
    /// The frame is marked, now or before a restart, and here for the peer.
    Marked(Held),
    /// Another frame of this number was sent before a restart.
    Other,
}

/// Where there is room for a frame that this site sends.
pub(super) enum Room {
    InMemory,
    OnDisk,
    /// The peer has the frame from before a restart.
    NotNeeded,
}

/// How the links stand.
pub(super) struct State {
    pub(super) peers: Vec<Peer>,
    pub(super) failure: Option<LineError>,
    /// What connections tell their peers when this site ends early.
    pub(super) end: Option<End>,
    /// Bytes of frames in memory that peers have not confirmed.
    pub(super) unseen: u64,
    /// Whether no peer confirms anything while there is no room.
    is_stalled: bool,
}

impl Books {
    pub(super) fn new(peers: Vec<Peer>) -> Self {
        Self {
            outgoing: peers.iter().map(|_| Notify::new()).collect(),
            state: Mutex::new(State {
                peers,
                failure: None,
                end: None,
                unseen: 0,
                is_stalled: false,
            }),
            changed: Notify::new(),
            unsynced: Notify::new(),
            room: Condvar::new(),
        }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        // Numbers are changed in one step each, so a panic elsewhere leaves them whole.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until there is room in memory for a frame, or no peer confirms anything any more.
    pub(super) fn wait_for_room(&self, bytes: usize) {
        let mut state = self.lock();
        while state.failure.is_none() && !state.is_stalled && !state.has_room(bytes) {
            let before = state.unseen;
            let waited = self.room.wait_timeout(state, STALL);
            let timeout;
            (state, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
            state.is_stalled = timeout.timed_out() && state.unseen == before;
        }
    }

    /// Where there is room for a frame to a peer.
    pub(super) fn room_for(&self, to: u16, number: u64, bytes: usize) -> Room {
        let state = self.lock();
        if number < state.peers[usize::from(to)].unseen.first() {
            return Room::NotNeeded;
        }
        match state.has_room(bytes) {
            true => Room::InMemory,
            false => Room::OnDisk,
        }
    }

    /// Enters that a peer has all frames below a number for good; whether frames that waited on disk
    /// are forgotten.
    pub(super) fn seen(&self, state: &mut State, by: u16, next: u64) -> bool {
        let peer = &mut state.peers[usize::from(by)];
        if next > peer.seen {
            peer.seen = next;
            peer.confirmed = Some(Instant::now());
        }
        let forgotten = peer.unseen.forget(next);
        peer.unnoted += forgotten.bytes;
        state.unseen -= forgotten.bytes;
        if forgotten.bytes > 0 {
            state.is_stalled = false;
            self.room.notify_all();
        }
        self.changed.notify_waiters();
        forgotten.waited
    }

    /// Enters that so many frames of each peer are on disk for good.
    pub(super) fn synced(&self, counts: &[u64]) {
        let mut state = self.lock();
        for (peer, count) in state.peers.iter_mut().zip(counts) {
            peer.durable = peer.durable.max(*count);
        }
        drop(state);
        self.outgoing.iter().for_each(Notify::notify_one);
    }

    /// Enters that a frame to a peer is marked, or that it differs from the frame that was sent before
    /// a restart. Where `is_durable`, everything that came before is on disk with it.
    pub(super) fn sent(
        &self,
        (to, name): (u16, String),
        number: u64,
        kept: Result<Kept, JournalError>,
        is_durable: bool,
    ) -> Result<(), NetworkError> {
        let mut state = self.lock();
        let failure = match kept {
            Ok(Kept::Marked(held)) => {
                let peer = &mut state.peers[usize::from(to)];
                let bytes = peer.unseen.put(number, held);
                peer.made = number + 1;
                peer.sent = peer.sent.max(peer.made);
                state.unseen += bytes;
                if is_durable {
                    state.all_durable();
                }
                self.outgoing[usize::from(to)].notify_one();
                return Ok(());
            }
            Ok(Kept::Other) => LineError::Diverged { peer: name, number },
            Err(error) => LineError::Journal(error.to_string()),
        };
        let error = as_network_error(&failure);
        state.fail(failure);
        Err(error)
    }

    /// Whether a frame is the next from a peer, and the run may still use it.
    pub(super) fn is_due(&self, from: u16, number: u64) -> bool {
        let state = self.lock();
        state.failure.is_none() && state.peers[usize::from(from)].received == number
    }

    /// Enters that the next frame from a peer is kept, unless the frame was a duplicate; on disk with
    /// everything before it where `is_durable`.
    pub(super) fn received(
        &self,
        from: u16,
        kept: Result<Option<Vec<u8>>, JournalError>,
        is_durable: bool,
    ) {
        let mut state = self.lock();
        match kept {
            Ok(Some(frame)) => {
                let peer = &mut state.peers[usize::from(from)];
                peer.ahead += frame.len() as u64 + OF_A_FRAME;
                peer.fresh_received.put(peer.received, frame);
                peer.received += 1;
                if let Some((waker, _)) = peer.waiting.take() {
                    waker.wake();
                }
                if is_durable {
                    state.all_durable();
                    self.outgoing[usize::from(from)].notify_one();
                } else {
                    self.unsynced.notify_one();
                }
            }
            Ok(None) => {}
            Err(error) => state.fail(LineError::Journal(error.to_string())),
        }
    }
}

impl State {
    fn has_room(&self, bytes: usize) -> bool {
        self.unseen == 0 || self.unseen + bytes as u64 <= MOST_UNSEEN
    }

    fn all_durable(&mut self) {
        for peer in &mut self.peers {
            peer.durable = peer.received;
        }
    }

    /// A peer that has given the run up.
    pub(super) fn giver(&self) -> Option<u16> {
        let mut peers = self.peers.iter();
        let giver = peers.position(|peer| peer.ended == Some(End::GivenUp));
        // There are at most 1,000 sites.
        giver.map(|place| place as u16)
    }

    /// A peer without which the run does not go on, by the peer's own word: the peer has given the run
    /// up, or cannot take its part.
    pub(super) fn missing(&self) -> Option<(u16, End)> {
        let given_up = self.giver().map(|giver| (giver, End::GivenUp));
        // There are at most 1,000 sites.
        let mut ends = (0u16..).zip(self.peers.iter().map(|peer| peer.ended));
        given_up.or_else(|| {
            ends.find_map(|(place, end)| match end {
                Some(end @ (End::Own | End::Unsound | End::HeldBack)) => Some((place, end)),
                _ => None,
            })
        })
    }

    /// Remembers the first failure and wakes whoever waits.
    pub(super) fn fail(&mut self, failure: LineError) {
        self.failure.get_or_insert(failure);
        for peer in &mut self.peers {
            if let Some((waker, _)) = peer.waiting.take() {
                waker.wake();
            }
        }
    }
}
