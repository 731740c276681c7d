//! A search that ends at any time: `anonymize --time`, and Ctrl-C.

use std::io::Read as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::clustering::{registry, write_study};
use super::sites::{ok, refused};

/// How long a process may take for what it does in a second or two.
const PATIENCE: Duration = Duration::from_secs(120);

/// An effort that takes much longer than anybody waits here.
pub(super) const ENDLESS: &str = "effort = 10000";

pub(super) fn folder(algorithm: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    write_study(folder.path(), "hardened", "k = 10", algorithm);
    registry(folder.path(), 400, 3);
    folder
}

#[test]
fn a_time_ends_the_search_whatever_the_effort() {
    let folder = folder(ENDLESS);
    let folder = folder.path();
    let line = "anonymize --study study.toml alone.csv --time 1s --out release";
    let summary = ok(folder, line);
    assert_eq!(summary["convergence"]["ended"], "effort");
    assert_eq!(
        ok(folder, "verify release --study study.toml")["holds"],
        true
    );
    let least = summary["least_loss"].as_f64().unwrap();
    let steps = summary["convergence"]["steps"].as_array().unwrap();
    let reached = steps.last().unwrap()["loss"].as_f64().unwrap();
    assert!(0.0 < least && least <= reached, "{least} {reached}");
}

#[test]
fn a_time_is_refused_where_steps_are_counted() {
    let folder = folder("effort = 1");
    let folder = folder.path();
    let message = "--time is for clusters that one party finds at the hardened level, without --provider-column: everything else ends after counted steps, so that sites take the same\nhint: leave it out; for clusters between sites, `effort` of [algorithm] says how long they are refined";
    refused(
        folder,
        "anonymize --study study.toml pooled.csv --provider-column site --time 1s --out release",
        message,
    );
    write_study(folder, "published", "k = 10", "effort = 1");
    let alone = "anonymize --study study.toml alone.csv --time 1s --out release";
    refused(folder, alone, message);
}

#[test]
fn ctrl_c_writes_the_best_release_so_far() {
    let folder = folder(ENDLESS);
    let folder = folder.path();
    let mut child = Command::new(env!("CARGO_BIN_EXE_hedgerow"))
        .args("anonymize --study study.toml alone.csv --out release --json".split(' '))
        .current_dir(folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    wait_until_heard(&mut child);
    interrupt(&child);
    let (mut stdout, mut stderr) = (String::new(), String::new());
    let (out, error) = (child.stdout.as_mut(), child.stderr.as_mut());
    error.unwrap().read_to_string(&mut stderr).unwrap();
    out.unwrap().read_to_string(&mut stdout).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0), "{stderr}");
    assert!(
        stderr.contains("note: the search ends with the best clusters so far"),
        "{stderr}"
    );
    let summary: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(summary["convergence"]["ended"], "effort");
    assert_eq!(
        ok(folder, "verify release --study study.toml")["holds"],
        true
    );
}

/// Waits until a process handles Ctrl-C itself: from the first pass of the search on.
pub(super) fn wait_until_heard(child: &mut Child) {
    let began = Instant::now();
    let status = Path::new("/proc")
        .join(child.id().to_string())
        .join("status");
    while began.elapsed() < PATIENCE {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let caught = text.lines().find_map(|line| line.strip_prefix("SigCgt:"));
        let caught = caught.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
        // SIGINT is signal 2.
        if caught.is_some_and(|mask| mask & 0b10 != 0) {
            return;
        }
        assert!(child.try_wait().unwrap().is_none(), "the search is over");
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("Ctrl-C is not heard");
}

pub(super) fn interrupt(child: &Child) {
    let kill = format!("kill -INT {}", child.id());
    let done = Command::new("sh").args(["-c", &kill]).status().unwrap();
    assert!(done.success());
}
