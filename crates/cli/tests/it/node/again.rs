//! What may begin and go on at a site: who is at work is asked, not guessed, and a run that is not
//! due is refused before anything of it is sent.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::{SITES, hedgerow, json, sites};

/// A command as a person types it; it does not outlive the test.
struct Typed {
    child: Child,
    said: std::path::PathBuf,
}

impl Typed {
    fn start(folder: &Path, name: &str) -> Self {
        Self::of("north", "1", folder, name)
    }

    fn of(site: &str, number: &str, folder: &Path, name: &str) -> Self {
        let site = format!("{site}.toml");
        Self::command(&["run", "--site", &site, "--number", number], folder, name)
    }

    fn command(arguments: &[&str], folder: &Path, name: &str) -> Self {
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

    fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Typed {
    fn drop(&mut self) {
        self.kill();
    }
}

fn state(folder: &Path) -> String {
    let done = hedgerow(folder, &["status", "--site", "north.toml", "--json"]);
    let state = json(&done)["runs"][0]["state"].clone();
    state.as_str().unwrap_or_default().to_owned()
}

fn until(what: &str, is_so: impl Fn() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < Duration::from_secs(10), "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_run_goes_on_at_once_after_it_was_killed() {
    let folder = sites(100);
    let path = folder.path();
    let mut first = Typed::start(path, "first.err");
    until("the first runs", || state(path) == "running");

    // Beside one that is at work, the same command watches.
    let mut beside = Typed::start(path, "beside.err");
    until("the second watches", || {
        beside.said().contains("only watches")
    });
    beside.kill();
    assert_eq!(state(path), "running");
    let other = hedgerow(path, &["run", "--site", "north.toml", "--number", "2"]);
    assert_eq!(other.code, 2);
    assert!(
        other.stderr.contains("this site is at work on run 1"),
        "{}",
        other.stderr
    );

    let done = hedgerow(path, &["run", "--site", "north.toml", "--abandon"]);
    assert_eq!(done.code, 2);
    let expected = "at work here, so run 1 is not given up\nhint: stop it, then type this again";
    assert!(done.stderr.contains(expected), "{}", done.stderr);

    first.kill();
    assert_eq!(state(path), "stopped");
    let again = Typed::start(path, "again.err");
    until("it runs again", || state(path) == "running");
    assert!(!again.said().contains("only watches"), "{}", again.said());
}

#[test]
fn peers_hear_that_a_site_gave_a_run_up() {
    let folder = sites(100);
    let path = folder.path();
    // East is not there yet, so the others wait for it, and not for north.
    let mut north = Typed::start(path, "north.err");
    let mut south = Typed::of("south", "1", path, "south.err");
    let hears_north = |site: &Typed| site.said().contains("connected with `north`");
    until("they are connected", || hears_north(&south));
    north.kill();
    let done = hedgerow(path, &["run", "--site", "north.toml", "--abandon"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let expected = "error: `north` has given the run up, so it cannot go on anywhere\nhint: give it up here too with hedgerow run --abandon";
    until("south ends", || south.said().contains(expected));
    assert_eq!(south.child.wait().unwrap().code(), Some(2));

    // One that was away hears of it when it meets north in the next run.
    let _north = Typed::of("north", "2", path, "next.err");
    for site in ["south", "east"] {
        let late = Typed::of(site, "1", path, "late.err");
        until("the late one ends", || late.said().contains(expected));
    }
}

#[test]
fn a_run_that_is_not_due_is_refused() {
    let folder = sites(100);
    let path = folder.path();
    let refused = |number: &str, expected: &str| {
        let done = hedgerow(path, &["run", "--site", "north.toml", "--number", number]);
        assert_eq!(done.code, 2);
        assert!(done.stderr.contains(expected), "{}", done.stderr);
    };
    refused("0", "run 0 is not due");
    refused(
        "2",
        "run 2 is not due: there was no run of this study here yet\nhint: --number 1 starts the next",
    );
    assert!(!path.join("north-data").exists());
    let file = path.join("north.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("patience = 60", "patience = 1")).unwrap();
    refused("1", "`south` has been gone for 1 s");
    refused(
        "3",
        "run 3 is not due: run 1 was the last of this study here\nhint: --number 2 starts the next",
    );

    // A node goes on with the last run, and not with one that was left behind.
    refused("2", "`south` has been gone for 1 s");
    let node = || Typed::command(&["node", "--site", "north.toml"], path, "node.err");
    let second = node();
    until("run 2 goes on", || second.said().contains("run 2 begins"));
    drop(second);
    for number in ["2", "1"] {
        if number == "1" {
            let third = node();
            until("none goes on", || {
                third.said().contains("waiting for a run")
            });
            assert!(!third.said().contains("begins"), "{}", third.said());
        }
        let arguments = [
            "run",
            "--site",
            "north.toml",
            "--number",
            number,
            "--abandon",
        ];
        let done = hedgerow(path, &arguments);
        assert!(
            done.stdout.contains("the next with --number 3"),
            "{}{}",
            done.stdout,
            done.stderr
        );
    }
}

#[test]
fn an_address_that_somebody_else_has_is_named_with_what_to_do() {
    let folder = sites(100);
    let path = folder.path();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let file = path.join("north.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, format!("listen = \"{address}\"\n{text}")).unwrap();
    for command in ["run", "node"] {
        let done = hedgerow(path, &[command, "--site", "north.toml"]);
        assert_eq!(done.code, 2);
        let expected = format!("this site cannot listen at {address}: Address already in use");
        assert!(done.stderr.contains(&expected), "{}", done.stderr);
        let hint = "hint: another program has it";
        assert!(done.stderr.contains(hint), "{}", done.stderr);
    }
    // Of a network that nobody has (RFC 5737).
    std::fs::write(&file, format!("listen = \"192.0.2.7:7401\"\n{text}")).unwrap();
    let done = hedgerow(path, &["node", "--site", "north.toml"]);
    let hint = "hint: this machine does not have that address, or may not use it";
    assert!(done.stderr.contains(hint), "{}", done.stderr);
}

#[test]
fn runs_of_two_studies_do_not_share_their_files() {
    let folder = sites(100);
    let path = folder.path();
    let file = path.join("north.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    let text = text.replace("patience = 60", "patience = 1");
    std::fs::write(&file, &text).unwrap();
    let run = || hedgerow(path, &["run", "--site", "north.toml"]).stderr;
    assert!(run().contains("`south` has been gone"));

    let study = path.join("c/study.toml");
    let signed = std::fs::read_to_string(&study).unwrap();
    std::fs::write(&study, format!("{signed}# changed\n")).unwrap();
    for name in SITES {
        let key = format!("{name}.key");
        let done = hedgerow(path, &["study", "sign", "--key", &key, "c/study.toml"]);
        assert_eq!(done.code, 0, "{}", done.stderr);
    }
    let said = run();
    assert!(
        said.contains("north-data: run 1 of another study"),
        "{said}"
    );
    assert!(said.contains("give it a folder of its own"), "{said}");

    // One that is over has left its release.
    std::fs::write(&file, text.replace("north-data", "other-data")).unwrap();
    std::fs::create_dir_all(path.join("other-data/release-1")).unwrap();
    let said = run();
    let expected = "other-data/release-1: is there already, so run 1 does not begin";
    assert!(said.contains(expected), "{said}");
    std::fs::remove_dir(path.join("other-data/release-1")).unwrap();
    assert!(run().contains("`south` has been gone"));
}
