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
//! # Discloses
//! Which clusters and attributes a site asks about, their closures without a record, and at the end
//! of the turn sizes, closures and sensitive counts of the clusters that changed.

use hedgerow_smc::Party;

use super::super::cover::smallest;
use super::super::requirement::Counted;
use super::acting::Acting;
use super::values::bit;
use super::work::Work;
use super::{
    ASKED_CLUSTERS, CLOSURES_WITHOUT_RECORD, CLUSTER_CLOSURES, CLUSTER_SIZES, Phase, start,
};
use crate::clustering::Ended;
use crate::clustering::clusters::Clusters;
use crate::clustering::numbers::{Cluster, Row};
use crate::error::Error;

/// The most batches of a turn: what is left waits for the next iteration.
const MOST_BATCHES: usize = 6;
/// The most batches of a turn when clusters are refined.
const MOST_BATCHES_REFINED: usize = 2;
/// Iterations end when the loss falls by less than this share of itself.
const LEAST_GAIN: u64 = 200;

/// The asked clusters and attributes are not those of the site whose turn it is.
const NOT_ACTING: &str = "it is not what the site whose turn it is said";

/// Iterates over all sites and records while the loss falls by enough. Returns why the iterations ended.
pub(super) async fn iterate(
    party: &mut Party,
    work: &mut Work<'_>,
    step: &mut impl FnMut(Phase, &Work<'_>),
) -> Result<Ended, Error> {
    step(Phase::Iteration, work);
    for _ in 0..work.plan.iterations {
        let before = work.clusters.loss();
        let has_moved = all_turns(party, work).await?;
        let splits = start::split(party, work).await?;
        step(Phase::Iteration, work);
        if !has_moved && splits == 0 {
            return Ok(Ended::NothingMoved);
        }
        let gained = before.saturating_sub(work.clusters.loss());
        if gained <= before / LEAST_GAIN {
            return Ok(Ended::SmallGain);
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
    let batches = if work.least > 0 {
        MOST_BATCHES_REFINED
    } else {
        MOST_BATCHES
    };
    work.clusters.replant();
    // The state that all sites know until the turn is over.
    let public = Clusters::clone(&work.clusters);
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
        let own = masks.clone();
        party.sum(ASKED_CLUSTERS, &mut masks).await?;
        see_asked(party, work, acting.as_ref().map(|_| own.as_slice()), &masks)?;
        if masks.iter().all(|mask| *mask == 0) {
            break;
        }
        let asked = |(place, mask): (usize, &u64)| {
            let attributes =
                (0..work.shapes.attributes()).filter(|attribute| mask & bit(*attribute) != 0);
            attributes
                .map(|attribute| (Cluster::at(place), attribute))
                .collect()
        };
        let asked: Vec<Vec<(Cluster, usize)>> = masks.iter().enumerate().map(asked).collect();
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
        let cells = smallest(
            party,
            CLOSURES_WITHOUT_RECORD,
            &work.plan.writings,
            questions,
        )
        .await?;
        for ((cluster, attribute), cell) in asked.iter().zip(&cells) {
            let within = public.closure(*cluster);
            work.published += work.shapes.looks(*attribute, within, cell);
        }
        if let Some(acting) = &mut acting {
            let mut closures: Vec<Option<Vec<u64>>> = vec![None; masks.len()];
            for ((cluster, attribute), cell) in asked.iter().zip(&cells) {
                let come = work.members(*cluster).iter().copied();
                let candidate = acting.candidates[cluster.index()];
                let come = come.filter(|row| Some(*row) != candidate);
                let come: Vec<Row> = come.filter(|row| acting.has_come[row.index()]).collect();
                if work.clusters.size(*cluster) == come.len() as u64 + 1 {
                    // Nobody else is left whom the others could have been asked about.
                    closures[cluster.index()] = work.closure_of(come);
                    continue;
                }
                let closure = closures[cluster.index()]
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
    changed: Option<Vec<bool>>,
) -> Result<bool, Error> {
    let mut sizes = vec![0; work.clusters.len()];
    for (cluster, is_changed) in Cluster::first(sizes.len()).zip(changed.iter().flatten()) {
        sizes[cluster.index()] = work.clusters.size(cluster) << 1 | u64::from(*is_changed);
    }
    let own = sizes.clone();
    party.sum(CLUSTER_SIZES, &mut sizes).await?;
    let fits = changed.is_none() || own == sizes;
    party.fit(CLUSTER_SIZES, fits, NOT_ACTING)?;
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
            words[..width].copy_from_slice(work.clusters.closure(*cluster));
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
    Ok(true)
}
