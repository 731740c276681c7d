//! What a node knows of itself while it is up, for `status` and for programs that watch it: whether its rows
//! can be read, which run it is at work on, how runs ended, and when it last heard of each peer.
//!
//! All of it follows from the notices that observers hear, and nothing of it is a value of a record. A file in
//! the data folder shows it to other processes. The file is a courtesy, as that of a run is (`standing`):
//! whether a node is up is told by its lock, which no process can keep beyond its end.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hedgerow_data::files::OutputFile;
use hedgerow_node::Event;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::observe::{Notice, Observer, SharedObserver, Watch, Work};

/// How often it is looked whether the file is out of date.
const LOOKING: Duration = Duration::from_millis(250);
/// A peer that stays connected was heard of at least this long ago, as the file says.
const TOUCHED: Duration = Duration::from_secs(60);

/// What a node is and knows at a moment; times are in seconds since 1970.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Vitals {
    /// Since when the process is up.
    pub(super) since: i64,
    /// Where the node listens.
    pub(super) address: String,
    /// The hash of the study that the node serves.
    pub(super) study_hash: String,
    /// The hash of the site's file that the node goes by.
    #[serde(default)]
    pub(super) site_file: String,
    /// Why the rows cannot be read, without any value of a record.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) unfit_source: Option<String>,
    /// The run that is under way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) run: Option<u32>,
    /// How many runs ended with a release, and how many failed, since the node is up.
    pub(super) released: u64,
    pub(super) failed: u64,
    /// How many callers were turned away.
    pub(super) turned_away: u64,
    /// How often the site's file and the study were read anew, and how often they could not be.
    pub(super) reloads: u64,
    pub(super) failed_reloads: u64,
    /// The peers by name.
    pub(super) peers: BTreeMap<String, Contact>,
}

/// When a peer was heard of.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Contact {
    /// Whether there is a connection for a run.
    pub(super) is_in_run: bool,
    /// Whether there is a connection for questions.
    pub(super) is_for_questions: bool,
    /// When the peer was last heard of.
    pub(super) last: Option<i64>,
}

impl Contact {
    pub(super) const fn is_connected(&self) -> bool {
        self.is_in_run || self.is_for_questions
    }
}

impl Vitals {
    /// What the file in a data folder says.
    pub(super) fn read(data: &Path) -> Option<Self> {
        serde_json::from_slice(&std::fs::read(file(data)).ok()?).ok()
    }

    /// Who is connected is heard of now.
    fn touch(&mut self) {
        let now = now();
        let connected = self.peers.values_mut().filter(|one| one.is_connected());
        connected.for_each(|contact| contact.last = Some(now));
    }

    /// Writes the file where the data folder exists; a file that cannot be written is no reason to stop.
    fn write(mut self, path: &Path) {
        self.touch();
        let is_there = path.parent().is_some_and(Path::exists);
        if is_there && let Ok(mut file) = OutputFile::create_private(path) {
            // Our own types have string keys, so this cannot fail.
            let text = serde_json::to_string_pretty(&self).unwrap_or_default();
            if file.write_all(text.as_bytes()).is_ok() {
                let _ = file.finish();
            }
        }
    }

    fn note(&mut self, notice: &Notice) {
        let now = now();
        match notice {
            Notice::Line(Event::TurnedAway { .. }) => self.turned_away += 1,
            Notice::Line(event) => self.hear(event, |contact| &mut contact.is_in_run),
            Notice::Question(event) => self.hear(event, |contact| &mut contact.is_for_questions),
            // This site knocks at its own node too.
            Notice::Asked { site, .. } => {
                if let Some(contact) = self.peers.get_mut(site) {
                    contact.last = Some(now);
                }
            }
            Notice::Begins { run } => self.run = Some(*run),
            Notice::Over { .. } => {
                self.released += 1;
                self.run_ends(now);
            }
            Notice::Failed { .. } => {
                self.failed += 1;
                self.run_ends(now);
            }
            Notice::SourceFits(_) => self.unfit_source = None,
            Notice::SourceUnfit(why) => self.unfit_source = Some(why.clone()),
            Notice::NotReadAnew(_) => self.failed_reloads += 1,
            _ => {}
        }
    }

    fn hear(&mut self, event: &Event, of: impl Fn(&mut Contact) -> &mut bool) {
        let (Event::Connected { peer } | Event::Disconnected { peer, .. }) = event else {
            return;
        };
        let Some(contact) = self.peers.get_mut(peer) else {
            return;
        };
        let is_connected = matches!(event, Event::Connected { .. });
        let was_connected = std::mem::replace(of(contact), is_connected);
        // An attempt that came to nothing is no contact.
        if is_connected || was_connected {
            contact.last = Some(now());
        }
    }

    /// The lines of a run end with it.
    fn run_ends(&mut self, now: i64) {
        self.run = None;
        for contact in self.peers.values_mut() {
            if std::mem::take(&mut contact.is_in_run) {
                contact.last = Some(now);
            }
        }
    }
}

/// A moment as people read it.
pub(super) fn moment(seconds: i64) -> String {
    let moment = Timestamp::from_second(seconds).unwrap_or(Timestamp::UNIX_EPOCH);
    moment.strftime("%Y-%m-%d %H:%M:%S").to_string()
}

fn now() -> i64 {
    Timestamp::now().as_second()
}

fn file(data: &Path) -> PathBuf {
    data.join("node.json")
}

/// The vitals of this process, which notices change.
pub(super) struct Pulse {
    vitals: Mutex<Vitals>,
}

impl Pulse {
    pub(super) fn new() -> Arc<Self> {
        let vitals = Vitals {
            since: now(),
            // So that a server that says nothing does not look well meanwhile.
            unfit_source: Some(String::from("nobody has looked at them yet")),
            ..Vitals::default()
        };
        Arc::new(Self {
            vitals: Mutex::new(vitals),
        })
    }

    /// An observer that lets another hear everything.
    pub(super) fn before(self: &Arc<Self>, observer: &SharedObserver) -> SharedObserver {
        Arc::new(Hearing {
            pulse: Arc::clone(self),
            observer: Arc::clone(observer),
        })
    }

    pub(super) fn now(&self) -> Vitals {
        self.lock().clone()
    }

    pub(super) fn change(&self, change: impl FnOnce(&mut Vitals)) {
        change(&mut self.lock());
    }

    /// These are the peers from now on; what the file knows of them from before is taken over.
    pub(super) fn set_peers<'p>(&self, data: &Path, peers: impl Iterator<Item = &'p str>) {
        let before = Vitals::read(data).unwrap_or_default().peers;
        self.change(|vitals| {
            let known = std::mem::take(&mut vitals.peers);
            for peer in peers {
                let last = before.get(peer).and_then(|contact| contact.last);
                let from_before = Contact {
                    last,
                    ..Contact::default()
                };
                let contact = known.get(peer).cloned().unwrap_or(from_before);
                vitals.peers.insert(peer.to_owned(), contact);
            }
        });
    }

    /// Keeps the file in a data folder up to date until the returned value is dropped.
    pub(super) fn keep(self: &Arc<Self>, data: &Path) -> Keeping {
        let is_over = Arc::new(Mutex::new(false));
        let (pulse, path, told) = (Arc::clone(self), file(data), Arc::clone(&is_over));
        let task = tokio::spawn(async move {
            let mut written = None;
            let mut at = Instant::now();
            loop {
                let vitals = pulse.now();
                // Strangers who knock keep no disk busy.
                let seen = Some(Vitals {
                    turned_away: 0,
                    ..vitals.clone()
                });
                if written != seen || at.elapsed() >= TOUCHED {
                    (written, at) = (seen, Instant::now());
                    hedgerow_node::aside(|| {
                        let is_over = told.lock().unwrap_or_else(PoisonError::into_inner);
                        if !*is_over {
                            vitals.write(&path);
                        }
                    });
                }
                tokio::time::sleep(LOOKING).await;
            }
        });
        Keeping {
            pulse: Arc::clone(self),
            path: file(data),
            task,
            is_over,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vitals> {
        // Every change leaves the vitals whole.
        self.vitals.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Keeps the file until it is dropped, and then writes the last state: nobody is connected any more.
pub(super) struct Keeping {
    pulse: Arc<Pulse>,
    path: PathBuf,
    task: tokio::task::JoinHandle<()>,
    /// Held while the task writes; `true` once the task may write no more.
    is_over: Arc<Mutex<bool>>,
}

impl Drop for Keeping {
    fn drop(&mut self) {
        self.task.abort();
        let mut vitals = self.pulse.now();
        vitals.touch();
        vitals.run = None;
        for contact in vitals.peers.values_mut() {
            (contact.is_in_run, contact.is_for_questions) = (false, false);
        }
        // A task that is writing is not stopped by this, so the lock waits for its file.
        hedgerow_node::aside(|| {
            *self.is_over.lock().unwrap_or_else(PoisonError::into_inner) = true;
            vitals.write(&self.path);
        });
    }
}

/// Hears notices on their way to another observer.
struct Hearing {
    pulse: Arc<Pulse>,
    observer: SharedObserver,
}

impl Observer for Hearing {
    fn begin(&self, work: Work<'_>) -> Box<dyn Watch> {
        self.observer.begin(work)
    }

    fn notice(&self, notice: Notice) {
        self.pulse.lock().note(&notice);
        self.observer.notice(notice);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn line(peer: &str, is_connected: bool) -> Notice {
        let peer = peer.to_owned();
        Notice::Line(match is_connected {
            true => Event::Connected { peer },
            false => Event::Disconnected {
                peer,
                why: String::from("gone"),
            },
        })
    }

    #[test]
    fn contacts_follow_from_what_is_heard() {
        let folder = tempfile::tempdir().unwrap();
        let (pulse, nobody): (_, SharedObserver) = (Pulse::new(), Arc::new(()));
        pulse.set_peers(folder.path(), ["south", "east"].into_iter());
        let observer = pulse.before(&nobody);
        // An attempt that came to nothing, and a stranger's name.
        observer.notice(line("south", false));
        observer.notice(line("stranger", true));
        let before = pulse.now();
        assert!(before.peers.values().all(|one| *one == Contact::default()));
        assert_eq!(before.peers.len(), 2);

        observer.notice(Notice::Begins { run: 4 });
        observer.notice(line("south", true));
        observer.notice(Notice::Asked {
            site: String::from("east"),
            run: 4,
        });
        let during = pulse.now();
        assert!(during.peers["south"].is_connected() && during.peers["south"].last.is_some());
        assert!(!during.peers["east"].is_connected() && during.peers["east"].last.is_some());
        assert_eq!(during.run, Some(4));

        let why = String::from("x");
        observer.notice(Notice::Failed { run: 4, why });
        let after = pulse.now();
        assert!(!after.peers["south"].is_connected());
        assert_eq!((after.run, after.failed, after.released), (None, 1, 0));
    }

    #[test]
    fn what_was_known_of_peers_is_known_to_the_next_process() {
        let folder = tempfile::tempdir().unwrap();
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(async {
            let pulse = Pulse::new();
            pulse.set_peers(folder.path(), ["south", "east"].into_iter());
            let keeping = pulse.keep(folder.path());
            pulse.lock().note(&line("south", true));
            drop(keeping);
        });
        let read = Vitals::read(folder.path()).unwrap();
        assert!(!read.peers["south"].is_connected() && read.peers["south"].last.is_some());
        let next = Pulse::new();
        next.set_peers(folder.path(), ["south", "west"].into_iter());
        assert_eq!(next.now().peers["south"].last, read.peers["south"].last);
        assert_eq!(next.now().peers["west"], Contact::default());
        assert!(!next.now().peers.contains_key("east"));
        // A file that is no such file is passed over.
        std::fs::write(folder.path().join("node.json"), "{").unwrap();
        assert_eq!(Vitals::read(folder.path()), None);
    }

    #[test]
    fn moments_are_written_as_people_read_them() {
        assert_eq!(moment(0), "1970-01-01 00:00:00");
        assert_eq!(moment(1_763_495_999), "2025-11-18 19:59:59");
    }
}
