//! The first minute of a connection: TLS, who the client is, and whether a password says so, too.
//!
//! The first messages are read byte by byte, so that nothing that came in plain text is taken for something that
//! came over TLS, and nothing but an exchange that succeeded leads to statements. Until then messages are short
//! and the time is, too.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::{BufMut as _, Bytes, BytesMut};
use pgwire::error::ErrorInfo;
use pgwire::messages::PgWireBackendMessage;
use pgwire::messages::startup::Authentication;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;

use super::line::{LONGEST_BEFORE, Line, LineError};
use super::message::{Body, Greeting, Message};
use super::refusal::{code, fatal};
use super::registry::Registry;
use super::scram::{BOUND, METHOD, Users};
use super::tls::Tls;

/// How long a client may take until its password has been looked at.
pub(super) const HANDSHAKE: Duration = Duration::from_secs(15);
/// The fewest bytes of a first message.
const SHORTEST: usize = 8;

/// What all connections share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) users: Users,
    pub(super) tls: Option<Tls>,
    pub(super) is_plaintext_on_loopback: bool,
    pub(super) registry: Arc<Registry>,
}

/// A client whose password was right.
pub(super) struct Welcomed {
    pub(super) line: Line,
    pub(super) user: String,
    /// What it said about itself.
    pub(super) parameters: Vec<(String, String)>,
}

/// A client whose user has shown the password; none where it is refused, or only cancels.
pub(super) async fn welcome(
    mut stream: TcpStream,
    shared: &Shared,
) -> Result<Option<Welcomed>, LineError> {
    let address = stream.peer_addr()?;
    // A client may ask for GSS and for TLS, once each, before it says who it is.
    for _ in 0..3 {
        match greeting(&mut stream).await? {
            Greeting::Tls => {
                let Some(tls) = &shared.tls else {
                    stream.write_all(b"N").await?;
                    continue;
                };
                stream.write_all(b"S").await?;
                let acceptor = TlsAcceptor::from(Arc::clone(&tls.config));
                let mut stream = acceptor.accept(stream).await?;
                let greeting = greeting(&mut stream).await?;
                let line = Line::new(Box::new(stream));
                return introduced(line, greeting, shared, tls.binding.as_deref()).await;
            }
            Greeting::Gss => stream.write_all(b"N").await?,
            // PostgreSQL's own clients cancel in plain text.
            Greeting::Cancel { process, secret } => {
                shared.registry.cancel(process, &secret);
                return Ok(None);
            }
            greeting => {
                let mut line = Line::new(Box::new(stream));
                let is_exempt = shared.is_plaintext_on_loopback && address.ip().is_loopback();
                if !is_exempt {
                    refuse(&mut line, fatal(code::NO_PLAINTEXT, "this server speaks TLS only\nhint: connect with sslmode=require, or sslmode=verify-full and the server's certificate")).await?;
                    return Ok(None);
                }
                return introduced(line, greeting, shared, None).await;
            }
        }
    }
    Ok(None)
}

/// The one message that has no type, and not a byte more.
async fn greeting(stream: &mut (impl AsyncRead + Unpin)) -> Result<Greeting, LineError> {
    let length = stream.read_u32().await? as usize;
    if !(SHORTEST..=LONGEST_BEFORE).contains(&length) {
        let longest = LONGEST_BEFORE;
        return Err(LineError::TooLong { length, longest });
    }
    let mut bytes = BytesMut::zeroed(length - 4);
    stream.read_exact(&mut bytes).await?;
    Ok(Greeting::read(bytes.freeze())?)
}

/// Who the client is, and whether its password says so, too.
async fn introduced(
    mut line: Line,
    greeting: Greeting,
    shared: &Shared,
    binding: Option<&[u8]>,
) -> Result<Option<Welcomed>, LineError> {
    let (minor, parameters) = match greeting {
        Greeting::Startup { minor, parameters } => (minor, parameters),
        Greeting::Cancel { process, secret } => {
            shared.registry.cancel(process, &secret);
            return Ok(None);
        }
        Greeting::Tls | Greeting::Gss => return Ok(None),
    };
    let unknown = parameters.iter().map(|(name, _)| name.as_str());
    let unknown: Vec<&str> = unknown.filter(|name| name.starts_with("_pq_.")).collect();
    if minor > 0 || !unknown.is_empty() {
        line.put_bytes(&negotiation(&unknown));
    }
    let user = parameters.iter().find(|(name, _)| name == "user");
    let user = user.map(|(_, user)| user.clone()).unwrap_or_default();
    if !is_proven(&mut line, &user, &shared.users, binding).await? {
        let message = format!("password authentication failed for user \"{user}\"");
        refuse(&mut line, fatal(code::NO_PASSWORD, &message)).await?;
        return Ok(None);
    }
    line.trust();
    Ok(Some(Welcomed {
        line,
        user,
        parameters,
    }))
}

/// The message that says: version 3.0, and none of these options.
fn negotiation(unknown: &[&str]) -> Bytes {
    let mut body = BytesMut::new();
    // The whole version, as PostgreSQL writes it: libpq takes less for a protocol before 3.0.
    body.put_u32(3 << 16);
    body.put_u32(unknown.len() as u32);
    for name in unknown {
        body.put_slice(name.as_bytes());
        body.put_u8(0);
    }
    let mut message = BytesMut::new();
    message.put_u8(b'v');
    message.put_u32(body.len() as u32 + 4);
    message.put_slice(&body);
    message.freeze()
}

/// Whether the client proves that it knows the user's password.
async fn is_proven(
    line: &mut Line,
    user: &str,
    users: &Users,
    binding: Option<&[u8]>,
) -> Result<bool, LineError> {
    let bound = binding.map(|_| BOUND.to_owned());
    let methods = bound.into_iter().chain([METHOD.to_owned()]).collect();
    say(line, Authentication::SASL(methods)).await?;
    let Some(Message::Password(first)) = line.next().await? else {
        return Ok(false);
    };
    // The method, and the first message with its length.
    let mut first = Body(first);
    let Ok(method) = first.text() else {
        return Ok(false);
    };
    let length = first.u32();
    if length.map(|length| length as usize) != Ok(first.0.len()) {
        return Ok(false);
    }
    let Ok((said, exchange)) = users.first(user, &method, &first.0, binding) else {
        return Ok(false);
    };
    say(line, Authentication::SASLContinue(said.into())).await?;
    let Some(Message::Password(last)) = line.next().await? else {
        return Ok(false);
    };
    let Ok(proof) = exchange.last(&last) else {
        return Ok(false);
    };
    // Sent with what follows.
    let proof = Authentication::SASLFinal(proof.into());
    line.put(&PgWireBackendMessage::Authentication(proof))?;
    Ok(true)
}

async fn say(line: &mut Line, what: Authentication) -> io::Result<()> {
    line.put(&PgWireBackendMessage::Authentication(what))?;
    line.flush().await
}

/// Says why the connection ends, and ends it.
pub(super) async fn refuse(line: &mut Line, why: ErrorInfo) -> io::Result<()> {
    line.put(&PgWireBackendMessage::ErrorResponse(why.into()))?;
    line.close().await
}
