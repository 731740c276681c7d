//! What happens on the lines of a site, for whoever watches.

use std::sync::Arc;

/// What happens on the lines, for whoever watches.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// A peer is connected.
    Connected {
        /// The peer.
        peer: String,
    },
    /// A connection to a peer, or an attempt at one, has ended.
    Disconnected {
        /// The peer.
        peer: String,
        /// Why.
        why: String,
    },
    /// Somebody who is no site of the study, or says what does not fit, was turned away.
    TurnedAway {
        /// From where.
        address: String,
        /// Why.
        why: String,
    },
}

/// Told what happens on the lines.
pub type Watcher = Arc<dyn Fn(Event) + Send + Sync>;
