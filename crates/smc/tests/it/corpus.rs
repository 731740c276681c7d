//! The corpus of the fuzz targets, replayed as ordinary tests.

use std::fs;
use std::path::PathBuf;

// The file is a crate of its own in `fuzz`, where these are reached from outside.
#[allow(unreachable_pub)]
#[path = "../../../../fuzz/src/lib.rs"]
mod targets;

/// Every input of a target, in order.
fn corpus(target: &str) -> Vec<Vec<u8>> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../fuzz/corpus")
        .join(target);
    let mut files: Vec<PathBuf> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    assert!(!files.is_empty(), "{target} has no corpus");
    files.iter().map(|file| fs::read(file).unwrap()).collect()
}

#[test]
fn decoders_withstand_their_corpus() {
    corpus("frame").iter().for_each(|data| targets::frame(data));
    corpus("vectors")
        .iter()
        .for_each(|data| targets::vectors(data));
    corpus("ciphertexts")
        .iter()
        .for_each(|data| targets::ciphertexts(data));
}

#[test]
fn primitives_withstand_their_corpus() {
    for primitive in targets::PRIMITIVES {
        for data in corpus(&format!("lies_in_{primitive}")) {
            targets::lies(primitive, &data);
        }
    }
}
