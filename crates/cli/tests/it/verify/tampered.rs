//! A signed release folder in which something was changed, taken away or added.

use super::run::{SIGNED_FILES, signed};
use super::{assert_found, changed, verify};
use crate::{assert_refused, hedgerow};

#[test]
fn a_manifest_of_another_version_is_not_guessed_at() {
    let folder = signed();
    let version = |to: &str| {
        changed(folder.path(), "release/manifest.json", |bytes| {
            let text = String::from_utf8(bytes.clone()).unwrap();
            assert!(text.starts_with("{\n  \"version\": 2,\n"), "{text}");
            *bytes = text.replacen("  \"version\": 2,\n", to, 1).into_bytes();
        })
    };
    for other in [1, 3] {
        assert_found(
            &version(&format!("  \"version\": {other},\n")),
            &format!(
                "manifest.json: is of version {other}, this hedgerow reads version 2: look at it with the hedgerow that wrote it"
            ),
        );
    }
    assert_found(&version(""), "manifest.json: has no version, expected 2");
}

#[test]
fn a_changed_byte_is_found_wherever_it_is() {
    let folder = signed();
    let path = folder.path();
    for name in SIGNED_FILES {
        let file = format!("release/{name}");
        let length = std::fs::read(path.join(&file)).unwrap().len();
        let finding = match name {
            "manifest.json" => String::from("  manifest.json: "),
            _ => format!("  {name}: is not the file that manifest.json speaks of"),
        };
        let few = (0..length).step_by(length.div_ceil(40)).chain([length - 1]);
        for (turn, at) in few.enumerate() {
            let done = changed(path, &file, |bytes| bytes[at] ^= 1 << (turn % 8));
            assert_found(&done, &finding);
        }
        assert_found(&changed(path, &file, |bytes| bytes.push(b'\n')), &finding);
        assert_found(
            &changed(path, &file, |bytes| bytes.truncate(length / 2)),
            &finding,
        );
        assert_found(&changed(path, &file, Vec::clear), &finding);
    }
    // A blank that says nothing to JSON is found too where it was signed.
    let text = std::fs::read_to_string(path.join("release/manifest.json")).unwrap();
    let done = changed(path, "release/manifest.json", |bytes| {
        let at = text.find(": ").unwrap();
        bytes.insert(at, b' ');
    });
    assert_found(&done, "manifest.json: the signed part was changed by hand");
    // And where it is one site's account.
    for word in ["\"ledger\": ", "\"cost\": ", "\"seal\": "] {
        let done = changed(path, "release/manifest.json", |bytes| {
            bytes.insert(text.find(word).unwrap() + word.len(), b' ');
        });
        assert_found(&done, "  manifest.json: ");
    }
    assert_eq!(verify(path).code, 0, "all was put back");
}

#[test]
fn every_line_of_a_manifest_matters() {
    let folder = signed();
    let path = folder.path().join("release");
    let manifest = std::fs::read(path.join("manifest.json")).unwrap();
    // Nearer than one in forty: every line once, at another place of it each time.
    let lines = manifest.split_inclusive(|byte| *byte == b'\n');
    let mut start = 0;
    for (turn, line) in lines.enumerate() {
        let at = start + turn % line.len();
        start += line.len();
        let done = changed(folder.path(), "release/manifest.json", |bytes| {
            bytes[at] ^= 1 << (turn % 7);
        });
        assert_found(&done, "  manifest.json: ");
    }
}

#[test]
fn a_file_that_is_missing_or_does_not_belong_is_named() {
    let folder = signed();
    let path = folder.path();
    for name in SIGNED_FILES {
        let file = path.join("release").join(name);
        std::fs::rename(&file, path.join("gone")).unwrap();
        let done = verify(path);
        assert_found(&done, &format!("  {name}: is missing"));
        // Said before what was measured, and no column is asked for that a release cannot have.
        let said = |words: &str| done.stdout.find(words);
        assert!(said("MANIFEST DOES NOT HOLD") < said("k-anonymity"));
        assert_eq!(said("--provider-column"), None);
        std::fs::rename(path.join("gone"), &file).unwrap();
    }
    for name in ["notes.txt", ".hidden"] {
        let file = path.join("release").join(name);
        std::fs::write(&file, "").unwrap();
        let done = verify(path);
        assert_found(&done, &format!("  {name}: is no file of this release"));
        // What all sites attested to is not in doubt for it.
        assert!(
            done.stdout.contains("attested by all sites"),
            "{}",
            done.stdout
        );
        std::fs::remove_file(&file).unwrap();
    }
    std::fs::create_dir(path.join("release/more")).unwrap();
    assert_found(&verify(path), "  more: is no file of this release");
    std::fs::remove_dir(path.join("release/more")).unwrap();
    assert_eq!(verify(path).code, 0);

    // A study that says what it must not is bad input, whatever the folder holds.
    let done = changed(path, "study.toml", |bytes| {
        let text = String::from_utf8(bytes.clone()).unwrap();
        *bytes = text.replace("k = 5", "kk = 5").into_bytes();
    });
    assert_refused(
        &done,
        "study.toml:19: unknown key `kk` in `require`\nhint: did you mean `k`?",
    );
    let nowhere = hedgerow(path, &["verify", "nowhere", "--study", "study.toml"]);
    assert_refused(
        &nowhere,
        "nowhere: there is no such file or folder\nhint: name a release folder, or a .csv or .parquet file",
    );

    // Nothing but the manifest.
    for name in ["release.csv", "release.parquet"] {
        std::fs::remove_file(path.join("release").join(name)).unwrap();
    }
    let done = verify(path);
    for name in ["release.csv", "release.parquet"] {
        assert_found(&done, &format!("  {name}: is missing"));
    }
    let done = hedgerow(path, &["report", "release", "--study", "study.toml"]);
    assert_refused(
        &done,
        "release: no release.parquet or release.csv in this folder\nhint: name a release folder, or the file itself",
    );
}
