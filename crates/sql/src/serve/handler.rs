//! What a client's messages do: statements at once, and statements that are prepared first.

use std::collections::HashSet;
use std::fmt::Debug;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use arrow::array::{ArrayRef, RecordBatch, StringArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use arrow_pg::datatypes::{arrow_schema_to_pg_fields, encode_recordbatch};
use async_trait::async_trait;
use datafusion::common::ScalarValue;
use futures_util::{Sink, SinkExt as _, stream};
use pgwire::api::auth::StartupHandler;
use pgwire::api::portal::{Format, Portal};
use pgwire::api::query::{ExtendedQueryHandler, SimpleQueryHandler};
use pgwire::api::results::{
    DescribePortalResponse, DescribeStatementResponse, FieldInfo, QueryResponse, Response, Tag,
};
use pgwire::api::stmt::{QueryParser, StoredStatement};
use pgwire::api::store::PortalStore;
use pgwire::api::{ClientInfo, ClientPortalStore, DEFAULT_NAME, Type};
use pgwire::error::{PgWireError, PgWireResult};
use pgwire::messages::extendedquery::{
    Bind, Close, Execute, Parse, TARGET_TYPE_BYTE_PORTAL, TARGET_TYPE_BYTE_STATEMENT,
};
use pgwire::messages::{PgWireBackendMessage, PgWireFrontendMessage};
use tokio::sync::{Mutex, Semaphore};

use super::control::{Control, Settings};
use super::parameters::{checked, pg_type, values};
use super::refusal::{code, error, info};
use crate::error::SqlError;
use crate::session::{Parameter, Planned, Session};

/// The most statements, and the most portals, that a client may keep.
const MOST_KEPT: usize = 256;
/// The most rows that are put aside at once for a client that asks for a part of them.
const MOST_ROWS: i32 = 65_536;
/// What is said beside every answer with an estimate.
const NOTE: &str = "estimates are a model: every value of a cell equally likely, columns independent\nhint: SET hedgerow.answer = 'bounds' shows from where to where the truth lies";

/// A statement that a client prepared.
#[derive(Debug, Clone)]
pub(super) enum Prepared {
    Control(Control),
    Query {
        sql: String,
        parameters: Vec<Parameter>,
        /// The columns, where the client was told before it sent values.
        told: Arc<OnceLock<SchemaRef>>,
    },
}

impl Prepared {
    pub(super) fn parameters(&self) -> &[Parameter] {
        match self {
            Self::Control(_) => &[],
            Self::Query { parameters, .. } => parameters,
        }
    }
}

/// One client's session.
pub(super) struct Asking {
    session: Arc<Mutex<Session>>,
    settings: Mutex<Settings>,
    /// Statements that may run at the same time, of all clients.
    turns: Arc<Semaphore>,
    /// How long a statement may take, with waiting.
    time: Duration,
    /// The names of statements and portals that are kept.
    kept: Mutex<[HashSet<String>; 2]>,
}

impl Asking {
    pub(super) fn new(session: Session, turns: Arc<Semaphore>, time: Duration) -> Self {
        Self {
            session: Arc::new(Mutex::new(session)),
            settings: Mutex::default(),
            turns,
            time,
            kept: Mutex::default(),
        }
    }

    async fn control(&self, control: &Control, format: &Format) -> PgWireResult<Response> {
        Ok(match control {
            Control::Begin => Response::TransactionStart(Tag::new("BEGIN")),
            Control::End(word) => Response::TransactionEnd(Tag::new(word)),
            Control::Nothing(word) => Response::Execution(Tag::new(word)),
            Control::Set(name, value) => {
                let mut settings = self.settings.lock().await;
                settings.set(name.clone(), value.clone());
                Response::Execution(Tag::new("SET"))
            }
            Control::Show(name) => {
                let value = self.settings.lock().await.get(name);
                let value: ArrayRef = Arc::new(StringArray::from(vec![value]));
                let batch = RecordBatch::try_new(shown(name), vec![value]).map_err(broken)?;
                response(&batch.schema(), vec![batch], format, "SHOW")?
            }
        })
    }

    /// Runs a statement; the time covers planning and waiting for a turn.
    async fn query<C>(
        &self,
        client: &mut C,
        sql: &str,
        values: Vec<ScalarValue>,
        told: Option<&SchemaRef>,
        format: &Format,
    ) -> PgWireResult<Response>
    where
        C: Sink<PgWireBackendMessage> + Unpin + Send,
        PgWireError: From<C::Error>,
    {
        let running = async {
            let _turn = self.turns.acquire().await;
            let mut session = self.session.lock().await;
            let planned = session.plan(sql, values).await?;
            let word = match &planned {
                Planned::Set(_) => Some("SET"),
                _ => None,
            };
            Ok::<_, SqlError>((session.execute(planned).await?, word))
        };
        let seconds = self.time.as_secs();
        let ran = tokio::time::timeout(self.time, running).await;
        let (reply, word) = ran.map_err(|_| SqlError::TooSlow { seconds })??;
        if let Some(word) = word {
            return Ok(Response::Execution(Tag::new(word)));
        }
        if reply.note().is_some() {
            let note = info("NOTICE", "00000", NOTE);
            client
                .feed(PgWireBackendMessage::NoticeResponse(note.into()))
                .await?;
        }
        let batches = reply.batches().to_vec();
        match told {
            None => response(reply.schema(), batches, format, "SELECT"),
            Some(told) => response(
                told,
                as_told(batches, reply.schema(), told)?,
                format,
                "SELECT",
            ),
        }
    }

    /// The columns of a statement's answer; none where it has no answer.
    async fn columns(&self, sql: &str, values: Vec<ScalarValue>) -> PgWireResult<SchemaRef> {
        let session = self.session.lock().await;
        Ok(match session.plan(sql, values).await? {
            Planned::Query { schema, .. } => schema,
            Planned::Show => shown("hedgerow.answer"),
            Planned::Set(_) => Arc::new(Schema::empty()),
        })
    }

    async fn keep(&self, of: usize, name: Option<&str>) -> PgWireResult<()> {
        let kept = &mut self.kept.lock().await[of];
        let name = name.unwrap_or(DEFAULT_NAME);
        if kept.len() >= MOST_KEPT && !kept.contains(name) {
            let message =
                format!("more than {MOST_KEPT} statements or portals are kept\nhint: close some");
            return Err(error(code::LIMIT, &message));
        }
        kept.insert(name.to_owned());
        Ok(())
    }
}

/// The one column of a setting.
fn shown(name: &str) -> SchemaRef {
    Arc::new(Schema::new(vec![Field::new(name, DataType::Utf8, false)]))
}

fn broken(error: arrow::error::ArrowError) -> PgWireError {
    let reason = error.to_string();
    SqlError::Running { reason }.into()
}

/// An answer as clients read it.
fn response(
    schema: &SchemaRef,
    batches: Vec<RecordBatch>,
    format: &Format,
    word: &str,
) -> PgWireResult<Response> {
    let fields = Arc::new(fields(schema, format)?);
    let of_rows = Arc::clone(&fields);
    let rows = batches
        .into_iter()
        .flat_map(move |batch| encode_recordbatch(Arc::clone(&of_rows), batch));
    let mut response = QueryResponse::new(fields, stream::iter(rows));
    response.set_command_tag(word);
    Ok(Response::Query(response))
}

fn fields(schema: &Schema, format: &Format) -> PgWireResult<Vec<FieldInfo>> {
    checked(format, schema.fields().len())?;
    arrow_schema_to_pg_fields(schema, format, None)
}

/// Rows in the types that the client was told; whole numbers become the numbers that they are.
fn as_told(
    batches: Vec<RecordBatch>,
    own: &SchemaRef,
    told: &SchemaRef,
) -> PgWireResult<Vec<RecordBatch>> {
    let changed = || {
        error(
            code::NOT_SUPPORTED,
            "the statement's columns are others than when it was prepared\nhint: prepare it again",
        )
    };
    let (own, told) = (own.fields(), told.fields());
    let is_whole =
        |from: &DataType, to: &DataType| *from == DataType::Int64 && *to == DataType::Float64;
    let fits = |(own, told): (&Arc<Field>, &Arc<Field>)| {
        let (from, to) = (own.data_type(), told.data_type());
        own.name() == told.name() && (from == to || is_whole(from, to))
    };
    if own.len() != told.len() || !own.iter().zip(told).all(fits) {
        return Err(changed());
    }
    let fields = told
        .iter()
        .map(|field| field.as_ref().clone().with_nullable(true));
    let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    let cast_batch = |batch: RecordBatch| {
        let columns = batch.columns().iter().zip(told);
        let columns = columns.map(|(column, field)| cast(column, field.data_type()));
        RecordBatch::try_new(Arc::clone(&schema), columns.collect::<Result<_, _>>()?)
    };
    let cast_all = batches.into_iter().map(cast_batch);
    cast_all.collect::<Result<_, _>>().map_err(broken)
}

/// Nobody gets in here: passwords are looked at before.
#[async_trait]
impl StartupHandler for Asking {
    async fn on_startup<C>(&self, _: &mut C, _: PgWireFrontendMessage) -> PgWireResult<()>
    where
        C: ClientInfo + Sink<PgWireBackendMessage> + Unpin + Send + Sync,
        C::Error: Debug,
        PgWireError: From<<C as Sink<PgWireBackendMessage>>::Error>,
    {
        let refused = super::refusal::fatal(code::PROTOCOL, "the connection has begun");
        Err(PgWireError::UserError(Box::new(refused)))
    }
}

#[async_trait]
impl SimpleQueryHandler for Asking {
    async fn do_query<C>(&self, client: &mut C, query: &str) -> PgWireResult<Vec<Response>>
    where
        C: ClientInfo + ClientPortalStore + Sink<PgWireBackendMessage> + Unpin + Send + Sync,
        C::PortalStore: PortalStore,
        C::Error: Debug,
        PgWireError: From<<C as Sink<PgWireBackendMessage>>::Error>,
    {
        let text = Format::UnifiedText;
        let answered = match Control::read(query) {
            Some(control) => self.control(&control, &text).await?,
            None => self.query(client, query, Vec::new(), None, &text).await?,
        };
        Ok(vec![answered])
    }
}

/// Reads statements that are prepared.
pub(super) struct Reader(Arc<Mutex<Session>>);

#[async_trait]
impl QueryParser for Reader {
    type Statement = Prepared;

    async fn parse_sql<C>(
        &self,
        _: &C,
        sql: &str,
        _: &[Option<Type>],
    ) -> PgWireResult<Option<Prepared>>
    where
        C: ClientInfo + Unpin + Send + Sync,
    {
        if let Some(control) = Control::read(sql) {
            return Ok(Some(Prepared::Control(control)));
        }
        let parameters = self.0.lock().await.parameters(sql).await?;
        Ok(Some(Prepared::Query {
            sql: sql.to_owned(),
            parameters,
            told: Arc::default(),
        }))
    }

    fn get_parameter_types(&self, statement: &Prepared) -> PgWireResult<Vec<Type>> {
        let types = statement.parameters().iter().map(|own| pg_type(&own.of));
        Ok(types.collect())
    }

    fn get_result_schema(
        &self,
        statement: &Prepared,
        format: Option<&Format>,
    ) -> PgWireResult<Vec<FieldInfo>> {
        let format = format.unwrap_or(&Format::UnifiedText);
        match statement {
            Prepared::Control(Control::Show(name)) => fields(&shown(name), format),
            Prepared::Control(_) => Ok(Vec::new()),
            Prepared::Query { told, .. } => match told.get() {
                Some(told) => fields(told, format),
                None => Ok(Vec::new()),
            },
        }
    }
}

#[async_trait]
impl ExtendedQueryHandler for Asking {
    type Statement = Prepared;
    type QueryParser = Reader;

    fn query_parser(&self) -> Arc<Reader> {
        Arc::new(Reader(Arc::clone(&self.session)))
    }

    async fn on_parse<C>(&self, client: &mut C, message: Parse) -> PgWireResult<()>
    where
        C: ClientInfo + ClientPortalStore + Sink<PgWireBackendMessage> + Unpin + Send + Sync,
        C::PortalStore: PortalStore<Statement = Prepared>,
        C::Error: Debug,
        PgWireError: From<<C as Sink<PgWireBackendMessage>>::Error>,
    {
        self.keep(0, message.name.as_deref()).await?;
        let name = message.name.clone();
        let name = name.unwrap_or_else(|| DEFAULT_NAME.to_owned());
        let parser = self.query_parser();
        match StoredStatement::parse(client, &message, parser).await? {
            Some(statement) => client.portal_store().put_statement(Arc::new(statement)),
            None => client.portal_store().put_empty_statement(&name),
        }
        let done = pgwire::messages::extendedquery::ParseComplete::new();
        client
            .send(PgWireBackendMessage::ParseComplete(done))
            .await?;
        Ok(())
    }

    async fn on_bind<C>(&self, client: &mut C, message: Bind) -> PgWireResult<()>
    where
        C: ClientInfo + ClientPortalStore + Sink<PgWireBackendMessage> + Unpin + Send + Sync,
        C::PortalStore: PortalStore<Statement = Prepared>,
        C::Error: Debug,
        PgWireError: From<<C as Sink<PgWireBackendMessage>>::Error>,
    {
        self.keep(1, message.portal_name.as_deref()).await?;
        let name = message.statement_name.as_deref().unwrap_or(DEFAULT_NAME);
        let portal = match client.portal_store().get_statement(name) {
            Some(pgwire::api::store::Entry::Value(statement)) => {
                let portal = Portal::try_new(&message, statement)?;
                values(&portal)?;
                Some(portal)
            }
            Some(pgwire::api::store::Entry::Empty) => None,
            None => return Err(PgWireError::StatementNotFound(name.to_owned())),
        };
        let name = message.portal_name.as_deref().unwrap_or(DEFAULT_NAME);
        match portal {
            Some(portal) => client.portal_store().put_portal(Arc::new(portal)),
            None => client.portal_store().put_empty_portal(name),
        }
        let done = pgwire::messages::extendedquery::BindComplete::new();
        client
            .send(PgWireBackendMessage::BindComplete(done))
            .await?;
        Ok(())
    }

    async fn on_close<C>(&self, client: &mut C, message: Close) -> PgWireResult<()>
    where
        C: ClientInfo + ClientPortalStore + Sink<PgWireBackendMessage> + Unpin + Send + Sync,
        C::PortalStore: PortalStore<Statement = Prepared>,
        C::Error: Debug,
        PgWireError: From<<C as Sink<PgWireBackendMessage>>::Error>,
    {
        let name = message.name.as_deref().unwrap_or(DEFAULT_NAME);
        let of = match message.target_type {
            TARGET_TYPE_BYTE_STATEMENT => 0,
            TARGET_TYPE_BYTE_PORTAL => 1,
            other => return Err(PgWireError::InvalidTargetType(other)),
        };
        match of {
            0 => client.portal_store().rm_statement(name),
            _ => client.portal_store().rm_portal(name),
        }
        self.kept.lock().await[of].remove(name);
        let done = pgwire::messages::extendedquery::CloseComplete::new();
        client
            .send(PgWireBackendMessage::CloseComplete(done))
            .await?;
        Ok(())
    }

    async fn on_execute<C>(&self, client: &mut C, mut message: Execute) -> PgWireResult<()>
    where
        C: ClientInfo + ClientPortalStore + Sink<PgWireBackendMessage> + Unpin + Send + Sync,
        C::PortalStore: PortalStore<Statement = Prepared>,
        C::Error: Debug,
        PgWireError: From<<C as Sink<PgWireBackendMessage>>::Error>,
    {
        // Memory is set aside for as many rows as are asked for: all of them have no number.
        if !(0..=MOST_ROWS).contains(&message.max_rows) {
            message.max_rows = 0;
        }
        self._on_execute(client, message).await
    }

    async fn do_describe_statement<C>(
        &self,
        _: &mut C,
        target: &StoredStatement<Prepared>,
    ) -> PgWireResult<DescribeStatementResponse>
    where
        C: ClientInfo + ClientPortalStore + Sink<PgWireBackendMessage> + Unpin + Send + Sync,
        C::PortalStore: PortalStore<Statement = Prepared>,
        C::Error: Debug,
        PgWireError: From<<C as Sink<PgWireBackendMessage>>::Error>,
    {
        let reader = self.query_parser();
        let own = reader.get_parameter_types(&target.statement)?;
        let given = |place: usize| target.parameter_types.get(place).cloned().flatten();
        let types = own.into_iter().enumerate();
        let types = types
            .map(|(place, own)| given(place).unwrap_or(own))
            .collect();
        if let Prepared::Query {
            sql,
            parameters,
            told,
        } = &target.statement
        {
            let examples = parameters.iter().map(|own| own.example.clone());
            let columns = self.columns(sql, examples.collect()).await?;
            // Told once: a statement keeps its columns.
            let _ = told.set(columns);
        }
        let fields = reader.get_result_schema(&target.statement, None)?;
        Ok(DescribeStatementResponse::new(types, fields))
    }

    async fn do_describe_portal<C>(
        &self,
        _: &mut C,
        target: &Portal<Prepared>,
    ) -> PgWireResult<DescribePortalResponse>
    where
        C: ClientInfo + ClientPortalStore + Sink<PgWireBackendMessage> + Unpin + Send + Sync,
        C::PortalStore: PortalStore<Statement = Prepared>,
        C::Error: Debug,
        PgWireError: From<<C as Sink<PgWireBackendMessage>>::Error>,
    {
        let (statement, format) = (&target.statement.statement, &target.result_column_format);
        let fields = match statement {
            Prepared::Query { sql, told, .. } if told.get().is_none() => {
                fields(&*self.columns(sql, values(target)?).await?, format)?
            }
            statement => self
                .query_parser()
                .get_result_schema(statement, Some(format))?,
        };
        Ok(DescribePortalResponse::new(fields))
    }

    async fn do_query<C>(
        &self,
        client: &mut C,
        portal: &Portal<Prepared>,
        _: usize,
    ) -> PgWireResult<Response>
    where
        C: ClientInfo + ClientPortalStore + Sink<PgWireBackendMessage> + Unpin + Send + Sync,
        C::PortalStore: PortalStore<Statement = Prepared>,
        C::Error: Debug,
        PgWireError: From<<C as Sink<PgWireBackendMessage>>::Error>,
    {
        let format = &portal.result_column_format;
        match &portal.statement.statement {
            Prepared::Control(control) => self.control(control, format).await,
            Prepared::Query { sql, told, .. } => {
                let values = values(portal)?;
                self.query(client, sql, values, told.get(), format).await
            }
        }
    }
}
