//! How long totals take between three nodes on loopback: from a front end's question to its answer.
//!
//! `cargo bench -p hedgerow --bench questions`, or `scripts/bench.sh questions`. The bar is a median of 5 ms.

#![allow(clippy::unwrap_used, clippy::print_stdout, dead_code)]

#[path = "../tests/it/ward.rs"]
mod ward;

use std::time::{Duration, Instant};

use hedgerow::protocols::query::{Answer, Answered, Condition, Question, Total};

use ward::{BOTH, OPEN, World};

/// Questions that are timed, after some that are not.
const TIMED: usize = 200;
const FIRST: usize = 20;
/// The median that questions must keep to.
const BAR: Duration = Duration::from_millis(5);

fn main() {
    let world = World::new("hardened", BOTH, [OPEN; 3]);
    world.ask(async || {
        let everything = Condition::everything();
        let one = totals(everything.clone(), Vec::new());
        // Every class, by every number of days.
        let many = totals(everything, vec![0, 1, 2]);
        let mut medians = Vec::new();
        for question in [one, many] {
            let before = cpu();
            let site = world.site("south");
            let mut times = Vec::with_capacity(TIMED);
            let mut groups = 0;
            for number in 0..FIRST + TIMED {
                let started = Instant::now();
                let answer = site.ask(Some(1), &question).await.unwrap();
                if number >= FIRST {
                    times.push(started.elapsed());
                }
                if let Answered::Totals(found) = answer {
                    groups = found.len();
                }
            }
            times.sort_unstable();
            let at = |percent: usize| times[TIMED * percent / 100];
            let (half, most) = (at(50), at(95));
            println!("totals of {groups} groups, 3 nodes: p50 {half:?}, p95 {most:?}");
            let own = (cpu() - before) / (FIRST + TIMED) as f64;
            println!(
                "  {own:.2} ms of processor time a question, all three nodes and the front end"
            );
            medians.push(half);
        }
        let half = medians[0];
        assert!(half <= BAR, "{half:?} is above the bar of {BAR:?}");
    });
}

/// Milliseconds of processor time that this process has used, in user and system mode (proc(5), fields 14 and
/// 15, in hundredths of a second): what a question costs, however busy the machine is.
fn cpu() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap();
    let (_, fields) = text.rsplit_once(") ").unwrap();
    let fields = fields.split(' ').skip(11).take(2);
    fields
        .map(|ticks| ticks.parse::<f64>().unwrap() * 10.0)
        .sum()
}

fn totals(condition: Condition, group_by: Vec<usize>) -> Question {
    Question {
        condition,
        answer: Answer::Totals {
            group_by,
            of: vec![Total::Records],
        },
    }
}
