//! What all sites send to all, in each shape: the same answers, messages linear in sites, and what a hub
//! that lies can do.

use std::future::Future;

use hedgerow_smc::error::Misbehaviour;
use hedgerow_smc::memory::{Fault, Faults, Outcome, Simulation};
use hedgerow_smc::settings::Shape;
use hedgerow_smc::wire::{HEADER_BYTES, Header};
use hedgerow_smc::{Error, Generator, Items, Party, Rank, Settings, Site, Tree, masking};
use proptest::prelude::*;

use crate::harness::TEST;

fn shaped(shape: Shape, hub: u16) -> Settings {
    Settings {
        shape,
        hub: Site::new(hub),
        ..Settings::hardened()
    }
}

/// What every primitive that a horizontal study uses says of some numbers below 30 of each site.
type Answers = (
    [Vec<u64>; 4],
    [Vec<bool>; 4],
    Vec<Option<u32>>,
    [Vec<Option<u64>>; 3],
    Vec<Vec<u8>>,
    String,
);

fn decoy(generator: &mut Generator) -> Vec<u8> {
    vec![generator.below(30) as u8]
}

async fn ask_everything(mut party: Party, own: Vec<u64>) -> Result<Answers, Error> {
    let (count, sites) = (own.len(), party.sites());
    party.keep_values();
    let mut sums = own.clone();
    party.sum(TEST, &mut sums).await?;
    let mut at_one = own.clone();
    party.sum_to(TEST, Site::new(1), &mut at_one).await?;
    let told = party
        .tell_each(TEST, &vec![vec![5; count]; sites], &own)
        .await?;
    let mut of_one = own.clone();
    party.tell(TEST, Site::new(2), &mut of_one).await?;

    let mut all: Vec<bool> = own.iter().map(|value| value % 7 != 0).collect();
    let mut any: Vec<bool> = all.iter().map(|bit| !bit).collect();
    party.all(TEST, &mut all).await?;
    party.any(TEST, &mut any).await?;
    let thresholds = vec![15 * sites as u64; count];
    let mut reached = vec![false; count];
    party
        .at_least(TEST, 30 * sites as u64, &own, &thresholds, &mut reached)
        .await?;
    let mut one_of = vec![false; 1];
    party
        .any_at_least(
            TEST,
            30 * sites as u64,
            &own,
            &thresholds,
            &[count],
            &mut one_of,
        )
        .await?;

    let parents = (0..30u32).map(|node| node.saturating_sub(1) / 3).collect();
    let mut nodes: Vec<Option<u32>> = own
        .iter()
        .map(|&value| (value % 4 > 0).then_some(value as u32))
        .collect();
    party
        .lca(TEST, &[Tree::new(parents)?], |_| 0, &mut nodes)
        .await?;
    let (mut least, mut most): (Vec<_>, Vec<_>) =
        own.iter().map(|value| (Some(*value), Some(*value))).unzip();
    party.minimum(TEST, |_| 0..=29, &mut least).await?;
    party.maximum(TEST, |_| 0..=29, &mut most).await?;
    let questions = vec![
        Rank {
            rank: sites as u64 / 2 + 1,
            domain: 0..=29
        };
        count
    ];
    let mut medians = vec![None; count];
    let below = |index: usize, value: u64| u64::from(own[index] <= value);
    party
        .kth(TEST, sites as u64, &questions, below, &mut medians)
        .await?;
    let shape = Items {
        width: 1,
        capacity: 2,
        domain: 256.0,
        decoy: &decoy,
    };
    let mut items = vec![vec![own[0] as u8]];
    party.union(TEST, &shape, &mut items).await?;
    let entries = party.ledger().entries().iter();
    let ledger = entries.map(|entry| {
        let of = (&entry.disclosure, entry.values, entry.complete);
        format!("{of:?} {:?}", entry.recorded)
    });
    let ledger = ledger.collect::<Vec<_>>().join("\n");
    Ok((
        [sums, at_one, told, of_one],
        [all, any, reached, one_of],
        nodes,
        [least, most, medians],
        items,
        ledger,
    ))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4))]

    #[test]
    fn every_shape_gives_the_answers_and_the_ledger_of_the_mesh(
        sites in 3usize..=40,
        seed: u64,
        hub in any::<prop::sample::Index>(),
        salt in 0u64..30,
    ) {
        let own = |me: usize| -> Vec<u64> {
            (0..5).map(|index| (me as u64 * 7 + index * index * 5 + salt) % 30).collect()
        };
        let site = |party: Party| {
            let own = own(party.me().index());
            ask_everything(party, own)
        };
        let mut ideal: Vec<Answers> = Simulation::new(sites, seed)
            .run_ideal(site)
            .into_iter()
            .collect::<Result<_, Error>>()
            .unwrap();
        let hub = hub.index(sites) as u16;
        let mesh = Simulation::new(sites, seed).run(site).into_values().unwrap();
        for (ideal, mesh) in ideal.iter_mut().zip(&mesh) {
            // The trusted third answers some calls in other steps.
            ideal.5.clone_from(&mesh.5);
        }
        prop_assert_eq!(&mesh, &ideal);
        for shape in [Shape::Star, Shape::Tree] {
            let simulation = Simulation::new(sites, seed).settings(shaped(shape, hub));
            let found = simulation.run(site).into_values().unwrap();
            prop_assert_eq!(&found, &ideal, "{:?}", shape);
        }
    }
}

/// The messages and rounds of a call, without those of joining.
fn cost<F>(sites: usize, shape: Shape, site: impl Fn(Party) -> F) -> (u64, u32)
where
    F: Future<Output = Result<(), Error>>,
{
    let simulation = Simulation::new(sites, 1).settings(shaped(shape, 2));
    let join = simulation.run(|_| async { Ok::<_, Error>(()) }).traffic;
    let run = simulation.run(site);
    let (messages, rounds) = (run.traffic.messages(), run.traffic.rounds);
    run.into_values().unwrap();
    (messages - join.messages(), rounds - join.rounds)
}

#[test]
fn messages_of_every_call_are_linear_in_sites() {
    for sites in [5, 16, 40] {
        let n = sites as u64;
        for shape in [Shape::Star, Shape::Tree] {
            // Some sites are a round behind others when they have joined.
            let up_and_down = |(messages, rounds): (u64, u32)| {
                let most = if shape == Shape::Tree {
                    2 * n.ilog2()
                } else {
                    2
                };
                assert_eq!(messages, 2 * (n - 1), "{shape:?}, {sites}");
                assert!(
                    rounds <= most && rounds + 1 >= most,
                    "{shape:?}, {sites}: {rounds}"
                );
            };
            let sum = cost(sites, shape, |mut party| async move {
                party.sum(TEST, &mut [1; 100]).await
            });
            up_and_down(sum);
            let each = cost(sites, shape, |mut party| async move {
                let bits = vec![vec![3; 4]; party.sites()];
                party.tell_each(TEST, &bits, &[1; 4]).await.map(drop)
            });
            up_and_down(each);
            let bits = cost(sites, shape, |mut party| async move {
                party.all(TEST, &mut [true; 100]).await
            });
            assert_eq!(bits.0, 3 * (n - 1), "{shape:?}, {sites}");
            assert!(bits.1 <= 3, "{shape:?}, {sites}");
            let compared = cost(sites, shape, |mut party| async move {
                let mut answers = [false; 100];
                party
                    .at_least(TEST, 1_000, &[3; 100], &[9; 100], &mut answers)
                    .await
            });
            assert_eq!(compared.0, 4 * (n - 1), "{shape:?}, {sites}");
            assert!(compared.1 <= 2, "{shape:?}, {sites}");
        }
    }
}

#[test]
fn joining_through_a_hub_is_linear_where_masks_are() {
    let join = |sites: usize| {
        Simulation::new(sites, 1)
            .settings(shaped(Shape::Star, 0))
            .run(|_| async { Ok::<_, Error>(()) })
            .traffic
            .messages()
    };
    // Twice up and down, and each site to each with which it shares masks.
    assert_eq!(join(40), 4 * 39 + 40 * 39);
    let degree = 2 * masking::REACH as u64;
    for sites in [masking::FULL as u64 + 1, 300] {
        let through_hub = 4 * (sites - 1);
        let direct = join(sites as usize) - through_hub - sites * degree;
        assert!(direct <= 6, "the three with roles, with each other");
    }
}

/// Some sums and comparisons of five sites whose hub is site 0, with faults.
fn lied_to(faults: Faults) -> Outcome<([u64; 3], [bool; 2]), Error> {
    Simulation::new(5, 9)
        .settings(shaped(Shape::Star, 0))
        .faults(faults)
        .run(|mut party| async move {
            let mut sums = [1, 2, 3];
            party.sum(TEST, &mut sums).await?;
            let mut reached = [false; 2];
            party
                .at_least(TEST, 100, &[2, 3], &[10, 16], &mut reached)
                .await?;
            Ok((sums, reached))
        })
}

const HUB: Site = Site::new(0);
const LEAF: Site = Site::new(2);
/// The frame from the hub to a leaf that has the first sum: after both messages of joining and the
/// comparison of keys.
const FIRST_SUM: u32 = 3;

#[test]
fn a_hub_that_tells_one_site_another_total_is_noticed_at_the_next_comparison() {
    let honest = lied_to(Faults::default()).into_values().unwrap();
    assert_eq!(honest, [([5, 10, 15], [true, false]); 5]);
    let amount = Fault::Add {
        word: Some(1),
        amount: 1,
    };
    let outcome = lied_to(Faults::default().strike(HUB, LEAF, FIRST_SUM, amount));
    let problems = outcome.results.iter().filter(|result| {
        matches!(
            result,
            Err(Error::PeerMisbehaved {
                problem: Misbehaviour::OtherQuestion,
                ..
            })
        )
    });
    assert!(problems.count() > 0);
    assert!(outcome.results.iter().all(Result::is_err));
}

#[test]
fn a_hub_that_changes_what_a_site_told_all_is_found_out_by_that_site() {
    let outcome = Simulation::new(5, 9)
        .settings(shaped(Shape::Star, 0))
        .faults(Faults::default().strike(HUB, LEAF, FIRST_SUM, Fault::Lie(vec![1])))
        .run(|mut party| async move {
            let bits = vec![vec![8]; party.sites()];
            party.tell_each(TEST, &bits, &[40]).await
        });
    match &outcome.results[LEAF.index()] {
        Err(Error::PeerMisbehaved { peer, problem, .. }) => {
            assert_eq!((*peer, problem), (HUB, &Misbehaviour::Lacking));
        }
        other => panic!("{other:?}"),
    }
}

/// The payloads that the hub sent a leaf when sites joined.
fn joining(seed: u64) -> Vec<Vec<u8>> {
    let outcome = Simulation::new(5, seed)
        .settings(shaped(Shape::Star, 0))
        .recording()
        .run(|_| async { Ok::<_, Error>(()) });
    let frames = outcome.view(LEAF).into_iter();
    let frames = frames.filter(|frame| frame.from == HUB);
    frames
        .map(|frame| frame.bytes[HEADER_BYTES..].to_vec())
        .collect()
}

#[test]
fn a_hub_that_puts_its_own_keys_in_place_of_a_sites_is_noticed() {
    // The keys of site 3 in another run stand for keys whose secrets the hub knows.
    let (honest, other) = (joining(9), joining(10));
    let [mut committed, mut hellos] = [honest[0].clone(), honest[1].clone()];
    committed[3 * 32..4 * 32].copy_from_slice(&other[0][3 * 32..4 * 32]);
    hellos[3 * 96..4 * 96].copy_from_slice(&other[1][3 * 96..4 * 96]);
    let faults = Faults::default()
        .strike(HUB, LEAF, 0, Fault::Replace(committed))
        .strike(HUB, LEAF, 1, Fault::Replace(hellos.clone()));
    let outcome = lied_to(faults);
    let found = outcome.results.iter().filter_map(|result| match result {
        Err(Error::PeerMisbehaved { peer, problem, .. }) => Some((*peer, problem)),
        _ => None,
    });
    let found: Vec<_> = found.collect();
    assert!(
        found
            .iter()
            .any(|(peer, problem)| *peer == LEAF && **problem == Misbehaviour::OtherKeys),
        "{found:?}"
    );
    assert!(outcome.results.iter().all(Result::is_err));
    // Keys that a site had not bound itself to are refused at once.
    let faults = Faults::default().strike(HUB, LEAF, 1, Fault::Replace(hellos));
    match &lied_to(faults).results[LEAF.index()] {
        Err(Error::PeerMisbehaved { peer, problem, .. }) => {
            assert_eq!((*peer, problem), (HUB, &Misbehaviour::OtherHello));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn more_sites_than_the_small_field_holds_join_bits() {
    let sites = 260;
    for shape in [Shape::Star, Shape::Tree] {
        let outcome =
            Simulation::new(sites, 3)
                .settings(shaped(shape, 7))
                .run(|mut party| async move {
                    let me = party.me().index();
                    // Set at all, at all but one, at one, at none, at 251 of 260.
                    let mut all = [true, me != 9, me == 9, false, me < 251];
                    let mut any = all;
                    party.all(TEST, &mut all).await?;
                    party.any(TEST, &mut any).await?;
                    let mut sums = [me as u64];
                    party.sum(TEST, &mut sums).await?;
                    let mut reached = [false; 2];
                    let least = [260, 261];
                    party
                        .at_least(TEST, 300, &[1, 1], &least, &mut reached)
                        .await?;
                    Ok::<_, Error>((all, any, sums, reached))
                });
        let expected = (
            [true, false, false, false, false],
            [true, true, true, false, true],
            [260 * 259 / 2],
            [true, false],
        );
        for found in outcome.into_values().unwrap() {
            assert_eq!(found, expected);
        }
    }
}

#[test]
fn a_hub_sees_masked_vectors_alone() {
    // The same seed, so the same keys and masks, and other numbers with the same sum: but for the masked
    // vectors of the two sites that differ, the hub sees the same bytes, and these look alike.
    const COUNT: usize = 4_000;
    let view = |numbers: [u64; 5]| {
        let outcome = Simulation::new(5, 4)
            .settings(shaped(Shape::Star, 0))
            .recording()
            .run(|mut party| async move {
                let mut values = vec![numbers[party.me().index()]; COUNT];
                party.sum(TEST, &mut values).await
            });
        let frames: Vec<(Site, Vec<u8>)> = outcome
            .view(HUB)
            .into_iter()
            .map(|frame| (frame.from, frame.bytes.clone()))
            .collect();
        outcome.into_values().unwrap();
        frames
    };
    let (one, other) = (view([1, 70, 3, 30, 5]), view([1, 30, 3, 70, 5]));
    let mut differing = Vec::new();
    for ((from, left), (_, right)) in one.iter().zip(&other) {
        if left == right {
            continue;
        }
        differing.push(from.index());
        assert!(Header::decode(left).unwrap().call == 1);
        for bytes in [left, right] {
            let mut counts = [0u32; 256];
            bytes[HEADER_BYTES..]
                .iter()
                .for_each(|byte| counts[usize::from(*byte)] += 1);
            let expected = (COUNT * 8) as f64 / 256.0;
            let chi: f64 = counts
                .iter()
                .map(|&count| (f64::from(count) - expected).powi(2) / expected)
                .sum();
            // 255 + 5 standard deviations.
            assert!(chi < 368.0, "{chi}");
        }
    }
    assert_eq!(differing, [1, 3]);
}
