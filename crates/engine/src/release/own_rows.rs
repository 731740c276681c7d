//! What a site sees to about its own rows before it signs what a run ended with: that every row of its table
//! stands once in its local anonymized data set (a_i of JX08), in a cell that covers its values, with its
//! verbatim values unchanged, and that no class has fewer records than this site alone has in it.

use std::collections::HashMap;

use hedgerow_data::{Cell, Codes, Release, Role};

use crate::joint::Joint;
use crate::study::ready::{Contribution, Ready};

/// A row as it is written: its cells, and its verbatim codes.
type Written<'a> = (Vec<&'a Cell>, Vec<u32>);

impl Ready {
    /// Why this site's own rows do not fit what a run ended with; nothing where they do, or where sites hold
    /// the same people.
    pub(crate) fn unfit_rows(
        &self,
        joint: &Joint,
        contribution: &Contribution,
        local: Option<&Release>,
    ) -> Vec<String> {
        let (Contribution::People(columns), Some(local)) = (contribution, local) else {
            return Vec::new();
        };
        let (Some(partition), Some(classes)) = (&joint.partition, &joint.opened.classes) else {
            return vec![String::from("this site's own rows have no classes")];
        };
        let attributes = self.study.schema.attributes();
        let coded = |roles: &[Role]| -> Vec<(usize, &Codes)> {
            let all = attributes.iter().zip(columns).enumerate();
            let of_role = all.filter(|(_, (attribute, _))| roles.contains(&attribute.role));
            of_role
                .filter_map(|(position, (_, codes))| Some((position, codes.as_ref()?)))
                .collect()
        };
        let quasi = coded(&[Role::Quasi]);
        let verbatim = coded(&[Role::Sensitive, Role::Other]);
        let count = columns.iter().flatten().map(Codes::len).max().unwrap_or(0);
        let mut times = vec![0u32; count];
        let mut reasons = Vec::new();
        let mut expected: HashMap<Written<'_>, i64> = HashMap::new();
        for (class, (cells, size)) in partition.classes.iter().zip(classes) {
            let rows = partition.rows(class);
            if rows.len() as u64 > *size {
                reasons.push(format!(
                    "a class is said to have {size} records, this site alone has {} in it",
                    rows.len()
                ));
            }
            for row in rows.iter().map(|row| *row as usize) {
                times[row] += 1;
                let mut covered = cells.iter().zip(&quasi);
                if !covered.all(|(cell, (_, codes))| cell.contains(codes.get(row))) {
                    reasons.push(String::from(
                        "a row of this site stands in a class that does not cover its values",
                    ));
                }
                let values = verbatim.iter().map(|(_, codes)| codes.get(row));
                let written = (cells.iter().collect(), values.collect());
                *expected.entry(written).or_default() += 1;
            }
        }
        if times.iter().any(|times| *times != 1) {
            reasons.push(String::from(
                "a row of this site is in no class, or in several",
            ));
        }
        let quasi: Vec<usize> = quasi.iter().map(|(position, _)| *position).collect();
        let verbatim: Vec<usize> = verbatim.iter().map(|(position, _)| *position).collect();
        for row in 0..local.rows() {
            match written(local, row, &quasi, &verbatim) {
                Some(written) => *expected.entry(written).or_default() -= 1,
                None => reasons.push(String::from("a column of this site's own rows is missing")),
            }
        }
        if expected.values().any(|count| *count != 0) {
            reasons.push(String::from(
                "this site's own rows are not written as their classes are, or not as often",
            ));
        }
        reasons.sort_unstable();
        reasons.dedup();
        reasons
    }
}

/// A row of a local anonymized data set as it is written; nothing where a column is missing.
fn written<'a>(
    local: &'a Release,
    row: usize,
    quasi: &[usize],
    verbatim: &[usize],
) -> Option<Written<'a>> {
    let cell = |position: &usize| {
        let column = local.generalized(*position)?;
        Some(&column.cells[column.codes[row] as usize])
    };
    let value = |position: &usize| Some(local.verbatim(*position)?.get(row));
    Some((
        quasi.iter().map(cell).collect::<Option<_>>()?,
        verbatim.iter().map(value).collect::<Option<_>>()?,
    ))
}
