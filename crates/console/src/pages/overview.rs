//! `/`: is the node up, who was heard when, what is the next step and whose it is, runs and releases.

mod steps;

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use hedgerow::node::agreement::{Agreement, Standing};
use hedgerow::{NodeStatus, RunList, Site};
use maud::{Markup, html};

use crate::console::Console;
use crate::guard::Visit;
use crate::html::failure::Failure;
use crate::html::layout::Page;
use crate::html::parts::{Tone, badge, hash, live, shell, told};
use crate::pages::{SITES, no_study, releases, runs};
use steps::{Is, Step};

/// Runs and releases that are shown here.
const LATEST: usize = 5;

/// What is known of the site.
struct Facts {
    /// The study and all that follows from it; or why it cannot be read.
    known: Result<Known, String>,
    /// Whether the study's file is there.
    has_study: bool,
    /// The latest releases, and how many there are.
    releases: Vec<releases::Line>,
    released: usize,
}

/// What is known where there is a study.
struct Known {
    study: String,
    hash: String,
    /// The sites and whether each has signed; this site's name.
    signed: Vec<(String, bool)>,
    own: String,
    node: NodeStatus,
    runs: RunList,
}

/// `GET /`.
pub(crate) async fn page(
    State(console): State<Arc<Console>>,
    Extension(visit): Extension<Visit>,
) -> Result<Response, Failure> {
    let facts = console.ask(|site| Ok(look(site))).await?;
    let site = shell(console.path());
    let steps = steps::steps(&facts, &site);
    let body = html! {
        h1 { "Overview" }
        (live("overview", &html! {
            @match &facts.known {
                Ok(known) => (head(known)),
                Err(why) if facts.has_study => div.said.bad { h2 { "The study cannot be read" } (told(why)) },
                // The next step says so.
                Err(_) => {},
            }
            (next(&facts, &steps, &visit))
            div.columns {
                @if let Ok(known) = &facts.known { (node(known)) }
                (path(&steps))
            }
            @if let Ok(known) = &facts.known {
                section aria-labelledby="runs" {
                    h2 #runs { a href="/runs" { "Runs" } " " small { (known.runs.total) } }
                    (runs::table(&known.runs.runs))
                }
            }
            section aria-labelledby="releases" {
                h2 #releases { a href="/releases" { "Releases" } " " small { (facts.released) } }
                (releases::table(&facts.releases))
            }
        }))
    };
    let page = Page {
        title: "Overview",
        place: "/",
        body,
        commands: vec![format!("hedgerow status --site {site}")],
    };
    Ok(page.show(&console, &visit).await)
}

fn look(site: &Site) -> Facts {
    let releases = site.releases();
    Facts {
        has_study: site.file().study.exists(),
        known: known(site).map_err(|error| error.without_values()),
        released: releases.len(),
        releases: releases::lines(&releases[..releases.len().min(LATEST)]),
    }
}

fn known(site: &Site) -> Result<Known, hedgerow::Error> {
    let agreement = Agreement::open(&site.file().study)?;
    let standings = agreement.standings().unwrap_or_default();
    let sites = agreement.study.sites.iter().zip(standings);
    let signed = sites.map(|(one, standing)| (one.name.clone(), standing == Standing::Signed));
    Ok(Known {
        study: agreement.study.name.clone(),
        hash: agreement.hash.to_string(),
        signed: signed.collect(),
        own: site.file().name.clone(),
        node: site.node()?,
        runs: site.runs(0, LATEST)?,
    })
}

fn head(known: &Known) -> Markup {
    html! {
        p.lead {
            "Site " strong { (known.own) } " in the study " strong { (known.study) } " " (hash(&known.hash)) " "
            @if known.node.is_up { (badge(Tone::Good, "node up")) } @else { (badge(Tone::Bad, "node down")) }
        }
    }
}

/// The next step, and whether it is of whoever looks.
fn next(facts: &Facts, steps: &[Step], visit: &Visit) -> Markup {
    let now = steps.iter().find(|step| step.is == Is::Now);
    let asking = facts.known.as_ref().ok().and_then(steps::asking);
    if !facts.has_study {
        return no_study::none_yet(visit);
    }
    html! {
        section.next aria-labelledby="next" {
            @match now {
                Some(step) => {
                    @let is_own = step.whose == Some(visit.role);
                    h2 #next {
                        @if is_own { "Your next step: " } @else { "The next step: " }
                        @match asking.filter(|_| is_own && step.title == steps::RUN) {
                            Some(number) => { "Decide about run " (number) },
                            None => (step.title),
                        }
                    }
                    (told(&step.words))
                    @if !is_own {
                        p.quiet { @match step.whose {
                            Some(role) => { "This is for the " (role) "." },
                            None => { "This is for other sites; nothing is to be done here." },
                        } }
                    }
                    @if let Some((path, words)) = step.link { p { a.button href=(path) { (words) } } }
                    @if let Some(command) = &step.command { pre tabindex="0" { code { (command) } } }
                },
                None => {
                    h2 #next { "Nothing to do" }
                    p { "The last run is over, and its release is there." }
                },
            }
        }
    }
}

fn node(known: &Known) -> Markup {
    let node = &known.node;
    html! {
        section aria-labelledby="node" {
            h2 #node { "Node and peers" }
            p {
                @match (&node.since, &node.address) {
                    (Some(since), Some(address)) => { "Up since " (since) ", at " code { (address) } "." },
                    _ if node.is_up => { "Up; it has just begun." },
                    _ => { "Down. No run begins here, and peers wait for this site." },
                }
            }
            @if let Some(why) = &node.unfit_source {
                div.said.bad { p { strong { "The rows cannot be read." } } (told(why)) }
            }
            @if node.serves_other || node.has_older_file {
                div.said.wait {
                    @if node.serves_other { p { "The node serves another version of the study than the file has now." } }
                    @if node.has_older_file { p { "The node goes by the rules of this site’s file as they were before a change; pages show the file as it is now." } }
                    p.hint { strong { "Next step: " } "have the node read both anew. Nothing is stopped by it: a run that is under way ends as it began, and the node refuses a study that is not signed by all. Whoever looks after the node’s machine types there, where the node is a service," }
                    pre tabindex="0" { code { "systemctl reload hedgerow-node" } }
                    p { "and otherwise" }
                    pre tabindex="0" { code { "pkill -HUP -f 'hedgerow node'" } }
                }
            }
            table {
                thead { tr { th scope="col" { "Peer" } th scope="col" { "Signed" } th scope="col" { "Heard" } } }
                tbody {
                    @for peer in node.peers.iter().take(SITES) {
                        @let has_signed = known.signed.iter().any(|(name, signed)| *name == peer.site && *signed);
                        tr {
                            th scope="row" { (peer.site) }
                            td { @if has_signed { (badge(Tone::Good, "signed")) } @else { (badge(Tone::Wait, "not yet")) } }
                            td { @if peer.is_connected { (badge(Tone::Good, "connected")) } @else { (peer.words()) } }
                        }
                    }
                }
            }
            @if node.peers.len() > SITES { p.quiet { "And " (node.peers.len() - SITES) " more." } }
        }
    }
}

/// The whole way, from the draft to the release.
fn path(steps: &[Step]) -> Markup {
    html! {
        section aria-labelledby="way" {
            h2 #way { "From draft to release" }
            ol.way {
                @for step in steps {
                    li class=(step.is.class()) {
                        span { (step.title) }
                        " " small { (step.is.words()) }
                    }
                }
            }
        }
    }
}
