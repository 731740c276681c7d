//! A party of one costs nothing: no allocation, no entry in the ledger.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use hedgerow_smc::memory::Simulation;
use hedgerow_smc::{Error, Items, Party, Rank, Seed, Settings, Site, Tree};

use crate::harness::TEST;

/// A party of one never waits.
fn at_once<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("a party of one waits for nobody"),
    }
}

#[test]
fn a_party_of_one_allocates_nothing() {
    for settings in [Settings::hardened(), Settings::published()] {
        let mut party = Party::alone(settings, &Seed::new([1; 32]));
        let trees = [Tree::new(vec![0, 0, 0, 1]).unwrap()];
        let questions = [Rank {
            rank: 2,
            domain: 0..=9,
        }];
        let decoy = |_: &mut _| Vec::new();
        let shape = Items {
            width: 1,
            capacity: 3,
            domain: 256.0,
            decoy: &decoy,
        };
        let (mut sums, mut bits, mut answers) = ([1, 2, 3], [true, false], [false; 3]);
        let (mut joined, mut sites) = ([true; 3], [7; 3]);
        let mut nodes = [Some(3), None];
        let (mut low, mut ranges, mut kth) = ([Some(4)], [Some((2, 5))], [None]);
        let mut items = vec![vec![3], vec![1], vec![2]];
        let identifiers: [&[u8]; 2] = [b"a", b"b"];
        let mut common = Vec::with_capacity(2);
        let counted = allocation_counter::measure(|| {
            let result: Result<(), Error> = at_once(async {
                party.sum(TEST, &mut sums).await?;
                party.sum_to(TEST, Site::new(0), &mut sums).await?;
                party.all(TEST, &mut bits).await?;
                party.any(TEST, &mut bits).await?;
                party
                    .at_least(TEST, 10, &sums, &[2, 2, 2], &mut answers)
                    .await?;
                party
                    .any_at_least(TEST, 10, &sums, &[2, 2, 2], &[2, 0, 1], &mut joined)
                    .await?;
                party
                    .greatest(TEST, 10, &[Site::new(0)], &sums, &mut sites)
                    .await?;
                party.tell(TEST, Site::new(0), &mut sums).await?;
                party.lca(TEST, &trees, |_| 0, &mut nodes).await?;
                party.minimum(TEST, |_| 0..=9, &mut low).await?;
                party.maximum(TEST, |_| 0..=9, &mut low).await?;
                party.ranges(TEST, |_| 0..=9, &mut ranges).await?;
                party
                    .kth(TEST, 3, &questions, |_, value| value.min(3), &mut kth)
                    .await?;
                party.union(TEST, &shape, &mut items).await?;
                party.align(TEST, 100, &identifiers, &mut common).await
            });
            result.unwrap();
        });
        assert_eq!(counted.count_total, 0, "allocations");
        assert_eq!(
            (sums, bits, answers),
            ([1, 2, 3], [true, false], [false, true, true])
        );
        assert_eq!((joined, sites), ([true, false, true], [0; 3]));
        assert_eq!(
            (nodes, low, ranges, kth),
            ([Some(3), None], [Some(4)], [Some((2, 5))], [Some(2)])
        );
        assert_eq!(
            (items, common),
            (vec![vec![1], vec![2], vec![3]], vec![0, 1])
        );
        assert!(party.ledger().entries().is_empty());
        assert_eq!((party.calls(), party.traffic()), (15, None));
    }
}

/// What a party of one refuses, and what parties that have joined refuse.
#[test]
fn a_party_of_one_refuses_what_others_refuse() {
    async fn refused(mut party: Party) -> Result<Vec<Error>, Error> {
        let rank = |domain| [Rank { rank: 1, domain }];
        #[allow(clippy::reversed_empty_ranges)]
        let empty = 5..=4;
        let whole = 0..=u64::MAX;
        let mut errors = Vec::new();
        for domain in [empty, whole] {
            let minimum = party.minimum(TEST, |_| domain.clone(), &mut [None]).await;
            errors.extend(minimum.err());
            let ranges = party.ranges(TEST, |_| domain.clone(), &mut [None]).await;
            errors.extend(ranges.err());
            let kth = party
                .kth(TEST, 9, &rank(domain), |_, _| 1, &mut [None])
                .await;
            errors.extend(kth.err());
        }
        let kth = party
            .kth(TEST, 9, &rank(0..=9), |_, _| 10, &mut [None])
            .await;
        errors.extend(kth.err());
        let kth = party
            .kth(TEST, u64::MAX, &rank(0..=9), |_, _| 1, &mut [None])
            .await;
        errors.extend(kth.err());
        let ranges = party
            .ranges(TEST, |_| 0..=9, &mut [None, Some((4, 3))])
            .await;
        errors.extend(ranges.err());
        Ok(errors)
    }
    for settings in [Settings::hardened(), Settings::published()] {
        let alone = at_once(refused(Party::alone(settings, &Seed::new([1; 32])))).unwrap();
        assert_eq!(alone.len(), 9);
        for sites in [2, 3] {
            let run = Simulation::new(sites, 1).settings(settings).run(refused);
            for errors in run.into_values().unwrap() {
                assert_eq!(errors, alone);
            }
        }
    }
}
