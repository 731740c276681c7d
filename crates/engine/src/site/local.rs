//! A site's local anonymized data set of a run (a_i of JX08 section 4) in its data folder: written beside what
//! the run ended with and never inside, since the file says which records are this site's; and sealed, so that
//! questions are answered with the rows that the run ended with and with no others.
//!
//! The seal is this site's signature under the hash of the rows and the statement that all sites signed. The
//! seal stays beside the rows: whoever has the hash of a few rows could guess the rows.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use hedgerow_data::files::{FileError, OutputFile, write_own_rows};
use hedgerow_data::{Release, Study};
use hedgerow_node::agreement::{Agreement, StudyHash};
use hedgerow_node::identity::{PublicKey, Purpose, Secret, from_hex, hex};
use hedgerow_node::run::statement_digest;
use serde::{Deserialize, Serialize};

use super::folder::table_folder;
use super::refused::SiteRefused;
use crate::error::Error;
use crate::release::files::hash;
use crate::release::manifest::{FILE, Manifest, Statement};

/// The version of a seal's format.
const VERSION: u64 = 1;

/// What a site says of its own rows of a run.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Seal {
    version: u64,
    /// The digest of the statement that all sites signed.
    statement: String,
    /// The hash of the file of rows.
    rows: String,
    signature: String,
}

/// The file of a site's own rows of a run.
pub(super) fn rows_file(data: &Path, number: u32) -> PathBuf {
    data.join(format!("local-{number}.csv"))
}

fn seal_file(data: &Path, number: u32) -> PathBuf {
    data.join(format!("local-{number}.seal.json"))
}

/// Writes a site's own rows of a run whose statement all sites signed, and seals them.
pub(super) fn keep_local(
    data: &Path,
    local: &Release,
    study: &Study,
    signed: &Statement,
    (hash_of_study, number, secret): (StudyHash, u32, &Secret),
) -> Result<PathBuf, Error> {
    let path = rows_file(data, number);
    write_own_rows(&path, local, study)?;
    let statement = statement_digest(hash_of_study, number, &signed.bytes());
    let rows = hash(&path)?;
    let signature = secret.sign(Purpose::Rows, &digest(&statement, &rows));
    let seal = Seal {
        version: VERSION,
        statement: hex(&statement),
        rows,
        signature: hex(&signature),
    };
    let file = seal_file(data, number);
    let unwritable = |reason: String| FileError::Unwritable {
        file: file.display().to_string(),
        reason,
    };
    let text =
        serde_json::to_string_pretty(&seal).map_err(|error| unwritable(error.to_string()))?;
    let mut output = OutputFile::create_private(&file)?;
    let written = output.write_all(format!("{text}\n").as_bytes());
    written.map_err(|error| unwritable(error.to_string()))?;
    output.finish()?;
    Ok(path)
}

/// The files with which this site answers questions about a run: its own rows, and the table that all sites
/// know, as they were when the run ended.
pub(super) fn sealed(
    data: &Path,
    number: u32,
    agreement: &Agreement,
    key: &PublicKey,
) -> Result<(PathBuf, PathBuf), Error> {
    let study = &agreement.study;
    let (rows, folder) = (rows_file(data, number), table_folder(data, number, study));
    let changed = |file: &Path| SiteRefused::ChangedRows {
        file: file.to_owned(),
        run: number,
    };
    let (manifest, _) = Manifest::read(&folder).map_err(|reason| Error::Manifest {
        folder: folder.clone(),
        reason,
    })?;
    let signed = manifest.signed.ok_or_else(|| changed(&folder.join(FILE)))?;
    let statement = statement_digest(agreement.hash, number, &signed.bytes());
    let file = seal_file(data, number);
    let bytes = std::fs::read(&file).map_err(|error| FileError::Unreadable {
        file: file.display().to_string(),
        reason: error.to_string(),
    })?;
    let seal: Seal = serde_json::from_slice(&bytes).map_err(|_| changed(&file))?;
    let signature = from_hex(&seal.signature);
    let is_own = signature.is_some_and(|signature| {
        key.verifies(Purpose::Rows, &digest(&statement, &seal.rows), &signature)
    });
    if seal.version != VERSION || seal.statement != hex(&statement) || !is_own {
        return Err(changed(&file).into());
    }
    if hash(&rows)? != seal.rows {
        return Err(changed(&rows).into());
    }
    let tables = study.release_tables();
    let table = tables.first().map_or("", String::as_str);
    let known = folder.join(table);
    if Some(&hash(&known)?) != signed.files.get(table) {
        return Err(changed(&known).into());
    }
    Ok((rows, known))
}

/// What a seal signs.
fn digest(statement: &[u8; 32], rows: &str) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new_derive_key("hedgerow rows of a run v1");
    hasher.update(statement).update(rows.as_bytes());
    *hasher.finalize().as_bytes()
}
