//! Where a console is served: connections, over TLS where other machines may come, bounded in number and in
//! how long they may be slow.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hedgerow::node::console::ConsoleSettings;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;
use tower::ServiceExt as _;

use crate::console::Console;
use crate::error::ConsoleError;
use crate::guard::Peer;
use crate::patient::Patient;
use crate::room::Room;
use crate::tls;

/// A connection is encrypted within this time, and says what it asks for.
const GREETING: Duration = Duration::from_secs(10);
/// Bytes that are held of a request's head.
const HEAD: usize = 32 << 10;
/// How long nobody is heard after the system had no connection to give.
const PAUSE: Duration = Duration::from_millis(200);

/// A console that has its port.
pub struct Listening {
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    console: Arc<Console>,
}

impl Listening {
    /// Takes the port; nobody is answered before [`Listening::serve`].
    pub async fn bind(
        site: impl Into<PathBuf>,
        settings: ConsoleSettings,
    ) -> Result<Self, ConsoleError> {
        let address = settings.listen;
        if let Some(why) = settings.missing() {
            return Err(ConsoleError::Closed(why));
        }
        let tls = settings.tls.as_ref().map(tls::open).transpose()?;
        let no_port = |error: std::io::Error| ConsoleError::NoPort {
            address,
            reason: error.to_string(),
        };
        let listener = TcpListener::bind(address).await.map_err(no_port)?;
        let at = listener.local_addr().map_err(no_port)?;
        let settings = ConsoleSettings {
            listen: at,
            ..settings
        };
        Ok(Self {
            console: Console::new(site, settings, at)?,
            tls: tls.map(TlsAcceptor::from),
            listener,
        })
    }

    /// The console.
    pub const fn console(&self) -> &Arc<Console> {
        &self.console
    }

    /// Answers whoever asks, until the future is dropped.
    pub async fn serve(self) -> Infallible {
        let router = self.console.router();
        let room = Room::new();
        // They end with this future.
        let mut tasks = JoinSet::new();
        let console = Arc::clone(&self.console);
        tasks.spawn(async move { match console.watch().await {} });
        loop {
            while tasks.try_join_next().is_some() {}
            let Some(permit) = room.wait().await else {
                continue;
            };
            let Ok((socket, peer)) = self.listener.accept().await else {
                sleep(PAUSE).await;
                continue;
            };
            let Some(place) = room.take(permit, peer.ip()) else {
                continue;
            };
            let (router, tls) = (router.clone(), self.tls.clone());
            tasks.spawn(async move {
                let _ = socket.set_nodelay(true);
                greet(socket, tls, router, peer).await;
                drop(place);
            });
        }
    }
}

async fn greet(socket: TcpStream, tls: Option<TlsAcceptor>, router: Router, peer: SocketAddr) {
    match tls {
        None => answer(socket, router, peer).await,
        Some(tls) => {
            if let Ok(Ok(stream)) = timeout(GREETING, tls.accept(socket)).await {
                answer(stream, router, peer).await;
            }
        }
    }
}

async fn answer(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    router: Router,
    peer: SocketAddr,
) {
    let service = service_fn(move |mut request: hyper::Request<hyper::body::Incoming>| {
        request.extensions_mut().insert(Peer(peer));
        router.clone().oneshot(request)
    });
    // A browser that goes away is no mistake of this side.
    let _ = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(GREETING)
        .max_buf_size(HEAD)
        .serve_connection(TokioIo::new(Patient::new(stream)), service)
        .await;
}
