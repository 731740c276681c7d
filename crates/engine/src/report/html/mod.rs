//! The report as one HTML page: no script, no font, no picture from elsewhere.

mod account;
mod classes;
mod columns;
mod distributions;
mod gate;
mod requirement;
mod utility;

use super::facts::Facts;
use super::markup::{Cell, Html};
use super::own::Whose;
use super::plots;
use super::reasons::{Headline, reasons};
use crate::error::Error;
use crate::words::{count, thousands};

/// How the report looks, for pages that are to look like it.
pub const STYLE: &str = include_str!("../style.css");

/// The whole page.
pub(super) fn page(facts: &Facts) -> Result<String, Error> {
    let curve = plots::risk_curve(&facts.curve)?;
    let mut html = Html::default();
    html.markup("<!DOCTYPE html>\n");
    html.element("html", &[("lang", "en")], |html| {
        html.element("head", &[], |html| {
            html.markup("<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
            html.put("title", &format!("Release of {}", facts.study));
            html.element("style", &[], |html| html.markup(STYLE));
        });
        html.element("body", &[], |html| {
            html.element("main", &[], |html| {
                head(html, facts);
                columns::study(html, facts);
                requirement::requirement(html, facts);
                gate::before_signing(html, facts);
                requirement::holders(html, facts);
                columns::sample(html, facts);
                classes::sizes(html, facts);
                classes::risk(html, facts, &curve);
                columns::others(html, facts);
                requirement::fragments(html, facts);
                gate::gate(html, facts);
                distributions::distributions(html, facts);
                utility::utility(html, facts);
                account::ledger(html, facts);
                account::cost(html, facts);
                account::loss_of_privacy(html, facts);
                account::convergence(html, facts);
                account::signatures(html, facts);
                html.element("footer", &[], |html| {
                    let version = env!("CARGO_PKG_VERSION");
                    html.put("p", &format!("Written by hedgerow {version}. All numbers about the release were measured on its files; ledger, cost and how the loss fell are the account of {}.", account::writer(facts)));
                });
            });
        });
    });
    Ok(html.into_string())
}

fn text(text: impl Into<String>) -> Cell {
    Cell::Text(text.into())
}

fn long(text: impl Into<String>) -> Cell {
    Cell::Long(text.into())
}

fn number(text: impl Into<String>) -> Cell {
    Cell::Number(text.into())
}

fn head(html: &mut Html, facts: &Facts) {
    let verdict = &facts.report.found;
    html.put("h1", &format!("Release of {}", facts.study));
    html.element("p", &[("class", "under")], |html| {
        html.text(&format!(
            "{} in {}; algorithm {}, security level {}{}",
            count(verdict.records, "record", "records"),
            count(verdict.classes, "class", "classes"),
            facts.algorithm,
            facts.security,
            facts
                .made()
                .map_or(String::new(), |made| format!("; {made}"))
        ));
    });
    let headline = Headline::of(facts);
    let class = format!("verdict {}", headline.colour());
    html.element("div", &[("class", &class), ("role", "status")], |html| {
        html.put("strong", headline.words(facts.is_virtual));
        for sentence in reasons(facts) {
            html.put("p", &sentence);
        }
        let findings = facts.report.manifest.iter();
        let findings: Vec<&String> = findings.flat_map(|check| &check.findings).collect();
        if !findings.is_empty() {
            html.element("ul", &[], |html| {
                findings.iter().for_each(|finding| html.put("li", finding));
            });
        }
    });
    if let Some(before) = &facts.before {
        html.element("div", &[("class", "verdict warn"), ("role", "note")], |html| {
            html.put("strong", "This page is not to be passed on.");
            html.put("p", &format!(
                "Beside the release it has exact counts of {}. A count may be of one person. The report in the folder of the release has none of them and may go out with the release.",
                match before.whose {
                    Whose::Own => format!("the {} own rows of one site, and is for that site alone", thousands(before.rows)),
                    Whose::Original => format!("the {} original rows, and is for whoever holds them", thousands(before.rows)),
                }
            ));
        });
    }
}
