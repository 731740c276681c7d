//! A comparison for people: a table, the recommendation, and the lines to put into the study.

use super::{Choice, Comparison, Measured, Row, Tried};
use crate::words::{aligned, count, percent, thousands};

impl Comparison {
    /// What was compared, and a line for each choice.
    pub fn table_text(&self) -> String {
        let choices: usize = self.choices.iter().map(|row| row.choices().count()).sum();
        let mut text = format!(
            "{}: {}, {} compared under {}, in {:.1} s of {:.0} s\n",
            self.table,
            count(self.records, "record", "records"),
            count(choices as u64, "choice", "choices"),
            self.requirement.join(", "),
            self.seconds,
            self.time,
        );
        let head = [
            "",
            "algorithm",
            "recode",
            "loss",
            "query error",
            "risk",
            "highest",
            "classes",
            "smallest",
            "median",
            "largest",
            "time",
            "",
        ];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        let recommended = self.recommended.as_ref().map(|found| found.row);
        for (place, row) in self.choices.iter().enumerate() {
            if let Some(measured) = row.measured() {
                rows.push(line(row, measured, recommended == Some(place)));
            }
        }
        if rows.len() > 1 {
            text.push_str(&aligned(&rows));
        }
        for row in &self.choices {
            text.push_str(&self.unmeasured(row));
        }
        text.push_str(&format!(
            "loss: NCP; query error: mean of {} random counts of {}, ranges of {:.0} % of the values, seed {};\nrisk: of the average and of the most endangered person whom others know to be in the table\n",
            thousands(self.queries.count as u64),
            count(self.queries.attributes as u64, "column", "columns"),
            self.queries.width * 100.0,
            self.queries.seed,
        ));
        text
    }

    fn unmeasured(&self, row: &Row) -> String {
        let words = names(row);
        let own = if row.choice.own {
            " (the study's own)"
        } else {
            ""
        };
        match &row.tried {
            Tried::Measured(_) => String::new(),
            Tried::Refused { reason } => format!("  {words}{own}: no release: {reason}\n"),
            Tried::NotRun { reason } => format!("  {words}{own}: not run: {reason}\n"),
        }
    }

    /// What is least lost by each way to write classes: whoever reads the release may want one of them.
    fn by_recoding(&self) -> String {
        let mut best: Vec<(&Choice, f64)> = Vec::new();
        // Rows stand by loss.
        for row in &self.choices {
            let measured = row.measured().filter(|measured| measured.holds);
            for choice in row.choices().filter(|_| measured.is_some()) {
                let is_new = best.iter().all(|(found, _)| found.recode != choice.recode);
                best.extend(
                    measured
                        .filter(|_| is_new)
                        .map(|found| (choice, found.loss)),
                );
            }
        }
        let best = best.into_iter().map(|(choice, loss)| {
            format!("{} {} ({})", choice.recode, percent(loss), choice.algorithm)
        });
        let best: Vec<String> = best.collect();
        match best.len() {
            0 | 1 => String::new(),
            _ => format!("  least lost by each recoding: {}\n", best.join(", ")),
        }
    }

    /// The recommendation with the lines for the study, and what readers should know.
    pub fn advice_text(&self) -> String {
        let mut text = String::new();
        match &self.recommended {
            None if self.choices.iter().any(|row| row.measured().is_some()) => text.push_str(
                "no choice that was run satisfies the requirement\nhint: a weaker requirement, or more records\n",
            ),
            None => text.push_str("no choice gave a release, so none is recommended\n"),
            Some(found) => {
                let row = &self.choices[found.row];
                text.push_str(&format!(
                    "recommended: {}\n  {}\n  the rule: {}\n",
                    row.choice.words(),
                    found.because,
                    self.rule
                ));
                text.push_str(&self.by_recoding());
                if !row.choice.own {
                    text.push_str("[algorithm] of the study is then:\n\n");
                    text.push_str(&found.lines);
                    text.push('\n');
                }
            }
        }
        for note in &self.notes {
            text.push_str(&format!("note: {note}\n"));
        }
        text
    }
}

/// A line of the table.
fn line(row: &Row, measured: &Measured, is_recommended: bool) -> Vec<String> {
    let remarks = [
        (is_recommended, "recommended"),
        (row.choice.own, "the study's own"),
        (measured.stopped, "ended early"),
        (!measured.holds, "DOES NOT HOLD"),
    ];
    let said = remarks.into_iter().filter(|(is_so, _)| *is_so);
    let mut remarks: Vec<String> = said.map(|(_, words)| words.to_owned()).collect();
    if !row.equal.is_empty() {
        let equal: Vec<String> = row.equal.iter().map(Choice::words).collect();
        remarks.push(format!("the same release as {}", equal.join("; ")));
    }
    let classes = &measured.classes;
    let error = measured.query_error.as_ref();
    vec![
        String::from(if is_recommended { "*" } else { " " }),
        row.choice.algorithm.to_owned(),
        recodes(row),
        percent(measured.loss),
        error.map_or_else(|| String::from("-"), |error| percent(error.mean)),
        percent(measured.risk.average),
        percent(measured.risk.highest),
        thousands(classes.count),
        thousands(classes.smallest),
        thousands(classes.median),
        thousands(classes.largest),
        format!("{:.1} s", measured.seconds),
        remarks.join(", "),
    ]
}

/// The recodings of a row, and whether a class is written as what cuts leave.
fn recodes(row: &Row) -> String {
    let mut recodes = vec![row.choice.recode];
    recodes.extend(&row.choice.same);
    let covers = match row.choice.covers {
        Some("box") => " (box)",
        _ => "",
    };
    format!("{}{covers}", recodes.join(" = "))
}

/// The choices of a row that was not measured.
fn names(row: &Row) -> String {
    let mut recodes = vec![row.choice.recode];
    recodes.extend(&row.choice.same);
    let covers = match row.choice.covers {
        Some("box") => ", covers box",
        _ => "",
    };
    format!("{}, {}{covers}", row.choice.algorithm, recodes.join(" or "))
}

impl std::fmt::Display for Comparison {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}\n{}", self.table_text(), self.advice_text())
    }
}
