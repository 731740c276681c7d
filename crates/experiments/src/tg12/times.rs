//! Figures 5 and 6 of TG12 (section 9.2.1): run time and number of iterations L of sequential clustering by
//! one party, as functions of n and k. Records are drawn at random; the same runs give both figures.
//!
//! The paper's runs took a computer of 2006 about 150 seconds for 40,000 records of Adult at k = 100. Times
//! are drawn and decide little: the rule of Figure 5 counts how often records were looked at, n times L. That
//! L does not depend on n or k in a monotone way, as the paper adds, so few points cannot decide.

use std::time::Instant;

use hedgerow::words::thousands;
use hedgerow_protocols::clustering::Ended;

use super::Source;
use super::runs::{Coded, iterations, iterations_to};
use crate::frame::prelude::*;
use crate::frame::rule::short;

pub(super) const FAMILY: Family = Family {
    figures: &[
        Figure {
            name: "tg12-fig5",
            paper: Paper::TG12,
            title: "Run time of sequential clustering as a function of n and k",
            claim: "Sequential clustering is efficient: about 150 s for 40,000 records of Adult at k = 100 on a computer of 2006, with every record looked at a small number of times (L of figure 6, 10 at most).",
            rule: time_rule,
        },
        Figure {
            name: "tg12-fig6",
            paper: Paper::TG12,
            title: "Number of iterations L of sequential clustering as a function of n and k",
            claim: "L is a small constant, always between 6 and 10.",
            rule: iterations_rule,
        },
    ],
    measure,
};

/// The paper's least and greatest L (section 9.2.1).
const LEAST: f64 = 6.0;
const GREATEST: f64 = 10.0;

const LOOKED_AT: &str = ", records looked at";
const PAPER_SERIES: &str = "TG12, k = 100";

/// What the paper reads off its Figure 5: records, seconds.
const PAPER_SECONDS: (f64, f64) = (40_000.0, 150.0);

/// How near to its last value the loss is where the later iterations hardly matter.
const NEAR_END: f64 = 0.01;

const MORE_ITERATIONS: &str = "iterations go on until no record moves, as Algorithm 3 prints it, and the last of them gain hardly anything: the figure also shows after how many the loss is within 1 % of its last value. The paper does not print its taxonomies or its precision; costs here are exact to 2^-20 of a cell, so that the smallest gain still moves a record";

const FEWER_ITERATIONS: &str = "iterations end as soon as no record moves, as Algorithm 3 prints it, which is the sooner the fewer records there are and the coarser their taxonomies; the paper does not print its taxonomies";

/// Why L, from the least to the greatest found, is not what the paper says.
fn reason((least, greatest): (f64, f64)) -> String {
    let mut reasons = Vec::new();
    if least < LEAST {
        reasons.push(FEWER_ITERATIONS);
    }
    if greatest > GREATEST || reasons.is_empty() {
        reasons.push(MORE_ITERATIONS);
    }
    reasons.join("; ")
}

fn measure(bench: &Bench<'_>) -> Result<Vec<Measured>, Error> {
    let all_k: &[u64] = bench.pick(&[20, 50], &[50, 100]);
    let mut sources = [Source::adult(bench)?, Source::census(bench)?];
    let sizes: [&[usize]; 2] = [
        bench.pick(&[500, 1_000], &[10_000, 20_000, 30_000, 40_000]),
        bench.pick(&[500, 1_000], &[25_000, 50_000, 75_000, 100_000]),
    ];
    bench.steps(all_k.len() * sizes.iter().map(|sizes| sizes.len()).sum::<usize>());
    let (mut times, mut counts) = (Vec::new(), Vec::new());
    let mut circling = 0;
    for (source, sizes) in sources.iter_mut().zip(sizes) {
        let axis = || Axis::new("records n", "").from_zero();
        let seconds = Axis::new("run time", "s").from_zero();
        let mut time = Panel::lines(source.name, axis(), seconds);
        let of_counts = Axis::new("iterations L", "").from_zero();
        let mut count = Panel::lines(source.name, axis(), of_counts);
        let looked_at = Axis::new("records looked at, n L", "").from_zero();
        let title = format!("{}{LOOKED_AT}", source.name);
        let mut looks = Panel::lines(title, axis(), looked_at);
        let all = source.data.clone();
        for k in all_k {
            let (mut of_time, mut of_count) = (Vec::new(), Vec::new());
            let (mut of_looks, mut near) = (Vec::new(), Vec::new());
            for records in sizes {
                bench.step(format!("{}, n = {records}, k = {k}", source.name));
                source.data = all.sample(*records, bench.seed);
                let coded = Coded::new(source, *k, "lm")?;
                let begun = Instant::now();
                let found = coded.sequential(1, bench.seed)?;
                let x = source.data.rows() as f64;
                of_time.push((x, begun.elapsed().as_secs_f64()));
                let taken = iterations(&found) as f64;
                of_count.push((x, taken));
                of_looks.push((x, x * taken));
                near.push((x, iterations_to(&found, NEAR_END) as f64));
                circling += usize::from(found.ended == Ended::Circling);
            }
            time = time.with(Series::new(format!("k = {k}"), of_time));
            count = count.with(Series::new(format!("k = {k}"), of_count));
            count = count.with(Series::new(format!("k = {k}, to 1 % of the end"), near));
            looks = looks.with(Series::new(format!("k = {k}"), of_looks));
        }
        if source.is_adult && !bench.is_quick {
            time = time.with(Series::paper(PAPER_SERIES, [PAPER_SECONDS]));
        }
        times.extend([time, looks]);
        counts.push(count);
    }
    let ended = match circling {
        0 => String::from("until no record moved"),
        some => format!("until no record moved or, in {some} runs, the loss no longer fell"),
    };
    let sentence = format!(
        "One party with up to {} records ({}) and {} ({}) drawn at random, loss LM, iterations {ended}.",
        thousands(sources[0].data.rows() as u64),
        sources[0].name,
        thousands(sources[1].data.rows() as u64),
        sources[1].name,
    );
    let figure = |panels: Vec<Panel>| {
        let measured = Measured::new(sentence.clone(), panels);
        sources
            .iter()
            .fold(measured, |measured, source| measured.on(&source.data))
    };
    Ok(vec![figure(times), figure(counts)])
}

fn time_rule(measured: &Measured) -> Vec<Check> {
    let mut checks = Vec::new();
    for panel in &measured.panels {
        let of_counts = panel.title.ends_with(LOOKED_AT);
        for series in panel.series.iter().filter(|_| of_counts) {
            let looks = measured.curve(&panel.title, &series.name);
            let each = looks.points.iter().map(|point| point.y / point.x);
            let (least, most) = (
                each.clone().fold(f64::NAN, f64::min),
                each.fold(f64::NAN, f64::max),
            );
            let words = format!(
                "{}, {}: every record is looked at {GREATEST} times at most (found {} to {})",
                panel.title,
                series.name,
                short(least),
                short(most)
            );
            checks.push(Check::that(words, most <= GREATEST).or(MORE_ITERATIONS));
        }
        let paper = measured
            .curve(&panel.title, PAPER_SERIES)
            .at(PAPER_SECONDS.0);
        let ours = measured.curve(&panel.title, "k = 100").at(PAPER_SECONDS.0);
        if let (Some(paper), Some(ours)) = (paper, ours) {
            let words = format!(
                "{}: 40,000 records at k = 100 take no longer than the paper's {paper} s (found {ours:.1} s)",
                panel.title
            );
            checks.push(Check::that(words, ours <= paper).or("a slow or loaded machine"));
        }
    }
    checks
}

fn iterations_rule(measured: &Measured) -> Vec<Check> {
    let mut checks = Vec::new();
    for panel in &measured.panels {
        for series in panel
            .series
            .iter()
            .filter(|series| !series.name.contains(','))
        {
            let curve = measured.curve(&panel.title, &series.name);
            let check = Check::between(&curve, LEAST, GREATEST).of(&panel.title);
            checks.push(check.or(reason(curve.bounds())));
        }
    }
    checks
}
