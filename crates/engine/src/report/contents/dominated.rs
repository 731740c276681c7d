//! Classes in which nearly every record has the same sensitive value: whoever knows that a person is in such a
//! class knows the value, however many records the class has.

use hedgerow_data::{Cell, Release, Role};
use hedgerow_privacy::classes::Histograms;
use serde::Serialize;

use super::shown;
use crate::verify::Seen;
use crate::words::{count, percent, thousands};

/// A value that stands at this share of a class or more, in hundredths, is as good as told.
const SHARE: u64 = 99;

/// The classes that one value of a sensitive attribute fills.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(in super::super) struct Dominated {
    /// The attribute.
    pub(in super::super) attribute: String,
    /// How many classes one value fills, and their records.
    pub(in super::super) classes: u64,
    pub(in super::super) records: u64,
    /// All classes and records of the release.
    of_classes: u64,
    of_records: u64,
    /// The largest of these classes: its records, its quasi-identifiers, its value, and the value's share
    /// there and in the whole release.
    largest: Largest,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct Largest {
    records: u64,
    quasi: Vec<[String; 2]>,
    value: String,
    share: f64,
    share_in_release: f64,
}

/// The sensitive attributes with such classes.
pub(super) fn dominated(seen: &Seen) -> Vec<Dominated> {
    let schema = seen.release.schema();
    let sensitive = schema.with_role(Role::Sensitive).into_iter();
    let found = sensitive.filter_map(|position| of_attribute(seen, position));
    found.collect()
}

fn of_attribute(seen: &Seen, position: usize) -> Option<Dominated> {
    let (release, classes) = (&seen.release, &seen.classes);
    let codes: Vec<u32> = release.verbatim(position)?.iter().collect();
    let histograms = Histograms::new(classes, &codes);
    let filled = (0..classes.count()).filter_map(|class| {
        let counts = histograms.class(class);
        let (value, records) = counts.iter().max_by_key(|(_, records)| *records)?;
        let size = classes.size(class);
        (records * 100 >= size * SHARE).then_some((class, value, records))
    });
    let filled: Vec<(usize, u32, u64)> = filled.collect();
    let largest = filled.iter().max_by(|(one, ..), (other, ..)| {
        // Of classes of the same size the first.
        let sizes = classes.size(*one).cmp(&classes.size(*other));
        sizes.then(other.cmp(one))
    });
    let (class, value, records) = *largest?;
    let rows = codes.iter().enumerate().filter(|(_, code)| **code == value);
    let in_release: u64 = rows
        .map(|(row, _)| release.counts().map_or(1, |counts| counts[row]))
        .sum();
    let attribute = &release.schema().attributes()[position];
    Some(Dominated {
        attribute: attribute.name.clone(),
        classes: filled.len() as u64,
        records: filled.iter().map(|(class, ..)| classes.size(*class)).sum(),
        of_classes: classes.count() as u64,
        of_records: classes.records(),
        largest: Largest {
            records: classes.size(class),
            quasi: quasi(release, classes.rows(class)[0] as usize),
            value: shown(&attribute.domain.label(value)),
            share: records as f64 / classes.size(class) as f64,
            share_in_release: in_release as f64 / release.records().max(1) as f64,
        },
    })
}

/// The quasi-identifiers of a row as the release writes them; of a fragmented release, the number of the group.
fn quasi(release: &Release, row: usize) -> Vec<[String; 2]> {
    if let Some(groups) = release.groups() {
        return vec![[String::from("group"), groups[row].to_string()]];
    }
    let positions = release.schema().with_role(Role::Quasi).into_iter();
    let cells = positions.filter_map(|position| {
        let attribute = &release.schema().attributes()[position];
        let column = release.generalized(position)?;
        let cell: &Cell = &column.cells[column.codes[row] as usize];
        Some([
            attribute.name.clone(),
            shown(&attribute.domain.write_cell(cell)),
        ])
    });
    cells.collect()
}

impl Dominated {
    /// The warning in words.
    pub(in super::super) fn words(&self) -> String {
        let largest = &self.largest;
        let quasi: Vec<String> = largest.quasi.iter().map(|pair| pair.join(" ")).collect();
        format!(
            "Warning: in {} of {} ({} of {} records) one value of `{}` stands at 99 % or more: whoever knows that a person is in such a class knows the value, however many records the class has. The largest of these classes ({}) has {}, of which `{}` has {}; in the whole release this value has {}.",
            thousands(self.classes),
            count(self.of_classes, "class", "classes"),
            thousands(self.records),
            thousands(self.of_records),
            self.attribute,
            quasi.join(", "),
            count(largest.records, "record", "records"),
            largest.value,
            percent(largest.share),
            percent(largest.share_in_release),
        )
    }
}
