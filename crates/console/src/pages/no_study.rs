//! What pages say that tell of the study's runs where there is no study yet, or none that can be read: they keep
//! their place and the way to all others.

use std::sync::Arc;

use axum::response::Response;
use maud::{Markup, html};

use crate::console::Console;
use crate::guard::Visit;
use crate::html::failure::Failure;
use crate::html::layout::Page;
use crate::html::parts::{shell, told};
use crate::routes::may_send;

/// Whether the file is there that the site's file names.
pub(crate) async fn is_missing(console: &Arc<Console>) -> bool {
    let found = console.ask(|site| Ok(site.file().study.exists())).await;
    found.is_ok_and(|is_there| !is_there)
}

/// That there is no study yet, and who makes one.
pub(crate) fn none_yet(visit: &Visit) -> Markup {
    html! {
        section.next aria-labelledby="no-study" {
            h2 #no-study { "There is no study yet" }
            p { "A study is what all sites agree to. The steward drafts one here, or puts the one that another site has sent to where this site’s file says." }
            @if may_send("/draft/begin", visit.role) { p { a.button href="/draft" { "Draft a study" } } }
            @else { p { a.button href="/draft" { "To the draft" } } p.quiet { "This is for the steward." } }
        }
    }
}

/// That the study cannot be read, and why.
pub(crate) fn unreadable(why: &str) -> Markup {
    html! {
        div.said.bad { h2 { "The study cannot be read" } (told(why)) }
        p { a.button href="/draft" { "To the draft" } }
    }
}

/// A page in the place of one that needs the study.
pub(crate) async fn page(
    console: &Arc<Console>,
    visit: &Visit,
    (title, place): (&str, &'static str),
    failure: Failure,
) -> Response {
    let is_missing = is_missing(console).await;
    let body = html! {
        h1 { (title) }
        @if is_missing { (none_yet(visit)) }
        @else { div.said.bad { (told(failure.why())) } }
    };
    let page = Page {
        title,
        place,
        body,
        commands: vec![format!("hedgerow site check {}", shell(console.path()))],
    };
    let mut response = page.show(console, visit).await;
    if !is_missing {
        *response.status_mut() = failure.status();
    }
    response
}
