//! The same people at several sites, and what comes of their runs.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use hedgerow_data::document::Document;
use hedgerow_data::study::{Identity, Split};
use hedgerow_data::{Codes, Column, Domain, Role, Schema, Study, Table, TextColumn};
use hedgerow_privacy::Requirement;
use hedgerow_protocols::Error;
use hedgerow_protocols::vertical::align::align;
use hedgerow_protocols::vertical::d2pt::{
    Anonymizer, Fragments, Joint, Plan, Suppression, Synchronizer, anonymize, columns_of,
};
use hedgerow_smc::ledger::Entry;
use hedgerow_smc::memory::{Outcome, Simulation};
use hedgerow_smc::{Party, Seed, Settings};

use super::verdict::verdict;
use crate::missing::assert_no_missing_inside;

/// People whose columns stand at several sites.
pub(crate) struct People {
    pub(crate) schema: Arc<Schema>,
    pub(crate) split: Split,
    pub(crate) identity: Identity,
    /// Each site's own table, in an order of its own.
    pub(crate) tables: Vec<Table>,
    /// Everybody's codes by identifier: one for each attribute, 0 for identifiers.
    pub(crate) truth: BTreeMap<String, Vec<u32>>,
}

/// How a run goes.
#[derive(Clone, Copy)]
pub(crate) struct How<'a> {
    pub(crate) requirement: &'a Requirement,
    pub(crate) anonymizer: &'a dyn Anonymizer,
    pub(crate) synchronizer: Synchronizer,
    pub(crate) suppression: Suppression,
    pub(crate) restore: bool,
}

/// What one site has in the end.
pub(crate) struct Part {
    pub(crate) joint: Joint,
    /// Identifiers of the common records, in their order.
    pub(crate) common: Vec<String>,
    pub(crate) entries: Vec<Entry>,
}

pub(crate) fn study(text: &str, files: &[(&str, &str)]) -> Study {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let head = "[study]\nname = \"people\"\npartition = \"vertical\"\n\
                [[attribute]]\nname = \"id\"\nrole = \"identifier\"\n";
    let document = Document::parse(format!("{head}{text}"), Path::new("study.toml")).unwrap();
    Study::read(document, folder.path()).unwrap()
}

impl People {
    /// People by identifier, with a code for each attribute but the identifier. `places` says in
    /// which order a site has them, and who is there.
    pub(crate) fn new(
        study: &Study,
        columns: &[Vec<&str>],
        people: &[(String, Vec<u32>)],
        places: impl Fn(usize) -> Vec<usize>,
    ) -> Self {
        let schema = study.schema.clone();
        let split = Split::new(&schema, columns).unwrap();
        let table = |site: usize| {
            let own = Arc::new(split.schema_of(&schema, site));
            let places = places(site);
            let column = |attribute: &hedgerow_data::Attribute| {
                if attribute.role == Role::Identifier {
                    let mut text = TextColumn::default();
                    for (row, place) in places.iter().enumerate() {
                        text.push(&people[*place].0, row as u64 + 2);
                    }
                    return Column::Text(text);
                }
                let position = schema.position(&attribute.name).unwrap();
                let mut codes = Codes::for_size(attribute.domain.size());
                for place in &places {
                    codes.push(people[*place].1[position - 1]);
                }
                Column::Coded(codes)
            };
            let columns = own.attributes().iter().map(column).collect();
            Table::new(own.clone(), columns)
        };
        let tables = (0..columns.len()).map(table).collect();
        let truth = people.iter().map(|(id, codes)| {
            let codes = std::iter::once(0).chain(codes.iter().copied()).collect();
            (id.clone(), codes)
        });
        Self {
            tables,
            truth: truth.collect(),
            identity: study.identity.clone(),
            schema,
            split,
        }
    }

    pub(crate) async fn take_part(&self, mut party: Party, how: How<'_>) -> Result<Part, Error> {
        party.keep_values();
        let table = &self.tables[party.me().index()];
        let rows = align(&mut party, &self.identity, table).await?;
        let plan = Plan {
            schema: &self.schema,
            split: &self.split,
            requirement: how.requirement,
            anonymizer: how.anonymizer,
            synchronizer: how.synchronizer,
            suppression: how.suppression,
            restore: how.restore,
        };
        let columns = columns_of(&self.schema, table);
        let joint = anonymize(&mut party, &plan, &columns, &rows, |_, _| {}).await?;
        let Column::Text(identifiers) = table.column(table.schema().position("id").unwrap()) else {
            unreachable!("identifiers are text")
        };
        let common = rows
            .iter()
            .map(|row| identifiers.get(*row as usize).to_owned());
        Ok(Part {
            joint,
            common: common.collect(),
            entries: party.ledger().entries().to_vec(),
        })
    }

    pub(crate) fn run(&self, how: How<'_>, simulation: &Simulation) -> Outcome<Part, Error> {
        simulation.run(|party| self.take_part(party, how))
    }

    /// With every site in its seat.
    pub(crate) fn together(&self, how: How<'_>, settings: Settings) -> Result<Vec<Part>, Error> {
        let simulation = Simulation::new(self.tables.len(), 5).settings(settings);
        self.run(how, &simulation).into_values()
    }

    /// With a trusted third.
    pub(crate) fn ideal(&self, how: How<'_>) -> Result<Vec<Part>, Error> {
        let simulation = Simulation::new(self.tables.len(), 5);
        let parts = simulation.run_ideal(|party| self.take_part(party, how));
        parts.into_iter().collect()
    }

    /// The groups of a release, whatever their numbers: who is in each, in the order of people.
    pub(crate) fn groups(&self, part: &Part) -> Vec<Vec<String>> {
        let mut groups: BTreeMap<u32, Vec<String>> = BTreeMap::new();
        for (id, group) in part.common.iter().zip(&part.joint.group_of) {
            groups.entry(*group).or_default().push(id.clone());
        }
        let mut groups: Vec<Vec<String>> = groups.into_values().collect();
        groups.iter_mut().for_each(|group| group.sort());
        groups.sort();
        groups
    }

    /// All that must be true of a run: the sites have one release and one common order; groups have
    /// k records and satisfy the requirement for each sensitive attribute; the tables say what is
    /// true of the people in a group, and nothing else.
    pub(crate) fn check(&self, parts: &[Part], how: How<'_>) {
        let first = &parts[0];
        for part in parts {
            assert_eq!(part.common, first.common, "one order");
            assert_eq!(part.joint.group_of, first.joint.group_of, "one partition");
            assert_eq!(part.joint.fragments, first.joint.fragments, "one release");
        }
        let everybody = |id: &&String| {
            let tables = self.tables.iter();
            tables.clone().all(|table| {
                let Column::Text(own) = table.column(table.schema().position("id").unwrap()) else {
                    return false;
                };
                own.iter().any(|found| found == *id)
            })
        };
        let expected: Vec<&String> = self.truth.keys().filter(everybody).collect();
        let mut common: Vec<&String> = first.common.iter().collect();
        common.sort();
        assert_eq!(common, expected, "all common people");

        let fragments = &first.joint.fragments;
        assert_eq!(fragments.group.len(), first.common.len());
        assert!(fragments.group.is_sorted());
        let members = |group: u32| {
            let both = first.common.iter().zip(&first.joint.group_of);
            both.filter(move |(_, of)| **of == group)
                .map(|(id, _)| &self.truth[id])
        };
        assert!(fragments.group.is_sorted());
        let last = fragments.group.last().copied().unwrap_or(0);
        // The number of a group follows from what is written in it.
        let contents = (1..=last).map(|group| {
            let rows: Vec<usize> = (0..fragments.group.len())
                .filter(|row| fragments.group[*row] == group)
                .collect();
            let cells: Vec<_> = rows.iter().map(|row| written(fragments, *row)).collect();
            let columns = fragments.verbatim.iter();
            let values = columns.map(|(_, codes)| rows.iter().map(|row| codes.get(*row)).collect());
            (cells, values.collect::<Vec<Vec<u32>>>())
        });
        assert!(contents.collect::<Vec<_>>().is_sorted());
        for (position, column) in &fragments.quasi {
            let domain = &self.schema.attributes()[*position].domain;
            column
                .cells
                .iter()
                .for_each(|cell| assert_no_missing_inside(domain, cell));
        }
        for group in 1..=last {
            let rows: Vec<usize> = (0..fragments.group.len())
                .filter(|row| fragments.group[*row] == group)
                .collect();
            assert_eq!(rows.len(), members(group).count());
            assert!(rows.len() as u64 >= how.requirement.k());
            for (position, codes) in &fragments.verbatim {
                let mut told: Vec<u32> = rows.iter().map(|row| codes.get(*row)).collect();
                let mut truth: Vec<u32> = members(group).map(|codes| codes[*position]).collect();
                told.sort_unstable();
                truth.sort_unstable();
                assert_eq!(told, truth);
            }
            if how.restore {
                let mut told: Vec<Vec<(u32, u32)>> =
                    rows.iter().map(|row| written(fragments, *row)).collect();
                let quasi = self.schema.with_role(Role::Quasi);
                let mut truth: Vec<Vec<(u32, u32)>> = members(group)
                    .map(|codes| quasi.iter().map(|at| (codes[*at], codes[*at])).collect())
                    .collect();
                told.sort_unstable();
                truth.sort_unstable();
                assert_eq!(told, truth);
            } else {
                let one = written(fragments, rows[0]);
                assert!(rows.iter().all(|row| written(fragments, *row) == one));
                for codes in members(group) {
                    let columns = fragments.quasi.iter().zip(&one);
                    for ((position, _), (least, greatest)) in columns {
                        assert!((least..=greatest).contains(&&codes[*position]));
                    }
                }
            }
        }
        assert_eq!(
            verdict(&self.schema, fragments, how.requirement),
            Some(true)
        );
    }
}

/// How a row's quasi-identifiers are written.
pub(crate) fn written(fragments: &Fragments, row: usize) -> Vec<(u32, u32)> {
    let columns = fragments.quasi.iter();
    columns
        .map(|(_, column)| column.cells[column.codes[row] as usize].bounds())
        .collect()
}

/// The same as text, group by group, with the values of each other attribute.
pub(crate) fn printed(
    schema: &Schema,
    fragments: &Fragments,
) -> Vec<(Vec<String>, Vec<Vec<String>>)> {
    let domain = |position: &usize| -> &Domain { &schema.attributes()[*position].domain };
    let mut groups: Vec<(Vec<String>, Vec<Vec<String>>)> = Vec::new();
    for (row, number) in fragments.group.iter().enumerate() {
        if groups.len() < *number as usize {
            let cells = fragments.quasi.iter().map(|(position, column)| {
                domain(position).write_cell(&column.cells[column.codes[row] as usize])
            });
            groups.push((cells.collect(), vec![Vec::new(); fragments.verbatim.len()]));
        }
        let (_, values) = &mut groups[*number as usize - 1];
        for ((position, codes), values) in fragments.verbatim.iter().zip(values) {
            values.push(domain(position).label(codes.get(row)).into_owned());
        }
    }
    for (_, values) in &mut groups {
        values.iter_mut().for_each(|values| values.sort());
    }
    groups.sort();
    groups
}

/// A party of one with everybody's columns: the centralized run.
pub(crate) fn alone(people: &People, how: How<'_>) -> Result<Part, Error> {
    assert_eq!(people.tables.len(), 1);
    let party = Party::alone(Settings::hardened(), &Seed::for_site(1, 0));
    pollster::block_on(people.take_part(party, how))
}
