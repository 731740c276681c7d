//! A site's links to its peers: framing, order, and the count of what was sent.
//!
//! Every frame says to which call of which primitive it belongs, what that call asks, and which frame of
//! the link it is; any frame but the one that is due ends the call with an error that names the peer.
//! Rounds are the length of the longest chain of dependent messages: a message's depth is one more than
//! the largest depth that its sender had received before.
//!
//! A link remembers, as running hashes, the answers that all sites have seen opened and the frames that
//! went each way between this site and each peer. When a call begins, both ends of a link know all of
//! these: whatever was sent in earlier calls has been received, since a call ends when its last frame is
//! in. The word in every header follows from all of them, so sites that were told different things find
//! out at the next frame. The streams of a pair follow from the answers alone (`Bound`): what a site
//! sends under them is a function of the answers, too, so that after the same answers it is the same
//! frame, and after others there is another stream. (If streams followed from a pair's frames as well, a
//! peer whose lie changes no answer would renew its own stream and leave the others as they were, and a
//! dealer's or holder's message that is made of two streams would be under one mask twice.)
//!
//! # Discloses
//! The depth in a header tells the receiver how many messages its sender had waited for, which
//! the public protocol tells anyway.

use std::future::poll_fn;
use std::sync::Arc;

use serde::Serialize;

use crate::error::{Error, Misbehaviour, OwnConfig, Step};
use crate::network::{Network, Site};
use crate::random::{Bound, Heard};
use crate::wire::{Header, MAXIMUM_PAYLOAD, Primitive, WireError, exactly};

/// The messages and bytes that one link carried in one direction.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct LinkTraffic {
    /// Messages.
    pub messages: u64,
    /// Bytes, headers included.
    pub bytes: u64,
}

/// The messages and bytes that were sent, over which links, in how many rounds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Traffic {
    /// Length of the longest chain of dependent messages.
    pub rounds: u32,
    /// For each site what it sent to each other; empty for a site that sent nothing.
    links: Vec<Vec<LinkTraffic>>,
}

impl Traffic {
    pub(crate) fn new(sites: usize) -> Self {
        Self {
            rounds: 0,
            links: vec![Vec::new(); sites],
        }
    }

    pub(crate) fn record(&mut self, from: Site, to: Site, bytes: usize, depth: u32) {
        let sites = self.links.len();
        let links = &mut self.links[from.index()];
        // A site that counts its own frames has nothing of the others.
        links.resize(sites, LinkTraffic::default());
        let link = &mut links[to.index()];
        link.messages += 1;
        link.bytes += bytes as u64;
        self.rounds = self.rounds.max(depth);
    }

    /// The traffic from one site to another.
    pub fn link(&self, from: Site, to: Site) -> LinkTraffic {
        let link = self.links[from.index()].get(to.index());
        link.copied().unwrap_or_default()
    }

    /// Messages over all links. A message longer than a frame counts once per frame.
    pub fn messages(&self) -> u64 {
        self.links.iter().flatten().map(|link| link.messages).sum()
    }

    /// Bytes over all links.
    pub fn bytes(&self) -> u64 {
        self.links.iter().flatten().map(|link| link.bytes).sum()
    }
}

/// Running hashes of a site's frames and of the opened answers of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transcript {
    /// Every answer that all sites have seen opened, in order: the same at every site.
    pub opened: [u8; 32],
    /// For each peer, the hash of all frames that went to it; zeros at the own place.
    pub sent: Vec<[u8; 32]>,
    /// For each peer, the hash of all frames that came from it; zeros at the own place.
    pub received: Vec<[u8; 32]>,
}

/// The links of one site.
pub(crate) struct Link {
    network: Box<dyn Network>,
    me: Site,
    primitive: Primitive,
    call: u32,
    /// The context of the run: a word of it is in every header.
    context: [u8; 32],
    /// For each peer, what the call asks of both, in a word, once a frame of the call has gone between
    /// the two: among many sites most pairs have nothing to say to each other in a call.
    words: Vec<Option<u64>>,
    /// The question of the call.
    question: u64,
    /// The answers that all sites had seen opened when the call began.
    bound: Bound,
    depth: u32,
    sent: Vec<u16>,
    received: Vec<u16>,
    traffic: Traffic,
    transcript: Transcript,
    heard: Arc<Heard>,
}

impl Link {
    /// The links of a run. The context (the study and what sites said before the run) is the same at
    /// every site.
    pub(crate) fn new(
        network: Box<dyn Network>,
        me: Site,
        sites: usize,
        context: [u8; 32],
    ) -> Self {
        let mut link = Self {
            network,
            me,
            primitive: Primitive::Join,
            call: 0,
            context,
            words: vec![None; sites],
            question: 0,
            bound: Bound([0; 32]),
            depth: 0,
            sent: vec![0; sites],
            received: vec![0; sites],
            traffic: Traffic::new(sites),
            transcript: Transcript {
                opened: [0; 32],
                sent: vec![[0; 32]; sites],
                received: vec![[0; 32]; sites],
            },
            heard: Arc::default(),
        };
        link.bind(0);
        link
    }

    /// The context of the run.
    pub(crate) const fn context(&self) -> &[u8; 32] {
        &self.context
    }

    /// The running hash of received frames, from which the site's own randomness follows.
    pub(crate) fn heard(&self) -> Arc<Heard> {
        Arc::clone(&self.heard)
    }

    /// Remembers bytes that all sites have seen opened.
    pub(crate) fn opened(&mut self, bytes: &[u8]) {
        let mut opening = self.opening();
        opening.update(bytes);
        self.transcript.opened = *opening.finalize().as_bytes();
    }

    /// Remembers numbers that all sites have seen opened.
    pub(crate) fn opened_words(&mut self, words: &[u64]) {
        let mut opening = self.opening();
        let mut bytes = [0; 1024];
        for chunk in words.chunks(bytes.len() / 8) {
            for (place, word) in bytes.as_chunks_mut::<8>().0.iter_mut().zip(chunk) {
                *place = word.to_le_bytes();
            }
            opening.update(&bytes[..chunk.len() * 8]);
        }
        self.transcript.opened = *opening.finalize().as_bytes();
    }

    fn opening(&self) -> blake3::Hasher {
        let mut opening = blake3::Hasher::new_derive_key("hedgerow opened v1");
        opening
            .update(&self.transcript.opened)
            .update(&self.call.to_le_bytes());
        opening
    }

    /// Hashes of everything that was sent, received and opened so far.
    pub(crate) const fn transcript(&self) -> &Transcript {
        &self.transcript
    }

    /// The answers that all sites had seen opened when the call began.
    pub(crate) const fn bound(&self) -> Bound {
        self.bound
    }

    /// Binds the streams of a call to the opened answers, and the words of the call to the frames of
    /// each link, too.
    fn bind(&mut self, question: u64) {
        self.bound = self.bound_in(self.call);
        self.question = question;
        self.words.fill(None);
    }

    /// What the call asks of this site and a peer. The word is that of the frames between both before the
    /// call, so it is made before the first of the call changes these.
    fn word(&mut self, peer: Site) -> u64 {
        let known = self.words[peer.index()];
        let word = known.unwrap_or_else(|| self.word_before(peer));
        self.words[peer.index()] = Some(word);
        word
    }

    fn word_before(&self, peer: Site) -> u64 {
        let Transcript { sent, received, .. } = &self.transcript;
        let (sent, received) = (&sent[peer.index()], &received[peer.index()]);
        // In the same order at both ends.
        let (low, high) = if self.me < peer {
            (sent, received)
        } else {
            (received, sent)
        };
        let mut hasher = blake3::Hasher::new_derive_key("hedgerow word v1");
        hasher
            .update(&self.context)
            .update(&self.bound.0)
            .update(low)
            .update(high)
            .update(&self.question.to_le_bytes());
        let mut word = [0; 8];
        word.copy_from_slice(&hasher.finalize().as_bytes()[..8]);
        u64::from_le_bytes(word)
    }

    fn bound_in(&self, call: u32) -> Bound {
        let mut hasher = blake3::Hasher::new_derive_key("hedgerow bound v1");
        hasher
            .update(&self.transcript.opened)
            .update(&call.to_le_bytes());
        Bound(*hasher.finalize().as_bytes())
    }

    /// The answers that all sites will have seen opened when the next call begins.
    #[cfg(test)]
    pub(crate) fn next_bound(&self) -> Bound {
        self.bound_in(self.call + 1)
    }

    /// Starts the next call; all sites of a run make the same calls in the same order, with the
    /// same `question` in the words of [`crate::asked`]. Numbers of calls do not repeat.
    pub(crate) fn begin(&mut self, primitive: Primitive, question: u64) -> Result<(), Error> {
        let call = self.call.checked_add(1);
        self.call = call.ok_or(Error::OwnConfig(OwnConfig::Calls))?;
        self.primitive = primitive;
        self.sent.fill(0);
        self.received.fill(0);
        self.bind(question);
        Ok(())
    }

    /// The number of the current call.
    pub(crate) const fn call(&self) -> u32 {
        self.call
    }

    pub(crate) const fn traffic(&self) -> &Traffic {
        &self.traffic
    }

    /// Sends a message, in as many frames as it takes. An empty message is one empty frame.
    pub(crate) fn send(&mut self, to: Site, message: &[u8]) -> Result<(), Error> {
        for payload in parts(message) {
            self.send_part(to, payload, &blake3::hash(payload))?;
        }
        Ok(())
    }

    /// Sends one message to every peer.
    pub(crate) fn broadcast(&mut self, message: &[u8]) -> Result<(), Error> {
        let me = self.me;
        let peers = Site::all(self.sent.len()).filter(|to| *to != me);
        self.send_to(peers.collect(), message)
    }

    /// Sends one message to some peers.
    pub(crate) fn send_to(&mut self, peers: Vec<Site>, message: &[u8]) -> Result<(), Error> {
        for payload in parts(message) {
            let hash = blake3::hash(payload);
            for to in &peers {
                self.send_part(*to, payload, &hash)?;
            }
        }
        Ok(())
    }

    fn send_part(&mut self, to: Site, payload: &[u8], hash: &blake3::Hash) -> Result<(), Error> {
        let depth = self.depth.saturating_add(1);
        let question = self.word(to);
        let number = &mut self.sent[to.index()];
        let header = Header {
            sender: self.me,
            receiver: to,
            primitive: self.primitive,
            frame: *number,
            call: self.call,
            depth,
            length: 0,
            question,
        };
        *number = number.wrapping_add(1);
        let sent = &mut self.transcript.sent[to.index()];
        *sent = chained(sent, &header.digest(hash));
        let frame = header.frame_with(payload, hash);
        self.traffic.record(self.me, to, frame.len(), depth);
        let step = Step {
            primitive: self.primitive,
            call: self.call,
            frame: header.frame,
        };
        self.network.send(to, frame).map_err(|source| Error::Line {
            peer: to,
            step,
            source,
        })?;
        Ok(())
    }

    /// The next message from a peer, which must be `length` bytes long.
    pub(crate) async fn receive(&mut self, from: Site, length: usize) -> Result<Vec<u8>, Error> {
        let mut message = self
            .receive_frame(from, length.min(MAXIMUM_PAYLOAD))
            .await?;
        while message.len() < length {
            let due = (length - message.len()).min(MAXIMUM_PAYLOAD);
            message.extend_from_slice(&self.receive_frame(from, due).await?);
        }
        Ok(message)
    }

    async fn receive_frame(&mut self, from: Site, length: usize) -> Result<Vec<u8>, Error> {
        let step = self.step(from);
        let network = &mut self.network;
        let frame = poll_fn(|context| network.poll_receive(from, context))
            .await
            .map_err(|source| Error::Line {
                peer: from,
                step,
                source,
            })?;
        let opened = Header::open_with(frame).map_err(|source| self.invalid(from, source));
        let (header, payload, hash) = opened?;
        self.check(from, &header)?;
        exactly(&payload, length).map_err(|source| self.invalid(from, source))?;
        let digest = header.digest(&hash);
        let received = &mut self.transcript.received[from.index()];
        *received = chained(received, &digest);
        self.heard.add(&digest);
        self.depth = self.depth.max(header.depth);
        self.received[from.index()] = step.frame.wrapping_add(1);
        Ok(payload)
    }

    fn check(&mut self, from: Site, header: &Header) -> Result<(), Error> {
        let step = self.step(from);
        let due = (self.primitive, self.call, step.frame);
        let &Header {
            sender,
            receiver,
            primitive,
            call,
            frame,
            question,
            ..
        } = header;
        if (sender, receiver) != (from, self.me) {
            let problem = Misbehaviour::WrongSite { sender, receiver };
            return Err(Error::PeerMisbehaved {
                peer: from,
                step,
                problem,
            });
        }
        if (primitive, call, frame) == due {
            if question != self.word(from) {
                return Err(self.misbehaved(from, Misbehaviour::OtherQuestion));
            }
            return Ok(());
        }
        let problem = if (call, frame) < (self.call, step.frame) {
            Misbehaviour::Replayed { call, frame }
        } else {
            Misbehaviour::WrongStep {
                primitive,
                call,
                frame,
            }
        };
        Err(Error::PeerMisbehaved {
            peer: from,
            step,
            problem,
        })
    }

    /// Where this site is with a peer.
    pub(crate) fn step(&self, peer: Site) -> Step {
        Step {
            primitive: self.primitive,
            call: self.call,
            frame: self.received[peer.index()],
        }
    }

    /// The error for bytes that do not decode.
    pub(crate) fn invalid(&self, peer: Site, source: WireError) -> Error {
        Error::InvalidMessage {
            peer,
            step: self.step(peer),
            source,
        }
    }

    /// The error for a peer that does what no honest site does.
    pub(crate) fn misbehaved(&self, peer: Site, problem: Misbehaviour) -> Error {
        Error::PeerMisbehaved {
            peer,
            step: self.step(peer),
            problem,
        }
    }
}

fn chained(before: &[u8; 32], frame: &[u8; 32]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new_derive_key("hedgerow frames v1");
    hasher.update(before).update(frame);
    *hasher.finalize().as_bytes()
}

fn parts(message: &[u8]) -> impl Iterator<Item = &[u8]> {
    let empty = message.is_empty().then_some(message);
    message.chunks(MAXIMUM_PAYLOAD).chain(empty)
}

#[cfg(test)]
mod tests {
    use std::task::{Context, Poll};

    use super::*;
    use crate::network::NetworkError;

    struct Nowhere;

    impl Network for Nowhere {
        fn send(&mut self, _: Site, _: Vec<u8>) -> Result<(), NetworkError> {
            Err(NetworkError::Closed)
        }

        fn poll_receive(
            &mut self,
            _: Site,
            _: &mut Context<'_>,
        ) -> Poll<Result<Vec<u8>, NetworkError>> {
            Poll::Ready(Err(NetworkError::Closed))
        }
    }

    #[test]
    fn numbers_of_calls_do_not_repeat() {
        let mut link = Link::new(Box::new(Nowhere), Site::new(0), 2, [0; 32]);
        link.call = u32::MAX - 1;
        assert_eq!(link.begin(Primitive::Sum, 0), Ok(()));
        let full = Err(Error::OwnConfig(OwnConfig::Calls));
        assert_eq!(link.begin(Primitive::Sum, 0), full);
        assert_eq!(link.call(), u32::MAX);
    }
}
