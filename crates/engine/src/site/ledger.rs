//! What each other site has learned through this one's runs, since the beginning, from the journal: also
//! in runs that failed, were given up or killed; and by questions about the tables of these runs, from the log
//! of questions.
//!
//! # Discloses
//! To whoever may read the journal: names and counts, never a value.

use hedgerow_node::agreement::Agreement;
use hedgerow_node::journal::{Entry, Journal, Learned};
use hedgerow_node::questions::{LearnedByQuestions, Tally};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::Site;
use super::part::warn;
use super::refused::SiteRefused;
use crate::error::Error;
use crate::words::{aligned, count};

/// What each other site has learned in all runs, for people by [`Display`](std::fmt::Display) and as JSON.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SiteLedger {
    /// What each other site has learned, by its name.
    pub sites: Vec<(String, Vec<LearnedInAll>)>,
    /// Questions by the site that asked, and what was learned by them.
    pub questions: Tally,
    text: String,
    json: Value,
}

impl std::fmt::Display for SiteLedger {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

impl Serialize for SiteLedger {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.json.serialize(serializer)
    }
}

/// A run with what was disclosed in it.
#[derive(Debug, Clone)]
struct Run {
    entry: Entry,
    members: Vec<String>,
    learned: Vec<Learned>,
}

/// One kind of thing that a site learned, added up over runs.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LearnedInAll {
    /// What was disclosed.
    pub what: String,
    /// The recipients, in words.
    pub to: String,
    /// The theorem or rule that allows it.
    pub allowed_by: String,
    /// What could not be hidden besides.
    pub caveat: Option<String>,
    /// How often the protocol asked for the disclosure.
    pub calls: u64,
    /// How many of these calls ended early.
    pub ended_early: u64,
    /// How many values were disclosed.
    pub values: u64,
    /// The numbers of the runs in which this was disclosed.
    pub runs: Vec<u32>,
}

impl Site {
    /// What each other site has learned in all runs of this site.
    pub fn ledger(&self) -> Result<SiteLedger, Error> {
        let site = &self.file;
        warn(site, &self.observer);
        let agreement = Agreement::open(&site.study)?;
        let versions = Journal::versions(&site.data, agreement.hash, agreement.parent())?;
        let mut runs = Vec::new();
        let mut lost = Vec::new();
        for version in &versions {
            lost.extend(Journal::lost(&site.data, *version)?);
        }
        let mut accounts = Journal::accounts(&site.data)?;
        for entry in Journal::list(&site.data)? {
            if versions.contains(&entry.study) {
                let account = accounts.remove(&(entry.study, entry.number));
                let account = account.unwrap_or_default();
                runs.push(Run {
                    members: account.members,
                    learned: account.learned,
                    entry,
                });
            }
        }
        let questions = Tally::read(&site.data).map_err(|error| SiteRefused::NoQuestionLog {
            folder: site.data.clone(),
            reason: error.to_string(),
        })?;
        let mut names: Vec<&str> = Vec::new();
        let askers = questions.asked.keys();
        for name in runs.iter().flat_map(|run| &run.members).chain(askers) {
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
        for (asker, asked) in &questions.asked {
            text.push_str(&format!(
                "questions of `{asker}`: {} answered ({} for totals, {} for rows), {} ended, {} refused here\n",
                asked.answered, asked.totals, asked.rows, asked.ended, asked.refused
            ));
        }
        if names.is_empty() {
            text.push_str("no other site has learned anything\n");
        }
        let (mut sites, mut learned_by) = (Vec::new(), Vec::new());
        for name in names {
            let sums = sums(&runs, name);
            text.push_str(&format!("`{name}` has learned\n"));
            text.push_str(&aligned(&sums.iter().map(row).collect::<Vec<_>>()));
            let by_questions: Vec<&LearnedByQuestions> = questions
                .learned
                .iter()
                .filter(|line| line.to == name || !is_a_site(&questions, &runs, &line.to))
                .collect();
            if !by_questions.is_empty() {
                text.push_str(&format!("`{name}` has learned by questions\n"));
                let rows = by_questions.iter().map(|line| question_row(line));
                text.push_str(&aligned(&rows.collect::<Vec<_>>()));
            }
            let learned: Vec<Value> = sums.iter().map(value).collect();
            sites.push(json!({
                "site": name,
                "learned": learned,
                "learned_by_questions": by_questions,
            }));
            learned_by.push((name.to_owned(), sums));
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
        Ok(SiteLedger {
            sites: learned_by,
            text,
            json: json!({
                "runs": told,
                "lost": lost,
                "questions": questions.asked,
                "sites": sites,
            }),
            questions,
        })
    }
}

/// What a site has learned in all runs that it was in.
fn sums(runs: &[Run], name: &str) -> Vec<LearnedInAll> {
    let mut sums: Vec<LearnedInAll> = Vec::new();
    for run in runs {
        if !run.members.iter().any(|member| member == name) {
            continue;
        }
        let to_it = |line: &&Learned| line.site.as_deref().is_none_or(|site| site == name);
        for line in run.learned.iter().filter(to_it) {
            let is_same = |sum: &LearnedInAll| {
                (&sum.what, &sum.to, &sum.caveat) == (&line.what, &line.to, &line.caveat)
            };
            let place = sums.iter().position(is_same).unwrap_or_else(|| {
                sums.push(LearnedInAll {
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

/// Whether a recipient is the name of a site, and no other words.
fn is_a_site(questions: &Tally, runs: &[Run], to: &str) -> bool {
    let mut members = runs.iter().flat_map(|run| &run.members);
    questions.asked.contains_key(to) || members.any(|member| member == to)
}

fn question_row(line: &LearnedByQuestions) -> Vec<String> {
    let early = match line.ended_early {
        0 => String::new(),
        calls => format!(", at most: {} ended early", count(calls, "call", "calls")),
    };
    vec![
        format!("  {}", line.what),
        format!("{}{early}", count(line.values, "value", "values")),
        format!("to {}", line.to),
        format!(
            "{} of `{}`",
            count(line.calls, "question", "questions"),
            line.asker
        ),
        line.greatest_loss.map_or_else(String::new, |loss| {
            format!("LoP of a site's set at most {loss:.4} expected (JX08 equation 5)")
        }),
    ]
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

fn row(sum: &LearnedInAll) -> Vec<String> {
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

fn value(sum: &LearnedInAll) -> Value {
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
