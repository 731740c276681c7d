//! A table served to PostgreSQL's clients, read only: psql, drivers, and tools for reports.
//!
//! TLS is demanded; clients on this machine may be exempt by a key of `site.toml`. Users prove their passwords by
//! SCRAM-SHA-256 ([`scram`]); before that no statement is read. Each client has a session of its own. What may be
//! asked is what [`Session`] answers, and a few statements that drivers send and that do nothing ([`control`]).
//! Clients are hostile until shown otherwise: messages, connections, statements that are kept, rows, time and
//! memory have limits.

mod connection;
mod control;
mod frames;
mod handler;
mod parameters;
mod refusal;
mod scram;

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use bytes::BytesMut;
use hedgerow_node::sql::{SqlCertificate, SqlSettings};
use pgwire::api::{ConnectionManager, RandomPidSecretKeyGenerator};
use pgwire::messages::PgWireBackendMessage;
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{self, ServerConfig};

pub use scram::{NoRandomness, Verifier};

use crate::error::SqlError;
use crate::session::{Limits, Session};
use crate::source::Source;
use connection::Shared;
use handler::Asking;
use refusal::{code, fatal};
use scram::Users;

/// The most clients at once; further ones are refused.
const MOST_CLIENTS: usize = 64;
/// The most statements that run at once; further ones wait.
const MOST_RUNNING: usize = 4;

/// Why a server does not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// No users.
    #[error(
        "nobody may ask: [sql] has no users\nhint: hedgerow sql user NAME prints a [[sql.user]] for site.toml"
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
    #[error("{}: {reason}\nhint: sql.certificate and sql.key are PEM files that belong together", file.display())]
    Unusable {
        /// The file.
        file: PathBuf,
        /// Why.
        reason: String,
    },
    /// A key that others may read.
    #[error("{0}: others than its owner may read this key\nhint: chmod 600 {0}", file.display())]
    Readable {
        /// The file.
        file: PathBuf,
    },
    /// An address that cannot be listened at.
    #[error("sql.listen is {address}, where this machine cannot listen: {reason}")]
    NoAddress {
        /// The address.
        address: String,
        /// Why.
        reason: String,
    },
}

/// A server that listens.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    tls: Option<Arc<ServerConfig>>,
    shared: Arc<Shared>,
    source: Arc<dyn Source>,
    limits: Limits,
}

impl Server {
    /// Listens as a site's settings say.
    pub async fn bind(
        settings: &SqlSettings,
        source: Arc<dyn Source>,
        limits: Limits,
    ) -> Result<Self, ServeError> {
        if settings.users.is_empty() {
            return Err(ServeError::NoUsers);
        }
        let read = |user: &hedgerow_node::sql::SqlUser| {
            let name = user.name.clone();
            match Verifier::read(&user.verifier) {
                Some(verifier) => Ok((name, verifier)),
                None => Err(ServeError::NoVerifier { name }),
            }
        };
        let users: Vec<_> = settings.users.iter().map(read).collect::<Result<_, _>>()?;
        let tls = settings.tls.as_ref().map(tls).transpose()?;
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
        Ok(Self {
            listener,
            address,
            tls,
            shared: Arc::new(Shared {
                users: Users::new(users),
                is_plaintext_on_loopback: settings.is_plaintext_on_loopback,
                running: Arc::new(ConnectionManager::new()),
                keys: RandomPidSecretKeyGenerator::default(),
            }),
            source,
            limits,
        })
    }

    /// Where the server listens.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves clients as long as the future is awaited.
    pub async fn run(self) {
        let clients = Arc::new(Semaphore::new(MOST_CLIENTS));
        let turns = Arc::new(Semaphore::new(MOST_RUNNING));
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
            let Ok(place) = Arc::clone(&clients).try_acquire_owned() else {
                served.spawn(turn_away(stream));
                continue;
            };
            let tls = self.tls.clone().map(TlsAcceptor::from);
            let (shared, turns) = (Arc::clone(&self.shared), Arc::clone(&turns));
            let session = Session::new(Arc::clone(&self.source), self.limits);
            let limits = self.limits;
            served.spawn(async move {
                let _place = place;
                let Ok(session) = session else { return };
                let asking = Asking::new(session, turns, limits.time);
                // A connection that breaks concerns its client alone.
                let _ = connection::serve(stream, tls, &shared, asking).await;
            });
        }
    }
}

/// Says that there are too many clients.
async fn turn_away(mut stream: TcpStream) {
    let why = fatal(code::CONNECTIONS, "too many clients are connected");
    let mut bytes = BytesMut::new();
    if PgWireBackendMessage::ErrorResponse(why.into())
        .encode(&mut bytes)
        .is_ok()
    {
        // The client may have gone.
        let _ = tokio::time::timeout(Duration::from_secs(1), stream.write_all(&bytes)).await;
    }
}

/// The certificate and its key, for TLS 1.3.
fn tls(files: &SqlCertificate) -> Result<Arc<ServerConfig>, ServeError> {
    let unusable = |file: &Path| {
        let file = file.to_owned();
        move |reason: String| ServeError::Unusable { file, reason }
    };
    let chain = CertificateDer::pem_file_iter(&files.certificate);
    let chain = chain.and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let chain = chain.map_err(|error| unusable(&files.certificate)(error.to_string()))?;
    if chain.is_empty() {
        return Err(unusable(&files.certificate)(String::from(
            "there is no certificate in it",
        )));
    }
    #[cfg(unix)]
    {
        let found = std::fs::metadata(&files.key);
        let found = found.map_err(|error| unusable(&files.key)(error.to_string()))?;
        if std::os::unix::fs::PermissionsExt::mode(&found.permissions()) & 0o077 != 0 {
            let file = files.key.clone();
            return Err(ServeError::Readable { file });
        }
    }
    let key = PrivateKeyDer::from_pem_file(&files.key);
    let key = key.map_err(|error| unusable(&files.key)(error.to_string()))?;
    let wrong = |error: rustls::Error| unusable(&files.certificate)(error.to_string());
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(wrong)?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .map_err(wrong)?;
    Ok(Arc::new(config))
}

impl From<ServeError> for SqlError {
    fn from(error: ServeError) -> Self {
        Self::Serving(Box::new(error))
    }
}
