//! `manifest.json` of a release: what all sites signed, their signatures, and the account of the site
//! that wrote it: achieved privacy, utility, its ledger, what the run cost, how the loss fell, and its
//! report.
//!
//! It begins with its version. What all sign is the same at every site, byte for byte: names, counts and hashes of files, no
//! fractions. The account is each site's own; its last line is the seal, that site's signature under
//! every byte before it. With the hashes in it, no byte of the folder can change unseen. A release
//! that no sites made, of `simulate` or `anonymize`, has the same statement under the name
//! `unsigned`, no signatures, and as its seal a mere hash: it shows damage, not forgery.

use std::path::Path;

use hedgerow_data::Study;
use hedgerow_data::files::FileError;
use hedgerow_node::agreement::StudyHash;
use hedgerow_node::identity::{PublicKey, hex};
use hedgerow_node::run::Seals;
use hedgerow_smc::ledger::Line;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::achieved::{OfSites, achieved};
use super::cost::Cost;
use super::outcome;
use super::publish::Published;
use crate::error::Error;
use crate::joint::Convergence;
use crate::study::names::{algorithm, security};
use crate::study::ready::Ready;

/// Its name in the folder of a release.
pub(crate) const FILE: &str = "manifest.json";
/// The version of what it says and how: a reader of another one does not guess.
pub(crate) const VERSION: u64 = 1;
/// The file that is of the site's own account.
pub(crate) const OWN_FILE: &str = "report.html";

/// What a site says of a release that the others have not signed: its own account.
pub(crate) struct Account<'a> {
    pub(crate) published: &'a Published,
    pub(crate) sites: usize,
    pub(crate) of_sites: OfSites,
    pub(crate) ledger: &'a [Disclosed],
    pub(crate) cost: &'a Cost,
    /// How the loss of a clustering fell.
    pub(crate) convergence: Option<&'a Convergence>,
    /// Of the same people at several sites: who held what, and how groups were found.
    pub(crate) shared: Option<Value>,
}

/// The run that a release is of.
pub(crate) struct RunOf<'a> {
    pub(crate) study: StudyHash,
    pub(crate) number: u32,
    /// What each site committed itself to before it, in the study's order.
    pub(crate) commitments: Vec<(&'a str, [u8; 32])>,
    /// The hash of every answer that all sites saw opened.
    pub(crate) transcript: [u8; 32],
}

/// What all sites sign.
pub(crate) fn signed(
    ready: &Ready,
    run: &RunOf<'_>,
    published: &Published,
) -> Result<Value, Error> {
    let mut statement = Map::new();
    statement.insert("study".into(), Value::from(ready.study.name.as_str()));
    statement.insert("study_hash".into(), Value::from(run.study.to_string()));
    statement.insert("run".into(), Value::from(run.number));
    let commitments = run.commitments.iter();
    let commitments: Map<String, Value> = commitments
        .map(|(site, commitment)| ((*site).to_owned(), hex(commitment).into()))
        .collect();
    statement.insert("commitments".into(), commitments.into());
    statement.insert("transcript".into(), hex(&run.transcript).into());
    describe(&mut statement, ready, published)?;
    Ok(Value::Object(statement))
}

/// The part of a statement that speaks of the release.
pub(super) fn describe(
    statement: &mut Map<String, Value>,
    ready: &Ready,
    published: &Published,
) -> Result<(), Error> {
    let mut files = Map::new();
    for name in ready.study.release_files() {
        let hash = hash(&published.folder.join(&name))?;
        files.insert(name, Value::from(hash));
    }
    let (security, algorithm) = (
        security(ready.study.security),
        algorithm(ready.study.algorithm),
    );
    statement.insert("security".into(), Value::from(security));
    statement.insert("algorithm".into(), Value::from(algorithm));
    statement.insert("records".into(), Value::from(published.verdict.records));
    statement.insert("classes".into(), Value::from(published.verdict.classes));
    statement.insert("csv".into(), Value::from(ready.study.csv.name()));
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

impl Account<'_> {
    pub(super) fn under(&self, name: &str, statement: Value, signatures: Vec<Value>) -> Value {
        let mut manifest = json!({ "version": VERSION, name: statement, "signatures": signatures });
        manifest["sites"] = self.sites.into();
        manifest["achieved"] = achieved(&self.published.verdict, self.of_sites).into();
        manifest["utility"] = json!(self.published.utility);
        manifest["ledger"] = json!(self.ledger);
        manifest["cost"] = json!(self.cost);
        if let Some(convergence) = self.convergence.and_then(Convergence::public) {
            manifest["convergence"] = json!(convergence);
        }
        if let Some(shared) = &self.shared {
            manifest["shared"] = shared.clone();
        }
        manifest
    }
}

/// One kind of thing that a run disclosed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Disclosed {
    /// What was disclosed.
    pub what: String,
    /// To whom.
    pub to: String,
    /// How many values.
    pub values: u64,
    /// The theorem or rule that allows it.
    pub allowed_by: String,
    /// What could not be hidden besides.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub caveat: Option<String>,
}

/// The summary of a ledger.
pub(crate) fn ledger(lines: &[Line]) -> Vec<Disclosed> {
    let entry = |line: &Line| Disclosed {
        what: line.what.to_owned(),
        to: line.to.to_string(),
        values: line.values as u64,
        allowed_by: line.allowed_by.to_owned(),
        caveat: line.caveat.map(str::to_owned),
    };
    lines.iter().map(entry).collect()
}

/// What was signed of the release in a folder, where there is one.
pub(crate) fn signed_part(folder: &Path) -> Option<Value> {
    let text = std::fs::read(folder.join(FILE)).ok()?;
    let mut manifest: Value = serde_json::from_slice(&text).ok()?;
    manifest.get_mut("signed").map(Value::take)
}

/// What a seal is of: every byte of the manifest before its last line.
pub(crate) fn account_digest(head: &[u8]) -> [u8; 32] {
    blake3::derive_key("hedgerow account v1", head)
}

/// How a manifest ends.
pub(crate) fn tail(seal: &str) -> String {
    format!(",\n  \"seal\": \"{seal}\"\n}}\n")
}

/// What lies in a folder and is no file of a release of this study, by name.
pub(crate) fn strangers(folder: &Path, study: &Study) -> Vec<String> {
    let files = study.release_files();
    let audits: Vec<String> = study
        .sites
        .iter()
        .map(|site| outcome::file_of(&site.name))
        .collect();
    let is_known = |name: &String| {
        files.contains(name) || audits.contains(name) || *name == FILE || *name == OWN_FILE
    };
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut strangers: Vec<String> = names.filter(|name| !is_known(name)).collect();
    strangers.sort_unstable();
    strangers
}
