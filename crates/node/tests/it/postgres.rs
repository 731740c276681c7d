//! Rows from a PostgreSQL of the test's own; skipped where PostgreSQL is not installed.

use std::path::Path;
use std::sync::Arc;

use hedgerow_data::files::{Others, read_table};
use hedgerow_data::{Schema, Study, Table};
use hedgerow_node::source::{Password, Postgres, Rows, Source, digest};
use hedgerow_testing::PostgresServer;
use tokio_postgres::NoTls;

use super::world::run_test;
use super::write_study;

/// A server, with the sources that a site's file would name.
struct Server(PostgresServer);

impl std::ops::Deref for Server {
    type Target = PostgresServer;

    fn deref(&self) -> &PostgresServer {
        &self.0
    }
}

/// Starts a server with a certificate of an authority of the test's own.
fn start() -> Option<Server> {
    let server = PostgresServer::start("-c ssl=on", |server| {
        let folder = server.folder.path();
        let data = folder.join("data");
        let authority = rcgen::KeyPair::generate().unwrap();
        let mut parameters = rcgen::CertificateParams::new(Vec::new()).unwrap();
        parameters.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        let root = parameters.self_signed(&authority).unwrap();
        let issuer = rcgen::Issuer::new(parameters, authority);
        let key = rcgen::KeyPair::generate().unwrap();
        let names = vec![String::from("127.0.0.1")];
        let certificate = rcgen::CertificateParams::new(names)
            .unwrap()
            .signed_by(&key, &issuer)
            .unwrap();
        std::fs::write(folder.join("authority.pem"), pem("CERTIFICATE", root.der())).unwrap();
        let script = format!(
            "umask 077; cat > '{0}/server.key' <<'E'\n{1}E\ncat > '{0}/server.crt' <<'E'\n{2}E\n",
            data.display(),
            pem("PRIVATE KEY", &key.serialize_der()),
            pem("CERTIFICATE", certificate.der()),
        );
        server.shell(&script);
    });
    server.map(Server)
}

impl Server {
    fn source(&self, rows: Rows) -> Postgres {
        let password = self.folder.path().join("password");
        let private = std::os::unix::fs::PermissionsExt::from_mode(0o600);
        std::fs::set_permissions(&password, private).unwrap();
        Postgres {
            host: String::from("127.0.0.1"),
            port: self.port,
            database: String::from("postgres"),
            user: String::from("reader"),
            password: Some(Password::File(password)),
            tls: None,
            rows,
            count: false,
        }
    }

    fn table(&self, name: &str) -> Postgres {
        self.source(Rows::Table(vec![name.to_owned()]))
    }

    async fn execute(&self, statements: &str) {
        let options = format!(
            "host=127.0.0.1 port={} user=reader password=swordfish dbname=postgres",
            self.port
        );
        let (client, connection) = tokio_postgres::connect(&options, NoTls).await.unwrap();
        tokio::spawn(connection);
        client.batch_execute(statements).await.unwrap();
    }
}

/// DER in its armour (RFC 7468).
fn pem(label: &str, der: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in der.chunks(3) {
        let word = chunk
            .iter()
            .chain([&0, &0])
            .take(3)
            .fold(0u32, |word, byte| word << 8 | u32::from(*byte));
        for place in 0..4 {
            let letter = char::from(LETTERS[(word >> (18 - 6 * place)) as usize & 63]);
            text.push(if place > chunk.len() { '=' } else { letter });
        }
    }
    let lines: Vec<&str> = (0..text.len())
        .step_by(64)
        .map(|start| &text[start..text.len().min(start + 64)])
        .collect();
    format!(
        "-----BEGIN {label}-----\n{}\n-----END {label}-----\n",
        lines.join("\n")
    )
}

fn schema(folder: &Path) -> Arc<Schema> {
    write_study(folder, &["north", "south"]);
    Study::open(&folder.join("study.toml")).unwrap().schema
}

async fn refused(source: Postgres, schema: &Arc<Schema>) -> String {
    let source = Source::Postgres(Box::new(source));
    let read = source
        .table(schema, false, &())
        .await
        .unwrap_err()
        .to_string();
    // A look without rows finds the same, unless it is a value that is wrong.
    match source.check(schema, false).await {
        Err(looked) => assert_eq!(looked.to_string(), read),
        Ok(()) => assert!(read.contains(": value `"), "{read}"),
    }
    read
}

/// The rows of a table, sorted.
fn sorted(table: &Table) -> Vec<Vec<u32>> {
    let row = |row| {
        (0..3)
            .map(|column| table.codes(column).unwrap().get(row))
            .collect()
    };
    let mut rows: Vec<Vec<u32>> = (0..table.rows()).map(row).collect();
    rows.sort();
    rows
}

#[test]
fn rows_come_as_from_a_file() {
    let Some(server) = start() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let schema = schema(folder.path());
    run_test(async {
        server
            .execute(
                "CREATE TYPE illness AS ENUM ('flu', 'ulcer', 'asthma');
                 CREATE TABLE patients (age int, zip text, disease illness, secret text);
                 INSERT INTO patients SELECT (n * 37) % 100,
                     (array['101', '102', '201'])[1 + n % 3],
                     (array['flu', 'ulcer', 'asthma'])[1 + n % 2]::illness, 'x' || n
                 FROM generate_series(1, 5000) AS n;",
            )
            .await;
        let mut text = String::from("age,zip,disease\n");
        for n in 1..=5000 {
            let zip = ["101", "102", "201"][n % 3];
            let disease = ["flu", "ulcer"][n % 2];
            text.push_str(&format!("{},{zip},{disease}\n", (n * 37) % 100));
        }
        let path = folder.path().join("rows.csv");
        std::fs::write(&path, text).unwrap();
        let file = read_table(&path, &schema, &Others::Refuse, &()).unwrap();
        let table = server.table("patients").table(&schema).await.unwrap();
        assert_eq!(sorted(&table), sorted(&file));

        // The same rows in another order, by a query, are the same table; so a restart finds it.
        server
            .execute(
                "CREATE TABLE shuffled AS SELECT * FROM patients ORDER BY md5(secret);
                 SET datestyle = 'German';",
            )
            .await;
        for query in [
            "select age, zip, disease from shuffled;",
            "select disease, age, zip, secret from shuffled -- all of them",
        ] {
            let source = server.source(Rows::Query(query.to_owned()));
            let again = source.table(&schema).await.unwrap();
            assert_eq!(digest(&again), digest(&table), "{query}");
        }
        server
            .execute("UPDATE shuffled SET age = age + 1 WHERE age = 3 AND zip = '101'")
            .await;
        let changed = server.table("shuffled").table(&schema).await.unwrap();
        assert_ne!(digest(&changed), digest(&table));
    });
}

#[test]
fn a_database_counts_what_its_rows_are() {
    let Some(server) = start() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let schema = schema(folder.path());
    run_test(async {
        server
            .execute(
                "CREATE TABLE patients (disease text, age int, secret text, zip char(3));
                 INSERT INTO patients SELECT (array['flu', 'ulcer'])[1 + n % 2], (n * 37) % 10, 'x' || n,
                     (array['101', '102', '201'])[1 + n % 3]
                 FROM generate_series(1, 5000) AS n;
                 CREATE TABLE nobody (age int, zip text, disease text);
                 CREATE TABLE outside (age int, zip text, disease text);
                 INSERT INTO outside VALUES (5, '101', 'flu'), (5, '101', 'plague'), (5, '101', 'plague');",
            )
            .await;
        let counted = |name: &str| Postgres {
            count: true,
            ..server.table(name)
        };
        let table = counted("patients").table(&schema).await.unwrap();
        assert_eq!((table.rows(), table.records()), (30, 5000));
        let single = server.table("patients").table(&schema).await.unwrap();
        assert_eq!(single.into_counted().unwrap(), table);
        assert_eq!(counted("nobody").table(&schema).await.unwrap().records(), 0);
        let error = refused(counted("outside"), &schema).await;
        assert!(
            error.contains(": column `disease`: value `plague`"),
            "{error}"
        );
    });
}

#[test]
fn what_does_not_fit_is_named_and_nothing_is_changed() {
    let Some(server) = start() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let schema = schema(folder.path());
    run_test(async {
        server
            .execute(
                "CREATE TABLE wrong (age numeric, zip text, disease text);
                 CREATE TABLE outside (age int, zip text, disease text);
                 INSERT INTO outside VALUES (5, '101', 'flu'), (5, '101', 'plague');
                 CREATE TABLE lacking (age int, zip text);
                 CREATE TABLE missing (age int, zip text, disease text);
                 INSERT INTO missing VALUES (NULL, '101', 'flu');
                 CREATE TABLE \"odd \"\"; DROP TABLE outside; --\" (age int, zip text, disease text);",
            )
            .await;
        let error = refused(server.table("wrong"), &schema).await;
        assert!(
            error.contains("column `age` has type numeric, expected whole numbers or text"),
            "{error}"
        );
        let error = refused(server.table("outside"), &schema).await;
        assert!(
            error.contains("outside:2: column `disease`: value `plague`"),
            "{error}"
        );
        let error = refused(server.table("lacking"), &schema).await;
        assert!(error.contains("`disease`"), "{error}");
        let error = refused(server.table("missing"), &schema).await;
        assert!(
            error.contains("missing:1: column `age`: value ``"),
            "{error}"
        );
        // Whose rights do not reach is told by a look, too.
        server
            .execute("create role stranger login password 'swordfish'")
            .await;
        let mut stranger = server.table("outside");
        stranger.user = String::from("stranger");
        let error = refused(stranger, &schema).await;
        assert!(error.contains("permission denied"), "{error}");
        let error = refused(server.table("nowhere"), &schema).await;
        assert!(
            error.contains("relation \"nowhere\" does not exist"),
            "{error}"
        );

        // SQL in a table's name is a name.
        let odd = "odd \"; DROP TABLE outside; --";
        assert_eq!(server.table(odd).table(&schema).await.unwrap().rows(), 0);
        for name in [
            "outside; DROP TABLE outside",
            "outside\"; DROP TABLE outside; --",
        ] {
            let error = refused(server.table(name), &schema).await;
            assert!(error.contains("does not exist"), "{error}");
        }
        // A query that writes, or that is more than one, does not run.
        for query in [
            "with gone as (delete from outside returning *) select * from gone",
            "select * from outside) as x; drop table outside; --",
            "select age, zip, disease from outside; drop table outside",
        ] {
            refused(server.source(Rows::Query(query.to_owned())), &schema).await;
        }
        let error = refused(server.table("outside"), &schema).await;
        assert!(error.contains("plague"), "{error}");
    });
}

#[test]
fn passwords_and_certificates_are_checked() {
    let Some(server) = start() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let schema = schema(folder.path());
    run_test(async {
        server
            .execute("CREATE TABLE patients (age int, zip text, disease text)")
            .await;
        let secure = |file: &str| {
            let mut source = server.table("patients");
            source.tls = Some(server.folder.path().join(file));
            source
        };
        assert_eq!(
            secure("authority.pem").table(&schema).await.unwrap().rows(),
            0
        );
        // An authority that did not sign it.
        let other = rcgen::KeyPair::generate().unwrap();
        let mut parameters = rcgen::CertificateParams::new(Vec::new()).unwrap();
        parameters.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        let root = parameters.self_signed(&other).unwrap();
        let path = server.folder.path().join("other.pem");
        std::fs::write(path, pem("CERTIFICATE", root.der())).unwrap();
        let error = refused(secure("other.pem"), &schema).await;
        assert!(error.contains("cannot be reached"), "{error}");
        assert!(error.contains("hint: see that the server runs"), "{error}");
        std::fs::write(server.folder.path().join("empty.pem"), "").unwrap();
        let error = refused(secure("empty.pem"), &schema).await;
        assert!(error.contains("holds no certificates"), "{error}");

        let mut wrong = server.table("patients");
        let path = folder.path().join("wrong");
        std::fs::write(&path, "guess\n").unwrap();
        let mode = |mode| {
            let permissions = std::os::unix::fs::PermissionsExt::from_mode(mode);
            std::fs::set_permissions(&path, permissions).unwrap();
        };
        mode(0o644);
        wrong.password = Some(Password::File(path.clone()));
        let error = refused(wrong.clone(), &schema).await;
        assert!(
            error.contains("others than its owner may read it"),
            "{error}"
        );
        mode(0o600);
        let error = refused(wrong.clone(), &schema).await;
        assert!(error.contains("password authentication failed"), "{error}");
        assert!(!error.contains("guess"), "{error}");
        let nowhere = String::from("HEDGEROW_TEST_NO_SUCH_VARIABLE");
        wrong.password = Some(Password::Variable(nowhere.clone()));
        let error = refused(wrong, &schema).await;
        assert!(error.contains(&nowhere), "{error}");
    });
}
