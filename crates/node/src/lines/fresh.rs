//! The frames that were kept last, in memory for the next reader, so that they need not be read from the
//! journal again. The memory is small: a frame that is not in it is in the journal.

use std::collections::VecDeque;

/// The most bytes from one peer.
const MOST_BYTES: usize = 1 << 18;

/// Some frames from one peer, numbered without gaps.
#[derive(Default)]
pub(super) struct Fresh {
    first: u64,
    frames: VecDeque<Vec<u8>>,
    bytes: usize,
}

impl Fresh {
    /// Adds a frame that was just kept, if there is room for it and no frame before it was left out.
    pub(super) fn put(&mut self, number: u64, frame: Vec<u8>) {
        if self.frames.is_empty() {
            self.first = number;
        }
        let is_next = self.first + self.frames.len() as u64 == number;
        if is_next && self.bytes + frame.len() <= MOST_BYTES {
            self.bytes += frame.len();
            self.frames.push_back(frame);
        }
    }

    /// Takes a frame, if it is in memory; frames before it are dropped, since nobody needs them any
    /// more.
    pub(super) fn take(&mut self, number: u64) -> Option<Vec<u8>> {
        while self.first <= number {
            let frame = self.frames.pop_front()?;
            self.bytes -= frame.len();
            self.first += 1;
            if self.first > number {
                return Some(frame);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// What is here is the frame with that number, whatever was put and taken before, and not
        /// more than there is room for.
        #[test]
        fn what_is_at_hand_is_what_was_kept(
            steps in proptest::collection::vec((any::<bool>(), 0..60_000usize, 0..40u64), 0..60),
        ) {
            let frame = |number: u64, length: usize| {
                let mut frame = vec![0; length];
                frame.extend(number.to_le_bytes());
                frame
            };
            let mut fresh = Fresh::default();
            let mut kept = 0;
            for (is_put, length, number) in steps {
                if is_put {
                    fresh.put(kept, frame(kept, length));
                    kept += 1;
                } else if let Some(found) = fresh.take(number) {
                    prop_assert!(number < kept);
                    let bytes = number.to_le_bytes();
                    prop_assert_eq!(found.last_chunk(), Some(&bytes));
                    prop_assert_eq!(fresh.take(number), None);
                }
                let bytes: usize = fresh.frames.iter().map(Vec::len).sum();
                prop_assert_eq!(fresh.bytes, bytes);
                prop_assert!(bytes <= MOST_BYTES);
            }
        }
    }

    #[test]
    fn frames_are_taken_in_order_while_there_is_room() {
        let mut fresh = Fresh::default();
        fresh.put(5, vec![5]);
        fresh.put(6, vec![6]);
        fresh.put(7, vec![0; MOST_BYTES]);
        fresh.put(8, vec![8]);
        assert_eq!(fresh.take(5), Some(vec![5]));
        assert_eq!(fresh.take(5), None);
        assert_eq!(fresh.take(6), Some(vec![6]));
        assert_eq!((fresh.take(7), fresh.take(8)), (None, None));
        fresh.put(9, vec![9]);
        assert_eq!(fresh.take(9), Some(vec![9]));
    }
}
