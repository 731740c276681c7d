//! Whether the records of a part are spread over sites as entropy or recursive site diversity demands:
//! the stronger kinds of l-diversity, with the site of a record as its sensitive value (JX09 section 3).
//!
//! A site i has n_i records of a part. Their number N in all is open, as the size of every part is; the
//! counts stay at their sites.
//!
//! # Entropy: exact
//! The entropy is the sum over sites of -p_i log p_i with p_i = n_i / N, so a site adds its own summand,
//! rounded to a share of 2^-46, and the hidden sum is held against log l. Roundings are allowed for: what
//! has just the entropy demanded is not refused, and whatever passes holds for the verifier, whose slack
//! is wider ([`EPSILON`](hedgerow_privacy::measure::EPSILON)).
//!
//! # Recursive (c,l), l at most 2: exact
//! r_1 < c (N - (l-1) r_1) is a bound on every site's count alone: the number of sites beyond it is 0.
//!
//! # Recursive (c,l), l above 2
//! With S_j the sum of the j largest counts the condition is r_1 + c S_(l-1) < c N, and S_j is the least
//! of j tau + sum max(n_i - tau, 0) over all tau. So it holds exactly if there are two caps a and b with
//!
//! ```text
//! sum of min(n_i, a) + c min(n_i, b) > a + N + c (l-1) b
//! ```
//!
//! which is a sum over sites for each pair of caps; one pair that shows it is enough. Pairs of all caps
//! would be N^2 comparisons, so caps are all numbers up to 16 and above that about a quarter apart. A
//! part in which no site has more than 16 records is decided exactly; of others a few are refused that
//! would hold by less than a quarter of a count, and none is allowed that does not hold.
//!
//! The papers' comparison has a set of hashes as large as what is compared, so both levels ask in the form
//! that opens a disjunction alone. Of two sites nothing is asked: with the size of a part each knows the
//! other's count.
//!
//! # Discloses
//! To all sites, whether a part is spread as demanded: one bit, and not how, over which sites, or which
//! caps showed it ([`SPREAD`]).

use hedgerow_privacy::{Counts, Model, Ratio, Spread};
use hedgerow_smc::Party;

use super::{SPREAD, Table, Trials};
use crate::error::Error;

/// Entropies are summed as whole numbers of this share of a bit.
const UNIT: f64 = (1u64 << 46) as f64;
/// The greatest bound of a comparison.
const MOST: u128 = 1 << 62;
/// Caps up to here are all asked about.
const EVERY_CAP: u64 = 16;
/// The most comparisons that are asked about at a time.
const MOST_AT_A_TIME: usize = 1 << 18;
/// c is rounded down to a fraction with this denominator, where its own is larger.
const FINEST: u128 = 1 << 20;

/// How evenly records must be spread over sites, and by which model.
pub(super) fn demanded<'t>(table: &Table<'t>) -> Option<(Spread, &'t Model)> {
    let models = table.demands().requirement.models.iter();
    let mut demands = models.filter_map(|model| match model {
        Model::SiteSpread { spread, .. } => Some((*spread, model)),
        _ => None,
    });
    demands.next()
}

/// Forbids the tries that have a part whose records are not spread as demanded.
pub(super) async fn check(
    party: &mut Party,
    table: &Table<'_>,
    tries: &impl Trials,
    allowed: &mut [bool],
) -> Result<(), Error> {
    let Some((spread, _)) = demanded(table) else {
        return Ok(());
    };
    let mut parts: Vec<Part> = Vec::new();
    for place in (0..allowed.len()).filter(|place| allowed[*place]) {
        let owners = tries.owners(place);
        let counts = owners.chunks(table.sites().max(1));
        for (counts, size) in counts.zip(&tries.counted(place).sizes) {
            // A part without records has nobody to protect.
            if *size > 0 {
                let counts = counts.iter().copied().filter(|count| *count > 0);
                parts.push(Part {
                    place,
                    size: *size,
                    counts: counts.collect(),
                });
            }
        }
    }
    if table.sites() == 2 {
        // With the size of a part, each of two sites knows how many records the other has.
        for part in &parts {
            allowed[part.place] &= spread.holds(Counts::new(&[0, 1], &part.of_two(table)));
        }
        return Ok(());
    }
    let mut rest = parts.as_slice();
    // Some at a time, so that memory is bounded.
    while !rest.is_empty() {
        let mut asked = Asked::default();
        let mut count = 0;
        while let Some(part) = rest.get(count) {
            if asked.own.len() >= MOST_AT_A_TIME {
                break;
            }
            asked.add(spread, table, part)?;
            count += 1;
        }
        let (now, later) = rest.split_at(count);
        rest = later;
        for (part, holds) in now.iter().zip(asked.ask(party, spread).await?) {
            allowed[part.place] &= holds;
        }
    }
    Ok(())
}

/// A part with records.
struct Part {
    /// The place of the part's try.
    place: usize,
    /// Records of all sites.
    size: u64,
    /// Those of each site whose rows are here, none of them 0.
    counts: Vec<u64>,
}

impl Part {
    /// The records of each of two sites, the fewer first, so that both sites compute the same.
    fn of_two(&self, table: &Table<'_>) -> [u64; 2] {
        let own: u64 = self.counts.iter().take(1).sum();
        let other = match table.voices() {
            1 => self.size.saturating_sub(own),
            _ => self.counts.iter().skip(1).sum(),
        };
        [own.min(other), own.max(other)]
    }
}

/// A sum over sites, at least a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Comparison {
    own: u64,
    threshold: u64,
    bound: u64,
}

/// Comparisons in groups, one of which must hold.
#[derive(Default)]
struct Asked {
    own: Vec<u64>,
    thresholds: Vec<u64>,
    groups: Vec<usize>,
    bound: u64,
}

impl Asked {
    fn add(&mut self, spread: Spread, table: &Table<'_>, part: &Part) -> Result<(), Error> {
        let sites = table.sites() as u64;
        let start = self.own.len();
        match spread {
            Spread::Entropy { l } => self.put(entropy(l, sites, part)?),
            Spread::Recursive { c, l } if l <= 2 => self.put(beyond(c, l, sites, part)),
            Spread::Recursive { c, l } => {
                for pair in pairs(c, l, sites, part)? {
                    self.put(pair);
                }
            }
        }
        self.groups.push(self.own.len() - start);
        Ok(())
    }

    fn put(&mut self, comparison: Comparison) {
        self.own.push(comparison.own);
        self.thresholds.push(comparison.threshold);
        self.bound = self.bound.max(comparison.bound);
    }

    /// For each part, whether it is spread as demanded.
    async fn ask(self, party: &mut Party, spread: Spread) -> Result<Vec<bool>, Error> {
        let mut answers = vec![false; self.groups.len()];
        // Where no pair of caps of any part is worth a question, all sites know that.
        if !self.own.is_empty() {
            party
                .any_at_least(
                    SPREAD,
                    self.bound,
                    &self.own,
                    &self.thresholds,
                    &self.groups,
                    &mut answers,
                )
                .await?;
        }
        if matches!(spread, Spread::Recursive { l, .. } if l <= 2) {
            // What was asked is whether some site has too many.
            answers.iter_mut().for_each(|answer| *answer = !*answer);
        }
        Ok(answers)
    }
}

/// The entropy of sites, at least log l.
fn entropy(l: Ratio, sites: u64, part: &Part) -> Result<Comparison, Error> {
    let summand = |count: &u64| {
        let share = *count as f64 / part.size as f64;
        // A summand is at most 0.54 units; one record of everything is 0.
        (-share * share.log2() * UNIT).round() as u64
    };
    let wanted = (l.to_f64().log2() * UNIT).round() as u64;
    Ok(Comparison {
        own: part.counts.iter().map(summand).sum(),
        // Each site's rounding takes half a unit at most.
        threshold: wanted.saturating_sub(sites),
        bound: word(u128::from(sites) * UNIT as u128)?,
    })
}

/// How many sites have so many records that r_1 is too large: at least one.
fn beyond(c: Ratio, l: u64, sites: u64, part: &Part) -> Comparison {
    let is_beyond = |count: &&u64| {
        let rest = part.size.saturating_sub((l.max(1) - 1) * **count);
        Ratio::new(u128::from(**count), u128::from(rest)) >= c
    };
    Comparison {
        own: part.counts.iter().filter(is_beyond).count() as u64,
        threshold: 1,
        bound: sites,
    }
}

/// The pairs of caps that may show a part to be spread.
fn pairs(c: Ratio, l: u64, sites: u64, part: &Part) -> Result<Vec<Comparison>, Error> {
    let (c, one) = parts_of(c, part.size);
    let size = u128::from(part.size);
    let bound = word((c + one) * size)?;
    let sum = |a: u128, b: u128| one * a + c * b;
    let mut found = Vec::new();
    for a in caps(part.size) {
        for b in caps(part.size / (l - 1)).take_while(|b| *b <= a) {
            let (wide, wide_b) = (u128::from(a), u128::from(b));
            let threshold = sum(wide + size, u128::from(l - 1) * wide_b) + 1;
            let most = |cap: u128| size.min(u128::from(sites) * cap);
            if sum(most(wide), most(wide_b)) < threshold {
                // Not even sites that all have so many would show it.
                continue;
            }
            let counts = part.counts.iter();
            let own: u128 = counts
                .map(|count| sum(u128::from((*count).min(a)), u128::from((*count).min(b))))
                .sum();
            found.push(Comparison {
                own: word(own)?,
                threshold: word(threshold)?,
                bound,
            });
        }
    }
    Ok(found)
}

/// c as a fraction of small numbers, never above c; with more than N no count is too large.
fn parts_of(c: Ratio, records: u64) -> (u128, u128) {
    let (numerator, denominator) = c.parts();
    let most = u128::from(records) + 1;
    if c > Ratio::whole(records + 1) {
        return (most, 1);
    }
    if denominator <= FINEST {
        return (numerator, denominator);
    }
    // c is at most N + 1, so this is within what a float holds; it is rounded down.
    ((c.to_f64() * FINEST as f64).floor() as u128, FINEST)
}

/// The caps that are asked about, ascending: all up to a number, then about a quarter apart.
fn caps(most: u64) -> impl Iterator<Item = u64> {
    let next = |cap: &u64| {
        let step = if *cap < EVERY_CAP { 1 } else { cap / 4 };
        Some(cap.saturating_add(step))
    };
    std::iter::successors(Some(1), next).take_while(move |cap| *cap <= most)
}

fn word(number: u128) -> Result<u64, Error> {
    let fits = u64::try_from(number).ok();
    fits.filter(|_| number < MOST).ok_or(Error::Threshold)
}

#[cfg(test)]
mod tests {
    use hedgerow_privacy::Counts;
    use proptest::prelude::*;

    use super::*;

    /// Whether comparisons of sums over sites find a part spread as demanded.
    fn is_found(spread: Spread, counts: &[u64]) -> bool {
        let sites = counts.len() as u64;
        let size = counts.iter().sum();
        // Every site computes its own part; the sums meet.
        let asked = |asks: &dyn Fn(&Part) -> Vec<Comparison>| {
            let own = |count: &u64| {
                let counts = Some(*count).filter(|count| *count > 0);
                asks(&Part {
                    place: 0,
                    size,
                    counts: counts.into_iter().collect(),
                })
            };
            let all: Vec<Vec<Comparison>> = counts.iter().map(own).collect();
            (0..all[0].len()).any(|at| {
                let sum: u64 = all.iter().map(|own| own[at].own).sum();
                assert!(sum <= all[0][at].bound, "{sum}");
                sum >= all[0][at].threshold
            })
        };
        match spread {
            Spread::Entropy { l } => asked(&|part| vec![entropy(l, sites, part).unwrap()]),
            Spread::Recursive { c, l } if l <= 2 => !asked(&|part| vec![beyond(c, l, sites, part)]),
            Spread::Recursive { c, l } => asked(&|part| pairs(c, l, sites, part).unwrap()),
        }
    }

    fn is_so(spread: Spread, counts: &[u64]) -> bool {
        let places: Vec<u32> = (0..counts.len() as u32).collect();
        spread.holds(Counts::new(&places, counts))
    }

    #[test]
    fn just_enough_is_enough() {
        for sites in 1..60u64 {
            for each in [1, 3, 1_000_003] {
                let counts = vec![each; sites as usize];
                let entropy = |l| Spread::Entropy { l };
                assert!(is_found(entropy(Ratio::whole(sites)), &counts));
                let more = Ratio::new(u128::from(sites) * 1000 + 1, 1000);
                assert!(!is_found(entropy(more), &counts));
            }
        }
        // r_1 = 3, r_2 + r_3 = 3, r_3 = 1.
        let recursive = |c: Ratio, l| is_found(Spread::Recursive { c, l }, &[2, 3, 1]);
        assert!(!recursive(Ratio::whole(1), 2) && recursive(Ratio::new(101, 100), 2));
        assert!(!recursive(Ratio::whole(3), 3) && recursive(Ratio::new(301, 100), 3));
        assert!(!recursive(Ratio::whole(1_000_000), 4));
    }

    #[test]
    fn caps_are_few() {
        assert_eq!(
            caps(20).collect::<Vec<_>>(),
            (1..=16).chain([20]).collect::<Vec<_>>()
        );
        assert!(caps(1_000_000).count() < 70, "{}", caps(1_000_000).count());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1_000))]

        /// Skewed sites, and sites without records.
        #[test]
        fn sums_find_what_counts_say(
            counts in prop::collection::vec(prop_oneof![Just(0u64), 0u64..8, 0u64..60, 0u64..5_000], 2..12),
            hundredths in 100u128..600,
            l in 1u64..5,
            c in 1u128..800,
        ) {
            prop_assume!(counts.iter().sum::<u64>() > 0);
            let entropy = Spread::Entropy { l: Ratio::new(hundredths, 100) };
            prop_assert_eq!(is_found(entropy, &counts), is_so(entropy, &counts));
            let recursive = Spread::Recursive { c: Ratio::new(c, 100), l };
            let (found, so) = (is_found(recursive, &counts), is_so(recursive, &counts));
            if l <= 2 || counts.iter().all(|count| *count <= EVERY_CAP) {
                prop_assert_eq!(found, so);
            } else {
                prop_assert!(so || !found, "allowed though it does not hold");
                // Half of c is met by more than the caps are apart.
                let by_far = Spread::Recursive { c: Ratio::new(c, 200), l };
                prop_assert!(found || !is_so(by_far, &counts), "refused though it holds by far");
            }
        }

        /// However fine c is stated.
        #[test]
        fn a_fine_c_is_rounded_to_the_safe_side(c in 0.0001f64..2_000_000.0, records in 1u64..1_000_000) {
            let c = Ratio::from_decimal(c).unwrap();
            let (numerator, denominator) = parts_of(c, records);
            prop_assert!(denominator <= FINEST);
            prop_assert!(Ratio::new(numerator, denominator) <= c || c > Ratio::whole(records + 1));
        }
    }
}
