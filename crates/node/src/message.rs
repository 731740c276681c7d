//! What sites say to each other inside TLS, before and between the frames of a run.
//!
//! A message is a length (4 bytes, little-endian), a kind (1 byte) and a body. The length is
//! capped before anything is allocated, and memory grows with what has come, not with what was
//! promised. Frames carry the number they have on their link, so that a line may break and be
//! taken up again anywhere: duplicates are known, gaps are seen.
//!
//! # Discloses
//! To peers of the study: which study and run this site is at, and how far it has come. Why a run
//! ended is told as a word out of a few, never as text that could hold a value.

use std::fmt;
use std::time::Duration;

use hedgerow_smc::wire::{HEADER_BYTES, MAXIMUM_PAYLOAD};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::time::timeout;

use crate::agreement::StudyHash;

/// The version of this language.
pub(crate) const VERSION: u16 = 1;
/// How every greeting begins, whatever its version.
const MAGIC: [u8; 8] = *b"hedgerow";
/// The longest message: a frame with its number.
pub(crate) const LONGEST: usize = 1 + 8 + HEADER_BYTES + MAXIMUM_PAYLOAD;
/// The run of a greeting that only asks which run is due.
pub(crate) const NO_RUN: u32 = 0;
/// The longest message of a greeting.
pub(crate) const LONGEST_GREETING: usize = 128;

/// One message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Message {
    /// Who speaks, about what, and which frame is due next.
    Hello(Hello),
    /// The connection is of no use, and why.
    Refused(Reason),
    /// A frame of the run by its number on this link.
    Frame { number: u64, bytes: Vec<u8> },
    /// All frames below this number have arrived and are kept.
    Seen { next: u64 },
    /// Nothing, but the line is alive.
    Alive,
    /// This site's part in the run has ended without a release.
    Ended(End),
    /// Said in place of a greeting: this site does not take its part in the run, and in a word why.
    Declined {
        study: StudyHash,
        run: u32,
        end: End,
    },
}

/// The greeting of both ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Hello {
    pub(crate) version: u16,
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
    /// It speaks another version of this language.
    OtherVersion,
    /// It has another study, or another version of it.
    OtherStudy,
    /// It is at another run of the study.
    OtherRun,
    /// It says that it is another site than its key says.
    OtherSite,
    /// What it said is no greeting.
    NoGreeting,
    /// The run is over there: it has everything that it needs, and keeps nothing of it.
    Over,
    /// It has heard of the run only by this greeting, and begins.
    Begins,
    /// The run was given up there, and keeps nothing of it: it cannot go on anywhere.
    GivenUp,
}

impl fmt::Display for Reason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::OtherVersion => "the two sites run versions of hedgerow that do not fit",
            Self::OtherStudy => {
                "the two sites have different studies; compare the hashes of hedgerow study show"
            }
            Self::OtherRun => "the two sites are at different runs of the study",
            Self::OtherSite => "a site's place in the study is not the one that its key has",
            Self::NoGreeting => "what was sent is no greeting of hedgerow",
            Self::Over => "the run is over at the other site",
            Self::Begins => "the other site has just heard of the run and begins",
            Self::GivenUp => "one of the two sites has given the run up",
        })
    }
}

/// Why a site's part in a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum End {
    /// A fault of its own: its rows, its disk, its rules.
    Own,
    /// A peer was gone, silent or wrong.
    Peer(u16),
    /// Somebody stopped it.
    Stopped,
    /// Its steward gave the run up: it does not come back.
    GivenUp,
}

impl End {
    fn encode(self) -> [u8; 3] {
        let (kind, site) = match self {
            Self::Own => (0, 0),
            Self::Peer(site) => (1, site),
            Self::Stopped => (2, 0),
            Self::GivenUp => (3, 0),
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
        /// The most there may be.
        limit: usize,
    },
    /// A kind that there is not.
    #[error("it sent a message of unknown kind {0}")]
    UnknownKind(u8),
    /// A body that does not fit its kind.
    #[error("it sent a message that does not decode")]
    Malformed,
    /// A greeting of another version.
    #[error("it speaks version {0} of the language, this site {VERSION}")]
    OtherVersion(u16),
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
                let mut bytes = vec![0];
                bytes.extend_from_slice(&MAGIC);
                bytes.extend_from_slice(&hello.version.to_le_bytes());
                bytes.extend_from_slice(&hello.study.0);
                bytes.extend_from_slice(&hello.run.to_le_bytes());
                bytes.extend_from_slice(&hello.from.to_le_bytes());
                bytes.extend_from_slice(&hello.to.to_le_bytes());
                bytes.extend_from_slice(&hello.next.to_le_bytes());
                bytes
            }
            Self::Refused(reason) => vec![1, *reason as u8],
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
                let mut bytes = vec![6];
                bytes.extend_from_slice(&study.0);
                bytes.extend_from_slice(&run.to_le_bytes());
                bytes.extend_from_slice(&end.encode());
                bytes
            }
        }
    }

    /// Reads kind and body.
    pub(crate) fn decode(mut bytes: Vec<u8>) -> Result<Self, MessageError> {
        let malformed = MessageError::Malformed;
        let (kind, body) = bytes.split_first().ok_or(malformed)?;
        match kind {
            0 => Hello::decode(body).map(Self::Hello),
            1 => match body {
                [0] => Ok(Self::Refused(Reason::OtherVersion)),
                [1] => Ok(Self::Refused(Reason::OtherStudy)),
                [2] => Ok(Self::Refused(Reason::OtherRun)),
                [3] => Ok(Self::Refused(Reason::OtherSite)),
                [4] => Ok(Self::Refused(Reason::NoGreeting)),
                [5] => Ok(Self::Refused(Reason::Over)),
                [6] => Ok(Self::Refused(Reason::Begins)),
                [7] => Ok(Self::Refused(Reason::GivenUp)),
                _ => Err(malformed),
            },
            2 => {
                let number = body.first_chunk().ok_or(malformed)?;
                let number = u64::from_le_bytes(*number);
                // The frame is most of the message: it keeps the memory.
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
                let mut rest = body;
                let study = StudyHash(take(&mut rest)?);
                let run = u32::from_le_bytes(take(&mut rest)?);
                let end = End::decode(take(&mut rest)?)?;
                let is_whole = rest.is_empty();
                is_whole
                    .then_some(Self::Declined { study, run, end })
                    .ok_or(malformed)
            }
            4 => Err(malformed),
            other => Err(MessageError::UnknownKind(*other)),
        }
    }
}

impl Hello {
    fn decode(body: &[u8]) -> Result<Self, MessageError> {
        let mut rest = body;
        let magic: [u8; 8] = take(&mut rest)?;
        if magic != MAGIC {
            return Err(MessageError::Malformed);
        }
        let version = u16::from_le_bytes(take(&mut rest)?);
        if version != VERSION {
            return Err(MessageError::OtherVersion(version));
        }
        let hello = Self {
            version,
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
mod tests {
    use proptest::prelude::*;

    use super::*;

    const IDLE: Duration = Duration::from_secs(5);

    fn message() -> impl Strategy<Value = Message> {
        let hello = (any::<[u8; 32]>(), any::<(u32, u16, u16, u64)>()).prop_map(
            |(study, (run, from, to, next))| {
                Message::Hello(Hello {
                    version: VERSION,
                    study: StudyHash(study),
                    run,
                    from,
                    to,
                    next,
                })
            },
        );
        let reason = prop::sample::select(vec![
            Reason::OtherVersion,
            Reason::OtherStudy,
            Reason::OtherRun,
            Reason::OtherSite,
            Reason::NoGreeting,
            Reason::Over,
            Reason::Begins,
            Reason::GivenUp,
        ]);
        let end = prop_oneof![
            any::<u16>().prop_map(End::Peer),
            Just(End::Own),
            Just(End::Stopped),
            Just(End::GivenUp),
        ];
        prop_oneof![
            hello,
            reason.prop_map(Message::Refused),
            any::<(u64, Vec<u8>)>().prop_map(|(number, bytes)| Message::Frame { number, bytes }),
            any::<u64>().prop_map(|next| Message::Seen { next }),
            Just(Message::Alive),
            end.clone().prop_map(Message::Ended),
            (any::<([u8; 32], u32)>(), end).prop_map(|((study, run), end)| Message::Declined {
                study: StudyHash(study),
                run,
                end
            }),
        ]
    }

    fn block_on<F: Future>(future: F) -> F::Output {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .unwrap();
        runtime.block_on(future)
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(message in message()) {
            prop_assert_eq!(Message::decode(message.encode()).unwrap(), message.clone());
            let mut bytes = Vec::new();
            block_on(write(&mut bytes, &message)).unwrap();
            let found = block_on(read(&mut bytes.as_slice(), LONGEST, IDLE)).unwrap();
            prop_assert_eq!(found, message);
        }

        /// There is one way to write a message, and nothing panics.
        #[test]
        fn arbitrary_bytes_never_panic(bytes in any::<Vec<u8>>()) {
            if let Ok(message) = Message::decode(bytes.clone()) {
                prop_assert_eq!(message.encode(), bytes.clone());
            }
            let _ = block_on(read(&mut bytes.as_slice(), LONGEST_GREETING, IDLE));
        }

        #[test]
        fn a_cut_message_is_no_message(message in message(), cut in any::<prop::sample::Index>()) {
            let mut bytes = Vec::new();
            block_on(write(&mut bytes, &message)).unwrap();
            bytes.truncate(cut.index(bytes.len()));
            prop_assert!(block_on(read(&mut bytes.as_slice(), LONGEST, IDLE)).is_err());
        }
    }

    #[test]
    fn a_length_of_4_gb_is_refused_before_anything_is_allocated() {
        let bytes = u32::MAX.to_le_bytes();
        let error = block_on(read(&mut bytes.as_slice(), LONGEST, IDLE)).unwrap_err();
        assert!(
            matches!(error, ReadError::Message(MessageError::TooLong { .. })),
            "{error}"
        );
    }

    #[test]
    fn another_version_is_told_apart_from_nonsense() {
        let mut bytes = vec![0];
        bytes.extend_from_slice(&MAGIC);
        bytes.extend_from_slice(&9u16.to_le_bytes());
        bytes.extend_from_slice(b"whatever the future holds");
        assert_eq!(Message::decode(bytes), Err(MessageError::OtherVersion(9)));
    }
}
