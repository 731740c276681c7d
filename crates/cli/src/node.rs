//! `hedgerow node`: the site's daemon. It waits until a site of the study knocks, takes this site's
//! part in the run, and waits for the next; a run that fails is said, and waited for again.
//!
//! Rows are read when a run begins, not when the node starts. A run that was under way when the
//! node last stopped is taken up at once.

use std::convert::Infallible;
use std::io::Read as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use hedgerow_node::Watcher;
use hedgerow_node::journal::{Entry, JournalError};
use serde_json::json;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use crate::due::{answer, due};
use crate::error::CliError;
use crate::output::{Answer, talk};
use crate::part::Part;
use crate::run::block_on;

/// After a failure nobody is heard for a while, longer each time: peers have to notice it too. A
/// knock waits longer than that.
const FIRST_PAUSE: Duration = Duration::from_secs(2);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// How often a node that waits looks for what was kept long enough.
const FORGETTING: Duration = Duration::from_secs(3_600);

/// Wait for runs of the study and take part in them, until stopped.
#[derive(clap::Args)]
#[command(
    after_help = "A run begins when a site types hedgerow run. After a change of the study or the site's file, start\nthe node again.\nExample: hedgerow node --site north.toml"
)]
pub(crate) struct Arguments {
    /// This site's file.
    #[arg(long, value_name = "FILE")]
    site: PathBuf,
    /// Stop when stdin ends, so that a node does not outlive who started it.
    #[arg(long, hide = true)]
    until_stdin_ends: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Answer, CliError> {
    let part = Part::open(&arguments.site)?;
    let until_gone = arguments.until_stdin_ends.then(stdin_ends);
    let stopped = || {
        let text = String::from("the node has stopped; a run under way goes on when it is back\n");
        Ok(Answer::new(text, &json!({ "stopped": true }), true))
    };
    block_on(
        async {
            tokio::select! {
                answer = serve(&part) => answer,
                () = gone(until_gone) => stopped(),
            }
        },
        stopped,
    )
}

/// Hears when stdin ends.
fn stdin_ends() -> oneshot::Receiver<()> {
    let (gone, is_gone) = oneshot::channel();
    std::thread::spawn(move || {
        let mut stdin = std::io::stdin().lock();
        while matches!(stdin.read(&mut [0; 64]), Ok(read) if read > 0) {}
        let _ = gone.send(());
    });
    is_gone
}

async fn gone(until: Option<oneshot::Receiver<()>>) {
    match until {
        Some(until) => {
            let _ = until.await;
        }
        None => std::future::pending().await,
    }
}

async fn serve(part: &Part) -> Result<Answer, CliError> {
    // Makes the data folder, and sees that nobody else is at work in it.
    drop(part.journal()?);
    // What was under way goes on by itself; its peers may be waiting. What a later run came after,
    // they have left behind.
    let last: Option<Entry> = part.runs()?.into_iter().max_by_key(|entry| entry.number);
    let is_own = |entry: &Entry| entry.study == part.agreement.hash;
    let under_way = last.filter(|entry| !entry.is_over && is_own(entry));
    let mut next = under_way.map(|entry| entry.number);
    if next.is_none() {
        next = asked(part)?;
    }
    // Held from run to run, so that nobody else gets the address in between.
    let cannot = |error| CliError::Usage(format!("the node cannot listen: {error}"));
    let listener = part.listen().await?.into_std().map_err(cannot)?;
    let mut pause = FIRST_PAUSE;
    loop {
        let open = listener.try_clone().and_then(TcpListener::from_std);
        let open = match open.map_err(cannot) {
            Ok(open) => open,
            Err(error) => {
                talk(&format!("error: {error}"));
                tokio::time::sleep(LONGEST_PAUSE).await;
                continue;
            }
        };
        let number = match next.take() {
            Some(number) => number,
            None => wait(part, &open).await?,
        };
        talk(&format!("run {number} begins"));
        match part.take(number, None, open).await {
            Ok(_) => {
                pause = FIRST_PAUSE;
                talk(&format!(
                    "run {number} is over; the release lies in {}",
                    part.folder(number).display()
                ));
            }
            Err(error) => {
                talk(&format!("error: run {number}: {}", error.without_values()));
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(LONGEST_PAUSE);
            }
        }
    }
}

/// A run that waited for the privacy officer when the node last stopped: it waits again, or goes on if
/// there has been a word.
fn asked(part: &Part) -> Result<Option<u32>, CliError> {
    let versions = part.versions()?;
    let questions = part
        .memory
        .questions(&part.site.name, part.agreement.hash)?;
    let is_due = |number: &u32| answer(&part.site.data, &versions, *number).is_ok();
    let mut numbers = questions.iter().map(|question| question.number);
    Ok(numbers.find(is_due))
}

/// Wipes what was kept for audits when their time is over, for as long as the node waits.
async fn forget_old(part: &Part) -> Infallible {
    loop {
        tokio::time::sleep(FORGETTING).await;
        // Whoever opens the journal wipes it; somebody else may be at work with it just now.
        if let Err(error) = part.journal()
            && !matches!(error, CliError::Journal(JournalError::Busy { .. }))
        {
            talk(&format!("warning: {}", error.without_values()));
        }
    }
}

/// Waits for a knock: for a run that is under way, or the one after the last.
async fn wait(part: &Part, listener: &TcpListener) -> Result<u32, CliError> {
    talk("waiting for a run");
    let (data, versions) = (part.site.data.clone(), part.versions()?);
    let (asked, known) = (data.clone(), versions.clone());
    let takes = move |number: u32| answer(&data, &versions, number);
    let due = move || due(&asked, &known);
    let log = Arc::clone(&part.log);
    let watcher: Watcher = Arc::new(move |event| log.say(event));
    let door = part.door();
    let heard = tokio::select! {
        heard = door.wait(listener, takes, due, &watcher) => heard,
        never = forget_old(part) => match never {},
    };
    let (site, number) =
        heard.map_err(|error| CliError::Usage(format!("the node cannot listen: {error}")))?;
    talk(&format!("`{}` asks for run {number}", part.name_of(site)));
    Ok(number)
}
