//! Sites of a test: keys, addresses, data folders, and one life of a site from start to end.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use hedgerow_node::agreement::StudyHash;
use hedgerow_node::identity::PublicKey;
use hedgerow_node::journal::{Journal, JournalError, RunName};
use hedgerow_node::opening::WHOLE;
use hedgerow_node::run::{Done, Run, RunError, Seals, Setup};
use hedgerow_node::{End, Entrance, Event, Limits, Relay, Star, Uplink, Visit};
use hedgerow_smc::settings::Shape;
use hedgerow_smc::{Error, Party, Rank, Seed, Settings, Site, What};
use tokio::net::TcpListener;

use super::secret;

/// How many worlds there were.
static WORLDS: AtomicU32 = AtomicU32::new(0);

const TEST: What = What::new("answers", "the test");

/// What a site learned, and what it sent.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Learned {
    pub(crate) sums: Vec<u64>,
    pub(crate) kth: Vec<Option<u64>>,
    /// Follows from every key, call and answer.
    pub(crate) ledger: [u8; 32],
    pub(crate) messages: u64,
    pub(crate) bytes: u64,
    pub(crate) rounds: u32,
}

/// What a site adds to one of its numbers, and in which turns.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Lie {
    pub(crate) by: u64,
    pub(crate) from_turn: u64,
    pub(crate) to_turn: u64,
}

impl Lie {
    fn in_turn(self, turn: u64) -> u64 {
        let is_told = (self.from_turn..self.to_turn).contains(&turn);
        if is_told { self.by } else { 0 }
    }
}

/// A protocol with every kind of step: sums, comparisons, a search.
pub(crate) async fn protocol(
    party: &mut Party,
    (turns, wide): (u64, usize),
    lie: Lie,
    most: Option<u64>,
) -> Result<Learned, Error> {
    let me = party.me().index() as u64;
    let mut sums = Vec::new();
    let mut kth = Vec::new();
    for turn in 0..turns {
        let mut values = [me + 1, turn * 7 + me, 40u64.wrapping_add(lie.in_turn(turn))];
        party.sum(TEST, &mut values).await?;
        if let Some(most) = most {
            let fits = values.iter().all(|value| *value <= most);
            party.fit(TEST, fits, "a sum is beyond what is public")?;
        }
        sums.extend(values);
        let mut large = [false; 2];
        party
            .at_least(TEST, 100, &[me * 10, turn], &[25, 9], &mut large)
            .await?;
        sums.extend(large.map(u64::from));
        let question = [Rank {
            rank: 2,
            domain: 0..=15,
        }];
        let mut answer = [None];
        let own = (me * 5 + turn) % 16;
        let at_most = |_: usize, bound: u64| u64::from(own <= bound);
        party.kth(TEST, 10, &question, at_most, &mut answer).await?;
        kth.extend(answer);
        if wide > 0 {
            let mut counts = vec![me; wide];
            party.sum(TEST, &mut counts).await?;
            let mut large = vec![false; wide / 10];
            let (own, least) = (vec![me; wide / 10], vec![2; wide / 10]);
            party.at_least(TEST, 100, &own, &least, &mut large).await?;
            sums.push(counts.iter().sum());
        }
    }
    let ledger = party.ledger().head();
    let traffic = party.traffic();
    Ok(Learned {
        sums,
        kth,
        ledger,
        messages: traffic.map_or(0, |traffic| traffic.messages()),
        bytes: traffic.map_or(0, |traffic| traffic.bytes()),
        rounds: traffic.map_or(0, |traffic| traffic.rounds),
    })
}

/// What sites sign of what they learned.
pub(crate) fn done(learned: Learned, party: &Party, says: &str) -> Done<Learned> {
    let statement = format!("{:?} {:?}{says}", learned.sums, learned.kth);
    Done {
        value: learned,
        statement: statement.into_bytes(),
        transcript: party.transcript().unwrap().clone(),
    }
}

/// The sites of a test.
pub(crate) struct World {
    folder: tempfile::TempDir,
    /// Where each site listens.
    pub(crate) listening: Vec<String>,
    /// Where each site finds each other, by caller and called.
    pub(crate) ways: Vec<Vec<String>>,
    /// The hub of a star, whose leaves listen nowhere; none in a mesh.
    pub(crate) hub: Option<usize>,
    pub(crate) limits: Limits,
    pub(crate) turns: u64,
    /// Counters in one more sum and comparison of each turn.
    pub(crate) wide: usize,
    /// What happened, by site.
    pub(crate) events: Mutex<Vec<(usize, Event)>>,
}

/// What is different about one site.
#[derive(Clone, Copy)]
pub(crate) struct Odd {
    pub(crate) key: u8,
    pub(crate) study: [u8; 32],
    pub(crate) number: u32,
    pub(crate) lie: Lie,
    /// The most that a sum may be.
    pub(crate) most: Option<u64>,
    pub(crate) says: &'static str,
    /// Whether it is cut off when all have signed, and the others are about to end.
    pub(crate) is_cut_off: bool,
    /// What its peers hear of an error in its part.
    pub(crate) end: End,
    /// For how long it keeps its journal.
    pub(crate) keep: Duration,
    /// The disclosures that it allows.
    pub(crate) allowed: &'static [&'static str],
}

impl Odd {
    /// Nothing is.
    pub(crate) fn none(place: usize) -> Self {
        Self {
            key: place as u8,
            study: [9; 32],
            number: 1,
            lie: Lie::default(),
            most: None,
            says: "",
            is_cut_off: false,
            end: End::Own,
            keep: Duration::ZERO,
            allowed: &["answers"],
        }
    }
}

impl World {
    pub(crate) fn new(sites: usize) -> Self {
        // A host for each world: nobody else takes the port of a site that is cut off.
        let host = 1 + WORLDS.fetch_add(1, Ordering::Relaxed) % 250;
        let free = |_| {
            let listener = std::net::TcpListener::bind((format!("127.0.{host}.1"), 0)).unwrap();
            listener.local_addr().unwrap().to_string()
        };
        let listening: Vec<String> = (0..sites).map(free).collect();
        let mut limits = Limits::with_patience(Duration::from_secs(30));
        limits.first_pause = Duration::from_millis(10);
        limits.longest_pause = Duration::from_millis(200);
        Self {
            folder: tempfile::tempdir().unwrap(),
            ways: vec![listening.clone(); sites],
            listening,
            hub: None,
            limits,
            turns: 6,
            wide: 0,
            events: Mutex::new(Vec::new()),
        }
    }

    pub(crate) fn sites(&self) -> usize {
        self.listening.len()
    }

    pub(crate) fn data(&self, place: usize) -> std::path::PathBuf {
        self.folder.path().join(format!("site-{place}"))
    }

    /// What the sites learn over the memory network.
    pub(crate) fn in_memory(&self) -> Vec<Learned> {
        let turns = (self.turns, self.wide);
        let simulation = hedgerow_smc::memory::Simulation::new(self.sites(), 7);
        let simulation = simulation.settings(self.settings());
        simulation
            .run(|mut party| async move { protocol(&mut party, turns, Lie::default(), None).await })
            .into_values()
            .unwrap()
    }

    fn settings(&self) -> Settings {
        match self.hub {
            None => Settings::default(),
            Some(hub) => Settings {
                shape: Shape::Star,
                hub: Site::new(hub as u16),
                ..Settings::default()
            },
        }
    }

    /// The place of a site in the star.
    fn star(&self, place: usize, odd: &Odd) -> Option<Star> {
        let hub = self.hub?;
        let names: Vec<String> = self.names();
        let study = StudyHash(odd.study);
        if hub == place {
            return Some(Star::Hub(Relay::new(hub as u16, study, names)));
        }
        Some(Star::Leaf(Uplink::start(Visit {
            me: place as u16,
            hub: hub as u16,
            name: names[hub].clone(),
            address: self.ways[place][hub].clone(),
            study,
            secret: Arc::new(secret(odd.key)),
            keys: self.keys(),
            awaits: true,
        })))
    }

    fn names(&self) -> Vec<String> {
        (0..self.sites()).map(|site| format!("s{site}")).collect()
    }

    pub(crate) fn keys(&self) -> Vec<PublicKey> {
        let sites = 0..self.sites();
        sites.map(|site| secret(site as u8).public()).collect()
    }

    /// One life of a site, as like the others as it gets.
    pub(crate) async fn live(self: Arc<Self>, place: usize) -> Result<(Learned, Seals), String> {
        let odd = Odd::none(place);
        self.live_oddly(place, odd).await
    }

    /// One life of a site.
    pub(crate) async fn live_oddly(
        self: Arc<Self>,
        place: usize,
        odd: Odd,
    ) -> Result<(Learned, Seals), String> {
        let journal = loop {
            match Journal::open(&self.data(place)) {
                Ok(journal) => break journal,
                // A life that was cut off may not have let go yet.
                Err(JournalError::Busy { .. }) => {
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
                Err(error) => return Err(error.to_string()),
            }
        };
        let star = self.star(place, &odd);
        let port = loop {
            if let Some(Star::Leaf(_)) = star {
                break None;
            }
            match TcpListener::bind(&self.listening[place]).await {
                Ok(listener) => break Some(Arc::new(listener)),
                Err(_) => tokio::time::sleep(Duration::from_millis(5)).await,
            }
        };
        let entrance = Entrance::new(port, star.as_ref());
        let watched = Arc::clone(&self);
        let setup = Setup {
            name: RunName {
                study: StudyHash(odd.study),
                number: odd.number,
                site: place as u16,
                sites: self.sites() as u16,
                rows: [4; 32],
            },
            secret: Arc::new(secret(odd.key)),
            names: self.names(),
            keys: self.keys(),
            // No leaf is dialed: nobody would find it there.
            addresses: self.ways[place].clone(),
            star,
            limits: self.limits,
            settings: self.settings(),
            allowed: odd.allowed.iter().map(ToString::to_string).collect(),
            maximum_share: WHOLE,
            most_records: u64::MAX,
            keep: odd.keep,
            seed: Some(Seed::for_site(7, place)),
            watcher: Arc::new(move |event| watched.events.lock().unwrap().push((place, event))),
            questions: None,
        };
        let told = |error: RunError<Error>| error.to_string();
        let run = Run::start(setup, journal, entrance).await.map_err(told)?;
        let (turns, lie, most) = ((self.turns, self.wide), odd.lie, odd.most);
        let part = run
            .part(
                move |mut party, _| async move {
                    let learned = protocol(&mut party, turns, lie, most).await?;
                    Ok(done(learned, &party, odd.says))
                },
                move |_| odd.end,
            )
            .await;
        match part {
            Ok(_) if odd.is_cut_off => {
                tokio::time::sleep(Duration::from_secs(1)).await;
                Err(String::from("it was cut off"))
            }
            Ok((learned, seals)) => {
                run.finish(&seals, self.limits.patience)
                    .await
                    .map_err(told)?;
                Ok((learned, seals))
            }
            Err(error) => {
                run.leave().await;
                Err(told(error))
            }
        }
    }

    /// Waits until a site has said something so many times; both ends of a connection do not hear of
    /// its end at the same moment.
    pub(crate) async fn until_said(&self, place: usize, words: &str, times: usize) {
        let started = Instant::now();
        while self.said(place).matches(words).count() < times {
            let patience = Duration::from_secs(10);
            assert!(
                started.elapsed() < patience,
                "{words}: {}",
                self.said(place)
            );
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// What happened at a site, in words.
    pub(crate) fn said(&self, place: usize) -> String {
        let events = self.events.lock().unwrap();
        let own = events.iter().filter(|(site, _)| *site == place);
        let lines: Vec<String> = own.map(|(_, event)| format!("{event:?}")).collect();
        lines.join("\n")
    }
}

/// Runs a test on threads of its own, at most for two minutes.
pub(crate) fn run_test(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(4)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        tokio::time::timeout(Duration::from_secs(120), test)
            .await
            .unwrap();
    });
    // Threads of lives that were cut off end by themselves.
    runtime.shutdown_timeout(Duration::from_secs(5));
}
