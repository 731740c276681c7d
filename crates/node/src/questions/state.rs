//! What a node knows of its lines for questions: who is connected, which questions are under way, and the
//! frames that have come for them.
//!
//! Everything that a peer can make grow has a limit: questions under way, frames that nobody has read yet,
//! frames that came before their question, and words that the peer does not read.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use std::time::SystemTime;

use hedgerow_smc::{Site, Standing};
use tokio::sync::{Notify, oneshot, watch};

use super::refusal::Refusal;
use super::word::{Name, PartEnd, Word};

/// Questions of one asker that are under way at a time.
pub(super) const MOST_OF_ONE: usize = 32;
/// Bytes of frames of one peer that wait to be read.
const MOST_UNREAD: usize = 1 << 28;
/// Bytes that wait to be sent to one peer.
const MOST_UNSENT: usize = 1 << 28;
/// Frames of one peer that came before their question: one for each question is enough for honest peers.
const MOST_EARLY: usize = 4 * MOST_OF_ONE;
/// Bytes of these frames: at the published level totals go around a ring, and may overtake their question.
const MOST_EARLY_BYTES: usize = 1 << 26;
/// What a frame takes besides its bytes, so that frames without bytes are not free.
const EACH_FRAME: usize = 64;
/// Questions that ended last, whose late frames nobody keeps.
const MOST_ENDED: usize = 1 << 10;

/// What all tasks of a node's questions share.
pub(super) struct Shared {
    pub(super) me: u16,
    state: Mutex<State>,
    /// Counts changes of connections and lives.
    changed: watch::Sender<u64>,
    /// The keys that all sites agreed on last, with the name of the joining.
    pub(super) standing: watch::Sender<Option<(Name, Arc<Standing>)>>,
    /// Woken when there is something to send to a peer.
    outgoing: Vec<Notify>,
    /// Everything that was handed over for sending.
    #[cfg(test)]
    pub(super) tap: Mutex<Vec<u8>>,
}

struct State {
    life: [u8; 32],
    peers: Vec<Peer>,
    under_way: HashMap<Name, UnderWay>,
    /// The questions and joinings that ended last.
    ended: VecDeque<Name>,
    is_closed: bool,
}

struct Peer {
    /// The present connection's number, and the sender that ends it.
    connection: Option<(u64, oneshot::Sender<()>)>,
    connections: u64,
    life: Option<[u8; 32]>,
    since: SystemTime,
    why: String,
    unsent: VecDeque<Vec<u8>>,
    unsent_bytes: usize,
    unread_bytes: usize,
    early: VecDeque<(Name, Vec<u8>)>,
    early_bytes: usize,
}

/// A question, or a joining, that is under way.
struct UnderWay {
    /// `None` for a joining.
    asker: Option<u16>,
    inbox: Vec<VecDeque<Vec<u8>>>,
    waker: Option<Waker>,
    failure: Option<Failure>,
    /// For each site, how it says that its part ended.
    said: Vec<Option<PartEnd>>,
    /// For each site, why it does not answer.
    refused: Vec<Option<Refusal>>,
    /// For each site, whether anything of it has come.
    is_heard: Vec<bool>,
}

/// Why a question ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Failure {
    /// Nobody wants the answer, or the node ends.
    Cancelled,
    /// A peer's line broke.
    Away(u16),
    /// A peer says that its part has ended.
    Said { by: u16, end: PartEnd },
    /// A peer does not answer.
    Refused { by: u16, refusal: Refusal },
    /// A peer sent more than anyone could read.
    Flooded(u16),
}

/// A peer that is not connected.
#[derive(Debug, Clone)]
pub(super) struct Gone {
    pub(super) peer: u16,
    pub(super) since: SystemTime,
    pub(super) why: String,
}

impl Shared {
    pub(super) fn new(me: u16, sites: usize, life: [u8; 32]) -> Self {
        let peer = || Peer {
            connection: None,
            connections: 0,
            life: None,
            since: SystemTime::now(),
            why: String::from("has not been connected since this node started"),
            unsent: VecDeque::new(),
            unsent_bytes: 0,
            unread_bytes: 0,
            early: VecDeque::new(),
            early_bytes: 0,
        };
        Self {
            me,
            state: Mutex::new(State {
                life,
                peers: (0..sites).map(|_| peer()).collect(),
                under_way: HashMap::new(),
                ended: VecDeque::new(),
                is_closed: false,
            }),
            changed: watch::Sender::new(0),
            standing: watch::Sender::new(None),
            outgoing: (0..sites).map(|_| Notify::new()).collect(),
            #[cfg(test)]
            tap: Mutex::default(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Every step leaves the state whole.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn peers(&self) -> impl Iterator<Item = u16> + use<> {
        let me = self.me;
        // A study has at most 1,000 sites that can run.
        (0..self.outgoing.len() as u16).filter(move |peer| *peer != me)
    }

    pub(super) fn outgoing(&self, to: u16) -> &Notify {
        &self.outgoing[usize::from(to)]
    }

    pub(super) fn watch_changes(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    fn has_changed(&self) {
        self.changed.send_modify(|changes| *changes += 1);
    }

    pub(super) fn is_connected(&self, peer: u16) -> bool {
        self.lock().peers[usize::from(peer)].connection.is_some()
    }

    /// A connection to a peer is ready: its number, and the receiver that tells it to end. A connection that
    /// does not take over is of no use while another exists.
    pub(super) fn connected(
        &self,
        peer: u16,
        takes_over: bool,
    ) -> Option<(u64, oneshot::Receiver<()>)> {
        let mut state = self.lock();
        if state.is_closed || state.peers[usize::from(peer)].connection.is_some() && !takes_over {
            return None;
        }
        let life = Word::Life(state.life).encode();
        let (end, ended) = oneshot::channel();
        let link = &mut state.peers[usize::from(peer)];
        link.connections += 1;
        link.connection = Some((link.connections, end));
        link.life = None;
        // What was not sent on an older connection is of questions that ended with it.
        link.unsent = VecDeque::from([life]);
        link.unsent_bytes = 0;
        link.early.clear();
        link.early_bytes = 0;
        let number = link.connections;
        state.fail_all(&Failure::Away(peer));
        Some((number, ended))
    }

    /// A connection has ended.
    pub(super) fn disconnected(&self, peer: u16, number: u64, why: String) {
        let mut state = self.lock();
        let link = &mut state.peers[usize::from(peer)];
        if !matches!(link.connection, Some((present, _)) if present == number) {
            return;
        }
        link.connection = None;
        link.life = None;
        link.since = SystemTime::now();
        link.why = why;
        link.unsent.clear();
        link.unsent_bytes = 0;
        link.early.clear();
        link.early_bytes = 0;
        state.fail_all(&Failure::Away(peer));
        drop(state);
        self.has_changed();
    }

    /// An attempt to connect came to nothing.
    pub(super) fn attempt_failed(&self, peer: u16, why: String) {
        let mut state = self.lock();
        let link = &mut state.peers[usize::from(peer)];
        if link.connection.is_none() {
            link.why = why;
        }
    }

    /// The peers that are not connected.
    pub(super) fn gone(&self) -> Vec<Gone> {
        let state = self.lock();
        let gone = self.peers().filter_map(|peer| {
            let link = &state.peers[usize::from(peer)];
            link.connection.is_none().then(|| Gone {
                peer,
                since: link.since,
                why: link.why.clone(),
            })
        });
        gone.collect()
    }

    /// The peers that are connected, and have not said which life they are in.
    pub(super) fn silent(&self) -> Vec<u16> {
        let state = self.lock();
        let is_silent = |peer: &u16| {
            let link = &state.peers[usize::from(*peer)];
            link.connection.is_some() && link.life.is_none()
        };
        self.peers().filter(is_silent).collect()
    }

    /// A peer says which life it is in.
    pub(super) fn lives(&self, peer: u16, life: [u8; 32]) {
        self.lock().peers[usize::from(peer)].life = Some(life);
        self.has_changed();
    }

    /// Begins another life: what was agreed on in the last one is of no use any more.
    pub(super) fn live_anew(&self, life: [u8; 32]) {
        self.lock().life = life;
        for peer in self.peers() {
            self.say(peer, &Word::Life(life));
        }
        self.has_changed();
    }

    /// The lives of all sites, once all are connected and have said theirs.
    pub(super) fn all_lives(&self) -> Option<Vec<[u8; 32]>> {
        let state = self.lock();
        let life = |(place, peer): (usize, &Peer)| match place == usize::from(self.me) {
            true => Some(state.life),
            false => peer.life,
        };
        state.peers.iter().enumerate().map(life).collect()
    }

    /// Hands a word over for sending; `false` where the peer is not connected. A peer that does not read is
    /// cut off.
    pub(super) fn say(&self, to: u16, word: &Word) -> bool {
        self.say_encoded(to, word.encode())
    }

    fn say_encoded(&self, to: u16, bytes: Vec<u8>) -> bool {
        let mut state = self.lock();
        let link = &mut state.peers[usize::from(to)];
        if link.connection.is_none() {
            return false;
        }
        #[cfg(test)]
        if let Ok(mut tap) = self.tap.lock() {
            tap.extend_from_slice(&bytes);
        }
        link.unsent_bytes += bytes.len();
        link.unsent.push_back(bytes);
        if link.unsent_bytes > MOST_UNSENT
            && let Some((_, end)) = link.connection.take()
        {
            link.why = String::from("it did not read what was sent");
            link.since = SystemTime::now();
            link.life = None;
            link.unsent.clear();
            link.unsent_bytes = 0;
            let _ = end.send(());
            state.fail_all(&Failure::Away(to));
            drop(state);
            self.has_changed();
            return false;
        }
        drop(state);
        self.outgoing[usize::from(to)].notify_one();
        true
    }

    /// The next word for the present connection to a peer.
    pub(super) fn next_to_say(&self, to: u16, connection: u64) -> Option<Vec<u8>> {
        let mut state = self.lock();
        let link = &mut state.peers[usize::from(to)];
        if !matches!(link.connection, Some((present, _)) if present == connection) {
            return None;
        }
        let bytes = link.unsent.pop_front()?;
        link.unsent_bytes = link.unsent_bytes.saturating_sub(bytes.len());
        Some(bytes)
    }

    /// Enters a question or a joining, with the frames that came before; `false` where its asker has as many
    /// under way as are taken, or the node ends.
    pub(super) fn enter(&self, name: Name, asker: Option<u16>) -> bool {
        let mut state = self.lock();
        let of_asker = state.under_way.values().filter(|one| one.asker == asker);
        let is_full = asker.is_some() && of_asker.count() >= MOST_OF_ONE;
        if state.is_closed || is_full || state.under_way.contains_key(&name) {
            return false;
        }
        let sites = state.peers.len();
        let mut inbox = vec![VecDeque::new(); sites];
        for (peer, inbox) in state.peers.iter_mut().zip(&mut inbox) {
            let early = std::mem::take(&mut peer.early);
            for (of, bytes) in early {
                if of == name {
                    peer.early_bytes = peer.early_bytes.saturating_sub(cost(&bytes));
                    peer.unread_bytes += cost(&bytes);
                    inbox.push_back(bytes);
                } else {
                    peer.early.push_back((of, bytes));
                }
            }
        }
        let entered = UnderWay {
            asker,
            inbox,
            waker: None,
            failure: None,
            said: vec![None; sites],
            refused: vec![None; sites],
            is_heard: vec![false; sites],
        };
        state.under_way.insert(name, entered);
        true
    }

    /// Takes a question or a joining out, with everything that came for it.
    pub(super) fn leave(&self, name: &Name) {
        let mut state = self.lock();
        let Some(mut left) = state.under_way.remove(name) else {
            return;
        };
        if let Some(waker) = left.waker.take() {
            waker.wake();
        }
        for (peer, inbox) in state.peers.iter_mut().zip(left.inbox) {
            let bytes: usize = inbox.iter().map(|bytes| cost(bytes)).sum();
            peer.unread_bytes = peer.unread_bytes.saturating_sub(bytes);
        }
        if state.ended.len() >= MOST_ENDED {
            state.ended.pop_front();
        }
        state.ended.push_back(*name);
    }

    /// A frame has come.
    pub(super) fn deliver(&self, from: u16, name: Name, bytes: Vec<u8>) {
        let mut state = self.lock();
        let State {
            peers,
            under_way,
            ended,
            ..
        } = &mut *state;
        let link = &mut peers[usize::from(from)];
        match under_way.get_mut(&name) {
            Some(_) if link.unread_bytes + cost(&bytes) > MOST_UNREAD => {
                state.fail(&name, Failure::Flooded(from));
            }
            // Nobody reads on in a question that has failed.
            Some(one) if one.failure.is_some() => one.is_heard[usize::from(from)] = true,
            Some(one) => {
                one.is_heard[usize::from(from)] = true;
                link.unread_bytes += cost(&bytes);
                one.inbox[usize::from(from)].push_back(bytes);
                if let Some(waker) = one.waker.take() {
                    waker.wake();
                }
            }
            None if ended.contains(&name) || cost(&bytes) > MOST_EARLY_BYTES => {}
            // The frame is of a question that is still on its way here, or of none.
            None => {
                link.early_bytes += cost(&bytes);
                link.early.push_back((name, bytes));
                while link.early.len() > MOST_EARLY || link.early_bytes > MOST_EARLY_BYTES {
                    let Some((_, bytes)) = link.early.pop_front() else {
                        break;
                    };
                    link.early_bytes = link.early_bytes.saturating_sub(cost(&bytes));
                }
            }
        }
    }

    /// The next frame of a question from a peer, or the reason why there will be none. Without either, the
    /// waker is kept.
    pub(super) fn take(
        &self,
        name: &Name,
        from: u16,
        waker: &Waker,
    ) -> Option<Result<Vec<u8>, Failure>> {
        let mut state = self.lock();
        let State {
            peers, under_way, ..
        } = &mut *state;
        let Some(one) = under_way.get_mut(name) else {
            return Some(Err(Failure::Cancelled));
        };
        if let Some(failure) = &one.failure {
            return Some(Err(failure.clone()));
        }
        if let Some(bytes) = one.inbox[usize::from(from)].pop_front() {
            let link = &mut peers[usize::from(from)];
            link.unread_bytes = link.unread_bytes.saturating_sub(cost(&bytes));
            return Some(Ok(bytes));
        }
        one.waker = Some(waker.clone());
        None
    }

    /// Ends a question, unless it has ended.
    pub(super) fn fail(&self, name: &Name, failure: Failure) {
        self.lock().fail(name, failure);
    }

    /// Whether a question is under way.
    pub(super) fn is_under_way(&self, name: &Name) -> bool {
        self.lock().under_way.contains_key(name)
    }

    /// Why a question ended.
    pub(super) fn failure(&self, name: &Name) -> Option<Failure> {
        self.lock().under_way.get(name)?.failure.clone()
    }

    /// A peer says that its part in a question has ended, or that it does not answer. Only the asker's word
    /// ends a question at a site that does not ask.
    pub(super) fn heard_end(&self, by: u16, name: &Name, failure: Failure) {
        let mut state = self.lock();
        let Some(one) = state.under_way.get_mut(name) else {
            return;
        };
        one.is_heard[usize::from(by)] = true;
        match &failure {
            Failure::Said { end, .. } => one.said[usize::from(by)] = Some(*end),
            Failure::Refused { refusal, .. } => {
                one.refused[usize::from(by)] = Some(refusal.clone());
            }
            _ => {}
        }
        if one.asker == Some(self.me) {
            state.fail(name, failure);
        } else if one.asker == Some(by) {
            state.fail(name, Failure::Cancelled);
        }
    }

    /// Every site that does not answer a question, with its reason; and whether all sites have been heard.
    pub(super) fn refusals(&self, name: &Name) -> (Vec<(u16, Refusal)>, bool) {
        let state = self.lock();
        let Some(one) = state.under_way.get(name) else {
            return (Vec::new(), true);
        };
        let refused = |peer: u16| Some((peer, one.refused[usize::from(peer)].clone()?));
        let refusals = self.peers().filter_map(refused).collect();
        let is_heard = |peer: u16| one.is_heard[usize::from(peer)];
        (refusals, self.peers().all(is_heard))
    }

    /// The site that sites blame in the end: whom a site blames, unless that one blames another.
    pub(super) fn culprit(&self, name: &Name, mut blamed: u16) -> u16 {
        let state = self.lock();
        let Some(one) = state.under_way.get(name) else {
            return blamed;
        };
        // Each site is asked once: those that blame each other in a circle cannot be told apart.
        for _ in 0..one.said.len() {
            match one.said.get(usize::from(blamed)) {
                Some(Some(PartEnd::Peer(other)))
                    if usize::from(*other) < one.said.len() && *other != self.me =>
                {
                    blamed = *other;
                }
                _ => break,
            }
        }
        blamed
    }

    /// Ends everything: the node goes.
    pub(super) fn close(&self) {
        let mut state = self.lock();
        state.is_closed = true;
        state.fail_all(&Failure::Cancelled);
        for peer in &mut state.peers {
            peer.connection = None;
        }
    }

    /// How many questions are under way here.
    pub(super) fn count(&self) -> usize {
        let state = self.lock();
        state
            .under_way
            .values()
            .filter(|one| one.asker.is_some())
            .count()
    }
}

impl State {
    fn fail(&mut self, name: &Name, failure: Failure) {
        if let Some(one) = self.under_way.get_mut(name) {
            one.failure.get_or_insert(failure);
            if let Some(waker) = one.waker.take() {
                waker.wake();
            }
        }
    }

    /// Every question needs every site.
    fn fail_all(&mut self, failure: &Failure) {
        for one in self.under_way.values_mut() {
            one.failure.get_or_insert_with(|| failure.clone());
            if let Some(waker) = one.waker.take() {
                waker.wake();
            }
        }
    }
}

/// What a frame takes while it waits.
const fn cost(bytes: &[u8]) -> usize {
    bytes.len() + EACH_FRAME
}

/// The place of a site in the study.
pub(super) fn place(site: Site) -> u16 {
    // A study has at most 1,000 sites that can run.
    site.index() as u16
}
