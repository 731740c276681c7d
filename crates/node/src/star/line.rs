//! What TLS between two sites runs on: a connection of their own, or a tunnel through the hub.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use super::session::Tunnel;

/// Bytes to another site and back.
pub(crate) enum Line {
    /// A connection to a port.
    Port(TcpStream),
    /// A tunnel through the hub.
    Tunnel(Tunnel),
}

impl AsyncRead for Line {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Port(line) => Pin::new(line).poll_read(context, buffer),
            Self::Tunnel(line) => Pin::new(line).poll_read(context, buffer),
        }
    }
}

impl AsyncWrite for Line {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Port(line) => Pin::new(line).poll_write(context, bytes),
            Self::Tunnel(line) => Pin::new(line).poll_write(context, bytes),
        }
    }

    // TLS hands over all that it has at once, its last words to a peer that it refuses included.
    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Port(line) => Pin::new(line).poll_write_vectored(context, pieces),
            Self::Tunnel(line) => Pin::new(line).poll_write_vectored(context, pieces),
        }
    }

    fn is_write_vectored(&self) -> bool {
        match self {
            Self::Port(line) => line.is_write_vectored(),
            Self::Tunnel(line) => line.is_write_vectored(),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Port(line) => Pin::new(line).poll_flush(context),
            Self::Tunnel(line) => Pin::new(line).poll_flush(context),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Port(line) => Pin::new(line).poll_shutdown(context),
            Self::Tunnel(line) => Pin::new(line).poll_shutdown(context),
        }
    }
}
