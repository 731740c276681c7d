//! 128-bit blocks under fixed-key AES: the hash functions of trees, gates and transfers.
//!
//! Guo, Katz, Wang and Yu (IEEE S&P 2020) show what may be built from one fixed-key permutation:
//! π(x) ⊕ x (Matyas, Meyer and Oseas) for the trees of [`crate::compare`], and the tweaked
//! π(π(x) ⊕ i) ⊕ π(x) for half gates and transfer extension, where the inputs differ by a secret
//! offset. AES comes from the `aes` crate, constant-time with and without hardware.
//!
//! # Discloses
//! Nothing: public functions.

use aes::Aes128Enc;
use aes::cipher::{BlockCipherEncrypt, KeyInit};

type AesBlock = aes::cipher::Block<Aes128Enc>;

/// Blocks that go through AES together.
const LANES: usize = 64;

/// AES under a public key.
pub(crate) struct Permutation(Aes128Enc);

impl Permutation {
    /// The permutation with this number: its key is a hash of the number.
    pub(crate) fn new(number: u8) -> Self {
        let hash = blake3::derive_key("hedgerow fixed AES key v1", &[number]);
        let mut key = [0; 16];
        key.copy_from_slice(&hash[..16]);
        Self(Aes128Enc::new(&key.into()))
    }

    /// π(x) ⊕ x for each block.
    pub(crate) fn hash(&self, blocks: &mut [u128]) {
        let mut lanes = [AesBlock::default(); LANES];
        for chunk in blocks.chunks_mut(LANES) {
            self.permute(chunk, &mut lanes);
            for (block, lane) in chunk.iter_mut().zip(&lanes) {
                *block ^= from_lane(lane);
            }
        }
    }

    /// π(π(x) ⊕ i) ⊕ π(x) for each block, with the tweaks that `tweak` gives by place.
    pub(crate) fn tweaked_hash(&self, blocks: &mut [u128], tweak: impl Fn(usize) -> u128) {
        let mut lanes = [AesBlock::default(); LANES];
        for (start, chunk) in blocks
            .chunks_mut(LANES)
            .enumerate()
            .map(|(n, c)| (n * LANES, c))
        {
            self.permute(chunk, &mut lanes);
            let mut inner = [0; LANES];
            for (place, (inner, lane)) in inner.iter_mut().zip(&lanes).take(chunk.len()).enumerate()
            {
                *inner = from_lane(lane);
                chunk[place] = *inner ^ tweak(start + place);
            }
            self.permute(chunk, &mut lanes);
            for (block, (lane, inner)) in chunk.iter_mut().zip(lanes.iter().zip(&inner)) {
                *block = from_lane(lane) ^ inner;
            }
        }
    }

    fn permute(&self, blocks: &[u128], lanes: &mut [AesBlock; LANES]) {
        for (lane, block) in lanes.iter_mut().zip(blocks) {
            *lane = block.to_le_bytes().into();
        }
        self.0.encrypt_blocks(&mut lanes[..blocks.len()]);
    }
}

fn from_lane(lane: &AesBlock) -> u128 {
    u128::from_le_bytes((*lane).into())
}
