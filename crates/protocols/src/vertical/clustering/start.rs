//! The random start (TG12 Algorithm 4, steps 1 and 2) and the splits of large clusters (steps 18 to 21).
//! The pivot draws them: it tells all sites its random words, from which every site draws the same.
//!
//! Where the requirement speaks of sensitive values, the site with the first sensitive attribute deals
//! its values evenly instead (6.1.1, 6.1.2), from randomness of its own: the clusters must not say who
//! has the same value.
//!
//! # Discloses
//! To all sites, random words, how records are dealt, and whether the halves of a split satisfy the
//! requirement.

use hedgerow_smc::{Generator, Party, Seed};

use super::work::{PIVOT, Work};
use super::{DEALT_RECORDS, Plan, RANDOM_WORDS};
use crate::clustering::numbers::{Cluster, Row};
use crate::error::Error;

/// The randomness of a run.
pub(super) struct Draws {
    /// The randomness that is the same at all sites.
    pub(super) common: Generator,
    /// This site's own randomness; at a party of one, the randomness of the site that would deal.
    own: Generator,
}

impl Draws {
    /// The pivot tells what all sites draw from.
    pub(super) async fn agree(party: &mut Party, plan: &Plan<'_>) -> Result<Self, Error> {
        let me = party.me().index();
        let dealer = match party.sites() {
            1 => plan.dealer().unwrap_or(me),
            _ => me,
        };
        // Words are drawn at every site, so that later deals do not depend on which site is the pivot.
        let drawn = |site: usize| {
            let mut own = Generator::new(&(plan.seeds)(site as u32));
            let words = [0; 4].map(|_: u64| own.next_u64());
            (words, own)
        };
        let (mut words, _) = drawn(me);
        let (_, own) = drawn(dealer);
        party.tell(RANDOM_WORDS, PIVOT, &mut words).await?;
        let mut seed = [0; 32];
        for (bytes, word) in seed.chunks_exact_mut(8).zip(words) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        let common = Generator::new(&Seed::new(seed));
        Ok(Self { common, own })
    }
}

/// Deals the records to clusters of about the same size.
pub(super) async fn start(party: &mut Party, work: &mut Work<'_>) -> Result<(), Error> {
    let records = work.rows();
    let dealt = (work.k() as f64 * work.plan.start).max(1.0);
    let clusters = ((records as f64 / dealt) as usize).clamp(1, records.max(1));
    let mut rows: Vec<Row> = Row::first(records).collect();
    work.draws.common.shuffle(&mut rows);
    let parts = deal(party, work, vec![rows], clusters).await?;
    for part in parts.into_iter().flatten() {
        work.open(part);
    }
    Ok(())
}

/// Splits clusters that have grown too large in two at random, except for splits that would break the
/// requirement. Returns how many were split.
pub(super) async fn split(party: &mut Party, work: &mut Work<'_>) -> Result<u64, Error> {
    let most = (work.k() as f64 * work.plan.split_above).max(1.0);
    let is_large = |cluster: &Cluster| work.clusters.size(*cluster) as f64 > most;
    let large: Vec<Cluster> = work.clusters.living().filter(is_large).collect();
    let mut groups: Vec<Vec<Row>> = Vec::with_capacity(large.len());
    for cluster in &large {
        let mut rows = work.members(*cluster).to_vec();
        work.draws.common.shuffle(&mut rows);
        groups.push(rows);
    }
    let halves = deal(party, work, groups, 2).await?;
    let leaving = halves.iter().filter_map(|halves| halves.last());
    let mut agreed: Vec<bool> = leaving
        .clone()
        .zip(&large)
        .map(|(half, cluster)| work.may_part(half, *cluster))
        .collect();
    work.agree(party, &mut agreed).await?;
    work.clock += 1;
    let mut splits = 0;
    for ((half, cluster), agreed) in leaving.zip(large).zip(agreed) {
        if agreed {
            work.part(half, cluster);
            splits += 1;
        }
    }
    Ok(splits)
}

/// Deals each of some groups of records, which stand in random order, to parts of about the same size.
async fn deal(
    party: &mut Party,
    work: &mut Work<'_>,
    groups: Vec<Vec<Row>>,
    parts: usize,
) -> Result<Vec<Vec<Vec<Row>>>, Error> {
    let mut told: Vec<u64> = Vec::new();
    if !work.is_dealt_by_value() {
        let in_turn = |group: &Vec<Row>| (0..group.len()).map(|place| (place % parts) as u64);
        told.extend(groups.iter().flat_map(in_turn));
        return dealt(&groups, parts, &told).ok_or_else(|| uneven(party));
    }
    for group in &groups {
        told.extend(labels_by_value(work, group, parts));
    }
    if !told.is_empty() {
        party.sum(DEALT_RECORDS, &mut told).await?;
    }
    dealt(&groups, parts, &told).ok_or_else(|| uneven(party))
}

fn uneven(party: &Party) -> Error {
    let problem = "records are dealt to no parts, or unevenly";
    party.misfit(DEALT_RECORDS, problem).into()
}

/// The part of each record of a group, so that every value of the first sensitive attribute is spread
/// evenly; empty at sites without that attribute.
fn labels_by_value(work: &mut Work<'_>, group: &[Row], parts: usize) -> Vec<u64> {
    let mut labels = vec![0; group.len()];
    if !work.is_dealer() {
        return labels;
    }
    let mut names: Vec<u64> = (0..parts as u64).collect();
    let mut places: Vec<usize> = (0..group.len()).collect();
    work.draws.own.shuffle(&mut names);
    work.draws.own.shuffle(&mut places);
    places.sort_by_key(|place| work.first_value(group[*place]));
    for (place, name) in places.into_iter().zip(names.into_iter().cycle()) {
        labels[place] = name;
    }
    labels
}

/// The parts that a site told, if they are of about the same size.
fn dealt(groups: &[Vec<Row>], parts: usize, told: &[u64]) -> Option<Vec<Vec<Vec<Row>>>> {
    let mut told = told.iter();
    let mut all = Vec::with_capacity(groups.len());
    for group in groups {
        let mut dealt: Vec<Vec<Row>> = vec![Vec::new(); parts];
        for (row, name) in group.iter().zip(told.by_ref()) {
            let name = usize::try_from(*name).ok();
            let part = name.and_then(|name| dealt.get_mut(name));
            part?.push(*row);
        }
        let even = group.len() / parts..=group.len().div_ceil(parts);
        if !dealt.iter().all(|part| even.contains(&part.len())) {
            return None;
        }
        all.push(dealt);
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_that_are_not_even_are_refused() {
        let rows = |numbers: &[u32]| numbers.iter().map(|row| Row::new(*row)).collect();
        let groups: [Vec<Row>; 2] = [rows(&[5, 7, 9]), rows(&[1, 2])];
        let parts = dealt(&groups, 2, &[1, 0, 1, 0, 1]).unwrap();
        assert_eq!(
            parts,
            [[rows(&[7]), rows(&[5, 9])], [rows(&[1]), rows(&[2])]]
        );
        // All records in one part; a part that does not exist; too few records.
        for told in [[0, 0, 0, 0, 1], [0, 1, 2, 0, 1], [0, 1, u64::MAX, 0, 1]] {
            assert_eq!(dealt(&groups, 2, &told), None);
        }
        assert_eq!(dealt(&groups, 2, &[0, 1, 1]), None);
    }
}
