//! TG12 Proposition 8.9 as a test, as JX09's Theorem 1 has one: every value in a site's ledger of a run as
//! printed is made from sizes and closures of clusters and from what a site asks about in its turn (8.2.3),
//! by a simulator that sees no record. Those come from Algorithm 3 as one would run it who sees everybody's
//! records, in code that shares nothing with the run; so the run is also held against the algorithm, its
//! number of iterations and its SMC calls against section 7.1.

mod algorithm;
mod simulator;

use std::path::Path;
use std::sync::Arc;

use hedgerow_data::document::Document;
use hedgerow_data::{Cell, Codes, Recode, Schema, Study, Taxonomy};
use hedgerow_privacy::{Requirement, Scope};
use hedgerow_protocols::Error;
use hedgerow_protocols::clustering::Stop;
use hedgerow_protocols::horizontal::Owner;
use hedgerow_protocols::horizontal::clustering::{Clustering, Ended, Loss, Plan, cluster};
use hedgerow_smc::memory::Simulation;
use hedgerow_smc::{Party, Security, Seed, Settings};
use proptest::prelude::*;

use crate::clustering::plan;
use crate::tables::own_rows;
use algorithm::Algorithm;
use simulator::{Known, Line};

/// Three quasi-identifiers with taxonomies of different heights, with a power of two of values beyond the
/// first, so that losses are whole numbers.
fn schema() -> Arc<Schema> {
    let folder = tempfile::tempdir().unwrap();
    let places = "a;X;*\nb;X;*\nc;Y;*\nd;Y;*\ne;Z;*\n";
    let ages = "1;low;young;*\n2;low;young;*\n3;high;young;*\n4;high;young;*\n5;mid;old;*\n6;mid;old;*\n7;late;old;*\n8;late;old;*\n9;last;old;*\n";
    let sexes = "f;*\nm;*\n";
    let mut text = String::from("[study]\nname = \"s\"\npartition = \"horizontal\"\n");
    for (name, lines) in [("place", places), ("age", ages), ("sex", sexes)] {
        std::fs::write(folder.path().join(format!("{name}.csv")), lines).unwrap();
        text.push_str(&format!(
            "[[attribute]]\nname = \"{name}\"\nrole = \"quasi\"\ntaxonomy = \"{name}.csv\"\n"
        ));
    }
    let document = Document::parse(text, Path::new("study.toml")).unwrap();
    Study::read(document, folder.path()).unwrap().schema
}

fn seeds(site: u32, _: u32) -> Seed {
    Seed::for_site(11, site as usize)
}

/// The records of all sites: for each site, the values of each record.
type Records = Vec<Vec<Vec<u32>>>;

/// A run as printed: what was found, and every site's ledger.
fn run(
    schema: &Schema,
    records: &Records,
    plan: &Plan<'_>,
) -> Result<(Clustering, Vec<Vec<Line>>), Error> {
    let sites = records.len();
    let simulation = Simulation::new(sites, 5).settings(Settings::published());
    let outcome = simulation.run(|mut party: Party| async move {
        party.keep_values();
        let site = party.me().index();
        let attributes = schema.attributes().iter().enumerate();
        let columns = attributes.map(|(place, attribute)| {
            let mut codes = Codes::for_size(attribute.domain.size());
            records[site]
                .iter()
                .for_each(|record| codes.push(record[place]));
            codes
        });
        let columns: Vec<Codes> = columns.collect();
        let rows = own_rows(schema, &columns, Owner::Site(site as u32), sites);
        let found = cluster(&mut party, &rows, plan, |_| {}).await?;
        let lines = party
            .ledger()
            .entries()
            .iter()
            .map(|entry| (entry.disclosure.what, entry.recorded.clone().unwrap()));
        Ok::<_, Error>((found, lines.collect::<Vec<Line>>()))
    });
    let (mut found, ledgers): (Vec<Clustering>, Vec<_>) =
        outcome.into_values()?.into_iter().unzip();
    Ok((found.remove(0), ledgers))
}

/// Holds a run against the algorithm and every ledger against the simulator. Gives whether the algorithm
/// came to an end by itself.
fn check(records: &Records, k: u64) -> bool {
    let schema = schema();
    let trees: Vec<&Taxonomy> = schema
        .attributes()
        .iter()
        .map(|attribute| attribute.domain.taxonomy().unwrap())
        .collect();
    let requirement =
        Requirement::of_line(&format!("k = {k}"), &Scope::of_schema(&schema)).unwrap();
    let printed = Plan {
        loss: Loss::Lm,
        is_refined: false,
        is_printed: true,
        stop: Stop::at(Security::Published),
        seeds: &seeds,
        ..plan(&schema, &requirement, Recode::Node)
    };
    let (found, ledgers) = run(&schema, records, &printed).unwrap();
    let mut algorithm = Algorithm::new(&trees, k, records, |site| seeds(site, 0));
    algorithm.run();
    let simulated = simulator::ledger(&algorithm.learned);
    for (site, ledger) in ledgers.iter().enumerate() {
        for (place, line) in ledger.iter().enumerate() {
            assert_eq!(
                Some(line),
                simulated.get(place),
                "site {site}, entry {place}"
            );
        }
        assert_eq!(ledger.len(), simulated.len());
    }
    let classes = found.partition.classes.iter().zip(&found.cells);
    let mut classes: Vec<Known> = classes
        .map(|(class, cells)| {
            let node = |(cell, tree): (&Cell, &&Taxonomy)| match cell {
                Cell::Interval(least, greatest) => tree.lowest_common_ancestor(*least, *greatest),
                Cell::Set(_) => panic!("cells are nodes"),
            };
            Known {
                size: class.size,
                closure: cells.iter().zip(&trees).map(node).collect(),
            }
        })
        .collect();
    classes.sort();
    assert_eq!(classes, algorithm.classes());
    assert_eq!(found.published_calls, algorithm.calls);
    assert_eq!(found.partition.waves as usize, algorithm.iterations + 1);
    let is_circling = found.ended == Ended::Circling;
    assert_eq!(is_circling, algorithm.is_circling);
    assert!(is_circling || found.ended == Ended::NothingMoved);
    !is_circling
}

/// The records of each site, dealt so that some sites have few.
fn dealt(rows: &[(u32, u32, u32, u32)], sites: usize) -> Records {
    let mut records = vec![Vec::new(); sites];
    for (place, age, sex, owner) in rows {
        // The first site has about half of them.
        let site = (*owner as usize % (2 * sites)).saturating_sub(sites);
        records[site].push(vec![place % 5, age % 9, sex % 2]);
    }
    records
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn ledgers_follow_from_sizes_closures_and_questions(
        rows in proptest::collection::vec(any::<(u32, u32, u32, u32)>(), 6..48),
        sites in 2..5usize, k in 2..7u64,
    ) {
        prop_assume!(rows.len() as u64 >= k);
        check(&dealt(&rows, sites), k);
    }

    /// Skewed: most records are alike, and each site has its own.
    #[test]
    fn ledgers_of_skewed_sites_follow_too(
        rows in proptest::collection::vec(
            (prop_oneof![4 => 0..2u32, 1 => 0..5u32], 0..9u32, Just(0u32), any::<u32>()), 10..60),
        sites in 2..5usize, k in 3..9u64,
    ) {
        let mut records = dealt(&rows, sites);
        for (site, own) in records.iter_mut().enumerate() {
            own.iter_mut().for_each(|record| record[1] = (record[1] / 3 + 2 * site as u32) % 9);
        }
        check(&records, k);
    }
}

/// Three equal records and an outlier, k = 2: as printed the algorithm never ends. The outlier is left
/// alone, joins the others, and the four are split again.
#[test]
fn an_outlier_goes_round_in_circles() {
    let equal = vec![0, 0, 0];
    let records = vec![
        vec![equal.clone(), equal.clone()],
        vec![equal, vec![4, 8, 1]],
    ];
    assert!(!check(&records, 2));
}

/// With enough records it ends.
#[test]
fn it_ends_by_itself() {
    let rows: Vec<(u32, u32, u32, u32)> = (0..90)
        .map(|row| (row * 7 / 3, row * 5 / 2, row / 4, row * row % 11))
        .collect();
    assert!(check(&dealt(&rows, 3), 5));
}
