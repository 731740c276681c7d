//! What holds for every run of D2Pt, whoever has which columns.

use std::collections::BTreeMap;

use hedgerow_privacy::Model;
use hedgerow_protocols::vertical::align::COMMON;
use hedgerow_protocols::vertical::d2pt::{
    Anonymizer, CELLS, CLASS_CUTS, CLASSES, Compared, Datafly, GROUPS, HOLDING_GROUPS,
    JOINED_CLASSES, Loss, MET_REQUIREMENT, OWN_GROUPS, Optimal, REFUSED_GROUPS, RESTORED,
    Suppression, Synchronizer, VALUES,
};
use hedgerow_smc::{Settings, What, align};
use proptest::prelude::*;

use super::people::{How, Part, People, alone, study};
use crate::runs::requirement;

const SYNCHRONIZERS: [Synchronizer; 4] = [
    Synchronizer::Identity,
    Synchronizer::Fork,
    Synchronizer::Merge,
    Synchronizer::Dpp2ga,
];

/// A ragged taxonomy: levels differ in depth from branch to branch.
const TREE: &str = "a;X;*\nb;X;*\nc;c1;Y;*\nd;c1;Y;*\ne;Y;*\n";

/// Five sites' columns at most: two quasi-identifiers, a sensitive attribute and another one each.
pub(crate) fn people(
    sites: usize,
    rows: &[Vec<u32>],
    without_quasi: Option<usize>,
    strangers: bool,
) -> People {
    let mut text = String::new();
    let mut columns: Vec<Vec<String>> = Vec::new();
    for site in 0..sites {
        let mut own = Vec::new();
        let mut add = |name: String, role: &str, form: &str| {
            text.push_str(&format!(
                "[[attribute]]\nname = \"{name}\"\nrole = \"{role}\"\n{form}\n"
            ));
            own.push(name);
        };
        let has_quasi = without_quasi != Some(site) || sites == 1;
        let role = if has_quasi { "quasi" } else { "other" };
        add(format!("p{site}"), role, "taxonomy = \"tree.csv\"");
        add(
            format!("q{site}"),
            role,
            "type = \"integer\"\nrange = [0, 2]\nmissing = \"NA\"",
        );
        // The second site has no sensitive attribute.
        let role = if site == 1 { "other" } else { "sensitive" };
        add(
            format!("s{site}"),
            role,
            "taxonomy = \"tree.csv\"\nordered = true",
        );
        columns.push(own);
    }
    let study = study(&text, &[("tree.csv", TREE)]);
    let sizes = [5, 4, 5];
    let everybody: Vec<(String, Vec<u32>)> = rows
        .iter()
        .enumerate()
        .map(|(place, row)| {
            let codes = row[..3 * sites].iter().enumerate();
            let codes = codes.map(|(column, word)| word % sizes[column % 3]);
            (format!("person {place}"), codes.collect())
        })
        .collect();
    let columns: Vec<Vec<&str>> = columns
        .iter()
        .map(|names| names.iter().map(String::as_str).collect())
        .collect();
    let count = everybody.len();
    People::new(&study, &columns, &everybody, |site| {
        let mut places: Vec<usize> = (0..count).collect();
        places.sort_by_key(|place| (place * 7 + site * 5) % (count + 1));
        // Every site but the first misses somebody whom others have.
        if strangers && site > 0 && count > 8 {
            places.retain(|place| *place != site);
        }
        places
    })
}

/// How often each name stands in a site's ledger.
fn times(part: &Part) -> BTreeMap<&'static str, usize> {
    let mut times = BTreeMap::new();
    for entry in &part.entries {
        assert!(entry.complete);
        *times.entry(entry.disclosure.what.name()).or_default() += 1;
    }
    times
}

/// The module's list for a synchronizer, each name as often as the run has a use for it. What is
/// asked of sites without classes, and of groups, follows from how often groups were found.
fn expected(
    part: &Part,
    how: How<'_>,
    without_quasi: usize,
    is_ideal: bool,
) -> BTreeMap<&'static str, usize> {
    let found = times(part).get(HOLDING_GROUPS.name()).copied().unwrap_or(0);
    let synchronizations = part.joint.synchronizations as usize;
    let cuts = how.synchronizer == Synchronizer::Dpp2ga;
    let is_known =
        |model: &Model| matches!(model, Model::KAnonymity { .. } | Model::Closeness { .. });
    let meets = !how.requirement.models.iter().all(is_known);
    // Only MERGE and FORK's and IDENTITY's last synchronization find groups; cuts may be refused.
    assert!(found >= 1 && found <= synchronizations);
    let list: [(What, usize); 14] = [
        (COMMON, 1),
        (align::SIZES, 1),
        // A trusted third shows no tags to a comparing site.
        (align::OVERLAPS, usize::from(!is_ideal)),
        (MET_REQUIREMENT, usize::from(meets)),
        (CLASSES, 1),
        (JOINED_CLASSES, synchronizations - 1),
        (CLASS_CUTS, if cuts { found } else { 0 }),
        (GROUPS, if cuts { 0 } else { found * without_quasi }),
        (OWN_GROUPS, found),
        (HOLDING_GROUPS, found),
        (REFUSED_GROUPS, found - 1),
        (CELLS, usize::from(!how.restore)),
        (RESTORED, usize::from(how.restore)),
        (VALUES, 1),
    ];
    let list = list.into_iter().filter(|(_, times)| *times > 0);
    list.map(|(what, times)| (what.name(), times)).collect()
}

fn demands() -> impl Strategy<Value = String> {
    let distance = prop::sample::select(vec!["equal", "ordered", "hierarchical"]);
    let t = prop::sample::select(vec!["0.15", "0.3", "0.5", "1"]);
    (1..5u32, t, distance, prop::bool::weighted(0.2)).prop_map(|(k, t, distance, l)| {
        let l = if l { ", l = 2" } else { "" };
        format!("k = {k}, t = {{ at_most = {t}, distance = \"{distance}\" }}{l}")
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn every_release_satisfies_the_requirement(
        rows in prop::collection::vec(prop::collection::vec(0..60u32, 15), 9..40),
        sites in 2..=5usize,
        synchronizer in prop::sample::select(SYNCHRONIZERS.to_vec()),
        without_quasi in prop::option::weighted(0.25, 0..5usize),
        demand in demands(),
        suppression in prop::sample::select(vec![
            Suppression::NONE,
            Suppression::Outliers,
            Suppression::Share(0.1),
            Suppression::Share(0.3),
        ]),
        restore: bool,
        optimal: bool,
        strangers: bool,
    ) {
        let people = people(sites, &rows, without_quasi, strangers);
        let demand = requirement(&demand, &people.schema);
        let best = Optimal { loss: Loss::Discernibility, ..Optimal::default() };
        let anonymizer: &dyn Anonymizer = if optimal { &best } else { &Datafly };
        let how = How { requirement: &demand, anonymizer, synchronizer, suppression, restore };
        // The distinct values of all records may be too few for l.
        let real = people.together(how, Settings::hardened());
        let ideal = people.ideal(how);
        let (real, ideal) = match (real, ideal) {
            (Ok(real), Ok(ideal)) => (real, ideal),
            (Err(real), Err(ideal)) => {
                prop_assert_eq!(real.to_string(), ideal.to_string());
                return Ok(());
            }
            (real, ideal) => panic!("{:?} {:?}", real.err(), ideal.err()),
        };
        people.check(&real, how);
        people.check(&ideal, how);
        prop_assert_eq!(people.groups(&real[0]), people.groups(&ideal[0]), "ideal = real");
        let has_quasi = without_quasi.is_none_or(|site| site >= sites);
        for (parts, is_ideal) in [(&real, false), (&ideal, true)] {
            for part in parts {
                let expected = expected(part, how, usize::from(!has_quasi), is_ideal);
                prop_assert_eq!(times(part), expected, "the ledger holds exactly the list");
            }
        }
        if synchronizer == Synchronizer::Merge && has_quasi {
            prop_assert_eq!(real[0].joint.synchronizations, 1);
        }
        for part in &real {
            if let Suppression::Share(share) = suppression {
                let hidden = part.joint.suppressed.iter().filter(|hides| **hides).count();
                prop_assert!(hidden <= (rows.len() as f64 * share) as usize);
            }
            let attempts = &part.joint.attempts;
            prop_assert_eq!(attempts.len() as u32, part.joint.synchronizations);
            let last = attempts.iter().position(|attempt| attempt.outcome == Compared::Groups);
            prop_assert_eq!(last, Some(attempts.len() - 1), "the last makes the groups, and no other");
            // Classes are joined and never parted, and groups that are set aside stay so.
            prop_assert!(attempts.windows(2).all(|pair| pair[1].classes <= pair[0].classes));
            prop_assert!(attempts.windows(2).all(|pair| pair[1].aside >= pair[0].aside));
        }
    }

    /// Where nearly all people are alike, a few outliers do not take everybody with them.
    #[test]
    fn outliers_are_suppressed_whatever_the_skew(
        rows in prop::collection::vec(prop::collection::vec(0..60u32, 6), 12..60),
        synchronizer in prop::sample::select(SYNCHRONIZERS.to_vec()),
        demand in demands(),
        optimal: bool,
    ) {
        let skewed = |row: &Vec<u32>| row.iter().map(|word| word.saturating_sub(54)).collect();
        let rows: Vec<Vec<u32>> = rows.iter().map(skewed).collect();
        let people = people(2, &rows, None, false);
        let demand = requirement(&demand, &people.schema);
        let anonymizer: &dyn Anonymizer = if optimal { &Optimal::BY_CELLS } else { &Datafly };
        let suppression = Suppression::Outliers;
        let how = How { requirement: &demand, anonymizer, synchronizer, suppression, restore: false };
        if let Ok(parts) = people.together(how, Settings::hardened()) {
            people.check(&parts, how);
        }
    }

    #[test]
    fn one_party_with_all_columns_is_a_run(
        rows in prop::collection::vec(prop::collection::vec(0..60u32, 3), 9..40),
        synchronizer in prop::sample::select(SYNCHRONIZERS.to_vec()),
        demand in demands(),
    ) {
        let people = people(1, &rows, None, false);
        let demand = requirement(&demand, &people.schema);
        let how = How { requirement: &demand, anonymizer: &Datafly, synchronizer, suppression: Suppression::NONE, restore: false };
        match alone(&people, how) {
            Err(error) => prop_assert!(error.to_string().contains("cannot be met"), "{}", error),
            Ok(part) => {
                prop_assert_eq!(part.joint.synchronizations, 1);
                prop_assert!(part.entries.is_empty());
                people.check(&[part], how);
            }
        }
    }

    /// Full-domain search: no levels that hold lose less, tried one by one.
    #[test]
    fn the_optimal_levels_lose_least(
        rows in prop::collection::vec(prop::collection::vec(0..60u32, 3), 9..30),
        k in 1..6u32,
        t in prop::sample::select(vec!["0.2", "0.4", "1"]),
    ) {
        let people = people(1, &rows, None, false);
        let demand = requirement(&format!("k = {k}, t = {{ at_most = {t}, distance = \"equal\" }}"), &people.schema);
        let run = |anonymizer: &dyn Anonymizer| {
            let how = How { requirement: &demand, anonymizer, synchronizer: Synchronizer::Merge, suppression: Suppression::NONE, restore: false };
            let part = alone(&people, how).unwrap();
            let sizes = people.groups(&part).into_iter().map(|group| group.len() as u64);
            let columns = part.joint.fragments.quasi.iter().zip([4.0, 3.0]);
            let losses = columns.map(|((_, column), widest)| {
                let rows = column.codes.iter().map(|code| &column.cells[*code as usize]);
                rows.map(|cell| f64::from(cell.count() - 1) / widest).sum::<f64>()
            });
            (sizes.map(|size| size * size).sum::<u64>(), losses.sum::<f64>())
        };
        // Levels 0..=3 of the tree (values, X and c1, X and Y, everything) and 0..=1 of the integers.
        let (mut least_squares, mut least_cells) = (u64::MAX, f64::MAX);
        for (place, number) in (0..4).flat_map(|place| (0..2).map(move |number| (place, number))) {
            let (mut groups, mut cells) = (BTreeMap::<_, Vec<&Vec<u32>>>::new(), 0.0);
            for codes in people.truth.values() {
                let (tree, lost) = match (place, codes[1]) {
                    (0, code) => (code, 0.0),
                    (1 | 2, 0 | 1) => (0, 0.25),
                    (1, 2 | 3) => (2, 0.25),
                    (1, code) => (code, 0.0),
                    (2, _) => (2, 0.5),
                    _ => (9, 1.0),
                };
                cells += lost + f64::from(number);
                groups.entry((tree, codes[2] * (1 - number))).or_default().push(codes);
            }
            let share = |group: &[&Vec<u32>], value: u32| {
                let of = group.iter().filter(|codes| codes[3] == value).count();
                of as f64 / group.len() as f64
            };
            let all: Vec<&Vec<u32>> = people.truth.values().collect();
            let holds = groups.values().all(|group| {
                let apart = (0..5).map(|value| (share(group, value) - share(&all, value)).abs());
                let is_close = apart.sum::<f64>() / 2.0 <= t.parse::<f64>().unwrap() + 1e-9;
                is_close && group.len() >= k as usize
            });
            if holds {
                let squares = groups.values().map(|group| (group.len() * group.len()) as u64);
                least_squares = least_squares.min(squares.sum());
                least_cells = least_cells.min(cells);
            }
        }
        let of = |loss| Optimal { loss, ..Optimal::default() };
        prop_assert_eq!(run(&of(Loss::Discernibility)).0, least_squares);
        prop_assert!((run(&of(Loss::Cells)).1 - least_cells).abs() < 1e-9);
        prop_assert!(run(&Datafly).0 >= least_squares);
    }
}

/// What DPP2GA cuts is checked: a cut that is no longer t-close is refused and the sites go on.
#[test]
fn a_class_that_shrinks_by_the_cut_is_caught() {
    // Each site's classes halve both sensitive values; their cuts have one value each.
    let rows: Vec<Vec<u32>> = (0..8u32)
        .map(|person| {
            let (a, b) = (person % 2, person / 2 % 2);
            vec![2 * a, 0, a ^ b, 2 * b, 0, 0]
        })
        .collect();
    let people = people(2, &rows, None, false);
    let demand = requirement(
        "k = 2, t = { at_most = 0.2, distance = \"equal\" }",
        &people.schema,
    );
    let how = |synchronizer| How {
        requirement: &demand,
        anonymizer: &Datafly,
        synchronizer,
        suppression: Suppression::NONE,
        restore: false,
    };
    let cut = how(Synchronizer::Dpp2ga);
    let parts = people.together(cut, Settings::hardened()).unwrap();
    people.check(&parts, cut);
    assert!(parts[0].joint.synchronizations > 1);
    assert!(times(&parts[0]).contains_key(REFUSED_GROUPS.name()));
    // Without t the cuts are the groups.
    let demand = requirement("k = 2", &people.schema);
    let without = How {
        requirement: &demand,
        ..cut
    };
    let parts = people.together(without, Settings::hardened()).unwrap();
    assert_eq!(people.groups(&parts[0]).len(), 4);
}

/// The ledger holds exactly the list, for each synchronizer, with groups written either way.
#[test]
fn each_synchronizer_discloses_its_list() {
    let rows: Vec<Vec<u32>> = (0..14u32)
        .map(|person| {
            (0..9)
                .map(|column| person * (column + 3) + column)
                .collect()
        })
        .collect();
    for without_quasi in [None, Some(2)] {
        let people = people(3, &rows, without_quasi, true);
        let demand = requirement("k = 2", &people.schema);
        for (synchronizer, restore) in SYNCHRONIZERS.into_iter().zip([true, false, true, false]) {
            let how = How {
                requirement: &demand,
                anonymizer: &Datafly,
                synchronizer,
                suppression: Suppression::NONE,
                restore,
            };
            for part in people.together(how, Settings::hardened()).unwrap() {
                let without = usize::from(without_quasi.is_some());
                let expected = expected(&part, how, without, false);
                assert_eq!(times(&part), expected, "{}", synchronizer.name());
            }
        }
    }
}

/// The published level gives the same groups.
#[test]
fn published_is_hardened() {
    let rows: Vec<Vec<u32>> = (0..14u32)
        .map(|person| {
            (0..9)
                .map(|column| person * (column + 3) + column)
                .collect()
        })
        .collect();
    let people = people(3, &rows, None, true);
    let demand = requirement("k = 2", &people.schema);
    for synchronizer in SYNCHRONIZERS {
        let how = How {
            requirement: &demand,
            anonymizer: &Datafly,
            synchronizer,
            suppression: Suppression::NONE,
            restore: true,
        };
        let hardened = people.together(how, Settings::hardened()).unwrap();
        let published = people.together(how, Settings::published()).unwrap();
        people.check(&published, how);
        assert_eq!(people.groups(&hardened[0]), people.groups(&published[0]));
    }
}
