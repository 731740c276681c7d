//! Comparisons of sums that leave sites out, with roles drawn once or spread.

use std::collections::BTreeMap;

use hedgerow_smc::memory::Simulation;
use hedgerow_smc::wire::{HEADER_BYTES, Header};
use hedgerow_smc::{Error, RoleChoice, Settings, Site};
use proptest::prelude::*;

use crate::harness::TEST;

fn settings(roles: RoleChoice) -> Settings {
    Settings {
        roles,
        ..Settings::hardened()
    }
}

/// Every coalition of at most so many of some sites.
fn coalitions(sites: usize, most: u32) -> Vec<Vec<Site>> {
    let of_mask = |mask: u32| {
        let inside = Site::all(sites).filter(move |site| mask >> site.index() & 1 == 1);
        inside.collect()
    };
    (0..1 << sites)
        .filter(|mask: &u32| mask.count_ones() <= most)
        .map(of_mask)
        .collect()
}

/// What the sites answer, and how many rounds they took.
fn answers(
    roles: RoleChoice,
    counts: &[u64],
    without: &[Vec<Site>],
    threshold: u64,
) -> (Vec<bool>, u32) {
    let run = Simulation::new(counts.len(), 5)
        .settings(settings(roles))
        .run(|mut party| async move {
            let me = party.me();
            let own = |gone: &Vec<Site>| {
                if gone.contains(&me) {
                    0
                } else {
                    counts[me.index()]
                }
            };
            let own: Vec<u64> = without.iter().map(own).collect();
            let thresholds = vec![threshold; own.len()];
            let numbers: Vec<u32> = (0..own.len() as u32).collect();
            let mut answers = vec![false; own.len()];
            party
                .at_least_without(
                    TEST,
                    10_000,
                    &own,
                    &thresholds,
                    (without, &numbers),
                    &mut answers,
                )
                .await?;
            Ok::<_, Error>(answers)
        });
    let rounds = run.traffic.rounds;
    let mut values = run.into_values().unwrap();
    values.dedup();
    assert_eq!(values.len(), 1, "all sites have the same answers");
    (values.swap_remove(0), rounds)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn roles_change_no_answer_and_no_round(
        counts in prop::collection::vec(0u64..300, 3..7),
        most in 1u32..4,
        threshold in 0u64..900,
    ) {
        let without = coalitions(counts.len(), most);
        let expected: Vec<bool> = without
            .iter()
            .map(|gone| {
                let left = Site::all(counts.len()).filter(|site| !gone.contains(site));
                left.map(|site| counts[site.index()]).sum::<u64>() >= threshold
            })
            .collect();
        for roles in [RoleChoice::Drawn, RoleChoice::Spread] {
            let (found, rounds) = answers(roles, &counts, &without, threshold);
            prop_assert_eq!(&found, &expected);
            prop_assert_eq!(rounds, 2 + 2);
        }
    }
}

/// Which two sites exchange shares of which sums, and who dealt: the three that have roles.
fn roles_of_singles(sites: usize, seed: u64) -> BTreeMap<usize, Vec<usize>> {
    let mut found = BTreeMap::new();
    for gone in 0..sites {
        let without = vec![vec![Site::new(gone as u16)]];
        let run = Simulation::new(sites, seed)
            .settings(settings(RoleChoice::Spread))
            .recording()
            .run(|mut party| {
                let without = without.clone();
                async move {
                    let mut answers = [false];
                    party
                        .at_least_without(TEST, 1_000, &[1], &[2], (&without, &[0]), &mut answers)
                        .await
                }
            });
        // Of a call's frames, only those with roles are sent anything before the answer: the holder
        // and the keeper; and the judge alone sends both of them words, of 16 bytes and more.
        let mut roles: Vec<usize> = Vec::new();
        for to in Site::all(sites) {
            for frame in run.view(to) {
                let header = Header::decode(&frame.bytes).unwrap();
                if header.call == 1 && frame.bytes.len() >= HEADER_BYTES + 16 {
                    roles.extend([frame.from.index(), to.index()]);
                }
            }
        }
        roles.sort_unstable();
        roles.dedup();
        found.insert(gone, roles);
    }
    found
}

/// A pair learns the sum of a comparison in which both have roles. Where one of the two is left out of
/// it, the pair knew that sum; otherwise it learns what the site that is left out has.
#[test]
fn no_pair_learns_the_counts_of_more_than_one_site() {
    for (sites, seed) in [(4, 1), (5, 2), (5, 3), (7, 4)] {
        let roles = roles_of_singles(sites, seed);
        let mut learned: BTreeMap<(usize, usize), Vec<usize>> = BTreeMap::new();
        for (gone, roles) in &roles {
            assert_eq!(roles.len(), 3, "{roles:?}");
            assert!(roles.contains(gone), "the site that is left out has a role");
            let others: Vec<usize> = roles.iter().copied().filter(|site| site != gone).collect();
            learned
                .entry((others[0], others[1]))
                .or_default()
                .push(*gone);
        }
        let most = learned.values().map(Vec::len).max();
        if sites == 4 {
            assert_eq!(
                learned.len(),
                2,
                "one count gives away the last: {learned:?}"
            );
        } else {
            assert_eq!(most, Some(1), "{learned:?}");
        }
    }
}
