//! The choices tried one after the other within a time.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hedgerow_data::files::Progress;
use hedgerow_data::study::Algorithm;
use hedgerow_privacy::Requirement;

use super::choices::{Candidate, Hindered, reason};
use super::{Measured, Row, Tried};
use crate::error::Error;
use crate::joint::{Ended, Step};
use crate::observe::{Observer, Watch, Work};
use crate::options::Options;
use crate::simulate::anonymize::{CUT_IN_A_SECOND, anonymize, can_end};
use crate::study::Study;
use crate::study::ready::Ready;
use crate::table::Table;

/// So many records of several sites are clustered in a second, or more.
const CLUSTERED_IN_A_SECOND: f64 = 400.0;

/// What choices are tried on.
pub(super) struct Trial<'a> {
    pub(super) table: &'a Table,
    pub(super) original: &'a hedgerow_data::Table,
    pub(super) requirement: &'a Requirement,
    /// The sites that a column of the table names.
    pub(super) sites: Option<usize>,
    pub(super) options: &'a Options,
    pub(super) watch: Arc<dyn Watch>,
    pub(super) ends: Instant,
}

/// What is known of the time that choices take.
struct Known {
    /// How many are still to come.
    left: usize,
    /// The seconds of the last run of each algorithm.
    taken: HashMap<&'static str, f64>,
    /// The most that was taken beside a search: to read, to write, to measure.
    beside: Duration,
}

impl Trial<'_> {
    /// What comes of each choice, and the errors of those that give no release.
    pub(super) fn rows(&self, candidates: Vec<Candidate>) -> (Vec<Row>, Vec<Error>) {
        let is_fit = |candidate: &&Candidate| candidate.study.is_ok();
        let mut known = Known {
            left: candidates.iter().filter(is_fit).count(),
            taken: HashMap::new(),
            beside: Duration::ZERO,
        };
        let mut errors = Vec::new();
        let rows = candidates.into_iter().map(|candidate| {
            let tried = self.tried(&candidate, &mut known, &mut errors);
            Row {
                choice: candidate.choice,
                equal: Vec::new(),
                tried,
            }
        });
        (rows.collect(), errors)
    }

    fn tried(&self, candidate: &Candidate, known: &mut Known, errors: &mut Vec<Error>) -> Tried {
        let study = match &candidate.study {
            Ok(study) => study,
            Err(Hindered::Refused(reason)) => {
                let reason = reason.clone();
                return Tried::Refused { reason };
            }
            Err(Hindered::Unfit(reason)) => {
                let reason = reason.clone();
                return Tried::NotRun { reason };
            }
        };
        let share = self.share(study, candidate.choice.own, known);
        known.left -= 1;
        let share = match share {
            Ok(share) => share,
            Err(reason) => return Tried::NotRun { reason },
        };
        self.watch.begins(&candidate.choice.words());
        match self.measured(study, share) {
            Ok((measured, beside)) => {
                known.beside = known.beside.max(beside);
                let algorithm = candidate.choice.algorithm;
                let taken = measured.seconds + beside.as_secs_f64();
                known.taken.insert(algorithm, taken);
                Tried::Measured(measured)
            }
            Err(error) => {
                let reason = reason(&error);
                errors.push(error);
                Tried::Refused { reason }
            }
        }
    }

    /// The time of a choice among those that are left, or why there is none.
    fn share(&self, study: &Study, is_own: bool, known: &Known) -> Result<Duration, String> {
        // Whoever ends a comparison still hears of one choice.
        if self.watch.is_over() && !known.taken.is_empty() {
            return Err(String::from("somebody ended the comparison before"));
        }
        let time = self.ends.saturating_duration_since(Instant::now());
        if time.is_zero() {
            return Err(String::from("the time was over before"));
        }
        let Ok(ready) = self.ready(study) else {
            // Whoever runs it is told why it cannot be run.
            return Ok(time);
        };
        // The study's own goes first, and may take half of the time.
        let left = if is_own { 2 } else { known.left.max(1) as u32 };
        if can_end(&ready, self.sites.is_some()) {
            let share = (time / left).saturating_sub(known.beside);
            return match share.is_zero() {
                true => Err(String::from("too little time was left")),
                false => Ok(share),
            };
        }
        let algorithm = study.opened.study.algorithm;
        let takes = known.taken.get(algorithm.name()).copied();
        let takes = takes.unwrap_or_else(|| {
            let pace = match algorithm {
                Algorithm::Clustering => CLUSTERED_IN_A_SECOND,
                _ => CUT_IN_A_SECOND,
            };
            self.original.rows() as f64 / pace
        });
        match takes > time.as_secs_f64() {
            true => Err(format!(
                "takes about {takes:.0} s in steps that no time ends, and {:.0} s were left",
                time.as_secs_f64()
            )),
            false => Ok(time),
        }
    }

    fn ready(&self, study: &Study) -> Result<Ready, Error> {
        let sites = self.sites.map(|sites| sites as u64);
        Ready::new(Arc::clone(&study.opened), sites)
    }

    /// Anonymizes the table by a choice, and measures the release; how long all took but the protocol.
    fn measured(&self, study: &Study, share: Duration) -> Result<(Measured, Duration), Error> {
        let began = Instant::now();
        let mut options = Options::new().seed(self.options.seed).limit(share);
        if let Some(column) = &self.options.provider_column {
            options = options.provider_column(column);
        }
        let options = options.observer(OfOne(Arc::clone(&self.watch)));
        let outcome = anonymize(study, self.table, &options)?;
        let protocol = outcome.summary.cost.protocol_seconds;
        let convergence = outcome.summary.convergence.as_ref();
        let is_search = convergence.is_some_and(|found| found.ended == Ended::Effort);
        let stopped = is_search && (protocol >= share.as_secs_f64() || self.watch.is_over());
        let asked = (self.original, self.requirement);
        let measured = Measured::of(&outcome, study, asked, stopped)?;
        let protocol = Duration::try_from_secs_f64(protocol).unwrap_or_default();
        Ok((measured, began.elapsed().saturating_sub(protocol)))
    }
}

/// Hears of one choice what the watch of the comparison is to hear.
struct OfOne(Arc<dyn Watch>);

impl Observer for OfOne {
    fn begin(&self, work: Work<'_>) -> Box<dyn Watch> {
        match work {
            Work::Run => Box::new(Heard(Arc::clone(&self.0))),
            _ => Box::new(()),
        }
    }
}

struct Heard(Arc<dyn Watch>);

impl Progress for Heard {
    fn advance(&self, amount: u64) {
        self.0.advance(amount);
    }
}

impl Watch for Heard {
    fn step(&self, step: Step) {
        self.0.step(step);
    }

    fn is_over(&self) -> bool {
        self.0.is_over()
    }
}
