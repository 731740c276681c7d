//! The release as attackers see it: its boxes, its classes, and how many records have which value in them.
//!
//! A *box* is what rows with the same printed quasi-identifiers have in common; a *class* is what a reader
//! cannot tell apart when it comes to sensitive values. Both are the same but in a fragmented release, where
//! a group of records may have several boxes and the group alone leads to sensitive values.

use hedgerow_data::{Cell, Column, Release, ReleaseColumn, Role};
use hedgerow_privacy::classes::Classes;

use crate::finding::Worst;

/// How many of the worst classes a finding has.
const WORST: usize = 5;

/// A release, and what is demanded of it.
pub struct Subject<'a> {
    release: &'a Release,
    weights: Option<&'a [u64]>,
    k: u64,
    joins_sensitive: bool,
    sites: Option<&'a [u32]>,
    quasi: Vec<usize>,
    boxes: Classes,
    classes: Classes,
    class_of_box: Vec<u32>,
    sizes: Vec<u64>,
}

/// For each class, how many records have which value: values ascend.
pub(crate) struct Counted {
    offsets: Vec<usize>,
    values: Vec<u32>,
    records: Vec<u64>,
}

impl<'a> Subject<'a> {
    /// A release of which k is demanded; each row is one record.
    pub fn new(release: &'a Release, k: u64) -> Self {
        let quasi = release.schema().with_role(Role::Quasi);
        let columns: Vec<&[u32]> = quasi
            .iter()
            .filter_map(|place| Some(release.generalized(*place)?.codes.as_slice()))
            .collect();
        let rows = release.rows();
        let printed = |columns: &[&[u32]]| Classes::group(columns, rows);
        let (boxes, classes) = match release.groups() {
            None => (printed(&columns), printed(&columns)),
            Some(groups) => {
                let mut joined = columns;
                joined.push(groups);
                (printed(&joined), printed(&[groups]))
            }
        };
        let first = |one: usize| boxes.rows(one)[0] as usize;
        let class_of_box = (0..boxes.count()).map(|one| classes.of_row(first(one)) as u32);
        let subject = Self {
            class_of_box: class_of_box.collect(),
            sizes: classes.sizes().collect(),
            release,
            weights: None,
            k,
            joins_sensitive: false,
            sites: None,
            quasi,
            boxes,
            classes,
        };
        // The rows of a counted release stand for several records.
        match release.counts() {
            Some(counts) => subject.with_weights(counts),
            None => subject,
        }
    }

    /// The same release, whose rows stand for so many records each.
    ///
    /// # Panics
    /// If there is not one weight for each row: that is a mistake in the calling code.
    #[must_use]
    pub fn with_weights(mut self, weights: &'a [u64]) -> Self {
        assert_eq!(weights.len(), self.release.rows());
        self.weights = Some(weights);
        self.sizes = vec![0; self.classes.count()];
        for (row, weight) in weights.iter().enumerate() {
            self.sizes[self.classes.of_row(row)] += weight;
        }
        self
    }

    /// The same release, with the site of each row.
    ///
    /// # Panics
    /// If there is not one site for each row: that is a mistake in the calling code.
    #[must_use]
    pub fn with_sites(mut self, sites: &'a [u32]) -> Self {
        assert_eq!(sites.len(), self.release.rows());
        self.sites = Some(sites);
        self
    }

    /// The same release, of which a model is demanded of all sensitive attributes joined.
    #[must_use]
    pub fn with_sensitive_joined(mut self, joined: bool) -> Self {
        self.joins_sensitive = joined;
        self
    }

    pub(crate) fn release(&self) -> &Release {
        self.release
    }

    /// The k that is demanded.
    pub fn k(&self) -> u64 {
        self.k
    }

    pub(crate) fn joins_sensitive(&self) -> bool {
        self.joins_sensitive
    }

    pub(crate) fn sites(&self) -> Option<&[u32]> {
        self.sites
    }

    pub(crate) fn is_fragmented(&self) -> bool {
        self.release.groups().is_some()
    }

    /// Positions of the quasi-identifiers in the schema.
    pub(crate) fn quasi(&self) -> &[usize] {
        &self.quasi
    }

    pub(crate) fn boxes(&self) -> &Classes {
        &self.boxes
    }

    pub(crate) fn classes(&self) -> &Classes {
        &self.classes
    }

    pub(crate) fn class_of_box(&self, one: usize) -> usize {
        self.class_of_box[one] as usize
    }

    /// Records that a row stands for.
    pub(crate) fn weight(&self, row: usize) -> u64 {
        self.weights.map_or(1, |weights| weights[row])
    }

    /// Records of a class.
    pub(crate) fn size(&self, class: usize) -> u64 {
        self.sizes[class]
    }

    /// Number of all records.
    pub fn records(&self) -> u64 {
        self.sizes.iter().sum()
    }

    /// The cell of a box in the quasi-identifier at this place among quasi-identifiers.
    pub(crate) fn cell(&self, one: usize, place: usize) -> Option<&Cell> {
        let column = self.release.generalized(self.quasi[place])?;
        let row = self.boxes.rows(one)[0] as usize;
        Some(&column.cells[column.codes[row] as usize])
    }

    /// The sensitive attributes' positions in the schema, with their codes row by row.
    pub(crate) fn sensitive(&self) -> Vec<(usize, Vec<u32>)> {
        let positions = self.release.schema().with_role(Role::Sensitive).into_iter();
        let codes = |place| Some((place, verbatim(&self.release.columns()[place])?));
        positions.filter_map(codes).collect()
    }

    /// The same of columns that are published as they are.
    pub(crate) fn other(&self) -> Vec<(usize, Vec<u32>)> {
        let positions = self.release.schema().with_role(Role::Other).into_iter();
        let codes = |place| Some((place, verbatim(&self.release.columns()[place])?));
        positions.filter_map(codes).collect()
    }

    /// Rows that are written alike in all columns.
    pub(crate) fn written_alike(&self) -> Classes {
        let rows = self.release.rows();
        let boxes: Vec<u32> = (0..rows).map(|row| self.boxes.of_row(row) as u32).collect();
        let others: Vec<Vec<u32>> = self
            .sensitive()
            .into_iter()
            .chain(self.other())
            .map(|(_, codes)| codes)
            .collect();
        let mut columns = vec![boxes.as_slice()];
        columns.extend(others.iter().map(Vec::as_slice));
        Classes::group(&columns, rows)
    }

    /// Records of each class by value.
    pub(crate) fn counted(&self, codes: &[u32]) -> Counted {
        let mut counted = Counted {
            offsets: vec![0],
            values: Vec::new(),
            records: Vec::new(),
        };
        let mut of_class: Vec<(u32, u64)> = Vec::new();
        for class in 0..self.classes.count() {
            let rows = self.classes.rows(class).iter().map(|row| *row as usize);
            of_class.clear();
            of_class.extend(rows.map(|row| (codes[row], self.weight(row))));
            of_class.sort_unstable_by_key(|(value, _)| *value);
            for same in of_class.chunk_by(|one, other| one.0 == other.0) {
                counted.values.push(same[0].0);
                counted
                    .records
                    .push(same.iter().map(|(_, weight)| weight).sum());
            }
            counted.offsets.push(counted.values.len());
        }
        counted
    }

    /// The classes with most records at risk, as they are written.
    pub(crate) fn worst(&self, at_risk: &[u64]) -> Vec<Worst> {
        let mut classes: Vec<usize> = (0..at_risk.len()).filter(|one| at_risk[*one] > 0).collect();
        classes.sort_by_key(|class| std::cmp::Reverse(at_risk[*class]));
        classes.truncate(WORST);
        let schema = self.release.schema().attributes();
        let written = |class: usize| -> Vec<String> {
            let row = self.classes.rows(class)[0] as usize;
            if let Some(groups) = self.release.groups() {
                return vec![format!("group = {}", groups[row])];
            }
            let cells = self.quasi.iter().filter_map(|place| {
                let column = self.release.generalized(*place)?;
                let cell = &column.cells[column.codes[row] as usize];
                let attribute = &schema[*place];
                let text = attribute.domain.write_cell(cell);
                Some(format!("{} = {text}", attribute.name))
            });
            cells.collect()
        };
        let worst = |class: usize| Worst {
            class: written(class),
            records: self.size(class),
            at_risk: at_risk[class],
        };
        classes.into_iter().map(worst).collect()
    }
}

impl Counted {
    /// The values of a class with their records.
    pub(crate) fn class(&self, class: usize) -> impl Iterator<Item = (u32, u64)> + '_ {
        let range = self.offsets[class]..self.offsets[class + 1];
        let values = self.values[range.clone()].iter().copied();
        values.zip(self.records[range].iter().copied())
    }

    /// Records of a class that have a value.
    pub(crate) fn records(&self, class: usize, value: u32) -> u64 {
        let range = self.offsets[class]..self.offsets[class + 1];
        let found = self.values[range.clone()].binary_search(&value);
        found.map_or(0, |place| self.records[range.start + place])
    }

    /// The most frequent value of a class with its records; the least of several.
    pub(crate) fn top(&self, class: usize) -> Option<(u32, u64)> {
        let values = self.class(class);
        values.reduce(|top, next| if next.1 > top.1 { next } else { top })
    }

    /// Records of all classes by value, for values below `size`.
    pub(crate) fn totals(&self, size: usize) -> Vec<u64> {
        let mut totals = vec![0; size];
        for (value, records) in self.values.iter().zip(&self.records) {
            totals[*value as usize] += records;
        }
        totals
    }

    /// One more than the greatest value.
    pub(crate) fn size(&self) -> usize {
        self.values
            .iter()
            .max()
            .map_or(0, |most| *most as usize + 1)
    }
}

/// The codes of a column as it is; of text, the places in its dictionary.
fn verbatim(column: &ReleaseColumn) -> Option<Vec<u32>> {
    match column {
        ReleaseColumn::Verbatim(Column::Coded(codes)) => Some(codes.iter().collect()),
        ReleaseColumn::Verbatim(Column::Text(text)) => Some(text.codes.clone()),
        _ => None,
    }
}
