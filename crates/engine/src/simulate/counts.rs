//! Counted rows dealt to sites at random, without a row for each record: how many records of a row each site
//! has, where sites have so many records and which is dealt by lot. Of rows of counts c and sites of sizes n
//! that is the multivariate hypergeometric law, drawn row by row and site by site; of single records it is
//! what a shuffled deck gives. Memory follows from rows and sites, and time from the spread of what is drawn.

use rand::{RngExt as _, SeedableRng as _};

/// Gives the records of each row to sites of these sizes, which together have all records.
pub(super) fn at_random(
    counts: &[u64],
    sizes: &[usize],
    seed: u64,
    mut give: impl FnMut(usize, u32, u64),
) {
    let mut generator = rand_chacha::ChaCha12Rng::seed_from_u64(seed);
    let mut room: Vec<u64> = sizes.iter().map(|size| *size as u64).collect();
    for (row, count) in counts.iter().enumerate() {
        let (mut left, mut rooms) = (*count, room.iter().sum::<u64>());
        for (site, room) in (0..).zip(&mut room) {
            if left == 0 {
                break;
            }
            let share = drawn(rooms, *room, left, &mut || generator.random());
            rooms -= *room;
            *room -= share;
            left -= share;
            if share > 0 {
                give(row, site, share);
            }
        }
    }
}

/// How many of `taken` records, drawn from `all` of which `marked` are marked, are marked: hypergeometric.
/// The law is walked from the likeliest number outward until what is left of it is less than rounding.
fn drawn(all: u64, marked: u64, taken: u64, uniform: &mut impl FnMut() -> f64) -> u64 {
    let least = (taken + marked).saturating_sub(all);
    let greatest = taken.min(marked);
    if least == greatest {
        return least;
    }
    let product = u128::from(taken + 1) * u128::from(marked + 1) / u128::from(all + 2);
    let mode = (product as u64).clamp(least, greatest);
    // The chance of a number, relative to the number before or after.
    let after = &|number: u64| {
        let (up, down) = ((marked - number) as f64, (taken - number) as f64);
        let rest = (all + number + 1 - marked - taken) as f64;
        up * down / ((number + 1) as f64 * rest)
    };
    let mut sum = 0.0;
    outward((least, mode, greatest), after, |_, chance| {
        sum += chance;
        false
    });
    let (mut rest, mut found) = (uniform() * sum, mode);
    outward((least, mode, greatest), after, |number, chance| {
        found = number;
        rest -= chance;
        rest < 0.0
    });
    found
}

/// Visits numbers with their chances, relative to the likeliest, on both sides of it until the visitor says
/// that it is enough or chances are nothing.
fn outward(
    (least, mode, greatest): (u64, u64, u64),
    after: impl Fn(u64) -> f64,
    mut visit: impl FnMut(u64, f64) -> bool,
) {
    if visit(mode, 1.0) {
        return;
    }
    let (mut above, mut below) = ((mode, 1.0), (mode, 1.0));
    while above.1 > 0.0 || below.1 > 0.0 {
        above = match above.0 < greatest && above.1 > NOTHING {
            true => (above.0 + 1, above.1 * after(above.0)),
            false => (greatest, 0.0),
        };
        below = match below.0 > least && below.1 > NOTHING {
            true => (below.0 - 1, below.1 / after(below.0 - 1)),
            false => (least, 0.0),
        };
        for (number, chance) in [above, below] {
            if chance > 0.0 && visit(number, chance) {
                return;
            }
        }
    }
}

/// A chance, relative to the likeliest number's, beside which nothing is added to a sum.
const NOTHING: f64 = 1e-18;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Every record is dealt once, and every site has as many as it is to have.
        #[test]
        fn rows_and_sites_keep_their_records(
            counts in proptest::collection::vec(1u64..5_000_000_000, 1..12),
            weights in proptest::collection::vec(0u64..50, 1..9),
            seed in 0u64..1000,
        ) {
            let all: u64 = counts.iter().sum();
            let weight: u64 = weights.iter().sum();
            let mut sizes: Vec<usize> = weights
                .iter()
                .map(|one| (u128::from(all) * u128::from(*one) / u128::from(weight.max(1))) as usize)
                .collect();
            sizes[0] += all as usize - sizes.iter().sum::<usize>();
            let (mut of_rows, mut of_sites) = (vec![0; counts.len()], vec![0; sizes.len()]);
            at_random(&counts, &sizes, seed, |row, site, records| {
                assert!(records > 0);
                of_rows[row] += records;
                of_sites[site as usize] += records as usize;
            });
            prop_assert_eq!(of_rows, counts);
            prop_assert_eq!(of_sites, sizes);
        }
    }

    /// Against the law, counted: how many of 6 records drawn from 15 of which 5 are marked. All 5005 ways
    /// are alike.
    #[test]
    fn draws_follow_the_law() {
        let ways = |of: u64, some: u64| -> f64 {
            let each = (0..some).map(|one| (of - one) as f64 / (one + 1) as f64);
            each.product()
        };
        let mut generator = rand_chacha::ChaCha12Rng::seed_from_u64(3);
        let mut found = [0u32; 6];
        let draws = 40_000;
        for _ in 0..draws {
            found[drawn(15, 5, 6, &mut || generator.random()) as usize] += 1;
        }
        let chances = (0..6).map(|marked| ways(5, marked) * ways(10, 6 - marked) / ways(15, 6));
        let chances: Vec<f64> = chances.collect();
        assert!((chances.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        let off = found.iter().zip(&chances).map(|(found, chance)| {
            let expected = chance * f64::from(draws);
            (f64::from(*found) - expected).powi(2) / expected
        });
        // Chi-square of five degrees: one in a million lies above.
        let off: f64 = off.sum();
        assert!(off < 35.9, "{off} {found:?}");
    }

    /// Of billions the mean and the spread are those of the law.
    #[test]
    fn billions_are_drawn_by_their_law() {
        let (all, marked, taken) = (4_000_000_000u64, 1_000_000_000u64, 2_000_000_000u64);
        let mut generator = rand_chacha::ChaCha12Rng::seed_from_u64(9);
        let draws: Vec<f64> = (0..400)
            .map(|_| drawn(all, marked, taken, &mut || generator.random()) as f64 - 5e8)
            .collect();
        // n K/N (N-K)/N (N-n)/(N-1).
        let spread = (2e9f64 * 0.25 * 0.75 * 0.5).sqrt();
        let mean = draws.iter().sum::<f64>() / 400.0;
        let found = (draws.iter().map(|one| (one - mean).powi(2)).sum::<f64>() / 399.0).sqrt();
        assert!(mean.abs() < 5.0 * spread / 20.0, "{mean} {spread}");
        assert!((found / spread - 1.0).abs() < 0.2, "{found} {spread}");
        // A greatest number is bound by both: nothing is left to chance.
        assert_eq!(drawn(10, 10, 4, &mut || 0.5), 4);
        assert_eq!(drawn(10, 0, 4, &mut || 0.5), 0);
        assert_eq!(drawn(10, 3, 10, &mut || 0.5), 3);
    }
}
