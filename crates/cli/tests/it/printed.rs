//! Groups and what is printed of them: k counts the one, `k_printed` the other, and verdict, summary and report
//! say both. What is printed is counted again from the rows of `quasi.csv`.

use std::collections::BTreeMap;
use std::path::Path;

use super::shared::{SIMULATE, VERIFY, algorithm, write_people, write_study};
use super::sites::{ok, read};
use super::{hedgerow, json};

/// Records that are printed alike, from `quasi.csv`: how many of each kind there are.
fn alike(folder: &Path) -> Vec<u64> {
    let text = read(folder, "release/quasi.csv");
    let mut kinds: BTreeMap<String, u64> = BTreeMap::new();
    let mut lines = text.lines();
    let heads: Vec<&str> = lines.next().unwrap().split(',').collect();
    let group = heads.iter().position(|head| *head == "group").unwrap();
    for line in lines {
        let mut cells: Vec<&str> = line.split(',').collect();
        cells.remove(group);
        *kinds.entry(cells.join(",")).or_default() += 1;
    }
    kinds.into_values().collect()
}

/// A folder with a release whose quasi-identifiers were restored, or not.
fn released(restore: bool) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    write_people(path, 150);
    write_study(
        path,
        algorithm(&format!("anonymizer = \"optimal\"\nrestore = {restore}")),
    );
    let summary = ok(path, SIMULATE);
    let least = alike(path).into_iter().min().unwrap();
    assert_eq!(summary["achieved"]["k_printed"].as_u64(), Some(least));
    assert!(summary["achieved"]["k"].as_u64().unwrap() >= 5, "{summary}");
    folder
}

#[test]
fn a_verdict_says_k_of_groups_and_of_what_is_printed() {
    let folder = released(true);
    let path = folder.path();
    let seen = ok(path, VERIFY);
    let k = seen["models"]["k"]["required"].as_u64().unwrap();
    let kinds = alike(path);
    let below: u64 = kinds.iter().filter(|size| **size < k).sum();
    assert!(below > 0, "{kinds:?}");
    let printed = &seen["models"]["k_printed"];
    assert_eq!(printed["achieved"].as_u64(), kinds.iter().copied().min());
    assert_eq!(printed["failing_records"].as_u64(), Some(below));
    // Nobody demanded it.
    assert!(
        printed["required"].is_null() && printed["holds"].is_null(),
        "{printed}"
    );
    assert_eq!(seen["holds"], true);
    let words = format!("{below} of 150 records are printed like fewer than {k}, the rarest like ");
    let text = hedgerow(path, &VERIFY.split(' ').collect::<Vec<_>>()).stdout;
    for said in [
        "k-anonymity of groups",
        "k of what is printed",
        &format!("warning: {words}"),
    ] {
        assert!(text.contains(said), "{said}: {text}");
    }
    let page = read(path, "release/report.html");
    for said in [
        "The release holds, with a warning.",
        "k-anonymity of groups",
        &format!("Warning: {words}"),
    ] {
        assert!(page.contains(said), "{said}");
    }
    let shown = hedgerow(path, &["study", "check", "study.toml"]);
    assert!(
        shown
            .stderr
            .contains("warning: restore = true prints quasi-identifiers as they are"),
        "{}",
        shown.stderr
    );
    let again = [
        &SIMULATE.split(' ').collect::<Vec<_>>()[..],
        &["--seed", "1"],
    ]
    .concat();
    let summary = hedgerow(path, &again).stdout;
    assert!(
        summary.contains("k of what is printed") && summary.contains("k-anonymity of groups"),
        "{summary}"
    );
}

#[test]
fn where_groups_look_alike_nothing_is_warned_of() {
    let folder = released(false);
    let path = folder.path();
    let seen = ok(path, VERIFY);
    let k = seen["models"]["k"]["achieved"].as_u64().unwrap();
    let printed = seen["models"]["k_printed"]["achieved"].as_u64().unwrap();
    assert!(printed >= k, "{printed} {k}");
    let text = hedgerow(path, &VERIFY.split(' ').collect::<Vec<_>>()).stdout;
    assert!(!text.contains("warning: "), "{text}");
    let page = read(path, "release/report.html");
    assert!(page.contains("The release holds.") && !page.contains("are printed like fewer"));
    let shown = hedgerow(path, &["study", "check", "study.toml"]);
    assert!(!shown.stderr.contains("restore"), "{}", shown.stderr);
}

#[test]
fn a_run_says_no_where_the_study_demands_k_of_what_is_printed() {
    for (restore, holds) in [(true, false), (false, true)] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        write_people(path, 150);
        let settings = algorithm(&format!("anonymizer = \"optimal\"\nrestore = {restore}"));
        write_study(path, |text| {
            settings(text).replacen("[require]\n", "[require]\nk_printed = 5\n", 1)
        });
        let least = |path: &Path| alike(path).into_iter().min().unwrap();
        let line = [&SIMULATE.split(' ').collect::<Vec<_>>()[..], &["--json"]].concat();
        let done = hedgerow(path, &line);
        assert_eq!(
            done.code,
            i32::from(!holds),
            "{}{}",
            done.stdout,
            done.stderr
        );
        let line = [&VERIFY.split(' ').collect::<Vec<_>>()[..], &["--json"]].concat();
        let done = hedgerow(path, &line);
        let seen = json(&done);
        assert_eq!(
            (done.code, &seen["holds"]),
            (i32::from(!holds), &serde_json::json!(holds))
        );
        let printed = &seen["models"]["k_printed"];
        assert_eq!(printed["required"], 5);
        assert_eq!(printed["holds"], holds);
        assert_eq!(printed["achieved"].as_u64(), Some(least(path)));
        assert_eq!(least(path) >= 5, holds);
        // Groups have k in both.
        assert_eq!(seen["models"]["k"]["holds"], true);
    }
}

#[test]
fn one_table_has_one_k() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    std::fs::write(path.join("zip.csv"), super::ZIP_CODES).unwrap();
    let study = super::StudyText::small()
        .require("k = 2\nk_printed = 2")
        .to_string();
    std::fs::write(path.join("study.toml"), study).unwrap();
    let done = hedgerow(path, &["study", "check", "study.toml"]);
    assert_eq!(done.code, 2);
    assert!(
        done.stderr
            .contains("`require.k_printed` is for releases of several tables"),
        "{}",
        done.stderr
    );
}
