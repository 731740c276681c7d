//! One client's messages: statements at once, and statements that are prepared first (PostgreSQL 16, chapter 55).

mod extended;

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use arrow::datatypes::SchemaRef;
use bytes::Bytes;
use datafusion::common::ScalarValue;
use pgwire::api::Type;
use pgwire::api::portal::Format;
use pgwire::error::{ErrorInfo, PgWireError};
use pgwire::messages::PgWireBackendMessage as Reply;
use pgwire::messages::extendedquery::{CloseComplete, PortalSuspended};
use pgwire::messages::response::{
    CommandComplete, EmptyQueryResponse, ReadyForQuery, TransactionStatus,
};
use pgwire::messages::startup::ParameterStatus;

use super::answer::{Answer, Cursor};
use super::control::{Control, Settings};
use super::desk::Desk;
use super::greeting::refuse;
use super::kind::{Kind, statements};
use super::line::{Line, LineError};
use super::message::{Message, Target};
use super::parameters::values;
use super::refusal::{code, error, fatal, info};
use crate::session::Parameter;

/// How long a client may say nothing.
const IDLE: Duration = Duration::from_secs(3600);
/// The most statements in one message.
const MOST_AT_ONCE: usize = 100;
/// What is said beside every answer with an estimate.
const NOTE: &str = "estimates are a model: every value of a cell equally likely, columns independent\nhint: SET hedgerow.answer = 'bounds' shows from where to where the truth lies";

/// A statement that a client prepared.
struct Prepared {
    sql: String,
    kind: Kind,
    parameters: Vec<Parameter>,
    /// The types that the client gave.
    types: Vec<Option<Type>>,
    /// The columns, where the client was told before it sent values.
    told: OnceLock<SchemaRef>,
}

/// A statement with values.
struct Portal {
    statement: Arc<Prepared>,
    values: Vec<ScalarValue>,
    format: Format,
    /// Rows that are not fetched yet, once it runs.
    rows: Option<Cursor>,
    is_over: bool,
}

/// One client.
pub(super) struct Client {
    line: Line,
    desk: Desk,
    statements: HashMap<String, Arc<Prepared>>,
    portals: HashMap<String, Portal>,
    status: TransactionStatus,
    /// Whether nothing is heard until the client synchronizes.
    is_deaf: bool,
}

impl Client {
    pub(super) fn new(line: Line, desk: Desk) -> Self {
        Self {
            line,
            desk,
            statements: HashMap::new(),
            portals: HashMap::new(),
            status: TransactionStatus::Idle,
            is_deaf: false,
        }
    }

    /// Answers messages until the client goes.
    pub(super) async fn serve(mut self) -> Result<(), LineError> {
        self.ready()?;
        self.line.flush().await?;
        loop {
            let Ok(next) = tokio::time::timeout(IDLE, self.line.next()).await else {
                let why = fatal(code::IDLE, "nothing was said for an hour");
                return Ok(refuse(&mut self.line, why).await?);
            };
            let message = match next {
                Ok(None | Some(Message::Terminate)) => return Ok(()),
                Ok(Some(message)) => message,
                Err(LineError::Io(error)) => return Err(error.into()),
                Err(wrong) => {
                    let why = fatal(code::PROTOCOL, &wrong.to_string());
                    return Ok(refuse(&mut self.line, why).await?);
                }
            };
            let is_extended = message.is_extended();
            let Err(refused) = self.take(message).await else {
                continue;
            };
            let refused = match refused {
                Refused::Line(error) => return Err(error),
                Refused::Statement(refused) => ErrorInfo::from(refused),
            };
            if refused.is_fatal() {
                return Ok(refuse(&mut self.line, refused).await?);
            }
            self.status = self.status.to_error_state();
            self.line.put(&Reply::ErrorResponse(refused.into()))?;
            self.is_deaf = is_extended;
            if !is_extended {
                self.ready()?;
            }
            self.line.flush().await?;
        }
    }

    async fn take(&mut self, message: Message) -> Result<(), Refused> {
        match message {
            Message::Sync => {
                self.is_deaf = false;
                if self.status == TransactionStatus::Idle {
                    self.portals.clear();
                }
                self.ready()?;
                self.line.flush().await?;
            }
            _ if self.is_deaf => {}
            Message::Query(text) => {
                // As PostgreSQL has it, the unnamed ones are gone.
                self.statements.remove("");
                self.portals.remove("");
                self.simple(&text).await?;
                self.ready()?;
                self.line.flush().await?;
            }
            Message::Parse { name, sql, types } => self.parse(name, &sql, &types).await?,
            Message::Bind(bind) => self.bind(bind)?,
            Message::Describe(Target::Statement, name) => self.describe(&name).await?,
            Message::Describe(Target::Portal, name) => self.describe_portal(&name).await?,
            Message::Execute { portal, rows } => self.execute(&portal, rows as usize).await?,
            Message::Close(target, name) => {
                match target {
                    Target::Statement => drop(self.statements.remove(&name)),
                    Target::Portal => drop(self.portals.remove(&name)),
                }
                self.line.put(&Reply::CloseComplete(CloseComplete::new()))?;
            }
            Message::Flush => self.line.flush().await?,
            // What is left of a COPY that was refused.
            Message::Copy | Message::Terminate => {}
            Message::Call => {
                let what = "functions are called in SQL\nhint: SELECT function(…)";
                return Err(error(code::NOT_SUPPORTED, what).into());
            }
            Message::Password(_) => {
                let why = fatal(code::PROTOCOL, "a password was proven before");
                return Err(PgWireError::UserError(Box::new(why)).into());
            }
        }
        Ok(())
    }

    fn ready(&mut self) -> Result<(), LineError> {
        let ready = ReadyForQuery::new(self.status);
        Ok(self.line.put(&Reply::ReadyForQuery(ready))?)
    }

    /// Statements at once, one after the other up to the first that is refused.
    async fn simple(&mut self, text: &str) -> Result<(), Refused> {
        let all = statements(text);
        if all.len() > MOST_AT_ONCE {
            let what = format!("more than {MOST_AT_ONCE} statements at once");
            return Err(error(code::LIMIT, &what).into());
        }
        if all.is_empty() {
            self.line
                .put(&Reply::EmptyQueryResponse(EmptyQueryResponse::new()))?;
        }
        for sql in all {
            let answer = match Kind::read(sql)? {
                Kind::Prepare(name, sql) => {
                    if self.statements.contains_key(&name) {
                        let what = format!("the prepared statement \"{name}\" is there already");
                        return Err(error("42P05", &what).into());
                    }
                    self.prepare(name, &sql, Vec::new()).await?;
                    Answer::Done(String::from("PREPARE"))
                }
                Kind::Execute(name, written) => {
                    let statement = self.statement(&name)?;
                    let written = written.into_iter();
                    let sent: Vec<_> = written.map(|value| value.map(Bytes::from)).collect();
                    let text = Format::UnifiedText;
                    let values = values(&sent, &text, &statement.types, &statement.parameters)?;
                    self.run(&statement, values).await?
                }
                kind => {
                    let statement = Prepared {
                        sql: sql.to_owned(),
                        kind,
                        parameters: Vec::new(),
                        types: Vec::new(),
                        told: OnceLock::new(),
                    };
                    self.run(&statement, Vec::new()).await?
                }
            };
            if let Some(mut rows) = self.begin(answer, None, &Format::UnifiedText)? {
                self.line.put(&Reply::RowDescription(rows.description()))?;
                self.send(&mut rows, usize::MAX).await?;
            }
        }
        Ok(())
    }

    /// Runs a statement.
    async fn run(
        &mut self,
        statement: &Prepared,
        values: Vec<ScalarValue>,
    ) -> Result<Answer, Refused> {
        let is_end = matches!(
            statement.kind,
            Kind::Control(Control::End(_) | Control::BackTo)
        );
        if self.status == TransactionStatus::Error && !is_end {
            let what =
                "the transaction has failed, and nothing is answered until it ends\nhint: ROLLBACK";
            return Err(error(code::FAILED_BEFORE, what).into());
        }
        let (desk, line) = (&self.desk, &mut self.line);
        Ok(match &statement.kind {
            Kind::Empty => Answer::Empty,
            Kind::Query => desk.ask(line, &statement.sql, values).await?,
            Kind::Catalog => desk.look(line, &statement.sql, values).await?,
            Kind::Control(control) => self.control(control).await?,
            Kind::Prepare(..) | Kind::Execute(..) => {
                let what = "PREPARE and EXECUTE are statements of their own\nhint: drivers prepare statements without them";
                return Err(error(code::NOT_SUPPORTED, what).into());
            }
        })
    }

    async fn control(&mut self, control: &Control) -> Result<Answer, Refused> {
        let word = match control {
            Control::Begin => {
                self.status = TransactionStatus::Transaction;
                "BEGIN"
            }
            Control::End(word) => {
                let has_failed = self.status == TransactionStatus::Error;
                self.status = TransactionStatus::Idle;
                self.portals.clear();
                if has_failed { "ROLLBACK" } else { word }
            }
            Control::BackTo => {
                self.status = TransactionStatus::Transaction;
                "ROLLBACK"
            }
            Control::Nothing(word) => word,
            Control::Set(name, value) => {
                self.desk.settings.set(name, value.clone());
                if Settings::is_told(name) {
                    let status = ParameterStatus::new((*name).to_owned(), value.clone());
                    self.line.put(&Reply::ParameterStatus(status))?;
                }
                "SET"
            }
            Control::Reset(Some(name)) => {
                self.desk.settings.reset(Some(name));
                "RESET"
            }
            Control::Reset(None) => {
                self.desk.reset().await;
                "RESET"
            }
            Control::Discard => {
                self.desk.reset().await;
                self.statements.clear();
                self.portals.clear();
                "DISCARD ALL"
            }
            Control::Deallocate(None) => {
                self.statements.clear();
                "DEALLOCATE ALL"
            }
            Control::Deallocate(Some(name)) => {
                self.statement(name)?;
                self.statements.remove(name);
                "DEALLOCATE"
            }
            Control::Show(name) => return Ok(self.desk.show(name)?),
        };
        Ok(Answer::Done(word.to_owned()))
    }

    fn statement(&self, name: &str) -> Result<Arc<Prepared>, Refused> {
        let found = self.statements.get(name).cloned();
        found.ok_or_else(|| {
            let what = format!("there is no prepared statement \"{name}\"");
            error(code::NO_STATEMENT, &what).into()
        })
    }

    /// Puts what comes before rows; the rows, where there are any.
    fn begin(
        &mut self,
        answer: Answer,
        told: Option<&SchemaRef>,
        format: &Format,
    ) -> Result<Option<Cursor>, Refused> {
        match answer {
            Answer::Done(word) => {
                let done = CommandComplete::new(word);
                self.line.put(&Reply::CommandComplete(done))?;
                Ok(None)
            }
            Answer::Empty => {
                let nothing = EmptyQueryResponse::new();
                self.line.put(&Reply::EmptyQueryResponse(nothing))?;
                Ok(None)
            }
            Answer::Rows {
                schema,
                batches,
                word,
                is_model,
            } => {
                if is_model {
                    let note = info("NOTICE", "00000", NOTE);
                    self.line.put(&Reply::NoticeResponse(note.into()))?;
                }
                Ok(Some(Cursor::new(&schema, batches, word, told, format)?))
            }
        }
    }

    /// Sends rows, at most so many; whether these were the last.
    async fn send(&mut self, rows: &mut Cursor, most: usize) -> Result<bool, Refused> {
        let mut sent = 0usize;
        while sent < most {
            let Some(row) = rows.next() else { break };
            self.line.put(&Reply::DataRow(row?))?;
            sent += 1;
            if self.line.is_full() {
                self.line.flush().await?;
            }
        }
        let is_last = rows.left() == 0 && sent < most;
        let message = match is_last {
            true if rows.word == "SELECT" => {
                Reply::CommandComplete(CommandComplete::new(format!("SELECT {sent}")))
            }
            true => Reply::CommandComplete(CommandComplete::new(rows.word.to_owned())),
            false => Reply::PortalSuspended(PortalSuspended::new()),
        };
        self.line.put(&message)?;
        Ok(is_last)
    }
}

/// Why a message is not answered, or why nothing can be said any more.
enum Refused {
    Statement(PgWireError),
    Line(LineError),
}

impl From<PgWireError> for Refused {
    fn from(error: PgWireError) -> Self {
        Self::Statement(error)
    }
}

impl From<LineError> for Refused {
    fn from(error: LineError) -> Self {
        Self::Line(error)
    }
}

impl From<std::io::Error> for Refused {
    fn from(error: std::io::Error) -> Self {
        Self::Line(error.into())
    }
}
