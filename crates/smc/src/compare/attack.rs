//! The dealer's attack on a comparison, written out.
//!
//! The dealer knows both keys and the mask. If it knew the sum, it could compute the share of the
//! answer that the holder will send; so a share that came as the function gives it would let the
//! dealer test guesses of the sum. The common random bit of holder and keeper takes that away.
//!
//! # Discloses
//! Nothing: a test.

use super::*;
use crate::memory::Simulation;
use crate::party::{Engine, Party};
use crate::wire::{HEADER_BYTES, unpack_bits};
use crate::{Error, What};

const COUNT: usize = 2_000;
const TEST: What = What::new("answers", "the test");

/// The holder's shares as the dealer computes them from the true sum, before the common bit.
fn dealer_s_guess(party: &Party, question: &Question<'_>, sum: u64) -> Vec<bool> {
    let Engine::Joined(joined) = &party.engine else {
        panic!("a joined party")
    };
    let roles = joined.roles();
    let lane = Lane {
        roles,
        bits: question.bits(0),
        places: (0..COUNT).collect(),
    };
    let table = Table::new(0, lane);
    let secrets = table.secrets(joined, &joined.link.next_bound());
    let words = table.comparison.deal(&secrets);
    let roots: Vec<u128> = secrets.iter().map(|secret| secret.roots[0]).collect();
    let masked: Vec<u64> = secrets
        .iter()
        .map(|secret| secret.edge | u64::from(secret.flip) << table.bits)
        .map(|mask| sum.wrapping_sub(question.threshold(0)).wrapping_add(mask) & table.mask())
        .collect();
    let low: Vec<u64> = masked
        .iter()
        .map(|value| value & (table.mask() >> 1))
        .collect();
    let shares = table.comparison.evaluate(false, &roots, &words, &low);
    shares
        .iter()
        .zip(masked)
        .map(|(share, value)| share ^ (value >> table.bits == 0))
        .collect()
}

#[test]
fn the_dealer_cannot_test_guesses_of_the_sum() {
    let own = [300, 20, 7];
    let outcome = Simulation::new(3, 17)
        .recording()
        .run(|mut party| async move {
            let counts = vec![own[party.me().index()]; COUNT];
            let question = Question {
                bounds: 1_000.into(),
                counts: &counts,
                thresholds: &[100; COUNT],
            };
            let [holder, _, judge] = party.roles().expect("three sites");
            let guess = (party.me() == judge).then(|| dealer_s_guess(&party, &question, 327));
            let mut answers = vec![false; COUNT];
            party
                .at_least(TEST, 1_000, &counts, &[100; COUNT], &mut answers)
                .await?;
            assert!(answers.iter().all(|&answer| answer));
            Ok::<_, Error>(guess.map(|guess| (holder, judge, guess)))
        });
    let views: Vec<Vec<_>> = Site::all(3)
        .map(|site| outcome.view(site).into_iter().cloned().collect())
        .collect();
    let found = outcome
        .into_values()
        .expect("no fault")
        .into_iter()
        .flatten()
        .next();
    let (holder, judge, guess) = found.expect("one dealer");
    let sent = views[judge.index()]
        .iter()
        .rfind(|frame| frame.from == holder)
        .expect("a share");
    let share = unpack_bits(&sent.bytes[HEADER_BYTES..], COUNT).expect("bits");
    let right = share
        .zip(guess)
        .filter(|(share, guess)| share == guess)
        .count();
    // Half, within five standard deviations; without the common bit it would be all.
    assert!(right.abs_diff(COUNT / 2) < 112, "{right} of {COUNT}");
}
