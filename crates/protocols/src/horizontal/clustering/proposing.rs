//! The work of the site whose turn it is where sensitive counts are hidden (TG12 section 8.2.2): every move is
//! proposed, and made once all sites have said that both clusters satisfy the demands then.
//!
//! # Discloses
//! Nothing by itself; `turn` asks and announces.

use super::acting::{Acting, Leaving};
use super::work::Work;
use crate::clustering::numbers::Cluster;

impl Acting {
    /// As [`Self::ask`], where counts are hidden: every record waits for an answer. Returns whether a record
    /// is looked at.
    pub(super) fn look_on(&mut self, work: &Work<'_>, masks: &mut [u64]) -> bool {
        if self.waiting.is_empty() {
            self.waiting = std::mem::take(&mut self.again);
        }
        self.choose(work, masks);
        self.candidates.iter().any(Option::is_some)
    }

    /// Where counts are hidden: the moves of records that would lower the loss, each cluster in one move at
    /// most. For clusters that must be asked about, sets their sizes after the move.
    pub(super) fn propose(
        &mut self,
        work: &Work<'_>,
        closures: Vec<Option<Vec<u64>>>,
        sizes: &mut [u64],
    ) -> Vec<(Leaving, Cluster)> {
        let leaving = self.leaving(closures);
        self.candidates.fill(None);
        let holds = |cluster: Cluster| {
            let hidden = work.hidden.as_ref();
            hidden.is_some_and(|hidden| hidden.holds(cluster))
        };
        let mut is_touched = vec![false; sizes.len()];
        let mut moves = Vec::new();
        for leaving in leaving {
            let from = leaving.from;
            let Some(to) = self.best(work, &leaving) else {
                continue;
            };
            if is_touched[from.index()] || is_touched[to.index()] {
                self.waiting.push(leaving.row);
                continue;
            }
            for cluster in [from, to] {
                is_touched[cluster.index()] = true;
            }
            let size = work.clusters.size(from);
            if holds(from) && size > 1 {
                sizes[from.index()] = size - 1;
            }
            if holds(to) {
                sizes[to.index()] = work.clusters.size(to) + 1;
            }
            moves.push((leaving, to));
        }
        moves
    }

    /// Makes the moves after which both clusters may be as they then are. A record that may not join a
    /// cluster waits for another.
    pub(super) fn make(
        &mut self,
        work: &mut Work<'_>,
        moves: Vec<(Leaving, Cluster)>,
        may_change: &[bool],
    ) {
        for (leaving, to) in moves {
            if !may_change[leaving.from.index()] {
                continue;
            }
            if may_change[to.index()] {
                self.shift(work, leaving, to);
            } else {
                self.refused.insert((leaving.row, to));
                self.waiting.push(leaving.row);
            }
        }
    }
}
