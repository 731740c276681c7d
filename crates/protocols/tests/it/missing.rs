//! Missing values: in no algorithm and no recoding does a range have one inside. What is written is
//! counted again from the raw rows, and what sites open to find it follows from what is written.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use hedgerow_data::document::Document;
use hedgerow_data::{Cell, Codes, Column, Domain, Recode, Role, Schema, Study, Table};
use hedgerow_protocols::horizontal::Owner;
use hedgerow_protocols::horizontal::assembly::assemble;
use hedgerow_protocols::horizontal::clustering::{self as clusters, Loss, cluster};
use hedgerow_protocols::horizontal::cover::Covers;
use hedgerow_protocols::horizontal::cover::{COVERS, Writing, covers};
use hedgerow_protocols::horizontal::mondrian::{Medians, Plan, Quasi, partition};
use hedgerow_smc::memory::Simulation;
use hedgerow_smc::{Party, Seed, Settings};
use proptest::prelude::*;

use crate::clustering;
use crate::runs::{Run, assert_in_order, printed, requirement};
use crate::tables::{own_rows, plan, share};

/// Numbers and days whose missing value is behind all others, ordered categories with one between
/// them, and a taxonomy with one below a node.
const STUDY: &str = r#"
[study]
name = "missing"
partition = "horizontal"
[[attribute]]
name = "age"
role = "quasi"
type = "integer"
range = [-3, 20]
missing = "NA"
[[attribute]]
name = "day"
role = "quasi"
type = "date"
range = ["2024-02-01", "2024-02-10"]
missing = ""
[[attribute]]
name = "grade"
role = "quasi"
values = ["none", "low", "", "high", "top"]
ordered = true
[[attribute]]
name = "place"
role = "quasi"
taxonomy = "place.csv"
[[attribute]]
name = "disease"
role = "sensitive"
values = ["u", "v", "w"]
"#;
const TREE: &str = "a;X;*\nb;X;*\n\"\";Y;*\nd;Y;*\ne;*\n";
/// The code of each quasi-identifier's missing value.
const MISSING: [u32; 4] = [24, 10, 2, 2];

fn schema() -> Arc<Schema> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("place.csv"), TREE).unwrap();
    let document = Document::parse(STUDY.into(), Path::new("study.toml")).unwrap();
    let schema = Study::read(document, folder.path()).unwrap().schema;
    for (attribute, missing) in schema.attributes().iter().zip(MISSING) {
        assert_eq!(attribute.domain.missing_code(), Some(missing));
    }
    schema
}

/// Skewed rows, of which a share misses a value here or there.
fn rows() -> impl Strategy<Value = Vec<Vec<u32>>> {
    let value = |size: u32, missing: u32| {
        let skewed = (0..size, 0..size).prop_map(|(one, other)| one.min(other));
        prop_oneof![5 => skewed, 1 => Just(missing)]
    };
    let row = (
        value(24, 24),
        value(10, 10),
        value(5, 2),
        value(5, 2),
        0..3u32,
    );
    let row =
        row.prop_map(|(age, day, grade, place, disease)| vec![age, day, grade, place, disease]);
    proptest::collection::vec(row, 12..70)
}

fn table(schema: &Arc<Schema>, rows: &[Vec<u32>]) -> Table {
    let column = |position: usize| {
        let mut codes = Codes::for_size(schema.attributes()[position].domain.size());
        rows.iter().for_each(|row| codes.push(row[position]));
        Column::Coded(codes)
    };
    Table::new(schema.clone(), (0..5).map(column).collect())
}

/// A cell is no range with the missing value inside: it is a value, everything, a node or a set.
pub(crate) fn assert_no_missing_inside(domain: &Domain, cell: &Cell) {
    let text = domain.write_cell(cell);
    assert_eq!(domain.read_cell(&text).as_ref(), Ok(cell), "{text}");
    let Some(missing) = domain.missing_code() else {
        return;
    };
    if let Cell::Interval(least, greatest) = cell
        && least < greatest
        && (least..=greatest).contains(&&missing)
    {
        let is_node = |node| domain.taxonomy().unwrap().label(node) == text;
        let mut nodes = 0..domain.taxonomy().map_or(0, |tree| tree.node_count());
        assert!(text == "*" || nodes.any(is_node), "{text}");
    }
}

/// How some values are written as tightly as may be, by counting them.
fn tight(domain: &Domain, codes: &BTreeSet<u32>, recode: Recode) -> Cell {
    let (least, greatest) = (*codes.first().unwrap(), *codes.last().unwrap());
    let missing = domain.missing_code().unwrap();
    match (recode, domain.taxonomy()) {
        (Recode::Set, _) => Cell::set(codes.iter().copied().collect()).unwrap(),
        (Recode::Node, Some(tree)) => {
            let (least, greatest) = tree.interval(tree.lowest_common_ancestor(least, greatest));
            Cell::Interval(least, greatest)
        }
        _ if least < greatest && least <= missing && missing <= greatest => {
            Cell::Interval(0, domain.size() - 1)
        }
        _ => Cell::Interval(least, greatest),
    }
}

/// How classes of rows are written.
fn assert_written(
    schema: &Schema,
    table: &Table,
    classes: &[Vec<usize>],
    cells: &[Vec<Cell>],
    (recode, is_tight): (Recode, bool),
) {
    for (records, cells) in classes.iter().zip(cells) {
        for (position, cell) in cells.iter().enumerate() {
            let domain = &schema.attributes()[position].domain;
            assert_no_missing_inside(domain, cell);
            let values = table.codes(position).unwrap();
            let codes: BTreeSet<u32> = records.iter().map(|row| values.get(*row)).collect();
            assert!(codes.iter().all(|code| cell.contains(*code)));
            if is_tight {
                assert_eq!(*cell, tight(domain, &codes, recode), "{codes:?}");
            }
        }
    }
}

const RECODES: [Recode; 3] = [Recode::Node, Recode::Range, Recode::Set];

fn quasi<'a>(schema: &'a Schema, plan: &Plan<'a>, recode: Recode) -> Vec<Quasi<'a>> {
    let domains = schema
        .attributes()
        .iter()
        .map(|attribute| &attribute.domain);
    let each = domains.zip(&plan.quasi);
    let coarsened = each.map(|(domain, quasi)| Quasi {
        is_coarsened: recode == Recode::Node || Writing { domain, recode }.widens_ranges(),
        ..quasi.clone()
    });
    coarsened.collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn no_range_of_cuts_has_one_inside(
        rows in rows(), recode in prop::sample::select(RECODES.to_vec()), is_tight: bool,
        is_relaxed: bool, by_children: bool, cuts_sites: bool, delta: bool,
    ) {
        let schema = schema();
        let table = table(&schema, &rows);
        let owners: Vec<u32> = (0..rows.len() as u32).map(|row| row % 3).collect();
        let demand = requirement(if delta { "k = 2, delta = 3" } else { "k = 3" }, &schema);
        let plan = plan(&schema, &demand, by_children);
        let run = Run {
            schema: &schema,
            table: &table,
            owners: &owners,
            sites: 3,
            plan: Plan {
                quasi: quasi(&schema, &plan, recode),
                medians: if is_relaxed { Medians::Relaxed } else { Medians::Strict },
                cuts_sites,
                ..plan
            },
            recode,
            covers: if is_tight { Covers::Tight } else { Covers::Box },
        };
        let joint = run.together();
        run.check(&joint);
        prop_assert_eq!(&run.alone(), &joint);
        assert_written(&schema, &table, &joint.classes, &joint.cells, (recode, is_tight));
    }

    #[test]
    fn no_range_of_clusters_has_one_inside(
        rows in rows(), recode in prop::sample::select(RECODES.to_vec()),
        loss in prop::sample::select(vec![Loss::Lm, Loss::Ncp, Loss::Em]),
        is_refined: bool, is_blurred: bool, is_printed: bool,
    ) {
        let schema = schema();
        let table = table(&schema, &rows);
        let demand = requirement("k = 3, l = 2", &schema);
        let plan = clusters::Plan { loss, is_refined, is_blurred, is_printed, ..clustering::plan(&schema, &demand, recode) };
        let owners: Vec<u32> = (0..rows.len() as u32).map(|row| row % 3).collect();
        let Ok(alone) = clustering::central(&schema, &table, &plan, &owners, 3) else {
            // Too few different diseases.
            return Ok(());
        };
        let classes: Vec<Vec<usize>> = alone.partition.classes.iter().map(|class| {
            alone.partition.rows(class).iter().map(|row| *row as usize).collect()
        }).collect();
        // Where values are blurred, what is written may be wider than the records.
        assert_written(&schema, &table, &classes, &alone.cells, (recode, !is_blurred));
        let releases = Simulation::new(3, 5).run(|mut party| {
            let (schema, table, plan) = (&schema, &table, &plan);
            async move {
                let columns = share(table, party.me().index(), 3);
                let owner = Owner::Site(party.me().index() as u32);
                let own = own_rows(schema, &columns, owner, 3);
                let found = cluster(&mut party, &own, plan, |_| {}).await?;
                assemble(&mut party, schema, &found.partition, &found.cells, &[(4, &columns[4])]).await
            }
        }).into_values().unwrap();
        let mut party = Party::alone(Settings::hardened(), &Seed::for_site(1, 0));
        let verbatim = [(4, table.codes(4).unwrap())];
        let release = assemble(&mut party, &schema, &alone.partition, &alone.cells, &verbatim);
        let release = pollster::block_on(release).unwrap();
        assert_in_order(&release);
        for found in releases {
            prop_assert_eq!(printed(&found), printed(&release));
        }
    }

    /// What is opened to find covers follows from the covers, once it is known what the cuts left.
    #[test]
    fn covers_open_what_is_printed(rows in rows()) {
        let schema = schema();
        let table = table(&schema, &rows);
        let demand = requirement("k = 3", &schema);
        let plan = plan(&schema, &demand, false);
        let plan = Plan { quasi: quasi(&schema, &plan, Recode::Range), ..plan };
        let writings: Vec<Writing<'_>> = schema.with_role(Role::Quasi).into_iter().map(|position| Writing {
            domain: &schema.attributes()[position].domain,
            recode: Recode::Range,
        }).collect();
        let settings = Settings {
            fan_out: hedgerow_protocols::FAN_OUT,
            ..Settings::hardened()
        };
        let found = Simulation::new(3, 5).settings(settings).run(|mut party| {
            let (schema, table, plan, writings) = (&schema, &table, &plan, &writings);
            async move {
                party.keep_values();
                let site = party.me().index();
                let columns = share(table, site, 3);
                let own = own_rows(schema, &columns, Owner::Site(site as u32), 3);
                let found = partition(&mut party, &own, plan, |_, _| {}).await?;
                let cells = covers(&mut party, &own, &found, writings, Covers::Tight).await?;
                let entries = party.ledger().entries().iter();
                let opened = entries.filter(|entry| entry.disclosure.what.name() == COVERS.name());
                let opened: Vec<Vec<u64>> = opened.filter_map(|entry| entry.recorded.clone()).collect();
                Ok::<_, hedgerow_protocols::Error>((found, cells, opened))
            }
        }).into_values().unwrap();
        for (found, cells, opened) in found {
            // Ranges beside which no value is missing are asked about with the sides of the others.
            let (mut sides, mut plain, mut sided) = (Vec::new(), Vec::new(), Vec::new());
            for (class, cells) in found.classes.iter().zip(&cells) {
                for (attribute, cell) in cells.iter().enumerate() {
                    let (missing, (least, greatest)) = (MISSING[attribute], cell.bounds());
                    let left = class.bounds[attribute];
                    let is_mixed = |(from, to): (u32, u32)| from < to && from <= missing && missing <= to;
                    let is_missing = (least, greatest) == (missing, missing);
                    if is_mixed(left) {
                        sides.push(if is_mixed((least, greatest)) { 0 }
                            else if is_missing { 2 }
                            else if greatest < missing { 1 } else { 3 });
                    }
                    let is_side_of_one = is_mixed(left)
                        && (greatest < missing && left.0 + 1 == missing || least > missing && missing + 1 == left.1);
                    let is_known = is_mixed(left) && (is_missing || is_mixed((least, greatest)) || is_side_of_one);
                    let ranges = if is_mixed(left) { &mut sided } else { &mut plain };
                    if !is_known {
                        ranges.extend([u64::from(least), u64::from(greatest)]);
                    }
                }
            }
            let expected: Vec<Vec<u64>> =
                [sides, plain, sided].into_iter().filter(|values| !values.is_empty()).collect();
            prop_assert_eq!(opened, expected);
        }
    }
}
