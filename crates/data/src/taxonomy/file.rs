//! Taxonomy files as text: which of the two forms a file has, and its rows.

use std::path::Path;

use super::{Taxonomy, TaxonomyError};

impl Taxonomy {
    /// Reads a taxonomy file; `name` is what errors call it.
    pub fn open(path: &Path, name: &str) -> Result<Self, TaxonomyError> {
        let bytes = std::fs::read(path).map_err(|error| TaxonomyError::NoFile {
            file: name.to_owned(),
            reason: error.to_string(),
        })?;
        Self::from_bytes(&bytes, name)
    }

    /// Reads what a taxonomy file holds.
    pub fn from_bytes(bytes: &[u8], name: &str) -> Result<Self, TaxonomyError> {
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
