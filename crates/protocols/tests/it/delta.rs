//! Delta-disclosure as runs hold it: recounted from the raw rows, with every coalition's taken out.

use std::path::Path;

use hedgerow_data::document::Document;
use hedgerow_data::{Codes, Column, Study, Table};
use hedgerow_privacy::{Requirement, Scope};
use hedgerow_protocols::Error;
use hedgerow_protocols::horizontal::Owner;
use hedgerow_protocols::horizontal::mondrian::{Partition, partition};
use hedgerow_smc::memory::Simulation;
use hedgerow_smc::{Party, Seed, Settings};
use proptest::prelude::*;

use crate::tables::{own_rows, plan, share};

const SITES: usize = 3;

/// Two quasi-identifiers and two sensitive attributes.
const STUDY: &str = "[study]\nname = \"delta\"\npartition = \"horizontal\"\n\
    [[attribute]]\nname = \"age\"\nrole = \"quasi\"\ntype = \"integer\"\nrange = [0, 9]\n\
    [[attribute]]\nname = \"ward\"\nrole = \"quasi\"\ntype = \"integer\"\nrange = [0, 4]\n\
    [[attribute]]\nname = \"disease\"\nrole = \"sensitive\"\nvalues = [\"u\", \"v\", \"w\"]\n\
    [[attribute]]\nname = \"tariff\"\nrole = \"sensitive\"\nvalues = [\"x\", \"y\"]\n";
const SIZES: [u32; 4] = [10, 5, 3, 2];
const SENSITIVE: [usize; 2] = [2, 3];

type Row = [u32; 4];

/// Skewed: the first site has most records, and the last value of each attribute is rare.
fn row() -> impl Strategy<Value = (usize, Row)> {
    let site = prop_oneof![4 => Just(0usize), 2 => Just(1), 1 => Just(2)];
    let disease = prop_oneof![6 => Just(0u32), 3 => Just(1), 1 => Just(2)];
    let tariff = prop_oneof![4 => Just(0u32), 1 => Just(1)];
    (site, 0..10u32, 0..5u32, disease, tariff)
        .prop_map(|(site, age, ward, disease, tariff)| (site, [age, ward, disease, tariff]))
}

/// Whether records satisfy delta beside the whole table, from the definition.
fn is_within(delta: f64, records: &[&Row], all: &[Row]) -> bool {
    SENSITIVE.into_iter().all(|attribute| {
        (0..SIZES[attribute]).all(|value| {
            let has = |row: &&Row| row[attribute] == value;
            let in_table = all.iter().filter(has).count() as f64 / all.len() as f64;
            let in_class =
                records.iter().filter(|row| has(row)).count() as f64 / records.len() as f64;
            in_table == 0.0 || (in_class / in_table).ln().abs() < delta
        })
    })
}

/// Whether records satisfy it whoever of m sites takes theirs out.
fn withstands(delta: f64, m: u64, class: &[usize], rows: &[(usize, Row)], all: &[Row]) -> bool {
    let gone = (m == 1).then_some(0..SITES).into_iter().flatten().map(Some);
    gone.chain([None]).all(|gone| {
        let left = class.iter().filter(|row| Some(rows[**row].0) != gone);
        let left: Vec<&Row> = left.map(|row| &rows[*row].1).collect();
        left.is_empty() || is_within(delta, &left, all)
    })
}

fn classes(found: &Partition) -> Vec<Vec<usize>> {
    let rows = |class| found.rows(class).iter().map(|row| *row as usize).collect();
    found.classes.iter().map(rows).collect()
}

/// The classes of a run in one party, which is told whose each record is; and with every site in its
/// seat, where that is asked for.
fn run(line: &str, rows: &[(usize, Row)], is_together: bool) -> Result<Vec<Vec<usize>>, Error> {
    let document = Document::parse(STUDY.into(), Path::new("study.toml")).unwrap();
    let schema = Study::read(document, Path::new(".")).unwrap().schema;
    let columns = (0..4).map(|place| {
        let mut codes = Codes::for_size(SIZES[place]);
        rows.iter().for_each(|(_, row)| codes.push(row[place]));
        Column::Coded(codes)
    });
    let table = Table::new(schema.clone(), columns.collect());
    let requirement = Requirement::of_line(line, &Scope::of_schema(&schema)).unwrap();
    let plan = plan(&schema, &requirement, false);
    let owners: Vec<u32> = rows.iter().map(|(site, _)| *site as u32).collect();

    let mut party = Party::alone(Settings::hardened(), &Seed::for_site(1, 0));
    let every = share(&table, 0, 1);
    let own = own_rows(&schema, &every, Owner::Column(&owners), SITES);
    let found = pollster::block_on(partition(&mut party, &own, &plan, |_, _| {}))?;
    let found = classes(&found);
    if !is_together {
        return Ok(found);
    }
    let of_site = |site| (0..rows.len()).filter(move |row| rows[*row].0 == site);
    let rows_of: Vec<Vec<usize>> = (0..SITES).map(|site| of_site(site).collect()).collect();
    let simulation = Simulation::new(SITES, 7).settings(Settings::hardened());
    let outcome = simulation.run(|mut party| {
        let (schema, table, rows_of, plan) = (&schema, &table, &rows_of, &plan);
        async move {
            let site = party.me().index();
            let picked: Vec<Codes> = (0..4)
                .map(|place| table.codes(place).unwrap().picked(&rows_of[site]))
                .collect();
            let own = own_rows(schema, &picked, Owner::Site(site as u32), SITES);
            partition(&mut party, &own, plan, |_, _| {}).await
        }
    });
    let mut joined = vec![Vec::new(); found.len()];
    for (part, rows) in outcome.into_values().unwrap().iter().zip(&rows_of) {
        for (joined, own) in joined.iter_mut().zip(classes(part)) {
            joined.extend(own.into_iter().map(|row| rows[row]));
        }
    }
    joined.iter_mut().for_each(|class| class.sort_unstable());
    assert_eq!(joined, found);
    Ok(found)
}

#[test]
fn classes_with_every_value_are_cut() {
    // Every value at every site and every age, in skewed shares.
    let rows: Vec<(usize, Row)> = (0..600u32)
        .map(|row| {
            let (disease, tariff) = ([0, 0, 0, 1, 1, 2][row as usize % 6], (row % 4) / 3);
            let site = [0, 0, 1, 2][row as usize / 12 % 4];
            (site, [row / 60, row / 12 % 5, disease, tariff])
        })
        .collect();
    let all: Vec<Row> = rows.iter().map(|(_, row)| *row).collect();
    for m in 0..2 {
        let line = format!("k = 2, delta = 1.5, m = {m}");
        let found = run(&line, &rows, true).unwrap();
        assert!(found.len() > 5, "{m}: {}", found.len());
        for class in &found {
            assert!(withstands(1.5, m, class, &rows, &all), "{m}: {class:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn every_class_has_every_value_and_nearly_as_often(
        rows in proptest::collection::vec(row(), 40..160),
        delta in prop_oneof![Just(0.9), Just(1.6), Just(5.0)],
        m in 0..2u64,
        is_together in prop::bool::weighted(0.2),
    ) {
        let line = format!("k = 2, delta = {delta}, m = {m}");
        let whole: Vec<usize> = (0..rows.len()).collect();
        let all: Vec<Row> = rows.iter().map(|(_, row)| *row).collect();
        match run(&line, &rows, is_together) {
            // Nothing is refused that the whole table satisfies. One record that is left alone fails
            // k, and lacks a value besides.
            Err(Error::Unmeetable { .. }) => {
                prop_assert!(!withstands(delta, m, &whole, &rows, &all), "{line}");
            }
            found => {
                for class in found.unwrap() {
                    prop_assert!(withstands(delta, m, &class, &rows, &all), "{line}: {class:?}");
                }
            }
        }
    }
}
