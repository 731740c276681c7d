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
            let all = attributes.iter().zip(columns.iter()).enumerate();
            let of_role = all.filter(|(_, (attribute, _))| roles.contains(&attribute.role));
            of_role
                .filter_map(|(position, (_, codes))| Some((position, codes.as_ref()?)))
                .collect()
        };
        let quasi = coded(&[Role::Quasi]);
        let verbatim = coded(&[Role::Sensitive, Role::Other]);
        let mut times = vec![0u64; columns.rows()];
        let mut reasons = Vec::new();
        let mut expected: HashMap<Written<'_>, i128> = HashMap::new();
        for (class, (cells, size)) in partition.classes.iter().zip(classes) {
            let rows = partition.counted_rows(class);
            let own: u64 = rows.clone().map(|(_, records)| records).sum();
            if own > *size {
                reasons.push(format!(
                    "a class is said to have {size} records, this site alone has {own} in it"
                ));
            }
            for (row, records) in rows.map(|(row, records)| (row as usize, records)) {
                times[row] += records;
                let mut covered = cells.iter().zip(&quasi);
                if !covered.all(|(cell, (_, codes))| cell.contains(codes.get(row))) {
                    reasons.push(String::from(
                        "a row of this site stands in a class that does not cover its values",
                    ));
                }
                let values = verbatim.iter().map(|(_, codes)| codes.get(row));
                let written = (cells.iter().collect(), values.collect());
                *expected.entry(written).or_default() += i128::from(records);
            }
        }
        let counts = columns.counts.as_deref();
        let records = |row: usize| counts.map_or(1, |counts| counts[row]);
        if times
            .iter()
            .enumerate()
            .any(|(row, times)| *times != records(row))
        {
            reasons.push(String::from(
                "a row of this site is in no class, or in several",
            ));
        }
        let quasi: Vec<usize> = quasi.iter().map(|(position, _)| *position).collect();
        let verbatim: Vec<usize> = verbatim.iter().map(|(position, _)| *position).collect();
        for row in 0..local.rows() {
            match written(local, row, &quasi, &verbatim) {
                Some(written) => {
                    let records = local.counts().map_or(1, |counts| counts[row]);
                    *expected.entry(written).or_default() -= i128::from(records);
                }
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

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use hedgerow_data::files::{Others, read_table};
    use hedgerow_data::{Column, ReleaseColumn};
    use hedgerow_protocols::horizontal::Owner;

    use super::*;
    use crate::joint::{Pace, one_party};
    use crate::study::opened::Opened as Study;

    const STUDY: &str = "[study]\nname = \"s\"\npartition = \"horizontal\"\n[[attribute]]\nname = \"age\"\nrole = \"quasi\"\ntype = \"integer\"\nrange = [0, 99]\n[[attribute]]\nname = \"disease\"\nrole = \"sensitive\"\nvalues = [\"flu\", \"ulcer\", \"asthma\"]\n[require]\nk = 3\n";

    /// A site's part that has ended, its rows, and its local anonymized data set.
    fn ended(folder: &Path) -> (Ready, Joint, Contribution, Release) {
        let rows = folder.join("rows.csv");
        let text: String = (0..40u32)
            .map(|row| {
                let disease = ["flu", "flu", "ulcer", "flu", "asthma"][row as usize % 5];
                format!("{},{disease}\n", row * row / 20)
            })
            .collect();
        std::fs::write(&rows, format!("age,disease\n{text}")).unwrap();
        let study = Study::parse(STUDY.to_owned(), folder).unwrap();
        let ready = Ready::new(Arc::new(study), None).unwrap();
        let table = read_table(&rows, &ready.study.schema, &Others::Refuse, &()).unwrap();
        let contribution = Contribution::People(ready.columns(&table, 0..table.rows()));
        let found = one_party(
            &ready,
            &contribution,
            (Owner::Site(0), 1),
            (1, Pace::COUNTED),
            |_| {},
        );
        let (joint, _) = found.unwrap();
        let local = ready.local(&joint, &contribution).unwrap();
        (ready, joint, contribution, local)
    }

    /// Why a site does not sign after this change of what it was left with.
    fn reasons(change: impl FnOnce(&mut Joint, &mut Contribution, &mut Release)) -> String {
        let folder = tempfile::tempdir().unwrap();
        let (ready, mut joint, mut contribution, mut local) = ended(folder.path());
        change(&mut joint, &mut contribution, &mut local);
        let reasons = ready.unfit_rows(&joint, &contribution, Some(&local));
        reasons.join("; ")
    }

    fn changed(release: &Release, change: impl FnOnce(&mut Vec<ReleaseColumn>)) -> Release {
        let mut columns = release.columns().to_vec();
        change(&mut columns);
        let rows = match &columns[1] {
            ReleaseColumn::Verbatim(column) => column.len(),
            _ => release.rows(),
        };
        Release::new(release.schema().clone(), columns, rows)
    }

    #[test]
    fn rows_that_fit_are_signed_for() {
        assert_eq!(reasons(|_, _, _| {}), "");
    }

    #[test]
    fn a_class_that_does_not_cover_a_row_is_seen() {
        let reasons = reasons(|_, contribution, _| {
            let Contribution::People(columns) = contribution else {
                panic!("people");
            };
            let mut other = Codes::for_size(100);
            let ages = columns[0].as_ref().unwrap();
            ages.iter().for_each(|age| other.push(99 - age));
            columns[0] = Some(other);
        });
        assert!(reasons.contains("does not cover its values"), "{reasons}");
    }

    #[test]
    fn a_class_smaller_than_what_this_site_has_in_it_is_seen() {
        let reasons = reasons(|joint, _, _| {
            joint.opened.classes.as_mut().unwrap()[0].1 = 1;
        });
        assert!(reasons.contains("said to have 1 records"), "{reasons}");
    }

    #[test]
    fn a_row_that_is_missing_or_written_otherwise_is_seen() {
        let missing = reasons(|_, _, local| {
            *local = changed(local, |columns| {
                let rows: Vec<usize> = (1..40).collect();
                for column in columns {
                    match column {
                        ReleaseColumn::Generalized(cells) => *cells = cells.picked(&rows),
                        ReleaseColumn::Verbatim(values) => *values = values.picked(&rows),
                        ReleaseColumn::Absent => {}
                    }
                }
            });
        });
        assert!(missing.contains("not as often"), "{missing}");
        let otherwise = reasons(|_, _, local| {
            *local = changed(local, |columns| {
                let mut codes = Codes::for_size(3);
                let ReleaseColumn::Verbatim(Column::Coded(values)) = &columns[1] else {
                    panic!("diseases are verbatim");
                };
                values.iter().for_each(|value| codes.push((value + 1) % 3));
                columns[1] = ReleaseColumn::Verbatim(Column::Coded(codes));
            });
        });
        assert!(
            otherwise.contains("not written as their classes are"),
            "{otherwise}"
        );
        let absent = reasons(|_, _, local| {
            *local = changed(local, |columns| columns[1] = ReleaseColumn::Absent);
        });
        assert!(absent.contains("is missing"), "{absent}");
    }
}
