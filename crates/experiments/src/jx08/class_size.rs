//! Figures 5 and 6 of JX08 (section 6.1): average class size and discernibility as functions of k, for one
//! party with all records (central), for sites that anonymize alone (independent) and for the protocol
//! (distributed).

use hedgerow::words::{percent, thousands};
use hedgerow::{Losses, Options, Sites, simulate};

use super::{PRINTED, RECORDS, study};
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

/// Why sites alone may have smaller classes.
pub(crate) const HALVING: &str = "a class ends with k to 2k records whoever cuts it: median items go to both sides, so sizes are the table divided by powers of two, and where n / 2^i stays just below 2k for all records, n / 3 / 2^j may be just above k. What sites lose alone is the width of their classes, which this measure does not see";

/// The panels: where median items go, in a study and in words.
const PANELS: [(&str, &str); 2] = [
    (PRINTED, "median items on both sides, as printed"),
    ("strict", "median items on one side"),
];

/// Central, independent and distributed at each k.
type Found = Vec<(f64, [Losses; 3])>;

fn measure(bench: &Bench<'_>) -> Result<Vec<Measured>, Error> {
    let data = bench.data.adult()?.first(bench.pick(3_000, RECORDS));
    let all_k: &[u64] = bench.pick(&[5, 20, 50], &[5, 10, 20, 30, 40, 50, 100, 200]);
    bench.steps(PANELS.len() * all_k.len());
    let mut panels: Vec<(&str, Found)> = Vec::new();
    for (medians, words) in PANELS {
        let mut found = Found::new();
        for k in all_k {
            bench.step(format!("k = {k}, {words}"));
            let study = study(&data, "jx08-fig5", *k, medians)?;
            let options = Options::new().seed(bench.seed).independent();
            let sites = Sites::dealt(data.table(&study)?, SITES);
            let summary = simulate(&study, &sites, &options)?.outcome.summary;
            if let Some(beside) = summary.baselines {
                let ways = [beside.central, beside.each_alone.losses, beside.joint];
                found.push((*k as f64, ways));
            }
        }
        panels.push((words, found));
    }
    let sentence = format!(
        "{SITES} sites with {} records dealt in turn, Mondrian as JX08 prints it over 8 quasi-identifiers, k from {} to {}; beside it the same with all median items on one side. {}",
        thousands(data.rows() as u64),
        all_k.first().unwrap_or(&0),
        all_k.last().unwrap_or(&0),
        widths(&panels),
    );
    let figure = |y: &Axis, of: fn(&Losses) -> Option<f64>| {
        let panels = panels.iter().map(|(words, found)| {
            let curve = |way: usize| {
                let points = found.iter();
                points.filter_map(move |(k, losses)| Some((*k, of(&losses[way])?)))
            };
            Panel::lines(*words, Axis::new("k", "records").from_zero(), y.clone())
                .with(Series::new("central", curve(0)))
                .with(Series::new("independent", curve(1)))
                .with(Series::new("distributed", curve(2)))
        });
        Measured::new(sentence.clone(), panels.collect()).on(&data)
    };
    Ok(vec![
        figure(
            &Axis::new("average class size", "records").from_zero(),
            |losses| losses.average_class_size,
        ),
        figure(&Axis::new("discernibility", "").log(), |losses| {
            losses.discernibility.map(|penalty| penalty as f64)
        }),
    ])
}

/// What class sizes do not see: how wide the classes are.
fn widths(panels: &[(&str, Found)]) -> String {
    let printed = panels.first().and_then(|(_, found)| found.get(1));
    printed.map_or_else(String::new, |(k, [_, independent, distributed])| {
        format!(
            "Loss (NCP) at k = {k}: distributed {}, independent {}.",
            percent(distributed.ncp_present),
            percent(independent.ncp_present)
        )
    })
}

fn rule(measured: &Measured) -> Vec<Check> {
    let curve = |panel: &str, series: &str| measured.curve(panel, series);
    let mut checks: Vec<Check> = PANELS
        .iter()
        .map(|(_, panel)| {
            let (distributed, central) = (curve(panel, "distributed"), curve(panel, "central"));
            Check::equal(&distributed, &central, 0.0).of(panel).must()
        })
        .collect();
    let printed = PANELS[0].1;
    let below = Check::below(
        &curve(printed, "distributed"),
        &curve(printed, "independent"),
    );
    checks.push(below.of(printed).or(HALVING));
    checks
}
