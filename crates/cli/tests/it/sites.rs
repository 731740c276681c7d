//! Which site holds which row, and what the sites gain over going alone: `--split`,
//! `--independent`, `--provider-column`.

use std::path::Path;

use serde_json::Value;

use super::joint::census;
use super::{assert_refused, hedgerow, json};

/// Runs a command that must succeed and gives its JSON.
pub(super) fn ok(folder: &Path, line: &str) -> Value {
    let mut arguments: Vec<&str> = line.split(' ').collect();
    arguments.push("--json");
    let done = hedgerow(folder, &arguments);
    assert_eq!(done.code, 0, "{line}: {}", done.stderr);
    json(&done)
}

/// Runs a command that must be refused with this message.
pub(super) fn refused(folder: &Path, line: &str, message: &str) {
    let arguments: Vec<&str> = line.split(' ').collect();
    assert_refused(&hedgerow(folder, &arguments), message);
    assert!(!folder.join("release").exists(), "nothing is written");
}

pub(super) fn read(folder: &Path, name: &str) -> String {
    std::fs::read_to_string(folder.join(name)).unwrap()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

fn assert_close(a: f64, b: f64) {
    assert!((a - b).abs() < 1e-12, "{a} is not {b}");
}

/// The same study with another requirement.
fn require(folder: &Path, lines: &str) {
    let study = read(folder, "c/study.toml");
    let (before, after) = study.split_once("[require]").unwrap();
    let (_, after) = after.split_once("[algorithm]").unwrap();
    let changed = format!("{before}[require]\n{lines}\n[algorithm]{after}");
    std::fs::write(folder.join("c/changed.toml"), changed).unwrap();
}

/// What `verify` says of the united releases that `anonymize` makes of each site's rows. The last
/// column of the table names the site; sites in `without` publish nothing.
fn united(folder: &Path, study: &str, table: &str, without: &[&str]) -> Value {
    let text = read(folder, table);
    let split = |line: &str| {
        let (row, site) = line.rsplit_once(',').unwrap();
        (row.to_owned(), site.to_owned())
    };
    let (header, _) = split(text.lines().next().unwrap());
    let mut sites: Vec<String> = text.lines().skip(1).map(|line| split(line).1).collect();
    sites.sort_unstable();
    sites.dedup();
    let mut all = String::new();
    for site in sites
        .iter()
        .filter(|site| !without.contains(&site.as_str()))
    {
        let own = text.lines().skip(1).map(split);
        let own = own.filter(|(_, owner)| owner == site);
        let rows: String = own.map(|(row, _)| format!("{row}\n")).collect();
        std::fs::write(folder.join("own.csv"), format!("{header}\n{rows}")).unwrap();
        ok(
            folder,
            &format!("anonymize --force --study {study} own.csv --out own"),
        );
        let release = read(folder, "own/release.csv");
        let (head, rows) = release.split_once('\n').unwrap();
        if all.is_empty() {
            all = format!("{head}\n");
        }
        all.push_str(rows);
    }
    std::fs::write(folder.join("united.csv"), all).unwrap();
    ok(
        folder,
        &format!("verify united.csv --study {study} --original alone.csv"),
    )
}

#[test]
fn baselines_are_what_the_other_commands_say() {
    let folder = census();
    let folder = folder.path();
    require(folder, "k = 10\nl = 3");
    let run = "simulate --force --study c/changed.toml c/census.csv --provider-column site";
    let summary = ok(folder, &format!("{run} --out many --independent"));
    let baselines = &summary["baselines"];
    assert_eq!(baselines["joint_equals_central"], true);

    let verify = "verify many --study c/changed.toml --original alone.csv";
    let seen = ok(folder, verify);
    let joint = &baselines["joint"];
    assert_eq!(joint["classes"], seen["classes"]);
    for key in ["ncp_present", "ncp", "lm", "average_class_size"] {
        assert_close(number(&joint[key]), number(&seen["utility"][key]));
    }
    assert_eq!(joint, &baselines["central"]);

    let seen = united(folder, "c/changed.toml", "c/census.csv", &[]);
    let alone = &baselines["each_alone"];
    assert_eq!(alone["classes"], seen["classes"]);
    for key in ["ncp_present", "ncp", "lm", "average_class_size"] {
        assert_close(number(&alone[key]), number(&seen["utility"][key]));
    }
    assert_eq!(alone["unpublished"], 0);
    assert_eq!(alone.get("cannot_publish"), None);
    assert!(number(&alone["ncp"]) > number(&joint["ncp"]));

    // Nobody asked: nothing is said, and the rest is the same.
    let plain = ok(folder, &format!("{run} --out many"));
    assert_eq!(plain.get("baselines"), None);
    assert_eq!(plain["cost"]["rounds"], summary["cost"]["rounds"]);
    assert_eq!(plain["utility"], summary["utility"]);

    let arguments: Vec<&str> = run.split(' ').chain(["--independent"]).collect();
    let done = hedgerow(folder, &arguments);
    assert_eq!(done.code, 0, "{}", done.stderr);
    for line in [
        "  central ",
        "  joint ",
        "  each alone ",
        "  joint equals central, row for row\n",
    ] {
        assert!(done.stdout.contains(line), "{line}: {}", done.stdout);
    }
}

#[test]
fn a_site_too_small_to_publish_loses_its_records() {
    let folder = census();
    let folder = folder.path();
    require(folder, "k = 10\nl = 3");
    // The first seven records belong to a site of their own.
    let text = read(folder, "c/census.csv");
    let lines = text.lines().enumerate();
    let changed: String = lines
        .map(|(place, line)| match (1..=7).contains(&place) {
            true => format!("{},tiny\n", line.rsplit_once(',').unwrap().0),
            false => format!("{line}\n"),
        })
        .collect();
    std::fs::write(folder.join("tiny.csv"), changed).unwrap();
    let run =
        "simulate --force --study c/changed.toml tiny.csv --provider-column site --independent";
    let summary = ok(folder, run);
    assert_eq!(summary["sites"], 4);
    let alone = &summary["baselines"]["each_alone"];
    assert_eq!(alone["unpublished"], 7);
    let expected = serde_json::json!([{ "site": "tiny", "records": 7, "fails": "k = 10" }]);
    assert_eq!(alone["cannot_publish"], expected);

    // What the others publish, and seven records of loss 1.
    let seen = united(folder, "c/changed.toml", "tiny.csv", &["tiny"]);
    assert_eq!(alone["classes"], seen["classes"]);
    for key in ["ncp_present", "ncp", "lm"] {
        let expected = (1993.0 * number(&seen["utility"][key]) + 7.0) / 2000.0;
        assert_close(number(&alone[key]), expected);
    }
    let done = hedgerow(folder, &run.split(' ').collect::<Vec<_>>());
    assert!(
        done.stdout.contains("  alone, 1 site cannot meet the requirement: 7 records unpublished, counted as fully generalized (loss 1)\n    site tiny: 7 records fail k = 10\n"),
        "{}",
        done.stdout
    );

    // Nobody can publish alone: all is lost, and together nothing has to be.
    require(folder, "k = 900");
    let run = "simulate --force --study c/changed.toml alone.csv --sites 3 --independent";
    let summary = ok(folder, run);
    let alone = &summary["baselines"]["each_alone"];
    assert_eq!((&alone["classes"], &alone["ncp"]), (&0.into(), &1.0.into()));
    assert_eq!(alone["unpublished"], 2000);
    assert_eq!(alone.get("average_class_size"), None);
    assert_eq!(summary["baselines"]["joint_equals_central"], true);
}

#[test]
fn what_speaks_of_sites_is_left_out_alone_and_kept_centrally() {
    let folder = census();
    let folder = folder.path();
    require(folder, "k = 5\nsite_diversity = 2");
    let run = "simulate --force --study c/changed.toml alone.csv --sites 4 --split column --by age";
    let summary = ok(folder, &format!("{run} --independent --out many"));
    let baselines = &summary["baselines"];
    // Were the one party not told the owners, it would publish finer classes.
    assert_eq!(baselines["joint_equals_central"], true);
    let left_out = &baselines["each_alone"]["left_out"];
    assert_eq!(left_out, &serde_json::json!(["site diversity 2"]));
    assert!(summary["achieved"]["site_diversity"].as_u64().unwrap() >= 2);
    let arguments = format!("{run} --independent");
    let done = hedgerow(folder, &arguments.split(' ').collect::<Vec<_>>());
    let note = "  each alone leaves out site diversity 2, which speaks of other sites\n";
    assert!(done.stdout.contains(note), "{}", done.stdout);

    require(folder, "k = 5");
    let without = ok(folder, &format!("{run} --out without"));
    assert!(without["classes"].as_u64() > summary["classes"].as_u64());

    let run = "simulate --force --study c/changed.toml alone.csv --sites 3 --split random --out m";
    require(folder, "k = 5\nl = 2");
    let without = ok(folder, run);
    require(folder, "k = 5\nl = 2\nm = 1");
    for algorithm in ["mondrian", "provider-aware"] {
        let study = read(folder, "c/changed.toml")
            .replace("name = \"mondrian\"", &format!("name = \"{algorithm}\""));
        std::fs::write(folder.join("c/m.toml"), study).unwrap();
        let run =
            "simulate --force --study c/m.toml alone.csv --sites 3 --split random --independent";
        let summary = ok(folder, run);
        let baselines = &summary["baselines"];
        assert_eq!(baselines["joint_equals_central"], true, "{algorithm}");
        let left_out = &baselines["each_alone"]["left_out"];
        assert_eq!(left_out, &serde_json::json!(["m = 1"]), "{algorithm}");
        assert_eq!(baselines["each_alone"]["unpublished"], 0, "{algorithm}");
        // A class of one site has nobody to protect from it; others are larger than without m.
        assert!(
            summary["classes"].as_u64() < without["classes"].as_u64(),
            "{algorithm}"
        );
    }
}

/// A region is the rows of one value: as many sites as values is the column as provider.
#[test]
fn a_split_by_column_is_by_its_values() {
    let folder = census();
    let folder = folder.path();
    require(folder, "k = 10");
    let study = "simulate --force --study c/changed.toml alone.csv --independent";
    let regions = ok(
        folder,
        &format!("{study} --sites 2 --split column --by sex"),
    );
    let named = ok(folder, &format!("{study} --provider-column sex"));
    assert_eq!(regions["baselines"], named["baselines"]);
    assert_eq!(named["sites"], 2);

    // Sites that the values cannot fill stay empty, and a person is told.
    let line = format!("{study} --sites 5 --split column --by sex --json");
    let done = hedgerow(folder, &line.split(' ').collect::<Vec<_>>());
    assert_eq!(done.code, 0, "{}", done.stderr);
    let note = "note: 3 of 5 sites hold no records: rows equal in `sex` stay at one site, and there are 2 kinds of them\n";
    assert!(done.stderr.starts_with(note), "{}", done.stderr);
    let empty = json(&done);
    assert_eq!(empty["sites"], 5);
    assert_eq!(empty["baselines"], named["baselines"]);

    // Several columns: sex first, then age within.
    let both = ok(
        folder,
        &format!("{study} --sites 2 --split column --by sex,age"),
    );
    assert_ne!(both["baselines"]["each_alone"], Value::Null);
    let turned = ok(
        folder,
        &format!("{study} --sites 2 --split column --by age,sex"),
    );
    assert_ne!(both["baselines"], turned["baselines"]);
}

/// Sites as the papers had them: a hundred by region and age, ten of an exponential distribution.
#[test]
fn uneven_sites_publish_what_one_party_does() {
    let folder = census();
    let folder = folder.path();
    require(folder, "k = 10");
    let study = "simulate --force --study c/changed.toml alone.csv --independent";
    for split in [
        "--sites 100 --split bands --by native-country,age --at 25,56",
        "--sites 10 --split exponential",
    ] {
        let done = ok(folder, &format!("{study} {split}"));
        assert_eq!(done["baselines"]["joint_equals_central"], true, "{split}");
    }
}

/// Which way numbers go changes what is sent, and nothing of what is published or learned.
#[test]
fn every_shape_gives_the_same_release_byte_for_byte() {
    let folder = census();
    let folder = folder.path();
    let study = read(folder, "c/study.toml");
    let mut costs = Vec::new();
    let mut outcomes = Vec::new();
    for shape in ["mesh", "star", "tree"] {
        let text = format!("{study}\n[network]\nshape = \"{shape}\"\n");
        std::fs::write(folder.join("c/shaped.toml"), text).unwrap();
        let line =
            format!("simulate --force --study c/shaped.toml alone.csv --sites 20 --out {shape}");
        let done = ok(folder, &line);
        let said = if shape == "mesh" {
            Value::Null
        } else {
            shape.into()
        };
        assert_eq!(done["shape"], said);
        outcomes.push((
            read(folder, &format!("{shape}/release.csv")),
            std::fs::read(folder.join(shape).join("release.parquet")).unwrap(),
            done["ledger"].clone(),
        ));
        let of = |key: &str| done["cost"][key].as_u64().unwrap();
        costs.push((of("messages"), of("bytes"), of("rounds")));
    }
    assert!(outcomes.iter().all(|outcome| *outcome == outcomes[0]));
    let [mesh, star, tree] = costs[..] else {
        panic!("three shapes")
    };
    assert!(star.0 < mesh.0 / 2 && star.1 < mesh.1 / 2, "{costs:?}");
    assert_eq!(star.0, tree.0, "both send up and down");
    assert!(mesh.2 < star.2 && star.2 < tree.2, "{costs:?}");
}

/// Beyond 128 sites masks are shared along a circle, and many sites hold next to nothing.
#[test]
fn a_hundred_and_fifty_sites_publish_what_one_party_does() {
    let folder = census();
    let folder = folder.path();
    require(folder, "k = 10");
    let line = "simulate --force --study c/changed.toml alone.csv --independent --sites 150";
    let done = ok(folder, line);
    assert_eq!(done["baselines"]["joint_equals_central"], true);
    assert_eq!(done["shape"], "star");
    // Each with the 60 with which it shares masks once, and a few for each call.
    let messages = done["cost"]["messages"].as_u64().unwrap();
    let calls = done["cost"]["smc_calls"].as_u64().unwrap();
    assert!(
        messages < 150 * (60 + 5) + 4 * 150 * calls,
        "{messages}, {calls}"
    );
}

#[test]
fn one_table_with_a_provider_column_is_what_its_sites_publish() {
    let folder = census();
    let folder = folder.path();
    let anonymize = "anonymize --force --study c/changed.toml c/census.csv --provider-column site";
    let simulate = "simulate --force --study c/changed.toml c/census.csv --provider-column site";
    for (requirement, least) in [
        ("k = 10", 1),
        ("k = 4\nsite_diversity = 2", 2),
        ("k = 4\nsite_diversity = 3", 3),
        ("k = 4\nm = 1", 1),
        ("k = 4\nm = 2", 1),
    ] {
        require(folder, requirement);
        let one = ok(folder, &format!("{anonymize} --out one"));
        let many = ok(folder, &format!("{simulate} --out many"));
        assert_eq!(one["sites"], 3, "{requirement}");
        assert_eq!(one["cost"]["rounds"], 0, "{requirement}");
        assert_eq!(one["achieved"], many["achieved"], "{requirement}");
        assert!(one["achieved"]["site_diversity"].as_u64().unwrap() >= least);
        assert_eq!(
            read(folder, "one/release.csv"),
            read(folder, "many/release.csv"),
            "{requirement}"
        );
        let release = read(folder, "one/release.csv");
        assert!(!release.lines().next().unwrap().contains("site"));
    }
}

#[test]
fn sites_that_make_no_sense_are_refused() {
    let folder = census();
    let folder = folder.path();
    let simulate = "simulate --force --study c/study.toml alone.csv --sites 3";
    refused(
        folder,
        &format!("{simulate} --split column"),
        "--split column does not say by which\nhint: name columns of the study, e.g. --by zip or --by zip,age",
    );
    for split in [
        "",
        " --split random",
        " --split sorted",
        " --split exponential",
    ] {
        refused(
            folder,
            &format!("{simulate}{split} --by age"),
            "--by is for --split column and --split bands only\nhint: add --split column, or leave --by out",
        );
    }
    for (line, said) in [
        (
            "--split bands --by age --at 25",
            "--split bands needs two columns\nhint: name the column whose values share the sites, and the column of the bands, e.g. --by region,age --at 25,56",
        ),
        (
            "--split bands --by sex,age",
            "--split bands does not say where bands begin\nhint: name ascending whole numbers, e.g. --by region,age --at 25,56",
        ),
        (
            "--split bands --by age,sex --at 25",
            "--by: column `sex` has the value `female`, and bands are of whole numbers\nhint: name a column of integers second, e.g. --by region,age",
        ),
        (
            "--at 25",
            "--at is for --split bands only\nhint: add --split bands, or leave --at out",
        ),
    ] {
        refused(folder, &format!("{simulate} {line}"), said);
    }
    refused(
        folder,
        &format!("{simulate} --split column --by age,natve-country"),
        "--by: the study has no column `natve-country`\nhint: did you mean `native-country`?",
    );
    refused(
        folder,
        &format!("{simulate} --split column --by zzz"),
        "--by: the study has no column `zzz`\nhint: the study has `sex`, `age`, `race`, `marital-status`, `education`, `native-country`, `workclass`, `occupation`, `salary-class`",
    );
    refused(
        folder,
        "simulate --force --study c/study.toml alone.csv --sites 0 --split column --by age",
        "--sites is 0, expected 1 or more",
    );
    refused(
        folder,
        "simulate --force --study c/study.toml alone.csv --sites 1001",
        "1,001 sites are too many for one process\nhint: the most is 1,000",
    );
    let done = hedgerow(
        folder,
        &[
            "simulate",
            "--force",
            "--study",
            "c/study.toml",
            "alone.csv",
        ],
    );
    assert_eq!(done.code, 2);

    for command in ["anonymize", "simulate"] {
        let column = |table: &str, name: &str| {
            format!("{command} --study c/study.toml {table} --provider-column {name}")
        };
        refused(
            folder,
            &column("c/census.csv", "sitte"),
            "c/census.csv:1: there is no column `sitte`\nhint: did you mean `site`?",
        );
        let text = read(folder, "c/census.csv");
        let mut lines: Vec<String> = text.lines().map(String::from).collect();
        lines[4] = format!("{},", lines[4].rsplit_once(',').unwrap().0);
        std::fs::write(folder.join("gap.csv"), lines.join("\n")).unwrap();
        refused(
            folder,
            &column("gap.csv", "site"),
            "gap.csv:5: column `site` names no site\nhint: every record belongs to a site",
        );
        std::fs::write(folder.join("none.csv"), format!("{}\n", lines[0])).unwrap();
        refused(
            folder,
            &column("none.csv", "site"),
            "none.csv: the table has no records, so column `site` names no site",
        );
    }
    for (requirement, model) in [
        ("k = 10\nsite_diversity = 2", "site diversity 2"),
        ("k = 10\nm = 1", "m = 1"),
    ] {
        require(folder, requirement);
        refused(
            folder,
            "anonymize --force --study c/changed.toml alone.csv",
            &format!(
                "c/changed.toml: {model} speaks of sites, and the table does not say whose its records are\nhint: give --provider-column, the column that names each record's site"
            ),
        );
    }
    require(folder, "k = 10\nsite_diversity = 4");
    let done = hedgerow(
        folder,
        &"anonymize --force --study c/changed.toml c/census.csv --provider-column site"
            .split(' ')
            .collect::<Vec<_>>(),
    );
    assert!(
        done.stderr.ends_with(
            "but there are only 3 sites\nhint: the largest value that can be met is 3\n"
        ),
        "{}",
        done.stderr
    );
}
