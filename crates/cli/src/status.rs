//! `hedgerow status`: the runs of a site, from its journal, whoever is at work on them.

use std::path::PathBuf;

use hedgerow_node::agreement::Agreement;
use hedgerow_node::journal::{Entry, Journal};
use hedgerow_node::site::SiteFile;
use serde_json::{Value, json};

use crate::error::CliError;
use crate::output::{Answer, aligned};

/// Show the runs of a site and how far they are.
#[derive(clap::Args)]
#[command(after_help = "Example: hedgerow status --site north.toml")]
pub(crate) struct Arguments {
    /// This site's file.
    #[arg(long, value_name = "FILE")]
    site: PathBuf,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Answer, CliError> {
    let site = SiteFile::open(&arguments.site)?;
    let agreement = Agreement::open(&site.study)?;
    let entries = Journal::look(&site.data)?;
    let mut text = String::new();
    if entries.is_empty() {
        text.push_str("no runs\n");
    }
    let mut runs = Vec::new();
    for entry in &entries {
        let is_present = entry.study == agreement.hash;
        let name = |peer: u16| match agreement.study.sites.get(usize::from(peer)) {
            Some(site) if is_present => site.name.clone(),
            _ => format!("site {peer}"),
        };
        text.push_str(&lines(entry, is_present, &name));
        runs.push(value(entry, &name));
    }
    Ok(Answer::new(text, &json!({ "runs": runs }), true))
}

fn lines(entry: &Entry, is_present: bool, name: &dyn Fn(u16) -> String) -> String {
    let of = if is_present {
        String::new()
    } else {
        format!(" of the study {}", entry.study)
    };
    let state = match &entry.ended {
        Some(ended) => format!("over since {ended}"),
        None => String::from("not over"),
    };
    let mut text = format!(
        "run {}{of}: {state}, begun {} UTC\n",
        entry.number, entry.started
    );
    if !entry.is_over {
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

fn value(entry: &Entry, name: &dyn Fn(u16) -> String) -> Value {
    let peers: Vec<Value> = entry
        .frames
        .iter()
        .map(|(peer, sent, received)| {
            json!({ "site": name(*peer), "sent": sent, "received": received })
        })
        .collect();
    json!({
        "run": entry.number,
        "study_hash": entry.study.to_string(),
        "over": entry.is_over,
        "started": entry.started,
        "ended": entry.ended,
        "peers": peers,
    })
}
