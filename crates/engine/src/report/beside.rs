//! What may name people beside the quasi-identifiers: columns without a role, columns that look like
//! identifiers, and columns that are published as they are.

use hedgerow_data::quoted_list;

use super::facts::Facts;
use super::markup::{Cell, Html};
use crate::words::{percent, thousands};

/// What the verdict says about these columns.
pub(super) fn reasons(facts: &Facts) -> Vec<String> {
    let verdict = &facts.report.found;
    let mut said = Vec::new();
    if !verdict.unexplained.is_empty() {
        said.push(format!(
            "Nobody gave {} a role, so that what is said of people there is not known.",
            quoted_list(&verdict.unexplained)
        ));
    }
    for refusal in verdict.other.refusals() {
        let refusal = refusal.to_string();
        let what = refusal.lines().next().unwrap_or_default();
        said.push(format!("The study does not allow this: {what}."));
    }
    let suspects = verdict.suspects.iter();
    said.extend(suspects.map(|suspect| {
        let words = suspect.to_string();
        format!("Warning: {}.", words.lines().next().unwrap_or_default())
    }));
    said
}

/// How many records are singled out by columns that are published as they are.
pub(super) fn singled_out(html: &mut Html, facts: &Facts) {
    let other = &facts.report.found.other;
    if other.is_empty() {
        return;
    }
    html.put("p", "Some columns are neither generalized nor held to the requirement: they are published as they are. A record is singled out if no other has its value there; whoever knows the value finds the record.");
    let line = |name: &str, unique: u64, allowed: &str| {
        vec![
            Cell::Text(name.to_owned()),
            Cell::Number(thousands(unique)),
            Cell::Number(percent(other.share(unique))),
            Cell::Text(allowed.to_owned()),
        ]
    };
    let mut rows: Vec<Vec<Cell>> = Vec::new();
    for column in &other.columns {
        let allowed = match column.publish_unique {
            true => "as many as there are",
            false => "5 %",
        };
        rows.push(line(&column.name, column.unique, allowed));
    }
    if let Some(unique) = other.together {
        rows.push(line("all of these together", unique, ""));
    }
    let heads = [
        "column",
        "records singled out",
        "share",
        "allowed by the study",
    ];
    html.table("Columns that are published as they are", &heads, rows);
}
