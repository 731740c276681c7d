//! What a run needs of a network: frames between numbered sites, in order per link.
//!
//! The trait is poll-based and object-safe, so a protocol is `async` code that belongs to no
//! executor: the memory network ([`crate::memory`]) polls all sites of a run in one thread, and a
//! node drives the same code over mutually authenticated TLS. A network must deliver the frames
//! of one link in order and must know who sent them (the memory network by construction, TLS by
//! the pinned key); everything inside a frame is checked by [`crate::wire`].
//!
//! # Discloses
//! Nothing by itself. Whoever watches the lines sees who speaks with whom, when and how much;
//! all lengths follow from public numbers except where a primitive's text says otherwise.

use std::fmt;
use std::task::{Context, Poll};
use std::time::Duration;

use serde::Serialize;

/// A site of a run, by its place in the study's list of sites.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Site(u16);

impl Site {
    /// The site at place `index` of the study's list, counted from 0.
    pub const fn new(index: u16) -> Self {
        Self(index)
    }

    /// The site's place in the study's list.
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The sites of a run of `sites`, in order.
    pub fn all(sites: usize) -> impl DoubleEndedIterator<Item = Site> + Clone {
        // A party refuses more than 1,000 sites before this call.
        (0..sites as u16).map(Site)
    }
}

impl fmt::Display for Site {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "site {}", self.0)
    }
}

/// Frames between sites, in order per link.
pub trait Network: Send {
    /// Hands a frame over for delivery. Does not wait for the peer to take it: a network may hold the
    /// caller up while earlier frames go out, but not for good, since peers may be sending, too.
    fn send(&mut self, to: Site, frame: Vec<u8>) -> Result<(), NetworkError>;

    /// The next frame that `from` sent to this site, in the order in which it was sent.
    ///
    /// Returns [`NetworkError::Silent`] when nothing came within the network's patience.
    fn poll_receive(
        &mut self,
        from: Site,
        context: &mut Context<'_>,
    ) -> Poll<Result<Vec<u8>, NetworkError>>;
}

/// What can go wrong on a line between two sites.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NetworkError {
    /// The peer sent nothing for as long as this site waits.
    #[error("sent nothing for {} ms", waited.as_millis())]
    Silent {
        /// How long this site waited.
        waited: Duration,
    },
    /// The peer closed the line: it stopped, or ended its part of the run.
    #[error("closed the line")]
    Closed,
    /// The network itself failed at this site.
    #[error("the line failed: {kind}")]
    Failed {
        /// The kind of input or output error.
        kind: std::io::ErrorKind,
    },
}
