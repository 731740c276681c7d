//! The memory network: all sites of a run in one process, deterministic from one seed.
//!
//! [`Simulation::run`] polls the sites' futures in turn in the calling thread. It counts messages and
//! bytes per link and rounds exactly, gives the time that the run's messages would take under a
//! [`LinkModel`] without waiting for it, and does to frames what [`Faults`] say. When no site can go on,
//! the site whose patience ends first gets [`NetworkError::Silent`]: a site that waits for a dead peer
//! ends with an error, and so does every run.
//!
//! Sites are processes that read one named link at a time, so (Kahn 1974) what they compute does
//! not depend on the order in which they are polled.
//!
//! # Discloses
//! A simulation sees everything; with [`Simulation::recording`] it keeps every frame, for tests
//! that play a site's view to an adversary.

mod fault;
mod lines;

pub use fault::{Fault, Faults, Rule};

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use crate::error::Error;
use crate::ideal::Table;
use crate::link::Traffic;
use crate::network::{Network, Site};
use crate::party::{Party, Seat};
use crate::random::Seed;
use crate::settings::Settings;
use crate::standing::Standing;
use lines::{Lines, Shared};

#[cfg(doc)]
use crate::network::NetworkError;

/// How long frames take.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LinkModel {
    /// The time from the end of sending to arrival.
    pub latency: Duration,
    /// Bits per second that one site can send, over all its links together.
    pub bandwidth: f64,
}

impl LinkModel {
    /// Nothing takes any time.
    pub const INSTANT: Self = Self {
        latency: Duration::ZERO,
        bandwidth: f64::INFINITY,
    };
    /// A local network: 0.2 ms, 1 Gbit/s.
    pub const LAN: Self = Self {
        latency: Duration::from_micros(200),
        bandwidth: 1e9,
    };
    /// Between institutions: 30 ms, 100 Mbit/s.
    pub const WAN: Self = Self {
        latency: Duration::from_millis(30),
        bandwidth: 1e8,
    };
}

/// A run of all sites in one process.
#[derive(Debug, Clone)]
pub struct Simulation {
    sites: usize,
    seed: u64,
    settings: Settings,
    context: [u8; 32],
    model: LinkModel,
    patience: Duration,
    faults: Faults,
    recording: bool,
}

impl Simulation {
    /// A run of `sites` sites, everything random in it from `seed`.
    pub fn new(sites: usize, seed: u64) -> Self {
        Self {
            sites,
            seed,
            settings: Settings::default(),
            context: [0; 32],
            model: LinkModel::INSTANT,
            patience: Duration::from_secs(30),
            faults: Faults::default(),
            recording: false,
        }
    }

    /// Sets these settings at every site.
    pub const fn settings(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self
    }

    /// Under this model of time.
    pub const fn model(mut self, model: LinkModel) -> Self {
        self.model = model;
        self
    }

    /// A site waits this long for a peer, in the time of the model.
    pub const fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Sets the faults of the run.
    pub fn faults(mut self, faults: Faults) -> Self {
        self.faults = faults;
        self
    }

    /// Sets the run's context, as a node does for a study.
    pub const fn context(mut self, context: [u8; 32]) -> Self {
        self.context = context;
        self
    }

    /// Keeps every frame that is delivered.
    pub const fn recording(mut self) -> Self {
        self.recording = true;
        self
    }

    /// Runs `site` at every site over the memory network.
    pub fn run<T, E, F>(&self, site: impl Fn(Party) -> F) -> Outcome<T, E>
    where
        E: From<Error>,
        F: Future<Output = Result<T, E>>,
    {
        let shared = Shared::new(self.sites, self.model, self.patience, self.faults.clone());
        let shared = shared.recording(self.recording);
        let site = &site;
        let (results, ended) = execute(
            Site::all(self.sites).map(|me| {
                let seat = self.seat(me, &shared);
                async move { site(Party::join(seat).await?).await }
            }),
            || shared.expire_one(),
        );
        let (traffic, elapsed, frames) = shared.into_parts();
        Outcome {
            results,
            traffic,
            elapsed,
            frames,
            ended,
        }
    }

    /// Has all sites join, and runs `site` at every site with what it keeps of the joining and lines for one
    /// question. Only the question is counted.
    pub fn stand<T, E, F>(
        &self,
        site: impl Fn(Arc<Standing>, Box<dyn Network>) -> F,
    ) -> Outcome<T, E>
    where
        E: From<Error>,
        F: Future<Output = Result<T, E>>,
    {
        let shared = Shared::new(self.sites, self.model, self.patience, self.faults.clone());
        let (joined, _) = execute(
            Site::all(self.sites).map(|me| Standing::join(self.seat(me, &shared))),
            || shared.expire_one(),
        );
        let shared = Shared::new(self.sites, self.model, self.patience, self.faults.clone());
        let shared = shared.recording(self.recording);
        let site = &site;
        let (results, ended) = execute(
            joined
                .into_iter()
                .zip(Site::all(self.sites))
                .map(|(standing, me)| {
                    let network = Box::new(Lines::new(me, &shared));
                    async move { site(Arc::new(standing?), network).await }
                }),
            || shared.expire_one(),
        );
        let (traffic, elapsed, frames) = shared.into_parts();
        Outcome {
            results,
            traffic,
            elapsed,
            frames,
            ended,
        }
    }

    fn seat(&self, me: Site, shared: &Shared) -> Seat {
        Seat {
            me,
            sites: self.sites,
            settings: self.settings,
            seed: Seed::for_site(self.seed, me.index()),
            context: self.context,
            network: Box::new(Lines::new(me, shared)),
        }
    }

    /// Runs `site` at every site with a trusted third in place of the network.
    pub fn run_ideal<T, E, F>(&self, site: impl Fn(Party) -> F) -> Vec<Result<T, E>>
    where
        F: Future<Output = Result<T, E>>,
    {
        execute(
            Table::chairs(self.sites)
                .into_iter()
                .enumerate()
                .map(|(index, chair)| {
                    site(Party::ideal(
                        chair,
                        self.settings,
                        &Seed::for_site(self.seed, index),
                    ))
                }),
            || false,
        )
        .0
    }
}

/// The result of a simulated run.
#[derive(Debug)]
pub struct Outcome<T, E> {
    /// What each site returned, in the order of the sites.
    pub results: Vec<Result<T, E>>,
    /// What was sent over all links.
    pub traffic: Traffic,
    /// How long the messages would have taken, without the time for computing.
    pub elapsed: Duration,
    frames: Vec<Frame>,
    /// The sites in the order in which they ended.
    ended: Vec<usize>,
}

/// A delivered frame of a recorded run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// The site that sent the frame.
    pub from: Site,
    /// The site that received the frame.
    pub to: Site,
    /// The bytes, header included.
    pub bytes: Vec<u8>,
}

impl<T, E> Outcome<T, E> {
    /// What every site returned, or the error of the site that failed first: the errors of other sites
    /// may only follow from it.
    pub fn into_values(self) -> Result<Vec<T>, E> {
        let mut results: Vec<Option<Result<T, E>>> = self.results.into_iter().map(Some).collect();
        for site in self.ended {
            if let Some(Err(_)) = results[site]
                && let Some(Err(error)) = results[site].take()
            {
                return Err(error);
            }
        }
        results.into_iter().flatten().collect()
    }

    /// The frames that a site got, link by link in the order of the peers: its whole view.
    pub fn view(&self, site: Site) -> Vec<&Frame> {
        let mut frames: Vec<&Frame> = self
            .frames
            .iter()
            .filter(|frame| frame.to == site)
            .collect();
        frames.sort_by_key(|frame| frame.from);
        frames
    }

    /// A digest of all frames on all links.
    pub fn transcript_digest(&self) -> String {
        let mut frames: Vec<&Frame> = self.frames.iter().collect();
        frames.sort_by_key(|frame| (frame.from, frame.to));
        let mut hasher = blake3::Hasher::new_derive_key("hedgerow transcript v1");
        for frame in frames {
            hasher.update(&(frame.from.index() as u64).to_le_bytes());
            hasher.update(&(frame.to.index() as u64).to_le_bytes());
            hasher.update(&(frame.bytes.len() as u64).to_le_bytes());
            hasher.update(&frame.bytes);
        }
        hasher.finalize().to_hex().to_string()
    }
}

struct Flag(AtomicBool);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Release);
    }
}

/// A future of a run, and its result once it has ended.
struct Task<F: Future> {
    future: Option<Pin<Box<F>>>,
    ready: Arc<Flag>,
    answer: Option<F::Output>,
}

/// Polls every future that was woken, in turn, until all are done. When no future was woken, `unblock`
/// must wake one; a run in which it cannot is a bug of this crate.
fn execute<F: Future>(
    futures: impl Iterator<Item = F>,
    unblock: impl Fn() -> bool,
) -> (Vec<F::Output>, Vec<usize>) {
    let mut tasks: Vec<Task<F>> = futures
        .map(|future| Task {
            future: Some(Box::pin(future)),
            ready: Arc::new(Flag(AtomicBool::new(true))),
            answer: None,
        })
        .collect();
    let mut ended = Vec::with_capacity(tasks.len());
    loop {
        let mut moved = false;
        for (place, task) in tasks.iter_mut().enumerate() {
            let Some(future) = &mut task.future else {
                continue;
            };
            if !task.ready.0.swap(false, Ordering::AcqRel) {
                continue;
            }
            moved = true;
            let waker = Waker::from(Arc::clone(&task.ready));
            if let Poll::Ready(answer) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
                task.answer = Some(answer);
                ended.push(place);
                // Dropping the future closes the site's lines.
                task.future = None;
            }
        }
        if tasks.iter().all(|task| task.future.is_none()) {
            let answers = tasks.into_iter().filter_map(|task| task.answer);
            return (answers.collect(), ended);
        }
        if !moved {
            assert!(unblock(), "sites wait for something that is no message");
        }
    }
}
