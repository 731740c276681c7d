//! What takes longer than a page may: a release checked anew, attacks on it, what this site would lose alone,
//! whether the site would take part in its study, how a drafted study fits a table. Each is done once for a
//! thing as it is, one after the other, and its outcome kept in memory.

use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hedgerow::node::agreement::Agreement;
use hedgerow::node::source::Source;
use hedgerow::{Comparison, Error, Gated, Site, SiteCheck, Verdict};
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;

use crate::console::Console;
use crate::pages::draft::Fit;

/// Outcomes that are kept; of more, all are forgotten that nobody waits for.
const MOST: usize = 64;
/// How long a page waits for an outcome before it says that it is being found.
const PATIENCE: Duration = Duration::from_millis(30);

/// What is found out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum What {
    /// Whether the release holds.
    Verdict,
    /// What attacks bring down.
    Gate,
    /// What this site would lose alone.
    Alone,
    /// Whether the site would take part in a run of its study.
    Check,
    /// How a table fits the drafted study.
    Fit,
    /// Which algorithm and recoding serve a table best.
    Compare,
}

/// What a job is about, as it is: a folder or file, and a number that is another when it has changed.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    what: What,
    at: PathBuf,
    stamp: u64,
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
    Check(Box<SiteCheck>),
    Fit(Fit),
    Compare(Box<Comparison>),
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
        self.known_of(&Key::of(what, folder))
    }

    /// What is known, if anybody asked for it.
    pub(crate) fn known_of(&self, key: &Key) -> Option<Job> {
        self.lock().get(key).cloned()
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
    /// A release as it is: its folder, and when its manifest was written.
    fn of(what: What, folder: &Path) -> Self {
        Self::new(what, folder, &[&folder.join("manifest.json")], "")
    }

    /// What depends on these files, and on a text.
    pub(crate) fn new(what: What, at: &Path, files: &[&Path], text: &str) -> Self {
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        for file in files {
            let found = std::fs::metadata(file).ok();
            let found = found.and_then(|found| Some((found.len(), found.modified().ok()?)));
            found.hash(&mut hasher);
        }
        Self {
            what,
            at: at.to_owned(),
            stamp: hasher.finish(),
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
        self.job_of(Key::of(what, folder), work).await
    }

    /// As [`Console::job`], about anything.
    pub(crate) async fn job_of(
        self: &Arc<Self>,
        key: Key,
        work: impl FnOnce(&Site) -> Result<Found, Error> + Send + 'static,
    ) -> Job {
        if let Some(job) = self.jobs.known_of(&key) {
            return job;
        }
        let task = self.begin_of(key.clone(), work);
        let _ = tokio::time::timeout(PATIENCE, task).await;
        self.jobs.known_of(&key).unwrap_or(Job::Running)
    }

    /// Begins a job about a release, whether or not it was done before.
    pub(crate) fn begin(
        self: &Arc<Self>,
        what: What,
        folder: &Path,
        work: impl FnOnce(&Site) -> Result<Found, Error> + Send + 'static,
    ) -> JoinHandle<()> {
        self.begin_of(Key::of(what, folder), work)
    }

    /// As [`Console::begin`], about anything.
    pub(crate) fn begin_of(
        self: &Arc<Self>,
        key: Key,
        work: impl FnOnce(&Site) -> Result<Found, Error> + Send + 'static,
    ) -> JoinHandle<()> {
        let console = Arc::clone(self);
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

    /// Whether the site would take part in a run of the study that its file names; `is_anew` looks again though
    /// nothing seems to have changed.
    pub(crate) async fn checked(self: &Arc<Self>, is_anew: bool) -> Job {
        let path = self.path().to_owned();
        let key = tokio::task::spawn_blocking(move || check_key(&path)).await;
        let Ok(key) = key else {
            return Job::Failed(String::from("this is a mistake in hedgerow"));
        };
        let handle = Handle::current();
        let work = move |site: &Site| {
            let check = handle.block_on(site.check(None))?;
            Ok(Found::Check(Box::new(check)))
        };
        match is_anew {
            true => {
                self.begin_of(key, work);
                Job::Running
            }
            false => self.job_of(key, work).await,
        }
    }
}

/// Everything on which a check of the site depends that shows from outside.
fn check_key(path: &Path) -> Key {
    let Ok(site) = Site::open(path) else {
        return Key::new(What::Check, path, &[path], "");
    };
    let site = site.file();
    let study = Agreement::open(&site.study);
    let study = study.map_or_else(|error| error.to_string(), |one| one.hash.to_string());
    let mut files: Vec<&Path> = vec![path, &site.key, &site.memory];
    if let Source::File(rows) = &site.source {
        files.push(rows);
    }
    Key::new(What::Check, path, &files, &study)
}
