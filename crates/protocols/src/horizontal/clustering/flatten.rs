//! Sensitive values spread evenly over clusters, site after site (TG12 sections 6.1.1 and 6.1.2): in the
//! end no cluster has more than one record more of a value than another (equation 7).
//!
//! Each site in turn moves its own records of a value from where most are to where fewest are, as long as
//! the two differ by two or more. One round of all sites is enough: a cluster that holds a record of a site
//! is, after that site's turn, at most one above the least, and the least only rises. With several
//! sensitive attributes the first is flattened so; of each further one, records that agree in all
//! attributes before it change places where that makes the further one more even, which leaves the earlier
//! ones as they are. Equation 7 for every attribute at once is more than can be had: with three attributes there
//! need not be such clusters at all (of the records (a, x, p), (a, y, q) and (b, x, q) no two may share one of
//! two clusters), and with two attributes they may take moves that no site sees alone to be right.
//!
//! # Discloses
//! To all sites, the sensitive counts of the clusters after each site's turn.

use std::collections::{BTreeMap, BTreeSet};

use hedgerow_smc::Party;

use super::super::requirement::Counted;
use super::CLUSTER_SIZES;
use super::work::Work;
use crate::clustering::numbers::{Cluster, Row};
use crate::error::Error;

/// How many of the emptiest clusters, and of the records in each, are looked at for an exchange.
const LOOKED_AT: usize = 8;

/// Flattens the sensitive values over each group of clusters, all of which are in `all`, in order; `told`
/// is what the clusters have before, `whole` what they have together. Gives what they have then.
pub(super) async fn flatten(
    party: &mut Party,
    work: &mut Work<'_>,
    (all, groups): (&[Cluster], &[Vec<usize>]),
    mut told: Counted,
    whole: &Counted,
) -> Result<Counted, Error> {
    for site in 0..work.rows.sites as u32 {
        let speaks = work.speakers.iter().any(|speaker| speaker.site == site);
        if speaks {
            let mut moves: Vec<(Row, Cluster)> = Vec::new();
            for group in groups {
                let mut even = Even::of(work, site, (all, group), &told);
                even.flatten();
                let moved = even.moved();
                moves.extend(moved.map(|(row, place)| (row, all[group[place]])));
            }
            for (row, to) in moves {
                work.relabel(row, to);
            }
        }
        told = work.ask_sizes(party, CLUSTER_SIZES, all, whole).await?;
    }
    Ok(told)
}

/// Makes the two halves of each pair of flattened clusters equally large, or nearly so where their number is
/// odd (TG12 section 6.1.2): values of which one half has one record more may have it in the other half. One
/// round of all sites is enough with one sensitive attribute: sizes only come nearer to each other, and a half
/// that is larger by two has a record that may go, which its site would have moved in its turn.
pub(super) async fn level(
    party: &mut Party,
    work: &mut Work<'_>,
    (all, pairs): (&[Cluster], &[[usize; 2]]),
    mut told: Counted,
    whole: &Counted,
) -> Result<Counted, Error> {
    for site in 0..work.rows.sites as u32 {
        let is_uneven = |pair: &&[usize; 2]| told.sizes[pair[0]].abs_diff(told.sizes[pair[1]]) > 1;
        let uneven: Vec<&[usize; 2]> = pairs.iter().filter(is_uneven).collect();
        // All sites see the sizes.
        if uneven.is_empty() {
            break;
        }
        if work.speakers.iter().any(|speaker| speaker.site == site) {
            let mut moves: Vec<(Row, Cluster)> = Vec::new();
            for pair in uneven {
                let mut even = Even::of(work, site, (all, pair), &told);
                even.level(pair.map(|place| told.sizes[place]));
                let moved = even.moved();
                moves.extend(moved.map(|(row, place)| (row, all[pair[place]])));
            }
            for (row, to) in moves {
                work.relabel(row, to);
            }
        }
        told = work.ask_sizes(party, CLUSTER_SIZES, all, whole).await?;
    }
    Ok(told)
}

/// One site's records in some clusters, on their way to an even spread.
struct Even {
    /// For each cluster, how often each value of all sensitive attributes occurs at all sites.
    counts: Vec<Vec<u64>>,
    /// This site's records: the record, its values, where it was and where it is.
    records: Vec<Own>,
}

struct Own {
    row: Row,
    values: Vec<u32>,
    from: usize,
    at: usize,
}

impl Even {
    fn of(
        work: &Work<'_>,
        site: u32,
        (all, group): (&[Cluster], &[usize]),
        told: &Counted,
    ) -> Self {
        let mut records = Vec::new();
        for (place, number) in group.iter().enumerate() {
            let own = work.members(all[*number]).iter().copied();
            let mut own: Vec<Row> = own.filter(|row| work.owner_of(*row) == site).collect();
            // The order in which records came says who else is in the cluster.
            own.sort_unstable();
            records.extend(own.into_iter().map(|row| Own {
                row,
                values: work.values(row).to_vec(),
                from: place,
                at: place,
            }));
        }
        let counts = group.iter().map(|number| told.of_part(*number).to_vec());
        Self {
            counts: counts.collect(),
            records,
        }
    }

    fn flatten(&mut self) {
        let attributes = self.records.first().map_or(0, |own| own.values.len());
        for attribute in 0..attributes {
            let mut of_value: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
            for (number, own) in self.records.iter().enumerate() {
                let value = own.values[attribute];
                of_value.entry(value).or_default().push(number);
            }
            for (value, records) in of_value {
                match attribute {
                    0 => self.move_on(value as usize, &records),
                    _ => self.exchange(attribute, value as usize, &records),
                }
            }
        }
    }

    /// Moves records of a value from the fullest cluster that has one to the emptiest, as long as these
    /// differ by two or more.
    fn move_on(&mut self, value: usize, records: &[usize]) {
        let mut own: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for record in records {
            let at = self.records[*record].at;
            own.entry(at).or_default().push(*record);
        }
        let count = |counts: &[Vec<u64>], place: usize| counts[place][value];
        let places = 0..self.counts.len();
        let mut emptiest: BTreeSet<(u64, usize)> = places
            .map(|place| (count(&self.counts, place), place))
            .collect();
        let mut fullest: BTreeSet<(u64, usize)> = own
            .keys()
            .map(|place| (count(&self.counts, *place), *place))
            .collect();
        while let (Some((most, from)), Some((least, to))) =
            (fullest.pop_last(), emptiest.first().copied())
        {
            if most < least + 2 {
                break;
            }
            let Some(record) = own.get_mut(&from).and_then(Vec::pop) else {
                continue;
            };
            emptiest.remove(&(least, to));
            emptiest.remove(&(most, from));
            if fullest.remove(&(least, to)) {
                fullest.insert((least + 1, to));
            }
            self.shift(record, to);
            emptiest.extend([(least + 1, to), (most - 1, from)]);
            fullest.insert((most - 1, from));
        }
    }

    /// Exchanges records of a value for others that agree with them in all attributes before this one,
    /// where that makes the spread of this attribute more even.
    fn exchange(&mut self, attribute: usize, value: usize, records: &[usize]) {
        // Where records stand that agree in all attributes before.
        let mut alike: BTreeMap<(usize, Vec<u32>), BTreeSet<usize>> = BTreeMap::new();
        for (number, own) in self.records.iter().enumerate() {
            let key = (own.at, own.values[..attribute].to_vec());
            alike.entry(key).or_default().insert(number);
        }
        let places = 0..self.counts.len();
        let mut emptiest: BTreeSet<(u64, usize)> = places
            .map(|place| (self.counts[place][value], place))
            .collect();
        for record in records {
            let (from, prefix) = {
                let own = &self.records[*record];
                (own.at, own.values[..attribute].to_vec())
            };
            let most = self.counts[from][value];
            let found = emptiest.iter().take(LOOKED_AT).find_map(|(least, to)| {
                let others = alike.get(&(*to, prefix.clone()));
                let mut others = others.into_iter().flatten().take(LOOKED_AT);
                let gains = |other: &&usize| self.gains(attribute, (*record, from), (**other, *to));
                let other = others.find(gains).filter(|_| *least < most)?;
                Some((*to, *other))
            });
            let Some((to, other)) = found else {
                continue;
            };
            for place in [from, to] {
                emptiest.remove(&(self.counts[place][value], place));
            }
            self.shift(*record, to);
            self.shift(other, from);
            for place in [from, to] {
                emptiest.insert((self.counts[place][value], place));
            }
            for (number, (left, entered)) in [(*record, (from, to)), (other, (to, from))] {
                if let Some(there) = alike.get_mut(&(left, prefix.clone())) {
                    there.remove(&number);
                }
                let key = (entered, prefix.clone());
                alike.entry(key).or_default().insert(number);
            }
        }
    }

    /// Moves records from the larger of two clusters to the other while they differ by two or more, where no
    /// value becomes less even.
    fn level(&mut self, mut sizes: [u64; 2]) {
        for record in 0..self.records.len() {
            let own = &self.records[record];
            let (at, to) = (own.at, 1 - own.at);
            let is_more =
                |value: &u32| self.counts[at][*value as usize] > self.counts[to][*value as usize];
            if sizes[at] >= sizes[to] + 2 && own.values.iter().all(is_more) {
                self.shift(record, to);
                sizes[at] -= 1;
                sizes[to] += 1;
            }
        }
    }

    /// Whether the exchange of two records makes an attribute more even and leaves those before it.
    fn gains(
        &self,
        attribute: usize,
        (record, from): (usize, usize),
        (other, to): (usize, usize),
    ) -> bool {
        let (own, its) = (&self.records[record], &self.records[other]);
        let (value, instead) = (
            own.values[attribute] as usize,
            its.values[attribute] as usize,
        );
        let count = |place: usize, value: usize| self.counts[place][value] as i64;
        // Half of what the sum of squares changes by.
        let change = (count(to, value) - count(from, value) + 1)
            + (count(from, instead) - count(to, instead) + 1);
        value != instead && change < 0
    }

    fn shift(&mut self, record: usize, to: usize) {
        let own = &mut self.records[record];
        for value in &own.values {
            self.counts[own.at][*value as usize] -= 1;
            self.counts[to][*value as usize] += 1;
        }
        own.at = to;
    }

    /// The records that stand elsewhere now.
    fn moved(self) -> impl Iterator<Item = (Row, usize)> {
        let records = self.records.into_iter();
        records
            .filter(|own| own.at != own.from)
            .map(|own| (own.row, own.at))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Each site's records, site after site, as the counts of all sites go from one to the next.
    fn flattened(counts: &mut Vec<Vec<u64>>, sites: &mut [Vec<(usize, Vec<u32>)>]) {
        for records in sites {
            let own = records
                .iter()
                .enumerate()
                .map(|(number, (at, values))| Own {
                    row: Row::new(number as u32),
                    values: values.clone(),
                    from: *at,
                    at: *at,
                });
            let mut even = Even {
                counts: counts.clone(),
                records: own.collect(),
            };
            even.flatten();
            *counts = even.counts.clone();
            for (row, to) in even.moved() {
                records[row.index()].0 = to;
            }
        }
    }

    fn counted(clusters: usize, values: usize, sites: &[Vec<(usize, Vec<u32>)>]) -> Vec<Vec<u64>> {
        let mut counts = vec![vec![0; values]; clusters];
        for (at, of) in sites.iter().flatten() {
            of.iter()
                .for_each(|value| counts[*at][*value as usize] += 1);
        }
        counts
    }

    /// TG12 section 6.1.1: from (5, 10, 7, 9) a permutation of (7, 8, 8, 8).
    #[test]
    fn the_example_of_the_paper() {
        let mut records = Vec::new();
        for (cluster, count) in [5, 10, 7, 9].into_iter().enumerate() {
            records.extend(std::iter::repeat_n((cluster, vec![0]), count));
        }
        let mut sites = [records];
        let mut counts = counted(4, 1, &sites);
        flattened(&mut counts, &mut sites);
        let mut found: Vec<u64> = counts.iter().map(|of| of[0]).collect();
        found.sort_unstable();
        assert_eq!(found, [7, 8, 8, 8]);
    }

    /// TG12 section 6.1.1: 11 and 9 records of two players, both with fewer in the first cluster.
    #[test]
    fn two_players_who_chose_the_same_cluster() {
        let dealt = |first: usize, second: usize| {
            let mut records = vec![(0, vec![0]); first];
            records.extend(vec![(1, vec![0]); second]);
            records
        };
        let mut sites = [dealt(5, 6), dealt(4, 5)];
        let mut counts = counted(2, 1, &sites);
        assert_eq!(counts, [[9], [11]]);
        flattened(&mut counts, &mut sites);
        assert_eq!(counts, [[10], [10]]);
    }

    proptest! {
        /// TG12 section 6.1.2: two halves of equal size, each value in each half as often as in the other, or
        /// once more; whoever holds what.
        #[test]
        fn halves_are_equally_large(
            sites in prop::collection::vec(prop::collection::vec((0usize..2, 0u32..7), 0..12), 1..5),
        ) {
            let place = |(at, value): (usize, u32)| (at, vec![value]);
            let mut sites: Vec<Vec<(usize, Vec<u32>)>> =
                sites.into_iter().map(|site| site.into_iter().map(place).collect()).collect();
            let mut counts = counted(2, 7, &sites);
            flattened(&mut counts, &mut sites);
            for records in &mut sites {
                let own = records.iter().enumerate().map(|(number, (at, values))| Own {
                    row: Row::new(number as u32),
                    values: values.clone(),
                    from: *at,
                    at: *at,
                });
                let mut even = Even { counts: counts.clone(), records: own.collect() };
                even.level([0, 1].map(|place: usize| counts[place].iter().sum()));
                counts.clone_from(&even.counts);
                for (row, to) in even.moved() {
                    records[row.index()].0 = to;
                }
            }
            prop_assert_eq!(&counts, &counted(2, 7, &sites));
            let sizes = [0, 1].map(|place: usize| counts[place].iter().sum::<u64>());
            prop_assert!(sizes[0].abs_diff(sizes[1]) <= 1, "{:?}", counts);
            prop_assert!((0..7).all(|value| counts[0][value].abs_diff(counts[1][value]) <= 1));
        }

        /// Equation 7 for the first attribute, whoever holds what; and the further ones no less even.
        #[test]
        fn one_round_of_all_sites_reaches_equation_7(
            clusters in 1usize..6,
            sites in prop::collection::vec(prop::collection::vec((0usize..6, 0u32..3, 3u32..6), 0..25), 1..5),
        ) {
            let place = |(at, one, other): (usize, u32, u32)| (at % clusters, vec![one, other]);
            let mut sites: Vec<Vec<(usize, Vec<u32>)>> =
                sites.into_iter().map(|site| site.into_iter().map(place).collect()).collect();
            let mut counts = counted(clusters, 6, &sites);
            flattened(&mut counts, &mut sites);
            prop_assert_eq!(&counts, &counted(clusters, 6, &sites));
            for value in 0..3 {
                let of: Vec<u64> = counts.iter().map(|of| of[value]).collect();
                let (most, least) = (of.iter().max(), of.iter().min());
                prop_assert!(most.zip(least).is_none_or(|(most, least)| most - least <= 1), "{:?}", of);
            }
        }

        /// Exchanges of the second attribute leave the first as it is and never make the second less even.
        #[test]
        fn exchanges_gain(
            records in prop::collection::vec((0usize..4, 0u32..2, 2u32..5), 1..30),
        ) {
            let records = records.into_iter().map(|(at, one, other)| (at, vec![one, other]));
            let sites = [records.collect::<Vec<_>>()];
            let before = counted(4, 5, &sites);
            let own = sites[0].iter().enumerate().map(|(number, (at, values))| Own {
                row: Row::new(number as u32),
                values: values.clone(),
                from: *at,
                at: *at,
            });
            let mut even = Even { counts: before.clone(), records: own.collect() };
            for value in 2..5 {
                let of = |own: &Own| own.values[1] == value;
                let numbers = even.records.iter().enumerate().filter(|(_, own)| of(own));
                let numbers: Vec<usize> = numbers.map(|(number, _)| number).collect();
                even.exchange(1, value as usize, &numbers);
            }
            let squares = |counts: &[Vec<u64>]| -> u64 {
                counts.iter().map(|of| of[2..].iter().map(|count| count * count).sum::<u64>()).sum()
            };
            prop_assert!(squares(&even.counts) <= squares(&before));
            for (now, then) in even.counts.iter().zip(&before) {
                prop_assert_eq!(&now[..2], &then[..2]);
            }
        }
    }
}
