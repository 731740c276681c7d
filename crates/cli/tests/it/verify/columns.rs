//! Columns that may name people though no quasi-identifier does: without a role, published as they
//! are, or called like identifiers.

use std::collections::HashMap;
use std::path::Path;

use hedgerow_testing::{StudyText, integer, values};

use crate::{Done, RELEASE, assert_refused, hedgerow, json, small, study};

/// The release of `small` with one more column, which names everybody.
fn named(folder: &Path, column: &str, names: [&str; 5]) {
    let lines = RELEASE.lines().zip([column].into_iter().chain(names));
    let text: String = lines
        .map(|(line, name)| format!("{line},{name}\n"))
        .collect();
    std::fs::write(folder.join("named.csv"), text).unwrap();
}

const WORDS: [&str; 5] = ["ape", "bee", "cat", "dog", "eel"];

fn verify(folder: &Path, more: &[&str]) -> Done {
    hedgerow(folder, &[&["verify", "named.csv"], more].concat())
}

#[test]
fn a_column_without_a_role_is_not_shown_to_be_anonymous() {
    let folder = small();
    let path = folder.path();
    named(path, "note", WORDS);
    let alone = [
        "--quasi",
        "age,zip",
        "--sensitive",
        "disease",
        "--against",
        "k = 2, l = 2",
    ];
    let study = ["--study", "study.toml"];
    for roles in [&alone[..], &study] {
        let done = verify(path, roles);
        assert_eq!(
            (done.code, done.stderr.as_str()),
            (1, ""),
            "{}",
            done.stdout
        );
        assert!(
            done.stdout
                .starts_with("NOT SHOWN: named.csv, 5 records in 2 classes\n"),
            "{}",
            done.stdout
        );
        assert!(
            done.stdout.contains(
                "column `note` has no role: what is said of people there is not known, so nothing is shown\nhint: give every column a role, or name in --ignore"
            ),
            "{}",
            done.stdout
        );
        let said = json(&verify(path, &[roles, &["--json"]].concat()));
        assert_eq!(
            (&said["holds"], &said["not_shown"]),
            (&false.into(), &true.into())
        );
        assert_eq!(said["unexplained"], serde_json::json!(["note"]));
        // Somebody answers for it; that it looks like an identifier is said all the same.
        let done = verify(path, &[roles, &["--ignore", "note"]].concat());
        assert_eq!(done.code, 0, "{}", done.stdout);
        assert!(done.stdout.starts_with("HOLDS: "), "{}", done.stdout);
        assert!(
            done.stdout.contains(
                "warning: column `note` looks like an identifier: 5 of 5 records have a text of their own there"
            ),
            "{}",
            done.stdout
        );
        // What fails is not merely not shown.
        let demand = ["--against", "k = 3"];
        let roles: Vec<&str> = roles
            .iter()
            .copied()
            .take_while(|word| *word != "--against")
            .collect();
        let done = verify(path, &[&roles[..], &demand].concat());
        assert!(
            done.stdout.starts_with("DOES NOT HOLD: "),
            "{}",
            done.stdout
        );
    }
    // Several, by comma or one by one; the provider's has its role.
    let text = std::fs::read_to_string(path.join("named.csv")).unwrap();
    let lines = text
        .lines()
        .zip(["ward,site", "1,A", "1,B", "2,A", "2,A", "2,B"]);
    let text: String = lines
        .map(|(line, more)| format!("{line},{more}\n"))
        .collect();
    std::fs::write(path.join("named.csv"), text).unwrap();
    let provider = [&alone[..], &["--provider-column", "site"]].concat();
    let done = verify(path, &provider);
    assert!(
        done.stdout.contains("columns `note`, `ward` have no role"),
        "{}",
        done.stdout
    );
    for ignore in [
        &["--ignore", "note,ward"][..],
        &["--ignore", "note", "--ignore", "ward"],
    ] {
        assert_eq!(verify(path, &[&provider, ignore].concat()).code, 0);
    }
}

#[test]
fn only_what_is_there_and_has_no_role_is_ignored() {
    let folder = small();
    let path = folder.path();
    named(path, "note", WORDS);
    let study = |column: &str| verify(path, &["--study", "study.toml", "--ignore", column]);
    assert_refused(
        &study("notes"),
        "named.csv: there is no column `notes` to ignore\nhint: the file has `age`, `zip`, `disease`, `note`",
    );
    assert_refused(
        &study("zip"),
        "--ignore: column `zip` has a role in the study\nhint: only a column without one can be ignored",
    );
    assert_refused(
        &verify(path, &["--quasi", "age, zip", "--ignore", " zip"]),
        "column `zip` is named twice\nhint: a column has one role",
    );
    assert_refused(
        &verify(path, &["--quasi", "age,zip", "--ignore", "zap"]),
        "named.csv: there is no column `zap` to ignore\nhint: the file has `age`, `zip`, `disease`, `note`",
    );
}

#[test]
fn columns_that_are_called_like_identifiers_are_warned_of() {
    let folder = small();
    let path = folder.path();
    let study = study().algorithm("covers = \"box\"").to_string();
    let study = study.replace("\"disease\"", "\"patient name\"");
    std::fs::write(path.join("study.toml"), &study).unwrap();
    let release = RELEASE.replace("disease", "patient name");
    std::fs::write(path.join("release.csv"), release).unwrap();
    let warning = "column `patient name` is called like an identifier\nhint: a column that names people has role = \"identifier\", and no release has it";
    let done = hedgerow(path, &["verify", "release.csv", "--study", "study.toml"]);
    assert_eq!(done.code, 0, "{}", done.stdout);
    assert!(
        done.stdout.contains(&format!("\nwarning: {warning}\n")),
        "{}",
        done.stdout
    );
    let said = json(&hedgerow(
        path,
        &["verify", "release.csv", "--study", "study.toml", "--json"],
    ));
    assert_eq!(said["suspects"], serde_json::json!([warning]));
    let done = hedgerow(path, &["study", "check", "study.toml", "--json"]);
    assert_eq!(
        (done.code, done.stderr.as_str()),
        (0, format!("warning: {warning}\n").as_str())
    );
    assert_eq!(json(&done)["warnings"], serde_json::json!([warning]));
}

/// A study with two columns that are published as they are, and rows: `bill` singles out some.
fn billed(folder: &Path, bills: &[u32], more: &str) {
    let study = StudyText::new("bills")
        .quasi("age", integer(0..=99))
        .sensitive("disease", values(["flu", "ulcer"]))
        .other("bill", format!("{}\n{more}", integer(0..=999)))
        .other("ward", integer(0..=9))
        .require("k = 2");
    std::fs::write(folder.join("study.toml"), study.to_string()).unwrap();
    let mut rows = String::from("age,disease,bill,ward\n");
    for (row, bill) in bills.iter().enumerate() {
        let disease = ["flu", "ulcer"][row % 2];
        rows.push_str(&format!(
            "{},{disease},{bill},{}\n",
            row * 7 % 100,
            ward(row)
        ));
    }
    std::fs::write(folder.join("rows.csv"), rows).unwrap();
}

/// Skewed: most are in the first.
fn ward(row: usize) -> usize {
    row % 5 / 4 + row % 9 / 8
}

/// Records that are alone, counted from the raw rows.
fn alone<K: std::hash::Hash + Eq>(keys: impl Iterator<Item = K>) -> u64 {
    let mut counts: HashMap<K, u64> = HashMap::new();
    keys.for_each(|key| *counts.entry(key).or_default() += 1);
    counts.values().filter(|count| **count == 1).count() as u64
}

#[test]
fn what_singles_out_records_is_refused_before_anything_is_made() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let anonymize = [
        "anonymize",
        "--force",
        "--study",
        "study.toml",
        "rows.csv",
        "--out",
        "release",
    ];
    let simulate = [
        "simulate",
        "--force",
        "--study",
        "study.toml",
        "--sites",
        "2",
        "rows.csv",
        "--out",
        "release",
    ];
    let check = ["study", "check", "study.toml", "rows.csv"];
    // 60 records: three are one in twenty, four are more.
    let bills = |rare: u32| -> Vec<u32> {
        let common = (0..60 - rare).map(|row| row % 3);
        common.chain((0..rare).map(|one| 100 + one)).collect()
    };
    billed(path, &bills(4), "");
    let refusal = "rows.csv: column `bill` is published as it is, and 4 of 60 records have a value there that no other has: 6.7 %, at most 5 % may\nhint: make its values coarser, give it another role, or write publish_unique = true at the attribute";
    for arguments in [&anonymize[..], &simulate, &check] {
        assert_refused(&hedgerow(path, arguments), refusal);
        assert!(!path.join("release").exists());
    }
    // The study may allow it; that it does is said.
    billed(path, &bills(4), "publish_unique = true\n");
    for arguments in [&anonymize[..], &simulate, &check] {
        let done = hedgerow(path, arguments);
        assert_eq!(done.code, 0, "{}", done.stderr);
    }
    let done = hedgerow(path, &check);
    for words in [
        "published though it may single records out",
        "singled out by what is published as it is\n",
        "  bill                                       4 (6.67 %)  publish_unique\n",
    ] {
        assert!(done.stdout.contains(words), "{words}: {}", done.stdout);
    }
    // And verify and the report count it anew, in the release.
    let together = alone(
        bills(4)
            .iter()
            .enumerate()
            .map(|(row, bill)| (*bill, ward(row))),
    );
    let said = json(&hedgerow(
        path,
        &["verify", "release", "--study", "study.toml", "--json"],
    ));
    assert_eq!(said["holds"], true);
    let other = &said["other"];
    assert_eq!(other["columns"][0]["name"], "bill");
    assert_eq!(other["columns"][0]["unique"], 4);
    assert_eq!(other["columns"][0]["publish_unique"], true);
    assert_eq!(other["columns"][1]["unique"], alone((0..60).map(ward)));
    assert_eq!(other["together"]["unique"], together);
    assert!((other["together"]["share"].as_f64().unwrap() - together as f64 / 60.0).abs() < 1e-12);
    assert_eq!(other["refused"], false);
    let said = json(&hedgerow(path, &[&check[..], &["--json"]].concat()));
    assert_eq!(&said["tables"][0]["other"], other);
    let page = std::fs::read_to_string(path.join("release/report.html")).unwrap();
    for words in [
        "Columns that are published as they are",
        "6.67 %",
        "all of these together",
    ] {
        assert!(page.contains(words), "{words}");
    }
    // Under a study that does not allow it, the same table does not hold.
    let text = std::fs::read_to_string(path.join("study.toml")).unwrap();
    std::fs::write(
        path.join("strict.toml"),
        text.replace("publish_unique = true\n", ""),
    )
    .unwrap();
    let done = hedgerow(
        path,
        &["verify", "release/release.csv", "--study", "strict.toml"],
    );
    assert_eq!(done.code, 1);
    assert!(
        done.stdout.starts_with("DOES NOT HOLD: "),
        "{}",
        done.stdout
    );
    assert!(
        done.stdout
            .contains("column `bill` is published as it is, and 4 of 60"),
        "{}",
        done.stdout
    );
    // At one in twenty it may, but not together with the one record that is alone in its ward.
    let together = |bills: Vec<u32>| {
        let pairs = bills.into_iter().enumerate();
        alone(pairs.map(|(row, bill)| (bill, ward(row))))
    };
    assert_eq!((together(bills(3)), together(bills(2))), (4, 3));
    billed(path, &bills(3), "");
    for arguments in [&anonymize[..], &simulate, &check] {
        assert_refused(
            &hedgerow(path, arguments),
            "rows.csv: columns `bill`, `ward` are published as they are, and together single out 4 of 60 records: 6.7 %, at most 5 % may\nhint: make their values coarser, give one another role, or write publish_unique = true at the attribute that may single them out",
        );
    }
    for (rare, more) in [(3, "publish_unique = true\n"), (2, "")] {
        billed(path, &bills(rare), more);
        let done = hedgerow(path, &check);
        assert_eq!(done.code, 0, "{}", done.stderr);
    }
}

#[test]
fn everything_that_is_wrong_is_said_at_once() {
    let folder = small();
    let path = folder.path();
    let study = StudyText::small().other("phone", "").require("k = 20");
    std::fs::write(path.join("study.toml"), study.to_string()).unwrap();
    let rows = "age,zip,disease,phone\n20,101,flu,1\n30,102,flu,2\n";
    std::fs::write(path.join("one.csv"), rows).unwrap();
    std::fs::write(path.join("two.csv"), rows.replace("101", "103")).unwrap();
    let done = hedgerow(
        path,
        &["study", "check", "study.toml", "one.csv", "two.csv"],
    );
    assert_eq!(
        done.stderr,
        "warning: column `phone` is called like an identifier\nhint: a column that names people has role = \"identifier\", and no release has it\n\
         error: study.toml: column `phone` is text, which a joint release cannot carry\nhint: declare its values, or give it role = \"identifier\"\n\
         error: one.csv: column `phone` is published as it is, and 2 of 2 records have a value there that no other has: 100.0 %, at most 5 % may\nhint: make its values coarser, give it another role, or write publish_unique = true at the attribute\n\
         error: two.csv:2: column `zip`: value `103` is outside its 3 values\nhint: nearest valid values are `101`, `102`\n"
    );
    assert_eq!((done.code, done.stdout.as_str()), (2, ""));
    let done = hedgerow(path, &["study", "check", "study.toml", "one.csv"]);
    assert!(
        done.stderr.ends_with(
            "error: study.toml: k = 20 cannot be met: the tables hold 2 records\nhint: the largest k that can be met is 2\n"
        ),
        "{}",
        done.stderr
    );
}

/// Every study that can be generated passes with its own tables, each site's and all together.
#[test]
fn generated_tables_single_out_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    for (kind, seed, rows) in [
        ("hospital", "1", "240"),
        ("hospital", "7", "900"),
        ("hospital", "3", "10000"),
        ("census", "1", "900"),
        ("institutions", "1", "120"),
        ("institutions", "5", "2000"),
    ] {
        let out = format!("{kind}-{rows}");
        let done = hedgerow(
            path,
            &[
                "generate", kind, "--rows", rows, "--sites", "3", "--seed", seed, "--out", &out,
            ],
        );
        assert_eq!(done.code, 0, "{}", done.stderr);
        let study = format!("{out}/study.toml");
        let entries = std::fs::read_dir(path.join(&out)).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let tables: Vec<String> = names.filter(|name| name.ends_with(".csv")).collect();
        assert_eq!(tables.len(), 3, "{kind}");
        for table in tables {
            let own = format!("{out}/{table}");
            let site = table.trim_end_matches(".csv");
            let mut arguments = vec!["study", "check", &study, &own];
            if kind == "institutions" {
                arguments.extend(["--site", site]);
            }
            let done = hedgerow(path, &arguments);
            assert_eq!(done.code, 0, "{kind} {rows} {table}: {}", done.stderr);
            // Ranges end at somebody's values where a study writes them tight; nothing else is warned of.
            let mut warnings = done
                .stderr
                .lines()
                .filter(|line| line.starts_with("warning: "));
            assert!(
                warnings.all(|line| line.contains("ranges that end at somebody's values")),
                "{kind} {rows} {table}: {}",
                done.stderr
            );
        }
    }
}
