//! Sequential clustering of columns at two sites: rounds, bytes and time beside the paper's (TG12
//! section 9: Adult, 40,000 records, k = 100).
//!
//! `cargo bench -p hedgerow-protocols --bench vertical_clustering [-- --k 100 --rows 40000 --sites 2]`
//!
//! Ends with a failure if rounds or bytes are more than the bars allow. Before it, the same by one party,
//! with the loss after each iteration and their number L.
//!
//! Adult's fourteen quasi-identifiers (UCI Machine Learning Repository), from `HEDGEROW_DATA` or the
//! folder beside the project. Loss is LM; categories are written as nodes, numbers as ranges. Columns
//! come to sites in turn.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    missing_docs
)]

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use hedgerow_data::document::Document;
use hedgerow_data::files::{Others, read_table};
use hedgerow_data::study::Split;
use hedgerow_data::{Recode, Role, Schema, Study, Table};
use hedgerow_privacy::{Requirement, Scope};
use hedgerow_protocols::Error;
use hedgerow_protocols::clustering::Stop;
use hedgerow_protocols::horizontal::cover::Writing;
use hedgerow_protocols::vertical::clustering::{Loss, Phase, Plan, Progress, assemble, cluster};
use hedgerow_protocols::vertical::d2pt::columns_of;
use hedgerow_smc::memory::{LinkModel, Simulation};
use hedgerow_smc::{Party, Security, Seed, Settings};
use hedgerow_testing::{StudyText, integer, real_tables, taxonomy};

/// Attributes with a taxonomy.
const CATEGORIES: [&str; 8] = [
    "workclass",
    "education",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "native-country",
];
/// Numbers and the greatest of each.
const NUMBERS: [(&str, u32); 6] = [
    ("age", 100),
    ("fnlwgt", 1_500_000),
    ("education-num", 16),
    ("capital-gain", 100_000),
    ("capital-loss", 5_000),
    ("hours-per-week", 100),
];
const RELATIONSHIP: &str = "Husband;Spouse;*\nWife;Spouse;*\nOwn-child;Relative;*\n\
                            Other-relative;Relative;*\nNot-in-family;Alone;*\nUnmarried;Alone;*\n";

/// What the paper needs on the same records: secure sums, messages, seconds between institutions.
const PAPER: (u64, u64, u64) = (360_000, 1_440_000, 43_200);
/// The most rounds and bytes that we may need.
const MOST_ROUNDS: u32 = 4_500;
const MOST_BYTES: u64 = 1_500_000_000;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    // `cargo test --all-targets` runs this binary too, without `--bench`.
    if !arguments.iter().any(|word| word == "--bench") {
        return ExitCode::SUCCESS;
    }
    let number = |name: &str, default: usize| {
        let place = arguments.iter().position(|word| word == name);
        place.map_or(default, |place| arguments[place + 1].parse().unwrap())
    };
    let (rows, k) = (number("--rows", 40_000), number("--k", 100));
    let sites = number("--sites", 2);
    let Some((schema, table)) = adult14() else {
        return ExitCode::SUCCESS;
    };
    let mut columns: Vec<Vec<&str>> = vec![Vec::new(); sites];
    for (place, attribute) in schema.attributes().iter().enumerate() {
        columns[place % sites].push(&attribute.name);
    }
    let split = Split::new(&schema, &columns).unwrap();
    let line = format!("k = {k}");
    let requirement = Requirement::of_line(&line, &Scope::of_schema(&schema)).unwrap();
    let quasi = schema.with_role(Role::Quasi);
    let seed = number("--seed", 1) as u64;
    let seeds = |site: u32| Seed::for_site(seed, site as usize);
    let plan = || Plan {
        schema: &schema,
        split: &split,
        requirement: &requirement,
        writings: quasi
            .iter()
            .map(|position| Writing {
                domain: &schema.attributes()[*position].domain,
                recode: Recode::Node,
            })
            .collect(),
        loss: Loss::Lm,
        start: 0.5,
        split_above: 1.5,
        starts: number("--starts", 1) as u32,
        stop: Stop {
            iterations: Some(number("--iterations", 50) as u32),
            ..Stop::at(Security::Hardened)
        },
        is_printed: false,
        is_refined: true,
        noise: 0.0,
        asks_all: false,
        seeds: &seeds,
    };
    let own = columns_of(&schema, &table);
    let places: Vec<u32> = (0..rows as u32).collect();
    println!(
        "Adult, {rows} records x {}, k = {k}, {sites} sites",
        quasi.len()
    );

    let begun = Instant::now();
    let mut party = Party::alone(Settings::hardened(), &Seed::for_site(1, 0));
    let of_all = plan();
    let alone = cluster(&mut party, &of_all, &own, &places, |progress| {
        tell(progress, begun);
    });
    let alone = pollster::block_on(alone).unwrap();
    let is_iteration = |step: &&Progress| step.phase == Phase::Iteration;
    println!(
        "one party with all columns: L = {}, {} calls, loss {:.3} %, {} clusters, {:.1} s, ended: {:?}",
        alone.trace.iter().filter(is_iteration).count(),
        party.calls(),
        alone.own_loss * 100.0,
        alone.clusters.len(),
        begun.elapsed().as_secs_f64(),
        alone.ended
    );

    let begun = Instant::now();
    let simulation = Simulation::new(sites, 7).model(LinkModel::WAN);
    let run = simulation.run(|mut party| {
        let (plan, own, places) = (plan(), &own, &places);
        async move {
            let found = cluster(&mut party, &plan, own, places, |_| {}).await?;
            let release = assemble(&mut party, &plan, own, places, &found).await?;
            Ok::<_, Error>((found, release))
        }
    });
    let (traffic, wan) = (run.traffic.clone(), run.elapsed.as_secs_f64());
    let parts = run.into_values().unwrap();
    let (found, release) = &parts[0];
    assert_eq!(found.clusters, alone.clusters, "the same clusters");
    assert_eq!(release.rows(), rows);
    let (calls, messages, seconds) = PAPER;
    println!(
        "{:>12} {:>12} {:>14} {:>14} {:>12}",
        "", "rounds", "messages", "bytes", "WAN s"
    );
    println!(
        "{:>12} {:>12} {:>14} {:>14} {wan:>12.0}",
        "measured",
        traffic.rounds,
        traffic.messages(),
        traffic.bytes()
    );
    println!(
        "{:>12} {calls:>12} {messages:>14} {:>14} {seconds:>12}",
        "paper", ""
    );
    println!(
        "published form in this run: {} secure sums; computed in {:.1} s",
        found.published_calls,
        begun.elapsed().as_secs_f64(),
    );
    let (rounds, bytes) = (traffic.rounds, traffic.bytes());
    let bars =
        format!("{rounds} rounds, at most {MOST_ROUNDS}; {bytes} bytes, at most {MOST_BYTES}");
    if rounds > MOST_ROUNDS || bytes > MOST_BYTES {
        eprintln!("MISSED: {bars}");
        return ExitCode::FAILURE;
    }
    println!("held: {bars}");
    ExitCode::SUCCESS
}

fn tell(progress: Progress, begun: Instant) {
    let phase = match progress.phase {
        Phase::Iteration => "iteration",
        Phase::United => "united",
        Phase::Refined => "refined",
    };
    println!(
        "{phase:>10} {:>6} clusters {:>7} moved {:>9.3} % since the start {:>6.1} s",
        progress.clusters,
        progress.moved,
        progress.change.unwrap_or(f64::NAN) * 100.0,
        begun.elapsed().as_secs_f64()
    );
}

fn adult14() -> Option<(Arc<Schema>, Table)> {
    let folder = real_tables()?;
    let studies = tempfile::tempdir().unwrap();
    std::fs::write(studies.path().join("relationship.csv"), RELATIONSHIP).unwrap();
    let mut text = StudyText::new("adult");
    for name in CATEGORIES {
        let hierarchy = format!("adult9/adult_hierarchy_{name}.csv");
        let hierarchy = folder.join(hierarchy);
        if hierarchy.is_file() {
            std::fs::copy(hierarchy, studies.path().join(format!("{name}.csv"))).unwrap();
        }
        text = text.quasi(name, taxonomy(&format!("{name}.csv")));
    }
    for (name, greatest) in NUMBERS {
        text = text.quasi(name, integer(0..=i64::from(greatest)));
    }
    let document = Document::parse(text.to_string(), Path::new("study.toml")).unwrap();
    let schema = Study::read(document, studies.path()).unwrap().schema;
    let file = folder.join("adult14/adult14.csv");
    let table = read_table(&file, &schema, &Others::PassOverAll, &()).unwrap();
    Some((schema, table))
}
