//! Why nothing was counted: in the engine's own words, with what could be done.

use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use arrow::error::ArrowError;
use datafusion::error::DataFusionError;
use hedgerow_data::files::{FileError, is_address};

use super::{Engine, Request, local, store};

/// What gRPC says when an answer does not come in its time.
const TOO_LATE: &str = "Timeout expired";

/// Why nothing was counted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CountError {
    /// A file cannot be read, or files do not go together.
    #[error(transparent)]
    File(#[from] FileError),
    /// Nothing is asked for.
    #[error("no column is counted\nhint: name each by --column")]
    NoColumns,
    /// A column that has the name of the counts.
    #[error(
        "a column is called `records`, as the column of the counts is\nhint: give it another name in the files and in the study"
    )]
    TakenName,
    /// A spreadsheet.
    #[error("{}: engines do not read Excel\nhint: save it as CSV, or leave the engine out", .0.display())]
    Excel(PathBuf),
    /// CSV that other readers take for something else.
    #[error(
        "{}: engines read CSV of several columns in UTF-8 that begins with its header; this one has one column, begins with a line such as `sep=;`, or is in UTF-16\nhint: write it as Parquet, or leave the engine out", .0.display()
    )]
    OddCsv(PathBuf),
    /// A path without an address.
    #[error("{}: cannot be named to the engine: {reason}", path.display())]
    Path {
        /// The path.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// Files of several places as one table.
    #[error(
        "{first} and {other} lie in different places\nhint: the files of one table lie in one bucket, or all in the file system"
    )]
    Places {
        /// A file or an address.
        first: String,
        /// One in another place.
        other: String,
    },
    /// An address that leads nowhere.
    #[error(
        "{address}: is no address of an object: {reason}\nhint: expected s3://bucket/path, gs://bucket/path, az://container/path or abfss://container@account.dfs.core.windows.net/path"
    )]
    NoAddress {
        /// What was given.
        address: String,
        /// What is wrong.
        reason: String,
    },
    /// A store that does not let the table be read.
    #[error(
        "{address}: the object store does not let this be read: {reason}\nhint: credentials and endpoints come from the environment of this program: AWS_…, GOOGLE_… or AZURE_…; begin again, since nothing was used"
    )]
    Store {
        /// The object or the bucket.
        address: String,
        /// What the store said.
        reason: String,
    },
    /// A store that stock executors do not read.
    #[error(
        "{address}: the executors of a stock Ballista cluster read files and s3://\nhint: count by --engine local, or copy the objects"
    )]
    NotStock {
        /// The bucket.
        address: String,
    },
    /// No address.
    #[error("`{address}` is no address of a scheduler\nhint: expected df://host:port")]
    Address {
        /// What was given.
        address: String,
    },
    /// A scheduler that others could reach.
    #[error(
        "{address}: {found} is neither this machine nor in a private network, and a cluster asks nobody who he is\nhint: reach it through a private network; or say anywhere = true in [source.engine] of site.toml, --engine-anywhere on the command line"
    )]
    Public {
        /// The scheduler.
        address: String,
        /// Where its name leads.
        found: IpAddr,
    },
    /// A scheduler that does not answer.
    #[error(
        "{address}: the scheduler does not answer: {reason}\nhint: see that ballista-scheduler runs there, and that host and port are its own"
    )]
    Away {
        /// The scheduler.
        address: String,
        /// Why.
        reason: String,
    },
    /// A cluster that goes silent.
    #[error(
        "{address}: the cluster said nothing for {seconds} s\nhint: see that its scheduler and its executors run, and are not overloaded; then begin again, since nothing was used"
    )]
    Silent {
        /// The scheduler.
        address: String,
        /// For so long.
        seconds: u64,
    },
    /// A cluster that gave up.
    #[error(
        "{address}: the cluster did not count: {reason}\nhint: see that its executors run and can read these files under the same paths; then begin again, since nothing was used"
    )]
    Cluster {
        /// The scheduler.
        address: String,
        /// What the cluster said.
        reason: String,
    },
    /// Too little memory to begin with.
    #[error(
        "{memory} bytes of memory are too few to count in\nhint: give at least {} MB", local::LEAST >> 20
    )]
    LittleMemory {
        /// What was given.
        memory: u64,
    },
    /// Memory that ran out though there was a disk.
    #[error(
        "{megabytes} MB of memory are too little to count these combinations: {reason}\nhint: give more, for example --memory 4GB"
    )]
    Memory {
        /// What was given.
        megabytes: u64,
        /// What the engine said.
        reason: String,
    },
    /// A disk that is full, or takes nothing.
    #[error(
        "{}: what does not fit into memory cannot be written there: {reason}\nhint: make room, name another folder, or give more memory; nothing was left there", folder.display()
    )]
    Spill {
        /// The folder.
        folder: PathBuf,
        /// What the operating system said.
        reason: String,
    },
    /// A count in this process that failed.
    #[error("this cannot be counted: {0}\nhint: without an engine the file and the line are named")]
    Failed(String),
    /// Counts that are not those of all records.
    #[error(
        "the engine counted {counted} records where the files hold {expected}; nothing was used\nhint: see that nobody writes to the files, and count again"
    )]
    OtherRecords {
        /// What was counted.
        counted: u64,
        /// What the files say.
        expected: u64,
    },
    /// An answer that is none.
    #[error("{0}")]
    Answer(String),
    /// Nobody takes the counts.
    #[error("the counts cannot be written: {0}")]
    Unwritable(String),
    /// What the engine says, before it is known what it means here.
    #[error(transparent)]
    Engine(#[from] DataFusionError),
}

impl CountError {
    pub(super) fn writing(error: ArrowError) -> Self {
        Self::Unwritable(error.to_string())
    }

    /// What the engine says as it is meant where it was asked.
    pub(super) fn at(self, request: &Request, cluster: Option<(&str, Duration)>) -> Self {
        let Self::Engine(error) = self else {
            return self;
        };
        let reason = words(&error);
        if let Some((address, silence)) = cluster {
            let address = address.to_owned();
            return match reason.contains(TOO_LATE) {
                true => Self::Silent {
                    address,
                    seconds: silence.as_secs(),
                },
                false => Self::Cluster { address, reason },
            };
        }
        let Engine::Local(limit) = &request.engine else {
            return Self::Failed(reason);
        };
        if let DataFusionError::ObjectStore(error) = error.find_root()
            && let Some(address) = request.paths.iter().find(|path| is_address(path))
        {
            return Self::Store {
                address: address.display().to_string(),
                reason: store::words(error),
            };
        }
        if is_of_disk(&error, &limit.spill.display().to_string()) {
            return Self::Spill {
                folder: limit.spill.clone(),
                reason,
            };
        }
        match error.find_root() {
            DataFusionError::ResourcesExhausted(_) => Self::Memory {
                megabytes: limit.memory >> 20,
                reason,
            },
            _ => Self::Failed(reason),
        }
    }
}

/// Whether an error is of a disk that takes no more: of all files, only what spills is written.
fn is_of_disk(error: &DataFusionError, spill: &str) -> bool {
    let text = error.to_string();
    text.contains(spill)
        || [
            "No space left",
            "File too large",
            "Disk quota",
            "Read-only file system",
        ]
        .iter()
        .any(|known| text.contains(known))
}

/// The first line of what the engine says, without the kinds of its errors.
fn words(error: &DataFusionError) -> String {
    let text = error.strip_backtrace();
    let text = text.lines().find(|line| !line.trim().is_empty());
    text.unwrap_or("it does not say why").trim().to_owned()
}
