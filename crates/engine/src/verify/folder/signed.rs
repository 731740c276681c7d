//! Who signed a release, and for which study: by the study that was given, or, without one, by what the
//! manifest itself says.

use std::path::Path;

use hedgerow_data::Study;
use hedgerow_data::study::{DescribedColumn, Gate, Share};
use hedgerow_node::agreement::{Agreement, StudyHash};
use hedgerow_node::identity::{PublicKey, Purpose, from_hex};
use hedgerow_node::run::statement_digest;
use hedgerow_privacy::{Requirement, Scope};

use crate::release::manifest::{Demanded, FILE, Manifest, Statement};
use crate::release::outcome;
use crate::study::opened::Opened;
use crate::verify::check::{Check, Signature};
use crate::words::one_line;

/// The standing of a sound signature by the key that the study has.
const SIGNED: &str = "signed";
/// The standing of a sound signature whose key nobody vouches for.
const BY_THIS_KEY: &str = "signed with this key; whose it is, the study says";

impl Check {
    /// Checks the study's hash and name, the description of its columns, and the signatures.
    pub(super) fn study(
        &mut self,
        folder: &Path,
        opened: &Opened,
        manifest: &Manifest,
        (said, is_signed): (&Statement, bool),
    ) {
        let agreement = match &opened.agreement {
            Some(Ok(agreement)) => agreement,
            // A study that was never a file has neither hash nor keys.
            None => {
                if is_signed {
                    self.find(String::from("the study has no hash: it is no file"));
                }
                return self.description(&opened.study, said);
            }
            Some(Err(error)) => {
                // An unsigned release may be of a study that cannot be signed.
                if is_signed || said.study_hash.is_some() {
                    self.find(format!("the study has no hash: {error}"));
                }
                return self.description(&opened.study, said);
            }
        };
        let expected = agreement.hash.to_string();
        let study = &agreement.study;
        let is_same = said.study_hash.as_deref() == Some(expected.as_str());
        for (key, said, expected) in [
            ("study", Some(&said.study), study.name.as_str()),
            ("study_hash", said.study_hash.as_ref(), &expected),
            ("security", Some(&said.security), opened.run.security.name()),
            ("algorithm", Some(&said.algorithm), study.algorithm.name()),
        ] {
            if said.map(String::as_str) != Some(expected) {
                let said = serde_json::to_string(&said).unwrap_or_default();
                self.find(format!(
                    "{FILE}: `{key}` is {said}, this study's is \"{expected}\""
                ));
            }
        }
        self.study_hash = Some(expected);
        // For another study everything may differ, and the wrong study is a finding already.
        if is_same {
            self.description(study, said);
        }
        let has_keys = study.sites.iter().any(|site| site.key.is_some());
        match agreement.keys() {
            Ok(keys) if is_signed => {
                let names = study.sites.iter().map(|site| site.name.clone());
                let sites: Vec<(String, PublicKey)> = names.zip(keys).collect();
                let digest = self.signatures(manifest, said, &sites, SIGNED);
                self.signed = self.signatures.iter().all(|one| one.standing == SIGNED);
                if let (Some(digest), Some(run)) = (digest, said.run) {
                    self.audits(folder, agreement, run, &digest);
                }
            }
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

    /// Checks that the manifest describes columns and requirement as the study does.
    fn description(&mut self, study: &Study, said: &Statement) {
        let requirement = Requirement::of_study(study).ok();
        let requirement = requirement.as_ref().map(Demanded::from);
        for (key, is_same) in [
            ("partition", said.partition == study.partition),
            ("release", said.release == study.release),
            ("recode", said.recode == study.recode),
            ("fragments", said.fragments == study.asks_for_fragments()),
            ("csv", said.csv == study.csv.name()),
            ("columns", said.columns == DescribedColumn::of_study(study)),
            (
                "requirement",
                requirement.is_none_or(|requirement| said.requirement == requirement),
            ),
        ] {
            if !is_same {
                self.find(format!("{FILE}: `{key}` is not what the study says"));
            }
        }
        let limits = study.gate.iter().flat_map(Gate::limits);
        let limits: Vec<(&str, Share)> = limits.collect();
        let mut tried = said.gate.iter().zip(&limits);
        let is_kept = said.gate.len() == limits.len()
            && tried.all(|(tried, (attack, limit))| tried.keeps(attack, *limit));
        if !is_kept {
            self.find(format!(
                "{FILE}: `gate` is not what the study's [gate] asks for"
            ));
        }
    }

    /// Checks a folder without its study: signatures are held against the keys in the manifest.
    pub(super) fn own_word(
        &mut self,
        folder: &Path,
        opened: &Opened,
        manifest: &Manifest,
        (said, is_signed): (&Statement, bool),
    ) {
        self.not_shown.push(String::from(
            "that roles, domains and requirement are those that the sites agreed on",
        ));
        // Facts that the manifest states twice must agree, and stand in the form that a release uses.
        let study = &opened.study;
        let scope = Scope::of_study(study);
        let requirement = Requirement::of_document(study.document(), &scope);
        let words = requirement.map(|requirement| requirement.words());
        if words.is_ok_and(|words| words != said.requirement.words) {
            self.find(format!(
                "{FILE}: `requirement` says something else in words than as data"
            ));
        }
        for tried in said.gate.iter().filter(|tried| !tried.is_passed()) {
            let attack = one_line(&tried.attack);
            self.find(format!("{FILE}: `gate` does not let `{attack}` pass"));
        }
        if DescribedColumn::of_study(study) != said.columns {
            self.find(format!(
                "{FILE}: `columns` are not as a release states them"
            ));
        }
        if !is_signed {
            return;
        }
        let mut sites = Vec::new();
        for entry in &manifest.signatures {
            match entry.key.parse() {
                Ok(key) => sites.push((entry.site.clone(), key)),
                Err(_) => self.find(format!(
                    "{FILE}: the key of `{}` is none",
                    one_line(&entry.site)
                )),
            }
        }
        let of_sites = said.commitments.iter().map(|(site, _)| site);
        if !of_sites.eq(manifest.signatures.iter().map(|entry| entry.site.as_str())) {
            self.find(format!("{FILE}: other sites have signed than took part"));
        }
        self.signatures(manifest, said, &sites, BY_THIS_KEY);
        self.not_shown.push(String::from(
            "that the keys are those of the sites: who signed",
        ));
        for site in &opened.study.sites {
            let file = outcome::file_of(&site.name);
            if folder.join(&file).exists() {
                let file = one_line(&file);
                self.not_shown
                    .push(format!("what {file} says: the study names the auditor"));
            }
        }
    }

    /// The standing of each of these sites' signatures, under the digest that the sites signed, if there
    /// is a digest. A sound signature gets the standing `sound`.
    fn signatures(
        &mut self,
        manifest: &Manifest,
        said: &Statement,
        sites: &[(String, PublicKey)],
        sound: &'static str,
    ) -> Option<[u8; 32]> {
        self.run = said.run;
        // The signatures cover what the manifest says; whether the manifest is of this study was checked
        // before.
        let claimed = said.study_hash.as_deref().and_then(from_hex);
        let digest = claimed
            .zip(said.run)
            .map(|(study, run)| statement_digest(StudyHash(study), run, &said.bytes()));
        for (place, (name, key)) in sites.iter().enumerate() {
            let text = key.to_string();
            let entry = manifest.signatures.get(place);
            let signature = entry.and_then(|entry| from_hex(&entry.signature));
            let standing = match (entry, digest, signature) {
                (None, ..) => "not signed",
                (Some(entry), ..) if entry.site != *name => {
                    "not signed: another site stands in its place"
                }
                (Some(entry), ..) if entry.key != text => {
                    "signed by another key than the study has"
                }
                (_, Some(digest), Some(signature))
                    if key.verifies(Purpose::Release, &digest, &signature) =>
                {
                    sound
                }
                _ => "the signature is not of this release",
            };
            if standing != sound {
                self.find(format!("{FILE}: `{}`: {standing}", one_line(name)));
            }
            self.signatures.push(Signature {
                site: name.clone(),
                key: text,
                standing,
            });
        }
        for entry in manifest.signatures.iter().skip(sites.len()) {
            let finding = format!(
                "{FILE}: a signature of {:?}, which is no site of the study",
                entry.site
            );
            self.find(finding);
        }
        digest
    }

    /// Reads the auditor's word about sites, where outcomes of audits lie beside the release.
    fn audits(&mut self, folder: &Path, agreement: &Agreement, run: u32, release: &[u8; 32]) {
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
            let run = (agreement.hash, u64::from(run));
            match outcome::read(&path, &site.name, run, release, auditor) {
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
}
