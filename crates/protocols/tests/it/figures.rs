//! What JX09's figures show, with data of our own.

use hedgerow_data::{Recode, Schema, Table};
use hedgerow_privacy::Requirement;
use hedgerow_protocols::horizontal::cover::Covers;
use hedgerow_protocols::horizontal::mondrian::{Choice, Plan};
use hedgerow_smc::Settings;

use crate::runs::{Joint, Run, Split, census, integers, requirement};
use crate::tables::plan;

/// A run with tight ranges.
fn run<'a>(
    (schema, table): (&'a std::sync::Arc<Schema>, &'a Table),
    owners: &'a [u32],
    sites: usize,
    requirement: &'a Requirement,
    choice: Choice,
) -> Run<'a> {
    Run {
        schema,
        table,
        owners,
        sites,
        plan: Plan {
            choice,
            ..plan(schema, requirement, false)
        },
        recode: Recode::Range,
        covers: Covers::Tight,
    }
}

/// The classes in the order of their records, each with its cells as they are printed.
fn classes(schema: &Schema, joint: &Joint) -> Vec<(Vec<usize>, String)> {
    let written = joint.cells.iter().map(|cells| {
        let attributes = schema.attributes().iter().zip(cells);
        let words = attributes.map(|(attribute, cell)| attribute.domain.write_cell(cell));
        words.collect::<Vec<_>>().join(" ")
    });
    let mut classes: Vec<_> = joint.classes.iter().cloned().zip(written).collect();
    classes.sort_unstable();
    classes
}

/// Figure 2: four sites, k = 2, l = 1. What the second and the third site put in is not
/// 2-anonymous, the union is.
#[test]
fn anonymous_together_though_not_alone() {
    // Site, age, district.
    const PEOPLE: [(u32, u32, u32); 10] = [
        (0, 59, 2),
        (0, 38, 1),
        (0, 40, 2),
        (1, 49, 7),
        (1, 26, 0),
        (2, 21, 4),
        (2, 50, 7),
        (3, 31, 6),
        (3, 32, 6),
        (3, 28, 6),
    ];
    let owners: Vec<u32> = PEOPLE.iter().map(|(site, ..)| *site).collect();
    let rows: Vec<Vec<u32>> = PEOPLE
        .iter()
        .map(|(_, age, zip)| vec![*age, *zip])
        .collect();
    let (schema, table) = integers(&[100, 10], &rows);
    let demand = requirement("k = 2, site_diversity = 1", &schema);
    let run = run((&schema, &table), &owners, 4, &demand, Choice::Width);
    let joint = run.together();
    run.check(&joint);
    let expected = [
        (vec![0, 1, 2], "[38-59] [1-2]"),
        (vec![3, 6], "[49-50] 7"),
        (vec![4, 5], "[21-26] [0-4]"),
        (vec![7, 8, 9], "[28-32] 6"),
    ];
    let expected = expected.map(|(records, cells)| (records, cells.to_owned()));
    assert_eq!(classes(&schema, &joint), expected);
    assert_eq!(run.alone(), joint);

    // The smallest class of each site's own anonymized rows.
    let smallest = |site: u32| {
        let own = joint.classes.iter().map(|records| {
            let own = records.iter().filter(|record| owners[**record] == site);
            own.count()
        });
        own.filter(|size| *size > 0).min()
    };
    assert_eq!([0, 1, 2, 3].map(smallest), [3, 1, 1, 3].map(Some));
}

/// Figure 3: 2-anonymity and 2-site-diversity.
///
/// ```text
/// y
/// 3   o x . . . x .     o first site
/// 2   . . . o o . x     x second site
/// 1   . . o . . . .
/// 0   . o . . . x .
///     0 1 2 3 4 5 6 x
/// ```
///
/// By width x is cut first (both span everything, and it is the first), behind 3. That leaves one
/// `x` on the left and one `o` on the right, and every further cut strips one part of it. Weighed
/// by diversity y is cut first, below 3 and then below 2: bands of three, both sites in each.
#[test]
fn diversity_leaves_room_for_more_cuts() {
    const POINTS: [(u32, [u32; 2]); 9] = [
        (0, [0, 3]),
        (0, [1, 0]),
        (1, [1, 3]),
        (0, [2, 1]),
        (0, [3, 2]),
        (0, [4, 2]),
        (1, [5, 0]),
        (1, [5, 3]),
        (1, [6, 2]),
    ];
    let owners: Vec<u32> = POINTS.iter().map(|(site, _)| *site).collect();
    let rows: Vec<Vec<u32>> = POINTS.iter().map(|(_, point)| point.to_vec()).collect();
    let (schema, table) = integers(&[7, 4], &rows);
    let demand = requirement("k = 2, site_diversity = 2", &schema);
    let found = |choice, settings| {
        let run = run((&schema, &table), &owners, 2, &demand, choice);
        let (joint, _) = run.together_with(settings);
        run.check(&joint);
        assert_eq!(run.alone_with(settings), joint);
        let mut classes = joint.classes;
        classes.sort_unstable();
        classes
    };
    let by_width = [vec![0, 1, 2, 3, 4], vec![5, 6, 7, 8]];
    let (hardened, published) = (Settings::hardened(), Settings::published());
    let by_diversity = [[0, 2, 7], [1, 3, 6], [4, 5, 8]];
    let weighed = Choice::Diversity { alpha: 0.3 };
    assert_eq!(found(weighed, published), by_diversity);
    // Nine records are too few for a difference that tells nothing of them.
    assert_eq!(found(weighed, hardened), by_width);
    for settings in [hardened, published] {
        assert_eq!(found(Choice::Width, settings), by_width);
        // Width alone, by equation 3, is width.
        assert_eq!(found(Choice::Diversity { alpha: 1.0 }, settings), by_width);
    }
}

/// What takes the sites apart is not cut where there is another way, at either level: the first
/// attribute says whose a record is, the second says nothing of it.
#[test]
fn diversity_keeps_sites_together() {
    let rows: Vec<Vec<u32>> = (0..40).map(|row| vec![row % 2, row / 2 % 2]).collect();
    let owners: Vec<u32> = (0..40).map(|row| row % 2).collect();
    let (schema, table) = integers(&[2, 2], &rows);
    let demand = requirement("k = 15", &schema);
    let first = |choice, settings| {
        let run = run((&schema, &table), &owners, 2, &demand, choice);
        let (joint, _) = run.together_with(settings);
        let mut classes = joint.classes;
        classes.sort_unstable();
        let sites = classes[0].iter().map(|row| owners[*row]);
        sites.clone().min() != sites.max()
    };
    for settings in [Settings::hardened(), Settings::published()] {
        assert!(!first(Choice::Width, settings));
        assert!(first(Choice::Diversity { alpha: 0.3 }, settings));
    }
}

/// Whatever the weight, every class has its sites.
#[test]
fn every_weight_of_width_keeps_the_requirement() {
    let (schema, table) = census(600);
    let sites = 20;
    let owners = Split::Sorted.owners(&schema, &table, sites);
    for l in 2..=5 {
        let demand = requirement(&format!("k = 5, site_diversity = {l}"), &schema);
        for alpha in [0.0, 0.3, 1.0] {
            let choice = Choice::Diversity { alpha };
            let run = run((&schema, &table), &owners, sites, &demand, choice);
            let joint = run.alone();
            assert!(joint.classes.len() > 1);
            run.check(&joint);
        }
    }
}
