//! Figure 5 of JX09 (section 5.2): how the records are spread over nodes that are split by city and age.

use super::cities::{SITES, owners, six_cities};
use crate::frame::prelude::*;

pub(super) const FAMILY: Family = Family {
    figures: &[Figure {
        name: "jx09-fig5",
        paper: Paper::JX09,
        title: "Records of each node, split by city and age",
        claim: "Nodes that have a city and a band of ages each hold very different numbers of records, which are drawn on a logarithmic axis.",
        rule,
    }],
    measure,
};

const TITLE: &str = "records of each node";
const HELD: &str = "records";

fn measure(bench: &Bench<'_>) -> Result<Vec<Measured>, Error> {
    bench.steps(1);
    bench.step("split by city and age");
    let data = six_cities(bench)?;
    let mut held = vec![0u64; SITES];
    for site in owners(&data, SITES, bench.seed)? {
        held[site as usize] += 1;
    }
    // A logarithm has no place for a node without records.
    let bars = held.iter().enumerate().filter(|(_, count)| **count > 0);
    let bars = bars.map(|(site, count)| (site as f64, *count as f64));
    let empty = held.iter().filter(|count| **count == 0).count();
    let sentence = format!(
        "{} records of six cities at {SITES} nodes, of which {empty} hold none; the largest has {}, the smallest of the others {}.",
        hedgerow::words::thousands(data.rows() as u64),
        hedgerow::words::thousands(held.iter().copied().max().unwrap_or(0)),
        held.iter()
            .copied()
            .filter(|count| *count > 0)
            .min()
            .unwrap_or(0),
    );
    let panel = Panel::histogram(
        TITLE,
        Axis::new("node", ""),
        Axis::new("records", "").log(),
        1,
    )
    .with(Series::new(HELD, bars));
    Ok(vec![Measured::new(sentence, vec![panel]).on(&data)])
}

fn rule(measured: &Measured) -> Vec<Check> {
    let held = measured.curve(TITLE, HELD);
    let (least, most) = held.bounds();
    vec![
        Check::that(
            format!(
                "more than half of the {SITES} nodes hold records (found {})",
                held.points.len()
            ),
            held.points.len() > SITES / 2,
        )
        .must(),
        Check::that(
            format!(
                "the largest node holds 10 times as many records as the smallest that has any (found {most} and {least})"
            ),
            most >= 10.0 * least,
        )
        .or("values of workclass stand for cities, and none of them is far more frequent than the others in this table"),
    ]
}
