//! Base transfers: Chou and Orlandi, LATINCRYPT 2015, figure 1, 128 of them at once.
//!
//! The chooser of the extension is the sender here, and the other way round (Beaver's turn of
//! roles). Keys are BLAKE3 of the whole transcript of one transfer, as the paper asks.
//!
//! # Discloses
//! Nothing: random points.

use curve25519_dalek::ristretto::RistrettoPoint;
use curve25519_dalek::scalar::Scalar;
use subtle::{Choice, ConditionallySelectable};
use zeroize::Zeroize;

use super::Transfer;
use super::extension::{Chooser, Sender};
use crate::random::{Generator, PairKey};
use crate::wire::{self, WireError};

/// Base transfers: one for each bit of security.
pub(crate) const BASE: usize = 128;
/// Bytes of the base receiver's answer.
pub(crate) const BASE_BYTES: usize = BASE * 32;

/// The sender of the base transfers.
pub(crate) struct BaseSender(Scalar);

impl BaseSender {
    pub(crate) fn new(generator: &mut Generator) -> Self {
        Self(Scalar::random(generator.inner()))
    }

    /// The first message.
    pub(crate) fn public(&self) -> [u8; 32] {
        RistrettoPoint::mul_base(&self.0).compress().to_bytes()
    }

    /// Both keys of each transfer, from the receiver's answer.
    pub(crate) fn finish(&self, answer: &[u8]) -> Result<Transfer, WireError> {
        let public = self.public();
        let blind = RistrettoPoint::mul_base(&self.0) * self.0;
        let keys = wire::points(answer, BASE)?
            .iter()
            .zip(answer.chunks_exact(32))
            .enumerate()
            .map(|(index, (point, bytes))| {
                let shared = point * self.0;
                [
                    key(index, &public, bytes, &shared),
                    key(index, &public, bytes, &(shared - blind)),
                ]
            })
            .collect();
        Ok(Transfer::Chooser(Chooser::new(keys)))
    }
}

impl Drop for BaseSender {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

/// The receiver of the base transfers.
pub(crate) struct BaseReceiver;

impl BaseReceiver {
    /// Chooses at random, and answers.
    pub(crate) fn answer(
        public: &[u8],
        generator: &mut Generator,
    ) -> Result<(Transfer, Vec<u8>), WireError> {
        let theirs = wire::point(public, 0)?;
        let choices = u128::from(generator.next_u64()) | u128::from(generator.next_u64()) << 64;
        let mut message = Vec::with_capacity(BASE_BYTES);
        let mut keys = Vec::with_capacity(BASE);
        for index in 0..BASE {
            let mut secret = Scalar::random(generator.inner());
            let plain = RistrettoPoint::mul_base(&secret);
            let chosen = Choice::from((choices >> index & 1) as u8);
            let point = RistrettoPoint::conditional_select(&plain, &(plain + theirs), chosen);
            let bytes = point.compress();
            keys.push(key(index, public, bytes.as_bytes(), &(theirs * secret)));
            message.extend_from_slice(bytes.as_bytes());
            secret.zeroize();
        }
        Ok((Transfer::Sender(Sender::new(choices, keys)), message))
    }
}

fn key(index: usize, public: &[u8], answer: &[u8], shared: &RistrettoPoint) -> PairKey {
    let mut hasher = blake3::Hasher::new_derive_key("hedgerow base transfer v1");
    hasher.update(&(index as u64).to_le_bytes());
    hasher
        .update(public)
        .update(answer)
        .update(shared.compress().as_bytes());
    PairKey::new(*hasher.finalize().as_bytes())
}
