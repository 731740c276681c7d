//! The outcome of an audit as a file: what was found of one site in one run, under the signature of the
//! auditor whom the study names. `verify` reads it beside the release.

use std::io::Write as _;
use std::path::Path;

use hedgerow_data::files::{FileError, OutputFile};
use hedgerow_node::agreement::StudyHash;
use hedgerow_node::audit::Outcome;
use hedgerow_node::identity::{PublicKey, Purpose, Secret, from_hex, hex};
use serde_json::{Map, Value};

use crate::error::Error;

/// The version of the file.
const VERSION: u64 = 1;
/// What an outcome says of a site that did as it should.
pub(crate) const SOUND: &str = "as it should be";
/// The longest file.
const LONGEST: u64 = 1 << 16;

/// The name of the file of an audit's outcome, beside the release.
pub(crate) fn file_of(site: &str) -> String {
    format!("audit-{site}.json")
}

/// What an audit says.
pub(crate) fn statement(
    study: StudyHash,
    run: u32,
    site: &str,
    outcome: &Outcome,
) -> Map<String, Value> {
    let mut statement = Map::new();
    let mut say = |key: &str, value: Value| statement.insert(key.to_owned(), value);
    say("version", VERSION.into());
    say("study_hash", study.to_string().into());
    say("run", run.into());
    say("site", site.into());
    if let Some(release) = outcome.release {
        say("release", hex(&release).into());
    }
    say("frames", outcome.frames.into());
    let words = match (&outcome.finding, outcome.release) {
        (None, Some(_)) => SOUND.to_owned(),
        (None, None) => format!("{SOUND}, up to where the run ended without a release"),
        (Some(finding), _) => finding.to_string(),
    };
    say("outcome", words.into());
    statement
}

/// Signs the outcome as the auditor.
pub(crate) fn sign(statement: &mut Map<String, Value>, secret: &Secret) {
    let auditor = secret.public().to_string();
    statement.insert("auditor".into(), auditor.into());
    let signature = secret.sign(Purpose::Audit, &digest(statement));
    statement.insert("signature".into(), hex(&signature).into());
}

pub(crate) fn write(path: &Path, statement: &Map<String, Value>) -> Result<(), Error> {
    let mut file = OutputFile::create(path)?;
    let text = format!("{:#}\n", Value::Object(statement.clone()));
    file.write_all(text.as_bytes())
        .map_err(|error| FileError::Unwritable {
            file: path.display().to_string(),
            reason: error.to_string(),
        })?;
    Ok(file.finish()?)
}

/// What the file of an audit says of a site's part in the run of a release, if the auditor signed it:
/// whether the part was as it should be, or in words what was wrong. An error says why the file counts
/// for nothing.
pub(crate) fn read(
    path: &Path,
    site: &str,
    run: (StudyHash, u64),
    release: &[u8; 32],
    auditor: &PublicKey,
) -> Result<Result<(), String>, String> {
    let found = std::fs::metadata(path).map_err(|error| error.to_string())?;
    if found.len() > LONGEST {
        return Err(String::from("is too long for the outcome of an audit"));
    }
    let bytes = std::fs::read(path).map_err(|error| error.to_string())?;
    let mut statement: Map<String, Value> =
        serde_json::from_slice(&bytes).map_err(|error| error.to_string())?;
    let version = statement.get("version").cloned().unwrap_or_default();
    if version != VERSION {
        return Err(format!("is of version {version}, expected {VERSION}"));
    }
    let signature = statement.shift_remove("signature");
    let signature = signature.as_ref().and_then(Value::as_str);
    let signature = signature.and_then(from_hex::<64>);
    let is_signed = signature
        .is_some_and(|signature| auditor.verifies(Purpose::Audit, &digest(&statement), &signature));
    if !is_signed {
        return Err(String::from("is not signed by the auditor of the study"));
    }
    let says = |key: &str, value: &str| statement.get(key).and_then(Value::as_str) == Some(value);
    let is_of_this = says("study_hash", &run.0.to_string())
        && statement.get("run").and_then(Value::as_u64) == Some(run.1)
        && says("site", site);
    if !is_of_this {
        return Err(String::from("is of another site, run or study"));
    }
    let outcome = statement.get("outcome").and_then(Value::as_str);
    match outcome {
        Some(SOUND) if says("release", &hex(release)) => Ok(Ok(())),
        Some(SOUND) => Err(String::from("is of another release")),
        Some(other) => Ok(Err(other.to_owned())),
        None => Err(String::from("does not say what was found")),
    }
}

/// What the auditor signs: every key but the signature, in order.
fn digest(statement: &Map<String, Value>) -> [u8; 32] {
    let text = Value::Object(statement.clone()).to_string();
    blake3::derive_key("hedgerow audit outcome v1", text.as_bytes())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use hedgerow_node::audit::Finding;

    use super::*;

    const STUDY: StudyHash = StudyHash([3; 32]);

    fn outcome(finding: Option<Finding>) -> Outcome {
        Outcome {
            frames: 9,
            release: finding.is_none().then_some([4; 32]),
            finding,
        }
    }

    #[test]
    fn an_outcome_is_of_one_site_run_and_release_and_of_the_auditor() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit-north.json");
        let auditor = Secret::from_bytes(&[5; 32]);
        let mut said = statement(STUDY, 2, "north", &outcome(None));
        sign(&mut said, &auditor);
        write(&path, &said).unwrap();
        let key = auditor.public();
        let read_as = |site: &str, run, release: [u8; 32], key: &PublicKey| {
            read(&path, site, run, &release, key)
        };
        assert_eq!(read_as("north", (STUDY, 2), [4; 32], &key), Ok(Ok(())));
        assert!(read_as("south", (STUDY, 2), [4; 32], &key).is_err());
        assert!(read_as("north", (STUDY, 3), [4; 32], &key).is_err());
        assert!(read_as("north", (StudyHash([1; 32]), 2), [4; 32], &key).is_err());
        assert!(read_as("north", (STUDY, 2), [9; 32], &key).is_err());
        let other = Secret::from_bytes(&[6; 32]).public();
        assert!(read_as("north", (STUDY, 2), [4; 32], &other).is_err());
        // Changed by hand.
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, text.replace("\"frames\": 9", "\"frames\": 8")).unwrap();
        assert!(read_as("north", (STUDY, 2), [4; 32], &key).is_err());
        for bytes in [&b"{}"[..], b"[]", b"", b"{\"version\": 7}"] {
            std::fs::write(&path, bytes).unwrap();
            assert!(read_as("north", (STUDY, 2), [4; 32], &key).is_err());
        }
    }

    #[test]
    fn what_was_not_as_it_should_be_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit-north.json");
        let auditor = Secret::from_bytes(&[5; 32]);
        let mut said = statement(STUDY, 2, "north", &outcome(Some(Finding::Rows)));
        sign(&mut said, &auditor);
        write(&path, &said).unwrap();
        let found = read(&path, "north", (STUDY, 2), &[4; 32], &auditor.public());
        assert!(found.unwrap().unwrap_err().contains("committed itself to"));
    }
}
