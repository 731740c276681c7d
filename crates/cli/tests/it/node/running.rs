//! A node as its operator sees it: what it says at its start and in its log, what `status` shows, what
//! SIGHUP does, and what programs of the machine are told.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::reruns::Typed;
use super::{SITES, assert_refused, free_address, hedgerow, json, listed, sites};

/// Longer than anything takes that ends.
const LONG: Duration = Duration::from_secs(120);

/// A node that does not outlive the test.
struct Node {
    child: Child,
    log: PathBuf,
}

impl Node {
    fn start(folder: &Path, site: &str, more: &[&str]) -> Self {
        let log = folder.join(format!("{site}.log"));
        let file = std::fs::File::create(&log).unwrap();
        let child = Command::new(env!("CARGO_BIN_EXE_hedgerow"))
            .args(["node", "--site", &format!("{site}.toml")])
            .args(more)
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(std::fs::File::create(folder.join(format!("{site}.out"))).unwrap())
            .stderr(file)
            .spawn()
            .unwrap();
        let node = Self { child, log };
        node.says("waiting for a run", 1);
        node
    }

    /// Waits until the node has said some words so often; all that it has said then.
    fn says(&self, words: &str, times: usize) -> String {
        let started = Instant::now();
        loop {
            let said = self.said();
            if said.matches(words).count() >= times {
                return said;
            }
            assert!(started.elapsed() < LONG, "{words}\n{said}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn said(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap()
    }

    fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        let sent = Command::new("kill")
            .args([&format!("-{name}"), &id])
            .status();
        assert!(sent.unwrap().success());
    }

    /// Waits for the end; the exit code.
    fn end(&mut self) -> i32 {
        let started = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code().unwrap();
            }
            assert!(started.elapsed() < LONG, "{}", self.said());
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn status(folder: &Path, site: &str) -> serde_json::Value {
    let file = format!("{site}.toml");
    json(&hedgerow(folder, &["status", "--site", &file, "--json"]))
}

/// Waits until `status` shows something of a site.
fn shows(
    folder: &Path,
    site: &str,
    what: impl Fn(&serde_json::Value) -> bool,
) -> serde_json::Value {
    let started = Instant::now();
    loop {
        let shown = status(folder, site);
        if what(&shown) {
            return shown;
        }
        assert!(started.elapsed() < LONG, "{shown}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Changes a site's file.
fn edit(folder: &Path, site: &str, from: &str, to: &str) {
    let file = folder.join(format!("{site}.toml"));
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains(from), "{text}");
    std::fs::write(&file, text.replacen(from, to, 1)).unwrap();
}

/// What is answered to a question over HTTP.
fn get(address: &str, path: &str) -> String {
    let mut line = TcpStream::connect(address).unwrap();
    let question = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\n\r\n");
    line.write_all(question.as_bytes()).unwrap();
    let mut answer = String::new();
    line.read_to_string(&mut answer).unwrap();
    answer
}

/// Where the node says that its health and numbers are.
fn metrics_of(said: &str) -> String {
    let (_, at) = said.rsplit_once("numbers are at http://").unwrap();
    at.split_whitespace().next().unwrap().to_owned()
}

#[test]
fn a_node_says_at_its_start_what_it_serves_and_whether_its_rows_can_be_read() {
    let folder = sites(60);
    let path = folder.path();
    let rows = path.join("c/north.csv");
    let whole = std::fs::read_to_string(&rows).unwrap();
    std::fs::remove_file(&rows).unwrap();
    let done = hedgerow(path, &["status", "--site", "north.toml"]);
    assert!(
        done.stdout.starts_with("the node is down\n"),
        "{}",
        done.stdout
    );
    assert!(done.stdout.contains("never heard of"), "{}", done.stdout);
    assert!(done.stdout.ends_with("no runs\n"), "{}", done.stdout);

    let node = Node::start(path, "north", &[]);
    let said = node.says("the rows cannot be read: ", 1);
    let shown = json(&hedgerow(
        path,
        &["study", "show", "c/study.toml", "--json"],
    ));
    let hash = shown["hash"].as_str().unwrap();
    let study = std::fs::read_to_string(path.join("c/study.toml")).unwrap();
    let (_, address) = study.split_once("address = \"").unwrap();
    let address = address.split('"').next().unwrap();
    assert!(said.contains(&format!("{hash}, at {address}")), "{said}");
    let line = said
        .lines()
        .find(|line| line.contains("cannot be read"))
        .unwrap();
    assert!(
        line.contains(" ERROR ") && line.contains("c/north.csv"),
        "{line}"
    );
    assert!(line.contains("; hint: "), "{line}");
    for line in said.lines() {
        let (time, _) = line.split_once(' ').unwrap();
        assert!(time.len() == 24 && time.ends_with('Z'), "{line}");
    }
    let shown = shows(path, "north", |shown| {
        !shown["node"]["unfit_source"].is_null()
    });
    assert_eq!(shown["node"]["up"], true);
    assert_eq!(shown["node"]["study_hash"], hash);
    assert_eq!(shown["node"]["address"], address);
    let done = hedgerow(path, &["status", "--site", "north.toml"]);
    assert!(
        done.stdout.starts_with("the node is up since "),
        "{}",
        done.stdout
    );
    assert!(
        done.stdout.contains("\n  the rows cannot be read: "),
        "{}",
        done.stdout
    );

    // Other columns are an error too, which does not say what they hold.
    std::fs::write(&rows, whole.replacen("age", "Quillfeather", 1)).unwrap();
    node.signal("HUP");
    let said = node.says("a column is not in the study", 1);
    assert!(!said.contains("Quillfeather"), "{said}");
    std::fs::write(&rows, &whole).unwrap();
    node.signal("HUP");
    node.says("can be read and has the study's columns", 1);
    shows(path, "north", |shown| {
        shown["node"]["unfit_source"].is_null()
    });

    // Another node of this site does not begin.
    edit(
        path,
        "north",
        "patience",
        &format!("listen = \"{}\"\npatience", free_address()),
    );
    let second = hedgerow(path, &["node", "--site", "north.toml"]);
    assert_eq!(second.code, 2);
    assert!(
        second.stderr.contains("another node of this site is up"),
        "{}",
        second.stderr
    );
}

#[test]
fn a_log_in_json_is_objects_with_time_level_and_run_and_a_failed_run_is_shown_at_its_site() {
    let folder = sites(60);
    let path = folder.path();
    let rows = path.join("c/north.csv");
    let whole = std::fs::read_to_string(&rows).unwrap();
    let columns = whole.lines().next().unwrap().split(',').count();
    let wrong = ["Quillfeather"].repeat(columns).join(",");
    std::fs::write(&rows, format!("{whole}{wrong}\n")).unwrap();
    let mut node = Node::start(path, "north", &["--json"]);
    let done = hedgerow(path, &["run", "--site", "north.toml"]);
    assert_eq!(done.code, 2, "{}", done.stdout);

    // The journal has not heard of the run, and the site shows it all the same.
    let shown = shows(path, "north", |shown| shown["runs"][0]["state"] == "failed");
    let reason = shown["runs"][0]["reason"].as_str().unwrap();
    assert!(reason.contains("a value is outside"), "{reason}");
    assert_eq!(shown["runs"][0]["run"], 1);
    let text = hedgerow(path, &["status", "--site", "north.toml"]).stdout;
    assert!(text.contains("run 1: not begun\n  failed: "), "{text}");

    node.says("a value is outside", 1);
    node.signal("TERM");
    assert_eq!(node.end(), 0);
    let said = node.said();
    assert!(
        !said.contains("Quillfeather") && !text.contains("Quillfeather"),
        "{said}"
    );
    let lines: Vec<serde_json::Value> = said
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect();
    for line in &lines {
        for key in ["timestamp", "level", "message"] {
            assert!(line[key].is_string(), "{line}");
        }
    }
    let serving = lines
        .iter()
        .find(|line| line["study_hash"].is_string())
        .unwrap();
    assert_eq!(serving["site"], "north");
    assert!(
        serving["address"].as_str().unwrap().contains(':'),
        "{serving}"
    );
    let failed = lines.iter().find(|line| line["level"] == "ERROR").unwrap();
    assert_eq!(failed["run"], 1, "{failed}");
    let out = std::fs::read_to_string(path.join("north.out")).unwrap();
    assert_eq!(
        serde_json::from_str::<serde_json::Value>(&out).unwrap()["stopped"],
        true
    );

    // What ends a node that has not begun is an object too.
    edit(path, "north", "minimum_k = 5", "minimum_k = 500");
    let refused = hedgerow(path, &["node", "--site", "north.toml", "--log", "json"]);
    assert_eq!(refused.code, 2);
    let line: serde_json::Value = serde_json::from_str(refused.stderr.trim_end()).unwrap();
    assert!(
        line["message"].as_str().unwrap().contains("minimum_k"),
        "{line}"
    );
}

#[test]
fn what_is_read_anew_counts_after_the_run_under_way_and_what_cannot_be_read_never() {
    let folder = sites(120);
    let path = folder.path();
    for site in SITES {
        edit(path, site, "[accept]\n", "[accept]\nruns = 9\n");
    }
    let north = Node::start(path, "north", &[]);
    let south = Node::start(path, "south", &[]);
    // Without east the run waits.
    let mut asked = Typed::start(path, "asked.err", &["run", "--site", "south.toml"]);
    north.says("connected with `south`", 1);
    let shown = shows(path, "north", |shown| {
        listed(shown, "peers", "site") == ["south", "east"]
            && shown["peers"][0]["connected"] == true
    });
    assert!(shown["peers"][1]["last_contact"].is_null(), "{shown}");

    // Read anew in the middle of it: once well, and then not at all.
    edit(
        path,
        "north",
        "[source]",
        "[metrics]\nlisten = \"127.0.0.1:0\"\n[source]",
    );
    let older = |shown: &serde_json::Value| shown["node"]["has_older_file"] == true;
    assert!(older(&status(path, "north")) && !older(&status(path, "south")));
    north.signal("HUP");
    north.says("they count once run 1 is over", 1);
    assert!(older(&status(path, "north")));
    let good = std::fs::read_to_string(path.join("north.toml")).unwrap();
    std::fs::write(path.join("north.toml"), "site = \"north").unwrap();
    north.signal("HUP");
    let said = north.says("what was read before still counts: north.toml:1", 1);
    assert!(!said.contains("numbers are at"), "{said}");
    std::fs::write(path.join("north.toml"), &good).unwrap();

    let east = Node::start(path, "east", &[]);
    assert_eq!(asked.code(), 0, "{}", asked.said());
    let said = north.says("numbers are at http://", 1);
    let over = said.find("run 1 is over; what it ended with").unwrap();
    assert!(over < said.find("numbers are at").unwrap(), "{said}");
    shows(path, "north", |shown| !older(shown));
    // Rules that the node has not read are told as such, beside what they come to.
    edit(path, "north", "minimum_k = 5", "minimum_k = 500");
    let shown = hedgerow(path, &["status", "--site", "north.toml"]).stdout;
    let words = "it goes by the site's file as it was before a change";
    assert!(shown.contains(words), "{shown}");
    let checked = hedgerow(path, &["site", "check", "north.toml"]).stdout;
    let words =
        "this site's node goes by north.toml as it was before a change: send the node SIGHUP";
    assert!(
        checked.starts_with("REFUSED") && checked.contains(words),
        "{checked}"
    );
    edit(path, "north", "minimum_k = 500", "minimum_k = 5");
    assert!(!older(&status(path, "north")));

    // Programs of this machine hear of it, and no record.
    let at = metrics_of(&said);
    let health = get(&at, "/healthz");
    assert!(
        health.starts_with("HTTP/1.1 200 OK") && health.ends_with("ok\n"),
        "{health}"
    );
    let numbers = get(&at, "/metrics");
    for line in [
        "hedgerow_runs_released_total 1\n",
        "hedgerow_reloads_total 1\n",
        "hedgerow_failed_reloads_total 1\n",
        "hedgerow_run_under_way 0\n",
        "hedgerow_source_readable 1\n",
        "hedgerow_peer_connected{peer=\"east\"} 0\n",
        "# EOF\n",
    ] {
        assert!(numbers.contains(line), "{line}\n{numbers}");
    }

    // A study that all sign anew is run without a restart, though its nodes are asked again and again to
    // read it, and callers knock meanwhile.
    let hash = |shown: &serde_json::Value| shown["node"]["study_hash"].as_str().unwrap().to_owned();
    let before = hash(&status(path, "north"));
    let study = path.join("c/study.toml");
    let text = std::fs::read_to_string(&study).unwrap();
    let parent = format!("[study]\nparent = \"{before}\"\n");
    std::fs::write(&study, text.replacen("[study]\n", &parent, 1)).unwrap();
    // Not signed yet.
    north.signal("HUP");
    north.says("what was read before still counts", 2);
    let shown = hedgerow(path, &["status", "--site", "north.toml"]).stdout;
    assert!(shown.contains("send the node SIGHUP"), "{shown}");
    for site in SITES {
        let key = format!("{site}.key");
        let done = hedgerow(path, &["study", "sign", "--key", &key, "c/study.toml"]);
        assert_eq!(done.code, 0, "{}", done.stderr);
    }
    let nodes = [north, south, east];
    for _ in 0..20 {
        for node in &nodes {
            node.signal("HUP");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
    for site in SITES {
        let shown = shows(path, site, |shown| hash(shown) != before);
        assert_eq!(shown["node"]["up"], true);
    }
    let mut asked = Typed::start(
        path,
        "again.err",
        &["run", "--site", "south.toml", "--number", "2"],
    );
    let release = |site: &str| path.join(format!("{site}-data/release-2/release.csv"));
    while !SITES.iter().all(|site| release(site).exists()) {
        nodes[0].signal("HUP");
        nodes[2].signal("HUP");
        std::thread::sleep(Duration::from_millis(50));
        assert!(!asked.is_over() || asked.code() == 0, "{}", asked.said());
    }
    assert_eq!(asked.code(), 0, "{}", asked.said());

    // A node that is killed in the middle of reading leaves nothing that keeps the next from its place.
    let [mut north, _, _] = nodes;
    for _ in 0..5 {
        north.signal("HUP");
    }
    north.child.kill().unwrap();
    north.child.wait().unwrap();
    let text = hedgerow(path, &["status", "--site", "north.toml"]).stdout;
    assert!(text.starts_with("the node is down\n"), "{text}");
    assert!(text.contains("last heard of 2"), "{text}");
    drop(Node::start(path, "north", &[]));
}

#[test]
fn numbers_are_for_this_machine_alone() {
    let folder = sites(60);
    let path = folder.path();
    let good = std::fs::read_to_string(path.join("north.toml")).unwrap();
    let at = |listen: &str| format!("[metrics]\nlisten = \"{listen}\"\n[source]");
    for (listen, why) in [
        (
            "0.0.0.0:9464",
            "which other machines reach\nhint: numbers are for this machine alone: listen = \"127.0.0.1:9464\"; what collects them elsewhere comes through a tunnel of its own",
        ),
        (
            "example.org:80",
            "expected a loopback address and a port, e.g. 127.0.0.1:9464",
        ),
    ] {
        edit(path, "north", "[source]", &at(listen));
        let done = hedgerow(path, &["status", "--site", "north.toml"]);
        let message = format!("north.toml:7: `metrics.listen` is `{listen}`, {why}");
        assert_refused(&done, &message);
        std::fs::write(path.join("north.toml"), &good).unwrap();
    }

    // A port that another program has is named, and callers that never finish keep no run from its peers.
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    edit(path, "north", "[source]", &at(&address));
    let done = hedgerow(path, &["node", "--site", "north.toml"]);
    assert_eq!(done.code, 2);
    assert!(
        done.stderr
            .contains(&format!("cannot be served at {address}")),
        "{}",
        done.stderr
    );
    drop(taken);
    std::fs::write(path.join("north.toml"), &good).unwrap();
    edit(path, "north", "[source]", &at("localhost:0"));
    let nodes: Vec<Node> = SITES
        .iter()
        .map(|site| Node::start(path, site, &[]))
        .collect();
    let address = metrics_of(&nodes[0].said());
    // This process has other tests, which open files too.
    let mut silent = std::collections::VecDeque::new();
    for _ in 0..2_000 {
        let mut line = TcpStream::connect(&address).unwrap();
        let _ = line.write_all(b"GET /metrics HTTP/1.1\r\nx: ");
        silent.push_back(line);
        silent.truncate(200);
    }
    let done = hedgerow(path, &["run", "--site", "south.toml"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    drop(silent);
    let started = Instant::now();
    loop {
        let mut line = TcpStream::connect(&address).unwrap();
        let _ = line.write_all(b"GET /healthz HTTP/1.0\r\n\r\n");
        let mut answer = String::new();
        let _ = line.read_to_string(&mut answer);
        if answer.starts_with("HTTP/1.0 200") {
            break;
        }
        assert!(started.elapsed() < LONG, "{answer}");
        std::thread::sleep(Duration::from_millis(100));
    }
}
