//! `/runs/{number}`: one run, wave by wave and peer by peer, and what may be done about it.

mod deciding;

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::response::{IntoResponse as _, Redirect, Response};
use hedgerow::words::thousands;
use hedgerow::{ReleaseOf, RunState, RunStatus};
use maud::{Markup, html};
use serde_json::Value;

pub(crate) use deciding::{approve, refuse};

use super::no_study;
use super::runs::{missing, state, where_it_stands};
use crate::console::Console;
use crate::decisions::Decision;
use crate::extract::Path;
use crate::guard::{Fields, Visit};
use crate::html::failure::Failure;
use crate::html::layout::{Page, csrf};
use crate::html::parts::{Tone, badge, button, figure, hash, live, password_again, shell, told};
use crate::routes::may_send;

/// `GET /runs/{number}`.
pub(crate) async fn page(
    State(console): State<Arc<Console>>,
    Extension(visit): Extension<Visit>,
    Path(number): Path<u32>,
) -> Result<Response, Failure> {
    let title = format!("Run {number}");
    let found = console
        .ask(move |site| {
            let run = site.run_status(number)?;
            // A run that was asked for a moment ago is known as soon as the node has begun it.
            let is_due = run.is_none() && site.runs(0, 0)?.due == number;
            Ok((run, site.release(number), is_due))
        })
        .await;
    let (run, release, is_due) = match found {
        Ok(found) => found,
        Err(failure) => {
            let place = (&*title, "/runs");
            return Ok(no_study::page(&console, &visit, place, failure).await);
        }
    };
    if run.is_none() && !is_due {
        return Err(Failure::absent(&format!(
            "this site knows of no run {number}"
        )));
    }
    let words = match &run {
        Some(run) => deciding::words(&console, (&run.study_hash, number)).await?,
        None => Vec::new(),
    };
    let site = shell(console.path());
    let now = match &run {
        Some(run) => stands(run, release.as_ref(), &words, &visit),
        None => html! {
            p.lead { "This run has not begun here yet. Once this site’s node is asked for it and begins, this page shows how far it is." }
        },
    };
    let body = html! {
        h1 { "Run " (number) }
        (live("run", &now))
    };
    let commands = match run.map(|run| run.state) {
        None => vec![format!("hedgerow run --site {site} --number {number}")],
        Some(RunState::Asking) => vec![
            format!("hedgerow run approve {number} --site {site}"),
            format!("hedgerow run refuse {number} --site {site}"),
        ],
        Some(state) if state.is_over() => vec![format!("hedgerow status --site {site}")],
        Some(_) => vec![
            format!("hedgerow run --site {site} --number {number}"),
            format!("hedgerow run --site {site} --number {number} --abandon"),
        ],
    };
    let page = Page {
        title: &title,
        place: "/runs",
        body,
        commands,
    };
    Ok(page.show(&console, &visit).await)
}

/// `POST /runs/{number}/start`: asks this site's node to take its part.
pub(crate) async fn start(
    State(console): State<Arc<Console>>,
    Extension(visit): Extension<Visit>,
    Path(number): Path<u32>,
) -> Result<Response, Failure> {
    let site = shell(console.path());
    let ring = async {
        match console
            .act(async move |site| site.ring(number).await)
            .await?
        {
            true => Ok(()),
            false => Err(Failure::wrong(format!(
                "this site's node is down\nhint: hedgerow node --site {site} starts it"
            ))),
        }
    };
    let what = ("run started", format!("run {number}"));
    let done = |(): &()| format!("the node has taken run {number}");
    console.carry_out(&visit, what, ring, done).await?;
    Ok(back(number))
}

/// `POST /runs/{number}/give-up`.
pub(crate) async fn give_up(
    State(console): State<Arc<Console>>,
    Extension(visit): Extension<Visit>,
    Path(number): Path<u32>,
    Extension(fields): Extension<Fields>,
) -> Result<Response, Failure> {
    console.confirm(&visit, fields.get("password")).await?;
    let abandon = console.act(async move |site| site.abandon(number).await);
    let what = ("run given up", format!("run {number}"));
    let done = |next: &u32| {
        format!(
            "run {number} was given up; nothing of it is kept but its number and what was learned\nhint: the others give it up too; run {next} is the next"
        )
    };
    console.carry_out(&visit, what, abandon, done).await?;
    Ok(back(number))
}

fn back(number: u32) -> Response {
    Redirect::to(&format!("/runs/{number}")).into_response()
}

/// How a run stands, and what may be done about it.
fn stands(
    run: &RunStatus,
    release: Option<&ReleaseOf>,
    words: &[Decision],
    visit: &Visit,
) -> Markup {
    html! {
        p.lead { (state(run.state)) " " (where_it_stands(run)) }
        @if let Some(why) = &run.reason {
            @let why = reason(why, run);
            div.said.wait {
                (told(&why))
                @if run.state == RunState::Failed && why.contains("hedgerow run ") && may_send("/runs/{number}/give-up", visit.role) {
                    p { "What a command is named for here, the buttons below do too." }
                }
            }
        }
        (deciding::decided(words))
        (waits(missing(run)))
        @if let Some(release) = release { (released(release)) }
        (acts(run, visit))
        (times(run))
        div.columns { (steps(run)) (peers(run)) }
    }
}

/// Why a run waits or failed; what a shell would do next is done by the buttons below.
fn reason(why: &str, run: &RunStatus) -> String {
    match run.state {
        RunState::Asking => format!("it waits because {why}"),
        RunState::Failed => {
            // A run that failed asks nobody, and has no button to approve it.
            let command = format!("hedgerow run approve {}", run.number);
            let why = why.replace(&command, "the word of the privacy officer");
            format!("it failed: {why}")
        }
        _ => why.to_owned(),
    }
}

/// Which sites a run that is under way waits for, and what is to be done.
fn waits(missing: &[String]) -> Markup {
    html! {
        @if !missing.is_empty() {
            div.said.wait {
                p { strong { "Not connected with " (missing.join(", ")) "." } " The run waits, and nothing of it is lost." }
                p.hint {
                    strong { "Next step: " }
                    "ask there whether the node is up. As soon as it is back, the run goes on where it stands; here nothing is to be done."
                }
            }
        }
    }
}

fn released(release: &ReleaseOf) -> Markup {
    html! {
        p { a.button href={ "/releases/" (release.run) } {
            @if release.is_virtual { "To what all sites know" } @else { "To the release" }
        } }
    }
}

/// What may be done about a run by whoever looks.
fn acts(run: &RunStatus, visit: &Visit) -> Markup {
    let number = run.number;
    let may = |what: &str| may_send(&format!("/runs/{{number}}/{what}"), visit.role);
    let is_asking = run.state == RunState::Asking;
    let may_start = matches!(run.state, RunState::Failed | RunState::Stopped) && run.is_present;
    let may_give_up =
        matches!(run.state, RunState::Failed | RunState::Stopped) && run.started.is_some();
    html! {
        @if is_asking && may("approve") {
            (deciding::forms(visit, number))
        }
        @if is_asking && !may("approve") { p.quiet { "The privacy officer decides about this run." } }
        @if may_start && may("start") {
            section.next aria-labelledby="go-on" {
                h2 #go-on { "Go on" }
                p { "The run goes on where it stands; what was sent before is not sent differently." }
                (button(visit, &format!("/runs/{number}/start"), "Go on with it", "main"))
            }
        }
        @if may_give_up && may("give-up") {
            details #give-up {
                summary { "Give it up" }
                p { "Nothing of the run is kept but its number and what was learned, and the peers are told. This cannot be undone." }
                (sure(visit, number, "give-up", "Give the run up", "danger"))
            }
        }
    }
}

/// A form that wants the password again.
fn sure(visit: &Visit, number: u32, what: &str, words: &str, class: &str) -> Markup {
    let id = format!("password-{what}");
    html! {
        form.sheet method="post" action={ "/runs/" (number) "/" (what) } {
            (csrf(visit))
            (password_again(&id))
            button class=(class) type="submit" { (words) }
        }
    }
}

/// A time, unless it is empty: a run that was refused before it began has none.
fn said(time: Option<&str>) -> Option<&str> {
    time.filter(|time| !time.is_empty())
}

fn times(run: &RunStatus) -> Markup {
    let summary = run.standing.as_ref().and_then(|one| one.answer.as_ref());
    let summary: Option<Value> = summary.and_then(|(_, json, _)| serde_json::from_str(json).ok());
    let cost = |key: &str| summary.as_ref().and_then(|one| one["cost"][key].as_u64());
    let seconds = summary
        .as_ref()
        .and_then(|one| one["cost"]["seconds"].as_f64());
    html! {
        dl.figures {
            @if let Some(started) = said(run.started.as_deref()) { (figure("Begun", started)) }
            @if let Some(ended) = said(run.ended.as_deref()) { (figure("Ended", ended)) }
            (figure("Study", hash(&run.study_hash)))
            @if let Some(rounds) = cost("rounds") { (figure("Rounds", thousands(rounds))) }
            @if let Some(messages) = cost("messages") { (figure("Messages", thousands(messages))) }
            @if let Some(bytes) = cost("bytes") { (figure("Bytes sent", thousands(bytes))) }
            @if let Some(seconds) = seconds { (figure("Took", format!("{seconds:.1} s"))) }
        }
    }
}

fn steps(run: &RunStatus) -> Markup {
    let steps = run
        .standing
        .as_ref()
        .map(|one| one.steps.as_slice())
        .unwrap_or_default();
    html! {
        section aria-labelledby="steps" {
            h2 #steps { "Step by step" }
            @if steps.is_empty() { p.empty { "No step is known here." } }
            @else {
                ol.steps {
                    @for step in steps { li { (step) } }
                }
            }
        }
    }
}

fn peers(run: &RunStatus) -> Markup {
    let missing = missing(run);
    let is_running = run.state == RunState::Running;
    html! {
        @if !run.peers.is_empty() {
            section aria-labelledby="peers" {
                h2 #peers { "Peer by peer" }
                table {
                    thead { tr { th scope="col" { "Peer" } th.number scope="col" { "Sent" } th.number scope="col" { "Received" } @if is_running { th scope="col" { "Line" } } } }
                    tbody {
                        @for peer in &run.peers {
                            tr {
                                th scope="row" { (peer.site) }
                                td.number { (thousands(peer.sent)) }
                                td.number { (thousands(peer.received)) }
                                @if is_running {
                                    td {
                                        @if missing.contains(&peer.site) { (badge(Tone::Wait, "waited for")) }
                                        @else { (badge(Tone::Good, "connected")) }
                                    }
                                }
                            }
                        }
                    }
                }
                p.quiet { "Counted in frames, the pieces in which messages travel. Each is written down before it is used." }
            }
        }
    }
}
