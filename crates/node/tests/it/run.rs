//! Runs over real connections, unbroken and broken: the answers are those of the memory network.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use hedgerow_node::agreement::StudyHash;
use hedgerow_node::identity::Purpose;
use hedgerow_node::journal::Journal;
use hedgerow_node::knock::{Door, Due};
use hedgerow_node::{End, Reason, Watcher};
use proptest::test_runner::{RngAlgorithm, TestRng};
use rand_core::Rng as _;
use tokio::net::TcpListener;

use super::secret;
use super::world::{Learned, Lie, Odd, World, run_test};

/// Lets every site live once; all must end well.
pub(super) async fn all_live(world: &Arc<World>) -> Vec<Learned> {
    let lives: Vec<_> = (0..world.sites())
        .map(|place| tokio::spawn(Arc::clone(world).live(place)))
        .collect();
    let mut learned = Vec::new();
    for life in lives {
        learned.push(life.await.unwrap().unwrap().0);
    }
    learned
}

#[test]
fn connections_give_what_the_memory_network_gives() {
    for sites in [2, 3, 5] {
        run_test(async move {
            let world = Arc::new(World::new(sites));
            let expected = world.in_memory();
            // Answers, ledgers (which hold every key and call), messages, bytes and rounds.
            assert_eq!(all_live(&world).await, expected);
        });
    }
}

#[test]
fn all_sites_sign_and_nothing_of_the_run_is_left() {
    run_test(async {
        let world = Arc::new(World::new(3));
        let lives: Vec<_> = (0..3)
            .map(|place| tokio::spawn(Arc::clone(&world).live(place)))
            .collect();
        let mut seals = Vec::new();
        for life in lives {
            seals.push(life.await.unwrap().unwrap().1);
        }
        assert!(seals.windows(2).all(|pair| pair[0] == pair[1]));
        for (place, signature) in seals[0].signatures.iter().enumerate() {
            let key = secret(place as u8).public();
            assert!(key.verifies(Purpose::Release, &seals[0].digest, signature));
        }
        for place in 0..3 {
            let entries = Journal::look(&world.data(place)).unwrap();
            assert!(entries[0].is_over);
            assert!(
                entries[0]
                    .frames
                    .iter()
                    .all(|frames| (frames.1, frames.2) == (0, 0))
            );
        }
        let again = Arc::clone(&world).live(0).await.unwrap_err();
        assert!(again.contains("run 1 of this study is over"), "{again}");
    });
}

/// Cuts lives off at random moments, some several times, and lets them begin again. Counts the
/// cuts that fell into a run.
pub(super) async fn with_kills(
    world: &Arc<World>,
    victims: &[usize],
    random: &mut TestRng,
    cuts: &Arc<AtomicUsize>,
) -> Vec<Learned> {
    let lives: Vec<_> = (0..world.sites())
        .map(|place| {
            let (world, cuts) = (Arc::clone(world), Arc::clone(cuts));
            let kills = if victims.contains(&place) {
                1 + random.next_u32() % 3
            } else {
                0
            };
            let moments: Vec<u64> = (0..kills)
                .map(|_| u64::from(random.next_u32()) % 120_000)
                .collect();
            tokio::spawn(async move {
                for moment in moments {
                    let life = Arc::clone(&world).live(place);
                    let cut = tokio::time::timeout(Duration::from_micros(moment), life).await;
                    if let Ok(whole) = cut {
                        return whole;
                    }
                    let entries = Journal::look(&world.data(place)).unwrap();
                    let entry = entries.first().filter(|entry| !entry.is_over);
                    if entry.is_some_and(|entry| entry.frames[0].1 > 0) {
                        cuts.fetch_add(1, Ordering::Relaxed);
                    }
                }
                world.live(place).await
            })
        })
        .collect();
    let mut learned = Vec::new();
    for life in lives {
        learned.push(life.await.unwrap().unwrap().0);
    }
    learned
}

#[test]
fn a_site_that_is_cut_off_anywhere_ends_with_the_same_answers() {
    let mut random = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let cuts = Arc::new(AtomicUsize::new(0));
    for turn in 0..24 {
        let world = Arc::new(World::new(3));
        let expected = world.in_memory();
        let victims: &[usize] = match turn % 4 {
            0 => &[0],
            1 => &[1],
            2 => &[2],
            _ => &[0, 2],
        };
        run_test(async {
            assert_eq!(
                with_kills(&world, victims, &mut random, &cuts).await,
                expected
            );
        });
    }
    let cuts = cuts.load(Ordering::Relaxed);
    assert!(cuts >= 10, "only {cuts} cuts fell into a run");
    eprintln!("{cuts} cuts fell into a run");
}

#[test]
fn a_run_that_goes_on_with_other_values_is_stopped() {
    run_test(async {
        let mut world = World::new(2);
        world.turns = 400;
        let world = Arc::new(world);
        let both = async {
            let (first, second) =
                tokio::join!(Arc::clone(&world).live(0), Arc::clone(&world).live(1));
            drop((first, second));
        };
        let in_the_middle = async {
            while Journal::look(&world.data(0))
                .is_ok_and(|entries| entries.first().is_none_or(|entry| entry.frames[0].1 < 20))
            {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::select! {
            () = both => panic!("the run ended before it could be cut off"),
            () = in_the_middle => {}
        }
        let odd = Odd {
            lie: Lie {
                by: 1,
                from_turn: 0,
                to_turn: 400,
            },
            ..Odd::none(0)
        };
        let peer = tokio::spawn(Arc::clone(&world).live(1));
        let error = Arc::clone(&world).live_oddly(0, odd).await.unwrap_err();
        assert!(
            error.contains("is not the one that was sent before the restart"),
            "{error}"
        );
        assert!(error.contains("`s1`"), "{error}");
        let error = peer.await.unwrap().unwrap_err();
        assert!(error.contains("`s0` has ended its part"), "{error}");
    });
}

/// Copies a site's data folder as it is at the moment: a backup, or a snapshot of its machine.
fn copy(from: &std::path::Path, to: &std::path::Path) {
    let _ = std::fs::remove_dir_all(to);
    std::fs::create_dir_all(to).unwrap();
    for file in std::fs::read_dir(from).unwrap() {
        let file = file.unwrap();
        std::fs::copy(file.path(), to.join(file.file_name())).unwrap();
    }
}

/// Two of three sites come back from an old backup, and one of the two now says something else. The
/// third has seen what was said before, and nobody signs anything.
#[test]
fn an_old_backup_and_a_lie_are_noticed_at_the_next_step() {
    run_test(async {
        let mut world = World::new(3);
        world.turns = 400;
        let world = Arc::new(world);
        let backup = tempfile::tempdir().unwrap();
        let until = |frames: u64| {
            let world = Arc::clone(&world);
            async move {
                let all = async {
                    let life = |place| Arc::clone(&world).live(place);
                    let ends = tokio::join!(life(0), life(1), life(2));
                    drop(ends);
                };
                let there = async {
                    while Journal::look(&world.data(0)).is_ok_and(|entries| {
                        entries
                            .first()
                            .is_none_or(|entry| entry.frames[0].1 < frames)
                    }) {
                        tokio::time::sleep(Duration::from_millis(5)).await;
                    }
                };
                tokio::select! {
                    () = all => panic!("the run ended before it could be cut off"),
                    () = there => {}
                }
                // The lives that were cut off let go of their journals.
                tokio::time::sleep(Duration::from_millis(300)).await;
            }
        };
        until(40).await;
        for place in 0..2 {
            copy(&world.data(place), &backup.path().join(place.to_string()));
        }
        until(120).await;
        for place in 0..2 {
            copy(&backup.path().join(place.to_string()), &world.data(place));
        }
        let odd = Odd {
            lie: Lie {
                by: 5,
                from_turn: 8,
                to_turn: 400,
            },
            ..Odd::none(1)
        };
        let (victim, liar, third) = tokio::join!(
            Arc::clone(&world).live(0),
            Arc::clone(&world).live_oddly(1, odd),
            Arc::clone(&world).live(2),
        );
        for (place, life) in [victim, liar, third].into_iter().enumerate() {
            let error = life.err();
            assert!(error.is_some(), "site {place} came to its end");
        }
        for place in 0..3 {
            let entries = Journal::look(&world.data(place)).unwrap();
            assert!(!entries[0].is_over, "site {place}");
        }
    });
}

/// A number that cannot be ends the run with the question that it was an answer to; from the journal,
/// the same again, and never with a panic.
#[test]
fn a_number_that_cannot_be_ends_a_run_the_same_way_after_a_restart() {
    run_test(async {
        for by in [1 << 40, 1 << 63] {
            let world = Arc::new(World::new(3));
            let life = |place: usize| {
                let odd = Odd {
                    lie: Lie {
                        by: if place == 1 { by } else { 0 },
                        from_turn: 1,
                        to_turn: 2,
                    },
                    most: Some(1_000),
                    ..Odd::none(place)
                };
                Arc::clone(&world).live_oddly(place, odd)
            };
            let mut said = Vec::new();
            for _ in 0..2 {
                let (first, _, third) = tokio::join!(life(0), life(1), life(2));
                for error in [first.unwrap_err(), third.unwrap_err()] {
                    assert!(error.contains("do not fit together"), "{error}");
                    assert!(!error.contains("panicked"), "{error}");
                    said.push(error);
                }
            }
            assert_eq!(said[..2], said[2..], "the same after a restart");
        }
    });
}

/// A site that does not sign ends the run for all, and they hear why.
#[test]
fn peers_hear_that_a_site_does_not_sign_the_release() {
    run_test(async {
        let world = Arc::new(World::new(3));
        let odd = Odd {
            most: Some(0),
            end: End::Unsound,
            ..Odd::none(1)
        };
        let (first, second, third) = tokio::join!(
            Arc::clone(&world).live(0),
            Arc::clone(&world).live_oddly(1, odd),
            Arc::clone(&world).live(2),
        );
        assert!(second.is_err());
        // Whoever hears of it from the other first hears who it was, and not why.
        let errors = [first.unwrap_err(), third.unwrap_err()];
        assert!(
            errors.iter().all(|error| error.contains("`s1`")),
            "{errors:?}"
        );
        let is_told = |error: &String| error.contains("it does not sign the release");
        assert!(errors.iter().any(is_told), "{errors:?}");
        for place in 0..3 {
            assert!(!Journal::look(&world.data(place)).unwrap()[0].is_over);
        }
    });
}

#[test]
fn a_site_gone_for_good_is_named_in_time() {
    run_test(async {
        let mut world = World::new(3);
        world.limits.patience = Duration::from_secs(1);
        let world = Arc::new(world);
        let started = Instant::now();
        let first = tokio::spawn(Arc::clone(&world).live(0));
        let second = tokio::spawn(Arc::clone(&world).live(1));
        for life in [first, second] {
            let error = life.await.unwrap().unwrap_err();
            assert!(error.contains("`s2`"), "{error}");
        }
        assert!(started.elapsed() < Duration::from_secs(10));
        // It comes back: the run goes on where it stands.
        let expected = world.in_memory();
        assert_eq!(all_live(&world).await, expected);
    });
}

/// The others have come to their end and wait for the next run: they say so, and nobody waits for
/// them.
#[test]
fn a_site_that_is_cut_off_at_the_very_end_ends_at_once() {
    run_test(async {
        let world = Arc::new(World::new(3));
        let odd = Odd {
            is_cut_off: true,
            ..Odd::none(1)
        };
        let others = [0, 2].map(|place| tokio::spawn(Arc::clone(&world).live(place)));
        let cut = Arc::clone(&world).live_oddly(1, odd).await.unwrap_err();
        assert_eq!(cut, "it was cut off");
        for other in others {
            other.await.unwrap().unwrap();
        }
        let mut waiting = tokio::task::JoinSet::new();
        for place in [0, 2] {
            let door = Door {
                me: place,
                study: StudyHash(odd.study),
                secret: Arc::new(secret(place as u8)),
                keys: (0..3).map(|site| secret(site).public()).collect(),
                questions: None,
                star: None,
            };
            let address = world.listening[usize::from(place)].clone();
            waiting.spawn(async move {
                let listener = TcpListener::bind(address).await.unwrap();
                let watcher: Watcher = Arc::new(|_| {});
                let due = || Due {
                    number: 2,
                    is_under_way: false,
                };
                let takes = |_| Err(Reason::Over);
                let _ = door.wait(&listener.into(), takes, due, &watcher).await;
            });
        }
        let started = Instant::now();
        Arc::clone(&world).live(1).await.unwrap();
        assert!(started.elapsed() < world.limits.patience / 3);
        assert!(Journal::look(&world.data(1)).unwrap()[0].is_over);
    });
}

fn door_of(me: u16) -> Door {
    Door {
        me,
        study: StudyHash(Odd::none(1).study),
        secret: Arc::new(secret(me as u8)),
        keys: (0..3).map(|site| secret(site).public()).collect(),
        questions: None,
        star: None,
    }
}

/// A site that begins a little later than another has failed to hears of it all the same, and does not
/// wait for a third either.
#[test]
fn a_site_that_declines_before_a_peer_listens_is_heard() {
    run_test(async {
        let world = Arc::new(World::new(3));
        let started = Instant::now();
        let address = world.listening[0].clone();
        let declined = tokio::spawn(async move {
            door_of(2).decline(0, &address, 1, End::Own).await;
        });
        tokio::time::sleep(Duration::from_millis(700)).await;
        assert!(!declined.is_finished());
        let error = Arc::clone(&world).live(0).await.unwrap_err();
        assert!(error.contains("`s2`"), "{error}");
        declined.await.unwrap();
        assert!(started.elapsed() < world.limits.patience / 3);
    });
}

/// A site that cannot take its part says so, and nobody waits for it.
#[test]
fn a_site_that_declines_is_named_at_once() {
    run_test(async {
        let world = Arc::new(World::new(3));
        let others = [0, 2].map(|place| tokio::spawn(Arc::clone(&world).live(place)));
        let door = door_of(1);
        let started = Instant::now();
        world.until_said(2, "Connected", 1).await;
        for peer in [0, 2] {
            // What is said of another run changes nothing.
            door.decline(peer, &world.listening[usize::from(peer)], 7, End::Own)
                .await;
        }
        assert!(others.iter().all(|other| !other.is_finished()));
        for peer in [0, 2] {
            door.decline(peer, &world.listening[usize::from(peer)], 1, End::Own)
                .await;
        }
        for other in others {
            let error = other.await.unwrap().unwrap_err();
            assert!(error.contains("`s1`"), "{error}");
        }
        assert!(started.elapsed() < world.limits.patience / 3);
    });
}

#[test]
fn a_peer_with_another_release_is_named_and_nothing_is_signed() {
    run_test(async {
        let world = Arc::new(World::new(3));
        let odd = Odd {
            says: "another",
            ..Odd::none(1)
        };
        let first = tokio::spawn(Arc::clone(&world).live(0));
        let third = tokio::spawn(Arc::clone(&world).live(2));
        let error = Arc::clone(&world).live_oddly(1, odd).await.unwrap_err();
        assert!(error.contains("`s0` has another release"), "{error}");
        for life in [first, third] {
            let error = life.await.unwrap().unwrap_err();
            assert!(error.contains("`s1` has another release"), "{error}");
        }
    });
}

#[test]
fn what_a_site_does_not_allow_is_not_sent() {
    run_test(async {
        let mut world = World::new(3);
        world.limits.patience = Duration::from_secs(3);
        let world = Arc::new(world);
        let odd = Odd {
            allowed: &["other answers"],
            ..Odd::none(1)
        };
        let others = [0, 2].map(|place| tokio::spawn(Arc::clone(&world).live(place)));
        let error = Arc::clone(&world).live_oddly(1, odd).await.unwrap_err();
        assert_eq!(
            error,
            "accept.disclosures: does not allow `answers`; nothing was sent for it"
        );
        for other in others {
            let error = other.await.unwrap().unwrap_err();
            assert!(error.contains("has ended its part in the run"), "{error}");
        }
        // Openings were exchanged and keys agreed on, in two frames, and nothing followed.
        let entries = Journal::look(&world.data(1)).unwrap();
        let sent: Vec<u64> = entries[0].frames.iter().map(|frames| frames.1).collect();
        assert_eq!(sent, [3, 3]);
    });
}
