//! Closes the folder of a release: writes the report and the manifest, and sets the seal.

use std::io::Write as _;
use std::path::Path;

use hedgerow_data::files::{FileError, OutputFile};
use hedgerow_node::identity::{Purpose, Secret, hex};
use serde_json::{Map, Value, json};

use super::manifest::{Account, FILE, OWN_FILE, account_digest, describe, hash, tail};
use crate::error::Error;
use crate::report;
use crate::study::opened::Opened;
use crate::study::ready::Ready;

/// Writes the manifest of a release that nobody signs, made of a study that may not be one that
/// can be signed.
pub(crate) fn write_unsigned(ready: &Ready, account: &Account<'_>) -> Result<(), Error> {
    let mut statement = Map::new();
    statement.insert("study".into(), Value::from(ready.study.name.as_str()));
    if let Some(agreement) = ready.opened.signable() {
        let hash = agreement.hash.to_string();
        statement.insert("study_hash".into(), Value::from(hash));
    }
    describe(&mut statement, ready, account.published)?;
    let manifest = account.under("unsigned", Value::Object(statement), Vec::new());
    close(&account.published.folder, manifest, &ready.opened, None)
}

/// Writes the report and the manifest into the folder of a release, and seals it: by the site's name
/// and key, or by nobody's.
pub(crate) fn close(
    folder: &Path,
    mut manifest: Value,
    opened: &Opened,
    writer: Option<(&str, &Secret)>,
) -> Result<(), Error> {
    let mut account = Map::new();
    if let Some((site, _)) = writer {
        account.insert("site".into(), Value::from(site));
    }
    manifest["account"] = account.into();
    report::write(folder, opened, &manifest)?;
    let hash = hash(&folder.join(OWN_FILE))?;
    manifest["account"]["files"] = json!({ OWN_FILE: hash });
    let text = format!("{manifest:#}");
    // An object ends so; the seal comes before.
    let head = text.strip_suffix("\n}").unwrap_or(&text);
    let digest = account_digest(head.as_bytes());
    let seal = match writer {
        Some((_, secret)) => hex(&secret.sign(Purpose::Account, &digest)),
        None => hex(&digest),
    };
    let path = folder.join(FILE);
    let mut file = OutputFile::create(&path)?;
    let written = file.write_all(format!("{head}{}", tail(&seal)).as_bytes());
    written.map_err(|error| FileError::Unwritable {
        file: path.display().to_string(),
        reason: error.to_string(),
    })?;
    Ok(file.finish()?)
}
