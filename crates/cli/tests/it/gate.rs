//! `hedgerow gate`: what attacks find, what was not tried, and the exit codes that follow.

use std::path::Path;

use tempfile::TempDir;

use super::{Done, StudyText, hedgerow, json};

/// What nobody can try who has the release alone.
const BESIDE: &str = "owner,covering,downcoding,membership,ends,below_k_without_one_site,below_k_without_two_sites,two_releases,newcomers,bayes";

/// A release of 300 people of whom a third have each disease, cut so that three are in every class.
fn released() -> TempDir {
    let folder = TempDir::new().unwrap();
    let study = StudyText::small().require("k = 6\nl = 3").to_string();
    std::fs::write(folder.path().join("study.toml"), study).unwrap();
    std::fs::write(folder.path().join("zip.csv"), super::ZIP_CODES).unwrap();
    let zips = ["101", "102", "201"];
    let diseases = ["flu", "ulcer", "asthma"];
    let rows = (0..300).map(|one| {
        format!(
            "{},{},{}\n",
            one % 100,
            zips[one % 7 % 3],
            diseases[one % 3]
        )
    });
    let rows = format!("age,zip,disease\n{}", rows.collect::<String>());
    std::fs::write(folder.path().join("rows.csv"), rows).unwrap();
    let line = [
        "anonymize",
        "--study",
        "study.toml",
        "rows.csv",
        "--out",
        "release",
    ];
    assert_eq!(hedgerow(folder.path(), &line).code, 0);
    folder
}

fn gate(folder: &Path, release: &str, more: &[&str]) -> Done {
    let line = ["gate", release, "--study", "study.toml"];
    hedgerow(folder, &[&line[..], more].concat())
}

fn refused(done: &Done, words: &str) {
    assert_eq!(
        (done.code, done.stdout.as_str()),
        (2, ""),
        "{}",
        done.stderr
    );
    assert!(done.stderr.contains(words), "{}", done.stderr);
}

#[test]
fn an_attack_that_was_not_tried_is_no_pass() {
    let folder = released();
    let path = folder.path();
    let done = gate(path, "release", &[]);
    assert_eq!(done.code, 1, "{}", done.stdout);
    assert!(
        done.stdout
            .starts_with("NOT SHOWN: 10 attacks not tried: release\n"),
        "{}",
        done.stdout
    );
    for words in [
        "needs --own",
        "needs --own and --holdout",
        "needs --earlier",
        "needs --provider-column",
    ] {
        assert!(done.stdout.contains(words), "{words}: {}", done.stdout);
    }
    let done = gate(path, "release", &["--skip", BESIDE]);
    assert_eq!(done.code, 0, "{}", done.stdout);
    assert!(
        done.stdout.starts_with("HOLDS: release\n"),
        "{}",
        done.stdout
    );
    assert!(done.stdout.contains("\nleft out: "), "{}", done.stdout);
    // The folder describes itself.
    let line = ["gate", "release", "--skip", BESIDE];
    assert_eq!(hedgerow(path, &line).code, 0);
}

#[test]
fn a_broken_release_falls_and_says_where_and_what_helps() {
    let folder = released();
    let path = folder.path();
    let row = |age: &str, disease: &str| format!("{age},1**,{disease}\n").repeat(6);
    let young = row("[0-49]", "flu");
    let old = ["flu", "ulcer", "asthma"]
        .map(|one| row("[50-99]", one))
        .concat();
    std::fs::write(
        path.join("broken.csv"),
        format!("age,zip,disease\n{young}{old}"),
    )
    .unwrap();
    let done = gate(path, "broken.csv", &["--skip", BESIDE]);
    assert_eq!(done.code, 1, "{}", done.stdout);
    let said = &done.stdout;
    assert!(said.starts_with("FALLS: "), "{said}");
    assert!(
        said.contains("\ncertain; worst class: age = [0-49], zip = 1**; 6 of 6 records at risk\nhint: demand l, or t\n"),
        "{said}"
    );
    // Whoever raises the limits answers for it.
    let limits = [
        "--skip",
        BESIDE,
        "--limit",
        "certain=0.5",
        "--limit",
        "skew=0.5",
    ];
    assert_eq!(gate(path, "broken.csv", &limits).code, 0);
}

#[test]
fn the_keys_of_the_answer_are_a_contract() {
    let folder = released();
    let more = [
        "--own",
        "rows.csv",
        "--holdout",
        "rows.csv",
        "--earlier",
        "release",
        "--json",
    ];
    let done = gate(folder.path(), "release", &more);
    let found = json(&done);
    assert_eq!(found["records"], 300);
    assert_eq!(found["k"], 6);
    let attacks = found["attacks"].as_array().unwrap();
    assert_eq!(attacks.len(), 16);
    for attack in attacks {
        for key in ["attack", "attacker", "verdict"] {
            assert!(attack[key].is_string(), "{key}: {attack}");
        }
        match attack["share"].as_f64() {
            Some(_) => {
                for key in ["at_risk", "of", "interval", "advantage", "falls"] {
                    assert!(!attack[key].is_null(), "{key}: {attack}");
                }
            }
            None => assert!(attack["because"].is_string(), "{attack}"),
        }
    }
    let names: Vec<&str> = attacks
        .iter()
        .map(|one| one["attack"].as_str().unwrap())
        .collect();
    let help = hedgerow(folder.path(), &["gate", "--help"]).stdout;
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        help.contains(&format!("Attacks: {}.", names.join(", "))),
        "{help}"
    );
    // One party has all rows: the same release is laid over itself, and nobody came.
    let of = |name: &str| attacks.iter().find(|one| one["attack"] == name).unwrap();
    assert_eq!(of("two_releases")["verdict"], "holds");
    assert_eq!(of("newcomers")["verdict"], "nothing");
    assert_eq!(of("covering")["verdict"], "told");
}

#[test]
fn the_report_has_a_chapter_of_attacks() {
    let folder = released();
    let path = folder.path();
    let more = ["--own", "rows.csv", "--report", "page.html"];
    let done = gate(path, "release", &more);
    assert!(
        done.stderr
            .contains("warning: page.html has counts of the rows"),
        "{}",
        done.stderr
    );
    let page = std::fs::read_to_string(path.join("page.html")).unwrap();
    assert!(page.contains("<section id=\"gate\""), "{page}");
    assert!(page.contains("class=\"bar "), "{page}");
    assert!(page.contains("below k without one site"), "{page}");
    // Not into the release, which is for everybody.
    let done = gate(
        path,
        "release",
        &["--own", "rows.csv", "--report", "release/page.html"],
    );
    assert_eq!(done.code, 2, "{}", done.stderr);
}

#[test]
fn what_cannot_be_is_refused() {
    let folder = released();
    let path = folder.path();
    let done = gate(path, "release", &["--provider-column", "ward"]);
    refused(&done, "there is no column `ward`");
    let done = gate(path, "release", &["--own", "none.csv"]);
    refused(&done, "none.csv");
    for more in [
        ["--skip", "luck"],
        ["--limit", "certain"],
        ["--limit", "certain=2"],
    ] {
        assert_eq!(gate(path, "release", &more).code, 2);
    }
    let done = hedgerow(path, &["gate", "rows.csv"]);
    refused(&done, "--study");
}
