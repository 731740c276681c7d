//! `/ledger`: what every other site has learned through this site's runs, over all of them.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use hedgerow::words::thousands;
use hedgerow::{LearnedInAll, SiteLedger};
use maud::{Markup, html};

use crate::console::Console;
use crate::extract::Query;
use crate::guard::Visit;
use crate::html::failure::Failure;
use crate::html::layout::Page;
use crate::html::parts::{live, pages, shell};
use crate::pages::{Asked, no_study};

/// Runs that are named one by one; of more, the first and the last are.
const NAMED: usize = 8;
/// Sites of a page.
const OF_A_PAGE: usize = 10;

const PLACE: (&str, &str) = ("Ledger", "/ledger");

/// `GET /ledger`.
pub(crate) async fn page(
    State(console): State<Arc<Console>>,
    Extension(visit): Extension<Visit>,
    Query(asked): Query<Asked>,
) -> Result<Response, Failure> {
    let ledger = match console.ask(|site| site.ledger()).await {
        Ok(ledger) => ledger,
        Err(failure) => return Ok(no_study::page(&console, &visit, PLACE, failure).await),
    };
    let (number, of) = asked.among(ledger.sites.len(), OF_A_PAGE);
    let body = html! {
        h1 { "Ledger" }
        p.lead { "What each other site has learned through this one’s runs and questions, since the beginning: also in runs that failed or were given up. Names and counts, never a value. The page " a href="/study" { "Study" } " says of each line what is told, and what could be worked out from it." }
        (live("ledger", &html! {
            @if ledger.sites.is_empty() { p.empty { "No other site has learned anything." } }
            @for (place, (site, learned)) in ledger.sites.iter().enumerate().skip((number - 1) * OF_A_PAGE).take(OF_A_PAGE) {
                (of_site(&ledger, place, site, learned))
            }
        }))
        (pages("/ledger", number, of))
    };
    let page = Page {
        title: PLACE.0,
        place: PLACE.1,
        body,
        commands: vec![format!("hedgerow ledger --site {}", shell(console.path()))],
    };
    Ok(page.show(&console, &visit).await)
}

fn of_site(ledger: &SiteLedger, number: usize, site: &str, learned: &[LearnedInAll]) -> Markup {
    let id = format!("site-{number}");
    let by_questions = ledger
        .questions
        .learned
        .iter()
        .filter(|line| line.to == site);
    html! {
        section aria-labelledby=(id) {
            h2 id=(id) { (site) " has learned" }
            div.scroll tabindex="0" role="region" aria-labelledby=(id) {
                table.wide {
                    thead { tr {
                        th scope="col" { "What" } th.number scope="col" { "Values" } th scope="col" { "To" }
                        th scope="col" { "Allowed by" } th scope="col" { "Runs" }
                    } }
                    tbody {
                        @for line in learned {
                            tr {
                                th scope="row" {
                                    (line.what)
                                    @if let Some(caveat) = &line.caveat { " " small { (caveat) } }
                                }
                                td.number {
                                    (thousands(line.values))
                                    @if line.ended_early > 0 { " " small { "at most: " (line.ended_early) " calls ended early" } }
                                }
                                td { (line.to) }
                                td { (line.allowed_by) }
                                td { (runs(&line.runs)) }
                            }
                        }
                        @for line in by_questions {
                            tr {
                                th scope="row" { (line.what) }
                                td.number { (thousands(line.values)) }
                                td { (line.to) }
                                td { (line.calls) " questions of " (line.asker) }
                                td {}
                            }
                        }
                    }
                }
            }
        }
    }
}

fn runs(runs: &[u32]) -> String {
    match runs {
        [] => String::new(),
        [first, .., last] if runs.len() > NAMED => {
            format!("{} runs, {first} to {last}", runs.len())
        }
        _ => runs
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(", "),
    }
}
