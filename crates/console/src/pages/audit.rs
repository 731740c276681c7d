//! `/audit`: who did what on these pages, newest first, and all of it for a spreadsheet.

use std::borrow::Cow;
use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use maud::{Markup, html};
use serde::Deserialize;

use crate::console::Console;
use crate::extract::Query;
use crate::guard::Visit;
use crate::html::failure::Failure;
use crate::html::layout::Page;
use crate::html::parts::{Tone, badge, live, shell};
use crate::record::Entry;
use crate::sheet;

/// Lines of a page.
const LINES: usize = 100;
/// Characters of a cell on the page.
const LONGEST: usize = 300;

/// Which lines.
#[derive(Debug, Deserialize)]
pub(crate) struct Before {
    before: Option<u64>,
}

/// `GET /audit`.
pub(crate) async fn page(
    State(console): State<Arc<Console>>,
    Extension(visit): Extension<Visit>,
    Query(Before { before }): Query<Before>,
) -> Result<Response, Failure> {
    let record = console.record.clone();
    let found = tokio::task::spawn_blocking(move || record.latest(before, LINES));
    let (entries, next) = found.await.map_err(|_| Failure::mistake())??;
    let body = html! {
        h1 { "Audit" }
        p.lead { "Who did what on these pages, from where, and what came of it. Lines are added and never changed; what cannot be written down is not done." }
        p { a.button href="/audit/console.csv" { "All as CSV" } }
        (live("lines", &table(&entries)))
        nav.pages aria-label="More" {
            @if before.is_some() { a href="/audit" { "Newest" } }
            @if let Some(next) = next { a rel="next" href={ "/audit?before=" (next) } { "Older" } }
        }
        section aria-labelledby="again" {
            h2 #again { "The site's part in a run, done again" }
            p { "Where the study has " code { "audit" } ", every site keeps its journal of a run for a while, and whether the site did as it should can be shown from it." }
        }
    };
    let page = Page {
        title: "Audit",
        place: "/audit",
        body,
        commands: vec![
            format!("less {}", shell(console.record.path())),
            format!("hedgerow audit --site {} --run 1", shell(console.path())),
        ],
    };
    Ok(page.show(&console, &visit).await)
}

/// `GET /audit/console.csv`.
pub(crate) async fn sheet(
    State(console): State<Arc<Console>>,
    Extension(visit): Extension<Visit>,
) -> Result<Response, Failure> {
    console.note(visit.entry("download", "console.csv")).await?;
    let record = console.record.clone();
    let made = tokio::task::spawn_blocking(move || {
        let head = ["at", "who", "role", "from", "what", "about", "result"];
        let rows = record.all()?.into_iter().map(|entry| {
            let Entry {
                at,
                who,
                role,
                from,
                what,
                about,
                result,
            } = entry;
            vec![at, who, role.unwrap_or_default(), from, what, about, result]
        });
        Ok::<_, crate::error::ConsoleError>(sheet::table(&head, rows))
    });
    let text = made.await.map_err(|_| Failure::mistake())??;
    let headers = [
        (header::CONTENT_TYPE, "text/csv; charset=utf-8"),
        (
            header::CONTENT_DISPOSITION,
            "attachment; filename=\"console.csv\"",
        ),
    ];
    Ok((headers, text).into_response())
}

/// The beginning of a text; the CSV has the whole.
fn cut(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => Cow::Owned(format!("{} …", &text[..end])),
        None => Cow::Borrowed(text),
    }
}

fn table(entries: &[Entry]) -> Markup {
    html! {
        @if entries.is_empty() { p.empty { "Nothing was done here yet." } }
        @else {
            div.scroll tabindex="0" role="region" aria-label="What was done" {
                table.small {
                    thead { tr {
                        th scope="col" { "When" } th scope="col" { "Who" } th scope="col" { "From" }
                        th scope="col" { "What" } th scope="col" { "About" } th scope="col" { "Result" }
                    } }
                    tbody {
                        @for entry in entries {
                            tr {
                                td.time { (entry.at) }
                                td { (entry.who) @if let Some(role) = &entry.role { " " small { (role) } } }
                                td { (entry.from) }
                                td { (entry.what) }
                                td { (cut(&entry.about)) }
                                td { @if entry.result == "done" { (badge(Tone::Good, "done")) } @else { (badge(Tone::Bad, "not done")) " " (cut(&entry.result)) } }
                            }
                        }
                    }
                }
            }
        }
    }
}
