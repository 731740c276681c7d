//! Transfer extension: Ishai, Kilian, Nissim and Petrank, CRYPTO 2003, section 3.
//!
//! The chooser's bits r give rows t_j; the sender, who chose s in the base transfers, gets rows q_j =
//! t_j ⊕ r_j s. The hash of q_j hides the message for bit 0, that of q_j ⊕ s the message for bit 1, and
//! the chooser can read the message that it chose.
//!
//! # Discloses
//! Nothing: the columns that travel are masked with streams of the base transfers.

use zeroize::ZeroizeOnDrop;

use super::base::BASE;
use crate::block::Permutation;
use crate::random::{Bound, Keystream, PairKey, Purpose};
use crate::wire::{self, WireError};

/// Transfers that are done together; no two of a run have the same name.
#[derive(Clone, Copy)]
pub(crate) struct Batch {
    /// The answers that both sites had seen opened when the call began.
    pub(crate) bound: Bound,
    /// The part of the call.
    pub(crate) part: u32,
}

impl Batch {
    /// Tweaks that no other hash of the same permutation in the run has. The tweaks follow from the
    /// chooser's message: another message gets other pads.
    pub(crate) fn tweaks(self, message: &[u8]) -> Tweaks {
        let mut half = [0; 8];
        half.copy_from_slice(&self.bound.and(message).0[..8]);
        let part = u128::from(self.part) << 32;
        Tweaks(u128::from(u64::from_le_bytes(half)) << 64 ^ part)
    }

    fn column(self, key: &PairKey) -> Keystream {
        key.stream(Purpose::Column, &self.bound, self.part)
    }
}

/// The tweaks of a batch's hashes.
#[derive(Clone, Copy)]
pub(crate) struct Tweaks(u128);

impl Tweaks {
    /// The tweak of one hash; a part has fewer than 2^32.
    pub(crate) const fn at(self, place: usize) -> u128 {
        self.0 ^ place as u128
    }
}

/// The side that sends messages in pairs.
#[derive(ZeroizeOnDrop)]
pub(crate) struct Sender {
    choices: u128,
    #[zeroize(skip)] // wiped by their own type
    keys: Vec<PairKey>,
}

/// The side that chooses one of each pair.
pub(crate) struct Chooser {
    keys: Vec<[PairKey; 2]>,
}

impl Chooser {
    pub(super) const fn new(keys: Vec<[PairKey; 2]>) -> Self {
        Self { keys }
    }

    /// Chooses: the message for the sender, and the rows that the chooser can hash.
    pub(crate) fn choose(
        &self,
        batch: Batch,
        choices: impl ExactSizeIterator<Item = bool>,
    ) -> (Vec<u8>, Vec<u128>) {
        let count = choices.len();
        let packed = pack_words(choices);
        let mut zero: Vec<Keystream> = self.keys.iter().map(|[key, _]| batch.column(key)).collect();
        let mut one: Vec<Keystream> = self.keys.iter().map(|[_, key]| batch.column(key)).collect();
        let mut message = Vec::with_capacity(packed.len() * BASE * 16);
        let mut rows = Vec::with_capacity(packed.len() * BASE);
        for word in packed {
            let mut square = [0; BASE];
            for (column, cell) in square.iter_mut().enumerate() {
                *cell = zero[column].block();
                wire::pack_blocks([*cell ^ one[column].block() ^ word], &mut message);
            }
            transpose(&mut square);
            rows.extend_from_slice(&square);
        }
        rows.truncate(count);
        (message, rows)
    }
}

impl Sender {
    pub(super) const fn new(choices: u128, keys: Vec<PairKey>) -> Self {
        Self { choices, keys }
    }

    /// Bytes of the chooser's message for `count` transfers.
    pub(crate) const fn message_bytes(count: usize) -> usize {
        count.div_ceil(BASE) * BASE * 16
    }

    /// The rows for the chooser's message; a row's hash hides the message for bit 0.
    pub(crate) fn rows(
        &self,
        batch: Batch,
        message: &[u8],
        count: usize,
    ) -> Result<Vec<u128>, WireError> {
        let squares = count.div_ceil(BASE);
        let mut cells = wire::unpack_blocks(message, squares * BASE)?;
        let mut streams: Vec<Keystream> = self.keys.iter().map(|key| batch.column(key)).collect();
        let mut rows = Vec::with_capacity(squares * BASE);
        for _ in 0..squares {
            let mut square = [0; BASE];
            for (column, cell) in square.iter_mut().enumerate() {
                let chosen = (self.choices >> column & 1).wrapping_neg();
                *cell = streams[column].block() ^ (cells.next().unwrap_or_default() & chosen);
            }
            transpose(&mut square);
            rows.extend_from_slice(&square);
        }
        rows.truncate(count);
        Ok(rows)
    }

    /// The offset between the two rows of each transfer.
    pub(crate) const fn offset(&self) -> u128 {
        self.choices
    }
}

/// Hashes rows into pads, each with a tweak of its own over the whole run.
pub(crate) fn pads(permutation: &Permutation, tweaks: Tweaks, rows: &mut [u128]) {
    permutation.tweaked_hash(rows, |place| tweaks.at(place));
}

fn pack_words(bits: impl ExactSizeIterator<Item = bool>) -> Vec<u128> {
    let mut words = vec![0; bits.len().div_ceil(BASE)];
    for (index, bit) in bits.enumerate() {
        words[index / BASE] |= u128::from(bit) << (index % BASE);
    }
    words
}

/// Transposes a square of bits, lowest bit first (Warren, Hacker's Delight, section 7-3).
fn transpose(square: &mut [u128; BASE]) {
    let mut width = BASE / 2;
    let mut mask = u128::MAX >> width;
    while width != 0 {
        let mut row = 0;
        while row < BASE {
            let swap = (square[row] >> width ^ square[row + width]) & mask;
            square[row] ^= swap << width;
            square[row + width] ^= swap;
            row = (row + width + 1) & !width;
        }
        width /= 2;
        mask ^= mask << width;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transposing_moves_each_bit() {
        let mut square = [0; BASE];
        for (row, cell) in square.iter_mut().enumerate() {
            *cell = u128::from_le_bytes(
                blake3::hash(&[row as u8]).as_bytes()[..16]
                    .try_into()
                    .expect("16"),
            );
        }
        let before = square;
        transpose(&mut square);
        for (row, before) in before.iter().enumerate() {
            for (column, after) in square.iter().enumerate() {
                assert_eq!(before >> column & 1, after >> row & 1);
            }
        }
    }
}
