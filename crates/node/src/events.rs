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
        /// Why the connection ended or failed.
        why: String,
    },
    /// A caller that is no site of the study, or whose messages do not fit, was turned away.
    TurnedAway {
        /// The address of the caller.
        address: String,
        /// Why the caller was turned away.
        why: String,
    },
}

/// Told what happens on the lines.
pub type Watcher = Arc<dyn Fn(Event) + Send + Sync>;
