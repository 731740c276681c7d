//! What a command says: text for people, JSON for machines.
//!
//! Names and values come from files that others wrote, and a terminal obeys what stands in them. So
//! nothing is printed but through here, where [`visible`] writes what a terminal would obey.

use std::fmt::Display;
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use hedgerow::words::visible;
use serde::Serialize;

use crate::error::Usage;

/// A command's answer, in both forms.
pub(crate) struct Answer {
    pub(crate) text: String,
    pub(crate) json: String,
    /// Whether what was asked holds: decides the exit code.
    pub(crate) holds: bool,
}

impl Answer {
    /// An answer whose JSON form is this value.
    pub(crate) fn new(text: String, value: &impl Serialize, holds: bool) -> Self {
        // Our own types have string keys and finite or null numbers, so this cannot fail.
        let json = serde_json::to_string_pretty(value).unwrap_or_default();
        Self { text, json, holds }
    }

    /// What the engine found, in both forms.
    pub(crate) fn of(found: &(impl Display + Serialize), holds: bool) -> Self {
        Self::new(found.to_string(), found, holds)
    }
}

/// Whether the person wants no talk but warnings and errors.
static QUIET: AtomicBool = AtomicBool::new(false);

/// From now on there are no progress bars, and no talk but warnings and errors.
pub(crate) fn be_quiet() {
    QUIET.store(true, Ordering::Relaxed);
}

/// Whether there are to be no progress bars, and no talk but warnings and errors.
pub(crate) fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// Prints a result on stdout. A reader that has gone away (`| head`) is no error.
pub(crate) fn print(text: &str) -> std::io::Result<()> {
    let mut stdout = std::io::stdout().lock();
    let end = if text.ends_with('\n') { "" } else { "\n" };
    let text = visible(text);
    let written = write!(stdout, "{text}{end}").and_then(|()| stdout.flush());
    match written {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

/// Says something on stderr.
pub(crate) fn talk(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{}", visible(text));
}

/// Says something on stderr that a person who wants quiet need not hear.
pub(crate) fn remark(text: &str) {
    if !is_quiet() {
        talk(text);
    }
}

/// Sees that a file that is to be written is not there, or is what an earlier command wrote there: what begins
/// with these words. A table or a study in its place would be lost.
pub(crate) fn see_replaceable(path: &Path, begins: &str) -> Result<(), Usage> {
    let mut start = vec![0; begins.len()];
    let is_there = match std::fs::File::open(path) {
        Ok(mut file) => file.read_exact(&mut start).is_err() || start != begins.as_bytes(),
        Err(error) => error.kind() != std::io::ErrorKind::NotFound,
    };
    // Pipes and terminals hold nothing that could be lost.
    let is_file = path.metadata().map_or(true, |found| found.is_file());
    match is_there && is_file {
        true => Err(Usage::SomethingElse {
            file: path.to_owned(),
        }),
        false => Ok(()),
    }
}
