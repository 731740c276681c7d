//! `hedgerow run approve` and `run refuse`: the privacy officer's word about a run; `run rejoin`: how a
//! site that lost its data folder comes back.

use std::path::PathBuf;

use hedgerow::{CarriedOut, Site};
use serde_json::json;

use crate::error::CliError;
use crate::output::Answer;
use crate::progress::Terminal;
use crate::runtime::block_on;

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

#[derive(clap::Args)]
#[command(
    after_help = "The nodes of all other sites must be running: they say which run is due.\nExample: hedgerow run rejoin --site north.toml"
)]
pub(crate) struct RejoinArguments {
    /// This site's file.
    #[arg(long, value_name = "FILE")]
    site: PathBuf,
}

pub(crate) fn approve(arguments: &Arguments) -> Result<Answer, CliError> {
    let (site, number) = (open(&arguments.site)?, arguments.number);
    let text = match site.approve(number)? {
        CarriedOut::ByProcess => {
            format!("run {number} is approved; this site's process goes on with it\n")
        }
        _ => format!(
            "run {number} is approved; it begins when this site's node is asked for it, or by hedgerow run\n"
        ),
    };
    Ok(Answer::new(text, &json!({ "approved": number }), true))
}

pub(crate) fn refuse(arguments: &Arguments) -> Result<Answer, CliError> {
    let (site, number) = (open(&arguments.site)?, arguments.number);
    let carry_out = async {
        Ok(Some(match site.refuse(number).await? {
            CarriedOut::ByProcess => "this site's process tells the peers",
            _ => "the peers that could be reached were told",
        }))
    };
    let told = block_on::<_, CliError>(carry_out, || Ok(None))?;
    let told = told.unwrap_or("stopped before every peer could be told");
    let text = format!("run {number} is refused, and its number is not used again; {told}\n");
    Ok(Answer::new(text, &json!({ "refused": number }), true))
}

pub(crate) fn rejoin(arguments: &RejoinArguments) -> Result<Answer, CliError> {
    let site = open(&arguments.site)?;
    let stopped = || {
        Err(CliError::Stopped(
            "stopped\nhint: the same command begins again",
        ))
    };
    Ok(Answer::of(&block_on(site.rejoin(), stopped)?, true))
}

fn open(path: &PathBuf) -> Result<Site, CliError> {
    Ok(Site::open(path)?.observer(Terminal::default()))
}
