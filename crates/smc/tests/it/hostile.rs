//! Hostile peers and broken lines: each an error that names the peer, never a panic or a hang.

use std::time::Duration;

use hedgerow_smc::error::Misbehaviour;
use hedgerow_smc::memory::{Fault, Faults, Outcome, Simulation};
use hedgerow_smc::network::NetworkError;
use hedgerow_smc::wire::{HEADER_BYTES, Header, Primitive, WireError};
use hedgerow_smc::{Error, Settings, Site};
use proptest::prelude::*;

use crate::harness::{TEST, levels};

const LIAR: Site = Site::new(1);
const VICTIM: Site = Site::new(0);
/// The frame after the join, on any link of three sites or more.
const FIRST: u32 = 2;

/// What the victim says of a sum in which one frame was struck.
fn struck(frame: u32, fault: Fault) -> Error {
    let faults = Faults::default().strike(LIAR, VICTIM, frame, fault);
    let outcome = Simulation::new(3, 1)
        .faults(faults)
        .run(|mut party| async move {
            let mut values = [1, 2, 3];
            party.sum(TEST, &mut values).await?;
            party.sum(TEST, &mut values).await
        });
    outcome.results.into_iter().next().unwrap().unwrap_err()
}

fn invalid(error: Error) -> WireError {
    match error {
        Error::InvalidMessage { peer, source, .. } => {
            assert_eq!(peer, LIAR);
            source
        }
        other => panic!("{other}"),
    }
}

fn misbehaved(error: Error) -> Misbehaviour {
    match error {
        Error::PeerMisbehaved { peer, problem, .. } => {
            assert_eq!(peer, LIAR);
            problem
        }
        other => panic!("{other}"),
    }
}

#[test]
fn a_frame_that_claims_4_gigabytes() {
    // The high byte of the length.
    let error = struck(FIRST, Fault::Corrupt { at: 15, mask: 0xff });
    assert!(matches!(invalid(error), WireError::TooLong { claimed } if claimed > 4_000_000_000));
}

#[test]
fn a_vector_of_the_wrong_length() {
    for length in [0, 7, 23, 25, 4_000] {
        let source = invalid(struck(FIRST, Fault::Replace(vec![9; length])));
        assert_eq!(
            source,
            WireError::Length {
                expected: 24,
                found: length
            }
        );
    }
}

#[test]
fn a_frame_cut_short() {
    for length in [0, 1, HEADER_BYTES - 1] {
        let source = invalid(struck(FIRST, Fault::Truncate(length)));
        assert_eq!(
            source,
            WireError::Short {
                expected: HEADER_BYTES,
                found: length
            }
        );
    }
    let source = invalid(struck(FIRST, Fault::Truncate(HEADER_BYTES + 5)));
    assert_eq!(
        source,
        WireError::Length {
            expected: 24,
            found: 5
        }
    );
}

#[test]
fn a_changed_byte_anywhere() {
    for at in 0..HEADER_BYTES + 24 {
        let error = struck(FIRST, Fault::Corrupt { at, mask: 0x10 });
        assert!(
            matches!(error, Error::InvalidMessage { peer: LIAR, .. }),
            "byte {at}: {error}"
        );
    }
}

#[test]
fn a_frame_from_the_wrong_site() {
    let problem = misbehaved(struck(FIRST, Fault::Impersonate(Site::new(2))));
    assert_eq!(
        problem,
        Misbehaviour::WrongSite {
            sender: Site::new(2),
            receiver: VICTIM
        }
    );
}

#[test]
fn a_frame_of_the_wrong_step() {
    let problem = misbehaved(struck(FIRST, Fault::Drop));
    assert_eq!(
        problem,
        Misbehaviour::WrongStep {
            primitive: Primitive::Sum,
            call: 2,
            frame: 0
        }
    );
    let problem = misbehaved(struck(FIRST, Fault::Reorder));
    assert!(matches!(problem, Misbehaviour::WrongStep { call: 2, .. }));
}

#[test]
fn a_replayed_frame() {
    let problem = misbehaved(struck(FIRST, Fault::Duplicate));
    assert_eq!(problem, Misbehaviour::Replayed { call: 1, frame: 0 });
}

/// What the liar says in its first message, and the error when it says this instead and has committed
/// itself to it.
fn with_hello(change: impl Fn(&mut [u8])) -> Error {
    let honest = Simulation::new(3, 1)
        .recording()
        .run(|_| async { Ok::<_, Error>(()) });
    let view = honest.view(VICTIM);
    let said = view.iter().filter(|frame| frame.from == LIAR).nth(1);
    let mut hello = said.unwrap().bytes[HEADER_BYTES..].to_vec();
    change(&mut hello);
    let commitment = blake3::derive_key("hedgerow hello commitment v1", &hello);
    let faults = Faults::default()
        .strike(LIAR, VICTIM, 0, Fault::Replace(commitment.to_vec()))
        .strike(LIAR, VICTIM, 1, Fault::Replace(hello));
    let outcome = Simulation::new(3, 1)
        .faults(faults)
        .run(|mut party| async move { party.sum(TEST, &mut [1]).await });
    outcome.results.into_iter().next().unwrap().unwrap_err()
}

#[test]
fn other_settings() {
    let error = with_hello(|hello| hello[0] ^= 1);
    assert_eq!(misbehaved(error), Misbehaviour::OtherSettings);
}

/// Whoever speaks last has seen the others' keys, and with other keys of its own would choose who has
/// roles.
#[test]
fn keys_that_were_chosen_after_the_others_spoke() {
    for byte in [0, 40, 95] {
        let mut lie = vec![0; 96];
        lie[byte] = 1;
        let error = struck(1, Fault::Lie(lie));
        assert_eq!(misbehaved(error), Misbehaviour::OtherHello);
    }
}

/// A site that tells one peer another vector than the rest is found out at the next step: the sums
/// differ, and with them the words of the next call.
#[test]
fn sites_that_were_told_different_things_notice_at_the_next_step() {
    let faults = Faults::default().strike(LIAR, VICTIM, FIRST, Fault::Lie(vec![1; 8]));
    let outcome = Simulation::new(4, 1)
        .faults(faults)
        .run(|mut party| async move {
            let mut values = [5];
            let first = party.sum(TEST, &mut values).await;
            assert_eq!(first, Ok(()), "nobody can tell yet");
            party.sum(TEST, &mut values).await
        });
    for (site, result) in outcome.results.into_iter().enumerate() {
        let error = result.unwrap_err();
        let is_told_apart = matches!(
            error,
            Error::PeerMisbehaved { problem: Misbehaviour::OtherQuestion, step, .. } if step.call == 2
        );
        let is_alone = matches!(error, Error::Line { .. });
        assert!(is_told_apart || is_alone, "{site}: {error}");
        assert!(is_told_apart || site != VICTIM.index(), "{site}: {error}");
    }
}

#[test]
fn a_public_key_that_everyone_can_use() {
    for key in [32..64, 64..96] {
        let error = with_hello(|hello| hello[key.clone()].fill(0));
        assert_eq!(misbehaved(error), Misbehaviour::WeakKey);
    }
}

#[test]
fn points_that_are_none() {
    let align = |sites: usize, frame: u32, payload: Vec<u8>, settings: Settings| {
        let last = Site::new(sites as u16 - 1);
        let faults = Faults::default().strike(last, VICTIM, frame, Fault::Replace(payload));
        let outcome = Simulation::new(sites, 1)
            .settings(settings)
            .faults(faults)
            .run(|mut party| async move {
                let mut common = Vec::new();
                party.align(TEST, 100, &[b"one", b"two"], &mut common).await
            });
        match outcome.results.into_iter().next().unwrap().unwrap_err() {
            Error::InvalidMessage { peer, source, .. } => {
                assert_eq!(peer, last);
                source
            }
            other => panic!("{other}"),
        }
    };
    let good = {
        let mut generator = hedgerow_smc::Generator::new(&hedgerow_smc::Seed::new([1; 32]));
        hedgerow_smc::commutative::RistrettoKey::new(&mut generator).encrypt(&[b"x"])
    };
    let hardened = Settings::hardened();
    // Frame 0 commits to the hello, 1 is the hello, 2 the number of identifiers, 3 the identifiers.
    let identity = [good.as_slice(), &[0; 32]].concat();
    assert_eq!(
        align(3, 3, identity, hardened),
        WireError::Identity { index: 1 }
    );
    let no_point = [good.as_slice(), &[0xff; 32]].concat();
    assert_eq!(
        align(3, 3, no_point, hardened),
        WireError::NotAPoint { index: 1 }
    );
    assert_eq!(
        align(3, 2, u64::MAX.to_le_bytes().to_vec(), hardened),
        WireError::Range { index: 0 }
    );

    let published = Settings::published();
    assert_eq!(
        align(3, 3, vec![0; 512], published),
        WireError::NotAPoint { index: 0 }
    );
    assert_eq!(
        align(3, 3, vec![0xff; 512], published),
        WireError::NotAPoint { index: 0 }
    );
    let one = [&[1][..], &[0; 511]].concat();
    assert_eq!(
        align(3, 3, one, published),
        WireError::Identity { index: 0 }
    );

    // With two sites the third frame is the base transfers' first message.
    assert_eq!(
        align(2, 2, vec![0; 32], hardened),
        WireError::Identity { index: 0 }
    );
    assert_eq!(
        align(2, 2, vec![0xff; 32], hardened),
        WireError::NotAPoint { index: 0 }
    );
}

#[test]
fn a_dead_peer_is_named_with_the_step_in_time() {
    let patience = Duration::from_secs(5);
    for sites in [2, 3, 5] {
        for settings in levels() {
            // Cut off at once, in the join, or after it.
            for frames in [0, 3] {
                let faults = Faults::default().cut(LIAR, frames);
                let simulation = Simulation::new(sites, 1)
                    .settings(settings)
                    .patience(patience)
                    .faults(faults);
                let outcome = simulation.run(|mut party| async move {
                    loop {
                        let mut bits = [true; 4];
                        party.all(TEST, &mut bits).await?;
                        party.sum(TEST, &mut [1]).await?;
                    }
                    #[allow(unreachable_code)]
                    Ok::<(), Error>(())
                });
                assert!(outcome.elapsed <= patience * sites as u32);
                let mut named = false;
                for result in outcome.results {
                    match result.unwrap_err() {
                        Error::Line {
                            peer,
                            source: NetworkError::Silent { waited },
                            ..
                        } => {
                            assert_eq!(waited, patience);
                            named |= peer == LIAR;
                        }
                        Error::Line {
                            source: NetworkError::Closed,
                            ..
                        } => {}
                        other => panic!("{other}"),
                    }
                }
                assert!(named, "somebody names the dead site");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn random_faults_end_right_or_with_an_error(
        sites in 2..=5usize, seed: u64, one_in in 2..60u64, level in 0..5usize,
    ) {
        let faults = Faults::default().random(seed, one_in);
        let simulation = Simulation::new(sites, seed).settings(levels()[level]).faults(faults);
        let outcome = simulation.run(|mut party| async move {
            let me = party.me().index() as u64;
            let mut sums = [me, 1];
            party.sum(TEST, &mut sums).await?;
            let mut bits = [me < 9, me == 0];
            party.all(TEST, &mut bits).await?;
            let mut reached = [false; 2];
            party.at_least(TEST, 20, &[2, me], &[sites as u64, 20], &mut reached).await?;
            let mut highest = [Some(me)];
            party.maximum(TEST, |_| 0..=9, &mut highest).await?;
            Ok::<_, Error>((sums, bits, reached, highest))
        });
        let last = sites as u64 - 1;
        let right = ([last * sites as u64 / 2, sites as u64], [true, false], [true, false], [Some(last)]);
        for result in outcome.results {
            match result {
                Ok(found) => prop_assert_eq!(found, right),
                Err(error) => prop_assert!(error.to_string().contains("site "), "{}", error),
            }
        }
    }

    #[test]
    fn any_bytes_are_a_header_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
        if let Ok((header, payload)) = Header::open(bytes) {
            prop_assert_eq!(header.length as usize, payload.len());
        }
    }
}

/// The payload of the frame on a link of an honest run, so that a peer can say something like it.
fn honest_payload(outcome: &Outcome<(), Error>, (from, to, frame): (Site, Site, usize)) -> Vec<u8> {
    let frames = outcome.view(to);
    let mut sent = frames.iter().filter(|sent| sent.from == from);
    sent.nth(frame).unwrap().bytes[HEADER_BYTES..].to_vec()
}

/// A mix, or a site, that sends an item twice: by the copy the first could be followed through the
/// mixes behind.
#[test]
fn copied_items_of_a_mix() {
    const CAPACITY: usize = 4;
    // 32 bytes of key, the item and its mark, 16 of tag for each layer that is left.
    let bytes = |layers: usize| 3 + layers * 48;
    let union = async |mut party: hedgerow_smc::Party| {
        let me = party.me().index() as u8;
        let shape = hedgerow_smc::Items {
            width: 2,
            capacity: CAPACITY,
            domain: 256.0,
            decoy: &|_| vec![0; 2],
        };
        let mut items = vec![vec![me, 1], vec![me, 2]];
        party.union(TEST, &shape, &mut items).await
    };
    let rows = async |mut party: hedgerow_smc::Party| {
        let me = party.me().index() as u8;
        let own = (0..CAPACITY as u8).map(|row| vec![me, row]).collect();
        party.rows(TEST, &[2; 3], &[CAPACITY as u64], own).await?;
        Ok(())
    };
    let simulation = Simulation::new(3, 5);
    let check =
        |(from, to): (u16, u16), lie: Vec<u8>, outcome: &dyn Fn(Faults) -> Vec<Option<Error>>| {
            let (from, to) = (Site::new(from), Site::new(to));
            let faults = Faults::default().strike(from, to, FIRST, Fault::Replace(lie));
            match outcome(faults).swap_remove(to.index()).unwrap() {
                Error::PeerMisbehaved { peer, problem, .. } => {
                    assert_eq!(peer, from);
                    assert!(matches!(problem, Misbehaviour::Copied { .. }), "{problem}");
                }
                other => panic!("{other}"),
            }
        };
    for (from, to, layers) in [(2, 0, 3), (0, 1, 2), (1, 2, 1)] {
        let link = (Site::new(from), Site::new(to), FIRST as usize);
        let mut onions = honest_payload(&simulation.clone().recording().run(union), link);
        let width = bytes(layers);
        // The last of all becomes the first; then with another key, which no honest site can open
        // either, but which is seen to be a copy all the same.
        let last = onions.len() - width;
        onions.copy_within(..width, last);
        let run = |faults| {
            let outcome = simulation.clone().faults(faults).run(union);
            outcome.results.into_iter().map(Result::err).collect()
        };
        check((from, to), onions.clone(), &run);
        onions[last] ^= 1;
        check((from, to), onions, &run);

        let mut parts = honest_payload(&simulation.clone().recording().run(rows), link);
        let width = if from == 2 { width } else { 3 * width };
        let last = parts.len() - width;
        parts.copy_within(..width, last);
        let run = |faults| {
            let outcome = simulation.clone().faults(faults).run(rows);
            outcome.results.into_iter().map(Result::err).collect()
        };
        check((from, to), parts, &run);
    }
}

/// The last mix tells all what the items are; a site knows its own.
#[test]
fn a_union_without_my_items() {
    let site = async |mut party: hedgerow_smc::Party| {
        let me = party.me().index() as u8;
        let shape = hedgerow_smc::Items {
            width: 1,
            capacity: 2,
            domain: 256.0,
            decoy: &|_| vec![0],
        };
        let mut items = vec![vec![me], vec![me + 10]];
        party.union(TEST, &shape, &mut items).await
    };
    let last = Site::new(2);
    // The hello, what it sent to the first mix, how many there are, and the items.
    let lie = vec![0, 1, 2, 10, 12, 12];
    let faults = Faults::default().strike(last, LIAR, FIRST + 1, Fault::Replace(lie));
    let outcome = Simulation::new(3, 5).faults(faults).run(site);
    match outcome.results.into_iter().nth(1).unwrap().unwrap_err() {
        Error::PeerMisbehaved { peer, problem, .. } => {
            assert_eq!((peer, problem), (last, Misbehaviour::Lacking));
        }
        other => panic!("{other}"),
    }
}

/// All primitives in a row, of a site that has this and that.
async fn every_primitive(mut party: hedgerow_smc::Party) -> Result<(), Error> {
    let me = party.me().index() as u64;
    party.sum(TEST, &mut [me, 1]).await?;
    party.sum_to(TEST, VICTIM, &mut [me, 1]).await?;
    party.all(TEST, &mut [me < 9, me == 0]).await?;
    party.any(TEST, &mut [me > 9, me == 0]).await?;
    let mut reached = [false; 2];
    party
        .at_least(TEST, 20, &[2, me], &[5, 20], &mut reached)
        .await?;
    let trees = [hedgerow_smc::Tree::new(vec![0, 0, 0, 1, 1])?];
    let mut nodes = [Some(me as u32 + 1), None];
    party.lca(TEST, &trees, |_| 0, &mut nodes).await?;
    let mut ranges = [Some((me, me + 3)), None];
    party.ranges(TEST, |_| 0..=40, &mut ranges).await?;
    let ranks = [hedgerow_smc::Rank {
        rank: 2,
        domain: 0..=40,
    }];
    let at_most = |_, value| u64::from(value >= me);
    party.kth(TEST, 9, &ranks, at_most, &mut [None]).await?;
    let shape = hedgerow_smc::Items {
        width: 8,
        capacity: 3,
        domain: 256.0,
        decoy: &|_| vec![7; 8],
    };
    let mut items = vec![me.to_le_bytes().to_vec(), vec![9; 8]];
    party.union(TEST, &shape, &mut items).await?;
    let own = (0..4).map(|row| vec![me as u8, row]).collect();
    let widths = vec![2; party.sites()];
    party.rows(TEST, &widths, &[1, 3], own).await?;
    let own = me.to_le_bytes();
    let mut common = Vec::new();
    party.align(TEST, 100, &[b"one", &own], &mut common).await?;
    party.overlaps(TEST, 4, &[0, 0, 1, 1]).await?;
    let contend: Vec<Site> = Site::all(party.sites()).collect();
    for bound in [40, 1 << 20] {
        let mut sites = [9; 2];
        party
            .greatest(TEST, bound, &contend, &[me, 3], &mut sites)
            .await?;
        assert!(sites.iter().all(|site| (*site as usize) < party.sites()));
    }
    party.tell(TEST, LIAR, &mut [me, 3]).await?;
    let bits = vec![vec![7, 1, 64]; party.sites()];
    let told = party.tell_each(TEST, &bits, &[me, 1, me]).await?;
    assert!(told.chunks(3).all(|told| told[0] < 128 && told[1] < 2));
    Ok(())
}

/// What a site tells is as long as the question says, with nothing hidden behind the last number.
#[test]
fn numbers_told_in_a_message_of_another_length() {
    let told = |payload: Vec<u8>| {
        let fault = Fault::Replace(payload);
        let faults = Faults::default().strike(LIAR, VICTIM, FIRST, fault);
        let outcome = Simulation::new(3, 1)
            .faults(faults)
            .run(|mut party| async move {
                let bits = vec![vec![5, 6]; 3];
                party.tell_each(TEST, &bits, &[1, 2]).await
            });
        invalid(outcome.results.into_iter().next().unwrap().unwrap_err())
    };
    for length in [0, 1, 3, 4_000] {
        let expected = 2;
        let found = length;
        assert_eq!(told(vec![0; length]), WireError::Length { expected, found });
    }
    assert_eq!(told(vec![0, 1 << 3]), WireError::Padding);
}

/// Whoever finds the greatest number may name only sites that contend.
#[test]
fn a_site_that_does_not_contend_is_not_the_greatest() {
    let honest = Simulation::new(4, 1);
    let ask = |simulation: &Simulation| {
        simulation.run(|mut party| async move {
            let contend = [Site::new(0), Site::new(2)];
            let mut sites = [0; 3];
            party
                .greatest(TEST, 9, &contend, &[1, 2, 3], &mut sites)
                .await?;
            Ok(sites)
        })
    };
    let drawn = honest.run(|party| async move { Ok::<_, Error>(party.roles()) });
    let [_, _, judge] = drawn.into_values().unwrap()[0].unwrap();
    let traffic = ask(&honest).traffic;
    for other in Site::all(4).filter(|site| *site != judge) {
        let last = traffic.link(judge, other).messages as u32 - 1;
        for (index, wrong) in [(0, [1, 0, 2]), (0, [7, 0, 0]), (2, [2, 2, 3])] {
            let fault = Fault::Replace(wrong.to_vec());
            let faults = Faults::default().strike(judge, other, last, fault);
            let mut results = ask(&honest.clone().faults(faults)).results;
            match results.swap_remove(other.index()).unwrap_err() {
                Error::InvalidMessage { peer, source, .. } => {
                    assert_eq!((peer, source), (judge, WireError::Range { index }));
                }
                error => panic!("{error}"),
            }
        }
    }
}

/// A peer that adds a large number to every word of a frame, whichever it is: no panic, no hang, and
/// no more memory than an honest run takes, or little more.
#[test]
fn numbers_added_to_every_frame() {
    for sites in [2, 3] {
        for settings in [Settings::hardened(), Settings::published()] {
            let simulation = Simulation::new(sites, 3).settings(settings);
            let mut frames = 0;
            let honest = allocation_counter::measure(|| {
                let outcome = simulation.run(every_primitive);
                frames = outcome.traffic.link(LIAR, VICTIM).messages as u32;
                outcome.into_values().unwrap();
            });
            for (frame, amount) in
                (0..frames).flat_map(|frame| [(frame, 1 << 40), (frame, 1 << 63)])
            {
                let fault = Fault::Add { word: None, amount };
                let faults = Faults::default().strike(LIAR, VICTIM, frame, fault);
                let mut results = Vec::new();
                let counted = allocation_counter::measure(|| {
                    let simulation = simulation.clone().faults(faults);
                    results = simulation.run(every_primitive).results;
                });
                let most = 2 * honest.bytes_max + (8 << 20);
                assert!(counted.bytes_max < most, "frame {frame}: {counted:?}");
                for error in results.into_iter().filter_map(Result::err) {
                    let told = error.to_string();
                    let names = told.contains("(call ") || told.contains("in question ");
                    assert!(names, "frame {frame}: {told}");
                }
            }
        }
    }
}
