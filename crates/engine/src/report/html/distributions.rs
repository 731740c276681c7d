//! How the values of each column are distributed in the release, and before where rows were given.

use super::text;
use crate::report::contents::Spread;
use crate::report::facts::Facts;
use crate::report::markup::{Cell, Html};
use crate::words::thousands;

/// A chart for each column.
pub(super) fn distributions(html: &mut Html, facts: &Facts) {
    let spreads = &facts.contents.spreads;
    let before = facts.before.as_ref().map(|before| before.words());
    html.section("distributions", "How values are distributed", |html| {
        let mut said = String::from(match before {
            Some(_) => "The rows before, beside the release.",
            None => "Of the release alone: what was before only those know who hold the rows (hedgerow report --own ROWS, for the site itself).",
        });
        if spreads.iter().any(|spread| spread.is_estimated) {
            said.push_str(" A generalized value is spread evenly over the values that it stands for, so that counts of quasi-identifiers are estimates.");
        }
        html.put("p", &said);
        if let Some(before) = before {
            html.element("p", &[("class", "legend")], |html| {
                for (class, name) in [("swatch second", before), ("swatch first", "release")] {
                    html.element("span", &[("class", class)], |_| {});
                    html.text(name);
                }
            });
        }
        html.element("div", &[("class", "charts")], |html| {
            for spread in spreads {
                chart(html, spread, before);
            }
        });
    });
}

fn chart(html: &mut Html, spread: &Spread, before: Option<&str>) {
    let share = |records: f64| records / spread.records.max(1) as f64;
    let share_before = |rows: u64| rows as f64 / spread.rows_before.unwrap_or(0).max(1) as f64;
    // Values that are not named by themselves have numbers, and no bar to dwarf those that are.
    let named = spread.bins.iter().filter(|bin| !bin.is_rest);
    let shares = named.flat_map(|bin| [share(bin.release), bin.before.map_or(0.0, share_before)]);
    let longest = shares.fold(f64::MIN_POSITIVE, f64::max);
    let rows = spread.bins.iter().map(|bin| {
        let mut bars = Vec::new();
        if !bin.is_rest {
            bars.extend(
                bin.before
                    .map(|rows| ("second", share_before(rows) / longest)),
            );
            bars.push(("first", share(bin.release) / longest));
        }
        let mut row = vec![text(bin.label.as_str()), Cell::Bars(bars)];
        let percent = |share: f64| format!("{:.1} %", share * 100.0);
        row.extend(
            bin.before
                .map(|rows| Cell::Share(thousands(rows), percent(share_before(rows)))),
        );
        let records = thousands(bin.release.round() as u64);
        let records = match spread.is_estimated {
            true => format!("~{records}"),
            false => records,
        };
        row.push(Cell::Share(records, percent(share(bin.release))));
        row
    });
    let caption = format!("{}, {}", spread.column, spread.role);
    let heads = match (before, spread.rows_before) {
        (Some(before), Some(_)) => vec!["value", "", before, "release"],
        _ => vec!["value", "", "release"],
    };
    html.chart(&caption, &heads, rows.collect());
}
