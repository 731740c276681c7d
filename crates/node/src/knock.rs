//! How a run begins where nodes wait: a site of the study knocks.
//!
//! A waiting node only listens. A knock is the greeting of a run (see `connect`) from a site whose key
//! the study pins, so a site that dials its peers for a run knocks by dialing; a site knocks at its own
//! node too. A knock asks for a run by its number, and the node says whether it takes that run. A peer
//! whose knock is heard is told that the node begins; a node greets back only to its own site, since a
//! greeting to a peer is part of the run. A site that cannot take its part says so in a knock at each
//! peer. A site that does not know any more which run is due asks for run 0, which never exists, and is
//! answered with the number of the due run.
//!
//! # Discloses
//! To sites of the study: that a node listens, whether it has this study and takes this run, has ended
//! the run or cannot take part in it (but not why), and which run is due. To strangers: what `tls`
//! lists.

use std::sync::Arc;
use std::time::Duration;

use tokio::io::AsyncWriteExt as _;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsConnector;

use crate::agreement::StudyHash;
use crate::events::Watcher;
use crate::identity::{PublicKey, Secret};
use crate::message::{
    self, End, Hello, LONGEST_GREETING, Message, MessageError, NO_RUN, ReadError, Reason,
};
use crate::questions::{self, Questions};
use crate::reception::{Reception, Refusal, Rules, STRANGERS, Stream, introduce};
use crate::star::{self, Entrance, Star, reach};
use crate::tls::{self, Papers, TlsError};

/// A knock takes at most this long.
const LIMIT: Duration = Duration::from_secs(10);
/// Nobody waits longer than this for a peer to hear that this site cannot take its part.
const DECLINING: Duration = Duration::from_secs(3);
/// How long until a site that did not listen is told again.
const AGAIN: Duration = Duration::from_millis(100);

/// Why a knock was not heard.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KnockError {
    /// Nobody listens at the address.
    #[error("cannot be reached: {0}")]
    Unreachable(std::io::Error),
    /// The listener is no waiting node of this study.
    #[error("no node waits there: {0}")]
    NoNode(String),
    /// The node does not take the run.
    #[error("refused: {0}")]
    Refused(Reason),
    /// TLS cannot be set up.
    #[error(transparent)]
    Tls(#[from] TlsError),
}

/// The run that is due at a site.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Due {
    /// The run's number.
    pub number: u32,
    /// Whether the run has begun at that site.
    pub is_under_way: bool,
}

/// What a site needs to knock and to be knocked at.
pub struct Door {
    /// This site's place in the study.
    pub me: u16,
    /// The study.
    pub study: StudyHash,
    /// This site's secret key.
    pub secret: Arc<Secret>,
    /// Keys of all sites, in the study's order.
    pub keys: Vec<PublicKey>,
    /// Where connections for questions go.
    pub questions: Option<Arc<Questions>>,
    /// This site's place in a star; `None` where every site has a way to every other.
    pub star: Option<Star>,
}

impl Door {
    /// Waits until a site of the study, this one included, asks for a run that `takes` agrees to; a run
    /// that `takes` does not agree to is refused with the reason. A site that asks which run is due is
    /// told `due`. Returns the site's place and the run.
    pub async fn wait(
        &self,
        entrance: &Entrance,
        takes: impl Fn(u32) -> Result<(), Reason> + Send + Sync + 'static,
        due: impl Fn() -> Due + Send + Sync + 'static,
        watcher: &Watcher,
    ) -> Result<(u16, u32), TlsError> {
        let porter = Arc::new(Porter {
            me: self.me,
            study: self.study,
            questions: self.questions.clone(),
            star: self.star.clone(),
            takes: Box::new(takes),
            due: Box::new(due),
        });
        // This site itself may knock too. A study has at most 1,000 sites that can run.
        let guests: Vec<u16> = (0..self.keys.len() as u16).collect();
        let rules = Rules {
            keys: &self.keys,
            guests: &guests,
            limit: LIMIT,
            strangers: STRANGERS,
        };
        let papers = Arc::new(Papers::new(Arc::clone(&self.secret)));
        let mut reception = Reception::new(&self.secret, papers, &rules, Arc::clone(watcher))?;
        let hear = move |site, stream| Arc::clone(&porter).hear(site, stream);
        Ok(reception.next(entrance, hear).await)
    }

    /// Knocks at a site, or at this site's own node, and asks for a run. A peer's node that takes the
    /// run begins it; whether the peer joins shows in the run itself.
    pub async fn knock(&self, at: u16, address: &str, run: u32) -> Result<(), KnockError> {
        let hello = greeting(self.study, run, self.me, at);
        match self.say(at, address, &hello).await? {
            Message::Hello(_) | Message::Refused(Reason::Begins) => Ok(()),
            Message::Refused(reason) => Err(KnockError::Refused(reason)),
            _ => Err(KnockError::NoNode(String::from(
                "what it says is no greeting",
            ))),
        }
    }

    /// Asks a site which run is due there.
    pub async fn ask(&self, at: u16, address: &str) -> Result<Due, KnockError> {
        let question = greeting(self.study, NO_RUN, self.me, at);
        match self.say(at, address, &question).await? {
            Message::Hello(hello) if hello.study == self.study && hello.run != NO_RUN => Ok(Due {
                number: hello.run,
                is_under_way: hello.next > 0,
            }),
            Message::Refused(reason) => Err(KnockError::Refused(reason)),
            _ => Err(KnockError::NoNode(String::from(
                "what it says is no answer",
            ))),
        }
    }

    /// Tells a peer that this site does not take its part in a run, and the reason in a word; tries for
    /// a while where nobody listens yet. A peer that has not begun may hear of it later, when the peer
    /// knocks.
    pub async fn decline(&self, at: u16, address: &str, run: u32, end: End) {
        let study = self.study;
        // A peer in the run hangs up; a peer that waits answers that this is no greeting.
        let declined = Message::Declined { study, run, end };
        let heard = async {
            while let Err(KnockError::Unreachable(_)) = self.say(at, address, &declined).await {
                sleep(AGAIN).await;
            }
        };
        let _ = timeout(DECLINING, heard).await;
    }

    /// Says one thing at a door and hears the answer.
    async fn say(&self, at: u16, address: &str, message: &Message) -> Result<Message, KnockError> {
        let none = |error: &dyn std::fmt::Display| KnockError::NoNode(error.to_string());
        let key = self.keys[usize::from(at)];
        let papers = Papers::new(Arc::clone(&self.secret));
        let word = introduce(&self.secret, self.me, &key);
        let connector = tls::dialing(&papers, key, word)?;
        let knock = async {
            let line = reach(self.star.as_ref(), at, address).await;
            let line = line.map_err(KnockError::Unreachable)?;
            let connector = TlsConnector::from(Arc::new(connector));
            let stream = connector.connect(tls::no_name(), line).await;
            let mut stream = stream.map_err(|error| none(&error))?;
            let said = async {
                message::write(&mut stream, message).await?;
                stream.flush().await
            };
            said.await.map_err(|error| none(&error))?;
            match message::read(&mut stream, LONGEST_GREETING, LIMIT).await {
                Err(ReadError::Message(MessageError::OtherVersion(theirs))) => {
                    Err(KnockError::Refused(Reason::OtherVersion(theirs)))
                }
                answer => answer.map_err(|error| none(&error)),
            }
        };
        let late = |_| Err(KnockError::NoNode(String::from("it says nothing")));
        timeout(LIMIT, knock).await.unwrap_or_else(late)
    }
}

fn greeting(study: StudyHash, run: u32, from: u16, to: u16) -> Message {
    Message::Hello(Hello {
        study,
        run,
        from,
        to,
        next: 0,
    })
}

/// The answer to a site that asks which run is due: the field of the next frame's number says whether
/// the run has begun.
pub(crate) fn answer_to(study: StudyHash, due: Due, from: u16, to: u16) -> Message {
    Message::Hello(Hello {
        study,
        run: due.number,
        from,
        to,
        next: u64::from(due.is_under_way),
    })
}

fn is_question(found: &Result<Message, ReadError>) -> bool {
    matches!(found, Ok(Message::Hello(hello)) if hello.run == NO_RUN)
}

/// Who listens at the door.
struct Porter {
    me: u16,
    study: StudyHash,
    questions: Option<Arc<Questions>>,
    star: Option<Star>,
    takes: Box<dyn Fn(u32) -> Result<(), Reason> + Send + Sync>,
    due: Box<dyn Fn() -> Due + Send + Sync>,
}

impl Porter {
    async fn hear(self: Arc<Self>, site: u16, mut stream: Stream) -> Result<(u16, u32), Refusal> {
        let found = message::read(&mut stream, LONGEST_GREETING, LIMIT).await;
        if let Ok(greeting @ Message::Attend { .. }) = &found {
            return Err(questions::receive(self.questions.as_ref(), site, stream, greeting).await);
        }
        if let Ok(greeting @ Message::Relay { .. }) = &found {
            return Err(star::receive(self.star.as_ref(), site, stream, greeting).await);
        }
        let answer = self.check(&found, site);
        let message = match &answer {
            // A node that fails at once, again and again, must not look like one in the run.
            Ok(_) if site != self.me => Message::Refused(Reason::Begins),
            Ok(hello) => greeting(self.study, hello.run, self.me, site),
            Err(Reason::OtherRun) if is_question(&found) => {
                answer_to(self.study, (self.due)(), self.me, site)
            }
            Err(reason) => Message::Refused(*reason),
        };
        let tell = async {
            message::write(&mut stream, &message).await?;
            stream.shutdown().await
        };
        // The site may have hung up already; its message stands.
        let _ = tell.await;
        match (answer, found) {
            (Ok(hello), _) => Ok((site, hello.run)),
            (Err(_), Ok(Message::Declined { run, end, .. })) => Err(Some(match end {
                End::GivenUp => format!("it has given run {run} up"),
                _ => format!("it cannot take its part in run {run}"),
            })),
            (Err(Reason::OtherRun), found) if is_question(&found) => Err(Some(String::from(
                "it asked which run is due, and was told",
            ))),
            (Err(reason), _) => Err(Some(format!("refused: {reason}"))),
        }
    }

    fn check(&self, found: &Result<Message, ReadError>, site: u16) -> Result<Hello, Reason> {
        let hello = match found {
            Ok(Message::Hello(hello)) => *hello,
            Err(ReadError::Message(MessageError::OtherVersion(theirs))) => {
                return Err(Reason::OtherVersion(*theirs));
            }
            _ => return Err(Reason::NoGreeting),
        };
        if hello.study != self.study {
            Err(Reason::OtherStudy)
        } else if (hello.from, hello.to) != (site, self.me) {
            Err(Reason::OtherSite)
        } else if hello.run == NO_RUN {
            Err(Reason::OtherRun)
        } else {
            (self.takes)(hello.run).map(|()| hello)
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::sync::Mutex;

    use tokio::io::AsyncReadExt as _;
    use tokio::net::{TcpListener, TcpStream};

    use super::*;
    use crate::events::Event;
    use crate::message::Version;

    fn doors() -> Vec<Door> {
        let secrets: Vec<Arc<Secret>> = (0..3)
            .map(|_| Arc::new(Secret::generate().unwrap()))
            .collect();
        let keys: Vec<PublicKey> = secrets.iter().map(|secret| secret.public()).collect();
        let door = |me: usize| Door {
            me: me as u16,
            study: StudyHash([7; 32]),
            secret: Arc::clone(&secrets[me]),
            keys: keys.clone(),
            questions: None,
            star: None,
        };
        (0..3).map(door).collect()
    }

    #[tokio::test]
    async fn only_a_site_of_the_study_that_asks_for_a_run_to_come_is_heard() {
        let mut doors = doors();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let turned_away = Arc::new(Mutex::new(Vec::new()));
        let noted = Arc::clone(&turned_away);
        let watcher: Watcher = Arc::new(move |event| {
            if let Event::TurnedAway { why, .. } = event {
                noted.lock().unwrap().push(why);
            }
        });
        let node = doors.remove(1);
        let takes = |run| match run {
            4 => Ok(()),
            2 => Err(Reason::Over),
            _ => Err(Reason::OtherRun),
        };
        let due = || Due {
            number: 4,
            is_under_way: true,
        };
        let waiting =
            tokio::spawn(async move { node.wait(&listener.into(), takes, due, &watcher).await });

        // A caller that says nothing keeps nobody out.
        let _silent = TcpStream::connect(&address).await.unwrap();
        let refused = doors[0].knock(1, &address, 3).await;
        assert!(matches!(
            refused,
            Err(KnockError::Refused(Reason::OtherRun))
        ));
        let refused = doors[0].knock(1, &address, 2).await;
        assert!(matches!(refused, Err(KnockError::Refused(Reason::Over))));
        // A question about the due run, or a site that cannot take its part, begins no run.
        let told = doors[0].ask(1, &address).await.unwrap();
        assert_eq!((told.number, told.is_under_way), (4, true));
        doors[0].decline(1, &address, 4, End::Own).await;
        let study = StudyHash([8; 32]);
        let stranger = Door {
            study,
            secret: Arc::clone(&doors[0].secret),
            keys: doors[0].keys.clone(),
            me: 0,
            questions: None,
            star: None,
        };
        let refused = stranger.knock(1, &address, 4).await;
        assert!(matches!(
            refused,
            Err(KnockError::Refused(Reason::OtherStudy))
        ));
        let liar = Door {
            secret: Arc::clone(&doors[0].secret),
            keys: doors[0].keys.clone(),
            study: StudyHash([7; 32]),
            me: 2,
            questions: None,
            star: None,
        };
        let refused = liar.knock(1, &address, 4).await;
        assert!(matches!(
            refused,
            Err(KnockError::Refused(Reason::OtherSite))
        ));
        let foreign = Door {
            secret: Arc::new(Secret::generate().unwrap()),
            keys: doors[0].keys.clone(),
            study: StudyHash([7; 32]),
            me: 0,
            questions: None,
            star: None,
        };
        let refused = foreign.knock(1, &address, 4).await;
        assert!(matches!(refused, Err(KnockError::NoNode(_))), "{refused:?}");

        doors[1].knock(1, &address, 4).await.unwrap();
        assert_eq!(waiting.await.unwrap().unwrap(), (2, 4));
        assert_eq!(turned_away.lock().unwrap().len(), 7);
        let gone = doors[1].knock(1, &address, 4).await;
        assert!(matches!(gone, Err(KnockError::Unreachable(_))), "{gone:?}");
    }

    /// A node that waits and a site that knocks name both versions.
    #[tokio::test]
    async fn versions_that_differ_are_named_at_the_door() {
        let mut doors = doors();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let turned_away = Arc::new(Mutex::new(Vec::new()));
        let noted = Arc::clone(&turned_away);
        let watcher: Watcher = Arc::new(move |event| {
            if let Event::TurnedAway { why, .. } = event {
                noted.lock().unwrap().push(why);
            }
        });
        let node = doors.remove(1);
        let takes = |run| (run == 4).then_some(()).ok_or(Reason::OtherRun);
        let due = || Due {
            number: 4,
            is_under_way: false,
        };
        let waiting =
            tokio::spawn(async move { node.wait(&listener.into(), takes, due, &watcher).await });
        let later = b"\x0dhedgerow\x09\x04 and more than this version knows";
        let connect = async |door: &Door, address: &str| {
            let papers = Papers::new(Arc::clone(&door.secret));
            let word = introduce(&door.secret, door.me, &door.keys[1]);
            let settings = tls::dialing(&papers, door.keys[1], word).unwrap();
            let socket = TcpStream::connect(address).await.unwrap();
            let connector = TlsConnector::from(Arc::new(settings));
            connector.connect(tls::no_name(), socket).await.unwrap()
        };
        let mut stream = connect(&doors[0], &address).await;
        stream.write_u32_le(later.len() as u32).await.unwrap();
        stream.write_all(later).await.unwrap();
        stream.flush().await.unwrap();
        let mut heard = Vec::new();
        stream.read_to_end(&mut heard).await.unwrap();
        let own = [message::VERSION.language, message::VERSION.frames];
        assert_eq!(heard[4..], [&b"\0hedgerow"[..], &own].concat());
        doors[1].knock(1, &address, 4).await.unwrap();
        waiting.await.unwrap().unwrap();
        let said = turned_away.lock().unwrap().clone();
        let words = Reason::OtherVersion(Version {
            language: 9,
            frames: 4,
        });
        assert_eq!(said, [format!("refused: {words}")]);
        assert!(words.to_string().contains(&message::VERSION.to_string()));

        // The other way round: a site of this version knocks at a node of the other version.
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let (secret, keys) = (Arc::clone(&doors[0].secret), doors[0].keys.clone());
        let answering = tokio::spawn(async move {
            let papers = Arc::new(Papers::new(secret));
            let listening = tls::Listening::new(papers, keys).unwrap();
            let acceptor = tokio_rustls::TlsAcceptor::from(listening.settings().unwrap());
            let (socket, _) = listener.accept().await.unwrap();
            let mut stream = acceptor.accept(socket).await.unwrap();
            stream.write_u32_le(later.len() as u32).await.unwrap();
            stream.write_all(later).await.unwrap();
            stream.shutdown().await.unwrap();
        });
        let refused = doors[1].knock(0, &address, 4).await;
        let is_named = matches!(refused, Err(KnockError::Refused(reason)) if reason == words);
        assert!(is_named, "{refused:?}");
        answering.await.unwrap();
    }
}
