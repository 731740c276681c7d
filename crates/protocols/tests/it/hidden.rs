//! TG12 section 8.2.2: clusters whose sensitive counts nobody sees on the way. The same clusters for sites
//! and for one party with their rows, every class within the demands, and no count in any ledger.

use std::collections::BTreeSet;

use hedgerow_data::{Codes, Column, Recode, Role, Schema, Table};
use hedgerow_privacy::{Requirement, Scope};
use hedgerow_protocols::Error;
use hedgerow_protocols::clustering::{CountsChoice, Stop};
use hedgerow_protocols::horizontal::Owner;
use hedgerow_protocols::horizontal::clustering::{
    CLUSTER_SIZES, Clustering, DIVERSE_CLUSTERS, Ended, Loss, Plan, SIZES_ALONE, TOUCHED_CLUSTERS,
    cluster,
};
use hedgerow_protocols::horizontal::requirement::SENSITIVE;
use hedgerow_smc::memory::Simulation;
use hedgerow_smc::{Party, Security, Settings};
use proptest::prelude::*;

use crate::clustering::{central, plan};
use crate::tables::{adult, own_rows, share, small};

const DEMANDS: [&str; 4] = [
    "k = 3, l = 2",
    "k = 2, l = { at_least = 1.5, kind = \"frequency\" }",
    "k = 4, alpha = 0.6",
    "k = 3, l = { at_least = 1.2, kind = \"frequency\" }, site_diversity = 2",
];

/// The rows of a site.
fn rows_of(table: &Table, owners: &[u32], site: usize) -> Vec<Codes> {
    let attributes = table.schema().attributes().iter().enumerate();
    attributes
        .map(|(place, attribute)| {
            let mut own = Codes::for_size(attribute.domain.size());
            let codes = table.codes(place).unwrap().iter().zip(owners);
            codes
                .filter(|(_, owner)| **owner as usize == site)
                .for_each(|(code, _)| own.push(code));
            own
        })
        .collect()
}

/// What each site found, and the names in its ledger with how many values each has.
type Found = (Clustering, Vec<(&'static str, usize)>);

fn together(
    (schema, table): (&Schema, &Table),
    owners: &[u32],
    sites: usize,
    plan: &Plan<'_>,
    settings: Settings,
) -> Result<Vec<Found>, Error> {
    let simulation = Simulation::new(sites, 3).settings(settings);
    let run = simulation.run(|mut party: Party| async move {
        let site = party.me().index();
        let columns = rows_of(table, owners, site);
        let rows = own_rows(schema, &columns, Owner::Site(site as u32), sites);
        let found = cluster(&mut party, &rows, plan, |_| {}).await?;
        let entries = party.ledger().entries().iter();
        let names = entries.map(|entry| (entry.disclosure.what.name(), entry.values));
        Ok::<_, Error>((found, names.collect::<Vec<_>>()))
    });
    run.into_values()
}

/// Whether no value of a class occurs too often, counted from the rows.
fn is_diverse(demand: &str, counts: &[u64]) -> bool {
    let (size, most) = (
        counts.iter().sum::<u64>(),
        counts.iter().max().copied().unwrap_or(0),
    );
    match demand {
        _ if demand == DEMANDS[0] => most < size,
        _ if demand == DEMANDS[1] => 3 * most <= 2 * size,
        _ if demand == DEMANDS[2] => 10 * most <= 6 * size,
        _ => 12 * most <= 10 * size,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(30))]

    #[test]
    fn every_class_is_diverse_and_no_count_is_seen(
        // Skewed: some values are rare, and the first site has most records.
        rows in proptest::collection::vec(
            (any::<u32>(), any::<u32>(), any::<u32>(), prop_oneof![2 => Just(0u32), 3 => 0..3u32]), 6..50),
        drawn in proptest::collection::vec(0..12u32, 50),
        sites in 3..5usize, demand in 0..DEMANDS.len(), loss in 0..3usize,
        is_blurred in any::<bool>(), is_printed in any::<bool>(),
    ) {
        let (schema, table) = small(&rows);
        let requirement =
            Requirement::of_line(DEMANDS[demand], &Scope::of_schema(&schema)).unwrap();
        let owner = |drawn: &u32| drawn.saturating_sub(8) % sites as u32;
        let owners: Vec<u32> = drawn[..rows.len()].iter().map(owner).collect();
        let security = if is_printed { Security::Published } else { Security::Hardened };
        let plan = Plan {
            loss: [Loss::Ncp, Loss::Lm, Loss::Em][loss],
            counts: CountsChoice::Hidden,
            stop: Stop::at(security),
            is_refined: false,
            is_blurred,
            is_printed,
            ..plan(&schema, &requirement, Recode::Node)
        };
        let settings = match security {
            Security::Published => Settings::published(),
            Security::Hardened => Settings::hardened(),
        };
        let alone = central(&schema, &table, &plan, &owners, sites);
        let found = together((&schema, &table), &owners, sites, &plan, settings);
        let alone = match alone {
            Ok(alone) => alone,
            Err(refused) => {
                prop_assert_eq!(found.unwrap_err().to_string(), refused.to_string());
                return Ok(());
            }
        };
        let disease = schema.with_role(Role::Sensitive)[0];
        let mut seen = 0;
        for class in &alone.partition.classes {
            let mut counts = [0; 3];
            for row in alone.partition.rows(class) {
                counts[table.codes(disease).unwrap().get(*row as usize) as usize] += 1;
            }
            seen += counts.iter().sum::<u64>();
            prop_assert!(class.size >= requirement.k() && is_diverse(DEMANDS[demand], &counts), "{counts:?}");
        }
        prop_assert_eq!(seen, rows.len() as u64);
        for (found, names) in found.unwrap() {
            prop_assert_eq!(&found.cells, &alone.cells);
            let sizes = |clustering: &Clustering| -> Vec<u64> {
                clustering.partition.classes.iter().map(|class| class.size).collect()
            };
            prop_assert_eq!(sizes(&found), sizes(&alone));
            prop_assert_eq!(found.published_calls, alone.published_calls);
            let all: BTreeSet<&str> = names.iter().map(|(name, _)| *name).collect();
            for counted in [SENSITIVE, CLUSTER_SIZES] {
                prop_assert!(!all.contains(counted.name()), "{all:?}");
            }
            prop_assert!(all.contains(SIZES_ALONE.name()) && all.contains(DIVERSE_CLUSTERS.name()));
            prop_assert!(found.partition.sensitive.is_empty());
            // One bit for a cluster, however many values there are.
            let touched = names.windows(2).filter(|pair| pair[0].0 == TOUCHED_CLUSTERS.name());
            for pair in touched.filter(|pair| pair[1].0 == DIVERSE_CLUSTERS.name()) {
                prop_assert!(pair[1].1 <= pair[0].1);
            }
        }
    }
}

/// What hidden counts cost: 1,200 records of Adult at three sites of which one has half, as printed. The
/// figures of `docs/src/clustering.md` are what this prints with `--nocapture`.
#[test]
fn hidden_counts_of_adult_cost_rounds_and_bytes() {
    let Some((schema, table)) = adult() else {
        return;
    };
    let columns = share(&table, 0, 25).into_iter().map(Column::Coded);
    let table = Table::new(schema.clone(), columns.collect());
    let owners: Vec<u32> = (0..table.rows() as u32)
        .map(|row| (row % 4).saturating_sub(1))
        .collect();
    let line = "k = 10, alpha = 0.9";
    let requirement = Requirement::of_line(line, &Scope::of_schema(&schema)).unwrap();
    let cost = |counts: CountsChoice| {
        let plan = Plan {
            loss: Loss::Lm,
            counts,
            stop: Stop::at(Security::Published),
            is_refined: false,
            is_printed: true,
            ..plan(&schema, &requirement, Recode::Node)
        };
        let (schema, table, owners, plan) = (&schema, &table, &owners, &plan);
        let simulation = Simulation::new(3, 3).settings(Settings::published());
        let run = simulation.run(|mut party: Party| async move {
            let site = party.me().index();
            let columns = rows_of(table, owners, site);
            let rows = own_rows(schema, &columns, Owner::Site(site as u32), 3);
            cluster(&mut party, &rows, plan, |_| {}).await
        });
        let traffic = run.traffic.clone();
        let found = run.into_values().unwrap().remove(0);
        assert_eq!(found.ended, Ended::NothingMoved);
        let loss = found.trace.last().map_or(0.0, |step| step.loss);
        println!(
            "{counts:?}: {} rounds, {} bytes, {} iterations, {} SMC calls, LM {loss:.4}",
            traffic.rounds,
            traffic.bytes(),
            found.partition.waves - 1,
            found.published_calls,
        );
        (traffic.rounds, traffic.bytes())
    };
    let (opened, hidden) = (cost(CountsChoice::Opened), cost(CountsChoice::Hidden));
    assert!(
        hidden.0 > opened.0 && hidden.1 > opened.1,
        "{opened:?}, {hidden:?}"
    );
}

/// What cannot be decided without counts is refused, all of it at once.
#[test]
fn what_needs_counts_is_refused() {
    let rows: Vec<(u32, u32, u32, u32)> = (0..20).map(|row| (row, row, row, row)).collect();
    let (schema, table) = small(&rows);
    let refusal = |line: &str, sites: u32| {
        let requirement = Requirement::of_line(line, &Scope::of_schema(&schema)).unwrap();
        let plan = Plan {
            counts: CountsChoice::Hidden,
            ..plan(&schema, &requirement, Recode::Node)
        };
        let owners: Vec<u32> = (0..20).map(|row| row % sites).collect();
        let found = central(&schema, &table, &plan, &owners, sites as usize);
        found
            .map(|_| String::new())
            .unwrap_or_else(|error| error.to_string())
    };
    let both = refusal("k = 2, t = 0.4, l = 3, m = 1", 2);
    for words in [
        "among two sites",
        "with m,",
        "t ",
        "expected alpha, l of kind \"frequency\"",
    ] {
        assert!(both.contains(words), "{both}");
    }
    assert_eq!(refusal("k = 2, l = 2", 3), "");
    assert_eq!(refusal("k = 2", 3), "");
    let unmet = refusal("k = 2, l = { at_least = 3, kind = \"frequency\" }", 3);
    assert!(
        unmet.contains("all 20 records together do not satisfy"),
        "{unmet}"
    );
}
