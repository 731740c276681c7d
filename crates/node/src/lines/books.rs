//! The numbers that a run and its connections share about their links, and who is woken when they
//! change. The journal's thread enters each frame here once the frame is kept.

use std::sync::{Mutex, MutexGuard, PoisonError};

use hedgerow_smc::network::NetworkError;
use tokio::sync::Notify;

use super::OF_A_FRAME;
use super::error::{LineError, as_network_error};
use super::peer::Peer;
use crate::journal::JournalError;
use crate::message::End;

/// The links of a run.
pub(super) struct Books {
    state: Mutex<State>,
    /// For each site: wakes the connection that has something to send.
    pub(super) outgoing: Vec<Notify>,
    /// Something changed that the end of a run may wait for.
    pub(super) changed: Notify,
}

/// The journal's answer about a frame that this site sends.
pub(super) enum Kept {
    /// The frame is in the journal now.
    New(Vec<u8>),
    /// The same frame was sent before a restart.
    Known,
    /// Another frame of this number was sent before a restart.
    Other,
}

/// How the links stand.
pub(super) struct State {
    pub(super) peers: Vec<Peer>,
    pub(super) failure: Option<LineError>,
    /// What connections tell their peers when this site ends early.
    pub(super) end: Option<End>,
}

impl Books {
    pub(super) fn new(peers: Vec<Peer>) -> Self {
        Self {
            outgoing: peers.iter().map(|_| Notify::new()).collect(),
            state: Mutex::new(State {
                peers,
                failure: None,
                end: None,
            }),
            changed: Notify::new(),
        }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        // Numbers are changed in one step each, so a panic elsewhere leaves them whole.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Enters that a frame to a peer is kept, or that it differs from the frame that was sent before a
    /// restart.
    pub(super) fn sent(
        &self,
        (to, name): (u16, String),
        number: u64,
        kept: Result<Kept, JournalError>,
    ) -> Result<(), NetworkError> {
        let mut state = self.lock();
        let failure = match kept {
            Ok(kept @ (Kept::New(_) | Kept::Known)) => {
                let peer = &mut state.peers[usize::from(to)];
                if let Kept::New(frame) = kept {
                    peer.fresh_sent.put(number, frame);
                }
                peer.made = number + 1;
                peer.sent = peer.sent.max(peer.made);
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

    /// Enters that the next frame from a peer is kept, unless the frame was a duplicate.
    pub(super) fn received(&self, from: u16, kept: Result<Option<Vec<u8>>, JournalError>) {
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
            }
            Ok(None) => {}
            Err(error) => state.fail(LineError::Journal(error.to_string())),
        }
    }
}

impl State {
    /// A peer that has given the run up.
    pub(super) fn giver(&self) -> Option<u16> {
        let mut peers = self.peers.iter();
        let giver = peers.position(|peer| peer.ended == Some(End::GivenUp));
        // There are at most 250 sites.
        giver.map(|place| place as u16)
    }

    /// A peer without which the run does not go on, by the peer's own word: the peer has given the run
    /// up, or cannot take its part.
    pub(super) fn missing(&self) -> Option<(u16, End)> {
        let given_up = self.giver().map(|giver| (giver, End::GivenUp));
        // There are at most 250 sites.
        let mut ends = (0u16..).zip(self.peers.iter().map(|peer| peer.ended));
        given_up.or_else(|| {
            ends.find_map(|(place, end)| match end {
                Some(end @ (End::Own | End::Unsound)) => Some((place, end)),
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
