//! Columns that a release has as they are (role `other`), and the records that they single out:
//! whoever knows such a value of a person finds their record, whatever class it stands in.
//!
//! A record is singled out by a column if no other has its value there, and by several columns
//! together if no other has all of its values there. Where a release is fragmented nothing joins
//! its columns, so each is counted alone.
//!
//! At most one record in twenty may be singled out, unless the study says `publish_unique = true` at the
//! attribute. Attributes without `publish_unique` are held to this limit each alone and all together;
//! attributes with it are left out of both.
//!
//! A site counts its own rows before a run. Whoever is alone in all sites' rows is alone at their
//! site, so that no joint table singles out a greater share than the sites' own tables do; but
//! people whom not all sites know drop out of a vertical release, which is counted again.

use hedgerow_data::{Column, Release, ReleaseColumn, Role, Schema, Table, quoted_list};
use serde::ser::SerializeStruct as _;
use serde::{Serialize, Serializer};

use crate::classes::Classes;

/// Of this many records one may be singled out.
const ONE_IN: u64 = 20;

/// What the columns of role `other` single out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SingledOut {
    /// The number of all records.
    pub records: u64,
    /// The records that each column singles out alone.
    pub columns: Vec<SingledOutBy>,
    /// Records singled out by all columns together, where there are several and something joins them.
    pub together: Option<u64>,
    /// Records singled out by the columns together that are within the limit alone and have no
    /// `publish_unique`.
    undeclared: Option<(Vec<String>, u64)>,
}

/// What one column singles out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SingledOutBy {
    /// The column.
    pub name: String,
    /// Records with a value that no other record has.
    pub unique: u64,
    /// Whether the study says `publish_unique = true` for the column.
    pub publish_unique: bool,
}

/// Columns that single out more records than the limit allows.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SingledOutError {
    /// One column singles out too many records.
    #[error(
        "column `{column}` is published as it is, and {unique} of {records} records have a value there that no other has: {}, at most 5 % may\nhint: make its values coarser, give it another role, or write publish_unique = true at the attribute", percent(*unique, *records)
    )]
    Alone {
        /// The column.
        column: String,
        /// Records that the column singles out.
        unique: u64,
        /// The number of all records.
        records: u64,
    },
    /// Several together.
    #[error(
        "columns {} are published as they are, and together single out {unique} of {records} records: {}, at most 5 % may\nhint: make their values coarser, give one another role, or write publish_unique = true at the attribute that may single them out", quoted_list(columns), percent(*unique, *records)
    )]
    Together {
        /// The columns.
        columns: Vec<String>,
        /// Records that the columns single out together.
        unique: u64,
        /// The number of all records.
        records: u64,
    },
}

impl SingledOut {
    /// Of a table's own rows. Nothing will join the columns of a fragmented release.
    pub fn of_table(table: &Table, is_fragmented: bool) -> Self {
        let columns = table.schema().with_role(Role::Other).into_iter();
        let columns = columns.map(|position| (position, table.column(position)));
        Self::count(
            table.schema(),
            columns.collect(),
            (table.rows(), table.counts()),
            is_fragmented,
        )
    }

    /// The records singled out in a release: what a site can count before it signs, and a reader
    /// afterwards.
    pub fn of_release(release: &Release) -> Self {
        let columns = release.schema().with_role(Role::Other).into_iter();
        let columns = columns.filter_map(|position| match &release.columns()[position] {
            ReleaseColumn::Verbatim(column) => Some((position, column)),
            _ => None,
        });
        let is_fragmented = release.groups().is_some();
        Self::count(
            release.schema(),
            columns.collect(),
            (release.rows(), release.counts()),
            is_fragmented,
        )
    }

    fn count(
        schema: &Schema,
        columns: Vec<(usize, &Column)>,
        (rows, counts): (usize, Option<&[u64]>),
        is_fragmented: bool,
    ) -> Self {
        let codes: Vec<Vec<u32>> = columns.iter().map(|(_, column)| codes(column)).collect();
        let unique = |places: &[usize]| {
            let columns: Vec<&[u32]> = places
                .iter()
                .map(|place| codes[*place].as_slice())
                .collect();
            let classes = Classes::group(&columns, rows).counted(counts);
            classes.sizes().filter(|size| *size == 1).count() as u64
        };
        let records = counts.map_or(rows as u64, |counts| counts.iter().sum());
        let attributes = columns
            .iter()
            .map(|(position, _)| &schema.attributes()[*position]);
        let columns: Vec<SingledOutBy> = attributes
            .enumerate()
            .map(|(place, attribute)| SingledOutBy {
                name: attribute.name.clone(),
                unique: unique(&[place]),
                publish_unique: attribute.publish_unique,
            })
            .collect();
        let all: Vec<usize> = (0..columns.len()).collect();
        let of_all = (all.len() > 1 && !is_fragmented).then(|| unique(&all));
        let is_held = |place: &usize| {
            let column = &columns[*place];
            !column.publish_unique && !is_too_many(column.unique, records)
        };
        let held: Vec<usize> = all.iter().copied().filter(is_held).collect();
        let undeclared = of_all.filter(|_| held.len() > 1).map(|of_all| {
            let names = held.iter().map(|place| columns[*place].name.clone());
            let unique = if held == all { of_all } else { unique(&held) };
            (names.collect(), unique)
        });
        Self {
            records,
            together: of_all,
            undeclared,
            columns,
        }
    }

    /// Whether the release has no column of role `other`.
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    /// Everything that is too much, and that the study does not allow.
    pub fn refusals(&self) -> Vec<SingledOutError> {
        let records = self.records;
        let alone = self
            .columns
            .iter()
            .filter(|column| !column.publish_unique && is_too_many(column.unique, records));
        let alone = alone.map(|column| SingledOutError::Alone {
            column: column.name.clone(),
            unique: column.unique,
            records,
        });
        let together = self.undeclared.iter();
        let together = together.filter(|(_, unique)| is_too_many(*unique, records));
        let together = together.map(|(columns, unique)| SingledOutError::Together {
            columns: columns.clone(),
            unique: *unique,
            records,
        });
        alone.chain(together).collect()
    }

    /// The share of all records that some are.
    pub fn share(&self, unique: u64) -> f64 {
        unique as f64 / self.records.max(1) as f64
    }
}

impl Serialize for SingledOut {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct By<'a> {
            #[serde(skip_serializing_if = "Option::is_none")]
            name: Option<&'a str>,
            unique: u64,
            share: f64,
            #[serde(skip_serializing_if = "Option::is_none")]
            publish_unique: Option<bool>,
        }
        let by = |unique| By {
            name: None,
            unique,
            share: self.share(unique),
            publish_unique: None,
        };
        let columns = self.columns.iter().map(|column| By {
            name: Some(&column.name),
            publish_unique: Some(column.publish_unique),
            ..by(column.unique)
        });
        let columns: Vec<By<'_>> = columns.collect();
        let mut fields = serializer.serialize_struct("SingledOut", 3)?;
        fields.serialize_field("columns", &columns)?;
        match self.together {
            Some(unique) => fields.serialize_field("together", &by(unique))?,
            None => fields.skip_field("together")?,
        }
        fields.serialize_field("refused", &!self.refusals().is_empty())?;
        fields.end()
    }
}

fn is_too_many(unique: u64, records: u64) -> bool {
    unique.saturating_mul(ONE_IN) > records
}

fn codes(column: &Column) -> Vec<u32> {
    match column {
        Column::Coded(codes) => codes.iter().collect(),
        Column::Text(text) => text.codes.clone(),
        Column::Absent(rows) => vec![0; *rows],
    }
}

fn percent(unique: u64, records: u64) -> String {
    format!("{:.1} %", unique as f64 * 100.0 / records.max(1) as f64)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use hedgerow_data::{Attribute, Codes, Domain};
    use proptest::prelude::*;

    use super::*;

    const SIZE: u32 = 40;

    /// A table of three `other` columns of skewed values, the second of text.
    fn table(rows: &[[u32; 3]], declared: [bool; 3]) -> Table {
        let domains = [
            Domain::integer(0, i64::from(SIZE) - 1, 1).unwrap(),
            Domain::Text,
            Domain::integer(0, i64::from(SIZE) - 1, 1).unwrap(),
        ];
        let mut columns: Vec<Column> = domains.iter().map(Column::for_domain).collect();
        for (place, column) in columns.iter_mut().enumerate() {
            for (row, values) in rows.iter().enumerate() {
                match column {
                    Column::Coded(codes) => codes.push(values[place]),
                    Column::Text(text) => text.push(&values[place].to_string(), row as u64 + 2),
                    Column::Absent(_) => unreachable!("a column of each domain is there"),
                }
            }
        }
        let attributes = domains.into_iter().zip(["a", "b", "c"]).zip(declared);
        let attributes = attributes.map(|((domain, name), publish_unique)| Attribute {
            spelling: hedgerow_data::Spelling::default(),
            name: name.into(),
            role: Role::Other,
            domain,
            recode: None,
            publish_unique,
        });
        Table::new(Arc::new(Schema::new(attributes.collect())), columns)
    }

    /// Records alone by some columns, counted by comparing each with each.
    fn alone(rows: &[[u32; 3]], columns: &[usize]) -> u64 {
        let mut seen: BTreeMap<Vec<u32>, u64> = BTreeMap::new();
        let key = |row: &[u32; 3]| columns.iter().map(|place| row[*place]).collect::<Vec<_>>();
        rows.iter()
            .for_each(|row| *seen.entry(key(row)).or_default() += 1);
        rows.iter().filter(|row| seen[&key(row)] == 1).count() as u64
    }

    /// Mostly a few values, now and then a rare one.
    fn skewed() -> impl Strategy<Value = u32> {
        prop_oneof![8 => 0..2u32, 1 => 2..SIZE]
    }

    proptest! {
        #[test]
        fn counts_and_refusals_are_those_of_the_raw_rows(
            rows in proptest::collection::vec((skewed(), skewed(), skewed()).prop_map(|(a, b, c)| [a, b, c]), 1..120),
            declared in any::<[bool; 3]>(),
            is_fragmented in any::<bool>(),
        ) {
            let found = SingledOut::of_table(&table(&rows, declared), is_fragmented);
            let few = |unique: u64| unique as f64 <= 0.05 * rows.len() as f64 + 1e-9;
            let single: Vec<u64> = (0..3).map(|place| alone(&rows, &[place])).collect();
            prop_assert_eq!(found.columns.iter().map(|column| column.unique).collect::<Vec<_>>(), single.clone());
            prop_assert_eq!(found.together, (!is_fragmented).then(|| alone(&rows, &[0, 1, 2])));
            let undeclared: Vec<usize> = (0..3).filter(|place| !declared[*place]).collect();
            let is_fine = undeclared.iter().all(|place| few(single[*place]))
                && (is_fragmented || undeclared.is_empty() || few(alone(&rows, &undeclared)));
            prop_assert_eq!(found.refusals().is_empty(), is_fine, "{:?}", found);
        }
    }

    #[test]
    fn everything_that_is_too_much_is_said_at_once() {
        // 40 records: `a` names each, `b` and `c` nobody, but 4 together.
        let mut rows: Vec<[u32; 3]> = (0..40).map(|row| [row, row % 2, row % 2]).collect();
        (rows[0], rows[1], rows[2]) = ([0, 0, 1], [1, 1, 0], [2, 0, 2]);
        rows[4] = [4, 1, 2];
        let found = SingledOut::of_table(&table(&rows, [false; 3]), false);
        let said: Vec<String> = found.refusals().iter().map(ToString::to_string).collect();
        assert_eq!(
            said,
            [
                "column `a` is published as it is, and 40 of 40 records have a value there that no other has: 100.0 %, at most 5 % may\nhint: make its values coarser, give it another role, or write publish_unique = true at the attribute",
                "columns `b`, `c` are published as they are, and together single out 4 of 40 records: 10.0 %, at most 5 % may\nhint: make their values coarser, give one another role, or write publish_unique = true at the attribute that may single them out",
            ]
        );
        let declared = SingledOut::of_table(&table(&rows, [true, true, false]), false);
        assert_eq!(declared.refusals(), []);
        assert_eq!(declared.together, Some(40));
        assert_eq!(
            SingledOut::of_table(&table(&[], [false; 3]), false).refusals(),
            []
        );
    }

    #[test]
    fn a_release_is_counted_as_its_table() {
        let rows: Vec<[u32; 3]> = (0..30).map(|row| [row / 2, row % 3, row]).collect();
        let table = table(&rows, [false; 3]);
        let columns = (0..3).map(|place| ReleaseColumn::Verbatim(table.column(place).clone()));
        let release = Release::new(Arc::clone(table.schema()), columns.collect(), rows.len());
        assert_eq!(
            SingledOut::of_release(&release),
            SingledOut::of_table(&table, false)
        );
        let columns = vec![
            ReleaseColumn::Absent,
            ReleaseColumn::Absent,
            ReleaseColumn::Verbatim(Column::Coded(Codes::U8((0..30).collect()))),
        ];
        let groups: Vec<u32> = (0..30).map(|row| row / 10).collect();
        let fragments = Release::fragmented(Arc::clone(table.schema()), columns, &groups);
        let found = SingledOut::of_release(&fragments);
        assert_eq!((found.columns.len(), found.columns[0].unique), (1, 30));
        assert_eq!(found.together, None);
    }
}
