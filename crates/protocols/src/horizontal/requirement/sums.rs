//! m-privacy without a look at coalitions: whether a part withstands every coalition of m sites, from
//! sums over all sites, however many coalitions there are. For k, distinct l and site diversity, which
//! stay satisfied when records are added (MPRIV observation 2.3).
//!
//! A site i has n_i records of a part, N in all; the m largest have the most that m sites can have.
//!
//! # Few sites
//! Where at most m sites have records, some coalition leaves just one of them, whichever that is, so each
//! site that has records must satisfy the requirement alone; that is enough, since what is left with more
//! of them satisfies it too. A site says 1 if it has records, and n + 1 more if these alone do not
//! satisfy the requirement: the sum is at most m exactly if this case is met. Every question below has
//! this one as another way to hold; what follows is for parts of which more than m sites have records.
//!
//! # k: exact
//! N less the m largest counts is at least k exactly if some tau has m tau + sum max(n_i - tau, 0) <= N - k.
//! For a coalition of m sites has sum n_i <= m tau + sum max(n_i - tau, 0), whatever tau is, and with tau
//! the (m+1)th largest count the m largest have just that. Since n_i - max(n_i - tau, 0) = min(n_i, tau),
//! the condition is g(tau) = sum min(n_i, tau) - m tau >= k: a site adds what it has up to tau, and the
//! sum is held against k + m tau.
//!
//! Which tau must be asked about? Let x be the (m+1)th largest count. Below x at least m + 1 sites have
//! more than tau, so each step of tau from 0 to x adds at least 1 to g: g(tau) >= tau up to x. If x >= k,
//! then g(k) >= k and tau = k will do. If x < k, tau = x will do where any does. So tau from 1 to k is
//! enough: k comparisons, whatever N is and however many sites there are. Above N / (m+1) there is no x,
//! and g(tau) <= (n - m) tau leaves out what is below k / (n - m).
//!
//! # Site diversity: exact
//! At least l + m sites have records.
//!
//! # Distinct l: enough, not exact
//! A value is left whichever m sites go exactly if more than m sites have it, so l such values are
//! enough. They are not needed: with a value of its own at each of three sites, two are left without any
//! one of them, and no value is at two sites. To decide it exactly is to find the n - m sites with the
//! fewest values among them (minimum union), for which nothing but enumeration is known. Where this rule
//! says no, coalitions are asked about if they are few (`coalitions`); if they are not, a cut is not made
//! that might have been. What is released always withstands every coalition.
//!
//! # Discloses
//! To all sites, of each part of each cut that is allowed otherwise: one bit for k, one for site
//! diversity, whether it holds whichever m sites go; which tau showed it stays hidden. For distinct l,
//! one bit for each sensitive value of the part: whether more than m sites have it, or else at most m
//! sites have records and each of them enough. Less than what thresholds without coalitions say, from
//! which all of these follow.

use std::ops::RangeInclusive;

use hedgerow_privacy::{Model, Requirement};
use hedgerow_smc::Party;

use super::coalitions::Candidate;
use super::{Table, WITHSTOOD};
use crate::error::Error;

/// The most comparisons that are asked about at a time.
const MOST_AT_A_TIME: usize = 1 << 18;

/// Whether sums decide a requirement among so many sites: those of two say no less of each other than
/// what is left without one of them.
pub(super) fn decide(requirement: &Requirement, sites: usize) -> bool {
    sites > 2 && requirement.models.iter().all(Model::is_monotone)
}

/// What sums say of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Every coalition can be taken out.
    Withstands,
    /// Some coalition cannot.
    Breaks,
    /// Too few values are at more than m sites: coalitions may still leave enough of them.
    Open,
}

/// The greatest of each kind that is demanded; 1 where none is.
struct Least {
    records: u64,
    values: u64,
    sites: u64,
}

impl Least {
    fn of(models: &[Model]) -> Self {
        let mut least = Self {
            records: 1,
            values: 1,
            sites: 1,
        };
        for model in models {
            match model {
                Model::KAnonymity { k } => least.records = least.records.max(*k),
                Model::DistinctDiversity { l } => least.values = least.values.max(*l),
                Model::SiteDiversity { l, .. } => least.sites = least.sites.max(*l),
                _ => {}
            }
        }
        least
    }
}

/// For each part, what sums say of it without any m sites.
pub(super) async fn verdicts(
    party: &mut Party,
    table: &Table<'_>,
    m: u64,
    parts: &[Candidate],
) -> Result<Vec<Verdict>, Error> {
    let least = Least::of(&table.demands().requirement.models);
    let mut verdicts = Vec::with_capacity(parts.len());
    let mut rest = parts;
    // Some at a time, so that memory is bounded.
    while !rest.is_empty() {
        let mut asked = Asked::default();
        let mut count = 0;
        while let Some(part) = rest.get(count) {
            if asked.own.len() >= MOST_AT_A_TIME {
                break;
            }
            asked.add(table, &least, m, part);
            count += 1;
        }
        let (now, later) = rest.split_at(count);
        rest = later;
        let mut answers = asked.ask(party).await?.into_iter();
        let mut next = |count: usize| -> Vec<bool> { answers.by_ref().take(count).collect() };
        for part in now {
            let is_large = least.records <= 1 || next(1) == [true];
            let is_shared = least.sites <= 1 || next(1) == [true];
            let mut is_diverse = true;
            for values in values_of(table, &least, part) {
                let kept = next(values.len()).into_iter().filter(|kept| *kept).count();
                is_diverse &= kept as u64 >= least.values;
            }
            verdicts.push(match (is_large && is_shared, is_diverse) {
                (false, _) => Verdict::Breaks,
                (true, true) => Verdict::Withstands,
                (true, false) => Verdict::Open,
            });
        }
    }
    Ok(verdicts)
}

/// For each sensitive attribute whose values are asked about, the places of those in the part.
fn values_of(table: &Table<'_>, least: &Least, part: &Candidate) -> Vec<Vec<usize>> {
    let mut from = 0;
    let attributes = table.sensitive().filter(|_| least.values > 1);
    attributes
        .map(|(_, size)| {
            let places = from..from + size;
            from += size;
            places.filter(|place| part.sensitive[*place] > 0).collect()
        })
        .collect()
}

/// Every tau that must be asked about: fewer sites collude than there are.
fn caps(k: u64, m: u64, sites: u64, records: u64) -> RangeInclusive<u64> {
    k.div_ceil(sites - m)..=k.min(records / (m + 1))
}

/// Comparisons in groups, one of which must hold.
#[derive(Default)]
struct Asked {
    own: Vec<u64>,
    thresholds: Vec<u64>,
    groups: Vec<usize>,
    bounds: Vec<u64>,
}

impl Asked {
    fn add(&mut self, table: &Table<'_>, least: &Least, m: u64, part: &Candidate) {
        let few = Few::of(table, least, m, part);
        let sites = table.sites() as u64;
        let shares = &part.shares;
        if least.records > 1 {
            let k = least.records;
            let tau = caps(k, m, sites, part.records).map(|tau| Comparison {
                own: shares.iter().map(|share| share.size.min(tau)).sum(),
                // tau is at most N / (m+1).
                threshold: k + m * tau,
                bound: part.records.min(sites.saturating_mul(tau)),
            });
            self.group(tau, &few);
        }
        if least.sites > 1 {
            let enough = Comparison {
                own: shares.len() as u64,
                threshold: least.sites.saturating_add(m),
                bound: sites,
            };
            self.group([enough].into_iter(), &few);
        }
        for value in values_of(table, least, part).into_iter().flatten() {
            let has = shares.iter().filter(|share| share.sensitive[value] > 0);
            let more_than_m = Comparison {
                own: has.count() as u64,
                threshold: m + 1,
                bound: sites,
            };
            self.group([more_than_m].into_iter(), &few);
        }
    }

    fn group(&mut self, ways: impl Iterator<Item = Comparison>, few: &Few) {
        let start = self.own.len();
        for way in ways.chain([few.0]) {
            self.own.push(way.own);
            self.thresholds.push(way.threshold);
            self.bounds.push(way.bound);
        }
        self.groups.push(self.own.len() - start);
    }

    /// Nothing is asked where nothing is to be asked: all sites know that.
    async fn ask(self, party: &mut Party) -> Result<Vec<bool>, Error> {
        let mut answers = vec![false; self.groups.len()];
        if !answers.is_empty() {
            party
                .any_at_least(
                    WITHSTOOD,
                    self.bounds.as_slice(),
                    &self.own,
                    &self.thresholds,
                    &self.groups,
                    &mut answers,
                )
                .await?;
        }
        Ok(answers)
    }
}

/// A sum over sites, at least a number.
#[derive(Clone, Copy)]
struct Comparison {
    own: u64,
    threshold: u64,
    bound: u64,
}

/// At most m sites have records, each enough of them alone.
struct Few(Comparison);

impl Few {
    /// Every site adds n + 2 less what it says, so that "at most" is "at least".
    fn of(table: &Table<'_>, least: &Least, m: u64, part: &Candidate) -> Self {
        let sites = table.sites() as u64;
        let (most, heavy) = (sites + 2, sites + 1);
        let said = part.shares.iter().map(|share| {
            let mut from = 0;
            let is_diverse = table.sensitive().all(|(_, size)| {
                let own = &share.sensitive[from..from + size];
                from += size;
                own.iter().filter(|count| **count > 0).count() as u64 >= least.values
            });
            let is_enough = share.size >= least.records && is_diverse && least.sites <= 1;
            if is_enough { 1 } else { 1 + heavy }
        });
        Self(Comparison {
            own: table.voices() as u64 * most - said.sum::<u64>(),
            threshold: sites * most - m,
            bound: sites * most,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Whether a cap shows that k records are left without any m sites.
    fn is_shown(counts: &[u64], k: u64, m: u64) -> bool {
        let records = counts.iter().sum();
        caps(k, m, counts.len() as u64, records).any(|tau| {
            let capped: u64 = counts.iter().map(|count| (*count).min(tau)).sum();
            capped >= k + m * tau
        })
    }

    fn left_without_the_largest(counts: &[u64], m: u64) -> u64 {
        let mut counts = counts.to_vec();
        counts.sort_unstable();
        counts.iter().take(counts.len() - m as usize).sum()
    }

    /// MPRIV's first example: without the records of one hospital a single patient is left, where k is 3.
    #[test]
    fn one_patient_left_is_found() {
        assert!(!is_shown(&[2, 1, 0, 0], 3, 1));
        assert!(is_shown(&[2, 2, 1, 0], 3, 1));
        assert!(!is_shown(&[2, 2, 1, 0], 3, 2));
        // A large k, and a count for each cap below it.
        assert!(is_shown(&[900, 500, 499], 999, 1));
        assert!(!is_shown(&[900, 500, 499], 1000, 1));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn caps_show_exactly_what_the_largest_sites_leave(
            counts in prop::collection::vec(prop_oneof![0u64..4, 0u64..40, 0u64..4_000], 3..24),
            m in 1u64..23,
            k in 2u64..80,
            near in -2i64..3,
        ) {
            let m = m.min(counts.len() as u64 - 1);
            let left = left_without_the_largest(&counts, m);
            // Any k, and one at the border.
            for k in [k, left.saturating_add_signed(near).max(2)] {
                prop_assert_eq!(is_shown(&counts, k, m), left >= k, "k = {}", k);
            }
        }
    }
}
