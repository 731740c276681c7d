//! published = hardened = ideal, for 1 to 9 sites and all lengths.

use hedgerow_smc::Site;
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
}
