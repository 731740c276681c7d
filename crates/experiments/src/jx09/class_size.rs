//! Figure 4 of JX09 (section 5.1): average class size as a function of k, for one party with all records
//! (central), for sites that anonymize alone (independent) and for the protocol (distributed).
//!
//! All three run Algorithm 1 as it is printed. Every class has a site behind it: with l = 1 equation 3 looks
//! at widths alone (section 4.2).

use hedgerow::{Options, Sites, simulate};

use super::cities::study;
use crate::data::QI8;
use crate::frame::prelude::*;
use crate::jx08::{HALVING, RECORDS};

pub(super) const FAMILY: Family = Family {
    figures: &[Figure {
        name: "jx09-fig4",
        paper: Paper::JX09,
        title: "Average class size as a function of k",
        claim: "The protocol gives the same classes as one party with all records; sites that anonymize alone give larger classes at every k.",
        rule,
    }],
    measure,
};

/// Section 5.1: three nodes, records dealt in turn.
const SITES: usize = 3;

fn measure(bench: &Bench<'_>) -> Result<Vec<Measured>, Error> {
    let adult = bench.data.adult()?.first(bench.pick(3_000, RECORDS));
    let all_k: &[u64] = bench.pick(&[5, 20, 50], &[5, 10, 20, 30, 40, 50, 100]);
    bench.steps(all_k.len());
    let (mut central, mut independent, mut distributed) = (Vec::new(), Vec::new(), Vec::new());
    for k in all_k {
        bench.step(format!("k = {k}"));
        let study = study(&adult, *k, 1, 1.0)?;
        let options = Options::new().seed(bench.seed).independent();
        let sites = Sites::dealt(adult.table(&study)?, SITES);
        let summary = simulate(&study, &sites, &options)?.outcome.summary;
        let add = |curve: &mut Vec<(f64, f64)>, size: Option<f64>| {
            if let Some(size) = size {
                curve.push((*k as f64, size));
            }
        };
        if let Some(baselines) = &summary.baselines {
            add(&mut central, baselines.central.average_class_size);
            add(&mut distributed, baselines.joint.average_class_size);
            add(
                &mut independent,
                baselines.each_alone.losses.average_class_size,
            );
        }
    }
    let sentence = format!(
        "{SITES} sites with {} records dealt in turn, Mondrian as JX09 prints it (published, median items on both sides, l = 1) over {} quasi-identifiers, k from {} to {}.",
        hedgerow::words::thousands(adult.rows() as u64),
        QI8.len(),
        all_k.first().unwrap_or(&0),
        all_k.last().unwrap_or(&0),
    );
    let panel = Panel::lines(
        "average class size",
        Axis::new("k", "records").from_zero(),
        Axis::new("average class size", "records").from_zero(),
    )
    .with(Series::new("central", central))
    .with(Series::new("independent", independent))
    .with(Series::new("distributed", distributed));
    Ok(vec![Measured::new(sentence, vec![panel]).on(&adult)])
}

fn rule(measured: &Measured) -> Vec<Check> {
    let distributed = measured.first("distributed");
    vec![
        Check::equal(&distributed, &measured.first("central"), 0.0).must(),
        Check::below(&distributed, &measured.first("independent")).or(HALVING),
    ]
}
