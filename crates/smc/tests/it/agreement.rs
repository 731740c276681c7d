//! published = hardened = ideal, for 1 to 9 sites and all lengths.

use hedgerow_smc::{Site, Tree};
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
