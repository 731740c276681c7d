//! Law 3 through SQL, on random tables and random statements: the truth of the raw rows lies between low and
//! high, estimates and bounds are those of the engine's own reader, and the ways to ask agree.

use hedgerow_sql::{Mode, Session};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::ward::{Raw, Ward, ask, day, rows};

type Holds = Box<dyn Fn(&Raw) -> Option<bool>>;

/// A random comparison: its SQL, and whether a record satisfies it; nothing where its value is missing.
fn comparison(ward: &Ward, random: &mut ChaCha8Rng) -> (String, Holds) {
    let (a, b) = (
        random.random_range(0..=120i64),
        random.random_range(0..=120i64),
    );
    let (a, b) = (a.min(b), a.max(b));
    let (from, to) = (
        random.random_range(0..366i64),
        random.random_range(0..366i64),
    );
    let zip = ward.zips[random.random_range(0..ward.zips.len())].clone();
    let disease = ward.diseases[random.random_range(0..ward.diseases.len())].clone();
    let d = random.random_range(-5..=40i64);
    match random.random_range(0..11) {
        0 => (
            format!("age < {a}"),
            Box::new(move |raw| raw.age.map(|age| age < a)),
        ),
        1 => (
            format!("{b} <= age"),
            Box::new(move |raw| raw.age.map(|age| age >= b)),
        ),
        2 => (
            format!("age BETWEEN {a} AND {b}"),
            Box::new(move |raw| raw.age.map(|age| (a..=b).contains(&age))),
        ),
        3 => (
            format!("age IN ({a}, {b}, 0)"),
            Box::new(move |raw| raw.age.map(|age| [a, b, 0].contains(&age))),
        ),
        4 => (
            String::from("age IS NULL"),
            Box::new(|raw| Some(raw.age.is_none())),
        ),
        5 => (
            format!("seen >= '{}'", day(from)),
            Box::new(move |raw| Some(raw.seen >= from)),
        ),
        6 => (
            format!("seen <> DATE '{}'", day(to)),
            Box::new(move |raw| Some(raw.seen != to)),
        ),
        7 => (
            format!("zip = '{}'", zip[0]),
            Box::new(move |raw| Some(raw.zip == zip[0])),
        ),
        8 => {
            let level = random.random_range(1..zip.len());
            let node = zip[level].clone();
            let under: Vec<String> = ward
                .zips
                .iter()
                .filter(|row| row[level] == node)
                .map(|row| row[0].clone())
                .collect();
            (
                format!("under(zip, '{node}')"),
                Box::new(move |raw| Some(under.contains(&raw.zip))),
            )
        }
        9 => (
            format!("disease <> '{}'", disease[0]),
            Box::new(move |raw| Some(raw.disease != disease[0])),
        ),
        _ => (
            format!("days <= {d}"),
            Box::new(move |raw| Some(raw.days <= d)),
        ),
    }
}

/// A random condition, with three-valued truth as SQL has it.
fn condition(ward: &Ward, random: &mut ChaCha8Rng, depth: usize) -> (String, Holds) {
    if depth == 0 || random.random_range(0..4) == 0 {
        return comparison(ward, random);
    }
    let (a, first) = condition(ward, random, depth - 1);
    let (b, second) = condition(ward, random, depth - 1);
    match random.random_range(0..5) {
        0 | 1 => (
            format!("({a} AND {b})"),
            Box::new(move |raw| match (first(raw), second(raw)) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), Some(true)) => Some(true),
                _ => None,
            }),
        ),
        2 | 3 => (
            format!("({a} OR {b})"),
            Box::new(move |raw| match (first(raw), second(raw)) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (Some(false), Some(false)) => Some(false),
                _ => None,
            }),
        ),
        _ => (
            format!("NOT ({a})"),
            Box::new(move |raw| first(raw).map(|truth| !truth)),
        ),
    }
}

fn numbers(session: &mut Session, mode: Mode, sql: &str) -> Vec<Vec<Option<f64>>> {
    session.set_mode(mode);
    let reply = ask(session, sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    let rows = rows(&reply).into_iter();
    rows.map(|row| row.iter().map(serde_json::Value::as_f64).collect())
        .collect()
}

fn near(a: Option<f64>, b: Option<f64>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => (a - b).abs() < 1e-6 * (1.0 + a.abs()),
        (a, b) => a == b,
    }
}

#[test]
fn the_truth_lies_between_low_and_high() {
    let mut asked = 0;
    for (seed, recode) in [(31, "range"), (32, "node"), (33, "set"), (34, "range")] {
        let ward = Ward::new(seed, 60 + 40 * (seed as usize % 4), recode);
        let mut session = ward.session(Mode::Bounds);
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        for _ in 0..50 {
            let (text, holds) = condition(&ward, &mut random, 3);
            let totals = "count(*), count(age), sum(days), sum(age), avg(days), avg(age)";
            let sql = format!("SELECT {totals} FROM ward WHERE {text}");
            // Four columns for each total: low, estimate, high, error.
            let named = totals
                .replace("sum(age)", "sum(age) AS s")
                .replace("avg(age)", "avg(age) AS m")
                .replace("count(age)", "count(age) AS c");
            let found = numbers(
                &mut session,
                Mode::Bounds,
                &format!("SELECT {named} FROM ward WHERE {text}"),
            );
            let found = &found[0];
            let kept: Vec<&Raw> = ward
                .raw
                .iter()
                .filter(|raw| holds(raw) == Some(true))
                .collect();
            let ages: Vec<i64> = kept.iter().filter_map(|raw| raw.age).collect();
            let days: i64 = kept.iter().map(|raw| raw.days).sum();
            let mean = |sum: i64, count: usize| (count > 0).then(|| sum as f64 / count as f64);
            let truth = [
                Some(kept.len() as f64),
                Some(ages.len() as f64),
                Some(days as f64),
                Some(ages.iter().sum::<i64>() as f64),
                mean(days, kept.len()),
                mean(ages.iter().sum(), ages.len()),
            ];
            for (place, truth) in truth.iter().enumerate() {
                let [low, estimate, high, _] = found[4 * place..4 * place + 4] else {
                    panic!()
                };
                if let (Some(low), Some(high), Some(truth)) = (low, high, *truth) {
                    let inside = low - 1e-9 <= truth && truth <= high + 1e-9;
                    assert!(
                        inside,
                        "{text}: {truth} is not in [{low}, {high}] at {place}"
                    );
                    if place < 4 {
                        let estimate = estimate.unwrap();
                        assert!(low - 1e-6 <= estimate && estimate <= high + 1e-6, "{text}");
                    }
                }
            }
            // The engine's own reader says the same.
            let statement = ward.released.statement(&sql).unwrap();
            let engine = ward.released.answer(&statement).unwrap();
            for (found, engine) in found.iter().zip(&engine.rows[0]) {
                let exact_mean = engine.is_null();
                assert!(
                    exact_mean || near(*found, engine.as_f64()),
                    "{text}: {found:?}, {engine}"
                );
            }
            // One number by mode, and rows that may satisfy the condition.
            let count = format!("SELECT count(*) FROM ward WHERE {text}");
            let low = numbers(&mut session, Mode::Certain, &count)[0][0];
            let estimate = numbers(&mut session, Mode::Estimate, &count)[0][0];
            let high = numbers(&mut session, Mode::Possible, &count)[0][0];
            assert_eq!((low, high), (found[0], found[2]), "{text}");
            assert!(near(estimate, found[1]), "{text}");
            let judged =
                format!("SELECT certain({text}), possible({text}) AS p, share({text}) FROM ward");
            session.set_mode(Mode::Estimate);
            let judged = rows(&ask(&mut session, &judged).unwrap());
            let certain = judged.iter().filter(|row| row[0] == true).count() as f64;
            let possible = judged.iter().filter(|row| row[1] == true).count() as f64;
            let shares: f64 = judged.iter().filter_map(|row| row[2].as_f64()).sum();
            assert_eq!((Some(certain), Some(possible)), (low, high), "{text}");
            assert!(near(Some(shares), estimate), "{text}");
            // Groups add up to the whole.
            let groups = format!(
                "SELECT sum(n) FROM (SELECT disease, zip, count(*) AS n FROM ward WHERE {text} GROUP BY disease, zip) t"
            );
            let together = numbers(&mut session, Mode::Possible, &groups)[0][0].unwrap_or(0.0);
            assert_eq!(Some(together), high, "{text}");
            asked += 6;
        }
    }
    assert!(asked >= 1_000, "{asked}");
}

/// The same law on more statements, by the reader that the SQL engine's leaves share, on releases of several
/// algorithms and of skewed rows.
#[test]
fn the_truth_of_ten_thousand_statements_lies_between_low_and_high() {
    let made = [
        (("mondrian", "range"), 1),
        (("mondrian", "node"), 2),
        (("mondrian", "set"), 4),
        (("clustering", "node"), 2),
        (("clustering", "set"), 1),
        (("clustering", "range"), 4),
    ];
    let (mut asked, mut tight) = (0, 0);
    for (seed, (how, skew)) in made.into_iter().enumerate() {
        let ward = Ward::made(70 + seed as u64, 80, how, skew);
        let mut random = ChaCha8Rng::seed_from_u64(170 + seed as u64);
        for _ in 0..1_700 {
            let (text, holds) = condition(&ward, &mut random, 2);
            let kept = ward.raw.iter().filter(|raw| holds(raw) == Some(true));
            let kept: Vec<&Raw> = kept.collect();
            let ages = kept.iter().filter_map(|raw| raw.age);
            let days = kept.iter().map(|raw| raw.days);
            let (total, truth) = match random.random_range(0..4) {
                0 => ("count(*)", kept.len() as i64),
                1 => ("count(age)", ages.count() as i64),
                2 => ("sum(age)", ages.sum()),
                _ => ("sum(days)", days.sum()),
            };
            let sql = format!("SELECT {total} FROM ward WHERE {text}");
            let statement = ward.released.statement(&sql).unwrap();
            let answers = ward.released.answer(&statement).unwrap();
            let [low, estimate, high, error] = answers.rows[0].as_slice() else {
                panic!("{sql}")
            };
            let (low, high) = (low.as_i64().unwrap(), high.as_i64().unwrap());
            let estimate = estimate.as_f64().unwrap();
            assert!(
                low <= truth && truth <= high,
                "{how:?}: {sql}: {truth} is not in [{low}, {high}]"
            );
            assert!(
                low as f64 <= estimate && estimate <= high as f64,
                "{how:?}: {sql}"
            );
            // What is sure has no error.
            assert!(
                low < high || error.as_f64().unwrap() < 1e-3,
                "{how:?}: {sql}"
            );
            asked += 1;
            tight += usize::from(high - low < 40);
        }
    }
    assert!(asked >= 10_000 && tight > 1_000, "{asked}, {tight} tight");
}
