//! Commutative encryption on ristretto255.
//!
//! Hamburg's ristretto (RFC 9496) gives a group of prime order, so every scalar but 0 is a
//! permutation and there is no small subgroup to leak into. Points are multiplied by half the key
//! and compressed doubled, in batches: that is the curve library's fastest way to compress.
//!
//! # Discloses
//! See [`crate::commutative`].

use curve25519_dalek::ristretto::RistrettoPoint;
use curve25519_dalek::scalar::Scalar;
use rayon::prelude::*;
use sha2::{Digest, Sha512};
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::random::Generator;
use crate::wire::{self, WireError};

/// Points that are compressed together.
const BATCH: usize = 256;

/// A secret scalar.
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct RistrettoKey(Scalar);

impl RistrettoKey {
    /// Bytes of a ciphertext.
    pub const BYTES: usize = 32;

    /// A fresh key.
    pub fn new(generator: &mut Generator) -> Self {
        Self(Scalar::random(generator.inner()))
    }

    /// The key that takes off `blind` and puts on `self`.
    pub fn in_place_of(&self, blind: &Self) -> Self {
        Self(self.0 * blind.0.invert())
    }

    /// Ciphertexts of identifiers, one after the other.
    pub fn encrypt(&self, identifiers: &[&[u8]]) -> Vec<u8> {
        let half = self.0.div_by_2();
        let batches = identifiers.par_chunks(BATCH).map(|batch| {
            let points: Vec<RistrettoPoint> = batch
                .iter()
                .map(|identifier| to_group(identifier) * half)
                .collect();
            compress_doubled(&points)
        });
        batches.flatten_iter().collect()
    }

    /// Encrypts `count` ciphertexts once more. Each must be a point other than the identity.
    pub fn encrypt_again(&self, ciphertexts: &[u8], count: usize) -> Result<Vec<u8>, WireError> {
        wire::exactly(ciphertexts, count.saturating_mul(Self::BYTES))?;
        let half = self.0.div_by_2();
        let batches = ciphertexts.par_chunks(BATCH * Self::BYTES).enumerate();
        let batches: Result<Vec<Vec<u8>>, WireError> = batches
            .map(|(batch, bytes)| {
                let points = bytes
                    .chunks_exact(Self::BYTES)
                    .enumerate()
                    .map(|(at, bytes)| Ok(wire::point(bytes, batch * BATCH + at)? * half));
                let points: Vec<RistrettoPoint> = points.collect::<Result<_, WireError>>()?;
                Ok(compress_doubled(&points))
            })
            .collect();
        Ok(batches?.concat())
    }
}

fn to_group(identifier: &[u8]) -> RistrettoPoint {
    let mut hasher = Sha512::new_with_prefix(b"hedgerow identifier v1");
    hasher.update(identifier);
    RistrettoPoint::from_uniform_bytes(&hasher.finalize().into())
}

fn compress_doubled(points: &[RistrettoPoint]) -> Vec<u8> {
    let compressed = RistrettoPoint::double_and_compress_batch(points);
    compressed
        .iter()
        .flat_map(|point| *point.as_bytes())
        .collect()
}
