//! The m-adversary (MPRIV section II): sites that put their heads together, take their own records
//! out of the published classes and look at what is left.
//!
//! The attack uses nothing but printed rows: all of the release, and of the coalition's records how
//! the release writes them, which each site knows of its own.

use std::collections::HashMap;

use hedgerow_data::Recode;
use hedgerow_privacy::Requirement;
use hedgerow_privacy::m_privacy::WEIGHT_OF_DIVERSITY;
use hedgerow_protocols::horizontal::cover::Covers;
use hedgerow_protocols::horizontal::mondrian::{Choice, Medians, Plan};

use crate::runs::{Run, Split, census, printed, requirement};
use crate::tables::plan;

const SITES: usize = 5;
const K: u64 = 4;
const L: usize = 2;

/// How often each sensitive value is left in each class: by its cells, as they are printed.
type Left<'a> = HashMap<&'a [String], HashMap<&'a str, u64>>;

/// A printed row: its cells, then its sensitive value.
fn parted(row: &[String]) -> (&[String], &str) {
    let (sensitive, cells) = row.split_last().unwrap();
    (cells, sensitive)
}

/// The cells of a class of which the coalition finds too little left.
fn broken<'a>(release: &'a [Vec<String>], own: &[&'a [String]]) -> Option<&'a [String]> {
    let mut left: Left<'a> = HashMap::new();
    for row in release {
        let (cells, sensitive) = parted(row);
        *left.entry(cells).or_default().entry(sensitive).or_default() += 1;
    }
    for row in own {
        let (cells, sensitive) = parted(row);
        let count = left.get_mut(cells).unwrap().get_mut(sensitive).unwrap();
        *count = count.checked_sub(1).unwrap();
    }
    let is_broken = |values: &HashMap<&str, u64>| {
        let records: u64 = values.values().sum();
        let distinct = values.values().filter(|count| **count > 0).count();
        records > 0 && (records < K || distinct < L)
    };
    let mut classes = left.iter();
    classes.find_map(|(cells, values)| is_broken(values).then_some(*cells))
}

/// Coalitions of at most m sites, as bits.
fn coalitions(m: u32) -> impl Iterator<Item = u32> {
    (0..1u32 << SITES).filter(move |coalition| coalition.count_ones() <= m)
}

/// The first coalition of at most m sites that breaks a class of what a run releases.
fn attack(run: &Run<'_>, m: u32) -> Option<(u32, String)> {
    let joint = run.alone();
    run.check(&joint);
    let release = printed(&joint.release);
    let with_sites = run.written(&joint);
    coalitions(m).find_map(|coalition| {
        let own = with_sites.iter().filter_map(|row| {
            let (site, row) = row.split_last().unwrap();
            let is_own = coalition & (1 << site.parse::<u32>().unwrap()) != 0;
            is_own.then_some(row)
        });
        let own: Vec<&[String]> = own.collect();
        let cells = broken(&release, &own)?;
        Some((coalition, cells.join(" ")))
    })
}

#[test]
fn finds_nothing_but_in_a_release_without_m() {
    let (schema, table) = census(400);
    let plain = requirement(&format!("k = {K}, l = {L}"), &schema);
    let fittest = Choice::Fitness {
        weight: WEIGHT_OF_DIVERSITY,
    };
    for split in [Split::RoundRobin, Split::Sorted, Split::Exponential] {
        let owners = split.owners(&schema, &table, SITES);
        for (recode, medians) in [
            (Recode::Range, Medians::Strict),
            (Recode::Node, Medians::Relaxed),
            (Recode::Node, Medians::Strict),
        ] {
            let attacked = |demand: &Requirement, (choice, cuts_sites), m| {
                let plan = Plan {
                    choice,
                    cuts_sites,
                    medians,
                    ..plan(&schema, demand, false)
                };
                let run = Run {
                    schema: &schema,
                    table: &table,
                    owners: &owners,
                    sites: SITES,
                    plan,
                    recode,
                    covers: Covers::Tight,
                };
                attack(&run, m)
            };
            // Nobody colludes with nobody; one is enough.
            let baseline = (Choice::Width, false);
            assert_eq!(attacked(&plain, baseline, 0), None);
            assert!(attacked(&plain, baseline, 1).is_some(), "{split:?}");
            for m in 1..=3 {
                let demand = requirement(&format!("k = {K}, l = {L}, m = {m}"), &schema);
                for choice in [baseline, (Choice::Width, true), (fittest, true)] {
                    let found = attacked(&demand, choice, m);
                    assert_eq!(
                        found, None,
                        "{split:?} {recode:?} {medians:?} {choice:?} {m}"
                    );
                }
            }
        }
    }
}

/// What was attacked is what sites publish that keep their counts to themselves.
#[test]
fn sites_together_publish_the_same() {
    let (schema, table) = census(150);
    let owners = Split::Exponential.owners(&schema, &table, SITES);
    let demand = requirement(&format!("k = {K}, l = {L}, m = 2"), &schema);
    let fittest = Choice::Fitness {
        weight: WEIGHT_OF_DIVERSITY,
    };
    for (choice, cuts_sites) in [
        (Choice::Width, false),
        (Choice::Width, true),
        (fittest, true),
    ] {
        let run = Run {
            schema: &schema,
            table: &table,
            owners: &owners,
            sites: SITES,
            plan: Plan {
                choice,
                cuts_sites,
                ..plan(&schema, &demand, false)
            },
            recode: Recode::Range,
            covers: Covers::Tight,
        };
        assert_eq!(run.together(), run.alone());
    }
}
