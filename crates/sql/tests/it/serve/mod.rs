//! The server for PostgreSQL's clients, on this machine: drivers and psql with TLS and passwords, and clients that
//! want more than they may.

mod answers;
mod catalog;
mod limits;
mod protocol;
mod psql;
mod raw;
mod refused;
mod users;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use hedgerow_node::sql::{SqlCertificate, SqlSettings, SqlUser};
use hedgerow_sql::{Limits, Log, ReleaseSource, Server};
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, IsCa, Issuer, KeyPair,
};
use tokio::runtime::Runtime;
use tokio_postgres::config::SslMode;
use tokio_postgres::{Client, Config, SimpleQueryMessage};
use tokio_postgres_rustls::MakeRustlsConnect;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::{ClientConfig, RootCertStore, crypto};

use crate::ward::Ward;

pub(crate) const PASSWORD: &str = "corréct horse";
/// Its verifier, as PostgreSQL would make it: of fewer iterations than ours, for tests that connect often.
pub(crate) const VERIFIER: &str = "SCRAM-SHA-256$4096:MDEyMzQ1Njc4OWFiY2RlZg==$kezBmF3AJJ7Z9j+RLY0ryBCzTjqqvIqavimcePs1Nxs=:psJn+gVnF1ykW8cW0kQjsLiwU0I/mgioFjBjs3PQaoM=";

/// A ward that is served.
struct Served {
    ward: Ward,
    port: u16,
    /// The authority that vouches for the server.
    authority: PathBuf,
    runtime: Runtime,
    folder: tempfile::TempDir,
}

/// How a ward is served.
struct How {
    limits: Limits,
    is_plaintext_on_loopback: bool,
}

impl Default for How {
    fn default() -> Self {
        Self {
            limits: Limits {
                time: Duration::from_secs(60),
                ..Limits::default()
            },
            is_plaintext_on_loopback: false,
        }
    }
}

impl Served {
    fn new(how: How) -> Self {
        let ward = Ward::new(5, 120, "range");
        let folder = tempfile::tempdir().unwrap();
        let [authority, certificate, key] =
            ["ca.crt", "sql.crt", "sql.pem"].map(|name| folder.path().join(name));
        let mut root = CertificateParams::new(Vec::new()).unwrap();
        let name = |of: &str| {
            let mut name = DistinguishedName::new();
            name.push(DnType::CommonName, of);
            name
        };
        root.distinguished_name = name("Test authority");
        root.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let root_key = KeyPair::generate().unwrap();
        let made = root.self_signed(&root_key).unwrap();
        std::fs::write(&authority, made.pem()).unwrap();
        let issuer = Issuer::new(root, root_key);
        let own_key = KeyPair::generate().unwrap();
        let mut own = CertificateParams::new(vec![String::from("localhost")]).unwrap();
        own.distinguished_name = name("localhost");
        let own = own.signed_by(&own_key, &issuer).unwrap();
        std::fs::write(&certificate, own.pem()).unwrap();
        std::fs::write(&key, own_key.serialize_pem()).unwrap();
        std::fs::set_permissions(&key, std::os::unix::fs::PermissionsExt::from_mode(0o600))
            .unwrap();
        let user = |name: &str| SqlUser {
            name: name.into(),
            verifier: VERIFIER.into(),
        };
        let settings = SqlSettings {
            listen: "127.0.0.1:0".into(),
            tls: Some(SqlCertificate { certificate, key }),
            is_plaintext_on_loopback: how.is_plaintext_on_loopback,
            users: vec![user("anna"), user("bert")],
        };
        let runtime = Runtime::new().unwrap();
        let source = ReleaseSource::open(&ward.release).unwrap();
        let log = Log::open(folder.path()).unwrap();
        let server = Server::bind(&settings, source, how.limits, Some(log));
        let server = runtime.block_on(server).unwrap();
        let port = server.address().port();
        runtime.spawn(server.run());
        Self {
            ward,
            port,
            authority,
            runtime,
            folder,
        }
    }

    fn config(&self, user: &str, password: &str) -> Config {
        let mut config = Config::new();
        config.host("localhost").port(self.port).dbname("ward");
        config
            .user(user)
            .password(password)
            .ssl_mode(SslMode::Require);
        config
    }

    fn tls(&self) -> MakeRustlsConnect {
        let mut roots = RootCertStore::empty();
        roots
            .add(CertificateDer::from_pem_file(&self.authority).unwrap())
            .unwrap();
        let provider = Arc::new(crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider);
        let config = config.with_safe_default_protocol_versions().unwrap();
        MakeRustlsConnect::new(config.with_root_certificates(roots).with_no_client_auth())
    }

    fn connect(&self) -> Client {
        self.try_connect(&self.config("anna", PASSWORD)).unwrap()
    }

    fn try_connect(&self, config: &Config) -> Result<Client, tokio_postgres::Error> {
        let (client, connection) = self.runtime.block_on(config.connect(self.tls()))?;
        self.runtime.spawn(connection);
        Ok(client)
    }

    /// The first cell of an answer, as text.
    fn first(&self, client: &Client, sql: &str) -> Result<String, tokio_postgres::Error> {
        let messages = self.runtime.block_on(client.simple_query(sql))?;
        let row = messages.iter().find_map(|message| match message {
            SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
            _ => None,
        });
        Ok(row.unwrap_or_default())
    }

    /// The code of the refusal of a statement.
    fn code(&self, client: &Client, sql: &str) -> String {
        match self.first(client, sql) {
            Ok(answer) => format!("it is answered: {answer}"),
            Err(error) => code(&error),
        }
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("sql.log")).unwrap()
    }
}

fn code(error: &tokio_postgres::Error) -> String {
    match error.code() {
        Some(code) => code.code().to_owned(),
        None => format!("no code: {error}"),
    }
}

/// Says that a test was skipped, and for want of what.
fn skipped(missing: &str, test: &str) {
    let Some(path) = std::env::var_os("HEDGEROW_SKIPPED") else {
        return;
    };
    let file = std::fs::OpenOptions::new()
        .append(true)
        .create(true)
        .open(path);
    std::io::Write::write_all(
        &mut file.unwrap(),
        format!("{missing}\t{test}\n").as_bytes(),
    )
    .unwrap();
}
