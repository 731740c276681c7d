//! What laps of extremes give away of the values of the site before.

use serde::{Deserialize, Serialize};

use super::Witness;

/// The loss of privacy of extremes: each site claims that its predecessor holds what it passed on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Extremes {
    /// Values that sites held and might lose: one for each site and question.
    pub values: u64,
    /// Claims in all laps about something other than the result.
    pub claims: u64,
    /// How many of the claims were right.
    pub right: u64,
    /// LoP of each lap: right claims beyond what guesses would get right, for each value. A site knows the
    /// lap and how many values the result leaves, and makes no claim where guesses do better: claims are
    /// taken together by that number up to a factor of two, and those that lose to guesses count 0.
    pub by_lap: Vec<f64>,
    /// LoP of the lap that gives away the most, which is a protocol's LoP.
    pub worst: f64,
    /// The mean LoP over all laps.
    pub mean: f64,
}

/// The claims of one lap, by the bits of the number of values that the result leaves.
#[derive(Clone)]
struct Lap([Claims; u64::BITS as usize + 1]);

/// Claims, and guesses in their place.
#[derive(Default, Clone, Copy)]
struct Claims {
    claims: u64,
    right: u64,
    /// How many right claims guesses would make.
    guessed: f64,
}

impl Extremes {
    /// Pairs are the site that is watched, and its successor.
    pub(super) fn measure(watched: &[(&Witness, &Witness)]) -> Option<Self> {
        let mut laps: Vec<Lap> = Vec::new();
        let mut values = 0;
        for (site, successor) in watched {
            for (own, seen) in site.extremes.iter().zip(&successor.extremes) {
                values += own.held.iter().filter(|held| **held > 0).count() as u64;
                let passed = seen.seen.chunks_exact(own.held.len().max(1));
                let none = Lap([Claims::default(); u64::BITS as usize + 1]);
                laps.resize(laps.len().max(passed.len()), none);
                for (lap, passed) in laps.iter_mut().zip(passed) {
                    let answers = own.held.iter().zip(&seen.found);
                    for (passed, (held, found)) in passed.iter().zip(answers) {
                        lap.claim(*passed, *held, *found);
                    }
                }
            }
        }
        if values == 0 {
            return None;
        }
        let by_lap: Vec<f64> = laps
            .iter()
            .map(|lap| lap.0.iter().map(Claims::beyond_guesses).sum::<f64>() / values as f64)
            .collect();
        let sum = |of: fn(&Claims) -> u64| laps.iter().flat_map(|lap| &lap.0).map(of).sum();
        Some(Self {
            values,
            claims: sum(|claims| claims.claims),
            right: sum(|claims| claims.right),
            worst: by_lap.iter().copied().fold(0.0, f64::max),
            mean: by_lap.iter().sum::<f64>() / by_lap.len().max(1) as f64,
            by_lap,
        })
    }
}

impl Lap {
    fn claim(&mut self, passed: u64, held: u64, found: u64) {
        if passed == 0 || passed == found {
            return;
        }
        // No value lies beyond the result, which leaves as many values as its number.
        let claims = &mut self.0[(u64::BITS - found.leading_zeros()) as usize];
        claims.claims += 1;
        claims.right += u64::from(passed == held);
        claims.guessed += 1.0 / found.max(1) as f64;
    }
}

impl Claims {
    fn beyond_guesses(&self) -> f64 {
        (self.right as f64 - self.guessed).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Laps, LossOfPrivacy, Witness, measure};
    use crate::network::Site;

    /// Three sites on a ring 0, 1, 2 that hold 5, 9 and 2 of a domain of 10, in two laps.
    fn witnesses(first: [u64; 3], second: [u64; 2]) -> Vec<Witness> {
        let held = [5, 9, 2];
        let of = |site: usize, seen: Vec<u64>| Witness {
            extremes: vec![Laps {
                held: vec![held[site]],
                found: vec![9],
                seen,
            }],
            ..Witness::of(Site::new([2, 0, 1][site]))
        };
        // Site 2 tells all the result after its last lap, and passes nothing.
        vec![
            of(0, vec![first[2]]),
            of(1, vec![first[0], second[0]]),
            of(2, vec![first[1], second[1]]),
        ]
    }

    #[test]
    fn claims_are_counted_by_hand() {
        // Site 0 passes its own value at once: a right claim, for which a guess had one chance in nine.
        // Site 1 passes 7 for its 9: a wrong claim; site 2 passes the same on: wrong too.
        let LossOfPrivacy { extremes, unions } = measure(&witnesses([5, 7, 7], [7, 9]));
        let extremes = extremes.expect("values were held");
        assert_eq!(unions, None);
        assert_eq!(
            (extremes.values, extremes.claims, extremes.right),
            (3, 4, 1)
        );
        assert!((extremes.by_lap[0] - (1.0 - 3.0 / 9.0) / 3.0).abs() < 1e-12);
        // In the second lap site 0 passes what it got, which is wrong; site 1 the result, which is no
        // claim. Worse than guesses is no loss.
        assert_eq!(extremes.by_lap[1], 0.0);
        assert_eq!(extremes.worst, extremes.by_lap[0]);
        assert_eq!(extremes.mean, extremes.by_lap[0] / 2.0);
    }

    #[test]
    fn the_result_and_nothing_give_nothing_away() {
        let extremes = measure(&witnesses([0, 9, 9], [9, 9])).extremes;
        let extremes = extremes.expect("values were held");
        assert_eq!((extremes.claims, extremes.worst), (0, 0.0));
    }
}
