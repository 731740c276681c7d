//! Test vectors: seed, inputs, transcript digest and output of each primitive, kept as files.
//!
//! A change of behaviour on the wire shows here. `HEDGEROW_BLESS=1 cargo test -p hedgerow-smc
//! vectors` writes the digests and outputs anew, which is right only together with a new version
//! of the frame format or a note in the changelog.

use std::fs;
use std::future::Future;
use std::path::PathBuf;

use hedgerow_smc::memory::Simulation;
use hedgerow_smc::{Error, Generator, Items, Party, Rank, Settings, Site, Tree};
use serde_json::{Value, json};

use crate::harness::TEST;

const PRIMITIVES: [&str; 16] = [
    "sum",
    "all",
    "any",
    "at_least",
    "any_at_least",
    "greatest",
    "tell",
    "tell_each",
    "lca",
    "minimum",
    "maximum",
    "kth",
    "union",
    "rows",
    "align",
    "overlaps",
];

/// Inputs of a site: numbers below 30 that differ from site to site.
fn inputs(sites: usize) -> Vec<Vec<u64>> {
    let number = |site: usize, index: usize| ((site * 7 + index * index * 5 + 3) % 30) as u64;
    (0..sites)
        .map(|site| (0..12).map(|index| number(site, index)).collect())
        .collect()
}

fn decoy(generator: &mut Generator) -> Vec<u8> {
    vec![generator.below(30) as u8]
}

/// Asks one primitive about a site's numbers.
async fn ask(primitive: &str, mut party: Party, own: Vec<u64>) -> Result<Value, Error> {
    let count = own.len();
    Ok(match primitive {
        "sum" => {
            let mut values = own;
            party.sum(TEST, &mut values).await?;
            json!(values)
        }
        "all" | "any" => {
            let mut bits: Vec<bool> = own.iter().map(|value| value % 3 != 0).collect();
            if primitive == "all" {
                party.all(TEST, &mut bits).await?;
            } else {
                party.any(TEST, &mut bits).await?;
            }
            json!(bits)
        }
        "at_least" => {
            let thresholds: Vec<u64> = (0..count as u64).map(|index| index * 12).collect();
            let mut answers = vec![false; count];
            party
                .at_least(TEST, 1_000, &own, &thresholds, &mut answers)
                .await?;
            json!(answers)
        }
        "any_at_least" => {
            let thresholds: Vec<u64> = (0..count as u64).map(|index| 90 - index * 5).collect();
            let groups = [1, 4, 0, 7];
            let mut answers = vec![false; groups.len()];
            party
                .any_at_least(TEST, 1_000, &own, &thresholds, &groups, &mut answers)
                .await?;
            json!(answers)
        }
        "greatest" => {
            let contend: Vec<Site> = Site::all(party.sites()).collect();
            let mut sites = vec![0; count];
            party.greatest(TEST, 29, &contend, &own, &mut sites).await?;
            // Where numbers are long, two sites compare in another way.
            let mut again = vec![0; count];
            party
                .greatest(TEST, 1 << 20, &contend, &own, &mut again)
                .await?;
            json!([sites, again])
        }
        "tell" => {
            let mut values = own;
            party.tell(TEST, Site::new(1), &mut values).await?;
            json!(values)
        }
        "tell_each" => {
            let bits = vec![vec![5; count]; party.sites()];
            json!(party.tell_each(TEST, &bits, &own).await?)
        }
        "lca" => {
            let parents = (0..30u32).map(|node| node.saturating_sub(1) / 3).collect();
            let mut nodes: Vec<Option<u32>> = own
                .iter()
                .map(|&value| (value % 4 > 0).then_some(value as u32))
                .collect();
            party
                .lca(TEST, &[Tree::new(parents)?], |_| 0, &mut nodes)
                .await?;
            json!(nodes)
        }
        "minimum" | "maximum" => {
            let mut values: Vec<Option<u64>> = own
                .iter()
                .map(|&value| (value % 4 > 0).then_some(value))
                .collect();
            if primitive == "minimum" {
                party.minimum(TEST, |_| 0..=29, &mut values).await?;
            } else {
                party.maximum(TEST, |_| 0..=29, &mut values).await?;
            }
            json!(values)
        }
        "kth" => {
            let questions: Vec<Rank> = [1, 5, 12, 99]
                .map(|rank| Rank {
                    rank,
                    domain: 0..=29,
                })
                .into();
            let mut answers = vec![None; 4];
            let at_most = |_: usize, value| own.iter().filter(|&&own| own <= value).count() as u64;
            party
                .kth(TEST, 100, &questions, at_most, &mut answers)
                .await?;
            json!(answers)
        }
        "union" => {
            let mut items: Vec<Vec<u8>> = own.iter().map(|&value| vec![value as u8]).collect();
            party
                .union(
                    TEST,
                    &Items {
                        width: 1,
                        capacity: 12,
                        domain: 256.0,
                        decoy: &decoy,
                    },
                    &mut items,
                )
                .await?;
            json!(items)
        }
        "rows" => {
            let widths = vec![1; party.sites()];
            let parts = own.iter().map(|&value| vec![value as u8]).collect();
            let stretches = [5, count as u64 - 5];
            json!(party.rows(TEST, &widths, &stretches, parts).await?)
        }
        "overlaps" => {
            let mut classes: Vec<u64> = own.iter().map(|value| value % 4).collect();
            classes.sort_unstable();
            classes.dedup();
            // Numbered without gaps.
            let class = |value: &u64| classes.partition_point(|class| *class < value % 4) as u32;
            let class_of: Vec<u32> = own.iter().map(class).collect();
            let found = party.overlaps(TEST, count, &class_of).await?;
            json!({ "classes": found.classes, "cells": found.cells })
        }
        _ => {
            let mut own: Vec<[u8; 8]> = own.iter().map(|value| value.to_le_bytes()).collect();
            own.sort_unstable();
            own.dedup();
            let identifiers: Vec<&[u8]> = own.iter().map(|own| own.as_slice()).collect();
            let mut common = Vec::new();
            party.align(TEST, 100, &identifiers, &mut common).await?;
            json!(
                common
                    .iter()
                    .map(|&place| own[place][0])
                    .collect::<Vec<u8>>()
            )
        }
    })
}

fn digest<F: Future<Output = Result<Value, Error>>>(
    simulation: &Simulation,
    site: impl Fn(Party) -> F,
) -> (String, Value) {
    let outcome = simulation.clone().recording().run(site);
    let digest = outcome.transcript_digest();
    let outputs = outcome.into_values().unwrap();
    assert!(
        outputs.iter().all(|output| *output == outputs[0]),
        "every site has the same output"
    );
    (digest, outputs[0].clone())
}

#[test]
fn primitives_behave_as_their_vectors_say() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("testdata/vectors");
    let bless = std::env::var_os("HEDGEROW_BLESS").is_some();
    for primitive in PRIMITIVES {
        for settings in [Settings::hardened(), Settings::published()] {
            for sites in [2usize, 3, 5] {
                if primitive == "any_at_least" && sites == 2 {
                    // Three sites or more have it.
                    continue;
                }
                let name = format!("{primitive}/v1/{}-{sites}.json", settings.security);
                let path = root.join(&name);
                let mut vector: Value = match fs::read_to_string(&path) {
                    Ok(text) => serde_json::from_str(&text).unwrap(),
                    Err(_) if bless => json!({ "seed": 1_000 + sites, "inputs": inputs(sites) }),
                    Err(error) => panic!("{name}: {error}"),
                };
                let seed = vector["seed"].as_u64().unwrap();
                let inputs: Vec<Vec<u64>> =
                    serde_json::from_value(vector["inputs"].clone()).unwrap();
                let simulation = Simulation::new(inputs.len(), seed).settings(settings);
                let (transcript, output) = digest(&simulation, |party| {
                    let own = inputs[party.me().index()].clone();
                    ask(primitive, party, own)
                });
                if bless {
                    vector["transcript"] = json!(transcript);
                    vector["output"] = output;
                    fs::create_dir_all(path.parent().unwrap()).unwrap();
                    fs::write(
                        &path,
                        format!("{}\n", serde_json::to_string(&vector).unwrap()),
                    )
                    .unwrap();
                } else {
                    assert_eq!(vector["output"], output, "{name}");
                    assert_eq!(vector["transcript"], json!(transcript), "{name}");
                }
            }
        }
    }
}
