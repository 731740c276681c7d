//! Distributed comparison function: keys with which two sites evaluate x < a without knowing a.
//!
//! Boyle, Chandran, Gilboa, Gupta, Ishai, Kumar and Rathee, "Function secret sharing for
//! mixed-mode and fixed-point secure computation" (EUROCRYPT 2021), figure 1, with outputs in
//! Z_2. The last seven bits are one 128-bit table (the early termination of Boyle, Gilboa and
//! Ishai, CCS 2016), so a domain of 128 values costs one block, and a smaller one as many bits as it has
//! values. A constant c is folded in: the
//! shares add up to (x < a) ⊕ c. Seeds are 125 bits; the three low bits of a correction word
//! carry the control and value corrections, so a level costs 16 bytes.
//!
//! # Discloses
//! Nothing: a site's root and the correction words are pseudorandom to it; a and c are hidden.

use crate::block::Permutation;
use crate::wire::{self, WireError};

/// Bits that the last table answers.
const TABLE_BITS: u32 = 7;
/// Comparisons that go down their trees together.
const LANES: usize = 64;
/// The bits of a block that remain when control and value bits are taken off.
const SEED: u128 = !7;
/// Added to a seed before hashing: the right child, and the table.
const RIGHT: u128 = 1;
const TABLE: u128 = 2;

/// The functions of one domain.
pub(super) struct Comparison {
    bits: u32,
    permutation: Permutation,
}

/// The comparison of one lane, as the dealer sees it.
#[derive(Clone, Copy)]
pub(super) struct Secret {
    /// Both sites' roots.
    pub(super) roots: [u128; 2],
    /// a: the function is x < a.
    pub(super) edge: u64,
    /// c: what the function is xored with.
    pub(super) flip: bool,
}

impl Comparison {
    /// Functions on numbers of `bits` bits.
    pub(super) fn new(bits: u32) -> Self {
        Self {
            bits,
            permutation: Permutation::new(2),
        }
    }

    const fn levels(&self) -> usize {
        self.bits.saturating_sub(TABLE_BITS) as usize
    }

    /// Correction words of one comparison.
    const fn words(&self) -> usize {
        self.levels() + 1
    }

    /// Bytes of the last table: a bit for each value that it answers.
    const fn table_bytes(&self) -> usize {
        (self.table_mask() as usize + 1).div_ceil(8)
    }

    /// Bytes of one comparison's correction words on the wire.
    pub(super) const fn key_bytes(&self) -> usize {
        self.levels() * 16 + self.table_bytes()
    }

    /// Correction words as they are sent: of a table that answers few values, only these.
    pub(super) fn pack(&self, words: &[u128]) -> Vec<u8> {
        let mut message = Vec::with_capacity(words.len() / self.words() * self.key_bytes());
        for words in words.chunks_exact(self.words()) {
            let (levels, table) = words.split_at(self.levels());
            wire::pack_blocks(levels.iter().copied(), &mut message);
            let table = table.first().map_or([0; 16], |table| table.to_le_bytes());
            message.extend_from_slice(&table[..self.table_bytes()]);
        }
        message
    }

    /// Reads the correction words of `count` comparisons.
    pub(super) fn unpack(&self, bytes: &[u8], count: usize) -> Result<Vec<u128>, WireError> {
        wire::exactly(bytes, count.saturating_mul(self.key_bytes()))?;
        let mut words = Vec::with_capacity(count * self.words());
        for key in bytes.chunks_exact(self.key_bytes()) {
            for word in key.chunks(16) {
                let mut block = [0; 16];
                block[..word.len()].copy_from_slice(word);
                words.push(u128::from_le_bytes(block));
            }
        }
        Ok(words)
    }

    /// The correction words of each comparison, one after the other.
    pub(super) fn deal(&self, secrets: &[Secret]) -> Vec<u128> {
        let mut words = vec![0; secrets.len() * self.words()];
        let mut blocks = [0; 4 * LANES];
        for (secrets, words) in secrets
            .chunks(LANES)
            .zip(words.chunks_mut(LANES * self.words()))
        {
            let mut lanes: Vec<Path> = secrets.iter().map(Path::new).collect();
            for level in 0..self.levels() {
                for (cell, lane) in blocks.chunks_exact_mut(4).zip(&lanes) {
                    let [left, right] = lane.seeds;
                    cell.copy_from_slice(&[left, left ^ RIGHT, right, right ^ RIGHT]);
                }
                self.permutation.hash(&mut blocks[..4 * lanes.len()]);
                let shift = self.bits as usize - 1 - level;
                for (lane, cell) in blocks.chunks_exact(4).zip(&mut lanes).enumerate() {
                    let (blocks, path) = cell;
                    let turn = secrets[lane].edge >> shift & 1;
                    words[lane * self.words() + level] = path.descend(
                        [[blocks[0], blocks[1]], [blocks[2], blocks[3]]],
                        turn,
                        secrets[lane].flip,
                    );
                }
            }
            for (cell, lane) in blocks.chunks_exact_mut(2).zip(&lanes) {
                cell.copy_from_slice(&lane.seeds.map(|seed| seed ^ TABLE));
            }
            self.permutation.hash(&mut blocks[..2 * lanes.len()]);
            for (lane, (cell, path)) in blocks.chunks_exact(2).zip(&lanes).enumerate() {
                let below = (1u128 << (secrets[lane].edge & self.table_mask())) - 1;
                words[lane * self.words() + self.levels()] =
                    cell[0] ^ cell[1] ^ below ^ spread(path.value ^ secrets[lane].flip);
            }
        }
        words
    }

    /// One site's shares of the functions at `points`.
    pub(super) fn evaluate(
        &self,
        second: bool,
        roots: &[u128],
        words: &[u128],
        points: &[u64],
    ) -> Vec<bool> {
        let mut shares = Vec::with_capacity(points.len());
        let mut blocks = [0; LANES];
        let chunks = roots.chunks(LANES).zip(points.chunks(LANES));
        for ((roots, points), words) in chunks.zip(words.chunks(LANES * self.words())) {
            let mut lanes: Vec<(u128, bool, bool)> = roots
                .iter()
                .map(|root| (root & SEED, second, false))
                .collect();
            for level in 0..self.levels() {
                let shift = self.bits as usize - 1 - level;
                for ((block, lane), point) in blocks.iter_mut().zip(&lanes).zip(points) {
                    *block = lane.0 ^ u128::from(point >> shift & 1);
                }
                self.permutation.hash(&mut blocks[..lanes.len()]);
                for (index, (lane, block)) in lanes.iter_mut().zip(&blocks).enumerate() {
                    let (control, value) = (lane.1, lane.2);
                    let word = words[index * self.words() + level] & spread(control);
                    let turn = points[index] >> shift & 1;
                    *lane = (
                        (block ^ word) & SEED,
                        bit(block ^ word >> turn, 0),
                        value ^ bit(block ^ word >> 1, 1),
                    );
                }
            }
            for (block, lane) in blocks.iter_mut().zip(&lanes) {
                *block = lane.0 ^ TABLE;
            }
            self.permutation.hash(&mut blocks[..lanes.len()]);
            for (index, (lane, block)) in lanes.iter().zip(&blocks).enumerate() {
                let word = words[index * self.words() + self.levels()] & spread(lane.1);
                let place = points[index] & self.table_mask();
                shares.push(lane.2 ^ bit(block ^ word, place as u32));
            }
        }
        shares
    }

    /// The bits of a point that the last table answers.
    const fn table_mask(&self) -> u64 {
        let bits = if self.bits < TABLE_BITS {
            self.bits
        } else {
            TABLE_BITS
        };
        (1 << bits) - 1
    }
}

/// Both sites' states on the path to the edge.
struct Path {
    seeds: [u128; 2],
    controls: [bool; 2],
    /// The sum of both sites' values so far.
    value: bool,
}

impl Path {
    fn new(secret: &Secret) -> Self {
        Self {
            seeds: secret.roots.map(|root| root & SEED),
            controls: [false, true],
            value: false,
        }
    }

    /// One level down: `blocks[site][side]` are the children, `turn` the edge's bit. Without
    /// branches on the edge.
    fn descend(&mut self, blocks: [[u128; 2]; 2], turn: u64, flip: bool) -> u128 {
        let right = spread(turn == 1);
        let pick = |pair: [u128; 2], mask: u128| (pair[0] & !mask) | (pair[1] & mask);
        let keep = [pick(blocks[0], right), pick(blocks[1], right)];
        let lose = [pick(blocks[0], !right), pick(blocks[1], !right)];
        let turn = turn == 1;

        let seed = (lose[0] ^ lose[1]) & SEED;
        let left_control = bit(blocks[0][0] ^ blocks[1][0], 0) ^ turn ^ true;
        let right_control = bit(blocks[0][1] ^ blocks[1][1], 0) ^ turn;
        // Who leaves the path to the left is below the edge.
        let value = self.value ^ bit(lose[0] ^ lose[1], 1) ^ turn ^ flip;
        let keep_control = (left_control & !turn) ^ (right_control & turn);

        self.value ^= bit(keep[0] ^ keep[1], 1) ^ value;
        for ((own, control), keep) in self.seeds.iter_mut().zip(&mut self.controls).zip(keep) {
            *own = (keep & SEED) ^ (seed & spread(*control));
            *control = bit(keep, 0) ^ (*control & keep_control);
        }
        seed | u128::from(left_control) | u128::from(right_control) << 1 | u128::from(value) << 2
    }
}

const fn bit(block: u128, place: u32) -> bool {
    block >> place & 1 == 1
}

const fn spread(bit: bool) -> u128 {
    (bit as u128).wrapping_neg()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_add_up_to_the_comparison() {
        for bits in [1, 2, 6, 7, 8, 9, 12] {
            let comparison = Comparison::new(bits);
            let mut number = 0u64;
            let mut random = || {
                number += 1;
                u128::from_le_bytes(
                    blake3::hash(&number.to_le_bytes()).as_bytes()[..16]
                        .try_into()
                        .expect("16"),
                )
            };
            let last = (1 << bits) - 1;
            let edges = [0, 1, last / 2, last];
            for (edge, flip) in edges
                .into_iter()
                .flat_map(|edge| [(edge, false), (edge, true)])
            {
                let secrets: Vec<Secret> = (0..=last)
                    .map(|_| Secret {
                        roots: [random(), random()],
                        edge,
                        flip,
                    })
                    .collect();
                let words = comparison.deal(&secrets);
                let message = comparison.pack(&words);
                assert_eq!(message.len(), secrets.len() * comparison.key_bytes());
                let words = comparison.unpack(&message, secrets.len()).unwrap();
                let points: Vec<u64> = (0..=last).collect();
                let share = |site: usize| {
                    let roots: Vec<u128> =
                        secrets.iter().map(|secret| secret.roots[site]).collect();
                    comparison.evaluate(site == 1, &roots, &words, &points)
                };
                for ((left, right), point) in share(0).iter().zip(share(1)).zip(points) {
                    assert_eq!(
                        left ^ right,
                        (point < edge) ^ flip,
                        "{bits} bits, {point} < {edge}"
                    );
                }
            }
        }
    }
}
