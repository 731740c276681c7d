//! The loss of privacy of the published union, measured against JX08's bounds.
//!
//! m = 20 sites, a domain of 100,000, 1,000 items: the paper's Table 1. The mixing union's loss is
//! measured in `src/union/mixing.rs`.

use std::collections::HashSet;

use hedgerow_smc::memory::Simulation;
use hedgerow_smc::settings::Probabilistic;
use hedgerow_smc::union::loss::Setting;
use hedgerow_smc::{Error, Generator, Items, Settings};

use crate::harness::TEST;

const SITES: usize = 20;
const DOMAIN: u64 = 100_000;
const SHARE: usize = 50;
const UNIONS: usize = 120;

fn decoy(generator: &mut Generator) -> Vec<u8> {
    (generator.below(DOMAIN) as u32).to_le_bytes().to_vec()
}

/// The items of a site in a trial: distinct over all sites.
fn items(trial: usize, site: usize) -> Vec<Vec<u8>> {
    let item = |index: usize| {
        // 7,919 is prime to the domain, so this is a walk without repetition.
        let step = (trial * 1_237 + site * SHARE + index) as u64 * 7_919 % DOMAIN;
        (step as u32).to_le_bytes().to_vec()
    };
    (0..SHARE).map(item).collect()
}

/// What an adversary measured in one setting.
#[derive(Default, Debug)]
struct Measured {
    whole_sets: f64,
    items: f64,
}

/// Plays the leader's successor in many unions: its claims, given what passed through and X.
fn measure(decoys: usize) -> Measured {
    // Two laps of the maximum: how the leader is found does not matter here.
    let probabilistic = Probabilistic {
        laps: 2,
        ..Probabilistic::default()
    };
    let settings = Settings {
        decoys,
        probabilistic,
        ..Settings::published()
    };
    let outcome = Simulation::new(SITES, 77)
        .settings(settings)
        .run(|mut party| async move {
            party.ledger_mut().keep_values();
            for trial in 0..UNIONS {
                let mut own = items(trial, party.me().index());
                party
                    .union(
                        TEST,
                        &Items {
                            width: 4,
                            capacity: SHARE,
                            decoy: &decoy,
                        },
                        &mut own,
                    )
                    .await?;
            }
            let seen = party
                .ledger()
                .entries()
                .iter()
                .filter(|entry| entry.disclosure.what.name().starts_with("items on"));
            Ok::<_, Error>(
                seen.map(|entry| entry.recorded.clone().unwrap())
                    .collect::<Vec<_>>(),
            )
        });
    let seen = outcome.into_values().unwrap();
    let mut measured = Measured::default();
    for trial in 0..UNIONS {
        let seen: Vec<&Vec<u64>> = seen.iter().map(|site| &site[trial]).collect();
        // The list is shortest where it has just left the leader.
        let successor = (0..SITES).min_by_key(|&site| seen[site].len()).unwrap();
        let leader = (successor + SITES - 1) % SITES;
        let digest = |items: Vec<Vec<u8>>| -> HashSet<u64> {
            let word = |item: &Vec<u8>| {
                u64::from_le_bytes(blake3::hash(item).as_bytes()[..8].try_into().unwrap())
            };
            items.iter().map(word).collect()
        };
        let united: HashSet<u64> = (0..SITES)
            .flat_map(|site| digest(items(trial, site)))
            .collect();
        let (truth, own) = (
            digest(items(trial, leader)),
            digest(items(trial, successor)),
        );
        let passed: HashSet<u64> = seen[successor].iter().copied().collect();
        let claim: HashSet<u64> = passed.intersection(&united).copied().collect();
        measured.whole_sets += f64::from(u8::from(claim == truth)) / UNIONS as f64;
        let candidates: Vec<u64> = claim.difference(&own).copied().collect();
        let right = candidates
            .iter()
            .filter(|item| truth.contains(item))
            .count();
        measured.items += right as f64 / candidates.len() as f64 / UNIONS as f64;
    }
    measured
}

#[test]
fn the_published_union_keeps_the_paper_s_bounds() {
    let setting = Setting::even(SITES as u32, DOMAIN as f64, (SITES * SHARE) as f64);
    let by_chance = 1.0 / (SITES as f64 - 1.0);
    for decoys in [0, 100, 200] {
        let Measured { whole_sets, items } = measure(decoys);
        // Four standard deviations of a frequency over the trials.
        let slack = 4.0 * (0.25 / UNIONS as f64).sqrt();
        let bound = setting.set_exposure_known_leader(decoys);
        assert!(
            (whole_sets - bound).abs() <= slack,
            "equation 4, {decoys}: {whole_sets} against {bound}"
        );
        // Who does not know the leader is right about it once in m - 1.
        let bound = setting.set_exposure(decoys);
        assert!(
            whole_sets * by_chance <= bound + slack * by_chance,
            "equation 5, {decoys}"
        );
        let bound = setting.item_exposure_worst(decoys);
        assert!(
            items - by_chance <= bound,
            "equation 7, {decoys}: {items} against {bound}"
        );
    }
}
