//! `hedgerow run`: starts a run of a signed study from this site, or goes on with one; `run approve`,
//! `run refuse` and `run rejoin` decide about runs, see `decide` and `rejoin`.
//!
//! Where this site's node waits, it takes the part and this command watches; where there is none,
//! this command takes it. The others' nodes are knocked at either way.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use hedgerow_node::journal::{Journal, JournalError};
use hedgerow_node::knock::KnockError;
use tokio::signal::unix::{SignalKind, signal};

use crate::decide;
use crate::error::CliError;
use crate::output::{Answer, talk};
use crate::part::Part;
use crate::rejoin;
use crate::standing::{Board, Standing, State};

/// A process that has begun with a run, or ended it, shows it within this time.
const SHOWN: Duration = Duration::from_secs(5);

/// Start a run of a study, or go on with one.
#[derive(clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = "Killed or cut off at any moment, the same command goes on where the run stands.\nExit codes: 0 the release lies in the data folder, 1 it does not hold, 2 there is none.\nExamples:\n  hedgerow run --site north.toml\n  hedgerow run approve 2 --site north.toml"
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
    Rejoin(rejoin::Arguments),
}

pub(crate) fn run(arguments: &Arguments) -> Result<Answer, CliError> {
    match &arguments.command {
        Some(Command::Approve(arguments)) => return decide::approve(arguments),
        Some(Command::Refuse(arguments)) => return decide::refuse(arguments),
        Some(Command::Rejoin(arguments)) => return rejoin::run(arguments),
        None => {}
    }
    let none = || CliError::Usage(String::from("--site is missing"));
    let part = Part::open(arguments.site.as_ref().ok_or_else(none)?)?;
    if arguments.abandon {
        let told = || {
            Err(CliError::Usage(String::from(
                "stopped before every peer could be told\nhint: hedgerow status shows whether the run was given up",
            )))
        };
        return block_on(part.abandon(arguments.number), told);
    }
    let stopped = || {
        Err(CliError::Usage(String::from(
            "stopped\nhint: the same command goes on where the run stands",
        )))
    };
    block_on(start(&part, arguments.number, arguments.seed), stopped)
}

async fn start(part: &Part, number: u32, seed: Option<u64>) -> Result<Answer, CliError> {
    // A seed is for this process.
    if seed.is_none() && ring(part, number).await? {
        return watch(part, number).await;
    }
    let listener = part.listen().await?;
    part.take(number, seed, listener).await
}

/// Knocks at this site's own node. Whether it takes, or has taken, its part in the run.
pub(crate) async fn ring(part: &Part, number: u32) -> Result<bool, CliError> {
    // An address for all interfaces is no address to go to.
    let address = part.listens_at()?.replace("0.0.0.0:", "127.0.0.1:");
    let address = address.replace("[::]:", "[::1]:");
    let door = part.door();
    // What is shown of an attempt that has ended is not to be taken for this one.
    let is_ended = |standing: Standing| !standing.is_open();
    if !Journal::is_held(&part.site.data)?
        || Standing::read(&part.site.data, number).is_some_and(is_ended)
    {
        Board::forget(&part.site.data, number);
    }
    match door.knock(door.me, &address, number).await {
        Ok(()) => Ok(true),
        Err(KnockError::Refused(reason)) => Err(CliError::Usage(format!(
            "this site's node does not take run {number}: {reason}\nhint: hedgerow status shows the runs; the next number starts another"
        ))),
        // A node in the middle of a run does not hear its own site.
        Err(_) => is_taken(part, number).await,
    }
}

/// Whether a process of this site is at work on the run.
async fn is_taken(part: &Part, number: u32) -> Result<bool, CliError> {
    let (data, study) = (&part.site.data, part.agreement.hash.to_string());
    let asked = Instant::now();
    while Journal::is_held(data)? {
        match Standing::present(data)? {
            Some(present) if present.is_of(&study, number) => return Ok(true),
            Some(other) => {
                return Err(CliError::Usage(format!(
                    "this site is at work on run {}, so run {number} does not begin\nhint: hedgerow status shows how far it is",
                    other.run
                )));
            }
            None if asked.elapsed() > SHOWN => {
                let folder = data.display().to_string();
                return Err(JournalError::Busy { folder }.into());
            }
            None => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    }
    Ok(false)
}

/// Watches this site's node until the run is over.
async fn watch(part: &Part, number: u32) -> Result<Answer, CliError> {
    talk("this site's node has taken the run; this command only watches");
    let mut held = Instant::now();
    let mut said = String::new();
    loop {
        tokio::time::sleep(Duration::from_millis(250)).await;
        if Journal::is_held(&part.site.data)? {
            held = Instant::now();
        }
        let is_gone = held.elapsed() > SHOWN;
        let standing = Standing::read(&part.site.data, number);
        if is_gone && standing.as_ref().is_none_or(Standing::is_open) {
            return Err(CliError::Usage(String::from(
                "this site's node is gone\nhint: start it again; it goes on where the run stands",
            )));
        }
        let Some(standing) = standing else {
            continue;
        };
        let words = standing.words();
        match standing.state {
            State::Done => {
                let lost = || CliError::Usage(String::from("the node keeps no answer of the run"));
                return standing.into_answer().ok_or_else(lost);
            }
            State::Failed => return Err(CliError::Usage(words)),
            State::Asking | State::Running | State::Settling if words != said => {
                talk(&words);
                said = words;
            }
            State::Asking | State::Running | State::Settling => {}
        }
    }
}

/// Runs a future on threads of its own until it ends or somebody stops the process.
pub(crate) fn block_on<T>(
    work: impl Future<Output = Result<T, CliError>>,
    stopped: impl FnOnce() -> Result<T, CliError>,
) -> Result<T, CliError> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| CliError::Usage(format!("no threads can be had: {error}")))?;
    let answer = runtime.block_on(async {
        // Asked for before any work, so that no moment is left in which a signal is not heard.
        let none = |error| CliError::Usage(format!("no signals can be had: {error}"));
        let mut terminated = signal(SignalKind::terminate()).map_err(none)?;
        let mut interrupted = signal(SignalKind::interrupt()).map_err(none)?;
        tokio::select! {
            answer = work => answer,
            _ = interrupted.recv() => stopped(),
            _ = terminated.recv() => stopped(),
        }
    });
    // The protocol's thread ends by itself once its lines are gone.
    runtime.shutdown_background();
    answer
}
