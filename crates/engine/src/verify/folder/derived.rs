//! Whether the folder of a release holds nothing beside the release: every file of the folder but the
//! manifest and the report follows from the study and the cells of the table, so the files are written
//! again elsewhere and compared byte by byte. Metadata, unused dictionary values, comments in taxonomies and
//! odd quoting have no other place to hide.

use std::io::Read;
use std::path::Path;

use hedgerow_data::files::write_folder;
use hedgerow_data::study::{PACKAGE_FILE, TAXONOMIES};
use hedgerow_data::{Release, Role, quoted_list};
use hedgerow_privacy::verify::Verdict;

use crate::release::files::open_regular;
use crate::release::manifest::{FILE, Manifest, Statement};
use crate::release::outcome;
use crate::study::opened::Opened;
use crate::verify::check::Check;
use crate::words::one_line;

/// The longest text of an account, and the most lines of a ledger.
const LONGEST_TEXT: usize = 200;
const MOST_LINES: usize = 100;

impl Check {
    /// Compares the files of a folder with what hedgerow writes for these cells.
    pub(in crate::verify) fn derived(&mut self, folder: &Path, opened: &Opened, release: &Release) {
        if !self.is_closed {
            return;
        }
        let written_by = self.manifest.as_ref().and_then(Manifest::statement);
        let written_by = written_by.map(|(said, _)| one_line(&said.hedgerow).into_owned());
        let own = env!("CARGO_PKG_VERSION");
        if let Some(version) = written_by.filter(|version| version != own) {
            // All sites wrote the files of a release that they signed, and compared them.
            if !self.signed {
                self.findings.push(format!(
                    "{FILE}: hedgerow {version} wrote the files, and this is {own}, which cannot see that they hold nothing beside the table: look at them with the hedgerow that wrote them"
                ));
            }
            return;
        }
        let has_manifest = self.manifest.is_some();
        let study = &opened.study;
        let again = tempfile::tempdir().map_err(|error| error.to_string());
        let again = again.and_then(|again| {
            let written = write_folder(again.path(), release, study, &());
            written.map_err(|error| error.to_string())?;
            Ok(again)
        });
        let again = match again {
            Ok(again) => again,
            Err(reason) => {
                let finding =
                    format!("the files cannot be written again to compare them: {reason}");
                return self.findings.push(finding);
            }
        };
        for file in study.release_files() {
            // A table that nobody signed for may come from another tool; what describes it may not.
            let is_table = file != PACKAGE_FILE && !file.starts_with(TAXONOMIES);
            let is_compared = match has_manifest {
                true => self.sound.contains(&file),
                false => !is_table && folder.join(&file).exists(),
            };
            if is_compared && !is_same(&folder.join(&file), &again.path().join(&file)) {
                self.findings.push(format!(
                    "{}: is not the file that hedgerow writes for this table: something was added, left out or written otherwise",
                    one_line(&file)
                ));
            }
        }
    }

    /// Sees that all of a group are written alike, unless original quasi-identifiers were restored.
    pub(in crate::verify) fn groups(&mut self, opened: &Opened, release: &Release) {
        let study = &opened.study;
        let Some(groups) = release.groups().filter(|_| !opened.run.d2pt.restore) else {
            return;
        };
        for position in study.schema.with_role(Role::Quasi) {
            let Some(column) = release.generalized(position) else {
                continue;
            };
            let mut of_group = std::collections::BTreeMap::new();
            let mut rows = groups.iter().zip(&column.codes);
            let differs =
                |(group, code): (&u32, &u32)| *of_group.entry(*group).or_insert(*code) != *code;
            if rows.any(differs) {
                self.findings.push(format!(
                    "column `{}` differs inside a group, and the study does not restore original values: people are told apart by it",
                    study.schema.attributes()[position].name
                ));
            }
        }
    }

    /// That columns may single people out, or that groups have their original quasi-identifiers, is for the
    /// sites to agree on: on the word of whoever published a release it is not shown.
    pub(in crate::verify) fn own_exceptions(&mut self, opened: &Opened, found: &mut Verdict) {
        let attributes = opened.study.schema.attributes().iter();
        let excepted = attributes.filter(|attribute| attribute.publish_unique);
        let names: Vec<&str> = excepted.map(|attribute| attribute.name.as_str()).collect();
        let mut exceptions = Vec::new();
        if !names.is_empty() {
            let names = quoted_list(&names);
            exceptions.push(format!(
                "that {names} may be published though people may be singled out there"
            ));
        }
        if opened.run.d2pt.restore {
            exceptions.push(String::from(
                "that original quasi-identifiers may be published inside groups",
            ));
        }
        if !exceptions.is_empty() && found.holds == Some(true) {
            found.holds = Some(false);
            found.not_shown = true;
        }
        self.not_shown.extend(exceptions);
    }

    /// Sees that a manifest says nothing that has no place in a release of this kind.
    pub(super) fn places(
        &mut self,
        folder: &Path,
        opened: &Opened,
        manifest: &Manifest,
        (said, is_signed): (&Statement, bool),
    ) {
        let mut wrong: Vec<String> = Vec::new();
        if !is_signed {
            for (key, is_there) in [
                ("run", said.run.is_some()),
                ("transcript", said.transcript.is_some()),
                ("commitments", said.commitments.iter().next().is_some()),
                ("signatures", !manifest.signatures.is_empty()),
                ("account.site", manifest.account.site.is_some()),
            ] {
                if is_there {
                    wrong.push(format!("{FILE}: nobody signed, so `{key}` has no place"));
                }
            }
            for site in &opened.study.sites {
                let file = outcome::file_of(&site.name);
                if folder.join(&file).symlink_metadata().is_ok() {
                    let file = one_line(&file).into_owned();
                    wrong.push(format!("{file}: an audit of a release that nobody signed"));
                }
            }
        }
        let is_hash =
            |text: &String| text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        for (key, hash) in [
            ("study_hash", &said.study_hash),
            ("transcript", &said.transcript),
        ] {
            if hash.as_ref().is_some_and(|hash| !is_hash(hash)) {
                wrong.push(format!("{FILE}: `{key}` is no hash"));
            }
        }
        let of_version = |letter: char| letter.is_ascii_alphanumeric() || ".-+".contains(letter);
        if said.hedgerow.len() > 32 || !said.hedgerow.chars().all(of_version) {
            wrong.push(format!("{FILE}: `hedgerow` is no version"));
        }
        if manifest.shared.is_some()
            != (said.partition == hedgerow_data::study::Partition::Vertical)
        {
            wrong.push(format!(
                "{FILE}: `shared` is for releases of the same people, and for these only"
            ));
        }
        let restored = manifest.shared.as_ref().and_then(|shared| shared.restored);
        if restored.is_some_and(|restored| restored != opened.run.d2pt.restore) {
            wrong.push(format!(
                "{FILE}: `shared.restored` is not what the study says"
            ));
        }
        let texts = manifest.ledger.iter().flat_map(|line| {
            let caveat = line.caveat.as_deref().unwrap_or_default();
            [line.what.as_str(), &line.to, &line.allowed_by, caveat]
        });
        let is_long = |text: &str| text.len() > LONGEST_TEXT || text.contains('\n');
        if manifest.ledger.len() > MOST_LINES || texts.into_iter().any(is_long) {
            wrong.push(format!("{FILE}: `ledger` says more than a ledger does"));
        }
        let utility = &manifest.utility;
        if utility.em.is_some() || utility.ncp_present.is_some() || utility.query_error.is_some() {
            wrong.push(format!(
                "{FILE}: `utility` has losses that only the original table shows"
            ));
        }
        self.findings.extend(wrong);
    }
}

/// Whether two files have the same bytes.
fn is_same(one: &Path, other: &Path) -> bool {
    let (Ok(one), Ok(other)) = (open_regular(one), open_regular(other)) else {
        return false;
    };
    let (mut one, mut other) = (std::io::BufReader::new(one), std::io::BufReader::new(other));
    let (mut left, mut right) = (vec![0; 1 << 16], vec![0; 1 << 16]);
    loop {
        let read = |file: &mut dyn Read, buffer: &mut [u8]| {
            let mut filled = 0;
            while filled < buffer.len() {
                match file.read(&mut buffer[filled..]) {
                    Ok(0) => break,
                    Ok(more) => filled += more,
                    Err(_) => return None,
                }
            }
            Some(filled)
        };
        match (read(&mut one, &mut left), read(&mut other, &mut right)) {
            (Some(0), Some(0)) => return true,
            (Some(some), Some(as_many)) if some == as_many && left[..some] == right[..some] => {}
            _ => return false,
        }
    }
}
