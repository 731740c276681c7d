//! The main loop (TG12 Algorithm 3, steps 4 to 20): site after site looks at its records, and moves
//! each to the cluster where it costs least, if the loss falls.
//!
//! A site asks the others only about records whose leaving changes its own closure of the cluster
//! (section 4.2). All other records are looked at first. Then, batch by batch, one record of each
//! cluster: the closures without these records are one question. Moves of a batch come one after the
//! other at the site itself, each weighed after the moves before it, so that the loss falls by exactly
//! the amount found; a record whose cluster changed in between waits for the next batch. A record that
//! must not leave its cluster may change places with another of the same site.
//!
//! As printed, a turn has as many batches as it takes, every record is looked at once (with blurred sizes,
//! as often as its site's share says), and each goes to the cluster that is best at that moment. Nobody is
//! asked about a record twice: what comes to a cluster after the question is this site's own, and joined to
//! the answer. Records that need no question come first, which is an order like any other: the paper's
//! order of records is a site's own.
//!
//! # Discloses
//! Which clusters and attributes a site asks about, their closures without a record, and at the end
//! of the turn sizes, closures and sensitive counts of the clusters that changed. As printed and with
//! blurred sizes, how many records all sites looked at in an iteration.

use hedgerow_data::Cell;
use hedgerow_smc::Party;

use super::super::cover::smallest;
use super::super::requirement::Counted;
use super::acting::Acting;
use super::values::bit;
use super::work::Work;
use super::{
    ASKED_CLUSTERS, CLOSURES_WITHOUT_RECORD, CLUSTER_CLOSURES, Phase, TOUCHED_CLUSTERS, start,
    visits,
};
use crate::clustering::Ended;
use crate::clustering::clusters::Clusters;
use crate::clustering::numbers::{Cluster, Row};
use crate::clustering::stop::Circles;
use crate::error::Error;

/// The most batches of a turn, where the turn is not as printed: what is left waits for the next iteration.
const MOST_BATCHES: usize = 6;
/// The most batches of a turn when clusters are refined.
const MOST_BATCHES_REFINED: usize = 2;

/// The asked clusters and attributes are not those of the site whose turn it is.
const NOT_ACTING: &str = "it is not what the site whose turn it is said";

/// Iterates over all sites and records while the loss falls by enough. Returns why the iterations ended.
pub(super) async fn iterate(
    party: &mut Party,
    work: &mut Work<'_>,
    step: &mut impl FnMut(Phase, &Work<'_>),
) -> Result<Ended, Error> {
    step(Phase::Iteration, work);
    // Records that were looked at since a record last moved.
    let mut unmoved = 0;
    let mut circles = Circles::default();
    for iteration in 0.. {
        if work.plan.stop.is_bound(iteration) {
            break;
        }
        let before = work.clusters.loss();
        let has_moved = all_turns(party, work).await?;
        let looked_at = visits::looked_at(party, work).await?;
        let splits = start::split(party, work).await?;
        step(Phase::Iteration, work);
        unmoved = if has_moved { 0 } else { unmoved + looked_at };
        let is_done = match work.plan.is_printed {
            // Records of a split that nobody looked at are the last to stay, as the paper has it.
            true => !has_moved && unmoved >= work.table.records(),
            false => !has_moved && splits == 0,
        };
        if is_done {
            return Ok(Ended::NothingMoved);
        }
        // Another site may have told numbers that make the loss rise.
        let gained = before.wrapping_sub(work.clusters.loss()) as i64;
        if work.plan.stop.is_small(gained, before) {
            return Ok(Ended::SmallGain);
        }
        if circles.are_closed(work.clusters.loss() as i64) {
            return Ok(Ended::Circling);
        }
    }
    Ok(Ended::Bound)
}

/// A turn of every site. Returns whether any site moved a record.
pub(super) async fn all_turns(party: &mut Party, work: &mut Work<'_>) -> Result<bool, Error> {
    let mut has_moved = false;
    for site in 0..work.rows.sites as u32 {
        has_moved |= turn(party, work, site).await?;
    }
    Ok(has_moved)
}

async fn turn(party: &mut Party, work: &mut Work<'_>, site: u32) -> Result<bool, Error> {
    let batches = match work.least {
        _ if work.plan.is_printed => most_batches(work),
        0 => MOST_BATCHES,
        _ => MOST_BATCHES_REFINED,
    };
    work.clusters.replant();
    // The state that all sites know until the turn is over.
    let public = Clusters::clone(&work.clusters);
    let acting = work
        .speakers
        .iter()
        .position(|speaker| speaker.site == site);
    let mut acting = acting.map(|speaker| Acting::new(work, speaker, site));
    let is_hidden = work.hidden.is_some();
    if let Some(acting) = acting.as_mut().filter(|_| !is_hidden) {
        acting.take_quiet(work);
    }
    for _ in 0..batches {
        let mut masks = vec![0; work.clusters.len()];
        if let Some(acting) = &mut acting {
            if is_hidden {
                let looks_on = acting.look_on(work, &mut masks);
                masks.push(u64::from(looks_on));
            } else {
                acting.ask(work, &mut masks);
            }
        } else if is_hidden {
            masks.push(0);
        }
        let mut own = masks.clone();
        party.sum(ASKED_CLUSTERS, &mut masks).await?;
        // Where counts are hidden, the last word tells whether the site looks at records still.
        let mut looks_on = false;
        if is_hidden {
            let words = masks.pop().zip(own.pop());
            let fits = words.is_some_and(|(all, own)| all < 2 && own <= all);
            party.fit(ASKED_CLUSTERS, fits, NOT_ACTING)?;
            looks_on = words.is_some_and(|(all, _)| all == 1);
        }
        see_asked(party, work, acting.as_ref().map(|_| own.as_slice()), &masks)?;
        if masks.iter().all(|mask| *mask == 0) && !looks_on {
            break;
        }
        let closures = without(party, work, (&public, &masks), acting.as_ref()).await?;
        if is_hidden {
            touch(party, work, acting.as_mut(), closures).await?;
        } else if let Some(acting) = &mut acting {
            acting.take_asked(work, closures);
        }
    }
    announce(party, work, &public, acting.map(|acting| acting.changed)).await
}

/// As printed, the most batches that a site can need: a batch looks at a record, or, where counts are hidden,
/// finds a cluster that a record may not join. Nobody asks for ever.
fn most_batches(work: &Work<'_>) -> usize {
    let looked_at = work.table.records().saturating_mul(visits::MOST);
    let of_record = match work.hidden {
        Some(_) => 1 + work.clusters.len() as u64,
        None => 1,
    };
    // One more, in which the site says that it asks no more.
    usize::try_from(looked_at.saturating_mul(of_record))
        .map_or(usize::MAX, |most| most.saturating_add(1))
}

/// Asks about the closures of clusters without a record each. Gives them to the site whose turn it is, where
/// they change.
async fn without(
    party: &mut Party,
    work: &mut Work<'_>,
    (public, masks): (&Clusters, &[u64]),
    acting: Option<&Acting>,
) -> Result<Vec<Option<Vec<u64>>>, Error> {
    let mut closures: Vec<Option<Vec<u64>>> = vec![None; masks.len()];
    let asked = |(place, mask): (usize, &u64)| {
        let attributes =
            (0..work.shapes.attributes()).filter(|attribute| mask & bit(*attribute) != 0);
        attributes
            .map(|attribute| (Cluster::at(place), attribute))
            .collect()
    };
    let asked: Vec<Vec<(Cluster, usize)>> = masks.iter().enumerate().map(asked).collect();
    let asked = asked.concat();
    if asked.is_empty() {
        return Ok(closures);
    }
    let questions = asked.iter().map(|(cluster, attribute)| {
        let rows = work.members(*cluster).iter().copied();
        // Who came in this turn is yet unknown to the others, and joined to their answer.
        let rows =
            rows.filter(|row| acting.is_none_or(|acting| !acting.is_left_out(*cluster, *row)));
        work.question(*attribute, public.closure(*cluster), rows)
    });
    let questions = questions.collect();
    let cells = smallest(
        party,
        CLOSURES_WITHOUT_RECORD,
        &work.plan.writings,
        questions,
    )
    .await?;
    let found: Vec<(Cluster, usize, &Cell)> = asked
        .iter()
        .zip(&cells)
        .map(|((cluster, attribute), cell)| (*cluster, *attribute, cell))
        .collect();
    for of_cluster in found.chunk_by(|one, other| one.0 == other.0) {
        let looks = of_cluster.iter().map(|(cluster, attribute, cell)| {
            let within = public.closure(*cluster);
            work.shapes.looks(*attribute, within, cell)
        });
        work.calls += looks.max().unwrap_or(0);
    }
    let Some(acting) = acting else {
        return Ok(closures);
    };
    for (cluster, attribute, cell) in found {
        let come = work.members(cluster).iter().copied();
        let candidate = acting.candidates[cluster.index()];
        let come = come.filter(|row| Some(*row) != candidate);
        let come: Vec<Row> = come.filter(|row| acting.has_come[row.index()]).collect();
        if work.clusters.size(cluster) == come.len() as u64 + 1 {
            // Nobody else is left whom the others could have been asked about.
            closures[cluster.index()] = work.closure_of(come);
            continue;
        }
        let closure = closures[cluster.index()]
            .get_or_insert_with(|| work.clusters.closure(cluster).to_vec());
        work.shapes.put(attribute, cell, closure);
        for row in come {
            let code = work.record(row)[attribute];
            work.shapes.join_value(attribute, closure, code);
        }
    }
    Ok(closures)
}

/// Where counts are hidden: asks whether the clusters that the site's records would leave and join satisfy
/// the demands on sensitive values then, and moves the records that may move (TG12 section 8.2.2).
async fn touch(
    party: &mut Party,
    work: &mut Work<'_>,
    mut acting: Option<&mut Acting>,
    closures: Vec<Option<Vec<u64>>>,
) -> Result<(), Error> {
    // For each cluster that is asked about, its size after the move.
    let mut sizes = vec![0; work.clusters.len()];
    let moves = match &mut acting {
        Some(acting) => acting.propose(work, closures, &mut sizes),
        None => Vec::new(),
    };
    let own = sizes.clone();
    party.sum(TOUCHED_CLUSTERS, &mut sizes).await?;
    let fits = match acting {
        Some(_) => own == sizes,
        None => Cluster::first(sizes.len())
            .zip(&sizes)
            .all(|(cluster, size)| {
                let least = work.members(cluster).len() as u64;
                *size == 0 || (least.max(1)..=work.table.records()).contains(size)
            }),
    };
    party.fit(TOUCHED_CLUSTERS, fits, NOT_ACTING)?;
    let asked: Vec<Cluster> = Cluster::first(sizes.len())
        .filter(|cluster| sizes[cluster.index()] > 0)
        .collect();
    let mut rows: Vec<Vec<Row>> = asked
        .iter()
        .map(|cluster| work.members(*cluster).to_vec())
        .collect();
    for (cluster, rows) in asked.iter().zip(&mut rows) {
        for (leaving, to) in &moves {
            if leaving.from == *cluster {
                rows.retain(|row| *row != leaving.row);
            } else if to == cluster {
                rows.push(leaving.row);
            }
        }
    }
    let trials = asked.iter().zip(rows);
    let trials = trials.map(|(cluster, rows)| (sizes[cluster.index()], rows));
    let trials: Vec<(u64, Vec<Row>)> = trials.collect();
    let holds = if trials.is_empty() {
        Vec::new()
    } else {
        work.ask_trials(party, &trials).await?
    };
    if let Some(acting) = acting {
        // What is not asked about may change.
        let mut may_change = vec![true; sizes.len()];
        for (cluster, holds) in asked.iter().zip(holds) {
            may_change[cluster.index()] = holds;
        }
        acting.make(work, moves, &may_change);
    }
    Ok(())
}

/// Ends the run where a question is about no attribute of a living cluster, or is not the question of
/// the site whose turn it is.
fn see_asked(
    party: &Party,
    work: &Work<'_>,
    own: Option<&[u64]>,
    masks: &[u64],
) -> Result<(), Error> {
    let attributes = (0..work.shapes.attributes()).fold(0, |bits, attribute| bits | bit(attribute));
    let asked = Cluster::first(masks.len()).zip(masks);
    let mut asked = asked.filter(|(_, mask)| **mask != 0);
    // The site whose turn it is may have emptied a cluster that the others still know.
    let fits = match own {
        Some(own) => own == masks,
        None => {
            asked.all(|(cluster, mask)| mask & !attributes == 0 && work.clusters.size(cluster) > 0)
        }
    };
    party.fit(
        ASKED_CLUSTERS,
        fits,
        "clusters are asked about that nobody can ask about",
    )?;
    Ok(())
}

/// The site whose turn it is tells which clusters it changed. Returns whether it changed any.
async fn announce(
    party: &mut Party,
    work: &mut Work<'_>,
    public: &Clusters,
    changed: Option<Vec<bool>>,
) -> Result<bool, Error> {
    let mut sizes = vec![0; work.clusters.len()];
    for (cluster, is_changed) in Cluster::first(sizes.len()).zip(changed.iter().flatten()) {
        sizes[cluster.index()] = work.clusters.size(cluster) << 1 | u64::from(*is_changed);
    }
    let own = sizes.clone();
    let what = work.sizes();
    party.sum(what, &mut sizes).await?;
    let fits = changed.is_none() || own == sizes;
    party.fit(what, fits, NOT_ACTING)?;
    let told: Vec<Cluster> = Cluster::first(sizes.len())
        .filter(|cluster| sizes[cluster.index()] & 1 == 1)
        .collect();
    let (width, counters) = (work.shapes.width(), work.clusters.counters());
    let mut words = vec![0; told.len() * (width + counters)];
    if told.is_empty() {
        return Ok(false);
    }
    // What was known of these clusters before this turn: at the site whose turn it was, what it leaves.
    let known = work.known_counts(&told);
    if changed.is_some() {
        for (cluster, words) in told.iter().zip(words.chunks_mut(width + counters)) {
            // Of a cluster that is gone, nobody learns who was in it last.
            let told = match work.clusters.size(*cluster) {
                0 => public.closure(*cluster),
                _ => work.clusters.closure(*cluster),
            };
            words[..width].copy_from_slice(told);
            words[width..].copy_from_slice(work.clusters.counts(*cluster));
        }
    }
    let own = words.clone();
    party.sum(CLUSTER_CLOSURES, &mut words).await?;
    let fits = changed.is_none() || own == words;
    party.fit(CLUSTER_CLOSURES, fits, NOT_ACTING)?;
    let of_clusters = || words.chunks(width + counters);
    let counted = Counted {
        sizes: told
            .iter()
            .map(|cluster| sizes[cluster.index()] >> 1)
            .collect(),
        sensitive: of_clusters()
            .flat_map(|words| &words[width..])
            .copied()
            .collect(),
    };
    // Records changed places among these clusters, and no record was lost.
    work.see(party, CLUSTER_CLOSURES, &told, &counted, &known)?;
    for (cluster, words) in told.iter().zip(of_clusters()) {
        party.fit(
            CLUSTER_CLOSURES,
            work.is_closure_of(&words[..width], *cluster),
            "no closure of a cluster, or not of this site's records in it",
        )?;
    }
    work.clusters.change(|change| {
        for (place, cluster) in told.iter().enumerate() {
            change.set_counts(*cluster, counted.sizes[place], counted.of_part(place));
        }
        for (cluster, words) in told.iter().zip(of_clusters()) {
            change.set_closure(*cluster, &words[..width]);
            change.place(*cluster);
        }
    });
    // Clusters that satisfied the demands on hidden counts still do; the others may by now.
    let lacking = |cluster: &Cluster| {
        let holds = work
            .hidden
            .as_ref()
            .is_none_or(|hidden| hidden.holds(*cluster));
        !holds && work.clusters.size(*cluster) > 0
    };
    let lacking: Vec<Cluster> = told.iter().copied().filter(lacking).collect();
    work.ask_hidden(party, &lacking).await?;
    Ok(true)
}
