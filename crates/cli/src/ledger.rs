//! `hedgerow ledger`: what each other site has learned through this one's runs, since the beginning, from
//! the journal: also in runs that failed, were given up or killed.
//!
//! # Discloses
//! To whoever may read the journal: names and counts, never a value.

use std::path::PathBuf;

use hedgerow_node::agreement::Agreement;
use hedgerow_node::journal::{Entry, Journal, Learned};
use hedgerow_node::site::SiteFile;
use serde_json::{Value, json};

use crate::error::CliError;
use crate::output::{Answer, aligned, count};
use crate::part::warn;

/// Add up what each other site has learned in all runs of a site.
#[derive(clap::Args)]
#[command(
    after_help = "The ledger holds names and counts, never a value. The summary of one run is in its manifest.\nExample: hedgerow ledger --site north.toml"
)]
pub(crate) struct Arguments {
    /// This site's file.
    #[arg(long, value_name = "FILE")]
    site: PathBuf,
}

/// A run with what was disclosed in it.
struct Run {
    entry: Entry,
    members: Vec<String>,
    learned: Vec<Learned>,
}

/// One disclosure, added up over runs.
struct Sum {
    what: String,
    to: String,
    allowed_by: String,
    caveat: Option<String>,
    calls: u64,
    ended_early: u64,
    values: u64,
    runs: Vec<u32>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Answer, CliError> {
    let site = SiteFile::open(&arguments.site)?;
    warn(&site);
    let agreement = Agreement::open(&site.study)?;
    let versions = Journal::versions(&site.data, agreement.hash, agreement.parent())?;
    let mut runs = Vec::new();
    let mut lost = Vec::new();
    for version in &versions {
        lost.extend(Journal::lost(&site.data, *version)?);
    }
    for entry in Journal::look(&site.data)? {
        if versions.contains(&entry.study) {
            runs.push(Run {
                members: Journal::members(&site.data, entry.study, entry.number)?,
                learned: Journal::learned(&site.data, entry.study, entry.number)?,
                entry,
            });
        }
    }
    let mut names: Vec<&str> = Vec::new();
    for name in runs.iter().flat_map(|run| &run.members) {
        if *name != site.name && !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    let mut text = String::new();
    for (through, noted) in &lost {
        text.push_str(&format!(
            "what was learned in runs up to {through} was lost with the data folder, as was noted {noted} UTC\n"
        ));
    }
    let head: Vec<Vec<String>> = runs.iter().map(line).collect();
    text.push_str(&aligned(&head));
    if names.is_empty() {
        text.push_str("no other site has learned anything\n");
    }
    let mut sites = Vec::new();
    for name in names {
        let sums = sums(&runs, name);
        text.push_str(&format!("`{name}` has learned\n"));
        text.push_str(&aligned(&sums.iter().map(row).collect::<Vec<_>>()));
        let learned: Vec<Value> = sums.iter().map(value).collect();
        sites.push(json!({ "site": name, "learned": learned }));
    }
    let told: Vec<Value> = runs
        .iter()
        .map(|run| {
            json!({
                "run": run.entry.number,
                "study_hash": run.entry.study.to_string(),
                "end": end(&run.entry),
                "started": run.entry.started,
                "ended": run.entry.ended,
                "values": run.learned.iter().map(|line| line.values).sum::<u64>(),
            })
        })
        .collect();
    let lost: Vec<Value> = lost
        .iter()
        .map(|(through, noted)| json!({ "through": through, "noted": noted }))
        .collect();
    let value = json!({ "runs": told, "lost": lost, "sites": sites });
    Ok(Answer::new(text, &value, true))
}

/// What a site has learned in all runs that it was in.
fn sums(runs: &[Run], name: &str) -> Vec<Sum> {
    let mut sums: Vec<Sum> = Vec::new();
    for run in runs {
        if !run.members.iter().any(|member| member == name) {
            continue;
        }
        let to_it = |line: &&Learned| line.site.as_deref().is_none_or(|site| site == name);
        for line in run.learned.iter().filter(to_it) {
            let is_same = |sum: &Sum| {
                (&sum.what, &sum.to, &sum.caveat) == (&line.what, &line.to, &line.caveat)
            };
            let place = sums.iter().position(is_same).unwrap_or_else(|| {
                sums.push(Sum {
                    what: line.what.clone(),
                    to: line.to.clone(),
                    allowed_by: line.allowed_by.clone(),
                    caveat: line.caveat.clone(),
                    calls: 0,
                    ended_early: 0,
                    values: 0,
                    runs: Vec::new(),
                });
                sums.len() - 1
            });
            let sum = &mut sums[place];
            sum.calls += line.calls;
            sum.ended_early += line.ended_early;
            sum.values += line.values;
            if sum.runs.last() != Some(&run.entry.number) {
                sum.runs.push(run.entry.number);
            }
        }
    }
    sums
}

/// How a run ended.
const fn end(entry: &Entry) -> &'static str {
    match (entry.is_given_up, entry.is_over) {
        (true, _) => "given up",
        (false, true) => "over",
        (false, false) => "not over",
    }
}

fn line(run: &Run) -> Vec<String> {
    let entry = &run.entry;
    let ended = match &entry.ended {
        Some(ended) => format!("{} at {ended} UTC", end(entry)),
        None => String::from(end(entry)),
    };
    let values = run.learned.iter().map(|line| line.values).sum();
    vec![
        format!("run {}", entry.number),
        format!("begun {} UTC", entry.started),
        ended,
        match run.learned.is_empty() {
            true => String::from("nothing was disclosed"),
            false => format!("{} disclosed", count(values, "value", "values")),
        },
    ]
}

fn row(sum: &Sum) -> Vec<String> {
    let runs: Vec<String> = sum.runs.iter().map(ToString::to_string).collect();
    let early = match sum.ended_early {
        0 => String::new(),
        calls => format!(", at most: {} ended early", count(calls, "call", "calls")),
    };
    vec![
        format!("  {}", sum.what),
        format!("{}{early}", count(sum.values, "value", "values")),
        format!("to {}", sum.to),
        match runs.len() {
            1 => format!("run {}", runs[0]),
            _ => format!("runs {}", runs.join(", ")),
        },
    ]
}

fn value(sum: &Sum) -> Value {
    let mut value = json!({
        "what": sum.what,
        "to": sum.to,
        "calls": sum.calls,
        "ended_early": sum.ended_early,
        "values": sum.values,
        "allowed_by": sum.allowed_by,
        "runs": sum.runs,
    });
    if let Some(caveat) = &sum.caveat {
        value["caveat"] = json!(caveat);
    }
    value
}
