//! `manifest.json` of a release: what all sites signed, their signatures, and what the site that
//! wrote it says besides: achieved privacy, utility, its ledger, what the run cost.
//!
//! What is signed is the same at every site, byte for byte: names, counts and hashes of files, no
//! fractions. A release that no sites made, of `simulate` or `anonymize`, has the same statement
//! under the name `unsigned`, and no signatures.

use std::io::Write as _;
use std::path::Path;

use hedgerow_data::files::{FileError, OutputFile};
use hedgerow_node::agreement::{Agreement, StudyHash};
use hedgerow_node::identity::{PublicKey, hex};
use hedgerow_node::run::Seals;
use hedgerow_smc::ledger::Line;
use serde_json::{Map, Value, json};

use crate::error::CliError;
use crate::joint::{Published, Ready};
use crate::summary::{Cost, OfSites, achieved};

/// Its name in the folder of a release.
pub(crate) const FILE: &str = "manifest.json";
/// The files of a release that sites sign.
pub(crate) const FILES: [&str; 2] = ["release.csv", "release.parquet"];

/// What a site says of a release that the others have not signed: its own account.
pub(crate) struct Account<'a> {
    pub(crate) published: &'a Published,
    pub(crate) sites: usize,
    pub(crate) of_sites: OfSites,
    pub(crate) ledger: &'a [Value],
    pub(crate) cost: &'a Cost,
}

/// What all sites sign.
pub(crate) fn signed(
    ready: &Ready,
    study: StudyHash,
    run: u32,
    published: &Published,
) -> Result<Value, CliError> {
    let mut statement = Map::new();
    statement.insert("study".into(), Value::from(ready.study.name.as_str()));
    statement.insert("study_hash".into(), Value::from(study.to_string()));
    statement.insert("run".into(), Value::from(run));
    describe(&mut statement, ready, published)?;
    Ok(Value::Object(statement))
}

/// The part of a statement that speaks of the release.
fn describe(
    statement: &mut Map<String, Value>,
    ready: &Ready,
    published: &Published,
) -> Result<(), CliError> {
    let mut files = Map::new();
    for name in FILES {
        let hash = hash(&published.folder.join(name))?;
        files.insert(name.to_owned(), Value::from(hash));
    }
    let security = crate::study::security(ready.study.security);
    let algorithm = crate::study::algorithm(ready.study.algorithm);
    statement.insert("security".into(), Value::from(security));
    statement.insert("algorithm".into(), Value::from(algorithm));
    statement.insert("records".into(), Value::from(published.verdict.records));
    statement.insert("classes".into(), Value::from(published.verdict.classes));
    statement.insert("files".into(), Value::Object(files));
    Ok(())
}

/// The hash of a file of a release, as the statement has it.
pub(crate) fn hash(path: &Path) -> Result<String, FileError> {
    let unreadable = |error: std::io::Error| FileError::Unreadable {
        file: path.display().to_string(),
        reason: error.to_string(),
    };
    let mut hasher = blake3::Hasher::new();
    let file = std::fs::File::open(path).map_err(unreadable)?;
    hasher.update_reader(file).map_err(unreadable)?;
    Ok(hasher.finalize().to_hex().to_string())
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
    account: &Account<'_>,
) -> Value {
    let signatures: Vec<Value> = names
        .zip(keys)
        .zip(&seals.signatures)
        .map(|((site, key), signature)| {
            json!({ "site": site, "key": key.to_string(), "signature": hex(signature) })
        })
        .collect();
    account.under("signed", signed, signatures)
}

/// Writes the manifest of a release that nobody signs, made of a study that may not be one that
/// can be signed.
pub(crate) fn write_unsigned(
    ready: &Ready,
    study: &Path,
    account: &Account<'_>,
) -> Result<(), CliError> {
    let mut statement = Map::new();
    statement.insert("study".into(), Value::from(ready.study.name.as_str()));
    if let Ok(agreement) = Agreement::open(study) {
        let hash = agreement.hash.to_string();
        statement.insert("study_hash".into(), Value::from(hash));
    }
    describe(&mut statement, ready, account.published)?;
    let manifest = account.under("unsigned", Value::Object(statement), Vec::new());
    write(&account.published.folder, &manifest)
}

impl Account<'_> {
    fn under(&self, name: &str, statement: Value, signatures: Vec<Value>) -> Value {
        let mut manifest = json!({ name: statement, "signatures": signatures });
        manifest["sites"] = self.sites.into();
        manifest["achieved"] = achieved(&self.published.verdict, self.of_sites).into();
        manifest["utility"] = json!(self.published.utility);
        manifest["ledger"] = self.ledger.into();
        manifest["cost"] = json!(self.cost);
        manifest
    }
}

/// A ledger's summary as JSON.
pub(crate) fn ledger(lines: &[Line]) -> Vec<Value> {
    let entry = |line: &Line| {
        let mut entry = json!({ "what": line.what, "to": line.to, "values": line.values, "allowed_by": line.allowed_by });
        if let Some(caveat) = line.caveat {
            entry["caveat"] = caveat.into();
        }
        entry
    };
    lines.iter().map(entry).collect()
}

/// What was signed of the release in a folder, where there is one.
pub(crate) fn signed_part(folder: &Path) -> Option<Value> {
    let text = std::fs::read(folder.join(FILE)).ok()?;
    let mut manifest: Value = serde_json::from_slice(&text).ok()?;
    manifest.get_mut("signed").map(Value::take)
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
