//! The main loop (TG12 Algorithm 3, steps 4 to 20): site after site looks at its records, and moves
//! each to the cluster where it costs least, if the loss falls.
//!
//! A site asks the others only about records whose leaving changes its own closure of the cluster
//! (section 4.2). All other records are looked at first. Then, batch by batch, one record of each
//! cluster: the closures without them are one question. Moves of a batch come one after the other at
//! the site itself, each weighed against what the moves before it left, so that the loss falls by
//! exactly what was found; a record whose cluster changed in between waits for the next batch.
//!
//! # Discloses
//! Which clusters and attributes a site asks about, their closures without a record, and at the end
//! of the turn sizes, closures and sensitive counts of the clusters that changed.

use hedgerow_smc::Party;
use rayon::prelude::*;

use super::super::cover::smallest;
use super::work::Work;
use super::{ASKED, CLOSURES, Phase, SIZES, WITHOUT, start};
use crate::Error;
use crate::clustering::search::{Growth, Search};

/// The most batches of a turn: what is left waits for the next iteration.
const MOST_BATCHES: usize = 6;
/// The same when clusters are refined.
const MOST_BATCHES_REFINED: usize = 2;
/// Records whose best clusters are looked for at the same time.
const AT_A_TIME: usize = 512;
/// The most iterations.
const MOST_ITERATIONS: usize = 20;
/// Iterations end when the loss falls by less than this share of itself.
const LEAST_GAIN: u64 = 200;

/// Iterates over all sites and records until the loss no longer falls. Gives whether it came to that.
pub(super) async fn iterate(
    party: &mut Party,
    work: &mut Work<'_>,
    step: &mut impl FnMut(Phase, &Work<'_>),
) -> Result<bool, Error> {
    step(Phase::Iteration, work);
    for _ in 0..MOST_ITERATIONS {
        let before = work.clusters.loss();
        all_turns(party, work).await?;
        start::split(party, work).await?;
        step(Phase::Iteration, work);
        let gained = before.saturating_sub(work.clusters.loss());
        if gained <= before / LEAST_GAIN {
            return Ok(true);
        }
    }
    Ok(false)
}

/// A turn of every site.
pub(super) async fn all_turns(party: &mut Party, work: &mut Work<'_>) -> Result<(), Error> {
    for site in 0..work.rows.sites as u32 {
        turn(party, work, site).await?;
    }
    Ok(())
}

/// A record that may leave its cluster.
struct Leaving {
    row: u32,
    from: usize,
    /// The closure it leaves, where it changes.
    without: Option<Vec<u64>>,
}

async fn turn(party: &mut Party, work: &mut Work<'_>, site: u32) -> Result<(), Error> {
    let batches = if work.least > 0 {
        MOST_BATCHES_REFINED
    } else {
        MOST_BATCHES
    };
    work.search = Search::new(work.shapes, &work.clusters);
    // What all know until the turn is over.
    let public = work.clusters.clone();
    let acting = work
        .speakers
        .iter()
        .position(|speaker| speaker.site == site);
    let mut acting = acting.map(|speaker| Acting::new(work, speaker, site));
    if let Some(acting) = &mut acting {
        acting.take_quiet(work);
    }
    for _ in 0..batches {
        let mut masks = vec![0; work.clusters.len()];
        if let Some(acting) = &mut acting {
            acting.ask(work, &mut masks);
        }
        party.sum(ASKED, &mut masks).await?;
        if masks.iter().all(|mask| *mask == 0) {
            break;
        }
        let asked = |(cluster, mask): (usize, &u64)| {
            let attributes = (0..work.shapes.attributes()).filter(|bit| mask >> bit & 1 == 1);
            attributes.map(|attribute| (cluster, attribute)).collect()
        };
        let asked: Vec<Vec<(usize, usize)>> = masks.iter().enumerate().map(asked).collect();
        let asked = asked.concat();
        let questions = asked.iter().map(|(cluster, attribute)| {
            let rows = work.members(*cluster).iter().copied();
            let rows = rows.filter(|row| {
                // Who came in this turn is yet unknown to the others, and joined to their answer.
                let acting = acting.as_ref();
                acting.is_none_or(|acting| !acting.is_left_out(*cluster, *row))
            });
            work.question(*attribute, public.closure(*cluster), rows)
        });
        let questions = questions.collect();
        let cells = smallest(party, WITHOUT, &work.plan.writings, questions).await?;
        for ((cluster, attribute), cell) in asked.iter().zip(&cells) {
            let within = public.closure(*cluster);
            work.published += work.shapes.looks(*attribute, within, cell);
        }
        if let Some(acting) = &mut acting {
            let mut closures: Vec<Option<Vec<u64>>> = vec![None; masks.len()];
            for ((cluster, attribute), cell) in asked.iter().zip(&cells) {
                let come = work.members(*cluster).iter().copied();
                let candidate = acting.candidates[*cluster];
                let come = come.filter(|row| Some(*row) != candidate);
                let come: Vec<u32> = come.filter(|row| acting.has_come[*row as usize]).collect();
                if work.clusters.sizes[*cluster] == come.len() as u64 + 1 {
                    // Nobody else is left whom the others could have been asked about.
                    closures[*cluster] = work.closure_of(come);
                    continue;
                }
                let closure = closures[*cluster]
                    .get_or_insert_with(|| work.clusters.closure(*cluster).to_vec());
                work.shapes.put(*attribute, cell, closure);
                for row in come {
                    let code = work.record(row)[*attribute];
                    work.shapes.join_value(*attribute, closure, code);
                }
            }
            acting.take_asked(work, closures);
        }
    }
    announce(party, work, acting.map(|acting| acting.changed)).await
}

/// The site whose turn it is tells what it changed.
async fn announce(
    party: &mut Party,
    work: &mut Work<'_>,
    changed: Option<Vec<bool>>,
) -> Result<(), Error> {
    let mut sizes = vec![0; work.clusters.len()];
    for (cluster, is_changed) in changed.iter().flatten().enumerate() {
        sizes[cluster] = work.clusters.sizes[cluster] << 1 | u64::from(*is_changed);
    }
    party.sum(SIZES, &mut sizes).await?;
    let told: Vec<usize> = (0..sizes.len())
        .filter(|place| sizes[*place] & 1 == 1)
        .collect();
    let (width, counters) = (work.shapes.width(), work.clusters.counters());
    let mut words = vec![0; told.len() * (width + counters)];
    if told.is_empty() {
        return Ok(());
    }
    if changed.is_some() {
        for (cluster, words) in told.iter().zip(words.chunks_mut(width + counters)) {
            words[..width].copy_from_slice(work.clusters.closure(*cluster));
            words[width..].copy_from_slice(work.clusters.counts(*cluster));
        }
    }
    party.sum(CLOSURES, &mut words).await?;
    for (cluster, words) in told.iter().zip(words.chunks(width + counters)) {
        let (closure, counts) = words.split_at(width);
        if !work.shapes.is_closure(closure) || sizes[*cluster] >> 1 > work.table.records() {
            return Err(Error::NoClosure);
        }
        work.clusters.sizes[*cluster] = sizes[*cluster] >> 1;
        work.clusters.counts_mut(*cluster).copy_from_slice(counts);
        work.clusters.set_closure(work.shapes, *cluster, closure);
        work.search.put(work.shapes, &work.clusters, *cluster);
    }
    Ok(())
}

/// Rows of a cluster, ascending, and in which attributes its closure would change without each.
type Narrowed = Vec<(u32, u64)>;

/// What the site whose turn it is keeps to itself.
struct Acting {
    site: u32,
    /// Its records that are still to be looked at, in its order.
    waiting: Vec<u32>,
    /// The record that would leave each cluster, of those asked about.
    candidates: Vec<Option<u32>>,
    /// For each cluster its own rows, ascending, and in which attributes its closure would change
    /// without each; none where that is not known.
    narrowed: Vec<Option<Narrowed>>,
    /// Its own closure of each cluster, from when that was found out; who leaves quietly leaves it as
    /// it is.
    own: Vec<Option<Vec<u64>>>,
    /// Rows that moved in this turn.
    has_come: Vec<bool>,
    changed: Vec<bool>,
}

impl Acting {
    fn new(work: &mut Work<'_>, speaker: usize, site: u32) -> Self {
        let count = work.clusters.len();
        let is_blurred = work.plan.is_blurred;
        let least = work.least;
        let speaker = &mut work.speakers[speaker];
        let rows = speaker.order.len();
        let looked_at = if is_blurred && rows > 0 {
            // Between a half and one and a half of them, so that nobody can tell how many there are.
            rows / 2 + speaker.generator.below(rows as u64 + 1) as usize
        } else {
            rows
        };
        let from = speaker.next;
        speaker.next = if rows == 0 {
            0
        } else {
            (from + looked_at) % rows
        };
        let order = &speaker.order;
        let waiting: Vec<u32> = (0..looked_at)
            .map(|place| order[(from + place) % rows])
            .collect();
        let may_leave = |row: &u32| work.clusters.sizes[work.cluster_of(*row)] > least;
        Self {
            site,
            waiting: waiting.into_iter().filter(may_leave).collect(),
            candidates: vec![None; count],
            narrowed: vec![None; count],
            own: vec![None; count],
            has_come: vec![false; work.rows.count],
            changed: vec![false; count],
        }
    }

    /// Whether the others are asked about a cluster without this row.
    fn is_left_out(&self, cluster: usize, row: u32) -> bool {
        self.candidates[cluster] == Some(row) || self.has_come[row as usize]
    }

    /// The attributes in which this site's own closure of a row's cluster would change without it.
    fn narrowed(&self, work: &Work<'_>, row: u32) -> u64 {
        let cluster = work.cluster_of(row);
        let known = self.narrowed[cluster].as_deref().unwrap_or_default();
        match known.binary_search_by_key(&row, |(row, _)| *row) {
            Ok(place) => known[place].1,
            Err(_) => {
                let all = narrowed_by_each(work, self.site, cluster);
                let found = all.iter().find(|(other, _)| *other == row);
                found.map_or(0, |(_, mask)| *mask)
            }
        }
    }

    /// Whether this site's own closure of a row's cluster is the same without it. Few of the other
    /// rows make it up, as a rule.
    fn is_quiet(&self, work: &Work<'_>, row: u32) -> bool {
        let cluster = work.cluster_of(row);
        let others = work.members(cluster).iter().copied();
        let mut others =
            others.filter(|other| *other != row && work.rows.owner_of(*other) == self.site);
        let (Some(whole), Some(first)) = (&self.own[cluster], others.next()) else {
            return false;
        };
        let mut closure = work.shapes.of_record(work.record(first));
        closure == *whole
            || others.any(|other| {
                work.shapes.join_record(&mut closure, work.record(other));
                closure == *whole
            })
    }

    /// Finds that out for all rows of some clusters.
    fn prepare(&mut self, work: &Work<'_>, clusters: impl Iterator<Item = usize>) {
        let mut unknown: Vec<usize> = clusters
            .filter(|cluster| self.narrowed[*cluster].is_none())
            .collect();
        unknown.sort_unstable();
        unknown.dedup();
        let found: Vec<(Narrowed, Option<Vec<u64>>)> = unknown
            .par_iter()
            .map(|cluster| {
                let rows = work.members(*cluster).iter().copied();
                let own = rows.filter(|row| work.rows.owner_of(*row) == self.site);
                let narrowed = narrowed_by_each(work, self.site, *cluster);
                (narrowed, work.closure_of(own))
            })
            .collect();
        for (cluster, (narrowed, own)) in unknown.into_iter().zip(found) {
            self.narrowed[cluster] = Some(narrowed);
            self.own[cluster] = own;
        }
    }

    /// Looks at the records that can leave without a question.
    fn take_quiet(&mut self, work: &mut Work<'_>) {
        let waiting = std::mem::take(&mut self.waiting);
        for rows in waiting.chunks(AT_A_TIME) {
            self.prepare(work, rows.iter().map(|row| work.cluster_of(*row)));
            let quiet: Vec<bool> = rows
                .par_iter()
                .map(|row| self.narrowed(work, *row) == 0)
                .collect();
            let mut leaving = Vec::with_capacity(rows.len());
            for (row, is_quiet) in rows.iter().zip(quiet) {
                if is_quiet {
                    leaving.push(Leaving {
                        row: *row,
                        from: work.cluster_of(*row),
                        without: None,
                    });
                } else {
                    self.waiting.push(*row);
                }
            }
            self.weigh(work, leaving);
        }
    }

    /// Chooses a record of each cluster, and says what must be asked about it.
    fn ask(&mut self, work: &Work<'_>, masks: &mut [u64]) {
        self.candidates.fill(None);
        let waiting = std::mem::take(&mut self.waiting);
        for row in waiting {
            if self.has_come[row as usize] {
                continue;
            }
            let cluster = work.cluster_of(row);
            if self.candidates[cluster].is_none() {
                self.candidates[cluster] = Some(row);
            } else {
                self.waiting.push(row);
            }
        }
        let asked = self.candidates.iter().enumerate();
        let asked: Vec<usize> = asked
            .filter_map(|(cluster, row)| row.map(|_| cluster))
            .collect();
        self.prepare(work, asked.into_iter());
        let found: Vec<u64> = self
            .candidates
            .par_iter()
            .map(|row| row.map_or(0, |row| self.narrowed(work, row)))
            .collect();
        masks.copy_from_slice(&found);
    }

    fn take_asked(&mut self, work: &mut Work<'_>, closures: Vec<Option<Vec<u64>>>) {
        let candidates = self.candidates.iter().zip(closures).enumerate();
        let mut leaving: Vec<Leaving> = candidates
            .filter_map(|(from, (row, without))| {
                let row = (*row)?;
                Some(Leaving { row, from, without })
            })
            .collect();
        leaving.sort_unstable_by_key(|leaving| leaving.row);
        let mut late = Vec::new();
        let mut rest = leaving;
        let touched: Vec<bool> = vec![false; work.clusters.len()];
        let before = std::mem::replace(&mut self.changed, touched);
        while !rest.is_empty() {
            let behind = rest.split_off(rest.len().min(AT_A_TIME));
            let (now, later): (Vec<Leaving>, Vec<Leaving>) = std::mem::replace(&mut rest, behind)
                .into_iter()
                .partition(|leaving| !self.changed[leaving.from]);
            late.extend(later.into_iter().map(|leaving| leaving.row));
            self.weigh(work, now);
        }
        for (changed, before) in self.changed.iter_mut().zip(before) {
            *changed |= before;
        }
        late.extend(std::mem::take(&mut self.waiting));
        self.waiting = late;
        self.candidates.fill(None);
    }

    /// Looks for the best cluster of each record among those that are there now, then moves record
    /// after record, each if the loss still falls by it.
    fn weigh(&mut self, work: &mut Work<'_>, leaving: Vec<Leaving>) {
        let targets: Vec<Option<usize>> = leaving
            .par_iter()
            .map(|leaving| {
                let gain = self.gain(work, leaving)?;
                let (row, from) = (leaving.row, leaving.from);
                let may_join = |cluster: usize| cluster != from && may_join(work, cluster, row);
                let growth = Growth {
                    shapes: work.shapes,
                    record: work.record(row),
                };
                let best = work
                    .search
                    .nearest(&work.clusters, &growth, (1, gain), may_join);
                best.first().map(|(_, cluster)| *cluster)
            })
            .collect();
        for (leaving, target) in leaving.into_iter().zip(targets) {
            let Some(target) = target else { continue };
            let (row, from) = (leaving.row, leaving.from);
            // Where sizes are blurred, a record may be looked at twice; it moves once.
            if self.has_come[row as usize] {
                continue;
            }
            let is_stale = match leaving.without {
                // Others may have left or come since the others were asked.
                Some(_) => self.changed[from],
                None => self.changed[from] && !self.is_quiet(work, row),
            };
            if is_stale {
                self.waiting.push(row);
                continue;
            }
            let Some(gain) = self.gain(work, &leaving) else {
                continue;
            };
            let record = work.record(row);
            let is_better = work.clusters.sizes[target] > 0
                && work.clusters.growth(work.shapes, target, record) < gain
                && may_join(work, target, row);
            if is_better {
                if let Some(own) = &mut self.own[target] {
                    work.shapes.join_record(own, work.record(row));
                }
                if leaving.without.is_some() {
                    self.own[from] = None;
                }
                shift(work, leaving, target);
                self.has_come[row as usize] = true;
                for cluster in [from, target] {
                    self.changed[cluster] = true;
                    self.narrowed[cluster] = None;
                }
            }
        }
    }

    /// By how much the loss falls when a record leaves its cluster; none if it must stay. A record
    /// that is alone must leave.
    fn gain(&self, work: &Work<'_>, leaving: &Leaving) -> Option<u64> {
        let from = leaving.from;
        let size = work.clusters.sizes[from];
        if size <= work.least || size == 0 {
            return None;
        }
        if size == 1 {
            return Some(u64::MAX);
        }
        if !work.values(leaving.row).is_empty() {
            let counts = work.clusters.counts(from);
            let mut without = counts.to_vec();
            for value in work.values(leaving.row) {
                without[*value as usize] -= 1;
            }
            if work.is_diverse(size, counts) && !work.is_diverse(size - 1, &without) {
                return None;
            }
        }
        let cost = match &leaving.without {
            Some(closure) => work.shapes.cost(closure),
            None => work.clusters.costs[from],
        };
        // A narrower cell may have more entropy: then the record stays.
        Some(
            work.clusters
                .loss_of(from)
                .saturating_sub((size - 1) * cost),
        )
    }
}

/// For each row that a site has in a cluster, ascending, the attributes in which its own closure of it
/// would change without the row: from the closures of all before it and of all behind it.
fn narrowed_by_each(work: &Work<'_>, site: u32, cluster: usize) -> Narrowed {
    let own = work.members(cluster).iter().copied();
    let mut rows: Vec<u32> = own.filter(|row| work.rows.owner_of(*row) == site).collect();
    rows.sort_unstable();
    let shapes = work.shapes;
    let every = (1 << shapes.attributes()) - 1;
    let Some(whole) = work.closure_of(rows.iter().copied()) else {
        return Vec::new();
    };
    if rows.len() == 1 {
        return vec![(rows[0], every)];
    }
    let width = shapes.width();
    let mut before: Vec<u64> = shapes.of_record(work.record(rows[0]));
    for row in &rows[1..] {
        let mut closure = before[before.len() - width..].to_vec();
        shapes.join_record(&mut closure, work.record(*row));
        before.extend(closure);
    }
    let mut masks = vec![0; rows.len()];
    let mut behind: Option<Vec<u64>> = None;
    for place in (0..rows.len()).rev() {
        let left = place
            .checked_sub(1)
            .map(|left| &before[left * width..place * width]);
        for attribute in 0..shapes.attributes() {
            let wanted = shapes.part(attribute, &whole);
            let part = |closure: Option<&[u64]>| {
                closure.map(|closure| shapes.part(attribute, closure).to_vec())
            };
            let without = match (part(left), part(behind.as_deref())) {
                (Some(mut left), Some(right)) => {
                    if left != wanted && right != wanted {
                        shapes.shape(attribute).join(&mut left, &right);
                        left
                    } else {
                        continue;
                    }
                }
                (Some(one), None) | (None, Some(one)) => one,
                (None, None) => continue,
            };
            masks[place] |= u64::from(without != wanted) << attribute;
        }
        match &mut behind {
            Some(closure) => shapes.join_record(closure, work.record(rows[place])),
            None => behind = Some(shapes.of_record(work.record(rows[place]))),
        }
    }
    rows.into_iter().zip(masks).collect()
}

/// Whether a cluster keeps its diversity when a row joins it.
fn may_join(work: &Work<'_>, cluster: usize, row: u32) -> bool {
    if work.values(row).is_empty() {
        return true;
    }
    let (size, counts) = (work.clusters.sizes[cluster], work.clusters.counts(cluster));
    let mut with = counts.to_vec();
    for value in work.values(row) {
        with[*value as usize] += 1;
    }
    work.is_diverse(size + 1, &with) || !work.is_diverse(size, counts)
}

/// Moves a record, and what is known of its clusters with it.
fn shift(work: &mut Work<'_>, leaving: Leaving, to: usize) {
    let Leaving { row, from, without } = leaving;
    let mut joined = work.clusters.closure(to).to_vec();
    work.shapes.join_record(&mut joined, work.record(row));
    work.relabel(row, to);
    work.clusters.sizes[from] -= 1;
    work.clusters.sizes[to] += 1;
    for value in work.values(row).to_vec() {
        work.clusters.counts_mut(from)[value as usize] -= 1;
        work.clusters.counts_mut(to)[value as usize] += 1;
    }
    if let Some(closure) = without {
        work.clusters.set_closure(work.shapes, from, &closure);
    }
    work.clusters.set_closure(work.shapes, to, &joined);
    work.search.put(work.shapes, &work.clusters, from);
    work.search.put(work.shapes, &work.clusters, to);
}
