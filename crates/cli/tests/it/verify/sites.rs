//! `--provider-column`: whose each record is, where that is known.

use std::path::Path;

use crate::{Done, RELEASE, hedgerow, json, small};

/// Writes the release of `small` with one more column, as `sites.csv`.
fn with_column(folder: &Path, cells: [&str; 6]) {
    let lines = RELEASE.lines().zip(cells);
    let text: String = lines
        .map(|(line, cell)| format!("{line},{cell}\n"))
        .collect();
    std::fs::write(folder.join("sites.csv"), text).unwrap();
}

/// Verifies `sites.csv`, whose column `site` says whose each record is, against a requirement.
fn against(folder: &Path, demand: &str, more: &[&str]) -> Done {
    let line = ["verify", "sites.csv", "--study", "study.toml"];
    let sites = ["--against", demand, "--provider-column", "site"];
    hedgerow(folder, &[&line[..], &sites, more].concat())
}

#[test]
fn sites_are_needed_for_what_speaks_of_sites() {
    let folder = small();
    let path = folder.path();
    with_column(path, ["site", "A", "B", "A", "A", "B"]);
    let demand = "k = 2, site_diversity = 2, m = 0";
    assert_eq!(against(path, demand, &[]).code, 0);
    let done = against(path, "k = 2, m = 1", &[]);
    assert_eq!(done.code, 1);
    assert!(
        done.stdout
            .contains("m-privacy: fails in 2 classes (5 records)"),
        "{}",
        done.stdout
    );
    let without = [
        "verify",
        "release.csv",
        "--study",
        "study.toml",
        "--against",
        demand,
    ];
    let done = hedgerow(folder.path(), &without);
    assert_eq!(done.code, 1);
    assert!(
        done.stdout
            .contains("cannot be told without the sites\nhint: give --provider-column")
    );
}

/// Whatever the strategy, the verdict is the same; how many coalitions it checked is counted.
#[test]
fn strategies_verify_m_alike_and_count_their_checks() {
    let folder = small();
    let path = folder.path();
    with_column(path, ["site", "A", "B", "A", "A", "B"]);
    for (demand, code) in [("k = 1, m = 1", 0), ("k = 2, m = 1", 1)] {
        for strategy in [
            "direct",
            "top-down",
            "bottom-up",
            "binary",
            "adaptive",
            "exact",
        ] {
            let done = against(path, demand, &["--verification", strategy, "--json"]);
            assert_eq!(done.code, code, "{strategy}: {}", done.stdout);
            let m = &json(&done)["models"]["m"];
            assert_eq!(m["verification"], strategy);
            assert!(m["checks"].as_u64().unwrap() > 0, "{m}");
            assert_eq!(m["holds"], code == 0);
            let plain = json(&against(path, demand, &["--json"]));
            assert_eq!(plain["models"]["m"]["achieved"], m["achieved"]);
            assert!(plain["models"]["m"].get("checks").is_none());
        }
    }
    let done = against(path, "k = 1, m = 1", &["--verification", "direct"]);
    assert!(
        done.stdout.contains("m-privacy: verified direct, "),
        "{}",
        done.stdout
    );
    let done = against(path, "k = 1", &["--verification", "direct"]);
    assert_eq!(done.code, 2);
    assert!(
        done.stderr.contains("no coalitions to look at"),
        "{}",
        done.stderr
    );
    let done = against(path, "k = 1, m = 1", &["--verification", "upwards"]);
    assert_eq!(done.code, 2);
    assert!(
        done.stderr.contains("expected one of direct, top-down"),
        "{}",
        done.stderr
    );
}

/// TG12 6.2: sites that have records under a value support it, and a site may have one there whose own
/// record is written more coarsely. So a release shows that so many sites support a class, and not
/// that no more do: short of what is required it is not shown to hold, and not shown to fail.
#[test]
fn support_by_taxonomy_is_not_shown_to_be_short() {
    let folder = small();
    let path = folder.path();
    let demand = |k: u32, m: &str| {
        format!("k = {k}, site_diversity = {{ at_least = 2, kind = 'taxonomy' }}{m}")
    };
    // Nobody but A has a record under [20-39].
    with_column(path, ["site", "A", "A", "A", "B", "B"]);
    for (m, models) in [
        ("", &["l-site-diversity"][..]),
        (", m = 1", &["l-site-diversity", "m-privacy"]),
    ] {
        let done = against(path, &demand(1, m), &[]);
        assert_eq!((done.code, done.stderr.as_str()), (1, ""));
        assert!(done.stdout.starts_with("NOT SHOWN: "), "{}", done.stdout);
        for model in models {
            let said =
                format!("\n{model}: not shown to hold\n  least shown in class: age = [20-39]");
            assert!(done.stdout.contains(&said), "{}", done.stdout);
        }
        assert!(
            !done.stdout.to_lowercase().contains("fails"),
            "{}",
            done.stdout
        );
        let said = json(&against(path, &demand(1, m), &["--json"]));
        let by_site = &said["models"]["site_diversity"];
        assert_eq!(
            (&by_site["achieved"], &by_site["at_least"]),
            (&1.into(), &true.into())
        );
        assert_eq!(by_site.get("failing_classes"), None);
        assert_eq!(
            (&said["holds"], &said["not_shown"]),
            (&false.into(), &true.into())
        );
    }
    let said = json(&against(path, &demand(1, ", m = 1"), &["--json"]));
    let m = &said["models"]["m"];
    assert_eq!(
        (&m["holds"], &m["not_shown"]),
        (&false.into(), &true.into())
    );
    assert!(m["achieved"].is_null(), "{m}");

    // Two sites support each class, and it is not shown that one of them is left without the other.
    with_column(path, ["site", "A", "B", "A", "A", "B"]);
    let said = json(&against(path, &demand(1, ", m = 1"), &["--json"]));
    assert_eq!(said["models"]["site_diversity"]["holds"], true);
    let m = &said["models"]["m"];
    assert_eq!(
        (&m["holds"], &m["not_shown"]),
        (&false.into(), &true.into())
    );
    assert_eq!((&m["achieved"], &m["at_least"]), (&0.into(), &true.into()));
    assert_eq!(
        (&said["holds"], &said["not_shown"]),
        (&false.into(), &true.into())
    );
}

/// What is not shown of site diversity does not hide a class that is too small without a site.
#[test]
fn what_fails_without_a_site_fails_whatever_is_not_shown() {
    let folder = small();
    let path = folder.path();
    with_column(path, ["site", "A", "A", "A", "B", "B"]);
    let demand = "k = 2, site_diversity = { at_least = 2, kind = 'taxonomy' }, m = 1";
    let done = against(path, demand, &[]);
    assert_eq!((done.code, done.stderr.as_str()), (1, ""));
    assert!(
        done.stdout.starts_with("DOES NOT HOLD: "),
        "{}",
        done.stdout
    );
    let said =
        "m-privacy: fails in 1 class (3 records)\n  worst class: age = 40, zip = *; 3 records";
    assert!(done.stdout.contains(said), "{}", done.stdout);
    let m = &json(&against(path, demand, &["--json"]))["models"]["m"];
    assert_eq!((&m["achieved"], m.get("not_shown")), (&0.into(), None));
}

/// A column that names people is not one that names sites, whatever it is called on the command line.
#[test]
fn a_provider_column_that_names_people_is_warned_of() {
    let folder = small();
    let path = folder.path();
    with_column(path, ["site", "ape", "bee", "cat", "dog", "eel"]);
    let by_text =
        "column `site` looks like an identifier: 5 of 5 records have a text of their own there";
    let by_table = ["--quasi", "age,zip", "--sensitive", "disease"];
    let by_study = ["--study", "study.toml"];
    for roles in [&by_table[..], &by_study] {
        let line = [&["verify", "sites.csv", "--provider-column", "site"], roles].concat();
        let done = hedgerow(path, &line);
        assert!(
            done.stdout.contains(&format!("\nwarning: {by_text}\n")),
            "{}",
            done.stdout
        );
        let said = json(&hedgerow(path, &[&line[..], &["--json"]].concat()));
        let suspect = said["suspects"][0].as_str().unwrap();
        assert!(suspect.starts_with(by_text), "{suspect}");
    }
    // By its name, with few texts; and not at all where sites have the names of sites.
    with_column(path, ["patient", "A", "B", "A", "A", "B"]);
    let line = ["verify", "sites.csv", "--provider-column", "patient"];
    let done = hedgerow(path, &[&line[..], &by_study].concat());
    let by_name = "warning: column `patient` is called like an identifier";
    assert!(done.stdout.contains(by_name), "{}", done.stdout);
    with_column(path, ["site", "A", "B", "A", "A", "B"]);
    let done = against(path, "k = 2", &[]);
    assert!(!done.stdout.contains("warning"), "{}", done.stdout);
}
