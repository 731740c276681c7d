//! Why a connection came to an end, in words for both stewards.

use crate::message::{End, MessageError, ReadError, Reason};
use crate::tls::{TlsError, in_words};

/// Why a connection came to an end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(super) enum ConnectError {
    #[error("cannot be reached: {0}")]
    Unreachable(std::io::Error),
    #[error("no secure connection: {}", in_words(.0))]
    Handshake(std::io::Error),
    #[error("{0}")]
    Tls(#[from] TlsError),
    #[error("did not greet in time")]
    Slow,
    #[error("{}", refused_us(*.0))]
    RefusedUs(Reason),
    #[error("{}", declined(*.0))]
    Declined(End),
    #[error("it asks which run is due")]
    Asked,
    #[error("refused: {0}")]
    Refused(Reason),
    #[error("{0}")]
    Message(#[from] MessageError),
    #[error("the line broke: {}", in_words(.0))]
    Line(#[from] std::io::Error),
    #[error("it left out frames")]
    Gap,
    #[error("it said something out of place")]
    OutOfPlace,
    #[error("it says that it has frames that were not sent")]
    Unsent,
    #[error("it sent a frame that is shorter than any")]
    TooShort,
    #[error("a newer connection took its place")]
    Replaced,
}

impl From<ReadError> for ConnectError {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Line(error) => Self::Line(error),
            ReadError::Message(error) => Self::Message(error),
        }
    }
}

/// What a peer's refusal means to a person.
fn refused_us(reason: Reason) -> String {
    match reason {
        // No reproach: the peer does what it should.
        Reason::Over | Reason::Begins | Reason::GivenUp | Reason::Connected => reason.to_string(),
        _ => format!("refused this site: {reason}"),
    }
}

fn declined(end: End) -> &'static str {
    match end {
        End::GivenUp => "it has given the run up",
        _ => "it cannot take its part in the run; its steward knows why",
    }
}
