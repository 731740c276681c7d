//! What falls to known attacks, counted by all sites together: ideal = real = what one counts who has all numbers,
//! with sites of very different sizes; no entry in the ledger that is not listed; impossible numbers end the run.

use std::collections::BTreeSet;

use hedgerow_protocols::Error;
use hedgerow_protocols::horizontal::attacked::{
    AT_ENDS, Asked, COMMON, STEPS, by_one, by_two, enough, have_all, ranked, sums,
};
use hedgerow_smc::memory::Simulation;
use hedgerow_smc::{Party, Security, Settings, What};
use proptest::prelude::*;

use crate::liars::struck;

const VALUES: u32 = 30;
const MILLION: u64 = 1_000_000;

/// What all sites hold, by site.
#[derive(Debug, Clone)]
struct Held {
    /// Records of each class.
    classes: Vec<Vec<u64>>,
    /// Values of an ordered attribute.
    values: Vec<Vec<u32>>,
    /// Shares in millionths.
    shares: Vec<u64>,
    k: u64,
    limit: u64,
    rank: u64,
}

/// What a site learns.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Learned {
    ranked: Vec<Option<(u32, u32)>>,
    sums: Vec<u64>,
    one: u64,
    two: Option<u64>,
    enough: Vec<bool>,
    all: Vec<bool>,
}

fn held() -> impl Strategy<Value = Held> {
    let share = prop_oneof![Just(0), Just(MILLION), 0..MILLION];
    let count = prop_oneof![Just(0u64), 0u64..4, 0u64..60];
    (2usize..6, 1usize..5).prop_flat_map(move |(sites, classes)| {
        (
            prop::collection::vec(prop::collection::vec(count.clone(), classes), sites),
            prop::collection::vec(prop::collection::vec(0..VALUES, 0..40), sites),
            prop::collection::vec(share.clone(), sites),
            2u64..12,
            prop_oneof![Just(0u64), Just(MILLION), Just(10_000), 0..MILLION],
            1u64..12,
        )
            .prop_map(|(classes, values, shares, k, limit, rank)| Held {
                classes,
                values,
                shares,
                k,
                limit,
                rank,
            })
    })
}

impl Held {
    fn sizes(&self) -> Vec<u64> {
        let classes = 0..self.classes[0].len();
        classes
            .map(|class| self.classes.iter().map(|own| own[class]).sum())
            .collect()
    }

    fn records(&self) -> u64 {
        let classes: u64 = self.sizes().iter().sum();
        classes.max(self.values.iter().map(|own| own.len() as u64).sum())
    }

    async fn ask(&self, mut party: Party) -> Result<(Learned, BTreeSet<&'static str>), Error> {
        let me = party.me().index();
        let (own, values) = (&self.classes[me], &self.values[me]);
        let count = |is: &dyn Fn(u32) -> bool| values.iter().filter(|one| is(**one)).count() as u64;
        let records = self.records();
        let ranked = ranked(
            &mut party,
            (self.rank, records),
            &[VALUES],
            |_, value| count(&|one| one <= value),
            |_, value| count(&|one| one >= value),
        )
        .await?;
        let sums = sums(&mut party, AT_ENDS, own, records).await?;
        let one = by_one(&mut party, self.shares[me]).await?;
        let two = match party.sites() {
            2 => None,
            _ => Some(
                by_two(
                    &mut party,
                    (own.as_slice(), self.sizes().as_slice()),
                    self.k,
                    self.limit,
                )
                .await?,
            ),
        };
        let enough = enough(&mut party, COMMON, own, &vec![self.k; own.len()]).await?;
        let has: Vec<bool> = own.iter().map(|records| *records > 0).collect();
        let all = have_all(&mut party, &has).await?;
        let entries = party.ledger().entries().iter();
        let names = entries.map(|entry| entry.disclosure.what.name()).collect();
        let learned = Learned {
            ranked,
            sums,
            one,
            two,
            enough,
            all,
        };
        Ok((learned, names))
    }

    /// What one counts who has all numbers.
    fn counted(&self) -> Learned {
        let mut values = self.values.concat();
        values.sort_unstable();
        let rank = self.rank as usize;
        let least = values.get(rank - 1).copied();
        let greatest = values.iter().rev().nth(rank - 1).copied();
        let (sizes, sites) = (self.sizes(), self.classes.len());
        // More than a step is more than that share of what others have, in exact numbers.
        let exceeds = |step: u64| {
            let pairs = (0..sites).flat_map(|one| (one + 1..sites).map(move |other| (one, other)));
            pairs.into_iter().any(|(one, other)| {
                let left = |class: usize| {
                    sizes[class] - self.classes[one][class] - self.classes[other][class]
                };
                let all: u64 = (0..sizes.len()).map(left).sum();
                let few: u64 = (0..sizes.len())
                    .map(left)
                    .filter(|left| *left < self.k)
                    .sum();
                u128::from(few) * u128::from(MILLION) > u128::from(step) * u128::from(all)
            })
        };
        let mut steps: Vec<u64> = STEPS.into_iter().chain([self.limit]).collect();
        steps.sort_unstable();
        let two = steps.into_iter().find(|step| !exceeds(*step));
        Learned {
            ranked: vec![least.zip(greatest)],
            one: *self.shares.iter().max().unwrap(),
            two: (sites > 2).then_some(two.unwrap_or(MILLION)),
            enough: sizes.iter().map(|size| *size >= self.k).collect(),
            all: (0..sizes.len())
                .map(|class| self.classes.iter().all(|own| own[class] > 0))
                .collect(),
            sums: sizes,
        }
    }
}

fn listed(security: Security) -> BTreeSet<&'static str> {
    let all = Asked {
        ends: true,
        one_site: true,
        two_sites: true,
        two_releases: true,
        newcomers: true,
    };
    let listed = all.discloses(security).into_iter();
    let more = security.discloses().iter();
    listed
        .chain(more.copied())
        .map(|what: What| what.name())
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn sites_learn_what_one_counts_and_nothing_that_is_not_listed(held in held()) {
        let sites = held.classes.len();
        let expected = held.counted();
        for settings in [Settings::hardened(), Settings::published()] {
            let simulation = Simulation::new(sites, 3).settings(settings);
            let real = simulation.run(|party| held.ask(party)).into_values().unwrap();
            let ideal: Result<Vec<_>, Error> =
                simulation.run_ideal(|party| held.ask(party)).into_iter().collect();
            let listed = listed(settings.security);
            for (learned, names) in real.iter().chain(&ideal.unwrap()) {
                prop_assert_eq!(learned, &expected);
                prop_assert!(names.is_subset(&listed), "{:?}", names.difference(&listed));
            }
        }
    }
}

#[test]
fn what_is_not_asked_is_not_listed() {
    assert!(Asked::default().discloses(Security::Published).is_empty());
    let newcomers = Asked {
        newcomers: true,
        ..Asked::default()
    };
    assert_eq!(newcomers.discloses(Security::Hardened).len(), 1);
}

#[test]
fn impossible_numbers_of_attacks_end_the_run() {
    let held = Held {
        classes: vec![vec![3, 0, 9], vec![1, 8, 4], vec![0, 2, 30]],
        values: vec![vec![1, 5, 9, 9], vec![0, 29], vec![3; 20]],
        shares: vec![0, 40_000, 900],
        k: 5,
        limit: 10_000,
        rank: 2,
    };
    let simulation = Simulation::new(3, 1);
    let run = |simulation: &Simulation| simulation.run(|party| held.ask(party));
    let records = held.records();
    // Whatever a lie comes to, it is a number that there can be.
    let is_right = |(learned, _): &(Learned, BTreeSet<&'static str>)| {
        learned.sums.iter().all(|sum| *sum <= records)
            && learned.one <= MILLION
            && learned.two.is_some_and(|two| two <= MILLION)
            && learned
                .ranked
                .iter()
                .flatten()
                .all(|(least, greatest)| *least < VALUES && *greatest < VALUES)
    };
    // Numbers that are added to frames do not open; what a site says of its own rows is held against
    // bounds below.
    let (refused, _) = struck("attacked", &simulation, &run, &is_right);
    assert!(refused > 0);
}

/// A site that lies about its own rows sends frames that open; what opens is held against what there can be.
#[test]
fn more_records_than_there_are_end_the_run_at_the_sites_that_were_lied_to() {
    const RECORDS: u64 = 100;
    for settings in [Settings::hardened(), Settings::published()] {
        // Too many, and so many that sums begin anew at zero and are fewer than an honest site has.
        for lie in [RECORDS, 1 << 40, 0u64.wrapping_sub(25)] {
            let results = Simulation::new(3, 1)
                .settings(settings)
                .run(async |mut party: Party| {
                    let own = match party.me().index() {
                        1 => lie,
                        _ => 20,
                    };
                    sums(&mut party, AT_ENDS, &[own, 3], RECORDS).await
                });
            let results = results.results;
            for site in [0, 2] {
                let error = results[site].as_ref().unwrap_err().to_string();
                assert!(
                    error.contains("more records than there are"),
                    "{lie}: {error}"
                );
                assert!(error.contains(AT_ENDS.name()), "{lie}: {error}");
            }
        }
        for lie in [MILLION + 1, u64::MAX] {
            let results = Simulation::new(3, 1)
                .settings(settings)
                .run(async |mut party: Party| {
                    let own = match party.me().index() {
                        1 => lie,
                        _ => 20,
                    };
                    by_one(&mut party, own).await
                });
            let results = results.results;
            for site in [0, 2] {
                // A share of more than the whole is taken for the whole, or refused.
                if let Ok(greatest) = &results[site] {
                    assert_eq!(*greatest, MILLION, "{lie}");
                }
            }
        }
    }
}
