//! Figures 7 to 10 of JX08 (section 6.2): the loss of privacy of anonymization and of querying, as a
//! function of the number of sites and of k, for the queries age = 55 (Q1) and age = 55 and country = 26
//! (Q2).
//!
//! Anonymization: [`hedgerow_smc::exposure`] on the transcript of the whole run; the loss is the extremes',
//! since sums and medians show a single neighbour nothing. Querying: rows of the local anonymized data sets
//! that match, united by Algorithm 5. Countries stand in alphabetical order, of which the 26th is Mexico:
//! Q1 and Q2 return 386 and 2 records of Adult itself, as section 6.2 says.

use hedgerow::words::thousands;
use hedgerow::{Options, Sites, simulate};

use super::query::Answers;
use super::{PRINTED, RECORDS, mean, study};
use crate::data::Dataset;
use crate::frame::prelude::*;

pub(super) const FAMILY: Family = Family {
    figures: &[
        figure(
            "jx08-fig7",
            "Loss of privacy as a function of the number of sites (Q1)",
            WITH_SITES,
        ),
        figure(
            "jx08-fig8",
            "Loss of privacy as a function of k (Q1)",
            WITH_K,
        ),
        figure(
            "jx08-fig9",
            "Loss of privacy as a function of the number of sites (Q2)",
            WITH_SITES,
        ),
        figure(
            "jx08-fig10",
            "Loss of privacy as a function of k (Q2)",
            WITH_K,
        ),
    ],
    measure,
};

const WITH_SITES: &str = "The loss of privacy of both protocols falls as there are more sites, since the network is larger in which a site hides.";
const WITH_K: &str = "The loss of privacy of both protocols falls as k grows, since random items are drawn from fewer generalized records and are real ones more often.";

const fn figure(name: &'static str, title: &'static str, claim: &'static str) -> Figure {
    Figure {
        name,
        paper: Paper::JX08,
        title,
        claim,
        rule,
    }
}

/// The numbers of random items of the union; the paper says "different".
const RANDOM: [usize; 5] = [0, 1, 2, 5, 10];

/// The panels.
const ANONYMIZATION: &str = "anonymization";
const QUERYING: &str = "querying";

/// What one number of sites and one k give.
struct Found {
    x: f64,
    anonymization: Vec<f64>,
    /// For each query, for each number of random items, one number for each union.
    querying: [Vec<Vec<f64>>; 2],
    rows: [usize; 2],
}

fn measure(bench: &Bench<'_>) -> Result<Vec<Measured>, Error> {
    let data = bench.data.adult()?.first(bench.pick(1_500, RECORDS));
    let all_sites: &[usize] = bench.pick(&[3, 6, 12], &[3, 5, 10, 15, 20, 30]);
    let all_k: &[u64] = bench.pick(&[5, 20, 60], &[5, 10, 20, 50, 100, 200]);
    // The paper names neither the k of the one nor the sites of the other.
    let (sites, k) = bench.pick((6, 20), (10, 50));
    let country = country(bench.data.adult()?)?;
    bench.steps(all_sites.len() + all_k.len());
    let mut by_sites = Vec::new();
    for sites in all_sites {
        bench.step(format!("{sites} sites, k = {k}"));
        by_sites.push(found(bench, &data, (*sites, k), *sites as f64, &country)?);
    }
    let mut by_k = Vec::new();
    for k in all_k {
        bench.step(format!("{sites} sites, k = {k}"));
        by_k.push(found(bench, &data, (sites, *k), *k as f64, &country)?);
    }
    let records = thousands(data.rows() as u64);
    let figure = |found: &[Found], query: usize, x: Axis, words: &str| {
        let asked = match query {
            0 => String::from("age = 55"),
            _ => format!("age = 55 and native-country = {country}"),
        };
        let rows = found.iter().map(|found| found.rows[query]);
        let (least, most) = (rows.clone().min(), rows.max());
        let sentence = format!(
            "{records} records dealt in turn, {words}. Anonymization: the lap of extremes that gives away the most; querying: the set of a site, {asked}, {} to {} generalized rows, united by Algorithm 5. The rows of the local data sets are united as a question for rows unites them.",
            thousands(least.unwrap_or(0) as u64),
            thousands(most.unwrap_or(0) as u64),
        );
        Measured::new(sentence, panels(found, query, &x)).on(&data)
    };
    let sites_axis = || Axis::new("sites", "").from_zero();
    let k_axis = || Axis::new("k", "records").from_zero();
    let (at_k, at_sites) = (format!("k = {k}"), format!("{sites} sites"));
    Ok(vec![
        figure(&by_sites, 0, sites_axis(), &at_k),
        figure(&by_k, 0, k_axis(), &at_sites),
        figure(&by_sites, 1, sites_axis(), &at_k),
        figure(&by_k, 1, k_axis(), &at_sites),
    ])
}

/// Runs the protocol among so many sites at this k, and both queries on what the sites keep.
fn found(
    bench: &Bench<'_>,
    data: &Dataset,
    (sites, k): (usize, u64),
    x: f64,
    country: &str,
) -> Result<Found, Error> {
    let (runs, unions) = bench.pick((1, 30), (3, 200));
    let study = study(data, "jx08-fig7", k, PRINTED)?;
    let table = data.table(&study)?;
    let queries: [&[(&str, &str)]; 2] = [
        &[("age", "55")],
        &[("age", "55"), ("native-country", country)],
    ];
    let mut found = Found {
        x,
        anonymization: Vec::new(),
        querying: [
            vec![Vec::new(); RANDOM.len()],
            vec![Vec::new(); RANDOM.len()],
        ],
        rows: [0; 2],
    };
    for run in 0..runs {
        let seed = bench.seed.wrapping_add(run);
        let options = Options::new().seed(seed);
        let simulation = simulate(&study, &Sites::dealt(table.clone(), sites), &options)?;
        let loss = simulation.outcome.summary.loss_of_privacy;
        let extremes = loss.and_then(|loss| loss.extremes);
        found
            .anonymization
            .extend(extremes.map(|extremes| extremes.worst));
        for (place, query) in queries.into_iter().enumerate() {
            let answers = Answers::of(&simulation.local, query);
            found.rows[place] = answers.rows();
            for (losses, random) in found.querying[place].iter_mut().zip(RANDOM) {
                losses.extend(answers.losses(random, unions / runs as usize, seed)?);
            }
        }
    }
    Ok(found)
}

fn panels(found: &[Found], query: usize, x: &Axis) -> Vec<Panel> {
    let y = || Axis::new("loss of privacy", "probability").from_zero();
    let curve = |of: &dyn Fn(&Found) -> Vec<f64>| -> Vec<(f64, f64, f64)> {
        let points = found.iter().map(|found| {
            let (mean, error) = mean(&of(found));
            (found.x, mean, error)
        });
        points.collect()
    };
    let anonymization = curve(&|found| found.anonymization.clone());
    let first = Panel::lines(ANONYMIZATION, x.clone(), y())
        .with(Series::with_errors("anonymization", anonymization));
    let second = RANDOM.iter().enumerate().fold(
        Panel::lines(QUERYING, x.clone(), y()),
        |panel, (place, random)| {
            let points = curve(&|found| found.querying[query][place].clone());
            panel.with(Series::with_errors(of_random(*random), points))
        },
    );
    vec![first, second]
}

fn of_random(random: usize) -> String {
    format!("querying, {random} random items")
}

/// The 26th country in alphabetical order; the last where there are fewer.
fn country(data: &Dataset) -> Result<String, Error> {
    let mut countries = data.values("native-country")?;
    countries.sort_unstable();
    countries.dedup();
    let found = countries.get(25).or(countries.last());
    Ok(found.map_or_else(String::new, |country| (*country).to_owned()))
}

const FEW_SITES: &str = "with few sites, and many records at each, sites hold the same extremes as the whole class: the value that passes is the result, which the result alone names";
const NARROW: &str = "a small k makes narrow classes: what passes is one of few values, which a guess among these finds nearly as often, and LoP counts only what goes beyond a guess. The paper explains the fall by random items, which are drawn for unions and not for extremes, and does not say which claims it counted for anonymization";

/// Losses are frequencies: where they fall only a little, chance may make a step rise.
const SLACK: f64 = 0.1;

fn rule(measured: &Measured) -> Vec<Check> {
    let is_of_sites = measured.panels.iter().any(|panel| panel.x.label == "sites");
    let reason = match is_of_sites {
        true => FEW_SITES,
        false => NARROW,
    };
    let chance = "chance: so few unions do not tell neighbouring points apart";
    let mut checks =
        vec![Check::falls(&measured.curve(ANONYMIZATION, "anonymization"), SLACK).or(reason)];
    for random in RANDOM {
        let curve = measured.curve(QUERYING, &of_random(random));
        // Without random items k has nothing to work on; and where nothing is lost nothing can fall.
        let is_lost = curve.points.first().is_some_and(|point| point.y > 0.0);
        if (is_of_sites || random > 0) && is_lost {
            checks.push(Check::falls(&curve, SLACK).or(chance));
        }
    }
    checks
}
