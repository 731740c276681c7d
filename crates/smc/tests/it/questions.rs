//! Sites that ask different questions: each an error that names the peer, never an answer.

use std::future::Future;

use hedgerow_smc::error::Misbehaviour;
use hedgerow_smc::memory::Simulation;
use hedgerow_smc::{Error, Items, Party, Rank, Settings, Site, Tree, What};

use crate::harness::TEST;

const OTHER: What = What::new("other values", "the test");

/// One site asks otherwise: nobody gets an answer, and whoever finds out names that site.
fn differ<F>(question: impl Fn(Party, bool) -> F)
where
    F: Future<Output = Result<(), Error>>,
{
    for sites in [2, 3] {
        for odd in Site::all(sites) {
            let ask = |party: Party| {
                let other = party.me() == odd;
                question(party, other)
            };
            for settings in [Settings::hardened(), Settings::published()] {
                let run = Simulation::new(sites, 5).settings(settings).run(ask);
                check(run.results, odd);
            }
            check(Simulation::new(sites, 5).run_ideal(ask), odd);
        }
    }
}

fn check(results: Vec<Result<(), Error>>, odd: Site) {
    let mut found = false;
    for (me, result) in Site::all(results.len()).zip(results) {
        let error = result.expect_err("no answer");
        if let Error::PeerMisbehaved { peer, problem, .. } = error
            && problem == Misbehaviour::OtherQuestion
        {
            found = true;
            assert!(me == odd || peer == odd, "{me} blames {peer}, not {odd}");
        }
    }
    assert!(found, "nobody found out");
}

#[test]
fn all_against_any() {
    differ(|mut party, other| async move {
        if other {
            party.any(TEST, &mut [true, false]).await
        } else {
            party.all(TEST, &mut [true, false]).await
        }
    });
}

#[test]
fn minimum_against_maximum() {
    differ(|mut party, other| async move {
        if other {
            party.minimum(TEST, |_| 0..=9, &mut [Some(3)]).await
        } else {
            party.maximum(TEST, |_| 0..=9, &mut [Some(3)]).await
        }
    });
}

#[test]
fn other_lengths() {
    for (own, others) in [(3, 5), (5, 3), (0, 1), (1, 0)] {
        let length = move |other| if other { others } else { own };
        differ(
            |mut party, other| async move { party.all(TEST, &mut vec![true; length(other)]).await },
        );
        differ(
            |mut party, other| async move { party.sum(TEST, &mut vec![1; length(other)]).await },
        );
        differ(|mut party, other| async move {
            let mut values = vec![Some(1); length(other)];
            party.minimum(TEST, |_| 0..=9, &mut values).await
        });
        differ(|mut party, other| async move {
            let questions = vec![
                Rank {
                    rank: 1,
                    domain: 0..=9
                };
                length(other)
            ];
            let mut answers = vec![None; questions.len()];
            party.kth(TEST, 9, &questions, |_, _| 1, &mut answers).await
        });
        differ(|mut party, other| async move {
            let tree = [Tree::new(vec![0, 0, 1])?];
            let mut nodes = vec![Some(1); length(other)];
            party.lca(TEST, &tree, |_| 0, &mut nodes).await
        });
    }
}

#[test]
fn other_thresholds_and_bounds() {
    differ(|mut party, other| async move {
        let thresholds = [4, if other { 5 } else { 6 }];
        party
            .at_least(TEST, 40, &[1, 2], &thresholds, &mut [false; 2])
            .await
    });
    differ(|mut party, other| async move {
        let bound = if other { 40 } else { 41 };
        party.at_least(TEST, bound, &[1], &[2], &mut [false]).await
    });
    differ(|mut party, other| async move {
        let questions = [Rank {
            rank: 1 + u64::from(other),
            domain: 0..=9,
        }];
        party.kth(TEST, 9, &questions, |_, _| 1, &mut [None]).await
    });
    differ(|mut party, other| async move {
        let questions = [Rank {
            rank: 1,
            domain: 0..=9,
        }];
        let records = 9 + u64::from(other);
        party
            .kth(TEST, records, &questions, |_, _| 1, &mut [None])
            .await
    });
}

#[test]
fn other_domains() {
    for domain in [0..=8, 1..=9, 1..=10] {
        let domain = &domain;
        let of = move |other: bool| if other { domain.clone() } else { 0..=9 };
        differ(|mut party, other| async move {
            party.minimum(TEST, |_| of(other), &mut [Some(3)]).await
        });
        differ(|mut party, other| async move {
            party.ranges(TEST, |_| of(other), &mut [Some((3, 4))]).await
        });
        differ(|mut party, other| async move {
            let questions = [Rank {
                rank: 1,
                domain: of(other),
            }];
            party.kth(TEST, 9, &questions, |_, _| 1, &mut [None]).await
        });
    }
}

#[test]
fn other_trees() {
    differ(|mut party, other| async move {
        let parents = if other { vec![0, 0, 1] } else { vec![0, 0, 0] };
        let tree = [Tree::new(parents)?];
        party.lca(TEST, &tree, |_| 0, &mut [Some(2)]).await
    });
    differ(|mut party, other| async move {
        let trees = [Tree::new(vec![0, 0, 1])?, Tree::new(vec![0, 0, 0])?];
        party
            .lca(TEST, &trees, |_| usize::from(other), &mut [Some(2)])
            .await
    });
}

#[test]
fn other_widths_and_capacities() {
    for (width, capacity) in [(2, 2), (1, 3)] {
        differ(|mut party, other| async move {
            let (width, capacity) = if other { (width, capacity) } else { (1, 2) };
            let shape = Items {
                width,
                capacity,
                domain: 256.0,
                decoy: &|_| vec![9; width],
            };
            party.union(TEST, &shape, &mut vec![vec![1; width]]).await
        });
    }
    differ(|mut party, other| async move {
        let capacity = 5 + usize::from(other);
        party
            .align(TEST, capacity, &[b"a", b"b"], &mut Vec::new())
            .await
    });
}

#[test]
fn other_names() {
    let name = |other| if other { OTHER } else { TEST };
    differ(|mut party, other| async move { party.sum(name(other), &mut [1]).await });
    differ(|mut party, other| async move { party.all(name(other), &mut [true]).await });
    differ(|mut party, other| async move {
        party
            .at_least(name(other), 9, &[1], &[2], &mut [false])
            .await
    });
}

#[test]
fn other_primitives_of_a_trusted_third() {
    let results = Simulation::new(3, 1).run_ideal(|mut party| async move {
        if party.me().index() == 2 {
            party.sum(TEST, &mut [1]).await
        } else {
            party.all(TEST, &mut [true]).await
        }
    });
    check(results, Site::new(2));
}

/// A search for nothing is a call like any other: what follows it stays in step.
#[test]
fn no_question_is_asked_too() {
    for settings in [Settings::hardened(), Settings::published()] {
        for sites in [2, 3] {
            let run = Simulation::new(sites, 1)
                .settings(settings)
                .run(|mut party| async move {
                    party.minimum(TEST, |_| 0..=9, &mut []).await?;
                    party.kth(TEST, 9, &[], |_, _| 0, &mut []).await?;
                    let sent = party.traffic().map(|traffic| traffic.rounds);
                    party.sum(TEST, &mut [1]).await?;
                    Ok::<_, Error>(sent)
                });
            assert!(
                run.into_values()
                    .unwrap()
                    .iter()
                    .all(|&sent| sent > Some(2))
            );
        }
    }
}
