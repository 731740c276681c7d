//! The server for PostgreSQL's clients, on this machine: drivers and psql with TLS and passwords, and clients that
//! want more than they may.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hedgerow_node::sql::{SqlCertificate, SqlSettings, SqlUser};
use hedgerow_sql::{Limits, Mode, ReleaseSource, Server, Verifier};
use tokio::runtime::Runtime;
use tokio_postgres::config::SslMode;
use tokio_postgres::{Client, Config, NoTls, SimpleQueryMessage};
use tokio_postgres_rustls::MakeRustlsConnect;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::{ClientConfig, RootCertStore, crypto};

use crate::ward::Ward;

const PASSWORD: &str = "corréct horse";

/// A ward that is served.
struct Served {
    ward: Ward,
    port: u16,
    certificate: PathBuf,
    runtime: Runtime,
    _folder: tempfile::TempDir,
}

impl Served {
    fn new(time: Duration, is_plaintext_on_loopback: bool) -> Self {
        let ward = Ward::new(5, 120, "class");
        let folder = tempfile::tempdir().unwrap();
        let made = rcgen::generate_simple_self_signed(vec![String::from("localhost")]).unwrap();
        let [certificate, key] = ["sql.crt", "sql.pem"].map(|name| folder.path().join(name));
        std::fs::write(&certificate, made.cert.pem()).unwrap();
        std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
        std::fs::set_permissions(&key, std::os::unix::fs::PermissionsExt::from_mode(0o600))
            .unwrap();
        let user = |name: &str| SqlUser {
            name: name.into(),
            verifier: Verifier::of(PASSWORD).unwrap().to_string(),
        };
        let settings = SqlSettings {
            listen: "127.0.0.1:0".into(),
            tls: Some(SqlCertificate {
                certificate: certificate.clone(),
                key,
            }),
            is_plaintext_on_loopback,
            users: vec![user("anna"), user("bert")],
        };
        let runtime = Runtime::new().unwrap();
        let source = ReleaseSource::open(&ward.release).unwrap();
        let limits = Limits {
            time,
            ..Limits::default()
        };
        let server = runtime.block_on(Server::bind(&settings, source, limits));
        let server = server.unwrap();
        let port = server.address().port();
        runtime.spawn(server.run());
        Self {
            ward,
            port,
            certificate,
            runtime,
            _folder: folder,
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
            .add(CertificateDer::from_pem_file(&self.certificate).unwrap())
            .unwrap();
        let provider = Arc::new(crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider);
        let config = config.with_safe_default_protocol_versions().unwrap();
        MakeRustlsConnect::new(config.with_root_certificates(roots).with_no_client_auth())
    }

    fn connect(&self) -> Client {
        self.try_connect("anna", PASSWORD).unwrap()
    }

    fn try_connect(&self, user: &str, password: &str) -> Result<Client, tokio_postgres::Error> {
        let connecting = self.config(user, password);
        let (client, connection) = self.runtime.block_on(connecting.connect(self.tls()))?;
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
}

fn code(error: &tokio_postgres::Error) -> String {
    match error.code() {
        Some(code) => code.code().to_owned(),
        None => format!("no code: {error}"),
    }
}

#[test]
fn a_driver_gets_the_answers_of_a_session() {
    let served = Served::new(Duration::from_secs(60), false);
    let client = served.connect();
    let run = |future| served.runtime.block_on(future);
    let expected = &served
        .ward
        .ask(Mode::Estimate, "SELECT count(*) FROM ward WHERE age < 30")[0][0];
    let expected = expected.as_f64().unwrap();
    let plain = served
        .first(&client, "SELECT count(*) FROM ward WHERE age < 30")
        .unwrap();
    assert!(
        (plain.parse::<f64>().unwrap() - expected).abs() < 1e-9,
        "{plain} {expected}"
    );

    // Prepared, with the type that the server says, and again with another value.
    let sql = "SELECT count(*) FROM ward WHERE age < $1";
    let statement = run(client.prepare(sql)).unwrap();
    assert_eq!(statement.params(), [tokio_postgres::types::Type::INT8]);
    let prepared = served
        .runtime
        .block_on(client.query_one(&statement, &[&30_i64]))
        .unwrap();
    assert!((prepared.get::<_, f64>(0) - expected).abs() < 1e-9);
    // All values satisfy this, so that the session would answer with a whole number.
    let all = served
        .runtime
        .block_on(client.query_one(&statement, &[&120_i64]))
        .unwrap();
    assert!(all.get::<_, f64>(0) > expected);
    let disease = &served.ward.diseases[0][0];
    let sql = "SELECT disease, \"Days\", age, age_low, seen_low FROM ward WHERE disease = $1";
    let rows = served
        .runtime
        .block_on(client.query(sql, &[disease]))
        .unwrap();
    let truth = served
        .ward
        .raw
        .iter()
        .filter(|raw| raw.disease == *disease)
        .count();
    assert_eq!(rows.len(), truth);
    assert!(rows.iter().all(|row| row.get::<_, &str>(0) == disease));
    assert!(
        rows.iter()
            .all(|row| (-5..=40).contains(&row.get::<_, i64>(1)))
    );

    // The session's setting is the client's own.
    let other = served.try_connect("bert", PASSWORD).unwrap();
    served
        .first(&client, "SET hedgerow.answer = 'certain'")
        .unwrap();
    assert_eq!(
        served.first(&client, "SHOW hedgerow.answer").unwrap(),
        "certain"
    );
    assert_eq!(
        served.first(&other, "SHOW hedgerow.answer").unwrap(),
        "estimate"
    );
    let certain = served
        .first(&client, "SELECT count(*) FROM ward WHERE age < 30")
        .unwrap();
    let expected = &served
        .ward
        .ask(Mode::Certain, "SELECT count(*) FROM ward WHERE age < 30")[0][0];
    assert_eq!(certain, expected.to_string());

    // What drivers send.
    for (sql, answer) in [
        ("BEGIN", ""),
        ("SELECT count(*) FROM ward", "120"),
        ("COMMIT", ""),
        ("SET extra_float_digits = 3", ""),
        ("SHOW extra_float_digits", "3"),
        ("SHOW transaction isolation level", "repeatable read"),
        ("SET client_encoding TO 'UTF8'", ""),
        (
            "WITH t AS (SELECT sex, n FROM (SELECT 'x' AS sex, count(*) AS n FROM ward) u) SELECT n FROM t",
            "120",
        ),
    ] {
        assert_eq!(served.first(&client, sql).unwrap(), answer, "{sql}");
    }
    assert!(
        served
            .first(&client, "EXPLAIN SELECT count(*) FROM ward")
            .is_ok()
    );
}

#[test]
fn what_may_not_be_asked_is_refused_and_the_connection_goes_on() {
    let served = Served::new(Duration::from_secs(60), false);
    let client = served.connect();
    let file = served.ward.release.display().to_string();
    for (sql, expected) in [
        ("COPY ward TO STDOUT".to_owned(), "0A000"),
        ("COPY ward FROM STDIN".to_owned(), "0A000"),
        (format!("COPY ward TO '{file}/x.csv'"), "0A000"),
        ("DROP TABLE ward".to_owned(), "0A000"),
        ("DELETE FROM ward".to_owned(), "0A000"),
        ("INSERT INTO ward VALUES (1)".to_owned(), "0A000"),
        ("CREATE TABLE t AS SELECT * FROM ward".to_owned(), "0A000"),
        (
            format!("CREATE EXTERNAL TABLE t STORED AS CSV LOCATION '{file}'"),
            "0A000",
        ),
        (
            "SET datafusion.execution.batch_size = 1".to_owned(),
            "0A000",
        ),
        ("SET ROLE postgres".to_owned(), "0A000"),
        ("SELECT 1; SELECT 2".to_owned(), "0A000"),
        ("BEGIN; DROP TABLE ward".to_owned(), "0A000"),
        (
            format!("SELECT * FROM read_csv('{file}/release.csv')"),
            "42000",
        ),
        (format!("SELECT * FROM '{file}/release.csv'"), "42P01"),
        (
            "SELECT * FROM 'https://example.org/x.parquet'".to_owned(),
            "42P01",
        ),
        ("SELECT pg_read_file('/etc/passwd')".to_owned(), "42000"),
        ("SELECT * FROM pg_catalog.pg_authid".to_owned(), "42000"),
        ("SELECT patient FROM ward".to_owned(), "0A000"),
        ("SELECT nobody FROM ward".to_owned(), "42703"),
        ("SELEC 1".to_owned(), "42601"),
    ] {
        let found = served.code(&client, &sql);
        let is_refused = found == expected || (expected == "42P01" && found.starts_with("42"));
        assert!(is_refused, "{sql}: {found}");
        // Prepared statements are refused in the same way.
        let prepared = served.runtime.block_on(client.prepare(&sql));
        assert!(prepared.is_err(), "{sql}");
    }
    assert_eq!(
        served.first(&client, "SELECT count(*) FROM ward").unwrap(),
        "120"
    );
}

#[test]
fn clients_without_tls_or_the_password_are_refused() {
    let served = Served::new(Duration::from_secs(60), false);
    let mut plain = served.config("anna", PASSWORD);
    plain.ssl_mode(SslMode::Disable);
    let refused = served.runtime.block_on(plain.connect(NoTls)).err().unwrap();
    assert_eq!(code(&refused), "28000");
    assert!(
        refused
            .as_db_error()
            .unwrap()
            .message()
            .contains("TLS only")
    );

    // An unknown user is told the same as a known one, after the same exchange.
    let said = |user: &str, password: &str| {
        let refused = served.try_connect(user, password).err().unwrap();
        assert_eq!(code(&refused), "28P01");
        let message = refused.as_db_error().unwrap().message().to_owned();
        message.replace(user, "NAME")
    };
    assert_eq!(said("anna", "wrong"), said("nobody", PASSWORD));
    assert_eq!(said("anna", ""), said("", "x"));
    assert!(served.try_connect("anna", PASSWORD).is_ok());

    // What comes in plain text behind a request for TLS is never read as a message.
    let mut raw = TcpStream::connect(("127.0.0.1", served.port)).unwrap();
    raw.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let mut bytes = vec![0, 0, 0, 8, 4, 210, 22, 47];
    bytes.extend(startup("anna"));
    raw.write_all(&bytes).unwrap();
    let mut answer = Vec::new();
    // The server may reset the connection.
    let _ = raw.read_to_end(&mut answer);
    assert_eq!(answer.first(), Some(&b'S'));
    assert_ne!(answer.get(1), Some(&b'R'), "{answer:?}");
}

#[test]
fn without_a_password_no_statement_is_read() {
    let served = Served::new(Duration::from_secs(60), true);
    // Loopback is exempt here.
    let mut plain = served.config("anna", PASSWORD);
    plain.ssl_mode(SslMode::Disable);
    let (client, connection) = served.runtime.block_on(plain.connect(NoTls)).unwrap();
    served.runtime.spawn(connection);
    assert_eq!(
        served.first(&client, "SELECT count(*) FROM ward").unwrap(),
        "120"
    );

    let query = message(b'Q', b"SELECT count(*) FROM ward\0");
    let proof = message(b'p', b"c=biws,r=x,p=AAAA");
    let begun = message(b'p', b"SCRAM-SHA-256\0\0\0\0\x09n,,n=,r=x");
    let other = message(b'p', b"SCRAM-SHA-256-PLUS\0\0\0\0\x09n,,n=,r=x");
    let sync = message(b'S', b"");
    for sent in [
        vec![&query],
        vec![&begun, &query],
        vec![&begun, &proof, &query],
        vec![&begun, &begun, &query],
        vec![&other, &query],
        vec![&sync, &query],
        vec![&proof, &sync, &query],
    ] {
        let mut raw = TcpStream::connect(("127.0.0.1", served.port)).unwrap();
        raw.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        raw.write_all(&startup("anna")).unwrap();
        for part in &sent {
            // The server may have hung up.
            let _ = raw.write_all(part);
        }
        let mut answer = Vec::new();
        let _ = raw.read_to_end(&mut answer);
        // The types of the messages: the demand for SASL, perhaps its continuation, and the refusal.
        let mut types = Vec::new();
        let mut rest = answer.as_slice();
        while let [of, a, b, c, d, ..] = rest {
            types.push(char::from(*of));
            let length = u32::from_be_bytes([*a, *b, *c, *d]) as usize;
            rest = rest.get(1 + length..).unwrap_or_default();
        }
        let types: String = types.into_iter().collect();
        assert!(
            ["R", "RE", "RR", "RRE"].contains(&types.as_str()),
            "{sent:?}: {types}"
        );
    }
}

/// A client's first message.
fn startup(user: &str) -> Vec<u8> {
    let mut body = vec![0, 3, 0, 0];
    body.extend(format!("user\0{user}\0\0").as_bytes());
    let mut bytes = (body.len() as u32 + 4).to_be_bytes().to_vec();
    bytes.extend(body);
    bytes
}

fn message(of: u8, body: &[u8]) -> Vec<u8> {
    let mut bytes = vec![of];
    bytes.extend((body.len() as u32 + 4).to_be_bytes());
    bytes.extend(body);
    bytes
}

#[test]
fn time_messages_and_clients_have_limits() {
    let served = Served::new(Duration::from_secs(2), false);
    let client = served.connect();
    let long = "WITH t AS (SELECT zip, age, count(*) AS n FROM ward GROUP BY zip, age) SELECT sum(a.n * b.n * c.n * d.n * e.n * f.n) FROM t a, t b, t c, t d, t e, t f";
    let began = Instant::now();
    assert_eq!(served.code(&client, long), "57014");
    assert!(
        began.elapsed() < Duration::from_secs(30),
        "{:?}",
        began.elapsed()
    );
    assert_eq!(
        served.first(&client, "SELECT count(*) FROM ward").unwrap(),
        "120"
    );

    let cancel = client.cancel_token();
    let tls = served.tls();
    served.runtime.spawn(async move {
        tokio::time::sleep(Duration::from_millis(300)).await;
        cancel.cancel_query(tls).await
    });
    assert_eq!(served.code(&client, long), "57014");

    // A statement of two megabytes ends the connection before it is read.
    let huge = format!("SELECT '{}'", "x".repeat(2 << 20));
    assert!(served.first(&client, &huge).is_err());
    assert!(
        served
            .runtime
            .block_on(client.simple_query("SELECT 1"))
            .is_err()
    );

    let client = served.connect();
    let idle: Vec<TcpStream> = (0..63)
        .map(|_| TcpStream::connect(("127.0.0.1", served.port)).unwrap())
        .collect();
    // One more than there may be is told so at once.
    let deadline = Instant::now() + Duration::from_secs(10);
    let told = loop {
        let mut more = TcpStream::connect(("127.0.0.1", served.port)).unwrap();
        more.set_read_timeout(Some(Duration::from_secs(1))).unwrap();
        let mut answer = Vec::new();
        let _ = more.read_to_end(&mut answer);
        if !answer.is_empty() || Instant::now() > deadline {
            break String::from_utf8_lossy(&answer).into_owned();
        }
    };
    assert!(told.contains("53300"), "{told}");
    assert_eq!(
        served.first(&client, "SELECT count(*) FROM ward").unwrap(),
        "120"
    );
    drop(idle);
    let deadline = Instant::now() + Duration::from_secs(20);
    while served.try_connect("anna", PASSWORD).is_err() {
        assert!(Instant::now() < deadline, "places do not come back");
    }
}

#[test]
fn psql_asks() {
    if Command::new("psql").arg("--version").output().is_err() {
        skipped("psql", "psql_asks");
        return;
    }
    let served = Served::new(Duration::from_secs(60), false);
    let psql = |input: &str| {
        let (port, certificate) = (served.port, served.certificate.display());
        let mut child = Command::new("psql")
            .args(["-X", "-A", "-t", "-v", "ON_ERROR_STOP=1"])
            .arg(format!("host=localhost port={port} user=anna dbname=ward sslmode=verify-full sslrootcert={certificate}"))
            .env("PGPASSWORD", PASSWORD)
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        child
            .stdin
            .take()
            .unwrap()
            .write_all(input.as_bytes())
            .unwrap();
        let done = child.wait_with_output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).trim().to_owned();
        (text(done.stdout), text(done.stderr))
    };
    assert_eq!(
        psql("SELECT count(*) FROM ward;"),
        ("120".to_owned(), String::new())
    );
    let (answer, note) = psql("SELECT count(*) FROM ward WHERE age < 30;");
    let expected = &served
        .ward
        .ask(Mode::Estimate, "SELECT count(*) FROM ward WHERE age < 30")[0][0];
    assert!(
        (answer.parse::<f64>().unwrap() - expected.as_f64().unwrap()).abs() < 1e-6,
        "{answer}"
    );
    assert!(note.contains("estimates are a model"), "{note}");
    let (answer, _) = psql("SET hedgerow.answer = 'certain';\nSHOW hedgerow.answer;");
    assert_eq!(answer, "SET\ncertain");
    let (_, refused) = psql("\\copy ward TO STDOUT");
    assert!(refused.contains("COPY"), "{refused}");
    let (answer, _) =
        psql("SELECT table_name FROM information_schema.tables WHERE table_schema = 'public';");
    assert_eq!(answer, "ward");
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
    writeln!(file.unwrap(), "{missing}\t{test}").unwrap();
}
