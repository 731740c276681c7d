//! How large classes are, and how likely it is that somebody is picked out of one.

use super::{number, text};
use crate::report::facts::Facts;
use crate::report::markup::{Cell, Html};
use crate::words::{count, percent, thousands};
use hedgerow_privacy::verify::Measure;

/// The sizes of classes, a bar for sizes that lie near each other.
pub(super) fn sizes(html: &mut Html, facts: &Facts) {
    let sizes = &facts.sizes;
    html.section("classes", "Class sizes", |html| {
        html.put("p", match facts.is_fragmented() {
            true => "A class is a group: from a person's quasi-identifiers a reader comes to its number, and no further.",
            false => "A class is the records that share one generalized quasi-identifier: readers of the release cannot tell them apart by it.",
        });
        let k = required(facts);
        let demand = k.map_or(String::new(), |k| format!(" Required: {}.", count(k, "record", "records")));
        html.put("p", &format!(
            "The smallest class has {}, the middle one {}, the largest {}.{demand}",
            count(sizes.smallest, "record", "records"),
            thousands(sizes.median),
            thousands(sizes.largest)
        ));
        let most = sizes.bars.iter().map(|bar| bar.classes).max().unwrap_or(1).max(1);
        let rows = sizes.bars.iter().filter(|bar| bar.classes > 0).map(|bar| {
            let size = match bar.from == bar.to {
                true => thousands(bar.from),
                false => format!("{} to {}", thousands(bar.from), thousands(bar.to)),
            };
            let colour = match k.is_some_and(|k| bar.from < k) {
                true => "mark",
                false => "first",
            };
            vec![
                text(size),
                Cell::Bars(vec![(colour, bar.classes as f64 / most as f64)]),
                number(thousands(bar.classes)),
                number(thousands(bar.records)),
            ]
        });
        let heads = ["records in the class", "", "classes", "records in all"];
        html.chart("Classes by size: the longer the bar, the more classes; sizes without a class are left out", &heads, rows.collect());
    });
}

/// The k that is required.
fn required(facts: &Facts) -> Option<u64> {
    match facts.report.found.models.k.as_ref()?.required {
        Some(Measure::Whole(k)) => Some(k),
        _ => None,
    }
}

/// The risk over all records: the curve, and the numbers that people ask for.
pub(super) fn risk(html: &mut Html, facts: &Facts, plot: &str) {
    let risk = &facts.report.risk;
    html.section("risk", "Risk of re-identification", |html| {
        let picked = match facts.is_restored() {
            true => "sensitive values among those of the group",
            false => "record",
        };
        html.put("p", &format!("How likely it is that somebody who knows a person's quasi-identifiers picks that person's {picked}. Risk 0.1 is one in ten."));
        html.element("figure", &[], |html| {
            html.markup(plot);
            html.put("figcaption", "Share of records whose risk is at most so much: the earlier the curve rises, the better.");
        });
        let rows = facts.curve.round().into_iter().map(|point| {
            vec![
                text(format!("1 in {}", thousands(point.one_in))),
                number(thousands(point.records)),
                number(percent(point.share)),
            ]
        });
        let heads = ["risk at most", "records", "share"];
        html.table("The risk curve in numbers", &heads, rows.collect());
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
    });
}
