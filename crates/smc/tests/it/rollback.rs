//! A site that forgot: its journal comes from an old backup, so it runs again from the same seed, and a
//! peer now tells it something else. Nothing that it sends may be under a mask that it has used.

use std::collections::HashSet;

use hedgerow_smc::memory::{Fault, Faults, Simulation};
use hedgerow_smc::wire::{HEADER_BYTES, Header};
use hedgerow_smc::{Error, Items, Party, Rank, Settings, Site};

use crate::harness::TEST;

const PRIMITIVES: [&str; 11] = [
    "sum",
    "all",
    "at_least",
    "any_at_least",
    "greatest",
    "greatest of long numbers",
    "minimum",
    "kth",
    "union",
    "align",
    "overlaps",
];
const COUNT: usize = 64;
const VICTIM: Site = Site::new(0);

/// Asks about numbers that are the same in every life.
async fn ask(primitive: &str, party: &mut Party) -> Result<(), Error> {
    let own: Vec<u64> = (0..COUNT as u64).map(|at| at * 7 % 50).collect();
    match primitive {
        "sum" => party.sum(TEST, &mut own.clone()).await,
        "all" => {
            let mut bits: Vec<bool> = own.iter().map(|value| value % 3 > 0).collect();
            party.all(TEST, &mut bits).await
        }
        "at_least" => {
            let mut answers = vec![false; COUNT];
            let thresholds = vec![90; COUNT];
            party
                .at_least(TEST, 1 << 40, &own, &thresholds, &mut answers)
                .await
        }
        "any_at_least" if party.sites() > 2 => {
            let mut answers = vec![false; COUNT / 4];
            let (thresholds, groups) = (vec![90; COUNT], vec![4; COUNT / 4]);
            party
                .any_at_least(TEST, 1 << 40, &own, &thresholds, &groups, &mut answers)
                .await
        }
        // Three sites or more have it.
        "any_at_least" => Ok(()),
        "greatest" | "greatest of long numbers" => {
            let contend: Vec<Site> = Site::all(party.sites()).collect();
            let bound = if primitive == "greatest" { 60 } else { 1 << 40 };
            // Few, so that the answers, which all may know, are not among the long messages.
            let mut sites = [0; 16];
            party
                .greatest(TEST, bound, &contend, &own[..16], &mut sites)
                .await
        }
        "minimum" => {
            let mut values: Vec<Option<u64>> = own.iter().map(|value| Some(*value)).collect();
            party.minimum(TEST, |_| 0..=60, &mut values).await
        }
        "kth" => {
            let rank = Rank {
                rank: 20,
                domain: 0..=60,
            };
            let at_most = |_: usize, value| own.iter().filter(|own| **own <= value).count() as u64;
            party
                .kth(TEST, 10_000, &vec![rank; 8], at_most, &mut [None; 8])
                .await
        }
        "union" => {
            let mut items: Vec<Vec<u8>> = own.iter().map(|value| vec![*value as u8; 8]).collect();
            let shape = Items {
                width: 8,
                capacity: COUNT,
                domain: 256.0,
                decoy: &|_| vec![0; 8],
            };
            party.union(TEST, &shape, &mut items).await
        }
        "align" => {
            let own: Vec<[u8; 8]> = (0..COUNT as u64).map(u64::to_le_bytes).collect();
            let own: Vec<&[u8]> = own.iter().map(<[u8; 8]>::as_slice).collect();
            party.align(TEST, COUNT, &own, &mut Vec::new()).await
        }
        _ => {
            let classes: Vec<u32> = (0..COUNT as u32).map(|at| at % 3).collect();
            party.overlaps(TEST, COUNT, &classes).await.map(drop)
        }
    }
}

/// What a site sent in a life, and which frames of the liar to it belong to the first call.
struct Life {
    /// Payloads from the second call on, long ones only: short ones are lengths.
    sent: Vec<Vec<u8>>,
    first_call: Vec<u32>,
}

fn life(sites: usize, settings: Settings, primitive: &str, faults: Faults) -> Life {
    let run = Simulation::new(sites, 9)
        .settings(settings)
        .faults(faults)
        .recording()
        .run(|mut party| async move {
            let mut values = [3; 4];
            party.sum(TEST, &mut values).await?;
            ask(primitive, &mut party).await
        });
    let mut sent = Vec::new();
    for to in Site::all(sites) {
        for frame in run
            .view(to)
            .into_iter()
            .filter(|frame| frame.from == VICTIM)
        {
            let header = Header::decode(&frame.bytes).unwrap();
            if header.call >= 2 && frame.bytes.len() >= HEADER_BYTES + 32 {
                sent.push(frame.bytes[HEADER_BYTES..].to_vec());
            }
        }
    }
    let from_liar = run
        .view(VICTIM)
        .into_iter()
        .filter(|frame| frame.from.index() + 1 == sites);
    let first_call = from_liar
        .enumerate()
        .filter(|(_, frame)| Header::decode(&frame.bytes).unwrap().call == 1)
        .map(|(number, _)| number as u32)
        .collect();
    Life { sent, first_call }
}

/// Words of payloads that hide something: all of what is sent here is masked, encrypted or a hash.
fn words(payloads: &[Vec<u8>]) -> HashSet<[u8; 8]> {
    let words = payloads
        .iter()
        .flat_map(|payload| payload.as_chunks::<8>().0);
    words.copied().collect()
}

#[test]
fn after_another_answer_nothing_is_sent_under_a_used_mask() {
    for sites in [2u16, 3, 5] {
        // The one before the victim on the ring, too.
        let (sites, liar) = (usize::from(sites), Site::new(sites - 1));
        for settings in [Settings::hardened(), Settings::published()] {
            for primitive in PRIMITIVES {
                // As published, these send what they hold to the next on the ring, under no mask.
                let is_plain = settings == Settings::published();
                if is_plain && ["minimum", "union"].contains(&primitive) {
                    continue;
                }
                let of = format!("{primitive}, {sites} sites, {}", settings.security);
                let first = life(sites, settings, primitive, Faults::default());
                let again = life(sites, settings, primitive, Faults::default());
                assert_eq!(
                    first.sent, again.sent,
                    "{of}: told the same, it says the same"
                );
                assert!(!first.first_call.is_empty(), "{of}");
                for frame in first.first_call {
                    let lie = Faults::default().strike(liar, VICTIM, frame, Fault::Lie(vec![1]));
                    let second = life(sites, settings, primitive, lie);
                    let (first, second) = (words(&first.sent), words(&second.sent));
                    let both = first.intersection(&second).count();
                    assert_eq!(both, 0, "{of}, frame {frame}: words that come twice");
                }
            }
        }
    }
}

/// A lie that changes no answer: what the site that forgot then sends is what it sent before, frame by
/// frame, or has nothing in common with it. A message that is made of two streams, of which one came again
/// and the other did not, would be neither.
#[test]
fn after_a_lie_that_changes_no_answer_frames_are_the_same_or_new() {
    let sent = |sites: usize, primitive: &str, faults: Faults, victim: Site| {
        let run =
            Simulation::new(sites, 9)
                .faults(faults)
                .recording()
                .run(|mut party| async move {
                    // Nobody's bit is set and no sum is large, whatever one site says of it.
                    let mut bits = vec![false; COUNT];
                    party.all(TEST, &mut bits).await?;
                    let mut answers = [false; 4];
                    party
                        .at_least(TEST, 1 << 30, &[1; 4], &[1 << 29; 4], &mut answers)
                        .await?;
                    ask(primitive, &mut party).await?;
                    ask("all", &mut party).await
                });
        let mut payloads = Vec::new();
        for to in Site::all(sites) {
            for frame in run
                .view(to)
                .into_iter()
                .filter(|frame| frame.from == victim)
            {
                let header = Header::decode(&frame.bytes).unwrap();
                if header.call >= 3 && frame.bytes.len() >= HEADER_BYTES + 32 {
                    payloads.push(frame.bytes[HEADER_BYTES..].to_vec());
                }
            }
        }
        payloads
    };
    let mut compared = 0;
    for sites in [2, 3, 5] {
        for primitive in [
            "sum",
            "all",
            "at_least",
            "any_at_least",
            "greatest",
            "greatest of long numbers",
            "minimum",
            "kth",
        ] {
            for victim in Site::all(sites) {
                let first = sent(sites, primitive, Faults::default(), victim);
                let used = words(&first);
                for liar in Site::all(sites).filter(|liar| *liar != victim) {
                    // Frames of the join come first, and those of the two calls after it.
                    for frame in 2..9 {
                        let lie =
                            Faults::default().strike(liar, victim, frame, Fault::Lie(vec![1, 3]));
                        for payload in sent(sites, primitive, lie, victim) {
                            let again = first.contains(&payload);
                            let both = words(&[payload]).intersection(&used).count();
                            let of =
                                format!("{primitive}, {sites} sites, {victim}, {liar}, {frame}");
                            assert!(again || both == 0, "{of}: {both} words twice");
                            compared += 1;
                        }
                    }
                }
            }
        }
    }
    assert!(compared > 100, "{compared}");
}

/// Inside a conjunction the holder adds up what it was given; given something else, it sends the sum
/// through another map. Through the same one, the judge, who is one of the givers, would learn the
/// slope from the difference, and with it how many bits were set.
#[test]
fn the_map_of_a_conjunction_follows_from_what_the_holder_was_given() {
    for sites in [3, 5] {
        let drawn = Simulation::new(sites, 9)
            .run(|party| async move { Ok::<_, Error>(party.roles()) })
            .into_values()
            .unwrap();
        let [holder, keeper, judge] = drawn[0].unwrap();
        // What the judge gave the holder, and what it got from holder and keeper.
        let seen =
            |lie: Option<Vec<u8>>| {
                // Two frames of the join, one of the sum; then the judge gives its masked bits.
                let faults = lie.into_iter().fold(Faults::default(), |faults, lie| {
                    faults.strike(judge, holder, 3, Fault::Replace(lie))
                });
                let run = Simulation::new(sites, 9).faults(faults).recording().run(
                    |mut party| async move {
                        party.sum(TEST, &mut [3; 4]).await?;
                        // Two sites hold a 0 everywhere.
                        let mut bits = vec![party.me().index() > 1; COUNT];
                        party.all(TEST, &mut bits).await
                    },
                );
                let payload = |from: Site, to: Site| {
                    let view = run.view(to);
                    let mut sent = view.iter().filter(|frame| frame.from == from);
                    sent.nth(3).unwrap().bytes[HEADER_BYTES..].to_vec()
                };
                let from_keeper = payload(keeper, judge);
                (payload(judge, holder), payload(holder, judge), from_keeper)
            };
        let (given, from_holder, from_keeper) = seen(None);
        // One more in every place, in the field of 251.
        let lie: Vec<u8> = given.iter().map(|value| (value + 1) % 251).collect();
        let (_, after_the_lie, _) = seen(Some(lie));
        let minus = |left: u8, right: u8| (u32::from(left) + 251 - u32::from(right)) % 251;
        let guessed = (0..COUNT).filter(|&at| {
            // A line of one more in, slope more out; then slope times what the sum lacks.
            let slope = minus(after_the_lie[at], from_holder[at]);
            let lacking = minus(from_keeper[at], from_holder[at]);
            slope > 0 && (slope * 2) % 251 == lacking
        });
        assert!(guessed.count() < 8, "by chance one of 251");
    }
}
