//! Who is let in: TLS, the password, the database.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use tokio_postgres::NoTls;
use tokio_postgres::config::{ChannelBinding, SslMode};

use super::raw::{message, startup, types_of};
use super::{How, PASSWORD, Served, code};

fn raw(served: &Served) -> TcpStream {
    let raw = TcpStream::connect(("127.0.0.1", served.port)).unwrap();
    raw.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    raw
}

#[test]
fn clients_without_tls_or_the_password_are_refused() {
    let served = Served::new(Default::default());
    let mut plain = served.config("anna", PASSWORD);
    plain.ssl_mode(SslMode::Disable);
    let refused = served.runtime.block_on(plain.connect(NoTls)).err().unwrap();
    assert_eq!(code(&refused), "28000");
    let refused = refused.as_db_error().unwrap();
    assert!(refused.message().contains("TLS only"), "{refused:?}");

    // An unknown user is told the same as a known one, after the same exchange.
    let said = |user: &str, password: &str| {
        let refused = served.try_connect(&served.config(user, password));
        let refused = refused.err().unwrap();
        assert_eq!(code(&refused), "28P01");
        let message = refused.as_db_error().unwrap().message().to_owned();
        message.replace(user, "NAME")
    };
    assert_eq!(said("anna", "wrong"), said("nobody", PASSWORD));
    assert_eq!(said("anna", "wrong"), said("anna\"; DROP", "wrong"));
    assert!(served.try_connect(&served.config("anna", PASSWORD)).is_ok());
}

/// That a client may demand it is shown by psql: this driver reads the certificate wrongly.
#[test]
fn a_client_need_not_bind_its_password_to_the_certificate() {
    let served = Served::new(Default::default());
    for binding in [ChannelBinding::Prefer, ChannelBinding::Disable] {
        let mut config = served.config("anna", PASSWORD);
        config.channel_binding(binding);
        let client = served.try_connect(&config);
        let client = client.unwrap_or_else(|error| panic!("{binding:?}: {error:?}"));
        assert_eq!(served.first(&client, "SELECT 1").unwrap(), "1");
    }
}

#[test]
fn the_database_is_the_study() {
    let served = Served::new(Default::default());
    let mut config = served.config("anna", PASSWORD);
    config.dbname("postgres");
    let refused = served.try_connect(&config).err().unwrap();
    assert_eq!(code(&refused), "3D000");
    let refused = refused.as_db_error().unwrap();
    assert!(
        refused.hint().unwrap().contains("dbname=ward"),
        "{refused:?}"
    );
    let mut config = served.config("anna", PASSWORD);
    config.options("-c shared_preload_libraries=x");
    assert_eq!(code(&served.try_connect(&config).err().unwrap()), "22023");
}

#[test]
fn what_comes_in_plain_text_is_never_read_as_if_it_came_over_tls() {
    let served = Served::new(Default::default());
    let mut raw = raw(&served);
    let mut bytes = vec![0, 0, 0, 8, 4, 210, 22, 47];
    bytes.extend(startup("anna", "ward"));
    raw.write_all(&bytes).unwrap();
    let mut answer = Vec::new();
    // The server may reset the connection.
    let _ = raw.read_to_end(&mut answer);
    assert_eq!(answer.first(), Some(&b'S'));
    assert_ne!(answer.get(1), Some(&b'R'), "{answer:?}");
}

#[test]
fn without_a_password_no_statement_is_read() {
    let served = Served::new(How {
        is_plaintext_on_loopback: true,
        ..How::default()
    });
    // Loopback is exempt here.
    let mut plain = served.config("anna", PASSWORD);
    plain.ssl_mode(SslMode::Disable);
    let (client, connection) = served.runtime.block_on(plain.connect(NoTls)).unwrap();
    served.runtime.spawn(connection);
    let count = served.first(&client, "SELECT count(*) FROM ward");
    assert_eq!(count.unwrap(), "120");

    let query = message(b'Q', b"SELECT count(*) FROM ward\0");
    let proof = message(b'p', b"c=biws,r=x,p=AAAA");
    let begun = message(b'p', b"SCRAM-SHA-256\0\0\0\0\x09n,,n=,r=x");
    let other = message(b'p', b"SCRAM-SHA-256-PLUS\0\0\0\0\x09n,,n=,r=x");
    let lying = message(b'p', b"SCRAM-SHA-256\0\x7f\xff\xff\xffn,,n=,r=x");
    let bound = message(
        b'p',
        b"SCRAM-SHA-256-PLUS\0\0\0\0\x1ep=tls-server-end-point,,n=,r=x",
    );
    let huge = [&b"p\x00\x10\x00\x00"[..], &[b'x'; 8000]].concat();
    let sync = message(b'S', b"");
    for sent in [
        vec![&query],
        vec![&begun, &query],
        vec![&begun, &proof, &query],
        vec![&begun, &begun, &query],
        vec![&other, &query],
        vec![&lying, &query],
        vec![&bound, &query],
        vec![&huge, &query],
        vec![&sync, &query],
        vec![&proof, &sync, &query],
    ] {
        let mut raw = raw(&served);
        raw.write_all(&startup("anna", "ward")).unwrap();
        for part in &sent {
            // The server may have hung up.
            let _ = raw.write_all(part);
        }
        let mut answer = Vec::new();
        let _ = raw.read_to_end(&mut answer);
        // The demand for SASL, perhaps its continuation, and the refusal.
        let types = types_of(&answer);
        let expected = ["R", "RE", "RR", "RRE"];
        assert!(expected.contains(&types.as_str()), "{sent:?}: {types}");
    }
}

#[test]
fn bytes_that_mean_nothing_end_the_connection() {
    use rand::{RngExt as _, SeedableRng as _};
    let served = Served::new(Default::default());
    let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(1);
    let mut all: Vec<Vec<u8>> = vec![
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n".to_vec(),
        vec![0; 64],
        vec![0xff; 64],
        vec![0, 0, 0, 4],
        vec![0, 0, 0, 8, 0, 3, 0, 0],
        vec![0x7f, 0xff, 0xff, 0xff, 0, 3, 0, 0],
        // The request for TLS twice, and then silence in place of a handshake.
        [[0, 0, 0, 8, 4, 210, 22, 48]; 5].concat(),
    ];
    for _ in 0..50 {
        let length = random.random_range(1..200);
        all.push((0..length).map(|_| random.random()).collect());
    }
    for bytes in all {
        let mut raw = raw(&served);
        let _ = raw.write_all(&bytes);
        let _ = raw.shutdown(std::net::Shutdown::Write);
        let mut answer = Vec::new();
        let _ = raw.read_to_end(&mut answer);
        assert!(!answer.contains(&b'Z'), "{bytes:?}: {answer:?}");
    }
    assert!(served.try_connect(&served.config("anna", PASSWORD)).is_ok());
}
