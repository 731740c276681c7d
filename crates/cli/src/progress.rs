//! Progress bars on stderr, for what takes longer than a moment, and notices beside them.

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use hedgerow::data::files::{Progress, length_of};
use hedgerow::words::one_line;
use hedgerow::{Notice, Observer, Step, Urgency, Watch, Work};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::log::Log;
use crate::output::{is_quiet, talk};
use crate::stop::Stop;

/// Work that takes less shows no bar.
const MOMENT: Duration = Duration::from_secs(2);
/// How often a bar shows that time goes by.
const TICK: Duration = Duration::from_millis(250);

/// A bar that shows itself only once the work has taken more than a moment, and never where the person wants
/// quiet.
pub(crate) struct Bar {
    bar: ProgressBar,
    started: Instant,
    stop: Stop,
    /// Shows the bar after a moment, where there is a terminal; ends when the first of both is dropped.
    showing: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Bar {
    /// A bar for reading a file; counts bytes.
    pub(crate) fn reading(path: &Path) -> Self {
        let length = length_of(path);
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        Self::new(
            length,
            &format!("reading {name}"),
            "{msg} {wide_bar} {bytes}/{total_bytes} {eta}",
        )
    }

    /// A bar for files whose records an engine counts; counts bytes.
    fn counting(paths: &[PathBuf]) -> Self {
        let length = paths.iter().map(|path| length_of(path)).sum();
        Self::new(
            length,
            "counting records",
            "{spinner} {msg} {wide_bar} {bytes}/{total_bytes} {elapsed}",
        )
    }

    /// A bar for making rows.
    pub(crate) fn rows(rows: u64, message: &str) -> Self {
        Self::new(
            rows,
            message,
            "{msg} {wide_bar} {human_pos}/{human_len} {eta}",
        )
    }

    /// Says that so many more are to come.
    pub(crate) fn expect_more(&self, amount: u64) {
        self.bar.inc_length(amount);
    }

    /// Says what is being done.
    pub(crate) fn say(&self, message: &str) {
        self.bar.set_message(one_line(message).into_owned());
    }

    /// A bar that shows how far a run is.
    fn steps() -> Self {
        Self::new(0, "finding classes", "{spinner} {msg}")
    }

    /// A bar that shows which choice is tried, and how far its run is.
    fn choices() -> Self {
        let mut bar = Self::new(0, "finding classes", "{spinner} {prefix}: {msg}");
        bar.stop = Stop::of_a_comparison();
        bar
    }

    fn new(length: u64, message: &str, template: &str) -> Self {
        let bar = ProgressBar::with_draw_target(Some(length), ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.set_message(one_line(message).into_owned());
        let is_seen = std::io::stderr().is_terminal() && !is_quiet();
        Self {
            showing: is_seen.then(|| show_later(&bar)),
            bar,
            started: Instant::now(),
            stop: Stop::of_a_release(),
        }
    }
}

/// Shows a bar after a moment, and that time goes by, whether or not the work says how far it is.
fn show_later(bar: &ProgressBar) -> (Sender<()>, JoinHandle<()>) {
    let (over, is_over) = mpsc::channel();
    let bar = bar.clone();
    let showing = std::thread::spawn(move || {
        if is_over.recv_timeout(MOMENT) == Err(RecvTimeoutError::Timeout) {
            bar.set_draw_target(ProgressDrawTarget::stderr());
            bar.enable_steady_tick(TICK);
        }
    });
    (over, showing)
}

impl Progress for Bar {
    fn advance(&self, amount: u64) {
        self.bar.inc(amount);
    }
}

impl Watch for Bar {
    fn begins(&self, choice: &str) {
        self.bar.set_prefix(one_line(choice).into_owned());
    }

    fn step(&self, step: Step) {
        let seconds = self.started.elapsed().as_secs();
        self.bar.set_message(format!("{step}, {seconds} s"));
        self.advance(1);
    }

    fn is_over(&self) -> bool {
        self.stop.is_asked()
    }
}

/// Draws bars and says notices on stderr.
#[derive(Default)]
pub(crate) struct Terminal(Log);

impl Observer for Terminal {
    fn begin(&self, work: Work<'_>) -> Box<dyn Watch> {
        Box::new(match work {
            Work::Reading(path) => Bar::reading(path),
            Work::Counting(paths) => Bar::counting(paths),
            Work::Alone { records } => Bar::rows(records, "each site alone"),
            Work::Judging => Bar::new(0, "looking at the release", "{spinner} {msg} {elapsed}"),
            Work::Comparing => Bar::choices(),
            _ => Bar::steps(),
        })
    }

    fn notice(&self, notice: Notice) {
        if is_quiet() && notice.urgency() == Urgency::Plain {
            return;
        }
        if let Some(line) = self.0.line(&notice) {
            talk(&line);
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if let Some((over, showing)) = self.showing.take() {
            drop(over);
            // The thread has nothing to say.
            let _ = showing.join();
        }
        self.bar.finish_and_clear();
    }
}
