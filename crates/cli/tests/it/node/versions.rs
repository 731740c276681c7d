//! What changes while a study lasts: a data folder that is lost, a key that is changed, a site that
//! leaves.

use std::path::Path;

use super::reruns::{Typed, accept, change, publish, run_at, until};
use super::{SITES, free_address, hedgerow, json, sites};

fn rejoin(folder: &Path, site: &str) -> super::super::Done {
    hedgerow(
        folder,
        &["run", "rejoin", "--site", &format!("{site}.toml")],
    )
}

/// Every site has a memory of its own, and may be in many runs.
fn apart(folder: &Path) {
    for site in SITES {
        change(
            folder,
            site,
            "site = ",
            &format!("memory = \"{site}.memory\"\nsite = "),
        );
        if site != "south" {
            accept(folder, site, "runs = 9");
        }
    }
}

#[test]
fn a_site_that_lost_its_data_folder_rejoins() {
    let folder = sites(300);
    let path = folder.path();
    apart(path);
    publish(path, &SITES, "1");
    std::fs::remove_dir_all(path.join("south-data")).unwrap();
    // Its memory knows that there was a run; without the journal it does not begin another one under
    // the same number.
    let (code, said) = run_at(path, &["south"], "1").remove(0);
    assert_eq!(code, 2, "{said}");
    assert!(
        said.contains("this site has begun run 1 before") && said.contains("hedgerow run rejoin"),
        "{said}"
    );
    // The peers' nodes say which run is due.
    let done = rejoin(path, "south");
    assert_eq!(done.code, 2, "{}", done.stdout);
    assert!(
        done.stderr
            .contains("not every site says which run is due: `north` cannot be reached"),
        "{}",
        done.stderr
    );
    let nodes = [Typed::node(path, "north", 0), Typed::node(path, "east", 0)];
    // The memory is lost too, and a run is under way at the others.
    std::fs::remove_file(path.join("south.memory")).unwrap();
    let mut second = Typed::start(
        path,
        "second.err",
        &["run", "--site", "north.toml", "--number", "2"],
    );
    until("run 2 is under way", || {
        nodes
            .iter()
            .all(|node| node.said().contains("run 2 begins"))
    });
    let done = rejoin(path, "south");
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(
        done.stdout
            .contains("runs 1 to 2 were lost with the data folder"),
        "{}",
        done.stdout
    );
    assert!(done.stdout.contains("run 3 is due"), "{}", done.stdout);
    assert_eq!(second.code(), 2, "{}", second.said());
    assert!(
        second.said().contains("`south` has given the run up"),
        "{}",
        second.said()
    );
    drop(nodes);
    for site in ["north", "east"] {
        let file = format!("{site}.toml");
        let done = hedgerow(
            path,
            &["run", "--site", &file, "--abandon", "--number", "2"],
        );
        assert_eq!(done.code, 0, "{}", done.stderr);
    }
    let again = rejoin(path, "south");
    assert_eq!(again.code, 2, "{}", again.stdout);
    assert!(
        again
            .stderr
            .contains("the journal is there, and run 2 was the last"),
        "{}",
        again.stderr
    );
    // Which rows were in what was lost, nobody knows: they are not said to be the same.
    let (code, said) = run_at(path, &["south"], "3").remove(0);
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("accept.runs"), "{said}");
    accept(path, "south", "runs = 2");
    let (_, said) = run_at(path, &["south"], "3").remove(0);
    assert!(
        said.contains("accept.rerun") && said.contains("of which nothing is known any more"),
        "{said}"
    );
    accept(path, "south", "rerun = \"ask\"");
    let done = hedgerow(path, &["run", "approve", "3", "--site", "south.toml"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    publish(path, &SITES, "3");
    let done = hedgerow(path, &["ledger", "--site", "south.toml"]);
    assert!(
        done.stdout
            .contains("what was learned in runs up to 2 was lost with the data folder"),
        "{}",
        done.stdout
    );
}

/// The hash of the study as it is.
fn hash(folder: &Path) -> String {
    let done = hedgerow(folder, &["study", "show", "c/study.toml", "--json"]);
    json(&done)["hash"].as_str().unwrap().to_owned()
}

#[test]
fn a_new_version_of_a_study_goes_on_where_its_parent_ended() {
    let folder = sites(300);
    let path = folder.path();
    SITES.iter().for_each(|site| accept(path, site, "runs = 9"));
    publish(path, &SITES, "1");
    let first = hash(path);
    let study = path.join("c/study.toml");
    let text = std::fs::read_to_string(&study).unwrap();

    // East leaves, and south has a new key. Those who stay sign.
    let done = hedgerow(path, &["keygen", "--out", "south-new.key"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    change(path, "south", "south.key", "south-new.key");
    let mut parts = text.split("\n[[site]]\n");
    let head = parts.next().unwrap();
    let north = parts
        .find(|part| part.contains("name = \"north\""))
        .unwrap();
    let two = format!(
        "{head}\n[[site]]\n{}\n\n[[site]]\nname = \"south\"\naddress = \"{}\"\n{}",
        north.trim_end(),
        free_address(),
        done.stdout
    );
    let sign = || {
        for key in ["north.key", "south-new.key"] {
            let done = hedgerow(path, &["study", "sign", "--key", key, "c/study.toml"]);
            assert_eq!(done.code, 0, "{}", done.stderr);
        }
    };
    std::fs::write(&study, &two).unwrap();
    sign();
    // A study that does not say that it is a new version is another one.
    let (code, said) = run_at(path, &["north"], "1").remove(0);
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("release-1: is there already"), "{said}");
    assert!(
        said.contains("name the other's hash as its `parent`"),
        "{said}"
    );

    let child = two.replacen("[study]\n", &format!("[study]\nparent = \"{first}\"\n"), 1);
    std::fs::write(&study, child).unwrap();
    sign();
    let shown = hedgerow(path, &["study", "show", "c/study.toml"]);
    assert!(
        shown
            .stdout
            .contains(&format!("a new version of {first}\n")),
        "{}",
        shown.stdout
    );
    let (code, said) = run_at(path, &["north"], "1").remove(0);
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("run 1 of this study is over"), "{said}");
    publish(path, &["north", "south"], "2");
    // The ledger goes on, and so does the memory: the run of the parent counts.
    let done = hedgerow(path, &["ledger", "--site", "north.toml", "--json"]);
    let ledger = json(&done);
    let runs = ledger["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 2, "{ledger}");
    assert_eq!(runs[0]["study_hash"], first.as_str());
    assert_eq!(runs[1]["study_hash"], hash(path).as_str());
    let of = |site: &str| {
        let mut sites = ledger["sites"].as_array().unwrap().iter();
        let found = sites.find(|one| one["site"] == site).unwrap();
        let lines = found["learned"].as_array().unwrap().iter();
        let runs = lines.flat_map(|line| line["runs"].as_array().unwrap().clone());
        let runs: std::collections::BTreeSet<u64> = runs.map(|run| run.as_u64().unwrap()).collect();
        runs.into_iter().collect::<Vec<u64>>()
    };
    assert_eq!(of("south"), [1, 2]);
    assert_eq!(of("east"), [1]);
    let shown = hedgerow(path, &["status", "--site", "north.toml"]).stdout;
    assert!(
        shown.contains(&format!("run 1 of the study {first}: over")),
        "{shown}"
    );

    // The version after that, which names its own parent.
    let second = hash(path);
    let text = std::fs::read_to_string(&study).unwrap();
    std::fs::write(&study, text.replacen(&first, &second, 1)).unwrap();
    sign();
    publish(path, &["north", "south"], "3");
    change(path, "north", "runs = 9", "runs = 3");
    let (code, said) = run_at(path, &["north"], "4").remove(0);
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("accept.runs: allows 3 runs"), "{said}");
}

/// A run of an earlier version does not go on under a new one, and holds it up until it is given up.
#[test]
fn a_run_under_way_does_not_outlive_its_version() {
    let folder = sites(100);
    let path = folder.path();
    change(path, "north", "patience = 60", "patience = 1");
    let (_, said) = run_at(path, &["north"], "1").remove(0);
    assert!(said.contains("has been gone for 1 s"), "{said}");
    let first = hash(path);
    let study = path.join("c/study.toml");
    let text = std::fs::read_to_string(&study).unwrap();
    let child = text.replacen("[study]\n", &format!("[study]\nparent = \"{first}\"\n"), 1);
    std::fs::write(&study, child).unwrap();
    for site in SITES {
        let key = format!("{site}.key");
        let done = hedgerow(path, &["study", "sign", "--key", &key, "c/study.toml"]);
        assert_eq!(done.code, 0, "{}", done.stderr);
    }
    let (code, said) = run_at(path, &["north"], "2").remove(0);
    assert_eq!(code, 2, "{said}");
    assert!(
        said.contains("run 1 of an earlier version of the study")
            && said.contains("hedgerow run --abandon --number 1"),
        "{said}"
    );
    let done = hedgerow(
        path,
        &["run", "--site", "north.toml", "--abandon", "--number", "1"],
    );
    assert_eq!(done.code, 0, "{}", done.stderr);
    let (_, said) = run_at(path, &["north"], "2").remove(0);
    assert!(said.contains("has been gone for 1 s"), "{said}");

    let wrong = std::fs::read_to_string(&study)
        .unwrap()
        .replacen(&first, "abc", 1);
    std::fs::write(&study, wrong).unwrap();
    let done = hedgerow(path, &["study", "check", "c/study.toml"]);
    assert_eq!(done.code, 2);
    assert!(
        done.stderr
            .contains("`study.parent` must be the 64 digits of a study's hash"),
        "{}",
        done.stderr
    );
}
