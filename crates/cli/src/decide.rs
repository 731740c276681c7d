//! `hedgerow run approve` and `run refuse`: the privacy officer's word about a run.
//!
//! The word goes into the site's memory, which a node looks at while it waits, so that it works beside
//! one; where nobody is at work, a refusal is carried out here.

use std::path::PathBuf;

use hedgerow_node::journal::{Journal, JournalError};
use hedgerow_node::rerun::Rerun;
use serde_json::json;

use crate::due::require_due;
use crate::error::CliError;
use crate::output::Answer;
use crate::part::Part;
use crate::run::block_on;

#[derive(clap::Args)]
#[command(
    after_help = "A run waits for a word where the site's file says rerun = \"ask\"; hedgerow status says why. A word\nmay also be given before the run is asked for.\nExample: hedgerow run approve 2 --site north.toml"
)]
pub(crate) struct Arguments {
    /// Which run of the study.
    number: u32,
    /// This site's file.
    #[arg(long, value_name = "FILE")]
    site: PathBuf,
}

pub(crate) fn approve(arguments: &Arguments) -> Result<Answer, CliError> {
    let (part, number) = (Part::open(&arguments.site)?, arguments.number);
    require_due(&part.site.data, &part.versions()?, number)?;
    if part.site.accept.rerun != Rerun::Ask {
        return Err(CliError::Usage(String::from(
            "accept.rerun: is \"same rows\", so no word lets a run through\nhint: write rerun = \"ask\", and start the node again",
        )));
    }
    part.memory.decide(&part.mark(number), true)?;
    let text = match Journal::is_held(&part.site.data)? {
        true => format!("run {number} is approved; this site's process goes on with it\n"),
        false => format!(
            "run {number} is approved; it begins when this site's node is asked for it, or by hedgerow run\n"
        ),
    };
    Ok(Answer::new(text, &json!({ "approved": number }), true))
}

pub(crate) fn refuse(arguments: &Arguments) -> Result<Answer, CliError> {
    let (part, number) = (Part::open(&arguments.site)?, arguments.number);
    require_due(&part.site.data, &part.versions()?, number)?;
    if part.runs()?.iter().any(|entry| entry.number == number) {
        return Err(CliError::Usage(format!(
            "run {number} has begun at this site\nhint: hedgerow run --abandon --number {number} gives it up"
        )));
    }
    part.memory.decide(&part.mark(number), false)?;
    let carry_out = async {
        match part.journal() {
            Ok(journal) => match part.turn_down(number, journal).await {
                CliError::Refused { .. } => Ok("the peers that could be reached were told"),
                error => Err(error),
            },
            // It waits for this word, or will hear it before it begins.
            Err(CliError::Journal(JournalError::Busy { .. })) => {
                Ok("this site's process tells the peers")
            }
            Err(error) => Err(error),
        }
    };
    let stopped = || Ok("stopped before every peer could be told");
    let told = block_on(carry_out, stopped)?;
    let text = format!("run {number} is refused, and its number is not used again; {told}\n");
    Ok(Answer::new(text, &json!({ "refused": number }), true))
}
