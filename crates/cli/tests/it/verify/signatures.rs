//! A release that all sites signed: what they attest to, and signatures, seals, numbers and studies
//! that are not those of the release.

use super::run::{SITES, signed};
use super::{assert_found, changed, verify};
use crate::{hedgerow, json};

#[test]
fn a_signed_release_holds_and_its_sites_attest_to_what_it_does_not_show() {
    let folder = signed();
    let done = verify(folder.path());
    assert_eq!(
        (done.code, done.stderr.as_str()),
        (0, ""),
        "{}",
        done.stdout
    );
    assert!(
        done.stdout
            .contains("manifest: signed by all sites of the study")
    );
    for model in ["site diversity 2", "m = 1"] {
        let line = done.stdout.lines().find(|line| line.starts_with(model));
        assert!(
            line.unwrap().contains("attested by all sites"),
            "{}",
            done.stdout
        );
    }
    let arguments = ["verify", "release", "--study", "study.toml", "--json"];
    let found = json(&hedgerow(folder.path(), &arguments));
    let manifest = &found["manifest"];
    assert_eq!(
        (&found["holds"], &manifest["holds"]),
        (&true.into(), &true.into())
    );
    assert_eq!(manifest["run"], 1);
    assert_eq!(
        manifest["attested"],
        serde_json::json!(["site diversity 2", "m = 1"])
    );
    for (place, name) in SITES.iter().enumerate() {
        assert_eq!(manifest["signatures"][place]["site"], *name);
        assert_eq!(manifest["signatures"][place]["standing"], "signed");
    }
    // The sites attested to the study's requirement, not to another.
    let arguments = [&arguments[..], &["--against", "k = 5, m = 1"]].concat();
    assert_eq!(hedgerow(folder.path(), &arguments).code, 1);
}

/// A site's account is its own: nobody else can write it, and no other release can have it.
#[test]
fn an_account_is_sealed_by_its_site() {
    let folder = signed();
    let path = folder.path();
    let found = json(&hedgerow(
        path,
        &["verify", "release", "--study", "study.toml", "--json"],
    ));
    assert_eq!(found["manifest"]["account"], "north");
    let done = changed(path, "release/manifest.json", |bytes| {
        let text = String::from_utf8(bytes.clone()).unwrap();
        let own = "\"site\": \"north\",\n    \"files\"";
        assert!(text.contains(own));
        *bytes = text
            .replace(own, &own.replace("north", "south"))
            .into_bytes();
    });
    assert_found(&done, "manifest.json: is not as `south` sealed it");
    let done = changed(path, "release/manifest.json", |bytes| {
        let text = String::from_utf8(bytes.clone()).unwrap();
        let own = "\"site\": \"north\",\n    \"files\"";
        *bytes = text
            .replace(own, &own.replace("north", "west"))
            .into_bytes();
    });
    assert_found(
        &done,
        "manifest.json: is an account of `west`, which is no site of the study",
    );
    // A ledger without its first line, and a report to go with it.
    let done = changed(path, "release/manifest.json", |bytes| {
        let mut manifest: serde_json::Value = serde_json::from_slice(bytes).unwrap();
        manifest["ledger"].as_array_mut().unwrap().remove(0);
        *bytes = format!("{manifest:#}\n").into_bytes();
    });
    assert_found(&done, "manifest.json: is not as `north` sealed it");
    // No seal at all.
    let done = changed(path, "release/manifest.json", |bytes| {
        let mut manifest: serde_json::Value = serde_json::from_slice(bytes).unwrap();
        manifest.as_object_mut().unwrap().remove("seal");
        *bytes = format!("{manifest:#}\n").into_bytes();
    });
    assert_found(&done, "manifest.json: does not end with a seal");
}

#[test]
fn numbers_and_signatures_that_are_not_so_are_named() {
    let folder = signed();
    let path = folder.path();
    let edit = |change: &dyn Fn(&mut serde_json::Value)| {
        changed(path, "release/manifest.json", |bytes| {
            let mut manifest = serde_json::from_slice(bytes).unwrap();
            change(&mut manifest);
            *bytes = format!("{manifest:#}\n").into_bytes();
        })
    };
    let entries =
        |manifest: &mut serde_json::Value| manifest["signatures"].as_array().unwrap().clone();
    let done = edit(&|manifest| {
        let mut left = entries(manifest);
        left.pop();
        manifest["signatures"] = left.into();
    });
    assert_found(&done, "manifest.json: `east`: not signed");
    let done = edit(&|manifest| manifest["signatures"] = serde_json::json!([]));
    assert_found(&done, "manifest.json: `north`: not signed");
    let done = edit(&|manifest| {
        let mut swapped = entries(manifest);
        swapped.swap(0, 1);
        manifest["signatures"] = swapped.into();
    });
    assert_found(
        &done,
        "`north`: not signed: another site stands in its place",
    );
    let done = edit(&|manifest| {
        let other = manifest["signatures"][1]["signature"].clone();
        manifest["signatures"][0]["signature"] = other;
    });
    assert_found(&done, "`north`: the signature is not of this release");
    let done = edit(&|manifest| {
        let mut more = entries(manifest);
        let mut stranger = more[0].clone();
        stranger["site"] = "west".into();
        more.push(stranger);
        manifest["signatures"] = more.into();
    });
    assert_found(
        &done,
        "a signature of \"west\", which is no site of the study",
    );
    let done = edit(&|manifest| {
        manifest["unsigned"] = manifest["signed"].take();
        manifest["signatures"] = serde_json::json!([]);
    });
    assert_found(
        &done,
        "manifest.json: not signed by `north`, `south`, `east`",
    );
    // Neither the number of records nor what they say besides can be made up.
    let done = edit(&|manifest| manifest["signed"]["records"] = 181.into());
    assert_found(
        &done,
        "manifest.json: `records` is 181, the release has 180",
    );
    assert_found(&done, "`north`: the signature is not of this release");
    let done = edit(&|manifest| manifest["achieved"]["k"] = 50.into());
    assert_found(&done, "manifest.json: `achieved.k` is 50, the release has ");
    let done = edit(&|manifest| manifest["utility"]["ncp"] = 0.5.into());
    assert_found(
        &done,
        "manifest.json: `utility.ncp` is 0.5, the release has ",
    );
}

/// The study is signed with the release: another one, were it only a comment, is not this one.
#[test]
fn another_study_is_not_the_one_that_was_signed() {
    let folder = signed();
    let path = folder.path();
    let done = changed(path, "study.toml", |bytes| bytes.extend(b"# a word\n"));
    assert_found(&done, "manifest.json: `study_hash` is ");
    assert!(
        !done.stdout.contains("not of this release"),
        "{}",
        done.stdout
    );
    // A weaker study with the sites' own keys.
    let done = changed(path, "study.toml", |bytes| {
        let text = String::from_utf8(bytes.clone()).unwrap();
        *bytes = text.replace("m = 1\n", "m = 0\n").into_bytes();
    });
    assert_found(&done, "manifest.json: `study_hash` is ");
    // A site's key that is not the one that signed.
    let other = hedgerow(path, &["keygen", "--out", "other.key"]).stdout;
    let done = changed(path, "study.toml", |bytes| {
        let text = String::from_utf8(bytes.clone()).unwrap();
        let key = text.lines().find(|line| line.starts_with("key")).unwrap();
        *bytes = text.replace(key, other.trim_end()).into_bytes();
    });
    assert_found(&done, "`north`: signed by another key than the study has");
}
