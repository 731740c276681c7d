//! Covers asked together, and comparisons with a bound for each sum: the answers and the rounds.

use hedgerow_smc::memory::Simulation;
use hedgerow_smc::{Covers, Error, Settings, Tree};
use proptest::prelude::*;

use crate::harness::{TEST, agree};

/// A site's nodes, range and values.
type Own = (Vec<Option<u32>>, Vec<Option<(u64, u64)>>, Vec<bool>);

fn own() -> impl Strategy<Value = Own> {
    let range = (0u64..40, 0u64..40).prop_map(|(one, other)| (one.min(other), one.max(other)));
    (
        prop::collection::vec(prop::option::of(0u32..7), 3),
        prop::collection::vec(prop::option::of(range), 4),
        prop::collection::vec(any::<bool>(), 5),
    )
}

fn trees() -> [Tree; 2] {
    [vec![0, 0, 0, 1, 1, 2, 2], vec![0, 0, 1, 2, 3, 4, 5]].map(|tree| Tree::new(tree).unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    /// Ranges of 40 values are one step of a fan-out of 50, and several of 16 or 2.
    #[test]
    fn covers_together_are_those_of_each_kind(
        inputs in (1..=5usize).prop_flat_map(|sites| prop::collection::vec(own(), sites)),
        seed: u64,
    ) {
        let (trees, tree_of, domains) = (&trees(), &[0, 1, 0], &[const { 0..=39 }; 4]);
        let together = agree(inputs.len(), seed, |mut party| {
            let (mut nodes, mut ranges, mut bits) = inputs[party.me().index()].clone();
            async move {
                let covers = Covers {
                    trees,
                    tree_of,
                    nodes: &mut nodes,
                    domains,
                    ranges: &mut ranges,
                    bits: &mut bits,
                };
                party.cover(TEST, covers).await?;
                Ok((nodes, ranges, bits))
            }
        });
        let apart = agree(inputs.len(), seed, |mut party| {
            let (mut nodes, mut ranges, mut bits) = inputs[party.me().index()].clone();
            async move {
                party.lca(TEST, trees, |index| tree_of[index], &mut nodes).await?;
                party.ranges(TEST, |index| domains[index].clone(), &mut ranges).await?;
                party.any(TEST, &mut bits).await?;
                Ok((nodes, ranges, bits))
            }
        });
        prop_assert_eq!(&together, &apart);
        for settings in [(50, 0), (2, 320)] {
            let (fan_out, at_once) = settings;
            let settings = Settings { fan_out, at_once, ..Settings::hardened() };
            let run = Simulation::new(inputs.len(), seed).settings(settings).run(|mut party| {
                let (mut nodes, mut ranges, mut bits) = inputs[party.me().index()].clone();
                async move {
                    let covers = Covers {
                        trees,
                        tree_of,
                        nodes: &mut nodes,
                        domains,
                        ranges: &mut ranges,
                        bits: &mut bits,
                    };
                    party.cover(TEST, covers).await?;
                    Ok::<_, Error>((nodes, ranges, bits))
                }
            });
            let joined = Simulation::new(inputs.len(), seed)
                .settings(settings)
                .run(|_| async { Ok::<_, Error>(()) });
            prop_assert!(run.traffic.rounds - joined.traffic.rounds <= 3);
            prop_assert_eq!(&run.into_values().unwrap(), &apart);
        }
    }

    /// Each sum with a bound of its own, however many bits that has.
    #[test]
    fn comparisons_have_bounds_of_their_own(
        sums in prop::collection::vec((0u64..300, 0u32..40, -2i64..3), 1..12),
        sites in 2..=6usize,
        seed: u64,
    ) {
        let numbers: Vec<(u64, u64, u64)> = sums
            .iter()
            .map(|(sum, shift, near)| {
                // A bound that is just reached, and one far above.
                let bound = sum + (1u64 << shift) - 1;
                (*sum, bound, sum.saturating_add_signed(*near))
            })
            .collect();
        let bounds: Vec<u64> = numbers.iter().map(|number| number.1).collect();
        let thresholds: Vec<u64> = numbers.iter().map(|number| number.2).collect();
        let expected: Vec<bool> = numbers.iter().map(|number| number.0 >= number.2).collect();
        for settings in [Settings::hardened(), Settings::published()] {
            if settings == Settings::published() && bounds.iter().any(|bound| *bound > 1 << 12) {
                continue;
            }
            let run = Simulation::new(sites, seed).settings(settings).run(|mut party| {
                let me = party.me().index() as u64;
                let of = |sum: u64| sum / sites as u64 + u64::from(me < sum % sites as u64);
                let own: Vec<u64> = numbers.iter().map(|number| of(number.0)).collect();
                let (bounds, thresholds) = (&bounds, &thresholds);
                async move {
                    let mut answers = vec![false; own.len()];
                    party.at_least(TEST, bounds.as_slice(), &own, thresholds, &mut answers).await?;
                    let mut any = [false];
                    if party.sites() > 2 {
                        let groups = [own.len()];
                        party
                            .any_at_least(TEST, bounds.as_slice(), &own, thresholds, &groups, &mut any)
                            .await?;
                    } else {
                        any = [answers.contains(&true)];
                    }
                    Ok::<_, Error>((answers, any))
                }
            });
            for (answers, any) in run.into_values().unwrap() {
                prop_assert_eq!(&answers, &expected);
                prop_assert_eq!(any, [expected.contains(&true)]);
            }
        }
    }
}

/// Small bounds are cheap: bytes of a comparison between four sites.
#[test]
fn a_small_bound_costs_few_bytes() {
    const COUNT: usize = 1_000;
    let joined = Simulation::new(4, 3).run(|_| async { Ok::<_, Error>(()) });
    let bytes = |bound: u64| {
        let run = Simulation::new(4, 3).run(|mut party| async move {
            party
                .at_least(TEST, bound, &[0; COUNT], &[1; COUNT], &mut [false; COUNT])
                .await
        });
        let bytes = run.traffic.bytes() - joined.traffic.bytes();
        run.into_values().unwrap();
        bytes / COUNT as u64
    };
    // Two keys and six summands; two shares of a bit to three sites each, and headers, are one more.
    assert_eq!(bytes(3), 2 + 6 + 1);
    assert_eq!(bytes(100), 2 * 16 + 6 + 1);
    assert_eq!(bytes(1_000_000), 2 * 14 * 16 + 6 * 3 + 1);
}
