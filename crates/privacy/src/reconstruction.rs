//! The reconstruction attack on several sensitive attributes (D2PT section 3.7): what fragments of one
//! group tell when they are put together again.
//!
//! Whoever joins two fragments by the number of a group gets every combination of a group's values; all
//! but one for each person are phantoms. Some combinations are certain all the same: of a group of s
//! people, of whom a have the one value and b the other, at least a + b - s have both. To remove the
//! phantoms, the paper uses the conditional probability of values in all that was joined, to find the most
//! likely combinations of a group. [`attack`] does so: the combinations with the greatest probability of the
//! second value given the first come first, until every value is used as often as it occurs. What it gives
//! has one pair for each person and the frequencies of both fragments, and may be held against the
//! original. The paper does not say which value is given; held against the original, the better of both
//! ways counts.
//!
//! Probabilities are compared as fractions. Combinations that are as likely share in proportion, and a group
//! that tells nothing is joined by chance.
//!
//! Closeness does not protect from this, as the paper says: it is a measure, and no requirement.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use serde::Serialize;

use crate::classes::{Classes, Histograms};

mod chance;

use chance::Chance;

/// A sensitive attribute of a fragmented release: its name, and its value in each row of its table.
#[derive(Debug, Clone, Copy)]
pub struct Fragment<'a> {
    /// The attribute's name.
    pub name: &'a str,
    /// The code of each row. Rows of two fragments with the same place are in one group, and need not be
    /// one person.
    pub codes: &'a [u32],
}

/// What two fragments tell together.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Reconstruction {
    /// The names of both sensitive attributes.
    pub attributes: [String; 2],
    /// Pairs that joining the fragments by group gives.
    pub joined: u64,
    /// Of these, pairs that belong to nobody.
    pub phantoms: u64,
    /// People whose pair is certain, whoever they are.
    pub certain: u64,
    /// How close the attack comes to the original, where the original is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub against_original: Option<AgainstOriginal>,
}

/// How many of the pairs that an attack picks occur in the original table, each as often as there.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct AgainstOriginal {
    /// The share of people, by the most likely combinations: of the second value given the first or of
    /// the first given the second, whichever is more.
    pub likely: f64,
    /// The same where combinations are made inside groups by chance, on average over all ways to make
    /// them.
    pub by_chance: f64,
}

/// How often each pair of codes occurs.
pub type Pairs = BTreeMap<(u32, u32), u64>;

/// What every two fragments of a release tell together. `original` has for two attributes, by their
/// places, how often each pair of values occurs in the original table.
pub fn reconstructions(
    groups: &Classes,
    fragments: &[Fragment<'_>],
    original: impl Fn(usize, usize) -> Option<Pairs>,
) -> Vec<Reconstruction> {
    let histograms: Vec<Histograms> = fragments
        .iter()
        .map(|fragment| Histograms::new(groups, fragment.codes))
        .collect();
    let mut found = Vec::new();
    for one in 0..fragments.len() {
        for other in one + 1..fragments.len() {
            let (first, second) = (&histograms[one], &histograms[other]);
            let joined: u64 = groups.sizes().map(|size| size * size).sum();
            let against_original =
                original(one, other).map(|original| against(groups, (first, second), &original));
            found.push(Reconstruction {
                attributes: [one, other].map(|place| fragments[place].name.to_owned()),
                joined,
                phantoms: joined - groups.records(),
                certain: (0..groups.count())
                    .map(|group| certain(first, second, group))
                    .sum(),
                against_original,
            });
        }
    }
    found
}

/// The people of a group whose pair is certain.
fn certain(first: &Histograms, second: &Histograms, group: usize) -> u64 {
    let size = first.class(group).size();
    let pairs = first.class(group).iter().flat_map(|(_, a)| {
        let others = second.class(group).iter();
        others.map(move |(_, b)| (a + b).saturating_sub(size))
    });
    pairs.sum()
}

/// Pairs of codes, each with how often it is picked: a broken number where equals share.
pub type Shares = BTreeMap<(u32, u32), f64>;

/// The reconstructed pairs of every group, by the probability of the second value given the first: one
/// pair for each person, each value as often as its fragment has it in the group.
pub fn attack(groups: &Classes, first: &[u32], second: &[u32]) -> Vec<Shares> {
    let both = (
        &Histograms::new(groups, first),
        &Histograms::new(groups, second),
    );
    let joined = Joined::new(groups, both);
    let groups = 0..groups.count();
    groups.map(|group| joined.picked(both, group)).collect()
}

/// What joining both fragments by group gives: how often each pair occurs, and each first value.
struct Joined {
    pairs: BTreeMap<(u32, u32), u64>,
    first: BTreeMap<u32, u64>,
}

impl Joined {
    fn new(groups: &Classes, (first, second): (&Histograms, &Histograms)) -> Self {
        let mut joined = Self {
            pairs: BTreeMap::new(),
            first: BTreeMap::new(),
        };
        for group in 0..groups.count() {
            for (a, count) in first.class(group).iter() {
                *joined.first.entry(a).or_insert(0) += count * groups.size(group);
                for (b, times) in second.class(group).iter() {
                    *joined.pairs.entry((a, b)).or_insert(0) += count * times;
                }
            }
        }
        joined
    }

    /// The probability of the second value given the first, against that of another pair.
    fn compare(&self, one: (u32, u32), other: (u32, u32)) -> Ordering {
        let count = |pair: (u32, u32)| u128::from(self.pairs.get(&pair).copied().unwrap_or(0));
        let given = |pair: (u32, u32)| u128::from(self.first.get(&pair.0).copied().unwrap_or(1));
        (count(one) * given(other)).cmp(&(count(other) * given(one)))
    }

    /// Whether a group tells nothing: a value is as likely with each value of the other attribute, so that
    /// the most likely pairs are made by chance.
    fn is_silent(&self, (first, second): (&Histograms, &Histograms), group: usize) -> bool {
        let left: Vec<u32> = first.class(group).iter().map(|(a, _)| a).collect();
        let right: Vec<u32> = second.class(group).iter().map(|(b, _)| b).collect();
        let are_equal = |one, other| self.compare(one, other) == Ordering::Equal;
        let mut of_right = right.iter();
        let mut of_left = left.iter();
        of_right.all(|b| left.iter().all(|a| are_equal((*a, *b), (left[0], *b))))
            || of_left.all(|a| right.iter().all(|b| are_equal((*a, *b), (*a, right[0]))))
    }

    /// The pairs of a group: the most likely first, equals in proportion.
    fn picked(&self, (first, second): (&Histograms, &Histograms), group: usize) -> Shares {
        let counts = |counts: crate::Counts<'_>| -> BTreeMap<u32, f64> {
            let counts = counts.iter();
            counts.map(|(code, count)| (code, count as f64)).collect()
        };
        let mut left = counts(first.class(group));
        let mut right = counts(second.class(group));
        let codes = left.keys();
        let mut order: Vec<(u32, u32)> =
            codes.flat_map(|a| right.keys().map(|b| (*a, *b))).collect();
        order.sort_by(|one, other| self.compare(*other, *one));
        let mut shares = Shares::new();
        for equals in order.chunk_by(|one, other| self.compare(*one, *other) == Ordering::Equal) {
            share(equals, &mut left, &mut right, &mut shares);
        }
        shares
    }
}

/// Makes pairs that are as likely, in proportion to how often their values are left, until of each pair one
/// value is used up.
fn share(
    equals: &[(u32, u32)],
    left: &mut BTreeMap<u32, f64>,
    right: &mut BTreeMap<u32, f64>,
    shares: &mut Shares,
) {
    /// Less than this of a value is none.
    const NONE: f64 = 1e-9;
    loop {
        let mut open: Vec<(u32, u32, f64)> = Vec::new();
        let mut of_left: BTreeMap<u32, f64> = BTreeMap::new();
        let mut of_right: BTreeMap<u32, f64> = BTreeMap::new();
        for (a, b) in equals {
            let weight = left[a] * right[b];
            if weight > 0.0 {
                open.push((*a, *b, weight));
                *of_left.entry(*a).or_insert(0.0) += weight;
                *of_right.entry(*b).or_insert(0.0) += weight;
            }
        }
        let times = |of: &BTreeMap<u32, f64>, left: &BTreeMap<u32, f64>| {
            let each = of.iter().map(|(code, weight)| left[code] / weight);
            each.fold(f64::INFINITY, f64::min)
        };
        // So many times until the first value is used up.
        let times = times(&of_left, left).min(times(&of_right, right));
        if open.is_empty() {
            return;
        }
        for (a, b, weight) in open {
            *shares.entry((a, b)).or_insert(0.0) += times * weight;
        }
        for (of, left) in [(of_left, &mut *left), (of_right, &mut *right)] {
            for (code, weight) in of {
                let rest = left[&code] - times * weight;
                left.insert(code, if rest < NONE { 0.0 } else { rest });
            }
        }
    }
}

fn against(
    groups: &Classes,
    (first, second): (&Histograms, &Histograms),
    original: &Pairs,
) -> AgainstOriginal {
    let turned = original.iter().map(|((a, b), times)| ((*b, *a), *times));
    let turned: Pairs = turned.collect();
    let given_first = right(groups, (first, second), original, true);
    let given_second = right(groups, (second, first), &turned, true);
    AgainstOriginal {
        likely: given_first.max(given_second),
        by_chance: right(groups, (first, second), original, false),
    }
}

/// The share of people whose pair is right: by the most likely pairs of the second value given the first,
/// or by chance.
fn right(
    groups: &Classes,
    both: (&Histograms, &Histograms),
    original: &Pairs,
    is_likely: bool,
) -> f64 {
    let joined = Joined::new(groups, both);
    let mut picked = Shares::new();
    let mut by_chance: BTreeMap<(u32, u32), Chance> = BTreeMap::new();
    for group in 0..groups.count() {
        if is_likely && !joined.is_silent(both, group) {
            for (pair, share) in joined.picked(both, group) {
                *picked.entry(pair).or_insert(0.0) += share;
            }
            continue;
        }
        for (a, count) in both.0.class(group).iter() {
            for (b, times) in both.1.class(group).iter() {
                // A pair that nobody has is never right.
                if original.contains_key(&(a, b)) {
                    let chance = by_chance.entry((a, b)).or_default();
                    chance.add(groups.size(group), count, times);
                }
            }
        }
    }
    let never = Chance::default();
    let right = original.iter().map(|(pair, times)| {
        let picked = picked.get(pair).copied().unwrap_or(0.0);
        let chance = by_chance.get(pair).unwrap_or(&never);
        chance.mean_of_least(picked, *times)
    });
    right.sum::<f64>() / groups.records().max(1) as f64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn groups(of_row: &[u32]) -> Classes {
        let count = of_row.iter().max().map_or(0, |group| *group as usize + 1);
        Classes::from_assignment(of_row.to_vec(), count)
    }

    fn pairs_of(first: &[u32], second: &[u32]) -> Pairs {
        let mut pairs = Pairs::new();
        for pair in first.iter().zip(second) {
            *pairs.entry((*pair.0, *pair.1)).or_insert(0) += 1;
        }
        pairs
    }

    /// D2PT Table 5c: two people in the first group, five in the second. Section 3.7 joins the first group:
    /// "Gastritis" appears twice there, once as a phantom.
    #[test]
    fn the_fragments_of_the_paper() {
        // Gastric ulcer, Gastritis, Flu, Stomach cancer, Pneumonia, Bronchitis; and Antacid, Acid-reducing,
        // Antipyretic, Cytostatic, Antibiotics.
        let diseases = [0, 1, 2, 3, 4, 5, 2];
        let treatments = [0, 1, 2, 3, 4, 4, 2];
        let groups = groups(&[0, 0, 1, 1, 1, 1, 1]);
        let fragments = [("disease", &diseases), ("treatment", &treatments)];
        let fragments = fragments.map(|(name, codes)| Fragment { name, codes });
        let truth = pairs_of(&diseases, &treatments);
        let found = reconstructions(&groups, &fragments, |_, _| Some(truth.clone()));
        let [found] = found.as_slice() else {
            panic!("{found:?}");
        };
        assert_eq!(found.attributes, ["disease", "treatment"]);
        assert_eq!((found.joined, found.phantoms), (4 + 25, 22));
        assert_eq!(
            found.certain, 0,
            "two flus and two antipyretics need not meet among five"
        );
        // With one group for each kind of values there is nothing to tell them apart by: in the first group
        // both ways are as likely, in the second flu and antipyretics are as likely as any.
        let against = found.against_original.unwrap();
        // By chance: of the first group each pair half a time, of the second flu and its drug 4/5 times,
        // stomach cancer and its drug 1/5, pneumonia and bronchitis 2/5 each.
        assert!((against.by_chance - (1.0 + 0.8 + 0.2 + 0.4 + 0.4) / 7.0).abs() < 1e-12);
        assert!((0.0..=1.0).contains(&against.likely));
    }

    /// The mean, over all ways to make pairs inside groups, of how many are right.
    fn by_brute_force(groups: &Classes, first: &[u32], second: &[u32]) -> f64 {
        // All orders of so many places.
        fn orders(places: usize) -> Vec<Vec<usize>> {
            let mut all = vec![Vec::new()];
            for next in 0..places {
                let longer = |order: Vec<usize>| {
                    (0..=order.len()).map(move |at| {
                        let mut order = order.clone();
                        order.insert(at, next);
                        order
                    })
                };
                all = all.into_iter().flat_map(longer).collect();
            }
            all
        }
        let truth = pairs_of(first, second);
        let mut tables = vec![second.to_vec()];
        for group in 0..groups.count() {
            let rows = groups.rows(group);
            let turned = |table: &Vec<u32>| -> Vec<Vec<u32>> {
                let orders = orders(rows.len()).into_iter();
                let turn = |order: Vec<usize>| {
                    let mut turned = table.clone();
                    for (row, from) in rows.iter().zip(order) {
                        turned[*row as usize] = table[rows[from] as usize];
                    }
                    turned
                };
                orders.map(turn).collect()
            };
            tables = tables.iter().flat_map(turned).collect();
        }
        let right = |table: &Vec<u32>| -> u64 {
            let found = pairs_of(first, table).into_iter();
            found
                .map(|(pair, times)| times.min(truth.get(&pair).copied().unwrap_or(0)))
                .sum()
        };
        let all: u64 = tables.iter().map(right).sum();
        all as f64 / (tables.len() * first.len()) as f64
    }

    fn found(groups: &Classes, first: &[u32], second: &[u32]) -> AgainstOriginal {
        let fragments = [("a", first), ("b", second)];
        let fragments = fragments.map(|(name, codes)| Fragment { name, codes });
        let truth = pairs_of(first, second);
        let found = reconstructions(groups, &fragments, |_, _| Some(truth.clone()));
        found[0].against_original.unwrap()
    }

    /// Four people who have each pair once: of 24 ways to make pairs, four of six kinds are half right.
    #[test]
    fn one_group_tells_no_more_than_chance() {
        let groups = groups(&[0; 4]);
        let found = found(&groups, &[0, 0, 1, 1], &[0, 1, 0, 1]);
        for share in [found.likely, found.by_chance] {
            assert!((share - 5.0 / 6.0).abs() < 1e-12, "{found:?}");
        }
    }

    /// Thirds and sevenths are equal as fractions, and not always as floating numbers.
    #[test]
    fn equals_share_in_proportion() {
        // Two groups, in which all values are as likely with each other.
        let groups = groups(&[0, 0, 0, 1, 1, 1, 1, 1, 1, 1]);
        let first = [0, 1, 2, 0, 1, 2, 3, 4, 5, 6];
        let shares = attack(&groups, &first, &first);
        for (pair, share) in &shares[0] {
            assert!((share - 1.0 / 3.0).abs() < 1e-12, "{pair:?} {share}");
        }
        assert_eq!(shares[0].len(), 9);
    }

    /// Of what joins 0, half has 5 and a quarter 6; of what joins 1, half has 6 and a quarter 5.
    #[test]
    fn conditional_probability_puts_pairs_together() {
        let groups = groups(&[0, 0, 1, 1, 2, 2]);
        let (first, second) = ([0, 1, 0, 2, 1, 3], [5, 6, 5, 7, 6, 8]);
        let pairs = attack(&groups, &first, &second);
        assert_eq!(pairs[0], Shares::from([((0, 5), 1.0), ((1, 6), 1.0)]));
    }

    /// One value of an attribute alone: every pair is certain.
    #[test]
    fn a_group_of_one_value_tells_every_pair() {
        let groups = groups(&[0, 0, 0, 1, 1, 1]);
        let (first, second) = ([7, 7, 7, 1, 1, 2], [1, 2, 2, 3, 3, 3]);
        let fragments = [("a", &first), ("b", &second)];
        let fragments = fragments.map(|(name, codes)| Fragment { name, codes });
        let found = &reconstructions(&groups, &fragments, |_, _| None)[0];
        assert_eq!(found.certain, 6);
        assert_eq!(found.against_original, None);
        let pairs: Shares = attack(&groups, &first, &second)
            .into_iter()
            .flatten()
            .collect();
        assert_eq!(
            pairs,
            BTreeMap::from([((7, 1), 1.0), ((7, 2), 2.0), ((1, 3), 2.0), ((2, 3), 1.0)])
        );
    }

    /// Treatments follow from diseases: groups of few people each, whose fragments overlap, give it away.
    #[test]
    fn correlated_attributes_are_put_together_again() {
        let diseases: Vec<u32> = (0..400u32).map(|person| person * person % 11 % 4).collect();
        let treatments: Vec<u32> = diseases.iter().map(|disease| disease + 10).collect();
        let of_row: Vec<u32> = (0..400).map(|person| person / 4).collect();
        let groups = groups(&of_row);
        let fragments = [("d", &diseases), ("t", &treatments)];
        let fragments = fragments.map(|(name, codes)| Fragment { name, codes });
        let truth = pairs_of(&diseases, &treatments);
        let found = reconstructions(&groups, &fragments, |_, _| Some(truth.clone()));
        let against = found[0].against_original.unwrap();
        assert!((against.likely - 1.0).abs() < 1e-12, "{against:?}");
        assert!(against.by_chance < 0.6, "{against:?}");
    }

    proptest! {
        #[test]
        fn chance_is_the_mean_of_all_ways(
            rows in prop::collection::vec((0..3u32, 0..3u32), 1..6),
            others in prop::collection::vec((0..3u32, 0..3u32), 0..5),
        ) {
            let of_row = [vec![0; rows.len()], vec![1; others.len()]].concat();
            let groups = groups(&of_row);
            let (first, second): (Vec<u32>, Vec<u32>) = rows.iter().chain(&others).copied().unzip();
            let found = found(&groups, &first, &second);
            let expected = by_brute_force(&groups, &first, &second);
            prop_assert!((found.by_chance - expected).abs() < 1e-9, "{:?} {}", found, expected);
            if others.is_empty() {
                prop_assert!((found.likely - expected).abs() < 1e-9, "{:?} {}", found, expected);
            }
        }

        /// SA' has one pair for each person, and "the frequency of every value is exactly the same"; no pair
        /// is called certain that another way to join the fragments does without.
        #[test]
        fn frequencies_stay_and_certain_pairs_are_in_every_join(
            rows in prop::collection::vec((0..4u32, 0..3u32, 0..4u32), 1..40),
            turns in 0..5usize,
        ) {
            let groups = {
                // Groups without a gap.
                let mut numbers: Vec<u32> = rows.iter().map(|row| row.0).collect();
                let mut known = numbers.clone();
                known.sort_unstable();
                known.dedup();
                numbers.iter_mut().for_each(|group| *group = known.binary_search(group).unwrap() as u32);
                groups(&numbers)
            };
            let first: Vec<u32> = rows.iter().map(|row| row.1).collect();
            let mut second: Vec<u32> = rows.iter().map(|row| row.2).collect();
            let fragments = |second: &[u32]| -> Vec<Reconstruction> {
                let fragments = [Fragment { name: "a", codes: &first }, Fragment { name: "b", codes: second }];
                reconstructions(&groups, &fragments, |_, _| Some(pairs_of(&first, second)))
            };
            let found = fragments(&second);
            let pairs = attack(&groups, &first, &second);
            for (group, pairs) in pairs.iter().enumerate() {
                let rows = groups.rows(group);
                for (place, codes) in [(0, &first), (1, &second)] {
                    let mut counts: BTreeMap<u32, f64> = BTreeMap::new();
                    for (pair, share) in pairs {
                        *counts.entry([pair.0, pair.1][place]).or_insert(0.0) += share;
                    }
                    for row in rows {
                        *counts.entry(codes[*row as usize]).or_insert(0.0) -= 1.0;
                    }
                    prop_assert!(counts.values().all(|count| count.abs() < 1e-6), "{:?}", counts);
                }
            }
            // Another table with the same fragments: values change hands inside groups.
            for group in 0..groups.count() {
                let rows = groups.rows(group);
                let held: Vec<u32> = rows.iter().map(|row| second[*row as usize]).collect();
                for (place, row) in rows.iter().enumerate() {
                    second[*row as usize] = held[(place + turns) % held.len()];
                }
            }
            let certain: u64 = (0..groups.count()).map(|group| {
                let rows = groups.rows(group);
                let of = |pair: (u32, u32)| rows.iter().filter(|row| (first[**row as usize], second[**row as usize]) == pair).count() as u64;
                let (a, b) = (Histograms::new(&groups, &first), Histograms::new(&groups, &second));
                let mut sure = 0;
                for (x, count) in a.class(group).iter() {
                    for (y, times) in b.class(group).iter() {
                        let least = (count + times).saturating_sub(rows.len() as u64);
                        assert!(of((x, y)) >= least);
                        sure += least;
                    }
                }
                sure
            }).sum();
            prop_assert_eq!(found[0].certain, certain);
            prop_assert_eq!(fragments(&second)[0].certain, certain);
            let against = found[0].against_original.unwrap();
            prop_assert!(against.likely >= certain as f64 / rows.len() as f64 - 1e-9);
            prop_assert!(against.likely <= 1.0 + 1e-9 && against.by_chance <= 1.0 + 1e-9);
        }
    }
}
