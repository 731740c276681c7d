//! What nodes say to each other on a line for questions.
//!
//! A word is a length, a kind and a body. What a peer sends is hostile: a length is looked at before anything
//! is allocated, and memory grows with the bytes that have come. Every word that belongs to a question, or to
//! a joining, names it by its hash, so that several of them share a line and do not mix.
//!
//! # Discloses
//! To peers of the study: questions, and whether this site answers, by one of a few fixed words.

use std::time::Duration;

use hedgerow_smc::wire::{HEADER_BYTES, MAXIMUM_PAYLOAD};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::time::timeout;

use super::refusal::Refusal;

/// The longest word: a frame with its name.
const LONGEST: usize = 1 + 32 + HEADER_BYTES + MAXIMUM_PAYLOAD;

/// The name of a question or of a joining.
pub(super) type Name = [u8; 32];

/// One word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Word {
    /// Nothing, but the line is alive.
    Alive,
    /// The life of the site that speaks: it changes when the site forgets its keys.
    Life([u8; 32]),
    /// A frame of a question or a joining.
    Frame { name: Name, bytes: Vec<u8> },
    /// A question.
    Ask(Box<Asking>),
    /// This site does not answer a question.
    Refused { name: Name, refusal: Refusal },
    /// This site's part in a question has ended without an answer.
    Ended { name: Name, end: PartEnd },
}

/// A question as its asker signs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Asking {
    /// The public randomness of the joining that the question is asked under.
    pub(super) session: [u8; 32],
    /// The run whose table is asked.
    pub(super) run: u32,
    /// The asker's number of the question.
    pub(super) number: u64,
    /// A hash of what all sites must know alike of the table.
    pub(super) table: [u8; 32],
    pub(super) signature: [u8; 64],
    pub(super) question: Vec<u8>,
}

/// Why a site's part in a question ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PartEnd {
    /// Nobody wants the answer any more.
    Cancelled,
    /// A peer was gone, silent or wrong.
    Peer(u16),
    /// A fault at the site itself.
    Own,
}

/// Why bytes are no word.
#[derive(Debug, thiserror::Error)]
pub(super) enum WordError {
    #[error("the line broke: {}", crate::tls::in_words(.0))]
    Line(#[from] std::io::Error),
    #[error("it announced {length} bytes, expected at most {LONGEST}")]
    TooLong { length: usize },
    #[error("it said something that does not decode")]
    Malformed,
}

impl Word {
    pub(super) fn encode(&self) -> Vec<u8> {
        match self {
            Self::Alive => vec![0],
            Self::Life(life) => [&[1], life.as_slice()].concat(),
            Self::Frame { name, bytes } => [&[2], name.as_slice(), bytes].concat(),
            Self::Ask(asking) => [
                &[3],
                asking.session.as_slice(),
                &asking.run.to_le_bytes(),
                &asking.number.to_le_bytes(),
                &asking.table,
                &asking.signature,
                &asking.question,
            ]
            .concat(),
            Self::Refused { name, refusal } => [&[4], name.as_slice(), &refusal.encode()].concat(),
            Self::Ended { name, end } => {
                let (kind, site) = match end {
                    PartEnd::Cancelled => (0, 0),
                    PartEnd::Peer(site) => (1, *site),
                    PartEnd::Own => (2, 0),
                };
                [&[5], name.as_slice(), &[kind], &site.to_le_bytes()].concat()
            }
        }
    }

    pub(super) fn decode(mut bytes: Vec<u8>) -> Option<Self> {
        let (kind, mut rest) = bytes.split_first()?;
        let rest = &mut rest;
        match kind {
            0 => rest.is_empty().then_some(Self::Alive),
            1 => {
                let life = take(rest)?;
                rest.is_empty().then_some(Self::Life(life))
            }
            2 => {
                let name = take(rest)?;
                // The frame is most of the word, so it keeps the word's memory.
                bytes.drain(..33);
                Some(Self::Frame { name, bytes })
            }
            3 => Some(Self::Ask(Box::new(Asking {
                session: take(rest)?,
                run: u32::from_le_bytes(take(rest)?),
                number: u64::from_le_bytes(take(rest)?),
                table: take(rest)?,
                signature: take(rest)?,
                question: rest.to_vec(),
            }))),
            4 => {
                let name = take(rest)?;
                let refusal = Refusal::decode(rest)?;
                Some(Self::Refused { name, refusal })
            }
            5 => {
                let name = take(rest)?;
                let [kind, low, high] = take(rest)?;
                let end = match (kind, u16::from_le_bytes([low, high])) {
                    (0, 0) => PartEnd::Cancelled,
                    (1, site) => PartEnd::Peer(site),
                    (2, 0) => PartEnd::Own,
                    _ => return None,
                };
                rest.is_empty().then_some(Self::Ended { name, end })
            }
            _ => None,
        }
    }
}

fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (taken, left) = rest.split_first_chunk()?;
    *rest = left;
    Some(*taken)
}

/// Reads one word, on a line that is never still for longer than `idle`.
pub(super) async fn read(
    stream: &mut (impl AsyncRead + Unpin),
    idle: Duration,
) -> Result<Word, WordError> {
    let late = |_| std::io::Error::from(std::io::ErrorKind::TimedOut);
    let length = timeout(idle, stream.read_u32_le()).await.map_err(late)??;
    let length = length as usize;
    if length > LONGEST {
        return Err(WordError::TooLong { length });
    }
    let mut bytes = Vec::with_capacity(length.min(1 << 16));
    let mut stream = stream.take(length as u64);
    while bytes.len() < length {
        let read = timeout(idle, stream.read_buf(&mut bytes)).await;
        if read.map_err(late)?? == 0 {
            return Err(std::io::Error::from(std::io::ErrorKind::UnexpectedEof).into());
        }
    }
    Word::decode(bytes).ok_or(WordError::Malformed)
}

/// Writes one encoded word, to a peer that takes some of it every `idle`; the caller flushes.
pub(super) async fn write(
    stream: &mut (impl AsyncWrite + Unpin),
    bytes: &[u8],
    idle: Duration,
) -> std::io::Result<()> {
    // No word is longer than LONGEST, far below 4 GB.
    stream.write_u32_le(bytes.len() as u32).await?;
    for chunk in bytes.chunks(1 << 14) {
        timeout(idle, stream.write_all(chunk)).await??;
    }
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn words() -> Vec<Word> {
        let name = [3; 32];
        vec![
            Word::Alive,
            Word::Life([9; 32]),
            Word::Frame {
                name,
                bytes: vec![1, 2, 3],
            },
            Word::Ask(Box::new(Asking {
                session: [1; 32],
                run: 7,
                number: u64::MAX,
                table: [2; 32],
                signature: [4; 64],
                question: b"{}".to_vec(),
            })),
            Word::Refused {
                name,
                refusal: Refusal::Columns(vec![1, 500]),
            },
            Word::Ended {
                name,
                end: PartEnd::Peer(260),
            },
            Word::Ended {
                name,
                end: PartEnd::Cancelled,
            },
        ]
    }

    #[test]
    fn words_are_read_as_they_are_written() {
        for word in words() {
            assert_eq!(Word::decode(word.encode()), Some(word));
        }
    }

    #[tokio::test]
    async fn a_word_that_is_too_long_is_refused_before_it_is_read() {
        let mut line: &[u8] = &u32::MAX.to_le_bytes();
        let error = read(&mut line, Duration::from_secs(1)).await.unwrap_err();
        assert!(error.to_string().contains("it announced 4294967295 bytes"));
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_decode_to_what_they_encode_or_to_nothing(
            kind in 0u8..8,
            body in any::<Vec<u8>>(),
        ) {
            let bytes = [&[kind], body.as_slice()].concat();
            if let Some(word) = Word::decode(bytes.clone()) {
                prop_assert_eq!(word.encode(), bytes);
            }
        }

        /// A line of words in which bytes were changed, put in or cut off.
        #[test]
        fn a_hostile_line_is_read_or_refused(
            places in proptest::collection::vec(0usize..7, 1..6),
            changes in proptest::collection::vec((any::<u16>(), any::<u8>(), 0u8..3), 0..6),
            tail in proptest::collection::vec(any::<u8>(), 0..80),
        ) {
            let mut line = Vec::new();
            for place in &places {
                let word = words()[*place].encode();
                line.extend((word.len() as u32).to_le_bytes());
                line.extend(word);
            }
            line.extend(tail);
            let is_changed = !changes.is_empty();
            for (place, byte, kind) in changes {
                let place = usize::from(place) % line.len().max(1);
                match kind {
                    0 => line[place] ^= byte,
                    1 => line.insert(place, byte),
                    _ => line.truncate(place.max(4)),
                }
            }
            let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
            let (read, left) = runtime.block_on(async {
                let mut stream: &[u8] = &line;
                let mut found = Vec::new();
                loop {
                    match read(&mut stream, Duration::from_secs(1)).await {
                        Ok(word) => found.push(word),
                        Err(_) => break (found, stream.len()),
                    }
                }
            });
            // What was read is what stands on the line, byte for byte.
            let mut again = Vec::new();
            for word in &read {
                let word = word.encode();
                again.extend((word.len() as u32).to_le_bytes());
                again.extend(word);
            }
            prop_assert!(line.starts_with(&again));
            prop_assert!(left <= line.len() - again.len());
            prop_assert!(is_changed || read.len() >= places.len());
        }

        #[test]
        fn cut_words_are_none(place in 0usize..7, keep in 0usize..40) {
            let whole = words()[place].encode();
            let cut = whole[..keep.min(whole.len() - 1)].to_vec();
            // Frames, questions and lists of columns end where the line says.
            if let Some(word) = Word::decode(cut) {
                let is_open =
                    matches!(word, Word::Frame { .. } | Word::Ask(_) | Word::Refused { .. });
                prop_assert!(is_open);
            }
        }
    }
}
