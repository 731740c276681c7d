//! Small releases of `age` (0 to 99), `zip` (0 to 9) and `disease` (0 to 5), with `cost` as it is.

use std::collections::HashMap;
use std::sync::Arc;

use hedgerow_data::{
    Attribute, Cell, Codes, Column, Domain, GeneralizedColumn, Release, ReleaseColumn, Role,
    Schema, Spelling, Table, Taxonomy,
};
use hedgerow_gate::{Attack, Finding, Known, Limits, Rows, Subject, attack};

/// A person: age, zip, disease.
pub(crate) type Person = (u32, u32, u32);

/// A published row: cells of age and zip, disease, cost.
pub(crate) type Row = (Cell, Cell, u32, u32);

pub(crate) fn schema() -> Arc<Schema> {
    let attribute = |name: &str, role, domain| Attribute {
        name: name.into(),
        role,
        domain,
        spelling: Spelling::default(),
        recode: None,
        publish_unique: false,
    };
    let diseases = ["a", "b", "c", "d", "e", "f"];
    let diseases = Taxonomy::flat(&diseases, "disease").unwrap();
    Arc::new(Schema::new(vec![
        attribute("age", Role::Quasi, Domain::integer(0, 99, 1).unwrap()),
        attribute("zip", Role::Quasi, Domain::integer(0, 9, 1).unwrap()),
        attribute(
            "disease",
            Role::Sensitive,
            Domain::category(diseases, false),
        ),
        attribute("cost", Role::Other, Domain::integer(0, 255, 1).unwrap()),
    ]))
}

pub(crate) fn cell(least: u32, greatest: u32) -> Cell {
    Cell::Interval(least, greatest)
}

fn generalized(cells: impl Iterator<Item = Cell>) -> ReleaseColumn {
    let mut column = GeneralizedColumn {
        cells: Vec::new(),
        codes: Vec::new(),
    };
    let mut known: HashMap<Cell, u32> = HashMap::new();
    for cell in cells {
        let next = known.len() as u32;
        let place = *known.entry(cell.clone()).or_insert(next);
        if place == next {
            column.cells.push(cell);
        }
        column.codes.push(place);
    }
    ReleaseColumn::Generalized(column)
}

fn coded(codes: impl Iterator<Item = u32>) -> Column {
    Column::Coded(Codes::U8(codes.map(|code| code as u8).collect()))
}

fn columns(rows: &[Row]) -> Vec<ReleaseColumn> {
    vec![
        generalized(rows.iter().map(|row| row.0.clone())),
        generalized(rows.iter().map(|row| row.1.clone())),
        ReleaseColumn::Verbatim(coded(rows.iter().map(|row| row.2))),
        ReleaseColumn::Verbatim(coded(rows.iter().map(|row| row.3))),
    ]
}

/// Rows in the order in which they are given: not as a release should be.
pub(crate) fn in_this_order(rows: &[Row]) -> Release {
    Release::new(schema(), columns(rows), rows.len())
}

/// Rows as they are published.
pub(crate) fn published(rows: &[Row]) -> Release {
    Release::published(schema(), columns(rows))
}

/// Rows as a counted release publishes them.
pub(crate) fn counted(rows: &[Row]) -> Release {
    Release::counted(schema(), columns(rows), None)
}

/// A fragmented release.
pub(crate) fn fragmented(rows: &[Row], groups: &[u32]) -> Release {
    Release::fragmented(schema(), columns(rows), groups)
}

/// Each class: ages, zips, and the diseases of its records; all cost the same.
pub(crate) fn of_classes(classes: &[(Cell, Cell, &[u32])]) -> Vec<Row> {
    let rows = classes.iter().flat_map(|(age, zip, diseases)| {
        let row = |disease: &u32| (age.clone(), zip.clone(), *disease, 0);
        diseases.iter().map(row).collect::<Vec<Row>>()
    });
    rows.collect()
}

/// The rows of sites, each with its people.
pub(crate) fn rows(sites: &[&[Person]]) -> Rows {
    Rows::of(&tables(sites))
}

/// The tables of sites, each with its people.
pub(crate) fn tables(sites: &[&[Person]]) -> Vec<Table> {
    sites
        .iter()
        .map(|people| {
            let columns = vec![
                coded(people.iter().map(|one| one.0)),
                coded(people.iter().map(|one| one.1)),
                coded(people.iter().map(|one| one.2)),
                coded(people.iter().map(|_| 0)),
            ];
            Table::new(schema(), columns)
        })
        .collect()
}

/// What somebody knows who has these rows.
pub(crate) fn known(own: &[&[Person]], holdout: &[Person]) -> Known<'static> {
    Known {
        own: (!own.is_empty()).then(|| rows(own)),
        holdout: (!holdout.is_empty()).then(|| rows(&[holdout])),
        earlier: Vec::new(),
    }
}

/// One attack with the default limits on a release of k = 3.
pub(crate) fn tried(one: Attack, release: &Release, known: &Known<'_>) -> Finding {
    attack(one, &Subject::new(release, 3), known, &Limits::default())
}

/// The records at risk.
pub(crate) fn at_risk(finding: &Finding) -> u64 {
    finding.measured.as_ref().map_or(0, |found| found.at_risk)
}
