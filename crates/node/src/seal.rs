//! The seal: a site's last frame of a run. The seal signs the statement about the release, and
//! everything that this site sent, received and saw opened on the way.
//!
//! A site takes a peer's seal only if both speak of the same release, saw the same answers, and agree on
//! every frame between them. An audit holds a site to its peers' signatures of the frames that they
//! received.
//!
//! # Discloses
//! To all sites: hashes of the release and of frames, with this site's signatures.

use hedgerow_smc::Transcript;

use crate::agreement::StudyHash;
use crate::identity::{PublicKey, Purpose, Secret};

/// How a seal begins; the number is the version.
const MAGIC: [u8; 16] = *b"hedgerow seal v2";

/// The part that all seals of a run have in common.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sealed {
    pub(crate) study: StudyHash,
    pub(crate) run: u32,
    /// The context of the run, see `opening`.
    pub(crate) context: [u8; 32],
    /// The digest of the statement about the release.
    pub(crate) release: [u8; 32],
}

/// A seal that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Seal {
    pub(crate) release: [u8; 32],
    /// The signature under the release.
    pub(crate) signature: [u8; 64],
    pub(crate) transcript: Transcript,
}

/// The length of a seal in bytes, among so many sites.
pub(crate) const fn length(sites: usize) -> usize {
    16 + 32 + 64 + 32 + 64 * sites + 64
}

impl Sealed {
    /// This site's seal.
    pub(crate) fn seal(&self, secret: &Secret, site: u16, transcript: &Transcript) -> Vec<u8> {
        let signature = secret.sign(Purpose::Release, &self.release);
        let mut seal = Vec::with_capacity(length(transcript.sent.len()));
        seal.extend_from_slice(&MAGIC);
        seal.extend_from_slice(&self.release);
        seal.extend_from_slice(&signature);
        seal.extend_from_slice(&transcript.opened);
        seal.extend(transcript.sent.as_flattened());
        seal.extend(transcript.received.as_flattened());
        let digest = self.digest(site, transcript);
        seal.extend_from_slice(&secret.sign(Purpose::Transcript, &digest));
        seal
    }

    /// Reads the seal of a site; `None` if the bytes are no seal of that site.
    pub(crate) fn read(
        &self,
        bytes: &[u8],
        key: &PublicKey,
        site: u16,
        sites: usize,
    ) -> Option<Seal> {
        if bytes.len() != length(sites) {
            return None;
        }
        let (magic, rest) = bytes.split_first_chunk::<16>()?;
        let (release, rest) = rest.split_first_chunk::<32>()?;
        let (signature, rest) = rest.split_first_chunk::<64>()?;
        let (opened, rest) = rest.split_first_chunk::<32>()?;
        let (sent, rest) = rest.split_at_checked(32 * sites)?;
        let (received, signed) = rest.split_at_checked(32 * sites)?;
        let transcript = Transcript {
            opened: *opened,
            sent: sent.as_chunks().0.to_vec(),
            received: received.as_chunks().0.to_vec(),
        };
        let said = Self {
            release: *release,
            ..*self
        };
        let signed: &[u8; 64] = signed.try_into().ok()?;
        let digest = said.digest(site, &transcript);
        let is_theirs = *magic == MAGIC
            && key.verifies(Purpose::Release, release, signature)
            && key.verifies(Purpose::Transcript, &digest, signed);
        is_theirs.then_some(Seal {
            release: *release,
            signature: *signature,
            transcript,
        })
    }

    fn digest(&self, site: u16, transcript: &Transcript) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new_derive_key("hedgerow transcript v1");
        hasher
            .update(&self.study.0)
            .update(&self.run.to_le_bytes())
            .update(&site.to_le_bytes())
            .update(&self.context)
            .update(&self.release)
            .update(&transcript.opened)
            .update(transcript.sent.as_flattened())
            .update(transcript.received.as_flattened());
        *hasher.finalize().as_bytes()
    }
}

/// Whether two sites have the same answers and the same frames between them.
pub(crate) fn agree(own: (u16, &Transcript), theirs: (u16, &Transcript)) -> bool {
    let ((me, mine), (peer, other)) = (own, theirs);
    let (me, peer) = (usize::from(me), usize::from(peer));
    mine.opened == other.opened
        && mine.sent[peer] == other.received[me]
        && mine.received[peer] == other.sent[me]
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sealed() -> Sealed {
        Sealed {
            study: StudyHash([1; 32]),
            run: 2,
            context: [3; 32],
            release: [4; 32],
        }
    }

    fn transcript() -> Transcript {
        Transcript {
            opened: [5; 32],
            sent: vec![[6; 32], [0; 32], [7; 32]],
            received: vec![[8; 32], [0; 32], [9; 32]],
        }
    }

    #[test]
    fn a_seal_is_of_one_site_run_and_release() {
        let secret = Secret::from_bytes(&[7; 32]);
        let seal = sealed().seal(&secret, 1, &transcript());
        let key = secret.public();
        let read = sealed().read(&seal, &key, 1, 3).unwrap();
        assert_eq!((read.release, read.transcript), ([4; 32], transcript()));
        assert!(sealed().read(&seal, &key, 2, 3).is_none());
        assert!(sealed().read(&seal, &key, 1, 2).is_none());
        let other = Secret::from_bytes(&[8; 32]).public();
        assert!(sealed().read(&seal, &other, 1, 3).is_none());
        for odd in [
            Sealed { run: 3, ..sealed() },
            Sealed {
                context: [0; 32],
                ..sealed()
            },
            Sealed {
                study: StudyHash([0; 32]),
                ..sealed()
            },
        ] {
            assert!(odd.read(&seal, &key, 1, 3).is_none());
        }
    }

    #[test]
    fn two_sites_agree_on_the_frames_between_them_alone() {
        let own = transcript();
        let other = Transcript {
            opened: [5; 32],
            sent: vec![[0; 32], [8; 32], [1; 32]],
            received: vec![[0; 32], [6; 32], [1; 32]],
        };
        assert!(agree((1, &own), (0, &other)));
        for change in 0..3 {
            let mut odd = other.clone();
            match change {
                0 => odd.opened = [0; 32],
                1 => odd.sent[1] = [0; 32],
                _ => odd.received[1] = [0; 32],
            }
            assert!(!agree((1, &own), (0, &odd)), "{change}");
        }
    }

    proptest! {
        #[test]
        fn arbitrary_seals_never_panic(bytes in any::<Vec<u8>>(), at in 0..length(3)) {
            let secret = Secret::from_bytes(&[7; 32]);
            prop_assert!(sealed().read(&bytes, &secret.public(), 1, 3).is_none());
            let mut seal = sealed().seal(&secret, 1, &transcript());
            seal[at] ^= 1;
            prop_assert!(sealed().read(&seal, &secret.public(), 1, 3).is_none());
        }
    }
}
