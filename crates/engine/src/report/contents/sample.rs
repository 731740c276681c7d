//! A few rows of a release: of one table, rows of classes from all over the release; of fragments, the rows of
//! two groups, table by table; of a virtual database, some of its classes.

use hedgerow_data::study::GROUP;
use hedgerow_data::{Column, Release, ReleaseColumn, Role};

use super::levels::note;
use super::shown;
use crate::verify::Seen;
use crate::words::thousands;

/// The rows that are shown of a table.
const ROWS: usize = 8;
/// The groups that are shown of fragments, and the rows of each.
const GROUPS: usize = 2;
const ROWS_OF_GROUP: usize = 4;

/// Some rows of one table.
#[derive(Debug, Clone, PartialEq)]
pub(in super::super) struct SampleTable {
    pub(in super::super) caption: String,
    pub(in super::super) heads: Vec<String>,
    pub(in super::super) rows: Vec<Vec<SampleCell>>,
}

/// What stands in a cell, and below it what the cell stands for.
#[derive(Debug, Clone, PartialEq)]
pub(in super::super) struct SampleCell {
    pub(in super::super) text: String,
    pub(in super::super) note: String,
}

/// Sample rows of each table of a release.
pub(super) fn samples(seen: &Seen, is_virtual: bool) -> Vec<SampleTable> {
    let (release, classes) = (&seen.release, &seen.classes);
    let first_row = |class: usize| classes.rows(class)[0] as usize;
    let picked = picked(classes.count(), ROWS);
    if is_virtual {
        let columns = release.schema().with_role(Role::Quasi);
        let mut heads = names(release, &columns);
        heads.push(String::from("records"));
        let rows = picked.into_iter().map(|class| {
            let mut row = row(release, &columns, first_row(class));
            row.push(plain(thousands(classes.size(class))));
            row
        });
        return vec![SampleTable {
            caption: String::from("Some classes that all sites know"),
            heads,
            rows: rows.collect(),
        }];
    }
    if release.groups().is_some() {
        return fragments(seen);
    }
    let columns = published(release);
    let rows = picked
        .into_iter()
        .map(|class| row(release, &columns, first_row(class)));
    vec![SampleTable {
        caption: String::from("Rows of the release, each of another class"),
        heads: names(release, &columns),
        rows: rows.collect(),
    }]
}

/// The same groups of every table of a fragmented release.
fn fragments(seen: &Seen) -> Vec<SampleTable> {
    let (release, classes) = (&seen.release, &seen.classes);
    let groups = release.groups().unwrap_or_default();
    let quasi = release.schema().with_role(Role::Quasi);
    let others = published(release).into_iter();
    let others = others.filter(|position| !quasi.contains(position));
    let mut tables = vec![(String::from("quasi-identifiers"), quasi.clone())];
    for position in others {
        let name = &release.schema().attributes()[position].name;
        tables.push((format!("`{name}`"), vec![position]));
    }
    let rows: Vec<usize> = picked(classes.count(), GROUPS)
        .into_iter()
        .flat_map(|class| {
            // Rows of a group are sorted by what is written: the first ones alone would look all alike.
            let rows = classes.rows(class);
            let places = picked(rows.len(), ROWS_OF_GROUP).into_iter();
            places.map(move |place| rows[place] as usize)
        })
        .collect();
    let table = |(what, columns): (String, Vec<usize>)| {
        let mut heads = vec![GROUP.to_owned()];
        heads.extend(names(release, &columns));
        let rows = rows.iter().map(|at| {
            let mut cells = vec![plain(groups[*at].to_string())];
            cells.extend(row(release, &columns, *at));
            cells
        });
        SampleTable {
            caption: format!("The table of {what}: rows of the same groups"),
            heads,
            rows: rows.collect(),
        }
    };
    tables.into_iter().map(table).collect()
}

/// Places spread evenly over so many.
fn picked(count: usize, most: usize) -> Vec<usize> {
    let shown = count.min(most);
    let place = |number: usize| number * (count - 1) / (shown - 1).max(1);
    (0..shown).map(place).collect()
}

/// The columns that stand in the release.
fn published(release: &Release) -> Vec<usize> {
    let columns = release.columns().iter().enumerate();
    let there = columns.filter(|(_, column)| **column != ReleaseColumn::Absent);
    there.map(|(position, _)| position).collect()
}

fn names(release: &Release, columns: &[usize]) -> Vec<String> {
    let attributes = release.schema().attributes();
    let names = columns
        .iter()
        .map(|column| attributes[*column].name.clone());
    names.collect()
}

fn row(release: &Release, columns: &[usize], row: usize) -> Vec<SampleCell> {
    let cells = columns.iter().map(|position| {
        let domain = &release.schema().attributes()[*position].domain;
        match &release.columns()[*position] {
            ReleaseColumn::Generalized(column) => {
                let cell = &column.cells[column.codes[row] as usize];
                SampleCell {
                    text: shown(&domain.write_cell(cell)),
                    note: note(domain, cell),
                }
            }
            ReleaseColumn::Verbatim(Column::Coded(codes)) => {
                plain(shown(&domain.label(codes.get(row))))
            }
            ReleaseColumn::Verbatim(Column::Text(text)) => plain(shown(text.get(row))),
            ReleaseColumn::Verbatim(Column::Absent(_)) | ReleaseColumn::Absent => {
                plain(String::new())
            }
        }
    });
    cells.collect()
}

fn plain(text: String) -> SampleCell {
    SampleCell {
        text,
        note: String::new(),
    }
}
