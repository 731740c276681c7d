//! A question to a release in SQL, answered by `hedgerow-sql` in a process of its own: one statement, within a
//! time and a length, with nothing of this process's surroundings.

use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::Value;

/// The time of an answer.
pub(crate) const TIME: Duration = Duration::from_secs(30);
/// Bytes of an answer, and of what is said about it.
const LONGEST: u64 = 4 << 20;
const LONGEST_SAID: u64 = 16 << 10;
/// How often it is looked whether the answer is there.
const LOOKING: Duration = Duration::from_millis(10);

/// What totals answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Bounds,
    Estimate,
    Certain,
    Possible,
}

/// An answer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Answer {
    pub(crate) columns: Vec<String>,
    /// The rows, each with a value for each column.
    pub(crate) rows: Vec<Vec<Value>>,
    pub(crate) note: Option<String>,
}

impl Mode {
    pub(crate) const ALL: [(Self, &'static str, &'static str); 4] = [
        (Self::Bounds, "bounds", "low, estimate and high"),
        (Self::Estimate, "estimate", "the estimate"),
        (Self::Certain, "certain", "what is certain at least"),
        (Self::Possible, "possible", "what is possible at most"),
    ];

    pub(crate) fn named(word: &str) -> Option<Self> {
        let mut all = Self::ALL.into_iter();
        all.find(|(_, name, _)| *name == word)
            .map(|(mode, ..)| mode)
    }

    pub(crate) fn name(self) -> &'static str {
        let mut all = Self::ALL.into_iter();
        all.find(|(mode, ..)| *mode == self)
            .map_or("bounds", |(_, name, _)| name)
    }
}

/// Asks a release; why there is no answer, otherwise, with the next step.
pub(crate) fn ask(
    program: &Path,
    release: &Path,
    (sql, mode): (&str, Mode),
    time: Duration,
) -> Result<Answer, String> {
    let failed = |why: &dyn std::fmt::Display| format!("{}: {why}", program.display());
    let mut child = Command::new(program)
        .args(["query", "--json", "--answer", mode.name(), "--"])
        .args([release.as_os_str(), sql.as_ref()])
        // Keys and passwords may stand in the surroundings of this process.
        .env_clear()
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| failed(&error))?;
    let answer = heard(child.stdout.take(), LONGEST);
    let said = heard(child.stderr.take(), LONGEST_SAID);
    let is_done = wait(&mut child, time).map_err(|error| failed(&error))?;
    // Whatever became of it, the process is over, so that both ends are closed.
    let answer = answer.join().unwrap_or_default();
    let said = said.join().unwrap_or_default();
    if !is_done {
        return Err(format!(
            "there was no answer within {} seconds\nhint: ask for less: fewer columns, a narrower condition, LIMIT",
            time.as_secs()
        ));
    }
    if answer.len() as u64 > LONGEST {
        return Err(format!(
            "the answer is longer than {} MiB\nhint: ask for totals, or for fewer rows with LIMIT",
            LONGEST >> 20
        ));
    }
    let said = String::from_utf8_lossy(&said);
    read(&answer).ok_or_else(|| {
        let said = said.trim();
        match said.strip_prefix("error: ").unwrap_or(said) {
            "" => failed(&"there was no answer"),
            said => said.to_owned(),
        }
    })
}

/// Reads an end of a pipe to its end, and keeps so much and one byte more.
fn heard(pipe: Option<impl Read + Send + 'static>, most: u64) -> JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut kept = Vec::new();
        if let Some(mut pipe) = pipe {
            // What cannot be read is as good as not said; whoever writes more than is kept is stopped by the pipe.
            let _ = pipe.by_ref().take(most + 1).read_to_end(&mut kept);
        }
        kept
    })
}

/// Waits until a process is over, and ends it where it takes longer; whether it ended by itself.
fn wait(child: &mut Child, time: Duration) -> std::io::Result<bool> {
    let begun = Instant::now();
    while begun.elapsed() < time {
        if child.try_wait()?.is_some() {
            return Ok(true);
        }
        std::thread::sleep(LOOKING);
    }
    child.kill()?;
    child.wait()?;
    Ok(false)
}

fn read(text: &[u8]) -> Option<Answer> {
    let answer: Value = serde_json::from_slice(text).ok()?;
    let columns = answer["columns"].as_array()?.iter();
    let columns: Vec<String> = columns
        .map(|name| name.as_str().map(str::to_owned))
        .collect::<Option<_>>()?;
    let row = |row: &Value| {
        columns
            .iter()
            .map(|name| row[name.as_str()].clone())
            .collect()
    };
    Some(Answer {
        rows: answer["rows"].as_array()?.iter().map(row).collect(),
        note: answer["note"].as_str().map(str::to_owned),
        columns,
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::PathBuf;

    use super::*;

    fn program(folder: &Path, script: &str) -> PathBuf {
        let path = folder.join("program");
        std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o700)).unwrap();
        path
    }

    #[test]
    fn an_answer_is_read_and_nothing_of_the_question_is_a_word_of_the_command() {
        let folder = tempfile::tempdir().unwrap();
        let script = r#"[ "$1 $2 $3 $4 $5 $6" = "query --json --answer bounds -- a release" ] || exit 3
[ "$7" = "--parquet /tmp/x" ] || exit 4
[ -z "$CARGO" ] || exit 5
echo '{"columns": ["sex", "count_low"], "rows": [{"sex": "<b>", "count_low": 3}], "note": "a model"}'"#;
        let program = program(folder.path(), script);
        let question = ("--parquet /tmp/x", Mode::Bounds);
        let answer = ask(&program, Path::new("a release"), question, TIME).unwrap();
        assert_eq!(answer.columns, ["sex", "count_low"]);
        assert_eq!(answer.rows, [[Value::from("<b>"), Value::from(3)]]);
        assert_eq!(answer.note.as_deref(), Some("a model"));
    }

    #[test]
    fn what_takes_too_long_or_says_too_much_is_stopped() {
        let folder = tempfile::tempdir().unwrap();
        let question = ("SELECT 1", Mode::Estimate);
        let slow = program(folder.path(), "exec sleep 60");
        let begun = Instant::now();
        let error = ask(&slow, Path::new("r"), question, Duration::from_millis(300)).unwrap_err();
        assert!(error.contains("no answer within") && begun.elapsed() < Duration::from_secs(20));
        let long = program(folder.path(), "exec yes 2>/dev/null");
        let error = ask(&long, Path::new("r"), question, TIME).unwrap_err();
        assert!(error.contains("longer than 4 MiB"), "{error}");
        let wrong = program(
            folder.path(),
            "echo 'error: no column agge\nhint: did you mean age?' >&2; exit 2",
        );
        let error = ask(&wrong, Path::new("r"), question, TIME).unwrap_err();
        assert_eq!(error, "no column agge\nhint: did you mean age?");
        let none = ask(&folder.path().join("none"), Path::new("r"), question, TIME);
        assert!(none.unwrap_err().contains("none: "));
    }
}
