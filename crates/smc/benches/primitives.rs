//! Every primitive at both levels: rounds, messages, bytes and rate, as one table.
//!
//! `cargo bench -p hedgerow-smc` prints it; a word behind `--` picks the rows that contain it.
//! All sites run in one thread, so a rate is what one core does for all of them together;
//! encryption alone uses every core, and says so. Rounds, messages and bytes are exact and
//! without the join, which is printed by itself.

#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs)]

use std::future::Future;
use std::hint::black_box;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use curve25519_dalek::ristretto::CompressedRistretto;
use curve25519_dalek::scalar::Scalar;
use hedgerow_smc::commutative::{PohligHellmanKey, RistrettoKey};
use hedgerow_smc::memory::{LinkModel, Simulation};
use hedgerow_smc::union::loss::Setting;
use hedgerow_smc::{Error, Generator, Items, Party, Rank, Seed, Settings, Tree, What};

#[path = "../tests/it/exposure.rs"]
mod exposure;

const BENCH: What = What::new("benchmark", "the benchmark");

fn main() {
    // `cargo test --all-targets` runs this binary too, without `--bench`.
    let words: Vec<String> = std::env::args().skip(1).collect();
    if !words.iter().any(|word| word == "--bench") {
        return;
    }
    let filter = words
        .into_iter()
        .find(|word| !word.starts_with("--"))
        .unwrap_or_default();
    let table = Table { filter };
    println!(
        "{:<44} {:<10} {:>6} {:>9} {:>13} {:>12} {:>12} {:>9} {:>9}",
        "primitive", "level", "rounds", "messages", "bytes", "B/item/link", "items/s", "LAN", "WAN"
    );
    table.join();
    table.sum();
    table.bits();
    table.comparisons();
    table.lca();
    table.order();
    table.union();
    table.encryption();
    table.align();
    table.loss_of_privacy();
}

struct Table {
    filter: String,
}

/// What one run of a primitive cost.
struct Cost {
    rounds: u32,
    messages: u64,
    bytes: u64,
    seconds: f64,
}

impl Table {
    /// One row: `items` is what the rate counts, `links` the links over which an item travels.
    fn row<F: Future<Output = Result<(), Error>>>(
        &self,
        name: &str,
        settings: Settings,
        sites: usize,
        items: usize,
        site: impl Fn(Guest) -> F,
    ) {
        if !name.contains(&self.filter) {
            return;
        }
        let simulate = |model| {
            let clock = Arc::new(Mutex::new(Clock::default()));
            let outcome = Simulation::new(sites, 7)
                .settings(settings)
                .model(model)
                .run(|party| {
                    clock.lock().unwrap().before(&party);
                    site(Guest {
                        party,
                        clock: Arc::clone(&clock),
                    })
                });
            let (elapsed, results) = (outcome.elapsed, outcome.into_values());
            results.unwrap();
            let cost = clock.lock().unwrap().cost();
            (cost, elapsed)
        };
        let (cost, lan) = simulate(LinkModel::LAN);
        // The WAN run only repeats the messages; small runs are cheap enough to do it.
        let wan = (cost.seconds < 20.0).then(|| simulate(LinkModel::WAN).1);
        let links = (sites * (sites - 1)) as f64;
        println!(
            "{name:<44} {:<10} {:>6} {:>9} {:>13} {:>12.2} {:>12.0} {:>9} {:>9}",
            settings.security.to_string(),
            cost.rounds,
            cost.messages,
            cost.bytes,
            cost.bytes as f64 / items as f64 / links,
            items as f64 / cost.seconds,
            time(lan),
            wan.map_or_else(|| "-".into(), time),
        );
    }

    fn both<F: Future<Output = Result<(), Error>>>(
        &self,
        name: &str,
        sites: usize,
        items: usize,
        site: impl Fn(Guest) -> F,
    ) {
        self.row(name, Settings::hardened(), sites, items, &site);
        self.row(name, Settings::published(), sites, items, &site);
    }

    fn join(&self) {
        for sites in [2, 3, 5, 20] {
            let name = format!("join, {sites} sites");
            if !name.contains(&self.filter) {
                continue;
            }
            let start = Instant::now();
            let outcome = Simulation::new(sites, 7).run(|_| async { Ok::<_, Error>(()) });
            let traffic = outcome.traffic;
            println!(
                "{name:<44} {:<10} {:>6} {:>9} {:>13} {:>12} {:>12.0}",
                "both",
                traffic.rounds,
                traffic.messages(),
                traffic.bytes(),
                "",
                1.0 / start.elapsed().as_secs_f64()
            );
        }
    }

    fn sum(&self) {
        self.both(
            "sum of 1,000,000 counters, 5 sites",
            5,
            1_000_000,
            |guest| async move {
                let mut counters = vec![3; 1_000_000];
                guest
                    .ask(async |party| party.sum(BENCH, &mut counters).await)
                    .await
            },
        );
    }

    fn bits(&self) {
        for sites in [5, 2] {
            let name = format!("all of 1,000,000 bits, {sites} sites");
            self.both(&name, sites, 1_000_000, |guest| async move {
                let mut bits = vec![true; 1_000_000];
                guest
                    .ask(async |party| party.all(BENCH, &mut bits).await)
                    .await
            });
        }
    }

    fn comparisons(&self) {
        let compare = |count: usize, bound: u64| {
            move |guest: Guest| async move {
                let counts: Vec<u64> = (0..count as u64).map(|index| index % (bound / 5)).collect();
                let thresholds = vec![bound / 2; count];
                let mut answers = vec![false; count];
                guest
                    .ask(async |party| {
                        party
                            .at_least(BENCH, bound, &counts, &thresholds, &mut answers)
                            .await
                    })
                    .await
            }
        };
        for sites in [3, 5, 2] {
            for (bound, count) in [(1_000_000, 200_000), (100, 200_000)] {
                let name = format!("{count} comparisons up to {bound}, {sites} sites");
                self.row(
                    &name,
                    Settings::hardened(),
                    sites,
                    count,
                    compare(count, bound),
                );
            }
        }
        let name = "20000 comparisons up to 100, 5 sites";
        self.both(name, 5, 20_000, compare(20_000, 100));
    }

    fn lca(&self) {
        // Eight trees of 46 nodes: a root, five children, eight leaves each.
        let parents = (0..46u32)
            .map(|node| if node < 6 { 0 } else { 1 + (node - 6) % 5 })
            .collect();
        let trees = vec![Tree::new(parents).unwrap(); 8];
        self.both(
            "lca of 10,000 clusters in 8 trees, 5 sites",
            5,
            80_000,
            |guest| {
                let trees = &trees;
                async move {
                    let me = guest.party.me().index() as u32;
                    let mut nodes: Vec<Option<u32>> = (0..80_000)
                        .map(|index| Some(6 + (index + me % 2) % 40))
                        .collect();
                    guest
                        .ask(async |party| {
                            party.lca(BENCH, trees, |index| index % 8, &mut nodes).await
                        })
                        .await
                }
            },
        );
    }

    fn order(&self) {
        self.both(
            "1,000 medians of 0..100,000, 3 sites",
            3,
            1_000,
            |guest| async move {
                let questions = vec![
                    Rank {
                        rank: 150,
                        domain: 0..=99_999
                    };
                    1_000
                ];
                let mut answers = vec![None; 1_000];
                let at_most = |_: usize, value: u64| value / 1_000;
                guest
                    .ask(async |party| {
                        party
                            .kth(BENCH, 300, &questions, at_most, &mut answers)
                            .await
                    })
                    .await
            },
        );
        self.both(
            "1,000 ranges of 0..100,000, 3 sites",
            3,
            1_000,
            |guest| async move {
                let mut ranges: Vec<_> = (0..1_000)
                    .map(|index| Some((index, index + 50_000)))
                    .collect();
                guest
                    .ask(async |party| party.ranges(BENCH, |_| 0..=99_999, &mut ranges).await)
                    .await
            },
        );
    }

    fn union(&self) {
        fn decoy(generator: &mut Generator) -> Vec<u8> {
            generator.next_u64().to_le_bytes().to_vec()
        }
        self.both(
            "union of 5 times 1,000 items, 5 sites",
            5,
            5_000,
            |guest| async move {
                let shape = Items {
                    width: 8,
                    capacity: 1_000,
                    domain: 256.0,
                    decoy: &decoy,
                };
                let mut items: Vec<Vec<u8>> = (0..1_000u64)
                    .map(|item| item.to_le_bytes().to_vec())
                    .collect();
                guest
                    .ask(async |party| party.union(BENCH, &shape, &mut items).await)
                    .await
            },
        );
    }

    /// Decompress, multiply, compress on one core, beside the curve library's bare operations.
    fn encryption(&self) {
        if !"encryption".contains(&self.filter) {
            return;
        }
        let one_core = rayon::ThreadPoolBuilder::new()
            .num_threads(1)
            .build()
            .unwrap();
        let mut generator = Generator::new(&Seed::new([7; 32]));
        let identifiers: Vec<Vec<u8>> = (0..20_000u64)
            .map(|item| item.to_le_bytes().to_vec())
            .collect();
        let identifiers: Vec<&[u8]> = identifiers.iter().map(Vec::as_slice).collect();
        let key = RistrettoKey::new(&mut generator);
        let points = key.encrypt(&identifiers);
        let scalar = Scalar::from_bytes_mod_order([9; 32]);
        let bare = || {
            for bytes in points.chunks_exact(32) {
                let point = CompressedRistretto::from_slice(bytes)
                    .unwrap()
                    .decompress()
                    .unwrap();
                black_box((point * scalar).compress());
            }
        };
        // In turns, the best of each: other work on the machine slows both down.
        let (mut ours, mut theirs) = (f64::INFINITY, f64::INFINITY);
        for _ in 0..3 {
            theirs = theirs.min(seconds(bare));
            ours = ours.min(seconds(|| {
                black_box(
                    one_core
                        .install(|| key.encrypt_again(&points, 20_000))
                        .unwrap(),
                );
            }));
        }
        println!(
            "encryption, bare curve operations: {:>10.0} a second per core",
            20_000.0 / theirs
        );
        println!(
            "encryption, ristretto255:          {:>10.0} a second per core, {:.0} % of bare",
            20_000.0 / ours,
            100.0 * theirs / ours
        );
        let key = PohligHellmanKey::new(&mut generator);
        let few = key.encrypt(&identifiers[..500]);
        let published = seconds(|| {
            black_box(one_core.install(|| key.encrypt_again(&few, 500)).unwrap());
        });
        println!(
            "encryption, Pohlig-Hellman (published): {:>5.0} a second per core",
            500.0 / published
        );
    }

    fn align(&self) {
        let align = |count: u64| {
            move |guest: Guest| async move {
                let me = guest.party.me().index() as u64;
                let own: Vec<Vec<u8>> = (0..count)
                    .map(|item| (item + me * count / 10).to_le_bytes().to_vec())
                    .collect();
                let identifiers: Vec<&[u8]> = own.iter().map(Vec::as_slice).collect();
                let mut common = Vec::new();
                guest
                    .ask(async |party| {
                        party
                            .align(BENCH, count as usize, &identifiers, &mut common)
                            .await
                    })
                    .await
            }
        };
        self.row(
            "align of 4 times 1,000 (all cores)",
            Settings::published(),
            4,
            4_000,
            align(1_000),
        );
        self.row(
            "align of 4 times 1,000 (all cores)",
            Settings::hardened(),
            4,
            4_000,
            align(1_000),
        );
        self.row(
            "align of 4 times 100,000 (all cores)",
            Settings::hardened(),
            4,
            400_000,
            align(100_000),
        );
    }
}

impl Table {
    /// The published union's loss of privacy, measured beside the paper's bounds.
    fn loss_of_privacy(&self) {
        if !"loss of privacy".contains(&self.filter) {
            return;
        }
        let (sites, domain, share) = (exposure::SITES, exposure::DOMAIN, exposure::SHARE);
        let setting = Setting::even(sites as u32, domain as f64, (sites * share) as f64);
        let by_chance = 1.0 / (sites as f64 - 1.0);
        println!(
            "loss of privacy of the published union, {sites} sites, domain {domain}, {} items",
            sites * share
        );
        println!(
            "{:>8} {:>13} {:>11} {:>11} {:>13} {:>11} {:>14} {:>11}",
            "decoys",
            "set, leader",
            "library",
            "equation 4",
            "set, any",
            "equation 5",
            "item, leader",
            "equation 7"
        );
        for decoys in [0, 50, 100, 200, 1_000, 10_000] {
            let measured = exposure::measure(decoys, 200);
            println!(
                "{decoys:>8} {:>13.4} {:>11.4} {:>11.4} {:>13.4} {:>11.4} {:>14.4} {:>11.4}",
                measured.whole_sets,
                measured
                    .library
                    .map_or(f64::NAN, |unions| unions.leader_set),
                setting.set_exposure_known_leader(decoys),
                measured.whole_sets * by_chance,
                setting.set_exposure(decoys),
                measured.items - by_chance,
                setting.item_exposure_worst(decoys),
            );
        }
    }
}

/// A party whose question is measured.
struct Guest {
    party: Party,
    clock: Arc<Mutex<Clock>>,
}

impl Guest {
    /// Asks, from the moment at which the first site asks to that at which the last has its answer.
    async fn ask(
        mut self,
        question: impl AsyncFnOnce(&mut Party) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.clock
            .lock()
            .unwrap()
            .start
            .get_or_insert_with(Instant::now);
        question(&mut self.party).await?;
        self.clock.lock().unwrap().after(&self.party);
        Ok(())
    }
}

#[derive(Default)]
struct Clock {
    start: Option<Instant>,
    end: Option<Instant>,
    before: (u32, u64, u64),
    after: (u32, u64, u64),
}

impl Clock {
    fn before(&mut self, party: &Party) {
        add(&mut self.before, party);
    }

    fn after(&mut self, party: &Party) {
        self.end = Some(Instant::now());
        add(&mut self.after, party);
    }

    fn cost(&self) -> Cost {
        let (start, end) = (self.start.unwrap(), self.end.unwrap());
        Cost {
            rounds: self.after.0 - self.before.0,
            messages: self.after.1 - self.before.1,
            bytes: self.after.2 - self.before.2,
            seconds: (end - start).as_secs_f64(),
        }
    }
}

fn add(total: &mut (u32, u64, u64), party: &Party) {
    let traffic = party.traffic().unwrap();
    total.0 = total.0.max(traffic.rounds);
    total.1 += traffic.messages();
    total.2 += traffic.bytes();
}

fn seconds(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64()
}

fn time(duration: Duration) -> String {
    if duration >= Duration::from_secs(1) {
        format!("{:.1} s", duration.as_secs_f64())
    } else {
        format!("{:.1} ms", duration.as_secs_f64() * 1e3)
    }
}
