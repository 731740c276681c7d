//! Corners that a random input would seldom meet, at every level.

use hedgerow_smc::error::{OwnConfig, OwnData};
use hedgerow_smc::memory::Simulation;
use hedgerow_smc::{Error, Items, Party, Rank, Settings, Site, Tree};

use crate::harness::{TEST, agree, levels};

const SITES: [usize; 4] = [1, 2, 3, 9];

#[test]
fn sums_wrap_around() {
    for sites in SITES {
        let answers = agree(sites, 1, |mut party| async move {
            let mut values = [u64::MAX, 1 << 63, 0];
            party.sum(TEST, &mut values).await?;
            Ok(values)
        });
        let sites = sites as u64;
        let expected = [sites.wrapping_neg(), (sites & 1) << 63, 0];
        assert!(answers.iter().all(|answer| *answer == expected));
    }
}

#[test]
fn questions_of_length_0() {
    for sites in SITES {
        agree(sites, 1, |mut party| async move {
            party.sum(TEST, &mut []).await?;
            party.all(TEST, &mut []).await?;
            party.any(TEST, &mut []).await?;
            party.at_least(TEST, 0, &[], &[], &mut []).await?;
            party.lca(TEST, &[], |_| 0, &mut []).await?;
            party.minimum(TEST, |_| 0..=0, &mut []).await?;
            party.ranges(TEST, |_| 0..=0, &mut []).await?;
            party.kth(TEST, 0, &[], |_, _| 0, &mut []).await?;
            let mut items = Vec::new();
            party
                .union(
                    TEST,
                    &Items {
                        width: 4,
                        capacity: 0,
                        domain: 256.0,
                        decoy: &|_| vec![1; 4],
                    },
                    &mut items,
                )
                .await?;
            let mut common = Vec::new();
            party.align(TEST, 0, &[], &mut common).await?;
            Ok((items, common))
        });
    }
}

#[test]
fn sums_that_are_bound_to_be_0() {
    for sites in SITES {
        let answers = agree(sites, 1, |mut party| async move {
            let mut answers = [false; 3];
            party
                .at_least(TEST, 0, &[0; 3], &[0, 1, u64::MAX], &mut answers)
                .await?;
            Ok(answers)
        });
        assert!(answers.iter().all(|answer| *answer == [true, false, false]));
    }
}

#[test]
fn one_site_alone_holds_anything() {
    for sites in SITES {
        for holder in 0..sites {
            let answers = agree(sites, 1, |mut party| async move {
                let holds = party.me().index() == holder;
                let tree = [Tree::new(vec![0, 0, 1])?];
                let mut nodes = [holds.then_some(2)];
                party.lca(TEST, &tree, |_| 0, &mut nodes).await?;
                let mut ranges = [holds.then_some((3, 8))];
                party.ranges(TEST, |_| 3..=8, &mut ranges).await?;
                let mut bits = [holds];
                party.any(TEST, &mut bits).await?;
                let questions = [1, 2].map(|rank| Rank {
                    rank,
                    domain: 3..=8,
                });
                let mut kth = [None; 2];
                let at_most = |_: usize, value| u64::from(holds && value >= 8);
                party.kth(TEST, 2, &questions, at_most, &mut kth).await?;
                Ok((nodes, ranges, bits, kth))
            });
            let expected = ([Some(2)], [Some((3, 8))], [true], [Some(8), None]);
            assert!(answers.iter().all(|answer| *answer == expected));
        }
    }
}

#[test]
fn all_records_equal() {
    for sites in SITES {
        // Four records of value 6 at each site; the first, the last and one too many.
        let all = 4 * sites as u64;
        let answers = agree(sites, 1, |mut party| async move {
            let questions = [1, all.div_ceil(2), all, all + 1].map(|rank| Rank {
                rank,
                domain: 0..=6,
            });
            let mut kth = [None; 4];
            let at_most = |_: usize, value| if value >= 6 { 4 } else { 0 };
            party.kth(TEST, all, &questions, at_most, &mut kth).await?;
            Ok(kth)
        });
        assert!(
            answers
                .iter()
                .all(|answer| *answer == [Some(6), Some(6), Some(6), None])
        );
    }
}

#[test]
fn the_median_of_jx08_ends_with_ties() {
    // Algorithm 4 as printed waits for as many records below as above, and 1, 5, 5, 5 has none.
    let records = [vec![1u64, 5], vec![5], vec![5]];
    let answers = agree(3, 1, |mut party| {
        let own = records[party.me().index()].clone();
        async move {
            let mut median = [None];
            let at_most = |_: usize, value| own.iter().filter(|&&own| own <= value).count() as u64;
            party
                .kth(
                    TEST,
                    4,
                    &[Rank {
                        rank: 2,
                        domain: 0..=9,
                    }],
                    at_most,
                    &mut median,
                )
                .await?;
            Ok(median)
        }
    });
    assert!(answers.iter().all(|answer| *answer == [Some(5)]));
}

/// What the only site says of a question that it cannot ask.
fn refused<F: Future<Output = Result<(), Error>>>(ask: impl Fn(Party) -> F) -> Error {
    for settings in levels() {
        for sites in [2, 3] {
            let outcome = Simulation::new(sites, 1).settings(settings).run(&ask);
            assert!(outcome.results.iter().all(Result::is_err));
        }
    }
    let outcome = Simulation::new(3, 1).run(&ask);
    outcome.into_values().unwrap_err()
}

#[test]
fn own_faults_are_said_before_anything_is_sent() {
    let error =
        refused(|mut party| async move { party.sum_to(TEST, Site::new(9), &mut [1]).await });
    assert_eq!(
        error,
        Error::OwnConfig(OwnConfig::NoSuchSite { site: Site::new(9) })
    );
    let error = refused(|mut party| async move {
        party
            .at_least(TEST, 5, &[1, 6], &[1, 1], &mut [false; 2])
            .await
    });
    assert_eq!(error, Error::OwnData(OwnData::AboveBound { index: 1 }));
    let error = refused(|mut party| async move {
        party
            .at_least(TEST, 5, &[1, 2], &[1], &mut [false; 2])
            .await
    });
    assert_eq!(
        error,
        Error::OwnConfig(OwnConfig::Lengths { left: 2, right: 1 })
    );
    let error = refused(|mut party| async move {
        party
            .at_least(TEST, u64::MAX, &[1], &[1], &mut [false])
            .await
    });
    assert_eq!(
        error,
        Error::OwnConfig(OwnConfig::Bound { bound: u64::MAX })
    );
    let error = refused(|mut party| async move {
        party
            .lca(TEST, &[Tree::new(vec![0])?], |_| 0, &mut [Some(1)])
            .await
    });
    assert_eq!(error, Error::OwnData(OwnData::NoSuchNode { index: 0 }));
    let error =
        refused(|mut party| async move { party.minimum(TEST, |_| 2..=4, &mut [Some(5)]).await });
    assert_eq!(error, Error::OwnData(OwnData::OutsideDomain { index: 0 }));
    let error = refused(|mut party| async move {
        party
            .align(TEST, 5, &[b"a", b"b", b"a"], &mut Vec::new())
            .await
    });
    assert_eq!(error, Error::OwnData(OwnData::Duplicate { index: 2 }));
    let error = refused(|mut party| async move {
        let shape = Items {
            width: 2,
            capacity: 1,
            domain: 256.0,
            decoy: &|_| vec![0; 2],
        };
        party.union(TEST, &shape, &mut vec![vec![1]]).await
    });
    assert_eq!(error, Error::OwnData(OwnData::Width { index: 0 }));
    assert!(Tree::new(vec![0, 2, 1]).is_err());
    assert!(Tree::new(Vec::new()).is_err());
}

#[test]
fn a_site_that_leaves_the_ideal_twin_is_named() {
    let results = Simulation::new(3, 1).run_ideal(|mut party| async move {
        party.sum(TEST, &mut [1]).await?;
        if party.me() == Site::new(1) {
            return Ok(());
        }
        party.sum(TEST, &mut [1]).await
    });
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1);
    for error in results.into_iter().filter_map(Result::err) {
        assert!(
            error.to_string().contains("closed the line, in sum"),
            "{error}"
        );
    }
}

#[test]
fn the_published_threshold_refuses_long_hash_sets() {
    let outcome =
        Simulation::new(3, 1)
            .settings(Settings::published())
            .run(|mut party| async move {
                party
                    .at_least(TEST, 1 << 40, &[1], &[5], &mut [false])
                    .await
            });
    let error = outcome.into_values().unwrap_err();
    assert!(matches!(
        error,
        Error::OwnConfig(OwnConfig::HashSets { .. })
    ));
}

/// Sets that are too long together go one lot after the other.
#[test]
fn the_published_threshold_takes_any_number_of_comparisons() {
    let outcome =
        Simulation::new(3, 1)
            .settings(Settings::published())
            .run(|mut party| async move {
                let mut answers = [false; 5];
                let thresholds = [1, 3, 4, 6, 7];
                party
                    .at_least(TEST, 1 << 20, &[2, 1, 1, 2, 2], &thresholds, &mut answers)
                    .await?;
                Ok::<_, Error>(answers)
            });
    for answers in outcome.into_values().unwrap() {
        assert_eq!(answers, [true, true, false, true, false]);
    }
}

/// A node drives parties on a runtime with threads.
#[test]
fn futures_can_move_between_threads() {
    fn moves<T: Send>(_: T) {}
    fn check(party: &mut Party) {
        moves(party.sum(TEST, &mut []));
        moves(party.sum_to(TEST, Site::new(0), &mut []));
        moves(party.all(TEST, &mut []));
        moves(party.at_least(TEST, 1, &[], &[], &mut []));
        moves(party.lca(TEST, &[], |_| 0, &mut []));
        moves(party.minimum(TEST, |_| 0..=1, &mut []));
        moves(party.ranges(TEST, |_| 0..=1, &mut []));
        moves(party.kth(TEST, 1, &[], |_, _| 0, &mut []));
        moves(party.union(
            TEST,
            &Items {
                width: 1,
                capacity: 1,
                domain: 256.0,
                decoy: &|_| Vec::new(),
            },
            &mut Vec::new(),
        ));
        moves(party.align(TEST, 1, &[], &mut Vec::new()));
    }
    check(&mut Party::alone(
        Settings::hardened(),
        &hedgerow_smc::Seed::new([0; 32]),
    ));
}
