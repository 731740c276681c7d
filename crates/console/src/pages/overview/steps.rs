//! The way from a draft to a release: what is done, what is next, and whose it is.

use hedgerow::RunState;

use super::{Facts, Known};
use crate::pages::runs::missing;
use crate::role::Role;
use crate::routes::may_read;

/// The step of the run.
pub(super) const RUN: &str = "Run together";

/// A step of the way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) title: &'static str,
    pub(super) is: Is,
    /// What is to be done, and why.
    pub(super) words: String,
    /// Whose step it is; nobody's of this site where other sites are waited for.
    pub(super) whose: Option<Role>,
    /// The page on which it is done.
    pub(super) link: Option<(&'static str, &'static str)>,
    /// The command that does it.
    pub(super) command: Option<String>,
}

/// How far a step is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Is {
    Done,
    Now,
    Later,
}

impl Is {
    pub(super) const fn class(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Now => "now",
            Self::Later => "later",
        }
    }

    pub(super) const fn words(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Now => "next",
            Self::Later => "later",
        }
    }
}

/// What stands in the way of a step that is not done.
struct Open {
    words: String,
    whose: Option<Role>,
    link: Option<(&'static str, &'static str)>,
    command: Option<String>,
}

/// All steps; the first that is not done is next.
pub(super) fn steps(facts: &Facts, site: &str) -> Vec<Step> {
    let known = facts.known.as_ref();
    let with = |ask: fn(&Known, &str) -> Option<Open>| match known {
        Ok(known) => ask(known, site),
        Err(_) => Some(later()),
    };
    let found = [
        ("Agree on a study", known.err().map(|why| draft(why))),
        ("Sign it here", with(sign)),
        ("All sites sign", with(all_sign)),
        ("The node is up and reads the rows", with(node)),
        (RUN, with(run)),
        ("The release is there", with(|known, _| release(known))),
    ];
    let mut is_next = true;
    found
        .into_iter()
        .map(|(title, open)| {
            let is = match open {
                None => Is::Done,
                Some(_) if std::mem::take(&mut is_next) => Is::Now,
                Some(_) => Is::Later,
            };
            let open = open.unwrap_or_else(later);
            Step {
                title,
                is,
                words: open.words,
                whose: open.whose,
                // A page that this console does not have is not linked to.
                link: open
                    .link
                    .filter(|(path, _)| path.starts_with("/runs") || may_read(path, Role::Auditor)),
                command: open.command,
            }
        })
        .collect()
}

fn later() -> Open {
    Open {
        words: String::new(),
        whose: None,
        link: None,
        command: None,
    }
}

fn draft(why: &str) -> Open {
    Open {
        words: format!("The study that this site's file names cannot be read: {why}"),
        whose: Some(Role::Steward),
        link: Some(("/draft", "Draft a study")),
        command: Some(String::from("hedgerow study draft --help")),
    }
}

fn sign(known: &Known, site: &str) -> Option<Open> {
    let own = known.signed.iter().find(|(name, _)| *name == known.own);
    match own {
        Some((_, true)) => None,
        Some((_, false)) => Some(Open {
            words: String::from(
                "Read what the study demands, what will be published and what each other site will learn; then sign it for this site, or decline.",
            ),
            whose: Some(Role::Officer),
            link: Some(("/study", "Read the study")),
            command: Some(format!("hedgerow study sign --site {site}")),
        }),
        None => Some(Open {
            words: format!("The study has no site named {}.", known.own),
            whose: Some(Role::Steward),
            link: Some(("/draft", "Look at the draft")),
            command: Some(format!("hedgerow site check {site}")),
        }),
    }
}

fn all_sign(known: &Known, site: &str) -> Option<Open> {
    let missing = known.signed.iter().filter(|(_, signed)| !signed);
    let missing: Vec<&str> = missing.map(|(name, _)| name.as_str()).collect();
    (!missing.is_empty()).then(|| Open {
        words: format!(
            "Not signed yet by {}. Sites send each other their signatures in any way; the file beside the study has all of them.",
            missing.join(", ")
        ),
        whose: None,
        link: Some(("/study", "Who has signed")),
        command: Some(format!("hedgerow site check {site}")),
    })
}

fn node(known: &Known, site: &str) -> Option<Open> {
    if !known.node.is_up {
        return Some(Open {
            words: String::from(
                "The node is down. It waits for runs and takes this site's part in them.",
            ),
            whose: Some(Role::Steward),
            link: None,
            command: Some(format!("hedgerow node --site {site}")),
        });
    }
    known.node.unfit_source.as_ref().map(|why| Open {
        words: format!("The node is up, and the rows cannot be read: {why}"),
        whose: Some(Role::Steward),
        link: None,
        command: Some(format!("hedgerow site check {site}")),
    })
}

fn run(known: &Known, site: &str) -> Option<Open> {
    let latest = known.runs.runs.first();
    let due = known.runs.due;
    let open = |words: String, whose: Role, command: String| {
        Some(Open {
            words,
            whose: Some(whose),
            link: Some(("/runs", "To the runs")),
            command: Some(command),
        })
    };
    let reason = latest
        .and_then(|run| run.reason.clone())
        .unwrap_or_default();
    match latest.map(|run| run.state) {
        None => open(
            String::from(
                "Everybody has signed. Any site may start the first run; the nodes of all sites must be up.",
            ),
            Role::Steward,
            format!("hedgerow run --site {site} --number {due}"),
        ),
        Some(RunState::Asking) => open(
            format!("Run {due} waits for the privacy officer: {reason}"),
            Role::Officer,
            format!("hedgerow run approve {due} --site {site}"),
        ),
        Some(RunState::Failed) => open(
            format!("Run {due} failed: {reason}"),
            Role::Steward,
            format!("hedgerow run --site {site} --number {due}"),
        ),
        Some(RunState::Stopped) => open(
            format!(
                "Run {due} is not over, and nobody is at work on it. It goes on where it stands."
            ),
            Role::Steward,
            format!("hedgerow run --site {site} --number {due}"),
        ),
        Some(RunState::Refused | RunState::GivenUp) => open(
            format!("The last run was refused or given up. Run {due} is the next."),
            Role::Steward,
            format!("hedgerow run --site {site} --number {due}"),
        ),
        Some(RunState::Running | RunState::Approved) => Some(Open {
            words: match latest.map(missing).unwrap_or_default() {
                [] => String::from("A run is under way. This page says how far it is."),
                names => format!(
                    "A run is under way, and waits for {}, with which there is no connection. Ask there whether the node is up; as soon as it is back, the run goes on.",
                    names.join(", ")
                ),
            },
            whose: None,
            link: Some(("/runs", "To the runs")),
            command: Some(format!("hedgerow status --site {site}")),
        }),
        Some(RunState::Settling | RunState::Done) => None,
    }
}

/// The run that waits for the officer's word.
pub(super) fn asking(known: &Known) -> Option<u32> {
    let latest = known.runs.runs.first();
    let asking = latest.filter(|run| run.state == RunState::Asking);
    asking.map(|run| run.number)
}

fn release(known: &Known) -> Option<Open> {
    let is_there = known
        .runs
        .runs
        .first()
        .is_some_and(|run| matches!(run.state, RunState::Settling | RunState::Done));
    (!is_there).then(later)
}
