//! How long pages take before their first byte, of a site with a thousand runs whose ledger has lines of each,
//! and how long they are.
//!
//! `cargo bench -p hedgerow-console --bench pages`, or `scripts/bench.sh console`. The bars are a median of
//! 50 ms and 200 KB.

#![allow(clippy::unwrap_used, clippy::print_stdout, dead_code)]

#[path = "../tests/it/browser.rs"]
mod browser;
#[path = "../tests/it/world.rs"]
mod world;

use std::time::{Duration, Instant};

use hedgerow_console::Role;
use rusqlite::{Connection, params};

use world::{World, browser_of};

const RUNS: u32 = 1_000;
/// What each run disclosed.
const LINES: u32 = 12;
/// Pages that are timed, after some that are not.
const TIMED: usize = 100;
const FIRST: usize = 10;
const BAR: Duration = Duration::from_millis(50);
const LONGEST: usize = 200_000;

fn main() {
    let world = World::long(RUNS);
    disclose(&world);
    let console = world.console("north");
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let mut browser = browser_of(&console, Role::Officer).await;
        println!("| page, with {RUNS} runs | median | 95 % | bytes |");
        println!("|---|---|---|---|");
        let mut is_within = true;
        let paths = [
            "/",
            "/runs",
            "/runs?page=40",
            "/runs/1",
            "/releases",
            "/releases?page=40",
            "/ledger",
            "/audit",
            "/users",
            "/assets/console.css",
        ];
        for path in paths {
            let mut times = Vec::with_capacity(TIMED);
            let mut bytes = 0;
            for number in 0..FIRST + TIMED {
                let started = Instant::now();
                let answer = browser.get(path).await;
                assert_eq!(answer.status, 200, "{path}");
                if number >= FIRST {
                    times.push(started.elapsed());
                }
                bytes = answer.bytes.len();
            }
            times.sort();
            let (median, late) = (times[TIMED / 2], times[TIMED * 95 / 100]);
            let ms = |time: Duration| time.as_secs_f64() * 1_000.0;
            println!(
                "| `{path}` | {:.1} ms | {:.1} ms | {bytes} |",
                ms(median),
                ms(late)
            );
            is_within &= median < BAR && bytes < LONGEST;
        }
        assert!(is_within, "a page is over its bar");
    });
}

/// Enters into the ledger of every run what runs of two sites disclose.
fn disclose(world: &World) {
    let journal = world.path("north/data/journal.sqlite");
    let mut connection = Connection::open(journal).unwrap();
    let change = connection.transaction().unwrap();
    for run in 1..=RUNS {
        for (place, name) in world::SITES.iter().enumerate() {
            let member = "INSERT INTO member (run, place, name) VALUES (?1, ?2, ?3)";
            change
                .execute(member, params![run, place as i64, name])
                .unwrap();
        }
        for line in 0..LINES {
            let learned =
                "INSERT INTO learned VALUES (?1, ?2, 'sum', '', 'all', 'Theorem 1', '', 3, 0, ?3)";
            let what = format!("what a run discloses, line {line}");
            change.execute(learned, params![run, what, run]).unwrap();
        }
    }
    change.commit().unwrap();
}
