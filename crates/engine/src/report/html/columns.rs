//! The study and its columns, sample rows of the release with the levels of taxonomies, and what columns give
//! away that are published as they are.

use super::{number, text};
use crate::report::facts::Facts;
use crate::report::markup::{Cell, Html};
use crate::words::{count, percent, thousands};

/// What was released, when, and under which study: the facts that a file of decisions needs.
pub(super) fn study(html: &mut Html, facts: &Facts) {
    html.section("study", "Study and columns", |html| {
        let said = facts.manifest().and_then(|said| said.statement());
        let mut rows = vec![vec![text("study"), text(facts.study.as_str())]];
        if let Some((said, _)) = said {
            rows.push(vec![text("date of the release"), text(said.date.as_str())]);
        }
        if let Some(manifest) = facts.manifest() {
            rows.push(vec![text("sites"), text(thousands(manifest.sites))]);
        }
        if let Some(asked) = &facts.report.requirement {
            rows.push(vec![text("required"), text(asked.words.join(", "))]);
        }
        rows.push(vec![
            text("algorithm"),
            text(format!(
                "{}, security level {}",
                facts.algorithm, facts.security
            )),
        ]);
        html.table("The study", &["what", "value"], rows);
        let columns = facts.contents.columns.iter().map(|column| {
            vec![
                text(column.name.as_str()),
                text(column.role),
                text(column.values.as_str()),
                text(column.released.as_str()),
            ]
        });
        let heads = ["column", "role", "values", "in the release"];
        html.table("Columns and their roles", &heads, columns.collect());
    });
}

/// Some rows, and how often cells are written in which way.
pub(super) fn sample(html: &mut Html, facts: &Facts) {
    let contents = &facts.contents;
    let records = facts.report.found.records.max(1);
    html.section("sample", "What the release looks like", |html| {
        html.put("p", match (facts.is_virtual, contents.samples.len()) {
            (true, _) => "Nothing is published. These are some of the classes that all sites know.",
            (false, 1) => "Some rows as everybody may read them. Below a generalized value stands what it is.",
            _ => "Some groups as everybody may read them, table by table. A row of one table is not the row beside it in another: nothing joins the tables but the number of the group.",
        });
        for table in &contents.samples {
            let rows = table.rows.iter().map(|row| {
                let cells = row.iter();
                let cells = cells.map(|cell| Cell::Noted(cell.text.clone(), cell.note.clone()));
                cells.collect()
            });
            let heads: Vec<&str> = table.heads.iter().map(String::as_str).collect();
            html.table(&table.caption, &heads, rows.collect());
        }
        let levels = contents.levels.iter().flat_map(|(column, levels)| {
            levels.iter().map(move |level| {
                vec![
                    text(column.as_str()),
                    text(level.name.as_str()),
                    text(level.examples.join(", ")),
                    number(thousands(level.records)),
                    number(percent(level.records as f64 / records as f64)),
                    number(format!("{:.1}", level.values)),
                ]
            })
        });
        let heads = [
            "quasi-identifier",
            "written as",
            "most frequent",
            "records",
            "share",
            "values in a cell, mean",
        ];
        html.table("How finely quasi-identifiers are written", &heads, levels.collect());
    });
}

/// What the columns of role `other` give away.
pub(super) fn others(html: &mut Html, facts: &Facts) {
    let other = &facts.report.found.other;
    if other.is_empty() {
        return;
    }
    html.section("others", "What columns give away that are published as they are", |html| {
        html.put("p", "Some columns are neither generalized nor held to the requirement. A record is singled out if no other has its value there: whoever knows the value of a person finds the record. A record is alone in its class if no other record of the class has its value: whoever knows the person's quasi-identifiers and this value finds the record.");
        let records = other.records.max(1) as f64;
        let counted = |records_of: u64| {
            let share = records_of as f64 / records;
            number(format!("{} ({})", thousands(records_of), percent(share)))
        };
        let mut rows: Vec<Vec<Cell>> = other
            .columns
            .iter()
            .map(|column| {
                let contents = &mut facts.contents.others.iter();
                let found = contents.find(|found| found.name == column.name);
                let inside = found.and_then(|found| found.alone_in_class);
                vec![
                    text(column.name.as_str()),
                    number(found.map_or(String::new(), |found| thousands(found.values))),
                    counted(column.unique),
                    inside.map_or(text("no class is joined to it"), counted),
                    text(match column.publish_unique {
                        true => "as many as there are",
                        false => "5 %",
                    }),
                ]
            })
            .collect();
        if let Some(unique) = other.together {
            rows.push(vec![
                text("all of these together"),
                text(""),
                counted(unique),
                text(""),
                text(""),
            ]);
        }
        let heads = [
            "column",
            "values",
            "records singled out",
            "records alone in their class",
            "the study allows to single out",
        ];
        html.table("Columns that are published as they are", &heads, rows);
        let named: Vec<&str> = other
            .columns
            .iter()
            .filter(|column| column.unique > 0)
            .map(|column| column.name.as_str())
            .collect();
        html.put("p", &match named.len() {
            0 => String::from("None of these columns singles out anybody by itself."),
            columns => format!("{} somebody out: {}.", count(columns as u64, "column singles", "columns single"), named.join(", ")),
        });
    });
}
