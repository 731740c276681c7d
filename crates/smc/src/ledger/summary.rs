//! A ledger in short, as people read it: entries of the same disclosure taken together.

use std::fmt;

use serde::Serialize;

use super::{Disclosure, Ledger};

/// One row of the summary: entries of the same disclosure taken together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Line {
    /// What was disclosed.
    pub what: &'static str,
    /// The primitive that disclosed it.
    pub by: &'static str,
    /// The recipients, in words.
    pub to: String,
    /// The number of calls.
    pub calls: usize,
    /// How many of the calls ended early.
    pub ended_early: usize,
    /// The number of values in all.
    pub values: usize,
    /// The theorem or rule that allows the disclosure.
    pub allowed_by: &'static str,
    /// What could not be hidden besides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub caveat: Option<&'static str>,
}

impl Ledger {
    /// Entries of the same disclosure taken together, in the order of their first appearance.
    pub fn summary(&self) -> Vec<Line> {
        let mut lines: Vec<(Disclosure, Line)> = Vec::new();
        for entry in &self.entries {
            let found = lines
                .iter_mut()
                .find(|(disclosure, _)| *disclosure == entry.disclosure);
            if let Some((_, line)) = found {
                line.calls += 1;
                line.ended_early += usize::from(!entry.complete);
                line.values += entry.values;
                continue;
            }
            let Disclosure {
                what,
                by,
                to,
                caveat,
            } = entry.disclosure;
            let line = Line {
                what: what.name(),
                by: by.name(),
                to: to.to_string(),
                calls: 1,
                ended_early: usize::from(!entry.complete),
                values: entry.values,
                allowed_by: what.allowed_by(),
                caveat,
            };
            lines.push((entry.disclosure, line));
        }
        lines.into_iter().map(|(_, line)| line).collect()
    }
}

impl fmt::Display for Ledger {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = self.summary();
        if lines.is_empty() {
            return writeln!(formatter, "Nothing was disclosed.");
        }
        let width = |title: &str, of: &dyn Fn(&Line) -> usize| {
            lines.iter().map(of).chain([title.len()]).max().unwrap_or(0)
        };
        let what = width("what", &|line| line.what.len());
        let to = width("to", &|line| line.to.len());
        let by = width("by", &|line| line.by.len());
        writeln!(
            formatter,
            "{:what$}  {:to$}  {:by$}  {:>6}  {:>9}  allowed by",
            "what", "to", "by", "calls", "values"
        )?;
        for line in &lines {
            writeln!(
                formatter,
                "{:what$}  {:to$}  {:by$}  {:>6}  {:>9}  {}",
                line.what, line.to, line.by, line.calls, line.values, line.allowed_by
            )?;
            if let Some(caveat) = line.caveat {
                writeln!(formatter, "    note: {caveat}")?;
            }
            if line.ended_early > 0 {
                writeln!(formatter, "    note: {} ended early", line.ended_early)?;
            }
        }
        if let Some([holder, keeper, judge]) = self.roles {
            writeln!(
                formatter,
                "roles: holder {holder}, keeper {keeper}, judge {judge}"
            )?;
        }
        writeln!(formatter, "level: {}", self.origin.security)
    }
}
