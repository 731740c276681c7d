//! `/set-up`: what a site needs before its first run, as a list with the command for each step. The key is made
//! where it stays; nothing secret is shown, and none is ever sent here.

mod items;

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::response::{IntoResponse as _, Redirect, Response};
use hedgerow::node::identity::Secret;
use hedgerow::{Error, Site};
use maud::{Markup, html};

use super::study::outcome;
use crate::console::Console;
use crate::guard::Visit;
use crate::html::failure::Failure;
use crate::html::layout::Page;
use crate::html::parts::{Tone, badge, button, live, shell, told};
use crate::jobs::{Found, Job};
use crate::role::Role;
use crate::routes::may_send;
use items::{Facts, Item, State as Is};

/// `GET /set-up`.
pub(crate) async fn page(
    State(console): State<Arc<Console>>,
    Extension(visit): Extension<Visit>,
) -> Result<Response, Failure> {
    let users = console.users.clone();
    let roles = tokio::task::spawn_blocking(move || users.all());
    let roles = roles.await.map_err(|_| Failure::mistake())??;
    let roles: Vec<Role> = roles.into_iter().map(|user| user.role).collect();
    let facts = console.ask(|site| Ok(Facts::of(site))).await?;
    let check = match facts.study.is_ok() {
        true => Some(console.checked(false).await),
        false => None,
    };
    let site = shell(console.path());
    let items = items::items(&facts, check.as_ref(), &roles, (&site, console.path()));
    let done = items.iter().filter(|item| item.is == Is::Done).count();
    let body = html! {
        h1 { "Set-up" }
        (live("set-up", &html! {
            p.lead { (done) " of " (items.len()) " steps are done. Everything here can be done in a shell; what can be done from this page has a button." }
            ol.items { @for item in &items { (shown(item, &visit)) } }
            @if let Some(check) = &check {
                section aria-labelledby="rules" {
                    h2 #rules { "What this site’s rules say of the study" }
                    (outcome(check))
                    @if may_send("/study/look", visit.role) { (button(&visit, "/study/look", "Look again", "quiet")) }
                }
            }
        }))
        section aria-labelledby="never" {
            h2 #never { "What no page does" }
            ul {
                li { "No private key is sent to a page or shown by one. The key lies in its file, which its owner alone may read." }
                li { "No page changes the rules of this site, what it accepts, or where its rows are: these stand in the site’s file, which a person writes." }
                li { "No key of another site is fetched from anybody: keys are pinned in the study that all sites sign." }
            }
        }
    };
    let page = Page {
        title: "Set-up",
        place: "/set-up",
        body,
        commands: vec![format!("hedgerow site check {site}")],
    };
    Ok(page.show(&console, &visit).await)
}

/// `POST /set-up/key`: makes this site's key, where there is none.
pub(crate) async fn make_key(
    State(console): State<Arc<Console>>,
    Extension(visit): Extension<Visit>,
) -> Result<Response, Failure> {
    let made = console.ask(|site: &Site| {
        let secret = Secret::generate().map_err(Error::from)?;
        secret.write_new(&site.file().key).map_err(Error::from)?;
        Ok(secret.public().to_string())
    });
    let done = |public: &String| {
        format!(
            "this site's key is made, and nobody has seen it\nhint: key = \"{public}\" belongs below this site's [[site]] in the study; it is public"
        )
    };
    console
        .carry_out(&visit, ("key made", String::new()), made, done)
        .await?;
    Ok(Redirect::to("/set-up").into_response())
}

fn shown(item: &Item, visit: &Visit) -> Markup {
    let (tone, word) = match item.is {
        Is::Done => (Tone::Good, "done"),
        Is::Open => (Tone::Bad, "to do"),
        Is::Waiting => (Tone::Wait, "not yet"),
    };
    html! {
        li {
            h2 { (item.title) " " (badge(tone, word)) }
            (told(&item.words))
            @if let Some(public) = &item.public { p.copy { code { (public) } } }
            @if item.makes_key && may_send("/set-up/key", visit.role) { (button(visit, "/set-up/key", "Make the key here", "main")) }
            @if let Some((path, words)) = item.link { p { a href=(path) { (words) } } }
            @if let Some(command) = &item.command { pre tabindex="0" aria-label={ "The command: " (item.title) } { code { (command) } } }
        }
    }
}

/// What the check of the site found about something; nothing as long as it is not known.
fn faults<'j>(check: Option<&'j Job>, about: &str) -> Option<Vec<&'j str>> {
    let Some(Job::Done(found)) = check else {
        return None;
    };
    let Found::Check(check) = &**found else {
        return None;
    };
    let faults = check.faults.iter();
    let faults = faults
        .filter(|fault| fault.about == about || fault.about.starts_with(&format!("{about}.")));
    Some(faults.map(|fault| fault.without_values()).collect())
}
