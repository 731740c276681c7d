//! How often a site's rows are in a run, and as what: `accept.runs`, `accept.rerun`, the officer's word,
//! and what is remembered of a source whatever the study. Two releases that differ by one patient show
//! that patient.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::{SITES, files, hedgerow, json, make_private, sites};

/// A command that does not outlive the test.
pub(super) struct Typed {
    child: Child,
    said: PathBuf,
}

impl Typed {
    pub(super) fn start(folder: &Path, name: &str, arguments: &[&str]) -> Self {
        let said = folder.join(name);
        let child = Command::new(env!("CARGO_BIN_EXE_hedgerow"))
            .args(arguments)
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(std::fs::File::create(&said).unwrap())
            .spawn()
            .unwrap();
        Self { child, said }
    }

    /// A node that waits.
    pub(super) fn node(folder: &Path, site: &str, life: usize) -> Self {
        let file = format!("{site}.toml");
        let node = Self::start(
            folder,
            &format!("{site}-node-{life}.err"),
            &["node", "--site", &file],
        );
        until("the node waits", || {
            node.said().contains("waiting for a run")
        });
        node
    }

    pub(super) fn said(&self) -> String {
        std::fs::read_to_string(&self.said).unwrap()
    }

    /// Whether it has ended.
    pub(super) fn is_over(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// Its exit code.
    pub(super) fn code(&mut self) -> i32 {
        let started = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code().unwrap();
            }
            assert!(
                started.elapsed() < Duration::from_secs(120),
                "{}",
                self.said()
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    pub(super) fn kill(mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Typed {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(super) fn until(what: &str, is_so: impl Fn() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < Duration::from_secs(120), "{what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Every one of these sites types `run` with this number; returns exit codes and what was said.
pub(super) fn run_at(folder: &Path, sites: &[&str], number: &str) -> Vec<(i32, String)> {
    let start = |site: &&str| {
        let file = format!("{site}.toml");
        let arguments = ["run", "--site", &file, "--number", number];
        Typed::start(folder, &format!("{site}-{number}.err"), &arguments)
    };
    let mut typed: Vec<Typed> = sites.iter().map(start).collect();
    typed
        .iter_mut()
        .map(|one| (one.code(), one.said()))
        .collect()
}

/// All of these sites end a run with a release.
pub(super) fn publish(folder: &Path, sites: &[&str], number: &str) {
    for (code, said) in run_at(folder, sites, number) {
        assert_eq!(code, 0, "{said}");
    }
}

/// Adds lines to a site's `[accept]`.
pub(super) fn accept(folder: &Path, site: &str, lines: &str) {
    change(folder, site, "[accept]\n", &format!("[accept]\n{lines}\n"));
}

/// Changes a site's file.
pub(super) fn change(folder: &Path, site: &str, from: &str, to: &str) {
    let file = folder.join(format!("{site}.toml"));
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains(from), "{text}");
    std::fs::write(&file, text.replacen(from, to, 1)).unwrap();
    make_private(&file);
}

/// Takes the last record out of a site's table.
pub(super) fn delete_one(folder: &Path, site: &str) {
    let rows = folder.join(format!("c/{site}.csv"));
    let table = std::fs::read_to_string(&rows).unwrap();
    let (rest, _) = table.trim_end().rsplit_once('\n').unwrap();
    std::fs::write(&rows, format!("{rest}\n")).unwrap();
}

fn status(folder: &Path, site: &str) -> serde_json::Value {
    let file = format!("{site}.toml");
    json(&hedgerow(folder, &["status", "--site", &file, "--json"]))
}

/// How a run stands at a site.
fn state(folder: &Path, site: &str, number: u64) -> String {
    let runs = status(folder, site)["runs"].clone();
    let mut found = runs.as_array().unwrap().iter();
    let found = found.rfind(|run| run["run"] == number);
    found.map_or_else(String::new, |run| {
        run["state"].as_str().unwrap_or_default().to_owned()
    })
}

#[test]
fn a_second_run_with_one_patient_less_is_refused() {
    let folder = sites(300);
    let path = folder.path();
    publish(path, &SITES, "1");

    // By default rows are in one run.
    let second = run_at(path, &SITES, "2");
    for (code, said) in &second {
        assert_eq!(*code, 2, "{said}");
        assert!(said.contains("accept.runs: allows one run, and "), "{said}");
        assert!(
            said.contains("was in run 1 of `census` (released"),
            "{said}"
        );
    }
    let done = hedgerow(path, &["run", "approve", "2", "--site", "north.toml"]);
    assert_eq!(done.code, 2, "{}", done.stdout);
    assert!(
        done.stderr.contains("accept.rerun: is not \"ask\""),
        "{}",
        done.stderr
    );
    // Two are allowed, of the same rows; the peers of a site whose rows changed hear that it does
    // not take part.
    SITES.iter().for_each(|site| accept(path, site, "runs = 2"));
    delete_one(path, "north");
    let second = run_at(path, &SITES, "2");
    let (code, said) = &second[0];
    assert_eq!(*code, 2, "{said}");
    assert!(said.contains("accept.rerun: the rows of "), "{said}");
    let hint = "hint: two releases that differ by one patient show that patient";
    assert!(said.contains(hint), "{said}");
    for (code, said) in &second[1..] {
        assert_eq!(*code, 2, "{said}");
        assert!(said.contains("`north`"), "{said}");
    }
    for site in SITES {
        assert!(!path.join(format!("{site}-data/release-2")).exists());
    }
    // What was refused has used nothing up: with the rows as they were it goes on.
    let rows = path.join("c/north.csv");
    let table = std::fs::read_to_string(&rows).unwrap();
    let again = hedgerow(
        path,
        &[
            "generate", "census", "--rows", "300", "--sites", "3", "--out", "again",
        ],
    );
    assert_eq!(again.code, 0, "{}", again.stderr);
    std::fs::copy(path.join("again/north.csv"), &rows).unwrap();
    assert_ne!(table, std::fs::read_to_string(&rows).unwrap());
    publish(path, &SITES, "2");
    let release = |number: u32| {
        std::fs::read(path.join(format!("north-data/release-{number}/release.csv"))).unwrap()
    };
    assert_eq!(release(1), release(2));
}

#[test]
fn where_the_officer_is_asked_the_node_waits_for_a_word() {
    let folder = sites(300);
    let path = folder.path();
    accept(path, "north", "rerun = \"ask\"");
    for site in &SITES[1..] {
        accept(path, site, "runs = 9");
    }
    let mut north = Typed::node(path, "north", 0);
    let _others = [Typed::node(path, "south", 0), Typed::node(path, "east", 0)];
    let ask = |number: &str| {
        let name = format!("asked-{number}.err");
        let arguments = ["run", "--site", "south.toml", "--number", number];
        Typed::start(path, &name, &arguments)
    };
    assert_eq!(ask("1").code(), 0);
    until("north is done", || state(path, "north", 1) == "done");

    delete_one(path, "north");
    let mut second = ask("2");
    until("north asks", || state(path, "north", 2) == "asking");
    let shown = hedgerow(path, &["status", "--site", "north.toml"]);
    assert!(
        shown
            .stdout
            .contains("run 2: waits for the privacy officer since"),
        "{}",
        shown.stdout
    );
    assert!(
        shown
            .stdout
            .contains("hint: hedgerow run approve 2 --site …"),
        "{}",
        shown.stdout
    );
    assert!(
        shown.stdout.contains("was in run 1 of `census`"),
        "{}",
        shown.stdout
    );
    // Beside the node, which holds the journal.
    let done = hedgerow(path, &["run", "approve", "2", "--site", "north.toml"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(done.stdout.contains("run 2 is approved"), "{}", done.stdout);
    assert_eq!(second.code(), 0, "{}", second.said());
    until("north is done", || state(path, "north", 2) == "done");

    // What waits does so after a restart.
    let mut third = ask("3");
    until("north asks", || state(path, "north", 3) == "asking");
    north.kill();
    assert_eq!(state(path, "north", 3), "asking");
    north = Typed::start(path, "north-again.err", &["node", "--site", "north.toml"]);
    until("it asks again", || {
        north.said().contains("run 3 waits for the privacy officer")
    });
    let done = hedgerow(path, &["run", "refuse", "3", "--site", "north.toml"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(third.code(), 2, "{}", third.said());
    assert!(
        third.said().contains("`north` has given the run up"),
        "{}",
        third.said()
    );
    until("north is out", || state(path, "north", 3) == "given up");
    assert!(!path.join("south-data/release-3").exists());
    let done = hedgerow(path, &["run", "approve", "3", "--site", "north.toml"]);
    assert_eq!(done.code, 2, "{}", done.stdout);
    assert!(
        done.stderr.contains("run 3 of this study was given up"),
        "{}",
        done.stderr
    );

    // A word before anybody asks, and while nobody is at work: the next time it goes without waiting.
    north.kill();
    let done = hedgerow(path, &["run", "approve", "4", "--site", "north.toml"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    for site in &SITES[1..] {
        // They have heard that the run cannot go on.
        until("it is given up everywhere", || {
            let file = format!("{site}.toml");
            let arguments = ["run", "--site", &file, "--abandon", "--number", "3"];
            let done = hedgerow(path, &arguments);
            done.code == 0 || done.stderr.contains("was given up")
        });
    }
    let _north = Typed::node(path, "north", 9);
    let mut fourth = ask("4");
    assert_eq!(fourth.code(), 0, "{}", fourth.said());
}

/// A run that failed before anything of a site's rows was sent uses nothing up; one that failed after
/// does.
#[test]
fn a_failed_run_counts_from_where_rows_are_sent() {
    let folder = sites(600);
    let path = folder.path();
    change(path, "north", "patience = 60", "patience = 1");
    for (number, expected) in [
        ("1", "has been gone for 1 s"),
        ("2", "has been gone for 1 s"),
    ] {
        let (code, said) = run_at(path, &["north"], number).remove(0);
        assert_eq!(code, 2, "{said}");
        assert!(said.contains(expected), "{said}");
        let arguments = [
            "run",
            "--site",
            "north.toml",
            "--abandon",
            "--number",
            number,
        ];
        assert_eq!(hedgerow(path, &arguments).code, 0);
    }
    change(path, "north", "patience = 1", "patience = 60");
    // The others take the third as their first two were never asked for.
    for site in &SITES[1..] {
        for number in ["1", "2"] {
            let done = hedgerow(
                path,
                &["run", "refuse", number, "--site", &format!("{site}.toml")],
            );
            assert_eq!(done.code, 0, "{}", done.stderr);
        }
    }
    let start = |site: &&str| {
        let file = format!("{site}.toml");
        let arguments = ["run", "--site", &file, "--number", "3"];
        Typed::start(path, &format!("{site}-3.err"), &arguments)
    };
    let mut typed: Vec<Typed> = SITES.iter().map(start).collect();
    until("something was disclosed", || learned(path, "north") > 0);
    typed.remove(0).kill();
    let is_over = state(path, "north", 3) == "done";
    assert!(!is_over, "the run was over before it was killed");
    let arguments = ["run", "--site", "north.toml", "--abandon", "--number", "3"];
    assert_eq!(hedgerow(path, &arguments).code, 0);
    drop(typed);
    let (code, said) = run_at(path, &["north"], "4").remove(0);
    assert_eq!(code, 2, "{said}");
    assert!(
        said.contains("accept.runs: allows one run, and ")
            && said.contains("run 3 of `census` (given up"),
        "{said}"
    );
}

/// How many values a site's ledger has of all runs.
pub(super) fn learned(folder: &Path, site: &str) -> u64 {
    let file = format!("{site}.toml");
    let done = hedgerow(folder, &["ledger", "--site", &file, "--json"]);
    let runs = json(&done)["runs"].clone();
    let runs = runs.as_array().unwrap().iter();
    runs.map(|run| run["values"].as_u64().unwrap()).sum()
}

/// The same rows under another study, another k and another data folder, and a copy of them under
/// another name, are remembered.
#[test]
fn another_study_of_the_same_source_is_a_second_release() {
    let folder = sites(300);
    let path = folder.path();
    publish(path, &SITES, "1");
    std::fs::create_dir_all(path.join("d/taxonomies")).unwrap();
    for file in files(&path.join("c/taxonomies")) {
        std::fs::copy(
            &file,
            path.join("d/taxonomies").join(file.file_name().unwrap()),
        )
        .unwrap();
    }
    let study = std::fs::read_to_string(path.join("c/study.toml")).unwrap();
    let other = study.replacen("name = \"census\"", "name = \"census again\"", 1);
    let other = other.replacen("k = 10 ", "k = 20 ", 1);
    // Fewer columns too, so that the coded rows are others.
    let (before, rest) = other.split_once("[[attribute]]\nname = \"race\"").unwrap();
    let (_, after) = rest.split_once("\n[[attribute]]").unwrap();
    let other = format!("{before}[[attribute]]{after}");
    assert!(other.contains("k = 20") && other.contains("census again"));
    std::fs::write(path.join("d/study.toml"), other).unwrap();
    for site in SITES {
        let key = format!("{site}.key");
        let done = hedgerow(path, &["study", "sign", "--key", &key, "d/study.toml"]);
        assert_eq!(done.code, 0, "{}", done.stderr);
        let text = std::fs::read_to_string(path.join(format!("{site}.toml"))).unwrap();
        let text = text.replace("c/study.toml", "d/study.toml");
        let text = text.replace(&format!("{site}-data"), &format!("{site}-other-data"));
        let file = path.join(format!("{site}2.toml"));
        std::fs::write(&file, text).unwrap();
        make_private(&file);
        // The study has one column less than the table.
        let rows = path.join(format!("c/{site}.csv"));
        let whole = std::fs::read_to_string(&rows).unwrap();
        let place = whole
            .lines()
            .next()
            .unwrap()
            .split(',')
            .position(|name| name == "race");
        let without = whole.lines().map(|line| {
            let mut cells: Vec<&str> = line.split(',').collect();
            cells.remove(place.unwrap());
            format!("{}\n", cells.join(","))
        });
        std::fs::write(&rows, without.collect::<String>()).unwrap();
    }
    let (code, said) = run_at(path, &["north2"], "1").remove(0);
    assert_eq!(code, 2, "{said}");
    assert!(
        said.contains("accept.runs: allows one run, and ")
            && said.contains("was in run 1 of `census` (released"),
        "{said}"
    );
    assert!(!path.join("north-other-data").exists());
    // Other rows of the same source, which is more than the default allows.
    accept(path, "north2", "runs = 2");
    let (_, said) = run_at(path, &["north2"], "1").remove(0);
    assert!(said.contains("accept.rerun: the rows of "), "{said}");

    // A copy of rows that were in a run, under another name and the first study's columns.
    let again = hedgerow(
        path,
        &[
            "generate", "census", "--rows", "300", "--sites", "3", "--out", "again",
        ],
    );
    assert_eq!(again.code, 0, "{}", again.stderr);
    change(path, "north", "c/north.csv", "again/north.csv");
    change(path, "north", "north-data", "north-third-data");
    change(
        path,
        "north",
        "site = ",
        "memory = \"hedgerow-memory.sqlite\"\nsite = ",
    );
    let study = std::fs::read_to_string(path.join("c/study.toml")).unwrap();
    std::fs::write(path.join("c/study.toml"), format!("{study}# a third\n")).unwrap();
    for site in SITES {
        let key = format!("{site}.key");
        let done = hedgerow(path, &["study", "sign", "--key", &key, "c/study.toml"]);
        assert_eq!(done.code, 0, "{}", done.stderr);
    }
    let (code, said) = run_at(path, &["north"], "1").remove(0);
    assert_eq!(code, 2, "{said}");
    assert!(
        said.contains("again/north.csv was in run 1 of `census` (released"),
        "{said}"
    );
}
