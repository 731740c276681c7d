//! One client's connection: TLS, a password, then statements one after the other.
//!
//! The first messages are read here byte by byte, so that nothing that came in plain text is taken for something
//! that came over TLS, and nothing but an exchange that succeeded leads to statements.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::BytesMut;
use futures_util::{SinkExt as _, StreamExt as _};
use pgwire::api::auth::protocol_negotiation;
use pgwire::api::cancel::DefaultCancelHandler;
use pgwire::api::{
    ClientInfo as _, ConnectionGuard, ConnectionHandle, ConnectionManager, DefaultClient,
    NoopHandler, PgWireConnectionState, PidSecretKeyGenerator as _, RandomPidSecretKeyGenerator,
};
use pgwire::error::{ErrorInfo, PgWireError};
use pgwire::messages::response::{ReadyForQuery, TransactionStatus};
use pgwire::messages::startup::{Authentication, BackendKeyData, ParameterStatus, Startup};
use pgwire::messages::{
    DecodeContext, PgWireBackendMessage, PgWireFrontendMessage, SslNegotiationMetaMessage,
};
use pgwire::tokio::server::{PgWireMessageServerCodec, process_error, process_message};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_util::codec::Framed;

use super::control::Settings;
use super::frames::{Frames, LONGEST, Stream};
use super::handler::{Asking, Prepared};
use super::refusal::{code, fatal};
use super::scram::{METHOD, Users};

/// How long a client may take until its password has been looked at.
pub(super) const HANDSHAKE: Duration = Duration::from_secs(15);
/// How long a client may say nothing.
const IDLE: Duration = Duration::from_secs(3600);
/// The longest first message.
const LONGEST_GREETING: usize = 10_000;

/// What all connections share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) users: Users,
    pub(super) is_plaintext_on_loopback: bool,
    pub(super) running: Arc<ConnectionManager>,
    pub(super) keys: RandomPidSecretKeyGenerator,
}

type Socket = Framed<Frames, PgWireMessageServerCodec<Prepared>>;

/// Serves a client until it goes, or does what it may not.
pub(super) async fn serve(
    stream: TcpStream,
    tls: Option<TlsAcceptor>,
    shared: &Shared,
    asking: Asking,
) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let welcomed = tokio::time::timeout(HANDSHAKE, welcome(stream, tls, shared)).await;
    let Ok(Some(socket)) = welcomed.unwrap_or(Ok(None)) else {
        return Ok(());
    };
    answer(socket, shared, asking).await
}

/// A socket whose user has shown the password; none where the client is refused, or only cancels.
async fn welcome(
    mut stream: TcpStream,
    tls: Option<TlsAcceptor>,
    shared: &Shared,
) -> io::Result<Option<Socket>> {
    let address = stream.peer_addr()?;
    let client = |is_secure| DefaultClient::new(address, is_secure);
    // A client may ask for GSS and for TLS, once each, before it says who it is.
    for _ in 0..3 {
        match greeting(&mut stream, true).await? {
            PgWireFrontendMessage::SslNegotiation(SslNegotiationMetaMessage::PostgresSsl(_)) => {
                let Some(tls) = &tls else {
                    stream.write_all(b"N").await?;
                    continue;
                };
                stream.write_all(b"S").await?;
                let mut stream = tls.accept(stream).await?;
                let greeting = greeting(&mut stream, false).await?;
                let socket = framed(Box::new(stream), client(true));
                return introduced(socket, greeting, shared).await;
            }
            PgWireFrontendMessage::SslNegotiation(_) => stream.write_all(b"N").await?,
            greeting @ PgWireFrontendMessage::CancelRequest(_) => {
                let socket = framed(Box::new(stream), client(false));
                return introduced(socket, greeting, shared).await;
            }
            greeting => {
                let mut socket = framed(Box::new(stream), client(false));
                let is_exempt = shared.is_plaintext_on_loopback && address.ip().is_loopback();
                if !is_exempt {
                    refuse(&mut socket, fatal(code::NO_PLAINTEXT, "this server speaks TLS only\nhint: connect with sslmode=require, or sslmode=verify-full and the server's certificate")).await?;
                    return Ok(None);
                }
                return introduced(socket, greeting, shared).await;
            }
        }
    }
    Ok(None)
}

fn framed(stream: Box<dyn Stream>, client: DefaultClient<Prepared>) -> Socket {
    Framed::new(Frames::new(stream), PgWireMessageServerCodec::new(client))
}

/// The one message that has no type, and not a byte more.
async fn greeting(
    stream: &mut (impl AsyncRead + Unpin),
    is_first: bool,
) -> io::Result<PgWireFrontendMessage> {
    let wrong = || io::Error::from(io::ErrorKind::InvalidData);
    let length = stream.read_u32().await?;
    let size = usize::try_from(length).map_err(|_| wrong())?;
    if !(8..=LONGEST_GREETING).contains(&size) {
        return Err(wrong());
    }
    let mut bytes = BytesMut::zeroed(size);
    bytes[..4].copy_from_slice(&length.to_be_bytes());
    stream.read_exact(&mut bytes[4..]).await?;
    let mut context = DecodeContext::default();
    context.awaiting_frontend_ssl = is_first;
    let mut read = PgWireFrontendMessage::decode(&mut bytes, &context)?;
    // What asks for neither TLS nor GSS says who the client is, or cancels.
    if let Some(PgWireFrontendMessage::SslNegotiation(SslNegotiationMetaMessage::None)) = read {
        context.awaiting_frontend_ssl = false;
        read = PgWireFrontendMessage::decode(&mut bytes, &context)?;
    }
    read.ok_or_else(wrong)
}

/// Who the client is, and whether its password says so, too.
async fn introduced(
    mut socket: Socket,
    greeting: PgWireFrontendMessage,
    shared: &Shared,
) -> io::Result<Option<Socket>> {
    let startup = match greeting {
        PgWireFrontendMessage::Startup(startup) => startup,
        PgWireFrontendMessage::CancelRequest(request) => {
            shared
                .running
                .cancel(request.pid, &request.secret_key)
                .await;
            return Ok(None);
        }
        _ => return Ok(None),
    };
    let user = startup.parameters.get("user").cloned().unwrap_or_default();
    if let Err(error) = protocol_negotiation(&mut socket, &startup).await {
        refuse(&mut socket, error.into()).await?;
        return Ok(None);
    }
    socket.set_state(PgWireConnectionState::AuthenticationInProgress);
    if !is_proven(&mut socket, &user, shared).await? {
        let message = format!("password authentication failed for user \"{user}\"");
        refuse(&mut socket, fatal(code::NO_PASSWORD, &message)).await?;
        return Ok(None);
    }
    admit(&mut socket, &startup, shared).await?;
    Ok(Some(socket))
}

/// Whether the client proves that it knows the user's password.
async fn is_proven(socket: &mut Socket, user: &str, shared: &Shared) -> io::Result<bool> {
    let methods = Authentication::SASL(vec![METHOD.to_owned()]);
    socket
        .send(PgWireBackendMessage::Authentication(methods))
        .await?;
    let Some(Ok(PgWireFrontendMessage::PasswordMessageFamily(first))) = socket.next().await else {
        return Ok(false);
    };
    let Ok(first) = first.into_sasl_initial_response() else {
        return Ok(false);
    };
    let begun = match (&first.data, first.auth_method == METHOD) {
        (Some(data), true) => shared.users.first(user, data),
        _ => return Ok(false),
    };
    let Ok((said, exchange)) = begun else {
        return Ok(false);
    };
    let said = Authentication::SASLContinue(said.into());
    socket
        .send(PgWireBackendMessage::Authentication(said))
        .await?;
    let Some(Ok(PgWireFrontendMessage::PasswordMessageFamily(last))) = socket.next().await else {
        return Ok(false);
    };
    let Ok(last) = last.into_sasl_response() else {
        return Ok(false);
    };
    let Ok(proof) = exchange.last(&last.data) else {
        return Ok(false);
    };
    let proof = Authentication::SASLFinal(proof.into());
    socket
        .feed(PgWireBackendMessage::Authentication(proof))
        .await?;
    Ok(true)
}

/// Tells a client whose password was right what it needs.
async fn admit(socket: &mut Socket, startup: &Startup, shared: &Shared) -> io::Result<()> {
    let (pid, secret) = shared.keys.generate(&*socket);
    socket.set_pid_and_secret_key(pid, secret.clone());
    let (handle, guard) = shared.running.register(pid, secret.clone());
    let extensions = socket.session_extensions();
    extensions.insert::<Arc<ConnectionHandle>>(handle);
    extensions.insert::<ConnectionGuard>(guard);
    let done = PgWireBackendMessage::Authentication(Authentication::Ok);
    socket.feed(done).await?;
    let application = startup.parameters.get("application_name");
    for (name, value) in Settings::told() {
        let value = match (name, application) {
            ("application_name", Some(own)) => own,
            _ => value,
        };
        let status = ParameterStatus::new(name.to_owned(), value.to_owned());
        socket
            .feed(PgWireBackendMessage::ParameterStatus(status))
            .await?;
    }
    let key = BackendKeyData::new(pid, secret);
    socket
        .feed(PgWireBackendMessage::BackendKeyData(key))
        .await?;
    let ready = ReadyForQuery::new(TransactionStatus::Idle);
    socket
        .send(PgWireBackendMessage::ReadyForQuery(ready))
        .await?;
    socket.set_state(PgWireConnectionState::ReadyForQuery);
    Ok(())
}

/// Answers statements until the client goes.
async fn answer(mut socket: Socket, shared: &Shared, asking: Asking) -> io::Result<()> {
    let asking = Arc::new(asking);
    let cancel = Arc::new(DefaultCancelHandler::new(Arc::clone(&shared.running)));
    let nothing = Arc::new(NoopHandler);
    loop {
        let Ok(next) = tokio::time::timeout(IDLE, socket.next()).await else {
            return refuse(
                &mut socket,
                fatal(code::IDLE, "nothing was said for an hour"),
            )
            .await;
        };
        let message = match next {
            None | Some(Ok(PgWireFrontendMessage::Terminate(_))) => return Ok(()),
            Some(Err(_)) => {
                let megabytes = LONGEST >> 20;
                let message = format!("this is no message, or one of more than {megabytes} MB");
                return refuse(&mut socket, fatal(code::PROTOCOL, &message)).await;
            }
            Some(Ok(message)) => message,
        };
        let is_extended = message.is_extended_query();
        let processed = process_message(
            message,
            &mut socket,
            Arc::clone(&asking),
            Arc::clone(&asking),
            Arc::clone(&asking),
            Arc::clone(&nothing),
            Arc::clone(&cancel),
        );
        match processed.await {
            Ok(()) => {}
            Err(PgWireError::IoError(error)) => return Err(error),
            Err(error) => {
                let info: ErrorInfo = error.into();
                if info.is_fatal() {
                    return refuse(&mut socket, info).await;
                }
                let error = PgWireError::UserError(Box::new(info));
                process_error(&mut socket, error, is_extended).await?;
            }
        }
    }
}

/// Says why the connection ends, and ends it.
async fn refuse(socket: &mut Socket, why: ErrorInfo) -> io::Result<()> {
    socket
        .send(PgWireBackendMessage::ErrorResponse(why.into()))
        .await?;
    socket.close().await
}
