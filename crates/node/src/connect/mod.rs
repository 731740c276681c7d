//! Connections between sites: who dials, who listens, how both ends know each other, and what is
//! said while a connection lasts.
//!
//! Of two sites, the site that stands first in the study dials. The other dials too, a little later,
//! while there is no connection: the first may not know of the run yet (see `knock`), or the way to the
//! other may be blocked or flooded. A connection that the first site dialed replaces any other; a
//! connection that the second dialed replaces no other. So two sites that call each other at the same
//! moment end with one connection. Both prove their keys (see `tls`), then greet: version, study, run,
//! places, and the number of the next frame each expects. A greeting that does not fit is answered with
//! the reason and the connection is closed; the caller tries again, later and later, since the other
//! side may be putting things right.
//!
//! In a star (see `star`) a leaf stands before the hub, and sites may be connected through the hub.
//!
//! Strangers get as far as the TLS handshake and keep no peer out (see `reception`). Reading from a peer
//! stops while the run has no use for its frames, so that a peer cannot fill this site's disk.
//!
//! # Discloses
//! See `tls` and `message`.

mod error;

use std::sync::Arc;
use std::time::{Duration, Instant};

use hedgerow_smc::wire::HEADER_BYTES;
use tokio::io::{AsyncWriteExt as _, BufReader, BufWriter};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_rustls::{TlsConnector, TlsStream};

use crate::agreement::StudyHash;
use crate::events::{Event, Watcher};
use crate::identity::{PublicKey, Secret};
use crate::knock::{Due, answer_to};
use crate::lines::{Saying, Shared};
use crate::message::{
    self, End, Hello, LONGEST, LONGEST_GREETING, Message, MessageError, NO_RUN, ReadError, Reason,
};
use crate::questions::{self, Questions};
use crate::reception::{Reception, Refusal, Rules, Stream, introduce};
use crate::star::{self, Entrance, Star, is_first, reach};
use crate::tls::{self, Papers};
use error::ConnectError;

/// Bytes that are gathered before they go on the line.
const BUFFER: usize = 1 << 16;

/// The pause before a site dials a peer that stands before it in the study: most such peers dial by
/// themselves.
const SECOND: Duration = Duration::from_secs(1);

/// How often a waiting task looks whether there is a connection.
const LOOK: Duration = Duration::from_millis(20);

/// Everything that connections of one run need.
pub(crate) struct Connections {
    shared: Arc<Shared>,
    study: StudyHash,
    run: u32,
    keys: Vec<PublicKey>,
    addresses: Vec<String>,
    secret: Arc<Secret>,
    papers: Arc<Papers>,
    watcher: Watcher,
    questions: Option<Arc<Questions>>,
    star: Option<Star>,
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
            papers: Arc::new(Papers::new(Arc::clone(&secret))),
            secret,
            watcher,
            questions: None,
            star: None,
        }
    }

    /// Reaches peers as this site does in a star.
    pub(crate) fn in_star(self, star: Option<Star>) -> Self {
        Self { star, ..self }
    }

    /// Hands connections for questions over that come meanwhile.
    pub(crate) fn with_questions(self, questions: Option<Arc<Questions>>) -> Self {
        Self { questions, ..self }
    }

    /// Starts all tasks of the connections; they end when the returned set is dropped.
    pub(crate) fn start(self, entrance: Entrance) -> JoinSet<()> {
        let this = Arc::new(self);
        let mut tasks = JoinSet::new();
        tasks.spawn(Arc::clone(&this).listen(entrance));
        for peer in this.shared.peers() {
            tasks.spawn(Arc::clone(&this).dial(peer));
        }
        let shared = Arc::clone(&this.shared);
        tasks.spawn(async move { shared.sync_always().await });
        let shared = Arc::clone(&this.shared);
        tasks.spawn(async move {
            loop {
                sleep(Duration::from_millis(100)).await;
                shared.expire();
            }
        });
        tasks
    }

    async fn listen(self: Arc<Self>, entrance: Entrance) {
        let limits = self.shared.limits();
        let guests: Vec<u16> = self.shared.peers().collect();
        let rules = Rules {
            keys: &self.keys,
            guests: &guests,
            limit: limits.handshake,
            strangers: limits.strangers,
        };
        let papers = Arc::clone(&self.papers);
        let watcher = Arc::clone(&self.watcher);
        let mut reception = match Reception::new(&self.secret, papers, &rules, watcher) {
            Ok(reception) => reception,
            // Nobody can call, and calls of this site fail in the same way.
            Err(error) => {
                let error = ConnectError::Tls(error);
                for peer in guests {
                    self.shared.attempt_failed(peer, error.to_string());
                    self.say_disconnected(peer, &error);
                }
                return;
            }
        };
        let this = Arc::clone(&self);
        let greet = move |peer, stream| Arc::clone(&this).greet(peer, stream);
        let mut serving = JoinSet::new();
        loop {
            tokio::select! {
                (peer, stream, next) = reception.next(&entrance, greet.clone()) => {
                    let this = Arc::clone(&self);
                    serving.spawn(async move { this.serve(peer, stream, next, peer).await });
                }
                Some(_) = serving.join_next() => {}
            }
        }
    }

    /// The listener's side of a greeting.
    async fn greet(
        self: Arc<Self>,
        peer: u16,
        mut stream: Stream,
    ) -> Result<(u16, Stream, u64), Refusal> {
        let limit = self.shared.limits().handshake;
        let found = message::read(&mut stream, LONGEST_GREETING, limit).await;
        if let Ok(greeting @ Message::Attend { .. }) = &found {
            return Err(questions::receive(self.questions.as_ref(), peer, stream, greeting).await);
        }
        if let Ok(greeting @ Message::Relay { .. }) = &found {
            return Err(star::receive(self.star.as_ref(), peer, stream, greeting).await);
        }
        let error = match self.check(found, peer).await {
            Ok(_) if self.is_first(peer) && self.shared.is_connected(peer) => {
                let refused = ConnectError::Refused(Reason::Connected);
                refuse(&mut stream, refused, limit).await;
                return Err(None);
            }
            Ok(hello) => {
                let own = Message::Hello(self.hello(peer));
                let said = async {
                    message::write(&mut stream, &own).await?;
                    stream.flush().await
                };
                match said.await {
                    Ok(()) => return Ok((peer, stream, hello.next)),
                    Err(error) => ConnectError::Line(error),
                }
            }
            Err(error @ ConnectError::Declined(end)) => {
                self.shared.ended(peer, end);
                self.say_disconnected(peer, &error);
                return Err(None);
            }
            Err(ConnectError::Asked) => {
                let due = Due {
                    number: self.run,
                    is_under_way: true,
                };
                let answer = answer_to(self.study, due, self.shared.me(), peer);
                let tell = async {
                    message::write(&mut stream, &answer).await?;
                    stream.shutdown().await
                };
                // Whoever asked may have hung up already.
                let _ = timeout(limit, tell).await;
                return Err(None);
            }
            Err(error) => refuse(&mut stream, error, limit).await,
        };
        Err(Some(error.to_string()))
    }

    async fn dial(self: Arc<Self>, peer: u16) {
        let limits = *self.shared.limits();
        let is_first = self.is_first(peer);
        let first_pause = if is_first {
            limits.first_pause
        } else {
            sleep(SECOND.min(limits.longest_pause)).await;
            SECOND.min(limits.longest_pause)
        };
        let mut pause = first_pause;
        loop {
            if self.shared.is_connected(peer) {
                pause = first_pause;
                sleep(LOOK).await;
                continue;
            }
            let attempt = timeout(limits.handshake, self.call(peer)).await;
            match attempt.unwrap_or(Err(ConnectError::Slow)) {
                Ok((stream, next)) => {
                    let since = Instant::now();
                    self.serve(peer, stream, next, self.shared.me()).await;
                    // A peer that hangs up after each greeting is called as seldom as a peer that is
                    // gone.
                    if since.elapsed() >= pause * 10 {
                        pause = first_pause;
                    }
                }
                Err(ConnectError::RefusedUs(Reason::Connected)) => {}
                Err(error) => {
                    if let ConnectError::RefusedUs(reason) = error {
                        self.refused(peer, reason);
                    }
                    self.shared.attempt_failed(peer, error.to_string());
                    // Nobody hears of attempts by the second site of a pair, since the first site is the
                    // one to call.
                    if is_first {
                        self.say_disconnected(peer, &error);
                    }
                }
            }
            sleep(pause).await;
            pause = (pause * 2).min(limits.longest_pause);
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
        let line = reach(self.star.as_ref(), peer, &self.addresses[place])
            .await
            .map_err(ConnectError::Unreachable)?;
        let word = introduce(&self.secret, self.shared.me(), &self.keys[place]);
        let config = tls::dialing(&self.papers, self.keys[place], word)?;
        let connector = TlsConnector::from(Arc::new(config));
        let stream = connector.connect(tls::no_name(), line).await;
        let mut stream = TlsStream::from(stream.map_err(ConnectError::Handshake)?);
        let hello = Message::Hello(self.hello(peer));
        let greet = async {
            message::write(&mut stream, &hello).await?;
            stream.flush().await
        };
        // A peer that does not accept this site's key may have hung up; its reason may still be on the
        // line.
        let _ = greet.await;
        let found = message::read(&mut stream, LONGEST_GREETING, limits.handshake).await;
        match self.check(found, peer).await {
            Ok(hello) => Ok((stream, hello.next)),
            Err(error) => Err(refuse(&mut stream, error, limits.handshake).await),
        }
    }

    /// Whether this site dials the peer first, and the peer a little later.
    fn is_first(&self, peer: u16) -> bool {
        is_first(self.star.as_ref(), self.shared.me(), peer)
    }

    fn hello(&self, to: u16) -> Hello {
        Hello {
            study: self.study,
            run: self.run,
            from: self.shared.me(),
            to,
            next: self.shared.due(to),
        }
    }

    /// Whether a greeting comes from a peer in the same study and run.
    async fn check(
        &self,
        found: Result<Message, ReadError>,
        peer: u16,
    ) -> Result<Hello, ConnectError> {
        let hello = match found {
            Ok(Message::Hello(hello)) => hello,
            Ok(Message::Refused(reason)) => return Err(ConnectError::RefusedUs(reason)),
            Ok(Message::Declined { study, run, end }) if (study, run) == (self.study, self.run) => {
                return Err(ConnectError::Declined(end));
            }
            Err(ReadError::Message(MessageError::OtherVersion(theirs))) => {
                return Err(ConnectError::Refused(Reason::OtherVersion(theirs)));
            }
            Ok(_) | Err(ReadError::Message(_)) => {
                return Err(ConnectError::Refused(Reason::NoGreeting));
            }
            // A peer that does not know this site's key hangs up here.
            Err(ReadError::Line(error)) => return Err(ConnectError::Handshake(error)),
        };
        let reason = if hello.study != self.study {
            Reason::OtherStudy
        } else if hello.run == NO_RUN && (hello.from, hello.to) == (peer, self.shared.me()) {
            return Err(ConnectError::Asked);
        } else if hello.run != self.run {
            let ended = self.shared.run_ended(self.study, hello.run).await;
            ended.unwrap_or(Reason::OtherRun)
        } else if (hello.from, hello.to) != (peer, self.shared.me()) {
            Reason::OtherSite
        } else {
            return Ok(hello);
        };
        Err(ConnectError::Refused(reason))
    }

    /// Serves both directions of a connection, dialed by either site, until the connection ends.
    async fn serve(&self, peer: u16, stream: Stream, next: u64, dialer: u16) {
        let takes_over = (dialer == self.shared.me()) == self.is_first(peer);
        let Some(ready) = self.shared.connected(peer, next, takes_over) else {
            return;
        };
        (self.watcher)(Event::Connected {
            peer: self.shared.name(peer).to_owned(),
        });
        let (reader, writer) = tokio::io::split(stream);
        let error = tokio::select! {
            error = self.hear(peer, reader) => error,
            error = self.speak(peer, writer, ready.cursor) => error,
            _ = ready.ended => ConnectError::Replaced,
        };
        self.shared
            .disconnected(peer, ready.number, error.to_string());
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
                Ok(Message::Frame { bytes, .. }) if bytes.len() < HEADER_BYTES => {
                    return ConnectError::TooShort;
                }
                Ok(Message::Frame { number, bytes }) => {
                    if !self.shared.deliver(peer, number, bytes).await {
                        return ConnectError::Gap;
                    }
                }
                Ok(Message::Seen { next }) => {
                    if !self.shared.seen(peer, next) {
                        return ConnectError::Unsent;
                    }
                }
                Ok(Message::Alive) => {}
                Ok(Message::Ended(end)) => self.shared.ended(peer, end),
                Ok(
                    Message::Hello(_)
                    | Message::Refused(_)
                    | Message::Declined { .. }
                    | Message::Attend { .. }
                    | Message::Relay { .. },
                ) => {
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
                let message = match self.shared.to_say(peer, cursor, told).await {
                    Saying::Frame(number, bytes) => {
                        cursor = number + 1;
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
}

/// Tells the other end why the connection is refused, and returns the reason. A peer that itself refused
/// this site knows.
async fn refuse(stream: &mut Stream, error: ConnectError, limit: Duration) -> ConnectError {
    if let ConnectError::Refused(reason) = error {
        let tell = async {
            message::write(stream, &Message::Refused(reason)).await?;
            stream.shutdown().await
        };
        // The peer may have hung up already; the reason stays the same.
        let _ = timeout(limit, tell).await;
    }
    error
}
