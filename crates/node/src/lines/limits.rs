//! How long a site waits for what.

use std::time::Duration;

use crate::reception::STRANGERS;

/// How long things may take.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// A peer may be gone for this long.
    pub patience: Duration,
    /// A connected peer may stay silent for this long.
    pub silence: Duration,
    /// A connection must have greeted within this time.
    pub handshake: Duration,
    /// A connection sends something at least this often.
    pub alive: Duration,
    /// A line on which nothing comes for this long is dead.
    pub idle: Duration,
    /// First pause between attempts to connect; the pause doubles each time.
    pub first_pause: Duration,
    /// Longest pause between attempts to connect.
    pub longest_pause: Duration,
    /// Frames that came are gathered for this long before they are brought to disk and confirmed.
    pub gather: Duration,
    /// Connections of strangers, who have not proven a key, at a time.
    pub strangers: usize,
}

impl Limits {
    /// The usual limits around a site's patience.
    pub fn with_patience(patience: Duration) -> Self {
        Self {
            patience,
            silence: patience.saturating_mul(10),
            handshake: Duration::from_secs(10),
            alive: Duration::from_secs(5),
            idle: Duration::from_secs(20),
            first_pause: Duration::from_millis(20),
            longest_pause: Duration::from_secs(5),
            gather: Duration::from_millis(20),
            strangers: STRANGERS,
        }
    }
}
