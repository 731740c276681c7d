//! What sites say to each other inside TLS, before and between the frames of a run.
//!
//! A message is a length (4 bytes, little-endian), a kind (1 byte) and a body. The length is capped
//! before anything is allocated, and memory grows with the bytes that have come, not with the length
//! that was promised. Frames carry the number they have on their link, so that a line may break and be
//! taken up again anywhere: duplicates are known, gaps are seen.
//!
//! In every version the first message of a site begins, behind its kind, with eight letters and a
//! version; what follows depends on the version. A site that hears another version answers with that
//! beginning alone, so both ends can say which two versions met.
//!
//! # Discloses
//! To peers of the study: which study and run this site is at, and how far it has come. The reason of an
//! end is one of a few fixed words, never text that could hold a value.

use std::fmt;
use std::time::Duration;

use hedgerow_smc::wire::{self, HEADER_BYTES, MAXIMUM_PAYLOAD};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::time::timeout;

use crate::agreement::StudyHash;

/// The version of what this site says.
pub(crate) const VERSION: Version = Version {
    language: 4,
    frames: wire::VERSION,
};
/// How every greeting begins, whatever its version.
const MAGIC: [u8; 8] = *b"hedgerow";
/// The longest message: a frame with its number.
pub(crate) const LONGEST: usize = 1 + 8 + HEADER_BYTES + MAXIMUM_PAYLOAD;
/// The run of a greeting that only asks which run is due.
pub(crate) const NO_RUN: u32 = 0;
/// The longest message of a greeting. Greetings of this version are shorter; the rest is room for other
/// versions.
pub(crate) const LONGEST_GREETING: usize = 1 << 12;
/// The version that refused other versions without naming its own.
const FIRST: Version = Version {
    language: 1,
    frames: 0,
};

/// A version of what sites say to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Version {
    /// The version of greetings and of messages between frames.
    pub language: u8,
    /// The version of the frames of a run.
    pub frames: u8,
}

impl fmt::Display for Version {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}", self.language, self.frames)
    }
}

/// A message between two sites.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Message {
    /// Who speaks, about what, and which frame is due next.
    Hello(Hello),
    /// The connection is of no use, and why.
    Refused(Reason),
    /// A frame of the run by its number on this link.
    Frame { number: u64, bytes: Vec<u8> },
    /// All frames below this number are on disk for good: whoever sent them may forget them.
    Seen { next: u64 },
    /// Nothing, but the line is alive.
    Alive,
    /// This site's part in the run has ended without a release.
    Ended(End),
    /// Sent in place of a greeting: this site does not take its part in the run, with the reason in a
    /// word.
    Declined {
        study: StudyHash,
        run: u32,
        end: End,
    },
    /// Sent in place of a greeting, by both ends of a connection for questions: who speaks, about what.
    Attend {
        study: StudyHash,
        from: u16,
        to: u16,
    },
    /// Sent in place of a greeting, by a site to its hub and back: from here on the line carries tunnels to
    /// other sites (see `star`). `awaits` says whether others may call the site through it.
    Relay {
        study: StudyHash,
        from: u16,
        to: u16,
        awaits: bool,
    },
}

/// The greeting of both ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Hello {
    pub(crate) study: StudyHash,
    pub(crate) run: u32,
    pub(crate) from: u16,
    pub(crate) to: u16,
    /// The number of the next frame that the speaker expects.
    pub(crate) next: u64,
}

/// Why a connection was refused after both keys were proven.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// The site that refuses speaks this other version of the language between sites.
    OtherVersion(Version),
    /// The peer has another study, or another version of it.
    OtherStudy,
    /// The peer is at another run of the study.
    OtherRun,
    /// The greeting names another site than the key does.
    OtherSite,
    /// The message is no greeting.
    NoGreeting,
    /// The run is over at the site that refuses, which has everything that it needs and keeps nothing.
    Over,
    /// The site that refuses has heard of the run only by this greeting, and begins.
    Begins,
    /// The run was given up at the site that refuses: it cannot go on anywhere.
    GivenUp,
    /// The two sites have a connection already.
    Connected,
    /// The site that refuses answers no questions.
    NoQuestions,
    /// The site that refuses passes on nothing.
    NoHub,
}

impl fmt::Display for Reason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::OtherVersion(theirs) => {
                return write!(
                    formatter,
                    "this site speaks version {VERSION} of what hedgerow says between sites, the other {theirs}; the one with the lower number needs the hedgerow of the other"
                );
            }
            Self::OtherStudy => {
                "the two sites have different studies; compare the hashes of hedgerow study show"
            }
            Self::OtherRun => "the two sites are at different runs of the study",
            Self::OtherSite => "a site's place in the study is not the one that its key has",
            Self::NoGreeting => "what was sent is no greeting of hedgerow",
            Self::Over => "the run is over at the other site",
            Self::Begins => "the other site has just heard of the run and begins",
            Self::GivenUp => "one of the two sites has given the run up",
            Self::Connected => "the two sites are connected already",
            Self::NoQuestions => {
                "the other site answers no questions: it takes part in a run without its node, or its study has no [query]"
            }
            Self::NoHub => "the other site passes nothing on: it is not the hub of a star",
        })
    }
}

/// Why a site's part in a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum End {
    /// A fault at the site itself: its rows, its disk, its rules.
    Own,
    /// A peer was gone, silent or wrong.
    Peer(u16),
    /// Somebody stopped the site's process.
    Stopped,
    /// The site's steward gave the run up: the site does not come back.
    GivenUp,
    /// The site counted the release again, and does not sign it.
    Unsound,
    /// More falls to a known attack than the study allows, and the site does not sign the release.
    HeldBack,
}

impl End {
    fn encode(self) -> [u8; 3] {
        let (kind, site) = match self {
            Self::Own => (0, 0),
            Self::Peer(site) => (1, site),
            Self::Stopped => (2, 0),
            Self::GivenUp => (3, 0),
            Self::Unsound => (4, 0),
            Self::HeldBack => (5, 0),
        };
        let [low, high] = site.to_le_bytes();
        [kind, low, high]
    }

    fn decode(bytes: [u8; 3]) -> Result<Self, MessageError> {
        match bytes {
            [0, 0, 0] => Ok(Self::Own),
            [1, low, high] => Ok(Self::Peer(u16::from_le_bytes([low, high]))),
            [2, 0, 0] => Ok(Self::Stopped),
            [3, 0, 0] => Ok(Self::GivenUp),
            [4, 0, 0] => Ok(Self::Unsound),
            [5, 0, 0] => Ok(Self::HeldBack),
            _ => Err(MessageError::Malformed),
        }
    }
}

/// Why bytes are no message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MessageError {
    /// Longer than a message may be.
    #[error("it announced a message of {length} bytes, expected at most {limit}")]
    TooLong {
        /// The length.
        length: usize,
        /// The greatest length allowed.
        limit: usize,
    },
    /// A message of an unknown kind.
    #[error("it sent a message of unknown kind {0}")]
    UnknownKind(u8),
    /// A message whose body does not fit its kind.
    #[error("it sent a message that does not decode")]
    Malformed,
    /// A first message of another version.
    #[error("{}", Reason::OtherVersion(*.0))]
    OtherVersion(Version),
}

/// Why no message could be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum ReadError {
    #[error(transparent)]
    Line(#[from] std::io::Error),
    #[error(transparent)]
    Message(#[from] MessageError),
}

impl Message {
    /// Kind and body.
    pub(crate) fn encode(&self) -> Vec<u8> {
        match self {
            Self::Hello(hello) => {
                let mut bytes = opening(0);
                bytes.extend_from_slice(&hello.study.0);
                bytes.extend_from_slice(&hello.run.to_le_bytes());
                bytes.extend_from_slice(&hello.from.to_le_bytes());
                bytes.extend_from_slice(&hello.to.to_le_bytes());
                bytes.extend_from_slice(&hello.next.to_le_bytes());
                bytes
            }
            // The answer tells the other end this site's version, in whatever version the other end
            // speaks.
            Self::Refused(Reason::OtherVersion(_)) => opening(0),
            Self::Refused(Reason::OtherStudy) => vec![1, 1],
            Self::Refused(Reason::OtherRun) => vec![1, 2],
            Self::Refused(Reason::OtherSite) => vec![1, 3],
            Self::Refused(Reason::NoGreeting) => vec![1, 4],
            Self::Refused(Reason::Over) => vec![1, 5],
            Self::Refused(Reason::Begins) => vec![1, 6],
            Self::Refused(Reason::GivenUp) => vec![1, 7],
            Self::Refused(Reason::Connected) => vec![1, 8],
            Self::Refused(Reason::NoQuestions) => vec![1, 9],
            Self::Refused(Reason::NoHub) => vec![1, 10],
            Self::Frame { number, bytes } => {
                let mut message = Vec::with_capacity(9 + bytes.len());
                message.push(2);
                message.extend_from_slice(&number.to_le_bytes());
                message.extend_from_slice(bytes);
                message
            }
            Self::Seen { next } => {
                let mut bytes = vec![3];
                bytes.extend_from_slice(&next.to_le_bytes());
                bytes
            }
            Self::Alive => vec![4],
            Self::Ended(end) => {
                let mut bytes = vec![5];
                bytes.extend_from_slice(&end.encode());
                bytes
            }
            Self::Declined { study, run, end } => {
                let mut bytes = opening(6);
                bytes.extend_from_slice(&study.0);
                bytes.extend_from_slice(&run.to_le_bytes());
                bytes.extend_from_slice(&end.encode());
                bytes
            }
            Self::Attend { study, from, to } => {
                let mut bytes = opening(7);
                bytes.extend_from_slice(&study.0);
                bytes.extend_from_slice(&from.to_le_bytes());
                bytes.extend_from_slice(&to.to_le_bytes());
                bytes
            }
            Self::Relay {
                study,
                from,
                to,
                awaits,
            } => {
                let mut bytes = opening(8);
                bytes.extend_from_slice(&study.0);
                bytes.extend_from_slice(&from.to_le_bytes());
                bytes.extend_from_slice(&to.to_le_bytes());
                bytes.push(u8::from(*awaits));
                bytes
            }
        }
    }

    /// Reads kind and body.
    pub(crate) fn decode(mut bytes: Vec<u8>) -> Result<Self, MessageError> {
        let malformed = MessageError::Malformed;
        let (kind, body) = bytes.split_first().ok_or(malformed)?;
        // A frame's own bytes begin elsewhere, behind its number.
        if let Some(version) = version_of(body)
            && version != VERSION
            && *kind != 2
        {
            return Err(MessageError::OtherVersion(version));
        }
        match kind {
            0 => Hello::decode(body).map(Self::Hello),
            1 => match body {
                [0] => Err(MessageError::OtherVersion(FIRST)),
                [1] => Ok(Self::Refused(Reason::OtherStudy)),
                [2] => Ok(Self::Refused(Reason::OtherRun)),
                [3] => Ok(Self::Refused(Reason::OtherSite)),
                [4] => Ok(Self::Refused(Reason::NoGreeting)),
                [5] => Ok(Self::Refused(Reason::Over)),
                [6] => Ok(Self::Refused(Reason::Begins)),
                [7] => Ok(Self::Refused(Reason::GivenUp)),
                [8] => Ok(Self::Refused(Reason::Connected)),
                [9] => Ok(Self::Refused(Reason::NoQuestions)),
                [10] => Ok(Self::Refused(Reason::NoHub)),
                _ => Err(malformed),
            },
            2 => {
                let number = body.first_chunk().ok_or(malformed)?;
                let number = u64::from_le_bytes(*number);
                // The frame is most of the message, so it keeps the message's memory.
                bytes.drain(..9);
                Ok(Self::Frame { number, bytes })
            }
            3 => {
                let next = body.try_into().map_err(|_| malformed)?;
                let next = u64::from_le_bytes(next);
                Ok(Self::Seen { next })
            }
            4 if body.is_empty() => Ok(Self::Alive),
            5 => {
                let end = body.try_into().map_err(|_| malformed)?;
                End::decode(end).map(Self::Ended)
            }
            6 => {
                let mut rest = opened(body)?;
                let study = StudyHash(take(&mut rest)?);
                let run = u32::from_le_bytes(take(&mut rest)?);
                let end = End::decode(take(&mut rest)?)?;
                let is_whole = rest.is_empty();
                is_whole
                    .then_some(Self::Declined { study, run, end })
                    .ok_or(malformed)
            }
            7 => {
                let mut rest = opened(body)?;
                let study = StudyHash(take(&mut rest)?);
                let from = u16::from_le_bytes(take(&mut rest)?);
                let to = u16::from_le_bytes(take(&mut rest)?);
                let is_whole = rest.is_empty();
                is_whole
                    .then_some(Self::Attend { study, from, to })
                    .ok_or(malformed)
            }
            8 => {
                let mut rest = opened(body)?;
                let study = StudyHash(take(&mut rest)?);
                let from = u16::from_le_bytes(take(&mut rest)?);
                let to = u16::from_le_bytes(take(&mut rest)?);
                let awaits = match rest {
                    [0] => false,
                    [1] => true,
                    _ => return Err(malformed),
                };
                Ok(Self::Relay {
                    study,
                    from,
                    to,
                    awaits,
                })
            }
            4 => Err(malformed),
            other => Err(MessageError::UnknownKind(*other)),
        }
    }
}

impl Hello {
    fn decode(body: &[u8]) -> Result<Self, MessageError> {
        let mut rest = opened(body)?;
        let hello = Self {
            study: StudyHash(take(&mut rest)?),
            run: u32::from_le_bytes(take(&mut rest)?),
            from: u16::from_le_bytes(take(&mut rest)?),
            to: u16::from_le_bytes(take(&mut rest)?),
            next: u64::from_le_bytes(take(&mut rest)?),
        };
        if rest.is_empty() {
            Ok(hello)
        } else {
            Err(MessageError::Malformed)
        }
    }
}

/// How a site's first words begin.
fn opening(kind: u8) -> Vec<u8> {
    let mut bytes = vec![kind];
    bytes.extend_from_slice(&MAGIC);
    bytes.extend_from_slice(&[VERSION.language, VERSION.frames]);
    bytes
}

/// The version of first words.
fn version_of(body: &[u8]) -> Option<Version> {
    let [language, frames] = *body.strip_prefix(&MAGIC)?.first_chunk()?;
    Some(Version { language, frames })
}

/// The rest of a first message of this version, after its beginning.
fn opened(body: &[u8]) -> Result<&[u8], MessageError> {
    let is_ours = version_of(body) == Some(VERSION);
    let rest = body.get(MAGIC.len() + 2..).filter(|_| is_ours);
    rest.ok_or(MessageError::Malformed)
}

fn take<const N: usize>(rest: &mut &[u8]) -> Result<[u8; N], MessageError> {
    let (taken, left) = rest.split_first_chunk().ok_or(MessageError::Malformed)?;
    *rest = left;
    Ok(*taken)
}

/// Reads one message of at most `limit` bytes, on a line that is never still for longer than
/// `idle`.
pub(crate) async fn read(
    stream: &mut (impl AsyncRead + Unpin),
    limit: usize,
    idle: Duration,
) -> Result<Message, ReadError> {
    let late = |_| std::io::Error::from(std::io::ErrorKind::TimedOut);
    let length = timeout(idle, stream.read_u32_le()).await.map_err(late)??;
    let length = length as usize;
    if length > limit {
        return Err(MessageError::TooLong { length, limit }.into());
    }
    let mut bytes = Vec::with_capacity(length.min(1 << 16));
    let mut stream = stream.take(length as u64);
    while bytes.len() < length {
        let read = timeout(idle, stream.read_buf(&mut bytes))
            .await
            .map_err(late)??;
        if read == 0 {
            return Err(std::io::Error::from(std::io::ErrorKind::UnexpectedEof).into());
        }
    }
    Ok(Message::decode(bytes)?)
}

/// Writes one message; the caller flushes.
pub(crate) async fn write(
    stream: &mut (impl AsyncWrite + Unpin),
    message: &Message,
) -> std::io::Result<()> {
    let bytes = message.encode();
    // No message is longer than LONGEST, far below 4 GB.
    stream.write_u32_le(bytes.len() as u32).await?;
    stream.write_all(&bytes).await
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
