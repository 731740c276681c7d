//! A star: leaves that listen nowhere reach each other through the hub, and end with the answers of a mesh.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use hedgerow_node::End;
use hedgerow_node::agreement::StudyHash;
use hedgerow_node::knock::{Door, KnockError};
use hedgerow_node::{Star, Uplink, Visit};
use proptest::test_runner::{RngAlgorithm, TestRng};

use super::impostor::{connector, framed, hear, opening};
use super::run::{all_live, with_kills};
use super::secret;
use super::world::{Learned, Odd, World, run_test};

fn star(sites: usize, hub: usize) -> World {
    let mut world = World::new(sites);
    world.hub = Some(hub);
    // Whoever dials a leaf finds nothing there.
    for ways in &mut world.ways {
        for (place, way) in ways.iter_mut().enumerate() {
            if place != hub {
                *way = String::from("127.0.0.1:1");
            }
        }
    }
    world
}

/// What does not depend on the paths.
fn answers(learned: Vec<Learned>) -> Vec<(Vec<u64>, Vec<Option<u64>>)> {
    let each = learned.into_iter();
    each.map(|learned| (learned.sums, learned.kth)).collect()
}

#[test]
fn leaves_that_listen_nowhere_end_with_the_answers_of_a_mesh() {
    for (sites, hub) in [(2, 1), (3, 0), (3, 2), (5, 1)] {
        run_test(async move {
            let world = Arc::new(star(sites, hub));
            let learned = all_live(&world).await;
            assert_eq!(learned, world.in_memory());
            let mesh = Arc::new(World::new(sites));
            assert_eq!(answers(learned), answers(all_live(&mesh).await));
        });
    }
}

#[test]
fn a_star_ends_with_the_same_answers_whoever_is_cut_off() {
    let mut random = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let cuts = Arc::new(AtomicUsize::new(0));
    for turn in 0..12 {
        // The hub, a leaf, both leaves, everybody.
        let victims: &[usize] = [&[1][..], &[2], &[0, 2], &[0, 1, 2]][turn % 4];
        let (mut drawn, cuts) = (random.clone(), Arc::clone(&cuts));
        rand_core::Rng::next_u64(&mut random);
        run_test(async move {
            let world = Arc::new(star(3, 1));
            let expected = world.in_memory();
            let found = with_kills(&world, victims, &mut drawn, &cuts).await;
            assert_eq!(found, expected);
        });
    }
    let cuts = cuts.load(Ordering::Relaxed);
    assert!(cuts >= 4, "only {cuts} cuts fell into a run");
}

/// A leaf finds the hub away: what it says names the hub.
#[test]
fn a_hub_that_is_away_is_named() {
    run_test(async {
        let mut world = star(3, 1);
        world.limits.patience = Duration::from_secs(2);
        let world = Arc::new(world);
        let leaves = [0, 2].map(|place| tokio::spawn(Arc::clone(&world).live(place)));
        for leaf in leaves {
            let error = leaf.await.unwrap().unwrap_err();
            assert!(error.contains("`s1`"), "{error}");
        }
        let said = world.said(0);
        let words = "peer: \"s2\", why: \"cannot be reached: the hub `s1`, through which it is reached, is away: cannot be reached";
        assert!(said.contains(words), "{said}");
    });
}

/// The greeting of a leaf to its hub.
fn relay(from: u8, study: [u8; 32]) -> Vec<u8> {
    let mut body = opening(8);
    body.extend(study);
    body.extend([from, 0, 1, 0, 1]);
    framed(&body)
}

#[test]
fn only_sites_of_the_study_have_anything_passed_on() {
    run_test(async {
        let mut world = star(3, 1);
        world.limits.patience = Duration::from_secs(5);
        let world = Arc::new(world);
        let hub = tokio::spawn(Arc::clone(&world).live(1));
        let address = &world.listening[1];
        for stranger in [connector(None, |_| {}), connector(Some(50), |_| {})] {
            assert_eq!(hear(address, &stranger, &relay(0, [9; 32])).await, b"");
        }
        world.until_said(1, "TurnedAway", 2).await;
        let leaf = connector(Some(0), |_| {});
        for (say, reason, words) in [
            (relay(0, [8; 32]), 1, "different studies"),
            (relay(2, [9; 32]), 3, "not the one that its key has"),
        ] {
            assert_eq!(hear(address, &leaf, &say).await, framed(&[1, reason]));
            world.until_said(1, words, 1).await;
        }
        hub.abort();
        // Without a star nobody passes anything on.
        let mut mesh = World::new(3);
        mesh.limits.patience = Duration::from_secs(5);
        let mesh = Arc::new(mesh);
        let site = tokio::spawn(Arc::clone(&mesh).live(1));
        let heard = hear(&mesh.listening[1], &leaf, &relay(0, [9; 32])).await;
        assert_eq!(heard, framed(&[1, 10]));
        mesh.until_said(1, "passes nothing on", 1).await;
        site.abort();
    });
}

/// A command beside a leaf's node reaches the other leaves, and takes no call from the node.
#[test]
fn a_leaf_that_gives_up_is_heard_by_the_other_leaves_through_the_hub() {
    run_test(async {
        let world = Arc::new(star(3, 1));
        let others = [1, 2].map(|place| tokio::spawn(Arc::clone(&world).live(place)));
        world.until_said(2, "Connected", 1).await;
        let keys = world.keys();
        let door = Door {
            me: 0,
            study: StudyHash(Odd::none(0).study),
            secret: Arc::new(secret(0)),
            keys: keys.clone(),
            questions: None,
            star: Some(Star::Leaf(Uplink::start(Visit {
                me: 0,
                hub: 1,
                name: String::from("s1"),
                address: world.listening[1].clone(),
                study: StudyHash(Odd::none(0).study),
                secret: Arc::new(secret(0)),
                keys,
                awaits: false,
            }))),
        };
        // Nobody has called the hub on behalf of this site's node.
        let unheard = door.knock(0, "", 1).await.unwrap_err();
        let KnockError::Unreachable(why) = &unheard else {
            panic!("{unheard}");
        };
        assert!(
            why.to_string().contains("not connected with the hub `s1`"),
            "{why}"
        );
        door.decline(2, "", 1, End::GivenUp).await;
        door.decline(1, &world.listening[1], 1, End::GivenUp).await;
        for other in others {
            let error = other.await.unwrap().unwrap_err();
            assert!(error.contains("`s0` has given the run up"), "{error}");
        }
    });
}
