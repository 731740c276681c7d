//! m-privacy among more coalitions than can be looked at one by one in a run: twenty sites of which ten
//! collude. What comes of it is recounted from raw rows, for k by sorting the sites, for distinct l by
//! all coalitions after all: 184,756 of them, as sets of bits.

use std::path::Path;
use std::sync::Arc;

use hedgerow_data::document::Document;
use hedgerow_data::{Codes, Column, Recode, Schema, Study, Table};
use hedgerow_privacy::Requirement;
use hedgerow_privacy::m_privacy::Strategy;
use hedgerow_protocols::Error;
use hedgerow_protocols::horizontal::cover::Covers;
use hedgerow_protocols::horizontal::mondrian::Plan;
use hedgerow_protocols::horizontal::requirement::Demands;

use crate::runs::{Run, mixed, requirement};
use crate::tables::plan;

const SITES: u32 = 20;
const M: u32 = 10;

/// A record: its site, two quasi-identifiers, two sensitive values.
type Raw = (u32, [u32; 2], [u32; 2]);

/// The first sites have the most records, by far, and the last few another disease than the others.
fn rows(count: u64) -> Vec<Raw> {
    let record = |number: u64| {
        let bits = mixed(number);
        let part = |at: u32| (bits >> (8 * at)) as u32 & 0xff;
        let site = (part(0) * part(1) / 2_500).min(SITES - 1);
        let disease = if site > 16 { 5 } else { part(4) % 5 };
        (site, [part(2) % 64, part(3) % 8], [disease, part(5) % 4])
    };
    (0..count).map(record).collect()
}

fn table_of(rows: &[Raw]) -> (Arc<Schema>, Table) {
    let text = "[study]\nname = \"many\"\npartition = \"horizontal\"\n\
                [[attribute]]\nname = \"age\"\nrole = \"quasi\"\ntype = \"integer\"\nrange = [0, 63]\n\
                [[attribute]]\nname = \"ward\"\nrole = \"quasi\"\ntype = \"integer\"\nrange = [0, 7]\n\
                [[attribute]]\nname = \"disease\"\nrole = \"sensitive\"\ntype = \"integer\"\nrange = [0, 5]\n\
                [[attribute]]\nname = \"grade\"\nrole = \"sensitive\"\ntype = \"integer\"\nrange = [0, 3]\n";
    let document = Document::parse(text.into(), Path::new("study.toml")).unwrap();
    let schema = Study::read(document, Path::new(".")).unwrap().schema;
    let column = |size: u32, pick: &dyn Fn(&Raw) -> u32| {
        let mut codes = Codes::for_size(size);
        rows.iter().for_each(|row| codes.push(pick(row)));
        Column::Coded(codes)
    };
    let columns = vec![
        column(64, &|row| row.1[0]),
        column(8, &|row| row.1[1]),
        column(6, &|row| row.2[0]),
        column(4, &|row| row.2[1]),
    ];
    (schema.clone(), Table::new(schema, columns))
}

fn set<'a>(schema: &'a Schema, requirement: &'a Requirement, strategy: Strategy) -> Plan<'a> {
    let set = plan(schema, requirement, false);
    Plan {
        demands: Demands {
            strategy,
            ..set.demands
        },
        ..set
    }
}

/// Records left when the sites with the most go; where that is none, when all but the smallest go.
fn left_at_worst(class: &[&Raw]) -> usize {
    let mut counts = [0; SITES as usize];
    class.iter().for_each(|row| counts[row.0 as usize] += 1);
    counts.sort_unstable();
    match counts[..(SITES - M) as usize].iter().sum() {
        0 => counts.into_iter().find(|count| *count > 0).unwrap_or(0),
        left => left,
    }
}

/// The fewest values of a sensitive attribute that a coalition leaves which leaves anybody.
fn values_at_worst(class: &[&Raw], attribute: usize) -> usize {
    let mut holders = [0u32; 6];
    for row in class {
        holders[row.2[attribute] as usize] |= 1 << row.0;
    }
    let coalitions = (0u32..1 << SITES).filter(|gone| gone.count_ones() == M);
    let left = coalitions.filter_map(|gone| {
        let kept = holders.iter().filter(|holders| **holders & !gone != 0);
        Some(kept.count()).filter(|kept| *kept > 0)
    });
    left.min().unwrap_or(0)
}

#[test]
fn twenty_sites_of_which_ten_collude() {
    let rows = rows(3_000);
    let (schema, table) = table_of(&rows);
    let owners: Vec<u32> = rows.iter().map(|row| row.0).collect();
    for (line, k, l) in [("k = 4, m = 10", 4, 1), ("k = 4, l = 3, m = 10", 4, 3)] {
        for cuts_sites in [false, true] {
            let requirement = requirement(line, &schema);
            let run = Run {
                schema: &schema,
                table: &table,
                owners: &owners,
                sites: SITES as usize,
                plan: Plan {
                    cuts_sites,
                    ..set(&schema, &requirement, Strategy::Exact)
                },
                recode: Recode::Range,
                covers: Covers::Tight,
            };
            let joint = run.together();
            assert!(joint.classes.len() > 3, "{line}: {}", joint.classes.len());
            let raw = |class: &Vec<usize>| class.iter().map(|row| &rows[*row]).collect();
            for class in joint.classes.iter().map(raw) {
                let class: Vec<&Raw> = class;
                assert!(left_at_worst(&class) >= k, "{line}");
                assert!(l == 1 || (0..2).all(|place| values_at_worst(&class, place) >= l));
            }
            assert_eq!(run.alone(), joint, "{line}");
        }
    }
}

/// Where sites say of which parts they have records, cuts between sites leave few sites in a part, whose
/// coalitions are looked at after all: no fewer classes than without, and each still withstands ten sites.
#[test]
fn sites_that_say_where_they_have_records_are_cut_no_less() {
    let rows = rows(3_000);
    let (schema, table) = table_of(&rows);
    let owners: Vec<u32> = rows.iter().map(|row| row.0).collect();
    let requirement = requirement("k = 4, l = 3, m = 10", &schema);
    let classes = [false, true].map(|contributors| {
        let set = set(&schema, &requirement, Strategy::Exact);
        let run = Run {
            schema: &schema,
            table: &table,
            owners: &owners,
            sites: SITES as usize,
            plan: Plan {
                cuts_sites: true,
                demands: Demands {
                    contributors,
                    ..set.demands
                },
                ..set
            },
            recode: Recode::Range,
            covers: Covers::Tight,
        };
        let joint = run.together();
        for class in &joint.classes {
            let class: Vec<&Raw> = class.iter().map(|row| &rows[*row]).collect();
            assert!(left_at_worst(&class) >= 4);
            assert!((0..2).all(|place| values_at_worst(&class, place) >= 3));
        }
        assert_eq!(run.alone(), joint);
        joint.classes.len()
    });
    assert!(classes[1] >= classes[0], "{classes:?}");
}

/// Models that may fail without fewer sites and hold without more are refused with the reason, as are
/// strategies that look at coalitions.
#[test]
fn what_needs_coalitions_is_refused_with_the_reason() {
    let rows = rows(300);
    let (schema, table) = table_of(&rows);
    let columns = crate::tables::share(&table, 0, 1);
    let owners: Vec<u32> = rows.iter().map(|row| row.0).collect();
    let refused = |line: &str, strategy| {
        let requirement = requirement(line, &schema);
        let plan = set(&schema, &requirement, strategy);
        let owner = hedgerow_protocols::horizontal::Owner::Column(&owners);
        let all = crate::tables::own_rows(&schema, &columns, owner, SITES as usize);
        let settings = hedgerow_smc::Settings::hardened();
        let seed = hedgerow_smc::Seed::for_site(1, 0);
        let mut party = hedgerow_smc::Party::alone(settings, &seed);
        let run =
            hedgerow_protocols::horizontal::mondrian::partition(&mut party, &all, &plan, |_, _| {});
        pollster::block_on(run).unwrap_err()
    };
    let error = refused("k = 2, t = 0.5, m = 10", Strategy::Exact);
    assert!(matches!(error, Error::TooManyCoalitions { largest: 4, .. }));
    assert!(error.to_string().contains("t <= 0.5"), "{error}");
    assert!(error.to_string().contains("fail without fewer"), "{error}");
    let error = refused("k = 2, m = 10", Strategy::TopDown);
    assert!(error.to_string().contains("\"top-down\""), "{error}");
}
