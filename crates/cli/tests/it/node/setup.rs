//! Sites of a test: a signed study, rows, files and processes of their own, in one folder.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use super::{hedgerow, json};

pub(super) const SITES: [&str; 3] = ["north", "south", "east"];

/// What is different about a study and its sites.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    pub(super) sites: &'static [&'static str],
    pub(super) rows: u32,
    pub(super) security: &'static str,
    /// Stands for the generated `[require]`, where it is not empty.
    pub(super) require: &'static str,
    pub(super) algorithm: &'static str,
    /// The hub of a star, the only site with an address: all others listen nowhere. None where every site has one.
    pub(super) hub: Option<&'static str>,
    /// Whether every row has a name of its own, which is an identifier.
    pub(super) has_names: bool,
}

pub(super) const USUAL: Shape = Shape {
    sites: &SITES,
    rows: 600,
    security: "hardened",
    require: "",
    algorithm: "name = \"mondrian\"\nrecode = \"node\"",
    hub: None,
    has_names: false,
};

/// Three sites with their keys, rows and files, in one folder; the study is signed by all.
pub(super) fn sites(rows: u32) -> tempfile::TempDir {
    prepared(&Shape { rows, ..USUAL })
}

/// Sites with their keys, rows and files, in one folder; the study is signed by all.
pub(super) fn prepared(shape: &Shape) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let (rows, count) = (shape.rows.to_string(), shape.sites.len().to_string());
    let arguments = [
        "generate", "census", "--rows", &rows, "--sites", &count, "--out", "c",
    ];
    assert_eq!(hedgerow(path, &arguments).code, 0);
    write_study(path, shape);
    let done = hedgerow(path, &["study", "show", "c/study.toml", "--json"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let disclosures = listed(&json(&done), "discloses", "what");
    let algorithm = shape.algorithm.split('"').nth(1).unwrap();
    for name in shape.sites {
        if shape.has_names {
            give_names(&path.join(format!("c/{name}.csv")), name);
        }
        let accept = format!(
            "[accept]\nminimum_k = 5\nminimum_m = 0\nmodels = [\"k\"]\nalgorithms = [{algorithm:?}]\nsecurity = [{:?}]\ncolumns = [\"sex\", \"age\", \"race\", \"marital-status\", \"education\", \"native-country\", \"workclass\", \"occupation\", \"salary-class\", \"person\"]\ndisclosures = {disclosures:?}\n",
            shape.security
        );
        let text = format!(
            "site = \"{name}\"\nstudy = \"c/study.toml\"\nkey = \"{name}.key\"\ndata = \"{name}-data\"\npatience = 60\n[source]\nfile = \"c/{name}.csv\"\n{accept}"
        );
        let file = path.join(format!("{name}.toml"));
        std::fs::write(&file, text).unwrap();
        make_private(&file);
    }
    folder
}

/// Gives the generated study its shape, sites and signatures.
pub(super) fn write_study(folder: &Path, shape: &Shape) {
    let study = folder.join("c/study.toml");
    let mut text = std::fs::read_to_string(&study).unwrap();
    let head = "partition = \"horizontal\"\n";
    text = text.replace(head, &format!("{head}security = \"{}\"\n", shape.security));
    if !shape.require.is_empty() {
        let (before, _) = text.split_once("[require]\n").unwrap();
        text = format!("{before}[require]\n{}\n", shape.require);
    } else {
        let (before, _) = text.split_once("[algorithm]\n").unwrap();
        text = before.to_owned();
    }
    // What a study of three sites says of colluders, where a test has nothing to say of them.
    if !shape.require.contains("m =") {
        text.push_str("m = 0\n");
    }
    text.push_str(&format!("\n[algorithm]\n{}\n", shape.algorithm));
    if shape.has_names {
        text.push_str("\n[[attribute]]\nname = \"person\"\nrole = \"identifier\"\n");
    }
    if let Some(hub) = shape.hub {
        text.push_str(&format!("\n[network]\nshape = \"star\"\nhub = \"{hub}\"\n"));
    }
    for name in shape.sites {
        let done = hedgerow(folder, &["keygen", "--out", &format!("{name}.key")]);
        assert_eq!(done.code, 0, "{}", done.stderr);
        text.push_str(&format!("\n[[site]]\nname = \"{name}\"\n"));
        if shape.hub.is_none_or(|hub| hub == *name) {
            text.push_str(&format!("address = \"{}\"\n", free_address()));
        }
        text.push_str(&done.stdout);
    }
    std::fs::write(&study, text).unwrap();
    for name in shape.sites {
        let key = format!("{name}.key");
        let done = hedgerow(folder, &["study", "sign", "--key", &key, "c/study.toml"]);
        assert_eq!(done.code, 0, "{}", done.stderr);
    }
}

/// Adds a column with a name that stands nowhere else to every row of a table.
pub(super) fn give_names(table: &Path, site: &str) {
    let text = std::fs::read_to_string(table).unwrap();
    let lines = text.lines().enumerate().map(|(line, row)| match line {
        0 => format!("{row},person\n"),
        _ => format!("{row},Quillfeather-{site}-{line:05}\n"),
    });
    std::fs::write(table, lines.collect::<String>()).unwrap();
}

/// One word of every entry of a list.
pub(super) fn listed(shown: &serde_json::Value, list: &str, key: &str) -> Vec<String> {
    let list = shown[list].as_array().unwrap().iter();
    list.map(|one| one[key].as_str().unwrap().to_owned())
        .collect()
}

pub(super) fn make_private(file: &Path) {
    let private = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    std::fs::set_permissions(file, private).unwrap();
}

/// Every site's process, from its first life on.
pub(super) fn start_all(folder: &Path, names: &[&str], life: usize) -> Vec<Site> {
    names
        .iter()
        .map(|name| Site::start(folder, name, life))
        .collect()
}

pub(super) fn free_address() -> String {
    // A host for each: nobody else takes the port of a site that is killed.
    static HOSTS: AtomicU32 = AtomicU32::new(0);
    let host = 1 + HOSTS.fetch_add(1, Ordering::Relaxed) % 250;
    let listener = std::net::TcpListener::bind((format!("127.1.{host}.1"), 0)).unwrap();
    listener.local_addr().unwrap().to_string()
}

/// A process that does not outlive the test.
pub(super) struct Site {
    pub(super) child: Child,
    pub(super) said: PathBuf,
}

impl Site {
    pub(super) fn start(folder: &Path, name: &str, life: usize) -> Self {
        let said = folder.join(format!("{name}-{life}.err"));
        let child = Command::new(env!("CARGO_BIN_EXE_hedgerow"))
            .args([
                "run",
                "--site",
                &format!("{name}.toml"),
                "--seed",
                "7",
                "--json",
            ])
            .current_dir(folder)
            .stdout(std::fs::File::create(folder.join(format!("{name}-{life}.out"))).unwrap())
            .stderr(std::fs::File::create(&said).unwrap())
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        Self { child, said }
    }

    /// Waits for a good end.
    pub(super) fn end(&mut self) {
        let started = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(
                started.elapsed() < Duration::from_secs(120),
                "{}",
                self.said()
            );
            std::thread::sleep(Duration::from_millis(10));
        };
        assert!(status.success(), "{}", self.said());
    }

    pub(super) fn said(&self) -> String {
        std::fs::read_to_string(&self.said).unwrap()
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The release of a simulation over the rows of all sites.
pub(super) fn simulated(folder: &Path) -> Vec<u8> {
    simulate(folder, &SITES);
    std::fs::read(folder.join("simulated/release.csv")).unwrap()
}

/// The summary of a simulation over the rows of these sites.
pub(super) fn simulate(folder: &Path, names: &[&str]) -> serde_json::Value {
    let mut pooled = String::new();
    for (place, name) in names.iter().enumerate() {
        let text = std::fs::read_to_string(folder.join(format!("c/{name}.csv"))).unwrap();
        for (line, row) in text.lines().enumerate() {
            match (line, place) {
                (0, 0) => pooled.push_str(&format!("{row},site\n")),
                (0, _) => {}
                _ => pooled.push_str(&format!("{row},{name}\n")),
            }
        }
    }
    std::fs::write(folder.join("pooled.csv"), pooled).unwrap();
    // The study of a simulation has as many sites as the table, so the signed one will do.
    let done = hedgerow(
        folder,
        &[
            "simulate",
            "--study",
            "c/study.toml",
            "--provider-column",
            "site",
            "--seed",
            "7",
            "--out",
            "simulated",
            "--force",
            "pooled.csv",
            "--json",
        ],
    );
    assert_eq!(done.code, 0, "{}", done.stderr);
    json(&done)
}

/// Every file below a folder.
pub(super) fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap();
    entries
        .flat_map(|entry| {
            let path = entry.unwrap().path();
            if path.is_dir() {
                files(&path)
            } else {
                vec![path]
            }
        })
        .collect()
}
