//! published = hardened = ideal, for 1 to 9 sites and all lengths.

use std::collections::BTreeMap;

use hedgerow_smc::memory::Simulation;
use hedgerow_smc::{Error, Generator, Items, Party, Rank, Settings, Site, Tree};
use proptest::prelude::*;

use crate::harness::{TEST, agree};

/// One vector per site, all of one length.
fn per_site<T: Clone + std::fmt::Debug>(
    value: impl Strategy<Value = T> + Clone,
    longest: usize,
) -> impl Strategy<Value = Vec<Vec<T>>> {
    (1..=9usize, 0..=longest).prop_flat_map(move |(sites, length)| {
        prop::collection::vec(prop::collection::vec(value.clone(), length), sites)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn sums_agree(inputs in per_site(any::<u64>(), 40), seed: u64, pivot in 0..9u16) {
        let sites = inputs.len();
        let totals = agree(sites, seed, |mut party| {
            let mut values = inputs[party.me().index()].clone();
            async move { party.sum(TEST, &mut values).await?; Ok(values) }
        });
        let expected: Vec<u64> = (0..inputs[0].len())
            .map(|index| inputs.iter().fold(0, |sum: u64, input| sum.wrapping_add(input[index])))
            .collect();
        prop_assert!(totals.iter().all(|total| *total == expected));

        let pivot = Site::new(pivot % sites as u16);
        let totals = agree(sites, seed, |mut party| {
            let mut values = inputs[party.me().index()].clone();
            async move { party.sum_to(TEST, pivot, &mut values).await?; Ok(values) }
        });
        prop_assert_eq!(&totals[pivot.index()], &expected);

        // Modulo a smaller power of two.
        let most = u64::MAX >> (seed % 64);
        let bytes = 8 - most.leading_zeros() / 8;
        let low_bytes = u64::MAX >> (64 - 8 * bytes);
        let totals = agree(sites, seed, |mut party| {
            let mut values = inputs[party.me().index()].clone();
            async move { party.narrow_sum_to(TEST, pivot, most, &mut values).await?; Ok(values) }
        });
        if sites > 1 {
            let low: Vec<u64> = expected.iter().map(|sum| sum & low_bytes).collect();
            prop_assert_eq!(&totals[pivot.index()], &low);
        }

        let told = agree(sites, seed, |mut party| {
            let mut values = inputs[party.me().index()].clone();
            async move { party.tell(TEST, pivot, &mut values).await?; Ok(values) }
        });
        prop_assert!(told.iter().all(|values| *values == inputs[pivot.index()]));
    }

    #[test]
    fn all_and_any_agree(inputs in per_site(prop::bool::weighted(0.8), 300), seed: u64) {
        let answers = agree(inputs.len(), seed, |mut party| {
            let mut all = inputs[party.me().index()].clone();
            let mut any: Vec<bool> = all.iter().map(|bit| !bit).collect();
            async move {
                party.all(TEST, &mut all).await?;
                party.any(TEST, &mut any).await?;
                Ok((all, any))
            }
        });
        for index in 0..inputs[0].len() {
            let expected = inputs.iter().all(|input| input[index]);
            prop_assert!(answers.iter().all(|(all, any)| all[index] == expected && any[index] != expected));
        }
    }

    #[test]
    fn lowest_common_ancestors_agree(
        shapes in prop::collection::vec(prop::collection::vec(any::<u32>(), 1..12), 1..4),
        questions in per_site(prop::option::weighted(0.8, any::<u32>()), 12),
        seed: u64,
    ) {
        let trees: Vec<Tree> = shapes
            .iter()
            .map(|shape| {
                let parent = |(node, &any): (usize, &u32)| if node == 0 { 0 } else { any % node as u32 };
                Tree::new(shape.iter().enumerate().map(parent).collect()).unwrap()
            })
            .collect();
        let tree_of = |index: usize| index % trees.len();
        let nodes: Vec<Vec<Option<u32>>> = questions
            .iter()
            .map(|site| {
                let node = |(index, any): (usize, &Option<u32>)| {
                    any.map(|any| any % trees[tree_of(index)].len() as u32)
                };
                site.iter().enumerate().map(node).collect()
            })
            .collect();
        let answers = agree(nodes.len(), seed, |mut party| {
            let mut own = nodes[party.me().index()].clone();
            let trees = &trees;
            async move { party.lca(TEST, trees, |index| index % trees.len(), &mut own).await?; Ok(own) }
        });
        for index in 0..nodes[0].len() {
            let held: Vec<u32> = nodes.iter().filter_map(|site| site[index]).collect();
            let shape = &shapes[tree_of(index)];
            let path = |mut node: u32| {
                let mut path = vec![node];
                while node != 0 { node = shape[node as usize] % node; path.push(node); }
                path
            };
            let common = held.iter().map(|&node| path(node)).reduce(|left, right| {
                left.into_iter().filter(|node| right.contains(node)).collect()
            });
            let expected = common.map(|path| path[0]);
            prop_assert!(answers.iter().all(|answer| answer[index] == expected));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn comparisons_agree(
        inputs in per_site(0..40u64, 70),
        thresholds in prop::collection::vec(0..400u64, 70),
        seed: u64,
    ) {
        let bound = 39 * inputs.len() as u64;
        let sums: Vec<u64> = (0..inputs[0].len())
            .map(|index| inputs.iter().map(|input| input[index]).sum())
            .collect();
        // Some thresholds at the sum, beside it, and at the ends.
        let thresholds: Vec<u64> = sums
            .iter()
            .zip(&thresholds)
            .map(|(&sum, &any)| match any % 6 {
                0 => sum,
                1 => sum + 1,
                2 => sum.saturating_sub(1),
                3 => [0, bound, bound + 1, u64::MAX][any as usize / 6 % 4],
                _ => any,
            })
            .collect();
        let answers = agree(inputs.len(), seed, |mut party| {
            let counts = &inputs[party.me().index()];
            let thresholds = &thresholds;
            let mut answers = vec![false; counts.len()];
            async move {
                party.at_least(TEST, bound, counts, thresholds, &mut answers).await?;
                Ok(answers)
            }
        });
        let expected: Vec<bool> = sums.iter().zip(&thresholds).map(|(sum, least)| sum >= least).collect();
        prop_assert!(answers.iter().all(|answer| *answer == expected));
    }

    #[test]
    fn wide_comparisons_agree(
        inputs in (2..=5usize).prop_flat_map(|sites| prop::collection::vec(prop::collection::vec(0..1u64 << 58, 9), sites)),
        shifts in prop::collection::vec(-2..=2i64, 9),
        bits in 1..=62u32,
        seed: u64,
    ) {
        let bound = if bits == 62 { 1 << 62 } else { (1 << bits) - 1 };
        let sites = inputs.len() as u64;
        let inputs: Vec<Vec<u64>> = inputs
            .iter()
            .map(|input| input.iter().map(|value| value % (bound / sites + 1)).collect())
            .collect();
        let sums: Vec<u64> = (0..9).map(|index| inputs.iter().map(|input| input[index]).sum()).collect();
        let thresholds: Vec<u64> =
            sums.iter().zip(&shifts).map(|(sum, &shift)| sum.saturating_add_signed(shift)).collect();
        let outcome = Simulation::new(inputs.len(), seed).run(|mut party| {
            let counts = &inputs[party.me().index()];
            let thresholds = &thresholds;
            async move {
                let mut answers = [false; 9];
                party.at_least(TEST, bound, counts, thresholds, &mut answers).await?;
                Ok::<_, Error>(answers)
            }
        });
        for answers in outcome.into_values().unwrap() {
            for index in 0..9 {
                prop_assert_eq!(answers[index], sums[index] >= thresholds[index]);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn extremes_agree(
        inputs in per_site(prop::option::weighted(0.7, any::<u64>()), 12),
        sizes in prop::collection::vec(prop_oneof![Just(1u64), Just(2), 1..300u64, Just(1 << 40)], 12),
        start in prop_oneof![Just(0u64), Just(1000)],
        seed: u64,
    ) {
        let domain_of = |index: usize| start..=start + sizes[index] - 1;
        let inputs: Vec<Vec<Option<u64>>> = inputs
            .iter()
            .map(|site| {
                let fit = |(index, value): (usize, &Option<u64>)| value.map(|value| start + value % sizes[index]);
                site.iter().enumerate().map(fit).collect()
            })
            .collect();
        let answers = agree(inputs.len(), seed, |mut party| {
            let own = inputs[party.me().index()].clone();
            let domain_of = &domain_of;
            async move {
                let (mut low, mut high) = (own.clone(), own.clone());
                party.minimum(TEST, domain_of, &mut low).await?;
                party.maximum(TEST, domain_of, &mut high).await?;
                let mut ranges: Vec<_> = own.iter().map(|value| value.map(|value| (value, value))).collect();
                party.ranges(TEST, domain_of, &mut ranges).await?;
                Ok((low, high, ranges))
            }
        });
        for index in 0..inputs[0].len() {
            let held = inputs.iter().filter_map(|site| site[index]);
            let (low, high) = (held.clone().min(), held.max());
            for answer in &answers {
                prop_assert_eq!(answer.0[index], low);
                prop_assert_eq!(answer.1[index], high);
                prop_assert_eq!(answer.2[index], low.zip(high));
            }
        }
    }

    #[test]
    fn kth_elements_agree(
        records in (1..=9usize, 1..5usize).prop_flat_map(|(sites, questions)| {
            let multiset = prop::collection::vec(any::<u64>(), 0..12);
            prop::collection::vec(prop::collection::vec(multiset, questions), sites)
        }),
        size in prop_oneof![Just(1u64), 2..6u64, Just(1000)],
        any_rank in prop::collection::vec(0..30u64, 5),
        seed: u64,
    ) {
        // Small domains give ties; ranks at both ends and beyond are among the questions.
        let records: Vec<Vec<Vec<u64>>> = records
            .iter()
            .map(|site| site.iter().map(|all| all.iter().map(|value| 7 + value % size).collect()).collect())
            .collect();
        let united: Vec<Vec<u64>> = (0..records[0].len())
            .map(|index| {
                let mut all: Vec<u64> = records.iter().flat_map(|site| site[index].clone()).collect();
                all.sort_unstable();
                all
            })
            .collect();
        let ranks: Vec<Rank> = united
            .iter()
            .zip(&any_rank)
            .map(|(all, &any)| {
                let count = all.len() as u64;
                let rank = match any % 5 { 0 => 1, 1 => count, 2 => count + 1, 3 => count.div_ceil(2), _ => any };
                Rank { rank, domain: 7..=6 + size }
            })
            .collect();
        let total = united.iter().map(Vec::len).max().unwrap_or(0) as u64;
        let answers = agree(records.len(), seed, |mut party| {
            let own = &records[party.me().index()];
            let ranks = &ranks;
            async move {
                let at_most = |index: usize, value| own[index].iter().filter(|&&record| record <= value).count() as u64;
                let mut answers = vec![None; ranks.len()];
                party.kth(TEST, total, ranks, at_most, &mut answers).await?;
                Ok(answers)
            }
        });
        for (index, (all, Rank { rank, domain })) in united.iter().zip(&ranks).enumerate() {
            let expected = match rank.checked_sub(1) {
                None => Some(*domain.start()),
                Some(place) => all.get(place as usize).copied(),
            };
            prop_assert!(answers.iter().all(|answer| answer[index] == expected));
        }
    }
}

/// A random item, for the published union.
fn decoy(generator: &mut Generator) -> Vec<u8> {
    generator.below(1 << 16).to_le_bytes()[..3].to_vec()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn unions_agree(
        inputs in (1..=9usize).prop_flat_map(|sites| {
            let items = prop::collection::vec(prop::collection::vec(0..4u8, 3), 0..6);
            prop::collection::vec(items, sites)
        }),
        seed: u64,
    ) {
        let answers = agree(inputs.len(), seed, |mut party| {
            let mut items = inputs[party.me().index()].clone();
            async move {
                let shape = Items { width: 3, capacity: 6, domain: 256.0, decoy: &decoy };
                party.union(TEST, &shape, &mut items).await?;
                Ok(items)
            }
        });
        let mut expected = inputs.concat();
        expected.sort_unstable();
        prop_assert!(answers.iter().all(|answer| *answer == expected));
    }

    #[test]
    fn overlaps_agree(
        rows in prop::collection::vec(prop::collection::vec(0..4u32, 5), 1..12),
        sites in 1..=5usize,
        without in prop::option::of(0..5usize),
        seed: u64,
    ) {
        // Classes numbered by first appearance; one site may have none.
        let class_of: Vec<Vec<u32>> = (0..sites)
            .map(|site| {
                let mut seen = Vec::new();
                let number = |row: &Vec<u32>| {
                    let at = seen.iter().position(|found| *found == row[site]);
                    at.unwrap_or_else(|| { seen.push(row[site]); seen.len() - 1 }) as u32
                };
                if without == Some(site) && sites > 1 { Vec::new() } else { rows.iter().map(number).collect() }
            })
            .collect();
        let answer = |mut party: Party| {
            let own = &class_of[party.me().index()];
            let records = rows.len();
            async move { party.overlaps(TEST, records, own).await }
        };
        let mut expected: BTreeMap<Vec<Option<u32>>, u64> = BTreeMap::new();
        for record in 0..rows.len() {
            let cell = class_of.iter().map(|of| of.get(record).copied()).collect();
            *expected.entry(cell).or_default() += 1;
        }
        for settings in [Settings::hardened(), Settings::published()] {
            let simulation = Simulation::new(sites, seed).settings(settings);
            let ideal: Result<Vec<_>, Error> = simulation.run_ideal(answer).into_iter().collect();
            for found in [simulation.run(answer).into_values().unwrap(), ideal.unwrap()] {
                let cells: BTreeMap<Vec<Option<u32>>, u64> = found[0].cells.iter().map(|(cell, records)| {
                    let own = cell.iter().zip(&found).map(|(class, site)| {
                        site.own.iter().position(|place| place == class).map(|at| at as u32)
                    });
                    (own.collect(), *records)
                }).collect();
                prop_assert_eq!(&cells, &expected);
                for site in &found {
                    prop_assert_eq!(&site.cells, &found[0].cells);
                    prop_assert_eq!(&site.classes, &found[0].classes);
                }
            }
        }
    }

    #[test]
    fn rows_agree(
        rows in prop::collection::vec(prop::collection::vec(any::<u8>(), 12), 0..10),
        cut in 0..10usize,
        sites in 1..=4usize,
        seed: u64,
    ) {
        // Site s has s columns of each row, the first none.
        let widths: Vec<usize> = (0..sites).collect();
        let from = |site: usize| site * site.saturating_sub(1) / 2;
        let cut = cut.min(rows.len());
        let stretches = [cut as u64, (rows.len() - cut) as u64];
        let found = agree(sites, seed, |mut party| {
            let site = party.me().index();
            let own = rows.iter().map(|row| row[from(site)..from(site + 1)].to_vec()).collect();
            let (widths, stretches) = (&widths, &stretches);
            async move { party.rows(TEST, widths, stretches, own).await }
        });
        let mut expected: Vec<Vec<u8>> = rows.iter().map(|row| row[..from(sites)].to_vec()).collect();
        expected[..cut].sort();
        expected[cut..].sort();
        prop_assert!(found.iter().all(|found| *found == expected));
    }

    #[test]
    fn alignments_agree(
        masks in prop::collection::vec(any::<u16>(), 0..14),
        sites in 1..=9usize,
        order in prop::collection::vec(any::<u64>(), 14),
        seed: u64,
    ) {
        // Identifier i is held by the sites whose bit is set in its mask, in any order of its own.
        let held: Vec<Vec<Vec<u8>>> = (0..sites)
            .map(|site| {
                let mut own: Vec<usize> =
                    (0..masks.len()).filter(|&item| item % 3 == 0 || masks[item] >> site & 1 == 1).collect();
                own.sort_by_key(|&item| order[item].rotate_left(site as u32));
                own.iter().map(|item| format!("record {item}").into_bytes()).collect()
            })
            .collect();
        let answer = |mut party: Party| {
            let own = &held[party.me().index()];
            async move {
                let identifiers: Vec<&[u8]> = own.iter().map(Vec::as_slice).collect();
                let mut common = Vec::new();
                party.align(TEST, 100, &identifiers, &mut common).await?;
                Ok::<_, Error>(common.iter().map(|&place| own[place].clone()).collect::<Vec<_>>())
            }
        };
        for settings in [Settings::hardened(), Settings::published()] {
            let outcome = Simulation::new(sites, seed).settings(settings).run(answer);
            let answers = outcome.into_values().unwrap();
            prop_assert!(answers.iter().all(|answer| *answer == answers[0]), "one order");
        }
        let sorted = |mut party: Party| {
            let own = &held[party.me().index()];
            async move {
                let identifiers: Vec<&[u8]> = own.iter().map(Vec::as_slice).collect();
                let mut common = Vec::new();
                party.align(TEST, 100, &identifiers, &mut common).await?;
                common.sort_unstable();
                Ok::<_, Error>(common)
            }
        };
        let answers = agree(sites, seed, sorted);
        for (own, common) in held.iter().zip(answers) {
            let expected: Vec<usize> =
                (0..own.len()).filter(|&place| held.iter().all(|site| site.contains(&own[place]))).collect();
            prop_assert_eq!(common, expected);
        }
    }
}
