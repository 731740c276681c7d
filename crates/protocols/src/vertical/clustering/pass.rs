//! An iteration over the records (TG12 Algorithm 4, steps 3 to 17), block by block.
//!
//! The size of a block follows from how many records wanted to move in the last block, so that a block
//! brings about as many moves as the clusters allow. The pivot goes through the records by what they
//! save: a record goes where it saves most, if no earlier move touches either cluster; if one touches
//! the target, it goes to the best untouched cluster that saves at least half as much; otherwise it
//! waits.
//!
//! # Discloses
//! To the pivot, the changes of the loss, as `asked` lists them; to all sites, where records move, that
//! they wait, and which moves would break the requirement.

use std::collections::{HashMap, HashSet, VecDeque};
use std::ops::Range;

use hedgerow_smc::Party;
use rayon::prelude::*;

use super::RECORD_MOVES;
use super::asked::changes;
use super::kept::Kept;
use super::work::{PIVOT, Work};
use crate::clustering::numbers::{Cluster, Row};
use crate::error::Error;

/// The most changes that are asked together: 32 MB.
pub(super) const MOST_CHANGES: usize = 1 << 22;
/// Records of a block that should want to move, for each cluster.
const WISHES: f64 = 2.0;
/// How often a record's moves may be refused in an iteration, where it is not as printed.
const MOST_REFUSALS: usize = 3;
/// The pivot's word for a record that waits.
const WAITS: u64 = u64::MAX;

/// The result of a block.
struct Settled {
    moved: u64,
    waiting: Vec<Row>,
}

/// Goes through all records of clusters larger than `floor`. Gives how many moved.
pub(super) async fn pass(party: &mut Party, work: &mut Work<'_>, floor: u64) -> Result<u64, Error> {
    let mut order: Vec<Row> = Row::first(work.rows()).collect();
    work.draws.common.shuffle(&mut order);
    let mut fresh = order.len();
    let mut queue: VecDeque<Row> = order.into();
    let mut refused = Refused::default();
    let mut kept = Kept::default();
    let mut share = 1.0;
    let mut moved = 0;
    loop {
        let living: Vec<Cluster> = work.clusters.living().collect();
        let wanted = (living.len() as f64 * WISHES / share) as usize;
        let mut block = Block::default();
        while block.rows.len() < wanted.max(1) && block.changes() < MOST_CHANGES {
            let Some(row) = queue.pop_front() else {
                break;
            };
            fresh = fresh.saturating_sub(1);
            block.push(work, row, floor, &living);
        }
        if block.rows.is_empty() {
            return Ok(moved);
        }
        let asked = block.rows.len();
        let settled = block
            .settle(party, work, &living, &mut refused, &mut kept)
            .await?;
        moved += settled.moved;
        let wishes = settled.moved as usize + settled.waiting.len();
        share = (wishes as f64 / asked as f64).max(0.01);
        // Waiting for a few clusters that many want: the next iteration is soon enough.
        let is_slow = settled.moved as usize * 8 < asked.min(living.len());
        if fresh == 0 && is_slow && !work.plan.is_printed {
            return Ok(moved);
        }
        // These records go behind all others, so that records that want the same do not fill a block.
        queue.extend(settled.waiting);
    }
}

/// Moves that were refused in this iteration, known to all sites.
#[derive(Default)]
struct Refused(HashMap<Row, Vec<Cluster>>);

impl Refused {
    /// The clusters that a record was refused.
    fn of(&self, row: Row) -> &[Cluster] {
        self.0.get(&row).map_or(&[], Vec::as_slice)
    }

    fn times(&self, row: Row) -> usize {
        self.of(row).len()
    }
}

/// Records that are looked at together, each with the clusters that it may move to.
#[derive(Default)]
pub(super) struct Block {
    pub(super) rows: Vec<Row>,
    /// Whether each record is alone in its cluster and must leave.
    pub(super) must: Vec<bool>,
    /// The clusters that records may move to, one record's after the other's.
    pub(super) targets: Vec<Cluster>,
    /// The place where each record's clusters end.
    ends: Vec<usize>,
}

impl Block {
    /// How many moves there are.
    pub(super) fn changes(&self) -> usize {
        self.targets.len()
    }

    /// Adds a record, if there is something to ask about it: all other clusters if its own cluster has
    /// changed since the record last stayed, else the clusters that have changed.
    fn push(&mut self, work: &Work<'_>, row: Row, floor: u64, living: &[Cluster]) {
        let own = work.cluster_of(row);
        if work.clusters.size(own) <= floor {
            return;
        }
        let settled = work.settled[row.index()];
        let must = floor == 0 && work.k() > 1 && work.clusters.size(own) == 1;
        let since = if work.changed[own.index()] > settled || must {
            0
        } else {
            settled
        };
        let is_new = |cluster: &&Cluster| **cluster != own && work.changed[cluster.index()] > since;
        self.targets.extend(living.iter().filter(is_new));
        if self.targets.len() > self.ends.last().copied().unwrap_or(0) {
            self.rows.push(row);
            self.must.push(must);
            self.ends.push(self.targets.len());
        }
    }

    /// The places of a record's moves.
    pub(super) fn range(&self, place: usize) -> Range<usize> {
        let from = place.checked_sub(1).map_or(0, |before| self.ends[before]);
        from..self.ends[place]
    }

    /// The clusters that a record may move to.
    pub(super) fn of(&self, place: usize) -> &[Cluster] {
        &self.targets[self.range(place)]
    }

    /// Asks for the changes, makes the moves that the pivot picks, and says who waits.
    async fn settle(
        self,
        party: &mut Party,
        work: &mut Work<'_>,
        living: &[Cluster],
        refused: &mut Refused,
        kept: &mut Kept,
    ) -> Result<Settled, Error> {
        let changes = changes(party, work, &self, living, kept).await?;
        let mut told = vec![0; self.rows.len()];
        if party.me() == PIVOT {
            self.pick(work, refused, &changes, &mut told);
        }
        party.tell(RECORD_MOVES, PIVOT, &mut told).await?;
        let moves = self.read(|row| work.cluster_of(row), &told);
        let problem = "records move that cannot move together";
        let moves = moves.ok_or_else(|| party.misfit(RECORD_MOVES, problem))?;
        let mut agreed: Vec<bool> = moves
            .iter()
            .map(|(row, to)| work.may_shift(*row, *to))
            .collect();
        work.agree(party, &mut agreed).await?;
        for (row, told) in self.rows.iter().zip(&told) {
            if *told == 0 && refused.times(*row) == 0 {
                work.settled[row.index()] = work.clock;
            }
        }
        let asked_at = work.clock;
        work.clock += 1;
        let waits = self
            .rows
            .iter()
            .zip(&told)
            .filter(|(_, told)| **told == WAITS);
        let mut waiting: Vec<Row> = waits.map(|(row, _)| *row).collect();
        let mut moved = 0;
        for ((row, to), agreed) in moves.into_iter().zip(agreed) {
            if agreed {
                work.shift(row, to);
                moved += 1;
                continue;
            }
            refused.0.entry(row).or_default().push(to);
            if refused.times(row) < MOST_REFUSALS || work.plan.is_printed {
                waiting.push(row);
            }
        }
        if work.plan.keeps_changes(party.sites()) {
            let is_waiting: HashSet<Row> = waiting.iter().copied().collect();
            for (place, row) in self.rows.iter().enumerate() {
                match is_waiting.contains(row) {
                    true => kept.keep(asked_at, &self, place, &changes),
                    false => kept.forget(*row),
                }
            }
        }
        Ok(Settled { moved, waiting })
    }

    /// Picks moves that touch different clusters: the moves that save most first.
    fn pick(&self, work: &Work<'_>, refused: &Refused, changes: &[u64], told: &mut [u64]) {
        // The least change that a record can bring, and where, among clusters that may be joined.
        let least = |place: usize, may_join: &dyn Fn(Cluster) -> bool| {
            let range = self.range(place);
            let refused = refused.of(self.rows[place]);
            let mut least: Option<(i64, Cluster)> = None;
            for (to, change) in self.targets[range.clone()].iter().zip(&changes[range]) {
                let change = *change as i64;
                if least.is_none_or(|(so_far, _)| change < so_far)
                    && may_join(*to)
                    && !refused.contains(to)
                {
                    least = Some((change, *to));
                }
            }
            least
        };
        let wish = |place: usize| {
            let (change, to) = least(place, &|_| true)?;
            (change < 0 || self.must[place]).then_some((change, place, to))
        };
        let places = (0..self.rows.len()).into_par_iter();
        let mut wishes: Vec<(i64, usize, Cluster)> = places.filter_map(wish).collect();
        wishes.sort_unstable();
        let mut touched = vec![false; work.clusters.len()];
        for (best, place, wanted) in wishes {
            let own = work.cluster_of(self.rows[place]);
            told[place] = WAITS;
            if touched[own.index()] {
                continue;
            }
            let to = if touched[wanted.index()] {
                let free = least(place, &|to| !touched[to.index()]);
                free.filter(|(change, _)| *change < 0 && *change <= best / 2)
            } else {
                Some((best, wanted))
            };
            if let Some((_, to)) = to {
                told[place] = to.index() as u64 + 1;
                touched[own.index()] = true;
                touched[to.index()] = true;
            }
        }
    }

    /// The moves that the pivot told, if they can be made together.
    fn read(
        &self,
        cluster_of: impl Fn(Row) -> Cluster,
        told: &[u64],
    ) -> Option<Vec<(Row, Cluster)>> {
        let mut touched = HashSet::new();
        let mut moves = Vec::new();
        for (place, (row, told)) in self.rows.iter().zip(told).enumerate() {
            if *told == 0 || *told == WAITS {
                continue;
            }
            let to = Cluster::named(*told - 1);
            let to = to.filter(|to| self.of(place).binary_search(to).is_ok())?;
            if !touched.insert(cluster_of(*row)) || !touched.insert(to) {
                return None;
            }
            moves.push((*row, to));
        }
        Some(moves)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moves_that_cannot_be_made_together_are_refused() {
        // Record 7 of cluster 0 and record 9 of cluster 1; cluster 5 is not asked about again.
        let block = Block {
            rows: [7, 9].map(Row::new).to_vec(),
            must: vec![false; 2],
            targets: [1, 2, 3, 0, 2, 3].map(Cluster::at).to_vec(),
            ends: vec![3, 6],
        };
        let cluster_of = |row: Row| Cluster::at(usize::from(row == Row::new(9)));
        let moves = |row, to| (Row::new(row), Cluster::at(to));
        let read = |told: [u64; 2]| block.read(cluster_of, &told);
        assert_eq!(read([3, 4]).unwrap(), [moves(7, 2), moves(9, 3)]);
        assert_eq!(read([WAITS, 0]).unwrap(), []);
        // To the same cluster; into each other's; to the cluster of the record; to a cluster that was
        // not asked about.
        for told in [
            [3, 3],
            [2, 4],
            [1, 0],
            [6, 0],
            [u64::MAX - 1, 0],
            [1 << 40, 0],
        ] {
            assert_eq!(read(told), None, "{told:?}");
        }
    }
}
