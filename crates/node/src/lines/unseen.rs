//! The frames to a peer that the peer has not confirmed: they are kept here, or wait on disk, until the
//! peer has them for good.

use std::collections::VecDeque;
use std::sync::Arc;

/// A frame that the peer may still need.
pub(super) enum Held {
    Here(Arc<Vec<u8>>),
    /// It waits on disk.
    Waiting,
}

/// The frames of one link that the peer has not confirmed, numbered without gaps.
pub(super) struct Unseen {
    /// The peer has all frames below this number.
    first: u64,
    frames: VecDeque<Held>,
}

/// What was forgotten.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Forgotten {
    /// Bytes in memory.
    pub(super) bytes: u64,
    /// Whether frames that waited on disk were among it.
    pub(super) waited: bool,
}

impl Unseen {
    /// Frames to a peer that has all below a number.
    pub(super) const fn new(first: u64) -> Self {
        let frames = VecDeque::new();
        Self { first, frames }
    }

    /// The number below which the peer has all frames, and this site none.
    pub(super) const fn first(&self) -> u64 {
        self.first
    }

    /// Adds the next frame, unless the peer has it; the bytes that it takes in memory.
    pub(super) fn put(&mut self, number: u64, held: Held) -> u64 {
        if number < self.first {
            return 0;
        }
        debug_assert_eq!(number, self.first + self.frames.len() as u64);
        let bytes = held.bytes();
        self.frames.push_back(held);
        bytes
    }

    pub(super) fn get(&self, number: u64) -> Option<&Held> {
        let place = number.checked_sub(self.first)?;
        self.frames.get(usize::try_from(place).ok()?)
    }

    /// Forgets the frames below a number, which the peer has.
    pub(super) fn forget(&mut self, below: u64) -> Forgotten {
        let mut forgotten = Forgotten::default();
        while self.first < below {
            let Some(frame) = self.frames.pop_front() else {
                self.first = below;
                break;
            };
            self.first += 1;
            forgotten.bytes += frame.bytes();
            forgotten.waited |= matches!(frame, Held::Waiting);
        }
        forgotten
    }
}

impl Held {
    fn bytes(&self) -> u64 {
        match self {
            Self::Here(frame) => frame.len() as u64,
            Self::Waiting => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn here(frame: Vec<u8>) -> Held {
        Held::Here(Arc::new(frame))
    }

    #[test]
    fn frames_are_here_until_the_peer_has_them() {
        let mut unseen = Unseen::new(2);
        // Made again after a restart; the peer has the first two.
        for number in 0..5 {
            let taken = unseen.put(number, here(vec![number as u8; 10]));
            assert_eq!(taken, if number < 2 { 0 } else { 10 });
        }
        assert_eq!(unseen.put(5, Held::Waiting), 0);
        assert!(unseen.get(1).is_none() && unseen.get(6).is_none());
        assert!(matches!(unseen.get(4), Some(Held::Here(frame)) if frame[0] == 4));
        assert!(matches!(unseen.get(5), Some(Held::Waiting)));
        let (bytes, waited) = (20, false);
        assert_eq!(unseen.forget(4), Forgotten { bytes, waited });
        assert_eq!(unseen.forget(3), Forgotten::default());
        let (bytes, waited) = (10, true);
        assert_eq!(unseen.forget(6), Forgotten { bytes, waited });
        // A peer may have more than was made again so far.
        assert_eq!(unseen.forget(9), Forgotten::default());
        assert_eq!(unseen.put(6, here(vec![6])), 0);
        assert_eq!(unseen.first(), 9);
        assert_eq!(unseen.put(9, here(vec![9])), 1);
        assert!(unseen.get(u64::MAX).is_none());
    }
}
