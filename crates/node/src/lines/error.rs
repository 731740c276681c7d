//! Why a run's lines failed, in full for the steward and in short for the protocol.

use std::time::Duration;

use hedgerow_smc::network::NetworkError;

/// Why a run's lines failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LineError {
    /// A peer has been gone for too long.
    #[error("`{peer}` has been gone for {} s{}\nhint: once it is back, hedgerow run goes on where the run stands; hedgerow run --abandon gives it up", waited.as_secs(), last.as_ref().map(|last| format!("; last it was: {last}")).unwrap_or_default())]
    Gone {
        /// The peer.
        peer: String,
        /// How long this site waited.
        waited: Duration,
        /// The outcome of the last attempt to connect.
        last: Option<String>,
    },
    /// A peer is connected, or comes and goes, but sends nothing.
    #[error("`{peer}` connects but has sent nothing for {} s", waited.as_secs())]
    Stuck {
        /// The peer.
        peer: String,
        /// How long this site waited.
        waited: Duration,
    },
    /// A peer has ended its part.
    #[error("`{peer}` has ended its part in the run: {why}")]
    Ended {
        /// The peer.
        peer: String,
        /// The reason that the peer gave.
        why: String,
    },
    /// A peer has given the run up.
    #[error(
        "`{peer}` has given the run up, so it cannot go on anywhere\nhint: give it up here too with hedgerow run --abandon; the next number starts another"
    )]
    GivenUp {
        /// The peer.
        peer: String,
    },
    /// A peer is done with the run, and this site is not.
    #[error(
        "the run is over at `{peer}`, which keeps nothing of it, but this site lacks its last messages\nhint: the release there is signed by all, this site included: have it sent; hedgerow run --abandon ends the run here"
    )]
    Over {
        /// The peer.
        peer: String,
    },
    /// A peer lacks what it has confirmed.
    #[error(
        "`{peer}` lacks messages that it had confirmed, which nobody keeps any more: its journal is an old copy, or was lost in part\nhint: have that site bring its latest journal back, or give the run up everywhere with hedgerow run --abandon"
    )]
    Lacks {
        /// The peer.
        peer: String,
    },
    /// This site computes another frame than before the restart.
    #[error(
        "frame {number} to `{peer}` is not the one that was sent before the restart\nhint: the program, the study or the rows have changed since the run began; bring them back, or give the run up with hedgerow run --abandon"
    )]
    Diverged {
        /// The peer.
        peer: String,
        /// The frame.
        number: u64,
    },
    /// The journal cannot be written or read.
    #[error("{0}")]
    Journal(String),
    /// Somebody stopped the run.
    #[error("the run was stopped\nhint: hedgerow run goes on where it stands")]
    Stopped,
}

/// How a protocol sees the failure; the run itself reports it in full.
pub(super) fn as_network_error(failure: &LineError) -> NetworkError {
    match failure {
        LineError::Gone { waited, .. } | LineError::Stuck { waited, .. } => {
            NetworkError::Silent { waited: *waited }
        }
        LineError::Ended { .. }
        | LineError::GivenUp { .. }
        | LineError::Over { .. }
        | LineError::Lacks { .. }
        | LineError::Stopped => NetworkError::Closed,
        LineError::Diverged { .. } => NetworkError::Failed {
            kind: std::io::ErrorKind::InvalidData,
        },
        LineError::Journal(_) => NetworkError::Failed {
            kind: std::io::ErrorKind::Other,
        },
    }
}
