//! Questions between nodes: sites that ask the table which they hold together, without a run.
//!
//! While a node waits for runs, and during them, it keeps one connection to each other site open for questions
//! (`connect`). Once all are connected, the sites agree on keys (`join`), and every question gets a party of
//! its own from these ([`hedgerow_smc::standing`]): totals are answered in one round after the question. A
//! question is signed by the site that asks it (`ask`); every other site looks at signature, number, study and
//! its own rules, writes the question into its log, and only then does its part (`attend`). Front ends talk
//! with their own node (`desk`).
//!
//! The node knows no protocol: [`Answering`] looks at questions and does this site's part.
//!
//! Guarantee: that of the primitives. A site that is away, lies or stalls costs the questions under way an
//! error with its name, and nothing else.
//!
//! # Discloses
//! To all sites: the question, and which site asks it; and what the question discloses.

mod ask;
mod attend;
mod connect;
mod desk;
mod error;
mod join;
mod lines;
mod log;
mod rate;
mod refusal;
mod state;
mod tally;
mod word;

use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hedgerow_smc::{Party, Settings};
use serde::{Deserialize, Serialize};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinSet;

use crate::agreement::StudyHash;
use crate::events::{Event, Watcher};
use crate::identity::{PublicKey, Secret};
use crate::star::Star;
use crate::tls::Papers;
use log::Log;
use rate::Rate;
use state::Shared;

pub(crate) use connect::receive;
pub use desk::{Desk, DeskError, SOCKET};
pub use error::QuestionError;
pub use log::LOG;
pub use refusal::Refusal;
pub use tally::{Asked, LearnedByQuestions, Tally};

/// The longest question.
pub const LONGEST_QUESTION: usize = 1 << 18;

/// What a site answers questions with.
pub trait Answering: Send + Sync + 'static {
    /// Looks at a question of a site about a run, before anything is sent for it. Whatever is wrong with the
    /// question refuses it: a question may come from a peer.
    fn prepare(&self, asker: u16, run: u32, question: &[u8]) -> Result<Prepared, Unprepared>;
}

/// Why a site does not answer a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unprepared {
    /// What the asker hears.
    pub refusal: Refusal,
    /// More about it, for this site's own log and its own front ends.
    pub why: Option<String>,
}

impl From<Refusal> for Unprepared {
    fn from(refusal: Refusal) -> Self {
        Self { refusal, why: None }
    }
}

/// A question that this site answers.
pub struct Prepared {
    /// A hash of what all sites must know alike of the table.
    pub table: [u8; 32],
    /// The question for the log.
    pub words: serde_json::Value,
    /// The kind of the answer, for the log: rows or totals.
    pub kind: &'static str,
    /// The names of what the question may disclose.
    pub allowed: Vec<String>,
    /// This site's part.
    pub part: Part,
}

/// A site's part in a question, on a thread of its own.
pub type Part = Box<dyn FnOnce(Party) -> PartFuture + Send>;
/// A site's part in a question, under way.
pub type PartFuture = Pin<Box<dyn Future<Output = Done>>>;

/// A site's part in a question, done or failed.
pub struct Done {
    /// What came of it.
    pub result: Result<Given, PartError>,
    /// What the part disclosed, also where it failed.
    pub disclosed: Vec<Disclosed>,
}

/// Something that a question disclosed, for the log: names and counts, never a value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Disclosed {
    /// What was disclosed.
    pub what: String,
    /// The name of the site that learned it, or the recipients in words.
    pub to: String,
    /// The theorem or rule that allows it.
    pub allowed_by: String,
    /// What could not be hidden besides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caveat: Option<String>,
    /// How many values; the most there can be where the question ended early.
    pub values: u64,
    /// Whether the question came to its end.
    pub is_complete: bool,
    /// At the published level, the loss of privacy of a site's set that is expected at most (JX08 equation 5).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss: Option<f64>,
}

/// What came of a site's part.
pub struct Given {
    /// The answer, at the site that asks.
    pub answer: Vec<u8>,
    /// How many rows or totals were answered, for the log.
    pub size: u64,
}

/// Why a site's part failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct PartError {
    /// The peer whose fault it is.
    pub peer: Option<u16>,
    /// The reason in words.
    pub why: String,
}

/// How long things may take.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// How long a question waits for sites that are away.
    pub waiting: Duration,
    /// How long a connected peer may say nothing in a question.
    pub silence: Duration,
    /// How long a question may take.
    pub longest: Duration,
    /// A connection must have greeted within this time.
    pub handshake: Duration,
    /// A connection says something at least this often.
    pub alive: Duration,
    /// A line on which nothing comes for this long is dead.
    pub idle: Duration,
    /// First pause between attempts to connect; the pause doubles each time.
    pub first_pause: Duration,
    /// Longest pause between attempts to connect.
    pub longest_pause: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            waiting: Duration::from_secs(3),
            silence: Duration::from_secs(20),
            longest: Duration::from_secs(300),
            handshake: Duration::from_secs(5),
            alive: Duration::from_secs(1),
            idle: Duration::from_secs(5),
            first_pause: Duration::from_millis(20),
            longest_pause: Duration::from_secs(2),
        }
    }
}

/// Everything that a site brings to questions.
pub struct Setup {
    /// The study.
    pub study: StudyHash,
    /// This site's place in the study.
    pub me: u16,
    /// This site's secret key.
    pub secret: Arc<Secret>,
    /// Names of all sites, in the study's order.
    pub names: Vec<String>,
    /// Keys of all sites, in the study's order.
    pub keys: Vec<PublicKey>,
    /// Where to dial each site.
    pub addresses: Vec<String>,
    /// This site's place in a star; `None` where every site has a way to every other.
    pub star: Option<Star>,
    /// The names of the table's columns.
    pub columns: Vec<String>,
    /// What the sites agreed on.
    pub settings: Settings,
    /// How long things may take.
    pub limits: Limits,
    /// The folder of the log and of the socket for front ends.
    pub data: PathBuf,
    /// Knows the protocol.
    pub answering: Arc<dyn Answering>,
    /// Told what happens on the lines.
    pub watcher: Watcher,
}

/// A node's questions.
pub struct Questions {
    shared: Arc<Shared>,
    study: StudyHash,
    secret: Arc<Secret>,
    papers: Papers,
    names: Vec<String>,
    keys: Vec<PublicKey>,
    addresses: Vec<String>,
    star: Option<Star>,
    columns: Vec<String>,
    settings: Settings,
    limits: Limits,
    log: Log,
    answering: Arc<dyn Answering>,
    watcher: Watcher,
    /// Places for this site's own questions: half of what others take, since they end a little later there.
    places: Semaphore,
    /// The number of the last question that this site asked.
    last: tokio::sync::Mutex<u64>,
    rates: std::sync::Mutex<Vec<Rate>>,
    /// Why the sites have no keys.
    no_keys: std::sync::Mutex<Option<String>>,
    tasks: mpsc::UnboundedSender<Task>,
}

type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Questions that are served; they end when this value is dropped.
pub struct Serving {
    questions: Arc<Questions>,
    _tasks: JoinSet<()>,
}

impl Serving {
    /// What listeners hand connections for questions to.
    pub fn questions(&self) -> &Arc<Questions> {
        &self.questions
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.questions.shared.close();
    }
}

impl Questions {
    /// Serves questions until the returned value is dropped.
    ///
    /// Must be called on a tokio runtime with time and network.
    pub fn serve(setup: Setup) -> Result<Serving, QuestionError> {
        let cannot = |file: &str, error: std::io::Error| QuestionError::Unusable {
            file: setup.data.join(file).display().to_string(),
            reason: error.to_string(),
        };
        let log = Log::open(&setup.data).map_err(|error| cannot(LOG, error))?;
        let listener = desk::listen(&setup.data).map_err(|error| cannot(SOCKET, error))?;
        let (tasks, mut started) = mpsc::unbounded_channel::<Task>();
        let life = crate::identity::random().map_err(|error| QuestionError::Unusable {
            file: SOCKET.to_owned(),
            reason: error.to_string(),
        })?;
        let rates = setup
            .keys
            .iter()
            .map(|_| Rate::new(Instant::now()))
            .collect();
        let questions = Arc::new(Self {
            shared: Arc::new(Shared::new(setup.me, setup.keys.len(), *life)),
            study: setup.study,
            papers: Papers::new(Arc::clone(&setup.secret)),
            secret: setup.secret,
            names: setup.names,
            keys: setup.keys,
            addresses: setup.addresses,
            star: setup.star,
            columns: setup.columns,
            settings: setup.settings,
            limits: setup.limits,
            log,
            answering: setup.answering,
            watcher: setup.watcher,
            places: Semaphore::new(state::MOST_OF_ONE / 2),
            last: tokio::sync::Mutex::new(0),
            rates: std::sync::Mutex::new(rates),
            no_keys: std::sync::Mutex::new(None),
            tasks,
        });
        let mut running = JoinSet::new();
        running.spawn(async move {
            let mut tasks = JoinSet::new();
            loop {
                tokio::select! {
                    Some(task) = started.recv() => { tasks.spawn(task); }
                    Some(_) = tasks.join_next() => {}
                    else => return,
                }
            }
        });
        for peer in questions.shared.peers() {
            running.spawn(Arc::clone(&questions).dial(peer));
        }
        running.spawn(Arc::clone(&questions).keep_keys());
        running.spawn(Arc::clone(&questions).attend_desk(listener));
        Ok(Serving {
            questions,
            _tasks: running,
        })
    }

    /// Starts a task that ends with the node's questions.
    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        // Nobody listens any more where the questions have ended.
        let _ = self.tasks.send(Box::pin(task));
    }

    fn name(&self, site: u16) -> &str {
        let name = self.names.get(usize::from(site));
        name.map_or("a site that is not in the study", String::as_str)
    }

    fn tell(&self, event: Event) {
        (self.watcher)(event);
    }

    /// How many questions are under way here.
    pub fn under_way(&self) -> usize {
        self.shared.count()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
