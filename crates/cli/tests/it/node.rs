//! `keygen`, `study new / sign / show`, `run`, `node`, `status`: real processes, real connections.

mod again;
mod audits;
mod clustering;
mod columns;
mod disclosures;
mod faults;
mod four;
mod gates;
mod leaks;
mod ledgers;
mod overlaps;
mod questions;
mod reruns;
mod running;
mod setup;
mod shared;
mod stars;
mod versions;
mod virtual_database;

use std::path::Path;
use std::time::{Duration, Instant};

use hedgerow_node::agreement::Agreement;
use hedgerow_node::identity::{PublicKey, Purpose, from_hex};
use hedgerow_node::journal::Journal;
use hedgerow_node::run::statement_digest;

use super::{assert_refused, hedgerow, json};
use setup::{
    SITES, Shape, Site, USUAL, files, free_address, listed, make_private, prepared, simulate,
    simulated, sites, start_all, write_study,
};

#[test]
fn three_processes_publish_what_a_simulation_does_and_sign_it() {
    let folder = sites(600);
    let path = folder.path();
    let mut running = start_all(path, &SITES, 0);
    running.iter_mut().for_each(Site::end);

    let expected = simulated(path);
    let agreement = Agreement::open(&path.join("c/study.toml")).unwrap();
    let mut together: Vec<String> = Vec::new();
    for name in SITES {
        let release = path.join(format!("{name}-data/release-1"));
        assert_eq!(
            std::fs::read(release.join("release.csv")).unwrap(),
            expected
        );
        let text = std::fs::read_to_string(release.join("manifest.json")).unwrap();
        let manifest: serde_json::Value = serde_json::from_str(&text).unwrap();
        let seconds = |key: &str| manifest["cost"][key].as_f64().unwrap();
        assert!(0.0 < seconds("protocol_seconds"), "{}", manifest["cost"]);
        assert!(seconds("protocol_seconds") < seconds("seconds"));
        let signed = &manifest["signed"];
        assert_eq!(signed["study_hash"], agreement.hash.to_string());
        let hash = blake3::hash(&expected);
        assert_eq!(signed["files"]["release.csv"], hash.to_hex().as_str());
        let digest = statement_digest(agreement.hash, 1, signed.to_string().as_bytes());
        for (place, site) in SITES.iter().enumerate() {
            let entry = &manifest["signatures"][place];
            assert_eq!(entry["site"], *site);
            let key: PublicKey = entry["key"].as_str().unwrap().parse().unwrap();
            assert_eq!(key, agreement.keys().unwrap()[place]);
            let signature = from_hex(entry["signature"].as_str().unwrap()).unwrap();
            assert!(key.verifies(Purpose::Release, &digest, &signature));
        }
        let done = hedgerow(
            path,
            &["status", "--site", &format!("{name}.toml"), "--json"],
        );
        assert_eq!(json(&done)["runs"][0]["over"], true);
        // The site's own rows as the release writes them lie beside the release, and not inside.
        let local = path.join(format!("{name}-data/local-1.csv"));
        let local = std::fs::read_to_string(local).unwrap();
        assert!(
            !files(&release)
                .iter()
                .any(|file| file.ends_with("local-1.csv"))
        );
        let own = std::fs::read_to_string(path.join(format!("c/{name}.csv"))).unwrap();
        assert_eq!(local.lines().count(), own.lines().count());
        together.extend(local.lines().skip(1).map(str::to_owned));
        // Nothing half-made is left.
        let data = path.join(format!("{name}-data"));
        for file in files(&data) {
            let inside = file.strip_prefix(&data).unwrap().display().to_string();
            assert!(!inside.contains("tmp"), "{inside}");
        }
    }
    together.sort();
    let expected = String::from_utf8(expected).unwrap();
    let mut released: Vec<&str> = expected.lines().skip(1).collect();
    released.sort_unstable();
    assert_eq!(together, released);
    let done = hedgerow(path, &["run", "--site", "north.toml"]);
    assert_eq!(done.code, 2);
    assert!(
        done.stderr.contains("run 1 of this study is over"),
        "{}",
        done.stderr
    );
}

/// What was signed is what is run, said and sealed: a study that is changed while a site waits for
/// the others does not reach its release.
#[test]
fn a_study_that_is_changed_during_a_run_does_not_reach_the_release() {
    let folder = sites(300);
    let path = folder.path();
    let study = path.join("c/study.toml");
    let signed = std::fs::read_to_string(&study).unwrap();
    let mut first = start_all(path, &SITES[..1], 0);
    // Its part has begun once it stands in the journal.
    let started = Instant::now();
    while Journal::look(&path.join("north-data")).map_or(true, |entries| entries.is_empty()) {
        assert!(
            started.elapsed() < Duration::from_secs(60),
            "{}",
            first[0].said()
        );
        std::thread::sleep(Duration::from_millis(20));
    }
    // The others have the study that was signed; nothing is left of it where the first looks.
    std::fs::create_dir(path.join("elsewhere")).unwrap();
    for entry in std::fs::read_dir(path.join("c")).unwrap() {
        let entry = entry.unwrap();
        if entry.path().is_dir() {
            let inner = path.join("elsewhere").join(entry.file_name());
            std::fs::create_dir(&inner).unwrap();
            for file in files(&entry.path()) {
                std::fs::copy(&file, inner.join(file.file_name().unwrap())).unwrap();
            }
        } else {
            std::fs::copy(entry.path(), path.join("elsewhere").join(entry.file_name())).unwrap();
        }
    }
    for name in &SITES[1..] {
        let file = path.join(format!("{name}.toml"));
        let text = std::fs::read_to_string(&file).unwrap();
        std::fs::write(
            &file,
            text.replace("\"c/study.toml\"", "\"elsewhere/study.toml\""),
        )
        .unwrap();
    }
    let changed = signed.replacen("name = \"", "name = \"smuggled-", 1);
    assert!(changed.contains("smuggled-"));
    std::fs::write(&study, changed).unwrap();
    let mut others = start_all(path, &SITES[1..], 0);
    first.iter_mut().chain(&mut others).for_each(Site::end);

    let release = path.join("north-data/release-1");
    for file in files(&release) {
        let bytes = std::fs::read(&file).unwrap();
        assert!(
            memchr::memmem::find(&bytes, b"smuggled").is_none(),
            "{}",
            file.display()
        );
    }
    let done = hedgerow(
        path,
        &[
            "verify",
            "north-data/release-1",
            "--study",
            "elsewhere/study.toml",
        ],
    );
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
    let page = std::fs::read_to_string(release.join("report.html")).unwrap();
    assert!(page.contains("The release holds."), "{page}");
}

/// Whether a site's run is over, and how many frames it has sent.
fn progress(folder: &Path, name: &str) -> (bool, u64) {
    let entries = Journal::look(&folder.join(format!("{name}-data"))).unwrap();
    entries.first().map_or((false, 0), |entry| {
        (
            entry.is_over,
            entry.frames.iter().map(|frames| frames.1).sum(),
        )
    })
}

#[test]
fn sites_that_are_killed_end_with_the_same_release() {
    let folder = sites(600);
    // Each in turn, and two at once.
    let victims: [&[usize]; 5] = [&[0], &[1], &[2], &[0, 1], &[1, 2]];
    let in_the_middle = killed_at_six_points(folder.path(), &victims);
    assert!(
        in_the_middle >= 25,
        "only {in_the_middle} kills fell into a run"
    );
}

/// The hub, which passes on what the others tell all, and a leaf, each alone.
#[test]
fn the_hub_and_a_leaf_that_are_killed_end_with_the_same_release() {
    let folder = prepared(&Shape {
        hub: Some("south"),
        ..USUAL
    });
    let in_the_middle = killed_at_six_points(folder.path(), &[&[1], &[2]]);
    assert!(
        in_the_middle >= 8,
        "only {in_the_middle} kills fell into a run"
    );
}

/// Runs the study once for each group of victims, which are killed at six random points: where the first of
/// them has sent so many frames. Every site ends with the release of a simulation. Returns how many kills
/// fell into a run.
fn killed_at_six_points(path: &Path, victims: &[&[usize]]) -> usize {
    let summary = simulate(path, &SITES);
    let expected = std::fs::read(path.join("simulated/release.csv")).unwrap();
    let messages = summary["cost"]["messages"].as_u64().unwrap() / SITES.len() as u64;
    let mut in_the_middle = 0;
    for (turn, victims) in victims.iter().enumerate() {
        for name in SITES {
            let _ = std::fs::remove_dir_all(path.join(format!("{name}-data")));
        }
        let _ = std::fs::remove_file(path.join("hedgerow-memory.sqlite"));
        let mut running = start_all(path, &SITES, 0);
        let draw = |life: u8| {
            let hash = blake3::hash(&[turn as u8, life]);
            1 + u64::from(u16::from_le_bytes([hash.as_bytes()[0], hash.as_bytes()[1]])) % messages
        };
        let mut points: Vec<u64> = (0..6).map(draw).collect();
        points.sort_unstable();
        for (life, enough) in (1..).zip(points) {
            let first = SITES[victims[0]];
            while matches!(progress(path, first), (false, sent) if sent < enough) {
                std::thread::sleep(Duration::from_millis(1));
            }
            for victim in *victims {
                // SIGKILL.
                running[*victim].child.kill().unwrap();
                running[*victim].child.wait().unwrap();
            }
            for victim in *victims {
                let (is_over, sent) = progress(path, SITES[*victim]);
                if !is_over {
                    in_the_middle += usize::from(sent > 0);
                    running[*victim] = Site::start(path, SITES[*victim], life);
                }
            }
        }
        for (site, name) in running.iter_mut().zip(SITES) {
            if !progress(path, name).0 {
                site.end();
            }
            let release = path.join(format!("{name}-data/release-1/release.csv"));
            assert_eq!(std::fs::read(release).unwrap(), expected);
        }
    }
    eprintln!("{in_the_middle} kills fell into a run");
    in_the_middle
}

#[test]
fn a_study_that_this_site_does_not_accept_is_refused_by_rule() {
    let folder = sites(100);
    let path = folder.path();
    let file = path.join("north.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    let refused = |from: &str, to: &str, expected: &str| {
        std::fs::write(&file, text.replace(from, to)).unwrap();
        let done = hedgerow(path, &["run", "--site", "north.toml"]);
        assert_eq!((done.code, done.stdout.as_str()), (2, ""));
        assert!(done.stderr.contains(expected), "{}", done.stderr);
        assert!(!path.join("north-data").exists());
    };
    refused(
        "minimum_k = 5",
        "minimum_k = 50",
        "accept.minimum_k: is 50; the study has only k = 10",
    );
    refused("minimum_k = 5\n", "", "accept.minimum_k: is not set");
    refused(
        "\"medians of classes, finer than the nodes they are written as\", ",
        "",
        "accept.disclosures: does not allow `medians of classes, finer than",
    );
    refused(
        "north.key",
        "south.key",
        "is not the key that the study has for `north`",
    );
    refused(
        "site = \"north\"",
        "site = \"west\"",
        "the study has no site `west`",
    );

    // One byte more in the study, and nobody has signed it.
    std::fs::write(&file, &text).unwrap();
    let study = path.join("c/study.toml");
    let signed = std::fs::read_to_string(&study).unwrap();
    std::fs::write(&study, format!("{signed} ")).unwrap();
    let done = hedgerow(path, &["run", "--site", "north.toml"]);
    assert_eq!(done.code, 2);
    assert!(
        done.stderr
            .contains("not signed by `north` (void: the study has changed since)")
    );
    let done = hedgerow(path, &["study", "check", "c/study.toml"]);
    assert_eq!(done.code, 1, "{}", done.stderr);
    assert!(done.stdout.contains("void"), "{}", done.stdout);
    std::fs::write(&study, signed).unwrap();
    assert_eq!(hedgerow(path, &["study", "check", "c/study.toml"]).code, 0);

    // A row outside its domain stops the site before anything leaves it.
    let rows = path.join("c/north.csv");
    let mut table = std::fs::read_to_string(&rows).unwrap();
    table.push_str("male,24,white,single,bachelor,Germany,town,astronaut,35K to 50K\n");
    std::fs::write(&rows, table).unwrap();
    let done = hedgerow(path, &["run", "--site", "north.toml"]);
    assert_eq!(done.code, 2);
    assert!(
        done.stderr.contains("value `astronaut` is outside"),
        "{}",
        done.stderr
    );
    assert!(!path.join("north-data").exists());
}

#[test]
fn a_run_is_given_up_and_a_changed_source_is_named() {
    let folder = sites(100);
    let path = folder.path();
    let file = path.join("north.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("patience = 60", "patience = 1")).unwrap();
    let done = hedgerow(path, &["run", "--site", "north.toml"]);
    assert_eq!(done.code, 2);
    assert!(
        done.stderr.contains("`south` has been gone for 1 s"),
        "{}",
        done.stderr
    );
    let done = hedgerow(path, &["status", "--site", "north.toml"]);
    assert!(done.stdout.contains("\nrun 1: not over"), "{}", done.stdout);

    let rows = path.join("c/north.csv");
    let table = std::fs::read_to_string(&rows).unwrap();
    let (first, rest) = table.trim_end().rsplit_once('\n').unwrap();
    assert!(!rest.is_empty());
    std::fs::write(&rows, format!("{first}\n")).unwrap();
    let done = hedgerow(path, &["run", "--site", "north.toml"]);
    assert!(
        done.stderr
            .contains("the rows have changed since run 1 began"),
        "{}",
        done.stderr
    );
    // Whoever asks before typing it again hears the same.
    let done = hedgerow(path, &["site", "check", "north.toml"]);
    assert!(
        done.code == 1
            && done
                .stdout
                .contains("\n  rows: the rows have changed since run 1 began"),
        "{}{}",
        done.stdout,
        done.stderr
    );
    std::fs::write(&rows, &table).unwrap();
    let done = hedgerow(path, &["site", "check", "north.toml"]);
    assert!(
        done.code == 0
            && done
                .stdout
                .contains("note: run 1 is under way, with these rows\n"),
        "{}{}",
        done.stdout,
        done.stderr
    );
    std::fs::write(&rows, format!("{first}\n")).unwrap();

    let done = hedgerow(path, &["run", "--site", "north.toml", "--abandon"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let done = hedgerow(path, &["status", "--site", "north.toml"]);
    assert!(!done.stdout.contains("not over"), "{}", done.stdout);
    // Its number is never used again: peers may have frames of it.
    for again in [&["--abandon"][..], &[]] {
        let done = hedgerow(path, &[&["run", "--site", "north.toml"], again].concat());
        assert_eq!(done.code, 2);
        assert!(
            done.stderr.contains("run 1 of this study was given up"),
            "{}",
            done.stderr
        );
    }
}

#[test]
fn keys_are_made_once_and_a_study_is_begun() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let done = hedgerow(path, &["keygen", "--out", "a.key", "--json"]);
    let key = json(&done)["key"].as_str().unwrap().to_owned();
    let secret = std::fs::read_to_string(path.join("a.key")).unwrap();
    let digits = secret.trim_end().rsplit(':').next().unwrap();
    assert!(!done.stdout.contains(digits) && !done.stderr.contains(digits));
    assert_refused(
        &hedgerow(path, &["keygen", "--out", "a.key"]),
        "a.key: is there already and is kept\nhint: a key that is lost voids every study it signed; choose another name",
    );
    let done = hedgerow(path, &["study", "new", "study.toml"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(hedgerow(path, &["study", "check", "study.toml"]).code, 0);
    assert_eq!(hedgerow(path, &["study", "new", "study.toml"]).code, 2);
    let study = path.join("study.toml");
    let text = std::fs::read_to_string(&study).unwrap();
    let site = format!("\n[[site]]\nname = \"a\"\naddress = \"127.0.0.1:7401\"\nkey = \"{key}\"\n");
    std::fs::write(&study, format!("{text}{site}")).unwrap();
    let done = hedgerow(path, &["study", "show", "study.toml"]);
    assert_eq!(done.code, 1, "{}", done.stderr);
    assert!(done.stdout.contains("not signed"), "{}", done.stdout);
    let done = hedgerow(path, &["study", "sign", "--key", "a.key", "study.toml"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(hedgerow(path, &["study", "show", "study.toml"]).code, 0);
}
