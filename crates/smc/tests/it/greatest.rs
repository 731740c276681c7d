//! Which site has the greatest number, and what each site tells all others: the answers, the rounds, the
//! bytes, and that numbers which do not win leave no trace.

use hedgerow_smc::error::{OwnConfig, OwnData};
use hedgerow_smc::memory::Simulation;
use hedgerow_smc::{Error, Site};
use proptest::prelude::*;

use crate::harness::{TEST, agree};

fn first_greatest(inputs: &[Vec<u64>], contend: &[usize], place: usize) -> u64 {
    let mut best = contend[0];
    for site in contend {
        if inputs[*site][place] > inputs[best][place] {
            best = *site;
        }
    }
    best as u64
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Any number of sites, of which some contend, with numbers of 1 to 20 bits, many of them equal.
    #[test]
    fn the_greatest_is_found(
        words in (2..=6usize).prop_flat_map(|sites| prop::collection::vec(prop::collection::vec(any::<u64>(), 9), sites)),
        bits in 0..=20u32,
        bound_less in 0..3u64,
        contending in 1..64usize,
        seed: u64,
    ) {
        let bound = (1u64 << bits).saturating_sub(bound_less).max(1);
        let few = bound.min(4);
        let scaled = |(place, word): (usize, &u64)| match place % 3 {
            // Near the bound, near zero, anywhere.
            0 => bound - word % few,
            1 => word % few,
            _ => word % (bound + 1),
        };
        let inputs: Vec<Vec<u64>> = words.iter().map(|own| own.iter().enumerate().map(scaled).collect()).collect();
        let sites = inputs.len();
        let mut contend: Vec<usize> = (0..sites).filter(|site| contending >> site & 1 == 1).collect();
        if contend.is_empty() {
            contend.push(sites - 1);
        }
        let expected: Vec<u64> = (0..9).map(|place| first_greatest(&inputs, &contend, place)).collect();
        let contend: Vec<Site> = contend.into_iter().map(|site| Site::new(site as u16)).collect();
        let answers = agree(sites, seed, |mut party| {
            let (own, contend) = (&inputs[party.me().index()], &contend);
            async move {
                let mut answers = vec![0; own.len()];
                party.greatest(TEST, bound, contend, own, &mut answers).await?;
                Ok(answers)
            }
        });
        prop_assert!(answers.iter().all(|answer| *answer == expected));
    }

    /// Every site tells its own numbers, some sites none.
    #[test]
    fn each_tells_all(
        told in prop::collection::vec(prop::collection::vec((1..=64u8, any::<u64>()), 0..12), 2..5usize),
        seed: u64,
    ) {
        let bits: Vec<Vec<u8>> = told.iter().map(|own| own.iter().map(|(bits, _)| *bits).collect()).collect();
        let cut = |(bits, word): &(u8, u64)| word >> (64 - bits);
        let numbers: Vec<Vec<u64>> = told.iter().map(|own| own.iter().map(cut).collect()).collect();
        let answers = agree(told.len(), seed, |mut party| {
            let (bits, own) = (&bits, &numbers[party.me().index()]);
            async move { party.tell_each(TEST, bits, own).await }
        });
        prop_assert!(answers.iter().all(|answer| *answer == numbers.concat()));
    }
}

/// Rounds and bytes of a thousand questions, beyond what joining takes.
fn cost(sites: usize, bound: u64) -> (u32, u64) {
    let of = |questions: usize| {
        let run = Simulation::new(sites, 3).run(|mut party| async move {
            let contend: Vec<Site> = Site::all(party.sites()).collect();
            let own = vec![party.me().index() as u64; questions];
            let mut answers = vec![0; questions];
            party
                .greatest(TEST, bound, &contend, &own, &mut answers)
                .await?;
            assert!(answers.iter().all(|site| *site as usize == sites - 1));
            Ok::<_, Error>(())
        });
        let traffic = run.traffic.clone();
        run.into_values().unwrap();
        (traffic.rounds, traffic.bytes())
    };
    let (rounds, bytes) = of(1024);
    (rounds, bytes - of(0).1)
}

#[test]
fn rounds_and_bytes() {
    // Eight bits: eight transfers of 16 bytes, 256 answers, one bit back.
    let (rounds, bytes) = cost(2, 255);
    assert_eq!(bytes, 1024 * (8 * 16 + 32) + 128);
    assert_eq!(
        rounds,
        cost(2, 1 << 20).0,
        "three rounds, like a comparator"
    );
    let (rounds, bytes) = cost(3, 150);
    assert_eq!(rounds, 2 + 3);
    assert_eq!(cost(4, 150).0, 2 + 3);
    assert!(bytes < 1024 * 260, "{} each", bytes / 1024);
}

/// What a site sees is the answer: numbers that lose may change without a change of any ledger, and of
/// no frame's length.
#[test]
fn losing_numbers_leave_no_trace() {
    for sites in [2usize, 3, 5] {
        let run = |others: u64| {
            let run = Simulation::new(sites, 8)
                .recording()
                .run(|mut party| async move {
                    party.keep_values();
                    let contend: Vec<Site> = Site::all(party.sites()).collect();
                    let own = match party.me().index() {
                        1 => [90, 90],
                        site => [others + site as u64, 0],
                    };
                    let mut answers = [0; 2];
                    party
                        .greatest(TEST, 100, &contend, &own, &mut answers)
                        .await?;
                    Ok::<_, Error>(party.ledger().entries()[0].recorded.clone())
                });
            let lengths: Vec<Vec<usize>> = Site::all(sites)
                .map(|site| {
                    run.view(site)
                        .iter()
                        .map(|frame| frame.bytes.len())
                        .collect()
                })
                .collect();
            (lengths, run.into_values().unwrap())
        };
        let (few, many) = (run(0), run(80));
        assert_eq!(few, many);
        assert!(few.1.iter().all(|ledger| *ledger == Some(vec![1, 1])));
    }
}

#[test]
fn what_cannot_be_asked_is_refused_before_anything_is_sent() {
    let run = Simulation::new(3, 1).run(|mut party| async move {
        let contend = [Site::new(0), Site::new(2)];
        let mut answers = [7];
        let above = party.greatest(TEST, 5, &contend, &[6], &mut answers).await;
        assert!(matches!(
            above,
            Err(Error::OwnData(OwnData::AboveBound { index: 0 }))
        ));
        let unknown = [Site::new(0), Site::new(3)];
        let unknown = party.greatest(TEST, 5, &unknown, &[5], &mut answers).await;
        assert!(matches!(
            unknown,
            Err(Error::OwnConfig(OwnConfig::NoSuchSite { .. }))
        ));
        let lengths = party
            .greatest(TEST, 5, &contend, &[5, 5], &mut answers)
            .await;
        assert!(matches!(
            lengths,
            Err(Error::OwnConfig(OwnConfig::Lengths { .. }))
        ));
        let wide = party
            .tell_each(TEST, &[vec![2], vec![2], vec![2]], &[4])
            .await;
        assert!(matches!(
            wide,
            Err(Error::OwnData(OwnData::AboveBound { index: 0 }))
        ));
        Ok::<_, Error>(answers)
    });
    assert_eq!(run.into_values().unwrap(), [[7]; 3]);
    // One party is always the greatest.
    let one = Simulation::new(1, 1).run(|mut party| async move {
        let mut answers = [3];
        let me = [Site::new(0)];
        party.greatest(TEST, 5, &me, &[0], &mut answers).await?;
        Ok::<_, Error>(answers)
    });
    assert_eq!(one.into_values().unwrap(), [[0]]);
}
