//! Audits between processes, as people type them; and what else a run begins with: shares, and roles
//! that are spread over sites.

use std::path::Path;

use super::reruns::accept;
use super::setup::{SITES, Shape, Site, USUAL, prepared, start_all};
use super::{hedgerow, json};

/// Puts lines below the head of the study, and has all sites sign it anew.
pub(super) fn amend(folder: &Path, sites: &[&str], lines: &str) {
    let study = folder.join("c/study.toml");
    let text = std::fs::read_to_string(&study).unwrap();
    let head = "partition = \"horizontal\"\n";
    std::fs::write(&study, text.replace(head, &format!("{head}{lines}\n"))).unwrap();
    std::fs::remove_file(folder.join("c/study.toml.sig")).unwrap();
    for name in sites {
        let key = format!("{name}.key");
        let done = hedgerow(folder, &["study", "sign", "--key", &key, "c/study.toml"]);
        assert_eq!(done.code, 0, "{}", done.stderr);
    }
}

fn end_all(mut sites: Vec<Site>) {
    sites.iter_mut().for_each(Site::end);
}

#[test]
fn a_site_shows_that_it_did_as_it_should() {
    let folder = prepared(&USUAL);
    let path = folder.path();
    let done = hedgerow(path, &["keygen", "--out", "auditor.key"]);
    let auditor = done.stdout.trim().replace("key = ", "auditor = ");
    amend(path, &SITES, &format!("audit = \"90 days\"\n{auditor}"));
    let shown = hedgerow(path, &["study", "show", "c/study.toml"]);
    assert!(
        shown.stdout.contains("journals are kept for 90 days"),
        "{}",
        shown.stdout
    );
    end_all(start_all(path, &SITES, 0));

    let audit = ["audit", "--site", "north.toml", "--run", "1"];
    let done = hedgerow(path, &audit);
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
    assert!(done.stdout.contains("as it should be"), "{}", done.stdout);
    let done = hedgerow(path, &[&audit[..], &["--json"]].concat());
    assert!(
        json(&done)["frames"].as_u64().unwrap() > 20,
        "{}",
        done.stdout
    );

    // The auditor's word lies beside the release, and whoever verifies it sees it.
    let signed = hedgerow(path, &[&audit[..], &["--auditor", "auditor.key"]].concat());
    assert_eq!(signed.code, 0, "{}{}", signed.stdout, signed.stderr);
    let verify = ["verify", "north-data/release-1", "--study", "c/study.toml"];
    let done = hedgerow(path, &verify);
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
    assert!(
        done.stdout.contains("audited: as it should be"),
        "{}",
        done.stdout
    );
    let done = hedgerow(path, &[&verify[..], &["--json"]].concat());
    assert_eq!(
        json(&done)["manifest"]["audited"],
        serde_json::json!(["north"])
    );
    // Another's word is none.
    let other = hedgerow(path, &[&audit[..], &["--auditor", "south.key"]].concat());
    assert_eq!(other.code, 2);
    assert!(
        other
            .stderr
            .contains("is not the key of the study's auditor"),
        "{}",
        other.stderr
    );
    let outcome = path.join("north-data/release-1/audit-north.json");
    let text = std::fs::read_to_string(&outcome).unwrap();
    std::fs::write(&outcome, text.replace("\"frames\": ", "\"frames\": 1")).unwrap();
    let done = hedgerow(path, &verify);
    assert_eq!(done.code, 1, "{}", done.stdout);
    assert!(
        done.stdout.contains("is not signed by the auditor"),
        "{}",
        done.stdout
    );

    // A row that changed since.
    let rows = path.join("c/north.csv");
    let text = std::fs::read_to_string(&rows).unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    lines.pop();
    std::fs::write(&rows, lines.join("\n") + "\n").unwrap();
    let done = hedgerow(path, &audit);
    assert_eq!(done.code, 1, "{}{}", done.stdout, done.stderr);
    assert!(
        done.stdout
            .contains("the rows are not those that the site committed itself to"),
        "{}",
        done.stdout
    );
    // The peers' own parts are as they should be, whatever happened at the first.
    let done = hedgerow(path, &["audit", "--site", "south.toml", "--run", "1"]);
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
    // There was no second run.
    let done = hedgerow(path, &["audit", "--site", "south.toml", "--run", "2"]);
    assert_eq!(done.code, 2);
    assert!(done.stderr.contains("there is no run 2"), "{}", done.stderr);
}

#[test]
fn without_a_word_of_audits_nothing_is_kept() {
    let folder = prepared(&USUAL);
    let path = folder.path();
    end_all(start_all(path, &SITES, 0));
    let done = hedgerow(path, &["audit", "--site", "east.toml", "--run", "1"]);
    assert_eq!(done.code, 2);
    assert!(
        done.stderr.contains("nothing is kept of run 1"),
        "{}",
        done.stderr
    );
    assert!(
        done.stderr.contains("audit = \"90 days\""),
        "{}",
        done.stderr
    );
}

#[test]
fn a_site_that_brings_too_much_ends_the_run_before_anything_is_asked() {
    let folder = prepared(&USUAL);
    let path = folder.path();
    amend(path, &SITES, "audit = \"90 days\"");
    // The first brings twice as many rows as each of the others.
    let rows = path.join("c/north.csv");
    let text = std::fs::read_to_string(&rows).unwrap();
    let (_, body) = text.split_once('\n').unwrap();
    std::fs::write(&rows, format!("{text}{body}")).unwrap();
    accept(path, "east", "maximum_share = 0.4");
    let mut sites = start_all(path, &SITES, 0);
    for site in &mut sites {
        let status = site.child.wait().unwrap();
        assert!(!status.success(), "{}", site.said());
    }
    let said: Vec<String> = sites.iter().map(Site::said).collect();
    for said in &said {
        assert!(
            said.contains("accept.maximum_share: `north` brings more than 0.4"),
            "{said}"
        );
    }
    for name in SITES {
        assert!(!path.join(format!("{name}-data/release-1")).exists());
        assert_audited_to_its_end(path, name);
    }
}

/// A run that ended on purpose came to no release, and every frame up to there is as it should be.
fn assert_audited_to_its_end(folder: &Path, site: &str) {
    let file = format!("{site}.toml");
    let done = hedgerow(folder, &["audit", "--site", &file, "--run", "1"]);
    assert_eq!(done.code, 0, "{site}: {}{}", done.stdout, done.stderr);
    let said = format!("run 1 at `{site}`: as it should be, up to where it ended\n");
    assert!(done.stdout.starts_with(&said), "{}", done.stdout);
    let came = "the run came to no release, so no peer signed for them";
    assert!(done.stdout.contains(came), "{}", done.stdout);
}

/// A joint table that is larger than a site accepts ends the run once its size is known, before
/// anything of its records is asked.
#[test]
fn a_joint_table_that_is_too_large_ends_the_run() {
    let folder = prepared(&USUAL);
    let path = folder.path();
    amend(path, &SITES, "audit = \"90 days\"");
    let records: usize = SITES
        .iter()
        .map(|name| {
            let text = std::fs::read_to_string(path.join(format!("c/{name}.csv"))).unwrap();
            text.lines().count() - 1
        })
        .sum();
    let too_few = records - 1;
    accept(path, "east", &format!("maximum_records = {too_few}"));
    let mut sites = start_all(path, &SITES, 0);
    for (site, name) in sites.iter_mut().zip(SITES) {
        let status = site.child.wait().unwrap();
        assert!(!status.success(), "{}", site.said());
        let said = site.said();
        match name {
            "east" => assert!(
                said.contains(&format!("accept.maximum_records: all sites together have {records} records in question 1, ")),
                "{said}"
            ),
            _ => assert!(said.contains("`east`"), "{said}"),
        }
        assert!(!path.join(format!("{name}-data/release-1")).exists());
    }
    // The size of the joint table is all that anybody learned.
    let done = hedgerow(path, &["ledger", "--site", "east.toml", "--json"]);
    assert_eq!(json(&done)["runs"][0]["values"], 1, "{}", done.stdout);
    SITES
        .iter()
        .for_each(|site| assert_audited_to_its_end(path, site));

    // As large as the site accepts.
    let folder = prepared(&USUAL);
    let path = folder.path();
    accept(path, "east", &format!("maximum_records = {records}"));
    end_all(start_all(path, &SITES, 0));
}

/// What the roles do not change: four sites against one colluder end with the release of a simulation.
#[test]
fn roles_that_are_spread_give_the_release_of_a_simulation() {
    const FOUR: [&str; 4] = ["north", "south", "east", "west"];
    let folder = prepared(&Shape {
        sites: &FOUR,
        rows: 400,
        require: "k = 5\nm = 1",
        ..USUAL
    });
    let path = folder.path();
    amend(path, &FOUR, "roles = \"spread\"");
    end_all(start_all(path, &FOUR, 0));
    super::setup::simulate(path, &FOUR);
    let simulated = std::fs::read(path.join("simulated/release.csv")).unwrap();
    for name in FOUR {
        let own = std::fs::read(path.join(format!("{name}-data/release-1/release.csv"))).unwrap();
        assert_eq!(own, simulated, "{name}");
    }
    let manifest =
        std::fs::read_to_string(path.join("north-data/release-1/manifest.json")).unwrap();
    assert!(
        manifest.contains("the counts of at most one other site"),
        "{manifest}"
    );
}
