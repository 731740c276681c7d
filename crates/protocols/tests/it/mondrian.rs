//! The top-down partitioner in all its settings: one site = many sites, ideal = real, and every
//! class satisfies the whole requirement.

use hedgerow_data::{Schema, Table, TextColumn, TextTable};
use hedgerow_privacy::m_privacy::Strategy;
use hedgerow_privacy::verify::{Evidence, verify};
use hedgerow_privacy::{Requirement, Scope};
use hedgerow_protocols::Error;
use hedgerow_protocols::horizontal::Owner;
use hedgerow_protocols::horizontal::mondrian::{
    AT_MEDIANS, Choice, Medians, Partition, Plan, Widths, partition,
};
use hedgerow_protocols::horizontal::requirement::Demands;
use hedgerow_smc::memory::Simulation;
use hedgerow_smc::{Party, Seed, Settings};
use proptest::prelude::*;

use crate::tables::{DEMANDS, adult, central, own_rows, plan, share, small};

#[test]
fn adult_alone_and_together() {
    let Some((schema, table)) = adult() else {
        return;
    };
    let (widest, fittest) = (Choice::Width, Choice::Fitness { weight: 0.3 });
    for (line, by_children, choice) in [
        ("k = 10", false, widest),
        ("k = 10", true, widest),
        ("k = 10, l = 2, t = 0.3", false, widest),
        (
            "k = 20, site_diversity = 2",
            false,
            Choice::Diversity { alpha: 0.3 },
        ),
        ("k = 20, l = 2, m = 1", false, widest),
        ("k = 40, l = 2, m = 1", false, fittest),
    ] {
        let requirement = Requirement::of_line(line, &Scope::of_schema(&schema)).unwrap();
        let plan = Plan {
            choice,
            cuts_sites: line.contains("m = 1"),
            ..plan(&schema, &requirement, by_children)
        };
        let sites = 3;
        let owners: Vec<u32> = (0..table.rows()).map(|row| (row % sites) as u32).collect();
        let alone = central(&schema, &table, &plan, &owners, sites);
        let run = Simulation::new(sites, 7)
            .settings(Settings {
                fan_out: hedgerow_protocols::FAN_OUT,
                ..Settings::hardened()
            })
            .run(|mut party| {
                let (schema, table, plan) = (&schema, &table, &plan);
                async move {
                    let site = party.me().index();
                    let columns = share(table, site, sites);
                    let rows = own_rows(schema, &columns, Owner::Site(site as u32), sites);
                    partition(&mut party, &rows, plan, |_, _| {}).await
                }
            });
        println!(
            "{line}, {choice:?}, children {by_children}: {} classes, {} waves, {} refused, {} rounds, {} bytes",
            alone.classes.len(),
            alone.waves,
            alone.refused,
            run.traffic.rounds,
            run.traffic.bytes()
        );
        let together = run.into_values().unwrap();
        for (site, found) in together.iter().enumerate() {
            assert_eq!(found.classes.len(), alone.classes.len());
            for (ours, theirs) in found.classes.iter().zip(&alone.classes) {
                assert_eq!((&ours.bounds, ours.size), (&theirs.bounds, theirs.size));
                let mine: Vec<u32> = alone
                    .rows(theirs)
                    .iter()
                    .filter(|row| **row as usize % sites == site)
                    .map(|row| row / sites as u32)
                    .collect();
                assert_eq!(found.rows(ours), mine);
            }
        }
    }
}

/// Where no attribute is cut at a median, nothing is asked about medians: not even an empty question.
#[test]
fn relaxed_medians_ask_nothing_where_there_are_none() {
    let rows: Vec<(u32, u32, u32, u32)> = (0..60).map(|row| (row, row / 2, row / 3, row)).collect();
    let (schema, table) = small(&rows);
    let requirement = Requirement::of_line("k = 5", &Scope::of_schema(&schema)).unwrap();
    let whole = Plan {
        medians: Medians::Relaxed,
        ..plan(&schema, &requirement, true)
    };
    // The attribute with a taxonomy alone, and then with one that is cut at its median.
    for (places, is_asked) in [(vec![1], false), (vec![0, 1], true)] {
        let mut plan = whole.clone();
        plan.quasi = places
            .iter()
            .map(|place| whole.quasi[*place].clone())
            .collect();
        let run = Simulation::new(2, 7).run(|mut party| {
            let (schema, table, plan, places) = (&schema, &table, &plan, &places);
            async move {
                let site = party.me().index();
                let columns = share(table, site, 2);
                let mut rows = own_rows(schema, &columns, Owner::Site(site as u32), 2);
                rows.quasi = places.iter().map(|place| &columns[*place]).collect();
                let found = partition(&mut party, &rows, plan, |_, _| {}).await?;
                Ok::<_, Error>((found.classes.len(), party.ledger().summary()))
            }
        });
        for (classes, ledger) in run.into_values().unwrap() {
            assert!(classes > 1);
            let asked = ledger.iter().any(|line| line.what == AT_MEDIANS.name());
            assert_eq!(asked, is_asked);
        }
    }
}

/// A record: who has it, and what it says.
pub(crate) type Record = (u32, Vec<u32>);

/// Each class as the records in it, whoever owns them.
pub(crate) fn joined(table: &Table, found: &[Partition], sites: usize) -> Vec<Vec<Record>> {
    let record = |row: usize| {
        let columns = 0..table.schema().attributes().len();
        let values = columns.map(|column| table.codes(column).unwrap().get(row));
        ((row % sites) as u32, values.collect())
    };
    let of_class = |class: usize| {
        let of_site = |(site, partition): (usize, &Partition)| {
            let rows = partition.rows(&partition.classes[class]).to_vec();
            let many = if found.len() == 1 { 1 } else { sites };
            rows.into_iter().map(move |row| row as usize * many + site)
        };
        let mut records: Vec<Record> = found
            .iter()
            .enumerate()
            .flat_map(of_site)
            .map(record)
            .collect();
        records.sort_unstable();
        records
    };
    (0..found[0].classes.len()).map(of_class).collect()
}

/// What the verifier says of classes, as a table of its own.
pub(crate) fn verdict(
    schema: &Schema,
    classes: &[Vec<Record>],
    requirement: &Requirement,
) -> Option<bool> {
    let names = ["class", "disease", "site"].map(String::from);
    let mut text = TextTable {
        counts: None,
        file: "t".into(),
        columns: vec![TextColumn::default(); 3],
        names: names.to_vec(),
    };
    for (class, records) in classes.iter().enumerate() {
        for (site, values) in records {
            text.columns[0].push(&class.to_string(), 1);
            text.columns[1].push(&schema.attributes()[3].domain.label(values[3]), 1);
            text.columns[2].push(&site.to_string(), 1);
        }
    }
    let evidence = Evidence::of_table(&text, &names[..1], &names[1..2], Some("site")).unwrap();
    verify(&evidence, Some(requirement)).holds
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]

    /// One site = many sites at every level and in every setting, every record in exactly one
    /// class, and every class satisfies the requirement.
    #[test]
    fn small_tables(
        rows in proptest::collection::vec(any::<(u32, u32, u32, u32)>(), 1..60),
        sites in 2..6usize, by_children in any::<bool>(), demand in 0..DEMANDS.len(),
        m in 0..4u64, choice in 0..4usize, is_relaxed in any::<bool>(), is_data in any::<bool>(),
        strategy in 0..6usize,
    ) {
        let (schema, table) = small(&rows);
        let line = match m {
            // Half of all runs without colluders.
            0 | 3 => DEMANDS[demand].to_owned(),
            m => format!("{}, m = {m}", DEMANDS[demand]),
        };
        let requirement = Requirement::of_line(&line, &Scope::of_schema(&schema)).unwrap();
        let set = plan(&schema, &requirement, by_children);
        let plan = Plan {
            choice: [
                Choice::Width,
                Choice::Width,
                Choice::Diversity { alpha: 0.3 },
                Choice::Fitness { weight: 0.3 },
            ][choice],
            // Half of all runs that weigh fitness or width cut sites too.
            cuts_sites: choice % 2 == 1,
            medians: if is_relaxed { Medians::Relaxed } else { Medians::Strict },
            widths: if is_data { Widths::Data } else { Widths::Box },
            demands: Demands { strategy: Strategy::ALL[strategy], ..set.demands },
            ..set
        };
        let owners: Vec<u32> = (0..rows.len()).map(|row| (row % sites) as u32).collect();
        let columns = share(&table, 0, 1);
        let whole = own_rows(&schema, &columns, Owner::Column(&owners), sites);
        let alone = |settings| {
            let mut party = Party::alone(settings, &Seed::for_site(1, 0));
            pollster::block_on(partition(&mut party, &whole, &plan, |_, _| {}))
        };
        let (alone, alone_as_published) = (alone(Settings::hardened()), alone(Settings::published()));

        let site = |mut party: Party| {
            let (schema, table, plan) = (&schema, &table, &plan);
            async move {
                let site = party.me().index();
                let columns = share(table, site, sites);
                let rows = own_rows(schema, &columns, Owner::Site(site as u32), sites);
                partition(&mut party, &rows, plan, |_, _| {}).await
            }
        };
        let hardened = Simulation::new(sites, 3).run(site).into_values();
        // The published comparison sends a hash for each value below its bound: for small ones.
        let is_small = requirement.m.is_none() || ["k = 2", "k = 1", "k = 3, l = 2", "k = 2, site_diversity = 2"].contains(&DEMANDS[demand]);
        let published = is_small.then(|| Simulation::new(sites, 3).settings(Settings::published()).run(site).into_values());
        let ideal: Result<Vec<Partition>, Error> = Simulation::new(sites, 3).run_ideal(site).into_iter().collect();
        let alone = match alone {
            Ok(alone) => alone,
            Err(refused) => {
                // What cannot be met is refused alike.
                for found in [hardened, ideal].into_iter().chain(published) {
                    prop_assert_eq!(found.unwrap_err().to_string(), refused.to_string());
                }
                return Ok(());
            }
        };
        let classes = joined(&table, std::slice::from_ref(&alone), sites);
        // By equation 3 a wider cut is beaten more easily as published.
        let as_published = published.map(|found| (found, alone_as_published.unwrap()));
        let all = [(hardened, alone.clone()), (ideal, alone.clone())];
        for (found, alone) in all.into_iter().chain(as_published) {
            let found = found.unwrap();
            let classes = joined(&table, std::slice::from_ref(&alone), sites);
            prop_assert_eq!(joined(&table, &found, sites), classes.clone());
            prop_assert_eq!((found[0].waves, found[0].checks), (alone.waves, alone.checks));
            prop_assert_eq!(verdict(&schema, &classes, &requirement), Some(true));
        }
        let mut all: Vec<u32> = alone.classes.iter().flat_map(|class| alone.rows(class).to_vec()).collect();
        all.sort_unstable();
        prop_assert_eq!(all, (0..rows.len() as u32).collect::<Vec<_>>());
        prop_assert_eq!(verdict(&schema, &classes, &requirement), Some(true));
    }
}

fn alone(rows: &[(u32, u32, u32, u32)], line: &str, owners: &[u32]) -> Result<Partition, Error> {
    let (schema, table) = small(rows);
    let requirement = Requirement::of_line(line, &Scope::of_schema(&schema)).unwrap();
    let plan = plan(&schema, &requirement, false);
    let columns = share(&table, 0, 1);
    let sites = owners.iter().max().map_or(1, |last| *last as usize + 1);
    let own = own_rows(&schema, &columns, Owner::Column(owners), sites);
    let mut party = Party::alone(Settings::hardened(), &Seed::for_site(1, 0));
    pollster::block_on(partition(&mut party, &own, &plan, |_, _| {}))
}

#[test]
fn corners() {
    let at_one = |rows: &[_], line: &str| alone(rows, line, &vec![0; rows.len()]);
    // All records alike: one class, without a question.
    let same = at_one(&[(3, 3, 1, 0); 10], "k = 2").unwrap();
    assert_eq!((same.classes.len(), same.waves), (1, 0));
    // Everybody different, k = 1: everybody alone.
    let rows: Vec<(u32, u32, u32, u32)> = (0..10).map(|age| (age, age, 0, 0)).collect();
    assert_eq!(at_one(&rows, "k = 1").unwrap().classes.len(), 10);
    // A table smaller than k.
    assert_eq!(
        at_one(&rows, "k = 11").unwrap_err().to_string(),
        "the requirement cannot be met: all 10 records together do not satisfy k = 11\nhint: the largest value that could be met is 10"
    );
    let refusal = |line| at_one(&rows, line).unwrap_err().to_string();
    assert!(refusal("k = 2, l = 2").contains("could be met is 1"));
    // Nobody at all: nothing to protect, nothing to release.
    assert_eq!(at_one(&[], "k = 2").unwrap().classes.len(), 0);
}

#[test]
fn colluders_that_no_class_withstands() {
    // Three sites with three, three and four records.
    let rows: Vec<(u32, u32, u32, u32)> = (0..10).map(|age| (age, age, 0, 0)).collect();
    let owners = [0, 1, 2, 0, 1, 2, 0, 1, 2, 2];
    let refusal = |line| alone(&rows, line, &owners).unwrap_err().to_string();
    assert!(alone(&rows, "k = 3, m = 2", &owners).is_ok());
    assert_eq!(
        refusal("k = 4, m = 2"),
        "the requirement cannot be met: all 10 records together do not satisfy m = 2\nhint: the largest value that could be met is m = 1"
    );
    assert!(refusal("k = 7, m = 2").ends_with("the others do not satisfy it"));
    // 128 choose 3 and smaller.
    let many: Vec<(u32, u32, u32, u32)> = vec![(0, 0, 0, 0); 128];
    let owners: Vec<u32> = (0..128).collect();
    let refused = alone(&many, "k = 2, m = 3", &owners).unwrap_err();
    assert!(
        refused.to_string().contains("can be asked about is 2;"),
        "{refused}"
    );
}
