//! A bucket on loopback that speaks as S3, Google Cloud Storage and Azure do, as far as readers need: heads of
//! objects, ranges of them, and lists by a beginning and a delimiter. Nothing of a store's own client is in it.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// A bucket called `clinic`, which serves until the test ends.
pub(super) struct Bucket {
    port: u16,
    shared: Arc<Shared>,
}

struct Shared {
    objects: BTreeMap<String, Vec<u8>>,
    /// What the `Authorization` of every request must begin with.
    authorization: Option<String>,
    /// How many bytes of objects were asked for.
    sent: Mutex<u64>,
}

impl Bucket {
    pub(super) fn open(objects: &[(&str, Vec<u8>)], authorization: Option<&str>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let objects = objects
            .iter()
            .map(|(name, bytes)| ((*name).to_owned(), bytes.clone()));
        let shared = Arc::new(Shared {
            objects: objects.collect(),
            authorization: authorization.map(str::to_owned),
            sent: Mutex::new(0),
        });
        let served = Arc::clone(&shared);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let served = Arc::clone(&served);
                std::thread::spawn(move || serve(stream, &served));
            }
        });
        Self { port, shared }
    }

    /// Where it is.
    pub(super) fn endpoint(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// How many bytes of objects went out.
    pub(super) fn sent(&self) -> u64 {
        *self.shared.sent.lock().unwrap()
    }

    /// What the environment says of it to a program that takes it for S3.
    pub(super) fn as_s3(&self) -> Vec<(&'static str, String)> {
        vec![
            ("AWS_ACCESS_KEY_ID", String::from("clinic-key")),
            ("AWS_SECRET_ACCESS_KEY", String::from("clinic-secret")),
            ("AWS_REGION", String::from("eu-central-1")),
            ("AWS_ENDPOINT", self.endpoint()),
            ("AWS_ALLOW_HTTP", String::from("true")),
        ]
    }

    /// The same for Google Cloud Storage.
    pub(super) fn as_google(&self) -> Vec<(&'static str, String)> {
        let account = format!(
            r#"{{"gcs_base_url":"{}","disable_oauth":true,"client_email":"","private_key":"","private_key_id":""}}"#,
            self.endpoint()
        );
        vec![
            ("GOOGLE_SERVICE_ACCOUNT_KEY", account),
            ("GOOGLE_ALLOW_HTTP", String::from("true")),
        ]
    }

    /// The same for Azure.
    pub(super) fn as_azure(&self) -> Vec<(&'static str, String)> {
        vec![
            ("AZURE_STORAGE_ACCOUNT_NAME", String::from("county")),
            (
                "AZURE_STORAGE_ACCOUNT_KEY",
                String::from("Y2xpbmljLXNlY3JldA=="),
            ),
            ("AZURE_STORAGE_ENDPOINT", self.endpoint()),
            ("AZURE_STORAGE_ALLOW_HTTP", String::from("true")),
            ("AZURE_ALLOW_HTTP", String::from("true")),
        ]
    }
}

/// One connection, with one request after the other.
fn serve(stream: TcpStream, shared: &Shared) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 {
            return;
        }
        let mut words = line.split_whitespace().map(str::to_owned);
        let (method, target) = (words.next().unwrap(), words.next().unwrap());
        let mut headers = BTreeMap::new();
        loop {
            let mut header = String::new();
            reader.read_line(&mut header).unwrap();
            match header.trim_end().split_once(": ") {
                Some((name, value)) => {
                    headers.insert(name.to_lowercase(), value.to_owned());
                }
                None => break,
            }
        }
        let (status, mut answer, body) = answer(&target, &headers, shared);
        answer.push_str("ETag: \"1\"\r\nLast-Modified: Mon, 02 Nov 2026 10:00:00 GMT\r\n");
        let mut stream = &stream;
        let head = format!(
            "HTTP/1.1 {status}\r\n{answer}Content-Length: {}\r\n\r\n",
            body.len()
        );
        let mut sent = stream.write_all(head.as_bytes());
        if method == "GET" {
            if status.starts_with('2') && !target.contains("list") {
                *shared.sent.lock().unwrap() += body.len() as u64;
            }
            sent = sent.and_then(|()| stream.write_all(&body));
        }
        if sent.is_err() {
            return;
        }
    }
}

fn answer(
    target: &str,
    headers: &BTreeMap<String, String>,
    shared: &Shared,
) -> (&'static str, String, Vec<u8>) {
    if let Some(expected) = &shared.authorization {
        let given = headers.get("authorization");
        if !given.is_some_and(|given| given.starts_with(expected)) {
            let words = "<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>";
            return ("403 Forbidden", String::new(), words.into());
        }
    }
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let name = decoded(path.strip_prefix("/clinic").unwrap_or("/?"));
    let name = name.trim_start_matches('/');
    if query.contains("list") {
        return ("200 OK", String::new(), list(query, shared).into_bytes());
    }
    let Some(bytes) = shared.objects.get(name) else {
        let words = "<Error><Code>NoSuchKey</Code><Message>no such key</Message></Error>";
        return ("404 Not Found", String::new(), words.into());
    };
    let range = headers.get("range").or_else(|| headers.get("x-ms-range"));
    let Some(range) = range.and_then(|range| range.strip_prefix("bytes=")) else {
        return ("200 OK", String::new(), bytes.clone());
    };
    let (from, to) = range.split_once('-').unwrap();
    let (from, to) = match from.is_empty() {
        true => (bytes.len() - to.parse::<usize>().unwrap(), bytes.len()),
        false => {
            let last: usize = to.parse().unwrap();
            (from.parse().unwrap(), bytes.len().min(last + 1))
        }
    };
    let header = format!("Content-Range: bytes {from}-{}/{}\r\n", to - 1, bytes.len());
    ("206 Partial Content", header, bytes[from..to].to_vec())
}

/// The names that begin as asked, and what stands before the next delimiter in longer ones.
fn list(query: &str, shared: &Shared) -> String {
    let asked = |key: &str| {
        let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        let mut values = pairs.filter(|(name, _)| *name == key);
        values.next().map(|(_, value)| decoded(value))
    };
    let prefix = asked("prefix").unwrap_or_default();
    assert_eq!(asked("delimiter").unwrap(), "/");
    let (mut files, mut folders) = (String::new(), BTreeSet::new());
    let is_azure = query.contains("comp=list");
    for (name, bytes) in &shared.objects {
        let Some(rest) = name.strip_prefix(&prefix) else {
            continue;
        };
        let (name, size) = (escaped(name), bytes.len());
        match rest.split_once('/') {
            Some((inner, _)) => {
                folders.insert(format!("{prefix}{inner}/"));
            }
            None if is_azure => files.push_str(&format!(
                "<Blob><Name>{name}</Name><Properties><Last-Modified>Mon, 02 Nov 2026 10:00:00 GMT</Last-Modified><Etag>1</Etag><Content-Length>{size}</Content-Length><Content-Type>x</Content-Type></Properties></Blob>"
            )),
            None => files.push_str(&format!(
                "<Contents><Key>{name}</Key><LastModified>2026-11-02T10:00:00.000Z</LastModified><ETag>\"1\"</ETag><Size>{size}</Size></Contents>"
            )),
        }
    }
    let folders = folders.iter().map(|folder| match is_azure {
        true => format!("<BlobPrefix><Name>{folder}</Name></BlobPrefix>"),
        false => format!("<CommonPrefixes><Prefix>{folder}</Prefix></CommonPrefixes>"),
    });
    let folders: String = folders.collect();
    match is_azure {
        true => format!(
            "<?xml version=\"1.0\"?><EnumerationResults><Blobs>{files}{folders}</Blobs><NextMarker/></EnumerationResults>"
        ),
        false => format!(
            "<?xml version=\"1.0\"?><ListBucketResult><IsTruncated>false</IsTruncated>{files}{folders}</ListBucketResult>"
        ),
    }
}

fn escaped(name: &str) -> String {
    name.replace('&', "&amp;").replace('<', "&lt;")
}

fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        match byte {
            b'%' => {
                let digits = [rest.next().unwrap(), rest.next().unwrap()];
                let digits = std::str::from_utf8(&digits).unwrap();
                bytes.push(u8::from_str_radix(digits, 16).unwrap());
            }
            byte => bytes.push(byte),
        }
    }
    String::from_utf8(bytes).unwrap()
}
