//! What is signed, and what voids it.

use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use hedgerow_node::agreement::{Agreement, AgreementError, Standing};
use proptest::prelude::*;

use super::{secret, write_study};

fn signed(folder: &Path) -> Agreement {
    write_study(folder, &["north", "south", "west"]);
    let agreement = Agreement::open(&folder.join("study.toml")).unwrap();
    for site in 0..3 {
        assert_eq!(agreement.sign(&secret(site)).unwrap(), usize::from(site));
    }
    agreement
}

#[test]
fn all_sign_and_then_it_holds() {
    let folder = tempfile::tempdir().unwrap();
    write_study(folder.path(), &["north", "south", "west"]);
    let agreement = Agreement::open(&folder.path().join("study.toml")).unwrap();
    agreement.sign(&secret(2)).unwrap();
    agreement.sign(&secret(0)).unwrap();
    // Signing twice is signing once.
    agreement.sign(&secret(0)).unwrap();
    let expected = [Standing::Signed, Standing::Missing, Standing::Signed];
    assert_eq!(agreement.standings().unwrap(), expected);
    let error = agreement.require_signed().unwrap_err().to_string();
    assert!(
        error.contains("not signed by `south` (not signed)"),
        "{error}"
    );
    agreement.sign(&secret(1)).unwrap();
    agreement.require_signed().unwrap();
}

#[test]
fn signature_files_are_put_together_with_cat() {
    let folder = tempfile::tempdir().unwrap();
    write_study(folder.path(), &["north", "south"]);
    let agreement = Agreement::open(&folder.path().join("study.toml")).unwrap();
    let path = agreement.signature_path();
    let mut all = String::new();
    for site in [1, 0, 1] {
        agreement.sign(&secret(site)).unwrap();
        all.push_str(&std::fs::read_to_string(&path).unwrap());
        std::fs::remove_file(&path).unwrap();
    }
    std::fs::write(&path, all).unwrap();
    agreement.require_signed().unwrap();
}

#[test]
fn a_stranger_cannot_sign_and_a_forgery_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let agreement = signed(folder.path());
    let error = agreement.sign(&secret(9)).unwrap_err();
    assert!(matches!(error, AgreementError::Stranger { .. }), "{error}");

    let path = agreement.signature_path();
    let text = std::fs::read_to_string(&path).unwrap();
    let first = text.lines().next().unwrap();
    let last = if first.ends_with('0') { "1" } else { "0" };
    let forged = text.replace(first, &format!("{}{last}", &first[..first.len() - 1]));
    std::fs::write(&path, forged).unwrap();
    assert_eq!(agreement.standings().unwrap()[0], Standing::Forged);
    assert!(agreement.require_signed().is_err());

    std::fs::write(&path, format!("{text}nonsense\n")).unwrap();
    let error = agreement.standings().unwrap_err().to_string();
    assert!(
        error.contains("study.toml.sig:4: is no signature"),
        "{error}"
    );
}

#[test]
fn keys_must_be_there_and_differ() {
    let folder = tempfile::tempdir().unwrap();
    write_study(folder.path(), &["north", "south"]);
    let path = folder.path().join("study.toml");
    let text = std::fs::read_to_string(&path).unwrap();
    let (north, south) = (
        secret(0).public().to_string(),
        secret(1).public().to_string(),
    );
    let open = |text: String| {
        std::fs::write(&path, text).unwrap();
        Agreement::open(&path)
            .unwrap()
            .keys()
            .unwrap_err()
            .to_string()
    };
    let same = open(text.replace(&south, &north));
    assert!(
        same.contains("`north` and `south` have the same key"),
        "{same}"
    );
    let none = open(text.replace(&format!("key = \"{south}\"\n"), ""));
    assert!(none.contains("site `south` has no key"), "{none}");
    let short = open(text.replace(&south, "ed25519:abc"));
    assert!(
        short.contains("site `south`: `ed25519:abc` is no public key"),
        "{short}"
    );
}

#[test]
fn files_outside_the_folder_are_not_even_opened() {
    let outer = tempfile::tempdir().unwrap();
    std::fs::write(outer.path().join("zip.csv"), "101;*\n").unwrap();
    let folder = outer.path().join("study");
    std::fs::create_dir(&folder).unwrap();
    write_study(&folder, &["north", "south"]);
    let path = folder.join("study.toml");
    let text = std::fs::read_to_string(&path).unwrap();
    let absolute = outer.path().join("zip.csv");
    let names = [
        "../zip.csv",
        "a/../../zip.csv",
        "./../zip.csv",
        absolute.to_str().unwrap(),
        "/etc/passwd",
        "..\\\\zip.csv",
    ];
    for name in names {
        std::fs::write(&path, text.replace("\"zip.csv\"", &format!("\"{name}\""))).unwrap();
        let error = Agreement::open(&path).unwrap_err();
        assert!(
            matches!(error, AgreementError::Outside { .. }),
            "{name}: {error}"
        );
    }
    std::os::unix::fs::symlink(&absolute, folder.join("link.csv")).unwrap();
    std::os::unix::fs::symlink(outer.path(), folder.join("up")).unwrap();
    for name in ["link.csv", "up/zip.csv"] {
        std::fs::write(&path, text.replace("\"zip.csv\"", &format!("\"{name}\""))).unwrap();
        let error = Agreement::open(&path).unwrap_err().to_string();
        assert!(
            error.contains("a link out of the study's folder"),
            "{error}"
        );
    }
    // Inside is fine, also by a folder and a link that stay inside.
    std::fs::create_dir(folder.join("trees")).unwrap();
    std::os::unix::fs::symlink(folder.join("zip.csv"), folder.join("trees/zip.csv")).unwrap();
    std::fs::write(&path, text.replace("\"zip.csv\"", "\"trees/zip.csv\"")).unwrap();
    Agreement::open(&path).unwrap();
}

/// A taxonomy of more than a million nodes is read, in its time, and one beyond the cap refused.
#[test]
fn a_taxonomy_of_a_million_nodes_is_no_trap() {
    let folder = tempfile::tempdir().unwrap();
    write_study(folder.path(), &["north", "south"]);
    let mut text = String::new();
    for leaf in 0..1_000_000 {
        writeln!(text, "{leaf};group {};*", leaf / 100).unwrap();
    }
    std::fs::write(folder.path().join("zip.csv"), text).unwrap();
    let started = Instant::now();
    let study = folder.path().join("study.toml");
    let agreement = Agreement::open(&study).unwrap();
    let attributes = agreement.study.schema.attributes();
    assert_eq!(attributes[1].domain.size(), 1_000_000);
    // Seconds where it is optimized; a machine that is busy and a build that is not take longer.
    let limit = if cfg!(debug_assertions) { 120 } else { 10 };
    assert!(started.elapsed() < Duration::from_secs(limit));

    let file = std::fs::File::create(folder.path().join("zip.csv")).unwrap();
    file.set_len((1 << 28) + 1).unwrap();
    let error = Agreement::open(&study).unwrap_err().to_string();
    assert!(error.contains("expected at most 268435456"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// A byte of the study or of its taxonomy that changes, comes or goes voids every signature,
    /// or the study is refused as a whole.
    #[test]
    fn a_changed_byte_voids_the_signatures(
        in_taxonomy in any::<bool>(),
        place in any::<prop::sample::Index>(),
        byte in 0x20u8..0x7f,
        how in 0..3,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let agreement = signed(folder.path());
        agreement.require_signed().unwrap();
        let name = if in_taxonomy { "zip.csv" } else { "study.toml" };
        let path = folder.path().join(name);
        let before = std::fs::read(&path).unwrap();
        let mut bytes = before.clone();
        let place = place.index(bytes.len());
        match how {
            0 => bytes[place] = byte,
            1 => bytes.insert(place, byte),
            _ => drop(bytes.remove(place)),
        }
        prop_assume!(bytes != before);
        std::fs::write(&path, bytes).unwrap();
        if let Ok(changed) = Agreement::open(&folder.path().join("study.toml")) {
            prop_assert_ne!(changed.hash, agreement.hash);
            prop_assert!(changed.require_signed().is_err());
        }
    }

    #[test]
    fn arbitrary_signature_files_never_panic(bytes in any::<Vec<u8>>()) {
        let folder = tempfile::tempdir().unwrap();
        write_study(folder.path(), &["north", "south"]);
        let agreement = Agreement::open(&folder.path().join("study.toml")).unwrap();
        std::fs::write(agreement.signature_path(), bytes).unwrap();
        prop_assert!(agreement.require_signed().is_err());
    }
}

/// What runs is what was hashed: a taxonomy that can be read only once, because it is a pipe, is
/// enough, and gives the hash of a file that says the same.
#[test]
fn every_file_of_a_study_is_read_once() {
    let folder = tempfile::tempdir().unwrap();
    write_study(folder.path(), &["north", "south"]);
    let study = folder.path().join("study.toml");
    let expected = Agreement::open(&study).unwrap().hash;
    let taxonomy = folder.path().join("zip.csv");
    let text = std::fs::read(&taxonomy).unwrap();
    std::fs::remove_file(&taxonomy).unwrap();
    let made = std::process::Command::new("mkfifo").arg(&taxonomy).status();
    assert!(made.unwrap().success());
    std::thread::spawn(move || std::fs::write(taxonomy, text));
    let (done, opened) = std::sync::mpsc::channel();
    std::thread::spawn(move || done.send(Agreement::open(&study).map(|found| found.hash)));
    let found = opened.recv_timeout(Duration::from_secs(20));
    assert_eq!(found.expect("it is read twice").unwrap(), expected);
}
