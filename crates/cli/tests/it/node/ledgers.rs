//! `hedgerow ledger`: what each other site has learned in all runs, also in those that were killed,
//! failed or were given up.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use super::reruns::{Typed, accept, learned, publish, until};
use super::{SITES, Site, hedgerow, json, progress, sites};

fn ledger(folder: &Path, site: &str) -> Value {
    let file = format!("{site}.toml");
    json(&hedgerow(folder, &["ledger", "--site", &file, "--json"]))
}

/// For each disclosure and recipient how many values, as the ledger says of a site.
fn of_site(ledger: &Value, site: &str) -> BTreeMap<(String, String), u64> {
    let mut sites = ledger["sites"].as_array().unwrap().iter();
    let found = sites.find(|one| one["site"] == site);
    counts(&found.unwrap()["learned"])
}

/// The same as the manifest of a release has it.
fn of_manifest(folder: &Path, site: &str, number: u32) -> BTreeMap<(String, String), u64> {
    let path = folder.join(format!("{site}-data/release-{number}/manifest.json"));
    let manifest: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    counts(&manifest["ledger"])
}

fn counts(lines: &Value) -> BTreeMap<(String, String), u64> {
    let mut counts = BTreeMap::new();
    for line in lines.as_array().unwrap() {
        let word = |key: &str| line[key].as_str().unwrap().to_owned();
        *counts.entry((word("what"), word("to"))).or_default() += line["values"].as_u64().unwrap();
    }
    counts
}

fn sum(
    first: &BTreeMap<(String, String), u64>,
    second: &BTreeMap<(String, String), u64>,
) -> BTreeMap<(String, String), u64> {
    let mut sum = first.clone();
    for (key, values) in second {
        *sum.entry(key.clone()).or_default() += values;
    }
    sum
}

#[test]
fn what_was_learned_in_a_run_that_was_killed_and_given_up_adds_up() {
    let folder = sites(600);
    let path = folder.path();
    SITES.iter().for_each(|site| accept(path, site, "runs = 9"));
    let start = |site: &&str| {
        let file = format!("{site}.toml");
        Typed::start(path, &format!("{site}-1.err"), &["run", "--site", &file])
    };
    let mut running: Vec<Typed> = SITES.iter().map(start).collect();
    until("something was disclosed", || learned(path, "north") > 20);
    // SIGKILL: nothing is written down afterwards.
    running.remove(0).kill();
    assert!(!progress(path, "north").0, "the run was over too soon");
    drop(running);
    let first = ledger(path, "north");
    assert_eq!(first["runs"][0]["end"], "not over");
    for site in SITES {
        let file = format!("{site}.toml");
        let done = hedgerow(path, &["run", "--site", &file, "--abandon"]);
        assert_eq!(done.code, 0, "{}", done.stderr);
    }
    // Frames and seed are wiped; what was disclosed is not.
    let given_up = ledger(path, "north");
    assert_eq!(given_up["runs"][0]["end"], "given up");
    assert!(given_up["runs"][0]["ended"].is_string());
    let before = of_site(&given_up, "south");
    assert_eq!(before, of_site(&first, "south"));
    assert!(before.values().sum::<u64>() > 20);

    publish(path, &SITES, "2");
    let both = ledger(path, "north");
    assert_eq!(both["runs"][1]["end"], "over");
    for peer in ["south", "east"] {
        let expected = sum(&before, &of_manifest(path, "north", 2));
        assert_eq!(of_site(&both, peer), expected, "{peer}");
    }
    // Each site has its own account of the same runs.
    assert_eq!(of_manifest(path, "south", 2), of_manifest(path, "north", 2));
    let text = hedgerow(path, &["ledger", "--site", "north.toml"]).stdout;
    assert!(text.contains("run 1  begun "), "{text}");
    assert!(text.contains("given up at "), "{text}");
    assert!(text.contains("`south` has learned\n"), "{text}");
    assert!(text.contains("runs 1, 2"), "{text}");
    assert!(!text.contains("`north` has learned"), "{text}");
}

/// A run that was killed and taken up again is counted once.
#[test]
fn a_run_that_goes_on_is_counted_once() {
    let folder = sites(600);
    let path = folder.path();
    let mut running: Vec<Site> = SITES
        .iter()
        .map(|site| Site::start(path, site, 0))
        .collect();
    for life in 1..4 {
        let now = learned(path, "north");
        until("more was disclosed", || {
            learned(path, "north") > now || progress(path, "north").0
        });
        if progress(path, "north").0 {
            break;
        }
        running[0].child.kill().unwrap();
        running[0].child.wait().unwrap();
        running[0] = Site::start(path, "north", life);
    }
    running.iter_mut().for_each(Site::end);
    assert_eq!(
        of_site(&ledger(path, "north"), "east"),
        of_manifest(path, "north", 1)
    );
}

#[test]
fn a_site_without_runs_has_told_nobody_anything() {
    let folder = sites(100);
    let done = hedgerow(folder.path(), &["ledger", "--site", "north.toml"]);
    assert_eq!(
        (done.code, done.stdout.as_str()),
        (0, "no other site has learned anything\n")
    );
}
