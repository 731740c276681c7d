//! How a run stands at this site: a small file in the data folder that whoever takes part keeps
//! up to date, and `status`, `run` and `demo` read.
//!
//! The file is a courtesy: the truth about a run is in the journal. Whether a process is at work is told
//! by the journal's lock, which no process can keep beyond its end.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hedgerow_data::files::OutputFile;
use hedgerow_node::Event;
use hedgerow_node::agreement::StudyHash;
use hedgerow_node::journal::{Journal, JournalError};
use serde::{Deserialize, Serialize};

use crate::joint::Step;
use crate::observe::how_to_decide;
use crate::summary::Summary;

/// The file is touched at least this often while somebody is at work: of several runs that were
/// never ended, the one touched last is the present one.
const TOUCHED: Duration = Duration::from_secs(2);

/// Steps that the file has at most: a run that never ends does not fill it.
const STEPS: usize = 200;

/// How far a run is at this site.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// The privacy officer is to decide.
    Asking,
    /// Rows are read, peers are waited for, classes are cut.
    Running,
    /// The release lies in its folder; peers may still lack something.
    Settling,
    /// The release lies in its folder, and every site has what it needs.
    Done,
    /// The run failed.
    Failed,
}

/// How a run stands at this site, as the file says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Standing {
    /// The hash of the study.
    pub study_hash: String,
    /// The run.
    pub run: u32,
    /// How far the run is.
    pub state: State,
    /// Peers that are not connected.
    pub waiting_for: Vec<String>,
    /// The hub of a star through which this site reaches the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub through: Option<String>,
    /// The last step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<Step>,
    /// The steps until now, oldest first; of very many, the last ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<Step>,
    /// Why the run failed, or waits for the officer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The summary of a run that is done: as text, as JSON, and whether the release holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<(String, String, bool)>,
}

impl Standing {
    /// What the file of a run says.
    pub fn read(data: &Path, number: u32) -> Option<Self> {
        Self::open(&file(data, number))
    }

    fn open(path: &Path) -> Option<Self> {
        serde_json::from_slice(&std::fs::read(path).ok()?).ok()
    }

    /// The run that a process of this site is at work on.
    pub(crate) fn present(data: &Path) -> Result<Option<Self>, JournalError> {
        if !Journal::is_held(data)? {
            return Ok(None);
        }
        let files = std::fs::read_dir(data).into_iter().flatten().flatten();
        let open = files.filter_map(|file| {
            let name = file.file_name();
            let name = name.to_str()?;
            (name.starts_with("run-") && name.ends_with(".json")).then_some(())?;
            let standing = Self::open(&file.path())?;
            let touched = file.metadata().ok()?.modified().ok()?;
            standing.is_open().then_some((touched, standing))
        });
        let last = open.max_by_key(|(touched, _)| *touched);
        Ok(last.map(|(_, standing)| standing))
    }

    /// Whether the run has not come to an end.
    pub const fn is_open(&self) -> bool {
        matches!(self.state, State::Asking | State::Running | State::Settling)
    }

    /// Whether both speak of the same run.
    pub(crate) fn is_of(&self, study: &str, number: u32) -> bool {
        self.study_hash == study && self.run == number
    }

    /// The state of the run in a few words.
    pub fn words(&self) -> String {
        match (self.state, self.step) {
            (State::Failed, _) => {
                format!("failed: {}", self.reason.as_deref().unwrap_or("unknown"))
            }
            (State::Asking, _) => format!(
                "waits for the privacy officer: {}\nhint: {}",
                self.reason.as_deref().unwrap_or("unknown"),
                how_to_decide(self.run)
            ),
            (State::Done, _) => String::from("done"),
            (State::Settling, _) => {
                String::from("released; waiting until every site has what it needs")
            }
            (State::Running, _) if !self.waiting_for.is_empty() => self.waiting(),
            (State::Running, Some(step)) => step.to_string(),
            (State::Running, None) => String::from("beginning"),
        }
    }

    /// Whom the run waits for, and through whom.
    fn waiting(&self) -> String {
        let is_hub = |name: &&str| Some(*name) == self.through.as_deref();
        let all = self.waiting_for.iter().map(String::as_str);
        let (hub, others): (Vec<&str>, Vec<&str>) = all.partition(is_hub);
        let listed = hedgerow_data::quoted_list(&others);
        match (&self.through, hub.is_empty(), others.is_empty()) {
            (None, ..) => format!("waiting for {listed}"),
            (Some(hub), true, _) => format!("waiting for {listed}, through the hub `{hub}`"),
            (Some(hub), false, true) => format!("waiting for the hub `{hub}`"),
            (Some(hub), false, false) => {
                format!("waiting for the hub `{hub}`, and through it for {listed}")
            }
        }
    }
}

fn file(data: &Path, number: u32) -> PathBuf {
    data.join(format!("run-{number}.json"))
}

/// Keeps the file.
pub(crate) struct Board {
    path: PathBuf,
    standing: Mutex<(Standing, bool)>,
}

/// Keeps a board's file up to date until this value is dropped. When this value is gone, no file is half
/// written: a process that ended in the middle would leave a temporary file behind.
pub(crate) struct Showing {
    task: tokio::task::JoinHandle<()>,
    /// Held while the task writes; `true` once the task may write no more.
    is_over: Arc<Mutex<bool>>,
}

impl Drop for Showing {
    fn drop(&mut self) {
        self.task.abort();
        // A task that is writing is not stopped by this, so the lock waits for its file.
        hedgerow_node::aside(|| *locked(&self.is_over) = true);
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What these locks guard is changed in one step each, so a panic elsewhere leaves it whole.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Board {
    pub(crate) fn new(
        data: &Path,
        study: StudyHash,
        number: u32,
        peers: Vec<String>,
        through: Option<String>,
    ) -> Self {
        Self {
            path: file(data, number),
            standing: Mutex::new((
                Standing {
                    study_hash: study.to_string(),
                    run: number,
                    state: State::Running,
                    waiting_for: peers,
                    through,
                    step: None,
                    steps: Vec::new(),
                    reason: None,
                    answer: None,
                },
                true,
            )),
        }
    }

    /// Forgets a run.
    pub(crate) fn forget(data: &Path, number: u32) {
        let _ = std::fs::remove_file(file(data, number));
    }

    pub(crate) fn show(board: &Arc<Self>) -> Showing {
        let board = Arc::clone(board);
        let is_over = Arc::new(Mutex::new(false));
        let told = Arc::clone(&is_over);
        let task = tokio::spawn(async move {
            let mut written = Instant::now();
            loop {
                let is_changed = std::mem::take(&mut board.lock().1);
                if is_changed || written.elapsed() >= TOUCHED {
                    written = Instant::now();
                    hedgerow_node::aside(|| {
                        let is_over = locked(&told);
                        if !*is_over {
                            board.write();
                        }
                    });
                }
                tokio::time::sleep(Duration::from_millis(250)).await;
            }
        });
        Showing { task, is_over }
    }

    fn lock(&self) -> MutexGuard<'_, (Standing, bool)> {
        locked(&self.standing)
    }

    fn change(&self, change: impl FnOnce(&mut Standing)) {
        let mut standing = self.lock();
        change(&mut standing.0);
        standing.1 = true;
    }

    /// Something happened on the lines.
    pub(crate) fn event(&self, event: &Event) {
        self.change(|standing| match event {
            Event::Connected { peer } => standing.waiting_for.retain(|name| name != peer),
            Event::Disconnected { peer, .. } if !standing.waiting_for.contains(peer) => {
                standing.waiting_for.push(peer.clone());
            }
            _ => {}
        });
    }

    pub(crate) fn step(&self, step: Step) {
        self.change(|standing| {
            standing.step = Some(step);
            if standing.steps.len() == STEPS {
                standing.steps.remove(0);
            }
            standing.steps.push(step);
        });
    }

    /// The officer is asked.
    pub(crate) fn asking(&self, why: &str) {
        self.change(|standing| {
            standing.state = State::Asking;
            standing.reason = Some(why.to_owned());
        });
        self.write();
    }

    /// The officer has approved.
    pub(crate) fn going_on(&self) {
        self.change(|standing| {
            standing.state = State::Running;
            standing.reason = None;
        });
    }

    pub(crate) fn settling(&self) {
        self.change(|standing| standing.state = State::Settling);
    }

    pub(crate) fn done(&self, summary: &Summary) {
        self.change(|standing| {
            standing.state = State::Done;
            standing.waiting_for.clear();
            // Our own types have string keys and finite or null numbers, so this cannot fail.
            let json = serde_json::to_string_pretty(summary).unwrap_or_default();
            standing.answer = Some((summary.to_string(), json, summary.holds));
        });
        self.write();
    }

    pub(crate) fn failed(&self, why: &str) {
        self.change(|standing| {
            standing.state = State::Failed;
            standing.reason = Some(why.to_owned());
        });
        self.write();
    }

    /// Writes the file where the data folder exists; a file that cannot be written is no reason to stop.
    fn write(&self) {
        // The lock is held to the end, so that the file ends with the latest state.
        let standing = self.lock();
        let is_there = self.path.parent().is_some_and(Path::exists);
        if is_there && let Ok(mut file) = OutputFile::create(&self.path) {
            let text = serde_json::to_string_pretty(&standing.0).unwrap_or_default();
            if file.write_all(text.as_bytes()).is_ok() {
                let _ = file.finish();
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// A process ends soon after its board is shown no more.
    #[test]
    fn nothing_is_half_written_when_a_board_is_shown_no_more() {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        let folder = tempfile::tempdir().unwrap();
        runtime.block_on(async {
            for number in 1..200 {
                let hash = StudyHash([7; 32]);
                let board = Arc::new(Board::new(folder.path(), hash, number, Vec::new(), None));
                let showing = Board::show(&board);
                tokio::time::sleep(Duration::from_micros(u64::from(number) * 10)).await;
                drop(showing);
                let files = std::fs::read_dir(folder.path()).unwrap();
                for file in files {
                    let name = file.unwrap().file_name().into_string().unwrap();
                    assert!(name.ends_with(".json"), "{name}");
                }
            }
        });
    }
}
