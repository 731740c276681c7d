//! Models whose words or verdicts were not what they say: delta-disclosure, enhanced beta, and what
//! speaks of sites.

use hedgerow_testing::real_table;

use crate::{hedgerow, json, small};

const ALONE: [&str; 4] = ["--quasi", "q", "--sensitive", "s"];

/// Two values; the second class has one of them only.
fn lacking(folder: &std::path::Path) {
    std::fs::write(folder.join("t.csv"), "q,s\n1,x\n1,y\n2,x\n2,x\n").unwrap();
}

#[test]
fn an_absent_value_is_disclosed() {
    let folder = small();
    let path = folder.path();
    lacking(path);
    let demand = ["verify", "t.csv", "--against", "delta = 5"];
    let done = hedgerow(path, &[&demand[..], &ALONE].concat());
    assert_eq!(done.code, 1);
    for words in [
        "DOES NOT HOLD",
        "< 5.0000",
        "no delta would do: a class lacks a value of the table",
        "delta-disclosure privacy: fails in 1 class (2 records)",
        "delta of the values present in a class",
    ] {
        assert!(done.stdout.contains(words), "{words}: {}", done.stdout);
    }
    let said = json(&hedgerow(
        path,
        &[&demand[..], &ALONE, &["--json"]].concat(),
    ));
    let delta = &said["models"]["delta"];
    assert!(delta["achieved"].is_null(), "{delta}");
    assert_eq!(delta["holds"], false);
    assert_eq!(
        delta["unbounded"],
        "no delta would do: a class lacks a value of the table"
    );
    let present = said["models"]["delta_present"]["achieved"]
        .as_f64()
        .unwrap();
    assert!((present - 2.0_f64.ln()).abs() < 1e-12, "{present}");
}

#[test]
fn a_gain_beyond_the_cap_is_not_called_none() {
    let folder = small();
    let path = folder.path();
    let rows = format!("q,s\n1,y\n1,x\n2,y\n{}", "2,x\n".repeat(37));
    std::fs::write(path.join("t.csv"), rows).unwrap();
    let done = hedgerow(path, &[&["verify", "t.csv"], &ALONE[..]].concat());
    assert!(
        done.stdout
            .contains("no beta would do: a value gains more than -ln p"),
        "{}",
        done.stdout
    );
    assert!(!done.stdout.contains("none"), "{}", done.stdout);
}

#[test]
fn what_a_release_does_not_show_does_not_fail() {
    let folder = small();
    let path = folder.path();
    let demand = [
        "verify",
        "release.csv",
        "--study",
        "study.toml",
        "--against",
    ];
    let done = hedgerow(
        path,
        &[&demand[..], &["k = 2, site_diversity = 2, m = 1"]].concat(),
    );
    assert_eq!(done.code, 1);
    assert!(done.stdout.starts_with("NOT SHOWN: "), "{}", done.stdout);
    for model in ["l-site-diversity", "m-privacy"] {
        let line = done
            .stdout
            .lines()
            .find(|line| line.starts_with(model))
            .unwrap();
        let words: Vec<&str> = line
            .split("  ")
            .map(str::trim)
            .filter(|word| !word.is_empty())
            .collect();
        let required = if model == "m-privacy" { ">= 1" } else { ">= 2" };
        assert_eq!(words, [model, required, "not shown", "not shown"], "{line}");
    }
    assert!(!done.stdout.contains("FAILS"), "{}", done.stdout);
    let line = [&demand[..], &["k = 2, site_diversity = 2, m = 1", "--json"]].concat();
    let said = json(&hedgerow(path, &line));
    assert_eq!(
        (&said["holds"], &said["not_shown"]),
        (&false.into(), &true.into())
    );
    assert!(said["models"]["m"]["achieved"].is_null());
    assert_eq!(said["models"]["m"]["not_shown"], true);
    // In a folder too.
    std::fs::create_dir(path.join("out")).unwrap();
    std::fs::rename(path.join("release.csv"), path.join("out/release.csv")).unwrap();
    let study = std::fs::read_to_string(path.join("study.toml")).unwrap();
    std::fs::write(
        path.join("study.toml"),
        study.replace("k = 2", "k = 2\nm = 1"),
    )
    .unwrap();
    let done = hedgerow(path, &["report", "out", "--study", "study.toml"]);
    assert_eq!(done.code, 1);
    assert!(
        done.stdout
            .starts_with("It is not shown that the release holds.\n"),
        "{}",
        done.stdout
    );
}

/// The raw Adult table: hardly a class has all salary classes, so no delta holds.
#[test]
fn raw_adult_has_no_delta() {
    let Some(table) = real_table("adult9/adult.csv") else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let arguments = [
        "verify",
        table.to_str().unwrap(),
        "--quasi",
        "sex,age,race,marital-status,education,native-country,workclass,occupation",
        "--sensitive",
        "salary-class",
        "--against",
        "delta = 5",
        "--json",
    ];
    let done = hedgerow(folder.path(), &arguments);
    assert_eq!(done.code, 1, "{}", done.stderr);
    let said = json(&done);
    assert_eq!(
        (&said["holds"], said.get("not_shown")),
        (&false.into(), None)
    );
    assert!(
        said["models"]["delta_present"]["achieved"]
            .as_f64()
            .unwrap()
            < 5.0
    );
}
