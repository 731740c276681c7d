//! What holds for every sequential clustering of columns at several sites, however they are split.

use std::collections::{BTreeMap, BTreeSet};

use hedgerow_data::{Cell, Recode};
use hedgerow_privacy::{Model, Requirement};
use hedgerow_protocols::vertical::clustering::{
    BEST_START, CANDIDATES, CELLS, CLUSTER_COSTS, DEALT_RECORDS, Ended, HOLDING_PROPOSALS,
    LAST_ITERATION, LOSS_CHANGES, Loss, MET_REQUIREMENT, Phase, RANDOM_WORDS, RECORD_MOVES,
    UNITED_CLUSTERS, VALUES,
};
use hedgerow_smc::ledger::To;
use hedgerow_smc::{Settings, Site, What};
use proptest::prelude::*;

use super::columns::{How, PLAIN, Part, SIZES, Shared};
use crate::runs::requirement;

fn tables(rows: std::ops::Range<usize>) -> impl Strategy<Value = Vec<Vec<u32>>> {
    prop::collection::vec(prop::collection::vec(0..840u32, SIZES.len()), rows)
}

/// Every model that sites with different columns can check, alone or with another.
fn demands() -> impl Strategy<Value = String> {
    let beyond = prop::sample::select(vec![
        "",
        "",
        ", l = { at_least = 2, kind = \"distinct\" }",
        ", l = { at_least = 1.5, kind = \"frequency\" }",
        ", l = { at_least = 1.5, kind = \"entropy\" }",
        ", l = { at_least = 2, kind = \"recursive\", c = 3 }",
        ", t = 0.4",
        ", t = { at_most = 0.5, distance = \"equal\" }, l = 2",
        ", alpha = 0.8, beta = 3",
        ", beta = { at_most = 2, kind = \"enhanced\" }",
        ", delta = 1.5",
    ]);
    (1..7u32, beyond).prop_map(|(k, beyond)| format!("k = {k}{beyond}"))
}

/// TG12 Proposition 8.1 and section 8.3: the ledger holds the changes of the loss, to the pivot, the
/// steps that are public, and nothing else; each as often as the run has a use for it. Beyond the paper,
/// the pivot says which clusters can win, by the costs that it was told.
fn check_ledger(part: &Part, site: usize, requirement: &Requirement, how: How) {
    let mut times: BTreeMap<&str, usize> = BTreeMap::new();
    for (place, entry) in part.entries.iter().enumerate() {
        let disclosure = &entry.disclosure;
        assert!(entry.complete);
        *times.entry(disclosure.what.name()).or_default() += 1;
        if [LOSS_CHANGES, CLUSTER_COSTS].contains(&disclosure.what) {
            assert_eq!(disclosure.to, To::Site(Site::new(0)));
            let recorded = entry.recorded.iter().flatten();
            assert!(site == 0 || recorded.into_iter().all(|value| *value == 0));
            continue;
        }
        assert_eq!(disclosure.to, To::All);
        // What the pivot tells follows from what it learned just before.
        if [UNITED_CLUSTERS, LAST_ITERATION].contains(&disclosure.what) {
            assert_eq!(part.entries[place - 1].disclosure.what, LOSS_CHANGES);
        }
        // Where no cluster can win, nothing is asked.
        if disclosure.what == RECORD_MOVES {
            let before = part.entries[place - 1].disclosure.what;
            assert!([LOSS_CHANGES, CANDIDATES].contains(&before));
        }
    }
    let of = |what: What| times.get(what.name()).copied().unwrap_or(0);
    let is_known =
        |model: &Model| matches!(model, Model::KAnonymity { .. } | Model::Closeness { .. });
    let is_size = |model: &Model| matches!(model, Model::KAnonymity { .. });
    let asks_values = !requirement.models.iter().all(is_size);
    let starts = how.starts as usize;
    let mut expected = BTreeMap::from(
        [
            (
                MET_REQUIREMENT,
                usize::from(!requirement.models.iter().all(is_known)),
            ),
            (RANDOM_WORDS, 1),
            (LAST_ITERATION, part.steps.len()),
            (BEST_START, starts - 1),
            (CELLS, 1),
            (VALUES, 1),
            (LOSS_CHANGES, of(LOSS_CHANGES)),
            (CLUSTER_COSTS, of(CLUSTER_COSTS)),
            (CANDIDATES, of(RECORD_MOVES)),
            (RECORD_MOVES, of(RECORD_MOVES)),
            (UNITED_CLUSTERS, of(UNITED_CLUSTERS)),
        ]
        .map(|(what, times)| (what.name(), times)),
    );
    // What records save, and, where clusters can win, what joining them costs.
    let steps = of(UNITED_CLUSTERS) + part.steps.len() + starts - 1;
    let asked = of(LOSS_CHANGES) - steps;
    assert!((of(RECORD_MOVES)..=2 * of(RECORD_MOVES)).contains(&asked));
    assert!(of(CLUSTER_COSTS) <= of(RECORD_MOVES));
    if asks_values {
        // Every start is dealt, and every split of clusters.
        assert!(of(DEALT_RECORDS) >= starts);
        expected.insert(DEALT_RECORDS.name(), of(DEALT_RECORDS));
        expected.insert(HOLDING_PROPOSALS.name(), of(HOLDING_PROPOSALS));
    }
    expected.retain(|_, times| *times > 0);
    assert_eq!(times, expected);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// One party, and any split over two to five sites, with lines and with a trusted third.
    #[test]
    fn any_split_gives_the_same_clusters(
        rows in tables(7..60),
        sites in 2..=5usize,
        owners in prop::collection::vec(0..40usize, SIZES.len()),
        demand in demands(),
        loss in prop::sample::select(vec![Loss::Lm, Loss::Ncp, Loss::Em]),
        recode in prop::sample::select(vec![Recode::Node, Recode::Range, Recode::Set]),
        is_refined: bool,
        starts in 1..=3u32,
    ) {
        let shared = Shared::new(&rows);
        let demand = requirement(&demand, &shared.schema);
        let how = How { loss, recode, is_refined, starts, ..PLAIN };
        let split = shared.split(sites, &owners);
        let real = shared.together(&split, &demand, how, Settings::hardened());
        let ideal = shared.ideal(&split, &demand, how);
        let alone = match shared.in_place_of(&split, &demand, how) {
            Ok(alone) => alone,
            Err(error) => {
                prop_assert!(error.to_string().contains("cannot be met"), "{}", error);
                prop_assert!(real.is_err() && ideal.is_err());
                return Ok(());
            }
        };
        let (real, ideal) = (real.unwrap(), ideal.unwrap());
        shared.check(&alone, &demand, recode);
        prop_assert!(alone.entries.is_empty());
        let changes = |part: &Part| -> Vec<Option<f64>> {
            part.found.trace.iter().map(|step| step.change).collect()
        };
        for (site, (real, ideal)) in real.iter().zip(&ideal).enumerate() {
            prop_assert_eq!(&real.found.clusters, &alone.found.clusters);
            prop_assert_eq!(&ideal.found.clusters, &alone.found.clusters);
            prop_assert_eq!(&real.release, &alone.release);
            prop_assert_eq!(&ideal.release, &alone.release);
            check_ledger(real, site, &demand, how);
            let names = |part: &Part| -> BTreeSet<&'static str> {
                part.entries.iter().map(|entry| entry.disclosure.what.name()).collect()
            };
            prop_assert_eq!(names(real), names(ideal));
            if site == 0 {
                prop_assert_eq!(changes(real), changes(&alone));
            } else {
                prop_assert!(changes(real).iter().all(Option::is_none));
            }
        }
        // Refinement lowers the loss.
        let refined = alone.found.trace.iter().filter(|step| {
            step.phase == Phase::Refined
        });
        let refined: Vec<f64> = refined.filter_map(|step| step.change).collect();
        prop_assert!(refined.is_sorted_by(|before, after| before >= after));
    }

    /// Where one value is frequent, a closure that takes it in loses entropy: what joining costs one site may
    /// be less than nothing, and is made up for at another.
    #[test]
    fn entropy_that_falls_at_one_site_counts_at_all(
        rows in tables(20..90),
        sites in 2..=4usize,
        owners in prop::collection::vec(0..40usize, SIZES.len()),
        demand in demands(),
        recode in prop::sample::select(vec![Recode::Set, Recode::Range, Recode::Node]),
        is_published: bool,
    ) {
        // Four of seven values are the frequent one.
        let skewed = |word: u32| if word % 7 < 4 { 0 } else { word / 7 };
        let skewed = |row: &Vec<u32>| row.iter().map(|word| skewed(*word)).collect();
        let shared = Shared::new(&rows.iter().map(skewed).collect::<Vec<Vec<u32>>>());
        let demand = requirement(&demand, &shared.schema);
        let how = How { loss: Loss::Em, recode, ..PLAIN };
        let split = shared.split(sites, &owners);
        let settings = if is_published { Settings::published() } else { Settings::hardened() };
        let parts = shared.together(&split, &demand, how, settings);
        let Ok(alone) = shared.in_place_of(&split, &demand, how) else {
            prop_assert!(parts.is_err());
            return Ok(());
        };
        prop_assert_eq!(&parts.unwrap()[0].found.clusters, &alone.found.clusters);
    }

    /// What costs the same tells the same: another site's values in reverse order change the release,
    /// and not one number that anybody learned before it.
    #[test]
    fn the_pivot_learns_costs_and_no_values(
        rows in tables(7..40),
        sites in 2..=4usize,
        owners in prop::collection::vec(0..40usize, SIZES.len()),
        demand in demands(),
        starts in 1..=2u32,
    ) {
        let mut mirrored = rows.clone();
        for row in &mut mirrored {
            for place in [1, 2, 3] {
                // A missing value of `many` has no other side.
                let last = SIZES[place] - 1 - u32::from(place == 3);
                let code = row[place] % SIZES[place];
                row[place] = last.checked_sub(code).unwrap_or(code);
            }
        }
        let how = How { recode: Recode::Range, starts, ..PLAIN };
        let run = |rows: &[Vec<u32>]| {
            let shared = Shared::new(rows);
            let demand = requirement(&demand, &shared.schema);
            let split = shared.split(sites, &owners);
            shared.together(&split, &demand, how, Settings::hardened())
        };
        let (Ok(parts), Ok(others)) = (run(&rows), run(&mirrored)) else {
            return Ok(());
        };
        for (part, other) in parts.iter().zip(&others) {
            let before = |part: &Part| -> Vec<(What, Option<Vec<u64>>)> {
                let entries = part.entries.iter();
                let entries = entries.map(|entry| (entry.disclosure.what, entry.recorded.clone()));
                entries.take_while(|(what, _)| *what != CELLS).collect()
            };
            prop_assert_eq!(before(part), before(other));
            prop_assert_eq!(&part.found.clusters, &other.found.clusters);
        }
    }

    /// The published sums give the same.
    #[test]
    fn published_is_hardened(rows in tables(7..30), owners in prop::collection::vec(0..40usize, SIZES.len())) {
        let shared = Shared::new(&rows);
        let demand = requirement("k = 3", &shared.schema);
        let split = shared.split(3, &owners);
        let run = |settings| shared.together(&split, &demand, PLAIN, settings).unwrap();
        let (hardened, published) = (run(Settings::hardened()), run(Settings::published()));
        prop_assert_eq!(&hardened[0].found.clusters, &published[0].found.clusters);
        prop_assert_eq!(&hardened[0].release, &published[0].release);
        // As published all changes are told, and nobody hears which clusters can win.
        let told = |part: &Part, what: What| -> usize {
            let entries = part.entries.iter().filter(|entry| entry.disclosure.what == what);
            entries.map(|entry| entry.values).sum()
        };
        let (hardened, published) = (&hardened[0], &published[0]);
        prop_assert_eq!(told(published, CANDIDATES) + told(published, CLUSTER_COSTS), 0);
        prop_assert!(told(hardened, CANDIDATES) > 0);
    }

    /// As printed, records wait and are asked about again, of which the pivot keeps what has not changed:
    /// one party, which keeps nothing, gets the same.
    #[test]
    fn what_the_pivot_keeps_is_what_it_would_be_told(
        rows in tables(20..90),
        sites in 2..=4usize,
        owners in prop::collection::vec(0..40usize, SIZES.len()),
        demand in demands(),
        loss in prop::sample::select(vec![Loss::Lm, Loss::Ncp, Loss::Em]),
        recode in prop::sample::select(vec![Recode::Node, Recode::Range, Recode::Set]),
    ) {
        let shared = Shared::new(&rows);
        let demand = requirement(&demand, &shared.schema);
        let how = How { loss, recode, is_refined: false, is_printed: true, ..PLAIN };
        let split = shared.split(sites, &owners);
        let parts = shared.together(&split, &demand, how, Settings::published());
        let Ok(alone) = shared.in_place_of(&split, &demand, how) else {
            prop_assert!(parts.is_err());
            return Ok(());
        };
        prop_assert_eq!(&parts.unwrap()[0].found.clusters, &alone.found.clusters);
    }

    /// With noise the clusters may be others; the release is as good.
    #[test]
    fn noise_keeps_the_requirement(rows in tables(7..40), owners in prop::collection::vec(0..40usize, SIZES.len()), demand in demands()) {
        let shared = Shared::new(&rows);
        let demand = requirement(&demand, &shared.schema);
        let split = shared.split(2, &owners);
        let how = How { noise: 0.5, ..PLAIN };
        if let Ok(parts) = shared.together(&split, &demand, how, Settings::hardened()) {
            prop_assert_eq!(&parts[0].found.clusters, &parts[1].found.clusters);
            prop_assert_eq!(&parts[0].release, &parts[1].release);
            shared.check(&parts[0], &demand, PLAIN.recode);
        }
    }
}

fn some_rows(count: u32) -> Vec<Vec<u32>> {
    let word = |row: u32, column: u32| (row + 1).wrapping_mul(2_654_435_761 + 97 * column) >> 7;
    let row = |row| {
        (0..SIZES.len() as u32)
            .map(|column| word(row, column))
            .collect()
    };
    (0..count).map(row).collect()
}

/// Refused moves as printed: a record is asked about all clusters once in an iteration, and about those
/// that have changed when it waits, not about all of them time and again.
#[test]
fn records_that_wait_are_not_asked_about_everything_again() {
    let shared = Shared::new(&some_rows(200));
    let demand = requirement("k = 4, l = 2", &shared.schema);
    let how = How {
        is_refined: false,
        is_printed: true,
        ..PLAIN
    };
    let split = shared.split(2, &[0; SIZES.len()]);
    let parts = shared.together(&split, &demand, how, Settings::published());
    let part = &parts.unwrap()[0];
    let told = |what: What| -> usize {
        let entries = part.entries.iter();
        let of = entries.filter(|entry| entry.disclosure.what == what);
        of.map(|entry| entry.values).sum()
    };
    let steps = part.found.trace.iter();
    let once: usize = steps.map(|step| 200 * step.clusters).sum();
    assert!(
        told(LOSS_CHANGES) < 2 * once,
        "{} of {once}",
        told(LOSS_CHANGES)
    );
}

fn refused(rows: &[Vec<u32>], line: &str) -> String {
    let shared = Shared::new(rows);
    let demand = requirement(line, &shared.schema);
    let alone = shared.alone(&demand, PLAIN).err().unwrap().to_string();
    let split = shared.split(2, &[0; SIZES.len()]);
    assert!(
        shared
            .together(&split, &demand, PLAIN, Settings::hardened())
            .is_err()
    );
    alone
}

#[test]
fn what_cannot_be_met_is_refused_with_what_could() {
    let rows = some_rows(12);
    let message = refused(&rows, "k = 13");
    assert!(
        message.contains("the largest k that can be met is 12"),
        "{message}"
    );
    // Of three grades two occur.
    let mut graded = rows.clone();
    for (place, row) in graded.iter_mut().enumerate() {
        row[6] = place as u32 % 2;
    }
    for kind in ["distinct", "frequency"] {
        let line = format!("k = 2, l = {{ at_least = 3, kind = \"{kind}\" }}");
        let message = refused(&graded, &line);
        let best = "the largest value that could be met is 2";
        assert!(message.contains(best), "{message}");
    }
    for (line, model) in [
        ("k = 2, m = 1", "m = 1"),
        ("k = 2, site_diversity = 2", "site"),
        ("k = 2, l = 2, sensitive = \"product\"", "product"),
        ("k = 2, l = 2, sensitive = \"both\"", "both"),
    ] {
        let message = refused(&rows, line);
        let is_named = message.contains(model) && message.contains("cannot be asked");
        assert!(is_named && message.contains("hint: "), "{message}");
    }
}

#[test]
fn fewer_than_two_clusters_and_equal_records() {
    for (rows, k) in [
        (some_rows(9), 5),
        (some_rows(5), 5),
        (vec![vec![1; 8]; 20], 3),
    ] {
        let shared = Shared::new(&rows);
        let demand = requirement(&format!("k = {k}"), &shared.schema);
        let alone = shared.alone(&demand, PLAIN).unwrap();
        shared.check(&alone, &demand, PLAIN.recode);
        assert_ne!(alone.found.ended, Ended::Bound);
        if rows.len() < 2 * k {
            assert_eq!(alone.found.clusters.len(), 1);
        } else {
            assert_eq!(alone.found.own_loss, 0.0);
        }
        let split = shared.split(4, &[3, 1, 2, 0, 1, 2, 3, 0]);
        let parts = shared
            .together(&split, &demand, PLAIN, Settings::hardened())
            .unwrap();
        assert_eq!(parts[3].release, alone.release);
    }
}

/// A wide cell with a frequent value may have less entropy than a narrow one without it, so that two
/// clusters lose less as one.
#[test]
fn entropy_that_falls_where_clusters_are_united() {
    for turn in 0..10 {
        let row = |place: u32| {
            let some = if place % 6 == turn % 6 {
                place * 7 + turn
            } else {
                11
            };
            vec![0, 0, some % 12, 0, 0, 0, 0, 0]
        };
        let shared = Shared::new(&(0..66).map(row).collect::<Vec<_>>());
        let demand = requirement("k = 4", &shared.schema);
        let how = How {
            loss: Loss::Em,
            recode: Recode::Range,
            iterations: turn % 2,
            ..PLAIN
        };
        let alone = shared.alone(&demand, how).unwrap();
        shared.check(&alone, &demand, how.recode);
        let split = shared.split(3, &[0, 1, 2, 0, 1, 2, 0, 1]);
        let parts = shared.together(&split, &demand, how, Settings::hardened());
        assert_eq!(parts.unwrap()[1].release, alone.release);
    }
}

#[test]
fn an_attribute_with_one_value_is_written_as_it_is() {
    let mut rows = some_rows(60);
    rows.iter_mut().for_each(|row| row[0] = 3);
    let shared = Shared::new(&rows);
    let demand = requirement("k = 7", &shared.schema);
    for recode in [Recode::Node, Recode::Range, Recode::Set] {
        let how = How { recode, ..PLAIN };
        let alone = shared.alone(&demand, how).unwrap();
        shared.check(&alone, &demand, recode);
        // One of its two values and the only one of its domain.
        for (position, value) in [(1, 3), (5, 0)] {
            let column = alone.release.generalized(position).unwrap();
            assert_eq!(column.cells, [Cell::Interval(value, value)]);
        }
    }
}

/// TG12 6.1.1: where the requirement asks for diversity, the first sensitive attribute is dealt evenly,
/// so that no cluster of the start must be united for it.
#[test]
fn the_start_has_every_value_in_its_share() {
    let shared = Shared::new(&some_rows(120));
    // The start itself: no iterations, and clusters large enough from the beginning.
    let how = How {
        start: 1.0,
        iterations: 0,
        is_refined: false,
        ..PLAIN
    };
    let counts = |part: &Part| -> Vec<Vec<usize>> {
        let clusters = part.found.clusters.iter();
        let of = |rows: &Vec<u32>, value| {
            let codes = rows.iter().map(|row| shared.columns[5].get(*row as usize));
            codes.filter(|code| *code == value).count()
        };
        clusters
            .map(|rows| (0..SIZES[5]).map(|value| of(rows, value)).collect())
            .collect()
    };
    let is_even = |part: &Part| {
        (0..SIZES[5] as usize).all(|value| {
            let of = counts(part).into_iter().map(|counts| counts[value]);
            of.clone().max().unwrap() - of.min().unwrap() <= 1
        })
    };
    let demand = requirement(
        "k = 12, l = { at_least = 1.2, kind = \"frequency\" }",
        &shared.schema,
    );
    for owners in [[0; SIZES.len()], [2, 5, 1, 7, 0, 3, 4, 6]] {
        let split = shared.split(3, &owners);
        let parts = shared
            .together(&split, &demand, how, Settings::hardened())
            .unwrap();
        assert_eq!(parts[0].found.clusters.len(), 10, "nothing was united");
        assert!(is_even(&parts[0]));
    }
    // Where it is not asked for, nobody tells how values lie.
    let plain = requirement("k = 12", &shared.schema);
    assert!(!is_even(&shared.alone(&plain, how).unwrap()));
}

/// Of several starts the best is kept, whichever it is.
#[test]
fn the_best_of_several_starts_is_kept() {
    let mut is_later = false;
    for count in [120, 160, 200, 240] {
        let shared = Shared::new(&some_rows(count));
        let demand = requirement("k = 6, l = 2", &shared.schema);
        let run = |starts| shared.alone(&demand, How { starts, ..PLAIN }).unwrap();
        let (one, four) = (run(1), run(4));
        shared.check(&four, &demand, PLAIN.recode);
        // A start ends where iterations begin anew, and the last at the end.
        let mut ends: Vec<Option<f64>> = Vec::new();
        for pair in four.steps.windows(2) {
            if pair[0].phase != Phase::Iteration && pair[1].phase == Phase::Iteration {
                ends.push(pair[0].change);
            }
        }
        ends.extend(four.steps.last().map(|step| step.change));
        assert_eq!(ends.len(), 4);
        let kept = four.found.trace.last().unwrap().change;
        assert!(ends.iter().all(|end| kept <= *end), "{kept:?} {ends:?}");
        assert!(four.found.own_loss <= one.found.own_loss);
        is_later |= four.found.own_loss < one.found.own_loss;
        assert!(four.found.published_calls > one.found.published_calls);
    }
    assert!(is_later, "the first start is not always the best");
}

#[test]
fn the_bound_on_iterations_is_reported() {
    let shared = Shared::new(&some_rows(300));
    let demand = requirement("k = 5", &shared.schema);
    let one = shared
        .alone(
            &demand,
            How {
                iterations: 1,
                ..PLAIN
            },
        )
        .unwrap();
    assert_eq!(one.found.ended, Ended::Bound);
    shared.check(&one, &demand, PLAIN.recode);
    let more = shared.alone(&demand, PLAIN).unwrap();
    assert_ne!(more.found.ended, Ended::Bound);
    assert_ne!(more.found.refinement_ended, Some(Ended::Bound));
    // Why they ended is what the moves say.
    for part in [&one, &more] {
        let of = |phase| {
            part.found
                .trace
                .iter()
                .filter(move |step| step.phase == phase)
        };
        for (phase, ended) in [
            (Phase::Iteration, Some(part.found.ended)),
            (Phase::Refined, part.found.refinement_ended),
        ] {
            let last = of(phase).next_back().unwrap();
            let has_moved = ended != Some(Ended::NothingMoved);
            assert_eq!(has_moved, last.moved > 0, "{phase:?}: {ended:?}");
        }
    }
    let last = |part: &Part| part.found.own_loss;
    assert!(last(&more) < last(&one));
    let published = shared
        .alone(
            &demand,
            How {
                is_refined: false,
                ..PLAIN
            },
        )
        .unwrap();
    assert!(last(&more) < last(&published), "moving on saves");
    assert!(
        more.found.published_calls >= 600,
        "a sum for each record in each iteration"
    );
}
