//! A line to a client: messages with a longest length in, messages out, each with a time in which it must go.

use std::io;
use std::time::Duration;

use bytes::{Buf as _, Bytes, BytesMut};
use pgwire::messages::PgWireBackendMessage;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};

use super::message::{Malformed, Message};

/// The longest message of a client whose password was right: a statement, or its parameters.
pub(super) const LONGEST: usize = 1 << 20;
/// The longest message before that.
pub(super) const LONGEST_BEFORE: usize = 4096;
/// How long a client may take to read a piece of its answer.
const PATIENCE: Duration = Duration::from_secs(60);
/// How many bytes of an answer are sent at once.
pub(super) const PIECE: usize = 1 << 16;
/// How much is read ahead while a statement runs.
const AHEAD: usize = 1 << 16;
/// A type and a length.
const HEADER: usize = 5;

/// A connection, with TLS or without.
pub(super) trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Stream for S {}

/// Why a line is of no more use.
#[derive(Debug, thiserror::Error)]
pub(super) enum LineError {
    #[error(transparent)]
    Malformed(#[from] Malformed),
    #[error("a message of {length} bytes, expected at most {longest}")]
    TooLong { length: usize, longest: usize },
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// A line to a client.
pub(super) struct Line {
    stream: Box<dyn Stream>,
    read: BytesMut,
    written: BytesMut,
    longest: usize,
}

impl Line {
    /// A line to a client that nobody knows yet.
    pub(super) fn new(stream: Box<dyn Stream>) -> Self {
        Self {
            stream,
            read: BytesMut::new(),
            written: BytesMut::new(),
            longest: LONGEST_BEFORE,
        }
    }

    /// Lets messages be as long as those of a known client.
    pub(super) const fn trust(&mut self) {
        self.longest = LONGEST;
    }

    /// The next message; none where the client has gone.
    pub(super) async fn next(&mut self) -> Result<Option<Message>, LineError> {
        loop {
            if let Some(message) = self.take()? {
                return Ok(Some(message));
            }
            self.read.reserve(AHEAD.min(self.longest));
            if self.stream.read_buf(&mut self.read).await? == 0 {
                return Ok(None);
            }
        }
    }

    /// A message that has been read whole.
    fn take(&mut self) -> Result<Option<Message>, LineError> {
        let [of, a, b, c, d, ..] = *self.read else {
            return Ok(None);
        };
        let length = u32::from_be_bytes([a, b, c, d]) as usize;
        let longest = self.longest;
        if length > longest {
            return Err(LineError::TooLong { length, longest });
        }
        let body = length.checked_sub(4).ok_or(Malformed)?;
        if self.read.len() < HEADER + body {
            return Ok(None);
        }
        self.read.advance(HEADER);
        let body: Bytes = self.read.split_to(body).freeze();
        Ok(Some(Message::read(of, body)?))
    }

    /// Waits until the client has gone. What it says meanwhile is kept for later.
    pub(super) async fn gone(&mut self) {
        while self.read.len() < AHEAD {
            self.read.reserve(PIECE);
            match self.stream.read_buf(&mut self.read).await {
                Ok(0) | Err(_) => return,
                Ok(_) => {}
            }
        }
        // It has said so much that it waits for the answer.
        std::future::pending().await
    }

    /// Adds a message to what is sent next.
    pub(super) fn put(&mut self, message: &PgWireBackendMessage) -> io::Result<()> {
        let encoded = message.encode(&mut self.written);
        encoded.map_err(|error| io::Error::other(error.to_string()))
    }

    /// Adds bytes of a message that the library has none of.
    pub(super) fn put_bytes(&mut self, bytes: &[u8]) {
        self.written.extend_from_slice(bytes);
    }

    /// Whether so much is to be sent that it should be.
    pub(super) fn is_full(&self) -> bool {
        self.written.len() >= PIECE
    }

    /// Sends what was added.
    pub(super) async fn flush(&mut self) -> io::Result<()> {
        while !self.written.is_empty() {
            let sent = self.stream.write(&self.written);
            let sent = tokio::time::timeout(PATIENCE, sent).await;
            match sent.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))?? {
                0 => return Err(io::Error::from(io::ErrorKind::WriteZero)),
                sent => self.written.advance(sent),
            }
        }
        // A large answer leaves no large buffer behind.
        if self.written.capacity() > 4 * PIECE {
            self.written = BytesMut::new();
        }
        tokio::time::timeout(PATIENCE, self.stream.flush())
            .await
            .map_err(|_| io::Error::from(io::ErrorKind::TimedOut))?
    }

    /// Sends what was added, and hangs up.
    pub(super) async fn close(&mut self) -> io::Result<()> {
        self.flush().await?;
        let closed = tokio::time::timeout(Duration::from_secs(1), self.stream.shutdown()).await;
        closed.unwrap_or(Ok(()))
    }
}
