//! The log of a server: who asked what, when, and how many rows were answered.
//!
//! A file of lines of JSON in the site's data folder, which only its owner may read and to which lines are only
//! added. A statement is there before it runs, and one that cannot be written down is not answered. The log holds
//! statements and sizes of answers, never an answer, and never a password: none is ever sent.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use datafusion::common::ScalarValue;
use serde_json::{Value, json};

/// The name of the log in a data folder.
const LOG: &str = "sql.log";
/// The longest text of a line, in bytes.
const LONGEST: usize = 1 << 16;

/// The log of a server.
#[derive(Debug)]
pub struct Log {
    file: Mutex<File>,
    path: PathBuf,
}

impl Log {
    /// Opens the log in a data folder, and makes both where there is none.
    pub fn open(data: &Path) -> io::Result<Self> {
        let mut folder = std::fs::DirBuilder::new();
        folder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut folder, 0o700);
        folder.create(data)?;
        let mut options = File::options();
        options.append(true).create(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let path = data.join(LOG);
        let file = options.open(&path)?;
        // A file that was there may have been made by somebody else.
        #[cfg(unix)]
        file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
        let file = Mutex::new(file);
        Ok(Self { file, path })
    }

    /// Where the log is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A statement is about to run.
    pub(super) fn asked(
        &self,
        user: &str,
        connection: u32,
        sql: &str,
        values: &[ScalarValue],
    ) -> io::Result<()> {
        let values: Vec<String> = values.iter().map(|value| cut(&value.to_string())).collect();
        let mut line = json!({ "event": "asked", "statement": cut(sql) });
        if !values.is_empty() {
            line["values"] = json!(values);
        }
        self.add(user, connection, line)
    }

    /// A statement was answered, or not: with rows, or with the code of the refusal.
    pub(super) fn ended(
        &self,
        user: &str,
        connection: u32,
        ended: Result<usize, &str>,
    ) -> io::Result<()> {
        let line = match ended {
            Ok(rows) => json!({ "event": "answered", "rows": rows }),
            Err(code) => json!({ "event": "refused", "code": code }),
        };
        self.add(user, connection, line)
    }

    /// A client has connected, from this address.
    pub(super) fn connected(&self, user: &str, connection: u32, address: &str) -> io::Result<()> {
        let line = json!({ "event": "connected", "address": address });
        self.add(user, connection, line)
    }

    fn add(&self, user: &str, connection: u32, more: Value) -> io::Result<()> {
        let time = jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ");
        let mut line = json!({ "time": time.to_string(), "user": user, "connection": connection });
        if let (Value::Object(line), Value::Object(more)) = (&mut line, more) {
            line.extend(more);
        }
        // A line is written whole or not at all, in one call.
        let text = format!("{line}\n");
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.write_all(text.as_bytes())
    }
}

/// The beginning of a text that is too long.
fn cut(text: &str) -> String {
    match text.len() > LONGEST {
        true => format!("{}…", &text[..text.floor_char_boundary(LONGEST)]),
        false => text.to_owned(),
    }
}
