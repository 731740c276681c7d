//! A session: one analyst's statements, one after the other, with the session's own setting of what plain
//! totals answer.

mod known;
mod meter;
mod parameters;
mod statement;
mod weights;

use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

use arrow::array::{Array, ArrayRef, RecordBatch, StringArray};
use arrow::datatypes::{DataType, Field, Schema as ArrowSchema, SchemaRef};
use arrow::error::ArrowError;
use datafusion::common::{ParamValues, ScalarValue};
use datafusion::error::DataFusionError;
use datafusion::execution::disk_manager::{DiskManagerBuilder, DiskManagerMode};
use datafusion::execution::memory_pool::GreedyMemoryPool;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::execution::{SessionState, SessionStateBuilder};
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::execute_stream;
use datafusion::prelude::{SQLOptions, SessionConfig, SessionContext};
use datafusion::sql::parser::Statement;
use futures_util::StreamExt;
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use crate::error::{SqlError, missing_column};
use crate::mode::Mode;
use crate::output::Reply;
use crate::rewrite::{aggregates, rewrite, scalars, see_size};
use crate::source::Source;
use crate::table::StudyTable;
pub(crate) use meter::{Stop, Waiting, metered};
pub use parameters::Parameter;
pub(crate) use parameters::numbered;
use statement::{Asked, read};

/// Functions whose texts are longer than what they are made of together: nothing bounds their memory.
const GROWING: [&str; 5] = ["lpad", "regexp_replace", "repeat", "replace", "rpad"];

tokio::task_local! {
    /// What a server gives a statement while it runs, and takes back when it has ended.
    pub(crate) static TURN: Arc<dyn Any + Send + Sync>;
}

/// What a statement may take.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Bytes of memory.
    pub memory: usize,
    /// Rows of an answer.
    pub rows: usize,
    /// Time.
    pub time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            memory: 512 << 20,
            rows: 1_000_000,
            time: Duration::from_secs(120),
        }
    }
}

/// One analyst's statements. Sessions share nothing but the source.
pub struct Session {
    context: SessionContext,
    table: StudyTable,
    mode: Mode,
    limits: Limits,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut session = f.debug_struct("Session");
        session.field("table", &self.table.source().name());
        session.field("mode", &self.mode).finish_non_exhaustive()
    }
}

/// A statement that can be run.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Planned {
    /// A query, or `EXPLAIN` of one.
    Query {
        /// The plan, which asks the table.
        plan: Box<LogicalPlan>,
        /// The columns of the answer.
        schema: SchemaRef,
        /// What plain totals answer.
        mode: Mode,
    },
    /// `SET hedgerow.answer`.
    Set(Mode),
    /// `SHOW hedgerow.answer`.
    Show,
}

/// What a statement is planned with.
struct Planning {
    state: SessionState,
    table: StudyTable,
    mode: Mode,
}

impl Planning {
    async fn plan(self, sql: &str, parameters: Vec<ScalarValue>) -> Result<Planned, SqlError> {
        let statement = match read(sql, &self.table)? {
            Asked::Set(mode) => return Ok(Planned::Set(mode)),
            Asked::Show => return Ok(Planned::Show),
            Asked::Query(statement) => statement,
        };
        let plan = self.verified(*statement).await?;
        let state = self.state;
        let plan = match parameters.is_empty() {
            true => plan,
            false => plan
                .with_param_values(ParamValues::from(parameters))
                .map_err(SqlError::planning)?,
        };
        let plan = rewrite(plan, self.mode, &state)?;
        let optimized = state
            .optimize(&plan)
            .map_err(|error| named(error, &self.table))?;
        let schema = Arc::clone(optimized.schema().inner());
        Ok(Planned::Query {
            plan: Box::new(plan),
            schema,
            mode: self.mode,
        })
    }

    async fn parameters(self, sql: &str) -> Result<Vec<Parameter>, SqlError> {
        match read(sql, &self.table)? {
            Asked::Set(_) | Asked::Show => Ok(Vec::new()),
            Asked::Query(statement) => {
                let plan = self.verified(*statement).await?;
                parameters::parameters(&plan, &self.table)
            }
        }
    }

    /// A plan that reads the table, and only reads.
    async fn verified(&self, statement: Statement) -> Result<LogicalPlan, SqlError> {
        let plan = self.state.statement_to_plan(statement).await;
        let plan = plan.map_err(|error| named(error, &self.table))?;
        let options = SQLOptions::new()
            .with_allow_ddl(false)
            .with_allow_dml(false)
            .with_allow_statements(false);
        options.verify_plan(&plan).map_err(SqlError::planning)?;
        see_size(&plan)?;
        Ok(plan)
    }
}

impl Session {
    /// A session on a source, whose table is named like the study.
    pub fn new(source: Arc<dyn Source>, limits: Limits) -> Result<Self, SqlError> {
        let config = SessionConfig::new()
            .with_information_schema(true)
            .with_target_partitions(1)
            .with_batch_size(1024)
            .with_default_catalog_and_schema("hedgerow", "public");
        let context = closed(config, limits.memory)?;
        for function in GROWING {
            context.deregister_udf(function);
        }
        for function in scalars() {
            context.register_udf(function.as_ref().clone());
        }
        for function in aggregates() {
            context.register_udaf(function.as_ref().clone());
        }
        let table = StudyTable::new(source);
        let name = datafusion::common::TableReference::bare(table.source().name().to_owned());
        let registered = context.register_table(name, Arc::new(table.clone()));
        registered.map_err(SqlError::planning)?;
        Ok(Self {
            context,
            table,
            mode: Mode::default(),
            limits,
        })
    }

    /// What plain totals answer.
    pub const fn mode(&self) -> Mode {
        self.mode
    }

    /// Sets what plain totals answer.
    pub const fn set_mode(&mut self, mode: Mode) {
        self.mode = mode;
    }

    /// The context in which names are looked up, for who adds tables of a catalog.
    pub const fn context(&self) -> &SessionContext {
        &self.context
    }

    /// Reads and plans a statement, with values for its parameters `$1`, `$2`, …. Everything that is refused is
    /// refused here; nothing is asked.
    pub async fn plan(&self, sql: &str, parameters: Vec<ScalarValue>) -> Result<Planned, SqlError> {
        let (planning, runtime) = (self.planning(), Handle::current());
        let sql = sql.to_owned();
        let planned = move || runtime.block_on(planning.plan(&sql, parameters));
        self.within(planned).await
    }

    /// What work makes, in the time that a statement has. Planners and operators may work for long without
    /// waiting, so they work beside who watches the time.
    async fn within<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, SqlError> + Send + 'static,
    ) -> Result<T, SqlError> {
        let seconds = self.limits.time.as_secs();
        // Who was given a turn keeps it until the work has ended, also where nobody waits for the work.
        let turn = TURN.try_with(Clone::clone).ok();
        let work = tokio::task::spawn_blocking(move || {
            let made = work();
            drop(turn);
            made
        });
        let done = tokio::time::timeout(self.limits.time, work).await;
        match done.map_err(|_| SqlError::TooSlow { seconds })? {
            Ok(made) => made,
            Err(error) => Err(SqlError::Running {
                reason: error.to_string(),
            }),
        }
    }

    /// The parameters `$1`, `$2`, … of a statement.
    pub async fn parameters(&self, sql: &str) -> Result<Vec<Parameter>, SqlError> {
        let (planning, runtime) = (self.planning(), Handle::current());
        let sql = sql.to_owned();
        let found = move || runtime.block_on(planning.parameters(&sql));
        self.within(found).await
    }

    fn planning(&self) -> Planning {
        Planning {
            state: self.context.state(),
            table: self.table.clone(),
            mode: self.mode,
        }
    }

    /// Runs a statement.
    pub async fn run(&mut self, sql: &str) -> Result<Reply, SqlError> {
        let planned = self.plan(sql, Vec::new()).await?;
        self.execute(planned).await
    }

    /// Runs a statement that was planned.
    pub async fn execute(&mut self, planned: Planned) -> Result<Reply, SqlError> {
        let (plan, mode) = match planned {
            Planned::Set(mode) => {
                self.mode = mode;
                return Ok(self.setting());
            }
            Planned::Show => return Ok(self.setting()),
            Planned::Query { plan, mode, .. } => (plan, mode),
        };
        let is_model =
            mode.is_model() && !matches!(*plan, LogicalPlan::Explain(_) | LogicalPlan::Analyze(_));
        let waiting = Waiting(Stop::after(self.limits.time));
        let collecting = Collecting {
            state: self.context.state(),
            table: self.table.clone(),
            limits: self.limits,
            stop: waiting.0.clone(),
        };
        let (runtime, limits) = (Handle::current(), self.limits);
        let seconds = limits.time.as_secs();
        // What can be stopped ends with its time, and when nobody waits for it any more.
        let (_waiting, mut gone) = oneshot::channel::<()>();
        let collected = move || {
            runtime.block_on(async move {
                let collected = tokio::time::timeout(limits.time, collecting.collect(*plan));
                tokio::select! {
                    collected = collected => collected.map_err(|_| SqlError::TooSlow { seconds })?,
                    _ = &mut gone => Err(SqlError::Running {
                        reason: String::from("nobody waits for the answer any more"),
                    }),
                }
            })
        };
        let (schema, batches) = self.within(collected).await?;
        Ok(Reply::new(schema, batches, mode, is_model))
    }

    /// The setting as an answer.
    fn setting(&self) -> Reply {
        let field = Field::new("hedgerow.answer", DataType::Utf8, false);
        let schema = Arc::new(ArrowSchema::new(vec![field]));
        let value: ArrayRef = Arc::new(StringArray::from(vec![self.mode.name()]));
        let batch = RecordBatch::try_new(Arc::clone(&schema), vec![value]);
        Reply::new(schema, batch.into_iter().collect(), self.mode, false)
    }
}

/// A context that reads no file, writes none, makes no table, and has so many bytes of memory.
pub(crate) fn closed(mut config: SessionConfig, memory: usize) -> Result<SessionContext, SqlError> {
    config.options_mut().sql_parser.dialect = datafusion::config::Dialect::PostgreSQL;
    let disk = DiskManagerBuilder::default().with_mode(DiskManagerMode::Disabled);
    let runtime = RuntimeEnvBuilder::new()
        .with_memory_pool(Arc::new(GreedyMemoryPool::new(memory)))
        .with_disk_manager_builder(disk)
        .build_arc()
        .map_err(SqlError::planning)?;
    let state = SessionStateBuilder::new()
        .with_config(config)
        .with_runtime_env(runtime)
        .with_expr_planners(known::planners())
        .with_scalar_functions(known::scalars())
        .with_aggregate_functions(known::aggregates())
        .with_window_functions(known::windows())
        .build();
    Ok(SessionContext::new_with_state(state))
}

/// An error of the planner, with the nearest column where one was not found.
fn named(error: DataFusionError, table: &StudyTable) -> SqlError {
    match missing_column(&error) {
        Some(column) => statement::no_column(column, table),
        None => SqlError::planning(error),
    }
}

/// What a plan is run with.
struct Collecting {
    state: SessionState,
    table: StudyTable,
    limits: Limits,
    stop: Stop,
}

impl Collecting {
    async fn collect(self, plan: LogicalPlan) -> Result<(SchemaRef, Vec<RecordBatch>), SqlError> {
        let failed = |error| SqlError::running(error, self.limits.memory >> 20);
        let state = &self.state;
        let physical = state.create_physical_plan(&plan).await;
        let physical = physical.map_err(|error| named(error, &self.table))?;
        let physical = metered(physical, &self.stop).map_err(SqlError::planning)?;
        let mut stream = execute_stream(physical, state.task_ctx()).map_err(failed)?;
        let schema = stream.schema();
        let (mut batches, mut rows, mut bytes) = (Vec::new(), 0usize, 0usize);
        while let Some(batch) = stream.next().await {
            let batch = batch.map_err(failed)?;
            rows += batch.num_rows();
            if rows > self.limits.rows {
                return Err(SqlError::TooManyRows {
                    most: self.limits.rows,
                });
            }
            bytes += size_of(&batch).map_err(|error| failed(error.into()))?;
            if bytes > self.limits.memory {
                let megabytes = self.limits.memory >> 20;
                return Err(SqlError::TooLarge { megabytes });
            }
            batches.push(batch);
        }
        Ok((schema, batches))
    }
}

/// The bytes of a batch's own rows, which may be part of larger arrays.
fn size_of(batch: &RecordBatch) -> Result<usize, ArrowError> {
    let sizes = batch.columns().iter();
    sizes
        .map(|column| column.to_data().get_slice_memory_size())
        .sum()
}

#[cfg(test)]
mod tests;
