//! A leaf's connection to the hub, kept up as long as the leaf needs it.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::{Mutex, mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_rustls::{TlsConnector, TlsStream};

use super::relay::{BUSY, OPEN};
use super::session::{self, Mode, Session, Tunnel};
use super::{LIMIT, absent, most_tunnels};
use crate::agreement::StudyHash;
use crate::identity::{PublicKey, Secret};
use crate::message::{self, LONGEST_GREETING, Message};
use crate::reception::introduce;
use crate::tls::{self, Papers};

const FIRST_PAUSE: Duration = Duration::from_millis(20);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);
/// The hub must have greeted within this time.
const GREETING: Duration = Duration::from_secs(10);
/// Calls that may wait until this site takes them.
const CALLS: usize = 256;

/// What a leaf needs to visit its hub.
pub struct Visit {
    /// This site's place in the study.
    pub me: u16,
    /// The hub's place.
    pub hub: u16,
    /// The hub's name.
    pub name: String,
    /// Where the hub listens.
    pub address: String,
    /// The study.
    pub study: StudyHash,
    /// This site's secret key.
    pub secret: Arc<Secret>,
    /// Keys of all sites, in the study's order.
    pub keys: Vec<PublicKey>,
    /// Whether others may call this site by the connection: one process of a site at a time is to be called.
    pub awaits: bool,
}

/// How the connection stands.
#[derive(Clone)]
enum State {
    Dialing,
    Up(Session),
    Down(String),
}

/// A leaf's connection to the hub.
pub struct Uplink {
    me: u16,
    hub: u16,
    name: String,
    state: watch::Receiver<State>,
    calls: Mutex<mpsc::Receiver<(Tunnel, SocketAddr)>>,
    _task: JoinSet<()>,
}

impl Uplink {
    /// Connects with the hub, again and again, until the returned value is dropped.
    ///
    /// Must be called on a tokio runtime with time and network.
    pub fn start(visit: Visit) -> Arc<Self> {
        let (tell, state) = watch::channel(State::Dialing);
        let (come, calls) = mpsc::channel(CALLS);
        let (me, hub, name) = (visit.me, visit.hub, visit.name.clone());
        let mut task = JoinSet::new();
        task.spawn(async move { visit.keep(&tell, &come).await });
        Arc::new(Self {
            me,
            hub,
            name,
            state,
            calls: Mutex::new(calls),
            _task: task,
        })
    }

    pub(crate) const fn hub(&self) -> u16 {
        self.hub
    }

    /// Whether the way to a site leads through the hub. A site rings its own node at its port, if it has one.
    pub(super) const fn is_needed_for(&self, to: u16, address: &str) -> bool {
        to != self.hub && (to != self.me || address.is_empty())
    }

    /// A tunnel to a site.
    pub(super) async fn call(&self, to: u16) -> io::Result<super::Line> {
        let hub = &self.name;
        let away = |why: &dyn std::fmt::Display| {
            absent(format!(
                "the hub `{hub}`, through which it is reached, is away: {why}"
            ))
        };
        let mut state = self.state.clone();
        let found = state
            .wait_for(|state| !matches!(state, State::Dialing))
            .await
            .map(|state| state.clone());
        let session = match found {
            Ok(State::Up(session)) => session,
            Ok(State::Down(why)) => return Err(away(&why)),
            Ok(State::Dialing) | Err(_) => return Err(away(&"it was not called")),
        };
        let ask = async {
            let mut tunnel = session.open().await?;
            tunnel.write_u16_le(to).await?;
            tunnel.flush().await?;
            Ok::<_, io::Error>((tunnel.read_u8().await?, tunnel))
        };
        let late = |_| Err(io::Error::from(io::ErrorKind::TimedOut));
        let answer = timeout(LIMIT, ask).await.unwrap_or_else(late);
        match answer.map_err(|error| away(&error))? {
            (OPEN, tunnel) => Ok(super::Line::Tunnel(tunnel)),
            (BUSY, _) => Err(absent(format!(
                "the hub `{hub}` passes on no more lines between the two just now"
            ))),
            _ => Err(absent(format!("it is not connected with the hub `{hub}`"))),
        }
    }

    /// The next call of another site, with the hub's address.
    pub(super) async fn accept(&self) -> (Tunnel, SocketAddr) {
        match self.calls.lock().await.recv().await {
            Some(call) => call,
            // The task ends with this value alone.
            None => std::future::pending().await,
        }
    }
}

impl Visit {
    async fn keep(self, tell: &watch::Sender<State>, come: &mpsc::Sender<(Tunnel, SocketAddr)>) {
        let mut pause = FIRST_PAUSE;
        let papers = Papers::new(Arc::clone(&self.secret));
        loop {
            let late = |_| Err(String::from("it did not greet in time"));
            let greeted = timeout(GREETING, self.greet(&papers)).await;
            let why = match greeted.unwrap_or_else(late) {
                Ok((stream, address)) => {
                    let since = Instant::now();
                    let (session, asked) = Session::new();
                    tell.send_replace(State::Up(session));
                    // A call for which there is no room is hung up; its caller tries again.
                    let take = |tunnel| drop(come.try_send((tunnel, address)));
                    let most = most_tunnels(self.keys.len());
                    let error = session::drive(stream, Mode::Client, most, asked, take).await;
                    if since.elapsed() >= pause * 10 {
                        pause = FIRST_PAUSE;
                    }
                    format!("the line broke: {}", tls::in_words(&error))
                }
                Err(why) => why,
            };
            tell.send_replace(State::Down(why));
            sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    async fn greet(&self, papers: &Papers) -> Result<(TlsStream<TcpStream>, SocketAddr), String> {
        let unreachable = |error: io::Error| format!("cannot be reached: {error}");
        let insecure =
            |error: io::Error| format!("no secure connection: {}", tls::in_words(&error));
        let socket = TcpStream::connect(&self.address).await;
        let socket = socket.map_err(unreachable)?;
        socket.set_nodelay(true).map_err(unreachable)?;
        let address = socket.peer_addr().map_err(unreachable)?;
        let key = self.keys[usize::from(self.hub)];
        let word = introduce(&self.secret, self.me, &key);
        let config = tls::dialing(papers, key, word).map_err(|error| error.to_string())?;
        let connector = TlsConnector::from(Arc::new(config));
        let stream = connector.connect(tls::no_name(), socket).await;
        let mut stream = TlsStream::from(stream.map_err(insecure)?);
        let said = async {
            message::write(&mut stream, &self.greeting()).await?;
            stream.flush().await
        };
        // A hub that does not take this site's key may have hung up; its reason may still be on the line.
        let _ = said.await;
        match message::read(&mut stream, LONGEST_GREETING, GREETING).await {
            Ok(Message::Relay {
                study, from, to, ..
            }) if (study, from, to) == (self.study, self.hub, self.me) => Ok((stream, address)),
            Ok(Message::Refused(reason)) => Err(format!("refused this site: {reason}")),
            Ok(_) => Err(String::from("what it says is no greeting")),
            Err(message::ReadError::Line(error)) => Err(insecure(error)),
            Err(error) => Err(error.to_string()),
        }
    }

    const fn greeting(&self) -> Message {
        Message::Relay {
            study: self.study,
            from: self.me,
            to: self.hub,
            awaits: self.awaits,
        }
    }
}
