//! The bytes between sites: frame headers, packed integers, bits, field elements, points.
//!
//! A peer's bytes are hostile. Both ends of every message know from public numbers how long it
//! must be, so a decoder is told the length it must find and never allocates what a peer claims.
//! Bulk data is plain little-endian words, with nothing between them: 8 bytes for a counter, 1
//! for an element of the field of [`crate::bits`], as many as the public bound needs for a
//! comparison.
//!
//! # Discloses
//! Nothing: this is form, not content.

use curve25519_dalek::ristretto::{CompressedRistretto, RistrettoPoint};
use curve25519_dalek::traits::IsIdentity;

use crate::network::Site;

/// Bytes of a frame's header.
pub const HEADER_BYTES: usize = 36;
/// Longest payload of one frame; longer messages travel as several frames.
pub const MAXIMUM_PAYLOAD: usize = 1 << 24;
/// The bytes of a header before its checksum.
const FIELD_BYTES: usize = 28;
/// The version of this format.
pub const VERSION: u8 = 2;

/// The header before each payload: where in the run the payload belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// The site that sends the frame.
    pub sender: Site,
    /// The site that the frame is for.
    pub receiver: Site,
    /// The primitive that speaks, by [`Primitive::tag`].
    pub primitive: Primitive,
    /// The number of the frame on this link within the call.
    pub frame: u16,
    /// The number of the call within the run.
    pub call: u32,
    /// The length of the longest chain of dependent messages that ends with this message.
    pub depth: u32,
    /// Bytes that follow.
    pub length: u32,
    /// The call's question and what both sites have seen before it, in one word.
    pub question: u64,
}

impl Header {
    /// The whole frame as it travels: header, checksum, payload. The length is the payload's.
    ///
    /// The checksum finds what a line or a bug did to a frame; against a forger the network's own
    /// authentication stands.
    pub fn frame(&self, payload: &[u8]) -> Vec<u8> {
        self.frame_with(payload, &blake3::hash(payload))
    }

    /// As [`Header::frame`], for a payload whose hash is known because the payload goes to many peers.
    pub(crate) fn frame_with(&self, payload: &[u8], hash: &blake3::Hash) -> Vec<u8> {
        let header = Self {
            length: payload.len() as u32,
            ..*self
        };
        let fields = header.fields();
        let mut frame = Vec::with_capacity(HEADER_BYTES + payload.len());
        frame.extend_from_slice(&fields);
        frame.extend_from_slice(&checksum(&fields, hash));
        frame.extend_from_slice(payload);
        frame
    }

    /// Reads a whole frame and leaves its payload.
    pub fn open(frame: Vec<u8>) -> Result<(Self, Vec<u8>), WireError> {
        Self::open_with(frame).map(|(header, payload, _)| (header, payload))
    }

    /// As [`Header::open`], with the hash of the payload.
    pub(crate) fn open_with(
        mut frame: Vec<u8>,
    ) -> Result<(Self, Vec<u8>, blake3::Hash), WireError> {
        let header = Self::decode(&frame)?;
        let (head, payload) = frame.split_at(HEADER_BYTES);
        exactly(payload, header.length as usize)?;
        let hash = blake3::hash(payload);
        if checksum(&head[..FIELD_BYTES], &hash) != head[FIELD_BYTES..] {
            return Err(WireError::Checksum);
        }
        frame.drain(..HEADER_BYTES);
        Ok((header, frame, hash))
    }

    /// The hash of a frame by its place in the run and its payload.
    pub(crate) fn digest(&self, payload: &blake3::Hash) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new_derive_key("hedgerow frame v1");
        for number in [
            self.sender.index() as u64,
            self.receiver.index() as u64,
            u64::from(self.primitive.tag()),
            u64::from(self.call),
            u64::from(self.frame),
        ] {
            hasher.update(&number.to_le_bytes());
        }
        hasher.update(payload.as_bytes());
        *hasher.finalize().as_bytes()
    }

    fn fields(&self) -> [u8; FIELD_BYTES] {
        let mut bytes = [0; FIELD_BYTES];
        bytes[0] = VERSION;
        bytes[1] = self.primitive.tag();
        bytes[2..4].copy_from_slice(&self.frame.to_le_bytes());
        bytes[4..8].copy_from_slice(&self.call.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.depth.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.length.to_le_bytes());
        bytes[16..18].copy_from_slice(&(self.sender.index() as u16).to_le_bytes());
        bytes[18..20].copy_from_slice(&(self.receiver.index() as u16).to_le_bytes());
        bytes[20..28].copy_from_slice(&self.question.to_le_bytes());
        bytes
    }

    /// Reads a header; a network calls this before it reads the payload, so that a length beyond
    /// [`MAXIMUM_PAYLOAD`] is refused before anything is allocated.
    pub fn decode(bytes: &[u8]) -> Result<Self, WireError> {
        let short = WireError::Short {
            expected: HEADER_BYTES,
            found: bytes.len(),
        };
        let fields = bytes
            .get(..HEADER_BYTES)
            .and_then(|head| head.first_chunk::<FIELD_BYTES>());
        let bytes = fields.ok_or(short)?;
        let (&[version, tag, f0, f1, c0, c1, c2, c3], rest) =
            bytes.split_first_chunk().ok_or(short)?;
        let (&[d0, d1, d2, d3, l0, l1, l2, l3], rest) = rest.split_first_chunk().ok_or(short)?;
        let (&[s0, s1, r0, r1], rest) = rest.split_first_chunk().ok_or(short)?;
        let &question = rest.first_chunk().ok_or(short)?;
        if version != VERSION {
            return Err(WireError::Version { found: version });
        }
        let primitive = Primitive::from_tag(tag).ok_or(WireError::Primitive { found: tag })?;
        let length = u32::from_le_bytes([l0, l1, l2, l3]);
        if length as usize > MAXIMUM_PAYLOAD {
            return Err(WireError::TooLong { claimed: length });
        }
        Ok(Self {
            sender: Site::new(u16::from_le_bytes([s0, s1])),
            receiver: Site::new(u16::from_le_bytes([r0, r1])),
            primitive,
            frame: u16::from_le_bytes([f0, f1]),
            call: u32::from_le_bytes([c0, c1, c2, c3]),
            depth: u32::from_le_bytes([d0, d1, d2, d3]),
            length,
            question: u64::from_le_bytes(question),
        })
    }
}

/// The primitives of this crate, by their names on the wire, in errors and in the ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Primitive {
    /// Agreement on keys at the start of a run.
    Join,
    /// Sum of vectors.
    Sum,
    /// Conjunction and disjunction of bits.
    Bits,
    /// Comparison of a shared sum with a public number.
    AtLeast,
    /// Lowest common ancestor in public trees.
    Lca,
    /// Smallest and largest value.
    Extremum,
    /// The kth element.
    Kth,
    /// Union of multisets.
    Union,
    /// Common identifiers.
    Align,
    /// Numbers that sites tell all others.
    Tell,
    /// The site with the greatest number.
    Greatest,
}

impl Primitive {
    const ALL: [Primitive; 11] = [
        Primitive::Join,
        Primitive::Sum,
        Primitive::Bits,
        Primitive::AtLeast,
        Primitive::Lca,
        Primitive::Extremum,
        Primitive::Kth,
        Primitive::Union,
        Primitive::Align,
        Primitive::Tell,
        Primitive::Greatest,
    ];

    /// The primitive's byte in a frame's header.
    pub const fn tag(self) -> u8 {
        self as u8
    }

    fn from_tag(tag: u8) -> Option<Self> {
        Self::ALL.get(usize::from(tag)).copied()
    }

    /// The primitive's name in errors and in the ledger.
    pub const fn name(self) -> &'static str {
        match self {
            Primitive::Join => "join",
            Primitive::Sum => "sum",
            Primitive::Bits => "all / any",
            Primitive::AtLeast => "at_least",
            Primitive::Lca => "lca",
            Primitive::Extremum => "minimum / maximum",
            Primitive::Kth => "kth",
            Primitive::Union => "union",
            Primitive::Align => "align",
            Primitive::Tell => "tell",
            Primitive::Greatest => "greatest",
        }
    }
}

/// What is wrong with a peer's bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WireError {
    /// Fewer bytes than the message must have.
    #[error("{found} bytes where {expected} were due")]
    Short {
        /// Bytes due.
        expected: usize,
        /// Bytes found.
        found: usize,
    },
    /// A number of bytes other than the message must have.
    #[error("a message of {found} bytes where {expected} were due")]
    Length {
        /// Bytes due.
        expected: usize,
        /// Bytes found.
        found: usize,
    },
    /// A header that claims more than one frame may hold.
    #[error("a frame that claims {claimed} bytes, above the limit of {MAXIMUM_PAYLOAD}")]
    TooLong {
        /// Bytes claimed.
        claimed: u32,
    },
    /// A header of another version.
    #[error("version {found} of the frame format where {VERSION} was due")]
    Version {
        /// Version found.
        found: u8,
    },
    /// A tag that names no primitive.
    #[error("unknown primitive {found}")]
    Primitive {
        /// Tag found.
        found: u8,
    },
    /// A frame whose checksum does not fit.
    #[error("a frame that was changed on its way")]
    Checksum,
    /// A number outside its public range.
    #[error("number {index} is outside its range")]
    Range {
        /// The number's place in the message.
        index: usize,
    },
    /// A bit set behind the last bit.
    #[error("bits are set behind the last bit")]
    Padding,
    /// A string that is no point of the group.
    #[error("point {index} is not on the curve")]
    NotAPoint {
        /// The point's place in the message.
        index: usize,
    },
    /// The identity, which would undo a key.
    #[error("point {index} is the identity")]
    Identity {
        /// The point's place in the message.
        index: usize,
    },
    /// An authentication tag that does not fit.
    #[error("item {index} was changed on its way")]
    Forged {
        /// The item's place in the message.
        index: usize,
    },
}

fn checksum(fields: &[u8], payload: &blake3::Hash) -> [u8; HEADER_BYTES - FIELD_BYTES] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(fields).update(payload.as_bytes());
    let mut sum = [0; HEADER_BYTES - FIELD_BYTES];
    sum.copy_from_slice(&hasher.finalize().as_bytes()[..HEADER_BYTES - FIELD_BYTES]);
    sum
}

/// Appends the low `width` bytes of each value.
pub fn pack(values: impl IntoIterator<Item = u64>, width: usize, out: &mut Vec<u8>) {
    for value in values {
        out.extend_from_slice(&value.to_le_bytes()[..width]);
    }
}

/// Reads `count` values of `width` bytes (1 to 8).
pub fn unpack(
    bytes: &[u8],
    count: usize,
    width: usize,
) -> Result<impl ExactSizeIterator<Item = u64>, WireError> {
    exactly(bytes, count.saturating_mul(width))?;
    Ok(bytes.chunks_exact(width.max(1)).map(|chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        u64::from_le_bytes(word)
    }))
}

/// As [`unpack`], and each value below 2^`bits`.
pub fn unpack_below(bytes: &[u8], count: usize, bits: u32) -> Result<Vec<u64>, WireError> {
    let width = bytes_for(bits);
    let values: Vec<u64> = unpack(bytes, count, width)?.collect();
    match values
        .iter()
        .position(|&value| bits < 64 && value >> bits != 0)
    {
        Some(index) => Err(WireError::Range { index }),
        None => Ok(values),
    }
}

/// Bytes that hold a number of `bits` bits.
pub const fn bytes_for(bits: u32) -> usize {
    bits.div_ceil(8) as usize
}

/// Bits as bytes, lowest first.
pub fn pack_bits(bits: impl ExactSizeIterator<Item = bool>) -> Vec<u8> {
    let mut bytes = vec![0; bits.len().div_ceil(8)];
    for (index, bit) in bits.enumerate() {
        bytes[index / 8] |= u8::from(bit) << (index % 8);
    }
    bytes
}

/// Reads `count` bits; the bits behind the last must be 0.
pub fn unpack_bits(
    bytes: &[u8],
    count: usize,
) -> Result<impl ExactSizeIterator<Item = bool>, WireError> {
    exactly(bytes, count.div_ceil(8))?;
    if let Some(last) = bytes.last().filter(|_| !count.is_multiple_of(8))
        && last >> (count % 8) != 0
    {
        return Err(WireError::Padding);
    }
    Ok((0..count).map(|index| bytes[index / 8] >> (index % 8) & 1 == 1))
}

/// Reads `count` 128-bit words.
pub fn unpack_blocks(
    bytes: &[u8],
    count: usize,
) -> Result<impl ExactSizeIterator<Item = u128>, WireError> {
    exactly(bytes, count.saturating_mul(16))?;
    Ok(bytes.chunks_exact(16).map(|chunk| {
        let mut word = [0; 16];
        word.copy_from_slice(chunk);
        u128::from_le_bytes(word)
    }))
}

/// Appends 128-bit words.
pub fn pack_blocks(blocks: impl IntoIterator<Item = u128>, out: &mut Vec<u8>) {
    for block in blocks {
        out.extend_from_slice(&block.to_le_bytes());
    }
}

/// Reads one point of ristretto255 that is not the identity.
pub fn point(bytes: &[u8], index: usize) -> Result<RistrettoPoint, WireError> {
    let point = CompressedRistretto::from_slice(bytes)
        .map_err(|_| WireError::Length {
            expected: 32,
            found: bytes.len(),
        })?
        .decompress()
        .ok_or(WireError::NotAPoint { index })?;
    if point.is_identity() {
        return Err(WireError::Identity { index });
    }
    Ok(point)
}

/// Reads `count` points, none of them the identity.
pub fn points(bytes: &[u8], count: usize) -> Result<Vec<RistrettoPoint>, WireError> {
    exactly(bytes, count.saturating_mul(32))?;
    bytes
        .chunks_exact(32)
        .enumerate()
        .map(|(index, bytes)| point(bytes, index))
        .collect()
}

/// Checks that a message has the length that both ends know.
pub fn exactly(bytes: &[u8], expected: usize) -> Result<(), WireError> {
    if bytes.len() == expected {
        Ok(())
    } else {
        Err(WireError::Length {
            expected,
            found: bytes.len(),
        })
    }
}
