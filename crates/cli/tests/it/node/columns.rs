//! Columns that a site publishes as they are.

use super::hedgerow;
use super::setup::{SITES, sites, start_all};

/// What a site publishes as it is, it counts in its own rows before anything leaves it.
#[test]
fn a_site_whose_columns_single_out_its_records_does_not_begin() {
    let folder = sites(300);
    let path = folder.path();
    let study = path.join("c/study.toml");
    let text = std::fs::read_to_string(&study).unwrap();
    let age = "name = \"age\"\nrole = ";
    let other = text.replace(&format!("{age}\"quasi\""), &format!("{age}\"other\""));
    assert_ne!(text, other);
    let sign = |text: &str| {
        std::fs::remove_file(path.join("c/study.toml.sig")).unwrap();
        std::fs::write(&study, text).unwrap();
        for name in SITES {
            let key = format!("{name}.key");
            let done = hedgerow(path, &["study", "sign", "--key", &key, "c/study.toml"]);
            assert_eq!(done.code, 0, "{}", done.stderr);
        }
    };
    sign(&other);
    let done = hedgerow(path, &["run", "--site", "north.toml"]);
    assert_eq!((done.code, done.stdout.as_str()), (2, ""));
    let expected = "error: c/north.csv: column `age` is published as it is, and ";
    assert!(done.stderr.contains(expected), "{}", done.stderr);
    assert!(!path.join("north-data").exists());
    // All sites may sign that it is published all the same.
    sign(&other.replace("widths = [5, 10, 20, 40]", "publish_unique = true"));
    let mut running = start_all(path, &SITES, 1);
    for site in &mut running {
        site.end();
    }
    for site in SITES {
        let release = path.join(format!("{site}-data/release-1/release.csv"));
        assert!(release.exists(), "{site}");
    }
}
