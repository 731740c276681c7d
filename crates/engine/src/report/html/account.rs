//! The account of whoever wrote the folder: what the sites learned, what the run cost, how the loss fell, and
//! who signed.

use super::{long, number, text};
use crate::exposure;
use crate::report::facts::Facts;
use crate::report::markup::{Cell, Html};
use crate::report::words::papers;
use crate::words::{NO_RELEASE, count, percent, thousands};

pub(super) fn ledger(html: &mut Html, facts: &Facts) {
    html.section("ledger", "What the sites learned", |html| {
        let Some(lines) = facts.ledger() else {
            html.put("p", "The folder has no manifest, and so no ledger.");
            return;
        };
        if lines.is_empty() {
            html.put("p", "Nothing: one party made the release and asked nobody.");
            return;
        }
        html.put("p", "Everything that the run disclosed to a site beyond that site's own rows, with what allows it.");
        if facts.is_virtual {
            html.put("p", &format!("Here, {NO_RELEASE}."));
        }
        let papers = papers(&lines);
        let rows = lines.into_iter().map(|line| {
            let because = match line.because {
                "" => line.allowed_by,
                because => format!("{}. {because}", line.allowed_by),
            };
            vec![
                text(line.what),
                long(line.meaning),
                text(line.to),
                number(thousands(line.values)),
                long(because),
                long(line.caveat.unwrap_or_default()),
            ]
        });
        let heads =
            ["disclosed", "in plain words", "to", "values", "allowed by", "could not be hidden"];
        html.table(&format!("Ledger of {}", writer(facts)), &heads, rows.collect());
        if !papers.is_empty() {
            html.element("ul", &[("class", "under")], |html| {
                for (name, title) in papers {
                    html.put("li", &format!("{name}: {title}"));
                }
            });
        }
    });
}

/// The site whose account the report shows.
pub(super) fn writer(facts: &Facts) -> String {
    let check = facts.report.manifest.as_ref();
    match check.and_then(|check| check.account.as_ref()) {
        Some(site) => format!("the site {site}, under its seal"),
        None => String::from("whoever wrote the manifest"),
    }
}

pub(super) fn cost(html: &mut Html, facts: &Facts) {
    html.section("cost", "What it cost", |html| {
        let rows = facts.cost();
        if rows.is_empty() {
            html.put(
                "p",
                "The folder has no manifest, and so no account of the cost.",
            );
            return;
        }
        let rows = rows
            .into_iter()
            .map(|(name, value)| vec![text(name), number(value)]);
        html.table("Cost of the run", &["what", "how much"], rows.collect());
    });
}

pub(super) fn loss_of_privacy(html: &mut Html, facts: &Facts) {
    let Some(rows) = facts.loss_of_privacy() else {
        return;
    };
    html.section("loss-of-privacy", "What passed along the ring", |html| {
        html.put("p", exposure::MEANING);
        let rows = rows
            .into_iter()
            .map(|[what, value]| vec![text(what), number(value)]);
        let heads = ["measure", "value"];
        html.table("Loss of privacy (LoP)", &heads, rows.collect());
    });
}

pub(super) fn convergence(html: &mut Html, facts: &Facts) {
    let Some(fall) = facts.convergence() else {
        return;
    };
    html.section("convergence", "How the loss fell", |html| {
        let calls = count(fall.published_calls, "SMC call", "SMC calls");
        html.put(
            "p",
            &format!(
                "The start that was kept took {}, {}. Until the published end, all starts made {calls}, as TG12 counts them.",
                fall.iterations, fall.ended
            ),
        );
        // Entropy is in bits, which are no share of anything.
        let loss = |loss: f64| match fall.measure {
            "EM" => format!("{loss:.4}"),
            _ => percent(loss),
        };
        let rows = fall.rows.iter().map(|(name, clusters, lost)| {
            vec![
                text(name.as_str()),
                number(clusters.as_str()),
                number(loss(*lost)),
            ]
        });
        let caption = format!("Mean loss of a cell ({}) after each step", fall.measure);
        html.table(&caption, &["step", "clusters", "loss"], rows.collect());
    });
}

pub(super) fn signatures(html: &mut Html, facts: &Facts) {
    html.section("signatures", "Who signed", |html| {
        let Some(check) = &facts.report.manifest else {
            html.put("p", "The folder has no manifest: nobody has signed this release.");
            return;
        };
        let mut rows = Vec::new();
        if let Some(hash) = &check.study_hash {
            rows.push(vec![text("hash of the study"), Cell::Code(hash.clone())]);
        }
        if let Some(run) = check.run {
            rows.push(vec![text("run"), Cell::Code(run.to_string())]);
        }
        if !rows.is_empty() {
            html.table("What was signed for", &["what", "value"], rows);
        }
        if check.signatures.is_empty() {
            html.put("p", "Nobody has signed this release: it was made in one place, by simulate or anonymize.");
            return;
        }
        let rows = check.signatures.iter().map(|signature| {
            let kind = match signature.standing {
                "signed" => "good",
                _ if check.self_described && check.findings.is_empty() => "warn",
                _ => "bad",
            };
            vec![
                text(signature.site.as_str()),
                Cell::Badge(kind, signature.standing.to_owned()),
                Cell::Code(signature.key.clone()),
            ]
        });
        let key = match check.self_described {
            true => "key in the manifest",
            false => "key in the study",
        };
        let heads = ["site", "signature", key];
        html.table("Sites of the study", &heads, rows.collect());
    });
}
