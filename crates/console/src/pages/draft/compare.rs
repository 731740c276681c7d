//! Which algorithm and which recoding serve the table best, as a chart: what `hedgerow compare` says.

use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use hedgerow::words::{count, percent};
use hedgerow::{Comparison, Measured, Options, Row, Tried};
use maud::{Markup, html};

use super::{Now, back, change, fit, now, opened};
use crate::console::Console;
use crate::drafts::edit;
use crate::guard::{Fields, Visit};
use crate::html::failure::Failure;
use crate::html::layout::csrf;
use crate::html::parts::{Tone, badge, bar, button, told};
use crate::jobs::{Found, Job, What};
use crate::routes::may_send;

/// The time of all choices together.
const TIME: Duration = Duration::from_secs(30);

/// `POST /draft/compare`.
pub(crate) async fn compare(
    State(console): State<Arc<Console>>,
    Extension(visit): Extension<Visit>,
) -> Result<Response, Failure> {
    let now = now(&console).await?.ok_or_else(no_draft)?;
    if now.table.is_none() {
        return Err(Failure::wrong(
            "there is no table to compare by\nhint: begin a draft of a table that you send",
        ));
    }
    console.note(visit.entry("draft compared", "")).await?;
    let (drafts, key) = (
        console.drafts.clone(),
        fit::key(What::Compare, &console.drafts, &now),
    );
    console.begin_of(key, move |site| {
        let (study, table) = opened(&drafts, site.file())?;
        // The table was there a moment ago; one that is gone is told as such.
        let table =
            table.unwrap_or_else(|| hedgerow::Table::file(drafts.folder().join("table.csv")));
        let comparison = hedgerow::compare(&study, &table, &Options::new().time(TIME))?;
        Ok(Found::Compare(Box::new(comparison)))
    });
    Ok(back())
}

/// `POST /draft/choose`: the lines of a choice go into the draft.
pub(crate) async fn choose(
    State(console): State<Arc<Console>>,
    Extension(visit): Extension<Visit>,
    Extension(fields): Extension<Fields>,
) -> Result<Response, Failure> {
    let now = now(&console).await?.ok_or_else(no_draft)?;
    let job = console
        .jobs
        .known_of(&fit::key(What::Compare, &console.drafts, &now));
    let found = match job {
        Some(Job::Done(found)) => Some(found),
        _ => None,
    };
    let place = fields.get("row").parse::<usize>().ok();
    let lines = found.as_deref().and_then(|found| match found {
        Found::Compare(comparison) => {
            let row = comparison.choices.get(place?)?;
            Some(row.choice.lines.clone()).filter(|lines| !lines.is_empty())
        }
        _ => None,
    });
    let lines = lines.ok_or_else(|| {
        Failure::wrong(
            "this choice was not compared for the draft as it is now\nhint: compare again",
        )
    })?;
    let (drafts, text) = (console.drafts.clone(), now.text.clone());
    let chosen = change(&console, move |_| {
        let text = edit::with_algorithm(&text, &lines).map_err(Failure::wrong)?;
        drafts.change(&text, &[], true)?;
        Ok(())
    });
    let done = |(): &()| String::from("the draft has the algorithm that was chosen");
    console
        .carry_out(
            &visit,
            ("draft changed", String::from("algorithm")),
            chosen,
            done,
        )
        .await?;
    Ok(back())
}

pub(super) fn no_draft() -> Failure {
    Failure::wrong("there is no draft\nhint: begin one on the page of the draft")
}

/// The section with the chart.
pub(super) fn section(console: &Arc<Console>, now: &Now, visit: &Visit) -> Markup {
    let job = console
        .jobs
        .known_of(&fit::key(What::Compare, &console.drafts, now));
    let may = may_send("/draft/compare", visit.role) && now.table.is_some();
    html! {
        section aria-labelledby="compare" {
            h2 #compare { "Which algorithm serves the table best?" }
            @match &job {
                None => p { "Not compared yet, for the draft as it is now. It takes about " (TIME.as_secs()) " seconds; no release is written." },
                Some(Job::Running) => p { (badge(Tone::Wait, "being compared")) " Each algorithm has a share of " (TIME.as_secs()) " seconds." },
                Some(Job::Failed(why)) => div.said.bad { (told(why)) },
                Some(Job::Done(found)) => @if let Found::Compare(comparison) = &**found { (chart(comparison, visit, may)) },
            }
            @if may && !matches!(job, Some(Job::Running)) {
                (button(visit, "/draft/compare", if job.is_some() { "Compare again" } else { "Compare" }, "quiet"))
            }
        }
    }
}

fn chart(comparison: &Comparison, visit: &Visit, may: bool) -> Markup {
    let recommended = comparison.recommended.as_ref();
    let measured = comparison.choices.iter().filter_map(Row::measured);
    let most = measured
        .map(|one| one.loss)
        .fold(f64::MIN_POSITIVE, f64::max);
    html! {
        @if let Some(found) = recommended { p { (badge(Tone::Good, "recommended")) " " (comparison.choices[found.row].choice.words()) ": " (found.because) } }
        @else { p { (badge(Tone::Bad, "none holds")) " No choice satisfies the requirement on this table." } }
        div.scroll tabindex="0" role="region" aria-labelledby="compare" {
            table.small {
                thead { tr {
                    th scope="col" { "Choice" } th scope="col" { "Detail lost (NCP)" } th.number scope="col" { "Error of queries" }
                    th.number scope="col" { "Highest risk" } th.number scope="col" { "Groups" } th.number scope="col" { "Time" } th scope="col" { span.unseen { "Take it" } }
                } }
                tbody {
                    @for (place, row) in comparison.choices.iter().enumerate() {
                        tr {
                            th scope="row" { (row.choice.words()) @if row.choice.own { " " small { "the draft’s own" } } }
                            @match &row.tried {
                                Tried::Measured(measured) => (numbers(measured, most)),
                                Tried::Refused { reason } => td colspan="5" { (badge(Tone::Bad, "no release")) " " (reason) },
                                Tried::NotRun { reason } => td colspan="5" { (badge(Tone::Plain, "not run")) " " (reason) },
                                _ => td colspan="5" {},
                            }
                            td { @if may && !row.choice.own && row.measured().is_some_and(|one| one.holds) && !row.choice.lines.is_empty() { (take(place, row, visit)) } }
                        }
                    }
                }
            }
        }
        @for note in &comparison.notes { p.quiet { (note) } }
        p.quiet { "The rule: " (comparison.rule) "." }
    }
}

fn numbers(measured: &Measured, most: f64) -> Markup {
    html! {
        td { (percent(measured.loss)) (bar(measured.loss / most)) @if !measured.holds { (badge(Tone::Bad, "does not hold")) } }
        td.number { @if let Some(error) = measured.query_error { (percent(error.mean)) } }
        td.number { (percent(measured.risk.highest)) }
        td.number { (count(measured.classes.count, "group", "groups")) }
        td.number { (format!("{:.1} s", measured.seconds)) }
    }
}

fn take(place: usize, row: &Row, visit: &Visit) -> Markup {
    html! {
        form.one method="post" action="/draft/choose" {
            (csrf(visit))
            input type="hidden" name="row" value=(place);
            button.quiet type="submit" { "Take it" span.unseen { ": " (row.choice.words()) } }
        }
    }
}
