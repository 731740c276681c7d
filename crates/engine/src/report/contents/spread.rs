//! How the values of each column are distributed in a release, beside the rows that the release is compared
//! with.

use hedgerow_data::{Cell, Column, Release, ReleaseColumn, Role};
use serde::Serialize;

use super::bins::{Bin, bins, texts};
use super::levels::with_records;
use crate::report::own::Before;

/// The distribution of one column.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(in super::super) struct Spread {
    pub(in super::super) column: String,
    pub(in super::super) role: &'static str,
    /// Whether cells were spread evenly over the values that they stand for.
    pub(in super::super) is_estimated: bool,
    /// Records of the release.
    pub(in super::super) records: u64,
    /// The rows that the release is compared with, where they have the column.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in super::super) rows_before: Option<u64>,
    pub(in super::super) bins: Vec<Bin>,
}

/// The distributions of all columns of a release.
pub(super) fn spreads(release: &Release, before: Option<&Before>) -> Vec<Spread> {
    let attributes = release.schema().attributes().iter().enumerate();
    let found = attributes.filter_map(|(position, attribute)| {
        let counts = before.and_then(|before| before.counts(&attribute.name));
        let domain = &attribute.domain;
        let mut is_estimated = false;
        let bins = match &release.columns()[position] {
            ReleaseColumn::Generalized(_) => {
                let cells = with_records(release, position)?.into_iter();
                let cells: Vec<(Cell, u64)> = cells
                    .map(|(cell, records)| (cell.clone(), records))
                    .collect();
                is_estimated = cells.iter().any(|(cell, _)| cell.count() > 1);
                bins(domain, &cells, counts.as_deref())
            }
            ReleaseColumn::Verbatim(Column::Coded(codes)) => {
                let mut records = vec![0; domain.size() as usize];
                for (row, code) in codes.iter().enumerate() {
                    records[code as usize] += release.counts().map_or(1, |counts| counts[row]);
                }
                let codes = (0..).zip(records).filter(|(_, records)| *records > 0);
                let cells: Vec<(Cell, u64)> = codes
                    .map(|(code, records)| (Cell::Interval(code, code), records))
                    .collect();
                bins(domain, &cells, counts.as_deref())
            }
            ReleaseColumn::Verbatim(Column::Text(text)) => {
                let mut records = vec![0; text.dictionary.len()];
                for (row, code) in text.codes.iter().enumerate() {
                    records[*code as usize] += release.counts().map_or(1, |counts| counts[row]);
                }
                let all = text.dictionary.iter().map(|text| &**text).zip(records);
                texts(all.collect())
            }
            ReleaseColumn::Verbatim(Column::Absent(_)) | ReleaseColumn::Absent => return None,
        };
        Some(Spread {
            column: attribute.name.clone(),
            role: match attribute.role {
                Role::Quasi => "quasi-identifier",
                Role::Sensitive => "sensitive",
                Role::Other | Role::Identifier => "other",
            },
            is_estimated,
            records: release.records(),
            rows_before: counts.map(|counts| counts.iter().sum()),
            bins,
        })
    });
    found.collect()
}
