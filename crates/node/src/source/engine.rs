//! Rows that an engine counts where they lie: `hedgerow-sql count`, a program of its own, streams each combination of
//! values that occurs with its number of records, and the records themselves stay where they are.
//!
//! The program's standard output is a stream of Arrow IPC, its standard error says in lines of JSON how far it is and
//! how it ended. A stream that ends early looks like one that ends, so nothing is used unless the program says that
//! it is done, what it says it sent is what came, and it ends well. It hears on its standard input that nobody waits
//! any more, and takes what it left on disk with it.
//!
//! ```toml
//! [source.engine]
//! path = "patients"               # a Parquet or CSV file, or a folder of them; or their address, s3://bucket/patients
//! scheduler = "df://10.0.0.7:50050" # the site's own Ballista cluster; without it this machine counts
//! anywhere = false                # the default: a scheduler outside of private networks is refused
//! memory = "2GB"                  # of this machine
//! spill = "/var/tmp"              # where this machine writes what does not fit
//! ```

mod heard;

use std::io::{BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use arrow_array::RecordBatch;
use arrow_ipc::reader::StreamReader;
use hedgerow_data::document::{DocumentError, Section};
use hedgerow_data::files::{
    FileError, Parts, Progress, is_address, length_of, read_counted_batches,
};
use hedgerow_data::{Role, Schema, Table};
use tempfile::TempDir;

use crate::program::{SQL_HINT, find_sql};
use heard::{Done, Heard};

/// The memory of a count on this machine, unless something else is said.
const MEMORY: u64 = 2_000_000_000;
/// What stands before every name of a folder for what does not fit into memory.
const SPILL: &str = "hedgerow-spill-";
/// How long the program may take to end when it is told to, before it is killed.
const FAREWELL: Duration = Duration::from_secs(5);
/// How long a program whose output has ended may take to end by itself.
const GRACE: Duration = Duration::from_secs(2);
/// The first bytes of every message of a stream of Arrow IPC; the length of its head follows.
const CONTINUATION: [u8; 4] = [0xff; 4];
/// The largest head of the first message, which names the columns.
const LARGEST_HEAD: u32 = 1 << 24;
/// How often an asynchronous caller hears how far a count is.
const TICK: Duration = Duration::from_millis(250);

/// What counts records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Engine {
    /// This machine.
    Local {
        /// Bytes of memory that a count may take.
        memory: u64,
        /// Where a folder is made for what does not fit into memory; the system's own place if nowhere is named.
        spill: Option<PathBuf>,
    },
    /// A Ballista cluster.
    Scheduler {
        /// Where its scheduler is: `df://host:port`.
        address: String,
        /// Whether the scheduler may be outside of this machine and of private networks.
        anywhere: bool,
    },
}

/// Files, and what counts their records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counted {
    /// What counts.
    pub engine: Engine,
    /// Files and folders of files that together are one table.
    pub paths: Vec<PathBuf>,
}

/// Why nothing was counted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// The program is not there.
    #[error(
        "records are counted by hedgerow-sql, which is neither beside this program nor on PATH\nhint: {SQL_HINT}"
    )]
    NoProgram,
    /// The program cannot be run.
    #[error("{}: cannot be run: {error}", program.display())]
    NotRun {
        /// The program.
        program: PathBuf,
        /// What the operating system said.
        error: std::io::Error,
    },
    /// The program says why it did not count.
    #[error("{0}")]
    Said(String),
    /// The program ended without a word.
    #[error(
        "{name}: the program that counts ended early ({status}); nothing was used{said}\nhint: count again; where the system killed it for memory, give it less"
    )]
    Died {
        /// The table.
        name: String,
        /// How it ended.
        status: ExitStatus,
        /// What else it said.
        said: String,
    },
    /// What came is not what was sent.
    #[error("{name}: the counts did not come whole: {reason}; nothing was used\nhint: count again")]
    Broken {
        /// The table.
        name: String,
        /// What is wrong.
        reason: String,
    },
    /// Records are asked for, not their counts.
    #[error(
        "an engine counts records, and tells none of them apart\nhint: give --study; where a column says whose each record is, leave the engine out"
    )]
    NoRecords,
    /// A file cannot be read, or a value lies outside of its domain.
    #[error(transparent)]
    Value(#[from] FileError),
}

impl Engine {
    /// A count on this machine as it is if nothing else is said.
    pub const fn local() -> Self {
        Self::Local {
            memory: MEMORY,
            spill: None,
        }
    }
}

/// The bytes that a text such as `2GB` or `500MB` means.
pub fn bytes(text: &str) -> Option<u64> {
    let (number, unit) = [
        ("TB", 1_000_000_000_000),
        ("GB", 1_000_000_000),
        ("MB", 1_000_000),
    ]
    .into_iter()
    .find_map(|(name, unit)| Some((text.strip_suffix(name)?, unit)))?;
    let number = number.trim_end();
    if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    number
        .parse::<u64>()
        .ok()?
        .checked_mul(unit)
        .filter(|bytes| *bytes > 0)
}

impl Counted {
    /// Reads `[source.engine]`; file names are relative to `folder`.
    pub(super) fn read(section: &Section<'_>, folder: &Path) -> Result<Self, DocumentError> {
        let path = PathBuf::from(section.required_string("path")?);
        let path = match is_address(&path) {
            true => path,
            false => folder.join(path),
        };
        let memory = section.string("memory")?;
        let memory = memory.map(|text| {
            bytes(&text).ok_or_else(|| {
                section.wrong(
                    "memory",
                    format!("`source.engine.memory` is `{text}`, expected a size such as \"2GB\""),
                )
            })
        });
        let memory = memory.transpose()?;
        let spill = section.string("spill")?.map(|spill| folder.join(spill));
        let anywhere = section.boolean("anywhere")?;
        let engine = match section.string("scheduler")? {
            Some(address) => {
                for (key, is_there) in [("memory", memory.is_some()), ("spill", spill.is_some())] {
                    if is_there {
                        return Err(section.wrong(
                            key,
                            format!("`source.engine.{key}` is of this machine, and the executors of a cluster have limits of their own\nhint: leave it out, or leave `scheduler` out"),
                        ));
                    }
                }
                if !address.starts_with("df://") {
                    return Err(section.wrong(
                        "scheduler",
                        format!(
                            "`source.engine.scheduler` is `{address}`, expected df://host:port"
                        ),
                    ));
                }
                Engine::Scheduler {
                    address,
                    anywhere: anywhere.unwrap_or(false),
                }
            }
            None if anywhere.is_some() => {
                return Err(section.wrong(
                    "anywhere",
                    "`source.engine.anywhere` is said of a scheduler, and none is named\nhint: leave it out, or name the scheduler",
                ));
            }
            None => Engine::Local {
                memory: memory.unwrap_or(MEMORY),
                spill,
            },
        };
        section.finish()?;
        Ok(Self {
            engine,
            paths: vec![path],
        })
    }

    /// The table's name in errors.
    pub fn name(&self) -> String {
        let paths = self.paths.iter().map(|path| path.display().to_string());
        paths.collect::<Vec<_>>().join(", ")
    }

    /// Sees that the program is there, and that the files have the study's columns. No value is looked at.
    pub fn check(&self, schema: &Schema) -> Result<(), EngineError> {
        let program = find_sql().ok_or(EngineError::NoProgram)?;
        let columns = columns(schema);
        if self.paths.iter().any(|path| is_address(path)) {
            return self.looked(&program, &columns);
        }
        let parts = Parts::of(&self.paths, &columns)?;
        for column in &columns {
            parts.see_column(column)?;
        }
        Ok(())
    }

    /// Has the program see that objects of a store have these columns.
    fn looked(&self, program: &Path, columns: &[String]) -> Result<(), EngineError> {
        let output = self.command(program, columns, Task::Look).output();
        let output = output.map_err(|error| EngineError::NotRun {
            program: program.to_owned(),
            error,
        })?;
        let said = heard::listen(output.stderr.as_slice(), 0, &());
        match said.error {
            Some(error) => Err(EngineError::Said(error)),
            None if output.status.success() => Ok(()),
            None => Err(self.died(output.status, &said.rest)),
        }
    }

    /// Has the records counted. Identifiers are not asked for, nor any column that the study does not know.
    pub fn table(
        &self,
        schema: &Arc<Schema>,
        progress: &dyn Progress,
    ) -> Result<Table, EngineError> {
        let program = find_sql().ok_or(EngineError::NoProgram)?;
        let running = Running::default();
        let _ends = Ends(&running);
        self.counted(&program, schema, progress, &running)
    }

    /// As [`Counted::table`], for callers that may stop waiting: the program ends when they do.
    pub async fn table_meanwhile(
        &self,
        schema: &Arc<Schema>,
        progress: &dyn Progress,
    ) -> Result<Table, EngineError> {
        let program = find_sql().ok_or(EngineError::NoProgram)?;
        let running = Arc::new(Running::default());
        let _ends = Ends(&running);
        let read = Arc::new(Read::default());
        let mut work = {
            let (this, schema) = (self.clone(), Arc::clone(schema));
            let (running, read) = (Arc::clone(&running), Arc::clone(&read));
            tokio::task::spawn_blocking(move || this.counted(&program, &schema, &*read, &running))
        };
        loop {
            let waited = tokio::time::timeout(TICK, &mut work).await;
            progress.advance(read.0.swap(0, Ordering::Relaxed));
            match waited {
                Ok(Ok(table)) => return table,
                Ok(Err(error)) => {
                    return Err(EngineError::Broken {
                        name: self.name(),
                        reason: error.to_string(),
                    });
                }
                Err(_) => {}
            }
        }
    }

    fn counted(
        &self,
        program: &Path,
        schema: &Arc<Schema>,
        progress: &dyn Progress,
        running: &Running,
    ) -> Result<Table, EngineError> {
        let not_run = |error| EngineError::NotRun {
            program: program.to_owned(),
            error,
        };
        let columns = columns(schema);
        // Removed here too, since a program that is killed removes nothing.
        let spill = self.spill_folder();
        let task = Task::Count(spill.as_ref().map(TempDir::path));
        let mut child = self
            .command(program, &columns, task)
            .spawn()
            .map_err(not_run)?;
        let (output, errors) = (child.stdout.take(), child.stderr.take());
        running.began(child);
        let (Some(output), Some(errors)) = (output, errors) else {
            return Err(not_run(std::io::ErrorKind::BrokenPipe.into()));
        };
        let bytes: u64 = self.paths.iter().map(|path| length_of(path)).sum();
        let (came, said, is_told) = std::thread::scope(|scope| {
            let listening = scope.spawn(move || heard::listen(errors, bytes, progress));
            let came = self.take(BufReader::with_capacity(1 << 20, output), schema);
            let is_told = match &came {
                Ok(_) => false,
                // A program that fails ends by itself, and says why.
                Err(Came::Garbage(_)) => running.farewell(GRACE),
                Err(Came::Wrong(_)) => running.farewell(Duration::ZERO),
            };
            // A thread that panicked has heard nothing.
            (came, listening.join().unwrap_or_default(), is_told)
        });
        let status = running.ended().map_err(not_run)?;
        self.judged(came, said, status, is_told)
    }

    /// What came, if the program says that it is whole. How it ended says nothing where it was told to end.
    fn judged(
        &self,
        came: Result<(Table, u64), Came>,
        said: Heard,
        status: ExitStatus,
        is_told: bool,
    ) -> Result<Table, EngineError> {
        let broken = |reason: String| EngineError::Broken {
            name: self.name(),
            reason,
        };
        match (came, said.done) {
            // A value that is wrong is told, whatever became of the program that sent it.
            (Err(Came::Wrong(error)), _) => Err(error.into()),
            (Err(Came::Garbage(reason)), _) if is_told || status.success() => Err(broken(reason)),
            _ if said.error.is_some() => Err(EngineError::Said(said.error.unwrap_or_default())),
            (Ok((table, combinations)), Some(done)) if status.success() => {
                let came = Done {
                    combinations,
                    records: table.records(),
                };
                match came == done {
                    true => Ok(table),
                    false => Err(broken(format!(
                        "{} records in {} combinations were sent, {} in {} came",
                        done.records, done.combinations, came.records, came.combinations
                    ))),
                }
            }
            _ => Err(self.died(status, &said.rest)),
        }
    }

    fn died(&self, status: ExitStatus, rest: &str) -> EngineError {
        EngineError::Died {
            name: self.name(),
            status,
            said: match rest.is_empty() {
                true => String::new(),
                false => format!("; it said:\n{rest}"),
            },
        }
    }

    /// A folder for what does not fit into memory, which nobody else may read. Where none can be made, the program says
    /// why when it tries.
    fn spill_folder(&self) -> Option<TempDir> {
        let Engine::Local { spill, .. } = &self.engine else {
            return None;
        };
        let place = spill.clone().unwrap_or_else(std::env::temp_dir);
        let mut builder = tempfile::Builder::new();
        builder.prefix(SPILL);
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
        builder.tempdir_in(place).ok()
    }

    /// The program with its task.
    fn command(&self, program: &Path, columns: &[String], task: Task<'_>) -> Command {
        let mut command = Command::new(program);
        command.arg("count");
        command.arg(match task {
            Task::Look => "--look",
            Task::Count(_) => "--attended",
        });
        match &self.engine {
            Engine::Local { memory, spill } => {
                command.arg("--engine=local");
                command.arg(format!("--memory={memory}"));
                let made = match task {
                    Task::Look => None,
                    Task::Count(made) => made,
                };
                if let Some(spill) = made.or(spill.as_deref()) {
                    command.arg("--spill").arg(spill);
                }
            }
            Engine::Scheduler { address, anywhere } => {
                command.arg(format!("--engine={address}"));
                command.args(anywhere.then_some("--anywhere"));
            }
        }
        let named = columns.iter().map(|column| format!("--column={column}"));
        command.args(named).arg("--").args(&self.paths);
        command
            .stdin(match task {
                Task::Look => Stdio::null(),
                Task::Count(_) => Stdio::piped(),
            })
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Codes the counts as they come: the table, and the rows that came.
    fn take(
        &self,
        mut output: impl std::io::Read,
        schema: &Arc<Schema>,
    ) -> Result<(Table, u64), Came> {
        let garbage = |error: &dyn std::fmt::Display| Came::Garbage(error.to_string());
        // What takes another beginning for a length would wait for bytes that never come.
        let mut head = [0; 8];
        output
            .read_exact(&mut head)
            .map_err(|error| garbage(&error))?;
        let [a, b, c, d, length @ ..] = head;
        if [a, b, c, d] != CONTINUATION || u32::from_le_bytes(length) > LARGEST_HEAD {
            return Err(garbage(&"it does not begin as a stream of Arrow does"));
        }
        let whole = std::io::Cursor::new(head).chain(output);
        let stream = StreamReader::try_new(whole, None).map_err(|error| garbage(&error))?;
        let (mut garbage, mut combinations) = (None, 0);
        let batches = stream.map_while(|batch| match batch {
            Ok(batch) => {
                combinations += batch.num_rows() as u64;
                Some(Ok::<RecordBatch, std::convert::Infallible>(batch))
            }
            Err(error) => {
                garbage = Some(error.to_string());
                None
            }
        });
        let table = read_counted_batches(&self.name(), batches, schema, &());
        match garbage {
            Some(reason) => Err(Came::Garbage(reason)),
            None => table
                .map(|table| (table, combinations))
                .map_err(Came::Wrong),
        }
    }
}

/// The columns that are counted: the study's, without what names one person.
fn columns(schema: &Schema) -> Vec<String> {
    let attributes = schema.attributes().iter();
    let counted = attributes.filter(|attribute| attribute.role != Role::Identifier);
    counted.map(|attribute| attribute.name.clone()).collect()
}

/// What the program is to do.
#[derive(Clone, Copy)]
enum Task<'a> {
    /// See that the columns are there.
    Look,
    /// Count, with what does not fit into memory in a folder.
    Count(Option<&'a Path>),
}

/// Why what came is no table.
enum Came {
    /// A value that the study does not know.
    Wrong(FileError),
    /// Not what the program sends.
    Garbage(String),
}

/// Bytes read since an asynchronous caller heard of them.
#[derive(Default)]
struct Read(AtomicU64);

impl Progress for Read {
    fn advance(&self, amount: u64) {
        self.0.fetch_add(amount, Ordering::Relaxed);
    }
}

/// The program while it runs.
#[derive(Default)]
struct Running(Mutex<State>);

#[derive(Default)]
struct State {
    child: Option<Child>,
    /// Nobody waits, so a program that begins only now ends at once.
    is_unwanted: bool,
}

/// Ends the program when nobody waits for it.
struct Ends<'a>(&'a Running);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.farewell(Duration::ZERO);
    }
}

impl Running {
    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn began(&self, child: Child) {
        let mut state = self.state();
        state.child = Some(child);
        let is_unwanted = state.is_unwanted;
        drop(state);
        if is_unwanted {
            self.farewell(Duration::ZERO);
        }
    }

    /// Tells the program to end if it does not end by itself before, and kills it if it does not listen: it has
    /// what it left on disk to remove. Whether it had to be told.
    fn farewell(&self, grace: Duration) -> bool {
        let mut state = self.state();
        state.is_unwanted = true;
        let Some(child) = &mut state.child else {
            return false;
        };
        if has_ended(child, grace) {
            return false;
        }
        drop(child.stdin.take());
        if !has_ended(child, FAREWELL) {
            // One that cannot be killed has ended.
            let _ = child.kill();
            let _ = child.wait();
        }
        true
    }

    /// Waits until the program has ended.
    fn ended(&self) -> std::io::Result<ExitStatus> {
        loop {
            let ended = match &mut self.state().child {
                Some(child) => child.try_wait()?,
                None => return Err(std::io::ErrorKind::NotFound.into()),
            };
            match ended {
                Some(status) => return Ok(status),
                // Its output has ended already.
                None => std::thread::sleep(Duration::from_millis(5)),
            }
        }
    }
}

/// Whether a program ends within a time.
fn has_ended(child: &mut Child, within: Duration) -> bool {
    let until = Instant::now() + within;
    loop {
        if !matches!(child.try_wait(), Ok(None)) {
            return true;
        }
        if Instant::now() >= until {
            return false;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[cfg(all(test, unix))]
mod tests;
