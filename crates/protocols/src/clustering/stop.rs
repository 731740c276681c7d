//! When iterations over the records end (TG12 Algorithm 3, step 25; Algorithm 4, step 22).
//!
//! As printed, iterations end when no record moves. A study may end them earlier: by a number of iterations,
//! and by a least gain.
//!
//! As printed, they need not end at all. A record that is alone must join a cluster (steps 12 to 14) even if
//! the loss rises, and a cluster above k_1 is split at random. Of three equal records and an outlier, with
//! k = 2, the outlier is left alone, joins the three, and the four are split again, for ever. The paper has no
//! bound on its number of iterations (section 7.2). So iterations end too when the loss has not reached a new
//! least value for so long that records can only be going round in circles.

use hedgerow_privacy::Ratio;
use hedgerow_smc::Security;

/// The least gain of the hardened level.
const SMALL_SHARE: Ratio = Ratio::new(1, 200);
/// The most iterations of the hardened level.
const MOST_ITERATIONS: u32 = 20;

/// Iterations end when so many have passed without a loss below all losses before.
pub const CIRCLES: u32 = 10;

/// What tells that iterations go round in circles: the least loss so far, and for how many iterations it has
/// been the least.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Circles {
    least: Option<i64>,
    since: u32,
}

impl Circles {
    /// Takes the loss after an iteration, from any zero. Returns whether records go round in circles.
    pub(crate) fn are_closed(&mut self, loss: i64) -> bool {
        if self.least.is_none_or(|least| loss < least) {
            self.least = Some(loss);
            self.since = 0;
        } else {
            self.since += 1;
        }
        self.since >= CIRCLES
    }
}

/// What ends iterations although records still move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stop {
    /// The most iterations; `None` where there is no bound.
    pub iterations: Option<u32>,
    /// Iterations end when one gains no more than this share; with 0, no gain is too small.
    pub least_gain: Ratio,
}

impl Stop {
    /// The end of iterations at a level, where a study does not say otherwise.
    pub const fn at(security: Security) -> Self {
        match security {
            Security::Hardened => Self {
                iterations: Some(MOST_ITERATIONS),
                least_gain: SMALL_SHARE,
            },
            Security::Published => Self {
                iterations: None,
                least_gain: Ratio::ZERO,
            },
        }
    }

    /// Whether a gain may be too small.
    pub(crate) fn has_least_gain(&self) -> bool {
        self.least_gain > Ratio::ZERO
    }

    /// Whether so many iterations are all that may be made.
    pub(crate) fn is_bound(&self, iterations: u32) -> bool {
        self.iterations.is_some_and(|most| iterations >= most)
    }

    /// Whether a gain is too small a share of a number for another iteration.
    pub(crate) fn is_small(&self, gained: i64, of: u64) -> bool {
        let is_at_most = |gained: u128| match of {
            0 => gained == 0,
            of => Ratio::new(gained, u128::from(of)) <= self.least_gain,
        };
        // A loss that rose gained nothing.
        self.has_least_gain() && u128::try_from(gained).map_or(true, is_at_most)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// 1/200 of a loss in whole units is what is left of a division.
        #[test]
        fn a_share_is_that_of_whole_units(gained in -10i64..1_000_000, of in 0u64..100_000_000) {
            let hardened = Stop::at(Security::Hardened);
            prop_assert_eq!(hardened.is_small(gained, of), gained <= (of / 200) as i64);
            prop_assert!(!Stop::at(Security::Published).is_small(gained, of));
        }
    }

    #[test]
    fn circles_are_seen() {
        let mut circles = Circles::default();
        assert!(!circles.are_closed(9) && !circles.are_closed(7));
        // As low as before is no gain.
        assert!((1..CIRCLES).all(|_| !circles.are_closed(7)));
        assert!(!circles.are_closed(6));
        assert!((1..CIRCLES).all(|_| !circles.are_closed(8)) && circles.are_closed(6));
    }

    #[test]
    fn a_bound_is_reached_by_as_many_iterations() {
        let two = Stop {
            iterations: Some(2),
            ..Stop::at(Security::Published)
        };
        assert!(!two.is_bound(1) && two.is_bound(2) && two.is_bound(3));
        assert!(!Stop::at(Security::Published).is_bound(u32::MAX));
    }
}
