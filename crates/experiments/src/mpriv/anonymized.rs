//! Figures 9 to 12 of MPRIV (section V.C): what anonymization against colluding sites costs and loses,
//! provider-aware (Algorithm 2) and baseline (Mondrian that checks m-privacy of every part).
//!
//! As in the paper one party has all records and knows whose each is; the code is that of many sites. The
//! paper plots time; checks of coalitions decide here, since they are the same on every machine.

use std::time::Instant;

use hedgerow::words::thousands;
use hedgerow::{Options, QueryKind, Questions, anonymize, verify};

use super::{K, L, SENSITIVE, owners, study};
use crate::data::Dataset;
use crate::frame::prelude::*;
use crate::frame::rule::{Curve, short};

pub(super) const COLLUDERS: Family = Family {
    figures: &[Figure {
        name: "mpriv-fig9",
        paper: Paper::MPRIV,
        title: "Cost and query error of anonymization as functions of m",
        claim: "The provider-aware algorithm is much faster than the baseline, and its query error stays the same as m grows, while that of the baseline grows. Both cost most for m near half of the sites.",
        rule: of_colluders,
    }],
    measure: colluders,
};

pub(super) const RECORDS: Family = Family {
    figures: &[Figure {
        name: "mpriv-fig10",
        paper: Paper::MPRIV,
        title: "Cost and query error of anonymization as functions of the number of records",
        claim: "The time of both algorithms grows with the records, that of the baseline faster; the query errors of both are alike.",
        rule: of_size,
    }],
    measure: records,
};

pub(super) const ADAPTIVE: Family = Family {
    figures: &[Figure {
        name: "mpriv-fig11",
        paper: Paper::MPRIV,
        title: "Cost of anonymization with adaptive and with fixed verification",
        claim: "Adaptive verification is never the slowest; on few records it follows binary and then top-down, on more than 300 it outperforms both.",
        rule: of_adaptive,
    }],
    measure: adaptive,
};

pub(super) const CONSTRAINTS: Family = Family {
    figures: &[Figure {
        name: "mpriv-fig12",
        paper: Paper::MPRIV,
        title: "Cost and query error of anonymization as functions of k and l",
        claim: "The query error grows with k and, not always, with l; that of the provider-aware algorithm is never above that of the baseline.",
        rule: of_constraints,
    }],
    measure: constraints,
};

/// Sites (the paper's default is lost in print).
const SITES: usize = 10;
/// m where it does not vary.
const M: u64 = 3;
const AWARE: &str = "provider-aware";
const BASELINE: &str = "baseline (Mondrian)";
const BY_FITNESS: &str = "baseline by fitness";
const CHECKS: &str = "checks of coalitions";
const TIME: &str = "time";
const ERROR: &str = "query error";
const BY_K: &str = "by k: ";
const BY_L: &str = "by l: ";

/// The two algorithms, and the keys that make a study one of them.
/// The paper leaves open how its baseline chooses a cut: the widest attribute is Mondrian's own choice,
/// fitness that of Algorithm 2 without the cuts between sites. Widest cuts beside cuts between sites are
/// our own.
const WAYS: [(&str, &str); 4] = [
    (BASELINE, "name = \"mondrian\"\nchoose = \"width\""),
    (AWARE, "name = \"provider-aware\"\nchoose = \"fitness\""),
    (BY_FITNESS, "name = \"mondrian\"\nchoose = \"fitness\""),
    (
        "provider-aware by width (ours)",
        "name = \"provider-aware\"\nchoose = \"width\"",
    ),
];

/// What a run cost and lost.
#[derive(Debug, Clone, Copy)]
struct Cost {
    checks: f64,
    seconds: f64,
    error: f64,
}

/// What is demanded of every class.
#[derive(Debug, Clone, Copy)]
struct Demand {
    k: u64,
    l: u64,
    m: u64,
}

const DEFAULT: Demand = Demand { k: K, l: L, m: M };

/// Anonymizes these records at one party that knows whose each is.
fn anonymized(
    bench: &Bench<'_>,
    records: &Dataset,
    (keys, verification): (&str, &str),
    demand: Demand,
) -> Result<Cost, Error> {
    let Demand { k, l, m } = demand;
    let mut require = format!("k = {k}\nl = {l}");
    if m > 0 {
        require.push_str(&format!("\nm = {m}"));
    }
    let keys = format!(
        "{keys}\nrecode = \"range\"\nverification = \"{verification}\"\ncontributors = true"
    );
    let study = study(records, &require, &keys)?;
    let coded = records.coded(&study)?;
    let owners = owners(&coded, SITES, bench.seed)?;
    let named = records
        .clone()
        .with_column("site", owners.iter().map(u32::to_string));
    let options = Options::new().seed(bench.seed).provider_column("site");
    let table = named.table_with(&study, &["site"])?;
    let began = Instant::now();
    let outcome = anonymize(&study, &table, &options)?;
    let seconds = began.elapsed().as_secs_f64();
    let original = records.file(&study)?;
    let questions = Questions {
        original: Some(original.to_path_buf()),
        // Section V.C has 2,500.
        queries: bench.pick(500, 2_500),
        query_kind: QueryKind::Mpriv,
        ..Questions::default()
    };
    let verdict = verify(&outcome.release, &questions)?;
    let error = verdict.utility.and_then(|utility| utility.query_error);
    Ok(Cost {
        checks: outcome.summary.checks.unwrap_or(0) as f64,
        seconds,
        error: error.map_or(f64::NAN, |error| error.mean),
    })
}

/// The costs of both algorithms along an axis.
type Curves = Vec<(&'static str, Vec<(f64, Cost)>)>;

/// Runs both algorithms at each point.
fn both<'d>(
    bench: &Bench<'_>,
    x: &str,
    points: impl Iterator<Item = (u64, Dataset, Demand)> + Clone,
) -> Result<Curves, Error> {
    let run = |(name, keys): (&'static str, &'d str)| {
        let costs = points.clone().map(|(at, records, demand)| {
            bench.step(format!("{x} = {at}, {name}"));
            let cost = anonymized(bench, &records, (keys, "adaptive"), demand)?;
            Ok((at as f64, cost))
        });
        Ok((name, costs.collect::<Result<_, Error>>()?))
    };
    WAYS.into_iter().map(run).collect()
}

/// Panels of checks, time and query error.
fn panels(prefix: &str, x: &Axis, curves: &Curves) -> Vec<Panel> {
    let panel = |what: &str, y: Axis, of: fn(&Cost) -> f64| {
        let mut panel = Panel::lines(format!("{prefix}{what}"), x.clone(), y);
        for (name, costs) in curves {
            let points = costs.iter().map(|(x, cost)| (*x, of(cost)));
            panel = panel.with(Series::new(*name, points));
        }
        panel
    };
    vec![
        panel(CHECKS, Axis::new(CHECKS, "").log(), |cost| cost.checks),
        panel(TIME, Axis::new(TIME, "s").log(), |cost| cost.seconds),
        panel(
            ERROR,
            Axis::new("mean relative error", "").from_zero(),
            |cost| cost.error,
        ),
    ]
}

fn colluders(bench: &Bench<'_>) -> Result<Vec<Measured>, Error> {
    let records = bench
        .data
        .adult14()?
        .sample(bench.pick(2_000, usize::MAX), bench.seed);
    let all_m: &[u64] = bench.pick(&[1, 3, 5], &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    bench.steps(WAYS.len() * all_m.len());
    let points = all_m
        .iter()
        .map(|m| (*m, records.clone(), Demand { m: *m, ..DEFAULT }));
    let curves = both(bench, "m", points)?;
    let sentence = format!(
        "{} records of {SITES} sites of an exponential distribution, {SENSITIVE} sensitive, k = {K}, distinct l = {L}, m up to {}.",
        thousands(records.rows() as u64),
        all_m.last().unwrap_or(&0)
    );
    let panels = panels("", &Axis::new("m", "colluding sites"), &curves);
    Ok(vec![Measured::new(sentence, panels).on(&records)])
}

/// The points of a curve at which there are colluders.
fn with_colluders(measured: &Measured, panel: &str, series: &str) -> Curve {
    let mut curve = measured.curve(panel, series);
    curve.points.retain(|point| point.x >= 1.0);
    curve
}

fn of_colluders(measured: &Measured) -> Vec<Check> {
    let curve = |panel: &str, series: &str| with_colluders(measured, panel, series);
    let aware = curve(ERROR, AWARE);
    let (low, high) = aware.bounds();
    let checks = curve(CHECKS, BASELINE);
    let highest = checks.points.iter().max_by(|a, b| a.y.total_cmp(&b.y));
    let highest = highest.map_or(f64::NAN, |point| point.x);
    let mut all = Vec::new();
    for baseline in [BASELINE, BY_FITNESS] {
        let total = |curve: Curve| curve.points.iter().map(|point| point.y).sum::<f64>();
        let (own, other) = (total(curve(CHECKS, AWARE)), total(curve(CHECKS, baseline)));
        let words = format!(
            "{AWARE} needs fewer checks than {baseline} over all m ({} and {})",
            short(own),
            short(other)
        );
        all.push(Check::that(words, own < other).or(more_checks(baseline)));
        let error = curve(ERROR, baseline);
        all.push(named(Check::rises(&error, 0.05), ERROR).must_at_full());
        all.push(named(Check::not_above(&aware, &error), ERROR).or(more_error(baseline)));
    }
    all.push(
        Check::that(
            format!(
                "the query error of {AWARE} stays within a tenth for every m ({} to {})",
                short(low),
                short(high)
            ),
            high <= low * 1.1,
        )
        .or(EVEN_CUTS),
    );
    all.push(
        Check::that(
            format!(
                "{BASELINE} needs the most checks for m near half of the sites (at m = {highest})"
            ),
            (highest - SITES as f64 / 2.0).abs() <= 2.0,
        )
        .or("sites of an exponential distribution are unlike, and the larger m is the sooner a coalition with the largest site refuses a cut"),
    );
    all
}

/// Why a baseline needs fewer checks.
fn more_checks(baseline: &str) -> &'static str {
    match baseline {
        BY_FITNESS => {
            "cuts between sites leave classes that go on being cut where the baseline stops, and every part is verified; that is paid back only where classes are large or m is"
        }
        _ => MORE_CUTS,
    }
}

/// Why a baseline errs less.
fn more_error(baseline: &str) -> &'static str {
    match baseline {
        BY_FITNESS => {
            "a cut between sites leaves ranges as they are, so that classes of different sites lie over each other; with few colluders a cut in an attribute would have been allowed in its place"
        }
        _ => EVEN_CUTS,
    }
}

const MORE_CUTS: &str = "Mondrian stops at the first cut that is allowed, the widest, where Algorithm 2 verifies every candidate; the paper's own words (one more candidate at each step) suggest a baseline that verifies them all, as the one by fitness does";
const EVEN_CUTS: &str = "fitness prefers the evenest cut whatever attribute it is in, so that attributes of few values are hardly ever cut, and the widest attribute, which Mondrian takes, loses less until m is large";

/// Says of what two curves a check speaks.
fn named(mut check: Check, what: &str) -> Check {
    check.words = format!("{what}: {}", check.words);
    check
}

fn records(bench: &Bench<'_>) -> Result<Vec<Measured>, Error> {
    let all = bench.data.adult14()?;
    let sizes: &[usize] = bench.pick(
        &[500, 1_000, 2_000],
        &[1_000, 2_500, 5_000, 10_000, 20_000, 45_222],
    );
    bench.steps(WAYS.len() * sizes.len());
    let points = sizes.iter().map(|size| {
        let drawn = all.sample(*size, bench.seed);
        (drawn.rows() as u64, drawn, DEFAULT)
    });
    let curves = both(bench, "records", points)?;
    let sentence = format!(
        "{} to {} records of {SITES} sites of an exponential distribution, k = {K}, distinct l = {L}, m = {M}.",
        thousands(sizes.first().map_or(0, |size| *size as u64)),
        thousands(sizes.last().map_or(0, |size| *size as u64)),
    );
    let panels = panels("", &Axis::new("records", "").log(), &curves);
    Ok(vec![Measured::new(sentence, panels).on(all)])
}

fn of_size(measured: &Measured) -> Vec<Check> {
    let curve = |panel: &str, series: &str| measured.curve(panel, series);
    let aware = curve(CHECKS, AWARE);
    let growth = |curve: &Curve| {
        let ends = curve.points.first().zip(curve.points.last());
        ends.map_or(f64::NAN, |(first, last)| last.y / first.y.max(1.0))
    };
    let rises = named(Check::rises(&aware, 0.0), CHECKS);
    let mut all = vec![rises.or(
        "once a class is cut between sites, its parts have few sites and need hardly any checks: whether that happens early turns on which cut is the evenest",
    )];
    for name in [BASELINE, BY_FITNESS] {
        let baseline = curve(CHECKS, name);
        let (own, other) = (growth(&aware), growth(&baseline));
        all.push(named(Check::rises(&baseline, 0.0), CHECKS).must());
        let words = format!(
            "the checks of {name} grow faster than those of {AWARE} ({}-fold and {}-fold)",
            short(other),
            short(own)
        );
        all.push(Check::that(words, other > own).or(more_checks(name)));
        all.push(named(Check::below(&aware, &baseline), CHECKS).or(more_checks(name)));
        let errors = curve(ERROR, AWARE).points.into_iter();
        let errors = errors.zip(curve(ERROR, name).points);
        let most = errors
            .map(|(own, other)| own.y / other.y)
            .fold(f64::NAN, f64::max);
        let words = format!(
            "the query error of {AWARE} is at most 1.25 times that of {name} ({} times)",
            short(most)
        );
        all.push(Check::that(words, most <= 1.25).or(more_error(name)));
    }
    all
}

fn adaptive(bench: &Bench<'_>) -> Result<Vec<Measured>, Error> {
    let all = bench.data.adult14()?;
    let sizes: &[usize] = bench.pick(
        &[150, 600, 2_000],
        &[150, 300, 1_000, 3_000, 10_000, 45_222],
    );
    let strategies = ["adaptive", "binary", "top-down"];
    bench.steps(strategies.len() * sizes.len());
    let x = || Axis::new("records", "").log();
    let mut checks = Panel::lines(CHECKS, x(), Axis::new(CHECKS, "").log());
    let mut time = Panel::lines(TIME, x(), Axis::new(TIME, "s").log());
    for strategy in strategies {
        let (mut of_checks, mut of_time) = (Vec::new(), Vec::new());
        for size in sizes {
            bench.step(format!("{size} records, {strategy}"));
            let drawn = all.sample(*size, bench.seed);
            let cost = anonymized(bench, &drawn, (WAYS[1].1, strategy), DEFAULT)?;
            of_checks.push((drawn.rows() as f64, cost.checks));
            of_time.push((drawn.rows() as f64, cost.seconds));
        }
        checks = checks.with(Series::new(strategy, of_checks));
        time = time.with(Series::new(strategy, of_time));
    }
    let sentence = format!(
        "{AWARE} anonymization of {} to {} records of {SITES} sites, k = {K}, distinct l = {L}, m = {M}.",
        thousands(sizes.first().map_or(0, |size| *size as u64)),
        thousands(sizes.last().map_or(0, |size| *size as u64)),
    );
    Ok(vec![Measured::new(sentence, vec![checks, time]).on(all)])
}

fn of_adaptive(measured: &Measured) -> Vec<Check> {
    let [adaptive, binary, top_down] =
        ["adaptive", "binary", "top-down"].map(|name| measured.curve(CHECKS, name));
    let fixed = |x: f64| binary.at(x).zip(top_down.at(x));
    let points = adaptive.points.iter();
    let slowest = points.clone().filter(|point| {
        fixed(point.x).is_none_or(|(binary, top_down)| point.y > binary.max(top_down))
    });
    let (slowest, all) = (slowest.count(), adaptive.points.len());
    let many = points.filter(|point| point.x > 300.0);
    let many: Vec<_> = many.collect();
    let best = many.iter().filter(|point| {
        fixed(point.x).is_some_and(|(binary, top_down)| point.y <= binary.min(top_down))
    });
    let best = best.count();
    vec![
        Check::that(
            format!("adaptive never needs more checks than both others ({slowest} of {all} points)"),
            all > 0 && slowest == 0,
        )
        .must(),
        Check::that(
            format!("with more than 300 records adaptive needs no more checks than either ({best} of {} points)", many.len()),
            !many.is_empty() && best == many.len(),
        )
        .or("counts of sites are hidden from a run, so the border of 0.85 is applied to an average that has no part of diversity, and some groups go to the dearer strategy"),
    ]
}

fn constraints(bench: &Bench<'_>) -> Result<Vec<Measured>, Error> {
    let records = bench
        .data
        .adult14()?
        .sample(bench.pick(2_000, usize::MAX), bench.seed);
    let all_k: &[u64] = bench.pick(&[5, 15, 50], &[5, 10, 15, 25, 50, 100]);
    let all_l: &[u64] = bench.pick(&[2, 4, 6], &[2, 3, 4, 5, 6, 8]);
    bench.steps(WAYS.len() * (all_k.len() + all_l.len()));
    let of_k = all_k
        .iter()
        .map(|k| (*k, records.clone(), Demand { k: *k, ..DEFAULT }));
    let of_k = both(bench, "k", of_k)?;
    let of_l = all_l
        .iter()
        .map(|l| (*l, records.clone(), Demand { l: *l, ..DEFAULT }));
    let of_l = both(bench, "l", of_l)?;
    let mut plots = panels(BY_K, &Axis::new("k", "records").log(), &of_k);
    plots.extend(panels(BY_L, &Axis::new("l", "distinct values"), &of_l));
    let sentence = format!(
        "{} records of {SITES} sites of an exponential distribution, m = {M}; k from {} to {} with l = {L}, and l from {} to {} with k = {K}.",
        thousands(records.rows() as u64),
        all_k.first().unwrap_or(&0),
        all_k.last().unwrap_or(&0),
        all_l.first().unwrap_or(&0),
        all_l.last().unwrap_or(&0),
    );
    Ok(vec![Measured::new(sentence, plots).on(&records)])
}

fn of_constraints(measured: &Measured) -> Vec<Check> {
    let mut checks = Vec::new();
    for by in [BY_K, BY_L] {
        let panel = format!("{by}{ERROR}");
        let aware = measured.curve(&panel, AWARE);
        for baseline in [BASELINE, BY_FITNESS] {
            let not_above = Check::not_above(&aware, &measured.curve(&panel, baseline));
            checks.push(named(not_above, &panel).or(more_error(baseline)));
        }
        for name in [AWARE, BASELINE] {
            let rises = named(Check::rises(&measured.curve(&panel, name), 0.05), &panel);
            checks.push(match by {
                BY_K => rises.must_at_full(),
                // The paper itself finds the trend with l not to be monotone.
                _ => rises.or("which cuts l forbids depends on how sensitive values are spread, as the paper says of its own curve"),
            });
        }
    }
    checks
}
