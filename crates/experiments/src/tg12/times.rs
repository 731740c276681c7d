//! Figures 5 and 6 of TG12 (section 9.2.1): run time and number of iterations L of sequential clustering by
//! one party, as functions of n and k. Records are drawn at random; the same runs give both figures.
//!
//! The paper's runs took a computer of 2006 about 150 seconds for 40,000 records of Adult at k = 100. Times
//! are drawn and decide little: the rule of Figure 5 counts how often records were looked at, n times L.

use std::time::Instant;

use hedgerow::words::thousands;
use hedgerow_protocols::clustering::Ended;

use super::Source;
use super::runs::{Coded, iterations, iterations_to};
use crate::frame::prelude::*;

pub(super) const FAMILY: Family = Family {
    figures: &[
        Figure {
            name: "tg12-fig5",
            paper: Paper::TG12,
            title: "Run time of sequential clustering as a function of n and k",
            claim: "Sequential clustering is efficient: about 150 s for 40,000 records of Adult at k = 100 on a computer of 2006, with every record looked at a small number of times.",
            rule: time_rule,
        },
        Figure {
            name: "tg12-fig6",
            paper: Paper::TG12,
            title: "Number of iterations L of sequential clustering as a function of n and k",
            claim: "L is a small constant, always between 6 and 10, and depends on neither n nor k in a monotone way.",
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
        if source.name == "Adult" && !bench.is_quick {
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
        "One party with up to {} records of Adult and {} of the census drawn at random, loss LM, iterations {ended}.",
        thousands(sizes[0].last().copied().unwrap_or(0) as u64),
        thousands(sizes[1].last().copied().unwrap_or(0) as u64),
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
            let check = Check::rises(&measured.curve(&panel.title, &series.name), 0.0);
            let words = format!("{}: {}", panel.title, check.words);
            checks.push(Check { words, ..check }.or(MORE_ITERATIONS));
        }
        let paper = measured
            .curve(&panel.title, PAPER_SERIES)
            .at(PAPER_SECONDS.0);
        let ours = measured.curve(&panel.title, "k = 100").at(PAPER_SECONDS.0);
        if let (Some(paper), Some(ours)) = (paper, ours) {
            let words = format!(
                "40,000 records of Adult at k = 100 take no longer than the paper's {paper} s (found {ours:.1} s)"
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
            let check = Check::between(&curve, LEAST, GREATEST);
            let words = format!("{}: {}", panel.title, check.words);
            checks.push(Check { words, ..check }.or(MORE_ITERATIONS));
        }
    }
    checks
}
