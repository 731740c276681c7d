//! The streams of news that are open: so many of one session, so that no browser keeps the console busy.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use tokio::sync::oneshot;

use crate::token::Hash;

/// Streams of one session; one more ends the oldest.
const OF_ONE: usize = 6;

/// The streams, by their sessions, oldest first.
#[derive(Default)]
pub(crate) struct Streams {
    all: Mutex<HashMap<Hash, VecDeque<oneshot::Sender<()>>>>,
}

impl Streams {
    /// Begins a stream of a session, which ends when what is returned does.
    pub(crate) fn begin(&self, session: Hash) -> oneshot::Receiver<()> {
        // Every change leaves the table whole.
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|_, streams| {
            streams.retain(|stream| !stream.is_closed());
            !streams.is_empty()
        });
        let own = all.entry(session).or_default();
        if own.len() >= OF_ONE {
            own.pop_front();
        }
        let (end, heard) = oneshot::channel();
        own.push_back(end);
        heard
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_stream_more_ends_the_oldest_of_its_session() {
        let streams = Streams::default();
        let mut own: Vec<_> = (0..OF_ONE).map(|_| streams.begin([1; 32])).collect();
        let mut other = streams.begin([2; 32]);
        let is_open = |heard: &mut oneshot::Receiver<()>| {
            heard.try_recv() == Err(oneshot::error::TryRecvError::Empty)
        };
        assert!(own.iter_mut().all(is_open));
        own.push(streams.begin([1; 32]));
        let open: Vec<bool> = own.iter_mut().map(is_open).collect();
        assert_eq!(open.iter().position(|open| *open), Some(1));
        assert!(is_open(&mut other));
        // Streams that nobody hears any more do not count.
        own.truncate(2);
        own.extend((0..OF_ONE - 1).map(|_| streams.begin([1; 32])));
        assert!(own[1..].iter_mut().all(is_open));
    }
}
