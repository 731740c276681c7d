//! Row-per-leaf files, the form ARX users already have: no header, semicolons, first the value,
//! then its generalizations up to the root. Rows may be ragged; a byte-order mark, CRLF and quoted
//! values are fine. A file whose first row is `parent;child` is read as pairs instead.

use std::path::Path;

use super::{Draft, Taxonomy, TaxonomyError, pairs};

impl Taxonomy {
    /// Reads a taxonomy file; `name` is what errors call it.
    pub fn open(path: &Path, name: &str) -> Result<Self, TaxonomyError> {
        let unreadable = |line, reason| TaxonomyError::Unreadable {
            file: name.to_owned(),
            line,
            reason,
        };
        let bytes = std::fs::read(path)
            .map_err(|error| unreadable(1, format!("cannot be read: {error}")))?;
        let text = std::str::from_utf8(&bytes).map_err(|error| {
            let before = &bytes[..error.valid_up_to()];
            let line = 1 + before.iter().filter(|byte| **byte == b'\n').count() as u64;
            unreadable(line, String::from("not valid UTF-8"))
        })?;
        Self::from_text(text, name)
    }

    /// Reads either form: pairs when the first row is `parent;child`, rows otherwise.
    pub fn from_text(text: &str, name: &str) -> Result<Self, TaxonomyError> {
        if pairs::has_header(text) {
            Self::from_pairs(text, name)
        } else {
            Self::from_rows(text, name)
        }
    }

    /// Reads row-per-leaf text.
    pub fn from_rows(text: &str, name: &str) -> Result<Self, TaxonomyError> {
        let mut draft = Draft::new(name);
        for_each_row(text, name, |line, fields| {
            let filled = fields
                .iter()
                .rposition(|field| !field.is_empty())
                .map_or(1, |last| last + 1);
            let fields = &fields[..filled.min(fields.len())];
            if let Some(gap) = fields.iter().skip(1).position(|field| field.is_empty()) {
                return Err(TaxonomyError::Unreadable {
                    file: name.to_owned(),
                    line,
                    reason: format!("column {} is empty, expected a label", gap + 2),
                });
            }
            let Some((root, below)) = fields.split_last() else {
                return Ok(());
            };
            if below.is_empty() {
                return Err(TaxonomyError::Unreadable {
                    file: name.to_owned(),
                    line,
                    reason: format!(
                        "`{root}` has no parent\nhint: write at least value;root, e.g. {root};*"
                    ),
                });
            }
            draft.set_root(root, line)?;
            draft.add_path(below.iter().rev().copied(), line)
        })?;
        draft.lay_out()
    }
}

/// Calls `each` with every row's line number and fields.
pub(super) fn for_each_row(
    text: &str,
    name: &str,
    mut each: impl FnMut(u64, &[&str]) -> Result<(), TaxonomyError>,
) -> Result<(), TaxonomyError> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .delimiter(b';')
        .flexible(true)
        .from_reader(text.trim_start_matches('\u{feff}').as_bytes());
    let mut record = csv::StringRecord::new();
    loop {
        let line = reader.position().line();
        match reader.read_record(&mut record) {
            Ok(false) => return Ok(()),
            Ok(true) => {
                let fields: Vec<&str> = record.iter().collect();
                let line = record.position().map_or(line, csv::Position::line);
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
