//! What every request goes through before any page hears of it: is the console called so, who asks, may they,
//! and was a form sent by a page of this console.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Redirect, Response};
use subtle::ConstantTimeEq as _;
use tokio::time::timeout;
use zeroize::Zeroizing;

use crate::attempts::Of;
use crate::console::Console;
use crate::html::failure::Failure;
use crate::record::Entry;
use crate::role::Role;
use crate::routes::{FORM, Route, Who};
use crate::sessions::{Said, Session};

/// A form must be here within this time, and one that may be longer than most within that.
const SENDING: Duration = Duration::from_secs(10);
const SENDING_LONG: Duration = Duration::from_secs(60);
/// The header of a page that looks for news by itself: nobody uses the session by it.
const LIVE: HeaderName = HeaderName::from_static("hedgerow-live");

/// The other end of a connection.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Peer(pub(crate) SocketAddr);

/// Somebody who has signed in, and asks for a page.
#[derive(Clone)]
pub(crate) struct Visit {
    pub(crate) name: String,
    pub(crate) role: Role,
    pub(crate) session: Session,
    pub(crate) from: IpAddr,
    /// Whether a page looks for news by itself.
    pub(crate) is_live: bool,
}

/// Where a request comes from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct From(pub(crate) IpAddr);

/// The fields of a form, wiped when the answer is there.
#[derive(Clone, Default)]
pub(crate) struct Fields(Arc<Vec<(String, Zeroizing<String>)>>);

impl Fields {
    fn read(body: &[u8]) -> Self {
        let fields = form_urlencoded::parse(body);
        let fields = fields.map(|(name, value)| (name.into_owned(), value.into_owned().into()));
        Self(Arc::new(fields.collect()))
    }

    /// The first field of a name; empty where there is none.
    pub(crate) fn get(&self, name: &str) -> &str {
        let mut fields = self.0.iter();
        fields
            .find(|(field, _)| field == name)
            .map_or("", |(_, value)| value)
    }
}

impl Visit {
    /// What this person does now, to be written down.
    pub(crate) fn entry(&self, what: &str, about: impl Into<String>) -> Entry {
        Entry {
            role: Some(self.role.to_string()),
            about: about.into(),
            ..Entry::now(&self.name, &self.from.to_string(), what)
        }
    }
}

impl Console {
    /// Holds the password that an officer types again against the officer's own, as often as a session may.
    pub(crate) async fn confirm(&self, visit: &Visit, password: &str) -> Result<(), Failure> {
        // By the session alone: who has none keeps nobody from their work, whatever is tried from wherever.
        let of = [Of::Session(visit.session.id)];
        if let Err(refused) = self.attempts.enter(&of, Instant::now()) {
            if refused.is_first {
                let mut entry = visit.entry("password again", "");
                entry.result = String::from("too many passwords were tried");
                self.note(entry).await?;
            }
            return Err(Failure::slow(refused.wait));
        }
        let user = self.find(&visit.name).await?;
        let kept = user.map(|user| user.password);
        let password = Zeroizing::new(password.to_owned());
        if crate::password::is_right(password, kept).await {
            self.attempts.right(&of);
            return Ok(());
        }
        let mut entry = visit.entry("password again", "");
        entry.result = String::from("wrong password");
        self.note(entry).await?;
        Err(Failure::forbidden(
            "the password is not right, and nothing was done",
        ))
    }

    /// Does something for somebody: nothing is done that cannot be written down, and what came of it is, too.
    /// The next page says `done`, or why not.
    pub(crate) async fn carry_out<T>(
        &self,
        visit: &Visit,
        (what, about): (&str, String),
        act: impl Future<Output = Result<T, Failure>>,
        done: impl FnOnce(&T) -> String,
    ) -> Result<Option<T>, Failure> {
        self.record.see_writable()?;
        let result = act.await;
        let mut entry = visit.entry(what, about);
        let said = match &result {
            Ok(value) => Said {
                text: done(value),
                is_good: true,
            },
            Err(failure) => {
                entry.result = failure.why().to_owned();
                Said {
                    text: failure.why().to_owned(),
                    is_good: false,
                }
            }
        };
        self.note(entry).await?;
        self.sessions.say(&visit.session.id, said);
        self.changes.look();
        Ok(result.ok())
    }

    pub(crate) async fn find(&self, name: &str) -> Result<Option<crate::users::User>, Failure> {
        let (users, name) = (self.users.clone(), name.to_owned());
        let found = tokio::task::spawn_blocking(move || users.find(&name));
        Ok(found.await.map_err(|_| Failure::mistake())??)
    }

    /// Who asks, if somebody who has signed in does.
    async fn visitor(
        &self,
        headers: &HeaderMap,
        path: &str,
        from: IpAddr,
    ) -> Result<Option<Visit>, Failure> {
        let is_live = headers.contains_key(LIVE);
        let Some(token) = self.cookie(headers) else {
            return Ok(None);
        };
        // A stream of news goes on for hours without anybody looking.
        let is_use = !is_live && path != "/events";
        let Some(session) = self.sessions.find(token, Instant::now(), is_use) else {
            return Ok(None);
        };
        let user = self.find(&session.user).await?;
        let Some(user) = user.filter(|user| session.is_of(user)) else {
            self.sessions.end(&session.id);
            return Ok(None);
        };
        Ok(Some(Visit {
            name: user.name,
            role: user.role,
            session,
            from,
            is_live,
        }))
    }

    /// The name of the cookie: browsers tell machines apart and not ports, and two sites of one machine have
    /// two consoles.
    pub(crate) fn cookie_name(&self) -> String {
        match self.is_tls() {
            true => format!("__Host-hedgerow-{}", self.settings.listen.port()),
            false => format!("hedgerow-{}", self.settings.listen.port()),
        }
    }

    fn cookie<'h>(&self, headers: &'h HeaderMap) -> Option<&'h str> {
        let name = self.cookie_name();
        let cookies = headers.get_all(header::COOKIE).iter();
        let cookies = cookies.filter_map(|value| value.to_str().ok());
        let mut pairs = cookies.flat_map(|value| value.split(';'));
        pairs.find_map(|pair| pair.trim().strip_prefix(&*name)?.strip_prefix('='))
    }
}

/// The guard of a page.
pub(crate) async fn guard(
    State((console, route)): State<(Arc<Console>, &'static Route)>,
    request: Request,
    next: Next,
) -> Response {
    match allowed(&console, route, request).await {
        Ok(request) => {
            let mut response = next.run(request).await;
            if route.who == Who::Anybody {
                response.extensions_mut().insert(Known);
            }
            response
        }
        Err(response) => *response,
    }
}

/// Of every request, also to where there is no page: whether the console is called so, and where no page is,
/// nobody learns so who has not signed in.
pub(crate) async fn nowhere(
    State(console): State<Arc<Console>>,
    request: Request,
    next: Next,
) -> Response {
    if !host(&request).is_some_and(|host| console.hosts.has(host)) {
        return Failure::misdirected(&console.address()).into_page();
    }
    let token = console.cookie(request.headers()).map(str::to_owned);
    let is_read = is_read(request.method());
    let response = next.run(request).await;
    let is_nowhere = matches!(response.status().as_u16(), 404 | 405);
    if !is_nowhere || response.extensions().get::<Known>().is_some() {
        return response;
    }
    let session = token.and_then(|token| console.sessions.find(&token, Instant::now(), false));
    match session {
        Some(_) => response,
        None => sign_in(is_read, "/"),
    }
}

/// Marks a response of a page that anybody may ask for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Known;

/// The request with what pages need to know of it; or why it is refused.
async fn allowed(
    console: &Console,
    route: &'static Route,
    mut request: Request,
) -> Result<Request, Box<Response>> {
    let refused = |failure: Failure| Box::new(failure.into_page());
    let from = from(&request);
    request.extensions_mut().insert(From(from));
    if route.is_form && !is_own(console, &request) {
        return Err(refused(Failure::forbidden(
            "this form was not sent by a page of this console",
        )));
    }
    let mut visit = None;
    if let Who::Only(_) = route.who {
        let (headers, path) = (request.headers(), request.uri().path());
        let found = console
            .visitor(headers, path, from)
            .await
            .map_err(refused)?;
        let Some(found) = found else {
            let path = request
                .uri()
                .path_and_query()
                .map_or("/", |path| path.as_str());
            return Err(Box::new(sign_in(!route.is_form, path)));
        };
        if !route.who.has(found.role) {
            // Once for a session and a page: nobody fills the file by asking again and again.
            if console.sessions.is_first_denied(&found.session.id, route) {
                let mut entry = found.entry("denied", request.uri().path());
                entry.result = format!("not for the role {}", found.role);
                console
                    .note(entry)
                    .await
                    .map_err(|error| refused(error.into()))?;
            }
            return Err(refused(Failure::role(found.role)));
        }
        request.extensions_mut().insert(found.clone());
        visit = Some(found);
    }
    if !route.is_form {
        return Ok(request);
    }
    let (mut parts, body) = request.into_parts();
    let kind = parts.headers.get(header::CONTENT_TYPE);
    let kind = kind
        .and_then(|kind| kind.to_str().ok())
        .unwrap_or("")
        .to_owned();
    let sending = match route.most > FORM {
        true => SENDING_LONG,
        false => SENDING,
    };
    let body = timeout(sending, to_bytes(body, route.most)).await;
    let Ok(Ok(body)) = body else {
        return Err(refused(Failure::too_long(route.most)));
    };
    let (essence, _) = kind.split_once(';').unwrap_or((&kind, ""));
    let token = match essence.trim().to_ascii_lowercase().as_str() {
        "application/x-www-form-urlencoded" => {
            let fields = Fields::read(&body);
            let token = fields.get("csrf").to_owned();
            parts.extensions.insert(fields);
            token
        }
        "multipart/form-data" if route.has_file => {
            first_part(&kind, &body).unwrap_or_default().to_owned()
        }
        _ => return Err(refused(Failure::kind())),
    };
    let is_known = |visit: &Visit| visit.session.csrf.as_bytes().ct_eq(token.as_bytes()).into();
    if !visit.as_ref().is_none_or(is_known) {
        return Err(refused(Failure::forbidden(
            "this form is not of this session: go back, reload the page and send it again",
        )));
    }
    Ok(Request::from_parts(parts, Body::from(body)))
}

/// The text of the first part of a form with files, if the part is the session's word: pages write it first.
fn first_part<'b>(kind: &str, body: &'b [u8]) -> Option<&'b str> {
    let (_, boundary) = kind.split_once("boundary=")?;
    let boundary = boundary.split(';').next()?.trim().trim_matches('"');
    let rest = body
        .strip_prefix(b"--")?
        .strip_prefix(boundary.as_bytes())?;
    let rest = rest.strip_prefix(b"\r\nContent-Disposition: form-data; name=\"csrf\"\r\n\r\n")?;
    let end = rest.iter().position(|byte| *byte == b'\r')?;
    std::str::from_utf8(&rest[..end]).ok()
}

/// Sends somebody to sign in, who then comes to the page that was asked for; a form is refused.
fn sign_in(is_read: bool, path: &str) -> Response {
    if !is_read {
        return Failure::forbidden(
            "nobody is signed in any more: sign in, and send the form again",
        )
        .into_page();
    }
    let to: String = form_urlencoded::byte_serialize(path.as_bytes()).collect();
    match path {
        "/" | "/events" => Redirect::to("/sign-in").into_response(),
        _ => Redirect::to(&format!("/sign-in?to={to}")).into_response(),
    }
}

/// Whether a form was sent by a page of this console, as the browser says.
fn is_own(console: &Console, request: &Request) -> bool {
    let text = |name: &str| {
        request
            .headers()
            .get(name)
            .and_then(|value| value.to_str().ok())
    };
    let (Some(host), Some(origin)) = (host(request), text("origin")) else {
        return false;
    };
    let is_same = text("sec-fetch-site").is_none_or(|site| site == "same-origin");
    is_same && console.hosts.is_own(host, origin)
}

fn host(request: &Request) -> Option<&str> {
    let mut said = request.headers().get_all(header::HOST).iter();
    let (Some(host), None) = (said.next(), said.next()) else {
        return None;
    };
    // A browser that asks by the whole address says the same twice.
    let named = request
        .uri()
        .authority()
        .map(|authority| authority.as_str());
    let host = host.to_str().ok()?;
    named.is_none_or(|named| named == host).then_some(host)
}

fn is_read(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD)
}

fn from(request: &Request) -> IpAddr {
    let peer = request.extensions().get::<Peer>();
    peer.map_or(IpAddr::V4(Ipv4Addr::LOCALHOST), |peer| {
        peer.0.ip().to_canonical()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_of_a_session_is_the_first_part_of_a_form_with_files() {
        let kind = "multipart/form-data; boundary=----x";
        let body = b"------x\r\nContent-Disposition: form-data; name=\"csrf\"\r\n\r\nabc\r\n------x\r\nContent-Disposition: form-data; name=\"table\"; filename=\"t.csv\"\r\n\r\na,b\r\n------x--\r\n";
        assert_eq!(first_part(kind, body), Some("abc"));
        assert_eq!(first_part("multipart/form-data", body), None);
        assert_eq!(first_part(kind, b"a,b"), None);
        let other = String::from_utf8_lossy(body).replace("\"csrf\"", "\"table\"");
        assert_eq!(first_part(kind, other.as_bytes()), None);
    }

    #[test]
    fn fields_are_read_as_browsers_write_them() {
        let fields = Fields::read(b"name=anna+b%26c&name=x&password=%C5%BE");
        assert_eq!(fields.get("name"), "anna b&c");
        assert_eq!(fields.get("password"), "\u{17e}");
        assert_eq!(fields.get("none"), "");
    }
}
