//! A table served to PostgreSQL's clients, read only: psql, drivers, and tools for reports.
//!
//! TLS is demanded; clients on this machine may be exempt by a key of `site.toml`. Users prove their passwords by
//! SCRAM-SHA-256 ([`scram`]); before that no statement is read ([`greeting`]). Each client has a session of its
//! own ([`desk`]). What may be asked is what [`Session`] answers, a small catalog of PostgreSQL's ([`catalog`]),
//! and a few statements that drivers send and that do nothing ([`control`]). Clients are hostile until shown
//! otherwise: messages, connections, statements that are kept, rows, time and memory have limits.
//!
//! Of `pgwire` only types and the writing of messages are used. Its own loop goes on to statements after an
//! exchange of passwords that failed, and carries what came in plain text into TLS.

mod answer;
mod catalog;
mod client;
mod control;
mod desk;
mod greeting;
mod kind;
mod line;
mod log;
mod message;
mod parameters;
mod refusal;
mod registry;
mod scram;
mod strangers;
mod texts;
mod tls;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use hedgerow_node::sql::{SqlSettings, SqlUser};
use pgwire::messages::PgWireBackendMessage;
use pgwire::messages::startup::{Authentication, BackendKeyData, ParameterStatus, SecretKey};
use ring::rand::{SecureRandom as _, SystemRandom};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

pub use log::Log;
pub use scram::{NoRandomness, Verifier};
pub use tls::TlsError;

use crate::error::SqlError;
use crate::session::{Limits, Session};
use crate::source::Source;
use catalog::Catalog;
use client::Client;
use control::Control;
use desk::{Desk, Office};
use greeting::{HANDSHAKE, Shared, Welcomed, refuse, welcome};
use line::LineError;
use pgwire::error::ErrorInfo;
use refusal::{code, fatal};
use registry::{NoPlace, Registry};
use scram::Users;
use strangers::Strangers;
use tls::Tls;

/// Why a server does not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// No users.
    #[error(
        "nobody may ask: [sql] has no users\nhint: hedgerow sql user NAME --site site.toml adds one"
    )]
    NoUsers,
    /// A verifier that is none.
    #[error(
        "the verifier of the user `{name}` is none\nhint: hedgerow sql user {name} prints one, SCRAM-SHA-256$…"
    )]
    NoVerifier {
        /// The user.
        name: String,
    },
    /// An address of other machines without a certificate.
    #[error(
        "sql.listen is {address}, where other machines can connect, and there is no certificate\nhint: certificate = \"sql.crt\" and key = \"sql.pem\" in [sql], or listen = \"127.0.0.1:5433\""
    )]
    NoCertificate {
        /// The address.
        address: SocketAddr,
    },
    /// A certificate or key that cannot be used.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// An address that cannot be listened at.
    #[error("sql.listen is {address}, where this machine cannot listen: {reason}")]
    NoAddress {
        /// The address.
        address: String,
        /// Why.
        reason: String,
    },
    /// A machine that gives no random bytes.
    #[error(transparent)]
    NoRandomness(#[from] NoRandomness),
    /// Threads that cannot be started.
    #[error("the threads that answer cannot be started: {0}")]
    NoThreads(io::Error),
    /// A catalog that cannot be made.
    #[error("the table cannot be described: {0}")]
    NoCatalog(Box<SqlError>),
}

/// A server that listens.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    shared: Arc<Shared>,
    source: Arc<dyn Source>,
    limits: Limits,
    log: Option<Arc<Log>>,
    catalog: Arc<Catalog>,
}

impl Server {
    /// Listens as a site's settings say, and writes what is asked into the log.
    pub async fn bind(
        settings: &SqlSettings,
        source: Arc<dyn Source>,
        limits: Limits,
        log: Option<Log>,
    ) -> Result<Self, ServeError> {
        if settings.users.is_empty() {
            return Err(ServeError::NoUsers);
        }
        let read = |user: &SqlUser| {
            let name = user.name.clone();
            match Verifier::read(&user.verifier) {
                Some(verifier) => Ok((name, verifier)),
                None => Err(ServeError::NoVerifier { name }),
            }
        };
        let users: Vec<_> = settings.users.iter().map(read).collect::<Result<_, _>>()?;
        let tls = settings.tls.as_ref().map(Tls::open).transpose()?;
        let users = match &tls {
            Some(tls) => Users::new(users, tls.secret.as_ref()),
            None => {
                let mut secret = [0; 32];
                let filled = SystemRandom::new().fill(&mut secret);
                filled.map_err(|_| NoRandomness)?;
                Users::new(users, &secret)
            }
        };
        let no_address = |error: io::Error| ServeError::NoAddress {
            address: settings.listen.clone(),
            reason: error.to_string(),
        };
        let listener = TcpListener::bind(&settings.listen)
            .await
            .map_err(no_address)?;
        let address = listener.local_addr().map_err(no_address)?;
        if tls.is_none() && !address.ip().is_loopback() {
            return Err(ServeError::NoCertificate { address });
        }
        let catalog = Catalog::new(&source, limits);
        let catalog = catalog.map_err(|error| ServeError::NoCatalog(Box::new(error)))?;
        Ok(Self {
            listener,
            address,
            shared: Arc::new(Shared {
                users,
                tls,
                is_plaintext_on_loopback: settings.is_plaintext_on_loopback,
                registry: Registry::new(),
            }),
            source,
            limits,
            log: log.map(Arc::new),
            catalog: Arc::new(catalog),
        })
    }

    /// Where the server listens.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves clients as long as the future is awaited.
    pub async fn run(self) -> Result<(), ServeError> {
        let workers = Workers::new().map_err(ServeError::NoThreads)?;
        let office = Office {
            catalog: self.catalog,
            log: self.log,
            time: self.limits.time,
            workers: workers.handle(),
        };
        let mut strangers = Strangers::default();
        let mut served = tokio::task::JoinSet::new();
        loop {
            let stream = tokio::select! {
                accepted = self.listener.accept() => match accepted {
                    Ok((stream, _)) => stream,
                    // Out of files, perhaps: they come back when clients go.
                    Err(_) => {
                        tokio::time::sleep(Duration::from_millis(100)).await;
                        continue;
                    }
                },
                Some(_) = served.join_next() => continue,
            };
            let stranger = strangers.admit();
            let (shared, office) = (Arc::clone(&self.shared), office.clone());
            let (source, limits) = (Arc::clone(&self.source), self.limits);
            served.spawn(async move {
                let address = stream.peer_addr();
                let welcomed = async {
                    stream.set_nodelay(true)?;
                    welcome(stream, &shared).await
                };
                let welcomed = tokio::select! {
                    welcomed = tokio::time::timeout(HANDSHAKE, welcomed) => welcomed,
                    // Somebody new needs the place of who has been here longest.
                    () = stranger.pushed_out() => return,
                };
                // What becomes of a connection concerns its client alone.
                if let (Ok(Ok(Some(welcomed))), Ok(address)) = (welcomed, address) {
                    let _ = admit(welcomed, address, &shared, &office, source, limits).await;
                }
            });
        }
    }
}

/// Gives a client that is known a place and a session, and serves it.
async fn admit(
    welcomed: Welcomed,
    address: SocketAddr,
    shared: &Shared,
    office: &Office,
    source: Arc<dyn Source>,
    limits: Limits,
) -> Result<(), LineError> {
    let Welcomed {
        mut line,
        user,
        parameters,
    } = welcomed;
    let place = match shared.registry.admit(&user) {
        Ok(place) => place,
        Err(why) => return Ok(refuse(&mut line, no_place(why)).await?),
    };
    let process = place.process;
    let name = source.name().to_owned();
    let made = Session::new(source, limits);
    let logged = match &office.log {
        Some(log) => log.connected(&user, process, &address.to_string()),
        None => Ok(()),
    };
    let (Ok(session), Ok(())) = (made, logged) else {
        let why = fatal(code::SYSTEM, "the server cannot serve further clients");
        return Ok(refuse(&mut line, why).await?);
    };
    let mut desk = Desk::new(office, session, place, user);
    let introduced = introduce(&mut desk, &parameters, &name).await;
    if let Err(why) = introduced {
        return Ok(refuse(&mut line, *why).await?);
    }
    let done = PgWireBackendMessage::Authentication(Authentication::Ok);
    line.put(&done)?;
    for (name, value) in desk.settings.told() {
        let status = ParameterStatus::new(name.to_owned(), value);
        line.put(&PgWireBackendMessage::ParameterStatus(status))?;
    }
    let secret = SecretKey::I32(i32::from_be_bytes(desk.place.secret));
    let key = BackendKeyData::new(process.cast_signed(), secret);
    line.put(&PgWireBackendMessage::BackendKeyData(key))?;
    Client::new(line, desk).serve().await
}

/// Takes what a client said about itself: the database, and settings.
async fn introduce(
    desk: &mut Desk,
    parameters: &[(String, String)],
    database: &str,
) -> Result<(), Box<ErrorInfo>> {
    let wrong = |message: String| Box::new(fatal(code::VALUE, &message));
    let mut settings: Vec<(String, String)> = Vec::new();
    for (name, value) in parameters {
        match name.as_str() {
            "user" => {}
            "database" if value == database => {}
            "database" => {
                let message = format!(
                    "there is no database \"{value}\"\nhint: the one database is named like the study: dbname={database}"
                );
                return Err(Box::new(fatal(code::NO_DATABASE, &message)));
            }
            "replication" if matches!(value.as_str(), "false" | "off" | "no" | "0") => {}
            "replication" => {
                let message = "there is nothing to replicate";
                return Err(Box::new(fatal(code::NOT_SUPPORTED, message)));
            }
            "options" => settings.extend(options(value).ok_or_else(|| {
                wrong(format!(
                    "the options `{value}` are not understood\nhint: options=-chedgerow.answer=bounds"
                ))
            })?),
            name if name.starts_with("_pq_.") => {}
            _ => settings.push((name.clone(), value.clone())),
        }
    }
    if !parameters.iter().any(|(name, _)| name == "database") && desk.user != database {
        let message = format!("the database is missing\nhint: dbname={database}");
        return Err(Box::new(fatal(code::NO_DATABASE, &message)));
    }
    for (name, value) in settings {
        if name.eq_ignore_ascii_case("hedgerow.answer") {
            let mode = value.parse().map_err(wrong)?;
            desk.set_mode(mode).await;
            continue;
        }
        match control::setting(&name, &value) {
            Some(Control::Set(name, value)) => desk.settings.set(name, value),
            _ => {
                return Err(wrong(format!(
                    "the setting {name} = `{value}` is not understood"
                )));
            }
        }
    }
    Ok(())
}

/// Settings as PostgreSQL's options write them: `-c name=value`, `-cname=value`, `--name=value`.
fn options(text: &str) -> Option<Vec<(String, String)>> {
    let mut words = text.split_whitespace();
    let mut all = Vec::new();
    while let Some(word) = words.next() {
        let pair = match (word, word.strip_prefix("-c"), word.strip_prefix("--")) {
            ("-c", ..) => words.next()?,
            (_, Some(pair), _) | (_, _, Some(pair)) => pair,
            _ => return None,
        };
        let (name, value) = pair.split_once('=')?;
        all.push((name.replace('-', "_"), value.to_owned()));
    }
    Some(all)
}

fn no_place(why: NoPlace) -> ErrorInfo {
    match why {
        NoPlace::Full => fatal(code::CONNECTIONS, "too many clients are connected"),
        NoPlace::FullForUser => fatal(
            code::CONNECTIONS,
            "too many clients of this user are connected\nhint: close some, or use a pool",
        ),
        NoPlace::NoRandomness => fatal(code::SYSTEM, "the machine gives no random bytes"),
    }
}

/// Threads for statements, which end without being waited for.
struct Workers(Option<Runtime>);

impl Workers {
    fn new() -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(registry::MOST_RUNNING)
            .thread_name("hedgerow-sql")
            .enable_all()
            .build()?;
        Ok(Self(Some(runtime)))
    }

    fn handle(&self) -> tokio::runtime::Handle {
        match &self.0 {
            Some(runtime) => runtime.handle().clone(),
            None => tokio::runtime::Handle::current(),
        }
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

impl From<ServeError> for SqlError {
    fn from(error: ServeError) -> Self {
        Self::Serving(Box::new(error))
    }
}
