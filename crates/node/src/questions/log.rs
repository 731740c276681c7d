//! The log of questions: who asked what of this site, when, and what became of it.
//!
//! A file of lines of JSON in the data folder, which only its owner may read and to which lines are only
//! added. A question is there before anything of it is answered, and a question that cannot be written down
//! is not answered. The log holds questions and sizes of answers, never an answer.
//!
//! A line is the operating system's before anything of the question is sent, so a killed process loses none; a
//! thread of the log brings lines to the disk at once, many together where many come. A power cut may lose
//! the lines of its last milliseconds. Where the disk fails, no further question is answered.
//!
//! The log is bounded: a file that is full becomes `questions.log.1`, and of the one that was there before only
//! what was learned is kept, added up (`tally`).

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use serde_json::{Map, Value, json};

use super::tally::Tally;

/// The name of the log in a data folder.
pub const LOG: &str = "questions.log";
/// The name of the log before it.
pub(super) const OLDER: &str = "questions.log.1";
/// Bytes of one file.
const LONGEST: u64 = 64 << 20;

/// The log of questions.
pub(super) struct Log {
    file: Arc<LogFile>,
    syncing: Option<std::thread::JoinHandle<()>>,
}

struct LogFile {
    data: PathBuf,
    longest: u64,
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    file: File,
    length: u64,
    /// Lines that may not be on the disk yet.
    is_behind: bool,
    is_closed: bool,
    /// Why lines cannot be brought to the disk.
    failed: Option<std::io::Error>,
}

impl Log {
    /// Opens the log, and makes it where there is none.
    pub(super) fn open(data: &Path) -> std::io::Result<Self> {
        Self::open_with(data, LONGEST)
    }

    fn open_with(data: &Path, longest: u64) -> std::io::Result<Self> {
        let (file, length) = open(&data.join(LOG))?;
        let state = State {
            file,
            length,
            is_behind: false,
            is_closed: false,
            failed: None,
        };
        let file = Arc::new(LogFile {
            data: data.to_owned(),
            longest,
            state: Mutex::new(state),
            changed: Condvar::new(),
        });
        let synced = Arc::clone(&file);
        let syncing = std::thread::Builder::new()
            .name(String::from("log of questions"))
            .spawn(move || synced.keep_on_disk())?;
        Ok(Self {
            file,
            syncing: Some(syncing),
        })
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
        self.file.add(&format!("{}\n", Value::Object(line)))
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        self.file.lock().is_closed = true;
        self.file.changed.notify_all();
        if let Some(syncing) = self.syncing.take() {
            // The thread has nothing to say.
            let _ = syncing.join();
        }
    }
}

impl LogFile {
    fn lock(&self) -> MutexGuard<'_, State> {
        // Every step leaves the state whole.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, text: &str) -> std::io::Result<()> {
        let mut state = self.lock();
        if let Some(error) = &state.failed {
            return Err(std::io::Error::new(error.kind(), error.to_string()));
        }
        if state.length > 0 && state.length + text.len() as u64 > self.longest {
            self.turn(&mut state)?;
        }
        // A line is written in one call; what a full disk cut short is taken back, so that the next line begins
        // where a line begins.
        if let Err(error) = state.file.write_all(text.as_bytes()) {
            let _ = state.file.set_len(state.length);
            return Err(error);
        }
        state.length += text.len() as u64;
        state.is_behind = true;
        drop(state);
        self.changed.notify_all();
        Ok(())
    }

    /// Begins another file. What was learned by the questions of the older one is added up before it goes.
    fn turn(&self, state: &mut State) -> std::io::Result<()> {
        let (full, older) = (self.data.join(LOG), self.data.join(OLDER));
        state.file.sync_data()?;
        Tally::keep_of(&self.data, &older)?;
        std::fs::rename(&full, &older)?;
        (state.file, state.length) = open(&full)?;
        File::open(&self.data)?.sync_all()
    }

    /// Brings lines to the disk, until the log is closed.
    fn keep_on_disk(&self) {
        let mut state = self.lock();
        loop {
            if state.is_behind {
                state.is_behind = false;
                let file = state.file.try_clone();
                drop(state);
                let synced = file.and_then(|file| file.sync_data());
                state = self.lock();
                if let Err(error) = synced {
                    state.failed = Some(error);
                    return;
                }
            } else if state.is_closed {
                return;
            } else {
                let waited = self.changed.wait(state);
                state = waited.unwrap_or_else(PoisonError::into_inner);
            }
        }
    }
}

/// Opens a file for adding lines, and says how long it is. A line that a power cut left unfinished is ended.
fn open(path: &Path) -> std::io::Result<(File, u64)> {
    let mut options = File::options();
    options.read(true).append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    // A file that was there may have been made by somebody else.
    #[cfg(unix)]
    file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
    let mut length = file.metadata()?.len();
    if length > 0 {
        let mut last = [0];
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
        if last != *b"\n" {
            file.write_all(b"\n")?;
            length += 1;
        }
    }
    Ok((file, length))
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

    #[test]
    fn a_line_that_was_cut_short_does_not_spoil_the_next() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(LOG);
        std::fs::write(&path, "{\"time\": \"20").unwrap();
        let log = Log::open(folder.path()).unwrap();
        log.add("asked", &[1; 32], json!({})).unwrap();
        drop(log);
        let text = std::fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 2);
        assert!(serde_json::from_str::<Value>(lines[1]).is_ok());
    }

    #[test]
    fn a_full_log_gives_way_and_what_was_learned_stays() {
        let folder = tempfile::tempdir().unwrap();
        let longest = 2_000;
        let log = Log::open_with(folder.path(), longest).unwrap();
        for number in 0..100u64 {
            let line = json!({
                "asker": "north",
                "answer": "totals",
                "totals": 3,
                "disclosed": [{
                    "what": "totals", "to": "north", "allowed_by": "a rule", "values": number,
                    "is_complete": true,
                }],
            });
            log.add("answered", &[1; 32], line).unwrap();
        }
        drop(log);
        let length = |name: &str| std::fs::metadata(folder.path().join(name)).unwrap().len();
        assert!(length(LOG) <= longest && length(OLDER) <= longest);
        let tally = Tally::read(folder.path()).unwrap();
        assert_eq!(tally.asked["north"].answered, 100);
        let [learned] = tally.learned.as_slice() else {
            panic!("{tally:?}");
        };
        assert_eq!((learned.calls, learned.values), (100, 99 * 100 / 2));
        // Reading twice, or after another start, counts nothing twice.
        drop(Log::open_with(folder.path(), longest).unwrap());
        assert_eq!(Tally::read(folder.path()).unwrap(), tally);
    }
}
