//! A node's health and numbers over HTTP, for programs of its own machine: `[metrics]` of `site.toml`.
//!
//! ```toml
//! [metrics]
//! listen = "127.0.0.1:9464"       # an address of this machine alone
//! ```
//!
//! Whoever is on the machine may ask, so nothing is answered but what the operator may tell anybody, and
//! nobody who asks keeps the node from its work: connections are few, short, and closed after one answer. A
//! page of another origin that a browser on this machine shows has another name for it, and is refused.
//!
//! # Discloses
//! What the given pages say.

use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, HOST, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{sleep, timeout};

use hedgerow_data::document::{DocumentError, Section};

/// Connections at a time; one more is closed at once.
const MOST: usize = 32;
/// A question is asked within this time, and answered and read within [`WHOLE`].
const ASKING: Duration = Duration::from_secs(5);
const WHOLE: Duration = Duration::from_secs(10);
/// Bytes of a question.
const LONGEST: usize = 8_192;
/// How long nobody is heard after the system had no connection to give.
const PAUSE: Duration = Duration::from_millis(200);

/// What is answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// Whether all is well: 200, otherwise 503.
    pub is_well: bool,
    /// The content type.
    pub kind: &'static str,
    /// The text.
    pub text: String,
}

/// Gives the page of a path, if there is one.
pub type Pages = Arc<dyn Fn(&str) -> Option<Page> + Send + Sync>;

/// Pages that are served until this value is dropped.
pub struct Served {
    address: SocketAddr,
    task: JoinHandle<()>,
}

impl Served {
    /// Where the pages are.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Reads the `[metrics]` table: an address of this machine alone.
pub(crate) fn read(section: &Section<'_>) -> Result<SocketAddr, DocumentError> {
    let listen = section.required_string("listen")?;
    section.finish()?;
    let at = listen.strip_prefix("localhost:");
    let literal = at.map_or_else(|| listen.clone(), |port| format!("127.0.0.1:{port}"));
    match literal.parse::<SocketAddr>() {
        Ok(address) if address.ip().is_loopback() => Ok(address),
        Ok(_) => Err(section.wrong(
            "listen",
            format!(
                "`metrics.listen` is `{listen}`, which other machines reach\nhint: numbers are for this machine alone: listen = \"127.0.0.1:9464\"; what collects them elsewhere comes through a tunnel of its own"
            ),
        )),
        Err(_) => Err(section.wrong(
            "listen",
            format!(
                "`metrics.listen` is `{listen}`, expected a loopback address and a port, e.g. 127.0.0.1:9464"
            ),
        )),
    }
}

/// Serves pages at an address; must be called on a tokio runtime with time and network.
pub async fn serve(address: SocketAddr, pages: Pages) -> std::io::Result<Served> {
    let listener = TcpListener::bind(address).await?;
    Ok(Served {
        address: listener.local_addr()?,
        task: tokio::spawn(listen(listener, pages)),
    })
}

async fn listen(listener: TcpListener, pages: Pages) {
    let room = Arc::new(Semaphore::new(MOST));
    // They end with this task.
    let mut connections = JoinSet::new();
    loop {
        let accepted = listener.accept().await;
        while connections.try_join_next().is_some() {}
        let Ok((socket, _)) = accepted else {
            sleep(PAUSE).await;
            continue;
        };
        if let Ok(place) = Arc::clone(&room).try_acquire_owned() {
            let pages = Arc::clone(&pages);
            connections.spawn(async move {
                // Whoever is slow, or sends what is no question, is not answered.
                let _ = timeout(WHOLE, answer(socket, pages)).await;
                drop(place);
            });
        }
    }
}

async fn answer(socket: TcpStream, pages: Pages) -> Result<(), hyper::Error> {
    let service = service_fn(move |question: Request<Incoming>| {
        let response = respond(&question, &*pages);
        async { Ok::<_, Infallible>(response) }
    });
    http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(ASKING)
        .keep_alive(false)
        .max_buf_size(LONGEST)
        .serve_connection(TokioIo::new(socket), service)
        .await
}

fn respond<B>(
    question: &Request<B>,
    pages: &(dyn Fn(&str) -> Option<Page> + Send + Sync),
) -> Response<Full<Bytes>> {
    let plain =
        |status: StatusCode, text: &str| page(status, "text/plain; charset=utf-8", text.to_owned());
    let host = question.headers().get(HOST);
    if host.is_some_and(|host| !is_here(host)) {
        return plain(StatusCode::MISDIRECTED_REQUEST, "this is another host\n");
    }
    if !matches!(*question.method(), Method::GET | Method::HEAD) {
        let mut refused = plain(StatusCode::METHOD_NOT_ALLOWED, "GET alone is answered\n");
        let allowed = HeaderValue::from_static("GET, HEAD");
        refused.headers_mut().insert(ALLOW, allowed);
        return refused;
    }
    match pages(question.uri().path()) {
        Some(found) if found.is_well => page(StatusCode::OK, found.kind, found.text),
        Some(found) => page(StatusCode::SERVICE_UNAVAILABLE, found.kind, found.text),
        None => plain(StatusCode::NOT_FOUND, "there is /healthz and /metrics\n"),
    }
}

fn page(status: StatusCode, kind: &'static str, text: String) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(text)));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// Whether a question was asked of this machine by a name that only itself has.
fn is_here(host: &HeaderValue) -> bool {
    let Ok(host) = host.to_str() else {
        return false;
    };
    let is_port = |text: &str| !text.is_empty() && text.bytes().all(|digit| digit.is_ascii_digit());
    let name = match host.rsplit_once(':') {
        Some((name, port)) if is_port(port) && (name.ends_with(']') || !name.contains(':')) => name,
        _ => host,
    };
    let literal = name
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'));
    let address = literal.unwrap_or(name).parse::<IpAddr>();
    name.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    /// Far beyond what a caller is given.
    const LONG: Duration = Duration::from_secs(60);

    async fn start() -> Served {
        let pages: Pages = Arc::new(|path| {
            (path == "/healthz").then(|| Page {
                is_well: true,
                kind: "text/plain",
                text: String::from("well\n"),
            })
        });
        serve("127.0.0.1:0".parse().unwrap(), pages).await.unwrap()
    }

    async fn say(address: SocketAddr, words: &[u8]) -> String {
        let mut socket = TcpStream::connect(address).await.unwrap();
        // A server that has closed already takes no more words.
        let _ = socket.write_all(words).await;
        let mut heard = Vec::new();
        let _ = socket.read_to_end(&mut heard).await;
        String::from_utf8_lossy(&heard).into_owned()
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn questions_are_answered_once_and_nothing_else_is() {
        let served = start().await;
        let at = served.address();
        let ask = |line: &str, host: &str| format!("{line} HTTP/1.1\r\nHost: {host}\r\n\r\n");
        let well = say(at, ask("GET /healthz", "127.0.0.1:9464").as_bytes()).await;
        assert!(well.starts_with("HTTP/1.1 200 OK\r\n"), "{well}");
        assert!(
            well.contains("connection: close") && well.ends_with("\r\n\r\nwell\n"),
            "{well}"
        );
        let head = say(at, ask("HEAD /healthz", "localhost").as_bytes()).await;
        assert!(
            head.starts_with("HTTP/1.1 200") && head.ends_with("\r\n\r\n"),
            "{head}"
        );
        let old = say(at, b"GET /healthz HTTP/1.0\r\n\r\n").await;
        assert!(old.starts_with("HTTP/1.0 200"), "{old}");
        for (line, host, status) in [
            ("GET /", "[::1]:80", "404"),
            ("GET /healthz", "evil.example.org", "421"),
            ("GET /healthz", "127.0.0.1.example.org", "421"),
            ("POST /healthz", "localhost", "405"),
            ("NONSENSE", "localhost", "400"),
        ] {
            let said = say(at, ask(line, host).as_bytes()).await;
            assert!(
                said.starts_with(&format!("HTTP/1.1 {status}")),
                "{line}: {said}"
            );
        }
        // Garbage, and a head that is too long.
        let start = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nx: ";
        for (start, letter) in [(&b""[..], 0xff), (&start[..], b'a'), (&start[..], 0)] {
            let asked = [start, &[letter; 100_000]].concat();
            let said = say(at, &asked).await;
            assert!(!said.contains("200 OK"), "{said}");
        }
        let well = say(at, ask("GET /healthz", "127.0.0.1").as_bytes()).await;
        assert!(well.ends_with("well\n"), "{well}");
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn callers_that_never_finish_are_few_and_leave_in_time() {
        let served = start().await;
        let at = served.address();
        let mut silent = Vec::new();
        for _ in 0..500 {
            let mut socket = TcpStream::connect(at).await.unwrap();
            let _ = socket.write_all(b"GET /healthz HT").await;
            silent.push(socket);
        }
        // All but the first are closed at once, and the first in time.
        for mut socket in silent {
            let mut heard = Vec::new();
            let ended = timeout(LONG, socket.read_to_end(&mut heard)).await;
            assert!(ended.is_ok() && !heard.starts_with(b"HTTP/1.1 200"));
        }
        let well = say(at, b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").await;
        assert!(well.ends_with("well\n"), "{well}");
    }

    #[test]
    fn names_that_only_this_machine_has() {
        let here = |host: &str| is_here(&HeaderValue::from_str(host).unwrap());
        for host in [
            "localhost",
            "LOCALHOST:9464",
            "127.0.0.1",
            "127.1.2.3:80",
            "[::1]:80",
            "[::1]",
        ] {
            assert!(here(host), "{host}");
        }
        for host in [
            "",
            "localhost.example.org",
            "10.0.0.1:80",
            "[::2]:80",
            "localhost:",
            "a:localhost",
        ] {
            assert!(!here(host), "{host}");
        }
    }
}
