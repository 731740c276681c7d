//! What the hub does for others: it keeps the connections of the leaves, and copies bytes between two of
//! them that it cannot read.

use std::collections::HashMap;
use std::io;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, copy, split};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::session::{self, Asked, Mode, Session, Tunnel};
use super::{LIMIT, Line, OF_A_PAIR, absent, most_tunnels};
use crate::agreement::StudyHash;
use crate::message::{self, Message, Reason};
use crate::reception::{Refusal, Stream};

/// The tunnel leads to the site that the caller named.
pub(super) const OPEN: u8 = 0;
/// The site is not connected with the hub, or is no site that the hub passes on to.
const AWAY: u8 = 1;
/// The caller has as many tunnels to the site as it may have.
pub(super) const BUSY: u8 = 2;

/// Connections of one site at a time by which nobody calls it: of commands beside its node.
const OUTGOING: usize = 4;
/// How long one end may speak on when the other has hung up.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// The answer to a greeting must be on the line within this time.
const GREETING: Duration = Duration::from_secs(5);

/// Passes on what leaves say to each other.
pub struct Relay {
    hub: Arc<Hub>,
    /// The tasks of the leaves' connections, which end when this value is dropped.
    tasks: Mutex<JoinSet<()>>,
}

struct Hub {
    me: u16,
    study: StudyHash,
    names: Vec<String>,
    state: Mutex<State>,
}

struct State {
    next: u64,
    /// By which each site may be called.
    awaiting: Vec<Option<Present>>,
    outgoing: Vec<Vec<Present>>,
    /// Tunnels by caller and called.
    tunnels: HashMap<(u16, u16), usize>,
}

struct Present {
    number: u64,
    session: Session,
    /// Dropped with the entry, which ends the connection.
    _end: oneshot::Sender<()>,
}

/// Takes a leaf's connection, or tells it that nothing is passed on here.
pub(crate) async fn receive(
    star: Option<&super::Star>,
    peer: u16,
    mut stream: Stream,
    greeting: &Message,
) -> Refusal {
    let relay = match star {
        Some(super::Star::Hub(relay)) => Some(relay),
        Some(super::Star::Leaf(_)) | None => None,
    };
    let checked = match (relay, greeting) {
        (None, _) => Err(Reason::NoHub),
        (Some(relay), Message::Relay { study, .. }) if *study != relay.hub.study => {
            Err(Reason::OtherStudy)
        }
        (Some(relay), Message::Relay { from, to, .. }) if (*from, *to) != (peer, relay.hub.me) => {
            Err(Reason::OtherSite)
        }
        (Some(relay), Message::Relay { awaits, .. }) => Ok((relay, *awaits)),
        _ => Err(Reason::NoGreeting),
    };
    let answer = match &checked {
        Ok((relay, awaits)) => Message::Relay {
            study: relay.hub.study,
            from: relay.hub.me,
            to: peer,
            awaits: *awaits,
        },
        Err(reason) => Message::Refused(*reason),
    };
    let tell = async {
        message::write(&mut stream, &answer).await?;
        stream.flush().await
    };
    let told = timeout(GREETING, tell).await;
    match (checked, told) {
        (Ok((relay, awaits)), Ok(Ok(()))) => {
            relay.keep(peer, stream, awaits);
            None
        }
        (Ok(_), _) => None,
        (Err(reason), _) => Some(format!("refused: {reason}")),
    }
}

impl Relay {
    /// The hub at a place of a study whose sites have these names.
    pub fn new(me: u16, study: StudyHash, names: Vec<String>) -> Arc<Self> {
        let state = State {
            next: 0,
            awaiting: names.iter().map(|_| None).collect(),
            outgoing: names.iter().map(|_| Vec::new()).collect(),
            tunnels: HashMap::new(),
        };
        Arc::new(Self {
            hub: Arc::new(Hub {
                me,
                study,
                names,
                state: Mutex::new(state),
            }),
            tasks: Mutex::new(JoinSet::new()),
        })
    }

    pub(super) fn me(&self) -> u16 {
        self.hub.me
    }

    /// A tunnel from the hub to a leaf.
    pub(super) async fn call(&self, to: u16) -> io::Result<Line> {
        let hub = &self.hub;
        let away = || {
            let name = hub.names.get(usize::from(to));
            let name = name.map_or("it", String::as_str);
            absent(format!("`{name}` has not called this site, its hub"))
        };
        let session = hub.session(to).ok_or_else(away)?;
        session.open().await.map(Line::Tunnel)
    }

    /// Keeps a leaf's connection until it ends, or a newer one takes its place.
    pub(super) fn keep(&self, peer: u16, stream: Stream, awaits: bool) {
        let (session, asked) = Session::new();
        let (end, ended) = oneshot::channel();
        let number = self.hub.arrives(peer, session, end, awaits);
        let hub = Arc::clone(&self.hub);
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        while tasks.try_join_next().is_some() {}
        tasks.spawn(async move {
            hub.attend(peer, stream, asked, ended).await;
            hub.leaves(peer, number);
        });
    }

    /// The tunnels between others that are open.
    #[cfg(test)]
    pub(super) fn tunnels(&self) -> usize {
        self.hub.lock().tunnels.values().sum()
    }
}

impl Hub {
    fn lock(&self) -> MutexGuard<'_, State> {
        // The state is whole after every step.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn session(&self, of: u16) -> Option<Session> {
        let state = self.lock();
        let present = state.awaiting.get(usize::from(of))?.as_ref()?;
        Some(present.session.clone())
    }

    fn arrives(&self, peer: u16, session: Session, end: oneshot::Sender<()>, awaits: bool) -> u64 {
        let mut state = self.lock();
        let number = state.next;
        state.next += 1;
        let present = Present {
            number,
            session,
            _end: end,
        };
        let place = usize::from(peer);
        if awaits {
            state.awaiting[place] = Some(present);
        } else {
            let outgoing = &mut state.outgoing[place];
            if outgoing.len() >= OUTGOING {
                outgoing.remove(0);
            }
            outgoing.push(present);
        }
        number
    }

    fn leaves(&self, peer: u16, number: u64) {
        let mut state = self.lock();
        let place = usize::from(peer);
        state.awaiting[place].take_if(|present| present.number == number);
        state.outgoing[place].retain(|present| present.number != number);
    }

    /// Drives a leaf's connection, and passes on its calls.
    async fn attend(
        self: &Arc<Self>,
        peer: u16,
        stream: Stream,
        asked: Asked,
        mut ended: oneshot::Receiver<()>,
    ) {
        let most = most_tunnels(self.names.len());
        let (come, mut calls) = mpsc::channel(most);
        let take = move |tunnel| drop(come.try_send(tunnel));
        let mut driving = pin!(session::drive(stream, Mode::Server, most, asked, take));
        let mut passing = JoinSet::new();
        loop {
            tokio::select! {
                _ = &mut driving => return,
                _ = &mut ended => return,
                Some(tunnel) = calls.recv() => {
                    let hub = Arc::clone(self);
                    passing.spawn(async move {
                        // The caller hears the same, and calls again.
                        let _ = hub.pass_on(peer, tunnel).await;
                    });
                }
                Some(_) = passing.join_next() => {}
            }
        }
    }

    /// Copies between a caller and the site that it names, until one of them hangs up.
    async fn pass_on(&self, caller: u16, mut tunnel: Tunnel) -> io::Result<()> {
        let called = timeout(LIMIT, tunnel.read_u16_le()).await??;
        let passing = match self.begin(caller, called) {
            Ok(passing) => passing,
            Err(answer) => {
                tunnel.write_u8(answer).await?;
                return tunnel.shutdown().await;
            }
        };
        let Ok(there) = passing.session.open().await else {
            tunnel.write_u8(AWAY).await?;
            return tunnel.shutdown().await;
        };
        tunnel.write_u8(OPEN).await?;
        tunnel.flush().await?;
        copy_both_ways(tunnel, there).await;
        Ok(())
    }

    fn begin(&self, caller: u16, called: u16) -> Result<Passing<'_>, u8> {
        let session = self.session(called).ok_or(AWAY)?;
        let mut state = self.lock();
        let open = state.tunnels.entry((caller, called)).or_default();
        if *open >= OF_A_PAIR {
            return Err(BUSY);
        }
        *open += 1;
        Ok(Passing {
            hub: self,
            pair: (caller, called),
            session,
        })
    }
}

/// Copies until one end hangs up; what the other end says to that has a moment to arrive.
async fn copy_both_ways(caller: Tunnel, called: Tunnel) {
    let (from_caller, to_caller) = split(caller);
    let (from_called, to_called) = split(called);
    let mut there = pin!(copy_one_way(from_caller, to_called));
    let mut back = pin!(copy_one_way(from_called, to_caller));
    // Whichever moment runs out, both ends are hung up on.
    let _ = tokio::select! {
        () = &mut there => timeout(LAST_WORDS, back).await,
        () = &mut back => timeout(LAST_WORDS, there).await,
    };
}

async fn copy_one_way(mut from: impl AsyncRead + Unpin, mut to: impl AsyncWrite + Unpin) {
    // A tunnel that breaks is its two ends' to take up again.
    let _ = copy(&mut from, &mut to).await;
    let _ = to.shutdown().await;
}

/// A tunnel that counts for its pair of sites until this value is dropped.
struct Passing<'h> {
    hub: &'h Hub,
    pair: (u16, u16),
    session: Session,
}

impl Drop for Passing<'_> {
    fn drop(&mut self) {
        let mut state = self.hub.lock();
        if let Some(open) = state.tunnels.get_mut(&self.pair) {
            *open -= 1;
            if *open == 0 {
                state.tunnels.remove(&self.pair);
            }
        }
    }
}
