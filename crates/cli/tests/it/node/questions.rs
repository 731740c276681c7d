//! Questions between the nodes of three sites, as processes of their own: answered, while sites are killed,
//! stopped and started again.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use hedgerow::data::files::read_release_of;
use hedgerow::data::{Release, Study as Declared};
use hedgerow::protocols::query::{Answered, Held, Question, ask};
use hedgerow::smc::{Party, Seed, Settings, Site as Place};
use hedgerow::{Fault, Site, Study};

use super::{SITES, Shape, USUAL, hedgerow, prepared};

const ASKED: Shape = Shape {
    rows: 300,
    algorithm: "name = \"mondrian\"\n\n[query]\nanswers = [\"totals\", \"rows\"]",
    has_names: true,
    ..USUAL
};

/// A node that does not outlive the test.
struct Node {
    child: Child,
    log: PathBuf,
}

impl Node {
    fn start(folder: &Path, site: &str, life: usize) -> Self {
        let log = folder.join(format!("{site}-{life}.log"));
        let file = std::fs::File::create(&log).unwrap();
        let child = Command::new(env!("CARGO_BIN_EXE_hedgerow"))
            .args(["node", "--site", &format!("{site}.toml")])
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(file.try_clone().unwrap())
            .stderr(file)
            .spawn()
            .unwrap();
        let node = Self { child, log };
        let started = Instant::now();
        while !node.said().contains("waiting for a run") {
            assert!(
                started.elapsed() < Duration::from_secs(60),
                "{}",
                node.said()
            );
            std::thread::sleep(Duration::from_millis(20));
        }
        node
    }

    fn said(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap()
    }

    fn signal(&self, signal: &str) {
        let id = self.child.id().to_string();
        let sent = Command::new("kill").args([signal, &id]).status().unwrap();
        assert!(sent.success());
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn question(folder: &Path, sql: &str) -> Question {
    let study = Study::open(folder.join("c/study.toml")).unwrap();
    let table = study.name().to_owned();
    let statement = study.statement(&sql.replace("TABLE", &format!("\"{table}\"")));
    statement.unwrap().questions()[0].clone()
}

fn asked(folder: &Path, site: &str, question: &Question) -> Result<Answered, hedgerow::Error> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let site = Site::open(folder.join(format!("{site}.toml"))).unwrap();
    runtime.block_on(site.ask(None, question))
}

/// What a question finds in the release, which is one table with all rows.
fn of_release(folder: &Path, question: &Question) -> Answered {
    let study = Declared::open(&folder.join("c/study.toml")).unwrap();
    let path = folder.join("north-data/release-1/release.csv");
    let text = read_release_of(&path, &study, &()).unwrap().text;
    let release = Release::from_text(&text, &study.schema, &[]).unwrap();
    let mut party = Party::alone(Settings::default(), &Seed::new([1; 32]));
    let held = Held::release(&release);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let asked = ask(&mut party, &held, question, Place::new(0));
    runtime.block_on(asked).unwrap()
}

#[test]
fn nodes_answer_questions_while_sites_are_killed_and_stopped() {
    answered_while_sites_are_killed_and_stopped(&ASKED);
}

#[test]
fn nodes_answer_questions_through_a_hub_while_leaves_are_killed_and_stopped() {
    answered_while_sites_are_killed_and_stopped(&Shape {
        hub: Some("north"),
        ..ASKED
    });
}

fn answered_while_sites_are_killed_and_stopped(shape: &Shape) {
    let folder = prepared(shape);
    let path = folder.path();
    for site in SITES {
        let file = path.join(format!("{site}.toml"));
        let mut text = std::fs::read_to_string(&file).unwrap();
        text.push_str("[accept.query]\nfrom = [\"north\", \"south\", \"east\"]\nanswers = [\"totals\", \"rows\"]\ncolumns = [\"sex\", \"age\", \"salary-class\"]\n");
        std::fs::write(&file, text).unwrap();
    }
    let mut nodes: Vec<Node> = SITES
        .iter()
        .map(|site| Node::start(path, site, 0))
        .collect();
    let done = hedgerow(path, &["run", "--site", "north.toml"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let totals = question(
        path,
        "SELECT sex, count(*) FROM TABLE WHERE age < 40 GROUP BY sex",
    );
    let rows = question(path, "SELECT age, sex FROM TABLE WHERE age < 30");
    let expected = [&totals, &rows].map(|question| of_release(path, question));

    // Every site may be a moment behind at the end of a run.
    let started = Instant::now();
    while let Err(error) = asked(path, "north", &totals) {
        assert!(
            error.to_string().contains("no table of this run"),
            "{error}"
        );
        assert!(started.elapsed() < Duration::from_secs(20));
        std::thread::sleep(Duration::from_millis(50));
    }
    for site in SITES {
        assert_eq!(asked(path, site, &totals).unwrap(), expected[0]);
        assert_eq!(asked(path, site, &rows).unwrap(), expected[1]);
    }

    // Killed, and started again.
    nodes[2].child.kill().unwrap();
    nodes[2].child.wait().unwrap();
    let started = Instant::now();
    let error = asked(path, "north", &totals).unwrap_err();
    assert!(error.to_string().contains("`east`"), "{error}");
    assert_eq!(error.fault(), Fault::Peer);
    assert!(started.elapsed() < Duration::from_secs(10));
    nodes[2] = Node::start(path, "east", 1);
    assert_eq!(asked(path, "east", &rows).unwrap(), expected[1]);
    assert_eq!(asked(path, "south", &totals).unwrap(), expected[0]);

    // Stopped in the middle of everything: its lines stand, and nothing comes.
    nodes[1].signal("-STOP");
    let started = Instant::now();
    let error = asked(path, "north", &totals).unwrap_err();
    assert!(error.to_string().contains("`south`"), "{error}");
    assert!(
        started.elapsed() < Duration::from_secs(15),
        "{:?}",
        started.elapsed()
    );
    nodes[1].signal("-CONT");
    let started = Instant::now();
    while asked(path, "north", &totals).ok().as_ref() != Some(&expected[0]) {
        assert!(started.elapsed() < Duration::from_secs(30));
    }

    // A column that no site lets anybody ask about, and names in none of the logs.
    let refused = question(path, "SELECT race, count(*) FROM TABLE GROUP BY race");
    let error = asked(path, "east", &refused).unwrap_err();
    assert!(
        error.to_string().contains("does not answer about `race`"),
        "{error}"
    );
    for (site, node) in SITES.iter().zip(&nodes) {
        let log = path.join(format!("{site}-data/questions.log"));
        let mode = std::os::unix::fs::PermissionsExt::mode(
            &std::fs::metadata(&log).unwrap().permissions(),
        );
        assert_eq!(mode & 0o777, 0o600);
        let text = std::fs::read_to_string(&log).unwrap() + &node.said();
        assert!(text.contains("\"asker\":\"south\"") && !text.contains("Quillfeather"));
    }
}
