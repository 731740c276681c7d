//! A site's links to its peers: framing, order, and the count of what was sent.
//!
//! Every frame says to which call of which primitive it belongs, what that call asks, and which
//! frame of the link it is; anything else than the one frame that is due ends the call with an error that names the
//! peer. Rounds are the length of the longest chain of dependent messages: a message's depth is one
//! more than the largest depth that its sender had received before.
//!
//! # Discloses
//! The depth in a header tells the receiver how many messages its sender had waited for, which
//! the public protocol tells anyway.

use std::future::poll_fn;

use serde::Serialize;

use crate::error::{Error, Misbehaviour, OwnConfig, Step};
use crate::network::{Network, Site};
use crate::wire::{Header, MAXIMUM_PAYLOAD, Primitive, WireError, exactly};

/// What one link carried in one direction.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct LinkTraffic {
    /// Messages.
    pub messages: u64,
    /// Bytes, headers included.
    pub bytes: u64,
}

/// What was sent, over which links, in how many rounds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Traffic {
    /// Length of the longest chain of dependent messages.
    pub rounds: u32,
    sites: usize,
    links: Vec<LinkTraffic>,
}

impl Traffic {
    pub(crate) fn new(sites: usize) -> Self {
        Self {
            rounds: 0,
            sites,
            links: vec![LinkTraffic::default(); sites * sites],
        }
    }

    pub(crate) fn record(&mut self, from: Site, to: Site, bytes: usize, depth: u32) {
        let link = &mut self.links[from.index() * self.sites + to.index()];
        link.messages += 1;
        link.bytes += bytes as u64;
        self.rounds = self.rounds.max(depth);
    }

    /// What went from one site to another.
    pub fn link(&self, from: Site, to: Site) -> LinkTraffic {
        self.links[from.index() * self.sites + to.index()]
    }

    /// Messages over all links. A message longer than a frame counts once per frame.
    pub fn messages(&self) -> u64 {
        self.links.iter().map(|link| link.messages).sum()
    }

    /// Bytes over all links.
    pub fn bytes(&self) -> u64 {
        self.links.iter().map(|link| link.bytes).sum()
    }
}

/// The links of one site.
pub(crate) struct Link {
    network: Box<dyn Network>,
    me: Site,
    primitive: Primitive,
    call: u32,
    question: u64,
    depth: u32,
    sent: Vec<u16>,
    received: Vec<u16>,
    traffic: Traffic,
}

impl Link {
    pub(crate) fn new(network: Box<dyn Network>, me: Site, sites: usize) -> Self {
        Self {
            network,
            me,
            primitive: Primitive::Join,
            call: 0,
            question: 0,
            depth: 0,
            sent: vec![0; sites],
            received: vec![0; sites],
            traffic: Traffic::new(sites),
        }
    }

    /// Starts the next call; all sites of a run make the same calls in the same order, with the
    /// same `question` in the words of [`crate::asked`]. Numbers of calls do not repeat, since
    /// they are the nonces of streams.
    pub(crate) fn begin(&mut self, primitive: Primitive, question: u64) -> Result<(), Error> {
        let call = self.call.checked_add(1);
        self.call = call.ok_or(Error::OwnConfig(OwnConfig::Calls))?;
        self.primitive = primitive;
        self.question = question;
        self.sent.fill(0);
        self.received.fill(0);
        Ok(())
    }

    /// The number of the current call: the nonce of its streams.
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
        for payload in parts(message) {
            let hash = blake3::hash(payload);
            for to in Site::all(self.sent.len()) {
                if to != self.me {
                    self.send_part(to, payload, &hash)?;
                }
            }
        }
        Ok(())
    }

    fn send_part(&mut self, to: Site, payload: &[u8], hash: &blake3::Hash) -> Result<(), Error> {
        let depth = self.depth.saturating_add(1);
        let number = &mut self.sent[to.index()];
        let header = Header {
            sender: self.me,
            receiver: to,
            primitive: self.primitive,
            frame: *number,
            call: self.call,
            depth,
            length: 0,
            question: self.question,
        };
        *number = number.wrapping_add(1);
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
        let (header, payload) = Header::open(frame).map_err(|source| self.invalid(from, source))?;
        self.check(from, &header)?;
        exactly(&payload, length).map_err(|source| self.invalid(from, source))?;
        self.depth = self.depth.max(header.depth);
        self.received[from.index()] = step.frame.wrapping_add(1);
        Ok(payload)
    }

    fn check(&self, from: Site, header: &Header) -> Result<(), Error> {
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
            if question != self.question {
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
        let mut link = Link::new(Box::new(Nowhere), Site::new(0), 2);
        link.call = u32::MAX - 1;
        assert_eq!(link.begin(Primitive::Sum, 0), Ok(()));
        let full = Err(Error::OwnConfig(OwnConfig::Calls));
        assert_eq!(link.begin(Primitive::Sum, 0), full);
        assert_eq!(link.call(), u32::MAX);
    }
}
