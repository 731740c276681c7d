//! The order of a release tells nothing: attacks that guess what is not written, a hidden age or a
//! record's owner, from where rows stand. They work on rows in the order of hidden cuts, and on the
//! release find no more than on shuffled copies of it.
//!
//! Ages and owners are drawn without regard to the other columns, so that whatever an attack finds it
//! has from the order.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;

use hedgerow_data::document::Document;
use hedgerow_data::{Cell, Codes, Column, Recode, Role, Schema, Study, Table};
use hedgerow_privacy::m_privacy::WEIGHT_OF_DIVERSITY;
use hedgerow_protocols::horizontal::cover::Covers;
use hedgerow_protocols::horizontal::mondrian::{Choice, Plan};

use crate::runs::{Joint, Run, mixed, requirement};
use crate::tables::plan;

const SITES: usize = 2;
const AGES: u32 = 100;
/// Copies that an attack is compared with.
const COPIES: u64 = 40;
/// Rows on each side from which an age is guessed.
const NEAR: usize = 3;

/// A row of a release, and what it does not say.
#[derive(Clone)]
struct Row {
    /// Cells of quasi-identifiers; the last is the age's.
    cells: Vec<Cell>,
    age: f64,
    owner: u32,
}

/// Zips, kinds of work and ages, and a disease.
fn study(zips: u32, works: u32) -> Arc<Schema> {
    let mut text = String::from("[study]\nname = \"order\"\npartition = \"horizontal\"\n");
    let sizes = [
        ("zip", zips, ""),
        ("work", works, ""),
        ("age", AGES, "widths = [5, 25]\n"),
    ];
    for (name, size, widths) in sizes {
        let last = size - 1;
        text.push_str(&format!("[[attribute]]\nname = \"{name}\"\nrole = \"quasi\"\ntype = \"integer\"\nrange = [0, {last}]\n{widths}"));
    }
    text.push_str(
        "[[attribute]]\nname = \"disease\"\nrole = \"sensitive\"\nvalues = [\"u\", \"v\", \"w\"]\n",
    );
    let document = Document::parse(text, Path::new("study.toml")).unwrap();
    Study::read(document, Path::new(".")).unwrap().schema
}

/// Skewed columns that know nothing of each other, and an owner for each record: sites have about as
/// many, because a larger class of two would say whose it is.
fn table(schema: &Arc<Schema>, rows: u64, seed: u64) -> (Table, Vec<u32>) {
    let draw =
        |row: u64, column: u64| mixed(mixed(seed ^ (row * 8 + column))) as f64 / 2f64.powi(64);
    let column = |column: u64, size: u32, power: f64| {
        let mut codes = Codes::for_size(size);
        for row in 0..rows {
            codes.push((draw(row, column).powf(power) * f64::from(size)) as u32);
        }
        Column::Coded(codes)
    };
    let size = |position: usize| schema.attributes()[position].domain.size();
    let columns = vec![
        column(0, size(0), 2.0),
        column(1, size(1), 1.5),
        column(2, AGES, 1.3),
        column(3, 3, 1.8),
    ];
    let owners = (0..rows).map(|row| (draw(row, 4) * SITES as f64) as u32);
    (Table::new(schema.clone(), columns), owners.collect())
}

/// The rows of a run in the order of its cuts, which nobody must see.
fn hidden(run: &Run<'_>, joint: &Joint) -> Vec<(Vec<Cell>, u32, Row)> {
    let age = run.table.codes(2).unwrap();
    let disease = run.table.codes(3).unwrap();
    let mut rows = Vec::new();
    for (records, cells) in joint.classes.iter().zip(&joint.cells) {
        for record in records {
            let row = Row {
                cells: cells.clone(),
                age: f64::from(age.get(*record)),
                owner: run.owners[*record],
            };
            rows.push((cells.clone(), disease.get(*record), row));
        }
    }
    rows
}

/// The rows as the release has them. Which of several that are written alike stands first nobody can
/// say: any.
fn published(joint: &Joint, hidden: &[(Vec<Cell>, u32, Row)]) -> Vec<Row> {
    let release = &joint.release;
    let mut alike: HashMap<(Vec<Cell>, u32), Vec<&Row>> = HashMap::new();
    let places = shuffled(&(0..hidden.len()).collect::<Vec<_>>(), 99);
    for place in places {
        let (cells, disease, row) = &hidden[place];
        alike
            .entry((cells.clone(), *disease))
            .or_default()
            .push(row);
    }
    let quasi = release.schema().with_role(Role::Quasi);
    let row = |row: usize| {
        let cells: Vec<Cell> = quasi
            .iter()
            .map(|position| {
                let column = release.generalized(*position).unwrap();
                column.cells[column.codes[row] as usize].clone()
            })
            .collect();
        let disease = release.verbatim(3).unwrap().get(row);
        alike
            .get_mut(&(cells, disease))
            .unwrap()
            .pop()
            .unwrap()
            .clone()
    };
    (0..release.rows()).map(row).collect()
}

fn shuffled<T: Clone>(rows: &[T], seed: u64) -> Vec<T> {
    let mut order: Vec<(u64, usize)> = (0..rows.len())
        .map(|row| (mixed(mixed(seed) ^ row as u64), row))
        .collect();
    order.sort_unstable();
    order.iter().map(|(_, row)| rows[*row].clone()).collect()
}

/// How well ages that are written as `*` are guessed by the ages written near them: correlation with
/// the truth, and the mean error.
fn guessed_ages(rows: &[Row]) -> (f64, f64) {
    let middle = |row: &Row| {
        let (least, greatest) = row.cells[2].bounds();
        f64::from(least + greatest) / 2.0
    };
    let is_hidden = |row: &Row| row.cells[2] == Cell::Interval(0, AGES - 1);
    let mut pairs = Vec::new();
    for (place, row) in rows.iter().enumerate().filter(|(_, row)| is_hidden(row)) {
        let before = rows[..place].iter().rev().filter(|row| !is_hidden(row));
        let behind = rows[place..].iter().filter(|row| !is_hidden(row));
        let near: Vec<f64> = before
            .take(NEAR)
            .chain(behind.take(NEAR))
            .map(middle)
            .collect();
        pairs.push((near.iter().sum::<f64>() / near.len() as f64, row.age));
    }
    assert!(pairs.len() > 200, "{} ages are hidden", pairs.len());
    let errors = pairs.iter().map(|(guess, age)| (guess - age).abs());
    (
        correlation(&pairs),
        errors.sum::<f64>() / pairs.len() as f64,
    )
}

fn correlation(pairs: &[(f64, f64)]) -> f64 {
    let count = pairs.len() as f64;
    let (sum_x, sum_y) = pairs
        .iter()
        .fold((0.0, 0.0), |(a, b), (x, y)| (a + x, b + y));
    let (mean_x, mean_y) = (sum_x / count, sum_y / count);
    let (mut xy, mut xx, mut yy) = (0.0, 0.0, 0.0);
    for (x, y) in pairs {
        xy += (x - mean_x) * (y - mean_y);
        xx += (x - mean_x).powi(2);
        yy += (y - mean_y).powi(2);
    }
    if xx == 0.0 || yy == 0.0 {
        0.0
    } else {
        xy / (xx * yy).sqrt()
    }
}

/// Of how many pairs of classes the owners are named, and of how many rightly. Classes that stand side
/// by side though no attribute parts them were parted by sites: the first is said to be the first
/// site's.
fn named_owners(rows: &[Row]) -> (usize, usize) {
    let mut order: Vec<&[Cell]> = Vec::new();
    let mut of_class: BTreeMap<&[Cell], [usize; SITES]> = BTreeMap::new();
    for row in rows {
        let owners = of_class.entry(&row.cells).or_insert_with(|| {
            order.push(&row.cells);
            [0; SITES]
        });
        owners[row.owner as usize] += 1;
    }
    let meet = |one: &[Cell], other: &[Cell]| {
        let mut pairs = one.iter().zip(other);
        pairs.all(|(one, other)| {
            let (least, greatest) = other.bounds();
            one.overlap(least, greatest) > 0
        })
    };
    let (mut named, mut right) = (0, 0);
    for pair in order.windows(2).filter(|pair| meet(pair[0], pair[1])) {
        match [of_class[pair[0]], of_class[pair[1]]] {
            [[_, 0], [0, _]] => right += 1,
            [[0, _], [_, 0]] => {}
            // Both have records in one of them: it was not sites that parted these.
            _ => continue,
        }
        named += 1;
    }
    (named, right)
}

/// The rows of a release, and the same in the order of its cuts.
fn both_orders(run: &Run<'_>) -> (Vec<Row>, Vec<Row>) {
    let joint = run.alone();
    run.check(&joint);
    let rows = hidden(run, &joint);
    let released = published(&joint, &rows);
    (released, rows.into_iter().map(|(_, _, row)| row).collect())
}

fn run<'a>(
    (schema, table, owners): (&'a Arc<Schema>, &'a Table, &'a [u32]),
    plan: Plan<'a>,
    recode: Recode,
) -> Run<'a> {
    Run {
        schema,
        table,
        owners,
        sites: SITES,
        plan,
        recode,
        covers: Covers::Tight,
    }
}

#[test]
fn hidden_ages_are_not_guessed_from_the_order() {
    let schema = study(12, 3);
    for seed in 1..4 {
        let (table, owners) = table(&schema, 3000, seed);
        let demand = requirement("k = 3", &schema);
        let mut plan = plan(&schema, &demand, false);
        plan.quasi[2].is_coarsened = true;
        let run = run((&schema, &table, &owners), plan, Recode::Node);
        let (released, by_cuts) = both_orders(&run);
        let copies = 0..COPIES;
        let chance: Vec<(f64, f64)> = copies
            .map(|copy| guessed_ages(&shuffled(&released, copy)))
            .collect();
        let lucky = chance
            .iter()
            .fold(0.0, |most: f64, (found, _)| most.max(found.abs()));
        let least_error = chance
            .iter()
            .fold(f64::MAX, |least, (_, error)| least.min(*error));

        let (found, error) = guessed_ages(&by_cuts);
        assert!(found > 0.6 && found > 3.0 * lucky, "{found} {lucky}");
        assert!(error < least_error / 1.5, "{error} {least_error}");
        let (found, error) = guessed_ages(&released);
        assert!(found.abs() <= lucky, "{found} {lucky}");
        assert!(error >= least_error, "{error} {least_error}");
    }
}

#[test]
fn owners_are_not_named_by_the_order() {
    let schema = study(40, 8);
    let demand = requirement("k = 6", &schema);
    // For the cuts, the release, and each copy: pairs that were named, and rightly.
    let mut sums = vec![(0, 0); 2 + COPIES as usize];
    for seed in 1..9 {
        let (table, owners) = table(&schema, 2000, seed);
        let plan = Plan {
            choice: Choice::Fitness {
                weight: WEIGHT_OF_DIVERSITY,
            },
            cuts_sites: true,
            ..plan(&schema, &demand, false)
        };
        let run = run((&schema, &table, &owners), plan, Recode::Range);
        let (released, by_cuts) = both_orders(&run);
        let copies = (0..COPIES).map(|copy| shuffled(&released, copy));
        let orders = [by_cuts, released.clone()].into_iter().chain(copies);
        for ((named, right), rows) in sums.iter_mut().zip(orders) {
            let found = named_owners(&rows);
            *named += found.0;
            *right += found.1;
        }
    }
    // How many standard errors above one in two.
    let gain = |(named, right): (usize, usize)| {
        (2.0 * right as f64 - named as f64) / (named as f64).sqrt().max(1.0)
    };
    let gains: Vec<f64> = sums.iter().map(|sum| gain(*sum)).collect();
    let lucky = gains[2..]
        .iter()
        .fold(0.0, |most: f64, gain| most.max(gain.abs()));
    assert!(
        sums[0].0 > 50 && gains[0] > 4.0 && gains[0] > 1.5 * lucky,
        "{sums:?}"
    );
    assert!(
        sums[1].0 > 20 && gains[1].abs() <= lucky.max(2.5),
        "{sums:?}"
    );
}
