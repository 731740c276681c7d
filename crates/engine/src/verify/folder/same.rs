//! Whether `release.csv` and `release.parquet` of a folder say the same.

use hedgerow_data::{Column, Release, ReleaseColumn};

use super::Check;

impl Check {
    /// The two files must say the same.
    pub(in crate::verify) fn same(&mut self, csv: &Release, parquet: &Release) {
        if csv.rows() != parquet.rows() {
            let rows = match csv.counts() {
                Some(_) => "rows",
                None => "records",
            };
            self.find(format!(
                "release.csv has {} {rows}, release.parquet has {}",
                csv.rows(),
                parquet.rows()
            ));
            return;
        }
        let pairs = csv.counts().unwrap_or_default().iter();
        let mut pairs = pairs.zip(parquet.counts().unwrap_or_default());
        if let Some(row) = pairs.position(|(csv, parquet)| csv != parquet) {
            self.find(format!(
                "release.csv and release.parquet differ in `records`, first at row {}",
                row + 1
            ));
        }
        let attributes = csv.schema().attributes();
        let columns = csv.columns().iter().zip(parquet.columns());
        for (attribute, (csv, parquet)) in attributes.iter().zip(columns) {
            if let Some(row) = first_difference(csv, parquet) {
                self.find(format!(
                    "release.csv and release.parquet differ in `{}`, first at record {row}",
                    attribute.name
                ));
            }
        }
    }
}

/// The first record, from 1, in which two columns differ.
fn first_difference(one: &ReleaseColumn, other: &ReleaseColumn) -> Option<usize> {
    match (one, other) {
        (ReleaseColumn::Generalized(one), ReleaseColumn::Generalized(other)) => {
            let cell = |row: usize| {
                let (one_code, other_code) = (one.codes[row], other.codes[row]);
                one.cells[one_code as usize] != other.cells[other_code as usize]
            };
            (0..one.codes.len()).find(|row| cell(*row))
        }
        (
            ReleaseColumn::Verbatim(Column::Coded(one)),
            ReleaseColumn::Verbatim(Column::Coded(other)),
        ) => one
            .iter()
            .zip(other.iter())
            .position(|(one, other)| one != other),
        (
            ReleaseColumn::Verbatim(Column::Text(one)),
            ReleaseColumn::Verbatim(Column::Text(other)),
        ) => one
            .iter()
            .zip(other.iter())
            .position(|(one, other)| one != other),
        (ReleaseColumn::Absent, ReleaseColumn::Absent) => None,
        _ => Some(0),
    }
    .map(|row| row + 1)
}
