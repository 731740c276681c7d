//! A small catalog of PostgreSQL's, so that psql's `\d`, drivers and tools for reports find the study's table.
//!
//! It is a context of its own that holds descriptions and nothing else: no question to the study's table comes
//! from here. There is one database, one schema with one table, one owner, and no user but whoever asks.

mod functions;
mod rewrite;
mod tables;

use std::sync::Arc;
use std::time::Duration;

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, SchemaRef};
use datafusion::catalog::{
    CatalogProvider, MemTable, MemoryCatalogProvider, MemorySchemaProvider, SchemaProvider,
};
use datafusion::common::{ParamValues, ScalarValue};
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::execute_stream;
use datafusion::prelude::{SQLOptions, SessionConfig, SessionContext};
use datafusion::sql::parser::Statement;
use datafusion::sql::sqlparser::dialect::PostgreSqlDialect;
use datafusion::sql::sqlparser::parser::Parser;
use datafusion::sql::sqlparser::tokenizer::Token;
use futures_util::StreamExt as _;
use hedgerow::query::AskError;

use super::control::Settings;
use super::texts::{bounded, remove_amplifiers};
use crate::error::SqlError;
use crate::session::{Limits, Parameter, Stop, Waiting, closed, metered};
use crate::source::Source;
use crate::table::StudyTable;

/// Bytes that looks at the catalog may take, all together.
const MEMORY: usize = 64 << 20;

/// Who looks at the catalog.
pub(super) struct Asker {
    pub(super) user: String,
    pub(super) process: u32,
    pub(super) settings: Settings,
}

/// The catalog of a server.
pub(super) struct Catalog {
    context: SessionContext,
    database: String,
    rows: usize,
    time: Duration,
}

impl std::fmt::Debug for Catalog {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut catalog = f.debug_struct("Catalog");
        catalog
            .field("database", &self.database)
            .finish_non_exhaustive()
    }
}

impl Catalog {
    /// Describes a source's table.
    pub(super) fn new(source: &Arc<dyn Source>, limits: Limits) -> Result<Self, SqlError> {
        let table = StudyTable::new(Arc::clone(source));
        let database = source.name().to_owned();
        let config = SessionConfig::new()
            .with_target_partitions(1)
            .with_create_default_catalog_and_schema(false)
            .with_default_catalog_and_schema(&database, "pg_catalog");
        let context = closed(config, MEMORY)?;
        remove_amplifiers(&context);
        for function in functions::all(&database) {
            context.register_udf(function);
        }
        let fields = table.columns().iter();
        let fields: Vec<_> = fields
            .map(|column| Arc::new(column.field.clone()))
            .collect();
        let own = MemoryCatalogProvider::new();
        for schema in ["pg_catalog", "information_schema"] {
            let tables = MemorySchemaProvider::new();
            for (name, batch) in tables::of(schema, &database, &fields)? {
                let table = MemTable::try_new(batch.schema(), vec![vec![batch]]);
                let table = Arc::new(table.map_err(SqlError::planning)?);
                let added = tables.register_table(name.to_owned(), table);
                added.map_err(SqlError::planning)?;
            }
            let added = own.register_schema(schema, Arc::new(tables));
            added.map_err(SqlError::planning)?;
        }
        context.register_catalog(&database, Arc::new(own));
        Ok(Self {
            context,
            database,
            rows: limits.rows,
            time: limits.time,
        })
    }

    /// Runs a query.
    pub(super) async fn run(
        &self,
        sql: &str,
        values: Vec<ScalarValue>,
        asker: &Asker,
    ) -> Result<(SchemaRef, Vec<RecordBatch>), SqlError> {
        let failed = |error| SqlError::running(error, MEMORY >> 20);
        let plan = self.plan(sql, values, asker).await?;
        let state = self.context.state();
        let physical = state.create_physical_plan(&plan).await;
        let physical = physical.map_err(SqlError::planning)?;
        let waiting = Waiting(Stop::after(self.time));
        let physical = metered(physical, &waiting.0).map_err(SqlError::planning)?;
        let mut stream = execute_stream(physical, state.task_ctx()).map_err(failed)?;
        let schema = stream.schema();
        let (mut batches, mut rows, mut bytes) = (Vec::new(), 0usize, 0usize);
        while let Some(batch) = stream.next().await {
            let batch = batch.map_err(failed)?;
            rows += batch.num_rows();
            bytes += batch.get_array_memory_size();
            if rows > self.rows {
                return Err(SqlError::TooManyRows { most: self.rows });
            }
            if bytes > MEMORY {
                let megabytes = MEMORY >> 20;
                return Err(SqlError::TooLarge { megabytes });
            }
            batches.push(batch);
        }
        Ok((schema, batches))
    }

    /// The parameters of a query.
    pub(super) async fn parameters(
        &self,
        sql: &str,
        asker: &Asker,
    ) -> Result<Vec<Parameter>, SqlError> {
        let plan = self.plan(sql, Vec::new(), asker).await?;
        let mut types = plan.get_parameter_types().map_err(SqlError::planning)?;
        // Those in parts that are answered without the engine count, too.
        for token in hedgerow::query::tokens(sql)? {
            if let Token::Placeholder(name) = token.token {
                types.entry(name).or_insert(None);
            }
        }
        crate::session::numbered(&types, |of| Parameter {
            example: ScalarValue::try_new_null(&of).unwrap_or(ScalarValue::Null),
            of,
        })
    }

    /// The columns of a query's answer.
    pub(super) async fn columns(
        &self,
        sql: &str,
        values: Vec<ScalarValue>,
        asker: &Asker,
    ) -> Result<SchemaRef, SqlError> {
        let plan = self.plan(sql, values, asker).await?;
        let plan = self.context.state().optimize(&plan);
        let plan = plan.map_err(SqlError::planning)?;
        Ok(Arc::clone(plan.schema().inner()))
    }

    async fn plan(
        &self,
        sql: &str,
        values: Vec<ScalarValue>,
        asker: &Asker,
    ) -> Result<LogicalPlan, SqlError> {
        hedgerow::query::tokens(sql)?;
        let parsed = Parser::parse_sql(&PostgreSqlDialect {}, sql);
        let parsed = parsed.map_err(|error| AskError::Syntax {
            reason: error.to_string(),
        })?;
        let [mut statement] = <[_; 1]>::try_from(parsed).map_err(|_| {
            SqlError::not_answered("several statements at once", "send one after the other")
        })?;
        rewrite::rewrite(&mut statement, &self.database, asker)?;
        bounded(sql, &values)?;
        let state = self.context.state();
        let statement = Statement::Statement(Box::new(statement));
        let plan = state.statement_to_plan(statement).await;
        let plan = plan.map_err(SqlError::planning)?;
        let options = SQLOptions::new()
            .with_allow_ddl(false)
            .with_allow_dml(false)
            .with_allow_statements(false);
        options.verify_plan(&plan).map_err(SqlError::planning)?;
        match values.is_empty() {
            true => Ok(plan),
            false => plan
                .with_param_values(ParamValues::from(values))
                .map_err(SqlError::planning),
        }
    }
}

/// The type of a column as PostgreSQL numbers and names it.
fn type_of(of: &DataType) -> (i32, &'static str, &'static str) {
    match of {
        DataType::Boolean => (16, "bool", "boolean"),
        DataType::Int64 => (20, "int8", "bigint"),
        DataType::Float64 => (701, "float8", "double precision"),
        DataType::Date32 => (1082, "date", "date"),
        _ => (25, "text", "text"),
    }
}
