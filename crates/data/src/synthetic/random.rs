//! Randomness of one block of rows, and weighted choices by alias tables.

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng as _, SeedableRng as _};

/// The random numbers of one block of rows.
pub(super) struct Random(ChaCha8Rng);

impl Random {
    /// A generator keyed by the seed, the kind of table and the site, with one stream a block.
    pub(super) fn for_block(seed: u64, kind: &str, site: usize, block: u64) -> Self {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        key[8..16].copy_from_slice(&(site as u64).to_le_bytes());
        for (place, byte) in key[16..].iter_mut().zip(kind.bytes()) {
            *place = byte;
        }
        let mut generator = ChaCha8Rng::from_seed(key);
        generator.set_stream(block);
        Self(generator)
    }

    /// 64 random bits.
    pub(super) fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number from 0 to `count - 1`.
    pub(super) fn below(&mut self, count: u32) -> u32 {
        ((u64::from(self.0.next_u32()) * u64::from(count)) >> 32) as u32
    }

    /// A number around 510 with a standard deviation of 148, from 0 to 1020: the sum of four
    /// bytes, near enough to a normal distribution.
    pub(super) fn bell(&mut self) -> usize {
        let bytes = self.0.next_u32().to_le_bytes();
        bytes.iter().map(|byte| usize::from(*byte)).sum()
    }
}

/// A weighted choice between alternatives, in constant time (Walker's alias method).
#[derive(Debug, Clone)]
pub(super) struct Choice {
    /// For each cell the chance, of 2^32, that the cell keeps a draw, and the cell that gets the draw
    /// otherwise.
    cells: Box<[(u32, u32)]>,
}

impl Choice {
    /// A choice with these weights; if all are zero, all are equally likely.
    pub(super) fn new(weights: impl IntoIterator<Item = u64>) -> Self {
        let mut left: Vec<u128> = weights.into_iter().map(u128::from).collect();
        let mut total: u128 = left.iter().sum();
        if total == 0 {
            left.fill(1);
            total = left.len() as u128;
        }
        let count = left.len() as u128;
        left.iter_mut().for_each(|weight| *weight *= count);
        let mut cells: Vec<(u32, u32)> = (0..left.len() as u32)
            .map(|place| (u32::MAX, place))
            .collect();
        let is_small = |place: &usize| left[*place] < total;
        let (mut small, mut large): (Vec<usize>, Vec<usize>) = (0..left.len()).partition(is_small);
        // A cell below average is filled up by one above, which may then fall below itself.
        while let (Some(low), Some(high)) = (small.pop(), large.last().copied()) {
            cells[low] = (((left[low] << 32) / total) as u32, high as u32);
            left[high] -= total - left[low];
            if left[high] < total {
                large.pop();
                small.push(high);
            }
        }
        Self {
            cells: cells.into_boxed_slice(),
        }
    }

    /// Draws one alternative.
    pub(super) fn draw(&self, random: &mut Random) -> usize {
        let bits = random.bits();
        let place = ((bits >> 32) * self.cells.len() as u64) >> 32;
        let (keep, other) = self.cells[place as usize];
        if (bits as u32) < keep {
            place as usize
        } else {
            other as usize
        }
    }
}
