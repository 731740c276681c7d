//! `hedgerow anonymize` and `hedgerow simulate`.

use super::{assert_refused, hedgerow, json};

/// A folder with a synthetic census of 2,000 people at three sites and its study.
pub(super) fn census() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let arguments = [
        "generate", "census", "--rows", "2000", "--sites", "3", "--pooled", "--out", "c",
    ];
    assert_eq!(hedgerow(folder.path(), &arguments).code, 0);
    // The same table without the sites.
    let text = std::fs::read_to_string(folder.path().join("c/census.csv")).unwrap();
    let alone: String = text
        .lines()
        .map(|line| format!("{}\n", line.rsplit_once(',').unwrap().0))
        .collect();
    std::fs::write(folder.path().join("alone.csv"), alone).unwrap();
    folder
}

#[test]
fn many_sites_publish_what_one_would() {
    let folder = census();
    let done = hedgerow(
        folder.path(),
        &[
            "anonymize",
            "--force",
            "--study",
            "c/study.toml",
            "alone.csv",
            "--out",
            "one",
            "--json",
        ],
    );
    assert_eq!(done.code, 0, "{}", done.stderr);
    let alone = json(&done);
    assert_eq!(alone["records"], 2000);
    assert!(alone["achieved"]["k"].as_u64().unwrap() >= 10);
    assert_eq!(alone["suppressed"], 0);
    assert_eq!(alone["cost"]["rounds"], 0);
    let seconds = |key: &str| alone["cost"][key].as_f64().unwrap();
    assert!(0.0 < seconds("protocol_seconds") && seconds("protocol_seconds") < seconds("seconds"));

    let release = |name: &str| std::fs::read(folder.path().join(name).join("release.csv")).unwrap();
    let splits: [&[&str]; 7] = [
        &["--sites", "2"],
        &["--sites", "4", "--split", "round-robin"],
        &["--sites", "4", "--split", "column", "--by", "age"],
        &["--sites", "3", "--split", "column", "--by", "race,age"],
        &["--sites", "3", "--split", "random"],
        &["--sites", "5", "--split", "sorted"],
        &["--sites", "1"],
    ];
    for split in splits {
        let mut arguments = vec![
            "simulate",
            "--force",
            "--study",
            "c/study.toml",
            "alone.csv",
            "--out",
            "many",
            "--json",
        ];
        arguments.extend(split);
        let done = hedgerow(folder.path(), &arguments);
        assert_eq!(done.code, 0, "{split:?}: {}", done.stderr);
        assert_eq!(release("many"), release("one"), "{split:?}");
        let summary = json(&done);
        assert_eq!(summary["classes"], alone["classes"]);
        assert_eq!(summary["utility"], alone["utility"]);
    }
    let by_column = [
        "simulate",
        "--force",
        "--study",
        "c/study.toml",
        "c/census.csv",
        "--provider-column",
        "site",
        "--out",
        "many",
        "--json",
    ];
    let summary = json(&hedgerow(folder.path(), &by_column));
    assert_eq!(summary["sites"], 3);
    assert!(summary["cost"]["rounds"].as_u64().unwrap() > 0);
    assert!(summary["ledger"].as_array().unwrap().len() > 3);
    assert_eq!(release("many"), release("one"));
    let done = hedgerow(
        folder.path(),
        &["verify", "many", "--study", "c/study.toml"],
    );
    assert_eq!(done.code, 0, "{}", done.stdout);
}

#[test]
fn the_same_release_in_every_recoding_and_level() {
    let folder = census();
    let study = std::fs::read_to_string(folder.path().join("c/study.toml")).unwrap();
    for (recode, cuts, security) in [
        ("range", "median", "hardened"),
        ("set", "children", "hardened"),
        ("node", "children", "published"),
    ] {
        let changed = study
            .replace(
                "recode = \"node\"",
                &format!("recode = \"{recode}\"\ncuts = \"{cuts}\""),
            )
            .replace(
                "partition = \"horizontal\"",
                &format!("partition = \"horizontal\"\nsecurity = \"{security}\""),
            );
        std::fs::write(folder.path().join("c/changed.toml"), changed).unwrap();
        let one = hedgerow(
            folder.path(),
            &[
                "anonymize",
                "--force",
                "--study",
                "c/changed.toml",
                "alone.csv",
                "--out",
                "one",
            ],
        );
        assert_eq!(one.code, 0, "{}", one.stderr);
        let many = hedgerow(
            folder.path(),
            &[
                "simulate",
                "--force",
                "--study",
                "c/changed.toml",
                "alone.csv",
                "--sites",
                "3",
                "--out",
                "many",
            ],
        );
        assert_eq!(many.code, 0, "{}", many.stderr);
        let release =
            |name: &str| std::fs::read(folder.path().join(name).join("release.csv")).unwrap();
        assert_eq!(
            release("many"),
            release("one"),
            "{recode} {cuts} {security}"
        );
        let done = hedgerow(
            folder.path(),
            &["verify", "many", "--study", "c/changed.toml"],
        );
        assert_eq!(done.code, 0, "{}", done.stdout);
    }
}

/// Diagnosis, treatment and cost have too many combinations to be counted: records are mixed.
#[test]
fn wide_verbatim_values_are_mixed() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = [
        "generate", "hospital", "--rows", "400", "--sites", "3", "--pooled", "--out", "h",
    ];
    assert_eq!(hedgerow(folder.path(), &arguments).code, 0);
    let text = std::fs::read_to_string(folder.path().join("h/hospital.csv")).unwrap();
    let lines = text.lines().map(|line| line.rsplit_once(',').unwrap().0);
    let alone: String = lines.map(|line| format!("{line}\n")).collect();
    std::fs::write(folder.path().join("alone.csv"), alone).unwrap();
    let one = [
        "anonymize",
        "--force",
        "--study",
        "h/study.toml",
        "alone.csv",
        "--out",
        "one",
    ];
    assert_eq!(hedgerow(folder.path(), &one).code, 0);
    let many = [
        "simulate",
        "--force",
        "--study",
        "h/study.toml",
        "h/hospital.csv",
        "--provider-column",
        "site",
        "--out",
        "many",
    ];
    let done = hedgerow(folder.path(), &many);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let release = |name: &str| std::fs::read(folder.path().join(name).join("release.csv")).unwrap();
    assert_eq!(release("many"), release("one"));
    let released = String::from_utf8(release("many")).unwrap();
    assert_eq!(released.lines().count(), 401);
    assert!(
        !released.lines().next().unwrap().contains("patient"),
        "identifiers are gone"
    );
}

#[test]
fn what_cannot_be_run_is_refused() {
    let folder = census();
    let study = std::fs::read_to_string(folder.path().join("c/study.toml")).unwrap();
    let run = |from: &str, to: &str| {
        std::fs::write(
            folder.path().join("c/changed.toml"),
            study.replace(from, to),
        )
        .unwrap();
        hedgerow(
            folder.path(),
            &[
                "anonymize",
                "--force",
                "--study",
                "c/changed.toml",
                "alone.csv",
            ],
        )
    };
    let done = run("k = 10", "k = 2001");
    assert_refused(
        &done,
        "the requirement cannot be met: all 2000 records together do not satisfy k = 2001\nhint: the largest value that could be met is 2000",
    );
    let done = run("name = \"mondrian\"", "name = \"d2pt\"");
    assert_refused(
        &done,
        "c/changed.toml:71: `algorithm.name` is `d2pt`, which is for vertical studies\nhint: horizontal ones have `mondrian`, `clustering`, `provider-aware`",
    );
    let done = run("k = 10", "k = 10\nm = 1");
    assert_eq!(done.code, 2);
    assert!(
        !folder.path().join("release").exists(),
        "nothing is written"
    );
    let done = hedgerow(
        folder.path(),
        &[
            "simulate",
            "--force",
            "--study",
            "c/study.toml",
            "alone.csv",
            "--sites",
            "0",
        ],
    );
    assert_refused(&done, "--sites is 0, expected 1 or more");
    // Said of the command, and not of a study that could not be met by nobody.
    assert_eq!(run("k = 10", "k = 10\nsite_diversity = 2").code, 2);
    let arguments = [
        "simulate",
        "--force",
        "--study",
        "c/changed.toml",
        "alone.csv",
        "--sites",
        "0",
    ];
    let done = hedgerow(folder.path(), &arguments);
    assert_refused(&done, "--sites is 0, expected 1 or more");
}
