//! The list of tests that were skipped, for the last line of `scripts/test.sh`.

use std::io::Write as _;

/// The environment variable with the file that skipped tests are listed in; `scripts/test.sh` sets it.
const LIST: &str = "HEDGEROW_SKIPPED";

/// Says on stderr that this test is skipped because something is not there, and adds a line to the
/// list of `scripts/test.sh`: what is missing, and the test.
///
/// # Panics
/// Where the list cannot be written: a skipped test that nobody hears of looks like one that passed.
pub fn skip(missing: &str, hint: &str) {
    let thread = std::thread::current();
    let package = std::env::var("CARGO_PKG_NAME").unwrap_or_default();
    let test = format!("{package} {}", thread.name().unwrap_or("a thread"));
    // Not by a macro: what a macro prints is kept back for a test that passes.
    let _ = writeln!(
        std::io::stderr(),
        "skipped: {test}: no {missing} here; {hint}"
    );
    let Some(list) = std::env::var_os(LIST) else {
        return;
    };
    let opened = std::fs::OpenOptions::new()
        .append(true)
        .create(true)
        .open(&list);
    let written = opened.and_then(|mut file| {
        // One write, so that lines of several processes do not mix.
        file.write_all(format!("{missing}\t{test}\n").as_bytes())
    });
    if let Err(error) = written {
        panic!("{LIST} is {}: {error}", list.display());
    }
}
