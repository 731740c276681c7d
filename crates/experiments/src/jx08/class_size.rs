//! Figures 5 and 6 of JX08 (section 6.1): average class size and discernibility as functions of k, for one
//! party with all records (central), for sites that anonymize alone (independent) and for the protocol
//! (distributed).

use hedgerow::words::thousands;
use hedgerow::{Losses, Options, Sites, simulate};

use super::{RECORDS, study};
use crate::frame::prelude::*;

pub(super) const FAMILY: Family = Family {
    figures: &[
        Figure {
            name: "jx08-fig5",
            paper: Paper::JX08,
            title: "Average class size as a function of k",
            claim: "The protocol gives classes as small as one party with all records; sites that anonymize alone give larger classes at every k.",
            rule,
        },
        Figure {
            name: "jx08-fig6",
            paper: Paper::JX08,
            title: "Discernibility as a function of k",
            claim: "The protocol is as good as one party with all records; sites that anonymize alone have a larger discernibility penalty at every k.",
            rule,
        },
    ],
    measure,
};

/// Section 6.1: three nodes, records dealt in turn.
const SITES: usize = 3;

/// Why sites alone may have smaller classes: halving ends between k and 2k wherever the sizes fall.
const HALVING: &str = "median items go to both sides, so cuts halve classes exactly and sizes are those of the table divided by powers of two: where n / 2^i is just below 2k for all records, n / 3 / 2^j may be just above k; the sites alone lose in the width of their ranges, which this measure does not see";

fn measure(bench: &Bench<'_>) -> Result<Vec<Measured>, Error> {
    let data = bench.data.adult()?.first(bench.pick(3_000, RECORDS));
    let all_k: &[u64] = bench.pick(&[5, 20, 50], &[5, 10, 20, 30, 40, 50, 100, 200]);
    bench.steps(all_k.len());
    let mut found: Vec<(f64, [Losses; 3])> = Vec::new();
    for k in all_k {
        bench.step(format!("k = {k}"));
        let study = study(&data, "jx08-fig5", *k)?;
        let options = Options::new().seed(bench.seed).independent();
        let sites = Sites::dealt(data.table(&study)?, SITES);
        let summary = simulate(&study, &sites, &options)?.outcome.summary;
        if let Some(beside) = summary.baselines {
            let ways = [beside.central, beside.each_alone.losses, beside.joint];
            found.push((*k as f64, ways));
        }
    }
    let sentence = format!(
        "{SITES} sites with {} records dealt in turn, Mondrian as JX08 prints it over 8 quasi-identifiers, k from {} to {}.",
        thousands(data.rows() as u64),
        all_k.first().unwrap_or(&0),
        all_k.last().unwrap_or(&0),
    );
    let figure = |title: &str, unit: &'static str, of: fn(&Losses) -> Option<f64>| {
        let curve = |way: usize| {
            let points = found.iter();
            points.filter_map(move |(k, losses)| Some((*k, of(&losses[way])?)))
        };
        let y = Axis::new(title, unit);
        let y = match unit {
            "records" => y.from_zero(),
            _ => y.log(),
        };
        let panel = Panel::lines(title, Axis::new("k", "records").from_zero(), y)
            .with(Series::new("central", curve(0)))
            .with(Series::new("independent", curve(1)))
            .with(Series::new("distributed", curve(2)));
        Measured::new(sentence.clone(), vec![panel]).on(&data)
    };
    Ok(vec![
        figure("average class size", "records", |losses| {
            losses.average_class_size
        }),
        figure("discernibility", "pairs of records", |losses| {
            losses.discernibility.map(|penalty| penalty as f64)
        }),
    ])
}

fn rule(measured: &Measured) -> Vec<Check> {
    let distributed = measured.first("distributed");
    vec![
        Check::equal(&distributed, &measured.first("central"), 0.0).must(),
        Check::below(&distributed, &measured.first("independent")).or(HALVING),
    ]
}
