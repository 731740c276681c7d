//! Security as tests: simulated transcripts, two worlds, and the attacks written out.

use hedgerow_smc::memory::{Frame, Outcome, Simulation};
use hedgerow_smc::settings::{Ring, Shape};
use hedgerow_smc::wire::{HEADER_BYTES, Header};
use hedgerow_smc::{Error, Generator, Seed, Settings, Site};

use crate::harness::TEST;

/// Payloads of a view after the join, in order.
fn payloads<'f>(view: &[&'f Frame]) -> Vec<(Site, &'f [u8])> {
    let after_join = |frame: &&&Frame| Header::decode(&frame.bytes).unwrap().call > 0;
    view.iter()
        .filter(after_join)
        .map(|frame| (frame.from, &frame.bytes[HEADER_BYTES..]))
        .collect()
}

fn words(bytes: &[u8]) -> Vec<u64> {
    bytes
        .as_chunks::<8>()
        .0
        .iter()
        .map(|chunk| u64::from_le_bytes(*chunk))
        .collect()
}

/// Chi-square of values against the uniform distribution on 0..kinds, in standard deviations
/// above its mean.
fn excess(values: impl Iterator<Item = u8>, kinds: usize) -> f64 {
    let mut counts = vec![0u64; kinds];
    values.for_each(|value| counts[usize::from(value)] += 1);
    let expected = counts.iter().sum::<u64>() as f64 / kinds as f64;
    let statistic: f64 = counts
        .iter()
        .map(|&count| (count as f64 - expected).powi(2) / expected)
        .sum();
    let freedom = kinds as f64 - 1.0;
    (statistic - freedom) / (2.0 * freedom).sqrt()
}

/// No more than chance leaves: five standard deviations.
fn assert_uniform(values: impl Iterator<Item = u8>, kinds: usize, of: &str) {
    let excess = excess(values, kinds);
    assert!(
        excess < 5.0,
        "{of}: {excess} standard deviations from uniform"
    );
}

// (a) A site's transcript is simulated from its input and output alone.

#[test]
fn a_sum_s_transcript_is_simulated_from_input_and_output() {
    const COUNT: usize = 5_000;
    let inputs = [17u64, 4, 1_000_000, 250];
    let outcome = Simulation::new(4, 3)
        .recording()
        .run(|mut party| async move {
            let mut values = vec![inputs[party.me().index()]; COUNT];
            party.sum(TEST, &mut values).await?;
            Ok::<_, Error>(values)
        });
    // What site 0 got, and what it sent (which site 1 got).
    let real: Vec<Vec<u64>> = payloads(&outcome.view(Site::new(0)))
        .iter()
        .map(|(_, bytes)| words(bytes))
        .collect();
    let views = outcome.view(Site::new(1));
    let own = words(
        payloads(&views)
            .iter()
            .find(|(from, _)| from.index() == 0)
            .unwrap()
            .1,
    );
    let output = vec![1_000_271u64; COUNT];

    // The simulator knows what site 0 sent and the output, and no other input.
    let mut generator = Generator::new(&Seed::new([5; 32]));
    let mut simulated: Vec<Vec<u64>> = (0..3)
        .map(|_| (0..COUNT).map(|_| generator.next_u64()).collect())
        .collect();
    for index in 0..COUNT {
        let others = simulated[0][index]
            .wrapping_add(simulated[1][index])
            .wrapping_add(own[index]);
        simulated[2][index] = output[index].wrapping_sub(others);
    }
    for transcript in [&real, &simulated] {
        for vector in transcript {
            assert_uniform(
                vector.iter().flat_map(|word| word.to_le_bytes()),
                256,
                "masked bytes",
            );
        }
        // Any two of the three are uniform together.
        for (left, right) in [(0, 1), (0, 2), (1, 2)] {
            let both = transcript[left].iter().zip(&transcript[right]);
            assert_uniform(
                both.flat_map(|(l, r)| l.wrapping_add(*r).to_le_bytes()),
                256,
                "pairs",
            );
        }
        for index in 0..COUNT {
            let opened = transcript
                .iter()
                .fold(own[index], |sum, vector| sum.wrapping_add(vector[index]));
            assert_eq!(opened, output[index]);
        }
    }
    assert!(
        outcome
            .into_values()
            .unwrap()
            .iter()
            .all(|values| *values == output)
    );
}

/// Runs `all` at five sites and gives the views, by role: who got how many vectors of bytes.
fn conjunction(
    seed: u64,
    bits: &(impl Fn(usize, usize) -> bool + Sync),
    count: usize,
) -> Outcome<Vec<u64>, Error> {
    Simulation::new(5, seed)
        .recording()
        .run(|mut party| async move {
            let me = party.me().index();
            let mut own: Vec<bool> = (0..count).map(|index| bits(me, index)).collect();
            party.keep_values();
            party.all(TEST, &mut own).await?;
            Ok(party.ledger().entries()[0].recorded.clone().unwrap())
        })
}

/// Views of a conjunction that are field elements: what the holder and the judge see.
fn element_views(outcome: &Outcome<Vec<u64>, Error>, count: usize) -> Vec<Vec<Vec<u8>>> {
    (0..5)
        .map(|site| {
            let view = outcome.view(Site::new(site));
            let elements = payloads(&view)
                .into_iter()
                .filter(|(_, bytes)| bytes.len() == count);
            elements.map(|(_, bytes)| bytes.to_vec()).collect()
        })
        .collect()
}

#[test]
fn a_conjunction_s_transcript_is_simulated_from_input_and_output() {
    const COUNT: usize = 20_000;
    // Every fifth answer is yes; the others lack one to five bits.
    let bits =
        |site: usize, index: usize| index.is_multiple_of(5) || (site + index) % 5 < index % 5;
    let outcome = conjunction(21, &bits, COUNT);
    let views = element_views(&outcome, COUNT);
    let judge = views
        .iter()
        .find(|view| view.len() == 2)
        .expect("one judge");
    let holder = views
        .iter()
        .find(|view| view.len() == 3)
        .expect("one holder");
    for vector in holder.iter().chain(judge) {
        assert_uniform(vector.iter().copied(), 251, "elements");
    }
    // The judge's simulator knows the answers only: equal, or a uniform difference.
    let mut generator = Generator::new(&Seed::new([6; 32]));
    let simulated: Vec<u8> = (0..COUNT)
        .map(|index| {
            if index % 5 == 0 {
                0
            } else {
                1 + generator.below(250) as u8
            }
        })
        .collect();
    let real: Vec<u8> = judge[0]
        .iter()
        .zip(&judge[1])
        .map(|(&left, &right)| ((u16::from(left) + 251 - u16::from(right)) % 251) as u8)
        .collect();
    for differences in [&real, &simulated] {
        for (index, &difference) in differences.iter().enumerate() {
            assert_eq!(difference == 0, index % 5 == 0);
        }
        // However many bits were missing, the difference says only that some were.
        for missing in 1..5 {
            let some = differences
                .iter()
                .skip(missing)
                .step_by(5)
                .map(|difference| difference - 1);
            assert_uniform(some, 250, "differences");
        }
    }
}

#[test]
fn a_comparison_s_transcript_is_simulated_from_the_answers() {
    const COUNT: usize = 40_000;
    let outcome = Simulation::new(5, 12)
        .recording()
        .run(|mut party| async move {
            let counts: Vec<u64> = (0..COUNT as u64).map(|index| index % 7).collect();
            let mut answers = vec![false; COUNT];
            party
                .at_least(TEST, 100, &counts, &vec![15; COUNT], &mut answers)
                .await?;
            Ok::<_, Error>(answers)
        });
    let views: Vec<Vec<Vec<u8>>> = Site::all(5)
        .map(|site| {
            let view = outcome.view(site);
            payloads(&view)
                .into_iter()
                .map(|(_, bytes)| bytes.to_vec())
                .collect()
        })
        .collect();
    let answers = outcome.into_values().unwrap().swap_remove(0);
    let packed: Vec<u8> = answers
        .chunks(8)
        .map(|bits| {
            bits.iter()
                .rev()
                .fold(0, |byte, &bit| byte << 1 | u8::from(bit))
        })
        .collect();
    // The simulator draws one share and gets the other from the answers.
    let mut share = vec![0; packed.len()];
    Generator::new(&Seed::new([4; 32])).fill(&mut share);
    let other = share
        .iter()
        .zip(&packed)
        .map(|(share, bits)| share ^ bits)
        .collect();
    let simulated = vec![share, other];
    // Sites without a part in the opening, the dealer among them, see these two and no more.
    let watchers: Vec<_> = views.iter().filter(|view| view.len() == 2).collect();
    assert_eq!(watchers.len(), 3);
    for view in watchers.into_iter().chain([&simulated]) {
        view.iter()
            .for_each(|share| assert_uniform(share.iter().copied(), 256, "shares"));
        let opened: Vec<u8> = view[0]
            .iter()
            .zip(&view[1])
            .map(|(left, right)| left ^ right)
            .collect();
        assert_eq!(opened, packed);
    }
}

// (b) A site that held 0 learns nothing about the others.

#[test]
fn a_site_that_held_0_sees_the_same_in_both_worlds() {
    const COUNT: usize = 20_000;
    for zero in 0..5 {
        let all_others = |site: usize, _: usize| site != zero;
        let no_others = |_: usize, _: usize| false;
        let mut opened = Vec::new();
        for outcome in [
            conjunction(31, &all_others, COUNT),
            conjunction(31, &no_others, COUNT),
        ] {
            let views = element_views(&outcome, COUNT);
            for vector in &views[zero] {
                assert_uniform(vector.iter().copied(), 251, "elements");
            }
            if let [left, right] = views[zero].as_slice() {
                let difference =
                    |(l, r): (&u8, &u8)| ((u16::from(*l) + 251 - u16::from(*r)) % 251 - 1) as u8;
                assert_uniform(left.iter().zip(right).map(difference), 250, "differences");
            }
            opened.push(outcome.into_values().unwrap());
        }
        assert_eq!(opened[0], opened[1]);
        assert!(opened[0][zero].iter().all(|&bit| bit == 0));
    }
}

#[test]
fn of_two_sites_the_one_that_held_0_sees_the_same_in_both_worlds() {
    const COUNT: usize = 100_000;
    for zero in 0..2u16 {
        let mut opened = Vec::new();
        for others in [true, false] {
            let outcome = Simulation::new(2, 5)
                .recording()
                .run(|mut party| async move {
                    let mut bits = vec![others && party.me() != Site::new(zero); COUNT];
                    party.all(TEST, &mut bits).await?;
                    Ok::<_, Error>(bits)
                });
            let view = outcome.view(Site::new(zero));
            // Columns of the extension, or the pads of both messages: all bytes look random.
            let (_, first) = payloads(&view)[0];
            assert_uniform(first.iter().copied(), 256, "transfer");
            opened.push(outcome.into_values().unwrap());
        }
        assert_eq!(opened[0], opened[1]);
    }
}

// (c) Two neighbours break the published ring; the hardened sum's attack is in src/sum/attack.rs.

#[test]
fn the_neighbours_of_a_site_recover_its_input_in_the_published_ring() {
    let inputs = [12u64, 7, 31_337, 99, 4];
    for ring in [Ring::TwoPasses, Ring::OneMask] {
        let settings = Settings {
            ring,
            ..Settings::published()
        };
        let outcome =
            Simulation::new(5, 9)
                .settings(settings)
                .recording()
                .run(|mut party| async move {
                    let mut values = [inputs[party.me().index()]];
                    party.sum(TEST, &mut values).await?;
                    Ok::<_, Error>(party.ring().unwrap().to_vec())
                });
        // TG12's ring has the order of the list, JX08's the order that was drawn for the run.
        let order: Vec<u16> = match (&outcome.results[0], ring) {
            (Ok(drawn), Ring::OneMask) => drawn.iter().map(|site| site.index() as u16).collect(),
            _ => (0..5).collect(),
        };
        // A victim inside the lap: the first of the ring masks and the last ends the lap.
        let [_, before, victim, behind, _] = order[..] else {
            panic!("five sites")
        };
        // What one neighbour sent to the victim, and what the other got from it, lap by lap.
        let lap = |from: u16, to: u16| -> Vec<u64> {
            let view = outcome.view(Site::new(to));
            let from_neighbour = payloads(&view)
                .into_iter()
                .filter(|(site, _)| *site == Site::new(from));
            from_neighbour.map(|(_, bytes)| words(bytes)[0]).collect()
        };
        let (into, out_of) = (lap(before, victim), lap(victim, behind));
        let recovered = into.iter().zip(&out_of).fold(0u64, |sum, (into, out_of)| {
            sum.wrapping_add(out_of.wrapping_sub(*into))
        });
        assert_eq!(recovered, inputs[usize::from(victim)]);
    }
}

#[test]
fn only_the_pivot_sees_a_published_sum() {
    const COUNT: usize = 500;
    for ring in [Ring::TwoPasses, Ring::OneMask] {
        for (sites, pivot) in [(2u16, 0u16), (2, 1), (3, 0), (5, 2), (5, 4)] {
            let settings = Settings {
                ring,
                ..Settings::published()
            };
            let simulation = Simulation::new(usize::from(sites), 60).settings(settings);
            let outcome = simulation.recording().run(|mut party| async move {
                let mut values = vec![party.me().index() as u64 + 1; COUNT];
                party.sum_to(TEST, Site::new(pivot), &mut values).await?;
                Ok::<_, Error>(values)
            });
            for site in (0..sites).filter(|&site| site != pivot) {
                // What a site gets, and what it makes of it and sends on, to whomever.
                let got = outcome.view(Site::new(site));
                let views: Vec<_> = Site::all(usize::from(sites))
                    .map(|other| outcome.view(other))
                    .collect();
                let sent = views.iter().flat_map(|view| payloads(view));
                let sent = sent.filter(|(from, _)| *from == Site::new(site));
                for (from, bytes) in payloads(&got).into_iter().chain(sent) {
                    let of = format!("{from}, site {site} of {sites}, pivot {pivot}, {ring:?}");
                    assert_uniform(bytes.iter().copied(), 256, &of);
                }
            }
            let sum = u64::from(sites * (sites + 1) / 2);
            for (site, values) in outcome.into_values().unwrap().iter().enumerate() {
                let due = if site == usize::from(pivot) { sum } else { 0 };
                assert!(values.iter().all(|&value| value == due));
            }
        }
    }
}

// (d) A comparison opens one bit and nothing else.

#[test]
fn a_comparison_opens_one_bit_only() {
    const COUNT: usize = 3_000;
    // 15 bits of sum: shares of 16 bits, whose bytes must look uniform.
    let (bound, threshold) = (20_000, 5_000);
    for sites in [2usize, 3, 5] {
        let mut ledgers = Vec::new();
        // Two worlds: just at the threshold, and far above it with summands at every site.
        for world in [[5_000u64, 0, 0, 0, 0], [1, 14_300, 3_000, 900, 800]] {
            let outcome =
                Simulation::new(sites, 40 + sites as u64)
                    .recording()
                    .run(|mut party| async move {
                        let own = world[party.me().index()];
                        party.keep_values();
                        let (counts, thresholds) = (vec![own; COUNT], vec![threshold; COUNT]);
                        let mut answers = vec![false; COUNT];
                        party
                            .at_least(TEST, bound, &counts, &thresholds, &mut answers)
                            .await?;
                        Ok::<_, Error>((answers, party.ledger().entries().to_vec()))
                    });
            for site in 0..sites as u16 {
                let view = outcome.view(Site::new(site));
                for (from, bytes) in payloads(&view) {
                    // With two sites the answer itself comes back to site 0.
                    if sites == 2 && site == 0 && bytes.len() == COUNT.div_ceil(8) {
                        continue;
                    }
                    // 3,000 bits fill their bytes.
                    assert_uniform(bytes.iter().copied(), 256, &format!("{from} to {site}"));
                }
            }
            let values = outcome.into_values().unwrap();
            assert!(
                values
                    .iter()
                    .all(|(answers, _)| answers.iter().all(|&answer| answer))
            );
            for (_, entries) in &values {
                assert_eq!(entries.len(), 1);
                assert_eq!(entries[0].values, COUNT);
                assert_eq!(entries[0].recorded.as_ref().unwrap(), &vec![1; COUNT]);
            }
            ledgers.push(
                values
                    .into_iter()
                    .map(|(_, entries)| entries)
                    .collect::<Vec<_>>(),
            );
        }
        assert_eq!(
            ledgers[0], ledgers[1],
            "the ledgers of both worlds are the same"
        );
    }
}

// Alignment tells a site about its common records only.

#[test]
fn whose_uncommon_records_meet_is_hidden() {
    for seed in 0..6 {
        let mut ledgers = Vec::new();
        // Site 1 shares one uncommon record with site 0: "left" in one world, "right" in the other.
        for shared in ["left", "right"] {
            let outcome = Simulation::new(3, seed).run(|mut party| async move {
                let own: [&[u8]; 3] = match party.me().index() {
                    0 => [b"common", b"left", b"right"],
                    1 => [b"common", shared.as_bytes(), b"mine"],
                    _ => [b"common", b"else", b"other"],
                };
                party.keep_values();
                let mut common = Vec::new();
                party.align(TEST, 3, &own, &mut common).await?;
                Ok::<_, Error>((common, party.ledger().clone()))
            });
            let values = outcome.into_values().unwrap();
            assert!(values.iter().all(|(common, _)| *common == [0]));
            ledgers.push(values);
        }
        assert_eq!(ledgers[0], ledgers[1]);
    }
}

// No two calls of a run share a mask: the same question asked twice gives unrelated messages.

/// Asks twice, and checks that what went over each line in both calls differs as two uniform
/// messages do. `kinds` of values per byte: 256, or the size of a field.
fn assert_fresh_masks(outcome: &Outcome<(), Error>, sites: u16, kinds: usize, length: usize) {
    let mut compared = 0;
    for site in Site::all(usize::from(sites)) {
        let view = outcome.view(site);
        let of_call = |number: u32| -> Vec<(Site, &[u8])> {
            let asked = view.iter().filter(|frame| {
                Header::decode(&frame.bytes).is_ok_and(|header| header.call == number)
            });
            asked
                .map(|frame| (frame.from, &frame.bytes[HEADER_BYTES..]))
                .filter(|(_, bytes)| bytes.len() >= length)
                .collect()
        };
        let (first, second) = (of_call(1), of_call(2));
        assert_eq!(first.len(), second.len());
        for ((from, left), (_, right)) in first.iter().zip(&second) {
            assert_ne!(left, right, "{from} to {site}");
            let kinds_16 = kinds as u16;
            let difference =
                |(l, r): (&u8, &u8)| ((u16::from(*l) + kinds_16 - u16::from(*r)) % kinds_16) as u8;
            let of = format!("difference of two calls, {from} to {site}");
            assert_uniform(left.iter().zip(*right).map(difference), kinds, &of);
            compared += 1;
        }
    }
    assert!(compared > 0);
}

#[test]
fn two_sums_share_no_mask() {
    const COUNT: usize = 2_000;
    for shape in [Shape::Mesh, Shape::Star, Shape::Tree] {
        let settings = Settings {
            shape,
            ..Settings::hardened()
        };
        let outcome =
            Simulation::new(4, 51)
                .settings(settings)
                .recording()
                .run(|mut party| async move {
                    for _ in 0..2 {
                        // To one site, so that no sum is on the lines.
                        let mut values = vec![party.me().index() as u64; COUNT];
                        party.sum_to(TEST, Site::new(1), &mut values).await?;
                    }
                    Ok(())
                });
        assert_fresh_masks(&outcome, 4, 256, COUNT);
    }
    let outcome = Simulation::new(4, 52)
        .recording()
        .run(|mut party| async move {
            for _ in 0..2 {
                let mut values = vec![party.me().index() as u64; COUNT];
                party.sum(TEST, &mut values).await?;
            }
            Ok(())
        });
    assert_fresh_masks(&outcome, 4, 256, COUNT);
}

#[test]
fn two_conjunctions_share_no_mask() {
    const COUNT: usize = 20_000;
    let outcome = Simulation::new(5, 53)
        .recording()
        .run(|mut party| async move {
            for _ in 0..2 {
                let me = party.me().index();
                let mut bits: Vec<bool> = (0..COUNT).map(|at| (at + me) % 7 > 2).collect();
                party.all(TEST, &mut bits).await?;
            }
            Ok(())
        });
    // What is shorter than an element per question is the answers.
    assert_fresh_masks(&outcome, 5, 251, COUNT);
}

#[test]
fn two_comparisons_share_no_mask() {
    const COUNT: usize = 6_000;
    for sites in [3u16, 5] {
        let outcome =
            Simulation::new(usize::from(sites), 54)
                .recording()
                .run(|mut party| async move {
                    for _ in 0..2 {
                        let me = party.me().index() as u64;
                        let counts: Vec<u64> =
                            (0..COUNT as u64).map(|at| at * 5 % 997 + me).collect();
                        let mut answers = vec![false; COUNT];
                        // 15 bits of sum fill shares of 16.
                        party
                            .at_least(TEST, 20_000, &counts, &vec![1_500; COUNT], &mut answers)
                            .await?;
                    }
                    Ok(())
                });
        assert_fresh_masks(&outcome, sites, 256, COUNT / 8);
    }
}
