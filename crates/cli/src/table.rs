//! A table as the command line names it: a file, a folder of files, or `-` for standard input; and files whose
//! records an engine counts where they lie.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use hedgerow::Table;
use hedgerow::node::source::{Counted, Engine, bytes};

use crate::error::{CliError, Usage};

/// The table of a command, and who reads it.
#[derive(clap::Args)]
pub(crate) struct TableArguments {
    /// The table: CSV, Parquet or Excel, or a folder of CSV or of Parquet files; `-` is CSV from standard input.
    /// An engine takes several, and addresses of objects (s3://, gs://, az://).
    #[arg(required = true, value_name = "TABLE")]
    tables: Vec<PathBuf>,
    /// The table has counted rows: its column `records` says how many records each row stands for. A study that says
    /// `rows = "counted"` knows such a column without being told.
    #[arg(long, conflicts_with_all = ["provider_column", "engine"], requires = "study")]
    counted: bool,
    /// Have the records counted where they lie, for tables that are larger than this machine's memory: `local` is
    /// this machine, df://host:port the scheduler of your own Ballista cluster.
    #[arg(long, value_name = "ENGINE", value_parser = engine, conflicts_with = "provider_column")]
    engine: Option<Place>,
    /// Memory of a local engine, such as 500MB; 2GB if nothing is said.
    #[arg(long, value_name = "SIZE", value_parser = size, requires = "engine")]
    memory: Option<u64>,
    /// Where a local engine makes a folder for what does not fit into its memory.
    #[arg(long, value_name = "DIR", requires = "engine")]
    spill: Option<PathBuf>,
    /// Also ask a scheduler that is neither on this machine nor in a private network, where whoever reaches it
    /// reads what it reads.
    #[arg(long, requires = "engine")]
    engine_anywhere: bool,
}

/// Where records are counted.
#[derive(Clone)]
enum Place {
    Local,
    Scheduler(String),
}

/// The table of a path. Standard input is CSV; it is read whole, since lines are found by reading again.
pub(crate) fn table(path: &Path) -> Result<Table, CliError> {
    if path != Path::new("-") {
        return Ok(Table::file(path));
    }
    let mut bytes = Vec::new();
    let read = std::io::stdin().lock().read_to_end(&mut bytes);
    read.map_err(CliError::NoInput)?;
    Ok(Table::csv("standard input", bytes))
}

impl TableArguments {
    /// The table, as it is or as an engine counts it.
    pub(crate) fn table(&self) -> Result<Table, CliError> {
        let is_local = matches!(self.engine, Some(Place::Local));
        if (self.memory.is_some() || self.spill.is_some()) && !is_local {
            return Err(Usage::LimitOfCluster.into());
        }
        if self.engine_anywhere && is_local {
            return Err(Usage::AnywhereIsLocal.into());
        }
        let engine = match (&self.engine, &self.tables[..]) {
            (Some(Place::Scheduler(address)), _) => Engine::Scheduler {
                address: address.clone(),
                anywhere: self.engine_anywhere,
            },
            (Some(Place::Local), _) => match (Engine::local(), self.memory) {
                (Engine::Local { memory, .. }, said) => Engine::Local {
                    memory: said.unwrap_or(memory),
                    spill: self.spill.clone(),
                },
                (engine, _) => engine,
            },
            (None, [one]) => {
                let table = table(one)?;
                return Ok(match self.counted {
                    true => table.counted(),
                    false => table,
                });
            }
            (None, _) => return Err(Usage::SeveralTables.into()),
        };
        if self.tables.iter().any(|table| table == Path::new("-")) {
            return Err(Usage::EngineOfInput.into());
        }
        Ok(Table::by_engine(Counted {
            engine,
            paths: self.tables.clone(),
        }))
    }
}

fn engine(text: &str) -> Result<Place, String> {
    match text {
        "local" => Ok(Place::Local),
        _ if text.starts_with("df://") => Ok(Place::Scheduler(text.to_owned())),
        _ => Err(String::from("expected local, or df://host:port")),
    }
}

fn size(text: &str) -> Result<u64, String> {
    bytes(text).ok_or_else(|| String::from("expected a size such as 500MB or 2GB"))
}
