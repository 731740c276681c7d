//! The memory network: exact counters, virtual time, determinism, replay.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use hedgerow_smc::memory::{Fault, Faults, LinkModel, Simulation};
use hedgerow_smc::network::NetworkError;
use hedgerow_smc::settings::Shape;
use hedgerow_smc::{
    Error, Generator, Items, Network, Party, Rank, Seat, Seed, Settings, Site, Tree,
};

use crate::harness::TEST;

/// Rounds of one question, without the join.
fn rounds<F>(sites: usize, settings: Settings, site: impl Fn(Party) -> F) -> u32
where
    F: Future<Output = Result<(), Error>>,
{
    let join = Simulation::new(sites, 1)
        .settings(settings)
        .run(|_| async { Ok::<_, Error>(()) });
    let outcome = Simulation::new(sites, 1).settings(settings).run(site);
    let rounds = outcome.traffic.rounds - join.traffic.rounds;
    outcome.into_values().unwrap();
    rounds
}

#[test]
fn rounds_keep_their_bars_whatever_the_length() {
    let tree = Tree::new(vec![0, 0, 0, 1, 1, 2]).unwrap();
    for length in [1, 1_000] {
        for sites in [2, 3, 5] {
            let hardened = Settings::hardened();
            let sum = rounds(sites, hardened, |mut party| async move {
                party.sum(TEST, &mut vec![1; length]).await
            });
            assert_eq!(sum, 1);
            let all = rounds(sites, hardened, |mut party| async move {
                party.all(TEST, &mut vec![true; length]).await
            });
            assert_eq!(all, 3);
            let at_least = rounds(sites, hardened, |mut party| async move {
                let (counts, thresholds, mut answers) =
                    (vec![1; length], vec![2; length], vec![false; length]);
                party
                    .at_least(TEST, 100, &counts, &thresholds, &mut answers)
                    .await
            });
            assert_eq!(at_least, if sites == 2 { 3 } else { 2 });
            let trees = [tree.clone(), tree.clone()];
            let lca = rounds(sites, hardened, |mut party| {
                let trees = &trees;
                async move {
                    party
                        .lca(TEST, trees, |index| index % 2, &mut vec![Some(3); length])
                        .await
                }
            });
            assert_eq!(lca, all);
            // 4,095 values and "none": three steps of a fan-out of 16.
            let kth = rounds(sites, hardened, |mut party| async move {
                let questions = vec![
                    Rank {
                        rank: 1,
                        domain: 0..=4_094
                    };
                    length
                ];
                party
                    .kth(TEST, 9, &questions, |_, _| 1, &mut vec![None; length])
                    .await
            });
            // Of two sites one tells the answer and asks the next question in the same round.
            assert_eq!(kth, if sites == 2 { 7 } else { 6 });
        }
    }
}

#[test]
fn shapes_trade_rounds_for_messages() {
    let cost = |shape, sites| {
        let settings = Settings {
            shape,
            ..Settings::hardened()
        };
        let join = Simulation::new(sites, 1)
            .settings(settings)
            .run(|_| async { Ok::<_, Error>(()) })
            .traffic;
        let run = Simulation::new(sites, 1)
            .settings(settings)
            .run(|mut party| async move { party.sum(TEST, &mut [1, 2]).await });
        (
            run.traffic.rounds - join.rounds,
            run.traffic.messages() - join.messages(),
        )
    };
    assert_eq!(cost(Shape::Mesh, 16), (1, 240));
    assert_eq!(cost(Shape::Star, 16), (2, 30));
    assert_eq!(cost(Shape::Tree, 15), (6, 28));
}

#[test]
fn parties_and_network_count_the_same() {
    let outcome = Simulation::new(4, 2).run(|mut party| async move {
        party.sum(TEST, &mut [1; 10]).await?;
        party.all(TEST, &mut [true; 10]).await?;
        Ok::<_, Error>(party.traffic().unwrap().clone())
    });
    let total = outcome.traffic.clone();
    let parties = outcome.into_values().unwrap();
    assert_eq!(
        parties.iter().map(|own| own.messages()).sum::<u64>(),
        total.messages()
    );
    assert_eq!(
        parties.iter().map(|own| own.bytes()).sum::<u64>(),
        total.bytes()
    );
    assert_eq!(
        parties.iter().map(|own| own.rounds).max().unwrap(),
        total.rounds
    );
    let (from, to) = (Site::new(2), Site::new(3));
    assert_eq!(parties[2].link(from, to), total.link(from, to));
}

#[test]
fn time_follows_latency_and_bandwidth() {
    let model = LinkModel {
        latency: Duration::from_millis(30),
        bandwidth: 8e6,
    };
    let run = |length: usize| {
        let outcome = Simulation::new(3, 1)
            .model(model)
            .run(|mut party| async move { party.sum(TEST, &mut vec![1; length]).await });
        assert!(outcome.results.iter().all(Result::is_ok));
        outcome.elapsed
    };
    // A million bytes a second: two messages of 8,000 more bytes each leave one after the other.
    assert_eq!(run(1_001) - run(1), Duration::from_millis(16));
    // Both rounds of the join and the sum: three latencies and what is sent.
    assert!(run(1) > Duration::from_millis(90) && run(1) < Duration::from_millis(91));
    let late = Faults::default().strike(
        Site::new(1),
        Site::new(0),
        1,
        Fault::Delay(Duration::from_secs(2)),
    );
    let outcome = Simulation::new(3, 1)
        .model(model)
        .faults(late)
        .run(|mut party| async move { party.sum(TEST, &mut [1]).await });
    assert!(outcome.elapsed > Duration::from_secs(2) && outcome.results.iter().all(Result::is_ok));
}

fn decoy(generator: &mut Generator) -> Vec<u8> {
    vec![generator.below(256) as u8; 2]
}

/// Every primitive once; what it gives, as text.
async fn everything(mut party: Party) -> Result<String, Error> {
    let me = party.me().index() as u64;
    let mut sums = [me, 5];
    party.sum(TEST, &mut sums).await?;
    let mut bits = [true, me > 0];
    party.any(TEST, &mut bits).await?;
    let mut reached = [false; 2];
    party
        .at_least(TEST, 50, &[me, 9], &[3, 9], &mut reached)
        .await?;
    let tree = [Tree::new(vec![0, 0, 0, 1, 1]).unwrap()];
    let mut nodes = [Some(3), Some(me as u32 + 1)];
    party.lca(TEST, &tree, |_| 0, &mut nodes).await?;
    let mut range = [Some((me, me + 3))];
    party.ranges(TEST, |_| 0..=20, &mut range).await?;
    let mut kth = [None];
    let questions = [Rank {
        rank: 2,
        domain: 0..=20,
    }];
    party
        .kth(
            TEST,
            9,
            &questions,
            |_, value| u64::from(value >= me),
            &mut kth,
        )
        .await?;
    let mut items = vec![vec![me as u8; 2]];
    party
        .union(
            TEST,
            &Items {
                width: 2,
                capacity: 2,
                domain: 256.0,
                decoy: &decoy,
            },
            &mut items,
        )
        .await?;
    let mut common = Vec::new();
    let own = me.to_le_bytes();
    party
        .align(TEST, 100, &[b"both", &own], &mut common)
        .await?;
    Ok(format!(
        "{sums:?} {bits:?} {reached:?} {nodes:?} {range:?} {kth:?} {items:?} {common:?}"
    ))
}

#[test]
fn a_run_is_a_function_of_its_seed() {
    for settings in [Settings::hardened(), Settings::published()] {
        for sites in [2, 4] {
            let run = |seed| {
                Simulation::new(sites, seed)
                    .settings(settings)
                    .recording()
                    .run(everything)
            };
            let (first, again, other) = (run(5), run(5), run(6));
            assert_eq!(first.transcript_digest(), again.transcript_digest());
            assert_ne!(first.transcript_digest(), other.transcript_digest());
            assert_eq!(first.results, again.results);
        }
    }
}

type Sent = Vec<(Site, Vec<u8>)>;

/// A journal played back: inbound frames as they were, outbound ones kept.
struct Replay {
    inbound: Vec<VecDeque<Vec<u8>>>,
    outbound: Arc<Mutex<Sent>>,
}

impl Network for Replay {
    fn send(&mut self, to: Site, frame: Vec<u8>) -> Result<(), NetworkError> {
        self.outbound.lock().unwrap().push((to, frame));
        Ok(())
    }

    fn poll_receive(
        &mut self,
        from: Site,
        _: &mut Context<'_>,
    ) -> Poll<Result<Vec<u8>, NetworkError>> {
        Poll::Ready(
            self.inbound[from.index()]
                .pop_front()
                .ok_or(NetworkError::Closed),
        )
    }
}

#[test]
fn a_site_is_replayed_from_its_inbound_frames() {
    let me = Site::new(1);
    for settings in [Settings::hardened(), Settings::published()] {
        for sites in [2, 4] {
            let run = Simulation::new(sites, 5)
                .settings(settings)
                .recording()
                .run(everything);
            let mut inbound = vec![VecDeque::new(); sites];
            run.view(me)
                .iter()
                .for_each(|frame| inbound[frame.from.index()].push_back(frame.bytes.clone()));
            let outbound = Arc::new(Mutex::new(Vec::new()));
            let network = Box::new(Replay {
                inbound,
                outbound: Arc::clone(&outbound),
            });
            let seat = Seat {
                me,
                sites,
                settings,
                seed: Seed::for_site(5, 1),
                context: [0; 32],
                network,
            };
            let mut again = pin!(async { everything(Party::join(seat).await?).await });
            let Poll::Ready(again) = again.as_mut().poll(&mut Context::from_waker(Waker::noop()))
            else {
                panic!("nothing to wait for in a replay");
            };
            assert_eq!(again, run.results[1]);
            for to in Site::all(sites).filter(|&to| to != me) {
                let view = run.view(to);
                let sent: Vec<&Vec<u8>> = view
                    .iter()
                    .filter(|frame| frame.from == me)
                    .map(|frame| &frame.bytes)
                    .collect();
                let outbound = outbound.lock().unwrap();
                let replayed: Vec<&Vec<u8>> = outbound
                    .iter()
                    .filter(|(site, _)| *site == to)
                    .map(|(_, bytes)| bytes)
                    .collect();
                assert_eq!(sent, replayed);
            }
        }
    }
}

#[test]
fn roles_are_drawn_per_run() {
    let roles = |sites, seed| {
        let outcome =
            Simulation::new(sites, seed).run(|party| async move { Ok::<_, Error>(party.roles()) });
        let roles = outcome.into_values().unwrap();
        assert!(
            roles.iter().all(|seen| *seen == roles[0]),
            "every site knows the same roles"
        );
        roles[0]
    };
    assert_eq!(roles(1, 1), None);
    assert_eq!(roles(2, 1), None);
    let mut holders = std::collections::BTreeSet::new();
    for seed in 0..40 {
        let [holder, keeper, judge] = roles(4, seed).unwrap();
        assert!(holder != keeper && keeper != judge && holder != judge);
        holders.insert(holder);
    }
    assert_eq!(holders.len(), 4, "everyone has a turn");
}

#[test]
fn a_hundred_sites() {
    let outcome = Simulation::new(100, 1).run(|mut party| async move {
        let mut values = [party.me().index() as u64];
        party.sum(TEST, &mut values).await?;
        let mut reached = [false; 2];
        party
            .at_least(TEST, 200, &[1, 1], &[100, 101], &mut reached)
            .await?;
        let mut bits = [true, values[0] == 0];
        party.all(TEST, &mut bits).await?;
        Ok::<_, Error>((values, reached, bits))
    });
    for answer in outcome.into_values().unwrap() {
        assert_eq!(answer, ([4_950], [true, false], [true, false]));
    }
}
