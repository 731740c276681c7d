//! psql, with TLS, the certificate's name looked at, and a password.

use std::io::Write as _;
use std::process::{Command, Stdio};

use hedgerow_sql::Mode;

use super::{PASSWORD, Served, skipped};

/// What psql prints, and what it complains of.
fn psql(served: &Served, input: &str) -> (String, String) {
    let (port, authority) = (served.port, served.authority.display());
    let mut child = Command::new("psql")
        .args(["-X", "-A", "-t", "-v", "ON_ERROR_STOP=1"])
        .arg(format!("host=localhost port={port} user=anna dbname=ward sslmode=verify-full sslrootcert={authority} channel_binding=require"))
        .env("PGPASSWORD", PASSWORD)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(input.as_bytes()).unwrap();
    drop(stdin);
    let done = child.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).trim().to_owned();
    (text(done.stdout), text(done.stderr))
}

#[test]
fn psql_asks() {
    if Command::new("psql").arg("--version").output().is_err() {
        skipped("psql", "psql_asks");
        return;
    }
    let served = Served::new(Default::default());
    let psql = |input: &str| psql(&served, input);
    assert_eq!(psql("SELECT count(*) FROM ward;").0, "120");
    let count = "SELECT count(*) FROM ward WHERE age < 30";
    let (answer, note) = psql(&format!("{count};"));
    let expected = served.ward.ask(Mode::Estimate, count)[0][0]
        .as_f64()
        .unwrap();
    let answer: f64 = answer.parse().unwrap();
    assert!((answer - expected).abs() < 1e-6, "{answer}");
    assert!(note.contains("estimates are a model"), "{note}");
    let (answer, _) = psql("SET hedgerow.answer = 'certain';\nSHOW hedgerow.answer;");
    assert_eq!(answer, "SET\ncertain");
    let (_, refused) = psql("\\copy ward TO STDOUT");
    assert!(refused.contains("COPY is not answered"), "{refused}");
    let prepared = "PREPARE p AS SELECT count(*) FROM ward WHERE \"Days\" >= $1;\nEXECUTE p(-5);";
    assert_eq!(psql(prepared).0, "PREPARE\n120");
}

#[test]
fn psql_describes_the_table() {
    if Command::new("psql").arg("--version").output().is_err() {
        skipped("psql", "psql_describes_the_table");
        return;
    }
    let served = Served::new(Default::default());
    let (tables, wrong) = psql(&served, "\\d\n");
    assert_eq!(
        (tables.as_str(), wrong.as_str()),
        ("public|ward|table|hedgerow", "")
    );
    let (tables, wrong) = psql(&served, "\\dt\n");
    assert_eq!(
        (tables.as_str(), wrong.as_str()),
        ("public|ward|table|hedgerow", "")
    );
    let (columns, wrong) = psql(&served, "\\d ward\n");
    assert_eq!(wrong, "");
    let expected = ["age|text|||", "age_low|bigint|||", "age_high|bigint|||"];
    for line in expected {
        assert!(columns.lines().any(|own| own == line), "{columns}");
    }
    let (more, wrong) = psql(&served, "\\d+ ward\n");
    assert_eq!(wrong, "");
    assert!(more.contains("age_low|bigint"), "{more}");
    let (databases, wrong) = psql(&served, "\\l\n");
    assert_eq!(wrong, "");
    assert!(databases.starts_with("ward|hedgerow|UTF8|"), "{databases}");
    let (schemas, wrong) = psql(&served, "\\dn\n");
    assert_eq!((schemas.as_str(), wrong.as_str()), ("public|hedgerow", ""));
    let (info, wrong) = psql(&served, "\\conninfo\n");
    assert_eq!(wrong, "");
    assert!(info.contains("SSL connection (protocol: TLSv1.3"), "{info}");
    let (_, missing) = psql(&served, "\\d other\n");
    assert!(missing.contains("Did not find any relation"), "{missing}");
}
