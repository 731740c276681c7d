//! The runs of a site one by one, for whoever shows them: from its journal, newest first and a few at a time,
//! and before them the run that waits for the privacy officer or failed before the journal heard of it.

use hedgerow_node::agreement::{Agreement, StudyHash};
use hedgerow_node::journal::{Entry, Journal};
use hedgerow_node::memory::{Mark, Memory, Question};

use super::Site;
use super::due::due;
use super::standing::{Standing, State};
use super::status::{not_begun, shown};
use crate::error::Error;

/// A run of the study, in any of its versions, as this site knows it. Times are universal.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct RunStatus {
    /// The number of the run.
    pub number: u32,
    /// The hash of the study's version.
    pub study_hash: String,
    /// Whether this is the version that the site's file names now.
    pub is_present: bool,
    /// How far the run is.
    pub state: RunState,
    /// When the run began, or was asked for.
    pub started: Option<String>,
    /// When the run ended.
    pub ended: Option<String>,
    /// Why the run waits or failed, without any value of a record.
    pub reason: Option<String>,
    /// What the file of the run says: steps, peers that are waited for, the summary.
    pub standing: Option<Standing>,
    /// Frames to and from each peer; empty where nobody counted them.
    pub peers: Vec<PeerFrames>,
}

/// How far a run is at this site.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunState {
    /// The privacy officer is to decide.
    Asking,
    /// The privacy officer has approved the run, and no process has gone on with it yet.
    Approved,
    /// The privacy officer has refused the run, and no process has told the peers yet.
    Refused,
    /// A process is at work on the run.
    Running,
    /// The release lies in its folder; peers may still lack something.
    Settling,
    /// The run ended with a release.
    Done,
    /// The run failed; whoever goes on with it takes it up where it stands.
    Failed,
    /// The run is not over, and nobody is at work on it.
    Stopped,
    /// The run was given up or refused, and its number is not used again.
    GivenUp,
}

/// Frames of a run between this site and a peer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PeerFrames {
    /// The peer.
    pub site: String,
    /// Frames to the peer.
    pub sent: u64,
    /// Frames from the peer.
    pub received: u64,
}

/// Some of a site's runs.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct RunList {
    /// How many runs there are in all.
    pub total: usize,
    /// The runs that were asked for, newest first.
    pub runs: Vec<RunStatus>,
    /// The number of the run that is due: the one under way, or the next.
    pub due: u32,
    /// Whether a run is under way.
    pub is_under_way: bool,
}

impl Site {
    /// Some of the runs of the study, in all its versions, newest first.
    pub fn runs(&self, skip: usize, take: usize) -> Result<RunList, Error> {
        let look = Look::of(self)?;
        let mut waiting = look.waiting()?;
        let entries = look.entries.iter().rev();
        let total = waiting.len() + look.entries.len();
        let begun = skip.saturating_sub(waiting.len());
        let mut runs: Vec<RunStatus> = waiting.drain(..).skip(skip).take(take).collect();
        let room = take - runs.len();
        for entry in entries.skip(begun).take(room) {
            runs.push(look.run(entry)?);
        }
        let due = due(&self.file.data, &look.versions);
        Ok(RunList {
            total,
            runs,
            due: due.number,
            is_under_way: due.is_under_way,
        })
    }

    /// One run of the study; nothing where this site knows of none with the number.
    pub fn run_status(&self, number: u32) -> Result<Option<RunStatus>, Error> {
        let look = Look::of(self)?;
        let waiting = look.waiting()?.into_iter().find(|run| run.number == number);
        if waiting.is_some() {
            return Ok(waiting);
        }
        let entry = look.entries.iter().rev().find(|one| one.number == number);
        entry.map(|entry| look.run(entry)).transpose()
    }
}

/// A look at everything that is known of runs.
struct Look<'s> {
    site: &'s Site,
    agreement: Agreement,
    versions: Vec<StudyHash>,
    entries: Vec<Entry>,
    present: Option<Standing>,
}

impl<'s> Look<'s> {
    fn of(site: &'s Site) -> Result<Self, Error> {
        let data = &site.file.data;
        let agreement = Agreement::open(&site.file.study)?;
        let versions = Journal::versions(data, agreement.hash, agreement.parent())?;
        let mut entries = Journal::list(data)?;
        entries.retain(|entry| versions.contains(&entry.study));
        Ok(Self {
            present: Standing::present(data)?,
            site,
            agreement,
            versions,
            entries,
        })
    }

    /// Runs that the journal does not know: those that wait for the privacy officer's word or for a process to
    /// hear it, and one that failed before it began.
    fn waiting(&self) -> Result<Vec<RunStatus>, Error> {
        let (file, hash) = (&self.site.file, self.agreement.hash);
        let memory = Memory::at(&file.memory);
        let mut waiting = Vec::new();
        for question in memory.questions(&file.name, hash)? {
            let decision = memory.decision(&Mark {
                site: file.name.clone(),
                study: hash,
                number: question.number,
            })?;
            waiting.push(self.asked(question, decision.map(|word| word.is_approved)));
        }
        let failed = not_begun(&file.data, &self.agreement, due(&file.data, &self.versions));
        if let Some(failed) = failed.filter(|one| waiting.iter().all(|run| run.number != one.run)) {
            waiting.push(RunStatus {
                number: failed.run,
                study_hash: failed.study_hash.clone(),
                is_present: true,
                state: RunState::Failed,
                started: None,
                ended: None,
                reason: failed.reason.clone(),
                standing: Some(failed),
                peers: Vec::new(),
            });
        }
        Ok(waiting)
    }

    fn asked(&self, question: Question, decision: Option<bool>) -> RunStatus {
        RunStatus {
            number: question.number,
            study_hash: self.agreement.hash.to_string(),
            is_present: true,
            state: match decision {
                None => RunState::Asking,
                Some(true) => RunState::Approved,
                Some(false) => RunState::Refused,
            },
            started: Some(question.asked),
            ended: None,
            reason: Some(question.why),
            standing: None,
            peers: Vec::new(),
        }
    }

    fn run(&self, entry: &Entry) -> Result<RunStatus, Error> {
        let is_present = entry.study == self.agreement.hash;
        let shown = shown(&self.site.file.data, entry, self.present.as_ref());
        let frames = match entry.is_over {
            true => Vec::new(),
            false => {
                let data = &self.site.file.data;
                let counted = Journal::look_at(data, entry.study, entry.number)?;
                counted.map_or_else(Vec::new, |entry| entry.frames)
            }
        };
        let sites = &self.agreement.study.sites;
        let name = |peer: u16| match sites.get(usize::from(peer)) {
            Some(site) if is_present => site.name.clone(),
            _ => format!("site {peer}"),
        };
        let state = match &shown {
            _ if entry.is_given_up => RunState::GivenUp,
            _ if entry.is_over => RunState::Done,
            Some((standing, true)) => of_process(standing.state),
            Some((standing, false)) if standing.reason.is_some() => of_process(standing.state),
            _ => RunState::Stopped,
        };
        let standing = shown.map(|(standing, _)| standing);
        let reason = standing.as_ref().and_then(|one| one.reason.clone());
        Ok(RunStatus {
            number: entry.number,
            study_hash: entry.study.to_string(),
            is_present,
            state,
            started: Some(entry.started.clone()),
            ended: entry.ended.clone(),
            reason: reason.filter(|_| !entry.is_over),
            standing,
            peers: frames
                .into_iter()
                .map(|(peer, sent, received)| PeerFrames {
                    site: name(peer),
                    sent,
                    received,
                })
                .collect(),
        })
    }
}

const fn of_process(state: State) -> RunState {
    match state {
        State::Asking => RunState::Asking,
        State::Running => RunState::Running,
        State::Settling => RunState::Settling,
        State::Done => RunState::Done,
        State::Failed => RunState::Failed,
    }
}

impl RunState {
    /// The state in a few words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Asking => "waits for the privacy officer",
            Self::Approved => "approved",
            Self::Refused => "refused",
            Self::Running => "under way",
            Self::Settling => "released; peers may still lack something",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Stopped => "nobody is at work on it",
            Self::GivenUp => "given up",
        }
    }

    /// Whether nothing more comes of the run.
    pub const fn is_over(self) -> bool {
        matches!(self, Self::Done | Self::GivenUp)
    }
}
