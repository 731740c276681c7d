//! The loss of privacy of the published union: JX08 equations 4, 5, 7, 9 and 10.
//!
//! LoP = P(claim | result and what passed through) - P(claim | result), for a claim of the
//! leader's successor about the leader's items. The paper's equation 6 prints |x_2| where |x_1| is
//! meant: the successor's claim is about the leader's own items; equations 7 and 10 follow from
//! the corrected form.
//!
//! # Discloses
//! Nothing: formulas.

/// The setting of an analysis, in the paper's letters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Setting {
    /// n: sites.
    pub sites: u32,
    /// m: items that the domain holds.
    pub domain: f64,
    /// c: items of the union.
    pub united: f64,
    /// c_1: items of the leader.
    pub leader: f64,
}

impl Setting {
    /// Every site has the same share of the union.
    pub fn even(sites: u32, domain: f64, united: f64) -> Self {
        Self {
            sites,
            domain,
            united,
            leader: united / f64::from(sites),
        }
    }

    /// Equation 4: set exposure, when the successor knows who leads.
    pub fn set_exposure_known_leader(&self, decoys: usize) -> f64 {
        self.miss().powf(decoys as f64)
    }

    /// Equation 5: set exposure, with a leader at random whom the successor does not know. The length of
    /// the list tells who leads, so this is the exposure to a successor that ignores the length.
    pub fn set_exposure(&self, decoys: usize) -> f64 {
        self.set_exposure_known_leader(decoys) / f64::from(self.sites - 1)
    }

    /// Equation 7: item exposure in the worst case.
    pub fn item_exposure_worst(&self, decoys: usize) -> f64 {
        let share = self.united / f64::from(self.sites);
        let hit = decoys as f64 * (self.united - share) / self.domain;
        2.0 * share / (share + hit) - 1.0 / f64::from(self.sites - 1)
    }

    /// Equation 9: random items that keep set exposure at or below `expected`. `None` where no number is
    /// enough: a leader that has all items of the union is known by them.
    pub fn decoys_for_set_exposure(&self, expected: f64) -> Option<usize> {
        let target = f64::from(self.sites - 1) * expected;
        if target >= 1.0 {
            return Some(0);
        }
        let decoys = (target.ln() / self.miss().ln()).ceil();
        (self.miss() < 1.0).then_some(decoys as usize)
    }

    /// Equation 10: random items that keep the worst item exposure at or below `expected`.
    pub fn decoys_for_item_exposure(&self, expected: f64) -> usize {
        let share = self.united / f64::from(self.sites);
        let others = self.united - share;
        let factor = 2.0 / (expected + 1.0 / f64::from(self.sites - 1)) - 1.0;
        (self.domain * share / others * factor).ceil().max(0.0) as usize
    }

    /// The probability that a random item is not among the other sites' items (equation 3). Where the size of
    /// the domain is an estimate, the union may have more items.
    fn miss(&self) -> f64 {
        ((self.domain - self.united + self.leader) / self.domain).clamp(0.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAPER: Setting = Setting {
        sites: 20,
        domain: 100_000.0,
        united: 1_000.0,
        leader: 50.0,
    };

    #[test]
    fn the_paper_s_numbers() {
        assert_eq!(Setting::even(20, 100_000.0, 1_000.0), PAPER);
        assert!((PAPER.set_exposure(0) - 1.0 / 19.0).abs() < 1e-12);
        // Figure 11: with 100 random items the loss is near 0.02.
        assert!((PAPER.set_exposure(100) - 0.0203).abs() < 1e-3);
    }

    #[test]
    fn sizes_keep_their_bounds() {
        for expected in [0.001, 0.01, 0.02, 0.04] {
            let decoys = PAPER.decoys_for_set_exposure(expected).unwrap();
            assert!(PAPER.set_exposure(decoys) <= expected);
            assert!(decoys == 0 || PAPER.set_exposure(decoys - 1) > expected);
        }
        for expected in [0.05, 0.1, 0.5, 1.0] {
            let decoys = PAPER.decoys_for_item_exposure(expected);
            assert!(PAPER.item_exposure_worst(decoys) <= expected + 1e-9);
            assert!(PAPER.item_exposure_worst(decoys - 1) > expected);
        }
        assert_eq!(PAPER.decoys_for_set_exposure(0.5), Some(0));
        let known = Setting {
            leader: PAPER.united,
            ..PAPER
        };
        assert_eq!(known.decoys_for_set_exposure(0.02), None);
        let beyond = Setting::even(20, 100.0, 1_000.0);
        assert_eq!(beyond.set_exposure(7), 0.0);
        assert_eq!(beyond.decoys_for_set_exposure(0.02), Some(0));
    }
}
