//! How often a site's rows are released, and as what: `accept.runs`, `accept.rerun`, and the officer's
//! word. Two releases that differ by one patient show that patient.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::{SITES, hedgerow, sites};

/// A command that does not outlive the test.
struct Typed {
    child: Child,
    said: PathBuf,
}

impl Typed {
    fn start(folder: &Path, name: &str, arguments: &[&str]) -> Self {
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

    fn said(&self) -> String {
        std::fs::read_to_string(&self.said).unwrap()
    }

    /// Its exit code.
    fn code(&mut self) -> i32 {
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
}

impl Drop for Typed {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Every site types `run` with this number; returns exit codes and what was said.
fn run_all(folder: &Path, number: &str) -> Vec<(i32, String)> {
    let start = |site: &&str| {
        let file = format!("{site}.toml");
        let arguments = ["run", "--site", &file, "--number", number];
        Typed::start(folder, &format!("{site}-{number}.err"), &arguments)
    };
    let mut typed: Vec<Typed> = SITES.iter().map(start).collect();
    typed
        .iter_mut()
        .map(|one| (one.code(), one.said()))
        .collect()
}

/// Takes the last record out of a site's table.
fn delete_one(folder: &Path, site: &str) {
    let rows = folder.join(format!("c/{site}.csv"));
    let table = std::fs::read_to_string(&rows).unwrap();
    let (rest, _) = table.trim_end().rsplit_once('\n').unwrap();
    std::fs::write(&rows, format!("{rest}\n")).unwrap();
}

#[test]
fn a_second_run_with_one_patient_less_is_refused() {
    let folder = sites(300);
    let path = folder.path();
    for (code, said) in run_all(path, "1") {
        assert_eq!(code, 0, "{said}");
    }
    delete_one(path, "north");
    let second = run_all(path, "2");
    assert!(second.iter().all(|(code, _)| *code == 2), "{second:?}");
    for site in SITES {
        assert!(!path.join(format!("{site}-data/release-2")).exists());
    }
}
