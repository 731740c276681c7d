//! The report as one HTML page: no script, no font, no picture from elsewhere.

use hedgerow_data::study::PARQUET_FILE;
use hedgerow_privacy::verify::Measure;

use super::beside;
use super::facts::{Demand, Facts, Headline};
use super::markup::{Cell, Html};
use super::plots;
use super::words::{papers, protects};
use crate::error::Error;
use crate::exposure;
use crate::words::{NO_RELEASE, count, percent, thousands};

/// How the report looks, for pages that are to look like it.
pub const STYLE: &str = include_str!("style.css");

/// The whole page.
pub(super) fn page(facts: &Facts) -> Result<String, Error> {
    let k = facts.report.found.models.k.as_ref();
    let k = k.and_then(|k| match k.required {
        Some(Measure::Whole(k)) => Some(k),
        _ => None,
    });
    let sizes = plots::class_sizes(&facts.sizes, k)?;
    let losses = match &facts.report.utility {
        Some(utility) if !utility.attributes.is_empty() => {
            Some(plots::losses(&utility.attributes)?)
        }
        _ => None,
    };
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
                requirement(html, facts);
                holders(html, facts);
                class_sizes(html, facts, &sizes);
                risk(html, facts);
                fragments(html, facts);
                utility(html, facts, losses.as_deref());
                ledger(html, facts);
                cost(html, facts);
                loss_of_privacy(html, facts);
                convergence(html, facts);
                signatures(html, facts);
                html.element("footer", &[], |html| {
                    let version = env!("CARGO_PKG_VERSION");
                    html.put("p", &format!("Written by hedgerow {version}. All numbers about the release were measured on its files; ledger, cost and how the loss fell are the account of {}.", writer(facts)));
                });
            });
        });
    });
    Ok(html.into_string())
}

fn text(text: impl Into<String>) -> Cell {
    Cell::Text(text.into())
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
    let (class, said) = match facts.headline() {
        Headline::Holds if facts.is_virtual => ("verdict good", "The virtual database holds."),
        Headline::Holds => ("verdict good", "The release holds."),
        Headline::Unseen if facts.is_virtual => (
            "verdict warn",
            "The virtual database holds as far as it is shown.",
        ),
        Headline::Unseen => (
            "verdict warn",
            "The release holds as far as it can be seen.",
        ),
        Headline::NotShown => ("verdict bad", "It is not shown that the release holds."),
        Headline::Fails => ("verdict bad", "The release does not hold."),
        Headline::Unasked => ("verdict warn", "The study requires nothing."),
    };
    html.element("div", &[("class", class), ("role", "status")], |html| {
        html.put("strong", said);
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
}

/// The reasons for the verdict.
pub(super) fn reasons(facts: &Facts) -> Vec<String> {
    let demands = facts.demands();
    let names = |wanted: &dyn Fn(&&Demand) -> bool| -> String {
        let names: Vec<&str> = demands
            .iter()
            .filter(wanted)
            .map(|demand| demand.name.as_str())
            .collect();
        names.join(", ")
    };
    let mut said = Vec::new();
    for name in &facts.report.found.identifiers {
        said.push(format!(
            "Column `{name}` is an identifier: nobody in this table is anonymous."
        ));
    }
    said.extend(beside::reasons(facts));
    for file in &facts.report.found.disordered {
        said.push(format!(
            "{file}: rows of a group do not stand in the order of what is written, so their order may say whose they are."
        ));
    }
    for contradiction in &facts.report.found.contradictions {
        said.push(format!("{PARQUET_FILE}: {contradiction}."));
    }
    let failing = names(&|demand| demand.holds == Some(false) && demand.is_seen);
    if !failing.is_empty() {
        said.push(format!("It fails in {failing}."));
    }
    let unseen = names(&|demand| demand.holds == Some(false) && !demand.is_seen);
    let manifest = facts.report.manifest.as_ref();
    // What sites signed for is of no use where the files are not what they signed.
    if !unseen.is_empty() && manifest.is_none_or(|check| check.findings.is_empty()) {
        said.push(match facts.is_virtual {
            true => format!(
                "Nothing is published: each site keeps its own rows, and this folder has what all sites know of them, classes with their sizes. That the sites satisfied {unseen} was decided by their protocol during the run and is not shown here."
            ),
            false => format!(
                "A release does not show sites, and no sites have signed for {unseen}."
            ),
        });
    }
    if facts.headline() == Headline::Holds {
        let held = names(&|demand| demand.holds == Some(true) && demand.is_seen);
        said.push(format!("Every class satisfies {held}."));
        let attested = names(&|demand| demand.holds == Some(true) && !demand.is_seen);
        if !attested.is_empty() {
            said.push(format!(
                "A release does not show sites; all sites attested to {attested} by signing."
            ));
        }
    }
    said.push(String::from(match manifest {
        None => "The folder has no manifest: nobody has signed this release.",
        Some(check) if !check.findings.is_empty() => {
            "The files are not what the manifest says, or not every site has signed it:"
        }
        Some(check) if check.self_described => {
            "The files are what the manifest says. No study was given, so columns and requirement are the word of whoever published the release, and who signed is not shown."
        }
        Some(check) if check.signed => {
            "All sites of the study signed it, and the files are what they signed."
        }
        Some(_) => {
            "The files are what the manifest says. Nobody has signed it: it was made in one place."
        }
    }));
    said
}

fn badge(holds: Option<bool>, is_seen: bool) -> Cell {
    // Only a model that is required has a badge.
    match (holds, is_seen) {
        (Some(true), true) => Cell::Badge("good", String::from("holds")),
        (Some(true), false) => Cell::Badge("good", String::from("attested")),
        (Some(false), true) => Cell::Badge("bad", String::from("fails")),
        (Some(false), false) => Cell::Badge("warn", String::from("not shown")),
        (None, _) => text(""),
    }
}

fn requirement(html: &mut Html, facts: &Facts) {
    html.section("requirement", "Required and achieved", |html| {
        html.put("p", "A release holds if every one of its classes satisfies every model that the study requires. The worst class is the one that decides.");
        let (required, measured): (Vec<Demand>, Vec<Demand>) = facts
            .demands()
            .into_iter()
            .partition(|demand| demand.holds.is_some());
        let rows = required.into_iter().map(|demand| {
            vec![
                text(demand.name),
                text(protects(demand.key, facts.is_restored())),
                text(demand.required),
                text(demand.achieved),
                badge(demand.holds, demand.is_seen),
                text(demand.worst),
            ]
        });
        let heads = ["model", "what it means", "required", "achieved", "verdict", "worst class"];
        html.table("What the study requires", &heads, rows.collect());
        let rows = measured.into_iter().map(|demand| {
            vec![
                text(demand.name),
                text(protects(demand.key, facts.is_restored())),
                text(demand.achieved),
                text(demand.worst),
            ]
        });
        let heads = ["model", "what it means", "achieved", "worst class"];
        html.table("What else was measured, and not required", &heads, rows.collect());
    });
}

/// Which site held which columns, where sites hold the same people.
fn holders(html: &mut Html, facts: &Facts) {
    let holders = facts.holders();
    if holders.is_empty() {
        return;
    }
    html.section("holders", "Who held what", |html| {
        html.put("p", "The sites hold the same people and different columns. Who is known to all of them was found from identifiers under the keys of all; identifiers are not released.");
        if let Some(groups) = facts.groups() {
            html.put("p", &groups);
        }
        let rows = holders.into_iter().map(|(site, columns)| vec![text(site), text(columns)]);
        html.table("Columns of each site", &["site", "columns"], rows.collect());
    });
}

fn class_sizes(html: &mut Html, facts: &Facts, plot: &str) {
    let sizes = &facts.sizes;
    html.section("classes", "Class sizes", |html| {
        html.put("p", match facts.is_fragmented() {
            true => "A class is a group: from a person's quasi-identifiers a reader comes to its number, and no further.",
            false => "A class is the records that share one generalized quasi-identifier: readers of the release cannot tell them apart by it.",
        });
        html.element("figure", &[], |html| {
            html.markup(plot);
            html.put(
                "figcaption",
                &format!(
                    "The smallest class has {}, the middle one {}, the largest {}.",
                    count(sizes.smallest, "record", "records"),
                    thousands(sizes.median),
                    thousands(sizes.largest)
                ),
            );
        });
        let rows = sizes.bars.iter().filter(|bar| bar.classes > 0).map(|bar| {
            let size = match bar.from == bar.to {
                true => thousands(bar.from),
                false => format!("{} to {}", thousands(bar.from), thousands(bar.to)),
            };
            vec![
                text(size),
                number(thousands(bar.classes)),
                number(thousands(bar.records)),
            ]
        });
        html.element("details", &[], |html| {
            html.put("summary", "The numbers of this plot");
            let heads = ["records in the class", "classes", "records in all"];
            html.table("Classes by size", &heads, rows.collect());
        });
    });
}

fn risk(html: &mut Html, facts: &Facts) {
    let risk = &facts.report.risk;
    html.section("risk", "Risk of re-identification", |html| {
        let picked = match facts.is_restored() {
            true => "sensitive values among those of the group",
            false => "record",
        };
        html.put("p", &format!("How likely it is that somebody who knows a person's quasi-identifiers picks that person's {picked}. Risk 0.1 is one in ten."));
        let line = |name: String, meaning: &str, value: String| {
            vec![text(name), text(meaning), number(value)]
        };
        let mut rows = vec![
            line(
                String::from("prosecutor, highest"),
                "for the person most at risk, who is known to be in the release",
                format!("{:.4}", risk.prosecutor.max),
            ),
            line(
                String::from("prosecutor, mean"),
                "for an average person who is known to be in the release",
                format!("{:.4}", risk.prosecutor.mean),
            ),
        ];
        for above in &risk.prosecutor.above {
            let name = format!("records above {}", above.threshold);
            let meaning = "share of records with a higher prosecutor risk than this";
            rows.push(line(name, meaning, percent(above.share)));
        }
        rows.push(line(
            String::from("marketer"),
            "share of records that somebody who links all of them gets right",
            format!("{:.4}", risk.marketer),
        ));
        if let Some(before) = risk.uniqueness.before {
            let meaning = "share of records of the original that are alone in their class";
            rows.push(line(String::from("unique before"), meaning, percent(before)));
        }
        rows.push(line(
            String::from("unique"),
            "share of records that are alone in their class",
            percent(risk.uniqueness.after),
        ));
        html.table("Risk over all records", &["risk", "what it means", "value"], rows);
        beside::singled_out(html, facts);
    });
}

fn fragments(html: &mut Html, facts: &Facts) {
    let pairs = &facts.report.reconstruction;
    if pairs.is_empty() {
        return;
    }
    html.section("fragments", "What fragments tell together", |html| {
        html.put("p", "Whoever joins two fragments by the number of a group gets every combination of its values; all but one for each person belong to nobody. A combination is certain where two values are so frequent in a group that they must meet. No requirement protects from combinations that are likely (D2PT section 3.7).");
        let is_beside = pairs.iter().any(|pair| pair.against_original.is_some());
        let rows = pairs.iter().map(|pair| {
            let mut row = vec![
                text(pair.attributes.join(" and ")),
                number(thousands(pair.joined)),
                number(thousands(pair.phantoms)),
                number(thousands(pair.certain)),
            ];
            if let Some(found) = &pair.against_original {
                row.extend([number(percent(found.likely)), number(percent(found.by_chance))]);
            }
            row
        });
        let heads = [
            "attributes",
            "combinations",
            "of nobody",
            "people with a certain one",
            "right, most likely ones",
            "right, by chance",
        ];
        let heads = if is_beside { &heads[..] } else { &heads[..4] };
        html.table("Two sensitive attributes at a time", heads, rows.collect());
        if !is_beside {
            html.put("p", "How many of the most likely combinations are right takes the original table: hedgerow report --original TABLE.");
        }
    });
}

fn utility(html: &mut Html, facts: &Facts, plot: Option<&str>) {
    let Some(utility) = &facts.report.utility else {
        return;
    };
    html.section("utility", "What the release still says", |html| {
        html.put(
            "p",
            "Losses from 0 (every value as it was) to 100 % (nothing left of it).",
        );
        if let Some(plot) = plot {
            html.element("figure", &[], |html| {
                html.markup(plot);
                html.element("figcaption", &[], |html| {
                    for (class, name) in [("swatch first", "NCP"), ("swatch second", "LM")] {
                        html.element("span", &[("class", class)], |_| {});
                        html.text(name);
                    }
                });
            });
        }
        let bits = |loss: Option<f64>| loss.map(|bits| number(format!("{bits:.4}")));
        let rows = utility.attributes.iter().map(|attribute| {
            let mut row = vec![
                text(attribute.name.as_str()),
                number(percent(attribute.ncp)),
                number(percent(attribute.lm)),
            ];
            row.extend(bits(attribute.em));
            row
        });
        let mut rows: Vec<Vec<Cell>> = rows.collect();
        let mut all = vec![
            text("all"),
            number(percent(utility.ncp)),
            number(percent(utility.lm)),
        ];
        all.extend(bits(utility.em));
        rows.push(all);
        let heads = ["quasi-identifier", "NCP", "LM", "entropy loss (EM), bits"];
        let heads = if utility.em.is_some() {
            &heads[..]
        } else {
            &heads[..3]
        };
        html.table("Loss of each quasi-identifier", heads, rows);
        if utility.em.is_none() {
            html.put(
                "p",
                "The entropy loss takes the original table: hedgerow report --original TABLE.",
            );
        }
        let normalized = format!("{:.6}", utility.normalized_discernibility);
        let rows = vec![
            vec![
                text("average class size"),
                number(format!("{:.2}", utility.average_class_size)),
            ],
            vec![
                text("average class size over k"),
                number(format!("{:.2}", utility.c_avg)),
            ],
            vec![
                text("discernibility"),
                number(thousands(utility.discernibility)),
            ],
            vec![
                text("discernibility over records squared"),
                number(normalized),
            ],
        ];
        html.table("Of the whole release", &["measure", "value"], rows);
    });
}

fn ledger(html: &mut Html, facts: &Facts) {
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
                text(line.meaning),
                text(line.to),
                number(thousands(line.values)),
                text(because),
                text(line.caveat.unwrap_or_default()),
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
fn writer(facts: &Facts) -> String {
    let check = facts.report.manifest.as_ref();
    match check.and_then(|check| check.account.as_ref()) {
        Some(site) => format!("the site {site}, under its seal"),
        None => String::from("whoever wrote the manifest"),
    }
}

fn cost(html: &mut Html, facts: &Facts) {
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

fn loss_of_privacy(html: &mut Html, facts: &Facts) {
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

fn convergence(html: &mut Html, facts: &Facts) {
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

fn signatures(html: &mut Html, facts: &Facts) {
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
