//! Places on the Hilbert curve in any number of dimensions (Skilling, "Programming the Hilbert curve",
//! AIP Conference Proceedings 707, 2004): the curve visits every point of a grid once, and neighbours on
//! it are neighbours in the grid.
//!
//! Written here because crates for many dimensions hold a place in one machine word (`hilbert_index`,
//! `spacecurve`); fourteen attributes of 16 bits take 224 bits.

/// The place of a point on the curve through a grid of 2^`bits` values in each dimension: as words, the
/// most significant first. `bits` is at most 32, and coordinates are below 2^`bits`.
pub(super) fn place(mut point: Vec<u32>, bits: u32) -> Vec<u64> {
    transpose(&mut point, bits);
    let mut words = vec![0; (point.len() * bits as usize).div_ceil(64)];
    let turns = (0..bits).rev();
    let interleaved = turns.flat_map(|bit| point.iter().map(move |word| word >> bit & 1));
    for (at, bit) in interleaved.enumerate() {
        words[at / 64] |= u64::from(bit) << (63 - at % 64);
    }
    words
}

/// Turns coordinates into the place on the curve, whose bits are dealt to the coordinates in turn.
fn transpose(point: &mut [u32], bits: u32) {
    let masks = || (1..bits).rev().map(|bit| 1u32 << bit);
    // Undo the rotations and reflections of each level, from the coarsest to the finest.
    for mask in masks() {
        let below = mask - 1;
        for dimension in 0..point.len() {
            if point[dimension] & mask != 0 {
                point[0] ^= below;
            } else {
                let swapped = (point[0] ^ point[dimension]) & below;
                point[0] ^= swapped;
                point[dimension] ^= swapped;
            }
        }
    }
    // Gray code.
    for dimension in 1..point.len() {
        point[dimension] ^= point[dimension - 1];
    }
    let last = point.last().copied().unwrap_or(0);
    let set = masks().filter(|mask| last & mask != 0);
    let flipped = set.fold(0, |flipped, mask| flipped ^ (mask - 1));
    point.iter_mut().for_each(|word| *word ^= flipped);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All points of a grid in the order of the curve.
    fn walk(dimensions: u32, bits: u32) -> Vec<Vec<u32>> {
        let side = 1u32 << bits;
        let point = |mut number: u32| -> Vec<u32> {
            let coordinates = (0..dimensions).map(|_| {
                let coordinate = number % side;
                number /= side;
                coordinate
            });
            coordinates.collect()
        };
        let mut points: Vec<Vec<u32>> = (0..side.pow(dimensions)).map(point).collect();
        points.sort_by_key(|point| place(point.clone(), bits));
        points
    }

    #[test]
    fn the_curve_of_four_points() {
        assert_eq!(walk(2, 1), [[0, 0], [0, 1], [1, 1], [1, 0]]);
    }

    #[test]
    fn every_point_once_and_neighbours_side_by_side() {
        for (dimensions, bits) in [(1, 6), (2, 1), (2, 5), (3, 3), (4, 2), (5, 2), (14, 1)] {
            let points = walk(dimensions, bits);
            let mut places: Vec<Vec<u64>> = points
                .iter()
                .map(|point| place(point.clone(), bits))
                .collect();
            places.dedup();
            assert_eq!(places.len(), points.len(), "{dimensions} x {bits}");
            assert!(points[0].iter().all(|coordinate| *coordinate == 0));
            for pair in points.windows(2) {
                let steps = pair[0]
                    .iter()
                    .zip(&pair[1])
                    .map(|(one, other)| one.abs_diff(*other));
                assert_eq!(steps.sum::<u32>(), 1, "{pair:?}");
            }
            // As many bits as the grid has, and no more: the last place is all ones.
            let last = &places[places.len() - 1];
            let ones: u32 = last.iter().map(|word| word.count_ones()).sum();
            assert_eq!(ones, dimensions * bits);
        }
    }
}
