//! Closes the folder of a release: writes the report and the manifest, and sets the seal.

use std::io::Write as _;
use std::path::Path;

use hedgerow_data::files::{FileError, OutputFile};
use hedgerow_node::identity::{Purpose, Secret, hex};

use super::date::today;
use super::files::{account_digest, hash, tail};
use super::manifest::{FILE, Manifest, OWN_FILE, Statement};
use super::statement::Account;
use crate::error::Error;
use crate::report;
use crate::study::opened::Opened;
use crate::study::ready::Ready;

/// Writes the manifest of a release that nobody signs, made today.
pub(crate) fn write_unsigned(ready: &Ready, account: &Account<'_>) -> Result<(), Error> {
    let statement = Statement::of_one_place(ready, today(), account.published)?;
    let manifest = account.unsigned(statement);
    close(&account.published.folder, manifest, &ready.opened, None)
}

/// Writes the report and the manifest into the folder of a release, and seals it: by the site's name
/// and key, or by nobody's.
pub(crate) fn close(
    folder: &Path,
    mut manifest: Manifest,
    opened: &Opened,
    writer: Option<(&str, &Secret)>,
) -> Result<(), Error> {
    manifest.account.site = writer.map(|(site, _)| site.to_owned());
    report::write(folder, opened, &manifest)?;
    let hash = hash(&folder.join(OWN_FILE))?;
    manifest.account.files = [(OWN_FILE.to_owned(), hash)].into_iter().collect();
    let path = folder.join(FILE);
    let unwritable = |reason: String| FileError::Unwritable {
        file: path.display().to_string(),
        reason,
    };
    let text = serde_json::to_string_pretty(&manifest);
    let text = text.map_err(|error| unwritable(error.to_string()))?;
    // A JSON object ends with these bytes; the seal is put before them.
    let head = text.strip_suffix("\n}").unwrap_or(&text);
    let digest = account_digest(head.as_bytes());
    let seal = match writer {
        Some((_, secret)) => hex(&secret.sign(Purpose::Account, &digest)),
        None => hex(&digest),
    };
    let mut file = OutputFile::create(&path)?;
    let written = file.write_all(format!("{head}{}", tail(&seal)).as_bytes());
    written.map_err(|error| unwritable(error.to_string()))?;
    Ok(file.finish()?)
}
