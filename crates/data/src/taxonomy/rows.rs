//! Row-per-leaf files, the form ARX users already have: no header, semicolons, first the value,
//! then its generalizations up to the root. Rows may be ragged; a byte-order mark, CRLF and quoted
//! values are fine.

use super::draft::Draft;
use super::file::for_each_row;
use super::{Taxonomy, TaxonomyError};

impl Taxonomy {
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
                    reason: if root.contains(',') {
                        format!(
                            "`{root}` has no parent\nhint: columns are separated by semicolons, not commas"
                        )
                    } else {
                        format!(
                            "`{root}` has no parent\nhint: write at least value;root, e.g. {root};*"
                        )
                    },
                });
            }
            draft.set_root(root, line)?;
            draft.add_path(below.iter().rev().copied(), line)
        })?;
        draft.lay_out()
    }
}
