//! What holds for every table that sites with different columns cut together, however they are split.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use hedgerow_data::study::Split;
use hedgerow_data::{Cell, Codes, Recode, Release, Role};
use hedgerow_privacy::{Model, Requirement};
use hedgerow_protocols::Error;
use hedgerow_protocols::horizontal::cover::Writing;
use hedgerow_protocols::horizontal::mondrian::Widths;
use hedgerow_protocols::vertical::d2pt::Fragments;
use hedgerow_protocols::vertical::mondrian::{
    CELLS, CUTTING_SITES, Found, HOLDING_PARTS, LEFT_PEOPLE, MET_REQUIREMENT, Plan, REFUSED_CUTS,
    VALUES, WIDTHS, assemble, fragment, partition,
};
use hedgerow_smc::ledger::{Entry, To};
use hedgerow_smc::memory::{Fault, Faults, Outcome, Simulation};
use hedgerow_smc::{Party, Seed, Settings, Site, What};
use proptest::prelude::*;

use super::columns::{SIZES, Shared};
use crate::liars::struck;
use crate::runs::{mixed, requirement};

/// What one site has in the end.
struct Part {
    found: Found,
    release: Release,
    fragments: Fragments,
    entries: Vec<Entry>,
}

async fn take_part(
    shared: &Shared,
    mut party: Party,
    split: &Split,
    requirement: &Requirement,
    recode: Recode,
) -> Result<Part, Error> {
    party.keep_values();
    let quasi = shared.schema.with_role(Role::Quasi).into_iter();
    let plan = Plan {
        schema: &shared.schema,
        split,
        requirement,
        writings: quasi
            .map(|position| Writing {
                domain: &shared.schema.attributes()[position].domain,
                recode,
            })
            .collect(),
    };
    // A site has its own columns only.
    let me = party.me().index();
    let is_own = |position: &usize| {
        let roles = [Role::Quasi, Role::Sensitive, Role::Other];
        let mut own = roles
            .iter()
            .map(|role| split.with_role(&shared.schema, me, *role));
        party.sites() == 1 || own.any(|own| own.contains(position))
    };
    let own: Vec<(usize, &Codes)> = (1..=SIZES.len())
        .filter(is_own)
        .map(|position| (position, &shared.columns[position - 1]))
        .collect();
    let found = partition(&mut party, &plan, &own, &shared.rows, |_, _| {}).await?;
    let release = assemble(&mut party, &plan, &own, &shared.rows, &found).await?;
    let entries = party.ledger().entries().to_vec();
    let fragments = fragment(&mut party, &plan, &own, &shared.rows, &found).await?;
    Ok(Part {
        found,
        release,
        fragments,
        entries,
    })
}

fn alone(shared: &Shared, demand: &Requirement, recode: Recode) -> Result<Part, Error> {
    let party = Party::alone(Settings::hardened(), &Seed::for_site(1, 0));
    let split = shared.split(1, &[0; SIZES.len()]);
    pollster::block_on(take_part(shared, party, &split, demand, recode))
}

fn run(
    shared: &Shared,
    split: &Split,
    demand: &Requirement,
    recode: Recode,
    simulation: &Simulation,
) -> Outcome<Part, Error> {
    simulation.run(|party| take_part(shared, party, split, demand, recode))
}

fn tables(rows: Range<usize>) -> impl Strategy<Value = Vec<Vec<u32>>> {
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

fn recodings() -> impl Strategy<Value = Recode> {
    prop::sample::select(vec![Recode::Node, Recode::Range, Recode::Set])
}

/// The classes as they must be, by plain loops over rows that share nothing with the run: the widest
/// attribute that can be cut, at its median, until none can.
fn classes_by_loops(shared: &Shared, demand: &Requirement) -> BTreeSet<Vec<u32>> {
    let value = |column: usize, person: u32| u64::from(shared.columns[column].get(person as usize));
    let range = |column: usize, people: &[u32]| {
        let values: Vec<u64> = people.iter().map(|person| value(column, *person)).collect();
        let (least, most) = (values.iter().min(), values.iter().max());
        (*least.unwrap(), *most.unwrap())
    };
    let holds = |people: &[u32]| shared.satisfies(people, demand);
    let mut done = BTreeSet::new();
    let mut open = vec![shared.rows.clone()];
    while let Some(people) = open.pop() {
        // Shares of the whole table's range as exact fractions; of equals the first attribute.
        let mut order: Vec<usize> = (0..5).collect();
        let share = |column: usize| {
            let (least, most) = range(column, &people);
            let (first, last) = range(column, &shared.rows);
            (most - least + 1) as f64 / (last - first + 1) as f64
        };
        order.sort_by(|one, other| share(*other).total_cmp(&share(*one)).then(one.cmp(other)));
        let mut cut = None;
        'found: for column in order {
            let (least, most) = range(column, &people);
            let mut sorted: Vec<u64> = people.iter().map(|person| value(column, *person)).collect();
            sorted.sort_unstable();
            let median = sorted[sorted.len().div_ceil(2) - 1];
            for (is_side, at_most) in [
                (median < most, median),
                (median > least, median.wrapping_sub(1)),
            ] {
                let (left, right): (Vec<u32>, Vec<u32>) = people
                    .iter()
                    .partition(|person| value(column, **person) <= at_most);
                if is_side && holds(&left) && holds(&right) {
                    cut = Some((left, right));
                    break 'found;
                }
            }
        }
        match cut {
            Some((left, right)) => open.extend([left, right]),
            None => {
                done.insert(people);
            }
        }
    }
    done
}

/// The ledger holds what the module lists, each to all sites and as often as the run has a use for it,
/// and names the people of refused cuts a second time.
fn check_ledger(part: &Part, demand: &Requirement) {
    let mut times: BTreeMap<&str, usize> = BTreeMap::new();
    for entry in &part.entries {
        assert!(entry.complete);
        assert_eq!(entry.disclosure.to, To::All);
        *times.entry(entry.disclosure.what.name()).or_default() += 1;
    }
    let mut of = |what: What| times.remove(what.name()).unwrap_or(0);
    let is_size = |model: &Model| matches!(model, Model::KAnonymity { .. });
    let is_known = |model: &Model| is_size(model) || matches!(model, Model::Closeness { .. });
    let waves = part.found.waves as usize;
    assert_eq!(of(WIDTHS), 1);
    assert_eq!(of(LEFT_PEOPLE), waves);
    let cutting = of(CUTTING_SITES);
    assert!(
        cutting == waves || cutting == 0,
        "none where one site cuts alone"
    );
    assert_eq!(of(MET_REQUIREMENT) > 0, !demand.models.iter().all(is_known));
    assert!(of(HOLDING_PARTS) <= waves);
    let refused = of(REFUSED_CUTS);
    assert!(refused as u64 <= part.found.refused && (refused > 0) == (part.found.refused > 0));
    assert!(
        !demand.models.iter().all(is_size) || refused == 0,
        "k is checked before anything is sent"
    );
    assert_eq!((of(CELLS), of(VALUES)), (1, 1));
    assert!(times.is_empty(), "{times:?}");
    // Everybody of every class that was open is told of once in a wave.
    let entries = part.entries.iter();
    let told = entries.filter(|entry| entry.disclosure.what == LEFT_PEOPLE);
    assert!(
        told.map(|entry| entry.values)
            .all(|people| people <= part.release.rows())
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// One party, plain loops, and any split over two to five sites, with lines and with a trusted third.
    #[test]
    fn any_split_gives_the_same_classes(
        rows in tables(7..70),
        is_skewed: bool,
        sites in 2..=5usize,
        owners in prop::collection::vec(0..40usize, SIZES.len()),
        demand in demands(),
        recode in recodings(),
        is_published: bool,
    ) {
        // Where skewed, two of three values are the frequent one.
        let skewed = |word: u32| if is_skewed && word % 3 < 2 { 0 } else { word / 3 };
        let rows: Vec<Vec<u32>> = rows.iter().map(|row| row.iter().map(|word| skewed(*word)).collect()).collect();
        let shared = Shared::new(&rows);
        let demand = requirement(&demand, &shared.schema);
        let split = shared.split(sites, &owners);
        let settings = if is_published { Settings::published() } else { Settings::hardened() };
        let simulation = Simulation::new(sites, 5).settings(settings);
        let real = run(&shared, &split, &demand, recode, &simulation).into_values();
        let ideal: Result<Vec<Part>, Error> = Simulation::new(sites, 5)
            .run_ideal(|party| take_part(&shared, party, &split, &demand, recode))
            .into_iter()
            .collect();
        let alone = match alone(&shared, &demand, recode) {
            Ok(alone) => alone,
            Err(error) => {
                prop_assert!(error.to_string().contains("cannot be met"), "{}", error);
                prop_assert!(real.is_err() && ideal.is_err());
                return Ok(());
            }
        };
        let classes: BTreeSet<Vec<u32>> = alone.found.classes.iter().cloned().collect();
        prop_assert_eq!(&classes, &classes_by_loops(&shared, &demand));
        prop_assert!(alone.entries.is_empty());
        shared.check_release(&alone.found.classes, &alone.release, &demand, recode);
        check_fragments(&shared, &alone, recode);
        for (real, ideal) in real.unwrap().iter().zip(&ideal.unwrap()) {
            for part in [real, ideal] {
                let found: BTreeSet<Vec<u32>> = part.found.classes.iter().cloned().collect();
                prop_assert_eq!(&found, &classes);
                prop_assert_eq!(&part.release, &alone.release);
                prop_assert_eq!(&part.fragments, &alone.fragments);
                check_ledger(part, &demand);
            }
            let opened = |part: &Part| -> Vec<(What, Option<Vec<u64>>)> {
                let entries = part.entries.iter();
                entries.map(|entry| (entry.disclosure.what, entry.recorded.clone())).collect()
            };
            prop_assert_eq!(opened(real), opened(ideal));
        }
    }

    /// Horizontal Mondrian with all rows at one site, widths of the data and strict medians, finds the same.
    #[test]
    fn horizontal_mondrian_finds_the_same(rows in tables(7..90), demand in demands()) {
        let shared = Shared::new(&rows);
        let demand = requirement(&demand, &shared.schema);
        let Ok(vertical) = alone(&shared, &demand, Recode::Node) else {
            return Ok(());
        };
        let mut plan = crate::tables::plan(&shared.schema, &demand, false);
        plan.widths = Widths::Data;
        for (place, attribute) in plan.demands.sensitive.iter_mut().enumerate() {
            let domain = &shared.schema.attributes()[6 + place].domain;
            attribute.distance = hedgerow_privacy::closeness::Distance::natural(domain);
            for model in &demand.models {
                if let Model::Closeness { distance: Some(distance), .. } = model {
                    attribute.distance = *distance;
                }
            }
        }
        let classes = crate::tables::classes_of_one(&shared.columns, &SIZES, &plan, 5, 2);
        let vertical: BTreeSet<Vec<u32>> = vertical.found.classes.into_iter().collect();
        prop_assert_eq!(vertical, classes);
    }

    /// What is opened before the release is who cuts and who goes left: another site's values may be turned
    /// around, or spread, without a change of it.
    #[test]
    fn sites_learn_who_goes_left_and_no_values(
        rows in tables(7..40),
        owners in prop::collection::vec(0..40usize, SIZES.len()),
    ) {
        let shared = Shared::new(&rows);
        let demand = requirement("k = 2", &shared.schema);
        let split = shared.split(3, &owners);
        let parts = run(&shared, &split, &demand, Recode::Set, &Simulation::new(3, 5)).into_values().unwrap();
        // Sensitive and other values play no part where k alone is asked for.
        let mut others = rows.clone();
        others.iter_mut().for_each(|row| row[5..].iter_mut().for_each(|word| *word += 1));
        let shared = Shared::new(&others);
        let others = run(&shared, &split, &demand, Recode::Set, &Simulation::new(3, 5)).into_values().unwrap();
        let opened = |part: &Part| -> Vec<(What, Option<Vec<u64>>)> {
            let entries = part.entries.iter().filter(|entry| entry.disclosure.what != VALUES);
            entries.map(|entry| (entry.disclosure.what, entry.recorded.clone())).collect()
        };
        for (part, other) in parts.iter().zip(&others) {
            prop_assert_eq!(opened(part), opened(other));
        }
    }
}

/// Groups are the classes; each attribute's values are those of the group's people; cells are as tight as
/// can be.
fn check_fragments(shared: &Shared, part: &Part, recode: Recode) {
    let fragments = &part.fragments;
    type Group = (Vec<Cell>, Vec<Vec<u32>>);
    let mut told: Vec<Group> = Vec::new();
    let mut from = 0;
    for group in fragments.group.chunk_by(|one, other| one == other) {
        let rows = from..from + group.len();
        from = rows.end;
        let cells = fragments.quasi.iter().map(|(_, column)| {
            let codes = &column.codes[rows.clone()];
            assert!(codes.iter().all(|code| *code == codes[0]));
            column.cells[codes[0] as usize].clone()
        });
        let values = fragments
            .verbatim
            .iter()
            .map(|(_, codes)| rows.clone().map(|row| codes.get(row)).collect());
        told.push((cells.collect(), values.collect()));
    }
    assert!(told.is_sorted(), "no other order than that of contents");
    let mut truth: Vec<Group> = part
        .found
        .classes
        .iter()
        .map(|people| {
            let cells = (0..5).map(|place| shared.cell(place, people, recode));
            let values = (5..8).map(|place| {
                let mut values: Vec<u32> = people
                    .iter()
                    .map(|one| shared.columns[place].get(*one as usize))
                    .collect();
                values.sort_unstable();
                values
            });
            (cells.collect(), values.collect())
        })
        .collect();
    truth.sort();
    assert_eq!(told, truth);
}

fn some_rows(count: u64) -> Vec<Vec<u32>> {
    let word = |row: u64, column: u64| mixed(row * 31 + column) as u32 % 840;
    let row = |row| {
        (0..SIZES.len() as u64)
            .map(|column| word(row, column))
            .collect()
    };
    (0..count).map(row).collect()
}

#[test]
fn what_cannot_be_met_or_asked_is_refused_by_name() {
    let shared = Shared::new(&some_rows(12));
    for (line, named) in [
        ("k = 13", "the largest k that can be met is 12"),
        ("k = 2, m = 1", "m = 1"),
        ("k = 2, site_diversity = 2", "site"),
        ("k = 2, l = 2, sensitive = \"product\"", "product"),
        ("k = 2, l = 2, sensitive = \"both\"", "both"),
    ] {
        let demand = requirement(line, &shared.schema);
        let message = alone(&shared, &demand, Recode::Node)
            .err()
            .unwrap()
            .to_string();
        assert!(
            message.contains(named) && message.contains("hint: "),
            "{message}"
        );
        let split = shared.split(3, &[0; SIZES.len()]);
        let simulation = Simulation::new(3, 5);
        assert!(
            run(&shared, &split, &demand, Recode::Node, &simulation)
                .into_values()
                .is_err()
        );
    }
}

/// Records that are all alike, and fewer than two classes.
#[test]
fn tables_without_a_cut() {
    for (rows, k, classes) in [
        (vec![vec![1; 8]; 20], 3, 1),
        (some_rows(9), 5, 1),
        (some_rows(10), 5, 2),
    ] {
        let shared = Shared::new(&rows);
        let demand = requirement(&format!("k = {k}"), &shared.schema);
        let split = shared.split(4, &[3, 1, 2, 0, 1, 2, 3, 0]);
        let parts = run(
            &shared,
            &split,
            &demand,
            Recode::Range,
            &Simulation::new(4, 5),
        )
        .into_values()
        .unwrap();
        assert!(parts[3].found.classes.len() <= classes);
        assert_eq!(
            parts[3].release,
            alone(&shared, &demand, Recode::Range).unwrap().release
        );
    }
}

/// Numbers added to frames of a peer end the run with an error, or change nothing that must hold.
#[test]
fn numbers_added_to_cuts_of_the_same_people() {
    let shared = Shared::new(&some_rows(120));
    for (sites, line, recode) in [
        (3, "k = 3, l = 2", Recode::Range),
        (2, "k = 5", Recode::Set),
    ] {
        let split = shared.split(sites, &[0; SIZES.len()]);
        let demand = requirement(line, &shared.schema);
        let (refused, named) = struck(
            &format!("{sites} sites, {line}"),
            &Simulation::new(sites, 5),
            &|simulation| run(&shared, &split, &demand, recode, simulation),
            &|part| {
                let mut classes = part.found.classes.iter();
                part.release.rows() == 120
                    && part.fragments.group.len() == 120
                    && classes.all(|class| class.len() as u64 >= demand.k())
            },
        );
        // Between two, what a lie does to a transfer is seen before any number is.
        assert!(
            refused > 0 && (named > 0 || sites == 2),
            "{sites} sites: {refused}, {named}"
        );
    }
}

/// Where a site lies.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Lie {
    Width,
    TooFewLeft,
    TooFewRight,
    NoCut,
    TooOften,
    AgainAndAgain,
    Cell,
}

/// Of equals the first counts.
const LIAR: Site = Site::new(0);

/// The first of two sites, which holds `some` alone and claims to have the widest attribute.
async fn lie(mut party: Party, people: usize, lie: Lie, sizes: &[u32]) -> Result<(), Error> {
    let bits_of = |size: u32| (u32::BITS - (size - 1).leading_zeros()).max(1) as u8;
    let others: Vec<u8> = sizes.iter().map(|size| bits_of(*size)).collect();
    // Twelve values take four bits, which hold sixteen.
    let width = match lie {
        Lie::Width => 15,
        Lie::TooOften => 1,
        _ => 11,
    };
    let told = party
        .tell_each(WIDTHS, &[vec![4], others.clone()], &[width])
        .await?;
    let highest = told.iter().sum();
    let sites: Vec<Site> = Site::all(2).collect();
    // The people of each open class; a class too small for two parts has no wave.
    let mut open = if lie == Lie::Cell {
        vec![]
    } else {
        vec![people]
    };
    for _ in 0..4 {
        if open.is_empty() {
            break;
        }
        let mut winners = vec![1; open.len()];
        let widest = vec![highest; open.len()];
        party
            .greatest(CUTTING_SITES, highest, &sites, &widest, &mut winners)
            .await?;
        assert!(winners.iter().all(|winner| *winner == 0));
        let mut bits = Vec::new();
        for people in &open {
            bits.extend((0..*people).map(|place| match lie {
                Lie::TooFewLeft => place < 2,
                Lie::TooFewRight => place > 0,
                Lie::NoCut => false,
                _ => place < people / 2,
            }));
        }
        let bits: Vec<u64> = bits.into_iter().map(u64::from).collect();
        party
            .tell_each(LEFT_PEOPLE, &[vec![1; bits.len()], Vec::new()], &bits)
            .await?;
        if lie == Lie::AgainAndAgain {
            let answers = [Vec::new(), vec![1; open.len()]];
            let holds = party.tell_each(HOLDING_PARTS, &answers, &[]).await?;
            assert_eq!(holds, [0], "the cut is refused");
        } else {
            open = open.iter().flat_map(|people| [people / 2; 2]).collect();
        }
    }
    // One class, whose range goes from 9 down to 2.
    let cells = others.iter().flat_map(|bits| [*bits; 2]).collect();
    party
        .tell_each(CELLS, &[vec![4; 2], cells], &[9, 2])
        .await?;
    Ok(())
}

/// An error names the site that told it.
#[test]
fn a_site_that_lies_about_cuts_is_found_out() {
    let rows = some_rows(20);
    let shared = Shared::new(&rows);
    let names: Vec<&str> = shared.schema.attributes()[1..]
        .iter()
        .map(|attribute| attribute.name.as_str())
        .collect();
    let others = names
        .iter()
        .copied()
        .filter(|name| *name != "some")
        .collect();
    let split = Split::new(&shared.schema, &[vec!["some"], others]).unwrap();
    let sizes = [SIZES[0], SIZES[1], SIZES[3], SIZES[4]];
    for (what, line, problem, told) in [
        (Lie::Width, "k = 3", "wider than its domain", WIDTHS),
        (Lie::TooFewLeft, "k = 3", "fewer than k people", LEFT_PEOPLE),
        (
            Lie::TooFewRight,
            "k = 3",
            "fewer than k people",
            LEFT_PEOPLE,
        ),
        (Lie::NoCut, "k = 3", "and another has one", LEFT_PEOPLE),
        (
            Lie::TooOften,
            "k = 3",
            "more often than the site's attributes have values",
            LEFT_PEOPLE,
        ),
        (
            Lie::AgainAndAgain,
            "k = 3, t = 0.0001",
            "more cuts of a class are proposed",
            LEFT_PEOPLE,
        ),
        (Lie::Cell, "k = 11", "no cell of its attribute", CELLS),
    ] {
        let demand = requirement(line, &shared.schema);
        let run = Simulation::new(2, 5).run(|party| {
            let (shared, split, demand) = (&shared, &split, &demand);
            async move {
                if party.me() == LIAR {
                    return lie(party, 20, what, &sizes).await;
                }
                let honest = take_part(shared, party, split, demand, Recode::Range).await;
                honest.map(|_| ())
            }
        });
        let error = run.results.into_iter().nth(1).unwrap().unwrap_err();
        let Error::Party(party) = &error else {
            panic!("{what:?}: {error}");
        };
        assert_eq!(party.peer(), Some(LIAR), "{what:?}: {error}");
        let error = error.to_string();
        assert!(
            error.contains(problem) && error.contains(told.name()) && error.contains("site 0"),
            "{what:?}: {error}"
        );
    }
}

/// Messages that are too short, too long, or of people who are not in the class: what a site tells is a bit for
/// each person of the classes that it cuts, and nothing else decodes.
#[test]
fn cuts_of_another_length_are_refused() {
    let shared = Shared::new(&some_rows(60));
    let split = shared.split(3, &[0, 1, 2, 0, 1, 2, 0, 1]);
    let demand = requirement("k = 3, l = 2", &shared.schema);
    let honest = Simulation::new(3, 5);
    let ended = run(&shared, &split, &demand, Recode::Set, &honest);
    let (victim, liar) = (Site::new(0), Site::new(1));
    let frames = ended.traffic.link(liar, victim).messages as u32;
    assert!(frames > 10);
    for frame in 0..frames {
        for length in [0, 1, 5, 9, 100_000] {
            let fault = Fault::Replace(vec![0xff; length]);
            let faults = Faults::default().strike(liar, victim, frame, fault);
            let simulation = honest.clone().faults(faults);
            let outcome = run(&shared, &split, &demand, Recode::Set, &simulation);
            match outcome.results.into_iter().next().unwrap() {
                // Bytes that are what the question asks for.
                Ok(part) => assert_eq!(part.release.rows(), 60),
                Err(Error::Party(error)) => {
                    let is_named = error.peer().is_some() || error.to_string().contains("question");
                    assert!(is_named, "frame {frame}, {length} bytes: {error}");
                }
                Err(error) => panic!("frame {frame}, {length} bytes: {error}"),
            }
        }
    }
}
