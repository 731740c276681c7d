//! One site that has all records: no question has to be asked, so the search is free. All records are
//! divided top-down (`divide`), then small groups of neighbouring clusters (`groups`) are taken apart and
//! built anew (`build`), again and again: ruin and recreate (Schrimpf et al. 2000), with a threshold that
//! falls to nothing (Dueck and Scheuer 1990), so that a group may also become a little worse for a while.
//! Between sites this would show records to others, so it is not done there.
//!
//! The search can be ended at any time: what is kept is the best that was found so far.
//!
//! # Discloses
//! Nothing: there is no other site.

mod bound;
mod build;
mod built;
mod divide;
mod groups;
mod improve;
mod pool;
mod quick;

use hedgerow_smc::{Generator, Seed};
use rayon::prelude::*;

use super::work::Work;
use super::{Ended, Phase};
use crate::clustering::numbers::Row;
use build::Kind;
use built::{Built, loss};
use quick::Quick;

/// Passes over all clusters for each unit of effort.
const PASSES: u32 = 24;
/// How often people are told of the loss, for each run.
const TOLD: u64 = 40;
/// By how much a group may become worse at the beginning: by the mean loss of so many records, for each record
/// that a cluster must have, at an effort of one. It grows with the third root of the effort: a longer search
/// can afford to go further astray.
const THRESHOLD: f64 = 0.2;
/// The most that this becomes.
const GREATEST_THRESHOLD: f64 = 1.0;

/// Finds clusters, and puts them into `work`, which has none yet. Gives why the search ended.
pub(super) fn cluster(work: &mut Work<'_>, step: &mut impl FnMut(Phase, usize, u64)) -> Ended {
    let mut seed = [0; 32];
    if let Some(speaker) = work.speakers.first_mut() {
        speaker.generator.fill(&mut seed);
    }
    let best = best(&Quick::new(work), &Seed::new(seed), step);
    let is_best = best.loss == 0 || best.clusters() < 2;
    work.put_all(best.rows());
    match is_best {
        true => Ended::NothingMoved,
        false => Ended::Effort,
    }
}

/// What no clusters of k records lose less than, if that can be found; `work` has clusters.
pub(super) fn least_loss(work: &Work<'_>) -> Option<u64> {
    bound::least_loss(&Quick::new(work))
}

fn best(quick: &Quick<'_>, seed: &Seed, step: &mut impl FnMut(Phase, usize, u64)) -> Best {
    let plan = quick.work.plan;
    let mut generator = Generator::new(seed);
    let mut clusters = divide::divide(quick);
    let mut best = Best::of(&clusters);
    step(Phase::Iteration, clusters.len(), best.loss);
    let passes = u64::from(plan.effort) * u64::from(PASSES);
    let mut told = 0;
    let mut pass = 0u64;
    // A loss of nothing cannot fall.
    while best.loss > 0 && clusters.len() > 1 {
        let used = (plan.used)().max(pass as f64 / passes as f64);
        if used >= 1.0 {
            break;
        }
        let mean = loss(&clusters) as f64 / quick.records().max(1) as f64;
        // Where time ends the search, by the passes so far.
        let efforts = ((pass + 1) as f64 / used.max(1.0 / passes as f64)) / f64::from(PASSES);
        let worse = (THRESHOLD * efforts.cbrt()).min(GREATEST_THRESHOLD) * quick.k() as f64;
        let threshold = (mean * worse * (1.0 - used)) as u64;
        let pass_seed = seed.derive("clusters of one site", pass);
        let kind = match pass % 2 {
            0 => Kind::Grown,
            _ => Kind::Opened,
        };
        clusters = rebuilt(
            quick,
            (kind, clusters),
            (&pass_seed, threshold),
            &mut generator,
        );
        pass += 1;
        let now = loss(&clusters);
        if now < best.loss {
            best = Best::of(&clusters);
        }
        if (used * TOLD as f64) as u64 > told {
            told = (used * TOLD as f64) as u64;
            step(Phase::Rebuilt, best.clusters(), best.loss);
        }
    }
    step(Phase::Rebuilt, best.clusters(), best.loss);
    best
}

/// Rebuilds every cluster once, in a group with its neighbours.
fn rebuilt(
    quick: &Quick<'_>,
    (kind, clusters): (Kind, Vec<Built>),
    (seed, threshold): (&Seed, u64),
    generator: &mut Generator,
) -> Vec<Built> {
    let groups = groups::groups(quick, &clusters, kind, generator);
    let better: Vec<Option<Vec<Built>>> = (0u64..)
        .zip(&groups)
        .collect::<Vec<_>>()
        .into_par_iter()
        .map(|(number, group)| {
            if (quick.work.plan.used)() >= 1.0 {
                return None;
            }
            let mut generator = Generator::new(&seed.derive("a group of clusters", number));
            let group: Vec<&Built> = group.iter().map(|place| &clusters[*place]).collect();
            build::anew(quick, (kind, &group), threshold, &mut generator)
        })
        .collect();
    let mut clusters: Vec<Option<Built>> = clusters.into_iter().map(Some).collect();
    let mut next = Vec::with_capacity(clusters.len());
    for (group, built) in groups.into_iter().zip(better) {
        match built {
            Some(built) => next.extend(built),
            None => next.extend(group.into_iter().filter_map(|place| clusters[place].take())),
        }
    }
    next
}

/// The clusters that lost least so far, row after row.
struct Best {
    loss: u64,
    rows: Vec<Row>,
    ends: Vec<usize>,
}

impl Best {
    fn of(clusters: &[Built]) -> Self {
        let mut best = Self {
            loss: loss(clusters),
            rows: Vec::new(),
            ends: Vec::new(),
        };
        for cluster in clusters {
            best.rows.extend(&cluster.rows);
            best.ends.push(best.rows.len());
        }
        best
    }

    fn clusters(&self) -> usize {
        self.ends.len()
    }

    fn rows(self) -> Vec<Vec<Row>> {
        let starts = std::iter::once(&0).chain(&self.ends);
        let spans = starts.zip(&self.ends);
        spans
            .map(|(from, to)| self.rows[*from..*to].to_vec())
            .collect()
    }
}
