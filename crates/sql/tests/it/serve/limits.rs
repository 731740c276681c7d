//! Time, memory, messages and clients have limits.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use hedgerow_sql::Limits;

use super::raw::{Raw, letters, message};
use super::{How, PASSWORD, Served};

/// A statement that would run for an hour.
const LONG: &str = "WITH t AS (SELECT zip, age, count(*) AS n FROM ward GROUP BY zip, age) SELECT sum(a.n * b.n * c.n * d.n * e.n * f.n) FROM t a, t b, t c, t d, t e, t f";

fn served(time: u64, memory: usize) -> Served {
    let limits = Limits {
        time: Duration::from_secs(time),
        memory,
        ..Limits::default()
    };
    Served::new(How {
        limits,
        is_plaintext_on_loopback: true,
    })
}

#[test]
fn a_statement_that_would_run_for_an_hour_is_stopped() {
    let served = served(2, 512 << 20);
    let client = served.connect();
    let catalog = "SELECT count(*) FROM pg_settings a, pg_settings b, pg_settings c, pg_settings d, pg_settings e, pg_settings f WHERE a.name || b.name || c.name || d.name || e.name || f.name = 'x'";
    for sql in [LONG, catalog] {
        let began = Instant::now();
        assert_eq!(served.code(&client, sql), "57014", "{sql}");
        let took = began.elapsed();
        assert!(took < Duration::from_secs(30), "{took:?}");
    }
    // What was stopped gives its turn back.
    let deadline = Instant::now() + Duration::from_secs(60);
    while served.first(&client, "SELECT count(*) FROM ward").ok() != Some(String::from("120")) {
        assert!(Instant::now() < deadline, "turns do not come back");
    }
}

#[test]
fn a_statement_that_would_use_all_memory_is_stopped() {
    let served = served(60, 16 << 20);
    let client = served.connect();
    let t = "WITH t AS (SELECT zip, age, seen, count(*) AS n FROM ward GROUP BY zip, age, seen)";
    let all = "t a, t b, t c, t d, t e";
    let mut wrong = Vec::new();
    for (sql, expected) in [
        (
            format!("{t} SELECT a.zip FROM {all} ORDER BY a.zip || b.zip || c.zip, d.n, e.n"),
            "53200",
        ),
        (
            format!(
                "{t} SELECT count(*) FROM {all} GROUP BY a.zip, a.age, b.zip, b.age, c.zip, c.age, d.zip, d.age, e.age"
            ),
            "53200",
        ),
        (
            format!(
                "{t} SELECT count(*) FROM (SELECT sum(a.n) OVER () AS s, a.zip FROM {all}) x WHERE s > 0"
            ),
            "53200",
        ),
        (
            format!("{t} SELECT a.zip, b.zip, c.zip, d.zip FROM {all}"),
            "5",
        ),
        (
            format!("{t} SELECT array_agg(a.zip || b.zip) FROM {all}"),
            "42000",
        ),
        (String::from("SELECT repeat('x', 2000000000)"), "42000"),
        (
            String::from("SELECT lpad('x', 2000000000) FROM ward"),
            "42000",
        ),
        (
            format!("SELECT {} FROM ward", vec!["zip"; 20].join(" || ")),
            "0A000",
        ),
        (
            format!("SELECT zip || '{}' FROM ward", "x".repeat(2000)),
            "0A000",
        ),
    ] {
        let found = served.code(&client, &sql);
        if !found.starts_with(expected) {
            let sql: String = sql.chars().take(150).collect();
            wrong.push(format!("{sql}: {found}, expected {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let left = served.first(&client, "SELECT count(*) FROM ward");
    assert_eq!(left.unwrap(), "120");
}

#[test]
fn only_its_own_client_cancels_a_statement() {
    let served = served(60, 512 << 20);
    let mut raw = Raw::connect(served.port, "anna", PASSWORD);
    let cancel = |key: &[u8]| {
        let mut stream = TcpStream::connect(("127.0.0.1", served.port)).unwrap();
        let request = [&[0, 0, 0, 16, 4, 210, 22, 46], key].concat();
        stream.write_all(&request).unwrap();
        // The server hangs up without a word.
        let mut said = Vec::new();
        let _ = stream.read_to_end(&mut said);
        assert!(said.is_empty());
    };
    raw.send(&message(b'Q', format!("{LONG}\0").as_bytes()));
    std::thread::sleep(Duration::from_millis(500));
    let mut wrong = raw.key.clone();
    wrong[7] ^= 1;
    cancel(&wrong);
    std::thread::sleep(Duration::from_secs(1));
    let began = Instant::now();
    cancel(&raw.key.clone());
    let said = raw.until_ready();
    assert_eq!(letters(&said), "EZ");
    let why = String::from_utf8_lossy(&said[0].1).into_owned();
    assert!(
        why.contains("57014") && why.contains("cancelled by its user"),
        "{why}"
    );
    assert!(began.elapsed() < Duration::from_secs(20));
    // What does not run is not cancelled later.
    cancel(&raw.key.clone());
    raw.send(&message(b'Q', b"SELECT 1\0"));
    assert_eq!(letters(&raw.until_ready()), "TDCZ");

    // A driver's request comes over TLS.
    let client = served.connect();
    let (token, tls) = (client.cancel_token(), served.tls());
    served.runtime.spawn(async move {
        tokio::time::sleep(Duration::from_millis(500)).await;
        token.cancel_query(tls).await
    });
    assert_eq!(served.code(&client, LONG), "57014");
}

#[test]
fn who_hangs_up_cancels() {
    let served = served(120, 512 << 20);
    // More than a user may run at once.
    for _ in 0..4 {
        let mut raw = Raw::connect(served.port, "anna", PASSWORD);
        raw.send(&message(b'Q', format!("{LONG}\0").as_bytes()));
        std::thread::sleep(Duration::from_millis(200));
    }
    let began = Instant::now();
    let client = served.connect();
    let count = served.first(&client, "SELECT count(*) FROM ward");
    assert_eq!(count.unwrap(), "120");
    assert!(
        began.elapsed() < Duration::from_secs(60),
        "{:?}",
        began.elapsed()
    );
}

#[test]
fn a_message_of_two_megabytes_ends_the_connection() {
    let served = served(60, 512 << 20);
    let client = served.connect();
    let huge = format!("SELECT '{}'", "x".repeat(2 << 20));
    assert!(served.first(&client, &huge).is_err());
    assert!(served.first(&client, "SELECT 1").is_err());
    let many = ";".repeat(1 << 19);
    let client = served.connect();
    assert_eq!(served.first(&client, &many).unwrap(), "");
    assert_eq!(served.code(&client, &"SELECT 1;".repeat(200)), "54000");
}

#[test]
fn a_thousand_that_say_nothing_keep_nobody_out() {
    let served = served(60, 512 << 20);
    let client = served.connect();
    let mut idle = Vec::new();
    let began = Instant::now();
    for number in 0..1000 {
        // Those that were pushed out leave room in this process, too.
        if idle.len() > 300 {
            idle.remove(0);
        }
        let mut stream = TcpStream::connect(("127.0.0.1", served.port)).unwrap();
        if number % 2 == 0 {
            // Half of them begin to ask for TLS.
            let _ = stream.write_all(&[0, 0, 0, 8, 4, 210]);
        }
        idle.push(stream);
        if number % 250 == 0 {
            let count = served.first(&client, "SELECT count(*) FROM ward");
            assert_eq!(count.unwrap(), "120");
        }
    }
    let other = served
        .try_connect(&served.config("bert", PASSWORD))
        .unwrap();
    let count = served.first(&other, "SELECT count(*) FROM ward");
    assert_eq!(count.unwrap(), "120");
    assert!(
        began.elapsed() < Duration::from_secs(60),
        "{:?}",
        began.elapsed()
    );
}

#[test]
fn a_user_has_so_many_connections_and_others_have_theirs() {
    let served = served(60, 512 << 20);
    let config = served.config("anna", PASSWORD);
    let mut clients = Vec::new();
    let refused = loop {
        match served.try_connect(&config) {
            Ok(client) => clients.push(client),
            Err(error) => break error,
        }
        assert!(clients.len() <= 24);
    };
    assert_eq!(super::code(&refused), "53300");
    assert_eq!(clients.len(), 24);
    let bert = served.config("bert", PASSWORD);
    assert!(served.try_connect(&bert).is_ok());
    drop(clients);
    let deadline = Instant::now() + Duration::from_secs(20);
    while served.try_connect(&config).is_err() {
        assert!(Instant::now() < deadline, "places do not come back");
    }
}

#[test]
fn who_takes_too_long_before_the_password_is_shown_the_door() {
    let served = served(60, 512 << 20);
    let mut slow = TcpStream::connect(("127.0.0.1", served.port)).unwrap();
    slow.set_read_timeout(Some(Duration::from_secs(40)))
        .unwrap();
    let began = Instant::now();
    // A byte now and then.
    let mut other = slow.try_clone().unwrap();
    std::thread::spawn(move || {
        for byte in [
            0, 0, 0, 100, 0, 3, 0, 0, b'u', b's', b'e', b'r', 0, b'a', b'n',
        ] {
            if other.write_all(&[byte]).is_err() {
                return;
            }
            std::thread::sleep(Duration::from_secs(2));
        }
    });
    let mut said = Vec::new();
    let _ = slow.read_to_end(&mut said);
    assert!(said.is_empty());
    let took = began.elapsed();
    assert!(took < Duration::from_secs(30), "{took:?}");
}
