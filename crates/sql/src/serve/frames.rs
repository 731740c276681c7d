//! A stream whose messages have a longest length, so that a client cannot have the server set aside more than that.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The longest message: a statement, or its parameters.
pub(super) const LONGEST: usize = 1 << 20;
/// A type and a length.
const HEADER: usize = 5;

/// A connection, with TLS or without.
pub(super) trait Stream: AsyncRead + AsyncWrite + Unpin + Send + Sync {}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + Sync> Stream for S {}

/// A stream of messages, each with a type and a length.
pub(super) struct Frames {
    stream: Box<dyn Stream>,
    header: [u8; HEADER],
    filled: usize,
    /// Bytes of the message that are still to come.
    rest: usize,
}

impl Frames {
    pub(super) const fn new(stream: Box<dyn Stream>) -> Self {
        Self {
            stream,
            header: [0; HEADER],
            filled: 0,
            rest: 0,
        }
    }

    /// Follows the lengths of messages through bytes that were read.
    fn follow(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let skipped = self.rest.min(bytes.len());
            (self.rest, bytes) = (self.rest - skipped, &bytes[skipped..]);
            let taken = (HEADER - self.filled).min(bytes.len());
            self.header[self.filled..][..taken].copy_from_slice(&bytes[..taken]);
            (self.filled, bytes) = (self.filled + taken, &bytes[taken..]);
            if self.filled == HEADER {
                let [_, length @ ..] = self.header;
                let length = u32::from_be_bytes(length) as usize;
                if !(4..=LONGEST).contains(&length) {
                    return Err(io::Error::from(io::ErrorKind::InvalidData));
                }
                (self.filled, self.rest) = (0, length - 4);
            }
        }
        Ok(())
    }
}

impl AsyncRead for Frames {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let own = self.get_mut();
        let before = buffer.filled().len();
        ready!(Pin::new(&mut own.stream).poll_read(context, buffer))?;
        Poll::Ready(own.follow(&buffer.filled()[before..]))
    }
}

impl AsyncWrite for Frames {
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
