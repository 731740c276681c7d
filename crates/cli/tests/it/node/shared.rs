//! Institutions that know the same patients, as processes of their own: each reads its own columns.

use std::path::Path;
use std::time::{Duration, Instant};

use hedgerow_data::Study;
use hedgerow_data::files::{Others, read_table};
use hedgerow_node::journal::Journal;

use super::leaks::{Form, leak, number_forms, run_to_the_seals, sent, text_forms};
use super::{Site, files, free_address, hedgerow, json, listed, make_private, progress, start_all};

const INSTITUTIONS: [&str; 3] = ["clinic", "laboratory", "insurer"];

/// Everybody's columns in one table, and each institution's own in one of its own.
fn write_tables(folder: &Path, rows: u32) {
    let rows = rows.to_string();
    let arguments = [
        "generate",
        "institutions",
        "--rows",
        &rows,
        "--pooled",
        "--out",
        "c",
    ];
    assert_eq!(hedgerow(folder, &arguments).code, 0);
    let all = std::fs::read_to_string(folder.join("c/institutions.csv")).unwrap();
    assert!(!all.contains('"'));
    let columns = [
        "patient,age,sex,diagnosis",
        "patient,marker,sample",
        "patient,zip,treatment,cost",
    ];
    let header: Vec<&str> = all.lines().next().unwrap().split(',').collect();
    for (name, columns) in INSTITUTIONS.iter().zip(columns) {
        let place = |column| header.iter().position(|one| *one == column).unwrap();
        let places: Vec<usize> = columns.split(',').map(place).collect();
        let row = |line: &str| {
            let cells: Vec<&str> = line.split(',').collect();
            let own: Vec<&str> = places.iter().map(|place| cells[*place]).collect();
            own.join(",") + "\n"
        };
        let text: String = all.lines().map(row).collect();
        std::fs::write(folder.join(format!("c/{name}.csv")), text).unwrap();
    }
}

/// Gives the generated study keys, addresses, another level and algorithm, and signs it.
fn write_study(folder: &Path, security: &str, algorithm: &str) {
    let study = folder.join("c/study.toml");
    let text = std::fs::read_to_string(folder.join("c/generated.toml")).unwrap();
    let (before, _) = text.split_once("[algorithm]\n").unwrap();
    let head = "partition = \"vertical\"";
    let mut text = before.replace(head, &format!("security = \"{security}\"\n{head}"));
    text.push_str(&format!("[algorithm]\n{algorithm}\n"));
    for name in INSTITUTIONS {
        let key = format!("{name}.key");
        let _ = std::fs::remove_file(folder.join(&key));
        let done = hedgerow(folder, &["keygen", "--out", &key]);
        assert_eq!(done.code, 0, "{}", done.stderr);
        let head = format!("name = \"{name}\"\n");
        assert!(text.contains(&head));
        let known = format!("{head}address = \"{}\"\n{}", free_address(), done.stdout);
        text = text.replace(&head, &known);
    }
    std::fs::write(&study, text).unwrap();
    for name in INSTITUTIONS {
        let key = format!("{name}.key");
        let done = hedgerow(folder, &["study", "sign", "--key", &key, "c/study.toml"]);
        assert_eq!(done.code, 0, "{}", done.stderr);
    }
}

/// What a run may disclose, by the study.
fn announced(folder: &Path) -> Vec<String> {
    let done = hedgerow(folder, &["study", "show", "c/study.toml", "--json"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    listed(&json(&done), "discloses", "what")
}

/// Institutions with their keys, tables and files, in one folder; the study is signed by all.
fn prepared(rows: u32, algorithm: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    write_tables(path, rows);
    std::fs::rename(path.join("c/study.toml"), path.join("c/generated.toml")).unwrap();
    write_study(path, "hardened", algorithm);
    let disclosures = announced(path);
    // Each answers for its own columns.
    let columns = [
        "\"age\", \"sex\", \"diagnosis\"",
        "\"marker\", \"sample\"",
        "\"zip\", \"treatment\", \"cost\"",
    ];
    for (name, columns) in INSTITUTIONS.iter().zip(columns) {
        let text = format!(
            "site = \"{name}\"\nstudy = \"c/study.toml\"\nkey = \"{name}.key\"\ndata = \"{name}-data\"\npatience = 60\n[source]\nfile = \"c/{name}.csv\"\n[accept]\nminimum_k = 5\nmodels = [\"k\"]\nalgorithms = [\"d2pt\", \"clustering\", \"mondrian\"]\nsecurity = [\"hardened\"]\ncolumns = [\"patient\", {columns}]\ndisclosures = {disclosures:?}\n"
        );
        let file = path.join(format!("{name}.toml"));
        std::fs::write(&file, text).unwrap();
        make_private(&file);
    }
    folder
}

/// The summary of a simulation of everybody.
fn simulate(folder: &Path) -> serde_json::Value {
    let line = "simulate --study c/study.toml --seed 7 --out simulated c/institutions.csv --json";
    let _ = std::fs::remove_dir_all(folder.join("simulated"));
    let done = hedgerow(folder, &line.split(' ').collect::<Vec<_>>());
    assert_eq!(done.code, 0, "{}", done.stderr);
    json(&done)
}

/// Runs a study with sites that are killed on the way; every one ends with what a simulation
/// publishes, signed by all.
fn killed_and_whole(rows: u32, algorithm: &str) {
    let folder = prepared(rows, algorithm);
    let path = folder.path();
    let summary = simulate(path);
    let messages = summary["cost"]["messages"].as_u64().unwrap() / 3;
    let mut running = start_all(path, &INSTITUTIONS, 0);
    let mut in_the_middle = 0;
    for (life, victim) in (1..).zip([0, 2, 1]) {
        let enough = messages * life as u64 / 4;
        while matches!(progress(path, INSTITUTIONS[victim]), (false, sent) if sent < enough) {
            std::thread::sleep(Duration::from_millis(1));
        }
        running[victim].child.kill().unwrap();
        running[victim].child.wait().unwrap();
        if !progress(path, INSTITUTIONS[victim]).0 {
            in_the_middle += 1;
            running[victim] = Site::start(path, INSTITUTIONS[victim], life);
        }
    }
    assert!(in_the_middle > 0, "{algorithm}: no kill fell into a run");
    for (site, name) in running.iter_mut().zip(INSTITUTIONS) {
        if !progress(path, name).0 {
            site.end();
        }
        let release = format!("{name}-data/release-1");
        for file in files(&path.join("simulated")) {
            let file = file.strip_prefix(path.join("simulated")).unwrap();
            let file = file.to_str().unwrap().to_owned();
            if file.ends_with(".csv") {
                let read = |folder: &str| std::fs::read(path.join(folder).join(&file)).unwrap();
                assert_eq!(
                    read(&release),
                    read("simulated"),
                    "{algorithm}: {name}: {file}"
                );
            }
        }
        let seen = hedgerow(
            path,
            &["verify", &release, "--study", "c/study.toml", "--json"],
        );
        assert_eq!(seen.code, 0, "{}{}", seen.stdout, seen.stderr);
        let seen = json(&seen);
        assert_eq!(
            (&seen["holds"], &seen["manifest"]["signed"]),
            (&true.into(), &true.into())
        );
        assert_eq!(seen["manifest"]["account"], name);
        let status = format!("{name}.toml");
        let status = hedgerow(path, &["status", "--site", &status, "--json"]);
        assert_eq!(json(&status)["runs"][0]["over"], true);
        let page = std::fs::read_to_string(path.join(&release).join("report.html")).unwrap();
        assert!(page.contains("Who held what"));
        assert!(page.contains("zip, treatment, cost"));
    }
}

#[test]
fn institutions_that_are_killed_publish_the_groups_that_a_simulation_does() {
    killed_and_whole(
        300,
        "name = \"d2pt\"\nanonymizer = \"optimal\"\nsynchronizer = \"dpp2ga\"",
    );
}

#[test]
fn institutions_that_are_killed_publish_the_clusters_that_a_simulation_does() {
    killed_and_whole(120, "name = \"clustering\"");
}

#[test]
fn institutions_that_are_killed_publish_the_cuts_that_a_simulation_does() {
    killed_and_whole(300, "name = \"mondrian\"\nrecode = \"range\"");
    killed_and_whole(
        300,
        "name = \"mondrian\"\nrecode = \"set\"\nfragments = true",
    );
}

#[test]
fn institutions_count_what_a_simulation_counts() {
    for algorithm in ["name = \"d2pt\"", "name = \"mondrian\""] {
        counted_alike(algorithm);
    }
}

fn counted_alike(algorithm: &str) {
    let folder = prepared(100, algorithm);
    let path = folder.path();
    let mut running = start_all(path, &INSTITUTIONS, 0);
    running.iter_mut().for_each(Site::end);
    let mut cost = [0, 0, 0];
    for name in INSTITUTIONS {
        let said = std::fs::read_to_string(path.join(format!("{name}-0.out"))).unwrap();
        let said: serde_json::Value = serde_json::from_str(&said).unwrap();
        let number = |key: &str| said["cost"][key].as_u64().unwrap();
        cost[0] = number("rounds").max(cost[0]);
        cost[1] += number("messages");
        cost[2] += number("bytes");
    }
    let expected = &simulate(path)["cost"];
    let expected = ["rounds", "messages", "bytes"].map(|key| expected[key].as_u64().unwrap());
    assert_eq!(cost, expected);
}

#[test]
fn every_kind_of_vertical_study_lists_what_it_discloses() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    write_tables(path, 60);
    std::fs::rename(path.join("c/study.toml"), path.join("c/generated.toml")).unwrap();
    let mut seen: Vec<String> = Vec::new();
    for security in ["hardened", "published"] {
        for algorithm in [
            "synchronizer = \"merge\"",
            "synchronizer = \"fork\"\nrestore = true",
            "synchronizer = \"identity\"\nsuppression = 0.1",
            "synchronizer = \"dpp2ga\"\nanonymizer = \"optimal\"",
            "name = \"clustering\"\nstarts = 2",
            "name = \"mondrian\"",
            "name = \"mondrian\"\nrecode = \"set\"\nfragments = true",
        ] {
            write_study(path, security, algorithm);
            let announced = announced(path);
            for what in listed(&simulate(path), "ledger", "what") {
                assert!(
                    announced.contains(&what),
                    "`{what}` in {security}, {algorithm}"
                );
                if !seen.contains(&what) {
                    seen.push(what);
                }
            }
        }
    }
    assert!(seen.len() >= 24, "{seen:?}");
}

/// Waits for sites that must fail, and gives what each says. The laboratory comes last, when the others
/// can hear of it.
fn failures(path: &Path) -> Vec<String> {
    let [clinic, laboratory, insurer] = INSTITUTIONS;
    let mut running = start_all(path, &[clinic, insurer], 0);
    let has_begun = |name: &str| {
        let entries = Journal::look(&path.join(format!("{name}-data")));
        entries.is_ok_and(|entries| !entries.is_empty())
    };
    let started = Instant::now();
    while !(has_begun(clinic) && has_begun(insurer)) {
        assert!(started.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(10));
    }
    running.insert(1, Site::start(path, laboratory, 0));
    let said = running.iter_mut().map(|site| {
        assert!(!site.child.wait().unwrap().success(), "{}", site.said());
        site.said()
    });
    let said: Vec<String> = said.collect();
    for name in INSTITUTIONS {
        assert!(!path.join(format!("{name}-data/release-1")).exists());
    }
    said
}

/// What logs and files of a site say, which others may read later.
fn kept(path: &Path, name: &str) -> Vec<u8> {
    let data = path.join(format!("{name}-data"));
    let all = if data.exists() {
        files(&data)
    } else {
        Vec::new()
    };
    let notes = all
        .iter()
        .filter(|file| file.extension().is_none_or(|end| end == "json"));
    notes
        .flat_map(|file| std::fs::read(file).unwrap())
        .collect()
}

#[test]
fn people_who_cannot_be_linked_end_a_run_without_their_names() {
    let folder = prepared(40, "name = \"d2pt\"");
    let path = folder.path();
    let lab = path.join("c/laboratory.csv");
    let text = std::fs::read_to_string(&lab).unwrap();
    let change = |line: &str| {
        for name in INSTITUTIONS {
            let _ = std::fs::remove_dir_all(path.join(format!("{name}-data")));
        }
        let _ = std::fs::remove_file(path.join("hedgerow-memory.sqlite"));
        std::fs::write(&lab, line).unwrap();
    };
    // Nobody whom all know.
    change(&text.replace("\nP", "\nQ"));
    for said in failures(path) {
        assert!(said.contains("no person is known to all sites"), "{said}");
    }
    // Fewer than k.
    let few: Vec<&str> = text.lines().take(5).collect();
    change(&few.join("\n"));
    for said in failures(path) {
        assert!(
            said.contains("all 4 records together do not satisfy k = 10"),
            "{said}"
        );
    }
    // The same person twice, by the rules of the study: this site's own fault, and nobody is named.
    let first = text.lines().nth(1).unwrap();
    change(&format!("{text}{}\n", first.replacen('P', "p", 1)));
    let said = failures(path);
    assert!(
        said[1].contains("1 record has another identifier than an earlier record"),
        "{}",
        said[1]
    );
    assert!(said[0].contains("laboratory"), "{}", said[0]);
    let person = first.split(',').next().unwrap();
    for (said, name) in said.iter().zip(INSTITUTIONS) {
        assert!(!said.to_lowercase().contains(&person.to_lowercase()));
        let kept = kept(path, name).to_ascii_lowercase();
        let person = person.to_lowercase();
        assert!(memchr::memmem::find(&kept, person.as_bytes()).is_none());
    }
}

/// Everything that a site's table could look like on a line: identifiers as they are, as they are
/// compared, and under a hash that everybody can compute; rows; columns.
fn raw_forms(path: &Path, place: usize) -> Vec<Form> {
    let study = Study::open(&path.join("c/study.toml")).unwrap();
    let file = path.join(format!("c/{}.csv", INSTITUTIONS[place]));
    let table = read_table(&file, &study.schema_at(place), &Others::Refuse, &()).unwrap();
    let mut forms: Vec<Form> = Vec::new();
    for key in study.identity.keys(&table).unwrap() {
        forms.push(("hashed key", blake3::hash(&key).as_bytes().to_vec()));
        forms.push(("key", key));
    }
    for position in 0..table.schema().attributes().len() {
        if let Some(codes) = table.codes(position) {
            forms.extend(number_forms(&codes.iter().take(24).collect::<Vec<u32>>()));
        }
    }
    for line in std::fs::read_to_string(file).unwrap().lines().skip(1) {
        let words: Vec<&str> = line.split(',').collect();
        let (person, values) = words.split_first().unwrap();
        forms.extend(text_forms(values));
        for person in [(*person).to_owned(), person.to_lowercase()] {
            let hash = blake3::hash(person.as_bytes());
            forms.push(("hashed identifier", hash.as_bytes().to_vec()));
            forms.push(("identifier", person.into_bytes()));
        }
    }
    forms
}

#[test]
fn nothing_raw_leaves_an_institution() {
    for algorithm in [
        "name = \"d2pt\"\nsynchronizer = \"dpp2ga\"\nanonymizer = \"optimal\"",
        "name = \"d2pt\"\nrestore = true",
        "name = \"clustering\"",
        "name = \"mondrian\"\nrecode = \"set\"",
        "name = \"mondrian\"\nfragments = true",
    ] {
        let folder = prepared(80, algorithm);
        let path = folder.path();
        let messages = simulate(path)["cost"]["messages"].as_u64().unwrap();
        let running = run_to_the_seals(path, &INSTITUTIONS, messages);
        for (place, (name, site)) in INSTITUTIONS.iter().zip(&running).enumerate() {
            let forms = raw_forms(path, place);
            let frames = sent(path, &INSTITUTIONS, name);
            assert!(frames.len() > 10_000);
            assert_eq!(leak(&frames, &forms), None, "{algorithm}: frames of {name}");
            let mut said = site.said().into_bytes();
            said.extend(std::fs::read(path.join(format!("{name}-0.out"))).unwrap());
            assert_eq!(leak(&said, &forms), None, "{algorithm}: {name}");
            // The search finds a row that is there.
            let rows = std::fs::read(path.join(format!("c/{name}.csv"))).unwrap();
            assert!(leak(&rows, &forms).is_some());
        }
    }
}

#[test]
fn a_study_that_does_not_say_who_holds_what_is_not_run() {
    let folder = prepared(40, "name = \"d2pt\"");
    let path = folder.path();
    let study = path.join("c/study.toml");
    let text = std::fs::read_to_string(&study).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with("columns ="));
    std::fs::write(&study, lines.collect::<Vec<_>>().join("\n")).unwrap();
    let done = hedgerow(path, &["study", "show", "c/study.toml"]);
    assert_eq!(done.code, 2);
    assert!(
        done.stderr
            .contains("the study does not say which site holds which column"),
        "{}",
        done.stderr
    );
}
