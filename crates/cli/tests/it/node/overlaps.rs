//! Runs of the same rows that a site's memory alone would not keep apart: a memory that was left behind,
//! and two runs that begin while neither has sent anything.

use std::path::Path;

use super::reruns::{Typed, accept, change, publish, run_at, until};
use super::{SITES, files, free_address, hedgerow, make_private, sites};

/// A site that moves with its key and its journal, and leaves its memory behind, has not forgotten what
/// its rows were in: the journal knows of the run.
#[test]
fn a_memory_that_was_left_behind_lets_nothing_through() {
    let folder = sites(300);
    let path = folder.path();
    publish(path, &SITES, "1");
    // Alone from here on: whatever passes the gate waits for the others for a second, and says so.
    change(path, "north", "patience = 60", "patience = 1");
    std::fs::create_dir(path.join("moved")).unwrap();
    std::fs::copy(path.join("north.key"), path.join("moved/north.key")).unwrap();
    make_private(&path.join("moved/north.key"));
    change(path, "north", "\"north.key\"", "\"moved/north.key\"");
    let second = || run_at(path, &["north"], "2").remove(0);
    let (code, said) = second();
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("accept.runs: allows one run, and "), "{said}");
    assert!(
        said.contains("was in run 1 of `census` (not in ")
            && said.contains("moved/hedgerow-memory.sqlite"),
        "{said}"
    );
    // Which rows that run had is not known, so these count as others.
    accept(path, "north", "runs = 2");
    let (code, said) = second();
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("accept.rerun: the rows of "), "{said}");
    // With its memory the site knows that they are the same.
    std::fs::copy(
        path.join("hedgerow-memory.sqlite"),
        path.join("moved/hedgerow-memory.sqlite"),
    )
    .unwrap();
    make_private(&path.join("moved/hedgerow-memory.sqlite"));
    let (_, said) = second();
    assert!(said.contains("`south` has been gone for 1 s"), "{said}");
}

/// Another study of the same sites and files, at other addresses; every site has a second file for it,
/// `north2.toml` and so on.
fn second_study(folder: &Path) {
    std::fs::create_dir_all(folder.join("d/taxonomies")).unwrap();
    for file in files(&folder.join("c/taxonomies")) {
        let copy = folder.join("d/taxonomies").join(file.file_name().unwrap());
        std::fs::copy(&file, copy).unwrap();
    }
    let study = std::fs::read_to_string(folder.join("c/study.toml")).unwrap();
    let lines = study.lines().map(|line| match line {
        "name = \"census\"" => String::from("name = \"census again\"\n"),
        line if line.starts_with("address = ") => format!("address = \"{}\"\n", free_address()),
        line => format!("{line}\n"),
    });
    std::fs::write(folder.join("d/study.toml"), lines.collect::<String>()).unwrap();
    for site in SITES {
        let key = format!("{site}.key");
        let done = hedgerow(folder, &["study", "sign", "--key", &key, "d/study.toml"]);
        assert_eq!(done.code, 0, "{}", done.stderr);
        let text = std::fs::read_to_string(folder.join(format!("{site}.toml"))).unwrap();
        let text = text.replace("c/study.toml", "d/study.toml");
        let text = text.replace(&format!("{site}-data"), &format!("{site}2-data"));
        let file = folder.join(format!("{site}2.toml"));
        std::fs::write(&file, text).unwrap();
        make_private(&file);
    }
}

/// Both runs were let through when nothing had been sent. The first that sends rows is the one that
/// `accept.runs` allows; the other sends nothing.
#[test]
fn of_two_runs_that_wait_for_their_peers_one_is_released() {
    let folder = sites(300);
    let path = folder.path();
    for site in &SITES[1..] {
        accept(path, site, "runs = 9");
    }
    second_study(path);
    let run = |site: &str| {
        let file = format!("{site}.toml");
        Typed::start(path, &format!("{site}.err"), &["run", "--site", &file])
    };
    let (mut first, mut second) = (run("north"), run("north2"));
    for (typed, data) in [(&first, "north-data"), (&second, "north2-data")] {
        until(&format!("{data} has the run: {}", typed.said()), || {
            let entries = hedgerow_node::journal::Journal::look(&path.join(data));
            entries.is_ok_and(|entries| !entries.is_empty())
        });
    }
    let mut others = [run("south2"), run("east2")];
    assert_eq!(second.code(), 0, "{}", second.said());
    for other in &mut others {
        assert_eq!(other.code(), 0, "{}", other.said());
    }
    let mut others = [run("south"), run("east")];
    assert_eq!(first.code(), 2, "{}", first.said());
    let why = "accept.runs: another run of the same source went first, so this one sends nothing";
    assert!(first.said().contains(why), "{}", first.said());
    for other in &mut others {
        assert_eq!(other.code(), 2, "{}", other.said());
        assert!(other.said().contains("`north`"), "{}", other.said());
    }
    assert!(path.join("north2-data/release-1").exists());
    for site in SITES {
        assert!(!path.join(format!("{site}-data/release-1")).exists());
    }
}
