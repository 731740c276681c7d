//! `hedgerow report`: the page is well-formed, loads nothing and has everything; [`recounted`] counts its numbers
//! again, [`before`] gives it rows to compare the release with, [`kinds`] has every kind of release.

mod before;
mod kinds;
mod page;
mod recounted;

use std::path::Path;

use super::verify::signed;
use super::{assert_refused, hedgerow, json, small};

const SECTIONS: [&str; 10] = [
    "study",
    "requirement",
    "sample",
    "classes",
    "risk",
    "distributions",
    "utility",
    "ledger",
    "cost",
    "signatures",
];

fn read(folder: &Path, name: &str) -> String {
    std::fs::read_to_string(folder.join(name)).unwrap()
}

/// Every element is closed where it belongs, and no text has a bare angle bracket.
fn assert_well_formed(page: &str) {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = page.strip_prefix("<!DOCTYPE html>").unwrap();
    while let Some((before, after)) = rest.split_once('<') {
        assert!(
            open.last() == Some(&"style") || !before.contains('>'),
            "{before}"
        );
        let (tag, after) = after.split_once('>').unwrap();
        rest = after;
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name));
            continue;
        }
        let name = tag.split_whitespace().next().unwrap();
        assert_ne!(name, "script");
        assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
        if name != "meta" && !tag.ends_with('/') {
            open.push(name);
        }
    }
    assert_eq!(open, [""; 0]);
    assert_eq!(rest.trim(), "");
}

/// One page that loads nothing and has everything.
fn assert_report(page: &str) {
    assert_well_formed(page);
    for reference in [
        "http:", "https:", "src=", "href=", "@import", "url(", "<link",
    ] {
        assert!(!page.contains(reference), "{reference}");
    }
    let mut last = page.find("class=\"verdict").unwrap();
    for section in SECTIONS {
        let at = page.find(&format!("<section id=\"{section}\"")).unwrap();
        assert!(at > last, "{section} comes later");
        last = at;
    }
    assert_eq!(page.matches("<svg ").count(), 1);
    assert_eq!(page.matches("role=\"img\"").count(), 1);
    assert_eq!(page.matches("<title id=").count(), 1);
    assert_eq!(page.matches("<h1>").count(), 1);
    assert_eq!(
        page.matches("<table>").count(),
        page.matches("<caption>").count()
    );
    for word in [
        "prefers-color-scheme: dark",
        "@media print",
        "size: A4",
        "lang=\"en\"",
    ] {
        assert!(page.contains(word), "{word}");
    }
    // Colours of plots come from the page.
    assert!(!page.contains("fill=\"#") && !page.contains("stroke=\"#"));
}

#[test]
fn the_report_of_a_signed_run() {
    let folder = signed();
    let path = folder.path();
    let own = read(path, "release/report.html");
    assert_report(&own);
    for word in [
        "The release holds.",
        "All sites of the study signed it",
        "attested by all sites",
        "JX09 Theorem 1",
        "could not be hidden",
        "Both Data Subjects and Data Providers",
        "two of the three sites with roles",
        "bytes sent",
        // Names that would be markup.
        "&lt;b&gt;stroke&lt;/b&gt; &amp; co",
        "&lt;script&gt;alert(1)&lt;/script&gt;",
    ] {
        assert!(own.contains(word), "{word}");
    }
    let manifest: serde_json::Value =
        serde_json::from_str(&read(path, "release/manifest.json")).unwrap();
    let study_hash = manifest["signed"]["study_hash"].as_str().unwrap();
    assert!(own.contains(study_hash));
    for signature in manifest["signatures"].as_array().unwrap() {
        for key in ["site", "key"] {
            assert!(own.contains(signature[key].as_str().unwrap()));
        }
    }
    for line in manifest["ledger"].as_array().unwrap() {
        assert!(own.contains(line["what"].as_str().unwrap()), "{line}");
    }

    // Asked for again it is the same, and text and JSON say it too.
    let done = hedgerow(
        path,
        &[
            "report",
            "release",
            "--study",
            "study.toml",
            "--out",
            "again.html",
        ],
    );
    assert_eq!(
        (done.code, done.stderr.as_str()),
        (0, ""),
        "{}",
        done.stdout
    );
    assert_eq!(read(path, "again.html"), own);
    for word in [
        "The release holds.",
        "k-anonymity",
        "class sizes",
        "prosecutor, highest",
        "loss (NCP)",
        "what the sites learned",
        "Allowed by JX09 Theorem 1",
        "bytes sent",
        "manifest: signed by all sites",
        "report: again.html",
    ] {
        assert!(done.stdout.contains(word), "{word}: {}", done.stdout);
    }
    let said = json(&hedgerow(
        path,
        &["report", "release", "--study", "study.toml", "--json"],
    ));
    assert_eq!(said["holds"], true);
    assert_eq!(said["report"], "report.html");
    assert_eq!(read(path, "report.html"), own);
    assert_eq!(said["manifest"]["signed"], true);
    assert_eq!(said["ledger"], manifest["ledger"]);
    let bars = said["class_sizes"]["bars"].as_array().unwrap();
    let records: u64 = bars
        .iter()
        .map(|bar| bar["records"].as_u64().unwrap())
        .sum();
    assert_eq!(Some(records), said["records"].as_u64());

    // With the original there is an entropy loss. The pooled table has one column more.
    let table: String = read(path, "pooled.csv")
        .lines()
        .map(|line| format!("{}\n", line.rsplit_once(',').unwrap().0))
        .collect();
    std::fs::write(path.join("original.csv"), table).unwrap();
    assert!(own.contains("report --original") && !own.contains("entropy loss (EM)"));
    let arguments = [
        "report",
        "release",
        "--study",
        "study.toml",
        "--original",
        "original.csv",
    ];
    assert_eq!(hedgerow(path, &arguments).code, 0);
    let more = read(path, "report.html");
    assert_report(&more);
    assert!(more.contains("entropy loss (EM)") && more.contains("unique before"));

    // The one in the folder is sealed: what it says already may be said again, no more.
    let inside = ["--out", "release/report.html"];
    let refused = hedgerow(path, &[&arguments[..], &inside].concat());
    assert_refused(
        &refused,
        "release/report.html: lies in the release folder, whose files are sealed as they are\nhint: name a file elsewhere with --out",
    );
    let done = hedgerow(path, &[&arguments[..4], &inside].concat());
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(read(path, "release/report.html"), own);
}

#[test]
fn the_report_of_a_release_that_does_not_hold() {
    let folder = signed();
    let path = folder.path();
    let csv = read(path, "release/release.csv").replace("flu", "ulcer");
    std::fs::write(path.join("release/release.csv"), csv).unwrap();
    let done = hedgerow(path, &["report", "release", "--study", "study.toml"]);
    assert_eq!(done.code, 1);
    assert!(
        done.stdout.starts_with("The release does not hold."),
        "{}",
        done.stdout
    );
    assert!(
        done.stdout
            .contains("has signed it:\n    release.csv: is not the file"),
        "{}",
        done.stdout
    );
    let page = read(path, "report.html");
    assert_report(&page);
    assert!(page.contains("class=\"verdict bad\""));
    assert!(page.contains("release.csv: is not the file that manifest.json speaks of"));
}

#[test]
fn the_report_of_a_simulation_says_what_nobody_signed_for() {
    let folder = signed();
    let path = folder.path();
    // The same study without keys: nobody is to sign.
    let study = read(path, "study.toml");
    let (study, _) = study.split_once("[[site]]").unwrap();
    std::fs::write(path.join("alone.toml"), study).unwrap();
    let arguments = [
        "simulate",
        "--study",
        "alone.toml",
        "--provider-column",
        "site",
        "--out",
        "s",
        "pooled.csv",
    ];
    let done = hedgerow(path, &arguments);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let page = read(path, "s/report.html");
    assert_report(&page);
    for word in [
        "The release holds as far as it can be seen.",
        "no sites have signed for l-site-diversity, m-privacy",
        "by simulate or anonymize",
        "between institutions",
    ] {
        assert!(page.contains(word), "{word}");
    }
    assert!(page.contains("class=\"verdict warn\""));
}

#[test]
fn a_folder_without_a_manifest_and_no_folder() {
    let folder = small();
    let path = folder.path();
    let done = hedgerow(path, &["report", "release.csv", "--study", "study.toml"]);
    assert_refused(
        &done,
        "release.csv: is no release folder\nhint: name the folder that holds release.csv and manifest.json; hedgerow verify looks at a file alone",
    );
    std::fs::create_dir(path.join("out")).unwrap();
    std::fs::rename(path.join("release.csv"), path.join("out/release.csv")).unwrap();
    let done = hedgerow(path, &["report", "out", "--study", "study.toml"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let page = read(path, "report.html");
    assert_report(&page);
    assert!(page.contains("The folder has no manifest: nobody has signed this release."));
}
