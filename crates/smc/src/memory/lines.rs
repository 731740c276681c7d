//! The lines of the memory network: queues, virtual clocks, counters, deadlines.
//!
//! # Discloses
//! See [`crate::memory`].

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use super::fault::{Faults, Verdict};
use super::{Frame, LinkModel};
use crate::link::Traffic;
use crate::network::{Network, NetworkError, Site};
use crate::wire::Header;

/// One site's end of all its lines.
pub(super) struct Lines {
    me: Site,
    shared: Shared,
}

impl Lines {
    pub(super) fn new(me: Site, shared: &Shared) -> Self {
        Self {
            me,
            shared: shared.clone(),
        }
    }
}

/// What all ends share.
#[derive(Clone)]
pub(super) struct Shared(Arc<Mutex<State>>);

struct State {
    model: LinkModel,
    patience: Duration,
    faults: Faults,
    recording: bool,
    sites: Vec<SiteState>,
    /// The links that carried something, by sender and receiver.
    links: HashMap<(Site, Site), LinkState>,
    traffic: Traffic,
    frames: Vec<Frame>,
}

#[derive(Default)]
struct SiteState {
    clock: Duration,
    /// When this site's last frame has left.
    uplink_free: Duration,
    closed: bool,
    waiting: Option<Waiting>,
    expired: bool,
}

struct Waiting {
    from: Site,
    waker: Waker,
}

#[derive(Default)]
struct LinkState {
    sent: u32,
    queue: VecDeque<Packet>,
    /// A frame that is held back until the next frame has passed it.
    held: Option<Packet>,
}

struct Packet {
    arrival: Duration,
    bytes: Vec<u8>,
}

impl Shared {
    pub(super) fn new(sites: usize, model: LinkModel, patience: Duration, faults: Faults) -> Self {
        Self(Arc::new(Mutex::new(State {
            model,
            patience,
            faults,
            recording: false,
            sites: (0..sites).map(|_| SiteState::default()).collect(),
            links: HashMap::new(),
            traffic: Traffic::new(sites),
            frames: Vec::new(),
        })))
    }

    pub(super) fn recording(self, recording: bool) -> Self {
        self.lock().recording = recording;
        self
    }

    /// Ends the patience of the waiting site whose deadline comes first.
    pub(super) fn expire_one(&self) -> bool {
        let mut state = self.lock();
        let waiting = state.sites.iter_mut().filter(|site| site.waiting.is_some());
        let Some(site) = waiting.min_by_key(|site| site.clock) else {
            return false;
        };
        site.expired = true;
        if let Some(waiting) = site.waiting.take() {
            waiting.waker.wake();
        }
        true
    }

    pub(super) fn into_parts(self) -> (Traffic, Duration, Vec<Frame>) {
        let mut state = self.lock();
        let elapsed = state
            .sites
            .iter()
            .map(|site| site.clock)
            .max()
            .unwrap_or_default();
        let sites = state.sites.len();
        let traffic = std::mem::replace(&mut state.traffic, Traffic::new(sites));
        (traffic, elapsed, std::mem::take(&mut state.frames))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Network for Lines {
    fn send(&mut self, to: Site, frame: Vec<u8>) -> Result<(), NetworkError> {
        let mut state = self.shared.lock();
        state.send(self.me, to, frame);
        Ok(())
    }

    fn poll_receive(
        &mut self,
        from: Site,
        context: &mut Context<'_>,
    ) -> Poll<Result<Vec<u8>, NetworkError>> {
        let mut state = self.shared.lock();
        let patience = state.patience;
        let deadline = state.sites[self.me.index()].clock.saturating_add(patience);
        let link = state.links.get(&(from, self.me));
        let next = link.and_then(|link| link.queue.front().map(|packet| packet.arrival));
        let expired = std::mem::take(&mut state.sites[self.me.index()].expired);
        if next.is_some_and(|arrival| arrival > deadline) || (next.is_none() && expired) {
            state.sites[self.me.index()].clock = deadline;
            return Poll::Ready(Err(NetworkError::Silent { waited: patience }));
        }
        let link = state.links.get_mut(&(from, self.me));
        if let Some(packet) = link.and_then(|link| link.queue.pop_front()) {
            let site = &mut state.sites[self.me.index()];
            site.clock = site.clock.max(packet.arrival);
            if state.recording {
                let bytes = packet.bytes.clone();
                state.frames.push(Frame {
                    from,
                    to: self.me,
                    bytes,
                });
            }
            return Poll::Ready(Ok(packet.bytes));
        }
        if state.sites[from.index()].closed {
            return Poll::Ready(Err(NetworkError::Closed));
        }
        let waker = context.waker().clone();
        state.sites[self.me.index()].waiting = Some(Waiting { from, waker });
        Poll::Pending
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        if state.faults.is_cut(self.me, u32::MAX) {
            return;
        }
        state.sites[self.me.index()].closed = true;
        for site in 0..state.sites.len() {
            state.wake(self.me, Site::new(site as u16));
        }
    }
}

impl State {
    fn send(&mut self, from: Site, to: Site, bytes: Vec<u8>) {
        let depth = Header::decode(&bytes).map_or(0, |header| header.depth);
        self.traffic.record(from, to, bytes.len(), depth);
        let site = &mut self.sites[from.index()];
        let seconds = bytes.len() as f64 * 8.0 / self.model.bandwidth;
        let left = site.clock.max(site.uplink_free) + Duration::from_secs_f64(seconds);
        site.uplink_free = left;
        let arrival = left + self.model.latency;

        let mut packet = Packet { arrival, bytes };
        let link = self.links.entry((from, to)).or_default();
        let number = link.sent;
        link.sent += 1;
        let passed = link.held.take();
        match self.faults.verdict(from, to, number) {
            Verdict::Deliver => link.queue.push_back(packet),
            Verdict::Drop => {}
            Verdict::Delay(by) => {
                packet.arrival += by;
                link.queue.push_back(packet);
            }
            Verdict::Duplicate => {
                let again = Packet {
                    arrival,
                    bytes: packet.bytes.clone(),
                };
                link.queue.extend([packet, again]);
            }
            Verdict::Hold => link.held = Some(packet),
            Verdict::Truncate(length) => {
                packet.bytes.truncate(length);
                link.queue.push_back(packet);
            }
            Verdict::Corrupt { at, mask } => {
                if let Some(byte) = packet.bytes.get_mut(at) {
                    *byte ^= mask;
                }
                link.queue.push_back(packet);
            }
            Verdict::Replace(payload) => {
                rewrite(&mut packet.bytes, |_, old| *old = payload);
                link.queue.push_back(packet);
            }
            Verdict::Lie(mask) => {
                rewrite(&mut packet.bytes, |_, payload| {
                    payload
                        .iter_mut()
                        .zip(mask.iter().cycle())
                        .for_each(|(byte, mask)| *byte ^= mask);
                });
                link.queue.push_back(packet);
            }
            Verdict::Add { word, amount } => {
                rewrite(&mut packet.bytes, |_, payload| {
                    let words = payload.as_chunks_mut::<8>().0.iter_mut().enumerate();
                    for (_, bytes) in words.filter(|(at, _)| word.is_none_or(|word| word == *at)) {
                        *bytes = u64::from_le_bytes(*bytes)
                            .wrapping_add(amount)
                            .to_le_bytes();
                    }
                });
                link.queue.push_back(packet);
            }
            Verdict::Impersonate(site) => {
                rewrite(&mut packet.bytes, |header, _| header.sender = site);
                link.queue.push_back(packet);
            }
        }
        link.queue.extend(passed);
        self.wake(from, to);
    }

    /// Wakes `to` if it waits for `from`.
    fn wake(&mut self, from: Site, to: Site) {
        let site = &mut self.sites[to.index()];
        if site
            .waiting
            .as_ref()
            .is_some_and(|waiting| waiting.from == from)
            && let Some(waiting) = site.waiting.take()
        {
            waiting.waker.wake();
        }
    }
}

/// Makes a well-formed frame with other contents.
fn rewrite(frame: &mut Vec<u8>, change: impl FnOnce(&mut Header, &mut Vec<u8>)) {
    if let Ok((mut header, mut payload)) = Header::open(std::mem::take(frame)) {
        change(&mut header, &mut payload);
        *frame = header.frame(&payload);
    }
}
