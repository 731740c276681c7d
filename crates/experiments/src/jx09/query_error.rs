//! Figures 6 to 9 of JX09 (section 5.2): the error of queries on a release whose classes have records of at
//! least l of a hundred nodes, for the three ways to choose a cut: width alone (alpha = 1), information gain
//! alone (alpha = 0), and both (alpha = 0.3).
//!
//! One party has all records and knows whose each is: by the law that the tests of the protocols hold, a
//! hundred sites make the same release. 10,000 queries with two predicates each, ranges of 0.3 of a domain,
//! the same queries for all releases of a figure.

use std::path::Path;

use hedgerow::words::thousands;
use hedgerow::{Options, QueryKind, Questions, anonymize, verify};

use super::cities::{SITES, owners, six_cities, study};
use crate::data::Dataset;
use crate::frame::prelude::*;
use crate::frame::rule::{Curve, short};

pub(super) const ALPHA: Family = Family {
    figures: &[Figure {
        name: "jx09-fig6",
        paper: Paper::JX09,
        title: "Query error as a function of alpha and l",
        claim: "The error is least at alpha = 0.3 for every l, about 30 % below that of width alone (alpha = 1) and of information gain alone (alpha = 0).",
        rule: of_alpha,
    }],
    measure: by_alpha,
};

pub(super) const BY_K: Family = Family {
    figures: &[Figure {
        name: "jx09-fig7",
        paper: Paper::JX09,
        title: "Query error as a function of k",
        claim: "Width and information gain together give the least error at every k, about 30 % below either alone.",
        rule: of_ways,
    }],
    measure: by_k,
};

pub(super) const BY_L: Family = Family {
    figures: &[Figure {
        name: "jx09-fig8",
        paper: Paper::JX09,
        title: "Query error as a function of l",
        claim: "Width and information gain together give the least error at every l; the error grows with l.",
        rule: of_l,
    }],
    measure: by_l,
};

pub(super) const BY_SITES: Family = Family {
    figures: &[Figure {
        name: "jx09-fig9",
        paper: Paper::JX09,
        title: "Query error as a function of the number of nodes",
        claim: "Width and information gain together give the least error for every number of nodes, about 30 % below either alone.",
        rule: of_ways,
    }],
    measure: by_sites,
};

/// Of all figures the panel of errors, and that of the sites behind the thinnest class.
const ERROR: &str = "query error";
const THINNEST: &str = "sites behind the thinnest class";
const DEMANDED: &str = "demanded";

/// The ways to choose a cut: the paper's three, and one of ours that tells whether the weight matters.
const BOTH: &str = "both, alpha = 0.3";
const HEAVY: &str = "both, alpha = 0.9 (ours)";
const WAYS: [(&str, f64); 4] = [
    ("range, alpha = 1", 1.0),
    ("information gain, alpha = 0", 0.0),
    (BOTH, 0.3),
    (HEAVY, 0.9),
];

/// By what share errors may differ where the weight does not matter.
const FLAT: f64 = 0.03;

/// Why the weight of equation 3 does not bring what the paper found: by what share errors differ between
/// the weights that count both.
fn reason(measured: &Measured, spread: f64) -> String {
    let data = measured.tables();
    let cities = format!(
        "{data} has no city, and the paper prints neither its cities nor k of figure 6: with workclass in place of the city most records are of one"
    );
    let found = short(100.0 * spread);
    match spread <= FLAT {
        true => format!(
            "the weight hardly matters where both count (errors differ by {found} % at most up to alpha = 0.9, where width has nine tenths of the weight): equation 3 takes widths and entropies as shares of the greatest, and the entropies of a class's candidate cuts lie close together where their widths do not, so that width decides and information gain breaks ties between attributes of the same width. Width alone leaves ties to the order of columns. {cities}"
        ),
        false => format!("which cut equation 3 prefers turns on how sites differ. {cities}"),
    }
}

/// The greatest difference of two curves, as a share of the smaller value.
fn apart(one: &Curve, other: &Curve) -> f64 {
    let pairs = one.points.iter().zip(&other.points);
    let apart = pairs.map(|(a, b)| (a.y - b.y).abs() / a.y.min(b.y));
    apart.fold(0.0, f64::max)
}

/// One run: k, the sites, l and alpha.
#[derive(Debug, Clone, Copy)]
struct Demand {
    k: u64,
    l: u64,
    alpha: f64,
}

/// The error of queries, and the sites behind the class with the fewest.
struct Found {
    error: f64,
    fewest: f64,
}

/// The records at so many nodes, ready to be anonymized.
struct Setting {
    data: Dataset,
    queries: usize,
}

impl Setting {
    fn new(bench: &Bench<'_>, records: &Dataset, sites: usize) -> Result<Self, Error> {
        let owners = owners(records, sites, bench.seed)?;
        let names = owners.iter().map(u32::to_string);
        Ok(Self {
            data: records.clone().with_column("site", names),
            // Section 5.2 has 10,000.
            queries: bench.pick(400, 10_000),
        })
    }

    fn run(&self, bench: &Bench<'_>, original: &Path, demand: Demand) -> Result<Found, Error> {
        let Demand { k, l, alpha } = demand;
        let study = study(&self.data, k, l, alpha)?;
        let options = Options::new().seed(bench.seed).provider_column("site");
        let table = self.data.table_with(&study, &["site"])?;
        let outcome = anonymize(&study, &table, &options)?;
        let questions = Questions {
            original: Some(original.into()),
            queries: self.queries,
            query_kind: QueryKind::Jx09,
            ..Questions::default()
        };
        let utility = verify(&outcome.release, &questions)?.utility;
        let error = utility.and_then(|utility| utility.query_error);
        let fewest = outcome.summary.achieved.site_diversity;
        Ok(Found {
            error: error.map_or(f64::NAN, |error| error.mean),
            fewest: fewest.map_or(f64::NAN, |sites| sites as f64),
        })
    }
}

/// The panels of a figure: errors, and the sites behind the thinnest class beside those demanded.
fn panels(x: &Axis, curves: &[(String, Vec<(f64, Found)>)], demanded: &[(f64, f64)]) -> Vec<Panel> {
    let panel = |title: &str, y: Axis, of: fn(&Found) -> f64| {
        let mut panel = Panel::lines(title, x.clone(), y.from_zero());
        for (name, found) in curves {
            let points = found.iter().map(|(x, found)| (*x, of(found)));
            panel = panel.with(Series::new(name.as_str(), points));
        }
        panel
    };
    vec![
        panel(ERROR, Axis::new("mean relative error", ""), |found| {
            found.error
        }),
        panel(
            THINNEST,
            Axis::new("fewest nodes of a class", "nodes"),
            |found| found.fewest,
        )
        .with_all(
            (!demanded.is_empty()).then(|| Series::computed(DEMANDED, demanded.iter().copied())),
        ),
    ]
}

fn by_alpha(bench: &Bench<'_>) -> Result<Vec<Measured>, Error> {
    let records = six_cities(bench)?;
    let tenths: &[u32] = bench.pick(&[0, 3, 9, 10], &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    let all_l: &[u64] = bench.pick(&[20], &[10, 20, 30, 40, 50]);
    let k = bench.pick(50, 200);
    bench.steps(tenths.len() * all_l.len());
    let setting = Setting::new(bench, &records, SITES)?;
    let original = records.file(&study(&records, k, 1, 1.0)?)?;
    let mut curves = Vec::new();
    for l in all_l {
        let mut curve = Vec::new();
        for tenth in tenths {
            let alpha = f64::from(*tenth) / 10.0;
            bench.step(format!("l = {l}, alpha = {alpha}"));
            let found = setting.run(bench, &original, Demand { k, l: *l, alpha })?;
            curve.push((alpha, found));
        }
        curves.push((format!("l = {l}"), curve));
    }
    let sentence = format!(
        "{} records at {SITES} nodes by city and age, k = {k}, {} queries.",
        thousands(records.rows() as u64),
        thousands(setting.queries as u64)
    );
    let panels = panels(&Axis::new("alpha", ""), &curves, &[]);
    Ok(vec![Measured::new(sentence, panels).on(&records)])
}

fn of_alpha(measured: &Measured) -> Vec<Check> {
    let curves = measured
        .panels
        .first()
        .map_or(&[][..], |panel| &panel.series);
    let between = |name: &str| measured.curve(ERROR, name).within(0.2..=0.9).bounds();
    let spreads = curves.iter().map(|series| between(&series.name));
    let spread = spreads.map(|(low, high)| high / low - 1.0);
    let reason = reason(measured, spread.fold(0.0, f64::max));
    let mut checks = Vec::new();
    for series in curves {
        let curve = measured.curve(ERROR, &series.name);
        let (least, _) = curve.bounds();
        let found = curve.at(0.3).unwrap_or(f64::NAN);
        checks.push(
            Check::that(
                format!(
                    "{}: no alpha has a smaller error than 0.3 (found {}, and {} at alpha = {})",
                    curve.name,
                    short(found),
                    short(least),
                    curve.lowest_at().map_or(String::from("no point"), short)
                ),
                found <= least,
            )
            .or(reason.as_str()),
        );
    }
    let below = |curve: &Curve| {
        let (at, ends) = (curve.at(0.3)?, [curve.at(0.0)?, curve.at(1.0)?]);
        Some(ends.map(|end| 1.0 - at / end))
    };
    let found: Vec<[f64; 2]> = curves
        .iter()
        .filter_map(|series| below(&measured.curve(ERROR, &series.name)))
        .collect();
    let least = found
        .iter()
        .flatten()
        .copied()
        .fold(f64::INFINITY, f64::min);
    checks.push(
        Check::that(
            format!(
                "at alpha = 0.3 the error is 20 % or more below that of alpha = 0 and of alpha = 1 for every l (found {} % at least)",
                short(100.0 * least)
            ),
            !found.is_empty() && least >= 0.2,
        )
        .or(reason.as_str()),
    );
    for series in curves {
        let demanded = series.name.trim_start_matches("l = ").parse();
        let demanded = demanded.unwrap_or(f64::INFINITY);
        let (fewest, _) = measured.curve(THINNEST, &series.name).bounds();
        let words = format!(
            "{}: every class has records of that many nodes (found {} at least)",
            series.name,
            short(fewest)
        );
        checks.push(Check::that(words, fewest >= demanded).must());
    }
    checks
}

/// The sites behind the thinnest class are as many as demanded: ours to keep.
fn sites(measured: &Measured, series: &str) -> Check {
    let demanded = measured.curve(THINNEST, DEMANDED);
    let demanded = demanded.called("the number of nodes demanded");
    let found = measured.curve(THINNEST, series);
    let found = found.called("the number of nodes behind the thinnest class");
    Check::not_above(&demanded, &found).of(series).must()
}

/// Runs all ways at points of an axis: x, the nodes and the demand of each.
fn by_way(
    bench: &Bench<'_>,
    x: &Axis,
    points: &[(u64, usize, u64, u64)],
    words: &str,
) -> Result<Vec<Measured>, Error> {
    let records = six_cities(bench)?;
    bench.steps(WAYS.len() * points.len());
    let original = records.file(&study(&records, 1, 1, 1.0)?)?;
    let mut curves: Vec<(String, Vec<(f64, Found)>)> = WAYS
        .iter()
        .map(|(name, _)| ((*name).to_owned(), Vec::new()))
        .collect();
    let mut queries = 0;
    for (at, nodes, k, l) in points {
        let setting = Setting::new(bench, &records, *nodes)?;
        queries = setting.queries;
        for ((name, alpha), (_, curve)) in WAYS.iter().zip(&mut curves) {
            bench.step(format!("{} = {at}, {name}", x.label));
            let demand = Demand {
                k: *k,
                l: *l,
                alpha: *alpha,
            };
            curve.push((*at as f64, setting.run(bench, &original, demand)?));
        }
    }
    let demanded: Vec<(f64, f64)> = points
        .iter()
        .map(|(at, _, _, l)| (*at as f64, *l as f64))
        .collect();
    let sentence = format!(
        "{} records split by city and age, {words}, {} queries.",
        thousands(records.rows() as u64),
        thousands(queries as u64)
    );
    let panels = panels(x, &curves, &demanded);
    Ok(vec![Measured::new(sentence, panels).on(&records)])
}

/// Figure 7 has l = 30.
const L: u64 = 30;
/// Figures 8 and 9 have k = 200.
const K: u64 = 200;
/// In the small version a tenth of the records leaves room for less.
const SMALL_L: u64 = 15;
const SMALL_K: u64 = 50;

fn by_k(bench: &Bench<'_>) -> Result<Vec<Measured>, Error> {
    let all_k: &[u64] = bench.pick(&[30, 60], &[50, 100, 150, 200, 250, 300, 400, 500]);
    let l = bench.pick(SMALL_L, L);
    let points: Vec<_> = all_k.iter().map(|k| (*k, SITES, *k, l)).collect();
    let words = format!("{SITES} nodes, l = {l}");
    by_way(bench, &Axis::new("k", "records"), &points, &words)
}

fn by_l(bench: &Bench<'_>) -> Result<Vec<Measured>, Error> {
    let all_l: &[u64] = bench.pick(&[10, 30], &[5, 10, 20, 30, 40, 50]);
    let k = bench.pick(SMALL_K, K);
    let points: Vec<_> = all_l.iter().map(|l| (*l, SITES, k, *l)).collect();
    let words = format!("{SITES} nodes, k = {k}");
    by_way(bench, &Axis::new("l", "nodes"), &points, &words)
}

fn by_sites(bench: &Bench<'_>) -> Result<Vec<Measured>, Error> {
    let nodes: &[u64] = bench.pick(&[50, 100], &[40, 60, 80, 100, 150, 200]);
    let (k, l) = (bench.pick(SMALL_K, K), bench.pick(SMALL_L, L));
    let points: Vec<_> = nodes.iter().map(|n| (*n, *n as usize, k, l)).collect();
    let words = format!("k = {k}, l = {l}");
    by_way(bench, &Axis::new("nodes", ""), &points, &words)
}

fn of_ways(measured: &Measured) -> Vec<Check> {
    let both = measured.curve(ERROR, BOTH);
    let reason = reason(measured, apart(&both, &measured.curve(ERROR, HEAVY)));
    let alone = WAYS.iter().filter(|(_, alpha)| [0.0, 1.0].contains(alpha));
    let alone: Vec<Curve> = alone.map(|(name, _)| measured.curve(ERROR, name)).collect();
    let mut checks: Vec<Check> = alone
        .iter()
        .map(|other| Check::not_above(&both, other).or(reason.as_str()))
        .collect();
    let better = alone.iter().map(Curve::mean).fold(f64::INFINITY, f64::min);
    let saved = 1.0 - both.mean() / better;
    checks.push(
        Check::that(
            format!(
                "on average the error of both is 20 % or more below the better of the two alone (found {} %)",
                short(100.0 * saved)
            ),
            saved >= 0.2,
        )
        .or(reason.as_str()),
    );
    checks.extend(WAYS.iter().map(|(name, _)| sites(measured, name)));
    checks
}

fn of_l(measured: &Measured) -> Vec<Check> {
    let mut checks = of_ways(measured);
    let rises = Check::rises(&measured.curve(ERROR, BOTH), 0.05);
    checks.push(rises.or(
        "where classes of k records have records of l nodes anyway, a larger l forbids no cut",
    ));
    checks
}
