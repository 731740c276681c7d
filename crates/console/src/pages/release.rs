//! `/releases/{number}`: one release: does it hold, what do attacks bring down, what was lost, who signed, a few
//! of its rows, its files and its report.

mod files;
mod found;

use std::path::Path as FilePath;
use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::response::{IntoResponse as _, Redirect, Response};
use hedgerow::node::source::Source;
use hedgerow::words::{percent, thousands};
use hedgerow::{Manifest, Questions, Release, ReleaseOf, Site, Study, Suspicion, Table};
use maud::{Markup, html};

use crate::console::Console;
use crate::extract::Path;
use crate::guard::Visit;
use crate::html::failure::Failure;
use crate::html::layout::Page;
use crate::html::parts::{bar, button, figure, hash, live, shell, told};
use crate::jobs::{Alone, Found, Job, What};
use crate::pages::SITES;
use crate::routes::may_send;

pub(crate) use files::{file, report};

/// `GET /releases/{number}`.
pub(crate) async fn page(
    State(console): State<Arc<Console>>,
    Extension(visit): Extension<Visit>,
    Path(number): Path<u32>,
) -> Result<Response, Failure> {
    let release = find(&console, number).await?;
    let seen = release.clone();
    let (manifest, sample) = console
        .ask(move |_| {
            let manifest = Release::open(&seen.folder)?.manifest()?;
            let sample = files::sample(&seen.folder, &manifest);
            Ok((manifest, sample))
        })
        .await?;
    let checked = release.clone();
    let verdict = console
        .job(What::Verdict, &release.folder, move |site| {
            check(site, &checked)
        })
        .await;
    let known = |what| console.jobs.known(what, &release.folder);
    let (gate, alone) = (known(What::Gate), known(What::Alone));
    let title = match release.is_virtual {
        true => format!("What all sites know of run {number}"),
        false => format!("Release {number}"),
    };
    let body = html! {
        h1 { (title) }
        (live("found", &html! {
            (found::verdict(&verdict))
            (figures(&manifest, alone.as_ref()))
            (may_compare(&visit, number, release.is_virtual, alone.as_ref()))
            (found::gate(gate.as_ref()))
            @if may_send("/releases/{number}/gate", visit.role) && !matches!(gate, Some(Job::Running)) && !release.is_virtual {
                (button(&visit, &format!("/releases/{number}/gate"), if gate.is_some() { "Attack it again" } else { "Attack it" }, "quiet"))
            }
        }))
        (files::rows(&sample))
        (files::list(number, &manifest))
        (signatures(&manifest))
    };
    let folder = shell(&release.folder);
    let study = console.ask(|site| Ok(shell(&site.file().study))).await?;
    let page = Page {
        title: &title,
        place: "/releases",
        body,
        commands: vec![
            format!("hedgerow verify {folder} --study {study}"),
            format!("hedgerow gate {folder} --study {study}"),
            format!("hedgerow report {folder} --study {study}"),
        ],
    };
    Ok(page.show(&console, &visit).await)
}

/// `POST /releases/{number}/gate`: the known attacks, with the earlier releases of this site beside it.
pub(crate) async fn gate(
    State(console): State<Arc<Console>>,
    Extension(visit): Extension<Visit>,
    Path(number): Path<u32>,
) -> Result<Response, Failure> {
    let release = find(&console, number).await?;
    console
        .note(visit.entry("release attacked", format!("release {number}")))
        .await?;
    let folder = release.folder.clone();
    console.begin(What::Gate, &folder, move |site| attack(site, &release));
    Ok(back(number))
}

/// `POST /releases/{number}/alone`: what this site would lose alone.
pub(crate) async fn alone(
    State(console): State<Arc<Console>>,
    Extension(visit): Extension<Visit>,
    Path(number): Path<u32>,
) -> Result<Response, Failure> {
    let release = find(&console, number).await?;
    let source = console.ask(|site| Ok(site.file().source.clone())).await?;
    let Source::File(rows) = source else {
        return Err(Failure::wrong(
            "this site's rows are in no file\nhint: write them to a file once, and hedgerow report --own says what the site would lose alone",
        ));
    };
    console
        .note(visit.entry("compared with alone", format!("release {number}")))
        .await?;
    console.begin(What::Alone, &release.folder, move |site| {
        by_itself(site, &rows)
    });
    Ok(back(number))
}

fn back(number: u32) -> Response {
    Redirect::to(&format!("/releases/{number}")).into_response()
}

/// The release of a run.
pub(super) async fn find(console: &Arc<Console>, number: u32) -> Result<ReleaseOf, Failure> {
    let found = console.ask(move |site| Ok(site.release(number))).await?;
    found.ok_or_else(|| Failure::absent(&format!("run {number} ended with no release here")))
}

fn check(site: &Site, release: &ReleaseOf) -> Result<Found, hedgerow::Error> {
    let (opened, is_by_study) = release.open(site)?;
    let verdict = hedgerow::verify(&opened, &Questions::default())?;
    Ok(Found::Verdict {
        verdict: Box::new(verdict),
        is_by_study,
    })
}

fn attack(site: &Site, release: &ReleaseOf) -> Result<Found, hedgerow::Error> {
    let (opened, _) = release.open(site)?;
    let earlier = site
        .releases()
        .into_iter()
        .filter(|one| one.run < release.run && !one.is_virtual);
    let suspicion = Suspicion {
        earlier: earlier.map(|one| one.folder).collect(),
        ..Suspicion::default()
    };
    Ok(Found::Gate(hedgerow::gate(&opened, &suspicion)?))
}

fn by_itself(site: &Site, rows: &FilePath) -> Result<Found, hedgerow::Error> {
    let study = Study::open(&site.file().study)?;
    let (records, alone) = hedgerow::alone(&study, &Table::file(rows))?;
    let loss = alone.map(|alone| (alone.classes, alone.ncp));
    Ok(Found::Alone(Alone { records, loss }))
}

/// What it achieves and loses, beside what this site would lose alone.
fn figures(manifest: &Manifest, alone: Option<&Job>) -> Markup {
    let said = manifest.statement().map(|(said, _)| said);
    let achieved = &manifest.achieved;
    let beside = match alone {
        Some(Job::Done(found)) => match &**found {
            Found::Alone(alone) => Some(alone),
            _ => None,
        },
        _ => None,
    };
    html! {
        dl.figures {
            @if let Some(said) = said {
                (figure("Day", &said.date))
                (figure("Records", thousands(said.records)))
                (figure("Classes", thousands(said.classes)))
                (figure("Algorithm", format!("{}, {}", said.algorithm, said.security)))
            }
            (figure("Sites", manifest.sites))
            @if let Some(k) = achieved.k { (figure("k", thousands(k))) }
            @if let Some(l) = achieved.l_distinct { (figure("Distinct values", l)) }
            (figure("Rounds", thousands(manifest.cost.rounds)))
            (figure("Bytes sent", thousands(manifest.cost.bytes)))
        }
        section aria-labelledby="loss" {
            h2 #loss { "What was lost" }
            table.losses {
                thead { tr { th scope="col" { "Published" } th.number scope="col" { "Classes" } th.number scope="col" { "Loss" } th scope="col" { span.unseen { "As a bar" } } } }
                tbody {
                    tr {
                        th scope="row" { "Together" }
                        td.number { @if let Some(said) = said { (thousands(said.classes)) } }
                        td.number { (percent(manifest.utility.ncp)) }
                        td { (bar(manifest.utility.ncp)) }
                    }
                    @if let Some(alone) = beside {
                        tr {
                            th scope="row" { "This site alone, " (thousands(alone.records)) " records" }
                            @match &alone.loss {
                                Ok((classes, ncp)) => {
                                    td.number { (thousands(*classes)) }
                                    td.number { (percent(*ncp)) }
                                    td { (bar(*ncp)) }
                                },
                                Err(model) => td colspan="3" { "cannot publish: its rows alone do not satisfy " (model) },
                            }
                        }
                    }
                }
            }
            @match alone {
                Some(Job::Running) => p.quiet { "What this site would lose alone is being found." },
                Some(Job::Failed(why)) => div.said.bad { (told(why)) },
                _ => {},
            }
        }
    }
}

fn may_compare(visit: &Visit, number: u32, is_virtual: bool, alone: Option<&Job>) -> Markup {
    let may = may_send("/releases/{number}/alone", visit.role) && alone.is_none() && !is_virtual;
    html! {
        @if may { (button(visit, &format!("/releases/{number}/alone"), "Compare with publishing alone", "quiet")) }
    }
}

fn signatures(manifest: &Manifest) -> Markup {
    html! {
        section aria-labelledby="signed" {
            h2 #signed { "Who signed" }
            @if manifest.signatures.is_empty() { p.empty { "Nobody." } }
            @else {
                div.scroll tabindex="0" role="region" aria-labelledby="signed" {
                    table.small {
                        thead { tr { th scope="col" { "Site" } th scope="col" { "Key" } th scope="col" { "Signature" } } }
                        tbody {
                            @for one in manifest.signatures.iter().take(SITES) {
                                tr { th scope="row" { (one.site) } td { code { (one.key) } } td { (hash(&one.signature)) } }
                            }
                        }
                    }
                }
                @if manifest.signatures.len() > SITES { p.quiet { "And " (manifest.signatures.len() - SITES) " more." } }
                p.quiet { "Whether the signatures are right is part of the verdict above." }
            }
        }
    }
}
