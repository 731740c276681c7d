//! Whether a release folder is what its manifest says: the study's hash, the hashes of the files,
//! every site's signature by the keys in the study, the numbers, and the seal of the site that wrote
//! it; and whether nothing is missing or lies there besides.
//!
//! Every difference is a finding with the name of the file; nothing here stops at the first. Where the
//! study comes from the folder itself, signatures are held against the keys in the manifest, which shows
//! that nothing was changed since, but not who signed: the check says so.

mod derived;
mod same;
mod signed;

use std::path::{Component, Path};

use hedgerow_node::agreement::Agreement;
use hedgerow_node::identity::{PublicKey, Purpose, from_hex, hex};
use hedgerow_privacy::utility::Utility;
use hedgerow_privacy::verify::Verdict;
use serde::Serialize;
use serde_json::Value;

use super::check::Check;
use crate::release::achieved::{Achieved, OfSites};
use crate::release::date::is_day;
use crate::release::files::{account_digest, hash, strangers, tail};
use crate::release::manifest::{FILE, Manifest, OWN_FILE, Statement, VERSION};
use crate::release::ordered::Ordered;
use crate::study::opened::Opened;
use crate::words::one_line;

impl Check {
    /// Checks everything but the numbers. `None` for a file alone, and for a folder without a manifest
    /// where nobody could have signed one.
    pub(crate) fn of(folder: &Path, opened: &Opened) -> Option<Self> {
        let mut check = Self {
            self_described: opened.is_described,
            is_closed: true,
            ..Self::default()
        };
        if !folder.join(FILE).exists() {
            let has_key = opened.study.sites.iter().any(|site| site.key.is_some());
            if !folder.is_dir() {
                return None;
            }
            // Somebody may read any file that lies there.
            for name in strangers(folder, &opened.study) {
                check.find(format!("{}: is no file of a release", one_line(&name)));
            }
            if folder.join(OWN_FILE).exists() {
                check.find(format!(
                    "{OWN_FILE}: without {FILE} nothing says what it should be"
                ));
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
        match Manifest::read(folder) {
            Ok((manifest, bytes)) => {
                check.release(folder, opened, &manifest, Some(&bytes));
                check.account(folder, opened, &manifest, &bytes);
                check.manifest = Some(manifest);
            }
            Err(error) => check.find(error.to_string()),
        }
        Some(check)
    }

    /// Checks a manifest before its seal is set.
    pub(super) fn unsealed(folder: &Path, opened: &Opened, manifest: &Manifest) -> Self {
        let mut check = Self::default();
        check.release(folder, opened, manifest, None);
        check.account = manifest.writer().map(str::to_owned);
        check.manifest = Some(manifest.clone());
        check
    }

    /// Checks the files of a folder whose description is of no study, to find the changed files.
    pub(super) fn of_files(folder: &Path, manifest: &Manifest) -> Self {
        let mut check = Self {
            self_described: true,
            ..Self::default()
        };
        if let Some((said, _)) = manifest.statement() {
            // A manifest that was forged may name any file.
            let is_inside = |name: &str| {
                let mut parts = Path::new(name).components();
                parts.all(|part| matches!(part, Component::Normal(_)))
            };
            for (name, _) in said.files.iter().filter(|(name, _)| is_inside(name)) {
                check.file_is(folder, name, &said.files);
            }
        }
        check
    }

    /// Checks the statement that all sites sign.
    fn release(
        &mut self,
        folder: &Path,
        opened: &Opened,
        manifest: &Manifest,
        bytes: Option<&[u8]>,
    ) {
        let Some((said, is_signed)) = manifest.statement() else {
            return self.find(format!("{FILE}: has no statement of the release"));
        };
        self.gate = said.gate.clone();
        let name = if is_signed { "signed" } else { "unsigned" };
        if bytes.is_some_and(|bytes| !is_as_written(bytes, name, said)) {
            self.find(format!("{FILE}: the {name} part was changed by hand"));
        }
        if !is_day(&said.date) {
            self.find(format!(
                "{FILE}: `date` is `{}`, which is no day",
                one_line(&said.date)
            ));
        }
        let files = opened.study.release_files();
        for (name, _) in said
            .files
            .iter()
            .filter(|(name, _)| !files.iter().any(|file| file == name))
        {
            self.find(format!(
                "{FILE}: speaks of {}, which is no file of this release",
                one_line(name)
            ));
        }
        for file in files {
            if self.file_is(folder, &file, &said.files) {
                self.sound.push(file);
            }
        }
        self.places(folder, opened, manifest, (said, is_signed));
        if opened.is_described {
            self.own_word(folder, opened, manifest, (said, is_signed));
        } else {
            self.study(folder, opened, manifest, (said, is_signed));
        }
        self.is_release = self.findings.is_empty();
    }

    /// Checks the account of the site that wrote the manifest: every byte of the manifest is under its
    /// seal, and nothing else lies in the folder.
    fn account(&mut self, folder: &Path, opened: &Opened, manifest: &Manifest, bytes: &[u8]) {
        self.file_is(folder, OWN_FILE, &manifest.account.files);
        for name in strangers(folder, &opened.study) {
            self.find(format!("{}: is no file of this release", one_line(&name)));
        }
        let seal = manifest.seal.as_deref().unwrap_or_default();
        let Some(head) = bytes.strip_suffix(tail(seal).as_bytes()) else {
            return self.find(format!("{FILE}: does not end with a seal"));
        };
        let digest = account_digest(head);
        if manifest.unsigned.is_some() {
            if seal != hex(&digest) {
                self.find(format!("{FILE}: was changed after it was written"));
            }
            return;
        }
        let writer = one_line(manifest.writer().unwrap_or_default()).into_owned();
        let key = if opened.is_described {
            let entries = manifest.signatures.iter();
            let entry = entries.filter(|entry| Some(entry.site.as_str()) == manifest.writer());
            entry.filter_map(|entry| entry.key.parse().ok()).next()
        } else {
            // Where the study has no keys, that has been found.
            let Some((agreement, keys)) = signers(opened) else {
                return;
            };
            let sites = agreement.study.sites.iter().zip(keys);
            let own = sites.filter(|(site, _)| Some(site.name.as_str()) == manifest.writer());
            own.map(|(_, key)| key).next()
        };
        let is_sealed = |key: &PublicKey| {
            from_hex(seal).is_some_and(|seal| key.verifies(Purpose::Account, &digest, &seal))
        };
        match key {
            Some(key) if is_sealed(&key) => self.account = Some(writer),
            Some(_) => self.find(format!("{FILE}: is not as `{writer}` sealed it")),
            None => self.find(format!(
                "{FILE}: is an account of `{writer}`, which is no site of the study"
            )),
        }
    }

    fn find(&mut self, finding: String) {
        self.findings.push(finding);
    }

    /// Whether a file has the hash that the manifest gives for it.
    fn file_is(&mut self, folder: &Path, name: &str, hashes: &Ordered<String>) -> bool {
        let path = folder.join(name);
        let expected = hashes.get(name);
        let name = one_line(name);
        let Some(expected) = expected else {
            self.find(format!("{FILE}: does not say the hash of {name}"));
            return false;
        };
        match hash(&path) {
            Ok(found) if found == *expected => return true,
            Ok(_) => self.find(format!(
                "{name}: is not the file that {FILE} speaks of: it has another hash"
            )),
            Err(_) if !path.exists() => self.find(format!("{name}: is missing")),
            Err(error) => self.find(error.to_string()),
        }
        false
    }

    /// The file to read: a file that nobody has changed, or the simpler file where all were changed.
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

    /// Whether nobody known attests to the demands that speak of sites, though the release is sound: it
    /// was made in one place, or is checked without the study that has the keys.
    pub(super) fn is_unattested(&self) -> bool {
        let is_of_one_place = self
            .manifest
            .as_ref()
            .is_some_and(|said| said.unsigned.is_some());
        (is_of_one_place || self.self_described) && self.is_release
    }

    /// Holds what the manifest says against what was found in the release. The account of achieved
    /// privacy and utility is of the study's own requirement.
    pub(super) fn numbers(
        &mut self,
        verdict: &Verdict,
        utility: Option<&Utility>,
        is_own_requirement: bool,
    ) {
        // A manifest that is missing or could not be read is a finding already.
        let Some(manifest) = self.manifest.take() else {
            return;
        };
        if let Some((said, _)) = manifest.statement() {
            for (key, said, found) in [
                ("records", said.records, verdict.records),
                ("classes", said.classes, verdict.classes),
            ] {
                if said != found {
                    self.find(format!(
                        "{FILE}: `{key}` is {said}, the release has {found}"
                    ));
                }
            }
        }
        if is_own_requirement {
            let found = Achieved::of(verdict, OfSites::default());
            self.compare("achieved", &as_value(&manifest.achieved), &as_value(&found));
            self.compare("utility", &as_value(&manifest.utility), &as_value(&utility));
        }
        self.manifest = Some(manifest);
    }

    /// Compares every number that was found with the number in the manifest.
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

    /// Decides, once everything was looked at.
    pub(super) fn decide(&mut self) {
        self.holds = self.findings.is_empty();
    }
}

/// The study and the keys of its sites, where every site has a key.
fn signers(opened: &Opened) -> Option<(&Agreement, Vec<PublicKey>)> {
    let agreement = opened.signable()?;
    Some((agreement, agreement.keys().ok()?))
}

/// Numbers by name, to be compared one by one.
fn as_value(numbers: &impl Serialize) -> Value {
    serde_json::to_value(numbers).unwrap_or_default()
}

/// Whether the statement stands at the head of the file, after the version, exactly as hedgerow writes
/// it: JSON has many ways to write the same data.
fn is_as_written(bytes: &[u8], name: &str, said: &Statement) -> bool {
    // No text in JSON has a line break of its own.
    let indented = serde_json::to_string_pretty(said).unwrap_or_default();
    let indented = indented.replace('\n', "\n  ");
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
