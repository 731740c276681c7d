//! Who watches the engine at work: steps of a run and bytes read for a progress bar, and notices that a
//! person should hear of. The engine itself prints nothing.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use hedgerow_data::files::Progress;
use hedgerow_node::Event;

use crate::joint::convergence::Step;

/// How often a node looks again at rows that it could not read.
pub(crate) const LOOKING_AGAIN: Duration = Duration::from_secs(30);

/// Work that may take longer than a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Work<'a> {
    /// A file is read; progress counts its bytes.
    Reading(&'a Path),
    /// An engine counts the records of files; progress counts their bytes.
    Counting(&'a [PathBuf]),
    /// A run begins; the observer hears its steps.
    Run,
    /// A release is looked at.
    Judging,
    /// The choices of a study are tried one after the other.
    Comparing,
    /// Each site of a simulation publishes alone; progress counts its records.
    Alone {
        /// Records of all sites together.
        records: u64,
    },
}

/// Hears how far a piece of work is; dropped when the work ends.
pub trait Watch: Progress + Send + Sync {
    /// A choice is tried, which is named in words.
    fn begins(&self, _choice: &str) {}

    /// A step of a run was taken.
    fn step(&self, _step: Step) {}

    /// A site of a simulated run goes on after it has waited for others: much more often than a step is taken.
    fn turn(&self) {}

    /// Whether a search that can end at any time is to end now, with the best that was found.
    fn is_over(&self) -> bool {
        false
    }
}

/// Nobody watches.
impl Watch for () {}

/// Hears what the engine does. Every method has a default, so an observer implements only the methods it
/// needs; `()` ignores everything.
///
/// ```
/// use hedgerow::{Notice, Observer};
///
/// struct Log;
///
/// impl Observer for Log {
///     fn notice(&self, notice: Notice) {
///         eprintln!("{notice}");
///     }
/// }
/// ```
pub trait Observer: Send + Sync {
    /// A piece of work begins.
    fn begin(&self, _work: Work<'_>) -> Box<dyn Watch> {
        Box::new(())
    }

    /// Something happened that a person should hear of; nothing stops.
    fn notice(&self, _notice: Notice) {}
}

impl Observer for () {}

/// An observer that several parts of the engine share.
pub type SharedObserver = Arc<dyn Observer>;

/// What a person should hear of while the engine goes on.
#[derive(Debug)]
#[non_exhaustive]
pub enum Notice {
    /// Something in a file or a table that its owner should see to.
    Warning(String),
    /// What the person may want to do.
    Hint(String),
    /// What a person may not expect.
    Remark(String),
    /// Something happened on the lines between sites.
    Line(Event),
    /// Something happened on the lines for questions.
    Question(Event),
    /// A run waits for the privacy officer.
    Asking {
        /// The run.
        run: u32,
        /// Why the run waits.
        why: String,
    },
    /// The privacy officer has approved a run.
    Approved {
        /// The run.
        run: u32,
    },
    /// The release of a run lies in its folder; peers may still need this site.
    Settling {
        /// Where the release lies.
        folder: PathBuf,
    },
    /// A peer was not heard of at the end of a run.
    Behind {
        /// The peer.
        peer: String,
    },
    /// The node is up, or goes on under a site's file and study that were read anew.
    Serving {
        /// The site.
        site: String,
        /// The name of the study.
        study: String,
        /// The hash of the study.
        hash: String,
        /// Where the node listens.
        address: String,
        /// Where its health and numbers are, if they are served.
        metrics: Option<String>,
    },
    /// The site's rows can be read: the source is there, and has the study's columns.
    SourceFits(String),
    /// The site's rows cannot be read: the reason, without any value of a record.
    SourceUnfit(String),
    /// The site's file and the study were read anew, and count once a run is over.
    ReadWhenOver {
        /// The run.
        run: u32,
    },
    /// The site's file or the study cannot be read anew or used; what was read before still counts.
    NotReadAnew(String),
    /// The node waits until a site asks for a run.
    Waiting,
    /// A site asks this site's node for a run.
    Asked {
        /// The site.
        site: String,
        /// The run.
        run: u32,
    },
    /// The node takes this site's part in a run.
    Begins {
        /// The run.
        run: u32,
    },
    /// A run of the node is over.
    Over {
        /// The run.
        run: u32,
        /// Where the release lies.
        folder: PathBuf,
    },
    /// A run of the node failed; the node goes on.
    Failed {
        /// The run.
        run: u32,
        /// The reason, without any value of a record.
        why: String,
    },
    /// The node could not do something, and tries again.
    Trouble(String),
    /// This site's node has taken a run, which is watched from here on.
    Watching,
    /// The state of the watched run, in words.
    Standing(String),
}

/// How much a notice matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Urgency {
    /// All goes as it should.
    Plain,
    /// Somebody should see to it.
    Warning,
    /// Something failed.
    Error,
}

impl Notice {
    /// How much the notice matters.
    pub const fn urgency(&self) -> Urgency {
        match self {
            Self::Failed { .. }
            | Self::Trouble(_)
            | Self::SourceUnfit(_)
            | Self::NotReadAnew(_) => Urgency::Error,
            Self::Warning(_)
            | Self::Behind { .. }
            | Self::Asking { .. }
            | Self::Line(Event::Disconnected { .. } | Event::TurnedAway { .. })
            | Self::Question(Event::Disconnected { .. }) => Urgency::Warning,
            _ => Urgency::Plain,
        }
    }

    /// The run that the notice speaks of.
    pub const fn run(&self) -> Option<u32> {
        match self {
            Self::Asking { run, .. }
            | Self::Approved { run }
            | Self::Asked { run, .. }
            | Self::Begins { run }
            | Self::Over { run, .. }
            | Self::Failed { run, .. }
            | Self::ReadWhenOver { run } => Some(*run),
            _ => None,
        }
    }

    /// The peer that the notice speaks of.
    pub fn peer(&self) -> Option<&str> {
        match self {
            Self::Line(Event::Connected { peer } | Event::Disconnected { peer, .. })
            | Self::Question(Event::Connected { peer } | Event::Disconnected { peer, .. })
            | Self::Behind { peer } => Some(peer),
            Self::Asked { site, .. } => Some(site),
            _ => None,
        }
    }
}

impl std::fmt::Display for Notice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Warning(what) => write!(f, "warning: {what}"),
            Self::Hint(what) => write!(f, "hint: {what}"),
            Self::Remark(what) => write!(f, "note: {what}"),
            Self::Line(Event::Connected { peer }) => write!(f, "connected with `{peer}`"),
            Self::Line(Event::Disconnected { peer, why }) => {
                write!(f, "not connected with `{peer}`: {why}")
            }
            Self::Line(Event::TurnedAway { address, why }) => {
                // Each attempt listens on a port of its own.
                let host = address
                    .rsplit_once(':')
                    .map_or(&**address, |(host, _)| host);
                write!(f, "turned away {host}: {why}")
            }
            Self::Line(_) => Ok(()),
            Self::Question(Event::Connected { peer }) => {
                write!(f, "connected with `{peer}` for questions")
            }
            Self::Question(Event::Disconnected { peer, why }) => {
                write!(f, "not connected with `{peer}` for questions: {why}")
            }
            Self::Question(_) => Ok(()),
            Self::Asking { run, why } => write!(
                f,
                "run {run} waits for the privacy officer: {why}\nhint: {}",
                how_to_decide(*run)
            ),
            Self::Approved { run } => write!(f, "run {run} was approved"),
            Self::Settling { folder } => write!(
                f,
                "what the run ended with lies in {}; waiting until every site has what it needs",
                folder.display()
            ),
            Self::Behind { peer } => write!(
                f,
                "warning: `{peer}` may lack this site's last messages and has not been heard of since"
            ),
            Self::Serving {
                site,
                study,
                hash,
                address,
                metrics,
            } => {
                write!(
                    f,
                    "`{site}` serves the study `{study}`, {hash}, at {address}"
                )?;
                match metrics {
                    Some(at) => write!(f, "; its health and numbers are at http://{at}"),
                    None => Ok(()),
                }
            }
            Self::SourceFits(name) => write!(f, "{name}: can be read and has the study's columns"),
            Self::SourceUnfit(why) => write!(
                f,
                "error: the rows cannot be read: {why}\nhint: the node waits for runs all the same, and looks again every {} s",
                LOOKING_AGAIN.as_secs()
            ),
            Self::ReadWhenOver { run } => write!(
                f,
                "the site's file and the study were read anew; they count once run {run} is over or given up"
            ),
            Self::NotReadAnew(why) => write!(f, "error: what was read before still counts: {why}"),
            Self::Waiting => f.write_str("waiting for a run"),
            Self::Asked { site, run } => write!(f, "`{site}` asks for run {run}"),
            Self::Begins { run } => write!(f, "run {run} begins"),
            Self::Over { run, folder } => write!(
                f,
                "run {run} is over; what it ended with lies in {}",
                folder.display()
            ),
            Self::Failed { run, why } => write!(f, "error: run {run}: {why}"),
            Self::Trouble(why) => write!(f, "error: {why}"),
            Self::Watching => {
                f.write_str("this site's node has taken the run; this command only watches")
            }
            Self::Standing(words) => f.write_str(words),
        }
    }
}

/// What the privacy officer types to decide about a run.
pub(crate) fn how_to_decide(run: u32) -> String {
    format!("hedgerow run approve {run} --site …, or hedgerow run refuse {run} --site …, decides")
}
