//! Questions about fragmented releases, against every way to put small groups together: the truth lies between
//! low and high, and the estimate is the mean of all ways.

use std::path::Path;
use std::sync::Arc;

use hedgerow_data::document::Document;
use hedgerow_data::{
    Cell, Codes, Column, GeneralizedColumn, Release, ReleaseColumn, Schema, Study,
};
use hedgerow_protocols::query::{Answer, CodeSet, Condition, Fragmented, Question, Total};
use proptest::prelude::*;

const STUDY: &str = r#"
[study]
name = "asked"
partition = "horizontal"
[[attribute]]
name = "age"
role = "quasi"
type = "integer"
range = [0, 3]
[[attribute]]
name = "cost"
role = "sensitive"
type = "integer"
range = [-1, 1]
missing = "unknown"
[[attribute]]
name = "disease"
role = "sensitive"
values = ["u", "v", "w"]
[require]
k = 1
"#;
const SIZES: [u32; 3] = [4, 4, 3];

fn schema() -> Arc<Schema> {
    let document = Document::parse(STUDY.into(), Path::new("study.toml")).unwrap();
    Study::read(document, Path::new(".")).unwrap().schema
}

/// A row of the tables: its group, the least and greatest age, cost and disease.
type Row = (u32, (u32, u32), u32, u32);

fn rows() -> impl Strategy<Value = Vec<Row>> {
    let row = (1u32..=2, (0u32..4, 0u32..2), 0u32..4, 0u32..3);
    let row = row.prop_map(|(group, (age, width), cost, disease)| {
        (group, (age, (age + width).min(3)), cost, disease)
    });
    let rows = proptest::collection::vec(row, 1..6);
    // At most three rows of a group, so that all ways can be tried.
    rows.prop_map(|mut rows| {
        rows.sort();
        let mut kept: Vec<Row> = Vec::new();
        for row in rows {
            if kept.iter().filter(|other| other.0 == row.0).count() < 3 {
                kept.push(row);
            }
        }
        kept
    })
}

fn release(schema: &Arc<Schema>, rows: &[Row]) -> Release {
    let cells = rows.iter().map(|row| Cell::Interval(row.1.0, row.1.1));
    let age = GeneralizedColumn {
        cells: cells.collect(),
        codes: (0..rows.len() as u32).collect(),
    };
    let verbatim = |pick: fn(&Row) -> u32, size: u32| {
        let mut codes = Codes::for_size(size);
        rows.iter().for_each(|row| codes.push(pick(row)));
        ReleaseColumn::Verbatim(Column::Coded(codes))
    };
    let columns = vec![
        ReleaseColumn::Generalized(age),
        verbatim(|row| row.2, SIZES[1]),
        verbatim(|row| row.3, SIZES[2]),
    ];
    let groups: Vec<u32> = rows.iter().map(|row| row.0).collect();
    Release::fragmented(Arc::clone(schema), columns, &groups)
}

fn condition() -> impl Strategy<Value = Condition> {
    let comparison = (0usize..3, 0u32..4, 0u32..4).prop_map(|(column, a, b)| {
        let most = SIZES[column] - 1;
        let (a, b) = (a.min(most), b.min(most));
        Condition::Within {
            column,
            codes: CodeSet::new([(a.min(b), a.max(b))]),
        }
    });
    let missing = Just(Condition::Missing { column: 1 });
    let leaf = prop_oneof![5 => comparison, 1 => missing];
    leaf.prop_recursive(3, 8, 3, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 1..3).prop_map(Condition::All),
            proptest::collection::vec(inner.clone(), 1..3).prop_map(Condition::Any),
            inner.prop_map(|part| Condition::Not(Box::new(part))),
        ]
    })
}

/// Whether values satisfy a condition; nothing where that is not known.
fn holds(condition: &Condition, values: &[u32; 3]) -> Option<bool> {
    let joined = |parts: &[Condition], end: bool| {
        let truths: Vec<Option<bool>> = parts.iter().map(|part| holds(part, values)).collect();
        match truths.contains(&Some(end)) {
            true => Some(end),
            false => (!truths.contains(&None)).then_some(!end),
        }
    };
    match condition {
        Condition::All(parts) => joined(parts, false),
        Condition::Any(parts) => joined(parts, true),
        Condition::Not(part) => holds(part, values).map(|truth| !truth),
        Condition::Within { column, codes } => {
            let is_missing = *column == 1 && values[1] == 3;
            (!is_missing).then(|| codes.contains(values[*column]))
        }
        Condition::Missing { .. } => Some(values[1] == 3),
    }
}

/// The orders of some values.
fn orders(values: &[u32]) -> Vec<Vec<u32>> {
    if values.is_empty() {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for place in 0..values.len() {
        let mut rest = values.to_vec();
        let first = rest.remove(place);
        all.extend(orders(&rest).into_iter().map(|mut order| {
            order.insert(0, first);
            order
        }));
    }
    all
}

/// The people of a group put together: quasi-identifiers, and the values of three tables.
type Together = Vec<((u32, u32), [u32; 3])>;

/// Every way to put the rows of one group together: each row with its age as printed, and its values.
fn ways(rows: &[Row]) -> Vec<Together> {
    let costs: Vec<u32> = rows.iter().map(|row| row.2).collect();
    let diseases: Vec<u32> = rows.iter().map(|row| row.3).collect();
    let mut ages: Vec<Vec<u32>> = vec![Vec::new()];
    for row in rows {
        let longer = ages
            .iter()
            .flat_map(|ages| (row.1.0..=row.1.1).map(|age| [ages.clone(), vec![age]].concat()));
        ages = longer.collect();
    }
    let mut ways = Vec::new();
    for age in &ages {
        for cost in orders(&costs) {
            for disease in orders(&diseases) {
                let people =
                    (0..rows.len()).map(|row| (rows[row].1, [age[row], cost[row], disease[row]]));
                ways.push(people.collect());
            }
        }
    }
    ways
}

/// What a person adds to a total.
fn adds(total: Total, values: &[u32; 3]) -> i64 {
    match total {
        Total::Records => 1,
        Total::Present(1) => i64::from(values[1] != 3),
        Total::Present(_) => 1,
        Total::Sum(0) => i64::from(values[0]),
        Total::Sum(_) if values[1] == 3 => 0,
        Total::Sum(_) => i64::from(values[1]) - 1,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn the_truth_of_every_way_lies_between_low_and_high(
        rows in rows(),
        condition in condition(),
        group_by in prop_oneof![Just(vec![]), Just(vec![0]), Just(vec![2]), Just(vec![0, 2]), Just(vec![1, 0])],
    ) {
        let of = vec![Total::Records, Total::Present(1), Total::Sum(0), Total::Sum(1)];
        let fragmented = Fragmented::release(&release(&schema(), &rows)).unwrap();
        let question = Question {
            condition: condition.clone(),
            answer: Answer::Totals { group_by: group_by.clone(), of: of.clone() },
        };
        let answered = fragmented.totals(&question).unwrap();
        // Groups are put together independently of each other, so their least, greatest and mean add up.
        let key = |printed: (u32, u32), values: &[u32; 3]| {
            let cells = group_by.iter().map(|column| match column {
                0 => Cell::Interval(printed.0, printed.1),
                column => Cell::Interval(values[*column], values[*column]),
            });
            cells.collect::<Vec<Cell>>()
        };
        let mut keys: Vec<Vec<Cell>> = answered.iter().map(|group| group.key.clone()).collect();
        let groups: Vec<Vec<Row>> = [1, 2]
            .map(|group| rows.iter().filter(|row| row.0 == group).copied().collect())
            .into_iter()
            .filter(|rows: &Vec<Row>| !rows.is_empty())
            .collect();
        let ways: Vec<_> = groups.iter().map(|rows| ways(rows)).collect();
        for (printed, values) in ways.iter().flatten().flatten() {
            if holds(&condition, values) == Some(true) {
                keys.push(key(*printed, values));
            }
        }
        keys.sort();
        keys.dedup();
        for wanted in &keys {
            let group = answered.iter().find(|group| group.key == *wanted);
            let group = group.expect("every group that may have a row is answered");
            for (total, measured) in of.iter().zip(&group.totals) {
                let (mut low, mut high, mut mean) = (0, 0, 0.0);
                for ways in &ways {
                    let sums: Vec<i64> = ways.iter().map(|people| {
                        let found = people.iter().filter(|(printed, values)| {
                            holds(&condition, values) == Some(true) && key(*printed, values) == *wanted
                        });
                        found.map(|(_, values)| adds(*total, values)).sum()
                    }).collect();
                    low += sums.iter().min().unwrap();
                    high += sums.iter().max().unwrap();
                    mean += sums.iter().sum::<i64>() as f64 / sums.len() as f64;
                }
                prop_assert!(measured.low <= low && high <= measured.high,
                    "{total:?} of {wanted:?}: [{low}, {high}] is not in [{}, {}]", measured.low, measured.high);
                prop_assert!((measured.estimate - mean).abs() < 1e-9, "{total:?}: {} is not {mean}", measured.estimate);
            }
        }
    }

    #[test]
    fn what_speaks_of_one_value_of_each_table_has_exact_bounds(rows in rows(), age in 0u32..4, disease in 0u32..3) {
        let within = |column, code| Condition::Within { column, codes: CodeSet::new([(code, code)]) };
        let exact: Vec<Row> = rows.iter().map(|row| (row.0, (row.1.0, row.1.0), row.2, row.3)).collect();
        let fragmented = Fragmented::release(&release(&schema(), &exact)).unwrap();
        let question = Question {
            condition: Condition::All(vec![within(0, age), within(2, disease)]),
            answer: Answer::Totals { group_by: Vec::new(), of: vec![Total::Records] },
        };
        let answered = fragmented.totals(&question).unwrap();
        let (mut low, mut high) = (0, 0);
        for group in 1..=2 {
            let own: Vec<&Row> = exact.iter().filter(|row| row.0 == group).collect();
            let a = own.iter().filter(|row| row.1.0 == age).count();
            let b = own.iter().filter(|row| row.3 == disease).count();
            low += (a + b).saturating_sub(own.len()) as i64;
            high += a.min(b) as i64;
        }
        prop_assert_eq!((answered[0].totals[0].low, answered[0].totals[0].high), (low, high));
    }
}
