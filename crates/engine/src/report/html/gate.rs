//! What attacks found: a bar for what falls beside one for the control, and the verdict.

use hedgerow_gate::{Finding, Verdict};

use super::{long, number, text};
use crate::gate::text::{control, headline, limit};
use crate::report::facts::Facts;
use crate::report::markup::{Cell, Html};
use crate::words::percent;

pub(super) fn gate(html: &mut Html, facts: &Facts) {
    let Some(gated) = &facts.gate else { return };
    html.section("gate", "Known attacks", |html| {
        html.put("p", &format!("{}.", headline(gated)));
        html.put("p", "The share is of the records that an attack is about. The control is the same attack where there is nothing to learn: what falls there too is what the population teaches, and no leak of the release.");
        if gated.has_rows() {
            html.put("p", "This chapter has counts of the rows that were given beside the release, and is not to be passed on.");
        }
        let measured = gated.attacks.iter().filter(|one| one.measured.is_some());
        let rows = measured.map(|finding| {
            vec![
                Cell::Noted(finding.attack.name().replace('_', " "), finding.attacker.to_owned()),
                Cell::Bars(bars(finding)),
                number(finding.measured.as_ref().map_or_else(String::new, |found| percent(found.share))),
                number(control(finding)),
                number(limit(finding)),
                badge(finding.verdict),
            ]
        });
        let heads = ["attack", "", "falls", "control", "limit", "verdict"];
        html.chart("Share of records that each attack brings down; the second bar is the control", &heads, rows.collect());
        let rows = gated.attacks.iter().map(|finding| {
            let found = finding.measured.as_ref();
            let falls = found.map(|found| found.falls.clone());
            let worst = found.and_then(|found| found.worst.first());
            vec![
                text(finding.attack.name().replace('_', " ")),
                badge(finding.verdict),
                long(falls.or_else(|| finding.because.clone()).unwrap_or_default()),
                long(worst.map_or_else(String::new, |worst| worst.class.join(", "))),
                long(finding.helps.unwrap_or_default()),
            ]
        });
        let heads = ["attack", "verdict", "what falls", "worst class", "what would help"];
        html.table("The attacks in words", &heads, rows.collect());
    });
}

/// The attacks that the study limits: what the sites of the run found before any of them signed.
pub(super) fn before_signing(html: &mut Html, facts: &Facts) {
    let tried = facts.report.manifest.iter().flat_map(|check| &check.gate);
    let rows: Vec<Vec<Cell>> = tried
        .map(|tried| {
            let [attack, limit, falls, verdict] = tried.row();
            let kind = if tried.is_passed() { "good" } else { "bad" };
            vec![
                text(attack),
                Cell::Badge(kind, verdict),
                text(limit),
                number(falls),
            ]
        })
        .collect();
    if rows.is_empty() {
        return;
    }
    html.section("signed-gate", "Attacked before it was signed", |html| {
        html.put("p", "The study limits how many records known attacks may bring down. All sites tried the attacks together, and signed what came of them with the release.");
        let heads = ["attack", "verdict", "may fall", "falls"];
        html.table("Attacks that the study limits", &heads, rows);
    });
}

/// What falls, and the control below.
fn bars(finding: &Finding) -> Vec<(&'static str, f64)> {
    let Some(found) = &finding.measured else {
        return Vec::new();
    };
    let colour = match finding.verdict {
        Verdict::Falls => "mark",
        _ => "first",
    };
    let control = found
        .control
        .as_ref()
        .map(|control| ("second", control.share));
    std::iter::once((colour, found.share))
        .chain(control)
        .collect()
}

fn badge(verdict: Verdict) -> Cell {
    let kind = match verdict {
        Verdict::Falls => "bad",
        Verdict::CannotTell | Verdict::NotTried | Verdict::Told => "warn",
        Verdict::Holds | Verdict::Nothing => "good",
    };
    Cell::Badge(kind, verdict.words().to_owned())
}
