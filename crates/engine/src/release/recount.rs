//! What a site sees to before it signs a release: that what was written is what the sites opened on the
//! way, and that it satisfies the requirement as far as a release can show it.
//!
//! The release is read back from its files and counted again. Nothing of the run is trusted but the
//! numbers that were opened: records of the whole table, classes with their sizes, sensitive totals; and
//! what this site itself brought. Of a virtual database the files show records and classes alone.

use std::collections::HashMap;

use hedgerow_data::{Cell, Codes, Domain, GeneralizedColumn, Release, Role};
use hedgerow_privacy::classes::Classes;

use super::published::Published;
use crate::study::ready::{Columns, Ready};

/// Numbers that the sites opened and that a release must match when it is counted again, and what this
/// site contributed.
#[derive(Debug, Default)]
pub(crate) struct Opened {
    /// Records of the whole table.
    pub(crate) records: Option<u64>,
    /// How each class is written, attribute after attribute, and how many records it has.
    pub(crate) classes: Option<Vec<(Vec<Cell>, u64)>>,
    /// How often each value of each sensitive attribute occurs, as the requirement counts them; empty
    /// where the requirement needs no counts.
    pub(crate) sensitive: Vec<Vec<u64>>,
    /// Where sites hold the same people, how often each value of this site's own columns that are
    /// published verbatim occurs.
    pub(crate) own: Vec<(usize, Vec<u64>)>,
}

impl Ready {
    /// Why this site does not sign a release; nothing if it does.
    pub(crate) fn unsound(
        &self,
        opened: &Opened,
        release: &Release,
        published: &Published,
    ) -> Vec<String> {
        let mut reasons = Vec::new();
        let verdict = &published.verdict;
        if verdict.holds == Some(false) || verdict.not_shown {
            reasons.push(String::from("it does not satisfy the requirement"));
        }
        let records = release.records();
        if let Some(opened) = opened.records.filter(|opened| *opened != records) {
            reasons.push(format!(
                "it has {records} records, the sites have {opened} together"
            ));
        }
        let classes = opened.classes.as_deref();
        if classes.is_some_and(|classes| !self.has_classes(release, classes)) {
            reasons.push(String::from(
                "its classes are not those that were found, or not of their sizes",
            ));
        }
        let is_shown = !opened.sensitive.is_empty() && !self.study.is_virtual();
        if is_shown && opened.sensitive != self.totals(release) {
            reasons.push(String::from(
                "sensitive values do not occur in it as often as they do at the sites",
            ));
        }
        for (position, counts) in &opened.own {
            let found = release.verbatim(*position);
            let found = found.map(|codes| count((codes, release.counts()), counts.len()));
            if found.as_ref() != Some(counts) {
                let name = &self.study.schema.attributes()[*position].name;
                reasons.push(format!(
                    "its column `{name}`, which this site holds, is not as this site brought it"
                ));
            }
        }
        reasons
    }

    /// Whether the classes of a release, as a reader sees them, are those that were opened: what is written
    /// alike is one class.
    fn has_classes(&self, release: &Release, opened: &[(Vec<Cell>, u64)]) -> bool {
        let quasi = self.study.schema.with_role(Role::Quasi).into_iter();
        let columns: Option<Vec<(&Domain, &GeneralizedColumn)>> = quasi
            .map(|position| {
                let domain = &self.study.schema.attributes()[position].domain;
                Some((domain, release.generalized(position)?))
            })
            .collect();
        let Some(columns) = columns else {
            return false;
        };
        let codes: Vec<&[u32]> = columns.iter().map(|(_, column)| &*column.codes).collect();
        let found = Classes::group(&codes, release.rows()).counted(release.counts());
        // Both behind each other, attribute after attribute: what is written alike has one number.
        let both: Vec<Vec<u32>> = (0..)
            .zip(&columns)
            .map(|(place, (domain, column))| {
                let mut texts: HashMap<String, u32> = HashMap::new();
                let mut number = |cell: &Cell| {
                    let next = texts.len() as u32;
                    *texts.entry(domain.write_cell(cell)).or_insert(next)
                };
                let numbers: Vec<u32> = column.cells.iter().map(&mut number).collect();
                let first = |class| column.codes[found.rows(class)[0] as usize] as usize;
                let mut of_classes: Vec<u32> = (0..found.count())
                    .map(|class| numbers[first(class)])
                    .collect();
                let mut known: HashMap<&Cell, u32> = HashMap::new();
                let cells = opened
                    .iter()
                    .map(|(cells, _): &(Vec<Cell>, u64)| &cells[place]);
                of_classes
                    .extend(cells.map(|cell| *known.entry(cell).or_insert_with(|| number(cell))));
                of_classes
            })
            .collect();
        let both: Vec<&[u32]> = both.iter().map(Vec::as_slice).collect();
        let alike = Classes::group(&both, found.count() + opened.len());
        let mut sizes = vec![(0, 0); alike.count()];
        for (class, size) in found.sizes().enumerate() {
            sizes[alike.of_row(class)].0 += size;
        }
        for (class, (_, size)) in (found.count()..).zip(opened) {
            sizes[alike.of_row(class)].1 += size;
        }
        sizes.iter().all(|(found, opened)| found == opened)
    }

    /// How often each sensitive value, or combination of them, occurs in a release.
    fn totals(&self, release: &Release) -> Vec<Vec<u64>> {
        let attributes = 0..self.study.schema.attributes().len();
        let columns: Columns = attributes
            .map(|position| release.verbatim(position).cloned())
            .collect();
        let product = self.product(&columns);
        self.sensitive(&columns, product.as_ref())
            .iter()
            .map(|column| count((column.codes, release.counts()), column.size as usize))
            .collect()
    }
}

/// How often each code occurs.
pub(crate) fn count((codes, records): (&Codes, Option<&[u64]>), size: usize) -> Vec<u64> {
    let mut counts = vec![0; size];
    for (row, code) in codes.iter().enumerate() {
        counts[code as usize] += records.map_or(1, |records| records[row]);
    }
    counts
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use hedgerow_data::files::Others;
    use hedgerow_data::{Column, ReleaseColumn};
    use hedgerow_protocols::horizontal::Owner;

    use super::*;
    use crate::joint::{Joint, Pace, one_party};
    use crate::study::opened::Opened as Study;
    use crate::study::ready::Contribution;

    const STUDY: &str = r#"[study]
name = "s"
partition = "horizontal"
[[attribute]]
name = "age"
role = "quasi"
type = "integer"
range = [0, 99]
[[attribute]]
name = "disease"
role = "sensitive"
values = ["flu", "ulcer", "asthma"]
[[attribute]]
name = "ward"
role = "sensitive"
values = ["a", "b"]
[require]
k = 3
l = 2
sensitive = "SENSITIVE"
[algorithm]
name = "ALGORITHM"
"#;

    /// Skewed: most have the flu, and ages lie at one end.
    fn table() -> String {
        let mut rows = String::from("age,disease,ward\n");
        for row in 0..60u32 {
            let disease = ["flu", "flu", "ulcer", "flu", "asthma"][row as usize % 5];
            let ward = if row % 7 < 5 { "a" } else { "b" };
            rows.push_str(&format!("{},{disease},{ward}\n", row * row / 40));
        }
        rows
    }

    /// One party's release of the table, and what was opened on the way.
    fn joint(folder: &Path, sensitive: &str, algorithm: &str) -> (Ready, Joint) {
        let study = STUDY
            .replace("SENSITIVE", sensitive)
            .replace("ALGORITHM", algorithm);
        let rows = folder.join("rows.csv");
        std::fs::write(&rows, table()).unwrap();
        let study = Study::parse(study, folder).unwrap();
        let ready = Ready::new(Arc::new(study), None).unwrap();
        let table =
            hedgerow_data::files::read_table(&rows, &ready.study.schema, &Others::Refuse, &())
                .unwrap();
        let contribution = Contribution::People(ready.columns(&table, 0..table.rows()));
        let found = one_party(
            &ready,
            &contribution,
            (Owner::Site(0), 1),
            (1, Pace::COUNTED),
            |_| {},
        );
        (ready, found.unwrap().0)
    }

    /// Why a site does not sign a release that differs in this way from the joint one.
    fn reasons(
        sensitive: &str,
        algorithm: &str,
        change: impl Fn(&mut Vec<ReleaseColumn>, &mut usize),
    ) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        let (ready, joint) = joint(folder.path(), sensitive, algorithm);
        let mut columns = joint.release.columns().to_vec();
        let mut rows = joint.release.rows();
        change(&mut columns, &mut rows);
        let changed = Release::published(ready.study.schema.clone(), columns);
        let written = ready.publish(&changed, &folder.path().join("release"));
        let (published, release) = written.unwrap();
        ready.unsound(&joint.opened, &release, &published)
    }

    /// Rows of a release, picked anew.
    fn pick(columns: &mut [ReleaseColumn], rows: &[usize]) {
        for column in columns {
            match column {
                ReleaseColumn::Generalized(cells) => *cells = cells.picked(rows),
                ReleaseColumn::Verbatim(Column::Coded(codes)) => {
                    let mut picked = Codes::for_size(3);
                    rows.iter().for_each(|row| picked.push(codes.get(*row)));
                    *codes = picked;
                }
                _ => {}
            }
        }
    }

    const KINDS: [(&str, &str); 6] = [
        ("each", "mondrian"),
        ("product", "mondrian"),
        ("both", "mondrian"),
        ("each", "clustering"),
        ("product", "clustering"),
        ("both", "clustering"),
    ];

    #[test]
    fn what_was_found_is_signed() {
        for (sensitive, algorithm) in KINDS {
            let reasons = reasons(sensitive, algorithm, |_, _| {});
            assert_eq!(reasons, [""; 0], "{sensitive} {algorithm}");
        }
    }

    #[test]
    fn a_release_without_a_record_or_with_one_twice_is_not_signed() {
        for (sensitive, algorithm) in KINDS {
            for picked in [(0..59).collect::<Vec<_>>(), (0..60).chain([59]).collect()] {
                let reasons = reasons(sensitive, algorithm, |columns, rows| {
                    pick(columns, &picked);
                    *rows = picked.len();
                });
                let reasons = reasons.join("; ");
                assert!(reasons.contains("the sites have 60 together"), "{reasons}");
                assert!(reasons.contains("its classes are not those"), "{reasons}");
            }
        }
    }

    /// The number of records is right, but one record stands in another class.
    #[test]
    fn a_record_in_another_class_is_seen() {
        for (sensitive, algorithm) in KINDS {
            let reasons = reasons(sensitive, algorithm, |columns, _| {
                let Some(ReleaseColumn::Generalized(cells)) = columns.first_mut() else {
                    panic!("ages are generalized");
                };
                let last = cells.codes.len() - 1;
                cells.codes[0] = cells.codes[last];
            });
            assert!(
                reasons.iter().any(|reason| reason.contains("its classes")),
                "{reasons:?}"
            );
        }
    }

    #[test]
    fn another_sensitive_value_is_seen() {
        for (sensitive, algorithm) in KINDS {
            let reasons = reasons(sensitive, algorithm, |columns, _| {
                let Some(ReleaseColumn::Verbatim(Column::Coded(codes))) = columns.get_mut(1) else {
                    panic!("diseases are verbatim");
                };
                let mut changed = Codes::for_size(3);
                for (row, code) in codes.iter().enumerate() {
                    changed.push(if row == 0 { (code + 1) % 3 } else { code });
                }
                *codes = changed;
            });
            let is_seen = |reason: &String| reason.contains("sensitive values");
            assert!(reasons.iter().any(is_seen), "{reasons:?}");
        }
    }

    /// The totals fit, but one class has one disease only.
    #[test]
    fn a_release_that_does_not_satisfy_the_requirement_is_not_signed() {
        let reasons = reasons("each", "mondrian", |columns, _| {
            let Some(ReleaseColumn::Verbatim(Column::Coded(codes))) = columns.get_mut(1) else {
                panic!("diseases are verbatim");
            };
            let mut sorted: Vec<u32> = codes.iter().collect();
            sorted.sort_unstable();
            let mut changed = Codes::for_size(3);
            sorted.into_iter().for_each(|code| changed.push(code));
            *codes = changed;
        });
        assert!(reasons[0].contains("requirement"), "{reasons:?}");
        assert!(
            !reasons
                .iter()
                .any(|reason| reason.contains("sensitive values"))
        );
    }
}
