//! `node` as a daemon: run after run, however one of them ends.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::{Done, hedgerow, json};

const SITES: [&str; 4] = ["north", "south", "east", "west"];

/// A node that does not outlive the test.
struct Node {
    child: Child,
    log: PathBuf,
}

impl Node {
    fn start(folder: &Path, site: &str) -> Self {
        let log = folder.join(format!("{site}.log"));
        let file = std::fs::File::create(&log).unwrap();
        let child = Command::new(env!("CARGO_BIN_EXE_hedgerow"))
            .args(["node", "--site", &format!("d/{site}/site.toml")])
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(file.try_clone().unwrap())
            .stderr(file)
            .spawn()
            .unwrap();
        let node = Self { child, log };
        node.says("waiting for a run");
        node
    }

    /// Waits until the node has said some words; all that it has said then.
    fn says(&self, words: &str) -> String {
        let started = Instant::now();
        loop {
            let said = self.said();
            if said.contains(words) {
                return said;
            }
            assert!(started.elapsed() < Duration::from_secs(60), "{said}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn said(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap()
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn ask(folder: &Path, number: &str) -> Done {
    let arguments = ["run", "--site", "d/west/site.toml", "--number", number];
    hedgerow(folder, &arguments)
}

/// Waits until all four have the release of a run, and sees that it is one.
fn released(folder: &Path, number: u32) {
    let read = |site: &str| {
        let path = folder.join(format!("d/{site}/data/release-{number}/release.csv"));
        let started = Instant::now();
        while !path.exists() {
            assert!(started.elapsed() < Duration::from_secs(60), "{site}");
            std::thread::sleep(Duration::from_millis(20));
        }
        std::fs::read(path).unwrap()
    };
    let releases = SITES.map(read);
    assert!(releases.iter().all(|release| *release == releases[0]));
}

#[test]
fn nodes_go_from_run_to_run_and_a_run_that_fails_is_not_their_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let done = hedgerow(path, &["demo", "--rows", "400", "--keep", "d"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    for site in SITES {
        let file = path.join(format!("d/{site}/site.toml"));
        let text = std::fs::read_to_string(&file).unwrap();
        std::fs::write(&file, text.replace("\nruns = 1\n", "\nruns = 9\n")).unwrap();
    }
    let mut nodes: Vec<Node> = SITES[..3]
        .iter()
        .map(|site| Node::start(path, site))
        .collect();

    // West has no node: the command takes part itself, and the others are knocked at.
    let done = ask(path, "2");
    assert_eq!(done.code, 0, "{}", done.stderr);
    released(path, 2);

    // With a node, the command watches.
    nodes.push(Node::start(path, "west"));
    let done = ask(path, "3");
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(done.stderr.contains("only watches"), "{}", done.stderr);
    assert!(done.stdout.contains("the release holds"), "{}", done.stdout);
    released(path, 3);

    // Numbers increase by one, and what is over is over.
    for number in ["3", "9"] {
        let done = ask(path, number);
        assert_eq!(done.code, 2);
        let expected = format!("this site's node does not take run {number}");
        assert!(done.stderr.contains(&expected), "{}", done.stderr);
    }

    // North has a row that is none: the others are told, long before their patience ends, and name
    // it; what the row says stays with north, and not in its log; every node stays.
    let rows = path.join("d/north/patients.csv");
    let whole = std::fs::read_to_string(&rows).unwrap();
    let (before, last) = whole.trim_end().rsplit_once('\n').unwrap();
    let fields = last.split(',').count();
    let wrong = ["Quillfeather"].repeat(fields).join(",");
    std::fs::write(&rows, format!("{before}\n{wrong}\n")).unwrap();
    let asked = Instant::now();
    let done = ask(path, "4");
    assert_eq!(done.code, 2, "{}", done.stdout);
    assert!(done.stderr.contains("`north`"), "{}", done.stderr);
    let waited = asked.elapsed();
    assert!(waited < Duration::from_secs(30), "{waited:?}");
    // North tells the others first.
    let said = nodes[0].says("a value is outside");
    assert!(said.contains("patients.csv:"), "{said}");
    let shown = std::fs::read_to_string(path.join("d/north/data/run-4.json")).unwrap();
    assert!(shown.contains("a value is outside"), "{shown}");
    for text in [said, shown, done.stderr] {
        assert!(!text.contains("Quillfeather"), "{text}");
    }
    let shown = hedgerow(path, &["status", "--site", "d/west/site.toml", "--json"]);
    let run = json(&shown)["runs"][3].clone();
    assert_eq!(run["state"], "failed", "{run}");
    assert!(run["reason"].as_str().unwrap().contains("`north`"), "{run}");
    std::fs::write(&rows, whole).unwrap();
    let started = Instant::now();
    loop {
        let done = ask(path, "4");
        if done.code == 0 {
            break;
        }
        assert!(
            started.elapsed() < Duration::from_secs(120),
            "{}",
            done.stderr
        );
    }
    released(path, 4);
    for node in &mut nodes {
        assert!(node.child.try_wait().unwrap().is_none(), "{}", node.said());
        // Nobody complains about an address that it had itself a moment ago.
        assert!(!node.said().contains("cannot listen"), "{}", node.said());
    }
}
