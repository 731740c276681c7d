//! Disjunctions of comparisons: the answers, the rounds, and what the site that tells them sees.

use hedgerow_smc::error::OwnConfig;
use hedgerow_smc::memory::Simulation;
use hedgerow_smc::wire::{HEADER_BYTES, Header};
use hedgerow_smc::{Error, Site};
use proptest::prelude::*;

use crate::harness::{TEST, agree};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn disjunctions_agree(
        inputs in (3..=6usize).prop_flat_map(|sites| prop::collection::vec(prop::collection::vec(0u64..40, 12), sites)),
        shifts in prop::collection::vec(-1..=9i64, 12),
        cuts in prop::collection::vec(0..=12usize, 0..5),
        seed: u64,
    ) {
        let sums: Vec<u64> = (0..12).map(|at| inputs.iter().map(|own| own[at]).sum()).collect();
        let thresholds: Vec<u64> = sums.iter().zip(&shifts).map(|(sum, shift)| sum.saturating_add_signed(*shift)).collect();
        let mut ends = cuts;
        ends.push(12);
        ends.sort_unstable();
        let starts = [0].into_iter().chain(ends.iter().copied());
        let ranges: Vec<_> = starts.zip(&ends).map(|(from, to)| from..*to).collect();
        let groups: Vec<usize> = ranges.iter().map(ExactSizeIterator::len).collect();
        let expected: Vec<bool> = ranges
            .iter()
            .map(|range| range.clone().any(|at| sums[at] >= thresholds[at]))
            .collect();
        let answers = agree(inputs.len(), seed, |mut party| {
            let (own, thresholds, groups) = (&inputs[party.me().index()], &thresholds, &groups);
            async move {
                let mut answers = vec![false; groups.len()];
                party.any_at_least(TEST, 500, own, thresholds, groups, &mut answers).await?;
                Ok(answers)
            }
        });
        prop_assert!(answers.iter().all(|answer| *answer == expected));
    }
}

/// A frame: who sent it to whom, and its payload.
type Sent = (usize, usize, Vec<u8>);

/// The frames of the call, by who sent them to whom and with how many bytes; and the ledgers.
fn frames(counts: [u64; 4]) -> (Vec<Sent>, Vec<String>, u32) {
    let run = Simulation::new(4, 8)
        .recording()
        .run(|mut party| async move {
            let own = counts.map(|count| count * (1 + party.me().index() as u64));
            let mut answers = [false];
            party
                .any_at_least(TEST, 100, &own, &[30, 30, 30, 30], &[4], &mut answers)
                .await?;
            assert_eq!(answers, [counts.iter().any(|count| count * 10 >= 30)]);
            Ok::<_, Error>(party.ledger().to_string())
        });
    let mut found = Vec::new();
    for to in Site::all(4) {
        for frame in run.view(to) {
            if Header::decode(&frame.bytes).unwrap().call == 1 {
                let payload = frame.bytes[HEADER_BYTES..].to_vec();
                found.push((frame.from.index(), to.index(), payload));
            }
        }
    }
    let rounds = run.traffic.rounds;
    (found, run.into_values().unwrap(), rounds)
}

/// How many comparisons of a group hold, and which, changes nothing that a site can tell apart: neither
/// its ledger nor the frames it gets, but for bytes that are masked or digests under a key it has not.
#[test]
fn one_that_holds_looks_like_all_that_hold() {
    let (one, one_ledger, rounds) = frames([0, 3, 0, 0]);
    let (all, all_ledger, _) = frames([9, 9, 9, 9]);
    assert_eq!(rounds, 2 + 3);
    assert_eq!(one_ledger, all_ledger);
    let shape = |frames: &[Sent]| -> Vec<(usize, usize, usize)> {
        let frames = frames.iter();
        frames
            .map(|(from, to, bytes)| (*from, *to, bytes.len()))
            .collect()
    };
    assert_eq!(shape(&one), shape(&all));
    // The judge gets two digests, and nothing with which to tell them from random ones.
    let digests: Vec<_> = one
        .iter()
        .chain(&all)
        .filter(|(_, _, bytes)| bytes.len() == 16)
        .collect();
    assert!(digests.len() >= 4, "{digests:?}");
    for (place, (_, _, digest)) in digests.iter().enumerate() {
        let others = digests.iter().skip(place + 1);
        // The dealer sends the same words to two sites, and no digest comes twice.
        assert!(others.filter(|(_, _, other)| other == digest).count() <= 1);
    }
}

#[test]
fn what_cannot_be_asked_is_refused() {
    let run = Simulation::new(2, 1).run(|mut party| async move {
        party
            .any_at_least(TEST, 9, &[1], &[2], &[1], &mut [false])
            .await
    });
    assert_eq!(
        run.into_values().unwrap_err(),
        Error::OwnConfig(OwnConfig::Disjunction)
    );
    let run = Simulation::new(3, 1).run(|mut party| async move {
        let mut answers = [false];
        let long = party
            .any_at_least(TEST, 9, &[1], &[2], &[2], &mut answers)
            .await;
        let many = party
            .any_at_least(TEST, 9, &[1, 1], &[2, 2], &[1, 1], &mut answers)
            .await;
        let lengths = |left, right| Err(Error::OwnConfig(OwnConfig::Lengths { left, right }));
        assert_eq!(long, lengths(1, 2));
        assert_eq!(many, lengths(2, 1));
        Ok::<_, Error>(())
    });
    run.into_values().unwrap();
}
