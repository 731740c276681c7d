//! Distributed Mondrian.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hedgerow_data::document::Document;
use hedgerow_data::files::{Others, read_table};
use hedgerow_data::{Codes, Column, Role, Schema, Study, Table, TextColumn, TextTable};
use hedgerow_privacy::closeness::Distance;
use hedgerow_privacy::verify::{Evidence, verify};
use hedgerow_privacy::{Requirement, Scope};
use hedgerow_protocols::horizontal::mondrian::{
    Cutting, Partition, Plan, Quasi, SensitiveAttribute, partition,
};
use hedgerow_protocols::horizontal::{OwnRows, Owner, SensitiveCodes};
use hedgerow_smc::memory::Simulation;
use hedgerow_smc::{Party, Seed, Settings};
use proptest::prelude::*;

fn adult() -> Option<(Arc<Schema>, Table)> {
    let named = std::env::var_os("HEDGEROW_DATA").map(PathBuf::from);
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let folder = named.unwrap_or(beside).join("adult9");
    if !folder.is_dir() {
        eprintln!("skipped: no real tables here; set HEDGEROW_DATA to their folder");
        return None;
    }
    let names = [
        "sex",
        "age",
        "race",
        "marital-status",
        "education",
        "native-country",
        "workclass",
        "occupation",
        "salary-class",
    ];
    let mut text = String::from("[study]\nname = \"adult\"\npartition = \"horizontal\"\n");
    for name in names {
        let role = if name == "salary-class" {
            "sensitive"
        } else {
            "quasi"
        };
        text.push_str(&format!(
            "[[attribute]]\nname = \"{name}\"\nrole = \"{role}\"\ntaxonomy = \"adult_hierarchy_{name}.csv\"\n"
        ));
    }
    let study = Study::read(
        Document::parse(text, Path::new("study.toml")).unwrap(),
        &folder,
    )
    .unwrap();
    let table = read_table(
        &folder.join("adult.csv"),
        &study.schema,
        &Others::Refuse,
        &(),
    )
    .unwrap();
    Some((study.schema, table))
}

fn plan<'a>(schema: &'a Schema, requirement: &'a Requirement, by_children: bool) -> Plan<'a> {
    let named = |role| {
        schema
            .with_role(role)
            .into_iter()
            .map(|index| &schema.attributes()[index])
    };
    Plan {
        quasi: named(Role::Quasi)
            .map(|attribute| Quasi {
                size: attribute.domain.size(),
                cutting: match attribute.domain.taxonomy() {
                    Some(tree) if by_children => Cutting::Children(tree),
                    _ => Cutting::Median,
                },
            })
            .collect(),
        sensitive: named(Role::Sensitive)
            .map(|attribute| SensitiveAttribute {
                distance: Distance::Equal,
                tree: attribute.domain.taxonomy(),
            })
            .collect(),
        requirement,
    }
}

/// The rows of one site of several, dealt out in turn.
fn share(table: &Table, site: usize, sites: usize) -> Vec<Codes> {
    (0..table.schema().attributes().len())
        .map(|attribute| {
            let codes = table.codes(attribute).unwrap();
            let mut own = Codes::for_size(table.schema().attributes()[attribute].domain.size());
            (site..table.rows())
                .step_by(sites)
                .for_each(|row| own.push(codes.get(row)));
            own
        })
        .collect()
}

fn own_rows<'a>(
    schema: &Schema,
    columns: &'a [Codes],
    owner: Owner<'a>,
    sites: usize,
) -> OwnRows<'a> {
    OwnRows {
        count: columns[0].len(),
        quasi: schema
            .with_role(Role::Quasi)
            .into_iter()
            .map(|index| &columns[index])
            .collect(),
        sensitive: schema
            .with_role(Role::Sensitive)
            .into_iter()
            .map(|index| SensitiveCodes {
                codes: &columns[index],
                size: schema.attributes()[index].domain.size(),
            })
            .collect(),
        owner,
        sites,
    }
}

fn central(
    schema: &Schema,
    table: &Table,
    plan: &Plan<'_>,
    owners: &[u32],
    sites: usize,
) -> Partition {
    let columns = share(table, 0, 1);
    let rows = own_rows(schema, &columns, Owner::Column(owners), sites);
    let mut party = Party::alone(Settings::hardened(), &Seed::for_site(1, 0));
    pollster::block_on(partition(&mut party, &rows, plan, |_, _| {})).unwrap()
}

#[test]
fn adult_alone_and_together() {
    let Some((schema, table)) = adult() else {
        return;
    };
    for (line, by_children) in [
        ("k = 10", false),
        ("k = 10", true),
        ("k = 10, l = 2, t = 0.3", false),
        ("k = 20, site_diversity = 2", false),
    ] {
        let requirement = Requirement::of_line(line, &Scope::of_schema(&schema)).unwrap();
        let plan = plan(&schema, &requirement, by_children);
        let sites = 3;
        let owners: Vec<u32> = (0..table.rows()).map(|row| (row % sites) as u32).collect();
        let alone = central(&schema, &table, &plan, &owners, sites);
        let run = Simulation::new(sites, 7)
            .settings(Settings {
                fan_out: 128,
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
            "{line} children {by_children}: {} classes, {} waves, {} refused, {} rounds, {} bytes",
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
                let mine: Vec<u32> = theirs
                    .rows
                    .iter()
                    .filter(|row| **row as usize % sites == site)
                    .map(|row| row / sites as u32)
                    .collect();
                assert_eq!(ours.rows, mine);
            }
        }
    }
}

/// A small random table: three quasi-identifiers (an order, a taxonomy, a flat one) and a sensitive
/// attribute.
fn small(rows: &[(u32, u32, u32, u32)]) -> (Arc<Schema>, Table) {
    let folder = tempfile::tempdir().unwrap();
    let tree = "a;X;*\nb;X;*\nc;Y;*\nd;Y;*\ne;Y;*\n";
    std::fs::write(folder.path().join("place.csv"), tree).unwrap();
    let text = "[study]\nname = \"small\"\npartition = \"horizontal\"\n\
                [[attribute]]\nname = \"age\"\nrole = \"quasi\"\ntype = \"integer\"\nrange = [0, 9]\n\
                [[attribute]]\nname = \"place\"\nrole = \"quasi\"\ntaxonomy = \"place.csv\"\n\
                [[attribute]]\nname = \"sex\"\nrole = \"quasi\"\nvalues = [\"f\", \"m\"]\n\
                [[attribute]]\nname = \"disease\"\nrole = \"sensitive\"\nvalues = [\"u\", \"v\", \"w\"]\n";
    let document = Document::parse(text.into(), Path::new("study.toml")).unwrap();
    let schema = Study::read(document, folder.path()).unwrap().schema;
    let column = |size: u32, pick: fn(&(u32, u32, u32, u32)) -> u32| {
        let mut codes = Codes::for_size(size);
        rows.iter().for_each(|row| codes.push(pick(row) % size));
        Column::Coded(codes)
    };
    let columns = vec![
        column(10, |row| row.0),
        column(5, |row| row.1),
        column(2, |row| row.2),
        column(3, |row| row.3),
    ];
    (schema.clone(), Table::new(schema, columns))
}

/// Each class as the set of the table's rows in it, whoever owns them.
fn joined(found: &[Partition], sites: usize) -> Vec<Vec<u32>> {
    let classes = found[0].classes.len();
    let of_class = |class: usize| {
        let mut rows: Vec<u32> = found
            .iter()
            .enumerate()
            .flat_map(|(site, partition)| {
                let rows = partition.classes[class].rows.iter();
                rows.map(move |row| row * sites as u32 + site as u32)
            })
            .collect();
        rows.sort_unstable();
        rows
    };
    (0..classes).map(of_class).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// One site = many sites at every level, every record in exactly one class, and every class
    /// satisfies the requirement.
    #[test]
    fn small_tables(
        rows in proptest::collection::vec(any::<(u32, u32, u32, u32)>(), 1..60),
        sites in 2..6usize, by_children in any::<bool>(), pick in 0..7usize,
    ) {
        let demands = [
            "k = 2", "k = 3, l = 2", "k = 2, l = { at_least = 1.5, kind = \"entropy\" }",
            "k = 2, t = 0.4", "k = 2, site_diversity = 2", "k = 1", "k = 4, alpha = 0.8, beta = 3",
        ];
        let (schema, table) = small(&rows);
        let requirement = Requirement::of_line(demands[pick], &Scope::of_schema(&schema)).unwrap();
        let plan = plan(&schema, &requirement, by_children);
        let owners: Vec<u32> = (0..rows.len()).map(|row| (row % sites) as u32).collect();
        let columns = share(&table, 0, 1);
        let whole = own_rows(&schema, &columns, Owner::Column(&owners), sites);
        let mut party = Party::alone(Settings::hardened(), &Seed::for_site(1, 0));
        let alone = pollster::block_on(partition(&mut party, &whole, &plan, |_, _| {}));

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
        let published = Simulation::new(sites, 3).settings(Settings::published()).run(site).into_values();
        let ideal: Result<Vec<Partition>, _> = Simulation::new(sites, 3).run_ideal(site).into_iter().collect();
        let Ok(alone) = alone else {
            // What cannot be met is refused alike.
            prop_assert!(hardened.is_err() && published.is_err() && ideal.is_err());
            return Ok(());
        };
        let classes: Vec<Vec<u32>> = alone.classes.iter().map(|class| class.rows.clone()).collect();
        for found in [hardened, published, ideal] {
            let found = found.unwrap();
            prop_assert_eq!(joined(&found, sites), classes.clone());
            prop_assert_eq!(found[0].waves, alone.waves);
        }
        let mut all: Vec<u32> = classes.concat();
        all.sort_unstable();
        prop_assert_eq!(all, (0..rows.len() as u32).collect::<Vec<_>>());

        // The verifier, on the classes as a table of its own.
        let mut text = TextTable { file: "t".into(), names: vec!["class".into(), "disease".into(), "site".into()], columns: vec![TextColumn::default(); 3] };
        for (class, rows) in classes.iter().enumerate() {
            for row in rows {
                text.columns[0].push(&class.to_string(), 1);
                text.columns[1].push(&schema.attributes()[3].domain.label(table.codes(3).unwrap().get(*row as usize)), 1);
                text.columns[2].push(&owners[*row as usize].to_string(), 1);
            }
        }
        let names = [String::from("class")];
        let evidence = Evidence::of_table(&text, &names, &[String::from("disease")], Some("site")).unwrap();
        prop_assert_eq!(verify(&evidence, Some(&requirement)).holds, Some(true));
    }
}

#[test]
fn corners() {
    let alone = |rows: &[(u32, u32, u32, u32)], line: &str| {
        let (schema, table) = small(rows);
        let requirement = Requirement::of_line(line, &Scope::of_schema(&schema)).unwrap();
        let plan = plan(&schema, &requirement, false);
        let columns = share(&table, 0, 1);
        let own = own_rows(&schema, &columns, Owner::Site(0), 1);
        let mut party = Party::alone(Settings::hardened(), &Seed::for_site(1, 0));
        pollster::block_on(partition(&mut party, &own, &plan, |_, _| {}))
    };
    // All records alike: one class, without a question.
    let same = alone(&[(3, 3, 1, 0); 10], "k = 2").unwrap();
    assert_eq!((same.classes.len(), same.waves), (1, 0));
    // Everybody different, k = 1: everybody alone.
    let rows: Vec<(u32, u32, u32, u32)> = (0..10).map(|age| (age, age, 0, 0)).collect();
    assert_eq!(alone(&rows, "k = 1").unwrap().classes.len(), 10);
    // A table smaller than k.
    assert_eq!(
        alone(&rows, "k = 11").unwrap_err().to_string(),
        "the requirement cannot be met: all 10 records together do not satisfy k = 11\nhint: the largest value that could be met is 10"
    );
    assert!(
        alone(&rows, "k = 2, l = 2")
            .unwrap_err()
            .to_string()
            .contains("could be met is 1")
    );
    assert!(
        alone(&rows, "k = 2, m = 1")
            .unwrap_err()
            .to_string()
            .contains("m-privacy inside Mondrian")
    );
}

/// The ledger holds nothing that the module does not list.
#[test]
fn the_ledger_keeps_to_its_list() {
    use hedgerow_protocols::horizontal::mondrian::{
        MEDIANS, PARTS, RANGES, RECORDS, SENSITIVE, SITES,
    };
    let rows: Vec<(u32, u32, u32, u32)> = (0..40).map(|row| (row, row / 3, row / 5, row)).collect();
    let (schema, table) = small(&rows);
    let requirement = Requirement::of_line(
        "k = 3, l = 2, site_diversity = 2",
        &Scope::of_schema(&schema),
    )
    .unwrap();
    let plan = plan(&schema, &requirement, false);
    let run = Simulation::new(3, 5).run(|mut party| {
        let (schema, table, plan) = (&schema, &table, &plan);
        async move {
            let site = party.me().index();
            let columns = share(table, site, 3);
            let rows = own_rows(schema, &columns, Owner::Site(site as u32), 3);
            partition(&mut party, &rows, plan, |_, _| {}).await?;
            Ok::<_, hedgerow_protocols::Error>(party.ledger().summary())
        }
    });
    let listed = [RECORDS, RANGES, SENSITIVE, MEDIANS, PARTS, SITES].map(|what| what.name());
    for summary in run.into_values().unwrap() {
        assert_eq!(summary.len(), listed.len());
        assert!(summary.iter().all(|line| listed.contains(&line.what)));
    }
}
