//! `manifest.json` of a release: what all sites signed, their signatures, and this site's ledger.
//!
//! What is signed is the same at every site, byte for byte: names, counts and hashes of files, no
//! fractions. What a verifier can find out from the release itself is not in it.

use std::io::Write as _;
use std::path::Path;

use hedgerow_data::files::{FileError, OutputFile};
use hedgerow_node::agreement::StudyHash;
use hedgerow_node::identity::{PublicKey, hex};
use hedgerow_node::run::Seals;
use serde_json::{Value, json};

use crate::error::CliError;
use crate::joint::{Published, Ready};

/// Its name in the folder of a release.
pub(crate) const FILE: &str = "manifest.json";
/// The files of a release that sites sign.
const FILES: [&str; 2] = ["release.csv", "release.parquet"];

/// What all sites sign.
pub(crate) fn signed(
    ready: &Ready,
    study: StudyHash,
    run: u32,
    published: &Published,
) -> Result<Value, CliError> {
    let mut files = serde_json::Map::new();
    for name in FILES {
        let path = published.folder.join(name);
        let bytes = std::fs::read(&path).map_err(|error| FileError::Unreadable {
            file: path.display().to_string(),
            reason: error.to_string(),
        })?;
        let hash = blake3::hash(&bytes);
        files.insert(name.to_owned(), Value::from(hash.to_hex().as_str()));
    }
    Ok(json!({
        "study": ready.study.name,
        "study_hash": study.to_string(),
        "run": run,
        "security": crate::study::security(ready.study.security),
        "algorithm": crate::study::algorithm(ready.study.algorithm),
        "records": published.verdict.records,
        "classes": published.verdict.classes,
        "files": files,
    }))
}

/// The bytes of it that are signed: the object on one line, in its own order.
pub(crate) fn statement(signed: &Value) -> Vec<u8> {
    signed.to_string().into_bytes()
}

/// The whole manifest.
pub(crate) fn whole<'a>(
    signed: Value,
    names: impl Iterator<Item = &'a str>,
    keys: &[PublicKey],
    seals: &Seals,
    ledger: &[Value],
) -> Value {
    let signatures: Vec<Value> = names
        .zip(keys)
        .zip(&seals.signatures)
        .map(|((site, key), signature)| {
            json!({ "site": site, "key": key.to_string(), "signature": hex(signature) })
        })
        .collect();
    json!({ "signed": signed, "signatures": signatures, "ledger": ledger })
}

/// Writes it into the folder of the release.
pub(crate) fn write(folder: &Path, manifest: &Value) -> Result<(), CliError> {
    let path = folder.join(FILE);
    let mut file = OutputFile::create(&path)?;
    writeln!(file, "{manifest:#}").map_err(|error| FileError::Unwritable {
        file: path.display().to_string(),
        reason: error.to_string(),
    })?;
    Ok(file.finish()?)
}
