//! Which of two sites has the greater number: one transfer among as many answers as there are numbers.
//!
//! For each number that site 1 may have, site 0 has an answer: whether its own is at least that. Site 1
//! chooses by the bits of its number, lowest first, and so gets one of two pads for each bit; an answer is
//! hidden under the pads that belong to the bits of its number (Naor and Pinkas, STOC 1999). The answer
//! for number v is hidden by bit v of each pad, so that of every other answer at least one pad has a bit that
//! site 1 does not know and that hides nothing else. Site 1 reads its answer and tells it.
//!
//! Three rounds; 16 bytes for each bit of a number, and one bit for each number.
//!
//! # Discloses
//! One bit per comparison. Site 1 gets one of the answers; site 0 sees the chooser's side of transfers.

use crate::block::Permutation;
use crate::error::Error;
use crate::network::Site;
use crate::party::Joined;
use crate::transfer::{Batch, Sender, Transfer, Tweaks, pads};
use crate::wire::{self, WireError};

/// Numbers of at most so many bits: from there on a comparator costs less.
const MOST_BITS: u32 = 11;
/// Bits of a block of pads, as a power of two.
const BLOCK_BITS: u32 = 7;
/// Comparisons of one part. All parts are under way at once, so they cost no rounds.
const PART: usize = 2048;

/// Whether numbers up to the bound are compared like this.
pub(super) const fn is_cheap(bound: u64) -> bool {
    bits_of(bound) <= MOST_BITS
}

/// Bits of a number; answers make up whole bytes.
const fn bits_of(bound: u64) -> u32 {
    let bits = u64::BITS - bound.leading_zeros();
    if bits < 3 { 3 } else { bits }
}

/// Sets each answer to whether the first site's number is at least the second's.
pub(super) async fn compare(
    joined: &mut Joined,
    bound: u64,
    values: &[u64],
    answers: &mut [bool],
) -> Result<(), Error> {
    let (sender, chooser) = (Site::new(0), Site::new(1));
    let rows = Rows {
        bits: bits_of(bound),
        permutation: Permutation::new(0),
    };
    let bound = joined.link.bound();
    let batch = |part: usize| Batch {
        bound,
        part: part as u32,
    };
    match joined.transfer.as_deref() {
        Some(Transfer::Sender(transfer)) => {
            for (part, own) in parts(values).enumerate() {
                let count = own.len() * rows.bits as usize;
                let length = Sender::message_bytes(count);
                let message = joined.link.receive(chooser, length).await?;
                let zeros = transfer.rows(batch(part), &message, count);
                let zeros = zeros.map_err(|source| joined.link.invalid(chooser, source))?;
                let ones: Vec<u128> = zeros.iter().map(|row| row ^ transfer.offset()).collect();
                let tweaks = batch(part).tweaks(&message);
                let hidden = rows.hide(own, tweaks, [&zeros, &ones]);
                joined.link.send(chooser, &hidden)?;
            }
            joined.receive_answers(chooser, answers).await
        }
        Some(Transfer::Chooser(transfer)) => {
            let mut chosen = Vec::with_capacity(values.len().div_ceil(PART));
            for (part, own) in parts(values).enumerate() {
                let choices = rows.choices(own);
                let (message, own) = transfer.choose(batch(part), choices.into_iter());
                joined.link.send(sender, &message)?;
                chosen.push((batch(part).tweaks(&message), own));
            }
            let none = answers.is_empty().then(<&mut [bool]>::default);
            let answered = answers.chunks_mut(PART).chain(none);
            for ((own, answers), (tweaks, chosen)) in parts(values).zip(answered).zip(chosen) {
                let length = own.len() * rows.bytes();
                let hidden = joined.link.receive(sender, length).await?;
                let read = rows.read(own, tweaks, &chosen, &hidden, answers);
                read.map_err(|source| joined.link.invalid(sender, source))?;
            }
            let packed = wire::pack_bits(answers.iter().copied());
            joined.link.send(sender, &packed)
        }
        None => unreachable!("two sites prepare their transfers when they join"),
    }
}

/// The parts of a batch. No comparison at all is one empty part, so that both sites hear of the
/// question.
fn parts(numbers: &[u64]) -> impl Iterator<Item = &[u64]> {
    let empty = numbers.is_empty().then_some(numbers);
    numbers.chunks(PART).chain(empty)
}

/// Rows of answers: one for each number of so many bits.
struct Rows {
    bits: u32,
    permutation: Permutation,
}

impl Rows {
    /// Bytes of a row.
    const fn bytes(&self) -> usize {
        (1 << self.bits) / 8
    }

    /// Blocks of a row, the last of which may be a part of one.
    const fn blocks(&self) -> usize {
        1 << self.bits.saturating_sub(BLOCK_BITS)
    }

    /// The bits of numbers, lowest first.
    fn choices(&self, own: &[u64]) -> Vec<bool> {
        let bits = own
            .iter()
            .flat_map(|value| (0..self.bits).map(move |bit| value >> bit & 1 == 1));
        bits.collect()
    }

    /// As many blocks of pads as a row has, for each transfer.
    fn pads(&self, tweaks: Tweaks, rows: &[u128]) -> Vec<u128> {
        let blocks = self.blocks();
        let repeated = rows
            .iter()
            .flat_map(|row| std::iter::repeat_n(*row, blocks));
        let mut repeated: Vec<u128> = repeated.collect();
        pads(&self.permutation, tweaks, &mut repeated);
        repeated
    }

    /// The rows of answers, each answer under the pads of its number.
    fn hide(&self, own: &[u64], tweaks: Tweaks, [zeros, ones]: [&[u128]; 2]) -> Vec<u8> {
        let (zeros, ones) = (self.pads(tweaks, zeros), self.pads(tweaks, ones));
        let (blocks, of_row) = (self.blocks(), self.blocks() * self.bits as usize);
        let mut message = Vec::with_capacity(own.len() * self.bytes());
        for (index, value) in own.iter().enumerate() {
            let mut row = Vec::with_capacity(blocks * 16);
            for block in 0..blocks {
                let mut hidden = reached(*value, block);
                for bit in 0..self.bits {
                    let place = index * of_row + bit as usize * blocks + block;
                    let is_one = is_set(bit, block);
                    hidden ^= zeros[place] & !is_one | ones[place] & is_one;
                }
                row.extend_from_slice(&hidden.to_le_bytes());
            }
            message.extend_from_slice(&row[..self.bytes()]);
        }
        message
    }

    /// Reads, of each row, the answer for this site's own number.
    fn read(
        &self,
        own: &[u64],
        tweaks: Tweaks,
        chosen: &[u128],
        hidden: &[u8],
        answers: &mut [bool],
    ) -> Result<(), WireError> {
        wire::exactly(hidden, own.len() * self.bytes())?;
        let pads = self.pads(tweaks, chosen);
        let (blocks, of_row) = (self.blocks(), self.blocks() * self.bits as usize);
        let rows = hidden.chunks_exact(self.bytes());
        for (index, ((value, row), answer)) in own.iter().zip(rows).zip(answers).enumerate() {
            let (block, place) = ((value >> BLOCK_BITS) as usize, value & 127);
            let of_bits = (0..self.bits as usize)
                .map(|bit| pads[index * of_row + bit * blocks + block] >> place & 1);
            let pad = of_bits.fold(0, |pad, bit| pad ^ bit) == 1;
            *answer = (row[*value as usize / 8] >> (value % 8) & 1 == 1) ^ pad;
        }
        Ok(())
    }
}

/// For each number of a block, whether it is at most `value`.
fn reached(value: u64, block: usize) -> u128 {
    let first = (block as u64) << BLOCK_BITS;
    match value.checked_sub(first) {
        None => 0,
        Some(last) if last >= 127 => u128::MAX,
        Some(last) => (1 << (last + 1)) - 1,
    }
}

/// For each number of a block, whether a bit of it is set: all bits of the mask, or none, for high bits.
fn is_set(bit: u32, block: usize) -> u128 {
    match bit.checked_sub(BLOCK_BITS) {
        Some(high) => u128::from(block as u64 >> high & 1).wrapping_neg(),
        None => {
            let period = 1u32 << bit;
            // Runs of zeros and ones of equal length: 10, 1100, 11110000.
            let ones = u128::MAX / ((1 << period) + 1);
            ones << period
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_are_those_of_the_numbers() {
        for number in 0..512u64 {
            let (block, place) = ((number >> BLOCK_BITS) as usize, number & 127);
            for bit in 0..9 {
                assert_eq!(is_set(bit, block) >> place & 1 == 1, number >> bit & 1 == 1);
            }
            for value in [0, 1, 63, 127, 128, 200, 255, 256, 511] {
                assert_eq!(reached(value, block) >> place & 1 == 1, value >= number);
            }
        }
    }

    /// A chooser that has the pads of its own number reads one answer; every other answer has a pad of
    /// its own over it, so that rows of any two numbers look alike to it.
    #[test]
    fn a_row_hides_all_answers_but_one() {
        let rows = Rows {
            bits: 8,
            permutation: Permutation::new(0),
        };
        let batch = Batch {
            bound: crate::random::Bound::ONCE,
            part: 0,
        };
        let tweaks = batch.tweaks(b"chosen");
        let block = |seed: u8| {
            let hash = blake3::hash(&[seed]);
            u128::from_le_bytes(hash.as_bytes()[..16].try_into().expect("16"))
        };
        let pairs: Vec<[u128; 2]> = (0..8)
            .map(|bit| [block(2 * bit), block(2 * bit + 1)])
            .collect();
        let [zeros, ones] =
            [0, 1].map(|side| pairs.iter().map(|pair| pair[side]).collect::<Vec<u128>>());
        for own in [0u64, 77, 130, 255] {
            let chosen: Vec<u128> = (0..8)
                .map(|bit| pairs[bit][(own >> bit & 1) as usize])
                .collect();
            let mut wrong = 0;
            for theirs in [0u64, 76, 77, 78, 129, 130, 255] {
                let hidden = rows.hide(&[theirs], tweaks, [&zeros, &ones]);
                let mut answer = [false];
                rows.read(&[own], tweaks, &chosen, &hidden, &mut answer)
                    .expect("a row");
                assert_eq!(answer, [theirs >= own]);
                // With the pads of its own number, other answers are noise.
                let pads = rows.pads(tweaks, &chosen);
                for other in (0..256u64).filter(|other| *other != own) {
                    let of =
                        |bit: usize| pads[bit * 2 + (other >> 7) as usize] >> (other & 127) & 1;
                    let pad = (0..8).fold(0, |pad, bit| pad ^ of(bit)) == 1;
                    let read = (hidden[other as usize / 8] >> (other % 8) & 1 == 1) ^ pad;
                    wrong += u32::from(read != (theirs >= other));
                }
            }
            assert!((700..1085).contains(&wrong), "{wrong} of 1785");
        }
    }
}
