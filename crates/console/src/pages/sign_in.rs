//! `/sign-in` and `/sign-out`.

use std::sync::Arc;
use std::time::Instant;

use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse as _, Redirect, Response};
use maud::{Markup, html};
use serde::Deserialize;
use zeroize::Zeroizing;

use crate::attempts::Of;
use crate::console::Console;
use crate::extract::Query;
use crate::guard::{Fields, From, Visit};
use crate::html::failure::Failure;
use crate::html::layout::bare;
use crate::html::parts::{Tone, badge, told};
use crate::password;
use crate::users::User;

/// Where somebody wanted to go.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct To {
    #[serde(default)]
    to: String,
}

/// `GET /sign-in`.
pub(crate) async fn page(State(console): State<Arc<Console>>, Query(to): Query<To>) -> Response {
    let is_empty = console.users.all().is_ok_and(|users| users.is_empty());
    form(&console, &to.to, "", is_empty, None).into_response()
}

/// `POST /sign-in`.
pub(crate) async fn enter(
    State(console): State<Arc<Console>>,
    Extension(From(from)): Extension<From>,
    Extension(fields): Extension<Fields>,
) -> Result<Response, Failure> {
    let name = fields.get("name");
    let user = console.find(name).await?;
    // What is nobody's name may be a password that was typed in its place.
    let who = user.as_ref().map_or("somebody unknown", |user| &user.name);
    let who = who.to_owned();
    let of = Of::signing_in(name, from);
    if let Err(refused) = console.attempts.enter(&of, Instant::now()) {
        if refused.is_first {
            console
                .note_stranger(&who, from, ("sign in", "too many passwords were tried"))
                .await?;
        }
        return Err(Failure::slow(refused.wait));
    }
    let kept = user.as_ref().map(|user| user.password.clone());
    let typed = Zeroizing::new(fields.get("password").to_owned());
    let is_right = password::is_right(typed, kept).await;
    let Some(user) = user.filter(|_| is_right) else {
        console
            .note_stranger(&who, from, ("sign in", "wrong name or password"))
            .await?;
        let page = form(
            &console,
            fields.get("to"),
            name,
            false,
            Some("the name or the password is not right"),
        );
        return Ok((axum::http::StatusCode::FORBIDDEN, page).into_response());
    };
    console.attempts.right(&of);
    console
        .note_stranger(&who, from, ("sign in", "done"))
        .await?;
    begin(
        &console,
        &user,
        local(fields.get("to")).unwrap_or(user.role.home()),
    )
}

/// `POST /sign-out`.
pub(crate) async fn leave(
    State(console): State<Arc<Console>>,
    Extension(visit): Extension<Visit>,
) -> Result<Response, Failure> {
    console.sessions.end(&visit.session.id);
    console.note(visit.entry("sign out", "")).await?;
    let mut response = Redirect::to("/sign-in").into_response();
    set_cookie(&console, &mut response, "", Some(0));
    Ok(response)
}

/// Begins a session, with a token that nobody had before.
pub(crate) fn begin(console: &Console, user: &User, to: &str) -> Result<Response, Failure> {
    let token = console.sessions.begin(user, Instant::now())?;
    let mut response = Redirect::to(to).into_response();
    set_cookie(console, &mut response, &token, None);
    Ok(response)
}

fn set_cookie(console: &Console, response: &mut Response, token: &str, age: Option<u32>) {
    let secure = if console.is_tls() { "; Secure" } else { "" };
    let age = age.map_or_else(String::new, |age| format!("; Max-Age={age}"));
    let cookie = format!(
        "{}={token}; Path=/; HttpOnly; SameSite=Strict{secure}{age}",
        console.cookie_name()
    );
    // Hexadecimal digits and our own words.
    if let Ok(value) = HeaderValue::from_str(&cookie) {
        response.headers_mut().insert(header::SET_COOKIE, value);
    }
}

/// A path of this console, and nothing that a browser takes for another machine.
fn local(to: &str) -> Option<&str> {
    let is_plain = to
        .bytes()
        .all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    (to.starts_with('/') && !to.starts_with("//") && is_plain && to.len() < 500).then_some(to)
}

fn form(
    console: &Console,
    to: &str,
    name: &str,
    is_empty: bool,
    wrong: Option<&str>,
) -> axum::response::Html<String> {
    let to = local(to).unwrap_or("");
    bare(
        "Sign in",
        &html! {
            h1 { "Sign in" }
            @if let Some(wrong) = wrong { div.said.bad role="alert" { (told(wrong)) } }
            @if is_empty { (nobody(console)) }
            form.sheet method="post" action="/sign-in" {
                input type="hidden" name="to" value=(to);
                label for="name" { "Name" }
                input id="name" name="name" value=(name) autocomplete="username" autocapitalize="none" spellcheck="false" maxlength="64" required autofocus;
                label for="password" { "Password" }
                input id="password" name="password" type="password" autocomplete="current-password" required;
                button type="submit" { "Sign in" }
            }
            p.quiet { "Forgotten? The privacy officer makes a link for a new password, on the page Users." }
        },
    )
}

fn nobody(console: &Console) -> Markup {
    let site = crate::html::parts::shell(console.path());
    html! {
        div.said.wait {
            p { (badge(Tone::Wait, "nobody yet")) " Nobody may use this console yet." }
            p.hint { strong { "Next step: " } "the link that hedgerow console printed when it started makes the first user; or type" }
            pre tabindex="0" { code { "hedgerow console user add NAME --role officer --site " (site) } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_sent_elsewhere() {
        for to in [
            "",
            "https://evil.example",
            "//evil.example",
            "/\\evil.example",
            "runs",
            "/a\nb",
            "/\u{e9}",
        ] {
            assert_eq!(local(to), None, "{to}");
        }
        assert_eq!(local("/runs/3?page=2"), Some("/runs/3?page=2"));
    }
}
