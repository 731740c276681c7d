//! What the study requires and what the release achieves; who held what, and what fragments tell together.

use super::{long, number, text};
use crate::report::facts::{Demand, Facts};
use crate::report::markup::{Cell, Html};
use crate::report::words::protects;
use crate::words::{percent, thousands};

pub(super) fn requirement(html: &mut Html, facts: &Facts) {
    html.section("requirement", "Required and achieved", |html| {
        html.put("p", "A release holds if every one of its classes satisfies every model that the study requires. The worst class is the one that decides.");
        let (required, measured): (Vec<Demand>, Vec<Demand>) = facts
            .demands()
            .into_iter()
            .partition(|demand| demand.holds.is_some());
        let rows = required.into_iter().map(|demand| {
            vec![
                text(demand.name),
                badge(demand.holds, demand.is_seen),
                text(demand.required),
                text(demand.achieved),
                long(protects(demand.key, facts.is_restored())),
                long(demand.worst),
            ]
        });
        let heads = ["model", "verdict", "required", "achieved", "what it means", "worst class"];
        html.table("What the study requires", &heads, rows.collect());
        let rows = measured.into_iter().map(|demand| {
            vec![
                text(demand.name),
                text(demand.achieved),
                long(protects(demand.key, facts.is_restored())),
                long(demand.worst),
            ]
        });
        let heads = ["model", "achieved", "what it means", "worst class"];
        html.table("What else was measured, and not required", &heads, rows.collect());
    });
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

/// Which site held which columns, where sites hold the same people.
pub(super) fn holders(html: &mut Html, facts: &Facts) {
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

pub(super) fn fragments(html: &mut Html, facts: &Facts) {
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
