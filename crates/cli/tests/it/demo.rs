//! `demo`: the whole of it with few rows; it leaves nothing behind, however it ends.

use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::{assert_refused, hedgerow, json};

/// Processes whose command line holds this text.
fn processes(text: &str) -> usize {
    let entries = std::fs::read_dir("/proc").unwrap();
    entries
        .filter_map(|entry| std::fs::read(entry.ok()?.path().join("cmdline")).ok())
        .filter(|line| String::from_utf8_lossy(line).contains(text))
        .count()
}

#[test]
fn four_hospitals_publish_one_table_and_leave_nothing_running() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let done = hedgerow(path, &["demo", "--keep", "d", "--json"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let answer = json(&done);
    assert_eq!(answer["holds"], true);
    assert_eq!(answer["records"], 2000);
    // What the demo is for: together they lose at most 0.7 times what the best of them loses alone.
    let together = answer["together"]["ncp"].as_f64().unwrap();
    for site in answer["sites"].as_array().unwrap() {
        let alone = site["alone"]["ncp"].as_f64().unwrap();
        assert!(0.0 < together && together <= 0.7 * alone, "{answer}");
    }
    assert_eq!(answer["sites"].as_array().unwrap().len(), 4);
    assert!(answer["cost"]["bytes"].as_u64().unwrap() > 0);
    let releases: Vec<Vec<u8>> = ["north", "south", "east", "west"]
        .iter()
        .map(|site| std::fs::read(path.join(format!("d/{site}/data/release-1/release.csv"))))
        .map(Result::unwrap)
        .collect();
    assert!(releases.iter().all(|release| *release == releases[0]));
    // The closing question: the truth, counted from the rows of each hospital, lies within the bounds.
    let question = &answer["question"];
    let mut truths = Vec::new();
    for site in ["north", "south", "east", "west"] {
        let rows = std::fs::read_to_string(path.join(format!("d/{site}/patients.csv"))).unwrap();
        let is_meant = |line: &&str| {
            let age: u32 = line.split(',').nth(1).unwrap().parse().unwrap();
            age >= 40 && line.ends_with("20K and more")
        };
        truths.push(rows.lines().skip(1).filter(is_meant).count() as i64);
    }
    assert_eq!(question["together"]["truth"], truths.iter().sum::<i64>());
    let mut asked = question["alone"].as_array().unwrap().clone();
    for (alone, truth) in asked.iter().zip(&truths) {
        assert_eq!(alone["truth"], *truth, "{alone}");
    }
    // A small hospital may have nothing to publish alone.
    asked.retain(|alone| alone["low"].is_i64());
    asked.push(question["together"].clone());
    for one in &asked {
        let number = |key: &str| one[key].as_i64().unwrap();
        assert!(
            number("low") <= number("truth") && number("truth") <= number("high"),
            "{one}"
        );
    }
    let log = std::fs::read_to_string(path.join("d/west/data/questions.log")).unwrap();
    assert!(
        log.contains("\"answered\"") && log.contains("north"),
        "{log}"
    );
    // What the run wrote down on its way is gone.
    for site in ["north", "south", "east", "west"] {
        for file in ["journal.sqlite", "journal.sqlite-wal", "run-1.frames"] {
            let left = std::fs::metadata(path.join(format!("d/{site}/data/{file}")));
            let left = left.map_or(0, |file| file.len());
            assert!(left < 200_000, "{file} of {site}: {left} bytes");
        }
    }
    let kept = path.join("d").display().to_string();
    assert_eq!(processes(&kept), 0);
    let status = hedgerow(path, &["status", "--site", "d/west/site.toml", "--json"]);
    assert_eq!(json(&status)["runs"][0]["state"], "done");
    assert_refused(
        &hedgerow(path, &["demo", "--keep", "d"]),
        "d: is not empty, and is left alone\nhint: choose another folder by --keep DIR, or leave nothing by --remove",
    );
}

#[test]
fn a_demo_keeps_its_report_and_takes_the_place_of_an_earlier_one_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let arguments = ["demo", "--vertical", "--rows", "400"];
    let done = hedgerow(path, &arguments);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let report = "hedgerow-demo/clinic/data/release-1/report.html";
    assert!(
        done.stdout.contains(&format!("report: {report}\n")),
        "{}",
        done.stdout
    );
    assert!(path.join(report).is_file());
    let explained = std::fs::read_to_string(path.join("hedgerow-demo/README.txt")).unwrap();
    // What the folder's README tells people to type works.
    let command = explained
        .lines()
        .find_map(|line| line.trim().strip_prefix("hedgerow verify "));
    let command = format!("verify {}", command.unwrap());
    let verified = hedgerow(path, &command.split(' ').collect::<Vec<_>>());
    assert_eq!(verified.code, 0, "{}", verified.stdout);
    assert!(verified.stdout.contains("\nHOLDS: ") || verified.stdout.starts_with("HOLDS: "));
    let again = hedgerow(path, &arguments);
    assert_eq!(again.code, 0, "{}", again.stderr);
    assert!(
        again.stderr.contains("takes the place of an earlier one"),
        "{}",
        again.stderr
    );
    // Whatever somebody has put there is not removed.
    std::fs::write(path.join("hedgerow-demo/notes.txt"), "mine").unwrap();
    assert_refused(
        &hedgerow(path, &arguments),
        "hedgerow-demo: is not empty, and is left alone\nhint: choose another folder by --keep DIR, or leave nothing by --remove",
    );
    assert!(path.join(report).is_file() && path.join("hedgerow-demo/notes.txt").is_file());
}

/// The study of the demo as it was when its bars were set: rounds and bytes of 3,000 records at four
/// hospitals, none of which may be needed.
#[test]
fn the_study_of_the_demo_takes_few_rounds_and_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let made = hedgerow(
        path,
        &[
            "generate", "hospital", "--rows", "3000", "--sites", "4", "--seed", "1", "--pooled",
            "--out", "g",
        ],
    );
    assert_eq!(made.code, 0, "{}", made.stderr);
    let study = path.join("g/study.toml");
    let text = std::fs::read_to_string(&study).unwrap();
    let text = text
        .replace("[require]\n", "[require]\nsite_diversity = 2\nm = 1\n")
        .replace("recode = \"node\"", "recode = \"range\"\nalpha = 1.0");
    std::fs::write(&study, text).unwrap();
    let mut tables = std::fs::read_dir(path.join("g")).unwrap();
    let table = tables
        .find_map(|entry| {
            let file = entry.unwrap().path();
            (file.extension()? == "csv").then_some(file)
        })
        .unwrap();
    let table = table.display().to_string();
    let done = hedgerow(
        path,
        &[
            "simulate",
            "--study",
            "g/study.toml",
            &table,
            "--provider-column",
            "site",
            "--out",
            "r",
            "--json",
        ],
    );
    assert_eq!(done.code, 0, "{}", done.stderr);
    let cost = &json(&done)["cost"];
    let (rounds, bytes) = (cost["rounds"].as_u64(), cost["bytes"].as_u64());
    assert!(
        rounds.is_some_and(|rounds| (1..=150).contains(&rounds)),
        "{cost}"
    );
    assert!(
        bytes.is_some_and(|bytes| (1..=30_000_000).contains(&bytes)),
        "{cost}"
    );
}

#[test]
fn three_institutions_publish_what_they_know_about_the_same_patients() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let done = hedgerow(
        path,
        &[
            "demo",
            "--vertical",
            "--postgres",
            "--rows",
            "400",
            "--keep",
            "d",
            "--json",
        ],
    );
    assert_eq!(done.code, 0, "{}", done.stderr);
    let answer = json(&done);
    assert_eq!(answer["holds"], true);
    let people = answer["records"].as_u64().unwrap();
    assert!((300..400).contains(&people), "not all are known to all");
    assert_eq!(answer["sites"][1]["columns"][0], "marker");
    // Worth looking at: many groups, and most of the detail kept.
    let together = &answer["together"];
    assert!(together["groups"].as_u64().unwrap() >= 5, "{together}");
    let lost = together["ncp"].as_f64().unwrap();
    assert!(lost < 0.4, "{together}");
    // Alone, the laboratory has no quasi-identifier to publish, and every other lacks some.
    for (site, least) in [(0, 1.0 / 3.0), (1, 1.0), (2, 2.0 / 3.0)] {
        let alone = answer["sites"][site]["alone"]["ncp"].as_f64().unwrap();
        assert!(
            least <= alone && alone <= 1.0 && lost < 0.7 * alone,
            "{answer}"
        );
    }
    let release = |site: &str| format!("d/{site}/data/release-1");
    for site in ["clinic", "laboratory", "insurer"] {
        let verified = hedgerow(
            path,
            &["verify", &release(site), "--study", "d/study/study.toml"],
        );
        assert_eq!(verified.code, 0, "{}", verified.stdout);
        let read = |site: &str| std::fs::read(path.join(release(site)).join("quasi.csv")).unwrap();
        assert_eq!(read(site), read("clinic"));
    }
    assert_eq!(processes(&path.join("d").display().to_string()), 0);
}

/// Starts a demo, ends it by a signal once its nodes run, and sees that nothing of it is left.
fn ended_by(signal: &str, is_cleaned: bool) {
    let folder = tempfile::tempdir().unwrap();
    let mut demo = Command::new(env!("CARGO_BIN_EXE_hedgerow"))
        .args(["demo", "--rows", "2000", "--remove"])
        .env("TMPDIR", folder.path())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let text = folder.path().display().to_string();
    let wait = |what: &str, is_so: &dyn Fn() -> bool| {
        let started = Instant::now();
        while !is_so() {
            assert!(
                started.elapsed() < Duration::from_secs(60),
                "{signal}: {what}"
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    wait("four nodes", &|| processes(&text) == 4);
    let pid = demo.id().to_string();
    let status = Command::new("kill").args([signal, &pid]).status().unwrap();
    assert!(status.success());
    demo.wait().unwrap();
    let mut said = String::new();
    demo.stderr
        .take()
        .unwrap()
        .read_to_string(&mut said)
        .unwrap();
    wait("nothing runs", &|| processes(&text) == 0);
    if is_cleaned {
        assert!(said.contains("stopped; nothing is left running"), "{said}");
        assert!(is_empty(folder.path()));
        return;
    }
    // The next demo sweeps it up, and nothing that it does not know.
    assert!(!is_empty(folder.path()));
    let (other, living) = (
        folder.path().join("hedgerow-demo-notes"),
        folder
            .path()
            .join(format!("hedgerow-demo-{}-x", std::process::id())),
    );
    std::fs::create_dir(&other).unwrap();
    std::fs::create_dir(&living).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_hedgerow"))
        .args(["demo", "--rows", "400", "--remove"])
        .env("TMPDIR", folder.path())
        .output()
        .unwrap();
    assert!(output.status.success());
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("Everything is removed again"), "{said}");
    std::fs::remove_dir(other).unwrap();
    std::fs::remove_dir(living).unwrap();
    assert!(is_empty(folder.path()));
}

fn is_empty(folder: &Path) -> bool {
    std::fs::read_dir(folder).unwrap().next().is_none()
}

#[test]
fn a_demo_that_is_stopped_leaves_nothing() {
    ended_by("-TERM", true);
    ended_by("-INT", true);
    // This one cannot clean up, but its nodes end, and the next demo does.
    ended_by("-KILL", false);
}
