//! The README's walk from `keygen` to the signed release, typed as it is printed.
//!
//! Three folders on one machine stand for the three machines; the one thing changed in what is
//! typed is the address `$site.example.org:7401`, in whose place comes a free one on loopback.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const SITES: [&str; 3] = ["north", "south", "east"];

/// The fenced blocks of the walk: where they are typed, and what.
fn blocks() -> Vec<(Vec<&'static str>, String)> {
    let readme = include_str!("../../../../README.md");
    let (_, walk) = readme
        .split_once("\n## A study between three institutions\n")
        .unwrap();
    let (walk, _) = walk.split_once("\n## ").unwrap();
    let mut blocks = Vec::new();
    for block in walk.split("```sh ").skip(1) {
        let (head, rest) = block.split_once('\n').unwrap();
        let (body, _) = rest.split_once("\n```").unwrap();
        let sites = match head {
            "every" => SITES.to_vec(),
            named => SITES
                .into_iter()
                .filter(|site| named.split(' ').any(|word| word == *site))
                .collect(),
        };
        assert!(!sites.is_empty(), "{head}");
        blocks.push((sites, body.to_owned()));
    }
    assert!(blocks.len() >= 10, "{}", blocks.len());
    blocks
}

/// Nodes that were started in the background, which do not outlive the test.
struct Nodes<'a>(&'a Path);

impl Nodes<'_> {
    fn signal(&self, signal: &str) {
        for site in SITES {
            if let Ok(pid) = std::fs::read_to_string(self.0.join(site).join("node.pid")) {
                let _ = Command::new("kill")
                    .args([signal, pid.trim()])
                    .stderr(Stdio::null())
                    .status();
            }
        }
    }
}

impl Drop for Nodes<'_> {
    fn drop(&mut self) {
        self.signal("-KILL");
    }
}

/// Types a block in a site's folder.
fn type_in(folder: &Path, site: &str, block: &str) -> String {
    let programs = Path::new(env!("CARGO_BIN_EXE_hedgerow")).parent().unwrap();
    let path = std::env::join_paths(
        std::iter::once(programs.to_owned())
            .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
    );
    let said = folder.join(site).join("said");
    let file = std::fs::File::create(&said).unwrap();
    let status = Command::new("sh")
        .args(["-c", block])
        .env("SITE", site)
        .env("PATH", path.unwrap())
        .current_dir(folder.join(site))
        .stdin(Stdio::null())
        .stdout(file.try_clone().unwrap())
        .stderr(file)
        .status()
        .unwrap();
    let said = std::fs::read_to_string(said).unwrap();
    assert!(status.success(), "{site}: {block}\n{said}");
    assert!(!said.contains("error:"), "{site}: {block}\n{said}");
    said
}

/// The commands about the same people at several institutions.
#[test]
fn the_vertical_commands_of_the_readme_end_with_a_release_that_holds() {
    let readme = include_str!("../../../../README.md");
    let (_, rest) = readme.split_once("\n```sh vertical\n").unwrap();
    let (block, _) = rest.split_once("\n```").unwrap();
    assert_eq!(block.lines().count(), 4);
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("here")).unwrap();
    let block = block.lines().collect::<Vec<_>>().join(" && ");
    let said = type_in(folder.path(), "here", &block);
    assert!(said.contains("\nHOLDS: patients"), "{said}");
}

#[test]
fn the_walk_of_the_readme_ends_with_a_signed_release() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let exchange = path.join("exchange");
    std::fs::create_dir(&exchange).unwrap();
    let listeners = SITES.map(|_| std::net::TcpListener::bind("127.0.0.1:0").unwrap());
    for (site, listener) in SITES.iter().zip(&listeners) {
        std::fs::create_dir(path.join(site)).unwrap();
        let address = listener.local_addr().unwrap().to_string();
        std::fs::write(exchange.join(format!("{site}.address")), address).unwrap();
    }
    drop(listeners);
    let nodes = Nodes(path);
    let mut last = String::new();
    let mut addresses = 0;
    for (sites, block) in blocks() {
        let changed = block.replace("$site.example.org:7401", "$(cat ../exchange/$site.address)");
        addresses += usize::from(changed != block);
        let changed = match changed.strip_suffix(" &") {
            Some(node) => format!("{node} > node.log 2>&1 & echo $! > node.pid"),
            None => changed,
        };
        for site in sites {
            if block.contains("verify") {
                let started = Instant::now();
                while !path.join(site).join("data/release-1").exists() {
                    assert!(started.elapsed() < Duration::from_secs(120), "{site}");
                    std::thread::sleep(Duration::from_millis(50));
                }
            }
            last = type_in(path, site, &changed);
        }
    }
    assert_eq!(addresses, 1);
    assert!(last.contains("HOLDS"), "{last}");
    let read = |site: &str, name: &str| {
        std::fs::read(path.join(site).join("data/release-1").join(name)).unwrap()
    };
    for site in SITES {
        assert_eq!(read(site, "release.csv"), read("north", "release.csv"));
        let manifest = read(site, "manifest.json");
        let manifest: serde_json::Value = serde_json::from_slice(&manifest).unwrap();
        assert_eq!(manifest["signatures"].as_array().unwrap().len(), 3);
    }
    // A node that is asked to end does, and says so.
    nodes.signal("-TERM");
    let log = path.join("south/node.log");
    let started = Instant::now();
    loop {
        let said = std::fs::read_to_string(&log).unwrap();
        if said.contains("the node has stopped") {
            assert!(said.contains("run 1 is over"), "{said}");
            break;
        }
        assert!(started.elapsed() < Duration::from_secs(30), "{said}");
        std::thread::sleep(Duration::from_millis(50));
    }
}
