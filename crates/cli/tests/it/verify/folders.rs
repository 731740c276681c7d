//! Release folders that nobody signed: without a manifest, or with one that says so.

use super::{assert_found, changed, verify};
use crate::{assert_refused, hedgerow, json, small};

#[test]
fn a_release_folder() {
    let folder = small();
    std::fs::create_dir(folder.path().join("out")).unwrap();
    let done = hedgerow(folder.path(), &["verify", "out", "--study", "study.toml"]);
    assert_refused(
        &done,
        "out: no release.parquet or release.csv in this folder\nhint: name a release folder, or the file itself",
    );
    std::fs::rename(
        folder.path().join("release.csv"),
        folder.path().join("out/release.csv"),
    )
    .unwrap();
    assert_eq!(
        hedgerow(folder.path(), &["verify", "out", "--study", "study.toml"]).code,
        0
    );
    let done = hedgerow(
        folder.path(),
        &["verify", "nowhere.csv", "--study", "study.toml"],
    );
    assert_refused(
        &done,
        "nowhere.csv: there is no such file or folder\nhint: name a release folder, or a .csv or .parquet file",
    );
}

#[test]
fn what_no_sites_made_has_a_manifest_that_nobody_signed() {
    let folder = released();
    let path = folder.path();
    let simulate = [
        "simulate",
        "--force",
        "--study",
        "study.toml",
        "--sites",
        "2",
        "table.csv",
        "--out",
        "release",
    ];
    let anonymize = [
        "anonymize",
        "--force",
        "--study",
        "study.toml",
        "table.csv",
        "--out",
        "release",
    ];
    for arguments in [&simulate[..], &anonymize] {
        let done = hedgerow(path, arguments);
        assert_eq!(done.code, 0, "{}", done.stderr);
        let text = std::fs::read_to_string(path.join("release/manifest.json")).unwrap();
        let manifest: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(manifest["unsigned"]["records"], 5);
        assert_eq!(
            manifest["unsigned"]["study_hash"].as_str().unwrap().len(),
            64
        );
        assert_eq!(manifest["signatures"], serde_json::json!([]));
        assert!(manifest["achieved"]["k"].as_u64().unwrap() >= 2);
        assert!(manifest["utility"]["ncp"].is_f64() && manifest["cost"]["seconds"].is_f64());
        assert!(manifest["ledger"].is_array());
        let done = verify(path);
        assert_eq!(done.code, 0, "{}", done.stdout);
        assert!(
            done.stdout
                .contains("manifest: not signed; the release is what it says")
        );
        let done = changed(path, "release/release.csv", |bytes| {
            let last = bytes.len() - 2;
            bytes[last] ^= 1;
        });
        assert_found(
            &done,
            "release.csv: is not the file that manifest.json speaks of",
        );
        // Damage is seen in the rest too.
        let done = changed(path, "release/report.html", |bytes| bytes[99] ^= 1);
        assert_found(&done, "report.html: is not the file");
        let done = changed(path, "release/manifest.json", |bytes| {
            let at = bytes
                .windows(8)
                .position(|word| word == b"\"rounds\"")
                .unwrap();
            bytes[at + 1] ^= 1;
        });
        assert_found(
            &done,
            "manifest.json: is no manifest: unknown field `sounds`",
        );
        let done = changed(path, "release/manifest.json", |bytes| {
            let word = b"\"seconds\": ";
            let mut words = bytes.windows(word.len());
            let at = words.position(|found| found == word).unwrap();
            bytes[at + word.len()] ^= 1;
        });
        assert_found(&done, "manifest.json: was changed after it was written");
        // A folder with something else in it is not for a release.
        std::fs::write(path.join("release/notes.txt"), "").unwrap();
        assert_refused(
            &hedgerow(path, arguments),
            "release: holds `notes.txt`, which is no file of a release\nhint: name another folder; it need not exist",
        );
        std::fs::remove_file(path.join("release/notes.txt")).unwrap();
    }
}

/// Makes a release of five records in one place, in the folder `release`.
fn released() -> tempfile::TempDir {
    let folder = small();
    std::fs::write(
        folder.path().join("table.csv"),
        "age,zip,disease\n20,101,flu\n39,102,ulcer\n40,101,flu\n40,201,asthma\n41,201,flu\n",
    )
    .unwrap();
    let anonymize = ["anonymize", "--force", "--study", "study.toml", "table.csv"];
    let done = hedgerow(folder.path(), &anonymize);
    assert_eq!(done.code, 0, "{}", done.stderr);
    folder
}

/// What lies in a folder is read by somebody, whether or not a manifest speaks of it.
#[test]
fn a_folder_without_a_manifest_is_looked_at_whole() {
    let folder = released();
    let path = folder.path();
    let release = path.join("release");
    std::fs::remove_file(release.join("manifest.json")).unwrap();
    assert_found(
        &verify(path),
        "report.html: without manifest.json nothing says what it should be",
    );
    std::fs::remove_file(release.join("report.html")).unwrap();
    let done = verify(path);
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
    assert!(done.stdout.starts_with("HOLDS: "), "{}", done.stdout);
    assert!(!done.stdout.contains("manifest"), "{}", done.stdout);
    let arguments = ["verify", "release", "--study", "study.toml", "--json"];
    assert_eq!(json(&hedgerow(path, &arguments)).get("manifest"), None);

    // A file that no release has.
    for name in ["patients.csv", "notes.txt", ".hidden"] {
        std::fs::write(release.join(name), "name\nsomebody\n").unwrap();
        assert_found(&verify(path), &format!("  {name}: is no file of a release"));
        std::fs::remove_file(release.join(name)).unwrap();
    }
    // A release.csv that says more than the release.parquet beside it, which is clean.
    let csv = std::fs::read_to_string(release.join("release.csv")).unwrap();
    let named = csv.lines().zip(["name", "ape", "bee", "cat", "dog", "eel"]);
    let named: String = named
        .map(|(line, name)| format!("{line},{name}\n"))
        .collect();
    std::fs::write(release.join("release.csv"), named).unwrap();
    let done = verify(path);
    assert_eq!(done.code, 1, "{}{}", done.stdout, done.stderr);
    assert!(!done.stdout.starts_with("HOLDS"), "{}", done.stdout);
    assert!(done.stdout.contains("`name`"), "{}", done.stdout);
    // One that says something else.
    let other = csv.replacen(",ulcer", ",asthma", 1);
    assert_ne!(csv, other);
    std::fs::write(release.join("release.csv"), other).unwrap();
    assert_found(
        &verify(path),
        "release.csv and release.parquet differ in `disease`, first at record ",
    );
    std::fs::write(release.join("release.csv"), csv).unwrap();
    assert_eq!(verify(path).code, 0, "all was put back");
}
