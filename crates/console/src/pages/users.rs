//! `/users`: who may use these pages. The officer asks people in by a link that works once, so that nobody but
//! the person knows the password.

use std::sync::Arc;
use std::time::Instant;

use axum::Extension;
use axum::extract::State;
use axum::response::{IntoResponse as _, Redirect, Response};
use maud::{Markup, html};

use crate::console::Console;
use crate::guard::{Fields, Visit};
use crate::html::failure::Failure;
use crate::html::layout::{Page, csrf};
use crate::html::parts::{Tone, badge, live, shell};
use crate::links::{For, Known};
use crate::role::Role;
use crate::routes::may_send;
use crate::users::{User, see_name};

/// `GET /users`.
pub(crate) async fn page(
    State(console): State<Arc<Console>>,
    Extension(visit): Extension<Visit>,
) -> Result<Response, Failure> {
    show(&console, &visit, None).await
}

/// `POST /users/invite`: a link for somebody new, or for another password of somebody who is there.
pub(crate) async fn invite(
    State(console): State<Arc<Console>>,
    Extension(visit): Extension<Visit>,
    Extension(fields): Extension<Fields>,
) -> Result<Response, Failure> {
    let name = fields.get("name").to_owned();
    see_name(&name)?;
    let by = console.find(&visit.name).await?;
    let by = Known::of(&by.ok_or_else(Failure::mistake)?);
    let there = console.find(&name).await?;
    let (what, whom) = match (there, Role::named(fields.get("role"))) {
        (Some(user), None) => {
            let user = Known::of(&user);
            ("link for a new password", For::Again { user, by })
        }
        (None, Some(role)) => (
            "asked in",
            For::New {
                name: name.clone(),
                role,
                by,
            },
        ),
        (Some(user), Some(_)) => {
            let why = format!(
                "there is a user `{name}` already, whose role is {}\nhint: take the user away first, or make a link for a new password",
                user.role
            );
            return Err(Failure::wrong(why));
        }
        (None, None) => {
            return Err(Failure::wrong(
                "nothing says what the person is to this site\nhint: choose a role",
            ));
        }
    };
    let about = match &whom {
        For::New { role, .. } => format!("{name}, {role}"),
        _ => name,
    };
    console.note(visit.entry(what, about)).await?;
    let token = console.links.make(whom, Instant::now())?;
    console.changes.look();
    // The link is on the page of this answer, and on no other.
    show(
        &console,
        &visit,
        Some(format!("{}/first/{token}", console.address())),
    )
    .await
}

/// `POST /users/withdraw`: a link that nobody used works no more.
pub(crate) async fn withdraw(
    State(console): State<Arc<Console>>,
    Extension(visit): Extension<Visit>,
    Extension(fields): Extension<Fields>,
) -> Result<Response, Failure> {
    let name = fields.get("name").to_owned();
    see_name(&name)?;
    let withdrawn = async {
        console.links.withdraw(&name);
        Ok(())
    };
    let done = |(): &()| format!("the link for {name} works no more");
    let what = ("link withdrawn", name.clone());
    console.carry_out(&visit, what, withdrawn, done).await?;
    Ok(Redirect::to("/users").into_response())
}

/// `POST /users/remove`: with the links for them, and those that they made.
pub(crate) async fn remove(
    State(console): State<Arc<Console>>,
    Extension(visit): Extension<Visit>,
    Extension(fields): Extension<Fields>,
) -> Result<Response, Failure> {
    let name = fields.get("name").to_owned();
    if name == visit.name {
        return Err(Failure::wrong(
            "you would lock yourself out\nhint: another officer, or hedgerow console user remove, takes you away",
        ));
    }
    let (users, gone, by) = (console.users.clone(), name.clone(), visit.clone());
    let removed =
        tokio::task::spawn_blocking(move || users.remove(&gone, (&by.name, &by.from.to_string())));
    removed.await.map_err(|_| Failure::mistake())??;
    console.links.forget(&name);
    let said = crate::sessions::Said {
        text: format!("{name} may not use these pages any more"),
        is_good: true,
    };
    console.sessions.say(&visit.session.id, said);
    console.changes.look();
    Ok(Redirect::to("/users").into_response())
}

async fn show(
    console: &Arc<Console>,
    visit: &Visit,
    link: Option<String>,
) -> Result<Response, Failure> {
    let users = console.users.clone();
    let all = tokio::task::spawn_blocking(move || users.all());
    let all = all.await.map_err(|_| Failure::mistake())??;
    let mut waiting = console.links.waiting(Instant::now());
    waiting.retain(|whom| whom.counts(&all));
    let may = may_send("/users/invite", visit.role);
    let body = html! {
        h1 { "Users" }
        p.lead { "Who may use these pages, and nobody else. Nobody has two roles: who sets a study up does not sign it." }
        @if let Some(link) = link {
            div.said.good role="status" {
                p { "Hand this link to the person. It works once, for a day, and is shown here only:" }
                p.copy { code { (link) } }
            }
        }
        (live("users", &table(&all, &waiting, visit, may)))
        @if may { (asking(visit)) }
        section aria-labelledby="roles" {
            h2 #roles { "Roles" }
            dl.words {
                @for role in Role::ALL { div { dt { (role) } dd { (role.words()) } } }
            }
        }
    };
    let site = shell(console.path());
    let page = Page {
        title: "Users",
        place: "/users",
        body,
        commands: vec![
            format!("hedgerow console user list --site {site}"),
            format!("hedgerow console user add NAME --role analyst --site {site}"),
            format!("hedgerow console user remove NAME --site {site}"),
        ],
    };
    Ok(page.show(console, visit).await)
}

fn table(users: &[User], waiting: &[For], visit: &Visit, may: bool) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label="Users" {
            table {
                thead { tr { th scope="col" { "Name" } th scope="col" { "Role" } th scope="col" { "Since" } @if may { th scope="col" { "Change" } } } }
                tbody {
                    @for user in users {
                        tr {
                            th scope="row" { (user.name) @if user.name == visit.name { " " small { "you" } } }
                            td { (user.role) }
                            td.time { (user.added) }
                            @if may { td { div.acts {
                                (act(visit, "/users/invite", &user.name, "Link for a new password", "quiet"))
                                @if user.name != visit.name { (act(visit, "/users/remove", &user.name, "Remove", "danger")) }
                            } } }
                        }
                    }
                    @for whom in waiting {
                        tr {
                            th scope="row" { (whom.name()) }
                            td { @if let For::New { role, .. } = whom { (role) } }
                            td { (badge(Tone::Wait, "has a link")) }
                            @if may { td { (act(visit, "/users/withdraw", whom.name(), "Withdraw", "danger")) } }
                        }
                    }
                }
            }
        }
    }
}

fn act(visit: &Visit, action: &str, name: &str, words: &str, class: &str) -> Markup {
    html! {
        form.one method="post" action=(action) {
            (csrf(visit))
            input type="hidden" name="name" value=(name);
            button class=(class) type="submit" { (words) span.unseen { ": " (name) } }
        }
    }
}

fn asking(visit: &Visit) -> Markup {
    html! {
        section aria-labelledby="ask" {
            h2 #ask { "Ask somebody in" }
            form.sheet method="post" action="/users/invite" {
                (csrf(visit))
                label for="name" { "Name" }
                input id="name" name="name" autocomplete="off" autocapitalize="none" spellcheck="false" maxlength="64" required;
                label for="role" { "Role" }
                select id="role" name="role" required {
                    option value="" { "Choose a role" }
                    @for role in Role::ALL { option value=(role) { (role) ": " (role.words()) } }
                }
                button type="submit" { "Make a link" }
            }
        }
    }
}
