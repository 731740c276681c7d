//! Sets of codes of a domain, as ranges: what a comparison accepts.
//!
//! # Discloses
//! Nothing.

use hedgerow_data::Cell;
use serde::{Deserialize, Serialize};

/// A set of codes: ranges with both ends included, ascending, none next to another.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CodeSet(Vec<(u32, u32)>);

impl CodeSet {
    /// The codes of some ranges; a range that runs backwards is empty.
    pub fn new(ranges: impl IntoIterator<Item = (u32, u32)>) -> Self {
        let mut ranges: Vec<(u32, u32)> = ranges
            .into_iter()
            .filter(|(least, greatest)| least <= greatest)
            .collect();
        ranges.sort_unstable();
        let mut merged: Vec<(u32, u32)> = Vec::with_capacity(ranges.len());
        for (least, greatest) in ranges {
            match merged.last_mut() {
                Some((_, end)) if least <= end.saturating_add(1) => *end = (*end).max(greatest),
                _ => merged.push((least, greatest)),
            }
        }
        Self(merged)
    }

    /// The codes that a cell covers.
    pub fn of_cell(cell: &Cell) -> Self {
        match cell {
            Cell::Interval(least, greatest) => Self::new([(*least, *greatest)]),
            Cell::Set(codes) => Self::new(codes.iter().map(|code| (*code, *code))),
        }
    }

    /// The ranges, ascending.
    pub fn ranges(&self) -> &[(u32, u32)] {
        &self.0
    }

    /// Whether no code is in the set.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a code is in the set.
    pub fn contains(&self, code: u32) -> bool {
        let next = self.0.partition_point(|(least, _)| *least <= code);
        next.checked_sub(1)
            .is_some_and(|place| code <= self.0[place].1)
    }

    /// The codes that are in both sets.
    pub fn and(&self, other: &Self) -> Self {
        let (mut own, mut others) = (self.0.iter().peekable(), other.0.iter().peekable());
        let mut both = Vec::new();
        while let (Some((a, b)), Some((c, d))) = (own.peek(), others.peek()) {
            let (least, greatest) = ((*a).max(*c), (*b).min(*d));
            if least <= greatest {
                both.push((least, greatest));
            }
            match b < d {
                true => own.next(),
                false => others.next(),
            };
        }
        Self(both)
    }

    /// The codes below `size` that are not in the set.
    pub fn complement(&self, size: u32) -> Self {
        let mut outside = Vec::with_capacity(self.0.len() + 1);
        let mut from = 0;
        for (least, greatest) in &self.0 {
            if from < *least && from < size {
                outside.push((from, (*least - 1).min(size - 1)));
            }
            from = greatest.saturating_add(1);
        }
        if from < size {
            outside.push((from, size - 1));
        }
        Self(outside)
    }

    /// The set without one code.
    pub fn without(&self, code: u32) -> Self {
        let parts = self.0.iter().flat_map(|(least, greatest)| {
            match (*least..=*greatest).contains(&code) {
                // An empty part runs backwards, or from 1 to 0 where the code is 0.
                true => [
                    (code > *least).then(|| (*least, code - 1)),
                    (code < *greatest).then(|| (code + 1, *greatest)),
                ],
                false => [Some((*least, *greatest)), None],
            }
        });
        Self(parts.flatten().collect())
    }

    /// How many codes the set has.
    pub fn count(&self) -> u64 {
        self.0
            .iter()
            .map(|(least, greatest)| u64::from(greatest - least) + 1)
            .sum()
    }

    /// Whether the ranges are as [`CodeSet::new`] leaves them, and below `size`: what a peer sends need not
    /// be.
    pub fn is_sound(&self, size: u32) -> bool {
        let apart = self
            .0
            .windows(2)
            .all(|pair| u64::from(pair[0].1) + 1 < u64::from(pair[1].0));
        apart
            && self
                .0
                .iter()
                .all(|(least, greatest)| least <= greatest && *greatest < size)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn sets_are_what_their_codes_say(
            first in proptest::collection::vec((0u32..30, 0u32..30), 0..6),
            second in proptest::collection::vec((0u32..30, 0u32..30), 0..6),
            size in 1u32..40,
            gone in 0u32..30,
        ) {
            let has = |ranges: &[(u32, u32)], code: u32| {
                ranges.iter().any(|(least, greatest)| (*least..=*greatest).contains(&code))
            };
            let (a, b) = (CodeSet::new(first.clone()), CodeSet::new(second.clone()));
            let (both, outside, without) = (a.and(&b), a.complement(size), a.without(gone));
            for code in 0..45 {
                prop_assert_eq!(a.contains(code), has(&first, code));
                prop_assert_eq!(both.contains(code), has(&first, code) && has(&second, code));
                prop_assert_eq!(outside.contains(code), code < size && !has(&first, code));
                prop_assert_eq!(without.contains(code), code != gone && has(&first, code));
            }
            let counted = (0..30).filter(|code| has(&first, *code)).count() as u64;
            prop_assert_eq!(a.count(), counted);
            for set in [&a, &both, &without] {
                prop_assert!(set.is_sound(30));
                prop_assert_eq!(&CodeSet::new(set.ranges().to_vec()), set);
            }
            prop_assert!(outside.is_sound(size));
        }
    }
}
