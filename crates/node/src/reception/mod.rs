//! Who comes to this site's port, and how far: connections from the moment they are accepted until
//! they have proven a key of the study and greeted. A run's listener and a waiting node's door
//! (see `connect` and `knock`) receive in the same way.
//!
//! Anybody can connect. A connection costs a place (see `places`), of which strangers have few; nothing
//! is computed for it before its first bytes have come. By these a site of the study is recognized (see
//! `introduction`) and leaves the strangers' places for its own, so that neither callers who hold
//! thousands of connections nor callers who open thousands a second keep it out, from whatever address.
//! Handshakes are bounded in number (see `budget`), each with its greeting in time, and so is the log of
//! callers who were turned away (see `tally`). A caller without a word of introduction, of another
//! version of hedgerow perhaps, is heard like any stranger.
//!
//! # Discloses
//! See `introduction` and `tls`.

mod budget;
mod introduction;
mod places;
mod tally;

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustls::server::Acceptor;
use tokio::sync::oneshot;
use tokio::task::JoinSet;
use tokio::time::{Interval, MissedTickBehavior, interval, sleep, timeout};
use tokio_rustls::{LazyConfigAcceptor, TlsStream};

use crate::events::Watcher;
use crate::identity::{PublicKey, Secret};
use crate::star::{Entrance, Line};
use crate::tls::{self, Listening, Papers, TlsError};
use budget::Budget;
use introduction::Introductions;
pub(crate) use introduction::introduce;
use places::{Places, Who};
use tally::Tally;

/// A line that has proven a key.
pub(crate) type Stream = TlsStream<Line>;

/// Strangers that are listened to at a time.
pub(crate) const STRANGERS: usize = 256;

/// How often the counts of refused callers are looked at.
const TICK: Duration = Duration::from_secs(1);

/// Why a connection was turned away; `None` where there is nothing to report.
pub(crate) type Refusal = Option<String>;

/// Receives whoever comes to a port; what a greeting comes to is a `T`.
pub(crate) struct Reception<T> {
    desk: Arc<Desk>,
    greeting: JoinSet<Option<T>>,
    tick: Interval,
}

/// What connections have in common.
struct Desk {
    listening: Listening,
    introductions: Introductions,
    keys: Vec<PublicKey>,
    places: Mutex<Places>,
    budget: Mutex<Budget>,
    tally: Tally,
    /// Time for everything up to the end of the greeting.
    limit: Duration,
}

/// Whom a port is for, and how long and how many may take.
pub(crate) struct Rules<'a> {
    /// Keys of all sites, in the study's order.
    pub(crate) keys: &'a [PublicKey],
    /// The places of the sites that may come.
    pub(crate) guests: &'a [u16],
    /// A connection must have greeted within this time.
    pub(crate) limit: Duration,
    /// Strangers at a time.
    pub(crate) strangers: usize,
}

impl<T: Send + 'static> Reception<T> {
    /// Must be called on a tokio runtime with time.
    pub(crate) fn new(
        secret: &Secret,
        papers: Arc<Papers>,
        rules: &Rules<'_>,
        watcher: Watcher,
    ) -> Result<Self, TlsError> {
        let guests = rules.guests.iter();
        let keys = guests.map(|guest| rules.keys[usize::from(*guest)]);
        let mut tick = interval(TICK);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Ok(Self {
            desk: Arc::new(Desk {
                listening: Listening::new(papers, keys.collect())?,
                introductions: Introductions::new(secret, rules.keys, rules.guests),
                keys: rules.keys.to_vec(),
                places: Mutex::new(Places::new(rules.strangers)),
                budget: Mutex::new(Budget::new(Instant::now())),
                tally: Tally::new(watcher),
                limit: rules.limit,
            }),
            greeting: JoinSet::new(),
            tick,
        })
    }

    /// The result of the next greeting. `greet` gets a line that has proven the key of a site of the
    /// study, and decides what becomes of the line. Nothing is lost where the future is dropped halfway.
    pub(crate) async fn next<F>(
        &mut self,
        entrance: &Entrance,
        greet: impl Fn(u16, Stream) -> F + Clone + Send + Sync + 'static,
    ) -> T
    where
        F: Future<Output = Result<T, Refusal>> + Send + 'static,
    {
        loop {
            tokio::select! {
                accepted = entrance.accept() => match accepted {
                    Ok((line, address)) => {
                        let place = Place::take(&self.desk, address);
                        self.greeting.spawn(place.receive(line, greet.clone()));
                    }
                    // Too many open files, or a connection that ended before it began.
                    Err(_) => {
                        lock(&self.desk.places).shed();
                        sleep(Duration::from_millis(10)).await;
                    }
                },
                Some(done) = self.greeting.join_next() => {
                    if let Ok(Some(greeted)) = done {
                        return greeted;
                    }
                }
                _ = self.tick.tick() => self.desk.tally.sum_up(Instant::now()),
            }
        }
    }
}

/// The place of a connection; it is given back when this value is dropped.
struct Place {
    desk: Arc<Desk>,
    number: u64,
    who: Who,
    address: SocketAddr,
    lost: oneshot::Receiver<()>,
}

impl Place {
    fn take(desk: &Arc<Desk>, address: SocketAddr) -> Self {
        let who = Who::at(address.ip());
        let (number, lost) = lock(&desk.places).take(who);
        Self {
            desk: Arc::clone(desk),
            number,
            who,
            address,
            lost,
        }
    }

    /// Everything up to the end of the greeting.
    async fn receive<T, F>(mut self, line: Line, greet: impl Fn(u16, Stream) -> F) -> Option<T>
    where
        F: Future<Output = Result<T, Refusal>>,
    {
        let (_, none) = oneshot::channel();
        let lost = std::mem::replace(&mut self.lost, none);
        let limit = self.desk.limit;
        let come = async {
            let (site, stream) = self.prove(line).await.map_err(Some)?;
            greet(site, stream).await
        };
        let done = tokio::select! {
            done = timeout(limit, come) => {
                done.unwrap_or_else(|_| Err(Some(String::from("did not greet in time"))))
            }
            _ = lost => Err(Some(String::from("it made room for others that had not greeted"))),
        };
        match done {
            Ok(greeted) => Some(greeted),
            Err(why) => {
                if let Some(why) = why {
                    let tally = &self.desk.tally;
                    tally.turned_away(self.who, self.address, why, Instant::now());
                }
                None
            }
        }
    }

    /// The site whose key the other end proves.
    async fn prove(&mut self, line: Line) -> Result<(u16, Stream), String> {
        let insecure =
            |error: &std::io::Error| format!("no secure connection: {}", tls::in_words(error));
        let hello = LazyConfigAcceptor::new(Acceptor::default(), line).await;
        let hello = hello.map_err(|error| insecure(&error))?;
        let word = hello
            .client_hello()
            .alpn()
            .and_then(|mut names| names.next());
        if let Some(site) = word.and_then(|word| self.desk.introductions.site_of(word)) {
            self.is_of(site);
        }
        if !lock(&self.desk.budget).spend(self.who, Instant::now()) {
            return Err(String::from("it asked for too many handshakes"));
        }
        let settings = self.desk.listening.settings();
        let settings = settings.map_err(|error| error.to_string())?;
        let stream = hello.into_stream(settings).await;
        let stream = TlsStream::from(stream.map_err(|error| insecure(&error))?);
        // The verifier has let in nobody else.
        let site = self.desk.site_of(&stream);
        let site = site.ok_or("its key is of no site of the study")?;
        self.is_of(site);
        Ok((site, stream))
    }

    fn is_of(&mut self, site: u16) {
        self.who = Who::Site(site);
        lock(&self.desk.places).is_of(self.number, site);
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        lock(&self.desk.places).leave(self.number);
    }
}

impl Desk {
    fn site_of(&self, stream: &Stream) -> Option<u16> {
        let certificates = stream.get_ref().1.peer_certificates()?;
        let key = tls::key_of(certificates.first()?)?;
        let place = self.keys.iter().position(|known| *known.as_bytes() == key);
        // A study has at most 1,000 sites that can run.
        place.map(|place| place as u16)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // The locked values are whole after every step.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
