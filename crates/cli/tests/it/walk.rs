//! The walk of the chapter on studies between institutions, from `keygen` to the signed release, typed as
//! it is printed.
//!
//! Three folders on one machine stand for the three machines; the one thing changed in what is
//! typed is the address `$site.example.org:7401`, in whose place comes a free one on loopback.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::documents::Page;
use crate::documents::blocks::{Kind, SITES, blocks};
use crate::documents::typed::shell;

/// The fenced blocks of the walk: where they are typed, and what.
fn walk() -> Vec<(Vec<&'static str>, String)> {
    let page = Page::read("docs/src/between-institutions.md");
    let mut walk = Vec::new();
    for block in blocks(&page) {
        if let Kind::Walk { sites } = block.kind {
            walk.push((sites, block.body));
        }
    }
    assert!(walk.len() >= 10, "{}", walk.len());
    walk
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
    let said = folder.join(site).join("said");
    let file = std::fs::File::create(&said).unwrap();
    let status = shell(&folder.join(site), block)
        .env("SITE", site)
        .stdout(file.try_clone().unwrap())
        .stderr(file)
        .status()
        .unwrap();
    let said = std::fs::read_to_string(said).unwrap();
    assert!(status.success(), "{site}: {block}\n{said}");
    assert!(!said.contains("error:"), "{site}: {block}\n{said}");
    said
}

#[test]
fn the_walk_between_institutions_ends_with_a_signed_release() {
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
    for (sites, block) in walk() {
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
