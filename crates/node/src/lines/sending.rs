//! Frames to peers: marked in the journal before they go, and kept until the peer confirms them.

use std::sync::{Arc, mpsc};

use hedgerow_smc::network::NetworkError;
use tokio::sync::oneshot;

use super::books::{Kept, Room};
use super::error::as_network_error;
use super::unseen::Held;
use super::{LineError, Saying, Shared};
use crate::journal::Marked;

/// What a peer has is noted in the journal each time it has confirmed so many bytes more: so many, at
/// most, are made again and kept for it after a restart in vain.
const NOTED: u64 = 1 << 20;

impl Shared {
    /// Sends a frame, or sees that it equals the frame that was sent before a restart. The frame's mark
    /// is in the journal when this returns, so only the protocol's own thread may call this.
    pub(crate) fn send(&self, to: u16, frame: Vec<u8>) -> Result<(), NetworkError> {
        self.books.wait_for_room(frame.len());
        let (answer, answered) = mpsc::sync_channel(1);
        self.keep_sent(to, frame, move |kept| {
            let _ = answer.send(kept);
        });
        answered.recv().unwrap_or_else(|_| Err(self.failed()))
    }

    /// The same for tasks.
    pub(crate) async fn send_on(&self, to: u16, frame: Vec<u8>) -> Result<(), NetworkError> {
        let (answer, answered) = oneshot::channel();
        self.keep_sent(to, frame, move |kept| {
            let _ = answer.send(kept);
        });
        answered.await.unwrap_or_else(|_| Err(self.failed()))
    }

    /// Has a frame of this site marked and kept for its peer; a frame that was sent before a restart is
    /// held against its mark.
    fn keep_sent(
        &self,
        to: u16,
        frame: Vec<u8>,
        then: impl FnOnce(Result<(), NetworkError>) + Send + 'static,
    ) {
        let number = {
            let state = self.lock();
            if let Some(failure) = &state.failure {
                let error = as_network_error(failure);
                drop(state);
                return then(Err(error));
            }
            state.peers[usize::from(to)].made
        };
        let (run, books, name) = (self.run, Arc::clone(&self.books), self.name(to).to_owned());
        let room = Arc::clone(&self.books);
        self.journal.post(
            move |tables| {
                if tables.mark(to, number, &frame)? == Marked::Other {
                    return Ok((Kept::Other, false));
                }
                let held = match room.room_for(to, number, frame.len()) {
                    Room::InMemory => Held::Here(Arc::new(frame)),
                    Room::NotNeeded => Held::Waiting,
                    Room::OnDisk => {
                        tables.put_waiting(run, to, number, &frame)?;
                        Held::Waiting
                    }
                };
                Ok((Kept::Marked(held), tables.is_durable()))
            },
            move |kept| {
                let is_durable = kept.as_ref().is_ok_and(|(_, is_durable)| *is_durable);
                let kept = kept.map(|(kept, _)| kept);
                then(books.sent((to, name), number, kept, is_durable));
            },
        );
    }

    /// A peer says that it has all frames below a number for good; `false` where this site has sent
    /// fewer. This site forgets them.
    pub(crate) fn seen(&self, by: u16, next: u64) -> bool {
        let mut state = self.lock();
        let peer = &state.peers[usize::from(by)];
        // A peer may have more than this site has sent, where a power cut took this site's last marks;
        // the frames follow again.
        if next > peer.sent.max(peer.seen).max(peer.greeted) {
            return false;
        }
        let has_waited = self.books.seen(&mut state, by, next);
        let peer = &mut state.peers[usize::from(by)];
        let (seen, is_noted) = (peer.seen, peer.unnoted >= NOTED);
        if is_noted {
            peer.unnoted = 0;
        }
        drop(state);
        if has_waited || is_noted {
            let books = Arc::clone(&self.books);
            self.journal.post(
                move |tables| {
                    if has_waited {
                        tables.forget_waiting(by, seen)?;
                    }
                    if is_noted {
                        tables.note_seen(by, seen)?;
                    }
                    Ok(())
                },
                move |noted| {
                    if let Err(error) = noted {
                        books.lock().fail(LineError::Journal(error.to_string()));
                    }
                },
            );
        }
        true
    }

    /// What a connection may send next, given what it has sent. Peers may wait for what is confirmed, so
    /// that goes first. A frame that the peer confirms while it is due here is left out: the peer may have
    /// it from an earlier connection.
    pub(crate) async fn to_say(&self, to: u16, cursor: u64, told: u64) -> Saying {
        let mut cursor = cursor;
        loop {
            {
                let state = self.lock();
                let peer = &state.peers[usize::from(to)];
                if told < peer.durable {
                    return Saying::Seen(peer.durable);
                }
                if cursor < peer.unseen.first() {
                    // Where the run has ended, the peer may lack what this site no longer has.
                    if let Some(end) = state.end {
                        return Saying::Ended(end);
                    }
                    cursor = peer.unseen.first();
                }
                match peer.unseen.get(cursor) {
                    Some(Held::Here(frame)) => return Saying::Frame(cursor, frame.to_vec()),
                    Some(Held::Waiting) => {}
                    None => return state.end.map_or(Saying::Nothing, Saying::Ended),
                }
            }
            let frame = self
                .journal
                .ask(move |tables| tables.waiting(to, cursor))
                .await;
            match frame {
                Ok(Some(bytes)) => return Saying::Frame(cursor, bytes),
                // The peer confirmed it meanwhile.
                Ok(None) if self.lock().peers[usize::from(to)].unseen.first() > cursor => {}
                Ok(None) => return Saying::Nothing,
                Err(error) => {
                    self.journal_failed(&error);
                    return Saying::Nothing;
                }
            }
        }
    }
}
