//! What goes over the lines: ciphertexts that differ from run to run, in a number of rounds that does
//! not grow with the records.

use hedgerow_protocols::vertical::d2pt::{Datafly, Suppression, Synchronizer};
use hedgerow_smc::memory::Simulation;
use sha2::{Digest, Sha256, Sha512};

use super::laws::people;
use super::people::{How, People};
use crate::runs::requirement;

fn rows(count: u32, columns: u32) -> Vec<Vec<u32>> {
    let word =
        |person: u32, column: u32| (person + 1).wrapping_mul(2_654_435_761 + 97 * column) >> 7;
    let row = |person| (0..columns).map(|column| word(person, column)).collect();
    (0..count).map(row).collect()
}

fn how(demand: &hedgerow_privacy::Requirement, restore: bool) -> How<'_> {
    How {
        requirement: demand,
        anonymizer: &Datafly,
        synchronizer: Synchronizer::Merge,
        suppression: Suppression::NONE,
        restore,
    }
}

/// All bytes that any site sent, frame by frame.
fn sent(people: &People, seed: u64, restore: bool) -> Vec<Vec<u8>> {
    let demand = requirement("k = 3, t = 0.4", &people.schema);
    let sites = people.tables.len();
    let simulation = Simulation::new(sites, seed).recording();
    let outcome = people.run(how(&demand, restore), &simulation);
    let views = hedgerow_smc::Site::all(sites).flat_map(|site| outcome.view(site));
    views.map(|frame| frame.bytes.clone()).collect()
}

#[test]
fn merge_takes_few_rounds_whatever_the_number_of_records() {
    let mut rounds = Vec::new();
    for count in [20, 60, 200] {
        let people = people(2, &rows(count, 6), None, false);
        let demand = requirement("k = 3, t = 0.4", &people.schema);
        let outcome = people.run(how(&demand, false), &Simulation::new(2, 4));
        rounds.push(outcome.traffic.rounds);
        let parts = outcome.into_values().unwrap();
        people.check(&parts, how(&demand, false));
    }
    assert!(rounds.iter().all(|one| *one == rounds[0]), "{rounds:?}");
    assert!(rounds[0] <= 20, "{rounds:?}");
}

/// No identifier, key or value, as text, as key, as code or as a hash without a key.
#[test]
fn nothing_that_is_sent_tells_of_a_person() {
    for sites in [2, 3] {
        let people = people(sites, &rows(30, 3 * sites as u32), None, true);
        for restore in [false, true] {
            let frames = sent(&people, 11, restore);
            let mut needles: Vec<Vec<u8>> = Vec::new();
            for table in &people.tables {
                needles.extend(people.identity.keys(table).unwrap());
            }
            for (id, codes) in &people.truth {
                needles.push(id.clone().into_bytes());
                // A record's codes side by side, as any table of them would have them.
                needles.push(codes.iter().flat_map(|code| code.to_le_bytes()).collect());
                needles.push(codes.iter().flat_map(|code| code.to_be_bytes()).collect());
                needles.push(codes.iter().map(|code| *code as u8).collect());
                needles.push(
                    codes
                        .iter()
                        .flat_map(|code| u64::from(*code).to_le_bytes())
                        .collect(),
                );
            }
            let hashes: Vec<Vec<u8>> = needles
                .iter()
                .flat_map(|needle| hashes(needle))
                .map(|hash| hash[..8].to_vec())
                .collect();
            // With seven codes or more no other bytes look like them by chance.
            needles.retain(|needle| needle.len() >= 7);
            needles.extend(hashes);
            for frame in &frames {
                for needle in &needles {
                    let found = frame.windows(needle.len()).any(|window| window == needle);
                    assert!(!found, "{needle:?}");
                }
            }
        }
    }
}

/// Hashes that anyone can compute.
fn hashes(bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut with_prefix = b"hedgerow identifier v1".to_vec();
    with_prefix.extend_from_slice(bytes);
    [bytes, &with_prefix]
        .into_iter()
        .flat_map(|bytes| {
            [
                blake3::hash(bytes).as_bytes().to_vec(),
                Sha256::digest(bytes).to_vec(),
                Sha512::digest(bytes).to_vec(),
            ]
        })
        .collect()
}

#[test]
fn two_runs_send_different_ciphertexts() {
    let people = people(2, &rows(25, 6), None, false);
    let (first, second) = (sent(&people, 1, false), sent(&people, 2, false));
    assert_eq!(first.len(), second.len(), "as many messages");
    let header = hedgerow_smc::wire::HEADER_BYTES;
    // Only what counts and sizes say may be the same.
    let long = |frames: &[Vec<u8>]| -> Vec<Vec<u8>> {
        let payloads = frames.iter().map(|frame| frame[header..].to_vec());
        payloads.filter(|payload| payload.len() >= 256).collect()
    };
    let (first, second) = (long(&first), long(&second));
    assert!(first.len() > 6);
    let pieces = |frames: &[Vec<u8>]| -> std::collections::HashSet<Vec<u8>> {
        let pieces = frames.iter().flat_map(|payload| payload.chunks_exact(16));
        pieces.map(<[u8]>::to_vec).collect()
    };
    assert!(pieces(&first).is_disjoint(&pieces(&second)));
}
