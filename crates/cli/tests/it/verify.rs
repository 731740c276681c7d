//! `hedgerow verify`.

mod beside;
mod columns;
mod folders;
mod models;
mod requirements;
mod run;
mod signatures;
mod sites;
mod tables;
mod tampered;

use std::path::Path;

use super::{Done, hedgerow};
pub(crate) use run::signed;

fn verify(folder: &Path) -> Done {
    hedgerow(folder, &["verify", "release", "--study", "study.toml"])
}

/// Changes a file, verifies, and puts it back.
fn changed(folder: &Path, name: &str, change: impl FnOnce(&mut Vec<u8>)) -> Done {
    let path = folder.join(name);
    let before = std::fs::read(&path).unwrap();
    let mut bytes = before.clone();
    change(&mut bytes);
    assert_ne!(bytes, before);
    std::fs::write(&path, bytes).unwrap();
    let done = verify(folder);
    std::fs::write(&path, before).unwrap();
    done
}

#[track_caller]
fn assert_found(done: &Done, finding: &str) {
    assert_eq!(done.code, 1, "{finding}: {}{}", done.stdout, done.stderr);
    assert!(done.stdout.starts_with("DOES NOT HOLD"), "{}", done.stdout);
    assert!(done.stdout.contains(finding), "{finding}: {}", done.stdout);
    assert_eq!(done.stderr, "");
}
