//! What the release still says: what was lost of it, in all and column by column, and what the site would lose
//! alone.

use super::{number, text};
use crate::report::facts::Facts;
use crate::report::markup::{Cell, Html};
use crate::report::own::{Alone, Before};
use crate::words::{count, percent, thousands};

/// What was lost: beside what the site would lose alone, where that is known, and column by column.
pub(super) fn utility(html: &mut Html, facts: &Facts) {
    let Some(utility) = &facts.report.utility else {
        return;
    };
    html.section("utility", "What the release still says", |html| {
        html.put(
            "p",
            "Losses from 0 (every value as it was) to 100 % (nothing left of it).",
        );
        if let Some(before) = &facts.before {
            alone(html, utility.ncp, before);
        }
        let bits = |loss: Option<f64>| loss.map(|bits| number(format!("{bits:.4}")));
        let rows = utility.attributes.iter().map(|attribute| {
            let mut row = vec![
                text(attribute.name.as_str()),
                bars(attribute.ncp, attribute.lm),
                number(percent(attribute.ncp)),
                number(percent(attribute.lm)),
            ];
            row.extend(bits(attribute.em));
            row
        });
        let mut rows: Vec<Vec<Cell>> = rows.collect();
        let mut all = vec![
            text("all"),
            bars(utility.ncp, utility.lm),
            number(percent(utility.ncp)),
            number(percent(utility.lm)),
        ];
        all.extend(bits(utility.em));
        rows.push(all);
        let heads = [
            "quasi-identifier",
            "",
            "NCP",
            "LM",
            "entropy loss (EM), bits",
        ];
        let heads = if utility.em.is_some() {
            &heads[..]
        } else {
            &heads[..4]
        };
        html.element("p", &[("class", "legend")], |html| {
            for (class, name) in [("swatch first", "NCP"), ("swatch second", "LM")] {
                html.element("span", &[("class", class)], |_| {});
                html.text(name);
            }
        });
        html.chart("Loss of each quasi-identifier", heads, rows);
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

/// Bars of both losses, everything lost as long as the cell is wide.
fn bars(ncp: f64, lm: f64) -> Cell {
    Cell::Bars(vec![("first", ncp), ("second", lm)])
}

/// The loss of the release beside that of the site's rows alone.
fn alone(html: &mut Html, together: f64, before: &Before) {
    let (classes, ncp) = match &before.alone {
        None => return,
        Some(Alone::Published { classes, ncp }) => (*classes, *ncp),
        Some(Alone::Unmeetable(model)) => {
            html.put(
                "p",
                &format!(
                    "Alone this site could publish nothing: its {} do not satisfy {model}.",
                    count(before.rows, "row", "rows")
                ),
            );
            return;
        }
        Some(Alone::NotMeasured(why)) => {
            html.put(
                "p",
                &format!("What this site would lose alone is not measured: {why}."),
            );
            return;
        }
    };
    let longest = together.max(ncp).max(f64::MIN_POSITIVE);
    let row = |name: &str, colour, loss: f64, remark: String| {
        vec![
            text(name),
            Cell::Bars(vec![(colour, loss / longest)]),
            number(percent(loss)),
            text(remark),
        ]
    };
    let rows = vec![
        row("together, the release", "first", together, String::new()),
        row(
            "alone, this site's rows",
            "second",
            ncp,
            count(classes, "class", "classes"),
        ),
    ];
    html.chart("Loss (NCP) together and alone, under the same requirement without what speaks of other sites", &["who publishes", "", "loss", ""], rows);
    html.put("p", &match together < ncp {
        true => format!("Together the sites lose {:.2} times what this site would lose alone.", together / ncp),
        false => String::from("This site would lose no more alone; its rows would then be published without those of the others."),
    });
}
