//! Where a client's statements are planned and run: apart from the connections, one after the other, within a
//! time, and only as long as the client is there and wants it.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use arrow::array::{ArrayRef, RecordBatch, StringArray};
use arrow::datatypes::{Schema, SchemaRef};
use datafusion::common::ScalarValue;
use pgwire::error::PgWireError;
use tokio::runtime::Handle;
use tokio::sync::Mutex;

use super::answer::{Answer, shown};
use super::catalog::Catalog;
use super::control::Settings;
use super::line::Line;
use super::log::Log;
use super::refusal::{code, error, fatal};
use super::registry::Place;
use super::texts::{bounded, remove_amplifiers};
use crate::error::SqlError;
use crate::session::{Parameter, Planned, Session, TURN};

/// Where a client's statements run.
pub(super) struct Desk {
    pub(super) user: String,
    pub(super) place: Place,
    pub(super) settings: Settings,
    session: Arc<Mutex<Session>>,
    catalog: Arc<Catalog>,
    log: Option<Arc<Log>>,
    /// How long a statement may take, with waiting.
    time: Duration,
    workers: Handle,
}

/// What all desks have in common.
#[derive(Clone)]
pub(super) struct Office {
    pub(super) catalog: Arc<Catalog>,
    pub(super) log: Option<Arc<Log>>,
    pub(super) time: Duration,
    /// Threads of their own, so that a statement never keeps connections waiting.
    pub(super) workers: Handle,
}

impl Desk {
    pub(super) fn new(office: &Office, session: Session, place: Place, user: String) -> Self {
        let Office {
            catalog,
            log,
            time,
            workers,
        } = office.clone();
        let mut settings = Settings::default();
        settings.set("session_authorization", user.clone());
        remove_amplifiers(session.context());
        Self {
            user,
            place,
            settings,
            session: Arc::new(Mutex::new(session)),
            catalog,
            log,
            time,
            workers,
        }
    }

    /// Runs a query of the study's table, and writes it down.
    pub(super) async fn ask(
        &self,
        line: &mut Line,
        sql: &str,
        values: Vec<ScalarValue>,
    ) -> Result<Answer, PgWireError> {
        if let Some(log) = &self.log {
            let asked = log.asked(&self.user, self.place.process, sql, &values);
            asked.map_err(unwritten)?;
        }
        let (session, text) = (Arc::clone(&self.session), sql.to_owned());
        let running = async move {
            bounded(&text, &values)?;
            let mut session = session.lock().await;
            let planned = session.plan(&text, values).await?;
            let is_set = matches!(planned, Planned::Set(_));
            Ok((session.execute(planned).await?, is_set))
        };
        let ran = self.work(line, running).await;
        if let Some(log) = &self.log {
            let rows =
                |reply: &crate::Reply| reply.batches().iter().map(RecordBatch::num_rows).sum();
            let code = ran.as_ref().err().map(super::refusal::code_of);
            let ended = match (&ran, &code) {
                (Ok((reply, _)), _) => Ok(rows(reply)),
                (Err(_), code) => Err(code.as_deref().unwrap_or_default()),
            };
            let written = log.ended(&self.user, self.place.process, ended);
            written.map_err(unwritten)?;
        }
        Ok(match ran? {
            (_, true) => Answer::Done(String::from("SET")),
            (reply, false) => Answer::Rows {
                schema: Arc::clone(reply.schema()),
                batches: reply.batches().to_vec(),
                word: word(sql),
                is_model: reply.note().is_some(),
            },
        })
    }

    /// Runs a query of the catalog.
    pub(super) async fn look(
        &self,
        line: &mut Line,
        sql: &str,
        values: Vec<ScalarValue>,
    ) -> Result<Answer, PgWireError> {
        let (catalog, sql, user) = (Arc::clone(&self.catalog), sql.to_owned(), self.whoami());
        let looking = async move { catalog.run(&sql, values, &user).await };
        let (schema, batches) = self.work(line, looking).await?;
        Ok(Answer::Rows {
            schema,
            batches,
            word: "SELECT",
            is_model: false,
        })
    }

    /// Shows a setting of drivers.
    pub(super) fn show(&self, name: &str) -> Result<Answer, PgWireError> {
        let value: ArrayRef = Arc::new(StringArray::from(vec![self.settings.get(name)]));
        let schema = shown(name);
        let batch = RecordBatch::try_new(Arc::clone(&schema), vec![value]);
        let batch = batch.map_err(|error| SqlError::Running {
            reason: error.to_string(),
        })?;
        Ok(Answer::Rows {
            schema,
            batches: vec![batch],
            word: "SHOW",
            is_model: false,
        })
    }

    /// The parameters of a query.
    pub(super) async fn parameters(
        &self,
        line: &mut Line,
        sql: &str,
        is_catalog: bool,
    ) -> Result<Vec<Parameter>, PgWireError> {
        let sql = sql.to_owned();
        if is_catalog {
            let (catalog, user) = (Arc::clone(&self.catalog), self.whoami());
            let reading = async move { catalog.parameters(&sql, &user).await };
            return self.work(line, reading).await;
        }
        let session = Arc::clone(&self.session);
        let reading = async move { session.lock().await.parameters(&sql).await };
        self.work(line, reading).await
    }

    /// The columns of a query's answer; none where it has no rows.
    pub(super) async fn columns(
        &self,
        line: &mut Line,
        sql: &str,
        values: Vec<ScalarValue>,
        is_catalog: bool,
    ) -> Result<SchemaRef, PgWireError> {
        let sql = sql.to_owned();
        if is_catalog {
            let (catalog, user) = (Arc::clone(&self.catalog), self.whoami());
            let reading = async move { catalog.columns(&sql, values, &user).await };
            return self.work(line, reading).await;
        }
        let session = Arc::clone(&self.session);
        let planning = async move {
            Ok(match session.lock().await.plan(&sql, values).await? {
                Planned::Query { schema, .. } => schema,
                Planned::Show => shown("hedgerow.answer"),
                Planned::Set(_) => Arc::new(Schema::empty()),
            })
        };
        self.work(line, planning).await
    }

    /// Sets what plain totals answer.
    pub(super) async fn set_mode(&mut self, mode: crate::Mode) {
        self.session.lock().await.set_mode(mode);
    }

    /// Forgets what the client set.
    pub(super) async fn reset(&mut self) {
        self.settings.reset(None);
        self.session.lock().await.set_mode(crate::Mode::default());
    }

    fn whoami(&self) -> super::catalog::Asker {
        super::catalog::Asker {
            user: self.user.clone(),
            process: self.place.process,
            settings: self.settings.clone(),
        }
    }

    /// Does work when it is this client's turn, and ends it when time is over, when it is cancelled, and when
    /// the client has gone.
    async fn work<T: Send + 'static>(
        &self,
        line: &mut Line,
        work: impl Future<Output = Result<T, SqlError>> + Send + 'static,
    ) -> Result<T, PgWireError> {
        let [of_user, of_all] = self.place.turns.clone();
        let cancelled = self.place.cancelled.notified();
        let mut task = self.workers.spawn(async move {
            let own = of_user.acquire_owned().await;
            let turn = Arc::new((own, of_all.acquire_owned().await));
            TURN.scope(turn, work).await
        });
        let stopped = tokio::select! {
            done = &mut task => {
                return match done {
                    Ok(done) => Ok(done?),
                    Err(_) => Err(error(code::INTERNAL, "the statement met a defect of the server, which goes on")),
                };
            }
            () = cancelled => error(code::STOPPED, "the statement was cancelled by its user"),
            () = tokio::time::sleep(self.time) => {
                let seconds = self.time.as_secs();
                SqlError::TooSlow { seconds }.into()
            }
            () = line.gone() => {
                PgWireError::UserError(Box::new(fatal(code::STOPPED, "the client has gone")))
            }
        };
        task.abort();
        Err(stopped)
    }
}

fn unwritten(cause: std::io::Error) -> PgWireError {
    let message =
        format!("the statement cannot be written into the log, so it is not answered: {cause}");
    error(code::SYSTEM, &message)
}

/// The word of a statement's answer.
fn word(sql: &str) -> &'static str {
    let first = sql.split_whitespace().next().unwrap_or_default();
    match first.to_ascii_uppercase().as_str() {
        "EXPLAIN" => "EXPLAIN",
        "SHOW" => "SHOW",
        _ => "SELECT",
    }
}
