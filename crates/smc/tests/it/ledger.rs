//! The ledger: complete, chained, readable.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use hedgerow_smc::ledger::{Disclosure, Entry, Origin};
use hedgerow_smc::memory::{Faults, Simulation};
use hedgerow_smc::network::NetworkError;
use hedgerow_smc::{
    Error, Items, Ledger, Network, Party, Rank, Seat, Security, Seed, Settings, Site, To, Tree,
    What,
};

const SIZES: What = What::new("class sizes", "JX09 Theorem 1");
const COSTS: What = What::new("cost changes", "TG12 section 8.3");

async fn protocol(mut party: Party) -> Result<Ledger, Error> {
    party.keep_values();
    party.sum(SIZES, &mut [4, 5]).await?;
    party.sum(SIZES, &mut [6]).await?;
    party.sum_to(COSTS, Site::new(1), &mut [1, 2, 3]).await?;
    party
        .at_least(SIZES, 40, &[4, 5], &[9, 40], &mut [false; 2])
        .await?;
    Ok(party.ledger().clone())
}

fn ledgers(sites: usize, settings: Settings) -> Vec<Ledger> {
    Simulation::new(sites, 1)
        .settings(settings)
        .run(protocol)
        .into_values()
        .unwrap()
}

/// An entry without its hash.
type Row = (Disclosure, usize, bool, Option<Vec<u64>>);

/// All but the chain, which begins with the run.
fn read(ledgers: &[Ledger]) -> Vec<Vec<Row>> {
    let entry = |entry: &Entry| {
        let recorded = entry.recorded.clone();
        (entry.disclosure, entry.values, entry.complete, recorded)
    };
    ledgers
        .iter()
        .map(|ledger| ledger.entries().iter().map(entry).collect())
        .collect()
}

/// Every primitive once, with its answers in the ledger.
async fn everything(mut party: Party) -> Result<Ledger, Error> {
    party.keep_values();
    let me = party.me().index() as u64;
    let mut entries = 0;
    let mut grows = |party: &Party| {
        assert!(
            party.ledger().entries().len() > entries,
            "an entry per call"
        );
        entries = party.ledger().entries().len();
    };
    party.sum(SIZES, &mut [me]).await?;
    grows(&party);
    party.sum_to(SIZES, Site::new(0), &mut [me]).await?;
    grows(&party);
    party.all(SIZES, &mut [me == 0, true]).await?;
    grows(&party);
    party.any(SIZES, &mut [me == 0, false]).await?;
    grows(&party);
    party
        .at_least(SIZES, 30, &[me, 3], &[1, 30], &mut [false; 2])
        .await?;
    grows(&party);
    let tree = [Tree::new(vec![0, 0, 1, 1])?];
    party
        .lca(
            SIZES,
            &tree,
            |_| 0,
            &mut [Some(2), Some(2 + me as u32 % 2), None],
        )
        .await?;
    grows(&party);
    party
        .minimum(SIZES, |_| 0..=99, &mut [Some(me + 40), None])
        .await?;
    grows(&party);
    party
        .maximum(SIZES, |_| 0..=99, &mut [Some(me + 40), None])
        .await?;
    grows(&party);
    party
        .ranges(SIZES, |_| 0..=99, &mut [Some((me, 50 + me)), None])
        .await?;
    grows(&party);
    let questions = [1, 2, 99].map(|rank| Rank {
        rank,
        domain: 0..=9,
    });
    party
        .kth(
            SIZES,
            30,
            &questions,
            |_, value| u64::from(value >= me),
            &mut [None; 3],
        )
        .await?;
    grows(&party);
    let shape = Items {
        width: 1,
        capacity: 2,
        domain: 256.0,
        decoy: &|_| vec![9],
    };
    party
        .union(SIZES, &shape, &mut vec![vec![me as u8]])
        .await?;
    grows(&party);
    Ok(party.ledger().clone())
}

/// What a site reads in the real run is what it reads from a trusted third, value by value.
#[test]
fn every_opened_value_is_the_ideal_one() {
    for sites in [2, 3, 5] {
        let simulation = Simulation::new(sites, 3);
        let ideal: Result<Vec<Ledger>, Error> =
            simulation.run_ideal(everything).into_iter().collect();
        let real = simulation.run(everything).into_values();
        assert_eq!(
            real.map(|real| read(&real)),
            ideal.map(|ideal| read(&ideal))
        );
        let published = simulation.settings(Settings::published());
        assert!(published.run(everything).into_values().is_ok());
    }
}

#[test]
fn ideal_and_hardened_ledgers_are_the_same() {
    for sites in [2, 3, 5] {
        let ideal: Result<Vec<Ledger>, Error> = Simulation::new(sites, 1)
            .run_ideal(protocol)
            .into_iter()
            .collect();
        let hardened = ledgers(sites, Settings::hardened());
        assert_eq!(read(&hardened), read(&ideal.unwrap()));
    }
}

#[test]
fn entries_are_chained() {
    let ledger = &ledgers(3, Settings::hardened())[0];
    let (origin, head) = (ledger.origin(), ledger.head());
    let first_broken = |entries: &[Entry]| Ledger::first_broken(origin, entries, head);
    assert_eq!(first_broken(ledger.entries()), None);
    for left in 0..4 {
        assert_eq!(
            first_broken(&ledger.entries()[..left]),
            Some(left),
            "cut off"
        );
    }
    let mut shortened = ledger.entries().to_vec();
    shortened[3].complete = false;
    assert_eq!(first_broken(&shortened), Some(3));
    for relabelled in [
        Origin {
            security: Security::Published,
            ..*origin
        },
        Origin {
            sites: 4,
            ..*origin
        },
        Origin {
            site: Site::new(1),
            ..*origin
        },
        Origin {
            session: [0; 32],
            ..*origin
        },
    ] {
        let broken = Ledger::first_broken(&relabelled, ledger.entries(), head);
        assert_eq!(broken, Some(0), "{relabelled:?}");
        assert_eq!(Ledger::first_broken(&relabelled, &[], head), Some(0));
    }
    let mut changed = ledger.entries().to_vec();
    changed[1].values += 1;
    assert_eq!(first_broken(&changed), Some(1));
    let mut taken_out = ledger.entries().to_vec();
    taken_out.remove(2);
    assert_eq!(first_broken(&taken_out), Some(2));
    let mut redirected = ledger.entries().to_vec();
    redirected[2].disclosure.to = To::All;
    assert_eq!(first_broken(&redirected), Some(2));
    assert_eq!(ledger.head(), ledger.entries()[3].hash);
}

#[test]
fn values_are_kept_only_where_asked_for() {
    let ledger = &ledgers(3, Settings::hardened())[1];
    let recorded: Vec<_> = ledger
        .entries()
        .iter()
        .map(|entry| entry.recorded.clone().unwrap())
        .collect();
    assert_eq!(
        recorded,
        [vec![12, 15], vec![18], vec![3, 6, 9], vec![1, 0]]
    );
    // The pivot's sums are at the pivot only.
    assert_eq!(
        ledgers(3, Settings::hardened())[0].entries()[2].recorded,
        Some(vec![0, 0, 0])
    );
    let silent = Simulation::new(3, 1).run(|mut party| async move {
        party.sum(SIZES, &mut [1]).await?;
        Ok::<_, Error>(party.ledger().clone())
    });
    assert_eq!(silent.into_values().unwrap()[0].entries()[0].recorded, None);
}

#[test]
fn people_read_a_table() {
    let ledger = &ledgers(3, Settings::hardened())[0];
    let text = ledger.to_string();
    let [holder, keeper, judge] = ledger.roles().unwrap();
    let expected = format!(
        "\
what          to      by         calls     values  allowed by
class sizes   all     sum            2          3  JX09 Theorem 1
cost changes  site 1  sum            1          3  TG12 section 8.3
class sizes   all     at_least       1          2  JX09 Theorem 1
    note: two of the three sites with roles can learn the sums together
roles: holder {holder}, keeper {keeper}, judge {judge}
level: hardened
"
    );
    assert_eq!(text, expected);
    let two = ledgers(2, Settings::hardened())[0].to_string();
    assert!(two.contains("note: with two sites a sum tells each site the other's summand"));
    let published = ledgers(3, Settings::published())[0].to_string();
    assert!(published.contains("note: the two neighbours of a site on the ring"));
}

#[test]
fn machines_read_json() {
    let ledger = &ledgers(3, Settings::hardened())[0];
    let json = ledger.to_json();
    let [holder, keeper, judge] = ledger.roles().unwrap();
    let roles = serde_json::json!({"holder": holder, "keeper": keeper, "judge": judge});
    assert_eq!(json["roles"], roles);
    assert_eq!(json["origin"]["sites"], 3);
    assert_eq!(json["entries"][0]["complete"], true);
    assert_eq!(json["security"], "hardened");
    assert_eq!(json["summary"][0]["what"], "class sizes");
    assert_eq!(json["summary"][0]["to"], "all");
    assert_eq!(json["summary"][0]["values"], 3);
    assert_eq!(json["entries"].as_array().unwrap().len(), 4);
    assert_eq!(json["entries"][3]["hash"], json["head"]);
}

/// What the sites that were not cut off have entered when a search ends early.
#[test]
fn a_search_that_ends_early_is_in_the_ledger() {
    for settings in [Settings::hardened(), Settings::published()] {
        for frames in 2..5 {
            let early = Arc::new(Mutex::new(0));
            Simulation::new(3, 1)
                .settings(settings)
                .patience(Duration::from_secs(1))
                .faults(Faults::default().cut(Site::new(2), frames))
                .run(|mut party| {
                    let early = Arc::clone(&early);
                    async move {
                        let maximum = party
                            .maximum(SIZES, |_| 0..=4_000, &mut [Some(7), None])
                            .await;
                        if maximum.is_err() {
                            let entry = &party.ledger().entries()[0];
                            assert_eq!(entry.disclosure.what, SIZES);
                            assert_eq!((entry.values, entry.complete), (2, false));
                            assert!(party.ledger().to_string().contains("note: 1 ended early"));
                            *early.lock().unwrap() += 1;
                        }
                        maximum
                    }
                });
            assert!(*early.lock().unwrap() >= 2, "{frames} frames");
            let early = Arc::new(Mutex::new(0));
            Simulation::new(3, 1)
                .settings(settings)
                .patience(Duration::from_secs(1))
                .faults(Faults::default().cut(Site::new(2), frames))
                .run(|mut party| {
                    let early = Arc::clone(&early);
                    async move {
                        let questions = [Rank {
                            rank: 2,
                            domain: 0..=4_000,
                        }];
                        let kth = party.kth(SIZES, 9, &questions, |_, _| 1, &mut [None]).await;
                        if kth.is_err() {
                            let entry = &party.ledger().entries()[0];
                            assert_eq!(entry.disclosure.what, SIZES);
                            assert_eq!((entry.values, entry.complete), (1, false));
                            let ledger = party.ledger();
                            let (origin, head) = (ledger.origin(), ledger.head());
                            let broken = Ledger::first_broken(origin, ledger.entries(), head);
                            assert_eq!(broken, None);
                            *early.lock().unwrap() += 1;
                        }
                        kth
                    }
                });
            assert!(*early.lock().unwrap() >= 2, "{frames} frames");
        }
    }
}

/// A site's inbound frames played back, on a line that takes only so many frames.
struct Failing {
    inbound: Vec<VecDeque<Vec<u8>>>,
    left: usize,
}

impl Network for Failing {
    fn send(&mut self, _: Site, _: Vec<u8>) -> Result<(), NetworkError> {
        self.left = self.left.checked_sub(1).ok_or(NetworkError::Closed)?;
        Ok(())
    }

    fn poll_receive(
        &mut self,
        from: Site,
        _: &mut Context<'_>,
    ) -> Poll<Result<Vec<u8>, NetworkError>> {
        let frame = self.inbound[from.index()].pop_front();
        Poll::Ready(frame.ok_or(NetworkError::Closed))
    }
}

/// Sum, conjunction or comparison of what is never zero or false if it is answered.
async fn one(party: &mut Party, which: usize) -> (Result<(), Error>, Vec<u64>) {
    let (mut sums, mut bits, mut answers) = ([5, 6], [true; 2], [false; 2]);
    match which {
        0 => (party.sum(SIZES, &mut sums).await, sums.to_vec()),
        1 => {
            let result = party.all(SIZES, &mut bits).await;
            (result, bits.map(u64::from).to_vec())
        }
        _ => {
            let result = party
                .at_least(SIZES, 60, &[5, 6], &[1, 1], &mut answers)
                .await;
            (result, answers.map(u64::from).to_vec())
        }
    }
}

#[test]
fn no_answer_without_an_entry_when_a_line_fails() {
    let mut wiped = 0;
    for settings in crate::harness::levels() {
        for (sites, which) in [2, 3, 4]
            .into_iter()
            .flat_map(|m| (0..3).map(move |p| (m, p)))
        {
            let run = Simulation::new(sites, 5)
                .settings(settings)
                .recording()
                .run(|mut party| async move { one(&mut party, which).await.0 });
            for me in Site::all(sites) {
                for left in 0..12 {
                    let mut inbound = vec![VecDeque::new(); sites];
                    for frame in run.view(me) {
                        inbound[frame.from.index()].push_back(frame.bytes.clone());
                    }
                    let seat = Seat {
                        me,
                        sites,
                        settings,
                        seed: Seed::for_site(5, me.index()),
                        context: [0; 32],
                        network: Box::new(Failing { inbound, left }),
                    };
                    let mut site = pin!(async {
                        let mut party = Party::join(seat).await.ok()?;
                        let (result, read) = one(&mut party, which).await;
                        Some((result, read, party.ledger().entries().len()))
                    });
                    let ended = site.as_mut().poll(&mut Context::from_waker(Waker::noop()));
                    let Poll::Ready(ended) = ended else {
                        panic!("nothing to wait for in a replay");
                    };
                    match ended {
                        Some((Err(_), read, entries)) => {
                            assert_eq!((read, entries), (vec![0, 0], 0), "{me} of {sites}");
                            wiped += 1;
                        }
                        Some((Ok(()), _, entries)) => assert_eq!(entries, 1),
                        None => {}
                    }
                }
            }
        }
    }
    assert!(wiped > 100, "{wiped} calls failed");
}

/// Whoever watches knows every entry, with what became of it, and the ledger is the same.
#[test]
fn a_ledger_that_is_watched_is_told_entry_by_entry() {
    let run = |watched: bool| {
        Simulation::new(3, 5)
            .run(|mut party| async move {
                let told: Arc<Mutex<Vec<Entry>>> = Arc::default();
                let told_to = Arc::clone(&told);
                if watched {
                    party.watch_ledger(Arc::new(move |before, entry: &Entry| {
                        let mut told = told_to.lock().unwrap();
                        if let Some(before) = before {
                            assert_eq!(told.pop().as_ref(), Some(before));
                        }
                        told.push(entry.clone());
                    }));
                }
                party.sum(SIZES, &mut [1, 2]).await?;
                party.sum(SIZES, &mut [3]).await?;
                let told = told.lock().unwrap().clone();
                Ok::<_, Error>((party.ledger().clone(), told))
            })
            .into_values()
            .unwrap()
    };
    for ((watched, told), (alone, none)) in run(true).iter().zip(&run(false)) {
        assert_eq!(watched.entries(), told);
        assert_eq!(told.len(), 2);
        assert!(none.is_empty());
        assert_eq!(watched, alone);
        assert_eq!(watched.head(), alone.head());
    }
}
