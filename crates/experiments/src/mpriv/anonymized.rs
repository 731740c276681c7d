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
        claim: "The query error grows with k, and over l it is not monotone; that of the provider-aware algorithm is never above that of the baseline.",
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
const BY_WIDTH: &str = "provider-aware by width (ours)";
const CHECKS: &str = "checks of coalitions";
const TIME: &str = "time";
const ERROR: &str = "query error";
const BY_K: &str = "by k: ";
const BY_L: &str = "by l: ";

/// The two algorithms, and the keys that make a study one of them. The paper leaves open how its baseline chooses a cut: the widest attribute is Mondrian's own choice,
/// fitness that of Algorithm 2 without the cuts between sites. Widest cuts beside cuts between sites are
/// our own.
const WAYS: [(&str, &str); 4] = [
    (BASELINE, "name = \"mondrian\"\nchoose = \"width\""),
    (AWARE, "name = \"provider-aware\"\nchoose = \"fitness\""),
    (BY_FITNESS, "name = \"mondrian\"\nchoose = \"fitness\""),
    (BY_WIDTH, "name = \"provider-aware\"\nchoose = \"width\""),
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
    let mut of_colluders = String::new();
    if m > 0 {
        require.push_str(&format!("\nm = {m}"));
        of_colluders = format!("verification = \"{verification}\"\ncontributors = true");
    }
    // The paper says neither where median items go nor from which ranges widths are taken: the same for all.
    let keys = format!(
        "{keys}\nmedians = \"strict\"\nwidths = \"box\"\nrecode = \"range\"\n{of_colluders}"
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
        original: Some(original.to_path_buf().into()),
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
fn both(
    bench: &Bench<'_>,
    x: &str,
    points: impl Iterator<Item = (u64, Dataset, Demand)> + Clone,
) -> Result<Curves, Error> {
    let run = |(name, keys): (&'static str, &str)| {
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
        "{} records of {SITES} sites of an exponential distribution, {SENSITIVE} sensitive, k = {K}, distinct l = {L}, m up to {}.{}",
        thousands(records.rows() as u64),
        all_m.last().unwrap_or(&0),
        match all_m.contains(&0) {
            true =>
                " Without colluders (m = 0) nothing is checked, which has no place on the logarithmic axis of checks.",
            false => "",
        }
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
        all.push(Check::rises(&error, 0.05).of(ERROR).or(EARLY_CUTS));
        let not_above = Check::not_above(&aware, &error).of(ERROR);
        all.push(not_above.or(more_error(measured, ERROR, baseline)));
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
        .or(not_flat(&aware)),
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

const EARLY_CUTS: &str = "a cut more or less in another attribute changes the error of random queries by more than one colluder does";

/// Why the baseline needs fewer checks.
fn more_checks(baseline: &str) -> &'static str {
    match baseline {
        BY_FITNESS => {
            "cuts between sites leave classes that go on being cut where the baseline stops, and every part is verified; that is paid back only where classes are large or m is"
        }
        _ => MORE_CUTS,
    }
}

const MORE_CUTS: &str = "Mondrian stops at the first cut that is allowed, the widest, where Algorithm 2 verifies every candidate; the paper's own words (one more candidate at each step) suggest a baseline that verifies them all, as the one by fitness does";

/// Why the provider-aware algorithm errs more than a baseline: how much of its error comes of fitness, of
/// cuts between sites, and of both together, by the curves of a panel.
fn more_error(measured: &Measured, panel: &str, baseline: &str) -> String {
    let curve = |name: &str| with_colluders(measured, panel, name);
    let mondrian = curve(BASELINE);
    let beside = |name: &str| curve(name).mean_ratio(&mondrian);
    let (fitness, between, together) = (beside(BY_FITNESS), beside(BY_WIDTH), beside(AWARE));
    let found = format!(
        "the error of Mondrian becomes {}-fold where fitness chooses cuts, {}-fold with cuts between sites, and {}-fold with both (means of the figure's curves)",
        short(fitness),
        short(between),
        short(together)
    );
    let why = if baseline == BY_FITNESS {
        "a cut between sites leaves every range as wide as it was, and fitness takes it wherever it is the evenest"
    } else if together > MUCH * fitness.max(between) {
        "so it is the two together: fitness takes the cut whose weaker part is the fittest, which is the evenest, and a cut between sites is made where it halves the records, so that it is taken before cuts in attributes and leaves every range as wide as it was"
    } else if fitness >= between {
        "so it is fitness: it takes the evenest cut, whichever attribute that is in, where Mondrian takes the widest"
    } else {
        "so it is the cuts between sites: they leave every range as wide as it was"
    };
    format!("{found}; {why}")
}

/// By how much two things together must do more than either, to be named together.
const MUCH: f64 = 1.1;

/// Why the error of the provider-aware algorithm is not the same for every m.
fn not_flat(aware: &Curve) -> String {
    let ends = aware.points.first().zip(aware.points.last());
    let trend = match ends {
        Some((first, last)) if last.y > first.y => "rises",
        Some((first, last)) if last.y < first.y => "falls",
        _ => "changes",
    };
    format!(
        "the error {trend} from the fewest to the most colluders: the paper counts on classes that end with the records of one site, for which m does not matter, but a cut between sites is only made where it is allowed and the fittest, and both turn on m"
    )
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
    let drawn = all.sample(sizes.last().copied().unwrap_or(0), bench.seed);
    Ok(vec![Measured::new(sentence, panels).on(&drawn)])
}

fn of_size(measured: &Measured) -> Vec<Check> {
    let curve = |panel: &str, series: &str| measured.curve(panel, series);
    let aware = curve(CHECKS, AWARE);
    let growth = |curve: &Curve| {
        let ends = curve.points.first().zip(curve.points.last());
        ends.map_or(f64::NAN, |(first, last)| last.y / first.y.max(1.0))
    };
    let rises = Check::rises(&aware, 0.0).of(CHECKS);
    let mut all = vec![rises.or(
        "once a class is cut between sites, its parts have few sites and need hardly any checks: whether that happens early turns on which cut is the evenest",
    )];
    for name in [BASELINE, BY_FITNESS] {
        let baseline = curve(CHECKS, name);
        let (own, other) = (growth(&aware), growth(&baseline));
        all.push(Check::rises(&baseline, 0.0).of(CHECKS).must());
        let words = format!(
            "the checks of {name} grow faster than those of {AWARE} ({}-fold and {}-fold)",
            short(other),
            short(own)
        );
        all.push(Check::that(words, other > own).or(more_checks(name)));
        all.push(
            Check::below(&aware, &baseline)
                .of(CHECKS)
                .or(more_checks(name)),
        );
        let (errors, other) = (curve(ERROR, AWARE), curve(ERROR, name));
        let ratios = errors.points.iter();
        let ratios = ratios.filter_map(|point| Some(point.y / other.at(point.x)?));
        let (least, most) = (
            ratios.clone().fold(f64::NAN, f64::min),
            ratios.fold(f64::NAN, f64::max),
        );
        let words = format!(
            "the query error of {AWARE} is 0.8 to 1.25 times that of {name} ({} to {} times)",
            short(least),
            short(most)
        );
        let reason = match most > 1.25 {
            true => more_error(measured, ERROR, name),
            false => String::from(
                "cuts between sites leave classes that are cut further, so that ranges are narrower",
            ),
        };
        all.push(Check::that(words, least >= 0.8 && most <= 1.25).or(reason));
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
    let drawn = all.sample(sizes.last().copied().unwrap_or(0), bench.seed);
    Ok(vec![Measured::new(sentence, vec![checks, time]).on(&drawn)])
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
        .or("binary, with the negation that line 6 of Algorithm 1 has lost in print, settles a safe group as quickly as top-down does, so that a group which the border of 0.85 sends to top-down costs as much or more"),
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
            let not_above = Check::not_above(&aware, &measured.curve(&panel, baseline)).of(&panel);
            checks.push(not_above.or(more_error(measured, &panel, baseline)));
        }
    }
    // Over l the paper itself finds no trend.
    let panel = format!("{BY_K}{ERROR}");
    for name in [AWARE, BASELINE] {
        let rises = Check::rises(&measured.curve(&panel, name), 0.05).of(&panel);
        checks.push(rises.or("classes grow with k, but which attribute pays for it follows from a few early cuts, and the error of random queries with it"));
    }
    checks
}
