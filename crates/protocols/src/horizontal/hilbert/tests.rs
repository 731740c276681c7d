use hedgerow_data::document::Document;
use hedgerow_data::{Recode, Schema, Study};
use proptest::prelude::*;
use std::path::Path;
use std::sync::Arc;

use super::*;

fn schema() -> Arc<Schema> {
    let text = "[study]\nname = \"x\"\npartition = \"horizontal\"\n\
                [[attribute]]\nname = \"many\"\nrole = \"quasi\"\ntype = \"integer\"\nrange = [0, 59]\nwidths = [5, 20]\n\
                [[attribute]]\nname = \"few\"\nrole = \"quasi\"\nvalues = [\"a\", \"b\", \"c\"]\n";
    let document = Document::parse(text.to_owned(), Path::new("study.toml")).unwrap();
    Study::read(document, Path::new(".")).unwrap().schema
}

fn codes(values: impl Iterator<Item = u32>) -> Codes {
    let mut codes = Codes::for_size(60);
    values.for_each(|value| codes.push(value));
    codes
}

fn writings(schema: &Schema, recode: Recode) -> [Writing<'_>; 2] {
    [0, 1].map(|place| Writing {
        domain: &schema.attributes()[place].domain,
        recode,
    })
}

/// What groups of consecutive records lose, counted from the records.
fn lost(writings: &[Writing<'_>; 2], rows: &[[u32; 2]], sizes: &[usize]) -> f64 {
    let mut rows = rows.iter();
    let mut lost = 0.0;
    for size in sizes {
        let group: Vec<&[u32; 2]> = rows.by_ref().take(*size).collect();
        for (place, writing) in writings.iter().enumerate() {
            let values = || group.iter().map(|row| row[place]);
            let (least, greatest) = (values().min().unwrap(), values().max().unwrap());
            let (least, greatest) = match (writing.recode, writing.domain.taxonomy()) {
                (Recode::Node, Some(tree)) => {
                    tree.interval(tree.lowest_common_ancestor(least, greatest))
                }
                _ => (least, greatest),
            };
            let all = f64::from(writing.domain.size() - 1);
            lost += *size as f64 * f64::from(greatest - least) / all;
        }
    }
    lost
}

/// All ways to write a number as a sum of numbers of k or more.
fn all_cuts(records: usize, k: usize) -> Vec<Vec<usize>> {
    let mut all = Vec::new();
    if records >= k {
        all.push(vec![records]);
    }
    for first in k..records {
        for mut rest in all_cuts(records - first, k) {
            rest.insert(0, first);
            all.push(rest);
        }
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// No cut of the same order into groups of k or more loses less, and every record is in one class.
    #[test]
    fn no_other_cut_of_the_order_loses_less(
        rows in prop::collection::vec([0..60u32, 0..3u32], 1..15),
        k in 1..6usize,
        recode in prop::sample::select(vec![Recode::Node, Recode::Range]),
    ) {
        let schema = schema();
        let writings = writings(&schema, recode);
        let columns = [0, 1].map(|place| codes(rows.iter().map(|row| row[place])));
        let columns = [(writings[0], &columns[0]), (writings[1], &columns[1])];
        let Some(found) = classes(&columns, k, Loss::Lm) else {
            prop_assert!(rows.len() < k);
            return Ok(());
        };
        let mut all: Vec<u32> = found.iter().flatten().copied().collect();
        all.sort_unstable();
        prop_assert!(all.into_iter().eq(0..rows.len() as u32));
        prop_assert!(found.iter().all(|class| (k..2 * k).contains(&class.len())));
        let record = |row: u32| rows[row as usize].to_vec();
        let order = in_order(&columns, rows.len(), record);
        let ordered: Vec<[u32; 2]> = order.iter().map(|row| rows[*row as usize]).collect();
        let sizes: Vec<usize> = found.iter().map(Vec::len).collect();
        let ours = lost(&writings, &ordered, &sizes);
        for other in all_cuts(rows.len(), k) {
            prop_assert!(ours <= lost(&writings, &ordered, &other) + 1e-3, "{other:?}");
        }
    }
}

/// Three values count as much as sixty: without scaling, `few` would hardly matter for the order.
#[test]
fn attributes_are_scaled_to_the_same_range() {
    let schema = schema();
    let writings = writings(&schema, Recode::Range);
    let rows: Vec<[u32; 2]> = (0..60).flat_map(|many| [[many, 0], [many, 2]]).collect();
    let columns = [0, 1].map(|place| codes(rows.iter().map(|row| row[place])));
    let columns = [(writings[0], &columns[0]), (writings[1], &columns[1])];
    let order = in_order(&columns, rows.len(), |row| rows[row as usize].to_vec());
    let changes = order
        .windows(2)
        .filter(|pair| rows[pair[0] as usize][1] != rows[pair[1] as usize][1]);
    // The two values stand in opposite halves of the plane, and the curve goes over and comes back.
    assert_eq!(changes.count(), 2);
}
