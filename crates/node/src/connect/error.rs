//! Why a connection came to an end, in words for both stewards.

use rustls::{AlertDescription, CertificateError};

use crate::message::{End, MessageError, ReadError, Reason};
use crate::tls::TlsError;

/// Why a connection came to an end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(super) enum ConnectError {
    #[error("cannot be reached: {0}")]
    Unreachable(std::io::Error),
    #[error("no secure connection: {}", plain(.0))]
    Handshake(std::io::Error),
    #[error("{0}")]
    Tls(#[from] TlsError),
    #[error("did not greet in time")]
    Slow,
    #[error("{}", refused_us(*.0))]
    RefusedUs(Reason),
    #[error("{}", declined(*.0))]
    Declined(End),
    #[error("it was heard, and that is all it came for")]
    Heard,
    #[error("it asks which run is due")]
    Asked,
    #[error("refused: {0}")]
    Refused(Reason),
    #[error("its key is of no site of the study")]
    Stranger,
    #[error("{0}")]
    Message(#[from] MessageError),
    #[error("the line broke: {}", plain(.0))]
    Line(#[from] std::io::Error),
    #[error("it left out frames")]
    Gap,
    #[error("it said something out of place")]
    OutOfPlace,
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
        // No reproach: it does what it should.
        Reason::Over | Reason::Begins | Reason::GivenUp => reason.to_string(),
        _ => format!("refused this site: {reason}"),
    }
}

fn declined(end: End) -> &'static str {
    match end {
        End::GivenUp => "it has given the run up",
        _ => "it cannot take its part in the run; its steward knows why",
    }
}

/// What a line's error means to a person.
fn plain(error: &std::io::Error) -> String {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref());
    match inner {
        Some(rustls::Error::InvalidCertificate(
            CertificateError::Expired
            | CertificateError::ExpiredContext { .. }
            | CertificateError::NotValidYet
            | CertificateError::NotValidYetContext { .. },
        )) => String::from(
            "its certificate is of another day: its clock is wrong, or this machine's is",
        ),
        Some(rustls::Error::InvalidCertificate(_)) => {
            String::from("its key is not the one that the study has")
        }
        Some(rustls::Error::AlertReceived(AlertDescription::CertificateExpired)) => String::from(
            "it takes this site's certificate for one of another day: its clock is wrong, or this machine's is",
        ),
        Some(rustls::Error::AlertReceived(_)) => String::from(
            "it does not take this site's key; its study may have another one for this site",
        ),
        Some(rustls::Error::InvalidMessage(_)) => String::from("what it says is not TLS"),
        _ if error.kind() == std::io::ErrorKind::UnexpectedEof => String::from("it hung up"),
        _ => error.to_string(),
    }
}
