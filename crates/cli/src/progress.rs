//! Progress bars on stderr, for what takes longer than a moment, and notices beside them.

use std::path::Path;
use std::time::{Duration, Instant};

use hedgerow::data::files::Progress;
use hedgerow::words::one_line;
use hedgerow::{Notice, Observer, Step, Watch, Work};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::log::Log;
use crate::output::talk;
use crate::stop::Stop;

/// A bar that shows itself only once the work has taken a second.
pub(crate) struct Bar {
    bar: ProgressBar,
    started: Instant,
    stop: Stop,
}

impl Bar {
    /// A bar for reading a file; counts bytes.
    pub(crate) fn reading(path: &Path) -> Self {
        let length = std::fs::metadata(path).map_or(0, |metadata| metadata.len());
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

    fn new(length: u64, message: &str, template: &str) -> Self {
        let bar = ProgressBar::with_draw_target(Some(length), ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.set_message(one_line(message).into_owned());
        Self {
            bar,
            started: Instant::now(),
            stop: Stop::default(),
        }
    }
}

impl Progress for Bar {
    fn advance(&self, amount: u64) {
        self.bar.inc(amount);
        // Not a terminal: indicatif keeps a stderr target hidden by itself.
        if self.bar.is_hidden() && self.started.elapsed() > Duration::from_secs(1) {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
    }
}

impl Watch for Bar {
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
            Work::Alone { records } => Bar::rows(records, "each site alone"),
            _ => Bar::steps(),
        })
    }

    fn notice(&self, notice: Notice) {
        match notice {
            Notice::Line(event) => self.0.say(event),
            other => talk(&other.to_string()),
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
