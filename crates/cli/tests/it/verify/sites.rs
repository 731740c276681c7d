//! `--provider-column`: whose each record is, where that is known.

use crate::{RELEASE, hedgerow, small};

#[test]
fn sites_are_needed_for_what_speaks_of_sites() {
    let folder = small();
    let text: String = RELEASE
        .lines()
        .zip(["site", "A", "B", "A", "A", "B"])
        .map(|(line, site)| format!("{line},{site}\n"))
        .collect();
    std::fs::write(folder.path().join("sites.csv"), text).unwrap();
    let demand = "k = 2, site_diversity = 2, m = 0";
    let with = [
        "verify",
        "sites.csv",
        "--study",
        "study.toml",
        "--against",
        demand,
        "--provider-column",
        "site",
    ];
    assert_eq!(hedgerow(folder.path(), &with).code, 0);
    let stronger = [
        "verify",
        "sites.csv",
        "--study",
        "study.toml",
        "--against",
        "k = 2, m = 1",
        "--provider-column",
        "site",
    ];
    let done = hedgerow(folder.path(), &stronger);
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
