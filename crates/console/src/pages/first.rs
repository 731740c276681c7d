//! `/first/{token}`: the first user of a console, and people whom the officer asked in, choose their password.

use std::sync::Arc;
use std::time::Instant;

use axum::Extension;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use maud::html;

use super::sign_in::begin;
use crate::console::Console;
use crate::error::ConsoleError;
use crate::extract::Path;
use crate::guard::{Fields, From};
use crate::html::failure::Failure;
use crate::html::layout::bare;
use crate::html::parts::told;
use crate::links::For;
use crate::password::{self, SHORTEST};
use crate::role::Role;
use crate::users::see_name;

/// `GET /first/{token}`.
pub(crate) async fn page(
    State(console): State<Arc<Console>>,
    Path(token): Path<String>,
) -> Result<Response, Failure> {
    let whom = find(&console, &token).await?;
    Ok(form(&token, &whom, "", None).into_response())
}

/// `POST /first/{token}`.
pub(crate) async fn enter(
    State(console): State<Arc<Console>>,
    Path(token): Path<String>,
    Extension(From(from)): Extension<From>,
    Extension(fields): Extension<Fields>,
) -> Result<Response, Failure> {
    let whom = find(&console, &token).await?;
    let name = match &whom {
        For::First => fields.get("name").to_owned(),
        known => known.name().to_owned(),
    };
    let role = match &whom {
        // Only an officer asks others in.
        For::First => Some(Role::Officer),
        For::New { role, .. } => Some(*role),
        For::Again { .. } => None,
    };
    let password = fields.get("password");
    let sound = see_name(&name).and_then(|()| password::see_strong(&name, password));
    let wrong = match sound {
        _ if password != fields.get("again") => {
            Some(String::from("the two passwords are not the same"))
        }
        Err(error) => Some(error.to_string()),
        Ok(()) => None,
    };
    if let Some(wrong) = wrong {
        let page = form(&token, &whom, &name, Some(&wrong));
        return Ok((StatusCode::BAD_REQUEST, page).into_response());
    }
    // From here on the link works no more, whatever comes of it.
    if console.links.take(&token, Instant::now()).as_ref() != Some(&whom) {
        return Err(gone());
    }
    let (users, asked, typed) = (console.users.clone(), name.clone(), password.to_owned());
    let typed = zeroize::Zeroizing::new(typed);
    let made = tokio::task::spawn_blocking(move || {
        let from = from.to_string();
        match role {
            Some(role) => users.come(&whom, (&asked, role), &typed, &from),
            None => users.set_password(&whom, &typed, &from),
        }
    });
    made.await.map_err(|_| Failure::mistake())??;
    let user = console.find(&name).await?.ok_or_else(gone)?;
    begin(&console, &user, user.role.home())
}

/// Whom a link is for, if it counts among the users as they are now.
async fn find(console: &Console, token: &str) -> Result<For, Failure> {
    let whom = console.links.find(token, Instant::now()).ok_or_else(gone)?;
    let users = console.users.clone();
    let users = tokio::task::spawn_blocking(move || users.all());
    let users = users.await.map_err(|_| Failure::mistake())??;
    match whom.counts(&users) {
        true => Ok(whom),
        false => Err(gone()),
    }
}

fn gone() -> Failure {
    Failure::absent(&ConsoleError::NoLink.to_string())
}

fn form(token: &str, whom: &For, name: &str, wrong: Option<&str>) -> axum::response::Html<String> {
    let title = match whom {
        For::First => "The first user",
        For::New { .. } => "Welcome",
        For::Again { .. } => "A new password",
    };
    bare(
        title,
        &html! {
            h1 { (title) }
            @if let Some(wrong) = wrong { div.said.bad role="alert" { (told(wrong)) } }
            @match whom {
                For::First => p { "Nobody may use this console yet. Whom you make here is its first " strong { (Role::Officer) } ", who " (Role::Officer.words()) ". Only an officer can make others: ask the steward in on the page Users afterwards. This link works once." },
                For::New { role, by, .. } => p { (by.name) " asked you in as " strong { (role) } ", who " (role.words()) "." },
                For::Again { by, .. } => p { (by.name) " made this link, so that you choose another password." },
            }
            form.sheet method="post" action={ "/first/" (token) } {
                @match whom {
                    For::First => {
                        label for="name" { "Name" }
                        input id="name" name="name" value=(name) autocomplete="username" autocapitalize="none" spellcheck="false" maxlength="64" required autofocus;
                    },
                    known => {
                        label for="name" { "Name" }
                        input id="name" value=(known.name()) autocomplete="username" readonly;
                    },
                }
                label for="password" { "Password, " (SHORTEST) " characters or more" }
                input id="password" name="password" type="password" autocomplete="new-password" minlength=(SHORTEST) required;
                label for="again" { "The same again" }
                input id="again" name="again" type="password" autocomplete="new-password" minlength=(SHORTEST) required;
                button type="submit" { "Begin" }
            }
        },
    )
}
