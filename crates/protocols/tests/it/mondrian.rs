//! Distributed Mondrian.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hedgerow_data::document::Document;
use hedgerow_data::files::{Others, read_table};
use hedgerow_data::{Codes, Role, Schema, Study, Table};
use hedgerow_privacy::closeness::Distance;
use hedgerow_privacy::{Requirement, Scope};
use hedgerow_protocols::horizontal::mondrian::{
    Cutting, Partition, Plan, Quasi, SensitiveAttribute, partition,
};
use hedgerow_protocols::horizontal::{OwnRows, Owner, SensitiveCodes};
use hedgerow_smc::memory::Simulation;
use hedgerow_smc::{Party, Seed, Settings};

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
