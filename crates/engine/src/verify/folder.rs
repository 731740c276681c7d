//! Whether a release folder is what its manifest says: the study's hash, the hashes of the files,
//! every site's signature by the keys in the study, the numbers, and the seal of the site that wrote
//! it; and whether nothing is missing or lies there besides.
//!
//! Every difference is a finding with the name of the file; nothing here stops at the first.

use std::path::Path;

use hedgerow_data::{Column, Release, ReleaseColumn};
use hedgerow_node::agreement::{Agreement, StudyHash};
use hedgerow_node::identity::{PublicKey, Purpose, from_hex, hex};
use hedgerow_node::run::statement_digest;
use hedgerow_privacy::utility::Utility;
use hedgerow_privacy::verify::Verdict;
use serde::Serialize;
use serde_json::Value;

use crate::release::achieved::{OfSites, achieved};
use crate::release::manifest::{
    FILE, OWN_FILE, VERSION, account_digest, hash, statement, strangers, tail,
};
use crate::release::outcome;
use crate::study::names::{algorithm, security};
use crate::study::opened::Opened;
use crate::words::one_line;

/// The longest manifest: a few hundred bytes for each of 250 sites, and a ledger.
const LONGEST: u64 = 1 << 24;

/// What a look at a manifest found.
#[derive(Debug, Default, Serialize)]
pub struct Check {
    /// Whether the release is what the manifest says, and signed where the study has keys.
    pub holds: bool,
    /// Whether every site of the study has signed.
    pub signed: bool,
    /// The hash of the study that was given, where it can be hashed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub study_hash: Option<String>,
    /// Which run of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<u64>,
    /// The site whose ledger, cost and report these are, if its seal is sound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account: Option<String>,
    /// How it stands with each site.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub signatures: Vec<Signature>,
    /// The sites whose part in the run the auditor of the study did again, and found as it should be.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub audited: Vec<String>,
    /// What a release cannot show and all sites attested to by signing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub attested: Vec<String>,
    /// What a release cannot show and nobody has signed for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unseen: Vec<String>,
    /// Everything that is not as it should be.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<String>,
    /// The files that are what the manifest speaks of.
    #[serde(skip)]
    sound: Vec<String>,
    /// Whether what all sites sign is as it should be, whatever one site says besides.
    #[serde(skip)]
    is_release: bool,
    /// The manifest, for what it says besides.
    #[serde(skip)]
    pub(crate) manifest: Value,
}

/// How it stands with one site's signature.
#[derive(Debug, Serialize)]
pub struct Signature {
    /// The site.
    pub site: String,
    /// Its key in the study.
    pub key: String,
    /// `signed`, or what is wrong.
    pub standing: &'static str,
}

const SIGNED: &str = "signed";

impl Check {
    /// Looks at everything but the numbers. None for a file alone, and for a folder without a manifest
    /// where nobody could have signed one.
    pub(super) fn of(folder: &Path, opened: &Opened) -> Option<Self> {
        let path = folder.join(FILE);
        let mut check = Self::default();
        if !path.exists() {
            let has_key = opened.study.sites.iter().any(|site| site.key.is_some());
            if !folder.is_dir() {
                return None;
            }
            // Whatever lies there is read by somebody.
            for name in strangers(folder, &opened.study) {
                check.find(format!("{}: is no file of a release", one_line(&name)));
            }
            if !has_key {
                let files = opened.study.release_files();
                check.sound = files
                    .into_iter()
                    .filter(|file| folder.join(file).exists())
                    .collect();
                return Some(check);
            }
            check.find(format!(
                "{FILE}: is missing, and with it the signatures of the sites"
            ));
            return Some(check);
        }
        let bytes = match read(&path) {
            Ok(bytes) => bytes,
            Err(reason) => {
                check.find(format!("{FILE}: cannot be read: {reason}"));
                return Some(check);
            }
        };
        match serde_json::from_slice(&bytes) {
            Ok(manifest) => check.manifest = manifest,
            Err(error) => {
                check.find(format!("{FILE}: is no manifest: {error}"));
                return Some(check);
            }
        }
        let version = &check.manifest["version"];
        if *version != VERSION {
            check.find(match version.is_null() {
                true => format!("{FILE}: has no version, expected {VERSION}"),
                false => format!(
                    "{FILE}: is of version {version}, this hedgerow reads version {VERSION}: look at it with the hedgerow that wrote it"
                ),
            });
            return Some(check);
        }
        check.release(folder, opened, Some(&bytes));
        check.account(folder, opened, &bytes);
        Some(check)
    }

    /// Looks at a manifest before its seal is set.
    pub(super) fn unsealed(folder: &Path, opened: &Opened, manifest: &Value) -> Self {
        let mut check = Self {
            manifest: manifest.clone(),
            ..Self::default()
        };
        check.release(folder, opened, None);
        check.account = check.writer().map(str::to_owned);
        check
    }

    /// What all sites sign.
    fn release(&mut self, folder: &Path, opened: &Opened, bytes: Option<&[u8]>) {
        let (name, said) = match (self.manifest.get("signed"), self.manifest.get("unsigned")) {
            (Some(said), None) => ("signed", said.clone()),
            (None, Some(said)) => ("unsigned", said.clone()),
            _ => return self.find(format!("{FILE}: has no statement of the release")),
        };
        if bytes.is_some_and(|bytes| !is_as_written(bytes, name, &said)) {
            self.find(format!("{FILE}: the {name} part was changed by hand"));
        }
        for file in opened.study.release_files() {
            if self.file_is(folder, &file, &said["files"]) {
                self.sound.push(file);
            }
        }
        self.study(folder, opened, name == "signed", &said);
        self.is_release = self.findings.is_empty();
    }

    /// What the site that wrote the manifest says besides: every byte of it is under its seal, and
    /// nothing else lies in the folder.
    fn account(&mut self, folder: &Path, opened: &Opened, bytes: &[u8]) {
        let files = self.manifest["account"]["files"].clone();
        self.file_is(folder, OWN_FILE, &files);
        for name in strangers(folder, &opened.study) {
            self.find(format!("{}: is no file of this release", one_line(&name)));
        }
        let seal = self.manifest["seal"].as_str().unwrap_or_default();
        let Some(head) = bytes.strip_suffix(tail(seal).as_bytes()) else {
            return self.find(format!("{FILE}: does not end with a seal"));
        };
        let digest = account_digest(head);
        if self.manifest.get("unsigned").is_some() {
            if seal != hex(&digest) {
                self.find(format!("{FILE}: was changed after it was written"));
            }
            return;
        }
        let writer = self.writer().unwrap_or_default().to_owned();
        // Where the study has no keys, that has been found.
        let Some((agreement, keys)) = signers(opened) else {
            return;
        };
        let sites = agreement.study.sites.iter().zip(&keys);
        let key = sites
            .filter(|(site, _)| site.name == writer)
            .map(|(_, key)| key)
            .next();
        let is_sealed = |key: &PublicKey| {
            from_hex(seal).is_some_and(|seal| key.verifies(Purpose::Account, &digest, &seal))
        };
        match key {
            Some(key) if is_sealed(key) => self.account = Some(writer),
            Some(_) => self.find(format!("{FILE}: is not as `{writer}` sealed it")),
            None => self.find(format!(
                "{FILE}: is an account of `{writer}`, which is no site of the study"
            )),
        }
    }

    /// The site that wrote the manifest, by its own word.
    fn writer(&self) -> Option<&str> {
        self.manifest["account"]["site"].as_str()
    }

    fn find(&mut self, finding: String) {
        self.findings.push(finding);
    }

    /// Whether a file has the hash that is said of it.
    fn file_is(&mut self, folder: &Path, name: &str, hashes: &Value) -> bool {
        let path = folder.join(name);
        let Some(expected) = hashes[name].as_str() else {
            self.find(format!("{FILE}: does not say the hash of {name}"));
            return false;
        };
        match hash(&path) {
            Ok(found) if found == expected => return true,
            Ok(_) => self.find(format!(
                "{name}: is not the file that {FILE} speaks of: it has another hash"
            )),
            Err(_) if !path.exists() => self.find(format!("{name}: is missing")),
            Err(error) => self.find(error.to_string()),
        }
        false
    }

    /// The study's hash and name, and the signatures.
    fn study(&mut self, folder: &Path, opened: &Opened, is_signed: bool, said: &Value) {
        let agreement = match &opened.agreement {
            Some(Ok(agreement)) => agreement,
            // A study that was never a file has neither hash nor keys.
            None => {
                if is_signed {
                    self.find(String::from("the study has no hash: it is no file"));
                }
                return;
            }
            Some(Err(error)) => {
                // An unsigned release may be of a study that cannot be signed.
                if is_signed || said.get("study_hash").is_some() {
                    self.find(format!("the study has no hash: {error}"));
                }
                return;
            }
        };
        self.study_hash = Some(agreement.hash.to_string());
        let study = &agreement.study;
        for (key, expected) in [
            ("study", study.name.as_str()),
            ("study_hash", &agreement.hash.to_string()),
            ("security", security(study.security)),
            ("algorithm", algorithm(study.algorithm)),
        ] {
            if said[key].as_str() != Some(expected) {
                self.find(format!(
                    "{FILE}: `{key}` is {}, this study's is \"{expected}\"",
                    said[key]
                ));
            }
        }
        let has_keys = study.sites.iter().any(|site| site.key.is_some());
        match agreement.keys() {
            Ok(keys) if is_signed => self.signatures(folder, agreement, &keys, said),
            Ok(_) => {
                let names: Vec<&str> = study.sites.iter().map(|site| site.name.as_str()).collect();
                self.find(format!(
                    "{FILE}: not signed by {}",
                    hedgerow_data::quoted_list(&names)
                ));
            }
            Err(error) if is_signed || has_keys => self.find(error.to_string()),
            // A study without sites has nobody who could sign.
            Err(_) => {}
        }
    }

    fn signatures(
        &mut self,
        folder: &Path,
        agreement: &Agreement,
        keys: &[PublicKey],
        said: &Value,
    ) {
        self.run = said["run"].as_u64();
        // The signatures are of what the manifest says; whether that is this study is another
        // question, and has been answered.
        let claimed = said["study_hash"].as_str().and_then(from_hex);
        let run = self.run.and_then(|run| u32::try_from(run).ok());
        let digest = claimed
            .zip(run)
            .map(|(study, run)| statement_digest(StudyHash(study), run, &statement(said)));
        let entries = match self.manifest["signatures"].as_array() {
            Some(entries) => entries.clone(),
            None => Vec::new(),
        };
        let names = agreement.study.sites.iter().map(|site| &site.name);
        for (place, (name, key)) in names.zip(keys).enumerate() {
            let text = key.to_string();
            let entry = entries.get(place);
            let word = |of: &str| entry.and_then(|entry| entry[of].as_str());
            let signature = word("signature").and_then(from_hex);
            let standing = match (entry, digest, signature) {
                (None, ..) => "not signed",
                _ if word("site") != Some(name) => "not signed: another site stands in its place",
                _ if word("key") != Some(&text) => "signed by another key than the study has",
                (_, Some(digest), Some(signature))
                    if key.verifies(Purpose::Release, &digest, &signature) =>
                {
                    SIGNED
                }
                _ => "the signature is not of this release",
            };
            if standing != SIGNED {
                self.find(format!("{FILE}: `{name}`: {standing}"));
            }
            self.signatures.push(Signature {
                site: name.clone(),
                key: text,
                standing,
            });
        }
        if let (Some(digest), Some(run)) = (digest, self.run) {
            self.audits(folder, agreement, run, &digest);
        }
        for entry in entries.iter().skip(keys.len()) {
            let finding = format!(
                "{FILE}: a signature of {}, which is no site of the study",
                entry["site"]
            );
            self.find(finding);
        }
        self.signed = self
            .signatures
            .iter()
            .all(|signature| signature.standing == SIGNED);
    }

    /// What the auditor says of sites, where outcomes of audits lie beside the release.
    fn audits(&mut self, folder: &Path, agreement: &Agreement, run: u64, release: &[u8; 32]) {
        let audit = agreement.study.audit.as_ref();
        let auditor = audit.and_then(|audit| audit.auditor.as_ref()?.parse().ok());
        for site in &agreement.study.sites {
            let file = outcome::file_of(&site.name);
            let path = folder.join(&file);
            if !path.exists() {
                continue;
            }
            let Some(auditor) = &auditor else {
                self.find(format!("{file}: the study names no auditor"));
                continue;
            };
            match outcome::read(&path, &site.name, (agreement.hash, run), release, auditor) {
                Ok(Ok(())) => self.audited.push(site.name.clone()),
                Ok(Err(finding)) => self.find(format!(
                    "{file}: the auditor did the part of `{}` again: {}",
                    site.name,
                    one_line(&finding)
                )),
                Err(reason) => self.find(format!("{file}: {}", one_line(&reason))),
            }
        }
    }

    /// The file to read: one that nobody has changed if there is one, and the simpler one if not.
    pub(super) fn file(&self) -> &'static str {
        match self.is_sound("release.parquet") {
            true => "release.parquet",
            false => "release.csv",
        }
    }

    /// Whether both files are what the manifest speaks of.
    pub(super) fn has_both(&self) -> bool {
        self.is_sound("release.csv") && self.is_sound("release.parquet")
    }

    fn is_sound(&self, file: &str) -> bool {
        self.sound.iter().any(|sound| sound == file)
    }

    /// Whether what speaks of sites can be taken from the signatures.
    pub(super) fn attests(&self) -> bool {
        self.signed && self.is_release
    }

    /// Whether it was made in one place, and is what it was.
    pub(super) fn is_of_one_place(&self) -> bool {
        self.manifest["unsigned"].is_object() && self.is_release
    }

    /// Holds what the manifest says against what was found in the release. The account of achieved
    /// privacy and utility is of the study's own requirement.
    pub(super) fn numbers(
        &mut self,
        verdict: &Verdict,
        utility: Option<&Utility>,
        is_own_requirement: bool,
    ) {
        if self.manifest.is_null() {
            // There is none that could be read, and that has been found.
            return;
        }
        let name = if self.manifest.get("signed").is_some() {
            "signed"
        } else {
            "unsigned"
        };
        for (key, found) in [("records", verdict.records), ("classes", verdict.classes)] {
            let said = self.manifest[name][key].clone();
            if said.as_u64() != Some(found) {
                self.find(format!(
                    "{FILE}: `{key}` is {said}, the release has {found}"
                ));
            }
        }
        if is_own_requirement {
            let found = Value::Object(achieved(verdict, OfSites::default()));
            let said = self.manifest["achieved"].clone();
            self.compare("achieved", &said, &found);
            let found = serde_json::to_value(utility).unwrap_or_default();
            let said = self.manifest["utility"].clone();
            self.compare("utility", &said, &found);
        }
    }

    /// Every number found must be the one that is said.
    fn compare(&mut self, path: &str, said: &Value, found: &Value) {
        match (said, found) {
            (Value::Object(_), Value::Object(found)) => {
                for (key, found) in found {
                    // These take the original table, which the manifest's writer did not look at.
                    if !matches!(key.as_str(), "em" | "ncp_present" | "query_error") {
                        self.compare(&format!("{path}.{key}"), &said[key], found);
                    }
                }
            }
            _ if is_same(said, found) => {}
            _ => self.find(format!(
                "{FILE}: `{path}` is {said}, the release has {found}"
            )),
        }
    }

    /// The two files must say the same.
    pub(super) fn same(&mut self, csv: &Release, parquet: &Release) {
        if csv.rows() != parquet.rows() {
            self.find(format!(
                "release.csv has {} records, release.parquet has {}",
                csv.rows(),
                parquet.rows()
            ));
            return;
        }
        let attributes = csv.schema().attributes();
        let columns = csv.columns().iter().zip(parquet.columns());
        for (attribute, (csv, parquet)) in attributes.iter().zip(columns) {
            if let Some(row) = first_difference(csv, parquet) {
                self.find(format!(
                    "release.csv and release.parquet differ in `{}`, first at record {row}",
                    attribute.name
                ));
            }
        }
    }

    /// Decides, once everything was looked at.
    pub(super) fn decide(&mut self) {
        self.holds = self.findings.is_empty();
    }
}

/// The study and the keys of its sites, where all have one.
fn signers(opened: &Opened) -> Option<(&Agreement, Vec<PublicKey>)> {
    let agreement = opened.signable()?;
    Some((agreement, agreement.keys().ok()?))
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    use std::io::Read as _;
    let file = std::fs::File::open(path).map_err(|error| error.to_string())?;
    let mut bytes = Vec::new();
    let read = file.take(LONGEST + 1).read_to_end(&mut bytes);
    read.map_err(|error| error.to_string())?;
    match bytes.len() as u64 > LONGEST {
        true => Err(format!("it is longer than {LONGEST} bytes")),
        false => Ok(bytes),
    }
}

/// Whether a statement stands at the head of the file, after the version, as it was written: JSON has many ways to
/// write the same.
fn is_as_written(bytes: &[u8], name: &str, said: &Value) -> bool {
    // No text in JSON has a line break of its own.
    let indented = format!("{said:#}").replace('\n', "\n  ");
    let head = format!("{{\n  \"version\": {VERSION},\n  \"{name}\": {indented},\n");
    bytes.starts_with(head.as_bytes())
}

/// Whole numbers are the same or not; fractions lose their last digit on the way through text.
fn is_same(said: &Value, found: &Value) -> bool {
    match (said.as_f64(), found.as_f64()) {
        (Some(said), Some(found)) => (said - found).abs() <= 1e-9 * found.abs().max(1.0),
        _ => said == found,
    }
}

/// The first record, from 1, in which two columns differ.
fn first_difference(one: &ReleaseColumn, other: &ReleaseColumn) -> Option<usize> {
    match (one, other) {
        (ReleaseColumn::Generalized(one), ReleaseColumn::Generalized(other)) => {
            let cell = |row: usize| {
                let (one_code, other_code) = (one.codes[row], other.codes[row]);
                one.cells[one_code as usize] != other.cells[other_code as usize]
            };
            (0..one.codes.len()).find(|row| cell(*row))
        }
        (
            ReleaseColumn::Verbatim(Column::Coded(one)),
            ReleaseColumn::Verbatim(Column::Coded(other)),
        ) => one
            .iter()
            .zip(other.iter())
            .position(|(one, other)| one != other),
        (
            ReleaseColumn::Verbatim(Column::Text(one)),
            ReleaseColumn::Verbatim(Column::Text(other)),
        ) => one
            .iter()
            .zip(other.iter())
            .position(|(one, other)| one != other),
        (ReleaseColumn::Absent, ReleaseColumn::Absent) => None,
        _ => Some(0),
    }
    .map(|row| row + 1)
}
