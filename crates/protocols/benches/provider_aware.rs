//! What m-privacy and site diversity cost (MPRIV section V.C, JX09 section 6).
//!
//! `cargo bench -p hedgerow-protocols --bench provider_aware` prints two kinds of table. The first
//! sets provider-aware cuts against the baseline (the widest attribute) for m = 0 to 5: time,
//! classes, sites of a class, query error, loss, and privacy checks of two strategies. As in the
//! paper, occupation is sensitive, the other eight attributes are quasi-identifiers, and records
//! come to ten sites by an exponential distribution; beside it, to ten sites of a region and age
//! each. Its Table II is lost in print: k = 15 is the one its section V.C
//! names, l = 4 is that of the bench `m_privacy`. The second weighs width against diversity
//! of sites by alpha, on 100 sites that each have one region and age.
//!
//! Tables are Adult (UCI Machine Learning Repository) where `HEDGEROW_DATA` or the folder beside
//! the project has it, otherwise synthetic. One party has everybody's records: many sites would
//! make the same classes. Loss is NCP over the values present, of tight ranges.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    missing_docs
)]

#[path = "../../data/tests/it/adult.rs"]
mod adult;

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use hedgerow_data::document::Document;
use hedgerow_data::files::{Others, read_table};
use hedgerow_data::synthetic::{self, Kind, TableFormat, generate, study_text};
use hedgerow_data::{Codes, Recode, Release, Role, Schema, Study, Table};
use hedgerow_privacy::classes::Classes;
use hedgerow_privacy::closeness::Distance;
use hedgerow_privacy::m_privacy::{Strategy, WEIGHT_OF_DIVERSITY};
use hedgerow_privacy::query_error::{Queries, query_error};
use hedgerow_privacy::utility::{Measured, utility};
use hedgerow_privacy::{Requirement, Scope};
use hedgerow_protocols::horizontal::assembly::Room;
use hedgerow_protocols::horizontal::assembly::assemble;
use hedgerow_protocols::horizontal::cover::Covers;
use hedgerow_protocols::horizontal::cover::{Writing, covers};
use hedgerow_protocols::horizontal::mondrian::{
    Choice, Cutting, Medians, Partition, Plan, Quasi, Widths, partition,
};
use hedgerow_protocols::horizontal::requirement::{Demands, SensitiveAttribute};
use hedgerow_protocols::horizontal::{OwnRows, Owner, SensitiveCodes};
use hedgerow_smc::{Party, Seed, Settings};

const FITTEST: Choice = Choice::Fitness {
    weight: WEIGHT_OF_DIVERSITY,
};

fn main() {
    // `cargo test --all-targets` runs this binary too, without `--bench`.
    if !std::env::args().any(|word| word == "--bench") {
        return;
    }
    let persons = adult().unwrap_or_else(census);
    println!("{}: {} records", persons.name, persons.table.rows());
    let sites = 10;
    print_m_privacy(&persons, "exponential", &persons.exponential(sites), sites);
    print_m_privacy(
        &persons,
        "region and age",
        &persons.by_region_and_age(sites),
        sites,
    );
    print_site_diversity(&persons);
}

/// Provider-aware against baseline.
fn print_m_privacy(persons: &Persons, split: &str, owners: &[u32], sites: usize) {
    let (k, l) = (15, 4);
    let sizes = (0..sites as u32).map(|site| owners.iter().filter(|own| **own == site).count());
    println!(
        "\nk = {k}, l = {l} distinct, {sites} sites by {split}, of {:?} records",
        sizes.collect::<Vec<_>>()
    );
    println!(
        "{:>2} {:<14} {:>8} {:>8} {:>7} {:>6} {:>7} {:>11} {:>8} {:>11} {:>11}",
        "m",
        "cuts",
        "adaptive",
        "direct",
        "classes",
        "size",
        "sites",
        "query error",
        "loss",
        "adaptive",
        "direct"
    );
    for m in 0..=5 {
        let ways = [
            ("baseline", Choice::Width, false),
            ("provider-aware", Choice::Width, true),
            ("as published", FITTEST, true),
        ];
        for (name, choice, cuts_sites) in ways {
            let line = match m {
                0 => format!("k = {k}, l = {l}"),
                m => format!("k = {k}, l = {l}, m = {m}"),
            };
            let run = |strategy| persons.run(&line, (owners, sites), choice, cuts_sites, strategy);
            let (adaptive, direct) = (run(Strategy::Adaptive), run(Strategy::Direct));
            assert_eq!(adaptive.partition.classes, direct.partition.classes);
            let measured = persons.measure(&adaptive);
            println!(
                "{m:>2} {name:<14} {:>6.2} s {:>6.2} s {:>7} {:>6.1} {:>7.2} {:>11.3} {:>6.2} % {:>11} {:>11}",
                adaptive.seconds,
                direct.seconds,
                measured.classes,
                measured.size,
                adaptive.sites_of_a_class(owners),
                measured.query_error,
                measured.loss * 100.0,
                adaptive.partition.checks,
                direct.partition.checks,
            );
        }
    }
}

/// Width against diversity of sites.
fn print_site_diversity(persons: &Persons) {
    let (k, sites) = (10, 100);
    let owners = persons.by_region_and_age(sites);
    println!("\nk = {k}, {sites} sites by region and age");
    println!(
        "{:>14} {:>6} {:>8} {:>7} {:>6} {:>8}",
        "site_diversity", "alpha", "time", "classes", "size", "loss"
    );
    for l in 2..=5 {
        for alpha in [0.3, 0.0, 1.0] {
            let line = format!("k = {k}, site_diversity = {l}");
            let choice = Choice::Diversity { alpha };
            let done = persons.run(&line, (&owners, sites), choice, false, Strategy::Direct);
            let measured = persons.measure(&done);
            println!(
                "{l:>14} {alpha:>6} {:>6.2} s {:>7} {:>6.1} {:>6.2} %",
                done.seconds,
                measured.classes,
                measured.size,
                measured.loss * 100.0
            );
        }
    }
}

/// A table with occupation as its sensitive attribute.
struct Persons {
    name: &'static str,
    schema: Arc<Schema>,
    table: Table,
    columns: Vec<Codes>,
}

struct Done {
    partition: Partition,
    release: Release,
    /// Of the cuts alone.
    seconds: f64,
}

struct Figures {
    classes: usize,
    size: f64,
    query_error: f64,
    loss: f64,
}

impl Persons {
    fn new(name: &'static str, schema: Arc<Schema>, table: Table) -> Self {
        let positions = 0..schema.attributes().len();
        let columns = positions.map(|position| table.codes(position).unwrap().clone());
        let columns = columns.collect();
        Self {
            name,
            schema,
            table,
            columns,
        }
    }

    fn run(
        &self,
        line: &str,
        (owners, sites): (&[u32], usize),
        choice: Choice,
        cuts_sites: bool,
        strategy: Strategy,
    ) -> Done {
        let requirement = Requirement::of_line(line, &Scope::of_schema(&self.schema)).unwrap();
        let quasi = self.schema.with_role(Role::Quasi);
        let sensitive = self.schema.with_role(Role::Sensitive)[0];
        let domain = |position: usize| &self.schema.attributes()[position].domain;
        let plan = Plan {
            quasi: quasi
                .iter()
                .map(|position| Quasi {
                    size: domain(*position).size(),
                    cutting: Cutting::Median,
                    is_coarsened: false,
                })
                .collect(),
            demands: Demands {
                requirement: &requirement,
                sensitive: vec![SensitiveAttribute {
                    distance: Distance::Equal,
                    tree: None,
                }],
                strategy,
                contributors: false,
            },
            choice,
            cuts_sites,
            keeps_twice_k: false,
            medians: Medians::Strict,
            widths: Widths::Box,
            betraying: None,
            room: Room::default(),
            is_counted: false,
        };
        let rows = OwnRows {
            counts: None,
            other: Vec::new(),
            count: self.table.rows(),
            quasi: quasi
                .iter()
                .map(|position| &self.columns[*position])
                .collect(),
            sensitive: vec![SensitiveCodes {
                codes: &self.columns[sensitive],
                size: domain(sensitive).size(),
            }],
            owner: Owner::Column(owners),
            sites,
        };
        let writings: Vec<Writing<'_>> = quasi
            .iter()
            .map(|position| Writing {
                domain: domain(*position),
                recode: Recode::Range,
            })
            .collect();
        let mut party = Party::alone(Settings::hardened(), &Seed::for_site(1, 0));
        let started = Instant::now();
        let partition = pollster::block_on(partition(&mut party, &rows, &plan, |_, _| {})).unwrap();
        let seconds = started.elapsed().as_secs_f64();
        let release = pollster::block_on(async {
            let cells = covers(&mut party, &rows, &partition, &writings, Covers::Tight).await?;
            let verbatim = [(sensitive, &self.columns[sensitive])];
            assemble(&mut party, &self.schema, &partition, &cells, &verbatim).await
        });
        Done {
            partition,
            release: release.unwrap(),
            seconds,
        }
    }

    fn measure(&self, done: &Done) -> Figures {
        let quasi = self.schema.with_role(Role::Quasi);
        let columns: Vec<_> = quasi
            .iter()
            .map(|position| done.release.generalized(*position).unwrap())
            .collect();
        let codes: Vec<&[u32]> = columns.iter().map(|column| &column.codes[..]).collect();
        let classes = Classes::group(&codes, done.release.rows());
        let counts: Vec<Vec<u64>> = quasi
            .iter()
            .map(|position| self.counts(*position))
            .collect();
        let measured: Vec<Measured<'_>> = quasi
            .iter()
            .zip(columns)
            .zip(&counts)
            .map(|((position, column), counts)| Measured {
                name: &self.schema.attributes()[*position].name,
                domain: &self.schema.attributes()[*position].domain,
                column,
                counts: None,
                original: Some(counts),
            })
            .collect();
        let queries = Queries {
            count: 2_500,
            attributes: (2, quasi.len() / 2),
            width: 0.3,
            seed: 1,
        };
        let utility = utility(&measured, &classes, 1);
        let error = query_error(&self.table, &done.release, &classes, &quasi, &queries).unwrap();
        Figures {
            classes: classes.count(),
            size: utility.average_class_size,
            query_error: error.mean,
            loss: utility.ncp_present.unwrap(),
        }
    }

    fn counts(&self, position: usize) -> Vec<u64> {
        let size = self.schema.attributes()[position].domain.size();
        let mut counts = vec![0; size as usize];
        let codes = self.columns[position].iter();
        codes.for_each(|code| counts[code as usize] += 1);
        counts
    }

    /// The site of each record, by weights of an exponential distribution.
    fn exponential(&self, sites: usize) -> Vec<u32> {
        let mut random = Random(sites as u64);
        let weights: Vec<f64> = (0..sites).map(|_| -(1.0 - random.unit()).ln()).collect();
        let total: f64 = weights.iter().sum();
        let owner = |share: f64| {
            let mut left = share * total;
            let reached = weights.iter().position(|weight| {
                left -= weight;
                left < 0.0
            });
            reached.unwrap_or(sites - 1) as u32
        };
        let rows = 0..self.table.rows();
        rows.map(|_| owner(random.unit())).collect()
    }

    /// The site of each record: equal stretches of the order by country, then age.
    fn by_region_and_age(&self, sites: usize) -> Vec<u32> {
        let column = |name| &self.columns[self.schema.position(name).unwrap()];
        let (country, age) = (column("native-country"), column("age"));
        let mut order: Vec<usize> = (0..self.table.rows()).collect();
        order.sort_by_key(|row| (country.get(*row), age.get(*row)));
        let mut owners = vec![0; order.len()];
        for (place, row) in order.into_iter().enumerate() {
            owners[row] = (place * sites / self.table.rows()) as u32;
        }
        owners
    }
}

impl Done {
    /// How many sites have records in a class, on average.
    fn sites_of_a_class(&self, owners: &[u32]) -> f64 {
        let classes = &self.partition.classes;
        let sites = classes.iter().map(|class| {
            let rows = self.partition.rows(class).iter();
            let sites: HashSet<u32> = rows.map(|row| owners[*row as usize]).collect();
            sites.len()
        });
        sites.sum::<usize>() as f64 / classes.len() as f64
    }
}

/// Adult, where it is.
fn adult() -> Option<Persons> {
    let (study, table) = adult::adult("occupation")?;
    Some(Persons::new("Adult", study.schema, table))
}

/// As many synthetic persons.
fn census() -> Persons {
    let folder = tempfile::tempdir().unwrap();
    let plan = synthetic::Plan {
        kind: Kind::Census,
        rows: 30_000,
        sites: 1,
        seed: 1,
        format: TableFormat::Csv,
        pooled: false,
        parts: None,
    };
    let folder = folder.path().join("census");
    let written = generate(&plan, &folder, &()).unwrap();
    let named = |name: &str, role: &str| format!("name = \"{name}\"\nrole = \"{role}\"");
    let text = study_text(Kind::Census)
        .replace(
            &named("occupation", "quasi"),
            &named("occupation", "sensitive"),
        )
        .replace(
            &named("salary-class", "sensitive"),
            &named("salary-class", "quasi"),
        );
    read("synthetic census", &text, &folder, &written.tables[0].1)
}

fn read(name: &'static str, text: &str, folder: &Path, table: &Path) -> Persons {
    let document = Document::parse(text.into(), Path::new("study.toml")).unwrap();
    let schema = Study::read(document, folder).unwrap().schema;
    let table = read_table(table, &schema, &Others::Refuse, &()).unwrap();
    Persons::new(name, schema, table)
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}
