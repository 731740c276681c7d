//! `hedgerow run`: starts a run of a signed study from this site, or goes on with one; `run approve`,
//! `run refuse` and `run rejoin` decide about runs, see `decide`.

use std::path::PathBuf;

use hedgerow::Site;
use serde_json::json;

use crate::decide;
use crate::error::{CliError, Usage};
use crate::node_log::{Form, NodeLog};
use crate::output::Answer;
use crate::progress::Terminal;
use crate::runtime::block_on;

/// Start a run of a study, or go on with one.
#[derive(clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = "Killed or cut off at any moment, the same command goes on where the run stands.\nWith --json what is said on stderr is JSON too, an object a line, as a node's log has it.\nExit codes: 0 the release lies in the data folder, 1 it does not hold, 2 there is none.\nExamples:\n  hedgerow run --site north.toml\n  hedgerow run approve 2 --site north.toml"
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    /// This site's file.
    #[arg(long, value_name = "FILE", required = true)]
    site: Option<PathBuf>,
    /// Which run of the study.
    #[arg(long, default_value_t = 1)]
    number: u32,
    /// Give the run up: forget everything about it but its number and what was learned.
    #[arg(long)]
    abandon: bool,
    /// For rehearsals with invented rows only: whoever knows the seed can unmask this site.
    #[arg(long, hide = true)]
    seed: Option<u64>,
}

/// What the privacy officer and the steward say of runs.
#[derive(clap::Subcommand)]
enum Command {
    /// Let this site's rows be in a run that waits for the privacy officer's word.
    Approve(decide::Arguments),
    /// Keep this site out of a run; its number is not used again.
    Refuse(decide::Arguments),
    /// Find the next run after the data folder was lost, or for a site that is new in a study.
    Rejoin(decide::RejoinArguments),
}

pub(crate) fn run(arguments: &Arguments, is_json: bool) -> Result<Answer, CliError> {
    match &arguments.command {
        Some(Command::Approve(arguments)) => return decide::approve(arguments),
        Some(Command::Refuse(arguments)) => return decide::refuse(arguments),
        Some(Command::Rejoin(arguments)) => return decide::rejoin(arguments),
        None => {}
    }
    let log = is_json.then(|| NodeLog::begin(Form::Json));
    let site = Site::open(arguments.site.as_ref().ok_or(Usage::NoSite)?)?;
    let number = arguments.number;
    let site = match log {
        Some(log) => site.observer(log),
        None => site.observer(Terminal::default()),
    };
    if arguments.abandon {
        let told = || {
            Err(CliError::Stopped(
                "stopped before every peer could be told\nhint: hedgerow status shows whether the run was given up",
            ))
        };
        let next = block_on(site.abandon(number), told)?;
        let text = format!(
            "run {number} was given up; nothing of it is kept but its number and what was learned\nhint: have the others give it up too, and start the next with --number {next}\n"
        );
        return Ok(Answer::new(text, &json!({ "abandoned": number }), true));
    }
    let stopped = || {
        Err(CliError::Stopped(
            "stopped\nhint: the same command goes on where the run stands",
        ))
    };
    let summary = block_on(site.run(number, arguments.seed), stopped)?;
    Ok(Answer {
        text: summary.text,
        json: summary.json,
        holds: summary.holds,
    })
}
