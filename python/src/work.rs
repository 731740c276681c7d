//! Work of the engine on a thread of its own, without Python's lock, while Python's thread hears Ctrl-C and shows
//! how far the work is.
//!
//! Ctrl-C ends the work at the next step, turn of a site, or piece of a file that is read: the observer unwinds the
//! thread of the engine, whose temporary files go as it unwinds, and Python raises `KeyboardInterrupt`.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use hedgerow::data::files::Progress;
use hedgerow::{Error, Notice, Observer, SharedObserver, Step, Watch, Work};
use pyo3::prelude::*;

use crate::error::{raised, said};

/// How often Python's thread hears signals.
const LOOK: Duration = Duration::from_millis(50);

/// What the engine tells on its way.
enum Told {
    /// Work begins, in words; so many units in all, where they are known.
    Begins(String, Option<u64>),
    /// Units that were done since the last word.
    Advanced(u64),
    /// Where a run is.
    At(String),
    /// The work is over.
    Ends,
    /// What a person should hear of.
    Notice(&'static str, String),
}

/// Tells Python's thread what it hears, and ends the engine's work if Python wants no more.
#[derive(Clone)]
struct Ear {
    tell: Sender<Told>,
    is_over: Arc<AtomicBool>,
}

/// Hears how far one piece of work is.
struct Watching(Ear);

/// The payload with which the engine's thread unwinds.
struct Interrupted;

impl Ear {
    fn say(&self, told: Told) {
        // Python's thread hears until the work is over.
        let _ = self.tell.send(told);
        self.go_on();
    }

    fn go_on(&self) {
        if self.is_over.load(Ordering::Relaxed) {
            resume_unwind(Box::new(Interrupted));
        }
    }
}

impl Observer for Ear {
    fn begin(&self, work: Work<'_>) -> Box<dyn Watch> {
        let name = |path: &Path| {
            let name = path.file_name().unwrap_or(path.as_os_str());
            name.to_string_lossy().into_owned()
        };
        let (words, total) = match work {
            Work::Reading(path) => {
                let length = path.metadata().map(|about| about.len()).ok();
                (format!("reading {}", name(path)), length)
            }
            Work::Run => (String::from("anonymizing"), None),
            Work::Judging => (String::from("measuring"), None),
            Work::Comparing => (String::from("comparing"), None),
            Work::Alone { records } => (String::from("each site alone"), Some(records)),
            _ => (String::from("working"), None),
        };
        self.say(Told::Begins(words, total));
        Box::new(Watching(self.clone()))
    }

    fn notice(&self, notice: Notice) {
        let kind = match notice {
            Notice::Warning(_) => "warning",
            Notice::Hint(_) => "hint",
            _ => "note",
        };
        let text = notice.to_string();
        let text = text
            .strip_prefix(kind)
            .and_then(|text| text.strip_prefix(": "))
            .unwrap_or(&text);
        self.say(Told::Notice(kind, text.to_owned()));
    }
}

impl Progress for Watching {
    fn advance(&self, units: u64) {
        self.0.say(Told::Advanced(units));
    }
}

impl Watch for Watching {
    fn begins(&self, choice: &str) {
        self.0.say(Told::At(choice.to_owned()));
    }

    fn step(&self, step: Step) {
        let words = match step {
            Step::Wave { wave, open } => format!("wave {wave}, {open} classes open"),
            Step::Iteration { clusters, loss, .. }
            | Step::Grown { clusters, loss }
            | Step::Refined { clusters, loss }
            | Step::Rebuilt { clusters, loss } => {
                format!("{clusters} clusters, {:.2} % lost", 100.0 * loss)
            }
            _ => return self.0.go_on(),
        };
        self.0.say(Told::At(words));
    }

    fn turn(&self) {
        self.0.go_on();
    }

    fn is_over(&self) -> bool {
        self.0.go_on();
        false
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        let _ = self.0.tell.send(Told::Ends);
    }
}

/// Does a piece of the engine's work; `show` is called with what happens (`kind`, `words`, `number`), where Python
/// wants to see it.
pub(crate) fn work<T: Send>(
    py: Python<'_>,
    show: Option<&Bound<'_, PyAny>>,
    job: impl FnOnce(SharedObserver) -> Result<T, Error> + Send,
) -> PyResult<T> {
    let show = show.map(|show| show.clone().unbind());
    let (tell, hear) = channel();
    let is_over = Arc::new(AtomicBool::new(false));
    let ear = Ear {
        tell,
        is_over: Arc::clone(&is_over),
    };
    let (done, failed) = py.detach(move || {
        let (show, is_over) = (show.as_ref(), &*is_over);
        std::thread::scope(|scope| {
            let job = scope.spawn(|| catch_unwind(AssertUnwindSafe(|| job(Arc::new(ear)))));
            let is_done = || job.is_finished();
            let failed = watch(&hear, is_done, show, is_over);
            (job.join(), failed)
        })
    });
    match done {
        Ok(Ok(result)) => match failed {
            Some(error) => Err(error),
            None => result.map_err(|error| raised(py, &error)),
        },
        Ok(Err(payload)) | Err(payload) => Err(failed.unwrap_or_else(|| {
            let words = payload.downcast_ref::<String>().map(String::as_str);
            let words = words.or_else(|| payload.downcast_ref::<&str>().copied());
            let words = words.unwrap_or("the work ended unexpectedly");
            said(
                py,
                "HedgerowError",
                format!("a mistake in hedgerow: {words}"),
            )
        })),
    }
}

/// Hears the engine and Python's signals until the work is done; the exception that ends it, if there is one.
fn watch(
    hear: &Receiver<Told>,
    is_done: impl Fn() -> bool,
    show: Option<&Py<PyAny>>,
    is_over: &AtomicBool,
) -> Option<PyErr> {
    let mut looked = Instant::now();
    loop {
        let told = match hear.recv_timeout(LOOK) {
            Ok(told) => Some(told),
            Err(RecvTimeoutError::Timeout) if !is_done() => None,
            Err(_) => return None,
        };
        let shown = match (&told, show) {
            (Some(told), Some(show)) => Python::attach(|py| shown(py, show, told)),
            _ => Ok(()),
        };
        let signal = match looked.elapsed() >= LOOK {
            true => {
                looked = Instant::now();
                Python::attach(|py| py.check_signals())
            }
            false => Ok(()),
        };
        if let Err(error) = shown.and(signal) {
            is_over.store(true, Ordering::Relaxed);
            return Some(error);
        }
    }
}

fn shown(py: Python<'_>, show: &Py<PyAny>, told: &Told) -> PyResult<()> {
    let (kind, words, number) = match told {
        Told::Begins(words, total) => ("begins", words.as_str(), *total),
        Told::Advanced(units) => ("advanced", "", Some(*units)),
        Told::At(words) => ("at", words.as_str(), None),
        Told::Ends => ("ends", "", None),
        Told::Notice(kind, words) => (*kind, words.as_str(), None),
    };
    show.call1(py, (kind, words, number)).map(|_| ())
}
