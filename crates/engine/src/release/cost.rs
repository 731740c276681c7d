//! What a run cost.

use serde::{Deserialize, Serialize};

/// What a run cost.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cost {
    /// Rounds of messages.
    pub rounds: u64,
    /// Messages.
    pub messages: u64,
    /// Bytes sent.
    pub bytes: u64,
    /// Calls of secure primitives.
    pub smc_calls: u64,
    /// Seconds in all.
    pub seconds: f64,
    /// Of these the protocol's own: cuts, covers and the joint release, of tables in memory.
    pub protocol_seconds: f64,
    /// What the messages would take between institutions: 30 ms, 100 Mbit/s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wan_seconds: Option<f64>,
}
