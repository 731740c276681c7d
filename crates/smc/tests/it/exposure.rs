//! An adversary in the published union: JX08 section 5.2 played out.
//!
//! The leader's successor sees the list as it left the leader, learns the union, and claims what
//! it can about the leader's items: counted here from ledgers and the items themselves, apart from
//! [`hedgerow_smc::exposure`], which must find the same. Used by the tests and by the benchmark's table.

use std::collections::HashSet;

use hedgerow_smc::exposure::{self, Unions, Witness};
use hedgerow_smc::memory::Simulation;
use hedgerow_smc::settings::{Probabilistic, Uniting};
use hedgerow_smc::{Error, Generator, Items, Settings, What};

const UNION: What = What::new("the union", "the simulation");
pub(crate) const SITES: usize = 20;
pub(crate) const DOMAIN: u64 = 100_000;
pub(crate) const SHARE: usize = 50;

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
pub(crate) struct Measured {
    /// How often the leader's whole set was named.
    pub(crate) whole_sets: f64,
    /// How often a site that takes its predecessor for the leader, whatever the list's length,
    /// named that predecessor's whole set; over all sites but the leader.
    pub(crate) blind_sets: f64,
    /// How often a single item was rightly said to be the leader's.
    pub(crate) items: f64,
    /// The loss as the library measures it on the same transcripts.
    #[allow(dead_code, reason = "the benchmark prints the counts of this file")]
    pub(crate) library: Option<Unions>,
}

/// Plays the leader's successor in many unions: its claims, given what passed through and X.
pub(crate) fn measure(decoys: usize, unions: usize) -> Measured {
    measure_of(Uniting::Secure, decoys, unions)
}

/// As [`measure`], of either published union.
pub(crate) fn measure_of(union: Uniting, decoys: usize, unions: usize) -> Measured {
    // Two laps of the maximum: how the leader is found does not matter here.
    let probabilistic = Probabilistic {
        laps: 2,
        ..Probabilistic::default()
    };
    let settings = Settings {
        decoys,
        union,
        probabilistic,
        ..Settings::published()
    };
    let outcome = Simulation::new(SITES, 77)
        .settings(settings)
        .run(|mut party| async move {
            party.keep_values();
            party.keep_witness();
            for trial in 0..unions {
                let mut own = items(trial, party.me().index());
                party
                    .union(
                        UNION,
                        &Items {
                            width: 4,
                            capacity: SHARE,
                            domain: DOMAIN as f64,
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
            let seen: Vec<_> = seen.map(|entry| entry.recorded.clone().unwrap()).collect();
            let ring = party.ring().unwrap().to_vec();
            Ok::<_, Error>((seen, ring, party.take_witness().unwrap()))
        });
    let values = outcome.into_values().unwrap();
    let ring: Vec<usize> = values[0].1.iter().map(|site| site.index()).collect();
    let before = |site: usize| {
        let place = ring.iter().position(|other| *other == site).unwrap();
        ring[(place + SITES - 1) % SITES]
    };
    let witnesses: Vec<Witness> = values.iter().map(|(_, _, seen)| seen.clone()).collect();
    let seen: Vec<Vec<Vec<u64>>> = values.into_iter().map(|(seen, ..)| seen).collect();
    let mut measured = Measured {
        library: exposure::measure(&witnesses).unions,
        ..Measured::default()
    };
    for trial in 0..unions {
        let seen: Vec<&Vec<u64>> = seen.iter().map(|site| &site[trial]).collect();
        // The list is shortest where it has just left the leader.
        let successor = (0..SITES).min_by_key(|&site| seen[site].len()).unwrap();
        let leader = before(successor);
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
        measured.whole_sets += f64::from(u8::from(claim == truth)) / unions as f64;
        for site in (0..SITES).filter(|&site| site != leader) {
            let before = digest(items(trial, before(site)));
            let passed = seen[site].iter().copied();
            let claim: HashSet<u64> = passed.filter(|item| united.contains(item)).collect();
            let right = f64::from(u8::from(claim == before));
            measured.blind_sets += right / (SITES - 1) as f64 / unions as f64;
        }
        let candidates: Vec<u64> = claim.difference(&own).copied().collect();
        let right = candidates
            .iter()
            .filter(|item| truth.contains(item))
            .count();
        measured.items += right as f64 / candidates.len() as f64 / unions as f64;
    }
    measured
}
