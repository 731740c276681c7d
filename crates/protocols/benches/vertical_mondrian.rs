//! Cuts of the same people by two and three sites: rounds, bytes and time on Adult, 30,162 people with seven
//! quasi-identifiers, k = 10, after alignment.
//!
//! `cargo bench -p hedgerow-protocols --bench vertical_mondrian [-- --k 10]`
//!
//! Ends with a failure if rounds or bytes are more than the bars allow, or if the classes are not those of
//! one party.
//!
//! Adult (UCI Machine Learning Repository) with its taxonomies, from `HEDGEROW_DATA` or the folder beside
//! the project. Columns come to sites in turn; joining is not counted, which has nothing to do with
//! people.

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
use hedgerow_protocols::horizontal::cover::Writing;
use hedgerow_protocols::vertical::d2pt::columns_of;
use hedgerow_protocols::vertical::mondrian::{Plan, assemble, partition};
use hedgerow_smc::memory::{LinkModel, Simulation};
use hedgerow_smc::{Party, Seed, Settings};
use hedgerow_testing::{StudyText, real_tables, taxonomy};

const QUASI: [&str; 7] = [
    "sex",
    "age",
    "race",
    "marital-status",
    "education",
    "native-country",
    "workclass",
];

/// The most rounds, and bytes a person, that a run may need.
const MOST_ROUNDS: u32 = 100;
const MOST_BYTES: f64 = 30.0;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    // `cargo test --all-targets` runs this binary too, without `--bench`.
    if !arguments.iter().any(|word| word == "--bench") {
        return ExitCode::SUCCESS;
    }
    let place = arguments.iter().position(|word| word == "--k");
    let k: u64 = place.map_or(10, |place| arguments[place + 1].parse().unwrap());
    let Some((schema, table)) = adult() else {
        return ExitCode::SUCCESS;
    };
    let people = table.rows();
    println!("Adult, {people} people x {}, k = {k}, nodes", QUASI.len());
    println!(
        "{:>6} {:>8} {:>6} {:>8} {:>10} {:>12} {:>10} {:>10}",
        "sites", "classes", "waves", "rounds", "bytes", "a person", "WAN s", "CPU s"
    );
    let is_held = [2, 3].map(|sites| is_held(&schema, &table, sites, k));
    match is_held.into_iter().all(|held| held) {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

/// Runs one split; whether it holds the bars.
fn is_held(schema: &Arc<Schema>, table: &Table, sites: usize, k: u64) -> bool {
    let mut columns: Vec<Vec<&str>> = vec![Vec::new(); sites];
    for (place, name) in QUASI.iter().enumerate() {
        columns[place % sites].push(name);
    }
    let split = Split::new(schema, &columns).unwrap();
    let requirement = Requirement::of_line(&format!("k = {k}"), &Scope::of_schema(schema)).unwrap();
    let plan = || Plan {
        schema,
        split: &split,
        requirement: &requirement,
        writings: schema
            .with_role(Role::Quasi)
            .into_iter()
            .map(|position| Writing {
                domain: &schema.attributes()[position].domain,
                recode: Recode::Node,
            })
            .collect(),
    };
    let own = columns_of(schema, table);
    let rows: Vec<u32> = (0..table.rows() as u32).collect();
    let mut party = Party::alone(Settings::hardened(), &Seed::for_site(1, 0));
    let alone = pollster::block_on(partition(&mut party, &plan(), &own, &rows, |_, _| {})).unwrap();

    let begun = Instant::now();
    let simulation = Simulation::new(sites, 7).model(LinkModel::WAN);
    let run = simulation.run(|mut party| {
        let (plan, own, rows) = (plan(), &own, &rows);
        async move {
            let found = partition(&mut party, &plan, own, rows, |_, _| {}).await?;
            assemble(&mut party, &plan, own, rows, &found).await?;
            Ok::<_, Error>(found)
        }
    });
    let seconds = begun.elapsed().as_secs_f64();
    let joining = simulation.run(|_| async { Ok::<_, Error>(()) }).traffic;
    let (traffic, wan) = (run.traffic.clone(), run.elapsed.as_secs_f64());
    let found = run.into_values().unwrap();
    let is_same = found[0].classes == alone.classes;
    let (rounds, bytes) = (traffic.rounds, traffic.bytes() - joining.bytes());
    let a_person = bytes as f64 / table.rows() as f64;
    println!(
        "{sites:>6} {:>8} {:>6} {rounds:>8} {bytes:>10} {a_person:>12.1} {wan:>10.1} {seconds:>10.1}",
        found[0].classes.len(),
        found[0].waves
    );
    let is_held = is_same && rounds <= MOST_ROUNDS && a_person <= MOST_BYTES;
    if !is_held {
        eprintln!(
            "MISSED: {rounds} rounds, at most {MOST_ROUNDS}; {a_person:.1} bytes a person, at most {MOST_BYTES}; same classes: {is_same}"
        );
    }
    is_held
}

fn adult() -> Option<(Arc<Schema>, Table)> {
    let folder = real_tables()?.join("adult9");
    let mut text = StudyText::new("adult");
    for name in QUASI {
        text = text.quasi(name, taxonomy(&format!("adult_hierarchy_{name}.csv")));
    }
    let document = Document::parse(text.to_string(), Path::new("study.toml")).unwrap();
    let schema = Study::read(document, &folder).unwrap().schema;
    let file = folder.join("adult.csv");
    let table = read_table(&file, &schema, &Others::PassOverAll, &()).unwrap();
    Some((schema, table))
}
