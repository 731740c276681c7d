//! One connection for each pair of sites, kept open for questions.
//!
//! Connections are made as those of runs are (see `connect`): through the same port and reception, with both
//! keys proven and pinned to the study. The site that stands first in the study dials; the other dials too
//! while there is no connection, a little later. A connection says something every second, and one on which
//! nothing comes for some seconds is dead, so that a site that is away is known at once.

use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncWriteExt as _, BufReader, BufWriter};
use tokio::time::{sleep, timeout};
use tokio_rustls::{TlsConnector, TlsStream};

use super::state::Failure;
use super::word::{self, Word, WordError};
use super::{LONGEST_QUESTION, Questions};
use crate::events::Event;
use crate::message::{self, LONGEST_GREETING, Message, ReadError, Reason};
use crate::reception::{Refusal, Stream, introduce};
use crate::star::{is_first, reach};
use crate::tls::{self, TlsError};

/// Bytes that are gathered before they go on the line.
const BUFFER: usize = 1 << 16;
/// The pause before a site dials a peer that stands before it in the study.
const SECOND: Duration = Duration::from_secs(1);
/// How often a waiting task looks whether there is a connection.
const LOOK: Duration = Duration::from_millis(20);

/// Why there is no connection for questions.
#[derive(Debug, thiserror::Error)]
enum ConnectError {
    #[error("cannot be reached: {0}")]
    Unreachable(std::io::Error),
    #[error("no secure connection: {}", tls::in_words(.0))]
    Handshake(std::io::Error),
    #[error(transparent)]
    Tls(#[from] TlsError),
    #[error("did not greet in time")]
    Slow,
    #[error("refused: {0}")]
    Refused(Reason),
    #[error("what it says is no greeting")]
    NoGreeting,
    #[error(transparent)]
    Word(#[from] WordError),
    #[error("a newer connection took its place")]
    Replaced,
}

/// Hands a connection for questions over, or tells it that nobody answers questions here.
pub(crate) async fn receive(
    questions: Option<&Arc<Questions>>,
    peer: u16,
    mut stream: Stream,
    greeting: &Message,
) -> Refusal {
    if let Some(questions) = questions {
        return questions.receive(peer, stream, greeting).await;
    }
    let answer = Message::Refused(Reason::NoQuestions);
    let tell = async {
        message::write(&mut stream, &answer).await?;
        stream.shutdown().await
    };
    // The site may have hung up already. It asks again and again, so nobody hears of it.
    let _ = timeout(SECOND, tell).await;
    None
}

impl Questions {
    /// The listener's side of a greeting for questions: the line is kept, or the reason is told why not.
    async fn receive(
        self: &Arc<Self>,
        peer: u16,
        mut stream: Stream,
        greeting: &Message,
    ) -> Refusal {
        let refused = match self.check(greeting, peer) {
            Ok(()) if self.is_first(peer) && self.shared.is_connected(peer) => {
                Some(Reason::Connected)
            }
            Ok(()) => None,
            Err(ConnectError::Refused(reason)) => Some(reason),
            Err(_) => Some(Reason::NoGreeting),
        };
        let answer = refused.map_or_else(|| self.greeting(peer), Message::Refused);
        let said = async {
            message::write(&mut stream, &answer).await?;
            stream.flush().await
        };
        let said = timeout(self.limits.handshake, said).await;
        match (refused, said) {
            (None, Ok(Ok(()))) => {
                let this = Arc::clone(self);
                self.spawn(async move { this.keep(peer, stream, peer).await });
                None
            }
            (Some(Reason::Connected), _) | (None, _) => None,
            (Some(reason), _) => Some(format!("refused: {reason}")),
        }
    }

    /// Keeps a connection to a peer, as long as the node lasts.
    pub(super) async fn dial(self: Arc<Self>, peer: u16) {
        let is_first = self.is_first(peer);
        let first_pause = match is_first {
            true => self.limits.first_pause,
            false => SECOND.min(self.limits.longest_pause),
        };
        if !is_first {
            sleep(first_pause).await;
        }
        let mut pause = first_pause;
        loop {
            if self.shared.is_connected(peer) {
                pause = first_pause;
                sleep(LOOK).await;
                continue;
            }
            let attempt = timeout(self.limits.handshake, self.call(peer)).await;
            match attempt.unwrap_or(Err(ConnectError::Slow)) {
                Ok(stream) => self.keep(peer, stream, self.shared.me).await,
                Err(ConnectError::Refused(Reason::Connected)) => {}
                Err(error) => self.shared.attempt_failed(peer, error.to_string()),
            }
            sleep(pause).await;
            pause = (pause * 2).min(self.limits.longest_pause);
        }
    }

    /// The dialer's side of a greeting.
    async fn call(&self, peer: u16) -> Result<Stream, ConnectError> {
        let place = usize::from(peer);
        let line = reach(self.star.as_ref(), peer, &self.addresses[place]).await;
        let line = line.map_err(ConnectError::Unreachable)?;
        let word = introduce(&self.secret, self.shared.me, &self.keys[place]);
        let config = tls::dialing(&self.papers, self.keys[place], word)?;
        let connector = TlsConnector::from(Arc::new(config));
        let stream = connector.connect(tls::no_name(), line).await;
        let mut stream = TlsStream::from(stream.map_err(ConnectError::Handshake)?);
        let greet = async {
            message::write(&mut stream, &self.greeting(peer)).await?;
            stream.flush().await
        };
        // A peer that does not accept this site's key may have hung up; its reason may still be on the line.
        let _ = greet.await;
        match message::read(&mut stream, LONGEST_GREETING, self.limits.handshake).await {
            Ok(greeting) => self.check(&greeting, peer).map(|()| stream),
            Err(ReadError::Message(message::MessageError::OtherVersion(theirs))) => {
                Err(ConnectError::Refused(Reason::OtherVersion(theirs)))
            }
            Err(ReadError::Message(_)) => Err(ConnectError::NoGreeting),
            Err(ReadError::Line(error)) => Err(ConnectError::Handshake(error)),
        }
    }

    /// Whether this site dials the peer first, and the peer a little later.
    fn is_first(&self, peer: u16) -> bool {
        is_first(self.star.as_ref(), self.shared.me, peer)
    }

    fn greeting(&self, to: u16) -> Message {
        Message::Attend {
            study: self.study,
            from: self.shared.me,
            to,
        }
    }

    fn check(&self, greeting: &Message, peer: u16) -> Result<(), ConnectError> {
        match greeting {
            Message::Attend { study, .. } if *study != self.study => {
                Err(ConnectError::Refused(Reason::OtherStudy))
            }
            Message::Attend { from, to, .. }
                if (*from, *to) != (peer, self.shared.me) || peer == self.shared.me =>
            {
                Err(ConnectError::Refused(Reason::OtherSite))
            }
            Message::Attend { .. } => Ok(()),
            Message::Refused(reason) => Err(ConnectError::Refused(*reason)),
            _ => Err(ConnectError::NoGreeting),
        }
    }

    /// Keeps both directions of a connection going, dialed by either site, until the connection ends.
    async fn keep(self: &Arc<Self>, peer: u16, stream: Stream, dialer: u16) {
        let takes_over = (dialer == self.shared.me) == self.is_first(peer);
        let Some((number, replaced)) = self.shared.connected(peer, takes_over) else {
            return;
        };
        self.tell(Event::Connected {
            peer: self.name(peer).to_owned(),
        });
        let (reader, writer) = tokio::io::split(stream);
        let error = tokio::select! {
            error = self.hear(peer, reader) => error,
            error = self.speak(peer, number, writer) => error,
            _ = replaced => ConnectError::Replaced,
        };
        self.shared.disconnected(peer, number, error.to_string());
        self.tell(Event::Disconnected {
            peer: self.name(peer).to_owned(),
            why: error.to_string(),
        });
    }

    async fn hear(
        self: &Arc<Self>,
        peer: u16,
        reader: tokio::io::ReadHalf<Stream>,
    ) -> ConnectError {
        let mut reader = BufReader::with_capacity(BUFFER, reader);
        // Questions of one asker are taken in the order in which it numbered them.
        let asked = self.admit(peer);
        loop {
            match word::read(&mut reader, self.limits.idle).await {
                Ok(Word::Alive) => {}
                Ok(Word::Life(life)) => self.shared.lives(peer, life),
                Ok(Word::Frame { name, bytes }) => self.shared.deliver(peer, name, bytes),
                Ok(Word::Ask(asking)) if asking.question.len() > LONGEST_QUESTION => {
                    self.refuse_long(peer, &asking);
                }
                Ok(Word::Ask(asking)) => {
                    if let Err(asking) = asked.try_send(*asking) {
                        self.turn_away(peer, &asking.into_inner());
                    }
                }
                Ok(Word::Refused { name, refusal }) => {
                    let failure = Failure::Refused { by: peer, refusal };
                    self.shared.heard_end(peer, &name, failure);
                }
                Ok(Word::Ended { name, end }) => {
                    let failure = Failure::Said { by: peer, end };
                    self.shared.heard_end(peer, &name, failure);
                }
                Err(error) => return error.into(),
            }
        }
    }

    async fn speak(
        &self,
        peer: u16,
        number: u64,
        writer: tokio::io::WriteHalf<Stream>,
    ) -> ConnectError {
        let mut writer = BufWriter::with_capacity(BUFFER, writer);
        loop {
            let more = self.shared.outgoing(peer).notified();
            let say = async {
                while let Some(bytes) = self.shared.next_to_say(peer, number) {
                    word::write(&mut writer, &bytes, self.limits.idle).await?;
                }
                timeout(self.limits.idle, writer.flush()).await?
            };
            if let Err(error) = say.await {
                return WordError::Line(error).into();
            }
            if timeout(self.limits.alive, more).await.is_err() {
                let alive = Word::Alive.encode();
                if let Err(error) = word::write(&mut writer, &alive, self.limits.idle).await {
                    return WordError::Line(error).into();
                }
            }
        }
    }
}
