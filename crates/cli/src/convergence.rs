//! How a run gets on: its steps for people who wait, and how the loss of a clustering fell for those
//! who look at it afterwards.

use hedgerow_data::study::Loss;
use hedgerow_protocols::horizontal::clustering::{Clustering, Phase, Progress};
use serde::{Deserialize, Serialize};

use crate::output::{aligned, count, thousands};

/// A step of a run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "lowercase")]
pub(crate) enum Step {
    /// A wave of cuts begins.
    Wave { wave: u32, open: usize },
    /// An iteration over all records is done; number 0 is the random start.
    Iteration {
        iteration: u32,
        clusters: usize,
        loss: f64,
    },
    /// Clusters were brought to the size that is demanded.
    Grown { clusters: usize, loss: f64 },
    /// Clusters were refined.
    Refined { clusters: usize, loss: f64 },
    /// Groups of clusters were rebuilt, which one site alone can do.
    Rebuilt { clusters: usize, loss: f64 },
}

impl std::fmt::Display for Step {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Wave { wave, open } => write!(f, "wave {wave}: {open} classes open"),
            Self::Iteration { clusters, loss, .. }
            | Self::Grown { clusters, loss }
            | Self::Refined { clusters, loss }
            | Self::Rebuilt { clusters, loss } => {
                let (name, clusters) = (self.name(), thousands(*clusters as u64));
                write!(f, "{name}: {clusters} clusters, loss {loss:.4}")
            }
        }
    }
}

impl Step {
    /// What it is called.
    fn name(&self) -> String {
        match self {
            Self::Wave { wave, .. } => format!("wave {wave}"),
            Self::Iteration { iteration: 0, .. } => String::from("start"),
            Self::Iteration { iteration, .. } => format!("iteration {iteration}"),
            Self::Grown { .. } => String::from("grown"),
            Self::Refined { .. } => String::from("refined"),
            Self::Rebuilt { .. } => String::from("rebuilt"),
        }
    }
}

/// Numbers the steps of a clustering.
#[derive(Default)]
pub(crate) struct Steps {
    /// Iterations of the present start, with that start; 0 before and after them.
    iterations: u32,
}

impl Steps {
    pub(crate) fn next(&mut self, progress: &Progress) -> Step {
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

/// How the loss of a clustering fell, at the start that was kept.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Convergence {
    /// What the loss is.
    measure: &'static str,
    /// Iterations over all records (L of TG12).
    iterations: u32,
    /// Whether every start ended because there was nothing left to gain, not at the bound on
    /// iterations.
    settled: bool,
    /// The mean loss of a cell at the start and after each step.
    steps: Vec<Step>,
}

impl Convergence {
    pub(crate) fn new(found: &Clustering, loss: Loss) -> Self {
        let mut numbers = Steps::default();
        let steps: Vec<Step> = found.trace.iter().map(|step| numbers.next(step)).collect();
        let iterations = steps.iter().filter_map(|step| match step {
            Step::Iteration { iteration, .. } => Some(*iteration),
            _ => None,
        });
        Self {
            measure: match loss {
                Loss::Ncp => "ncp_present",
                Loss::Lm => "lm",
                Loss::Em => "em",
            },
            iterations: iterations.max().unwrap_or(0),
            settled: found.is_settled,
            steps,
        }
    }

    /// For a person: a line for each step.
    pub(crate) fn text(&self) -> String {
        let measure = match self.measure {
            "ncp_present" => "NCP, present",
            "lm" => "LM",
            _ => "EM",
        };
        let end = match self.settled {
            true => "until nothing was left to gain",
            false => "STOPPED AT THE BOUND ON ITERATIONS",
        };
        let rows = self.steps.iter().filter_map(|step| match step {
            Step::Wave { .. } => None,
            Step::Iteration { clusters, loss, .. }
            | Step::Grown { clusters, loss }
            | Step::Refined { clusters, loss }
            | Step::Rebuilt { clusters, loss } => Some(vec![
                format!("  {}", step.name()),
                format!("{} clusters", thousands(*clusters as u64)),
                format!("{loss:.4}"),
            ]),
        });
        let rows: Vec<Vec<String>> = rows.collect();
        let iterations = count(u64::from(self.iterations), "iteration", "iterations");
        format!(
            "convergence (mean loss of a cell: {measure}), {iterations}, {end}\n{}",
            aligned(&rows)
        )
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
}
