//! `keygen`, `study new / sign / show`, `run`, `node`, `status`: real processes, real connections.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use hedgerow_data::files::{Others, read_table};
use hedgerow_data::{Role, Study};
use hedgerow_node::agreement::Agreement;
use hedgerow_node::identity::{PublicKey, Purpose, from_hex};
use hedgerow_node::journal::Journal;
use hedgerow_node::run::statement_digest;

use super::{assert_refused, hedgerow, json};

const SITES: [&str; 3] = ["north", "south", "east"];

/// Three sites with their keys, rows and files, in one folder; the study is signed by all.
fn sites(rows: u32) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let rows = rows.to_string();
    let arguments = [
        "generate", "census", "--rows", &rows, "--sites", "3", "--out", "c",
    ];
    assert_eq!(hedgerow(path, &arguments).code, 0);
    let study = path.join("c/study.toml");
    let mut text = std::fs::read_to_string(&study).unwrap();
    for name in SITES {
        let done = hedgerow(path, &["keygen", "--out", &format!("{name}.key")]);
        assert_eq!(done.code, 0, "{}", done.stderr);
        text.push_str(&format!(
            "\n[[site]]\nname = \"{name}\"\naddress = \"{}\"\n{}",
            free_address(),
            done.stdout
        ));
    }
    std::fs::write(&study, text).unwrap();
    for name in SITES {
        let key = format!("{name}.key");
        let done = hedgerow(path, &["study", "sign", "--key", &key, "c/study.toml"]);
        assert_eq!(done.code, 0, "{}", done.stderr);
    }
    let done = hedgerow(path, &["study", "show", "c/study.toml", "--json"]);
    assert_eq!(done.code, 0, "{}", done.stdout);
    let shown = json(&done);
    let words = |list: &str, key: &str| -> Vec<String> {
        let list = shown[list].as_array().unwrap().iter();
        list.map(|one| one[key].as_str().unwrap().to_owned())
            .collect()
    };
    let disclosures = words("discloses", "what");
    for name in SITES {
        let accept = format!(
            "[accept]\nminimum_k = 5\nmodels = [\"k\", \"l\"]\nalgorithms = [\"mondrian\"]\nsecurity = [\"hardened\"]\ncolumns = [\"sex\", \"age\", \"race\", \"marital-status\", \"education\", \"native-country\", \"workclass\", \"occupation\", \"salary-class\"]\ndisclosures = {disclosures:?}\n"
        );
        let text = format!(
            "site = \"{name}\"\nstudy = \"c/study.toml\"\nkey = \"{name}.key\"\ndata = \"{name}-data\"\npatience = 60\n[source]\nfile = \"c/{name}.csv\"\n{accept}"
        );
        let file = path.join(format!("{name}.toml"));
        std::fs::write(&file, text).unwrap();
        let private = std::os::unix::fs::PermissionsExt::from_mode(0o600);
        std::fs::set_permissions(&file, private).unwrap();
    }
    folder
}

fn free_address() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().to_string()
}

/// A process that does not outlive the test.
struct Site {
    child: Child,
    said: PathBuf,
}

impl Site {
    fn start(folder: &Path, name: &str, life: usize) -> Self {
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
    fn end(&mut self) {
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

    fn said(&self) -> String {
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
fn simulated(folder: &Path) -> Vec<u8> {
    let mut pooled = String::new();
    for (place, name) in SITES.iter().enumerate() {
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
            "pooled.csv",
        ],
    );
    assert_eq!(done.code, 0, "{}", done.stderr);
    std::fs::read(folder.join("simulated/release.csv")).unwrap()
}

/// Every file below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
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

#[test]
fn three_processes_publish_what_a_simulation_does_and_sign_it() {
    let folder = sites(600);
    let path = folder.path();
    let mut running: Vec<Site> = SITES
        .iter()
        .map(|name| Site::start(path, name, 0))
        .collect();
    running.iter_mut().for_each(Site::end);

    let expected = simulated(path);
    let agreement = Agreement::open(&path.join("c/study.toml")).unwrap();
    for name in SITES {
        let release = path.join(format!("{name}-data/release-1"));
        assert_eq!(
            std::fs::read(release.join("release.csv")).unwrap(),
            expected
        );
        let text = std::fs::read_to_string(release.join("manifest.json")).unwrap();
        let manifest: serde_json::Value = serde_json::from_str(&text).unwrap();
        let signed = &manifest["signed"];
        assert_eq!(signed["study_hash"], agreement.hash.to_string());
        let hash = blake3::hash(&expected);
        assert_eq!(signed["files"]["release.csv"], hash.to_hex().as_str());
        let digest = statement_digest(agreement.hash, 1, signed.to_string().as_bytes());
        for (place, site) in SITES.iter().enumerate() {
            let entry = &manifest["signatures"][place];
            assert_eq!(entry["site"], *site);
            let key: PublicKey = entry["key"].as_str().unwrap().parse().unwrap();
            assert_eq!(key, agreement.keys().unwrap()[place]);
            let signature = from_hex(entry["signature"].as_str().unwrap()).unwrap();
            assert!(key.verifies(Purpose::Release, &digest, &signature));
        }
        let done = hedgerow(
            path,
            &["status", "--site", &format!("{name}.toml"), "--json"],
        );
        assert_eq!(json(&done)["runs"][0]["over"], true);
        // Nothing half-made is left.
        let data = path.join(format!("{name}-data"));
        for file in files(&data) {
            let inside = file.strip_prefix(&data).unwrap().display().to_string();
            assert!(!inside.contains("tmp"), "{inside}");
        }
    }
    let done = hedgerow(path, &["run", "--site", "north.toml"]);
    assert_eq!(done.code, 2);
    assert!(
        done.stderr.contains("run 1 of this study is over"),
        "{}",
        done.stderr
    );
}

/// Whether a site's run is over, and how many frames it has sent.
fn progress(folder: &Path, name: &str) -> (bool, u64) {
    let entries = Journal::look(&folder.join(format!("{name}-data"))).unwrap();
    entries.first().map_or((false, 0), |entry| {
        (
            entry.is_over,
            entry.frames.iter().map(|frames| frames.1).sum(),
        )
    })
}

#[test]
fn sites_that_are_killed_end_with_the_same_release() {
    let folder = sites(600);
    let path = folder.path();
    let expected = simulated(path);
    // Each in turn, and two at once; kills fall where a site has sent so many frames.
    let victims: [&[usize]; 5] = [&[0], &[1], &[2], &[0, 1], &[1, 2]];
    let mut in_the_middle = 0;
    for (turn, victims) in victims.iter().enumerate() {
        for name in SITES {
            let _ = std::fs::remove_dir_all(path.join(format!("{name}-data")));
        }
        let mut running: Vec<Site> = SITES
            .iter()
            .map(|name| Site::start(path, name, 0))
            .collect();
        for life in 1..=6 {
            let enough = (5 * life + 3 * turn) as u64;
            let first = SITES[victims[0]];
            while matches!(progress(path, first), (false, sent) if sent < enough) {
                std::thread::sleep(Duration::from_millis(1));
            }
            for victim in *victims {
                // SIGKILL.
                running[*victim].child.kill().unwrap();
                running[*victim].child.wait().unwrap();
            }
            for victim in *victims {
                let (is_over, sent) = progress(path, SITES[*victim]);
                if !is_over {
                    in_the_middle += usize::from(sent > 0);
                    running[*victim] = Site::start(path, SITES[*victim], life);
                }
            }
        }
        for (site, name) in running.iter_mut().zip(SITES) {
            if !progress(path, name).0 {
                site.end();
            }
            let release = path.join(format!("{name}-data/release-1/release.csv"));
            assert_eq!(std::fs::read(release).unwrap(), expected);
        }
    }
    eprintln!("{in_the_middle} kills fell into a run");
    assert!(
        in_the_middle >= 25,
        "only {in_the_middle} kills fell into a run"
    );
}

/// Where no more can be written, a site says so; once there is room, the run goes on.
#[test]
fn a_full_disk_is_named_and_the_run_goes_on_when_there_is_room() {
    let folder = sites(600);
    let path = folder.path();
    let mut others: Vec<Site> = SITES[1..]
        .iter()
        .map(|name| Site::start(path, name, 0))
        .collect();
    // Writes beyond this size fail as they do on a full disk.
    let script = format!(
        "trap '' XFSZ; ulimit -f 300; exec '{}' run --site north.toml --seed 7",
        env!("CARGO_BIN_EXE_hedgerow")
    );
    let output = Command::new("sh")
        .args(["-c", &script])
        .current_dir(path)
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(
        said.contains("north-data/journal.sqlite: a frame cannot be kept"),
        "{said}"
    );
    for other in &mut others {
        let status = other.child.wait().unwrap();
        assert_eq!(status.code(), Some(2), "{}", other.said());
        // From itself, or from the other that heard it first.
        let said = other.said();
        let is_told = said.contains("has ended its part in the run") && said.contains("`north`");
        assert!(is_told, "{said}");
    }
    let mut running: Vec<Site> = SITES
        .iter()
        .map(|name| Site::start(path, name, 1))
        .collect();
    running.iter_mut().for_each(Site::end);
    let release = std::fs::read(path.join("north-data/release-1/release.csv")).unwrap();
    assert_eq!(release, simulated(path));
}

/// What a site's rows and columns could look like on a line, in every encoding there is.
fn raw_forms(folder: &Path) -> Vec<Vec<u8>> {
    let study = Study::open(&folder.join("c/study.toml")).unwrap();
    let rows = folder.join("c/north.csv");
    let table = read_table(&rows, &study.schema, &Others::Refuse, &()).unwrap();
    let quasi = study.schema.with_role(Role::Quasi);
    let mut forms: Vec<Vec<u8>> = Vec::new();
    let mut add_codes = |codes: &[u32]| {
        // What is mostly zeros is everywhere.
        if codes.iter().filter(|code| **code > 0).count() >= 5 {
            forms.push(codes.iter().map(|code| *code as u8).collect());
            forms.push(
                codes
                    .iter()
                    .flat_map(|code| (*code as u16).to_le_bytes())
                    .collect(),
            );
            forms.push(codes.iter().flat_map(|code| code.to_le_bytes()).collect());
            forms.push(
                codes
                    .iter()
                    .flat_map(|code| u64::from(*code).to_le_bytes())
                    .collect(),
            );
        }
    };
    let column = |position: usize| table.codes(position).unwrap();
    for row in 0..table.rows() {
        let codes: Vec<u32> = quasi
            .iter()
            .map(|position| column(*position).get(row))
            .collect();
        add_codes(&codes);
    }
    for position in 0..study.schema.attributes().len() {
        let codes: Vec<u32> = column(position).iter().take(24).collect();
        add_codes(&codes);
    }
    let text = std::fs::read_to_string(rows).unwrap();
    for line in text.lines().skip(1) {
        let (quasi, _) = line.rsplit_once(',').unwrap();
        for separator in [",", ";", "\t", "\0", "", "|"] {
            forms.push(quasi.replace(',', separator).into_bytes());
        }
    }
    forms
}

/// Every frame is in the journal before it is encrypted and sent, so what is there when a run
/// stands at its last step is everything that leaves a site.
#[test]
fn nothing_raw_leaves_a_site_and_nothing_raw_is_said() {
    let folder = sites(600);
    let path = folder.path();
    let mut running: Vec<Site> = SITES
        .iter()
        .map(|name| Site::start(path, name, 0))
        .collect();
    running.iter_mut().for_each(Site::end);
    let answer = std::fs::read_to_string(path.join("north-0.out")).unwrap();
    let answer: serde_json::Value = serde_json::from_str(&answer).unwrap();
    let messages = answer["cost"]["messages"].as_u64().unwrap();

    let forms = raw_forms(path);
    for attempt in 1..=50 {
        for name in SITES {
            std::fs::remove_dir_all(path.join(format!("{name}-data"))).unwrap();
        }
        let mut running: Vec<Site> = SITES
            .iter()
            .map(|name| Site::start(path, name, attempt))
            .collect();
        while matches!(progress(path, "north"), (false, sent) if sent < messages) {
            std::thread::sleep(Duration::from_micros(200));
        }
        for site in &mut running {
            site.child.kill().unwrap();
            site.child.wait().unwrap();
        }
        if progress(path, "north").0 {
            // It was too fast: its frames are wiped.
            continue;
        }
        let journal = path.join("north-data/journal.sqlite");
        let connection = rusqlite::Connection::open(journal).unwrap();
        let mut statement = connection
            .prepare("SELECT bytes FROM frame WHERE sent = 1")
            .unwrap();
        let frames: Vec<Vec<u8>> = statement
            .query_map([], |row| row.get(0))
            .unwrap()
            .map(Result::unwrap)
            .collect();
        assert!(frames.len() as u64 >= messages);
        let mut said = running[0].said().into_bytes();
        said.extend(std::fs::read(path.join("north-0.err")).unwrap());
        for bytes in frames.iter().chain([&said]) {
            for form in &forms {
                let found = memchr::memmem::find(bytes, form);
                assert_eq!(found, None, "{form:?} in a frame of {} bytes", bytes.len());
            }
        }
        // The search itself finds what is there.
        let rows = std::fs::read(path.join("c/north.csv")).unwrap();
        assert!(
            forms
                .iter()
                .any(|form| memchr::memmem::find(&rows, form).is_some())
        );
        return;
    }
    panic!("the run could not be stopped at its last step");
}

#[test]
fn a_study_that_this_site_does_not_accept_is_refused_by_rule() {
    let folder = sites(100);
    let path = folder.path();
    let file = path.join("north.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    let refused = |from: &str, to: &str, expected: &str| {
        std::fs::write(&file, text.replace(from, to)).unwrap();
        let done = hedgerow(path, &["run", "--site", "north.toml"]);
        assert_eq!((done.code, done.stdout.as_str()), (2, ""));
        assert!(done.stderr.contains(expected), "{}", done.stderr);
        assert!(!path.join("north-data").exists());
    };
    refused(
        "minimum_k = 5",
        "minimum_k = 50",
        "accept.minimum_k: is 50; the study has only k = 10",
    );
    refused("minimum_k = 5\n", "", "accept.minimum_k: is not set");
    refused(
        "\"medians of classes\", ",
        "",
        "accept.disclosures: does not allow `medians of classes`",
    );
    refused(
        "north.key",
        "south.key",
        "is not the key that the study has for `north`",
    );
    refused(
        "site = \"north\"",
        "site = \"west\"",
        "the study has no site `west`",
    );

    // One byte more in the study, and nobody has signed it.
    std::fs::write(&file, &text).unwrap();
    let study = path.join("c/study.toml");
    let signed = std::fs::read_to_string(&study).unwrap();
    std::fs::write(&study, format!("{signed} ")).unwrap();
    let done = hedgerow(path, &["run", "--site", "north.toml"]);
    assert_eq!(done.code, 2);
    assert!(
        done.stderr
            .contains("not signed by `north` (void: the study has changed since)")
    );
    let done = hedgerow(path, &["study", "check", "c/study.toml"]);
    assert_eq!(done.code, 1, "{}", done.stderr);
    assert!(done.stdout.contains("void"), "{}", done.stdout);
    std::fs::write(&study, signed).unwrap();
    assert_eq!(hedgerow(path, &["study", "check", "c/study.toml"]).code, 0);

    // A row outside its domain stops the site before anything leaves it.
    let rows = path.join("c/north.csv");
    let mut table = std::fs::read_to_string(&rows).unwrap();
    table.push_str("male,24,white,single,bachelor,Germany,town,astronaut,35K to 50K\n");
    std::fs::write(&rows, table).unwrap();
    let done = hedgerow(path, &["run", "--site", "north.toml"]);
    assert_eq!(done.code, 2);
    assert!(
        done.stderr.contains("value `astronaut` is outside"),
        "{}",
        done.stderr
    );
    assert!(!path.join("north-data").exists());
}

#[test]
fn a_run_is_given_up_and_a_changed_source_is_named() {
    let folder = sites(100);
    let path = folder.path();
    let file = path.join("north.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("patience = 60", "patience = 1")).unwrap();
    let done = hedgerow(path, &["run", "--site", "north.toml"]);
    assert_eq!(done.code, 2);
    assert!(
        done.stderr.contains("`south` has been gone for 1 s"),
        "{}",
        done.stderr
    );
    let done = hedgerow(path, &["status", "--site", "north.toml"]);
    assert!(
        done.stdout.starts_with("run 1: not over"),
        "{}",
        done.stdout
    );

    let rows = path.join("c/north.csv");
    let table = std::fs::read_to_string(&rows).unwrap();
    let (first, rest) = table.trim_end().rsplit_once('\n').unwrap();
    assert!(!rest.is_empty());
    std::fs::write(&rows, format!("{first}\n")).unwrap();
    let done = hedgerow(path, &["run", "--site", "north.toml"]);
    assert!(
        done.stderr
            .contains("the rows have changed since run 1 began"),
        "{}",
        done.stderr
    );

    let done = hedgerow(path, &["run", "--site", "north.toml", "--abandon"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let done = hedgerow(path, &["status", "--site", "north.toml"]);
    assert_eq!(done.stdout, "no runs\n");
    let done = hedgerow(path, &["run", "--site", "north.toml", "--abandon"]);
    assert!(
        done.stderr.contains("there is no run 1 of this study"),
        "{}",
        done.stderr
    );
}

#[test]
fn keys_are_made_once_and_a_study_is_begun() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let done = hedgerow(path, &["keygen", "--out", "a.key", "--json"]);
    let key = json(&done)["key"].as_str().unwrap().to_owned();
    let secret = std::fs::read_to_string(path.join("a.key")).unwrap();
    let digits = secret.trim_end().rsplit(':').next().unwrap();
    assert!(!done.stdout.contains(digits) && !done.stderr.contains(digits));
    assert_refused(
        &hedgerow(path, &["keygen", "--out", "a.key"]),
        "a.key: is there already and is kept\nhint: a key that is lost voids every study it signed; choose another name",
    );
    let done = hedgerow(path, &["study", "new", "study.toml"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(hedgerow(path, &["study", "check", "study.toml"]).code, 0);
    assert_eq!(hedgerow(path, &["study", "new", "study.toml"]).code, 2);
    let study = path.join("study.toml");
    let text = std::fs::read_to_string(&study).unwrap();
    let site = format!("\n[[site]]\nname = \"a\"\naddress = \"127.0.0.1:7401\"\nkey = \"{key}\"\n");
    std::fs::write(&study, format!("{text}{site}")).unwrap();
    let done = hedgerow(path, &["study", "show", "study.toml"]);
    assert_eq!(done.code, 1, "{}", done.stderr);
    assert!(done.stdout.contains("not signed"), "{}", done.stdout);
    let done = hedgerow(path, &["study", "sign", "--key", "a.key", "study.toml"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(hedgerow(path, &["study", "show", "study.toml"]).code, 0);
}
