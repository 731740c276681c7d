//! The steps of a run: what the pivot learns of their loss, when iterations end, and which start is
//! kept.
//!
//! # Discloses
//! To the pivot, by how much the loss of all sites differs from the loss at the first start; to all
//! sites, whether a step was the last of its kind, and whether a start ended better than the starts
//! before it.

use hedgerow_smc::Party;

use super::work::{PIVOT, Work};
use super::{BEST_START, LAST_ITERATION, Phase, Progress};
use crate::clustering::cost::UNIT;
use crate::clustering::stop::Circles;
use crate::error::Error;

/// A number in place of a bit that is neither 0 nor 1.
const NO_BIT: &str = "neither yes nor no";

/// The steps of a run, and what the pivot learns of their loss.
pub(super) struct Steps {
    records: usize,
    attributes: usize,
    /// This site's loss at the first start.
    first: u64,
    /// Known to the pivot: by how much the loss of all sites differs from the loss at the first start:
    /// when this start began, after its last step, and at the end of the best start so far.
    began: i64,
    last: i64,
    best: i64,
    /// Of this start, since clusters were last united.
    circles: Circles,
    /// The steps since the start.
    pub(super) trace: Vec<Progress>,
}

impl Steps {
    pub(super) fn new(records: usize, attributes: usize) -> Self {
        Self {
            records,
            attributes,
            first: 0,
            began: 0,
            last: 0,
            best: i64::MAX,
            circles: Circles::default(),
            trace: Vec::new(),
        }
    }

    /// Begins a start.
    pub(super) async fn begin(
        &mut self,
        party: &mut Party,
        work: &Work<'_>,
        start: u32,
    ) -> Result<(), Error> {
        self.trace.clear();
        self.circles = Circles::default();
        if start == 0 {
            self.first = work.clusters.loss();
            return Ok(());
        }
        self.began = self.change(party, work).await?.unwrap_or(0);
        self.last = self.began;
        Ok(())
    }

    /// By how much the loss of all sites differs from the loss at the first start, which only the pivot
    /// learns.
    async fn change(&self, party: &mut Party, work: &Work<'_>) -> Result<Option<i64>, Error> {
        let mut change = [work.clusters.loss().wrapping_sub(self.first)];
        work.blur(party, &mut change);
        work.tell_costs(party, &mut change).await?;
        Ok((party.me() == PIVOT).then_some(change[0] as i64))
    }

    /// Whether this start ended better than the starts before it, which the pivot tells.
    pub(super) async fn is_best(&mut self, party: &mut Party, start: u32) -> Result<bool, Error> {
        if start == 0 {
            self.best = self.last;
            return Ok(true);
        }
        let mut is_best = [0];
        if party.me() == PIVOT {
            is_best[0] = u64::from(self.last < self.best);
            self.best = self.best.min(self.last);
        }
        party.tell(BEST_START, PIVOT, &mut is_best).await?;
        party.fit(BEST_START, is_best[0] < 2, NO_BIT)?;
        Ok(is_best[0] != 0)
    }

    /// Ends a step. Returns whether the step brought so little that no other of its kind should follow,
    /// which the pivot tells.
    pub(super) async fn step(
        &mut self,
        party: &mut Party,
        work: &Work<'_>,
        phase: Phase,
        moved: u64,
    ) -> Result<bool, Error> {
        let change = self.change(party, work).await?;
        let mut is_last = [0];
        if let Some(change) = change {
            let gained = self.last.saturating_sub(change);
            let so_far = change.saturating_sub(self.began).saturating_abs();
            // Of what all iterations together gained: nobody knows the loss itself.
            let is_small = work.plan.stop.is_small(gained, so_far.unsigned_abs());
            if phase == Phase::United {
                self.circles = Circles::default();
            }
            is_last[0] = u64::from(is_small || self.circles.are_closed(change));
            self.last = change;
        }
        party.tell(LAST_ITERATION, PIVOT, &mut is_last).await?;
        party.fit(LAST_ITERATION, is_last[0] < 2, NO_BIT)?;
        self.trace.push(Progress {
            phase,
            clusters: work.clusters.living().count(),
            moved,
            change: change.map(|change| mean(change as f64, self.records, self.attributes)),
        });
        Ok(is_last[0] != 0)
    }

    pub(super) fn tell(&self, each_step: &mut impl FnMut(Progress)) {
        if let Some(progress) = self.trace.last() {
            each_step(*progress);
        }
    }
}

/// The mean loss of a cell.
pub(super) fn mean(loss: f64, records: usize, attributes: usize) -> f64 {
    loss / UNIT / (records.max(1) * attributes.max(1)) as f64
}
