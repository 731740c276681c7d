//! Figures 3 and 4 of TG12 (section 9.1): LM and EM of sequential clustering, of Mondrian and of the Hilbert
//! curve as functions of k, for one party with all records.
//!
//! All classes are written as the nodes over their values. Sequential clustering and the cuts of the
//! Hilbert curve keep the loss small that the panel shows; Mondrian knows no loss, and distributes median
//! items to both sides as JX08 and JX09 print it. Attributes are scaled to
//! the same range for the Hilbert curve, as the paper says.

use hedgerow::words::thousands;
use hedgerow_protocols::clustering::Loss;

use super::Source;
use super::runs::{Coded, classes};
use crate::frame::prelude::*;

pub(super) const ADULT: Family = Family {
    figures: &[Figure {
        name: "tg12-fig3",
        paper: Paper::TG12,
        title: "Information loss on Adult: LM and EM as functions of k",
        claim: "Sequential clustering loses less than Mondrian and than the Hilbert curve at every k, by LM and by EM.",
        rule,
    }],
    measure: |bench| measure(bench, Source::adult(bench)?),
};

pub(super) const CENSUS: Family = Family {
    figures: &[Figure {
        name: "tg12-fig4",
        paper: Paper::TG12,
        title: "Information loss on the census: LM and EM as functions of k",
        claim: "Sequential clustering loses less than Mondrian and than the Hilbert curve at every k, by LM and by EM.",
        rule,
    }],
    measure: |bench| measure(bench, Source::census(bench)?),
};

const SEQUENTIAL: &str = "sequential";
const MONDRIAN: &str = "Mondrian";
const HILBERT: &str = "Hilbert";

/// The measures: the panel, the word in a study, the loss, the unit.
const MEASURES: [(&str, &str, Loss, &str); 2] = [
    ("LM", "lm", Loss::Lm, "share"),
    ("EM", "em", Loss::Em, "bits"),
];

fn measure(bench: &Bench<'_>, mut source: Source) -> Result<Vec<Measured>, Error> {
    source.data = source.data.first(bench.pick(1_500, usize::MAX));
    let all_k: &[u64] = bench.pick(&[5, 20], &[10, 25, 50, 75, 100]);
    bench.steps(all_k.len() * MEASURES.len());
    let mut panels = Vec::new();
    for (title, word, loss, unit) in MEASURES {
        let mut curves: [Vec<(f64, f64)>; 3] = Default::default();
        for k in all_k {
            bench.step(format!("{title}, k = {k}"));
            let coded = Coded::new(&source, *k, word)?;
            let found = [
                classes(&coded.sequential(1, bench.seed)?),
                Coded::with(&source, *k, "name = \"mondrian\"")?.mondrian()?,
                coded.hilbert(loss)?,
            ];
            for (curve, classes) in curves.iter_mut().zip(&found) {
                let (lm, em) = coded.losses(classes);
                let lost = match loss {
                    Loss::Em => em,
                    _ => lm,
                };
                curve.push((*k as f64, lost));
            }
        }
        let [sequential, mondrian, hilbert] = curves;
        panels.push(
            Panel::lines(
                title,
                Axis::new("k", "records").from_zero(),
                Axis::new(format!("information loss, {title}"), unit).from_zero(),
            )
            .with(Series::new(SEQUENTIAL, sequential))
            .with(Series::new(MONDRIAN, mondrian))
            .with(Series::new(HILBERT, hilbert)),
        );
    }
    let sentence = format!(
        "One party with {} records and {} quasi-identifiers written as nodes, k from {} to {}; Mondrian distributes median items to both sides.",
        thousands(source.data.rows() as u64),
        source.columns.len(),
        all_k.first().unwrap_or(&0),
        all_k.last().unwrap_or(&0),
    );
    Ok(vec![Measured::new(sentence, panels).on(&source.data)])
}

/// At full size the order must hold.
const FEW_RECORDS: &str = "so few records leave a cluster few others to exchange records with, and the random start weighs more";

fn rule(measured: &Measured) -> Vec<Check> {
    let of_panel = |panel: &str| {
        let curve = |name: &str| measured.curve(panel, name);
        [MONDRIAN, HILBERT].map(|other| {
            let below = Check::below(&curve(SEQUENTIAL), &curve(other)).of(panel);
            below.must_at_full().or(FEW_RECORDS)
        })
    };
    MEASURES
        .iter()
        .flat_map(|(panel, ..)| of_panel(panel))
        .collect()
}
