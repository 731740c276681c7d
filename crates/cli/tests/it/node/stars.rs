//! Processes in a star, as behind firewalls: only the hub has a port.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::{SITES, Shape, Site, USUAL, hedgerow, prepared, simulate, start_all};

const LONG: Duration = Duration::from_secs(90);

const STAR: Shape = Shape {
    rows: 300,
    hub: Some("north"),
    ..USUAL
};

/// A process that does not outlive the test.
struct Waiting(Child);

impl Waiting {
    fn start(folder: &Path, site: &str, log: &str) -> Self {
        let said = std::fs::File::create(folder.join(log)).unwrap();
        let child = Command::new(env!("CARGO_BIN_EXE_hedgerow"))
            .args(["node", "--site", &format!("{site}.toml")])
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(said.try_clone().unwrap())
            .stderr(said)
            .spawn()
            .unwrap();
        Self(child)
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn until(folder: &Path, what: impl Fn() -> String, words: &str) {
    let started = Instant::now();
    loop {
        let said = what();
        if said.contains(words) {
            return;
        }
        assert!(
            started.elapsed() < LONG,
            "{words}\n{said}\n{}",
            folder.display()
        );
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn assert_released(path: &Path, names: &[&str]) {
    let expected = std::fs::read(path.join("simulated/release.csv")).unwrap();
    for name in names {
        let release = path.join(format!("{name}-data/release-1/release.csv"));
        assert_eq!(std::fs::read(release).unwrap(), expected, "{name}");
    }
}

/// Byte for byte what a simulation of the star gives, and what one of the mesh gives.
#[test]
fn five_processes_of_which_one_has_a_port_publish_what_a_simulation_does() {
    const FIVE: [&str; 5] = ["north", "south", "east", "west", "harbour"];
    let folder = prepared(&Shape {
        sites: &FIVE,
        hub: Some("east"),
        ..STAR
    });
    let path = folder.path();
    let mut running = start_all(path, &FIVE, 0);
    running.iter_mut().for_each(Site::end);
    simulate(path, &FIVE);
    assert_released(path, &FIVE);
    let study = path.join("c/study.toml");
    let text = std::fs::read_to_string(&study).unwrap();
    let mesh = text.replace("shape = \"star\"\nhub = \"east\"", "shape = \"mesh\"");
    assert_ne!(mesh, text);
    std::fs::write(&study, mesh).unwrap();
    simulate(path, &FIVE);
    assert_released(path, &FIVE);
}

/// A leaf without a port rings its own node through the hub, and the run reaches the others through it.
#[test]
fn a_leaf_starts_a_run_of_nodes_that_wait_behind_firewalls() {
    let folder = prepared(&STAR);
    let path = folder.path();
    let log = |name: &str| std::fs::read_to_string(path.join(format!("{name}.log"))).unwrap();
    let mut nodes: Vec<Waiting> = Vec::new();
    for name in SITES {
        nodes.push(Waiting::start(path, name, &format!("{name}.log")));
        until(path, || log(name), "waiting for a run");
    }
    assert!(
        log("south").contains("no port, but through the hub `north`"),
        "{}",
        log("south")
    );
    let done = hedgerow(path, &["run", "--site", "south.toml"]);
    assert_eq!(
        done.code,
        0,
        "{}{}{}",
        done.stderr,
        log("south"),
        log("north")
    );
    // The node took the part, and not the command.
    assert!(log("south").contains("run 1"), "{}", log("south"));
    simulate(path, &SITES);
    for name in SITES {
        until(path, || log(name), "run 1 is over");
    }
    assert_released(path, &SITES);
}

/// What a leaf says while the hub is away, and what its node says to a command that cannot ring it.
#[test]
fn a_leaf_says_that_it_waits_for_the_hub() {
    let folder = prepared(&STAR);
    let path = folder.path();
    let mut south = Site::start(path, "south", 0);
    let status = || hedgerow(path, &["status", "--site", "south.toml"]).stdout;
    until(
        path,
        status,
        "waiting for the hub `north`, and through it for `east`",
    );
    let mut north = Site::start(path, "north", 0);
    until(path, status, "waiting for `east`, through the hub `north`");
    let mut east = Site::start(path, "east", 0);
    for site in [&mut south, &mut north, &mut east] {
        site.end();
    }

    let folder = prepared(&STAR);
    let path = folder.path();
    let _node = Waiting::start(path, "south", "south.log");
    let log = || std::fs::read_to_string(path.join("south.log")).unwrap();
    until(path, log, "waiting for a run");
    let done = hedgerow(path, &["run", "--site", "south.toml"]);
    let words =
        "this site's node is up, and is rung through the hub `north`, which does not answer";
    assert!(
        done.code == 2 && done.stderr.contains(words),
        "{}",
        done.stderr
    );
}
