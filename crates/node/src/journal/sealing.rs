//! The journal's secrets at rest: seed, opening and frames of a run, each sealed with ChaCha20-Poly1305
//! (RFC 8439) under a key that follows from the site's own.
//!
//! Every box has a random nonce, so that a journal restored from an old backup never seals two texts
//! under one nonce. The box's place (run, peer, direction, number) is authenticated with it: boxes
//! cannot change places. A frame that was sent is known again by its mark: a hash of the frame and its
//! place (BLAKE3) under another such key, which says nothing of the frame without the key.

use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use zeroize::Zeroizing;

use super::Way;
use crate::agreement::StudyHash;
use crate::identity::Secret;

/// The bytes that a box has beside those in it: nonce and tag.
pub(crate) const SEALED: usize = NONCE_LEN + 16;
/// The bytes of a mark.
pub(crate) const MARK: usize = 16;

/// Opens and closes the boxes of one run, and marks its frames.
pub(crate) struct Sealing {
    key: LessSafeKey,
    marks: Zeroizing<[u8; 32]>,
}

/// The place of a box in its run.
#[derive(Clone, Copy)]
pub(crate) enum Of {
    /// The run's seed.
    Seed,
    /// What this site said before the run.
    Opening,
    /// A frame of a link.
    Frame { peer: u16, way: Way, number: u64 },
}

impl Of {
    fn bytes(self) -> [u8; 12] {
        let mut bytes = [0; 12];
        match self {
            Self::Seed => {}
            Self::Opening => bytes[0] = 2,
            Self::Frame { peer, way, number } => {
                bytes[0] = 1;
                bytes[1] = way as u8;
                bytes[2..4].copy_from_slice(&peer.to_le_bytes());
                bytes[4..].copy_from_slice(&number.to_le_bytes());
            }
        }
        bytes
    }
}

impl Sealing {
    /// The sealing of a run, for the site with this secret key. `None` if the cipher refuses the derived
    /// key, which cannot happen, since the key has the cipher's length.
    pub(crate) fn new(secret: &Secret, study: StudyHash, number: u32) -> Option<Self> {
        let site = secret.derive("hedgerow journal at rest v1");
        let mut hasher = blake3::Hasher::new_keyed(&site);
        hasher.update(&study.0).update(&number.to_le_bytes());
        let key = Zeroizing::new(*hasher.finalize().as_bytes());
        let marks = blake3::derive_key("hedgerow journal marks v1", key.as_slice());
        let key = UnboundKey::new(&CHACHA20_POLY1305, key.as_slice()).ok()?;
        Some(Self {
            key: LessSafeKey::new(key),
            marks: Zeroizing::new(marks),
        })
    }

    /// What a frame to a peer is known again by.
    pub(crate) fn mark(&self, peer: u16, number: u64, frame: &[u8]) -> [u8; MARK] {
        self.check(&[b"frame", &peer.to_le_bytes(), &number.to_le_bytes(), frame])
    }

    /// A hash of parts under the key of marks. Whoever calls sees that no two lists of parts are the
    /// same bytes.
    pub(crate) fn check(&self, parts: &[&[u8]]) -> [u8; MARK] {
        let mut hasher = blake3::Hasher::new_keyed(&self.marks);
        for part in parts {
            hasher.update(part);
        }
        let mut mark = [0; MARK];
        hasher.finalize_xof().fill(&mut mark);
        mark
    }

    /// A box with these bytes in it; `None` if no randomness could be had for its nonce.
    pub(crate) fn seal(&self, of: Of, bytes: &[u8]) -> Option<Vec<u8>> {
        let mut nonce = [0; NONCE_LEN];
        getrandom::fill(&mut nonce).ok()?;
        let room = NONCE_LEN + bytes.len() + CHACHA20_POLY1305.tag_len();
        let mut sealed = Vec::with_capacity(room);
        sealed.extend_from_slice(&nonce);
        sealed.extend_from_slice(bytes);
        let tag = self
            .key
            .seal_in_place_separate_tag(
                Nonce::assume_unique_for_key(nonce),
                Aad::from(of.bytes()),
                &mut sealed[NONCE_LEN..],
            )
            .ok()?;
        sealed.extend_from_slice(tag.as_ref());
        Some(sealed)
    }

    /// The bytes in a box; `None` if the box was closed with another key or for another place, or was
    /// changed.
    pub(crate) fn open(&self, of: Of, mut sealed: Vec<u8>) -> Option<Vec<u8>> {
        let nonce = *sealed.first_chunk::<NONCE_LEN>()?;
        let nonce = Nonce::assume_unique_for_key(nonce);
        let aad = Aad::from(of.bytes());
        let opened = self.key.open_within(nonce, aad, &mut sealed, NONCE_LEN..);
        let length = opened.ok()?.len();
        sealed.truncate(length);
        Some(sealed)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn sealing(key: u8, number: u32) -> Sealing {
        Sealing::new(&Secret::from_bytes(&[key; 32]), StudyHash([1; 32]), number).unwrap()
    }

    #[test]
    fn a_box_opens_for_its_site_run_and_place_only() {
        let of = Of::Frame {
            peer: 2,
            way: Way::Sent,
            number: 7,
        };
        let sealed = sealing(1, 1).seal(of, b"what was said").unwrap();
        assert!(!sealed.windows(4).any(|window| window == b"what"));
        let opened = sealing(1, 1).open(of, sealed.clone());
        assert_eq!(opened.unwrap(), b"what was said");
        assert!(sealing(2, 1).open(of, sealed.clone()).is_none());
        assert!(sealing(1, 2).open(of, sealed.clone()).is_none());
        for other in [
            Of::Seed,
            Of::Opening,
            Of::Frame {
                peer: 1,
                way: Way::Sent,
                number: 7,
            },
            Of::Frame {
                peer: 2,
                way: Way::Received,
                number: 7,
            },
            Of::Frame {
                peer: 2,
                way: Way::Sent,
                number: 8,
            },
        ] {
            assert!(sealing(1, 1).open(other, sealed.clone()).is_none());
        }
        for at in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[at] ^= 1;
            assert!(sealing(1, 1).open(of, changed).is_none(), "{at}");
        }
        for length in 0..sealed.len() {
            assert!(sealing(1, 1).open(of, sealed[..length].to_vec()).is_none());
        }
        assert_eq!(
            sealing(1, 1).seal(Of::Seed, b"").map(|sealed| sealed.len()),
            Some(SEALED)
        );
    }

    #[test]
    fn a_mark_is_of_its_site_run_place_and_frame() {
        let mark = sealing(1, 1).mark(2, 7, b"what was said");
        assert_eq!(sealing(1, 1).mark(2, 7, b"what was said"), mark);
        for other in [
            sealing(2, 1).mark(2, 7, b"what was said"),
            sealing(1, 2).mark(2, 7, b"what was said"),
            sealing(1, 1).mark(1, 7, b"what was said"),
            sealing(1, 1).mark(2, 8, b"what was said"),
            sealing(1, 1).mark(2, 7, b"what was sai"),
        ] {
            assert_ne!(other, mark);
        }
    }
}
