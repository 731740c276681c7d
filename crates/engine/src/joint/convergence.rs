//! How a run gets on: its steps for people who wait, and how the loss of a clustering fell for those
//! who look at it afterwards.

use hedgerow_protocols::clustering::Loss;
use hedgerow_protocols::horizontal::clustering::{self, Clustering, Phase, Progress};
use hedgerow_protocols::vertical::clustering as vertical;
use serde::{Deserialize, Serialize};

use crate::words::{aligned, count, percent, thousands};

/// A step of a run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "lowercase", deny_unknown_fields)]
pub enum Step {
    /// A wave of cuts begins.
    Wave {
        /// The wave's number, from 1.
        wave: u32,
        /// Classes that may still be cut.
        open: usize,
    },
    /// An iteration over all records is done; number 0 is the random start.
    Iteration {
        /// The iteration's number.
        iteration: u32,
        /// Clusters after the iteration.
        clusters: usize,
        /// The mean loss of a cell after the iteration.
        loss: f64,
    },
    /// Clusters were brought to the size that is demanded.
    Grown {
        /// Clusters after the step.
        clusters: usize,
        /// The mean loss of a cell after the step.
        loss: f64,
    },
    /// Clusters were refined.
    Refined {
        /// Clusters after the step.
        clusters: usize,
        /// The mean loss of a cell after the step.
        loss: f64,
    },
    /// Groups of clusters were rebuilt, which one site alone can do.
    Rebuilt {
        /// Clusters after the step.
        clusters: usize,
        /// The mean loss of a cell after the step.
        loss: f64,
    },
    /// A site's classes of people whom all hold are held against the others'.
    Synchronization {
        /// How often the sites have synchronized, from 1.
        time: u32,
        /// Classes at this site.
        classes: usize,
    },
    /// Clusters of people whom all hold have changed.
    Change {
        /// What changed the clusters.
        phase: ChangePhase,
        /// Clusters after the change.
        clusters: usize,
        /// Records that moved.
        moved: u64,
        /// By how much the loss has changed since the start, which only the pivot knows.
        change: Option<f64>,
    },
}

/// What changed clusters of people whom all hold.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChangePhase {
    /// An iteration over all records, by its number.
    Iteration(u32),
    /// Small clusters were united.
    United,
    /// Records of clusters larger than k moved on.
    Refined,
}

impl std::fmt::Display for Step {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Wave { wave, open } => {
                let open = count(*open as u64, "class", "classes");
                write!(f, "wave {wave}: {open} open")
            }
            Self::Iteration { clusters, loss, .. }
            | Self::Grown { clusters, loss }
            | Self::Refined { clusters, loss }
            | Self::Rebuilt { clusters, loss } => {
                let (name, clusters) = (self.name(), thousands(*clusters as u64));
                write!(f, "{name}: {clusters} clusters, loss {loss:.4}")
            }
            Self::Synchronization { classes, .. } => {
                let (name, classes) = (self.name(), thousands(*classes as u64));
                write!(f, "{name}: {classes} classes here")
            }
            Self::Change {
                clusters, moved, ..
            } => {
                let (clusters, moved) = (thousands(*clusters as u64), thousands(*moved));
                write!(f, "{}: {clusters} clusters, {moved} moved", self.name())
            }
        }
    }
}

impl Step {
    /// Clusters and the mean loss of a cell after the step, where all sites know the loss.
    pub const fn loss(&self) -> Option<(usize, f64)> {
        match self {
            Self::Iteration { clusters, loss, .. }
            | Self::Grown { clusters, loss }
            | Self::Refined { clusters, loss }
            | Self::Rebuilt { clusters, loss } => Some((*clusters, *loss)),
            Self::Wave { .. } | Self::Synchronization { .. } | Self::Change { .. } => None,
        }
    }

    /// The step's name for people.
    pub fn name(&self) -> String {
        match self {
            Self::Wave { wave, .. } => format!("wave {wave}"),
            Self::Iteration { iteration: 0, .. } => String::from("start"),
            Self::Iteration { iteration, .. } => format!("iteration {iteration}"),
            Self::Grown { .. } => String::from("grown"),
            Self::Refined { .. } => String::from("refined"),
            Self::Rebuilt { .. } => String::from("rebuilt"),
            Self::Synchronization { time, .. } => format!("synchronization {time}"),
            Self::Change { phase, .. } => match phase {
                ChangePhase::Iteration(number) => format!("iteration {number}"),
                ChangePhase::United => String::from("united"),
                ChangePhase::Refined => String::from("refined"),
            },
        }
    }
}

/// Numbers the steps of a clustering.
#[derive(Default)]
pub(super) struct Steps {
    /// Iterations of the present start, with that start; 0 before and after them.
    iterations: u32,
}

impl Steps {
    pub(super) fn next(&mut self, progress: &Progress) -> Step {
        let Progress {
            phase,
            clusters,
            loss,
        } = *progress;
        if phase != Phase::Iteration {
            self.iterations = 0;
        }
        match phase {
            Phase::Iteration => {
                let iteration = self.iterations;
                self.iterations += 1;
                Step::Iteration {
                    iteration,
                    clusters,
                    loss,
                }
            }
            Phase::Grown => Step::Grown { clusters, loss },
            Phase::Refined => Step::Refined { clusters, loss },
            Phase::Rebuilt => Step::Rebuilt { clusters, loss },
        }
    }
}

impl Steps {
    /// A step of a clustering among sites that hold the same people.
    pub(super) fn change(&mut self, progress: &vertical::Progress) -> Step {
        let phase = match progress.phase {
            vertical::Phase::Iteration => ChangePhase::Iteration(self.iterations + 1),
            vertical::Phase::United => ChangePhase::United,
            vertical::Phase::Refined => ChangePhase::Refined,
        };
        // The next start counts from the beginning.
        self.iterations = match phase {
            ChangePhase::Iteration(number) => number,
            _ => 0,
        };
        Step::Change {
            phase,
            clusters: progress.clusters,
            moved: progress.moved,
            change: progress.change,
        }
    }
}

/// Why iterations ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// No record moved.
    NothingMoved,
    /// The loss fell by no more than the least gain, a share of itself.
    SmallGain,
    /// An iteration brought no more than the least gain, as a share of what all iterations had brought, where
    /// nobody knows the loss.
    SmallShare,
    /// Records still moved, but the loss had not fallen for ten iterations.
    Circling,
    /// As many were made as may be.
    Bound,
    /// One site had all records, and its effort or its time was spent.
    Effort,
}

impl Ended {
    fn of(ended: clustering::Ended, is_loss_known: bool) -> Self {
        match ended {
            clustering::Ended::NothingMoved => Self::NothingMoved,
            clustering::Ended::SmallGain if is_loss_known => Self::SmallGain,
            clustering::Ended::SmallGain => Self::SmallShare,
            clustering::Ended::Circling => Self::Circling,
            clustering::Ended::Bound => Self::Bound,
            clustering::Ended::Effort => Self::Effort,
        }
    }

    /// After the number of iterations.
    pub const fn words(self) -> &'static str {
        match self {
            Self::NothingMoved => "until no record moved",
            Self::SmallGain => {
                "until the loss fell by no more than the least gain; more might have gained a little"
            }
            Self::SmallShare => {
                "until one brought no more than the least gain; more might have gained a little"
            }
            Self::Circling => {
                "until the loss had not fallen for 10 iterations, although records still moved"
            }
            Self::Effort => "until the effort or the time was spent; more might have gained",
            Self::Bound => "STOPPED AT THE BOUND ON ITERATIONS; more might have gained",
        }
    }
}

/// How the loss of a clustering fell, at the start that was kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Convergence {
    /// What the loss measures.
    pub measure: LossMeasure,
    /// Iterations over all records (L of TG12).
    pub iterations: u32,
    /// Why the iterations ended.
    pub ended: Ended,
    /// Why the iterations after clusters were united ended, where there were such iterations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refinement_ended: Option<Ended>,
    /// SMC calls until the published end, at all starts, as TG12 counts them (section 9.2.2).
    pub published_calls: u64,
    /// The mean loss of a cell at the start and after each step.
    pub steps: Vec<Step>,
}

impl Convergence {
    pub(super) fn new(found: &Clustering, loss: Loss) -> Self {
        let mut numbers = Steps::default();
        let steps: Vec<Step> = found.trace.iter().map(|step| numbers.next(step)).collect();
        let iterations = steps.iter().filter_map(|step| match step {
            Step::Iteration { iteration, .. } => Some(*iteration),
            _ => None,
        });
        Self {
            measure: LossMeasure::of(loss),
            iterations: iterations.max().unwrap_or(0),
            ended: Ended::of(found.ended, true),
            refinement_ended: None,
            published_calls: found.published_calls,
            steps,
        }
    }

    /// The convergence of a clustering of people whom all sites hold.
    pub(super) fn of_changes(found: &vertical::Clustering, loss: Loss) -> Self {
        let mut numbers = Steps::default();
        let steps = found.trace.iter().map(|step| numbers.change(step));
        let steps: Vec<Step> = steps.collect();
        let iterations = steps.iter().filter_map(|step| match step {
            Step::Change {
                phase: ChangePhase::Iteration(number),
                ..
            } => Some(*number),
            _ => None,
        });
        Self {
            measure: LossMeasure::of(loss),
            iterations: iterations.max().unwrap_or(0),
            ended: Ended::of(found.ended, false),
            refinement_ended: found.refinement_ended.map(|ended| Ended::of(ended, false)),
            published_calls: found.published_calls,
            steps,
        }
    }

    /// The convergence, if every site knows it, so that a release may show it. By how much the loss of
    /// people whom all hold has changed, only the pivot knows.
    pub(crate) fn public(&self) -> Option<&Self> {
        let is_public = self.steps.iter().all(|step| step.loss().is_some());
        is_public.then_some(self)
    }

    /// The convergence for people: a line for each step, or for some of them where there are many.
    pub fn text(&self) -> String {
        let measure = self.measure.name();
        let mut end = self.ended.words().to_owned();
        if let Some(ended) = self.refinement_ended {
            end.push_str(&format!("; refined {}", ended.words()));
        }
        let rows = self.steps.iter().filter_map(|step| match step {
            Step::Change {
                clusters, change, ..
            } => Some(vec![
                format!("  {}", step.name()),
                count(*clusters as u64, "cluster", "clusters"),
                match change {
                    Some(change) => format!("{change:+.4}"),
                    None => String::from("the first site knows"),
                },
            ]),
            _ => step.loss().map(|(clusters, loss)| {
                vec![
                    format!("  {}", step.name()),
                    count(clusters as u64, "cluster", "clusters"),
                    match self.measure {
                        // Entropy is in bits, which are no share of anything.
                        LossMeasure::Em => format!("{loss:.4}"),
                        LossMeasure::NcpPresent | LossMeasure::Lm => percent(loss),
                    },
                ]
            }),
        });
        let rows: Vec<Vec<String>> = rows.collect();
        // The free search of one party has no iterations.
        let iterations = match self.iterations {
            0 => String::new(),
            some => format!("{}, ", count(u64::from(some), "iteration", "iterations")),
        };
        let is_change = |step: &Step| matches!(step, Step::Change { .. });
        let what = match self.steps.iter().any(is_change) {
            true => "mean loss of a cell since the start",
            false => "mean loss of a cell",
        };
        let calls = count(self.published_calls, "SMC call", "SMC calls");
        let mut text = format!("how the loss fell ({what}: {measure}): {iterations}{end}\n");
        let shown = some_of(&rows);
        if shown.len() < rows.len() {
            let (shown, all) = (shown.len() as u64, rows.len() as u64);
            text.push_str(&format!("  {shown} of {all} steps\n"));
        }
        text.push_str(&aligned(&shown));
        text.push_str(&format!(
            "  {calls} until the published end, as TG12 counts them\n"
        ));
        text
    }
}

/// Rows that show how a long list goes on: the first, the last, and some at even distances between them.
fn some_of(rows: &[Vec<String>]) -> Vec<Vec<String>> {
    const SHOWN: usize = 12;
    if rows.len() <= SHOWN {
        return rows.to_vec();
    }
    let chosen = (0..SHOWN).map(|place| rows[place * (rows.len() - 1) / (SHOWN - 1)].clone());
    chosen.collect()
}

/// The loss that a clustering keeps small.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LossMeasure {
    /// NCP over the values present in the table.
    NcpPresent,
    /// LM (TG12 equations 1 and 2).
    Lm,
    /// EM (TG12 equations 3 to 5).
    Em,
}

impl LossMeasure {
    const fn of(loss: Loss) -> Self {
        match loss {
            Loss::Ncp => Self::NcpPresent,
            Loss::Lm => Self::Lm,
            Loss::Em => Self::Em,
        }
    }

    /// The measure's name for people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NcpPresent => "NCP, present",
            Self::Lm => "LM",
            Self::Em => "EM",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_start_counts_its_iterations() {
        let phases = [
            Phase::Iteration,
            Phase::Iteration,
            Phase::Iteration,
            Phase::Grown,
            Phase::Refined,
            Phase::Iteration,
            Phase::Iteration,
            Phase::Grown,
        ];
        let mut steps = Steps::default();
        let said = phases.map(|phase| {
            let progress = Progress {
                phase,
                clusters: 1200,
                loss: 0.125,
            };
            steps.next(&progress).to_string()
        });
        let names = [
            "start",
            "iteration 1",
            "iteration 2",
            "grown",
            "refined",
            "start",
            "iteration 1",
            "grown",
        ];
        let expected = names.map(|name| format!("{name}: 1,200 clusters, loss 0.1250"));
        assert_eq!(said, expected);
    }

    #[test]
    fn a_long_list_is_shown_by_its_ends_and_some_between() {
        let rows = |number: usize| -> Vec<Vec<String>> {
            (0..number).map(|row| vec![row.to_string()]).collect()
        };
        for number in [0, 1, 11, 12] {
            assert_eq!(some_of(&rows(number)), rows(number));
        }
        for number in [13, 40, 1_000] {
            let shown = some_of(&rows(number));
            assert_eq!(shown.len(), 12);
            assert_eq!(shown[0], ["0"]);
            assert_eq!(shown[11], [(number - 1).to_string()]);
            let places = shown.iter().map(|row| row[0].parse::<usize>().unwrap());
            let places: Vec<usize> = places.collect();
            assert!(places.is_sorted_by(|one, next| one < next), "{places:?}");
        }
    }
}
