//! The changes of a block of records (TG12 Algorithm 4, steps 5 to 8), asked about clusters that can win.
//!
//! As published, the pivot learns the change of every record against every cluster. Nearly all of them
//! are losses, and the pivot can tell so from far fewer numbers: a record that leaves its cluster saves
//! some amount, and no record joins a cluster for less than its closure costs each of its records, or, of
//! entropy, which may fall, for less than the value that suits the closure best. So the sites first sum
//! what each record saves when it leaves, and what each changed cluster costs a record at least;
//! with its own part of the change the pivot has a lower bound of the whole, and says which clusters are
//! left. Only for those do the sites sum what joining costs. A record that is alone must leave and is
//! asked about all clusters. Moves are the same as if all changes had been asked.
//!
//! What joining costs is cut off where no saving can make up for it, which follows from the public sizes
//! of clusters: the sums are small, and travel in as few bytes as their bound takes. Where joining may
//! save something too, all costs are raised by the most that it may save, so that none is below 0.
//!
//! # Discloses
//! To the pivot, what records save when they leave and what clusters cost; the changes of the loss for
//! clusters that can win, and of the others that they are losses. To all sites, which clusters these are.

use std::ops::Range;

use hedgerow_smc::Party;
use rayon::prelude::*;

use super::changes::joins;
use super::kept::Kept;
use super::pass::Block;
use super::work::{PIVOT, TOO_MUCH, Work};
use super::{CANDIDATES, CLUSTER_COSTS, LOSS_CHANGES};
use crate::clustering::numbers::Cluster;
use crate::error::Error;

/// The change of a move that cannot win.
const A_LOSS: u64 = i64::MAX as u64;

/// The changes of a block, one record's after the other's, which only the pivot learns.
pub(super) async fn changes(
    party: &mut Party,
    work: &mut Work<'_>,
    block: &Block,
    living: &[Cluster],
    kept: &Kept,
) -> Result<Vec<u64>, Error> {
    let rows = block.rows.par_iter();
    let mut saved: Vec<u64> = rows.map(|row| work.leaving(*row)).collect();
    if party.sites() == 1 || work.plan.asks_all {
        return all(party, work, block, &saved, living, kept).await;
    }
    work.blur(party, &mut saved);
    work.tell_costs(party, &mut saved).await?;
    tell_least(party, work, living).await?;
    let is_pivot = party.me() == PIVOT;
    let mut own = Vec::new();
    let mut bits = Bits::new(block);
    if is_pivot {
        own = joins(work, &block.rows, |place| block.of(place), living);
        for (place, saved) in saved.iter().enumerate() {
            for at in block.range(place) {
                let others = work.least_of_others(block.targets[at]);
                let bound = saved.wrapping_add(own[at]).wrapping_add(others);
                bits.set(at, (bound as i64) < 0);
            }
        }
    }
    party.tell(CANDIDATES, PIVOT, &mut bits.words).await?;
    let problem = "clusters that no record was to be asked about";
    party.fit(CANDIDATES, bits.fits(block), problem)?;
    let asked = Asked::new(block, &bits);
    let sums = joined(party, work, block, &asked, living).await?;
    if !is_pivot {
        return Ok(Vec::new());
    }
    let mut changes = vec![A_LOSS; block.changes()];
    for (place, saved) in saved.iter().enumerate() {
        let range = asked.range(place);
        for (at, sum) in asked.places[range.clone()].iter().zip(&sums[range]) {
            changes[*at] = saved.wrapping_add(own[*at]).wrapping_add(*sum);
        }
    }
    Ok(changes)
}

/// The changes of all moves, as published; those that the pivot can keep are not asked about again.
async fn all(
    party: &mut Party,
    work: &Work<'_>,
    block: &Block,
    saved: &[u64],
    living: &[Cluster],
    kept: &Kept,
) -> Result<Vec<u64>, Error> {
    let mut bits = Bits {
        words: vec![0; block.changes().div_ceil(64)],
    };
    for place in 0..block.rows.len() {
        let asked = kept.to_ask(work, block, place).into_iter();
        asked.for_each(|at| bits.set(at, true));
    }
    let asked = Asked::new(block, &bits);
    let mut sums = joins(work, &block.rows, |place| asked.of(place), living);
    for (place, saved) in saved.iter().enumerate() {
        let of_row = sums[asked.range(place)].iter_mut();
        of_row.for_each(|change| *change = change.wrapping_add(*saved));
    }
    if !sums.is_empty() {
        work.blur(party, &mut sums);
        work.tell_costs(party, &mut sums).await?;
    }
    if party.me() != PIVOT {
        return Ok(Vec::new());
    }
    let mut changes = vec![0; block.changes()];
    for (at, sum) in asked.places.iter().zip(sums) {
        changes[*at] = sum;
    }
    for place in 0..block.rows.len() {
        kept.fill(work, block, place, &mut changes, |at| bits.is_set(at));
    }
    Ok(changes)
}

/// Tells the pivot the least that a record adds to the loss in clusters that have changed since it was
/// told last.
async fn tell_least(
    party: &mut Party,
    work: &mut Work<'_>,
    living: &[Cluster],
) -> Result<(), Error> {
    let last = work.least_told;
    let has_changed = |cluster: &&Cluster| work.changed[cluster.index()] > last;
    let changed: Vec<Cluster> = living.iter().filter(has_changed).copied().collect();
    work.least_told = work.clock;
    if changed.is_empty() {
        return Ok(());
    }
    let least = changed.iter().map(|cluster| work.least(*cluster));
    let mut sums: Vec<u64> = match party.me() {
        PIVOT => vec![0; changed.len()],
        _ => least.collect(),
    };
    work.blur(party, &mut sums);
    party.sum_to(CLUSTER_COSTS, PIVOT, &mut sums).await?;
    let noise = party.sites() as u64 * work.most_noise();
    let most = work.most_of(1) + work.most_saved(largest(work, living)) + noise;
    let fits = sums.iter().all(|sum| (*sum as i64).unsigned_abs() <= most);
    party.fit(CLUSTER_COSTS, fits, TOO_MUCH)?;
    work.others_least.resize(work.clusters.len(), 0);
    for (cluster, sum) in changed.into_iter().zip(sums) {
        work.others_least[cluster.index()] = sum;
    }
    Ok(())
}

/// What joining costs the other sites together, for the moves that are asked about, which only the pivot
/// learns.
async fn joined(
    party: &mut Party,
    work: &Work<'_>,
    block: &Block,
    asked: &Asked,
    living: &[Cluster],
) -> Result<Vec<u64>, Error> {
    let others = party.sites() as u64 - 1;
    let noise = work.most_noise();
    let largest = largest(work, living);
    // So that every part is above 0: joining may save, where the loss is entropy.
    let raised = work.most_saved(largest).saturating_add(noise);
    // A record saves no more than all that its cluster loses, and what joining saves other sites; what a
    // record that must leave costs anywhere is asked in full.
    let cap = |place: usize| {
        let own = work.clusters.size(work.cluster_of(block.rows[place]));
        match block.must[place] {
            true => work.most_of(largest + 1),
            false => work.most_of(own).saturating_add(work.most_saved(largest)),
        }
    };
    let most = |place: usize| {
        let each = cap(place).saturating_add(raised).saturating_add(noise);
        each.saturating_mul(others)
    };
    let mut sums = vec![0; asked.targets.len()];
    if party.me() != PIVOT {
        sums = joins(work, &block.rows, |place| asked.of(place), living);
        for place in 0..block.rows.len() {
            for cost in &mut sums[asked.range(place)] {
                let least = (*cost as i64).min(i64::try_from(cap(place)).unwrap_or(i64::MAX));
                *cost = (least as u64).wrapping_add(raised);
            }
        }
        work.blur(party, &mut sums);
    }
    if sums.is_empty() {
        return Ok(sums);
    }
    let places = 0..block.rows.len();
    let greatest = places.clone().map(most).max().unwrap_or(0);
    let sum = party.narrow_sum_to(LOSS_CHANGES, PIVOT, greatest, &mut sums);
    sum.await?;
    for place in places {
        let of_row = &mut sums[asked.range(place)];
        let fits = of_row.iter().all(|sum| *sum <= most(place));
        party.fit(LOSS_CHANGES, fits, TOO_MUCH)?;
        let lowered = |sum: &mut u64| *sum = sum.wrapping_sub(others.wrapping_mul(raised));
        of_row.iter_mut().for_each(lowered);
    }
    Ok(sums)
}

/// The records of the largest cluster.
fn largest(work: &Work<'_>, living: &[Cluster]) -> u64 {
    let sizes = living.iter().map(|cluster| work.clusters.size(*cluster));
    sizes.max().unwrap_or(0)
}

/// A bit for each move of a block: whether it can win, or must be made somewhere.
struct Bits {
    words: Vec<u64>,
}

impl Bits {
    /// The bits of moves that must be asked about.
    fn new(block: &Block) -> Self {
        let mut bits = Self {
            words: vec![0; block.changes().div_ceil(64)],
        };
        for place in (0..block.rows.len()).filter(|place| block.must[*place]) {
            block.range(place).for_each(|at| bits.set(at, true));
        }
        bits
    }

    fn set(&mut self, at: usize, bit: bool) {
        self.words[at / 64] |= u64::from(bit) << (at % 64);
    }

    fn is_set(&self, at: usize) -> bool {
        self.words[at / 64] >> (at % 64) & 1 == 1
    }

    /// Whether all moves that must be asked about are, and none that there are not.
    fn fits(&self, block: &Block) -> bool {
        let behind = (block.changes()..self.words.len() * 64).any(|at| self.is_set(at));
        let mut must = (0..block.rows.len()).filter(|place| block.must[*place]);
        !behind && must.all(|place| block.range(place).all(|at| self.is_set(at)))
    }
}

/// The moves of a block that are asked about.
struct Asked {
    /// Places among the block's moves.
    places: Vec<usize>,
    /// The clusters of these moves, one record's after the other's.
    targets: Vec<Cluster>,
    /// The place where each record's moves end.
    ends: Vec<usize>,
}

impl Asked {
    fn new(block: &Block, bits: &Bits) -> Self {
        let mut asked = Self {
            places: Vec::new(),
            targets: Vec::new(),
            ends: Vec::with_capacity(block.rows.len()),
        };
        for place in 0..block.rows.len() {
            for at in block.range(place).filter(|at| bits.is_set(*at)) {
                asked.places.push(at);
                asked.targets.push(block.targets[at]);
            }
            asked.ends.push(asked.places.len());
        }
        asked
    }

    fn range(&self, place: usize) -> Range<usize> {
        let from = place.checked_sub(1).map_or(0, |before| self.ends[before]);
        from..self.ends[place]
    }

    fn of(&self, place: usize) -> &[Cluster] {
        &self.targets[self.range(place)]
    }
}
