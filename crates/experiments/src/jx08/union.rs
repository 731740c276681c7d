//! Figures 11 to 16 of JX08 (section 6.3, Table 1): the loss of privacy of the set union, measured on the
//! transcripts of unions of random sets, beside the paper's bounds. A domain of 100,000 items, 20 sites,
//! 1,000 items in all, of which every site has as many.

use hedgerow_smc::exposure::{Unions, Witness, measure as measure_loss};
use hedgerow_smc::memory::Simulation;
use hedgerow_smc::settings::{Probabilistic, Uniting};
use hedgerow_smc::union::loss::Setting;
use hedgerow_smc::{Error as PrimitiveError, Generator, Items, Settings, What};
use rand::SeedableRng as _;
use rand::seq::index::sample;

use super::mean;
use crate::frame::measured::Source;
use crate::frame::prelude::*;
use crate::frame::rule::Curve;

pub(super) const FAMILY: Family = Family {
    figures: &[
        figure(
            "jx08-fig11",
            "Loss of a site's set as a function of the number of random items",
            "The loss lies below the bound of equation 5, near 0.05 without random items; 100 random items bring it below 0.02.",
            few_items,
        ),
        figure(
            "jx08-fig12",
            "Loss of a site's set as a function of the number of sites",
            "With 100 random items the loss falls as there are more sites, and lies below the bound of equation 5.",
            falls,
        ),
        figure(
            "jx08-fig13",
            "Loss of a known leader's set as a function of the number of random items",
            "Where the leader is known the loss is higher than where it is not, and random items lower it; the bound is equation 4.",
            worst_falls,
        ),
        figure(
            "jx08-fig14",
            "Loss of a known leader's set as a function of the number of sites",
            "Where the leader is known the loss is higher than where it is not, and more sites lower it; the bound is equation 4.",
            worst_falls,
        ),
        figure(
            "jx08-fig15",
            "Loss of a known leader's item as a function of the number of random items",
            "The loss falls with random items and is around half of the bound of equation 7.",
            halves,
        ),
        figure(
            "jx08-fig16",
            "Loss of a known leader's item as a function of the number of sites",
            "With 10,000 random items the loss falls as there are more sites; the bound is equation 7.",
            falls,
        ),
    ],
    measure,
};

const fn figure(
    name: &'static str,
    title: &'static str,
    claim: &'static str,
    rule: fn(&Measured) -> Vec<Check>,
) -> Figure {
    Figure {
        name,
        paper: Paper::JX08,
        title,
        claim,
        rule,
    }
}

/// Table 1.
const DOMAIN: usize = 100_000;
const SITES: usize = 20;
const UNITED: usize = 1_000;
/// Random items of figures 12 and 14, and of figure 16.
const FEW: usize = 100;
const MANY: usize = 10_000;

/// The series of every panel.
const ACTUAL: &str = "measured";
const NAIVE: &str = "naive union";
const UNKNOWN: &str = "leader not known";

const UNION: What = What::new("the union", "JX08 Algorithm 5");

/// What many unions of one setting give.
struct Found {
    x: f64,
    setting: Setting,
    random: usize,
    unions: Vec<Unions>,
}

fn measure(bench: &Bench<'_>) -> Result<Vec<Measured>, Error> {
    // 1,000 items can be dealt evenly to these numbers of sites.
    let all_sites: &[usize] = bench.pick(&[5, 20, 50], &[5, 10, 20, 25, 40, 50]);
    let few: &[usize] = bench.pick(&[0, 100, 400], &[0, 25, 50, 100, 150, 200, 300, 400]);
    let many: &[usize] = bench.pick(
        &[0, 5_000, 10_000],
        &[0, 1_000, 2_000, 4_000, 6_000, 8_000, 10_000],
    );
    let (sets, items) = bench.pick((60, 2), (1_000, 40));
    bench.steps(few.len() + many.len() + 2 * all_sites.len() + 1);
    let at = |x: usize, sites: usize, random: usize, unions: usize, how: Uniting| {
        bench.step(format!("{sites} sites, {random} random items"));
        let unions = unions_of(how, sites, random, unions, bench.seed)?;
        Ok::<_, Error>(Found {
            x: x as f64,
            setting: Setting::even(sites as u32, DOMAIN as f64, UNITED as f64),
            random,
            unions,
        })
    };
    let each = |values: &[usize], one: &dyn Fn(usize) -> Result<Found, Error>| {
        values
            .iter()
            .map(|value| one(*value))
            .collect::<Result<Vec<Found>, Error>>()
    };
    let by_few = each(few, &|random| {
        // The point of which the paper says a number.
        let sets = sets * if random == FEW { 6 } else { 1 };
        at(random, SITES, random, sets, Uniting::Secure)
    })?;
    let by_sites = each(all_sites, &|sites| {
        at(sites, sites, FEW, sets, Uniting::Secure)
    })?;
    let by_many = each(many, &|random| {
        at(random, SITES, random, items, Uniting::Secure)
    })?;
    let many_by_sites = each(all_sites, &|sites| {
        at(sites, sites, MANY, items, Uniting::Secure)
    })?;
    let naive = [at(0, SITES, 0, 3, Uniting::Naive)?];

    let random = || Axis::new("random items", "").from_zero();
    let sites = || Axis::new("sites", "").from_zero();
    let set = "a site's set";
    let leader_set = "the known leader's set";
    let leader_item = "the known leader's item";
    let with_naive = |panel: Panel, of: fn(&Unions) -> f64| {
        panel.with(Series::with_errors(NAIVE, curve(&naive, of)))
    };
    let beside_unknown = |panel: Panel, found: &[Found]| {
        panel.with(Series::with_errors(
            UNKNOWN,
            curve(found, |found| found.set),
        ))
    };
    let eq5 = |found: &Found| found.setting.set_exposure(found.random);
    let eq4 = |found: &Found| found.setting.set_exposure_known_leader(found.random);
    let eq7 = |found: &Found| found.setting.item_exposure_worst(found.random);
    let panels = [
        (
            panel(set, random(), &by_few, |found| found.set, (5, &eq5)),
            sets,
        ),
        (
            panel(set, sites(), &by_sites, |found| found.set, (5, &eq5)),
            sets,
        ),
        (
            beside_unknown(
                with_naive(
                    panel(
                        leader_set,
                        random(),
                        &by_few,
                        |found| found.leader_set,
                        (4, &eq4),
                    ),
                    |found| found.leader_set,
                ),
                &by_few,
            ),
            sets,
        ),
        (
            beside_unknown(
                panel(
                    leader_set,
                    sites(),
                    &by_sites,
                    |found| found.leader_set,
                    (4, &eq4),
                ),
                &by_sites,
            ),
            sets,
        ),
        (
            with_naive(
                panel(
                    leader_item,
                    random(),
                    &by_many,
                    |found| found.leader_item,
                    (7, &eq7),
                ),
                |found| found.leader_item,
            ),
            items,
        ),
        (
            panel(
                leader_item,
                sites(),
                &many_by_sites,
                |found| found.leader_item,
                (7, &eq7),
            ),
            items,
        ),
    ];
    let measured = panels.into_iter().map(|(panel, unions)| {
        let sentence = format!(
            "{} unions or more for each point, 1,000 items of a domain of 100,000 dealt evenly; {} on the transcripts, with standard errors.",
            hedgerow::words::thousands(unions as u64),
            panel.title,
        );
        Measured::new(sentence, vec![panel]).on_words("random sets of items, made from a seed")
    });
    Ok(measured.collect())
}

/// Measured losses and the paper's bound.
fn panel(
    title: &str,
    x: Axis,
    found: &[Found],
    of: fn(&Unions) -> f64,
    (equation, bound): (u8, &dyn Fn(&Found) -> f64),
) -> Panel {
    let y = Axis::new("loss of privacy", "probability").from_zero();
    let bounds = found.iter().map(|found| (found.x, bound(found)));
    Panel::lines(title, x, y)
        .with(Series::with_errors(ACTUAL, curve(found, of)))
        .with(Series::computed(
            format!("bound, equation {equation}"),
            bounds,
        ))
}

fn curve(found: &[Found], of: fn(&Unions) -> f64) -> Vec<(f64, f64, f64)> {
    let points = found.iter().map(|found| {
        let losses: Vec<f64> = found.unions.iter().map(of).collect();
        let (mean, error) = mean(&losses);
        (found.x, mean, error)
    });
    points.collect()
}

/// Unions of random sets, and the loss of each.
fn unions_of(
    union: Uniting,
    sites: usize,
    random: usize,
    unions: usize,
    seed: u64,
) -> Result<Vec<Unions>, Error> {
    /// Unions on one ring; another ring is drawn after them.
    const ON_A_RING: usize = 50;
    let settings = Settings {
        union,
        decoys: random,
        // How the leader is found does not matter here.
        probabilistic: Probabilistic {
            laps: 2,
            ..Probabilistic::default()
        },
        ..Settings::published()
    };
    let share = UNITED / sites;
    let shape = Items {
        width: 4,
        capacity: share,
        domain: DOMAIN as f64,
        decoy: &|generator: &mut Generator| item(generator.below(DOMAIN as u64) as usize),
    };
    let mut found = Vec::with_capacity(unions);
    let mut chance = rand_chacha::ChaCha12Rng::seed_from_u64(seed);
    for ring in 0..unions.div_ceil(ON_A_RING) {
        let on_this = ON_A_RING.min(unions - ring * ON_A_RING);
        let sets: Vec<Vec<Vec<u8>>> = (0..on_this)
            .map(|_| {
                sample(&mut chance, DOMAIN, UNITED)
                    .into_iter()
                    .map(item)
                    .collect()
            })
            .collect();
        let seed = seed.wrapping_add(1 + ring as u64);
        let outcome = Simulation::new(sites, seed)
            .settings(settings)
            .run(|mut party| {
                let (shape, sets, me) = (&shape, &sets, party.me().index());
                async move {
                    party.keep_witness();
                    for set in sets {
                        let mut own = set[me * share..(me + 1) * share].to_vec();
                        party.union(UNION, shape, &mut own).await?;
                    }
                    Ok::<_, PrimitiveError>(party.take_witness())
                }
            });
        let witnesses: Vec<Witness> = outcome.into_values()?.into_iter().flatten().collect();
        found.extend(each(&witnesses).filter_map(|one| measure_loss(&one).unions));
    }
    Ok(found)
}

/// The transcript of each union by itself.
pub(super) fn each(witnesses: &[Witness]) -> impl Iterator<Item = Vec<Witness>> + '_ {
    let unions = witnesses.iter().map(|witness| witness.unions.len()).min();
    (0..unions.unwrap_or(0)).map(|call| {
        let one = witnesses.iter().map(move |witness| Witness {
            unions: vec![witness.unions[call].clone()],
            ..Witness::of(witness.predecessor)
        });
        one.collect()
    })
}

fn item(number: usize) -> Vec<u8> {
    (number as u32).to_le_bytes().to_vec()
}

/// The paper's bound in the first panel.
fn bound_of(measured: &Measured) -> Curve {
    let series = measured.panels.iter().flat_map(|panel| &panel.series);
    let bound = series.filter(|series| series.source == Source::Computed);
    let name = bound.map(|series| series.name.as_str()).next();
    measured.first(name.unwrap_or_default())
}

/// The measured loss is nowhere above the bound by more than three standard errors: the bound is of an
/// expectation.
fn bounded(actual: &Curve, bound: &Curve) -> Check {
    let pairs = actual.points.iter().zip(&bound.points);
    let above = pairs.filter(|(found, bound)| {
        found.y > bound.y + 3.0 * found.spread.unwrap_or(0.0) + f64::EPSILON
    });
    let above: Vec<String> = above.map(|(found, _)| found.x.to_string()).collect();
    let found = match above.is_empty() {
        true => format!("at all {} points", actual.points.len()),
        false => format!("not at {}", above.join(", ")),
    };
    let holds =
        above.is_empty() && !actual.points.is_empty() && actual.points.len() == bound.points.len();
    let words = format!(
        "the loss lies nowhere above its bound by more than three standard errors ({found})"
    );
    Check::that(words, holds).must()
}

/// The loss falls by more than its standard errors.
fn falls_off(curve: &Curve) -> Check {
    let loss = curve.clone().called("the loss");
    Check::falls_beyond_errors(&loss).or(
        "chance: so few unions do not tell the slope from none where the loss falls only a little",
    )
}

fn few_items(measured: &Measured) -> Vec<Check> {
    let (actual, bound) = (measured.first(ACTUAL), bound_of(measured));
    let at = actual.at(FEW as f64).unwrap_or(f64::NAN);
    let first = actual.at(0.0).unwrap_or(f64::NAN);
    vec![
        bounded(&actual, &bound),
        Check::that(
            format!("without random items the loss is 0.05 (found {first:.4})"),
            (first - 0.05).abs() < 0.005,
        )
        .must(),
        Check::that(
            format!("100 random items bring the loss below 0.02 (found {at:.4})"),
            at < 0.02,
        )
        .must_at_full()
        .or("chance: so few unions leave a large standard error"),
        falls_off(&actual).must(),
    ]
}

fn falls(measured: &Measured) -> Vec<Check> {
    let (actual, bound) = (measured.first(ACTUAL), bound_of(measured));
    vec![bounded(&actual, &bound), falls_off(&actual).must_at_full()]
}

fn worst_falls(measured: &Measured) -> Vec<Check> {
    let (actual, bound) = (measured.first(ACTUAL), bound_of(measured));
    let is_of_items = measured
        .panels
        .iter()
        .any(|panel| panel.x.label == "random items");
    let known = actual.clone().called("the loss where the leader is known");
    let unknown = measured
        .first(UNKNOWN)
        .called("the loss where the leader is not known");
    let mut checks = vec![
        bounded(&actual, &bound),
        falls_off(&actual),
        Check::below(&unknown, &known)
            .or("chance: where hardly any of so few unions give a set away, neither loss is more than zero"),
    ];
    if is_of_items {
        let naive = measured.first(NAIVE).at(0.0).unwrap_or(f64::NAN);
        let words = format!("the naive union gives the set of its first site away (found {naive})");
        checks.push(Check::that(words, naive == 1.0).must());
    }
    checks
}

fn halves(measured: &Measured) -> Vec<Check> {
    let (actual, bound) = (measured.first(ACTUAL), bound_of(measured));
    let ratios = actual.points.iter().zip(&bound.points);
    let ratios: Vec<f64> = ratios.map(|(found, bound)| found.y / bound.y).collect();
    let (ratio, _) = mean(&ratios);
    vec![
        bounded(&actual, &bound),
        Check::that(
            format!("the loss is around half of the bound, 0.4 to 0.6 of it on average (found {ratio:.2})"),
            (0.4..=0.6).contains(&ratio),
        )
        .must(),
        falls_off(&actual).must(),
    ]
}
