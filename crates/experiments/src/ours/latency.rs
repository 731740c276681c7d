//! How long each protocol takes between sites on a local network and between institutions, from its exact
//! rounds and bytes; beside it TG12's own estimate (end of section 9), in which every message waits for
//! the one before it.
//!
//! A round takes the latency of a line, and a site's share of the bytes what its line carries: 1 ms and
//! 1 Gbit/s on a local network, 30 ms and 100 Mbit/s between institutions. Computing is not counted.

use hedgerow::words::thousands;
use hedgerow::{Options, Sites, Summary, anonymize, simulate};

use crate::data::{CENSUS7, Dataset, QI8};
use crate::frame::prelude::*;
use crate::frame::rule::short;
use crate::tg12::calls_of_columns;

pub(super) const FAMILY: Family = Family {
    figures: &[Figure {
        name: "latency",
        paper: Paper::Ours,
        title: "Time of each protocol on a local network and between institutions",
        claim: "TG12 estimates 5,400 s on a local network and 81,000 s between institutions for its horizontal protocol (census, 100,000 records, k = 50, five sites), 2,880 s and 43,200 s for its vertical one (Adult, 40,000 records, k = 100, two sites). Questions that are asked many at a time bring both down by orders of magnitude.",
        rule,
    }],
    measure,
};

/// A line: seconds for a message, and bits that a site sends in a second.
struct Line {
    name: &'static str,
    latency: f64,
    bandwidth: f64,
    /// Seconds for a message by TG12.
    printed: f64,
}

const LINES: [Line; 2] = [
    Line {
        name: "local network",
        latency: 0.001,
        bandwidth: 1e9,
        printed: 0.002,
    },
    Line {
        name: "between institutions",
        latency: 0.03,
        bandwidth: 1e8,
        printed: 0.03,
    },
];

/// TG12's seconds on each line, of its horizontal and of its vertical protocol.
const OF_PAPER: [(usize, f64, f64); 2] = [(0, 5_400.0, 2_880.0), (1, 81_000.0, 43_200.0)];

const HORIZONTAL: usize = 5;
const VERTICAL: usize = 2;
const OURS: &str = "clustering";
const PRINTED: &str = "clustering, printed";
const VERTICAL_OURS: &str = "vertical clustering";
const VERTICAL_PRINTED: &str = "vertical, printed";
const VERTICAL_OF_PAPER: &str = "all columns, printed";
const PANEL: &str = "time on the line";
const CLOCK: &str = "estimate and simulated clock";

/// A protocol that was run, or TG12's estimate of one.
struct Ran {
    name: &'static str,
    /// Seconds on each of [`LINES`].
    seconds: [f64; 2],
    /// What the clock of the simulation says of the second line.
    clock: Option<f64>,
}

impl Ran {
    fn new(name: &'static str, summary: &Summary) -> Self {
        let cost = &summary.cost;
        let bits = 8.0 * cost.bytes as f64 / summary.sites as f64;
        Self {
            name,
            seconds: LINES.map(|line| cost.rounds as f64 * line.latency + bits / line.bandwidth),
            clock: cost.wan_seconds,
        }
    }

    /// TG12's estimate from the calls of a run as printed: 2m messages for each, one after the other.
    fn printed(name: &'static str, calls: u64, sites: usize) -> Self {
        let messages = (calls * 2 * sites as u64) as f64;
        Self {
            name,
            seconds: LINES.map(|line| messages * line.printed),
            clock: None,
        }
    }
}

/// The SMC calls of a run.
fn calls(summary: &Summary) -> u64 {
    let found = summary.convergence.as_ref();
    found.map_or(0, |found| found.published_calls)
}

fn measure(bench: &Bench<'_>) -> Result<Vec<Measured>, Error> {
    let census = bench.data.census()?.first(bench.pick(1_500, 100_000));
    let people = bench.pick(600, 40_000);
    let adult = bench.data.adult14()?.first(people).with_identifiers();
    let (k, of_adult) = (bench.pick(10, 50), bench.pick(10, 100));
    bench.steps(8);

    let horizontal = |name: &str, keys: &str, level: &str, more: &str| {
        bench.step(format!("{name}, {level}"));
        let study = census
            .study("latency")
            .head(format!("security = \"{level}\""))
            .quasi(&CENSUS7)
            .require(format!("k = {k}{more}"))
            .algorithm(keys)
            .build()?;
        let sites = Sites::dealt(census.table(&study)?, HORIZONTAL);
        summary(simulate(&study, &sites, &Options::new().seed(bench.seed)))
    };
    let mondrian = horizontal("Mondrian", "name = \"mondrian\"", "hardened", "")?;
    let published = horizontal("Mondrian", "name = \"mondrian\"", "published", "")?;
    let aware = horizontal(
        "provider-aware",
        "name = \"provider-aware\"",
        "hardened",
        "\nm = 1",
    )?;
    let clustering = horizontal(OURS, "name = \"clustering\"", "hardened", "")?;

    // One party that knows whose each record is takes the turns of all sites, and counts their calls.
    bench.step(PRINTED);
    let study = census
        .study("latency")
        .head("security = \"published\"")
        .quasi(&CENSUS7)
        .require(format!("k = {k}"))
        .algorithm("name = \"clustering\"")
        .build()?;
    let owners = (0..census.rows()).map(|row| (row % HORIZONTAL).to_string());
    let owned = census.clone().with_column("site", owners);
    let options = Options::new().seed(bench.seed).provider_column("site");
    let table = owned.table_with(&study, &["site"])?;
    let printed = anonymize(&study, &table, &options)?.summary;

    let (first, second) = QI8.split_at(QI8.len() / 2);
    let vertical = |name: &str, keys: &str, level: &str, more: &str| {
        bench.step(format!("{name}, {level}"));
        let study = adult
            .study("latency")
            .head(format!("security = \"{level}\""))
            .vertical()
            .attribute("id", "identifier")
            .quasi(&QI8)
            .sensitive("salary-class")
            .require(format!("k = {of_adult}{more}"))
            .algorithm(keys)
            .build()?;
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let second = [second, &["salary-class"]].concat();
        let sites = Sites::Columns {
            table: adult.table(&study)?,
            columns: Some(vec![owned(first), owned(&second)]),
        };
        summary(simulate(&study, &sites, &Options::new().seed(bench.seed)))
    };
    let d2pt = vertical("D2PT", "name = \"d2pt\"", "hardened", "\nt = 1")?;
    let columns = vertical(VERTICAL_OURS, "name = \"clustering\"", "hardened", "")?;

    // TG12's own table has more attributes than the protocol is run with.
    bench.step(VERTICAL_OF_PAPER);
    let (of_paper, attributes) = calls_of_columns(bench, people, of_adult)?;

    let all = [
        Ran::new("Mondrian", &mondrian),
        Ran::new("Mondrian, published", &published),
        Ran::new("provider-aware", &aware),
        Ran::new(OURS, &clustering),
        Ran::printed(PRINTED, calls(&printed), HORIZONTAL),
        Ran::new("D2PT", &d2pt),
        Ran::new(VERTICAL_OURS, &columns),
        Ran::printed(VERTICAL_PRINTED, calls(&columns), VERTICAL),
        Ran::printed(VERTICAL_OF_PAPER, of_paper, VERTICAL),
    ];
    let mut words = sentence(&all, &census, (k, of_adult), &adult);
    words.push_str(&format!(
        " Vertical protocols run with {} attributes, as does the estimate beside them; that of all attributes has {attributes}, TG12's Adult 14.",
        QI8.len()
    ));
    let measured = Measured::new(words, panels(&all, bench.is_quick));
    Ok(vec![measured.on(&census).on(&adult)])
}

fn summary(run: Result<hedgerow::Simulation, hedgerow::Error>) -> Result<Summary, Error> {
    Ok(run?.outcome.summary)
}

fn sentence(all: &[Ran], census: &Dataset, (k, of_adult): (u64, u64), adult: &Dataset) -> String {
    let of = |name: &str| {
        let found = all.iter().find(|ran| ran.name == name);
        found.map_or([f64::NAN; 2], |ran| ran.seconds).map(short)
    };
    let ([lan, wan], [lan_vertical, wan_vertical]) = (of(OURS), of(VERTICAL_OURS));
    format!(
        "Clustering of {} records of {HORIZONTAL} sites with k = {k} takes {lan} s on a local network and {wan} s between institutions, that of {} people whom {VERTICAL} sites know with k = {of_adult} {lan_vertical} s and {wan_vertical} s.",
        thousands(census.rows() as u64),
        thousands(adult.rows() as u64),
    )
}

fn panels(all: &[Ran], is_quick: bool) -> Vec<Panel> {
    let names: Vec<String> = all.iter().map(|ran| ran.name.to_owned()).collect();
    let place = |name: &str| all.iter().position(|ran| ran.name == name).unwrap_or(0) as f64;
    let mut times = Panel::bars(
        PANEL,
        Axis::new("protocol", ""),
        Axis::new("time of messages", "s").log(),
        names,
    );
    for (line, of_line) in LINES.iter().enumerate() {
        let points = all
            .iter()
            .zip(0..)
            .map(|(ran, at)| (f64::from(at), ran.seconds[line]));
        times = times.with(Series::new(of_line.name, points));
    }
    // The paper's numbers are of tables as large as its own.
    for (line, horizontal, vertical) in OF_PAPER.into_iter().filter(|_| !is_quick) {
        let points = [
            (place(PRINTED), horizontal),
            (place(VERTICAL_OF_PAPER), vertical),
        ];
        times = times.with(Series::paper(format!("TG12, {}", LINES[line].name), points));
    }
    let clocks: Vec<(&Ran, f64)> = all
        .iter()
        .filter_map(|ran| Some((ran, ran.clock?)))
        .collect();
    let names = clocks.iter().map(|(ran, _)| ran.name.to_owned()).collect();
    let at = |values: Vec<f64>| (0..).map(f64::from).zip(values);
    let clock = Panel::bars(
        CLOCK,
        Axis::new("protocol", ""),
        Axis::new("time of messages between institutions", "s").log(),
        names,
    )
    .with(Series::new(
        "rounds and bytes",
        at(clocks.iter().map(|(ran, _)| ran.seconds[1]).collect()),
    ))
    .with(Series::new(
        "simulated clock",
        at(clocks.iter().map(|(_, clock)| *clock).collect()),
    ));
    vec![times, clock]
}

fn rule(measured: &Measured) -> Vec<Check> {
    let names: Vec<String> =
        measured
            .panels
            .first()
            .map_or_else(Vec::new, |panel| match &panel.kind {
                crate::frame::measured::Kind::Bars(names) => names.clone(),
                _ => Vec::new(),
            });
    let seconds = |line: &Line, name: &str| {
        let place = names.iter().position(|found| found == name);
        let curve = measured.curve(PANEL, line.name);
        place
            .and_then(|place| curve.at(place as f64))
            .unwrap_or(f64::NAN)
    };
    let mut checks = Vec::new();
    for line in &LINES {
        for (ours, printed) in [(OURS, PRINTED), (VERTICAL_OURS, VERTICAL_PRINTED)] {
            let (ours_takes, printed_takes) = (seconds(line, ours), seconds(line, printed));
            checks.push(
                Check::that(
                    format!(
                        "{}: {ours} takes less than a tenth of what messages in turn take ({} s and {} s)",
                        line.name,
                        short(ours_takes),
                        short(printed_takes)
                    ),
                    ours_takes < printed_takes / 10.0,
                )
                .or("what is gained in rounds is paid in bytes, which a slow line carries slowly"),
            );
        }
    }
    for (line, horizontal, vertical) in OF_PAPER {
        let line = &LINES[line];
        for (name, paper) in [(PRINTED, horizontal), (VERTICAL_OF_PAPER, vertical)] {
            let found = seconds(line, name);
            checks.push(
                Check::that(
                    format!(
                        "{}: {name} takes between half and twice the paper's time ({} s, paper {} s)",
                        line.name,
                        short(found),
                        short(paper)
                    ),
                    (paper / 2.0..=paper * 2.0).contains(&found),
                )
                .only_at_full()
                .or("the number of calls follows from the number of iterations and of clusters that are asked about, and the table, the taxonomies and the end of the iterations are not the paper's"),
            );
        }
    }
    let (estimate, clock) = (
        measured.curve(CLOCK, "rounds and bytes"),
        measured.curve(CLOCK, "simulated clock"),
    );
    let (estimate, clock) = (
        estimate.called("the time from rounds and bytes"),
        clock.called("the simulated clock"),
    );
    checks.push(
        Check::equal(&estimate, &clock, 0.5)
            .or("sites do not send alike, and a round waits for the site that sends most"),
    );
    checks
}
