//! Shapes of tables, sites and requirements that are unlike the usual ones: the release of many
//! sites is the release of one, has every record once, and satisfies all that was demanded.

use std::sync::Arc;

use hedgerow_data::{Recode, Role, Schema, Table};
use hedgerow_privacy::Requirement;
use hedgerow_privacy::closeness::Distance;
use hedgerow_privacy::m_privacy::WEIGHT_OF_DIVERSITY;
use hedgerow_protocols::horizontal::cover::Covers;
use hedgerow_protocols::horizontal::mondrian::{Choice, Medians, Plan, Quasi, Widths};
use hedgerow_protocols::horizontal::requirement::{Demands, SensitiveAttribute};

use crate::runs::{Joint, Run, Split, census, integers, mixed, requirement};
use crate::tables::{DEMANDS, plan, small};

/// Strict medians, tight ranges; distances as the study's attributes have them.
fn run<'a>(
    (schema, table): (&'a Arc<Schema>, &'a Table),
    owners: &'a [u32],
    sites: usize,
    requirement: &'a Requirement,
) -> Run<'a> {
    let sensitive = schema.with_role(Role::Sensitive).into_iter();
    let sensitive = sensitive.map(|position| {
        let domain = &schema.attributes()[position].domain;
        SensitiveAttribute {
            distance: Distance::natural(domain),
            tree: domain.taxonomy(),
        }
    });
    let plan = plan(schema, requirement, false);
    Run {
        schema,
        table,
        owners,
        sites,
        plan: Plan {
            demands: Demands {
                sensitive: sensitive.collect(),
                ..plan.demands
            },
            ..plan
        },
        recode: Recode::Range,
        covers: Covers::Tight,
    }
}

/// Checks the release of all sites, and that one party's is the same.
fn same_alone_and_together(run: &Run<'_>) -> Joint {
    let joint = run.together();
    run.check(&joint);
    assert_eq!(run.alone(), joint);
    joint
}

/// Rows without a pattern.
fn rows(sizes: &[u32], count: usize) -> Vec<Vec<u32>> {
    let code = |row: usize, place: usize| mixed((row * sizes.len() + place) as u64);
    let row = |row| {
        let places = sizes.iter().enumerate();
        places.map(move |(place, size)| code(row, place) as u32 % size)
    };
    (0..count).map(|place| row(place).collect()).collect()
}

fn in_turn(rows: usize, sites: usize) -> Vec<u32> {
    (0..rows).map(|row| (row % sites) as u32).collect()
}

#[test]
fn forty_attributes() {
    let sizes = [5; 40];
    let (schema, table) = integers(&sizes, &rows(&sizes, 120));
    let demand = requirement("k = 3, l = 2", &schema);
    let owners = in_turn(120, 3);
    let joint = same_alone_and_together(&run((&schema, &table), &owners, 3, &demand));
    assert!(joint.classes.len() > 20);
}

/// A domain of one value beside one of a hundred thousand. What is sent grows with the digits of a
/// domain, not with its values.
#[test]
fn tiny_and_huge_domains() {
    let sent = |huge: u32| {
        let sizes = [1, huge];
        let (schema, table) = integers(&sizes, &rows(&sizes, 300));
        let demand = requirement("k = 5", &schema);
        let owners = in_turn(300, 3);
        let run = run((&schema, &table), &owners, 3, &demand);
        let (joint, sent) = run.together_at_a_cost();
        run.check(&joint);
        assert_eq!(run.alone(), joint);
        assert!(joint.classes.len() > 30);
        sent
    };
    let (large, huge) = (sent(1_000), sent(100_000));
    assert!(
        huge.bytes < 5 * large.bytes,
        "{} {}",
        huge.bytes,
        large.bytes
    );
    assert!(
        huge.rounds < 3 * large.rounds,
        "{} {}",
        huge.rounds,
        large.rounds
    );
}

#[test]
fn sites_without_records() {
    let sizes = [10, 4];
    let (schema, table) = integers(&sizes, &rows(&sizes, 60));
    let demand = requirement("k = 3, l = 2", &schema);
    let full: Vec<u32> = in_turn(60, 2).iter().map(|site| 2 * site).collect();
    let among_three = same_alone_and_together(&run((&schema, &table), &full, 3, &demand));
    let beside_one = same_alone_and_together(&run((&schema, &table), &[0; 60], 2, &demand));
    // Whose records they are matters only where the requirement says so.
    assert_eq!(among_three, beside_one);
}

#[test]
fn a_hundred_sites() {
    let sizes = [20, 6];
    let (schema, table) = integers(&sizes, &rows(&sizes, 250));
    let demand = requirement("k = 25, l = 2", &schema);
    let owners: Vec<u32> = (0..250).map(|row| mixed(row) as u32 % 100).collect();
    let joint = same_alone_and_together(&run((&schema, &table), &owners, 100, &demand));
    assert!(joint.classes.len() > 4);
}

#[test]
fn everybody_may_stand_alone() {
    let sizes = [30, 30];
    let (schema, table) = integers(&sizes, &rows(&sizes, 50));
    let demand = requirement("k = 1", &schema);
    let owners = in_turn(50, 3);
    let joint = same_alone_and_together(&run((&schema, &table), &owners, 3, &demand));
    // Nothing was lost.
    for cells in &joint.cells {
        assert!(cells.iter().all(|cell| cell.count() == 1));
    }
}

#[test]
fn one_attribute() {
    let sizes = [50];
    let (schema, table) = integers(&sizes, &rows(&sizes, 200));
    let demand = requirement("k = 5, l = 3", &schema);
    let owners = in_turn(200, 3);
    let joint = same_alone_and_together(&run((&schema, &table), &owners, 3, &demand));
    assert!(joint.classes.len() > 10);
}

#[test]
fn all_alike() {
    let (schema, table) = integers(&[9, 9, 9], &vec![vec![4, 0, 8]; 30]);
    let demand = requirement("k = 5, l = 3", &schema);
    let owners = in_turn(30, 3);
    let joint = same_alone_and_together(&run((&schema, &table), &owners, 3, &demand));
    assert_eq!(joint.classes, [(0..30).collect::<Vec<_>>()]);
    assert!(joint.cells[0].iter().all(|cell| cell.count() == 1));
}

#[test]
fn however_records_are_split() {
    let (schema, table) = census(300);
    let demand = requirement("k = 5, l = 2", &schema);
    let splits = [
        Split::RoundRobin,
        Split::Random,
        Split::Sorted,
        Split::Exponential,
    ];
    let joints = splits.map(|split| {
        let owners = split.owners(&schema, &table, 3);
        same_alone_and_together(&run((&schema, &table), &owners, 3, &demand))
    });
    assert!(joints.iter().all(|joint| *joint == joints[0]));
}

/// Against colluders too.
const WITH_COLLUDERS: [&str; 6] = [
    "k = 3, l = 2, m = 1",
    "k = 2, l = { at_least = 2, kind = \"entropy\" }, m = 1",
    "k = 2, l = { at_least = 2, kind = \"recursive\", c = 3 }, m = 2",
    "k = 3, t = 0.4, m = 1",
    "k = 2, site_diversity = 2, m = 1",
    "k = 2, beta = 4, m = 1",
];

/// Every requirement, written in every way: what is released is right, not only what was cut.
#[test]
fn every_demand_in_every_writing() {
    let (schema, table) = census(240);
    let owners = Split::Random.owners(&schema, &table, 3);
    let writings = [Recode::Node, Recode::Range, Recode::Set]
        .into_iter()
        .flat_map(|recode| [(recode, Covers::Tight), (recode, Covers::Box)]);
    let demands = DEMANDS.into_iter().chain(WITH_COLLUDERS);
    for (place, line) in demands.enumerate() {
        let demand = requirement(line, &schema);
        let mut most = 0;
        for (turn, (recode, covers)) in writings.clone().enumerate() {
            let set = run((&schema, &table), &owners, 3, &demand);
            let by_children = (place + turn) % 2 == 0;
            let run = Run {
                plan: Plan {
                    quasi: plan(&schema, &demand, by_children)
                        .quasi
                        .into_iter()
                        .map(|quasi| Quasi {
                            is_coarsened: recode == Recode::Node && !by_children,
                            ..quasi
                        })
                        .collect(),
                    medians: [Medians::Strict, Medians::Relaxed][turn / 3],
                    widths: [Widths::Box, Widths::Data][(place + turn) / 2 % 2],
                    ..set.plan
                },
                recode,
                covers,
                ..set
            };

            let joint = run.alone();
            most = most.max(joint.classes.len());
            run.check(&joint);
            // Sites together take longer: one way of writing for each requirement.
            if turn == place % 6 {
                assert_eq!(run.together(), joint);
            }
        }
        assert!(most > 10, "{line}: {most}");
    }
}

/// Where sites are cut apart, classes are written alike and become one: 10 records without `v` at one
/// site, 10 with one `v` at the other, 20 with many. A class without `v` would show that nobody in it
/// has it; and over the values that classes have, two would hold delta and their union not.
#[test]
fn classes_written_alike_hold_together() {
    let at = |site: u32, age: u32, diseases: [(u32, usize); 2]| {
        let records = diseases.into_iter();
        records.flat_map(move |(disease, count)| vec![(site, (age, 0, 0, disease)); count])
    };
    let records: Vec<(u32, (u32, u32, u32, u32))> = at(0, 0, [(0, 10), (1, 0)])
        .chain(at(0, 9, [(0, 3), (1, 7)]))
        .chain(at(1, 0, [(0, 9), (1, 1)]))
        .chain(at(1, 9, [(0, 2), (1, 8)]))
        .collect();
    let (owners, rows): (Vec<u32>, Vec<_>) = records.into_iter().unzip();
    let (schema, table) = small(&rows);
    let demand = requirement("k = 2, delta = 1.5", &schema);
    let set = run((&schema, &table), &owners, 2, &demand);
    let run = Run {
        plan: Plan {
            choice: Choice::Fitness {
                weight: WEIGHT_OF_DIVERSITY,
            },
            cuts_sites: true,
            ..set.plan
        },
        ..set
    };
    // The sites apart, and the second by age; the first has nobody young with `v`.
    assert_eq!(same_alone_and_together(&run).classes.len(), 3);
}
