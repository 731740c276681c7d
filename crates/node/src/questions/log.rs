//! The log of questions: who asked what of this site, when, and what became of it.
//!
//! A file of lines of JSON in the data folder, which only its owner may read and to which lines are only
//! added. A question is there before anything of it is answered, and a question that cannot be written down
//! is not answered. The log holds questions and sizes of answers, never an answer.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use serde_json::{Map, Value, json};

/// The name of the log in a data folder.
pub const LOG: &str = "questions.log";

/// The log of questions.
pub(super) struct Log(Mutex<File>);

impl Log {
    /// Opens the log, and makes it where there is none.
    pub(super) fn open(data: &Path) -> std::io::Result<Self> {
        let mut options = File::options();
        options.append(true).create(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(data.join(LOG))?;
        // A file that was there may have been made by somebody else.
        #[cfg(unix)]
        file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
        Ok(Self(Mutex::new(file)))
    }

    /// Adds a line about a question, with the time.
    pub(super) fn add(&self, event: &str, id: &[u8; 32], more: Value) -> std::io::Result<()> {
        let mut line = Map::new();
        line.insert("time".to_owned(), json!(utc(SystemTime::now())));
        line.insert("event".to_owned(), json!(event));
        line.insert("id".to_owned(), json!(crate::identity::hex(id)));
        if let Value::Object(more) = more {
            line.extend(more);
        }
        let text = format!("{}\n", Value::Object(line));
        // A line is written whole or not at all, in one call.
        let mut file = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        file.write_all(text.as_bytes())
    }
}

/// A moment as people and machines read it, in Coordinated Universal Time (RFC 3339).
pub(super) fn utc(moment: SystemTime) -> String {
    let since = moment.duration_since(SystemTime::UNIX_EPOCH);
    let seconds = since.map_or(0, |since| since.as_secs());
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = civil(days);
    let (hour, minute, second) = (rest / 3_600, rest / 60 % 60, rest % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// The date of a day, counted from 1970 (Hinnant, "chrono-compatible low-level date algorithms").
fn civil(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let (era, of_era) = (shifted / 146_097, shifted % 146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let shifted_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 {
        shifted_month + 3
    } else {
        shifted_month - 9
    };
    (era * 400 + year + u64::from(month <= 2), month, day)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn moments_are_written_as_calendars_have_them() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_709_251_199, "2024-02-29T23:59:59Z"),
            (1_709_251_200, "2024-03-01T00:00:00Z"),
            (4_107_542_399, "2100-02-28T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            let moment = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
            assert_eq!(utc(moment), text);
        }
    }

    #[test]
    fn the_log_is_the_owners_and_only_grows() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(LOG);
        std::fs::write(&path, "earlier\n").unwrap();
        let log = Log::open(folder.path()).unwrap();
        log.add("asked", &[1; 32], json!({ "asker": "north \"1\"" }))
            .unwrap();
        let mode = std::os::unix::fs::PermissionsExt::mode(
            &std::fs::metadata(&path).unwrap().permissions(),
        );
        assert_eq!(mode & 0o777, 0o600);
        let text = std::fs::read_to_string(&path).unwrap();
        let (first, second) = text.split_once('\n').unwrap();
        assert_eq!(first, "earlier");
        let line: Value = serde_json::from_str(second).unwrap();
        assert_eq!(line["asker"], "north \"1\"");
        assert_eq!(line["event"], "asked");
    }
}
