//! `hedgerow run rejoin`: for a site whose data folder was lost, or that is new in a study which has had
//! runs. The peers' nodes say which run is due.
//!
//! What was lost cannot be had again: the seed of a run under way is gone, so that run is given up, by
//! this site first and then by all; and what the rows were in before is not known any more, unless the
//! site's memory was kept, so that by `accept.rerun` the next run is refused, or the officer is asked.

use std::path::PathBuf;

use hedgerow_node::End;
use hedgerow_node::knock::Due;
use hedgerow_node::memory::How;
use serde_json::json;

use crate::error::CliError;
use crate::output::Answer;
use crate::part::Part;
use crate::run::block_on;

#[derive(clap::Args)]
#[command(
    after_help = "The nodes of all other sites must be running: they say which run is due.\nExample: hedgerow run rejoin --site north.toml"
)]
pub(crate) struct Arguments {
    /// This site's file.
    #[arg(long, value_name = "FILE")]
    site: PathBuf,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Answer, CliError> {
    let part = Part::open(&arguments.site)?;
    let stopped = || {
        Err(CliError::Usage(String::from(
            "stopped\nhint: the same command begins again",
        )))
    };
    block_on(rejoin(&part), stopped)
}

async fn rejoin(part: &Part) -> Result<Answer, CliError> {
    if let Some(last) = part.runs()?.iter().map(|entry| entry.number).max() {
        return Err(CliError::Usage(format!(
            "{}: the journal is there, and run {last} was the last of this study here\nhint: hedgerow status --site … shows the runs",
            part.site.data.display()
        )));
    }
    let answers = ask(part).await?;
    let last_of = |due: &Due| match due.is_under_way {
        true => due.number,
        false => due.number.saturating_sub(1),
    };
    let lasts = || answers.iter().map(|(_, due)| last_of(due));
    let (least, last) = (lasts().min().unwrap_or(0), lasts().max().unwrap_or(0));
    // A run may have begun, or ended, at some of them only.
    if last - least > 1 {
        let said: Vec<String> = answers
            .iter()
            .map(|(name, due)| format!("`{name}` has had {}", last_of(due)))
            .collect();
        return Err(CliError::Usage(format!(
            "the other sites do not agree how many runs there were: {}\nhint: have their stewards compare hedgerow status",
            said.join(", ")
        )));
    }
    if last == 0 {
        let text = String::from("no run was lost: run 1 is due\nhint: hedgerow run begins it\n");
        let value = json!({ "lost": 0, "next": 1 });
        return Ok(Answer::new(text, &value, true));
    }
    let study = part.agreement.hash;
    let mut known = 0;
    for version in part.versions()? {
        known += part.memory.entered(&part.site.name, version)?;
    }
    let journal = part.journal()?;
    if known < last {
        let (site, name) = (&part.site.name, &part.agreement.study.name);
        let source = part.site.source.identity();
        part.memory.loses(site, study, name, &source)?;
    }
    journal.lose(study, last)?;
    part.renounce(&journal, last)?;
    part.memory.ends(&part.mark(last), How::GivenUp)?;
    drop(journal);
    let is_under_way = answers
        .iter()
        .any(|(_, due)| due.is_under_way && due.number == last);
    let next = last.saturating_add(1);
    let mut text = match last {
        1 => String::from("run 1 was lost with the data folder\n"),
        _ => format!("runs 1 to {last} were lost with the data folder\n"),
    };
    if is_under_way {
        part.decline(last, End::GivenUp).await;
        text.push_str(&format!(
            "run {last} is under way and cannot go on without what was lost: it is given up here\nhint: have the others give it up too with hedgerow run --abandon --number {last}\n"
        ));
    }
    if known < last {
        text.push_str(&format!(
            "which rows were in them is not known any more, so by accept.rerun the next run is refused or the privacy officer is asked\nhint: write rerun = \"ask\", and hedgerow run approve {next} --site …\n"
        ));
    }
    text.push_str(&format!("run {next} is due\n"));
    let value = json!({
        "lost": last,
        "next": next,
        "given_up": is_under_way.then_some(last),
        "rows_known": known >= last,
    });
    Ok(Answer::new(text, &value, true))
}

/// Asks every peer's node which run is due.
async fn ask(part: &Part) -> Result<Vec<(String, Due)>, CliError> {
    let door = part.door();
    let (mut answers, mut silent) = (Vec::new(), Vec::new());
    for (peer, name) in part.peers() {
        match door.ask(peer, &part.address(peer)?).await {
            Ok(due) => answers.push((name.to_owned(), due)),
            Err(error) => silent.push(format!("`{name}` {error}")),
        }
    }
    if silent.is_empty() {
        return Ok(answers);
    }
    Err(CliError::Usage(format!(
        "not every site says which run is due: {}\nhint: have their stewards start hedgerow node, then type this again",
        silent.join("; ")
    )))
}
