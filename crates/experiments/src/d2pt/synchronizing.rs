//! Figure 4 of D2PT (section 4.2): the share of runs that begin with the same classes at both sites (a), the
//! distribution of synchronizations (b), and normalized discernibility for each synchronizer and t (c).
//!
//! As in the paper, runs that begin with the same classes are SAME, all others DIFF; (b) is of DIFF. A last
//! panel of (c) has DIFF once more with Datafly's outliers suppressed.

use hedgerow::words::thousands;
use hedgerow_protocols::vertical::d2pt::{Suppression, Synchronizer};

use super::runs::{Cases, Ran, SYNCHRONIZERS};
use crate::frame::prelude::*;
use crate::frame::rule::short;

pub(super) const FAMILY: Family = Family {
    figures: &[
        Figure {
            name: "d2pt-fig4a",
            paper: Paper::D2PT,
            title: "Share of identical first anonymizations as a function of k and t",
            claim: "For t = 0.15 the sites begin with the same classes in 29 to 30 % of the cases whatever k is, for t = 0.2 in 5.5 to 6 %, for t = 0.7 and t = 1 in 1.2 to 3.5 %.",
            rule: of_same,
        },
        Figure {
            name: "d2pt-fig4b",
            paper: Paper::D2PT,
            title: "Distribution of synchronizations",
            claim: "MERGE always synchronizes once; DPP2GA needs more than three synchronizations in less than 2.1 % of the cases, IDENTITY and FORK in more than 40 %.",
            rule: of_times,
        },
        Figure {
            name: "d2pt-fig4c",
            paper: Paper::D2PT,
            title: "Normalized discernibility as a function of synchronizer and t",
            claim: "MERGE is better than IDENTITY and FORK (DIFF: 0.99 to 0.63, against 1.00 to 0.95), FORK hardly better than IDENTITY, DPP2GA best (0.22 at t = 1); among SAME all are alike.",
            rule: of_discernibility,
        },
    ],
    measure,
};

const ALL_T: [f64; 4] = [0.15, 0.2, 0.7, 1.0];
/// Table 4a of the paper in percent: for each t, the values at k = 2, 5, 10, 20, 50, 100.
const SAME_OF_PAPER: [[f64; 6]; 4] = [
    [29.4, 29.4, 29.4, 30.1, 30.1, 30.1],
    [5.5, 5.5, 5.5, 6.0, 6.0, 6.0],
    [1.2, 2.2, 2.5, 2.7, 3.2, 3.5],
    [1.6, 2.2, 2.5, 2.7, 3.2, 3.5],
];
const K_OF_PAPER: [u64; 6] = [2, 5, 10, 20, 50, 100];
/// Table 4c of the paper: for each synchronizer, the values at each t; DPP2GA has t = 1 alone.
const DIFF_OF_PAPER: [[f64; 4]; 4] = [
    [1.00, 1.00, 0.97, 0.97],
    [1.00, 0.99, 0.96, 0.95],
    [0.99, 0.84, 0.63, 0.63],
    [f64::NAN, f64::NAN, f64::NAN, 0.22],
];
/// The same of all runs.
const ALL_OF_PAPER: [[f64; 4]; 4] = [
    [0.88, 0.97, 0.95, 0.95],
    [0.88, 0.97, 0.94, 0.94],
    [0.87, 0.82, 0.63, 0.62],
    [f64::NAN, f64::NAN, f64::NAN, 0.22],
];
const SAME_DM_OF_PAPER: [f64; 4] = [0.60, 0.58, 0.32, 0.32];

const SHARE: &str = "identical first anonymizations";
const TIMES: &str = "synchronizations";
const DIFF: &str = "DIFF";
const SAME: &str = "SAME";
const ALL: &str = "ALL";
const SUPPRESSED: &str = "DIFF, outliers suppressed";
/// More synchronizations than this are one bar.
const MANY: u32 = 6;

const HIERARCHIES: &str = "the hierarchies are not the paper's, which it does not print: flatter or steeper ones change at which levels Datafly stops, and so which classes meet";

/// Why synchronizers that join classes may bring less than in the paper.
fn connected(measured: &Measured) -> String {
    format!(
        "the records of {} are connected: {CONNECTED}",
        measured.tables()
    )
}

const CONNECTED: &str = "with two sites of a few quasi-identifiers each, nearly every class of the one shares a person with nearly every class of the other, so that joining them leaves one group; the hierarchies are not the paper's, which it does not print";

/// The runs of one k and t.
struct Of {
    k: u64,
    t: f64,
    /// For each synchronizer, the run of every split.
    runs: Vec<Vec<Ran>>,
}

fn measure(bench: &Bench<'_>) -> Result<Vec<Measured>, Error> {
    let cases = Cases::new(bench)?;
    let all_k: &[u64] = bench.pick(&[2, 10], &K_OF_PAPER);
    let suppressed_k = 10;
    bench.steps((all_k.len() + 1) * ALL_T.len());
    let is_asked = |t: f64, synchronizer| t == 1.0 || synchronizer != Synchronizer::Dpp2ga;
    let runs = |k: u64, t: f64, suppression| -> Result<Of, Error> {
        let runs = SYNCHRONIZERS
            .iter()
            .map(|(_, synchronizer)| match is_asked(t, *synchronizer) {
                true => cases.run((k, t), *synchronizer, suppression),
                false => Ok(Vec::new()),
            });
        Ok(Of {
            k,
            t,
            runs: runs.collect::<Result<_, _>>()?,
        })
    };
    let mut all = Vec::new();
    for k in all_k {
        for t in ALL_T {
            bench.step(format!("k = {k}, t = {t}"));
            all.push(runs(*k, t, Suppression::NONE)?);
        }
    }
    let mut suppressed = Vec::new();
    for t in ALL_T {
        bench.step(format!("k = {suppressed_k}, t = {t}, outliers suppressed"));
        suppressed.push(runs(suppressed_k, t, Suppression::Outliers)?);
    }
    let sentence = format!(
        "{} records, 7 quasi-identifiers given to two sites in {} ways, k from {} to {}, t of 0.15, 0.2, 0.7 and 1.",
        thousands(cases.data.rows() as u64),
        cases.splits(),
        all_k.first().unwrap_or(&0),
        all_k.last().unwrap_or(&0),
    );
    let figure = |panels| Measured::new(sentence.clone(), panels).on(&cases.data);
    Ok(vec![
        figure(vec![same(&all)]),
        figure(vec![times(&all)]),
        figure(discernibility(&all, &suppressed)),
    ])
}

/// Figure 4a.
fn same(all: &[Of]) -> Panel {
    let mut panel = Panel::lines(
        SHARE,
        Axis::new("k", "records").log(),
        Axis::new("share of cases", "%").from_zero(),
    );
    for (t, paper) in ALL_T.iter().zip(SAME_OF_PAPER) {
        let of_t = all.iter().filter(|of| of.t == *t);
        let points = of_t.filter_map(|of| {
            // Whichever the synchronizer, the first anonymizations are the same.
            let runs = of.runs.first()?;
            let same = runs.iter().filter(|run| run.same).count();
            Some((of.k as f64, 100.0 * same as f64 / runs.len().max(1) as f64))
        });
        let name = format!("t = {t}");
        panel = panel.with(Series::new(name.as_str(), points));
        let printed = K_OF_PAPER.iter().zip(paper);
        let printed = printed.map(|(k, share)| (*k as f64, share));
        panel = panel.with(Series::paper(format!("paper, {name}"), printed));
    }
    panel
}

/// Figure 4b.
fn times(all: &[Of]) -> Panel {
    let names = (1..MANY).map(|times| times.to_string());
    let names = names.chain([format!("{MANY} or more")]);
    let mut panel = Panel::bars(
        TIMES,
        Axis::new("synchronizations", ""),
        Axis::new("share of cases", "%").from_zero(),
        names.collect(),
    );
    for (place, (name, _)) in SYNCHRONIZERS.iter().enumerate() {
        let runs = || {
            let all = all.iter().flat_map(|of| &of.runs[place]);
            all.filter(|run| !run.same)
        };
        let share = |times: u32| {
            let some = runs().filter(|run| run.synchronizations.min(MANY) == times);
            100.0 * some.count() as f64 / runs().count().max(1) as f64
        };
        let points = (1..=MANY).map(|times| (f64::from(times - 1), share(times)));
        panel = panel.with(Series::new(*name, points));
    }
    panel
}

/// Figure 4c.
fn discernibility(all: &[Of], suppressed: &[Of]) -> Vec<Panel> {
    let panel = |title: &str, all: &[Of], is_in: fn(&Ran) -> bool| {
        let mut panel = Panel::lines(
            title,
            Axis::new("t", "").from_zero(),
            Axis::new("normalized discernibility", "").from_zero(),
        );
        for (place, (name, _)) in SYNCHRONIZERS.iter().enumerate() {
            let at = |t: &f64| {
                let of_t = all.iter().filter(|of| of.t == *t);
                let runs: Vec<&Ran> = of_t
                    .flat_map(|of| &of.runs[place])
                    .filter(|run| is_in(run))
                    .collect();
                let sum: f64 = runs.iter().map(|run| run.discernibility).sum();
                (!runs.is_empty()).then(|| (*t, sum / runs.len() as f64))
            };
            panel = panel.with(Series::new(*name, ALL_T.iter().filter_map(at)));
        }
        panel
    };
    let beside_paper = |panel: Panel, printed: [[f64; 4]; 4]| {
        let printed = SYNCHRONIZERS.iter().zip(printed);
        panel.with_all(printed.map(|((name, _), values)| {
            let values = ALL_T.into_iter().zip(values);
            let values = values.filter(|(_, value)| !value.is_nan());
            Series::paper(format!("paper, {name}"), values)
        }))
    };
    let same = panel(SAME, all, |run| run.same);
    let printed = ALL_T.into_iter().zip(SAME_DM_OF_PAPER);
    vec![
        beside_paper(panel(DIFF, all, |run| !run.same), DIFF_OF_PAPER),
        same.with(Series::paper("paper", printed)),
        beside_paper(panel(ALL, all, |_| true), ALL_OF_PAPER),
        panel(SUPPRESSED, suppressed, |run| !run.same),
    ]
}

fn of_same(measured: &Measured) -> Vec<Check> {
    let curve = |t: f64| measured.curve(SHARE, &format!("t = {t}"));
    let mut checks = vec![
        Check::below(&curve(0.2), &curve(0.15)).or(HIERARCHIES),
        Check::not_above(&curve(0.7), &curve(0.2)).or(HIERARCHIES),
        Check::not_above(&curve(1.0), &curve(0.2)).or(HIERARCHIES),
    ];
    for (t, paper) in ALL_T.iter().zip(SAME_OF_PAPER) {
        let found = curve(*t);
        let low = paper.iter().copied().fold(f64::INFINITY, f64::min);
        let high = paper.iter().copied().fold(0.0, f64::max);
        let (least, most) = found.bounds();
        checks.push(
            Check::that(
                format!(
                    "t = {t}: {low} to {high} %, at least half and at most twice as many (found {} to {} %)",
                    short(least),
                    short(most)
                ),
                least >= low / 2.0 && most <= high * 2.0,
            )
            .only_at_full()
            .or(HIERARCHIES),
        );
    }
    checks
}

fn of_times(measured: &Measured) -> Vec<Check> {
    // The first three bars are one, two and three.
    let many = |name: &str| {
        let curve = measured.curve(TIMES, name);
        let points = curve.points.iter().filter(|point| point.x >= 3.0);
        points.map(|point| point.y).sum::<f64>()
    };
    let merge = measured.curve(TIMES, "MERGE");
    let mut checks = vec![
        Check::that(
            format!(
                "MERGE synchronizes once in all cases (found {} %)",
                short(merge.at(0.0).unwrap_or(0.0))
            ),
            merge.at(0.0) == Some(100.0),
        )
        .must(),
        Check::that(
            format!(
                "DPP2GA needs more than three synchronizations in less than 2.1 % of the cases (found {} %)",
                short(many("DPP2GA"))
            ),
            many("DPP2GA") < 2.1,
        )
        .or(HIERARCHIES),
    ];
    for name in ["IDENTITY", "FORK"] {
        checks.push(
            Check::that(
                format!(
                    "{name} needs more than three synchronizations in more than 40 % of the cases (found {} %)",
                    short(many(name))
                ),
                many(name) > 40.0,
            )
            .or(HIERARCHIES),
        );
    }
    checks
}

fn of_discernibility(measured: &Measured) -> Vec<Check> {
    let curve = |name: &str| measured.curve(DIFF, name);
    let at_one = |name: &str| curve(name).at(1.0).unwrap_or(f64::NAN);
    let mut checks = vec![
        Check::not_above(&curve("FORK"), &curve("IDENTITY")).must(),
        Check::below(&curve("MERGE"), &curve("FORK")).or(connected(measured)),
        Check::that(
            format!(
                "DPP2GA is the best at t = 1 (found {}, and MERGE {})",
                short(at_one("DPP2GA")),
                short(at_one("MERGE"))
            ),
            at_one("DPP2GA") < at_one("MERGE"),
        )
        .or(connected(measured)),
    ];
    let identity = measured.curve(SAME, "IDENTITY");
    for (name, _) in &SYNCHRONIZERS[1..] {
        let other = measured.curve(SAME, name);
        // DPP2GA has t = 1 alone, at which no run at all may begin with the same classes.
        let from = if *name == "DPP2GA" { 1.0 } else { 0.0 };
        let beside = identity.within(from..);
        if other.points.is_empty() && beside.points.is_empty() {
            continue;
        }
        checks.push(
            Check::equal(&other, &beside, 0.0)
                .of(SAME)
                .only_at_full()
                .or("runs of this synchronizer that begin with the same classes are not those of IDENTITY: where a synchronizer finds no groups at all, the run is left out"),
        );
    }
    for ((name, _), paper) in SYNCHRONIZERS.iter().zip(DIFF_OF_PAPER) {
        let found = curve(name);
        let pairs = ALL_T.iter().zip(paper).filter(|(_, paper)| !paper.is_nan());
        let apart = pairs.map(|(t, paper)| found.at(*t).map_or(f64::INFINITY, |y| y - paper));
        // The farthest, with its sign.
        let apart = apart.fold(0.0, |far: f64, apart| match apart.abs() > far.abs() {
            true => apart,
            false => far,
        });
        let reason = match apart > 0.0 {
            true => connected(measured),
            false => String::from(HIERARCHIES),
        };
        checks.push(
            Check::that(
                format!(
                    "{name}: as printed, give or take 0.1 (found {} apart at most)",
                    short(apart)
                ),
                apart.abs() <= 0.1,
            )
            .only_at_full()
            .or(reason),
        );
    }
    checks
}
