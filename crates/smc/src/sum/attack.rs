//! The attack of colluding sites on the hardened sum, written out.
//!
//! Colluders pool every mask they share with a victim and take them off what the victim sent. With m - 1
//! colluders this leaves the victim's values; with m - 2 the mask between the two honest sites stays on,
//! and the rest is uniform whatever the honest sites hold.
//!
//! # Discloses
//! Nothing: a test.

use crate::masking::masked_with;
use crate::memory::Simulation;
use crate::network::Site;
use crate::party::{Engine, Party};
use crate::random::Purpose;
use crate::settings::{Settings, Shape};
use crate::wire::{HEADER_BYTES, Primitive, unpack};
use crate::{Error, What};

use super::add_masks;

const COUNT: usize = 4_000;
const TEST: What = What::new("sums", "the test");

/// The masks that a site shares with `victim` in the call that comes next, as the victim adds them.
fn masks_with(party: &Party, victim: Site) -> Vec<u64> {
    let Engine::Joined(joined) = &party.engine else {
        panic!("a joined party")
    };
    let next = joined.link.next_bound();
    let mut stream = joined.pair(victim).stream(Purpose::SumMask, &next, 0);
    let adds = victim < party.me();
    (0..COUNT)
        .map(|_| {
            if adds {
                stream.word()
            } else {
                stream.word().wrapping_neg()
            }
        })
        .collect()
}

/// The rest of the victim's vector at the colluders, with these inputs at the honest sites.
fn residue(colluders: &[usize], inputs: [u64; 5]) -> Vec<u64> {
    let victim = Site::new(1);
    let outcome = Simulation::new(5, 11)
        .recording()
        .run(|mut party| async move {
            let known = (party.me() != victim).then(|| masks_with(&party, victim));
            let mut values = vec![inputs[party.me().index()]; COUNT];
            party.sum(TEST, &mut values).await?;
            Ok::<_, Error>(known)
        });
    let witness = Site::new(colluders[0] as u16);
    let view = outcome.view(witness);
    let sent = view
        .iter()
        .rfind(|frame| frame.from == victim)
        .expect("a masked vector");
    let vector = sent.bytes[HEADER_BYTES..].to_vec();
    let mut left: Vec<u64> = unpack(&vector, COUNT, 8).expect("words").collect();
    for (site, known) in outcome
        .into_values()
        .expect("no fault")
        .into_iter()
        .enumerate()
    {
        if let Some(known) = known.filter(|_| colluders.contains(&site)) {
            left.iter_mut()
                .zip(known)
                .for_each(|(word, mask)| *word = word.wrapping_sub(mask));
        }
    }
    left
}

/// Chi-square of the bytes against the uniform distribution; 255 degrees of freedom.
fn chi_square(words: &[u64]) -> f64 {
    let mut counts = [0u32; 256];
    words
        .iter()
        .flat_map(|word| word.to_le_bytes())
        .for_each(|byte| counts[usize::from(byte)] += 1);
    let expected = words.len() as f64 * 8.0 / 256.0;
    counts
        .iter()
        .map(|&count| (f64::from(count) - expected).powi(2) / expected)
        .sum()
}

/// Of 140 sites in a star, what is left of the victim's vector at the hub when it and these pool the
/// masks that they share with the victim. Two honest sites hold the numbers.
fn residue_on_the_circle(spare: Option<usize>, numbers: [u64; 2]) -> Vec<u64> {
    let (sites, hub, victim) = (140, Site::new(0), Site::new(17));
    let settings = Settings {
        shape: Shape::Star,
        ..Settings::hardened()
    };
    let outcome = Simulation::new(sites, 12)
        .settings(settings)
        .recording()
        .run(|mut party| async move {
            let Engine::Joined(joined) = &party.engine else {
                panic!("a joined party")
            };
            let near = masked_with(victim, sites, &joined.session);
            let place = near.iter().position(|site| *site == party.me());
            let known = place.filter(|place| Some(*place) != spare);
            let known = known.map(|_| masks_with(&party, victim));
            let number = match place {
                _ if party.me() == victim => numbers[0],
                Some(place) if Some(place) == spare => numbers[1],
                _ => 5,
            };
            let mut values = vec![number; COUNT];
            party.sum(TEST, &mut values).await?;
            Ok::<_, Error>((known, values[0]))
        });
    let view = outcome.view(hub);
    let sent = view.iter().rfind(|frame| frame.from == victim);
    let vector = sent.expect("a masked vector").bytes[HEADER_BYTES..].to_vec();
    let mut left: Vec<u64> = unpack(&vector, COUNT, 8).expect("words").collect();
    let values = outcome.into_values().expect("no fault");
    let others = if spare.is_some() {
        sites - 2
    } else {
        sites - 1
    } as u64;
    let whole = numbers[0] + spare.map_or(0, |_| numbers[1]) + 5 * others;
    for (known, sum) in values {
        assert_eq!(sum, whole);
        for (word, mask) in left.iter_mut().zip(known.unwrap_or_default()) {
            *word = word.wrapping_sub(mask);
        }
    }
    left
}

#[test]
fn all_neighbours_on_the_circle_together_recover_the_victim() {
    let left = residue_on_the_circle(None, [77, 0]);
    assert!(left.iter().all(|&word| word == 77));
}

#[test]
fn all_neighbours_on_the_circle_but_one_are_left_with_noise() {
    for numbers in [[77, 3], [3, 77]] {
        for spare in [0, 31, 59] {
            let left = residue_on_the_circle(Some(spare), numbers);
            assert!(left.iter().all(|&word| word != 77 && word != 3));
            assert!(chi_square(&left) < 368.0, "{}", chi_square(&left));
        }
    }
}

#[test]
fn all_others_together_recover_the_victim() {
    let left = residue(&[0, 2, 3, 4], [5, 77, 1, 2, 3]);
    assert!(left.iter().all(|&word| word == 77));
}

#[test]
fn all_others_but_one_are_left_with_noise() {
    // The honest sites 1 and 4 hold 77 and 3, or 3 and 77: the sum, hence the output, is the same.
    for inputs in [[5, 77, 1, 2, 3], [5, 3, 1, 2, 77]] {
        let left = residue(&[0, 2, 3], inputs);
        assert!(left.iter().all(|&word| word != 77 && word != 3));
        // 255 + 5 standard deviations.
        assert!(chi_square(&left) < 368.0, "{}", chi_square(&left));
    }
}

/// All masks of five sites in the call that comes next, added up; one may have been told other answers.
fn masks_together(odd: Option<usize>) -> Vec<u64> {
    let outcome = Simulation::new(5, 13).run(|mut party| async move {
        let is_odd = odd == Some(party.me().index());
        let Engine::Joined(joined) = &mut party.engine else {
            panic!("a joined party")
        };
        joined.link.opened_words(&[35 + u64::from(is_odd)]);
        joined.link.begin(Primitive::Sum, 0)?;
        let mut masks = vec![0; 50];
        add_masks(joined, Purpose::SumMask, &mut masks);
        Ok::<_, Error>(masks)
    });
    let mut all = vec![0u64; 50];
    for masks in outcome.into_values().expect("no fault") {
        for (sum, mask) in all.iter_mut().zip(masks) {
            *sum = sum.wrapping_add(mask);
        }
    }
    all
}

#[test]
fn after_another_total_masks_no_longer_cancel() {
    assert_eq!(masks_together(None), [0; 50]);
    for odd in 0..5 {
        assert!(masks_together(Some(odd)).iter().all(|&sum| sum != 0));
    }
}
