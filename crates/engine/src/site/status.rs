//! Whether a site's node is up and when it heard of its peers; the runs of a site from its journal, whichever
//! process is at work on them, and a run that failed before it came there; and the runs that wait for its
//! privacy officer, from its memory.

use std::path::Path;

use hedgerow_node::agreement::Agreement;
use hedgerow_node::journal::{Entry, Journal};
use hedgerow_node::knock::Due;
use hedgerow_node::memory::{Mark, Memory, Question};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::Site;
use super::due::due;
use super::part::warn;
use super::standing::{Standing, State};
use super::up::NodeStatus;
use crate::error::Error;
use crate::joint::Step;
use crate::observe::how_to_decide;
use crate::words::aligned;

/// The runs of a site and how far they are, for people by [`Display`](std::fmt::Display) and as JSON.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Status {
    /// Every run in the journal, of whatever study.
    pub runs: Vec<Entry>,
    /// Runs that wait for the privacy officer, and the officer's decision where the officer has decided.
    pub questions: Vec<(Question, Option<bool>)>,
    /// Whether a node of the site is up.
    pub is_up: bool,
    text: String,
    json: Value,
}

impl Site {
    /// The runs of this site and how far they are.
    pub fn status(&self) -> Result<Status, Error> {
        let site = &self.file;
        warn(site, &self.observer);
        let agreement = Agreement::open(&site.study)?;
        let entries = Journal::look(&site.data)?;
        let node = NodeStatus::look(site, &agreement)?;
        let mut text = node.lines(&agreement);
        let asked_for = Memory::at(&site.memory).questions(&site.name, agreement.hash)?;
        let versions = Journal::versions(&site.data, agreement.hash, agreement.parent())?;
        let failed = not_begun(&site.data, &agreement, due(&site.data, &versions));
        if entries.is_empty() && asked_for.is_empty() && failed.is_none() {
            text.push_str("no runs\n");
        }
        let present = Standing::present(&site.data)?;
        let mut runs = Vec::new();
        for entry in &entries {
            let is_present = entry.study == agreement.hash;
            let name = |peer: u16| match agreement.study.sites.get(usize::from(peer)) {
                Some(site) if is_present => site.name.clone(),
                _ => format!("site {peer}"),
            };
            let shown = shown(&site.data, entry, present.as_ref());
            text.push_str(&lines(entry, is_present, shown.as_ref(), &name));
            runs.push(value(entry, shown.as_ref(), &name));
        }
        if let Some(failed) = failed {
            text.push_str(&format!(
                "run {}: not begun\n  {}\n",
                failed.run,
                failed.words()
            ));
            runs.push(json!({
                "run": failed.run,
                "study_hash": failed.study_hash,
                "over": false,
                "state": failed.state,
                "reason": failed.reason,
            }));
        }
        let mut questions = Vec::new();
        for question in asked_for {
            let decision = Memory::at(&site.memory).decision(&Mark {
                site: site.name.clone(),
                study: agreement.hash,
                number: question.number,
            })?;
            let decision = decision.map(|word| word.is_approved);
            text.push_str(&asked(&question, decision));
            runs.push(json!({
                "run": question.number,
                "study_hash": agreement.hash.to_string(),
                "over": false,
                "state": "asking",
                "asked": question.asked,
                "reason": question.why,
                "approved": decision,
            }));
            questions.push((question, decision));
        }
        Ok(Status {
            runs: entries,
            questions,
            is_up: node.is_up,
            json: json!({ "node": node.value(), "peers": node.peers_value(), "runs": runs }),
            text,
        })
    }
}

impl std::fmt::Display for Status {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

impl Serialize for Status {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.json.serialize(serializer)
    }
}

/// What the file of a run says of it, and whether a process of this site is at work on it.
pub(super) fn shown(
    data: &Path,
    entry: &Entry,
    present: Option<&Standing>,
) -> Option<(Standing, bool)> {
    let hash = entry.study.to_string();
    match present {
        Some(present) if present.is_of(&hash, entry.number) => Some((present.clone(), true)),
        _ => Standing::read(data, entry.number)
            .filter(|standing| standing.study_hash == hash)
            .map(|standing| (standing, false)),
    }
}

/// The run that is due, if it failed here before the journal heard of it: a row that does not fit, a source
/// that is gone.
pub(super) fn not_begun(data: &Path, agreement: &Agreement, due: Due) -> Option<Standing> {
    let failed = Standing::read(data, due.number).filter(|_| !due.is_under_way)?;
    let is_of = failed.is_of(&agreement.hash.to_string(), due.number);
    (is_of && failed.state == State::Failed).then_some(failed)
}

/// A run that waits for the privacy officer, or for a process to hear the word.
fn asked(question: &Question, decision: Option<bool>) -> String {
    let Question { number, why, asked } = question;
    let next = match decision {
        None => format!("hint: {}", how_to_decide(*number)),
        Some(true) => String::from("approved; a node, or hedgerow run, goes on with it"),
        Some(false) => String::from("refused; a node, or hedgerow run, tells the peers"),
    };
    format!("run {number}: waits for the privacy officer since {asked} UTC\n  {why}\n  {next}\n")
}

/// How a run that is not over stands, in a few words.
fn standing(shown: Option<&(Standing, bool)>) -> String {
    match shown {
        Some((standing, true)) => standing.words(),
        Some((standing, false)) if standing.reason.is_some() => standing.words(),
        _ => String::from("nobody is at work on it\nhint: hedgerow run goes on where it stands"),
    }
}

fn lines(
    entry: &Entry,
    is_present: bool,
    shown: Option<&(Standing, bool)>,
    name: &dyn Fn(u16) -> String,
) -> String {
    let of = if is_present {
        String::new()
    } else {
        format!(" of the study {}", entry.study)
    };
    let state = match &entry.ended {
        Some(ended) if entry.is_given_up => format!("given up at {ended}"),
        Some(ended) => format!("over since {ended}"),
        None => String::from("not over"),
    };
    let mut text = format!(
        "run {}{of}: {state}, begun {} UTC\n",
        entry.number, entry.started
    );
    if !entry.is_over {
        text.push_str(&format!("  {}\n", standing(shown)));
        let row = |(peer, sent, received): &(u16, u64, u64)| {
            vec![
                format!("  {}", name(*peer)),
                format!("{sent} frames sent"),
                format!("{received} received"),
            ]
        };
        let rows: Vec<Vec<String>> = entry.frames.iter().map(row).collect();
        text.push_str(&aligned(&rows));
    }
    text
}

fn value(entry: &Entry, shown: Option<&(Standing, bool)>, name: &dyn Fn(u16) -> String) -> Value {
    let peers: Vec<Value> = entry
        .frames
        .iter()
        .map(|(peer, sent, received)| {
            json!({ "site": name(*peer), "sent": sent, "received": received })
        })
        .collect();
    let mut value = json!({
        "run": entry.number,
        "study_hash": entry.study.to_string(),
        "over": entry.is_over,
        "started": entry.started,
        "ended": entry.ended,
        "peers": peers,
    });
    value["state"] = match shown {
        _ if entry.is_given_up => json!("given up"),
        _ if entry.is_over => json!("done"),
        Some((standing, is_at_work)) if *is_at_work || standing.reason.is_some() => {
            value["waiting_for"] = json!(standing.waiting_for);
            match standing.step {
                Some(Step::Wave { wave, open }) => {
                    value["wave"] = json!(wave);
                    value["open"] = json!(open);
                }
                Some(step) => value["step"] = json!(step),
                None => {}
            }
            if let Some(reason) = &standing.reason {
                value["reason"] = json!(reason);
            }
            json!(standing.state)
        }
        _ => json!("stopped"),
    };
    value
}
