//! Counts records where they lie: one plain `SELECT columns, count(*) … GROUP BY columns`, run by DataFusion in this
//! process within a limit of memory ([`Engine::Local`]), or by a Ballista cluster ([`Engine::Scheduler`]).
//!
//! What is counted is each value as it stands in the file: Parquet columns keep their types, and CSV is text, so
//! that whoever reads the counts codes the same values as whoever reads the files. Only dictionaries of text become
//! text, since the keys of several files may be more than one dictionary can number. Nothing of ours runs in the
//! engine: stock schedulers and executors answer.
//!
//! Where the files say how many records they hold, the counts are held against that, so that an executor that dies
//! midway cannot leave records uncounted.

mod cluster;
mod error;
mod local;
mod progress;
mod store;
mod table;

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use arrow::array::RecordBatch;
use arrow::array::cast::AsArray as _;
use arrow::array::types::Int64Type;
use arrow::ipc::writer::StreamWriter;
use datafusion::execution::context::SessionContext;
use datafusion::physical_plan::execute_stream;
use futures_util::StreamExt as _;
use hedgerow_data::files::{Parts, is_address};
use hedgerow_node::aside;

pub use error::CountError;
pub use local::Limit;
use store::Store;

/// The column of the counts, the last of all.
const RECORDS: &str = "records";

/// What counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Engine {
    /// This process, within a limit.
    Local(Limit),
    /// A Ballista cluster.
    Scheduler {
        /// Where its scheduler is: `df://host:port`.
        address: String,
        /// Whether the scheduler may be outside of this machine and of private networks.
        anywhere: bool,
    },
}

/// What is counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// What counts.
    pub engine: Engine,
    /// The columns, in the order of the answer.
    pub columns: Vec<String>,
    /// The files of the table, and folders of files; or the addresses of such in one bucket.
    pub paths: Vec<PathBuf>,
}

/// What was counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counted {
    /// Combinations of values that occur.
    pub combinations: u64,
    /// Records of all of them.
    pub records: u64,
}

/// Hears how many records were read so far, and of how many if the files say that.
pub trait Watch: Send + Sync {
    /// So many.
    fn read(&self, records: u64, of: Option<u64>);
}

/// Counts, and writes the combinations with their counts as a stream of Arrow IPC, in no particular order.
pub async fn count(
    request: &Request,
    output: impl Write + Send,
    watch: Arc<dyn Watch>,
) -> Result<Counted, CountError> {
    count_within(request, output, watch, cluster::SILENCE).await
}

/// Counts, by a cluster that may not be silent for longer.
async fn count_within(
    request: &Request,
    output: impl Write + Send,
    watch: Arc<dyn Watch>,
    silence: Duration,
) -> Result<Counted, CountError> {
    let lies_in_a_store = request.paths.iter().any(|path| is_address(path));
    if lies_in_a_store && matches!(request.engine, Engine::Scheduler { .. }) {
        Store::of(&request.paths)?.see_stock()?;
    }
    let (parts, store) = seen(&request.columns, &request.paths).await?;
    let (context, at) = match &request.engine {
        Engine::Local(limit) => {
            let context = local::context(limit)?;
            if let Some(store) = store {
                store.register(&context);
            }
            (context, None)
        }
        Engine::Scheduler { address, anywhere } => {
            let context = cluster::context(address, *anywhere, silence).await?;
            (context, Some((address.as_str(), silence)))
        }
    };
    let counted = answer((&context, at), request, &parts, output, watch).await;
    counted.map_err(|error| error.at(request, at))
}

/// Sees that a table is there and has the columns. Heads of files are read and no value.
pub async fn look(columns: &[String], paths: &[PathBuf]) -> Result<(), CountError> {
    seen(columns, paths).await.map(|_| ())
}

/// The files of a table, which have the columns, and the store in which they lie if that is not the file system.
async fn seen(columns: &[String], paths: &[PathBuf]) -> Result<(Parts, Option<Store>), CountError> {
    if columns.is_empty() {
        return Err(CountError::NoColumns);
    }
    if columns.iter().any(|column| column == RECORDS) {
        return Err(CountError::TakenName);
    }
    let (parts, store) = match paths.iter().any(|path| is_address(path)) {
        false => (Parts::of(paths, columns)?, None),
        true => {
            let store = Store::of(paths)?;
            (store.parts(paths, columns).await?, Some(store))
        }
    };
    for column in columns {
        parts.see_column(column)?;
    }
    Ok((parts, store))
}

async fn answer(
    (context, cluster): (&SessionContext, Option<(&str, Duration)>),
    request: &Request,
    parts: &Parts,
    output: impl Write + Send,
    watch: Arc<dyn Watch>,
) -> Result<Counted, CountError> {
    table::register(context, parts)?;
    let statement = statement(&request.columns, parts);
    let plan = context.sql(&statement).await?;
    let plan = plan.create_physical_plan().await?;
    let _progress = progress::follow(&plan, parts.records(), watch);
    let mut rows = execute_stream(Arc::clone(&plan), context.task_ctx())?;
    let schema = rows.schema();
    let mut writer = StreamWriter::try_new(output, &schema).map_err(CountError::writing)?;
    let mut counted = Counted::default();
    loop {
        let batch = match cluster {
            Some(cluster) => cluster::next(&mut rows, &plan, cluster).await?,
            None => rows.next().await.transpose()?,
        };
        let Some(batch) = batch else {
            break;
        };
        counted.combinations += batch.num_rows() as u64;
        counted.records += records(&batch)?;
        // Whoever reads may let it wait, and the engine goes on meanwhile.
        aside(|| writer.write(&batch)).map_err(CountError::writing)?;
    }
    if counted.combinations == 0 {
        // A table without records has columns all the same.
        let empty = RecordBatch::new_empty(schema);
        writer.write(&empty).map_err(CountError::writing)?;
    }
    if let Some(expected) = parts.records().filter(|all| *all != counted.records) {
        return Err(CountError::OtherRecords {
            counted: counted.records,
            expected,
        });
    }
    aside(|| writer.finish()).map_err(CountError::writing)?;
    Ok(counted)
}

/// The records that rows of the answer stand for.
fn records(batch: &RecordBatch) -> Result<u64, CountError> {
    let wrong = || CountError::Answer(String::from("the engine's counts are no counts"));
    let last = batch.columns().last().ok_or_else(wrong)?;
    let counts = last.as_primitive_opt::<Int64Type>().ok_or_else(wrong)?;
    let mut sum = 0_u64;
    for count in counts {
        let count = count.and_then(|count| u64::try_from(count).ok());
        sum = count
            .and_then(|count| sum.checked_add(count))
            .ok_or_else(wrong)?;
    }
    Ok(sum)
}

/// The one statement.
fn statement(columns: &[String], parts: &Parts) -> String {
    let values = columns.iter().map(|column| table::value(column, parts));
    let values: Vec<String> = values.collect();
    let named = values.iter().zip(columns);
    let named = named.map(|(value, column)| format!("{value} AS {}", quoted(column)));
    let named: Vec<String> = named.collect();
    format!(
        "SELECT {}, count(*) AS {} FROM {} GROUP BY {}",
        named.join(", "),
        quoted(RECORDS),
        table::NAME,
        values.join(", ")
    )
}

/// A name quoted for SQL, whatever characters it has.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
