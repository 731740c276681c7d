//! Tables, plans and runs that the tests share.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use hedgerow_data::document::Document;
use hedgerow_data::{Codes, Column, Role, Schema, Study, Table};
use hedgerow_privacy::Requirement;
use hedgerow_privacy::closeness::Distance;
use hedgerow_privacy::m_privacy::Strategy;
use hedgerow_protocols::horizontal::assembly::Room;
use hedgerow_protocols::horizontal::mondrian::{
    Choice, Cutting, Medians, Partition, Plan, Quasi, Widths, partition,
};
use hedgerow_protocols::horizontal::requirement::{Demands, SensitiveAttribute};
use hedgerow_protocols::horizontal::{OwnRows, Owner, SensitiveCodes};
use hedgerow_smc::{Party, Seed, Settings};

/// Adult, with the class of salary as the sensitive attribute.
pub(crate) fn adult() -> Option<(Arc<Schema>, Table)> {
    let (study, table) = crate::adult::adult("salary-class")?;
    Some((study.schema, table))
}

/// Every model, alone or with another.
pub(crate) const DEMANDS: [&str; 12] = [
    "k = 2",
    "k = 1",
    "k = 3, l = 2",
    "k = 2, l = { at_least = 1.5, kind = \"entropy\" }",
    "k = 2, l = { at_least = 1.5, kind = \"frequency\" }",
    "k = 2, l = { at_least = 2, kind = \"recursive\", c = 3 }",
    "k = 2, l = { at_least = 3, kind = \"recursive\", c = 9 }",
    "k = 2, t = 0.4",
    "k = 2, site_diversity = 2",
    "k = 4, alpha = 0.8, beta = 3",
    "k = 2, beta = { at_most = 2, kind = \"enhanced\" }",
    "k = 2, delta = 1.5",
];

pub(crate) fn plan<'a>(
    schema: &'a Schema,
    requirement: &'a Requirement,
    by_children: bool,
) -> Plan<'a> {
    let named = |role| {
        schema
            .with_role(role)
            .into_iter()
            .map(|index| &schema.attributes()[index])
    };
    Plan {
        quasi: named(Role::Quasi)
            .map(|attribute| Quasi {
                size: attribute.domain.size(),
                is_coarsened: false,
                cutting: match attribute.domain.taxonomy() {
                    Some(tree) if by_children => Cutting::Children(tree),
                    _ => Cutting::Median,
                },
            })
            .collect(),
        demands: Demands {
            requirement,
            sensitive: named(Role::Sensitive)
                .map(|attribute| SensitiveAttribute {
                    distance: Distance::Equal,
                    tree: attribute.domain.taxonomy(),
                })
                .collect(),
            strategy: Strategy::Direct,
            contributors: false,
        },
        choice: Choice::Width,
        cuts_sites: false,
        keeps_twice_k: false,
        medians: Medians::Strict,
        widths: Widths::Box,
        betraying: None,
        room: Room::default(),
        is_counted: false,
    }
}

/// The rows of one site of several, dealt out in turn.
pub(crate) fn share(table: &Table, site: usize, sites: usize) -> Vec<Codes> {
    (0..table.schema().attributes().len())
        .map(|attribute| {
            let codes = table.codes(attribute).unwrap();
            let mut own = Codes::for_size(table.schema().attributes()[attribute].domain.size());
            (site..table.rows())
                .step_by(sites)
                .for_each(|row| own.push(codes.get(row)));
            own
        })
        .collect()
}

pub(crate) fn own_rows<'a>(
    schema: &Schema,
    columns: &'a [Codes],
    owner: Owner<'a>,
    sites: usize,
) -> OwnRows<'a> {
    OwnRows {
        counts: None,
        other: Vec::new(),
        count: columns[0].len(),
        quasi: schema
            .with_role(Role::Quasi)
            .into_iter()
            .map(|index| &columns[index])
            .collect(),
        sensitive: schema
            .with_role(Role::Sensitive)
            .into_iter()
            .map(|index| SensitiveCodes {
                codes: &columns[index],
                size: schema.attributes()[index].domain.size(),
            })
            .collect(),
        owner,
        sites,
    }
}

pub(crate) fn central(
    schema: &Schema,
    table: &Table,
    plan: &Plan<'_>,
    owners: &[u32],
    sites: usize,
) -> Partition {
    let columns = share(table, 0, 1);
    let rows = own_rows(schema, &columns, Owner::Column(owners), sites);
    let mut party = Party::alone(Settings::hardened(), &Seed::for_site(1, 0));
    pollster::block_on(partition(&mut party, &rows, plan, |_, _| {})).unwrap()
}

/// A small random table: three quasi-identifiers (an order, a taxonomy, a flat one) and a sensitive
/// attribute.
pub(crate) fn small(rows: &[(u32, u32, u32, u32)]) -> (Arc<Schema>, Table) {
    let folder = tempfile::tempdir().unwrap();
    let tree = "a;X;*\nb;X;*\nc;Y;*\nd;Y;*\ne;Y;*\n";
    std::fs::write(folder.path().join("place.csv"), tree).unwrap();
    let text = "[study]\nname = \"small\"\npartition = \"horizontal\"\n\
                [[attribute]]\nname = \"age\"\nrole = \"quasi\"\ntype = \"integer\"\nrange = [0, 9]\n\
                [[attribute]]\nname = \"place\"\nrole = \"quasi\"\ntaxonomy = \"place.csv\"\n\
                [[attribute]]\nname = \"sex\"\nrole = \"quasi\"\nvalues = [\"f\", \"m\"]\n\
                [[attribute]]\nname = \"disease\"\nrole = \"sensitive\"\nvalues = [\"u\", \"v\", \"w\"]\n";
    let document = Document::parse(text.into(), Path::new("study.toml")).unwrap();
    let schema = Study::read(document, folder.path()).unwrap().schema;
    let column = |size: u32, pick: fn(&(u32, u32, u32, u32)) -> u32| {
        let mut codes = Codes::for_size(size);
        rows.iter().for_each(|row| codes.push(pick(row) % size));
        Column::Coded(codes)
    };
    let columns = vec![
        column(10, |row| row.0),
        column(5, |row| row.1),
        column(2, |row| row.2),
        column(3, |row| row.3),
    ];
    (schema.clone(), Table::new(schema, columns))
}

/// A table of numbers: quasi-identifiers with so many values each, then a sensitive attribute.
pub(crate) fn numbers(sizes: &[u32], rows: &[Vec<u32>]) -> (Arc<Schema>, Table) {
    let mut text = String::from("[study]\nname = \"numbers\"\npartition = \"horizontal\"\n");
    for (column, size) in sizes.iter().enumerate() {
        let is_last = column + 1 == sizes.len();
        let role = if is_last { "sensitive" } else { "quasi" };
        text.push_str(&format!(
            "[[attribute]]\nname = \"a{column}\"\nrole = \"{role}\"\ntype = \"integer\"\nrange = [0, {}]\n",
            size - 1
        ));
    }
    let document = Document::parse(text, Path::new("study.toml")).unwrap();
    let schema = Study::read(document, Path::new(".")).unwrap().schema;
    let columns = sizes.iter().enumerate().map(|(column, size)| {
        let mut codes = Codes::for_size(*size);
        rows.iter().for_each(|row| codes.push(row[column]));
        Column::Coded(codes)
    });
    (schema.clone(), Table::new(schema, columns.collect()))
}

/// The classes of horizontal Mondrian for one party that has every row of some columns: so many
/// quasi-identifiers, then so many sensitive attributes.
pub(crate) fn classes_of_one(
    columns: &[Codes],
    sizes: &[u32],
    plan: &Plan<'_>,
    quasi: usize,
    sensitive: usize,
) -> BTreeSet<Vec<u32>> {
    let owner = Owner::Site(0);
    let of_values = columns.iter().zip(sizes).skip(quasi).take(sensitive);
    let rows = OwnRows {
        counts: None,
        other: Vec::new(),
        count: columns[0].len(),
        quasi: columns[..quasi].iter().collect(),
        sensitive: of_values
            .map(|(codes, size)| SensitiveCodes { codes, size: *size })
            .collect(),
        owner,
        sites: 1,
    };
    let mut party = Party::alone(Settings::hardened(), &Seed::for_site(1, 0));
    let found = pollster::block_on(partition(&mut party, &rows, plan, |_, _| {})).unwrap();
    let classes = found.classes.iter();
    classes.map(|class| found.rows(class).to_vec()).collect()
}
