//! The log of a node, and of a run that a program starts, on stderr: a line for each event with its time, its
//! level and the run under way, as text or as JSON. It says what notices say, which never have a value of a record, nor a secret.

use std::fmt;
use std::io::stderr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use clap::ValueEnum;
use hedgerow::words::visible;
use hedgerow::{Notice, Observer, Urgency};
use jiff::Timestamp;
use tracing::Level;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::FormatTime;

use crate::log::Log;
use crate::output::{is_quiet, talk};

/// How a log is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Form {
    /// A line of words for each event.
    Text,
    /// A JSON object for each event, one a line.
    Json,
}

/// The form of this process's log, if it has one.
static FORM: OnceLock<Form> = OnceLock::new();

/// The log of a node.
pub(crate) struct NodeLog {
    form: Form,
    said: Log,
    /// The run under way; 0, which no run is, if there is none.
    run: AtomicU32,
}

impl NodeLog {
    /// Begins the log of this process, which has one.
    pub(crate) fn begin(form: Form) -> Self {
        let level = match is_quiet() {
            true => Level::WARN,
            false => Level::INFO,
        };
        let lines = tracing_subscriber::fmt()
            .with_max_level(level)
            .with_timer(Moment)
            .with_target(false)
            .with_ansi(false)
            .log_internal_errors(false)
            .with_writer(stderr);
        let _ = FORM.set(form);
        // A log that has begun goes on.
        let _ = match form {
            Form::Text => tracing::subscriber::set_global_default(lines.finish()),
            Form::Json => {
                let lines = lines.json().flatten_event(true).with_current_span(false);
                tracing::subscriber::set_global_default(lines.with_span_list(false).finish())
            }
        };
        Self {
            form,
            said: Log::default(),
            run: AtomicU32::new(0),
        }
    }

    /// The run that a notice is about, which may be the one under way.
    fn run_of(&self, notice: &Notice) -> Option<u32> {
        match notice {
            Notice::Begins { run } => self.run.store(*run, Ordering::Relaxed),
            Notice::Over { .. } | Notice::Failed { .. } => self.run.store(0, Ordering::Relaxed),
            _ => {}
        }
        let under_way = Some(self.run.load(Ordering::Relaxed)).filter(|run| *run > 0);
        notice.run().or(under_way)
    }
}

impl Observer for NodeLog {
    fn notice(&self, notice: Notice) {
        let run = self.run_of(&notice);
        let Some(line) = self.said.line(&notice) else {
            return;
        };
        let words = words(&line, self.form);
        let peer = notice.peer();
        match (&notice, notice.urgency()) {
            (
                Notice::Serving {
                    site,
                    study,
                    hash,
                    address,
                    ..
                },
                _,
            ) if self.form == Form::Json => {
                tracing::info!(site, study, study_hash = hash, address, "{words}");
            }
            (_, Urgency::Plain) => tracing::info!(run, peer, "{words}"),
            (_, Urgency::Warning) => tracing::warn!(run, peer, "{words}"),
            (_, Urgency::Error) => tracing::error!(run, peer, "{words}"),
        }
    }
}

/// Says what a person may want to know of the pages beside the node.
pub(crate) fn remark(line: &str) {
    let form = FORM.get().copied().unwrap_or(Form::Text);
    tracing::info!("{}", words(line, form));
}

/// Says what ended the command: where there is a log in JSON, as its last object.
pub(crate) fn fail(words: &str) {
    match FORM.get() {
        Some(Form::Json) => tracing::error!("{}", visible(words)),
        _ => talk(&format!("error: {words}")),
    }
}

/// The words of a notice in a log, whose level says what the first word of the notice says.
fn words(line: &str, form: Form) -> String {
    let prefixes = ["error: ", "warning: ", "note: ", "hint: "];
    let stripped = prefixes.iter().find_map(|prefix| line.strip_prefix(prefix));
    let words = visible(stripped.unwrap_or(line));
    match form {
        Form::Text => on_one_line(&words),
        Form::Json => words.into_owned(),
    }
}

/// Lines put behind each other.
fn on_one_line(text: &str) -> String {
    let mut line = String::new();
    for part in text.lines().map(str::trim) {
        if !line.is_empty() {
            line.push_str(if line.ends_with(':') { " " } else { "; " });
        }
        line.push_str(part);
    }
    line
}

/// The time of a line.
struct Moment;

impl FormatTime for Moment {
    fn format_time(&self, line: &mut Writer<'_>) -> fmt::Result {
        let now = Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S%.3fZ");
        write!(line, "{now}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_text_is_one_line_and_a_name_cannot_make_another() {
        let line = "error: run 3:\n  a\nhint: \u{1b}[2Jb";
        assert_eq!(words(line, Form::Text), r"run 3: a; hint: \u001b[2Jb");
        assert_eq!(words(line, Form::Json), "run 3:\n  a\nhint: \\u001b[2Jb");
    }
}
