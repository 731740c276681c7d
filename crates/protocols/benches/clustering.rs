//! Sequential clustering: loss, rounds and time.
//!
//! `cargo bench -p hedgerow-protocols --bench clustering -- [adult14|census] [range|set] [published]
//! [--k N] [--sites N] [--rows N] [--seed N]`, Adult's QI8 as nodes if nothing else is said: the loss
//! after each step, then time, rounds, messages, bytes, and time between institutions (30 ms, 100
//! Mbit/s).
//!
//! Tables are Adult and Census-Income (UCI Machine Learning Repository) where `HEDGEROW_DATA` or the
//! folder beside the project has them. Loss is NCP over the values present, mean over all cells; the
//! recoding is always named. Records come to sites at random.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    missing_docs
)]

#[path = "../../data/tests/it/adult.rs"]
mod adult;

use std::path::Path;
use std::time::Instant;

use hedgerow_data::document::Document;
use hedgerow_data::files::{Others, read_table};
use hedgerow_data::{Codes, Recode, Role, Study, Table};
use hedgerow_privacy::m_privacy::Strategy;
use hedgerow_privacy::{Requirement, Scope};
use hedgerow_protocols::horizontal::clustering::{
    Clustering, Loss, Phase, Plan, Progress, cluster,
};
use hedgerow_protocols::horizontal::cover::Writing;
use hedgerow_protocols::horizontal::requirement::Demands;
use hedgerow_protocols::horizontal::{OwnRows, Owner};
use hedgerow_smc::memory::{LinkModel, Simulation};
use hedgerow_smc::{Party, Seed, Settings};

struct Case<'a> {
    study: &'a Study,
    table: &'a Table,
    k: u64,
    sites: usize,
    recode: Recode,
    is_refined: bool,
    seed: u64,
}

struct Ran {
    found: Clustering,
    seconds: f64,
    rounds: u32,
    messages: u64,
    bytes: u64,
    wan: f64,
    ledger: Vec<(usize, String)>,
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    // `cargo test --all-targets` runs this binary too, without `--bench`.
    if !arguments.iter().any(|word| word == "--bench") {
        return;
    }
    let number = |name: &str, default: u64| {
        let place = arguments.iter().position(|word| word == name);
        place.map_or(default, |place| arguments[place + 1].parse().unwrap())
    };
    let has = |name: &str| arguments.iter().any(|word| word == name);
    let rows = number("--rows", u64::MAX) as usize;
    let read = if has("census") {
        census(rows)
    } else if has("adult14") {
        adult14(rows)
    } else {
        adult::adult("salary-class")
    };
    let Some((study, table)) = read else {
        return;
    };
    let case = Case {
        study: &study,
        table: &table,
        k: number("--k", 10),
        sites: number("--sites", 1) as usize,
        recode: if has("set") {
            Recode::Set
        } else if has("range") {
            Recode::Range
        } else {
            Recode::Node
        },
        is_refined: !has("published"),
        seed: number("--seed", 1),
    };
    let ran = run(&case, true);
    println!(
        "k {} sites {} {:?}: loss {:.3} %, {:.1} s, {} rounds, {} messages, {} bytes, WAN {:.0} s",
        case.k,
        case.sites,
        case.recode,
        ran.found.trace.last().unwrap().loss * 100.0,
        ran.seconds,
        ran.rounds,
        ran.messages,
        ran.bytes,
        ran.wan
    );
    println!(
        "the published form asks {} times for the same iterations",
        ran.found.published_calls
    );
    for (calls, line) in ran.ledger {
        println!("{calls:>8} {line}");
    }
}

/// The first rows of Census-Income: ages in steps of 5, 10 and 20, everything else by value.
fn census(rows: usize) -> Option<(Study, Table)> {
    plain(
        "census7/census7.csv",
        &["age"],
        &["occupation", "income"],
        rows,
    )
}

/// The first rows of Adult with 14 attributes, numbers as ranges of their values.
fn adult14(rows: usize) -> Option<(Study, Table)> {
    let numbers = [
        "age",
        "fnlwgt",
        "education-num",
        "capital-gain",
        "capital-loss",
        "hours-per-week",
    ];
    plain("adult14/adult14.csv", &numbers, &["salary-class"], rows)
}

/// A table without taxonomies: numbers are grouped by tens and hundreds of a hundredth of their
/// domain, other values have only the root above them.
fn plain(file: &str, numbers: &[&str], others: &[&str], rows: usize) -> Option<(Study, Table)> {
    let text = std::fs::read_to_string(adult::shared_data()?.join(file)).unwrap();
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().unwrap().split(',').collect();
    let records: Vec<Vec<&str>> = lines
        .take(rows)
        .map(|line| line.split(',').collect())
        .collect();
    let folder = tempfile::tempdir().unwrap();
    let mut study = String::from("[study]\nname = \"plain\"\npartition = \"horizontal\"\n");
    for (place, name) in names.iter().enumerate() {
        let mut values: Vec<&str> = records.iter().map(|record| record[place]).collect();
        values.sort_unstable();
        values.dedup();
        let is_number = numbers.contains(name);
        if is_number {
            values.sort_by_key(|value| value.parse::<i64>().unwrap());
        }
        let role = if others.contains(name) {
            "sensitive"
        } else {
            "quasi"
        };
        let row = |value: &&str| {
            if !is_number {
                return format!("{value};*\n");
            }
            let least: i64 = values[0].parse().unwrap();
            let greatest: i64 = values[values.len() - 1].parse().unwrap();
            let step = ((greatest - least) / 20).max(1);
            let value: i64 = value.parse().unwrap();
            let group = |width: i64| {
                let from = least + (value - least) / width * width;
                format!("from {from} by {width}")
            };
            format!("{value};{};{};*\n", group(step), group(4 * step))
        };
        let rows: String = values.iter().map(row).collect();
        std::fs::write(folder.path().join(format!("{place}.csv")), rows).unwrap();
        study.push_str(&format!(
            "[[attribute]]\nname = \"{name}\"\nrole = \"{role}\"\ntaxonomy = \"{place}.csv\"\n"
        ));
    }
    let head = text
        .lines()
        .take(records.len() + 1)
        .collect::<Vec<&str>>()
        .join("\n");
    let table = folder.path().join("table.csv");
    std::fs::write(&table, head).unwrap();
    let document = Document::parse(study, Path::new("study.toml")).unwrap();
    let study = Study::read(document, folder.path()).unwrap();
    let table = read_table(&table, &study.schema, &Others::Refuse, &()).unwrap();
    Some((study, table))
}

fn run(case: &Case<'_>, is_told: bool) -> Ran {
    let schema = &case.study.schema;
    let quasi = schema.with_role(Role::Quasi);
    let writings: Vec<Writing<'_>> = quasi
        .iter()
        .map(|position| Writing {
            domain: &schema.attributes()[*position].domain,
            recode: case.recode,
        })
        .collect();
    let requirement = Requirement::of_line(&format!("k = {}", case.k), &Scope::default()).unwrap();
    let seed = case.seed;
    let seeds =
        move |site: u32, start: u32| Seed::for_site(seed * 1000 + u64::from(start), site as usize);
    let plan = Plan {
        writings,
        loss: Loss::Ncp,
        demands: Demands {
            requirement: &requirement,
            sensitive: Vec::new(),
            strategy: Strategy::Direct,
            may_write_alike: true,
        },
        start: 0.5,
        split: 1.5,
        starts: 1,
        is_refined: case.is_refined,
        is_blurred: false,
        seeds: &seeds,
    };
    let columns = |site: usize| -> Vec<Codes> {
        let own = |row: &usize| blake(*row as u64) as usize % case.sites == site;
        let rows: Vec<usize> = (0..case.table.rows()).filter(own).collect();
        quasi
            .iter()
            .map(|position| {
                let codes = case.table.codes(*position).unwrap();
                let mut own = Codes::for_size(schema.attributes()[*position].domain.size());
                rows.iter().for_each(|row| own.push(codes.get(*row)));
                own
            })
            .collect()
    };
    let rows = |columns: &'static [Codes], site: usize| OwnRows {
        count: columns[0].len(),
        quasi: columns.iter().collect(),
        sensitive: Vec::new(),
        owner: Owner::Site(site as u32),
        sites: case.sites,
    };
    let begun = Instant::now();
    let tell = |progress: Progress| {
        if is_told {
            let phase = match progress.phase {
                Phase::Iteration => "iteration",
                Phase::Grown => "grown",
                Phase::Refined => "refined",
                Phase::Rebuilt => "rebuilt",
            };
            println!(
                "{phase:>10} {:>7} clusters {:>8.3} % {:>7.1} s",
                progress.clusters,
                progress.loss * 100.0,
                begun.elapsed().as_secs_f64()
            );
        }
    };
    if case.sites == 1 {
        let columns: &'static [Codes] = Box::leak(columns(0).into_boxed_slice());
        let mut party = Party::alone(Settings::hardened(), &Seed::for_site(1, 0));
        let found =
            pollster::block_on(cluster(&mut party, &rows(columns, 0), &plan, tell)).unwrap();
        return Ran {
            found,
            seconds: begun.elapsed().as_secs_f64(),
            rounds: 0,
            messages: 0,
            bytes: 0,
            wan: 0.0,
            ledger: Vec::new(),
        };
    }
    let settings = if case.is_refined {
        Settings::hardened()
    } else {
        Settings::published()
    };
    let run = Simulation::new(case.sites, 7)
        .settings(settings)
        .model(LinkModel::WAN)
        .run(|mut party| {
            let (plan, columns, rows, tell) = (&plan, &columns, &rows, &tell);
            async move {
                let site = party.me().index();
                let columns: &'static [Codes] = Box::leak(columns(site).into_boxed_slice());
                let found = cluster(&mut party, &rows(columns, site), plan, |progress| {
                    if site == 0 {
                        tell(progress)
                    }
                })
                .await?;
                let lines = party.ledger().summary();
                let lines = lines.into_iter().map(|line| {
                    (
                        line.calls,
                        format!("{} {}, {} values", line.by, line.what, line.values),
                    )
                });
                Ok::<_, hedgerow_protocols::Error>((found, lines.collect()))
            }
        });
    let (traffic, wan) = (run.traffic.clone(), run.elapsed.as_secs_f64());
    let (found, ledger) = run.into_values().unwrap().swap_remove(0);
    Ran {
        found,
        seconds: begun.elapsed().as_secs_f64(),
        rounds: traffic.rounds,
        messages: traffic.messages(),
        bytes: traffic.bytes(),
        wan,
        ledger,
    }
}

/// A well-mixed number of a row.
fn blake(row: u64) -> u64 {
    row.wrapping_mul(0x9e37_79b9_7f4a_7c15)
        .rotate_left(31)
        .wrapping_mul(0xbf58_476d_1ce4_e5b9)
        >> 33
}
