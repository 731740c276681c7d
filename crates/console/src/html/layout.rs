//! The frame of every page: who this is, where one can go, and the command that does the same.

use std::sync::Arc;

use axum::response::{Html, IntoResponse, Response};
use maud::{DOCTYPE, Markup, html};

use super::parts::{commands, said};
use crate::assets;
use crate::console::Console;
use crate::guard::Visit;
use crate::role::Role;
use crate::routes::may_read;

/// The pages that one can go to from everywhere, in the order of the work.
const PLACES: [(&str, &str); 10] = [
    ("/", "Overview"),
    ("/set-up", "Set-up"),
    ("/draft", "Draft"),
    ("/study", "Study"),
    ("/runs", "Runs"),
    ("/releases", "Releases"),
    ("/query", "Query"),
    ("/ledger", "Ledger"),
    ("/audit", "Audit"),
    ("/users", "Users"),
];

/// A page of somebody who has signed in.
pub(crate) struct Page<'p> {
    pub(crate) title: &'p str,
    /// The place in the navigation.
    pub(crate) place: &'static str,
    pub(crate) body: Markup,
    /// The commands that do the same, one a line.
    pub(crate) commands: Vec<String>,
}

impl Page<'_> {
    /// The page as it is sent.
    pub(crate) async fn show(self, console: &Arc<Console>, visit: &Visit) -> Response {
        let name = console.ask(|site| Ok(site.file().name.clone())).await;
        let name = name.unwrap_or_else(|_| String::from("this site"));
        // What a page looked up by itself would be news that nobody read.
        let news = match visit.is_live {
            true => None,
            false => console.sessions.hear(&visit.session.id),
        };
        let body = html! {
            a.skip href="#main" { "To the content" }
            header.top {
                a.brand href=(visit.role.home()) {
                    (mark())
                    span { "Hedgerow" }
                    span.site { (name) }
                }
                (places(visit.role, self.place))
                form.who method="post" action="/sign-out" {
                    (csrf(visit))
                    span { (visit.name) " " small { (visit.role) } }
                    button.quiet type="submit" { "Sign out" }
                }
            }
            main #main tabindex="-1" {
                @if let Some(news) = news { (said(&news)) }
                (self.body)
                (commands(&self.commands))
            }
            (foot(true))
        };
        whole(&format!("{} · {name}", self.title), &body, true).into_response()
    }
}

/// A page of nobody in particular.
pub(crate) fn bare(title: &str, body: &Markup) -> Html<String> {
    let body = html! {
        header.top.bare { span.brand { (mark()) span { "Hedgerow" } } }
        main #main.narrow { (body) }
        (foot(false))
    };
    whole(title, &body, false)
}

/// What stands first in every form, so that no page of anybody else can send it.
pub(crate) fn csrf(visit: &Visit) -> Markup {
    html! { input type="hidden" name="csrf" value=(visit.session.csrf); }
}

fn places(role: Role, current: &str) -> Markup {
    let places = PLACES.into_iter().filter(|(path, _)| may_read(path, role));
    html! {
        nav aria-label="Pages" {
            ul {
                @for (path, name) in places {
                    li {
                        @if path == current { a href=(path) aria-current="page" { (name) } }
                        @else { a href=(path) { (name) } }
                    }
                }
            }
        }
    }
}

/// The mark: a hedge of four trees.
fn mark() -> Markup {
    html! {
        svg.mark viewBox="0 0 32 20" width="32" height="20" aria-hidden="true" focusable="false" {
            path d="M1 19V11a4 4 0 0 1 7 0V19z M9 19V7a4 4 0 0 1 7 0V19z M17 19V9a4 4 0 0 1 7 0V19z M25 19V12a3 3 0 0 1 6 0V19z" {}
        }
    }
}

fn foot(is_live: bool) -> Markup {
    html! {
        footer {
            @if is_live {
                p #live .live role="status" { "Reload the page to see what is new." }
            }
            p { "Hedgerow " (env!("CARGO_PKG_VERSION")) ". Times are universal (UTC)." }
        }
    }
}

fn whole(title: &str, body: &Markup, has_script: bool) -> Html<String> {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="robots" content="noindex";
                title { (title) " · Hedgerow" }
                link rel="icon" href=(assets::ICON) type="image/svg+xml";
                link rel="stylesheet" href=(assets::style());
                @if has_script { script src=(assets::script()) defer {} }
            }
            body { (body) }
        }
    };
    Html(page.into_string())
}
