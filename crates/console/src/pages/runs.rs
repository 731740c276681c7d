//! `/runs`: every run of the study that this site knows of, newest first.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use hedgerow::{RunList, RunState, RunStatus};
use maud::{Markup, html};

use crate::console::Console;
use crate::extract::Query;
use crate::guard::Visit;
use crate::html::failure::Failure;
use crate::html::layout::Page;
use crate::html::parts::{Tone, badge, button, live, pages, shell};
use crate::pages::{Asked, LINES, no_study};
use crate::routes::may_send;

const PLACE: (&str, &str) = ("Runs", "/runs");

/// `GET /runs`.
pub(crate) async fn page(
    State(console): State<Arc<Console>>,
    Extension(visit): Extension<Visit>,
    Query(asked): Query<Asked>,
) -> Result<Response, Failure> {
    let skip = (asked.number() - 1) * LINES;
    let list = console
        .ask(move |site| {
            let list = site.runs(skip, LINES)?;
            // Beyond the end the last page is shown.
            let (number, _) = asked.of(list.total);
            match list.runs.is_empty() {
                true => site.runs((number - 1) * LINES, LINES),
                false => Ok(list),
            }
        })
        .await;
    let list = match list {
        Ok(list) => list,
        Err(failure) => return Ok(no_study::page(&console, &visit, PLACE, failure).await),
    };
    let (number, of) = asked.of(list.total);
    let body = html! {
        h1 { "Runs" }
        p.lead { "A run makes one release of the study. The history stays, also of runs that failed or were given up: what was learned in them was learned." }
        (live("runs", &html! {
            @if number == 1 { (start(&list, &visit)) }
            (table(&list.runs))
        }))
        (pages("/runs", number, of))
    };
    let site = shell(console.path());
    let page = Page {
        title: PLACE.0,
        place: PLACE.1,
        body,
        commands: vec![
            format!("hedgerow status --site {site}"),
            format!("hedgerow run --site {site} --number {}", list.due),
        ],
    };
    Ok(page.show(&console, &visit).await)
}

/// The run that is due, for whoever may start it.
fn start(list: &RunList, visit: &Visit) -> Markup {
    let due = list.due;
    let of_due = list.runs.iter().find(|run| run.number == due);
    let is_startable =
        of_due.is_none_or(|run| matches!(run.state, RunState::Failed | RunState::Stopped));
    html! {
        @if is_startable && may_send("/runs/{number}/start", visit.role) {
            section.next aria-labelledby="start" {
                h2 #start { "Run " (due) " is due" }
                p { @if of_due.is_some() { "It goes on where it stands." } @else { "This site's node must be up, and those of the other sites: they are asked when it begins." } }
                (button(visit, &format!("/runs/{due}/start"), if of_due.is_some() { "Go on with it" } else { "Start it" }, "main"))
            }
        }
    }
}

/// Runs, a line for each.
pub(crate) fn table(runs: &[RunStatus]) -> Markup {
    html! {
        @if runs.is_empty() { p.empty { "No runs yet." } }
        @else {
            div.scroll tabindex="0" role="region" aria-label="Runs" {
                table {
                    thead { tr { th scope="col" { "Run" } th scope="col" { "State" } th scope="col" { "Begun" } th scope="col" { "Ended" } } }
                    tbody {
                        @for run in runs {
                            tr {
                                th scope="row" { a href={ "/runs/" (run.number) } { "Run " (run.number) } @if !run.is_present { " " small { "of an earlier version" } } }
                                td { (state(run.state)) " " (where_it_stands(run)) }
                                td.time { (run.started.as_deref().unwrap_or("")) }
                                td.time { (run.ended.as_deref().unwrap_or("")) }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The state of a run.
pub(crate) fn state(state: RunState) -> Markup {
    let tone = match state {
        RunState::Done | RunState::Settling => Tone::Good,
        RunState::Asking | RunState::Stopped | RunState::Approved => Tone::Wait,
        RunState::Failed | RunState::Refused => Tone::Bad,
        RunState::Running | RunState::GivenUp => Tone::Plain,
    };
    badge(tone, state.words())
}

/// The sites with which a run that is under way has no connection.
pub(crate) fn missing(run: &RunStatus) -> &[String] {
    let standing = run
        .standing
        .as_ref()
        .filter(|_| run.state == RunState::Running);
    standing
        .map(|one| one.waiting_for.as_slice())
        .unwrap_or_default()
}

/// Whom a run waits for, or its step.
pub(crate) fn where_it_stands(run: &RunStatus) -> Markup {
    let standing = run
        .standing
        .as_ref()
        .filter(|_| run.state == RunState::Running);
    html! { @if let Some(standing) = standing { span { (standing.words()) } } }
}
