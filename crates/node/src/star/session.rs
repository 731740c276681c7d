//! One connection between a leaf and the hub that carries many tunnels (yamux): each with a window of its
//! own, so that a tunnel whose end does not read holds up no other, and fills no memory.
//!
//! A connection on which nothing comes for a while is dead: both ends ask the other for a sign of life now
//! and then.
//!
//! # Discloses
//! Nothing.

use std::io;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use futures_util::future::poll_fn;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{interval, timeout};
use tokio_util::compat::{Compat, FuturesAsyncReadCompatExt as _, TokioAsyncReadCompatExt as _};
pub(super) use yamux::Mode;
use yamux::{Config, Connection, DEFAULT_CREDIT};

use super::LIMIT;

/// A stream inside a connection.
pub(crate) type Tunnel = Compat<yamux::Stream>;

type Wanted = oneshot::Sender<Tunnel>;

/// How often a connection is looked after.
const TICK: Duration = Duration::from_secs(2);
/// A connection on which nothing comes for this long is dead; the other end is asked every ten seconds.
const IDLE: Duration = Duration::from_secs(25);
/// Tunnels that may wait to be opened.
const WAITING: usize = 64;

/// Opens tunnels on a connection that is driven elsewhere.
#[derive(Clone)]
pub(super) struct Session(mpsc::Sender<Wanted>);

/// The tunnels that sessions ask for.
pub(super) struct Asked(mpsc::Receiver<Wanted>);

impl Session {
    pub(super) fn new() -> (Self, Asked) {
        let (wanted, asked) = mpsc::channel(WAITING);
        (Self(wanted), Asked(asked))
    }

    /// A new tunnel. The other end hears of it with its first bytes.
    pub(super) async fn open(&self) -> io::Result<Tunnel> {
        let gone = || io::Error::from(io::ErrorKind::BrokenPipe);
        let (wanted, opened) = oneshot::channel();
        let open = async {
            self.0.send(wanted).await.map_err(|_| gone())?;
            opened.await.map_err(|_| gone())
        };
        timeout(LIMIT, open)
            .await
            .map_err(|_| io::Error::from(io::ErrorKind::TimedOut))?
    }
}

/// Drives a connection until it ends; `come` gets the tunnels that the other end opens, of which there are
/// `most` at a time, those of this end included.
pub(super) async fn drive(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    mode: Mode,
    most: usize,
    mut asked: Asked,
    mut come: impl FnMut(Tunnel),
) -> io::Error {
    let mut config = Config::default();
    // In this order: the windows of all tunnels must fit into that of the connection.
    config.set_max_connection_receive_window(None);
    config.set_max_num_streams(most);
    config.set_max_connection_receive_window(Some(most.saturating_mul(DEFAULT_CREDIT as usize)));
    let heard = Arc::new(Mutex::new(Instant::now()));
    let stream = Heard {
        stream,
        at: Arc::clone(&heard),
    };
    let mut connection = Connection::new(stream.compat(), config, mode);
    let mut ticks = pin!(interval(TICK));
    let mut wanted: Option<Wanted> = None;
    poll_fn(move |context| {
        while ticks.poll_tick(context).is_ready() {
            if locked(&heard).elapsed() >= IDLE {
                return Poll::Ready(io::ErrorKind::TimedOut.into());
            }
        }
        loop {
            if wanted.is_none()
                && let Poll::Ready(next) = asked.0.poll_recv(context)
            {
                wanted = next;
            }
            match wanted.take() {
                None => break,
                // Whoever asked waits no more.
                Some(want) if want.is_closed() => {}
                Some(want) => match connection.poll_new_outbound(context) {
                    Poll::Ready(Ok(tunnel)) => drop(want.send(tunnel.compat())),
                    Poll::Ready(Err(error)) => return Poll::Ready(io::Error::other(error)),
                    Poll::Pending => {
                        wanted = Some(want);
                        break;
                    }
                },
            }
        }
        loop {
            match connection.poll_next_inbound(context) {
                Poll::Ready(Some(Ok(tunnel))) => come(tunnel.compat()),
                Poll::Ready(Some(Err(error))) => return Poll::Ready(io::Error::other(error)),
                Poll::Ready(None) => return Poll::Ready(io::ErrorKind::UnexpectedEof.into()),
                Poll::Pending => return Poll::Pending,
            }
        }
    })
    .await
}

/// A stream that knows when something came on it last.
struct Heard<T> {
    stream: T,
    at: Arc<Mutex<Instant>>,
}

fn locked(at: &Mutex<Instant>) -> std::sync::MutexGuard<'_, Instant> {
    // A moment changes in one step.
    at.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<T: AsyncRead + Unpin> AsyncRead for Heard<T> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let read = Pin::new(&mut this.stream).poll_read(context, buffer);
        if read.is_ready() {
            *locked(&this.at) = Instant::now();
        }
        read
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Heard<T> {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write(context, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(context)
    }
}
