//! The report as text for the terminal: the same content, in the same order.

use std::path::Path;

use super::facts::Facts;
use super::reasons::{Headline, reasons};
use crate::exposure;
use crate::words::{aligned, count, thousands};

/// The widest bar of the histogram.
const WIDEST: u64 = 40;

pub(super) fn text(folder: &Path, facts: &Facts) -> String {
    let headline = Headline::of(facts).words(facts.is_virtual);
    let mut text = format!("{headline}\n");
    for reason in reasons(facts) {
        text.push_str(&format!("  {reason}\n"));
    }
    let findings = facts.report.manifest.iter();
    for finding in findings.flat_map(|check| &check.findings) {
        text.push_str(&format!("    {finding}\n"));
    }
    text.push('\n');
    text.push_str(&facts.report.text_of(folder));
    text.push_str(&holders(facts));
    text.push_str(&class_sizes(facts));
    text.push_str(&ledger(facts));
    let cost = facts.cost();
    if !cost.is_empty() {
        text.push_str("\ncost\n");
        let rows = cost
            .into_iter()
            .map(|(name, value)| vec![format!("  {name}"), value]);
        text.push_str(&aligned(&rows.collect::<Vec<_>>()));
    }
    if let Some(rows) = facts.loss_of_privacy() {
        text.push_str(&format!(
            "\nwhat passed along the ring\n  {}\n",
            exposure::MEANING
        ));
        let rows = rows
            .into_iter()
            .map(|[what, value]| vec![format!("  {what}"), value]);
        text.push_str(&aligned(&rows.collect::<Vec<_>>()));
    }
    text
}

fn holders(facts: &Facts) -> String {
    let rows = facts.holders().into_iter();
    let rows: Vec<Vec<String>> = rows
        .map(|(site, columns)| vec![format!("  {site}"), columns])
        .collect();
    if rows.is_empty() {
        return String::new();
    }
    let groups = facts.groups().map(|groups| format!("  {groups}\n"));
    format!(
        "\nwho held what\n{}{}",
        aligned(&rows),
        groups.unwrap_or_default()
    )
}

fn class_sizes(facts: &Facts) -> String {
    let bars = &facts.sizes.bars;
    let highest = bars.iter().map(|bar| bar.classes).max().unwrap_or(1).max(1);
    let rows = bars.iter().filter(|bar| bar.classes > 0).map(|bar| {
        // Even one class is a mark.
        let length = (bar.classes * WIDEST).div_ceil(highest);
        vec![
            format!("  {} to {} records", thousands(bar.from), thousands(bar.to)),
            count(bar.classes, "class", "classes"),
            "#".repeat(length as usize),
        ]
    });
    format!("\nclass sizes\n{}", aligned(&rows.collect::<Vec<_>>()))
}

fn ledger(facts: &Facts) -> String {
    let Some(lines) = facts.ledger() else {
        return String::new();
    };
    let mut text = String::from("\nwhat the sites learned\n");
    if lines.is_empty() {
        text.push_str("  nothing: one party made the release and asked nobody\n");
    }
    for line in lines {
        text.push_str(&format!(
            "  {} ({}), to {}\n",
            line.what,
            count(line.values, "value", "values"),
            line.to
        ));
        for words in [
            line.meaning,
            &format!("Allowed by {}. {}", line.allowed_by, line.because),
        ] {
            text.push_str(&format!("    {}\n", words.trim_end()));
        }
        if let Some(caveat) = line.caveat {
            text.push_str(&format!("    Could not be hidden: {caveat}.\n"));
        }
    }
    text
}
