//! Figures 7 and 8 of TG12 (section 9.2.2): SMC calls of the published algorithms as functions of n and k,
//! horizontal (Algorithm 3, five sites) and vertical (Algorithm 4), beside what a hardened run sends.
//!
//! Calls are counted as the paper counts them (section 7): a sum or a conjunction of vectors is one call. The
//! calls of the vertical form do not depend on the number of sites. What hardened runs send is drawn beside
//! them, since their questions are asked together: rounds, messages and bytes are exact.

use hedgerow::words::thousands;
use hedgerow::{Options, Sites, simulate};

use super::Source;
use super::runs::Coded;
use crate::frame::prelude::*;

pub(super) const ADULT: Family = Family {
    figures: &[Figure {
        name: "tg12-fig7",
        paper: Paper::TG12,
        title: "SMC calls on Adult as a function of n and k",
        claim: "SMC calls are linear in n and fall with k, horizontal and vertical; about 360,000 for 40,000 records at k = 100 in the vertical form.",
        rule: |measured| rule(measured, None, Some((40_000.0, "k = 100", 360_000.0))),
    }],
    measure: |bench| {
        let sizes = bench.pick(&[400, 800][..], &[10_000, 20_000, 40_000]);
        measure(bench, Source::adult(bench)?, sizes)
    },
};

pub(super) const CENSUS: Family = Family {
    figures: &[Figure {
        name: "tg12-fig8",
        paper: Paper::TG12,
        title: "SMC calls on the census as a function of n and k",
        claim: "SMC calls are linear in n and fall with k, horizontal and vertical; about 270,000 for 100,000 records at k = 50 in the horizontal form.",
        rule: |measured| rule(measured, Some((100_000.0, "k = 50", 270_000.0)), None),
    }],
    measure: |bench| {
        let sizes = bench.pick(&[400, 800][..], &[20_000, 40_000, 100_000]);
        measure(bench, Source::census(bench)?, sizes)
    },
};

/// Sites of the horizontal form, as in the paper's estimate of messages, and of the hardened vertical run.
const SITES: usize = 5;
const TWO_SITES: usize = 2;

const HORIZONTAL: &str = "SMC calls, horizontal";
const VERTICAL: &str = "SMC calls, vertical";

/// The most records of the vertical form, which weighs every record against every cluster, and of hardened
/// runs: beyond them a figure takes too long.
const MOST_OF_COLUMNS: usize = 40_000;
const MOST_HARDENED: usize = 20_000;

/// A number of the paper's text: n, series, calls.
type Printed = Option<(f64, &'static str, f64)>;

fn measure(bench: &Bench<'_>, mut source: Source, sizes: &[usize]) -> Result<Vec<Measured>, Error> {
    let all_k: &[u64] = bench.pick(&[20, 50], &[50, 100]);
    let at_most = |most: usize| sizes.iter().filter(|records| **records <= most).count();
    let of_columns_too = all_k.len() * (sizes.len() + at_most(MOST_OF_COLUMNS));
    bench.steps(of_columns_too + 2 * at_most(MOST_HARDENED));
    let all = source.data.clone();
    let axis = || Axis::new("records n", "").from_zero();
    let calls = |title: &str| Panel::lines(title, axis(), Axis::new("SMC calls", "").from_zero());
    let (mut horizontal, mut vertical) = (calls(HORIZONTAL), calls(VERTICAL));
    for k in all_k {
        let (mut of_rows, mut of_columns) = (Vec::new(), Vec::new());
        for records in sizes {
            source.data = all.sample(*records, bench.seed);
            let x = source.data.rows() as f64;
            bench.step(format!("horizontal, n = {records}, k = {k}"));
            let coded = Coded::new(&source, *k, "lm")?;
            let found = coded.sequential(SITES, bench.seed)?;
            of_rows.push((x, found.published_calls as f64));
            if *records > MOST_OF_COLUMNS {
                continue;
            }
            bench.step(format!("vertical, n = {records}, k = {k}"));
            let found = coded.sequential_of_columns(bench.seed)?;
            of_columns.push((x, found.published_calls as f64));
        }
        horizontal = horizontal.with(Series::new(format!("k = {k}"), of_rows));
        vertical = vertical.with(Series::new(format!("k = {k}"), of_columns));
    }
    let k = all_k.last().copied().unwrap_or(0);
    let mut sent: [Panel; 2] =
        [(SITES, "horizontal"), (TWO_SITES, "vertical")].map(|(sites, form)| {
            let title = format!("hardened run, {form}, {sites} sites, k = {k}");
            Panel::lines(
                title,
                axis(),
                Axis::new("rounds, messages, bytes", "").log(),
            )
        });
    let mut costs: [Vec<(f64, hedgerow::Cost)>; 2] = Default::default();
    for records in sizes.iter().filter(|records| **records <= MOST_HARDENED) {
        source.data = all.sample(*records, bench.seed).with_identifiers();
        let x = source.data.rows() as f64;
        bench.step(format!("hardened, horizontal, n = {records}, k = {k}"));
        costs[0].push((x, of_rows(&source, k, bench.seed)?));
        bench.step(format!("hardened, vertical, n = {records}, k = {k}"));
        costs[1].push((x, of_columns(&source, k, bench.seed)?));
    }
    for (panel, costs) in sent.iter_mut().zip(&costs) {
        let curve = |name: &str, of: fn(&hedgerow::Cost) -> u64| {
            Series::new(name, costs.iter().map(|(x, cost)| (*x, of(cost) as f64)))
        };
        panel.series.push(curve("rounds", |cost| cost.rounds));
        panel.series.push(curve("messages", |cost| cost.messages));
        panel.series.push(curve("bytes", |cost| cost.bytes));
    }
    if !bench.is_quick && source.is_adult {
        vertical = vertical.with(Series::paper("TG12, k = 100", [(40_000.0, 360_000.0)]));
    }
    if !bench.is_quick && !source.is_adult {
        horizontal = horizontal.with(Series::paper("TG12, k = 50", [(100_000.0, 270_000.0)]));
    }
    let largest = |most: usize| {
        let sizes = sizes.iter().filter(|records| **records <= most);
        thousands(sizes.max().copied().unwrap_or(0) as u64)
    };
    let sentence = format!(
        "{} quasi-identifiers, loss LM, up to {} records drawn at random, of the vertical form up to {} and of hardened runs up to {}; {SITES} sites hold rows, {TWO_SITES} sites hold columns.",
        source.columns.len(),
        largest(usize::MAX),
        largest(MOST_OF_COLUMNS),
        largest(MOST_HARDENED),
    );
    let [one, other] = sent;
    let panels = vec![horizontal, vertical, one, other];
    let drawn = all.sample(sizes.last().copied().unwrap_or(0), bench.seed);
    Ok(vec![Measured::new(sentence, panels).on(&drawn)])
}

/// What a hardened run over rows at five sites sends.
fn of_rows(source: &Source, k: u64, seed: u64) -> Result<hedgerow::Cost, Error> {
    let study = source
        .data
        .study("tg12-rows")
        .quasi(&source.columns)
        .require(format!("k = {k}\nm = 0"))
        .algorithm("name = \"clustering\"\nloss = \"lm\"\nfinish = false")
        .build()?;
    let sites = Sites::dealt(source.data.table(&study)?, SITES);
    let run = simulate(&study, &sites, &Options::new().seed(seed))?;
    Ok(run.outcome.summary.cost)
}

/// What a hardened run over columns at two sites sends.
fn of_columns(source: &Source, k: u64, seed: u64) -> Result<hedgerow::Cost, Error> {
    let study = source
        .data
        .clone()
        .with_form("id", "")
        .study("tg12-columns")
        .vertical()
        .attribute("id", "identifier")
        .quasi(&source.columns)
        .require(format!("k = {k}"))
        .algorithm(
            "name = \"clustering\"\nloss = \"lm\"\nfinish = false\n[identity]\ncolumns = [\"id\"]",
        )
        .build()?;
    let mut columns = vec![Vec::new(); TWO_SITES];
    for (place, column) in source.columns.iter().enumerate() {
        columns[place % TWO_SITES].push((*column).to_owned());
    }
    let sites = Sites::Columns {
        table: source.data.table(&study)?,
        columns: Some(columns),
    };
    let run = simulate(&study, &sites, &Options::new().seed(seed))?;
    Ok(run.outcome.summary.cost)
}

/// By how much calls for each record may differ between the largest and the smallest table.
const LINEAR: f64 = 1.5;
/// By what factor calls may differ from the paper's.
const NEAR: f64 = 2.0;

const OTHER_TAXONOMIES: &str = "the number of calls is the number of records times L, or times the nodes that a search of the taxonomies looks at: the paper's taxonomies, the number of its iterations and the way it searches are not printed";

/// Why calls for each record, from the smallest table to the largest, are not alike.
fn not_linear(shares: &[f64]) -> String {
    let trend = match (shares.first(), shares.last()) {
        (Some(first), Some(last)) if last > first => "rise",
        (Some(first), Some(last)) if last < first => "fall",
        _ => "differ",
    };
    format!(
        "calls for each record {trend} from the smallest table to the largest: they follow from the number of iterations and, in the horizontal form, from the nodes that a search looks at, and iterations go on until no record moves, which takes more or fewer of them from table to table"
    )
}

fn rule(measured: &Measured, horizontal: Printed, vertical: Printed) -> Vec<Check> {
    let mut checks = Vec::new();
    for (panel, printed) in [(HORIZONTAL, horizontal), (VERTICAL, vertical)] {
        let found = measured.panels.iter().find(|found| found.title == panel);
        let series = found.into_iter().flat_map(|panel| &panel.series);
        let measured_here = series.filter(|series| series.name.starts_with("k = "));
        let names: Vec<&str> = measured_here.map(|series| series.name.as_str()).collect();
        for name in &names {
            let curve = measured.curve(panel, name);
            let shares: Vec<f64> = curve.points.iter().map(|point| point.y / point.x).collect();
            let least = shares.iter().copied().fold(f64::INFINITY, f64::min);
            let most = shares.iter().copied().fold(0.0, f64::max);
            let words = format!(
                "{panel}, {name}: calls for each record differ by a factor of {LINEAR} at most (found {least:.1} to {most:.1})"
            );
            checks.push(Check::that(words, most <= LINEAR * least).or(not_linear(&shares)));
        }
        if let [one, other] = names.as_slice() {
            let (small, large) = (measured.curve(panel, one), measured.curve(panel, other));
            checks.push(Check::below(&large, &small).of(panel).or(OTHER_TAXONOMIES));
        }
        if let Some((x, name, paper)) = printed
            && let Some(found) = measured.curve(panel, name).at(x)
        {
            let words = format!(
                "{panel}, {name}: within a factor of {NEAR} of the paper's {} (found {})",
                thousands(paper as u64),
                thousands(found as u64)
            );
            let is_near = (paper / NEAR..=paper * NEAR).contains(&found);
            checks.push(Check::that(words, is_near).or(OTHER_TAXONOMIES));
        }
    }
    checks
}
