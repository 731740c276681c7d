//! `hedgerow-sql count`: what `hedgerow` and its nodes start to have records counted. Counts go to standard output as
//! a stream of Arrow IPC. Standard error has one JSON object a line: how far the count is, and at last that it is
//! done or why it is not:
//!
//! ```json
//! {"read": 1048576, "of": 100000000}
//! {"combinations": 2400000, "records": 100000000}
//! {"error": "df://127.0.0.1:50050: the scheduler does not answer: …\nhint: …"}
//! ```
//!
//! A stream without that second line is no answer, whatever it holds. With `--look` nothing is counted: the program
//! ends well if the table has the columns, and says why not otherwise.

use std::io::{BufWriter, Read as _};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use hedgerow_sql::count::{Counted, Engine, Limit, Request, Watch, count, look};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::say;

/// What stands before every name of a spill folder.
const SPILL: &str = "hedgerow-spill-";
/// How often it is tried to remove such a folder.
const TRIES: u32 = 100;

#[derive(Debug, Args)]
pub(crate) struct Count {
    /// What counts: `local`, or a Ballista cluster by its scheduler, df://host:port
    #[arg(long, default_value = "local")]
    engine: String,
    /// Bytes of memory that a local count may take
    #[arg(long, value_name = "BYTES", default_value_t = 2_000_000_000)]
    memory: u64,
    /// Where a local count makes a folder of its own for what does not fit into memory
    #[arg(long, value_name = "DIR")]
    spill: Option<PathBuf>,
    /// Also ask a scheduler that is neither on this machine nor in a private network
    #[arg(long)]
    anywhere: bool,
    /// End when standard input does: whoever asked is gone
    #[arg(long)]
    attended: bool,
    /// Only see that the table is there and has the columns
    #[arg(long)]
    look: bool,
    /// A column, in the order of the answer; may be given several times
    #[arg(long = "column", value_name = "NAME", required = true)]
    columns: Vec<String>,
    /// Parquet or CSV files, and folders of them, that together are one table; or addresses of such in one bucket
    /// of S3 (s3://), Google Cloud Storage (gs://) or Azure (az://), whose credentials the environment has
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
}

impl Count {
    /// Counts, or looks; whether that was done.
    pub(crate) async fn run(self) -> bool {
        if self.look {
            let looked = look(&self.columns, &self.paths).await;
            if let Err(error) = &looked {
                tell(&json!({ "error": error.to_string() }));
            }
            return looked.is_ok();
        }
        let done = match self.spill_folder() {
            Ok(spill) => {
                let attended = self.attended;
                // On a thread of its own, since whoever reads the counts may let them wait.
                let mut work = tokio::spawn(self.counted(spill.path().to_owned()));
                let done = tokio::select! {
                    done = &mut work => done.unwrap_or_else(|error| Err(error.to_string())),
                    why = given_up(attended) => Err(why),
                };
                work.abort();
                remove(spill);
                done
            }
            Err(error) => Err(error),
        };
        match done {
            Ok(counted) => {
                tell(&json!({
                    "combinations": counted.combinations,
                    "records": counted.records,
                }));
                true
            }
            Err(error) => {
                tell(&json!({ "error": error }));
                false
            }
        }
    }

    /// A folder for what does not fit into memory, which nobody else may read.
    fn spill_folder(&self) -> Result<TempDir, String> {
        let place = self.spill.clone().unwrap_or_else(std::env::temp_dir);
        let mut builder = tempfile::Builder::new();
        builder.prefix(SPILL);
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
        let folder = builder.tempdir_in(&place);
        folder.map_err(|error| {
            format!(
                "{}: no folder can be made there for what does not fit into memory: {error}\nhint: name another",
                place.display()
            )
        })
    }

    async fn counted(self, spill: PathBuf) -> Result<Counted, String> {
        let engine = match self.engine.as_str() {
            "local" => Engine::Local(Limit {
                memory: self.memory,
                spill,
            }),
            _ => Engine::Scheduler {
                address: self.engine,
                anywhere: self.anywhere,
            },
        };
        let request = Request {
            engine,
            columns: self.columns,
            paths: self.paths,
        };
        let output = BufWriter::with_capacity(1 << 20, std::io::stdout());
        let counted = count(&request, output, Arc::new(Told)).await;
        counted.map_err(|error| error.to_string())
    }
}

/// Removes a folder with all that is in it, though the engine may still be writing there.
fn remove(folder: TempDir) {
    let path = folder.keep();
    for _ in 0..TRIES {
        match std::fs::remove_dir_all(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                std::thread::sleep(Duration::from_millis(20));
            }
            _ => return,
        }
    }
}

/// Waits until nobody wants the counts any more.
async fn given_up(attended: bool) -> String {
    let ended = async {
        match attended {
            // The thread is left behind: it waits for nothing but the end.
            true => tokio::task::spawn_blocking(|| {
                let mut rest = [0; 64];
                while matches!(std::io::stdin().read(&mut rest), Ok(1..)) {}
            })
            .await
            .unwrap_or_default(),
            false => std::future::pending().await,
        }
    };
    tokio::select! {
        () = ended => String::from("nobody waits for the counts any more"),
        () = stopped() => String::from("stopped"),
    }
}

/// Waits until somebody stops the program.
async fn stopped() {
    #[cfg(unix)]
    if let Ok(mut terminated) =
        tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())
    {
        tokio::select! {
            _ = terminated.recv() => {}
            _ = tokio::signal::ctrl_c() => {}
        }
        return;
    }
    // A signal that cannot be heard ends the program by itself.
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// Says how far the count is.
struct Told;

impl Watch for Told {
    fn read(&self, records: u64, of: Option<u64>) {
        tell(&json!({ "read": records, "of": of }));
    }
}

fn tell(value: &Value) {
    say(&value.to_string());
}
