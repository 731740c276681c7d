//! The top-down partitioner: time and memory of one site at one and ten million records, on one
//! core and on two, and rounds of three sites from a thousand to a million records.
//!
//! `cargo bench -p hedgerow-protocols --bench mondrian`
//!
//! Eight quasi-identifiers with the domain sizes of Adult's QI8, skewed and correlated as such tables
//! are. Each run of one site is a process of its own, so that the peak of resident memory is its
//! own, its input with it.

#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs)]

use std::process::Command;
use std::time::Instant;

use hedgerow_data::Codes;
use hedgerow_privacy::m_privacy::Strategy;
use hedgerow_privacy::{Model, Requirement, Scope};
use hedgerow_protocols::horizontal::assembly::Room;
use hedgerow_protocols::horizontal::mondrian::{
    Choice, Cutting, Medians, Plan, Quasi, Widths, partition,
};
use hedgerow_protocols::horizontal::requirement::Demands;
use hedgerow_protocols::horizontal::{OwnRows, Owner};
use hedgerow_smc::memory::{LinkModel, Simulation};
use hedgerow_smc::{Party, Seed, Settings};

const DOMAINS: [u32; 8] = [2, 74, 5, 7, 16, 41, 7, 14];

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if let Some(place) = arguments.iter().position(|word| word == "--one-site") {
        return one_site(arguments[place + 1].parse().unwrap());
    }
    // `cargo test --all-targets` runs this binary too, without `--bench`.
    if !arguments.iter().any(|word| word == "--bench") {
        return;
    }
    println!("one site, k = 10, eight quasi-identifiers, codes in memory");
    println!(
        "{:>12} {:>8} {:>10} {:>10} {:>22} {:>10}",
        "records", "threads", "classes", "seconds", "million a minute", "peak MB"
    );
    for records in [1_000_000, 10_000_000] {
        for threads in ["1", "2"] {
            let status = Command::new(&arguments[0])
                .args(["--one-site", &records.to_string()])
                .env("RAYON_NUM_THREADS", threads)
                .status()
                .unwrap();
            assert!(status.success());
        }
    }
    println!("\nthree sites, about 500 records of a thousand to a class of k, partition only");
    println!(
        "{:>12} {:>8} {:>10} {:>10} {:>8} {:>8} {:>10} {:>14} {:>8}",
        "records", "k", "form", "classes", "waves", "rounds", "messages", "bytes", "WAN s"
    );
    for (records, k) in [(1_000, 2), (10_000, 20), (100_000, 200), (1_000_000, 2_000)] {
        for settings in [Settings::hardened(), Settings::published()] {
            three_sites(records, k, settings);
        }
    }
}

fn one_site(records: usize) {
    let columns = table(records, 0, 1);
    let requirement = requirement(10);
    let plan = plan(&requirement);
    let rows = own_rows(&columns, 0, 1);
    let mut party = Party::alone(Settings::hardened(), &Seed::for_site(1, 0));
    let start = Instant::now();
    let found = pollster::block_on(partition(&mut party, &rows, &plan, |_, _| {})).unwrap();
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{records:>12} {:>8} {:>10} {seconds:>10.2} {:>22.1} {:>10.0}",
        std::env::var("RAYON_NUM_THREADS").unwrap_or_default(),
        found.classes.len(),
        records as f64 / seconds * 60.0 / 1e6,
        peak_megabytes()
    );
}

fn three_sites(records: usize, k: u64, settings: Settings) {
    let requirement = requirement(k);
    let plan = plan(&requirement);
    let settings = Settings {
        fan_out: hedgerow_protocols::FAN_OUT,
        ..settings
    };
    let run = Simulation::new(3, 7)
        .settings(settings)
        .model(LinkModel::WAN)
        .run(|mut party| {
            let plan = &plan;
            async move {
                let site = party.me().index();
                let columns = table(records, site, 3);
                let rows = own_rows(&columns, site, 3);
                partition(&mut party, &rows, plan, |_, _| {}).await
            }
        });
    let (traffic, elapsed) = (run.traffic.clone(), run.elapsed);
    let found = run.into_values().unwrap();
    println!(
        "{records:>12} {k:>8} {:>10} {:>10} {:>8} {:>8} {:>10} {:>14} {:>8.1}",
        settings.security.to_string(),
        found[0].classes.len(),
        found[0].waves,
        traffic.rounds,
        traffic.messages(),
        traffic.bytes(),
        elapsed.as_secs_f64()
    );
}

fn requirement(k: u64) -> Requirement {
    let scope = Scope::default();
    let requirement = Requirement::of_line(&format!("k = {k}"), &scope).unwrap();
    assert_eq!(requirement.models, [Model::KAnonymity { k }]);
    requirement
}

fn plan(requirement: &Requirement) -> Plan<'_> {
    let quasi = |size: &u32| Quasi {
        size: *size,
        cutting: Cutting::Median,
        is_coarsened: false,
    };
    Plan {
        quasi: DOMAINS.iter().map(quasi).collect(),
        demands: Demands {
            requirement,
            sensitive: Vec::new(),
            strategy: Strategy::Direct,
            contributors: false,
        },
        choice: Choice::Width,
        cuts_sites: false,
        keeps_twice_k: false,
        medians: Medians::Strict,
        widths: Widths::Box,
        betraying: None,
        room: Room::default(),
        is_counted: false,
    }
}

fn own_rows(columns: &[Codes], site: usize, sites: usize) -> OwnRows<'_> {
    OwnRows {
        counts: None,
        other: Vec::new(),
        count: columns[0].len(),
        quasi: columns.iter().collect(),
        sensitive: Vec::new(),
        owner: Owner::Site(site as u32),
        sites,
    }
}

/// The records of one site of several, dealt out in turn.
fn table(records: usize, site: usize, sites: usize) -> Vec<Codes> {
    let mut columns: Vec<Codes> = DOMAINS.iter().map(|size| Codes::for_size(*size)).collect();
    for record in (site..records).step_by(sites) {
        // A person's standing, which half of each attribute follows.
        let standing = uniform(record as u64, 99);
        for (attribute, (column, size)) in columns.iter_mut().zip(DOMAINS).enumerate() {
            let own = uniform(record as u64, attribute as u64);
            // Low codes are more frequent, the more so in wide domains.
            let skewed = (0.5 * own + 0.5 * standing).powf(1.0 + attribute as f64 / 4.0);
            column.push(((skewed * f64::from(size)) as u32).min(size - 1));
        }
    }
    columns
}

/// A number from 0 to 1 that follows from a record and an attribute (SplitMix64's finisher).
fn uniform(record: u64, attribute: u64) -> f64 {
    let mut word = (record << 8 | attribute).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (word ^ (word >> 31)) as f64 / u64::MAX as f64
}

fn peak_megabytes() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM"));
    let kilobytes = line.and_then(|line| line.split_whitespace().nth(1));
    kilobytes
        .and_then(|word| word.parse::<f64>().ok())
        .unwrap_or(0.0)
        / 1024.0
}
