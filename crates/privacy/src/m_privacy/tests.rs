//! Every strategy against brute force over all coalitions, the paper's numbers of checks, and the
//! corners.

use std::collections::HashMap;

use proptest::prelude::*;
use proptest::strategy::Strategy as Generated;

use super::coalition::OfSize;
use super::{Strategy, *};
use crate::closeness::{Distance, EarthMover};
use crate::counts::Reference;
use crate::model::SiteSupport;
use crate::ratio::Ratio;

const NO_TABLE: TableView<'_> = TableView {
    references: &[],
    movers: Vec::new(),
};

fn k_and_l(k: u64, l: u64) -> Vec<Model> {
    vec![Model::KAnonymity { k }, Model::DistinctDiversity { l }]
}

fn sites_of(l: u64) -> Model {
    Model::SiteDiversity {
        l,
        support: SiteSupport::Class,
        attributes: None,
    }
}

fn monotone() -> impl Generated<Value = Vec<Model>> {
    (1..9u64, 1..6u64, 1..6u64, 0..6usize).prop_map(|(k, l, sites, kind)| match kind {
        0 => vec![Model::KAnonymity { k }],
        1 => vec![Model::DistinctDiversity { l }],
        2 => vec![sites_of(sites)],
        3 => vec![Model::DistinctDiversity { l }, sites_of(sites)],
        _ => k_and_l(k, l),
    })
}

fn not_monotone() -> impl Generated<Value = Vec<Model>> {
    (1..6u64, 10..40u32, 0..5usize).prop_map(|(k, tenths, kind)| {
        let ratio = Ratio::new(u128::from(tenths), 10);
        let other = match kind {
            0 => Model::EntropyDiversity { l: ratio },
            1 => Model::Closeness {
                t: Ratio::new(u128::from(tenths), 60),
                distance: None,
            },
            2 => Model::FrequencyDiversity { l: ratio },
            3 => Model::RecursiveDiversity { c: ratio, l: 2 },
            _ => Model::Alpha {
                alpha: Ratio::new(u128::from(tenths), 50),
            },
        };
        vec![Model::KAnonymity { k }, other]
    })
}

/// Records of one to eight sites: of each, the site and two sensitive values.
fn records() -> impl Generated<Value = Vec<(u32, u32, u32)>> {
    (1..9u32, 1..7u32).prop_flat_map(|(sites, values)| {
        let record = (0..sites, 0..values, 0..3u32);
        proptest::collection::vec(record, 1..40)
    })
}

/// A class with its own distribution as that of the table, half of it shifted.
struct Fixture {
    class: Members,
    references: Vec<Reference>,
}

impl Fixture {
    fn new(records: &[(u32, u32, u32)], has_second: bool) -> Self {
        let sites: Vec<u32> = records.iter().map(|record| record.0 * 3).collect();
        let first: Vec<u32> = records.iter().map(|record| record.1).collect();
        let second: Vec<u32> = records.iter().map(|record| record.2).collect();
        let attributes = if has_second {
            vec![&first[..], &second[..]]
        } else {
            vec![&first[..]]
        };
        let reference = |codes: &&[u32]| {
            let mut counts = vec![1; 8];
            for code in *codes {
                counts[*code as usize] += 1;
                counts[*code as usize / 2] += 1;
            }
            Reference::new(counts)
        };
        Self {
            references: attributes.iter().map(reference).collect(),
            class: Members::new(&sites, attributes),
        }
    }

    fn table(&self) -> TableView<'_> {
        let mover = |reference| EarthMover::new(reference, Distance::Equal, None);
        TableView {
            references: &self.references,
            movers: self.references.iter().map(mover).collect(),
        }
    }
}

/// Whether some coalition of at most m sites leaves somebody, and breaches.
fn brute_force(class: &Members, models: &[Model], table: &TableView<'_>, m: u64) -> bool {
    let everybody = Coalition::first(class.sites());
    let coalitions = (0u32..1 << class.sites()).map(|bits| -> Coalition {
        let sites = 0..class.sites();
        sites.filter(|site| bits >> site & 1 == 1).collect()
    });
    coalitions
        .filter(|coalition| coalition.size() as u64 <= m)
        .any(|coalition| breaches(class, models, table, everybody, coalition))
}

fn breaches(
    class: &Members,
    models: &[Model],
    table: &TableView<'_>,
    everybody: Coalition,
    coalition: Coalition,
) -> bool {
    !class.hold(everybody.without(coalition).sites(), models, table)
}

fn all_agree(fixture: &Fixture, models: &[Model]) -> Result<(), TestCaseError> {
    let (class, table) = (&fixture.class, fixture.table());
    let everybody = Coalition::first(class.sites());
    for m in 0..=class.sites() as u64 + 1 {
        let breached = brute_force(class, models, &table, m);
        for strategy in Strategy::ALL {
            let verified = verify(strategy, class, models, &table, m).unwrap();
            prop_assert_eq!(
                !verified.is_private(),
                breached,
                "{:?} m={} {:?}",
                strategy,
                m,
                models
            );
            if let Some(coalition) = verified.breach {
                prop_assert!(coalition.size() as u64 <= m && coalition != everybody);
                prop_assert!(breaches(class, models, &table, everybody, coalition));
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn one_verdict_for_monotone_requirements(records in records(), has_second: bool, models in monotone()) {
        all_agree(&Fixture::new(&records, has_second), &models)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn one_verdict_for_requirements_that_are_not_monotone(records in records(), has_second: bool, models in not_monotone()) {
        all_agree(&Fixture::new(&records, has_second), &models)?;
    }

    /// Any monotone predicate at all, by its minimal breaching coalitions; any batch; counts
    /// hidden. Pruning never skips a breach, nothing is checked twice, and bounds hold.
    #[test]
    fn pruning_never_skips_a_breach(
        sites in 1..8usize,
        minimal in proptest::collection::vec(0..128u32, 0..6),
        m in 0..8usize,
        batch in 1..20usize,
        average in 0.0..2.0f64,
    ) {
        let minimal: Vec<Coalition> = minimal
            .into_iter()
            .map(|bits| (0..sites).filter(|site| bits >> site & 1 == 1).collect())
            .collect();
        let breaches = |coalition: Coalition| minimal.iter().any(|one| one.is_within(coalition));
        let m = m.min(sites - 1);
        let expected = (0u32..1 << sites).any(|bits| {
            let coalition: Coalition = (0..sites).filter(|site| bits >> site & 1 == 1).collect();
            coalition.size() <= m && breaches(coalition)
        });
        for strategy in Strategy::ALL {
            let hidden = Sites::hidden(sites, average, &k_and_l(2, 2)).unwrap();
            let (found, asked) = run(Search::new(strategy, &hidden, m as u64, batch), breaches);
            prop_assert_eq!(found.is_some(), expected, "{:?}", strategy);
            prop_assert!(found.is_none_or(|found| found.size() <= m && breaches(found)));
            prop_assert!(asked.values().all(|times| *times == 1), "{:?}", strategy);
            prop_assert!(asked.len() as u64 <= most_checks(strategy, sites, m));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    /// Which of the sites have records is hidden, and some have none. A coalition that leaves
    /// nobody is answered as `Search::answer` says; the verdict is that of all coalitions that
    /// leave somebody.
    #[test]
    fn sites_without_records_change_no_verdict_of_any_strategy(
        records in proptest::collection::vec((0..7u32, 0..5u32, 0..3u32), 0..30),
        absent in 0..128u32,
        has_second: bool,
        models in prop_oneof![monotone(), not_monotone()],
        batch in 1..12usize,
        average in 0.0..2.0f64,
    ) {
        let sites = 7;
        let records: Vec<_> = records.into_iter().filter(|record| absent >> record.0 & 1 == 0).collect();
        let mut holders: Vec<usize> = records.iter().map(|record| record.0 as usize).collect();
        holders.sort_unstable();
        holders.dedup();
        let fixture = Fixture::new(&records, has_second);
        let table = fixture.table();
        // Of each coalition, whether it leaves records, and whether these break the requirement.
        let remainders: HashMap<Coalition, (bool, bool)> = (0..=sites)
            .flat_map(|size| OfSize::new(sites, size))
            .map(|coalition| {
                let coalition: Coalition = coalition.into_iter().collect();
                let left = (0..holders.len()).filter(|place| !coalition.contains(holders[*place]));
                let is_somebody_left = left.clone().count() > 0;
                (coalition, (is_somebody_left, !fixture.class.hold(left, &models, &table)))
            })
            .collect();
        for m in 0..=sites as u64 + 1 {
            let is_breach = |coalition: Coalition| {
                coalition.size() as u64 <= m && remainders[&coalition] == (true, true)
            };
            let expected = remainders.keys().any(|coalition| is_breach(*coalition));
            let answer = |coalition: Coalition| match remainders[&coalition] {
                (true, is_broken) => is_broken,
                (false, _) => coalition.size() as u64 > m,
            };
            for strategy in Strategy::ALL {
                let hidden = Sites::hidden(sites, average, &models).unwrap();
                let (found, asked) = run(Search::new(strategy, &hidden, m, batch), answer);
                prop_assert_eq!(found.is_some(), expected, "{:?} m={} {:?}", strategy, m, models);
                prop_assert!(found.is_none_or(is_breach), "{:?} m={} {:?}", strategy, m, models);
                prop_assert!(asked.values().all(|times| *times == 1), "{:?}", strategy);
            }
        }
    }
}

/// Runs a search against a predicate: the breach found, and how often each coalition was asked
/// about.
fn run(
    mut search: Search,
    breaches: impl Fn(Coalition) -> bool,
) -> (Option<Coalition>, HashMap<Coalition, u32>) {
    let mut asked = HashMap::new();
    loop {
        let again = search.ask();
        match search.ask() {
            Step::Private => return (None, asked),
            Step::Breached(coalition) => return (Some(coalition), asked),
            Step::Check(coalitions) => {
                assert_eq!(again, Step::Check(coalitions.clone()));
                for coalition in &coalitions {
                    *asked.entry(*coalition).or_default() += 1;
                }
                let answers: Vec<bool> = coalitions.into_iter().map(&breaches).collect();
                search.answer(&answers);
                assert_eq!(
                    search.checks(),
                    asked.values().map(|n| u64::from(*n)).sum::<u64>()
                );
            }
        }
    }
}

/// MPRIV section III.C.
fn most_checks(strategy: Strategy, sites: usize, m: usize) -> u64 {
    let sum = |sizes: std::ops::RangeInclusive<usize>| sizes.map(|i| choose(sites, i)).sum();
    let halvings = (sites - m).next_power_of_two().trailing_zeros() as u64;
    let binary = choose(sites, m) * (1 + halvings) + sites as u64;
    match strategy {
        // Without counts the exact strategy asks as the direct one does.
        Strategy::Direct | Strategy::Exact => choose(sites, m),
        Strategy::TopDown => sum(m..=sites - 1),
        Strategy::BottomUp => sum(0..=m),
        Strategy::Binary => binary,
        Strategy::Adaptive => binary.max(sum(m..=sites - 1)),
    }
}

fn choose(n: usize, k: usize) -> u64 {
    (0..k as u64).fold(1, |product, i| product * (n as u64 - i) / (i + 1))
}

/// Sites with so many records each, all of one value.
fn uniform(sites: u32, records: usize) -> Members {
    let sites: Vec<u32> = (0..sites)
        .flat_map(|site| std::iter::repeat_n(site, records))
        .collect();
    Members::new(&sites, [&vec![0; sites.len()][..]])
}

/// Figure 4: all coalitions of more than m sites breach, none of m does. Nothing can be pruned,
/// except by counting.
#[test]
fn the_worst_case_without_any_pruning() {
    for sites in 2..=9usize {
        for m in 0..sites - 1 {
            let class = uniform(sites as u32, 2);
            let models = [Model::KAnonymity {
                k: 2 * (sites - m) as u64,
            }];
            let cost = |strategy| {
                let verified = verify(strategy, &class, &models, &NO_TABLE, m as u64).unwrap();
                assert!(verified.is_private());
                assert_eq!(verified.bounds, 0);
                verified.checks
            };
            for strategy in [Strategy::Direct, Strategy::TopDown, Strategy::BottomUp] {
                assert_eq!(cost(strategy), most_checks(strategy, sites, m));
            }
            assert!(cost(Strategy::Binary) <= most_checks(Strategy::Binary, sites, m));
            assert!(cost(Strategy::Binary) >= choose(sites, m));
            assert_eq!(cost(Strategy::Exact), 1);
        }
    }
}

/// The other end: no coalition breaches. m + 1 super-coalitions prune everything.
#[test]
fn the_best_case_of_downward_pruning() {
    let class = uniform(12, 5);
    let models = [Model::KAnonymity { k: 5 }];
    for m in 0..12 {
        for strategy in [Strategy::TopDown, Strategy::Binary, Strategy::Adaptive] {
            let verified = verify(strategy, &class, &models, &NO_TABLE, m).unwrap();
            assert!(verified.is_private());
            assert_eq!(verified.checks, m + 1);
        }
    }
}

/// Early stop: what breaks without anybody's help is found by the first check from below.
#[test]
fn a_class_that_breaks_as_it_is() {
    let class = uniform(6, 1);
    let models = [Model::KAnonymity { k: 7 }];
    let checks = |strategy| {
        let verified = verify(strategy, &class, &models, &NO_TABLE, 3).unwrap();
        assert!(!verified.is_private());
        verified.checks
    };
    assert_eq!(checks(Strategy::BottomUp), 1);
    assert_eq!(checks(Strategy::Direct), 1);
    assert_eq!(checks(Strategy::Binary), 2);
    assert_eq!(checks(Strategy::Exact), 1);
}

/// Bounds counted as checks, the exact strategy still needs fewer than any of the paper's five.
#[test]
fn the_exact_strategy_is_the_cheapest_in_total() {
    let mut totals = [0; 6];
    for sites in 2..=10u32 {
        for records in [30, 60, 120u32] {
            // Early sites own more than late ones.
            let owner = |record: u32| (record * record / 7 + record / 3) % (1 + record % sites);
            let owners: Vec<u32> = (0..records).map(owner).collect();
            let values: Vec<u32> = (0..records).map(|record| record * 5 % 13 % 8).collect();
            let class = Members::new(&owners, [&values[..]]);
            for m in 0..sites.into() {
                for (strategy, total) in Strategy::ALL.into_iter().zip(&mut totals) {
                    for models in [k_and_l(5, 3), k_and_l(15, 4), k_and_l(1, 6)] {
                        let verified = verify(strategy, &class, &models, &NO_TABLE, m).unwrap();
                        *total += verified.cost();
                    }
                }
            }
        }
    }
    let [five @ .., exact] = totals;
    assert!(five.into_iter().all(|one| exact < one), "{totals:?}");
}

/// A class's size and its values can be worst at different coalitions.
#[test]
fn the_exact_strategy_looks_at_each_constraint_alone() {
    // Site 0 is large and has the common value; sites 1 and 2 alone have the other values.
    let sites = [0, 0, 0, 0, 0, 1, 2, 3, 3];
    let codes = [0, 0, 0, 0, 0, 1, 2, 0, 0];
    let class = Members::new(&sites, [&codes[..]]);
    let exact = |models: &[Model]| verify(Strategy::Exact, &class, models, &NO_TABLE, 2).unwrap();
    let breach = exact(&k_and_l(2, 2)).breach;
    assert_eq!(breach, Some([1, 2].into_iter().collect()));
    let breach = exact(&k_and_l(3, 1)).breach;
    assert_eq!(breach, Some([0, 3].into_iter().collect()));
    assert!(exact(&k_and_l(2, 1)).is_private());
}

/// A non-monotone requirement is swept in full by every strategy.
#[test]
fn no_pruning_where_it_is_not_valid() {
    let class = uniform(6, 3);
    let models = [Model::RecursiveDiversity {
        c: Ratio::whole(2),
        l: 1,
    }];
    for strategy in Strategy::ALL {
        let verified = verify(strategy, &class, &models, &NO_TABLE, 4).unwrap();
        assert!(verified.is_private());
        assert_eq!(
            verified.cost(),
            (0..=4).map(|size| choose(6, size)).sum::<u64>()
        );
    }
}

#[test]
fn corners() {
    let nobody = Members::new(&[], [&[][..]]);
    let one = uniform(1, 3);
    let two = uniform(2, 3);
    for strategy in Strategy::ALL {
        let verified = |class, k, m| verify(strategy, class, &k_and_l(k, 1), &NO_TABLE, m).unwrap();
        assert!(verified(&nobody, 5, 2).is_private());
        assert_eq!(verified(&nobody, 5, 2).cost(), 0);
        // The only site cannot attack itself: only the release as it is counts.
        for m in [0, 1, u64::MAX] {
            assert!(verified(&one, 3, m).is_private());
            assert_eq!(verified(&one, 4, m).breach, Some(Coalition::NOBODY));
        }
        assert!(verified(&two, 6, 0).is_private());
        assert!(!verified(&two, 6, 1).is_private());
        assert!(verified(&two, 3, 9).is_private());
        assert!(verified(&uniform(5, 1), 1, 5).is_private());
        // No requirement at all.
        let free = verify(strategy, &two, &[], &NO_TABLE, 1).unwrap();
        assert!(free.is_private());
    }
}

#[test]
fn a_hundred_sites_and_one_too_many() {
    let class = uniform(100, 2);
    for m in [1, 50, 99] {
        for strategy in [Strategy::TopDown, Strategy::Binary, Strategy::Exact] {
            let verified = verify(strategy, &class, &k_and_l(2, 1), &NO_TABLE, m).unwrap();
            assert!(verified.is_private());
            assert!(verified.cost() <= m + 1);
        }
    }
    let full = uniform(128, 1);
    let direct = verify(Strategy::Direct, &full, &k_and_l(1, 1), &NO_TABLE, 2).unwrap();
    assert_eq!(direct.checks, choose(128, 2));
    let error = verify(Strategy::Direct, &uniform(129, 1), &[], &NO_TABLE, 1);
    assert_eq!(error, Err(Error::TooManySites { sites: 129 }));
    assert!(Sites::hidden(129, 1.0, &[]).is_err());
}

/// Where it is hidden who has records, coalitions may leave nobody; answered as `Search::answer`
/// says, the verdict is that of the sites with records.
#[test]
fn sites_without_records_do_not_change_the_verdict() {
    let sizes = [0u64, 3, 0, 2, 4, 0];
    for k in 1..10u64 {
        for m in 0..6u64 {
            let holders = sizes.iter().enumerate().filter(|(_, size)| **size > 0);
            let records: Vec<u32> = holders
                .flat_map(|(site, size)| std::iter::repeat_n(site as u32, *size as usize))
                .collect();
            let class = Members::new(&records, [&vec![0; records.len()][..]]);
            let models = [Model::KAnonymity { k }];
            let expected = brute_force(&class, &models, &NO_TABLE, m);
            for strategy in Strategy::ALL {
                let hidden = Sites::hidden(sizes.len(), 1.0, &models).unwrap();
                let answer = |coalition: Coalition| {
                    let left = (0..6).filter(|site| !coalition.contains(*site));
                    let left: u64 = left.map(|site| sizes[site]).sum();
                    left < k && (left > 0 || coalition.size() as u64 > m)
                };
                let (found, _) = run(Search::new(strategy, &hidden, m, 4), answer);
                assert_eq!(found.is_some(), expected, "{strategy:?} k={k} m={m}");
            }
        }
    }
}
