//! What clients say, read from bytes that may be anything.
//!
//! The library's own reader is not used: it reads past the end of a message that is shorter than it says, into
//! the next one, and panics where there is none.

use bytes::Bytes;

/// The most parameters of a statement.
pub(super) const MOST_PARAMETERS: usize = 1000;

/// A statement or a portal, by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Target {
    Statement,
    Portal,
}

/// A message of a client that has been welcomed.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Message {
    Query(String),
    Parse {
        name: String,
        sql: String,
        types: Vec<u32>,
    },
    Bind(Bind),
    Describe(Target, String),
    Execute {
        portal: String,
        /// The most rows; 0 for all.
        rows: u32,
    },
    Close(Target, String),
    Sync,
    Flush,
    Terminate,
    /// A part of a password's exchange.
    Password(Bytes),
    /// A part of a COPY, which is none of ours.
    Copy,
    /// A function called without SQL.
    Call,
}

/// Values for a statement.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Bind {
    pub(super) portal: String,
    pub(super) statement: String,
    /// For each parameter, or one for all, or none for text: 0 is text, 1 is binary.
    pub(super) formats: Vec<u16>,
    pub(super) values: Vec<Option<Bytes>>,
    /// The same for columns.
    pub(super) columns: Vec<u16>,
}

/// Bytes that are no message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("this is no message of PostgreSQL's protocol")]
pub(super) struct Malformed;

impl Message {
    /// Reads a message from its type and everything behind its length.
    pub(super) fn read(of: u8, body: Bytes) -> Result<Self, Malformed> {
        let mut body = Body(body);
        let message = match of {
            b'Q' => Self::Query(body.text()?),
            b'P' => Self::Parse {
                name: body.text()?,
                sql: body.text()?,
                types: body.many(Body::u32)?,
            },
            b'B' => Self::Bind(Bind {
                portal: body.text()?,
                statement: body.text()?,
                formats: body.many(Body::u16)?,
                values: body.many(Body::value)?,
                columns: body.many(Body::u16)?,
            }),
            b'D' => Self::Describe(body.target()?, body.text()?),
            b'E' => Self::Execute {
                portal: body.text()?,
                // A negative number means all rows, as 0 does.
                rows: body
                    .u32()
                    .map(|rows| i32::try_from(rows).map_or(0, |_| rows))?,
            },
            b'C' => Self::Close(body.target()?, body.text()?),
            b'S' => Self::Sync,
            b'H' => Self::Flush,
            b'X' => Self::Terminate,
            b'p' => Self::Password(std::mem::take(&mut body.0)),
            b'd' | b'c' | b'f' => {
                body.0.clear();
                Self::Copy
            }
            b'F' => {
                body.0.clear();
                Self::Call
            }
            _ => return Err(Malformed),
        };
        match body.0.is_empty() {
            true => Ok(message),
            false => Err(Malformed),
        }
    }

    /// Whether an error in it leads to silence until the client synchronizes.
    pub(super) const fn is_extended(&self) -> bool {
        matches!(
            self,
            Self::Parse { .. }
                | Self::Bind(_)
                | Self::Describe(..)
                | Self::Execute { .. }
                | Self::Close(..)
                | Self::Flush
        )
    }
}

/// What is still to be read of a message.
pub(super) struct Body(pub(super) Bytes);

impl Body {
    fn take(&mut self, length: usize) -> Result<Bytes, Malformed> {
        match length <= self.0.len() {
            true => Ok(self.0.split_to(length)),
            false => Err(Malformed),
        }
    }

    fn u8(&mut self) -> Result<u8, Malformed> {
        self.take(1).map(|bytes| bytes[0])
    }

    fn u16(&mut self) -> Result<u16, Malformed> {
        let bytes = self.take(2)?;
        Ok(u16::from_be_bytes([bytes[0], bytes[1]]))
    }

    pub(super) fn u32(&mut self) -> Result<u32, Malformed> {
        let bytes = self.take(4)?;
        Ok(u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }

    /// Text up to a zero.
    pub(super) fn text(&mut self) -> Result<String, Malformed> {
        let end = self.0.iter().position(|byte| *byte == 0);
        let bytes = self.take(end.ok_or(Malformed)?)?;
        self.u8()?;
        String::from_utf8(bytes.into()).map_err(|_| Malformed)
    }

    fn target(&mut self) -> Result<Target, Malformed> {
        match self.u8()? {
            b'S' => Ok(Target::Statement),
            b'P' => Ok(Target::Portal),
            _ => Err(Malformed),
        }
    }

    fn value(&mut self) -> Result<Option<Bytes>, Malformed> {
        match self.u32()? {
            u32::MAX => Ok(None),
            length => Ok(Some(self.take(length as usize)?)),
        }
    }

    /// As many of something as a number says; memory grows with what is there, not with the number.
    fn many<T>(
        &mut self,
        one: impl Fn(&mut Self) -> Result<T, Malformed>,
    ) -> Result<Vec<T>, Malformed> {
        let count = usize::from(self.u16()?);
        if count > MOST_PARAMETERS {
            return Err(Malformed);
        }
        (0..count).map(|_| one(self)).collect()
    }
}

/// The first message: one that has no type.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Greeting {
    /// A request for TLS.
    Tls,
    /// A request for GSS.
    Gss,
    /// A request to stop what another connection runs.
    Cancel { process: u32, secret: Bytes },
    /// Who the client is: the protocol's minor version, and names with values.
    Startup {
        minor: u16,
        parameters: Vec<(String, String)>,
    },
}

impl Greeting {
    /// Reads a first message from everything behind its length.
    pub(super) fn read(body: Bytes) -> Result<Self, Malformed> {
        let mut body = Body(body);
        let greeting = match body.u32()? {
            80_877_103 => Self::Tls,
            80_877_104 => Self::Gss,
            80_877_102 => Self::Cancel {
                process: body.u32()?,
                secret: std::mem::take(&mut body.0),
            },
            version if version >> 16 == 3 => {
                let mut parameters = Vec::new();
                loop {
                    let name = body.text()?;
                    if name.is_empty() {
                        break;
                    }
                    parameters.push((name, body.text()?));
                }
                let minor = (version & 0xffff) as u16;
                Self::Startup { minor, parameters }
            }
            _ => return Err(Malformed),
        };
        match body.0.is_empty() {
            true => Ok(greeting),
            false => Err(Malformed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_read_whole_or_not_at_all() {
        let bind = b"p\0s\0\x00\x01\x00\x01\x00\x02\x00\x00\x00\x02ab\xff\xff\xff\xff\x00\x00";
        let read = Message::read(b'B', Bytes::from_static(bind));
        assert_eq!(
            read,
            Ok(Message::Bind(Bind {
                portal: "p".into(),
                statement: "s".into(),
                formats: vec![1],
                values: vec![Some(Bytes::from_static(b"ab")), None],
                columns: vec![],
            }))
        );
        // Cut anywhere, and with a byte more.
        for end in 0..bind.len() {
            let cut = Bytes::from_static(&bind[..end]);
            assert_eq!(Message::read(b'B', cut), Err(Malformed), "{end}");
        }
        let more = Bytes::from([&bind[..], b"x"].concat());
        assert_eq!(Message::read(b'B', more), Err(Malformed));
        for (of, body) in [
            (b'Q', &b"SELECT 1"[..]),
            (b'Q', b"\xff\0"),
            (b'P', b"a\0b\0\xff\xff"),
            (b'D', b"Xa\0"),
            (b'E', b"\0\0\0"),
            (b'S', b"x"),
            (b'!', b""),
        ] {
            assert_eq!(
                Message::read(of, Bytes::from(body)),
                Err(Malformed),
                "{body:?}"
            );
        }
        let all = Message::read(b'E', Bytes::from_static(b"\0\xff\xff\xff\xff"));
        let portal = String::new();
        assert_eq!(all, Ok(Message::Execute { portal, rows: 0 }));
    }

    #[test]
    fn greetings_are_read_whole_or_not_at_all() {
        let startup = b"\x00\x03\x00\x02user\0anna\0\0";
        assert_eq!(
            Greeting::read(Bytes::from_static(startup)),
            Ok(Greeting::Startup {
                minor: 2,
                parameters: vec![("user".into(), "anna".into())],
            })
        );
        for end in 0..startup.len() {
            let cut = Bytes::from_static(&startup[..end]);
            assert_eq!(Greeting::read(cut), Err(Malformed), "{end}");
        }
        let old = Bytes::from_static(b"\x00\x02\x00\x00user\0anna\0\0");
        assert_eq!(Greeting::read(old), Err(Malformed));
    }
}
