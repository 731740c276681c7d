//! Many searches in step: each cuts what is left of its domain into parts and asks for one
//! monotone bit per cut.
//!
//! # Discloses
//! Nothing by itself; [`crate::order`] says which bits are opened.

use std::ops::RangeInclusive;

use crate::error::{Error, OwnConfig};

/// How many values a domain has; at least one, and fewer than 2^64.
pub(crate) fn size_of(index: usize, domain: &RangeInclusive<u64>) -> Result<u64, Error> {
    let last = domain.end().checked_sub(*domain.start());
    last.and_then(|last| last.checked_add(1))
        .ok_or(Error::OwnConfig(OwnConfig::Domain { index }))
}

/// The state of all searches: public, the same at every site.
pub(super) struct Search {
    parts: u64,
    /// The most cuts of a step that cuts at every value.
    at_once: u128,
    lefts: Vec<Left>,
    cuts: Vec<(usize, u64)>,
}

/// The rest of one domain: the answer is `start` plus a place from `low` to `high`. The place behind the
/// last value stands for "no value".
struct Left {
    start: u64,
    size: u64,
    low: u64,
    high: u64,
}

impl Search {
    pub(super) fn new(
        (fan_out, at_once): (usize, usize),
        questions: usize,
        domain_of: impl Fn(usize) -> RangeInclusive<u64>,
    ) -> Result<Self, Error> {
        if fan_out < 2 {
            return Err(Error::OwnConfig(OwnConfig::FanOut));
        }
        let lefts = (0..questions).map(|index| {
            let domain = domain_of(index);
            let size = size_of(index, &domain)?;
            Ok(Left {
                start: *domain.start(),
                size,
                low: 0,
                high: size,
            })
        });
        Ok(Self {
            parts: fan_out as u64,
            at_once: at_once as u128,
            lefts: lefts.collect::<Result<_, Error>>()?,
            cuts: Vec::new(),
        })
    }

    /// Cuts what is left; false when every search has ended.
    pub(super) fn ask(&mut self) -> bool {
        self.cuts.clear();
        let left = self.lefts.iter();
        let left: u128 = left.map(|left| u128::from(left.high - left.low)).sum();
        let most = match left <= self.at_once {
            true => u128::MAX,
            false => u128::from(self.parts),
        };
        for (index, left) in self.lefts.iter().enumerate() {
            let candidates = u128::from(left.high - left.low) + 1;
            let parts = most.min(candidates);
            self.cuts.extend((1..parts).map(|part| {
                // Below `high`, since part < parts; the last candidate of each part but the last.
                (index, left.low + (candidates * part / parts) as u64 - 1)
            }));
        }
        !self.cuts.is_empty()
    }

    /// The values asked about: is the answer at most this?
    pub(super) fn asked(&self) -> impl Iterator<Item = (usize, u64)> {
        self.cuts
            .iter()
            .map(|&(index, place)| (index, self.lefts[index].start + place))
    }

    /// Takes the bits for the values asked about.
    pub(super) fn answer(&mut self, bits: &[bool]) {
        for (&(index, place), &reached) in self.cuts.iter().zip(bits) {
            let left = &mut self.lefts[index];
            if reached {
                left.high = left.high.min(place);
            } else {
                left.low = left.low.max(place + 1);
            }
            // Bits of honest sites are monotone; a liar's must not turn the search inside out.
            left.high = left.high.max(left.low);
        }
    }

    pub(super) fn write(&self, answers: &mut [Option<u64>]) {
        for (answer, left) in answers.iter_mut().zip(&self.lefts) {
            *answer = (left.low < left.size).then(|| left.start + left.low);
        }
    }
}
