//! Starts a run of a signed study from this site, or goes on with one.
//!
//! Where this site's node waits, the node takes the part and the caller watches; where no node waits,
//! the caller takes it. The others' nodes are knocked at either way.

use std::time::{Duration, Instant};

use hedgerow_node::journal::{Journal, JournalError, Up};
use hedgerow_node::knock::KnockError;

use super::Site;
use super::part::Part;
use super::refused::SiteRefused;
use super::standing::{Board, Standing, State};
use super::vitals::Pulse;
use super::ways::here;
use crate::error::Error;
use crate::observe::Notice;
use crate::summary::Summary;

/// A process that has begun or ended a run shows so within this time.
const SHOWN: Duration = Duration::from_secs(5);
/// How long until this site knocks again at its node that hung up.
const AGAIN: Duration = Duration::from_millis(200);

/// The summary of a run at a site; another process may have taken the part.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RunSummary {
    /// The summary as text for people.
    pub text: String,
    /// As JSON.
    pub json: String,
    /// Whether the release holds.
    pub holds: bool,
}

impl RunSummary {
    fn of(summary: &Summary) -> Self {
        Self {
            text: summary.to_string(),
            // Our own types have string keys and finite or null numbers, so this cannot fail.
            json: serde_json::to_string_pretty(summary).unwrap_or_default(),
            holds: summary.holds,
        }
    }
}

impl Site {
    /// Starts a run of the study, or goes on with one: killed or cut off at any moment, the same call goes
    /// on where the run stands. A seed is for rehearsals with invented rows only: whoever knows it can
    /// unmask this site.
    pub async fn run(&self, number: u32, seed: Option<u64>) -> Result<RunSummary, Error> {
        let pulse = Pulse::new();
        let part = Part::open(&self.path, &pulse.before(&self.observer))?;
        // A seed is for this process.
        if seed.is_none() && ring(&part, number).await? {
            return watch(&part, number).await;
        }
        let data = &part.site.data;
        if let (None, Some(hub)) = (part.listens_at()?, part.through())
            && Up::is_taken(data)?
        {
            let hub = hub.to_owned();
            return Err(SiteRefused::NodeUnheard { hub }.into());
        }
        let port = part.listen().await?;
        let entrance = part.enter(port)?;
        pulse.set_peers(data, part.peers().map(|(_, name)| name));
        // A node that is up keeps the file itself.
        let is_up = Up::is_taken(data)?;
        let _keeping = (!is_up).then(|| pulse.keep(data));
        let summary = part.take(number, seed, entrance).await?;
        Ok(RunSummary::of(&summary))
    }

    /// Asks this site's own node to take its part in a run. Returns whether the node takes the part, or
    /// has taken it.
    pub async fn ring(&self, number: u32) -> Result<bool, Error> {
        ring(&self.part()?, number).await
    }

    /// Gives a run up and tells the peers: nothing of the run is kept but its number and what was learned.
    /// Returns the number of the next run.
    pub async fn abandon(&self, number: u32) -> Result<u32, Error> {
        self.part()?.abandon(number).await
    }
}

/// Knocks at this site's own node. Returns whether the node takes, or has taken, its part in the run.
async fn ring(part: &Part, number: u32) -> Result<bool, Error> {
    // A leaf without a port is rung through its hub.
    let address = part.listens_at()?.map(here).unwrap_or_default();
    let door = part.door();
    // The shown state of an attempt that has ended is not to be taken for the state of this attempt.
    let is_ended = |standing: Standing| !standing.is_open();
    if !Journal::is_held(&part.site.data)?
        || Standing::read(&part.site.data, number).is_some_and(is_ended)
    {
        Board::forget(&part.site.data, number);
    }
    let mut heard = door.knock(door.me, &address, number).await;
    if let Err(KnockError::NoNode(_)) = heard {
        // A node that turns to what it read anew hangs up on whoever is at the door just then.
        tokio::time::sleep(AGAIN).await;
        heard = door.knock(door.me, &address, number).await;
    }
    match heard {
        Ok(()) => Ok(true),
        Err(KnockError::Refused(reason)) => Err(SiteRefused::NodeRefuses {
            run: number,
            reason,
        }
        .into()),
        // A node in the middle of a run does not hear its own site.
        Err(_) => is_taken(part, number).await,
    }
}

/// Whether a process of this site is at work on the run.
async fn is_taken(part: &Part, number: u32) -> Result<bool, Error> {
    let (data, study) = (&part.site.data, part.agreement.hash.to_string());
    let asked = Instant::now();
    while Journal::is_held(data)? {
        match Standing::present(data)? {
            Some(present) if present.is_of(&study, number) => return Ok(true),
            Some(other) => {
                let (other, run) = (other.run, number);
                return Err(SiteRefused::OtherRun { other, run }.into());
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
async fn watch(part: &Part, number: u32) -> Result<RunSummary, Error> {
    part.observer.notice(Notice::Watching);
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
            return Err(SiteRefused::NodeGone.into());
        }
        let Some(standing) = standing else {
            continue;
        };
        let words = standing.words();
        match standing.state {
            State::Done => {
                let (text, json, holds) = standing.answer.ok_or(SiteRefused::NoSummary)?;
                return Ok(RunSummary { text, json, holds });
            }
            State::Failed => {
                let reason = standing.reason.unwrap_or_else(|| String::from("unknown"));
                return Err(SiteRefused::RunFailed { reason }.into());
            }
            State::Asking | State::Running | State::Settling if words != said => {
                part.observer.notice(Notice::Standing(words.clone()));
                said = words;
            }
            State::Asking | State::Running | State::Settling => {}
        }
    }
}
