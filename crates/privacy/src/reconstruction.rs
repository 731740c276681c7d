//! The reconstruction attack on several sensitive attributes (D2PT section 3.7): what fragments of one
//! group tell when they are put together again.
//!
//! Whoever joins two fragments by the number of a group gets every combination of a group's values; all
//! but one for each person are phantoms. Some combinations are certain all the same: of a group of s
//! people, of whom a have the one value and b the other, at least a + b - s have both. To remove the
//! phantoms, the paper takes the conditional probability of values over all groups and picks, group by
//! group, the most likely combinations until every value is used as often as it occurs. [`attack`] does
//! so; what it gives has one pair for each person and the frequencies of both fragments, and may be held
//! against the original.
//!
//! Closeness does not protect from this, as the paper says: it is a measure, and no requirement.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::classes::{Classes, Histograms};

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
    /// The share of people, by the most likely combinations.
    pub likely: f64,
    /// The same by chance: combinations inside groups as if the attributes had nothing to do with each
    /// other, on average.
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

/// How likely pairs are over all groups: every group counts each of its pairs as often as it would occur if
/// the two values had nothing to do with each other there.
fn expected(
    groups: &Classes,
    (first, second): (&Histograms, &Histograms),
) -> BTreeMap<(u32, u32), f64> {
    let mut pairs = BTreeMap::new();
    for group in 0..groups.count() {
        let size = groups.size(group) as f64;
        for (a, count) in first.class(group).iter() {
            for (b, times) in second.class(group).iter() {
                *pairs.entry((a, b)).or_insert(0.0) += count as f64 * times as f64 / size;
            }
        }
    }
    pairs
}

/// The reconstructed pairs of every group: one for each person, each value as often as its fragment has
/// it in the group.
pub fn attack(groups: &Classes, first: &[u32], second: &[u32]) -> Vec<Pairs> {
    let both = (
        &Histograms::new(groups, first),
        &Histograms::new(groups, second),
    );
    picked(groups, both, &expected(groups, both))
}

/// In each group the most likely pairs first: by how much more often two values are expected together than
/// by their frequencies alone; of equals those of the least codes.
fn picked(
    groups: &Classes,
    (first, second): (&Histograms, &Histograms),
    expected: &BTreeMap<(u32, u32), f64>,
) -> Vec<Pairs> {
    let (mut of_first, mut of_second) = (BTreeMap::new(), BTreeMap::new());
    for ((a, b), count) in expected {
        *of_first.entry(*a).or_insert(0.0) += count;
        *of_second.entry(*b).or_insert(0.0) += count;
    }
    let likelihood = |a: u32, b: u32| {
        let together = expected.get(&(a, b)).copied().unwrap_or(0.0);
        let (alone, other) = (of_first.get(&a), of_second.get(&b));
        together / (alone.copied().unwrap_or(1.0) * other.copied().unwrap_or(1.0))
    };
    let of_group = |group: usize| {
        let mut left: BTreeMap<u32, u64> = first.class(group).iter().collect();
        let mut right: BTreeMap<u32, u64> = second.class(group).iter().collect();
        let mut order: Vec<(u32, u32)> = left
            .keys()
            .flat_map(|a| right.keys().map(|b| (*a, *b)))
            .collect();
        // A stable sort keeps the order of codes among equals.
        order.sort_by(|one, other| {
            likelihood(other.0, other.1).total_cmp(&likelihood(one.0, one.1))
        });
        let mut pairs = Pairs::new();
        for (a, b) in order {
            let (Some(of_a), Some(of_b)) = (left.get_mut(&a), right.get_mut(&b)) else {
                continue;
            };
            let times = (*of_a).min(*of_b);
            if times > 0 {
                *of_a -= times;
                *of_b -= times;
                pairs.insert((a, b), times);
            }
        }
        pairs
    };
    (0..groups.count()).map(of_group).collect()
}

fn against(
    groups: &Classes,
    both: (&Histograms, &Histograms),
    original: &Pairs,
) -> AgainstOriginal {
    let expected = expected(groups, both);
    let mut likely = Pairs::new();
    for (pair, times) in picked(groups, both, &expected).into_iter().flatten() {
        *likely.entry(pair).or_insert(0) += times;
    }
    let people = groups.records().max(1) as f64;
    let share = |found: &dyn Fn(&(u32, u32)) -> f64| {
        let right = original
            .iter()
            .map(|(pair, times)| found(pair).min(*times as f64));
        right.sum::<f64>() / people
    };
    AgainstOriginal {
        likely: share(&|pair| likely.get(pair).copied().unwrap_or(0) as f64),
        by_chance: share(&|pair| expected.get(pair).copied().unwrap_or(0.0)),
    }
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
        let pairs: Pairs = attack(&groups, &first, &second)
            .into_iter()
            .flatten()
            .collect();
        assert_eq!(
            pairs,
            BTreeMap::from([((7, 1), 1), ((7, 2), 2), ((1, 3), 2), ((2, 3), 1)])
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
                    let mut counts: BTreeMap<u32, u64> = BTreeMap::new();
                    for (pair, times) in pairs {
                        *counts.entry([pair.0, pair.1][place]).or_insert(0) += times;
                    }
                    let mut expected: BTreeMap<u32, u64> = BTreeMap::new();
                    rows.iter().for_each(|row| *expected.entry(codes[*row as usize]).or_insert(0) += 1);
                    prop_assert_eq!(counts, expected);
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
