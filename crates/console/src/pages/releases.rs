//! `/releases`: what runs ended with, newest first.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use hedgerow::words::{percent, thousands};
use hedgerow::{Manifest, Release, ReleaseOf};
use maud::{Markup, html};

use crate::console::Console;
use crate::extract::Query;
use crate::guard::Visit;
use crate::html::failure::Failure;
use crate::html::layout::Page;
use crate::html::parts::{Tone, badge, live, pages};
use crate::pages::{Asked, LINES};

/// A release with what its manifest says.
pub(crate) struct Line {
    release: ReleaseOf,
    manifest: Result<Box<Manifest>, String>,
}

/// `GET /releases`.
pub(crate) async fn page(
    State(console): State<Arc<Console>>,
    Extension(visit): Extension<Visit>,
    Query(asked): Query<Asked>,
) -> Result<Response, Failure> {
    let found = console
        .ask(move |site| {
            let all = site.releases();
            let (number, of) = asked.of(all.len());
            let shown: Vec<ReleaseOf> = all
                .into_iter()
                .skip((number - 1) * LINES)
                .take(LINES)
                .collect();
            let data = site.file().data.clone();
            Ok((lines(&shown), number, of, data))
        })
        .await?;
    let (lines, number, of, data) = found;
    let body = html! {
        h1 { "Releases" }
        p.lead { "What all sites have signed, and what may be handed on to others: one folder for each run, with a description of it inside." }
        (live("releases", &table(&lines)))
        (pages("/releases", number, of))
    };
    let page = Page {
        title: "Releases",
        place: "/releases",
        body,
        commands: vec![format!("ls -d {}/release-*", data.display())],
    };
    Ok(page.show(&console, &visit).await)
}

/// What the manifests of releases say.
pub(crate) fn lines(releases: &[ReleaseOf]) -> Vec<Line> {
    let line = |release: &ReleaseOf| {
        let manifest = Release::open(&release.folder).and_then(|one| one.manifest());
        Line {
            release: release.clone(),
            manifest: manifest
                .map(Box::new)
                .map_err(|error| error.without_values()),
        }
    };
    releases.iter().map(line).collect()
}

/// Releases, a line for each.
pub(crate) fn table(lines: &[Line]) -> Markup {
    html! {
        @if lines.is_empty() { p.empty { "No releases yet." } }
        @else {
            div.scroll tabindex="0" role="region" aria-label="Releases" {
                table {
                    thead { tr {
                        th scope="col" { "Release" } th scope="col" { "Day" } th.number scope="col" { "Records" }
                        th.number scope="col" { "Classes" } th.number scope="col" { "k" } th.number scope="col" { "Loss" } th scope="col" { "Signed" }
                    } }
                    tbody { @for line in lines { (row(line)) } }
                }
            }
        }
    }
}

fn row(line: &Line) -> Markup {
    let run = line.release.run;
    html! {
        tr {
            th scope="row" {
                a href={ "/releases/" (run) } { "Release " (run) }
                @if line.release.is_virtual { " " small { "virtual" } }
            }
            @match line.manifest.as_deref().ok().and_then(|manifest| Some((manifest, manifest.statement()?.0))) {
                Some((manifest, said)) => {
                    td.time { (said.date) }
                    td.number { (thousands(said.records)) }
                    td.number { (thousands(said.classes)) }
                    td.number { @if let Some(k) = manifest.achieved.k { (k) } }
                    td.number { (percent(manifest.utility.ncp)) }
                    td { (manifest.signatures.len()) " of " (manifest.sites) }
                },
                None => td colspan="6" { (badge(Tone::Bad, "its manifest cannot be read")) },
            }
        }
    }
}
