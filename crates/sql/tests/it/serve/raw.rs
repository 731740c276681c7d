//! A client made of bytes, in plain text on this machine, that can say what no driver says.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use postgres_protocol::authentication::sasl::{ChannelBinding, ScramSha256};

/// A client whose password was right.
pub(super) struct Raw {
    stream: TcpStream,
    /// The number and the secret with which its statements are cancelled.
    pub(super) key: Vec<u8>,
}

impl Raw {
    pub(super) fn connect(port: u16, user: &str, password: &str) -> Self {
        let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(30)))
            .unwrap();
        let mut raw = Self {
            stream,
            key: Vec::new(),
        };
        raw.send(&startup(user, "ward"));
        assert_eq!(raw.next().0, b'R');
        let mut scram = ScramSha256::new(password.as_bytes(), ChannelBinding::unsupported());
        let first = scram.message();
        let mut body = b"SCRAM-SHA-256\0".to_vec();
        body.extend((first.len() as u32).to_be_bytes());
        body.extend(first);
        raw.send(&message(b'p', &body));
        let (_, said) = raw.next();
        scram.update(&said[4..]).unwrap();
        let last = message(b'p', scram.message());
        raw.send(&last);
        let (_, said) = raw.next();
        scram.finish(&said[4..]).unwrap();
        loop {
            match raw.next() {
                (b'K', key) => raw.key = key,
                (b'Z', _) => return raw,
                (b'E', why) => panic!("{}", String::from_utf8_lossy(&why)),
                _ => {}
            }
        }
    }

    pub(super) fn send(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).unwrap();
    }

    /// The next message.
    pub(super) fn next(&mut self) -> (u8, Vec<u8>) {
        let mut header = [0; 5];
        self.stream.read_exact(&mut header).unwrap();
        let [of, length @ ..] = header;
        let mut body = vec![0; u32::from_be_bytes(length) as usize - 4];
        self.stream.read_exact(&mut body).unwrap();
        (of, body)
    }

    /// The messages up to the one that says that the server is ready, without notes about estimates.
    pub(super) fn until_ready(&mut self) -> Vec<(u8, Vec<u8>)> {
        let mut all = Vec::new();
        loop {
            let next = self.next();
            let is_last = next.0 == b'Z';
            if next.0 != b'N' {
                all.push(next);
            }
            if is_last {
                return all;
            }
        }
    }

    /// What is left until the server hangs up.
    pub(super) fn rest(mut self) -> Vec<u8> {
        let mut bytes = Vec::new();
        // The server may reset the connection.
        let _ = self.stream.read_to_end(&mut bytes);
        bytes
    }
}

/// The types of messages, one letter each.
pub(super) fn letters(messages: &[(u8, Vec<u8>)]) -> String {
    messages.iter().map(|(of, _)| char::from(*of)).collect()
}

/// The types of the messages in bytes.
pub(super) fn types_of(mut bytes: &[u8]) -> String {
    let mut types = String::new();
    while let [of, a, b, c, d, ..] = bytes {
        types.push(char::from(*of));
        let length = u32::from_be_bytes([*a, *b, *c, *d]) as usize;
        bytes = bytes.get(1 + length..).unwrap_or_default();
    }
    types
}

/// A client's first message.
pub(super) fn startup(user: &str, database: &str) -> Vec<u8> {
    let mut body = vec![0, 3, 0, 0];
    body.extend(format!("user\0{user}\0database\0{database}\0\0").as_bytes());
    let mut bytes = (body.len() as u32 + 4).to_be_bytes().to_vec();
    bytes.extend(body);
    bytes
}

pub(super) fn message(of: u8, body: &[u8]) -> Vec<u8> {
    let mut bytes = vec![of];
    bytes.extend((body.len() as u32 + 4).to_be_bytes());
    bytes.extend(body);
    bytes
}

pub(super) fn parse(name: &str, sql: &str) -> Vec<u8> {
    message(b'P', format!("{name}\0{sql}\0\0\0").as_bytes())
}

/// Binds text values, and asks for all columns as text or in binary.
pub(super) fn bind(portal: &str, statement: &str, values: &[&str], is_binary: bool) -> Vec<u8> {
    let mut body = format!("{portal}\0{statement}\0\0\0").into_bytes();
    body.extend((values.len() as u16).to_be_bytes());
    for value in values {
        body.extend((value.len() as u32).to_be_bytes());
        body.extend(value.as_bytes());
    }
    body.extend([0, 1, 0, u8::from(is_binary)]);
    message(b'B', &body)
}

pub(super) fn execute(portal: &str, rows: i32) -> Vec<u8> {
    let mut body = format!("{portal}\0").into_bytes();
    body.extend(rows.to_be_bytes());
    message(b'E', &body)
}
