//! Connections between sites: who dials, who listens, how both ends know each other, and what is
//! said while a connection lasts.
//!
//! Of two sites, the one that stands first in the study dials; the other knocks (see `knock`) while
//! there is no connection, since the first may not know of the run yet. Both prove their keys (see `tls`),
//! then greet: version, study, run, places, and the number of the next frame each expects. A
//! greeting that does not fit is answered with the reason and the connection is closed; it is tried
//! again, later and later, since the other side may be putting things right. One connection
//! serves a pair; a new one takes the place of the old.
//!
//! A stranger gets as far as the TLS handshake. Connections that have not greeted are few: the
//! oldest makes room for the newest, so that idle ones cannot keep a peer out.
//!
//! # Discloses
//! See `tls` and `message`.

mod error;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncWriteExt as _, BufReader, BufWriter};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{sleep, timeout};
use tokio_rustls::{TlsAcceptor, TlsConnector, TlsStream};

use crate::agreement::StudyHash;
use crate::identity::{PublicKey, Secret};
use crate::knock::{Door, Due, KnockError, answer_to};
use crate::lines::{Saying, Shared};
use crate::message::{
    self, End, Hello, LONGEST, LONGEST_GREETING, Message, MessageError, NO_RUN, ReadError, Reason,
    VERSION,
};
use crate::tls;
use error::ConnectError;

/// Bytes that are gathered before they go on the line.
const BUFFER: usize = 1 << 16;

/// The first pause before a knock at a peer that is not connected: most dial by themselves.
const FIRST_KNOCK: Duration = Duration::from_secs(1);

/// What happens on the lines, for whoever watches.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// A peer is connected.
    Connected {
        /// The peer.
        peer: String,
    },
    /// A connection to a peer, or an attempt at one, has ended.
    Disconnected {
        /// The peer.
        peer: String,
        /// Why.
        why: String,
    },
    /// Somebody who is no site of the study, or says what does not fit, was turned away.
    TurnedAway {
        /// From where.
        address: String,
        /// Why.
        why: String,
    },
}

/// Told what happens on the lines.
pub type Watcher = Arc<dyn Fn(Event) + Send + Sync>;

/// Everything that connections of one run need.
pub(crate) struct Connections {
    shared: Arc<Shared>,
    study: StudyHash,
    run: u32,
    keys: Vec<PublicKey>,
    addresses: Vec<String>,
    secret: Arc<Secret>,
    watcher: Watcher,
}

impl Connections {
    pub(crate) fn new(
        shared: Arc<Shared>,
        study: StudyHash,
        run: u32,
        secret: Arc<Secret>,
        keys: Vec<PublicKey>,
        addresses: Vec<String>,
        watcher: Watcher,
    ) -> Self {
        Self {
            shared,
            study,
            run,
            keys,
            addresses,
            secret,
            watcher,
        }
    }

    /// Starts everything; it ends when the set is dropped.
    pub(crate) fn start(self, listener: TcpListener) -> JoinSet<()> {
        let this = Arc::new(self);
        let mut tasks = JoinSet::new();
        tasks.spawn(Arc::clone(&this).listen(listener));
        for peer in this.shared.peers() {
            if peer > this.shared.me() {
                tasks.spawn(Arc::clone(&this).dial(peer));
            } else {
                tasks.spawn(Arc::clone(&this).knock(peer));
            }
        }
        let shared = Arc::clone(&this.shared);
        tasks.spawn(async move {
            loop {
                sleep(Duration::from_millis(100)).await;
                shared.expire();
            }
        });
        tasks
    }

    async fn listen(self: Arc<Self>, listener: TcpListener) {
        let mut greeting: JoinSet<Option<(u16, Stream, u64)>> = JoinSet::new();
        let mut pending: VecDeque<AbortHandle> = VecDeque::new();
        let mut serving = JoinSet::new();
        loop {
            tokio::select! {
                accepted = listener.accept() => match accepted {
                    Ok((socket, address)) => {
                        pending.retain(|task| !task.is_finished());
                        if pending.len() >= self.shared.limits().pending
                            && let Some(oldest) = pending.pop_front()
                        {
                            oldest.abort();
                        }
                        let this = Arc::clone(&self);
                        pending.push_back(greeting.spawn(async move {
                            match this.greet(socket).await {
                                Ok(greeted) => Some(greeted),
                                Err(ConnectError::Heard) => None,
                                Err(error) => {
                                    this.turned_away(address.to_string(), &error);
                                    None
                                }
                            }
                        }));
                    }
                    // Too many open files, or a connection that ended before it began.
                    Err(_) => sleep(Duration::from_millis(50)).await,
                },
                Some(greeted) = greeting.join_next() => {
                    if let Ok(Some((peer, stream, next))) = greeted {
                        let this = Arc::clone(&self);
                        serving.spawn(async move { this.serve(peer, stream, next).await });
                    }
                }
                Some(_) = serving.join_next() => {}
            }
        }
    }

    /// The listener's side of a greeting.
    async fn greet(&self, socket: TcpStream) -> Result<(u16, Stream, u64), ConnectError> {
        let limits = self.shared.limits();
        let greet = async {
            socket.set_nodelay(true)?;
            let peers = self.shared.peers().map(|peer| self.keys[usize::from(peer)]);
            let config = tls::listening(&self.secret, &peers.collect::<Vec<_>>())?;
            let stream = TlsAcceptor::from(Arc::new(config)).accept(socket).await;
            let mut stream = TlsStream::from(stream.map_err(ConnectError::Handshake)?);
            // The verifier has let in nobody else.
            let peer = self.peer_of(&stream).ok_or(ConnectError::Stranger)?;
            let found = message::read(&mut stream, LONGEST_GREETING, limits.handshake).await;
            match self.check(found, peer) {
                // A knock: it is dialed as it is.
                Ok(_) if peer > self.shared.me() => {
                    let refused = ConnectError::Refused(Reason::Begins);
                    refuse(&mut stream, refused, limits.handshake).await;
                    Err(ConnectError::Heard)
                }
                Ok(hello) => {
                    let own = self.hello(peer);
                    message::write(&mut stream, &Message::Hello(own)).await?;
                    stream.flush().await?;
                    Ok((peer, stream, hello.next))
                }
                Err(error @ ConnectError::Declined(end)) => {
                    self.shared.ended(peer, end);
                    self.say_disconnected(peer, &error);
                    Err(ConnectError::Heard)
                }
                Err(ConnectError::Asked) => {
                    let due = Due {
                        number: self.run,
                        is_under_way: true,
                    };
                    let answer = answer_to(self.study, due, self.shared.me(), peer);
                    message::write(&mut stream, &answer).await?;
                    stream.shutdown().await?;
                    Err(ConnectError::Heard)
                }
                Err(error) => Err(refuse(&mut stream, error, limits.handshake).await),
            }
        };
        timeout(limits.handshake, greet)
            .await
            .unwrap_or(Err(ConnectError::Slow))
    }

    async fn dial(self: Arc<Self>, peer: u16) {
        let limits = *self.shared.limits();
        let mut pause = limits.first_pause;
        loop {
            let attempt = timeout(limits.handshake, self.call(peer)).await;
            match attempt.unwrap_or(Err(ConnectError::Slow)) {
                Ok((stream, next)) => {
                    self.serve(peer, stream, next).await;
                    pause = limits.first_pause;
                    sleep(pause).await;
                }
                Err(error) => {
                    if let ConnectError::RefusedUs(reason) = error {
                        self.refused(peer, reason);
                    }
                    self.shared.attempt_failed(peer, error.to_string());
                    self.say_disconnected(peer, &error);
                    sleep(pause).await;
                    pause = (pause * 2).min(limits.longest_pause);
                }
            }
        }
    }

    /// Knocks at a peer that should dial, for as long as it is not connected.
    async fn knock(self: Arc<Self>, peer: u16) {
        let door = Door {
            me: self.shared.me(),
            study: self.study,
            secret: Arc::clone(&self.secret),
            keys: self.keys.clone(),
        };
        let address = &self.addresses[usize::from(peer)];
        let longest = self.shared.limits().longest_pause;
        let mut pause = FIRST_KNOCK.min(longest);
        loop {
            sleep(pause).await;
            pause = (pause * 2).min(longest);
            if self.shared.is_connected(peer) {
                continue;
            }
            // Where nobody answers, the next knock may be heard.
            let answer = door.knock(peer, address, self.run).await;
            if let Err(KnockError::Refused(reason)) = answer {
                self.refused(peer, reason);
            }
            if let Err(error) = answer {
                self.shared.attempt_failed(peer, error.to_string());
            }
        }
    }

    /// Notes what a refusal says of a peer's part in the run.
    fn refused(&self, peer: u16, reason: Reason) {
        match reason {
            Reason::Over => self.shared.over(peer),
            Reason::GivenUp => self.shared.ended(peer, End::GivenUp),
            _ => {}
        }
    }

    /// The dialer's side of a greeting.
    async fn call(&self, peer: u16) -> Result<(Stream, u64), ConnectError> {
        let limits = self.shared.limits();
        let place = usize::from(peer);
        let socket = TcpStream::connect(&self.addresses[place])
            .await
            .map_err(ConnectError::Unreachable)?;
        socket.set_nodelay(true)?;
        let config = tls::dialing(&self.secret, self.keys[place])?;
        let connector = TlsConnector::from(Arc::new(config));
        let stream = connector.connect(tls::no_name(), socket).await;
        let mut stream = TlsStream::from(stream.map_err(ConnectError::Handshake)?);
        let hello = Message::Hello(self.hello(peer));
        let greet = async {
            message::write(&mut stream, &hello).await?;
            stream.flush().await
        };
        // A peer that does not take this site's key may have hung up; what it said of it is there.
        let _ = greet.await;
        let found = message::read(&mut stream, LONGEST_GREETING, limits.handshake).await;
        match self.check(found, peer) {
            Ok(hello) => Ok((stream, hello.next)),
            Err(error) => Err(refuse(&mut stream, error, limits.handshake).await),
        }
    }

    fn hello(&self, to: u16) -> Hello {
        Hello {
            version: VERSION,
            study: self.study,
            run: self.run,
            from: self.shared.me(),
            to,
            next: self.shared.due(to),
        }
    }

    /// Whether a greeting is that of a peer in the same study and run.
    fn check(&self, found: Result<Message, ReadError>, peer: u16) -> Result<Hello, ConnectError> {
        let hello = match found {
            Ok(Message::Hello(hello)) => hello,
            Ok(Message::Refused(reason)) => return Err(ConnectError::RefusedUs(reason)),
            Ok(Message::Declined { study, run, end }) if (study, run) == (self.study, self.run) => {
                return Err(ConnectError::Declined(end));
            }
            Err(ReadError::Message(MessageError::OtherVersion(_))) => {
                return Err(ConnectError::Refused(Reason::OtherVersion));
            }
            Ok(_) | Err(ReadError::Message(_)) => {
                return Err(ConnectError::Refused(Reason::NoGreeting));
            }
            // A peer that does not know this site's key hangs up on it here.
            Err(ReadError::Line(error)) => return Err(ConnectError::Handshake(error)),
        };
        let reason = if hello.study != self.study {
            Reason::OtherStudy
        } else if hello.run == NO_RUN && (hello.from, hello.to) == (peer, self.shared.me()) {
            return Err(ConnectError::Asked);
        } else if hello.run != self.run {
            let ended = self.shared.run_ended(self.study, hello.run);
            ended.unwrap_or(Reason::OtherRun)
        } else if (hello.from, hello.to) != (peer, self.shared.me()) {
            Reason::OtherSite
        } else {
            return Ok(hello);
        };
        Err(ConnectError::Refused(reason))
    }

    fn peer_of(&self, stream: &Stream) -> Option<u16> {
        let certificates = stream.get_ref().1.peer_certificates()?;
        let key = tls::key_of(certificates.first()?)?;
        let has_key = |peer: &u16| *self.keys[usize::from(*peer)].as_bytes() == key;
        self.shared.peers().find(has_key)
    }

    /// Both directions of a connection, until it ends.
    async fn serve(&self, peer: u16, stream: Stream, next: u64) {
        let (number, replaced) = self.shared.connected(peer, next);
        (self.watcher)(Event::Connected {
            peer: self.shared.name(peer).to_owned(),
        });
        let (reader, writer) = tokio::io::split(stream);
        let error = tokio::select! {
            error = self.hear(peer, reader) => error,
            error = self.speak(peer, writer, next) => error,
            _ = replaced => ConnectError::Replaced,
        };
        self.shared.disconnected(peer, number, error.to_string());
        self.say_disconnected(peer, &error);
    }

    async fn hear(&self, peer: u16, reader: tokio::io::ReadHalf<Stream>) -> ConnectError {
        let mut reader = BufReader::with_capacity(BUFFER, reader);
        let idle = self.shared.limits().idle;
        loop {
            // A peer cannot fill this site's disk: the line holds what the run has no use for yet.
            while self.shared.is_far_ahead(peer) {
                sleep(Duration::from_millis(10)).await;
            }
            match message::read(&mut reader, LONGEST, idle).await {
                Ok(Message::Frame { number, bytes }) => {
                    if !self.shared.deliver(peer, number, &bytes) {
                        return ConnectError::Gap;
                    }
                }
                Ok(Message::Seen { next }) => self.shared.seen(peer, next),
                Ok(Message::Alive) => {}
                Ok(Message::Ended(end)) => self.shared.ended(peer, end),
                Ok(Message::Hello(_) | Message::Refused(_) | Message::Declined { .. }) => {
                    return ConnectError::OutOfPlace;
                }
                Err(error) => return error.into(),
            }
        }
    }

    async fn speak(
        &self,
        peer: u16,
        writer: tokio::io::WriteHalf<Stream>,
        next: u64,
    ) -> ConnectError {
        let mut writer = BufWriter::with_capacity(BUFFER, writer);
        match self.speak_until_broken(peer, &mut writer, next).await {
            Ok(never) => match never {},
            Err(error) => ConnectError::Line(error),
        }
    }

    async fn speak_until_broken(
        &self,
        peer: u16,
        writer: &mut BufWriter<tokio::io::WriteHalf<Stream>>,
        next: u64,
    ) -> std::io::Result<std::convert::Infallible> {
        let limits = self.shared.limits();
        let (mut cursor, mut told, mut has_ended) = (next, 0, false);
        loop {
            let more = self.shared.outgoing(peer).notified();
            loop {
                let message = match self.shared.to_say(peer, cursor, told) {
                    Saying::Frame(bytes) => {
                        let number = cursor;
                        cursor += 1;
                        Message::Frame { number, bytes }
                    }
                    Saying::Seen(next) => {
                        told = next;
                        Message::Seen { next }
                    }
                    Saying::Ended(end) if !has_ended => {
                        has_ended = true;
                        Message::Ended(end)
                    }
                    Saying::Ended(_) | Saying::Nothing => break,
                };
                message::write(writer, &message).await?;
            }
            writer.flush().await?;
            self.shared.told(peer, told);
            tokio::select! {
                () = more => {}
                () = sleep(limits.alive) => message::write(writer, &Message::Alive).await?,
            }
        }
    }

    fn say_disconnected(&self, peer: u16, error: &ConnectError) {
        (self.watcher)(Event::Disconnected {
            peer: self.shared.name(peer).to_owned(),
            why: error.to_string(),
        });
    }

    fn turned_away(&self, address: String, error: &ConnectError) {
        let why = error.to_string();
        (self.watcher)(Event::TurnedAway { address, why });
    }
}

type Stream = TlsStream<TcpStream>;

/// Tells the other end why, and gives the reason back. A peer that was refused itself knows.
async fn refuse(stream: &mut Stream, error: ConnectError, limit: Duration) -> ConnectError {
    if let ConnectError::Refused(reason) = error {
        let tell = async {
            message::write(stream, &Message::Refused(reason)).await?;
            stream.shutdown().await
        };
        // It may have hung up already; the reason stays the same.
        let _ = timeout(limit, tell).await;
    }
    error
}
