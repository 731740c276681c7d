//! Messages one by one: what is prepared, fetched in parts, closed, and what follows an error.

use super::raw::{Raw, bind, execute, letters, message, parse, startup, types_of};
use super::{How, PASSWORD, Served};

fn served() -> Served {
    Served::new(How {
        is_plaintext_on_loopback: true,
        ..How::default()
    })
}

#[test]
fn portals_are_fetched_in_parts() {
    let served = served();
    let mut raw = Raw::connect(served.port, "anna", PASSWORD);
    let sync = message(b'S', b"");
    raw.send(&message(b'Q', b"BEGIN\0"));
    let begun = raw.until_ready();
    assert_eq!(letters(&begun), "CZ");
    assert_eq!(begun[1].1, b"T");
    raw.send(&parse("s", "SELECT \"Days\" FROM ward"));
    raw.send(&bind("p", "s", &[], false));
    raw.send(&message(b'D', b"Pp\0"));
    raw.send(&execute("p", 50));
    raw.send(&sync);
    let first = raw.until_ready();
    assert_eq!(letters(&first), format!("12T{}sZ", "D".repeat(50)));
    // A portal lives on in its transaction.
    raw.send(&execute("p", 70));
    raw.send(&sync);
    assert_eq!(letters(&raw.until_ready()), format!("{}sZ", "D".repeat(70)));
    raw.send(&execute("p", 1));
    raw.send(&execute("p", 0));
    raw.send(&sync);
    let last = raw.until_ready();
    assert_eq!(letters(&last), "CCZ");
    assert_eq!(last[0].1, b"SELECT 0\0");
    raw.send(&message(b'Q', b"COMMIT\0"));
    assert_eq!(raw.until_ready()[1].1, b"I");
    // And ends with it, while the statement stays until it is closed.
    raw.send(&execute("p", 0));
    raw.send(&sync);
    let gone = raw.until_ready();
    assert_eq!(letters(&gone), "EZ");
    assert!(String::from_utf8_lossy(&gone[0].1).contains("34000"));
    raw.send(&message(b'C', b"Ss\0"));
    raw.send(&bind("", "s", &[], false));
    raw.send(&sync);
    let closed = raw.until_ready();
    assert_eq!(letters(&closed), "3EZ");
    assert!(String::from_utf8_lossy(&closed[1].1).contains("26000"));
}

#[test]
fn after_an_error_nothing_is_heard_until_the_client_synchronizes() {
    let served = served();
    let mut raw = Raw::connect(served.port, "anna", PASSWORD);
    raw.send(&parse("", "SELECT nobody FROM ward"));
    raw.send(&bind("", "", &[], false));
    raw.send(&execute("", 0));
    raw.send(&message(b'Q', b"SELECT 1\0"));
    raw.send(&message(b'S', b""));
    assert_eq!(letters(&raw.until_ready()), "EZ");
    raw.send(&message(b'Q', b"SELECT 1\0"));
    assert_eq!(letters(&raw.until_ready()), "TDCZ");
    // Statements at once end at the first error.
    raw.send(&message(
        b'Q',
        b"SELECT 1; SELECT nobody FROM ward; SELECT 2\0",
    ));
    assert_eq!(letters(&raw.until_ready()), "TDCEZ");
}

#[test]
fn values_are_text_or_binary() {
    let served = served();
    let mut raw = Raw::connect(served.port, "anna", PASSWORD);
    let sql = "SELECT count(*) FROM ward WHERE disease = $1";
    let disease = served.ward.diseases[0][0].clone();
    let truth = served.ward.raw.iter();
    let truth = truth.filter(|raw| raw.disease == disease).count();
    for is_binary in [false, true] {
        raw.send(&parse("", sql));
        raw.send(&message(b'D', b"S\0"));
        raw.send(&message(b'H', b""));
        raw.send(&bind("", "", &[&disease], is_binary));
        raw.send(&execute("", 0));
        raw.send(&message(b'S', b""));
        let all = raw.until_ready();
        let row = all.iter().find(|(of, _)| *of == b'D').unwrap();
        // One column, its length, its bytes.
        let cell = &row.1[6..];
        match is_binary {
            true => assert_eq!(cell, (truth as i64).to_be_bytes(), "{}", letters(&all)),
            false => assert_eq!(cell, truth.to_string().as_bytes(), "{}", letters(&all)),
        }
    }
    for (wrong, code) in [
        // Too few values, and a format that there is not.
        (bind("", "", &[], false), "08P01"),
        (
            message(b'B', b"\0\0\x00\x01\x00\x07\x00\x00\x00\x00"),
            "08P01",
        ),
        (bind("", "other", &[], false), "26000"),
    ] {
        raw.send(&parse("", sql));
        raw.send(&wrong);
        raw.send(&message(b'S', b""));
        let all = raw.until_ready();
        assert_eq!(letters(&all), "1EZ");
        assert!(String::from_utf8_lossy(&all[1].1).contains(code), "{code}");
    }
}

#[test]
fn messages_that_are_none_end_the_connection_and_no_other() {
    let served = served();
    for bytes in [
        message(b'B', b"\0\0\xff\xff"),
        message(b'B', b"\0\0\0\0\0\x01\x7f\xff\xff\xff"),
        message(b'Q', b"SELECT 1"),
        message(b'Q', b"\xff\xfe\0"),
        message(b'?', b""),
        vec![b'Q', 0, 0, 0, 3],
        vec![b'Q', 0x7f, 0xff, 0xff, 0xff, b'S'],
        vec![b'S', 0, 0, 0, 5, 0],
        message(b'p', b"again"),
    ] {
        let mut raw = Raw::connect(served.port, "anna", PASSWORD);
        raw.send(&bytes);
        let said = raw.rest();
        assert_eq!(types_of(&said), "E", "{bytes:?}");
        assert!(
            String::from_utf8_lossy(&said).contains("08P01"),
            "{bytes:?}"
        );
    }
    // Parts of a COPY are passed over, a function call is refused.
    let mut raw = Raw::connect(served.port, "anna", PASSWORD);
    raw.send(&message(b'd', b"rows"));
    raw.send(&message(b'c', b""));
    raw.send(&message(b'F', b"\0\0\0\x01"));
    assert_eq!(letters(&raw.until_ready()), "EZ");
}

#[test]
fn a_client_of_a_newer_protocol_is_told_of_ours() {
    use std::io::{Read as _, Write as _};
    let served = served();
    let mut newer = startup("anna", "ward");
    newer[7] = 2;
    let mut stream = std::net::TcpStream::connect(("127.0.0.1", served.port)).unwrap();
    stream.write_all(&newer).unwrap();
    let mut said = [0; 13];
    stream.read_exact(&mut said).unwrap();
    // Version 3.0 in full, as PostgreSQL says it.
    assert_eq!(said, [b'v', 0, 0, 0, 12, 0, 3, 0, 0, 0, 0, 0, 0]);
}
