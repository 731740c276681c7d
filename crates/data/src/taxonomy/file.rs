//! Taxonomy files as text: which of the two forms a file has, and its rows.

use std::fs::File;
use std::io::Read as _;
use std::path::{Component, Path};

use super::{Taxonomy, TaxonomyError};

/// How a file with a secret key begins. No such file is a taxonomy: what is wrong with a taxonomy is told with the
/// words that stand there.
pub const SECRET_KEY: &str = "hedgerow-ed25519-secret:";
/// The most bytes of a taxonomy's file.
const MOST_BYTES: u64 = 1 << 28;

impl Taxonomy {
    /// Reads a taxonomy file; `name` is what errors call it.
    pub fn open(path: &Path, name: &str) -> Result<Self, TaxonomyError> {
        let refused = |reason: String| TaxonomyError::NoFile {
            file: name.to_owned(),
            reason,
        };
        let told = |error: std::io::Error| refused(error.to_string());
        // A device or a pipe may never end.
        if !std::fs::metadata(path).map_err(told)?.is_file() {
            return Err(refused(String::from("it is no file")));
        }
        let mut bytes = Vec::new();
        let file = File::open(path).map_err(told)?;
        file.take(MOST_BYTES + 1)
            .read_to_end(&mut bytes)
            .map_err(told)?;
        if bytes.len() as u64 > MOST_BYTES {
            return Err(refused(format!("it has more than {MOST_BYTES} bytes")));
        }
        Self::from_bytes(&bytes, name)
    }

    /// Reads a taxonomy file that a release in this folder names. A release may come from anybody, so that no name
    /// leads out of its folder.
    pub fn of_release(folder: &Path, name: &str) -> Result<Self, TaxonomyError> {
        let is_inside = Path::new(name)
            .components()
            .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
        match is_inside {
            true => Self::open(&folder.join(name), name),
            false => Err(TaxonomyError::NoFile {
                file: name.to_owned(),
                reason: String::from("the name leads out of the folder"),
            }),
        }
    }

    /// Reads what a taxonomy file holds.
    pub fn from_bytes(bytes: &[u8], name: &str) -> Result<Self, TaxonomyError> {
        if bytes.starts_with(SECRET_KEY.as_bytes()) {
            return Err(TaxonomyError::NoFile {
                file: name.to_owned(),
                reason: String::from("it is a secret key, and no taxonomy"),
            });
        }
        let text = std::str::from_utf8(bytes).map_err(|error| {
            let before = &bytes[..error.valid_up_to()];
            TaxonomyError::Unreadable {
                file: name.to_owned(),
                line: 1 + before.iter().filter(|byte| **byte == b'\n').count() as u64,
                reason: String::from("not valid UTF-8"),
            }
        })?;
        Self::from_text(text, name)
    }

    /// Reads either form: pairs when the first row is `parent;child`, rows otherwise.
    pub fn from_text(text: &str, name: &str) -> Result<Self, TaxonomyError> {
        if has_parent_child_header(text) {
            Self::from_pairs(text, name)
        } else {
            Self::from_rows(text, name)
        }
    }
}

/// Whether the text opens with the header of a parent/child file.
pub(super) fn has_parent_child_header(text: &str) -> bool {
    let first = text.trim_start_matches('\u{feff}').lines().next();
    first.is_some_and(|line| line.trim_end() == "parent;child")
}

/// Calls `each` with every row's line number and fields.
pub(super) fn for_each_row(
    text: &str,
    name: &str,
    mut each: impl FnMut(u64, &[&str]) -> Result<(), TaxonomyError>,
) -> Result<(), TaxonomyError> {
    let text = text.trim_start_matches('\u{feff}');
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .delimiter(b';')
        .flexible(true)
        .from_reader(text.as_bytes());
    let mut record = csv::StringRecord::new();
    // Lines are counted on from the record before: from the start each time, a million rows would
    // take minutes.
    let (mut counted, mut line) = (0, 1);
    loop {
        let read = reader.read_record(&mut record);
        // The record begins here, past the rest of a CRLF and blank lines before it.
        let from = record.position().map_or(0, csv::Position::byte) as usize;
        let skipped = text[from.min(text.len())..].bytes();
        let start = from
            + skipped
                .take_while(|byte| matches!(byte, b'\n' | b'\r'))
                .count();
        let start = start.min(text.len()).max(counted);
        line += text.as_bytes()[counted..start]
            .iter()
            .filter(|byte| **byte == b'\n')
            .count() as u64;
        counted = start;
        match read {
            Ok(false) => return Ok(()),
            Ok(true) => {
                let fields: Vec<&str> = record.iter().collect();
                each(line, &fields)?;
            }
            Err(error) => {
                return Err(TaxonomyError::Unreadable {
                    file: name.to_owned(),
                    line,
                    reason: error.to_string(),
                });
            }
        }
    }
}
