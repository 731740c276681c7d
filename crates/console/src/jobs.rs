//! What takes longer than a page may: a release checked anew, attacks on it, what this site would lose alone.
//! Each is done once for a release as it is, one after the other, and its outcome kept in memory.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hedgerow::{Error, Gated, Site, Verdict};
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;

use crate::console::Console;

/// Outcomes that are kept; of more, all are forgotten that nobody waits for.
const MOST: usize = 64;
/// How long a page waits for an outcome before it says that it is being found.
const PATIENCE: Duration = Duration::from_millis(30);

/// What is found out about a release.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum What {
    /// Whether the release holds.
    Verdict,
    /// What attacks bring down.
    Gate,
    /// What this site would lose alone.
    Alone,
}

/// A release as it is: its folder, and when its manifest was written.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Key {
    what: What,
    folder: PathBuf,
    manifest: Option<(u64, std::time::SystemTime)>,
}

/// What was found.
pub(crate) enum Found {
    Verdict {
        verdict: Box<Verdict>,
        /// Whether the study's keys and demands were looked at, and not only what the folder says of itself.
        is_by_study: bool,
    },
    Gate(Gated),
    Alone(Alone),
}

/// What this site would lose that published its rows alone.
pub(crate) struct Alone {
    pub(crate) records: u64,
    /// Classes and loss, or the model that the rows alone cannot meet.
    pub(crate) loss: Result<(u64, f64), String>,
}

/// How far a job is.
#[derive(Clone)]
pub(crate) enum Job {
    Running,
    Done(Arc<Found>),
    /// Why it came to nothing, without any value of a record.
    Failed(String),
}

/// All jobs.
#[derive(Default)]
pub(crate) struct Jobs {
    all: Mutex<HashMap<Key, Job>>,
    done: AtomicU64,
}

static ONE: Semaphore = Semaphore::const_new(1);

impl Jobs {
    /// How many were begun and done until now.
    pub(crate) fn count(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }

    /// What is known of a release, if anybody asked for it.
    pub(crate) fn known(&self, what: What, folder: &Path) -> Option<Job> {
        self.lock().get(&Key::of(what, folder)).cloned()
    }

    fn put(&self, key: Key, job: Job) {
        let mut all = self.lock();
        if all.len() >= MOST {
            all.retain(|_, job| matches!(job, Job::Running));
        }
        all.insert(key, job);
        self.done.fetch_add(1, Ordering::Relaxed);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Key, Job>> {
        // Every change leaves the table whole.
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Key {
    fn of(what: What, folder: &Path) -> Self {
        let found = std::fs::metadata(folder.join("manifest.json")).ok();
        let manifest = found.and_then(|found| Some((found.len(), found.modified().ok()?)));
        let folder = folder.to_owned();
        Self {
            what,
            folder,
            manifest,
        }
    }
}

impl Console {
    /// What is known of a release; where nobody asked yet, it is found out, and the caller waits a moment for
    /// that.
    pub(crate) async fn job(
        self: &Arc<Self>,
        what: What,
        folder: &Path,
        work: impl FnOnce(&Site) -> Result<Found, Error> + Send + 'static,
    ) -> Job {
        if let Some(job) = self.jobs.known(what, folder) {
            return job;
        }
        let task = self.begin(what, folder, work);
        let _ = tokio::time::timeout(PATIENCE, task).await;
        self.jobs.known(what, folder).unwrap_or(Job::Running)
    }

    /// Begins a job, whether or not it was done before.
    pub(crate) fn begin(
        self: &Arc<Self>,
        what: What,
        folder: &Path,
        work: impl FnOnce(&Site) -> Result<Found, Error> + Send + 'static,
    ) -> JoinHandle<()> {
        let (key, console) = (Key::of(what, folder), Arc::clone(self));
        self.jobs.put(key.clone(), Job::Running);
        tokio::spawn(async move {
            let _place = ONE.acquire().await;
            let path = console.path().to_owned();
            let done = tokio::task::spawn_blocking(move || work(&Site::open(path)?)).await;
            let job = match done {
                Ok(Ok(found)) => Job::Done(Arc::new(found)),
                Ok(Err(error)) => Job::Failed(error.without_values()),
                Err(_) => Job::Failed(String::from("this is a mistake in hedgerow")),
            };
            console.jobs.put(key, job);
            console.changes.look();
        })
    }
}
