//! The thread that has a journal's connection. Others hand it work over a channel, and it does one thing
//! after the other, in the order in which they were asked for: earlier work is in the journal before any
//! later work.
//!
//! When the journal is dropped, the thread does what was asked for, closes the file and lets the lock
//! go; only then the journal is gone. Work that panics ends with an error for whoever asked, and the
//! thread goes on: SQLite rolls back what was half done.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::mpsc;
use std::thread::JoinHandle;

use rusqlite::Connection;
use tokio::sync::oneshot;

use super::{JournalError, Tables};
use crate::aside;

/// Work to be done with the tables; the job gets `None` where the thread is gone.
type Job = Box<dyn FnOnce(Option<&mut Tables>) + Send>;

/// The journal's thread and the channel to it.
pub(super) struct Writer {
    file: PathBuf,
    /// `None` only while the writer is dropped.
    jobs: Option<mpsc::Sender<Job>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    /// Starts the thread, which holds the lock for as long as it has the tables.
    pub(super) fn start(tables: Tables, lock: Connection) -> std::io::Result<Self> {
        let file = tables.file.clone();
        let (jobs, asked) = mpsc::channel::<Job>();
        let thread = std::thread::Builder::new()
            .name(String::from("journal"))
            .spawn(move || {
                let _lock = lock;
                // Closed before the lock is let go: what is declared last goes first.
                let mut tables = tables;
                for job in asked {
                    // A job may also panic while it hands over its answer; the next job must not suffer
                    // from that.
                    let _ = catch_unwind(AssertUnwindSafe(|| job(Some(&mut tables))));
                }
            })?;
        Ok(Self {
            file,
            jobs: Some(jobs),
            thread: Some(thread),
        })
    }

    /// Asks for work; `then` gets the result, on the thread.
    pub(super) fn post<T>(
        &self,
        work: impl FnOnce(&mut Tables) -> Result<T, JournalError> + Send + 'static,
        then: impl FnOnce(Result<T, JournalError>) + Send + 'static,
    ) {
        let file = self.file.clone();
        let job: Job = Box::new(move |tables| {
            then(match tables {
                Some(tables) => catch_unwind(AssertUnwindSafe(|| work(tables)))
                    .unwrap_or_else(|_| Err(failed(file, "hedgerow panicked while it did this"))),
                None => Err(failed(file, GONE)),
            });
        });
        let refused = match &self.jobs {
            Some(jobs) => jobs.send(job).err().map(|refused| refused.0),
            None => Some(job),
        };
        if let Some(job) = refused {
            job(None);
        }
    }

    /// Asks for work, and blocks this thread until it is done.
    pub(super) fn call<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Tables) -> Result<T, JournalError> + Send + 'static,
    ) -> Result<T, JournalError> {
        let (answer, answered) = mpsc::sync_channel(1);
        self.post(work, move |done| {
            let _ = answer.send(done);
        });
        let done = aside(|| answered.recv());
        done.unwrap_or_else(|_| Err(self.gone()))
    }

    /// Asks for work, and waits until it is done.
    pub(super) async fn ask<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Tables) -> Result<T, JournalError> + Send + 'static,
    ) -> Result<T, JournalError> {
        let (answer, answered) = oneshot::channel();
        self.post(work, move |done| {
            // Whoever asked may have gone.
            let _ = answer.send(done);
        });
        let done = answered.await;
        done.unwrap_or_else(|_| Err(self.gone()))
    }

    /// The error where the thread does not answer.
    pub(super) fn gone(&self) -> JournalError {
        failed(self.file.clone(), GONE)
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // When the channel is closed, the thread ends after the work that was asked for.
        drop(self.jobs.take());
        // Nobody waits for itself: an answer may be the last that has the journal.
        let me = std::thread::current().id();
        if let Some(thread) = self.thread.take()
            && thread.thread().id() != me
        {
            let _ = thread.join();
        }
    }
}

const GONE: &str = "the thread that writes it is gone";

fn failed(file: PathBuf, reason: &str) -> JournalError {
    JournalError::Failed {
        file: file.display().to_string(),
        step: "cannot be written or read",
        reason: String::from(reason),
    }
}
