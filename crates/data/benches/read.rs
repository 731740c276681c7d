//! Reading CSV into codes: rows a second on one core, and peak memory against the coded size, at
//! one and ten million rows of nine columns.
//!
//! `cargo bench -p hedgerow-data --bench read`
//!
//! Each size runs in a process of its own, so that the peak of resident memory is its own.

#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use hedgerow_data::Study;
use hedgerow_data::files::{Others, read_table};
use hedgerow_data::synthetic::{Kind, Plan, TableFormat, generate};

const SIZES: [u64; 2] = [1_000_000, 10_000_000];

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if let Some(place) = arguments.iter().position(|argument| argument == "--read") {
        return read(
            Path::new(&arguments[place + 1]),
            Path::new(&arguments[place + 2]),
        );
    }
    println!("nine columns of the synthetic census, one thread");
    println!(
        "{:>12} {:>14} {:>10} {:>10} {:>22}",
        "rows", "rows a second", "coded MB", "peak MB", "3 x coded + 64 MB"
    );
    for rows in SIZES {
        let folder = tempfile::tempdir().unwrap();
        let plan = Plan {
            kind: Kind::Census,
            rows,
            sites: 1,
            seed: 1,
            format: TableFormat::Csv,
            pooled: false,
            parts: None,
        };
        let written = generate(&plan, &folder.path().join("census"), &()).unwrap();
        let status = Command::new(&arguments[0])
            .arg("--read")
            .arg(&written.study)
            .arg(&written.tables[0].1)
            .status()
            .unwrap();
        assert!(status.success());
    }
}

fn read(study: &Path, table: &Path) {
    let study = Study::open(study).unwrap();
    let start = Instant::now();
    let table = read_table(table, &study.schema, &Others::Refuse, &()).unwrap();
    let seconds = start.elapsed().as_secs_f64();
    let coded = table.coded_bytes() as f64 / 1e6;
    let allowed = 3.0 * coded + 64.0;
    println!(
        "{:>12} {:>14.0} {:>10.1} {:>10.1} {:>22.1}",
        table.rows(),
        table.rows() as f64 / seconds,
        coded,
        peak_megabytes(),
        allowed
    );
    assert!(peak_megabytes() <= allowed, "more memory than allowed");
}

/// Peak resident memory of this process, from the kernel.
fn peak_megabytes() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<f64>().ok());
    kilobytes.unwrap_or(f64::NAN) * 1024.0 / 1e6
}
