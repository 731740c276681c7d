//! What the program that counts says on its standard error: one JSON object a line, and whatever else a program says
//! that fails.

use std::io::{BufRead as _, BufReader, Read};

use hedgerow_data::files::Progress;
use serde_json::Value;

/// The longest line that is listened to.
const LONGEST: u64 = 1 << 16;
/// Of what else it says, so much is kept.
const KEPT: usize = 2000;

/// What was heard.
#[derive(Debug, Default)]
pub(super) struct Heard {
    /// That it is done.
    pub(super) done: Option<Done>,
    /// Why it is not.
    pub(super) error: Option<String>,
    /// What else it said.
    pub(super) rest: String,
}

/// What the program says that it sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Done {
    /// Combinations of values.
    pub(super) combinations: u64,
    /// Records of all of them.
    pub(super) records: u64,
}

/// Listens until the program has nothing more to say; `bytes` are those of all files.
pub(super) fn listen(from: impl Read, bytes: u64, progress: &dyn Progress) -> Heard {
    let mut heard = Heard::default();
    let mut lines = BufReader::new(from);
    let mut line = Vec::new();
    let mut advanced = 0;
    loop {
        line.clear();
        match lines.by_ref().take(LONGEST).read_until(b'\n', &mut line) {
            Ok(1..) => {}
            // A line that cannot be read is the last.
            _ => return heard,
        }
        let value: Value = serde_json::from_slice(&line).unwrap_or(Value::Null);
        let number = |key: &str| value.get(key).and_then(Value::as_u64);
        if let Some(error) = value.get("error").and_then(Value::as_str) {
            heard.error = Some(error.to_owned());
        } else if let (Some(combinations), Some(records)) =
            (number("combinations"), number("records"))
        {
            heard.done = Some(Done {
                combinations,
                records,
            });
        } else if let (Some(read), Some(of)) = (number("read"), number("of")) {
            // The quotient is at most `bytes`.
            let all = u128::from(bytes) * u128::from(read.min(of)) / u128::from(of.max(1));
            let now = all as u64;
            progress.advance(now.saturating_sub(advanced));
            advanced = advanced.max(now);
        } else if number("read").is_none() && heard.rest.len() < KEPT {
            heard.rest.push_str(&String::from_utf8_lossy(&line));
        }
    }
}
